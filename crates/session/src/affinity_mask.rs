//! The process affinity as the two masks that `sp_configure` has for it: `affinity mask` and `affinity64 mask`.
//!
//! A bit is a CPU. Both masks 0 are all CPUs. ALTER SERVER CONFIGURATION SET PROCESS AFFINITY changes the same.

use pikepole_engine::ProcessAffinity;

/// CPUs of a mask.
const BITS: usize = 32;

/// One of the two masks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MaskHalf {
    /// CPUs 0 to 31.
    Low,
    /// CPUs 32 to 63.
    High,
}

impl MaskHalf {
    pub(crate) const ALL: [MaskHalf; 2] = [MaskHalf::Low, MaskHalf::High];

    pub(crate) fn name(self) -> &'static str {
        match self {
            MaskHalf::Low => "affinity mask",
            MaskHalf::High => "affinity64 mask",
        }
    }

    /// The number by which tools ask for it.
    pub(crate) fn number(self) -> i32 {
        match self {
            MaskHalf::Low => 1535,
            MaskHalf::High => 1549,
        }
    }

    pub(crate) fn description(self) -> &'static str {
        match self {
            MaskHalf::Low => "CPUs 0 to 31 of the process affinity, a bit each; both masks 0: all CPUs",
            MaskHalf::High => "CPUs 32 to 63 of the process affinity, a bit each",
        }
    }

    fn first(self) -> usize {
        match self {
            MaskHalf::Low => 0,
            MaskHalf::High => BITS,
        }
    }

    fn bit(self, cpu: usize) -> u32 {
        cpu.checked_sub(self.first()).filter(|place| *place < BITS).map_or(0, |place| 1 << place)
    }

    /// The mask of these CPUs; of none: of all.
    pub(crate) fn mask(self, cpus: Option<&[usize]>) -> i32 {
        cpus.unwrap_or_default().iter().fold(0, |mask, cpu| mask | self.bit(*cpu)).cast_signed()
    }

    /// The affinity with this mask in the place of its own.
    pub(crate) fn changed(self, cpus: Option<&[usize]>, mask: i32) -> ProcessAffinity {
        let mask = mask.cast_unsigned();
        let others = cpus.unwrap_or_default().iter().copied().filter(|cpu| self.bit(*cpu) == 0);
        let own = (self.first()..self.first() + BITS).filter(|cpu| mask & self.bit(*cpu) != 0);
        let ranges: Vec<(u32, u32)> = others.chain(own).map(|cpu| (cpu as u32, cpu as u32)).collect();
        if ranges.is_empty() { ProcessAffinity::Auto } else { ProcessAffinity::Cpus(ranges) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_mask_changes_its_own_cpus() {
        let cpus = Some(&[0, 5, 31, 32, 63, 64][..]);
        assert_eq!(MaskHalf::Low.mask(cpus).cast_unsigned(), 1 << 31 | 1 << 5 | 1);
        assert_eq!(MaskHalf::High.mask(cpus).cast_unsigned(), 1 << 31 | 1);
        assert_eq!(MaskHalf::ALL.map(|half| half.mask(None)), [0, 0]);
        let one = |cpus: &[u32]| ProcessAffinity::Cpus(cpus.iter().map(|cpu| (*cpu, *cpu)).collect());
        assert_eq!(MaskHalf::Low.changed(cpus, 6), one(&[32, 63, 64, 1, 2]));
        assert_eq!(MaskHalf::High.changed(Some(&[3]), i32::MIN), one(&[3, 63]));
        assert_eq!(MaskHalf::High.changed(Some(&[40]), 0), ProcessAffinity::Auto);
        assert_eq!(MaskHalf::Low.changed(None, 1), one(&[0]));
    }
}
