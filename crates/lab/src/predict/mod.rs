//! `lab predict`: what other machines would do, by a model of the logging path and the constants that this machine measures.
//!
//! ```text
//!   probes, runs of one session ──> calibration ──> constants ─┐
//!   sockets x cores x threads, mask ──> layout ────────────────┼──> model ──> curves, published figures ──> report, page
//!   what is not known of the machine: drawn from ranges ───────┘      └────> self-check on this machine's CPUs
//! ```

mod calibration;
mod claims;
mod figures;
mod layout;
pub mod model;
mod probes;
mod question;
mod report;
mod validate;

pub use calibration::{Calibration, Measured, Method, PredictError, SetCosts, calibrate};
#[cfg(test)]
pub(crate) use claims::example as example_predictions;
pub use claims::{Answer, ClaimPredictions};
pub use figures::{Figure, POINTS, figures};
pub use layout::Mask;
pub use probes::Probes;
pub use question::{Curve, CurvePoint, Interval, Question, Target, answer};
pub use report::Prediction;
#[cfg(test)]
pub(crate) use report::example;
pub use validate::{Validation, ValidationRow, validate};
