//! The log's policies: how its threads take turns. What can be switched while running says so in
//! [`Log::set_policy`](crate::Log::set_policy).

use std::time::Duration;

/// How appenders take their place in the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Reservation {
    /// Under the spinlock `LOGCACHE_ACCESS`, whose holder writes 16 bytes.
    Spinlock = 0,
    /// By one atomic addition, with a copy slot for each scheduler.
    Atomic = 1,
    /// By one addition for many: each scheduler takes a chunk and fills it. What is left of a chunk is padding.
    Chunk = 2,
}

impl Reservation {
    /// Every one, the classic way first.
    pub fn all() -> impl Iterator<Item = Self> {
        std::iter::successors(Some(Self::Spinlock), |policy| policy.next())
    }

    /// As configurations spell it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Spinlock => "SPINLOCK",
            Self::Atomic => "ATOMIC",
            Self::Chunk => "CHUNK",
        }
    }

    fn next(self) -> Option<Self> {
        match self {
            Self::Spinlock => Some(Self::Atomic),
            Self::Atomic => Some(Self::Chunk),
            Self::Chunk => None,
        }
    }
}

/// How committers hand themselves to whoever flushes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum FlushQueue {
    /// One queue under the spinlock `LOGFLUSHQ`.
    Spinlock = 0,
    /// One lock-free stack for each scheduler.
    LockFree = 1,
}

impl FlushQueue {
    /// Every one, the classic way first.
    pub fn all() -> impl Iterator<Item = Self> {
        std::iter::successors(Some(Self::Spinlock), |policy| policy.next())
    }

    /// As configurations spell it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Spinlock => "SPINLOCK",
            Self::LockFree => "LOCK_FREE",
        }
    }

    fn next(self) -> Option<Self> {
        match self {
            Self::Spinlock => Some(Self::LockFree),
            Self::LockFree => None,
        }
    }
}

/// Who writes the log for a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum CommitBy {
    /// The log writer, on its hidden scheduler: each commit is handed to another thread and back.
    LogWriter = 0,
    /// The committing scheduler when it has nothing else to run; the log writer stands by.
    Scheduler = 1,
}

impl CommitBy {
    /// Every one, the classic way first.
    pub fn all() -> impl Iterator<Item = Self> {
        std::iter::successors(Some(Self::LogWriter), |policy| policy.next())
    }

    /// As configurations spell it.
    pub fn name(self) -> &'static str {
        match self {
            Self::LogWriter => "LOG_WRITER",
            Self::Scheduler => "SCHEDULER",
        }
    }

    fn next(self) -> Option<Self> {
        match self {
            Self::LogWriter => Some(Self::Scheduler),
            Self::Scheduler => None,
        }
    }
}

/// Whether an idle scheduler puts off a write for its sessions that committed with the last one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Gathering {
    /// It writes at once, for whoever waits.
    None = 0,
    /// It waits until as many wait as before, for half the time of a write at most.
    Returning = 1,
}

impl Gathering {
    /// Every one, the classic way first.
    pub fn all() -> [Self; 2] {
        [Self::None, Self::Returning]
    }
}

/// Log writers of one log at most.
pub const LOG_WRITERS_MAX: usize = 8;

/// How many log writers a log has, each with a write of its own on its way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogWriters {
    /// One. Who knows the machine gives the count of [`for_machine`](Self::for_machine) instead.
    Auto,
    /// So many, 1 to [`LOG_WRITERS_MAX`].
    Count(u8),
}

impl LogWriters {
    /// The count for a machine with so many NUMA nodes, of whose CPUs so many have a scheduler: twice the nodes, but not more
    /// than there are schedulers, and [`LOG_WRITERS_MAX`] at most.
    pub fn for_machine(nodes: usize, schedulers: usize) -> Self {
        Self::Count((2 * nodes).min(schedulers).clamp(1, LOG_WRITERS_MAX) as u8)
    }

    pub(crate) fn count(self) -> usize {
        match self {
            Self::Auto => 1,
            Self::Count(count) => usize::from(count),
        }
    }
}

/// How durable writes reach the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogIo {
    /// As [`WriteFlag`](Self::WriteFlag): the quickest where it was measured.
    Auto,
    /// io_uring, if the kernel grants one, for writes beside which there is something to run; `WriteFlag` for others.
    IoUring,
    /// `pwritev2` with `RWF_DSYNC`, or what comes behind it.
    WriteFlag,
    /// A descriptor opened with `O_DSYNC`, or `fdatasync` after each write.
    Dsync,
}

/// One policy to change with [`Log::set_policy`](crate::Log::set_policy).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Policy {
    /// `LOG_RESERVATION`.
    Reservation(Reservation),
    /// `LOG_FLUSH_QUEUE`.
    FlushQueue(FlushQueue),
    /// Who writes for a commit.
    CommitBy(CommitBy),
    /// `COMMIT_GATHERING`.
    Gathering(Gathering),
    /// Bytes of a block at most, header included: 60 KB is the classic size.
    BlockBytesMax(usize),
    /// The time that what no session waits for may lie in the buffer: see [`LogOptions::flush_delay`](crate::LogOptions::flush_delay).
    FlushDelay(Duration),
}

/// The classic size of a log block at most, in bytes.
pub const BLOCK_BYTES_CLASSIC: usize = 60 << 10;
