//! What a log says of itself.

use crate::Lsn;
use pikepole_contention::sync::atomic::{AtomicU64, Ordering};

/// A log at one moment. The parts are read one after the other, so they can be some microseconds apart.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LogStats {
    /// The end of the last record.
    pub reserved: Lsn,
    /// Below it, all places were filled when the log was last flushed.
    pub copied: Lsn,
    /// Below it, all is in a block on its way to the device, and its place in the buffer is free.
    pub written: Lsn,
    /// Below it, all is on stable storage.
    pub durable: Lsn,
    /// Below it, no record is needed any more.
    pub truncated: Lsn,
    /// Raised by each opening.
    pub incarnation: u64,
    /// Bytes of records, with their lengths, since the log was opened.
    pub record_bytes: u64,
    /// Bytes of the stream since then that are no record's: what was left of chunks that ended early.
    pub padding_bytes: u64,
    /// Chunks taken since then.
    pub chunks: u64,
    /// Bytes written to segments since then, with headers and padding.
    pub bytes_written: u64,
    /// Durable writes since then.
    pub flushes: u64,
    /// Waits for the durable horizon that have ended since then.
    pub flush_waits: u64,
    /// Their time together, in microseconds.
    pub flush_wait_us: u64,
    /// Time of the durable writes together, in microseconds.
    pub flush_write_us: u64,
    /// Bytes of all segment files.
    pub bytes: u64,
    /// Bytes of segments that are in use: not free, or already written in the last one.
    pub bytes_used: u64,
    /// Bytes that all segments may have together.
    pub bytes_max: u64,
    /// Bytes that open transactions may need to roll back.
    pub undo_bytes: u64,
    /// Segments in use.
    pub segments_active: usize,
    /// Segments that are ready to be used.
    pub segments_free: usize,
    /// Why the last attempt to prepare a segment failed, if it did.
    pub growth_failed: Option<String>,
    /// An earlier write failed.
    pub poisoned: bool,
    /// Blocks on their way to the device.
    pub writes_in_flight: usize,
    /// The most that there were at once since the log was opened.
    pub writes_in_flight_max: usize,
    /// How durable writes reach the device: `IO_URING`, `RWF_DSYNC`, `O_DSYNC`, `FDATASYNC` or `SIMULATED`.
    pub write_method: &'static str,
    /// Log writers.
    pub writers: usize,
}

/// A segment of a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SegmentInfo {
    /// The number in its file's name.
    pub number: u32,
    /// Bytes of its file.
    pub bytes: u64,
    /// Its place among the segments taken into use, from 1, and the LSN of its first block; `None` while it is free.
    pub active: Option<(u64, Lsn)>,
}

/// Totals that whoever ends a write adds to.
#[derive(Debug, Default)]
pub(crate) struct Totals {
    pub bytes_written: AtomicU64,
    pub flushes: AtomicU64,
    pub flush_waits: AtomicU64,
    pub flush_wait_us: AtomicU64,
    pub flush_write_us: AtomicU64,
    pub in_flight_max: AtomicU64,
}

/// Adds to a total.
pub(crate) fn add(total: &AtomicU64, amount: u64) {
    total.fetch_add(amount, Ordering::Relaxed);
}

/// What [`Log::check`](crate::Log::check) found in a log without damage.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LogReport {
    /// Segments in use.
    pub segments: usize,
    /// Segments that are prewritten and free.
    pub segments_free: usize,
    /// Bytes of all segment files.
    pub bytes: u64,
    /// Good blocks.
    pub blocks: u64,
    /// Whole records.
    pub records: u64,
    /// Their bytes, with their lengths.
    pub record_bytes: u64,
    /// Bytes between them.
    pub padding_bytes: u64,
    /// The first record's position.
    pub start: Lsn,
    /// The position behind the last good byte.
    pub end: Lsn,
    /// How often the log was opened.
    pub incarnation: u64,
}
