//! The picture of an insert's way to the disk: its points, where it waits, and what each set of policies has there.
//!
//! ```text
//!   session -> XDESMGR -> LOGCACHE_ACCESS -> log buffer -> LOGFLUSHQ -> log writers -> device
//!      ^   beside: parallel workers' latch, heap pages, exchange, memory pages            |
//!      '------------------------------ the commit returns ------------------------------'
//! ```
//! The points that an experiment switches are found in the settings by which its arms differ, and are drawn as such.

use super::escape;
use super::glossary::Glossary;
use crate::experiment::{Outcome, PanelRecord};
use std::collections::BTreeSet;
use std::fmt::Write;

const WIDTH: f64 = 1200.0;
/// Room for the line on which the commit returns.
const HEAD: f64 = 46.0;
const GAP: f64 = 22.0;
const PADDING: f64 = 9.0;
/// Height of a line of text, and width of a letter, about.
const LINE: f64 = 15.0;
const LETTER: f64 = 6.35;
/// Room above the second row, for its heading.
const BETWEEN: f64 = 54.0;

/// A point of the way.
struct Point {
    name: &'static str,
    does: &'static str,
    waits: &'static str,
    classic: &'static str,
    best: &'static str,
    /// The beginnings of the settings that switch it.
    switched_by: &'static [&'static str],
    /// The sets CLASSIC and BEST differ here.
    is_in_sets: bool,
}

const WAY: [Point; 7] = [
    Point {
        name: "session",
        does: "runs the INSERT on its scheduler's CPU and changes the page",
        waits: "for its turn in the runnable queue: signal wait",
        classic: "a signalled task goes to the head of the queue, 1,000 times in a row",
        best: "signalled tasks in order, others have their slice",
        switched_by: &["SIGNALLED_FIRST", PROCESS_AFFINITY, "trace flag 8015", INSTANCES],
        is_in_sets: true,
    },
    Point {
        name: "XDESMGR",
        does: "gives out the transaction's id, and takes it back",
        waits: "spins, backs off",
        classic: "one spinlock for all sessions, taken twice",
        best: "a range of ids for each scheduler, by one atomic addition",
        switched_by: &["TRANSACTION_IDS", INSTANCES],
        is_in_sets: true,
    },
    Point {
        name: "LOGCACHE_ACCESS",
        does: "reserves room for the log record",
        waits: "spins, backs off",
        classic: "one spinlock; the log writer takes it too",
        best: "a chunk of the log for each scheduler",
        switched_by: &["LOG_RESERVATION", INSTANCES],
        is_in_sets: true,
    },
    Point {
        name: "log buffer",
        does: "the record is copied into it",
        waits: "when it is full: LOGBUFFER",
        classic: "blocks of 60 KB",
        best: "blocks of up to 1 MB",
        switched_by: &["LOG_BLOCK", INSTANCES],
        is_in_sets: true,
    },
    Point {
        name: "LOGFLUSHQ",
        does: "the commit is queued for the next write",
        waits: "spins; with full durability WRITELOG until it is on disk",
        classic: "one spinlock for sessions and log writers",
        best: "a queue without a lock",
        switched_by: &["LOG_FLUSH_QUEUE", DURABILITY, INSTANCES],
        is_in_sets: true,
    },
    Point {
        name: "log writers",
        does: "write the blocks and wake who waits",
        waits: "for a CPU, when sessions have theirs",
        classic: "threads of their own, on a core that sessions use too",
        best: "a scheduler without work writes for its own commits",
        switched_by: &[
            "LOG_WRITERS",
            "LOG_WRITER_CPUS",
            "COMMIT_BY",
            "COMMIT_GATHERING",
            PROCESS_AFFINITY,
            INSTANCES,
            "trace flag 9038",
        ],
        is_in_sets: true,
    },
    Point {
        name: "device",
        does: "the log's file: one write serves all commits in it",
        waits: "the write itself, a part of WRITELOG",
        classic: "as the disk is",
        best: "as the disk is; several writes at once",
        switched_by: &["LOG_IO", DEVICE],
        is_in_sets: false,
    },
];

const BESIDE: [Point; 4] = [
    Point {
        name: "NESTING_TRANSACTION_FULL",
        does: "parallel workers of one statement log under one transaction",
        waits: "LATCH_EX, or spins of LATCH_SPIN_STATS",
        classic: "a fair latch; with trace flag 3933 an unfair one, which spins",
        best: "a chain of records for each worker, no latch",
        switched_by: &["NESTED_TRANSACTIONS", "trace flag 3933", "FULL recovery", "SIMPLE recovery"],
        is_in_sets: true,
    },
    Point {
        name: "ALLOC_CACHES_HASH",
        does: "finds a heap's page for the row",
        waits: "spins; PAGELATCH_EX on the page",
        classic: "one page of a heap takes inserts at a time",
        best: "a page for each scheduler",
        switched_by: &["HEAP_INSERT_TARGETS"],
        is_in_sets: true,
    },
    Point {
        name: "X_PACKET_LIST",
        does: "an exchange gathers what parallel workers did",
        waits: "spins; CXPACKET, CXCONSUMER",
        classic: "packets of rows",
        best: "only their number",
        switched_by: &["EXCHANGE"],
        is_in_sets: true,
    },
    Point {
        name: "memory",
        does: "holds the table's pages and the log buffer",
        waits: "no wait: misses of the TLB take CPU time",
        classic: "pages of 4 KB",
        best: "pages of 2 MB where the system has them",
        switched_by: &["LARGE_PAGES", "trace flag 834"],
        is_in_sets: true,
    },
];

/// Each instance has a way of its own.
const INSTANCES: &str = "2 instances";
const PROCESS_AFFINITY: &str = "ALTER SERVER CONFIGURATION SET PROCESS AFFINITY";
/// Names of what panels differ by, in the place of a setting.
const DURABILITY: &str = "durability";
const DEVICE: &str = "device";

/// The settings by which the arms of the panels, or the panels, differ.
fn differences(panels: &[PanelRecord]) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for panel in panels {
        let is_in_all = |setting: &String| panel.arms.iter().all(|arm| arm.settings.contains(setting));
        let settings = panel.arms.iter().flat_map(|arm| &arm.settings);
        found.extend(settings.filter(|setting| !is_in_all(setting)).cloned());
    }
    let differ = |of: fn(&PanelRecord) -> &str| panels.windows(2).any(|pair| of(&pair[0]) != of(&pair[1]));
    if differ(|panel| &panel.durability) {
        found.insert(DURABILITY.to_owned());
    }
    if differ(|panel| &panel.device) {
        found.insert(DEVICE.to_owned());
    }
    found
}

impl Point {
    fn is_switched(&self, differences: &BTreeSet<String>) -> bool {
        let switches = |setting: &String| {
            let begins = |by: &&str| {
                setting.strip_prefix(*by).is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', ',']))
            };
            self.switched_by.iter().any(begins) || (self.is_in_sets && setting.starts_with("POLICIES = "))
        };
        differences.iter().any(switches)
    }
}

/// A text in lines of so many letters at the most.
fn lines(text: &str, width: f64) -> Vec<String> {
    let letters = ((width - 2.0 * PADDING) / LETTER) as usize;
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= letters => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// The texts of a point below its name: a label each, and the class of the text.
fn texts(point: &Point) -> [(&'static str, &'static str); 4] {
    [("", point.does), ("waits", point.waits), ("classic", point.classic), ("best", point.best)]
}

/// One row of points, of the same width and, text by text, of the same height.
struct Row<'a> {
    points: &'a [Point],
    top: f64,
    width: f64,
    heights: [f64; 4],
}

impl<'a> Row<'a> {
    fn new(points: &'a [Point], top: f64) -> Self {
        let count = points.len() as f64;
        let width = (WIDTH - 2.0 - (count - 1.0) * GAP) / count;
        let of_text = |place: usize| {
            let lines = points.iter().map(|point| lines(texts(point)[place].1, width).len()).max().unwrap_or(0);
            let label = if place == 0 { 0.0 } else { LINE };
            lines as f64 * LINE + label + 9.0
        };
        Row { points, top, width, heights: [0, 1, 2, 3].map(of_text) }
    }

    fn bottom(&self) -> f64 {
        self.top + 26.0 + self.heights.iter().sum::<f64>()
    }

    fn x(&self, place: usize) -> f64 {
        1.0 + place as f64 * (self.width + GAP)
    }

    fn draw(&self, svg: &mut String, words: &mut Glossary, switched: impl Fn(&Point) -> bool) {
        for (place, point) in self.points.iter().enumerate() {
            let (x, height) = (self.x(place), self.bottom() - self.top);
            let is_switched = switched(point);
            let class = if is_switched { "point switched" } else { "point" };
            // Writing to a string cannot fail; so everywhere below.
            let _ = write!(
                svg,
                "<g class='{class}'><rect x='{x:.1}' y='{:.1}' width='{:.1}' height='{height:.1}' rx='7'/>\
                 <text class='name' x='{:.1}' y='{:.1}'>{}</text>",
                self.top,
                self.width,
                x + PADDING,
                self.top + 19.0,
                words.linked(point.name)
            );
            // The words of its texts are explained too; links in lines that were broken would end within a word.
            texts(point).iter().for_each(|(_, text)| words.explain(text));
            let mut y = self.top + 26.0;
            for ((label, text), height) in texts(point).into_iter().zip(self.heights) {
                let mut at = y + 12.0;
                if !label.is_empty() {
                    let _ = write!(
                        svg,
                        "<line class='grid' x1='{x:.1}' x2='{:.1}' y1='{y:.1}' y2='{y:.1}'/><text class='label' x='{:.1}' y='{:.1}'>{label}</text>",
                        x + self.width,
                        x + PADDING,
                        at + 2.0
                    );
                    at += LINE + 1.0;
                }
                for line in lines(text, self.width) {
                    let _ = write!(svg, "<text x='{:.1}' y='{at:.1}'>{}</text>", x + PADDING, escape(&line));
                    at += LINE;
                }
                y += height;
            }
            if is_switched {
                let _ = write!(
                    svg,
                    "<text class='mark' x='{:.1}' y='{:.1}' text-anchor='end'>switched here</text>",
                    x + self.width,
                    self.bottom() + 15.0
                );
            }
            svg.push_str("</g>");
        }
    }
}

/// The names of the points that the arms of an outcome differ in.
pub(super) fn switched(outcome: &Outcome) -> Vec<&'static str> {
    let differences = differences(&outcome.panels);
    WAY.iter().chain(&BESIDE).filter(|point| point.is_switched(&differences)).map(|point| point.name).collect()
}

/// The picture, its names linked to their meanings, with the points marked that the panels' arms differ in.
pub(super) fn picture(panels: &[PanelRecord], words: &mut Glossary) -> String {
    let differences = differences(panels);
    let way = Row::new(&WAY, HEAD);
    let beside = Row::new(&BESIDE, way.bottom() + BETWEEN);
    let height = beside.bottom() + 20.0;
    let title = "An insert's way to the disk: where it waits, and what the policies change";
    let mut svg = format!(
        "<svg class='way' viewBox='0 0 {WIDTH} {height:.0}' role='img' aria-label='{0}'><title>{0}</title>",
        escape(title)
    );
    returning(&mut svg, &way);
    way.draw(&mut svg, words, |point| point.is_switched(&differences));
    for place in 1..WAY.len() {
        let (x, y) = (way.x(place), way.top + 40.0);
        let _ = write!(
            svg,
            "<path class='arrow' d='M{:.1} {y:.1}H{:.1}'/><polygon class='head' points='{:.1},{y:.1} {:.1},{:.1} {:.1},{:.1}'/>",
            x - GAP + 1.0,
            x - 7.0,
            x - 1.0,
            x - 9.0,
            y - 5.0,
            x - 9.0,
            y + 5.0
        );
    }
    let _ = write!(
        svg,
        "<text class='heading' x='1' y='{:.1}'>Beside the way: what parallel statements, heaps and memory add</text>",
        beside.top - 12.0
    );
    beside.draw(&mut svg, words, |point| point.is_switched(&differences));
    svg.push_str("</svg>");
    svg
}

/// The line from the device back to the session.
fn returning(svg: &mut String, way: &Row<'_>) {
    let (from, to, y) = (way.x(WAY.len() - 1) + way.width / 2.0, way.x(0) + way.width / 2.0, 26.0);
    let end = way.top - 2.0;
    let _ = write!(
        svg,
        "<path class='arrow' d='M{from:.1} {:.1}V{y}H{to:.1}V{:.1}'/><polygon class='head' points='{to:.1},{end:.1} {:.1},{:.1} {:.1},{:.1}'/>\
         <text class='heading' x='{:.1}' y='{:.1}' text-anchor='middle'>the commit returns: when the write is durable, or at once with delayed durability</text>",
        way.top,
        end - 6.0,
        to - 5.0,
        end - 8.0,
        to + 5.0,
        end - 8.0,
        WIDTH / 2.0,
        y - 8.0
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::{EXPERIMENTS, Machine, panel_records};
    use pikepole_embedded::SystemFiles;
    use pikepole_machine::Shape;

    fn switched_by(name: &str) -> Vec<&'static str> {
        let machine = Machine::read(&SystemFiles::of_shape(&Shape::new(2, 1, 10, 2))).expect("a machine");
        let experiment = EXPERIMENTS.iter().find(|experiment| experiment.name == name).expect("an experiment");
        let differences = differences(&panel_records(&(experiment.plan)(&machine)));
        WAY.iter().chain(&BESIDE).filter(|point| point.is_switched(&differences)).map(|point| point.name).collect()
    }

    #[test]
    fn each_experiment_marks_the_points_that_its_arms_differ_in() {
        for (name, wanted) in [
            ("affinity", &["session", "log writers"][..]),
            ("log-writers", &["LOGFLUSHQ", "log writers", "device"]),
            ("trace-flags", &["session"]),
            ("distance", &["session", "log writers"]),
            ("parallel-insert", &["NESTING_TRANSACTION_FULL"]),
            ("large-pages", &["memory"]),
            ("serial-parallel", &["NESTING_TRANSACTION_FULL"]),
            ("boost", &["session", "NESTING_TRANSACTION_FULL"]),
            ("instances", &["session", "XDESMGR", "LOGCACHE_ACCESS", "log buffer", "LOGFLUSHQ", "log writers"]),
        ] {
            assert_eq!(switched_by(name), wanted, "{name}");
        }
        // Everything classic against everything by default: all points of the sets.
        let all = switched_by("policies");
        assert!(WAY.iter().chain(&BESIDE).filter(|point| point.is_in_sets).all(|point| all.contains(&point.name)));
        for experiment in EXPERIMENTS {
            assert!(!switched_by(experiment.name).is_empty(), "{} switches no point of the picture", experiment.name);
        }
    }

    #[test]
    fn texts_stay_in_their_boxes() {
        for row in [Row::new(&WAY, 0.0), Row::new(&BESIDE, 0.0)] {
            for point in row.points {
                for (_, text) in texts(point) {
                    for line in lines(text, row.width) {
                        assert!(line.chars().count() as f64 * LETTER <= row.width - 2.0 * PADDING + 1.0, "{line}");
                    }
                }
            }
        }
    }

    #[test]
    fn the_picture_has_every_point_and_no_mark_without_arms() {
        let picture = picture(&[], &mut Glossary::default());
        assert_eq!(picture.matches("<g class='point'>").count(), WAY.len() + BESIDE.len());
        assert!(!picture.contains("switched here") && picture.ends_with("</svg>"));
    }
}
