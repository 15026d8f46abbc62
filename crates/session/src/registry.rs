//! The sessions of a server, for the views: who is there, since when, and what they last did.
//!
//! A session's own task writes its entry at the start and the end of a batch; views read all of them. One spinlock guards
//! the list, so that a view sees each session either before or after such a step.

use pikepole_contention::{Spinlock, SpinlockClass, Statistics};
use pikepole_query::PlanCache;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The first number of a user's session; lower ones are system tasks.
pub(crate) const FIRST_SESSION_ID: i32 = 51;
/// The highest number of a session, the largest `smallint`.
const LAST_SESSION_ID: i32 = 32_767;

/// What the views show of a session.
#[derive(Debug, Clone)]
pub(crate) struct SessionRow {
    pub(crate) session_id: i32,
    pub(crate) login_us: u64,
    pub(crate) host_name: String,
    pub(crate) program_name: String,
    pub(crate) database_id: i32,
    pub(crate) running: bool,
    pub(crate) batch_started_us: u64,
    pub(crate) batch_ended_us: u64,
    pub(crate) open_transactions: i32,
    pub(crate) row_count: i64,
    pub(crate) last_error: i32,
}

/// The list of sessions, and what they share beyond the engine: compiled texts, the server's name.
pub struct Registry {
    sessions: Spinlock<BTreeMap<i32, SessionRow>>,
    plans: Arc<PlanCache>,
    server_name: String,
}

impl Registry {
    /// An empty list.
    pub fn new(statistics: &Arc<Statistics>) -> Arc<Registry> {
        Arc::new(Registry {
            sessions: Spinlock::new(SpinlockClass::SESSION_TABLE, statistics, BTreeMap::new()),
            plans: Arc::new(PlanCache::default()),
            server_name: machine_name(),
        })
    }

    /// The compiled texts of the server.
    pub(crate) fn plans(&self) -> &Arc<PlanCache> {
        &self.plans
    }

    /// `@@SERVERNAME`: the machine's name.
    pub(crate) fn server_name(&self) -> &str {
        &self.server_name
    }

    /// Adds a session and gives it the lowest free number; `None` when all are taken.
    pub(crate) fn add(&self, mut row: SessionRow) -> Option<i32> {
        let mut sessions = self.sessions.lock();
        let free = (FIRST_SESSION_ID..=LAST_SESSION_ID).find(|id| !sessions.contains_key(id))?;
        row.session_id = free;
        sessions.insert(free, row);
        Some(free)
    }

    /// Removes a session; its number may be given again.
    pub(crate) fn remove(&self, session_id: i32) {
        self.sessions.lock().remove(&session_id);
    }

    /// Changes what is shown of a session.
    pub(crate) fn update(&self, session_id: i32, change: impl FnOnce(&mut SessionRow)) {
        if let Some(row) = self.sessions.lock().get_mut(&session_id) {
            change(row);
        }
    }

    /// One session.
    pub(crate) fn row(&self, session_id: i32) -> Option<SessionRow> {
        self.sessions.lock().get(&session_id).cloned()
    }

    /// All sessions in the order of their numbers.
    pub(crate) fn rows(&self) -> Vec<SessionRow> {
        self.sessions.lock().values().cloned().collect()
    }
}

/// The machine's name in capitals, as servers are called; `LOCALHOST` where the system does not tell.
fn machine_name() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    match name.trim() {
        "" => "LOCALHOST".to_string(),
        name => name.to_uppercase(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row() -> SessionRow {
        SessionRow {
            session_id: 0,
            login_us: 0,
            host_name: String::new(),
            program_name: String::new(),
            database_id: 1,
            running: false,
            batch_started_us: 0,
            batch_ended_us: 0,
            open_transactions: 0,
            row_count: 0,
            last_error: 0,
        }
    }

    #[test]
    fn numbers_begin_at_51_and_are_given_again() {
        let registry = Registry::new(&Statistics::new());
        assert_eq!(registry.add(row()), Some(51));
        assert_eq!(registry.add(row()), Some(52));
        registry.update(52, |row| row.running = true);
        assert!(registry.row(52).is_some_and(|row| row.running));
        registry.remove(51);
        assert_eq!(registry.add(row()), Some(51));
        let ids: Vec<i32> = registry.rows().iter().map(|row| row.session_id).collect();
        assert_eq!(ids, [51, 52]);
    }
}
