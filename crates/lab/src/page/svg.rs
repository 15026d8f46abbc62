//! Charts as SVG: lines over sessions with the spread of the repeats, bars for a single number of sessions, lines over time.
//!
//! Colours and marks come by place, the same in every chart of a page; the colours are told apart by people who do not see
//! all of them, and the marks by those who see none.

use super::escape;
use crate::experiment::Spread;
use std::fmt::Write;

const WIDTH: f64 = 560.0;
const HEIGHT: f64 = 290.0;
const LEFT: f64 = 66.0;
const RIGHT: f64 = 18.0;
const TOP: f64 = 14.0;
const BOTTOM: f64 = 44.0;
/// Width of a letter on an axis, about: names of policies are in capitals.
const LETTER: f64 = 7.4;
/// Width of a published figure beside a chart, and the least of all of them.
const BESIDE: f64 = 60.0;
const BESIDE_LEAST: f64 = 132.0;
/// Lines of a name below a bar at the most.
const NAME_LINES_MAX: usize = 3;
/// Lines of a grid, about.
const TICKS: f64 = 5.0;

/// The colour of a place.
pub(super) fn colour(place: usize) -> &'static str {
    const COLOURS: [&str; 7] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#b8860b", "#56b4e9", "#555555"];
    COLOURS[place % COLOURS.len()]
}

/// The mark of a place around a point.
pub(super) fn mark(place: usize, x: f64, y: f64) -> String {
    let fill = colour(place);
    match place % 5 {
        0 => format!("<circle cx='{x:.1}' cy='{y:.1}' r='4' fill='{fill}'/>"),
        1 => format!("<rect x='{:.1}' y='{:.1}' width='8' height='8' fill='{fill}'/>", x - 4.0, y - 4.0),
        2 => polygon(fill, &[(x, y - 5.0), (x + 5.0, y + 4.0), (x - 5.0, y + 4.0)]),
        3 => polygon(fill, &[(x, y - 5.5), (x + 5.5, y), (x, y + 5.5), (x - 5.5, y)]),
        _ => polygon(fill, &[(x, y + 5.0), (x + 5.0, y - 4.0), (x - 5.0, y - 4.0)]),
    }
}

fn polygon(fill: &str, points: &[(f64, f64)]) -> String {
    let points: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
    format!("<polygon points='{}' fill='{fill}'/>", points.join(" "))
}

/// One line of a chart: its place, its name, and its figures by the axis' places.
pub(super) struct Line<'a> {
    pub place: usize,
    pub name: &'a str,
    pub figures: Vec<Option<Spread>>,
}

/// A published figure, drawn beside ours in a scale of its own: the place of its arm, its figure, and both in words.
pub(super) struct Beside<'a> {
    pub place: usize,
    pub value: f64,
    pub label: &'a str,
    pub at: &'a str,
}

/// A number on an axis.
fn short(value: f64) -> String {
    let digits = |value: f64| {
        let decimals = if value.abs() < 0.1 { 5 } else { 2 };
        let text = format!("{value:.decimals$}");
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    };
    match value.abs() {
        size if size >= 1e6 => format!("{} M", digits(value / 1e6)),
        size if size >= 1e4 => format!("{} k", digits(value / 1e3)),
        size if size >= 1e3 => crate::show::grouped(value.round() as u64),
        _ => digits(value),
    }
}

/// The step of a grid up to `most`: 1, 2 or 5 times a power of ten.
fn step(most: f64) -> f64 {
    let rough = most / TICKS;
    let power = 10f64.powf(rough.log10().floor());
    let part = rough / power;
    power
        * if part <= 1.0 {
            1.0
        } else if part <= 2.0 {
            2.0
        } else if part <= 5.0 {
            5.0
        } else {
            10.0
        }
}

/// A chart under way: the frame, and how figures become places in it.
struct Frame {
    svg: String,
    top: f64,
    /// Its right edge.
    right: f64,
}

impl Frame {
    /// A frame whose figures go from 0 to at least `most`.
    fn new(title: &str, most: f64) -> Self {
        Self::with_room(title, most, 0.0)
    }

    /// The same, with so much room left free at its right.
    fn with_room(title: &str, most: f64, room: f64) -> Self {
        let right = WIDTH - RIGHT - room;
        let most = if most > 0.0 { most } else { 1.0 };
        let step = step(most);
        let top = (most / step).ceil() * step;
        let mut svg = format!(
            "<svg viewBox='0 0 {WIDTH} {HEIGHT}' role='img' aria-label='{}'><title>{}</title>",
            escape(title),
            escape(title)
        );
        let mut tick = 0.0;
        while tick <= top * 1.0001 {
            let y = Self::y_of(top, tick);
            // Writing to a string cannot fail; so everywhere below.
            let _ = write!(
                svg,
                "<line class='grid' x1='{LEFT}' x2='{}' y1='{y:.1}' y2='{y:.1}'/><text class='tick' x='{}' y='{:.1}' text-anchor='end'>{}</text>",
                right,
                LEFT - 8.0,
                y + 4.0,
                short(tick)
            );
            tick += step;
        }
        Self { svg, top, right }
    }

    fn y_of(top: f64, value: f64) -> f64 {
        HEIGHT - BOTTOM - value / top * (HEIGHT - BOTTOM - TOP)
    }

    fn y(&self, value: f64) -> f64 {
        Self::y_of(self.top, value)
    }

    fn x_label(&mut self, x: f64, text: &str) {
        let y = HEIGHT - BOTTOM + 18.0;
        let _ = write!(self.svg, "<text class='tick' x='{x:.1}' y='{y}' text-anchor='middle'>{}</text>", escape(text));
    }

    fn x_words(&mut self, x: f64, lines: &[String]) {
        for (place, line) in lines.iter().enumerate() {
            let y = HEIGHT - BOTTOM + 14.0 + 13.0 * place as f64;
            let line = escape(line.trim_end());
            let _ = write!(self.svg, "<text class='tick' x='{x:.1}' y='{y}' text-anchor='middle'>{line}</text>");
        }
    }

    fn x_title(&mut self, text: &str) {
        let (x, y) = ((LEFT + self.right) / 2.0, HEIGHT - 6.0);
        let _ = write!(self.svg, "<text class='axis' x='{x:.1}' y='{y}' text-anchor='middle'>{}</text>", escape(text));
    }

    /// From the least to the most of the repeats.
    fn whisker(&mut self, x: f64, spread: &Spread, place: usize) {
        let (low, high) = (self.y(spread.low), self.y(spread.high));
        let _ = write!(
            self.svg,
            "<path class='whisker' stroke='{}' d='M{x:.1} {low:.1}V{high:.1}M{:.1} {low:.1}h8M{:.1} {high:.1}h8'/>",
            colour(place),
            x - 4.0,
            x - 4.0
        );
    }

    /// Published figures at the right: hollow bars in a scale of their own.
    fn beside(&mut self, published: &[Beside<'_>]) {
        if published.is_empty() {
            return;
        }
        let (left, foot) = (self.right + 12.0, HEIGHT - BOTTOM);
        let width = WIDTH - 2.0 - left;
        let most = published.iter().map(|figure| figure.value).fold(f64::MIN_POSITIVE, f64::max);
        let _ = write!(
            self.svg,
            "<rect class='beside' x='{left:.1}' y='{}' width='{width:.1}' height='{}' rx='5'/>\
             <text class='tick' x='{:.1}' y='{}' text-anchor='middle'>published, own scale</text>",
            TOP - 12.0,
            HEIGHT - TOP + 8.0,
            left + width / 2.0,
            TOP + 3.0
        );
        let gap = width / published.len() as f64;
        for (number, figure) in published.iter().enumerate() {
            let x = left + gap * (number as f64 + 0.5);
            let height = (figure.value / most * (foot - TOP - 40.0)).max(1.0);
            let bar = (gap * 0.55).min(40.0);
            let _ = write!(
                self.svg,
                "<g><title>published: {0}</title><rect class='hollow' x='{1:.1}' y='{2:.1}' width='{bar:.1}' height='{height:.1}' stroke='{3}'/>\
                 <text class='value' x='{x:.1}' y='{4:.1}' text-anchor='middle'>{0}</text>{5}\
                 <text class='tick' x='{x:.1}' y='{6}' text-anchor='middle'>{7}</text></g>",
                escape(figure.label),
                x - bar / 2.0,
                foot - height,
                colour(figure.place),
                foot - height - 5.0,
                mark(figure.place, x, foot + 11.0),
                foot + 31.0,
                escape(figure.at)
            );
        }
    }

    fn end(mut self) -> String {
        self.svg.push_str("</svg>");
        self.svg
    }
}

fn most(lines: &[Line<'_>]) -> f64 {
    lines.iter().flat_map(|line| line.figures.iter().flatten()).map(|spread| spread.high).fold(0.0, f64::max)
}

fn hint(line: &Line<'_>, at: &str, spread: &Spread) -> String {
    let figure = crate::experiment::figure;
    escape(&format!(
        "{}, {at}: {} ({} to {})",
        line.name,
        figure(spread.median),
        figure(spread.low),
        figure(spread.high)
    ))
}

/// Lines over numbers of sessions; bars when there is only one.
pub(super) fn over_sessions(title: &str, sessions: &[usize], lines: &[Line<'_>]) -> String {
    with_published(title, sessions, lines, &[])
}

/// The same, with published figures beside them.
pub(super) fn with_published(title: &str, sessions: &[usize], lines: &[Line<'_>], published: &[Beside<'_>]) -> String {
    let room = match published.len() {
        0 => 0.0,
        count => (BESIDE * count as f64).max(BESIDE_LEAST) + 12.0,
    };
    let mut frame = Frame::with_room(title, most(lines), room);
    frame.beside(published);
    if sessions.len() == 1 {
        return bars(frame, lines);
    }
    let gap = (frame.right - LEFT) / sessions.len() as f64;
    let x_of = |place: usize| LEFT + gap * (place as f64 + 0.5);
    for (place, count) in sessions.iter().enumerate() {
        frame.x_label(x_of(place), &count.to_string());
    }
    frame.x_title("sessions");
    for line in lines {
        // Lines beside each other, so that whiskers do not hide each other.
        let shift = (line.place as f64 - (lines.len() as f64 - 1.0) / 2.0) * 3.0;
        let mut path = String::new();
        let mut marks = String::new();
        for (place, spread) in line.figures.iter().enumerate() {
            let Some(spread) = spread else { continue };
            let (x, y) = (x_of(place) + shift, frame.y(spread.median));
            let _ = write!(path, "{}{x:.1} {y:.1}", if path.is_empty() { "M" } else { "L" });
            frame.whisker(x, spread, line.place);
            let at = format!("{} sessions", sessions[place]);
            let _ = write!(marks, "<g><title>{}</title>{}</g>", hint(line, &at, spread), mark(line.place, x, y));
        }
        let _ = write!(frame.svg, "<path class='line' stroke='{}' d='{path}'/>{marks}", colour(line.place));
    }
    frame.end()
}

/// A label in as many lines as its words need in so much room; names of policies break behind an underscore.
fn words_in_lines(room: f64, text: &str) -> Vec<String> {
    let letters = (room / LETTER) as usize;
    let mut lines: Vec<String> = Vec::new();
    for piece in text.split_inclusive([' ', '_']) {
        match lines.last_mut() {
            Some(line) if line.chars().count() + piece.trim_end().chars().count() <= letters => line.push_str(piece),
            _ => lines.push(piece.to_owned()),
        }
    }
    lines
}

fn bars(mut frame: Frame, lines: &[Line<'_>]) -> String {
    let gap = (frame.right - LEFT) / lines.len().max(1) as f64;
    let names: Vec<Vec<String>> = lines.iter().map(|line| words_in_lines(gap, line.name)).collect();
    // Names that have no room are marks: the legend has the names.
    let has_room = names.iter().all(|name| name.len() <= NAME_LINES_MAX);
    for (place, line) in lines.iter().enumerate() {
        let x = LEFT + gap * (place as f64 + 0.5);
        if has_room {
            frame.x_words(x, &names[place]);
        } else {
            frame.svg.push_str(&mark(line.place, x, HEIGHT - BOTTOM + 14.0));
        }
        let Some(spread) = line.figures.first().copied().flatten() else { continue };
        let (y, width) = (frame.y(spread.median), (gap * 0.5).min(90.0));
        let _ = write!(
            frame.svg,
            "<g><title>{}</title><rect x='{:.1}' y='{y:.1}' width='{width:.1}' height='{:.1}' fill='{}' fill-opacity='0.75'/></g>",
            hint(line, "", &spread),
            x - width / 2.0,
            frame.y(0.0) - y,
            colour(line.place)
        );
        frame.whisker(x, &spread, line.place);
        let mut text = crate::experiment::figure(spread.median);
        if text.len() as f64 * LETTER > gap {
            text = short(spread.median);
        }
        let above = frame.y(spread.high) - 5.0;
        let _ = write!(frame.svg, "<text class='value' x='{x:.1}' y='{above:.1}' text-anchor='middle'>{text}</text>");
    }
    frame.end()
}

/// One line over time: its place, whether it is the one in the middle of its repeats, and its points in seconds.
pub(super) struct Trace {
    pub place: usize,
    pub is_middle: bool,
    pub points: Vec<(f64, f64)>,
}

/// Lines over seconds.
pub(super) fn over_time(title: &str, traces: &[Trace]) -> String {
    let points = || traces.iter().flat_map(|trace| trace.points.iter());
    let mut frame = Frame::new(title, points().map(|(_, value)| *value).fold(0.0, f64::max));
    let end = points().map(|(second, _)| *second).fold(0.0, f64::max).max(1e-3);
    let x_of = |second: f64| LEFT + second / end * (WIDTH - LEFT - RIGHT);
    let step = step(end);
    let mut second = 0.0;
    while second <= end * 1.0001 {
        frame.x_label(x_of(second), &short(second));
        second += step;
    }
    frame.x_title("seconds");
    for trace in traces {
        let mut path = String::new();
        for (second, value) in &trace.points {
            let (x, y) = (x_of(*second), frame.y(*value));
            let _ = write!(path, "{}{x:.1} {y:.1}", if path.is_empty() { "M" } else { "L" });
        }
        let class = if trace.is_middle { "line" } else { "faint" };
        let _ = write!(frame.svg, "<path class='{class}' stroke='{}' d='{path}'/>", colour(trace.place));
    }
    frame.end()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grids_go_by_ones_twos_and_fives() {
        assert_eq!([0.9, 4.0, 7.0, 12.0, 1e6].map(step), [0.2, 1.0, 2.0, 5.0, 2e5]);
        assert_eq!(
            [0.0, 0.0025, 0.25, 950.0, 1500.0, 25_000.0, 2.5e6].map(short),
            ["0", "0.0025", "0.25", "950", "1,500", "25 k", "2.5 M"]
        );
    }

    #[test]
    fn a_chart_has_a_line_a_mark_and_a_whisker_for_each_figure() {
        let spread = Spread { median: 5.0, low: 4.0, high: 6.0, count: 3 };
        let line = |place, figures| Line { place, name: "a<b", figures };
        let lines = [line(0, vec![Some(spread), None, Some(spread)]), line(1, vec![None, None, None])];
        let svg = over_sessions("rate", &[1, 2, 4], &lines);
        assert_eq!(svg.matches("<circle").count(), 2);
        assert_eq!(svg.matches("class='whisker'").count(), 2);
        assert_eq!(svg.matches("class='line'").count(), 2);
        assert!(svg.contains("a&lt;b, 4 sessions: 5.00 (4.00 to 6.00)") && !svg.contains("a<b"), "{svg}");
        // The median stands in the middle between the whisker's ends.
        assert!(svg.contains("cx='143.8' cy='52.7'") && svg.contains("d='M143.8 91.3V14.0"), "{svg}");
        let bars = over_sessions("rate", &[1], &lines[..1]);
        assert_eq!((bars.matches("<rect").count(), bars.matches("class='value'").count()), (1, 1));
        // 476 units for three bars: 21 letters a line.
        let long = |place| Line { place, name: "private chains, minimal logging", figures: vec![Some(spread)] };
        let bars = over_sessions("rate", &[1], &[long(0), long(1), long(2)]);
        assert!(bars.contains(">private chains,</text>") && bars.contains(">minimal logging</text>"), "{bars}");
        let policy = |place| Line { place, name: "TRANSACTION_IDS = SPINLOCK", figures: vec![Some(spread)] };
        let bars = over_sessions("rate", &[1], &[policy(0), policy(1), policy(2), policy(3), policy(4)]);
        let lines = [">TRANSACTION_</text>", ">IDS =</text>", ">SPINLOCK</text>"];
        assert!(lines.iter().all(|line| bars.contains(line)), "{bars}");
        // Seven bars have no room for such names and figures: marks, and short figures.
        let many = Spread { median: 57_893_472.0, low: 57e6, high: 58e6, count: 3 };
        let long = |place| Line { place, name: "private chains, minimal logging, again", figures: vec![Some(many)] };
        let bars = over_sessions("rate", &[1], &[0, 1, 2, 3, 4, 5, 6, 7].map(long));
        assert!(bars.contains(">57.89 M</text>") && !bars.contains(">logging,</text>"), "{bars}");
        let nothing = over_sessions("rate", &[1, 2], &[]);
        assert!(nothing.ends_with("</svg>") && !nothing.contains("NaN"));
    }

    #[test]
    fn published_figures_have_hollow_bars_in_a_scale_of_their_own() {
        let ours = Spread { median: 3e6, low: 3e6, high: 3e6, count: 2 };
        let lines = [Line { place: 0, name: "a", figures: vec![Some(ours), Some(ours)] }];
        let figure = |value, label| Beside { place: 1, value, label, at: "40" };
        let svg = with_published("rate", &[1, 2], &lines, &[figure(100.0, "a<100"), figure(200.0, "200")]);
        assert_eq!(svg.matches("class='hollow'").count(), 2);
        // The larger one fills the room above the foot, the other half of it.
        assert!(svg.contains("height='192.0'") && svg.contains("height='96.0'"), "{svg}");
        assert!(svg.contains("a&lt;100") && svg.contains("published, own scale"), "{svg}");
        assert!(svg.contains("x2='398'"), "our grid ends before them: {svg}");
        let none = with_published("rate", &[1, 2], &lines, &[figure(0.0, "0")]);
        assert!(!none.contains("NaN"), "{none}");
    }

    #[test]
    fn traces_of_nothing_are_no_nonsense() {
        let trace = Trace { place: 0, is_middle: true, points: vec![(0.0, 0.0), (0.0, 0.0)] };
        let svg = over_time("rate", &[trace]);
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
    }
}
