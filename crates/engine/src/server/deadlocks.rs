//! Deadlocks: the monitor that looks for those that no wait has found, and the ones that were found last.
//!
//! ```text
//!   a wait closes a circle --\
//!                             >--> described while all of its sessions still wait --> kept, logged --> the victim ends
//!   the monitor finds one  --/
//! ```
//! A circle is found by the wait that closes it (the module `wait` of the transaction crate says why). The monitor is the
//! backstop: it looks at all waits every five seconds, and down to every 100 ms while there are deadlocks.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use pikepole_contention::WaitType;
use pikepole_contention::sync::atomic::{AtomicU64, Ordering};
use pikepole_contention::sync::{Mutex, OnceLock};
use pikepole_machine::clock;
use pikepole_scheduler as scheduler;
use pikepole_transaction::{Deadlock, DeadlockProcess, LockedThing, WaitGraph};

use super::{Entry, Server, lock, read};
use crate::database::{Database, NAMED_LOCK_FIRST};

/// Deadlocks kept: the last ones.
const KEPT_MAX: usize = 100;
/// Characters of a description at most; a longer one is not kept.
const GRAPH_CHARS_MAX: usize = 256 << 10;
/// The monitor's pause between two searches: without deadlocks, and right after one.
const PAUSE_MAX: Duration = Duration::from_secs(5);
const PAUSE_MIN: Duration = Duration::from_millis(100);

/// A deadlock that was found and ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeadlockReport {
    /// Counts from 1 since the server began.
    pub number: u64,
    /// When it was found, in microseconds since 1970.
    pub at_us: i64,
    /// The session that was ended.
    pub victim: i32,
    /// The sessions of the circle, each of which waited for the next.
    pub sessions: Vec<i32>,
    /// Whether the monitor found it, rather than the wait that closed it.
    pub by_monitor: bool,
    /// Its graph in the shape of `xml_deadlock_report`; None when no describer was registered.
    pub graph: Option<String>,
}

type Describe = Box<dyn Fn(&Deadlock, i64) -> Option<String> + Send + Sync>;
type Hear = Box<dyn Fn(&DeadlockReport) + Send + Sync>;

/// The deadlocks of a server.
#[derive(Default)]
pub struct Deadlocks {
    kept: Mutex<VecDeque<Arc<DeadlockReport>>>,
    found: AtomicU64,
    describe: OnceLock<Describe>,
    hear: OnceLock<Hear>,
}

impl Deadlocks {
    /// The last ones, the oldest first.
    pub fn kept(&self) -> Vec<Arc<DeadlockReport>> {
        lock(&self.kept).iter().cloned().collect()
    }

    /// Whether somebody describes deadlocks.
    pub fn is_described(&self) -> bool {
        self.describe.get().is_some()
    }

    /// Has `describe` make the XML of each deadlock, from its moment in microseconds since 1970, while its sessions still wait. Only
    /// the first call counts.
    pub fn describe_by(&self, describe: impl Fn(&Deadlock, i64) -> Option<String> + Send + Sync + 'static) {
        let _ = self.describe.set(Box::new(describe));
    }

    /// Has `hear` hear of each deadlock that was found. Only the first call counts.
    pub fn heard_by(&self, hear: impl Fn(&DeadlockReport) + Send + Sync + 'static) {
        let _ = self.hear.set(Box::new(hear));
    }

    /// A deadlock was found; its victim has not been woken.
    fn note(&self, deadlock: &Deadlock) {
        let at_us = clock::unix_time_us();
        let sessions: Vec<i32> = deadlock.processes.iter().map(|process| process.standing.session_id).collect();
        let graph = self.describe.get().and_then(|describe| describe(deadlock, at_us));
        let report = Arc::new(DeadlockReport {
            number: self.found.fetch_add(1, Ordering::Relaxed) + 1,
            at_us,
            victim: sessions[deadlock.victim],
            sessions,
            by_monitor: deadlock.by_monitor,
            graph: graph.filter(|graph| graph.len() <= GRAPH_CHARS_MAX),
        });
        let mut kept = lock(&self.kept);
        if kept.len() == KEPT_MAX {
            kept.pop_front();
        }
        kept.push_back(Arc::clone(&report));
        drop(kept);
        if let Some(hear) = self.hear.get() {
            hear(&report);
        }
    }
}

/// Searches all waits again and again.
async fn run_monitor(waits: Arc<WaitGraph>, deadlocks: Arc<Deadlocks>) {
    let mut pause = PAUSE_MAX;
    let mut known = 0;
    loop {
        scheduler::wait(WaitType::REQUEST_FOR_DEADLOCK_SEARCH, scheduler::sleep(pause)).await;
        waits.search();
        // Those that waits have found count too: where there is one, more may come.
        let found = deadlocks.found.load(Ordering::Relaxed);
        pause = if found != known { PAUSE_MIN } else { (pause * 2).min(PAUSE_MAX) };
        known = found;
    }
}

impl Server {
    /// The deadlocks that were found since the server began.
    pub fn deadlocks(&self) -> &Arc<Deadlocks> {
        &self.deadlocks
    }

    /// Starts to keep deadlocks, and the monitor, which ends with the schedulers.
    pub(super) fn watch_deadlocks(&self) {
        let (waits, deadlocks) = (Arc::clone(&self.context.waits), Arc::clone(&self.deadlocks));
        waits.observe(move |deadlock| deadlocks.note(deadlock));
        let monitor = run_monitor(waits_of(self), Arc::clone(&self.deadlocks));
        // Its end is not waited for: it runs as long as the server.
        drop(self.schedulers.hidden("DEADLOCK MONITOR", None, monitor));
    }

    /// The database that a process of a deadlock waits in; None: it has been closed.
    pub fn database_of(&self, process: &DeadlockProcess) -> Option<Arc<Database>> {
        read(&self.databases).values().find_map(|entry| match entry {
            Entry::Online(database) if Arc::ptr_eq(database.transactions(), &process.home) => {
                Some(Arc::clone(database))
            }
            _ => None,
        })
    }
}

fn waits_of(server: &Server) -> Arc<WaitGraph> {
    Arc::clone(&server.context.waits)
}

/// What a lock is of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LockedName {
    /// The catalog of the database.
    Catalog,
    /// A name that programs have agreed on, by the number of its lock.
    Application(u32),
    /// A table or sequence: its object id and its name, if it is still there.
    Object(i32, Option<String>),
    /// Keys of a table or an index: its number in the store, the table's name and the index's.
    Keys(u32, Option<String>, Option<String>),
    /// Rows that a transaction has changed.
    Transaction,
}

impl Database {
    /// What a lock of this database is of.
    pub fn locked_name(&self, thing: LockedThing) -> LockedName {
        let catalog = self.current_catalog();
        match thing {
            LockedThing::RowOf(_) => LockedName::Transaction,
            LockedThing::Object(0) => LockedName::Catalog,
            LockedThing::Object(number) if number >= NAMED_LOCK_FIRST => LockedName::Application(number),
            LockedThing::Object(number) => {
                let id = number.cast_signed();
                let table = catalog.table_by_id(id).map(|table| table.full_name());
                let sequence = || catalog.sequences().find(|sequence| sequence.object_id == id).map(|s| s.full_name());
                LockedName::Object(id, table.or_else(sequence))
            }
            LockedThing::Keys(storage, _) => {
                let table = catalog.tables().find(|table| table.storages().any(|kept| kept.object == storage));
                let index = table.and_then(|table| {
                    let found = table.indexes.iter().find(|index| index.storage.object == storage);
                    found.map(|index| index.name.clone())
                });
                LockedName::Keys(storage, table.map(|table| table.full_name()), index)
            }
        }
    }
}
