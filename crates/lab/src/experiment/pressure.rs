//! The open question of the studies: when a row costs less by itself, do sessions press harder on a point where they take turns?
//!
//! ```text
//!   arm A, arm B at the most sessions of both
//!     a row of B costs less CPU by itself ──no──▶ nothing was freed: it cannot be judged
//!       │ yes
//!     each point, a row: spins, or time waited ──▶ those that grew by more than noise and than a trifle
//!       │                                            one or more: seen, each with its figures
//!       ├─ none, and all are known ──────────────▶ not seen
//!       └─ none, and one is lost in noise ───────▶ too noisy
//! ```
//! What a row costs by itself is the CPU of the language, of storage and of transactions where there is a profile; without one it
//! is all of its CPU.

use super::Spread;
use super::judge::{Difference, Verdict, difference, figure};
use super::plan::{Machine, Metric, Needs};
use super::record::{ClaimRecord, PanelRecord};
use crate::show::counted;

/// A point where sessions take turns, and the figure of its pressure.
#[derive(Debug, Clone, Copy)]
pub(super) enum Point {
    /// A spinlock: its spins.
    Spinlock(&'static str),
    /// A wait: its time.
    Wait(&'static str),
}

/// The points on an insert's way to the disk, in their order.
pub(super) const POINTS: [Point; 5] = [
    Point::Spinlock("XDESMGR"),
    Point::Spinlock("LOGCACHE_ACCESS"),
    Point::Wait("LOGBUFFER"),
    Point::Spinlock("LOGFLUSHQ"),
    Point::Wait("WRITELOG"),
];

/// Spins for a thousand rows that are a trifle: one takes less than a microsecond, so these take less than 0.01 us a row.
const SPINS_TRIFLE: f64 = 10.0;
/// Microseconds waited a row that are a trifle.
const WAIT_TRIFLE: f64 = 0.01;

impl Point {
    fn name(self) -> &'static str {
        match self {
            Point::Spinlock(name) | Point::Wait(name) => name,
        }
    }

    /// Its figure.
    pub(super) fn metric(self) -> Metric {
        match self {
            Point::Spinlock(name) => Metric::spins(name),
            Point::Wait(name) => Metric::Wait(name.to_owned()),
        }
    }

    /// A growth that says nothing.
    fn trifle(self) -> f64 {
        match self {
            Point::Spinlock(_) => SPINS_TRIFLE,
            Point::Wait(_) => WAIT_TRIFLE,
        }
    }

    /// Its figures under both arms, in words.
    fn words(self, from: &Spread, to: &Spread) -> String {
        let unit = match self {
            Point::Spinlock(_) => "spins per 1,000 rows",
            Point::Wait(_) => "us waited a row",
        };
        format!("{} {} to {} {unit}", self.name(), figure(from.median), figure(to.median))
    }
}

/// The question, of two arms of a panel.
#[derive(Debug, Clone)]
pub struct Pressure {
    /// One sentence that says yes.
    pub text: String,
    /// What was published about it.
    pub published: Option<&'static str>,
    /// The panel.
    pub panel: usize,
    /// The arm whose rows cost more by themselves.
    pub from: usize,
    /// The arm whose rows are to cost less.
    pub to: usize,
    /// The reason why it cannot be answered on this machine.
    pub cannot: Option<String>,
}

/// Both arms' figures of one point.
struct Pressed {
    point: Point,
    from: Spread,
    to: Spread,
    twins: f64,
}

impl Pressed {
    fn has_grown(&self) -> bool {
        difference(&self.from, &self.to, self.twins) == Difference::Higher
            && self.to.median - self.from.median > self.point.trifle()
    }

    /// True where it may have grown for all that is known.
    fn is_lost_in_noise(&self) -> bool {
        difference(&self.from, &self.to, self.twins) == Difference::Unknown
            && self.to.high - self.from.low > self.point.trifle()
    }

    fn words(&self) -> String {
        self.point.words(&self.from, &self.to)
    }
}

/// What the figures say.
struct Found {
    verdict: Verdict,
    /// The answer in a few words, with its figures.
    words: String,
    /// The reason why nothing is concluded.
    reason: Option<String>,
}

impl Found {
    fn nothing(verdict: Verdict, reason: String) -> Self {
        Self { verdict, words: format!("nothing is concluded, because {reason}"), reason: Some(reason) }
    }
}

impl Pressure {
    /// The same, which cannot be answered on a machine that has less than this.
    pub(super) fn needs(mut self, machine: &Machine, needs: Needs) -> Self {
        self.cannot = needs.missing(machine);
        self
    }

    /// Answers it from the runs.
    pub(super) fn judge(&self, panels: &[PanelRecord]) -> ClaimRecord {
        let found = self.find(panels);
        ClaimRecord {
            text: self.text.clone(),
            published: self.published.map(str::to_owned),
            verdict: found.verdict,
            words: found.words,
            ratio: None,
            reason: found.reason,
            prediction: None,
        }
    }

    fn find(&self, panels: &[PanelRecord]) -> Found {
        let Some(panel) = panels.get(self.panel) else {
            return Found::nothing(Verdict::Open, "there was no run".to_owned());
        };
        let cost = if panel.has_samples() { Metric::StatementMicroseconds } else { Metric::CpuMicroseconds };
        let of = |sessions: usize, metric: &Metric| {
            Some((panel.spread(self.from, sessions, metric)?, panel.spread(self.to, sessions, metric)?))
        };
        let with_both = panel.sessions.iter().rev().find_map(|sessions| Some((*sessions, of(*sessions, &cost)?)));
        let Some((sessions, (from, to))) = with_both else {
            return Found::nothing(Verdict::Open, "it was stopped before there was a run of each arm".to_owned());
        };
        if let Some(why) = self.cannot(panel, sessions) {
            return Found::nothing(Verdict::CannotBeJudged, why);
        }
        if panel.is_noisy(self.from, sessions) || panel.is_noisy(self.to, sessions) {
            let why = "other processes were busy in most of the runs".to_owned();
            return Found::nothing(Verdict::TooNoisy, why);
        }
        let costs = format!("{}: {} to {}", cost.title(), figure(from.median), figure(to.median));
        match difference(&from, &to, panel.twin_difference(sessions, &cost)) {
            Difference::Lower => {}
            Difference::Unknown if from.count < 2 || to.count < 2 => {
                return Found::nothing(Verdict::Open, "one run has no spread, so nothing follows from it".to_owned());
            }
            Difference::Unknown => {
                let why = format!("noise hides what a row costs by itself ({costs})");
                return Found::nothing(Verdict::TooNoisy, why);
            }
            Difference::Higher | Difference::None => {
                let why = format!("a row costs no less by itself ({costs}), so nothing is freed to press elsewhere");
                return Found::nothing(Verdict::CannotBeJudged, why);
            }
        }
        let pressed = |point: Point| {
            let (from, to) = of(sessions, &point.metric())?;
            Some(Pressed { point, from, to, twins: panel.twin_difference(sessions, &point.metric()) })
        };
        let points: Vec<Pressed> = POINTS.into_iter().filter_map(pressed).collect();
        conclude(&points, &format!("{}, {costs}", counted(sessions, "session")))
    }

    /// The reason why these runs cannot answer it.
    fn cannot(&self, panel: &PanelRecord, sessions: usize) -> Option<String> {
        let alone = || "one session takes no turns with others".to_owned();
        self.cannot
            .clone()
            .or_else(|| panel.not_in_memory(self.from).or_else(|| panel.not_in_memory(self.to)))
            .or_else(|| (sessions == 1).then(alone))
    }
}

/// The answer, where a row costs less by itself.
fn conclude(points: &[Pressed], with: &str) -> Found {
    let list = |points: &[&Pressed]| points.iter().map(|point| point.words()).collect::<Vec<_>>().join("; ");
    let grown: Vec<&Pressed> = points.iter().filter(|point| point.has_grown()).collect();
    if !grown.is_empty() {
        let words = format!("{with}; pressed harder: {}", list(&grown));
        return Found { verdict: Verdict::Seen, words, reason: None };
    }
    let lost: Vec<&Pressed> = points.iter().filter(|point| point.is_lost_in_noise()).collect();
    if !lost.is_empty() {
        return Found::nothing(Verdict::TooNoisy, format!("noise hides the pressure ({with}; {})", list(&lost)));
    }
    let (idle, rest): (Vec<&Pressed>, Vec<&Pressed>) =
        points.iter().partition(|point| point.from.high == 0.0 && point.to.high == 0.0);
    let mut words = format!("{with}; no point is pressed harder");
    if !rest.is_empty() {
        words.push_str(&format!(": {}", list(&rest)));
    }
    if !idle.is_empty() {
        let names: Vec<&str> = idle.iter().map(|point| point.point.name()).collect();
        words.push_str(&format!("; 0 in both: {}", names.join(", ")));
    }
    Found { verdict: Verdict::NotSeen, words, reason: None }
}

/// The answers in sentences.
pub(super) fn sentences(records: &[ClaimRecord]) -> Vec<String> {
    let sentence = |record: &ClaimRecord| {
        let what = record.text.rsplit_once(": ").map_or(record.text.as_str(), |(_, what)| what);
        let said = match record.verdict {
            Verdict::Seen => "yes",
            Verdict::NotSeen => "no",
            other => other.words(),
        };
        format!("{what}: {said}. {}.", capital(&record.words))
    };
    records.iter().map(sentence).collect()
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

#[cfg(test)]
#[path = "pressure_tests.rs"]
mod tests;
