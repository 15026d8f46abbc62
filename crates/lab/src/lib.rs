//! The lab: the load driver, the log's bench and, on top of them, experiments and their reports.
//!
//! The load driver sees the engine only as a user does: through the embedded API, T-SQL and the management views. What it
//! reports can therefore be checked by hand with the same statements. The log's bench uses the log alone, as any other
//! program can.

mod load;
pub mod log_bench;
mod show;
pub mod stress;
