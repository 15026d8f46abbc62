//! Collations: how strings compare, and the bytes that make a tree of keys compare the same way.
//!
//! The default collation orders by two levels. First the letters themselves, whatever their case: control characters,
//! the end of a string, blank, punctuation, digits, letters, other scripts. Then, only between strings equal so far, the
//! accents. A string's sort key is
//!
//! ```text
//! weight of each character ... | END | accent of each character, unaccented ones at the end left out ... | 0
//! ```
//!
//! and comparing two keys as bytes compares the strings. Trailing blanks do not count. Strings of ASCII characters are
//! compared without building keys.

use std::cmp::Ordering;

/// How strings compare.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, serde::Serialize, serde::Deserialize)]
pub enum Collation {
    /// `SQL_Latin1_General_CP1_CI_AS`: case does not matter, accents do.
    #[default]
    Latin1CiAs,
    /// `Latin1_General_BIN2`: by code point.
    Binary,
}

/// The end of a string sorts after control characters and before all others.
const END: u8 = 0x23;
/// First byte of four that stand for a symbol outside ASCII.
const SYMBOL: u8 = 0x48;
/// First byte of four that stand for a letter or digit that is not Latin.
const OTHER_LETTER: u8 = 0xC0;
/// The accent of a character that has none.
const PLAIN: u8 = 2;

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

impl Collation {
    /// A collation by its name, upper or lower case.
    pub fn by_name(name: &str) -> Option<Collation> {
        [Collation::Latin1CiAs, Collation::Binary].into_iter().find(|c| c.name().eq_ignore_ascii_case(name))
    }

    /// The collation's name.
    pub fn name(self) -> &'static str {
        match self {
            Collation::Latin1CiAs => "SQL_Latin1_General_CP1_CI_AS",
            Collation::Binary => "Latin1_General_BIN2",
        }
    }

    /// Compares two strings; trailing blanks do not count.
    #[inline]
    pub fn compare(self, left: &str, right: &str) -> Ordering {
        let (a, b) = (trim(left), trim(right));
        match self {
            Collation::Binary => a.cmp(b),
            Collation::Latin1CiAs => compare_letters(a.as_bytes(), b.as_bytes()).unwrap_or_else(|| {
                let (mut key_a, mut key_b) = (Vec::new(), Vec::new());
                write_key(a, &mut key_a);
                write_key(b, &mut key_b);
                key_a.cmp(&key_b)
            }),
        }
    }

    /// Appends the sort key of a string: comparing keys as bytes compares the strings, and no key is the start of
    /// another.
    pub(crate) fn write_key(self, text: &str, out: &mut Vec<u8>) {
        let text = trim(text);
        match self {
            Collation::Binary => {
                for &byte in text.as_bytes() {
                    out.push(byte);
                    if byte == 0 {
                        out.push(0xFF);
                    }
                }
                out.extend_from_slice(&[0, 0]);
            }
            Collation::Latin1CiAs => write_key(text, out),
        }
    }

    /// How many bytes the sort key of the default collation has that `bytes` start with; `None` when they hold no whole
    /// one.
    pub(crate) fn key_length(mut bytes: impl Iterator<Item = u8>) -> Option<usize> {
        let mut length = 0;
        let mut in_accents = false;
        loop {
            let byte = bytes.next()?;
            length += 1;
            match byte {
                0 if in_accents => return Some(length),
                _ if in_accents => {}
                END => in_accents = true,
                SYMBOL | OTHER_LETTER => {
                    bytes.nth(2)?;
                    length += 3;
                }
                0 => return None,
                _ => {}
            }
        }
    }

    /// A hash that is the same for strings that compare equal.
    pub(crate) fn hash(self, text: &str) -> u64 {
        let text = trim(text);
        if self == Collation::Binary {
            return hash_bytes(text.bytes());
        }
        if text.is_ascii() {
            return hash_bytes(text.bytes().map(|byte| WEIGHTS[usize::from(byte)]).chain([END, 0]));
        }
        let mut key = Vec::new();
        write_key(text, &mut key);
        hash_bytes(key.into_iter())
    }

    /// The character that stands for all that compare equal to `c` alone.
    #[inline]
    pub(crate) fn fold(self, c: char) -> char {
        match self {
            Collation::Binary => c,
            Collation::Latin1CiAs if c.is_ascii() => c.to_ascii_lowercase(),
            Collation::Latin1CiAs => lower(c),
        }
    }

    /// Whether `c` sorts from `first` to `last`, both included: a range of LIKE.
    pub(crate) fn in_range(self, c: char, first: char, last: char) -> bool {
        if self == Collation::Binary {
            return (first..=last).contains(&c);
        }
        let key = |c: char| {
            let mut key = Vec::with_capacity(8);
            write_key(c.encode_utf8(&mut [0; 4]), &mut key);
            key
        };
        let at = key(c);
        key(first) <= at && at <= key(last)
    }
}

/// FNV-1a over bytes, with a final mix so that the low bits are good.
pub(crate) fn hash_bytes(bytes: impl Iterator<Item = u8>) -> u64 {
    let mut hash = 0xCBF2_9CE4_8422_2325u64;
    for byte in bytes {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3);
    }
    hash ^ hash >> 32
}

#[inline]
fn trim(text: &str) -> &str {
    text.trim_end_matches(' ')
}

/// Compares without keys; `None` when a character outside ASCII decides.
#[inline]
fn compare_letters(a: &[u8], b: &[u8]) -> Option<Ordering> {
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

fn write_key(text: &str, out: &mut Vec<u8>) {
    if text.is_ascii() {
        out.reserve(text.len() + 2);
        out.extend(text.bytes().map(|byte| WEIGHTS[usize::from(byte)]));
        out.extend_from_slice(&[END, 0]);
        return;
    }
    let mut accents = Vec::with_capacity(text.len());
    for c in text.chars() {
        write_weight(c, out, &mut accents);
    }
    out.push(END);
    let last = accents.iter().rposition(|&accent| accent != PLAIN).map_or(0, |at| at + 1);
    out.extend_from_slice(&accents[..last]);
    out.push(0);
}

fn write_weight(c: char, out: &mut Vec<u8>, accents: &mut Vec<u8>) {
    if c.is_ascii() {
        out.push(WEIGHTS[c as usize]);
        accents.push(PLAIN);
        return;
    }
    let lower = lower(c);
    if let Some((base, accent)) = decompose(lower) {
        for (at, letter) in base.bytes().enumerate() {
            out.push(WEIGHTS[usize::from(letter)]);
            accents.push(if at == 0 { accent } else { PLAIN });
        }
        return;
    }
    let lead = if lower.is_alphanumeric() { OTHER_LETTER } else { SYMBOL };
    let [_, high, middle, low] = (lower as u32).to_be_bytes();
    out.extend_from_slice(&[lead, high, middle, low]);
    accents.push(PLAIN);
}

/// Simple lower case: characters whose lower case is longer stay as they are.
fn lower(c: char) -> char {
    let mut all = c.to_lowercase();
    match (all.next(), all.next()) {
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

#[cfg(test)]
mod tests {
    use super::*;

    const CI: Collation = Collation::Latin1CiAs;

    #[test]
    fn case_and_trailing_blanks_do_not_count_accents_do() {
        assert_eq!(CI.compare("Hello", "hELLO   "), Ordering::Equal);
        assert_eq!(CI.compare("É", "é"), Ordering::Equal);
        assert_ne!(CI.compare("e", "é"), Ordering::Equal);
        assert_ne!(CI.compare("ð", "đ"), Ordering::Equal);
        assert_ne!(CI.compare("ß", "ss"), Ordering::Equal);
        assert_eq!(CI.compare(" a", "a"), Ordering::Less);
        assert_eq!(Collation::Binary.compare("a ", "a"), Ordering::Equal);
        assert_eq!(Collation::Binary.compare("B", "a"), Ordering::Less);
    }

    #[test]
    fn accents_decide_only_between_equal_letters() {
        let ascending =
            ["\ta", "", "-", "0", "9", "a", "a\u{301}b", "co", "cote", "coté", "côte", "côté", "cotea", "z", "ω"];
        for pair in ascending[3..].windows(2) {
            if pair[0].contains('\u{301}') || pair[1].contains('\u{301}') {
                continue;
            }
            assert_eq!(CI.compare(pair[0], pair[1]), Ordering::Less, "{pair:?}");
        }
        assert_eq!(CI.compare("a\t", "a"), Ordering::Less);
        assert_eq!(CI.compare("a", "a b"), Ordering::Less);
    }

    #[test]
    fn keys_compare_as_strings_do() {
        let alphabet = ['a', 'A', 'b', ' ', '-', '\t', 'é', 'É', 'e', 'ß', 's', 'Ω', 'ω', '€', '9', '\0'];
        let mut strings = vec![String::new()];
        for &a in &alphabet {
            strings.push(a.to_string());
            for &b in &alphabet {
                strings.push(format!("{a}{b}"));
                strings.push(format!("x{a}{b}y"));
            }
        }
        for collation in [CI, Collation::Binary] {
            let keys: Vec<Vec<u8>> = strings
                .iter()
                .map(|text| {
                    let mut key = Vec::new();
                    collation.write_key(text, &mut key);
                    key
                })
                .collect();
            for (a, key_a) in strings.iter().zip(&keys) {
                for (b, key_b) in strings.iter().zip(&keys) {
                    let order = collation.compare(a, b);
                    assert_eq!(order, key_a.cmp(key_b), "{a:?} {b:?}");
                    assert!(order == Ordering::Equal || !key_b.starts_with(key_a), "{a:?} is a prefix of {b:?}");
                    assert!(order != Ordering::Equal || collation.hash(a) == collation.hash(b), "{a:?} {b:?}");
                }
            }
        }
    }
}
