//! Joins and tests for existence by hash, in batches.
//!
//! ```text
//!   session    rows of the right side ──► KeyTable (see table_making)
//!                                            │
//!   workers    left rows ──► pairs of equal keys ──► conditions ──► joined rows
//! ```
//! The right side is a spool: the row operators keep it in a table of rows. Here the session makes a table of columns of it before the
//! workers start; without keys all rows are one chain. Where it does not find room in memory the plan runs row by row, on tapes if need
//! be.

use std::sync::Arc;

use super::Batch;
use super::condition::cannot_fail;
use super::evaluate::filter;
use super::key_table::{KeyTable, NONE, RowKeys};
use super::operator::Operator;
use super::table_making::PendingTable;
use super::vector::{Code, Vector};
use super::{BATCH_ROWS, join::without_filters};
use crate::access::{Pace, Stop};
use crate::executor::Run;
use crate::executor::parallel::{Dispenser, Ordinals};
use crate::executor::spill::Charge;
use crate::expression::{Fault, Predicate, Width};
use crate::plan::{JoinKind, More, Node, Spool, Test};
use arrow_array::Int64Array;

/// Pairs that are made at once, about at most.
const PAIRS_MAX: usize = 2 * BATCH_ROWS;

/// The state of such a join.
pub(crate) struct HashJoin {
    left: Operator,
    /// What the left side was prepared with: a table is not cut again each time that the session goes on with the right side.
    ordinals: Option<Ordinals>,
    /// The right side; none before [`HashJoin::prepare`].
    table: Option<Arc<KeyTable>>,
    /// The same while it is made.
    pending: Option<Box<PendingTable>>,
    charge: Charge,
    /// There is no room for the right side.
    is_full: bool,
    at_hand: Option<LeftRows>,
}

/// What becomes of left rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// One row for each pair.
    Inner,
    /// The same, and rows without a pair once with NULLs.
    Left,
    /// One row for each, with a bit in this slot: whether there is a pair.
    Exists(usize),
}

/// The plan of such a join.
struct HashPlan<'p> {
    left: &'p Node,
    spool: &'p Spool,
    conditions: Vec<&'p Predicate>,
    kind: Kind,
}

impl<'p> HashPlan<'p> {
    fn of(node: &'p Node) -> Option<HashPlan<'p>> {
        let (left, right, kind, on) = match node {
            Node::Join { left, right, kind: JoinKind::Inner, on, .. } => (left, right, Kind::Inner, on.as_ref()),
            Node::Join { left, right, kind: JoinKind::Left, on, .. } => (left, right, Kind::Left, on.as_ref()),
            Node::Apply { input, subquery, test: Test::Exists, slot, correlated: true, guards, .. }
                if guards.is_empty() =>
            {
                (input, subquery, Kind::Exists(*slot), None)
            }
            _ => return None,
        };
        let (core, mut conditions) = without_filters(right);
        // Those below come first.
        conditions.reverse();
        conditions.extend(on);
        let Node::More(more) = core else { return None };
        let More::Spool(spool) = more.as_ref() else { return None };
        // The rows that are looked at end with the first pair, elsewhere: an error behind it is none, and without keys few may be enough.
        let fits = matches!(kind, Kind::Inner | Kind::Left)
            || (!spool.keys.is_empty() && conditions.iter().all(|one| cannot_fail(one)));
        fits.then_some(HashPlan { left, spool, conditions, kind })
    }
}

impl HashJoin {
    /// The left side of a plan that can run so.
    pub(crate) fn left_of(node: &Node) -> Option<&Node> {
        HashPlan::of(node).map(|plan| plan.left)
    }

    pub(crate) fn new(left: Operator) -> HashJoin {
        let charge = Charge::default();
        HashJoin { left, ordinals: None, table: None, pending: None, charge, is_full: false, at_hand: None }
    }

    /// Prepares the left side for workers and makes the table that they share. None when there is no room for it.
    pub(crate) fn prepare(&mut self, node: &Node, run: &mut Run<'_>) -> Result<Option<Ordinals>, Stop> {
        let Some(plan) = HashPlan::of(node) else { return Ok(None) };
        if self.ordinals.is_none() {
            self.ordinals = self.left.prepare(plan.left, run)?.filter(|ordinals| ordinals.worth() >= 1.0);
        }
        let Some(ordinals) = self.ordinals.clone() else { return Ok(None) };
        if self.table.is_none() && !self.is_full {
            self.is_full = !self.make(&plan, run)?;
            self.pending = None;
        }
        if self.is_full {
            self.charge.clear();
            return Ok(None);
        }
        Ok(Some(ordinals.loose()))
    }

    /// Makes the table. False: there is no room for it.
    fn make(&mut self, plan: &HashPlan<'_>, run: &mut Run<'_>) -> Result<bool, Stop> {
        let is_distinct = matches!(plan.kind, Kind::Exists(_)) && plan.conditions.is_empty();
        let pending = self.pending.get_or_insert_with(|| Box::new(PendingTable::new(plan.spool, is_distinct, run)));
        if !pending.fill(plan.spool, &mut self.charge, run)? {
            return Ok(false);
        }
        self.table = self.pending.take().map(|pending| Arc::new(pending.finish()));
        Ok(true)
    }

    /// The join of a worker, over the same table.
    pub(crate) fn fork(&self, dispenser: &Arc<Dispenser>) -> Option<HashJoin> {
        Some(HashJoin { table: self.table.clone(), ..HashJoin::new(self.left.fork(dispenser)?) })
    }

    /// The side whose rows come in batches.
    pub(crate) fn left(&self) -> &Operator {
        &self.left
    }

    /// Starts over; the table stays, as it depends on nothing outside.
    pub(crate) fn open(&mut self) {
        self.left.open();
        (self.ordinals, self.at_hand) = (None, None);
    }

    /// See [`Operator::forget`].
    pub(crate) fn forget(&mut self) {
        self.left.forget();
        (self.ordinals, self.at_hand) = (None, None);
        (self.table, self.pending, self.is_full) = (None, None, false);
        self.charge.clear();
    }

    pub(crate) fn next(&mut self, node: &Node, run: &mut Run<'_>) -> Result<Option<Batch>, Stop> {
        let (Some(plan), Some(table)) = (HashPlan::of(node), self.table.clone()) else { return Ok(None) };
        loop {
            // Conditions may leave nothing of many pairs.
            Pace::page()?;
            let left = match &mut self.at_hand {
                Some(left) => left,
                at_hand => {
                    let take = |batch, run: &mut Run<'_>| LeftRows::new(batch, &plan, &table, run);
                    let Some(taken) = self.left.take(plan.left, run, take)? else { return Ok(None) };
                    at_hand.insert(taken)
                }
            };
            let joined = left.join(&plan, &table, run)?;
            if left.is_done() {
                self.at_hand = None;
            }
            if joined.rows > 0 {
                return Ok(Some(joined));
            }
        }
    }
}

/// Left rows on their way.
struct LeftRows {
    batch: Batch,
    keys: RowKeys,
    /// Where in its chain each row goes on.
    at: Vec<u32>,
    /// The first row that is not done, and whether it has a pair already.
    row: usize,
    is_matched: bool,
}

/// Places of pairs.
#[derive(Default)]
struct Pairs {
    left: Vec<u32>,
    right: Vec<u32>,
}

impl LeftRows {
    fn new(batch: Batch, plan: &HashPlan<'_>, table: &KeyTable, run: &mut Run<'_>) -> Result<LeftRows, Fault> {
        let keys = RowKeys::of(plan.spool.keys.iter().map(|key| (&key.outer, key.collation)), &batch, run)?;
        let at = table.starts(&keys, batch.rows);
        Ok(LeftRows { batch, keys, at, row: 0, is_matched: false })
    }

    fn is_done(&self) -> bool {
        self.row >= self.batch.rows
    }

    /// The next rows that come of these; none may mean that there are more.
    fn join(&mut self, plan: &HashPlan<'_>, table: &KeyTable, run: &mut Run<'_>) -> Result<Batch, Fault> {
        if let Kind::Exists(slot) = plan.kind {
            return self.test(plan, slot, table, run);
        }
        let first = self.row;
        let mut pairs = self.pairs(table);
        if plan.kind == Kind::Inner {
            return pairs.joined(&self.batch, table, &plan.conditions, run);
        }
        if !plan.conditions.is_empty() {
            pairs = pairs.that(&plan.conditions, &self.batch, table, run)?;
        }
        let (mut left, mut right) = (Vec::with_capacity(pairs.left.len()), Vec::with_capacity(pairs.left.len()));
        let mut found = pairs.left.iter().zip(&pairs.right).peekable();
        for row in first..self.batch.rows.min(self.row + 1) {
            while let Some((_, &at)) = found.next_if(|(of, _)| **of == row as u32) {
                self.is_matched = true;
                left.push(row as u32);
                right.push(Some(at));
            }
            if row < self.row && !std::mem::take(&mut self.is_matched) {
                left.push(row as u32);
                right.push(None);
            }
        }
        let mut joined = self.batch.take(&left);
        table.fill_or_null(&mut joined, &right);
        Ok(joined)
    }

    /// The next pairs with equal keys. Rows before `self.row` have all of theirs then.
    fn pairs(&mut self, table: &KeyTable) -> Pairs {
        let mut pairs = Pairs::default();
        while self.row < self.batch.rows {
            let mut at = table.find(self.at[self.row], &self.keys, self.row);
            while at != NONE {
                pairs.left.push(self.row as u32);
                pairs.right.push(at);
                at = table.find_next(at, &self.keys, self.row);
                if pairs.left.len() >= PAIRS_MAX {
                    self.at[self.row] = at;
                    return pairs;
                }
            }
            self.row += 1;
        }
        pairs
    }

    /// All rows, with a bit that says whether there is a pair.
    fn test(&mut self, plan: &HashPlan<'_>, slot: usize, table: &KeyTable, run: &mut Run<'_>) -> Result<Batch, Fault> {
        let mut has_pair = vec![0; self.batch.rows];
        if plan.conditions.is_empty() {
            for (row, has) in has_pair.iter_mut().enumerate() {
                *has = i64::from(table.find(self.at[row], &self.keys, row) != NONE);
            }
        } else {
            while !self.is_done() {
                let pairs = self.pairs(table).that(&plan.conditions, &self.batch, table, run)?;
                pairs.left.iter().for_each(|&row| has_pair[row as usize] = 1);
            }
        }
        // Without rows these are done.
        let mut batch = std::mem::take(&mut self.batch);
        batch.set(slot, Vector::Coded(Code::Integer(Width::Bit), Int64Array::from(has_pair)));
        Ok(batch)
    }
}

impl Pairs {
    /// The rows of both sides together, for which conditions hold.
    fn joined(
        &self,
        left: &Batch,
        table: &KeyTable,
        conditions: &[&Predicate],
        run: &mut Run<'_>,
    ) -> Result<Batch, Fault> {
        // Often each row has one pair: then it stays where it is.
        let is_same = self.left.len() == left.rows && self.left.iter().enumerate().all(|(at, row)| at as u32 == *row);
        let mut joined = if is_same { left.clone() } else { left.take(&self.left) };
        table.fill(&mut joined, &self.right);
        for condition in conditions {
            joined = filter(condition, joined, run)?;
        }
        Ok(joined)
    }

    /// Those for which conditions hold.
    fn that(
        self,
        conditions: &[&Predicate],
        left: &Batch,
        table: &KeyTable,
        run: &mut Run<'_>,
    ) -> Result<Pairs, Fault> {
        let mut all = self.joined(left, table, &[], run)?;
        // The number of each pair travels in a column that no expression knows.
        let numbers = all.unused_slot();
        let count = self.left.len() as i64;
        all.set(numbers, Vector::Coded(Code::Integer(Width::Big), Int64Array::from_iter_values(0..count)));
        for condition in conditions {
            all = filter(condition, all, run)?;
        }
        let Some(Vector::Coded(_, kept)) = all.column(numbers) else { return Ok(Pairs::default()) };
        let of = |places: &[u32]| kept.values().iter().map(|&pair| places[pair as usize]).collect();
        Ok(Pairs { left: of(&self.left), right: of(&self.right) })
    }
}
