//! Tables in memory: rows of many versions, indexes without latches, optimistic transactions.
//!
//! ```text
//!   MemoryTransaction --reads as of its snapshot--> index --> node of a key --> row --> versions, newest first
//!        |  \--writes: a version at the row's head, whose begin word leads to the transaction's state
//!        |
//!        +--ends--> one word says "committed at 17" for all its versions; older ones wait until no snapshot sees them
//! ```
//! No transaction waits for another's rows: of two that change one, the second is refused at once. What a transaction has read is looked at again
//! when it commits, as far as its level asks for it (Larson et al., PVLDB 2011); a row's versions are chained newest first, and a version
//! at the head that is not committed is the row's lock (Cicada: Lim et al., SIGMOD 2017). Memory is freed when no snapshot sees a version, and
//! then when no thread can be at it (epochs, by `crossbeam-epoch`).
//!
//! | module | holds |
//! |---|---|
//! | `row` | rows and versions, and the blocks of memory that they are in |
//! | `slabs` | the memory of these blocks |
//! | `writer` | the state of transactions that write |
//! | `node` | the place of a row under one of its keys |
//! | `index` | from keys to nodes: by hash, in order |
//! | `guarded` | pointers that stay good while a guard is held |
//! | `table` | a table: its indexes, what a transaction sees of a row, unique keys |
//! | `transaction` | a session's transaction: reads, writes, savepoints, validation, commit |
//! | `transactions` | snapshots in use, garbage |
//! | `clock` | the times of commits and snapshots, by a counter or by the machine's clock |
//! | `scan` | rows of a range, copied a batch at a time |
//! | `statistics` | figures about tables and indexes |
//!
//! The shuttle models run with `.ci/shuttle`; each has a canary. Random histories of several threads are held against what each level
//! promises, by either way to times (`tests::histories`).

mod clock;
mod guarded;
mod index;
mod node;
mod numbers;
mod row;
mod scan;
#[cfg(all(test, shuttle))]
mod shuttle_models;
mod slabs;
mod slot;
mod statistics;
mod table;
#[cfg(all(test, not(shuttle), not(loom)))]
mod tests;
mod transaction;
mod transactions;
mod writer;

pub use clock::Timestamps;
pub use crossbeam_epoch::{Guard, pin};
pub use index::{Fingers, IndexKind, KeyRange};
pub use scan::MemoryScan;
pub use slot::TableSlot;
pub use statistics::{ChainCounts, IndexMemory, PageCounts, TableCounts};
pub use table::{IndexShape, Keys, LoggedAs, MemoryTable, Refusal};
pub use transaction::{Change, Invalid, Level, MemoryTransaction};
pub use transactions::{GarbageMemory, MemoryCounts, MemoryTransactions, OpenMemoryTransaction};
