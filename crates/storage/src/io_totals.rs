//! What a store's data file has been read and written, for `sys.dm_io_virtual_file_stats`.

use pikepole_contention::sync::atomic::{AtomicU64, Ordering};
use pikepole_machine::clock;

/// Reads and writes of a file since it was opened.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct IoStats {
    /// Reads.
    pub reads: u64,
    /// Bytes that they asked for.
    pub read_bytes: u64,
    /// Their time together, in microseconds.
    pub read_us: u64,
    /// Writes.
    pub writes: u64,
    /// Bytes written.
    pub write_bytes: u64,
    /// Their time together, in microseconds.
    pub write_us: u64,
}

/// A count, the bytes and the microseconds of one direction.
#[derive(Debug, Default)]
struct Direction {
    count: AtomicU64,
    bytes: AtomicU64,
    us: AtomicU64,
}

impl Direction {
    fn measure<T>(&self, bytes: usize, operation: impl FnOnce() -> std::io::Result<T>) -> std::io::Result<T> {
        let begun_us = clock::now_us();
        let done = operation()?;
        // An operation takes far longer than these three adds, so that threads seldom meet here.
        self.count.fetch_add(1, Ordering::Relaxed);
        self.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
        self.us.fetch_add(clock::now_us().saturating_sub(begun_us), Ordering::Relaxed);
        Ok(done)
    }

    fn read(&self) -> [u64; 3] {
        [&self.count, &self.bytes, &self.us].map(|total| total.load(Ordering::Relaxed))
    }
}

/// The totals of one file. An operation that fails is not counted.
#[derive(Debug, Default)]
pub(crate) struct IoTotals {
    reads: Direction,
    writes: Direction,
}

impl IoTotals {
    /// Does a read of so many bytes.
    pub fn read<T>(&self, bytes: usize, operation: impl FnOnce() -> std::io::Result<T>) -> std::io::Result<T> {
        self.reads.measure(bytes, operation)
    }

    /// Does a write of so many bytes.
    pub fn write<T>(&self, bytes: usize, operation: impl FnOnce() -> std::io::Result<T>) -> std::io::Result<T> {
        self.writes.measure(bytes, operation)
    }

    /// What was done so far.
    pub fn stats(&self) -> IoStats {
        let [reads, read_bytes, read_us] = self.reads.read();
        let [writes, write_bytes, write_us] = self.writes.read();
        IoStats { reads, read_bytes, read_us, writes, write_bytes, write_us }
    }
}
