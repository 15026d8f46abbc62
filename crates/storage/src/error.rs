//! What an operation of this crate can end with when it cannot be done now, or at all.
//!
//! Operations never wait. One that cannot go on returns [`Stop::Need`] with the thing it lacks, having changed nothing;
//! the caller awaits [`Store::satisfy`](crate::Store::satisfy) and calls again.

use std::fmt;
use std::sync::Arc;

/// The number of a page: its byte offset in the data file divided by [`PAGE_BYTES`](crate::PAGE_BYTES).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct PageId(pub u32);

impl fmt::Display for PageId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// Pages of an object that follow each other in the data file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PageRun {
    pub(crate) object: u32,
    /// The one that is lacking.
    pub(crate) first: PageId,
    /// At most so many.
    pub(crate) count: u32,
}

/// What an operation lacks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Need {
    /// The page is not in the buffer pool: it has to be read (`PAGEIOLATCH_*`).
    Page(PageId),
    /// The same of a scan, which will want the pages behind it too.
    Pages(PageRun),
    /// The page's latch stayed taken for longer than a spin (`PAGELATCH_*`).
    PageLatch(PageId),
    /// No free frame in the buffer pool: dirty pages have to be written first.
    Frame,
    /// The data file has no free extent: it has to grow.
    Space,
    /// The log buffer is full (`LOGBUFFER`).
    LogBuffer,
}

/// Why an operation failed for good.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StorageError {
    /// A page (or its place in the file) does not hold what it must: damage. Nothing was changed.
    #[error("page {page} is damaged: {why}")]
    Corrupt {
        /// The page.
        page: PageId,
        /// What does not hold.
        why: String,
    },
    /// A file beside the pages (the master, the double-write area, a log record) is damaged or of another format.
    #[error("{file} is damaged or not of this version: {why}")]
    BadFile {
        /// The file's name.
        file: String,
        /// What does not hold.
        why: String,
    },
    /// The log has no space for new work until it is truncated (SQL error 9002).
    #[error("the transaction log is full")]
    LogFull,
    /// The disk has no space for another extent (SQL error 1105).
    #[error("no space for new pages: {why}")]
    DataFull {
        /// What the disk said.
        why: String,
    },
    /// A row is longer than the page can hold (SQL error 511).
    #[error("a row of {bytes} bytes is longer than the maximum of {bytes_max}")]
    RowTooLong {
        /// Bytes of the row with its header.
        bytes: usize,
        /// Most bytes such a row may have.
        bytes_max: usize,
    },
    /// A key is longer than the tree was created for (SQL error 1946).
    #[error("a key of {bytes} bytes is longer than the maximum of {bytes_max}")]
    KeyTooLong {
        /// The object that the tree's pages belong to.
        object: u32,
        /// Bytes of the key.
        bytes: usize,
        /// Most bytes a key of this tree may have.
        bytes_max: usize,
    },
    /// Reading or writing failed; the same operation may work later.
    #[error("{what}: {error}")]
    Io {
        /// What was being done.
        what: String,
        /// What the disk said.
        error: Arc<std::io::Error>,
    },
    /// A sync or log write failed earlier: no more changes are accepted until the database is opened anew.
    #[error("the database stopped accepting changes: {why}")]
    Poisoned {
        /// The failure that caused it.
        why: String,
    },
}

impl StorageError {
    /// Returns true when there was no room on the disk.
    pub fn is_full(&self) -> bool {
        match self {
            StorageError::LogFull | StorageError::DataFull { .. } => true,
            StorageError::Io { error, .. } => pikepole_machine::is_full(error),
            _ => false,
        }
    }

    pub(crate) fn corrupt(page: PageId, why: impl Into<String>) -> StorageError {
        StorageError::Corrupt { page, why: why.into() }
    }

    /// A failed operation of the disk.
    pub fn io(what: impl Into<String>, error: std::io::Error) -> StorageError {
        StorageError::Io { what: what.into(), error: Arc::new(error) }
    }

    pub(crate) fn bad_file(file: &str, why: impl Into<String>) -> StorageError {
        StorageError::BadFile { file: file.to_owned(), why: why.into() }
    }
}

/// Why an operation stopped before it was done.
#[derive(Clone, Debug)]
pub enum Stop {
    /// It lacks something; satisfy that and call again. Nothing was changed.
    Need(Need),
    /// It failed. Nothing was changed.
    Error(StorageError),
}

impl From<StorageError> for Stop {
    fn from(error: StorageError) -> Stop {
        Stop::Error(error)
    }
}

impl From<Need> for Stop {
    fn from(need: Need) -> Stop {
        Stop::Need(need)
    }
}
