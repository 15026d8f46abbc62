//! What is simulated: a machine's CPUs, the constants, the policies and the load. Times are nanoseconds.

use serde::{Deserialize, Serialize};

/// A CPU and where it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct CpuPlace {
    /// Its core; the CPUs of one core are hyper-threads of each other.
    pub core: usize,
    /// Its socket.
    pub socket: usize,
}

/// CPUs, and who runs on them.
#[derive(Debug, Clone, Serialize)]
pub struct Layout {
    /// All CPUs of the machine.
    pub cpus: Vec<CpuPlace>,
    /// The CPU of each scheduler.
    pub schedulers: Vec<usize>,
    /// The CPU of each log writer; `None`: any that is free.
    pub writers: Vec<Option<usize>>,
}

/// Nanoseconds that a cache line takes from one CPU to another.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Handoff {
    /// To a hyper-thread of the same core.
    pub core_ns: f64,
    /// To another core of the socket.
    pub socket_ns: f64,
    /// To another socket.
    pub far_ns: f64,
}

impl Handoff {
    /// From one CPU to another.
    pub fn between(&self, from: CpuPlace, to: CpuPlace) -> f64 {
        match () {
            () if from.socket != to.socket => self.far_ns,
            () if from.core != to.core => self.socket_ns,
            () => self.core_ns,
        }
    }
}

/// A device of the log.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct DeviceTimes {
    /// A durable write of 4 KB alone.
    pub write_ns: f64,
    /// The part of it during which the device takes no other write: the inverse of its most writes a second.
    pub gap_ns: f64,
    /// Each byte beyond 4 KB.
    pub byte_ns: f64,
}

/// The times of an insert's operations. Each is measured by a probe or a run of one session, or published for the hardware.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Constants {
    /// CPU of an insert, without the locks below.
    pub insert_ns: f64,
    /// Further CPU of a commit that waits for the disk, on the session's side.
    pub commit_ns: f64,
    /// Log records of an insert: so often a place in the log is taken.
    pub records: u32,
    /// Bytes of log of an insert.
    pub log_bytes: f64,
    /// The work under XDESMGR, the lock's own operations included, while no other thread wants it.
    pub id_hold_ns: f64,
    /// The same under LOGCACHE_ACCESS.
    pub cache_hold_ns: f64,
    /// The same under LOGFLUSHQ.
    pub queue_hold_ns: f64,
    /// Lines besides the lock's own that move to each new holder, under XDESMGR, LOGCACHE_ACCESS and LOGFLUSHQ.
    pub lines_held: [f64; 3],
    /// An addition to a word of this CPU's cache.
    pub add_ns: f64,
    /// The time that each spinner adds to the release of a lock.
    pub growth_ns: f64,
    /// The moves of a cache line.
    pub handoff: Handoff,
    /// A pause of a spin loop.
    pub pause_ns: f64,
    /// A back-off that yields, when no other thread wants the CPU.
    pub yield_ns: f64,
    /// A back-off that sleeps.
    pub sleep_ns: f64,
    /// From a wake-up until the thread runs, on an idle CPU.
    pub wake_ns: f64,
    /// The waker's own time.
    pub waker_ns: f64,
    /// From a wake-up until the thread runs, on a CPU that another one keeps busy: the mean.
    pub busy_wake_ns: f64,
    /// How long the system lets a thread run while another one wants the CPU.
    pub slice_ns: f64,
    /// A log writer's CPU for a block, whatever its size.
    pub block_ns: f64,
    /// The same for each byte.
    pub byte_ns: f64,
    /// The speed of a CPU while all others work, against alone.
    pub together: f64,
    /// The speed of a hyper-thread while its sibling works, against alone.
    pub sibling: f64,
    /// The device.
    pub device: DeviceTimes,
    /// Bytes that may be appended before they are in a block.
    pub ring_bytes: f64,
}

/// How transaction ids are dealt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Ids {
    /// Under XDESMGR, once at the begin and once at the end.
    Spinlock,
    /// From ranges of the schedulers' own.
    Ranges,
}

/// How places in the log are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Places {
    /// Under LOGCACHE_ACCESS.
    Spinlock,
    /// By an addition to one word.
    Atomic,
    /// By an addition for each chunk of so many bytes.
    Chunk(u32),
}

/// The writer for a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum CommitBy {
    /// A log writer, which is woken.
    LogWriter,
    /// The committing scheduler, when it has nothing else to run.
    Scheduler,
}

/// The policies of the points on the way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Policies {
    /// Transaction ids.
    pub ids: Ids,
    /// Places in the log.
    pub places: Places,
    /// Committers queue under LOGFLUSHQ; else without a lock.
    pub queue_locked: bool,
    /// Blocks go through the flush queue under every durability: each log writer visits LOGFLUSHQ to take a block and to complete it.
    pub blocks_queued: bool,
    /// The log writer takes LOGCACHE_ACCESS too, to close a block and to move the horizon.
    pub writer_takes_cache: bool,
    /// The writer for commits.
    pub commit_by: CommitBy,
    /// Bytes of a block at most.
    pub block_bytes: u32,
    /// Bytes that lie in the buffer before a log writer begins to stream them.
    pub stream_bytes: u32,
    /// Writes that a log writer has on their way at most; 1: its thread waits for each.
    pub writes_in_flight: u32,
    /// An appender that finds the buffer full backs off on its CPU and tries again; else it waits to be signalled.
    pub full_backs_off: bool,
}

impl Policies {
    /// Each point as it is under the classic set.
    pub fn classic() -> Self {
        Self {
            ids: Ids::Spinlock,
            places: Places::Spinlock,
            queue_locked: true,
            blocks_queued: true,
            writer_takes_cache: true,
            commit_by: CommitBy::LogWriter,
            block_bytes: 60 << 10,
            stream_bytes: 256 << 10,
            writes_in_flight: 1,
            full_backs_off: false,
        }
    }

    /// Each point as it is by default.
    pub fn best() -> Self {
        Self {
            ids: Ids::Ranges,
            places: Places::Chunk(16 << 10),
            queue_locked: false,
            blocks_queued: false,
            writer_takes_cache: false,
            commit_by: CommitBy::Scheduler,
            block_bytes: 1 << 20,
            stream_bytes: 256 << 10,
            writes_in_flight: 1,
            full_backs_off: false,
        }
    }
}

/// A run to simulate.
#[derive(Debug, Clone)]
pub struct Scenario {
    /// The machine.
    pub layout: Layout,
    /// The times of its operations.
    pub constants: Constants,
    /// How threads take turns.
    pub policies: Policies,
    /// Commits wait for the disk.
    pub full_durability: bool,
    /// Concurrent sessions, each in a loop of inserts; session i is on scheduler i modulo their number.
    pub sessions: usize,
    /// Inserts simulated; a fifth as many before them do not count.
    pub rows: u64,
    /// How far service times are from their means, as a part of them: 0 makes every insert alike.
    pub spread: f64,
    /// The seed of all chances.
    pub seed: u64,
}

impl Scenario {
    /// The CPU of an insert alone on the machine: work, uncontended locks, additions.
    pub fn service_ns(&self) -> f64 {
        let (c, p) = (&self.constants, &self.policies);
        let ids = if p.ids == Ids::Spinlock { 2.0 * c.id_hold_ns } else { 0.0 };
        let place = match p.places {
            Places::Spinlock => c.cache_hold_ns,
            Places::Atomic => c.add_ns,
            Places::Chunk(bytes) => c.add_ns * (c.log_bytes / f64::from(c.records.max(1)) / f64::from(bytes)).min(1.0),
        };
        let commit = if self.full_durability { c.commit_ns } else { 0.0 };
        let queue = if self.full_durability && p.queue_locked { c.queue_hold_ns } else { 0.0 };
        c.insert_ns + ids + f64::from(c.records) * place + commit + queue
    }

    /// Rows a second that no run can exceed, whatever the waits: operational bounds of a closed network, the least of
    /// CPUs / CPU of an insert, 1 / (visits x hold) of each lock, and what the device takes.
    pub fn bound_rows_per_second(&self) -> f64 {
        let (c, p) = (&self.constants, &self.policies);
        let least = 1.0 - self.spread;
        let workers = self.layout.schedulers.len().min(self.sessions) as f64;
        let mut bound = workers / (self.service_ns() * least).max(1e-9);
        if p.ids == Ids::Spinlock {
            bound = bound.min(1.0 / (2.0 * c.id_hold_ns).max(1e-9));
        }
        if p.places == Places::Spinlock {
            bound = bound.min(1.0 / (f64::from(c.records) * c.cache_hold_ns).max(1e-9));
        }
        if self.full_durability {
            if p.queue_locked {
                bound = bound.min(1.0 / c.queue_hold_ns.max(1e-9));
            }
            // A session has one commit on its way, and waits for a write that begins after it.
            bound = bound.min(self.sessions as f64 / ((c.device.write_ns + self.service_ns()) * least).max(1e-9));
        }
        bound * 1e9
    }
}
