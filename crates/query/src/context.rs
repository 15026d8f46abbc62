//! What a session carries from statement to statement: its database, transaction, settings, globals and caches.

mod changed;
mod cursors;
mod memory;
mod promise;

use std::future::Future;
use std::sync::Arc;

use crate::access::{CatalogStamp, CatalogView, OtherStamp, Stop};
use crate::activity::Activity;
use crate::application_lock::ApplicationLocks;
use crate::bulk::{FormatFiles, ReadAhead};
use crate::cache::PlanCache;
use crate::ddl::TemporaryProcedures;
use crate::executor::spill::Budget;
use crate::expression::Fault;
use crate::held::Held;
use crate::host::{Host, HostFuture};
use crate::prepared_handles::PreparedHandles;
use crate::procedural::{CallRoom, Cursors, SpareFrames};
use crate::program::CompileContext;
use crate::progress::Progress;
use crate::security::SessionSecurity;
use crate::settings::{Isolation, Settings};
use crate::state::SessionState;
pub(crate) use memory::relieve;
use pikepole_contention::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use pikepole_engine::{
    Catalog, Database, Durability, MASTER, Mark, Module, Need, Server, Transaction, UserMessage, awaited,
};
use pikepole_scheduler::{self as scheduler, Placement, TaskInfo};
use pikepole_types::{Context, DateTime2, SqlError};
use promise::Promise;

/// A savepoint of the open transaction.
struct Savepoint {
    name: String,
    mark: Mark,
}

/// A statement that waits while its triggers run.
pub(crate) struct OuterStatement {
    mark: Option<Mark>,
    transactions_ended: u64,
}

/// The context of one session.
pub struct ExecutionContext {
    server: Arc<Server>,
    database: Arc<Held<Database>>,
    pub(crate) transaction: Transaction,
    pub(crate) application_locks: ApplicationLocks,
    /// The SET options.
    pub settings: Settings,
    /// The globals.
    pub state: SessionState,
    /// The compiled texts and procedures, shared by the sessions of a server.
    pub plans: Arc<PlanCache>,
    /// Set by whoever wants the running batch to end (ATTENTION, KILL).
    pub cancelled: Arc<AtomicBool>,
    /// What the session runs.
    pub activity: Arc<Activity>,
    /// How far a load of the running batch is.
    pub progress: Arc<Progress>,
    /// The format files of the statement that is being bound.
    pub(crate) format_files: Arc<FormatFiles>,
    /// What its statements may keep in memory.
    pub(crate) budget: Arc<Budget>,
    /// Bytes of the heap that its task had when the running statement began.
    heap_before: i64,
    pub(crate) spare_frames: SpareFrames,
    pub(crate) call_room: CallRoom,
    /// Counts the turns in which native code runs; see `procedural::short`.
    pub(crate) native_turn: u64,
    /// Ticks that texts have been compiled, or looked up, since somebody took them.
    pub compile_ticks: AtomicU64,
    /// The table with IDENTITY_INSERT ON: its database, object id and name.
    pub(crate) identity_insert: Option<(i32, i32, String)>,
    /// The cursors that the session has declared.
    pub(crate) cursors: Cursors,
    /// The cursor of a client whose row the batch inserts.
    pub(crate) inserts_through: Option<Arc<str>>,
    pub(crate) temporary_procedures: TemporaryProcedures,
    /// What has been prepared for later calls.
    pub prepared: PreparedHandles,
    /// The objects `##t` that the session has made.
    globals_made: Vec<i32>,
    savepoints: Vec<Savepoint>,
    transaction_name: Option<String>,
    /// See [`ExecutionContext::transaction_time`].
    transaction_time: Option<DateTime2>,
    statement: Option<Mark>,
    /// Whether commits return before they are durable.
    promises: bool,
    /// What the session still has to wait for.
    promise: Option<Promise>,
    /// How many functions are running for the statement: theirs are parts of it.
    pub(crate) functions: u32,
    /// Rows changed by statements that have ended, and not counted yet: see [`ExecutionContext::count_rows_changed`].
    pub(crate) rows_changed: u64,
    /// How many transactions have ended.
    transactions_ended: u64,
    random_seed: u128,
    /// Where the last batch left RAND.
    pub(crate) rand_state: Option<[u32; 2]>,
    pub(crate) security: SessionSecurity,
    /// The EXECUTE AS that were in force when the running procedure or text was entered: REVERT does not end them.
    pub(crate) impersonations_below: usize,
    /// The running module acts for another, by its own EXECUTE AS: that is the last of those below.
    pub(crate) module_acts: bool,
    /// `CONTEXT_INFO()`.
    pub context_info: Option<Vec<u8>>,
    /// DEADLOCK_PRIORITY, -10 to 10.
    pub deadlock_priority: i32,
    /// The batch that runs is a client's call of a procedure. The variables at these places are passed as the parameters' own defaults,
    /// and get what the procedure leaves in these all the same, for which T-SQL has no words.
    pub client_call: Option<Vec<usize>>,
}

impl ExecutionContext {
    /// The context of a new session that uses `database`.
    pub fn new(
        server: Arc<Server>,
        database: Arc<Database>,
        session_id: i32,
        plans: Arc<PlanCache>,
    ) -> ExecutionContext {
        database.enter();
        ExecutionContext {
            security: SessionSecurity::of_sa(&database),
            impersonations_below: 1,
            module_acts: false,
            transaction: database.transaction(session_id),
            application_locks: ApplicationLocks::default(),
            database: Held::new(&database),
            settings: Settings::default(),
            state: SessionState::new(session_id),
            plans,
            cancelled: Arc::new(AtomicBool::new(false)),
            activity: Arc::default(),
            progress: Arc::default(),
            format_files: Arc::default(),
            budget: Budget::new(&server, session_id),
            heap_before: 0,
            spare_frames: SpareFrames::default(),
            call_room: CallRoom::default(),
            native_turn: 0,
            compile_ticks: AtomicU64::new(0),
            identity_insert: None,
            cursors: Cursors::default(),
            inserts_through: None,
            client_call: None,
            temporary_procedures: TemporaryProcedures::default(),
            prepared: PreparedHandles::default(),
            globals_made: Vec::new(),
            savepoints: Vec::new(),
            transaction_name: None,
            transaction_time: None,
            statement: None,
            promises: false,
            promise: None,
            functions: 0,
            rows_changed: 0,
            transactions_ended: 0,
            random_seed: random_seed(session_id),
            rand_state: None,
            context_info: None,
            deadlock_priority: 0,
            server,
        }
    }

    /// The server.
    pub fn server(&self) -> &Arc<Server> {
        &self.server
    }

    /// The current database.
    pub fn database(&self) -> &Arc<Database> {
        &self.database
    }

    /// The same for a frame, which goes back to it.
    pub(crate) fn hold_database(&self) -> Arc<Held<Database>> {
        Arc::clone(&self.database)
    }

    /// The session's transaction in the current database.
    pub fn transaction(&mut self) -> &mut Transaction {
        &mut self.transaction
    }

    /// The database and the transaction, for calls that need both.
    #[inline]
    pub(crate) fn engine(&mut self) -> (&Database, &mut Transaction) {
        (&self.database, &mut self.transaction)
    }

    /// The definitions the session sees.
    pub fn catalog(&self) -> CatalogView {
        self.catalog_alone().with_temporary(self.transaction.temporary_tables(), self.state.nest_level)
    }

    /// The definitions without the session's temporary tables.
    fn catalog_alone(&self) -> CatalogView {
        let catalog = self.database.catalog(&self.transaction);
        let changed = self.transaction.changed_elsewhere().map(|(id, catalog)| (id, Arc::clone(catalog)));
        let view = CatalogView::new(&self.server, Arc::clone(self.database()), catalog, changed.collect());
        view.with_format_files(&self.format_files)
            .with_default_schema(self.default_schema())
            .with_nulls(self.settings.ansi_nulls)
            .with_browsing(self.settings.browses)
    }

    /// The schema that the session's user makes objects in and looks names up in first; None: `dbo`.
    pub fn default_schema(&self) -> Option<Arc<str>> {
        let own = self.token().user().default_schema.as_deref()?;
        (!own.eq_ignore_ascii_case("dbo")).then(|| own.into())
    }

    /// The definitions of any database, those among them that the session's transaction has changed and not committed.
    pub fn definitions_of(&self, database: &Arc<Database>) -> Arc<Catalog> {
        if Arc::ptr_eq(database, self.database()) {
            return self.database.catalog(&self.transaction);
        }
        let changed = self.transaction.changed_elsewhere().find(|(id, _)| *id == database.id());
        changed.map_or_else(|| database.current_catalog(), |(_, catalog)| Arc::clone(catalog))
    }

    /// The message that users have added to the server under this number.
    pub fn user_message(&self, number: i32) -> Option<UserMessage> {
        let master = self.server.database(MASTER).ok()?;
        self.definitions_of(&master).message(number).cloned()
    }

    /// Whether the catalogs of other databases still have the versions that a plan was bound against.
    pub(crate) fn others_fit(&self, others: &[OtherStamp]) -> bool {
        others.iter().all(|(id, version)| {
            let changed = self.transaction.changed_elsewhere().find(|(changed, _)| changed == id);
            let now = match changed {
                Some((_, catalog)) => Some(catalog.version()),
                None => self.server.database_by_id(*id).map(|database| database.committed_version()),
            };
            now == Some(*version)
        })
    }

    /// The statement to come reads or changes tables of these databases too.
    ///
    /// # Errors
    /// 911 for one that is not there any more.
    pub fn take_parts(&mut self, others: &[(i32, u64)]) -> Result<(), Fault> {
        for (id, _) in others {
            let gone = || SqlError::database_unknown(id);
            if !self.transaction.has_part_in(*id) {
                let database = self.server.database_by_id(*id).ok_or_else(gone)?;
                let _admission = database.admit(self.state.session_id)?;
                self.transaction.take_part(&database);
            }
        }
        Ok(())
    }

    /// The version of [`ExecutionContext::catalog`], at the cost of a load.
    #[inline]
    pub(crate) fn catalog_stamp(&self) -> CatalogStamp {
        CatalogStamp {
            database: self.database.id(),
            version: self.database.catalog_version(&self.transaction),
            temporary: self.transaction.temporary_tables().map_or(0, |tables| tables.version()),
            level: self.state.nest_level,
        }
    }

    /// Gives the session a part in tempdb, which temporary tables need.
    ///
    /// # Errors
    /// 1802 when tempdb cannot be made.
    pub async fn use_temporary(&mut self) -> Result<(), Fault> {
        if !self.transaction.has_temporary() {
            let tempdb = self.server.tempdb().await?;
            self.transaction.use_temporary(&tempdb);
        }
        Ok(())
    }

    /// The temporary table of this name as the running call sees it.
    pub fn temporary_table(&self, name: &str) -> Option<Arc<pikepole_engine::Table>> {
        let tables = self.transaction.temporary_tables()?;
        tables.table(name, self.state.nest_level).cloned()
    }

    /// The temporary tables that the session has.
    pub fn temporary_tables(&self) -> Option<&Arc<pikepole_engine::TemporaryTables>> {
        self.transaction.temporary_tables()
    }

    /// A call ends: its temporary tables and table variables are dropped.
    pub(crate) fn end_scope(&mut self, level: i32) {
        if level > 0 {
            self.transaction.end_temporary_scope(level);
        }
        self.cursors.end_scope(level);
    }

    /// The batch ends: its table variables are dropped.
    pub(crate) fn end_batch(&mut self) {
        self.transaction.end_temporary_batch();
        self.transaction.rest_in_memory();
        self.cursors.end_scope(0);
    }

    /// What the text of a module is compiled against now.
    pub(crate) fn compile_context_of<'a>(&'a self, host: &'a dyn Host, module: &Module) -> CompileContext<'a> {
        let context = self.compile_context(host);
        CompileContext { catalog: context.catalog.clone().of_module(module), ..context }
    }

    /// What texts are compiled against now.
    pub fn compile_context<'a>(&'a self, host: &'a dyn Host) -> CompileContext<'a> {
        // A text may make the temporary tables that it names, whatever those of its caller are: they are looked up when it runs.
        CompileContext {
            catalog: self.catalog_alone(),
            host,
            settings: &self.settings,
            identity_insert: self.identity_table(),
            undeclared: None,
            undetermined: None,
        }
    }

    /// The table that takes explicit identity values: its database and its object id.
    pub(crate) fn identity_table(&self) -> Option<(i32, i32)> {
        self.identity_insert.as_ref().map(|(database, table, _)| (*database, *table))
    }

    /// The functions' state for one batch.
    pub fn function_context(&mut self) -> Context {
        self.random_seed = self.random_seed.wrapping_mul(0x2360_ed05_1fc6_5da4_4385_df64_9fcc_f645) | 1;
        let mut context = Context::new(crate::clock::now(), self.random_seed);
        if let Some(state) = self.rand_state {
            context.set_rand_state(state);
        }
        self.settings.inform(&mut context);
        context
    }

    /// Makes another database the current one.
    ///
    /// # Errors
    /// 911 for a name that is no database; 916 for one that the session may not use.
    pub fn use_database(&mut self, name: &str) -> Result<(), Fault> {
        let database = self.server.database(name)?;
        self.move_to(&database)
    }

    /// Makes another database the current one. An open transaction goes on, in both.
    ///
    /// # Errors
    /// 916 when the session may not use it, 923 and 924 when nobody else may at the moment.
    pub fn move_to(&mut self, database: &Arc<Database>) -> Result<(), Fault> {
        if database.id() == self.database.id() {
            return Ok(());
        }
        let _admission = database.admit(self.state.session_id)?;
        self.enter_database(database)?;
        self.move_silently(database);
        Ok(())
    }

    /// Makes the database the current one that the session comes from. One that it may not use any more it gets without rights.
    pub fn move_back(&mut self, home: &Arc<Database>) {
        if self.move_to(home).is_err() {
            self.lose_rights_in(home);
            self.move_silently(home);
        }
    }

    /// Makes another database the current one; who the session is stays as it was.
    pub(crate) fn move_silently(&mut self, database: &Arc<Database>) {
        if database.id() == self.database.id() {
            return;
        }
        database.enter();
        self.transaction.move_to(&self.database, database);
        self.database.leave();
        self.database = Held::new(database);
    }

    /// The number of tempdb's object `##name`, as the session sees it there, where it is now.
    pub(crate) fn global_id(&self, name: &str) -> Option<i32> {
        self.database.catalog(&self.transaction).object("dbo", name).map(pikepole_engine::Object::object_id)
    }

    /// The object ends with the session that has made it.
    pub(crate) fn note_global(&mut self, object_id: i32) {
        self.globals_made.push(object_id);
    }

    /// Whether the session has what nobody can give another one: a transaction, temporary tables and procedures, cursors, application
    /// locks, an impersonation, IDENTITY_INSERT.
    pub fn holds_what_ends_with_it(&self) -> bool {
        self.state.transaction_count > 0
            || self.temporary_tables().is_some_and(|tables| tables.entries().next().is_some())
            || !self.globals_made.is_empty()
            || !self.temporary_procedures.is_empty()
            || !self.cursors.is_empty()
            || self.application_locks.are_held()
            || self.security.depth() > 1
            || self.identity_insert.is_some()
    }

    /// Sets the isolation level of the statements to come.
    pub fn set_isolation(&mut self, isolation: Isolation) {
        use pikepole_engine::Isolation as Engine;
        self.settings.isolation = isolation;
        self.transaction.set_memory_level(self.settings.memory_level);
        self.transaction.set_isolation(match isolation {
            Isolation::ReadUncommitted => Engine::ReadUncommitted,
            Isolation::ReadCommitted => Engine::ReadCommitted,
            Isolation::RepeatableRead => Engine::RepeatableRead,
            Isolation::Snapshot => Engine::Snapshot,
            Isolation::Serializable => Engine::Serializable,
        });
    }

    /// Whether the batch's client has given it up.
    #[inline]
    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    /// 3617-like end of a batch whose client has given it up.
    /// 701 where memory is short and the statement holds much: every loop that stops for a moment asks here.
    pub(crate) fn check_cancelled(&self) -> Result<(), Fault> {
        look(&self.cancelled)?;
        self.look_at_memory()
    }

    /// LOCK_TIMEOUT; none: waits have no end.
    pub(crate) fn lock_timeout_ms(&self) -> Option<u64> {
        u64::try_from(self.settings.lock_timeout_ms).ok()
    }

    /// How many workers a plan may have that wants so many; 0 and none: as many as the server gives.
    pub(crate) fn degree(&self, wanted: Option<u16>) -> usize {
        match wanted {
            Some(degree) if degree > 0 => usize::from(degree),
            _ => match self.database.degree() {
                0 => self.server.max_degree(),
                degree => degree,
            },
        }
    }

    /// The scheduler of the worker of this number; the first one is on the session's own.
    pub(crate) fn scheduler_of(&self, worker: usize) -> usize {
        let own = scheduler::current_scheduler().map_or(0, |own| own as usize);
        (own + worker) % self.server.schedulers().count()
    }

    /// Awaits a need. A wait for another session's lock obeys LOCK_TIMEOUT and ends when the batch is cancelled.
    ///
    /// # Errors
    /// As of [`Database::await_need`].
    pub(crate) async fn satisfy(&mut self, need: Need) -> Result<(), Fault> {
        self.lend_patience();
        self.database.await_need(&mut self.transaction, need).await
    }

    /// What the engine waits for within the statement has the patience that the session has now.
    fn lend_patience(&mut self) {
        self.transaction.set_patience(self.lock_timeout_ms(), &self.cancelled, self.deadlock_priority);
    }

    /// Waits until more of a file has been read.
    ///
    /// # Errors
    /// 3617 when the batch was cancelled.
    pub(crate) async fn await_file(&self, file: &ReadAhead) -> Result<(), Fault> {
        self.unless_cancelled(file.ready()).await
    }

    /// Waits for what may take long.
    ///
    /// # Errors
    /// 3617 when the batch was cancelled meanwhile; the wait's own.
    pub(crate) async fn unless_cancelled(&self, wait: impl Future<Output = Result<(), SqlError>>) -> Result<(), Fault> {
        awaited(wait, None, || look(&self.cancelled)).await
    }

    /// A statement begins that touches tables.
    #[inline]
    pub(crate) fn begin_statement(&mut self, writes: bool) -> Result<(), Fault> {
        if self.functions > 0 {
            self.transaction.begin_part();
            return Ok(());
        }
        if writes && self.state.doomed {
            return Err(Box::new(SqlError::transaction_is_doomed()));
        }
        self.begin_implicitly();
        if self.state.transaction_count == 0 {
            self.transaction_time = None;
        }
        self.lend_patience();
        self.statement = Some(self.database.begin_statement(&mut self.transaction));
        Ok(())
    }

    /// A statement begins that reads tables or views: where transactions are implicit, it begins one.
    #[inline]
    pub(crate) fn begin_implicitly(&mut self) {
        if self.settings.implicit_transactions && self.state.transaction_count == 0 && self.functions == 0 {
            self.begin();
        }
    }

    /// What was read for a statement that touches no table is over: such a statement has no end of its own.
    pub fn end_reading(&mut self) {
        if self.statement.is_none() {
            self.database.end_statement(&mut self.transaction);
        }
    }

    /// What follows sees what is committed now, where statements see that at all.
    pub(crate) fn refresh_snapshot(&mut self) {
        self.database.begin_statement(&mut self.transaction);
    }

    /// A statement ends. Under autocommit this commits it and asks for its durability; called again after a need.
    #[inline(always)]
    pub(crate) fn end_statement(&mut self) -> Result<(), Stop> {
        if self.functions > 0 {
            return Ok(());
        }
        if self.state.transaction_count == 0 {
            let durability = self.durability();
            self.database.try_commit(&mut self.transaction, durability)?;
            self.note_promise(durability);
        } else {
            self.database.try_end_statement(&mut self.transaction)?;
        }
        self.statement = None;
        Ok(())
    }

    /// A definition of the host's begins: a statement of the session's transaction.
    ///
    /// # Errors
    /// 3930 in a doomed transaction.
    pub fn begin_definition(&mut self) -> Result<(), SqlError> {
        self.begin_statement(true).map_err(|fault| *fault)
    }

    /// Ends a definition; under autocommit it waits for the commit.
    ///
    /// # Errors
    /// A log that failed.
    pub async fn end_definition(&mut self) -> Result<(), Fault> {
        loop {
            match self.end_statement() {
                Ok(()) => return Ok(()),
                Err(Stop::Yield) => scheduler::yield_now().await,
                Err(Stop::Blocked(need)) => self.satisfy(need).await?,
                Err(Stop::Team(team)) => team.ended().await,
                // The end of a statement reads no function.
                Err(Stop::Stale | Stop::Again(_) | Stop::Rows(_) | Stop::Fill(_) | Stop::File(_) | Stop::Memory(_)) => {
                    return Err(crate::errors::definition_changed());
                }
                Err(Stop::Error(fault)) => return Err(fault),
            }
        }
    }

    /// Undoes what the statement has done.
    ///
    /// # Errors
    /// A log that failed.
    pub(crate) async fn abort_statement(&mut self) -> Result<(), Fault> {
        let Some(mark) = self.statement.take() else {
            return Ok(());
        };
        if self.state.transaction_count == 0 {
            self.database.rollback(&mut self.transaction).await?;
        } else {
            self.database.rollback_to(&mut self.transaction, mark).await?;
            self.database.end_statement(&mut self.transaction);
        }
        Ok(())
    }

    /// A trigger of the statement is entered: its statements begin and end by themselves.
    pub(crate) fn suspend_statement(&mut self) -> OuterStatement {
        OuterStatement { mark: self.statement.take(), transactions_ended: self.transactions_ended }
    }

    /// The trigger is left. Where it has ended the transaction, nothing of the statement is left to be undone.
    pub(crate) fn resume_statement(&mut self, outer: OuterStatement) {
        self.statement = if outer.transactions_ended == self.transactions_ended {
            outer.mark
        } else {
            (self.state.transaction_count > 0).then(|| self.transaction.mark())
        };
    }

    /// Triggers or other parts of a statement are about to run: under autocommit what their statement has done becomes a transaction. True: it has.
    pub(crate) fn begin_for_triggers(&mut self) -> bool {
        if self.state.transaction_count > 0 {
            return false;
        }
        self.transaction.begin_for_statement();
        self.state.transaction_count = 1;
        true
    }

    /// The transaction that was made for triggers ends with their statement, unless one of them has begun another in it.
    pub(crate) fn end_for_triggers(&mut self) {
        self.state.transaction_count -= 1;
        if self.state.transaction_count == 0 {
            self.forget_transaction();
        }
    }

    /// When the transaction began, in UTC. One that is a statement of its own begins when it first asks.
    pub(crate) fn transaction_time(&mut self) -> DateTime2 {
        *self.transaction_time.get_or_insert_with(crate::clock::utc_now)
    }

    fn begin(&mut self) {
        self.transaction.begin();
        self.transaction_time = Some(crate::clock::utc_now());
        self.state.transaction_count = 1;
        self.state.transactions_begun += 1;
    }

    /// BEGIN TRANSACTION. Under IMPLICIT_TRANSACTIONS the statement itself begins a transaction first, and its own is nested in that:
    /// one COMMIT leaves it open.
    pub(crate) fn begin_transaction(&mut self, name: Option<String>) {
        let is_outermost = self.state.transaction_count == 0;
        self.begin_implicitly();
        if self.state.transaction_count == 0 {
            self.begin();
        } else {
            self.state.transaction_count += 1;
        }
        if is_outermost {
            self.transaction_name = name;
        }
    }

    /// COMMIT. Only the outermost one commits. Called again after a need.
    ///
    /// # Errors
    /// 3902 without a transaction, 3930 when it is doomed; a log that failed.
    pub(crate) fn try_commit_transaction(&mut self, delayed: bool) -> Result<(), Stop> {
        match self.state.transaction_count {
            0 => return Err(Stop::Error(Box::new(SqlError::commit_without_begin()))),
            _ if self.state.doomed => return Err(Stop::Error(Box::new(SqlError::transaction_is_doomed()))),
            1 => {}
            _ => {
                self.state.transaction_count -= 1;
                return Ok(());
            }
        }
        let durability = if delayed { Durability::Delayed } else { self.durability() };
        self.database.try_commit(&mut self.transaction, durability)?;
        self.note_promise(durability);
        self.forget_transaction();
        self.state.was_committed = true;
        Ok(())
    }

    /// ROLLBACK, of everything or to a savepoint.
    ///
    /// # Errors
    /// 3903 without a transaction, 6401 for an unknown name, 3931 for a savepoint of a doomed transaction.
    pub(crate) async fn rollback_transaction(&mut self, name: Option<&str>) -> Result<(), Fault> {
        if self.state.transaction_count == 0 {
            return Err(Box::new(SqlError::rollback_without_begin()));
        }
        let Some(name) = name else {
            self.roll_back_all().await;
            return Ok(());
        };
        let at = self.savepoints.iter().rposition(|savepoint| savepoint.name == name);
        if let Some(at) = at {
            if self.state.doomed {
                return Err(Box::new(SqlError::transaction_is_doomed_for_savepoint()));
            }
            let mark = self.savepoints[at].mark;
            self.savepoints.truncate(at + 1);
            self.database.rollback_to(&mut self.transaction, mark).await?;
            return Ok(());
        }
        if self.transaction_name.as_deref() == Some(name) {
            self.roll_back_all().await;
            return Ok(());
        }
        Err(Box::new(SqlError::savepoint_unknown(name)))
    }

    /// SAVE TRANSACTION.
    ///
    /// # Errors
    /// 628 without a transaction, 3930 in a doomed one.
    pub(crate) fn save_transaction(&mut self, name: String) -> Result<(), Fault> {
        if self.state.transaction_count == 0 {
            return Err(Box::new(SqlError::new(
                628,
                16,
                0,
                "Cannot issue SAVE TRANSACTION when there is no active transaction.",
            )));
        }
        if self.state.doomed {
            return Err(Box::new(SqlError::transaction_is_doomed()));
        }
        let mark = self.transaction.mark();
        self.savepoints.push(Savepoint { name, mark });
        Ok(())
    }

    /// Rolls the whole transaction back and ends it. Damage that keeps a change from being undone is found again, and
    /// reported, by the next statement that meets it.
    pub fn roll_back_all(&mut self) -> HostFuture<'_, ()> {
        Box::pin(async {
            let undone = self.database.rollback(&mut self.transaction).await;
            drop(undone);
            self.statement = None;
            self.forget_transaction();
        })
    }

    /// Whether the open transaction has a savepoint of this name.
    pub(crate) fn has_savepoint(&self, name: &str) -> bool {
        self.savepoints.iter().any(|savepoint| savepoint.name == name)
    }

    /// The name that BEGIN TRANSACTION gave the open transaction.
    pub fn transaction_name(&self) -> Option<&str> {
        self.transaction_name.as_deref()
    }

    fn forget_transaction(&mut self) {
        self.transactions_ended += 1;
        self.application_locks.forget_transaction();
        if self.settings.cursor_close_on_commit {
            self.cursors.close_all();
        }
        self.state.transaction_count = 0;
        self.state.doomed = false;
        self.state.was_committed = false;
        self.savepoints.clear();
        self.transaction_name = None;
        self.transaction_time = None;
    }

    /// The batch is over: nothing is kept for a next statement.
    pub(crate) fn rest(&mut self) {
        self.transaction.rest();
    }
}

impl Drop for ExecutionContext {
    fn drop(&mut self) {
        self.database.leave();
        let made = std::mem::take(&mut self.globals_made);
        if !made.is_empty() {
            // Others may be using them: nobody waits for that.
            let (server, session_id) = (Arc::clone(&self.server), self.state.session_id);
            let info = TaskInfo { session_id: None, command: "DROP TABLE" };
            let dropped = async move { server.drop_globals(session_id, made).await };
            self.server.schedulers().spawn(info, Placement::LeastLoaded, dropped);
        }
    }
}

/// 3617 for a batch that was cancelled.
pub(crate) fn look(cancelled: &AtomicBool) -> Result<(), Fault> {
    if cancelled.load(Ordering::Relaxed) { Err(crate::errors::cancelled()) } else { Ok(()) }
}

/// A seed that differs from session to session and from start to start.
fn random_seed(session_id: i32) -> u128 {
    use std::hash::{BuildHasher, RandomState};
    let (high, low) = (RandomState::new(), RandomState::new());
    u128::from(high.hash_one(session_id)) << 64 | u128::from(low.hash_one(session_id))
}
