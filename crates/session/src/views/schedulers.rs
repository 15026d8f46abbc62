//! `sys.dm_os_schedulers`, `dm_os_tasks`.

use super::Kind::{BigInt, Bit, Bytes, Int, SmallInt, Text};
use super::Nullable::{No, Yes};
use super::{Rows, Source, View};
use pikepole_types::SqlError;

/// The address of a scheduler, made from its number: stable, and different from a task's.
const SCHEDULER_ADDRESS: u64 = 0x5000_0000_0000;
/// The address of a task, made from its number.
const TASK_ADDRESS: u64 = 0x7000_0000_0000;

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
];

fn schedulers(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let rows = source.server.schedulers().snapshot();
    Ok(rows
        .iter()
        .map(|row| {
            let cpu = row.cpu_id.map_or(-1, |cpu| cpu as i64);
            view.row()
                .address("scheduler_address", SCHEDULER_ADDRESS + u64::from(row.scheduler_id))
                .integer("scheduler_id", row.scheduler_id)
                .integer("cpu_id", cpu)
                .text("status", row.status)
                .bit("is_online", true)
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
                .address("task_address", TASK_ADDRESS + row.task_id)
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
