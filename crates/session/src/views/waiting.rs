//! `sys.dm_os_waiting_tasks`: who waits, for what, and for whom.

use super::Kind::{BigInt, Bytes, Int, SmallInt, Text};
use super::Nullable::{No, Yes};
use super::{Rows, Source, View, execution, schedulers, transactions};
use pikepole_scheduler::TaskRow;
use pikepole_types::SqlError;

pub(super) const VIEWS: &[View] = &[View {
    schema: "sys",
    name: "dm_os_waiting_tasks",
    columns: &[
        ("waiting_task_address", Bytes(8), No),
        ("session_id", SmallInt, Yes),
        ("exec_context_id", Int, Yes),
        ("wait_duration_ms", BigInt, Yes),
        ("wait_type", Text(60), Yes),
        ("resource_address", Bytes(8), Yes),
        ("blocking_task_address", Bytes(8), Yes),
        ("blocking_session_id", SmallInt, Yes),
        ("blocking_exec_context_id", Int, Yes),
        ("resource_description", Text(3072), Yes),
    ],
    rows: waiting_tasks,
}];

fn waiting_tasks(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let tasks = source.server.schedulers().tasks();
    let sessions = execution::with_sessions(tasks.clone());
    let waits = transactions::lock_waits(source);
    let session_of = |task: &TaskRow| {
        let found = sessions.iter().find(|(_, of_session)| of_session.task_id == task.task_id);
        found.map(|(session_id, _)| *session_id)
    };
    let row = |task: &TaskRow| {
        let wait_type = task.wait_type?;
        let row = view
            .row()
            .address("waiting_task_address", schedulers::task_address(task))
            .integer("exec_context_id", execution::exec_context(&tasks, task))
            .integer("wait_duration_ms", task.wait_time_us / 1000)
            .text("wait_type", wait_type.name());
        let Some(session_id) = session_of(task) else { return Some(row.done()) };
        let row = row.integer("session_id", session_id);
        let Some(wait) = waits.get(&session_id).filter(|_| wait_type.name().starts_with("LCK_")) else {
            return Some(row.done());
        };
        let row = row.text("resource_description", wait.description.as_str());
        let Some(blocker) = wait.blocker else { return Some(row.done()) };
        let row = row.integer("blocking_session_id", blocker);
        let blocking = sessions.iter().find(|(session_id, _)| *session_id == blocker).map(|(_, task)| task);
        Some(match blocking {
            Some(task) => row.address("blocking_task_address", schedulers::task_address(task)).done(),
            None => row.done(),
        })
    };
    Ok(tasks.iter().filter_map(row).collect())
}
