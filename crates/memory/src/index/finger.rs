//! Fingers: a session's places in the ordered indexes of a table, at which it puts keys that ascend.
//!
//! ```text
//!                root
//!              /      \
//!          leaf        leaf         the next key is above 7, the leaf's last one, and below 20, its upper bound:
//!        2 5 7 |     20 31 |        it belongs behind the 7, and the way from the root would lead there
//!            ^
//!            finger: the leaf, the count of its bounds, its upper bound
//! ```
//! A finger holds on to nothing. It is kept between transactions, without a guard, and its index may be dropped. So it has the number of the
//! index, which no other gets, and is followed by who has that index in hand: leaves stay in memory as long as it does, see `leaves`. A leaf's
//! bounds get narrower when it is split, and others when it leaves the tree and comes back: it counts both. If the count is the finger's at the
//! version that is then locked, the upper bound is below the leaf's or equal to it; the lower one is below the leaf's last key.

use std::ops::Range;
use std::ptr::NonNull;

use crossbeam_epoch::Guard;
use pikepole_contention::fault::planted;

use super::page::{Page, SLOTS, head_of};
use crate::guarded::Guarded;
use crate::node::Node;
use crate::table::MemoryTable;

/// Numbers of eight bytes each that the beginning of a bound is kept in.
const BOUND_WORDS: usize = 3;
/// Keys, each right behind the one before, after which others are awaited there.
const RUN: u32 = if cfg!(shuttle) { 1 } else { 4 };

/// The beginning of a bound, with zeros behind it if the bound is shorter. A key whose own is below it is below the bound.
type BoundStart = [u64; BOUND_WORDS];

/// The places in a table's indexes at which a session has put rows last: those whose keys ascend are put faster. And the numbers of rows
/// that the table has dealt to it. What was used with another table is of no use, and does no harm.
#[derive(Debug, Default)]
pub struct Fingers {
    places: Vec<Finger>,
    /// The number of the table whose rows the numbers are for.
    table: u64,
    numbers: Range<u64>,
}

impl Fingers {
    /// Makes room for the places in a table's indexes.
    #[inline]
    pub fn fit(&mut self, table: &MemoryTable) {
        if self.places.len() < table.indexes.len() {
            self.places.resize_with(table.indexes.len(), Finger::default);
        }
    }

    pub(crate) fn at(&mut self, index: usize) -> Option<&mut Finger> {
        self.places.get_mut(index)
    }

    /// The number of a new row.
    #[inline]
    pub(crate) fn next_id(&mut self, table: &MemoryTable) -> u64 {
        if self.table != table.number || self.numbers.is_empty() {
            (self.table, self.numbers) = (table.number, table.deal_ids());
        }
        let id = self.numbers.start;
        self.numbers.start += 1;
        id
    }
}

/// The place in one index; see the module.
#[derive(Debug, Default)]
pub(crate) struct Finger {
    /// The number of the index that the leaf is of; zero: there is no leaf.
    index: u64,
    leaf: Option<NonNull<Page>>,
    /// The count of the leaf's bounds.
    bounds: u64,
    high: BoundStart,
    /// The address of the node that was put last, which may be gone: it is compared alone.
    last: usize,
    /// Nodes that were put right behind the one before, in succession.
    run: u32,
}

// SAFETY: its pointer is followed by who has the index, which all threads may have.
unsafe impl Send for Finger {}
// SAFETY: as above; and by reference nothing of it changes.
unsafe impl Sync for Finger {}

/// The beginning of a key.
fn start_of(key: &[u8]) -> BoundStart {
    std::array::from_fn(|at| head_of(key, 8 * at))
}

impl Finger {
    /// The leaf of the index of this number, which the caller has as long as the guard.
    ///
    /// # Safety
    /// The index is not dropped as long as the guard is held.
    #[inline]
    pub(super) unsafe fn leaf<'g>(&self, index: u64, guard: &'g Guard) -> Option<Guarded<'g, Page>> {
        let leaf = self.leaf.filter(|_| self.index == index)?;
        // SAFETY: numbers are an index's own, so the leaf is one of this index, which frees it when it is dropped.
        Some(unsafe { Guarded::new(leaf, guard) })
    }

    /// Tells if a key is below the upper bound.
    #[inline]
    pub(super) fn is_below_bound(&self, key: &[u8]) -> bool {
        for (at, high) in self.high.iter().enumerate() {
            let part = head_of(key, 8 * at);
            if part != *high {
                return part < *high || planted("memory: a finger overlooks its bound");
            }
        }
        false
    }

    /// Tells if the leaf's bounds, of which it has counted so many, are those that the finger knows, or wider.
    #[inline]
    pub(super) fn is_of(&self, bounds: u64) -> bool {
        self.bounds == bounds || planted("memory: a finger overlooks a split")
    }

    /// Points to a leaf by its count of bounds and its upper one; None: it has none.
    pub(super) fn point(&mut self, index: u64, leaf: NonNull<Page>, bounds: u64, high: Option<&[u8]>) {
        let high = high.map_or([u64::MAX; BOUND_WORDS], start_of);
        (self.index, self.leaf, self.bounds, self.high) = (index, Some(leaf), bounds, high);
    }

    /// Points nowhere.
    pub(super) fn lift(&mut self) {
        self.leaf = None;
    }

    /// Tells if the key at a place of a leaf comes right behind the one that was put last.
    #[inline]
    pub(super) fn is_next(&self, leaf: Guarded<'_, Page>, at: usize) -> bool {
        at > 0 && at <= SLOTS && leaf.node_address(at - 1) == self.last
    }

    /// Notes the node that was put last; it `follows` the one before.
    #[inline]
    pub(super) fn note(&mut self, node: Guarded<'_, Node>, follows: bool) {
        self.last = node.as_ptr().addr();
        self.run = if follows { self.run.saturating_add(1) } else { 0 };
    }

    /// Tells if keys ascend so that more are awaited at a place of a leaf.
    pub(super) fn runs_on(&self, leaf: Guarded<'_, Page>, at: usize) -> bool {
        self.run >= RUN && self.is_next(leaf, at)
    }
}
