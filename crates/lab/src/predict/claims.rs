//! The predictor's answer to published claims: an interval for each of their figures, and a verdict from it.
//!
//! A claim is *predicted* when the published figure is inside the interval of each of its figures, and *predicted otherwise* when it
//! is not. The intervals are those at the published pace; the one figure that the pace is fitted to has the one by constants alone.

use super::calibration::Calibration;
use super::figures::{Figure, figures};
use super::layout::Mask;
use super::question::{Interval, Question, Target, answer};
use super::report::interval;
use crate::stress::{Durability, PolicySet};
use pikepole_machine::{Shape, SystemFiles, Topology};

/// The machine of the published figures.
pub const PUBLISHED_SHAPE: &str = "2x10x2";
/// Its clock.
pub const PUBLISHED_GHZ: f64 = 2.3;
/// One of its two nodes.
const PUBLISHED_NODE: &str = "1x10x2";

/// The figure of two instances, which the table of figures does not have.
const INSTANCES: &str = "two instances, one a node, against one on both";

/// The figures of each published claim that has some, by the claim's number.
const CLAIMS: [(usize, &[&str]); 13] = [
    (1, &["inserts/s, 40 threads, default mask"]),
    (2, &["inserts/s, 38 threads, log writer's core apart"]),
    (3, &["back-off of CPU, default mask", "back-off of CPU, core apart"]),
    (4, &["log written, core apart against default mask"]),
    (5, &["LOGCACHE_ACCESS spins a row, core apart against default mask"]),
    (6, &["XDESMGR spins a row, core apart against default mask"]),
    (8, &["inserts/s, 36 threads, 8015: one log writer"]),
    (
        11,
        &[
            "inserts/s, 40 threads, default mask",
            "inserts/s, 38 threads, log writer's core apart",
            "inserts/s, 36 threads, 8015: one log writer",
        ],
    ),
    (27, &["full durability, 4 log writers against 1"]),
    (28, &["delayed durability, 4 log writers against 1"]),
    (
        30,
        &[
            "1 session, full: log writer's core against the other socket",
            "1 session, full: the same socket against the other one",
        ],
    ),
    (
        31,
        &[
            "LOGCACHE_ACCESS spins of a million inserts, log writer's core",
            "LOGCACHE_ACCESS spins of a million inserts, the same socket",
        ],
    ),
    (32, &[INSTANCES]),
];

/// Claims of experiments whose figure is another one than that of the published claim they answer.
const OF_EXPERIMENTS: [(&str, &str, &[&str]); 3] = [
    ("affinity", "Inserts a second rise with the log writer's core out of the mask", &["the ratio of both"]),
    (
        "distance",
        "It makes twice as many as on the other socket",
        &["1 session, full: log writer's core against the other socket"],
    ),
    ("log-writers", "Several writers help full durability on this disk", &["full durability, 4 log writers against 1"]),
];

/// A figure of a claim: as published, and as predicted.
#[derive(Debug, Clone, PartialEq)]
struct Part {
    what: &'static str,
    published: &'static str,
    /// The interval in the unit of the published figure.
    shown: String,
    is_inside: bool,
}

/// The predictor's answer to a claim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The published figures are inside the intervals.
    pub is_inside: bool,
    /// The intervals, and the published figures.
    pub words: String,
    /// The intervals alone.
    pub intervals: String,
}

/// All that the predictor says about the published claims.
#[derive(Debug, Clone, PartialEq)]
pub struct ClaimPredictions {
    parts: Vec<Part>,
    /// The machine that the constants are from, and how the intervals were made.
    pub source: String,
}

/// The published machine, or a part of it.
fn published_machine(shape: &str) -> Option<Target> {
    let topology = Topology::of(&SystemFiles::of_shape(&Shape::parse(shape)?)).ok()?;
    let usable = topology.cpus.iter().map(|cpu| cpu.id).collect();
    let clock_ghz = Some(PUBLISHED_GHZ);
    Some(Target { name: shape.to_owned(), topology, usable, is_here: false, clock_ghz, device: None })
}

/// The rate of two instances on a node each against that of one on both, for each of the drawn machines.
fn instances(calibration: &Calibration, draws: usize, seed: u64) -> Option<Interval> {
    let (both, node) = (published_machine(PUBLISHED_SHAPE)?, published_machine(PUBLISHED_NODE)?);
    let rate = |target: &Target, seed: u64| {
        let question = Question {
            sessions: vec![target.usable.len()],
            sets: vec![PolicySet::Classic],
            masks: vec![Mask::Default],
            durabilities: vec![Durability::Delayed],
            draws: 1,
            seed,
        };
        let curves = answer(calibration, target, &question, |_| {});
        Some(curves.first()?.points.first()?.rows_per_second.median)
    };
    let ratio = |draw: usize| {
        let seed = seed.wrapping_add(draw as u64);
        Some(2.0 * rate(&node, seed)? / rate(&both, seed)?)
    };
    Some(Interval::of(&(0..draws.max(1)).map(ratio).collect::<Option<Vec<f64>>>()?))
}

impl ClaimPredictions {
    /// Predicts them from this machine's constants: the same seed and calibration give the same answers.
    pub fn of(calibration: &Calibration, draws: usize, seed: u64) -> Self {
        let mut parts = Vec::new();
        if let Some(target) = published_machine(PUBLISHED_SHAPE) {
            parts.extend(figures(calibration, &target, draws, seed).iter().map(part));
        }
        if let Some(ratio) = instances(calibration, draws, seed) {
            let (shown, is_inside) = (format!("x {}", interval(&ratio)), ratio.high > 1.0);
            parts.push(Part { what: INSTANCES, published: "faster", shown, is_inside });
        }
        let source = format!(
            "{PUBLISHED_SHAPE} at {PUBLISHED_GHZ} GHz, predicted from {} ({} CPUs, {:.1} GHz), intervals over {draws} draws, seed {seed}",
            calibration.processor, calibration.cpus, calibration.clock_ghz
        );
        Self { parts, source }
    }

    /// The answer to the published claim of this number; `None` for one that the model does not have.
    pub fn of_number(&self, number: usize) -> Option<Answer> {
        let (_, figures) = CLAIMS.iter().find(|(claim, _)| *claim == number)?;
        self.answer(figures)
    }

    /// The answer to a claim of an experiment, which judges the published claims of these numbers.
    pub fn of_experiment(&self, experiment: &str, text: &str, numbers: &[usize]) -> Option<Answer> {
        let own = OF_EXPERIMENTS.iter().find(|(name, claim, _)| *name == experiment && *claim == text);
        match own {
            Some((_, _, figures)) => self.answer(figures),
            None => numbers.iter().find_map(|number| self.of_number(*number)),
        }
    }

    fn answer(&self, figures: &[&str]) -> Option<Answer> {
        let parts: Option<Vec<&Part>> =
            figures.iter().map(|name| self.parts.iter().find(|part| part.what == *name)).collect();
        let parts = parts?;
        let said = |part: &&Part| {
            let inside = if part.is_inside { "inside" } else { "outside" };
            format!("{}: {} (published: {}, {inside})", part.what, part.shown, part.published)
        };
        let joined = |words: Vec<String>| words.join("; ");
        Some(Answer {
            is_inside: parts.iter().all(|part| part.is_inside),
            words: joined(parts.iter().map(said).collect()),
            intervals: joined(parts.iter().map(|part| part.shown.clone()).collect()),
        })
    }
}

fn part(figure: &Figure) -> Part {
    let (found, is_inside) = match figure.at_pace_inside {
        Some(inside) => (&figure.at_pace, inside),
        None => (&figure.by_constants, figure.by_constants_inside),
    };
    Part { what: figure.what, published: figure.published, shown: figure.shown(found), is_inside }
}

#[cfg(test)]
pub(crate) fn example(inside: bool) -> ClaimPredictions {
    let names =
        CLAIMS.iter().flat_map(|(_, names)| *names).chain(OF_EXPERIMENTS.iter().flat_map(|(_, _, names)| *names));
    let part =
        |what: &&'static str| Part { what, published: "2.34", shown: "1.50 to 2.50".to_owned(), is_inside: inside };
    ClaimPredictions { parts: names.map(part).collect(), source: "an example".to_owned() }
}

#[cfg(test)]
mod tests {
    use super::super::calibration::example as calibration;
    use super::*;

    #[test]
    fn every_figure_of_a_claim_is_predicted_and_both_answers_come_out() {
        let found = ClaimPredictions::of(&calibration(), 1, 3);
        assert_eq!(found, ClaimPredictions::of(&calibration(), 1, 3), "the same seed, the same answer");
        let answers: Vec<Answer> =
            CLAIMS.iter().map(|(number, _)| found.of_number(*number).expect("an answer")).collect();
        assert!(answers.iter().any(|answer| answer.is_inside), "{answers:?}");
        assert!(answers.iter().any(|answer| !answer.is_inside), "{answers:?}");
        for (experiment, text, _) in OF_EXPERIMENTS {
            assert!(found.of_experiment(experiment, text, &[]).is_some(), "{text}");
        }
        assert_eq!((found.of_number(15), found.of_experiment("policies", "?", &[])), (None, None));
    }

    #[test]
    fn the_answer_is_the_calibration_s_and_no_constant() {
        let slow = Calibration { clock_ghz: 26.0, ..calibration() };
        let (here, there) = (ClaimPredictions::of(&calibration(), 1, 3), ClaimPredictions::of(&slow, 1, 3));
        let by_constants = |found: &ClaimPredictions| found.of_number(2).expect("an answer").intervals;
        assert_ne!(by_constants(&here), by_constants(&there), "a slower machine has another rate");
    }

    #[test]
    fn one_figure_outside_is_predicted_otherwise() {
        let mut found = example(true);
        assert!(found.of_number(3).is_some_and(|answer| answer.is_inside));
        let last = found.parts.iter_mut().find(|part| part.what == "back-off of CPU, core apart").expect("a figure");
        last.is_inside = false;
        let answer = found.of_number(3).expect("an answer");
        assert!(
            !answer.is_inside && answer.words.contains("core apart: 1.50 to 2.50 (published: 2.34, outside)"),
            "{answer:?}"
        );
        assert_eq!(answer.intervals, "1.50 to 2.50; 1.50 to 2.50");
    }
}
