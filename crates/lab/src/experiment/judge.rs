//! Medians with their spread, and what may be concluded from them.
//!
//! The rule: two arms differ when their medians are further apart than either arm's own runs are among themselves, and further
//! than two arms with the same settings are. A single run has no spread, so nothing follows from it.
//!
//! | verdict | when |
//! |---|---|
//! | cannot be judged here | the claim needs more CPUs or nodes; one arm has one scheduler and the other several; a counter is 0 in both; an arm's in-memory table was made an ordinary one |
//! | too noisy | other processes were busy in most runs of an arm; or the difference is below that of the runs, or of two equal arms |
//! | no conclusion | there are too few runs |
//! | seen, not seen | else |
//! | predicted, predicted otherwise | beside *cannot be judged here*: the predictor's answer (`super::predicted`) |

use super::plan::{Claim, Expect, Metric};
use super::record::{ClaimRecord, PanelRecord};
use serde::{Deserialize, Serialize};

/// Arms whose runs are within this part of each other, and whose medians are too, are called equal.
const QUIET: f64 = 0.05;
/// What [`Expect::Same`] bears.
const ABOUT: f64 = 0.10;

/// The middle, the least and the most of some runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    /// The middle.
    pub median: f64,
    /// The least.
    pub low: f64,
    /// The most.
    pub high: f64,
    /// Runs.
    pub count: usize,
}

impl Spread {
    /// Of these figures; `None` without one.
    pub fn of(values: impl Iterator<Item = f64>) -> Option<Self> {
        let mut values: Vec<f64> = values.collect();
        values.sort_unstable_by(f64::total_cmp);
        let (low, high) = (*values.first()?, *values.last()?);
        let middle = values.len() / 2;
        let median = if values.len() % 2 == 1 { values[middle] } else { (values[middle - 1] + values[middle]) / 2.0 };
        Some(Self { median, low, high, count: values.len() })
    }

    /// From the least to the most, as a part of the median; `None` when the median is 0 and not all figures are.
    pub fn noise(&self) -> Option<f64> {
        match (self.high == self.low, self.median == 0.0) {
            (true, _) => Some(0.0),
            (false, true) => None,
            (false, false) => Some((self.high - self.low) / self.median.abs()),
        }
    }

    /// The same in words.
    pub(super) fn noise_words(&self) -> String {
        match self.noise() {
            Some(noise) => format!("spread {:.0}%", 100.0 * noise),
            None => format!("from {} to {}", figure(self.low), figure(self.high)),
        }
    }
}

/// What two arms are to each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Difference {
    /// B is above A.
    Higher,
    /// B is below A.
    Lower,
    /// They are the same, as far as quiet runs can tell.
    None,
    /// The runs of an arm differ by more than the arms do.
    Unknown,
}

/// Compares two arms, where two arms with the same settings differ by `twins` of their size.
pub(super) fn difference(from: &Spread, to: &Spread, twins: f64) -> Difference {
    if from.count < 2 || to.count < 2 {
        return Difference::Unknown;
    }
    let apart = to.median - from.median;
    let size = from.median.abs().max(to.median.abs());
    let noise = (from.high - from.low).max(to.high - to.low).max(twins * size);
    match () {
        () if apart.abs() > noise && apart > 0.01 * size => Difference::Higher,
        () if apart.abs() > noise && -apart > 0.01 * size => Difference::Lower,
        () if noise <= QUIET * size => Difference::None,
        () => Difference::Unknown,
    }
}

/// What became of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Verdict {
    /// The shape was seen.
    Seen,
    /// It was not: there is no difference, or the opposite one.
    NotSeen,
    /// There are too few runs.
    Open,
    /// The machine's noise is larger than the difference.
    TooNoisy,
    /// This machine cannot show it, whatever comes out.
    CannotBeJudged,
    /// The predictor, asked about the published machine, has the published figures inside its intervals.
    Predicted,
    /// It has not.
    PredictedOtherwise,
}

impl Verdict {
    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Verdict::Seen => "seen",
            Verdict::NotSeen => "not seen",
            Verdict::Open => "no conclusion",
            Verdict::TooNoisy => "too noisy",
            Verdict::CannotBeJudged => "cannot be judged here",
            Verdict::Predicted => "predicted",
            Verdict::PredictedOtherwise => "predicted otherwise",
        }
    }
}

fn verdict(expect: Expect, from: &Spread, to: &Spread, twins: f64) -> Verdict {
    let found = difference(from, to, twins);
    let is_near = (to.median - from.median).abs() <= ABOUT * from.median.abs().max(to.median.abs());
    match (expect, found) {
        (Expect::Below(limit), _) if to.high < limit => Verdict::Seen,
        (Expect::Below(limit), _) if to.low >= limit => Verdict::NotSeen,
        (Expect::Below(_), _) => Verdict::TooNoisy,
        (Expect::Higher, Difference::Higher) | (Expect::Lower, Difference::Lower) => Verdict::Seen,
        (Expect::NotLower, Difference::Higher | Difference::None) => Verdict::Seen,
        (Expect::Same, Difference::None) => Verdict::Seen,
        (Expect::Same, Difference::Higher | Difference::Lower) if is_near => Verdict::Seen,
        (_, Difference::Unknown) if from.count < 2 || to.count < 2 => Verdict::Open,
        (_, Difference::Unknown) => Verdict::TooNoisy,
        _ => Verdict::NotSeen,
    }
}

/// A number with as many digits as it bears.
pub(crate) fn figure(value: f64) -> String {
    match value.abs() {
        size if size >= 100.0 => crate::show::grouped(value.round() as u64),
        size if size >= 10.0 => format!("{value:.1}"),
        0.0 => "0".to_owned(),
        size if size < 0.01 => format!("{value:.4}"),
        _ => format!("{value:.2}"),
    }
}

/// Why arms cannot be compared on this machine, whatever their figures.
fn cannot(claim: &Claim, panel: &PanelRecord, from: &Spread, to: &Spread) -> Option<String> {
    if let Some(why) = panel.not_in_memory(claim.from).or_else(|| panel.not_in_memory(claim.to)) {
        return Some(why);
    }
    if matches!(claim.expect, Expect::Below(_)) {
        return None;
    }
    let counts_contention = !matches!(claim.metric, Metric::Rows | Metric::LogMegabytes | Metric::LogBytes);
    let cpus = |arm: usize| panel.arms.get(arm).and_then(|arm| arm.cpus);
    let (one, other) = (cpus(claim.from), cpus(claim.to));
    if one != other
        && let Some(arm) = [claim.from, claim.to].into_iter().find(|arm| cpus(*arm) == Some(1))
    {
        let name = panel.arms.get(arm).map_or("?", |arm| arm.name.as_str());
        return Some(format!("{name} leaves one scheduler, on which sessions never meet"));
    }
    if counts_contention && from.high == 0.0 && to.high == 0.0 {
        return Some("the counter is 0 in both".to_owned());
    }
    None
}

/// The reason why a verdict concludes nothing; `None` for one that does.
fn reason(
    verdict: Verdict,
    cannot: Option<String>,
    is_busy: bool,
    expect: Expect,
    pair: [&Spread; 2],
    twins: f64,
) -> Option<String> {
    let is_bound = matches!(expect, Expect::Below(_));
    match verdict {
        Verdict::Seen | Verdict::NotSeen | Verdict::Predicted | Verdict::PredictedOtherwise => None,
        Verdict::CannotBeJudged => Some(cannot.unwrap_or_default()),
        Verdict::Open => Some("one run has no spread, so nothing follows from it".to_owned()),
        Verdict::TooNoisy if is_busy => Some("other processes were busy in most of the runs".to_owned()),
        Verdict::TooNoisy if is_bound => Some("some runs are below the bound, others are not".to_owned()),
        Verdict::TooNoisy if difference(pair[0], pair[1], 0.0) != Difference::Unknown => {
            Some(format!("two arms with the same settings differ by {:.0}% too", 100.0 * twins))
        }
        Verdict::TooNoisy => Some("the runs of an arm differ by more than the arms do".to_owned()),
    }
}

/// Judges a claim at the most sessions that both arms have runs of.
pub(super) fn judge(claim: &Claim, panels: &[PanelRecord]) -> ClaimRecord {
    let record = |verdict, words, ratio, reason| ClaimRecord {
        text: claim.text.clone(),
        published: claim.published.map(str::to_owned),
        verdict,
        words,
        ratio,
        reason,
        prediction: None,
    };
    let unfinished = |why: &str| record(Verdict::Open, why.to_owned(), None, Some(why.to_owned()));
    let Some(panel) = panels.get(claim.panel) else { return unfinished("there was no run") };
    let both = |sessions: &usize| {
        let of = |arm| panel.spread(arm, *sessions, &claim.metric);
        Some((*sessions, of(claim.from)?, of(claim.to)?))
    };
    let Some((sessions, from, to)) = panel.sessions.iter().rev().find_map(both) else {
        return unfinished("it was stopped before there was a run of each arm");
    };
    let twins = panel.twin_difference(sessions, &claim.metric);
    let cannot = claim.cannot.clone().or_else(|| cannot(claim, panel, &from, &to));
    // What is below a bound beside busy processes is below it without them, and a row has as many bytes.
    let is_busy = !matches!(claim.expect, Expect::Below(_))
        && claim.metric != Metric::LogBytes
        && (panel.is_noisy(claim.from, sessions) || panel.is_noisy(claim.to, sessions));
    let verdict = match (&cannot, verdict(claim.expect, &from, &to, twins)) {
        (Some(_), _) => Verdict::CannotBeJudged,
        (None, Verdict::Seen | Verdict::NotSeen) if is_busy => Verdict::TooNoisy,
        (None, verdict) => verdict,
    };
    let is_bound = matches!(claim.expect, Expect::Below(_));
    let ratio = (!is_bound && from.median != 0.0).then(|| to.median / from.median);
    let mut words = figures(claim, panel, sessions, &from, &to, ratio);
    let reason = reason(verdict, cannot, is_busy, claim.expect, [&from, &to], twins);
    if let Some(reason) = &reason {
        let is_cannot = verdict == Verdict::CannotBeJudged;
        words.push_str(&if is_cannot {
            format!(". This machine cannot show it: {reason}")
        } else {
            format!("; {reason}")
        });
    }
    record(verdict, words, ratio, reason)
}

/// The figures of a claim in words.
fn figures(
    claim: &Claim,
    panel: &PanelRecord,
    sessions: usize,
    from: &Spread,
    to: &Spread,
    ratio: Option<f64>,
) -> String {
    let name = |arm: usize| panel.arms.get(arm).map_or("?", |arm| arm.name.as_str());
    let with = crate::show::counted(sessions, "session");
    let noise = |spread: &Spread| match spread.count {
        1 => "one run".to_owned(),
        runs => format!("{} of {runs} runs", spread.noise_words()),
    };
    let metric = claim.metric.title();
    if let Expect::Below(limit) = claim.expect {
        return format!(
            "{with}, {metric}: {} with {} ({}), to be below {}",
            figure(to.median),
            name(claim.to),
            noise(to),
            figure(limit)
        );
    }
    format!(
        "{with}, {metric}: {} with {} ({}), {} with {} ({}){}",
        figure(from.median),
        name(claim.from),
        noise(from),
        figure(to.median),
        name(claim.to),
        noise(to),
        ratio.map_or_else(String::new, |ratio| format!(", x {ratio:.2}"))
    )
}

#[cfg(test)]
mod tests {
    use super::super::record::{ArmRecord, Cell};
    use super::*;

    fn spread(values: &[f64]) -> Spread {
        Spread::of(values.iter().copied()).expect("figures")
    }

    #[test]
    fn the_middle_is_the_middle() {
        let three = spread(&[30.0, 10.0, 20.0]);
        assert_eq!((three.median, three.low, three.high, three.count), (20.0, 10.0, 30.0, 3));
        assert_eq!((spread(&[1.0, 2.0]).median, three.noise()), (1.5, Some(1.0)));
        assert_eq!(spread(&[0.0, 0.0]).noise(), Some(0.0));
        let (mostly_none, none) = (spread(&[0.0, 0.0, 4.0]), spread(&[0.0, 0.0]));
        assert_eq!((mostly_none.noise(), mostly_none.noise_words().as_str()), (None, "from 0 to 4.00"));
        assert_eq!(difference(&none, &mostly_none, 0.0), Difference::Unknown);
        assert_eq!(Spread::of(std::iter::empty()), None);
    }

    #[test]
    fn noise_larger_than_the_difference_concludes_nothing() {
        let (quiet, loud) = (spread(&[99.0, 100.0, 101.0]), spread(&[80.0, 120.0, 160.0]));
        let above = spread(&[118.0, 120.0, 121.0]);
        assert_eq!(difference(&quiet, &above, 0.0), Difference::Higher);
        assert_eq!(difference(&above, &quiet, 0.0), Difference::Lower);
        assert_eq!(difference(&quiet, &loud, 0.0), Difference::Unknown);
        assert_eq!(difference(&quiet, &spread(&[100.0, 100.5, 102.0]), 0.0), Difference::None);
        assert_eq!(difference(&quiet, &spread(&[300.0]), 0.0), Difference::Unknown, "one run has no spread");
        assert_eq!(difference(&spread(&[0.0, 0.0]), &spread(&[0.0, 0.0]), 0.0), Difference::None);
    }

    #[test]
    fn verdicts_can_come_out_negative() {
        let (low, high) = (spread(&[10.0, 10.1]), spread(&[20.0, 20.1]));
        let loud = spread(&[5.0, 40.0]);
        for (expect, from, to, wanted) in [
            (Expect::Higher, low, high, Verdict::Seen),
            (Expect::Higher, high, low, Verdict::NotSeen),
            (Expect::Higher, low, low, Verdict::NotSeen),
            (Expect::Higher, low, loud, Verdict::TooNoisy),
            (Expect::Lower, high, low, Verdict::Seen),
            (Expect::Lower, low, high, Verdict::NotSeen),
            (Expect::Same, low, low, Verdict::Seen),
            (Expect::Same, low, high, Verdict::NotSeen),
            (Expect::Same, low, spread(&[10.6, 10.7]), Verdict::Seen),
            (Expect::NotLower, low, low, Verdict::Seen),
            (Expect::NotLower, low, high, Verdict::Seen),
            (Expect::NotLower, high, low, Verdict::NotSeen),
            (Expect::Below(15.0), high, low, Verdict::Seen),
            (Expect::Below(15.0), low, high, Verdict::NotSeen),
            (Expect::Below(15.0), low, loud, Verdict::TooNoisy),
        ] {
            assert_eq!(verdict(expect, &from, &to, 0.0), wanted, "{expect:?} {from:?} {to:?}");
        }
    }

    /// Rows a second, spins, and whether others were busy.
    type MadeUp = (f64, i64, bool);
    /// The CPUs of an arm, the arm that it repeats, and its runs.
    type MadeUpArm<'a> = (Option<usize>, Option<usize>, &'a [MadeUp]);

    /// A panel of runs that are made up.
    fn panel(arms: &[MadeUpArm<'_>]) -> PanelRecord {
        let run = |&(rate, spins, noisy): &MadeUp| {
            let lock = serde_json::json!({"name": "XDESMGR", "collisions": 1, "spins": spins, "spins_per_collision": 1.0,
                "sleep_time": 0, "backoffs": 0});
            serde_json::from_value(serde_json::json!({"rows": 1000, "seconds": 1.0, "rows_per_second": rate, "log_bytes": 1,
                "log_bytes_written": 1, "flushes": 1, "cpu_seconds": 1.0, "other_cpu_percent": 1.0, "noisy": noisy, "policies": {},
                "waits": [], "latches": [], "spinlocks": [lock], "series": []}))
            .expect("a run")
        };
        let arm = |(place, (cpus, twin_of, _)): (usize, &MadeUpArm<'_>)| ArmRecord {
            name: format!("arm {place}"),
            settings: Vec::new(),
            cpus: *cpus,
            twin_of: *twin_of,
        };
        let cell = |(arm, (_, _, runs)): (usize, &MadeUpArm<'_>)| Cell {
            arm,
            sessions: 4,
            runs: runs.iter().map(run).collect(),
            profile: None,
        };
        PanelRecord {
            title: "made up".to_owned(),
            workload: "singleton-insert".to_owned(),
            durability: "FULL".to_owned(),
            device: String::new(),
            tsql: Vec::new(),
            sessions: vec![4],
            arms: arms.iter().enumerate().map(arm).collect(),
            charts: Vec::new(),
            cells: arms.iter().enumerate().map(cell).collect(),
        }
    }

    fn judged(panel: PanelRecord, metric: Metric, expect: Expect, cannot: Option<&str>) -> ClaimRecord {
        let text = "B is more than A".to_owned();
        let cannot = cannot.map(str::to_owned);
        judge(&Claim { text, published: None, panel: 0, from: 0, to: 1, metric, expect, cannot }, &[panel])
    }

    const LOW: &[MadeUp] = &[(100.0, 5, false), (101.0, 5, false)];
    const HIGH: &[MadeUp] = &[(200.0, 50, false), (201.0, 50, false)];

    #[test]
    fn what_equal_arms_differ_by_concludes_nothing() {
        let twin = |runs| panel(&[(None, None, LOW), (None, None, HIGH), (None, Some(0), runs)]);
        let quiet = judged(twin(LOW), Metric::Rows, Expect::Higher, None);
        assert_eq!(quiet.verdict, Verdict::Seen, "{}", quiet.words);
        // Two arms of the same settings are further apart than the arms that are compared.
        let loud = judged(twin(&[(370.0, 5, false), (371.0, 5, false)]), Metric::Rows, Expect::Higher, None);
        assert_eq!(loud.verdict, Verdict::TooNoisy);
        assert!(loud.words.ends_with("two arms with the same settings differ by 73% too"), "{}", loud.words);
        let less = judged(twin(&[(130.0, 5, false), (131.0, 5, false)]), Metric::Rows, Expect::Higher, None);
        assert_eq!(less.verdict, Verdict::Seen, "a smaller difference than that of the arms: {}", less.words);
    }

    #[test]
    fn busy_processes_conclude_nothing() {
        let busy: &[MadeUp] = &[(200.0, 50, true), (201.0, 50, true), (200.0, 50, false)];
        let found = judged(panel(&[(None, None, LOW), (None, None, busy)]), Metric::Rows, Expect::Higher, None);
        assert_eq!(found.verdict, Verdict::TooNoisy);
        assert!(found.words.ends_with("other processes were busy in most of the runs"), "{}", found.words);
        // A spinlock that spins less than a bound beside them spins less without them.
        let below = judged(
            panel(&[(None, None, LOW), (None, None, busy)]),
            Metric::spins("XDESMGR"),
            Expect::Below(60.0),
            None,
        );
        assert_eq!(below.verdict, Verdict::Seen, "{}", below.words);
        let bytes = judged(panel(&[(None, None, LOW), (None, None, busy)]), Metric::LogBytes, Expect::Same, None);
        assert_eq!(bytes.verdict, Verdict::Seen, "{}", bytes.words);
    }

    #[test]
    fn what_a_machine_cannot_show_is_not_judged() {
        let spins = || Metric::spins("XDESMGR");
        let one_left = || panel(&[(None, None, HIGH), (Some(1), None, LOW)]);
        for (metric, panel, cannot, why) in [
            (Metric::Rows, one_left(), None, "arm 1 leaves one scheduler, on which sessions never meet"),
            (spins(), one_left(), None, "arm 1 leaves one scheduler, on which sessions never meet"),
            (
                spins(),
                panel(&[(None, None, &[(1.0, 0, false); 2]), (None, None, &[(9.0, 0, false); 2])]),
                None,
                "the counter is 0 in both",
            ),
            (
                Metric::Rows,
                panel(&[(None, None, LOW), (None, None, HIGH)]),
                Some("it takes 8 CPUs or more, and here there are 2"),
                "it takes 8",
            ),
        ] {
            let found = judged(panel, metric, Expect::Higher, cannot);
            assert_eq!(found.verdict, Verdict::CannotBeJudged, "{}", found.words);
            assert!(found.words.contains(&format!("This machine cannot show it: {why}")), "{}", found.words);
        }
        // One CPU for each arm is a comparison.
        let both = judged(panel(&[(Some(1), None, LOW), (Some(1), None, HIGH)]), Metric::Rows, Expect::Higher, None);
        assert_eq!(both.verdict, Verdict::Seen, "{}", both.words);
    }

    #[test]
    fn figures_have_the_digits_they_bear() {
        let shown = [0.0, 0.00123, 0.5, 12.34, 123.4, 1_234_567.0].map(figure);
        assert_eq!(shown, ["0", "0.0012", "0.50", "12.3", "123", "1,234,567"]);
    }
}
