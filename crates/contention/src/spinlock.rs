//! A spinlock with growing pause loops and counted back-offs.
//!
//! For critical sections of some tens of nanoseconds. An acquisition that finds no holder writes nothing but the
//! lock's word.
//!
//! | word | means | who changes it |
//! |---|---|---|
//! | 0 | free | a taker, to 1, Acquire |
//! | 1 | held by one guard | its guard, to 0, Release |
//!
//! The holder counts its acquisition beside the word, on the line that is its own then; each 64th one carries the
//! count into the statistics.
//!
//! A taker that finds a holder reads the word between pauses that double up to a bound; after a bound of spins it
//! backs off: yields the CPU the first times, then sleeps a little. The collision is counted when it is met, spins and
//! back-offs once the lock is held.

use crate::statistics::Statistics;
use crate::sync::UnsafeCell;
use crate::sync::atomic::{AtomicU32, Ordering};
use crate::sync::{hint, thread};
use crate::tables::SpinlockClass;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use std::time::Duration;

const FREE: u32 = 0;
const HELD: u32 = 1;

/// Acquisitions of one lock that the statistics learn of together.
pub(crate) const COUNTED_AT_ONCE: u32 = 64;

/// Pauses between two looks at the word grow to this many.
const PAUSES_MAX: u32 = if cfg!(any(loom, shuttle)) { 1 } else { 64 };
/// Looks at the word before a back-off.
const SPINS_BEFORE_BACKOFF: u64 = if cfg!(any(loom, shuttle)) { 1 } else { 256 };
/// Back-offs that only yield; later ones sleep.
const YIELDS_MAX: u64 = 8;
/// How long a back-off sleeps.
const SLEEP: Duration = Duration::from_micros(50);

/// A value that one thread at a time can reach.
#[derive(Debug)]
#[repr(C, align(8))]
pub struct Spinlock<T> {
    word: AtomicU32,
    /// Acquisitions that the statistics do not know yet; the holder's, and on the word's line, which the holder has.
    uncounted: UnsafeCell<u32>,
    class: SpinlockClass,
    statistics: Arc<Statistics>,
    value: UnsafeCell<T>,
}

// SAFETY: the value and `uncounted` are reached through a guard only, and the word lets one guard exist at a time (a guard is made
// after the word went from FREE to HELD by compare-exchange, and its drop sets it back), so sharing the lock hands
// the value from thread to thread, which T: Send allows.
unsafe impl<T: Send> Sync for Spinlock<T> {}

impl<T> Spinlock<T> {
    /// A free lock around `value`, counted under `class`.
    pub fn new(class: SpinlockClass, statistics: &Arc<Statistics>, value: T) -> Self {
        Self {
            word: AtomicU32::new(FREE),
            class,
            uncounted: UnsafeCell::new(0),
            statistics: Arc::clone(statistics),
            value: UnsafeCell::new(value),
        }
    }

    /// Takes the lock if nobody holds it. Never counted.
    #[inline]
    pub fn try_lock(&self) -> Option<SpinlockGuard<'_, T>> {
        self.take().then_some(SpinlockGuard { lock: self })
    }

    /// Takes the lock, spinning while another thread holds it.
    #[inline]
    pub fn lock(&self) -> SpinlockGuard<'_, T> {
        if !self.take() {
            self.spin();
        }
        self.count();
        SpinlockGuard { lock: self }
    }

    /// Counts an acquisition; for the holder.
    #[inline]
    fn count(&self) {
        // SAFETY: the caller has just taken the word and made no guard yet, so no other thread reaches the count.
        let counted = self.uncounted.with_mut(|uncounted| unsafe {
            *uncounted += 1;
            *uncounted
        });
        if counted == COUNTED_AT_ONCE {
            self.carry();
        }
    }

    #[cold]
    fn carry(&self) {
        // SAFETY: called by `count` alone, for the holder.
        self.uncounted.with_mut(|uncounted| unsafe { *uncounted = 0 });
        self.statistics.spinlock_acquired(self.class, COUNTED_AT_ONCE);
    }

    /// The value, for an owner that shares the lock with nobody.
    pub fn into_inner(self) -> T {
        self.value.into_inner()
    }

    #[inline]
    fn take(&self) -> bool {
        // Acquire pairs with the Release in the guard's drop.
        self.word.compare_exchange(FREE, HELD, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    #[cold]
    fn spin(&self) {
        self.statistics.spinlock_collides(self.class);
        let mut spinner = Spinner::new();
        loop {
            spinner.spin();
            if self.word.load(Ordering::Relaxed) == FREE && self.take() {
                break;
            }
            spinner.back_off_if_due();
        }
        self.statistics.spinlock_spun(self.class, &spinner);
    }
}

/// The rhythm of a spin loop, and the count of what it did.
#[derive(Debug)]
pub struct Spinner {
    spins: u64,
    backoffs: u64,
    sleep_time_us: u64,
    pauses: u32,
}

impl Default for Spinner {
    fn default() -> Self {
        Self::new()
    }
}

impl Spinner {
    /// A loop that has not spun yet.
    pub const fn new() -> Self {
        Self { spins: 0, backoffs: 0, sleep_time_us: 0, pauses: 1 }
    }

    /// Pauses, longer each time up to a bound. One call is one spin.
    #[inline]
    pub fn spin(&mut self) {
        for _ in 0..self.pauses {
            hint::spin_loop();
        }
        self.pauses = (self.pauses * 2).min(PAUSES_MAX);
        self.spins += 1;
    }

    /// After each bound of spins in vain gives the CPU away: yields the first times, sleeps a little the later ones.
    #[inline]
    pub fn back_off_if_due(&mut self) {
        if self.spins.is_multiple_of(SPINS_BEFORE_BACKOFF) {
            self.back_off(YIELDS_MAX);
        }
    }

    /// Gives the CPU away: yields so many times, sleeps a little the later ones. A simulation does not sleep: its threads are one.
    #[cold]
    pub(crate) fn back_off(&mut self, yields_max: u64) {
        self.backoffs += 1;
        self.pauses = 1;
        if self.backoffs <= yields_max || crate::clock::virtual_us().is_some() {
            thread::yield_now();
            return;
        }
        let begin_us = crate::clock::now_us();
        thread::sleep(SLEEP);
        self.sleep_time_us += crate::clock::now_us() - begin_us;
    }

    /// Iterations so far.
    pub const fn spins(&self) -> u64 {
        self.spins
    }

    /// Times that the CPU was given away.
    pub const fn backoffs(&self) -> u64 {
        self.backoffs
    }

    /// Time slept in back-offs, in microseconds.
    pub const fn sleep_time_us(&self) -> u64 {
        self.sleep_time_us
    }
}

/// Holds a [`Spinlock`] until dropped.
#[derive(Debug)]
pub struct SpinlockGuard<'a, T> {
    lock: &'a Spinlock<T>,
}

// SAFETY: a shared guard gives out &T only, so what T allows is allowed.
unsafe impl<T: Sync> Sync for SpinlockGuard<'_, T> {}

impl<T> Deref for SpinlockGuard<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: this guard exists, so the word is HELD on its behalf and no other guard exists; the borrow of the
        // guard rules out `deref_mut` meanwhile.
        self.lock.value.with(|value| unsafe { &*value })
    }
}

impl<T> DerefMut for SpinlockGuard<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: this guard exists, so the word is HELD on its behalf and no other guard exists; the exclusive
        // borrow of the guard rules out any other reference through it.
        self.lock.value.with_mut(|value| unsafe { &mut *value })
    }
}

impl<T> Drop for SpinlockGuard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        let ordering = if crate::fault::planted("spinlock_released_relaxed") {
            Ordering::Relaxed
        } else {
            // Release pairs with the Acquire in `take`.
            Ordering::Release
        };
        self.lock.word.store(FREE, ordering);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn threads_take_turns_and_collisions_are_counted() {
        let statistics = Statistics::new();
        let lock = Spinlock::new(SpinlockClass::XDESMGR, &statistics, 0u64);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..5_000 {
                        *lock.lock() += 1;
                    }
                });
            }
        });
        assert_eq!(*lock.lock(), 20_000);
        let rows = statistics.spinlocks();
        let counted = rows.iter().find(|row| row.name == "XDESMGR").expect("a row").acquisitions;
        assert_eq!(counted, 20_001 / u64::from(COUNTED_AT_ONCE) * u64::from(COUNTED_AT_ONCE));
        statistics.clear_spinlocks();
        assert!(statistics.spinlocks().iter().all(|row| row.acquisitions == 0));
        assert_eq!(lock.into_inner(), 20_000);
    }

    #[test]
    fn without_a_holder_nothing_is_counted() {
        let statistics = Statistics::new();
        let lock = Spinlock::new(SpinlockClass::LOGFLUSHQ, &statistics, 1);
        for _ in 0..100 {
            drop(lock.lock());
        }
        let held = lock.lock();
        assert!(lock.try_lock().is_none());
        drop(held);
        assert!(lock.try_lock().is_some());
        assert!(statistics.spinlocks().iter().all(|row| row.collisions == 0 && row.spins == 0));
    }

    #[test]
    fn a_held_lock_gives_one_collision() {
        let statistics = Statistics::new();
        let lock = Spinlock::new(SpinlockClass::LOGCACHE_ACCESS, &statistics, ());
        let row = || statistics.spinlocks()[SpinlockClass::LOGCACHE_ACCESS as usize];
        let held = lock.lock();
        std::thread::scope(|scope| {
            let waiter = scope.spawn(|| drop(lock.lock()));
            while row().collisions == 0 {
                std::thread::yield_now();
            }
            drop(held);
            waiter.join().unwrap();
        });
        assert_eq!(row().collisions, 1);
        assert!(row().spins >= 1);
    }

    #[test]
    fn spinning_in_vain_yields_first_and_sleeps_later() {
        let mut spinner = Spinner::new();
        for _ in 0..SPINS_BEFORE_BACKOFF * (YIELDS_MAX + 2) {
            spinner.spin();
            spinner.back_off_if_due();
        }
        assert_eq!(spinner.backoffs(), YIELDS_MAX + 2);
        assert!(spinner.sleep_time_us() >= 2 * SLEEP.as_micros() as u64);
    }

    #[test]
    fn a_panic_under_the_lock_frees_it() {
        let statistics = Statistics::new();
        let lock = Spinlock::new(SpinlockClass::LOCK_HASH, &statistics, 5);
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let _held = lock.lock();
            panic!("under the lock");
        }));
        assert!(outcome.is_err());
        assert_eq!(*lock.try_lock().unwrap(), 5);
    }
}
