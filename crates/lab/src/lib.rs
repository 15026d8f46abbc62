//! The lab: the load driver and, on top of it, experiments and their reports.
//!
//! The lab sees the engine only as a user does: through the embedded API, T-SQL and the management views. What it reports can
//! therefore be checked by hand with the same statements.

mod load;
pub mod stress;
