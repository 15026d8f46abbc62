//! The lab: the load driver, the log's bench, probes of the machine and, on top of them, experiments and their pages.
//!
//! The load driver and the experiments see the engine only as a user does: through the embedded API, T-SQL and the
//! management views. What they report can therefore be checked by hand with the same statements. The log's bench uses the
//! log alone, as any other program can.

pub mod experiment;
mod load;
pub mod log_bench;
pub mod page;
pub mod predict;
pub mod probe;
pub mod profile;
mod progress;
mod show;
pub mod stress;
pub mod topology;
