//! Window functions that look at other rows: the rows of a partition are kept, then each function gives a value for each.
//!
//! Running and whole-partition frames are walked once, forward or backward. A frame with two moving ends adds its rows up anew
//! for each row, so such an aggregate costs rows times the frame's width.

use super::Run;
use super::cursor::Cursor;
use crate::access::{Pace, Stop};
use crate::expression::Fault;
use crate::plan::{Aggregate, Frame, FrameEnd, Numbering, SortKey, WindowFunction, Windows};
use pikepole_types::{Accumulator, SqlError, Value};

/// A row of the partition at hand.
struct Row {
    partition: Vec<Value>,
    order: Vec<Value>,
    carry: Vec<Value>,
    /// Per function, its arguments' values.
    arguments: Vec<Vec<Value>>,
}

/// The state of a [`Windows`].
pub(crate) struct WindowCursor {
    input: Cursor,
    rows: Vec<Row>,
    /// Per function, a value for each row.
    results: Vec<Vec<Value>>,
    /// The first row of the next partition.
    ahead: Option<Row>,
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
            rows: Vec::new(),
            results: Vec::new(),
            ahead: None,
            reading: false,
            ended: false,
            next: 0,
            pace: Pace::default(),
        }
    }

    pub(crate) fn open(&mut self) {
        self.input.open();
        self.rows.clear();
        self.ahead = None;
        self.reading = false;
        self.ended = false;
        self.next = 0;
    }

    pub(crate) fn forget(&mut self) {
        self.rows = Vec::new();
        self.results = Vec::new();
        self.ahead = None;
        self.input.forget();
    }

    pub(crate) fn next(&mut self, plan: &Windows, run: &mut Run<'_>) -> Result<bool, Stop> {
        if self.reading || self.next >= self.rows.len() {
            if !self.reading {
                self.rows.clear();
                self.rows.extend(self.ahead.take());
                self.reading = true;
            }
            self.read(plan, run)?;
            self.reading = false;
            self.next = 0;
            self.compute(plan)?;
        } else {
            self.pace.step()?;
        }
        let Some(row) = self.rows.get_mut(self.next) else {
            return Ok(false);
        };
        for (slot, value) in plan.carry.iter().zip(&mut row.carry) {
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
        while !self.ended && self.ahead.is_none() {
            let (rows, ahead) = (&mut self.rows, &mut self.ahead);
            let take = |run: &mut Run<'_>| {
                let row = row_of(plan, run)?;
                let is_other = |first: &Row| !SortKey::same(&plan.partition, &first.partition, &row.partition);
                match rows.first().is_some_and(is_other) {
                    true => *ahead = Some(row),
                    false => rows.push(row),
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

fn row_of(plan: &Windows, run: &mut Run<'_>) -> Result<Row, Fault> {
    let keys = |keys: &[SortKey], run: &mut Run<'_>| {
        keys.iter().map(|key| key.expr.eval(&mut run.env())).collect::<Result<Vec<Value>, Fault>>()
    };
    let partition = keys(&plan.partition, run)?;
    let order = keys(&plan.order, run)?;
    let mut arguments = Vec::with_capacity(plan.functions.len());
    for (function, _) in &plan.functions {
        arguments.push(arguments_of(function, run)?);
    }
    let carry = plan.carry.iter().map(|slot| run.slots[*slot].clone()).collect();
    Ok(Row { partition, order, carry, arguments })
}

fn arguments_of(function: &WindowFunction, run: &mut Run<'_>) -> Result<Vec<Value>, Fault> {
    let whole = |value: Option<i64>| value.map_or(Value::Null, Value::BigInt);
    Ok(match function {
        WindowFunction::Number(_) | WindowFunction::PercentRank | WindowFunction::CumulativeDistribution => Vec::new(),
        WindowFunction::Tiles(count) => vec![whole(count.eval(&mut run.env())?)],
        WindowFunction::Shift { value, offset, default, .. } => {
            let offset = match offset {
                None => Value::BigInt(1),
                Some(offset) => whole(offset.eval(&mut run.env())?),
            };
            vec![value.eval(&mut run.env())?, offset, default.eval(&mut run.env())?]
        }
        WindowFunction::End { value, .. } => vec![value.eval(&mut run.env())?],
        WindowFunction::Aggregate(aggregate, _) => match &aggregate.input {
            None => Vec::new(),
            Some(input) => {
                let value = input.eval(&mut run.env())?;
                run.null_eliminated |= value.is_null();
                vec![value]
            }
        },
        WindowFunction::Percentile { place, value, .. } => {
            vec![value.eval(&mut run.env())?, place.eval(&mut run.env())?]
        }
    })
}

/// For each row, the first of its equals in the window's order and the row behind the last one.
struct Peers(Vec<(usize, usize)>);

impl Peers {
    fn of(rows: &[Row], order: &[SortKey]) -> Peers {
        let mut peers = Vec::with_capacity(rows.len());
        let mut first = 0;
        while first < rows.len() {
            let is_equal = |row: &&Row| SortKey::same(order, &row.order, &rows[first].order);
            let equals = rows[first..].iter().take_while(is_equal).count();
            let end = first + equals.max(1);
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
    fn frame(&self, row: usize, frame: Frame) -> std::ops::Range<usize> {
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

fn tiles(rows: &[Row], at: usize) -> Result<Vec<Value>, Fault> {
    let Some(tiles) = rows.first().map(|row| row.arguments[at][0].as_i64()) else {
        return Ok(Vec::new());
    };
    let Some(tiles) = tiles.filter(|tiles| *tiles > 0) else {
        return Err(Box::new(SqlError::tiles_not_positive()));
    };
    let count = rows.len() as i64;
    let (size, longer) = (count / tiles, count % tiles);
    let tile = |row: i64| {
        let of_longer = longer * (size + 1);
        if row < of_longer { row / (size + 1) } else { longer + (row - of_longer) / size.max(1) }
    };
    Ok((0..count).map(|row| Value::BigInt(tile(row) + 1)).collect())
}

fn shift(rows: &[Row], at: usize, ahead: bool, ignore_nulls: bool) -> Result<Vec<Value>, Fault> {
    let mut results = Vec::with_capacity(rows.len());
    for (row, own) in rows.iter().enumerate() {
        let [_, offset, default] = own.arguments[at].as_slice() else {
            return Ok(Vec::new());
        };
        let Some(offset) = offset.as_i64() else {
            results.push(Value::Null);
            continue;
        };
        let Ok(offset) = usize::try_from(offset) else {
            return Err(Box::new(SqlError::shift_is_negative()));
        };
        let value = |row: &Row| row.arguments[at][0].clone();
        let found = if !ignore_nulls || offset == 0 {
            let place = if ahead { row.checked_add(offset) } else { row.checked_sub(offset) };
            place.and_then(|place| rows.get(place)).map(value)
        } else {
            let with_value = |row: &&Row| !row.arguments[at][0].is_null();
            if ahead {
                rows[row + 1..].iter().filter(with_value).nth(offset - 1).map(value)
            } else {
                rows[..row].iter().rev().filter(with_value).nth(offset - 1).map(value)
            }
        };
        results.push(found.unwrap_or_else(|| default.clone()));
    }
    Ok(results)
}

fn ends(rows: &[Row], at: usize, peers: &Peers, frame: Frame, last: bool, ignore_nulls: bool) -> Vec<Value> {
    let end = |row: usize| {
        let mut values = rows[peers.frame(row, frame)].iter().map(|row| &row.arguments[at][0]);
        let wanted = |value: &&Value| !ignore_nulls || !value.is_null();
        let found = if last { values.rfind(wanted) } else { values.find(wanted) };
        found.cloned().unwrap_or(Value::Null)
    };
    (0..rows.len()).map(end).collect()
}

fn aggregates(
    rows: &[Row],
    at: usize,
    peers: &Peers,
    aggregate: &Aggregate,
    frame: Frame,
) -> Result<Vec<Value>, Fault> {
    let empty = || Accumulator::new(aggregate.function, &aggregate.input_type, aggregate.collation);
    let take = |state: &mut Accumulator, row: &Row| -> Result<(), Fault> {
        match row.arguments[at].first() {
            None => state.add_row(),
            Some(value) => drop(state.add(value)?),
        }
        Ok(())
    };
    let mut results = vec![Value::Null; rows.len()];
    let mut state = empty()?;
    match (frame.start, frame.end) {
        (FrameEnd::Unbounded, FrameEnd::Unbounded) => {
            rows.iter().try_for_each(|row| take(&mut state, row))?;
            results.fill(state.finish()?);
        }
        (FrameEnd::Unbounded, _) => {
            let mut taken = 0;
            for (row, result) in results.iter_mut().enumerate() {
                let end = peers.frame(row, frame).end;
                rows[taken.min(end)..end].iter().try_for_each(|row| take(&mut state, row))?;
                taken = taken.max(end);
                *result = state.finish()?;
            }
        }
        (_, FrameEnd::Unbounded) => {
            let mut first = rows.len();
            for (row, result) in results.iter_mut().enumerate().rev() {
                let start = peers.frame(row, frame).start;
                rows[start.min(first)..first].iter().rev().try_for_each(|row| take(&mut state, row))?;
                first = first.min(start);
                *result = state.finish()?;
            }
        }
        _ => {
            for (row, result) in results.iter_mut().enumerate() {
                let mut state = empty()?;
                rows[peers.frame(row, frame)].iter().try_for_each(|row| take(&mut state, row))?;
                *result = state.finish()?;
            }
        }
    }
    Ok(results)
}

fn percentile(rows: &[Row], at: usize, continuous: bool) -> Result<Vec<Value>, Fault> {
    let Some(first) = rows.first() else {
        return Ok(Vec::new());
    };
    let Value::Float(place) = first.arguments[at][1] else {
        return Err(Box::new(SqlError::percentile_out_of_range()));
    };
    if !(0.0..=1.0).contains(&place) {
        return Err(Box::new(SqlError::percentile_out_of_range()));
    }
    let values: Vec<&Value> = rows.iter().map(|row| &row.arguments[at][0]).filter(|value| !value.is_null()).collect();
    Ok(vec![pikepole_types::percentile(&values, place, continuous); rows.len()])
}
