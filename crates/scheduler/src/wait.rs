//! What a task does on its scheduler: wait, yield, sleep, spawn, hand blocking work to others.
//!
//! | moment | who notes it |
//! |---|---|
//! | the wait begins | [`wait`], when its future is not ready at the first poll |
//! | the signal | the task's waker |
//! | running again | [`wait`], when its future has become ready |
//!
//! Wait time runs from the first to the last, signal time from the second to the last. A future that is ready at once
//! is no wait and is not counted.

use crate::blocking;
use crate::context::{self, CpuReading};
use crate::home::SocketTask;
use crate::join::JoinHandle;
use crate::schedulers::{Placement, TaskInfo};
use crate::task::Task;
use crate::waits::WaitTimes;
use pikepole_contention::{WaitType, clock};
use pikepole_machine::memory;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

/// Notes that the current task waits; when dropped, that it does no more.
struct Waiting {
    wait_type: WaitType,
    begin_us: u64,
}

impl Waiting {
    fn begin(wait_type: WaitType) -> Self {
        let begin_us = clock::now_us();
        context::with_current(|_, task| task.wait_begins(wait_type, begin_us));
        Self { wait_type, begin_us }
    }

    /// Counts the wait, which has come to its end.
    fn complete(self) {
        let now_us = clock::now_us();
        context::with_current(|shared, task| {
            let wait_time_us = now_us.saturating_sub(self.begin_us);
            let signal_time_us = now_us.saturating_sub(task.signal_us()).min(wait_time_us);
            shared.statistics.record_wait(self.wait_type, wait_time_us, signal_time_us);
            if task.session_id.is_some() {
                task.waits.record(self.wait_type, wait_time_us, signal_time_us);
            }
        });
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        context::with_current(|_, task| task.wait_ends());
    }
}

/// Awaits `future` as a wait of this type: measured, counted, and shown while it lasts. Allocates nothing.
pub async fn wait<F: Future>(wait_type: WaitType, future: F) -> F::Output {
    let mut future = pin!(future);
    let mut waiting = None;
    poll_fn(|context| match future.as_mut().poll(context) {
        Poll::Ready(output) => {
            if let Some(waiting) = waiting.take() {
                Waiting::complete(waiting);
            }
            Poll::Ready(output)
        }
        Poll::Pending => {
            waiting.get_or_insert_with(|| Waiting::begin(wait_type));
            Poll::Pending
        }
    })
    .await
}

/// Gives the CPU to all other tasks of this scheduler that can run. Counted as SOS_SCHEDULER_YIELD.
pub async fn yield_now() {
    let mut has_yielded = false;
    let once = poll_fn(|context| {
        if has_yielded {
            return Poll::Ready(());
        }
        has_yielded = true;
        context::set_yields();
        context.waker().wake_by_ref();
        Poll::Pending
    });
    wait(WaitType::SOS_SCHEDULER_YIELD, once).await;
}

/// True when the current task has had the CPU for its whole quantum, or is to stop because memory is short. Cheap enough to be asked
/// for every row.
#[inline]
pub fn quantum_over() -> bool {
    memory::is_pressed() || context::is_quantum_over().unwrap_or_else(quantum_over_elsewhere)
}

/// On a thread whose time is not measured: chance decides in a simulation; a thread from outside has no quantum.
#[cold]
fn quantum_over_elsewhere() -> bool {
    context::with_current(|shared, _| shared.simulation.as_ref().is_some_and(|simulation| simulation.quantum_over()))
        .unwrap_or(false)
}

/// [`yield_now`] when the quantum is over.
#[inline]
pub async fn yield_if_due() {
    if quantum_over() {
        yield_now().await;
    }
}

/// Waits for this time: some milliseconds late on a real scheduler, exactly in virtual time on a simulated one. Not
/// counted: the caller names the wait.
///
/// # Panics
/// Outside of tasks and of [`crate::Schedulers::block_on`].
pub async fn sleep(duration: Duration) {
    let shared = context::shared().expect("sleep is for tasks");
    match &shared.simulation {
        Some(simulation) => simulation.sleep(duration).await,
        None => tokio::time::sleep(duration).await,
    }
}

/// Runs `f` on a thread for blocking work, and gives its result. In a simulation it runs in a turn of its own; outside
/// of tasks it runs at once.
///
/// # Panics
/// When `f` does.
pub async fn run_blocking<T: Send + 'static>(f: impl FnOnce() -> T + Send + 'static) -> T {
    match context::shared() {
        None => f(),
        Some(shared) if shared.simulation.is_some() => {
            poll_fn(blocking::one_turn()).await;
            f()
        }
        Some(shared) => blocking::run(&shared.pool, f).await,
    }
}

/// Spawns a task on the schedulers of the current one.
///
/// # Panics
/// Outside of tasks and of [`crate::Schedulers::block_on`].
pub fn spawn<T: Send + 'static>(
    info: TaskInfo,
    placement: Placement,
    future: impl Future<Output = T> + Send + 'static,
) -> JoinHandle<T> {
    context::shared().expect("spawn is for tasks").spawn(info, placement, None, future)
}

/// Starts a worker of the current task: its CPU time counts as that task's too. Otherwise as [`spawn`].
///
/// # Panics
/// Outside of tasks.
pub fn spawn_worker<T: Send + 'static>(
    info: TaskInfo,
    placement: Placement,
    future: impl Future<Output = T> + Send + 'static,
) -> JoinHandle<T> {
    let works_for = context::with_current(|_, task| Arc::clone(task));
    context::shared().expect("spawn_worker is for tasks").spawn(info, placement, works_for, future)
}

/// The id of the scheduler that the thread belongs to; None on threads from outside.
pub fn current_scheduler() -> Option<u32> {
    context::home().filter(|_| context::on_scheduler()).map(|home| home.id)
}

/// Says that the current task serves a socket, as long as what this gives is kept; None outside of tasks. Its scheduler then
/// looks at its sockets while it spins, and spins only for what the idle hook announces.
pub fn serve_socket() -> Option<SocketTask> {
    context::with_current(|_, task| SocketTask::new(Arc::clone(&task.home)))
}

/// The id of the current task; None outside of tasks.
pub fn current_task() -> Option<u64> {
    context::with_current(|_, task: &Arc<Task>| task.id)
}

/// CPU time that the current task and its workers have used so far, in microseconds, as [`crate::TaskRow::cpu_time_us`] shows it once
/// its turn is over; 0 outside of tasks.
pub fn cpu_time_us() -> u64 {
    let reading = meter(pikepole_machine::clock::ticks());
    pikepole_machine::clock::ticks_to_us(reading.own + reading.workers)
}

/// The waits of the current task so far; nothing outside of tasks.
pub fn wait_times() -> WaitTimes {
    context::with_current(|_, task| task.waits.times()).unwrap_or_default()
}

/// The CPU time of the current task and of its workers at `now`, ticks that have just been read; nothing outside of tasks.
pub fn meter(now: u64) -> CpuReading {
    context::meter(now)
}

/// As [`meter`] for a few instructions, with what workers had had at the begin of the present turn, or at the last [`meter`] in it: for
/// what awaits nothing, and so uses none.
#[inline]
pub fn meter_turn(now: u64) -> CpuReading {
    context::meter_turn(now)
}

/// Charges the current task, and the one that it works for, with the present turn so far; for a worker that is about to wake that one.
pub fn charge_cpu() {
    context::charge();
}

/// Names what the current task does from now on, as `dm_exec_requests` shows it.
pub fn set_command(command: &'static str) {
    context::with_current(|_, task| task.set_command(command));
}
