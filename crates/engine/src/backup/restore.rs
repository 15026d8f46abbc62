//! RESTORE: pages into the files of a new store, the log into files beside them, and at the end a log that recovery reads.
//!
//! ```text
//!   <folder>/data/                the pages, and a master that says where recovery begins
//!   <folder>/restore/log-0001     the log of the full backup, chunk by chunk as in the backup
//!   <folder>/restore/log-0002     that of the next log backup, from where the first one ends, behind pages of its own
//!   <folder>/log/                 made of these when the database is recovered; the pages are put into data/
//! ```
//! What counts is what `database.toml` names: a file that an interrupted RESTORE LOG left is written anew, and a log that an
//! interrupted recovery left is thrown away. The pages stay as they came until then.

use std::path::{Path, PathBuf};

use pikepole_log::{Block, LogBuilder, LogError, LogOptions, Lsn};
use pikepole_machine::{Disk, File, OpenOptions};
use pikepole_storage::{Master, RestoredPages, StorageError};
use pikepole_types::SqlError;

use super::media::{Device, Media};
use super::set::{BackupKind, SetHead, SetReader, SetTail, check_pages};
use super::{BackupOutcome, RestoreOptions, pages_of};
use crate::chunk::{ChunkKind, ChunkReader, ChunkWriter};
use crate::database::{DatabaseFile, Restoring};
use crate::fault;
use crate::in_memory::RestoredRows;

/// The folder of what was restored of the log.
const RESTORE_FOLDER: &str = "restore";
/// Bytes that a step reads.
const STEP_BYTES: u64 = 16 << 20;

fn staged_name(number: usize) -> String {
    format!("log-{number:04}")
}

fn open(disk: &Disk, path: &Path, create: bool) -> std::io::Result<File> {
    let options = OpenOptions { create, read_only: !create, ..OpenOptions::default() };
    let file = disk.open(path, options)?;
    if create {
        file.set_len(0)?;
    }
    Ok(file)
}

/// The database's own files could not be written.
fn not_written(folder: &Path, error: &std::io::Error) -> SqlError {
    SqlError::device_not_written(folder.display(), error)
}

fn store_not_written(folder: &Path, error: &StorageError) -> SqlError {
    SqlError::device_not_written(folder.display(), error)
}

/// A stretch of the log on its way into a file of the folder `restore`.
struct Staged {
    folder: PathBuf,
    chunks: ChunkWriter,
    name: String,
    end: u64,
    time_us: u64,
}

impl Staged {
    fn create(disk: &Disk, database: &Path, number: usize, from: u64, set_id: u64) -> Result<Staged, SqlError> {
        let folder = database.join(RESTORE_FOLDER);
        let name = staged_name(number);
        let made = disk.create_dir_all(&folder).and_then(|()| open(disk, &folder.join(&name), true));
        let file = made.map_err(|error| not_written(&folder, &error))?;
        Ok(Staged { chunks: ChunkWriter::new(file, 0, set_id), folder, name, end: from, time_us: 0 })
    }

    /// Takes pages.
    fn add_pages(&mut self, pages: &[u8]) -> Result<(), SqlError> {
        let written = self.chunks.add(ChunkKind::Pages, [0; 3], pages);
        written.map_err(|error| not_written(&self.folder, &error))
    }

    /// Takes a block; what lies below the end was taken from another backup.
    fn add(&mut self, fields: [u64; 3], payload: &[u8]) -> Result<(), SqlError> {
        let [start, time_us, begins] = fields;
        let end = start + payload.len() as u64;
        if start > self.end {
            return Err(SqlError::backup_set_damaged());
        }
        if end < self.end || (end == self.end && !(payload.is_empty() && begins != 0)) {
            return Ok(());
        }
        let skipped = (self.end - start) as usize;
        let fields = [self.end, time_us, if skipped == 0 { begins } else { 0 }];
        let written = self.chunks.add(ChunkKind::Log, fields, &payload[skipped..]);
        written.map_err(|error| not_written(&self.folder, &error))?;
        self.end = end;
        self.time_us = self.time_us.max(time_us);
        Ok(())
    }

    fn finish(&mut self, disk: &Disk) -> Result<(), SqlError> {
        let ended = self.chunks.add(ChunkKind::Tail, [0; 3], &[]);
        let durable = ended.and_then(|()| self.chunks.finish()).and_then(|_| disk.sync_dir(&self.folder));
        durable.map_err(|error| not_written(&self.folder, &error))
    }
}

/// A full backup that is being restored.
pub(crate) struct PageRestore {
    media: Media,
    set: SetReader,
    position: usize,
    stop_at_us: Option<u64>,
    target: Option<Target>,
    pages: u64,
}

struct Target {
    disk: Disk,
    folder: PathBuf,
    pages: RestoredPages,
    in_memory: Option<RestoredRows>,
    log: Staged,
}

impl PageRestore {
    /// Opens the backup.
    ///
    /// # Errors
    /// What opening the device ends with; 3135 for another kind of backup; 4338 for a point in time before its end.
    pub fn open(device: &Device, options: &RestoreOptions) -> Result<PageRestore, SqlError> {
        let media = device.open()?;
        let set = SetReader::open(&media, options.position)?;
        if set.head.kind != BackupKind::Database {
            return Err(SqlError::wrong_backup_kind(options.position, "BACKUP LOG"));
        }
        let tail: Option<SetTail> = media.tail(options.position).and_then(|bytes| serde_json::from_slice(&bytes).ok());
        let tail = tail.ok_or_else(SqlError::backup_set_damaged)?;
        if options.stop_at_us.is_some_and(|stop| stop < tail.last_block_us) {
            return Err(SqlError::stop_point_too_early());
        }
        let (position, stop_at_us) = (options.position, options.stop_at_us);
        Ok(PageRestore { media, set, position, stop_at_us, target: None, pages: 0 })
    }

    /// What the backup is.
    pub fn head(&self) -> &SetHead {
        &self.set.head
    }

    /// Begins to write into `folder`, which is empty or not there.
    ///
    /// # Errors
    /// 3202 when there is no room for it.
    pub fn begin(&mut self, disk: &Disk, folder: &Path, direct: bool) -> Result<(), SqlError> {
        let data = folder.join("data");
        disk.create_dir_all(&data).map_err(|error| not_written(folder, &error))?;
        let head = &self.set.head;
        let pages = RestoredPages::create(disk, &data, head.file_pages, direct);
        let pages = pages.map_err(|error| store_not_written(folder, &error))?;
        let log = Staged::create(disk, folder, 1, head.first_lsn, head.set_id)?;
        let in_memory = head.in_memory.clone().map(|manifest| RestoredRows::create(disk, folder, manifest));
        let in_memory = in_memory.transpose().map_err(|error| not_written(folder, &error))?;
        self.target = Some(Target { disk: disk.clone(), folder: folder.to_path_buf(), pages, in_memory, log });
        Ok(())
    }

    /// Does the next part: the percentage that is done, or None when all is.
    ///
    /// # Errors
    /// 3203, 3183 and their like for a damaged backup, 3202 when the files cannot be written.
    pub fn step(&mut self) -> Result<Option<u8>, SqlError> {
        let target = self.target.as_mut().expect("begin comes first");
        let until = self.set.bytes_read() + STEP_BYTES;
        let database = self.set.head.database.clone();
        while self.set.bytes_read() < until {
            let Some(chunk) = self.set.next()? else { return Ok(None) };
            match (chunk.kind, &mut target.in_memory) {
                (ChunkKind::Pages, _) => {
                    check_pages(chunk.payload, &database)?;
                    let written = target.pages.write(chunk.payload);
                    written.map_err(|error| store_not_written(&target.folder, &error))?;
                    self.pages += (chunk.payload.len() / pikepole_storage::PAGE_BYTES) as u64;
                }
                (ChunkKind::InMemory, Some(rows)) => {
                    rows.add(chunk.payload).map_err(|error| not_written(&target.folder, &error))?;
                }
                (ChunkKind::Log, _) => target.log.add(chunk.fields, chunk.payload)?,
                _ => return Err(SqlError::backup_set_damaged()),
            }
        }
        Ok(Some((self.set.bytes_read() * 100 / self.media.bytes(self.position).max(1)).min(99) as u8))
    }

    /// Makes the files durable: the `database.toml` that makes them a database in the middle of a restore, and what was done.
    ///
    /// # Errors
    /// 3202; 3189 for a backup whose parts do not fit together.
    pub fn finish(self, name: &str, id: i32) -> Result<(DatabaseFile, BackupOutcome), SqlError> {
        let Target { disk, folder, pages, in_memory, mut log } = self.target.expect("begin comes first");
        let tail = self.set.tail.as_ref().ok_or_else(SqlError::backup_set_damaged)?;
        let head = self.set.head;
        if log.end != tail.last_lsn || self.pages != tail.pages || head.redo < head.first_lsn || head.redo > log.end {
            return Err(SqlError::backup_set_damaged());
        }
        log.finish(&disk)?;
        if let Some(rows) = in_memory {
            let is_whole = rows.finish(&disk, &folder).map_err(|error| not_written(&folder, &error))?;
            if !is_whole {
                return Err(SqlError::backup_set_damaged());
            }
        }
        let restoring = Restoring {
            log_id: format!("{:016x}", head.log_id),
            restored_to: log.end,
            restored_us: tail.last_block_us,
            files: vec![log.name.clone()],
            checkpoint: head.checkpoint,
            redo: head.redo,
            recovery: head.first_lsn,
            next_transaction: head.next_transaction,
            pages: head.file_pages,
        };
        pages.finish(&master(&restoring, false)).map_err(|error| store_not_written(&folder, &error))?;
        disk.sync_dir(&folder).map_err(|error| not_written(&folder, &error))?;
        let outcome = BackupOutcome {
            pages: self.pages,
            log_pages: pages_of(tail.log_bytes),
            time_us: 0,
            position: self.position,
            before_the_stop_point: self.stop_at_us.is_some_and(|stop| stop > tail.covered_us),
        };
        let file = DatabaseFile {
            format: head.options.format(),
            id,
            name: name.to_owned(),
            created_us: head.database_created_us,
            catalog_root: head.catalog_root,
            options: head.options,
            family: head.family,
            replaces: None,
            chain: None,
            restoring: Some(restoring),
            offline: false,
            good_check_us: None,
        };
        Ok((file, outcome))
    }
}

/// Where recovery begins; `patched`: log backups have brought pages.
fn master(restoring: &Restoring, patched: bool) -> Master {
    Master {
        // The one that counts is the later one.
        sequence: if patched { 2 } else { 1 },
        patched,
        checkpoint_lsn: Lsn(restoring.checkpoint),
        redo_lsn: Lsn(restoring.redo),
        recovery_lsn: Lsn(restoring.recovery),
        next_transaction: restoring.next_transaction,
        pages: restoring.pages,
        clean: false,
        stamps: false,
        // The log was built anew: it is followed from its start.
        end_lsn: Lsn::ZERO,
        place: None,
    }
}

/// A log backup that is being restored.
pub(crate) struct LogRestore {
    media: Media,
    set: SetReader,
    position: usize,
    stop_at_us: Option<u64>,
    restoring: Restoring,
    disk: Disk,
    log: Staged,
    pages: u64,
    /// The first block behind the point in time was met.
    stopped: bool,
}

impl LogRestore {
    /// Opens the backup and checks that it goes on where `file`, the database in `folder`, ends.
    ///
    /// # Errors
    /// What opening the device ends with; 3135, 3154, 4305, 4326, 4330, 4335, 4341; 3117 when the database's own log is
    /// whole.
    pub fn begin(
        device: &Device,
        options: &RestoreOptions,
        disk: &Disk,
        folder: &Path,
        file: &DatabaseFile,
    ) -> Result<LogRestore, SqlError> {
        let restoring = file.restoring.clone().ok_or_else(SqlError::nothing_to_roll_forward)?;
        if restoring.log_id.is_empty() {
            return Err(SqlError::nothing_to_roll_forward());
        }
        let media = device.open()?;
        let set = SetReader::open(&media, options.position)?;
        let head = &set.head;
        if head.kind != BackupKind::Log {
            return Err(SqlError::wrong_backup_kind(options.position, "BACKUP DATABASE"));
        }
        if head.family != file.family() {
            return Err(SqlError::other_database(&file.name));
        }
        if format!("{:016x}", head.log_id) != restoring.log_id {
            return Err(SqlError::other_recovery_path());
        }
        let tail: Option<SetTail> = media.tail(options.position).and_then(|bytes| serde_json::from_slice(&bytes).ok());
        let tail = tail.ok_or_else(SqlError::backup_set_damaged)?;
        let last = tail.last_lsn;
        if head.first_lsn > restoring.restored_to {
            return Err(SqlError::log_too_recent(head.first_lsn, restoring.restored_to));
        }
        if last < restoring.restored_to || (last == restoring.restored_to && head.first_lsn < last) {
            return Err(SqlError::log_too_early(last, restoring.restored_to));
        }
        if options.stop_at_us.is_some_and(|stop| stop < restoring.restored_us) {
            return Err(SqlError::stop_point_passed());
        }
        if tail.bulk_logged && options.stop_at_us.is_some_and(|stop| stop < tail.last_block_us) {
            return Err(SqlError::log_is_bulk_logged());
        }
        let number = restoring.files.len() + 1;
        let log = Staged::create(disk, folder, number, restoring.restored_to, head.set_id)?;
        let (position, stop_at_us, disk) = (options.position, options.stop_at_us, disk.clone());
        Ok(LogRestore { media, set, position, stop_at_us, restoring, disk, log, pages: 0, stopped: false })
    }

    /// Does the next part: the percentage that is done, or None when all is.
    ///
    /// # Errors
    /// 3203 and its like for a damaged backup, 3202 when the files cannot be written.
    pub fn step(&mut self) -> Result<Option<u8>, SqlError> {
        let until = self.set.bytes_read() + STEP_BYTES;
        let database = self.set.head.database.clone();
        while self.set.bytes_read() < until {
            let Some(chunk) = self.set.next()? else { return Ok(None) };
            if chunk.kind == ChunkKind::Pages {
                check_pages(chunk.payload, &database)?;
                self.log.add_pages(chunk.payload)?;
                self.pages += (chunk.payload.len() / pikepole_storage::PAGE_BYTES) as u64;
                continue;
            }
            // What lies behind is still read, and checked: a damaged backup is none.
            self.stopped |= self.stop_at_us.is_some_and(|stop| chunk.fields[1] > stop);
            if !self.stopped {
                self.log.add(chunk.fields, chunk.payload)?;
            }
        }
        Ok(Some((self.set.bytes_read() * 100 / self.media.bytes(self.position).max(1)).min(99) as u8))
    }

    /// Makes what was restored durable; it counts when the result is written to `database.toml`.
    ///
    /// # Errors
    /// 3202; 3189 for a backup whose parts do not fit together.
    pub fn finish(mut self) -> Result<(Restoring, BackupOutcome), SqlError> {
        let tail = self.set.tail.as_ref().ok_or_else(SqlError::backup_set_damaged)?;
        let all_log = self.stopped || self.log.end == tail.last_lsn.max(self.restoring.restored_to);
        if !all_log || self.pages != tail.pages || (self.pages > 0 && !tail.bulk_logged) {
            return Err(SqlError::backup_set_damaged());
        }
        self.log.finish(&self.disk)?;
        let outcome = BackupOutcome {
            pages: self.pages,
            log_pages: pages_of(self.log.end - self.restoring.restored_to),
            time_us: 0,
            position: self.position,
            before_the_stop_point: !self.stopped && self.stop_at_us.is_some_and(|stop| stop > tail.covered_us),
        };
        self.restoring.files.push(self.log.name.clone());
        self.restoring.restored_us = self.restoring.restored_us.max(self.log.time_us);
        self.restoring.restored_to = self.log.end;
        Ok((self.restoring, outcome))
    }
}

/// Makes what the recovery of the database in `folder` reads, of what was restored: the log, and pages that came with
/// it, in their places. A log that was made of it before is thrown away.
///
/// # Errors
/// 3202, 3203; 3189 when what was restored is not what it was.
pub(crate) fn build_log(
    disk: &Disk,
    folder: &Path,
    options: &LogOptions,
    direct: bool,
    restoring: &Restoring,
) -> Result<(), SqlError> {
    let logs = folder.join("log");
    if disk.exists(&logs) {
        disk.remove_dir_all(&logs).map_err(|error| not_written(&logs, &error))?;
    }
    let not_made = |error: LogError| SqlError::device_not_written(logs.display(), error);
    let builder = LogBuilder::create(disk, &logs, options, Lsn(restoring.recovery)).map_err(not_made)?;
    let mut made = Made { disk, folder, direct, builder, pages: None };
    for name in &restoring.files {
        made.add(name)?;
    }
    if made.builder.end().0 != restoring.restored_to {
        return Err(SqlError::backup_set_damaged());
    }
    made.builder.finish().map_err(not_made)?;
    if let Some(pages) = made.pages {
        let finished = pages.finish(&master(restoring, !fault::tells_no_redo()));
        finished.map_err(|error| store_not_written(folder, &error))?;
    }
    Ok(())
}

/// Log and pages on their way from the folder `restore` to where recovery finds them.
struct Made<'a> {
    disk: &'a Disk,
    folder: &'a Path,
    direct: bool,
    builder: LogBuilder,
    /// Once there was a page.
    pages: Option<RestoredPages>,
}

impl Made<'_> {
    /// Takes one file of the folder `restore`.
    fn add(&mut self, name: &str) -> Result<(), SqlError> {
        let path = self.folder.join(RESTORE_FOLDER).join(name);
        let not_read = |error: String| SqlError::device_not_read(path.display(), error);
        let opened = open(self.disk, &path, false).and_then(|file| Ok((file.len()?, file)));
        let (len, file) = opened.map_err(|error| not_read(error.to_string()))?;
        let mut chunks = ChunkReader::new(file, 0, len);
        loop {
            let chunk = chunks.next().map_err(|error| not_read(error.to_string()))?;
            let chunk = chunk.ok_or_else(|| not_read("it ends too early".to_owned()))?;
            match chunk.kind {
                ChunkKind::Tail => return Ok(()),
                ChunkKind::Pages => self.add_pages(chunk.payload)?,
                _ => {
                    let [start, time_us, begins] = chunk.fields;
                    let begins_incarnation = begins != 0;
                    let block = Block { start: Lsn(start), payload: chunk.payload, begins_incarnation, time_us };
                    let appended = self.builder.append(block);
                    appended.map_err(|error| SqlError::device_not_written(self.folder.display(), error))?;
                }
            }
        }
    }

    fn add_pages(&mut self, pages: &[u8]) -> Result<(), SqlError> {
        let not_written = |error| store_not_written(self.folder, &error);
        let put_in = match &mut self.pages {
            Some(put_in) => put_in,
            none => {
                let data = self.folder.join("data");
                none.insert(RestoredPages::reopen(self.disk, &data, self.direct).map_err(not_written)?)
            }
        };
        put_in.write(pages).map_err(not_written)
    }
}

/// Removes what was restored of the log: the database has a log of its own.
pub(crate) fn clear_staged(disk: &Disk, folder: &Path) {
    let staged = folder.join(RESTORE_FOLDER);
    if disk.exists(&staged) {
        // What stays takes room and does no harm.
        let _ = disk.remove_dir_all(&staged);
    }
}
