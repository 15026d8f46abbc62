//! The last spinlock acquisitions that backed off, one by one: what the sums of `sys.dm_os_spinlock_stats` are made of.
//!
//! An acquisition that backed off has given its CPU away at least once, so one more entry costs it nothing that counts. A
//! thread that finds another one at the buffer leaves its entry out and does not wait: the entry is counted as lost.

use crate::sync::Mutex;
use crate::sync::atomic::{AtomicU64, Ordering};
use crate::{SpinlockClass, Spinner};
use std::collections::VecDeque;

/// Entries that are kept.
const KEPT: usize = 256;

/// An acquisition of a spinlock that backed off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BackoffEvent {
    /// Counts from 1; a gap is an entry that was lost.
    pub number: u64,
    /// The time at which the spinlock was taken at last ([`clock::now_us`](crate::clock::now_us)).
    pub at_us: u64,
    /// The spinlock.
    pub class: SpinlockClass,
    /// The slot of the thread: a scheduler's number, or one beyond those.
    pub slot: usize,
    /// Iterations of its loop.
    pub spins: u64,
    /// Times that it gave its CPU away.
    pub backoffs: u64,
    /// Time that it slept, in microseconds.
    pub sleep_time_us: u64,
}

/// See the module.
pub(crate) struct BackoffEvents {
    /// Made at once, so that no push allocates while the spinlock is held.
    kept: Mutex<VecDeque<BackoffEvent>>,
    count: AtomicU64,
}

impl BackoffEvents {
    pub(crate) fn new() -> Self {
        Self { kept: Mutex::new(VecDeque::with_capacity(KEPT)), count: AtomicU64::new(0) }
    }

    /// Notes an acquisition.
    #[cold]
    pub(crate) fn note(&self, class: SpinlockClass, spinner: &Spinner) {
        let number = self.count.fetch_add(1, Ordering::Relaxed) + 1;
        let Ok(mut kept) = self.kept.try_lock() else { return };
        if kept.len() == KEPT {
            kept.pop_front();
        }
        kept.push_back(BackoffEvent {
            number,
            at_us: crate::clock::now_us(),
            class,
            slot: crate::slot::current(),
            spins: spinner.spins(),
            backoffs: spinner.backoffs(),
            sleep_time_us: spinner.sleep_time_us(),
        });
    }

    /// Returns the entries that are kept, the oldest first.
    pub(crate) fn look(&self) -> Vec<BackoffEvent> {
        self.kept.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).iter().copied().collect()
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn the_last_ones_are_kept_and_a_busy_buffer_loses_one() {
        let events = BackoffEvents::new();
        let mut spinner = Spinner::new();
        spinner.spin();
        spinner.back_off(1);
        for _ in 0..KEPT + 3 {
            events.note(SpinlockClass::XDESMGR, &spinner);
        }
        let kept = events.look();
        assert_eq!((kept.len(), kept[0].number, kept[KEPT - 1].number), (KEPT, 4, KEPT as u64 + 3));
        assert_eq!((kept[0].spins, kept[0].backoffs, kept[0].class), (1, 1, SpinlockClass::XDESMGR));
        let held = events.kept.lock().expect("whole");
        events.note(SpinlockClass::LOGFLUSHQ, &spinner);
        drop(held);
        events.note(SpinlockClass::LOGFLUSHQ, &spinner);
        let numbers: Vec<u64> = events.look().iter().rev().take(2).map(|event| event.number).collect();
        assert_eq!(numbers, [KEPT as u64 + 5, KEPT as u64 + 3]);
    }
}
