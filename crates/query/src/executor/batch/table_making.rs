//! How the table of a hash join is made.
//!
//! ```text
//!   a large table     workers read parts of it ──► batches with their keys ──► session: all of them, in the order of the parts
//!   all else          the session reads it, row by row or batch by batch
//! ```
//! Workers have no memory of their own to ask for: what they read together is bounded, and beyond that the session reads it all.

use std::sync::Arc;

use super::Batch;
use super::key_table::{KeyTable, KeyTableBuilder, RowKeys};
use super::operator::Operator;
use crate::access::Stop;
use crate::executor::Run;
use crate::executor::parallel::{self, Crew, Part, Worker};
use crate::executor::spill::Charge;
use crate::expression::{Expr, Fault};
use crate::plan::Spool;
use pikepole_contention::sync::atomic::{AtomicUsize, Ordering};
use pikepole_engine::Transaction;

/// Bytes that all workers may have read together.
const READ_BYTES_MAX: usize = 128 << 20;

/// A table on its way.
pub(super) struct PendingTable {
    table: KeyTableBuilder,
    stage: Stage,
}

enum Stage {
    /// Nothing was read.
    Fresh,
    /// Workers are at it.
    Workers(Started),
    /// What they have read, the first batch last.
    Read(Vec<Read>),
    /// The session reads.
    Serial(Operator),
}

/// A batch, by the number that tells which comes first.
struct Read {
    ordinal: u64,
    batch: Batch,
    keys: RowKeys,
}

/// What a worker leaves: what it has read, and the child it has read in.
type Left = (Vec<Read>, Option<Transaction>);

/// Workers, and what they share.
type Started = (Crew<Left>, Arc<Part<Work>>);

struct Work {
    keys: Vec<Expr>,
    slots: Vec<usize>,
    /// Bytes read so far.
    bytes: AtomicUsize,
}

impl PendingTable {
    /// Of the rows of a spool.
    pub(super) fn new(spool: &Spool, run: &Run<'_>) -> PendingTable {
        let table = KeyTableBuilder::new(spool.keys.len(), carried(spool, run).into_iter());
        PendingTable { table, stage: Stage::Fresh }
    }

    /// Goes on until all rows are in the table. False: there is no room for it.
    pub(super) fn fill(&mut self, spool: &Spool, charge: &mut Charge, run: &mut Run<'_>) -> Result<bool, Stop> {
        loop {
            self.stage = match &mut self.stage {
                Stage::Fresh => match start(spool, run)? {
                    Some(started) => Stage::Workers(started),
                    None => Stage::Serial(Operator::of_all_rows(&spool.input, run)?),
                },
                Stage::Workers((crew, part)) => {
                    let Some((left, result)) = crew.outcome() else {
                        return Err(Stop::Team(crew.team()));
                    };
                    let (read, children): (Vec<Vec<Read>>, Vec<Option<Transaction>>) = left.into_iter().unzip();
                    let (database, tx) = run.engine()?;
                    database.merge_children(tx, children.into_iter().flatten().collect());
                    result?;
                    // Relaxed: the workers have ended, which the team's lock has told.
                    if part.rest.bytes.load(Ordering::Relaxed) > READ_BYTES_MAX {
                        Stage::Serial(Operator::of_all_rows(&spool.input, run)?)
                    } else {
                        let mut read: Vec<Read> = read.into_iter().flatten().collect();
                        read.sort_by_key(|read| std::cmp::Reverse(read.ordinal));
                        Stage::Read(read)
                    }
                }
                Stage::Read(read) => {
                    while self.table.has_room() && charge.settle(run)? {
                        let Some(Read { batch, keys, .. }) = read.pop() else { return Ok(true) };
                        charge.keep(self.table.add(&batch, &keys));
                    }
                    return Ok(false);
                }
                Stage::Serial(rows) => {
                    while self.table.has_room() && charge.settle(run)? {
                        let table = &mut self.table;
                        let add = |batch: Batch, run: &mut Run<'_>| {
                            let keys = RowKeys::of(spool.keys.iter().map(|key| &key.inner), &batch, run)?;
                            charge.keep(table.add(&batch, &keys));
                            Ok(())
                        };
                        if rows.take(&spool.input, run, add)?.is_none() {
                            return Ok(true);
                        }
                    }
                    return Ok(false);
                }
            };
        }
    }

    /// The table, once it is filled.
    pub(super) fn finish(self) -> KeyTable {
        self.table.finish()
    }
}

/// The slots that the table has columns for.
fn carried(spool: &Spool, run: &Run<'_>) -> Vec<usize> {
    spool.carry.iter().copied().filter(|slot| run.live.is_carried(*slot)).collect()
}

/// Starts workers over the rows, when they are those of a large table.
fn start(spool: &Spool, run: &mut Run<'_>) -> Result<Option<Started>, Stop> {
    let Some(mut input) = Operator::of_scan(&spool.input) else { return Ok(None) };
    if !spool.keys.iter().all(|key| key.inner.is_portable()) {
        return Ok(None);
    }
    let Some(mut workers) = parallel::workers(&mut input, &spool.input, run)? else {
        return Ok(None);
    };
    parallel::give_readers(&mut workers, run)?;
    let keys = spool.keys.iter().map(|key| key.inner.clone()).collect();
    let rest = Work { keys, slots: carried(spool, run), bytes: AtomicUsize::new(0) };
    let part = Arc::new(Part { node: spool.input.clone(), live: run.live.clone(), rest });
    let jobs = workers.into_iter().map(|worker| (worker, ())).collect();
    let crew = Crew::start(jobs, run.worker_info("SELECT"), None, |worker, ()| read_all(worker, Arc::clone(&part)));
    Ok(crew.map(|crew| (crew, part)))
}

/// What a worker does.
async fn read_all(mut worker: Worker, part: Arc<Part<Work>>) -> (Left, Result<(), (u64, Fault)>) {
    let mut read = Vec::new();
    let result = read_parts(&mut read, &mut worker, &part).await;
    let result = result.map_err(|fault| worker.failed(fault));
    ((read, worker.child), result)
}

async fn read_parts(read: &mut Vec<Read>, worker: &mut Worker, part: &Part<Work>) -> Result<(), Fault> {
    let Work { keys, slots, bytes } = &part.rest;
    loop {
        worker.meet_readers().await?;
        // Relaxed: one that sees it late does some work in vain.
        if bytes.load(Ordering::Relaxed) > READ_BYTES_MAX {
            read.clear();
            return Ok(());
        }
        let Some(batch) = worker.next(part).await? else {
            return Ok(());
        };
        let (mut run, operator) = worker.run(part);
        let keys = RowKeys::of(keys.iter(), &batch, &mut run)?;
        let mut own = Batch::new(batch.rows);
        let mut size = keys.bytes();
        for &slot in slots {
            if let Some(column) = batch.column(slot) {
                size += column.bytes(batch.rows);
                own.set(slot, column.clone());
            }
        }
        read.push(Read { ordinal: operator.ordinal(), batch: own, keys });
        bytes.fetch_add(size, Ordering::Relaxed);
    }
}
