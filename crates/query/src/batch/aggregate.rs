//! Aggregates without groups, over whole columns.
//!
//! Of a column of codes only its number of values, their sum, or the least or largest code is looked for, in a loop over
//! integers; the accumulator that single values go to takes the result. All other values go to it one by one. Over many rows
//! workers aggregate a part each, and the parts are merged. A table that is read without workers is read row by row, by the operator
//! that also makes groups.

use std::sync::Arc;

use arrow_array::{Array, Int64Array};

use super::Batch;
use super::evaluate::evaluate;
use super::operator::Operator;
use super::vector::{Code, Vector};
use crate::access::Stop;
use crate::expression::{Expr, Fault};
use crate::parallel::{self, Crew, Part, Worker};
use crate::plan::{Aggregate, Node};
use crate::run::{Counts, Cursor, Run};
use pikepole_engine::Transaction;
use pikepole_types::{Accumulator, Aggregate as Function, Value};

/// The aggregates over a part of the rows.
#[derive(Clone)]
pub(crate) struct Partial {
    states: Vec<Accumulator>,
    /// True once a NULL was passed over.
    null_eliminated: bool,
}

impl Partial {
    pub(crate) fn new(aggregates: &[Aggregate]) -> Result<Partial, Fault> {
        let state =
            |aggregate: &Aggregate| Accumulator::new(aggregate.function, &aggregate.input_type, aggregate.collation);
        let states = aggregates.iter().map(state).collect::<Result<_, _>>()?;
        Ok(Partial { states, null_eliminated: false })
    }

    /// Takes the rows of a batch.
    ///
    /// # Errors
    /// That of the first row of the first aggregate that has one.
    pub(crate) fn take(&mut self, batch: &Batch, aggregates: &[Aggregate], run: &mut Run<'_>) -> Result<(), Fault> {
        for (aggregate, state) in aggregates.iter().zip(&mut self.states) {
            match &aggregate.input {
                None => state.add_count(batch.rows as i64),
                Some(input) => {
                    let column = evaluate(input, batch, run)?;
                    let counted = add_column(state, aggregate.function, &column, batch.rows)?;
                    self.null_eliminated |= counted < batch.rows;
                }
            }
        }
        Ok(())
    }

    /// Whether parts can be merged in any order.
    fn merges(&self) -> bool {
        self.states.iter().all(Accumulator::merges)
    }

    fn merge(&mut self, other: &Partial) -> Result<(), Fault> {
        self.null_eliminated |= other.null_eliminated;
        for (own, other) in self.states.iter_mut().zip(&other.states) {
            own.merge(other)?;
        }
        Ok(())
    }

    /// Leaves the results in their slots.
    fn finish(&self, aggregates: &[Aggregate], run: &mut Run<'_>) -> Result<(), Fault> {
        run.null_eliminated |= self.null_eliminated;
        for (aggregate, state) in aggregates.iter().zip(&self.states) {
            run.slots[aggregate.slot] = state.finish()?;
        }
        Ok(())
    }
}

/// Adds the values of a column; gives how many of them are not NULL.
fn add_column(state: &mut Accumulator, function: Function, column: &Vector, rows: usize) -> Result<usize, Fault> {
    let counts = matches!(function, Function::Count | Function::CountBig);
    match column {
        Vector::Same(Value::Null) => return Ok(0),
        Vector::Same(_) if counts => state.add_count(rows as i64),
        Vector::Same(value) if matches!(function, Function::Min | Function::Max) => {
            state.add_extreme(rows as i64, value);
        }
        Vector::Same(value) => {
            for _ in 0..rows {
                state.add(value)?;
            }
        }
        Vector::Coded(code, codes) => {
            let counted = codes.len() - codes.null_count();
            match (function, code) {
                _ if counted == 0 => {}
                _ if counts => state.add_count(counted as i64),
                (Function::Min | Function::Max, _) => {
                    let extreme = code.decode(extreme(codes, function == Function::Max));
                    state.add_extreme(counted as i64, &extreme);
                }
                (_, Code::Integer(_) | Code::Money | Code::SmallMoney) if state.sums_whole() => {
                    state.add_sum(counted as i64, sum(codes));
                }
                _ => return add_each(state, column, rows),
            }
            return Ok(counted);
        }
        Vector::Any(_) => return add_each(state, column, rows),
    }
    Ok(rows)
}

fn add_each(state: &mut Accumulator, column: &Vector, rows: usize) -> Result<usize, Fault> {
    let mut value = Value::Null;
    let mut counted = 0;
    for row in 0..rows {
        column.read(row, &mut value);
        counted += usize::from(state.add(&value)?);
    }
    Ok(counted)
}

fn sum(codes: &Int64Array) -> i128 {
    if codes.null_count() > 0 {
        return codes.iter().flatten().map(i128::from).sum();
    }
    // Halves add up apart, without a carry between them: a batch has too few rows for either to overflow.
    let halves = |(high, low): (i64, i64), code: &i64| (high + (code >> 32), low + (code & 0xFFFF_FFFF));
    let (high, low) = codes.values().iter().fold((0, 0), halves);
    (i128::from(high) << 32) + i128::from(low)
}

/// The largest or least code that is not NULL; there is one.
fn extreme(codes: &Int64Array, largest: bool) -> i64 {
    let better = |a: i64, b: i64| if largest { a.max(b) } else { a.min(b) };
    let worst = if largest { i64::MIN } else { i64::MAX };
    match codes.null_count() {
        0 => codes.values().iter().copied().fold(worst, better),
        _ => codes.iter().flatten().fold(worst, better),
    }
}

/// The state of a [`Node::Group`] without keys whose rows come in batches: gives one row.
pub(crate) struct AggregateCursor {
    input: Operator,
    /// What does the work where the input is for workers only, and there are none.
    serial: Option<Cursor>,
    stage: Stage,
    /// The counts of the workers' runs.
    counts: Option<Arc<Counts>>,
}

enum Stage {
    /// No row was asked for.
    Fresh,
    /// The rows so far.
    Reading(Partial),
    /// Workers are at it; each leaves its part, and its transaction if it has one.
    Parallel(Crew<Left>),
    /// The serial cursor is.
    Serial,
    /// The row was given.
    Given,
}

/// What workers do with their rows: the aggregates, and the state in which each begins.
struct Work {
    aggregates: Vec<Aggregate>,
    empty: Partial,
}

impl AggregateCursor {
    pub(crate) fn new(input: Operator, serial: Option<Cursor>) -> AggregateCursor {
        AggregateCursor { input, serial, stage: Stage::Fresh, counts: None }
    }

    /// Has it counted what workers do.
    pub(crate) fn counted(self, counts: Option<Arc<Counts>>) -> AggregateCursor {
        AggregateCursor { counts, ..self }
    }

    pub(crate) fn open(&mut self) {
        self.input.open();
        self.serial.iter_mut().for_each(Cursor::open);
        self.stage = Stage::Fresh;
    }

    pub(crate) fn forget(&mut self) {
        self.input.forget();
        self.serial.iter_mut().for_each(Cursor::forget);
    }

    pub(crate) fn next(
        &mut self,
        group: &Node,
        node: &Node,
        aggregates: &[Aggregate],
        run: &mut Run<'_>,
    ) -> Result<bool, Stop> {
        loop {
            let whole = match &mut self.stage {
                Stage::Given => return Ok(false),
                Stage::Fresh => {
                    let empty = Partial::new(aggregates)?;
                    self.stage = match start(&mut self.input, &empty, node, aggregates, run)? {
                        Some(crew) => Stage::Parallel(crew),
                        None if self.serial.is_some() => Stage::Serial,
                        None => Stage::Reading(empty),
                    };
                    continue;
                }
                Stage::Parallel(crew) => {
                    let Some((left, result)) = crew.outcome() else {
                        return Err(Stop::Team(crew.team()));
                    };
                    if let Some(counts) = &self.counts {
                        counts.add_workers(crew.runs());
                    }
                    let (parts, children): (Vec<Partial>, Vec<Option<Transaction>>) = left.into_iter().unzip();
                    let (database, tx) = run.engine()?;
                    database.merge_children(tx, children.into_iter().flatten().collect());
                    result?;
                    let mut whole = Partial::new(aggregates)?;
                    parts.iter().try_for_each(|part| whole.merge(part))?;
                    whole
                }
                Stage::Serial => {
                    let Some(serial) = &mut self.serial else { return Ok(false) };
                    return serial.give(group, run, |_| Ok(true));
                }
                Stage::Reading(partial) => {
                    let mut add = |batch: Batch, run: &mut Run<'_>| partial.take(&batch, aggregates, run);
                    while self.input.take(node, run, &mut add)?.is_some() {}
                    partial.clone()
                }
            };
            whole.finish(aggregates, run)?;
            self.stage = Stage::Given;
            return Ok(true);
        }
    }
}

/// True when workers could make these aggregates, a part each.
pub(crate) fn can_share(aggregates: &[Aggregate]) -> bool {
    let is_plain = |aggregate: &Aggregate| !aggregate.distinct && aggregate.separator.is_none();
    let is_portable = |aggregate: &Aggregate| aggregate.input.as_ref().is_none_or(Expr::is_portable);
    let each = aggregates.iter().all(|aggregate| is_plain(aggregate) && is_portable(aggregate));
    each && Partial::new(aggregates).is_ok_and(|empty| empty.merges())
}

/// What a worker leaves: its part of the aggregates, and the child it has read in.
type Left = (Partial, Option<Transaction>);

/// Starts workers over the rows, when they are many and the parts can be merged.
fn start(
    input: &mut Operator,
    empty: &Partial,
    node: &Node,
    aggregates: &[Aggregate],
    run: &mut Run<'_>,
) -> Result<Option<Crew<Left>>, Stop> {
    let portable = aggregates.iter().filter_map(|aggregate| aggregate.input.as_ref()).all(Expr::is_portable);
    if !portable || !empty.merges() {
        return Ok(None);
    }
    let Some(mut workers) = parallel::workers(input, node, run)? else {
        return Ok(None);
    };
    if input.reads_table() {
        parallel::give_readers(&mut workers, run)?;
    }
    let rest = Work { aggregates: aggregates.to_vec(), empty: empty.clone() };
    let part = Arc::new(Part { node: node.clone(), live: run.live.clone(), rest });
    let jobs = workers.into_iter().map(|worker| (worker, ())).collect();
    Ok(Crew::start(jobs, run.worker_info("SELECT"), None, |worker, ()| aggregate(worker, Arc::clone(&part))))
}

/// What a worker does.
async fn aggregate(
    mut worker: Worker,
    part: Arc<Part<Work>>,
) -> ((Partial, Option<Transaction>), Result<(), (u64, Fault)>) {
    let mut partial = part.rest.empty.clone();
    let result = fill(&mut partial, &mut worker, &part).await;
    let result = result.map_err(|fault| worker.failed(fault));
    ((partial, worker.child), result)
}

async fn fill(partial: &mut Partial, worker: &mut Worker, part: &Part<Work>) -> Result<(), Fault> {
    loop {
        worker.meet_readers().await?;
        let Some(batch) = worker.next(part).await? else {
            return Ok(());
        };
        let (mut run, _) = worker.run(part);
        partial.take(&batch, &part.rest.aggregates, &mut run)?;
    }
}
