//! Unicode comparison as Windows does it: the order of texts of `nchar` and `nvarchar` in the collations of
//! Latin1_General's family, and of
//! its `char` and `varchar` in those whose names do not begin with SQL_.
//!
//! A text is a row of letters, and of specials between them: controls, the apostrophe, hyphens. It is compared by
//! levels:
//!
//! ```text
//!   letters     their weights; specials and characters without a weight are passed over (`co-op` stands beside `coop`)
//!   marks       accents, unless the collation is blind to them
//!   cases       upper case, and kana and width where the collation sees them; the plain form comes first
//!   specials    which ones, and between which letters; a later one comes first
//! ```
//!
//! Characters that stand for several are those: `ß` is `ss` in every collation. The sort key has the levels one behind
//! the other:
//!
//! ```text
//!   weight of each letter ... | 0                                                                 when that is all
//!   weight of each letter ... | 1 | 2 + each mark ... | 3 | 4 + each case ... | 2 | special ... | 0
//! ```
//!
//! Marks and cases end at the last one that is not plain; a level without any is left out with the byte before it. A
//! special is three bytes,
//! each from 4 on, that count down with its place, and its number. Texts of ASCII are compared without any of this.

mod alphabet;
mod reduce;
mod search;
mod table;

pub(super) use reduce::reduced;
pub(crate) use search::{Finder, Places};

use super::{
    ACCENT_INSENSITIVE, CASE_INSENSITIVE, Collation, KANA_INSENSITIVE, VARIATION_SENSITIVE, WIDTH_INSENSITIVE,
    hash_bytes, language,
};
use std::cmp::Ordering;
use std::str::Chars;
use table::{
    ASCII_WEIGHTS, COMPATIBLE, Entry, FULL_WIDTH, KATAKANA, Letter, PLAIN, SCRIPT, UPPER, VARIATIONS, entry, kept,
    weight_bytes,
};

/// Bytes of a sort key for one unit of a string's declared length, at most: a character that stands for three letters
/// of three bytes, each with its
/// mark; and with its case where that counts.
pub(super) const KEY_BYTES_PER_UNIT: usize = 12;
pub(super) const CASED_KEY_BYTES_PER_UNIT: usize = 15;

const END: u8 = 0;
const LEVELS: u8 = 1;
const SPECIALS: u8 = 2;
const CASES: u8 = 3;
/// The lowest byte of a level.
const LOWEST: u8 = 4;
/// The number of a mark that has no letter before it.
const LONE_MARK: u8 = 219;

/// What a collation sees.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sight {
    version: usize,
    marks: bool,
    case: u8,
    /// The letters of the language that stand for themselves, and not for several.
    kept: &'static str,
    variations: bool,
}

impl Sight {
    fn of(collation: Collation) -> Sight {
        let mut case = 0;
        for (blind, seen) in [
            (CASE_INSENSITIVE, UPPER | SCRIPT),
            (KANA_INSENSITIVE, KATAKANA),
            (WIDTH_INSENSITIVE, FULL_WIDTH | COMPATIBLE),
        ] {
            if collation.0 & blind == 0 {
                case |= seen;
            }
        }
        Sight {
            version: collation.version().into(),
            marks: collation.0 & ACCENT_INSENSITIVE == 0,
            case,
            kept: if collation.is_of_letters() { "" } else { language::letters(collation) },
            variations: collation.0 & VARIATION_SENSITIVE != 0,
        }
    }

    /// What a character counts for.
    #[inline]
    fn entry(self, c: char) -> Entry {
        match entry(c, self.version) {
            Entry::Several(_) if self.kept.contains(c) => kept(c),
            Entry::Special(VARIATIONS.., _) if !self.variations => Entry::Ignored,
            other => other,
        }
    }

    /// Whether each character of a text is one unit: none stands for several or nothing, and none is a mark.
    fn is_single(self, text: &str) -> bool {
        text.chars().all(|c| matches!(self.entry(c), Entry::Letter(_) | Entry::Special(..)))
    }

    /// Whether two characters are the same unit; those that are not single are the same as themselves alone.
    fn is_same(self, a: char, b: char) -> bool {
        match (self.entry(a), self.entry(b)) {
            _ if a == b => true,
            (Entry::Letter(x), Entry::Letter(y)) => self.seen(x) == self.seen(y),
            (Entry::Special(x, _), Entry::Special(y, _)) => x == y && self.case & FULL_WIDTH == 0,
            _ => false,
        }
    }

    fn seen(self, letter: Letter) -> Letter {
        Letter { mark: if self.marks { letter.mark } else { PLAIN }, case: letter.case & self.case, ..letter }
    }
}

/// A letter or special, as it is compared, and the bytes of the text that it is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unit {
    Letter(Letter),
    Special(u8),
}

/// What a text is compared as.
struct Units<'t> {
    chars: Chars<'t>,
    /// What a character stands for that was met last.
    several: Chars<'static>,
    /// What was met behind the letter that was given last.
    ahead: Option<Unit>,
    sight: Sight,
}

impl<'t> Units<'t> {
    fn new(text: &'t str, sight: Sight) -> Units<'t> {
        Units { chars: text.chars(), several: "".chars(), ahead: None, sight }
    }

    fn next_entry(&mut self) -> Option<Entry> {
        if let Some(c) = self.several.next() {
            return Some(self.sight.entry(c));
        }
        match self.sight.entry(self.chars.next()?) {
            Entry::Several(text) => {
                self.several = text.chars();
                self.several.next().map(|c| self.sight.entry(c))
            }
            other => Some(other),
        }
    }
}

impl Iterator for Units<'_> {
    type Item = Unit;

    fn next(&mut self) -> Option<Unit> {
        let mut held = match self.ahead.take() {
            Some(Unit::Letter(letter)) => Some(letter),
            special @ Some(_) => return special,
            None => None,
        };
        loop {
            let met = match self.next_entry() {
                None => return held.map(|letter| Unit::Letter(self.sight.seen(letter))),
                Some(Entry::Ignored | Entry::Several(_)) => continue,
                Some(Entry::Mark(mark)) => match &mut held {
                    Some(letter) => {
                        letter.mark = letter.mark.saturating_add(mark);
                        continue;
                    }
                    None if self.sight.marks => Unit::Special(LONE_MARK),
                    None => continue,
                },
                Some(Entry::Letter(letter)) => Unit::Letter(letter),
                Some(Entry::Special(place, wide)) => {
                    Unit::Special(if wide && self.sight.case & FULL_WIDTH != 0 { place | 0x80 } else { place })
                }
            };
            match (held, met) {
                (Some(letter), met) => {
                    self.ahead = Some(met);
                    return Some(Unit::Letter(self.sight.seen(letter)));
                }
                (None, Unit::Letter(letter)) => held = Some(letter),
                (None, special) => return Some(special),
            }
        }
    }
}

/// Orders two strings without blanks at their ends.
#[inline]
pub(super) fn compare(collation: Collation, left: &str, right: &str) -> Ordering {
    let (a, b) = (left.as_bytes(), right.as_bytes());
    let mut case = Ordering::Equal;
    for (&x, &y) in a.iter().zip(b) {
        if x == y {
            continue;
        }
        if (x | y) & 0x80 != 0 {
            return compare_units(collation, left, right);
        }
        let (x_weight, y_weight) = (ASCII_WEIGHTS[usize::from(x)], ASCII_WEIGHTS[usize::from(y)]);
        if x_weight == 0 || y_weight == 0 {
            return compare_units(collation, left, right);
        }
        if x_weight != y_weight {
            return x_weight.cmp(&y_weight);
        }
        if case.is_eq() {
            case = x.is_ascii_uppercase().cmp(&y.is_ascii_uppercase());
        }
    }
    let common = a.len().min(b.len());
    let begins_with_weight =
        |rest: &[u8]| rest.first().is_some_and(|byte| ASCII_WEIGHTS.get(usize::from(*byte)).is_some_and(|w| *w != 0));
    match a.len().cmp(&b.len()) {
        Ordering::Equal if collation.is_case_sensitive() => case,
        Ordering::Equal => Ordering::Equal,
        Ordering::Greater if begins_with_weight(&a[common..]) => Ordering::Greater,
        Ordering::Less if begins_with_weight(&b[common..]) => Ordering::Less,
        _ => compare_units(collation, left, right),
    }
}

/// Orders two strings by all levels.
#[cold]
fn compare_units(collation: Collation, left: &str, right: &str) -> Ordering {
    let sight = Sight::of(collation);
    let (mut a, mut b) = (Units::new(left, sight), Units::new(right, sight));
    let mut has_specials = false;
    let mut next_letter = |units: &mut Units<'_>| {
        units.find_map(|unit| match unit {
            Unit::Letter(letter) => Some(letter),
            Unit::Special(_) => {
                has_specials = true;
                None
            }
        })
    };
    let (mut marks, mut cases) = (Ordering::Equal, Ordering::Equal);
    loop {
        match (next_letter(&mut a), next_letter(&mut b)) {
            (Some(x), Some(y)) => match x.weight.cmp(&y.weight) {
                Ordering::Equal => {
                    marks = marks.then(x.mark.cmp(&y.mark));
                    cases = cases.then(x.case.cmp(&y.case));
                }
                order => return order,
            },
            (None, None) => break,
            (x, y) => return x.is_some().cmp(&y.is_some()),
        }
    }
    let order = marks.then(cases);
    if order.is_ne() || !has_specials {
        return order;
    }
    let (mut specials_a, mut specials_b) = (Vec::new(), Vec::new());
    push_specials(Units::new(left, sight), &mut specials_a);
    push_specials(Units::new(right, sight), &mut specials_b);
    specials_a.cmp(&specials_b)
}

fn push_specials(units: Units<'_>, out: &mut Vec<u8>) {
    let mut letters = 0;
    for unit in units {
        match unit {
            Unit::Letter(_) => letters += 1,
            Unit::Special(number) => push_special(letters, number, out),
        }
    }
}

/// Appends a special behind so many letters: one that comes later is lower.
fn push_special(letters: usize, number: u8, out: &mut Vec<u8>) {
    const LETTERS_MAX: usize = 0x3_FFFF;
    let down = LETTERS_MAX - letters.min(LETTERS_MAX);
    out.extend([down >> 12, down >> 6 & 0x3F, down & 0x3F].map(|part| LOWEST + part as u8));
    out.push(number);
}

/// Whether each character is a letter of ASCII: neither special nor without a weight.
fn is_simple(text: &str) -> bool {
    text.bytes().all(|byte| ASCII_WEIGHTS.get(usize::from(byte)).is_some_and(|weight| *weight != 0))
}

/// Whether texts compare character by character: each is one unit, or there are too many.
pub(super) fn is_single(collation: Collation, text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii() && byte != 0)
        || text.len() > search::UNITS_MAX
        || Sight::of(collation).is_single(text)
}

/// Whether two characters are the same.
pub(super) fn is_same(collation: Collation, a: char, b: char) -> bool {
    Sight::of(collation).is_same(a, b)
}

/// Appends the sort key of a string without blanks at its end.
pub(super) fn write_key(collation: Collation, text: &str, out: &mut Vec<u8>) {
    if !collation.is_case_sensitive() && is_simple(text) {
        out.reserve(text.len() + 1);
        out.extend(text.bytes().map(|byte| ASCII_WEIGHTS[usize::from(byte)]));
        out.push(END);
        return;
    }
    let (mut marks, mut cases, mut specials) = (Vec::new(), Vec::new(), Vec::new());
    let mut letters = 0;
    for unit in Units::new(text, Sight::of(collation)) {
        match unit {
            Unit::Letter(letter) => {
                push_weight(letter.weight, out);
                push_late(letters, letter.mark.saturating_add(LOWEST - PLAIN), LOWEST, &mut marks);
                push_late(letters, LOWEST + letter.case, LOWEST, &mut cases);
                letters += 1;
            }
            Unit::Special(number) => push_special(letters, number, &mut specials),
        }
    }
    if marks.is_empty() && cases.is_empty() && specials.is_empty() {
        out.push(END);
        return;
    }
    out.push(LEVELS);
    out.extend_from_slice(&marks);
    for (level, bytes) in [(CASES, &cases), (SPECIALS, &specials)] {
        if !bytes.is_empty() {
            out.push(level);
            out.extend_from_slice(bytes);
        }
    }
    out.push(END);
}

fn push_weight(weight: u32, out: &mut Vec<u8>) {
    let bytes = weight.to_be_bytes();
    out.extend_from_slice(&bytes[..weight_bytes(bytes[0]).max(1)]);
}

/// Puts a byte at a place of a level, which is filled up to it; one that is plain waits for others behind it.
fn push_late(at: usize, byte: u8, plain: u8, level: &mut Vec<u8>) {
    if byte != plain {
        level.resize(at, plain);
        level.push(byte);
    }
}

/// How many bytes the sort key has that `bytes` start with; `None` when they hold no whole one.
pub(super) fn key_length(mut bytes: impl Iterator<Item = u8>) -> Option<usize> {
    let mut length = 0;
    loop {
        let lead = bytes.next()?;
        length += 1;
        match (lead, weight_bytes(lead)) {
            (END, _) => return Some(length),
            (LEVELS, _) => return bytes.position(|byte| byte == END).map(|at| length + at + 1),
            (_, 0) => return None,
            (_, 1) => {}
            (_, more) => {
                bytes.nth(more - 2)?;
                length += more - 1;
            }
        }
    }
}

/// A hash that is the same for strings that compare equal; they have no blanks at their ends.
pub(super) fn hash(collation: Collation, text: &str) -> u64 {
    if !collation.is_case_sensitive() && is_simple(text) {
        return hash_bytes(text.bytes().map(|byte| ASCII_WEIGHTS[usize::from(byte)]));
    }
    hash_bytes(Units::new(text, Sight::of(collation)).flat_map(|unit| {
        let (bytes, length) = match unit {
            Unit::Special(number) => ([1, number, 0, 0, 0, 0, 0, 0], 2),
            Unit::Letter(letter) => {
                let weight = letter.weight.to_be_bytes();
                let mut bytes = [weight[0], weight[1], weight[2], weight[3], 0, 0, 0, 0];
                let mut length = weight_bytes(weight[0]).max(1);
                if letter.mark != PLAIN || letter.case != 0 {
                    bytes[length..length + 3].copy_from_slice(&[2, letter.mark, letter.case]);
                    length += 3;
                }
                (bytes, length)
            }
        };
        bytes.into_iter().take(length)
    }))
}

/// The character that stands for all of ASCII that compare equal to `c`; others stand for themselves.
#[inline]
pub(super) fn fold(collation: Collation, c: char) -> char {
    if collation.is_case_sensitive() { c } else { c.to_ascii_lowercase() }
}

/// What a character is to the orders of code pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Probe {
    /// A letter of ASCII with a mark.
    Latin(char, u8),
    /// A character that stands for two letters of ASCII.
    Letters(char, char),
    /// Another letter, by its weight.
    Other(u32),
}

/// What a small letter is.
pub(super) fn probe(c: char) -> Probe {
    let newest = 3;
    let of_weight = |weight: u32| {
        let [lead, low, _, _] = weight.to_be_bytes();
        let is_of = |letter: &u8| low == 0 && ASCII_WEIGHTS[usize::from(*letter)] == lead;
        (b'a'..=b'z').find(is_of).map(char::from)
    };
    match entry(c, newest) {
        Entry::Letter(letter) => match of_weight(letter.weight) {
            Some(base) => Probe::Latin(base, letter.mark),
            None => Probe::Other(letter.weight),
        },
        Entry::Several(text) => {
            let mut letters = text.chars().map(|c| c.to_ascii_lowercase());
            match (letters.next(), letters.next(), letters.next()) {
                (Some(a), Some(b), None) if a.is_ascii() && b.is_ascii() => Probe::Letters(a, b),
                _ => Probe::Other(u32::MAX),
            }
        }
        _ => Probe::Other(u32::MAX),
    }
}
