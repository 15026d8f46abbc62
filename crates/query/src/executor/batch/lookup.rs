//! Joins and tests for existence that look the rows of a key up, for batches of left rows.
//!
//! Each left row goes to the slots, and the row operators find what belongs to it, as they do in a nested loop: the same rows, the same
//! errors. What is gained is that workers share the left rows, and that what stands above has batches.

use std::sync::Arc;

use super::operator::Operator;
use super::vector::{Code, Vector, VectorBuilder};
use super::{BATCH_ROWS, Batch, join::without_filters};
use crate::access::Stop;
use crate::executor::parallel::{Dispenser, Ordinals};
use crate::executor::{Cursor, Making, Run};
use crate::expression::{Predicate, Width};
use crate::plan::{JoinKind, Node, Scan, Test};
use arrow_array::Int64Array;
use pikepole_types::Value;

/// The state of such a join.
pub(crate) struct Lookup {
    left: Operator,
    /// Finds the rows; none before the first left row.
    right: Option<Cursor>,
    at_hand: Option<LeftRows>,
}

/// What becomes of left rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Join(JoinKind),
    /// A bit in this slot says whether a row was found.
    Exists(usize),
}

/// The plan of such a join.
#[derive(Clone, Copy)]
struct LookupPlan<'p> {
    left: &'p Node,
    right: &'p Node,
    scan: &'p Scan,
    on: Option<&'p Predicate>,
    kind: Kind,
}

impl<'p> LookupPlan<'p> {
    fn of(node: &'p Node) -> Option<LookupPlan<'p>> {
        let (left, right, on, kind) = match node {
            Node::Join { left, right, kind, on, .. } => (left, right, on.as_ref(), Kind::Join(*kind)),
            Node::Apply { input, subquery, test: Test::Exists, slot, correlated: true, guards, .. }
                if guards.is_empty() =>
            {
                (input, subquery, None, Kind::Exists(*slot))
            }
            _ => return None,
        };
        let Node::Scan(scan) = without_filters(right).0 else { return None };
        scan.is_lookup().then_some(LookupPlan { left, right, scan, on, kind })
    }
}

impl Lookup {
    /// The left side of a plan that can run so.
    pub(crate) fn left_of(node: &Node) -> Option<&Node> {
        LookupPlan::of(node).map(|plan| plan.left)
    }

    pub(crate) fn new(left: Operator) -> Lookup {
        Lookup { left, right: None, at_hand: None }
    }

    /// Prepares the left side for workers. None where rows are locked as they are found, and for tables of other databases.
    pub(crate) fn prepare(&mut self, node: &Node, run: &mut Run<'_>) -> Result<Option<Ordinals>, Stop> {
        let Some(plan) = LookupPlan::of(node) else { return Ok(None) };
        let (database, tx) = run.engine()?;
        if !database.is_worth_columns(tx, &plan.scan.table.engine, &plan.scan.hints, 0) {
            return Ok(None);
        }
        Ok(self.left.prepare(plan.left, run)?.map(Ordinals::loose))
    }

    /// The join of a worker.
    pub(crate) fn fork(&self, dispenser: &Arc<Dispenser>) -> Option<Lookup> {
        Some(Lookup::new(self.left.fork(dispenser)?))
    }

    /// The side whose rows come in batches.
    pub(crate) fn left(&self) -> &Operator {
        &self.left
    }

    /// Starts over.
    pub(crate) fn open(&mut self) {
        self.left.open();
        self.at_hand = None;
    }

    /// See [`Operator::forget`].
    pub(crate) fn forget(&mut self) {
        self.left.forget();
        self.right.iter_mut().for_each(Cursor::forget);
        self.at_hand = None;
    }

    pub(crate) fn next(&mut self, node: &Node, run: &mut Run<'_>) -> Result<Option<Batch>, Stop> {
        let Some(plan) = LookupPlan::of(node) else { return Ok(None) };
        let right = self.right.get_or_insert_with(|| Cursor::new(plan.right, Making::plain(run.live)));
        loop {
            let left = match &mut self.at_hand {
                Some(left) => left,
                at_hand => {
                    let take = |batch, run: &mut Run<'_>| Ok(LeftRows::new(batch, &plan, run));
                    let Some(taken) = self.left.take(plan.left, run, take)? else { return Ok(None) };
                    at_hand.insert(taken)
                }
            };
            left.look_up(&plan, right, run)?;
            let found = left.finish(&plan, run);
            if left.row == left.batch.rows {
                self.at_hand = None;
            }
            if found.rows > 0 {
                return Ok(Some(found));
            }
        }
    }
}

/// Left rows on their way.
struct LeftRows {
    batch: Batch,
    /// The row that is looked for, whether that has begun, and whether one was found.
    row: usize,
    is_within: bool,
    is_matched: bool,
    /// Left rows of those that were found.
    rows: Vec<u32>,
    /// The columns of those.
    columns: Vec<(usize, VectorBuilder)>,
    has_row: Vec<i64>,
}

impl LeftRows {
    fn new(batch: Batch, plan: &LookupPlan<'_>, run: &Run<'_>) -> LeftRows {
        let columns = columns(plan, run);
        let (rows, has_row) = (Vec::new(), Vec::new());
        LeftRows { batch, row: 0, is_within: false, is_matched: false, rows, columns, has_row }
    }

    /// Looks for rows until a batch is found or all left rows are done. Once it has stopped it goes on there.
    fn look_up(&mut self, plan: &LookupPlan<'_>, right: &mut Cursor, run: &mut Run<'_>) -> Result<(), Stop> {
        while self.row < self.batch.rows && self.rows.len() < BATCH_ROWS {
            if !self.is_within {
                self.batch.read(self.row, run.slots);
                right.open();
                (self.is_within, self.is_matched) = (true, false);
            }
            let LeftRows { row, is_matched, rows, columns, .. } = self;
            let take = |run: &mut Run<'_>| {
                let joins = plan.on.map_or(Ok(true), |on| on.holds(&mut run.env()))?;
                *is_matched |= joins;
                if joins && matches!(plan.kind, Kind::Join(_)) {
                    rows.push(*row as u32);
                    columns.iter_mut().for_each(|(slot, column)| column.push(&run.slots[*slot]));
                }
                Ok(())
            };
            let is_found = right.take(plan.right, run, take)?;
            if is_found && !(self.is_matched && matches!(plan.kind, Kind::Exists(_))) {
                continue;
            }
            match plan.kind {
                Kind::Exists(_) => self.has_row.push(i64::from(self.is_matched)),
                Kind::Join(JoinKind::Left) if !self.is_matched => {
                    self.rows.push(self.row as u32);
                    self.columns.iter_mut().for_each(|(_, column)| column.push(&Value::Null));
                }
                Kind::Join(_) => {}
            }
            self.row += 1;
            self.is_within = false;
        }
        Ok(())
    }

    /// The rows that were found.
    fn finish(&mut self, plan: &LookupPlan<'_>, run: &Run<'_>) -> Batch {
        if let Kind::Exists(slot) = plan.kind {
            let mut batch = std::mem::take(&mut self.batch);
            self.row = 0;
            let has_row = Int64Array::from(std::mem::take(&mut self.has_row));
            batch.set(slot, Vector::Coded(Code::Integer(Width::Bit), has_row));
            return batch;
        }
        let mut found = self.batch.take(&std::mem::take(&mut self.rows));
        for (slot, column) in std::mem::replace(&mut self.columns, columns(plan, run)) {
            found.set(slot, column.finish());
        }
        found
    }
}

/// Columns for the rows that are found.
fn columns(plan: &LookupPlan<'_>, run: &Run<'_>) -> Vec<(usize, VectorBuilder)> {
    let mut columns = Vec::new();
    if matches!(plan.kind, Kind::Join(_)) {
        let live = |slot: &usize| run.live.has(*slot);
        plan.right.visit_filled(&mut |slot| columns.extend(live(&slot).then(|| (slot, VectorBuilder::new()))));
    }
    columns
}

/// The state of a subquery that reads nothing of the rows outside and gives one value.
pub(crate) struct Once {
    left: Operator,
    /// What that was prepared with.
    ordinals: Option<Ordinals>,
    /// The subquery over one row without columns.
    single: Box<Node>,
    cursor: Option<Cursor>,
}

impl Once {
    /// The rows of a plan that can run so: its subquery is an aggregate, so that there is one row of it.
    pub(crate) fn left_of(node: &Node) -> Option<&Node> {
        let Node::Apply { input, subquery, test: Test::Scalar(_), correlated: false, guards, .. } = node else {
            return None;
        };
        (guards.is_empty() && is_one_row(subquery)).then_some(input)
    }

    pub(crate) fn new(left: Operator, node: &Node) -> Once {
        let mut single = Box::new(node.clone());
        if let Node::Apply { input, .. } = &mut *single {
            **input = Node::One;
        }
        Once { left, ordinals: None, single, cursor: None }
    }

    /// Evaluates the subquery, whose value workers find in its slot. None when it fails, which may be of no account: there may be no row.
    pub(crate) fn prepare(&mut self, node: &Node, run: &mut Run<'_>) -> Result<Option<Ordinals>, Stop> {
        let Some(input) = Once::left_of(node) else { return Ok(None) };
        if self.ordinals.is_none() {
            self.ordinals = self.left.prepare(input, run)?.filter(|ordinals| ordinals.worth() >= 1.0);
        }
        let Some(ordinals) = self.ordinals.clone() else { return Ok(None) };
        let cursor = match &mut self.cursor {
            Some(cursor) => cursor,
            cursor => {
                let cursor = cursor.insert(Cursor::new(&self.single, Making::plain(run.live)));
                cursor.open();
                cursor
            }
        };
        match cursor.evaluate(&self.single, run) {
            Ok(()) => {}
            Err(Stop::Error(_)) => return Ok(None),
            Err(stop) => return Err(stop),
        }
        Ok(Some(ordinals))
    }

    /// The same rows for a worker, where the value is in its slot already.
    pub(crate) fn fork(&self, dispenser: &Arc<Dispenser>) -> Option<Once> {
        let single = Box::new(Node::One);
        Some(Once { left: self.left.fork(dispenser)?, ordinals: None, single, cursor: None })
    }

    /// The rows.
    pub(crate) fn left(&self) -> &Operator {
        &self.left
    }

    /// Starts over.
    pub(crate) fn open(&mut self) {
        self.left.open();
        (self.ordinals, self.cursor) = (None, None);
    }

    /// See [`Operator::forget`].
    pub(crate) fn forget(&mut self) {
        self.left.forget();
        (self.ordinals, self.cursor) = (None, None);
    }

    pub(crate) fn next(&mut self, node: &Node, run: &mut Run<'_>) -> Result<Option<Batch>, Stop> {
        let Some(input) = Once::left_of(node) else { return Ok(None) };
        self.left.take(input, run, |batch, _| Ok(batch))
    }
}

/// Whether a plan gives one row at most: an aggregate without grouping values.
fn is_one_row(node: &Node) -> bool {
    match node {
        Node::Group { keys, .. } => keys.is_empty(),
        Node::Compute { input, .. } | Node::Filter { input, .. } => is_one_row(input),
        _ => false,
    }
}
