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

/// A number on an axis.
fn short(value: f64) -> String {
    let digits = |value: f64| {
        let text = format!("{value:.2}");
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
}

impl Frame {
    /// A frame whose figures go from 0 to at least `most`.
    fn new(title: &str, most: f64) -> Self {
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
                WIDTH - RIGHT,
                LEFT - 8.0,
                y + 4.0,
                short(tick)
            );
            tick += step;
        }
        Self { svg, top }
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

    /// A label in as many lines as its words need in so much room; names of policies break behind an underscore.
    fn x_words(&mut self, x: f64, room: f64, text: &str) {
        let letters = (room / LETTER) as usize;
        let mut lines: Vec<String> = Vec::new();
        for piece in text.split_inclusive([' ', '_']) {
            match lines.last_mut() {
                Some(line) if line.chars().count() + piece.trim_end().chars().count() <= letters => {
                    line.push_str(piece)
                }
                _ => lines.push(piece.to_owned()),
            }
        }
        for (place, line) in lines.iter().enumerate() {
            let y = HEIGHT - BOTTOM + 14.0 + 13.0 * place as f64;
            let line = escape(line.trim_end());
            let _ = write!(self.svg, "<text class='tick' x='{x:.1}' y='{y}' text-anchor='middle'>{line}</text>");
        }
    }

    fn x_title(&mut self, text: &str) {
        let (x, y) = ((LEFT + WIDTH - RIGHT) / 2.0, HEIGHT - 6.0);
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
    if sessions.len() == 1 {
        return bars(title, lines);
    }
    let mut frame = Frame::new(title, most(lines));
    let gap = (WIDTH - LEFT - RIGHT) / sessions.len() as f64;
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

fn bars(title: &str, lines: &[Line<'_>]) -> String {
    let mut frame = Frame::new(title, most(lines));
    let gap = (WIDTH - LEFT - RIGHT) / lines.len().max(1) as f64;
    for (place, line) in lines.iter().enumerate() {
        let x = LEFT + gap * (place as f64 + 0.5);
        frame.x_words(x, gap, line.name);
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
        let text = crate::experiment::figure(spread.median);
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
            [0.0, 0.25, 950.0, 1500.0, 25_000.0, 2.5e6].map(short),
            ["0", "0.25", "950", "1,500", "25 k", "2.5 M"]
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
        let nothing = over_sessions("rate", &[1, 2], &[]);
        assert!(nothing.ends_with("</svg>") && !nothing.contains("NaN"));
    }

    #[test]
    fn traces_of_nothing_are_no_nonsense() {
        let trace = Trace { place: 0, is_middle: true, points: vec![(0.0, 0.0), (0.0, 0.0)] };
        let svg = over_time("rate", &[trace]);
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
    }
}
