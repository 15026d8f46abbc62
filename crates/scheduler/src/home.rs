//! The part of a scheduler that other threads see: its inbox, its tasks, its counts.
//!
//! Invariants
//! - `context_switches`, `idle_switches` and `yields` are stored by the scheduler's own thread only, so they are
//!   counted without atomic read-modify-writes.
//! - `tasks` holds each task from its spawn to its end; dropping a task's future is left to the scheduler's thread.
//! - `root` is set before the inbox is ever put to sleep, so whoever is told to wake the owner finds it.

use crate::rows::SchedulerRow;
use crate::task::Task;
use pikepole_contention::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, AtomicUsize, Ordering};
use pikepole_contention::sync::{Mutex, MutexGuard, OnceLock};
use pikepole_contention::{CachePadded, Chain, Inbox, RunStateName};
use std::collections::HashMap;
use std::sync::{Arc, PoisonError};
use std::task::Waker;

/// The first id of hidden schedulers.
pub(crate) const HIDDEN_FROM: u32 = 1_048_576;

/// What kind of scheduler it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A thread with a run queue, for all tasks that come.
    Visible,
    /// A thread with a run queue, for one system task.
    Hidden,
    /// A thread from outside that blocks on one future.
    Outside,
}

/// In the place of a CPU's number.
const NO_CPU: usize = usize::MAX;

/// See the module.
#[derive(Debug)]
pub(crate) struct Home {
    pub(crate) id: u32,
    /// The CPU that the thread is bound to; [`NO_CPU`]: none. Only a hidden scheduler's changes.
    cpu: AtomicUsize,
    pub(crate) kind: Kind,
    pub(crate) is_simulated: bool,
    inbox: CachePadded<Inbox<Task>>,
    root: OnceLock<Waker>,
    /// The runtime's, for threads from outside that want its sockets and timers.
    pub(crate) runtime: OnceLock<tokio::runtime::Handle>,
    stopping: AtomicBool,
    /// New tasks may be placed here.
    online: AtomicBool,
    /// The thread's number in the system; 0 before it runs, and where there is none.
    thread_number: AtomicI32,
    tasks: Mutex<HashMap<u64, Arc<Task>>>,
    task_count: AtomicU64,
    /// Tasks that serve a socket each.
    sockets: AtomicU64,
    counts: CachePadded<Counts>,
}

#[derive(Debug, Default)]
struct Counts {
    context_switches: AtomicU64,
    idle_switches: AtomicU64,
    yields: AtomicU64,
}

/// Held by a task that serves a socket: see [`crate::serve_socket`].
#[derive(Debug)]
pub struct SocketTask(Arc<Home>);

impl SocketTask {
    pub(crate) fn new(home: Arc<Home>) -> Self {
        home.sockets.fetch_add(1, Ordering::Relaxed);
        Self(home)
    }
}

impl Drop for SocketTask {
    fn drop(&mut self) {
        self.0.sockets.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Adds one to a count that only the calling thread stores.
pub(crate) fn count(own: &AtomicU64) {
    own.store(own.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
}

impl Home {
    pub(crate) fn new(id: u32, cpu: Option<usize>, kind: Kind, is_simulated: bool) -> Arc<Self> {
        Arc::new(Self {
            id,
            cpu: AtomicUsize::new(cpu.unwrap_or(NO_CPU)),
            kind,
            is_simulated,
            inbox: CachePadded::new(Inbox::new()),
            root: OnceLock::new(),
            runtime: OnceLock::new(),
            stopping: AtomicBool::new(false),
            online: AtomicBool::new(true),
            thread_number: AtomicI32::new(0),
            tasks: Mutex::new(HashMap::new()),
            task_count: AtomicU64::new(0),
            sockets: AtomicU64::new(0),
            counts: CachePadded::new(Counts::default()),
        })
    }

    pub(crate) fn inbox(&self) -> &Inbox<Task> {
        &self.inbox
    }

    /// Puts tasks into the inbox, from any thread.
    pub(crate) fn push(&self, chain: Chain<Task>) {
        if self.inbox.push(chain) {
            self.wake();
        }
    }

    /// Makes the scheduler's thread look at its queues.
    pub(crate) fn wake(&self) {
        if let Some(root) = self.root.get() {
            root.wake_by_ref();
        }
    }

    /// For the scheduler's thread: how it is woken from now on.
    pub(crate) fn set_root(&self, waker: &Waker) {
        self.root.get_or_init(|| waker.clone());
    }

    fn lock_tasks(&self) -> MutexGuard<'_, HashMap<u64, Arc<Task>>> {
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes a task that begins. False when the scheduler is stopping and takes no more.
    pub(crate) fn admit(&self, task: &Arc<Task>) -> bool {
        let mut tasks = self.lock_tasks();
        if self.is_stopping() {
            return false;
        }
        tasks.insert(task.id, Arc::clone(task));
        self.task_count.store(tasks.len() as u64, Ordering::Relaxed);
        true
    }

    /// Forgets a task that has ended.
    pub(crate) fn release(&self, task: &Task) {
        let mut tasks = self.lock_tasks();
        tasks.remove(&task.id);
        self.task_count.store(tasks.len() as u64, Ordering::Relaxed);
    }

    /// All tasks, oldest first.
    pub(crate) fn tasks(&self) -> Vec<Arc<Task>> {
        let mut tasks: Vec<_> = self.lock_tasks().values().cloned().collect();
        tasks.sort_unstable_by_key(|task| task.id);
        tasks
    }

    /// How many tasks it has.
    pub(crate) fn task_count(&self) -> u64 {
        self.task_count.load(Ordering::Relaxed)
    }

    /// Whether work comes from sockets here. Relaxed: it is a hint about how to wait.
    pub(crate) fn serves_sockets(&self) -> bool {
        self.sockets.load(Ordering::Relaxed) > 0
    }

    /// Takes no more tasks, and makes the thread end.
    pub(crate) fn stop(&self) {
        let tasks = self.lock_tasks();
        // Release pairs with the Acquire in `is_stopping`. Set under the lock, so that a task is either admitted
        // before and found by the thread at its end, or refused.
        self.stopping.store(true, Ordering::Release);
        drop(tasks);
        self.wake();
    }

    pub(crate) fn is_stopping(&self) -> bool {
        // Acquire pairs with the Release in `stop`.
        self.stopping.load(Ordering::Acquire)
    }

    /// Whether new tasks are placed here. Relaxed here and below: a placement that comes a moment late changes nothing.
    pub(crate) fn is_online(&self) -> bool {
        self.online.load(Ordering::Relaxed)
    }

    pub(crate) fn set_online(&self, online: bool) {
        self.online.store(online, Ordering::Relaxed);
    }

    /// The CPU that the thread is bound to.
    pub(crate) fn cpu(&self) -> Option<usize> {
        Some(self.cpu.load(Ordering::Relaxed)).filter(|cpu| *cpu != NO_CPU)
    }

    /// For a hidden scheduler; who calls moves the thread.
    pub(crate) fn set_cpu(&self, cpu: Option<usize>) {
        self.cpu.store(cpu.unwrap_or(NO_CPU), Ordering::Relaxed);
    }

    pub(crate) fn thread_number(&self) -> Option<i32> {
        Some(self.thread_number.load(Ordering::Relaxed)).filter(|number| *number != 0)
    }

    /// For the scheduler's thread, before whoever starts it goes on.
    pub(crate) fn set_thread_number(&self, number: i32) {
        self.thread_number.store(number, Ordering::Relaxed);
    }

    pub(crate) fn count_context_switch(&self) {
        count(&self.counts.context_switches);
    }

    pub(crate) fn count_idle_switch(&self) {
        count(&self.counts.idle_switches);
    }

    pub(crate) fn count_yield(&self) {
        count(&self.counts.yields);
    }

    pub(crate) fn row(&self, quantum_us: u64) -> SchedulerRow {
        let tasks = self.tasks();
        let in_state = |name| tasks.iter().filter(|task| task.run_state.name() == name).count() as u64;
        let runnable = in_state(RunStateName::Queued);
        SchedulerRow {
            scheduler_id: self.id,
            cpu_id: self.cpu(),
            thread_number: self.thread_number(),
            status: match (self.kind, self.is_online()) {
                (Kind::Hidden, _) => "HIDDEN ONLINE",
                (_, true) => "VISIBLE ONLINE",
                (_, false) => "VISIBLE OFFLINE",
            },
            is_online: self.is_online(),
            is_idle: runnable == 0 && in_state(RunStateName::Running) == 0,
            context_switches_count: self.counts.context_switches.load(Ordering::Relaxed),
            idle_switches_count: self.counts.idle_switches.load(Ordering::Relaxed),
            yield_count: self.counts.yields.load(Ordering::Relaxed),
            current_tasks_count: tasks.len() as u64,
            runnable_tasks_count: runnable,
            load_factor: tasks.len() as u64,
            quantum_length_us: quantum_us,
        }
    }
}
