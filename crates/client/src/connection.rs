//! A session of a server: requests, and their answers as events.

use crate::ClientError;
use crate::wire::{self, Reader, Wire};
use pikepole_contention::sync::{Arc, Mutex, MutexGuard};
use pikepole_embedded::{Column, Event, Gathering, Message, Outcome, Row, Rows};
use pikepole_tds::{
    PacketKind, ReplyToken, SystemProcedure, TdsError, TokenReader, put_batch, put_call, put_next_call, put_parameter,
};
use pikepole_types::{Length, SqlError, SqlType, Value};
use std::os::fd::{AsFd, BorrowedFd};

/// The type that texts of statements travel as.
const TEXT: SqlType = SqlType::NVarChar(Length::Max);
/// Room for an answer that is kept for the next one.
const KEPT_BYTES: usize = 256 << 10;

/// A connection that has logged in; see the crate's page.
pub struct Connection {
    shared: Arc<Shared>,
    reader: Reader,
    tokens: TokenReader,
    /// The answer's bytes as far as they are there, of which `taken` have been read.
    answer: Vec<u8>,
    taken: usize,
    /// The message under way is there to its end.
    is_whole: bool,
    /// How the last statement of the answer ended, and whether an attention was acknowledged.
    failed: bool,
    acknowledged: bool,
    columns: Arc<[Column]>,
    /// Output parameters of the answer.
    returned: Vec<Value>,
    transaction: u64,
    database: String,
    packet_bytes: usize,
    /// The request's message, and its packets.
    request: Vec<u8>,
    packets: Vec<u8>,
}

struct Shared {
    wire: Arc<Wire>,
    state: Mutex<State>,
}

/// Where the request is that is under way.
#[derive(Default)]
struct State {
    /// Its answer has not been read to its end.
    busy: bool,
    /// It was taken back; the server acknowledges that.
    attention: bool,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        // Each change is a single store.
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Takes back what is under way.
    fn cancel(&self) -> std::io::Result<()> {
        let mut state = self.state();
        if state.busy && !state.attention {
            self.wire.write(&wire::attention())?;
            state.attention = true;
        }
        Ok(())
    }
}

/// A statement that the server has prepared for this connection.
#[derive(Debug, Clone)]
pub struct Statement {
    handle: i32,
    types: Vec<SqlType>,
}

impl Connection {
    /// A session that has logged in; `tokens` has read the answer to the login.
    pub(crate) fn new(
        wire: Arc<Wire>,
        reader: Reader,
        tokens: TokenReader,
        packet_bytes: usize,
        database: String,
    ) -> Connection {
        Connection {
            shared: Arc::new(Shared { wire, state: Mutex::default() }),
            reader,
            tokens,
            answer: Vec::new(),
            taken: 0,
            is_whole: false,
            failed: false,
            acknowledged: false,
            columns: Arc::from([]),
            returned: Vec::new(),
            transaction: 0,
            database,
            packet_bytes,
            request: Vec::new(),
            packets: Vec::new(),
        }
    }

    /// The server's name, as its messages say.
    pub fn server_name(&self) -> &str {
        self.tokens.server()
    }

    /// The bytes of a packet, as the login has settled them.
    pub fn packet_bytes(&self) -> usize {
        self.packet_bytes
    }

    /// The session's database, as of the end of the last request.
    pub fn database(&self) -> &str {
        &self.database
    }

    /// True when the last request left a transaction open.
    pub fn is_in_transaction(&self) -> bool {
        self.transaction != 0
    }

    /// What ends a request of this connection from another thread.
    pub fn canceller(&self) -> Canceller {
        Canceller(Arc::clone(&self.shared))
    }

    /// Starts a batch and gives its events as they come.
    ///
    /// # Errors
    /// When the connection is broken. What the batch itself does wrong comes as events.
    pub fn run(&mut self, sql: &str) -> Result<Events<'_>, ClientError> {
        self.begin()?;
        put_batch(sql, self.transaction, &mut self.request);
        self.send(PacketKind::SqlBatch)?;
        Ok(Events { connection: self })
    }

    /// Runs a batch to its end.
    ///
    /// # Errors
    /// The first error that no TRY block caught; a broken connection.
    pub fn execute(&mut self, sql: &str) -> Result<Outcome, ClientError> {
        self.run(sql)?;
        self.finish()
    }

    /// Runs a batch and gives its first result set.
    ///
    /// # Errors
    /// As [`Connection::execute`]; a batch without a result set.
    pub fn query(&mut self, sql: &str) -> Result<Rows, ClientError> {
        let first = self.execute(sql)?.sets.into_iter().next();
        first.ok_or_else(|| ClientError::Usage("the batch returned no result set".to_string()))
    }

    /// Prepares a statement with parameters of these names (with their `@`) and types.
    ///
    /// # Errors
    /// What is wrong with its text; a broken connection.
    pub fn prepare(&mut self, sql: &str, parameters: &[(&str, SqlType)]) -> Result<Statement, ClientError> {
        let declare = |(name, ty): &(&str, SqlType)| format!("{name} {ty}");
        let declarations = parameters.iter().map(declare).collect::<Vec<_>>().join(", ");
        self.begin()?;
        put_call(SystemProcedure::Prepare, self.transaction, &mut self.request);
        put_parameter(true, &SqlType::Int, &Value::Null, &mut self.request)?;
        put_parameter(false, &TEXT, &Value::Str(declarations), &mut self.request)?;
        put_parameter(false, &TEXT, &Value::Str(sql.to_string()), &mut self.request)?;
        self.send(PacketKind::Rpc)?;
        self.finish()?;
        match self.returned.first() {
            Some(Value::Int(handle)) => {
                Ok(Statement { handle: *handle, types: parameters.iter().map(|(_, ty)| *ty).collect() })
            }
            _ => Err(TdsError::Malformed("The server returned no handle".to_string()).into()),
        }
    }

    /// Sends off a prepared statement with a value for each parameter. [`Connection::finish`] takes the answer.
    ///
    /// # Errors
    /// A value that does not fit; a broken connection.
    pub fn start(&mut self, statement: &Statement, values: &[Value]) -> Result<(), ClientError> {
        self.start_all(statement, [values])
    }

    /// Sends off calls of a prepared statement in one message, with a value for each parameter of each call. They are carried
    /// out one after the other; an error of one does not keep the others from it. [`Connection::finish`] takes the answer.
    ///
    /// # Errors
    /// No calls; a value that does not fit; a broken connection.
    pub fn start_all<'a>(
        &mut self,
        statement: &Statement,
        calls: impl IntoIterator<Item = &'a [Value]>,
    ) -> Result<(), ClientError> {
        self.begin()?;
        for values in calls {
            if values.len() != statement.types.len() {
                let (given, wanted) = (values.len(), statement.types.len());
                return Err(ClientError::Usage(format!("{given} values for a statement of {wanted} parameters")));
            }
            match self.request.is_empty() {
                true => put_call(SystemProcedure::Execute, self.transaction, &mut self.request),
                false => put_next_call(SystemProcedure::Execute, &mut self.request),
            }
            put_parameter(false, &SqlType::Int, &Value::Int(statement.handle), &mut self.request)?;
            for (ty, value) in statement.types.iter().zip(values) {
                put_parameter(false, ty, value, &mut self.request)?;
            }
        }
        if self.request.is_empty() {
            return Err(ClientError::Usage("a message of no calls".to_string()));
        }
        self.send(PacketKind::Rpc)
    }

    /// Waits for the end of the answer under way.
    ///
    /// # Errors
    /// As [`Connection::execute`].
    pub fn finish(&mut self) -> Result<Outcome, ClientError> {
        let mut gathering = Gathering::default();
        while let Some(event) = self.next_event()? {
            gathering.add(event);
        }
        Ok(gathering.finish(Vec::new())?)
    }

    /// Makes ready for a request: what is left of the last one's answer is not wanted.
    fn begin(&mut self) -> Result<(), ClientError> {
        self.shared.cancel()?;
        while self.next_event()?.is_some() {}
        self.request.clear();
        self.answer.clear();
        self.answer.shrink_to(KEPT_BYTES);
        self.taken = 0;
        self.is_whole = false;
        self.failed = false;
        self.acknowledged = false;
        self.returned.clear();
        Ok(())
    }

    fn send(&mut self, kind: PacketKind) -> Result<(), ClientError> {
        self.packets.clear();
        wire::put_message(kind, &self.request, self.packet_bytes, &mut self.packets);
        // Under the lock: an attention comes behind the request that it is about.
        let mut state = self.shared.state();
        state.busy = true;
        Ok(self.shared.wire.write(&self.packets)?)
    }

    /// The next event of the answer; `None` at its end.
    fn next_event(&mut self) -> Result<Option<Event>, ClientError> {
        while self.shared.state().busy {
            let mut rest = &self.answer[self.taken..];
            let token = self.tokens.next(&mut rest)?;
            self.taken = self.answer.len() - rest.len();
            match token {
                Some(token) => {
                    if let Some(event) = self.event(token) {
                        return Ok(Some(event));
                    }
                }
                None if self.is_whole => self.end_message()?,
                None => self.read_on()?,
            }
        }
        Ok(None)
    }

    /// Reads packets until there is twice as much as before, so that a long token is looked at a few times only.
    fn read_on(&mut self) -> Result<(), ClientError> {
        self.answer.drain(..self.taken);
        self.taken = 0;
        let wanted = self.answer.len() * 2;
        loop {
            self.is_whole = self.reader.packet(&mut self.answer)?;
            if self.is_whole || self.answer.len() >= wanted {
                return Ok(());
            }
        }
    }

    /// The message is over; so is the answer, unless an attention's acknowledgement is still to come.
    fn end_message(&mut self) -> Result<(), ClientError> {
        if self.taken < self.answer.len() {
            return Err(TdsError::Truncated("a token").into());
        }
        let mut state = self.shared.state();
        if state.attention && !self.acknowledged {
            self.is_whole = false;
        } else {
            *state = State::default();
        }
        Ok(())
    }

    fn event(&mut self, token: ReplyToken) -> Option<Event> {
        match token {
            ReplyToken::Columns(columns) => {
                let column = |(name, sql_type, nullable)| Column { name, sql_type, nullable };
                let columns: Vec<Column> = columns.into_iter().map(column).collect();
                self.columns = Arc::from(columns.as_slice());
                Some(Event::Columns(columns))
            }
            ReplyToken::Row(values) => Some(Event::Row(Row::new(Arc::clone(&self.columns), values))),
            ReplyToken::Done { attention: true, .. } => {
                self.acknowledged = true;
                // One that came too late ended nothing.
                self.failed.then(|| Event::Error(SqlError::new(3617, 11, 0, "Operation cancelled by user.")))
            }
            ReplyToken::Done { rows, error, .. } => {
                self.failed = error;
                (!error).then_some(Event::Done { rows })
            }
            ReplyToken::Error(error) => Some(Event::Error(error)),
            ReplyToken::Message(message) => Some(Event::Message(Message::from(message))),
            ReplyToken::Returned(value) => {
                self.returned.push(value);
                None
            }
            ReplyToken::Transaction(id) => {
                self.transaction = id;
                None
            }
            ReplyToken::Database(name) => {
                self.database = name;
                None
            }
            ReplyToken::PacketBytes(bytes) => {
                self.packet_bytes = bytes;
                None
            }
            ReplyToken::LoginAck | ReplyToken::Status(_) | ReplyToken::Other => None,
        }
    }
}

impl AsFd for Connection {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.shared.wire.socket().as_fd()
    }
}

/// Ends requests of a connection from elsewhere; see [`Connection::canceller`].
#[derive(Clone)]
pub struct Canceller(Arc<Shared>);

impl Canceller {
    /// Asks for the end of the request under way: its statement is undone, and error 3617 is its last event. Nothing happens
    /// when none is under way, or when the connection is broken.
    pub fn cancel(&self) {
        // Who waits for the answer learns that the connection is broken.
        let _ = self.0.cancel();
    }
}

/// The events of a batch under way.
pub struct Events<'a> {
    connection: &'a mut Connection,
}

impl Iterator for Events<'_> {
    type Item = Result<Event, ClientError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.connection.next_event().transpose()
    }
}
