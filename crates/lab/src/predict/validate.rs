//! The self-check: calibrated with one CPU, the model predicts more of them here; then the engine runs there.

use super::calibration::{
    Calibration, Kind, Measured, Method, PredictError, here, measure, median, own_layout, quickest,
};
use super::layout::Mask;
use super::model::{Outcome, Scenario, simulate};
use crate::show::{grouped, right, table};
use crate::stress::{Durability, PolicySet};
use comfy_table::Cell;
use serde::Serialize;

/// Collisions for a thousand rows below which two figures are alike.
const COLLISIONS_MIN: f64 = 1.0;
/// Simulated rows for each CPU.
const ROWS_A_CPU: u64 = 60_000;

/// Predicted beside measured, for one number of CPUs and sessions, policies and durability.
#[derive(Debug, Clone, Serialize)]
pub struct ValidationRow {
    /// CPUs with a scheduler.
    pub cpus: usize,
    /// Sessions.
    pub sessions: usize,
    /// The set of policies.
    pub policies: &'static str,
    /// FULL or DELAYED.
    pub durability: &'static str,
    /// The measured figures.
    pub measured: Measured,
    /// Predicted rows a second.
    pub predicted_rows_per_second: f64,
    /// Predicted collisions of XDESMGR, LOGCACHE_ACCESS and LOGFLUSHQ for a thousand rows.
    pub predicted_collisions_per_1000: [f64; 3],
    /// How far the rate is from the measured one, as a part of that.
    pub rate_error: f64,
    /// The same of the collisions of each lock that has at least one for a thousand rows, predicted or measured.
    pub collision_errors: [Option<f64>; 3],
}

/// The self-check's outcome.
#[derive(Debug, Clone, Serialize)]
pub struct Validation {
    /// Its calibration.
    pub calibration: Calibration,
    /// One for each kind of run.
    pub rows: Vec<ValidationRow>,
    /// The median of the rates' errors.
    pub rate_error_median: f64,
    /// The median of the collisions' errors; `None` without a collision.
    pub collision_error_median: Option<f64>,
    /// The most that others used of the machine meanwhile, in percent.
    pub other_cpu_percent: f64,
}

/// The part by which `predicted` is off.
fn error(predicted: f64, measured: f64) -> f64 {
    (predicted - measured).abs() / measured.abs().max(1e-9)
}

/// Calibrates with one CPU, predicts 2, 4, 8 ... CPUs of this machine, and runs the engine on them; all runs take turns.
///
/// # Errors
/// [`PredictError`]; also where the process has one CPU only.
pub fn validate(method: &Method, mut tell: impl FnMut(&str)) -> Result<Validation, PredictError> {
    let (topology, usable) = here()?;
    let counts = std::iter::successors(Some(2), |count| Some(count * 2)).take_while(|count| *count <= usable.len());
    let further: Vec<(usize, Vec<usize>)> = counts.map(|cpus| (cpus, vec![cpus, 4 * cpus])).collect();
    if further.is_empty() {
        let why =
            std::io::Error::other("this process may use one CPU only: there is nothing to predict and to measure");
        return Err(PredictError::Machine("--validate", why));
    }
    let (calibration, kinds) = measure(method, &further, &mut tell)?;
    let predicted = |kind: &Kind| {
        let mut layout = own_layout(&topology, &usable[..kind.cpus], kind.set, Mask::Default);
        // CPUs without a scheduler take log writers.
        layout.cpus.extend(own_layout(&topology, &usable[kind.cpus..], kind.set, Mask::Default).cpus);
        let full_durability = kind.durability == Durability::Full;
        let outcome = simulate(&Scenario {
            layout,
            constants: calibration.constants(kind.set),
            policies: Calibration::policies(kind.set),
            full_durability,
            sessions: kind.sessions,
            rows: if full_durability { ROWS_A_CPU / 10 } else { ROWS_A_CPU } * kind.cpus as u64,
            spread: 0.3,
            seed: 1,
        });
        row(kind.cpus, kind.sessions, kind.set, kind.durability, quickest(&kind.runs), &outcome)
    };
    let rows = kinds.iter().map(predicted).collect();
    Ok(summed(&calibration, rows))
}

fn row(
    cpus: usize,
    sessions: usize,
    set: PolicySet,
    durability: Durability,
    measured: Measured,
    outcome: &Outcome,
) -> ValidationRow {
    let predicted = outcome.collisions_per_1000();
    let collision = |lock: usize| {
        let (predicted, measured) = (predicted[lock], measured.collisions_per_1000[lock]);
        // One that is not there is as far off as the other one is large.
        (predicted.max(measured) >= COLLISIONS_MIN).then(|| error(predicted, measured.max(COLLISIONS_MIN)))
    };
    ValidationRow {
        cpus,
        sessions,
        policies: set.name(),
        durability: durability.name(),
        measured,
        predicted_rows_per_second: outcome.rows_per_second,
        predicted_collisions_per_1000: predicted,
        rate_error: error(outcome.rows_per_second, measured.rows_per_second),
        collision_errors: [0, 1, 2].map(collision),
    }
}

fn summed(calibration: &Calibration, rows: Vec<ValidationRow>) -> Validation {
    let collisions: Vec<f64> = rows.iter().flat_map(|row| row.collision_errors).flatten().collect();
    let others = rows.iter().map(|row| row.measured.other_cpu_percent);
    Validation {
        calibration: calibration.clone(),
        rate_error_median: median(rows.iter().map(|row| row.rate_error)),
        collision_error_median: (!collisions.is_empty()).then(|| median(collisions)),
        other_cpu_percent: others.fold(calibration.other_cpu_percent, f64::max),
        rows,
    }
}

impl Validation {
    /// The table, and the medians.
    pub fn text(&self) -> String {
        let mut grid = table();
        grid.set_header(
            [
                "CPUs",
                "sessions",
                "policies",
                "durability",
                "rows/s",
                "predicted",
                "off",
                "collisions a 1,000 rows: XDESMGR, LOGCACHE_ACCESS, LOGFLUSHQ",
                "predicted",
                "off",
            ]
            .map(Cell::new),
        );
        let three = |figures: [f64; 3]| figures.map(|figure| format!("{figure:.1}")).join(", ");
        let percent = |part: f64| format!("{:.0}%", part * 100.0);
        for row in &self.rows {
            let errors = row.collision_errors.map(|error| error.map_or("-".to_owned(), percent)).join(", ");
            grid.add_row([
                right(row.cpus),
                right(row.sessions),
                Cell::new(row.policies),
                Cell::new(row.durability),
                right(grouped(row.measured.rows_per_second as u64)),
                right(grouped(row.predicted_rows_per_second as u64)),
                right(percent(row.rate_error)),
                right(three(row.measured.collisions_per_1000)),
                right(three(row.predicted_collisions_per_1000)),
                right(errors),
            ]);
        }
        let collisions = self
            .collision_error_median
            .map_or("no collisions".to_owned(), |error| format!("median error of collisions {}", percent(error)));
        let noise = match self.other_cpu_percent {
            percent if percent > 5.0 => {
                format!("\nother processes used up to {percent:.0}% of the machine: do not quote these figures")
            }
            _ => String::new(),
        };
        format!("{grid}\nmedian error of rates {}; {collisions}{noise}", percent(self.rate_error_median))
    }
}

#[cfg(test)]
mod tests {
    use super::super::calibration::example;
    use super::*;

    #[test]
    fn errors_are_parts_of_what_was_measured_and_small_counts_are_alike() {
        let measured =
            Measured { rows_per_second: 100.0, collisions_per_1000: [10.0, 0.2, 0.0], ..Measured::default() };
        let mut outcome = Outcome { rows: 1000, rows_per_second: 110.0, ..Outcome::default() };
        outcome.ids.collisions = 8;
        outcome.queue.collisions = 3;
        let row = row(2, 2, PolicySet::Classic, Durability::Delayed, measured, &outcome);
        assert!((row.rate_error - 0.1).abs() < 1e-9);
        assert_eq!(
            row.collision_errors.map(|error| error.map(|error| (error * 100.0).round())),
            [Some(20.0), None, Some(200.0)]
        );
        let validation = summed(&example(), vec![row]);
        let text = validation.text();
        assert!(text.ends_with("median error of rates 10%; median error of collisions 110%"), "{text}");
    }
}
