//! The size of a log as ALTER DATABASE sets it: prepared at least, grown by, and at most.

use crate::log::{Log, lock};
use crate::options::SEGMENT_BYTES_MIN;
use crate::segments::Segments;
use pikepole_machine::BLOCK;
use std::io;

/// The step by which a log grows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LogGrowth {
    /// As much as there is, from the first segment's size up to the largest one's.
    #[default]
    Doubling,
    /// So many bytes; 0: it does not grow beyond the size that is prepared.
    Bytes(u64),
    /// So many percent of all segments.
    Percent(u32),
}

/// The size that is asked of a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LogSizes {
    /// Segments of so many bytes together are prepared ahead, whether they are needed or not.
    pub bytes_min: u64,
    /// The step of growth.
    pub growth: LogGrowth,
    /// All segments together have so many bytes at most, but what is prepared; None: as the log was opened with.
    pub bytes_max: Option<u64>,
}

impl Segments {
    /// The size of the next segment to prepare, or None when the log is as large as it may be.
    pub fn next_bytes(&self) -> Option<u64> {
        let allowed = self.bytes_limit().saturating_sub(self.bytes);
        let missing = self.size_wanted().saturating_sub(self.bytes);
        let doubled = self.bytes.clamp(self.first_bytes, self.segment_bytes_max);
        let wanted = match self.sizes.growth {
            // A size that is asked for is reached exactly, as far as segments can be so small.
            _ if missing > 0 => doubled.min(missing.max(SEGMENT_BYTES_MIN)),
            LogGrowth::Doubling => doubled,
            LogGrowth::Bytes(0) => 0,
            LogGrowth::Bytes(bytes) => bytes.max(SEGMENT_BYTES_MIN),
            LogGrowth::Percent(percent) => (self.bytes / 100).saturating_mul(u64::from(percent)).max(SEGMENT_BYTES_MIN),
        };
        let bytes = wanted.min(allowed) / BLOCK as u64 * BLOCK as u64;
        (bytes >= SEGMENT_BYTES_MIN).then_some(bytes)
    }

    /// The bytes that all segments together may have.
    pub fn bytes_limit(&self) -> u64 {
        // Only a log of two segments can be used again.
        let least = self.first_bytes.saturating_mul(2);
        self.sizes.bytes_max.map_or(self.bytes_max, |bytes| bytes.max(least)).max(self.sizes.bytes_min)
    }

    /// True when segments are missing to the size that is asked for.
    pub fn is_below_size(&self) -> bool {
        self.bytes < self.size_wanted()
    }

    /// The size that is asked for; of a log that does not grow two segments at least, since it could not be used again.
    fn size_wanted(&self) -> u64 {
        let grows = self.sizes.growth != LogGrowth::Bytes(0);
        self.sizes.bytes_min.max(if grows { 0 } else { self.first_bytes.saturating_mul(2) })
    }
}

impl Log {
    /// Asks for a size, which the first log writer prepares in the background; [`prepare_size`](Log::prepare_size) does it
    /// at once.
    pub fn set_sizes(&self, sizes: LogSizes) {
        self.segments.lock().sizes = sizes;
        self.space_was_made();
        self.wake_writer();
    }

    /// The size that is asked for.
    pub fn sizes(&self) -> LogSizes {
        self.segments.lock().sizes
    }

    /// The bytes by which the log would grow now; 0: it is as large as it may be.
    pub fn growth_bytes(&self) -> u64 {
        self.segments.lock().next_bytes().unwrap_or(0)
    }

    /// Prepares segments until the log has the size that is asked for. Blocks.
    ///
    /// # Errors
    /// The reason why a segment could not be prepared, such as a full disk.
    pub fn prepare_size(&self) -> io::Result<()> {
        loop {
            let mut growing = lock(&self.growing);
            let segments = self.segments.lock();
            if !segments.is_below_size() || segments.next_bytes().is_none() || !self.goes_on() {
                return Ok(());
            }
            drop(segments);
            while !self.grow_step(&mut growing, false)? {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::LogOptions;
    use pikepole_contention::Statistics;
    use pikepole_machine::{Disk, SimulatedDisk};

    const KB: u64 = 1 << 10;

    #[test]
    fn a_size_is_prepared_and_steps_and_limits_hold() {
        let disk = Disk::simulated(SimulatedDisk::new(1));
        let options = LogOptions { bytes_max: 8192 * KB, ..LogOptions::small() };
        let log = Log::create(&disk, "/log", options, &Statistics::new()).expect("a new log");
        let sizes = LogSizes { bytes_min: 1000 * KB, ..LogSizes::default() };
        log.set_sizes(sizes);
        log.prepare_size().expect("there is room");
        let bytes = log.stats().bytes;
        assert!((1000 * KB..1000 * KB + SEGMENT_BYTES_MIN).contains(&bytes), "{bytes}");
        let growth = |growth: LogGrowth, bytes_max: Option<u64>| {
            log.set_sizes(LogSizes { growth, bytes_max, ..sizes });
            log.growth_bytes()
        };
        assert_eq!(growth(LogGrowth::Bytes(256 * KB), None), 256 * KB);
        assert_eq!(growth(LogGrowth::Percent(50), None), bytes / 100 * 50 / BLOCK as u64 * BLOCK as u64);
        assert_eq!(growth(LogGrowth::Percent(1), None), SEGMENT_BYTES_MIN);
        assert_eq!(growth(LogGrowth::Bytes(0), None), 0);
        assert_eq!(growth(LogGrowth::Bytes(256 * KB), Some(bytes + 128 * KB)), 128 * KB);
        assert_eq!(growth(LogGrowth::Doubling, Some(bytes)), 0);
        assert_eq!(log.stats().bytes_max, bytes);
    }
}
