//! The snapshots in use of a database's tables in memory, and what waits to be freed.

use std::collections::VecDeque;
use std::ptr::NonNull;

use crossbeam_epoch::Guard;
use pikepole_contention::fault::planted;
use pikepole_contention::sync::atomic::{AtomicU64, Ordering};
use pikepole_contention::sync::{Arc, Mutex, MutexGuard};
use pikepole_contention::{CachePadded, SlotCounter, SpinlockClass, Spinner, Statistics, slot};

use crate::clock::{Clock, Timestamps};
use crate::guarded::Guarded;
use crate::row::{Row, Version};
use crate::table::MemoryTable;
use crate::transaction::MemoryTransaction;

/// Queues of garbage: threads put it into the one of their slot.
const QUEUES: usize = 64;
/// Rows that a transaction frees when it ends, beside twice as many as it leaves.
const ROWS_A_TRANSACTION: usize = 32;
/// Rows that a sweep frees without looking at the queue again.
const ROWS_AT_ONCE: usize = 1024;
/// Rows whose memory the epochs free in one step; and steps that free what the last rows have left.
const ROWS_A_STEP: usize = 64;
const STEPS_TO_END: usize = 3;
/// So long a queue asks again which snapshots are in use.
const ROWS_TO_ASK: usize = if cfg!(shuttle) { 1 } else { 64 };

/// A session's snapshot: its time, or [`NO_SNAPSHOT`].
pub(crate) type Snapshot = CachePadded<AtomicU64>;

pub(crate) const NO_SNAPSHOT: u64 = u64::MAX;

/// A row with versions that only snapshots before a time can see. It holds the row.
pub(crate) struct Garbage {
    pub time: u64,
    pub table: NonNull<MemoryTable>,
    pub row: NonNull<Row>,
}

/// The garbage of some threads, and the tables that it is of.
#[derive(Default)]
struct Queue {
    waiting: VecDeque<Garbage>,
    /// With the number of their rows that wait, or are being freed.
    tables: Vec<(Arc<MemoryTable>, usize)>,
}

// SAFETY: the rows are held by their garbage, the tables are here, and all that threads do with both is made for many of them.
unsafe impl Send for Queue {}

impl Queue {
    /// Takes garbage of tables that the caller has.
    fn push(&mut self, one: Garbage, tables: &[Arc<MemoryTable>]) {
        let is_its = |table: &Arc<MemoryTable>| std::ptr::eq(Arc::as_ptr(table), one.table.as_ptr());
        if let Some((_, rows)) = self.tables.iter_mut().find(|(table, _)| is_its(table)) {
            *rows += 1;
        } else if let Some(table) = tables.iter().find(|table| is_its(table)) {
            self.tables.push((table.clone(), 1));
        }
        self.waiting.push_back(one);
    }

    /// The rows were freed of versions; the tables of which none waits any more.
    fn let_go(&mut self, rows: &[Garbage]) -> Vec<Arc<MemoryTable>> {
        for one in rows {
            let of_table =
                |(table, _): &&mut (Arc<MemoryTable>, usize)| std::ptr::eq(Arc::as_ptr(table), one.table.as_ptr());
            if let Some((_, rows)) = self.tables.iter_mut().find(of_table) {
                *rows -= 1;
            }
        }
        if self.waiting.is_empty() && self.waiting.capacity() > ROWS_AT_ONCE {
            self.waiting = VecDeque::new();
        }
        if self.tables.iter().all(|(_, rows)| *rows > 0) {
            return Vec::new();
        }
        self.tables.extract_if(.., |(_, rows)| *rows == 0).map(|(table, _)| table).collect()
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        let guard = crossbeam_epoch::pin();
        for one in &self.waiting {
            // SAFETY: the garbage has held it.
            unsafe { Row::release(one.row, &guard) };
        }
    }
}

/// Counts of the transactions of one database in its tables in memory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MemoryCounts {
    /// Transactions that have committed changes.
    pub commits: u64,
    /// Transactions that were rolled back with changes, or after one was refused.
    pub aborts: u64,
    /// Changes of rows that another transaction had changed.
    pub write_conflicts: u64,
    /// Transactions that failed because what they had read was changed, or rows had come to it.
    pub validation_failures: u64,
    /// Keys that were there already.
    pub unique_violations: u64,
    /// Transactions that have ended without a change, but those of the aborts.
    pub reads: u64,
    /// Of the aborts, those of transactions that had met a conflict or had failed because of what they had read.
    pub system_aborts: u64,
    /// Rollbacks to a point within a transaction that have undone something.
    pub partial_rollbacks: u64,
    /// Rows that have waited to be freed of versions, and were.
    pub rows_swept: u64,
    /// Of these, those that no transaction freed at its end, but a sweep.
    pub rows_swept_aside: u64,
}

/// The memory of the rows that wait to be freed of versions: of the lists that they are in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct GarbageMemory {
    /// Rows that wait.
    pub rows: u64,
    /// Bytes of their places.
    pub used_bytes: u64,
    /// Bytes of the lists.
    pub allocated_bytes: u64,
}

/// A transaction that has a snapshot of the tables in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpenMemoryTransaction {
    /// Its session, as [`MemoryTransactions::session_of`] has got it.
    pub session_id: i32,
    /// The time of its snapshot.
    pub begin: u64,
}

/// The transactions of a database in its tables in memory.
pub struct MemoryTransactions {
    statistics: Arc<Statistics>,
    pub(crate) clock: Clock,
    /// With the sessions that they are of.
    snapshots: Mutex<Vec<(i32, Arc<Snapshot>)>>,
    /// No snapshot is older: too low at worst.
    oldest: AtomicU64,
    /// The highest position in the log of a deletion whose row is in no index any more.
    removed: AtomicU64,
    garbage: [CachePadded<Mutex<Queue>>; QUEUES],
    pub(crate) commits: SlotCounter,
    pub(crate) aborts: SlotCounter,
    pub(crate) write_conflicts: SlotCounter,
    pub(crate) validation_failures: SlotCounter,
    pub(crate) unique_violations: SlotCounter,
    pub(crate) reads: SlotCounter,
    pub(crate) system_aborts: SlotCounter,
    pub(crate) partial_rollbacks: SlotCounter,
    rows_swept: SlotCounter,
    rows_swept_aside: SlotCounter,
}

impl Default for MemoryTransactions {
    fn default() -> Self {
        Self::new(&Statistics::new())
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

impl MemoryTransactions {
    /// None so far, whose waits for each other `statistics` counts.
    pub fn new(statistics: &Arc<Statistics>) -> Self {
        Self {
            statistics: statistics.clone(),
            clock: Clock::default(),
            snapshots: Mutex::default(),
            oldest: AtomicU64::new(0),
            removed: AtomicU64::new(0),
            garbage: std::array::from_fn(|_| CachePadded::default()),
            commits: SlotCounter::new(),
            aborts: SlotCounter::new(),
            write_conflicts: SlotCounter::new(),
            validation_failures: SlotCounter::new(),
            unique_violations: SlotCounter::new(),
            reads: SlotCounter::new(),
            system_aborts: SlotCounter::new(),
            partial_rollbacks: SlotCounter::new(),
            rows_swept: SlotCounter::new(),
            rows_swept_aside: SlotCounter::new(),
        }
    }

    /// Counts a wait for a transaction that was committing.
    #[cold]
    pub(crate) fn count_wait(&self, spinner: &Spinner) {
        self.statistics.spinlock_collides(SpinlockClass::XTP_COMMIT);
        self.statistics.spinlock_spun(SpinlockClass::XTP_COMMIT, spinner);
    }

    /// The transaction of a session without a number, which has not begun.
    pub fn session(self: &Arc<Self>) -> MemoryTransaction {
        self.session_of(0)
    }

    /// The transaction of the session of this number, which has not begun.
    pub fn session_of(self: &Arc<Self>, session_id: i32) -> MemoryTransaction {
        let snapshot = Arc::new(Snapshot::new(AtomicU64::new(NO_SNAPSHOT)));
        lock(&self.snapshots).push((session_id, snapshot.clone()));
        MemoryTransaction::new(self.clone(), snapshot)
    }

    /// The position in the log behind which rows were deleted that no index leads to any more.
    pub(crate) fn removed(&self) -> u64 {
        // Relaxed: who has found a key free came behind what `prune` wrote there.
        self.removed.load(Ordering::Relaxed)
    }

    /// The present time: that of the last commit, or later.
    pub fn now(&self) -> u64 {
        self.clock.now()
    }

    /// All commits from now on have a later time: those up to `time` were made before a restart.
    pub fn begin_after(&self, time: u64) {
        self.clock.change(self.clock.way(), time);
    }

    /// The way to the times of commits and snapshots.
    pub fn timestamps(&self) -> Timestamps {
        self.clock.way()
    }

    /// Changes the way to times, while transactions run; one that is not supported by this processor changes nothing.
    pub fn set_timestamps(&self, to: Timestamps) {
        if to.is_supported() && to != self.clock.way() {
            self.clock.change(to, 0);
        }
    }

    /// The transactions that have a snapshot.
    pub fn open(&self) -> Vec<OpenMemoryTransaction> {
        let snapshots = lock(&self.snapshots);
        let open = |(session_id, snapshot): &(i32, Arc<Snapshot>)| {
            let begin = snapshot.load(Ordering::Relaxed);
            (begin != NO_SNAPSHOT).then_some(OpenMemoryTransaction { session_id: *session_id, begin })
        };
        snapshots.iter().filter_map(open).collect()
    }

    /// The memory of what waits to be freed.
    pub fn garbage(&self) -> GarbageMemory {
        let mut memory = GarbageMemory::default();
        let bytes = |places: usize| (places * size_of::<Garbage>()) as u64;
        for queue in &self.garbage {
            let waiting = &lock(queue).waiting;
            memory.rows += waiting.len() as u64;
            memory.used_bytes += bytes(waiting.len());
            memory.allocated_bytes += bytes(waiting.capacity());
        }
        memory
    }

    pub(crate) fn forget(&self, snapshot: &Arc<Snapshot>) {
        lock(&self.snapshots).retain(|(_, other)| !Arc::ptr_eq(other, snapshot));
    }

    /// Takes a snapshot: no version goes that it sees, until it is given back. `last` is a time that the session has had before.
    pub(crate) fn take(&self, snapshot: &Snapshot, last: u64) -> u64 {
        if planted("memory: a snapshot is taken before it is published") {
            let time = self.clock.now();
            pikepole_contention::sync::hint::spin_loop();
            snapshot.store(time, Ordering::SeqCst);
            return time;
        }
        snapshot.store(last, Ordering::SeqCst);
        // Who has not seen the store above has taken its time before: this one is not below it.
        let time = self.clock.now();
        // Who sees this one in place of the other knows that nothing between is wanted.
        snapshot.store(time, Ordering::Release);
        time
    }

    /// The time of the oldest snapshot in use, or the present.
    fn ask_oldest(&self) -> u64 {
        let now = self.clock.now();
        let snapshots = lock(&self.snapshots);
        let oldest = snapshots.iter().map(|(_, snapshot)| snapshot.load(Ordering::SeqCst)).min();
        drop(snapshots);
        let oldest = oldest.map_or(now, |oldest| oldest.min(now));
        self.oldest.fetch_max(oldest, Ordering::Relaxed);
        oldest
    }

    /// Keeps garbage until no snapshot sees it, and frees some rows of the calling thread's queue that none sees: more than come to it,
    /// so that queues shrink. `rows` is empty then.
    pub(crate) fn leave(&self, rows: &mut Vec<Garbage>, tables: &[Arc<MemoryTable>]) {
        let rows_max = ROWS_A_TRANSACTION + 2 * rows.len();
        let queue = &self.garbage[slot::try_current().unwrap_or(0) % QUEUES];
        let mut waiting = lock(queue);
        for one in rows.drain(..) {
            waiting.push(one, tables);
        }
        self.sweep_queue(queue, waiting, rows, rows_max);
    }

    /// Frees all that no snapshot sees; the rows that wait still.
    pub fn sweep(&self) -> usize {
        self.ask_oldest();
        let mut rows = Vec::new();
        for queue in &self.garbage {
            loop {
                let swept = self.sweep_queue(queue, lock(queue), &mut rows, ROWS_AT_ONCE);
                self.rows_swept_aside.add(swept as u64);
                free_left(swept);
                if swept < ROWS_AT_ONCE {
                    break;
                }
            }
        }
        free_left(STEPS_TO_END * ROWS_A_STEP);
        self.garbage.iter().map(|queue| lock(queue).waiting.len()).sum()
    }

    /// Frees rows of a queue that no snapshot sees; their number.
    fn sweep_queue(
        &self,
        queue: &Mutex<Queue>,
        mut waiting: MutexGuard<'_, Queue>,
        rows: &mut Vec<Garbage>,
        rows_max: usize,
    ) -> usize {
        let Some(first) = waiting.waiting.front() else { return 0 };
        let mut oldest = self.oldest.load(Ordering::Relaxed);
        if first.time > oldest && waiting.waiting.len() >= ROWS_TO_ASK {
            oldest = self.ask_oldest();
        }
        while rows.len() < rows_max
            && let Some(one) = waiting.waiting.pop_front_if(|first| first.time <= oldest)
        {
            rows.push(one);
        }
        drop(waiting);
        if rows.is_empty() {
            return 0;
        }
        let guard = crossbeam_epoch::pin();
        for one in &*rows {
            // SAFETY: the queue keeps the table until `let_go` below; the garbage has held the row.
            unsafe {
                one.table.as_ref().prune(one.row, oldest, &self.removed, &guard);
                Row::release(one.row, &guard);
            }
        }
        drop(guard);
        let tables = lock(queue).let_go(rows);
        // The last tables of a kind go without the lock.
        drop(tables);
        let swept = rows.len();
        self.rows_swept.add(swept as u64);
        rows.clear();
        swept
    }

    /// Counts since the database was opened.
    pub fn counts(&self) -> MemoryCounts {
        MemoryCounts {
            commits: self.commits.sum(),
            aborts: self.aborts.sum(),
            write_conflicts: self.write_conflicts.sum(),
            validation_failures: self.validation_failures.sum(),
            unique_violations: self.unique_violations.sum(),
            reads: self.reads.sum(),
            system_aborts: self.system_aborts.sum(),
            partial_rollbacks: self.partial_rollbacks.sum(),
            rows_swept: self.rows_swept.sum(),
            rows_swept_aside: self.rows_swept_aside.sum(),
        }
    }
}

/// Has the epochs go on and free what so many swept rows have left: by themselves they free some with every hundredth guard, which is too
/// few behind a statement that has changed many rows.
pub(crate) fn free_left(rows: usize) {
    for _ in 0..rows / ROWS_A_STEP {
        crossbeam_epoch::pin().flush();
    }
}

/// Gives a version that has left its chain to the epochs, and takes the nodes out that it alone was found by: not `beside`, which is the
/// version that was before it when it goes with all older ones, and the one behind it when it is taken off the head.
///
/// # Safety
/// The version has left its row's chain, by the caller's doing alone, and the caller holds the row.
pub(crate) unsafe fn retire(
    table: &MemoryTable,
    row: Guarded<'_, Row>,
    old: Guarded<'_, Version>,
    beside: Option<Guarded<'_, Version>>,
    guard: &Guard,
) {
    for at in 0..old.nodes().len() {
        let Some(node) = old.node(at, guard) else { return };
        if beside.is_none_or(|beside| !beside.is_found_by(node, at)) {
            // SAFETY: versions that are found by a node are beside each other, so no version that stays is, and this is the one of them at that
            // end of the chain from which they go.
            unsafe { table.remove_node(at, node, guard) };
        }
    }
    if !row.has_in_block(old.as_ptr()) {
        let version = old.as_ptr();
        // SAFETY: nothing leads to it but readers under guards.
        unsafe { guard.defer_unchecked(move || Version::free(NonNull::new_unchecked(version))) };
    }
}
