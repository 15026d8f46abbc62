//! The state of a running plan: one cursor per operator, in a tree of the same shape as the plan.
//!
//! `next` leaves a row in the registers and returns true, or returns false at the end. It can stop anywhere with
//! [`Stop::Blocked`] or [`Stop::Yield`]: all progress is in the cursors, so that the caller awaits the need, or its turn, and calls
//! `next` again.

use hashbrown::HashMap;
use std::cmp::Ordering;
use std::sync::Arc;

use super::Run;
use super::group::GroupCursor;
use super::more::MoreCursor;
use super::number::NumberCursor;
use super::profile::{CountedCursor, Making};
use crate::access::{HostCall, Pace, ScanCursor, Stop};
use crate::batch::{AggregateCursor, BatchCursor, Operator};
use crate::errors;
use crate::expression::{Comparison, Expr, Fault, Integer};
use crate::plan::{Aggregate, JoinKind, Node, Registers, SortKey, Test};
use pikepole_types::{Collation, Value};

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
    Top(Box<TopCursor>),
    Concat { inputs: Vec<Cursor>, current: usize },
    More(Box<MoreCursor>),
    Counted(Box<CountedCursor>),
}

/// The rows of a function for the present row outside it.
#[derive(Default)]
pub(crate) struct CallCursor {
    rows: Option<Arc<Vec<Vec<Value>>>>,
    /// True once the rows have been asked for.
    asked: bool,
    next: usize,
}

pub(crate) struct JoinCursor {
    left: Cursor,
    right: Cursor,
    /// True while the right side is being read for the current left row.
    within: bool,
    matched: bool,
}

pub(crate) struct ApplyCursor {
    input: Cursor,
    subquery: Cursor,
    /// True while the subquery is being read for the current row.
    within: bool,
    /// True when the subquery's result holds for every row.
    settled: bool,
    found: Value,
    rows: u64,
    /// The rows' values by hash, for IN.
    list: HashMap<u64, Vec<Value>>,
    /// The smallest and the largest value, and whether there was a NULL, for ANY and ALL.
    extremes: (Value, Value),
    has_null: bool,
}

pub(crate) struct SortCursor {
    input: Cursor,
    filled: bool,
    /// Per row, the sort keys and then the carried values.
    rows: Vec<Vec<Value>>,
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
        let new = |node: &Node| Cursor::new(node, making);
        match node {
            Node::One => Cursor::One { given: false },
            Node::Scan(scan) => Cursor::Scan(Box::new(ScanCursor::new(scan))),
            // Series, files and kept rows run in batches, wherever they stand.
            Node::Virtual { .. } | Node::Values { .. } | Node::Series(_) | Node::File(_) | Node::Kept { .. } => {
                Cursor::Listed { next: 0, pace: Pace::default() }
            }
            Node::Call { .. } => Cursor::Called(CallCursor::default()),
            Node::Filter { input, .. } | Node::Compute { input, .. } => Cursor::Through(Box::new(new(input))),
            Node::Join { left, right, .. } => {
                Cursor::Join(Box::new(JoinCursor { left: new(left), right: new(right), within: false, matched: false }))
            }
            Node::Apply { input, subquery, .. } => Cursor::Apply(Box::new(ApplyCursor {
                input: new(input),
                subquery: new(subquery),
                within: false,
                settled: false,
                found: Value::Null,
                rows: 0,
                list: HashMap::new(),
                extremes: (Value::Null, Value::Null),
                has_null: false,
            })),
            Node::Group { input, keys, aggregates } => {
                let is_plain = |aggregate: &Aggregate| !aggregate.distinct && aggregate.separator.is_none();
                let plain = keys.is_empty() && aggregates.iter().all(is_plain);
                if let Some(input) = Operator::of(input, making).filter(|_| plain) {
                    return Cursor::Aggregate(Box::new(AggregateCursor::new(input, None)));
                }
                let serial = Cursor::Group(Box::new(GroupCursor::new(new(input))));
                match Operator::of_scan(input).filter(|_| plain) {
                    Some(input) => Cursor::Aggregate(Box::new(AggregateCursor::new(input, Some(serial)))),
                    None => serial,
                }
            }
            Node::Sort { input, .. } => {
                Cursor::Sort(Box::new(SortCursor { input: new(input), filled: false, rows: Vec::new(), next: 0 }))
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
            Cursor::Join(join) => {
                join.within = false;
                join.left.open();
            }
            Cursor::Apply(apply) => {
                apply.within = false;
                apply.settled = false;
                apply.input.open();
            }
            Cursor::Group(group) => group.open(),
            Cursor::Aggregate(aggregate) => aggregate.open(),
            Cursor::Sort(sort) => {
                sort.filled = false;
                sort.rows.clear();
                sort.next = 0;
                sort.input.open();
            }
            Cursor::Number(number) => number.open(),
            Cursor::Batch(batch) => batch.open(),
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
        }
    }

    /// Lets go of the rows kept from one opening to the next: a statement has ended.
    pub(crate) fn forget(&mut self) {
        match self {
            Cursor::One { .. } | Cursor::Scan(_) | Cursor::Listed { .. } | Cursor::Called(_) | Cursor::Batch(_) => {}
            Cursor::Aggregate(aggregate) => aggregate.forget(),
            Cursor::Through(input) => input.forget(),
            Cursor::Join(join) => {
                join.left.forget();
                join.right.forget();
            }
            Cursor::Apply(apply) => {
                apply.input.forget();
                apply.subquery.forget();
            }
            Cursor::Group(group) => group.input_cursor().forget(),
            Cursor::Sort(sort) => sort.input.forget(),
            Cursor::Number(number) => number.input_cursor().forget(),
            Cursor::Top(top) => top.input.forget(),
            Cursor::Concat { inputs, .. } => inputs.iter_mut().for_each(Cursor::forget),
            Cursor::More(more) => more.forget(),
            Cursor::Counted(counted) => counted.inner.forget(),
        }
    }

    /// Gives the one row below a chain of subqueries once more; what does not depend on it stays as it is.
    pub(crate) fn again(&mut self) {
        match self {
            Cursor::One { given } => *given = false,
            Cursor::Apply(apply) => {
                apply.within = false;
                apply.input.again();
            }
            Cursor::Counted(counted) => counted.inner.again(),
            _ => {}
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

    /// Moves to the next row.
    ///
    /// # Errors
    /// [`Stop::Blocked`] when a need must be awaited first, [`Stop::Yield`] when the quantum is over; errors of expressions and
    /// storage.
    pub(crate) fn next(&mut self, node: &Node, run: &mut Run<'_>) -> Result<bool, Stop> {
        match (self, node) {
            (Cursor::One { given }, _) => Ok(!std::mem::replace(given, true)),
            (Cursor::Scan(cursor), Node::Scan(scan)) => cursor.next(scan, run),
            (Cursor::Through(input), Node::Filter { input: node, predicate }) => {
                while input.next(node, run)? {
                    if predicate.holds(&mut run.env())? {
                        return Ok(true);
                    }
                    if let (Cursor::Scan(cursor), Node::Scan(scan)) = (&mut **input, &**node) {
                        cursor.pass_over(scan, run)?;
                    }
                }
                Ok(false)
            }
            (Cursor::Through(input), Node::Compute { input: node, assignments }) => {
                if !input.next(node, run)? {
                    return Ok(false);
                }
                for (slot, expr) in assignments {
                    run.assign(*slot, expr)?;
                }
                Ok(true)
            }
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
            (Cursor::Aggregate(cursor), Node::Group { input, aggregates, .. }) => {
                cursor.next(node, input, aggregates, run)
            }
            (Cursor::Sort(cursor), Node::Sort { input, keys, carry }) => cursor.next(input, keys, carry, run),
            (Cursor::Number(cursor), Node::Number { .. }) => cursor.next(node, run),
            (Cursor::Batch(cursor), _) => cursor.next(node, run),
            (Cursor::Top(cursor), Node::Top { input, offset, count }) => {
                cursor.next(input, offset.as_ref(), count.as_ref(), run)
            }
            (Cursor::Concat { inputs, current }, Node::Concat { inputs: nodes, registers }) => {
                while let (Some(cursor), Some((node, values))) = (inputs.get_mut(*current), nodes.get(*current)) {
                    if cursor.next(node, run)? {
                        for (offset, expr) in values.iter().enumerate() {
                            run.assign(registers.first + offset, expr)?;
                        }
                        return Ok(true);
                    }
                    *current += 1;
                }
                Ok(false)
            }
            (Cursor::More(cursor), Node::More(more)) => cursor.next(more, run),
            (Cursor::Counted(counted), _) => counted.next(node, run),
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

    /// The cursor of the scan whose rows a statement changes: the one below filters and subquery tests.
    pub(crate) fn target_scan(&mut self) -> Option<&mut ScanCursor> {
        match self {
            Cursor::Scan(scan) => Some(scan),
            Cursor::Through(input) => input.target_scan(),
            Cursor::Apply(apply) => apply.input.target_scan(),
            Cursor::Join(join) => join.left.target_scan(),
            Cursor::Top(top) => top.input.target_scan(),
            Cursor::Counted(counted) => counted.inner.target_scan(),
            _ => None,
        }
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

impl JoinCursor {
    fn next(&mut self, node: &Node, run: &mut Run<'_>) -> Result<bool, Stop> {
        let Node::Join { left, right, kind, on, right_registers } = node else {
            return Ok(false);
        };
        loop {
            if !self.within {
                if !self.left.next(left, run)? {
                    return Ok(false);
                }
                self.right.open();
                self.within = true;
                self.matched = false;
            }
            while self.right.next(right, run)? {
                let joins = match on {
                    Some(predicate) => predicate.holds(&mut run.env())?,
                    None => true,
                };
                if joins {
                    self.matched = true;
                    return Ok(true);
                }
            }
            self.within = false;
            if *kind == JoinKind::Left && !self.matched {
                for registers in right_registers {
                    run.slots[registers.range()].fill(Value::Null);
                }
                return Ok(true);
            }
        }
    }
}

impl ApplyCursor {
    fn next(&mut self, node: &Node, run: &mut Run<'_>) -> Result<bool, Stop> {
        let Node::Apply { input, subquery, test, slot, correlated, guards } = node else {
            return Ok(false);
        };
        if !self.within {
            if !self.input.next(input, run)? {
                return Ok(false);
            }
            for guard in guards {
                if guard.condition.holds(&mut run.env())? != guard.holds {
                    run.slots[*slot] = Value::Null;
                    return Ok(true);
                }
            }
            if !self.settled {
                self.subquery.open();
                self.within = true;
                self.rows = 0;
                self.list.clear();
                self.extremes = (Value::Null, Value::Null);
                self.has_null = false;
                self.found = match test {
                    Test::Exists => Value::Bit(false),
                    Test::Scalar(_) | Test::In { .. } | Test::Extremes { .. } => Value::Null,
                };
            }
        }
        if self.within {
            while !self.decided(test) && self.subquery.next(subquery, run)? {
                self.take_row(test, run)?;
            }
            self.within = false;
            self.settled = !correlated;
        }
        if let Test::In { left, collation, .. } = test {
            self.look_up(left, *collation, run)?;
        }
        if let Test::Extremes { left, op, all, collation, .. } = test {
            let value = left.eval(&mut run.env())?;
            self.found = self.compare_extremes(&value, *op, *all, *collation);
        }
        run.slots[*slot].clone_from(&self.found);
        Ok(true)
    }

    /// True when further rows of the subquery change nothing.
    fn decided(&self, test: &Test) -> bool {
        matches!(test, Test::Exists) && self.rows > 0
    }

    fn take_row(&mut self, test: &Test, run: &mut Run<'_>) -> Result<(), Fault> {
        self.rows += 1;
        match test {
            Test::Exists => self.found = Value::Bit(true),
            Test::Scalar(_) if self.rows > 1 => return Err(errors::subquery_many_rows()),
            Test::Scalar(expr) => expr.eval_into(&mut run.env(), &mut self.found)?,
            Test::In { right, collation, .. } => {
                let value = right.eval(&mut run.env())?;
                let code = pikepole_types::hash(&value, *collation);
                self.list.entry(code).or_default().push(value);
            }
            Test::Extremes { right, collation, .. } => {
                let value = right.eval(&mut run.env())?;
                self.take_extreme(value, *collation);
            }
        }
        Ok(())
    }

    fn take_extreme(&mut self, value: Value, collation: Collation) {
        if value.is_null() {
            self.has_null = true;
            return;
        }
        let (least, greatest) = &mut self.extremes;
        if least.is_null() || pikepole_types::order(&value, least, collation).is_lt() {
            least.clone_from(&value);
        }
        if greatest.is_null() || pikepole_types::order(&value, greatest, collation).is_gt() {
            *greatest = value;
        }
    }

    /// Whether `value op x` holds for one of the rows' values, or for all: what holds for all holds for the extremes.
    fn compare_extremes(&self, value: &Value, op: Comparison, all: bool, collation: Collation) -> Value {
        if self.rows == 0 {
            return Value::Bit(all);
        }
        if value.is_null() {
            return Value::Null;
        }
        let (least, greatest) = &self.extremes;
        let holds = |extreme: &Value| op.holds(pikepole_types::order(value, extreme, collation));
        let known = !least.is_null();
        let (one, every) = (known && (holds(least) || holds(greatest)), !known || (holds(least) && holds(greatest)));
        match (all, self.has_null) {
            (false, _) if one => Value::Bit(true),
            (true, _) if !every => Value::Bit(false),
            (_, true) => Value::Null,
            (all, false) => Value::Bit(all),
        }
    }

    /// Whether `left` is in the list: UNKNOWN when it is NULL or not found among values that hold a NULL.
    fn look_up(&mut self, left: &Expr, collation: Collation, run: &mut Run<'_>) -> Result<(), Fault> {
        let value = left.eval(&mut run.env())?;
        let has = |wanted: &Value| {
            let code = pikepole_types::hash(wanted, collation);
            self.list
                .get(&code)
                .is_some_and(|bucket| bucket.iter().any(|item| pikepole_types::order(item, wanted, collation).is_eq()))
        };
        self.found = if self.rows == 0 {
            Value::Bit(false)
        } else if value.is_null() {
            Value::Null
        } else if has(&value) {
            Value::Bit(true)
        } else if has(&Value::Null) {
            Value::Null
        } else {
            Value::Bit(false)
        };
        Ok(())
    }
}

impl SortCursor {
    fn next(&mut self, node: &Node, keys: &[SortKey], carry: &[usize], run: &mut Run<'_>) -> Result<bool, Stop> {
        if !self.filled {
            while self.input.next(node, run)? {
                let mut row = Vec::with_capacity(keys.len() + carry.len());
                for key in keys {
                    row.push(key.expr.eval(&mut run.env())?);
                }
                row.extend(carry.iter().map(|slot| run.slots[*slot].clone()));
                self.rows.push(row);
            }
            // A stable sort: rows of equal keys keep the order of their scan.
            self.rows.sort_by(|a, b| compare_keys(keys, a, b));
            self.filled = true;
        }
        let Some(row) = self.rows.get_mut(self.next) else {
            return Ok(false);
        };
        self.next += 1;
        for (slot, value) in carry.iter().zip(&mut row[keys.len()..]) {
            std::mem::swap(&mut run.slots[*slot], value);
        }
        Ok(true)
    }
}

pub(super) fn compare_keys(keys: &[SortKey], a: &[Value], b: &[Value]) -> Ordering {
    for (key, (a, b)) in keys.iter().zip(a.iter().zip(b)) {
        let ordering = key.order(a, b);
        let ordering = if key.descending { ordering.reverse() } else { ordering };
        if ordering.is_ne() {
            return ordering;
        }
    }
    Ordering::Equal
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
        }
        while self.skip > 0 {
            if !self.input.next(node, run)? {
                self.left = 0;
                break;
            }
            self.skip -= 1;
        }
        if self.left == 0 || !self.input.next(node, run)? {
            return Ok(false);
        }
        self.left -= 1;
        Ok(true)
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
