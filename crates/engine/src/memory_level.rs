//! The isolation levels of in-memory tables.

/// The level at which a statement reads an in-memory table, weakest first. Each reads one snapshot; the stronger ones are validated when the
/// transaction commits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum MemoryLevel {
    /// SNAPSHOT: nothing is validated.
    Snapshot,
    /// REPEATABLE READ: the rows that were read are still the newest ones.
    RepeatableRead,
    /// SERIALIZABLE: scans would find no other rows either.
    Serializable,
}
