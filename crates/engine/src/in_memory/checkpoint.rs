//! Checkpoints of in-memory tables: writing all their rows to a file, so that the log need not be kept.
//!
//! ```text
//!   from  = how far the log is copied, or the first record of the oldest open transaction
//!   T     = a snapshot: commits of which no record lies below `from` may have later times, all others have not
//!   rows of T ──► rows-8          while transactions go on
//!   the log is durable as far as it has been appended: what T sees cannot be lost any more
//!   checkpoint.toml ──► rows-8, T, from         rows-7 is removed, the log below `from` is let go
//! ```
//! A transaction that is not in the file has its records from `from` on: it took its time behind T, so its last record came into the log
//! behind the reading of `from`, and before its first one it was among the open transactions.
//!
//! When nothing was logged of in-memory tables since the last file, `from` alone moves on.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use pikepole_contention::SlotCounter;
use pikepole_contention::sync::Mutex;
use pikepole_contention::sync::atomic::{AtomicU64, Ordering};
use pikepole_log::Lsn;
use pikepole_machine::clock;
use pikepole_memory::{Change, KeyRange, Level, LoggedAs, MemoryScan, MemoryTable, MemoryTransaction};
use pikepole_storage::StorageError;
use pikepole_types::SqlError;

use super::changes::ChangeWriter;
use super::files::{Manifest, RowsHead, RowsOf, RowsTail, create_rows, remove_others, rows_path};
use crate::catalog::in_memory::InMemory;
use crate::chunk::{ChunkKind, ChunkWriter};
use crate::database::{Database, lock};
use crate::error::Place;

/// Bytes of rows in a chunk.
const CHUNK_BYTES: usize = 1 << 20;
/// Bytes of one chunk of a row that is longer.
const PART_BYTES: usize = 8 << 20;
/// Bytes that may be logged of in-memory tables before their rows are written; or as many as the last file has, if that is more: so
/// files are written for at most one byte beside each one that is logged.
const LOGGED_BYTES: u64 = 64 << 20;

/// The reason to look for a checkpoint of in-memory tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Occasion {
    /// One of the store is being written.
    Checkpoint,
    /// Somebody waits for room in the log.
    LogSpace,
    /// A user has said CHECKPOINT.
    Asked,
}

/// The checkpoints of a database's in-memory tables.
pub(crate) struct InMemoryCheckpoints {
    /// None: the database has never had a durable in-memory table.
    manifest: Mutex<Option<Manifest>>,
    /// One is written at a time.
    turn: Mutex<()>,
    /// Bytes of records of in-memory tables, counted before they are appended.
    logged: SlotCounter,
    /// Records that were appended, and their bytes.
    records: SlotCounter,
    record_bytes: SlotCounter,
    /// Of the bytes, those that the last file has.
    logged_at_checkpoint: AtomicU64,
    /// Files written since the database was opened, and their bytes.
    files_written: AtomicU64,
    bytes_written: AtomicU64,
}

/// The figures of a database's checkpoints of in-memory tables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InMemoryCheckpoint {
    /// The file of rows that counts, in the database's folder; None: none was written yet.
    pub file: Option<PathBuf>,
    /// Its bytes.
    pub bytes: u64,
    /// Its rows.
    pub rows: u64,
    /// The time, in the order of transactions in memory, up to which commits are in it.
    pub time: u64,
    /// When it was written, in microseconds since 1970.
    pub written_us: u64,
    /// The LSN from which on the log is needed beside it.
    pub log_from: Lsn,
    /// Files written since the database was opened.
    pub files_written: u64,
    /// Bytes of these.
    pub bytes_written: u64,
    /// Bytes of changes that were logged since the last file.
    pub logged_since: u64,
    /// Bytes of changes that were logged since the database was opened.
    pub logged: u64,
    /// The records that they are in.
    pub records: u64,
}

impl InMemoryCheckpoints {
    pub fn new(manifest: Option<Manifest>) -> InMemoryCheckpoints {
        InMemoryCheckpoints {
            manifest: Mutex::new(manifest),
            turn: Mutex::new(()),
            logged: SlotCounter::new(),
            records: SlotCounter::new(),
            record_bytes: SlotCounter::new(),
            logged_at_checkpoint: AtomicU64::new(0),
            files_written: AtomicU64::new(0),
            bytes_written: AtomicU64::new(0),
        }
    }

    /// A record of so many bytes is about to be logged, or was read from the log when the database was opened. Never taken back: a sum that
    /// has not grown says that there is no record which the last file lacks.
    #[inline]
    pub fn count_logged(&self, bytes: usize) {
        self.logged.add(bytes as u64);
    }

    /// It was appended.
    #[inline]
    pub fn count_record(&self, bytes: usize) {
        self.record_bytes.add(bytes as u64);
        self.records.add(1);
    }

    /// The manifest as it is now.
    pub fn manifest(&self) -> Option<Manifest> {
        lock(&self.manifest).clone()
    }

    /// The LSN from which on the log is needed.
    pub fn log_from(&self) -> Option<Lsn> {
        lock(&self.manifest).as_ref().map(|manifest| Lsn(manifest.log_from))
    }

    fn logged_since(&self) -> u64 {
        self.logged.sum() - self.logged_at_checkpoint.load(Ordering::Relaxed)
    }
}

fn not_written(error: std::io::Error) -> StorageError {
    StorageError::io("writing a checkpoint of in-memory tables", error)
}

impl Database {
    /// A durable in-memory table is about to be made: from now on there is a manifest. Blocks.
    ///
    /// # Errors
    /// Failed I/O.
    pub(crate) fn begin_in_memory_checkpoints(&self) -> Result<(), StorageError> {
        let own = self.in_memory_checkpoints();
        let _turn = lock(&own.turn);
        if own.manifest().is_some() {
            return Ok(());
        }
        let manifest = Manifest::empty(self.in_memory_log_from().0);
        self.store().harden_log()?;
        manifest.write(self.disk(), self.folder()).map_err(not_written)?;
        *lock(&own.manifest) = Some(manifest);
        Ok(())
    }

    /// The mark of an in-memory table that is being made: what it logs comes behind.
    pub(crate) fn mark_in_memory(&self, memory: Option<InMemory>) -> Result<Option<InMemory>, SqlError> {
        let Some(durable) = memory.filter(|memory| memory.is_durable()) else { return Ok(memory) };
        let begun = self.begin_in_memory_checkpoints();
        begun.map_err(|error| Place { database: self, object: "", session_id: 0 }.storage(&error))?;
        Ok(Some(InMemory { since: self.log().reserved().0, ..durable }))
    }

    /// The `from` of a checkpoint that takes its snapshot later.
    fn in_memory_log_from(&self) -> Lsn {
        let copied = self.log().copied();
        self.transactions().oldest_first_lsn().map_or(copied, |oldest| oldest.min(copied))
    }

    /// Tells if there is a checkpoint of in-memory tables to be written.
    fn is_in_memory_checkpoint_due(&self, occasion: Occasion) -> bool {
        let Some(manifest) = self.in_memory_checkpoints().manifest() else { return false };
        let logged = self.in_memory_checkpoints().logged_since();
        let held = self.log().reserved().0.saturating_sub(manifest.log_from);
        let room = self.log_room();
        match occasion {
            Occasion::Asked => true,
            // A log that is held by less is full for the moment alone, while it grows.
            Occasion::LogSpace => held >= room / 4,
            Occasion::Checkpoint => logged == 0 || logged >= LOGGED_BYTES.max(manifest.bytes) || held >= room / 2,
        }
    }

    /// Writes the rows of in-memory tables to a file if that is due, and lets go of the log that this takes the place of. Blocks.
    ///
    /// # Errors
    /// Failed I/O; a log that takes no more. The last file counts then.
    pub(crate) fn checkpoint_in_memory(&self, occasion: Occasion) -> Result<(), StorageError> {
        if !self.is_in_memory_checkpoint_due(occasion) {
            return Ok(());
        }
        let own = self.in_memory_checkpoints();
        let _turn = lock(&own.turn);
        let Some(former) = own.manifest() else { return Ok(()) };
        let log_from = self.in_memory_log_from().0;
        // Behind the reading of `copied`: what was appended below that was counted before.
        let logged = own.logged.sum();
        let mut manifest = Manifest { log_from, ..former.clone() };
        if logged != own.logged_at_checkpoint.load(Ordering::Relaxed) {
            manifest = self.write_rows(manifest)?;
            own.files_written.fetch_add(1, Ordering::Relaxed);
            own.bytes_written.fetch_add(manifest.bytes, Ordering::Relaxed);
        }
        self.store().harden_log()?;
        manifest.write(self.disk(), self.folder()).map_err(not_written)?;
        let file = manifest.file;
        *lock(&own.manifest) = Some(manifest);
        own.logged_at_checkpoint.store(logged, Ordering::Relaxed);
        if file != former.file {
            remove_others(self.disk(), self.folder(), file).map_err(not_written)?;
        }
        Ok(())
    }

    /// Writes all rows as of now to the file behind the last one.
    fn write_rows(&self, former: Manifest) -> Result<Manifest, StorageError> {
        let mut tx = self.memory().session();
        let time = tx.take_snapshot();
        // Behind the snapshot: a table that comes later has no rows of it.
        let catalog = self.current_catalog();
        let rows_of = |table: &Arc<crate::Table>| {
            let since = table.record().memory?.since;
            let rows = table.rows_in_memory().filter(|rows| rows.logged_as().is_some())?;
            Some((since, rows))
        };
        let tables: Vec<(u64, Arc<MemoryTable>)> = catalog.tables().filter_map(rows_of).collect();
        let file = former.file + 1;
        let written = RowsFile::create(self, file, &tables).and_then(|mut written| {
            for (_, rows) in &tables {
                written.add_table(&mut tx, rows)?;
            }
            written.finish()
        });
        if written.is_err() {
            // A full disk is not to stay so because of half a file.
            let _ = self.disk().remove_file(rows_path(self.folder(), file));
        }
        let (rows, bytes) = written.map_err(not_written)?;
        self.disk().sync_dir(super::files::folder(self.folder())).map_err(not_written)?;
        let written_us = clock::unix_time_us().unsigned_abs();
        Ok(Manifest { time, file, bytes, rows, written_us, ..former })
    }

    /// The figures of its checkpoints of in-memory tables; None: it has had no durable ones.
    pub fn in_memory_checkpoint(&self) -> Option<InMemoryCheckpoint> {
        let own = self.in_memory_checkpoints();
        let manifest = own.manifest()?;
        Some(InMemoryCheckpoint {
            file: manifest.path(Path::new("")),
            bytes: manifest.bytes,
            rows: manifest.rows,
            time: manifest.time,
            written_us: manifest.written_us,
            log_from: Lsn(manifest.log_from),
            files_written: own.files_written.load(Ordering::Relaxed),
            bytes_written: own.bytes_written.load(Ordering::Relaxed),
            logged_since: own.logged_since(),
            logged: own.record_bytes.sum(),
            records: own.records.sum(),
        })
    }

    /// The manifest, and its file if it has one, for a backup.
    pub(crate) fn in_memory_to_copy(&self) -> std::io::Result<Option<(Manifest, Option<pikepole_machine::File>)>> {
        let _turn = lock(&self.in_memory_checkpoints().turn);
        let Some(manifest) = self.in_memory_checkpoints().manifest() else { return Ok(None) };
        let file = manifest.open(self.disk(), self.folder())?;
        Ok(Some((manifest, file)))
    }
}

/// A file of rows that is being written.
struct RowsFile {
    chunks: ChunkWriter,
    rows: ChangeWriter,
    count: u64,
}

impl RowsFile {
    fn create(database: &Database, number: u64, tables: &[(u64, Arc<MemoryTable>)]) -> std::io::Result<RowsFile> {
        let file = create_rows(database.disk(), database.folder(), number)?;
        let mut chunks = ChunkWriter::new(file, 0, database.log().id() ^ number);
        let of = |(since, rows): &(u64, Arc<MemoryTable>)| {
            rows.logged_as().map(|logged| RowsOf { object: logged.object, since: *since })
        };
        let head = RowsHead { tables: tables.iter().filter_map(of).collect() };
        chunks.add(ChunkKind::Head, [0; 3], &serde_json::to_vec(&head).map_err(std::io::Error::other)?)?;
        Ok(RowsFile { chunks, rows: ChangeWriter::default(), count: 0 })
    }

    fn add_table(&mut self, tx: &mut MemoryTransaction, rows: &Arc<MemoryTable>) -> std::io::Result<()> {
        let Some(LoggedAs { object, .. }) = rows.logged_as() else { return Ok(()) };
        let mut scan = MemoryScan::default();
        let all = KeyRange::Between(std::ops::Bound::Unbounded, std::ops::Bound::Unbounded);
        scan.restart(0, all, false);
        while tx.scan(&mut scan, rows, Level::Snapshot) {
            while scan.next_row() {
                self.rows.add(object, Change::Put(scan.row().1));
                self.count += 1;
                if self.rows.bytes.len() >= CHUNK_BYTES {
                    self.write()?;
                }
            }
        }
        Ok(())
    }

    /// Writes the rows gathered so far: in one chunk, or in several where one is long.
    fn write(&mut self) -> std::io::Result<()> {
        let parts = self.rows.bytes.chunks(PART_BYTES);
        let last = parts.len().saturating_sub(1);
        for (at, part) in parts.enumerate() {
            self.chunks.add(ChunkKind::Rows, [u64::from(at < last), 0, 0], part)?;
        }
        self.rows.clear();
        Ok(())
    }

    /// Makes it durable; its rows and its bytes.
    fn finish(mut self) -> std::io::Result<(u64, u64)> {
        self.write()?;
        let tail = RowsTail { rows: self.count };
        self.chunks.add(ChunkKind::Tail, [0; 3], &serde_json::to_vec(&tail).map_err(std::io::Error::other)?)?;
        Ok((self.count, self.chunks.finish()?))
    }
}
