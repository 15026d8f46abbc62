//! What can go wrong with a log, by what the caller can do about it.

use crate::Lsn;
use std::io;
use std::path::PathBuf;

/// Why a log could not be created, opened, read or written.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// A file operation failed. The cause names the file.
    #[error("the log: {0}")]
    Io(#[from] io::Error),
    /// The folder holds no log.
    #[error("there is no log in {0}")]
    Missing(PathBuf),
    /// The folder holds a log already.
    #[error("there is a log in {0} already")]
    Exists(PathBuf),
    /// The files were written by a version of this crate whose format this one does not know.
    #[error("{segment} has format version {found}; this build reads version {known}")]
    Version {
        /// The file.
        segment: String,
        /// The version that it names.
        found: u32,
        /// The version that this build reads.
        known: u32,
    },
    /// The log no longer goes back to the wanted start.
    #[error("the log begins at LSN {oldest}; LSN {wanted} is no longer in it")]
    StartGone {
        /// Where reading should have begun.
        wanted: Lsn,
        /// The first byte that is still there.
        oldest: Lsn,
    },
    /// Bytes that must be there, because later blocks say that they were durable, are not, or are not records.
    #[error("the log is damaged in {segment} at byte {offset} (LSN {lsn}): {why}")]
    Corrupt {
        /// The file.
        segment: String,
        /// The byte in the file.
        offset: u64,
        /// The position in the stream of records that it should hold.
        lsn: Lsn,
        /// What is wrong.
        why: String,
    },
    /// The options contradict each other.
    #[error("log options: {0}")]
    Options(&'static str),
    /// An earlier write of the log failed, so it takes no more.
    #[error(transparent)]
    Poisoned(#[from] Poisoned),
}

/// Why an append was refused. Nothing was reserved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// The log buffer is full, or the next segment is still being prepared: wait for
    /// [`Log::buffer_space`](crate::Log::buffer_space) and append again.
    #[error("the log buffer is full")]
    BufferFull,
    /// The log has reached its size limit, or the disk is full. Roll back; appends are taken again after a truncation
    /// or when there is room.
    #[error("the log is full")]
    LogFull,
    /// An earlier write of the log failed, so it takes no more.
    #[error("the log takes no more records: an earlier write failed")]
    Poisoned,
}

/// An earlier write of the log failed: what was not durable then never will be, and the log takes no more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the log takes no more records: an earlier write failed")]
pub struct Poisoned;
