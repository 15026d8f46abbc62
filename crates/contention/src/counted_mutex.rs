//! A mutex whose waits are counted under a latch class.
//!
//! For what threads take turns at, not tasks: who finds a holder sleeps in the kernel, and its scheduler with it. A request that finds
//! none costs what the mutex costs and writes no statistics.
//!
//! | call | the mutex is free | another thread holds it |
//! |---|---|---|
//! | [`CountedMutex::lock`] | taken | waits; the wait is counted when it begins, its time when it ends |
//! | [`CountedMutex::try_lock`] | taken | turned away; counted as a wait of no time |

use crate::statistics::Statistics;
use crate::sync::{Mutex, MutexGuard};
use crate::tables::LatchClass;
use std::sync::{Arc, PoisonError, TryLockError};

/// See the module.
#[derive(Debug)]
pub struct CountedMutex<T> {
    class: LatchClass,
    statistics: Arc<Statistics>,
    mutex: Mutex<T>,
}

impl<T> CountedMutex<T> {
    /// A free mutex around `value`, counted under `class`.
    pub fn new(class: LatchClass, statistics: &Arc<Statistics>, value: T) -> Self {
        Self { class, statistics: Arc::clone(statistics), mutex: Mutex::new(value) }
    }

    /// Takes the mutex, waiting for its holder. For content that holders leave whole even when they panic.
    #[inline]
    pub fn lock(&self) -> MutexGuard<'_, T> {
        // A model counts nothing, and has fewer steps without the first look.
        if cfg!(any(loom, shuttle)) {
            return self.mutex.lock().unwrap_or_else(PoisonError::into_inner);
        }
        match self.mutex.try_lock() {
            Ok(guard) => guard,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => self.wait(),
        }
    }

    /// Takes the mutex if no thread holds it and none has panicked with it.
    #[inline]
    pub fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
        match self.mutex.try_lock() {
            Ok(guard) => Some(guard),
            Err(TryLockError::Poisoned(_)) => None,
            Err(TryLockError::WouldBlock) => {
                self.statistics.record_latch_wait(self.class, 0);
                None
            }
        }
    }

    #[cold]
    fn wait(&self) -> MutexGuard<'_, T> {
        self.statistics.latch_wait_begins(self.class);
        let begin_us = crate::clock::now_us();
        let guard = self.mutex.lock().unwrap_or_else(PoisonError::into_inner);
        self.statistics.latch_wait_ends(self.class, crate::clock::now_us().saturating_sub(begin_us));
        guard
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    const CLASS: LatchClass = LatchClass::LOG_MANAGER;

    #[test]
    fn only_requests_that_find_a_holder_are_counted() {
        let statistics = Statistics::new();
        let row = || statistics.latches()[CLASS as usize];
        let mutex = CountedMutex::new(CLASS, &statistics, 0);
        *mutex.lock() += 1;
        assert_eq!((*mutex.try_lock().expect("it is free"), row().waiting_requests_count), (1, 0));
        let held = mutex.lock();
        assert!(mutex.try_lock().is_none());
        assert_eq!((row().waiting_requests_count, row().wait_time_us), (1, 0));
        std::thread::scope(|scope| {
            let waiter = scope.spawn(|| *mutex.lock());
            // The wait is counted when it begins, so that is when to let go.
            while row().waiting_requests_count < 2 {
                std::thread::yield_now();
            }
            drop(held);
            assert_eq!(waiter.join().expect("no panic"), 1);
        });
        assert_eq!(row().waiting_requests_count, 2);
    }
}
