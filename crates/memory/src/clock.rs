//! The times of commits and snapshots, and the two ways to them.
//!
//! A writer says that it is about to have a time, and then takes one; a reader takes the present time, and then asks how the writer
//! stands. A reader whose time is the writer's or later must find that it has said so: otherwise it passes a version over that belongs to
//! its snapshot. So times keep to three rules, whichever way they come by:
//!
//! 1. A time for a commit is later than each present time that was taken before it.
//! 2. A present time is not earlier than each one that was taken before it.
//! 3. A present time that is taken behind a commit is not earlier than the commit's.
//!
//! | way | a present time | a time for a commit | to keep the rules |
//! |---|---|---|---|
//! | ATOMIC | the counter | the counter, one higher | all threads write one line of memory, one after the other |
//! | CLOCK | the machine's clock | the machine's clock, a nanosecond later | it never goes back, on any CPU; a commit ends when that nanosecond is over |
//!
//! The counter is the published way (Diaconu et al., SIGMOD 2013). Clocks that all CPUs read without writing were measured as times of
//! transactions by Ruan et al. (TACO 2013) and Kashyap et al. (EuroSys 2018). Two commits can have one time by the clock; see
//! [`Writer::stands_by`](crate::writer::Writer::stands_by).

use pikepole_contention::fault::planted;
use pikepole_contention::sync::Mutex;
use pikepole_contention::sync::atomic::{AtomicU64, Ordering};
use pikepole_contention::{CachePadded, Spinner};

/// The way to the times of commits and snapshots.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Timestamps {
    /// A counter.
    #[default]
    Atomic,
    /// The machine's monotonic clock.
    Clock,
}

impl Timestamps {
    /// False: this processor has no way to order a reading of its clock among reads and writes of memory that is known here.
    pub const fn is_supported(self) -> bool {
        matches!(self, Timestamps::Atomic) || cfg!(any(target_arch = "x86_64", shuttle))
    }
}

/// Ways as words: the lowest bits of [`Way::word`], above which changes are counted.
const ATOMIC: u64 = 0;
const CLOCK: u64 = 1;
const CHANGING: u64 = 2;
const WAY_BITS: u32 = 2;
const WAY_MASK: u64 = (1 << WAY_BITS) - 1;

/// A model's clock goes on by so many ticks at most between two readings.
#[cfg(shuttle)]
const TICKS_MAX: u64 = 2;

/// See the module.
#[derive(Default)]
pub(crate) struct Clock {
    counter: CachePadded<AtomicU64>,
    /// On a line that only a change of the way writes.
    way: CachePadded<Way>,
    changes: Mutex<()>,
}

#[derive(Default)]
struct Way {
    word: AtomicU64,
    /// The machine's clock is so far behind the times that are taken by it, modulo 2^64.
    behind: AtomicU64,
    #[cfg(shuttle)]
    ticks: AtomicU64,
}

impl Way {
    /// The machine's clock, ordered among all reads and writes of memory of the calling thread.
    #[cfg(not(shuttle))]
    fn reading(&self) -> u64 {
        pikepole_contention::clock::ordered_ns()
    }

    /// A model's clock goes on by chance, so that some readings are the same.
    #[cfg(shuttle)]
    fn reading(&self) -> u64 {
        self.ticks.fetch_add(pikepole_contention::shuttle_runs::chance(TICKS_MAX + 1), Ordering::SeqCst)
    }

    fn time(&self) -> u64 {
        // Relaxed: behind the load of the word that says CLOCK, before which it was stored.
        self.reading().wrapping_add(self.behind.load(Ordering::Relaxed))
    }
}

impl Clock {
    /// The present time. By the counter, SeqCst: in one order with the exchanges of [`Clock::next`], and with the stores and loads of
    /// snapshots, see [`MemoryTransactions::take`](crate::MemoryTransactions).
    #[inline]
    pub fn now(&self) -> u64 {
        self.by_way_in_force(|counter| counter.load(Ordering::SeqCst), 0)
    }

    /// A time for a commit. By the counter, SeqCst: in one order with the loads of [`Clock::now`].
    #[inline]
    pub fn next(&self) -> u64 {
        let later = u64::from(!planted("memory: a commit has the present time"));
        self.by_way_in_force(|counter| counter.fetch_add(1, Ordering::SeqCst) + 1, later)
    }

    /// Takes a time by the way that is in force before and behind it.
    ///
    /// SeqCst: a thread that finds the way unchanged behind its time has taken it before [`Clock::change`] began, which therefore goes on
    /// from there; one that finds another way takes another time.
    #[inline]
    fn by_way_in_force(&self, count: impl Fn(&AtomicU64) -> u64, later: u64) -> u64 {
        loop {
            let word = self.way.word.load(Ordering::SeqCst);
            let time = match word & WAY_MASK {
                ATOMIC => count(&self.counter),
                CLOCK => self.way.time() + later,
                _ => {
                    self.wait_for_change();
                    continue;
                }
            };
            if self.way.word.load(Ordering::SeqCst) == word
                || planted("memory: the way to times is not looked at again")
            {
                return time;
            }
        }
    }

    #[cold]
    fn wait_for_change(&self) {
        let mut spinner = Spinner::new();
        while self.way.word.load(Ordering::SeqCst) & WAY_MASK == CHANGING {
            spinner.spin();
            spinner.back_off_if_due();
        }
    }

    /// Waits until the present is not before a commit's time: a nanosecond by the clock, in which it has gone on as a rule.
    #[inline]
    pub fn pass(&self, time: u64) {
        // Relaxed: a time by the counter is the present as soon as it is taken, and stays so by the clock.
        if self.way.word.load(Ordering::Relaxed) & WAY_MASK == ATOMIC
            || planted("memory: a commit ends before its time")
        {
            return;
        }
        while self.now() < time {
            pikepole_contention::sync::hint::spin_loop();
        }
    }

    /// The way in force.
    pub fn way(&self) -> Timestamps {
        match self.way.word.load(Ordering::Relaxed) & WAY_MASK {
            ATOMIC => Timestamps::Atomic,
            _ => Timestamps::Clock,
        }
    }

    /// Changes the way, while transactions run. All times from now on are later than `least` and than those before.
    pub fn change(&self, to: Timestamps, least: u64) {
        let _one = self.changes.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let before = self.way.word.load(Ordering::Relaxed);
        // SeqCst, as both stores: see `by_way_in_force`.
        self.way.word.store(before & !WAY_MASK | CHANGING, Ordering::SeqCst);
        let last = match before & WAY_MASK {
            ATOMIC => self.counter.load(Ordering::SeqCst),
            // A commit's time is later than the clock.
            _ => self.way.time() + 1,
        };
        let last = last.max(least);
        self.counter.store(last, Ordering::SeqCst);
        self.way.behind.store(last.wrapping_sub(self.way.reading()), Ordering::Relaxed);
        let to = if to == Timestamps::Clock { CLOCK } else { ATOMIC };
        self.way.word.store((before & !WAY_MASK).wrapping_add(1 << WAY_BITS) | to, Ordering::SeqCst);
    }
}

#[cfg(all(test, not(shuttle), not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn times_go_on_when_the_way_changes() {
        let clock = Clock::default();
        let mut last = 0;
        for way in [Timestamps::Atomic, Timestamps::Clock, Timestamps::Clock, Timestamps::Atomic, Timestamps::Clock] {
            let least = clock.now() + 5;
            clock.change(way, least);
            assert_eq!(clock.way(), way);
            for _ in 0..100 {
                let present = clock.now();
                assert!(present >= last && present >= least, "{way:?}: {present} behind {last}");
                let time = clock.next();
                assert!(time > present, "{way:?}: a commit at {time}, not behind {present}");
                clock.pass(time);
                last = time;
                assert!(clock.now() >= time, "{way:?}: a commit at {time} is not over");
            }
        }
    }

    #[test]
    fn a_counter_counts_commits() {
        let clock = Clock::default();
        clock.change(Timestamps::Atomic, 40);
        assert_eq!([clock.next(), clock.next(), clock.now()], [41, 42, 42]);
    }
}
