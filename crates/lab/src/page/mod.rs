//! An outcome for people: one self-contained HTML page, and a summary in text.
//!
//! The page needs nothing but itself: styles, charts (SVG made here) and the outcome's JSON are in it, so that it can be
//! sent to somebody and read anywhere, and its figures taken out again.

mod glossary;
mod insert_path;
mod panel;
mod prediction;
mod profiles;
mod result;
mod sources;
mod svg;
mod sweep;
mod tables;

use crate::experiment::{
    ClaimRecord, Outcome, PUBLISHED_CLAIMS, predicted_verdict, prediction_words, published_points,
};
use crate::predict::ClaimPredictions;
use crate::profile::Profile;
use crate::show::counted;
use glossary::Glossary;
use std::fmt::Write;
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
    let (mut body, mut words) = (String::new(), Glossary::default());
    head(&mut body, outcome, &mut words);
    if profiles::are_there(outcome) {
        body.push_str(&profiles::head());
    }
    if !outcome.answers.is_empty() {
        list(
            &mut body,
            "Does a row that costs less by itself press harder on a later point?",
            &outcome.answers,
            &mut words,
        );
    }
    body.push_str("<h2>Verdicts</h2><div class='claims'>");
    outcome.claims.iter().for_each(|claim| self::claim(&mut body, claim, &mut words));
    body.push_str("</div>");
    path(&mut body, outcome, &mut words);
    body.push_str("<div class='two' style='margin-top:14px'>");
    list(&mut body, "Published", &outcome.published, &mut words);
    let shows = outcome.shows.iter().map(|line| format!("It can show {line}."));
    let cannot = outcome.cannot.iter().map(|line| format!("It cannot: {line}."));
    list(&mut body, "What this machine can and cannot show", &shows.chain(cannot).collect::<Vec<_>>(), &mut words);
    body.push_str("</div>");
    let published = published_points(&outcome.experiment);
    outcome.panels.iter().for_each(|one| panel::part(&mut body, one, &published, &mut words));
    body.push_str("<h2>Environment and method</h2><div class='card'>");
    body.push_str(&tables::environment(outcome));
    body.push_str("</div>");
    body.push_str(&sources::of_experiment(&outcome.experiment));
    body.push_str(&words.html());
    let json = outcome.to_json().replace("</", "<\\/");
    let _ = write!(
        body,
        "<p><button id='save'>Save the raw figures as JSON</button></p>\
         <script type='application/json' id='outcome'>{json}</script><script>{SAVE}</script>"
    );
    document(&format!("{}: {}", outcome.experiment, outcome.title), &body)
}

/// The picture of an insert's way, and which points of it are switched.
fn path(body: &mut String, outcome: &Outcome, words: &mut Glossary) {
    let switched = insert_path::switched(outcome);
    let which = match switched.as_slice() {
        [] => "The arms below differ in none of these points.".to_owned(),
        names => format!("The arms below differ at: {}.", names.join(", ")),
    };
    let _ = write!(
        body,
        "<h2>An insert's way to the disk</h2><div class='card'><p class='meta'>Where an insert waits, and what the classic policies and \
         the best ones have there. {}</p><div class='wide'>{}</div></div>",
        escape(&which),
        insert_path::picture(&outcome.panels, words)
    );
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

/// The page over several outcomes: the result and the verdicts of each, with a link to its page beside this one.
pub fn index(outcomes: &[Outcome], predictions: Option<&ClaimPredictions>) -> String {
    let (mut body, mut words) = (String::from("<h1>Experiments</h1>"), Glossary::default());
    if let Some(outcome) = outcomes.first() {
        let _ = write!(body, "<p class='meta'>{}</p>", escape(&tables::environment_line(outcome)));
    }
    let _ = write!(
        body,
        "<h2>An insert's way to the disk</h2><div class='card'><p class='meta'>Each experiment's page marks the points that it switches.</p>\
         <div class='wide'>{}</div></div>",
        insert_path::picture(&[], &mut words)
    );
    for outcome in outcomes {
        let _ = write!(
            body,
            "<h2><a href='{name}.html'>{name}</a>: {}</h2><p class='question'>{}</p>",
            escape(&outcome.title),
            escape(&outcome.question),
            name = escape(&outcome.experiment)
        );
        result(&mut body, outcome, &mut words);
        warnings(&mut body, outcome);
        let _ = write!(
            body,
            "<details><summary>{} with figures</summary><div class='claims'>",
            counted(outcome.claims.len(), "verdict")
        );
        outcome.claims.iter().for_each(|claim| self::claim(&mut body, claim, &mut words));
        body.push_str("</div></details>");
    }
    body.push_str("<h2>All published claims</h2><div class='card wide'><table><tr><th class='n'>#</th><th>claim</th><th>published</th><th>where</th><th>verdict</th><th>prediction</th></tr>");
    for (place, claim) in PUBLISHED_CLAIMS.iter().enumerate() {
        let verdict = claim.verdict_words(outcomes, predicted_verdict(place + 1, predictions));
        let predicted = prediction_words(place + 1, predictions);
        let cells = [claim.claim, claim.figure, &claim.place(), &verdict, &predicted];
        let cells: String = cells.iter().map(|text| format!("<td>{}</td>", marked(text))).collect();
        let number = place + 1;
        let _ = write!(body, "<tr id='claim-{number}'><td class='n'>{number}</td>{cells}</tr>");
    }
    body.push_str("</table></div>");
    if let Some(predictions) = predictions {
        let _ = write!(
            body,
            "<p class='meta'>Predictions: {}. Predicted: the published figures are inside the intervals.</p>",
            escape(&predictions.source)
        );
    }
    body.push_str(&sources::all(outcomes));
    body.push_str(&words.html());
    document("Experiments", &body)
}

/// A text of the table of claims as HTML: what stands between backquotes is code.
fn marked(text: &str) -> String {
    let part = |(place, part): (usize, &str)| match place % 2 {
        1 => format!("<code>{}</code>", escape(part)),
        _ => escape(part),
    };
    text.split('`').enumerate().map(part).collect()
}

fn head(body: &mut String, outcome: &Outcome, words: &mut Glossary) {
    // Writing to a string cannot fail; so everywhere below.
    let _ = write!(
        body,
        "<p class='meta'><a href='index.html'>pikepole lab</a> &middot; {}</p><h1>{}</h1><p class='question'>{}</p>",
        escape(&outcome.experiment),
        escape(&outcome.title),
        words.linked(&outcome.question)
    );
    result(body, outcome, words);
    let _ = write!(body, "<p class='meta'>{}</p>", escape(&tables::environment_line(outcome)));
    warnings(body, outcome);
}

fn result(body: &mut String, outcome: &Outcome, words: &mut Glossary) {
    let _ = write!(body, "<p class='result'><b>Result</b> {}</p>", words.linked(&result::sentence(outcome)));
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

fn claim(body: &mut String, claim: &ClaimRecord, words: &mut Glossary) {
    let published = claim
        .published
        .as_ref()
        .map_or_else(String::new, |text| format!(" <span class='soft'>Published: {}.</span>", escape(text)));
    let (mut verdicts, mut figures) = (format!("<b>{}</b>", claim.verdict.words()), escape(&claim.words));
    if let Some(prediction) = &claim.prediction {
        let _ = write!(verdicts, "<b class='{:?}'>{}</b>", prediction.verdict, prediction.verdict.words());
        let _ = write!(figures, ".<br>{}", escape(&prediction.words));
    }
    let _ = write!(
        body,
        "<div class='claim {:?}'><div>{verdicts}</div><div>{}.{published}<br><span class='soft'>{figures}.</span></div></div>",
        claim.verdict,
        words.linked(&claim.text)
    );
}

fn list(body: &mut String, title: &str, lines: &[String], words: &mut Glossary) {
    let items: String = lines.iter().map(|line| format!("<li>{}</li>", words.linked(line))).collect();
    let _ = write!(body, "<div class='card'><h3>{}</h3><ul>{items}</ul></div>", escape(title));
}

fn figure(body: &mut String, title: &str, chart: &str) {
    let _ = write!(body, "<figure><figcaption>{}</figcaption>{chart}</figure>", escape(title));
}

/// The outcome in text: the verdicts with their figures, and what the machine cannot show.
pub fn summary(outcome: &Outcome) -> String {
    let mut text =
        format!("{}: {}\n{}\n\n{}\n\n", outcome.experiment, outcome.title, outcome.question, result::sentence(outcome));
    for answer in &outcome.answers {
        let _ = writeln!(text, "- {answer}");
    }
    if !outcome.answers.is_empty() {
        text.push('\n');
    }
    for claim in &outcome.claims {
        let _ = writeln!(text, "[{}] {}", claim.verdict.words(), claim.text);
        if let Some(published) = &claim.published {
            let _ = writeln!(text, "    published: {published}");
        }
        let _ = writeln!(text, "    {}", claim.words);
        if let Some(prediction) = &claim.prediction {
            let _ = writeln!(text, "    [{}] {}", prediction.verdict.words(), prediction.words);
        }
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
pub(crate) use tests::outcome as example_outcome;

#[cfg(test)]
#[path = "page_tests.rs"]
mod tests;
