//! The form of a connection for plain threads: every call waits for its answer.

mod appender;
mod transaction;

pub use appender::Appender;
pub use transaction::Transaction;

use crate::answer::{Event, Outcome};
use crate::parameter::Parameters;
use crate::rows::{FromSql, Row, Rows};
use crate::statement::{Statement, ToStatement};
use crate::{Error, mailbox::Mailbox};
use std::sync::Arc;

/// A connection whose calls block the calling thread; see [`crate::Connection`].
///
/// ```
/// use pikepole_embedded::{Engine, Error, params};
///
/// let engine = Engine::in_memory()?;
/// let mut connection = engine.connect_blocking()?;
/// connection.execute("CREATE TABLE dbo.t (id int PRIMARY KEY, text nvarchar(40))", [])?;
/// for id in 0..3 {
///     connection.execute("INSERT dbo.t VALUES (@id, @text)", params![@id = id, @text = None::<&str>])?;
/// }
/// let count: i32 = connection.query_value("SELECT COUNT(*) FROM dbo.t WHERE id < @p1", params![2])?;
/// assert_eq!(count, 2);
///
/// // A statement keeps its plan.
/// let insert = connection.prepare("INSERT dbo.t VALUES (@p1, @p2)");
/// for id in 3..6 {
///     connection.execute(&insert, params![id, format!("number {id}")])?;
/// }
///
/// // A transaction that is not committed is rolled back.
/// let mut transaction = connection.transaction()?;
/// transaction.execute("DELETE dbo.t WHERE id >= @p1", params![3])?;
/// drop(transaction);
/// let row = connection.query_row("SELECT MAX(id) AS id, MAX(text) AS text FROM dbo.t", [])?;
/// assert_eq!((row.get("id")?, row.get("text")?), (5, Some("number 5".to_owned())));
///
/// // Many rows come in a portion at a time.
/// let mut appender = connection.appender("dbo.t", &[])?;
/// for id in 1000..2000 {
///     appender.append(params![id, "appended"])?;
/// }
/// assert_eq!(appender.finish()?, 1000);
///
/// match connection.execute("INSERT dbo.t (id) VALUES (1)", []) {
///     Err(Error::Sql(error)) => assert_eq!((error.number, error.severity, error.line), (2627, 14, 1)),
///     other => panic!("a duplicate key is an error, not {other:?}"),
/// }
/// # Ok::<(), Error>(())
/// ```
pub struct Connection(crate::Connection);

impl Connection {
    pub(crate) fn new(connection: crate::Connection) -> Self {
        Connection(connection)
    }

    /// The session's number, `@@SPID`.
    pub fn session_id(&self) -> i32 {
        self.0.session_id()
    }

    /// The session's database; see [`crate::Connection::database`].
    pub fn database(&self) -> String {
        self.0.database()
    }

    /// True when the last batch left a transaction open.
    pub fn is_in_transaction(&self) -> bool {
        self.0.is_in_transaction()
    }

    /// Returns a handle that ends a batch of this connection from another thread.
    pub fn canceller(&self) -> crate::Canceller {
        self.0.canceller()
    }

    /// The connection's async form, and what blocks until one of its calls has its answer.
    fn parts(&mut self) -> (&mut crate::Connection, Arc<Mailbox>) {
        let mailbox = Arc::clone(self.0.mailbox());
        (&mut self.0, mailbox)
    }

    /// Starts a batch and gives its events as they come.
    ///
    /// # Errors
    /// As [`crate::Connection::run`].
    pub fn run(&mut self, sql: impl ToStatement, parameters: impl Parameters) -> Result<Events<'_>, Error> {
        let (connection, mailbox) = self.parts();
        let events = mailbox.block_on(connection.run(sql, parameters))?;
        Ok(Events { events, mailbox })
    }

    /// Runs a batch to its end.
    ///
    /// # Errors
    /// As [`crate::Connection::execute`].
    pub fn execute(&mut self, sql: impl ToStatement, parameters: impl Parameters) -> Result<Outcome, Error> {
        let (connection, mailbox) = self.parts();
        mailbox.block_on(connection.execute(sql, parameters))
    }

    /// Runs a batch and gives its first result set.
    ///
    /// # Errors
    /// As [`crate::Connection::query`].
    pub fn query(&mut self, sql: impl ToStatement, parameters: impl Parameters) -> Result<Rows, Error> {
        let (connection, mailbox) = self.parts();
        mailbox.block_on(connection.query(sql, parameters))
    }

    /// Runs a batch and gives the first row of its first result set.
    ///
    /// # Errors
    /// As [`crate::Connection::query_row`].
    pub fn query_row(&mut self, sql: impl ToStatement, parameters: impl Parameters) -> Result<Row, Error> {
        let (connection, mailbox) = self.parts();
        mailbox.block_on(connection.query_row(sql, parameters))
    }

    /// Runs a batch and gives the first row of its first result set, if it has one.
    ///
    /// # Errors
    /// As [`crate::Connection::query_opt`].
    pub fn query_opt(&mut self, sql: impl ToStatement, parameters: impl Parameters) -> Result<Option<Row>, Error> {
        let (connection, mailbox) = self.parts();
        mailbox.block_on(connection.query_opt(sql, parameters))
    }

    /// Runs a batch and gives the value in the first column of the first row of its first result set.
    ///
    /// # Errors
    /// As [`crate::Connection::query_value`].
    pub fn query_value<T: FromSql>(&mut self, sql: impl ToStatement, parameters: impl Parameters) -> Result<T, Error> {
        let (connection, mailbox) = self.parts();
        mailbox.block_on(connection.query_value(sql, parameters))
    }

    /// Prepares a text; see [`crate::Connection::prepare`].
    pub fn prepare(&mut self, sql: &str) -> Statement {
        self.0.prepare(sql)
    }

    /// Prepares a text whose parameters are declared; see [`crate::Connection::prepare_typed`].
    ///
    /// # Errors
    /// As [`crate::Connection::prepare_typed`].
    pub fn prepare_typed(&mut self, sql: &str, declarations: &str) -> Result<Statement, Error> {
        let (connection, mailbox) = self.parts();
        mailbox.block_on(connection.prepare_typed(sql, declarations))
    }

    /// Begins a transaction, which is rolled back unless it is committed.
    ///
    /// # Errors
    /// As [`crate::Connection::transaction`].
    pub fn transaction(&mut self) -> Result<Transaction<'_>, Error> {
        let (connection, mailbox) = self.parts();
        let transaction = mailbox.block_on(connection.transaction())?;
        Ok(Transaction::new(transaction, mailbox))
    }

    /// Begins to insert many rows into a table; see [`crate::Connection::appender`].
    ///
    /// # Errors
    /// As [`crate::Connection::appender`].
    pub fn appender(&mut self, table: &str, columns: &[&str]) -> Result<Appender<'_>, Error> {
        let (connection, mailbox) = self.parts();
        let appender = mailbox.block_on(connection.appender(table, columns))?;
        Ok(Appender::new(appender, mailbox))
    }
}

/// The events of a batch under way.
pub struct Events<'a> {
    events: crate::Events<'a>,
    mailbox: Arc<Mailbox>,
}

impl Iterator for Events<'_> {
    type Item = Result<Event, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        self.mailbox.block_on(self.events.next()).transpose()
    }
}
