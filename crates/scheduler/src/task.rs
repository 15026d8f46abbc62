//! Tasks, and how they are woken.
//!
//! ```text
//!   waker --> Task { run_state, signal time, future } --> its Home's inbox, or this thread's own queue
//! ```
//!
//! A waker is an Arc of its task behind a table of functions of our own, so that [`wake_all`] can tell our wakers from
//! others' and send each scheduler one chain of tasks.
//!
//! Invariants
//! - The future is touched by the task's scheduler only, between `run_state.begin` and `end` or `finish`, or when the
//!   scheduler's thread ends.
//! - Who turns the run state from waiting to queued, and nobody else, puts the task into a queue.

use crate::boost::Boosts;
use crate::context;
use crate::home::{Home, Kind, count};
use crate::rows::{TaskRow, TaskState};
use crate::waits::Waits;
use pikepole_contention::sync::atomic::{AtomicBool, AtomicI64, AtomicU32, AtomicU64, Ordering};
use pikepole_contention::sync::{Mutex, UnsafeCell};
use pikepole_contention::{Chain, Link, Linked, RunState, RunStateName, WaitType, clock};
use pikepole_machine::memory::TaskHeap;
use std::future::Future;
use std::mem::ManuallyDrop;
use std::pin::Pin;
use std::sync::{Arc, PoisonError};
use std::task::{Context, Poll, RawWaker, RawWakerVTable, Waker};

type Body = Pin<Box<dyn Future<Output = ()> + Send>>;

/// The word that says "no wait" where else a wait type's place in its table plus one stands.
const NO_WAIT: u32 = 0;

/// See the module.
pub(crate) struct Task {
    pub(crate) id: u64,
    pub(crate) session_id: Option<i32>,
    command: Mutex<&'static str>,
    pub(crate) home: Arc<Home>,
    pub(crate) run_state: RunState,
    link: Link<Task>,
    cancelled: AtomicBool,
    signal_us: AtomicU64,
    begin_us: u64,
    context_switches: AtomicU64,
    pub(crate) boosts: Boosts,
    cpu_ticks: AtomicU64,
    /// CPU time of its workers.
    worker_ticks: AtomicU64,
    /// The task that is charged with what this one takes.
    works_for: Option<Arc<Task>>,
    /// The part of the heap that it has between two turns: of all blocks, and of large ones.
    heap: [AtomicI64; 2],
    wait_type: AtomicU32,
    wait_begin_us: AtomicU64,
    last_wait_type: AtomicU32,
    /// The waits so far, of a session's task.
    pub(crate) waits: Waits,
    /// None for a thread from outside, which polls its future where it stands, and after the end.
    body: UnsafeCell<Option<Body>>,
}

// SAFETY: all fields but `body` are Sync. `body` is reached through `poll` and `drop_body` only, whose callers prove
// that they are the only ones; it is Send, so the threads that create it, poll it and drop it may differ.
unsafe impl Sync for Task {}

impl std::fmt::Debug for Task {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let run_state = self.run_state.name();
        f.debug_struct("Task").field("id", &self.id).field("run_state", &run_state).finish_non_exhaustive()
    }
}

impl Linked for Task {
    fn link(&self) -> &Link<Self> {
        &self.link
    }
}

impl Task {
    /// A task that is about to be pushed to its home for the first time.
    pub(crate) fn new(
        id: u64,
        session_id: Option<i32>,
        command: &'static str,
        home: Arc<Home>,
        body: Option<Body>,
    ) -> Arc<Self> {
        Self::worker(id, session_id, command, home, body, None)
    }

    /// The same for one that works for another one.
    pub(crate) fn worker(
        id: u64,
        session_id: Option<i32>,
        command: &'static str,
        home: Arc<Home>,
        body: Option<Body>,
        works_for: Option<Arc<Task>>,
    ) -> Arc<Self> {
        let now_us = clock::now_us();
        Arc::new(Self {
            id,
            session_id,
            command: Mutex::new(command),
            home,
            run_state: RunState::queued(),
            link: Link::default(),
            cancelled: AtomicBool::new(false),
            signal_us: AtomicU64::new(now_us),
            begin_us: now_us,
            context_switches: AtomicU64::new(0),
            boosts: Boosts::default(),
            cpu_ticks: AtomicU64::new(0),
            worker_ticks: AtomicU64::new(0),
            works_for,
            heap: std::array::from_fn(|_| AtomicI64::new(0)),
            wait_type: AtomicU32::new(NO_WAIT),
            wait_begin_us: AtomicU64::new(0),
            last_wait_type: AtomicU32::new(NO_WAIT),
            waits: Waits::default(),
            body: UnsafeCell::new(body),
        })
    }

    /// Whether it has never run.
    pub(crate) fn is_new(&self) -> bool {
        self.context_switches.load(Ordering::Relaxed) == 0
    }

    pub(crate) fn set_command(&self, command: &'static str) {
        *self.command.lock().unwrap_or_else(PoisonError::into_inner) = command;
    }

    /// Asks for the end: the next turn drops the future.
    pub(crate) fn cancel(self: Arc<Self>) {
        // Relaxed: the signal below makes the store seen by the turn that it brings about.
        self.cancelled.store(true, Ordering::Relaxed);
        signal(self);
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    /// Notes a turn, for the thread that gives it.
    pub(crate) fn count_switch(&self) {
        count(&self.context_switches);
    }

    /// Adds the CPU time of a turn, for the thread that gave it.
    pub(crate) fn add_cpu_ticks(&self, ticks: u64) {
        self.cpu_ticks.store(self.cpu_ticks.load(Ordering::Relaxed) + ticks, Ordering::Relaxed);
        let mut above = self.works_for.as_ref();
        while let Some(task) = above {
            // Relaxed: a worker that has ended wakes the other task, which sees this with that.
            task.worker_ticks.fetch_add(ticks, Ordering::Relaxed);
            above = task.works_for.as_ref();
        }
    }

    /// The CPU time of its workers' turns that are over.
    pub(crate) fn worker_ticks(&self) -> u64 {
        self.worker_ticks.load(Ordering::Relaxed)
    }

    /// The part of the heap that it had when its last turn ended.
    pub(crate) fn heap(&self) -> TaskHeap {
        let [all, large] = self.heap.each_ref().map(|bytes| bytes.load(Ordering::Relaxed));
        TaskHeap { all, large }
    }

    /// Notes what it has of the heap at the end of a turn, for the thread that gave it.
    pub(crate) fn set_heap(&self, heap: TaskHeap) {
        for (kept, bytes) in self.heap.iter().zip([heap.all, heap.large]) {
            kept.store(bytes, Ordering::Relaxed);
        }
    }

    /// The CPU time of the turns that are over.
    pub(crate) fn cpu_ticks(&self) -> u64 {
        self.cpu_ticks.load(Ordering::Relaxed)
    }

    /// Notes that it is signalled now.
    pub(crate) fn stamp(&self) {
        self.signal_us.store(clock::now_us(), Ordering::Relaxed);
    }

    /// When the task was last signalled.
    pub(crate) fn signal_us(&self) -> u64 {
        self.signal_us.load(Ordering::Relaxed)
    }

    pub(crate) fn wait_begins(&self, wait_type: WaitType, now_us: u64) {
        self.wait_begin_us.store(now_us, Ordering::Relaxed);
        self.wait_type.store(wait_type as u32 + 1, Ordering::Relaxed);
    }

    pub(crate) fn wait_ends(&self) {
        self.last_wait_type.store(self.wait_type.load(Ordering::Relaxed), Ordering::Relaxed);
        self.wait_type.store(NO_WAIT, Ordering::Relaxed);
    }

    /// Polls the future; Ready also when there is none.
    ///
    /// # Safety
    /// No other thread, and nothing further up this thread's stack, is in `poll` or `drop_body` of this task.
    pub(crate) unsafe fn poll(&self, context: &mut Context<'_>) -> Poll<()> {
        self.body.with_mut(|body| {
            // SAFETY: the caller is the only one in here, and nothing else reaches the cell.
            match unsafe { &mut *body } {
                Some(future) => future.as_mut().poll(context),
                None => Poll::Ready(()),
            }
        })
    }

    /// Drops the future.
    ///
    /// # Safety
    /// As for `poll`.
    pub(crate) unsafe fn drop_body(&self) {
        // SAFETY: the caller is the only one in here, and nothing else reaches the cell. The future is moved out
        // first: what its drop does may come back to this task's other fields.
        let body = self.body.with_mut(|body| unsafe { (*body).take() });
        drop(body);
    }

    pub(crate) fn row(&self, now_us: u64) -> TaskRow {
        let wait_of = |word: u32| word.checked_sub(1).and_then(|at| WaitType::ALL.get(at as usize)).copied();
        let wait_type = wait_of(self.wait_type.load(Ordering::Relaxed));
        let wait_begin_us = self.wait_begin_us.load(Ordering::Relaxed);
        let state = match self.run_state.name() {
            RunStateName::Queued if self.is_new() => TaskState::Pending,
            RunStateName::Queued => TaskState::Runnable,
            RunStateName::Running => TaskState::Running,
            RunStateName::Waiting => TaskState::Suspended,
            RunStateName::Done => TaskState::Done,
        };
        let cpu_ticks = self.cpu_ticks() + self.worker_ticks();
        TaskRow {
            task_id: self.id,
            scheduler_id: self.home.id,
            session_id: self.session_id,
            command: *self.command.lock().unwrap_or_else(PoisonError::into_inner),
            state,
            context_switches_count: self.context_switches.load(Ordering::Relaxed),
            boost_count: self.boosts.all(),
            wait_type,
            wait_time_us: wait_type.map_or(0, |_| now_us.saturating_sub(wait_begin_us)),
            last_wait_type: wait_of(self.last_wait_type.load(Ordering::Relaxed)),
            cpu_time_us: pikepole_machine::clock::ticks_to_us(cpu_ticks),
            elapsed_time_us: now_us.saturating_sub(self.begin_us),
        }
    }
}

/// The table of functions that makes a waker ours.
static WAKER: RawWakerVTable = RawWakerVTable::new(clone_waker, wake, wake_by_ref, drop_waker);

/// Calls `f` with a waker of the task, which costs no count of the Arc.
pub(crate) fn with_waker<R>(task: &Arc<Task>, f: impl FnOnce(&Waker) -> R) -> R {
    let data = Arc::as_ptr(task).cast();
    // SAFETY: the functions of the table take `data` for what it is, the address of an Arc's Task, and keep the count
    // as the contract of RawWaker asks, Task being Send and Sync. This waker owns no count: it is never dropped, and
    // the borrowed Arc outlives it; its clones own one each.
    let waker = ManuallyDrop::new(unsafe { Waker::from_raw(RawWaker::new(data, &WAKER)) });
    f(&waker)
}

unsafe fn clone_waker(data: *const ()) -> RawWaker {
    // SAFETY: `data` is that of a live waker of ours, which owns one count.
    unsafe { Arc::increment_strong_count(data.cast::<Task>()) };
    RawWaker::new(data, &WAKER)
}

unsafe fn wake(data: *const ()) {
    // SAFETY: `data` is that of a live waker of ours, whose count passes to us.
    signal(unsafe { Arc::from_raw(data.cast::<Task>()) });
}

unsafe fn wake_by_ref(data: *const ()) {
    // SAFETY: `data` is that of a live waker of ours, which keeps its count: ours is not dropped.
    let task = ManuallyDrop::new(unsafe { Arc::from_raw(data.cast::<Task>()) });
    if task.run_state.signal() {
        enqueue(Arc::clone(&task));
    }
}

unsafe fn drop_waker(data: *const ()) {
    // SAFETY: `data` is that of a live waker of ours, whose count ends here.
    drop(unsafe { Arc::from_raw(data.cast::<Task>()) });
}

/// Signals a task: queues it when it was waiting.
fn signal(task: Arc<Task>) {
    if task.run_state.signal() {
        enqueue(task);
    }
}

/// Puts a task that the caller has just turned to queued into its scheduler's queue.
fn enqueue(task: Arc<Task>) {
    task.stamp();
    if let Err(task) = context::push_local(task) {
        let home = Arc::clone(&task.home);
        home.push(Chain::of(task));
    }
}

/// Schedulers that one [`wake_all`] gathers for before it sends.
const CHAINS_MAX: usize = 8;

/// Wakes all tasks, in this order, and tells each scheduler once.
pub fn wake_all(wakers: impl IntoIterator<Item = Waker>) {
    let mut chains: [Option<Chain<Task>>; CHAINS_MAX] = [const { None }; CHAINS_MAX];
    let mut now_us = None;
    for waker in wakers {
        if !std::ptr::eq(waker.vtable(), &WAKER) {
            waker.wake();
            continue;
        }
        let waker = ManuallyDrop::new(waker);
        // SAFETY: the table says that the waker is ours, and it is not dropped: its count passes to us.
        let task = unsafe { Arc::from_raw(waker.data().cast::<Task>()) };
        if !task.run_state.signal() {
            continue;
        }
        let signal_us = *now_us.get_or_insert_with(clock::now_us);
        task.signal_us.store(signal_us, Ordering::Relaxed);
        if let Err(task) = context::push_local(task) {
            gather(&mut chains, task);
        }
    }
    chains.into_iter().flatten().for_each(send);
}

/// Adds a task to the chain for its home; sends the first chain when there is no room for another.
fn gather(chains: &mut [Option<Chain<Task>>; CHAINS_MAX], task: Arc<Task>) {
    let is_for = |chain: &Chain<Task>| Arc::ptr_eq(&chain.first().home, &task.home);
    if let Some(chain) = chains.iter_mut().flatten().find(|chain| is_for(chain)) {
        return chain.add(task);
    }
    if chains.iter().all(Option::is_some) {
        chains[0].take().into_iter().for_each(send);
    }
    let free = chains.iter_mut().find(|chain| chain.is_none());
    *free.expect("one has just been sent") = Some(Chain::of(task));
}

fn send(chain: Chain<Task>) {
    let home = Arc::clone(&chain.first().home);
    home.push(chain);
}

/// Whether the task's thread can be reached through a queue of its own.
pub(crate) fn has_local_queue(home: &Home) -> bool {
    home.kind != Kind::Outside && !home.is_simulated
}
