//! The hash index: one list of all cells in the order of their reversed hashes, and buckets that lead into it.
//!
//! ```text
//!   buckets    0        1        2 ...
//!              |        |        |
//!              v        v        v
//!   list     [0] a b c [2] d e [1] f g [3] h --> null      [n]: the mark of bucket n
//! ```
//! In this order the cells of a bucket stay together when the number of buckets doubles: a new bucket's mark is put in the middle of an
//! old one's cells, and nothing moves (split-ordered lists: Shalev and Shavit, 2006). Cells leave as Michael's lists have it
//! (2002): the link of one that leaves is marked, then it is unlinked. The buckets double when somebody who puts
//! a cell in walks far and there are more cells than buckets.

use std::hash::BuildHasher;

use crossbeam_epoch::Guard;
use hashbrown::DefaultHashBuilder;
use pikepole_contention::SlotCounter;
use pikepole_contention::fault::planted;
use pikepole_contention::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

use crate::cell::{Cell, is_marked, marked, unmarked};

/// Cells that somebody may pass to put one in before it is asked if there are more cells than buckets.
const WALK_MAX: usize = if cfg!(shuttle) { 2 } else { 8 };
const BUCKETS_MAX: usize = 1 << 30;
/// Buckets that an index can be asked to begin with; it comes to more by doubling.
const FIRST_MAX: usize = 1 << 20;

type Bucket = AtomicPtr<Cell>;

/// The place of a cell in the list.
#[derive(Clone, Copy)]
pub(crate) struct HashPlace<'k> {
    pub order: u64,
    pub key: &'k [u8],
}

/// See the module.
pub(crate) struct HashIndex {
    hasher: DefaultHashBuilder,
    first: usize,
    size: AtomicUsize,
    /// Cells that were put in, and that have left.
    put: SlotCounter,
    left: SlotCounter,
    /// The first buckets, and as many again for each doubling.
    segments: [AtomicPtr<Bucket>; 32],
}

/// The order of a bucket's mark: even, before all cells of the bucket.
fn order_of_bucket(bucket: usize) -> u64 {
    (bucket as u64).reverse_bits() & !1
}

impl HashIndex {
    pub fn new(buckets: usize) -> HashIndex {
        let first = buckets.clamp(1, FIRST_MAX).next_power_of_two();
        let segments = std::array::from_fn(|_| AtomicPtr::new(std::ptr::null_mut()));
        let (put, left) = (SlotCounter::new(), SlotCounter::new());
        let (hasher, size) = (DefaultHashBuilder::default(), AtomicUsize::new(first));
        let index = HashIndex { hasher, first, size, put, left, segments };
        let mark = Box::into_raw(Box::new(Cell::new(&[], order_of_bucket(0))));
        index.bucket(0).store(mark, Ordering::Release);
        index
    }

    pub fn buckets(&self) -> usize {
        self.size.load(Ordering::Relaxed)
    }

    /// Buckets of a segment.
    fn segment_len(&self, segment: usize) -> usize {
        if segment == 0 { self.first } else { self.first << (segment - 1) }
    }

    fn bucket(&self, bucket: usize) -> &Bucket {
        let segment = if bucket < self.first { 0 } else { (bucket / self.first).ilog2() as usize + 1 };
        let within = if segment == 0 { bucket } else { bucket - self.segment_len(segment) };
        let slot = &self.segments[segment];
        let mut buckets = slot.load(Ordering::Acquire);
        if buckets.is_null() {
            let new: Box<[Bucket]> =
                (0..self.segment_len(segment)).map(|_| AtomicPtr::new(std::ptr::null_mut())).collect();
            let len = new.len();
            let new = Box::into_raw(new).cast::<Bucket>();
            match slot.compare_exchange(std::ptr::null_mut(), new, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => buckets = new,
                Err(theirs) => {
                    // SAFETY: it was made above and no other thread has seen it.
                    drop(unsafe { Box::from_raw(std::ptr::slice_from_raw_parts_mut(new, len)) });
                    buckets = theirs;
                }
            }
        }
        // SAFETY: a segment has `segment_len` buckets, stays as long as the index, and `within` is one of them.
        unsafe { &*buckets.add(within) }
    }

    fn order_of(&self, group: &[u8]) -> u64 {
        self.hasher.hash_one(group).reverse_bits() | 1
    }

    /// The mark of the bucket that cells of this order are behind.
    fn mark_of<'g>(&'g self, order: u64, guard: &'g Guard) -> &'g Cell {
        let size = self.size.load(Ordering::Acquire);
        self.mark(order.reverse_bits() as usize & (size - 1), guard)
    }

    /// The mark of a bucket; it is put into the list when it is first wanted, behind that of the bucket that it was part of.
    fn mark<'g>(&'g self, bucket: usize, guard: &'g Guard) -> &'g Cell {
        let slot = self.bucket(bucket);
        // SAFETY: marks stay as long as the index.
        if let Some(mark) = unsafe { slot.load(Ordering::Acquire).as_ref() } {
            return mark;
        }
        let parent = if bucket == 0 { 0 } else { bucket & !(1 << bucket.ilog2()) };
        let order = order_of_bucket(bucket);
        let mark = self.insert(self.mark(parent, guard), HashPlace { order, key: &[] }, guard);
        slot.store(std::ptr::from_ref(mark).cast_mut(), Ordering::Release);
        mark
    }

    /// The link before the first cell that is not before `place`, and that cell. Cells on the way that leave are unlinked.
    fn seek<'g>(
        &'g self,
        from: &'g Cell,
        place: HashPlace<'_>,
        guard: &'g Guard,
    ) -> (&'g AtomicPtr<Cell>, Option<&'g Cell>, usize) {
        'again: loop {
            let mut walked = 0;
            let mut before = &from.link;
            loop {
                let at = before.load(Ordering::Acquire);
                if is_marked(at) {
                    // The one before leaves: its link must not be changed. A mark never leaves.
                    continue 'again;
                }
                // SAFETY: a cell that was linked while the guard is held stays alive as long as it.
                let Some(cell) = (unsafe { at.as_ref() }) else { return (before, None, walked) };
                let next = cell.link.load(Ordering::Acquire);
                if is_marked(next) {
                    let unlinked = before.compare_exchange(at, unmarked(next), Ordering::AcqRel, Ordering::Relaxed);
                    if unlinked.is_err() {
                        continue 'again;
                    }
                    // SAFETY: this thread has unlinked it, and each cell is unlinked once.
                    unsafe { guard.defer_unchecked(move || drop(Box::from_raw(at))) };
                    self.left.add(1);
                    continue;
                }
                if (cell.order, &*cell.key) >= (place.order, place.key) {
                    return (before, Some(cell), walked);
                }
                walked += 1;
                before = &cell.link;
            }
        }
    }

    /// The cell at a place, put there if it is not.
    fn insert<'g>(&'g self, from: &'g Cell, place: HashPlace<'_>, guard: &'g Guard) -> &'g Cell {
        let mut new: Option<Box<Cell>> = None;
        loop {
            let (before, at, walked) = self.seek(from, place, guard);
            if let Some(cell) = at.filter(|cell| (cell.order, &*cell.key) == (place.order, place.key)) {
                return cell;
            }
            let is_mark = place.order & 1 == 0;
            if walked > WALK_MAX && !is_mark {
                self.grow_if_due();
            }
            let cell = new.take().unwrap_or_else(|| Box::new(Cell::new(place.key, place.order)));
            let next = at.map_or(std::ptr::null_mut(), |cell| std::ptr::from_ref(cell).cast_mut());
            cell.link.store(next, Ordering::Relaxed);
            let cell = Box::into_raw(cell);
            if planted("memory: cells are linked without looking") {
                before.store(cell, Ordering::Release);
                // SAFETY: as below.
                return unsafe { &*cell };
            }
            match before.compare_exchange(next, cell, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(_) => {
                    self.put.add(u64::from(!is_mark));
                    // SAFETY: it is linked now, and stays alive under the guard.
                    return unsafe { &*cell };
                }
                // SAFETY: no other thread has seen it.
                Err(_) => new = Some(unsafe { Box::from_raw(cell) }),
            }
        }
    }

    /// Doubles the buckets if there are more cells. The way to a cell is longer than it will be while marks are missing, so its length alone
    /// says nothing.
    #[cold]
    fn grow_if_due(&self) {
        let size = self.size.load(Ordering::Relaxed);
        let cells = self.put.sum().saturating_sub(self.left.sum());
        if size < BUCKETS_MAX && cells > size as u64 {
            // Who comes second has found it done.
            _ = self.size.compare_exchange(size, size * 2, Ordering::AcqRel, Ordering::Relaxed);
        }
    }

    pub fn find<'g>(&'g self, key: &[u8], group: usize, guard: &'g Guard) -> Option<&'g Cell> {
        let order = self.order_of(&key[..group]);
        let (_, cell, _) = self.seek(self.mark_of(order, guard), HashPlace { order, key }, guard);
        cell.filter(|cell| (cell.order, &*cell.key) == (order, key))
    }

    pub fn cell<'g>(&'g self, key: &[u8], group: usize, guard: &'g Guard) -> &'g Cell {
        let order = self.order_of(&key[..group]);
        loop {
            let cell = self.insert(self.mark_of(order, guard), HashPlace { order, key }, guard);
            if !cell.is_leaving() {
                return cell;
            }
            self.remove(cell, guard);
        }
    }

    /// Marks the link of a cell that is leaving, and sees to it that it is unlinked.
    pub fn remove(&self, cell: &Cell, guard: &Guard) {
        let mut next = cell.link.load(Ordering::Acquire);
        while !is_marked(next) {
            match cell.link.compare_exchange(next, marked(next), Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => break,
                Err(now) => next = now,
            }
        }
        let place = HashPlace { order: cell.order, key: &cell.key };
        self.seek(self.mark_of(cell.order, guard), place, guard);
    }

    /// Gives the cells behind a place: all, or those of one key, which may have bytes behind it that tell rows apart.
    pub fn walk<'g>(
        &'g self,
        equal: Option<&[u8]>,
        behind: Option<HashPlace<'_>>,
        guard: &'g Guard,
        give: &mut dyn FnMut(&'g Cell) -> bool,
    ) {
        let order = equal.map(|key| self.order_of(key));
        let place = behind.unwrap_or(HashPlace { order: order.unwrap_or(0), key: equal.unwrap_or(&[]) });
        let (_, mut at, _) = self.seek(self.mark_of(place.order, guard), place, guard);
        while let Some(cell) = at {
            if order.is_some_and(|order| cell.order != order) {
                return;
            }
            let is_new = behind.is_none_or(|behind| (cell.order, &*cell.key) > (behind.order, behind.key));
            let is_wanted = equal.is_none_or(|key| cell.key.starts_with(key));
            if cell.order & 1 == 1 && is_new && is_wanted && !cell.is_leaving() && give(cell) {
                return;
            }
            // SAFETY: as of `seek`; a cell that leaves still leads on.
            at = unsafe { unmarked(cell.link.load(Ordering::Acquire)).as_ref() };
        }
    }
}

impl Drop for HashIndex {
    fn drop(&mut self) {
        let mut at = self.bucket(0).load(Ordering::Relaxed);
        while !at.is_null() {
            // SAFETY: the index is dropped: no other thread has its cells.
            let mut cell = unsafe { Box::from_raw(at) };
            at = unmarked(*cell.link.get_mut());
        }
        for segment in 0..self.segments.len() {
            let buckets = *self.segments[segment].get_mut();
            if !buckets.is_null() {
                let all = std::ptr::slice_from_raw_parts_mut(buckets, self.segment_len(segment));
                // SAFETY: made in `bucket` with this length, and no other thread has it.
                drop(unsafe { Box::from_raw(all) });
            }
        }
    }
}
