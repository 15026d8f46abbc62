//! Groups as rows that workers share.
//!
//! ```text
//!   workers ──► groups (see the parent) ──► ranges of them ──► workers: joins, conditions, further groups
//! ```
//! The session has them made before the workers above start. Where it cannot have them made by workers, because they are of few rows
//! or find no room, the plan above runs row by row.

use std::ops::Range;
use std::sync::Arc;

use super::{AggregateCursor, Keys, Otherwise, Partial, Stage};
use crate::access::{Pace, Stop};
use crate::executor::Run;
use crate::executor::batch::{BATCH_ROWS, Batch, VectorBuilder};
use crate::executor::parallel::{Dispenser, Ordinals, RANGE_ROWS};
use crate::expression::Fault;
use crate::plan::{Aggregate, Node};

/// Groups that are all there, and the order in which they are given.
struct Made {
    whole: Partial,
    order: Vec<u32>,
}

/// The state of a [`Node::Group`] below workers.
pub(crate) struct GroupRows {
    /// Makes them, in the session.
    cursor: Option<Box<AggregateCursor>>,
    made: Option<Arc<Made>>,
    /// The groups to be given next.
    range: Range<u64>,
    /// Gives a worker its ranges.
    dispenser: Option<Arc<Dispenser>>,
    /// The place of the first group of the last batch.
    last: u64,
}

impl GroupRows {
    /// The state of a plan whose groups workers can make; not of a single row, which needs none above.
    pub(crate) fn of(input: &Node, keys: &Keys, aggregates: &[Aggregate]) -> Option<GroupRows> {
        if keys.is_empty() {
            return None;
        }
        let shared = AggregateCursor::operator_of(input, keys, aggregates)?;
        let cursor = AggregateCursor::new(shared, Otherwise::Nothing).of_finer(input, keys, aggregates);
        Some(GroupRows { cursor: Some(Box::new(cursor)), made: None, range: 0..0, dispenser: None, last: 0 })
    }

    /// Starts over.
    pub(crate) fn open(&mut self) {
        self.made = None;
        self.cursor.iter_mut().for_each(|cursor| cursor.open());
    }

    /// See [`crate::executor::batch::Operator::forget`].
    pub(crate) fn forget(&mut self) {
        self.made = None;
        self.cursor.iter_mut().for_each(|cursor| cursor.forget());
    }

    /// Makes the groups. None where workers do not.
    pub(crate) fn prepare(&mut self, node: &Node, run: &mut Run<'_>) -> Result<Option<Ordinals>, Stop> {
        let Node::Group { input, keys, aggregates } = node else { return Ok(None) };
        if self.made.is_none() {
            let Some(cursor) = &mut self.cursor else { return Ok(None) };
            cursor.make(input, (keys, aggregates), run)?;
            if let Stage::Giving(..) = cursor.stage
                && let Stage::Giving(whole, order, _) = std::mem::replace(&mut cursor.stage, Stage::Given)
            {
                self.made = Some(Arc::new(Made { whole, order }));
            }
        }
        let count = self.made.as_ref().map(|made| made.order.len() as u64);
        // What they cost is spent.
        Ok(count.map(|count| Ordinals::below(count.max(1), RANGE_ROWS, 1)))
    }

    /// The same groups for a worker.
    pub(crate) fn fork(&self, dispenser: &Arc<Dispenser>) -> GroupRows {
        let dispenser = Some(Arc::clone(dispenser));
        GroupRows { cursor: None, made: self.made.clone(), range: 0..0, dispenser, last: 0 }
    }

    pub(crate) fn ordinal(&self) -> u64 {
        self.last
    }

    /// The next groups, in a worker.
    pub(crate) fn next(&mut self, node: &Node, run: &mut Run<'_>) -> Result<Option<Batch>, Stop> {
        let (Node::Group { keys, aggregates, .. }, Some(made)) = (node, &self.made) else { return Ok(None) };
        if self.range.is_empty()
            && let Some(dispenser) = &self.dispenser
        {
            self.range = dispenser.take();
        }
        // Where there is no group there is one range all the same.
        let (start, end) = (self.range.start, self.range.end.min(made.order.len() as u64));
        if start >= end || self.dispenser.as_ref().is_some_and(|dispenser| dispenser.is_past_failure(start)) {
            return Ok(None);
        }
        Pace::page()?;
        let end = end.min(start + BATCH_ROWS as u64);
        let mut batch = made.whole.batch(&made.order[start as usize..end as usize], (keys, aggregates), run)?;
        batch.first = start;
        (self.last, self.range.start) = (start, end);
        Ok(Some(batch))
    }
}

impl Partial {
    /// The values and results of some groups that somebody reads.
    fn batch(
        &self,
        groups: &[u32],
        (keys, aggregates): (&Keys, &[Aggregate]),
        run: &mut Run<'_>,
    ) -> Result<Batch, Fault> {
        let mut batch = Batch::new(groups.len());
        for (place, (_, slot)) in keys.iter().enumerate().filter(|(_, (_, slot))| run.live.has(*slot)) {
            batch.set(*slot, self.keys.vector(place, groups));
        }
        for (aggregate, states) in aggregates.iter().zip(&self.states) {
            // One that is not read can fail, too.
            let mut column = VectorBuilder::new();
            for &group in groups {
                column.push(&states.state(group as usize)?.finish()?);
            }
            if run.live.has(aggregate.slot) {
                batch.set(aggregate.slot, column.finish());
            }
        }
        Ok(batch)
    }
}
