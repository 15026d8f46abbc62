//! Reading pages before a scan asks for them.
//!
//! A scan that lacks a page asks for those behind it as well: each time that it goes on where the last pages ended it asks for
//! twice as many, up to [`RUN_PAGES_MAX`]. Pages that belong to the object and follow each other in the file are read by one request of
//! the device, straight into their frames; the order of the file is that of a heap, and of a tree whose keys have come in order.

use pikepole_contention::Counter;

use crate::error::{Need, PageId, PageRun, StorageError};
use crate::meter;
use crate::pool::FreeFrame;
use crate::store::Store;

/// Most pages of one run: 512 KB.
const RUN_PAGES_MAX: u32 = 64;

/// How far a scan reads ahead.
pub(crate) struct ReadAhead {
    object: u32,
    /// Pages of the first run.
    least: u32,
    /// Pages of the last run, and the page behind it.
    pages: u32,
    next: PageId,
    /// The last page that was lacking was elsewhere, as inner pages of a tree are.
    strayed: bool,
}

impl ReadAhead {
    pub fn new(object: u32, least: u32) -> ReadAhead {
        ReadAhead { object, least, pages: 0, next: PageId(0), strayed: false }
    }

    /// The need of a scan that lacks this page.
    pub fn need(&mut self, store: &Store, first: PageId) -> Need {
        let goes_on = self.pages > 0 && (self.next.0..=self.next.0 + RUN_PAGES_MAX).contains(&first.0);
        let count = if goes_on { (self.pages * 2).min(RUN_PAGES_MAX) } else { self.least };
        self.strayed = !goes_on && !self.strayed && self.pages > 0;
        if !self.strayed {
            (self.pages, self.next) = (count, PageId(first.0 + count));
        }
        let run = PageRun { object: self.object, first, count };
        meter::reads_ahead(store, run);
        Need::Pages(run)
    }
}

impl Store {
    /// The pages of a run that are to be read: those that are used and not in the pool. There are no more than half of the free
    /// frames, since others need some too.
    pub(crate) fn lacking_of(&self, run: PageRun) -> Vec<PageId> {
        let count = run.count.min((self.pool.free_frames() / 2) as u32);
        let mut pages = self.space.lock().used_run(run.object, run.first, count);
        pages.retain(|&page| self.pool.lookup(page).is_none());
        pages
    }

    /// Brings a run's first page into the pool, and of the others those that there are free frames for. Blocks.
    pub(crate) fn load_run(&self, run: PageRun) -> Result<(), StorageError> {
        let pages = self.begin_loads(self.lacking_of(run));
        for together in pages.chunk_by(|page, next| page.0 + 1 == next.0) {
            let frames: Vec<FreeFrame<'_>> = together.iter().map_while(|_| self.pool.take_free().ok()).collect();
            let read = frames.len() as u64;
            // What cannot be read is not missed before somebody asks for it, who is told then.
            if read == 0 || self.read_frames(together[0], frames).is_err() {
                break;
            }
            self.pool.statistics.add(Counter::ReadaheadPages, read - u64::from(together[0] == run.first));
        }
        self.end_load(&pages);
        self.load_page(run.first)
    }
}

#[cfg(test)]
mod tests {
    use pikepole_machine::Operation;

    use super::*;
    use crate::test_support::{Fixture, context};
    use crate::{Heap, ScanRange, Tree, TreeCursor};

    const HEAP: u32 = 20;
    const TREE: u32 = 21;
    /// Rows of each, seven of which fill a page.
    const ROWS: u64 = 1_400;
    const HEAP_ROWS: usize = 1_099;

    /// A heap and a tree that grew side by side, each with extents that are not together everywhere; closed in order.
    fn filled() -> (Fixture, Tree) {
        let fixture = Fixture::new(1_024);
        let store = &fixture.store;
        let heap = Heap::open(store, HEAP);
        let tree = store.until_done(|| Tree::create(store, TREE, 8)).expect("a tree");
        let mut cursor = TreeCursor::new();
        for key in 0..ROWS {
            if key % 200 < 100 || key > ROWS / 2 {
                store.until_done(|| heap.insert(&context(1), &[6; 1_000])).expect("room");
            }
            store.until_done(|| tree.insert(&mut cursor, &context(1), &key.to_be_bytes(), &[5; 1_000])).expect("room");
        }
        store.checkpoint_now(&|| None, &|| 1, true).expect("a checkpoint");
        fixture.log.shutdown().expect("the log is closed");
        (fixture, tree)
    }

    fn reopened(fixture: &Fixture, frames: usize) -> Fixture {
        Fixture::recover(fixture.simulated.crash(1), frames).expect("it opens")
    }

    fn heap_rows(fixture: &Fixture) -> Result<usize, StorageError> {
        let (mut scan, mut rows) = (Heap::open(&fixture.store, HEAP).scan(), 0);
        while fixture.store.until_done(|| scan.next_batch())? {
            rows += scan.rows().count();
        }
        Ok(rows)
    }

    fn tree_rows(fixture: &Fixture, tree: &Tree) -> Result<usize, StorageError> {
        let (mut scan, mut rows) = (Tree::open(&fixture.store, TREE, tree.root(), 8).scan(ScanRange::ALL), 0);
        while fixture.store.until_done(|| scan.next_batch())? {
            rows += scan.len();
        }
        Ok(rows)
    }

    #[test]
    fn scans_read_many_pages_at_a_time() {
        let (fixture, tree) = filled();
        for scan in [&|f: &Fixture| heap_rows(f), &|f: &Fixture| tree_rows(f, &tree)] as [&dyn Fn(&Fixture) -> _; 2] {
            let again = reopened(&fixture, 1_024);
            let before = again.store.data_io();
            let rows: Result<usize, StorageError> = scan(&again);
            assert!(matches!(rows, Ok(HEAP_ROWS | 1_400)), "{rows:?}");
            let after = again.store.data_io();
            let (reads, pages) = (after.reads - before.reads, (after.read_bytes - before.read_bytes) / 8_192);
            assert!(pages > 130 && reads * 5 < pages, "{pages} pages in {reads} reads");
            let ahead = again.store.statistics().counter(Counter::ReadaheadPages);
            assert!(ahead + reads >= pages && ahead < pages, "{ahead} of {pages} pages ahead in {reads} reads");
            let rows: Result<usize, StorageError> = scan(&again);
            assert!(matches!(rows, Ok(HEAP_ROWS | 1_400)), "{rows:?}");
            assert_eq!(again.store.data_io().reads, after.reads, "all is in memory");
        }
    }

    #[test]
    fn a_pool_that_is_smaller_than_the_table_serves() {
        let (fixture, tree) = filled();
        let again = reopened(&fixture, 64);
        for _ in 0..3 {
            assert_eq!(heap_rows(&again).expect("sound"), HEAP_ROWS);
            assert_eq!(tree_rows(&again, &tree).expect("sound"), ROWS as usize);
        }
    }

    #[test]
    fn a_read_that_fails_ahead_is_made_again_when_its_page_is_asked_for() {
        let (fixture, tree) = filled();
        let reads = {
            let again = reopened(&fixture, 1_024);
            let before = again.simulated.count(Operation::Read);
            assert_eq!(tree_rows(&again, &tree).expect("sound"), ROWS as usize);
            again.simulated.count(Operation::Read) - before
        };
        for nth in (1..=reads).step_by(7) {
            let again = reopened(&fixture, 1_024);
            again.simulated.fail_nth(Operation::Read, nth);
            assert_eq!(tree_rows(&again, &tree).expect("the second time"), ROWS as usize, "read {nth}");
        }
    }
}
