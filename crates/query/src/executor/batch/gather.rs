//! Batches that workers make, gathered by their session: all of them, in the order in which the session would have made them.
//!
//! ```text
//!   worker    range of the left table ──► joined rows ──► its batches, by ordinal
//!   session   awaits all workers ──► batches in the order of their ordinals ──► rows
//! ```
//! Workers ask for the session's memory as they go, and do not wait for it: where there is none the session makes all rows itself, one
//! after the other. So it also does where only the first rows are wanted. How many rows a join makes is estimated too badly to tell
//! beforehand.

use std::sync::Arc;

use super::aggregate::PARTS_BYTES;
use super::key_table::{DistinctKeys, RowKeys};
use super::operator::Operator;
use super::{BATCH_ROWS, Batch};
use crate::access::Stop;
use crate::executor::join::live_slots;
use crate::executor::parallel::{self, Crew, Part, Worker};
use crate::executor::spill::{Budget, Charge};
use crate::executor::{Counts, Cursor, Making, Run};
use crate::expression::{Expr, Fault};
use crate::plan::Node;
use pikepole_contention::sync::atomic::{AtomicBool, Ordering};
use pikepole_engine::Transaction;
use pikepole_types::Collation;

/// A batch, by the number that tells which comes first, and keys of its rows.
pub(super) struct Gathered {
    ordinal: u64,
    pub(super) batch: Batch,
    pub(super) keys: RowKeys,
}

/// The parts of the rows that are wanted.
pub(super) struct Asked {
    /// The values of these, of each row.
    pub(super) keys: Vec<(Expr, Collation)>,
    /// The columns of these.
    pub(super) slots: Vec<usize>,
    /// The keys alone, and each once or a few times.
    pub(super) is_distinct: bool,
}

/// The question that workers share, and the room for what they find.
struct Wanted {
    asked: Asked,
    /// Memory of the session, which workers ask for more than so many bytes each.
    budget: Option<Arc<Budget>>,
    free: usize,
    /// A worker has found no room.
    is_full: AtomicBool,
}

/// Batches of a worker, and what they keep.
type Counted = (Vec<Gathered>, Charge);

/// The outcome of a worker, and the child it has read in.
type Left = (Counted, Option<Transaction>);

/// Workers at it.
pub(super) struct Gathering {
    crew: Crew<Left>,
    part: Arc<Part<Wanted>>,
}

impl Gathering {
    /// Starts workers over the rows of a plan when there are many.
    pub(super) fn start(
        (input, node): (&mut Operator, &Node),
        asked: Asked,
        run: &mut Run<'_>,
    ) -> Result<Option<Gathering>, Stop> {
        let Some(mut workers) = parallel::workers(input, node, run)? else {
            return Ok(None);
        };
        parallel::give_readers(&mut workers, run)?;
        let (budget, free) = (run.budget().cloned(), PARTS_BYTES / workers.len().max(1));
        let rest = Wanted { asked, budget, free, is_full: AtomicBool::new(false) };
        let part = Arc::new(Part { node: node.clone(), live: run.live.clone(), rest });
        let jobs = workers.into_iter().map(|worker| (worker, ())).collect();
        let crew = Crew::start(jobs, run.worker_info("SELECT"), None, |worker, ()| gather(worker, Arc::clone(&part)));
        Ok(crew.map(|crew| Gathering { crew, part }))
    }

    /// The batches in order, once all workers have ended; what they keep goes to `charge`. None: there is no room for them.
    ///
    /// # Errors
    /// The need to wait for the workers; the first of their errors.
    pub(super) fn outcome(
        &mut self,
        charge: &mut Charge,
        counts: Option<&Counts>,
        run: &mut Run<'_>,
    ) -> Result<Option<Vec<Gathered>>, Stop> {
        let counted = self.crew.made(counts, run)?;
        // Relaxed: the workers have ended, which the team's lock has told.
        if self.part.rest.is_full.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let mut gathered = Vec::new();
        for (batches, own) in counted {
            gathered.extend(batches);
            charge.take_over(own);
        }
        // Batches of one ordinal are one worker's, and in order.
        gathered.sort_by_key(|gathered| gathered.ordinal);
        Ok(Some(gathered))
    }
}

/// The work of a worker.
async fn gather(mut worker: Worker, part: Arc<Part<Wanted>>) -> (Left, Result<(), (u64, Fault)>) {
    let mut counted = (Vec::new(), Charge::of_worker(part.rest.budget.as_ref()));
    let result = gather_parts(&mut counted, &mut worker, &part).await;
    let result = result.map_err(|fault| worker.failed(fault));
    ((counted, worker.child), result)
}

async fn gather_parts((gathered, charge): &mut Counted, worker: &mut Worker, part: &Part<Wanted>) -> Result<(), Fault> {
    let Wanted { asked: Asked { keys, slots, is_distinct }, free, is_full, .. } = &part.rest;
    let mut distinct = is_distinct.then(|| DistinctKeys::new(keys.iter().map(|(_, collation)| *collation).collect()));
    loop {
        worker.meet_readers().await?;
        // Relaxed: one that sees it late does some work in vain.
        if is_full.load(Ordering::Relaxed) {
            gathered.clear();
            charge.clear();
            return Ok(());
        }
        let Some(batch) = worker.next(part).await? else {
            gathered.extend(distinct.map(|distinct| {
                let (batch, keys) = distinct.into_rows();
                Gathered { ordinal: 0, batch, keys }
            }));
            return Ok(());
        };
        let (mut run, operator) = worker.run(part);
        let keys = RowKeys::of(keys.iter().map(|(key, collation)| (key, *collation)), &batch, &mut run)?;
        if let Some(distinct) = &mut distinct {
            distinct.add(&keys, batch.rows);
            charge.set(distinct.bytes());
            if !charge.settle_beyond(*free) {
                is_full.store(true, Ordering::Relaxed);
            }
            continue;
        }
        let mut own = Batch::new(batch.rows);
        let mut size = keys.bytes(batch.rows);
        for &slot in slots {
            if let Some(column) = batch.column(slot) {
                size += column.bytes(batch.rows);
                own.set(slot, column.clone());
            }
        }
        gathered.push(Gathered { ordinal: operator.ordinal(), batch: own, keys });
        charge.keep(size);
        if !charge.settle_beyond(*free) {
            is_full.store(true, Ordering::Relaxed);
        }
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
                    let asked = Asked { keys: Vec::new(), slots: live_slots(node, run.live), is_distinct: false };
                    let started = Gathering::start((&mut self.operator, node), asked, run)?;
                    started.map_or(Stage::Serial, Stage::Workers)
                }
                Stage::Workers(gathering) => {
                    let gathered = gathering.outcome(&mut self.charge, self.counts.as_deref(), run)?;
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
