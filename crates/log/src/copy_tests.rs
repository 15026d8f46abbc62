//! Copying blocks from a log in use, and building a log from them.

use crate::tests::{FOLDER, append, flush, new_log, open, read_all};
use crate::*;
use pikepole_contention::Statistics;
use pikepole_machine::{Disk, SimulatedDisk};

/// A block with bytes of its own.
struct Kept {
    start: Lsn,
    payload: Vec<u8>,
    begins_incarnation: bool,
    time_us: u64,
}

fn copy(log: &Log, from: Lsn, to: Lsn) -> Vec<Kept> {
    let mut blocks = log.blocks(from, to).unwrap();
    let mut kept = Vec::new();
    while let Some(block) = blocks.next().unwrap() {
        let Block { start, payload, begins_incarnation, time_us } = block;
        kept.push(Kept { start, payload: payload.to_vec(), begins_incarnation, time_us });
    }
    kept
}

fn build(options: &LogOptions, start: Lsn, blocks: &[Kept]) -> (SimulatedDisk, Disk) {
    let simulated = SimulatedDisk::new(9);
    let disk = Disk::simulated(simulated.clone());
    let mut builder = LogBuilder::create(&disk, FOLDER, options, start).unwrap();
    for Kept { start, payload, begins_incarnation, time_us } in blocks {
        let block = Block { start: *start, payload, begins_incarnation: *begins_incarnation, time_us: *time_us };
        builder.append(block).unwrap();
    }
    builder.finish().unwrap();
    (simulated, disk)
}

type Records = Vec<(Lsn, Vec<u8>, Lsn)>;

/// Appends `count` records of many lengths and flushes now and then.
fn fill(log: &Log, count: u32, records: &mut Records) {
    for number in 0..count {
        let bytes = vec![number as u8 | 1; 1 + number as usize * 7 % 900];
        let place = append(log, &bytes).unwrap();
        records.push((place.start, bytes, place.end));
        if number % 37 == 0 {
            flush(log);
            log.prepare_step();
        }
    }
    flush(log);
}

#[test]
fn what_is_copied_in_pieces_is_the_same_log() {
    let (_, log) = new_log(LogOptions::small());
    let mut records = Records::new();
    fill(&log, 300, &mut records);
    let (start, middle) = (records[20].0, log.durable());
    let mut blocks = copy(&log, start, middle);
    fill(&log, 500, &mut records);
    let end = log.durable();
    blocks.extend(copy(&log, middle, end));
    assert!(log.stats().segments_active > 2, "{:?}", log.stats());
    assert!(blocks.windows(2).all(|pair| pair[0].time_us <= pair[1].time_us));

    // Smaller segments than the old log's: other blocks, other boundaries.
    for options in [LogOptions::small(), LogOptions { segment_bytes: 64 << 10, ..LogOptions::small() }] {
        let (simulated, disk) = build(&options, start, &blocks);
        let report = Log::check(&disk, FOLDER).unwrap();
        assert_eq!((report.start, report.end, report.records), (start, end, 780));
        let (built, mut reader) = open(&simulated, start).unwrap();
        assert_eq!(read_all(&mut reader).unwrap(), records[20..]);
        assert_ne!(built.id(), log.id());
        assert_eq!(built.durable(), end);
        assert!(built.sealed_us() >= blocks.last().unwrap().time_us);
        // It goes on as any log, and what follows is read from the middle too.
        while built.prepare_step() {}
        append(&built, b"one more").unwrap();
        flush(&built);
        built.truncate(records[700].0);
        drop(built);
        let (_, mut reader) = open(&simulated, Lsn::OLDEST).unwrap();
        let rest = read_all(&mut reader).unwrap();
        assert_eq!(rest.last().unwrap().1, b"one more");
        assert!(rest.len() > 100 && records.ends_with(&rest[..rest.len() - 1]));
    }
}

#[test]
fn a_record_that_a_crash_cut_off_ends_nowhere_in_the_copy() {
    let options = LogOptions { block_bytes_max: 4096, ..LogOptions::small() };
    let (disk, log) = new_log(options.clone());
    let mut records = Records::new();
    fill(&log, 40, &mut records);
    let kept = records.len();
    // More than a block holds: the last record that is begun in the first block is cut.
    for _ in 0..9 {
        append(&log, &[5; 700]).unwrap();
    }
    assert!(matches!(log.flush_step(), FlushOutcome::Wrote(_)));
    let first = log.durable();
    let crashed = disk.crash(1);
    drop(log);
    let (log, mut reader) = open(&crashed, Lsn::OLDEST).unwrap();
    let survived = read_all(&mut reader).unwrap();
    assert!(survived.len() > kept && survived.last().unwrap().2 < first, "one was cut");
    append(&log, b"behind the crash").unwrap();
    flush(&log);

    let start = survived[0].0;
    // Whole, and in two pieces that meet where the incarnation begins.
    let whole = copy(&log, start, log.durable());
    let mut pieces = copy(&log, start, first);
    pieces.extend(copy(&log, first, log.durable()));
    for blocks in [whole, pieces] {
        assert_eq!(blocks.iter().filter(|block| block.begins_incarnation).count(), 2, "the first one and the crash's");
        let (simulated, disk) = build(&options, start, &blocks);
        assert_eq!(Log::check(&disk, FOLDER).unwrap().records as usize, survived.len() + 1);
        let (_, mut reader) = open(&simulated, start).unwrap();
        let read = read_all(&mut reader).unwrap();
        assert_eq!(read[..survived.len()], survived[..]);
        assert_eq!(read.last().unwrap().1, b"behind the crash");
    }
}

#[test]
fn what_is_gone_or_does_not_follow_is_refused() {
    let (_, log) = new_log(LogOptions::small());
    let mut records = Records::new();
    fill(&log, 800, &mut records);
    log.truncate(records[700].0);
    assert!(matches!(log.blocks(records[0].0, log.durable()), Err(LogError::StartGone { .. })));

    let disk = Disk::simulated(SimulatedDisk::new(1));
    let mut builder = LogBuilder::create(&disk, FOLDER, &LogOptions::small(), Lsn(100)).unwrap();
    let block = |start, payload| Block { start: Lsn(start), payload, begins_incarnation: false, time_us: 1 };
    assert!(matches!(builder.append(block(101, b"\x01a")), Err(LogError::Corrupt { .. })));
    assert!(matches!(builder.append(block(100, b"\xff\xff\x7fa")), Err(LogError::Corrupt { .. })));
    assert!(matches!(LogBuilder::create(&disk, FOLDER, &LogOptions::small(), Lsn(1)), Err(LogError::Exists(_))));
}

#[test]
fn times_of_blocks_never_go_back() {
    let (disk, log) = new_log(LogOptions::small());
    append(&log, b"x").unwrap();
    flush(&log);
    // As if the wall clock had been an hour ahead until now.
    let ahead = log.sealed_us() + 3_600_000_000;
    log.sealed_us.store(ahead, pikepole_contention::sync::atomic::Ordering::Relaxed);
    append(&log, b"y").unwrap();
    flush(&log);
    drop(log);
    let disk = Disk::simulated(disk);
    let (log, _) = Log::open(&disk, FOLDER, LogOptions::small(), &Statistics::new(), Lsn::OLDEST).unwrap();
    append(&log, b"z").unwrap();
    flush(&log);
    let times: Vec<u64> = copy(&log, Lsn::FIRST, log.durable()).iter().map(|block| block.time_us).collect();
    assert!(times[0] < ahead || times[1] < ahead);
    assert_eq!(times.last(), Some(&ahead));
}
