//! `database.toml`: what must be known of a database before it is opened. Its presence is the database's existence: it is
//! written last when a database is made, and removed first when one is dropped.

use std::path::Path;

use pikepole_machine::Disk;
use serde::{Deserialize, Serialize};

pub(crate) const DATABASE_FILE: &str = "database.toml";
pub(crate) const FORMAT: u32 = 1;

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

/// The recovery model. The log is truncated at checkpoints under all of them: there are no log backups.
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
    /// `READ_COMMITTED_SNAPSHOT`: kept for the views; READ COMMITTED always reads a snapshot.
    #[serde(default)]
    pub read_committed_snapshot: bool,
    /// `ALLOW_SNAPSHOT_ISOLATION`.
    #[serde(default)]
    pub allow_snapshot_isolation: bool,
}

impl Default for DatabaseOptions {
    fn default() -> Self {
        Self {
            delayed_durability: DelayedDurability::default(),
            recovery: RecoveryModel::default(),
            read_committed_snapshot: true,
            allow_snapshot_isolation: true,
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
}

impl DatabaseFile {
    /// Reads the file in `folder`.
    ///
    /// # Errors
    /// What is wrong with it, for people.
    pub fn read(disk: &Disk, folder: &Path) -> Result<DatabaseFile, String> {
        let path = folder.join(DATABASE_FILE);
        let bytes = disk.read(&path).map_err(|error| error.to_string())?;
        let text = String::from_utf8(bytes).map_err(|_| format!("{DATABASE_FILE} is not text"))?;
        let file: DatabaseFile = toml::from_str(&text).map_err(|error| format!("{DATABASE_FILE}: {error}"))?;
        if file.format != FORMAT {
            return Err(format!("{DATABASE_FILE} has format {}; this build reads format {FORMAT}", file.format));
        }
        Ok(file)
    }

    /// Writes the file in `folder`, in the place of the former one or as the first.
    pub fn write(&self, disk: &Disk, folder: &Path) -> std::io::Result<()> {
        let text = toml::to_string(self).map_err(std::io::Error::other)?;
        disk.replace(folder.join(DATABASE_FILE), text.as_bytes())
    }
}
