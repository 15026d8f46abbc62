//! What a server is started with.

use std::path::PathBuf;

use pikepole_contention::sync::Arc;
use pikepole_machine::{Disk, FolderLock, SystemFiles};

use crate::database::RecoveryWatch;
use crate::security::PasswordCost;

/// What runs the server's tasks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SchedulerChoice {
    /// One thread a CPU.
    Threads {
        /// The CPUs; None: all that the process may use.
        cpus: Option<Vec<usize>>,
        /// Whether each thread is bound to its CPU.
        pin: bool,
    },
    /// The seeded, single-threaded twin.
    Simulated {
        /// The seed of its order.
        seed: u64,
        /// How many schedulers it acts.
        count: usize,
    },
}

/// What a server is started with.
#[derive(Debug, Clone)]
pub struct ServerOptions {
    /// The folder of its databases.
    pub folder: PathBuf,
    /// The disk that the folder is on.
    pub disk: Disk,
    /// The files that say what the machine is: its nodes and cores.
    pub machine: SystemFiles,
    /// What runs its tasks.
    pub schedulers: SchedulerChoice,
    /// Bytes of pages in memory for each database at most; None: all databases share what the server's memory leaves them.
    pub buffer_pool_bytes: Option<u64>,
    /// Bytes of all log segments of a database at most; None: as the log's own default has it.
    pub log_bytes_max: Option<u64>,
    /// Whether the sizes inside are those for tests: small segments, a small ring, few pages.
    pub small: bool,
    /// Policies to set before anything starts, as (name, value); they are not written to the configuration.
    pub policies: Vec<(String, String)>,
    /// Trace flags that are on from the start.
    pub trace_flags: Vec<i32>,
    /// Is told, while the folder is opened, how far the recovery of a database is that takes longer than two seconds.
    pub recovery_watch: Option<RecoveryWatch>,
    /// Folders that BACKUP and RESTORE may name files in, beside `backup` in the server's folder; the first takes relative names.
    pub backup_folders: Vec<PathBuf>,
    /// The only folders that loads may name files in; the first takes relative names. None: see `docs/use/loading.md`.
    pub load_folders: Vec<PathBuf>,
    /// The folder that relative names of loads belong to when there is no load folder; None: the server's. A shell has its own there.
    pub working_folder: Option<PathBuf>,
    /// What it costs to hash a password.
    pub password_cost: PasswordCost,
    /// The folder's lock, where the caller has it already and keeps it beyond a start that fails.
    pub folder_lock: Option<Arc<FolderLock>>,
}

impl ServerOptions {
    /// The folder on the real disk, all CPUs, everything else by default.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self {
            folder: folder.into(),
            disk: Disk::real(),
            machine: SystemFiles::below("/"),
            schedulers: SchedulerChoice::Threads { cpus: None, pin: true },
            buffer_pool_bytes: None,
            log_bytes_max: None,
            small: false,
            policies: Vec::new(),
            trace_flags: Vec::new(),
            recovery_watch: None,
            backup_folders: Vec::new(),
            load_folders: Vec::new(),
            working_folder: None,
            password_cost: PasswordCost::default(),
            folder_lock: None,
        }
    }
}
