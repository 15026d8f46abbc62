//! One worker: operators and all that they work on.

use std::sync::Arc;

use super::Dispenser;
use crate::access::Stop;
use crate::batch::{Batch, Operator};
use crate::context::{awaited, is_for_lock};
use crate::errors;
use crate::expression::Fault;
use crate::plan::{LiveSlots, Node};
use crate::run::{Around, Run};
use crate::state::SessionState;
use pikepole_contention::sync::atomic::{AtomicBool, Ordering};
use pikepole_engine::{Blocked, Database, Transaction};
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
        let run = Run {
            slots: &mut self.slots,
            around: Around::Worker { state: &self.state },
            functions: &mut self.functions,
            virtual_rows: &[],
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
    /// Those of expressions; 3617 when the session's batch was cancelled.
    pub(crate) async fn next<T>(&mut self, part: &Part<T>) -> Result<Option<Batch>, Fault> {
        loop {
            self.look()?;
            let next = {
                let (mut run, operator) = self.run(part);
                operator.next(&part.node, &mut run)
            };
            match next {
                Ok(batch) => return Ok(batch),
                Err(Stop::Yield) => scheduler::yield_now().await,
                Err(Stop::Error(fault)) => return Err(fault),
                Err(Stop::Blocked(_) | Stop::Stale | Stop::Again(_) | Stop::Rows(_) | Stop::Team(_)) => {
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
        if self.cancelled.load(Ordering::Relaxed) {
            return Err(errors::cancelled());
        }
        if self.dispenser.is_past_failure(self.operator.ordinal()) {
            return Err(errors::worker_lost());
        }
        Ok(())
    }

    /// Awaits what an operation of the engine lacks. Waits for another session's lock end as the session's own would, and when
    /// the worker is not to go on.
    ///
    /// # Errors
    /// 1222 when LOCK_TIMEOUT has passed, 1205 for a deadlock's victim; those of [`Worker::look`] and the operation's own.
    pub(crate) async fn satisfy(
        &self,
        database: &Database,
        child: &mut Transaction,
        blocked: Blocked,
    ) -> Result<(), Fault> {
        let need = match blocked {
            Blocked::Need(need) => need,
            Blocked::Error(error) => return Err(error),
            Blocked::Stale => return Err(errors::definition_changed()),
        };
        let for_lock = is_for_lock(&need);
        let satisfied = database.satisfy(child, need);
        if !for_lock {
            return satisfied.await.map_err(Fault::from);
        }
        awaited(satisfied, self.lock_timeout_ms, || self.look()).await
    }

    /// An error with the ordinal that tells which of several is the first. One that is about no row comes before all.
    pub(crate) fn failed(&self, fault: Fault) -> (u64, Fault) {
        let ordinal = if errors::is_cancelled(&fault) { 0 } else { self.operator.ordinal() };
        (ordinal, fault)
    }
}
