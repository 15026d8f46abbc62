//! The state of a running plan: one cursor per operator, in a tree of the same shape as the plan.
//!
//! An operator leaves a row in the registers and returns true, or returns false at the end. It can stop anywhere with
//! [`Stop::Blocked`] or [`Stop::Yield`]: all progress is in the cursors, so that the caller awaits the need, or its turn, and asks
//! again.
//!
//! ```text
//!   take    the next row of the input, used by a closure: kept in the operator's state
//!   give    the next row of the input that a closure admits: passed on
//! ```
//! Between a row of an input and its use nothing can stop, because there is no other way to a row than these two, and their
//! closures return a [`Fault`], which ends the statement, and no [`Stop`]. What may have to wait for a row that was used (memory,
//! a block of a file, the quantum) is asked for before the next one is taken.

use std::sync::Arc;

use super::Run;
use super::apply::ApplyCursor;
use super::group::GroupCursor;
use super::join::JoinCursor;
use super::more::MoreCursor;
use super::number::NumberCursor;
use super::profile::{CountedCursor, Making};
use super::sort::SortCursor;
use crate::access::{HostCall, Pace, ScanCursor, Stop};
use crate::errors;
use crate::executor::batch::{
    AggregateCursor, BatchCursor, FilteredScan, GatherCursor, Operator, Otherwise, SharedSort,
};
use crate::expression::{Expr, Fault, Integer};
use crate::plan::{Aggregate, Node, Registers, Scan};
use pikepole_scheduler::chaos::{self, Site};
use pikepole_types::Value;

/// One operator's state.
pub(crate) enum Cursor {
    One { given: bool },
    Scan(Box<ScanCursor>),
    Listed { next: usize, pace: Pace },
    Called(CallCursor),
    Through(Box<Cursor>),
    Join(Box<JoinCursor>),
    Apply(Box<ApplyCursor>),
    Group(Box<GroupCursor>),
    Aggregate(Box<AggregateCursor>),
    Sort(Box<SortCursor>),
    Number(Box<NumberCursor>),
    Batch(Box<BatchCursor>),
    Filtered(Box<FilteredScan>),
    Gathered(Box<GatherCursor>),
    Top(Box<TopCursor>),
    Concat { inputs: Vec<Cursor>, current: usize },
    More(Box<MoreCursor>),
    Counted(Box<CountedCursor>),
    Settled(Box<Cursor>),
}

/// The rows of a function for the present row outside it.
#[derive(Default)]
pub(crate) struct CallCursor {
    rows: Option<Arc<Vec<Vec<Value>>>>,
    /// True once the rows have been asked for.
    asked: bool,
    next: usize,
}

pub(crate) struct TopCursor {
    input: Cursor,
    started: bool,
    skip: u64,
    left: u64,
}

impl Cursor {
    /// The cursor for a plan, not yet open.
    pub(crate) fn new(node: &Node, making: Making<'_>) -> Cursor {
        if !making.tells
            && !matches!(node, Node::Scan(_))
            && let Some(scan) = target_of(node)
            && scan.hints.changes
        {
            let making = Making { tells: true, regroups: false, gathers: false, ..making };
            return Cursor::Settled(Box::new(Cursor::new(node, making)));
        }
        let cursor = Cursor::uncounted(node, making);
        match making.profile {
            None => cursor,
            Some(profile) => Cursor::Counted(Box::new(CountedCursor::new(node, cursor, profile))),
        }
    }

    fn uncounted(node: &Node, making: Making<'_>) -> Cursor {
        if let Some(operator) = Operator::of(node, making) {
            return Cursor::Batch(Box::new(BatchCursor::new(operator)));
        }
        if making.gathers
            && let Some(operator) = GatherCursor::operator_of(node)
        {
            let serial = Cursor::uncounted(node, Making { gathers: false, ..making });
            return Cursor::Gathered(Box::new(GatherCursor::new(operator, serial, node, making)));
        }
        let above = making;
        let making = Making { tells: false, ..making };
        let new = |node: &Node| Cursor::new(node, making);
        let again = |node: &Node| Cursor::new(node, Making { gathers: false, ..making });
        match node {
            Node::One => Cursor::One { given: false },
            Node::Scan(scan) if above.tells => Cursor::Scan(Box::new(ScanCursor::telling(scan))),
            Node::Scan(scan) => Cursor::Scan(Box::new(ScanCursor::new(scan))),
            // Series, files and kept rows run in batches, wherever they stand.
            Node::Virtual { .. } | Node::Values { .. } | Node::Series(_) | Node::File(_) | Node::Kept { .. } => {
                Cursor::Listed { next: 0, pace: Pace::default() }
            }
            Node::Call { .. } => Cursor::Called(CallCursor::default()),
            Node::Filter { input, .. } | Node::Compute { input, .. } => {
                match FilteredScan::of(node, Cursor::Through(Box::new(Cursor::new(input, above))), above) {
                    Ok(filtered) => Cursor::Filtered(Box::new(filtered)),
                    Err(through) => through,
                }
            }
            Node::Join { left, right, .. } => Cursor::Join(Box::new(JoinCursor::new(new(left), again(right), making))),
            Node::Apply { input, subquery, test, correlated, .. } => {
                let subquery = if test.reads_all_rows() && !correlated { new(subquery) } else { again(subquery) };
                Cursor::Apply(Box::new(ApplyCursor::new(Cursor::new(input, above), subquery, making)))
            }
            Node::Group { input, keys, aggregates } => {
                let is_plain = |aggregate: &Aggregate| !aggregate.distinct && aggregate.separator.is_none();
                let plain = keys.is_empty() && aggregates.iter().all(is_plain);
                let counts = above.profile.map(|profile| profile.counts(node));
                let shared = AggregateCursor::operator_of(input, keys, aggregates);
                if shared.is_none()
                    && let Some(input) = Operator::of(input, making).filter(|_| plain)
                {
                    return Cursor::Aggregate(Box::new(
                        AggregateCursor::new(input, Otherwise::Batches).counted(counts),
                    ));
                }
                let serial = Cursor::Group(Box::new(GroupCursor::new(new(input))));
                match shared {
                    Some(shared) => {
                        let groups = AggregateCursor::new(shared, Otherwise::Rows(Box::new(serial)))
                            .of_finer(input, keys, aggregates)
                            .divided(making.regroups);
                        Cursor::Aggregate(Box::new(groups.counted(counts)))
                    }
                    None => serial,
                }
            }
            Node::Sort { input, keys, .. } => {
                let shared = if making.gathers { SharedSort::operator_of(input, keys) } else { None };
                match shared {
                    Some(shared) => {
                        let counts = making.profile.map(|profile| profile.counts(node));
                        Cursor::Sort(Box::new(SortCursor::new(again(input), Some(SharedSort::new(shared, counts)))))
                    }
                    None => Cursor::Sort(Box::new(SortCursor::new(new(input), None))),
                }
            }
            Node::Number { input, .. } => Cursor::Number(Box::new(NumberCursor::new(new(input)))),
            Node::Top { input, .. } => {
                Cursor::Top(Box::new(TopCursor { input: new(input), started: false, skip: 0, left: 0 }))
            }
            Node::Concat { inputs, .. } => {
                Cursor::Concat { inputs: inputs.iter().map(|(node, _)| new(node)).collect(), current: 0 }
            }
            Node::More(more) => Cursor::More(Box::new(MoreCursor::new(more, making))),
        }
    }

    /// Starts over: the next row is the first. Buffers are kept.
    pub(crate) fn open(&mut self) {
        match self {
            Cursor::One { given } => *given = false,
            Cursor::Scan(scan) => scan.rewind(),
            Cursor::Listed { next, .. } => *next = 0,
            Cursor::Called(call) => *call = CallCursor::default(),
            Cursor::Through(input) => input.open(),
            Cursor::Join(join) => join.open(),
            Cursor::Apply(apply) => apply.open(),
            Cursor::Group(group) => group.open(),
            Cursor::Aggregate(aggregate) => aggregate.open(),
            Cursor::Sort(sort) => sort.open(),
            Cursor::Number(number) => number.open(),
            Cursor::Batch(batch) => batch.open(),
            Cursor::Filtered(filtered) => filtered.open(),
            Cursor::Gathered(gathered) => gathered.open(),
            Cursor::Top(top) => {
                top.started = false;
                top.input.open();
            }
            Cursor::Concat { inputs, current } => {
                *current = 0;
                inputs.iter_mut().for_each(Cursor::open);
            }
            Cursor::More(more) => more.open(),
            Cursor::Counted(counted) => counted.open(),
            Cursor::Settled(input) => input.open(),
        }
    }

    /// Lets go of the rows kept from one opening to the next: a statement has ended.
    pub(crate) fn forget(&mut self) {
        match self {
            Cursor::One { .. } | Cursor::Scan(_) | Cursor::Listed { .. } | Cursor::Called(_) => {}
            Cursor::Batch(batch) => batch.forget(),
            Cursor::Filtered(filtered) => filtered.forget(),
            Cursor::Gathered(gathered) => gathered.forget(),
            Cursor::Aggregate(aggregate) => aggregate.forget(),
            Cursor::Through(input) => input.forget(),
            Cursor::Join(join) => join.forget(),
            Cursor::Apply(apply) => apply.forget(),
            Cursor::Group(group) => group.forget(),
            Cursor::Sort(sort) => sort.forget(),
            Cursor::Number(number) => number.input_cursor().forget(),
            Cursor::Top(top) => top.input.forget(),
            Cursor::Concat { inputs, .. } => inputs.iter_mut().for_each(Cursor::forget),
            Cursor::More(more) => more.forget(),
            Cursor::Counted(counted) => counted.inner.forget(),
            Cursor::Settled(input) => input.forget(),
        }
    }

    /// Gives the one row below a chain of subqueries once more; what does not depend on it stays as it is.
    pub(crate) fn again(&mut self) {
        match self {
            Cursor::One { given } => *given = false,
            Cursor::Apply(apply) => apply.again(),
            Cursor::Counted(counted) => counted.inner.again(),
            Cursor::Settled(input) => input.again(),
            _ => {}
        }
    }

    /// Gives up the row at hand, which a filter or a subquery could not be evaluated for: the next one comes from the
    /// scan below.
    fn give_up_row(&mut self) {
        match self {
            Cursor::Through(input) => input.give_up_row(),
            Cursor::Apply(apply) => {
                apply.give_up_row();
                apply.input().give_up_row();
            }
            Cursor::Counted(counted) => counted.inner.give_up_row(),
            _ => {}
        }
    }

    /// The next row that no other transaction claims. A version of a claimed row that has come through all conditions
    /// is waited for, and one that a condition fails for: it may not be what stays.
    fn next_settled(&mut self, node: &Node, run: &mut Run<'_>) -> Result<bool, Stop> {
        let found = self.advance(node, run);
        if !self.target_scan().is_some_and(|scan| scan.is_claimed()) {
            return found;
        }
        let Some(plan) = target_of(node) else { return found };
        match found {
            Ok(true) => {}
            Err(Stop::Error(_)) => self.give_up_row(),
            other => return other,
        }
        let Some(scan) = self.target_scan() else { return Ok(true) };
        match scan.claim(plan, run)? {
            Some(wait) => Err(wait),
            None => Ok(true),
        }
    }

    /// [`Cursor::next`] of a source of one row without columns, which needs nothing of the machine; `None` for all others.
    #[inline]
    pub(crate) fn next_of_one(&mut self) -> Option<bool> {
        match self {
            Cursor::One { given } => Some(!std::mem::replace(given, true)),
            _ => None,
        }
    }

    /// Moves to the next row and has `take` use it; false at the end. `take` can fail, but not pause: when this returns, the row is
    /// in the operator's state, and the operator may stop.
    ///
    /// # Errors
    /// [`Stop::Blocked`] when a need must be awaited first, [`Stop::Yield`] when the quantum is over: no row was taken then;
    /// errors of expressions and storage.
    #[inline]
    pub(crate) fn take(
        &mut self,
        node: &Node,
        run: &mut Run<'_>,
        take: impl FnOnce(&mut Run<'_>) -> Result<(), Fault>,
    ) -> Result<bool, Stop> {
        if !self.advance(node, run)? {
            return Ok(false);
        }
        take(run)?;
        Ok(true)
    }

    /// Moves to the next row that `give` admits, and leaves it in the registers; false at the end. The operator returns what this
    /// returns, at once.
    ///
    /// # Errors
    /// As of [`Cursor::take`].
    #[inline]
    pub(crate) fn give(
        &mut self,
        node: &Node,
        run: &mut Run<'_>,
        mut give: impl FnMut(&mut Run<'_>) -> Result<bool, Fault>,
    ) -> Result<bool, Stop> {
        while self.advance(node, run)? {
            if give(run)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Evaluates a chain of subqueries over one row: their results are in the registers then.
    ///
    /// # Errors
    /// As of [`Cursor::take`].
    pub(crate) fn evaluate(&mut self, node: &Node, run: &mut Run<'_>) -> Result<(), Stop> {
        self.advance(node, run).map(drop)
    }

    /// Moves to the next row, for [`Cursor::take`] and [`Cursor::give`] alone.
    fn advance(&mut self, node: &Node, run: &mut Run<'_>) -> Result<bool, Stop> {
        if chaos::stops(Site::Pull) {
            return Err(Stop::Yield);
        }
        let found = self.advance_to(node, run)?;
        if found && chaos::loses_row() {
            return Err(Stop::Yield);
        }
        Ok(found)
    }

    #[inline]
    fn advance_to(&mut self, node: &Node, run: &mut Run<'_>) -> Result<bool, Stop> {
        match (self, node) {
            (Cursor::One { given }, _) => Ok(!std::mem::replace(given, true)),
            (Cursor::Scan(cursor), Node::Scan(scan)) => cursor.next(scan, run),
            (Cursor::Through(input), Node::Filter { input: node, predicate }) => {
                while input.advance(node, run)? {
                    if predicate.holds(&mut run.env())? {
                        return Ok(true);
                    }
                    if let Cursor::Scan(cursor) = &mut **input {
                        cursor.pass_over();
                    }
                }
                Ok(false)
            }
            (Cursor::Through(input), Node::Compute { input: node, assignments }) => input.give(node, run, |run| {
                for (slot, expr) in assignments {
                    run.assign(*slot, expr)?;
                }
                Ok(true)
            }),
            (Cursor::Listed { next, pace }, Node::Virtual { index, registers }) => {
                pace.step()?;
                let rows = Arc::clone(&run.virtual_rows[*index]);
                Ok(listed_row(&rows, next, *registers, run))
            }
            (Cursor::Called(cursor), Node::Call { index, arguments, registers }) => {
                cursor.next(*index, arguments, *registers, run)
            }
            (Cursor::Listed { next, pace }, Node::Values { rows, registers }) => {
                pace.step()?;
                let Some(row) = rows.get(*next) else {
                    return Ok(false);
                };
                *next += 1;
                for (offset, expr) in row.iter().enumerate() {
                    run.assign(registers.first + offset, expr)?;
                }
                Ok(true)
            }
            (Cursor::Join(cursor), Node::Join { .. }) => cursor.next(node, run),
            (Cursor::Apply(cursor), Node::Apply { .. }) => cursor.next(node, run),
            (Cursor::Group(cursor), Node::Group { input, keys, aggregates }) => {
                cursor.next(input, keys, aggregates, run)
            }
            (Cursor::Aggregate(cursor), Node::Group { input, keys, aggregates }) => {
                cursor.next(node, input, (keys, aggregates), run)
            }
            (Cursor::Sort(cursor), Node::Sort { input, keys, carry }) => cursor.next(input, keys, carry, run),
            (Cursor::Number(cursor), Node::Number { .. }) => cursor.next(node, run),
            (Cursor::Batch(cursor), _) => cursor.next(node, run),
            (Cursor::Filtered(cursor), _) => cursor.next(node, run),
            (Cursor::Gathered(cursor), _) => cursor.next(node, run),
            (Cursor::Top(cursor), Node::Top { input, offset, count }) => {
                cursor.next(input, offset.as_ref(), count.as_ref(), run)
            }
            (Cursor::Concat { inputs, current }, Node::Concat { inputs: nodes, registers }) => {
                while let (Some(cursor), Some((node, values))) = (inputs.get_mut(*current), nodes.get(*current)) {
                    let given = cursor.give(node, run, |run| {
                        for (offset, expr) in values.iter().enumerate() {
                            run.assign(registers.first + offset, expr)?;
                        }
                        Ok(true)
                    });
                    if given? {
                        return Ok(true);
                    }
                    *current += 1;
                }
                Ok(false)
            }
            (Cursor::More(cursor), Node::More(more)) => cursor.next(more, run),
            (Cursor::Counted(counted), _) => counted.next(node, run),
            (Cursor::Settled(input), _) => input.next_settled(node, run),
            _ => Ok(false),
        }
    }

    /// The number of rows, when this is a bare scan: no column need be read to count them.
    pub(crate) fn count(&mut self, node: &Node, run: &mut Run<'_>) -> Result<Option<u64>, Stop> {
        match (self, node) {
            (Cursor::Scan(cursor), Node::Scan(scan)) => cursor.count(scan, run).map(Some),
            (Cursor::Counted(counted), _) => counted.count_rows(node, run),
            _ => Ok(None),
        }
    }

    /// The operator of a plan that runs in batches as a whole.
    pub(crate) fn operator(&mut self) -> Option<&mut Operator> {
        match self {
            Cursor::Batch(batch) => Some(batch.operator()),
            Cursor::Counted(counted) => counted.inner.operator(),
            _ => None,
        }
    }

    /// The part of the kept rows that the row outside looks for, where these are on tapes: of the first ones below that are.
    pub(crate) fn spilled_part(&self, node: &Node, run: &mut Run<'_>) -> Result<Option<usize>, Fault> {
        match (self, node) {
            (Cursor::Counted(counted), _) => counted.inner.spilled_part(node, run),
            (Cursor::Settled(input), _) => input.spilled_part(node, run),
            (Cursor::Through(input), Node::Filter { input: node, .. } | Node::Compute { input: node, .. }) => {
                input.spilled_part(node, run)
            }
            (Cursor::Join(join), Node::Join { left, right, .. }) => {
                let (left_cursor, right_cursor) = join.sides();
                match left_cursor.spilled_part(left, run)? {
                    None => right_cursor.spilled_part(right, run),
                    part => Ok(part),
                }
            }
            (Cursor::Top(top), Node::Top { input, .. }) => top.input.spilled_part(input, run),
            (Cursor::Group(group), Node::Group { input, .. }) => group.input_cursor().spilled_part(input, run),
            (Cursor::More(cursor), Node::More(more)) => cursor.spilled_part(more, run),
            _ => Ok(None),
        }
    }

    /// No more than so many rows will be asked for, which a sort makes use of.
    fn want(&mut self, node: &Node, rows: u64) {
        match (self, node) {
            (Cursor::Sort(sort), _) => sort.want(rows),
            (Cursor::Gathered(gathered), _) => gathered.want(rows),
            (Cursor::Through(input), Node::Compute { input: node, .. }) => input.want(node, rows),
            (Cursor::Counted(counted), _) => counted.inner.want(node, rows),
            (Cursor::Settled(input), _) => input.want(node, rows),
            _ => {}
        }
    }

    /// The cursor of the scan whose rows a statement changes: the one below filters and subquery tests.
    pub(crate) fn target_scan(&mut self) -> Option<&mut ScanCursor> {
        match self {
            Cursor::Scan(scan) => Some(scan),
            Cursor::Through(input) => input.target_scan(),
            Cursor::Apply(apply) => apply.input().target_scan(),
            Cursor::Join(join) => join.left().target_scan(),
            Cursor::Top(top) => top.input.target_scan(),
            Cursor::Counted(counted) => counted.inner.target_scan(),
            Cursor::Settled(input) => input.target_scan(),
            _ => None,
        }
    }
}

/// The scan below filters, computed values and subqueries.
fn target_of(node: &Node) -> Option<&Scan> {
    match node {
        Node::Scan(scan) => Some(scan),
        Node::Filter { input, .. } | Node::Compute { input, .. } | Node::Apply { input, .. } => target_of(input),
        _ => None,
    }
}

/// Leaves the next row of a list in registers; false at the end of the list.
fn listed_row(rows: &[Vec<Value>], next: &mut usize, registers: Registers, run: &mut Run<'_>) -> bool {
    let Some(row) = rows.get(*next) else {
        return false;
    };
    *next += 1;
    let slots = &mut run.slots[registers.range()];
    slots.iter_mut().zip(row).for_each(|(slot, value)| slot.clone_from(value));
    true
}

impl CallCursor {
    fn next(
        &mut self,
        index: usize,
        arguments: &[Expr],
        registers: Registers,
        run: &mut Run<'_>,
    ) -> Result<bool, Stop> {
        let rows = match &self.rows {
            Some(rows) => Arc::clone(rows),
            // Who was told that the rows are missing has put them there before it called again.
            None if self.asked => Arc::clone(self.rows.insert(Arc::clone(&run.virtual_rows[index]))),
            None => {
                let values = arguments.iter().map(|argument| argument.eval(&mut run.env()));
                let arguments = values.collect::<Result<Vec<Value>, Fault>>()?;
                self.asked = true;
                return Err(Stop::Rows(HostCall { index, arguments }));
            }
        };
        Ok(listed_row(&rows, &mut self.next, registers, run))
    }
}

impl TopCursor {
    fn next(
        &mut self,
        node: &Node,
        offset: Option<&Integer>,
        count: Option<&Integer>,
        run: &mut Run<'_>,
    ) -> Result<bool, Stop> {
        if !self.started {
            (self.skip, self.left) = row_bounds(offset, count, run)?;
            self.started = true;
            self.input.want(node, self.skip.saturating_add(self.left));
        }
        let TopCursor { input, skip, left, .. } = self;
        while *skip > 0 {
            let pass = |_: &mut Run<'_>| {
                *skip -= 1;
                Ok(())
            };
            if !input.take(node, run, pass)? {
                (*skip, *left) = (0, 0);
            }
        }
        if *left == 0 {
            return Ok(false);
        }
        input.give(node, run, |_| {
            *left -= 1;
            Ok(true)
        })
    }
}

/// How many rows to leave out, and how many to give then.
pub(crate) fn row_bounds(
    offset: Option<&Integer>,
    count: Option<&Integer>,
    run: &mut Run<'_>,
) -> Result<(u64, u64), Stop> {
    let skip = match offset {
        None => 0,
        Some(offset) => bound(offset, run, errors::offset_negative)?,
    };
    let give = match count {
        None => u64::MAX,
        // What stands behind an OFFSET is FETCH, which is of one row at least.
        Some(count) if offset.is_some() => match bound(count, run, errors::fetch_not_positive)? {
            0 => return Err(errors::fetch_not_positive().into()),
            count => count,
        },
        Some(count) => bound(count, run, errors::top_negative)?,
    };
    Ok((skip, give))
}

pub(super) fn bound(expr: &Integer, run: &mut Run<'_>, invalid: fn() -> Fault) -> Result<u64, Stop> {
    match expr.eval(&mut run.env())?.map(u64::try_from) {
        Some(Ok(count)) => Ok(count),
        _ => Err(invalid().into()),
    }
}
