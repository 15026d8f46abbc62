//! A backup set: what its head and its tail say, and going through it.

use pikepole_types::SqlError;
use serde::{Deserialize, Serialize};

use super::media::{Device, Media};
use crate::chunk::{Chunk, ChunkKind, ChunkReader};
use crate::database::{DatabaseOptions, RecoveryModel};
use crate::in_memory::Manifest;

/// What a backup is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum BackupKind {
    /// The whole database.
    Database,
    /// Its log since the last log backup.
    Log,
}

impl BackupKind {
    /// As messages name the statement's second word.
    pub fn name(self) -> &'static str {
        match self {
            BackupKind::Database => "DATABASE",
            BackupKind::Log => "LOG",
        }
    }
}

/// The first chunk of a set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SetHead {
    pub format: u32,
    pub kind: BackupKind,
    pub set_id: u64,
    pub name: String,
    pub description: String,
    pub copy_only: bool,
    #[serde(default)]
    pub compressed: bool,
    pub started_us: u64,
    pub database: String,
    pub database_id: i32,
    pub database_created_us: u64,
    /// What the database and its restored copies have in common.
    pub family: u64,
    pub log_id: u64,
    /// Where the log in the set begins.
    pub first_lsn: u64,
    /// Where the log of the last full backup before this one begins; 0: there was none.
    pub database_backup_lsn: u64,
    pub catalog_root: u32,
    pub options: DatabaseOptions,
    /// The logical names of the files, by number; empty in sets of programs that knew none.
    #[serde(default)]
    pub files: Vec<String>,
    /// Of a full backup: the manifest of durable in-memory tables, if there have been any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_memory: Option<Manifest>,
    /// Of a full backup: the master of the checkpoint that it begins with.
    pub checkpoint: u64,
    pub redo: u64,
    pub next_transaction: u64,
    pub file_pages: u32,
}

/// The last chunk of a set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SetTail {
    /// Where the log in the set ends.
    pub last_lsn: u64,
    /// The time of the youngest block of log in the set.
    pub last_block_us: u64,
    /// All that was acknowledged as durable before is in the set; not below `last_block_us`.
    pub covered_us: u64,
    pub finished_us: u64,
    pub pages: u64,
    pub log_bytes: u64,
    /// Of a log backup: the log lacks rows, so it is restored as a whole, with the set's pages.
    #[serde(default)]
    pub bulk_logged: bool,
    /// Of a compressed set: the bytes before this chunk if nothing were deflated.
    #[serde(default)]
    pub plain_bytes: u64,
}

/// A set of a file, as RESTORE HEADERONLY shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackupSetRow {
    /// The number in the file, from 1.
    pub position: usize,
    /// What it is of.
    pub kind: BackupKind,
    /// NAME.
    pub name: String,
    /// DESCRIPTION.
    pub description: String,
    /// The database.
    pub database: String,
    /// The logical names of its files, by number: the pages, the log, further ones.
    pub files: Vec<String>,
    /// When that was created, in microseconds since 1970.
    pub database_created_us: u64,
    /// When the backup began and ended, in microseconds since 1970.
    pub started_us: u64,
    /// See `started_us`.
    pub finished_us: u64,
    /// Bytes of the set.
    pub bytes: u64,
    /// What they would be if it were not compressed.
    pub plain_bytes: u64,
    /// COMPRESSION.
    pub compressed: bool,
    /// Where its log begins.
    pub first_lsn: u64,
    /// Where its log ends.
    pub last_lsn: u64,
    /// The checkpoint that a full backup begins with; 0 of a log backup.
    pub checkpoint_lsn: u64,
    /// Where the log of the full backup before it begins.
    pub database_backup_lsn: u64,
    /// COPY_ONLY.
    pub copy_only: bool,
    /// The database's recovery model then.
    pub recovery: RecoveryModel,
    /// What the database and its restored copies have in common.
    pub family: u64,
    /// The log that it is of.
    pub log_id: u64,
    /// The set's own number.
    pub set_id: u64,
    /// Pages of the data file, used or not.
    pub file_pages: u32,
    /// Bytes of log.
    pub log_bytes: u64,
    /// Whether the log lacks rows, whose pages are in the set.
    pub bulk_logged: bool,
    /// Whether its first or last piece cannot be read.
    pub damaged: bool,
}

/// A file of backups, as RESTORE LABELONLY shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MediaRow {
    /// Drawn when the file was begun.
    pub media_id: u64,
    /// Its sets.
    pub sets: usize,
}

/// Goes through a set: the head first, then what `next` gives, up to the tail.
pub(super) struct SetReader {
    device: Device,
    chunks: ChunkReader,
    begins_at: u64,
    pub head: SetHead,
    pub tail: Option<SetTail>,
}

impl SetReader {
    /// Opens the set of this number, from 1, and reads its head.
    ///
    /// # Errors
    /// 4038 when there is none; 3203 when it is damaged; 3243 when it is of another version.
    pub fn open(media: &Media, position: usize) -> Result<SetReader, SqlError> {
        let device = media.device().clone();
        let mut chunks = media.set(position)?;
        let begins_at = chunks.position();
        let head = {
            let first = chunks.next().map_err(|error| device.not_read(&error))?;
            match first {
                Some(Chunk { kind: ChunkKind::Head, payload, .. }) => serde_json::from_slice::<SetHead>(payload).ok(),
                _ => None,
            }
        };
        let head = head.ok_or_else(SqlError::backup_set_damaged)?;
        if head.format != super::media::VERSION {
            return Err(SqlError::media_version(&device.name, head.format, super::media::VERSION));
        }
        Ok(SetReader { device, chunks, begins_at, head, tail: None })
    }

    /// Bytes read so far.
    pub fn bytes_read(&self) -> u64 {
        self.chunks.position() - self.begins_at
    }

    /// The next chunk between head and tail; None when the tail was read, and is in `tail`.
    ///
    /// # Errors
    /// 3203 when it is damaged, 3256 when there is no tail.
    pub fn next(&mut self) -> Result<Option<Chunk<'_>>, SqlError> {
        let device = &self.device;
        match self.chunks.next().map_err(|error| device.not_read(&error))? {
            Some(Chunk { kind: ChunkKind::Tail, payload, .. }) => {
                let tail = serde_json::from_slice(payload).map_err(|_| SqlError::backup_set_damaged())?;
                self.tail = Some(tail);
                Ok(None)
            }
            Some(Chunk { kind: ChunkKind::Head, .. }) => Err(SqlError::backup_set_damaged()),
            Some(chunk) => Ok(Some(chunk)),
            None => Err(SqlError::backup_set_incomplete(&device.name)),
        }
    }
}

/// Checks the pages of a chunk.
///
/// # Errors
/// 3183.
pub(super) fn check_pages(pages: &[u8], database: &str) -> Result<(), SqlError> {
    for page in pages.chunks(pikepole_storage::PAGE_BYTES) {
        if let Err((page, why)) = pikepole_storage::check_page(page) {
            return Err(SqlError::restore_found_damage(format!("1:{page}"), format!("{database}: {why}")));
        }
    }
    Ok(())
}

/// Reads all of a set and checks it.
///
/// # Errors
/// What is wrong with it.
pub(crate) fn verify(device: &Device, position: usize) -> Result<(), SqlError> {
    let media = device.open()?;
    let mut set = SetReader::open(&media, position)?;
    let database = set.head.database.clone();
    while let Some(chunk) = set.next()? {
        if chunk.kind == ChunkKind::Pages {
            check_pages(chunk.payload, &database)?;
        }
    }
    Ok(())
}

/// The sets of a file.
///
/// # Errors
/// As of [`Device::open`].
pub(crate) fn list_sets(device: &Device) -> Result<Vec<BackupSetRow>, SqlError> {
    let media = device.open()?;
    (1..=media.sets()).map(|position| set_row(&media, position)).collect()
}

fn set_row(media: &Media, position: usize) -> Result<BackupSetRow, SqlError> {
    let head = SetReader::open(media, position)?.head;
    let tail: Option<SetTail> = media.tail(position).and_then(|bytes| serde_json::from_slice(&bytes).ok());
    Ok(row_of(position, media.bytes(position), head, tail.as_ref()))
}

/// The row of RESTORE HEADERONLY for a set of `bytes` bytes; without a tail it is damaged.
pub(super) fn row_of(position: usize, bytes: u64, head: SetHead, tail: Option<&SetTail>) -> BackupSetRow {
    BackupSetRow {
        position,
        kind: head.kind,
        name: head.name,
        description: head.description,
        files: match head.files.is_empty() {
            true => vec![head.database.clone(), format!("{}_log", head.database)],
            false => head.files,
        },
        database: head.database,
        database_created_us: head.database_created_us,
        started_us: head.started_us,
        finished_us: tail.map_or(0, |tail| tail.finished_us),
        bytes,
        plain_bytes: match tail {
            Some(tail) if head.compressed => tail.plain_bytes,
            _ => bytes,
        },
        compressed: head.compressed,
        first_lsn: head.first_lsn,
        last_lsn: tail.map_or(0, |tail| tail.last_lsn),
        checkpoint_lsn: head.checkpoint,
        database_backup_lsn: head.database_backup_lsn,
        copy_only: head.copy_only,
        recovery: head.options.recovery,
        family: head.family,
        log_id: head.log_id,
        set_id: head.set_id,
        file_pages: head.file_pages,
        log_bytes: tail.map_or(0, |tail| tail.log_bytes),
        bulk_logged: tail.is_some_and(|tail| tail.bulk_logged),
        damaged: tail.is_none(),
    }
}

/// The file itself.
///
/// # Errors
/// As of [`Device::open`].
pub(crate) fn media_row(device: &Device) -> Result<MediaRow, SqlError> {
    let media = device.open()?;
    Ok(MediaRow { media_id: media.id(), sets: media.sets() })
}
