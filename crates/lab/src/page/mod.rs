//! An outcome for people: one self-contained HTML page, and a summary in text.
//!
//! The page needs nothing but itself: styles, charts (SVG made here) and the outcome's JSON are in it, so that it can be
//! sent to somebody and read anywhere, and its figures taken out again.

mod prediction;
mod profiles;
mod svg;
mod sweep;
mod tables;

use crate::experiment::{ClaimRecord, Outcome, PUBLISHED_CLAIMS, PanelRecord, RunRecord, prediction};
use crate::profile::Profile;
use std::fmt::Write;
use svg::{Line, Trace};
pub use sweep::{sweep_file, sweep_text};

pub use prediction::prediction_page;

/// Text as HTML shows it, in elements and in attributes.
pub(crate) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            other => escaped.push(other),
        }
    }
    escaped
}

/// The page of one experiment's outcome.
pub fn page(outcome: &Outcome) -> String {
    let mut body = String::new();
    head(&mut body, outcome);
    if profiles::are_there(outcome) {
        body.push_str(&profiles::head());
    }
    body.push_str("<h2>Verdicts</h2><div class='claims'>");
    outcome.claims.iter().for_each(|claim| self::claim(&mut body, claim));
    body.push_str("</div><div class='two' style='margin-top:14px'>");
    list(&mut body, "Published", &outcome.published);
    let shows = outcome.shows.iter().map(|line| format!("It can show {line}."));
    let cannot = outcome.cannot.iter().map(|line| format!("It cannot: {line}."));
    list(&mut body, "What this machine can and cannot show", &shows.chain(cannot).collect::<Vec<_>>());
    body.push_str("</div>");
    outcome.panels.iter().for_each(|panel| self::panel(&mut body, panel));
    body.push_str("<h2>Environment and method</h2><div class='card'>");
    body.push_str(&tables::environment(outcome));
    body.push_str("</div>");
    let json = outcome.to_json().replace("</", "<\\/");
    let _ = write!(
        body,
        "<p><button id='save'>Save the raw figures as JSON</button></p>\
         <script type='application/json' id='outcome'>{json}</script><script>{SAVE}</script>"
    );
    document(&format!("{}: {}", outcome.experiment, outcome.title), &body)
}

/// Offers the JSON in the page as a file.
const SAVE: &str = "document.getElementById('save').onclick=function(){var a=document.createElement('a');\
a.href=URL.createObjectURL(new Blob([document.getElementById('outcome').textContent],{type:'application/json'}));\
a.download=JSON.parse(document.getElementById('outcome').textContent).experiment+'.json';a.click();};";

fn document(title: &str, body: &str) -> String {
    format!(
        "<!DOCTYPE html>\n<html lang='en'><head><meta charset='utf-8'>\
         <meta name='viewport' content='width=device-width, initial-scale=1'><title>{}</title>\
         <style>{}</style></head><body><main>{body}</main></body></html>\n",
        escape(title),
        include_str!("style.css")
    )
}

/// The files of an outcome's profiles: their names, and flame graphs (SVG) or shares and inverted call trees (text).
pub fn profile_files(outcome: &Outcome) -> Vec<(String, String)> {
    let mut files = Vec::new();
    for panel in &outcome.panels {
        for cell in profiles::cells(panel) {
            let (Some(arm), Some(profile)) = (panel.arms.get(cell.arm), &cell.profile) else { continue };
            let title = format!("{}: {}, {}", outcome.experiment, panel.title, arm.name);
            let name = file_name(&title);
            files.push((format!("{name}.svg"), profile.flame_file(&title)));
            files.push((format!("{name}.txt"), format!("{title}\n{}", profile.text())));
        }
    }
    files
}

/// A title as the name of a file: small letters and digits of it, with hyphens between.
pub fn file_name(title: &str) -> String {
    let plain: String =
        title.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { ' ' }).collect();
    plain.split_whitespace().collect::<Vec<_>>().join("-")
}

/// The page of one profile.
pub fn profile_page(title: &str, profile: &Profile) -> String {
    let body = format!("{}<h1>{}</h1><div class='card'>{}</div>", profiles::head(), escape(title), profile.html(title));
    document(title, &body)
}

/// The page over several outcomes: the verdicts of each, with a link to its page beside this one.
pub fn index(outcomes: &[Outcome]) -> String {
    let mut body = String::from("<h1>Experiments</h1>");
    if let Some(outcome) = outcomes.first() {
        let _ = write!(body, "<p class='meta'>{}</p>", escape(&tables::environment_line(outcome)));
    }
    for outcome in outcomes {
        let _ = write!(
            body,
            "<h2><a href='{name}.html'>{name}</a>: {}</h2><p class='question'>{}</p>",
            escape(&outcome.title),
            escape(&outcome.question),
            name = escape(&outcome.experiment)
        );
        warnings(&mut body, outcome);
        body.push_str("<div class='claims'>");
        outcome.claims.iter().for_each(|claim| self::claim(&mut body, claim));
        body.push_str("</div>");
    }
    body.push_str("<h2>All published claims</h2><div class='card wide'><table><tr><th class='n'>#</th><th>claim</th><th>published</th><th>where</th><th>verdict</th><th>predicted by</th></tr>");
    for (place, claim) in PUBLISHED_CLAIMS.iter().enumerate() {
        let cells = [claim.claim, claim.figure, &claim.place(), claim.verdict_words(outcomes), prediction(place + 1)];
        let cells: String = cells.iter().map(|text| format!("<td>{}</td>", escape(text))).collect();
        let _ = write!(body, "<tr><td class='n'>{}</td>{cells}</tr>", place + 1);
    }
    body.push_str("</table></div>");
    document("Experiments", &body)
}

fn head(body: &mut String, outcome: &Outcome) {
    // Writing to a string cannot fail; so everywhere below.
    let _ = write!(
        body,
        "<p class='meta'>pikepole lab &middot; {}</p><h1>{}</h1><p class='question'>{}</p><p class='meta'>{}</p>",
        escape(&outcome.experiment),
        escape(&outcome.title),
        escape(&outcome.question),
        escape(&tables::environment_line(outcome))
    );
    warnings(body, outcome);
}

/// Writes the warnings about an outcome's runs.
fn warnings(body: &mut String, outcome: &Outcome) {
    if !outcome.complete {
        body.push_str("<p class='warn'>Stopped before its end: what was done until then is here.</p>");
    }
    let noisy = outcome.noisy_runs();
    if noisy > 0 {
        let _ = write!(
            body,
            "<p class='warn'>Other processes used more than 5% of the machine in {noisy} of {} runs: do not quote these figures.</p>",
            outcome.runs().count()
        );
    }
}

fn claim(body: &mut String, claim: &ClaimRecord) {
    let published = claim
        .published
        .as_ref()
        .map_or_else(String::new, |text| format!(" <span class='soft'>Published: {}.</span>", escape(text)));
    let _ = write!(
        body,
        "<div class='claim {:?}'><b>{}</b><div>{}.{published}<br><span class='soft'>{}.</span></div></div>",
        claim.verdict,
        claim.verdict.words(),
        escape(&claim.text),
        escape(&claim.words)
    );
}

fn list(body: &mut String, title: &str, lines: &[String]) {
    let items: String = lines.iter().map(|line| format!("<li>{}</li>", escape(line))).collect();
    let _ = write!(body, "<div class='card'><h3>{}</h3><ul>{items}</ul></div>", escape(title));
}

fn panel(body: &mut String, panel: &PanelRecord) {
    let device = if panel.device.is_empty() { String::new() } else { format!(", {}", panel.device) };
    let _ = write!(
        body,
        "<h2>{}</h2><p class='meta'>workload {}, {} durability{}</p><div class='card'>{}<div class='charts'>",
        escape(&panel.title),
        escape(&panel.workload),
        escape(&panel.durability),
        escape(&device),
        legend(panel)
    );
    for metric in &panel.charts {
        let line = |(place, arm): (usize, &crate::experiment::ArmRecord)| {
            let figures = panel.sessions.iter().map(|sessions| panel.spread(place, *sessions, metric)).collect();
            (place, arm.name.clone(), figures)
        };
        let lines: Vec<_> = panel.arms.iter().enumerate().map(line).collect();
        let lines: Vec<_> = lines
            .iter()
            .map(|(place, name, figures): &(_, _, Vec<_>)| Line { place: *place, name, figures: figures.clone() })
            .collect();
        figure(body, &metric.title(), &svg::over_sessions(&metric.title(), &panel.sessions, &lines));
    }
    body.push_str("</div>");
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

fn figure(body: &mut String, title: &str, chart: &str) {
    let _ = write!(body, "<figure><figcaption>{}</figcaption>{chart}</figure>", escape(title));
}

fn legend(panel: &PanelRecord) -> String {
    let entry = |(place, arm): (usize, &crate::experiment::ArmRecord)| {
        format!("<span><svg viewBox='-7 -7 14 14'>{}</svg>{}</span>", svg::mark(place, 0.0, 0.0), escape(&arm.name))
    };
    format!("<div class='legend'>{}</div>", panel.arms.iter().enumerate().map(entry).collect::<String>())
}

/// A figure between two samples of a run, by the time between them.
type Rate = fn(&crate::stress::Sample, &crate::stress::Sample, f64) -> f64;

/// What is drawn over time.
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

/// The outcome in text: the verdicts with their figures, and what the machine cannot show.
pub fn summary(outcome: &Outcome) -> String {
    let mut text = format!("{}: {}\n{}\n\n", outcome.experiment, outcome.title, outcome.question);
    for claim in &outcome.claims {
        let _ = writeln!(text, "[{}] {}", claim.verdict.words(), claim.text);
        if let Some(published) = &claim.published {
            let _ = writeln!(text, "    published: {published}");
        }
        let _ = writeln!(text, "    {}", claim.words);
    }
    for line in outcome.panels.iter().flat_map(profiles::words) {
        let _ = writeln!(text, "{line}");
    }
    for line in &outcome.cannot {
        let _ = writeln!(text, "this machine cannot show: {line}");
    }
    if outcome.noisy_runs() > 0 {
        let _ = writeln!(
            text,
            "other processes used more than 5% of the machine in {} of {} runs: do not quote these figures",
            outcome.noisy_runs(),
            outcome.runs().count()
        );
    }
    if !outcome.complete {
        let _ = writeln!(text, "stopped before its end: what was done until then is kept");
    }
    text
}

#[cfg(test)]
#[path = "page_tests.rs"]
mod tests;
