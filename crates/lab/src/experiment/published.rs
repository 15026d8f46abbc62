//! Published figures as points of charts, and the studies that they are from.
//!
//! A point belongs to an arm of a panel and to a metric. Its figure is in the metric's unit, or a part of the first point's where
//! only ratios were published; a chart draws the points of one metric in a scale of their own.

use super::plan::Metric;
use crate::profile::Area;
use crate::stress::PARALLEL_INSERT_ROWS;

/// A published figure of one arm.
#[derive(Debug, Clone, PartialEq)]
pub struct PublishedPoint {
    /// The panel's title; `None`: the experiment's only one.
    pub panel: Option<&'static str>,
    /// The arm's name.
    pub arm: &'static str,
    /// The figure's kind.
    pub metric: Metric,
    /// Its sessions, or the like, in a few letters.
    pub at: &'static str,
    /// The figure.
    pub value: f64,
    /// The figure as published.
    pub label: &'static str,
}

/// A study of the published ones.
#[derive(Debug, Clone, Copy)]
pub struct Study {
    /// Its subject.
    pub title: &'static str,
    /// The machine that it measured.
    pub machine: &'static str,
    /// The numbers of its claims in the table of all claims.
    pub claims: &'static [usize],
    /// The experiments that run it here.
    pub experiments: &'static [&'static str],
}

/// The studies, in the order of their claims.
pub const STUDIES: [Study; 5] = [
    Study {
        title: "Singleton inserts: the log writer's core kept to itself, and trace flags on top of that mask",
        machine: "2 sockets x 10 cores x 2 hyper-threads, 2.3 GHz; before that 2 x 6 cores",
        claims: &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14],
        experiments: &["affinity", "trace-flags", "policies"],
    },
    Study {
        title: "Parallel insert: the latch that the workers of one statement log under, fair and unfair",
        machine: "a laptop of 6 cores x 2 hyper-threads",
        claims: &[15, 16, 17, 18, 19, 20, 21, 22, 23, 24],
        experiments: &["parallel-insert", "serial-parallel", "boost"],
    },
    Study {
        title: "Memory: large pages, and the order in which joins and aggregates touch it",
        machine: "6 cores, 40 GB of memory, a table of 118 GB",
        claims: &[25, 26],
        experiments: &["large-pages"],
    },
    Study {
        title: "One log writer against several, full and delayed durability, SSD and NVMe",
        machine: "not named",
        claims: &[27, 28, 29],
        experiments: &["log-writers"],
    },
    Study {
        title: "The distance of a session from the log writer, an instance for each node, in-memory tables",
        machine: "2 sockets",
        claims: &[30, 31, 32, 33, 34, 35],
        experiments: &["distance", "instances", "in-memory"],
    },
];

fn point(
    panel: Option<&'static str>,
    arm: &'static str,
    metric: Metric,
    at: &'static str,
    value: f64,
    label: &'static str,
) -> PublishedPoint {
    PublishedPoint { panel, arm, metric, at, value, label }
}

/// The published points of an experiment.
pub fn published_points(experiment: &str) -> Vec<PublishedPoint> {
    match experiment {
        "affinity" => affinity(),
        "trace-flags" => vec![
            point(None, "no flag", Metric::Rows, "38", 436_781.0, "436,781"),
            point(None, "8015", Metric::Rows, "36", 500_000.0, "> 500,000"),
        ],
        "distance" => distance(),
        "parallel-insert" => parallel_insert(),
        "large-pages" => vec![
            point(None, "4 KB", Metric::PageLookups, "", 222_220.0, "222,220"),
            point(None, "2 MB, transparent", Metric::PageLookups, "", 263_766.0, "263,766"),
            point(None, "4 KB", Metric::ScanMilliseconds, "", 1.0, "1"),
            point(None, "2 MB, transparent", Metric::ScanMilliseconds, "", 0.72, "- 28%"),
        ],
        _ => Vec::new(),
    }
}

fn affinity() -> Vec<PublishedPoint> {
    let classic = |arm, metric, at, value, label| point(Some("classic policies"), arm, metric, at, value, label);
    let (all, apart) = ("all CPUs", "log writer's core apart");
    vec![
        classic(all, Metric::Rows, "40", 186_915.0, "186,915"),
        classic(apart, Metric::Rows, "38", 436_781.0, "436,781"),
        classic(all, Metric::share(Area::BackOff), "40", 23.89, "23.89%"),
        classic(apart, Metric::share(Area::BackOff), "38", 1.43, "1.43%"),
    ]
}

/// Rates against the other socket; spins of a million inserts.
fn distance() -> Vec<PublishedPoint> {
    let (own, socket, far) = ("the log writer's core", "another core, same socket", "the other socket");
    let spins = || Metric::spins("LOGCACHE_ACCESS");
    vec![
        point(None, own, Metric::Rows, "", 2.0, "x 2"),
        point(None, socket, Metric::Rows, "", 1.55, "x 1.5-1.6"),
        point(None, far, Metric::Rows, "", 1.0, "x 1"),
        point(None, own, spins(), "", 24.192, "24.2"),
        point(None, socket, spins(), "", 1_710.336, "1,710"),
    ]
}

/// 64 Mi rows under the latch, and with trace flag 3933.
fn parallel_insert() -> Vec<PublishedPoint> {
    let (fair, unfair) = ("fair latch", "fair latch, 3933");
    let rows = PARALLEL_INSERT_ROWS as f64;
    let latch = || Metric::WaitCount("LATCH_EX".to_owned());
    let spins = || Metric::spins("LATCH_SPIN_STATS");
    vec![
        point(None, fair, Metric::Rows, "5.5 s", rows / 5.5, "12.2 M"),
        point(None, unfair, Metric::Rows, "4.5 s", rows / 4.5, "14.9 M"),
        point(None, fair, latch(), "", 271_458.0 * 1e3 / rows, "4.05"),
        point(None, unfair, latch(), "", 56.0 * 1e3 / rows, "0.0008"),
        point(None, fair, spins(), "", 0.0, "0"),
        point(None, unfair, spins(), "", 221_891_800.0 * 1e3 / rows, "3,306"),
    ]
}

#[cfg(test)]
mod tests {
    use super::super::{EXPERIMENTS, Machine, PUBLISHED_CLAIMS};
    use super::*;
    use pikepole_embedded::SystemFiles;
    use pikepole_machine::Shape;

    #[test]
    fn points_belong_to_arms_and_charts_of_the_published_machine() {
        let machine = Machine::read(&SystemFiles::of_shape(&Shape::new(2, 1, 10, 2))).expect("a machine");
        for experiment in EXPERIMENTS {
            let plan = (experiment.plan)(&machine);
            for point in published_points(experiment.name) {
                let panels = plan.panels.iter().filter(|panel| point.panel.is_none_or(|title| panel.title == title));
                let fits = |panel: &&super::super::Panel| {
                    panel.arms.iter().any(|arm| arm.name == point.arm) && panel.charts.contains(&point.metric)
                };
                assert!(panels.clone().any(|panel| fits(&panel)), "{}: {point:?}", experiment.name);
            }
        }
    }

    #[test]
    fn labels_say_the_figures() {
        for name in ["affinity", "trace-flags", "parallel-insert", "large-pages", "distance"] {
            for point in published_points(name) {
                let digits: String = point.label.chars().filter(|c| c.is_ascii_digit() || *c == '.').collect();
                let Ok(said) = digits.parse::<f64>() else { continue };
                let value = if point.label.ends_with('M') { point.value / 1e6 } else { point.value };
                let is_part = point.label == "- 28%" && point.value == 0.72;
                assert!(is_part || (said - value).abs() <= 0.01 * value.abs().max(0.01), "{point:?}");
            }
        }
    }

    #[test]
    fn every_claim_is_of_one_study_and_every_study_is_run() {
        let mut claims: Vec<usize> = STUDIES.iter().flat_map(|study| study.claims.iter().copied()).collect();
        claims.sort_unstable();
        assert_eq!(claims, (1..=PUBLISHED_CLAIMS.len()).collect::<Vec<_>>());
        for name in STUDIES.iter().flat_map(|study| study.experiments) {
            assert!(EXPERIMENTS.iter().any(|experiment| experiment.name == *name), "{name}");
        }
    }
}
