//! A profile in a page: areas, flame graph, functions, and the inverted call tree to open step by step.

use super::area::Area;
use super::tree::{self, Node};
use super::{Profile, flame, percent};
use crate::page::escape;
use std::fmt::Write;

/// Functions in the table.
const FUNCTIONS: usize = 15;
/// The inverted tree shows what has this percentage of the samples at least, to a depth.
const PERCENT_LEAST: f64 = 0.5;
const DEPTH_MOST: usize = 20;

pub(super) fn part(profile: &Profile, title: &str) -> String {
    let mut html = format!("<p class='meta'>{}</p>", escape(&profile.words()));
    key(&mut html, profile);
    html.push_str(&flame::graph(profile, title));
    functions(&mut html, profile);
    let root = tree::callers(profile);
    html.push_str("<h4>Inverted call tree: what ran, and below it who called it</h4><div class='callers'>");
    root.below.iter().for_each(|node| callers(&mut html, profile, node, root.samples, 0));
    html.push_str("</div>");
    html
}

/// The areas that have samples, with their colours.
fn key(html: &mut String, profile: &Profile) {
    html.push_str("<div class='key'>");
    for area in Area::ALL.into_iter().filter(|area| profile.areas.contains_key(area.name())) {
        // Writing to a string cannot fail; so everywhere below.
        let _ = write!(
            html,
            "<span><i style='background:{}'></i>{} {:.1}%</span>",
            area.colour(),
            area.name(),
            profile.share(area)
        );
    }
    html.push_str("</div>");
}

fn functions(html: &mut String, profile: &Profile) {
    html.push_str("<h4>Share by function</h4><table><thead><tr><th class='n'>itself</th><th class='n'>with what it called</th><th>function</th></tr></thead><tbody>");
    for share in profile.shares().iter().take(FUNCTIONS) {
        let _ = write!(
            html,
            "<tr><td class='n'>{:.2}%</td><td class='n'>{:.2}%</td><td class='name'>{}</td></tr>",
            share.own,
            share.total,
            escape(share.name)
        );
    }
    html.push_str("</tbody></table>");
}

fn callers(html: &mut String, profile: &Profile, node: &Node, all: u64, depth: usize) {
    let share = percent(node.samples, all);
    if share < PERCENT_LEAST || depth == DEPTH_MOST {
        return;
    }
    let line = format!("<b>{share:.2}%</b>{}", escape(profile.name(node.function)));
    let has_callers = node.below.iter().any(|below| percent(below.samples, all) >= PERCENT_LEAST);
    if !has_callers || depth + 1 == DEPTH_MOST {
        let _ = write!(html, "<p>{line}</p>");
        return;
    }
    let _ = write!(html, "<details><summary>{line}</summary>");
    node.below.iter().for_each(|below| callers(html, profile, below, all, depth + 1));
    html.push_str("</details>");
}

#[cfg(test)]
mod tests {
    use super::super::tests::profile;

    #[test]
    fn a_part_has_the_graph_the_functions_and_who_called_them() {
        let html = profile().html("t");
        assert!(html.contains("back-off 60.0%") && html.contains("<svg class='flame'"));
        assert!(
            html.contains("<td class='n'>60.00%</td><td class='n'>60.00%</td><td class='name'>spin</td>"),
            "{html}"
        );
        let tree = "<details><summary><b>60.00%</b>spin</summary><p><b>30.00%</b>main</p><details><summary><b>20.00%</b>append</summary>";
        assert!(html.contains(tree), "{html}");
        assert_eq!(html.matches("<details>").count(), html.matches("</details>").count());
    }
}
