//! Batches that workers make, gathered by their session: all of them, in the order in which the session would have made them.
//!
//! ```text
//!   worker    range of the left table ──► joined rows ──► its batches, by ordinal
//!   session   awaits all workers ──► batches in the order of their ordinals ──► rows
//! ```
//! Workers have no memory of their own to ask for: what they make together is bounded, and beyond that the session makes all rows itself,
//! one after the other. So it also does where only the first rows are wanted. How many rows a join makes is estimated too badly to tell
//! beforehand; to make so many in vain costs less than a tenth of what they all take.

use std::sync::Arc;

use super::aggregate::parts_bytes;
use super::key_table::RowKeys;
use super::operator::Operator;
use super::{BATCH_ROWS, Batch};
use crate::access::Stop;
use crate::executor::join::live_slots;
use crate::executor::parallel::{self, Crew, Part, Worker};
use crate::executor::spill::Charge;
use crate::executor::{Counts, Cursor, Making, Run};
use crate::expression::{Expr, Fault};
use crate::plan::Node;
use pikepole_contention::sync::atomic::{AtomicUsize, Ordering};
use pikepole_engine::Transaction;
use pikepole_types::Collation;

/// Bytes that all workers may have made together, where there is memory for them.
pub(super) const BYTES_MAX: usize = 128 << 20;

/// A batch, by the number that tells which comes first, and keys of its rows.
pub(super) struct Gathered {
    ordinal: u64,
    pub(super) batch: Batch,
    pub(super) keys: RowKeys,
}

/// The parts of the rows that are wanted.
struct Wanted {
    keys: Vec<(Expr, Collation)>,
    slots: Vec<usize>,
    /// Bytes made so far, and those that may be made.
    bytes: AtomicUsize,
    bytes_max: usize,
}

/// The outcome of a worker: its batches, and the child it has read in.
type Left = (Vec<Gathered>, Option<Transaction>);

/// Workers at it.
pub(super) struct Gathering {
    crew: Crew<Left>,
    part: Arc<Part<Wanted>>,
}

impl Gathering {
    /// Starts workers over the rows of a plan when there are many: the slots of their batches, and the values of keys, so many bytes at most.
    pub(super) fn start(
        (input, node): (&mut Operator, &Node),
        (keys, slots): (Vec<(Expr, Collation)>, Vec<usize>),
        bytes_max: usize,
        run: &mut Run<'_>,
    ) -> Result<Option<Gathering>, Stop> {
        let Some(mut workers) = parallel::workers(input, node, run)? else {
            return Ok(None);
        };
        parallel::give_readers(&mut workers, run)?;
        let rest = Wanted { keys, slots, bytes: AtomicUsize::new(0), bytes_max };
        let part = Arc::new(Part { node: node.clone(), live: run.live.clone(), rest });
        let jobs = workers.into_iter().map(|worker| (worker, ())).collect();
        let crew = Crew::start(jobs, run.worker_info("SELECT"), None, |worker, ()| gather(worker, Arc::clone(&part)));
        Ok(crew.map(|crew| Gathering { crew, part }))
    }

    /// The batches in order, once all workers have ended. None: they are too many.
    ///
    /// # Errors
    /// The need to wait for the workers; the first of their errors.
    pub(super) fn outcome(&mut self, run: &mut Run<'_>) -> Result<Option<Vec<Gathered>>, Stop> {
        let Some((left, result)) = self.crew.outcome() else {
            return Err(Stop::Team(self.crew.team()));
        };
        let (gathered, children): (Vec<Vec<Gathered>>, Vec<Option<Transaction>>) = left.into_iter().unzip();
        let (database, tx) = run.engine()?;
        database.merge_children(tx, children.into_iter().flatten().collect());
        result?;
        if self.bytes() > self.part.rest.bytes_max {
            return Ok(None);
        }
        let mut gathered: Vec<Gathered> = gathered.into_iter().flatten().collect();
        // Batches of one ordinal are one worker's, and in order.
        gathered.sort_by_key(|gathered| gathered.ordinal);
        Ok(Some(gathered))
    }

    /// Bytes of all batches.
    fn bytes(&self) -> usize {
        // Relaxed: the workers have ended, which the team's lock has told.
        self.part.rest.bytes.load(Ordering::Relaxed)
    }
}

/// The work of a worker.
async fn gather(mut worker: Worker, part: Arc<Part<Wanted>>) -> (Left, Result<(), (u64, Fault)>) {
    let mut gathered = Vec::new();
    let result = gather_parts(&mut gathered, &mut worker, &part).await;
    let result = result.map_err(|fault| worker.failed(fault));
    ((gathered, worker.child), result)
}

async fn gather_parts(gathered: &mut Vec<Gathered>, worker: &mut Worker, part: &Part<Wanted>) -> Result<(), Fault> {
    let Wanted { keys, slots, bytes, bytes_max } = &part.rest;
    loop {
        worker.meet_readers().await?;
        // Relaxed: one that sees it late does some work in vain.
        if bytes.load(Ordering::Relaxed) > *bytes_max {
            gathered.clear();
            return Ok(());
        }
        let Some(batch) = worker.next(part).await? else {
            return Ok(());
        };
        let (mut run, operator) = worker.run(part);
        let keys = RowKeys::of(keys.iter().map(|(key, collation)| (key, *collation)), &batch, &mut run)?;
        let mut own = Batch::new(batch.rows);
        let mut size = keys.bytes(batch.rows);
        for &slot in slots {
            if let Some(column) = batch.column(slot) {
                size += column.bytes(batch.rows);
                own.set(slot, column.clone());
            }
        }
        gathered.push(Gathered { ordinal: operator.ordinal(), batch: own, keys });
        bytes.fetch_add(size, Ordering::Relaxed);
    }
}

/// The rows of a join of large tables, one at a time.
pub(crate) struct GatherCursor {
    operator: Operator,
    /// Makes the rows where workers do not.
    serial: Cursor,
    stage: Stage,
    /// No more than so many rows will be asked for.
    wanted: u64,
    counts: Option<Arc<Counts>>,
    charge: Charge,
}

enum Stage {
    /// No row was asked for.
    Fresh,
    /// Workers are at it.
    Workers(Gathering),
    /// All rows are in these.
    Gathered(Vec<Gathered>),
    /// Rows are given: those behind the batch at hand, it, and how many of it were given.
    Giving(std::vec::IntoIter<Gathered>, Batch, usize),
    /// The serial cursor gives them.
    Serial,
}

impl GatherCursor {
    /// The operator of a plan that joins tables and whose rows workers can make.
    pub(crate) fn operator_of(node: &Node) -> Option<Operator> {
        let is_join =
            matches!(node, Node::Join { .. } | Node::Apply { .. } | Node::Filter { .. } | Node::Compute { .. });
        let operator = if is_join { Operator::of_groups(node) } else { None };
        operator.filter(Operator::joins_tables)
    }

    pub(crate) fn new(operator: Operator, serial: Cursor, node: &Node, making: Making<'_>) -> GatherCursor {
        let counts = making.profile.map(|profile| profile.counts(node));
        let charge = Charge::default();
        GatherCursor { operator, serial, stage: Stage::Fresh, wanted: u64::MAX, counts, charge }
    }

    /// Starts over.
    pub(crate) fn open(&mut self) {
        self.operator.open();
        self.serial.open();
        self.stage = Stage::Fresh;
        self.charge.clear();
    }

    /// See [`Cursor::forget`].
    pub(crate) fn forget(&mut self) {
        self.operator.forget();
        self.serial.forget();
        self.stage = Stage::Fresh;
        self.charge.clear();
    }

    /// No more than so many rows will be asked for.
    pub(crate) fn want(&mut self, rows: u64) {
        self.wanted = rows;
    }

    /// Moves to the next row.
    pub(crate) fn next(&mut self, node: &Node, run: &mut Run<'_>) -> Result<bool, Stop> {
        loop {
            self.stage = match &mut self.stage {
                Stage::Fresh => {
                    if self.wanted <= BATCH_ROWS as u64 {
                        self.stage = Stage::Serial;
                        continue;
                    }
                    let bytes_max = parts_bytes(node, BYTES_MAX, &mut self.charge, run)?;
                    let (input, slots) = ((&mut self.operator, node), live_slots(node, run.live));
                    let started = Gathering::start(input, (Vec::new(), slots), bytes_max, run)?;
                    started.map_or(Stage::Serial, Stage::Workers)
                }
                Stage::Workers(gathering) => {
                    let gathered = gathering.outcome(run)?;
                    if let Some(counts) = &self.counts {
                        counts.add_workers(gathering.crew.runs());
                    }
                    self.charge.clear();
                    self.charge.keep(gathering.bytes());
                    gathered.map_or(Stage::Serial, Stage::Gathered)
                }
                Stage::Gathered(gathered) => match self.charge.settle(run)? {
                    true => Stage::Giving(std::mem::take(gathered).into_iter(), Batch::default(), 0),
                    false => Stage::Serial,
                },
                Stage::Giving(_, batch, next) if *next < batch.rows => {
                    batch.read(*next, run.slots);
                    *next += 1;
                    return Ok(true);
                }
                Stage::Giving(behind, batch, next) => {
                    let Some(gathered) = behind.next() else { return Ok(false) };
                    (*batch, *next) = (gathered.batch, 0);
                    continue;
                }
                Stage::Serial => {
                    self.charge.clear();
                    return self.serial.give(node, run, |_| Ok(true));
                }
            };
        }
    }
}
