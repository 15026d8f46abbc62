//! Letters: how the collations of Latin1_General order that are no binary ones, and the sort keys that order alike.
//!
//! There are up to three levels. First the letters themselves, whatever their case: control characters, the end of a string,
//! blank, punctuation, digits, letters, other scripts. Then, only between strings equal so far, the accents; then case, the lower
//! one first. A collation to which accents or case make no difference leaves that level out. A string's sort key is
//!
//! ```text
//! weight of each character ... | END | accent of each ... | CASES | case of each ... | 0
//! ```
//!
//! where unaccented characters at the end of the accents, and lower-case ones at the end of the cases, are left out, and CASES with
//! them when nothing is left. Comparing two keys as bytes compares the strings. Strings of ASCII characters are compared without
//! building keys.

use super::{Collation, hash_bytes};
use std::cmp::Ordering;

/// The end of a string sorts after control characters and before all others.
const END: u8 = 0x23;
/// First byte of four that stand for a symbol outside ASCII.
const SYMBOL: u8 = 0x48;
/// First byte of four that stand for a letter or digit that is not Latin.
const OTHER_LETTER: u8 = 0xC0;
/// The accent of a character that has none.
const PLAIN: u8 = 2;
/// Stands before the cases: below every accent, above the end.
const CASES: u8 = 1;
/// The cases of letters; what has no case is lower.
const LOWER: u8 = 2;
const UPPER: u8 = 3;

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
            0..=31 | 127 => {
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
        None => {
            let (mut key_a, mut key_b) = (Vec::new(), Vec::new());
            write_key(collation, a, &mut key_a);
            write_key(collation, b, &mut key_b);
            key_a.cmp(&key_b)
        }
    }
}

/// Orders strings that differ in the case of ASCII letters at most.
fn compare_cases(a: &[u8], b: &[u8]) -> Ordering {
    let differing = a.iter().zip(b).find(|(x, y)| x != y);
    differing.map_or(Ordering::Equal, |(x, y)| x.is_ascii_uppercase().cmp(&y.is_ascii_uppercase()))
}

/// Appends the sort key of a string without blanks at its end.
pub(super) fn write_key(collation: Collation, text: &str, out: &mut Vec<u8>) {
    if text.is_ascii() && !collation.is_case_sensitive() {
        out.reserve(text.len() + 2);
        out.extend(text.bytes().map(|byte| WEIGHTS[usize::from(byte)]));
        out.extend_from_slice(&[END, 0]);
        return;
    }
    let mut marks = Marks::default();
    for c in text.chars() {
        write_weight(c, out, &mut marks);
    }
    out.push(END);
    if collation.is_accent_sensitive() {
        out.extend_from_slice(up_to_last_other(&marks.accents, PLAIN));
    }
    if collation.is_case_sensitive() {
        let cases = up_to_last_other(&marks.cases, LOWER);
        if !cases.is_empty() {
            out.push(CASES);
            out.extend_from_slice(cases);
        }
    }
    out.push(0);
}

/// The bytes without those at the end that say nothing.
fn up_to_last_other(bytes: &[u8], nothing: u8) -> &[u8] {
    let end = bytes.iter().rposition(|&byte| byte != nothing).map_or(0, |at| at + 1);
    &bytes[..end]
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
    let mut key = Vec::new();
    write_key(collation, text, &mut key);
    hash_bytes(key.into_iter())
}

/// The character that stands for all that compare equal to `c` alone.
#[inline]
pub(super) fn fold(collation: Collation, c: char) -> char {
    if c.is_ascii() {
        return if collation.is_case_sensitive() { c } else { c.to_ascii_lowercase() };
    }
    let folded = if collation.is_case_sensitive() { c } else { lower(c) };
    if collation.is_accent_sensitive() { folded } else { without_accent(folded) }
}

/// The letter below an accent, in its case; characters that stand for two letters stay.
fn without_accent(c: char) -> char {
    let small = lower(c);
    match decompose(small) {
        Some((base, _)) if base.len() == 1 => {
            let base = char::from(base.as_bytes()[0]);
            if small == c { base } else { base.to_ascii_uppercase() }
        }
        _ => c,
    }
}

/// What a string has beside its weights: a byte for each letter.
#[derive(Default)]
struct Marks {
    accents: Vec<u8>,
    cases: Vec<u8>,
}

impl Marks {
    fn add(&mut self, accent: u8, case: u8) {
        self.accents.push(accent);
        self.cases.push(case);
    }
}

fn write_weight(c: char, out: &mut Vec<u8>, marks: &mut Marks) {
    if c.is_ascii() {
        out.push(WEIGHTS[c as usize]);
        marks.add(PLAIN, if c.is_ascii_uppercase() { UPPER } else { LOWER });
        return;
    }
    let lower = lower(c);
    let case = if lower == c { LOWER } else { UPPER };
    if let Some((base, accent)) = decompose(lower) {
        for (at, letter) in base.bytes().enumerate() {
            out.push(WEIGHTS[usize::from(letter)]);
            marks.add(if at == 0 { accent } else { PLAIN }, case);
        }
        return;
    }
    let lead = if lower.is_alphanumeric() { OTHER_LETTER } else { SYMBOL };
    let [_, high, middle, low] = (lower as u32).to_be_bytes();
    out.extend_from_slice(&[lead, high, middle, low]);
    marks.add(PLAIN, case);
}

/// Simple lower case: characters whose lower case is longer stay as they are.
pub(super) fn lower(c: char) -> char {
    single(c, c.to_lowercase())
}

/// Simple upper case, likewise.
pub(super) fn upper(c: char) -> char {
    single(c, c.to_uppercase())
}

fn single(c: char, mut mapped: impl Iterator<Item = char>) -> char {
    match (mapped.next(), mapped.next()) {
        (Some(one), None) => one,
        _ => c,
    }
}

/// The letters and the accent (3 and above) of a lower-case Latin character.
fn decompose(c: char) -> Option<(&'static str, u8)> {
    const MARKED: [(&str, &str); 14] = [
        ("àèìòù", "aeiou"),
        ("áéíóúýćĺńŕśź", "aeiouyclnrsz"),
        ("âêîôûĉĝĥĵŝŵŷ", "aeioucghjswy"),
        ("ãñõĩũ", "anoiu"),
        ("äëïöüÿ", "aeiouy"),
        ("åů", "au"),
        ("çģķļņŗşţ", "cgklnrst"),
        ("āēīōū", "aeiou"),
        ("ăĕğĭŏŭ", "aegiou"),
        ("ąęįų", "aeiu"),
        ("čďěľňřšťž", "cdelnrstz"),
        ("øđħłŧðƒ", "odhltdf"),
        ("ċėġżıŀ", "cegzil"),
        ("őű", "ou"),
    ];
    const LETTERS: &str = "abcdefghijklmnopqrstuvwxyz";
    for (at, (marked, plain)) in MARKED.iter().enumerate() {
        if let Some(position) = marked.chars().position(|m| m == c) {
            let letter = usize::from(plain.as_bytes()[position] - b'a');
            // Letters that share a base and a mark's row (ð and đ) are told apart by the position.
            let accent = 3 + at as u8 * 8 + u8::from(c == 'ð');
            return Some((&LETTERS[letter..=letter], accent));
        }
    }
    match c {
        'æ' => Some(("ae", 200)),
        'œ' => Some(("oe", 200)),
        'ß' => Some(("ss", 200)),
        'þ' => Some(("th", 200)),
        _ => None,
    }
}
