//! Affinity as the masks that `sp_configure` has for it.
//!
//! | masks | CPUs of | the same as |
//! |---|---|---|
//! | `affinity mask`, `affinity64 mask` | schedulers | ALTER SERVER CONFIGURATION SET PROCESS AFFINITY |
//! | `affinity I/O mask`, `affinity64 I/O mask` | the threads that write the log | the policy `LOG_WRITER_CPUS` |
//!
//! A bit is a CPU. Both masks 0 bind nothing.

use pikepole_engine::{ProcessAffinity, Server};
use pikepole_types::SqlError;

/// CPUs of a mask.
const BITS: usize = 32;

/// One of the masks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct AffinityMask {
    of: Bound,
    half: Half,
}

/// The threads that a mask binds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Bound {
    Schedulers,
    LogWriters,
}

/// The CPUs that a mask has bits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Half {
    /// CPUs 0 to 31.
    Low,
    /// CPUs 32 to 63.
    High,
}

impl AffinityMask {
    pub(crate) const ALL: [AffinityMask; 4] = [
        Self { of: Bound::Schedulers, half: Half::Low },
        Self { of: Bound::Schedulers, half: Half::High },
        Self { of: Bound::LogWriters, half: Half::Low },
        Self { of: Bound::LogWriters, half: Half::High },
    ];

    pub(crate) fn name(self) -> &'static str {
        match (self.of, self.half) {
            (Bound::Schedulers, Half::Low) => "affinity mask",
            (Bound::Schedulers, Half::High) => "affinity64 mask",
            (Bound::LogWriters, Half::Low) => "affinity I/O mask",
            (Bound::LogWriters, Half::High) => "affinity64 I/O mask",
        }
    }

    /// The number by which tools ask for it.
    pub(crate) fn number(self) -> i32 {
        match (self.of, self.half) {
            (Bound::Schedulers, Half::Low) => 1535,
            (Bound::Schedulers, Half::High) => 1549,
            (Bound::LogWriters, Half::Low) => 1550,
            (Bound::LogWriters, Half::High) => 1551,
        }
    }

    pub(crate) fn description(self) -> &'static str {
        match (self.of, self.half) {
            (Bound::Schedulers, Half::Low) => {
                "CPUs 0 to 31 of the process affinity, a bit each; both masks 0: all CPUs"
            }
            (Bound::Schedulers, Half::High) => "CPUs 32 to 63 of the process affinity, a bit each",
            (Bound::LogWriters, Half::Low) => {
                "CPUs 0 to 31 that log writers run on, a bit each; both masks 0: not bound"
            }
            (Bound::LogWriters, Half::High) => "CPUs 32 to 63 that log writers run on, a bit each",
        }
    }

    /// Its value now.
    pub(crate) fn value(self, server: &Server) -> i32 {
        self.half.mask(&self.cpus(server))
    }

    /// Gives it another value, at once.
    ///
    /// # Errors
    /// 5832 for CPUs that are not there.
    pub(crate) fn set(self, server: &Server, mask: i32) -> Result<(), SqlError> {
        let cpus = self.half.changed(&self.cpus(server), mask);
        match self.of {
            Bound::Schedulers if cpus.is_empty() => server.set_process_affinity(&ProcessAffinity::Auto),
            Bound::Schedulers => {
                let ranges = cpus.iter().map(|cpu| (*cpu as u32, *cpu as u32)).collect();
                server.set_process_affinity(&ProcessAffinity::Cpus(ranges))
            }
            Bound::LogWriters => server.set_log_writer_affinity(&cpus),
        }
    }

    /// The CPUs of both halves; none: not bound.
    fn cpus(self, server: &Server) -> Vec<usize> {
        match self.of {
            Bound::Schedulers => server.process_affinity().unwrap_or_default(),
            Bound::LogWriters => server.log_writer_affinity(),
        }
    }
}

impl Half {
    fn first(self) -> usize {
        match self {
            Half::Low => 0,
            Half::High => BITS,
        }
    }

    fn bit(self, cpu: usize) -> u32 {
        cpu.checked_sub(self.first()).filter(|place| *place < BITS).map_or(0, |place| 1 << place)
    }

    /// The mask of these CPUs.
    fn mask(self, cpus: &[usize]) -> i32 {
        cpus.iter().fold(0, |mask, cpu| mask | self.bit(*cpu)).cast_signed()
    }

    /// The CPUs with this mask in the place of its own.
    fn changed(self, cpus: &[usize], mask: i32) -> Vec<usize> {
        let mask = mask.cast_unsigned();
        let others = cpus.iter().copied().filter(|cpu| self.bit(*cpu) == 0);
        others.chain((self.first()..self.first() + BITS).filter(|cpu| mask & self.bit(*cpu) != 0)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_mask_changes_its_own_cpus() {
        let [low, high] = [Half::Low, Half::High];
        let cpus = &[0, 5, 31, 32, 63, 64][..];
        assert_eq!(low.mask(cpus).cast_unsigned(), 1 << 31 | 1 << 5 | 1);
        assert_eq!(high.mask(cpus).cast_unsigned(), 1 << 31 | 1);
        assert_eq!([low, high].map(|half| half.mask(&[])), [0, 0]);
        assert_eq!(low.changed(cpus, 6), [32, 63, 64, 1, 2]);
        assert_eq!(high.changed(&[3], i32::MIN), [3, 63]);
        assert!(high.changed(&[40], 0).is_empty());
        assert_eq!(low.changed(&[], 1), [0]);
    }
}
