//! Application locks: locks of names that programs agree on (`sp_getapplock`), of the transaction or of the session.
//!
//! ```text
//!   owner        lives in                                    ends with
//!   Transaction  the session's transaction                   COMMIT, ROLLBACK, or its last release
//!   Session      a transaction of its own that changes       the session, a reset, or its last release
//!                nothing, one in each database
//! ```
//! All of them wait under the session's one number, so a circle of waits through any of them is found, and a session is not in
//! its own way.

use std::sync::Arc;

use crate::context::{ExecutionContext, look};
use crate::expression::Fault;
use pikepole_engine::{Blocked, Database, LockMode, NamedLock, Transaction, awaited};

/// With what a lock ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LockOwner {
    /// The open transaction.
    Transaction,
    /// The session.
    Session,
}

/// A name's lock and how often it was asked for.
struct Held {
    name: String,
    named: NamedLock,
    mode: LockMode,
    count: u32,
}

/// The locks of the session in one database.
struct OfSession {
    database: Arc<Database>,
    transaction: Transaction,
    held: Vec<Held>,
}

/// The application locks that a session holds.
#[derive(Default)]
pub(crate) struct ApplicationLocks {
    of_transaction: Vec<Held>,
    of_session: Vec<OfSession>,
}

impl ApplicationLocks {
    /// Whether the session holds any beside its transaction's.
    pub(crate) fn are_held(&self) -> bool {
        self.of_session.iter().any(|of_database| !of_database.held.is_empty())
    }

    /// The transaction has ended, and its locks with it.
    pub fn forget_transaction(&mut self) {
        self.of_transaction.clear();
    }
}

fn note(held: &mut Vec<Held>, name: &str, named: NamedLock, mode: LockMode) {
    match held.iter_mut().find(|held| held.name == name) {
        Some(held) => {
            held.count += 1;
            if !held.mode.covers(mode) {
                held.mode = mode;
            }
        }
        None => held.push(Held { name: name.to_owned(), named, mode, count: 1 }),
    }
}

/// Counts a release: None when the name is not held, its lock when this was the last one.
fn count_down(held: &mut Vec<Held>, name: &str) -> Option<Option<NamedLock>> {
    let at = held.iter().position(|held| held.name == name)?;
    held[at].count -= 1;
    Some((held[at].count == 0).then(|| held.swap_remove(at).named))
}

impl ExecutionContext {
    /// Takes the lock of a name in the current database; whether it had to be waited for. `timeout_ms` is in place of
    /// LOCK_TIMEOUT; negative: no end.
    ///
    /// # Errors
    /// 1222 when the time has passed, 1205 for a deadlock's victim, 3617 for a cancelled batch.
    pub async fn lock_name(
        &mut self,
        name: &str,
        mode: LockMode,
        owner: LockOwner,
        timeout_ms: i32,
    ) -> Result<bool, Fault> {
        let database = Arc::clone(self.database());
        let named = database.named_lock(name);
        let cancelled = Arc::clone(&self.cancelled);
        let of_session = &mut self.application_locks.of_session;
        let at = of_session.iter().position(|locks| locks.database.id() == database.id());
        let (lock_timeout, priority) = (u64::try_from(timeout_ms).ok(), self.deadlock_priority);
        let (transaction, held) = match (owner, at) {
            (LockOwner::Transaction, _) => (&mut self.transaction, &mut self.application_locks.of_transaction),
            (LockOwner::Session, at) => {
                // What the transaction keeps for its next statement is not kept from others during a wait.
                self.transaction.rest();
                let at = at.unwrap_or_else(|| {
                    let transaction = database.transaction_beside(&self.transaction);
                    of_session.push(OfSession { database: Arc::clone(&database), transaction, held: Vec::new() });
                    of_session.len() - 1
                });
                let locks = &mut of_session[at];
                (&mut locks.transaction, &mut locks.held)
            }
        };
        transaction.set_patience(lock_timeout, &cancelled, priority);
        let mut waited = false;
        loop {
            match database.try_lock_named(transaction, &named, mode) {
                Ok(()) => break,
                Err(Blocked::Need(need)) => {
                    waited = true;
                    awaited(database.satisfy(transaction, need), lock_timeout, || look(&cancelled)).await?;
                }
                Err(Blocked::Error(error)) => return Err(error),
                Err(Blocked::Stale) => return Err(crate::errors::definition_changed()),
            }
        }
        note(held, name, named, mode);
        Ok(waited)
    }

    /// How the owner holds the lock of a name in the current database.
    pub fn name_mode(&self, name: &str, owner: LockOwner) -> Option<LockMode> {
        let locks = &self.application_locks;
        let held = match owner {
            LockOwner::Transaction => Some(&locks.of_transaction),
            LockOwner::Session => {
                let id = self.database().id();
                locks.of_session.iter().find(|locks| locks.database.id() == id).map(|locks| &locks.held)
            }
        };
        held?.iter().find(|held| held.name == name).map(|held| held.mode)
    }

    /// Whether the owner would get the lock of a name in the current database at once.
    pub fn name_is_free(&self, name: &str, mode: LockMode, owner: LockOwner) -> bool {
        let database = self.database();
        let held = self.name_mode(name, owner);
        held.is_some_and(|held| held.covers(mode)) || database.is_name_free(name, mode, self.state.session_id)
    }

    /// Gives a name's lock back, once; whether the owner held it.
    pub fn unlock_name(&mut self, name: &str, owner: LockOwner) -> bool {
        let database = Arc::clone(self.database());
        let (transaction, held) = match owner {
            LockOwner::Transaction => (&mut self.transaction, &mut self.application_locks.of_transaction),
            LockOwner::Session => {
                let of_session = &mut self.application_locks.of_session;
                let Some(locks) = of_session.iter_mut().find(|locks| locks.database.id() == database.id()) else {
                    return false;
                };
                (&mut locks.transaction, &mut locks.held)
            }
        };
        match count_down(held, name) {
            None => false,
            Some(last) => {
                if let Some(named) = last {
                    database.unlock_named(transaction, &named);
                }
                true
            }
        }
    }
}
