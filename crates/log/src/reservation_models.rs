//! Models of the reservation: appenders fill cells of a ring, a flusher reads what `copied` says is filled. loom
//! fails a model when a cell is read and written without an order between.

use super::{Policy, Reservations, Space};
use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::thread;
use pikepole_contention::{Statistics, fault};

struct Ring {
    reservations: Reservations,
    cells: Vec<UnsafeCell<u64>>,
}

impl Ring {
    fn new(cells: usize, policy: Policy) -> Arc<Self> {
        Arc::new(Self {
            reservations: Reservations::new(0, policy, &Statistics::new()),
            cells: (0..cells).map(|_| UnsafeCell::new(0)).collect(),
        })
    }

    /// Appends one cell that says its position. Returns whether there was room.
    fn append(&self, slot: usize) -> bool {
        let Some(place) = self.reservations.take(slot, 1, Space::Ordinary) else { return false };
        let cell = &self.cells[place.start as usize % self.cells.len()];
        // SAFETY: the place is this thread's alone until it is published; loom checks just that.
        cell.with_mut(|cell| unsafe { *cell = place.start + 1 });
        place.publish();
        true
    }

    /// Reads all cells from `from` up to `copied`; returns `copied`.
    fn read(&self, from: u64) -> u64 {
        let copied = self.reservations.publish_copied();
        for position in from..copied {
            let cell = &self.cells[position as usize % self.cells.len()];
            // SAFETY: the cell is below `copied` and not yet given free; loom checks just that.
            let value = cell.with(|cell| unsafe { *cell });
            assert_eq!(value, position + 1, "an unfilled cell below copied");
        }
        copied
    }
}

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
