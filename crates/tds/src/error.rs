//! What can be wrong with a client's bytes, and with a value that is to be sent.

use pikepole_types::SqlError;

/// Why bytes could not be read, or a value not written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TdsError {
    /// The bytes end inside something.
    #[error("the bytes end inside {0}")]
    Truncated(&'static str),
    /// The bytes are not the protocol's.
    #[error("{0}")]
    Malformed(String),
    /// More than a limit allows; the limit is in the unit that `what` names.
    #[error("{what}: the limit is {limit}")]
    Limit {
        /// What there is too much of.
        what: &'static str,
        /// How much is allowed.
        limit: usize,
    },
    /// More parameters than a procedure may have.
    #[error("too many parameters; the limit is {0}")]
    TooManyParameters(usize),
    /// Known, and not offered.
    #[error("{0} is not supported")]
    Unsupported(String),
    /// A value that its type does not have.
    #[error("not a valid instance of data type {0}")]
    InvalidValue(&'static str),
    /// A value to be sent that its column's type cannot carry.
    #[error("a value does not fit the type {0} it is sent as")]
    Unsendable(String),
}

impl TdsError {
    pub(crate) fn malformed(what: impl Into<String>) -> TdsError {
        TdsError::Malformed(what.into())
    }

    /// Whether the client and the server no longer agree about the stream: send the error, then close.
    pub fn breaks_connection(&self) -> bool {
        matches!(self, TdsError::Truncated(_) | TdsError::Malformed(_) | TdsError::Limit { .. })
    }

    /// The error a client sees, in SQL Server's numbers where it has one.
    pub fn to_sql_error(&self) -> SqlError {
        const STREAM: &str = "The incoming tabular data stream (TDS) protocol stream is incorrect.";
        const CALL: &str =
            "The incoming tabular data stream (TDS) remote procedure call (RPC) protocol stream is incorrect.";
        match self {
            TdsError::Truncated(_) => SqlError::new(4002, 16, 2, format!("{STREAM} The stream ended unexpectedly.")),
            TdsError::Malformed(what) => SqlError::new(4014, 20, 1, format!("{STREAM} {what}.")),
            TdsError::Limit { what, limit } => {
                SqlError::new(4014, 20, 2, format!("{STREAM} Too large: {what}; the limit is {limit}."))
            }
            TdsError::TooManyParameters(limit) => SqlError::new(
                8003,
                16,
                1,
                format!(
                    "The incoming request has too many parameters. The server supports a maximum of {limit} parameters. \
                     Reduce the number of parameters and resend the request."
                ),
            ),
            TdsError::Unsupported(what) => SqlError::new(40517, 16, 1, format!("{what} is not supported.")),
            TdsError::InvalidValue(ty) => SqlError::new(
                8023,
                16,
                1,
                format!(
                    "{CALL} The supplied value is not a valid instance of data type {ty}. Check the source data for \
                     invalid values."
                ),
            ),
            TdsError::Unsendable(_) => SqlError::new(7885, 20, 1, format!("The reply could not be sent: {self}.")),
        }
    }
}
