//! Backups: a database, or a stretch of its log, in a file, and back.
//!
//! ```text
//!   full backup    [head][pages, copied while work goes on ......][log from V to E][tail]
//!                          checkpoint, redo start R                        ^ durable when the last page was copied
//!   log backup     [head][pages whose rows the log lacks][log from where the last one ended to what is durable][tail]
//!
//!   restore        pages -> data/        log and its pages -> restore/log-0001, restore/log-0002, ...       RESTORING
//!   recovery       restore/* -> data/, log/ (same LSNs, a new log id)   -> opened as after a crash          ONLINE
//! ```
//! - A full backup is to a restored database what the disk is after a crash: pages of many moments, and the log that makes
//!   them one. So a restored database is recovered by the code that opens databases, and by nothing else: redo up to where
//!   the restored log ends, then undo of what was open there.
//! - V is the recovery start of the checkpoint that begins the backup; E is durable when the copying ends. A database that
//!   is restored from it alone is as it was at E.
//! - Log backups meet at LSNs, byte by byte. The chain begins at the E of the first full backup.
//! - Which pages a log backup has, and why they and the log are one, is in [`crate::database`]'s `bulk_changed`; most
//!   have none.
//! - A point in time is a block of the log: see `pikepole_log::Block`. What is in blocks up to T is restored.
//! - The database gets a new log id when it is recovered: log backups of the line before do not apply to it.
//! - A database that is restored over another one is made beside it, in a folder of its own. `database.toml`, written last,
//!   makes it the database and names the folder it replaces; an error or a crash before that leaves the old one.

mod media;
mod restore;
mod set;
mod write;

pub(crate) use media::Device;
#[cfg(test)]
pub(crate) use media::{SetWriterForTests, device_of_test};
pub(crate) use restore::{LogRestore, PageRestore, build_log, clear_staged};
pub use set::{BackupKind, BackupSetRow, MediaRow};
pub(crate) use set::{SetHead, list_sets, media_row, verify};
pub(crate) use write::BackupJob;

/// What BACKUP is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackupOptions {
    /// The database, or its log.
    pub kind: BackupKind,
    /// The file, as the statement names it: see `ServerOptions::backup_folders`.
    pub device: String,
    /// INIT: the file's other sets go.
    pub init: bool,
    /// FORMAT: as INIT, also when the file's directory is damaged or of another version.
    pub format: bool,
    /// COPY_ONLY, NO_TRUNCATE: the chain of log backups stays as it is.
    pub copy_only: bool,
    /// NORECOVERY, of the log: the database is given up to a restore.
    pub norecovery: bool,
    /// COMPRESSION: pages and log are deflated.
    pub compression: bool,
    /// NAME.
    pub name: String,
    /// DESCRIPTION.
    pub description: String,
}

impl BackupOptions {
    /// A backup of `kind` to `device` with nothing special.
    pub fn new(kind: BackupKind, device: impl Into<String>) -> BackupOptions {
        BackupOptions {
            kind,
            device: device.into(),
            init: false,
            format: false,
            copy_only: false,
            norecovery: false,
            compression: false,
            name: String::new(),
            description: String::new(),
        }
    }
}

/// What RESTORE is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RestoreOptions {
    /// The file, as of [`BackupOptions::device`].
    pub device: String,
    /// FILE: the number of the set in it, from 1.
    pub position: usize,
    /// REPLACE.
    pub replace: bool,
    /// RECOVERY: the database is used afterwards; otherwise more of the log can be restored.
    pub recovery: bool,
    /// STOPAT, in microseconds since 1970.
    pub stop_at_us: Option<u64>,
}

impl RestoreOptions {
    /// A restore of the first set of `device`, with recovery.
    pub fn new(device: impl Into<String>) -> RestoreOptions {
        RestoreOptions { device: device.into(), position: 1, replace: false, recovery: true, stop_at_us: None }
    }
}

/// What a backup or a restore came to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BackupOutcome {
    /// Pages of 8 KB of data; of a log backup, of loads that the log lacks.
    pub pages: u64,
    /// Pages of 8 KB of log, the last one begun.
    pub log_pages: u64,
    /// How long it took, in microseconds.
    pub time_us: u64,
    /// The number of the set in the file, from 1.
    pub position: usize,
    /// The database is left restoring although it was to be recovered: the point in time lies behind the backup.
    pub before_the_stop_point: bool,
}

/// A backup that was made, also one that was thrown away.
#[derive(Debug, Clone)]
pub struct MadeBackup {
    /// Its pages, its place in the file, and how long it took.
    pub outcome: BackupOutcome,
    /// The set.
    pub set: BackupSetRow,
    /// The file that it is the last set of.
    pub media: MediaRow,
}

/// Bytes as pages of 8 KB.
fn pages_of(bytes: u64) -> u64 {
    bytes.div_ceil(pikepole_storage::PAGE_BYTES as u64)
}
