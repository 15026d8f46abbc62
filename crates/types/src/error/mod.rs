//! SQL errors: what a user sees when a statement fails.
//!
//! Every message of the product is declared once, in `table.rs`: number, severity, state and text. The table gives one
//! constructor for each message ([`SqlError`]'s associated functions, arguments by name) and the list [`ERRORS`] that a
//! view of messages can show.

mod table;

pub use table::ERRORS;

use crate::SqlType;
use std::fmt;

/// One message of the table: what `sys.messages` shows of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ErrorTemplate {
    /// The number a user knows the error by.
    pub number: i32,
    /// 0-10 is information, 11-16 the user's mistake, 17 and above the server's trouble.
    pub severity: u8,
    /// The text; arguments stand in braces.
    pub text: &'static str,
}

impl ErrorTemplate {
    /// The text as `sys.messages` shows it, and FORMATMESSAGE takes it: each place is `place`, as which `#` is its number.
    pub fn text_with(&self, place: &str) -> String {
        let mut parts = self.text.split('{');
        let mut text = parts.next().unwrap_or_default().replace('%', "%%");
        for (number, part) in (1..).zip(parts) {
            let (_, rest) = part.split_once('}').unwrap_or_default();
            text.push_str(&place.replace('#', &number.to_string()));
            text.push_str(&rest.replace('%', "%%"));
        }
        text
    }

    /// The text with these in its places, one after the other; a place that nothing is left for says `(null)`.
    pub fn filled(&self, arguments: impl IntoIterator<Item = String>) -> String {
        let mut arguments = arguments.into_iter();
        let mut parts = self.text.split('{');
        let mut filled = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let (_, rest) = part.split_once('}').unwrap_or_default();
            filled.push_str(&arguments.next().unwrap_or_else(|| "(null)".to_owned()));
            filled.push_str(rest);
        }
        filled
    }
}

/// An error, or a message of severity 10 and below, as it is sent to a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SqlError {
    /// The number a user knows the error by; 50000 and above are users' own.
    pub number: i32,
    /// 0-10 is information, 11-16 the user's mistake, 17 and above the server's trouble.
    pub severity: u8,
    /// Tells apart the places that raise the same number.
    pub state: u8,
    /// The line in the batch or procedure, from 1; 0 when not known yet, and, with a procedure, of a call that has not begun.
    pub line: u32,
    /// The procedure it was raised in.
    pub procedure: Option<String>,
    /// The whole text.
    pub message: String,
}

/// Bytes of a message: as much as the 16,000 characters that the protocol carries. A message that names a value of megabytes is not
/// as long as that.
const MESSAGE_BYTES_MAX: usize = 64 << 10;

/// A message that is not too long.
fn cut(mut message: String) -> String {
    if message.len() > MESSAGE_BYTES_MAX {
        message.truncate(message.floor_char_boundary(MESSAGE_BYTES_MAX));
        message.shrink_to_fit();
    }
    message
}

/// The number of [`SqlError::cancelled`].
pub const CANCELLED: i32 = 3617;

impl SqlError {
    /// The end of a request that its client, or KILL, has given up. Clients do not see it: they hear that the request ended.
    #[cold]
    pub fn cancelled() -> SqlError {
        SqlError::new(CANCELLED, 11, 0, "Operation cancelled by user.")
    }

    /// An error that is not in the table: RAISERROR, THROW and messages of other layers' own.
    #[cold]
    pub fn new(number: i32, severity: u8, state: u8, message: impl Into<String>) -> SqlError {
        SqlError { number, severity, state, line: 0, procedure: None, message: cut(message.into()) }
    }

    /// The same error with its line set, if it has none yet: the innermost statement wins. An error that names its procedure is one of a
    /// call that has not come to a line.
    #[must_use]
    pub fn at_line(mut self, line: u32) -> SqlError {
        if self.line == 0 && self.procedure.is_none() {
            self.line = line;
        }
        self
    }

    /// The same error with its procedure set, if it has none yet: the innermost procedure wins.
    #[must_use]
    pub fn in_procedure(mut self, name: &str) -> SqlError {
        if self.procedure.is_none() {
            self.procedure = Some(name.to_owned());
        }
        self
    }

    /// The same error with another state.
    #[must_use]
    pub fn with_state(mut self, state: u8) -> SqlError {
        self.state = state;
        self
    }

    /// An integer that another integer type has no room for: error 220 for tinyint (state 2) and smallint (state 1) unless it
    /// is a bigint, else 8115.
    #[cold]
    pub fn integer_overflow(from: &SqlType, to: &SqlType, value: i64) -> SqlError {
        let state = match to {
            SqlType::TinyInt => 2,
            SqlType::SmallInt => 1,
            _ => return SqlError::arithmetic_overflow("expression", to.error_name()),
        };
        if *from == SqlType::BigInt {
            return SqlError::arithmetic_overflow("expression", to.error_name());
        }
        SqlError::overflow_of_integer(to.error_name(), value).with_state(state)
    }

    /// Whether this is information only (severity 10 and below): it does not stop a statement.
    pub fn is_information(&self) -> bool {
        self.severity <= 10
    }
}

impl fmt::Display for SqlError {
    /// `Msg 8134, Level 16, State 1, Line 3: Divide by zero error encountered.`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Msg {}, Level {}, State {}", self.number, self.severity, self.state)?;
        if let Some(procedure) = &self.procedure {
            write!(f, ", Procedure {procedure}")?;
        }
        if self.line > 0 || self.procedure.is_some() {
            write!(f, ", Line {}", self.line)?;
        }
        write!(f, ": {}", self.message)
    }
}

impl std::error::Error for SqlError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constructors_fill_the_wording() {
        let error = SqlError::truncated_in_column("master.dbo.t", "name", "abc");
        assert_eq!((error.number, error.severity, error.state), (2628, 16, 1));
        assert_eq!(
            error.message,
            "String or binary data would be truncated in table 'master.dbo.t', column 'name'. Truncated value: 'abc'."
        );
        assert_eq!(
            SqlError::divide_by_zero().at_line(3).in_procedure("p").at_line(9).to_string(),
            "Msg 8134, Level 16, State 1, Procedure p, Line 3: Divide by zero error encountered."
        );
        let of_call = SqlError::divide_by_zero().in_procedure("p").at_line(3).to_string();
        assert_eq!(of_call, "Msg 8134, Level 16, State 1, Procedure p, Line 0: Divide by zero error encountered.");
    }

    #[test]
    fn the_table_is_sorted_and_has_no_number_twice_with_one_text() {
        for pair in ERRORS.windows(2) {
            assert!(pair[0].number <= pair[1].number, "{} is out of order", pair[1].number);
            assert!(pair[0].number != pair[1].number || pair[0].text != pair[1].text, "{} twice", pair[0].number);
        }
        for error in ERRORS {
            assert!(error.severity <= 25);
        }
    }
}
