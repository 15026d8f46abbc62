//! Sessions: batches, SET options, system procedures, catalog and management views, DBCC.
//!
//! ```text
//!   text, parameters --> Session::run --> query (compile, or the plan cache; run) --> Output
//!                           |                 |
//!                        registry          SessionHost: views, functions, system procedures, DBCC
//!                   (who is there, for the views)
//! ```
//!
//! A [`Session`] is one connection's state: its database, transaction, SET options and globals. Everything that belongs to a
//! server as people administer it is answered here, through query's `Host`.

mod affinity_mask;
mod backup_lists;
mod backups;
mod call_trace;
mod check_identity;
mod configuration;
mod connection;
mod cpu_history;
mod dbcc;
mod dbcc_check;
mod dbcc_space;
mod dbcc_statistics;
mod deadlock_graph;
mod dependencies;
pub mod error_log;
mod functions;
mod guids;
mod host;
mod modules;
mod msdb;
mod names;
mod options;
mod procedures;
mod recovery;
mod registry;
mod request;
mod result_set;
mod security;
mod session;
mod session_context;
mod statements;
mod statistics;
mod views;

pub use call_trace::TracedCall;
pub use connection::{ConnectionInfo, LineInfo};
pub use names::bracketed;
pub use pikepole_query::{
    Argument, BrowsedColumn, ClientCursor, ColumnInfo, CursorTarget, CursorWish, DecimalName, Definition, Discard,
    Done, DoneKind, LoadOptions, Output, Prepared, PreparedHandle, PreparedHandles, Provenance, RowTarget, TableRows,
    cut_long_values,
};
pub use pikepole_tsql::cursor_query;
pub use recovery::{RecoverableState, StateChange};
pub use registry::Registry;
pub use request::TransactionMark;
pub use session::{Parameter, Session, SessionOptions};

use pikepole_types::SqlError;

/// A construct that SQL Server has and this engine does not run; named, so that nothing is silently different.
#[cold]
pub(crate) fn unsupported(what: impl std::fmt::Display) -> SqlError {
    SqlError::new(40517, 16, 1, format!("{what} is not supported in this version of Pikepole."))
}
