//! Where the CPU time went: shares by area for each arm, and each arm's flame graph and call tree.

use super::{escape, svg, tables};
use crate::experiment::{Cell, Metric, Outcome, PanelRecord, figure};
use crate::profile::{self, Area};
use std::fmt::Write;

/// Whether there is a profile to show.
pub(super) fn are_there(outcome: &Outcome) -> bool {
    outcome.panels.iter().flat_map(|panel| &panel.cells).any(|cell| cell.profile.is_some())
}

/// Styles and script for them.
pub(super) fn head() -> String {
    format!("<style>{}</style><script>{}</script>", profile::styles(), profile::script())
}

/// The cells of a panel that have a profile, by arm.
pub(super) fn cells(panel: &PanelRecord) -> Vec<&Cell> {
    let mut cells: Vec<&Cell> = panel.cells.iter().filter(|cell| cell.profile.is_some()).collect();
    cells.sort_by_key(|cell| cell.arm);
    cells
}

/// The profiles of a panel.
pub(super) fn part(body: &mut String, panel: &PanelRecord) {
    let cells = cells(panel);
    let Some(sessions) = cells.first().map(|cell| cell.sessions) else { return };
    // Writing to a string cannot fail; so everywhere below.
    let _ = write!(
        body,
        "<h3 style='margin-top:14px'>Where the CPU time went, {}: percent of the samples</h3><div class='wide'>{}</div>",
        crate::show::counted(sessions, "session"),
        areas(panel, &cells)
    );
    for cell in cells {
        let (Some(arm), Some(profile)) = (panel.arms.get(cell.arm), &cell.profile) else { continue };
        let title = format!("{}, {}", panel.title, arm.name);
        let _ = write!(
            body,
            "<details class='profile'><summary>Flame graph and callers: <svg viewBox='-7 -7 14 14' style='display:inline;width:14px'>{}</svg> {}</summary>{}</details>",
            svg::mark(cell.arm, 0.0, 0.0),
            escape(&arm.name),
            profile.html(&title)
        );
    }
}

/// A row an area, a column an arm.
fn areas(panel: &PanelRecord, cells: &[&Cell]) -> String {
    let names: Vec<&str> =
        cells.iter().filter_map(|cell| panel.arms.get(cell.arm)).map(|arm| arm.name.as_str()).collect();
    let head: Vec<(&str, bool)> =
        std::iter::once(("area", false)).chain(names.iter().map(|name| (*name, true))).collect();
    let mut rows = String::new();
    for area in Area::ALL {
        let is_seen =
            |cell: &&Cell| cell.profile.as_ref().is_some_and(|profile| profile.areas.contains_key(area.name()));
        if !cells.iter().any(is_seen) {
            continue;
        }
        let _ = write!(rows, "<tr>{}", tables::name(area.name()));
        for cell in cells {
            let Some(spread) = panel.spread(cell.arm, cell.sessions, &Metric::share(area)) else { continue };
            let _ = write!(rows, "<td class='n'>{}{}</td>", figure(spread.median), tables::range(&spread));
        }
        rows.push_str("</tr>");
    }
    tables::table(&head, &rows)
}

/// The shares that were published, of each arm, in a line of text.
pub(super) fn words(panel: &PanelRecord) -> Vec<String> {
    let line = |cell: &Cell| {
        let arm = panel.arms.get(cell.arm)?;
        let profile = cell.profile.as_ref()?;
        let share = |area: Area| format!("{} {:.2}%", area.name(), profile.share(area));
        let shares = [Area::BackOff, Area::IdSpinlock, Area::LogReserve, Area::TSql, Area::Storage].map(share);
        Some(format!("{} | {}, {} samples: {}", panel.title, arm.name, profile.samples, shares.join(", ")))
    };
    cells(panel).into_iter().filter_map(line).collect()
}
