//! Joins whose right side is a short list.
//!
//! The list is made once. A batch of left rows is paired with all its rows, the conditions are asked about the pairs, and
//! left rows without a pair are kept with NULLs when the join keeps them.

use std::sync::Arc;

use super::evaluate::filter;
use super::operator::Operator;
use super::vector::{Code, Vector};
use super::{BATCH_ROWS, Batch};
use crate::access::Stop;
use crate::executor::Run;
use crate::executor::parallel::{Dispenser, Ordinals};
use crate::expression::{Fault, Predicate, Width};
use crate::plan::{JoinKind, Node};
use arrow_array::Int64Array;

/// Rows of a list that is joined this way, at most.
const LIST_ROWS_MAX: usize = 256;

/// The state of such a join.
pub(crate) struct ListJoin {
    left: Operator,
    /// The right side without its conditions, and those with the join's own.
    list: Node,
    conditions: Vec<Predicate>,
    keeps_left: bool,
    /// The right rows and the slots they fill.
    rows: Option<Batch>,
    right_slots: Vec<usize>,
    /// The left rows at hand, and how many of them are done.
    at_hand: Option<(Batch, usize)>,
}

/// A list below conditions and renamings that read nothing of the left side.
fn list_rows(node: &Node) -> Option<usize> {
    match node {
        Node::One => Some(1),
        Node::Values { rows, .. } => Some(rows.len()),
        Node::Compute { input, .. } => list_rows(input),
        _ => None,
    }
}

/// A plan without the filters on top of it, and what they test.
pub(super) fn without_filters(mut node: &Node) -> (&Node, Vec<&Predicate>) {
    let mut tested = Vec::new();
    while let Node::Filter { input, predicate } = node {
        tested.push(predicate);
        node = input;
    }
    (node, tested)
}

/// Whether a join gives the left rows as they are, with NULLs: its condition holds for no pair.
fn keeps_left_alone(node: &Node) -> bool {
    matches!(node, Node::Join { kind: JoinKind::Left, on: Some(on), .. } if on.is_never())
}

impl ListJoin {
    /// Whether a join's right side is a short list that reads nothing of the left side.
    pub(crate) fn fits(node: &Node) -> bool {
        let Node::Join { left, right, .. } = node else {
            return false;
        };
        let (list, _) = without_filters(right);
        let short = list_rows(list).is_some_and(|rows| rows <= LIST_ROWS_MAX);
        keeps_left_alone(node) || (short && list.is_independent_of(left))
    }

    pub(crate) fn new(left: Operator, node: &Node) -> ListJoin {
        let (mut conditions, mut list, mut keeps_left, mut right_slots) = (Vec::new(), Node::One, false, Vec::new());
        if let Node::Join { right, on, .. } = node
            && keeps_left_alone(node)
        {
            // Whatever is at the right, none of it is asked for.
            right.visit_filled(&mut |slot| right_slots.push(slot));
            (conditions, keeps_left) = (on.iter().cloned().collect(), true);
        } else if let Node::Join { right, kind, on, .. } = node {
            let (core, tested) = without_filters(right);
            conditions.extend(tested.into_iter().cloned());
            conditions.extend(on.clone());
            core.visit_filled(&mut |slot| right_slots.push(slot));
            list = core.clone();
            keeps_left = *kind == JoinKind::Left;
        }
        ListJoin { left, list, conditions, keeps_left, rows: None, right_slots, at_hand: None }
    }

    /// Prepares the left side for workers and makes the list they share. The left rows keep their places when each has
    /// one partner or none.
    pub(crate) fn prepare(&mut self, left: &Node, run: &mut Run<'_>) -> Result<Option<Ordinals>, Stop> {
        let Some(mut ordinals) = self.left.prepare(left, run)? else {
            return Ok(None);
        };
        let list = match self.rows.take() {
            Some(list) => list,
            None => self.list_batch(run)?,
        };
        let each_one = self.keeps_left && (self.never() || list.rows <= 1);
        ordinals.kept &= each_one || (list.rows == 1 && self.conditions.is_empty());
        self.rows = Some(list);
        Ok(Some(ordinals))
    }

    /// The join of a worker, over the same list.
    pub(crate) fn fork(&self, dispenser: &Arc<Dispenser>) -> Option<ListJoin> {
        Some(ListJoin {
            left: self.left.fork(dispenser)?,
            list: self.list.clone(),
            conditions: self.conditions.clone(),
            keeps_left: self.keeps_left,
            rows: self.rows.clone(),
            right_slots: self.right_slots.clone(),
            at_hand: None,
        })
    }

    /// The side whose rows are paired.
    pub(crate) fn left(&self) -> &Operator {
        &self.left
    }

    /// See [`Operator::ordinal`].
    pub(crate) fn ordinal(&self) -> u64 {
        self.left.ordinal()
    }

    /// Whether the conditions hold for no pair.
    fn never(&self) -> bool {
        self.conditions.iter().any(Predicate::is_never)
    }

    pub(crate) fn open(&mut self) {
        self.left.open();
        self.rows = None;
        self.at_hand = None;
    }

    /// See [`Operator::forget`].
    pub(crate) fn forget(&mut self) {
        self.left.forget();
    }

    pub(crate) fn next(&mut self, left: &Node, run: &mut Run<'_>) -> Result<Option<Batch>, Stop> {
        if self.rows.is_none() {
            self.rows = Some(self.list_batch(run)?);
        }
        loop {
            if self.at_hand.is_none() {
                let at_hand = &mut self.at_hand;
                let take = |batch, _: &mut Run<'_>| {
                    *at_hand = Some((batch, 0));
                    Ok(())
                };
                self.left.take(left, run, take)?;
            }
            let Some((batch, done)) = self.at_hand.take() else { return Ok(None) };
            let list = self.rows.clone().unwrap_or_default();
            if list.rows == 0 || self.never() {
                if self.keeps_left {
                    return Ok(Some(self.unmatched(batch, run)));
                }
                continue;
            }
            let count = (BATCH_ROWS / list.rows).max(1).min(batch.rows - done);
            let part = batch.cut(done..done + count);
            if done + count < batch.rows {
                self.at_hand = Some((batch, done + count));
            }
            let joined = self.join(&part, &list, run)?;
            if joined.rows > 0 {
                return Ok(Some(joined));
            }
        }
    }

    /// The rows of the list.
    fn list_batch(&self, run: &mut Run<'_>) -> Result<Batch, Stop> {
        let mut operator = Operator::list(&self.list);
        Ok(operator.take(&self.list, run, |batch, _| Ok(batch))?.unwrap_or_default())
    }

    fn unmatched(&self, mut batch: Batch, run: &Run<'_>) -> Batch {
        for &slot in self.right_slots.iter().filter(|slot| run.live.has(**slot)) {
            batch.set(slot, Vector::Same(pikepole_types::Value::Null));
        }
        batch
    }

    /// Left rows with their partners, in the order of the left rows and then of the list.
    fn join(&self, left: &Batch, list: &Batch, run: &mut Run<'_>) -> Result<Batch, Fault> {
        let pairs = self.pairs(left, list, run)?;
        let mut left_rows = Vec::with_capacity(pairs.len());
        let mut right_rows = Vec::with_capacity(pairs.len());
        let mut pairs = pairs.into_iter().peekable();
        for row in 0..left.rows as u32 {
            let mut matched = false;
            while let Some((_, right)) = pairs.next_if(|(of, _)| *of == row) {
                matched = true;
                left_rows.push(row);
                right_rows.push(Some(right));
            }
            if !matched && self.keeps_left {
                left_rows.push(row);
                right_rows.push(None);
            }
        }
        let mut joined = left.take(&left_rows);
        for (slot, column) in list.slots() {
            joined.set(slot, column.take_or_null(&right_rows));
        }
        Ok(joined)
    }

    /// The pairs for which the conditions hold, ascending.
    fn pairs(&self, left: &Batch, list: &Batch, run: &mut Run<'_>) -> Result<Vec<(u32, u32)>, Fault> {
        let count = left.rows * list.rows;
        let place = |pair: usize| ((pair / list.rows) as u32, (pair % list.rows) as u32);
        if self.conditions.is_empty() {
            return Ok((0..count).map(place).collect());
        }
        let (lefts, rights): (Vec<u32>, Vec<u32>) = (0..count).map(place).unzip();
        let mut all = left.take(&lefts);
        for (slot, column) in list.slots() {
            all.set(slot, column.take(&rights));
        }
        // The number of each pair travels in a column that no expression knows.
        let numbers = all.unused_slot();
        all.set(numbers, Vector::Coded(Code::Integer(Width::Big), Int64Array::from_iter_values(0..count as i64)));
        for condition in &self.conditions {
            all = filter(condition, all, run)?;
        }
        Ok(match all.column(numbers) {
            Some(Vector::Coded(_, kept)) => kept.values().iter().map(|&pair| place(pair as usize)).collect(),
            _ => Vec::new(),
        })
    }
}
