//! Loading in-memory tables when a database is opened.
//!
//! ```text
//!   rows-7 ──chunks──► a thread for each CPU: rows into tables and their indexes, in any order
//!   log, from checkpoint.toml's place on ──► the records of each transaction, gathered ──its commit──► done again, in the log's order
//! ```
//! Transactions whose commits are in the file, by their time, are passed over; those that did not commit are forgotten. The log's order is
//! the order of commits as far as it matters: each lies behind the commits that it has seen.

use std::collections::HashMap;
use std::num::NonZero;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvError, sync_channel};
use std::thread;

use pikepole_contention::sync::Mutex;
use pikepole_log::Reader;
use pikepole_machine::{File, clock};
use pikepole_memory::{Change, Fingers, Keys, Level, MemoryScan, MemoryTable, MemoryTransaction};
use pikepole_storage::LogContext;
use pikepole_storage::records::Record;
use pikepole_types::Value;

use super::changes::ChangeReader;
use super::files::{Manifest, RowsHead, RowsOf, RowsTail};
use crate::Table;
use crate::chunk::{Chunk, ChunkKind, ChunkReader};
use crate::database::{Database, RecoveryWatch, Teller, lock};
use crate::table::KeyColumns;

/// Chunks that are read ahead of the threads.
const AHEAD: usize = 8;
/// Rows of a chunk whose places in indexes are asked for before the first of them is inserted.
const ROWS_A_BATCH: usize = 32;

/// A table whose rows are loaded.
struct Loaded {
    table: Arc<Table>,
    rows: Arc<MemoryTable>,
    since: u64,
    /// The position of its primary key among the indexes.
    primary: usize,
    key_columns: KeyColumns,
}

/// The tables of a database, by their numbers in the log.
type Tables = HashMap<u32, Arc<Loaded>>;

/// A thread's place to load from.
struct Loader<'a> {
    tables: &'a Tables,
    tx: MemoryTransaction,
    scan: MemoryScan,
    row: Vec<Value>,
    keys: Keys,
    fingers: Fingers,
    name: Vec<u8>,
    /// The keys of a batch of rows.
    batch: Vec<Keys>,
}

impl<'a> Loader<'a> {
    fn new(database: &Database, tables: &'a Tables) -> Loader<'a> {
        Loader {
            tables,
            tx: database.memory().session(),
            scan: MemoryScan::default(),
            row: Vec::new(),
            keys: Keys::default(),
            fingers: Fingers::default(),
            name: Vec::new(),
            batch: (0..ROWS_A_BATCH).map(|_| Keys::default()).collect(),
        }
    }

    /// Inserts rows whose keys are not there, at most as many as a batch has. What each will look at in hash indexes is asked for together,
    /// in two steps because nodes are found by the heads of their chains: so the misses of a batch overlap.
    fn insert_batch(&mut self, rows: &[(&Loaded, &[u8])]) -> Result<(), String> {
        for ((own, body), keys) in rows.iter().zip(&mut self.batch) {
            own.table.keys_of_row(body, &own.key_columns, &mut self.row, keys).map_err(|error| own.damage(&error))?;
            own.rows.prefetch_heads(keys);
        }
        for ((own, _), keys) in rows.iter().zip(&self.batch) {
            own.rows.prefetch_nodes(keys);
        }
        let guard = pikepole_memory::pin();
        for ((own, body), keys) in rows.iter().zip(&self.batch) {
            let inserted = self.tx.insert(&own.rows, keys, body, &mut self.fingers, &guard);
            inserted.map_err(|refusal| own.damage(&format!("{refusal:?}")))?;
        }
        Ok(())
    }

    /// Finds the row of a key: its name.
    fn find(&mut self, own: &Loaded, key: &[u8]) -> bool {
        self.scan.restart_equal(own.primary, key);
        self.scan.see_all_own();
        let found = self.tx.scan(&mut self.scan, &own.rows, Level::Snapshot) && self.scan.next_row();
        if found {
            self.name.clear();
            self.name.extend_from_slice(self.scan.row().0);
        }
        found
    }

    fn put(&mut self, own: &Loaded, body: &[u8]) -> Result<(), String> {
        let read = own.table.keys_of_row(body, &own.key_columns, &mut self.row, &mut self.keys);
        read.map_err(|error| own.damage(&error))?;
        let key = self.keys.get(own.primary).to_vec();
        if !self.find(own, &key) {
            let inserted = self.tx.insert(&own.rows, &self.keys, body, &mut self.fingers, &pikepole_memory::pin());
            return inserted.map(|_| ()).map_err(|refusal| own.damage(&format!("{refusal:?}")));
        }
        let name = std::mem::take(&mut self.name);
        let updated = self.tx.update(&own.rows, &name, &self.keys, body, &mut self.name);
        updated.map(|_| ()).map_err(|refusal| own.damage(&format!("{refusal:?}")))
    }

    fn delete(&mut self, own: &Loaded, key: &[u8]) -> Result<(), String> {
        if !self.find(own, key) {
            return Ok(());
        }
        let deleted = self.tx.delete(&own.rows, &self.name);
        deleted.map(|_| ()).map_err(|refusal| own.damage(&format!("{refusal:?}")))
    }

    /// Does a logged transaction again, whose commit's record begins at `at`.
    fn redo(&mut self, changes: &[u8], at: u64) -> Result<(), String> {
        for change in ChangeReader::new(changes) {
            let (table, change) = change.map_err(|error| format!("the record at {at}: {error}"))?;
            let tables = self.tables;
            let Some(own) = tables.get(&table).filter(|own| own.since <= at) else { continue };
            match change {
                Change::Put(body) => self.put(own, body)?,
                Change::Delete(key) => self.delete(own, key)?,
            }
        }
        self.commit()
    }

    fn commit(&mut self) -> Result<(), String> {
        self.tx.prepare().map_err(|invalid| format!("{invalid:?} while in-memory tables were loaded"))?;
        self.tx.commit(0);
        Ok(())
    }

    /// Loads the rows of a chunk.
    fn load(&mut self, chunk: &[u8]) -> Result<(), String> {
        let mut rows = Vec::with_capacity(ROWS_A_BATCH);
        for row in ChangeReader::new(chunk) {
            match row.map_err(|error| format!("the rows: {error}"))? {
                (table, Change::Put(body)) => rows.extend(self.tables.get(&table).map(|own| (&**own, body))),
                (_, Change::Delete(_)) => return Err("the rows: there is a deletion among them".to_owned()),
            }
            if rows.len() == ROWS_A_BATCH {
                self.insert_batch(&rows)?;
                rows.clear();
            }
        }
        self.insert_batch(&rows)?;
        self.commit()
    }
}

impl Loaded {
    fn damage(&self, why: &dyn std::fmt::Display) -> String {
        format!("a row of {} cannot be loaded: {why}", self.table.full_name())
    }
}

impl Database {
    /// Loads the in-memory tables of a database that is being opened. `log` reads from the manifest's place on. Blocks.
    ///
    /// # Errors
    /// What is damaged or missing, for people.
    pub(crate) fn load_in_memory(
        &self,
        manifest: &Manifest,
        log: Reader,
        watch: Option<&RecoveryWatch>,
    ) -> Result<(), String> {
        let catalog = self.current_catalog();
        let tables: Tables = catalog.tables().filter_map(loaded).collect();
        if let Some(file) = manifest.open(self.disk(), self.folder()).map_err(|error| error.to_string())? {
            let path = manifest.path(self.folder()).unwrap_or_default();
            let loaded = self.load_rows(file, manifest.rows, &tables, watch);
            let rows = loaded.map_err(|why| format!("{}: {why}", path.display()))?;
            if rows != manifest.rows {
                return Err(format!("{}: it has {rows} rows, and had {}", path.display(), manifest.rows));
            }
        }
        self.memory().begin_after(manifest.time);
        self.redo_in_memory(manifest, log, &tables)
    }

    /// Does the transactions again that the log has behind the file.
    fn redo_in_memory(&self, manifest: &Manifest, mut log: Reader, tables: &Tables) -> Result<(), String> {
        let mut open: HashMap<u64, Vec<u8>> = HashMap::new();
        let mut loader = Loader::new(self, tables);
        let mut last = manifest.time;
        while let Some((at, bytes, _)) = log.next().map_err(|error| error.to_string())? {
            let record = Record::decode(bytes).map_err(|error| format!("the record at {at}: {error}"))?;
            match record {
                Record::InMemory { flags, xid, time, changes } => {
                    self.in_memory_checkpoints().count_logged(changes.len());
                    let mut all = open.remove(&xid).unwrap_or_default();
                    if flags & LogContext::FIRST != 0 {
                        all.clear();
                    }
                    all.extend_from_slice(changes);
                    if flags & LogContext::COMMIT == 0 {
                        open.insert(xid, all);
                    } else if time > manifest.time {
                        last = last.max(time);
                        loader.redo(&all, at.0)?;
                    }
                }
                Record::Abort { xid } => {
                    open.remove(&xid);
                }
                _ => {}
            }
        }
        self.memory().begin_after(last);
        Ok(())
    }

    /// Loads a file of so many rows, with several threads where the disk is a real one; how many it has.
    fn load_rows(&self, file: File, rows: u64, tables: &Tables, watch: Option<&RecoveryWatch>) -> Result<u64, String> {
        let len = file.len().map_err(|error| error.to_string())?;
        let teller = watch.map(|watch| Teller::new(watch, self.name(), 0, len));
        let mut chunks = RowChunks { chunks: ChunkReader::new(file, 0, len), teller };
        let head: Option<RowsHead> = match chunks.chunks.next().map_err(|error| error.to_string())? {
            Some(Chunk { kind: ChunkKind::Head, payload, .. }) => serde_json::from_slice(payload).ok(),
            _ => None,
        };
        let head = head.ok_or("it does not begin with the tables that it is of")?;
        let is_there = |of: &RowsOf| {
            let own = tables.get(&of.object).filter(|own| own.since == of.since)?;
            Some((of.object, own.clone()))
        };
        let tables: Tables = head.tables.iter().filter_map(is_there).collect();
        // The rows of each are not known: indexes of a table with more grow while it is loaded.
        let rows_a_table = rows.min(len) / (tables.len() as u64).max(1);
        let reserve = || tables.values().for_each(|own| own.rows.reserve(rows_a_table));
        let threads = if self.disk().as_simulated().is_some() {
            1
        } else {
            thread::available_parallelism().map_or(1, NonZero::get)
        };
        if threads < 2 {
            reserve();
            let mut loader = Loader::new(self, &tables);
            return chunks.each(|chunk| loader.load(&chunk));
        }
        self.load_with_threads(&mut chunks, &tables, threads, &reserve)
    }

    fn load_with_threads(
        &self,
        chunks: &mut RowChunks<'_>,
        tables: &Tables,
        threads: usize,
        reserve: &(dyn Fn() + Sync),
    ) -> Result<u64, String> {
        let failed = Mutex::new(None);
        let read = thread::scope(|scope| {
            let (sender, receiver) = sync_channel::<Vec<u8>>(AHEAD);
            let receiver = Arc::new(Mutex::new(receiver));
            for _ in 0..threads {
                let (receiver, failed) = (receiver.clone(), &failed);
                scope.spawn(move || {
                    reserve();
                    let mut loader = Loader::new(self, tables);
                    // After a failure chunks are taken and left, so that the reader does not wait to give them.
                    while let Ok(chunk) = take_next(&receiver) {
                        if lock(failed).is_none()
                            && let Err(why) = loader.load(&chunk)
                        {
                            lock(failed).get_or_insert(why);
                        }
                    }
                });
            }
            let gone = |_| "the threads that load rows have ended".to_owned();
            chunks.each(move |chunk| sender.send(chunk).map_err(gone))
        });
        match lock(&failed).take() {
            Some(why) => Err(why),
            None => read,
        }
    }
}

/// Takes the next chunk of those that are read.
fn take_next(receiver: &Mutex<Receiver<Vec<u8>>>) -> Result<Vec<u8>, RecvError> {
    lock(receiver).recv()
}

/// The chunks of a file of rows, and the reports on how far they are read.
struct RowChunks<'a> {
    chunks: ChunkReader,
    teller: Option<Teller<'a>>,
}

impl RowChunks<'_> {
    /// Gives the rows of each chunk to `take`; the number of rows by the tail.
    fn each(&mut self, mut take: impl FnMut(Vec<u8>) -> Result<(), String>) -> Result<u64, String> {
        let mut rows = Vec::new();
        loop {
            match self.chunks.next().map_err(|error| error.to_string())? {
                Some(Chunk { kind: ChunkKind::Rows, fields: [goes_on, ..], payload }) => {
                    rows.extend_from_slice(payload);
                    if goes_on == 0 {
                        take(std::mem::take(&mut rows))?;
                    }
                }
                Some(Chunk { kind: ChunkKind::Tail, payload, .. }) => {
                    let tail: RowsTail = serde_json::from_slice(payload).map_err(|error| error.to_string())?;
                    return Ok(tail.rows);
                }
                Some(_) => return Err("it has a piece that is none of rows".to_owned()),
                None => return Err("it ends too early".to_owned()),
            }
            if let Some(teller) = &mut self.teller {
                teller.look(self.chunks.position(), clock::now_us());
            }
        }
    }
}

/// A durable in-memory table as it is loaded.
fn loaded(table: &Arc<Table>) -> Option<(u32, Arc<Loaded>)> {
    let rows = table.rows_in_memory()?;
    let logged = rows.logged_as()?;
    let since = table.record().memory?.since;
    let key_columns = table.key_columns();
    let own = Loaded { table: table.clone(), rows, since, primary: logged.primary, key_columns };
    Some((logged.object, Arc::new(own)))
}
