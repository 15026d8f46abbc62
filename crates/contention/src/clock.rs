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

#[cfg(not(loom))]
static ORIGIN: OnceLock<Instant> = OnceLock::new();

/// Microseconds since an arbitrary fixed moment, never going back within one thread.
#[cfg(not(loom))]
pub fn now_us() -> u64 {
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

/// Nanoseconds of the machine's monotonic clock, which does not go back from one CPU to another, whatever the thread's virtual time is. What
/// the thread has written with SeqCst before is seen by others before the reading, and what it reads behind it is read behind it: by the
/// fences of x86-64, where the kernel reads the clock behind all instructions before. Elsewhere there are fences of memory alone,
/// which do not order a clock: nothing may rest on that order there.
#[cfg(not(loom))]
#[inline]
pub fn ordered_ns() -> u64 {
    #[cfg(not(target_arch = "x86_64"))]
    crate::sync::atomic::fence(crate::sync::atomic::Ordering::SeqCst);
    let reading = ORIGIN.get_or_init(Instant::now).elapsed().as_nanos() as u64;
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the instruction is one of SSE2, which every x86-64 processor has; it touches no memory.
    unsafe {
        std::arch::x86_64::_mm_lfence();
    }
    #[cfg(not(target_arch = "x86_64"))]
    crate::sync::atomic::fence(crate::sync::atomic::Ordering::SeqCst);
    reading
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
        let ordered = ordered_ns();
        assert!(ordered_ns() >= ordered, "it is the machine's, not the thread's");
        set_virtual_us(None);
        let first = now_us();
        assert!(now_us() >= first);
    }
}
