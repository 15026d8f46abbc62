//! One panel of a page: its charts with the published points beside ours, its figures, profiles and settings.

use super::glossary::Glossary;
use super::svg::{self, Beside, Line, Trace};
use super::{escape, figure, profiles, tables};
use crate::experiment::{ArmRecord, Metric, PanelRecord, PublishedPoint, RunRecord, Spread};
use crate::show::counted;
use crate::stress::SPINLOCKS;
use std::fmt::Write;

/// The part of a page that shows a panel.
pub(super) fn part(body: &mut String, panel: &PanelRecord, published: &[PublishedPoint], words: &mut Glossary) {
    let device = if panel.device.is_empty() { String::new() } else { format!(", {}", panel.device) };
    // Writing to a string cannot fail; so everywhere below.
    let _ = write!(
        body,
        "<h2>{}</h2><p class='meta'>workload {}, {} durability{}</p><div class='card'>{}<div class='charts'>",
        escape(&panel.title),
        escape(&panel.workload),
        escape(&panel.durability),
        escape(&device),
        legend(panel)
    );
    let mut empty = Vec::new();
    for metric in metrics(panel) {
        let points = published_of(panel, published, &metric);
        if points.is_empty() && is_zero(panel, &metric) {
            empty.push(metric.title());
        } else {
            chart(body, panel, &metric, &points, words);
        }
    }
    body.push_str("</div>");
    if !empty.is_empty() && !panel.cells.is_empty() {
        let _ = write!(body, "<p class='meta'>0 in every run: {}.</p>", words.linked(&empty.join("; ")));
    }
    series(body, panel);
    let _ = write!(body, "<div class='wide'>{}</div>", tables::figures(panel));
    profiles::part(body, panel);
    let _ = write!(body, "<details><summary>Settings of the arms</summary>{}</details>", tables::arms(panel));
    let _ = write!(
        body,
        "<details><summary>Waits, latches and spinlocks</summary><div class='wide'>{}</div></details>",
        tables::statistics(panel)
    );
    let tsql = panel.tsql.join("\nGO\n");
    let _ = write!(body, "<details><summary>T-SQL</summary><pre>{}</pre></details></div>", escape(&tsql));
}

/// The metrics that are drawn: the panel's own metrics, and the back-offs of all three spinlocks of the way. Shares of samples need a profile.
fn metrics(panel: &PanelRecord) -> Vec<Metric> {
    let back_offs = SPINLOCKS.map(|name| Metric::BackOffs(name.to_owned()));
    let mut metrics: Vec<Metric> = panel.charted().cloned().collect();
    metrics.extend(back_offs.into_iter().filter(|metric| !panel.charts.contains(metric)));
    metrics
}

fn is_zero(panel: &PanelRecord, metric: &Metric) -> bool {
    panel.cells.iter().flat_map(|cell| &cell.runs).all(|run| metric.of(run) == 0.0)
}

/// A published point with the place of its arm.
type Placed<'a> = (usize, &'a PublishedPoint);

fn published_of<'a>(panel: &PanelRecord, published: &'a [PublishedPoint], metric: &Metric) -> Vec<Placed<'a>> {
    let place = |point: &'a PublishedPoint| {
        let is_here = point.metric == *metric && point.panel.is_none_or(|title| title == panel.title);
        let arm = panel.arms.iter().position(|arm| arm.name == point.arm);
        arm.filter(|_| is_here).map(|arm| (arm, point))
    };
    published.iter().filter_map(place).collect()
}

fn chart(body: &mut String, panel: &PanelRecord, metric: &Metric, points: &[Placed<'_>], words: &mut Glossary) {
    let line = |(place, arm): (usize, &'_ ArmRecord)| {
        let figures: Vec<Option<Spread>> =
            panel.sessions.iter().map(|sessions| panel.spread(place, *sessions, metric)).collect();
        (place, arm.name.clone(), figures)
    };
    let lines: Vec<_> = panel.arms.iter().enumerate().map(line).collect();
    let lines: Vec<_> =
        lines.iter().map(|(place, name, figures)| Line { place: *place, name, figures: figures.clone() }).collect();
    let beside =
        |(place, point): &Placed<'_>| Beside { place: *place, value: point.value, label: point.label, at: point.at };
    let beside: Vec<Beside<'_>> = points.iter().map(beside).collect();
    let title = metric.title();
    let drawn = svg::with_published(&title, &panel.sessions, &lines, &beside);
    let said = comparison(panel, metric, points)
        .map_or_else(String::new, |said| format!("<p class='meta'>{}</p>", escape(&said)));
    let _ = write!(body, "<figure><figcaption>{}</figcaption>{drawn}{said}</figure>", words.linked(&title));
}

/// The step from the first published arm to the second one, here and as published.
fn comparison(panel: &PanelRecord, metric: &Metric, points: &[Placed<'_>]) -> Option<String> {
    let [(from, first), (to, second), ..] = points else { return None };
    let of = |sessions: &usize| {
        let both = (panel.spread(*from, *sessions, metric)?.median, panel.spread(*to, *sessions, metric)?.median);
        Some((*sessions, both.0, both.1))
    };
    let (sessions, one, other) = panel.sessions.iter().rev().find_map(of)?;
    let ratio = |from: f64, to: f64| match to / from {
        _ if from == 0.0 && to == 0.0 => "0 in both".to_owned(),
        ratio if !ratio.is_finite() => {
            format!("from {} to {}", crate::experiment::figure(from), crate::experiment::figure(to))
        }
        ratio if ratio < 0.01 => "less than x 0.01".to_owned(),
        ratio if ratio >= 100.0 => format!("x {}", crate::experiment::figure(ratio)),
        ratio => format!("x {ratio:.2}"),
    };
    Some(format!(
        "From {} to {}: {} here with {}, {} as published.",
        first.arm,
        second.arm,
        ratio(one, other),
        counted(sessions, "session"),
        ratio(first.value, second.value)
    ))
}

fn legend(panel: &PanelRecord) -> String {
    let entry = |(place, arm): (usize, &ArmRecord)| {
        format!("<span><svg viewBox='-7 -7 14 14'>{}</svg>{}</span>", svg::mark(place, 0.0, 0.0), escape(&arm.name))
    };
    format!("<div class='legend'>{}</div>", panel.arms.iter().enumerate().map(entry).collect::<String>())
}

/// A figure between two samples of a run, by the time between them.
type Rate = fn(&crate::stress::Sample, &crate::stress::Sample, f64) -> f64;

/// The metrics that are drawn over time.
const SERIES: [(&str, Rate); 4] = [
    ("rows a second, over time", |from, to, seconds| (to.rows.saturating_sub(from.rows)) as f64 / seconds),
    ("log written, MB/s, over time", |from, to, seconds| {
        to.log_bytes_written.saturating_sub(from.log_bytes_written) as f64 / seconds / 1e6
    }),
    ("CPUs used by the process, over time", |from, to, seconds| (to.cpu_seconds - from.cpu_seconds).max(0.0) / seconds),
    ("sessions waiting (WRITELOG and others), over time", |from, to, seconds| {
        let waited = |sample: &crate::stress::Sample| sample.writelog_ms + sample.other_waits_ms;
        waited(to).saturating_sub(waited(from)) as f64 / 1e3 / seconds
    }),
];

/// The runs over time, at the most sessions that have runs.
fn series(body: &mut String, panel: &PanelRecord) {
    let with_runs = |sessions: &&usize| panel.cells.iter().any(|cell| cell.sessions == **sessions);
    let Some(sessions) = panel.sessions.iter().rev().find(with_runs) else { return };
    let plural = if *sessions == 1 { "" } else { "s" };
    let _ = write!(
        body,
        "<details open><summary>Over time, {sessions} session{plural}: the middle run of each arm, the others faint</summary><div class='charts'>"
    );
    // One statement tells of its rows only at its end.
    let first = usize::from(panel.workload == "parallel-insert");
    for (title, rate) in SERIES.into_iter().skip(first) {
        let mut traces = Vec::new();
        for cell in panel.cells.iter().filter(|cell| cell.sessions == *sessions) {
            let middle = middle(&cell.runs);
            for (place, run) in cell.runs.iter().enumerate() {
                traces.push(Trace { place: cell.arm, is_middle: place == middle, points: points(run, rate) });
            }
        }
        traces.sort_by_key(|trace| trace.is_middle);
        figure(body, title, &svg::over_time(title, &traces));
    }
    body.push_str("</div></details>");
}

/// A rate over a run: between samples that are a twentieth of it apart at least, at the middle between them. Samples that
/// come closer say little, since sessions tell of their rows only now and then; what comes behind the end is none of it.
fn points(run: &RunRecord, rate: Rate) -> Vec<(f64, f64)> {
    let mut points = Vec::new();
    let Some(mut from) = run.series.first() else { return points };
    for to in run.series.iter().filter(|sample| sample.seconds <= run.seconds) {
        let seconds = to.seconds - from.seconds;
        if seconds >= run.seconds / 20.0 && seconds > 0.0 {
            points.push(((from.seconds + to.seconds) / 2.0, rate(from, to, seconds)));
            from = to;
        }
    }
    points
}

/// The run whose rate is in the middle.
fn middle(runs: &[RunRecord]) -> usize {
    let mut places: Vec<usize> = (0..runs.len()).collect();
    places.sort_by(|a, b| runs[*a].rows_per_second.total_cmp(&runs[*b].rows_per_second));
    places.get(places.len().saturating_sub(1) / 2).copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::super::tests::run;
    use super::*;
    use crate::stress::Sample;

    #[test]
    fn rates_over_time_are_between_samples_of_the_run() {
        let sample = |seconds: f64, rows| Sample { seconds, rows, ..Sample::default() };
        let mut run = run(100.0);
        // One sample too close to the one before it, one behind the run's end.
        run.series = vec![sample(0.0, 0), sample(0.5, 50), sample(0.51, 90), sample(1.0, 100), sample(1.4, 100)];
        assert_eq!(points(&run, SERIES[0].1), [(0.25, 100.0), (0.75, 100.0)]);
        run.series.clear();
        assert!(points(&run, SERIES[0].1).is_empty());
    }
}
