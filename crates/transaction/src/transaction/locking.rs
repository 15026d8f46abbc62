//! The locks of a transaction: of tables, of rows that it has read, and of ranges of keys.

use pikepole_contention::sync::Arc;
use pikepole_scheduler::chaos::{self, Site};
use pikepole_storage::PageId;

use super::{Held, Transaction};
use crate::error::{Need, Stop};
use crate::key_lock::{Kept, KeyLock, LockedKeys};
use crate::lock::{Grant, LockMode, TableLock};
use crate::nested::Kinship;
use crate::registry::{HeldLock, SessionCell, lock};

/// Weak locks that a running session keeps at most between statements.
const IDLE_LOCKS_MAX: usize = 32;

impl Transaction {
    /// The number of waits for other transactions. What was copied of rows before such a wait may be outdated by
    /// what was waited for.
    #[inline]
    pub fn waits(&self) -> u64 {
        self.waits
    }

    /// Tells if it has waited for another transaction since it took its snapshot: others are newer.
    pub fn has_outwaited_snapshot(&self) -> bool {
        self.snapshot.is_some() && self.waits != self.snapshot_waits
    }

    /// A row was found to have changed since it was copied, which outdates what else was copied then.
    pub fn saw_change(&mut self) {
        self.waits += 1;
    }

    /// Tells if the statement reads under locks at READ COMMITTED: the database's option when it began.
    #[inline]
    pub fn locks_reads(&self) -> bool {
        self.locks_reads
    }

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
        self.lock_uncovered(table, mode, lasts)
    }

    #[cold]
    fn lock_uncovered(&mut self, table: &Arc<TableLock>, mode: LockMode, lasts: bool) -> Result<(), Stop> {
        if matches!(&self.kinship, Kinship::Child(family, _) if family.covers(table, mode)) {
            return Ok(());
        }
        if chaos::stops(Site::Table) {
            return Err(gone_need());
        }
        self.give_back_wanted();
        let (first, all);
        let own: &[LockMode] = if mode.is_weak() {
            // All that counts for it is whether there is one.
            first = self.held.iter().find(|held| Arc::ptr_eq(&held.lock, table)).map(|held| held.grant.mode);
            first.as_slice()
        } else {
            all = self.own_modes(table);
            &all
        };
        let granted = table.try_acquire(self.cell.owner, own, mode).or_else(|| {
            // What stands in the way may be held by another transaction of the same owner.
            let all = self.all_own_modes(table);
            if all.len() > own.len() { table.try_acquire(self.cell.owner, &all, mode) } else { None }
        });
        match granted {
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
        if chaos::stops(Site::Key) {
            return Err(gone_need());
        }
        let turn = self.turn.take().filter(|(waited, _)| **waited == lock).map(|(_, ticket)| ticket);
        let Some(is_new) = self.home.keys.try_acquire(self.cell.owner, &lock, turn) else {
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
            self.look_for_circles();
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

    fn own_modes(&self, table: &Arc<TableLock>) -> Vec<LockMode> {
        let own = self.held.iter().filter(|h| Arc::ptr_eq(&h.lock, table));
        own.map(|h| h.grant.mode).collect()
    }

    /// The modes in which its owner holds the table lock: what its parent, its children and its other transactions hold too.
    pub(super) fn all_own_modes(&self, table: &TableLock) -> Vec<LockMode> {
        self.home.registry.own_modes(table.address(), self.cell.owner)
    }

    /// One of a family has come to hold something. Another of it may wait meanwhile, so a circle may be closed by this and not
    /// by a wait.
    #[inline]
    fn look_for_circles(&self) {
        if !matches!(self.kinship, Kinship::Alone) {
            self.home.graph.look_again(self.cell.owner);
        }
    }

    /// As [`Transaction::hold`], of a lock that a test has been granted.
    #[cfg(test)]
    pub(crate) fn hold_for_test(&mut self, table: &Arc<TableLock>, grant: Grant) {
        self.hold(Arc::clone(table), grant, false);
    }

    pub(super) fn hold(&mut self, table: Arc<TableLock>, grant: Grant, lasts: bool) {
        let shown = HeldLock { object: table.object(), mode: grant.mode, address: table.address() };
        lock(&self.cell.held).push(shown);
        if self.held.len() >= IDLE_LOCKS_MAX {
            self.rest();
        }
        if !matches!(grant.mode, LockMode::SchS | LockMode::IS | LockMode::IX) {
            // Whoever had the table before has logged its last change of it.
            self.order_behind_all();
        }
        self.held.push(Held { lock: table, grant, in_use: true, lasts });
        self.look_for_circles();
    }

    /// The transaction has ended: its weak locks stay with the session, idle, the others go, and so do those that somebody wants.
    #[inline]
    pub(super) fn end_locks(&mut self) {
        let mut some_go = false;
        for held in &mut self.held {
            held.in_use = false;
            some_go |= !held.may_idle();
        }
        if some_go {
            self.give_back_ended();
        }
    }

    #[cold]
    fn give_back_ended(&mut self) {
        let cell = &self.cell;
        self.held.retain(|held| {
            let keep = held.may_idle();
            if !keep {
                give_back(cell, held);
            }
            keep
        });
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

/// A need that nothing stands in the way of, for [`chaos`]: not of a lock, since some who find one taken do not wait.
fn gone_need() -> Stop {
    Stop::Need(Need::Storage(pikepole_storage::Need::PageLatch(PageId(0))))
}

fn give_back(cell: &SessionCell, held: &Held) {
    held.lock.release(cell.owner, held.grant);
    let mut shown = lock(&cell.held);
    let is_it = |shown: &HeldLock| shown.address == held.lock.address() && shown.mode == held.grant.mode;
    let at = shown.iter().position(is_it);
    shown.swap_remove(at.expect("a held lock is shown"));
}
