//! Chunks on a whole log: what an append touches, who waits for whom, order, padding.

use crate::tests::{append, flush, new_log, open, read_all};
use crate::*;
use pikepole_contention::slot;
use pikepole_contention::sync::{Mutex, thread};
use std::sync::Arc;

const RECORD: [u8; 47] = [7; 47];

fn options() -> LogOptions {
    LogOptions {
        reservation: Reservation::Chunk,
        first_segment_bytes: 32 << 20,
        segment_bytes: 32 << 20,
        bytes_max: 64 << 20,
        ..LogOptions::default()
    }
}

/// Appends one after the other until the slot's chunks have their largest size.
fn warm(log: &Log, slot: usize) {
    slot::simulate(slot, || {
        for _ in 0..12_000 {
            append(log, &RECORD).unwrap();
        }
    });
}

#[test]
fn an_append_touches_what_is_shared_once_in_hundreds() {
    let (_, log) = new_log(options());
    warm(&log, 3);
    slot::simulate(3, || {
        let (chunks, mut taken) = (log.stats().chunks, Vec::new());
        for _ in 0..34_000 {
            append(&log, &RECORD).unwrap();
            taken.push(log.reservations.reserved());
        }
        taken.dedup();
        let moves = taken.len() as u64 - 1;
        let chunks = log.stats().chunks - chunks;
        assert!(moves == chunks || moves + 1 == chunks, "`reserved` moves with each chunk and no record");
        assert!((100..=110).contains(&taken.len()), "{}", taken.len());
        // The limits, which each flush writes, are not even looked at.
        log.reservations.set_limits(0, 0);
        append(&log, &RECORD).unwrap();
    });
}

#[test]
fn whoever_flushes_does_not_wait_for_open_chunks() {
    let (disk, log) = new_log(options());
    let mut places = Vec::new();
    (0..3).for_each(|slot| warm(&log, slot));
    for round in 0..10 {
        for slot in 0..3 {
            places.push(slot::simulate((slot + round) % 3, || append(&log, &RECORD).unwrap()));
        }
        flush(&log);
        assert_eq!((log.durable(), log.copied()), (log.reserved(), log.reserved()));
        assert!(places.iter().all(|place| place.end <= log.durable()));
    }
    let stats = log.stats();
    assert!(stats.padding_bytes > 0);
    assert_eq!(stats.record_bytes, (36_000 + 30) * 48);
    drop(log);
    let (_, mut reader) = open(&disk, Lsn::OLDEST).unwrap();
    let records = read_all(&mut reader).unwrap();
    assert_eq!(records.len(), 36_030);
    assert!(places.iter().all(|place| records.binary_search_by_key(&place.start, |record| record.0).is_ok()));
    assert!(reader.padding_bytes() > 0 && reader.padding_bytes() <= stats.padding_bytes);
}

#[test]
fn a_lone_committer_writes_one_block_a_commit_and_no_padding() {
    let (_, log) = new_log(options());
    warm(&log, 5);
    flush(&log);
    for _ in 0..200 {
        slot::simulate(5, || append(&log, &RECORD).unwrap());
        assert_eq!(log.flush_step(), FlushOutcome::Wrote(4096));
        assert_eq!(log.flush_step(), FlushOutcome::Nothing);
    }
    assert_eq!(log.stats().padding_bytes, 0);
}

#[test]
fn padding_is_small_at_every_load() {
    for every in [1, 3, 10, 30, 100, 300, 1_000, 10_000] {
        for by_snapshot in [false, true] {
            let (_, log) = new_log(options());
            for number in 0..100_000 {
                slot::simulate(number / every % 2, || append(&log, &RECORD).unwrap());
                if number % every == 0 {
                    if by_snapshot {
                        log.now();
                    } else {
                        flush(&log);
                    }
                }
                if number % 1_000 == 0 {
                    flush(&log);
                    log.truncate(log.durable());
                    while log.prepare_step() {}
                }
            }
            let stats = log.stats();
            assert_eq!(stats.record_bytes, 100_000 * 48);
            let percent = stats.padding_bytes * 100 / stats.record_bytes;
            assert!(percent <= 6, "{percent}% padding at a flush or snapshot every {every} records");
        }
    }
}

#[test]
fn a_reading_of_the_clock_divides_the_records() {
    let (_, log) = new_log(options());
    warm(&log, 0);
    warm(&log, 1);
    let before = slot::simulate(0, || append(&log, &RECORD).unwrap());
    let now = log.now();
    assert!(before.end <= now);
    for slot in [0, 1, 2] {
        assert!(slot::simulate(slot, || append(&log, &RECORD).unwrap()).start >= now);
    }
    // Nothing is open below it, so asking again seals nothing.
    let (now, chunks) = (log.now(), log.stats().chunks);
    assert_eq!(log.now(), now);
    assert_eq!(log.stats().chunks, chunks);
}

#[test]
fn policies_switched_with_chunks_open_are_in_force_at_once() {
    let (_, log) = new_log(options());
    warm(&log, 0);
    log.set_policy(Policy::Reservation(Reservation::Atomic)).unwrap();
    let chunks = log.stats().chunks;
    let places: Vec<LsnRange> = (0..50).map(|_| slot::simulate(0, || append(&log, &RECORD).unwrap())).collect();
    assert!(places.windows(2).all(|pair| pair[0].end == pair[1].start));
    assert_eq!(log.stats().chunks, chunks);
    log.set_policy(Policy::Reservation(Reservation::Chunk)).unwrap();
    slot::simulate(0, || append(&log, &RECORD).unwrap());
    assert_eq!(log.stats().chunks, chunks + 1);
}

/// Threads change pages in turn, now and then one is preempted in between by another; a flusher runs beside them. Each
/// page's records are in the order of its changes, and so they are read.
#[test]
fn records_of_a_page_are_in_order_whoever_writes_them() {
    let (disk, log) = new_log(options());
    let log = Arc::new(log);
    let pages: Arc<Vec<Mutex<(u64, u32)>>> = Arc::new((0..7).map(|_| Mutex::new((0, 0))).collect());
    let threads: Vec<_> = (0..3u32)
        .map(|thread| {
            let (log, pages) = (Arc::clone(&log), Arc::clone(&pages));
            thread::spawn(move || {
                for number in 0..6_000u32 {
                    // Mostly a page of its own.
                    let at = if number % 50 == 0 { 3 + (number / 50 + thread) % 4 } else { thread };
                    let mut page = pages[at as usize].lock().unwrap();
                    let place = log.append_after(Lsn(page.0), 40, |out, _| {
                        out.fill(1);
                        out[1..5].copy_from_slice(&at.to_le_bytes());
                        out[5..9].copy_from_slice(&page.1.to_le_bytes());
                    });
                    let place = place.unwrap();
                    assert!(place.start.0 >= page.0, "a page's LSN goes back");
                    *page = (place.end.0, page.1 + 1);
                    drop(page);
                    if thread == 0 && number % 100 == 0 {
                        log.flush_step();
                    }
                }
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    flush(&log);
    assert!(log.stats().chunks > 20, "{:?}", log.stats());
    drop(log);
    let (_, mut reader) = open(&disk, Lsn::OLDEST).unwrap();
    let mut next = [0u32; 7];
    for (_, record, _) in read_all(&mut reader).unwrap() {
        let field = |at: usize| u32::from_le_bytes(record[at..at + 4].try_into().unwrap());
        assert_eq!(field(5), next[field(1) as usize]);
        next[field(1) as usize] += 1;
    }
    assert_eq!(next.iter().sum::<u32>(), 18_000);
}
