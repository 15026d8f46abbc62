//! The form of a connection for plain threads: every call waits for its answer.

use crate::answer::{Event, Gathering, Outcome, first_set};
use crate::mailbox::Taken;
use crate::{Error, Rows, Value};

/// A connection whose calls block the calling thread; see [`crate::Connection`].
///
/// ```
/// # let folder = std::env::temp_dir().join(format!("pikepole-doc-blocking-{}", std::process::id()));
/// use pikepole_embedded::{Engine, Error, Options, Value};
///
/// let engine = Engine::open(Options::new(&folder))?;
/// let mut connection = engine.connect_blocking()?;
/// connection.execute("CREATE TABLE dbo.t (id int PRIMARY KEY)", &[])?;
/// for id in 0..3 {
///     connection.execute("INSERT dbo.t VALUES (@id)", &[("@id", Value::Int(id))])?;
/// }
/// let rows = connection.query("SELECT COUNT(*) AS n FROM dbo.t", &[])?;
/// let count: i32 = rows.iter().next().map_or(Ok(0), |row| row.get("n"))?;
/// assert_eq!(count, 3);
///
/// match connection.execute("INSERT dbo.t VALUES (1)", &[]) {
///     Err(Error::Sql(error)) => assert_eq!((error.number, error.line), (2627, 1)),
///     other => panic!("a duplicate key is an error, not {other:?}"),
/// }
/// # drop(connection);
/// # engine.shutdown()?;
/// # std::fs::remove_dir_all(&folder).ok();
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

    /// What ends a batch of this connection from another thread.
    pub fn canceller(&self) -> crate::Canceller {
        self.0.canceller()
    }

    /// Starts a batch and gives its events as they come.
    ///
    /// # Errors
    /// [`Error::Closed`] when the engine has been shut down. What the batch itself does wrong comes as events.
    pub fn run(&mut self, sql: &str, parameters: &[(&str, Value)]) -> Result<Events<'_>, Error> {
        self.0.run_blocking(sql, parameters)?;
        Ok(Events { connection: self })
    }

    /// Runs a batch to its end.
    ///
    /// # Errors
    /// The first error that no TRY block caught, or [`Error::Closed`].
    pub fn execute(&mut self, sql: &str, parameters: &[(&str, Value)]) -> Result<Outcome, Error> {
        self.0.run_blocking(sql, parameters)?;
        let mut gathering = Gathering::default();
        let mut values = Vec::new();
        while let Some(taken) = self.0.take_blocking()? {
            match taken {
                Taken::Event(event) => gathering.add(event),
                Taken::End(parameters) => values = parameters,
            }
        }
        Ok(gathering.finish(values)?)
    }

    /// Runs a batch and gives its first result set.
    ///
    /// # Errors
    /// As [`Connection::execute`]; [`Error::Usage`] when the batch returns no result set.
    pub fn query(&mut self, sql: &str, parameters: &[(&str, Value)]) -> Result<Rows, Error> {
        first_set(self.execute(sql, parameters)?)
    }
}

/// The events of a batch under way.
pub struct Events<'a> {
    connection: &'a mut Connection,
}

impl Iterator for Events<'_> {
    type Item = Result<Event, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        match self.connection.0.take_blocking() {
            Ok(Some(Taken::Event(event))) => Some(Ok(event)),
            Ok(Some(Taken::End(_)) | None) => None,
            Err(error) => Some(Err(error)),
        }
    }
}
