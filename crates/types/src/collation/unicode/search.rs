//! Texts in texts: a match begins and ends between characters, and is what compares equal.

use super::{Sight, Unit, Units, is_simple};
use crate::collation::Collation;
use crate::collation::unicode::table::Entry;

/// A text as a row of units, each with its characters.
#[derive(Debug, Clone)]
pub(crate) struct Places {
    places: Vec<Place>,
}

/// A unit of a text; none for a character without a weight.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    unit: Option<Unit>,
    /// Where its characters are, in bytes: a letter's with the marks behind it.
    start: usize,
    end: usize,
    /// Whether it is the first of what its character stands for, and the last.
    first: bool,
    last: bool,
    /// The next place with a unit, from this one on.
    weighted: usize,
}

impl Places {
    /// The units of a text.
    pub(crate) fn of(collation: Collation, text: &str) -> Places {
        let sight = Sight::of(collation);
        let mut places: Vec<Place> = Vec::with_capacity(text.len());
        let mut last_weighted = None;
        for (start, c) in text.char_indices() {
            let end = start + c.len_utf8();
            let before = last_weighted.and_then(|at: usize| places.get_mut(at));
            if let (Entry::Mark(mark), Some(Place { unit: Some(Unit::Letter(letter)), end: of, .. })) =
                (sight.entry(c), before)
            {
                if sight.marks {
                    letter.mark = letter.mark.saturating_add(mark);
                }
                *of = end;
                continue;
            }
            let from = places.len();
            let place = |unit| Place { unit, start, end, first: false, last: false, weighted: 0 };
            places.extend(Units::new(&text[start..end], sight).map(|unit| place(Some(unit))));
            if places.len() == from {
                places.push(place(None));
            } else {
                last_weighted = Some(places.len() - 1);
            }
            places[from].first = true;
            if let Some(place) = places.last_mut() {
                place.last = true;
            }
        }
        let mut weighted = places.len();
        for (at, place) in places.iter_mut().enumerate().rev() {
            if place.unit.is_some() {
                weighted = at;
            }
            place.weighted = weighted;
        }
        Places { places }
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether a character begins at a place; one does behind the last.
    pub(crate) fn begins(&self, at: usize) -> bool {
        self.places.get(at).is_none_or(|place| place.first)
    }

    /// The bytes of the character at a place.
    pub(crate) fn bytes(&self, at: usize) -> (usize, usize) {
        (self.places[at].start, self.places[at].end)
    }

    /// The place behind the character that begins at one.
    pub(crate) fn behind(&self, at: usize) -> usize {
        (at..self.places.len()).find(|&at| self.places[at].last).map_or(self.places.len(), |last| last + 1)
    }

    /// The character that begins at a place.
    pub(crate) fn character(&self, text: &str, at: usize) -> Option<char> {
        let place = self.places.get(at)?;
        text[place.start..].chars().next()
    }

    /// Whether only blanks, and characters without a weight, are left from a place on.
    pub(crate) fn is_blank_from(&self, text: &str, at: usize) -> bool {
        self.places[at..].iter().all(|place| place.unit.is_none() || &text[place.start..place.end] == " ")
    }

    /// The place behind another text, which stands at one; a character begins there.
    pub(crate) fn behind_run(&self, at: usize, run: &Places) -> Option<usize> {
        let mut at = at;
        for wanted in run.places.iter().filter(|place| place.unit.is_some()) {
            at = self.places.get(at)?.weighted;
            if self.places.get(at)?.unit != wanted.unit {
                return None;
            }
            at += 1;
        }
        self.begins(at).then_some(at)
    }
}

/// Longer texts, in bytes, are searched character by character, so that what their units take stays bounded.
pub(super) const UNITS_MAX: usize = 1 << 20;

/// A text that is looked for in another one.
#[derive(Debug)]
pub(crate) enum Finder<'t> {
    /// Both are of ASCII's letters.
    Simple {
        text: &'t str,
        wanted: &'t str,
        case: bool,
    },
    /// Each character is one unit.
    Single {
        text: &'t str,
        wanted: &'t str,
        sight: Sight,
    },
    Units {
        text: Vec<Place>,
        wanted: Vec<Place>,
    },
}

impl<'t> Finder<'t> {
    pub(in crate::collation) fn new(collation: Collation, text: &'t str, wanted: &'t str) -> Finder<'t> {
        if is_simple(wanted) && is_simple(text) {
            return Finder::Simple { text, wanted, case: collation.is_case_sensitive() };
        }
        let sight = Sight::of(collation);
        if text.len() > UNITS_MAX || sight.is_single(text) && sight.is_single(wanted) {
            return Finder::Single { text, wanted, sight };
        }
        let weighted = |text: &str| {
            let places = Places::of(collation, text).places.into_iter();
            places.filter(|place| place.unit.is_some()).collect()
        };
        Finder::Units { text: weighted(text), wanted: weighted(wanted) }
    }

    /// The first place, as byte offsets, at or after `from` where the text stands. One without any weight stands
    /// nowhere.
    pub(in crate::collation) fn find(&self, from: usize) -> Option<(usize, usize)> {
        match self {
            Finder::Simple { text, wanted, case } => {
                let (bytes, wanted) = (text.as_bytes().get(from..)?, wanted.as_bytes());
                let is_same = |(x, y): (&u8, &u8)| if *case { x == y } else { x.eq_ignore_ascii_case(y) };
                let found = bytes.windows(wanted.len().max(1)).position(|at| at.iter().zip(wanted).all(is_same))?;
                Some((from + found, from + found + wanted.len()))
            }
            Finder::Single { text, wanted, sight } => {
                let mut starts = text[from..].char_indices().map(|(at, _)| from + at);
                starts.find_map(|start| {
                    let mut have = text[start..].chars();
                    let all = wanted.chars().all(|c| have.next().is_some_and(|h| sight.is_same(h, c)));
                    all.then(|| (start, text.len() - have.as_str().len()))
                })
            }
            Finder::Units { text, wanted } => {
                let count = wanted.len();
                if count == 0 {
                    return None;
                }
                let begin = text.partition_point(|place| place.start < from);
                let is_match = |at: &&[Place]| {
                    at[0].first && at[count - 1].last && at.iter().zip(wanted).all(|(x, y)| x.unit == y.unit)
                };
                let found = text[begin..].windows(count).find(is_match)?;
                Some((found[0].start, found[count - 1].end))
            }
        }
    }
}
