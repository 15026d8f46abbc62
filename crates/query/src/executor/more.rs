//! The cursors of [`More`]: which is which, and those that are short.

use super::Run;
use super::common_table::CommonCursor;
use super::cursor::{Cursor, bound};
use super::document::DocumentCursor;
use super::full_join::FullCursor;
use super::open_json::OpenCursor;
use super::profile::Making;
use super::recursive::RecursiveCursor;
use super::split::SplitCursor;
use super::spool::SpoolCursor;
use super::windows::WindowCursor;
use super::xml_nodes::NodesCursor;
use crate::access::{Pace, Stop};
use crate::errors;
use crate::executor::spill::RowList;
use crate::expression::{Fault, Width};
use crate::plan::{Expand, More, NextNumber, SortKey, TopCount, WideTop};
use pikepole_types::{Decimal, SqlError, SqlType, Value};

/// The state of one of the further operators.
pub(crate) enum MoreCursor {
    Spool(SpoolCursor),
    Full(FullCursor),
    Top(TopState),
    Expand(ExpandState),
    Windows(WindowCursor),
    Recursive(RecursiveCursor),
    Common(CommonCursor),
    Split(SplitCursor),
    /// Whether the number has been given.
    Next(bool),
    Document(Box<DocumentCursor>),
    OpenJson(OpenCursor),
    Nodes(NodesCursor),
}

impl MoreCursor {
    pub(crate) fn new(more: &More, making: Making<'_>) -> MoreCursor {
        match more {
            More::Spool(spool) => MoreCursor::Spool(SpoolCursor::new(spool, making)),
            More::Full(join) => {
                MoreCursor::Full(FullCursor::new(Cursor::new(&join.left, making), Cursor::new(&join.right, making)))
            }
            More::Top(top) => MoreCursor::Top(TopState::new(Cursor::new(&top.input, making))),
            More::Expand(expand) => MoreCursor::Expand(ExpandState::new(Cursor::new(&expand.input, making))),
            More::Windows(windows) => MoreCursor::Windows(WindowCursor::new(Cursor::new(&windows.input, making))),
            More::Recursive(recursive) => MoreCursor::Recursive(RecursiveCursor::new(recursive, making)),
            More::Common(common) => MoreCursor::Common(CommonCursor::new(common, making)),
            More::Split(_) => MoreCursor::Split(SplitCursor::default()),
            More::Next(_) => MoreCursor::Next(false),
            More::Document(document) => {
                MoreCursor::Document(Box::new(DocumentCursor::new(Cursor::new(&document.input, making))))
            }
            More::OpenJson(_) => MoreCursor::OpenJson(OpenCursor::default()),
            More::Nodes(_) => MoreCursor::Nodes(NodesCursor::default()),
        }
    }

    /// Starts over.
    pub(crate) fn open(&mut self) {
        match self {
            MoreCursor::Spool(spool) => spool.open(),
            MoreCursor::Full(join) => join.open(),
            MoreCursor::Top(top) => top.open(),
            MoreCursor::Expand(expand) => {
                expand.set = usize::MAX;
                expand.input.open();
            }
            MoreCursor::Windows(windows) => windows.open(),
            MoreCursor::Recursive(recursive) => recursive.open(),
            MoreCursor::Common(common) => common.open(),
            MoreCursor::Split(split) => *split = SplitCursor::default(),
            MoreCursor::Next(given) => *given = false,
            MoreCursor::Document(document) => document.open(),
            MoreCursor::OpenJson(open) => *open = OpenCursor::default(),
            MoreCursor::Nodes(nodes) => *nodes = NodesCursor::default(),
        }
    }

    /// Lets go of what is kept from one opening to the next.
    pub(crate) fn forget(&mut self) {
        match self {
            MoreCursor::Spool(spool) => spool.forget(),
            MoreCursor::Full(join) => join.forget(),
            MoreCursor::Top(top) => {
                top.rows.clear();
                top.input.forget();
            }
            MoreCursor::Expand(expand) => expand.input.forget(),
            MoreCursor::Windows(windows) => windows.forget(),
            MoreCursor::Recursive(recursive) => recursive.forget(),
            MoreCursor::Common(common) => common.forget(),
            MoreCursor::Split(split) => *split = SplitCursor::default(),
            MoreCursor::Next(given) => *given = false,
            MoreCursor::Document(document) => document.forget(),
            MoreCursor::OpenJson(open) => *open = OpenCursor::default(),
            MoreCursor::Nodes(nodes) => *nodes = NodesCursor::default(),
        }
    }

    /// See [`Cursor::spilled_part`].
    pub(crate) fn spilled_part(&self, more: &More, run: &mut Run<'_>) -> Result<Option<usize>, Fault> {
        match (self, more) {
            (MoreCursor::Spool(cursor), More::Spool(spool)) => cursor.spilled_part(spool, run),
            _ => Ok(None),
        }
    }

    /// Moves to the next row.
    pub(crate) fn next(&mut self, more: &More, run: &mut Run<'_>) -> Result<bool, Stop> {
        match (self, more) {
            (MoreCursor::Spool(cursor), More::Spool(spool)) => cursor.next(spool, run),
            (MoreCursor::Full(cursor), More::Full(join)) => cursor.next(join, run),
            (MoreCursor::Top(cursor), More::Top(top)) => cursor.next(top, run),
            (MoreCursor::Expand(cursor), More::Expand(expand)) => cursor.next(expand, run),
            (MoreCursor::Windows(cursor), More::Windows(windows)) => cursor.next(windows, run),
            (MoreCursor::Recursive(cursor), More::Recursive(recursive)) => cursor.next(recursive, run),
            (MoreCursor::Common(cursor), More::Common(common)) => cursor.next(common, run),
            (MoreCursor::Split(cursor), More::Split(split)) => cursor.next(split, run),
            (MoreCursor::Next(given), More::Next(next)) => next_number(given, next, run),
            (MoreCursor::Document(cursor), More::Document(document)) => cursor.next(document, run),
            (MoreCursor::OpenJson(cursor), More::OpenJson(open)) => cursor.next(open, run),
            (MoreCursor::Nodes(cursor), More::Nodes(nodes)) => cursor.next(nodes, run),
            _ => Ok(false),
        }
    }
}

/// Takes a number, once.
fn next_number(given: &mut bool, next: &NextNumber, run: &mut Run<'_>) -> Result<bool, Stop> {
    if *given {
        return Ok(false);
    }
    let (database, tx) = run.engine()?;
    let number = database.try_next_number(tx, &next.sequence)?;
    let slot = &mut run.slots[next.slot];
    *slot = match (next.sequence.ty, i64::try_from(number)) {
        (SqlType::Decimal { precision, .. }, _) => {
            Decimal::new(number, precision, 0).map_or(Value::Null, Value::Decimal)
        }
        (ty, Ok(number)) => {
            let mut value = Value::Null;
            Width::of(&ty).unwrap_or(Width::Big).store(Some(number), &mut value);
            value
        }
        (_, Err(_)) => Value::Null,
    };
    *given = true;
    Ok(true)
}

/// The state of a [`WideTop`].
pub(crate) struct TopState {
    input: Cursor,
    /// All rows, where they must be counted; none before.
    rows: RowList,
    filled: bool,
    /// How many rows to give; none before the first.
    count: Option<u64>,
    given: u64,
    /// What the last row given is ordered by.
    last: Vec<Value>,
    pace: Pace,
}

impl TopState {
    fn new(input: Cursor) -> TopState {
        TopState {
            input,
            rows: RowList::default(),
            filled: false,
            count: None,
            given: 0,
            last: Vec::new(),
            pace: Pace::default(),
        }
    }

    fn open(&mut self) {
        self.input.open();
        self.rows.clear();
        self.filled = false;
        self.count = None;
        self.given = 0;
    }

    fn next(&mut self, plan: &WideTop, run: &mut Run<'_>) -> Result<bool, Stop> {
        let count = match (self.count, &plan.count) {
            (Some(count), _) => count,
            (None, TopCount::Rows(count) | TopCount::OfRow(count)) => bound(count, run, errors::top_negative)?,
            (None, TopCount::Percent(percent)) => {
                let percent = percent_of(&percent.eval(&mut run.env())?)?;
                self.fill(plan, run)?;
                share(percent, self.rows.len() as usize)
            }
        };
        self.count = Some(count);
        if self.given >= count && (plan.ties.is_empty() || self.given == 0) {
            return Ok(false);
        }
        let mut is_admitted = false;
        let TopState { input, rows, filled, given, last, pace, .. } = self;
        let mut admit = |run: &mut Run<'_>| {
            let ties = tie_keys(plan, run)?;
            is_admitted = *given < count || SortKey::same(&plan.ties, &ties, last);
            *last = ties;
            *given += 1;
            Ok(())
        };
        let found = if *filled {
            pace.step()?;
            let give = |row: Vec<Value>| {
                plan.carry.iter().zip(row).for_each(|(slot, value)| run.slots[*slot] = value);
                admit(run)
            };
            rows.take(give)?.is_some()
        } else {
            input.take(&plan.input, run, &mut admit)?
        };
        if found && !is_admitted {
            (self.count, self.given) = (Some(0), 0);
        }
        Ok(found && is_admitted)
    }

    fn fill(&mut self, plan: &WideTop, run: &mut Run<'_>) -> Result<(), Stop> {
        while !self.filled {
            self.rows.settle(run)?;
            let is_complete = self.rows.is_complete();
            let rows = &mut self.rows;
            let take = |run: &mut Run<'_>| {
                rows.push(plan.carry.iter().map(|slot| run.slots[*slot].clone()).collect());
                Ok(())
            };
            if is_complete || !self.input.take(&plan.input, run, take)? {
                self.rows.finish()?;
                self.filled = true;
            }
        }
        Ok(())
    }
}

/// What the row in the registers is ordered by.
fn tie_keys(plan: &WideTop, run: &mut Run<'_>) -> Result<Vec<Value>, Fault> {
    plan.ties.iter().map(|key| key.expr.eval(&mut run.env())).collect()
}

/// The percentage a value is.
pub(crate) fn percent_of(value: &Value) -> Result<f64, Fault> {
    match value {
        Value::Float(percent) if (0.0..=100.0).contains(percent) => Ok(*percent),
        _ => Err(Box::new(SqlError::percent_out_of_range())),
    }
}

/// So many of a hundred of `rows`, rounded up.
pub(crate) fn share(percent: f64, rows: usize) -> u64 {
    (rows as f64 * percent / 100.0).ceil() as u64
}

/// The state of an [`Expand`].
pub(crate) struct ExpandState {
    input: Cursor,
    /// The set to be given next for the row at hand; beyond all of them a new row is read.
    set: usize,
}

impl ExpandState {
    fn new(input: Cursor) -> ExpandState {
        ExpandState { input, set: usize::MAX }
    }

    fn next(&mut self, plan: &Expand, run: &mut Run<'_>) -> Result<bool, Stop> {
        if self.set >= plan.sets.len() {
            let set = &mut self.set;
            let take = |_: &mut Run<'_>| {
                *set = 0;
                Ok(())
            };
            if !self.input.take(&plan.input, run, take)? {
                return Ok(false);
            }
        }
        let Some(set) = plan.sets.get(self.set) else {
            return Ok(false);
        };
        for ((expr, slot, left_out), has) in plan.keys.iter().zip(set) {
            if *has {
                run.assign(*slot, expr)?;
            } else {
                run.slots[*slot] = Value::Null;
            }
            run.slots[*left_out] = Value::TinyInt(u8::from(!has));
        }
        run.slots[plan.number] = Value::Int(self.set as i32);
        self.set += 1;
        Ok(true)
    }
}
