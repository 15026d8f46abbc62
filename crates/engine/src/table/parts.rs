//! A table cut into parts, each of which a worker scans: extents of a heap, ranges of a clustered key.
//!
//! ```text
//!   heap:       extents 0 .. 4 | 4 .. 8 | 8 .. 11          clustered:  .. "c" | "c" .. "m" | "m" ..
//! ```
//! Parts follow each other as their rows do in a scan of the whole table. The snapshot is older than the cuts: what has come to the
//! heap behind the last part is seen by no scan under it.

use std::ops::{Bound, Range};

use pikepole_storage::EXTENT_PAGES;
use pikepole_transaction::{LockMode, Structure};

use super::{Table, TableScan};
use crate::database::Database;
use crate::error::Blocked;
use crate::transaction::Transaction;

/// Pages of a part: so many that a worker is seldom without one while others are at work, and so few that beginning with one costs
/// nothing beside.
const PART_PAGES: usize = 32;

/// Parts of a table at most. Those of larger tables are larger.
const PARTS_MAX: usize = 4096;

/// The same for parts of a page each: so many keys are found in some milliseconds.
const FINE_PARTS_MAX: usize = 64 * 1024;

/// One part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Part {
    Extents(Range<usize>),
    Keys(Bound<Vec<u8>>, Bound<Vec<u8>>),
}

/// The parts of a table; see the module.
#[derive(Debug)]
pub struct TableParts {
    parts: Vec<Part>,
}

impl TableParts {
    /// How many there are.
    pub fn count(&self) -> usize {
        self.parts.len()
    }

    /// Begins the scan again, over one of the parts.
    ///
    /// # Panics
    /// When there is no such part.
    pub fn restart(&self, table: &Table, scan: &mut TableScan, part: usize) {
        scan.restart_part(table, self.parts[part].clone());
    }
}

impl Database {
    /// Cuts a table into parts, to be scanned by children of the transaction under its snapshot. None: it has fewer pages than
    /// that pays for, is a session's own, or is in memory.
    ///
    /// # Errors
    /// Needs; damage; a definition that is no longer current.
    pub fn try_cut(
        &self,
        tx: &mut Transaction,
        table: &Table,
        pages_min: usize,
    ) -> Result<Option<TableParts>, Blocked> {
        self.try_cut_by(tx, table, pages_min, PART_PAGES, PARTS_MAX)
    }

    /// The same, but parts have about a page each, and of a heap an extent: some of them tell of all.
    pub(crate) fn try_cut_finely(
        &self,
        tx: &mut Transaction,
        table: &Table,
        pages_min: usize,
    ) -> Result<Option<TableParts>, Blocked> {
        self.try_cut_by(tx, table, pages_min, 1, FINE_PARTS_MAX)
    }

    fn try_cut_by(
        &self,
        tx: &mut Transaction,
        table: &Table,
        pages_min: usize,
        part_pages: usize,
        parts_max: usize,
    ) -> Result<Option<TableParts>, Blocked> {
        if tx.is_elsewhere(table) || table.in_memory.is_some() {
            return Ok(None);
        }
        let extents = self.store().extents_of(table.base.object());
        let pages = extents * EXTENT_PAGES as usize;
        if pages < pages_min {
            return Ok(None);
        }
        self.lock_for(tx, table, LockMode::SchS)?;
        tx.inner.view();
        let parts_max = (pages / part_pages).clamp(2, parts_max);
        let parts = match &table.base {
            Structure::Heap(heap) => {
                // Counted again: the snapshot sees the rows of extents that have come in between.
                let extents = self.store().extents_of(heap.object());
                let each = extents.div_ceil(parts_max).max(1);
                (0..extents).step_by(each).map(|from| Part::Extents(from..extents.min(from + each))).collect()
            }
            Structure::Tree(tree) => {
                let cuts = tree.cuts(parts_max).map_err(|stop| self.stop(tx, table, stop.into()))?;
                let low =
                    |at: usize| at.checked_sub(1).map_or(Bound::Unbounded, |at| Bound::Included(cuts[at].clone()));
                let high = |at: usize| cuts.get(at).map_or(Bound::Unbounded, |cut| Bound::Excluded(cut.clone()));
                (0..=cuts.len()).map(|at| Part::Keys(low(at), high(at))).collect()
            }
        };
        Ok(Some(TableParts { parts }))
    }
}
