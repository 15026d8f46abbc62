//! The async form of a connection.

use crate::answer::{Event, Gathering, Outcome, first_set};
use crate::engine::Opened;
use crate::mailbox::{Mailbox, Request, Taken};
use crate::{Error, Rows, Value};
use std::future::poll_fn;
use std::sync::Arc;

/// The database of a session that has run nothing.
const DATABASE_AT_FIRST: &str = "master";

/// A connection: a session of its own on one of the engine's schedulers. Dropping it rolls back what is open.
///
/// Any async runtime will do: the session runs on the engine's own threads and wakes the caller's task.
///
/// ```
/// # let folder = std::env::temp_dir().join(format!("pikepole-doc-connection-{}", std::process::id()));
/// # fn block_on<F: Future>(future: F) -> F::Output {
/// #     struct Unpark(std::thread::Thread);
/// #     impl std::task::Wake for Unpark {
/// #         fn wake(self: std::sync::Arc<Self>) {
/// #             self.0.unpark();
/// #         }
/// #     }
/// #     let waker = std::sync::Arc::new(Unpark(std::thread::current())).into();
/// #     let mut future = std::pin::pin!(future);
/// #     loop {
/// #         if let std::task::Poll::Ready(output) = future.as_mut().poll(&mut std::task::Context::from_waker(&waker)) {
/// #             return output;
/// #         }
/// #         std::thread::park();
/// #     }
/// # }
/// use pikepole_embedded::{Engine, Event, Options, Value};
///
/// # block_on(async {
/// let engine = Engine::open(Options::new(&folder))?;
/// let mut connection = engine.connect()?;
/// connection.execute("CREATE TABLE dbo.word (id int IDENTITY PRIMARY KEY, text nvarchar(40) NOT NULL)", &[]).await?;
///
/// // Parameters are variables of the batch; what it assigns to them comes back.
/// let sql = "INSERT dbo.word (text) VALUES (@text); SET @id = SCOPE_IDENTITY()";
/// let outcome = connection.execute(sql, &[("@text", Value::from("log")), ("@id", Value::Int(0))]).await?;
/// assert_eq!(outcome.rows_affected, 1);
/// assert_eq!(outcome.parameters[1], ("@id".to_string(), Value::Int(1)));
///
/// // Events stream as they arise; the session waits when they are not taken.
/// let mut events = connection.run("SELECT text FROM dbo.word; PRINT 'done'", &[]).await?;
/// while let Some(event) = events.next().await? {
///     match event {
///         Event::Row(row) => assert_eq!(row.get::<String>("text")?, "log"),
///         Event::Message(message) => assert_eq!(message.text, "done"),
///         _ => {}
///     }
/// }
/// # drop(connection);
/// # engine.shutdown()?;
/// # std::fs::remove_dir_all(&folder).ok();
/// # Ok::<(), pikepole_embedded::Error>(())
/// # })?;
/// # Ok::<(), pikepole_embedded::Error>(())
/// ```
pub struct Connection {
    mailbox: Arc<Mailbox>,
    session_id: i32,
    /// Keeps the engine open as long as a connection is.
    _engine: Arc<Opened>,
    /// An answer has not been taken to its end.
    unread: bool,
}

impl Connection {
    pub(crate) fn new(mailbox: Arc<Mailbox>, session_id: i32, engine: Arc<Opened>) -> Self {
        Connection { mailbox, session_id, _engine: engine, unread: false }
    }

    /// The session's number, `@@SPID`.
    pub fn session_id(&self) -> i32 {
        self.session_id
    }

    /// The session's database, as the last batch left it.
    pub fn database(&self) -> String {
        self.mailbox.place().map_or_else(|| DATABASE_AT_FIRST.to_owned(), |(database, _)| database)
    }

    /// True when the last batch left a transaction open.
    pub fn is_in_transaction(&self) -> bool {
        self.mailbox.place().is_some_and(|(_, is_open)| is_open)
    }

    /// What ends a batch of this connection from another thread or task.
    pub fn canceller(&self) -> Canceller {
        Canceller(Arc::clone(&self.mailbox))
    }

    /// Starts a batch and gives its events as they come. Parameters are variables of the batch, named with their `@`.
    ///
    /// # Errors
    /// [`Error::Closed`] when the engine has been shut down. What the batch itself does wrong comes as events.
    pub async fn run(&mut self, sql: &str, parameters: &[(&str, Value)]) -> Result<Events<'_>, Error> {
        while self.unread {
            self.mailbox.cancel();
            let taken = poll_fn(|context| self.mailbox.poll_take(context)).await?;
            self.unread = !matches!(taken, Taken::End(_));
        }
        self.mailbox.put(request(sql, parameters))?;
        self.unread = true;
        Ok(Events { connection: self, parameters: Vec::new() })
    }

    /// Runs a batch to its end.
    ///
    /// # Errors
    /// The first error that no TRY block caught, or [`Error::Closed`].
    pub async fn execute(&mut self, sql: &str, parameters: &[(&str, Value)]) -> Result<Outcome, Error> {
        let mut gathering = Gathering::default();
        let mut events = self.run(sql, parameters).await?;
        while let Some(event) = events.next().await? {
            gathering.add(event);
        }
        let parameters = events.parameters;
        Ok(gathering.finish(parameters)?)
    }

    /// Runs a batch and gives its first result set.
    ///
    /// # Errors
    /// As [`Connection::execute`]; [`Error::Usage`] when the batch returns no result set.
    pub async fn query(&mut self, sql: &str, parameters: &[(&str, Value)]) -> Result<Rows, Error> {
        first_set(self.execute(sql, parameters).await?)
    }

    // The same for callers that block, see `blocking`.

    pub(crate) fn run_blocking(&mut self, sql: &str, parameters: &[(&str, Value)]) -> Result<(), Error> {
        while self.unread {
            self.mailbox.cancel();
            self.unread = !matches!(self.mailbox.take()?, Taken::End(_));
        }
        self.mailbox.put(request(sql, parameters))?;
        self.unread = true;
        Ok(())
    }

    /// The next thing of the batch under way; `None` when its end has been taken already.
    pub(crate) fn take_blocking(&mut self) -> Result<Option<Taken>, Error> {
        if !self.unread {
            return Ok(None);
        }
        let taken = self.mailbox.take()?;
        self.unread = !matches!(taken, Taken::End(_));
        Ok(Some(taken))
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.mailbox.close();
    }
}

fn request(sql: &str, parameters: &[(&str, Value)]) -> Request {
    let parameters = parameters.iter().map(|(name, value)| (name.to_string(), value.clone())).collect();
    Request { sql: sql.to_string(), parameters }
}

/// Ends batches of a connection from elsewhere; see [`Connection::canceller`].
#[derive(Clone)]
pub struct Canceller(Arc<Mailbox>);

impl Canceller {
    /// Asks for the end of the batch under way: its statement is undone, and error 3617 is the batch's last event. No TRY block
    /// catches it. A batch that has not started is not concerned.
    pub fn cancel(&self) {
        self.0.interrupt();
    }
}

/// The events of a batch under way.
pub struct Events<'a> {
    connection: &'a mut Connection,
    parameters: Vec<(String, Value)>,
}

impl Events<'_> {
    /// The next event; `None` at the end of the batch.
    ///
    /// # Errors
    /// [`Error::Closed`] when the engine has been shut down meanwhile.
    pub async fn next(&mut self) -> Result<Option<Event>, Error> {
        if !self.connection.unread {
            return Ok(None);
        }
        match poll_fn(|context| self.connection.mailbox.poll_take(context)).await? {
            Taken::Event(event) => Ok(Some(event)),
            Taken::End(parameters) => {
                self.connection.unread = false;
                self.parameters = parameters;
                Ok(None)
            }
        }
    }
}
