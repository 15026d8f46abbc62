//! The sessions of a server, for the views: who is there, since when, and what they last did.
//!
//! One spinlock guards the list, which changes when sessions come and go. What a session does is in a cell of its own, stored
//! by its task alone at the start and the end of a batch and by the statements that set options or begin and end transactions,
//! so sessions do not meet there; a view that reads a cell meanwhile may see some of its numbers before such a step and some
//! after it.

use crate::call_trace::{CallTrace, TracedCall};
use crate::connection::{ConnectionInfo, KillSwitch};
use crate::cpu_history::CpuHistory;
use crate::guids::GuidSequence;
use crate::msdb::SystemDatabases;
use crate::options::ClientOptions;
use pikepole_contention::sync::atomic::{AtomicBool, AtomicI32, AtomicI64, AtomicU64, Ordering};
use pikepole_contention::sync::{Mutex, OnceLock};
use pikepole_contention::{CachePadded, Spinlock, SpinlockClass, Statistics};
use pikepole_engine::Server;
use pikepole_query::{
    Activity, ExecutionContext, Isolation, NullDefault, PlanCache, Progress, Reading, Running, Settings,
};
use pikepole_types::{DateFormat, Language};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The first number of a user's session; lower ones are system tasks.
pub(crate) const FIRST_SESSION_ID: i32 = 51;
/// The highest number of a session, the largest `smallint`.
const LAST_SESSION_ID: i32 = 32_767;

/// What the views show of a session.
#[derive(Debug, Clone)]
pub(crate) struct SessionRow {
    pub(crate) session_id: i32,
    pub(crate) login_us: u64,
    pub(crate) host_name: String,
    pub(crate) program_name: String,
    pub(crate) connection: Option<Arc<ConnectionInfo>>,
    /// The id of the login, and its name when the session began.
    pub(crate) login_id: i32,
    pub(crate) login_name: String,
    pub(crate) database_id: i32,
    pub(crate) running: bool,
    pub(crate) batch_started_us: u64,
    pub(crate) batch_ended_us: u64,
    pub(crate) open_transactions: i32,
    pub(crate) row_count: i64,
    /// Of a load: how much is done, and the rows so far.
    pub(crate) percent: f32,
    pub(crate) loaded_rows: u64,
    pub(crate) last_error: i32,
    /// What runs, or ran last.
    pub(crate) text: Option<Running>,
    /// A statement of it that reads large tables whole.
    pub(crate) reading: Option<Reading>,
    /// Pages that its statements have looked up, and those of them that were read from disk.
    pub(crate) read: [u64; 2],
    /// The same of the batch that began last.
    pub(crate) read_by_batch: [u64; 2],
    pub(crate) shown: ShownOptions,
    /// `CONTEXT_INFO()`; empty: it was not set.
    pub(crate) context_info: Vec<u8>,
    /// The name that the open transaction was given.
    pub(crate) transaction_name: Option<String>,
    /// What the task's CPU time was when the present batch, or the last one, began.
    pub(crate) cpu_before_us: u64,
    /// CPU time of the batches that have ended.
    pub(crate) cpu_us: u64,
    /// Time from the beginnings to the ends of those batches.
    pub(crate) batches_us: u64,
}

/// The SET options that the views show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ShownOptions {
    pub(crate) text_size: i32,
    pub(crate) date_first: u8,
    pub(crate) date_format: DateFormat,
    pub(crate) language: &'static Language,
    pub(crate) quoted_identifier: bool,
    pub(crate) ansi_null_dflt_on: bool,
    pub(crate) ansi_nulls: bool,
    pub(crate) concat_null_yields_null: bool,
    pub(crate) ansi_padding: bool,
    pub(crate) ansi_warnings: bool,
    pub(crate) arithabort: bool,
    /// As the views number it.
    pub(crate) isolation: i32,
    pub(crate) lock_timeout_ms: i32,
    pub(crate) deadlock_priority: i32,
}

impl ShownOptions {
    /// The options of a session at this moment.
    pub(crate) fn of(settings: &Settings, options: &ClientOptions) -> ShownOptions {
        ShownOptions {
            text_size: settings.text_size,
            date_first: settings.date_first,
            date_format: settings.date_format,
            language: settings.language,
            quoted_identifier: settings.quoted_identifier,
            ansi_null_dflt_on: settings.null_default == NullDefault::On,
            ansi_nulls: settings.ansi_nulls,
            concat_null_yields_null: settings.concat_null_yields_null,
            ansi_padding: settings.ansi_padding,
            ansi_warnings: settings.ansi_warnings,
            arithabort: settings.arithabort,
            isolation: match settings.isolation {
                Isolation::ReadUncommitted => 1,
                Isolation::ReadCommitted => 2,
                Isolation::RepeatableRead => 3,
                Isolation::Serializable => 4,
                Isolation::Snapshot => 5,
            },
            lock_timeout_ms: settings.lock_timeout_ms,
            deadlock_priority: options.deadlock_priority,
        }
    }
}

impl Default for ShownOptions {
    fn default() -> Self {
        ShownOptions::of(&Settings::default(), &ClientOptions::default())
    }
}

/// Who a session is.
#[derive(Debug, Clone, Default)]
pub(crate) struct Login {
    pub(crate) at_us: u64,
    pub(crate) host_name: String,
    pub(crate) program_name: String,
    pub(crate) database_id: i32,
    pub(crate) connection: Option<Arc<ConnectionInfo>>,
    pub(crate) login_id: i32,
    pub(crate) login_name: String,
}

/// What a session leaves behind at the end of a batch.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct BatchEnd {
    pub(crate) at_us: u64,
    /// The task's CPU time.
    pub(crate) cpu_us: u64,
    pub(crate) row_count: i64,
    pub(crate) last_error: i32,
}

/// One session's cell. Every number is stored by the session's own task.
#[derive(Debug)]
pub(crate) struct SessionCell {
    session_id: i32,
    login: Login,
    database_id: AtomicI32,
    running: AtomicBool,
    batch_started_us: AtomicU64,
    batch_ended_us: AtomicU64,
    open_transactions: AtomicI32,
    row_count: AtomicI64,
    last_error: AtomicI32,
    cpu_before_us: AtomicU64,
    cpu_us: AtomicU64,
    batches_us: AtomicU64,
    /// Whether `named` says something: most transactions have no name.
    has_name: AtomicBool,
    named: Mutex<Named>,
    kill_switch: KillSwitch,
    progress: Arc<Progress>,
    activity: Arc<Activity>,
}

/// What of a cell is no number.
#[derive(Debug, Default)]
struct Named {
    shown: ShownOptions,
    context_info: Vec<u8>,
    transaction_name: Option<String>,
}

impl SessionCell {
    fn new(session_id: i32, login: Login) -> Self {
        SessionCell {
            session_id,
            database_id: AtomicI32::new(login.database_id),
            running: AtomicBool::new(false),
            batch_started_us: AtomicU64::new(login.at_us),
            batch_ended_us: AtomicU64::new(login.at_us),
            open_transactions: AtomicI32::new(0),
            row_count: AtomicI64::new(0),
            last_error: AtomicI32::new(0),
            cpu_before_us: AtomicU64::new(0),
            cpu_us: AtomicU64::new(0),
            batches_us: AtomicU64::new(0),
            has_name: AtomicBool::new(false),
            named: Mutex::new(Named::default()),
            kill_switch: KillSwitch::default(),
            progress: Arc::default(),
            activity: Arc::default(),
            login,
        }
    }

    /// A batch begins; `cpu_us` is the CPU time of its task.
    pub(crate) fn batch_begins(&self, at_us: u64, cpu_us: u64) {
        self.batch_started_us.store(at_us, Ordering::Relaxed);
        self.cpu_before_us.store(cpu_us, Ordering::Relaxed);
        self.running.store(true, Ordering::Relaxed);
    }

    /// The batch has ended.
    pub(crate) fn batch_ends(&self, end: BatchEnd) {
        let add = |total: &AtomicU64, amount: u64| {
            total.store(total.load(Ordering::Relaxed) + amount, Ordering::Relaxed);
        };
        add(&self.cpu_us, end.cpu_us.saturating_sub(self.cpu_before_us.load(Ordering::Relaxed)));
        add(&self.batches_us, end.at_us.saturating_sub(self.batch_started_us.load(Ordering::Relaxed)));
        self.running.store(false, Ordering::Relaxed);
        self.batch_ended_us.store(end.at_us, Ordering::Relaxed);
        self.row_count.store(end.row_count, Ordering::Relaxed);
        self.last_error.store(end.last_error, Ordering::Relaxed);
    }

    /// The options are these from now on, and the database.
    pub(crate) fn show_settings(&self, context: &ExecutionContext, options: &ClientOptions) {
        self.database_id.store(context.database().id(), Ordering::Relaxed);
        let mut named = self.named();
        named.shown = ShownOptions::of(&context.settings, options);
        named.context_info.clear();
        named.context_info.extend(context.context_info.iter().flatten());
    }

    /// So many transactions are open from now on, and the outermost is called so.
    pub(crate) fn show_transaction(&self, context: &ExecutionContext) {
        self.open_transactions.store(context.state.transaction_count, Ordering::Relaxed);
        let name = context.transaction_name();
        // Relaxed: this task alone stores it.
        if name.is_some() || self.has_name.load(Ordering::Relaxed) {
            self.has_name.store(name.is_some(), Ordering::Relaxed);
            self.named().transaction_name = name.map(str::to_owned);
        }
    }

    /// What its client came over; none in the process of the server itself.
    pub(crate) fn connection(&self) -> Option<&ConnectionInfo> {
        self.login.connection.as_deref()
    }

    /// How far a load of the session's is.
    pub(crate) fn progress(&self) -> &Arc<Progress> {
        &self.progress
    }

    /// What the session runs.
    pub(crate) fn activity(&self) -> &Arc<Activity> {
        &self.activity
    }

    /// What ends the session from outside.
    pub(crate) fn kill_switch(&self) -> &KillSwitch {
        &self.kill_switch
    }

    fn named(&self) -> pikepole_contention::sync::MutexGuard<'_, Named> {
        // A panic elsewhere leaves it whole: its parts are set one by one.
        self.named.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    fn row(&self) -> SessionRow {
        let named = self.named();
        let (shown, transaction_name) = (named.shown, named.transaction_name.clone());
        let context_info = named.context_info.clone();
        drop(named);
        let reading = self.activity.reading();
        SessionRow {
            shown,
            context_info,
            transaction_name,
            cpu_before_us: self.cpu_before_us.load(Ordering::Relaxed),
            cpu_us: self.cpu_us.load(Ordering::Relaxed),
            batches_us: self.batches_us.load(Ordering::Relaxed),
            session_id: self.session_id,
            login_us: self.login.at_us,
            host_name: self.login.host_name.clone(),
            program_name: self.login.program_name.clone(),
            connection: self.login.connection.clone(),
            login_id: self.login.login_id,
            login_name: self.login.login_name.clone(),
            database_id: self.database_id.load(Ordering::Relaxed),
            running: self.running.load(Ordering::Relaxed),
            batch_started_us: self.batch_started_us.load(Ordering::Relaxed),
            batch_ended_us: self.batch_ended_us.load(Ordering::Relaxed),
            open_transactions: self.open_transactions.load(Ordering::Relaxed),
            row_count: self.row_count.load(Ordering::Relaxed),
            percent: match (self.progress.percent(), &reading) {
                (0.0, Some(reading)) => reading.percent(),
                (percent, _) => percent,
            },
            loaded_rows: self.progress.rows(),
            last_error: self.last_error.load(Ordering::Relaxed),
            text: self.activity.running(),
            reading,
            read: self.activity.read(),
            read_by_batch: self.activity.read_by_batch(),
        }
    }
}

/// A session's cell, as its owner and the list share it.
pub(crate) type SharedCell = Arc<CachePadded<SessionCell>>;

/// The list of sessions, and what they share beyond the engine: compiled texts, the server's name.
pub struct Registry {
    sessions: Spinlock<BTreeMap<i32, SharedCell>>,
    plans: Arc<PlanCache>,
    server_name: String,
    system_databases: SystemDatabases,
    guids: GuidSequence,
    cpu_history: CpuHistory,
    call_trace: CallTrace,
    packets: Packets,
    log: OnceLock<LogSink>,
    /// CHECK_POLICY is not obeyed: any password will do.
    lax_passwords: OnceLock<()>,
}

/// What takes the lines that sessions write into the server's log.
type LogSink = Box<dyn Fn(i32, &str) + Send + Sync>;

/// What connections that have ended read and wrote.
#[derive(Default)]
struct Packets {
    reads: AtomicU64,
    writes: AtomicU64,
}

impl Registry {
    /// An empty list.
    pub fn new(statistics: &Arc<Statistics>) -> Arc<Registry> {
        Registry::with_plans(statistics, PlanCache::new())
    }

    /// An empty list of a server's sessions, whose plans are a part of the server's memory.
    pub fn of_server(server: &Server) -> Arc<Registry> {
        Registry::with_plans(server.statistics(), PlanCache::of_server(server.budget()))
    }

    fn with_plans(statistics: &Arc<Statistics>, plans: Arc<PlanCache>) -> Arc<Registry> {
        Arc::new(Registry {
            sessions: Spinlock::new(SpinlockClass::SESSION_TABLE, statistics, BTreeMap::new()),
            plans,
            server_name: machine_name(),
            system_databases: SystemDatabases::default(),
            guids: GuidSequence::new(),
            cpu_history: CpuHistory::begin(),
            call_trace: CallTrace::default(),
            packets: Packets::default(),
            log: OnceLock::new(),
            lax_passwords: OnceLock::new(),
        })
    }

    /// Says what takes the lines that sessions write into the server's log, with their numbers; the first to say so is obeyed.
    pub fn log_into(&self, sink: impl Fn(i32, &str) + Send + Sync + 'static) {
        let _ = self.log.set(Box::new(sink));
    }

    /// Writes a line of a session into the server's log, if there is one.
    pub(crate) fn log(&self, session: i32, text: &str) {
        if let Some(sink) = self.log.get() {
            sink(session, text);
        }
    }

    /// Keeps the time line of a request; no more than `room` are kept.
    pub fn trace_call(&self, call: TracedCall, room: usize) {
        self.call_trace.keep(call, room);
    }

    /// The last `room` requests that are kept, the oldest first, with their numbers.
    pub(crate) fn traced_calls(&self, room: usize) -> Vec<(u64, TracedCall)> {
        self.call_trace.calls(room)
    }

    /// From now on any password will do, whatever CHECK_POLICY says.
    pub fn take_any_password(&self) {
        let _ = self.lax_passwords.set(());
    }

    /// Whether CHECK_POLICY asks something of passwords.
    pub(crate) fn checks_passwords(&self) -> bool {
        self.lax_passwords.get().is_none()
    }

    /// The compiled texts of the server.
    pub(crate) fn plans(&self) -> &Arc<PlanCache> {
        &self.plans
    }

    /// What the process has used of the CPUs.
    pub(crate) fn cpu_history(&self) -> &CpuHistory {
        &self.cpu_history
    }

    /// `NEWSEQUENTIALID()`.
    pub(crate) fn next_guid(&self) -> [u8; 16] {
        self.guids.next()
    }

    /// Makes a database of the system's that a login names and that nobody has named before.
    pub async fn prepare_database(&self, server: &Arc<pikepole_engine::Server>, name: &str) {
        /// No session: there is none yet.
        const NOBODY: i32 = 0;
        self.system_databases.prepare_for(server, NOBODY, &format!("USE {name}")).await;
    }

    /// The databases that are made when they are first named.
    pub(crate) fn system_databases(&self) -> &SystemDatabases {
        &self.system_databases
    }

    /// `@@SERVERNAME`: the machine's name.
    pub fn server_name(&self) -> &str {
        &self.server_name
    }

    /// Adds a session under the lowest free number; `None` when all are taken.
    pub(crate) fn add(&self, login: Login) -> Option<(i32, SharedCell)> {
        let mut sessions = self.sessions.lock();
        let free = (FIRST_SESSION_ID..=LAST_SESSION_ID).find(|id| !sessions.contains_key(id))?;
        let cell = Arc::new(CachePadded::new(SessionCell::new(free, login)));
        sessions.insert(free, Arc::clone(&cell));
        Some((free, cell))
    }

    /// Removes a session; its number may be given again.
    pub(crate) fn remove(&self, session_id: i32) {
        let removed = self.sessions.lock().remove(&session_id);
        if let Some(connection) = removed.as_ref().and_then(|cell| cell.connection()) {
            self.packets.reads.fetch_add(connection.reads.load(Ordering::Relaxed), Ordering::Relaxed);
            self.packets.writes.fetch_add(connection.writes.load(Ordering::Relaxed), Ordering::Relaxed);
        }
    }

    /// Requests that were read from connections and writes to them, of those that have ended too.
    pub(crate) fn packets(&self) -> (u64, u64) {
        let sessions = self.sessions.lock();
        let ended = (self.packets.reads.load(Ordering::Relaxed), self.packets.writes.load(Ordering::Relaxed));
        sessions.values().filter_map(|cell| cell.connection()).fold(ended, |(reads, writes), connection| {
            let (read, written) = (&connection.reads, &connection.writes);
            (reads + read.load(Ordering::Relaxed), writes + written.load(Ordering::Relaxed))
        })
    }

    /// Asks a session to end; whether there is one of this number.
    pub fn kill(&self, session_id: i32) -> bool {
        let cell = self.sessions.lock().get(&session_id).cloned();
        if let Some(cell) = &cell {
            cell.kill_switch().kill();
        }
        cell.is_some()
    }

    /// Asks all sessions to end: once no request runs, or by cancelling those that do.
    pub fn end_all(&self, cancel: bool) {
        let cells: Vec<SharedCell> = self.sessions.lock().values().cloned().collect();
        for cell in cells {
            if cancel {
                cell.kill_switch().kill();
            } else {
                cell.kill_switch().end();
            }
        }
    }

    /// Asks the sessions of these connections to end, likewise.
    pub fn end_connections(&self, are_ended: impl Fn(&ConnectionInfo) -> bool, cancel: bool) {
        let mut cells: Vec<SharedCell> = self.sessions.lock().values().cloned().collect();
        cells.retain(|cell| cell.login.connection.as_deref().is_some_and(&are_ended));
        for cell in cells {
            if cancel {
                cell.kill_switch().kill();
            } else {
                cell.kill_switch().end();
            }
        }
    }

    /// How many sessions there are.
    pub fn count(&self) -> usize {
        self.sessions.lock().len()
    }

    /// One session.
    pub(crate) fn row(&self, session_id: i32) -> Option<SessionRow> {
        let cell = self.sessions.lock().get(&session_id).cloned();
        cell.map(|cell| cell.row())
    }

    /// All sessions in the order of their numbers.
    pub(crate) fn rows(&self) -> Vec<SessionRow> {
        let cells: Vec<SharedCell> = self.sessions.lock().values().cloned().collect();
        cells.iter().map(|cell| cell.row()).collect()
    }
}

/// The machine's name in capitals, as servers are called; `LOCALHOST` where the system does not tell.
fn machine_name() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    match name.trim() {
        "" => "LOCALHOST".to_string(),
        name => name.to_uppercase(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_begin_at_51_and_are_given_again() {
        let registry = Registry::new(&Statistics::new());
        let add = || registry.add(Login::default()).map(|(id, _)| id);
        assert_eq!(add(), Some(51));
        let (id, cell) = registry.add(Login::default()).expect("a free number");
        assert_eq!(id, 52);
        cell.batch_begins(5, 100);
        assert!(registry.row(52).is_some_and(|row| row.running && row.batch_started_us == 5));
        cell.batch_ends(BatchEnd { at_us: 9, cpu_us: 103, row_count: 3, last_error: 208 });
        let row = registry.row(52).expect("it is there");
        assert_eq!((row.running, row.batch_ended_us, row.row_count, row.last_error), (false, 9, 3, 208));
        cell.batch_begins(20, 110);
        cell.batch_ends(BatchEnd { at_us: 25, cpu_us: 112, row_count: 3, last_error: 0 });
        let row = registry.row(52).expect("it is there");
        assert_eq!((row.cpu_us, row.batches_us), (5, 9), "of both batches, not of the task");
        registry.remove(51);
        assert!(registry.row(51).is_none());
        assert_eq!(add(), Some(51));
        let ids: Vec<i32> = registry.rows().iter().map(|row| row.session_id).collect();
        assert_eq!(ids, [51, 52]);
    }
}
