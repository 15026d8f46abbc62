//! Logs looked at record by record: of a folder that is not opened, and of an open database.
//!
//! ```text
//!   LogFiles (log)   records as bytes ---> Record (storage's table) ---> LogRow: with its table's name and the record
//!   Glance (storage) page -> object   -/                                 of its transaction before it
//!   catalog rows     object -> name  -/
//! ```
//! Nothing is written and no lock is taken, so a folder may be looked at while a server has it open. The names are those
//! that the data file's last checkpoint and the log itself give; a table that is dropped keeps its name here as long as
//! its definition's rows are there.

use std::collections::{BTreeMap, HashMap};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use pikepole_log::field::RecordError;
use pikepole_log::{LogError, LogFiles, Lsn, Reader};
use pikepole_machine::Disk;
use pikepole_storage::records::{Record, splice};
use pikepole_storage::{Glance, PageId};

use crate::catalog::definition::{StoredObject, TableRecord};
use crate::catalog::rows::{CATALOG_OBJECT, Decoder};
use crate::database::{DATABASE_FILE, Database, DatabaseFile};
use crate::error::OpenError;

/// A record of a log, in its surroundings.
#[derive(Debug)]
pub struct LogRow<'a> {
    /// Where it begins.
    pub lsn: Lsn,
    /// Where the next one begins, or padding.
    pub end: Lsn,
    /// Its bytes, the kind first.
    pub bytes: &'a [u8],
    /// What it says, or why it says nothing.
    pub record: Result<Record<'a>, RecordError>,
    /// The table, and behind another point the index, whose page it changes.
    pub owner: Option<&'a str>,
    /// The record of the same transaction before it, as far as the log was read.
    pub previous: Option<Lsn>,
}

/// What [`LogView::each`] and [`Database::each_log_record`] call for each record; breaking off ends the reading.
pub type TellRow<'a> = dyn FnMut(&LogRow<'_>) -> ControlFlow<()> + 'a;

/// The log of one database of a folder that is not opened.
pub struct LogView {
    database: String,
    in_use: Option<String>,
    files: LogFiles,
    glance: Glance,
    names: HashMap<u32, String>,
}

impl LogView {
    /// The names of the databases in a server's folder, sorted.
    ///
    /// # Errors
    /// When the folder cannot be read.
    pub fn databases(disk: &Disk, folder: &Path) -> Result<Vec<String>, OpenError> {
        let found = database_folders(disk, folder)?;
        Ok(found.into_iter().map(|(name, _)| name).collect())
    }

    /// Looks at the log of a database, by its name in any case.
    ///
    /// # Errors
    /// When there is no such database, or it has no log that can be read. Damage of blocks is no error here: see
    /// [`LogFiles::damage`].
    pub fn open(disk: &Disk, folder: &Path, database: &str) -> Result<LogView, OpenError> {
        let unusable = |why: String| OpenError::Log { database: database.to_owned(), why };
        let found = database_folders(disk, folder)?;
        let found = found.into_iter().find(|(name, _)| name.eq_ignore_ascii_case(database));
        let Some((name, path)) = found else {
            return Err(unusable(format!("there is no such database in {}", folder.display())));
        };
        let owner = disk.folder_owner(folder).map_err(|error| unusable(error.to_string()))?;
        let in_use = owner.map(|owner| match owner.process {
            Some(process) => format!("process {process}"),
            None => "another process".to_owned(),
        });
        let log = path.join("log");
        let files = if in_use.is_some() { LogFiles::open_live(disk, log) } else { LogFiles::open(disk, log) };
        let files = files.map_err(|error| unusable(error.to_string()))?;
        let glance = Glance::at(disk, &path.join("data")).map_err(|error| unusable(error.to_string()))?;
        let mut view = LogView { database: name, in_use, files, glance, names: HashMap::new() };
        // Names are a help: without them the records are still there.
        view.names = view.learn_names().unwrap_or_default();
        Ok(view)
    }

    /// The database's name.
    pub fn database(&self) -> &str {
        &self.database
    }

    /// Which process has the folder open, if one has: the log goes on while it is looked at.
    pub fn in_use(&self) -> Option<&str> {
        self.in_use.as_deref()
    }

    /// The log's files.
    pub fn files(&self) -> &LogFiles {
        &self.files
    }

    /// Shows every record that begins at `from` or behind it, in order, up to the end of the log or to damage.
    ///
    /// # Errors
    /// When bytes are not a record's length, or the segments changed their use under the reader.
    pub fn each(&self, from: Lsn, tell: &mut TellRow<'_>) -> Result<(), LogError> {
        let name = |page| self.glance.owner_of(page).and_then(|object| self.names.get(&object)).map(String::as_str);
        go_through(self.files.read_near(from)?, from, &name, tell)
    }

    /// The names of trees and heaps: what the data file has of the catalog, and over it what the log says.
    fn learn_names(&mut self) -> Result<HashMap<u32, String>, LogError> {
        let mut rows: BTreeMap<Vec<u8>, Vec<u8>> = BTreeMap::new();
        self.glance.leaf_rows(CATALOG_OBJECT, &mut |key, rest| {
            rows.insert(key.to_vec(), rest.to_vec());
        })?;
        let mut reader = self.files.read();
        while let Some((_, bytes, _)) = reader.next()? {
            let Ok(record) = Record::decode(bytes) else { continue };
            self.glance.note(&record);
            if let Record::Insert { page, key, rest, .. } | Record::Replace { page, key, rest, .. } = record
                && self.glance.owner_of(PageId(page)) == Some(CATALOG_OBJECT)
            {
                rows.insert(key.to_vec(), rest.to_vec());
            }
            if let Record::ReplacePart { page, key, at, old_part, part, .. } = record
                && self.glance.owner_of(PageId(page)) == Some(CATALOG_OBJECT)
                && let Some(row) = rows.get_mut(key)
                // What the data file has may be newer.
                && row.get(at as usize..).is_some_and(|row| row.starts_with(old_part))
                && let Some(changed) = splice(row, at as usize, old_part.len(), part)
            {
                *row = changed;
            }
        }
        let mut decoder = Decoder::default();
        for (key, rest) in &rows {
            decoder.row(key, rest);
        }
        let mut names = HashMap::from([(CATALOG_OBJECT, CATALOG_NAME.to_owned())]);
        for object in decoder.finish().objects {
            if let StoredObject::Table(table) = object {
                names.extend(storage_names(&table));
            }
        }
        Ok(names)
    }
}

/// What dumps call the tree of the catalog.
const CATALOG_NAME: &str = "sys.catalog";

/// `schema.table` of a heap, `schema.table.index` of a tree, `schema.table (LOB_DATA)` of long values.
fn storage_names(table: &TableRecord) -> Vec<(u32, String)> {
    let heap = table.heap.map(|heap| (heap.object, table.full_name()));
    let long = table.overflow.map(|at| (at.object, format!("{} (LOB_DATA)", table.full_name())));
    let indexes = table.live_indexes();
    heap.into_iter()
        .chain(long)
        .chain(indexes.map(|index| (index.storage.object, format!("{}.{}", table.full_name(), index.name))))
        .collect()
}

/// The databases of a folder: name and folder.
fn database_folders(disk: &Disk, folder: &Path) -> Result<Vec<(String, PathBuf)>, OpenError> {
    let names = disk
        .list(folder)
        .map_err(|error| OpenError::Folder { folder: folder.to_path_buf(), why: error.to_string() })?;
    let mut found = Vec::new();
    for name in names {
        let path = folder.join(&name);
        if disk.exists(path.join(DATABASE_FILE)) {
            // A file that cannot be read does not hide the log: the folder's name is the database's, in lower case.
            let name = DatabaseFile::read(disk, &path).map_or(name, |file| file.name);
            found.push((name, path));
        }
    }
    Ok(found)
}

/// Reads on from `from`.
fn go_through<'n>(
    mut reader: Reader,
    from: Lsn,
    name: &dyn Fn(PageId) -> Option<&'n str>,
    tell: &mut TellRow<'_>,
) -> Result<(), LogError> {
    let mut last: HashMap<u64, Lsn> = HashMap::new();
    while let Some((lsn, bytes, end)) = reader.next()? {
        let record = Record::decode(bytes);
        let xid = record.as_ref().ok().and_then(Record::xid).filter(|xid| *xid != 0);
        let previous = match (xid, &record) {
            (Some(xid), Ok(record)) if record.ends_transaction() => last.remove(&xid),
            (Some(xid), _) => last.insert(xid, lsn),
            (None, _) => None,
        };
        if lsn < from {
            continue;
        }
        let owner = record.as_ref().ok().and_then(Record::page).and_then(name);
        if tell(&LogRow { lsn, end, bytes, record, owner, previous }).is_break() {
            break;
        }
    }
    Ok(())
}

impl Database {
    /// Shows every durable record of this database's log that begins at `from` or behind it, in order. Reads the files:
    /// the calling thread waits for the disk.
    ///
    /// # Errors
    /// When the log cannot be read, or was truncated under the reader.
    pub fn each_log_record(&self, from: Lsn, tell: &mut TellRow<'_>) -> Result<(), LogError> {
        let files = LogFiles::open_live(self.disk(), self.folder().join("log"))?;
        let catalog = self.current_catalog();
        let mut names: HashMap<u32, String> = catalog.tables().flat_map(|table| storage_names(table)).collect();
        names.insert(CATALOG_OBJECT, CATALOG_NAME.to_owned());
        let name = |page| self.store().object_of(page).and_then(|object| names.get(&object)).map(String::as_str);
        go_through(files.read_near(from)?, from, &name, tell)
    }
}
