//! A session's task: takes requests from the mailbox, runs them, and sends events back in batches.

use crate::answer::{Event, Message};
use crate::mailbox::{Mailbox, Request};
use crate::rows::{Column, Row};
use crate::{SqlError, Value};
use pikepole_machine::memory;
use pikepole_session::{ColumnInfo, Done, DoneKind, Output, Parameter, Session};
use pikepole_types::{Length, SqlType};
use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll};

/// Events that are handed over at once; a batch's last ones go with its end, so a small batch costs one hand-over.
const EVENTS_BATCH: usize = 128;
/// Bytes of texts and binaries in them that are as good a reason.
const EVENTS_BYTES_BATCH: usize = 256 << 10;

/// Tells the caller when the task ends, however it ends.
struct Ending(Arc<Mailbox>);

impl Drop for Ending {
    fn drop(&mut self) {
        self.0.session_ended();
    }
}

/// Runs requests until the caller is gone.
pub(crate) async fn run(mut session: Session, mailbox: Arc<Mailbox>) {
    let ending = Ending(Arc::clone(&mailbox));
    let mut sender = Sender {
        mailbox: Arc::clone(&mailbox),
        events: Vec::new(),
        columns: Arc::from([]),
        bytes: [0; 2],
        full: false,
    };
    while let Some(request) = next(&session, &mailbox).await {
        let Request { sql, parameters } = request;
        let mut parameters: Vec<Parameter> = parameters.into_iter().map(parameter).collect();
        session.run(&sql, &mut parameters, &mut sender).await;
        let values = parameters.into_iter().map(|parameter| (parameter.name, parameter.value)).collect();
        (sender.full, sender.bytes) = (false, [0; 2]);
        mailbox.finish(&mut sender.events, values, session.database_name(), session.transaction_mark().open != 0);
    }
    session.close().await;
    drop(ending);
}

/// The next request; `None` when the caller has gone, or the session was killed.
async fn next(session: &Session, mailbox: &Mailbox) -> Option<Request> {
    poll_fn(|context| match session.poll_end(context) {
        Poll::Ready(()) => Poll::Ready(None),
        Poll::Pending => mailbox.poll_request(context),
    })
    .await
}

/// A parameter whose type follows from its value; every one comes back with what the batch left in it.
fn parameter((name, value): (String, Value)) -> Parameter {
    let ty = type_of(&value);
    Parameter { name, value, ty, output: true, table: None }
}

/// The type that a value is declared with.
fn type_of(value: &Value) -> SqlType {
    /// UTF-16 units of an `nvarchar` that is not `(max)`.
    const TEXT_UNITS_MAX: u16 = 4000;
    /// Bytes of a `varbinary` that is not `(max)`.
    const BINARY_BYTES_MAX: u16 = 8000;
    match value {
        Value::Null => SqlType::NVarChar(Length::Limit(TEXT_UNITS_MAX)),
        Value::Bit(_) => SqlType::Bit,
        Value::TinyInt(_) => SqlType::TinyInt,
        Value::SmallInt(_) => SqlType::SmallInt,
        Value::Int(_) => SqlType::Int,
        Value::BigInt(_) => SqlType::BigInt,
        Value::Decimal(decimal) => decimal.sql_type(),
        Value::Money(_) => SqlType::Money,
        Value::SmallMoney(_) => SqlType::SmallMoney,
        Value::Real(_) => SqlType::Real,
        Value::Float(_) => SqlType::Float,
        Value::Date(_) => SqlType::Date,
        Value::Time(_) => SqlType::Time(7),
        Value::DateTime(_) => SqlType::DateTime,
        Value::SmallDateTime(_) => SqlType::SmallDateTime,
        Value::DateTime2(_) => SqlType::DateTime2(7),
        Value::DateTimeOffset(_) => SqlType::DateTimeOffset(7),
        Value::Str(text) if text.len() <= TEXT_UNITS_MAX.into() => SqlType::NVarChar(Length::Limit(TEXT_UNITS_MAX)),
        Value::Str(text) if text.encode_utf16().count() <= TEXT_UNITS_MAX.into() => {
            SqlType::NVarChar(Length::Limit(TEXT_UNITS_MAX))
        }
        Value::Str(_) => SqlType::NVarChar(Length::Max),
        Value::Bin(bytes) if bytes.len() <= BINARY_BYTES_MAX.into() => {
            SqlType::VarBinary(Length::Limit(BINARY_BYTES_MAX))
        }
        Value::Bin(_) => SqlType::VarBinary(Length::Max),
        Value::Guid(_) => SqlType::UniqueIdentifier,
        Value::Variant(_) => SqlType::Variant,
        Value::Node(_) => SqlType::Xml,
    }
}

/// The output of a session's batches: events gathered, then handed to the mailbox.
struct Sender {
    mailbox: Arc<Mailbox>,
    events: Vec<Event>,
    columns: Arc<[Column]>,
    /// Bytes of the texts and binaries in the events gathered, and of those that are large.
    bytes: [usize; 2],
    /// The caller had no room after the last hand-over.
    full: bool,
}

impl Sender {
    fn gather(&mut self, event: Event) {
        self.events.push(event);
        if self.events.len() >= EVENTS_BATCH || self.bytes[0] >= EVENTS_BYTES_BATCH {
            self.hand_over();
        }
    }

    fn hand_over(&mut self) {
        let [bytes, large] = std::mem::take(&mut self.bytes);
        // The caller frees them.
        memory::hand_over(bytes, large);
        self.full = !self.mailbox.send(&mut self.events, bytes);
    }
}

impl Output for Sender {
    fn columns(&mut self, columns: &[ColumnInfo]) {
        let column = |info: &ColumnInfo| Column { name: info.name.clone(), sql_type: info.ty, nullable: info.nullable };
        let columns: Vec<Column> = columns.iter().map(column).collect();
        self.columns = Arc::from(columns.as_slice());
        self.gather(Event::Columns(columns));
    }

    fn row(&mut self, row: &[Value]) {
        for bytes in row.iter().map(Value::text_bytes) {
            self.bytes[0] += bytes;
            self.bytes[1] += if bytes >= memory::LARGE { bytes } else { 0 };
        }
        let row = Row::new(Arc::clone(&self.columns), row.to_vec());
        self.gather(Event::Row(row));
    }

    fn done(&mut self, done: Done) {
        // A procedure's loop under NOCOUNT would otherwise send an event for each of its statements; those that change rows
        // have an end without a count only behind the rows of their OUTPUT.
        if done.rows.is_some() || !matches!(done.kind, DoneKind::Procedure | DoneKind::Definition(_) | DoneKind::Other)
        {
            self.gather(Event::Done { rows: done.rows });
        }
    }

    fn message(&mut self, message: &SqlError) {
        self.gather(Event::Message(Message::from(message.clone())));
    }

    fn push(&mut self) {
        if !self.events.is_empty() {
            self.hand_over();
        }
    }

    fn error(&mut self, error: &SqlError) {
        self.gather(Event::Error(error.clone()));
    }

    fn is_full(&self) -> bool {
        self.full
    }

    fn poll_room(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let room = self.mailbox.poll_room(context);
        self.full = room.is_pending();
        room
    }
}
