//! The files of a database: SIZE, FILEGROWTH and MAXSIZE are stored in its catalog, and hold at once.
//!
//! ```text
//!            SIZE                              FILEGROWTH                         MAXSIZE
//!   pages    the file is made so long          the step of the store's growth     error 1105 beyond it
//!   log      segments are prepared: that many  the size of the next segment       error 9002 beyond it
//! ```
//! All data files are room in the one file of pages, all log files in the one log: SIZE of a further file makes it longer,
//! and limits add up. What is beyond the sizes of the others belongs to the first file, so growth is the first file's.
//! The step is that of the first file that may grow; that of all together where the filegroup grows all its files.

use std::sync::Arc;

use pikepole_log::{LogGrowth, LogSizes};
use pikepole_storage::{FileGrowth, FileLimits, PAGE_BYTES, StorageError};
use pikepole_types::SqlError;

use super::{Database, Durability};
use crate::catalog::Catalog;
use crate::catalog::data_file::{DATA_FILE, FileSettings, Growth, LOG_FILE, LOG_GROUP};
use crate::catalog::definition::StoredObject;
use crate::catalog::filegroup::{FILEGROUP_MAX, FilegroupContents, PRIMARY_FILEGROUP};
use crate::catalog::property::PropertyPart;
use crate::catalog::rows::RowKind;
use crate::error::Place;
use crate::server::TraceFlag;
use crate::transaction::Transaction;

/// The settings that a statement gives a file; those that it leaves out stay.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileWish {
    /// `NAME` of a new file, and `NEWNAME`.
    pub name: Option<String>,
    /// `SIZE`, in bytes.
    pub size_bytes: Option<u64>,
    /// `FILEGROWTH`
    pub growth: Option<Growth>,
    /// `MAXSIZE`, in bytes; Some(None): UNLIMITED.
    pub max_bytes: Option<Option<u64>>,
}

impl FileWish {
    /// The settings that hold then of a file that had `former`.
    fn over(&self, former: FileSettings) -> FileSettings {
        FileSettings {
            name: self.name.clone().or(former.name),
            size_bytes: self.size_bytes.unwrap_or(former.size_bytes),
            growth: self.growth.unwrap_or(former.growth),
            max_bytes: self.max_bytes.unwrap_or(former.max_bytes),
            ..former
        }
    }
}

/// A file as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileState {
    /// Its number.
    pub file_id: i32,
    /// The number of its filegroup; 0: the log's.
    pub filegroup: i32,
    /// Its logical name.
    pub name: String,
    /// Its length in bytes, of a log that of its segments.
    pub bytes: u64,
    /// `SIZE` as it was said; 0: it was not.
    pub said_bytes: u64,
    /// Its limit in bytes; None: none but the disk's.
    pub max_bytes: Option<u64>,
    /// Its step. Of a file of which none was said, the bytes by which it would grow now.
    pub growth: Growth,
}

impl FileState {
    /// True for a file of the log.
    pub fn is_log(&self) -> bool {
        self.filegroup == LOG_GROUP
    }
}

impl Database {
    /// The files, by number.
    pub fn files(&self) -> Vec<FileState> {
        let catalog = self.current_catalog();
        let stats = self.log.stats();
        let data_bytes = u64::from(self.store.file_pages()) * PAGE_BYTES as u64;
        let others = |is_log: bool| -> u64 {
            let others = catalog.files().filter(|own| own.file_id > LOG_FILE);
            let others = others.filter(|own| if is_log { own.is_log() } else { holds_rows(&catalog, own) });
            others.map(|own| own.size_bytes).sum()
        };
        let state = |own: &Arc<FileSettings>| {
            let (bytes, step) = match own.file_id {
                DATA_FILE => (data_bytes.saturating_sub(others(false)), self.store.growth_bytes()),
                LOG_FILE => (stats.bytes.saturating_sub(others(true)), self.log.growth_bytes()),
                _ if own.is_log() || holds_rows(&catalog, own) => (own.size_bytes, 0),
                _ => (0, 0),
            };
            let limit_of_log = || Some(stats.bytes_max.saturating_sub(others(true)));
            FileState {
                file_id: own.file_id,
                filegroup: own.filegroup,
                name: own.name_in(&self.name),
                bytes,
                said_bytes: own.size_bytes,
                max_bytes: if own.file_id == LOG_FILE { limit_of_log() } else { own.max_bytes },
                growth: if own.growth == Growth::Doubling { Growth::Bytes(step) } else { own.growth },
            }
        };
        catalog.files().map(state).collect()
    }

    /// The bytes that the file of pages of a new database has.
    pub fn first_data_bytes(&self) -> u64 {
        self.store.first_bytes()
    }

    /// Notes durably what a statement says of a file, and makes it so. Room is taken before anything is noted.
    ///
    /// # Errors
    /// 5149 where there is no room for SIZE.
    pub async fn set_file(self: &Arc<Self>, session_id: i32, file_id: i32, wish: &FileWish) -> Result<(), SqlError> {
        let found = self.current_catalog().file(file_id).map(|own| FileSettings::clone(own));
        self.put_file(session_id, (found.unwrap_or_else(|| FileSettings::unsaid(file_id)), false), wish).await
    }

    /// ADD FILE, ADD LOG FILE; `filegroup` 0 is the log's.
    ///
    /// # Errors
    /// As of [`Database::set_file`]; 5033 for more files than there can be.
    pub async fn add_file(self: &Arc<Self>, session_id: i32, filegroup: i32, wish: &FileWish) -> Result<(), SqlError> {
        let free = self.current_catalog().free_file_id();
        let file_id = free.ok_or_else(|| SqlError::too_many_files(FILEGROUP_MAX))?;
        let file = FileSettings { file_id, filegroup, ..FileSettings::unsaid(file_id) };
        self.put_file(session_id, (file, true), wish).await
    }

    /// REMOVE FILE. Its room is the first file's then.
    ///
    /// # Errors
    /// 5020 for the first data and the first log file; 5031 and 5042 for the last one of a filegroup that is in use.
    pub async fn remove_file(self: &Arc<Self>, session_id: i32, file: &FileState) -> Result<(), SqlError> {
        if file.file_id <= LOG_FILE {
            return Err(SqlError::primary_file_not_removed());
        }
        let mut tx = self.transaction(session_id);
        let removed = self.try_remove_file(&mut tx, file).await;
        self.end_file_change(tx, removed).await
    }

    async fn try_remove_file(&self, tx: &mut Transaction, file: &FileState) -> Result<(), SqlError> {
        let (mark, mut catalog) = self.begin_definition(tx).await?;
        let in_group = catalog.files().filter(|own| own.filegroup == file.filegroup).count();
        if let Some(group) = catalog.filegroup_by_id(file.filegroup).filter(|_| in_group == 1) {
            if group.is_default {
                return Err(SqlError::only_file_of_default_filegroup(&file.name));
            }
            if catalog.is_filegroup_in_use(group) {
                return Err(SqlError::not_empty("file", &file.name));
            }
        }
        self.remove_rows(tx, RowKind::File, file.file_id, 0).await?;
        self.forget_part_of_database(tx, &mut catalog, PropertyPart::File(file.file_id)).await?;
        catalog.remove_file(file.file_id);
        self.end_definition(tx, mark, catalog, self.new_version());
        Ok(())
    }

    async fn put_file(
        self: &Arc<Self>,
        session_id: i32,
        (former, is_new): (FileSettings, bool),
        wish: &FileWish,
    ) -> Result<(), SqlError> {
        let (before, settings) = (self.files(), wish.over(former.clone()));
        // Steps and limits hold at once, so that nothing grows by others while room is taken.
        let mut changed = Catalog::clone(&self.current_catalog());
        changed.put_file(Arc::new(settings.clone()));
        self.apply_settings(&changed);
        if let Err(error) = self.take_room(&settings, wish.size_bytes, &before).await {
            self.apply_file_settings();
            return Err(error);
        }
        let mut tx = self.transaction(session_id);
        let put = self.try_put_file(&mut tx, (former, is_new), wish).await;
        self.end_file_change(tx, put).await
    }

    /// Other sessions may have changed files meanwhile: what is noted is decided under the catalog's lock.
    async fn try_put_file(
        &self,
        tx: &mut Transaction,
        (former, is_new): (FileSettings, bool),
        wish: &FileWish,
    ) -> Result<(), SqlError> {
        let (mark, mut catalog) = self.begin_definition(tx).await?;
        let former = match catalog.file(former.file_id) {
            Some(own) if !is_new => FileSettings::clone(own),
            None if !is_new => return Err(SqlError::files_not_initialized()),
            _ => {
                let free = catalog.free_file_id();
                FileSettings { file_id: free.ok_or_else(|| SqlError::too_many_files(FILEGROUP_MAX))?, ..former }
            }
        };
        let settings = wish.over(former);
        let name = settings.name_in(&self.name).to_lowercase();
        let is_same = |own: &&Arc<FileSettings>| {
            own.file_id != settings.file_id && own.name_in(&self.name).to_lowercase() == name
        };
        if catalog.files().any(|own| is_same(&own)) {
            return Err(SqlError::logical_file_name_in_use(settings.name_in(&self.name)).with_state(4));
        }
        self.store_object(tx, &StoredObject::File(settings.clone())).await?;
        catalog.put_file(Arc::new(settings));
        self.end_definition(tx, mark, catalog, self.new_version());
        Ok(())
    }

    async fn end_file_change(&self, mut tx: Transaction, changed: Result<(), SqlError>) -> Result<(), SqlError> {
        let ended = match changed {
            Ok(()) => self.commit(&mut tx, Durability::Full).await,
            Err(error) => {
                // The change's error says more than one of its undoing would.
                let _ = self.rollback(&mut tx).await;
                Err(error)
            }
        };
        self.apply_file_settings();
        ended
    }

    /// Makes a file as long as SIZE says; what the others had `before` stays theirs.
    async fn take_room(
        self: &Arc<Self>,
        file: &FileSettings,
        size_bytes: Option<u64>,
        before: &[FileState],
    ) -> Result<(), SqlError> {
        let catalog = self.current_catalog();
        let Some(size) = size_bytes.filter(|_| file.is_log() || holds_rows(&catalog, file)) else { return Ok(()) };
        let is_other = |own: &&FileState| {
            let in_data = catalog.file(own.file_id).is_some_and(|own| holds_rows(&catalog, own));
            own.file_id != file.file_id && if file.is_log() { own.is_log() } else { in_data }
        };
        let others: u64 = before.iter().filter(is_other).map(|own| own.bytes).sum();
        let (database, is_log) = (Arc::clone(self), file.is_log());
        let prepare = move || match is_log {
            true => database
                .log
                .prepare_size()
                .map_err(|error| SqlError::file_not_expanded(&error, database.folder.join("log").display())),
            false => database.store.prepare_file(others.saturating_add(size)).map_err(|error| match error {
                StorageError::DataFull { why } => {
                    SqlError::file_not_expanded(why, database.folder.join("data").display())
                }
                error => Place { database: &database, object: "", session_id: 0 }.storage(&error),
            }),
        };
        pikepole_scheduler::run_blocking(prepare).await
    }

    /// Makes what the catalog says of the files hold in the store and in the log.
    pub fn apply_file_settings(&self) {
        self.apply_settings(&self.current_catalog());
    }

    fn apply_settings(&self, catalog: &Catalog) {
        let data: Vec<_> = catalog.files().filter(|own| holds_rows(catalog, own)).cloned().collect();
        let log: Vec<_> = catalog.files().filter(|own| own.is_log()).cloned().collect();
        let growth = match self.step_of(&data, self.grows_all_files(catalog)) {
            Growth::Doubling => FileGrowth::Doubling,
            Growth::Bytes(bytes) => FileGrowth::Bytes(bytes),
            Growth::Percent(percent) => FileGrowth::Percent(percent),
        };
        let is_sized = data.iter().any(|own| own.size_bytes > 0);
        self.store.set_file_limits(FileLimits { growth, bytes_max: limit_of(&data), is_sized });
        let growth = match self.step_of(&log, false) {
            Growth::Doubling => LogGrowth::Doubling,
            Growth::Bytes(bytes) => LogGrowth::Bytes(bytes),
            Growth::Percent(percent) => LogGrowth::Percent(percent),
        };
        let bytes_min = log.iter().map(|own| own.size_bytes).sum();
        self.log.set_sizes(LogSizes { bytes_min, growth, bytes_max: limit_of(&log) });
    }

    /// True when a statement has said something of a file.
    pub(crate) fn has_file_settings(&self) -> bool {
        self.current_catalog().files().any(|own| **own != FileSettings::unsaid(own.file_id))
    }

    fn grows_all_files(&self, catalog: &Catalog) -> bool {
        let said = catalog.filegroup_by_id(PRIMARY_FILEGROUP).is_some_and(|own| own.grows_all_files);
        said || self.trace_flags.is_on(TraceFlag::GrowsAllFiles)
    }

    /// The step of files together: that of the first one that may grow, or of all.
    fn step_of(&self, files: &[Arc<FileSettings>], all: bool) -> Growth {
        let may_grow = |own: &&Arc<FileSettings>| own.growth != Growth::Bytes(0);
        let mut growing = files.iter().filter(may_grow);
        let Some(first) = growing.next() else { return Growth::Bytes(0) };
        if !all || growing.next().is_none() {
            return first.growth;
        }
        let states = self.files();
        let step = |own: &Arc<FileSettings>| match own.growth {
            Growth::Doubling => DOUBLING_STEP_BYTES,
            Growth::Bytes(bytes) => bytes,
            Growth::Percent(percent) => {
                let bytes = states.iter().find(|state| state.file_id == own.file_id).map_or(0, |state| state.bytes);
                (bytes / 100).saturating_mul(percent.into())
            }
        };
        Growth::Bytes(files.iter().map(step).fold(0, u64::saturating_add))
    }
}

/// True for a file with room for rows: one of memory-optimized data has none.
fn holds_rows(catalog: &Catalog, file: &FileSettings) -> bool {
    let group = catalog.filegroup_by_id(file.filegroup);
    group.is_some_and(|group| group.contents == FilegroupContents::Rows)
}

/// The step of a file of which none was said, where all files grow by steps that are said.
const DOUBLING_STEP_BYTES: u64 = 64 << 20;

/// The limit of files together; None as soon as one has none.
fn limit_of(files: &[Arc<FileSettings>]) -> Option<u64> {
    files.iter().map(|own| own.max_bytes).try_fold(0u64, |sum, own| Some(sum.saturating_add(own?)))
}
