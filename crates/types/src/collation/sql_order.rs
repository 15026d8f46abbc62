//! The sort orders of SQL Server: how `char` and `varchar` compare in the collations of Latin1_General's order whose
//! names begin with SQL_.
//!
//! They know a code page, and nothing of Unicode: every character is compared, so that `co-op` comes before `coop`.
//! First the
//! characters by their letters: control characters, the end of a string, blank, other symbols in the order of their
//! bytes, digits,
//! letters. Then, only between strings equal so far, the accents, which stand in the order of their bytes as well; `æ`
//! is `ae` with
//! an accent, so it is not equal to it. Then case, the upper one first. A collation to which accents or case make no
//! difference leaves
//! that level out. A string's sort key is
//!
//! ```text
//! weight of each character ... | END | accent of each ... | case of each ... | ALL_LOWER | 0
//! ```
//!
//! where unaccented characters at the end of the accents, and lower-case ones at the end of the cases, are left out;
//! the cases are there
//! where they count. Comparing two keys as bytes compares the strings. Strings of ASCII characters are compared
//! without building keys.
//!
//! Known by heart is the order of code page 1252 (52 and its like): there `Š`, `Œ`, `Ž` and `ƒ` are symbols. Those of
//! other code pages are
//! made from Unicode's letters in the same way.

use super::{Collation, hash_bytes, unicode};
use crate::code_page::CodePage;
use crate::collation::case::lower;
use std::cmp::Ordering;
use std::collections::HashMap;
use std::sync::{LazyLock, OnceLock};

/// The end of a string sorts after control characters and before all others.
const END: u8 = 0x23;
/// First byte of two that stand for a symbol outside ASCII.
const SYMBOL: u8 = 0x48;
/// First byte of two that stand for a letter that is not Latin.
const OTHER_LETTER: u8 = 0xC0;
/// First byte of four that stand for a character that is not in the code page.
const FOREIGN: u8 = 0xFF;
/// The accent of a character that has none: above every case.
const PLAIN: u8 = 5;
/// The accent of what is one character and two letters.
const LIGATURE: u8 = 0xFF;
/// The cases of letters; what has no case is lower.
const UPPER: u8 = 2;
const LOWER: u8 = 3;
/// Stands behind the last upper case.
const ALL_LOWER: u8 = 4;

/// First-level weights of ASCII characters.
const WEIGHTS: [u8; 128] = {
    let mut weights = [0u8; 128];
    let (mut control, mut mark) = (2, 0x25);
    let mut c = 0u8;
    while c < 128 {
        weights[c as usize] = match c {
            b' ' => 0x24,
            b'0'..=b'9' => 0x50 + (c - b'0'),
            b'a'..=b'z' => 0x60 + (c - b'a') * 2,
            b'A'..=b'Z' => 0x60 + (c - b'A') * 2,
            0..=31 => {
                control += 1;
                control - 1
            }
            _ => {
                mark += 1;
                mark - 1
            }
        };
        c += 1;
    }
    weights
};

/// What a character of a code page counts for, beside its case.
#[derive(Debug, Clone, Copy)]
enum Weight {
    One(u8),
    Two(u8, u8),
    Accented(u8, u8),
    AccentedOther(u8, u8),
    Ligature([u8; 2]),
}

type Weights = HashMap<char, Weight>;

static PAGES: LazyLock<Vec<OnceLock<Weights>>> =
    LazyLock::new(|| CodePage::ALL.iter().map(|_| OnceLock::new()).collect());

/// The weights of a code page's characters outside ASCII, in lower case where there is one.
fn weights(page: CodePage) -> Option<&'static Weights> {
    let place = CodePage::ALL.iter().position(|known| *known == page)?;
    Some(PAGES[place].get_or_init(|| if page == CodePage::Western { western() } else { of_letters(page) }))
}

/// The characters of a code page's upper half.
fn upper_half(page: CodePage) -> impl Iterator<Item = (u8, char)> {
    (0x80..=0xFF).filter_map(move |byte| {
        let mut text = String::new();
        page.decode(&[byte], &mut text);
        text.chars().next().filter(|c| *c != char::REPLACEMENT_CHARACTER).map(|c| (byte, c))
    })
}

/// Sort order 52.
fn western() -> Weights {
    let letter = |c: u8| WEIGHTS[usize::from(c)];
    let weight = |(byte, c): (u8, char)| {
        let accent = |base: u8| Weight::Accented(letter(base), PLAIN + 1 + (byte & 0x1F));
        let weight = match c {
            _ if byte < 0xC0 => Weight::Two(SYMBOL, byte),
            '×' | '÷' => Weight::Two(SYMBOL, byte),
            'à'..='å' => accent(b'a'),
            'æ' => Weight::Ligature([letter(b'a'), letter(b'e')]),
            'ç' => accent(b'c'),
            'è'..='ë' => accent(b'e'),
            'ì'..='ï' => accent(b'i'),
            'ð' => Weight::One(letter(b'z') + 1),
            'ñ' => accent(b'n'),
            'ò'..='ø' => accent(b'o'),
            'ß' => Weight::Ligature([letter(b's'); 2]),
            'ù'..='ü' => accent(b'u'),
            'ý' | 'ÿ' => accent(b'y'),
            'þ' => Weight::One(letter(b'z') + 2),
            // Capitals are looked up by their small letters.
            _ => return None,
        };
        Some((c, weight))
    };
    upper_half(CodePage::Western).filter_map(weight).collect()
}

/// The order of another code page: what Unicode takes for a Latin letter with a mark is one with an accent, and other
/// letters stand behind.
fn of_letters(page: CodePage) -> Weights {
    let mut weights = Weights::new();
    let mut others: Vec<(u32, char)> = Vec::new();
    for (byte, c) in upper_half(page) {
        let small = lower(c);
        match unicode::probe(small) {
            _ if !c.is_alphabetic() => drop(weights.insert(c, Weight::Two(SYMBOL, byte))),
            unicode::Probe::Letters(a, b) => drop(weights.insert(small, Weight::Ligature([a, b].map(of_ascii)))),
            unicode::Probe::Latin(base, _) => {
                let mark = (PLAIN + 1).saturating_add(byte & 0x7F);
                weights.entry(small).or_insert(Weight::Accented(of_ascii(base), mark));
            }
            unicode::Probe::Other(weight) => others.push((weight, small)),
        }
    }
    others.sort_unstable();
    others.dedup();
    let mut bases: Vec<u32> = others.iter().map(|(weight, _)| *weight).collect();
    bases.dedup();
    for (of, (weight, c)) in (1u8..).zip(others) {
        let base = bases.partition_point(|base| *base < weight) as u8;
        weights.insert(c, Weight::AccentedOther(base, PLAIN.saturating_add(of)));
    }
    weights
}

fn of_ascii(c: char) -> u8 {
    WEIGHTS.get(c as usize).copied().unwrap_or(SYMBOL)
}

/// Compares without keys; `None` when a character outside ASCII decides.
#[inline]
fn compare_weights(a: &[u8], b: &[u8]) -> Option<Ordering> {
    let common = a.len().min(b.len());
    for (&x, &y) in a[..common].iter().zip(&b[..common]) {
        if x != y {
            if (x | y) & 0x80 != 0 {
                return None;
            }
            let order = WEIGHTS[usize::from(x)].cmp(&WEIGHTS[usize::from(y)]);
            if order != Ordering::Equal {
                return Some(order);
            }
        }
    }
    // Every weight outside ASCII is above END.
    let rest = |longer: &[u8]| longer.get(common).map(|&byte| WEIGHTS.get(usize::from(byte)).copied().unwrap_or(0xFF));
    match (rest(a), rest(b)) {
        (Some(weight), _) => Some(weight.cmp(&END)),
        (_, Some(weight)) => Some(END.cmp(&weight)),
        _ => Some(Ordering::Equal),
    }
}

/// Orders two strings without blanks at their ends.
#[inline]
pub(super) fn compare(collation: Collation, a: &str, b: &str) -> Ordering {
    match compare_weights(a.as_bytes(), b.as_bytes()) {
        Some(Ordering::Equal) if collation.is_case_sensitive() => compare_cases(a.as_bytes(), b.as_bytes()),
        Some(order) => order,
        None => key(collation, a).cmp(key(collation, b)),
    }
}

/// Orders strings that differ in the case of ASCII letters at most: the upper one comes first.
fn compare_cases(a: &[u8], b: &[u8]) -> Ordering {
    let differing = a.iter().zip(b).find(|(x, y)| x != y);
    differing.map_or(Ordering::Equal, |(x, y)| y.is_ascii_uppercase().cmp(&x.is_ascii_uppercase()))
}

/// Appends the sort key of a string without blanks at its end.
pub(super) fn write_key(collation: Collation, text: &str, out: &mut Vec<u8>) {
    if text.is_ascii() && !collation.is_case_sensitive() {
        out.reserve(text.len() + 2);
        out.extend(text.bytes().map(|byte| WEIGHTS[usize::from(byte)]));
        out.extend_from_slice(&[END, 0]);
        return;
    }
    out.extend(key(collation, text));
}

/// The sort key of a string without blanks at its end, made as it is read: a long string's keys are several times as long.
fn key(collation: Collation, text: &str) -> impl Iterator<Item = u8> {
    let known = weights(collation.code_page());
    let parts = move || text.chars().map(move |c| Parts::of(known, c));
    let accents = move || parts().flat_map(|parts| parts.accents.into_iter().take(parts.letters));
    let cases = move || parts().flat_map(|parts| [parts.case; 2].into_iter().take(parts.letters));
    let of_accents = move || accents().take(up_to_last_other(accents(), PLAIN));
    let of_cases = move || cases().take(up_to_last_other(cases(), LOWER)).chain([ALL_LOWER]);
    // Most strings differ in their letters: what stands behind these is made when it is asked for.
    let of_accents = collation.is_accent_sensitive().then(|| std::iter::once_with(of_accents).flatten());
    let of_cases = collation.is_case_sensitive().then(|| std::iter::once_with(of_cases).flatten());
    let of_letters = parts().flat_map(|parts| parts.weight.into_iter().take(parts.length));
    of_letters.chain([END]).chain(of_accents.into_iter().flatten()).chain(of_cases.into_iter().flatten()).chain([0])
}

/// The number of bytes without those at the end that say nothing.
fn up_to_last_other(bytes: impl Iterator<Item = u8>, nothing: u8) -> usize {
    (1..).zip(bytes).filter(|(_, byte)| *byte != nothing).last().map_or(0, |(length, _)| length)
}

/// How many bytes the sort key has that `bytes` start with; `None` when they hold no whole one.
pub(super) fn key_length(mut bytes: impl Iterator<Item = u8>) -> Option<usize> {
    let mut length = 0;
    let mut behind_weights = false;
    loop {
        let byte = bytes.next()?;
        length += 1;
        match byte {
            0 if behind_weights => return Some(length),
            _ if behind_weights => {}
            END => behind_weights = true,
            SYMBOL | OTHER_LETTER => {
                bytes.next()?;
                length += 1;
            }
            FOREIGN => {
                bytes.nth(2)?;
                length += 3;
            }
            0 => return None,
            _ => {}
        }
    }
}

/// A hash that is the same for strings of the same sort key; they have no blanks at their ends.
pub(super) fn hash(collation: Collation, text: &str) -> u64 {
    if text.is_ascii() && !collation.is_case_sensitive() {
        return hash_bytes(text.bytes().map(|byte| WEIGHTS[usize::from(byte)]).chain([END, 0]));
    }
    hash_bytes(key(collation, text))
}

/// The character that stands for all that compare equal to `c` alone.
#[inline]
pub(super) fn fold(collation: Collation, c: char) -> char {
    if c.is_ascii() {
        return if collation.is_case_sensitive() { c } else { c.to_ascii_lowercase() };
    }
    let known = weights(collation.code_page());
    let weight = |c: char| known.and_then(|known| known.get(&c));
    let small = lower(c);
    // A capital that is a symbol there has no small letter.
    let cased = weight(c).is_none() && weight(small).is_some();
    let folded = if cased && !collation.is_case_sensitive() { small } else { c };
    match weight(small) {
        Some(Weight::Accented(base, _)) if !collation.is_accent_sensitive() => {
            let base = (b'a'..=b'z').find(|letter| WEIGHTS[usize::from(*letter)] == *base).map_or(folded, char::from);
            if folded == small { base } else { base.to_ascii_uppercase() }
        }
        _ => folded,
    }
}

/// The parts of a sort key that one character adds.
#[derive(Clone, Copy)]
struct Parts {
    weight: [u8; 4],
    /// Bytes of the weight.
    length: usize,
    accents: [u8; 2],
    case: u8,
    /// Letters that it stands for: each has an accent and a case.
    letters: usize,
}

impl Parts {
    fn new(weight: &[u8], accent: u8, case: u8) -> Parts {
        let mut bytes = [0; 4];
        bytes[..weight.len()].copy_from_slice(weight);
        Parts { weight: bytes, length: weight.len(), accents: [accent, PLAIN], case, letters: 1 }
    }

    #[inline]
    fn of(known: Option<&Weights>, c: char) -> Parts {
        if c.is_ascii() {
            return Parts::new(&[WEIGHTS[c as usize]], PLAIN, if c.is_ascii_uppercase() { UPPER } else { LOWER });
        }
        let small = lower(c);
        let of = |c: char| known.and_then(|known| known.get(&c).copied());
        let (weight, case) = match of(c) {
            Some(weight) => (Some(weight), LOWER),
            None => (of(small), UPPER),
        };
        match weight {
            Some(Weight::One(weight)) => Parts::new(&[weight], PLAIN, case),
            Some(Weight::Two(lead, low)) => Parts::new(&[lead, low], PLAIN, case),
            Some(Weight::Accented(weight, accent)) => Parts::new(&[weight], accent, case),
            Some(Weight::AccentedOther(base, accent)) => Parts::new(&[OTHER_LETTER, base], accent, case),
            Some(Weight::Ligature(letters)) => Parts { letters: 2, ..Parts::new(&letters, LIGATURE, case) },
            None => {
                let [_, high, middle, low] = (c as u32).to_be_bytes();
                Parts::new(&[FOREIGN, high, middle, low], PLAIN, LOWER)
            }
        }
    }
}
