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
    /// A query that was to give a row has given none.
    #[error("the query returned no row")]
    NoRow,
    /// The transaction of a guard is not open any more: an error, a deadlock for one, or a text has ended it. It can be tried again as a whole.
    #[error("the transaction has ended already")]
    TransactionEnded,
    /// The call itself asks for something that is not there: a column, a type that does not fit, a policy.
    #[error("{0}")]
    Usage(String),
}

impl Error {
    /// The statement's error, with number, severity, state and line.
    pub fn sql(&self) -> Option<&SqlError> {
        match self {
            Error::Sql(error) => Some(error),
            _ => None,
        }
    }

    /// The number of the statement's error.
    pub fn number(&self) -> Option<i32> {
        self.sql().map(|error| error.number)
    }
}

impl From<SqlError> for Error {
    fn from(error: SqlError) -> Self {
        Error::Sql(error)
    }
}
