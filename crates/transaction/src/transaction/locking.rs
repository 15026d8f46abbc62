//! The locks of a transaction: of tables, of rows that it has read, and of ranges of keys.

use pikepole_contention::sync::Arc;

use super::{Held, Transaction};
use crate::error::{Need, Stop};
use crate::key_lock::{Kept, KeyLock, LockedKeys};
use crate::lock::{Grant, LockMode, TableLock};
use crate::nested::Kinship;
use crate::registry::{SessionCell, lock};

/// Weak locks that a running session keeps at most between statements.
const IDLE_LOCKS_MAX: usize = 32;

impl Transaction {
    /// Takes a table lock for the transaction, or for the statement when it is Sch-S.
    ///
    /// # Errors
    /// The need to wait for it.
    #[inline]
    pub fn try_lock(&mut self, table: &Arc<TableLock>, mode: LockMode) -> Result<(), Stop> {
        self.try_lock_until(table, mode, mode != LockMode::SchS)
    }

    /// Takes a table lock for the statement.
    ///
    /// # Errors
    /// The need to wait for it.
    pub fn try_lock_for_statement(&mut self, table: &Arc<TableLock>, mode: LockMode) -> Result<(), Stop> {
        self.try_lock_until(table, mode, false)
    }

    /// Takes a table lock: for the transaction if it `lasts`, else for the statement.
    #[inline]
    fn try_lock_until(&mut self, table: &Arc<TableLock>, mode: LockMode, lasts: bool) -> Result<(), Stop> {
        for held in &mut self.held {
            let covers = held.grant.mode.covers(mode) && Arc::ptr_eq(&held.lock, table);
            if covers && (held.in_use || !table.is_wanted_against(held.grant.mode)) {
                held.lasts = lasts || held.in_use && held.lasts;
                held.in_use = true;
                return Ok(());
            }
        }
        self.lock_anew(table, mode, lasts)
    }

    #[cold]
    fn lock_anew(&mut self, table: &Arc<TableLock>, mode: LockMode, lasts: bool) -> Result<(), Stop> {
        if matches!(&self.kinship, Kinship::Child(family, _) if family.covers(table, mode)) {
            return Ok(());
        }
        self.give_back_wanted();
        let own = self.own_grants(table);
        match table.try_acquire(self.cell.owner, &own, mode) {
            Some(grant) => {
                self.hold(table.clone(), grant, lasts);
                Ok(())
            }
            None => Err(Stop::Need(Need::Lock(table.clone(), mode))),
        }
    }

    /// Gives back a lock before the end of the transaction, in every mode it is held in: one that guards nothing which the
    /// transaction has changed.
    pub fn unlock(&mut self, table: &Arc<TableLock>) {
        let cell = &self.cell;
        self.held.retain(|held| {
            let keep = !Arc::ptr_eq(&held.lock, table);
            if !keep {
                give_back(cell, held);
            }
            keep
        });
    }

    /// Locks a row, or keys, for the transaction; to be called before they are looked at. True: it had not locked them so.
    ///
    /// # Errors
    /// The need to wait for others who have locked them.
    pub fn try_lock_keys(&mut self, lock: KeyLock) -> Result<bool, Stop> {
        assert!(!self.is_child(), "children read what their parent has locked");
        let Some(is_new) = self.home.keys.try_acquire(self.cell.owner, &lock) else {
            return Err(Stop::Need(Need::Keys(Box::new(lock))));
        };
        if is_new {
            let kept = match lock.keys {
                LockedKeys::One(key) => Kept::Key(lock.object, key),
                LockedKeys::Range(..) => Kept::Ranges(lock.object),
            };
            if matches!(kept, Kept::Key(..)) || !self.keys.contains(&kept) {
                self.keys.push(kept);
            }
        }
        Ok(is_new)
    }

    /// Locks what is free of a range before the first key that is not: who waits in the middle of a range keeps what is
    /// before.
    pub fn lock_free_part(&mut self, lock: &KeyLock) {
        if let Some(part) = self.home.keys.free_part(self.cell.owner, lock) {
            // Another session may have come in between: then nothing is kept.
            let _ = self.try_lock_keys(part);
        }
    }

    /// Tells if a lock of one key could be had now. It is not taken: what is read under the latch that the key's row was
    /// copied under needs none to be kept.
    ///
    /// # Errors
    /// The need to wait for those who have locked it.
    #[inline]
    pub fn try_pass_key(&self, object: u32, key: &[u8], mode: LockMode) -> Result<(), Stop> {
        if self.home.keys.admits(self.cell.owner, object, key, mode) {
            return Ok(());
        }
        let keys = LockedKeys::One(key.into());
        Err(Stop::Need(Need::Keys(Box::new(KeyLock { object, keys, mode }))))
    }

    /// Gives back a row that was locked, before the end of the transaction: one that is of no interest.
    pub fn unlock_row(&mut self, object: u32, row: &[u8]) {
        let is_it = |kept: &Kept| matches!(kept, Kept::Key(of, key) if *of == object && **key == *row);
        if let Some(at) = self.keys.iter().rposition(is_it) {
            self.home.keys.release(self.cell.owner, &self.keys.swap_remove(at));
        }
    }

    pub(super) fn own_grants(&self, table: &Arc<TableLock>) -> Vec<Grant> {
        let own = self.held.iter().filter(|h| Arc::ptr_eq(&h.lock, table));
        own.map(|h| h.grant).collect()
    }

    pub(super) fn hold(&mut self, table: Arc<TableLock>, grant: Grant, lasts: bool) {
        lock(&self.cell.held).push((table.object(), grant.mode));
        if self.held.len() >= IDLE_LOCKS_MAX {
            self.rest();
        }
        if !matches!(grant.mode, LockMode::SchS | LockMode::IS | LockMode::IX) {
            // Whoever had the table before has logged its last change of it.
            self.order_behind_all();
        }
        self.held.push(Held { lock: table, grant, in_use: true, lasts });
    }

    /// Gives back the idle locks that somebody wants.
    pub(super) fn give_back_wanted(&mut self) {
        let cell = &self.cell;
        self.held.retain(|held| {
            let keep = held.in_use || !held.lock.is_wanted_against(held.grant.mode);
            if !keep {
                give_back(cell, held);
            }
            keep
        });
    }

    /// Gives back all idle locks: the session is about to wait, or has nothing to do.
    pub fn rest(&mut self) {
        let cell = &self.cell;
        self.held.retain(|held| {
            if !held.in_use {
                give_back(cell, held);
            }
            held.in_use
        });
    }

    #[cold]
    pub(super) fn unlock_keys(&mut self) {
        for kept in self.keys.drain(..) {
            self.home.keys.release(self.cell.owner, &kept);
        }
    }
}

pub(super) fn give_back(cell: &SessionCell, held: &Held) {
    held.lock.release(cell.owner, held.grant);
    let mut shown = lock(&cell.held);
    let at = shown.iter().position(|(object, mode)| *object == held.lock.object() && *mode == held.grant.mode);
    shown.swap_remove(at.expect("a held lock is shown"));
}
