//! A database: its log, its store, its transactions and its catalog, opened together.
//!
//! ```text
//!   folder/database.toml   name, id, options, where the catalog's tree is
//!   folder/log/            the log
//!   folder/data/           the pages
//! ```
//!
//! # Opening
//! The store's master names where the log is needed from. One pass over the log redoes what the pages lack and finds the
//! transactions that did not end; those are undone; the catalog is read; trees that no definition names are given back; a
//! checkpoint ends it. A database that was closed in order has nothing to redo and nothing to undo.

mod alterations;
mod background;
mod build;
mod bulk_changed;
mod chain;
mod definition_triggers;
mod definitions;
mod filegroups;
mod files;
mod fill;
mod hypothetical;
mod identity;
pub(crate) mod limits;
mod messages;
mod modules;
mod named;
mod not_made;
mod online_check;
mod open;
mod partitions;
mod properties;
mod rebuild;
mod recovery;
mod replaced;
mod scoped;
mod security_policies;
mod sequences;
mod sizes;
mod statistics;
mod switches;
mod transfer;
mod triggers;
mod unlogged;
mod user_access;
mod user_types;

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;

use pikepole_contention::Statistics;
use pikepole_contention::sync::Mutex;
use pikepole_contention::sync::atomic::{AtomicBool, AtomicI32, AtomicU8, AtomicU32, AtomicU64, Ordering};
use pikepole_log::{Log, LogStats, Lsn};
use pikepole_machine::{Disk, is_full};
use pikepole_memory::MemoryTransactions;
use pikepole_scheduler::Schedulers;
use pikepole_storage::{LevelShape, PageId, ShapeDepth, StorageError, Store};
use pikepole_transaction::{LockRow, OpenTransaction, Structure, TableLock, TransactionRow, Transactions};
use pikepole_types::{CodePage, SqlError};

use crate::catalog::definition::StorageRef;
use crate::catalog::{Catalog, Object};
use crate::error::Place;
use crate::in_memory::InMemoryCheckpoints;
use crate::server::TraceFlags;
use crate::transaction::Transaction;
use background::SystemTasks;
pub(crate) use chain::Hold;
pub use chain::LogFullReason;
pub use definitions::{
    ColumnDefinition, IndexDefinition, IndexExtras, IndexKind, RecordChange, TableDefinition, Tested, generated_name,
};
pub use filegroups::FilegroupChange;
pub(crate) use files::{DATABASE_FILE, DatabaseFile, LogChain, Restoring};
pub use files::{DatabaseOptions, DelayedDurability, RecoveryModel};
pub use fill::Fill;
pub(crate) use identity::Mark;
pub use limits::{key_warning, row_warning};
pub use messages::MessageChange;
pub use modules::{DeclaredNames, ModuleDefinition, PutMode};
pub use named::{NAMED_LOCK_FIRST, NamedLock};
pub(crate) use not_made::NotMade;
pub use online_check::{PageCheck, PageFinding};
pub(crate) use open::{OpenContext, check_database};
pub use properties::{PropertyChange, PropertyPlace};
pub use rebuild::{NewColumn, RowMap};
pub(crate) use recovery::Teller;
pub use recovery::{RecoveryProgress, RecoveryWatch};
pub use scoped::{ScopedConfiguration, ScopedKind, ScopedName, ScopedRow, ScopedValue};
pub use security_policies::PolicyChange;
pub use sequences::NumberRange;
pub use sizes::{FileState, FileWish};
use statistics::WantedStatistics;
pub use statistics::{SampleSize, StatisticsDefinition};
pub use switches::Switches;
pub use triggers::TriggerDefinition;
pub use user_access::{Admission, UserAccess};

/// Locks a mutex whose data stays whole whatever a panicking holder did: each critical section changes it in one step.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> pikepole_contention::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|e| e.into_inner())
}

/// When a commit returns, as a statement asks for it. The database's option comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Durability {
    /// When it is durable.
    #[default]
    Full,
    /// At once; it becomes durable with a later flush.
    Delayed,
    /// At once; who commits waits with [`Database::harden`] before anybody outside hears of it.
    Promised,
}

/// A database that is open.
pub struct Database {
    id: i32,
    name: String,
    created_us: u64,
    folder: PathBuf,
    catalog_root: u32,
    disk: Disk,
    schedulers: Arc<Schedulers>,
    statistics: Arc<Statistics>,
    pub(crate) trace_flags: Arc<TraceFlags>,
    log: Arc<Log>,
    store: Arc<Store>,
    transactions: Arc<Transactions>,
    /// The transactions of in-memory tables.
    memory: Arc<MemoryTransactions>,
    in_memory: InMemoryCheckpoints,
    catalog_tree: Structure,
    catalog_lock: Arc<TableLock>,
    named_locks: Mutex<named::NamedLocks>,
    named_lock_next: AtomicU32,
    catalog: Mutex<Arc<Catalog>>,
    catalog_version: AtomicU64,
    version_next: AtomicU64,
    object_id_next: AtomicI32,
    storage_next: AtomicU32,
    /// Also the turn of whoever writes `database.toml`.
    options: Mutex<DatabaseOptions>,
    /// What the database and its restored copies have in common.
    family: u64,
    chain: Mutex<chain::Kept>,
    /// MEMORY_OPTIMIZED_ELEVATE_TO_SNAPSHOT of `options`.
    elevates: AtomicBool,
    /// [`DelayedDurability`] of `options`, for the commit's way.
    delayed_durability: AtomicU8,
    /// The number of the code page of its collation: read for each argument of a call.
    code_page: AtomicU32,
    /// MAXDOP of its scoped configuration: looked at for each plan that can be parallel.
    degree: AtomicU32,
    /// When DBCC CHECKDB last found nothing wrong; 0: never.
    good_check_us: AtomicU64,
    /// Writes high-water marks of identity values and rowversion numbers and positions of sequences, each in a transaction of its own.
    system: Mutex<pikepole_transaction::Transaction>,
    to_free: Mutex<Vec<u32>>,
    /// Storage that is to be freed when the transactions without a session are rolled back.
    left_behind: Mutex<Vec<u32>>,
    statistics_wanted: Mutex<Vec<WantedStatistics>>,
    stopping: AtomicBool,
    checkpoint_wanted: AtomicBool,
    /// For want of room in the log.
    log_space_wanted: AtomicBool,
    /// Checkpoints that the checkpoint task has tried.
    checkpoints: AtomicU64,
    /// Bytes of log written up to the last checkpoint.
    written_at_checkpoint: AtomicU64,
    /// Whether the last checkpoint failed.
    checkpoint_failed: AtomicBool,
    /// Why.
    checkpoint_error: Mutex<Option<StorageError>>,
    /// Transactions that were rolled back but for changes that could not be undone yet; see [`Database::rollback`].
    deferred: Mutex<Vec<Transaction>>,
    /// Log bytes after which a checkpoint is due.
    checkpoint_bytes: u64,
    tasks: Mutex<SystemTasks>,
    sessions: AtomicI32,
    /// See [`user_access`].
    sole_user: Mutex<i32>,
    row_versions: identity::RowVersions,
}

impl std::fmt::Debug for Database {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Database({})", self.name)
    }
}

impl Database {
    /// The database's id.
    pub fn id(&self) -> i32 {
        self.id
    }

    /// The database's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// When it was created, in microseconds since 1970.
    pub fn created_us(&self) -> u64 {
        self.created_us
    }

    /// The folder with its files.
    pub fn folder(&self) -> &std::path::Path {
        &self.folder
    }

    /// Its options.
    pub fn options(&self) -> DatabaseOptions {
        *lock(&self.options)
    }

    /// The code page of texts that nothing else gives a collation.
    pub fn code_page(&self) -> CodePage {
        let number = self.code_page.load(Ordering::Relaxed);
        u16::try_from(number).ok().and_then(CodePage::by_number).unwrap_or(CodePage::Western)
    }

    /// MAXDOP of its scoped configuration; 0: the server's.
    pub fn degree(&self) -> usize {
        self.degree.load(Ordering::Relaxed) as usize
    }

    /// Plans are made for the values of a call's parameters: PARAMETER_SNIFFING of its scoped configuration.
    pub fn sniffs_parameters(&self) -> bool {
        lock(&self.options).scoped.sniffs_parameters()
    }

    /// Sets its options, durably.
    ///
    /// # Errors
    /// When the file of options cannot be written, 1105 on a full disk, else 5069.
    pub(crate) fn set_options(&self, options: DatabaseOptions) -> Result<(), SqlError> {
        let mut current = lock(&self.options);
        let chain = lock(&self.chain).chain.filter(|_| options.recovery != RecoveryModel::Simple);
        let chain = chain.map(|chain| chain.under(options.recovery));
        let file = DatabaseFile { options, chain, ..self.file(&current) };
        file.write(&self.disk, &self.folder).map_err(|error| self.not_noted(&error))?;
        // That the log may lack rows is noted before it does.
        match (current.recovery.logs_all_rows(), options.recovery.logs_all_rows()) {
            (false, true) => self.store.need_rows_in_log(),
            (true, false) => self.store.need_rows_no_more(),
            _ => {}
        }
        *current = options;
        lock(&self.chain).chain = chain;
        self.delayed_durability.store(options.delayed_durability as u8, Ordering::Relaxed);
        self.elevates.store(options.switches.is_on(switches::ELEVATE), Ordering::Relaxed);
        self.degree.store(options.scoped.degree().into(), Ordering::Relaxed);
        self.code_page.store(options.collation.code_page().number().into(), Ordering::Relaxed);
        self.transactions.set_locks_reads(!options.read_committed_snapshot);
        Ok(())
    }

    /// When a check of the whole database last found nothing wrong, in microseconds since 1970.
    pub fn last_good_check_us(&self) -> Option<u64> {
        Some(self.good_check_us.load(Ordering::Relaxed)).filter(|at| *at > 0)
    }

    /// A check of the whole database, begun at this time, has found nothing wrong. Kept durably.
    ///
    /// # Errors
    /// When the file of options cannot be written, 1105 on a full disk, else 5069.
    pub fn note_good_check(&self, at_us: u64) -> Result<(), SqlError> {
        let options = lock(&self.options);
        self.good_check_us.store(at_us, Ordering::Relaxed);
        self.file(&options).write(&self.disk, &self.folder).map_err(|error| self.not_noted(&error))
    }

    /// Returns the error of a statement when the file of options cannot be written.
    pub(crate) fn not_noted(&self, error: &std::io::Error) -> SqlError {
        match is_full(error) {
            true => SqlError::no_space_for_object(DATABASE_FILE, self.name(), "PRIMARY"),
            false => SqlError::alter_database_failed(),
        }
    }

    fn file(&self, options: &DatabaseOptions) -> DatabaseFile {
        DatabaseFile {
            format: options.format(),
            id: self.id,
            name: self.name.clone(),
            created_us: self.created_us,
            catalog_root: self.catalog_root,
            options: *options,
            family: self.family,
            replaces: None,
            chain: lock(&self.chain).chain,
            restoring: None,
            offline: false,
            good_check_us: self.last_good_check_us(),
        }
    }

    /// Whether a commit that asks for `durability` waits for the disk.
    #[inline]
    pub(crate) fn is_full(&self, durability: Durability) -> bool {
        let option = self.delayed_durability.load(Ordering::Relaxed);
        if option == DelayedDurability::Allowed as u8 {
            durability != Durability::Delayed
        } else {
            option == DelayedDurability::Disabled as u8
        }
    }

    /// Transactions below SNAPSHOT read in-memory tables as of SNAPSHOT, without a hint.
    #[inline]
    pub(crate) fn elevates_to_snapshot(&self) -> bool {
        self.elevates.load(Ordering::Relaxed)
    }

    /// What it counts in: the counters that are its own, and the server's.
    pub fn statistics(&self) -> &Arc<Statistics> {
        &self.statistics
    }

    pub(crate) fn disk(&self) -> &Disk {
        &self.disk
    }

    /// The log.
    pub fn log(&self) -> &Arc<Log> {
        &self.log
    }

    /// The pages.
    pub fn store(&self) -> &Arc<Store> {
        &self.store
    }

    /// The transactions.
    pub(crate) fn transactions(&self) -> &Arc<Transactions> {
        &self.transactions
    }

    /// The transactions of in-memory tables.
    pub fn memory(&self) -> &Arc<MemoryTransactions> {
        &self.memory
    }

    /// The checkpoints of in-memory tables.
    pub(crate) fn in_memory_checkpoints(&self) -> &InMemoryCheckpoints {
        &self.in_memory
    }

    /// The log's figures.
    pub fn log_stats(&self) -> LogStats {
        self.log.stats()
    }

    /// The transactions that have changed something and not ended.
    pub fn active_transactions(&self) -> Vec<TransactionRow> {
        self.transactions.active()
    }

    /// The transactions that sessions have begun and not ended, in the order of their sessions.
    pub fn open_transactions(&self) -> Vec<OpenTransaction> {
        self.transactions.open()
    }

    /// The locks of tables, rows and keys that sessions hold or wait for.
    pub fn locks(&self) -> Vec<LockRow> {
        self.transactions.locks()
    }

    /// Older row versions in memory.
    pub fn versions_count(&self) -> usize {
        self.transactions.versions_count()
    }

    /// A session begins to use the database; while one does, the database cannot be dropped.
    pub fn enter(&self) {
        self.sessions.fetch_add(1, Ordering::Relaxed);
    }

    /// A session that had entered uses another database, or is gone.
    pub fn leave(&self) {
        self.sessions.fetch_sub(1, Ordering::Relaxed);
    }

    /// The levels of a tree, leaves first, or a heap's pages. Blocks while pages are read.
    ///
    /// # Errors
    /// 823 and its like, for a disk that fails.
    pub fn shape_of(&self, storage: StorageRef, depth: ShapeDepth) -> Result<Vec<LevelShape>, SqlError> {
        let shape = self.store.shape_of(storage.object, storage.root.map(PageId), depth);
        shape.map_err(|error| Place { database: self, object: "", session_id: 0 }.storage(&error))
    }

    /// How often sessions are in the database: one for each, and one for each transaction of another database's that works here too.
    pub fn sessions(&self) -> i32 {
        self.sessions.load(Ordering::Relaxed)
    }

    /// The definitions as `tx` sees them: its own uncommitted ones included.
    pub fn catalog(&self, tx: &Transaction) -> Arc<Catalog> {
        match &tx.definitions.catalog {
            Some(catalog) => catalog.clone(),
            None => self.current_catalog(),
        }
    }

    /// The version of [`Database::catalog`], at the cost of one load.
    #[inline]
    pub fn catalog_version(&self, tx: &Transaction) -> u64 {
        match &tx.definitions.catalog {
            Some(catalog) => catalog.version(),
            // Acquire pairs with the Release in `publish_catalog`.
            None => self.catalog_version.load(Ordering::Acquire),
        }
    }

    /// The version of the committed definitions.
    pub fn committed_version(&self) -> u64 {
        // Acquire pairs with the Release in `publish_catalog`.
        self.catalog_version.load(Ordering::Acquire)
    }

    /// The committed definitions.
    pub fn current_catalog(&self) -> Arc<Catalog> {
        lock(&self.catalog).clone()
    }

    /// A version that no catalog has had.
    pub(crate) fn new_version(&self) -> u64 {
        self.version_next.fetch_add(1, Ordering::Relaxed)
    }

    /// Gives the committed definitions another version: nothing that was bound against them is used again.
    pub(crate) fn renew_version(&self) {
        let mut current = lock(&self.catalog);
        let mut catalog = Catalog::clone(&current);
        catalog.version = self.new_version();
        // Release pairs with the Acquire in `catalog_version`.
        self.catalog_version.store(catalog.version(), Ordering::Release);
        *current = Arc::new(catalog);
    }

    /// Makes `catalog` the current one: a transaction that changed definitions has committed and still holds its locks. What is
    /// logged from now on lies behind `log_end`.
    pub(crate) fn publish_catalog(&self, catalog: Arc<Catalog>, created: &[u32], log_end: Lsn) {
        let mut current = lock(&self.catalog);
        let mut gone = created.to_vec();
        for table in current.tables() {
            let new = catalog.table_by_id(table.object_id);
            if !new.is_some_and(|new| Arc::ptr_eq(new, table)) {
                gone.extend(table.storages().map(|storage| storage.object));
                table.state.publish(new.map_or(u64::MAX, |new| new.version), log_end);
                if table.forget_rows_unless_kept(new) && new.is_some() {
                    table.state.note_moved(self.memory.now());
                }
            }
        }
        if !gone.is_empty() {
            let kept: HashSet<u32> = catalog.tables().flat_map(|t| t.storages().map(|s| s.object)).collect();
            gone.retain(|object| !kept.contains(object));
        }
        for sequence in current.sequences() {
            let is_kept = match catalog.object_by_id(sequence.object_id) {
                Some(Object::Sequence(new)) => Arc::ptr_eq(&new.state, &sequence.state),
                _ => false,
            };
            if !is_kept {
                sequence.state.publish(u64::MAX);
            }
        }
        // Release pairs with the Acquire in `catalog_version`.
        self.catalog_version.store(catalog.version(), Ordering::Release);
        *current = catalog;
        drop(current);
        self.free_later(gone);
    }

    /// A rollback that cannot go on now is tried again in the background.
    pub(crate) fn put_aside(&self, deferred: Transaction) {
        lock(&self.deferred).push(deferred);
    }

    /// Storage that no definition names any more is given back in the background.
    pub(crate) fn free_later(&self, objects: impl IntoIterator<Item = u32>) {
        lock(&self.to_free).extend(objects);
    }

    /// The same, of a session that ended in the middle of a transaction, which waits to be rolled back.
    pub(crate) fn free_after_rollbacks(&self, objects: Vec<u32>) {
        lock(&self.left_behind).extend(objects);
    }

    pub(crate) async fn satisfy_storage(&self, need: pikepole_storage::Need) -> Result<(), StorageError> {
        use pikepole_contention::WaitType;
        use pikepole_storage::Need;
        let wait_type = match need {
            Need::Page(_) | Need::Pages(_) => WaitType::PAGEIOLATCH_SH,
            Need::PageLatch(_) => WaitType::PAGELATCH_EX,
            Need::LogBuffer => WaitType::LOGBUFFER,
            Need::Frame | Need::Space => WaitType::IO_COMPLETION,
        };
        pikepole_scheduler::wait(wait_type, self.store.satisfy(need)).await
    }
}

/// The present time, in microseconds since 1970.
pub(crate) fn now_us() -> u64 {
    u64::try_from(pikepole_machine::clock::unix_time_us()).unwrap_or(0)
}
