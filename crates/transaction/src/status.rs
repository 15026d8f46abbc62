//! What became of each transaction: the status words.
//!
//! A row carries the id of its last writer, so every reader and writer that meets a row asks here what that id means. The
//! answer must cost a compare for old rows, a few loads for young ones, and one store on a line of its own for the writer.
//!
//! ```text
//!   id = range (id / 1024) . entry (id % 1024)
//!
//!   directory (ring of places)          pages (pool, never freed, reused)
//!   [range % N] -> Place { range, page ------> [word; 1024] }
//!                          uniform      one word for all ids of the range, once that says the same to everybody
//!   spilled: ranges pushed out of the ring while an old snapshot still needs them
//! ```
//!
//! # A word
//! | bits | means | who moves it |
//! |---|---|---|
//! | 0 | active (or not begun) | initial |
//! | WAITED | active, somebody sleeps until its end | a waiter, under the lock of its waiter shard |
//! | COMMITTING (+ WAITED) | its commit record is being reserved | the owner |
//! | ENDED + lsn | committed at lsn | the owner |
//! | ENDED + ABORTED + lsn | all its changes were undone before lsn | the owner |
//!
//! # Invariants
//! - COMMITTING is stored before the commit record is reserved, ENDED after. A snapshot is a reading of the log's clock
//!   (`Log::now`), so a reader whose snapshot is at or above a commit sees COMMITTING at least: whoever it still sees as
//!   active commits above the snapshot and is rightly skipped.
//! - ABORTED is stored after the last change was undone: whoever sees it and reads the row again does not find the id.
//! - Ids below `floor`, and ids whose range the ring has moved past without spilling it, ended at or below every snapshot
//!   there is or will be.
//! - A range takes one uniform word only when no snapshot lies between its first and its last end.

use std::collections::{BTreeMap, VecDeque};

use pikepole_contention::sync::OnceLock;
use pikepole_contention::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering, fence};
use pikepole_contention::sync::{Mutex, MutexGuard};
use pikepole_log::Lsn;

use crate::id::{RANGE_IDS, TransactionId};

const ENDED: u64 = 1;
const ABORTED: u64 = 2;
const WAITED: u64 = 4;
const COMMITTING: u64 = 8;
const LSN_SHIFT: u32 = 4;

/// The word of an id that everybody sees as committed long ago.
const VISIBLE_TO_ALL: u64 = ENDED;

/// Places of the ring, and so the most ranges that can be looked up without the spilled map.
const PLACES_MAX: usize = 1 << 16;

/// What became of a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// It runs: its rows are locked.
    Active,
    /// Its commit record is being reserved at this moment.
    Committing,
    /// Committed by a record that ends here.
    Committed(Lsn),
    /// Rolled back; none of its rows is left.
    Aborted,
}

impl Status {
    fn of(word: u64) -> Status {
        if word & ENDED != 0 {
            if word & ABORTED != 0 { Status::Aborted } else { Status::Committed(Lsn(word >> LSN_SHIFT)) }
        } else if word & COMMITTING != 0 {
            Status::Committing
        } else {
            Status::Active
        }
    }
}

/// Where the word of one id is: kept by its transaction so that its own changes of state look nothing up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct WordPlace {
    page: u32,
    entry: u32,
}

type Page = Box<[AtomicU64]>;

#[derive(Default)]
struct Place {
    /// Even: stable; odd: being changed. Readers take their answer only between two equal even reads.
    version: AtomicU64,
    range: AtomicU64,
    /// Index of the page plus one; zero: the uniform word speaks for all.
    page: AtomicU32,
    uniform: AtomicU64,
}

struct RangeInUse {
    range: u64,
    page: Option<u32>,
    /// Its ids have all been dealt.
    exhausted: bool,
}

struct Upkeep {
    in_use: VecDeque<RangeInUse>,
    pages_free: Vec<u32>,
    pages_made: u32,
    spilled: BTreeMap<u64, u64>,
}

/// The snapshots a sweep has to respect.
#[derive(Debug, Clone)]
pub(crate) struct SnapshotsSeen {
    /// No snapshot below this that is not in `held` exists or will exist.
    pub horizon: Lsn,
    /// The snapshots in use below the horizon, in any order.
    pub held: Vec<Lsn>,
}

impl SnapshotsSeen {
    fn oldest(&self) -> Lsn {
        self.held.iter().copied().min().unwrap_or(self.horizon)
    }
}

/// The status words of one database.
pub(crate) struct StatusTable {
    places: Box<[Place]>,
    pages: Box<[OnceLock<Page>]>,
    /// Ids below are visible to all.
    floor: AtomicU64,
    /// How many ranges `Upkeep::spilled` holds; zero spares readers the lock.
    spilled_count: AtomicUsize,
    upkeep: Mutex<Upkeep>,
}

impl StatusTable {
    /// A table in which every id below `first` is visible to all. `first` is the start of a range.
    pub fn new(first: TransactionId) -> Self {
        Self::with_places(first, PLACES_MAX)
    }

    fn with_places(first: TransactionId, places: usize) -> Self {
        assert!(places.is_power_of_two() && first.0.is_multiple_of(RANGE_IDS));
        Self {
            places: (0..places).map(|_| Place::default()).collect(),
            pages: (0..places).map(|_| OnceLock::new()).collect(),
            floor: AtomicU64::new(first.0),
            spilled_count: AtomicUsize::new(0),
            upkeep: Mutex::new(Upkeep {
                in_use: VecDeque::new(),
                pages_free: Vec::new(),
                pages_made: 0,
                spilled: BTreeMap::new(),
            }),
        }
    }

    fn upkeep(&self) -> MutexGuard<'_, Upkeep> {
        self.upkeep.lock().unwrap_or_else(|e| e.into_inner())
    }

    fn place(&self, range: u64) -> &Place {
        &self.places[(range as usize) & (self.places.len() - 1)]
    }

    fn page(&self, index: u32) -> &[AtomicU64] {
        self.pages[index as usize].get().expect("a page is made before its index is published")
    }

    fn word_at(&self, place: WordPlace) -> &AtomicU64 {
        &self.page(place.page)[place.entry as usize]
    }

    /// Takes the next range number from `next` and makes room for its ids. Numbers whose place still serves an older range
    /// with open transactions are passed over. The number is taken under the upkeep lock, so that no sweep can raise the
    /// floor over a range that is about to be opened.
    pub fn open_range(&self, next: &AtomicU64) -> u64 {
        let mut upkeep = self.upkeep();
        loop {
            // SeqCst: a checkpoint reads this after its begin record, see `Dealer::above_all`.
            let range = next.fetch_add(1, Ordering::SeqCst);
            let place = self.place(range);
            let former = place.range.load(Ordering::Relaxed);
            if let Some(at) = upkeep.in_use.iter().position(|r| r.range == former) {
                if upkeep.in_use[at].page.is_some() {
                    continue;
                }
                let uniform = place.uniform.load(Ordering::Relaxed);
                upkeep.spilled.insert(former, uniform);
                upkeep.in_use.remove(at);
                // Release pairs with the Acquire in `word_of_old`: who finds the place reused finds the map filled.
                self.spilled_count.store(upkeep.spilled.len(), Ordering::Release);
            }
            let page = self.empty_page(&mut upkeep);
            self.publish(place, range, Some(page), 0);
            upkeep.in_use.push_back(RangeInUse { range, page: Some(page), exhausted: false });
            return range;
        }
    }

    fn empty_page(&self, upkeep: &mut Upkeep) -> u32 {
        if let Some(page) = upkeep.pages_free.pop() {
            for word in self.page(page) {
                word.store(0, Ordering::Relaxed);
            }
            return page;
        }
        // A place has one page at most, so there are never more pages than places.
        let page = upkeep.pages_made;
        upkeep.pages_made += 1;
        self.pages[page as usize].get_or_init(|| (0..RANGE_IDS).map(|_| AtomicU64::new(0)).collect());
        page
    }

    /// The last id of `range` was dealt.
    pub fn exhausted(&self, range: u64) {
        let mut upkeep = self.upkeep();
        if let Some(r) = upkeep.in_use.iter_mut().find(|r| r.range == range) {
            r.exhausted = true;
        }
    }

    /// Changes a place under the upkeep lock, so that there is one writer.
    fn publish(&self, place: &Place, range: u64, page: Option<u32>, uniform: u64) {
        let version = place.version.load(Ordering::Relaxed);
        place.version.store(version + 1, Ordering::Relaxed);
        // Pairs with the Acquire fence in `word`: a reader that saw any of the stores below sees the odd version too.
        fence(Ordering::Release);
        place.range.store(range, Ordering::Relaxed);
        place.page.store(page.map_or(0, |p| p + 1), Ordering::Relaxed);
        place.uniform.store(uniform, Ordering::Relaxed);
        // Release pairs with the Acquire load of `version` in `word`.
        place.version.store(version + 2, Ordering::Release);
    }

    /// Where the word of a dealt, not yet ended id is.
    pub fn locate(&self, id: TransactionId) -> WordPlace {
        let place = self.place(id.range());
        assert_eq!(place.range.load(Ordering::Relaxed), id.range(), "a range stays open until its last id has ended");
        let page = place.page.load(Ordering::Relaxed);
        assert!(page > 0, "an open range has a page");
        WordPlace { page: page - 1, entry: id.entry() }
    }

    fn word(&self, id: TransactionId) -> u64 {
        // Relaxed: the answer depends on nothing that was written before the floor moved.
        if id.0 < self.floor.load(Ordering::Relaxed) {
            return VISIBLE_TO_ALL;
        }
        let place = self.place(id.range());
        loop {
            // Acquire pairs with the closing Release store in `publish`.
            let version = place.version.load(Ordering::Acquire);
            if version & 1 == 1 {
                pikepole_contention::sync::hint::spin_loop();
                continue;
            }
            let range = place.range.load(Ordering::Relaxed);
            let page = place.page.load(Ordering::Relaxed);
            let word = match page {
                0 => place.uniform.load(Ordering::Relaxed),
                // Acquire pairs with the Release of `end`: what the transaction wrote is there for who sees it ended.
                p => self.page(p - 1)[id.entry() as usize].load(Ordering::Acquire),
            };
            // Pairs with the Release fence in `publish`.
            fence(Ordering::Acquire);
            if place.version.load(Ordering::Relaxed) == version {
                return if range == id.range() { word } else { self.word_of_old(id) };
            }
        }
    }

    #[cold]
    fn word_of_old(&self, id: TransactionId) -> u64 {
        // Acquire pairs with the Release in `open_range`.
        if self.spilled_count.load(Ordering::Acquire) == 0 {
            return VISIBLE_TO_ALL;
        }
        let upkeep = self.upkeep();
        upkeep.spilled.get(&id.range()).copied().unwrap_or(VISIBLE_TO_ALL)
    }

    /// What became of `id`.
    ///
    /// Of an id that ended long ago it may say "committed" although it was rolled back; then no row carries it any more, so
    /// a writer that acts on the answer reads the row again first.
    pub fn status(&self, id: TransactionId) -> Status {
        Status::of(self.word(id))
    }

    /// Where `id` ended; None while it has not.
    pub fn ended_at(&self, id: TransactionId) -> Option<Lsn> {
        let word = self.word(id);
        (word & ENDED != 0).then_some(Lsn(word >> LSN_SHIFT))
    }

    /// The owner is about to reserve its one and only record. Nobody can wait for it: no row carries its id yet.
    pub fn committing_single(&self, place: WordPlace) {
        // Release, though the reservation's own Release, which the clock's Acquire reads, would be enough.
        self.word_at(place).store(COMMITTING, Ordering::Release);
    }

    /// The single record was not placed: active again, with no row.
    pub fn not_committing_single(&self, place: WordPlace) {
        self.word_at(place).store(0, Ordering::Release);
    }

    /// The single record was reserved and ends at `lsn`. Waiters never mark a committing word, so a plain store loses none.
    pub fn committed_single(&self, place: WordPlace, lsn: Lsn) {
        // Release pairs with the Acquire of the page's word in `word`.
        self.word_at(place).store(ENDED | (lsn.0 << LSN_SHIFT), Ordering::Release);
    }

    /// The owner is about to reserve its commit record.
    pub fn committing(&self, place: WordPlace) {
        // Release as in `committing_single`.
        self.word_at(place).fetch_or(COMMITTING, Ordering::Release);
    }

    /// The commit record found no room: active again.
    pub fn not_committing(&self, place: WordPlace) {
        self.word_at(place).fetch_and(!COMMITTING, Ordering::Release);
    }

    /// The transaction ended. True: somebody waits for it and must be woken.
    pub fn end(&self, place: WordPlace, lsn: Lsn, committed: bool) -> bool {
        let word = ENDED | (lsn.0 << LSN_SHIFT) | if committed { 0 } else { ABORTED };
        // AcqRel: Release pairs with the Acquire in `word`; Acquire pairs with `mark_waited`, whose waker is then found.
        let former = self.word_at(place).swap(word, Ordering::AcqRel);
        assert_eq!(former & ENDED, 0, "a transaction ends once");
        former & WAITED != 0
    }

    /// Marks an active id as waited for. False: it is not active now; look at its status again. The caller holds the lock
    /// under which the end looks for wakers.
    pub fn mark_waited(&self, id: TransactionId) -> bool {
        if id.0 < self.floor.load(Ordering::Relaxed) {
            return false;
        }
        let place = self.place(id.range());
        // The loads of `version` and the fence pair with `publish` as in `word`. If the page was given to another range
        // in between, the mark is on a stranger's word, which costs that one a look for wakers that are not there; the
        // caller learns of it by the version and asks again.
        let version = place.version.load(Ordering::Acquire);
        let page = place.page.load(Ordering::Relaxed);
        let range = place.range.load(Ordering::Relaxed);
        if version & 1 == 1 || range != id.range() || page == 0 {
            return false;
        }
        let word = &self.page(page - 1)[id.entry() as usize];
        // AcqRel pairs with the swap in `end`.
        let marked = match word.compare_exchange(0, WAITED, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => true,
            Err(found) => found == WAITED,
        };
        fence(Ordering::Acquire);
        marked && place.version.load(Ordering::Relaxed) == version
    }

    /// Gives back the pages of ranges whose ids have ended: a range below every snapshot disappears, one that looks the
    /// same from every snapshot keeps one word. Costs a look at each word of the ranges in use.
    pub fn sweep(&self, snapshots: &SnapshotsSeen) {
        let oldest = snapshots.oldest();
        let mut upkeep = self.upkeep();
        let Upkeep { in_use, pages_free, spilled, .. } = &mut *upkeep;
        in_use.retain_mut(|range| {
            let place = self.place(range.range);
            let Some(page) = range.page else {
                return place.uniform.load(Ordering::Relaxed) >> LSN_SHIFT > oldest.0;
            };
            let Some((first, last)) = self.ends(range, page) else {
                return true;
            };
            if last > snapshots.horizon {
                return true;
            }
            if snapshots.held.iter().any(|s| *s >= first && *s < last) {
                return true;
            }
            let uniform = ENDED | (last.0 << LSN_SHIFT);
            self.publish(place, range.range, None, uniform);
            pages_free.push(page);
            range.page = None;
            last > oldest
        });
        spilled.retain(|_, word| *word >> LSN_SHIFT > oldest.0);
        self.spilled_count.store(spilled.len(), Ordering::Release);
        self.raise_floor(in_use, spilled);
    }

    fn raise_floor(&self, in_use: &VecDeque<RangeInUse>, spilled: &BTreeMap<u64, u64>) {
        let lowest = in_use.iter().map(|r| r.range).min();
        let lowest = lowest.into_iter().chain(spilled.keys().next().copied()).min();
        if let Some(range) = lowest {
            self.floor.fetch_max(range * RANGE_IDS, Ordering::Relaxed);
        }
    }

    /// First and last end of a range's ids; None while one of them is undealt or open.
    fn ends(&self, range: &RangeInUse, page: u32) -> Option<(Lsn, Lsn)> {
        if !range.exhausted {
            return None;
        }
        let (mut first, mut last) = (u64::MAX, 0);
        for word in self.page(page) {
            let word = word.load(Ordering::Acquire);
            if word & ENDED == 0 {
                return None;
            }
            first = first.min(word >> LSN_SHIFT);
            last = last.max(word >> LSN_SHIFT);
        }
        Some((Lsn(first), Lsn(last)))
    }

    /// Ranges with a page, ranges with one word, ranges spilled: for tests and the curious.
    #[cfg(test)]
    fn counts(&self) -> (usize, usize, usize) {
        let upkeep = self.upkeep();
        let paged = upkeep.in_use.iter().filter(|r| r.page.is_some()).count();
        (paged, upkeep.in_use.len() - paged, upkeep.spilled.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(horizon: u64, held: &[u64]) -> SnapshotsSeen {
        SnapshotsSeen { horizon: Lsn(horizon), held: held.iter().map(|s| Lsn(*s)).collect() }
    }

    fn fill(table: &StatusTable, range: u64, first_lsn: u64) {
        assert_eq!(table.open_range(&AtomicU64::new(range)), range);
        for entry in 0..RANGE_IDS {
            let place = table.locate(TransactionId(range * RANGE_IDS + entry));
            table.committing_single(place);
            table.committed_single(place, Lsn(first_lsn + entry));
        }
        table.exhausted(range);
    }

    #[test]
    fn states_follow_each_other() {
        let table = StatusTable::with_places(TransactionId(RANGE_IDS), 4);
        table.open_range(&AtomicU64::new(1));
        let id = TransactionId(RANGE_IDS + 7);
        assert_eq!(table.status(id), Status::Active);
        assert_eq!(table.status(TransactionId(3)), Status::Committed(Lsn(0)));
        let place = table.locate(id);
        assert!(table.mark_waited(id));
        table.committing(place);
        assert_eq!(table.status(id), Status::Committing);
        assert!(!table.mark_waited(id));
        table.not_committing(place);
        assert_eq!(table.status(id), Status::Active);
        table.committing(place);
        assert!(table.end(place, Lsn(99), true), "the waiter is remembered");
        assert_eq!(table.status(id), Status::Committed(Lsn(99)));
        let other = table.locate(TransactionId(RANGE_IDS + 8));
        assert!(!table.end(other, Lsn(100), false));
        assert_eq!(table.status(TransactionId(RANGE_IDS + 8)), Status::Aborted);
    }

    #[test]
    fn sweep_keeps_what_a_snapshot_tells_apart() {
        let table = StatusTable::with_places(TransactionId(RANGE_IDS), 8);
        fill(&table, 1, 1_000);
        fill(&table, 2, 10_000);
        let id = TransactionId(RANGE_IDS + 5);
        table.sweep(&seen(50_000, &[1_500]));
        assert_eq!(table.counts(), (1, 1, 0), "range 1 is split by the snapshot");
        assert_eq!(table.status(id), Status::Committed(Lsn(1_005)));
        let late = TransactionId(2 * RANGE_IDS + 5);
        assert!(matches!(table.status(late), Status::Committed(lsn) if lsn > Lsn(1_500)));
        table.sweep(&seen(50_000, &[]));
        assert_eq!(table.counts(), (0, 0, 0));
        assert!(matches!(table.status(id), Status::Committed(lsn) if lsn <= Lsn(1_500) || lsn <= Lsn(50_000)));
    }

    #[test]
    fn a_range_with_an_open_transaction_stays() {
        let table = StatusTable::with_places(TransactionId(RANGE_IDS), 8);
        fill(&table, 1, 10);
        table.open_range(&AtomicU64::new(2));
        table.exhausted(2);
        table.sweep(&seen(u64::MAX >> 8, &[]));
        assert_eq!(table.counts(), (1, 0, 0));
        assert_eq!(table.status(TransactionId(2 * RANGE_IDS)), Status::Active);
    }

    #[test]
    fn ranges_spill_when_the_ring_comes_round() {
        let table = StatusTable::with_places(TransactionId(RANGE_IDS), 2);
        fill(&table, 1, 10);
        assert_eq!(table.open_range(&AtomicU64::new(3)), 4, "the place of range 3 still serves range 1");
        table.sweep(&seen(50_000, &[5]));
        assert_eq!(table.counts(), (1, 1, 0));
        fill(&table, 3, 5_000);
        assert_eq!(table.counts(), (2, 0, 1));
        let old = TransactionId(RANGE_IDS + 1);
        assert!(matches!(table.status(old), Status::Committed(lsn) if lsn > Lsn(5)));
        table.sweep(&seen(50_000, &[]));
        assert_eq!(table.counts(), (1, 0, 0));
        assert_eq!(table.status(old), Status::Committed(Lsn(0)));
    }
}
