//! Operators that work on batches of rows.
//!
//! ```text
//!   Node (plan)          Operator (state)             Batch
//!   ───────────          ────────────────             ─────
//!   Top                  Limit                        rows       4096
//!    └ Compute            └ Compute                   first      ordinal of the first row
//!       └ Window             └ Number                 columns    slot -> Vector
//!          └ Join x Values      └ Product
//!
//!   rows of a cursor ──[ FromRows ]──► batches ──[ BatchCursor ]──► rows in slots
//! ```
//! A batch holds columns where a row cursor holds values: under the number of their slot. What an expression reads and the
//! batch does not have (a variable, a column of a row outside) it reads from the slots, one value for all rows of the batch.
//!
//! Both kinds of operators can stand anywhere in a plan: a batch operator reads a row cursor through an adapter and the other
//! way round. [`Operator::of`] decides which parts of a plan run in batches: those that make rows in bulk (cross joins of
//! lists, series), and joins without a key to look up. A table is read in batches where workers share it, see [`Operator::of_scan`], also
//! below joins whose rows are grouped, see [`Operator::of_groups`], sorted, see [`SharedSort`], or all kept, see [`GatherCursor`], and
//! where conditions are tested on all of its rows, see [`FilteredScan`].
//!
//! Invariants
//! - expressions give the same values and errors in both: what has no loop of its own over columns runs row by row through
//!   the scalar evaluator;
//! - an operator that stops with a need gives the same batch when it is asked again: batches come by [`Operator::take`], whose closures
//!   can fail, but not pause;
//! - rows come in the order in which the row operators give them.

mod aggregate;
mod common_table;
mod concat;
mod condition;
mod cursor;
mod decimals;
mod evaluate;
mod filtered_scan;
mod gather;
mod group_keys;
mod hash_join;
mod join;
mod kept;
mod key_table;
mod lookup;
mod operator;
mod product;
mod scan;
mod sorted_runs;
mod sums;
mod table_making;
mod vector;

pub(crate) use aggregate::{AggregateCursor, Otherwise, can_share as aggregates_can_share};
pub(crate) use cursor::BatchCursor;
pub(crate) use evaluate::evaluate;
pub(crate) use filtered_scan::FilteredScan;
pub(crate) use gather::GatherCursor;
pub(crate) use operator::Operator;
use pikepole_types::Value;
pub(crate) use sorted_runs::SharedSort;
pub(crate) use vector::{Code, Vector, VectorBuilder};

/// Rows of a batch, at most.
pub(crate) const BATCH_ROWS: usize = 4096;

/// Rows, column by column.
#[derive(Debug, Clone, Default)]
pub(crate) struct Batch {
    pub(crate) rows: usize,
    /// How many rows came before in what made these.
    pub(crate) first: u64,
    /// The columns by slot.
    columns: Vec<Option<Vector>>,
}

impl Batch {
    /// Rows without columns yet.
    pub(crate) fn new(rows: usize) -> Batch {
        Batch { rows, ..Batch::default() }
    }

    /// The column of a slot, if the batch has it.
    pub(crate) fn column(&self, slot: usize) -> Option<&Vector> {
        self.columns.get(slot).and_then(Option::as_ref)
    }

    /// Gives a slot its column.
    pub(crate) fn set(&mut self, slot: usize, vector: Vector) {
        if self.columns.len() <= slot {
            self.columns.resize(slot + 1, None);
        }
        self.columns[slot] = Some(vector);
    }

    /// The slots that have columns.
    pub(crate) fn slots(&self) -> impl Iterator<Item = (usize, &Vector)> {
        self.columns.iter().enumerate().filter_map(|(slot, column)| Some((slot, column.as_ref()?)))
    }

    /// A slot behind all that have columns.
    pub(crate) fn unused_slot(&self) -> usize {
        self.columns.len()
    }

    /// Leaves a row in the slots.
    pub(crate) fn read(&self, row: usize, slots: &mut [Value]) {
        for (slot, column) in self.slots() {
            column.read(row, &mut slots[slot]);
        }
    }

    /// The rows at these places.
    pub(crate) fn take(&self, rows: &[u32]) -> Batch {
        let columns = self.columns.iter().map(|column| column.as_ref().map(|column| column.take(rows))).collect();
        Batch { rows: rows.len(), first: self.first, columns }
    }

    /// The rows of a range of places.
    pub(crate) fn cut(&self, rows: std::ops::Range<usize>) -> Batch {
        if rows == (0..self.rows) {
            return self.clone();
        }
        let places: Vec<u32> = (rows.start as u32..rows.end as u32).collect();
        let mut cut = self.take(&places);
        cut.first += rows.start as u64;
        cut
    }
}
