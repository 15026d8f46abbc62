//! Requests: batches, procedure calls, transactions, attentions, and the reset that may come before them.

use crate::bulk::BulkStatement;
use crate::call_clock::Step;
use crate::connection::{Connection, Told};
use crate::cursors::Cursors;
use crate::incoming::{Broken, Incoming, Noticed};
use crate::reply::{Answering, Reply};
use hashbrown::{DefaultHashBuilder, HashMap};
use pikepole_contention::sync::atomic::{AtomicBool, Ordering};
use pikepole_engine::Acknowledge;
use pikepole_session::{Discard, Output as _, Prepared, PreparedHandle, Session, StateChange, TransactionMark};
use pikepole_tds::{
    EnvChange, Headers, Message, PacketKind, RpcMessage, SessionState, SqlBatch, TdsError, TransactionRequest,
    WireIsolation,
};
use pikepole_types::SqlError;
use pikepole_types::memory;
use std::future::{Future, poll_fn};
use std::hash::BuildHasher;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

/// The texts of what the session has prepared, with the programs that their last runs found.
#[derive(Default)]
pub(crate) struct Prepareds {
    by_handle: HashMap<i32, Prepared>,
    pub(crate) recent: RecentTexts,
}

/// What sp_executesql has run: a client that sends its statements so sends the same ones again and again.
#[derive(Default)]
pub(crate) struct RecentTexts {
    by_hash: HashMap<u64, Prepared>,
    /// Of all texts together.
    bytes: usize,
    hasher: DefaultHashBuilder,
}

/// Texts that are kept, and their bytes; beyond that it starts over.
const RECENT_TEXTS_MAX: usize = 64;
const RECENT_BYTES_MAX: usize = 64 << 10;

impl RecentTexts {
    /// Takes a text as it ran last, or as a new one, and what it is given back by.
    pub(crate) fn take(&mut self, text: &str, declarations: &str) -> (u64, Prepared) {
        let hash = self.hasher.hash_one((text, declarations));
        let known = self.by_hash.remove(&hash);
        if let Some(known) = &known {
            self.bytes -= bytes_of(known);
        }
        let same = known.filter(|known| known.text() == text && known.declarations() == declarations);
        (hash, same.unwrap_or_else(|| Prepared::new(text.to_string(), declarations.to_string())))
    }

    /// Keeps a text that has run.
    pub(crate) fn give(&mut self, hash: u64, prepared: Prepared) {
        let bytes = bytes_of(&prepared);
        if self.by_hash.len() >= RECENT_TEXTS_MAX || self.bytes + bytes > RECENT_BYTES_MAX {
            self.clear();
        }
        if bytes <= RECENT_BYTES_MAX {
            self.bytes += bytes;
            self.by_hash.insert(hash, prepared);
        }
    }

    fn clear(&mut self) {
        self.by_hash.clear();
        self.bytes = 0;
    }
}

fn bytes_of(prepared: &Prepared) -> usize {
    prepared.text().len() + prepared.declarations().len()
}

impl Prepareds {
    /// Keeps a statement; its handle.
    pub(crate) fn add(&mut self, prepared: Prepared, session: &mut Session) -> Result<i32, SqlError> {
        let (text, declarations) = (prepared.text().to_string(), prepared.declarations().to_string());
        let handle = session.prepared_mut().add(PreparedHandle::Text { text, declarations })?;
        self.by_handle.insert(handle, prepared);
        Ok(handle)
    }

    /// The statement of a handle: a text of the session may have prepared it, or given it back.
    pub(crate) fn get(&mut self, handle: i32, session: &Session) -> Result<&mut Prepared, SqlError> {
        match session.prepared().get(handle) {
            Ok(PreparedHandle::Text { text, declarations }) => {
                let new = || Prepared::new(text.clone(), declarations.clone());
                Ok(self.by_handle.entry(handle).or_insert_with(new))
            }
            Ok(PreparedHandle::Call(_)) => Err(SqlError::prepared_statement_unknown(handle)),
            Err(error) => {
                self.by_handle.remove(&handle);
                Err(error)
            }
        }
    }

    /// Forgets a statement.
    pub(crate) fn remove(&mut self, handle: i32, session: &mut Session) -> Result<(), SqlError> {
        self.by_handle.remove(&handle);
        session.prepared_mut().remove(handle)
    }

    fn clear(&mut self) {
        self.by_handle.clear();
        self.recent.clear();
    }
}

/// The procedure that a handle calls; none when it is a statement's, or nobody's.
pub(crate) fn called(handle: i32, session: &Session) -> Option<&str> {
    match session.prepared().get(handle) {
        Ok(PreparedHandle::Call(procedure)) => Some(procedure),
        _ => None,
    }
}

/// How a watched request ended, beside what it says itself.
#[derive(Debug, Default)]
pub(crate) struct Watched {
    /// The client has taken it back.
    pub(crate) attention: bool,
    /// The client has gone.
    pub(crate) gone: Option<Broken>,
}

/// Runs a request, and sets the cancel switch when the client sends an attention or goes away.
pub(crate) async fn watch<T>(
    work: impl Future<Output = T>,
    incoming: &mut Incoming,
    cancel: &AtomicBool,
) -> (T, Watched) {
    let mut work = pin!(work);
    let mut watched = Watched::default();
    let value = poll_fn(|context| {
        if let Poll::Ready(value) = work.as_mut().poll(context) {
            return Poll::Ready(value);
        }
        if watched.attention || watched.gone.is_some() {
            return Poll::Pending;
        }
        match incoming.poll_attention(context) {
            Poll::Pending => return Poll::Pending,
            // A client may send what brings these without an end: others of the scheduler run in between.
            Poll::Ready(Ok(Noticed::Change)) => {
                context.waker().wake_by_ref();
                return Poll::Pending;
            }
            Poll::Ready(Ok(Noticed::Attention)) => watched.attention = true,
            Poll::Ready(Err(broken)) => watched.gone = Some(broken),
        }
        cancel.store(true, Ordering::Relaxed);
        // What it waits for may look at the switch.
        work.as_mut().poll(context)
    })
    .await;
    (value, watched)
}

impl Connection {
    /// Answers a request; its buffer, to be used again.
    pub(crate) async fn answer(&mut self, message: Message) -> Result<Vec<u8>, Broken> {
        if message.is_ignored {
            self.acknowledge_ignored();
            return Ok(message.data);
        }
        if message.kind != PacketKind::BulkLoad {
            self.abandon_bulk().await;
        }
        let takes_reset =
            matches!(message.kind, PacketKind::SqlBatch | PacketKind::Rpc | PacketKind::TransactionManager);
        if takes_reset && message.first_status.resets_connection() {
            self.reset(message.first_status.keeps_transaction()).await;
        }
        let answered = match message.kind {
            PacketKind::SqlBatch => self.answer_batch(&message.data).await,
            PacketKind::Rpc => self.answer_calls(&message.data).await,
            PacketKind::TransactionManager => self.answer_transaction(&message.data).await,
            PacketKind::Attention => {
                self.sender.writer.done(pikepole_tds::DoneKind::Statement, &pikepole_tds::Done::attention());
                self.sender.writer.finish();
                Ok(())
            }
            PacketKind::BulkLoad => self.answer_bulk(&message.data, message.is_end).await,
            other => Err(TdsError::Malformed(format!("A message of the kind {other:?} is no request")).into()),
        };
        match answered {
            Ok(()) => Ok(message.data),
            Err(Broken::Protocol(error)) => {
                let told = error.to_sql_error();
                if error.breaks_connection() {
                    self.tell_and_end(&told).await?;
                    return Err(Broken::Protocol(error));
                }
                self.answer_error(&told);
                Ok(message.data)
            }
            Err(broken) => Err(broken),
        }
    }

    /// A request that the client took back while it was sending it.
    fn acknowledge_ignored(&mut self) {
        let done = pikepole_tds::Done { error: true, ..pikepole_tds::Done::new(pikepole_tds::Command::None) };
        self.sender.writer.done(pikepole_tds::DoneKind::Statement, &done);
        self.sender.writer.finish();
    }

    /// A connection with MARS has requests within its transaction and none beside it.
    ///
    /// # Errors
    /// 3989 for a request that does not name the open transaction, 3971 for one that names another.
    fn check_transaction(&self, headers: &Headers) -> Result<(), SqlError> {
        let open = self.session.transaction_mark().open;
        match (&self.mars, headers.transaction) {
            (Some(_), 0) if open != 0 => Err(SqlError::transaction_descriptor_needed()),
            (Some(_), named) if named != 0 && named != open => {
                Err(SqlError::transaction_not_resumed(format!("{named:x}")))
            }
            _ => Ok(()),
        }
    }

    /// Answers a request with nothing but an error.
    fn answer_error(&mut self, error: &SqlError) {
        let cancel = self.session.cancel_switch();
        let mut reply = Reply::new(&mut self.sender, self.shared.registry.server_name(), &cancel, Answering::Batch);
        reply.say(error);
        reply.finish_batch();
    }

    /// The switch that ends a request, ready for the next one.
    pub(crate) fn clear_cancel(&self) -> Arc<AtomicBool> {
        let cancel = self.session.cancel_switch();
        cancel.store(false, Ordering::Relaxed);
        // A kill sets the switch last, so it is not lost here; at the worst this request still ends by itself.
        if self.session.is_killed() {
            cancel.store(true, Ordering::Relaxed);
        }
        cancel
    }

    /// Makes the session as it was after its login.
    pub(crate) async fn reset(&mut self, keep_transaction: bool) {
        let before = self.session.transaction_mark();
        self.prepared.clear();
        self.cursors = Cursors::default();
        let done = self.session.reset(keep_transaction).await;
        let writer = &mut self.sender.writer;
        writer.env_change(&EnvChange::ResetConnection);
        if before.open > 0 && self.session.transaction_mark().open == 0 {
            writer.env_change(&EnvChange::Rollback(before.open));
        }
        if let Err(error) = done {
            writer.message(&error, self.shared.registry.server_name());
        }
        tell_surroundings(&self.session, &mut self.told, |change| writer.env_change(change));
        // The client knows what it had to begin with.
        if let Some(known) = &mut self.told.state {
            known.state = self.session.recoverable_state().holding(false);
        }
    }

    async fn answer_batch(&mut self, data: &[u8]) -> Result<(), Broken> {
        if let Err(error) = memory::ask(data.len()) {
            self.answer_error(&error);
            return Ok(());
        }
        let batch = SqlBatch::parse(data, self.version)?;
        match BulkStatement::parse(&batch.text) {
            None => {}
            Some(Ok(statement)) => {
                self.begin_bulk(statement);
                return Ok(());
            }
            Some(Err(error)) => {
                self.answer_error(&error);
                return Ok(());
            }
        }
        if let Err(error) = self.check_transaction(&batch.headers) {
            self.answer_error(&error);
            return Ok(());
        }
        let before = self.session.transaction_mark();
        let cancel = self.clear_cancel();
        let is_mars = self.mars.is_some();
        let mut reply = Reply::new(&mut self.sender, self.shared.registry.server_name(), &cancel, Answering::Batch);
        let (session, incoming) = (&mut self.session, &mut self.incoming);
        self.clock.step(Step::Run);
        let ((), watched) = watch(session.run(&batch.text, &mut [], &mut reply), incoming, &cancel).await;
        self.clock.step(Step::Answer);
        if is_mars {
            end_batch_transaction(session, before, &mut reply).await;
        }
        tell_changes(&mut reply, session, before, &mut self.told);
        tell_state(&mut reply, session, &self.cursors, &mut self.told);
        tell_end(&mut reply, session, self.shared.is_closing());
        conclude(reply, watched, Reply::finish_batch)
    }

    async fn answer_calls(&mut self, data: &[u8]) -> Result<(), Broken> {
        if let Err(error) = memory::ask(data.len().saturating_mul(2)) {
            self.answer_error(&error);
            return Ok(());
        }
        let page = self.session.collation().code_page();
        let room = std::mem::take(&mut self.room);
        let mut calls = RpcMessage::parse(data, self.version, &self.limits)?.in_page(page).into_room(room.parameters);
        self.room.arguments = room.arguments;
        if let Err(error) = self.check_transaction(&calls.headers) {
            self.answer_error(&error);
            return Ok(());
        }
        let mut has_answered = false;
        let mut together = None;
        loop {
            match calls.next_call() {
                Ok(None) => return self.harden().await,
                Ok(Some(mut call)) => {
                    has_answered = true;
                    let more = !calls.is_last();
                    // The last one waits for itself, and with that for those before it.
                    let promises = more && *together.get_or_insert_with(|| self.acknowledges_together());
                    let goes_on = self.answer_call(&mut call, more, promises).await?;
                    if !more {
                        self.room.parameters = call.parameters.into();
                    }
                    if !goes_on {
                        return self.harden().await;
                    }
                }
                // The calls before have been answered; the error belongs to this one.
                Err(error) if has_answered && !error.breaks_connection() => {
                    self.answer_error(&error.to_sql_error());
                    return self.harden().await;
                }
                Err(error) => {
                    self.harden().await?;
                    return Err(error.into());
                }
            }
        }
    }

    /// Whether calls that came in one message are made durable together.
    fn acknowledges_together(&self) -> bool {
        self.shared.server.acknowledge() == Acknowledge::Message
    }

    /// Waits until the commits of all calls that have been answered are durable; the answers leave after that. If the log
    /// fails they never do: the client cannot know then what became of its calls, as after a crash.
    pub(crate) async fn harden(&mut self) -> Result<(), Broken> {
        self.session.promise_commits(false);
        if let Err(error) = self.session.harden().await {
            self.sender.forget_answers();
            self.tell_and_end(&error).await?;
            return Err(Broken::Closed);
        }
        Ok(())
    }

    async fn answer_transaction(&mut self, data: &[u8]) -> Result<(), Broken> {
        let (headers, request) = TransactionRequest::parse(data, self.version)?;
        if let Err(error) = self.check_transaction(&headers) {
            self.answer_error(&error);
            return Ok(());
        }
        let before = self.session.transaction_mark();
        let cancel = self.clear_cancel();
        let mut reply = Reply::new(&mut self.sender, self.shared.registry.server_name(), &cancel, Answering::Quiet);
        let (session, incoming) = (&mut self.session, &mut self.incoming);
        let work = async {
            for text in statements(&request) {
                session.run(&text, &mut [], &mut reply).await;
                if reply.has_failed() {
                    return;
                }
            }
        };
        self.clock.step(Step::Run);
        let ((), watched) = watch(work, incoming, &cancel).await;
        self.clock.step(Step::Answer);
        tell_changes(&mut reply, session, before, &mut self.told);
        tell_state(&mut reply, session, &self.cursors, &mut self.told);
        tell_end(&mut reply, session, self.shared.is_closing());
        conclude(reply, watched, Reply::finish_batch)
    }
}

/// Tells a client why its request was cut short, when its session was killed or the server ends; the connection ends with the answer.
pub(crate) fn tell_end(reply: &mut Reply<'_>, session: &Session, is_closing: bool) {
    if session.is_killed() && !is_closing {
        let text = "Cannot continue the execution because the session is in the kill state.";
        reply.error(&SqlError::new(596, 21, 1, text));
    } else if is_closing && reply.is_given_up() {
        reply.message(&SqlError::new(6005, 10, 1, "SHUTDOWN is in progress."));
    }
}

/// Ends a reply, as the client waits for it.
pub(crate) fn conclude<'a>(
    mut reply: Reply<'a>,
    watched: Watched,
    finish: impl FnOnce(&mut Reply<'a>),
) -> Result<(), Broken> {
    if let Some(broken) = watched.gone {
        return Err(broken);
    }
    if let Some(error) = reply.broken() {
        return Err(error.into());
    }
    if watched.attention {
        reply.finish_attention();
    } else {
        finish(&mut reply);
    }
    if reply.is_fatal() {
        // What was said is sent before the connection is closed.
        return Err(Broken::Closed);
    }
    Ok(())
}

/// A transaction that a text has begun on a connection with MARS ends with the text: other requests could not say whether they are in it.
pub(crate) async fn end_batch_transaction(session: &mut Session, before: TransactionMark, reply: &mut Reply<'_>) {
    if before.open == 0 && session.transaction_mark().open != 0 {
        session.run("ROLLBACK TRANSACTION", &mut [], &mut Discard).await;
        reply.say(&SqlError::transaction_of_mars_batch());
    }
}

/// Tells the client which transactions have ended and begun, and which database and language are the current ones now.
pub(crate) fn tell_changes(reply: &mut Reply<'_>, session: &Session, before: TransactionMark, told: &mut Told) {
    let now = session.transaction_mark();
    if before.open != now.open {
        if before.open > 0 {
            reply.changed(&match now.was_committed {
                true => EnvChange::Commit(before.open),
                false => EnvChange::Rollback(before.open),
            });
        }
        if now.open > 0 {
            reply.changed(&EnvChange::Begin(now.open));
        }
    }
    tell_surroundings(session, told, |change| reply.changed(change));
}

/// Tells a client that may have to recover its session what has changed of it; the answer's end is to follow.
pub(crate) fn tell_state(reply: &mut Reply<'_>, session: &Session, cursors: &Cursors, told: &mut Told) {
    let Some(known) = &mut told.state else { return };
    let mut now = session.recoverable_state();
    if !cursors.is_empty() {
        now = now.holding(true);
    }
    // A client that is told of the last number recovers nothing any more; the number does not go round.
    if let Some(change) = now.change_since(&known.state).filter(|_| known.sequence < u32::MAX) {
        let StateChange { recoverable, states } = change;
        reply.state_changed(SessionState { sequence: known.sequence, recoverable, states });
        known.sequence += 1;
        known.state = now;
    }
}

/// Tells of a database, collation or language that the client does not know to be the session's.
fn tell_surroundings(session: &Session, told: &mut Told, mut tell: impl FnMut(&EnvChange<'_>)) {
    let (database, language, collation) = (session.database_name(), session.language().name, session.collation());
    if database != told.database {
        tell(&EnvChange::Database { new: database, old: &told.database });
        told.database = database.to_string();
    }
    if collation != told.collation {
        tell(&EnvChange::Collation { new: collation, old: Some(told.collation) });
        told.collation = collation;
    }
    if language != told.language {
        tell(&EnvChange::Language { new: language, old: told.language });
        told.language = language;
    }
}

/// A transaction request in statements.
fn statements(request: &TransactionRequest) -> Vec<String> {
    match request {
        TransactionRequest::Begin { isolation, name } => begin(*isolation, name),
        TransactionRequest::Commit { then, .. } => ended("COMMIT TRANSACTION".to_string(), then.as_ref()),
        TransactionRequest::Rollback { name, then } => {
            ended(format!("ROLLBACK TRANSACTION{}", quoted(name)), then.as_ref())
        }
        TransactionRequest::Save { name } => vec![format!("SAVE TRANSACTION{}", quoted(name))],
    }
}

fn ended(statement: String, then: Option<&(WireIsolation, String)>) -> Vec<String> {
    let mut statements = vec![statement];
    if let Some((isolation, name)) = then {
        statements.extend(begin(*isolation, name));
    }
    statements
}

fn begin(isolation: WireIsolation, name: &str) -> Vec<String> {
    let level = match isolation {
        WireIsolation::Unchanged => None,
        WireIsolation::ReadUncommitted => Some("READ UNCOMMITTED"),
        WireIsolation::ReadCommitted => Some("READ COMMITTED"),
        WireIsolation::RepeatableRead => Some("REPEATABLE READ"),
        WireIsolation::Serializable => Some("SERIALIZABLE"),
        WireIsolation::Snapshot => Some("SNAPSHOT"),
    };
    let mut statements = Vec::new();
    statements.extend(level.map(|level| format!("SET TRANSACTION ISOLATION LEVEL {level}")));
    statements.push(format!("BEGIN TRANSACTION{}", quoted(name)));
    statements
}

/// A name as a delimited identifier behind a space; nothing for none.
fn quoted(name: &str) -> String {
    if name.is_empty() { String::new() } else { format!(" [{}]", name.replace(']', "]]")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transaction_requests_are_statements() {
        let isolation = WireIsolation::Snapshot;
        let texts = statements(&TransactionRequest::Begin { isolation, name: "a]b".to_string() });
        assert_eq!(texts, ["SET TRANSACTION ISOLATION LEVEL SNAPSHOT", "BEGIN TRANSACTION [a]]b]"]);
        let then = Some((WireIsolation::Unchanged, String::new()));
        let texts = statements(&TransactionRequest::Rollback { name: "s".to_string(), then });
        assert_eq!(texts, ["ROLLBACK TRANSACTION [s]", "BEGIN TRANSACTION"]);
    }
}
