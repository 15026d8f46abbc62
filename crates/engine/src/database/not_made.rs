//! The reasons why a database could not be made.

use pikepole_log::LogError;
use pikepole_machine::is_full;
use pikepole_storage::StorageError;
use pikepole_types::SqlError;

/// Why a database could not be made.
#[derive(Debug)]
pub(crate) struct NotMade {
    /// The reason, for people.
    pub why: String,
    /// Its files found no room.
    pub is_full: bool,
}

impl NotMade {
    /// The error of CREATE DATABASE: 1802 with the reason.
    pub fn into_error(self) -> SqlError {
        let mut error = SqlError::create_database_failed();
        error.message = format!("{} ({})", error.message, self.why);
        error
    }
}

impl From<std::io::Error> for NotMade {
    fn from(error: std::io::Error) -> NotMade {
        NotMade { why: error.to_string(), is_full: is_full(&error) }
    }
}

impl From<LogError> for NotMade {
    fn from(error: LogError) -> NotMade {
        let is_full = matches!(&error, LogError::Io(error) if is_full(error));
        NotMade { why: error.to_string(), is_full }
    }
}

impl From<StorageError> for NotMade {
    fn from(error: StorageError) -> NotMade {
        NotMade { why: error.to_string(), is_full: error.is_full() }
    }
}

impl From<String> for NotMade {
    fn from(why: String) -> NotMade {
        NotMade { why, is_full: false }
    }
}

impl From<SqlError> for NotMade {
    fn from(error: SqlError) -> NotMade {
        NotMade { is_full: error.number == 1105, why: error.message }
    }
}
