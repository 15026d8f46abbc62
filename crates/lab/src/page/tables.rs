//! The tables of a page.

use super::escape;
use crate::experiment::{Metric, Outcome, PanelRecord, RunRecord, Spread, figure};
use std::fmt::Write;

/// Rows shown of each statistic of a run.
const TOP: usize = 6;
/// Waits of system tasks that have nothing to do.
const IDLE: &[&str] = crate::stress::IDLE_WAITS;

pub(super) fn table(head: &[(&str, bool)], rows: &str) -> String {
    let cell = |(text, is_number): &(&str, bool)| {
        format!("<th{}>{}</th>", if *is_number { " class='n'" } else { "" }, escape(text))
    };
    format!("<table><thead><tr>{}</tr></thead><tbody>{rows}</tbody></table>", head.iter().map(cell).collect::<String>())
}

fn words(text: &str) -> String {
    format!("<td>{}</td>", escape(text))
}

pub(super) fn name(text: &str) -> String {
    format!("<td class='name'>{}</td>", escape(text))
}

fn number(text: &str) -> String {
    format!("<td class='n'>{}</td>", escape(text))
}

/// Half the range of the repeats, behind their median.
pub(super) fn range(spread: &Spread) -> String {
    match spread.noise() {
        Some(0.0) => String::new(),
        Some(noise) => format!(" <small>&plusmn;{:.0}%</small>", 50.0 * noise),
        None => format!(" <small>to {}</small>", figure(spread.high)),
    }
}

/// Medians and spreads of all figures of a panel.
pub(super) fn figures(panel: &PanelRecord) -> String {
    let mut metrics =
        vec![Metric::Rows, Metric::LogMegabytes, Metric::CpuMicroseconds, Metric::RowsPerFlush, Metric::AllSpins];
    metrics.extend(panel.charted().filter(|metric| !metrics.contains(metric)).cloned().collect::<Vec<_>>());
    let titles: Vec<String> = metrics.iter().map(Metric::title).collect();
    let mut head = vec![("sessions", true), ("arm", false), ("runs", true)];
    head.extend(titles.iter().map(|title| (title.as_str(), true)));
    let mut rows = String::new();
    for &sessions in &panel.sessions {
        for (place, arm) in panel.arms.iter().enumerate() {
            let Some(runs) = panel.spread(place, sessions, &Metric::Rows).map(|spread| spread.count) else { continue };
            let _ =
                write!(rows, "<tr>{}{}{}", number(&sessions.to_string()), name(&arm.name), number(&runs.to_string()));
            for metric in &metrics {
                let Some(spread) = panel.spread(place, sessions, metric) else { continue };
                let _ = write!(rows, "<td class='n'>{}{}</td>", figure(spread.median), range(&spread));
            }
            rows.push_str("</tr>");
        }
    }
    table(&head, &rows)
}

/// What the arms differ in.
pub(super) fn arms(panel: &PanelRecord) -> String {
    let mut rows = String::new();
    for arm in &panel.arms {
        let settings = if arm.settings.is_empty() { "the defaults".to_owned() } else { arm.settings.join("; ") };
        let _ = write!(rows, "<tr>{}{}</tr>", name(&arm.name), words(&settings));
    }
    table(&[("arm", false), ("differs from the defaults in", false)], &rows)
}

/// The top waits, latches and spinlocks of each arm's last run at the most sessions.
pub(super) fn statistics(panel: &PanelRecord) -> String {
    let mut rows = String::new();
    for (place, arm) in panel.arms.iter().enumerate() {
        let cells = panel.cells.iter().filter(|cell| cell.arm == place);
        let Some(cell) = cells.max_by_key(|cell| cell.sessions) else { continue };
        let Some(run) = cell.runs.last() else { continue };
        let _ = write!(rows, "<tr>{}{}", name(&arm.name), number(&cell.sessions.to_string()));
        for lines in [waits(run), latches(run), spinlocks(run)] {
            let lines: Vec<String> = lines.iter().map(|line| escape(line)).collect();
            let _ = write!(rows, "<td>{}</td>", if lines.is_empty() { "-".to_owned() } else { lines.join("<br>") });
        }
        rows.push_str("</tr>");
    }
    let head = [
        ("arm", false),
        ("sessions", true),
        ("waits: count, ms, of it signal ms", false),
        ("latches: count, ms", false),
        ("spinlocks: collisions, spins, back-offs", false),
    ];
    table(&head, &rows)
}

fn waits(run: &RunRecord) -> Vec<String> {
    let busy = run.waits.iter().filter(|row| !IDLE.contains(&row.wait_type.as_str())).take(TOP);
    busy.map(|row| {
        format!("{} {}, {}, {}", row.wait_type, row.waiting_tasks_count, row.wait_time_ms, row.signal_wait_time_ms)
    })
    .collect()
}

fn latches(run: &RunRecord) -> Vec<String> {
    let rows = run.latches.iter().take(TOP);
    rows.map(|row| format!("{} {}, {}", row.latch_class, row.waiting_requests_count, row.wait_time_ms)).collect()
}

fn spinlocks(run: &RunRecord) -> Vec<String> {
    let rows = run.spinlocks.iter().take(TOP);
    rows.map(|row| format!("{} {}, {}, {}", row.name, row.collisions, row.spins, row.backoffs)).collect()
}

/// The machine in one line.
pub(super) fn environment_line(outcome: &Outcome) -> String {
    let environment = &outcome.environment;
    format!("{} \u{b7} {} \u{b7} {}", environment.processor, environment.machine, environment.version)
}

/// The machine, and how the runs were made.
pub(super) fn environment(outcome: &Outcome) -> String {
    let (environment, settings) = (&outcome.environment, &outcome.settings);
    let disk = match environment.durable_writes_per_second {
        Some(rate) => format!("{} durable 4 KB writes a second, one after the other", figure(rate)),
        None => "not probed".to_owned(),
    };
    let lines = [
        ("processor", environment.processor.clone()),
        ("CPUs", environment.machine.clone()),
        (
            "memory",
            format!(
                "{:.1} GB, transparent large pages: {}",
                environment.memory_bytes as f64 / f64::from(1 << 30),
                environment.transparent_pages
            ),
        ),
        ("disk", disk),
        ("kernel", environment.kernel.clone()),
        ("program", environment.version.clone()),
        (
            "method",
            format!(
                "{} repeats of {} s, each on a fresh server after {} s of warm-up; arms alternate, every second repeat backwards; medians, with half the range of the repeats as \u{b1}; rows are counted after each run and must be those acknowledged",
                settings.repeats, settings.seconds, settings.warmup_seconds
            ),
        ),
        (
            "rule",
            "two arms differ when their medians are further apart than the runs of either arm are among themselves, and than two arms with the same settings (again)"
                .to_owned(),
        ),
        ("took", format!("{:.0} s, begun {} s after 1970", outcome.took_seconds, outcome.started)),
    ];
    let rows: String = lines.iter().map(|(name, text)| format!("<tr>{}{}</tr>", words(name), words(text))).collect();
    table(&[("", false), ("", false)], &rows)
}
