//! The end of a task, and waiting for it.

use crate::home::Home;
use crate::task::Task;
use pikepole_contention::sync::{Arc, Condvar, Mutex, MutexGuard, Weak};
use std::any::Any;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::PoisonError;
use std::task::{Context, Poll, Waker};

/// Why a task has no result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TaskError {
    /// It panicked, with this message. Its scheduler goes on.
    Panicked(String),
    /// It was cancelled, or its scheduler was shut down, before it ended.
    Cancelled,
    /// Its hidden scheduler's thread could not be started.
    NotStarted(String),
}

impl std::fmt::Display for TaskError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            TaskError::Panicked(message) => write!(f, "the task panicked: {message}"),
            TaskError::Cancelled => f.write_str("the task was cancelled"),
            TaskError::NotStarted(why) => write!(f, "the task's thread could not be started: {why}"),
        }
    }
}

impl std::error::Error for TaskError {}

impl TaskError {
    /// From what a panic carried.
    pub(crate) fn from_panic(panic: &(dyn Any + Send)) -> Self {
        let text = panic.downcast_ref::<&str>().copied();
        let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
        TaskError::Panicked(text.unwrap_or("no message").to_owned())
    }
}

/// Where a task leaves its result.
#[derive(Debug)]
pub(crate) struct Outcome<T> {
    state: Mutex<State<T>>,
    ended: Condvar,
}

#[derive(Debug)]
enum State<T> {
    Running(Option<Waker>),
    Ended(Result<T, TaskError>),
    Taken,
}

impl<T> Outcome<T> {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self { state: Mutex::new(State::Running(None)), ended: Condvar::new() })
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets the result, the first time only, and wakes who waits for it.
    fn end(&self, result: Result<T, TaskError>) {
        let mut state = self.lock();
        let State::Running(waker) = &mut *state else {
            return;
        };
        let waker = waker.take();
        *state = State::Ended(result);
        drop(state);
        self.ended.notify_all();
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    fn take(state: &mut State<T>) -> Option<Result<T, TaskError>> {
        match std::mem::replace(state, State::Taken) {
            State::Ended(result) => Some(result),
            running @ State::Running(_) => {
                *state = running;
                None
            }
            State::Taken => panic!("a task's result is taken once"),
        }
    }
}

/// The task's side: leaves a result, or [`TaskError::Cancelled`] when dropped without one.
#[derive(Debug)]
pub(crate) struct Ending<T>(pub(crate) Arc<Outcome<T>>);

impl<T> Ending<T> {
    pub(crate) fn end(self, result: Result<T, TaskError>) {
        self.0.end(result);
    }
}

impl<T> Drop for Ending<T> {
    fn drop(&mut self) {
        self.0.end(Err(TaskError::Cancelled));
    }
}

/// Waits for a task's end: as a future, or with [`JoinHandle::join`] on a thread that is no scheduler's. Dropping it
/// lets the task run on.
#[derive(Debug)]
pub struct JoinHandle<T> {
    outcome: Arc<Outcome<T>>,
    task: Weak<Task>,
}

impl<T> JoinHandle<T> {
    pub(crate) fn new(outcome: Arc<Outcome<T>>, task: Weak<Task>) -> Self {
        Self { outcome, task }
    }

    /// The handle of a task that never was.
    pub(crate) fn failed(error: TaskError) -> Self {
        let outcome = Outcome::new();
        outcome.end(Err(error));
        Self { outcome, task: Weak::new() }
    }

    /// Blocks the calling thread until the task has ended.
    ///
    /// # Panics
    /// On a scheduler's thread, whose tasks would all stand still; await the handle there.
    pub fn join(self) -> Result<T, TaskError> {
        assert!(!crate::context::on_scheduler(), "a scheduler's thread must not block");
        let is_simulated = self.task.upgrade().is_some_and(|task| task.home.is_simulated);
        assert!(!is_simulated || self.is_finished(), "a simulated task runs inside block_on only");
        let mut state = self.outcome.lock();
        loop {
            if let Some(result) = Outcome::take(&mut state) {
                return result;
            }
            state = self.outcome.ended.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Whether the task has ended.
    pub fn is_finished(&self) -> bool {
        !matches!(*self.outcome.lock(), State::Running(_))
    }

    /// The scheduler of the task, while that is there.
    pub(crate) fn home(&self) -> Option<Arc<Home>> {
        self.task.upgrade().map(|task| Arc::clone(&task.home))
    }

    /// The task's number, while it is there.
    pub fn task_id(&self) -> Option<u64> {
        self.task.upgrade().map(|task| task.id)
    }

    /// Asks for the task's end: its future is dropped at its next turn.
    pub fn cancel(&self) {
        if let Some(task) = self.task.upgrade() {
            task.cancel();
        }
    }
}

impl<T> Outcome<T> {
    fn poll(&self, context: &mut Context<'_>) -> Poll<Result<T, TaskError>> {
        let mut state = self.lock();
        if let Some(result) = Outcome::take(&mut state) {
            return Poll::Ready(result);
        }
        *state = State::Running(Some(context.waker().clone()));
        Poll::Pending
    }
}

/// Waits for a result that is no task's.
pub(crate) async fn ended<T>(outcome: Arc<Outcome<T>>) -> Result<T, TaskError> {
    poll_fn(|context| outcome.poll(context)).await
}

impl<T> Future for JoinHandle<T> {
    type Output = Result<T, TaskError>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        self.outcome.poll(context)
    }
}
