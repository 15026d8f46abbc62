//! Whether a task is waiting, queued or running, so that a signal queues it once and is never lost.
//!
//! | state | means | who changes it |
//! |---|---|---|
//! | WAITING | nobody has it; a signal is to queue it | signaller: to QUEUED |
//! | QUEUED | in one queue of its scheduler | scheduler: to RUNNING |
//! | RUNNING | being polled | scheduler: to WAITING; signaller: to SIGNALLED |
//! | SIGNALLED | being polled, to be polled again | scheduler: to QUEUED |
//! | DONE | will never run again | |
//!
//! Who changes WAITING to QUEUED puts the task into the queue. Each signal is an atomic read-modify-write with Release,
//! even one that finds the task queued, and each beginning of a poll is one with Acquire: so what was written before
//! a signal is seen by the poll after it.

use crate::fault;
use crate::sync::atomic::{AtomicU32, Ordering};

const WAITING: u32 = 0;
const QUEUED: u32 = 1;
const RUNNING: u32 = 2;
const SIGNALLED: u32 = 3;
const DONE: u32 = 4;

/// The state of one task.
#[derive(Debug)]
pub struct RunState(AtomicU32);

/// A state, for views.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunStateName {
    /// Waiting for a signal.
    Waiting,
    /// In a queue, to run.
    Queued,
    /// Being polled.
    Running,
    /// Ended.
    Done,
}

impl RunState {
    /// A task that is being put into its first queue.
    pub fn queued() -> Self {
        Self(AtomicU32::new(QUEUED))
    }

    /// A signal. True when the caller must put the task into its queue.
    #[must_use = "a task that was waiting must be queued"]
    pub fn signal(&self) -> bool {
        let mut state = self.0.load(Ordering::Relaxed);
        loop {
            let next = match state {
                WAITING => QUEUED,
                RUNNING => SIGNALLED,
                other => other,
            };
            let ordering = if fault::planted("run_state_signals_relaxed") {
                Ordering::Relaxed
            } else {
                // Release pairs with the Acquire in `begin`.
                Ordering::Release
            };
            match self.0.compare_exchange_weak(state, next, ordering, Ordering::Relaxed) {
                Ok(_) => return state == WAITING,
                Err(now) => state = now,
            }
        }
    }

    /// The scheduler, which has taken the task out of its queue, begins to poll it.
    pub fn begin(&self) {
        // Acquire pairs with the Release in `signal`.
        let before = self.0.swap(RUNNING, Ordering::Acquire);
        debug_assert_eq!(before, QUEUED, "only a queued task runs");
    }

    /// The poll is over and the task not done. True when it was signalled meanwhile: then the caller puts it into its
    /// queue.
    #[must_use = "a task that was signalled must be queued"]
    pub fn end(&self) -> bool {
        if fault::planted("run_state_ends_blindly") {
            self.0.store(WAITING, Ordering::Relaxed);
            return false;
        }
        // Relaxed: the signal's writes are acquired by the `begin` that follows the queueing. Release for the next
        // `begin`, which is this same thread's, is not needed.
        let swap = self.0.compare_exchange(RUNNING, WAITING, Ordering::Relaxed, Ordering::Relaxed);
        match swap {
            Ok(_) => false,
            Err(before) => {
                debug_assert_eq!(before, SIGNALLED);
                // A plain store would cut later signals off from this one's Release.
                self.0.swap(QUEUED, Ordering::Relaxed);
                true
            }
        }
    }

    /// The task has ended.
    pub fn finish(&self) {
        self.0.store(DONE, Ordering::Relaxed);
    }

    /// The state, for views.
    pub fn name(&self) -> RunStateName {
        match self.0.load(Ordering::Relaxed) {
            WAITING => RunStateName::Waiting,
            QUEUED => RunStateName::Queued,
            DONE => RunStateName::Done,
            _ => RunStateName::Running,
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_signal_queues_a_waiting_task_once() {
        let state = RunState::queued();
        assert!(!state.signal());
        state.begin();
        assert!(!state.end());
        assert_eq!(state.name(), RunStateName::Waiting);
        assert!(state.signal());
        assert!(!state.signal());
        assert_eq!(state.name(), RunStateName::Queued);
    }

    #[test]
    fn a_signal_during_the_poll_runs_it_again() {
        let state = RunState::queued();
        state.begin();
        assert!(!state.signal());
        assert!(!state.signal());
        assert!(state.end());
        assert_eq!(state.name(), RunStateName::Queued);
        state.begin();
        state.finish();
        assert!(!state.signal());
        assert_eq!(state.name(), RunStateName::Done);
    }
}
