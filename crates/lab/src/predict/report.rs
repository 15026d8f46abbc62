//! What a prediction says: tables for people, JSON for programs.

use super::calibration::Calibration;
use super::figures::Figure;
use super::question::{Curve, Interval};
use crate::show::{grouped, right, table};
use comfy_table::Cell;
use serde::Serialize;
use std::fmt::Write;

/// A prediction.
#[derive(Debug, Clone, Serialize)]
pub struct Prediction {
    /// The machine that was asked about.
    pub machine: String,
    /// Its clock in GHz, if it was named.
    pub clock_ghz: Option<f64>,
    /// Machines drawn for each interval.
    pub draws: usize,
    /// The seed.
    pub seed: u64,
    /// Its source.
    pub calibration: Calibration,
    /// The curves.
    pub curves: Vec<Curve>,
    /// The published figures; empty where they were not asked for.
    pub figures: Vec<Figure>,
}

/// A figure with as many digits as it deserves.
fn short(value: f64) -> String {
    match value.abs() {
        size if size >= 100.0 => grouped(value.round() as u64),
        size if size >= 10.0 => format!("{value:.1}"),
        size if size >= 0.1 => format!("{value:.2}"),
        0.0 => "0".to_owned(),
        _ => format!("{value:.4}"),
    }
}

/// From the least to the most.
pub(super) fn interval(interval: &Interval) -> String {
    format!("{} to {}", short(interval.low), short(interval.high))
}

impl Prediction {
    /// The tables.
    pub fn text(&self) -> String {
        let mut text = self.head();
        for curve in &self.curves {
            // Writing to a string cannot fail; so everywhere below.
            let _ = write!(text, "\n{} durability, {}\n{}\n", curve.durability, curve.name(), grid(curve));
        }
        if !self.figures.is_empty() {
            let _ = write!(text, "\n{}\n", self.published());
        }
        text
    }

    fn head(&self) -> String {
        let (calibration, probes) = (&self.calibration, &self.calibration.probes);
        let clock = self.clock_ghz.map_or_else(String::new, |ghz| format!(" at {ghz} GHz"));
        let mut text = format!(
            "{}{clock}, predicted from {} ({} CPUs, {:.1} GHz); intervals over {} draws, seed {}\n",
            self.machine, calibration.processor, calibration.cpus, calibration.clock_ghz, self.draws, self.seed
        );
        let _ = writeln!(
            text,
            "holds of XDESMGR {:.1}, LOGCACHE_ACCESS {:.1}, LOGFLUSHQ {:.1} ns; a cache line {:.0} ns; a durable write {:.0} us",
            probes.id_hold_ns,
            probes.cache_hold_ns,
            probes.queue_hold_ns,
            probes.handoff_ns,
            probes.device.write_ns / 1e3
        );
        for (name, costs) in [("classic", &calibration.classic), ("best", &calibration.best)] {
            let _ = writeln!(
                text,
                "{name}: a row takes {:.0} ns (delayed), {:.1} us (full), {:.0} bytes of log, {:.1} ns beside it for each byte",
                costs.delayed_row_ns,
                costs.full_row_ns / 1e3,
                costs.log_bytes,
                costs.background_byte_ns
            );
        }
        if calibration.other_cpu_percent > 5.0 {
            let _ = writeln!(
                text,
                "other processes used up to {:.0}% of the machine during the calibration: do not quote these figures",
                calibration.other_cpu_percent
            );
        }
        text
    }

    /// The table of published figures, and how many of them are inside.
    fn published(&self) -> String {
        let mut grid = table();
        let heads = ["published", "figure", "constants alone", "inside", "published pace", "inside", "the model"];
        grid.set_header(heads.map(Cell::new));
        let word = |inside: bool| if inside { "yes" } else { "no" };
        for figure in &self.figures {
            grid.add_row([
                Cell::new(figure.what),
                right(figure.published),
                right(figure.shown(&figure.by_constants)),
                Cell::new(word(figure.by_constants_inside)),
                right(figure.shown(&figure.at_pace)),
                Cell::new(figure.at_pace_inside.map_or("fitted", word)),
                Cell::new(figure.note),
            ]);
        }
        format!("{grid}\n{}", self.inside())
    }

    /// How many figures are inside.
    pub fn inside(&self) -> String {
        let alone = self.figures.iter().filter(|figure| figure.by_constants_inside).count();
        let paced = self.figures.iter().filter(|figure| figure.at_pace_inside == Some(true)).count();
        let tested = self.figures.iter().filter(|figure| figure.at_pace_inside.is_some()).count();
        let count = self.figures.len();
        format!(
            "inside the interval: {alone} of {count} by constants alone; at the published pace {paced} of {tested}, one more was fitted"
        )
    }
}

fn grid(curve: &Curve) -> comfy_table::Table {
    let mut grid = table();
    grid.set_header(
        [
            "sessions",
            "rows/s",
            "from",
            "to",
            "bound",
            "collisions a 1,000 rows: XDESMGR, LOGCACHE_ACCESS, LOGFLUSHQ",
            "spinning",
        ]
        .map(Cell::new),
    );
    for point in &curve.points {
        let Interval { low, median, high } = point.rows_per_second;
        grid.add_row([
            right(point.sessions),
            right(grouped(median as u64)),
            right(grouped(low as u64)),
            right(grouped(high as u64)),
            right(grouped(point.bound_rows_per_second as u64)),
            right(point.collisions_per_1000.map(|count| format!("{count:.1}")).join(", ")),
            right(format!("{:.1}%", point.backoff_share * 100.0)),
        ]);
    }
    grid
}

#[cfg(test)]
pub(crate) fn example() -> Prediction {
    let point = |sessions, median: f64| super::question::CurvePoint {
        sessions,
        rows_per_second: Interval { low: median * 0.8, median, high: median * 1.2 },
        bound_rows_per_second: median * 2.0,
        collisions_per_1000: [1.0, 2.0, 0.0],
        backoff_share: 0.25,
    };
    let figure = |inside: Option<bool>| Figure {
        what: "the ratio <of> both",
        published: "2.34",
        range: (2.34, 2.34),
        by_constants: Interval { low: 1.0, median: 1.1, high: 1.2 },
        by_constants_inside: false,
        at_pace: Interval { low: 1.5, median: 2.0, high: 2.5 },
        at_pace_inside: inside,
        note: "a reason",
    };
    Prediction {
        machine: "2x10x2".to_owned(),
        clock_ghz: Some(2.3),
        draws: 2,
        seed: 1,
        calibration: super::calibration::example(),
        curves: vec![Curve {
            policies: "classic",
            mask: "apart",
            durability: "DELAYED",
            points: vec![point(1, 1e5), point(38, 1.234e6)],
        }],
        figures: vec![figure(Some(true)), figure(None)],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_has_the_curve_the_figures_and_the_sum() {
        let text = example().text();
        for phrase in [
            "2x10x2 at 2.3 GHz, predicted from example",
            "DELAYED durability, classic, log writer's core apart",
            "1,234,000",
            "| 1.50 to 2.50    | fitted | a reason",
            "inside the interval: 0 of 2 by constants alone; at the published pace 1 of 1, one more was fitted",
        ] {
            let squeezed = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(squeezed(&text).contains(&squeezed(phrase)), "{phrase}\n{text}");
        }
    }

    #[test]
    fn figures_have_the_digits_that_they_deserve() {
        assert_eq!([1234.5, 12.34, 1.234, 0.0143, 0.0].map(short), ["1,235", "12.3", "1.23", "0.0143", "0"]);
    }
}
