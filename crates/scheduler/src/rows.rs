//! What the management views show of schedulers and tasks.

use pikepole_contention::WaitType;

/// One row of `sys.dm_os_schedulers`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SchedulerRow {
    /// From 0; hidden schedulers from 1048576.
    pub scheduler_id: u32,
    /// The CPU that its thread is pinned to while it is online.
    pub cpu_id: Option<usize>,
    /// Its thread's number in the system; `None` in a simulation.
    pub thread_number: Option<i32>,
    /// `VISIBLE ONLINE`, `VISIBLE OFFLINE` or `HIDDEN ONLINE`.
    pub status: &'static str,
    /// Whether it takes new tasks.
    pub is_online: bool,
    /// Whether it has nothing to run.
    pub is_idle: bool,
    /// Times that a task was switched in.
    pub context_switches_count: u64,
    /// Times that it went to sleep for want of work.
    pub idle_switches_count: u64,
    /// Times that a task gave up the CPU at the end of its quantum.
    pub yield_count: u64,
    /// Its tasks, whatever they do.
    pub current_tasks_count: u64,
    /// Its tasks that could run and do not.
    pub runnable_tasks_count: u64,
    /// What [`crate::Placement::LeastLoaded`] compares: its tasks.
    pub load_factor: u64,
    /// The quantum, in microseconds.
    pub quantum_length_us: u64,
}

/// What a task is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TaskState {
    /// Spawned, and has not run yet.
    Pending,
    /// Could run, and waits for its scheduler.
    Runnable,
    /// Runs.
    Running,
    /// Waits.
    Suspended,
    /// Has ended.
    Done,
}

impl TaskState {
    /// As `sys.dm_os_tasks` spells it.
    pub const fn name(self) -> &'static str {
        match self {
            TaskState::Pending => "PENDING",
            TaskState::Runnable => "RUNNABLE",
            TaskState::Running => "RUNNING",
            TaskState::Suspended => "SUSPENDED",
            TaskState::Done => "DONE",
        }
    }
}

/// One row of `sys.dm_os_tasks`, with what `sys.dm_exec_requests` wants of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskRow {
    /// Unique among all tasks of the schedulers.
    pub task_id: u64,
    /// Its scheduler.
    pub scheduler_id: u32,
    /// The session that it works for.
    pub session_id: Option<i32>,
    /// What it does, such as `INSERT` or `LOG WRITER`.
    pub command: &'static str,
    /// What it is doing.
    pub state: TaskState,
    /// Times that it was switched in.
    pub context_switches_count: u64,
    /// Times that it went to the head of the runnable queue when it was signalled ([`crate::SignalledFirst`]).
    pub boost_count: u64,
    /// What it waits for, while it waits.
    pub wait_type: Option<WaitType>,
    /// How long it has waited so far, in microseconds.
    pub wait_time_us: u64,
    /// What it waited for last.
    pub last_wait_type: Option<WaitType>,
    /// CPU time of its turns that are over, its workers' included, in microseconds.
    pub cpu_time_us: u64,
    /// Time since it was spawned, in microseconds.
    pub elapsed_time_us: u64,
}
