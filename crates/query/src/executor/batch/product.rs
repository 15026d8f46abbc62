//! Rows that can be made from their ordinal: lists, series, and cross joins of them.
//!
//! ```text
//!   a CROSS JOIN b CROSS JOIN c          ordinal = (ia * |b| + ib) * |c| + ic
//! ```
//! The last factor turns fastest, as in nested loops. A range of ordinals is made without making those before it.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::{Array, Int64Array};

use super::operator::assign;
use super::vector::{Code, Vector, VectorBuilder};
use super::{BATCH_ROWS, Batch};
use crate::access::Stop;
use crate::errors;
use crate::executor::Run;
use crate::executor::parallel::Dispenser;
use crate::expression::{Expr, Fault, Integer, Width};
use crate::plan::{JoinKind, LiveSlots, Node, Series};
use pikepole_scheduler as scheduler;

/// The rows of a cross join.
pub(crate) struct Product {
    factors: Arc<[Factor]>,
    /// Set when the rows are opened.
    rows: Option<u64>,
    /// The ordinals to be made next.
    range: Range<u64>,
    /// Where a worker gets its ranges from.
    dispenser: Option<Arc<Dispenser>>,
    /// The ordinal of the last batch.
    last: u64,
}

/// One side of a cross join.
enum Factor {
    /// Rows of expressions.
    List { rows: u64, columns: Vec<(usize, Vector)> },
    /// `start`, `start + step`, ...
    Series { rows: u64, slot: usize, width: Width, start: i64, step: i64 },
}

impl Factor {
    fn rows(&self) -> u64 {
        match self {
            Factor::List { rows, .. } | Factor::Series { rows, .. } => *rows,
        }
    }
}

impl Product {
    /// The product of a plan that is one.
    pub(crate) fn of(node: &Node) -> Option<Product> {
        is_product(node).then(|| Product { factors: Arc::default(), rows: None, range: 0..0, dispenser: None, last: 0 })
    }

    /// The same product for a worker: its factors are made already, its ranges are dealt out.
    pub(crate) fn fork(&self, dispenser: &Arc<Dispenser>) -> Product {
        let (factors, dispenser) = (Arc::clone(&self.factors), Some(Arc::clone(dispenser)));
        Product { factors, rows: self.rows, range: 0..0, dispenser, last: 0 }
    }

    pub(crate) fn open(&mut self) {
        self.rows = None;
    }

    /// The ordinal of the first row of the last batch.
    pub(crate) fn ordinal(&self) -> u64 {
        self.last
    }

    /// The next rows.
    pub(crate) fn next(&mut self, node: &Node, run: &mut Run<'_>) -> Result<Option<Batch>, Stop> {
        if self.rows.is_none() {
            self.count(node, run)?;
        }
        if self.range.is_empty()
            && let Some(dispenser) = &self.dispenser
        {
            self.range = dispenser.take();
        }
        let start = self.range.start;
        if self.range.is_empty() || self.dispenser.as_ref().is_some_and(|dispenser| dispenser.is_past_failure(start)) {
            return Ok(None);
        }
        if scheduler::quantum_over() {
            return Err(Stop::Yield);
        }
        let ordinals = start..self.range.end.min(start + BATCH_ROWS as u64);
        self.last = start;
        let mut batch = self.make(&ordinals, run.live);
        batch.first = start;
        compute(node, &mut batch, run)?;
        self.range.start = ordinals.end;
        Ok(Some(batch))
    }

    /// Makes the factors; gives the number of rows.
    ///
    /// # Errors
    /// Those of the expressions of lists and series.
    pub(crate) fn count(&mut self, node: &Node, run: &mut Run<'_>) -> Result<u64, Fault> {
        let mut factors = Vec::new();
        open_factors(node, run, &mut factors)?;
        self.factors = factors.into();
        let empty = self.factors.iter().any(|factor| factor.rows() == 0);
        let rows = self.factors.iter().map(Factor::rows).try_fold(1u64, u64::checked_mul);
        // More rows than a counter holds are never all asked for.
        let rows = if empty { 0 } else { rows.unwrap_or(u64::MAX) };
        self.rows = Some(rows);
        self.range = 0..rows;
        Ok(rows)
    }

    /// The rows of these ordinals.
    fn make(&self, ordinals: &Range<u64>, live: &LiveSlots) -> Batch {
        let count = (ordinals.end - ordinals.start) as usize;
        let mut batch = Batch::new(count);
        // How many rows pass before a factor moves on by one.
        let mut stride = 1u64;
        for factor in self.factors.iter().rev() {
            let turns = Turns { first: ordinals.start, stride, rows: factor.rows() };
            match factor {
                Factor::List { columns, .. } => {
                    for (slot, column) in columns {
                        batch.set(*slot, turns.spread(column, count));
                    }
                }
                Factor::Series { slot, width, start, step, .. } if live.has(*slot) => {
                    // Within the bounds of the series, and so of its width.
                    let code = |index: u64| start.wrapping_add(step.wrapping_mul(index as i64));
                    let codes: Vec<i64> = turns.indexes(count).map(code).collect();
                    batch.set(*slot, Vector::Coded(Code::Integer(*width), Int64Array::from(codes)));
                }
                Factor::Series { .. } => {}
            }
            stride = stride.saturating_mul(factor.rows());
        }
        batch
    }
}

/// Which row of a factor each row of the product has.
#[derive(Clone, Copy)]
struct Turns {
    first: u64,
    stride: u64,
    rows: u64,
}

impl Turns {
    fn indexes(self, count: usize) -> impl Iterator<Item = u64> {
        let mut index = self.first / self.stride % self.rows;
        let mut within = self.first % self.stride;
        (0..count).map(move |_| {
            let now = index;
            within += 1;
            if within == self.stride {
                within = 0;
                index += 1;
                if index == self.rows {
                    index = 0;
                }
            }
            now
        })
    }

    fn spread(self, column: &Vector, count: usize) -> Vector {
        match column {
            Vector::Coded(code, codes) if codes.null_count() == 0 => {
                let values = codes.values();
                let spread: Vec<i64> = self.indexes(count).map(|index| values[index as usize]).collect();
                Vector::Coded(*code, Int64Array::from(spread))
            }
            other => {
                let rows: Vec<u32> = self.indexes(count).map(|index| index as u32).collect();
                other.take(&rows)
            }
        }
    }
}

/// Whether the rows of a plan can be made from their ordinal.
fn is_product(node: &Node) -> bool {
    match node {
        Node::One | Node::Values { .. } | Node::Series(_) => true,
        Node::Join { left, right, kind: JoinKind::Inner, on: None, .. } => {
            is_product(left) && is_product(right) && right.is_independent_of(left)
        }
        Node::Compute { input, .. } => is_product(input),
        Node::Concat { inputs, .. } => inputs.iter().all(|(node, _)| matches!(node, Node::One)),
        _ => false,
    }
}

fn open_factors(node: &Node, run: &mut Run<'_>, out: &mut Vec<Factor>) -> Result<(), Fault> {
    match node {
        Node::Join { left, right, .. } => {
            open_factors(left, run, out)?;
            open_factors(right, run, out)?;
        }
        Node::Compute { input, .. } => open_factors(input, run, out)?,
        Node::Values { rows, registers } => {
            let columns = registers.range().enumerate().filter(|(_, slot)| run.live.has(*slot));
            let column = |(at, slot)| Ok((slot, list_column(rows.iter().map(|row| &row[at]), run)?));
            let columns = columns.map(column).collect::<Result<_, Fault>>()?;
            out.push(Factor::List { rows: rows.len() as u64, columns });
        }
        Node::Concat { inputs, registers } => {
            let columns = registers.range().enumerate().filter(|(_, slot)| run.live.has(*slot));
            let column =
                |(at, slot)| Ok((slot, list_column(inputs.iter().map(|(_, row): &(Node, Vec<Expr>)| &row[at]), run)?));
            let columns = columns.map(column).collect::<Result<_, Fault>>()?;
            out.push(Factor::List { rows: inputs.len() as u64, columns });
        }
        Node::Series(series) => out.push(open_series(series, run)?),
        _ => {}
    }
    Ok(())
}

fn list_column<'a>(exprs: impl Iterator<Item = &'a Expr>, run: &mut Run<'_>) -> Result<Vector, Fault> {
    let mut column = VectorBuilder::new();
    for expr in exprs {
        column.push(&expr.eval(&mut run.env())?);
    }
    Ok(column.finish())
}

/// The first value, the step, and how many there are: none when an argument is NULL or the step leads away.
fn open_series(series: &Series, run: &mut Run<'_>) -> Result<Factor, Fault> {
    let mut value = |integer: &Integer| integer.eval(&mut run.env());
    let (start, stop) = (value(&series.start)?, value(&series.stop)?);
    let step = match &series.step {
        Some(step) => value(step)?,
        None => start.zip(stop).map(|(start, stop)| if start <= stop { 1 } else { -1 }),
    };
    let (start, step, rows) = match (start, stop, step) {
        (Some(_), Some(_), Some(0)) => return Err(errors::series_step_zero()),
        (Some(start), Some(stop), Some(step)) => {
            let distance =
                if step > 0 { i128::from(stop) - i128::from(start) } else { i128::from(start) - i128::from(stop) };
            let steps = distance / i128::from(step).abs();
            (start, step, if distance < 0 { 0 } else { u64::try_from(steps + 1).unwrap_or(u64::MAX) })
        }
        _ => (0, 0, 0),
    };
    Ok(Factor::Series { rows, slot: series.slot, width: series.width, start, step })
}

/// The columns that operators within the product compute, those below first.
fn compute(node: &Node, batch: &mut Batch, run: &mut Run<'_>) -> Result<(), Fault> {
    match node {
        Node::Join { left, right, .. } => {
            compute(left, batch, run)?;
            compute(right, batch, run)
        }
        Node::Compute { input, assignments } => {
            compute(input, batch, run)?;
            assign(assignments, batch, run)
        }
        _ => Ok(()),
    }
}
