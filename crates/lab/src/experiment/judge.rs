//! Medians with their spread, and what may be concluded from them.
//!
//! The rule: two arms differ when their medians are further apart than either arm's own runs are among themselves. A
//! single run has no spread, so nothing follows from it.

use super::plan::{Claim, Expect};
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

pub(super) fn difference(from: &Spread, to: &Spread) -> Difference {
    if from.count < 2 || to.count < 2 {
        return Difference::Unknown;
    }
    let apart = to.median - from.median;
    let noise = (from.high - from.low).max(to.high - to.low);
    let size = from.median.abs().max(to.median.abs());
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
    /// The noise is larger than the difference, or there are too few runs.
    Open,
}

impl Verdict {
    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Verdict::Seen => "seen",
            Verdict::NotSeen => "not seen",
            Verdict::Open => "no conclusion",
        }
    }
}

fn verdict(expect: Expect, from: &Spread, to: &Spread) -> Verdict {
    let found = difference(from, to);
    let is_near = (to.median - from.median).abs() <= ABOUT * from.median.abs().max(to.median.abs());
    match (expect, found) {
        (Expect::Below(limit), _) if to.high < limit => Verdict::Seen,
        (Expect::Below(limit), _) if to.low >= limit => Verdict::NotSeen,
        (Expect::Below(_), _) => Verdict::Open,
        (Expect::Higher, Difference::Higher) | (Expect::Lower, Difference::Lower) => Verdict::Seen,
        (Expect::NotLower, Difference::Higher | Difference::None) => Verdict::Seen,
        (Expect::Same, Difference::None) => Verdict::Seen,
        (Expect::Same, Difference::Higher | Difference::Lower) if is_near => Verdict::Seen,
        (_, Difference::Unknown) => Verdict::Open,
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

/// Judges a claim at the most sessions that both arms have runs of.
pub(super) fn judge(claim: &Claim, panels: &[PanelRecord]) -> ClaimRecord {
    let record = |verdict, words| ClaimRecord {
        text: claim.text.clone(),
        published: claim.published.map(str::to_owned),
        verdict,
        words,
    };
    let Some(panel) = panels.get(claim.panel) else { return record(Verdict::Open, "there was no run".to_owned()) };
    let both = |sessions: &usize| {
        let of = |arm| panel.spread(arm, *sessions, &claim.metric);
        Some((*sessions, of(claim.from)?, of(claim.to)?))
    };
    let Some((sessions, from, to)) = panel.sessions.iter().rev().find_map(both) else {
        return record(Verdict::Open, "it was stopped before there was a run of each arm".to_owned());
    };
    let verdict = verdict(claim.expect, &from, &to);
    let name = |arm: usize| panel.arms.get(arm).map_or("?", |arm| arm.name.as_str());
    let with = crate::show::counted(sessions, "session");
    let noise = |spread: &Spread| match spread.count {
        1 => "one run".to_owned(),
        runs => format!("{} of {runs} runs", spread.noise_words()),
    };
    let metric = claim.metric.title();
    let mut words = match claim.expect {
        Expect::Below(limit) => {
            format!(
                "{with}, {metric}: {} with {} ({}), to be below {}",
                figure(to.median),
                name(claim.to),
                noise(&to),
                figure(limit)
            )
        }
        _ => {
            let ratio = match from.median == 0.0 {
                true => String::new(),
                false => format!(", x {:.2}", to.median / from.median),
            };
            format!(
                "{with}, {metric}: {} with {} ({}), {} with {} ({}){ratio}",
                figure(from.median),
                name(claim.from),
                noise(&from),
                figure(to.median),
                name(claim.to),
                noise(&to)
            )
        }
    };
    if verdict == Verdict::Open {
        words.push_str(match (claim.expect, from.count.min(to.count)) {
            (Expect::Below(_), _) => ". Some runs are, others are not",
            (_, 1) => ". One run has no spread: nothing follows from it",
            _ => ". The runs of an arm differ by more than the arms do",
        });
    }
    record(verdict, words)
}

#[cfg(test)]
mod tests {
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
        assert_eq!(difference(&none, &mostly_none), Difference::Unknown);
        assert_eq!(Spread::of(std::iter::empty()), None);
    }

    #[test]
    fn noise_larger_than_the_difference_concludes_nothing() {
        let (quiet, loud) = (spread(&[99.0, 100.0, 101.0]), spread(&[80.0, 120.0, 160.0]));
        let above = spread(&[118.0, 120.0, 121.0]);
        assert_eq!(difference(&quiet, &above), Difference::Higher);
        assert_eq!(difference(&above, &quiet), Difference::Lower);
        assert_eq!(difference(&quiet, &loud), Difference::Unknown);
        assert_eq!(difference(&quiet, &spread(&[100.0, 100.5, 102.0])), Difference::None);
        assert_eq!(difference(&quiet, &spread(&[300.0])), Difference::Unknown, "one run has no spread");
        assert_eq!(difference(&spread(&[0.0, 0.0]), &spread(&[0.0, 0.0])), Difference::None);
    }

    #[test]
    fn verdicts_can_come_out_negative() {
        let (low, high) = (spread(&[10.0, 10.1]), spread(&[20.0, 20.1]));
        let loud = spread(&[5.0, 40.0]);
        for (expect, from, to, wanted) in [
            (Expect::Higher, low, high, Verdict::Seen),
            (Expect::Higher, high, low, Verdict::NotSeen),
            (Expect::Higher, low, low, Verdict::NotSeen),
            (Expect::Higher, low, loud, Verdict::Open),
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
            (Expect::Below(15.0), low, loud, Verdict::Open),
        ] {
            assert_eq!(verdict(expect, &from, &to), wanted, "{expect:?} {from:?} {to:?}");
        }
    }

    #[test]
    fn figures_have_the_digits_they_bear() {
        let shown = [0.0, 0.00123, 0.5, 12.34, 123.4, 1_234_567.0].map(figure);
        assert_eq!(shown, ["0", "0.0012", "0.50", "12.3", "123", "1,234,567"]);
    }
}
