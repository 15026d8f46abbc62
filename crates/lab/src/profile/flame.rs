//! The flame graph: each function a bar as wide as its share of the samples, above the one that called it, in the colour of
//! its area.

use super::area::{self, Area};
use super::tree::{self, Node};
use super::{Profile, percent};
use crate::page::escape;
use std::fmt::Write;

/// Width of the drawing; bars are drawn in these units.
const WIDTH: f64 = 1200.0;
/// Height of a bar, and of a letter in it.
const BAR: f64 = 17.0;
/// Width of a letter, about.
const LETTER: f64 = 6.4;
/// Bars narrower than this are left out.
const NARROWEST: f64 = 1.2;

/// The graph as a part of a page, which has the style, the script and what the colours mean.
pub(super) fn graph(profile: &Profile, title: &str) -> String {
    drawing(profile, title, false)
}

/// The graph as a file of its own.
pub(super) fn file(profile: &Profile, title: &str) -> String {
    format!("<?xml version='1.0' encoding='UTF-8'?>\n{}\n", drawing(profile, title, true))
}

fn drawing(profile: &Profile, title: &str, is_file: bool) -> String {
    let root = tree::calls(profile);
    let rows = depth(&root, NARROWEST / WIDTH * root.samples as f64);
    let (head, foot) = if is_file { (26.0, 24.0) } else { (0.0, 0.0) };
    let bottom = head + rows as f64 * BAR;
    let height = bottom + foot;
    let own = if is_file { format!(" xmlns='http://www.w3.org/2000/svg' width='{WIDTH}'") } else { String::new() };
    let mut svg =
        format!("<svg class='flame' viewBox='0 0 {WIDTH} {height}' role='img' aria-label='{}'{own}>", escape(title));
    // Writing to a string cannot fail; so everywhere below.
    let _ = write!(svg, "<title>{}</title>", escape(title));
    if is_file {
        let _ = write!(
            svg,
            "<style>{}</style><script><![CDATA[{}]]></script><rect width='{WIDTH}' height='{height}' fill='#fff'/><text x='8' y='17' class='title'>{}</text>",
            include_str!("flame.css"),
            include_str!("flame.js"),
            escape(title)
        );
        key(&mut svg, profile, height - 8.0);
    }
    bar(&mut svg, profile, &root, Place { from: 0, depth: 0, area: None, bottom });
    svg.push_str("</svg>");
    svg
}

/// Bars above each other that are wide enough to be drawn.
fn depth(node: &Node, least: f64) -> usize {
    let below = node.below.iter().filter(|below| below.samples as f64 >= least);
    1 + below.map(|below| depth(below, least)).max().unwrap_or(0)
}

struct Place {
    /// Samples to the left of the bar.
    from: u64,
    depth: usize,
    /// The area of the function below it.
    area: Option<Area>,
    bottom: f64,
}

fn bar(svg: &mut String, profile: &Profile, node: &Node, place: Place) {
    let unit = WIDTH / profile.samples.max(1) as f64;
    let (x, width) = (place.from as f64 * unit, node.samples as f64 * unit);
    if width < NARROWEST {
        return;
    }
    let name = profile.name(node.function);
    let in_call = name.ends_with(area::KERNEL);
    let area = match area::of_name(name).or(place.area) {
        Some(area) if in_call && !matches!(area, Area::Io | Area::BackOff) => Some(Area::Kernel),
        area => area,
    };
    let colour = if node.function.is_none() { "#f4f4f4" } else { area.unwrap_or(Area::Other).colour() };
    let y = place.bottom - (place.depth + 1) as f64 * BAR;
    let short = name.strip_prefix("pikepole_").unwrap_or(name);
    let letters = ((width - 6.0) / LETTER).max(0.0) as usize;
    let shown: String = if letters < 3 { String::new() } else { short.chars().take(letters).collect() };
    let _ = write!(
        svg,
        "<g data-d='{}' data-n='{}'><title>{}: {:.2}%, {} samples ({})</title><rect x='{x:.2}' y='{y}' width='{width:.2}' height='{}' fill='{colour}'/><text x='{:.2}' y='{}'>{}</text></g>",
        place.depth,
        escape(short),
        escape(name),
        percent(node.samples, profile.samples),
        node.samples,
        if node.function.is_none() { "everything" } else { area.unwrap_or(Area::Other).name() },
        BAR - 1.0,
        x + 3.0,
        y + 12.0,
        escape(&shown)
    );
    let mut from = place.from;
    for below in &node.below {
        bar(svg, profile, below, Place { from, depth: place.depth + 1, area, bottom: place.bottom });
        from += below.samples;
    }
}

/// What the colours mean: the areas with samples.
fn key(svg: &mut String, profile: &Profile, y: f64) {
    let mut x = 8.0;
    for area in Area::ALL.into_iter().filter(|area| profile.areas.contains_key(area.name())) {
        let text = format!("{} {:.1}%", area.name(), profile.share(area));
        let _ = write!(
            svg,
            "<rect x='{x}' y='{}' width='10' height='10' fill='{}'/><text x='{}' y='{y}'>{text}</text>",
            y - 9.0,
            area.colour(),
            x + 13.0
        );
        x += 13.0 + text.len() as f64 * LETTER + 10.0;
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::profile;
    use super::*;

    #[test]
    fn bars_are_as_wide_as_their_shares_and_stand_on_their_callers() {
        let svg = graph(&profile(), "a <b>");
        assert!(svg.starts_with("<svg class='flame' viewBox='0 0 1200 68'") && svg.ends_with("</svg>"), "{svg}");
        assert!(svg.contains("aria-label='a &lt;b&gt;'"));
        let rect = |name: &str| {
            let bar = svg.split("<g ").find(|bar| bar.contains(&format!("<title>{name}: "))).expect(name);
            bar.split_once("<rect ").and_then(|(_, rest)| rest.split_once(" height")).expect("a bar").0.to_owned()
        };
        assert_eq!(rect("all"), "x='0.00' y='51' width='1200.00'");
        assert_eq!(rect("main"), "x='0.00' y='34' width='1200.00'");
        assert_eq!(rect("append"), "x='0.00' y='17' width='720.00'");
        assert_eq!(rect("begin"), "x='1080.00' y='17' width='120.00'");
        assert_eq!(svg.matches("<title>spin: ").count(), 3);
        assert!(!svg.contains("<script"), "the page has one for all");
        let nothing = graph(&Profile::default(), "");
        assert!(!nothing.contains("NaN"), "{nothing}");
    }

    #[test]
    fn a_file_is_whole_by_itself() {
        let file = file(&profile(), "spins & appends");
        assert!(file.starts_with("<?xml") && file.contains("xmlns=") && file.contains("<script>"), "{file}");
        assert!(file.contains("back-off 60.0%") && file.contains("spins &amp; appends"));
        assert_eq!(file.matches("<svg").count(), file.matches("</svg>").count());
    }
}
