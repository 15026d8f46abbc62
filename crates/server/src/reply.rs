//! The answer to a request: what a session says, as tokens.
//!
//! The end of a statement is held back until it is known whether anything follows, because the last one says so. A statement
//! that failed has an end too, which says that.

use crate::sent_columns::column_of;
use crate::transport::Sender;
use pikepole_contention::sync::atomic::{AtomicBool, Ordering};
use pikepole_engine::TEMPDB;
use pikepole_session::{
    BrowsedColumn, ColumnInfo, CursorTarget, Definition, Done as Ended, DoneKind as EndedKind, Output,
};
use pikepole_tds::{Column, ColumnFlags, ColumnOrigin, Command, Done, DoneKind, EnvChange, ReturnValue, SessionState};
use pikepole_types::{CANCELLED, SqlError, SqlType, Value};
use std::io;
use std::task::{Context, Poll};

/// Bytes that may wait for the client; then the session waits.
const WAITING_BYTES_MAX: usize = 32 * 1024;
/// It goes on when no more than this wait.
const WAITING_BYTES_LEFT: usize = 8 * 1024;
/// Errors from this severity on end the connection.
const SEVERITY_FATAL: u8 = 20;
/// The last word about a statement that failed; comes before its end.
const STATEMENT_TERMINATED: i32 = 3621;

/// What a reply answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answering {
    /// A batch.
    Batch,
    /// The call of a parameterized text: its statements are those of a procedure.
    Text,
    /// The call of a procedure by a batch that was made for it.
    Procedure,
    /// A request that is no statement: its ends are not told.
    Quiet,
}

/// See the module.
pub(crate) struct Reply<'a> {
    sender: &'a mut Sender,
    server_name: &'a str,
    /// Ends the request when its answer cannot be sent.
    cancel: &'a AtomicBool,
    answering: Answering,
    /// How long values of `text`, `ntext` and `image` are at most.
    text_bytes_max: u32,
    /// The end that is held back.
    end: Option<(DoneKind, Done)>,
    /// Whether the end that is held back is of a statement that failed, and can have further errors.
    may_fail_more: bool,
    /// Whether there was an error.
    failed: bool,
    /// Whether the procedure that runs has raised an error that no end told of.
    raised: bool,
    /// Whether there was one that ends the connection.
    is_fatal: bool,
    /// Whether a row could not be sent: what its batch gives before it is cancelled is not either.
    is_cut_short: bool,
    status: Option<i32>,
    /// The number of the last error.
    error: Option<i32>,
    /// Whether what was said is to leave before anything else is.
    pushes: bool,
    /// What the client is told of the session's states, right before the last end.
    state: Option<SessionState>,
    broken: Option<io::Error>,
}

impl<'a> Reply<'a> {
    pub(crate) fn new(
        sender: &'a mut Sender,
        server_name: &'a str,
        cancel: &'a AtomicBool,
        answering: Answering,
    ) -> Reply<'a> {
        Reply {
            sender,
            server_name,
            cancel,
            answering,
            text_bytes_max: u32::MAX,
            end: None,
            may_fail_more: false,
            failed: false,
            raised: false,
            is_fatal: false,
            is_cut_short: false,
            status: None,
            error: None,
            pushes: false,
            state: None,
            broken: None,
        }
    }

    /// Whether the request has failed.
    pub(crate) fn has_failed(&self) -> bool {
        self.failed
    }

    /// Whether the connection ends with this answer.
    pub(crate) fn is_fatal(&self) -> bool {
        self.is_fatal
    }

    /// Whether the procedure that was called has returned.
    pub(crate) fn has_status(&self) -> bool {
        self.status.is_some()
    }

    /// Whether nobody waits for the answer any more.
    pub(crate) fn is_given_up(&self) -> bool {
        self.cancel.load(Ordering::Relaxed)
    }

    /// What broke the connection.
    pub(crate) fn broken(&mut self) -> Option<io::Error> {
        self.broken.take()
    }

    /// Something follows the end that is held back.
    fn go_on(&mut self) {
        if let Some((kind, done)) = self.end.take() {
            self.sender.writer.done(kind, &Done { more: true, ..done });
        }
    }

    fn hold(&mut self, kind: DoneKind, done: Done) {
        self.go_on();
        self.end = Some((kind, done));
    }

    fn ended(&mut self, kind: DoneKind, ended: Ended) {
        let command = match ended.kind {
            EndedKind::Select => Command::Select,
            EndedKind::Insert => Command::Insert,
            EndedKind::Update => Command::Update,
            EndedKind::Delete => Command::Delete,
            EndedKind::Merge => Command::Merge,
            EndedKind::Procedure => Command::Execute,
            EndedKind::Definition(definition) => Command::Definition(definition_number(definition)),
            _ => Command::None,
        };
        // What no statement's end told, that of the procedure does.
        let error = kind == DoneKind::Procedure && std::mem::take(&mut self.raised);
        self.hold(kind, Done { rows: ended.rows, error, ..Done::new(command) });
    }

    /// A change of the session's surroundings.
    pub(crate) fn changed(&mut self, change: &EnvChange<'_>) {
        self.go_on_but_for_last(|reply| reply.sender.writer.env_change(change));
    }

    /// A change of the session's states.
    pub(crate) fn state_changed(&mut self, state: SessionState) {
        self.state = Some(state);
    }

    /// The last end of the answer.
    fn write_last(&mut self, kind: DoneKind, done: &Done) {
        if let Some(state) = self.state.take() {
            self.sender.writer.session_state(&state);
        }
        self.sender.writer.done(kind, done);
        self.sender.writer.finish();
    }

    /// Writes something that goes before the end that is held back.
    fn go_on_but_for_last(&mut self, write: impl FnOnce(&mut Self)) {
        let end = self.end.take();
        write(self);
        self.end = end;
    }

    /// A message that belongs to no statement.
    pub(crate) fn say(&mut self, message: &SqlError) {
        self.go_on();
        self.failed |= !message.is_information();
        self.sender.writer.message(message, self.server_name);
    }

    /// The rows of a cursor begin: its query's columns, and ROWSTAT, which says of each row whether it is still there and which
    /// clients hide. A client is told which table's columns they are, if they are one table's. One that knows the columns is not told
    /// them again.
    pub(crate) fn cursor_columns(&mut self, columns: &[ColumnInfo], target: Option<&CursorTarget>, is_known: bool) {
        self.go_on();
        let version = self.sender.writer.version();
        let sent = |column| column_of(column, &self.sender.writer, self.text_bytes_max);
        let mut sent: Vec<Column> = columns.iter().map(sent).collect();
        let hidden = ColumnFlags { hidden: true, ..ColumnFlags::default() };
        sent.push(Column::new("ROWSTAT", SqlType::Int, hidden, version));
        if !is_known {
            self.sender.writer.columns(&sent);
        }
        let count = sent.len();
        self.sender.columns.set(sent);
        if is_known {
            return self.sender.writer.no_columns();
        }
        let sources = target.map_or(&[][..], |target| &target.columns);
        let sources = sources.iter().chain(std::iter::repeat(&None));
        let mut origins = Vec::with_capacity(count);
        origins.extend(columns.iter().zip(sources).map(|(column, source)| ColumnOrigin {
            table: source.as_ref().map(|_| 0),
            base_name: source.as_deref().filter(|base| *base != column.name.as_str()),
            ..ColumnOrigin::default()
        }));
        origins.push(ColumnOrigin { hidden: true, ..ColumnOrigin::default() });
        let parts: Vec<&str> = target.iter().flat_map(|target| &target.parts).map(String::as_str).collect();
        // FreeTDS takes a list without any table for a broken one.
        let parts: &[&str] = if parts.is_empty() { &[""] } else { &parts };
        self.sender.writer.origins(&[parts], &origins);
    }

    /// What an error means for the whole answer.
    fn note(&mut self, error: &SqlError) {
        self.failed = true;
        self.error = Some(error.number);
        if error.severity >= SEVERITY_FATAL {
            self.is_fatal = true;
            self.cancel.store(true, Ordering::Relaxed);
        }
    }

    /// Ends the batch with an error, behind the rows that have been sent.
    fn cut_short(&mut self, error: &SqlError) {
        self.error(error);
        self.is_cut_short = true;
        self.cancel.store(true, Ordering::Relaxed);
    }

    /// In browse mode, where the columns come from that have just been sent.
    fn browsed(&mut self, columns: &[ColumnInfo]) {
        if columns.iter().any(|column| column.origin.is_none()) {
            return;
        }
        // A table that is joined with itself is told of twice: its alias tells the two apart.
        let mut tables: Vec<&BrowsedColumn> = Vec::new();
        let origins: Vec<ColumnOrigin<'_>> = columns
            .iter()
            .filter_map(|column| Some((column, column.origin.as_deref()?)))
            .map(|(column, origin)| {
                let same = |table: &&BrowsedColumn| table.alias == origin.alias && table.table == origin.table;
                let place = tables.iter().position(same).unwrap_or(tables.len());
                if place == tables.len() && !origin.column.is_empty() {
                    tables.push(origin);
                }
                ColumnOrigin {
                    table: (!origin.column.is_empty()).then_some(place.min(254) as u8),
                    key: origin.key,
                    hidden: origin.hidden,
                    base_name: (origin.column != column.name && !origin.column.is_empty()).then_some(&*origin.column),
                }
            })
            .collect();
        let parts: Vec<Vec<&str>> =
            tables.iter().map(|table| table.table.iter().map(String::as_str).collect()).collect();
        let parts: Vec<&[&str]> = parts.iter().map(Vec::as_slice).collect();
        self.sender.writer.origins(&parts, &origins);
    }

    /// The end of a batch.
    pub(crate) fn finish_batch(&mut self) {
        let failed = Done { error: self.failed, server_error: self.is_fatal, ..Done::new(Command::None) };
        let (kind, done) = self.end.take().unwrap_or((DoneKind::Statement, failed));
        self.write_last(kind, &done);
    }

    /// The end of a procedure call: its status, its output parameters, its end. Another call of the same message may follow.
    pub(crate) fn finish_call(&mut self, status: Option<i32>, values: &[ReturnValue<'_>], more: bool) {
        self.go_on();
        // A text that has failed returns its error's number: Microsoft's ODBC driver takes an answer without a status for one that goes on.
        let failure = self.error.filter(|_| matches!(self.answering, Answering::Text));
        if let Some(status) = status.or(self.status).or(failure) {
            self.sender.writer.return_status(status);
        }
        for value in values {
            if let Err(error) = self.sender.writer.return_value(value) {
                self.say(&error.to_sql_error());
            }
        }
        let done = Done { more, error: self.failed, server_error: self.is_fatal, ..Done::new(Command::Execute) };
        match more {
            true => self.sender.writer.done(DoneKind::Procedure, &done),
            false => self.write_last(DoneKind::Procedure, &done),
        }
    }

    /// The end of a request that was given up: what was under way failed, and the attention is acknowledged in a message of its
    /// own. A client that has begun to read the answer reads it to its end first; others look for the acknowledgement only.
    pub(crate) fn finish_attention(&mut self) {
        self.end = None;
        self.write_last(DoneKind::Statement, &Done { error: true, ..Done::new(Command::None) });
        self.sender.writer.done(DoneKind::Statement, &Done::attention());
        self.sender.writer.finish();
    }
}

/// A definition's number in the protocol: drivers report a count of no rows for some of them.
fn definition_number(definition: Definition) -> u16 {
    match definition {
        Definition::CreateTable => 0xC6,
        Definition::DropTable => 0xC7,
        Definition::AlterTable => 0xD8,
        Definition::CreateIndex => 0xC8,
        Definition::DropIndex => 0xC9,
        Definition::AlterIndex => 0x151,
        Definition::CreateView => 0xCF,
        Definition::DropView => 0xD0,
        Definition::CreateProcedure => 0xDE,
        Definition::DropProcedure => 0xDF,
        Definition::CreateFunction => 0xB2,
        Definition::DropFunction => 0xB3,
        Definition::CreateTrigger => 0xDD,
        Definition::DropTrigger => 0xE1,
        Definition::CreateType => 0x111,
        Definition::DropType => 0x110,
        Definition::CreateSynonym => 0x148,
        Definition::DropSynonym => 0x149,
        Definition::CreateSchema => 0x14A,
        Definition::AlterSchema => 0x14B,
        Definition::DropSchema => 0xB0,
        Definition::CreateDatabase => 0xCB,
        Definition::AlterDatabase => 0xD7,
        Definition::DropDatabase => 0xCC,
    }
}

impl Output for Reply<'_> {
    fn text_size(&mut self, bytes: i32) {
        // -1 is no limit.
        self.text_bytes_max = u32::try_from(bytes).unwrap_or(u32::MAX);
    }

    fn columns(&mut self, columns: &[ColumnInfo]) {
        if self.is_cut_short {
            return;
        }
        self.go_on();
        let Sender { columns: sent, writer, .. } = &mut *self.sender;
        sent.begin(columns, self.text_bytes_max, writer);
        self.browsed(columns);
    }

    fn row(&mut self, row: &[Value]) {
        if self.is_cut_short {
            return;
        }
        // The writer takes back what it has written of a row that fails.
        if let Err(error) = self.sender.writer.row(self.sender.columns.current(), row) {
            self.cut_short(&error.to_sql_error());
        }
    }

    fn done(&mut self, done: Ended) {
        match (self.answering, done.kind) {
            // The end that the error was given stays the last.
            _ if self.is_cut_short => {}
            (Answering::Quiet, _) | (Answering::Procedure, EndedKind::Procedure) => {}
            (Answering::Batch, EndedKind::Procedure) => self.ended(DoneKind::Procedure, done),
            (Answering::Batch, _) => self.ended(DoneKind::Statement, done),
            (Answering::Text | Answering::Procedure, _) => self.ended(DoneKind::InProcedure, done),
        }
    }

    fn done_in_procedure(&mut self, done: Ended) {
        // The end of a call within a procedure is no statement's: that has none of its own.
        if !self.is_cut_short && self.answering != Answering::Quiet && done.kind != EndedKind::Procedure {
            self.ended(DoneKind::InProcedure, done);
        }
    }

    fn ended_without_count(&mut self, in_procedure: bool) {
        let kind = match self.answering {
            _ if self.is_cut_short => return,
            Answering::Quiet => return,
            Answering::Batch if !in_procedure => DoneKind::Statement,
            _ => DoneKind::InProcedure,
        };
        self.hold(kind, Done::new(Command::None));
    }

    fn assigned(&mut self, rows: u64, in_procedure: bool) {
        let kind = match self.answering {
            _ if self.is_cut_short => return,
            Answering::Quiet => return,
            Answering::Batch if !in_procedure => DoneKind::Statement,
            _ => DoneKind::InProcedure,
        };
        self.hold(kind, Done { rows: Some(rows), ..Done::new(Command::Select) });
    }

    fn message(&mut self, message: &SqlError) {
        let ends_statement = message.number == STATEMENT_TERMINATED;
        if ends_statement && self.end.is_some_and(|(_, done)| done.error) {
            return self.go_on_but_for_last(|reply| reply.sender.writer.message(message, reply.server_name));
        }
        self.go_on();
        self.sender.writer.message(message, self.server_name);
    }

    fn error(&mut self, error: &SqlError) {
        self.note(error);
        if error.number == CANCELLED {
            return;
        }
        if self.may_fail_more && self.end.is_some_and(|(_, done)| done.error) {
            // Another error of the same statement.
            return self.go_on_but_for_last(|reply| reply.sender.writer.message(error, reply.server_name));
        }
        self.go_on();
        self.sender.writer.message(error, self.server_name);
        let kind = match self.answering {
            Answering::Batch => DoneKind::Statement,
            Answering::Quiet => return,
            Answering::Text | Answering::Procedure => DoneKind::InProcedure,
        };
        self.end = Some((kind, Done { error: true, server_error: self.is_fatal, ..Done::new(Command::None) }));
        self.may_fail_more = true;
    }

    fn raised(&mut self, error: &SqlError, in_procedure: bool) {
        if self.answering == Answering::Batch && !in_procedure {
            return self.error(error);
        }
        self.note(error);
        self.raised = true;
        self.go_on();
        self.sender.writer.message(error, self.server_name);
    }

    fn failed(&mut self) {
        self.may_fail_more = false;
    }

    fn return_status(&mut self, status: i32) {
        match self.answering {
            Answering::Batch => {
                self.go_on();
                self.sender.writer.return_status(status);
            }
            _ => self.status = Some(status),
        }
    }

    fn push(&mut self) {
        self.pushes = true;
    }

    fn is_full(&self) -> bool {
        self.broken.is_none() && (self.pushes || self.sender.waiting() > WAITING_BYTES_MAX)
    }

    fn poll_room(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let mut left = WAITING_BYTES_LEFT;
        if self.pushes {
            self.sender.writer.push();
            left = 0;
        }
        match self.sender.poll_room(context, left) {
            Poll::Pending if !self.cancel.load(Ordering::Relaxed) => Poll::Pending,
            Poll::Pending | Poll::Ready(Ok(())) => {
                self.pushes = false;
                Poll::Ready(())
            }
            Poll::Ready(Err(error)) if error.kind() == io::ErrorKind::StorageFull => {
                self.cut_short(&SqlError::no_space_for_object("answers of a connection", TEMPDB, "PRIMARY"));
                Poll::Ready(())
            }
            Poll::Ready(Err(error)) => {
                self.broken = Some(error);
                self.cancel.store(true, Ordering::Relaxed);
                Poll::Ready(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::halves;
    use pikepole_tds::{MessageWriter, TdsVersion};
    use pikepole_types::Length;
    use tokio::net::{TcpListener, TcpStream};

    /// What a batch of one query with a column of varchar(1) is answered, without the packet's header.
    async fn answer(rows: &[&str]) -> Vec<u8> {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let socket = TcpStream::connect(listener.local_addr().expect("an address")).await.expect("a connection");
        let (_receiver, mut sender) = halves(socket, MessageWriter::new(TdsVersion::V7_4, 51));
        let cancel = AtomicBool::new(false);
        let mut reply = Reply::new(&mut sender, "server", &cancel, Answering::Batch);
        let column = ColumnInfo::new("c", SqlType::VarChar(Length::Limit(1)), true);
        reply.columns(&[column]);
        rows.iter().for_each(|row| reply.row(&[Value::from(*row)]));
        reply.done(Ended { kind: EndedKind::Select, rows: Some(rows.len() as u64) });
        reply.finish_batch();
        assert!(!reply.is_fatal());
        sender.writer.ready()[8..].to_vec()
    }

    #[test]
    fn assignments_end_as_selects_with_a_count_and_without_columns() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().expect("a runtime");
        let sent = runtime.block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
            let socket = TcpStream::connect(listener.local_addr().expect("an address")).await.expect("a connection");
            let (_receiver, mut sender) = halves(socket, MessageWriter::new(TdsVersion::V7_4, 51));
            let cancel = AtomicBool::new(false);
            let mut reply = Reply::new(&mut sender, "server", &cancel, Answering::Batch);
            reply.assigned(1, false);
            reply.assigned(3, false);
            reply.finish_batch();
            sender.writer.ready()[8..].to_vec()
        });
        let done = |more: u8, rows: u8| [0xFD, 0x10 | more, 0, 0xC1, 0, rows, 0, 0, 0, 0, 0, 0, 0];
        assert_eq!(sent, [done(1, 1), done(0, 3)].concat());
    }

    #[test]
    fn a_value_that_does_not_fit_ends_the_batch_and_not_the_connection() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().expect("a runtime");
        let (good, bad) = (runtime.block_on(answer(&["a"])), runtime.block_on(answer(&["a", "long", "b"])));
        // The same columns and first row, and nothing of the others.
        let behind_row = good.len() - 13;
        assert_eq!(good[..behind_row], bad[..behind_row]);
        let rest = &bad[behind_row..];
        let (error, done) = rest.split_at(rest.len() - 13);
        // ERROR: its length, number, state and severity.
        assert_eq!((error[0], usize::from(error[1]) + usize::from(error[2]) * 256), (0xAA, error.len() - 3));
        assert_eq!((&error[3..7], &error[7..9]), (&8630i32.to_le_bytes()[..], &[1, 16][..]));
        // DONE: that there was an error, and nothing more.
        assert_eq!(done[..3], [0xFD, 2, 0]);
    }
}
