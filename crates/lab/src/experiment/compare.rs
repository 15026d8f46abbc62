//! Two outcomes of one experiment side by side: two machines, two versions, two days.

use super::judge::{Difference, difference, figure};
use super::record::Outcome;
use super::{ExperimentError, Metric, Spread};
use crate::show::{right, table};
use comfy_table::Cell;

/// The rates of A and B for each panel, arm and number of sessions that both have, and what may be concluded.
///
/// # Errors
/// When they are outcomes of different experiments, or have no run in common.
pub fn compare(a: &Outcome, b: &Outcome) -> Result<String, ExperimentError> {
    if a.experiment != b.experiment {
        let text =
            format!("A is an outcome of {}, B of {}: they answer different questions", a.experiment, b.experiment);
        return Err(ExperimentError::Usage(text));
    }
    let mut rows = table();
    rows.set_header(["panel", "arm", "sessions", "A rows/s", "B rows/s", "B against A", ""].map(Cell::new));
    let mut count = 0;
    for panel in &a.panels {
        let Some(other) = b.panels.iter().find(|other| other.title == panel.title) else { continue };
        for (place, arm) in panel.arms.iter().enumerate() {
            let Some(there) = other.arms.iter().position(|other| other == arm) else { continue };
            for &sessions in &panel.sessions {
                let of_a = panel.spread(place, sessions, &Metric::Rows);
                let of_b = other.spread(there, sessions, &Metric::Rows);
                let (Some(of_a), Some(of_b)) = (of_a, of_b) else { continue };
                let twins = [panel, other].map(|panel| panel.twin_difference(sessions, &Metric::Rows));
                let said = match difference(&of_a, &of_b, twins[0].max(twins[1])) {
                    Difference::Higher => "B is faster",
                    Difference::Lower => "B is slower",
                    Difference::None => "equal",
                    Difference::Unknown => "no conclusion: noise",
                };
                rows.add_row([
                    Cell::new(&panel.title),
                    Cell::new(&arm.name),
                    right(sessions),
                    right(shown(&of_a)),
                    right(shown(&of_b)),
                    right(format!("x {:.2}", of_b.median / of_a.median.max(f64::MIN_POSITIVE))),
                    Cell::new(said),
                ]);
                count += 1;
            }
        }
    }
    if count == 0 {
        return Err(ExperimentError::Usage("the two outcomes have no run in common".to_owned()));
    }
    let line = |name: &str, outcome: &Outcome| {
        let environment = &outcome.environment;
        format!("{name}: {}; {}; {}", environment.version, environment.processor, environment.machine)
    };
    Ok(format!("{}\n{}\n\n{rows}", line("A", a), line("B", b)))
}

fn shown(spread: &Spread) -> String {
    format!("{} ({})", figure(spread.median), spread.noise_words())
}
