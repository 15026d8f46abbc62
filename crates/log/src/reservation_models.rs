//! Models of the reservation: appenders fill cells of a ring, a flusher reads what `copied` says is filled. loom
//! fails a model when a cell is read and written without an order between.

use super::{Policy, Reservations, Space};
use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::thread;
use pikepole_contention::sync::atomic::Ordering;
use pikepole_contention::{Statistics, fault};

struct Ring {
    reservations: Reservations,
    cells: Vec<UnsafeCell<u64>>,
}

impl Ring {
    fn new(cells: usize, policy: Policy) -> Arc<Self> {
        let ring = Arc::new(Self {
            reservations: Reservations::new(0, policy, CHUNK, &Statistics::new()),
            cells: (0..cells).map(|_| UnsafeCell::new(UNFILLED)).collect(),
        });
        // The first append of a slot takes a chunk.
        ring.reservations.appended_for_test(1000);
        ring
    }

    /// Appends one cell that says its position. Returns the position; None when there was no room.
    fn place(&self, slot: usize, after: u64) -> Option<u64> {
        let place = self.reservations.take(slot, 1, Space::Ordinary, after)?;
        let start = place.start;
        self.write(start, start + 1);
        (start + 1..=start + place.rest).for_each(|position| self.write(position, PADDING));
        place.publish();
        Some(start)
    }

    fn append(&self, slot: usize) -> bool {
        self.place(slot, 0).is_some()
    }

    fn write(&self, position: u64, value: u64) {
        let cell = &self.cells[position as usize % self.cells.len()];
        // SAFETY: the place is this thread's alone until it is published; loom checks just that.
        cell.with_mut(|cell| unsafe { *cell = value });
    }

    /// Reads all cells from `from` up to `copied`, which then holds everything below `seal_below`; returns `copied` and
    /// adds the records to `count`.
    fn read_sealing(&self, from: u64, seal_below: u64, count: &mut usize) -> u64 {
        let copied = self.reservations.publish_copied(seal_below);
        for position in from..copied {
            let cell = &self.cells[position as usize % self.cells.len()];
            // SAFETY: the cell is below `copied` and not yet given free; loom checks just that.
            let value = cell.with(|cell| unsafe { *cell });
            assert!(value == position + 1 || value == PADDING, "an unfilled cell below copied");
            *count += usize::from(value != PADDING);
        }
        copied
    }

    /// The same where there are no chunks: every cell is a record.
    fn read(&self, from: u64) -> u64 {
        let mut count = 0;
        let copied = self.read_sealing(from, u64::MAX, &mut count);
        assert_eq!(count as u64, copied - from, "an unfilled cell below copied");
        copied
    }
}

/// Cells of a chunk.
const CHUNK: u64 = 2;
/// What a cell holds that nobody has written.
const UNFILLED: u64 = u64::MAX;
/// What a cell holds that was zeroed.
const PADDING: u64 = 0;

/// All schedules with at most `preemptions` preemptions: each of the planted faults shows with two.
fn schedules(preemptions: usize, model: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.check(model);
}

/// Two appenders of one and two records; the flusher looks while they run.
fn fill_and_read(policy: Policy) {
    schedules(2, move || {
        let ring = Ring::new(3, policy);
        ring.reservations.set_limits(100, 100);
        let one = Arc::clone(&ring);
        let first = thread::spawn(move || {
            assert!(one.append(0));
            assert!(one.append(0));
        });
        let two = Arc::clone(&ring);
        let second = thread::spawn(move || assert!(two.append(1)));
        let copied = ring.read(0);
        let copied = ring.read(copied);
        first.join().unwrap();
        second.join().unwrap();
        assert_eq!(ring.read(copied), 3);
    });
}

/// Appenders, `appends` each, go round a ring whose cells the flusher gives free as it reads.
fn go_round(preemptions: usize, appenders: usize, appends: usize) {
    schedules(preemptions, move || {
        // One record for each slot: the margin.
        let cells = appenders as u64 + 1;
        let limit = move |written: u64| written + cells - appenders as u64;
        let ring = Ring::new(cells as usize, Policy::Atomic);
        ring.reservations.set_limits(limit(0), limit(0));
        let threads: Vec<_> = (0..appenders)
            .map(|slot| {
                let ring = Arc::clone(&ring);
                thread::spawn(move || {
                    for _ in 0..appends {
                        ring.append(slot);
                    }
                })
            })
            .collect();
        let mut written = 0;
        for _ in 0..2 {
            written = ring.read(written);
            ring.reservations.set_limits(limit(written), limit(written));
        }
        for thread in threads {
            thread.join().unwrap();
        }
        ring.read(written);
    });
}

/// The log writer goes to sleep while an append comes.
fn sleep_or_see() {
    loom::model(|| {
        let ring = Ring::new(1, Policy::Atomic);
        ring.reservations.set_limits(100, 100);
        let one = Arc::clone(&ring);
        let appender = thread::spawn(move || {
            one.append(0);
            one.reservations.writer_is_idle()
        });
        let sleeps = ring.reservations.sleep_unless_more(0);
        let woken = appender.join().unwrap();
        assert!(!sleeps || woken, "the writer sleeps and nobody wakes it");
    });
}

/// An appender fills chunks of two records; the flusher looks `reads` times while it runs, sealing. Whatever was sealed, all
/// records are found, in order.
fn fill_chunks(preemptions: usize, records: usize, reads: usize, seal_below: u64) {
    schedules(preemptions, move || {
        let ring = Ring::new(8, Policy::Chunk);
        ring.reservations.set_limits(100, 100);
        let one = Arc::clone(&ring);
        let appender = thread::spawn(move || {
            let places: Vec<u64> = (0..records).map(|_| one.place(0, 0).unwrap()).collect();
            assert!(places.is_sorted());
            places
        });
        let (mut count, mut copied) = (0, vec![0]);
        for _ in 0..reads {
            copied.push(ring.read_sealing(copied[copied.len() - 1], seal_below, &mut count));
        }
        let places = appender.join().unwrap();
        copied.push(ring.read_sealing(copied[copied.len() - 1], u64::MAX, &mut count));
        assert_eq!(
            count,
            records,
            "a record was lost {places:?} {copied:?} {}",
            ring.reservations.slots[0].chunk.load(Ordering::Relaxed)
        );
    });
}

/// Slot 0 has an open chunk and goes on filling it; slot 1 has appended behind it. The flusher wants all that is there:
/// it never waits for slot 0.
fn seal_while_filling() {
    schedules(3, || {
        let ring = Ring::new(8, Policy::Chunk);
        ring.reservations.set_limits(100, 100);
        assert_eq!((ring.place(0, 0), ring.place(1, 0)), (Some(0), Some(2)));
        let one = Arc::clone(&ring);
        let appender = thread::spawn(move || one.place(0, 0).unwrap());
        let mut count = 0;
        let copied = ring.read_sealing(0, u64::MAX, &mut count);
        let second = appender.join().unwrap();
        assert!(second == 1 || second >= 3);
        let copied = ring.read_sealing(copied, u64::MAX, &mut count);
        assert!(copied >= 3, "the flusher waits for an open chunk");
        assert_eq!(count, 3, "a record was lost");
    });
}

/// Records of one page, by two slots, each behind the page's last one.
fn in_order() {
    schedules(3, || {
        let ring = Ring::new(12, Policy::Chunk);
        ring.reservations.set_limits(100, 100);
        let page = Arc::new(loom::sync::Mutex::new(0));
        let append = |ring: &Ring, slot, page: &loom::sync::Mutex<u64>| {
            let mut lsn = page.lock().unwrap();
            let after = if fault::planted("page_lsn_ignored") { 0 } else { *lsn };
            let start = ring.place(slot, after).unwrap();
            assert!(start >= *lsn, "a page's records out of order");
            *lsn = start + 1;
        };
        append(&ring, 0, &page);
        let (one, its_page) = (Arc::clone(&ring), Arc::clone(&page));
        let appender = thread::spawn(move || (0..2).for_each(|_| append(&one, 1, &its_page)));
        append(&ring, 0, &page);
        appender.join().unwrap();
        let mut count = 0;
        ring.read_sealing(0, u64::MAX, &mut count);
        assert_eq!(count, 4);
    });
}

const ACTIVE: u64 = 0;
const COMMITTING: u64 = 1;
/// Plus the end of the commit record.
const ENDED: u64 = 2;

/// A transaction commits while snapshots are taken: one that found it active is below its commit, for ever.
fn commit_and_snapshot(preemptions: usize, opened_before: bool, snapshots: usize) {
    schedules(preemptions, move || {
        let ring = Ring::new(16, Policy::Chunk);
        ring.reservations.set_limits(100, 100);
        if opened_before {
            ring.append(0);
        }
        let status = Arc::new(loom::sync::atomic::AtomicU64::new(ACTIVE));
        let (one, its_status) = (Arc::clone(&ring), Arc::clone(&status));
        let committer = thread::spawn(move || {
            its_status.store(COMMITTING, Ordering::Release);
            let commit = one.place(0, 0).unwrap() + 1;
            its_status.store(ENDED + commit, Ordering::Release);
        });
        // What another slot takes is above the open chunk.
        ring.append(1);
        let look = |ring: &Ring, status: &loom::sync::atomic::AtomicU64| {
            let before = status.load(Ordering::Acquire);
            (before, ring.reservations.now(), status.load(Ordering::Acquire))
        };
        let readers: Vec<_> = (1..snapshots)
            .map(|_| {
                let (ring, status) = (Arc::clone(&ring), Arc::clone(&status));
                thread::spawn(move || look(&ring, &status))
            })
            .collect();
        let mut seen = vec![look(&ring, &status)];
        seen.extend(readers.into_iter().map(|reader| reader.join().unwrap()));
        committer.join().unwrap();
        let commit = status.load(Ordering::Acquire) - ENDED;
        for (before, snapshot, after) in seen {
            assert!(after != ACTIVE || commit > snapshot, "a commit came under a snapshot");
            assert!(before < ENDED || commit <= snapshot, "a snapshot misses a commit that was over");
        }
    });
}

/// A slot takes a chunk for a record of another transaction, then commits in it, while a snapshot is taken.
fn commit_and_snapshot_twice() {
    schedules(4, || {
        let ring = Ring::new(16, Policy::Chunk);
        ring.reservations.set_limits(100, 100);
        let status = Arc::new(loom::sync::atomic::AtomicU64::new(ACTIVE));
        let (one, its_status) = (Arc::clone(&ring), Arc::clone(&status));
        let committer = thread::spawn(move || {
            one.append(0);
            its_status.store(COMMITTING, Ordering::Release);
            let commit = one.place(0, 0).unwrap() + 1;
            its_status.store(ENDED + commit, Ordering::Release);
        });
        let (snapshot, seen) = (ring.reservations.now(), status.load(Ordering::Acquire));
        committer.join().unwrap();
        let commit = status.load(Ordering::Acquire) - ENDED;
        assert!(seen != ACTIVE || commit > snapshot, "a commit came under a snapshot");
    });
}

/// The log writer goes to sleep while a record is put into an open chunk.
fn sleep_or_see_chunk() {
    schedules(4, || {
        let ring = Ring::new(4, Policy::Chunk);
        ring.reservations.set_limits(100, 100);
        ring.append(0);
        let one = Arc::clone(&ring);
        let appender = thread::spawn(move || {
            one.append(0);
            one.reservations.writer_is_idle()
        });
        let sleeps = ring.reservations.sleep_unless_more(1);
        let woken = appender.join().unwrap();
        assert!(!sleeps || woken, "the writer sleeps and nobody wakes it");
    });
}

#[test]
fn loom_chunks_filled_and_sealed() {
    fill_chunks(3, 2, 1, u64::MAX);
    fill_chunks(2, 3, 2, u64::MAX);
    fill_chunks(2, 3, 1, 0);
    seal_while_filling();
}

/// Two slots with chunks of their own while the flusher looks: each appends so many records before its thread starts, and
/// then so many on it.
fn two_slots(preemptions: usize, before: [usize; 2], on_threads: [usize; 2]) {
    schedules(preemptions, move || {
        let ring = Ring::new(12, Policy::Chunk);
        ring.reservations.set_limits(100, 100);
        for (slot, records) in before.into_iter().enumerate() {
            (0..records).for_each(|_| assert!(ring.append(slot)));
        }
        let threads: Vec<_> = on_threads
            .into_iter()
            .enumerate()
            .map(|(slot, records)| {
                let ring = Arc::clone(&ring);
                thread::spawn(move || (0..records).for_each(|_| assert!(ring.append(slot))))
            })
            .collect();
        let mut count = 0;
        let copied = ring.read_sealing(0, u64::MAX, &mut count);
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        ring.read_sealing(copied, u64::MAX, &mut count);
        assert_eq!(count, before.into_iter().chain(on_threads).sum::<usize>(), "a record was lost");
    });
}

/// Slot 1 has taken a chunk and fills its first record while slot 0 takes a chunk and fills two, and the flusher looks.
fn take_while_another_fills_its_first() {
    schedules(2, || {
        let ring = Ring::new(12, Policy::Chunk);
        ring.reservations.set_limits(100, 100);
        let place = ring.reservations.take(1, 1, Space::Ordinary, 0).expect("there is room");
        let one = Arc::clone(&ring);
        let appender = thread::spawn(move || (0..2).for_each(|_| assert!(one.append(0))));
        let mut count = 0;
        let copied = ring.read_sealing(0, u64::MAX, &mut count);
        assert_eq!((copied, count), (0, 0), "an unfilled cell below copied");
        ring.write(place.start, place.start + 1);
        (place.start + 1..=place.start + place.rest).for_each(|position| ring.write(position, PADDING));
        place.publish();
        let copied = ring.read_sealing(copied, u64::MAX, &mut count);
        appender.join().unwrap();
        ring.read_sealing(copied, u64::MAX, &mut count);
        assert_eq!(count, 3, "a record was lost");
    });
}

// Two appenders that both take and fill, and a flusher, with two preemptions, are six minutes of schedules. Taking is what
// makes them so many, so it meets another taking with one preemption, or with the other held in its midst; what a slot does
// to a chunk that it has is tried with two, in every pair.

#[test]
fn loom_two_slots_take_chunks() {
    two_slots(1, [0, 0], [2, 2]);
}

#[test]
fn loom_a_slot_takes_and_fills_while_another_fills_its_first() {
    take_while_another_fills_its_first();
}

#[test]
fn loom_two_slots_fill_chunks() {
    two_slots(2, [1, 1], [1, 1]);
}

#[test]
fn loom_a_slot_takes_a_chunk_and_another_fills_its_own() {
    two_slots(2, [1, 0], [1, 1]);
}

#[test]
fn loom_a_slot_takes_and_fills_while_another_fills() {
    two_slots(2, [0, 1], [2, 1]);
}

#[test]
fn loom_chunks_mix_with_other_policies() {
    schedules(2, || {
        let ring = Ring::new(12, Policy::Chunk);
        ring.reservations.set_limits(100, 100);
        ring.append(0);
        let one = Arc::clone(&ring);
        let first = thread::spawn(move || {
            let places = [one.place(0, 0).unwrap(), one.place(0, 0).unwrap()];
            assert!(places.is_sorted());
        });
        ring.reservations.set_policy(Policy::Atomic);
        assert!(ring.append(1));
        ring.reservations.set_policy(Policy::Spinlock);
        let mut count = 0;
        let copied = ring.read_sealing(0, u64::MAX, &mut count);
        first.join().unwrap();
        assert!(ring.append(1));
        ring.read_sealing(copied, u64::MAX, &mut count);
        assert_eq!(count, 5, "a record was lost");
    });
}

#[test]
fn loom_chunk_ring_reuse() {
    // A ring of two chunks and a margin of one.
    schedules(2, || {
        let ring = Ring::new(2 * CHUNK as usize, Policy::Chunk);
        ring.reservations.set_limits(CHUNK, CHUNK);
        let one = Arc::clone(&ring);
        let appender = thread::spawn(move || {
            (0..3).for_each(|_| {
                one.append(0);
            })
        });
        let mut written = 0;
        let mut count = 0;
        for _ in 0..1 {
            written = ring.read_sealing(written, u64::MAX, &mut count);
            ring.reservations.set_limits(written + CHUNK, written + CHUNK);
        }
        appender.join().unwrap();
        ring.read_sealing(written, u64::MAX, &mut count);
    });
}

#[test]
fn loom_pages_and_chunks_in_order() {
    in_order();
}

#[test]
fn loom_commits_and_snapshots() {
    commit_and_snapshot(4, true, 1);
    commit_and_snapshot(4, false, 1);
    commit_and_snapshot(2, true, 2);
    commit_and_snapshot_twice();
}

#[test]
fn loom_writer_sleeps_only_when_no_chunk_is_filled() {
    sleep_or_see_chunk();
}

#[test]
#[should_panic]
fn loom_canary_chunk_claimed_by_store() {
    fault::plant("chunk_claimed_by_store");
    seal_while_filling();
}

#[test]
#[should_panic]
fn loom_canary_chunk_sealed_by_store() {
    fault::plant("chunk_sealed_by_store");
    seal_while_filling();
}

#[test]
#[should_panic(expected = "a commit came under a snapshot")]
fn loom_canary_chunk_opened_by_store() {
    fault::plant("chunk_opened_by_store");
    commit_and_snapshot_twice();
}

#[test]
#[should_panic]
fn loom_canary_taking_not_shown() {
    fault::plant("taking_not_shown");
    fill_chunks(3, 2, 1, u64::MAX);
}

#[test]
#[should_panic(expected = "a commit came under a snapshot")]
fn loom_canary_snapshot_does_not_seal() {
    fault::plant("snapshot_does_not_seal");
    commit_and_snapshot(4, true, 1);
}

#[test]
#[should_panic(expected = "a page's records out of order")]
fn loom_canary_page_lsn_ignored() {
    fault::plant("page_lsn_ignored");
    in_order();
}

#[test]
#[should_panic(expected = "nobody wakes it")]
fn loom_canary_writer_looks_at_chunks_with_a_load() {
    fault::plant("writer_looks_at_chunks_with_a_load");
    sleep_or_see_chunk();
}

#[test]
fn loom_atomic_reservation() {
    fill_and_read(Policy::Atomic);
}

#[test]
fn loom_spinlock_reservation() {
    schedules(3, || {
        let ring = Ring::new(2, Policy::Spinlock);
        ring.reservations.set_limits(100, 100);
        let one = Arc::clone(&ring);
        let first = thread::spawn(move || assert!(one.append(0)));
        let copied = ring.read(0);
        assert!(ring.append(1));
        first.join().unwrap();
        assert_eq!(ring.read(copied), 2);
    });
}

#[test]
fn loom_policies_mix() {
    schedules(3, || {
        let ring = Ring::new(3, Policy::Atomic);
        ring.reservations.set_limits(100, 100);
        let one = Arc::clone(&ring);
        let first = thread::spawn(move || assert!(one.append(0) && one.append(0)));
        ring.reservations.set_policy(Policy::Spinlock);
        assert!(ring.append(1));
        let copied = ring.read(0);
        first.join().unwrap();
        assert_eq!(ring.read(copied), 3);
    });
}

#[test]
fn loom_ring_reuse() {
    go_round(6, 1, 3);
    go_round(2, 2, 2);
}

#[test]
fn loom_writer_sleeps_only_when_nothing_comes() {
    sleep_or_see();
}

#[test]
#[should_panic]
fn loom_canary_slot_set_after_add() {
    fault::plant("slot_set_after_add");
    fill_and_read(Policy::Atomic);
}

#[test]
#[should_panic]
fn loom_canary_copy_published_relaxed() {
    fault::plant("copy_published_relaxed");
    fill_and_read(Policy::Atomic);
}

#[test]
#[should_panic]
fn loom_canary_lower_bound_relaxed() {
    fault::plant("lower_bound_relaxed");
    fill_and_read(Policy::Atomic);
}

#[test]
#[should_panic]
fn loom_canary_limit_read_relaxed() {
    fault::plant("limit_read_relaxed");
    go_round(6, 1, 3);
}

#[test]
#[should_panic(expected = "nobody wakes it")]
fn loom_canary_writer_looks_with_a_load() {
    fault::plant("writer_looks_with_a_load");
    sleep_or_see();
}
