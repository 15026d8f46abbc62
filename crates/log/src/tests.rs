//! A log on its own: appending, waiting, room, policies, failures, opening.

use crate::*;
use pikepole_contention::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use pikepole_contention::sync::thread;
use pikepole_contention::{Statistics, slot};
use pikepole_machine::{Disk, Operation, SimulatedDisk};
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

pub(crate) const FOLDER: &str = "/db/log";

/// A log on a simulated disk, and both.
pub(crate) fn new_log(options: LogOptions) -> (SimulatedDisk, Log) {
    let disk = SimulatedDisk::new(7);
    let log = create(&disk, options).unwrap();
    (disk, log)
}

pub(crate) fn create(disk: &SimulatedDisk, options: LogOptions) -> Result<Log, LogError> {
    Log::create(&Disk::simulated(disk.clone()), FOLDER, options, &Statistics::new())
}

pub(crate) fn open(disk: &SimulatedDisk, start: Lsn) -> Result<(Log, Reader), LogError> {
    Log::open(&Disk::simulated(disk.clone()), FOLDER, LogOptions::small(), &Statistics::new(), start)
}

fn check(disk: &SimulatedDisk) -> Result<LogReport, LogError> {
    Log::check(&Disk::simulated(disk.clone()), FOLDER)
}

pub(crate) fn append(log: &Log, bytes: &[u8]) -> Result<LsnRange, Refused> {
    log.append(bytes.len(), |out, _| out.copy_from_slice(bytes))
}

/// Flushes until nothing is left.
pub(crate) fn flush(log: &Log) {
    while let FlushOutcome::Wrote(_) = log.flush_step() {}
}

pub(crate) fn read_all(reader: &mut Reader) -> Result<Vec<(Lsn, Vec<u8>, Lsn)>, LogError> {
    let mut records = Vec::new();
    while let Some((start, bytes, end)) = reader.next()? {
        records.push((start, bytes.to_vec(), end));
    }
    Ok(records)
}

/// Counts wakes.
#[derive(Default)]
struct Wakes(AtomicUsize);

impl Wake for Wakes {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

fn poll<F: Future>(future: std::pin::Pin<&mut F>, wakes: &Arc<Wakes>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(&Waker::from(Arc::clone(wakes))))
}

#[test]
fn records_come_back_in_order_over_blocks_and_segments() {
    let (disk, log) = new_log(LogOptions::small());
    let mut expected = Vec::new();
    for number in 0..3000u32 {
        let bytes = vec![number as u8 | 1; 1 + number as usize % 200];
        let place = append(&log, &bytes).unwrap();
        expected.push((place.start, bytes, place.end));
        if number % 97 == 0 {
            flush(&log);
            log.prepare_step();
        }
    }
    flush(&log);
    assert_eq!(log.durable(), log.reserved());
    assert!(log.stats().segments_active > 1, "{:?}", log.stats());
    drop(log);
    let (log, mut reader) = open(&disk, Lsn::OLDEST).unwrap();
    assert_eq!(read_all(&mut reader).unwrap(), expected);
    assert_eq!(log.stats().incarnation, 2);
    // From a record in the middle, too.
    let middle = expected[1234].0;
    drop(log);
    let (_, mut reader) = open(&disk, middle).unwrap();
    assert_eq!(read_all(&mut reader).unwrap(), expected[1234..]);
    let report = check(&disk).unwrap();
    assert_eq!((report.records, report.incarnation), (3000, 3));
}

#[test]
fn horizons_follow_each_other() {
    let (_, log) = new_log(LogOptions::small());
    let place = append(&log, b"one").unwrap();
    assert_eq!(place, LsnRange { start: Lsn::FIRST, end: Lsn(5) });
    assert_eq!((log.reserved(), log.copied(), log.durable()), (Lsn(5), Lsn(1), Lsn(1)));
    // A record that is being filled holds the flusher back, and is not torn.
    log.append(3, |out, _| {
        slot::simulate(slot::SLOTS_MAX - 1, || append(&log, b"inner").unwrap());
        flush(&log);
        assert_eq!(log.durable(), Lsn(5));
        out.copy_from_slice(b"two");
    })
    .unwrap();
    assert_eq!(log.flush_step(), FlushOutcome::Wrote(4096));
    assert_eq!((log.copied(), log.written(), log.durable()), (log.reserved(), log.reserved(), log.reserved()));
    assert_eq!(log.flush_step(), FlushOutcome::Nothing);
}

#[test]
fn commits_are_woken_when_durable_and_not_before() {
    for queue in [FlushQueue::Spinlock, FlushQueue::LockFree] {
        let (_, log) = new_log(LogOptions { flush_queue: queue, ..LogOptions::small() });
        let first = append(&log, b"first").unwrap();
        let wakes = Arc::new(Wakes::default());
        let mut waiting = pin!(log.durable_after(first.end));
        assert!(poll(waiting.as_mut(), &wakes).is_pending());
        let mut given_up = Box::pin(log.durable_after(first.end));
        assert!(poll(given_up.as_mut(), &wakes).is_pending());
        drop(given_up);
        assert_eq!(log.idle_step(), FlushOutcome::Wrote(4096));
        let _ = log.reap_or_wait();
        assert_eq!(wakes.0.load(Ordering::Relaxed), 1);
        assert_eq!(poll(waiting, &wakes), Poll::Ready(Ok(())));
        // Durable already: ready at once, without a wait.
        assert_eq!(poll(pin!(log.durable_after(first.end)), &wakes), Poll::Ready(Ok(())));
        assert_eq!(log.stats().flush_waits, 2);
        assert_eq!(log.idle_step(), FlushOutcome::Nothing);
    }
}

#[test]
fn who_commits_behind_a_block_waits_for_the_next_one() {
    let (_, log) = new_log(LogOptions { block_bytes_max: 4096, ..LogOptions::small() });
    let ends: Vec<Lsn> = (0..12).map(|_| append(&log, &[1; 1000]).unwrap().end).collect();
    let wakes = Arc::new(Wakes::default());
    let mut last = pin!(log.durable_after(ends[11]));
    assert!(poll(last.as_mut(), &wakes).is_pending());
    // A block has room for some four records; the waiter is left over and still makes the scheduler flush.
    for _ in 0..2 {
        assert_eq!(log.flush_step(), FlushOutcome::Wrote(4096));
        assert!(poll(last.as_mut(), &wakes).is_pending());
        assert_eq!(wakes.0.load(Ordering::Relaxed), 0);
    }
    assert_eq!(log.idle_step(), FlushOutcome::Wrote(4096));
    let _ = log.reap_or_wait();
    assert_eq!(poll(last, &wakes), Poll::Ready(Ok(())));
}

#[test]
fn a_full_buffer_refuses_until_it_was_flushed() {
    let options = LogOptions {
        bytes_max: 64 << 20,
        first_segment_bytes: 16 << 20,
        segment_bytes: 16 << 20,
        ..LogOptions::small()
    };
    let (_, log) = new_log(options);
    let mut appended = 0;
    let refused = loop {
        match append(&log, &[1; 1000]) {
            Ok(_) => appended += 1,
            Err(refused) => break refused,
        }
    };
    assert_eq!(refused, Refused::BufferFull);
    assert!((700..1050).contains(&appended), "{appended} records of 1000 bytes in a ring of 1 MB");
    let wakes = Arc::new(Wakes::default());
    let mut space = pin!(log.buffer_space());
    assert!(poll(space.as_mut(), &wakes).is_pending());
    assert!(matches!(log.idle_step(), FlushOutcome::Wrote(_)));
    assert_eq!(wakes.0.load(Ordering::Relaxed), 1);
    assert_eq!(poll(space, &wakes), Poll::Ready(()));
    append(&log, &[1; 1000]).unwrap();
}

/// Appends and flushes until new work is refused.
fn fill(log: &Log) -> Refused {
    loop {
        match append(log, &[1; 500]) {
            Ok(_) => {}
            Err(Refused::BufferFull) => {
                flush(log);
                log.prepare_step();
            }
            Err(refused) => return refused,
        }
    }
}

#[test]
fn a_full_log_takes_what_ends_transactions_and_recovers_by_truncation() {
    let (_, log) = new_log(LogOptions::small());
    assert_eq!(fill(&log), Refused::LogFull);
    let stats = log.stats();
    assert!(stats.bytes <= stats.bytes_max && stats.bytes_used * 10 > stats.bytes_max * 8, "{stats:?}");
    log.append_reserved(100, |out, _| out.fill(2)).unwrap();
    flush(&log);
    assert_eq!(fill(&log), Refused::LogFull);
    flush(&log);
    log.truncate(log.durable());
    assert!(log.stats().segments_free > 3);
    append(&log, &[1; 500]).unwrap();
    // Twice around: the log does not grow beyond its limit.
    for _ in 0..2 {
        assert_eq!(fill(&log), Refused::LogFull);
        flush(&log);
        log.truncate(log.durable());
        assert!(log.stats().bytes <= log.stats().bytes_max);
    }
}

#[test]
fn what_transactions_may_need_to_roll_back_always_fits() {
    let (disk, log) = new_log(LogOptions::small());
    let mut undo = 0;
    // Each record may need a compensation of its own size and a bit.
    loop {
        match append(&log, &[1; 100]) {
            Ok(_) => {
                log.undo_reserve(120);
                undo += 1;
            }
            Err(Refused::BufferFull) => {
                flush(&log);
                log.prepare_step();
            }
            Err(refused) => {
                assert_eq!(refused, Refused::LogFull);
                break;
            }
        }
    }
    assert!(undo > 1000, "{undo}");
    for _ in 0..undo {
        while let Err(refused) = log.append_reserved(120, |out, _| out.fill(3)) {
            assert_eq!(refused, Refused::BufferFull);
            flush(&log);
        }
        log.undo_reserve(-120);
    }
    flush(&log);
    assert_eq!(log.durable(), log.reserved());
    let stats = log.stats();
    assert!(stats.bytes <= stats.bytes_max && stats.undo_bytes == 0, "{stats:?}");
    drop(log);
    assert_eq!(check(&disk).unwrap().records, 2 * undo);
}

#[test]
fn a_full_disk_refuses_new_work_until_there_is_room() {
    let (disk, log) = new_log(LogOptions::small());
    disk.set_capacity(Some(disk.used() + 5000));
    assert_eq!(fill(&log), Refused::LogFull);
    assert!(log.stats().growth_failed.is_some() && !log.is_poisoned());
    flush(&log);
    assert_eq!(log.durable(), log.reserved());
    assert_eq!(append(&log, &[1; 500]), Err(Refused::LogFull));
    disk.set_capacity(None);
    assert!(log.prepare_step());
    append(&log, &[1; 500]).unwrap();
    assert_eq!(log.stats().growth_failed, None);
}

#[test]
fn reserved_records_beyond_all_limits_wait_for_room_on_a_full_disk() {
    let (disk, log) = new_log(LogOptions::small());
    disk.set_capacity(Some(disk.used()));
    assert_eq!(fill(&log), Refused::LogFull);
    // More than was ever promised to anybody, in small blocks.
    for _ in 0..20 {
        log.append_reserved(100, |out, _| out.fill(2)).unwrap();
        log.flush_step();
    }
    assert_eq!(log.flush_step(), FlushOutcome::NoRoom);
    assert!(log.durable() < log.reserved() && !log.is_poisoned());
    disk.set_capacity(None);
    flush(&log);
    assert_eq!(log.durable(), log.reserved());
}

#[test]
fn recycled_segments_are_not_prewritten_again() {
    let (disk, log) = new_log(LogOptions::small());
    assert_eq!(fill(&log), Refused::LogFull);
    flush(&log);
    let (written, files) = (disk.count(Operation::Write), log.stats().bytes);
    for _ in 0..3 {
        assert!(log.would_free(log.durable()) && !log.would_free(log.stats().truncated));
        log.truncate(log.durable());
        assert!(!log.would_free(log.durable()), "what is left is needed");
        assert_eq!(fill(&log), Refused::LogFull);
        flush(&log);
    }
    assert_eq!((disk.count(Operation::Write), log.stats().bytes), (written, files));
    log.shutdown().unwrap();
    drop(log);
    let report = check(&disk).unwrap();
    assert!(report.records > 1000 && report.start > Lsn::FIRST, "{report:?}");
}

#[test]
fn a_failed_write_poisons() {
    let (disk, log) = new_log(LogOptions::small());
    let kept = append(&log, b"kept").unwrap();
    flush(&log);
    let lost = append(&log, b"lost").unwrap();
    let wakes = Arc::new(Wakes::default());
    let mut waiting = pin!(log.durable_after(lost.end));
    assert!(poll(waiting.as_mut(), &wakes).is_pending());
    disk.fail_nth(Operation::DurableWrite, 1);
    assert_eq!(log.flush_step(), FlushOutcome::Nothing);
    assert_eq!(wakes.0.load(Ordering::Relaxed), 1);
    assert_eq!(poll(waiting, &wakes), Poll::Ready(Err(Poisoned)));
    assert_eq!(poll(pin!(log.durable_after(kept.end)), &wakes), Poll::Ready(Ok(())));
    assert_eq!(append(&log, b"more"), Err(Refused::Poisoned));
    assert_eq!(log.append_reserved(4, |_, _| ()), Err(Refused::Poisoned));
    assert_eq!(poll(pin!(log.buffer_space()), &wakes), Poll::Ready(()));
    assert!(matches!(log.shutdown(), Err(LogError::Poisoned(_))));
    let (_, mut reader) = open(&disk.crash(1), Lsn::OLDEST).unwrap();
    assert_eq!(reader.next().unwrap().unwrap().1, b"kept");
}

#[test]
fn a_panic_while_filling_poisons() {
    let (disk, log) = new_log(LogOptions::small());
    append(&log, b"whole").unwrap();
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let _ = log.append(100, |_, _| panic!("in the middle"));
    }));
    assert!(panicked.is_err() && log.is_poisoned());
    assert_eq!(append(&log, b"more"), Err(Refused::Poisoned));
    assert_eq!(log.flush_step(), FlushOutcome::Nothing);
    drop(log);
    assert_eq!(check(&disk).unwrap().records, 0);
}

#[test]
fn shutdown_writes_all_and_names_it_durable() {
    let (disk, log) = new_log(LogOptions::small());
    append(&log, b"last words").unwrap();
    log.shutdown().unwrap();
    log.shutdown().unwrap();
    assert_eq!(append(&log, b"more"), Err(Refused::Poisoned));
    drop(log);
    let disk = disk.crash(3);
    assert_eq!(check(&disk).unwrap().records, 1);
    // The block with the record is the second one; the closing block vouches for it.
    disk.flip_bit(format!("{FOLDER}/segment-00000001"), 2 * 4096 + 70).unwrap();
    let Err(LogError::Corrupt { segment, offset, lsn, why }) = check(&disk) else { panic!("not noticed") };
    assert_eq!((segment.as_str(), offset, lsn), ("segment-00000001", 2 * 4096, Lsn::FIRST));
    assert!(why.contains("block 2"), "{why}");
}

/// A log with blocks in two segments, the last records behind a place, closed in order.
fn closed_log() -> (SimulatedDisk, OpenFrom, Lsn) {
    let (disk, log) = new_log(LogOptions { block_bytes_max: 4096, ..LogOptions::small() });
    while log.stats().segments_active < 2 || log.stats().flushes % 7 != 0 {
        append(&log, &[3; 900]).unwrap();
        flush(&log);
        log.prepare_step();
    }
    let old = append(&log, b"behind no place").unwrap().start;
    flush(&log);
    let place = Some(log.place());
    let last = append(&log, b"the checkpoint").unwrap();
    log.shutdown().unwrap();
    (disk, OpenFrom { start: last.start, place, closed_at: Some(last.end) }, old)
}

fn open_from(disk: &SimulatedDisk, from: OpenFrom) -> Result<(Log, Reader), LogError> {
    Log::open(&Disk::simulated(disk.clone()), FOLDER, LogOptions::small(), &Statistics::new(), from)
}

fn records_from(disk: &SimulatedDisk, from: OpenFrom) -> Result<Vec<Vec<u8>>, LogError> {
    let (_log, mut reader) = open_from(&disk.crash(1), from)?;
    Ok(read_all(&mut reader)?.into_iter().map(|(_, bytes, _)| bytes).collect())
}

#[test]
fn a_closed_log_is_opened_without_reading_it() {
    let (disk, from, old) = closed_log();
    let place = from.place.unwrap();
    assert_eq!(records_from(&disk, from).unwrap(), [b"the checkpoint"]);
    let segment = format!("{FOLDER}/segment-00000002");
    // Damage in front of the place and behind the end is none of this opening's business; without the place it is.
    disk.flip_bit(&segment, place.offset - 4096 + 70).unwrap();
    assert_eq!(records_from(&disk, from).unwrap(), [b"the checkpoint"]);
    for less in [OpenFrom { place: None, ..from }, OpenFrom { start: old, ..from }, Lsn::OLDEST.into()] {
        assert!(matches!(records_from(&disk, less), Err(LogError::Corrupt { .. })), "{less:?}");
    }
    disk.flip_bit(&segment, place.offset - 4096 + 70).unwrap();
    assert_eq!(records_from(&disk, OpenFrom { start: old, ..from }).unwrap().len(), 2);
    let reads = |from: OpenFrom| {
        let disk = disk.crash(1);
        open_from(&disk, from).unwrap();
        disk.count(Operation::Read)
    };
    // A header for each segment, and what lies between the place and the end.
    let segments = Disk::simulated(disk.clone()).list(FOLDER).unwrap().len() as u64;
    assert_eq!(reads(from), segments + 1);
    assert!(reads(OpenFrom { closed_at: None, ..from }) > segments + 1, "the rest of the segment is read");
    assert!(reads(OpenFrom { closed_at: None, place: None, ..from }) > segments + 1);
}

#[test]
fn a_place_that_does_not_fit_is_no_harm() {
    let (disk, from, _) = closed_log();
    let place = from.place.unwrap();
    let wrong = [
        Place { segment: place.segment + 1, ..place },
        Place { segment: place.segment - 1, ..place },
        Place { offset: place.offset - 4096, ..place },
        Place { offset: place.offset + 4096, ..place },
        Place { offset: place.offset + 1, ..place },
        Place { offset: u64::MAX, ..place },
        Place { offset: 0, ..place },
        Place { block: place.block + 1, ..place },
        Place { block: 0, ..place },
        Place { incarnation: place.incarnation + 1, ..place },
        Place { incarnation: 0, ..place },
        Place { lsn: Lsn(place.lsn.0 - 1), ..place },
        Place { lsn: Lsn(place.lsn.0 + 1), ..place },
        Place { lsn: Lsn::OLDEST, ..place },
    ];
    for place in wrong {
        let from = OpenFrom { place: Some(place), ..from };
        assert_eq!(records_from(&disk, from).unwrap(), [b"the checkpoint"], "{place:?}");
    }
}

#[test]
fn a_closed_log_that_lost_its_last_record_is_told() {
    let (disk, from, _) = closed_log();
    let segment = format!("{FOLDER}/segment-00000002");
    // Both the record's block and the closing one, which would speak for it.
    for block in 0..2 {
        disk.flip_bit(&segment, from.place.unwrap().offset + block * 4096 + 70).unwrap();
        disk.flip_bit(&segment, from.place.unwrap().offset + block * 4096 + 8).unwrap();
    }
    let Err(LogError::Corrupt { why, .. }) = records_from(&disk, from) else { panic!("not noticed") };
    assert!(why.contains("was closed at"), "{why}");
}

#[test]
fn logs_are_refused_with_the_right_error() {
    let disk = SimulatedDisk::new(1);
    assert!(matches!(open(&disk, Lsn::OLDEST), Err(LogError::Missing(_))));
    let log = create(&disk, LogOptions::small()).unwrap();
    assert!(matches!(create(&disk, LogOptions::small()), Err(LogError::Exists(_))));
    assert_eq!(fill(&log), Refused::LogFull);
    flush(&log);
    log.truncate(log.durable());
    append(&log, b"x").unwrap();
    log.shutdown().unwrap();
    let end = log.durable();
    drop(log);
    assert!(matches!(open(&disk, Lsn::FIRST), Err(LogError::StartGone { .. })));
    assert!(matches!(open(&disk, Lsn(end.0 + 1)), Err(LogError::Corrupt { .. })));
    let folder = Disk::simulated(disk.clone());
    let first = format!("{FOLDER}/{}", folder.list(FOLDER).unwrap()[0]);
    disk.truncate(&first, 4096 * 3).unwrap();
    assert!(matches!(check(&disk), Err(LogError::Corrupt { .. })));
    assert!(LogOptions { ring_bytes: 1000, ..LogOptions::small() }.check().is_err());
    assert!(LogOptions { record_bytes_max: 8 << 10, ..LogOptions::small() }.check().is_err());
    assert!(LogOptions { bytes_max: 1000, ..LogOptions::small() }.check().is_err());
    assert!(LogOptions { block_bytes_max: 100, ..LogOptions::small() }.check().is_err());
    LogOptions::default().check().unwrap();
}

#[test]
fn another_format_version_is_told() {
    let (disk, log) = new_log(LogOptions::small());
    drop(log);
    let path = format!("{FOLDER}/segment-00000001");
    let file = Disk::simulated(disk.clone()).open(&path, pikepole_machine::OpenOptions::default()).unwrap();
    let mut header = vec![0; 4096];
    file.read_at(&mut header, 0).unwrap();
    header[64] = 9;
    let crc = crc32c::crc32c(&header[8..80]);
    header[4..8].copy_from_slice(&crc.to_le_bytes());
    file.write_at(&header, 0).unwrap();
    assert!(matches!(check(&disk), Err(LogError::Version { found: 9, known: 2, .. })));
}

#[test]
fn every_flipped_bit_of_a_log_is_harmless_or_told() {
    let (disk, log) = new_log(LogOptions { block_bytes_max: 4096, ..LogOptions::small() });
    let mut number = 0u8;
    // Into the second segment.
    while log.stats().segments_active < 2 {
        number = number.wrapping_add(1);
        append(&log, &[number; 900]).unwrap();
        flush(&log);
        log.prepare_step();
    }
    append(&log, b"the last").unwrap();
    flush(&log);
    drop(log);
    let whole = check(&disk).unwrap();
    for segment in ["segment-00000001", "segment-00000002"] {
        let path = format!("{FOLDER}/{segment}");
        for offset in (0..5 * 4096).chain(5 * 4096..64 << 10).filter(|offset| offset % 4096 < 1200 || offset % 64 == 0)
        {
            disk.flip_bit(&path, offset).unwrap();
            match check(&disk) {
                // Only the last block is vouched for by none.
                Ok(report) => assert!(report.records >= whole.records - 1, "{segment} {offset}: {report:?}"),
                Err(LogError::Corrupt { .. } | LogError::Version { .. }) => {}
                Err(other) => panic!("{segment} {offset}: {other}"),
            }
            if offset % 512 == 1 {
                let _ = open(&disk.crash(1), Lsn::OLDEST);
            }
            disk.flip_bit(&path, offset).unwrap();
        }
    }
    assert_eq!(check(&disk).unwrap(), whole);
}

#[test]
fn threads_append_while_another_flushes() {
    for reservation in [Reservation::Spinlock, Reservation::Atomic, Reservation::Chunk] {
        let options = LogOptions {
            reservation,
            bytes_max: 64 << 20,
            segment_bytes: 4 << 20,
            first_segment_bytes: 4 << 20,
            ..LogOptions::small()
        };
        let (disk, log) = new_log(options);
        let log = Arc::new(log);
        let done = Arc::new(AtomicBool::new(false));
        let flusher = {
            let (log, done) = (Arc::clone(&log), Arc::clone(&done));
            thread::spawn(move || {
                while !done.load(Ordering::Acquire) || log.durable() < log.reserved() {
                    if log.flush_step() == FlushOutcome::Nothing && !log.prepare_step() {
                        thread::yield_now();
                    }
                }
            })
        };
        let appenders: Vec<_> = (1..=3u8)
            .map(|id| {
                let log = Arc::clone(&log);
                thread::spawn(move || {
                    for number in 0..4000u32 {
                        let len = 6 + number as usize % 60;
                        let fill = |out: &mut [u8], _| {
                            out.fill(id);
                            out[1..5].copy_from_slice(&number.to_le_bytes());
                        };
                        while log.append(len, fill) == Err(Refused::BufferFull) {
                            thread::yield_now();
                        }
                    }
                })
            })
            .collect();
        appenders.into_iter().for_each(|appender| appender.join().unwrap());
        done.store(true, Ordering::Release);
        flusher.join().unwrap();
        drop(log);
        let (_, mut reader) = open(&disk, Lsn::OLDEST).unwrap();
        let mut next = [0u32; 4];
        while let Some((_, bytes, _)) = reader.next().unwrap() {
            let id = bytes[0];
            let number = u32::from_le_bytes(bytes[1..5].try_into().unwrap());
            assert_eq!(number, next[id as usize], "a thread's records are in its order");
            assert_eq!(bytes.len(), 6 + number as usize % 60);
            assert!(bytes[5..].iter().all(|byte| *byte == id));
            next[id as usize] += 1;
        }
        assert_eq!(next, [0, 4000, 4000, 4000]);
    }
}

#[test]
fn policies_change_while_running() {
    let (disk, log) = new_log(LogOptions::small());
    for (number, policy) in [
        Policy::Reservation(Reservation::Spinlock),
        Policy::FlushQueue(FlushQueue::Spinlock),
        Policy::CommitBy(CommitBy::LogWriter),
        Policy::Gathering(Gathering::None),
        Policy::BlockBytesMax(BLOCK_BYTES_CLASSIC),
        Policy::FlushDelay(FLUSH_DELAY_MAX),
        Policy::Reservation(Reservation::Atomic),
    ]
    .into_iter()
    .enumerate()
    {
        log.set_policy(policy).unwrap();
        assert!(log.policies().contains(&policy));
        append(&log, &[number as u8 + 1]).unwrap();
    }
    assert!(log.set_policy(Policy::BlockBytesMax(1)).is_err());
    for delay in [FLUSH_DELAY_MIN / 2, FLUSH_DELAY_MAX * 2] {
        assert!(log.set_policy(Policy::FlushDelay(delay)).is_err());
    }
    // Commits are not this scheduler's business now.
    let wakes = Arc::new(Wakes::default());
    let mut waiting = pin!(log.flush_all());
    assert!(poll(waiting.as_mut(), &wakes).is_pending());
    assert_eq!(log.idle_step(), FlushOutcome::Nothing);
    flush(&log);
    assert_eq!(poll(waiting, &wakes), Poll::Ready(Ok(())));
    assert_eq!(check(&disk).unwrap().records, 7);
}

#[test]
fn the_spinlock_policies_take_their_spinlocks_and_the_others_do_not() {
    let collisions = |log: &Log, class: &str| {
        let rows = log.statistics.spinlocks();
        rows.iter().find(|row| row.name == class).map_or(0, |row| row.collisions)
    };
    let (_, log) = new_log(LogOptions::small());
    let log = &log;
    for (policy, collides) in [(Reservation::Atomic, 0), (Reservation::Spinlock, 1)] {
        log.set_policy(Policy::Reservation(policy)).unwrap();
        std::thread::scope(|scope| {
            let held = log.reservations.hold_for_test();
            let appender = scope.spawn(|| append(log, b"x").unwrap());
            if collides == 0 {
                appender.join().unwrap();
            } else {
                while collisions(log, "LOGCACHE_ACCESS") == 0 {
                    thread::yield_now();
                }
            }
            drop(held);
        });
        assert_eq!(collisions(log, "LOGCACHE_ACCESS"), collides);
    }
    // Both sides take LOGCACHE_ACCESS: the thread that closes a block, too.
    log.statistics.clear_spinlocks();
    for (policy, collides) in [(Reservation::Atomic, false), (Reservation::Spinlock, true)] {
        log.set_policy(Policy::Reservation(policy)).unwrap();
        append(log, b"x").unwrap();
        std::thread::scope(|scope| {
            let held = log.reservations.hold_for_test();
            let writer = scope.spawn(|| flush(log));
            if collides {
                while collisions(log, "LOGCACHE_ACCESS") == 0 {
                    thread::yield_now();
                }
            } else {
                writer.join().unwrap();
            }
            drop(held);
        });
        assert_eq!(collisions(log, "LOGCACHE_ACCESS") > 0, collides);
        assert_eq!(log.durable(), log.reserved());
    }
    log.set_policy(Policy::Reservation(Reservation::Atomic)).unwrap();
    for (policy, collides) in [(FlushQueue::LockFree, 0), (FlushQueue::Spinlock, 1)] {
        log.set_policy(Policy::FlushQueue(policy)).unwrap();
        let end = append(log, b"x").unwrap().end;
        std::thread::scope(|scope| {
            let held = log.commits.hold_for_test();
            let wait = move || assert!(poll(pin!(log.durable_after(end)), &Arc::default()).is_pending());
            let committer = scope.spawn(wait);
            if collides == 0 {
                committer.join().unwrap();
            } else {
                while collisions(log, "LOGFLUSHQ") == 0 {
                    thread::yield_now();
                }
            }
            drop(held);
        });
        assert_eq!(collisions(log, "LOGFLUSHQ"), collides);
    }
}

#[test]
fn an_append_within_an_append_of_the_same_slot_is_refused_loudly() {
    let (_, log) = new_log(LogOptions::small());
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let _ = log.append(3, |_, _| _ = append(&log, b"inner"));
    }));
    assert!(panicked.is_err() && log.is_poisoned());
}

#[test]
fn a_failed_write_poisons_though_later_ones_arrive() {
    let (disk, log) = new_log(LogOptions::small());
    let wakes = Arc::new(Wakes::default());
    let first = append(&log, b"first").unwrap();
    flush(&log);
    let ends: Vec<Lsn> = (0..3)
        .map(|_| {
            let end = append(&log, b"on its way").unwrap().end;
            assert_eq!(log.submit_step(), FlushOutcome::Wrote(4096));
            end
        })
        .collect();
    assert_eq!((log.stats().writes_in_flight, log.written(), log.durable()), (3, ends[2], first.end));
    let mut last = Box::pin(log.durable_after(ends[2]));
    assert!(poll(last.as_mut(), &wakes).is_pending());
    disk.fail_nth(Operation::DurableWrite, 1);
    while log.reap_or_wait() > 0 {}
    assert!(log.is_poisoned());
    assert_eq!(poll(last.as_mut(), &wakes), Poll::Ready(Err(Poisoned)));
    drop(last);
    assert!(log.durable() < ends[2], "a hole is no prefix");
    assert_eq!(log.flush_step(), FlushOutcome::Nothing);
    drop(log);
    // What was acknowledged is there; what was not may be, up to the hole.
    let (_, mut reader) = open(&disk.crash(1), Lsn::OLDEST).unwrap();
    assert_eq!(reader.next().unwrap().expect("the first record").2, first.end);
}

#[test]
fn the_log_writer_begins_the_next_blocks_of_a_stream_before_the_first_is_durable() {
    let small_blocks = LogOptions { block_bytes_max: 4 << 10, ..LogOptions::small() };
    let (_, log) = new_log(small_blocks);
    while append(&log, &[7; 1000]).is_ok() {}
    let end = log.reserved();
    let mut most = 0;
    while log.write_as_writer(u64::MAX) {
        most = most.max(log.stats().writes_in_flight);
    }
    // A single block is no stream: it is written at once, and those before it are waited for.
    while log.durable() < end {
        log.flush_step();
    }
    assert!(most > 1 && log.stats().writes_in_flight == 0, "{most}");
}

#[test]
fn busy_schedulers_have_one_write_each_on_its_way() {
    let (_, log) = new_log(LogOptions::small());
    let wakes = Arc::new(Wakes::default());
    let commit_on = |slot: usize| {
        slot::simulate(slot, || {
            let end = append(&log, b"commit").unwrap().end;
            let mut waiting = Box::pin(log.durable_after(end));
            assert!(poll(waiting.as_mut(), &wakes).is_pending());
            log.busy_step(false);
            waiting
        })
    };
    // Reaping by the way may end some; the disk's chance decides.
    let mut waiting: Vec<_> = (0..2).flat_map(|_| [commit_on(3), commit_on(4)]).collect();
    assert!(log.stats().writes_in_flight <= 2, "{:?}", log.stats());
    while log.durable() < log.reserved() {
        for slot in [3, 4] {
            slot::simulate(slot, || log.busy_step(false));
        }
        let _ = log.reap_or_wait();
    }
    assert!(waiting.iter_mut().all(|waiting| poll(waiting.as_mut(), &wakes).is_ready()));
}

#[test]
fn the_way_of_writing_is_found_out_and_told() {
    let folder = std::env::temp_dir().join(format!("pikepole-log-io-{}", std::process::id()));
    let method = |io| {
        let options = LogOptions { io, ..LogOptions::small() };
        let log = Log::create(&Disk::real(), &folder, options, &Statistics::new()).unwrap();
        append(&log, b"a record").unwrap();
        flush(&log);
        log.submit_step();
        log.shutdown().unwrap();
        let method = log.stats().write_method;
        std::fs::remove_dir_all(&folder).unwrap();
        method
    };
    assert_ne!(method(LogIo::Dsync), "RWF_DSYNC");
    assert_ne!(method(LogIo::WriteFlag), "IO_URING");
    println!("AUTO is {}", method(LogIo::Auto));
    let (_, log) = new_log(LogOptions::small());
    assert_eq!(log.stats().write_method, "SIMULATED");
}
