//! A server: a folder of databases, the schedulers they share, one configuration.
//!
//! ```text
//!   folder/pikepole.toml        the configuration
//!   folder/master/              the default database
//!   folder/<name>/database.toml one folder a database
//! ```
//!
//! One process has the folder open at a time. A database that cannot be opened does not keep the server from starting: it is
//! marked SUSPECT, and whoever uses it is told why.

mod affinity;
mod backups;
mod budget;
mod configuration;
mod create;
mod deadlocks;
mod kept_options;
mod memory;
mod native_counting;
mod offline;
mod options;
mod policies;
mod policy_table;
mod rename;
mod start;
mod statement_files;
mod system_databases;
mod trace_flags;
mod workspace;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pikepole_contention::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use pikepole_contention::sync::{Mutex, RwLock};
use pikepole_contention::{Statistics, WaitType};
use pikepole_log::{FlushOutcome, Log, LogWriters};
use pikepole_machine::memory::{Budget, MemoryLimit};
use pikepole_machine::{Disk, FolderLock, Topology};
use pikepole_scheduler::{IdleOutcome, Moment, Schedulers};
use pikepole_types::{Collation, SqlError};

pub use affinity::ProcessAffinity;
pub use backups::Progress;
pub use budget::ServerMemory;
pub use configuration::{Acknowledge, Effect, Exchange, PolicyRow, ServerConfiguration, first_number};
pub use kept_options::KeptOption;
pub use memory::{DatabaseMemory, NodeMemory};
pub use native_counting::NativeCounting;
pub use options::{SchedulerChoice, ServerOptions};
pub use policy_table::PolicySet;
pub(crate) use statement_files::StatementFolders;
pub use statement_files::{BACKUP_FOLDER, INIT_FILE, LoadErrorFiles};
pub use system_databases::{MODEL, MODEL_ID, MSDB, MSDB_ID};
pub use trace_flags::{TraceFlag, TraceFlags};
pub use workspace::{GrantRow, MemoryGrant, Workspace, WorkspaceLimits, WorkspaceTotals};

use crate::database::{
    DATABASE_FILE, Database, DatabaseFile, DatabaseOptions, DelayedDurability, OpenContext, RecoveryModel, ScopedName,
    ScopedValue, UserAccess, check_database,
};
use crate::error::OpenError;
use crate::file_operation::file_operation;
use crate::placement::PlacementPlan;
use crate::security::{LoginGate, PasswordCost};
use crate::temporary::TEMPDB;
use backups::RestoringEntry;
pub use deadlocks::{DeadlockReport, Deadlocks, LockedName};
use start::{read_configuration, start_schedulers};

/// The database that sessions begin in.
pub const MASTER: &str = "master";
/// Its id.
const MASTER_ID: i32 = 1;
/// How often DROP DATABASE looks whether the sessions of the database have ended, and how many times.
const LEAVING_LOOK_EVERY: std::time::Duration = std::time::Duration::from_millis(5);
const LEAVING_LOOKS_MAX: usize = 100;
/// The id of the first database that a user makes.
const USER_DATABASE_ID_FIRST: i32 = 5;
const CONFIGURATION_FILE: &str = "pikepole.toml";

/// What a database is at the moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DatabaseState {
    /// Open.
    Online,
    /// It is in the middle of a restore.
    Restoring,
    /// It could not be opened, for this reason.
    Suspect(String),
    /// It was closed by ALTER DATABASE ... SET OFFLINE.
    Offline,
}

impl DatabaseState {
    /// As `sys.databases` spells it.
    pub fn name(&self) -> &'static str {
        match self {
            DatabaseState::Online => "ONLINE",
            DatabaseState::Restoring => "RESTORING",
            DatabaseState::Suspect(_) => "SUSPECT",
            DatabaseState::Offline => "OFFLINE",
        }
    }
}

/// A row of `sys.databases`.
#[derive(Debug, Clone)]
pub struct DatabaseInfo {
    /// The id.
    pub id: i32,
    /// The name.
    pub name: String,
    /// When it was created, in microseconds since 1970.
    pub created_us: u64,
    /// What it is at the moment.
    pub state: DatabaseState,
    /// Its options.
    pub options: DatabaseOptions,
}

/// One option of a database to set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DatabaseOption {
    /// `DELAYED_DURABILITY`.
    DelayedDurability(DelayedDurability),
    /// `RECOVERY`.
    Recovery(RecoveryModel),
    /// `READ_COMMITTED_SNAPSHOT`.
    ReadCommittedSnapshot(bool),
    /// `ALLOW_SNAPSHOT_ISOLATION`.
    AllowSnapshotIsolation(bool),
    /// `RECURSIVE_TRIGGERS`.
    RecursiveTriggers(bool),
    /// A switch that is only shown, and whether it is on.
    Switch(&'static str, bool),
    /// A configuration of the database or, FOR SECONDARY, of its secondaries.
    Scoped(ScopedName, bool, ScopedValue),
    /// `MULTI_USER` and its like.
    UserAccess(UserAccess),
}

enum Entry {
    Online(Arc<Database>),
    Restoring(Box<RestoringEntry>),
    Suspect {
        id: i32,
        name: String,
        folder: PathBuf,
        why: String,
    },
    Offline {
        file: Box<DatabaseFile>,
        folder: PathBuf,
    },
    /// Not opened before somebody uses it.
    Unused {
        file: Box<DatabaseFile>,
        folder: PathBuf,
    },
}

impl Entry {
    fn id(&self) -> i32 {
        match self {
            Entry::Online(database) => database.id(),
            Entry::Restoring(entry) => entry.file.id,
            Entry::Suspect { id, .. } => *id,
            Entry::Offline { file, .. } | Entry::Unused { file, .. } => file.id,
        }
    }
}

/// Databases by their names in lower case.
type Databases = BTreeMap<String, Entry>;

/// A server that is open.
pub struct Server {
    options: ServerOptions,
    statistics: Arc<Statistics>,
    schedulers: Arc<Schedulers>,
    configuration: Mutex<ServerConfiguration>,
    /// The configuration without what [`ServerOptions::policies`] set for this run; locked while `configuration` is.
    configuration_of_file: Mutex<ServerConfiguration>,
    /// The configuration that the server was started with.
    started: ServerConfiguration,
    trace_flags: Arc<TraceFlags>,
    databases: Arc<RwLock<Databases>>,
    context: OpenContext,
    topology: Topology,
    /// Where everything ran when the server was started.
    placement: PlacementPlan,
    /// The files that backups are being written to.
    devices: Mutex<BTreeSet<PathBuf>>,
    /// Numbers drawn for backup sets.
    ids_drawn: AtomicU64,
    closed: AtomicBool,
    /// The number of requests over the network that are traced: `call trace`, where each request looks.
    traced_calls: AtomicUsize,
    native_counting: NativeCounting,
    login_gate: LoginGate,
    statement_folders: StatementFolders,
    workspace: Arc<Workspace>,
    budget: Arc<Budget>,
    /// Memory of the control group or of the machine.
    memory_system: MemoryLimit,
    /// The turn of whoever makes tempdb.
    making_tempdb: Mutex<()>,
    /// The turn of whoever makes or opens `model` or `msdb`.
    making_system_database: Mutex<()>,
    deadlocks: Arc<Deadlocks>,
    started_us: i64,
    _folder_lock: Arc<FolderLock>,
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Server({})", self.options.folder.display())
    }
}

/// The lowest id that no database has.
fn free_id(databases: &Databases) -> i32 {
    let ids: Vec<i32> = databases.values().map(Entry::id).collect();
    let free = (USER_DATABASE_ID_FIRST..).find(|id| !ids.contains(id));
    free.expect("there are fewer databases than ids")
}

fn read<T>(rw: &RwLock<T>) -> pikepole_contention::sync::RwLockReadGuard<'_, T> {
    rw.read().unwrap_or_else(|e| e.into_inner())
}

fn write<T>(rw: &RwLock<T>) -> pikepole_contention::sync::RwLockWriteGuard<'_, T> {
    rw.write().unwrap_or_else(|e| e.into_inner())
}

fn lock<T>(mutex: &Mutex<T>) -> pikepole_contention::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|e| e.into_inner())
}

/// Memory that a database takes at the least: its first frames, some of its ring, and the stacks of its system tasks.
const DATABASE_BYTES: u64 = 6 << 20;

/// How many log writers a database has.
fn log_writers(configuration: &ServerConfiguration, trace_flags: &TraceFlags, placement: &PlacementPlan) -> LogWriters {
    match trace_flags.is_on(TraceFlag::OneLogWriter) {
        true => LogWriters::Count(1),
        false => configuration.log_writers(placement),
    }
}

impl Server {
    /// Opens the folder, making it and the database `master` if they are not there, and recovers every database in it.
    ///
    /// # Errors
    /// A folder that is open elsewhere or cannot be written; a configuration that is not one.
    pub fn open(mut options: ServerOptions) -> Result<Arc<Server>, OpenError> {
        let folder_lock = match options.folder_lock.take() {
            Some(lock) => lock,
            None => Arc::new(Server::lock_folder(&options.disk, &options.folder)?),
        };
        let statistics = Statistics::new();
        let (of_file, configuration) = read_configuration(&options)?;
        let trace_flags = Arc::new(TraceFlags::new(options.trace_flags.iter().copied()));
        let mut started = configuration.clone();
        if trace_flags.is_on(TraceFlag::LargePages) {
            started.reserve_large_pages();
        }
        let topology = Topology::of(&options.machine).unwrap_or_default();
        let placement = configuration.plan(&options, &topology, trace_flags.is_on(TraceFlag::IgnoreNuma))?;
        let memory_system = MemoryLimit::of(&options.machine);
        let budget = configuration.budget(memory_system);
        let is_simulated = matches!(options.schedulers, SchedulerChoice::Simulated { .. });
        let shared_budget = (!is_simulated).then_some(&budget);
        let schedulers = start_schedulers(&options, &placement, &statistics, shared_budget)?;
        let memory = shared_budget.map(|budget| (budget, memory_system));
        let mut context = started.context(&options, &schedulers, &statistics, &trace_flags, memory);
        context.log.writers = log_writers(&configuration, &trace_flags, &placement);
        context.log.memory_node = placement.log_memory_node(&topology);
        context.store.memory_nodes = placement.memory_nodes();
        context.log_writer_cpus = placement.log_writers.iter().flatten().copied().collect();
        let workspace = Workspace::new(configuration.workspace(budget.limit()));
        let server = Arc::new(Server {
            workspace,
            budget,
            memory_system,
            statistics,
            schedulers,
            started,
            traced_calls: AtomicUsize::new(configuration.traced_calls()),
            native_counting: NativeCounting::default(),
            configuration: Mutex::new(configuration),
            configuration_of_file: Mutex::new(of_file),
            trace_flags,
            databases: Arc::new(RwLock::new(Databases::new())),
            context,
            topology,
            placement,
            devices: Mutex::new(BTreeSet::new()),
            ids_drawn: AtomicU64::new(0),
            closed: AtomicBool::new(false),
            login_gate: LoginGate::default(),
            statement_folders: StatementFolders::new(&options),
            making_tempdb: Mutex::new(()),
            making_system_database: Mutex::new(()),
            deadlocks: Arc::default(),
            started_us: pikepole_machine::clock::unix_time_us(),
            _folder_lock: folder_lock,
            options,
        });
        server.open_databases()?;
        server.watch_deadlocks();
        server.set_idle_hook();
        if !is_simulated {
            server.start_memory_monitor();
        }
        server.started.apply_to_schedulers(&server.schedulers);
        Ok(server)
    }

    /// Makes the folder if it is not there, and locks it.
    ///
    /// # Errors
    /// A folder that is open elsewhere or cannot be written.
    pub fn lock_folder(disk: &Disk, folder: &Path) -> Result<FolderLock, OpenError> {
        let unusable = |error: std::io::Error| folder_error(folder, error);
        disk.create_dir_all(folder).map_err(unusable)?;
        disk.lock_folder(folder).map_err(unusable)
    }

    /// The memory that statements work in.
    pub fn workspace(&self) -> &Arc<Workspace> {
        &self.workspace
    }

    fn open_databases(&self) -> Result<(), OpenError> {
        let (disk, folder) = (&self.options.disk, &self.options.folder);
        let list = || disk.list(folder).map_err(|error| folder_error(folder, error));
        backups::finish_replacements(disk, folder, &list()?);
        for name in list()? {
            let database_folder = folder.join(&name);
            if name == TEMPDB {
                // What sessions of the last run have left there is of no use; one that cannot be removed now is when the next
                // tempdb is made.
                let _ = disk.remove_dir_all(&database_folder);
                continue;
            }
            if disk.exists(database_folder.join(DATABASE_FILE)) {
                self.open_database(&name, database_folder);
            }
        }
        if !read(&self.databases).contains_key(MASTER) {
            self.create_now(MASTER, MASTER_ID, Collation::DEFAULT)
                .map_err(|not_made| OpenError::Create { name: MASTER.to_owned(), why: not_made.why })?;
        }
        Ok(())
    }

    fn open_database(&self, folder_name: &str, folder: PathBuf) {
        let file = DatabaseFile::read(&self.options.disk, &folder);
        let (name, id) = match &file {
            Ok(file) => (file.name.clone(), file.id),
            Err(_) if folder_name == MASTER => (MASTER.to_owned(), MASTER_ID),
            Err(_) => (folder_name.to_owned(), 0),
        };
        let opened = match file {
            Ok(file) if file.restoring.is_some() => {
                let entry = Entry::Restoring(Box::new(RestoringEntry::found(file, folder)));
                write(&self.databases).insert(name.to_lowercase(), entry);
                return;
            }
            Ok(file) if file.offline => {
                write(&self.databases).insert(name.to_lowercase(), Entry::Offline { file: Box::new(file), folder });
                return;
            }
            Ok(file) if system_databases::id_of(&file.name) == Some(file.id) => {
                write(&self.databases).insert(name.to_lowercase(), Entry::Unused { file: Box::new(file), folder });
                return;
            }
            file => file.and_then(|file| Database::open(&self.context, &folder, file)),
        };
        let entry = match opened {
            Ok(database) => {
                database.start();
                Entry::Online(database)
            }
            Err(why) => Entry::Suspect { id, name: name.clone(), folder, why },
        };
        write(&self.databases).insert(name.to_lowercase(), entry);
    }

    pub(crate) fn tempdb_turn(&self) -> pikepole_contention::sync::MutexGuard<'_, ()> {
        lock(&self.making_tempdb)
    }

    /// Schedulers write the logs that their committers wait for: an idle one waits for the device, a busy one only begins
    /// writes and ends them, where the kernel can make them beside its tasks.
    fn set_idle_hook(&self) {
        let databases = Arc::downgrade(&self.databases);
        self.schedulers.set_idle_hook(Arc::new(move |moment| {
            let Some(databases) = databases.upgrade() else {
                return IdleOutcome::Nothing;
            };
            let mut outcome = IdleOutcome::Nothing;
            let mut first = 0;
            while let Some((at, log)) = waiting_log(&databases, first) {
                let done = match moment {
                    Moment::Idle => log.idle_step(),
                    Moment::Busy { quantum_over } => log.busy_step(quantum_over),
                };
                match done {
                    FlushOutcome::Wrote(_) => outcome = IdleOutcome::Worked,
                    // A write is on its way that ends with a signal to committers here.
                    FlushOutcome::Busy if outcome == IdleOutcome::Nothing => outcome = IdleOutcome::Soon,
                    FlushOutcome::Busy | FlushOutcome::Nothing | FlushOutcome::NoRoom => {}
                }
                first = at + 1;
            }
            outcome
        }));
    }

    /// The schedulers.
    pub fn schedulers(&self) -> &Arc<Schedulers> {
        &self.schedulers
    }

    /// Waits, latches, spinlocks and counters of the server.
    pub fn statistics(&self) -> &Arc<Statistics> {
        &self.statistics
    }

    /// The machine, as it was when the server was started.
    pub fn topology(&self) -> &Topology {
        &self.topology
    }

    /// Where everything runs, as it was when the server was started; empty for a simulation.
    pub fn placement(&self) -> &PlacementPlan {
        &self.placement
    }

    /// The server's folder.
    pub fn folder(&self) -> &Path {
        &self.options.folder
    }

    /// The disk that the folder is on.
    pub fn disk(&self) -> &Disk {
        &self.options.disk
    }

    pub(crate) fn login_gate(&self) -> &LoginGate {
        &self.login_gate
    }

    /// What it costs to hash a password.
    pub(crate) fn password_cost(&self) -> PasswordCost {
        self.options.password_cost
    }

    /// When the server was started, in microseconds since 1970.
    pub fn started_us(&self) -> i64 {
        self.started_us
    }

    /// The trace flags that are on for all sessions.
    pub fn trace_flags(&self) -> &TraceFlags {
        &self.trace_flags
    }

    /// The database of this name, whatever its case.
    ///
    /// # Errors
    /// 911 when there is none; 926 when it could not be opened; 927 in the middle of a restore; 942 when it is offline.
    pub fn database(&self, name: &str) -> Result<Arc<Database>, SqlError> {
        let key = name.to_lowercase();
        if matches!(read(&self.databases).get(&key), Some(Entry::Unused { .. })) {
            self.open_unused(&key);
        }
        match read(&self.databases).get(&key) {
            Some(Entry::Online(database)) => Ok(database.clone()),
            Some(Entry::Suspect { name, why, .. }) => {
                let mut error = SqlError::database_suspect(name);
                error.message = format!("{} ({why})", error.message);
                Err(error)
            }
            Some(Entry::Restoring(entry)) => Err(SqlError::database_is_restoring(&entry.file.name)),
            Some(Entry::Offline { file, .. } | Entry::Unused { file, .. }) => {
                Err(SqlError::database_offline(&file.name))
            }
            None => Err(SqlError::database_unknown(name)),
        }
    }

    /// The open database of this id.
    pub fn database_by_id(&self, id: i32) -> Option<Arc<Database>> {
        read(&self.databases).values().find_map(|entry| match entry {
            Entry::Online(database) if database.id() == id => Some(database.clone()),
            _ => None,
        })
    }

    /// Waits a while for the sessions of a database: clients that have just gone away are often told of by those who drop it
    /// before the server has noticed.
    async fn until_left(&self, key: &str) {
        let in_use =
            || matches!(read(&self.databases).get(key), Some(Entry::Online(database)) if database.sessions() > 0);
        let left = async {
            for _ in 0..LEAVING_LOOKS_MAX {
                if !in_use() {
                    break;
                }
                pikepole_scheduler::sleep(LEAVING_LOOK_EVERY).await;
            }
        };
        pikepole_scheduler::wait(WaitType::LCK_M_X, left).await;
    }

    /// DROP DATABASE.
    ///
    /// # Errors
    /// 3701 when there is none; 3702 when a session uses it; 3708 for master, tempdb, model and msdb.
    pub async fn drop_database(self: &Arc<Self>, name: &str) -> Result<(), SqlError> {
        let key = name.to_lowercase();
        let is_system = match read(&self.databases).get(&key) {
            Some(entry) => system_databases::id_of(&key) == Some(entry.id()),
            None => system_databases::id_of(&key).is_some(),
        };
        if key == MASTER || key == TEMPDB || is_system {
            return Err(SqlError::system_object("drop", "database", name, "database"));
        }
        self.until_left(&key).await;
        let entry = {
            let mut databases = write(&self.databases);
            match databases.get(&key) {
                None => return Err(SqlError::object_missing("drop", "database", name).with_state(1)),
                Some(Entry::Online(database)) if database.sessions() > 0 => {
                    return Err(SqlError::database_in_use(name));
                }
                Some(Entry::Restoring(entry)) if entry.is_busy() => return Err(SqlError::database_in_use(name)),
                Some(_) => databases.remove(&key),
            }
        };
        let folder = match entry {
            Some(Entry::Online(database)) => {
                // What cannot be written any more need not be: the files go away.
                let _ = database.close().await;
                // Compiled statements of other sessions may still hold its tables.
                database.statistics().retire();
                database.folder().to_path_buf()
            }
            Some(Entry::Suspect { folder, .. } | Entry::Offline { folder, .. } | Entry::Unused { folder, .. }) => {
                folder
            }
            Some(Entry::Restoring(entry)) => entry.folder.unwrap_or_default(),
            None => return Ok(()),
        };
        let disk = self.options.disk.clone();
        let removed = file_operation(move || {
            disk.remove_file(folder.join(DATABASE_FILE))?;
            disk.sync_dir(&folder)?;
            disk.remove_dir_all(&folder)
        })
        .await;
        removed.map_err(|error| SqlError::operating_system_error(error, "delete", 0, name))
    }

    /// ALTER DATABASE ... SET.
    ///
    /// # Errors
    /// 911, 926; 5069 when the option cannot be written down.
    pub fn set_database_option(&self, name: &str, option: DatabaseOption) -> Result<(), SqlError> {
        let database = self.database(name)?;
        let mut options = database.options();
        match option {
            DatabaseOption::DelayedDurability(value) => options.delayed_durability = value,
            DatabaseOption::Recovery(value) => options.recovery = value,
            DatabaseOption::ReadCommittedSnapshot(value) => options.read_committed_snapshot = value,
            DatabaseOption::AllowSnapshotIsolation(value) => options.allow_snapshot_isolation = value,
            DatabaseOption::RecursiveTriggers(value) => options.recursive_triggers = value,
            DatabaseOption::Switch(name, on) => options.switches = options.switches.with(name, on),
            DatabaseOption::Scoped(name, secondary, value) => options.scoped.set(name, secondary, value)?,
            DatabaseOption::UserAccess(value) => options.user_access = value,
        }
        database.set_options(options)
    }

    /// ALTER DATABASE SCOPED CONFIGURATION CLEAR PROCEDURE_CACHE: no plan that was made for the database is used again.
    ///
    /// # Errors
    /// 911, 926.
    pub fn clear_procedure_cache(&self, name: &str) -> Result<(), SqlError> {
        self.database(name)?.renew_version();
        Ok(())
    }

    /// ALTER DATABASE ... COLLATE, for a database that no session but `own`, if it is in it, uses.
    ///
    /// # Errors
    /// 911, 926; 3708 for master and tempdb, 5030 when other sessions use it, 5069 when it cannot be written down.
    pub fn set_database_collation(&self, name: &str, collation: Collation, own: &Database) -> Result<(), SqlError> {
        let database = self.database(name)?;
        if [MASTER, TEMPDB].iter().any(|of_server| name.eq_ignore_ascii_case(of_server)) {
            return Err(SqlError::system_object("alter", "database", name, "database"));
        }
        let own_sessions = i32::from(own.id() == database.id());
        if database.sessions() > own_sessions {
            return Err(SqlError::database_not_locked_exclusively());
        }
        database.set_options(DatabaseOptions { collation, ..database.options() })?;
        database.renew_version();
        Ok(())
    }

    /// The database of each system task that works for one, by the task's number.
    pub fn system_tasks(&self) -> HashMap<u64, i32> {
        let databases = read(&self.databases);
        let online = databases.values().filter_map(|entry| match entry {
            Entry::Online(database) => Some(database),
            _ => None,
        });
        online.flat_map(|it| it.system_tasks().into_iter().map(|task| (task, it.id()))).collect()
    }

    /// Gives an open database the policies of now; it was opened with those of the server's start.
    fn put_in_force(&self, configuration: &ServerConfiguration, database: &Database) {
        let writers = log_writers(configuration, &self.trace_flags, &self.placement);
        configuration.apply(database, writers, self.log_writer_cpus(configuration));
        self.put_pool_in_force(database.store());
    }

    /// Ends the server's work: every database writes a last checkpoint, so that the next start has nothing to recover. The
    /// schedulers stop when the server is dropped.
    ///
    /// # Errors
    /// The first database that could not be closed in order; the others are closed all the same.
    pub async fn shutdown(&self) -> Result<(), SqlError> {
        if self.closed.swap(true, Ordering::Relaxed) {
            return Ok(());
        }
        let online: Vec<Arc<Database>> = read(&self.databases)
            .values()
            .filter_map(|entry| match entry {
                Entry::Online(database) => Some(database.clone()),
                _ => None,
            })
            .collect();
        let mut result = Ok(());
        for database in online {
            let closed = database.close().await;
            result = result.and(closed);
        }
        result
    }

    /// Checks the databases of a folder that nobody has open: logs, pages, trees, catalogs. `progress` hears what is being
    /// looked at. A database that was not closed in order is recovered by it.
    ///
    /// # Errors
    /// A folder that is open elsewhere or is none.
    pub fn check(disk: &Disk, folder: &Path, progress: &mut dyn FnMut(&str)) -> Result<CheckReport, OpenError> {
        let unusable = |error: std::io::Error| folder_error(folder, error);
        let names = disk.list(folder).map_err(unusable)?;
        let _folder_lock = disk.lock_folder(folder).map_err(unusable)?;
        let options = ServerOptions {
            disk: disk.clone(),
            schedulers: SchedulerChoice::Simulated { seed: 1, count: 1 },
            ..ServerOptions::new(folder)
        };
        let statistics = Statistics::new();
        let (_, configuration) = read_configuration(&options)?;
        let schedulers = start_schedulers(&options, &PlacementPlan::default(), &statistics, None)?;
        let context = configuration.context(&options, &schedulers, &statistics, &Arc::default(), None);
        let mut report = CheckReport::default();
        for name in names {
            let database = folder.join(&name);
            if name == TEMPDB {
                // The next start makes it anew.
                continue;
            }
            if !disk.exists(database.join(DATABASE_FILE)) {
                continue;
            }
            progress(&name);
            let (mut lines, mut damage) = (Vec::new(), Vec::new());
            check_database(&context, &database, &mut lines, &mut damage);
            report.lines.extend(lines.into_iter().map(|line| format!("{name}: {line}")));
            report.damage.extend(damage.into_iter().map(|line| format!("{name}: {line}")));
        }
        Ok(report)
    }
}

impl Drop for Server {
    /// The threads end; what was committed with delayed durability and not flushed is lost unless the server was shut down.
    fn drop(&mut self) {
        self.schedulers.shutdown();
        for entry in read(&self.databases).values() {
            if let Entry::Online(database) = entry {
                database.transactions().close();
            }
        }
    }
}

/// The first log, from the database at `first` on, that commits of this scheduler wait for, and where it is. Its write is
/// not made under the list's lock: whoever adds or drops a database would wait for the device.
fn waiting_log(databases: &RwLock<Databases>, first: usize) -> Option<(usize, Arc<Log>)> {
    // Whoever adds a database is done soon; the hook is called again.
    let databases = databases.try_read().ok()?;
    databases.values().enumerate().skip(first).find_map(|(at, entry)| match entry {
        Entry::Online(database) if database.log().wants_step() => Some((at, database.log().clone())),
        _ => None,
    })
}

/// What a check found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CheckReport {
    /// What was looked at.
    pub lines: Vec<String>,
    /// What is wrong; empty: nothing.
    pub damage: Vec<String>,
}

fn folder_error(folder: &Path, error: std::io::Error) -> OpenError {
    let (folder, why) = (folder.to_path_buf(), error.to_string());
    if error.kind() == std::io::ErrorKind::ResourceBusy {
        OpenError::InUse { folder, why }
    } else {
        OpenError::Folder { folder, why }
    }
}

/// The folder of a database: its name, with what files systems do not take written as `%` and two digits.
fn folder_name(name: &str) -> String {
    let mut folder = String::new();
    for byte in name.to_lowercase().bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-') {
            folder.push(byte as char);
        } else {
            folder.push_str(&format!("%{byte:02X}"));
        }
    }
    folder
}

#[cfg(test)]
mod tests {
    #[test]
    fn folders_of_databases_have_plain_names() {
        assert_eq!(super::folder_name("Sales_2024"), "sales_2024");
        assert_eq!(super::folder_name("../a b"), "%2E%2E%2Fa%20b");
    }
}
