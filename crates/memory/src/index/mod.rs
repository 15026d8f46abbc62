//! Indexes: from keys to the nodes of rows.

mod buckets;
mod finger;
mod hash;
mod leaves;
mod page;
mod range;

use std::ops::Bound;

use crossbeam_epoch::Guard;

use crate::guarded::Guarded;
use crate::node::Node;
use crate::statistics::PageCounts;
use crate::table::ID_BYTES;
pub(crate) use buckets::bucket_of;
pub(crate) use finger::Finger;
pub use finger::Fingers;
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

/// The keys that a scan wants.
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

/// The wish of who is given nodes by a walk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wish {
    More,
    /// The other nodes of the same key, and then no more.
    KeyEnd,
    Nothing,
}

/// The last key that a scan has given: the next call goes on behind it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Position {
    /// There is one.
    pub begun: bool,
    pub key: Vec<u8>,
    pub order: u64,
}

/// The bounds of what is left of a walk in an ordered index.
pub(crate) struct RangeBounds<'r> {
    pub low: Bound<&'r [u8]>,
    pub high: Bound<&'r [u8]>,
}

impl<'r> RangeBounds<'r> {
    /// The bounds of a range, behind a position; `last` is room for the end of an equal key's.
    pub fn new(range: &'r KeyRange, reverse: bool, position: &'r Position, last: &'r mut Vec<u8>) -> Self {
        let (mut low, mut high) = match range {
            KeyRange::Equal(key) => {
                // With the number of any row behind it.
                last.extend_from_slice(key);
                last.extend_from_slice(&[u8::MAX; ID_BYTES]);
                (Bound::Included(key.as_slice()), Bound::Included(last.as_slice()))
            }
            KeyRange::Between(low, high) => (low.as_ref().map(Vec::as_slice), high.as_ref().map(Vec::as_slice)),
        };
        if position.begun {
            let behind = Bound::Excluded(position.key.as_slice());
            if reverse { high = behind } else { low = behind }
        }
        Self { low, high }
    }

    /// Tells if a key is past the end of a walk.
    pub fn is_past(&self, key: &[u8], reverse: bool) -> bool {
        match (reverse, self.low, self.high) {
            (false, _, Bound::Unbounded) | (true, Bound::Unbounded, _) => false,
            (false, _, Bound::Included(high)) => key > high,
            (false, _, Bound::Excluded(high)) => key >= high,
            (true, Bound::Included(low), _) => key < low,
            (true, Bound::Excluded(low), _) => key <= low,
        }
    }
}

impl Index {
    pub fn new(kind: IndexKind) -> Index {
        match kind {
            IndexKind::Hash { buckets } => Index::Hash(Box::new(HashIndex::new(buckets))),
            IndexKind::Range => Index::Range(Box::default()),
        }
    }

    /// The place of a key in the order of a hash index, by the bytes that are hashed.
    pub fn order_of(&self, group: &[u8]) -> u64 {
        match self {
            Index::Hash(index) => index.order_of(group),
            Index::Range(_) => 0,
        }
    }

    /// Asks the processor for the head of a key's chain, by the bytes that are hashed.
    #[inline]
    pub fn prefetch_head(&self, group: &[u8]) {
        if let Index::Hash(index) = self {
            index.prefetch_head(group);
        }
    }

    /// Asks the processor for the first node of the chain of a node of this order, whose head was asked for.
    #[inline]
    pub fn prefetch_beside(&self, order: u64) {
        if let Index::Hash(index) = self {
            index.prefetch_beside(order);
        }
    }

    /// Asks the processor for the first node of a key's chain, whose head was asked for.
    #[inline]
    pub fn prefetch_node(&self, group: &[u8]) {
        if let Index::Hash(index) = self {
            index.prefetch_node(group);
        }
    }

    /// Makes ready for so many nodes.
    pub fn reserve(&self, nodes: usize) {
        if let Index::Hash(index) = self {
            index.reserve(nodes);
        }
    }

    /// Puts a node in front of those of its key, unless `check` refuses one of these. A finger is where the one before was put.
    pub fn put<'g, E>(
        &'g self,
        node: Guarded<'g, Node>,
        finger: Option<&mut Finger>,
        guard: &'g Guard,
        check: impl FnMut(Guarded<'g, Node>) -> Result<(), E>,
    ) -> Result<(), E> {
        match self {
            Index::Hash(index) => index.put(node, guard, check),
            Index::Range(index) => index.put(node, finger, guard, check),
        }
    }

    /// Gives the nodes of a key until `give` has enough; `group` bytes of it are what is hashed.
    pub fn find<'g>(&'g self, key: &[u8], group: usize, guard: &'g Guard, give: impl FnMut(Guarded<'g, Node>) -> bool) {
        match self {
            Index::Hash(index) => index.find(key, group, guard, give),
            Index::Range(index) => index.find(key, guard, give),
        }
    }

    /// Takes a node out: no walk comes to it any more but those that hold guards.
    pub fn remove<'g>(&'g self, node: Guarded<'g, Node>, guard: &'g Guard) {
        match self {
            Index::Hash(index) => index.remove(node, guard),
            Index::Range(index) => index.remove(node, guard),
        }
    }

    /// Gives nodes of `range` behind `position` as `give` wishes.
    pub fn walk<'g>(
        &'g self,
        range: &KeyRange,
        reverse: bool,
        position: &Position,
        guard: &'g Guard,
        give: impl FnMut(Guarded<'g, Node>) -> Wish,
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

    /// Bytes of its buckets or pages.
    pub fn structure_bytes(&self) -> u64 {
        match self {
            Index::Hash(index) => index.buckets_bytes(),
            Index::Range(index) => index.pages_bytes(),
        }
    }

    /// The pages of an ordered index; None: it has none.
    pub fn pages(&self) -> Option<PageCounts> {
        match self {
            Index::Hash(_) => None,
            Index::Range(index) => Some(index.pages()),
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
