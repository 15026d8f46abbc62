//! Requests beside batches: calls of parameterized texts, and the reset of a pooled connection.

use crate::options::ClientOptions;
use crate::session::{Session, Watched};
use crate::session_context::SessionContext;
use pikepole_query::{
    Argument, ClientCursor, CursorWish, ExecutionContext, Output, Prepared, PreparedHandles, RowTarget,
};
use pikepole_types::{Collation, Language, SqlError, SqlType, Value};
use std::ops::Range;
use std::sync::Arc;
use std::task::{Context, Poll};

/// How a session's transactions stand, for clients that are told when one begins or ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TransactionMark {
    /// The number of the open transaction, counted from 1 within the session; 0 without one.
    pub open: u64,
    /// Whether the transaction that ended last was committed.
    pub was_committed: bool,
}

impl Session {
    /// Calls a text with arguments, as sp_executesql does; see [`pikepole_query::call`]. The result is the return status.
    ///
    /// # Errors
    /// The error that ended it, after it went to `output`.
    pub async fn call(
        &mut self,
        prepared: &mut Prepared,
        arguments: &mut [Argument],
        output: &mut dyn Output,
    ) -> Result<i32, SqlError> {
        let mut watched = Watched::new(output);
        self.request_begins();
        let (context, host) = self.parts();
        host.prepare_for_call(prepared).await;
        let result = if host.options.allows_running(prepared.text(), context, &mut watched) {
            pikepole_scheduler::set_command(crate::session::RUNNING);
            pikepole_query::call(prepared, arguments, context, host, &mut watched).await
        } else {
            Ok(0)
        };
        self.request_ends(watched.errors, watched.rows);
        result
    }

    /// Calls a text that is one query over the rows of one table and reads them into a cursor of this name; none if it is over something
    /// else; see [`pikepole_query::open_cursor`].
    ///
    /// # Errors
    /// The error that ended it, after it went to `output`.
    pub async fn open_cursor(
        &mut self,
        name: &str,
        wish: CursorWish,
        prepared: &mut Prepared,
        arguments: &mut [Argument],
        output: &mut dyn Output,
    ) -> Result<Option<ClientCursor>, SqlError> {
        let mut watched = Watched::new(output);
        self.request_begins();
        let (context, host) = self.parts();
        host.prepare_for_call(prepared).await;
        pikepole_scheduler::set_command(crate::session::RUNNING);
        let result = pikepole_query::open_cursor(name, wish, prepared, arguments, context, host, &mut watched).await;
        let rows = result.iter().flatten().map(|cursor| cursor.rows.len() as u64).sum();
        self.request_ends(watched.errors, rows);
        result
    }

    /// Reads rows of a cursor again; see [`pikepole_query::read_cursor_again`].
    ///
    /// # Errors
    /// The error that ended it, after it went to `output`.
    pub async fn read_cursor_again(
        &mut self,
        name: &str,
        rows: Range<usize>,
        output: &mut dyn Output,
    ) -> Result<Vec<Vec<Value>>, SqlError> {
        let (context, host) = self.parts();
        pikepole_query::read_cursor_again(name, rows, context, host, output).await
    }

    /// Runs the query of a dynamic cursor again; see [`pikepole_query::refill_cursor`].
    ///
    /// # Errors
    /// The error that ended it, after it went to `output`.
    pub async fn refill_cursor(
        &mut self,
        name: &str,
        buffer: Range<usize>,
        output: &mut dyn Output,
    ) -> Result<(Vec<Vec<Value>>, Range<usize>), SqlError> {
        let (context, host) = self.parts();
        pikepole_query::refill_cursor(name, buffer, context, host, output).await
    }

    /// How many rows a cursor has that was opened so, with those that have been written through it and are behind the others.
    pub fn cursor_rows(&mut self, cursor: &str) -> usize {
        self.parts().0.cursor_rows(cursor)
    }

    /// Calls a text as [`Session::call`] does, which inserts a row through a cursor that was opened so.
    ///
    /// # Errors
    /// As of [`Session::call`].
    pub async fn insert_through(
        &mut self,
        cursor: &str,
        prepared: &mut Prepared,
        arguments: &mut [Argument],
        output: &mut dyn Output,
    ) -> Result<i32, SqlError> {
        self.parts().0.insert_through(Some(cursor));
        let result = self.call(prepared, arguments, output).await;
        self.parts().0.insert_through(None);
        result
    }

    /// How many bytes of long values clients are sent: SET TEXTSIZE.
    pub fn text_size(&self) -> i32 {
        self.context().settings.text_size
    }

    /// A cursor that was opened so stands on this row, counted from zero, from now on, or on none: WHERE CURRENT OF changes it.
    pub fn stand_on(&mut self, cursor: &str, row: Option<usize>) {
        self.parts().0.stand_on(cursor, row);
    }

    /// Texts find a cursor that was opened so by this name from now on.
    ///
    /// # Errors
    /// As [`pikepole_query::ExecutionContext::name_cursor`].
    pub fn name_cursor(&mut self, cursor: &str, name: &str) -> Result<(), SqlError> {
        self.parts().0.name_cursor(cursor, name)
    }

    /// Forgets a cursor that was opened so.
    pub fn drop_cursor(&mut self, name: &str) {
        self.parts().0.drop_cursor(name);
    }

    /// Inserts rows that a client loads.
    ///
    /// # Errors
    /// As [`pikepole_query::insert_rows`].
    pub async fn insert_rows(
        &mut self,
        target: &RowTarget,
        rows: Vec<Vec<Value>>,
        output: &mut dyn Output,
    ) -> Result<u64, SqlError> {
        let mut watched = Watched::new(output);
        self.request_begins();
        let (context, host) = self.parts();
        pikepole_scheduler::set_command("BULK INSERT");
        let result = pikepole_query::insert_rows(target, rows, context, host, &mut watched).await;
        self.request_ends(watched.errors, watched.rows);
        result
    }

    /// What has been prepared, by its handle.
    pub fn prepared(&self) -> &PreparedHandles {
        &self.context().prepared
    }

    /// The same, to be added to.
    pub fn prepared_mut(&mut self) -> &mut PreparedHandles {
        &mut self.parts().0.prepared
    }

    /// Compiles a text, as sp_prepare does.
    ///
    /// # Errors
    /// As [`pikepole_query::prepare`].
    pub fn compile(&mut self, prepared: &mut Prepared) -> Result<(), Vec<SqlError>> {
        let (context, host) = self.parts();
        prepared.program(context, host).map(|_| ())
    }

    /// Compiles a text and says the names and types of its parameters, and which of them are declared OUTPUT.
    ///
    /// # Errors
    /// As [`pikepole_query::prepare`].
    pub fn parameters_of(&mut self, prepared: &mut Prepared) -> Result<Vec<(String, SqlType, bool)>, Vec<SqlError>> {
        let (context, host) = self.parts();
        prepared.parameters(context, host)
    }

    /// What converts values as the session's settings say.
    pub fn conversions(&mut self) -> pikepole_types::Context {
        self.parts().0.function_context()
    }

    /// Rolls the open transaction back, if there is one. No cancel stops it.
    pub async fn roll_back(&mut self) {
        let (context, host) = self.parts();
        if context.state.transaction_count > 0 {
            context.roll_back_all().await;
            host.cell.show_transaction(context);
        }
    }

    /// Whether a text is one query and nothing else, as a server-side cursor wants it. It is compiled for that.
    ///
    /// # Errors
    /// As [`pikepole_query::prepare`].
    pub fn is_one_query(&mut self, prepared: &mut Prepared) -> Result<bool, Vec<SqlError>> {
        let (context, host) = self.parts();
        prepared.program(context, host).map(|program| program.is_one_query())
    }

    /// Makes the session as it was after its login, for the next user of a pooled connection; an open transaction is rolled
    /// back unless it is kept.
    ///
    /// # Errors
    /// 911, 926: the database of the login is not there any more; 916, 923, 924: the session may not be in it now.
    pub async fn reset(&mut self, keep_transaction: bool) -> Result<(), SqlError> {
        let (first_database, plans) = (self.first_database.clone(), Arc::clone(self.host.registry.plans()));
        let settings = self.first_settings.clone();
        let (context, host) = self.parts();
        context.harden().await?;
        let transaction_kept = keep_transaction && context.state.transaction_count > 0;
        if transaction_kept {
            context.prepared = PreparedHandles::default();
            context.drop_cursors();
        } else {
            context.roll_back_all().await;
            let database = host.server.database(&first_database)?;
            let _admission = database.admit(host.session_id)?;
            let (cancelled, begun) = (Arc::clone(&context.cancelled), context.state.transactions_begun);
            let mut fresh = ExecutionContext::new(Arc::clone(&host.server), database, host.session_id, plans);
            fresh.log_in(context.security().login().clone())?;
            fresh.cancelled = cancelled;
            fresh.progress = Arc::clone(host.cell.progress());
            fresh.activity = Arc::clone(host.cell.activity());
            fresh.state.transactions_begun = begun;
            *context = fresh;
        }
        context.settings = settings;
        host.options = ClientOptions::default();
        context.deadlock_priority = 0;
        host.trace_flags.clear();
        host.session_context = SessionContext::default();
        host.cell.show_transaction(context);
        host.cell.show_settings(context, &host.options);
        Ok(())
    }

    /// From now on commits return before they are durable, or no longer do: for calls that are answered together.
    /// [`Session::harden`] is to follow before any of the answers leaves.
    pub fn promise_commits(&mut self, promises: bool) {
        self.parts().0.promise_commits(promises);
    }

    /// Waits until what was promised is durable.
    ///
    /// # Errors
    /// 9001 when the log failed: then nobody may be told of commits since the last call that went well.
    pub async fn harden(&mut self) -> Result<(), SqlError> {
        self.parts().0.harden().await
    }

    /// Whether an error has ended the batch or call that ran last, and with it the calls that were to follow in its message.
    pub fn was_batch_aborted(&self) -> bool {
        self.context().state.batch_aborted
    }

    /// Ticks that texts have been compiled since this was asked for last, or looked up among those that have been.
    pub fn take_compile_ticks(&mut self) -> u64 {
        std::mem::take(self.parts().0.compile_ticks.get_mut())
    }

    /// The name of the current database.
    pub fn database_name(&self) -> &str {
        self.context().database().name()
    }

    /// The collation of the current database.
    pub fn collation(&self) -> Collation {
        self.context().database().options().collation
    }

    /// The language.
    pub fn language(&self) -> &'static Language {
        self.context().settings.language
    }

    /// How the transactions stand.
    pub fn transaction_mark(&self) -> TransactionMark {
        let state = &self.context().state;
        let open = if state.transaction_count > 0 { state.transactions_begun } else { 0 };
        TransactionMark { open, was_committed: state.was_committed }
    }

    /// Whether another session has killed this one. The batch under way ends as a cancelled one.
    pub fn is_killed(&self) -> bool {
        self.host.cell.kill_switch().is_killed()
    }

    /// Ready when the session is to end, once no request runs: it was killed, or its server shuts down.
    pub fn poll_end(&self, context: &mut Context<'_>) -> Poll<()> {
        self.host.cell.kill_switch().poll(context)
    }
}
