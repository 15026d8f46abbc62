//! One worker: operators and all that they work on.

use std::sync::Arc;

use super::Dispenser;
use crate::access::Stop;
use crate::context::{look, relieve};
use crate::errors;
use crate::executor::batch::{Batch, Operator};
use crate::executor::{Around, Run};
use crate::expression::Fault;
use crate::plan::{LiveSlots, Node};
use crate::state::SessionState;
use pikepole_contention::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use pikepole_engine::{Blocked, Database, Need, ReadMeter, Transaction, awaited, is_for_lock};
use pikepole_machine::memory;
use pikepole_scheduler as scheduler;
use pikepole_types::{Context, Value};

/// The part of a plan that workers run, shared by them.
pub(crate) struct Part<T> {
    /// Makes the rows.
    pub(crate) node: Node,
    /// The slots that somebody reads.
    pub(crate) live: LiveSlots,
    /// What is done with the rows.
    pub(crate) rest: T,
}

/// The run of a worker, as plans show it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct WorkerRun {
    /// Rows that it made.
    pub(crate) rows: u64,
    /// Microseconds of CPU.
    pub(crate) cpu_us: u64,
}

/// The same while it is counted: the worker alone writes it.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    rows: AtomicU64,
    cpu_us: AtomicU64,
}

impl Tally {
    /// The worker is at its end.
    pub(super) fn end(&self) {
        self.cpu_us.store(scheduler::cpu_time_us(), Ordering::Relaxed);
    }

    pub(super) fn run(&self) -> WorkerRun {
        WorkerRun { rows: self.rows.load(Ordering::Relaxed), cpu_us: self.cpu_us.load(Ordering::Relaxed) }
    }
}

/// What a worker works on.
pub(crate) struct Worker {
    pub(crate) operator: Operator,
    pub(crate) dispenser: Arc<Dispenser>,
    pub(crate) slots: Vec<Value>,
    pub(crate) state: Arc<SessionState>,
    pub(crate) functions: Context,
    pub(crate) cancelled: Arc<AtomicBool>,
    /// LOCK_TIMEOUT, in milliseconds; none: no end.
    pub(crate) lock_timeout_ms: Option<u64>,
    pub(crate) scheduler: usize,
    pub(crate) database: Arc<Database>,
    /// The child of the session's transaction in which it reads and changes tables.
    pub(crate) child: Option<Transaction>,
    /// Counts what it reads, when somebody wants to know.
    pub(crate) meter: Option<ReadMeter>,
    pub(crate) tally: Arc<Tally>,
}

impl Worker {
    pub(super) fn dispenser(&self) -> &Arc<Dispenser> {
        &self.dispenser
    }

    /// The index of the scheduler that it is to run on.
    pub(super) fn scheduler(&self) -> usize {
        self.scheduler
    }

    /// What its expressions work on.
    pub(crate) fn run<'a, T>(&'a mut self, part: &'a Part<T>) -> (Run<'a>, &'a mut Operator) {
        let engine = self.child.as_mut().map(|child| (&*self.database, child));
        let run = Run {
            slots: &mut self.slots,
            around: Around::Worker { state: &self.state, engine },
            functions: &mut self.functions,
            virtual_rows: &[],
            shared: None,
            live: &part.live,
            degree_wanted: Some(1),
            null_eliminated: false,
            scratch: Value::Null,
        };
        (run, &mut self.operator)
    }

    /// The next rows; gives way to others on its scheduler when its quantum is over.
    ///
    /// # Errors
    /// Those of expressions and of reading; 3617 when the session's batch was cancelled.
    pub(crate) async fn next<T>(&mut self, part: &Part<T>) -> Result<Option<Batch>, Fault> {
        loop {
            self.look()?;
            let meter = self.meter.clone();
            let next = {
                let (mut run, operator) = self.run(part);
                metered(meter.as_ref(), || operator.take(&part.node, &mut run, |batch, _| Ok(batch)))
            };
            match next {
                Ok(batch) => {
                    let rows = batch.as_ref().map_or(0, |batch| batch.rows as u64);
                    self.tally.rows.fetch_add(rows, Ordering::Relaxed);
                    return Ok(batch);
                }
                Err(Stop::Yield) => {
                    scheduler::yield_now().await;
                    relieve(memory::task_heap().all)?;
                }
                Err(Stop::Error(fault)) => return Err(fault),
                Err(Stop::Blocked(need)) => self.satisfy(need).await?,
                Err(Stop::File(file)) => awaited(file.ready(), None, || self.look()).await?,
                Err(Stop::Stale) => return Err(errors::definition_changed()),
                Err(Stop::Again(_) | Stop::Rows(_) | Stop::Team(_) | Stop::Fill(_) | Stop::Memory(_)) => {
                    return Err(errors::worker_lost());
                }
            }
        }
    }

    /// Whether it is to go on.
    ///
    /// # Errors
    /// 3617 when the session's batch was cancelled. What nobody hears of, when another worker has failed before this one's rows.
    pub(crate) fn look(&self) -> Result<(), Fault> {
        go_on(&self.cancelled, &self.dispenser, self.operator.ordinal())
    }

    /// Runs an operation of the engine in the worker's transaction to its end: tries, awaits what it lacks, tries again.
    ///
    /// # Errors
    /// As of [`Worker::look`]; 1222 when LOCK_TIMEOUT has passed, 1205 for a deadlock's victim; the operation's own.
    pub(crate) async fn drive<T>(
        &mut self,
        mut operation: impl FnMut(&Database, &mut Transaction) -> Result<T, Blocked>,
    ) -> Result<T, Fault> {
        loop {
            let Some(child) = &mut self.child else {
                return Err(errors::worker_lost());
            };
            match metered(self.meter.as_ref(), || operation(&self.database, child)) {
                Ok(done) => return Ok(done),
                Err(Blocked::Need(need)) => self.satisfy(need).await?,
                Err(Blocked::Error(error)) => return Err(error),
                Err(Blocked::Stale) => return Err(errors::definition_changed()),
            }
        }
    }

    /// Meets the other readers of its family, before it takes rows.
    ///
    /// # Errors
    /// As of [`Worker::drive`].
    pub(crate) async fn meet_readers(&mut self) -> Result<(), Fault> {
        match self.child {
            Some(_) => self.drive(Database::try_meet_family).await,
            None => Ok(()),
        }
    }

    /// Awaits a need. Waits for another session's lock end as the session's own would, and when the worker is not to go on.
    async fn satisfy(&mut self, need: Need) -> Result<(), Fault> {
        let Worker { database, child, cancelled, dispenser, operator, lock_timeout_ms, .. } = self;
        let Some(child) = child else {
            return Err(errors::worker_lost());
        };
        let for_lock = is_for_lock(&need);
        let satisfied = database.satisfy(child, need);
        if !for_lock {
            return satisfied.await.map_err(Fault::from);
        }
        let ordinal = operator.ordinal();
        awaited(satisfied, *lock_timeout_ms, || go_on(cancelled, dispenser, ordinal)).await
    }

    /// An error with the ordinal that tells which of several is the first. One that is about no row comes before all.
    pub(crate) fn failed(&self, fault: Fault) -> (u64, Fault) {
        let ordinal = if errors::is_cancelled(&fault) { 0 } else { self.operator.ordinal() };
        (ordinal, fault)
    }
}

/// Runs a call, with what it reads counted if there is a meter.
fn metered<R>(meter: Option<&ReadMeter>, call: impl FnOnce() -> R) -> R {
    match meter {
        Some(meter) => meter.during(call),
        None => call(),
    }
}

/// Whether a worker at this ordinal is to go on; see [`Worker::look`].
fn go_on(cancelled: &AtomicBool, dispenser: &Dispenser, ordinal: u64) -> Result<(), Fault> {
    look(cancelled)?;
    if dispenser.is_past_failure(ordinal) {
        return Err(errors::worker_lost());
    }
    Ok(())
}
