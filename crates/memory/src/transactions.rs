//! The clock of a database's tables in memory, the snapshots in use, and what waits to be freed.

use std::collections::VecDeque;
use std::ptr::NonNull;

use crossbeam_epoch::Guard;
use pikepole_contention::fault::planted;
use pikepole_contention::sync::atomic::{AtomicU64, Ordering};
use pikepole_contention::sync::{Arc, Mutex, MutexGuard};
use pikepole_contention::{CachePadded, SlotCounter, slot};

use crate::guarded::Guarded;
use crate::row::{Row, Version};
use crate::table::MemoryTable;
use crate::transaction::MemoryTransaction;

/// Queues of garbage: threads put it into the one of their slot.
const QUEUES: usize = 64;
/// Rows that a transaction looks at when it ends: more than it can leave itself, so that queues shrink.
const ROWS_A_TRANSACTION: usize = 32;
/// So long a queue asks again which snapshots are in use.
const ROWS_TO_ASK: usize = if cfg!(shuttle) { 1 } else { 64 };

/// The times of commits.
///
/// A writer says that it is about to have a time, and then takes one; a reader takes the present time, and then asks how the writer
/// stands. A reader whose time is the writer's or later has read what the writer's exchange of the clock has put there, or a later one,
/// so it sees what the writer did before: it cannot pass a version over that belongs to its snapshot.
#[derive(Default)]
pub(crate) struct Clock(CachePadded<AtomicU64>);

impl Clock {
    /// SeqCst: see [`MemoryTransactions::take`]. Acquire pairs with the Release of [`Clock::next`].
    pub fn now(&self) -> u64 {
        self.0.load(Ordering::SeqCst)
    }

    /// SeqCst: in one order with the reads of [`Clock::now`].
    pub fn next(&self) -> u64 {
        self.0.fetch_add(1, Ordering::SeqCst) + 1
    }
}

/// A session's snapshot: its time, or [`NO_SNAPSHOT`].
pub(crate) type Snapshot = CachePadded<AtomicU64>;

pub(crate) const NO_SNAPSHOT: u64 = u64::MAX;

/// A row with versions that only snapshots before a time can see.
pub(crate) struct Garbage {
    pub time: u64,
    pub table: Arc<MemoryTable>,
    pub row: NonNull<Row>,
}

// SAFETY: the row is held by this, and all that threads do with rows is made for many of them.
unsafe impl Send for Garbage {}

impl Drop for Garbage {
    fn drop(&mut self) {
        // SAFETY: the garbage has held it.
        unsafe { Row::release(self.row, &crossbeam_epoch::pin()) };
    }
}

/// Counts of the transactions of one database in its tables in memory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MemoryCounts {
    /// Transactions that have committed changes.
    pub commits: u64,
    /// Transactions with changes that were rolled back, by their sessions or by a conflict.
    pub aborts: u64,
    /// Changes of rows that another transaction had changed.
    pub write_conflicts: u64,
    /// Transactions that failed because what they had read was changed, or rows had come to it.
    pub validation_failures: u64,
    /// Rows that have waited to be freed of versions, and were.
    pub rows_swept: u64,
}

/// The transactions of a database in its tables in memory.
pub struct MemoryTransactions {
    pub(crate) clock: Clock,
    snapshots: Mutex<Vec<Arc<Snapshot>>>,
    /// No snapshot is older: too low at worst.
    oldest: AtomicU64,
    garbage: [Queue; QUEUES],
    pub(crate) commits: SlotCounter,
    pub(crate) aborts: SlotCounter,
    pub(crate) write_conflicts: SlotCounter,
    pub(crate) validation_failures: SlotCounter,
    rows_swept: SlotCounter,
}

impl Default for MemoryTransactions {
    fn default() -> Self {
        Self {
            clock: Clock::default(),
            snapshots: Mutex::default(),
            oldest: AtomicU64::new(0),
            garbage: std::array::from_fn(|_| Queue::default()),
            commits: SlotCounter::new(),
            aborts: SlotCounter::new(),
            write_conflicts: SlotCounter::new(),
            validation_failures: SlotCounter::new(),
            rows_swept: SlotCounter::new(),
        }
    }
}

type Queue = CachePadded<Mutex<VecDeque<Garbage>>>;

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

impl MemoryTransactions {
    /// The transaction of a session, which has not begun.
    pub fn session(self: &Arc<Self>) -> MemoryTransaction {
        let snapshot = Arc::new(Snapshot::new(AtomicU64::new(NO_SNAPSHOT)));
        lock(&self.snapshots).push(snapshot.clone());
        MemoryTransaction::new(self.clone(), snapshot)
    }

    pub(crate) fn forget(&self, snapshot: &Arc<Snapshot>) {
        lock(&self.snapshots).retain(|other| !Arc::ptr_eq(other, snapshot));
    }

    /// Takes a snapshot: no version goes that it sees, until it is given back.
    pub(crate) fn take(&self, snapshot: &Snapshot) -> u64 {
        if planted("memory: a snapshot is taken before it is published") {
            let time = self.clock.now();
            pikepole_contention::sync::hint::spin_loop();
            snapshot.store(time, Ordering::SeqCst);
            return time;
        }
        snapshot.store(self.clock.now(), Ordering::SeqCst);
        // Who has not seen the store above has read the clock before: this time is not below its.
        self.clock.now()
    }

    /// The time of the oldest snapshot in use, or the present.
    fn ask_oldest(&self) -> u64 {
        let now = self.clock.now();
        let snapshots = lock(&self.snapshots);
        let oldest = snapshots.iter().map(|snapshot| snapshot.load(Ordering::SeqCst)).min();
        drop(snapshots);
        let oldest = oldest.map_or(now, |oldest| oldest.min(now));
        self.oldest.fetch_max(oldest, Ordering::Relaxed);
        oldest
    }

    fn queue(&self) -> &Mutex<VecDeque<Garbage>> {
        &self.garbage[slot::try_current().unwrap_or(0) % QUEUES]
    }

    /// Keeps garbage until no snapshot sees it, and frees some rows of the calling thread's queue that none sees.
    pub(crate) fn leave(&self, garbage: impl Iterator<Item = Garbage>, guard: &Guard) {
        let queue = self.queue();
        lock(queue).extend(garbage);
        self.sweep_queue(queue, ROWS_A_TRANSACTION, guard);
    }

    /// Frees all that no snapshot sees; the rows that wait still.
    pub fn sweep(&self) -> usize {
        self.ask_oldest();
        let guard = crossbeam_epoch::pin();
        for queue in &self.garbage {
            self.sweep_queue(queue, usize::MAX, &guard);
        }
        self.garbage.iter().map(|queue| lock(queue).len()).sum()
    }

    fn sweep_queue(&self, queue: &Mutex<VecDeque<Garbage>>, rows_max: usize, guard: &Guard) {
        for _ in 0..rows_max {
            let (one, oldest) = {
                let mut waiting = lock(queue);
                let Some(first) = waiting.front() else { return };
                let mut oldest = self.oldest.load(Ordering::Relaxed);
                if first.time > oldest && waiting.len() >= ROWS_TO_ASK {
                    oldest = self.ask_oldest();
                }
                if first.time > oldest {
                    return;
                }
                (waiting.pop_front(), oldest)
            };
            if let Some(garbage) = one {
                garbage.table.prune(garbage.row, oldest, guard);
                self.rows_swept.add(1);
            }
        }
    }

    /// Counts since the database was opened.
    pub fn counts(&self) -> MemoryCounts {
        MemoryCounts {
            commits: self.commits.sum(),
            aborts: self.aborts.sum(),
            write_conflicts: self.write_conflicts.sum(),
            validation_failures: self.validation_failures.sum(),
            rows_swept: self.rows_swept.sum(),
        }
    }
}

/// Gives a version that has left its chain to the epochs, and takes the nodes out that only it was found by.
///
/// # Safety
/// The version has left its row's chain, by the caller's doing alone, and the caller holds the row.
pub(crate) unsafe fn retire(table: &MemoryTable, row: Guarded<'_, Row>, old: Guarded<'_, Version>, guard: &Guard) {
    for at in 0..old.nodes().len() {
        let Some(node) = old.node(at, guard) else { return };
        if node.unshare() {
            // SAFETY: it was the last user, and so the only one to remove it.
            unsafe { table.remove_node(at, node, guard) };
        }
    }
    if !row.has_in_block(old.as_ptr()) {
        let version = old.as_ptr();
        // SAFETY: nothing leads to it but readers under guards.
        unsafe { guard.defer_unchecked(move || Version::free(NonNull::new_unchecked(version))) };
    }
}
