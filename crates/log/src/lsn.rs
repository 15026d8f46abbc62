//! Log sequence numbers: positions in the stream of records.

use std::fmt;

/// A byte position in the stream of records. Block headers and padding are not in the stream.
///
/// LSNs only grow, over restarts too. Zero is before every record: it says "never logged".
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Lsn(pub u64);

impl Lsn {
    /// Before every record.
    pub const ZERO: Lsn = Lsn(0);
    /// Where the first record of a new log begins.
    pub const FIRST: Lsn = Lsn(1);
    /// As a start for [`Log::open`](crate::Log::open): the oldest record that the log still holds.
    pub const OLDEST: Lsn = Lsn::ZERO;
}

impl fmt::Display for Lsn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// Where one record lies: `start` is its first byte, `end` the byte after its last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LsnRange {
    /// The first byte.
    pub start: Lsn,
    /// The byte after the last: durable once [`Log::durable`](crate::Log::durable) is here or above.
    pub end: Lsn,
}
