//! Sizes and policies of a log.

use crate::reservation::CHUNK_BYTES_MAX;
use crate::{CommitBy, FlushQueue, Gathering, LOG_WRITERS_MAX, LogError, LogIo, LogWriters, Reservation};
use pikepole_contention::slot::SLOTS_MAX;
use pikepole_machine::Pages;
use std::time::Duration;

/// The largest record, kind byte included, unless [`LogOptions::record_bytes_max`] says less.
pub const RECORD_BYTES_MAX: usize = 64 << 10;

/// Payload bytes of a block at most, by the format: a reader believes no header that names more.
pub(crate) const BLOCK_PAYLOAD_MAX: usize = 16 << 20;

/// Sizes and policies of a log. The default suits a server.
#[derive(Debug, Clone)]
pub struct LogOptions {
    /// Size of the first segment in bytes: small, because creating the log waits until it is written once.
    pub first_segment_bytes: u64,
    /// Size of a segment at most. Segments double from the first one's size up to this.
    pub segment_bytes: u64,
    /// Size of all segments together at most, in bytes. Records that end transactions may exceed it a little when
    /// there is no other way.
    pub bytes_max: u64,
    /// Size of the ring that holds records on their way to disk, in bytes: a power of two.
    pub ring_bytes: usize,
    /// The pages of the system that the ring is in.
    pub memory_pages: Pages,
    /// The memory node that the ring is to come from; `None`: the one of whoever touches it first.
    pub memory_node: Option<usize>,
    /// The largest record, kind byte included, in bytes.
    pub record_bytes_max: usize,
    /// Bytes of a block at most, header included.
    pub block_bytes_max: usize,
    /// Whether the log goes round the page cache.
    pub direct: bool,
    /// How appenders take their place.
    pub reservation: Reservation,
    /// How committers queue.
    pub flush_queue: FlushQueue,
    /// Who writes for a commit.
    pub commit_by: CommitBy,
    /// Whether an idle scheduler waits for its sessions to commit again.
    pub gathering: Gathering,
    /// How many log writers there are.
    pub writers: LogWriters,
    /// How durable writes reach the device.
    pub io: LogIo,
    /// The time that what no session waits for (delayed durability, what is not committed yet) may lie in the buffer while it is
    /// less than is streamed anyway: [`FLUSH_DELAY_MIN`] to [`FLUSH_DELAY_MAX`].
    pub flush_delay: Duration,
}

/// The shortest flush delay.
pub const FLUSH_DELAY_MIN: Duration = Duration::from_millis(1);
/// The longest flush delay.
pub const FLUSH_DELAY_MAX: Duration = Duration::from_secs(10);

impl Default for LogOptions {
    fn default() -> Self {
        Self {
            first_segment_bytes: 16 << 20,
            segment_bytes: 64 << 20,
            bytes_max: 16 << 30,
            ring_bytes: 32 << 20,
            memory_pages: Pages::default(),
            memory_node: None,
            record_bytes_max: RECORD_BYTES_MAX,
            block_bytes_max: 1 << 20,
            direct: true,
            reservation: Reservation::Chunk,
            flush_queue: FlushQueue::LockFree,
            commit_by: CommitBy::Scheduler,
            gathering: Gathering::Returning,
            writers: LogWriters::Auto,
            io: LogIo::Auto,
            flush_delay: Duration::from_millis(100),
        }
    }
}

impl LogOptions {
    /// A log of a few hundred KB that reaches every boundary soon: for tests and examples.
    pub fn small() -> Self {
        Self {
            first_segment_bytes: 64 << 10,
            segment_bytes: 128 << 10,
            bytes_max: 1 << 20,
            ring_bytes: 1 << 20,
            record_bytes_max: 1 << 10,
            block_bytes_max: 16 << 10,
            flush_delay: FLUSH_DELAY_MIN,
            ..Self::default()
        }
    }

    /// A chunk is at most as large as a record may be, so that the margin holds for both.
    pub(crate) fn chunk_bytes_max(&self) -> u64 {
        CHUNK_BYTES_MAX.min(self.record_bytes_max as u64)
    }

    /// Bytes by which appenders can overrun the ring's soft limit: each slot once, by one record and its length.
    pub(crate) fn ring_margin(&self) -> u64 {
        (SLOTS_MAX * (self.record_bytes_max + crate::format::LENGTH_BYTES_MAX)) as u64
    }

    pub(crate) fn check(&self) -> Result<(), LogError> {
        let block = pikepole_machine::BLOCK as u64;
        let segments_aligned =
            self.first_segment_bytes.is_multiple_of(block) && self.segment_bytes.is_multiple_of(block);
        if !self.ring_bytes.is_power_of_two() || !self.ring_bytes.is_multiple_of(pikepole_machine::BLOCK) {
            return Err(LogError::Options("ring_bytes must be a power of two of at least 4096"));
        }
        if !segments_aligned || self.first_segment_bytes < SEGMENT_BYTES_MIN {
            return Err(LogError::Options("segment sizes must be multiples of 4096, the first one at least 64 KB"));
        }
        if self.segment_bytes < self.first_segment_bytes || self.bytes_max < self.segment_bytes {
            return Err(LogError::Options("first_segment_bytes <= segment_bytes <= bytes_max must hold"));
        }
        if !(16..=RECORD_BYTES_MAX).contains(&self.record_bytes_max) {
            return Err(LogError::Options("record_bytes_max must be between 16 and 65536"));
        }
        if self.ring_bytes as u64 <= self.ring_margin() + (self.record_bytes_max as u64) * 2 {
            return Err(LogError::Options("ring_bytes is too small for record_bytes_max"));
        }
        if let LogWriters::Count(count) = self.writers
            && !(1..=LOG_WRITERS_MAX).contains(&usize::from(count))
        {
            return Err(LogError::Options("a log has 1 to 8 log writers"));
        }
        if !(pikepole_machine::BLOCK..=BLOCK_PAYLOAD_MAX).contains(&self.block_bytes_max) {
            return Err(LogError::Options("block_bytes_max must be between 4 KB and 16 MB"));
        }
        if !(FLUSH_DELAY_MIN..=FLUSH_DELAY_MAX).contains(&self.flush_delay) {
            return Err(LogError::Options("flush_delay must be between 1 ms and 10 s"));
        }
        Ok(())
    }
}

/// The smallest segment worth having, in bytes.
pub(crate) const SEGMENT_BYTES_MIN: u64 = 64 << 10;
