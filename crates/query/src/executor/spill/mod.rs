//! Rows that do not fit into the memory that a statement is given: they wait in a file of tempdb.
//!
//! ```text
//!   operator ─ settle ─► Charge ──► Budget (of the session) ──► Workspace (of the server)
//!      │                  │ full
//!      ▼                  ▼
//!   TapeWriter ─ blocks ─► SpillFile ─ blocks ─► TapeReader ──► rows, in the order of writing
//! ```
//! A sort writes sorted runs and merges them ([`Merge`]); groups and joins divide rows by the hash of their keys ([`Partitions`]), so
//! that each part fits. Operators never block: whoever has bytes to write, or none to read, stops with [`Stop::Memory`], and the machine
//! awaits that on a thread for such work before it asks the operator again.
//!
//! Invariants
//! - what was read from an input is in memory or in a writer's buffer before an operator stops, so nothing is lost or comes twice: what
//!   uses a row (`push`, [`Charge::keep`], the closures of `take`) cannot stop, and what can stop (`settle`) comes before the next row;
//! - a block is read as it was written, or the statement fails (error 824);
//! - the file is gone with the last tape of the statement; what a crash leaves goes with tempdb's folder at the next start.

mod budget;
mod file;
mod list;
mod merge;
mod partitions;
mod regroup;
mod store;
mod tape;

#[cfg(test)]
pub(crate) mod fault;

pub(crate) use budget::{Budget, Charge, MemoryWait, POOL};
pub(crate) use list::{ListReader, RowList, SharedList};
pub(crate) use merge::{Merge, TAPES_MAX as RUNS_MERGED_MAX};
pub(crate) use partitions::{LEVELS_MAX, Partitions};
pub(crate) use regroup::Regroup;
pub(crate) use store::{AllRows, RowStore, equal};
pub(crate) use tape::{Tape, TapeReader, TapeWriter};

use pikepole_types::Value;

/// Bytes of a row in memory.
#[inline]
pub(crate) fn row_bytes(row: &[Value]) -> usize {
    let own = size_of::<Vec<Value>>() + size_of_val(row);
    row.iter().fold(own, |bytes, value| bytes + value.heap_bytes())
}
