//! The microseconds that waits are measured in: the machine's monotonic clock, or a virtual one.
//!
//! A simulated scheduler sets a virtual time for its thread, so that the same seed gives the same statistics.

#[cfg(not(loom))]
use std::sync::OnceLock;
#[cfg(not(loom))]
use std::time::Instant;

/// What the cell below holds while the thread lives in real time.
#[cfg(not(loom))]
const REAL: u64 = u64::MAX;

#[cfg(not(loom))]
thread_local! {
    static VIRTUAL_US: std::cell::Cell<u64> = const { std::cell::Cell::new(REAL) };
}

/// Microseconds since an arbitrary fixed moment, never going back within one thread.
#[cfg(not(loom))]
pub fn now_us() -> u64 {
    static ORIGIN: OnceLock<Instant> = OnceLock::new();
    match VIRTUAL_US.get() {
        REAL => ORIGIN.get_or_init(Instant::now).elapsed().as_micros() as u64,
        virtual_us => virtual_us,
    }
}

/// Time stands still in a loom model: what a model decides must not depend on it.
#[cfg(loom)]
pub fn now_us() -> u64 {
    0
}

/// Sets the calling thread's virtual time, or gives it back to the machine's clock.
#[cfg(not(loom))]
pub fn set_virtual_us(time_us: Option<u64>) {
    VIRTUAL_US.set(time_us.unwrap_or(REAL));
}

/// The calling thread's virtual time, when it has one.
#[cfg(not(loom))]
pub fn virtual_us() -> Option<u64> {
    match VIRTUAL_US.get() {
        REAL => None,
        time_us => Some(time_us),
    }
}

/// A loom model has no time at all.
#[cfg(loom)]
pub fn virtual_us() -> Option<u64> {
    None
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn virtual_time_is_the_threads_own() {
        set_virtual_us(Some(42));
        assert_eq!((now_us(), virtual_us()), (42, Some(42)));
        let other = std::thread::spawn(virtual_us).join().unwrap();
        assert_eq!(other, None);
        set_virtual_us(None);
        let first = now_us();
        assert!(now_us() >= first);
    }
}
