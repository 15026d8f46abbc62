//! Transactions: ids, snapshots, row versions, table locks, undo.
//!
//! ```text
//!   session --> Transaction --change--> row on a page, carrying the id ----> log record
//!                  |  \--undo entry         \--what it replaced--> version store
//!                  |                                                    ^
//!                  +--ends--> status word of the id <--asks-- readers --+
//! ```
//!
//! The log is the clock: a transaction commits at the LSN where its commit record ends, and a snapshot is an LSN. A row
//! version is visible when its writer committed at or below the snapshot. An id that is active is the lock of every row
//! that carries it; rows that were only read, and ranges of keys, are locked beside them (`key_lock`).
//!
//! Operations are synchronous: one that cannot go on returns [`Stop::Need`], and the engine's one loop awaits it.
//!
//! | module | holds |
//! |---|---|
//! | `id` | dealing and retiring ids: XDESMGR and its policies |
//! | `status` | what became of each id |
//! | `registry` | snapshots and open transactions of all sessions |
//! | `version` | older row versions |
//! | `lock` | table locks |
//! | `key_lock` | locks of rows that were only read, and of ranges of keys |
//! | `wait` | waiting for other transactions, the search for deadlocks |
//! | `deadlock` | a deadlock as it was found |
//! | `undo` | undo entries, and undoing one |
//! | `transaction` | a session's transaction: begin, commit, rollback, its locks |
//! | `nested` | children of a transaction, for parallel workers: their chains, the parent's latch |
//! | `bulk` | pages of rows, one record each |
//! | `rows` | changing rows; what a snapshot sees of one |
//! | `recovery` | transactions that a crash cut short |

mod bulk;
mod deadlock;
mod error;
mod id;
mod key_lock;
mod lock;
mod nested;
mod recovery;
mod registry;
mod rows;
mod status;
mod structure;
mod transaction;
mod transactions;
mod undo;
mod version;
mod wait;

#[cfg(all(test, shuttle, not(loom)))]
mod shuttle_models;
#[cfg(test)]
mod tests;

pub use deadlock::{Deadlock, DeadlockProcess, Standing};
pub use error::{Need, Stop, TransactionError};
pub use id::{TransactionId, TransactionIds};
pub use key_lock::{KeyLock, LockedKeys, key_hash};
pub use lock::{LockMode, TableLock};
pub use nested::{Family, NestedTransactions};
pub use recovery::{Analysis, now};
pub use registry::{LockRow, LockedThing, OpenTransaction, TransactionRow};
pub use rows::{Inserted, RowStanding, Seen, View};
pub use status::Status;
pub use structure::{RID_BYTES, Structure};
pub use transaction::{ChangesInMemory, Isolation, Mark, Transaction};
pub use transactions::Transactions;
pub use wait::WaitGraph;
