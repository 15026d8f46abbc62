//! The ordered index: a skip list without latches, read in both directions, of the keys with their nodes.
//!
//! ```text
//!   Cell(key) --first--> Node --next--> Node --next--> null
//! ```
//! A `first` with its lowest bit set belongs to a cell that takes no nodes any more and is about to leave the list.

use std::borrow::Borrow;
use std::cmp::Ordering as KeyOrder;

use crossbeam_epoch::Guard;
use crossbeam_skiplist::SkipSet;
use pikepole_contention::sync::atomic::{AtomicPtr, Ordering};

use super::{KeyRange, Position, RangeBounds};
use crate::guarded::Guarded;
use crate::node::{Link, Node, is_marked, marked, unmarked};

/// A key, and the nodes that have it, new ones first.
struct Cell {
    key: Box<[u8]>,
    first: AtomicPtr<Link>,
}

/// A cell in its order.
struct Keyed(Box<Cell>);

impl Borrow<[u8]> for Keyed {
    fn borrow(&self) -> &[u8] {
        &self.0.key
    }
}

impl PartialEq for Keyed {
    fn eq(&self, other: &Keyed) -> bool {
        self.0.key == other.0.key
    }
}

impl Eq for Keyed {}

impl PartialOrd for Keyed {
    fn partial_cmp(&self, other: &Keyed) -> Option<KeyOrder> {
        Some(self.cmp(other))
    }
}

impl Ord for Keyed {
    fn cmp(&self, other: &Keyed) -> KeyOrder {
        self.0.key.cmp(&other.0.key)
    }
}

/// Cells by their keys.
#[derive(Default)]
pub(crate) struct RangeIndex(SkipSet<Keyed>);

/// A cell of an entry, as long as the guard is held.
fn cell_of<'g>(entry: &crossbeam_skiplist::set::Entry<'_, Keyed>, _guard: &'g Guard) -> &'g Cell {
    let cell: *const Cell = &*entry.value().0;
    // SAFETY: the list gives what it has lost to the epochs of the default collector, which is the guard's.
    unsafe { &*cell }
}

impl Cell {
    /// Gives the nodes that have not left it, newest first, until `give` has enough.
    fn nodes<'g>(&self, guard: &'g Guard, mut give: impl FnMut(Guarded<'g, Node>) -> bool) {
        // Acquire pairs with the AcqRel of `put`.
        let mut at = unmarked(self.first.load(Ordering::Acquire));
        // SAFETY: a node that was linked while the guard is held stays alive as long as it.
        while let Some(node) = unsafe { Guarded::of_raw(at.cast::<Node>(), guard) } {
            if !node.is_leaving() && give(node) {
                return;
            }
            at = unmarked(node.link.next.load(Ordering::Acquire));
        }
    }

    fn is_leaving(&self) -> bool {
        is_marked(self.first.load(Ordering::Acquire))
    }

    /// Unlinks the nodes that are leaving.
    fn sweep(&self, guard: &Guard) {
        'again: loop {
            let mut before = &self.first;
            loop {
                let at = before.load(Ordering::Acquire);
                if is_marked(at) && !std::ptr::eq(before, &self.first) {
                    // The one before is leaving itself.
                    continue 'again;
                }
                // SAFETY: linked nodes are alive under the guard.
                let Some(node) = (unsafe { Guarded::of_raw(unmarked(at), guard) }) else { return };
                let next = node.next.load(Ordering::Acquire);
                if !is_marked(next) {
                    before = &node.get().next;
                    continue;
                }
                // AcqRel: who comes by it sees what is behind.
                if before.compare_exchange(at, unmarked(next), Ordering::AcqRel, Ordering::Relaxed).is_err() {
                    continue 'again;
                }
            }
        }
    }
}

impl RangeIndex {
    /// Gives the nodes of a key.
    pub fn find<'g>(&'g self, key: &[u8], guard: &'g Guard, give: impl FnMut(Guarded<'g, Node>) -> bool) {
        if let Some(entry) = self.0.get(key) {
            cell_of(&entry, guard).nodes(guard, give);
        }
    }

    /// Puts a node in front of those of its key, unless `check` refuses one of these.
    pub fn put<'g, E>(
        &'g self,
        node: Guarded<'g, Node>,
        guard: &'g Guard,
        mut check: impl FnMut(Guarded<'g, Node>) -> Result<(), E>,
    ) -> Result<(), E> {
        loop {
            let cell = self.cell(node.key(), guard);
            let first = cell.first.load(Ordering::Acquire);
            if is_marked(first) {
                continue;
            }
            let mut refusal = None;
            cell.nodes(guard, |other| {
                refusal = check(other).err();
                refusal.is_some()
            });
            if let Some(refusal) = refusal {
                return Err(refusal);
            }
            node.link.next.store(first, Ordering::Relaxed);
            let own = node.pointer().cast::<Link>().as_ptr();
            // AcqRel pairs with the Acquire of `nodes`: who puts a node after this one sees the version that this one leads to.
            if cell.first.compare_exchange(first, own, Ordering::AcqRel, Ordering::Relaxed).is_ok() {
                return Ok(());
            }
        }
    }

    fn cell<'g>(&'g self, key: &[u8], guard: &'g Guard) -> &'g Cell {
        loop {
            let found = self.0.get(key).unwrap_or_else(|| {
                let first = AtomicPtr::new(std::ptr::null_mut());
                self.0.get_or_insert(Keyed(Box::new(Cell { key: key.into(), first })))
            });
            let cell = cell_of(&found, guard);
            if !cell.is_leaving() {
                return cell;
            }
            found.remove();
        }
    }

    /// Takes a node out: no walk comes to it any more but those that hold guards.
    pub fn remove<'g>(&'g self, node: Guarded<'g, Node>, guard: &'g Guard) {
        node.leave();
        let Some(found) = self.0.get(node.key()) else { return };
        let cell = cell_of(&found, guard);
        cell.sweep(guard);
        let null = std::ptr::null_mut();
        // AcqRel: who finds it marked looks for another cell.
        if cell.first.compare_exchange(null, marked(null), Ordering::AcqRel, Ordering::Relaxed).is_ok() {
            found.remove();
        }
    }

    /// Gives the nodes of a range behind a position. It stops when `give` has enough, but not between nodes of one key.
    pub fn walk<'g>(
        &'g self,
        range: &KeyRange,
        reverse: bool,
        position: &Position,
        guard: &'g Guard,
        mut give: impl FnMut(Guarded<'g, Node>) -> bool,
    ) {
        let mut last = Vec::new();
        let bounds = RangeBounds::new(range, reverse, position, &mut last);
        // The list's own ranges must not be empty by their bounds: the far bound is tested here.
        let mut at = if reverse { self.0.upper_bound(bounds.high) } else { self.0.lower_bound(bounds.low) };
        while let Some(entry) = at {
            let cell = cell_of(&entry, guard);
            if bounds.is_past(&cell.key, reverse) {
                return;
            }
            let mut is_enough = false;
            cell.nodes(guard, |node| {
                is_enough |= give(node);
                false
            });
            if is_enough {
                return;
            }
            at = if reverse { entry.prev() } else { entry.next() };
        }
    }
}

impl Drop for RangeIndex {
    /// The last nodes go with a table that is dropped, and rows with them.
    fn drop(&mut self) {
        let guard = crossbeam_epoch::pin();
        for entry in self.0.iter() {
            cell_of(&entry, &guard).nodes(&guard, |node| {
                // SAFETY: the index is dropped: no other thread has its nodes, and each goes once.
                unsafe { Node::retire(node.pointer(), &guard) };
                false
            });
        }
    }
}
