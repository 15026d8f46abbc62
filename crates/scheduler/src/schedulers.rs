//! The schedulers of a server: starting them, giving them tasks, looking at them, shutting them down.
//!
//! ```text
//!   Schedulers --> Shared <-- each scheduler's thread, each context
//!                    | homes: one a CPU      hidden: one a system task      pool: blocking work
//!                    | statistics, idle hook, quantum
//!                    \ simulation: in the twin, in the place of threads
//! ```
//!
//! Shutting down: visible schedulers first, so that no task is left to wait for a system task; then hidden ones, then
//! the pool. Tasks that have not ended are dropped on their own threads, and their handles say so.

use crate::blocking::Pool;
use crate::boost::SignalledFirst;
use crate::context;
use crate::home::{HIDDEN_FROM, Home, Kind};
use crate::join::{Ending, JoinHandle, Outcome, TaskError};
use crate::rows::{SchedulerRow, TaskRow};
use crate::simulation::Simulation;
use crate::task::{Task, with_waker};
use crate::wakefulness::{CpuIdle, Wakefulness};
use crate::worker;
use pikepole_contention::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use pikepole_contention::sync::{Mutex, MutexGuard, thread};
use pikepole_contention::{Chain, Statistics, WaitRow, clock};
use pikepole_machine::affinity;
use pikepole_machine::memory::{self, Budget};
use std::collections::BTreeMap;
use std::future::{Future, poll_fn};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::{Arc, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

/// How schedulers are to be started.
#[derive(Debug, Clone)]
pub struct SchedulerOptions {
    /// The CPUs, one scheduler each.
    pub cpus: Vec<usize>,
    /// Whether each thread is bound to its CPU.
    pub pin: bool,
    /// The memory node near to each; empty: nobody says.
    pub memory_nodes: Vec<usize>,
    /// The memory that tasks are given when they ask; `None`: all that they ask for.
    pub budget: Option<Arc<Budget>>,
    /// How long a task may keep the CPU, in microseconds.
    pub quantum_us: u64,
    /// How long an idle scheduler spins before it sleeps, in microseconds.
    pub spin_before_park_us: u64,
}

impl Default for SchedulerOptions {
    /// All CPUs of the process, pinned, with the classic quantum. Where the CPUs cannot be found out there is one
    /// scheduler, not pinned.
    fn default() -> Self {
        let cpus = affinity::allowed().unwrap_or_default();
        let pin = !cpus.is_empty();
        let cpus = if pin { cpus } else { vec![0] };
        Self { cpus, pin, memory_nodes: Vec::new(), budget: None, quantum_us: 4_000, spin_before_park_us: 50 }
    }
}

/// What the views show of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TaskInfo {
    /// The session that it works for.
    pub session_id: Option<i32>,
    /// What it does, such as `LOG WRITER`.
    pub command: &'static str,
}

/// Where a task is to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Placement {
    /// On a scheduler with the fewest tasks among those online.
    LeastLoaded,
    /// On the scheduler of this index in the options' list of CPUs.
    On(usize),
}

/// What an idle hook did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IdleOutcome {
    /// Something; the scheduler looks at its queue again.
    Worked,
    /// Nothing yet, but tasks of this scheduler are about to be signalled from another thread: it spins on rather than pay
    /// for being woken.
    Soon,
    /// Nothing; the scheduler may sleep.
    Nothing,
}

/// When an idle hook is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// The scheduler has nothing to run.
    Idle,
    /// It has, for some 200 microseconds since the last call; 50 after an [`IdleOutcome::Soon`].
    Busy {
        /// A quantum has passed since the last call that said so, or when idle.
        quantum_over: bool,
    },
}

/// What visible schedulers call on their own threads when they have nothing to run, and now and then when they have.
/// It must be quick when there is nothing to do, and must not block when there is other work. One that panics is not
/// called again.
pub type IdleHook = Arc<dyn Fn(Moment) -> IdleOutcome + Send + Sync>;

/// What all threads of the schedulers share.
pub(crate) struct Shared {
    pub(crate) statistics: Arc<Statistics>,
    pub(crate) options: SchedulerOptions,
    pub(crate) homes: Vec<Arc<Home>>,
    hidden: Mutex<Hidden>,
    threads: Mutex<Vec<thread::JoinHandle<()>>>,
    next_hidden: AtomicU32,
    next_task: AtomicU64,
    next_place: AtomicUsize,
    hook: Mutex<Option<IdleHook>>,
    hook_version: AtomicU64,
    /// [`SignalledFirst::Boost1000`] is in force.
    boosts: AtomicBool,
    pub(crate) pool: Arc<Pool>,
    pub(crate) wakefulness: Arc<Wakefulness>,
    pub(crate) simulation: Option<Simulation>,
    /// The CPUs of threads that are not pinned.
    pub(crate) allowed: Vec<usize>,
}

#[derive(Default)]
struct Hidden {
    homes: Vec<Arc<Home>>,
    is_closed: bool,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a task's future is wrapped in: sets the result, and makes a panic an error.
async fn body<T>(future: impl Future<Output = T>, ending: Ending<T>) {
    let result = {
        let mut future = pin!(future);
        let poll = |context: &mut Context<'_>| {
            let poll = AssertUnwindSafe(|| future.as_mut().poll(context));
            match catch_unwind(poll) {
                Ok(Poll::Pending) => Poll::Pending,
                Ok(Poll::Ready(value)) => Poll::Ready(Ok(value)),
                Err(panic) => Poll::Ready(Err(TaskError::from_panic(&*panic))),
            }
        };
        poll_fn(poll).await
    };
    // A task that waits for the end sees all that it took.
    context::charge();
    ending.end(result);
}

impl Shared {
    pub(crate) fn new(
        options: SchedulerOptions,
        statistics: Arc<Statistics>,
        simulation: Option<Simulation>,
    ) -> Arc<Self> {
        let is_simulated = simulation.is_some();
        let home = |(id, cpu): (usize, &usize)| {
            let cpu = (options.pin || is_simulated).then_some(*cpu);
            Home::new(id as u32, cpu, Kind::Visible, is_simulated)
        };
        let allowed = affinity::allowed().unwrap_or_default();
        Arc::new(Self {
            statistics,
            homes: options.cpus.iter().enumerate().map(home).collect(),
            options,
            hidden: Mutex::default(),
            threads: Mutex::default(),
            next_hidden: AtomicU32::new(HIDDEN_FROM),
            next_task: AtomicU64::new(1),
            next_place: AtomicUsize::new(0),
            hook: Mutex::new(None),
            hook_version: AtomicU64::new(0),
            boosts: AtomicBool::new(false),
            pool: Pool::new(allowed.clone()),
            wakefulness: Arc::default(),
            simulation,
            allowed,
        })
    }

    fn next_task_id(&self) -> u64 {
        self.next_task.fetch_add(1, Ordering::Relaxed)
    }

    fn place(&self, placement: Placement) -> &Arc<Home> {
        match placement {
            Placement::On(index) => &self.homes[index],
            Placement::LeastLoaded => {
                // Of equals each in turn.
                let first = self.next_place.fetch_add(1, Ordering::Relaxed) % self.homes.len();
                let (before, from) = self.homes.split_at(first);
                let homes = from.iter().chain(before).filter(|home| home.is_online());
                // All of them are offline only while they change.
                homes.min_by_key(|home| home.task_count()).unwrap_or(&self.homes[first])
            }
        }
    }

    pub(crate) fn spawn<T: Send + 'static>(
        &self,
        info: TaskInfo,
        placement: Placement,
        works_for: Option<Arc<Task>>,
        future: impl Future<Output = T> + Send + 'static,
    ) -> JoinHandle<T> {
        self.spawn_at(self.place(placement), info, works_for, future)
    }

    fn spawn_at<T: Send + 'static>(
        &self,
        home: &Arc<Home>,
        info: TaskInfo,
        works_for: Option<Arc<Task>>,
        future: impl Future<Output = T> + Send + 'static,
    ) -> JoinHandle<T> {
        let outcome = Outcome::new();
        let body = Box::pin(body(future, Ending(Arc::clone(&outcome))));
        let TaskInfo { session_id, command } = info;
        let id = self.next_task_id();
        let task = Task::worker(id, session_id, command, Arc::clone(home), Some(body), works_for);
        let handle = JoinHandle::new(outcome, Arc::downgrade(&task));
        // A task that is not admitted is dropped here, and its ending tells the handle.
        if home.admit(&task)
            && let Err(task) = context::push_local(task)
        {
            home.push(Chain::of(task));
        }
        handle
    }

    /// All hidden schedulers.
    pub(crate) fn hidden(&self) -> Vec<Arc<Home>> {
        lock(&self.hidden).homes.clone()
    }

    /// Forgets a hidden scheduler whose task has ended.
    pub(crate) fn forget(&self, home: &Arc<Home>) {
        lock(&self.hidden).homes.retain(|hidden| !Arc::ptr_eq(hidden, home));
    }

    /// The idle hook, when it has been set since this version; updates the version.
    pub(crate) fn hook_since(&self, version: &mut u64) -> Option<Option<IdleHook>> {
        // Acquire pairs with the Release in `set_hook`; the hook itself is under its lock.
        let now = self.hook_version.load(Ordering::Acquire);
        if now == *version {
            return None;
        }
        *version = now;
        Some(lock(&self.hook).clone())
    }

    fn set_hook(&self, hook: IdleHook) {
        *lock(&self.hook) = Some(hook);
        // Release pairs with the Acquire in `hook_since`.
        self.hook_version.fetch_add(1, Ordering::Release);
    }

    /// True when signalled tasks go to the head of the runnable queue.
    pub(crate) fn boosts(&self) -> bool {
        self.boosts.load(Ordering::Relaxed)
    }

    fn all_homes(&self) -> impl Iterator<Item = Arc<Home>> {
        self.homes.iter().cloned().chain(self.hidden())
    }
}

/// Wakes a thread that blocks on a future.
struct Unparker(thread::Thread);

impl Wake for Unparker {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// The schedulers of one server.
pub struct Schedulers {
    shared: Arc<Shared>,
}

impl std::fmt::Debug for Schedulers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Schedulers").field("options", &self.shared.options).finish_non_exhaustive()
    }
}

impl Schedulers {
    /// Starts one scheduler for each CPU of the options.
    ///
    /// # Errors
    /// When there is no CPU, a thread cannot be started or pinned, or the system has no room for its event queue.
    pub fn start(options: SchedulerOptions, statistics: Arc<Statistics>) -> io::Result<Arc<Schedulers>> {
        if options.cpus.is_empty() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "schedulers need at least one CPU"));
        }
        pikepole_machine::clock::prepare();
        // Dropping it on an error shuts down what has been started.
        let schedulers = Arc::new(Schedulers { shared: Shared::new(options, statistics, None) });
        for home in &schedulers.shared.homes {
            schedulers.start_thread(home)?;
        }
        Ok(schedulers)
    }

    /// The twin: `count` schedulers on the thread that calls [`Schedulers::block_on`], in an order that follows from
    /// `seed`, in virtual time. Tasks run inside [`Schedulers::block_on`], [`Schedulers::run_until_idle`] and
    /// [`Schedulers::advance`] only. All that its tasks touch must belong to the simulation: its slots are theirs by
    /// promise (see [`pikepole_contention::slot::simulate`]).
    ///
    /// # Panics
    /// When `count` is 0 or leaves no slots for hidden schedulers.
    pub fn simulated(seed: u64, count: usize, statistics: Arc<Statistics>) -> Arc<Schedulers> {
        assert!((1..=pikepole_contention::slot::SLOTS_MAX / 2).contains(&count));
        let cpus = (0..count).collect();
        let options = SchedulerOptions { cpus, pin: false, spin_before_park_us: 0, ..SchedulerOptions::default() };
        Arc::new(Schedulers { shared: Shared::new(options, statistics, Some(Simulation::new(seed))) })
    }

    /// Starts the thread of a scheduler and waits until it is pinned and its runtime stands.
    fn start_thread(&self, home: &Arc<Home>) -> io::Result<()> {
        let thread = worker::start(&self.shared, home)?;
        lock(&self.shared.threads).push(thread);
        Ok(())
    }

    /// Says which schedulers are online, by their order; those without a word are offline. One that goes offline takes no
    /// new tasks, and its thread leaves its CPU: the tasks it has run on to their end on the CPUs of those online.
    ///
    /// # Errors
    /// `InvalidInput` when none would be online; what the system says when a thread cannot be moved.
    pub fn set_online(&self, online: &[bool]) -> io::Result<()> {
        let homes = &self.shared.homes;
        let is_online = |home: &Home| online.get(home.id as usize).copied().unwrap_or(false);
        if !homes.iter().any(|home| is_online(home)) {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "one scheduler at least stays online"));
        }
        let cpus: Vec<usize> = homes.iter().filter(|home| is_online(home)).filter_map(|home| home.cpu()).collect();
        for home in homes {
            home.set_online(is_online(home));
            if let (Some(thread), Some(cpu)) = (home.thread_number(), home.cpu()) {
                let own = [cpu];
                affinity::pin_thread(thread, if is_online(home) { &own } else { &cpus })?;
            }
        }
        Ok(())
    }

    /// How many visible schedulers there are.
    pub fn count(&self) -> usize {
        self.shared.homes.len()
    }

    /// Spawns a task. It runs until its end, whether or not the handle is kept.
    ///
    /// # Panics
    /// When the placement names a scheduler that is not there.
    pub fn spawn<T: Send + 'static>(
        &self,
        info: TaskInfo,
        placement: Placement,
        future: impl Future<Output = T> + Send + 'static,
    ) -> JoinHandle<T> {
        self.shared.spawn(info, placement, None, future)
    }

    /// Runs a system task on a hidden scheduler of its own, pinned to `cpu` if one is given. The scheduler lives as long
    /// as the task.
    pub fn hidden<T: Send + 'static>(
        &self,
        command: &'static str,
        cpu: Option<usize>,
        future: impl Future<Output = T> + Send + 'static,
    ) -> JoinHandle<T> {
        let shared = &self.shared;
        let id = shared.next_hidden.fetch_add(1, Ordering::Relaxed);
        let home = Home::new(id, cpu, Kind::Hidden, shared.simulation.is_some());
        {
            let mut hidden = lock(&shared.hidden);
            if hidden.is_closed {
                home.stop();
            } else {
                hidden.homes.push(Arc::clone(&home));
            }
        }
        let handle = shared.spawn_at(&home, TaskInfo { session_id: None, command }, None, future);
        if shared.simulation.is_some() || home.is_stopping() {
            return handle;
        }
        match self.start_thread(&home) {
            Ok(()) => handle,
            Err(error) => {
                shared.forget(&home);
                worker::drop_tasks(&home);
                JoinHandle::failed(TaskError::NotStarted(error.to_string()))
            }
        }
    }

    /// Binds the thread of a task from [`hidden`](Self::hidden) to another CPU, or to none. Nothing happens when the task has
    /// ended, and in a simulation.
    ///
    /// # Errors
    /// What the system says when it refuses.
    pub fn move_hidden<T>(&self, task: &JoinHandle<T>, cpu: Option<usize>) -> io::Result<()> {
        let Some(home) = task.home().filter(|home| home.kind == Kind::Hidden) else { return Ok(()) };
        if let Some(thread) = home.thread_number() {
            let own = cpu.map(|cpu| [cpu]);
            let cpus = own.as_ref().map_or(&self.shared.allowed[..], |own| own);
            if !cpus.is_empty() {
                affinity::pin_thread(thread, cpus)?;
            }
        }
        home.set_cpu(cpu);
        Ok(())
    }

    /// Runs a future on the calling thread, which is no scheduler's, and blocks until it is done. Waits in it are
    /// counted; sockets and timers are those of the first scheduler.
    ///
    /// # Panics
    /// On a scheduler's thread. In a simulation also when all tasks wait for each other.
    pub fn block_on<F: Future>(&self, future: F) -> F::Output {
        assert!(!context::on_scheduler(), "a scheduler's thread must not block");
        let id = self.shared.next_task_id();
        match &self.shared.simulation {
            Some(simulation) => simulation.block_on(&self.shared, id, pin!(future)),
            None => self.block_thread_on(id, pin!(future)),
        }
    }

    fn block_thread_on<F: Future>(&self, id: u64, mut future: Pin<&mut F>) -> F::Output {
        let home = Home::new(u32::MAX, None, Kind::Outside, false);
        home.set_root(&Waker::from(Arc::new(Unparker(thread::current()))));
        let task = Task::new(id, None, "", Arc::clone(&home), None);
        let runtime = self.shared.homes[0].runtime.get().expect("set before the start is over");
        let _runtime = runtime.enter();
        let before = memory::budget();
        memory::set_budget(self.shared.options.budget.clone());
        let output = context::enter(&self.shared, &home, || {
            context::set_current(&task);
            loop {
                task.run_state.begin();
                let polled = with_waker(&task, |waker| future.as_mut().poll(&mut Context::from_waker(waker)));
                if let Poll::Ready(output) = polled {
                    task.run_state.finish();
                    return output;
                }
                if task.run_state.end() {
                    task.stamp();
                    continue;
                }
                let mut is_signalled = false;
                while !is_signalled {
                    home.inbox().take(|_| is_signalled = true);
                    if !is_signalled && home.inbox().sleep() {
                        thread::park();
                    }
                }
            }
        });
        memory::set_budget(before);
        output
    }

    /// Sets the idle hook, in the place of any other.
    pub fn set_idle_hook(&self, hook: IdleHook) {
        self.shared.set_hook(hook);
    }

    /// Sets how deep CPUs may sleep, from now on; a simulation has none.
    pub fn set_cpu_idle(&self, policy: CpuIdle) {
        if self.shared.simulation.is_none() {
            self.shared.wakefulness.set(policy);
        }
    }

    /// Sets which task is next; each scheduler follows with its next slice.
    pub fn set_signalled_first(&self, policy: SignalledFirst) {
        // Relaxed: the policy orders nothing else.
        self.shared.boosts.store(policy == SignalledFirst::Boost1000, Ordering::Relaxed);
    }

    /// Why [`CpuIdle::Shallow`] is set and not in force, if so: this process may not ask the kernel for it.
    pub fn cpu_idle_refusal(&self) -> Option<String> {
        self.shared.wakefulness.refusal()
    }

    /// Runs tasks of a simulation until none can run without time passing.
    ///
    /// # Panics
    /// When this is no simulation.
    pub fn run_until_idle(&self) {
        self.simulation().advance(&self.shared, Duration::ZERO);
    }

    /// Lets virtual time pass, and runs what comes due.
    ///
    /// # Panics
    /// When this is no simulation.
    pub fn advance(&self, time: Duration) {
        self.simulation().advance(&self.shared, time);
    }

    fn simulation(&self) -> &Simulation {
        self.shared.simulation.as_ref().expect("a simulation")
    }

    /// The schedulers, visible and hidden, as they are.
    pub fn snapshot(&self) -> Vec<SchedulerRow> {
        self.shared.all_homes().map(|home| home.row(self.shared.options.quantum_us)).collect()
    }

    /// The tasks of all schedulers, as they are.
    pub fn tasks(&self) -> Vec<TaskRow> {
        let now_us = match &self.shared.simulation {
            Some(simulation) => simulation.now_us(),
            None => clock::now_us(),
        };
        let tasks = self.shared.all_homes().flat_map(|home| home.tasks());
        tasks.map(|task| task.row(now_us)).collect()
    }

    /// The waits of each session's tasks that there are now, by type, in the order of the sessions' numbers.
    pub fn session_waits(&self) -> Vec<(i32, WaitRow)> {
        let mut sessions: BTreeMap<(i32, &'static str), WaitRow> = BTreeMap::new();
        for task in self.shared.all_homes().flat_map(|home| home.tasks()) {
            let Some(session_id) = task.session_id else { continue };
            for row in task.waits.rows() {
                let sum = sessions.entry((session_id, row.wait_type)).or_insert(WaitRow {
                    wait_type: row.wait_type,
                    waiting_tasks_count: 0,
                    wait_time_us: 0,
                    max_wait_time_us: 0,
                    signal_wait_time_us: 0,
                });
                sum.waiting_tasks_count += row.waiting_tasks_count;
                sum.wait_time_us += row.wait_time_us;
                sum.signal_wait_time_us += row.signal_wait_time_us;
                sum.max_wait_time_us = sum.max_wait_time_us.max(row.max_wait_time_us);
            }
        }
        sessions.into_iter().map(|((session_id, _), row)| (session_id, row)).collect()
    }

    /// Stops all schedulers: drops the tasks that have not ended, joins the threads. From a task it asks for all that
    /// and does not wait. A second call does nothing.
    pub fn shutdown(&self) {
        let shared = &self.shared;
        let may_wait = !context::on_scheduler();
        lock(&shared.hidden).is_closed = true;
        shared.homes.iter().for_each(|home| home.stop());
        if let Some(simulation) = &shared.simulation {
            shared.hidden().iter().for_each(|home| home.stop());
            return simulation.drop_tasks(shared);
        }
        let is_hidden = |thread: &thread::JoinHandle<()>| thread.thread().name().is_some_and(worker::is_hidden_name);
        let threads = std::mem::take(&mut *lock(&shared.threads));
        let (hidden, visible): (Vec<_>, Vec<_>) = threads.into_iter().partition(is_hidden);
        let join = |threads: Vec<thread::JoinHandle<()>>| {
            for thread in threads.into_iter().filter(|_| may_wait) {
                // A thread's loop catches what its tasks do; what else it says has gone to the panic hook.
                let _ended = thread.join();
            }
        };
        join(visible);
        shared.hidden().iter().for_each(|home| home.stop());
        join(hidden);
        shared.wakefulness.close();
        shared.pool.close(may_wait);
    }
}

impl Drop for Schedulers {
    fn drop(&mut self) {
        self.shutdown();
    }
}
