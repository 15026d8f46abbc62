//! What one statement reads, by tree and heap: for SET STATISTICS IO.
//!
//! ```text
//!   statement --- ReadMeter::during(call) ---> this thread's meter is set while the call runs
//!                                                |
//!   descent, heap page  --- looked(pages) -------+--> counts of (store, object)
//! ```
//! Operations of storage run to their end without a wait, so what a thread looks up during such a call is the call's. A meter is
//! asked for where pages are looked up by number, behind the counter that is added to there anyway. An insert that finds its leaf
//! or its target page where the last one left it looks nothing up, and so pays nothing.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::sync::Arc;

use pikepole_contention::sync::Mutex;

use crate::error::PageRun;
use crate::store::{Store, lock};

/// A tree or a heap among those of all stores.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ReadKey {
    /// The address of the store, which stays while anybody reads there.
    store: usize,
    object: u32,
}

impl ReadKey {
    pub(crate) fn new(store: &Store, object: u32) -> ReadKey {
        ReadKey { store: std::ptr::from_ref(store).addr(), object }
    }
}

/// What was read of trees and heaps. Pages, except for the scans.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Reads {
    /// Reads of many keys, or of a whole heap, that have begun.
    pub scans: u64,
    /// Pages looked up in the buffer pool.
    pub logical: u64,
    /// Pages that were not there and had to be read from disk.
    pub physical: u64,
    /// Pages read from disk before anybody asked for them.
    pub ahead: u64,
    /// Pages of rows that scans have gone through.
    pub passed: u64,
}

impl std::ops::AddAssign for Reads {
    fn add_assign(&mut self, other: Reads) {
        self.scans += other.scans;
        self.logical += other.logical;
        self.physical += other.physical;
        self.ahead += other.ahead;
        self.passed += other.passed;
    }
}

thread_local! {
    /// Whether the thread has a meter: what is asked first.
    static IS_METERED: Cell<bool> = const { Cell::new(false) };
    static METER: RefCell<Option<Metered>> = const { RefCell::new(None) };
    /// Pages that the thread has looked up, and those of them that were not there.
    static READ: Cell<[u64; 2]> = const { Cell::new([0; 2]) };
}

/// The pages that this thread has looked up so far, and those of them that had to be read from disk: differences of it are what was done
/// in between.
#[inline]
pub fn pages_read() -> [u64; 2] {
    READ.get()
}

#[inline]
fn note(looked: u64, missed: u64) {
    let [all, of_disk] = READ.get();
    READ.set([all.wrapping_add(looked), of_disk.wrapping_add(missed)]);
}

/// Counts what is read; clones count together, also on several threads.
#[derive(Debug, Clone, Default)]
pub struct ReadMeter(Arc<Mutex<Counts>>);

#[derive(Debug, Default)]
struct Counts {
    of: HashMap<ReadKey, (usize, Reads)>,
}

/// A thread's meter, and what the thread has read of one object and not told it yet: most reads are of the object of the one before.
struct Metered {
    meter: ReadMeter,
    pending: Option<(ReadKey, Reads)>,
}

impl Metered {
    fn add(&mut self, key: ReadKey, reads: Reads) {
        match &mut self.pending {
            Some((last, sum)) if *last == key => *sum += reads,
            _ => {
                self.tell();
                self.pending = Some((key, reads));
            }
        }
    }

    fn tell(&mut self) {
        if let Some((key, reads)) = self.pending.take() {
            self.meter.add(key, reads);
        }
    }
}

impl Drop for Metered {
    fn drop(&mut self) {
        self.tell();
    }
}

/// Puts back the meter that a thread had before.
struct Before(Option<Metered>);

impl Drop for Before {
    fn drop(&mut self) {
        set_current(self.0.take());
    }
}

fn set_current(meter: Option<Metered>) -> Option<Metered> {
    IS_METERED.set(meter.is_some());
    METER.replace(meter)
}

impl ReadMeter {
    /// Runs `call` and counts what it reads on this thread.
    pub fn during<R>(&self, call: impl FnOnce() -> R) -> R {
        let _before = Before(set_current(Some(Metered { meter: self.clone(), pending: None })));
        call()
    }

    /// Awaits `future` and counts what its polls read.
    pub async fn awaiting<F: Future>(&self, future: F) -> F::Output {
        let mut future = std::pin::pin!(future);
        std::future::poll_fn(|context| self.during(|| future.as_mut().poll(context))).await
    }

    /// The meter of the call that the thread is in: for the workers that it starts.
    pub fn current() -> Option<ReadMeter> {
        METER.with_borrow(|metered| metered.as_ref().map(|metered| metered.meter.clone()))
    }

    /// What was read of a tree or heap, and how many others were met before it; None: nothing. What other threads have read in calls that
    /// have not ended may be missing.
    pub fn of(&self, key: ReadKey) -> Option<(usize, Reads)> {
        METER.with_borrow_mut(|metered| metered.iter_mut().for_each(Metered::tell));
        lock(&self.0).of.get(&key).copied()
    }

    fn add(&self, key: ReadKey, reads: Reads) {
        let mut counts = lock(&self.0);
        let place = counts.of.len();
        counts.of.entry(key).or_insert((place, Reads::default())).1 += reads;
    }
}

#[cold]
fn count(store: &Store, object: u32, reads: Reads) {
    METER.with_borrow_mut(|metered| {
        if let Some(metered) = metered {
            metered.add(ReadKey::new(store, object), reads);
        }
    });
}

/// Pages of the object were looked up in the pool.
#[inline]
pub(crate) fn looked(store: &Store, object: u32, pages: u64) {
    note(pages, 0);
    if IS_METERED.get() {
        count(store, object, Reads { logical: pages, ..Reads::default() });
    }
}

/// A page of the object is not in the pool.
pub(crate) fn missed(store: &Store, object: u32) {
    note(0, 1);
    if IS_METERED.get() {
        count(store, object, Reads { physical: 1, ..Reads::default() });
    }
}

/// A scan of the object begins.
pub(crate) fn scans(store: &Store, object: u32) {
    if IS_METERED.get() {
        count(store, object, Reads { scans: 1, ..Reads::default() });
    }
}

/// A scan has gone through a page of the object's rows.
#[inline]
pub(crate) fn passes(store: &Store, object: u32) {
    if IS_METERED.get() {
        count(store, object, Reads { passed: 1, ..Reads::default() });
    }
}

/// A run is about to be read, whose first page was missed.
pub(crate) fn reads_ahead(store: &Store, run: PageRun) {
    if IS_METERED.get() {
        let ahead = store.lacking_of(run).iter().filter(|page| **page != run.first).count();
        count(store, run.object, Reads { ahead: ahead as u64, ..Reads::default() });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::{Fixture, context};
    use crate::{Heap, ScanRange, Tree, TreeCursor};

    const HEAP: u32 = 20;
    const TREE: u32 = 21;

    /// A heap and a tree of some pages each.
    fn filled() -> (Fixture, Heap, Tree) {
        let fixture = Fixture::new(1_024);
        let store = &fixture.store;
        let heap = Heap::open(store, HEAP);
        let tree = store.until_done(|| Tree::create(store, TREE, 8)).expect("a tree");
        let mut cursor = TreeCursor::new();
        for key in 0..700_u64 {
            store.until_done(|| heap.insert(&context(1), &[6; 1_000])).expect("room");
            store.until_done(|| tree.insert(&mut cursor, &context(1), &key.to_be_bytes(), &[5; 1_000])).expect("room");
        }
        (fixture, heap, tree)
    }

    fn read_all(store: &Store, heap: &Heap, tree: &Tree) {
        let (mut of_heap, mut of_tree) = (heap.scan(), tree.scan(ScanRange::ALL));
        while store.until_done(|| of_heap.next_batch()).expect("sound") {}
        while store.until_done(|| of_tree.next_batch()).expect("sound") {}
    }

    #[test]
    fn what_a_call_looks_up_is_counted_by_object() {
        let (fixture, heap, tree) = filled();
        let store = &*fixture.store;
        let meter = ReadMeter::default();
        let before = store.statistics().counter(pikepole_contention::Counter::PageLookups);
        meter.during(|| read_all(store, &heap, &tree));
        let looked_up = store.statistics().counter(pikepole_contention::Counter::PageLookups) - before;
        let (first, of_heap) = meter.of(heap.read_key()).expect("it was read");
        let (second, of_tree) = meter.of(tree.read_key()).expect("it was read");
        assert_eq!((first, second), (0, 1), "in the order in which they were met");
        assert_eq!(of_heap.logical + of_tree.logical, looked_up, "what the pool counts itself");
        assert_eq!(
            of_heap,
            Reads { scans: 1, logical: 88, physical: 0, ahead: 0, passed: 88 },
            "eight rows are on a page"
        );
        assert_eq!((of_tree.scans, of_tree.physical, of_tree.ahead), (1, 0, 0));
        read_all(store, &heap, &tree);
        assert_eq!(meter.of(heap.read_key()), Some((0, of_heap)), "nothing is counted outside of the call");
        meter.during(|| store.until_done(|| tree.get(&5_u64.to_be_bytes(), |_, _| ())).expect("sound"));
        let again = meter.of(tree.read_key()).expect("it was read").1;
        assert_eq!((again.scans, again.logical), (1, of_tree.logical + 2), "a root and a leaf");
    }

    #[test]
    fn pages_that_come_from_the_disk_are_told_apart() {
        let (fixture, _, tree) = filled();
        fixture.store.checkpoint_now(&|| None, &|| 1, true).expect("a checkpoint");
        fixture.log.shutdown().expect("the log is closed");
        let again = Fixture::recover(fixture.simulated.crash(1), 1_024).expect("it opens");
        let store = &again.store;
        let (heap, tree) = (Heap::open(store, HEAP), Tree::open(store, TREE, tree.root(), 8));
        let meter = ReadMeter::default();
        let before = store.data_io();
        meter.during(|| read_all(store, &heap, &tree));
        let pages = (store.data_io().read_bytes - before.read_bytes) / crate::PAGE_BYTES as u64;
        let (of_heap, of_tree) =
            (meter.of(heap.read_key()).expect("read").1, meter.of(tree.read_key()).expect("read").1);
        assert_eq!(of_heap.physical + of_heap.ahead + of_tree.physical + of_tree.ahead, pages);
        assert!(of_heap.ahead > of_heap.physical && of_tree.ahead > of_tree.physical, "{of_heap:?} {of_tree:?}");
        let meter = ReadMeter::default();
        meter.during(|| read_all(store, &heap, &tree));
        let warm = meter.of(heap.read_key()).expect("read").1;
        assert_eq!((warm.physical, warm.ahead), (0, 0), "all is in memory");
    }

    #[test]
    fn a_call_that_panics_leaves_no_meter_behind() {
        let meter = ReadMeter::default();
        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| meter.during(|| panic!("inside"))));
        assert!(panicked.is_err() && ReadMeter::current().is_none() && !IS_METERED.get());
    }
}
