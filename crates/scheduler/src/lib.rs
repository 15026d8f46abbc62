//! One cooperative scheduler per CPU, and the one function that waits.
//!
//! ```text
//!                  +------------- scheduler 0: one thread, pinned to one CPU --------------+
//!   spawn -------> | inbox --> signalled  [ t4 t9 ]   first                                |
//!   wake from      |       \-> fresh      [ t7 t2 ]   then: new tasks and those that       |
//!   other threads  |                                  gave up their quantum                |
//!                  |   run queue, polled by a root task of a single-threaded tokio runtime |
//!                  |   which drives sockets and timers in between                          |
//!                  +------------------------------------------------------------------------+
//!   hidden schedulers: the same, with a thread of their own for one system task each
//! ```
//!
//! - A task belongs to one scheduler for life; only that thread polls it.
//! - Every wait goes through [`wait`], which names it and measures it.
//! - A signalled task runs before new ones and before those that yielded; signalled tasks run in the order of their
//!   signals. So that these cannot starve the others, every second slice of a millisecond runs one of the others first.
//!   The classic rule boosts signalled tasks to the head instead ([`SignalledFirst`]).
//! - A wake-up on the same thread touches nothing that other threads touch but the task's own state. From another
//!   thread it is one push to the owner's inbox, and wakes the owner's thread only if that has announced that it
//!   sleeps; [`wake_all`] does so once for a batch.
//! - An idle scheduler runs the idle hook, looks at its sockets, spins a little, then sleeps in the kernel. One whose work
//!   comes from sockets ([`serve_socket`]) spins only for what the hook announces, and looks at its sockets meanwhile.
//! - While idle moments are short and many, the kernel is asked to let CPUs sleep lightly only ([`CpuIdle`]).
//! - [`Schedulers::simulated`] is the twin for tests of the whole engine: one thread, virtual time, and an order that
//!   follows from its seed alone. With [`chaos`] what runs there also stops wherever it may.

mod blocking;
mod boost;
pub mod chaos;
mod context;
mod cpu_clock;
mod home;
mod join;
mod rows;
mod schedulers;
mod simulation;
mod task;
#[cfg(test)]
mod tests;
mod wait;
mod waits;
mod wakefulness;
mod worker;

pub use boost::SignalledFirst;
pub use context::CpuReading;
pub use home::SocketTask;
pub use join::{JoinHandle, TaskError};
pub use rows::{SchedulerRow, TaskRow, TaskState};
pub use schedulers::{IdleHook, IdleOutcome, Moment, Placement, SchedulerOptions, Schedulers, TaskInfo};
pub use task::wake_all;
pub use wait::{
    charge_cpu, cpu_time_us, current_scheduler, current_task, meter, meter_turn, quantum_over, run_blocking,
    serve_socket, set_command, sleep, spawn, spawn_worker, wait, wait_times, yield_if_due, yield_now,
};
pub use waits::WaitTimes;
pub use wakefulness::CpuIdle;
