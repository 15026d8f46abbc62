//! A session of a server, whichever it is: prepared statements, one round trip each, in transactions that begin by themselves.

use pikepole_embedded::{Row, SqlType, Value};
use std::os::fd::BorrowedFd;

use crate::schema::Table;

/// A statement of a workload. Its parameters are `$1`, `$2` and so on.
#[derive(Debug, Clone, Copy)]
pub struct Statement {
    /// The text for PostgreSQL, and for Pikepole where that has no other.
    pub text: &'static str,
    /// The text for Pikepole where it differs.
    pub tsql: Option<&'static str>,
    /// The types of the parameters.
    pub parameters: &'static [SqlType],
}

impl Statement {
    /// The text in T-SQL, whose parameters are `@p1`, `@p2` and so on.
    pub fn tsql(&self) -> String {
        self.tsql.unwrap_or(self.text).replace('$', "@p")
    }
}

/// Declares the statements of a workload: a constant for each, which is its place in `STATEMENTS`.
#[macro_export]
macro_rules! statements {
    (@option) => { None };
    (@option $tsql:literal) => { Some($tsql) };
    ($($name:ident ($($parameter:expr),*): $text:literal $(, tsql $tsql:literal)?;)*) => {
        #[allow(clippy::upper_case_acronyms, non_camel_case_types)]
        enum Place { $($name),* }
        $(const $name: usize = Place::$name as usize;)*
        /// The statements by place.
        pub const STATEMENTS: &[$crate::session::Statement] = &[$($crate::session::Statement {
            text: $text,
            tsql: $crate::statements!(@option $($tsql)?),
            parameters: &[$($parameter),*],
        }),*];
    };
}

/// The failure of a statement, by what its caller can do.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// Another transaction was in the way (a deadlock, a write of a row that changed): the transaction can be tried again.
    #[error("{0}")]
    Conflict(String),
    /// A key is there already, or one that is referred to is not.
    #[error("{0}")]
    Constraint(String),
    /// Anything else.
    #[error("{0}")]
    Other(String),
}

impl SessionError {
    /// An error of this text that no caller can do something about.
    pub fn other(error: impl std::fmt::Display) -> SessionError {
        SessionError::Other(error.to_string())
    }
}

impl From<std::io::Error> for SessionError {
    fn from(error: std::io::Error) -> SessionError {
        SessionError::Other(format!("the connection broke: {error}"))
    }
}

/// The answer to a statement.
#[derive(Debug, Default)]
pub struct Answer {
    /// The rows of its result.
    pub rows: Vec<Row>,
    /// The rows that it changed.
    pub affected: u64,
}

impl Answer {
    /// A value of the result.
    pub fn value(&self, row: usize, column: usize) -> Result<&Value, SessionError> {
        let found = self.rows.get(row).and_then(|row| row.values().get(column));
        found.ok_or_else(|| SessionError::Other(format!("no value in row {row}, column {column} of the result")))
    }

    /// A whole number.
    pub fn integer(&self, row: usize, column: usize) -> Result<i64, SessionError> {
        let value = self.value(row, column)?;
        i64::try_from(value).map_err(|_| misfit(value, "a whole number"))
    }

    /// A decimal of two digits behind the point, in hundredths.
    pub fn cents(&self, row: usize, column: usize) -> Result<i64, SessionError> {
        let value = self.value(row, column)?;
        match value {
            Value::Decimal(decimal) if decimal.scale() == 2 => {
                i64::try_from(decimal.mantissa()).map_err(|_| misfit(value, "an amount"))
            }
            _ => Err(misfit(value, "an amount")),
        }
    }

    /// A floating-point number.
    pub fn float(&self, row: usize, column: usize) -> Result<f64, SessionError> {
        match self.value(row, column)? {
            Value::Float(number) => Ok(*number),
            value => Err(misfit(value, "a floating-point number")),
        }
    }

    /// A text.
    pub fn text(&self, row: usize, column: usize) -> Result<&str, SessionError> {
        match self.value(row, column)? {
            Value::Str(text) => Ok(text),
            value => Err(misfit(value, "a text")),
        }
    }
}

fn misfit(value: &Value, what: &str) -> SessionError {
    SessionError::Other(format!("the result holds {value:?}, which is not {what}"))
}

/// A session of a server.
pub trait Session: Send {
    /// Runs a text outside of the workload's transactions; the answer has the rows of its first result.
    fn run(&mut self, sql: &str) -> Result<Answer, SessionError>;

    /// Inserts rows into a table.
    fn insert(&mut self, table: &Table, rows: &[Vec<Value>]) -> Result<(), SessionError>;

    /// Prepares statements. From then on the session's statements belong to transactions, which the first of them begins.
    fn prepare(&mut self, statements: &[Statement]) -> Result<(), SessionError>;

    /// Sends a prepared statement, by place.
    fn send(&mut self, statement: usize, values: &[Value]) -> Result<(), SessionError>;

    /// Sends the end of the transaction, if there is one.
    fn send_end(&mut self, commits: bool) -> Result<(), SessionError>;

    /// Waits for the answer to what was sent last.
    fn receive(&mut self) -> Result<Answer, SessionError>;

    /// The socket, which is readable when there is something of an answer.
    fn socket(&self) -> BorrowedFd<'_>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_named_as_tsql_has_them() {
        let same = Statement { text: "SELECT a FROM t WHERE b = $1 AND c = $10", tsql: None, parameters: &[] };
        assert_eq!(same.tsql(), "SELECT a FROM t WHERE b = @p1 AND c = @p10");
        let other = Statement { text: "SELECT 1 LIMIT 1", tsql: Some("SELECT TOP 1 $1"), parameters: &[] };
        assert_eq!(other.tsql(), "SELECT TOP 1 @p1");
    }

    #[test]
    fn amounts_are_read_exactly_and_other_values_are_refused() {
        let decimal = |mantissa, scale| pikepole_embedded::Decimal::new(mantissa, 12, scale).map(Value::Decimal);
        let values = vec![decimal(-1050, 2).unwrap_or_default(), decimal(5, 4).unwrap_or_default(), Value::Null];
        let answer = Answer { rows: vec![Row::new([].into(), values)], affected: 0 };
        assert_eq!(answer.cents(0, 0).ok(), Some(-1050));
        assert!(answer.cents(0, 1).is_err() && answer.integer(0, 2).is_err() && answer.text(1, 0).is_err());
    }
}
