//! A discrete-event model of the way from an insert to the disk.
//!
//! ```text
//!   sessions on schedulers          spinlocks                       log                    log writers, device
//!   ┌────────────────────┐   ┌──────────┐ ┌─────────────────┐   ┌────────────┐   ┌───────────┐   ┌────────┐
//!   │ one runs, others   ├──>│ XDESMGR  ├>│ LOGCACHE_ACCESS ├──>│ ring, full:│──>│ LOGFLUSHQ ├──>│ writes │
//!   │ wait their turn    │   └──────────┘ └─────────────────┘   │ appends    │   └───────────┘   └───┬────┘
//!   └─────────▲──────────┘                                      │ stop       │                       │
//!             └─────────── next insert, or the commit is durable└────────────┘<──────────────────────┘
//! ```
//!
//! | part | rule |
//! |---|---|
//! | scheduler | cooperative: a session runs until it waits, or at the end of an insert when its quantum is over and others are ready |
//! | spinlock | hold + hand-off of the lock's line and of the lines under it from the last holder's CPU + growth for each spinner |
//! | spinner | looks between pauses that double up to 64; after 256 looks it backs off: yields 8 times, then sleeps (`contention::spinlock`) |
//! | log writer | takes up to a block out of the ring, waits for the device, ends the waits. On a CPU that a scheduler keeps busy it first waits for the rest of a time slice, and its burst then delays the session there, whatever that holds |
//! | ring | appends stop while it is full |
//! | device | transfers queue behind each other, latencies overlap |
//! | CPU | slower while its hyper-thread, or all others, work |
//!
//! The network is closed: a session begins its next insert when the last one is done. The same scenario gives the same
//! outcome, to the last bit.

mod locks;
mod random;
mod scenario;
mod sessions;
mod simulation;
mod writers;

pub(crate) use random::Random;
pub use scenario::{CommitBy, Constants, CpuPlace, DeviceTimes, Handoff, Ids, Layout, Places, Policies, Scenario};
pub use simulation::{LockOutcome, Outcome};

/// Simulates a run.
pub fn simulate(scenario: &Scenario) -> Outcome {
    simulation::Simulation::new(scenario).run()
}

#[cfg(test)]
#[path = "model_tests.rs"]
mod tests;
