//! Parallel plans: parts of a plan that several workers run at once, each a task on a scheduler of its own.
//!
//! ```text
//!   session's task            Dispenser (ordinals of the product's rows, parts of a table)
//!        │ prepares               │ ranges, ascending, each to one worker
//!        ├──────────► worker 0 ◄──┤    operators of its own over the same plan,
//!        ├──────────► worker 1 ◄──┘    slots, globals and functions' state of its own
//!        │ awaits (CXCONSUMER)    │
//!        ◄──────── Team: results, the first failure
//! ```
//! Under EXCHANGE = PACKETS the workers of an INSERT also send their rows to the session, see [`PacketList`].
//!
//! What a part reads from outside of it (lists, series, bounds of TOP) the session evaluates before the workers start. What is
//! left for them must not need the session: see [`may_run_elsewhere`].
//!
//! A worker that reads or changes a table does so in a child of the session's transaction: it sees what the statement sees.
//!
//! Invariants
//! - only plans whose rows are made from their ordinal, or are those of a whole table, run in parallel, and UNION ALL of such. A made
//!   row's number is its ordinal, and TOP is a range of ordinals, see [`Operator::prepare`]; the rows of a table have no numbers, and no
//!   TOP;
//! - ranges are dealt out ascending, and after a failure each worker goes on to the failed batch: so the failure reported
//!   is that of the first row that has one, as if one worker had run alone;
//! - a session goes on only when all its workers have ended.

mod dispenser;
mod exchange;
mod fill;
mod insert;
mod portable;
mod team;
mod worker;

pub(crate) use dispenser::{Dispenser, Ordinals};
pub(crate) use exchange::PacketList;
pub(crate) use fill::Filling;
pub(crate) use insert::{InsertWork, Target, insert};
pub(crate) use portable::may_run_elsewhere;
pub(crate) use team::{Crew, Team};
pub(crate) use worker::{Part, Worker, WorkerRun};

use crate::access::Stop;
use crate::executor::batch::Operator;
use crate::executor::{Making, Run};
use crate::plan::{LiveSlots, Node};

/// Rows of a range that a worker takes at once: some batches, so that the dispenser costs nothing.
pub(crate) const RANGE_ROWS: u64 = 16 * 1024;

/// A plan of fewer rows runs on its session's own task: starting workers costs more than they save.
pub(crate) const ROWS_MIN: u64 = 128 * 1024;

/// The same for rows that are there already.
pub(crate) const KEPT_ROWS_MIN: u64 = 1024;

/// A table of fewer pages is read by its session's own task.
pub(crate) const SCAN_PAGES_MIN: usize = 128;

/// Workers of one plan, at most.
pub(crate) const WORKERS_MAX: usize = 64;

/// Workers for a plan, with their operators; none when it is to stay serial.
///
/// # Errors
/// Those of the expressions that are evaluated before the workers start; a need, after which the call is made again.
pub(crate) fn workers(operator: &mut Operator, node: &Node, run: &mut Run<'_>) -> Result<Option<Vec<Worker>>, Stop> {
    let Some(degree) = run.degree().filter(|&degree| degree >= operator.degree_min()) else {
        return Ok(None);
    };
    if !may_run_elsewhere(node) {
        return Ok(None);
    }
    let Some(ordinals) = operator.prepare(node, run)?.filter(|ordinals| ordinals.worth() >= 1.0) else {
        return Ok(None);
    };
    let count = degree.min(WORKERS_MAX).min(usize::try_from(ordinals.ranges()).unwrap_or(WORKERS_MAX));
    let dispenser = Dispenser::new(&ordinals);
    let workers = (0..count).filter_map(|place| run.worker(place, operator.fork(&dispenser)?, &dispenser));
    Ok(Some(workers.collect()))
}

/// True when workers could make the rows of a plan, if there are enough of them.
pub(crate) fn can_share(node: &Node, live: &LiveSlots) -> bool {
    may_run_elsewhere(node) && Operator::of(node, Making::plain(live)).is_some_and(|operator| operator.is_shareable())
}

/// Gives workers that read tables the children of the session's transaction that they read in.
///
/// # Errors
/// The need to wait for children that were made before.
pub(crate) fn give_readers(workers: &mut [Worker], run: &mut Run<'_>) -> Result<(), Stop> {
    let (database, tx) = run.engine()?;
    let children = database.try_begin_children(tx, workers.len(), false)?;
    workers.iter_mut().zip(children).for_each(|(worker, child)| worker.child = Some(child));
    Ok(())
}
