//! `sys.dm_os_schedulers`, `dm_os_tasks`, `dm_os_workers`.
//!
//! A task is polled where its scheduler's thread stands, so there is no pool of workers: each task is shown with a worker of its
//! own, which lives as long. Addresses are made from numbers, stable and different for each kind.

use super::Kind::{BigInt, Bit, Bytes, Int, SmallInt, Text};
use super::Nullable::{No, Yes};
use super::{Rows, Source, View, machine, threads};
use pikepole_machine::SystemFiles;
use pikepole_scheduler::{TaskRow, TaskState};
use pikepole_types::SqlError;

/// The address of a scheduler, less its number.
const SCHEDULER_ADDRESS: u64 = 0x5000_0000_0000;
/// The address of a worker, less its task's number.
const WORKER_ADDRESS: u64 = 0x6000_0000_0000;
/// The address of a task, less its number.
const TASK_ADDRESS: u64 = 0x7000_0000_0000;

/// The address of a task.
pub(super) fn task_address(task: &TaskRow) -> u64 {
    TASK_ADDRESS + task.task_id
}

/// The address of a task's worker.
pub(super) fn worker_address(task: &TaskRow) -> u64 {
    WORKER_ADDRESS + task.task_id
}

pub(super) fn scheduler_address(scheduler_id: u32) -> u64 {
    SCHEDULER_ADDRESS + u64::from(scheduler_id)
}

pub(super) const VIEWS: &[View] = &[
    View {
        schema: "sys",
        name: "dm_os_schedulers",
        columns: &[
            ("scheduler_address", Bytes(8), No),
            ("parent_node_id", Int, No),
            ("scheduler_id", Int, No),
            ("cpu_id", SmallInt, No),
            ("status", Text(60), No),
            ("is_online", Bit, No),
            ("is_idle", Bit, No),
            ("preemptive_switches_count", Int, No),
            ("context_switches_count", Int, No),
            ("idle_switches_count", Int, No),
            ("current_tasks_count", Int, No),
            ("runnable_tasks_count", Int, No),
            ("current_workers_count", Int, No),
            ("active_workers_count", Int, No),
            ("work_queue_count", BigInt, No),
            ("pending_disk_io_count", Int, No),
            ("load_factor", Int, No),
            ("yield_count", Int, No),
            ("last_timer_activity", BigInt, No),
            ("failed_to_create_worker", Bit, No),
            ("active_worker_address", Bytes(8), Yes),
            ("memory_object_address", Bytes(8), No),
            ("task_memory_object_address", Bytes(8), No),
            ("quantum_length_us", BigInt, No),
            ("total_cpu_usage_ms", BigInt, No),
            ("total_cpu_idle_capped_ms", BigInt, No),
            ("total_scheduler_delay_ms", BigInt, No),
            ("ideal_workers_limit", Int, No),
        ],
        rows: schedulers,
    },
    View {
        schema: "sys",
        name: "dm_os_tasks",
        columns: &[
            ("task_address", Bytes(8), No),
            ("task_state", Text(60), Yes),
            ("context_switches_count", Int, Yes),
            ("pending_io_count", Int, Yes),
            ("pending_io_byte_count", BigInt, Yes),
            ("pending_io_byte_average", Int, Yes),
            ("scheduler_id", Int, No),
            ("session_id", SmallInt, Yes),
            ("exec_context_id", Int, Yes),
            ("request_id", Int, Yes),
            ("worker_address", Bytes(8), Yes),
            ("host_address", Bytes(8), No),
            ("parent_task_address", Bytes(8), Yes),
        ],
        rows: tasks,
    },
    View {
        schema: "sys",
        name: "dm_os_workers",
        columns: &[
            ("worker_address", Bytes(8), No),
            ("status", Int, Yes),
            ("is_preemptive", Bit, Yes),
            ("is_fiber", Bit, Yes),
            ("is_sick", Bit, Yes),
            ("is_in_cc_exception", Bit, Yes),
            ("is_fatal_exception", Bit, Yes),
            ("is_inside_catch", Bit, Yes),
            ("is_in_polling_io_completion_routine", Bit, Yes),
            ("context_switch_count", Int, No),
            ("pending_io_count", Int, Yes),
            ("pending_io_byte_count", BigInt, Yes),
            ("pending_io_byte_average", Int, Yes),
            ("wait_started_ms_ticks", BigInt, No),
            ("wait_resumed_ms_ticks", BigInt, Yes),
            ("task_bound_ms_ticks", BigInt, No),
            ("worker_created_ms_ticks", BigInt, No),
            ("exception_num", Int, Yes),
            ("exception_severity", Int, Yes),
            ("exception_address", Bytes(8), Yes),
            ("affinity", BigInt, Yes),
            ("state", Text(60), Yes),
            ("start_quantum", BigInt, Yes),
            ("end_quantum", BigInt, Yes),
            ("last_wait_type", Text(60), Yes),
            ("return_code", Int, Yes),
            ("quantum_used", BigInt, Yes),
            ("max_quantum", BigInt, Yes),
            ("boost_count", Int, Yes),
            ("tasks_processed_count", Int, No),
            ("fiber_address", Bytes(8), Yes),
            ("task_address", Bytes(8), Yes),
            ("memory_object_address", Bytes(8), Yes),
            ("thread_address", Bytes(8), Yes),
            ("signal_worker_address", Bytes(8), Yes),
            ("scheduler_address", Bytes(8), Yes),
            ("processor_group", SmallInt, No),
        ],
        rows: workers,
    },
];

/// The times of a scheduler's thread, in milliseconds, as the system has counted them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct ThreadTimes {
    /// On a CPU.
    ran_ms: u64,
    /// Ready to run, and not on a CPU: others had it.
    delayed_ms: u64,
}

impl ThreadTimes {
    fn of(files: &SystemFiles, thread: Option<i32>) -> ThreadTimes {
        /// The unit of `schedstat`.
        const MS_NS: u64 = 1_000_000;
        let read = |thread: i32| files.read(&format!("proc/self/task/{thread}/schedstat"));
        let text = thread.and_then(read).unwrap_or_default();
        let mut times = text.split_whitespace().map(|time| time.parse::<u64>().unwrap_or(0) / MS_NS);
        ThreadTimes { ran_ms: times.next().unwrap_or(0), delayed_ms: times.next().unwrap_or(0) }
    }
}

fn schedulers(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let rows = source.server.schedulers().snapshot();
    let nodes = machine::nodes_of(source.server, &rows);
    let tasks = source.server.schedulers().tasks();
    let files = SystemFiles::below("/");
    Ok(rows
        .iter()
        .zip(nodes)
        .map(|(row, node)| {
            let cpu = row.cpu_id.map_or(-1, |cpu| cpu as i64);
            let is_running =
                |task: &&TaskRow| task.scheduler_id == row.scheduler_id && task.state == TaskState::Running;
            let times = ThreadTimes::of(&files, row.thread_number);
            let built = match tasks.iter().find(is_running) {
                Some(task) => view.row().address("active_worker_address", worker_address(task)),
                None => view.row(),
            };
            built
                .address("scheduler_address", scheduler_address(row.scheduler_id))
                .integer("parent_node_id", node as u64)
                .integer("scheduler_id", row.scheduler_id)
                .integer("cpu_id", cpu)
                .text("status", row.status)
                .bit("is_online", row.is_online)
                .bit("is_idle", row.is_idle)
                .integer("context_switches_count", row.context_switches_count)
                .integer("idle_switches_count", row.idle_switches_count)
                .integer("current_tasks_count", row.current_tasks_count)
                .integer("runnable_tasks_count", row.runnable_tasks_count)
                .integer("current_workers_count", row.current_tasks_count)
                .integer("active_workers_count", row.current_tasks_count)
                .integer("load_factor", row.load_factor)
                .integer("yield_count", row.yield_count)
                .integer("quantum_length_us", row.quantum_length_us)
                .integer("total_cpu_usage_ms", times.ran_ms)
                .integer("total_scheduler_delay_ms", times.delayed_ms)
                .done()
        })
        .collect())
}

fn tasks(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let rows = source.server.schedulers().tasks();
    let sessions = super::execution::with_sessions(rows.clone());
    Ok(rows
        .iter()
        .map(|row| {
            let session = sessions.iter().find(|(_, task)| task.task_id == row.task_id);
            let built = view
                .row()
                .address("task_address", task_address(row))
                .address("worker_address", worker_address(row))
                .text("task_state", row.state.name())
                .integer("context_switches_count", row.context_switches_count)
                .integer("pending_io_count", 0)
                .integer("pending_io_byte_count", 0)
                .integer("pending_io_byte_average", 0)
                .integer("scheduler_id", row.scheduler_id)
                .integer("exec_context_id", super::execution::exec_context(&rows, row))
                .integer("request_id", 0);
            match session {
                Some((session_id, _)) => built.integer("session_id", *session_id).done(),
                None => built.done(),
            }
        })
        .collect())
}

fn workers(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let schedulers = source.server.schedulers().snapshot();
    let now_ms = machine::ms_ticks();
    let row = |task: &TaskRow| {
        let state = match task.state {
            TaskState::Pending => "INIT",
            TaskState::Suspended => "SUSPENDED",
            TaskState::Runnable => "RUNNABLE",
            TaskState::Running | TaskState::Done => "RUNNING",
        };
        let scheduler = schedulers.iter().find(|row| row.scheduler_id == task.scheduler_id);
        let cpu = scheduler.and_then(|row| row.cpu_id);
        let begun_ms = now_ms.saturating_sub(task.elapsed_time_us / 1000);
        let waited_ms = task.wait_type.map(|_| now_ms.saturating_sub(task.wait_time_us / 1000));
        let row = view
            .row()
            .address("worker_address", worker_address(task))
            .bit("is_preemptive", false)
            .bit("is_fiber", false)
            .integer("context_switch_count", task.context_switches_count)
            .integer("wait_started_ms_ticks", waited_ms.unwrap_or(0))
            .integer("task_bound_ms_ticks", begun_ms)
            .integer("worker_created_ms_ticks", begun_ms)
            .text("state", state)
            .text_if("last_wait_type", task.last_wait_type.map(|wait| wait.name()))
            .integer("tasks_processed_count", 1)
            .address("task_address", task_address(task))
            .address("scheduler_address", scheduler_address(task.scheduler_id))
            .integer("boost_count", task.boost_count.min(i32::MAX as u64));
        let row = match scheduler.and_then(|row| row.thread_number) {
            Some(number) => row.address("thread_address", threads::thread_address(number)),
            None => row,
        };
        match cpu.filter(|cpu| *cpu < 63) {
            Some(cpu) => row.integer("affinity", 1_i64 << cpu).done(),
            None => row.done(),
        }
    };
    let tasks = source.server.schedulers().tasks();
    Ok(tasks.iter().filter(|task| task.state != TaskState::Done).map(row).collect())
}
