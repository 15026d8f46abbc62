//! The sessions of a database as others must see them: their snapshots, their open transactions, what they hold.
//!
//! ```text
//!   session 51  [ snapshot | id | first lsn | begun ]  one padded cell each, written by its session only
//!   session 52  [ snapshot | id | first lsn | begun ]
//!        \__________ oldest snapshot = min over the cells, capped by what is settled in the log
//! ```
//!
//! # Taking a snapshot while somebody asks for the oldest
//! A session reads the clock (`Log::now`), stores it in its cell, then reads `horizon`. Who asks for the oldest reads up to
//! where the log is settled, raises `horizon` to it, then reads the cells. The last two of each are SeqCst: either the asker
//! sees the cell, or the session sees a horizon above its snapshot and takes a newer one, which is at or above that horizon.
//!
//! # The first LSN of a transaction
//! is a lower bound, the log's `copied`, stored in the cell before its first record is reserved. A checkpoint makes its begin
//! record durable, then reads the cells. All below that record is copied by then: a transaction with a record there was
//! seen by whoever computed that, and so is its cell; one that is not seen appends above the record, so the log kept from
//! there holds all of it.

use pikepole_contention::CachePadded;
use pikepole_contention::sync::atomic::{AtomicU64, Ordering, fence};
use pikepole_contention::sync::{Arc, Mutex, MutexGuard};
use pikepole_log::Lsn;

use crate::id::TransactionId;
use crate::key_lock::Shown;
use crate::lock::{Blocker, LockMode};
use crate::status::SnapshotsSeen;

/// No snapshot, no first LSN.
pub(crate) const NONE: u64 = u64::MAX;

/// Locks a mutex whose data stays whole whatever a panicking holder did: each critical section changes it in one step.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|e| e.into_inner())
}

/// A table lock that a session holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct HeldLock {
    /// The number of what is locked.
    pub object: u32,
    pub mode: LockMode,
    /// Which lock it is: numbers may be given again.
    pub address: usize,
}

/// What one session shows to the others.
pub(crate) struct SessionCell {
    /// Its number in the lock and wait tables.
    pub owner: u64,
    /// The number of the session, for views.
    pub session_id: i32,
    pub snapshot: AtomicU64,
    /// The id of its open transaction; zero: none.
    pub id: AtomicU64,
    pub first_lsn: AtomicU64,
    /// When it first changed something.
    pub begun_us: AtomicU64,
    /// The id that an explicit transaction goes by from its beginning, whether it changes something or not; zero: none.
    pub explicit_id: AtomicU64,
    /// When it began.
    pub explicit_us: AtomicU64,
    pub last_lsn: AtomicU64,
    pub reserved_bytes: AtomicU64,
    pub log_bytes: AtomicU64,
    pub log_records: AtomicU64,
    /// At or below the numbers that it has been dealt of an order which all transactions share; [`NONE`] while there are none.
    pub first_number: AtomicU64,
    /// Table locks it holds, for the search of deadlocks.
    pub held: Mutex<Vec<HeldLock>>,
}

/// One open transaction, for the views.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TransactionRow {
    /// The session that runs it.
    pub session_id: i32,
    /// Its id.
    pub id: TransactionId,
    /// When it began, in microseconds of the monotonic clock.
    pub begun_us: u64,
    /// Bytes of its log records so far.
    pub log_bytes: u64,
    /// Its log records so far.
    pub log_records: u64,
    /// At or before where its records begin: the end of the log when it first changed something.
    pub first_lsn: Option<Lsn>,
    /// Its last record; None while it has written none.
    pub last_lsn: Option<Lsn>,
    /// Bytes of log kept back so that it can be rolled back.
    pub reserved_bytes: u64,
}

/// A transaction that a session has begun and not ended, whether it has changed something or not. A statement of its own
/// that has changed nothing yet is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenTransaction {
    /// The session that runs it.
    pub session_id: i32,
    /// Its id.
    pub id: TransactionId,
    /// When it began, in microseconds of the monotonic clock.
    pub begun_us: u64,
    /// Whether the session began it, rather than a statement.
    pub is_explicit: bool,
    /// What it has changed.
    pub changes: Option<TransactionRow>,
}

/// What somebody locks or waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LockedThing {
    /// The table lock of this number.
    Object(u32),
    /// A row that was last written by this transaction, which has not ended.
    RowOf(TransactionId),
    /// A row or keys of the tree or heap of this number; the second number tells them apart.
    Keys(u32, u64),
}

/// A lock that is held or waited for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LockRow {
    /// The session.
    pub session_id: i32,
    /// The id of its transaction; None for a statement of its own that has changed nothing.
    pub id: Option<TransactionId>,
    /// What is locked.
    pub thing: LockedThing,
    /// How.
    pub mode: LockMode,
    /// Whether it is held, rather than waited for.
    pub is_granted: bool,
    /// How often it is held.
    pub count: usize,
    /// A session that is in the way, of a wait for keys.
    pub blocker: Option<i32>,
}

/// The cells of all sessions of a database.
pub(crate) struct Registry {
    cells: Mutex<Vec<Arc<CachePadded<SessionCell>>>>,
    horizon: AtomicU64,
}

impl Registry {
    pub fn new() -> Self {
        Self { cells: Mutex::new(Vec::new()), horizon: AtomicU64::new(0) }
    }

    /// A cell for a session. A child has the number of its parent, and what a session does in several databases has one number.
    pub fn register(&self, owner: u64, session_id: i32) -> Arc<CachePadded<SessionCell>> {
        let cell = Arc::new(CachePadded::new(SessionCell {
            owner,
            session_id,
            snapshot: AtomicU64::new(NONE),
            id: AtomicU64::new(0),
            first_lsn: AtomicU64::new(NONE),
            begun_us: AtomicU64::new(0),
            explicit_id: AtomicU64::new(0),
            explicit_us: AtomicU64::new(0),
            last_lsn: AtomicU64::new(NONE),
            reserved_bytes: AtomicU64::new(0),
            log_bytes: AtomicU64::new(0),
            log_records: AtomicU64::new(0),
            first_number: AtomicU64::new(NONE),
            held: Mutex::new(Vec::new()),
        }));
        lock(&self.cells).push(cell.clone());
        cell
    }

    pub fn unregister(&self, gone: &Arc<CachePadded<SessionCell>>) {
        lock(&self.cells).retain(|cell| !Arc::ptr_eq(cell, gone));
    }

    /// Takes a snapshot into `cell`.
    pub fn take_snapshot(&self, cell: &SessionCell, clock: impl Fn() -> Lsn) -> Lsn {
        loop {
            let snapshot = clock();
            cell.snapshot.store(snapshot.0, Ordering::SeqCst);
            if self.horizon.load(Ordering::SeqCst) <= snapshot.0 {
                return snapshot;
            }
        }
    }

    /// The snapshots in use; whatever ended at or below all of them needs no older version.
    pub fn snapshots(&self, clock: impl Fn() -> Lsn) -> SnapshotsSeen {
        let horizon = clock();
        self.horizon.fetch_max(horizon.0, Ordering::SeqCst);
        let held = lock(&self.cells)
            .iter()
            .map(|cell| cell.snapshot.load(Ordering::SeqCst))
            .filter(|s| *s < horizon.0)
            .map(Lsn)
            .collect();
        SnapshotsSeen { horizon, held }
    }

    /// The first record of the oldest open transaction. Call it after the checkpoint's begin record is reserved.
    pub fn oldest_first_lsn(&self) -> Option<Lsn> {
        // Pairs with the SeqCst store of `first_lsn`: see the module's header.
        fence(Ordering::SeqCst);
        lock(&self.cells)
            .iter()
            .map(|cell| cell.first_lsn.load(Ordering::SeqCst))
            .filter(|lsn| *lsn != NONE)
            .min()
            .map(Lsn)
    }

    /// At or below the lowest number that an open transaction has been dealt. Acquire, here and where the caller looked how far numbers
    /// are dealt: pairs with the Release of whoever deals them, so that the cell of each number below is seen, and with that
    /// of `Transaction::ended`.
    pub fn oldest_number(&self) -> Option<u64> {
        let cells = lock(&self.cells);
        cells.iter().map(|cell| cell.first_number.load(Ordering::Acquire)).filter(|number| *number != NONE).min()
    }

    /// The session whose open transaction has this id.
    pub fn owner_of(&self, id: TransactionId) -> Option<u64> {
        lock(&self.cells).iter().find(|cell| cell.id.load(Ordering::Relaxed) == id.0).map(|cell| cell.owner)
    }

    /// The modes in which `owner` holds the lock at `address`, in all its transactions of the database.
    pub fn own_modes(&self, address: usize, owner: u64) -> Vec<LockMode> {
        let mut modes = Vec::new();
        for cell in lock(&self.cells).iter().filter(|cell| cell.owner == owner) {
            modes.extend(lock(&cell.held).iter().filter(|held| held.address == address).map(|held| held.mode));
        }
        modes
    }

    /// The owners other than `owner` that hold the lock at `address` in a weak mode that conflicts with `mode`.
    pub fn weak_holders(&self, address: usize, mode: LockMode, owner: u64) -> Vec<Blocker> {
        let in_the_way = |held: &HeldLock| held.address == address && held.mode.is_weak() && held.mode.conflicts(mode);
        let cells = lock(&self.cells);
        let others = cells.iter().filter(|cell| cell.owner != owner);
        let blocker = |cell: &Arc<CachePadded<SessionCell>>| {
            let held = lock(&cell.held).iter().copied().find(in_the_way)?;
            Some(Blocker { owner: cell.owner, mode: held.mode, is_holder: true })
        };
        others.filter_map(blocker).collect()
    }

    /// The open transaction of an owner and the bytes that it has logged, its children's among them.
    pub fn of_owner(&self, owner: u64) -> (Option<TransactionId>, u64) {
        let cells = lock(&self.cells);
        let own = cells.iter().filter(|cell| cell.owner == owner);
        let id = own.clone().find_map(|cell| cell.open(&cells)).map(|open| open.id);
        (id, own.map(|cell| cell.log_bytes.load(Ordering::Relaxed)).sum())
    }

    pub fn rows(&self) -> Vec<TransactionRow> {
        let cells = lock(&self.cells);
        cells.iter().filter_map(|cell| cell.row(&cells)).collect()
    }

    /// The open transactions, in the order of their sessions.
    pub fn open(&self) -> Vec<OpenTransaction> {
        let cells = lock(&self.cells);
        let mut open: Vec<OpenTransaction> = cells.iter().filter_map(|cell| cell.open(&cells)).collect();
        open.sort_by_key(|transaction| transaction.session_id);
        open
    }

    /// The locks that are held, those of keys in `keys`, and what is waited for; `waits` says what the owner of a number waits
    /// for, and `blocker` who is in the way. What children hold and wait for is their parent's.
    pub fn locks(
        &self,
        mut waits: impl FnMut(u64) -> Vec<(LockedThing, LockMode)>,
        keys: Vec<Shown>,
        blocker: impl Fn(u64) -> Option<u64>,
    ) -> Vec<LockRow> {
        let blockers: Vec<(u64, u64)> = {
            let owners: Vec<u64> = lock(&self.cells).iter().map(|cell| cell.owner).collect();
            owners.into_iter().filter_map(|owner| Some((owner, blocker(owner)?))).collect()
        };
        let cells = lock(&self.cells);
        let session_of = |owner| cells.iter().find(|cell| cell.owner == owner).map(|cell| cell.session_id);
        let mut rows = Vec::new();
        for (at, cell) in cells.iter().enumerate() {
            // A parent is registered before its children.
            let first = cells.iter().position(|other| other.owner == cell.owner).unwrap_or(at);
            let id = cells[first].open(&cells).map(|open| open.id);
            let row = |thing, mode, is_granted, count| LockRow {
                session_id: cell.session_id,
                id,
                thing,
                mode,
                is_granted,
                count,
                blocker: None,
            };
            let mut held = lock(&cell.held).clone();
            held.sort_unstable();
            rows.extend(held.chunk_by(|a, b| a == b).map(|same| {
                let HeldLock { object, mode, .. } = same[0];
                row(LockedThing::Object(object), mode, true, same.len())
            }));
            if first == at {
                let kept = keys.iter().filter(|key| key.owner == cell.owner);
                rows.extend(kept.map(|key| row(LockedThing::Keys(key.object, key.hash), key.mode, true, 1)));
                let blocker = blockers.iter().find(|(waits, _)| *waits == cell.owner);
                let blocker = blocker.and_then(|(_, blocker)| session_of(*blocker));
                rows.extend(waits(cell.owner).into_iter().map(|(thing, mode)| LockRow {
                    blocker: blocker.filter(|_| matches!(thing, LockedThing::Keys(..))),
                    ..row(thing, mode, false, 1)
                }));
            }
        }
        rows.sort_by_key(|row| row.session_id);
        rows
    }
}

impl SessionCell {
    /// What its transaction has changed, its children's changes among it; None: nothing. `cells` are all there are.
    fn row(&self, cells: &[Arc<CachePadded<SessionCell>>]) -> Option<TransactionRow> {
        let id = self.id.load(Ordering::Relaxed);
        if id == 0 {
            return None;
        }
        let of_family = |number: fn(&SessionCell) -> &AtomicU64| {
            cells.iter().filter(|cell| cell.owner == self.owner).map(move |cell| number(cell).load(Ordering::Relaxed))
        };
        let first_lsn = self.first_lsn.load(Ordering::Relaxed);
        let last_lsn = of_family(|cell| &cell.last_lsn).filter(|lsn| *lsn != NONE).max();
        Some(TransactionRow {
            session_id: self.session_id,
            id: TransactionId(id),
            begun_us: self.begun_us.load(Ordering::Relaxed),
            log_bytes: of_family(|cell| &cell.log_bytes).sum(),
            log_records: of_family(|cell| &cell.log_records).sum(),
            first_lsn: Some(first_lsn).filter(|lsn| *lsn != NONE).map(Lsn),
            last_lsn: last_lsn.map(Lsn),
            reserved_bytes: of_family(|cell| &cell.reserved_bytes).sum(),
        })
    }

    fn open(&self, cells: &[Arc<CachePadded<SessionCell>>]) -> Option<OpenTransaction> {
        let explicit = self.explicit_id.load(Ordering::Relaxed);
        let changes = self.row(cells);
        let id = if explicit != 0 { TransactionId(explicit) } else { changes.as_ref()?.id };
        let begun_us = match &changes {
            Some(changes) if explicit == 0 => changes.begun_us,
            _ => self.explicit_us.load(Ordering::Relaxed),
        };
        Some(OpenTransaction { session_id: self.session_id, id, begun_us, is_explicit: explicit != 0, changes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_snapshot_counts_and_late_takers_see_the_horizon() {
        let registry = Registry::new();
        let (a, b) = (registry.register(1, 51), registry.register(2, 52));
        assert_eq!(registry.take_snapshot(&a, || Lsn(10)), Lsn(10));
        let seen = registry.snapshots(|| Lsn(20));
        assert_eq!((seen.horizon, seen.held.as_slice()), (Lsn(20), &[Lsn(10)][..]));
        let readings = std::cell::Cell::new(15);
        let clock = || {
            let now = readings.get();
            readings.set(now + 10);
            Lsn(now)
        };
        assert_eq!(registry.take_snapshot(&b, clock), Lsn(25), "15 is below the horizon");
        a.snapshot.store(NONE, Ordering::SeqCst);
        assert_eq!(registry.snapshots(|| Lsn(30)).held, vec![Lsn(25)]);
        registry.unregister(&b);
        assert!(registry.snapshots(|| Lsn(30)).held.is_empty());
    }

    #[test]
    fn first_lsn_of_the_oldest_transaction() {
        let registry = Registry::new();
        let (a, b) = (registry.register(1, 51), registry.register(2, 52));
        assert_eq!(registry.oldest_first_lsn(), None);
        a.first_lsn.store(70, Ordering::SeqCst);
        b.first_lsn.store(60, Ordering::SeqCst);
        assert_eq!(registry.oldest_first_lsn(), Some(Lsn(60)));
    }
}
