//! Keeping idle CPUs from deep sleep while work comes in short steps.
//!
//! A client asks, the log is written, the client is answered: between the steps each CPU has nothing to do for some tens of
//! microseconds, and as much again goes by until it is awake. So schedulers that have rested shortly several times in a row
//! have the kernel asked (`pikepole_machine::ShallowIdle`) to let CPUs sleep lightly only, until nobody has said so for a while.
//!
//! ```text
//!   scheduler: 16 rests in a row, each below 1 ms -> keep: until = now + 50 ms
//!   thread of the pool: request | until it is past `until`: sleep 10 ms | give the request back
//! ```
//!
//! Nothing depends on these numbers but when a request begins and ends: all are relaxed.

use crate::blocking::Pool;
use pikepole_contention::clock;
use pikepole_contention::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use pikepole_contention::sync::{Arc, Mutex, thread};
use pikepole_machine::ShallowIdle;
use std::sync::PoisonError;
use std::time::Duration;

/// A request is given back when nobody has wanted it for so long, in microseconds.
const HOLD_US: u64 = 50_000;
/// How often its holder looks.
const LOOK: Duration = Duration::from_millis(10);

/// How deep CPUs may sleep.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CpuIdle {
    /// As deep as the kernel thinks.
    #[default]
    Kernel,
    /// Lightly, while requests and commits follow each other.
    Shallow,
}

/// See the module.
#[derive(Default)]
pub(crate) struct Wakefulness {
    is_wanted: AtomicBool,
    /// A thread holds the request, or is about to.
    is_held: AtomicBool,
    until_us: AtomicU64,
    /// Why this process may not ask.
    refusal: Mutex<Option<String>>,
}

impl Wakefulness {
    /// Sets the policy, in force from now on.
    pub fn set(&self, policy: CpuIdle) {
        let refusal = match policy {
            CpuIdle::Kernel => None,
            CpuIdle::Shallow => {
                ShallowIdle::may_request().err().map(|error| format!("{}: {error}", ShallowIdle::DEVICE))
            }
        };
        self.is_wanted.store(policy == CpuIdle::Shallow && refusal.is_none(), Ordering::Relaxed);
        *self.refusal.lock().unwrap_or_else(PoisonError::into_inner) = refusal;
    }

    /// Why the policy is not in force.
    pub fn refusal(&self) -> Option<String> {
        self.refusal.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Rests are short just now.
    pub fn keep(self: &Arc<Self>, pool: &Arc<Pool>) {
        if !self.is_wanted.load(Ordering::Relaxed) {
            return;
        }
        self.until_us.store(clock::now_us() + HOLD_US, Ordering::Relaxed);
        if self.is_held.load(Ordering::Relaxed) || self.is_held.swap(true, Ordering::Relaxed) {
            return;
        }
        let this = Arc::clone(self);
        if pool.submit(Box::new(move || this.hold())).is_err() {
            self.is_held.store(false, Ordering::Relaxed);
        }
    }

    fn hold(&self) {
        // Who may ask and is refused all the same, for want of descriptors, is asked again by the next rests.
        if let Ok(_request) = ShallowIdle::request() {
            while self.is_wanted.load(Ordering::Relaxed) && clock::now_us() < self.until_us.load(Ordering::Relaxed) {
                thread::sleep(LOOK);
            }
        }
        self.is_held.store(false, Ordering::Relaxed);
    }

    /// Nobody holds a request for long from here on.
    pub fn close(&self) {
        self.is_wanted.store(false, Ordering::Relaxed);
    }

    #[cfg(test)]
    pub fn is_held(&self) -> bool {
        self.is_held.load(Ordering::Relaxed)
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_held_until_nobody_wants_it_and_asked_for_again() {
        let (wakefulness, pool) = (Arc::new(Wakefulness::default()), Pool::new(Vec::new()));
        wakefulness.keep(&pool);
        assert!(!wakefulness.is_held(), "the kernel's way is the default");
        wakefulness.set(CpuIdle::Shallow);
        let may_ask = wakefulness.refusal().is_none();
        assert_eq!(may_ask, ShallowIdle::may_request().is_ok());
        for _ in 0..2 {
            wakefulness.keep(&pool);
            wakefulness.keep(&pool);
            while wakefulness.is_held() {
                thread::yield_now();
            }
            let until_us = wakefulness.until_us.load(Ordering::Relaxed);
            assert_eq!(until_us > 0, may_ask);
            assert!(clock::now_us() >= until_us);
        }
        pool.close(true);
    }

    #[test]
    fn a_request_ends_with_the_policy_and_with_the_schedulers() {
        for end in [|it: &Wakefulness| it.set(CpuIdle::Kernel), Wakefulness::close] {
            let (wakefulness, pool) = (Arc::new(Wakefulness::default()), Pool::new(Vec::new()));
            wakefulness.set(CpuIdle::Shallow);
            wakefulness.keep(&pool);
            wakefulness.until_us.store(u64::MAX, Ordering::Relaxed);
            end(&wakefulness);
            // Returns when the holder has returned.
            pool.close(true);
            assert!(!wakefulness.is_held());
        }
    }
}
