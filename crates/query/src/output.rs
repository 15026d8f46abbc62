//! Where a batch's answers go: result sets, row counts, messages and errors, in the order they arise.

use std::sync::Arc;
use std::task::{Context, Poll};

use pikepole_types::{Collated, SecondName, SqlError, SqlType, Value};

/// One column of a result set.
#[derive(Debug, Clone, PartialEq)]
pub struct ColumnInfo {
    /// The column's name; empty when the expression has none.
    pub name: String,
    /// The column's type.
    pub ty: SqlType,
    /// False when the column can hold no NULL.
    pub nullable: bool,
    /// How its texts compare.
    pub collated: Collated,
    /// What its values are to clients that would change them.
    pub provenance: Provenance,
    /// Which name its type has, if it is a decimal.
    pub decimal_name: DecimalName,
    /// The alias type of the column that it is, or `sysname`.
    pub user_type: Option<i32>,
    /// In browse mode, the column of a table that it is.
    pub origin: Option<Box<BrowsedColumn>>,
}

/// What browse mode tells of a result's column; without a column it is an expression.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BrowsedColumn {
    /// What stands for the table in its query.
    pub alias: String,
    /// The table's name, in the parts that the query writes.
    pub table: Arc<[String]>,
    /// The column's name in the table.
    pub column: String,
    /// It is part of what tells the table's rows apart.
    pub key: bool,
    /// It was not asked for.
    pub hidden: bool,
}

/// Where a column's values come from, as far as clients are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Provenance {
    /// A table's column that takes values, or rows that no query made.
    #[default]
    Stored,
    /// A table's identity column.
    Identity,
    /// A table's rowversion.
    RowVersion,
    /// A table's computed column.
    Computed,
    /// An expression.
    Expression,
}

/// The names of the one type that has two.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DecimalName {
    /// `numeric`: also that of constants, and where nobody has written one.
    #[default]
    Numeric,
    /// `decimal`.
    Decimal,
}

impl ColumnInfo {
    /// A column whose texts compare as the default collation says.
    pub fn new(name: impl Into<String>, ty: SqlType, nullable: bool) -> ColumnInfo {
        let (provenance, decimal_name) = (Provenance::default(), DecimalName::default());
        ColumnInfo {
            name: name.into(),
            ty,
            nullable,
            collated: Collated::Default,
            provenance,
            decimal_name,
            user_type: None,
            origin: None,
        }
    }

    /// The name of its type that is not the type's first: `numeric`.
    pub fn second_name(&self) -> Option<&'static SecondName> {
        let is_numeric = matches!(self.ty, SqlType::Decimal { .. }) && self.decimal_name == DecimalName::Numeric;
        is_numeric.then(|| SecondName::by_name("numeric")).flatten()
    }
}

/// What kind of statement a [`Done`] ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DoneKind {
    /// A SELECT, with or without a result set.
    Select,
    /// An INSERT, or a SELECT INTO.
    Insert,
    /// An UPDATE.
    Update,
    /// A DELETE.
    Delete,
    /// A MERGE.
    Merge,
    /// A procedure call that has ended; `rows` carries nothing.
    Procedure,
    /// A definition that clients are told of.
    Definition(Definition),
    /// Any other statement.
    Other,
}

/// What a definition defines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Definition {
    /// CREATE TABLE.
    CreateTable,
    /// DROP TABLE.
    DropTable,
    /// ALTER TABLE.
    AlterTable,
    /// CREATE INDEX.
    CreateIndex,
    /// DROP INDEX.
    DropIndex,
    /// ALTER INDEX.
    AlterIndex,
    /// CREATE or ALTER VIEW.
    CreateView,
    /// DROP VIEW.
    DropView,
    /// CREATE or ALTER PROCEDURE.
    CreateProcedure,
    /// DROP PROCEDURE.
    DropProcedure,
    /// CREATE or ALTER FUNCTION.
    CreateFunction,
    /// DROP FUNCTION.
    DropFunction,
    /// CREATE or ALTER TRIGGER.
    CreateTrigger,
    /// DROP TRIGGER.
    DropTrigger,
    /// CREATE TYPE.
    CreateType,
    /// DROP TYPE.
    DropType,
    /// CREATE SYNONYM.
    CreateSynonym,
    /// DROP SYNONYM.
    DropSynonym,
    /// CREATE SCHEMA.
    CreateSchema,
    /// ALTER SCHEMA.
    AlterSchema,
    /// DROP SCHEMA.
    DropSchema,
    /// CREATE DATABASE.
    CreateDatabase,
    /// ALTER DATABASE.
    AlterDatabase,
    /// DROP DATABASE.
    DropDatabase,
}

/// The end of one statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Done {
    /// Rows affected or returned; `None` when the statement counts none or NOCOUNT is on.
    pub rows: Option<u64>,
    /// The kind of statement.
    pub kind: DoneKind,
}

/// The receiver of a batch's answers. Calls come in the order of the protocol: `columns`, any number of `row`,
/// then `done`; messages and errors in between.
pub trait Output: Send {
    /// TEXTSIZE of the result sets that come, as clients are told it of columns of `text`, `ntext` and `image`.
    fn text_size(&mut self, bytes: i32) {
        let _ = bytes;
    }
    /// A result set begins.
    fn columns(&mut self, columns: &[ColumnInfo]);
    /// One row of the result set; the values are borrowed from the machine's row buffer.
    fn row(&mut self, row: &[Value]);
    /// A statement has ended. Under NOCOUNT the ends of INSERT, UPDATE and DELETE are not reported.
    fn done(&mut self, done: Done);
    /// A statement of a procedure, or of a text that the batch executes, has ended.
    fn done_in_procedure(&mut self, done: Done) {
        self.done(done);
    }
    /// A statement has ended that counts nothing and has no rows: PRINT, SET, a condition, a step of a cursor. Only those who
    /// have to tell a client of each statement need to know. Not reported under NOCOUNT.
    fn ended_without_count(&mut self, in_procedure: bool) {
        let _ = in_procedure;
    }
    /// Variables were assigned to, once or by so many rows: SET, a DECLARE with a value, a SELECT that assigns. Clients are told of it
    /// as of a SELECT without columns, whose count they show to nobody. Not reported under NOCOUNT.
    fn assigned(&mut self, rows: u64, in_procedure: bool) {
        let _ = (rows, in_procedure);
    }
    /// An informational message (PRINT, RAISERROR with a severity of 10 or less, notices).
    fn message(&mut self, message: &SqlError);
    /// The client is to have what it was told so far at once: RAISERROR WITH NOWAIT. [`Output::is_full`] until it has.
    fn push(&mut self) {}
    /// An error that no TRY block caught.
    fn error(&mut self, error: &SqlError);
    /// An error that RAISERROR has raised under NOCOUNT: no end of a statement follows it where none follows a statement that went well.
    fn raised(&mut self, error: &SqlError, in_procedure: bool) {
        let _ = in_procedure;
        self.error(error);
    }
    /// The statement that the errors before are about has ended with them, and its batch goes on. An error that comes now is another's.
    fn failed(&mut self) {}
    /// A procedure called by the client's batch itself has returned this status.
    fn return_status(&mut self, status: i32) {
        let _ = status;
    }
    /// Whether the client lags behind: the machine then awaits [`Output::poll_room`] (ASYNC_NETWORK_IO) before it sends more.
    fn is_full(&self) -> bool {
        false
    }
    /// Ready when the client has room again.
    fn poll_room(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let _ = context;
        Poll::Ready(())
    }
}

/// An output that drops everything.
#[derive(Debug, Default, Clone, Copy)]
pub struct Discard;

impl Output for Discard {
    fn columns(&mut self, _: &[ColumnInfo]) {}
    fn row(&mut self, _: &[Value]) {}
    fn done(&mut self, _: Done) {}
    fn message(&mut self, _: &SqlError) {}
    fn error(&mut self, _: &SqlError) {}
}

/// One event kept by [`Collected`].
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// A result set's columns.
    Columns(Vec<ColumnInfo>),
    /// A row.
    Row(Vec<Value>),
    /// The end of a statement.
    Done(Done),
    /// An informational message.
    Message(SqlError),
    /// An error.
    Error(SqlError),
}

/// An output that keeps every event; for tests and small results.
#[derive(Debug, Default)]
pub struct Collected {
    /// The events in order.
    pub events: Vec<Event>,
}

impl Collected {
    /// The rows of all result sets.
    pub fn rows(&self) -> Vec<&[Value]> {
        self.events
            .iter()
            .filter_map(|event| match event {
                Event::Row(row) => Some(row.as_slice()),
                _ => None,
            })
            .collect()
    }

    /// The errors reported.
    pub fn errors(&self) -> Vec<&SqlError> {
        self.events
            .iter()
            .filter_map(|event| match event {
                Event::Error(error) => Some(error),
                _ => None,
            })
            .collect()
    }

    /// The texts of the informational messages.
    pub fn messages(&self) -> Vec<&str> {
        self.events
            .iter()
            .filter_map(|event| match event {
                Event::Message(message) => Some(message.message.as_str()),
                _ => None,
            })
            .collect()
    }
}

impl Output for Collected {
    fn columns(&mut self, columns: &[ColumnInfo]) {
        self.events.push(Event::Columns(columns.to_vec()));
    }
    fn row(&mut self, row: &[Value]) {
        self.events.push(Event::Row(row.to_vec()));
    }
    fn done(&mut self, done: Done) {
        self.events.push(Event::Done(done));
    }
    fn message(&mut self, message: &SqlError) {
        self.events.push(Event::Message(message.clone()));
    }
    fn error(&mut self, error: &SqlError) {
        self.events.push(Event::Error(error.clone()));
    }
}

/// Rows that are there, and their columns.
pub(crate) struct CapturedRows {
    pub(crate) columns: Vec<ColumnInfo>,
    pub(crate) rows: Vec<Vec<Value>>,
}
