//! Experiments: a question, the published figures, and runs of A and B in turn that answer it for this machine.
//!
//! ```text
//!   Experiment --plan(machine)--> Plan: panels of arms, claims --run--> Outcome --judge--> a verdict on each claim
//!                                                                         |
//!                                                       JSON, HTML page, text, and back in for `compare`
//! ```
//! - A *panel* is one workload at one durability on one device, over a sweep of sessions. Its *arms* differ in settings.
//! - Arms alternate within a repeat, and every second repeat goes through them backwards, so that a drift meets all alike.
//! - Every run has a fresh server, is warmed up, and counts its rows afterwards.
//! - A *claim* is a published shape: B above A, or below, or about as much. It is judged on medians, and only where the
//!   difference is larger than the spread of the repeats; otherwise the verdict is that nothing can be said.
//! - A *question* (`pressure`) is about two arms and all points where sessions take turns: which of them is pressed harder.
//! - The engine is seen only through the embedded API, T-SQL and the views.

mod boost;
mod catalog;
mod claims;
mod compare;
mod environment;
mod in_memory;
mod instances;
mod judge;
mod large_pages;
mod parallel_insert;
mod plan;
mod predicted;
mod pressure;
mod published;
mod record;
mod run;
mod serial_parallel;

pub use catalog::{EXPERIMENTS, find};
pub use claims::{Here, PUBLISHED_CLAIMS, PublishedClaim, claims_table};
pub use compare::compare;
pub(crate) use judge::figure;
pub use judge::{Spread, Verdict};
pub use plan::{Arm, Claim, Expect, Experiment, Machine, Metric, Panel, Plan, TABLE_BYTES};
pub use predicted::{predict_outcome, predicted_verdict, prediction_words};
pub use pressure::Pressure;
pub use published::{PublishedPoint, STUDIES, Study, published_points};
pub use record::{
    ArmRecord, Cell, ClaimRecord, Environment, Outcome, PanelRecord, PredictionRecord, RunRecord, Settings,
};
#[cfg(test)]
pub(crate) use run::panel_records;
pub use run::{Options, run};

use crate::stress::StressError;

/// Why an experiment ended without an outcome.
#[derive(Debug, thiserror::Error)]
pub enum ExperimentError {
    /// A run failed.
    #[error("{experiment}, {arm}: {error}")]
    Run {
        /// The experiment.
        experiment: &'static str,
        /// The arm.
        arm: String,
        /// What happened.
        error: StressError,
    },
    /// A file could not be read or written.
    #[error("{path}: {why}")]
    File {
        /// The file.
        path: String,
        /// What the system said, or what is wrong with its content.
        why: String,
    },
    /// The machine could not be read.
    #[error("the machine: {0}")]
    Machine(std::io::Error),
    /// The question makes no sense.
    #[error("{0}")]
    Usage(String),
}
