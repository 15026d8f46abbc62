//! A session's task: takes requests from the mailbox, runs them, and sends events back in batches.

use crate::answer::{Event, Message};
use crate::appender::Load;
use crate::mailbox::{Mailbox, Request, Work};
use crate::parameter::GivenParameter;
use crate::rows::{Column, Row};
use crate::statement::{KeptStatement, PreparedText};
use crate::{SqlError, Value};
use pikepole_machine::memory;
use pikepole_session::{ColumnInfo, Done, DoneKind, Output, Parameter, Session};
use std::collections::HashMap;
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
    let mut kept = Kept::default();
    while let Some(work) = next(&session, &mailbox).await {
        kept.forget(&work.forgotten);
        if work.rolls_back {
            session.roll_back().await;
        }
        let Some(request) = work.request else { continue };
        let values = answer(request, &mut session, &mut kept, &mut sender).await;
        (sender.full, sender.bytes) = (false, [0; 2]);
        mailbox.finish(&mut sender.events, values, session.database_name(), session.transaction_mark().open != 0);
    }
    session.close().await;
    drop(ending);
}

/// What to do next; `None` when the caller has gone, or the session was killed.
async fn next(session: &Session, mailbox: &Mailbox) -> Option<Work> {
    poll_fn(|context| match session.poll_end(context) {
        Poll::Ready(()) => Poll::Ready(None),
        Poll::Pending => mailbox.poll_request(context),
    })
    .await
}

/// What the session keeps for its caller, by number.
#[derive(Default)]
struct Kept {
    statements: HashMap<u64, KeptStatement>,
    loads: HashMap<u64, Load>,
}

impl Kept {
    fn forget(&mut self, ids: &[u64]) {
        for id in ids {
            self.statements.remove(id);
            self.loads.remove(id);
        }
    }
}

/// Does what is asked for; the parameters as it has left them.
async fn answer(request: Request, session: &mut Session, kept: &mut Kept, sender: &mut Sender) -> Vec<(String, Value)> {
    match request {
        Request::Batch { sql, parameters } => {
            let mut parameters: Vec<Parameter> = parameters.into_iter().map(parameter).collect();
            session.run(&sql, &mut parameters, sender).await;
            return parameters.into_iter().map(|parameter| (parameter.name, parameter.value)).collect();
        }
        Request::Execute { statement: PreparedText { id, sql, .. }, parameters } => {
            let statement = kept.statements.entry(id).or_insert_with(|| KeptStatement::untyped(&sql, &parameters));
            return statement.run(parameters, session, sender).await;
        }
        Request::Prepare(PreparedText { id, sql, declarations }) => {
            match KeptStatement::typed(&sql, declarations.as_deref().unwrap_or(""), session) {
                Ok(statement) => drop(kept.statements.insert(id, statement)),
                Err(errors) => errors.iter().for_each(|error| sender.error(error)),
            }
        }
        Request::BeginLoad { id, table, columns } => {
            if let Some(load) = Load::begin(&table, columns, session, sender).await {
                kept.loads.insert(id, load);
            }
        }
        Request::Load { id, rows } => {
            if let Some(load) = kept.loads.get(&id) {
                load.insert(rows, session, sender).await;
            }
        }
        Request::RollBack => session.roll_back().await,
    }
    Vec::new()
}

/// A parameter of a batch; every one comes back with what the batch left in it.
fn parameter(given: GivenParameter) -> Parameter {
    let GivenParameter { name, value, ty, .. } = given;
    Parameter { name, value, ty, output: true, table: None }
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
