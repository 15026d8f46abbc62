//! Locks of what the engine knows only by a name that its callers agree on. They are table locks without a table: waits, the
//! wait graph and the views treat them alike.

use std::sync::{Arc, Weak};

use pikepole_contention::sync::atomic::Ordering;
use pikepole_transaction::{LockMode, LockRow, LockedThing, TableLock};

use super::{Database, lock};
use crate::error::Blocked;
use crate::transaction::Transaction;

/// The numbers of named locks begin here; those of tables stay below.
pub const NAMED_LOCK_FIRST: u32 = 0x8000_0000;

/// The lock of a name, for as long as somebody keeps it.
#[derive(Debug, Clone)]
pub struct NamedLock(Arc<TableLock>);

/// Who has asked for which name's lock.
pub(super) type NamedLocks = Vec<(String, Weak<TableLock>)>;

impl Database {
    /// The lock of a name; all callers get the same one while one of them keeps it.
    pub fn named_lock(&self, name: &str) -> NamedLock {
        let mut locks = lock(&self.named_locks);
        locks.retain(|(_, kept)| kept.strong_count() > 0);
        let found = locks.iter().find(|(kept, _)| kept == name);
        if let Some(found) = found.and_then(|(_, kept)| kept.upgrade()) {
            return NamedLock(found);
        }
        let number = self.named_lock_next.fetch_add(1, Ordering::Relaxed) % NAMED_LOCK_FIRST;
        let made = Arc::new(TableLock::new(NAMED_LOCK_FIRST + number));
        locks.push((name.to_owned(), Arc::downgrade(&made)));
        NamedLock(made)
    }

    /// Takes a named lock for the transaction, to its end or to [`Database::unlock_named`].
    ///
    /// # Errors
    /// The need to wait for it.
    pub fn try_lock_named(&self, tx: &mut Transaction, named: &NamedLock, mode: LockMode) -> Result<(), Blocked> {
        let locked = tx.inner.try_lock(&named.0, mode);
        locked.map_err(|stop| self.place(tx, "").stop(stop))
    }

    /// Whether a session would get the lock of a name at once.
    pub fn is_name_free(&self, name: &str, mode: LockMode, session_id: i32) -> bool {
        let kept = lock(&self.named_locks).iter().find(|(kept, _)| kept == name).and_then(|(_, kept)| kept.upgrade());
        let Some(kept) = kept else { return true };
        let in_the_way = |row: &LockRow| {
            let others = row.session_id != session_id;
            row.thing == LockedThing::Object(kept.number()) && others && row.mode.conflicts(mode)
        };
        !self.locks().iter().any(in_the_way)
    }

    /// Gives a named lock back, in all modes that the transaction holds it in.
    pub fn unlock_named(&self, tx: &mut Transaction, named: &NamedLock) {
        tx.inner.unlock(&named.0);
    }
}
