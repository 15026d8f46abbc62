//! What can be wrong with a client's bytes, and with a value that is to be sent.

use pikepole_types::SqlError;

/// Why bytes could not be read, or a value not written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TdsError {
    /// The bytes end inside something.
    #[error("the stream ends inside {0}")]
    Truncated(&'static str),
    /// The bytes are not the protocol's.
    #[error("{0}")]
    Malformed(String),
    /// More than a limit allows; the limit is in the unit that `what` names.
    #[error("too many {what}; the limit is {limit}")]
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
    #[error("{0} is not supported in this version of Pikepole")]
    Unsupported(String),
    /// A byte that names no type.
    #[error("Data type 0x{0:02X} is unknown")]
    UnknownType(u8),
    /// A type, by its byte, with a length, precision or scale that it cannot have, or a value longer than its type.
    #[error("Data type 0x{0:02X} has an invalid data length or metadata length")]
    InvalidLength(u8),
    /// A value that its type does not have.
    #[error("The supplied value is not a valid instance of data type {0}. Check the source data for invalid values")]
    InvalidValue(&'static str),
    /// A table-valued parameter whose type is named with a database.
    #[error(
        "Data type 0xF3 (user-defined table type) has a non-zero length database name specified.  Database name is not allowed \
         with a table-valued parameter, only schema name and type name are valid"
    )]
    TableTypeOfDatabase,
    /// What is wrong is wrong in a parameter of a call.
    #[error("Parameter {ordinal} (\"{name}\"): {error}")]
    InParameter {
        /// The parameter's place, from 1.
        ordinal: usize,
        /// Its name, as far as it is known.
        name: String,
        /// What is wrong.
        error: Box<TdsError>,
    },
    /// A value to be sent that its column's type cannot carry.
    #[error("a value does not fit the type {0} it is sent as")]
    Unsendable(String),
}

impl TdsError {
    pub(crate) fn malformed(what: impl Into<String>) -> TdsError {
        TdsError::Malformed(what.into())
    }

    /// Whether the client and the server no longer agree about the stream: send the error, then close. Other errors end the
    /// request alone.
    pub fn breaks_connection(&self) -> bool {
        match self {
            TdsError::Truncated(_) | TdsError::Malformed(_) | TdsError::Limit { .. } => true,
            TdsError::InParameter { error, .. } => error.breaks_connection(),
            _ => false,
        }
    }

    /// The error a client sees, in SQL Server's numbers where it has one.
    pub fn to_sql_error(&self) -> SqlError {
        const STREAM: &str = "The incoming tabular data stream (TDS) protocol stream is incorrect.";
        const CALL: &str =
            "The incoming tabular data stream (TDS) remote procedure call (RPC) protocol stream is incorrect.";
        let inner = match self {
            TdsError::InParameter { error, .. } => error,
            other => other,
        };
        match inner {
            TdsError::Truncated(what) => {
                SqlError::new(4002, 16, 2, format!("{STREAM} The stream ended unexpectedly inside {what}."))
            }
            TdsError::Malformed(_) => SqlError::new(4002, 16, 1, format!("{STREAM} {self}.")),
            TdsError::Limit { .. } => SqlError::new(4002, 16, 3, format!("{STREAM} There are {self}.")),
            TdsError::TooManyParameters(limit) => SqlError::new(
                8003,
                16,
                1,
                format!(
                    "The incoming request has too many parameters. The server supports a maximum of {limit} parameters. \
                     Reduce the number of parameters and resend the request."
                ),
            ),
            TdsError::Unsupported(_) => SqlError::new(40517, 16, 1, format!("{inner}.")),
            TdsError::UnknownType(_) => SqlError::new(8009, 16, 1, format!("{CALL} {self}.")),
            TdsError::InvalidLength(_) => SqlError::new(8016, 16, 1, format!("{CALL} {self}.")),
            TdsError::TableTypeOfDatabase => SqlError::new(8047, 16, 1, format!("{CALL} {self}.")),
            TdsError::InvalidValue(_) => SqlError::new(8023, 16, 1, format!("{CALL} {self}.")),
            TdsError::Unsendable(_) | TdsError::InParameter { .. } => SqlError::new(
                8630,
                16,
                1,
                format!(
                    "Internal Query Processor Error: The query processor encountered an unexpected error during execution. The \
                     reply could not be sent: {self}."
                ),
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_sees_which_parameter_is_wrong() {
        let error = Box::new(TdsError::UnknownType(0x99));
        let told = TdsError::InParameter { ordinal: 2, name: "@a".into(), error }.to_sql_error();
        assert_eq!((told.number, told.severity, told.state), (8009, 16, 1));
        assert_eq!(
            told.message,
            "The incoming tabular data stream (TDS) remote procedure call (RPC) protocol stream is incorrect. Parameter 2 \
             (\"@a\"): Data type 0x99 is unknown."
        );
    }

    #[test]
    fn only_a_stream_that_is_lost_is_closed() {
        let inside = |error| TdsError::InParameter { ordinal: 1, name: String::new(), error: Box::new(error) };
        assert!(inside(TdsError::Truncated("a value")).breaks_connection());
        assert!(!inside(TdsError::InvalidValue("date")).breaks_connection());
        assert!(!TdsError::TooManyParameters(2100).breaks_connection());
        let limit = TdsError::Limit { what: "bytes of a message", limit: 9 };
        assert!(limit.breaks_connection());
        assert!(limit.to_sql_error().message.ends_with("There are too many bytes of a message; the limit is 9."));
    }
}
