//! Operators: the state of the parts of a plan that run in batches.

use std::sync::Arc;

use super::aggregate::GroupRows;
use super::common_table::CommonBatches;
use super::concat::Concat;
use super::evaluate::{evaluate, filter};
use super::hash_join::HashJoin;
use super::join::ListJoin;
use super::kept::KeptRows;
use super::lookup::{Lookup, Once};
use super::product::Product;
use super::scan::ScanRows;
use super::vector::{Code, Vector, VectorBuilder};
use super::{BATCH_ROWS, Batch};
use crate::access::Stop;
use crate::bulk::FileRows;
use crate::executor::parallel::{Dispenser, KEPT_ROWS_MIN, Ordinals, RANGE_ROWS, ROWS_MIN};
use crate::executor::{Cursor, Making, Run, row_bounds};
use crate::expression::{Expr, Fault, Integer, Width};
use crate::plan::{CommonRows, LiveSlots, More, Node, Numbering, Sharing};
use arrow_array::Int64Array;
use pikepole_scheduler::chaos::{self, Site};

/// The state of an operator; its inputs are part of it.
pub(crate) enum Operator {
    /// Rows made from their ordinal.
    Product(Product),
    /// Rows of a file.
    File(Box<FileRows>),
    /// Rows that are there already.
    Kept(KeptRows),
    /// Rows of a common table.
    Common(CommonBatches),
    /// Rows of a table that workers share.
    Scan(Box<ScanRows>),
    /// Groups that workers share.
    Groups(Box<GroupRows>),
    /// The rows of a row operator.
    FromRows(Box<FromRows>),
    Filter(Box<Operator>),
    Compute(Box<Operator>),
    ListJoin(Box<ListJoin>),
    HashJoin(Box<HashJoin>),
    Lookup(Box<Lookup>),
    Once(Box<Once>),
    /// Numbers from 1, without regard to what is in the rows.
    Number {
        input: Box<Operator>,
        /// How many were given; none in a worker, where a row's place is in its batch.
        given: Option<u64>,
    },
    Top(Box<Top>),
    Concat(Concat),
}

/// See [`Node::Top`].
pub(crate) struct Top {
    input: Operator,
    /// Rows to leave out and then to give; none before the first batch.
    bounds: Option<(u64, u64)>,
    /// In a worker all rows that come are given, and those left out by all workers together only counted.
    passes: bool,
}

/// Rows of a cursor, gathered until they are a batch.
pub(crate) struct FromRows {
    cursor: Cursor,
    columns: Vec<(usize, VectorBuilder)>,
    slots: Vec<usize>,
    rows: usize,
    ended: bool,
    first: u64,
}

impl Operator {
    /// The operator of a plan that is worth running in batches.
    pub(crate) fn of(node: &Node, making: Making<'_>) -> Option<Operator> {
        makes_rows_in_bulk(node).then(|| Operator::new(node, making))
    }

    /// The operator of a plan that reads tables as a whole, for workers only: see [`ScanRows`].
    pub(crate) fn of_scan(node: &Node) -> Option<Operator> {
        Operator::shared(node, false).filter(|operator| operator.reads_table() && !operator.joins_tables())
    }

    /// The same for groups, which take rows in any order, so that tables may be joined below.
    pub(crate) fn of_groups(node: &Node) -> Option<Operator> {
        Operator::shared(node, false).filter(Operator::reads_table)
    }

    /// The operator that gives all rows of a plan, for the session itself.
    pub(super) fn of_all_rows(node: &Node, run: &mut Run<'_>) -> Result<Operator, Fault> {
        Ok(match node {
            Node::Scan(scan) if scan.is_whole() && ScanRows::is_worth_columns(scan, run)? => {
                Operator::Scan(Box::new(ScanRows::own()))
            }
            Node::Filter { input, .. } => Operator::Filter(Box::new(Operator::of_all_rows(input, run)?)),
            Node::Compute { input, .. } => Operator::Compute(Box::new(Operator::of_all_rows(input, run)?)),
            other => {
                let mut rows = FromRows::new(other, Making::plain(run.live));
                rows.open();
                Operator::FromRows(Box::new(rows))
            }
        })
    }

    /// The operator of a plan that workers can run, which may read tables.
    fn shared(node: &Node, is_branch: bool) -> Option<Operator> {
        if let Some(product) = Product::of(node) {
            return Some(Operator::Product(product));
        }
        let inner = |node: &Node| Operator::shared(node, is_branch);
        Some(match node {
            Node::Scan(scan) if scan.is_whole() => {
                Operator::Scan(Box::new(if is_branch { ScanRows::branch() } else { ScanRows::default() }))
            }
            Node::Kept { rows, .. } => Operator::Kept(KeptRows::new(rows)),
            Node::More(more) if is_shared(more) => Operator::Common(CommonBatches::default()),
            Node::Group { input, keys, aggregates } => {
                Operator::Groups(Box::new(GroupRows::of(input, keys, aggregates)?))
            }
            Node::Filter { input, .. } => Operator::Filter(Box::new(inner(input)?)),
            Node::Compute { input, .. } => Operator::Compute(Box::new(inner(input)?)),
            Node::Join { left, .. } if ListJoin::fits(node) => {
                Operator::ListJoin(Box::new(ListJoin::new(inner(left)?, node)))
            }
            Node::Number { input, partition, order, functions } if is_plain(partition, order, functions) => {
                Operator::Number { input: Box::new(inner(input)?), given: Some(0) }
            }
            Node::Top { input, .. } => Operator::Top(Box::new(Top::new(inner(input)?))),
            Node::Concat { inputs, .. } => {
                let inputs = inputs.iter().map(|(input, _)| Operator::shared(input, true));
                Operator::Concat(Concat::new(inputs.collect::<Option<_>>()?))
            }
            other => return Operator::joined(other, is_branch),
        })
    }

    /// The operator of a plan that finds rows of other tables for those of one that is shared.
    fn joined(node: &Node, is_branch: bool) -> Option<Operator> {
        let inner = |node: &Node| Operator::shared(node, is_branch);
        if let Some(left) = HashJoin::left_of(node) {
            return Some(Operator::HashJoin(Box::new(HashJoin::new(inner(left)?))));
        }
        if let Some(left) = Lookup::left_of(node) {
            return Some(Operator::Lookup(Box::new(Lookup::new(inner(left)?))));
        }
        let left = Once::left_of(node)?;
        Some(Operator::Once(Box::new(Once::new(inner(left)?, node))))
    }

    /// Whether it looks rows of one table up for those of another.
    pub(super) fn joins_tables(&self) -> bool {
        match self {
            Operator::HashJoin(_) | Operator::Lookup(_) | Operator::Once(_) => true,
            Operator::Filter(input) | Operator::Compute(input) | Operator::Number { input, .. } => input.joins_tables(),
            Operator::Top(top) => top.input.joins_tables(),
            Operator::ListJoin(join) => join.left().joins_tables(),
            Operator::Concat(concat) => concat.inputs().iter().any(Operator::joins_tables),
            _ => false,
        }
    }

    /// Whether workers that run it read tables, and so need transactions of their own.
    pub(crate) fn reads_table(&self) -> bool {
        match self {
            Operator::Scan(_) | Operator::Groups(_) | Operator::Common(_) => true,
            Operator::Filter(input) | Operator::Compute(input) | Operator::Number { input, .. } => input.reads_table(),
            Operator::Top(top) => top.input.reads_table(),
            Operator::ListJoin(join) => join.left().reads_table(),
            Operator::HashJoin(join) => join.left().reads_table(),
            Operator::Lookup(lookup) => lookup.left().reads_table(),
            Operator::Once(once) => once.left().reads_table(),
            Operator::Concat(concat) => concat.inputs().iter().any(Operator::reads_table),
            _ => false,
        }
    }

    /// True when workers can run it: nothing in it comes from a row operator.
    pub(crate) fn is_shareable(&self) -> bool {
        match self {
            Operator::FromRows(_) => false,
            Operator::Product(_)
            | Operator::File(_)
            | Operator::Kept(_)
            | Operator::Common(_)
            | Operator::Scan(_)
            | Operator::Groups(_) => true,
            Operator::Filter(input) | Operator::Compute(input) | Operator::Number { input, .. } => input.is_shareable(),
            Operator::ListJoin(join) => join.left().is_shareable(),
            Operator::HashJoin(join) => join.left().is_shareable(),
            Operator::Lookup(lookup) => lookup.left().is_shareable(),
            Operator::Once(once) => once.left().is_shareable(),
            Operator::Top(top) => top.input.is_shareable(),
            Operator::Concat(concat) => concat.inputs().iter().all(Operator::is_shareable),
        }
    }

    /// True for a plan that runs in batches, `within` one that does or on its own.
    pub(crate) fn runs_in_batches(node: &Node, within: bool) -> bool {
        match node {
            Node::Join { .. } if within => is_product_or_list(node),
            Node::Number { partition, order, functions, .. } if within => is_plain(partition, order, functions),
            Node::One | Node::Values { .. } => within,
            Node::Filter { .. } | Node::Compute { .. } | Node::Top { .. } | Node::Concat { .. } if within => true,
            _ => makes_rows_in_bulk(node),
        }
    }

    /// The operator of a list.
    pub(crate) fn list(node: &Node) -> Operator {
        Operator::new(node, Making::plain(&LiveSlots::default()))
    }

    /// The operator of any plan.
    fn new(node: &Node, making: Making<'_>) -> Operator {
        if let Some(product) = Product::of(node) {
            return Operator::Product(product);
        }
        let inner = |node: &Node| Box::new(Operator::new(node, making));
        match node {
            Node::File(source) => Operator::File(Box::new(FileRows::new(&source.file))),
            Node::Kept { rows, .. } => Operator::Kept(KeptRows::new(rows)),
            Node::Filter { input, .. } => Operator::Filter(inner(input)),
            Node::Compute { input, .. } => Operator::Compute(inner(input)),
            Node::Join { left, .. } if ListJoin::fits(node) => {
                Operator::ListJoin(Box::new(ListJoin::new(Operator::new(left, making), node)))
            }
            Node::Number { input, partition, order, functions } if is_plain(partition, order, functions) => {
                Operator::Number { input: inner(input), given: Some(0) }
            }
            Node::Top { input, .. } => Operator::Top(Box::new(Top::new(Operator::new(input, making)))),
            Node::Concat { inputs, .. } => {
                Operator::Concat(Concat::new(inputs.iter().map(|(input, _)| Operator::new(input, making)).collect()))
            }
            other => Operator::FromRows(Box::new(FromRows::new(other, making))),
        }
    }

    /// Starts over.
    pub(crate) fn open(&mut self) {
        match self {
            Operator::Product(product) => product.open(),
            Operator::FromRows(rows) => rows.open(),
            // A file is read once, batch after batch.
            Operator::File(_) => {}
            Operator::Kept(rows) => rows.open(),
            Operator::Common(rows) => rows.open(),
            Operator::Scan(rows) => rows.open(),
            Operator::Groups(rows) => rows.open(),
            Operator::Filter(input) | Operator::Compute(input) => input.open(),
            Operator::ListJoin(join) => join.open(),
            Operator::HashJoin(join) => join.open(),
            Operator::Lookup(lookup) => lookup.open(),
            Operator::Once(once) => once.open(),
            Operator::Number { input, given } => {
                *given = Some(0);
                input.open();
            }
            Operator::Top(top) => {
                top.bounds = None;
                top.input.open();
            }
            Operator::Concat(concat) => concat.open(),
        }
    }

    /// Lets go of the rows kept below it: a statement has ended.
    pub(crate) fn forget(&mut self) {
        match self {
            Operator::Product(_) | Operator::File(_) | Operator::Kept(_) | Operator::Scan(_) => {}
            Operator::Common(rows) => rows.forget(),
            Operator::Groups(rows) => rows.forget(),
            Operator::FromRows(rows) => rows.cursor.forget(),
            Operator::Filter(input) | Operator::Compute(input) | Operator::Number { input, .. } => input.forget(),
            Operator::ListJoin(join) => join.forget(),
            Operator::HashJoin(join) => join.forget(),
            Operator::Lookup(lookup) => lookup.forget(),
            Operator::Once(once) => once.forget(),
            Operator::Top(top) => top.input.forget(),
            Operator::Concat(concat) => concat.forget(),
        }
    }

    /// Makes what workers share: lists, series, bounds. Gives the ordinals of the rows; none when rows cannot be made from
    /// them. To be called before the first row is asked for; the operator can run by itself afterwards all the same.
    ///
    /// # Errors
    /// Those of the expressions evaluated for it.
    pub(crate) fn prepare(&mut self, node: &Node, run: &mut Run<'_>) -> Result<Option<Ordinals>, Stop> {
        match (self, node) {
            (Operator::Product(product), _) => {
                let rows = product.count(node, run)?;
                Ok((rows < u64::MAX).then(|| Ordinals::below(rows, RANGE_ROWS, ROWS_MIN)))
            }
            (Operator::File(rows), _) => {
                let guessed = Ordinals { range: rows.rows_guessed(), ..Ordinals::below(0, RANGE_ROWS, ROWS_MIN) };
                Ok(Some(guessed.loose()))
            }
            (Operator::Kept(rows), _) => Ok(Some(Ordinals::below(rows.all().end, RANGE_ROWS, KEPT_ROWS_MIN))),
            (Operator::Common(rows), Node::More(more)) => match &**more {
                More::Common(common) => rows.prepare(common, run),
                _ => Ok(None),
            },
            (Operator::Scan(rows), Node::Scan(scan)) => rows.prepare(scan, run),
            (Operator::Groups(rows), _) => rows.prepare(node, run),
            (Operator::Filter(operator), Node::Filter { input, .. }) => {
                Ok(operator.prepare(input, run)?.map(Ordinals::loose))
            }
            (Operator::Compute(operator), Node::Compute { input, .. }) => operator.prepare(input, run),
            (Operator::ListJoin(join), Node::Join { left, .. }) => join.prepare(left, run),
            (Operator::HashJoin(join), _) => join.prepare(node, run),
            (Operator::Lookup(lookup), _) => lookup.prepare(node, run),
            (Operator::Once(once), _) => once.prepare(node, run),
            (Operator::Number { input: operator, .. }, Node::Number { input, .. }) => {
                Ok(operator.prepare(input, run)?.filter(|ordinals| ordinals.kept))
            }
            (Operator::Top(top), Node::Top { input, offset, count }) => {
                top.prepare(input, offset.as_ref(), count.as_ref(), run)
            }
            (Operator::Concat(concat), Node::Concat { inputs, .. }) => concat.prepare(inputs, run),
            _ => Ok(None),
        }
    }

    /// The operator of a worker that shares what [`Operator::prepare`] has made.
    pub(crate) fn fork(&self, dispenser: &Arc<Dispenser>) -> Option<Operator> {
        Some(match self {
            Operator::Product(product) => Operator::Product(product.fork(dispenser)),
            Operator::File(rows) => Operator::File(Box::new(rows.fork(dispenser))),
            Operator::Kept(rows) => Operator::Kept(rows.fork(dispenser)),
            Operator::Common(rows) => Operator::Common(rows.fork(dispenser)),
            Operator::Scan(rows) => Operator::Scan(Box::new(rows.fork(dispenser))),
            Operator::Groups(rows) => Operator::Groups(Box::new(rows.fork(dispenser))),
            Operator::Filter(input) => Operator::Filter(Box::new(input.fork(dispenser)?)),
            Operator::Compute(input) => Operator::Compute(Box::new(input.fork(dispenser)?)),
            Operator::ListJoin(join) => Operator::ListJoin(Box::new(join.fork(dispenser)?)),
            Operator::HashJoin(join) => Operator::HashJoin(Box::new(join.fork(dispenser)?)),
            Operator::Lookup(lookup) => Operator::Lookup(Box::new(lookup.fork(dispenser)?)),
            Operator::Once(once) => Operator::Once(Box::new(once.fork(dispenser)?)),
            Operator::Number { input, .. } => Operator::Number { input: Box::new(input.fork(dispenser)?), given: None },
            Operator::Top(top) => {
                let input = top.input.fork(dispenser)?;
                Operator::Top(Box::new(Top { input, bounds: top.bounds, passes: true }))
            }
            Operator::Concat(concat) => Operator::Concat(concat.fork(dispenser)?),
            Operator::FromRows(_) => return None,
        })
    }

    /// Workers at least. One alone pays for rows that only go into a table: they go there page by page.
    pub(crate) fn degree_min(&self) -> usize {
        match self {
            Operator::File(_) | Operator::Kept(_) => 1,
            _ => 2,
        }
    }

    /// The number of the last batch, which grows with the ordinals of its rows.
    pub(crate) fn ordinal(&self) -> u64 {
        match self {
            Operator::Product(product) => product.ordinal(),
            Operator::File(rows) => rows.ordinal(),
            Operator::Kept(rows) => rows.ordinal(),
            Operator::Common(rows) => rows.ordinal(),
            Operator::Scan(rows) => rows.ordinal(),
            Operator::Groups(rows) => rows.ordinal(),
            Operator::Filter(input) | Operator::Compute(input) | Operator::Number { input, .. } => input.ordinal(),
            Operator::ListJoin(join) => join.ordinal(),
            Operator::HashJoin(join) => join.left().ordinal(),
            Operator::Lookup(lookup) => lookup.left().ordinal(),
            Operator::Once(once) => once.left().ordinal(),
            Operator::Top(top) => top.input.ordinal(),
            Operator::Concat(concat) => concat.ordinal(),
            Operator::FromRows(_) => 0,
        }
    }

    /// Has `take` use the next rows, of which there is at least one; none at the end. `take` can fail, but not pause: so nothing stops
    /// between a batch and its use, see [`Cursor::take`].
    ///
    /// # Errors
    /// A need, after which the call is made again: no batch was taken; errors of expressions and storage.
    pub(crate) fn take<R>(
        &mut self,
        node: &Node,
        run: &mut Run<'_>,
        take: impl FnOnce(Batch, &mut Run<'_>) -> Result<R, Fault>,
    ) -> Result<Option<R>, Stop> {
        if chaos::stops(Site::Batch) {
            return Err(Stop::Yield);
        }
        let next = self.next(node, run)?;
        if next.is_some() && chaos::loses_row() {
            return Err(Stop::Yield);
        }
        Ok(next.map(|batch| take(batch, run)).transpose()?)
    }

    /// Makes the next rows, for [`Operator::take`] alone.
    fn next(&mut self, node: &Node, run: &mut Run<'_>) -> Result<Option<Batch>, Stop> {
        match (self, node) {
            (Operator::Product(product), _) => product.next(node, run),
            (Operator::FromRows(rows), _) => rows.next(node, run),
            (Operator::File(rows), _) => rows.next(),
            (Operator::Kept(rows), Node::Kept { registers, .. }) => rows.next(registers.range().enumerate(), run),
            (Operator::Common(rows), Node::More(more)) => match &**more {
                More::Common(common) => rows.next(common, run),
                _ => Ok(None),
            },
            (Operator::Scan(rows), Node::Scan(scan)) => rows.next(scan, run),
            (Operator::Groups(rows), _) => rows.next(node, run),
            (Operator::Filter(operator), Node::Filter { input, predicate }) => loop {
                let filtered = operator.take(input, run, |batch, run| filter(predicate, batch, run))?;
                if filtered.as_ref().is_none_or(|batch| batch.rows > 0) {
                    return Ok(filtered);
                }
            },
            (Operator::Compute(operator), Node::Compute { input, assignments }) => {
                operator.take(input, run, |mut batch, run| assign(assignments, &mut batch, run).map(|()| batch))
            }
            (Operator::ListJoin(join), Node::Join { left, .. }) => join.next(left, run),
            (Operator::HashJoin(join), _) => join.next(node, run),
            (Operator::Lookup(lookup), _) => lookup.next(node, run),
            (Operator::Once(once), _) => once.next(node, run),
            (Operator::Number { input: operator, given }, Node::Number { input, functions, .. }) => {
                operator.take(input, run, |mut batch, _| {
                    let first = given.unwrap_or(batch.first) as i64 + 1;
                    if let Some(given) = given {
                        *given += batch.rows as u64;
                    }
                    for (_, slot) in functions {
                        let numbers = Int64Array::from_iter_values(first..first + batch.rows as i64);
                        batch.set(*slot, Vector::Coded(Code::Integer(Width::Big), numbers));
                    }
                    Ok(batch)
                })
            }
            (Operator::Top(top), Node::Top { input, offset, count }) => {
                top.next(input, offset.as_ref(), count.as_ref(), run)
            }
            (Operator::Concat(concat), Node::Concat { inputs, registers }) => concat.next(inputs, *registers, run),
            _ => Ok(None),
        }
    }
}

/// Numbers that follow from the place of a row alone.
fn is_plain<K>(partition: &[K], order: &[K], functions: &[(Numbering, usize)]) -> bool {
    partition.is_empty() && order.is_empty() && functions.iter().all(|(function, _)| *function == Numbering::Row)
}

/// True for a common table that its names share.
fn is_shared(more: &More) -> bool {
    matches!(more, More::Common(CommonRows { sharing: Sharing::Shared { .. }, .. }))
}

fn is_product_or_list(node: &Node) -> bool {
    Product::of(node).is_some() || ListJoin::fits(node)
}

/// Whether a plan multiplies rows that it makes itself, or passes on the rows of such a plan.
fn makes_rows_in_bulk(node: &Node) -> bool {
    match node {
        Node::Series(_) | Node::File(_) | Node::Kept { .. } => true,
        Node::Join { left, .. } => Product::of(node).is_some() || (ListJoin::fits(node) && makes_rows_in_bulk(left)),
        Node::Number { input, partition, order, functions } => {
            is_plain(partition, order, functions) && makes_rows_in_bulk(input)
        }
        Node::Filter { input, .. } | Node::Compute { input, .. } | Node::Top { input, .. } => makes_rows_in_bulk(input),
        Node::Concat { inputs, .. } => inputs.iter().any(|(input, _)| makes_rows_in_bulk(input)),
        _ => false,
    }
}

/// Computes the columns that somebody reads.
pub(crate) fn assign(assignments: &[(usize, Expr)], batch: &mut Batch, run: &mut Run<'_>) -> Result<(), Fault> {
    for (slot, expr) in assignments {
        if run.live.has(*slot) {
            let column = evaluate(expr, batch, run)?;
            batch.set(*slot, column);
        }
    }
    Ok(())
}

impl Top {
    fn new(input: Operator) -> Top {
        Top { input, bounds: None, passes: false }
    }

    /// See [`Operator::prepare`].
    fn prepare(
        &mut self,
        node: &Node,
        offset: Option<&Integer>,
        count: Option<&Integer>,
        run: &mut Run<'_>,
    ) -> Result<Option<Ordinals>, Stop> {
        let Some(mut ordinals) = self.input.prepare(node, run)?.filter(|ordinals| ordinals.kept) else {
            return Ok(None);
        };
        let (skip, give) = row_bounds(offset, count, run)?;
        self.bounds = Some((skip, give));
        ordinals.base = ordinals.base.saturating_add(skip);
        let end = ordinals.range.end.min(ordinals.base.saturating_add(give));
        ordinals.range = ordinals.range.start.max(ordinals.base).min(end)..end;
        Ok(Some(ordinals))
    }

    fn next(
        &mut self,
        node: &Node,
        offset: Option<&Integer>,
        count: Option<&Integer>,
        run: &mut Run<'_>,
    ) -> Result<Option<Batch>, Stop> {
        let (skip, left) = match &mut self.bounds {
            Some(bounds) => bounds,
            bounds => bounds.insert(row_bounds(offset, count, run)?),
        };
        if self.passes {
            return self.input.take(node, run, |batch, _| Ok(Batch { first: batch.first - *skip, ..batch }));
        }
        while *left > 0 {
            let cut = self.input.take(node, run, |batch, _| {
                let rows = batch.rows as u64;
                let from = (*skip).min(rows);
                *skip -= from;
                let to = from + (rows - from).min(*left);
                *left -= to - from;
                Ok(batch.cut(from as usize..to as usize))
            })?;
            if cut.as_ref().is_none_or(|batch| batch.rows > 0) {
                return Ok(cut);
            }
        }
        Ok(None)
    }
}

impl FromRows {
    fn new(node: &Node, making: Making<'_>) -> FromRows {
        let mut slots = Vec::new();
        node.visit_filled(&mut |slot| {
            if making.live.has(slot) {
                slots.push(slot);
            }
        });
        FromRows { cursor: Cursor::new(node, making), columns: Vec::new(), slots, rows: 0, ended: false, first: 0 }
    }

    fn open(&mut self) {
        self.cursor.open();
        self.columns.clear();
        self.rows = 0;
        self.ended = false;
        self.first = 0;
    }

    fn next(&mut self, node: &Node, run: &mut Run<'_>) -> Result<Option<Batch>, Stop> {
        if self.rows == 0 {
            self.columns = self.slots.iter().map(|&slot| (slot, VectorBuilder::new())).collect();
        }
        while !self.ended && self.rows < BATCH_ROWS {
            let (columns, rows) = (&mut self.columns, &mut self.rows);
            let take = |run: &mut Run<'_>| {
                columns.iter_mut().for_each(|(slot, column)| column.push(&run.slots[*slot]));
                *rows += 1;
                Ok(())
            };
            self.ended = !self.cursor.take(node, run, take)?;
        }
        if self.rows == 0 {
            return Ok(None);
        }
        let mut batch = Batch::new(std::mem::take(&mut self.rows));
        batch.first = self.first;
        self.first += batch.rows as u64;
        for (slot, column) in self.columns.drain(..) {
            batch.set(slot, column.finish());
        }
        Ok(Some(batch))
    }
}
