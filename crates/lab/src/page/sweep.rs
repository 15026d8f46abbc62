//! A sweep of the load driver as charts: the rate, and the spins and back-offs of the log's and the transaction ids' spinlocks, over
//! sessions. One SVG file that needs nothing but itself, and bars for a terminal.

use super::escape;
use super::svg::{self, Line};
use crate::experiment::Spread;
use crate::show::grouped;
use crate::stress::{Run, SPINLOCKS};
use std::collections::BTreeSet;
use std::fmt::Write;

/// Width of a chart and its gap to the next, as `svg` draws it.
const CHART: (f64, f64) = (560.0, 290.0);
const GAP: f64 = 24.0;
/// Room for the title of a chart, and for the legend.
const TITLE: f64 = 22.0;
const LEGEND: f64 = 34.0;
const COLUMNS: usize = 2;
/// Letters of the longest bar.
const BAR: f64 = 40.0;

const STYLE: &str = "text { font-family: system-ui, sans-serif; fill: #1d2329; } .grid { stroke: #d9dee3; stroke-width: 1; } \
.tick, .axis { fill: #5b6670; font-size: 12px; } .value { font-size: 12.5px; font-weight: 600; } .title { font-size: 15px; font-weight: 600; } \
.line { fill: none; stroke-width: 2.2; stroke-linejoin: round; } .whisker { fill: none; stroke-width: 1.3; opacity: 0.75; }";

/// A chart: its title, and its figure of a run.
struct Chart {
    title: String,
    figure: Box<dyn Fn(&Run) -> f64>,
}

fn charts() -> Vec<Chart> {
    let mut charts = vec![Chart { title: "rows a second".to_owned(), figure: Box::new(|run| run.rows_per_second) }];
    for name in SPINLOCKS {
        let row = move |run: &Run| run.statistics.spinlocks.iter().find(|row| row.name == name).cloned();
        let spins = move |run: &Run| row(run).map_or(0.0, |row| row.spins as f64 / run.seconds);
        charts.push(Chart { title: format!("{name}: spins a second"), figure: Box::new(spins) });
        let backoffs = move |run: &Run| row(run).map_or(0.0, |row| row.backoffs as f64 / run.seconds);
        charts.push(Chart { title: format!("{name}: back-offs a second"), figure: Box::new(backoffs) });
    }
    charts
}

/// The names of the lines, in the order in which they were run.
fn names(runs: &[Run]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for name in runs.iter().map(Run::label) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

fn sessions(runs: &[Run]) -> Vec<usize> {
    runs.iter().map(|run| run.sessions).collect::<BTreeSet<_>>().into_iter().collect()
}

/// The figure of a line's runs at a number of sessions.
fn spread(runs: &[Run], name: &str, sessions: usize, chart: &Chart) -> Option<Spread> {
    Spread::of(runs.iter().filter(|run| run.label() == name && run.sessions == sessions).map(|run| (chart.figure)(run)))
}

/// The charts as an SVG file.
pub fn sweep_file(runs: &[Run]) -> String {
    let (names, sessions, charts) = (names(runs), sessions(runs), charts());
    let rows = charts.len().div_ceil(COLUMNS) as f64;
    let (width, step) = (COLUMNS as f64 * (CHART.0 + GAP) + GAP, CHART.1 + TITLE + GAP);
    let height = LEGEND + rows * step + GAP;
    let mut file = format!(
        "<svg xmlns='http://www.w3.org/2000/svg' width='{width}' height='{height}' viewBox='0 0 {width} {height}'><style>{STYLE}</style>\
         <rect width='{width}' height='{height}' fill='#fff'/>"
    );
    for (place, name) in names.iter().enumerate() {
        let x = GAP + 220.0 * place as f64;
        // Writing to a string cannot fail; so everywhere below.
        let _ =
            write!(file, "{}<text x='{}' y='{}'>{}</text>", svg::mark(place, x, 22.0), x + 12.0, 27.0, escape(name));
    }
    for (place, chart) in charts.iter().enumerate() {
        let x = GAP + (place % COLUMNS) as f64 * (CHART.0 + GAP);
        let y = LEGEND + (place / COLUMNS) as f64 * step;
        let figures = |name: &String| sessions.iter().map(|count| spread(runs, name, *count, chart)).collect();
        let lines = names.iter().enumerate().map(|(place, name)| Line { place, name, figures: figures(name) });
        let drawn = svg::over_sessions(&chart.title, &sessions, &lines.collect::<Vec<_>>());
        let placed = drawn.replacen(
            "<svg ",
            &format!("<svg x='{x}' y='{}' width='{}' height='{}' ", y + TITLE, CHART.0, CHART.1),
            1,
        );
        let _ = write!(file, "<text class='title' x='{x}' y='{}'>{}</text>{placed}", y + 15.0, escape(&chart.title));
    }
    file.push_str("</svg>\n");
    file
}

/// The charts as bars of letters. Those without any figure above zero are named in one line.
pub fn sweep_text(runs: &[Run]) -> String {
    let (names, sessions) = (names(runs), sessions(runs));
    let (mut text, mut empty) = (String::new(), Vec::new());
    let width = names.iter().map(String::len).max().unwrap_or(0);
    for chart in charts() {
        let figure = |name: &String, count: usize| spread(runs, name, count, &chart).map(|spread| spread.median);
        let all = || names.iter().flat_map(|name| sessions.iter().filter_map(move |count| figure(name, *count)));
        let most = all().fold(0.0, f64::max);
        if most <= 0.0 {
            empty.push(chart.title);
            continue;
        }
        let _ = writeln!(text, "{}", chart.title);
        for name in &names {
            for (place, count) in sessions.iter().enumerate() {
                let Some(value) = figure(name, *count) else { continue };
                let label = if place == 0 { name.as_str() } else { "" };
                let bar = "█".repeat((value / most * BAR).round() as usize);
                let _ = writeln!(text, "  {label:width$} {count:>5} {bar} {}", grouped(value.round() as u64));
            }
        }
    }
    if !empty.is_empty() {
        let _ = writeln!(text, "none: {}", empty.join(", "));
    }
    text
}
