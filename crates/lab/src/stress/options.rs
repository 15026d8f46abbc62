//! What a call of the load driver asks for.

use super::{PolicySet, TableKind, Workload};
use crate::profile::Profiler;
use pikepole_client::ConnectOptions;
use pikepole_contention::sync::Arc;
use pikepole_contention::sync::atomic::AtomicBool;
use pikepole_embedded::SlowDevice;
use std::path::PathBuf;
use std::time::Duration;

/// When a commit returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// After its log record is on stable storage.
    Full,
    /// At once; the log follows within milliseconds.
    Delayed,
}

impl Durability {
    /// The name in tables and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Durability::Full => "FULL",
            Durability::Delayed => "DELAYED",
        }
    }

    /// The database option that forces it.
    pub(super) fn database_option(self) -> &'static str {
        match self {
            Durability::Full => "DISABLED",
            Durability::Delayed => "FORCED",
        }
    }
}

/// How long a run goes on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Amount {
    /// Until the time is over; the batch under way is finished.
    Time(Duration),
    /// Until each session has done this many iterations (rows, for the built-in workload).
    Iterations(u64),
}

/// Everything a call of the load driver asks for.
#[derive(Debug, Clone)]
pub struct Options {
    /// The engine's folder, for one in this process.
    pub folder: PathBuf,
    /// The server to drive instead. What concerns the start of an engine (policies, trace flags, CPUs, buffer pool, device) is
    /// the server's own then.
    pub server: Option<ConnectOptions>,
    /// The server's database that batches of the user's own run in; `None`: one that the driver makes.
    pub database: Option<String>,
    /// The numbers of sessions, one run each.
    pub sessions: Vec<usize>,
    /// The durabilities, each with all numbers of sessions.
    pub durabilities: Vec<Durability>,
    /// How long each run goes on.
    pub amount: Amount,
    /// What the sessions do.
    pub workload: Workload,
    /// The kind of the workload's table, for the workloads that take kinds.
    pub table: TableKind,
    /// A named set of policies, set first; `None` leaves the server's own.
    pub policy_set: Option<PolicySet>,
    /// Policies by name, set before the first run.
    pub policies: Vec<(String, String)>,
    /// Bytes of the buffer pool; `None` leaves the engine's default.
    pub buffer_pool_bytes: Option<u64>,
    /// Trace flags that are on from the start.
    pub trace_flags: Vec<i32>,
    /// The CPUs of the schedulers; `None`: all that the process may use.
    pub cpus: Option<Vec<usize>>,
    /// A slower device to act.
    pub slow_device: Option<SlowDevice>,
    /// T-SQL that is run once before the first run, outside of the driver's database.
    pub statements: Vec<String>,
    /// How often a run is sampled for its time series; `None`: not at all.
    pub sample: Option<Duration>,
    /// Takes a profile of each run, of this process, not of a server; `None`: none is taken.
    pub profiler: Option<Profiler>,
    /// Time of a run before each run, which does not count; `None`: none.
    pub warmup: Option<Duration>,
    /// Ends the run under way when it becomes true; the run says that it was cut short.
    pub stop: Option<Arc<AtomicBool>>,
}

impl Options {
    /// The database that the sessions work in.
    pub(super) fn database(&self) -> &str {
        self.database.as_deref().unwrap_or(self.workload.database())
    }

    /// One session that inserts for a second with full durability, everything else by default.
    pub fn new(folder: impl Into<PathBuf>) -> Options {
        Options {
            folder: folder.into(),
            server: None,
            database: None,
            sessions: vec![1],
            durabilities: vec![Durability::Full],
            amount: Amount::Time(Duration::from_secs(1)),
            workload: Workload::SingletonInsert,
            table: TableKind::Disk,
            policy_set: None,
            policies: Vec::new(),
            buffer_pool_bytes: None,
            trace_flags: Vec::new(),
            cpus: None,
            slow_device: None,
            statements: Vec::new(),
            sample: None,
            profiler: None,
            warmup: None,
            stop: None,
        }
    }
}
