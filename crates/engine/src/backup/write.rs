//! BACKUP: step by step, so that whoever waits hears how far it is. Each step blocks.

use std::sync::Arc;

use pikepole_log::{Block, Blocks, Lsn};
use pikepole_machine::{AlignedBuffer, File, clock};
use pikepole_storage::{Master, PagesInUse, StorageError};
use pikepole_types::SqlError;
use serde::Serialize;

use super::media::{Begin, Device, SetWriter, VERSION};
use super::set::{BackupKind, SetHead, SetTail, row_of};
use super::{BackupOptions, BackupOutcome, MadeBackup, pages_of};
use crate::chunk::ChunkKind;
use crate::database::{Database, Hold, LogChain, RecoveryModel};
use crate::error::Place;
use crate::fault;

/// Bytes of log that a step copies.
const STEP_LOG_BYTES: u64 = 8 << 20;
/// Bytes of the file of rows of in-memory tables that are copied at once.
const ROWS_BYTES: u64 = 4 << 20;
/// Reads of pages that a step does.
const STEP_READS: usize = 8;

/// What is left to do.
enum Phase {
    /// The file of rows of in-memory tables, from this byte on.
    InMemory(File, u64),
    /// Pages from this extent on.
    Pages(u32),
    /// The log.
    Log(Blocks),
    /// Nothing but to end the set.
    End,
}

/// A backup that is being made.
pub(crate) struct BackupJob {
    database: Arc<Database>,
    options: BackupOptions,
    hold: Hold,
    writer: SetWriter,
    head: SetHead,
    tail: SetTail,
    pages: PagesInUse,
    phase: Phase,
    begun_us: u64,
}

fn now_us() -> u64 {
    clock::unix_time_us().unsigned_abs()
}

fn json(value: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(value).expect("plain structs of numbers and texts have JSON")
}

/// The file of rows of in-memory tables could not be read.
fn rows_not_read(database: &Database, error: &std::io::Error) -> SqlError {
    SqlError::device_not_read(database.folder().display(), error)
}

/// The log could not be read.
fn log_not_read(database: &Database, error: impl std::fmt::Display) -> SqlError {
    let mut damaged = SqlError::log_is_damaged(database.name());
    damaged.message = format!("{} ({error})", damaged.message);
    damaged
}

impl BackupJob {
    /// Begins a backup: takes its turn, and writes a checkpoint if pages are to be copied. `set_id` is drawn for the
    /// set.
    ///
    /// # Errors
    /// 4208, 4214, 3023; 9004 for a damaged log; what opening the device, or the checkpoint, ends with.
    pub fn begin(
        database: Arc<Database>,
        options: BackupOptions,
        device: &Device,
        set_id: u64,
    ) -> Result<BackupJob, SqlError> {
        let hold = database.begin_backup()?;
        // Behind the turn's beginning: the log is kept from where this manifest, or an earlier one, needs it.
        let in_memory = match options.kind {
            BackupKind::Database => database.in_memory_to_copy().map_err(|error| rows_not_read(&database, &error))?,
            BackupKind::Log => None,
        };
        let chain = database.log_chain();
        if options.kind == BackupKind::Log {
            if database.options().recovery == RecoveryModel::Simple {
                return Err(SqlError::log_backup_under_simple("BACKUP LOG"));
            }
            chain.ok_or_else(SqlError::no_database_backup)?;
        }
        let begin = match (options.format, options.init) {
            (true, _) => Begin::Format,
            (false, true) => Begin::Overwrite,
            (false, false) => Begin::Append,
        };
        let writer = SetWriter::begin(device, begin, set_id, options.compression)?;
        let begun_us = clock::now_us();
        let (mut pages, mut bulk_logged) = (PagesInUse::default(), false);
        let master = match (options.kind, chain) {
            (BackupKind::Database, _) => Some(checkpoint(&database, &mut pages)?),
            (BackupKind::Log, Some(chain)) => {
                pages = bulk_changed(&database, chain)?;
                bulk_logged = !pages.is_empty();
                bring_to_disk(&database, &mut pages)?;
                None
            }
            (BackupKind::Log, None) => None,
        };
        let first_lsn = match (&master, chain) {
            (Some(master), _) => {
                let in_memory = in_memory.as_ref().map(|(manifest, _)| manifest.log_from);
                in_memory.map_or(master.recovery_lsn.0, |from| from.min(master.recovery_lsn.0))
            }
            (None, chain) => chain.map_or(0, |chain| chain.backed_up_to),
        };
        hold.release_before(Lsn(first_lsn));
        let mut head = head_of(&database, &options, set_id);
        head.first_lsn = first_lsn;
        if let Some(master) = master {
            head.checkpoint = master.checkpoint_lsn.0;
            head.redo = master.redo_lsn.0;
            head.next_transaction = master.next_transaction;
            head.file_pages = master.pages.max(pages.extents() * pikepole_storage::EXTENT_PAGES);
        }
        let tail = SetTail {
            last_lsn: first_lsn,
            last_block_us: 0,
            covered_us: 0,
            finished_us: 0,
            pages: 0,
            log_bytes: 0,
            bulk_logged,
            plain_bytes: 0,
        };
        let (manifest, rows) = in_memory.unzip();
        head.in_memory = manifest;
        let phase = rows.flatten().map_or(Phase::Pages(0), |rows| Phase::InMemory(rows, 0));
        let mut job = BackupJob { database, options, hold, writer, head, tail, pages, phase, begun_us };
        job.writer.add(ChunkKind::Head, [0; 3], &json(&job.head))?;
        Ok(job)
    }

    /// Does the next part; returns the percentage that is done.
    ///
    /// # Errors
    /// 3202 when the device takes no more, 3043 for a damaged page, 9004 for a damaged log.
    pub fn step(&mut self) -> Result<u8, SqlError> {
        let before = self.writer.bytes();
        match &mut self.phase {
            Phase::InMemory(..) => while self.writer.bytes() - before < STEP_LOG_BYTES && self.copy_rows()? {},
            Phase::Pages(first) => {
                let first = *first;
                self.copy_pages(first)?;
            }
            Phase::Log(_) => while self.writer.bytes() - before < STEP_LOG_BYTES && self.copy_block()? {},
            Phase::End => {}
        }
        Ok(self.percent())
    }

    /// Whether only [`BackupJob::end`] is left to do.
    pub fn is_copied(&self) -> bool {
        matches!(self.phase, Phase::End)
    }

    fn percent(&self) -> u8 {
        let part = |done: u64, all: u64| (done * 100).checked_div(all).unwrap_or(100);
        let bytes_of = |pages: u64| pages * pikepole_storage::PAGE_BYTES as u64;
        let pages = u64::from(self.pages.count());
        let done = match (&self.phase, self.options.kind) {
            (Phase::End, _) => 100,
            (Phase::InMemory(..), _) => 0,
            (Phase::Pages(_), BackupKind::Database) => part(self.tail.pages, pages).min(98),
            (Phase::Log(_), BackupKind::Database) => 99,
            (_, BackupKind::Log) => {
                let end = match self.phase {
                    Phase::Pages(_) => self.database.log().durable().0,
                    _ => self.tail.last_lsn,
                };
                part(bytes_of(self.tail.pages) + self.tail.log_bytes, bytes_of(pages) + end - self.head.first_lsn)
                    .min(99)
            }
        };
        done as u8
    }

    /// Copies a piece of the file of rows of in-memory tables; false when there is none left.
    fn copy_rows(&mut self) -> Result<bool, SqlError> {
        let Phase::InMemory(file, at) = &mut self.phase else { return Ok(false) };
        let not_read = |error| rows_not_read(&self.database, &error);
        let left = file.len().map_err(not_read)?.saturating_sub(*at);
        if left == 0 {
            self.phase = Phase::Pages(0);
            return Ok(false);
        }
        let mut piece = AlignedBuffer::new();
        piece.resize(left.min(ROWS_BYTES) as usize, 0);
        file.read_at(&mut piece, *at).map_err(not_read)?;
        *at += piece.len() as u64;
        self.writer.add(ChunkKind::InMemory, [0; 3], &piece)?;
        Ok(true)
    }

    fn copy_pages(&mut self, mut first: u32) -> Result<(), SqlError> {
        let mut run = AlignedBuffer::new();
        for _ in 0..STEP_READS {
            run.clear();
            let next = self.database.store().copy_pages(&self.pages, first, &mut run);
            let next = next.map_err(|error| page_not_read(&self.database, &error))?;
            if !run.is_empty() {
                self.writer.add(ChunkKind::Pages, [0; 3], &run)?;
                self.tail.pages += (run.len() / pikepole_storage::PAGE_BYTES) as u64;
            }
            match next {
                Some(next) => first = next,
                None => return self.begin_log(),
            }
        }
        self.phase = Phase::Pages(first);
        Ok(())
    }

    /// All pages are copied, and no page of the copy is newer than what is durable from now on.
    fn begin_log(&mut self) -> Result<(), SqlError> {
        let log = self.database.log().clone();
        // In this order: what was acknowledged before that moment is durable after it.
        self.tail.covered_us = now_us();
        let durable = self.database.store().harden_log();
        let durable = durable.map_err(|_| SqlError::log_not_available(self.database.name()))?;
        self.tail.last_lsn = durable.0;
        let blocks = log.blocks(Lsn(self.head.first_lsn), durable);
        self.phase = Phase::Log(blocks.map_err(|error| log_not_read(&self.database, error))?);
        Ok(())
    }

    /// Copies one block of the log; false when there is none left.
    fn copy_block(&mut self) -> Result<bool, SqlError> {
        let Phase::Log(blocks) = &mut self.phase else { return Ok(false) };
        let block = blocks.next().map_err(|error| log_not_read(&self.database, error))?;
        let Some(Block { start, payload, begins_incarnation, time_us }) = block else {
            self.phase = Phase::End;
            return Ok(false);
        };
        self.writer.add(ChunkKind::Log, [start.0, time_us, u64::from(begins_incarnation)], payload)?;
        self.tail.log_bytes += payload.len() as u64;
        self.tail.last_block_us = self.tail.last_block_us.max(time_us);
        self.tail.covered_us = self.tail.covered_us.max(time_us);
        Ok(true)
    }

    /// Makes the set count, and then moves the chain of log backups.
    ///
    /// # Errors
    /// 3202; 1105 or 5069 when the chain cannot be noted: the backup is whole then, and the next log backup begins where this one
    /// did.
    pub fn end(mut self) -> Result<MadeBackup, SqlError> {
        self.tail.finished_us = now_us();
        self.tail.plain_bytes = self.writer.plain_bytes();
        self.writer.add(ChunkKind::Tail, [0; 3], &json(&self.tail))?;
        let (bytes, media) = self.writer.commit()?;
        let set = row_of(media.sets, bytes, self.head, Some(&self.tail));
        let last = self.tail.last_lsn;
        let chain = match (self.options.kind, self.database.log_chain()) {
            _ if self.options.copy_only => None,
            (BackupKind::Database, None) => {
                let database_backup = set.first_lsn;
                Some(LogChain { backed_up_to: last, database_backup, bulk_logged: false })
            }
            (BackupKind::Database, Some(chain)) => Some(LogChain { database_backup: set.first_lsn, ..chain }),
            // While this backup is made, all rows are logged.
            (BackupKind::Log, Some(chain)) => Some(LogChain { backed_up_to: last, bulk_logged: false, ..chain }),
            // The recovery model was changed meanwhile.
            (BackupKind::Log, None) => None,
        };
        if let Some(chain) = chain {
            self.database.set_log_chain(chain).map_err(|error| self.database.not_noted(&error))?;
        }
        drop(self.hold);
        self.database.truncate_log(self.database.store().master().recovery_lsn);
        let outcome = BackupOutcome {
            pages: self.tail.pages,
            log_pages: pages_of(self.tail.log_bytes),
            time_us: clock::now_us().saturating_sub(self.begun_us),
            position: media.sets,
            before_the_stop_point: false,
        };
        Ok(MadeBackup { outcome, set, media })
    }
}

/// What a set's head says of its database.
fn head_of(database: &Database, options: &BackupOptions, set_id: u64) -> SetHead {
    let file = database.database_file();
    SetHead {
        format: VERSION,
        kind: options.kind,
        set_id,
        name: options.name.clone(),
        description: options.description.clone(),
        copy_only: options.copy_only,
        compressed: options.compression,
        started_us: now_us(),
        family: file.family(),
        database: file.name,
        database_id: file.id,
        database_created_us: file.created_us,
        log_id: database.log().id(),
        first_lsn: 0,
        database_backup_lsn: file.chain.map_or(0, |chain| chain.database_backup),
        catalog_root: file.catalog_root,
        options: file.options,
        files: database.files().into_iter().map(|own| own.name).collect(),
        in_memory: None,
        checkpoint: 0,
        redo: 0,
        next_transaction: 0,
        file_pages: 0,
    }
}

/// Writes the checkpoint that a full backup begins with, and finds the pages that it is about.
fn checkpoint(database: &Database, pages: &mut PagesInUse) -> Result<Master, SqlError> {
    let store = database.store();
    *pages = store.pages_in_use();
    database.checkpoint_now(false).map_err(|error| page_not_read(database, &error))?;
    // Another checkpoint may have come since: its pages are on disk as well.
    let master = store.master();
    pages.add(&store.pages_in_use());
    Ok(master)
}

/// The pages whose rows are not in the log that a log backup is of.
fn bulk_changed(database: &Database, chain: LogChain) -> Result<PagesInUse, SqlError> {
    if !chain.bulk_logged || fault::takes_no_pages() {
        return Ok(PagesInUse::default());
    }
    let durable = database.store().harden_log().map_err(|_| SqlError::log_not_available(database.name()))?;
    let changed = database.bulk_changed(Lsn(chain.backed_up_to), durable);
    changed.map_err(|error| log_not_read(database, error))
}

/// Leaves those out that are not in use any more, and writes a checkpoint for the others: what is on disk has their
/// rows.
fn bring_to_disk(database: &Database, pages: &mut PagesInUse) -> Result<(), SqlError> {
    database.store().keep_taken(pages);
    // A database that was closed for its last log backup has written all.
    if pages.is_empty() || database.is_stopping() {
        return Ok(());
    }
    database.checkpoint_now(false).map_err(|error| page_not_read(database, &error))
}

fn page_not_read(database: &Database, error: &StorageError) -> SqlError {
    match error {
        StorageError::Corrupt { page, why } => SqlError::backup_found_damage(
            format!("BACKUP '{}'", database.name()),
            format!("(1:{page})"),
            format!("{}: {why}", database.name()),
        ),
        StorageError::Poisoned { .. } => SqlError::log_not_available(database.name()),
        full if full.is_full() => Place { database, object: "", session_id: 0 }.storage(full),
        error => SqlError::operating_system_error(error, "backup", 0, database.folder().display()),
    }
}
