//! Figures about a table in memory and its indexes, for the views: what was counted, and what a walk finds.

use std::ops::Bound;

use pikepole_contention::{SlotCounter, SlotCounters};

use crate::index::{KeyRange, Position, Wish, bucket_of};
use crate::table::MemoryTable;

/// Nodes that a walk looks at under one guard: memory that others have left cannot be freed as long.
const NODES_A_GUARD: usize = if cfg!(shuttle) { 2 } else { 1024 };

/// Changes of a table's rows since it was made, by all transactions, whether they have committed or not.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TableCounts {
    /// Rows inserted, those too whose keys were refused.
    pub inserts: u64,
    /// Rows that got other values.
    pub updates: u64,
    /// Rows deleted.
    pub deletes: u64,
    /// Changes that met another transaction's.
    pub write_conflicts: u64,
    /// Unique keys that were there.
    pub unique_violations: u64,
}

/// A figure of a table that is counted.
#[derive(Clone, Copy)]
pub(crate) enum Count {
    /// Bytes of versions and rows that were made, and that were let go.
    BytesMade,
    BytesLetGo,
    RowsMade,
    RowsLetGo,
    Updates,
    Deletes,
    WriteConflicts,
    UniqueViolations,
}

/// The counters of a table.
#[derive(Default)]
pub(crate) struct TableCounters(SlotCounters<{ Count::UniqueViolations as usize + 1 }>);

impl TableCounters {
    #[inline]
    pub fn add(&self, count: Count, amount: u64) {
        self.0.add(count as usize, amount);
    }

    #[inline]
    pub fn add_both(&self, amounts: [(Count, u64); 2]) {
        self.0.add_each(amounts.map(|(count, amount)| (count as usize, amount)));
    }

    pub fn sum(&self, count: Count) -> u64 {
        self.0.sum(count as usize)
    }
}

/// The memory of an index.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct IndexMemory {
    /// Bytes of buckets or pages.
    pub structure: u64,
    /// Bytes of the places of rows, with their keys.
    pub nodes: u64,
}

impl IndexMemory {
    /// Both.
    pub fn bytes(self) -> u64 {
        self.structure + self.nodes
    }
}

/// The chains of a hash index: the places of rows behind each of its buckets.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ChainCounts {
    /// Buckets.
    pub buckets: u64,
    /// Buckets with a chain.
    pub used_buckets: u64,
    /// Places of rows in all chains.
    pub nodes: u64,
    /// Places in the longest chain.
    pub longest: u64,
}

/// The pages of an ordered index.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PageCounts {
    /// Pages with places of rows.
    pub leaves: u64,
    /// Pages above them.
    pub inner: u64,
    /// Pages that were split since the index was made.
    pub splits: u64,
    /// Attempts to split a page that another thread was changing.
    pub split_retries: u64,
    /// Pages that were empty and have left the tree.
    pub removed: u64,
}

/// The sum of what was added to a counter, less what was subtracted by adding its complement. Those who count meanwhile may have the sum
/// below zero for a moment.
pub(crate) fn balance(counter: &SlotCounter) -> u64 {
    u64::try_from(counter.sum().cast_signed()).unwrap_or(0)
}

impl MemoryTable {
    /// Changes of its rows.
    pub fn counts(&self) -> TableCounts {
        let updates = self.counters.sum(Count::Updates);
        TableCounts {
            // Each of them has made a version, as each update has.
            inserts: self.counters.sum(Count::RowsMade).saturating_sub(updates),
            updates,
            deletes: self.counters.sum(Count::Deletes),
            write_conflicts: self.counters.sum(Count::WriteConflicts),
            unique_violations: self.counters.sum(Count::UniqueViolations),
        }
    }

    /// The memory of the index at this position; None: there is none.
    pub fn index_memory(&self, at: usize) -> Option<IndexMemory> {
        let own = self.indexes.get(at)?;
        Some(IndexMemory { structure: own.index.structure_bytes(), nodes: balance(&own.node_bytes) })
    }

    /// The memory of all indexes.
    pub fn indexes_bytes(&self) -> u64 {
        (0..self.indexes.len()).filter_map(|at| self.index_memory(at)).map(IndexMemory::bytes).sum()
    }

    /// The pages of the index at this position; None: it is not an ordered one.
    pub fn pages(&self, at: usize) -> Option<PageCounts> {
        self.indexes.get(at)?.index.pages()
    }

    /// The chains of the index at this position, by a walk along all of them; None: it is not a hash index. Buckets that come while it
    /// walks are parts of the ones that were there.
    pub fn chains(&self, at: usize) -> Option<ChainCounts> {
        let index = &self.indexes.get(at)?.index;
        let buckets = index.buckets()?;
        let mut counts = ChainCounts { buckets: buckets as u64, ..ChainCounts::default() };
        let (mut bucket, mut length) = (None, 0);
        let all = KeyRange::Between(Bound::Unbounded, Bound::Unbounded);
        let mut position = Position::default();
        loop {
            let guard = crossbeam_epoch::pin();
            let (mut left, mut last) = (NODES_A_GUARD, None);
            index.walk(&all, false, &position, &guard, |node| {
                // The nodes of a bucket are beside each other.
                let own = Some(bucket_of(node.order, buckets));
                if own != bucket {
                    (bucket, length) = (own, 0);
                    counts.used_buckets += 1;
                }
                length += 1;
                counts.nodes += 1;
                counts.longest = counts.longest.max(length);
                last = Some(node);
                left = left.saturating_sub(1);
                if left == 0 { Wish::KeyEnd } else { Wish::More }
            });
            let Some(node) = last.filter(|_| left == 0) else { return Some(counts) };
            position = Position { begun: true, key: node.key().to_vec(), order: node.order };
        }
    }
}
