//! Trace flags that are on for all sessions (DBCC TRACEON with -1). Those of one session are the session's.

use std::collections::BTreeSet;
use std::sync::Arc;

use pikepole_contention::sync::RwLock;

use super::{Entry, Server, read};
use crate::database::Database;

/// The trace flags that change something. Others are kept and shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TraceFlag {
    /// `LARGE_PAGES = RESERVED`, whatever the configuration says. Looked at when the server starts.
    LargePages = 834,
    /// All files of a filegroup grow at once. Looked at when a database is opened, when its files are changed, and when
    /// the flag is set.
    GrowsAllFiles = 1117,
    /// Nested transactions take their parent's latch unfairly.
    UnfairNesting = 3933,
    /// All CPUs are one node, whatever the hardware says. Looked at when the server starts.
    IgnoreNuma = 8015,
    /// One log writer for each database, whatever `LOG_WRITERS` says. Looked at when the server starts,
    /// and when a policy is set or a database comes.
    OneLogWriter = 9038,
}

impl TraceFlag {
    const ALL: [TraceFlag; 5] = [
        TraceFlag::LargePages,
        TraceFlag::GrowsAllFiles,
        TraceFlag::UnfairNesting,
        TraceFlag::IgnoreNuma,
        TraceFlag::OneLogWriter,
    ];

    /// The flag of this number, if that changes anything.
    pub fn find(number: i32) -> Option<TraceFlag> {
        Self::ALL.into_iter().find(|flag| *flag as i32 == number)
    }
}

/// The trace flags that are on for all sessions.
#[derive(Debug, Default)]
pub struct TraceFlags {
    on: RwLock<BTreeSet<i32>>,
}

impl TraceFlags {
    /// These are on.
    pub fn new(flags: impl IntoIterator<Item = i32>) -> Self {
        Self { on: RwLock::new(flags.into_iter().collect()) }
    }

    /// Turns a flag on or off.
    pub fn set(&self, flag: i32, on: bool) {
        let mut flags = self.on.write().unwrap_or_else(|e| e.into_inner());
        if on {
            flags.insert(flag);
        } else {
            flags.remove(&flag);
        }
    }

    /// Whether a flag is on.
    pub fn is_on(&self, flag: TraceFlag) -> bool {
        self.on.read().unwrap_or_else(|e| e.into_inner()).contains(&(flag as i32))
    }

    /// All flags that are on, ascending.
    pub fn all(&self) -> Vec<i32> {
        self.on.read().unwrap_or_else(|e| e.into_inner()).iter().copied().collect()
    }
}

impl Server {
    /// DBCC TRACEON and TRACEOFF of a flag for all sessions: what it says of files holds at once.
    pub fn set_trace_flag(&self, flag: i32, on: bool) {
        self.trace_flags.set(flag, on);
        if TraceFlag::find(flag) != Some(TraceFlag::GrowsAllFiles) {
            return;
        }
        let online: Vec<Arc<Database>> = read(&self.databases)
            .values()
            .filter_map(|entry| match entry {
                Entry::Online(database) => Some(Arc::clone(database)),
                _ => None,
            })
            .collect();
        online.iter().for_each(|database| database.apply_file_settings());
    }
}
