//! The files of in-memory tables in a database's folder.
//!
//! ```text
//!   in-memory/checkpoint.toml     which file counts, and from where on the log is needed beside it
//!   in-memory/rows-7              all rows of all tables at one time, in chunks ([`crate::chunk`]):
//!                                 [head: the tables][rows ...][tail: how many]
//! ```
//! There is one file of rows, and a second one while that is being written: `checkpoint.toml` is replaced in one step when it is durable.
//! A database without such tables has neither.

use std::path::{Path, PathBuf};

use pikepole_machine::{Disk, File, OpenOptions};
use serde::{Deserialize, Serialize};

/// The folder.
const FOLDER: &str = "in-memory";
const MANIFEST: &str = "checkpoint.toml";
const ROWS: &str = "rows-";
/// The version of the files.
const FORMAT: u32 = 1;

/// The content of `checkpoint.toml`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Manifest {
    /// The version of the files.
    pub format: u32,
    /// The LSN from which on the log may have commits whose changes the file lacks.
    pub log_from: u64,
    /// The time, in the order of transactions in memory, up to which commits are in the file, and no later ones.
    pub time: u64,
    /// The number of the file of rows; zero: there are no rows yet.
    pub file: u64,
    /// Its bytes.
    pub bytes: u64,
    /// Its rows.
    pub rows: u64,
    /// When it was written, in microseconds since 1970.
    pub written_us: u64,
}

/// The first chunk of a file of rows.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct RowsHead {
    pub tables: Vec<RowsOf>,
}

/// A table whose rows are in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct RowsOf {
    /// Its number in the log.
    pub object: u32,
    /// The LSN behind which it was made: numbers of dropped tables are given again.
    pub since: u64,
}

/// The last chunk of a file of rows.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct RowsTail {
    pub rows: u64,
}

/// The folder of the files, which may not be there.
pub(crate) fn folder(database: &Path) -> PathBuf {
    database.join(FOLDER)
}

impl Manifest {
    /// The manifest of a database without rows in in-memory tables.
    pub fn empty(log_from: u64) -> Manifest {
        Manifest { format: FORMAT, log_from, time: 0, file: 0, bytes: 0, rows: 0, written_us: 0 }
    }

    /// Reads the manifest of the database in a folder; None: it has no such tables.
    ///
    /// # Errors
    /// The reason why it cannot be read.
    pub fn read(disk: &Disk, database: &Path) -> Result<Option<Manifest>, String> {
        let path = folder(database).join(MANIFEST);
        if !disk.exists(&path) {
            return Ok(None);
        }
        let not_read = |why: String| format!("{}: {why}", path.display());
        let bytes = disk.read(&path).map_err(|error| not_read(error.to_string()))?;
        let text = std::str::from_utf8(&bytes).map_err(|error| not_read(error.to_string()))?;
        let manifest: Manifest = toml::from_str(text).map_err(|error| not_read(error.to_string()))?;
        if manifest.format != FORMAT {
            return Err(not_read(format!("it has format {}, and this program knows {FORMAT}", manifest.format)));
        }
        Ok(Some(manifest))
    }

    /// Writes it, durably, in place of the one that is there.
    ///
    /// # Errors
    /// Failed I/O.
    pub fn write(&self, disk: &Disk, database: &Path) -> std::io::Result<()> {
        let text = toml::to_string(self).map_err(std::io::Error::other)?;
        let folder = folder(database);
        if !disk.is_dir(&folder) {
            disk.create_dir_all(&folder)?;
            disk.sync_dir(database)?;
        }
        disk.replace(folder.join(MANIFEST), text.as_bytes())
    }

    /// The path of its file of rows; None: it has none.
    pub fn path(&self, database: &Path) -> Option<PathBuf> {
        (self.file > 0).then(|| rows_path(database, self.file))
    }

    /// Opens its file of rows, for reading; None: it has none.
    ///
    /// # Errors
    /// Failed I/O.
    pub fn open(&self, disk: &Disk, database: &Path) -> std::io::Result<Option<File>> {
        let options = OpenOptions { read_only: true, ..OpenOptions::default() };
        self.path(database).map(|path| disk.open(path, options)).transpose()
    }
}

/// The path of the file of rows of this number.
pub(super) fn rows_path(database: &Path, number: u64) -> PathBuf {
    folder(database).join(format!("{ROWS}{number}"))
}

/// Makes the file of rows of this number, in place of what an interrupted attempt left.
pub(crate) fn create_rows(disk: &Disk, database: &Path, number: u64) -> std::io::Result<File> {
    let options = OpenOptions { create: true, ..OpenOptions::default() };
    let file = disk.open(rows_path(database, number), options)?;
    file.set_len(0)?;
    Ok(file)
}

/// A file of rows that comes from a backup.
pub(crate) struct RestoredRows {
    manifest: Manifest,
    /// Absent when there are no rows.
    file: Option<File>,
    bytes: u64,
}

impl RestoredRows {
    /// Makes the file in the folder of a database.
    ///
    /// # Errors
    /// Failed I/O.
    pub fn create(disk: &Disk, database: &Path, manifest: Manifest) -> std::io::Result<RestoredRows> {
        disk.create_dir_all(folder(database))?;
        let file = (manifest.file > 0).then(|| create_rows(disk, database, manifest.file)).transpose()?;
        Ok(RestoredRows { manifest, file, bytes: 0 })
    }

    /// Takes the next bytes.
    ///
    /// # Errors
    /// Failed I/O.
    pub fn add(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        if let Some(file) = &self.file {
            file.write_at(bytes, self.bytes)?;
            self.bytes += bytes.len() as u64;
        }
        Ok(())
    }

    /// Makes it durable. False: it is not as long as it was.
    ///
    /// # Errors
    /// Failed I/O.
    pub fn finish(self, disk: &Disk, database: &Path) -> std::io::Result<bool> {
        if let Some(file) = &self.file {
            file.sync()?;
        }
        self.manifest.write(disk, database)?;
        Ok(self.bytes == self.manifest.bytes)
    }
}

/// Removes all files of rows but the one that counts.
pub(super) fn remove_others(disk: &Disk, database: &Path, keep: u64) -> std::io::Result<()> {
    let folder = folder(database);
    for name in disk.list(&folder)? {
        let number = name.strip_prefix(ROWS).and_then(|number| number.parse::<u64>().ok());
        if number.is_some_and(|number| number != keep) {
            disk.remove_file(folder.join(name))?;
        }
    }
    Ok(())
}
