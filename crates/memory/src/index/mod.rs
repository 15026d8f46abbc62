//! Indexes: from keys to cells.

mod hash;
mod range;

use std::ops::Bound;

use crossbeam_epoch::Guard;

use crate::cell::Cell;
use hash::HashIndex;
pub(crate) use hash::HashPlace;
use range::RangeIndex;

/// The kind of an index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IndexKind {
    /// Equal keys are found by their hash; it begins with so many buckets.
    Hash {
        /// Heads of chains to begin with; a power of two.
        buckets: usize,
    },
    /// Keys in their order.
    Range,
}

/// The cells that a scan wants.
#[derive(Debug, Clone)]
pub enum KeyRange {
    /// Keys between bounds; of a hash index all, in no order that means anything.
    Between(Bound<Vec<u8>>, Bound<Vec<u8>>),
    /// One whole key.
    Equal(Vec<u8>),
}

/// An index of a table.
pub(crate) enum Index {
    Hash(Box<HashIndex>),
    Range(Box<RangeIndex>),
}

/// The last cell that a scan has given: the next call goes on behind it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Position {
    /// There is one.
    pub begun: bool,
    pub key: Vec<u8>,
    pub order: u64,
}

impl Index {
    pub fn new(kind: IndexKind) -> Index {
        match kind {
            IndexKind::Hash { buckets } => Index::Hash(Box::new(HashIndex::new(buckets))),
            IndexKind::Range => Index::Range(Box::default()),
        }
    }

    /// The cell of a key; `group` bytes of it are what is hashed.
    pub fn cell<'g>(&'g self, key: &[u8], group: usize, guard: &'g Guard) -> &'g Cell {
        match self {
            Index::Hash(index) => index.cell(key, group, guard),
            Index::Range(index) => index.cell(key, guard),
        }
    }

    /// The cell of a key, if it is there.
    pub fn find<'g>(&'g self, key: &[u8], group: usize, guard: &'g Guard) -> Option<&'g Cell> {
        match self {
            Index::Hash(index) => index.find(key, group, guard),
            Index::Range(index) => index.find(key, guard),
        }
    }

    /// Takes out a cell that takes no entries any more.
    pub fn remove(&self, cell: &Cell, guard: &Guard) {
        match self {
            Index::Hash(index) => index.remove(cell, guard),
            Index::Range(index) => index.remove(cell),
        }
    }

    /// Gives cells of `range` behind `position` until `give` says that it has enough.
    pub fn walk<'g>(
        &'g self,
        range: &KeyRange,
        reverse: bool,
        position: &Position,
        guard: &'g Guard,
        give: &mut dyn FnMut(&'g Cell) -> bool,
    ) {
        match self {
            Index::Hash(index) => {
                let equal = match range {
                    KeyRange::Equal(key) => Some(key.as_slice()),
                    KeyRange::Between(..) => None,
                };
                let from = position.begun.then_some(HashPlace { order: position.order, key: &position.key });
                index.walk(equal, from, guard, give);
            }
            Index::Range(index) => index.walk(range, reverse, position, guard, give),
        }
    }

    /// Heads of chains of a hash index; None: it has none.
    pub fn buckets(&self) -> Option<usize> {
        match self {
            Index::Hash(index) => Some(index.buckets()),
            Index::Range(_) => None,
        }
    }
}
