//! Making, opening, checking a database.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::server::TraceFlags;
use pikepole_contention::Statistics;
use pikepole_contention::sync::Mutex;
use pikepole_contention::sync::atomic::{AtomicBool, AtomicI32, AtomicU8, AtomicU32, AtomicU64, Ordering};
use pikepole_log::{Log, LogOptions, Lsn, OpenFrom};
use pikepole_machine::Disk;
use pikepole_memory::{MemoryTransactions, Timestamps};
use pikepole_scheduler::Schedulers;
use pikepole_storage::{
    Direction, HeapInsertTargets, Master, PageId, ScanRange, StorageError, Store, StoreOptions, TornPages, Tree,
};
use pikepole_transaction::{
    Analysis, NestedTransactions, Structure, TableLock, TransactionId, TransactionIds, Transactions, WaitGraph,
};

use super::background::SystemTasks;
use super::chain::Kept;

use super::files::{DatabaseFile, DatabaseOptions, FORMAT};
use super::identity::{ROWVERSIONS_ID, RowVersions};
use super::not_made::NotMade;
use super::recovery::{RecoveryWatch, pass_over_log};
use super::{Database, lock, now_us, switches};
use crate::catalog::definition::{Schema, StoredObject, TableRecord};
use crate::catalog::rows::{CATALOG_KEY_BYTES, CATALOG_OBJECT, Decoder, RowKind, STORAGE_FIRST, encode, row_key};
use crate::catalog::sequence::{Sequence, SequenceState};
use crate::catalog::{BUILT_IN_SCHEMAS, Catalog, OBJECT_ID_FIRST, Object};
use crate::in_memory::{InMemoryCheckpoints, Manifest, Occasion};
use crate::security::{Level, Principals};
use crate::table::{Table, TableState, open_storage};

/// The session that the system's own transactions name.
const SYSTEM_SESSION: i32 = 5;

/// What a database is opened with.
#[derive(Clone)]
pub(crate) struct OpenContext {
    pub disk: Disk,
    pub schedulers: Arc<Schedulers>,
    pub statistics: Arc<Statistics>,
    pub log: LogOptions,
    pub store: StoreOptions,
    pub ids: TransactionIds,
    pub nested: NestedTransactions,
    pub trace_flags: Arc<TraceFlags>,
    pub heap_targets: HeapInsertTargets,
    pub torn_pages: TornPages,
    pub timestamps: Timestamps,
    /// Log bytes after which a checkpoint is due.
    pub checkpoint_bytes: u64,
    /// Is told of recoveries that take long.
    pub recovery_watch: Option<RecoveryWatch>,
    /// Databases opened so far by this server.
    pub opened: Arc<AtomicU64>,
    /// Who waits for whom, in all of them.
    pub waits: Arc<WaitGraph>,
    /// The CPUs that log writers are pinned to, in turn; none: the kernel places them.
    pub log_writer_cpus: Vec<usize>,
}

/// Every row of the catalog's tree, as it is on the pages; deleted ones too when `ghosts`.
fn read_catalog(store: &Store, tree: &Tree, ghosts: bool) -> Result<Decoder, String> {
    let mut decoder = Decoder::default();
    let mut scan = tree.scan(ScanRange {
        low: std::ops::Bound::Unbounded,
        high: std::ops::Bound::Unbounded,
        direction: Direction::Forward,
    });
    while store.until_done(|| scan.next_batch()).map_err(|e| e.to_string())? {
        for row in scan.rows() {
            if ghosts || !row.header.is_ghost() {
                decoder.row(row.key, row.rest);
            }
        }
    }
    Ok(decoder.finish())
}

/// Finds trees and heaps by their numbers while transactions are undone: by the definitions as they are on the pages,
/// committed or not, deleted or not, read again when a number is not among them (undoing may have brought it back).
struct StructureFinder<'a> {
    store: &'a Arc<Store>,
    catalog: Tree,
    known: std::collections::HashMap<u32, Structure>,
}

impl StructureFinder<'_> {
    fn find(&mut self, object: u32) -> Result<Option<Structure>, String> {
        if object == CATALOG_OBJECT {
            return Ok(Some(Structure::Tree(self.catalog.clone())));
        }
        if !self.known.contains_key(&object) {
            let decoder = read_catalog(self.store, &self.catalog, true)?;
            for table in decoder.objects.iter().filter_map(as_table) {
                for storage in table.storages() {
                    self.known
                        .insert(storage.object, open_storage(self.store, storage, table.overflow == Some(storage)));
                }
            }
        }
        Ok(self.known.get(&object).cloned())
    }
}

fn as_table(object: &StoredObject) -> Option<&TableRecord> {
    match object {
        StoredObject::Table(table) => Some(table),
        _ => None,
    }
}

impl Database {
    /// Makes a database in `folder`, which holds none: whatever an interrupted attempt left there is removed.
    ///
    /// # Errors
    /// The reason; nothing of the attempt is left.
    pub(crate) fn create(context: &OpenContext, folder: &Path, name: &str, id: i32) -> Result<Arc<Database>, NotMade> {
        let made = Self::make(context, folder, name, id);
        if made.is_err() {
            // A full disk is not to stay so because of what was not made.
            let _ = context.disk.remove_dir_all(folder);
        }
        made
    }

    fn make(context: &OpenContext, folder: &Path, name: &str, id: i32) -> Result<Arc<Database>, NotMade> {
        let disk = &context.disk;
        if disk.exists(folder) {
            disk.remove_dir_all(folder)?;
        }
        let (data, logs) = (folder.join("data"), folder.join("log"));
        disk.create_dir_all(&data)?;
        disk.create_dir_all(&logs)?;
        let statistics = &context.statistics.of_database(name);
        let log = Arc::new(Log::create(disk, &logs, context.log.clone(), statistics)?);
        let store = Store::create(disk, &data, context.store.clone(), log, statistics.clone())?;
        let tree = store.until_done(|| Tree::create(&store, CATALOG_OBJECT, CATALOG_KEY_BYTES))?;
        write_built_in_schemas(&store, &tree)?;
        let truncate = store.checkpoint_now(&|| None, &|| 1, false)?;
        store.log().truncate(truncate);
        disk.sync_dir(folder)?;
        let file = DatabaseFile {
            format: FORMAT,
            id,
            name: name.to_owned(),
            created_us: now_us(),
            catalog_root: tree.root().0,
            options: DatabaseOptions::default(),
            family: store.log().id() >> 1,
            replaces: None,
            chain: None,
            restoring: None,
            offline: false,
            good_check_us: None,
        };
        file.write(disk, folder)?;
        Ok(Self::assemble(context, folder, file, store, &tree, TransactionId(1))?)
    }

    /// Opens the database in `folder`, recovering it if it was not closed in order.
    ///
    /// # Errors
    /// What is damaged or missing, for people.
    pub(crate) fn open(context: &OpenContext, folder: &Path, file: DatabaseFile) -> Result<Arc<Database>, String> {
        let (data, logs) = (folder.join("data"), folder.join("log"));
        let statistics = &context.statistics.of_database(&file.name);
        let master = Store::read_master(&context.disk, &data).map_err(|e| e.to_string())?;
        let in_memory = Manifest::read(&context.disk, folder)?;
        let from = log_from(&master, in_memory.as_ref());
        let (log, mut reader) =
            Log::open(&context.disk, &logs, context.log.clone(), statistics, from).map_err(|e| e.to_string())?;
        let in_memory_log = in_memory.as_ref().map(|_| reader.clone());
        let log = Arc::new(log);
        let store = Store::open(&context.disk, &data, context.store.clone(), log, statistics.clone())
            .map_err(|e| e.to_string())?;
        let watch = context.recovery_watch.as_ref();
        let analysis = pass_over_log(&store, &mut reader, &master, &file.name, watch)?;
        let next = analysis.next_id(TransactionId(master.next_transaction));
        let root = PageId(file.catalog_root);
        let tree = Tree::open(&store, CATALOG_OBJECT, root, CATALOG_KEY_BYTES);
        undo(&store, &tree, analysis)?;
        let database = Self::assemble(context, folder, file, store, &tree, next)?;
        if let (Some(manifest), Some(log)) = (&in_memory, in_memory_log) {
            database.load_in_memory(manifest, log, watch)?;
        }
        if !master.clean {
            database.finish_recovery()?;
        }
        Ok(database)
    }

    /// Gives back what no definition names, and notes that recovery need not be done again.
    fn finish_recovery(&self) -> Result<(), String> {
        let catalog = self.current_catalog();
        let live: Vec<u32> = catalog.tables().flat_map(|t| t.storages().map(|s| s.object)).collect();
        let is_live = |object: u32| object < STORAGE_FIRST || live.contains(&object);
        self.store.until_done(|| self.store.free_unowned(&is_live)).map_err(|e| e.to_string())?;
        self.checkpoint_now(false).map_err(|e| e.to_string())
    }

    fn assemble(
        context: &OpenContext,
        folder: &Path,
        file: DatabaseFile,
        store: Arc<Store>,
        tree: &Tree,
        next: TransactionId,
    ) -> Result<Arc<Database>, String> {
        let decoder = read_catalog(&store, tree, false)?;
        if let Some(damage) = decoder.damage.first() {
            return Err(format!("the catalog is damaged: {damage}"));
        }
        store.set_heap_insert_targets(context.heap_targets);
        store.set_torn_pages(context.torn_pages);
        let log = store.log().clone();
        let statistics = store.statistics().clone();
        let transactions = Transactions::new(log.clone(), statistics.clone(), next, context.ids, context.waits.clone());
        transactions.set_nested(context.nested);
        transactions.set_locks_reads(!file.options.read_committed_snapshot);
        let mut catalog = build_catalog(&decoder, &store, &statistics);
        let row_versions = RowVersions::resume(decoder.mark(ROWVERSIONS_ID));
        // A plan is known by database id and version. A database that takes the place of another one, restored or made
        // anew, has versions of its own.
        catalog.version = context.opened.fetch_add(1, Ordering::Relaxed) << 32 | 1;
        let storage_max = catalog.tables().flat_map(|t| t.storages().map(|s| s.object)).max();
        let object_id_next = catalog.object_id_max().max(OBJECT_ID_FIRST - 1) + 1;
        let memory = Arc::new(MemoryTransactions::new(&statistics));
        memory.set_timestamps(context.timestamps);
        let database = Arc::new(Database {
            family: file.family(),
            chain: Mutex::new(Kept::new(file.chain, file.options.recovery)),
            id: file.id,
            name: file.name,
            created_us: file.created_us,
            folder: PathBuf::from(folder),
            catalog_root: file.catalog_root,
            disk: context.disk.clone(),
            schedulers: context.schedulers.clone(),
            statistics,
            trace_flags: context.trace_flags.clone(),
            log,
            transactions: transactions.clone(),
            catalog_tree: Structure::Tree(tree.clone()),
            catalog_lock: Arc::new(TableLock::new(0)),
            named_locks: Mutex::new(Vec::new()),
            named_lock_next: AtomicU32::new(0),
            catalog_version: AtomicU64::new(catalog.version),
            version_next: AtomicU64::new(catalog.version + 1),
            catalog: Mutex::new(Arc::new(catalog)),
            object_id_next: AtomicI32::new(object_id_next),
            storage_next: AtomicU32::new(storage_max.map_or(STORAGE_FIRST, |max| max + 1)),
            memory,
            in_memory: InMemoryCheckpoints::new(Manifest::read(&context.disk, folder)?),
            elevates: AtomicBool::new(file.options.switches.is_on(switches::ELEVATE)),
            delayed_durability: AtomicU8::new(file.options.delayed_durability as u8),
            code_page: AtomicU32::new(file.options.collation.code_page().number().into()),
            degree: AtomicU32::new(file.options.scoped.degree().into()),
            good_check_us: AtomicU64::new(file.good_check_us.unwrap_or(0)),
            options: Mutex::new(file.options),
            system: Mutex::new(transactions.session(SYSTEM_SESSION)),
            to_free: Mutex::new(Vec::new()),
            left_behind: Mutex::new(Vec::new()),
            statistics_wanted: Mutex::new(Vec::new()),
            stopping: AtomicBool::new(false),
            checkpoint_wanted: AtomicBool::new(false),
            log_space_wanted: AtomicBool::new(false),
            checkpoints: AtomicU64::new(0),
            written_at_checkpoint: AtomicU64::new(0),
            checkpoint_failed: AtomicBool::new(false),
            checkpoint_error: Mutex::new(None),
            deferred: Mutex::new(Vec::new()),
            checkpoint_bytes: context.checkpoint_bytes,
            tasks: Mutex::new(SystemTasks::new(context.log_writer_cpus.clone())),
            sessions: AtomicI32::new(0),
            sole_user: Mutex::new(0),
            row_versions,
            store,
        });
        if database.options().recovery.logs_all_rows() {
            database.store.need_rows_in_log();
        }
        if database.has_file_settings() {
            database.apply_file_settings();
        }
        Ok(database)
    }

    /// Writes a checkpoint and lets go of the log before it; blocks.
    pub(crate) fn checkpoint_now(&self, clean: bool) -> Result<(), pikepole_storage::StorageError> {
        let transactions = &self.transactions;
        let oldest = || transactions.oldest_first_lsn();
        let next = || transactions.next_id().0;
        let truncate = self.store.checkpoint_now(&oldest, &next, clean)?;
        self.truncate_log(truncate);
        Ok(())
    }

    /// Gives back the storage of committed drops; blocks.
    pub(crate) fn free_now(&self) -> Result<(), pikepole_storage::StorageError> {
        loop {
            let Some(object) = lock(&self.to_free).pop() else {
                return Ok(());
            };
            self.transactions.forget_ghosts(object);
            if let Err(error) = self.store.until_done(|| self.store.free_object(object)) {
                lock(&self.to_free).push(object);
                return Err(error);
            }
        }
    }

    /// The blocking pool's part of a database being closed: nothing else runs any more.
    pub(crate) fn close_files(&self) -> Result<(), String> {
        self.free_now().map_err(|e| e.to_string())?;
        self.checkpoint_in_memory(Occasion::Checkpoint).map_err(|e| e.to_string())?;
        let clean = lock(&self.deferred).is_empty();
        self.checkpoint_now(clean).map_err(|e| e.to_string())?;
        self.log.shutdown().map_err(|e| e.to_string())
    }

    /// What a check says of one tree or heap.
    fn object_line(&self, object: &pikepole_storage::ObjectReport) -> String {
        let catalog = self.current_catalog();
        let table = catalog.tables().find(|t| t.storages().any(|s| s.object == object.object));
        let name = table.map_or_else(|| "the catalog".to_owned(), |table| table.full_name());
        let of_parts = table.and_then(|table| table.record().overflow).is_some_and(|at| at.object == object.object);
        let kind = match object.is_tree {
            true => "tree",
            false if of_parts => "long values",
            false => "heap",
        };
        format!(
            "{kind} {} of {name}: {} pages, {} rows, {} deleted rows",
            object.object, object.pages, object.rows, object.ghosts
        )
    }

    /// Whether the database is being closed.
    pub(crate) fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Relaxed)
    }
}

/// The place to open the log at: where the pages need it from, or in-memory tables, if that is lower.
fn log_from(master: &Master, in_memory: Option<&Manifest>) -> OpenFrom {
    let from = master.log_from();
    match in_memory.map(|manifest| Lsn(manifest.log_from)).filter(|lsn| *lsn < from.start) {
        Some(start) => OpenFrom { start, place: None, ..from },
        None => from,
    }
}

fn undo(store: &Arc<Store>, catalog: &Tree, analysis: Analysis) -> Result<(), String> {
    let mut finder = StructureFinder { store, catalog: catalog.clone(), known: std::collections::HashMap::new() };
    let mut damage = None;
    analysis
        .undo(store, |object| {
            Ok(finder.find(object).unwrap_or_else(|why| {
                damage.get_or_insert(why);
                None
            }))
        })
        .map_err(|e| e.to_string())?;
    damage.map_or(Ok(()), Err)
}

fn write_built_in_schemas(store: &Store, tree: &Tree) -> Result<(), StorageError> {
    let mut cursor = pikepole_storage::TreeCursor::new();
    for (schema_id, name, owner) in BUILT_IN_SCHEMAS {
        let object = StoredObject::Schema(Schema { schema_id, name: name.to_owned(), owner });
        let context = pikepole_storage::LogContext::new(TransactionId::SYSTEM.0);
        for (chunk, bytes) in encode(&object).iter().enumerate() {
            let key = row_key(RowKind::Object, object.stored_id(), chunk as u32);
            store.until_done(|| tree.insert(&mut cursor, &context, &key, bytes))?;
        }
    }
    Ok(())
}

fn build_catalog(decoder: &Decoder, store: &Arc<Store>, statistics: &Arc<Statistics>) -> Catalog {
    let mut catalog = Catalog::default();
    catalog.version = 1;
    let mut logins = Principals::clone(catalog.logins());
    let mut users = Principals::clone(catalog.users());
    for object in &decoder.objects {
        match object {
            StoredObject::Schema(schema) => catalog.put_schema(schema.clone()),
            StoredObject::Procedure(module) => catalog.put(Object::Procedure(Arc::new(module.clone()))),
            StoredObject::View(module) => catalog.put(Object::View(Arc::new(module.clone()))),
            StoredObject::Function(module) => catalog.put(Object::Function(Arc::new(module.clone()))),
            StoredObject::Trigger(trigger) => catalog.put(Object::Trigger(Arc::new(trigger.clone()))),
            StoredObject::SecurityPolicy(policy) => catalog.put(Object::SecurityPolicy(Arc::new(policy.clone()))),
            StoredObject::DefinitionTrigger(trigger) => catalog.put_definition_trigger(Arc::new(trigger.clone())),
            StoredObject::PartitionFunction(function) => catalog.put_partition_function(Arc::new(function.clone())),
            StoredObject::PartitionScheme(scheme) => catalog.put_partition_scheme(Arc::new(scheme.clone())),
            StoredObject::Synonym(synonym) => catalog.put(Object::Synonym(Arc::new(synonym.clone()))),
            StoredObject::Sequence(record) => {
                let own =
                    |(id, generation, _): &&(i32, u32, _)| (*id, *generation) == (record.object_id, record.generation);
                let noted = decoder.positions.iter().find(own).map(|(_, _, position)| *position);
                let position = noted.unwrap_or(record.position);
                let state = SequenceState::new(record.object_id, 1, position, noted.is_some(), statistics);
                catalog.put(Object::Sequence(Arc::new(Sequence::new(record.clone(), 1, state))));
            }
            StoredObject::Type(user_type) => catalog.put_type(Arc::new(user_type.clone())),
            StoredObject::Table(record) => {
                let state = TableState::new(record.object_id, 1, statistics);
                if let Some(next) = decoder.mark(record.object_id) {
                    state.resume_identity(next);
                }
                catalog.put(Object::Table(Arc::new(Table::new(record.clone(), 1, state, store))));
            }
            StoredObject::Properties(properties) => catalog.put_properties(properties.clone()),
            StoredObject::Message(message) => catalog.put_message(message.clone()),
            StoredObject::Filegroup(filegroup) => catalog.put_filegroup(Arc::new(filegroup.clone())),
            StoredObject::File(file) => catalog.put_file(Arc::new(file.clone())),
            StoredObject::Statistics(statistics) => catalog.put_statistics(statistics.clone()),
            StoredObject::Principal(principal) => match principal.kind.level() {
                Level::Server => logins.put(principal.clone()),
                Level::Database => users.put(principal.clone()),
            },
        }
    }
    catalog.set_principals(Level::Server, Arc::new(logins));
    catalog.set_principals(Level::Database, Arc::new(users));
    catalog
}

/// Checks a database that is not open: its log, then all that DBCC CHECKDB looks at, after recovering it if it was not closed
/// in order. The lines say what was looked at; the damage what is wrong.
pub(crate) fn check_database(context: &OpenContext, folder: &Path, lines: &mut Vec<String>, damage: &mut Vec<String>) {
    let file = match DatabaseFile::read(&context.disk, folder) {
        Ok(file) => file,
        Err(why) => return damage.push(why),
    };
    if file.restoring.is_some() {
        return lines.push("in the middle of a restore: there is nothing to check before it ends".to_owned());
    }
    match Log::check(&context.disk, folder.join("log")) {
        Ok(report) => lines.push(format!(
            "log: {} segments, {} blocks, {} records, {} bytes, LSN {} to {}",
            report.segments, report.blocks, report.records, report.record_bytes, report.start, report.end
        )),
        Err(error) => damage.push(format!("log: {error}")),
    }
    let database = match Database::open(context, folder, file) {
        Ok(database) => database,
        Err(why) => return damage.push(format!("opening: {why}")),
    };
    match database.store.check() {
        Ok(report) => {
            lines.push(format!(
                "pages: {} in the file, {} in use, {} free extents",
                report.file_pages, report.pages, report.free_extents
            ));
            for object in &report.objects {
                lines.push(database.object_line(object));
            }
            for finding in &report.findings {
                damage.push(format!("page {} of object {}: {}", finding.page, finding.object, finding.what));
            }
        }
        Err(error) => damage.push(format!("pages: {error}")),
    }
    // Opening has read it.
    lines.extend(database.in_memory_checkpoints().manifest().map(|manifest| {
        format!(
            "in-memory tables: {} rows in {} bytes, the log from LSN {}",
            manifest.rows, manifest.bytes, manifest.log_from
        )
    }));
    if let Err(error) = database.check_long_values(damage) {
        damage.push(format!("long values: {error}"));
    }
    context.schedulers.block_on(database.check_tables(damage));
    match database.check_next_log_backup() {
        Ok(line) => lines.extend(line),
        Err(why) => damage.push(format!("the next log backup: {why}")),
    }
    let tables = database.current_catalog();
    lines.push(format!(
        "catalog: {} tables, {} procedures, {} views",
        tables.tables().count(),
        tables.procedures().count(),
        tables.views().count()
    ));
    if let Err(why) = database.close_files() {
        damage.push(format!("closing: {why}"));
    }
}
