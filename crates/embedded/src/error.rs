//! Errors of the embedded API, one variant for each thing a caller can do about them.

use pikepole_types::SqlError;

/// Why a call failed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Error {
    /// A statement failed; the error carries SQL Server's number, severity, state and line.
    #[error("Msg {}, Level {}, State {}, Line {}: {}", .0.number, .0.severity, .0.state, .0.line, .0.message)]
    Sql(SqlError),
    /// The folder cannot be opened: in use, read-only, not a folder of databases, or made by another version.
    #[error("{0}")]
    Open(String),
    /// The connection or its engine has been shut down.
    #[error("the connection is closed")]
    Closed,
    /// The call itself asks for something that is not there: a column, a type that does not fit, a policy.
    #[error("{0}")]
    Usage(String),
}

impl From<SqlError> for Error {
    fn from(error: SqlError) -> Self {
        Error::Sql(error)
    }
}
