//! The workers of one plan: how they share the rows, how they fail, how their session learns that they have ended.
//!
//! | what | who writes it | who reads it |
//! |---|---|---|
//! | `Team::packets` | each worker that sends its rows | the session, until all have ended |
//! | `Team::gathered` | the session | the session |
//! | `Team::state` | each worker, when it ends | the session |

use std::future::Future;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use super::worker::Tally;
use super::{Dispenser, PacketList, Worker, WorkerRun};
use crate::access::Stop;
use crate::errors;
use crate::executor::{Counts, Run};
use crate::expression::Fault;
use pikepole_contention::WaitType;
use pikepole_contention::sync::atomic::{AtomicU64, Ordering};
use pikepole_contention::sync::{Mutex, MutexGuard};
use pikepole_engine::Transaction;
use pikepole_scheduler::{self as scheduler, JoinHandle, Placement, TaskInfo};

/// Workers that a session waits for.
pub(crate) struct Team {
    state: Mutex<State>,
    /// What the session gathers from them while they work.
    packets: Option<Arc<PacketList>>,
    /// Rows of the packets so far.
    gathered: AtomicU64,
}

struct State {
    at_work: usize,
    /// The failure of the least ordinal so far.
    failure: Option<(u64, Fault)>,
    session: Option<Waker>,
}

impl std::fmt::Debug for Team {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Team").finish_non_exhaustive()
    }
}

impl Team {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Waits until all workers have ended, and takes their packets meanwhile.
    pub(crate) async fn ended(&self) {
        let Some(packets) = &self.packets else {
            scheduler::wait(WaitType::CXCONSUMER, std::future::poll_fn(|context| self.poll_ended(context))).await;
            return;
        };
        let next = |context: &mut Context<'_>| {
            // Asked first: a worker that has ended has given all its packets.
            let ended = self.poll_ended(context);
            match packets.poll_take(context) {
                Poll::Ready(packet) => Poll::Ready(Some(packet)),
                Poll::Pending => ended.map(|()| None),
            }
        };
        while let Some(packet) = scheduler::wait(WaitType::CXCONSUMER, std::future::poll_fn(next)).await {
            self.gathered.fetch_add(packet.rows as u64, Ordering::Relaxed);
            scheduler::yield_if_due().await;
        }
    }

    fn poll_ended(&self, context: &mut Context<'_>) -> Poll<()> {
        let mut state = self.lock();
        if state.at_work == 0 {
            return Poll::Ready(());
        }
        state.session = Some(context.waker().clone());
        Poll::Pending
    }
}

/// A worker's place in its team; leaving it, in whatever way, is seen by the session.
struct Place {
    team: Arc<Team>,
    dispenser: Arc<Dispenser>,
    /// What is told when the worker leaves: at first that it was lost.
    failure: Option<(u64, Fault)>,
}

impl Drop for Place {
    fn drop(&mut self) {
        // Before the session goes on.
        scheduler::charge_cpu();
        let mut state = self.team.lock();
        if let Some((ordinal, fault)) = self.failure.take() {
            self.dispenser.fail(ordinal);
            if state.failure.as_ref().is_none_or(|(first, _)| ordinal < *first) {
                state.failure = Some((ordinal, fault));
            }
        }
        state.at_work -= 1;
        let session = if state.at_work == 0 { state.session.take() } else { None };
        drop(state);
        if let Some(session) = session {
            session.wake();
        }
    }
}

/// A team as its session holds it, with what each worker leaves behind. Dropping it ends the workers.
pub(crate) struct Crew<T> {
    team: Arc<Team>,
    dispenser: Arc<Dispenser>,
    left: Arc<Mutex<Vec<T>>>,
    tallies: Vec<Arc<Tally>>,
    handles: Vec<JoinHandle<()>>,
}

impl<T: Send + 'static> Crew<T> {
    /// Starts the workers, each with a job, beginning on the session's own scheduler. What `work` gives beside its result is kept for the
    /// session also when the worker fails. The session takes what they put into `packets`.
    pub(crate) fn start<J, W, F>(
        jobs: Vec<(Worker, J)>,
        info: TaskInfo,
        packets: Option<Arc<PacketList>>,
        work: W,
    ) -> Option<Crew<T>>
    where
        W: Fn(Worker, J) -> F,
        F: Future<Output = (T, Result<(), (u64, Fault)>)> + Send + 'static,
    {
        let dispenser = Arc::clone(jobs.first()?.0.dispenser());
        let state = State { at_work: jobs.len(), failure: None, session: None };
        let team = Arc::new(Team { state: Mutex::new(state), packets, gathered: AtomicU64::new(0) });
        let left = Arc::new(Mutex::new(Vec::new()));
        let tallies = jobs.iter().map(|(worker, _)| Arc::clone(&worker.tally)).collect();
        let mut crew = Crew { team, dispenser, left, tallies, handles: Vec::new() };
        for (worker, job) in jobs {
            let placement = worker.placement();
            let place = Place {
                team: Arc::clone(&crew.team),
                dispenser: Arc::clone(&crew.dispenser),
                failure: Some((0, errors::worker_lost())),
            };
            let tally = Arc::clone(&worker.tally);
            let (work, left) = (work(worker, job), Arc::clone(&crew.left));
            crew.handles.push(scheduler::spawn_worker(info, placement, async move {
                let mut place = place;
                let (own, result) = work.await;
                tally.end();
                left.lock().unwrap_or_else(|e| e.into_inner()).push(own);
                place.failure = result.err();
                drop(place);
            }));
        }
        Some(crew)
    }

    /// What the workers left, and how it went; none while some are at work.
    pub(crate) fn outcome(&mut self) -> Option<(Vec<T>, Result<(), Fault>)> {
        let mut state = self.team.lock();
        if state.at_work > 0 {
            return None;
        }
        let result = match state.failure.take() {
            Some((_, fault)) => Err(fault),
            None => Ok(()),
        };
        drop(state);
        self.handles.clear();
        Some((std::mem::take(&mut *self.left.lock().unwrap_or_else(|e| e.into_inner())), result))
    }

    /// The run of each worker, once they have ended.
    pub(crate) fn runs(&self) -> Vec<WorkerRun> {
        self.tallies.iter().map(|tally| tally.run()).collect()
    }

    /// The rows that the session has taken from the workers' packets; none when they send none.
    pub(crate) fn gathered(&self) -> Option<u64> {
        self.team.packets.as_ref().map(|_| self.team.gathered.load(Ordering::Relaxed))
    }

    /// What the session awaits.
    pub(crate) fn team(&self) -> Arc<Team> {
        Arc::clone(&self.team)
    }
}

impl<T: Send + 'static> Crew<(T, Option<Transaction>)> {
    /// The results of workers that read tables in children of the session's transaction, once all have ended.
    ///
    /// # Errors
    /// The need to wait for the workers; the first of their errors.
    pub(crate) fn made(&mut self, counts: Option<&Counts>, run: &mut Run<'_>) -> Result<Vec<T>, Stop> {
        let Some((left, result)) = self.outcome() else {
            return Err(Stop::Team(self.team()));
        };
        if let Some(counts) = counts {
            counts.add_workers(self.runs());
        }
        let (made, children): (Vec<T>, Vec<Option<Transaction>>) = left.into_iter().unzip();
        let (database, tx) = run.engine()?;
        database.merge_children(tx, children.into_iter().flatten().collect());
        result?;
        Ok(made)
    }
}

impl<T> Drop for Crew<T> {
    fn drop(&mut self) {
        if !self.handles.is_empty() {
            self.dispenser.fail(0);
            self.handles.iter().for_each(JoinHandle::cancel);
        }
    }
}

impl Worker {
    fn placement(&self) -> Placement {
        Placement::On(self.scheduler())
    }
}
