//! The files of CREATE DATABASE and ALTER DATABASE: ADD, MODIFY and REMOVE FILE.
//!
//! What can be refused is refused before anything is made. FILENAME is not used: a database of this engine is a folder of
//! the server's.

use super::Definer;
use super::filegroup::filegroup;
use crate::errors;
use crate::expression::Fault;
use pikepole_engine::{Database, FileState, FileWish, Growth, LOG_FILE, PRIMARY_FILEGROUP};
use pikepole_tsql::{self as tree, AlterDatabaseAction, FileSize, FileSpec};
use pikepole_types::SqlError;
use std::sync::Arc;

const PAGE_BYTES: u64 = 8192;
/// The most pages of SIZE, MAXSIZE and FILEGROWTH.
const PAGES_MAX: u64 = i32::MAX as u64;
/// The smallest file.
const FILE_BYTES_MIN: u64 = 512 << 10;
/// SIZE of a further file that says none.
const FURTHER_FILE_BYTES: u64 = 8 << 20;
/// The filegroup of files of the log.
const LOG_GROUP: i32 = 0;

/// A size in bytes, in whole pages.
fn bytes(option: &str, size: FileSize) -> Result<u64, Fault> {
    let FileSize::Of(..) = size else { return Err(Box::new(SqlError::file_option_invalid(option))) };
    let pages = size.bytes().map(|bytes| bytes.div_ceil(PAGE_BYTES)).filter(|pages| *pages <= PAGES_MAX);
    pages.map(|pages| pages * PAGE_BYTES).ok_or_else(|| Box::new(SqlError::file_size_too_large()))
}

/// The settings that a statement gives one file.
///
/// # Errors
/// 153 for units that an option does not take, 1842 for sizes that are too large.
fn wish(file: &FileSpec) -> Result<FileWish, Fault> {
    let growth = |growth: FileSize| match growth {
        FileSize::Percent(percent) => match i32::try_from(percent) {
            Ok(percent) => Ok(Growth::Percent(percent.unsigned_abs())),
            Err(_) => Err(Box::new(SqlError::file_size_too_large())),
        },
        size => bytes("filegrowth", size).map(Growth::Bytes),
    };
    let limit = |limit: FileSize| match limit {
        FileSize::Unlimited => Ok(None),
        size => bytes("maxsize", size).map(Some),
    };
    Ok(FileWish {
        name: file.name.clone(),
        size_bytes: file.size.map(|size| bytes("size", size)).transpose()?,
        growth: file.growth.map(growth).transpose()?,
        max_bytes: file.max_size.map(limit).transpose()?,
    })
}

/// A new file with what is said of it.
///
/// # Errors
/// 1036 without NAME; 5103, 5169 and 5174 for sizes that do not go together; OFFLINE is refused by name.
fn new_file(file: &FileSpec) -> Result<FileWish, Fault> {
    let wish = wish(file)?;
    let Some(name) = wish.name.clone() else { return Err(Box::new(SqlError::file_option_required("NAME"))) };
    if file.offline {
        return Err(errors::unsupported("OFFLINE of a file"));
    }
    let limit = wish.max_bytes.flatten();
    if wish.size_bytes.is_some_and(|size| size < FILE_BYTES_MIN) {
        return Err(Box::new(SqlError::file_too_small()));
    }
    if wish.size_bytes.zip(limit).is_some_and(|(size, limit)| limit < size) {
        return Err(Box::new(SqlError::file_limit_below_size(name)));
    }
    if let (Some(Growth::Bytes(growth)), Some(limit)) = (wish.growth, limit)
        && growth > limit
    {
        return Err(Box::new(SqlError::file_growth_above_limit(name)));
    }
    Ok(wish)
}

/// The files that CREATE DATABASE declares.
pub(super) struct DeclaredFiles {
    data: Vec<FileWish>,
    log: Vec<FileWish>,
    /// The files of other filegroups, by their names.
    grouped: Vec<(tree::Name, FileWish)>,
}

impl DeclaredFiles {
    /// Reads them before anything is made.
    ///
    /// # Errors
    /// 1828 for a name that is given twice; as of each file's.
    pub(super) fn of(create: &tree::CreateDatabase) -> Result<DeclaredFiles, Fault> {
        let read = |files: &[FileSpec]| files.iter().map(new_file).collect::<Result<Vec<_>, Fault>>();
        let mut grouped = Vec::new();
        for group in &create.filegroups {
            grouped.extend(read(&group.files)?.into_iter().map(|wish| (group.name.clone(), wish)));
        }
        let declared = DeclaredFiles { data: read(&create.primary)?, log: read(&create.log)?, grouped };
        let all = declared.data.iter().chain(declared.grouped.iter().map(|(_, wish)| wish)).chain(&declared.log);
        let mut names: Vec<String> = Vec::new();
        for name in all.filter_map(|wish| wish.name.as_ref()) {
            if names.contains(&name.to_lowercase()) {
                return Err(Box::new(SqlError::logical_file_name_in_use(name)));
            }
            names.push(name.to_lowercase());
        }
        Ok(declared)
    }

    /// True when the first data file has a size.
    pub(super) fn are_sized(&self) -> bool {
        self.data.first().is_some_and(|first| first.size_bytes.is_some())
    }

    /// Makes them in the new database, whose filegroups are there.
    ///
    /// # Errors
    /// 1803 for a first file that is smaller than one can be; what there is no room for.
    pub(super) async fn make(self, database: &Arc<Database>, session_id: i32) -> Result<(), Fault> {
        let least = database.first_data_bytes();
        if self.data.first().and_then(|first| first.size_bytes).is_some_and(|size| size < least) {
            return Err(Box::new(SqlError::primary_file_too_small(least.div_ceil(1 << 20))));
        }
        let catalog = database.current_catalog();
        for (group, files, first_id) in [(PRIMARY_FILEGROUP, self.data, 1), (LOG_GROUP, self.log, LOG_FILE)] {
            for (place, wish) in files.iter().enumerate() {
                match place {
                    0 => database.set_file(session_id, first_id, wish).await?,
                    _ => database.add_file(session_id, group, &further(wish)).await?,
                }
            }
        }
        for (name, wish) in &self.grouped {
            let group = catalog.filegroup(&name.text).map_or(PRIMARY_FILEGROUP, |found| found.data_space_id);
            database.add_file(session_id, group, &further(wish)).await?;
        }
        Ok(())
    }
}

/// A further file has a size, since what has none is the first file's.
fn further(wish: &FileWish) -> FileWish {
    FileWish { size_bytes: wish.size_bytes.or(Some(FURTHER_FILE_BYTES)), ..wish.clone() }
}

impl Definer<'_> {
    /// The files of CREATE DATABASE. Two errors say that one cannot be: why, and that the statement has failed.
    ///
    /// # Errors
    /// As of [`DeclaredFiles::of`].
    pub(super) fn declared_files(&mut self, create: &tree::CreateDatabase) -> Result<DeclaredFiles, Fault> {
        match DeclaredFiles::of(create) {
            Err(fault) if matches!(fault.number, 1828 | 5103 | 5169 | 5174) => {
                self.output.error(&fault.at_line(self.line()));
                Err(Box::new(SqlError::create_database_failed()))
            }
            read => read,
        }
    }

    /// ADD, MODIFY and REMOVE FILE of ALTER DATABASE.
    pub(super) async fn alter_files(
        &mut self,
        database: &Arc<Database>,
        action: &AlterDatabaseAction,
    ) -> Result<(), Fault> {
        match action {
            AlterDatabaseAction::AddFiles { files, filegroup: group } => {
                let catalog = database.current_catalog();
                let group = match group {
                    // One of memory-optimized data has containers, which hold nothing here.
                    Some(name) => match catalog.filegroup(&name.text) {
                        Some(found) => found.data_space_id,
                        None => filegroup(&catalog, name)?,
                    },
                    None => PRIMARY_FILEGROUP,
                };
                self.add_files(database, files, group).await
            }
            AlterDatabaseAction::AddLogFiles(files) => self.add_files(database, files, LOG_GROUP).await,
            AlterDatabaseAction::ModifyFile(file) => self.modify_file(database, file).await,
            AlterDatabaseAction::RemoveFile(name) => {
                let found = file_named(database, &name.text);
                let found = found.ok_or_else(|| SqlError::files_not_initialized().with_state(9))?;
                database.remove_file(self.context.state.session_id, &found).await?;
                self.output.message(&SqlError::file_removed(&name.text).at_line(self.line()));
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// All files are looked at before one is added.
    async fn add_files(&mut self, database: &Arc<Database>, files: &[FileSpec], group: i32) -> Result<(), Fault> {
        let mut names: Vec<String> = Vec::new();
        let mut wishes = Vec::new();
        for file in files {
            let wish = self.checked_file(file)?;
            let name = wish.name.clone().unwrap_or_default();
            if names.contains(&name.to_lowercase()) || file_named(database, &name).is_some() {
                let state = if names.contains(&name.to_lowercase()) { 9 } else { 4 };
                return Err(Box::new(SqlError::logical_file_name_in_use(name).with_state(state)));
            }
            names.push(name.to_lowercase());
            wishes.push(further(&wish));
        }
        for wish in &wishes {
            database.add_file(self.context.state.session_id, group, wish).await?;
        }
        Ok(())
    }

    /// A file to be added. Two errors say that it cannot be.
    fn checked_file(&mut self, file: &FileSpec) -> Result<FileWish, Fault> {
        match new_file(file) {
            Err(fault) if matches!(fault.number, 5103 | 5169 | 5174) => {
                self.output.error(&fault.at_line(self.line()));
                Err(Box::new(SqlError::files_not_initialized()))
            }
            read => read,
        }
    }

    async fn modify_file(&mut self, database: &Arc<Database>, file: &FileSpec) -> Result<(), Fault> {
        let Some(name) = &file.name else { return Err(Box::new(SqlError::file_option_required("NAME"))) };
        let missing = || Box::new(SqlError::file_to_modify_missing(name));
        let found = file_named(database, name).ok_or_else(missing)?;
        if file.offline {
            return Err(errors::unsupported("MODIFY FILE ... OFFLINE"));
        }
        // A new file has its place in the folder of the database, whatever FILENAME says; none moves elsewhere.
        if file.filename.is_some() {
            return Err(errors::unsupported("MODIFY FILE ... FILENAME"));
        }
        let wish = FileWish { name: file.new_name.clone(), ..wish(file)? };
        if wish == FileWish::default() {
            return Err(Box::new(SqlError::modify_file_needs_property(name)));
        }
        check_modified(database, &found, &wish)?;
        database.set_file(self.context.state.session_id, found.file_id, &wish).await?;
        if let Some(new) = &file.new_name {
            self.output.message(&SqlError::file_name_set(new).at_line(self.line()));
        }
        Ok(())
    }
}

/// The file of a logical name.
fn file_named(database: &Database, name: &str) -> Option<FileState> {
    database.files().into_iter().find(|own| own.name.to_lowercase() == name.to_lowercase())
}

/// # Errors
/// 1828 for a name that another file has; 5039 for a size that is no larger; 5040 for a limit that is too small; 5169 for a
/// step above the limit.
fn check_modified(database: &Database, file: &FileState, wish: &FileWish) -> Result<(), Fault> {
    if let Some(new) = &wish.name
        && file_named(database, new).is_some_and(|other| other.file_id != file.file_id)
    {
        return Err(Box::new(SqlError::logical_file_name_in_use(new).with_state(3)));
    }
    // A log is at least as long as its first segment, whatever was said.
    let has = if file.is_log() && file.said_bytes > 0 { file.said_bytes } else { file.bytes };
    if wish.size_bytes.is_some_and(|size| size <= has) {
        return Err(Box::new(SqlError::file_not_made_smaller()));
    }
    let size = wish.size_bytes.unwrap_or(has);
    if let Some(Some(limit)) = wish.max_bytes
        && limit < size
    {
        let kilobytes = |bytes: u64| bytes / 1024;
        let (size, limit) = (kilobytes(size), kilobytes(limit));
        return Err(Box::new(SqlError::file_larger_than_limit(database.name(), file.file_id, size, limit)));
    }
    let limit = wish.max_bytes.unwrap_or(if file.is_log() { None } else { file.max_bytes });
    if let (Some(Growth::Bytes(growth)), Some(limit)) = (wish.growth, limit)
        && growth > limit
    {
        return Err(Box::new(SqlError::file_growth_above_limit(&file.name).with_state(1)));
    }
    if let (Some(size), Some(limit)) = (wish.size_bytes, limit)
        && size > limit
    {
        let (size, limit) = (size / 1024, limit / 1024);
        return Err(Box::new(SqlError::file_larger_than_limit(database.name(), file.file_id, size, limit)));
    }
    Ok(())
}
