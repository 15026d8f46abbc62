//! Files that statements name: the one door through which a name of a client becomes an open file.
//!
//! | statement | relative name | absolute name |
//! |---|---|---|
//! | BACKUP, RESTORE | in the first backup folder | in a backup folder |
//! | BULK INSERT, OPENROWSET, format files | in the first load folder, else in the working folder | in a load folder; if none is configured, any file |
//! | ERRORFILE | in the first load folder, else in the working folder | in a load folder, else in the working folder |
//!
//! The working folder is the server's own, or that of a shell ([`ServerOptions::working_folder`]).
//! Backup folders are those of [`ServerOptions::backup_folders`] and `backup/` in the server's folder. Beneath a folder no link
//! is followed ([`ConfinedFolder`]). Whatever is configured, the server's own files are out of reach: of its folder a statement
//! reaches `backup/` for backups, and for loads the files directly in it that the server has not made. What is written is new,
//! or an earlier backup.

use std::io;
use std::path::{Component, Path, PathBuf};

use pikepole_machine::{ConfinedFolder, Disk, File, OpenOptions};
use pikepole_types::SqlError;

use super::{CONFIGURATION_FILE, Server, ServerOptions};
use crate::backup::Device;
use crate::database::DATABASE_FILE;

/// The folder of backups in the server's folder.
pub const BACKUP_FOLDER: &str = "backup";
/// The file in the server's folder that says which of its first scripts have run.
pub const INIT_FILE: &str = "init.state";
/// Files that the server makes or reads in its folder; other names of it have one of these, a dot and more. They have either a dot, which
/// no folder of a database has, or are in this list.
const OWN_FILES: [&str; 8] = [
    "lock",
    CONFIGURATION_FILE,
    "error.log",
    "server-key.pem",
    "server-certificate.pem",
    INIT_FILE,
    "pikepole.conf",
    "mssql.conf",
];
/// Answers that wait for their clients, between being made and losing their names.
const OWN_PREFIX: &str = "answers-";
/// Names that stand for no file: what is backed up to them is thrown away.
const DISCARDING: [&str; 3] = ["NUL", "NUL:", "/dev/null"];
/// Where the system itself shows its state as files.
const SYSTEM_FOLDERS: [&str; 3] = ["/proc", "/sys", "/dev"];

/// The folders that statements may name files in.
#[derive(Debug, Clone)]
pub(crate) struct StatementFolders {
    disk: Disk,
    server: PathBuf,
    /// The first takes relative names; the last is `backup/` in the server's folder.
    backups: Vec<PathBuf>,
    loads: Vec<PathBuf>,
    /// The folder that relative names of loads belong to without load folders.
    working: PathBuf,
}

/// A file that a statement names: an open folder, and the name of a file in it.
#[derive(Debug, Clone)]
pub(crate) struct StatementFile {
    pub folder: ConfinedFolder,
    pub name: String,
}

/// The files that a load writes its refused rows to, neither of which is there.
#[derive(Debug)]
pub struct LoadErrorFiles {
    rows: StatementFile,
    notes: StatementFile,
}

fn refused(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::PermissionDenied, why)
}

impl StatementFolders {
    pub fn new(options: &ServerOptions) -> StatementFolders {
        let own = options.folder.join(BACKUP_FOLDER);
        let backups = options.backup_folders.iter().cloned().chain([own]).collect();
        let (disk, server) = (options.disk.clone(), options.folder.clone());
        let working = options.working_folder.as_ref().unwrap_or(&options.folder).clone();
        StatementFolders { disk, server, backups, loads: options.load_folders.clone(), working }
    }

    /// The backup device of this name.
    ///
    /// # Errors
    /// 3201 for a name outside of the folders.
    pub fn backup(&self, name: &str, direct: bool) -> Result<Device, SqlError> {
        if DISCARDING.iter().any(|discarding| name.eq_ignore_ascii_case(discarding)) {
            let folder = Disk::null().confine("/").map_err(|error| not_opened(name, &error))?;
            return Ok(Device {
                folder,
                file: DISCARDING[0].to_owned(),
                name: name.to_owned(),
                direct,
                discards: true,
            });
        }
        let own = self.server.join(BACKUP_FOLDER);
        if self.disk.exists(own.join(DATABASE_FILE)) && self.backups.len() == 1 {
            // Made before the name was kept for backups.
            let why = "5(Access is denied.): backup/ is the folder of a database; the server's start can name another";
            return Err(SqlError::device_not_opened(name, why));
        }
        if !self.disk.is_dir(&own) {
            self.disk.create_dir_all(&own).map_err(|error| not_opened(name, &error))?;
        }
        let found = self.beneath(&self.backups, name).and_then(|(root, file)| {
            let real = self.disk.real_path(&root).join(&file);
            let is_own = real.starts_with(self.disk.real_path(&own)) && !self.disk.exists(own.join(DATABASE_FILE));
            if real.starts_with(self.disk.real_path(&self.server)) && !is_own {
                return Err(refused("of the server's folder only backup/ is for backups"));
            }
            self.open_folder(&root, &file)
        });
        let file = found.map_err(|error| not_opened(name, &error))?;
        Ok(Device { folder: file.folder, file: file.name, name: name.to_owned(), direct, discards: false })
    }

    /// Opens a file to load.
    ///
    /// # Errors
    /// `NotFound`; `PermissionDenied` for what is none to load; what the file system answers.
    pub fn load(&self, name: &str) -> io::Result<File> {
        if !self.loads.is_empty() {
            let (root, file) = self.beneath(&self.loads, name)?;
            let found = self.open_folder(&root, &file)?;
            self.check_not_own(&self.disk.real_path(found.folder.path_of("")).join(&found.name))?;
            return found.folder.open(&found.name, OpenOptions { read_only: true, ..OpenOptions::default() });
        }
        let (file, real) = self.disk.open_proper(self.working.join(name))?;
        self.check_not_own(&real)?;
        Ok(file)
    }

    /// The files for the refused rows of a load and for why they were refused.
    ///
    /// # Errors
    /// `AlreadyExists`; `PermissionDenied` for names where a load may not write.
    pub fn load_errors(&self, name: &str) -> io::Result<LoadErrorFiles> {
        let file = |name: &str| {
            let is_default = self.loads.is_empty();
            let folders = if is_default { std::slice::from_ref(&self.working) } else { &self.loads };
            let (root, file) = self.beneath(folders, name)?;
            let found = self.open_folder(&root, &file)?;
            self.check_not_own(&self.disk.real_path(found.folder.path_of("")).join(&found.name))?;
            if is_default && self.working == self.server && !found.name.contains('.') {
                return Err(refused("in the server's folder a new file has a name with a dot"));
            }
            match found.folder.look(&found.name)? {
                None => Ok(found),
                Some(_) => Err(io::ErrorKind::AlreadyExists.into()),
            }
        };
        Ok(LoadErrorFiles { rows: file(name)?, notes: file(&format!("{name}.Error.Txt"))? })
    }

    /// The folder that a name lies in, and the rest of it.
    fn beneath(&self, folders: &[PathBuf], name: &str) -> io::Result<(PathBuf, PathBuf)> {
        let path = Path::new(name);
        if name.is_empty() || name.ends_with('/') || path.components().any(|part| part == Component::ParentDir) {
            return Err(refused("the name is not one of a file"));
        }
        if path.is_relative() {
            let first = folders.first().ok_or_else(|| refused("there is no folder for it"))?;
            return Ok((first.clone(), path.to_path_buf()));
        }
        let ways = folders.iter().flat_map(|root| {
            let absolute = std::path::absolute(root).unwrap_or_else(|_| root.clone());
            [absolute, self.disk.real_path(root)].map(|way| (root, way))
        });
        let rest = |(root, way): (&PathBuf, PathBuf)| {
            let rest = path.strip_prefix(way).ok().filter(|rest| !rest.as_os_str().is_empty())?;
            Some((root.clone(), rest.to_path_buf()))
        };
        // Of folders in each other the innermost.
        let found = ways.filter_map(rest).min_by_key(|(_, rest)| rest.components().count());
        found.ok_or_else(|| refused("the file is in none of the folders that are for it"))
    }

    fn open_folder(&self, root: &Path, file: &Path) -> io::Result<StatementFile> {
        let name =
            file.file_name().and_then(|name| name.to_str()).ok_or_else(|| refused("the name is not one of a file"))?;
        let folder = self.disk.confine(root)?.subfolder(file.parent().unwrap_or(Path::new("")))?;
        Ok(StatementFile { folder, name: name.to_owned() })
    }

    /// Refuses the server's own files, backups and the system's.
    fn check_not_own(&self, real: &Path) -> io::Result<()> {
        let is_backup = self.backups.iter().any(|folder| real.starts_with(self.disk.real_path(folder)));
        let is_system = SYSTEM_FOLDERS.iter().any(|folder| real.starts_with(folder));
        if is_backup || is_system {
            return Err(refused("the file is not one to load"));
        }
        let Ok(rest) = real.strip_prefix(self.disk.real_path(&self.server)) else { return Ok(()) };
        let mut parts = rest.components();
        match (parts.next(), parts.next()) {
            (Some(Component::Normal(name)), None) if !name.to_str().is_none_or(is_own_file) => Ok(()),
            _ => Err(refused("the file is the server's own")),
        }
    }
}

/// Whether a file of this name in the server's folder is one that the server makes.
fn is_own_file(name: &str) -> bool {
    let is_own = |own: &str| name.strip_prefix(own).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
    OWN_FILES.into_iter().any(is_own) || name.starts_with(OWN_PREFIX)
}

fn not_opened(name: &str, error: &io::Error) -> SqlError {
    let why = match error.kind() {
        io::ErrorKind::NotFound => "3(The system cannot find the path specified.)".to_owned(),
        _ => format!("5(Access is denied.): {error}"),
    };
    SqlError::device_not_opened(name, why)
}

impl StatementFile {
    fn write_new(&self, bytes: &[u8]) -> io::Result<()> {
        let file = self.folder.create_new(&self.name, OpenOptions::default())?;
        file.write_at(bytes, 0)
    }
}

impl LoadErrorFiles {
    /// Makes both files.
    ///
    /// # Errors
    /// `AlreadyExists` when one has come since; what the file system answers.
    pub fn write(&self, rows: &[u8], notes: &[u8]) -> io::Result<()> {
        self.rows.write_new(rows)?;
        self.notes.write_new(notes)
    }
}

impl Server {
    /// Opens a file that a statement loads, for reading. Blocks.
    ///
    /// # Errors
    /// `NotFound`; `PermissionDenied` for what is none to load; what the file system answers.
    pub fn open_load_file(&self, name: &str) -> io::Result<File> {
        self.statement_folders.load(name)
    }

    /// The files that a load writes its refused rows to.
    ///
    /// # Errors
    /// `AlreadyExists`; `PermissionDenied` for names where a load may not write.
    pub fn load_error_files(&self, name: &str) -> io::Result<LoadErrorFiles> {
        self.statement_folders.load_errors(name)
    }

    /// The folder that relative names of backups are of.
    pub fn backup_folder(&self) -> &Path {
        let first = self.statement_folders.backups.first();
        first.map_or(self.options.folder.as_path(), PathBuf::as_path)
    }
}

#[cfg(test)]
#[path = "statement_files_tests.rs"]
mod tests;
