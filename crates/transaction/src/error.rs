//! How an operation ends that cannot be done now, or at all.

use pikepole_contention::sync::Arc;
use pikepole_log::Lsn;
use pikepole_storage::StorageError;

use crate::id::TransactionId;
use crate::key_lock::KeyLock;
use crate::lock::{LockMode, TableLock};
use crate::nested::Family;

/// What an operation lacks. [`Transaction::satisfy`](crate::Transaction::satisfy) awaits what belongs to this crate.
#[derive(Debug, Clone)]
pub enum Need {
    /// A page, a latch, a frame, room in the log buffer.
    Storage(pikepole_storage::Need),
    /// The end of the transaction that wrote the row (`LCK_M_X`).
    TransactionEnd(TransactionId),
    /// A table lock in this mode.
    Lock(Arc<TableLock>, LockMode),
    /// Rows or keys that others have locked (`LCK_M_...`).
    Keys(Box<KeyLock>),
    /// The log durable up to here (`WRITELOG`).
    Durable(Lsn),
    /// The latch of the parent, under which a child appends its records (`LATCH_EX`).
    Nesting(Arc<Family>),
    /// The end of all children (`XACTWORKSPACE_SYNC`).
    Children(Arc<Family>),
    /// A checkpoint whose redo start is above this: rows that were not logged are on disk then. No operation of this crate
    /// can bring it about; the caller runs checkpoints.
    Checkpoint(Lsn),
    /// The log truncated, so that it has room again (`LOGMGR_RESERVE_APPEND`). No operation of this crate asks for it: one
    /// that finds the log full fails, and a caller that can have the log truncated makes this of the error.
    LogSpace,
}

/// Why an operation failed for good.
#[derive(Debug, Clone, thiserror::Error)]
pub enum TransactionError {
    /// The store refused: full, damaged, poisoned.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// Waiting would close a circle of sessions that wait for each other: this one is the victim. Roll back and run again.
    #[error("the transaction was chosen as the victim of a deadlock")]
    Deadlock,
    /// Under snapshot isolation: the row was changed by a transaction that the snapshot does not see. Roll back and run again.
    #[error("the row was changed since the snapshot was taken")]
    SnapshotConflict,
    /// The log failed; what was not durable never will be.
    #[error(transparent)]
    Poisoned(#[from] pikepole_log::Poisoned),
}

/// Why an operation stopped before it was done. Nothing was changed.
#[derive(Debug, Clone)]
pub enum Stop {
    /// It lacks something; satisfy that and call again.
    Need(Need),
    /// It failed.
    Error(TransactionError),
}

impl From<pikepole_storage::Stop> for Stop {
    fn from(stop: pikepole_storage::Stop) -> Stop {
        match stop {
            pikepole_storage::Stop::Need(need) => Stop::Need(Need::Storage(need)),
            pikepole_storage::Stop::Error(error) => Stop::Error(error.into()),
        }
    }
}

impl From<TransactionError> for Stop {
    fn from(error: TransactionError) -> Stop {
        Stop::Error(error)
    }
}

impl From<StorageError> for Stop {
    fn from(error: StorageError) -> Stop {
        Stop::Error(error.into())
    }
}

impl From<Need> for Stop {
    fn from(need: Need) -> Stop {
        Stop::Need(need)
    }
}
