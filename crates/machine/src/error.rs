//! Errors of files: each says what was done to which path, and keeps its cause for code that reacts to it.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// What an [`io::Error`] of this crate holds: the action, the path and the cause.
///
/// The outer error has the kind of the cause.
#[derive(Debug)]
pub struct FileError {
    action: &'static str,
    path: PathBuf,
    cause: io::Error,
}

impl FileError {
    /// The path that the failed action was about.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What the operating system, or the simulated disk, answered.
    pub fn cause(&self) -> &io::Error {
        &self.cause
    }
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot {} {}: {}", self.action, self.path.display(), self.cause)
    }
}

impl std::error::Error for FileError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.cause)
    }
}

/// The folder is open already, in this process or in another one.
#[derive(Debug)]
pub struct FolderBusy {
    /// The folder that was asked for.
    pub folder: PathBuf,
    /// The process that has it, when it could be told.
    pub process: Option<u32>,
}

impl fmt::Display for FolderBusy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the folder {} is already open in ", self.folder.display())?;
        match self.process {
            Some(pid) if pid == std::process::id() => write!(f, "this process (id {pid})"),
            Some(pid) => write!(f, "process {pid}"),
            None => write!(f, "another process"),
        }
    }
}

impl std::error::Error for FolderBusy {}

impl FolderBusy {
    pub(crate) fn into_io(self) -> io::Error {
        io::Error::new(io::ErrorKind::ResourceBusy, self)
    }
}

/// The power of a simulated disk went off.
#[derive(Debug)]
pub(crate) struct PowerLost;

impl fmt::Display for PowerLost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the simulated disk has lost its power")
    }
}

impl std::error::Error for PowerLost {}

/// Whether `error` comes from a simulated disk whose power is off: not a failure of the code under test.
pub fn is_crash(error: &io::Error) -> bool {
    let Some(inner) = error.get_ref() else { return false };
    match inner.downcast_ref::<FileError>() {
        Some(wrapped) => is_crash(&wrapped.cause),
        None => inner.is::<PowerLost>(),
    }
}

/// Whether `error` says that there is no room: the device is full, the user's quota is used up, or the file may not grow
/// further (a limit of the file system, or of the process where it ignores SIGXFSZ).
///
/// Such a write has lost nothing: it may be tried again when there is room.
pub fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge)
}

/// Adds the action and the path to an error.
pub(crate) fn describe(action: &'static str, path: &Path, cause: io::Error) -> io::Error {
    let kind = cause.kind();
    io::Error::new(kind, FileError { action, path: path.to_path_buf(), cause })
}
