//! The header of a row version, and what a caller says about the log record of a change.
//!
//! ```text
//! u64, little-endian:  | flags 8 | id of the last writing transaction 56 |
//! ```

use pikepole_log::Lsn;
use std::fmt;

/// Bytes of a row header on a page.
pub const ROW_HEADER_BYTES: usize = 8;

/// Flags and last writer of a row version.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct RowHeader(pub u64);

impl RowHeader {
    /// The row is deleted; it stays until no snapshot needs it.
    pub const GHOST: u8 = 1;
    /// An older version is in the version store.
    pub const HAS_OLDER_VERSION: u8 = 2;
    /// Heap: the row moved; the body is the rid of its new place.
    pub(crate) const FORWARDED: u8 = 4;
    /// Heap: the target of a forwarded row; scans meet it through its home.
    pub(crate) const MOVED: u8 = 8;
    /// Largest transaction id.
    pub const XID_MAX: u64 = (1 << 56) - 1;

    /// A header of these flags and this transaction id.
    pub fn new(flags: u8, xid: u64) -> RowHeader {
        debug_assert!(xid <= Self::XID_MAX);
        RowHeader((flags as u64) << 56 | xid)
    }

    /// The flags.
    pub fn flags(self) -> u8 {
        (self.0 >> 56) as u8
    }

    /// The last writing transaction.
    pub fn xid(self) -> u64 {
        self.0 & Self::XID_MAX
    }

    /// Whether the row is deleted.
    pub fn is_ghost(self) -> bool {
        self.flags() & Self::GHOST != 0
    }

    /// Whether an older version is in the version store.
    pub fn has_older_version(self) -> bool {
        self.flags() & Self::HAS_OLDER_VERSION != 0
    }

    /// Heap: the columns are not those of a row that is at home in this place.
    #[inline]
    pub(crate) fn is_elsewhere(self) -> bool {
        self.flags() & (Self::FORWARDED | Self::MOVED) != 0
    }

    /// This header without the flags that only heaps know: what callers see.
    pub(crate) fn public(self) -> RowHeader {
        RowHeader::new(self.flags() & (Self::GHOST | Self::HAS_OLDER_VERSION), self.xid())
    }
}

impl fmt::Debug for RowHeader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RowHeader(flags {:#x}, xid {})", self.flags(), self.xid())
    }
}

/// What the log record of a change says about the transaction that makes it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LogContext {
    /// The transaction's id.
    pub xid: u64,
    /// [`LogContext::FIRST`], [`LogContext::COMMIT`], [`LogContext::CLR`].
    pub flags: u8,
    /// What the change depends on beside its pages: its record comes at or above.
    pub after: Lsn,
}

impl LogContext {
    /// The first record of its transaction.
    pub const FIRST: u8 = 1;
    /// The record is a whole transaction: it commits by itself.
    pub const COMMIT: u8 = 2;
    /// The record undoes a change and is never undone; it uses log space kept back for rollback.
    pub const CLR: u8 = 4;

    /// A change of transaction `xid` without flags.
    pub fn new(xid: u64) -> LogContext {
        LogContext { xid, flags: 0, after: Lsn::ZERO }
    }

    /// The same behind `after`: the last record of the transaction, or a commit that it has seen.
    pub fn after(self, after: Lsn) -> LogContext {
        LogContext { after: self.after.max(after), ..self }
    }

    /// The same with these flags.
    pub fn with(self, flags: u8) -> LogContext {
        LogContext { flags: self.flags | flags, ..self }
    }

    /// For a change of structure that this change needs: it is never undone.
    pub(crate) fn of_system(&self) -> LogContext {
        LogContext { xid: 0, flags: self.flags & Self::CLR, after: self.after }
    }

    pub(crate) fn is_clr(&self) -> bool {
        self.flags & Self::CLR != 0
    }
}
