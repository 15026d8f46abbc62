//! What a batch sends back, event by event or gathered.

use crate::rows::{Column, FromSql, Row, Rows};
use crate::{Error, SqlError, Value};

/// One thing a batch sends back; events come in the order in which they arise.
#[derive(Debug, Clone)]
pub enum Event {
    /// A result set begins.
    Columns(Vec<Column>),
    /// One row of the result set.
    Row(Row),
    /// A statement has ended that counts its rows, or a result set; under NOCOUNT only result sets tell of their end.
    Done {
        /// Rows affected or returned; absent under NOCOUNT.
        rows: Option<u64>,
    },
    /// An informational message.
    Message(Message),
    /// An error that no TRY block caught; the batch may go on, as T-SQL's rules say.
    Error(SqlError),
}

impl From<SqlError> for Message {
    fn from(message: SqlError) -> Message {
        let SqlError { number, severity, state, line, procedure, message: text } = message;
        Message { number, severity, state, line, procedure, text }
    }
}

/// An informational message: PRINT, RAISERROR with a severity of 10 or less, a notice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// The message's number; zero for PRINT.
    pub number: i32,
    /// Its severity: 0 to 10. A server says 0 where it means 10.
    pub severity: u8,
    /// Its state.
    pub state: u8,
    /// The line it came from; 0 when not known.
    pub line: u32,
    /// The procedure it came from.
    pub procedure: Option<String>,
    /// The text.
    pub text: String,
}

/// All that a batch sent back.
#[derive(Debug, Clone, Default)]
pub struct Outcome {
    /// Rows that INSERT, UPDATE, DELETE and SELECT statements counted, in all.
    pub rows_affected: u64,
    /// The result sets.
    pub sets: Vec<Rows>,
    /// The messages.
    pub messages: Vec<Message>,
    /// Parameters after the batch, by name: what the batch assigned to them.
    pub parameters: Vec<(String, Value)>,
}

impl Outcome {
    /// The value that the batch left in a parameter, by name (without regard to case), as a Rust type.
    ///
    /// # Errors
    /// [`Error::Usage`] when there is no such parameter or its value does not fit the type.
    pub fn parameter<T: FromSql>(&self, name: &str) -> Result<T, Error> {
        let found = self.parameters.iter().find(|(parameter, _)| parameter.eq_ignore_ascii_case(name));
        let (_, value) = found.ok_or_else(|| Error::Usage(format!("there is no parameter {name}")))?;
        let misfit = || Error::Usage(format!("the value of {name} does not fit {}", std::any::type_name::<T>()));
        T::from_sql(value).ok_or_else(misfit)
    }
}

/// Gathers events to an [`Outcome`]; the first error is kept while the rest of the batch drains.
#[derive(Default)]
pub struct Gathering {
    outcome: Outcome,
    error: Option<SqlError>,
}

impl Gathering {
    /// Takes the next event.
    pub fn add(&mut self, event: Event) {
        match event {
            Event::Columns(columns) => self.outcome.sets.push(Rows::new(columns)),
            Event::Row(row) => {
                if let Some(set) = self.outcome.sets.last_mut() {
                    set.push(row);
                }
            }
            Event::Done { rows } => self.outcome.rows_affected += rows.unwrap_or(0),
            Event::Message(message) => self.outcome.messages.push(message),
            Event::Error(error) => {
                self.error.get_or_insert(error);
            }
        }
    }

    /// All that came, at the batch's end, with what it left in its parameters.
    ///
    /// # Errors
    /// The first error among the events.
    pub fn finish(mut self, parameters: Vec<(String, Value)>) -> Result<Outcome, SqlError> {
        self.outcome.parameters = parameters;
        self.error.map_or(Ok(self.outcome), Err)
    }
}

/// The first result set of an outcome.
pub(crate) fn first_set(outcome: Outcome) -> Result<Rows, Error> {
    outcome.sets.into_iter().next().ok_or_else(no_result_set)
}

fn no_result_set() -> Error {
    Error::Usage("the batch returned no result set".to_string())
}

/// Keeps the first row of the first result set, and drops the others.
#[derive(Default)]
pub(crate) struct FirstRow {
    row: Option<Row>,
    sets: usize,
    error: Option<SqlError>,
}

impl FirstRow {
    pub(crate) fn add(&mut self, event: Event) {
        match event {
            Event::Columns(_) => self.sets += 1,
            Event::Row(row) if self.sets == 1 => {
                self.row.get_or_insert(row);
            }
            Event::Error(error) => {
                self.error.get_or_insert(error);
            }
            Event::Row(_) | Event::Done { .. } | Event::Message(_) => {}
        }
    }

    /// # Errors
    /// The first error; [`Error::Usage`] when there was no result set.
    pub(crate) fn finish(self) -> Result<Option<Row>, Error> {
        match self.error {
            Some(error) => Err(error.into()),
            None if self.sets == 0 => Err(no_result_set()),
            None => Ok(self.row),
        }
    }
}
