//! `sys.dm_exec_requests`, `dm_exec_sessions`, `sysprocesses`.
//!
//! Times of a request begin with its batch; those of a session are of all its batches, the running one included. CPU time is that of
//! the session's task and of its workers. It is noted when a task's turn is over, so what a turn that lasts has used shows behind it.

use super::Kind::{BigInt, Bit, Bytes, DateTime, Guid, Int, Name, Real, SmallInt, Text};
use super::Nullable::{No, Yes};
use super::{RowBuilder, Rows, Source, View, schedulers, texts, transactions};
use crate::options::whole_context_info;
use crate::registry::{SessionRow, ShownOptions};
use pikepole_query::Running;
use pikepole_scheduler::TaskRow;
use pikepole_types::{SqlError, Value};
use std::collections::HashMap;

/// The program's name for system sessions.
const SYSTEM_LOGIN: &str = "sa";

pub(super) const VIEWS: &[View] = &[
    View {
        schema: "sys",
        name: "dm_exec_requests",
        columns: &[
            ("session_id", SmallInt, No),
            ("request_id", Int, No),
            ("start_time", DateTime, No),
            ("status", Text(30), No),
            ("command", Text(32), No),
            ("sql_handle", Bytes(64), Yes),
            ("statement_start_offset", Int, Yes),
            ("statement_end_offset", Int, Yes),
            ("plan_handle", Bytes(64), Yes),
            ("database_id", SmallInt, No),
            ("user_id", Int, No),
            ("connection_id", Guid, Yes),
            ("blocking_session_id", SmallInt, Yes),
            ("wait_type", Text(60), Yes),
            ("wait_time", Int, No),
            ("last_wait_type", Text(60), No),
            ("wait_resource", Text(256), No),
            ("open_transaction_count", Int, No),
            ("open_resultset_count", Int, No),
            ("transaction_id", BigInt, No),
            ("context_info", Bytes(128), Yes),
            ("percent_complete", Real, No),
            ("estimated_completion_time", BigInt, No),
            ("cpu_time", Int, No),
            ("total_elapsed_time", Int, No),
            ("scheduler_id", Int, Yes),
            ("task_address", Bytes(8), Yes),
            ("reads", BigInt, No),
            ("writes", BigInt, No),
            ("logical_reads", BigInt, No),
            ("text_size", Int, No),
            ("language", Name, Yes),
            ("date_format", Text(3), Yes),
            ("date_first", SmallInt, No),
            ("quoted_identifier", Bit, No),
            ("arithabort", Bit, No),
            ("ansi_null_dflt_on", Bit, No),
            ("ansi_defaults", Bit, No),
            ("ansi_warnings", Bit, No),
            ("ansi_padding", Bit, No),
            ("ansi_nulls", Bit, No),
            ("concat_null_yields_null", Bit, No),
            ("transaction_isolation_level", SmallInt, No),
            ("lock_timeout", Int, No),
            ("deadlock_priority", Int, No),
            ("row_count", BigInt, No),
            ("prev_error", Int, No),
            ("nest_level", Int, No),
            ("granted_query_memory", Int, No),
            ("executing_managed_code", Bit, No),
            ("group_id", Int, No),
            ("query_hash", Bytes(8), Yes),
            ("query_plan_hash", Bytes(8), Yes),
            ("statement_sql_handle", Bytes(64), Yes),
            ("statement_context_id", BigInt, Yes),
            ("dop", Int, No),
            ("parallel_worker_count", Int, Yes),
            ("external_script_request_id", Guid, Yes),
            ("is_resumable", Bit, No),
            ("page_resource", Bytes(8), Yes),
            ("page_server_reads", BigInt, No),
            ("dist_statement_id", Guid, No),
        ],
        rows: requests,
    },
    View {
        schema: "sys",
        name: "dm_exec_sessions",
        columns: &[
            ("session_id", SmallInt, No),
            ("login_time", DateTime, No),
            ("host_name", Name, Yes),
            ("program_name", Name, Yes),
            ("host_process_id", Int, Yes),
            ("client_version", Int, Yes),
            ("client_interface_name", Text(32), Yes),
            ("security_id", Bytes(85), No),
            ("login_name", Name, No),
            ("nt_domain", Name, Yes),
            ("nt_user_name", Name, Yes),
            ("status", Text(30), No),
            ("context_info", Bytes(128), Yes),
            ("cpu_time", Int, No),
            ("memory_usage", Int, No),
            ("total_scheduled_time", Int, No),
            ("total_elapsed_time", Int, No),
            ("endpoint_id", Int, No),
            ("last_request_start_time", DateTime, No),
            ("last_request_end_time", DateTime, Yes),
            ("reads", BigInt, No),
            ("writes", BigInt, No),
            ("logical_reads", BigInt, No),
            ("is_user_process", Bit, No),
            ("text_size", Int, No),
            ("language", Name, Yes),
            ("date_format", Text(3), Yes),
            ("date_first", SmallInt, No),
            ("quoted_identifier", Bit, No),
            ("arithabort", Bit, No),
            ("ansi_null_dflt_on", Bit, No),
            ("ansi_defaults", Bit, No),
            ("ansi_warnings", Bit, No),
            ("ansi_padding", Bit, No),
            ("ansi_nulls", Bit, No),
            ("concat_null_yields_null", Bit, No),
            ("transaction_isolation_level", SmallInt, No),
            ("lock_timeout", Int, No),
            ("deadlock_priority", Int, No),
            ("row_count", BigInt, No),
            ("prev_error", Int, No),
            ("original_security_id", Bytes(85), No),
            ("original_login_name", Name, No),
            ("last_successful_logon", DateTime, Yes),
            ("last_unsuccessful_logon", DateTime, Yes),
            ("unsuccessful_logons", BigInt, Yes),
            ("group_id", Int, No),
            ("database_id", SmallInt, No),
            ("authenticating_database_id", Int, Yes),
            ("open_transaction_count", Int, No),
            ("page_server_reads", BigInt, No),
            ("contained_availability_group_id", Guid, Yes),
        ],
        rows: sessions,
    },
    View {
        schema: "sys",
        name: "sysprocesses",
        columns: &[
            ("spid", SmallInt, No),
            ("kpid", SmallInt, No),
            ("blocked", SmallInt, No),
            ("waittype", Bytes(2), No),
            ("waittime", BigInt, No),
            ("lastwaittype", Text(32), No),
            ("waitresource", Text(256), No),
            ("dbid", SmallInt, No),
            ("uid", SmallInt, Yes),
            ("cpu", Int, No),
            ("physical_io", BigInt, No),
            ("memusage", Int, No),
            ("login_time", DateTime, No),
            ("last_batch", DateTime, No),
            ("ecid", SmallInt, No),
            ("open_tran", SmallInt, No),
            ("status", Text(30), No),
            ("sid", Bytes(86), No),
            ("hostname", Text(128), No),
            ("program_name", Text(128), No),
            ("hostprocess", Text(10), No),
            ("cmd", Text(26), No),
            ("nt_domain", Text(128), No),
            ("nt_username", Text(128), No),
            ("net_address", Text(12), No),
            ("net_library", Text(12), No),
            ("loginame", Text(128), No),
            ("context_info", Bytes(128), No),
            ("sql_handle", Bytes(20), No),
            ("stmt_start", Int, No),
            ("stmt_end", Int, No),
            ("request_id", Int, No),
            ("page_resource", Bytes(8), Yes),
        ],
        rows: processes,
    },
];

/// The status of a request, as `dm_exec_requests` words it.
fn status(task: &TaskRow) -> &'static str {
    match task.state.name() {
        "RUNNING" | "SPINLOOP" => "running",
        "SUSPENDED" => "suspended",
        "RUNNABLE" => "runnable",
        "PENDING" => "pending",
        _ => "background",
    }
}

/// The first scheduler that is a system task's own.
const HIDDEN_SCHEDULERS: u32 = 1_048_576;
/// The last number of a system task below those of sessions.
const SYSTEM_SESSIONS: i32 = crate::registry::FIRST_SESSION_ID - 1;

/// The number of the system task behind the one of this number. Above the fiftieth they are counted from the other end: the numbers between are
/// those of clients.
fn system_session_after(taken: i32) -> i32 {
    match taken {
        SYSTEM_SESSIONS => i32::from(i16::MAX),
        1..SYSTEM_SESSIONS => taken + 1,
        _ => taken - 1,
    }
}

/// Tasks with their sessions. System tasks have a session too: they are numbered from 1 in the order of their schedulers.
/// Other tasks without a session are no requests.
pub(super) fn with_sessions(tasks: Vec<TaskRow>) -> Vec<(i32, TaskRow)> {
    let mut numbered: Vec<(i32, TaskRow)> = Vec::with_capacity(tasks.len());
    let mut next = 1;
    for task in tasks {
        let session_id = match task.session_id {
            Some(session_id) => session_id,
            None if task.scheduler_id >= HIDDEN_SCHEDULERS => {
                let taken = next;
                next = system_session_after(taken);
                taken
            }
            None => continue,
        };
        numbered.push((session_id, task));
    }
    numbered
}

/// The task of a session itself, which began before its workers did.
fn own_task(tasks: &[(i32, TaskRow)], session_id: i32) -> Option<&TaskRow> {
    let of_session = tasks.iter().filter(|(of, _)| *of == session_id).map(|(_, task)| task);
    of_session.min_by_key(|task| task.task_id)
}

/// CPU time of a session's running batch so far, in microseconds; 0 between batches.
fn batch_cpu_us(session: &SessionRow, task: Option<&TaskRow>) -> u64 {
    let task = task.filter(|_| session.running);
    task.map_or(0, |task| task.cpu_time_us.saturating_sub(session.cpu_before_us))
}

/// CPU time of all batches of a session, in microseconds.
fn session_cpu_us(session: &SessionRow, task: Option<&TaskRow>) -> u64 {
    session.cpu_us + batch_cpu_us(session, task)
}

/// Time since the running batch of a session began, in microseconds; 0 between batches.
fn batch_elapsed_us(session: &SessionRow) -> u64 {
    if session.running { super::now_us().saturating_sub(session.batch_started_us) } else { 0 }
}

/// The process of a session's client; our own for a session of the embedded API.
fn client_process(session: &SessionRow) -> u32 {
    session.connection.as_deref().map_or(std::process::id(), |connection| connection.process_id)
}

/// The options that both views of sessions show. Those set to true cannot be switched off.
fn with_options(row: RowBuilder, options: &ShownOptions) -> RowBuilder {
    row.text("language", options.language.name)
        .text("date_format", options.date_format.name())
        .integer("date_first", options.date_first)
        .bit("quoted_identifier", options.quoted_identifier)
        .bit("arithabort", options.arithabort)
        .bit("ansi_null_dflt_on", options.ansi_null_dflt_on)
        .bit("ansi_warnings", options.ansi_warnings)
        .bit("ansi_padding", options.ansi_padding)
        .bit("ansi_nulls", options.ansi_nulls)
        .bit("concat_null_yields_null", options.concat_null_yields_null)
        .integer("transaction_isolation_level", options.isolation)
        .integer("lock_timeout", options.lock_timeout_ms)
        .integer("deadlock_priority", options.deadlock_priority)
        .integer("text_size", options.text_size)
}

/// Which of its session's tasks a task is: 0 for the session's own, then its parallel workers in the order of their start.
pub(super) fn exec_context(tasks: &[TaskRow], task: &TaskRow) -> i64 {
    let before = |other: &&TaskRow| other.session_id == task.session_id && other.task_id < task.task_id;
    if task.session_id.is_none() { 0 } else { tasks.iter().filter(before).count() as i64 }
}

/// One row for each session that runs a batch, and one for each system task.
fn requests(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let mut rows = Vec::new();
    let waits = transactions::lock_waits(source);
    let open = transactions::ids_by_session(source);
    let tasks = source.server.schedulers().tasks();
    let databases = source.server.system_tasks();
    for (session_id, task) in with_sessions(tasks.clone()) {
        // Workers are part of their session's request.
        if exec_context(&tasks, &task) > 0 {
            continue;
        }
        let session = source.registry.row(session_id);
        if session.as_ref().is_some_and(|session| !session.running) {
            continue;
        }
        let row = view
            .row()
            .integer("session_id", session_id)
            .text("status", if session.is_some() { status(&task) } else { "background" })
            .text("command", task.command)
            .text_if("wait_type", task.wait_type.map(|wait| wait.name()))
            .integer("wait_time", task.wait_time_us / 1000)
            .text("last_wait_type", task.last_wait_type.map_or("", |wait| wait.name()))
            .integer("scheduler_id", task.scheduler_id)
            .address("task_address", schedulers::task_address(&task))
            .integer("blocking_session_id", waits.get(&session_id).and_then(|wait| wait.blocker).unwrap_or(0))
            .text_if("wait_resource", waits.get(&session_id).map(|wait| wait.resource.as_str()))
            .integer("transaction_id", open.get(&session_id).copied().unwrap_or(0));
        rows.push(match session {
            Some(session) => with_text(with_options(row, &session.shown), session.text.as_ref())
                .moment("start_time", session.batch_started_us)
                .integer("cpu_time", batch_cpu_us(&session, Some(&task)) / 1000)
                .integer("total_elapsed_time", batch_elapsed_us(&session) / 1000)
                .integer("logical_reads", session.read_by_batch[0])
                .integer("reads", session.read_by_batch[1])
                .integer("database_id", session.database_id)
                .integer("user_id", 1)
                .integer("open_transaction_count", session.open_transactions)
                .value("percent_complete", Value::Real(session.percent))
                .value("context_info", Value::Bin(session.context_info))
                .integer(
                    "row_count",
                    if session.loaded_rows > 0 { session.loaded_rows as i64 } else { session.row_count },
                )
                .integer("prev_error", session.last_error)
                .value("connection_id", session.connection.as_ref().map_or(Value::Null, |c| Value::Guid(c.id)))
                .done(),
            None => with_options(row, &ShownOptions::default())
                .moment("start_time", source.server.started_us())
                .integer("cpu_time", task.cpu_time_us / 1000)
                .integer("total_elapsed_time", task.elapsed_time_us / 1000)
                .integer("database_id", database_of(&databases, &task))
                .done(),
        });
    }
    Ok(rows)
}

/// The database of a system task; of one that works for all of them, master.
fn database_of(databases: &HashMap<u64, i32>, task: &TaskRow) -> i32 {
    databases.get(&task.task_id).copied().unwrap_or(1)
}

/// The handles of what a request runs, and where its statement stands in the text.
fn with_text(row: RowBuilder, running: Option<&Running>) -> RowBuilder {
    let Some(running) = running else { return row };
    let row = row
        .value("sql_handle", texts::sql_handle(&running.text))
        .value("plan_handle", texts::plan_handle(&running.text));
    match running.statement() {
        Some((start, end)) => row.integer("statement_start_offset", start).integer("statement_end_offset", end),
        None => row,
    }
}

fn sessions(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let tasks = with_sessions(source.server.schedulers().tasks());
    let row = |session: &SessionRow| {
        let task = own_task(&tasks, session.session_id);
        let elapsed_us = super::now_us().saturating_sub(session.login_us);
        let connection = session.connection.as_deref();
        with_options(view.row(), &session.shown)
            .integer("session_id", session.session_id)
            .moment("login_time", session.login_us)
            .text("host_name", &session.host_name)
            .text("program_name", &session.program_name)
            .integer("host_process_id", client_process(session))
            .text("login_name", &session.login_name)
            .text("original_login_name", &session.login_name)
            .text("status", if session.running { "running" } else { "sleeping" })
            .integer("cpu_time", session_cpu_us(session, task) / 1000)
            .integer("total_scheduled_time", (session.batches_us + batch_elapsed_us(session)) / 1000)
            .integer("total_elapsed_time", elapsed_us / 1000)
            .moment("last_request_start_time", session.batch_started_us)
            .moment("last_request_end_time", session.batch_ended_us)
            .moment("last_successful_logon", session.login_us)
            .integer("prev_error", session.last_error)
            .text("client_interface_name", connection.map_or("Pikepole", |connection| connection.interface.as_str()))
            .integer("client_version", connection.map_or(0, |connection| connection.client_version >> 24))
            .bit("is_user_process", true)
            .value("context_info", Value::Bin(session.context_info.clone()))
            .integer("logical_reads", session.read[0])
            .integer("reads", session.read[1])
            .integer("row_count", session.row_count)
            .integer("database_id", session.database_id)
            .integer("open_transaction_count", session.open_transactions)
            .done()
    };
    Ok(source.registry.rows().iter().map(row).collect())
}

/// Sessions and system tasks, as the view of old shows them.
fn processes(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let tasks = with_sessions(source.server.schedulers().tasks());
    let waits = transactions::lock_waits(source);
    let databases = source.server.system_tasks();
    let mut rows = Vec::new();
    for session in source.registry.rows() {
        let task = own_task(&tasks, session.session_id);
        let wait = waits.get(&session.session_id);
        let row = process(view, &session, task)
            .integer("blocked", wait.and_then(|wait| wait.blocker).unwrap_or(0))
            .text_if("waitresource", wait.map(|wait| wait.resource.as_str()));
        rows.push(row.done());
    }
    for (session_id, task) in &tasks {
        if source.registry.row(*session_id).is_some() {
            continue;
        }
        let row = with_task(view.row().integer("spid", *session_id), task);
        rows.push(
            row.integer("cpu", task.cpu_time_us / 1000)
                .integer("dbid", database_of(&databases, task))
                .moment("login_time", source.server.started_us())
                .moment("last_batch", source.server.started_us())
                .text("status", "background")
                .text("loginame", SYSTEM_LOGIN)
                .text("cmd", task.command)
                .done(),
        );
    }
    Ok(rows)
}

fn process(view: &View, session: &SessionRow, task: Option<&TaskRow>) -> RowBuilder {
    let mut row = view
        .row()
        .integer("spid", session.session_id)
        .integer("dbid", session.database_id)
        .integer("cpu", session_cpu_us(session, task) / 1000)
        .text("hostprocess", client_process(session).to_string())
        .moment("login_time", session.login_us)
        .moment("last_batch", session.batch_started_us)
        .integer("open_tran", session.open_transactions)
        .value("context_info", context_info(session))
        .text("hostname", &session.host_name)
        .text("program_name", &session.program_name)
        .text("loginame", &session.login_name)
        .text("cmd", "AWAITING COMMAND")
        .text("status", "sleeping");
    if let Some(task) = task.filter(|_| session.running) {
        row = with_task(row, task).text("status", status(task)).text("cmd", task.command);
    }
    match &session.text {
        Some(running) => with_statement(row, running),
        None => row,
    }
}

/// `CONTEXT_INFO()` of a process, all zeros when it was not set.
fn context_info(session: &SessionRow) -> Value {
    Value::Bin(whole_context_info(session.context_info.clone()))
}

/// The handle of what a process runs or ran last, and where its statement stands in the text.
fn with_statement(row: RowBuilder, running: &Running) -> RowBuilder {
    let row = match texts::sql_handle(&running.text) {
        Value::Null => return row,
        handle => row.value("sql_handle", handle),
    };
    match running.statement() {
        Some((start, end)) => row.integer("stmt_start", start).integer("stmt_end", end),
        None => row,
    }
}

fn with_task(row: RowBuilder, task: &TaskRow) -> RowBuilder {
    row.integer("waittime", task.wait_time_us / 1000)
        .text("lastwaittype", task.wait_type.or(task.last_wait_type).map_or("MISCELLANEOUS", |wait| wait.name()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn system_tasks_have_no_number_of_a_client() {
        let mut numbers: Vec<i32> =
            std::iter::successors(Some(1), |taken| Some(system_session_after(*taken))).take(1000).collect();
        assert_eq!((numbers[0], numbers[49], numbers[50]), (1, 50, 32_767));
        // As many connections as a server takes by default.
        assert!(!numbers.iter().any(|number| (51..51 + 4096).contains(number)));
        numbers.sort_unstable();
        numbers.dedup();
        assert_eq!(numbers.len(), 1000);
    }
}
