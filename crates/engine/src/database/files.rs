//! `database.toml`: what must be known of a database before it is opened. Its presence is the database's existence: it is
//! written last when a database is made, and removed first when one is dropped.

use std::path::Path;

use pikepole_machine::Disk;
use pikepole_types::Collation;
use serde::{Deserialize, Serialize};

use super::{ScopedConfiguration, Switches, UserAccess};

pub(crate) const DATABASE_FILE: &str = "database.toml";
/// What this build writes. The keys of formats 1 to 4 have another order of texts ([`Collation::ORDERS_VERSION`] 1), so they are not read.
pub(crate) const FORMAT: u32 = 5;
/// That of a database with a collation of its own: a build that does not know it would make columns of the default one there.
const FORMAT_COLLATED: u32 = 6;

/// `DELAYED_DURABILITY`: who decides whether commits wait for the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
#[repr(u8)]
pub enum DelayedDurability {
    /// Every commit waits.
    #[default]
    Disabled,
    /// The statement decides.
    Allowed,
    /// No commit waits.
    Forced,
}

impl DelayedDurability {
    /// As `sys.databases` spells it.
    pub fn name(self) -> &'static str {
        match self {
            DelayedDurability::Disabled => "DISABLED",
            DelayedDurability::Allowed => "ALLOWED",
            DelayedDurability::Forced => "FORCED",
        }
    }
}

/// The recovery model: how far the log is kept. Under FULL and BULK_LOGGED it is kept for the next log backup, once a full
/// backup has begun a chain of log backups; until then, and under SIMPLE, checkpoints truncate it. Under BULK_LOGGED as
/// under SIMPLE it lacks the rows of some loads; log backups take their pages, see `bulk_changed.rs`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum RecoveryModel {
    /// FULL.
    Full,
    /// BULK_LOGGED.
    BulkLogged,
    /// SIMPLE.
    #[default]
    Simple,
}

impl RecoveryModel {
    /// Whether all rows are in the log.
    pub(crate) fn logs_all_rows(self) -> bool {
        self == RecoveryModel::Full
    }

    /// As `sys.databases` spells it.
    pub fn name(self) -> &'static str {
        match self {
            RecoveryModel::Full => "FULL",
            RecoveryModel::BulkLogged => "BULK_LOGGED",
            RecoveryModel::Simple => "SIMPLE",
        }
    }
}

/// The options of a database that ALTER DATABASE sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct DatabaseOptions {
    /// `DELAYED_DURABILITY`.
    #[serde(default)]
    pub delayed_durability: DelayedDurability,
    /// `RECOVERY`.
    #[serde(default)]
    pub recovery: RecoveryModel,
    /// `READ_COMMITTED_SNAPSHOT`: READ COMMITTED reads a snapshot; else what is newest, under locks.
    #[serde(default = "is_on")]
    pub read_committed_snapshot: bool,
    /// `ALLOW_SNAPSHOT_ISOLATION`.
    #[serde(default)]
    pub allow_snapshot_isolation: bool,
    /// `RECURSIVE_TRIGGERS`: what an AFTER trigger changes in its own table runs it again.
    #[serde(default)]
    pub recursive_triggers: bool,
    /// `SINGLE_USER` and its like.
    #[serde(default)]
    pub user_access: UserAccess,
    /// What is only shown.
    #[serde(default, skip_serializing_if = "Switches::are_usual")]
    pub switches: Switches,
    /// What ALTER DATABASE SCOPED CONFIGURATION has set.
    #[serde(default, skip_serializing_if = "ScopedConfiguration::is_usual")]
    pub scoped: ScopedConfiguration,
    /// `COLLATE`: that of texts which nothing else gives one.
    #[serde(default, skip_serializing_if = "is_default")]
    pub collation: Collation,
}

fn is_on() -> bool {
    true
}

fn is_default(collation: &Collation) -> bool {
    *collation == Collation::DEFAULT
}

impl DatabaseOptions {
    /// The format of a file with these options.
    pub(crate) fn format(&self) -> u32 {
        if is_default(&self.collation) { FORMAT } else { FORMAT_COLLATED }
    }
}

impl Default for DatabaseOptions {
    fn default() -> Self {
        Self {
            delayed_durability: DelayedDurability::default(),
            recovery: RecoveryModel::default(),
            read_committed_snapshot: true,
            allow_snapshot_isolation: true,
            recursive_triggers: false,
            user_access: UserAccess::default(),
            switches: Switches::USUAL,
            scoped: ScopedConfiguration::USUAL,
            collation: Collation::DEFAULT,
        }
    }
}

/// The content of `database.toml`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct DatabaseFile {
    pub format: u32,
    pub id: i32,
    pub name: String,
    pub created_us: u64,
    /// The root page of the catalog's tree.
    pub catalog_root: u32,
    pub options: DatabaseOptions,
    /// What the database and its restored copies have in common; of old files: when it was created.
    #[serde(default)]
    pub family: u64,
    /// The folder beside this one that held the database before it was restored over; it is to be removed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaces: Option<String>,
    /// The chain of log backups, if a full backup has begun one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chain: Option<LogChain>,
    /// The database is in the middle of a restore.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restoring: Option<Restoring>,
    /// ALTER DATABASE has set it OFFLINE: it is closed, and stays so after a start.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub offline: bool,
    /// When DBCC CHECKDB last found nothing wrong, in microseconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub good_check_us: Option<u64>,
}

/// A chain of log backups.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LogChain {
    /// The log is backed up to here: the next log backup begins here, and the log is kept from here.
    pub backed_up_to: u64,
    /// Where the log of the last full backup that is not COPY_ONLY begins.
    pub database_backup: u64,
    /// The database has been BULK_LOGGED since `backed_up_to`: the log from there on may lack rows, whose pages the
    /// next log backup takes.
    #[serde(default)]
    pub bulk_logged: bool,
}

/// How far a restore has come. What is restored of the log lies in the folder `restore`, see `docs/understand/format.md`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Restoring {
    /// The log that is restored, in hexadecimal; empty: the database's own files are whole, and only its use was given up
    /// by BACKUP LOG WITH NORECOVERY.
    pub log_id: String,
    /// The restored log reaches to here.
    pub restored_to: u64,
    /// The time of the youngest block in it, in microseconds since 1970.
    pub restored_us: u64,
    /// The files with the restored log, in its order.
    pub files: Vec<String>,
    /// Where recovery begins, as the full backup has it.
    pub checkpoint: u64,
    pub redo: u64,
    pub recovery: u64,
    pub next_transaction: u64,
    pub pages: u32,
}

impl DatabaseFile {
    /// What is known of a database that is only a name yet.
    pub fn placeholder(name: &str) -> DatabaseFile {
        DatabaseFile {
            format: FORMAT,
            id: 0,
            name: name.to_owned(),
            created_us: 0,
            catalog_root: 0,
            options: DatabaseOptions::default(),
            family: 0,
            replaces: None,
            chain: None,
            restoring: None,
            offline: false,
            good_check_us: None,
        }
    }

    /// What the database and its restored copies have in common.
    pub fn family(&self) -> u64 {
        if self.family == 0 { self.created_us } else { self.family }
    }

    /// Reads the file in `folder`.
    ///
    /// # Errors
    /// What is wrong with it, for people.
    pub fn read(disk: &Disk, folder: &Path) -> Result<DatabaseFile, String> {
        let path = folder.join(DATABASE_FILE);
        let bytes = disk.read(&path).map_err(|error| error.to_string())?;
        let text = String::from_utf8(bytes).map_err(|_| format!("{DATABASE_FILE} is not text"))?;
        let file: DatabaseFile = toml::from_str(&text).map_err(|error| format!("{DATABASE_FILE}: {error}"))?;
        let format = file.format;
        if format < FORMAT {
            return Err(format!(
                "{DATABASE_FILE} has format {format}, in whose indexes texts have another order; this build reads formats \
                 {FORMAT} and {FORMAT_COLLATED}. Copy the rows out with the build that wrote it, into a new database"
            ));
        }
        if format > FORMAT_COLLATED {
            return Err(format!(
                "{DATABASE_FILE} has format {format}; this build reads formats {FORMAT} and {FORMAT_COLLATED}"
            ));
        }
        Ok(file)
    }

    /// Writes the file in `folder`, in the place of the former one or as the first.
    pub fn write(&self, disk: &Disk, folder: &Path) -> std::io::Result<()> {
        let text = toml::to_string(self).map_err(std::io::Error::other)?;
        disk.replace(folder.join(DATABASE_FILE), text.as_bytes())
    }
}
