//! What a call of the log's bench asks for.

use pikepole_log::{BLOCK_BYTES_CLASSIC, CommitBy, FlushQueue, LogOptions, Reservation};
use std::path::PathBuf;
use std::time::Duration;

/// What is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bench {
    /// What it costs to append a record.
    Append,
    /// What it costs to append one and wait until it is durable.
    Commit,
}

/// Where the log writer takes the records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Device {
    /// The disk below the folder.
    Disk,
    /// Nowhere: a disk that accepts and forgets, so that the device is not the limit.
    Null,
}

impl Device {
    /// The name in tables and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Device::Disk => "disk",
            Device::Null => "null",
        }
    }
}

/// The policies that matter to a commit, together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommitPolicy {
    /// The default ones, and this one for who writes.
    By(CommitBy),
    /// The classic ones, together: spinlocks, 60 KB blocks, and the log writer.
    Classic,
}

impl CommitPolicy {
    /// Every one, the classic ones first.
    pub fn all() -> impl Iterator<Item = CommitPolicy> {
        std::iter::once(CommitPolicy::Classic).chain(CommitBy::all().map(CommitPolicy::By))
    }

    /// The name in tables and JSON.
    pub fn name(self) -> &'static str {
        match self {
            CommitPolicy::By(by) => by.name(),
            CommitPolicy::Classic => "CLASSIC",
        }
    }

    pub(super) fn apply(self, options: LogOptions) -> LogOptions {
        match self {
            CommitPolicy::By(commit_by) => LogOptions { commit_by, ..options },
            CommitPolicy::Classic => LogOptions {
                reservation: Reservation::Spinlock,
                flush_queue: FlushQueue::Spinlock,
                commit_by: CommitBy::LogWriter,
                block_bytes_max: BLOCK_BYTES_CLASSIC,
                ..options
            },
        }
    }
}

/// Everything a call asks for. No list is empty, no number zero.
#[derive(Debug, Clone)]
pub struct Options {
    /// What is measured.
    pub benches: Vec<Bench>,
    /// `append`: the devices.
    pub devices: Vec<Device>,
    /// `append`: how appenders take their place.
    pub reservations: Vec<Reservation>,
    /// `append`: numbers of tasks that append at once.
    pub threads: Vec<usize>,
    /// `append`: bytes of a record, 1 to 65536.
    pub record_bytes: Vec<usize>,
    /// `commit`: who writes.
    pub commit_policies: Vec<CommitPolicy>,
    /// `commit`: numbers of tasks that commit at once.
    pub committers: Vec<usize>,
    /// How long each configuration is measured, once a repeat.
    pub seconds: Duration,
    /// How often.
    pub repeats: usize,
    /// An existing folder on the disk to measure. What the bench makes there it removes.
    pub folder: PathBuf,
    /// The CPUs, one scheduler each.
    pub cpus: Vec<usize>,
}

impl Options {
    /// What a plain call measures, with the disk below `folder`.
    pub fn new(folder: impl Into<PathBuf>) -> Options {
        Options {
            benches: vec![Bench::Append, Bench::Commit],
            devices: vec![Device::Null, Device::Disk],
            reservations: Reservation::all().collect(),
            threads: vec![1, 2, 32],
            record_bytes: vec![16, 48, 100, 1024, 8192],
            commit_policies: CommitPolicy::all().collect(),
            committers: vec![1, 2, 4, 8, 16, 32, 64, 128, 256],
            seconds: Duration::from_millis(300),
            repeats: 3,
            folder: folder.into(),
            cpus: pikepole_machine::affinity::allowed().unwrap_or_default(),
        }
    }

    /// Schedulers, one a CPU; one where the CPUs are not known.
    pub(super) fn schedulers(&self) -> usize {
        self.cpus.len().max(1)
    }

    /// Whether anything goes to the disk.
    pub(super) fn uses_disk(&self) -> bool {
        self.benches.contains(&Bench::Commit) || self.devices.contains(&Device::Disk)
    }
}
