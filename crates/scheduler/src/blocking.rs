//! A small pool of threads for work that blocks: page reads, the file system.
//!
//! Threads are started when work comes and none is free, up to a bound, and stay. What is queued when the pool is
//! closed is still done; what comes later runs on the caller.

use pikepole_contention::sync::{Arc, Condvar, Mutex, MutexGuard, thread};
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::PoisonError;
use std::task::{Context, Poll};

use crate::join::{Ending, Outcome};
use pikepole_machine::{memory, node_memory};

/// Threads at most.
const THREADS_MAX: usize = 16;

type Job = Box<dyn FnOnce() + Send>;

/// See the module.
#[derive(Default)]
pub(crate) struct Pool {
    state: Mutex<State>,
    work: Condvar,
    /// The CPUs that the threads may use: a thread would else inherit its maker's pin.
    cpus: Vec<usize>,
}

#[derive(Default)]
struct State {
    jobs: VecDeque<Job>,
    free: usize,
    threads: Vec<thread::JoinHandle<()>>,
    is_closed: bool,
}

impl Pool {
    pub(crate) fn new(cpus: Vec<usize>) -> Arc<Self> {
        Arc::new(Self { cpus, ..Self::default() })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Queues a job; gives it back when no thread will ever take it.
    pub(crate) fn submit(self: &Arc<Self>, job: Job) -> Result<(), Job> {
        let mut state = self.lock();
        if state.is_closed {
            return Err(job);
        }
        if state.free <= state.jobs.len() && state.threads.len() < THREADS_MAX {
            let pool = Arc::clone(self);
            let name = format!("io {}", state.threads.len());
            match thread::Builder::new().name(name).spawn(move || pool.work()) {
                Ok(thread) => state.threads.push(thread),
                Err(_) if state.threads.is_empty() => return Err(job),
                // The threads that there are will come to it.
                Err(_) => {}
            }
        }
        state.jobs.push_back(job);
        drop(state);
        self.work.notify_one();
        Ok(())
    }

    /// What each thread does.
    fn work(&self) {
        // A pool that cannot leave its maker's CPU works all the same.
        let _unpinned = pikepole_machine::affinity::pin_to(&self.cpus);
        let mut state = self.lock();
        loop {
            if let Some(job) = state.jobs.pop_front() {
                drop(state);
                job();
                state = self.lock();
            } else if state.is_closed {
                return;
            } else {
                state.free += 1;
                state = self.work.wait(state).unwrap_or_else(PoisonError::into_inner);
                state.free -= 1;
            }
        }
    }

    /// Ends the threads, once they have done what is queued; waits for that if the caller may.
    pub(crate) fn close(&self, may_wait: bool) {
        let threads = {
            let mut state = self.lock();
            state.is_closed = true;
            std::mem::take(&mut state.threads)
        };
        self.work.notify_all();
        for thread in threads.into_iter().filter(|_| may_wait) {
            // Jobs catch their panics, so a thread's end carries nothing.
            let _ended = thread.join();
        }
    }
}

/// Runs `f` on a thread of the pool, which is near to the caller's memory node meanwhile.
pub(crate) async fn run<T: Send + 'static>(pool: &Arc<Pool>, f: impl FnOnce() -> T + Send + 'static) -> T {
    let outcome = Outcome::new();
    let ending = Ending(Arc::clone(&outcome));
    let (near, budget) = (node_memory::near(), memory::budget());
    let job = Box::new(move || {
        node_memory::set_near(near);
        memory::set_budget(budget);
        memory::forget_task_heap();
        let done = catch_unwind(AssertUnwindSafe(f));
        memory::turn_ends();
        ending.end(Ok(done));
    });
    if let Err(job) = pool.submit(job) {
        job();
    }
    let result = crate::join::ended(outcome).await;
    match result.expect("a job is always done") {
        Ok(value) => value,
        Err(panic) => resume_unwind(panic),
    }
}

/// The poll function of a future that lets others run once.
pub(crate) fn one_turn() -> impl FnMut(&mut Context<'_>) -> Poll<()> {
    let mut has_waited = false;
    move |context| {
        if has_waited {
            return Poll::Ready(());
        }
        has_waited = true;
        context.waker().wake_by_ref();
        Poll::Pending
    }
}
