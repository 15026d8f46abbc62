//! `sys.dm_os_threads`: the threads of the process, as the system lists them, with their schedulers.

use super::Kind::{BigInt, Bit, Bytes, DateTime, Int, SmallInt};
use super::Nullable::{No, Yes};
use super::schedulers::{scheduler_address, worker_address};
use super::{Rows, Source, View, machine};
use pikepole_machine::affinity;
use pikepole_scheduler::{SchedulerRow, TaskRow, TaskState};
use pikepole_types::SqlError;

/// The address of a thread, less its number in the system.
const THREAD_ADDRESS: u64 = 0x4000_0000_0000;

/// The address of a thread.
pub(super) fn thread_address(number: i32) -> u64 {
    THREAD_ADDRESS + u64::from(number.unsigned_abs())
}

pub(super) const VIEWS: &[View] = &[View {
    schema: "sys",
    name: "dm_os_threads",
    columns: &[
        ("thread_address", Bytes(8), No),
        ("started_by_sqlservr", Bit, Yes),
        ("os_thread_id", Int, Yes),
        ("status", Int, Yes),
        ("instruction_address", Bytes(8), Yes),
        ("creation_time", DateTime, Yes),
        ("kernel_time", BigInt, Yes),
        ("usermode_time", BigInt, Yes),
        ("stack_base_address", Bytes(8), Yes),
        ("stack_end_address", Bytes(8), Yes),
        ("stack_bytes_committed", Int, Yes),
        ("stack_bytes_used", Int, Yes),
        ("affinity", BigInt, Yes),
        ("Priority", Int, Yes),
        ("Locale", Int, Yes),
        ("Token", Bytes(8), Yes),
        ("is_impersonating", Int, Yes),
        ("is_waiting_on_loader_lock", Int, Yes),
        ("fiber_data", Bytes(8), Yes),
        ("thread_handle", Bytes(8), Yes),
        ("event_handle", Bytes(8), Yes),
        ("scheduler_address", Bytes(8), Yes),
        ("worker_address", Bytes(8), Yes),
        ("fiber_context_address", Bytes(8), Yes),
        ("self_address", Bytes(8), Yes),
        ("processor_group", SmallInt, Yes),
    ],
    rows: threads,
}];

/// The part of a thread's `stat` that is shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct ThreadStat {
    user_ms: u64,
    kernel_ms: u64,
    priority: i64,
    /// Since the machine was started.
    created_ms: u64,
}

impl ThreadStat {
    fn parse(text: &str) -> ThreadStat {
        // Behind the command's name, which is in parentheses and may hold blanks, the state is the first field.
        let fields: Vec<&str> = text.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
        let number = |at: usize| fields.get(at).and_then(|field| field.parse::<i64>().ok()).unwrap_or(0);
        let ms = |at: usize| number(at).unsigned_abs() * machine::TICK_MS;
        ThreadStat { user_ms: ms(11), kernel_ms: ms(12), priority: number(15), created_ms: ms(19) }
    }
}

/// The numbers of the process's threads, ascending.
fn numbers() -> Vec<i32> {
    let entries = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let mut numbers: Vec<i32> = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    numbers.sort_unstable();
    numbers
}

fn threads(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let schedulers = source.server.schedulers().snapshot();
    let tasks = source.server.schedulers().tasks();
    let booted_us = super::now_us().saturating_sub(machine::ms_ticks() * 1000);
    let row = |number: i32| {
        // A thread that has ended meanwhile is left out.
        let text = std::fs::read_to_string(format!("/proc/self/task/{number}/stat")).ok()?;
        let stat = ThreadStat::parse(&text);
        let scheduler = schedulers.iter().find(|row| row.thread_number == Some(number));
        let cpus = affinity::of_thread(number).unwrap_or_default();
        let mut row = view
            .row()
            .address("thread_address", thread_address(number))
            .bit("started_by_sqlservr", scheduler.is_some())
            .integer("os_thread_id", number)
            .moment("creation_time", booted_us + stat.created_ms * 1000)
            .integer("kernel_time", stat.kernel_ms)
            .integer("usermode_time", stat.user_ms)
            .integer("affinity", machine::mask(cpus.into_iter()))
            .integer("Priority", stat.priority)
            .integer("is_impersonating", 0)
            .integer("processor_group", 0);
        if let Some(scheduler) = scheduler {
            row = row.address("scheduler_address", scheduler_address(scheduler.scheduler_id));
            if let Some(task) = running(&tasks, scheduler) {
                row = row.address("worker_address", worker_address(task));
            }
        }
        Some(row.done())
    };
    Ok(numbers().into_iter().filter_map(row).collect())
}

/// The task that a scheduler's thread runs now.
fn running<'t>(tasks: &'t [TaskRow], scheduler: &SchedulerRow) -> Option<&'t TaskRow> {
    let runs = |task: &&TaskRow| task.scheduler_id == scheduler.scheduler_id && task.state == TaskState::Running;
    tasks.iter().find(runs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_blanks_and_parentheses_moves_no_field() {
        let text = "77 (a) b (c) S 1 77 77 0 -1 64 1 2 3 4 120 30 0 0 20 0 9 0 4500 1 2 3";
        let found = ThreadStat::parse(text);
        assert_eq!(found, ThreadStat { user_ms: 1200, kernel_ms: 300, priority: 20, created_ms: 45_000 });
        assert_eq!(ThreadStat::parse("77 (a"), ThreadStat::default());
    }
}
