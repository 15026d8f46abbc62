//! The ordered index: a skip list without latches, read in both directions.

use std::borrow::Borrow;
use std::cmp::Ordering;
use std::ops::Bound;

use crossbeam_epoch::Guard;
use crossbeam_skiplist::SkipSet;

use super::{KeyRange, Position};
use crate::cell::Cell;
use crate::table::ID_BYTES;

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
    fn partial_cmp(&self, other: &Keyed) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Keyed {
    fn cmp(&self, other: &Keyed) -> Ordering {
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

impl RangeIndex {
    pub fn find<'g>(&'g self, key: &[u8], guard: &'g Guard) -> Option<&'g Cell> {
        self.0.get(key).map(|entry| cell_of(&entry, guard))
    }

    pub fn cell<'g>(&'g self, key: &[u8], guard: &'g Guard) -> &'g Cell {
        loop {
            let cell = match self.find(key, guard) {
                Some(cell) => cell,
                None => cell_of(&self.0.get_or_insert(Keyed(Box::new(Cell::new(key, 0)))), guard),
            };
            if !cell.is_leaving() {
                return cell;
            }
            self.remove(cell);
        }
    }

    pub fn remove(&self, cell: &Cell) {
        if let Some(entry) = self.0.get::<[u8]>(&cell.key)
            && std::ptr::eq(&*entry.value().0, cell)
        {
            entry.remove();
        }
    }

    pub fn walk<'g>(
        &'g self,
        range: &KeyRange,
        reverse: bool,
        position: &Position,
        guard: &'g Guard,
        give: &mut dyn FnMut(&'g Cell) -> bool,
    ) {
        let last;
        let (mut low, mut high) = match range {
            KeyRange::Equal(key) => {
                // With the number of any row behind it.
                last = [key.as_slice(), &[u8::MAX; ID_BYTES]].concat();
                (Bound::Included(key.as_slice()), Bound::Included(last.as_slice()))
            }
            KeyRange::Between(low, high) => (low.as_ref().map(Vec::as_slice), high.as_ref().map(Vec::as_slice)),
        };
        if position.begun {
            let behind = Bound::Excluded(position.key.as_slice());
            if reverse { high = behind } else { low = behind }
        }
        // The list's own ranges must not be empty by their bounds: the far bound is tested here.
        let mut at = if reverse { self.0.upper_bound(high) } else { self.0.lower_bound(low) };
        while let Some(entry) = at {
            let cell = cell_of(&entry, guard);
            let ended = if reverse { !is_above(&cell.key, low) } else { !is_below(&cell.key, high) };
            if ended || give(cell) {
                return;
            }
            at = if reverse { entry.prev() } else { entry.next() };
        }
    }
}

fn is_below(key: &[u8], high: Bound<&[u8]>) -> bool {
    match high {
        Bound::Unbounded => true,
        Bound::Included(high) => key <= high,
        Bound::Excluded(high) => key < high,
    }
}

fn is_above(key: &[u8], low: Bound<&[u8]>) -> bool {
    match low {
        Bound::Unbounded => true,
        Bound::Included(low) => key >= low,
        Bound::Excluded(low) => key > low,
    }
}
