//! What stops an operation, and how the layers' errors read as SQL errors.

use std::path::PathBuf;

use pikepole_machine::is_full;
use pikepole_storage::StorageError;
use pikepole_transaction::{Need, Stop, TransactionError};
use pikepole_types::{RowError, SqlError};

use crate::database::Database;

/// Why a `try_*` operation stopped before it was done.
#[derive(Debug)]
pub enum Blocked {
    /// It lacks something: [`Database::satisfy`](crate::Database::satisfy), then call again with the same arguments.
    Need(Need),
    /// It failed.
    Error(Box<SqlError>),
    /// The table's definition is no longer current: compile the statement again.
    Stale,
}

impl From<SqlError> for Blocked {
    fn from(error: SqlError) -> Blocked {
        Blocked::Error(Box::new(error))
    }
}

/// How a driven operation ends when it is not done.
#[derive(Debug)]
pub enum Interrupted {
    /// It failed.
    Error(Box<SqlError>),
    /// The table's definition is no longer current: compile the statement again.
    Stale,
}

impl From<SqlError> for Interrupted {
    fn from(error: SqlError) -> Interrupted {
        Interrupted::Error(Box::new(error))
    }
}

/// Why a server's folder could not be opened, by what the caller can do about it.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Another process (or this one) has the folder open.
    #[error("the folder {folder} is in use by another server: {why}")]
    InUse {
        /// The folder.
        folder: PathBuf,
        /// What the system says.
        why: String,
    },
    /// A database's log cannot be looked at.
    #[error("the log of {database}: {why}")]
    Log {
        /// The database.
        database: String,
        /// What is wrong.
        why: String,
    },
    /// The folder cannot be read or written.
    #[error("the folder {folder} cannot be used: {why}")]
    Folder {
        /// The folder.
        folder: PathBuf,
        /// What the system says.
        why: String,
    },
    /// The configuration file is not one.
    #[error("{file} is not a configuration of this version: {why}")]
    Configuration {
        /// The file.
        file: PathBuf,
        /// What is wrong, with the line where there is one.
        why: String,
    },
    /// An option that was given is not one.
    #[error("{0}")]
    Option(SqlError),
    /// The schedulers did not start.
    #[error("the schedulers did not start: {0}")]
    Schedulers(std::io::Error),
    /// A new database could not be made.
    #[error("the database {name} could not be created: {why}")]
    Create {
        /// The database.
        name: String,
        /// What went wrong.
        why: String,
    },
}

/// What error texts name: the database and, where it is known, the table.
pub(crate) struct Place<'a> {
    pub database: &'a Database,
    pub object: &'a str,
    pub session_id: i32,
}

impl Place<'_> {
    pub fn storage(&self, error: &StorageError) -> SqlError {
        let (name, id) = (self.database.name(), self.database.id());
        match error {
            StorageError::LogFull => {
                let reason = self.database.log_full_reason();
                if reason.is_for_checkpoint() {
                    self.database.want_log_space();
                }
                SqlError::log_is_full(name, reason.name())
            }
            StorageError::DataFull { .. } => SqlError::no_space_for_object(self.object, name, "PRIMARY"),
            StorageError::Poisoned { .. } => SqlError::log_not_available(name),
            StorageError::RowTooLong { bytes, bytes_max } => SqlError::row_too_long(bytes, bytes_max),
            StorageError::KeyTooLong { bytes, bytes_max, .. } => {
                SqlError::key_too_long(bytes, self.object, bytes_max, "clustered")
            }
            StorageError::Corrupt { page, why } => SqlError::page_is_damaged(
                why,
                "read",
                page,
                id,
                u64::from(page.0) * pikepole_storage::PAGE_BYTES as u64,
                "data",
            ),
            StorageError::Io { what, error } if is_full(error) => {
                let object = if self.object.is_empty() { what } else { self.object };
                SqlError::no_space_for_object(object, name, "PRIMARY")
            }
            StorageError::Io { what, error } => SqlError::operating_system_error(error, what, 0, "data"),
            other => SqlError::new(824, 24, 2, format!("Database '{name}' (ID {id}): {other}.")),
        }
    }

    pub fn transaction(&self, error: &TransactionError) -> SqlError {
        match error {
            TransactionError::Storage(error) => self.storage(error),
            TransactionError::Deadlock => SqlError::deadlock_victim(self.session_id, "lock"),
            TransactionError::SnapshotConflict => SqlError::snapshot_conflict(self.object, self.database.name()),
            TransactionError::Poisoned(_) => SqlError::log_not_available(self.database.name()),
        }
    }

    pub fn stop(&self, stop: Stop) -> Blocked {
        match stop {
            Stop::Need(need) => Blocked::Need(need),
            Stop::Error(TransactionError::Storage(StorageError::LogFull)) if self.database.can_make_log_space() => {
                Blocked::Need(Need::LogSpace)
            }
            Stop::Error(error) => self.transaction(&error).into(),
        }
    }

    pub fn row(&self, error: &RowError) -> SqlError {
        if let RowError::TooLong { bytes, bytes_max } = error {
            return SqlError::row_too_long(bytes, bytes_max);
        }
        SqlError::new(
            824,
            24,
            2,
            format!("A row of '{}' in database '{}' cannot be read: {error}.", self.object, self.database.name()),
        )
    }
}

/// Error 8642: a worker of a parallel statement ended without a result.
pub fn worker_lost() -> SqlError {
    let text = "The query processor could not start the necessary thread resources for parallel query execution.";
    SqlError::new(8642, 17, 0, text)
}
