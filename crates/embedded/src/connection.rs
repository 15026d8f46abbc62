//! The async form of a connection.

use crate::answer::{Event, FirstRow, Gathering, Outcome, first_set};
use crate::appender::Appender;
use crate::engine::Opened;
use crate::mailbox::{Mailbox, Request, Taken};
use crate::parameter::Parameters;
use crate::rows::{FromSql, Row, Rows};
use crate::statement::{PreparedText, Statement, Text, ToStatement};
use crate::transaction::Transaction;
use crate::{Error, Value};
use std::future::poll_fn;
use std::sync::Arc;

/// The database of a session that has run nothing.
const DATABASE_AT_FIRST: &str = "master";

/// A connection: a session of its own on one of the engine's schedulers. Dropping it rolls back what is open.
///
/// Any async runtime will do: the session runs on the engine's own threads and wakes the caller's task.
///
/// ```
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
/// use pikepole_embedded::{Engine, Event, params};
///
/// # block_on(async {
/// let engine = Engine::in_memory()?;
/// let mut connection = engine.connect()?;
/// connection.execute("CREATE TABLE dbo.word (id int IDENTITY PRIMARY KEY, text nvarchar(40) NOT NULL)", []).await?;
///
/// // Parameters are variables of the batch; what it assigns to them comes back.
/// let sql = "INSERT dbo.word (text) VALUES (@text); SET @id = SCOPE_IDENTITY()";
/// let outcome = connection.execute(sql, params![@text = "log", @id = 0]).await?;
/// assert_eq!(outcome.rows_affected, 1);
/// assert_eq!(outcome.parameter::<i32>("@id")?, 1);
///
/// // A statement keeps its plan.
/// let insert = connection.prepare("INSERT dbo.word (text) VALUES (@p1)");
/// for text in ["page", "lock"] {
///     connection.execute(&insert, params![text]).await?;
/// }
/// let row = connection.query_row("SELECT COUNT(*) AS words, MAX(text) AS last FROM dbo.word", []).await?;
/// assert_eq!((row.get("words")?, row.get("last")?), (3, "page".to_owned()));
///
/// // A transaction that is not committed is rolled back.
/// let mut transaction = connection.transaction().await?;
/// transaction.execute("DELETE dbo.word", []).await?;
/// transaction.commit().await?;
///
/// // Many rows come in a portion at a time.
/// let mut appender = connection.appender("dbo.word", &["text"]).await?;
/// for number in 0..1000 {
///     appender.append(params![format!("word {number}")]).await?;
/// }
/// assert_eq!(appender.finish().await?, 1000);
///
/// // Events stream as they arise; the session waits when they are not taken.
/// let mut events = connection.run("SELECT TOP (2) text FROM dbo.word ORDER BY id; PRINT 'done'", []).await?;
/// let mut texts = Vec::new();
/// while let Some(event) = events.next().await? {
///     match event {
///         Event::Row(row) => texts.push(row.get::<String>("text")?),
///         Event::Message(message) => texts.push(message.text),
///         _ => {}
///     }
/// }
/// assert_eq!(texts, ["word 0", "word 1", "done"]);
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
    /// Of what the session keeps for this connection, the last number.
    last_id: u64,
}

impl Connection {
    pub(crate) fn new(mailbox: Arc<Mailbox>, session_id: i32, engine: Arc<Opened>) -> Self {
        Connection { mailbox, session_id, _engine: engine, unread: false, last_id: 0 }
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

    /// Starts a batch and gives its events as they come. Parameters are variables of the batch.
    ///
    /// # Errors
    /// [`Error::Closed`] when the engine has been shut down; [`Error::Usage`] for a parameter that T-SQL has no value for, and for
    /// a statement of another connection. What the batch itself does wrong comes as events.
    pub async fn run(&mut self, sql: impl ToStatement, parameters: impl Parameters) -> Result<Events<'_>, Error> {
        let request = self.request(&sql, parameters)?;
        self.ask(request).await
    }

    /// Runs a batch to its end.
    ///
    /// # Errors
    /// As [`Connection::run`]; the first error that no TRY block caught.
    pub async fn execute(&mut self, sql: impl ToStatement, parameters: impl Parameters) -> Result<Outcome, Error> {
        let request = self.request(&sql, parameters)?;
        self.gather(request).await
    }

    /// Runs a batch and gives its first result set.
    ///
    /// # Errors
    /// As [`Connection::execute`]; [`Error::Usage`] when the batch returns no result set.
    pub async fn query(&mut self, sql: impl ToStatement, parameters: impl Parameters) -> Result<Rows, Error> {
        first_set(self.execute(sql, parameters).await?)
    }

    /// Runs a batch and gives the first row of its first result set.
    ///
    /// # Errors
    /// As [`Connection::query`]; [`Error::NoRow`] when there is none.
    pub async fn query_row(&mut self, sql: impl ToStatement, parameters: impl Parameters) -> Result<Row, Error> {
        self.query_opt(sql, parameters).await?.ok_or(Error::NoRow)
    }

    /// Runs a batch and gives the first row of its first result set, if it has one.
    ///
    /// # Errors
    /// As [`Connection::query`].
    pub async fn query_opt(
        &mut self,
        sql: impl ToStatement,
        parameters: impl Parameters,
    ) -> Result<Option<Row>, Error> {
        let mut first = FirstRow::default();
        let mut events = self.run(sql, parameters).await?;
        while let Some(event) = events.next().await? {
            first.add(event);
        }
        first.finish()
    }

    /// Runs a batch and gives the value in the first column of the first row of its first result set.
    ///
    /// # Errors
    /// As [`Connection::query_row`]; [`Error::Usage`] when the value does not fit the type.
    pub async fn query_value<T: FromSql>(
        &mut self,
        sql: impl ToStatement,
        parameters: impl Parameters,
    ) -> Result<T, Error> {
        self.query_row(sql, parameters).await?.get(0)
    }

    /// Prepares a text: its plan is kept from its first run on, and later runs neither parse nor look for it. Parameters have the types of
    /// their values; where a later value needs a wider one, the plan is made again. Errors in the text come when it runs.
    ///
    /// A prepared text runs as `sp_executesql` runs it: SET options and temporary tables that it makes end with it.
    pub fn prepare(&mut self, sql: &str) -> Statement {
        let prepared = PreparedText { id: self.next_id(), sql: Arc::from(sql), declarations: None };
        Statement::new(Arc::clone(&self.mailbox), prepared)
    }

    /// Prepares a text whose parameters are declared as for `sp_executesql`: `"@id int, @name nvarchar(40)"`. It is compiled at once, and
    /// values are converted to the declared types. Only what is declared OUTPUT comes back.
    ///
    /// # Errors
    /// The first error in the text or the declarations; [`Error::Closed`].
    pub async fn prepare_typed(&mut self, sql: &str, declarations: &str) -> Result<Statement, Error> {
        let declarations = Some(Arc::from(declarations));
        let prepared = PreparedText { id: self.next_id(), sql: Arc::from(sql), declarations };
        self.gather(Request::Prepare(prepared.clone())).await?;
        Ok(Statement::new(Arc::clone(&self.mailbox), prepared))
    }

    /// Begins a transaction, which is rolled back unless it is committed.
    ///
    /// # Errors
    /// [`Error::Usage`] when one is open already; as of [`Connection::execute`].
    pub async fn transaction(&mut self) -> Result<Transaction<'_>, Error> {
        Transaction::begin(self).await
    }

    /// Begins to insert many rows into a table, a value for each of these columns; without columns for each that is neither an identity
    /// nor computed. The table's name is as T-SQL writes it, names of columns are plain.
    ///
    /// # Errors
    /// [`Error::Sql`] when there is no such table or column; [`Error::Closed`].
    pub async fn appender(&mut self, table: &str, columns: &[&str]) -> Result<Appender<'_>, Error> {
        Appender::open(self, table, columns).await
    }

    // What the forms share.

    /// The mailbox, for the blocking form.
    pub(crate) fn mailbox(&self) -> &Arc<Mailbox> {
        &self.mailbox
    }

    /// A number for a statement or a load.
    pub(crate) fn next_id(&mut self) -> u64 {
        self.last_id += 1;
        self.last_id
    }

    pub(crate) fn forget(&self, id: u64) {
        self.mailbox.forget(id);
    }

    fn request(&self, sql: &impl ToStatement, parameters: impl Parameters) -> Result<Request, Error> {
        let parameters = parameters.given()?;
        match sql.text() {
            Text::Sql(sql) => Ok(Request::Batch { sql: sql.to_owned(), parameters }),
            Text::Prepared(statement) => {
                let of_another = || Error::Usage("the statement was prepared on another connection".to_owned());
                let statement = statement.of(&self.mailbox).ok_or_else(of_another)?;
                Ok(Request::Execute { statement, parameters })
            }
        }
    }

    /// Gives up what is left of the last answer, and ends its batch.
    pub(crate) async fn settle(&mut self) -> Result<(), Error> {
        while self.unread {
            self.mailbox.cancel();
            let taken = poll_fn(|context| self.mailbox.poll_take(context)).await?;
            self.unread = !matches!(taken, Taken::End(_));
        }
        Ok(())
    }

    async fn ask(&mut self, request: Request) -> Result<Events<'_>, Error> {
        self.settle().await?;
        self.mailbox.put(request)?;
        self.unread = true;
        Ok(Events { connection: self, parameters: Vec::new() })
    }

    pub(crate) async fn gather(&mut self, request: Request) -> Result<Outcome, Error> {
        let mut gathering = Gathering::default();
        let mut events = self.ask(request).await?;
        while let Some(event) = events.next().await? {
            gathering.add(event);
        }
        let parameters = events.parameters;
        Ok(gathering.finish(parameters)?)
    }

    /// Rolls the transaction back, if one is open.
    pub(crate) async fn roll_back(&mut self) -> Result<(), Error> {
        self.gather(Request::RollBack).await.map(drop)
    }

    /// The same without waiting for it, where a transaction may be open.
    pub(crate) fn roll_back_later(&mut self) {
        if self.unread {
            self.mailbox.cancel();
        } else if !self.is_in_transaction() {
            return;
        }
        self.mailbox.roll_back();
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.mailbox.close();
    }
}

/// Ends batches of a connection from elsewhere; see [`Connection::canceller`].
#[derive(Clone)]
pub struct Canceller(Arc<Mailbox>);

impl Canceller {
    /// Asks for the end of the batch under way: its statement is undone, and error 3617 is the batch's last event. No TRY block
    /// catches it. A batch that has not started is not concerned; a thread that starts one after this call sees what was done before
    /// it, so a flag that is set before the call and looked at after [`Connection::run`] loses nothing.
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
