//! The time that a thread has had a CPU, in ticks.
//!
//! ```text
//!   ticks    ----|===========|........|=====|----->      = has a CPU, . taken off it or asleep
//!   on_cpu       ^ check                    ^ check      from check to check it runs as ticks do
//! ```
//! The kernel's clock of a thread's CPU time costs a system call. So it is asked where [`CHECK_US`] have passed since the last time;
//! in between each tick counts. A thread that loses its CPU loses it for longer than that, which the next check finds out. A reading can
//! therefore be behind one that was taken before the check, by [`CHECK_US`] at most: take differences with `saturating_sub`.

use pikepole_machine::{clock, sampler};
use std::cell::Cell;

/// How long ticks count without a look at the thread's clock, in microseconds.
pub(crate) const CHECK_US: u64 = 100;

/// See the module.
pub(crate) struct CpuClock {
    /// When the thread's clock is to be looked at, in ticks.
    due: Cell<u64>,
    /// Its time on a CPU is until then that many ticks more than `now`, modulo 2^64.
    ahead: Cell<u64>,
}

impl CpuClock {
    pub(crate) const fn new() -> Self {
        CpuClock { due: Cell::new(0), ahead: Cell::new(0) }
    }

    /// Ticks that the thread has had a CPU until `now`, which it has just read.
    #[inline]
    pub(crate) fn at(&self, now: u64) -> u64 {
        if now >= self.due.get() {
            self.check(now);
        }
        now.wrapping_add(self.ahead.get())
    }

    #[cold]
    fn check(&self, now: u64) {
        let nanoseconds = u64::try_from(sampler::thread_cpu_time().as_nanos()).unwrap_or(u64::MAX);
        self.due.set(now.saturating_add(CHECK_US * clock::ticks_per_us()));
        self.ahead.set(clock::ns_to_ticks(nanoseconds).wrapping_sub(now));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pikepole_machine::clock::{ticks, ticks_per_us};
    use std::time::Duration;

    #[test]
    fn sleep_does_not_count_and_work_does() {
        let cpu = CpuClock::new();
        let (began, on_cpu) = (ticks(), cpu.at(ticks()));
        std::thread::sleep(Duration::from_millis(50));
        let slept = cpu.at(ticks()).saturating_sub(on_cpu);
        let passed = ticks() - began;
        // What the thread did around the sleep is far less than the sleep.
        assert!(slept < passed / 2, "{slept} of {passed}");
        let worked = cpu.at(ticks());
        while cpu.at(ticks()) < worked + 1_000 * ticks_per_us() {
            std::hint::spin_loop();
        }
        assert!(cpu.at(ticks()).saturating_sub(on_cpu) <= ticks() - began + CHECK_US * ticks_per_us());
    }
}
