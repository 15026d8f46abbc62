//! Window functions that look at other rows: the rows of a partition are kept, then each function gives a value for each.
//!
//! Running and whole-partition frames are walked once, forward or backward. A frame with two moving ends adds its rows up anew
//! for each row, so such an aggregate costs rows times the frame's width.

use std::ops::Range;

use super::Run;
use super::cursor::Cursor;
use crate::access::{Pace, Stop};
use crate::expression::Fault;
use crate::plan::{Aggregate, Frame, FrameEnd, Numbering, SortKey, WindowFunction, Windows};
use pikepole_types::{Accumulator, SqlError, Value};

/// The rows of the partition at hand, one behind the other: the values of its own keys, then those of the order, the carried
/// ones, and each function's arguments.
#[derive(Default)]
struct Partition {
    values: Vec<Value>,
    /// Values of a row.
    width: usize,
    rows: usize,
    order: Range<usize>,
    carry: Range<usize>,
    /// Per function.
    arguments: Vec<Range<usize>>,
}

/// The state of a [`Windows`].
pub(crate) struct WindowCursor {
    input: Cursor,
    rows: Partition,
    /// Per function, a value for each row.
    results: Vec<Vec<Value>>,
    /// The row that is read; `is_ahead`: it is the first one of the next partition.
    row: Vec<Value>,
    is_ahead: bool,
    /// True while the rows of a partition are being read.
    reading: bool,
    ended: bool,
    next: usize,
    pace: Pace,
}

impl WindowCursor {
    pub(crate) fn new(input: Cursor) -> WindowCursor {
        WindowCursor {
            input,
            rows: Partition::default(),
            results: Vec::new(),
            row: Vec::new(),
            is_ahead: false,
            reading: false,
            ended: false,
            next: 0,
            pace: Pace::default(),
        }
    }

    pub(crate) fn open(&mut self) {
        self.input.open();
        self.rows.clear();
        self.row.clear();
        self.is_ahead = false;
        self.reading = false;
        self.ended = false;
        self.next = 0;
    }

    pub(crate) fn forget(&mut self) {
        self.rows = Partition::default();
        self.results = Vec::new();
        self.row = Vec::new();
        self.is_ahead = false;
        self.input.forget();
    }

    pub(crate) fn next(&mut self, plan: &Windows, run: &mut Run<'_>) -> Result<bool, Stop> {
        if self.reading || self.next >= self.rows.rows {
            if !self.reading {
                self.rows.begin(plan);
                if std::mem::take(&mut self.is_ahead) {
                    self.rows.push(&mut self.row);
                }
                self.reading = true;
            }
            self.read(plan, run)?;
            self.reading = false;
            self.next = 0;
            self.compute(plan)?;
        } else {
            self.pace.step()?;
        }
        if self.next >= self.rows.rows {
            return Ok(false);
        }
        for (slot, value) in plan.carry.iter().zip(self.rows.carried(self.next)) {
            std::mem::swap(&mut run.slots[*slot], value);
        }
        for ((_, slot), values) in plan.functions.iter().zip(&mut self.results) {
            std::mem::swap(&mut run.slots[*slot], &mut values[self.next]);
        }
        self.next += 1;
        Ok(true)
    }

    /// Reads to the end of the partition.
    fn read(&mut self, plan: &Windows, run: &mut Run<'_>) -> Result<(), Stop> {
        while !self.ended && !self.is_ahead {
            let (rows, row, is_ahead) = (&mut self.rows, &mut self.row, &mut self.is_ahead);
            let take = |run: &mut Run<'_>| {
                row.clear();
                read_row(plan, row, run)?;
                *is_ahead = rows.rows > 0 && !SortKey::same(&plan.partition, rows.row(0), row);
                if !*is_ahead {
                    rows.push(row);
                }
                Ok(())
            };
            self.ended = !self.input.take(&plan.input, run, take)?;
        }
        Ok(())
    }

    fn compute(&mut self, plan: &Windows) -> Result<(), Fault> {
        let peers = Peers::of(&self.rows, &plan.order);
        self.results.clear();
        for (at, (function, _)) in plan.functions.iter().enumerate() {
            let values = match function {
                WindowFunction::Number(numbering) => peers.numbers(*numbering),
                WindowFunction::PercentRank => peers.percent_ranks(),
                WindowFunction::CumulativeDistribution => peers.distribution(),
                WindowFunction::Tiles(_) => tiles(&self.rows, at)?,
                WindowFunction::Shift { ahead, ignore_nulls, .. } => shift(&self.rows, at, *ahead, *ignore_nulls)?,
                WindowFunction::End { frame, last, ignore_nulls, .. } => {
                    ends(&self.rows, at, &peers, *frame, *last, *ignore_nulls)
                }
                WindowFunction::Aggregate(aggregate, frame) => aggregates(&self.rows, at, &peers, aggregate, *frame)?,
                WindowFunction::Percentile { continuous, .. } => percentile(&self.rows, at, *continuous)?,
            };
            self.results.push(values);
        }
        Ok(())
    }
}

impl Partition {
    /// Makes it empty, for rows of this plan.
    fn begin(&mut self, plan: &Windows) {
        self.clear();
        let keys = plan.partition.len() + plan.order.len();
        self.order = plan.partition.len()..keys;
        self.carry = keys..keys + plan.carry.len();
        let mut end = self.carry.end;
        self.arguments.clear();
        self.arguments.extend(plan.functions.iter().map(|(function, _)| {
            let start = end;
            end += arguments_of(function);
            start..end
        }));
        self.width = end;
    }

    fn clear(&mut self) {
        self.values.clear();
        self.rows = 0;
    }

    /// Adds a row, whose values are taken out.
    fn push(&mut self, row: &mut Vec<Value>) {
        debug_assert_eq!(row.len(), self.width, "a row of the plan");
        self.values.append(row);
        self.rows += 1;
    }

    fn row(&self, row: usize) -> &[Value] {
        &self.values[row * self.width..(row + 1) * self.width]
    }

    fn order(&self, row: usize) -> &[Value] {
        &self.row(row)[self.order.clone()]
    }

    fn carried(&mut self, row: usize) -> &mut [Value] {
        let start = row * self.width;
        &mut self.values[start + self.carry.start..start + self.carry.end]
    }

    /// The arguments of a function in a row.
    fn arguments(&self, row: usize, function: usize) -> &[Value] {
        &self.row(row)[self.arguments[function].clone()]
    }
}

/// Reads a row of the input into `row`, which is empty.
fn read_row(plan: &Windows, row: &mut Vec<Value>, run: &mut Run<'_>) -> Result<(), Fault> {
    for key in plan.partition.iter().chain(&plan.order) {
        row.push(key.expr.eval(&mut run.env())?);
    }
    row.extend(plan.carry.iter().map(|slot| run.slots[*slot].clone()));
    plan.functions.iter().try_for_each(|(function, _)| read_arguments(function, row, run))
}

/// The number of a function's arguments that are read from rows.
fn arguments_of(function: &WindowFunction) -> usize {
    match function {
        WindowFunction::Number(_) | WindowFunction::PercentRank | WindowFunction::CumulativeDistribution => 0,
        WindowFunction::Tiles(_) | WindowFunction::End { .. } => 1,
        WindowFunction::Shift { .. } => 3,
        WindowFunction::Aggregate(aggregate, _) => usize::from(aggregate.input.is_some()),
        WindowFunction::Percentile { .. } => 2,
    }
}

/// Adds a function's arguments to a row.
fn read_arguments(function: &WindowFunction, row: &mut Vec<Value>, run: &mut Run<'_>) -> Result<(), Fault> {
    let whole = |value: Option<i64>| value.map_or(Value::Null, Value::BigInt);
    match function {
        WindowFunction::Number(_) | WindowFunction::PercentRank | WindowFunction::CumulativeDistribution => {}
        WindowFunction::Tiles(count) => row.push(whole(count.eval(&mut run.env())?)),
        WindowFunction::Shift { value, offset, default, .. } => {
            let offset = match offset {
                None => Value::BigInt(1),
                Some(offset) => whole(offset.eval(&mut run.env())?),
            };
            row.push(value.eval(&mut run.env())?);
            row.push(offset);
            row.push(default.eval(&mut run.env())?);
        }
        WindowFunction::End { value, .. } => row.push(value.eval(&mut run.env())?),
        WindowFunction::Aggregate(aggregate, _) => {
            if let Some(input) = &aggregate.input {
                let value = input.eval(&mut run.env())?;
                run.null_eliminated |= value.is_null();
                row.push(value);
            }
        }
        WindowFunction::Percentile { place, value, .. } => {
            row.push(value.eval(&mut run.env())?);
            row.push(place.eval(&mut run.env())?);
        }
    }
    Ok(())
}

/// For each row, the first of its equals in the window's order and the row behind the last one.
struct Peers(Vec<(usize, usize)>);

impl Peers {
    fn of(rows: &Partition, order: &[SortKey]) -> Peers {
        let mut peers = Vec::with_capacity(rows.rows);
        let mut first = 0;
        while first < rows.rows {
            let is_equal = |row: &usize| SortKey::same(order, rows.order(*row), rows.order(first));
            let end = first + 1 + (first + 1..rows.rows).take_while(is_equal).count();
            peers.resize(end, (first, end));
            first = end;
        }
        Peers(peers)
    }

    fn numbers(&self, numbering: Numbering) -> Vec<Value> {
        let mut dense = 0;
        let number = |(row, (first, _)): (usize, &(usize, usize))| {
            dense += i64::from(row == *first);
            Value::BigInt(match numbering {
                Numbering::Row => row as i64 + 1,
                Numbering::Rank => *first as i64 + 1,
                Numbering::DenseRank => dense,
            })
        };
        self.0.iter().enumerate().map(number).collect()
    }

    fn percent_ranks(&self) -> Vec<Value> {
        let others = self.0.len().saturating_sub(1).max(1) as f64;
        self.0.iter().map(|(first, _)| Value::Float(*first as f64 / others)).collect()
    }

    fn distribution(&self) -> Vec<Value> {
        let all = self.0.len() as f64;
        self.0.iter().map(|(_, end)| Value::Float(*end as f64 / all)).collect()
    }

    /// The rows of a row's frame.
    fn frame(&self, row: usize, frame: Frame) -> Range<usize> {
        let count = self.0.len();
        let place = |offset: i64, behind: usize| {
            let at = i64::try_from(row + behind).unwrap_or(i64::MAX).saturating_add(offset);
            usize::try_from(at).unwrap_or(0).min(count)
        };
        let start = match frame.start {
            FrameEnd::Unbounded => 0,
            FrameEnd::Offset(_) if !frame.rows => self.0[row].0,
            FrameEnd::Offset(offset) => place(offset, 0),
        };
        let end = match frame.end {
            FrameEnd::Unbounded => count,
            FrameEnd::Offset(_) if !frame.rows => self.0[row].1,
            FrameEnd::Offset(offset) => place(offset, 1),
        };
        start..end.max(start)
    }
}

fn tiles(rows: &Partition, at: usize) -> Result<Vec<Value>, Fault> {
    if rows.rows == 0 {
        return Ok(Vec::new());
    }
    let tiles = rows.arguments(0, at)[0].as_i64();
    let Some(tiles) = tiles.filter(|tiles| *tiles > 0) else {
        return Err(Box::new(SqlError::tiles_not_positive()));
    };
    let count = rows.rows as i64;
    let (size, longer) = (count / tiles, count % tiles);
    let tile = |row: i64| {
        let of_longer = longer * (size + 1);
        if row < of_longer { row / (size + 1) } else { longer + (row - of_longer) / size.max(1) }
    };
    Ok((0..count).map(|row| Value::BigInt(tile(row) + 1)).collect())
}

fn shift(rows: &Partition, at: usize, ahead: bool, ignore_nulls: bool) -> Result<Vec<Value>, Fault> {
    let mut results = Vec::with_capacity(rows.rows);
    let value = |row: usize| &rows.arguments(row, at)[0];
    for row in 0..rows.rows {
        let [_, offset, default] = rows.arguments(row, at) else {
            return Ok(Vec::new());
        };
        let Some(offset) = offset.as_i64() else {
            results.push(Value::Null);
            continue;
        };
        let Ok(offset) = usize::try_from(offset) else {
            return Err(Box::new(SqlError::shift_is_negative()));
        };
        let found = if !ignore_nulls || offset == 0 {
            let place = if ahead { row.checked_add(offset) } else { row.checked_sub(offset) };
            place.filter(|place| *place < rows.rows)
        } else {
            let has_value = |row: &usize| !value(*row).is_null();
            if ahead {
                (row + 1..rows.rows).filter(has_value).nth(offset - 1)
            } else {
                (0..row).rev().filter(has_value).nth(offset - 1)
            }
        };
        let found = found.map(|row| value(row).clone());
        results.push(found.unwrap_or_else(|| default.clone()));
    }
    Ok(results)
}

fn ends(rows: &Partition, at: usize, peers: &Peers, frame: Frame, last: bool, ignore_nulls: bool) -> Vec<Value> {
    let end = |row: usize| {
        let mut values = peers.frame(row, frame).map(|row| &rows.arguments(row, at)[0]);
        let wanted = |value: &&Value| !ignore_nulls || !value.is_null();
        let found = if last { values.rfind(wanted) } else { values.find(wanted) };
        found.cloned().unwrap_or(Value::Null)
    };
    (0..rows.rows).map(end).collect()
}

fn aggregates(
    rows: &Partition,
    at: usize,
    peers: &Peers,
    aggregate: &Aggregate,
    frame: Frame,
) -> Result<Vec<Value>, Fault> {
    let empty = || Accumulator::new(aggregate.function, &aggregate.input_type, aggregate.collation);
    let take = |state: &mut Accumulator, row: usize| -> Result<(), Fault> {
        match rows.arguments(row, at).first() {
            None => state.add_row(),
            Some(value) => drop(state.add(value)?),
        }
        Ok(())
    };
    let mut results = vec![Value::Null; rows.rows];
    let mut state = empty()?;
    match (frame.start, frame.end) {
        (FrameEnd::Unbounded, FrameEnd::Unbounded) => {
            (0..rows.rows).try_for_each(|row| take(&mut state, row))?;
            results.fill(state.finish()?);
        }
        (FrameEnd::Unbounded, _) => {
            let mut taken = 0;
            for (row, result) in results.iter_mut().enumerate() {
                let end = peers.frame(row, frame).end;
                (taken.min(end)..end).try_for_each(|row| take(&mut state, row))?;
                taken = taken.max(end);
                *result = state.finish()?;
            }
        }
        (_, FrameEnd::Unbounded) => {
            let mut first = rows.rows;
            for (row, result) in results.iter_mut().enumerate().rev() {
                let start = peers.frame(row, frame).start;
                (start.min(first)..first).rev().try_for_each(|row| take(&mut state, row))?;
                first = first.min(start);
                *result = state.finish()?;
            }
        }
        _ => {
            for (row, result) in results.iter_mut().enumerate() {
                let mut state = empty()?;
                peers.frame(row, frame).try_for_each(|row| take(&mut state, row))?;
                *result = state.finish()?;
            }
        }
    }
    Ok(results)
}

fn percentile(rows: &Partition, at: usize, continuous: bool) -> Result<Vec<Value>, Fault> {
    if rows.rows == 0 {
        return Ok(Vec::new());
    }
    let Value::Float(place) = rows.arguments(0, at)[1] else {
        return Err(Box::new(SqlError::percentile_out_of_range()));
    };
    if !(0.0..=1.0).contains(&place) {
        return Err(Box::new(SqlError::percentile_out_of_range()));
    }
    let values = (0..rows.rows).map(|row| &rows.arguments(row, at)[0]).filter(|value| !value.is_null());
    let values: Vec<&Value> = values.collect();
    Ok(vec![pikepole_types::percentile(&values, place, continuous); rows.rows])
}
