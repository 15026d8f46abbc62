//! The published studies that a page answers, by title, with links to the claims and experiments that come from them.

use super::escape;
use crate::experiment::{Outcome, STUDIES, Study};
use std::fmt::Write;

/// A study, its machine, and its claims as links into the table of all claims.
fn item(study: &Study, more: &str) -> String {
    let link = |number: &usize| format!("<a href='index.html#claim-{number}'>{number}</a>");
    let claims: Vec<String> = study.claims.iter().map(link).collect();
    format!(
        "<li>{}. <span class='soft'>Its machine: {}. Its claims: {}.{more}</span></li>",
        escape(study.title),
        escape(study.machine),
        claims.join(", ")
    )
}

/// The studies of one experiment.
pub(super) fn of_experiment(name: &str) -> String {
    let items: String =
        STUDIES.iter().filter(|study| study.experiments.contains(&name)).map(|study| item(study, "")).collect();
    if items.is_empty() {
        return String::new();
    }
    format!("<h2>Published sources</h2><div class='card'><ul>{items}</ul></div>")
}

/// All studies, with the experiments that run them: links where there are outcomes.
pub(super) fn all(outcomes: &[Outcome]) -> String {
    let mut html = String::from("<h2>Published sources</h2><div class='card'><ul>");
    for study in STUDIES {
        let link = |name: &&str| match outcomes.iter().any(|outcome| outcome.experiment == **name) {
            true => format!("<a href='{0}.html'>{0}</a>", escape(name)),
            false => format!("{} (not run)", escape(name)),
        };
        let experiments: Vec<String> = study.experiments.iter().map(link).collect();
        // Writing to a string cannot fail.
        let _ = write!(html, "{}", item(&study, &format!(" Experiments: {}.", experiments.join(", "))));
    }
    html.push_str("</ul></div>");
    html
}
