//! Trace flags that are on for all sessions (DBCC TRACEON with -1). Those of one session are the session's.

use std::collections::BTreeSet;

use pikepole_contention::sync::RwLock;

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
    pub fn is_on(&self, flag: i32) -> bool {
        self.on.read().unwrap_or_else(|e| e.into_inner()).contains(&flag)
    }

    /// All flags that are on, ascending.
    pub fn all(&self) -> Vec<i32> {
        self.on.read().unwrap_or_else(|e| e.into_inner()).iter().copied().collect()
    }
}
