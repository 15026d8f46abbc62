//! The load driver: many sessions run one workload, once for each durability and number of sessions asked for.
//!
//! ```text
//!   options -> engine opened, setup run -> for each durability, for each number of sessions:
//!        empty the table, clear the statistics, start the sessions together, stop at the deadline,
//!        read the statistics, count the rows and compare them with what was acknowledged
//! ```
//!
//! Beside it, one session runs a single large INSERT ... SELECT by parallel workers, once for each way to log it (`parallel`).
//!
//! The sessions are of an engine in this process, or of a server (`target`); there each row can also be a call over the wire (`rpc`).
//!
//! Only acknowledged work counts: a row is counted when the batch that inserted it has come back without an error. A batch that an
//! in-memory table refuses because of another transaction is run again, and counted as a conflict; any other error ends the run.

mod drive;
mod options;
mod parallel;
mod parallel_report;
mod policy_set;
mod report;
mod rpc;
mod scan;
mod series;
mod statistics;
mod table;
mod target;
mod workload;

pub use drive::{Progress, Run, run};
pub use options::{Amount, Durability, Options};
pub use parallel::{
    MAXDOP as PARALLEL_INSERT_MAXDOP, ParallelOptions, ParallelRun, ROWS as PARALLEL_INSERT_ROWS, Variant, run_parallel,
};
pub use parallel_report::print_parallel;
pub use policy_set::PolicySet;
pub(crate) use report::IDLE_WAITS;
pub(crate) use report::SPINLOCKS;
pub use report::{bar, print, write_json};
pub use rpc::Latency;
pub use scan::scan_pool_bytes;
pub use series::Sample;
pub use statistics::{LatchRow, PoolCounters, SpinlockRow, WaitRow};
pub use table::TableKind;
pub use workload::{NativeCalls, Workload};

use pikepole_client::ClientError;

/// A row was changed since the snapshot; validation of rows that were read, and of ranges that were looked through, failed.
const CONFLICTS: [i32; 3] = [41302, 41305, 41325];

/// Why a run of the load driver ended.
#[derive(Debug, thiserror::Error)]
pub enum StressError {
    /// The engine refused something.
    #[error(transparent)]
    Engine(#[from] pikepole_embedded::Error),
    /// The server refused something, or cannot be reached.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// Calls over the wire were asked for without a server.
    #[error("calls over the wire need a server")]
    NoServer,
    /// The workload has no table of this kind.
    #[error("the workload {workload} has no {} table", .kind.name())]
    NoSuchTable {
        /// The workload's name.
        workload: &'static str,
        /// The kind that was asked for.
        kind: TableKind,
    },
    /// Rows are missing or too many after a run: acknowledged work was lost, or the count is wrong.
    #[error("{acknowledged} rows were acknowledged and {counted} are there ({durability}, {sessions} sessions)")]
    RowsDiffer {
        /// Rows whose statements came back without an error.
        acknowledged: u64,
        /// Rows found in the table.
        counted: u64,
        /// Durability of the run.
        durability: &'static str,
        /// Sessions of the run.
        sessions: usize,
    },
    /// A table to be scanned has not the rows that were put into it.
    #[error("the table to be scanned has {counted} rows, not {wanted}")]
    TableDiffers {
        /// Rows that it should have.
        wanted: u64,
        /// Rows found.
        counted: u64,
    },
    /// Pages of a table that should be in the buffer pool were read from disk.
    #[error(
        "{reads} of {lookups} pages looked up were not in the buffer pool: the scans were of the disk, not of memory"
    )]
    NotResident {
        /// Page lookups of the run.
        lookups: u64,
        /// Page reads of the run.
        reads: u64,
    },
    /// A file could not be read or written.
    #[error("{path}: {error}")]
    File {
        /// The file.
        path: String,
        /// What the system said.
        error: std::io::Error,
    },
    /// The profile could not be taken.
    #[error("the profile: {0}")]
    Profile(std::io::Error),
    /// A session's thread ended by itself.
    #[error("a session of the load driver ended unexpectedly")]
    SessionLost,
}

impl StressError {
    /// True for what in-memory tables refuse because of another transaction: the same may well be done when it is tried again.
    pub(crate) fn is_conflict(&self) -> bool {
        let number = match self {
            StressError::Engine(error) => error.number(),
            StressError::Client(ClientError::Sql(error)) => Some(error.number),
            _ => None,
        };
        number.is_some_and(|number| CONFLICTS.contains(&number))
    }
}
