//! The sessions of a database as others must see them: their snapshots, their open transactions, what they hold.
//!
//! ```text
//!   session 51  [ snapshot | id | first lsn | begun ]  one padded cell each, written by its session only
//!   session 52  [ snapshot | id | first lsn | begun ]
//!        \__________ oldest snapshot = min over the cells, capped by the log's reserved horizon
//! ```
//!
//! # Taking a snapshot while somebody asks for the oldest
//! A session reads the clock (the log's reserved horizon), stores it in its cell, then reads `horizon`. Who asks for the
//! oldest reads the clock, raises `horizon` to it, then reads the cells. All four are SeqCst: either the asker sees the
//! cell, or the session sees a horizon above its snapshot and takes a newer one, which is at or above that horizon.
//!
//! # The first LSN of a transaction
//! is stored in the cell before its first record is reserved. A checkpoint reserves its begin record, then reads the cells:
//! a transaction it does not see reserves above that record, so the log kept from there holds all of it.

use pikepole_contention::CachePadded;
use pikepole_contention::sync::atomic::{AtomicU64, Ordering, fence};
use pikepole_contention::sync::{Arc, Mutex, MutexGuard};
use pikepole_log::Lsn;

use crate::id::TransactionId;
use crate::lock::LockMode;
use crate::status::SnapshotsSeen;

/// No snapshot, no first LSN.
pub(crate) const NONE: u64 = u64::MAX;

/// Locks a mutex whose data stays whole whatever a panicking holder did: each critical section changes it in one step.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|e| e.into_inner())
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
    pub begun_us: AtomicU64,
    pub log_bytes: AtomicU64,
    pub log_records: AtomicU64,
    /// Table locks it holds, for the search of deadlocks.
    pub held: Mutex<Vec<(u32, LockMode)>>,
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
    /// Where its records begin; None while it has written none.
    pub first_lsn: Option<Lsn>,
}

/// The cells of all sessions of a database.
pub(crate) struct Registry {
    cells: Mutex<Vec<Arc<CachePadded<SessionCell>>>>,
    owner_next: AtomicU64,
    horizon: AtomicU64,
}

impl Registry {
    pub fn new() -> Self {
        Self { cells: Mutex::new(Vec::new()), owner_next: AtomicU64::new(1), horizon: AtomicU64::new(0) }
    }

    pub fn register(&self, session_id: i32) -> Arc<CachePadded<SessionCell>> {
        self.register_as(self.owner_next.fetch_add(1, Ordering::Relaxed), session_id)
    }

    /// A cell for a child: it has the number of its parent.
    pub fn register_as(&self, owner: u64, session_id: i32) -> Arc<CachePadded<SessionCell>> {
        let cell = Arc::new(CachePadded::new(SessionCell {
            owner,
            session_id,
            snapshot: AtomicU64::new(NONE),
            id: AtomicU64::new(0),
            first_lsn: AtomicU64::new(NONE),
            begun_us: AtomicU64::new(0),
            log_bytes: AtomicU64::new(0),
            log_records: AtomicU64::new(0),
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

    /// The session whose open transaction has this id.
    pub fn owner_of(&self, id: TransactionId) -> Option<u64> {
        lock(&self.cells).iter().find(|cell| cell.id.load(Ordering::Relaxed) == id.0).map(|cell| cell.owner)
    }

    /// The sessions other than `owner` that hold a lock on `object` which conflicts with `mode`.
    pub fn holders(&self, object: u32, mode: LockMode, owner: u64) -> Vec<u64> {
        lock(&self.cells)
            .iter()
            .filter(|cell| cell.owner != owner)
            .filter(|cell| lock(&cell.held).iter().any(|(o, held)| *o == object && held.conflicts(mode)))
            .map(|cell| cell.owner)
            .collect()
    }

    pub fn rows(&self) -> Vec<TransactionRow> {
        let cells = lock(&self.cells);
        // What children have logged is their parent's.
        let sum = |owner: u64, number: fn(&SessionCell) -> &AtomicU64| {
            cells.iter().filter(|cell| cell.owner == owner).map(|cell| number(cell).load(Ordering::Relaxed)).sum()
        };
        cells
            .iter()
            .filter(|cell| cell.id.load(Ordering::Relaxed) != 0)
            .map(|cell| TransactionRow {
                session_id: cell.session_id,
                id: TransactionId(cell.id.load(Ordering::Relaxed)),
                begun_us: cell.begun_us.load(Ordering::Relaxed),
                log_bytes: sum(cell.owner, |cell| &cell.log_bytes),
                log_records: sum(cell.owner, |cell| &cell.log_records),
                first_lsn: Some(cell.first_lsn.load(Ordering::Relaxed)).filter(|lsn| *lsn != NONE).map(Lsn),
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_snapshot_counts_and_late_takers_see_the_horizon() {
        let registry = Registry::new();
        let (a, b) = (registry.register(51), registry.register(52));
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
        let (a, b) = (registry.register(51), registry.register(52));
        assert_eq!(registry.oldest_first_lsn(), None);
        a.first_lsn.store(70, Ordering::SeqCst);
        b.first_lsn.store(60, Ordering::SeqCst);
        assert_eq!(registry.oldest_first_lsn(), Some(Lsn(60)));
    }
}
