//! The weights of characters, made from [`super::alphabet`] and Unicode's decompositions when a block of characters is
//! first asked for.
//!
//! A letter's weight, as bytes in the highest places of a word, which compare as the letters do and of which none is
//! the start of another:
//!
//! ```text
//!   4 + 2 n            a character of ASCII, the nth of `alphabet::ASCII`; 1 byte
//!   5 + 2 n, k         the kth that stands between the nth and the next; 2 bytes
//!   symbols            the place of \x01 in that list, and the code point; 4 bytes
//!   from 0xA0 on       Greek, Cyrillic, kana: 2 bytes; other scripts, Hangul, ideographs, private use: 3; beyond the basic plane: 4
//! ```

use super::alphabet::{
    ASCII, BETWEEN, COMBINING, CYRILLIC, EXPANDED, GREEK, IGNORED, LIGATURES, MARKED, MARKED_CYRILLIC, SPECIAL,
    UNKNOWN_80, UNKNOWN_90, UNKNOWN_100, ZEROS,
};
use crate::collation::case::lower;
use icu_normalizer::DecomposingNormalizerBorrowed;
use icu_normalizer::properties::CanonicalCombiningClassMapBorrowed;
use std::collections::HashMap;
use std::sync::{LazyLock, OnceLock};

/// What a letter has that has no mark.
pub(super) const PLAIN: u8 = 2;

/// A letter's case: what stands beside the letter and its mark.
pub(super) const FULL_WIDTH: u8 = 1;
pub(super) const COMPATIBLE: u8 = 1 << 2;
pub(super) const SCRIPT: u8 = 1 << 3;
pub(super) const UPPER: u8 = 1 << 4;
pub(super) const KATAKANA: u8 = 1 << 5;

/// A letter as it is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Letter {
    /// Its weight; not 0.
    pub(super) weight: u32,
    pub(super) mark: u8,
    pub(super) case: u8,
}

/// What a character counts for.
#[derive(Debug, Clone, Copy)]
pub(super) enum Entry {
    /// Nothing: it has no weight.
    Ignored,
    /// It adds to the mark of the letter before it.
    Mark(u8),
    /// It counts only between texts that are equal otherwise: its place among those, and whether it is of another
    /// width.
    Special(u8, bool),
    Letter(Letter),
    /// It stands for these characters.
    Several(&'static str),
}

/// From here on the numbers of specials are those of variation selectors, which only some collations see.
pub(super) const VARIATIONS: u8 = 220;

/// The weights of ASCII's characters; 0 for those that have none, or are special.
pub(super) const ASCII_WEIGHTS: [u8; 128] = {
    let mut weights = [0u8; 128];
    let mut at = 0;
    while at < ASCII.len() {
        let byte = ASCII[at];
        if byte != 1 {
            weights[byte as usize] = 4 + 2 * at as u8;
            if byte.is_ascii_lowercase() {
                weights[byte.to_ascii_uppercase() as usize] = 4 + 2 * at as u8;
            }
        }
        at += 1;
    }
    weights
};

/// The first byte of the weights of symbols that no list has.
const SYMBOL: u8 = {
    let mut at = 0;
    while ASCII[at] != 1 {
        at += 1;
    }
    4 + 2 * at as u8
};
const GREEK_LEAD: u8 = 0xA0;
const CYRILLIC_LEAD: u8 = 0xA2;
const KANA_LEAD: u8 = 0xA4;
const OTHER_LEAD: u8 = 0xA6;
const HANGUL_LEAD: u8 = 0xA8;
const IDEOGRAPH_LEAD: u8 = 0xAA;
const PRIVATE_LEAD: u8 = 0xAC;
const BEYOND_LEAD: u8 = 0xAE;

/// Bytes of the weight that starts with a byte; 0 for a byte that none starts with.
pub(super) fn weight_bytes(lead: u8) -> usize {
    match lead {
        SYMBOL | BEYOND_LEAD => 4,
        GREEK_LEAD | CYRILLIC_LEAD | KANA_LEAD => 2,
        OTHER_LEAD | HANGUL_LEAD | IDEOGRAPH_LEAD | PRIVATE_LEAD => 3,
        0..4 | GREEK_LEAD.. => 0,
        _ if lead.is_multiple_of(2) => 1,
        _ => 2,
    }
}

const fn weight(bytes: [u8; 4]) -> u32 {
    u32::from_be_bytes(bytes)
}

fn letter(weight: u32, mark: u8, case: u8) -> Entry {
    Entry::Letter(Letter { weight, mark, case })
}

/// What the lists say, by character.
struct Lists {
    weights: HashMap<char, u32>,
    marked: HashMap<char, (char, u8)>,
    special: HashMap<char, u8>,
    expanded: HashMap<char, &'static str>,
}

static LISTS: LazyLock<Lists> = LazyLock::new(|| {
    let mut weights = HashMap::new();
    for (behind, list) in BETWEEN {
        let lead = ASCII_WEIGHTS[usize::from(behind)] + 1;
        weights.extend(list.chars().zip(4u8..).map(|(c, at)| (c, weight([lead, at, 0, 0]))));
    }
    for (lead, list) in [(GREEK_LEAD, GREEK), (CYRILLIC_LEAD, CYRILLIC)] {
        weights.extend(list.chars().zip(4u8..).map(|(c, at)| (c, weight([lead, at, 0, 0]))));
    }
    let marked = MARKED.iter().chain(&MARKED_CYRILLIC).map(|(c, base, mark)| (*c, (*base, *mark)));
    Lists {
        weights,
        marked: marked.collect(),
        special: SPECIAL.chars().zip(4u8..).collect(),
        expanded: EXPANDED.into_iter().collect(),
    }
});

/// Characters that one stands for, at most: those of more are symbols. The length of keys depends on it.
const SEVERAL_MAX: usize = 3;

/// The versions that have tables of their own: 80, 90, 100 and 140.
const VERSIONS: usize = 4;

type Block = Box<[Entry; 256]>;

static BLOCKS: [[OnceLock<Block>; 256]; VERSIONS] = [const { [const { OnceLock::new() }; 256] }; VERSIONS];

/// What a character counts for in a version, 0 to 3.
#[inline]
pub(super) fn entry(c: char, version: usize) -> Entry {
    let code = c as usize;
    match BLOCKS[version % VERSIONS].get(code >> 8) {
        Some(block) => block.get_or_init(|| new_block(code >> 8, version))[code & 0xFF],
        None if version == 0 => Entry::Ignored,
        None => beyond(c),
    }
}

fn new_block(block: usize, version: usize) -> Block {
    Box::new(std::array::from_fn(|at| {
        // Halves of pairs are no characters.
        let c = char::from_u32((block << 8 | at) as u32);
        c.map_or(Entry::Ignored, |c| classify(c, version))
    }))
}

/// A character outside the basic plane.
fn beyond(c: char) -> Entry {
    match c {
        // Variation selectors and tags.
        '\u{E0000}'..='\u{E0FFF}' => Entry::Ignored,
        _ => {
            let small = lower(c);
            let [_, high, middle, low] = (small as u32).to_be_bytes();
            letter(weight([BEYOND_LEAD, high, middle, low]), PLAIN, if small == c { 0 } else { UPPER })
        }
    }
}

fn is_in(ranges: &[(char, char)], c: char) -> bool {
    ranges.iter().any(|(first, last)| (*first..=*last).contains(&c))
}

fn has_weight(c: char, version: usize) -> bool {
    let unknown: &[(char, char)] = match version {
        0 => &UNKNOWN_80,
        1 => &UNKNOWN_90,
        2 => &UNKNOWN_100,
        _ => &[],
    };
    !(is_in(&IGNORED, c) || is_in(unknown, c) || c == '\u{AD}' && version > 0)
}

/// What a combining mark adds, if the character is one.
fn combining(c: char) -> Option<u8> {
    match (c as usize).checked_sub(0x300).and_then(|at| COMBINING.get(at)) {
        Some(0) => None,
        Some(mark) => Some(*mark),
        None => match CanonicalCombiningClassMapBorrowed::new().get_u8(c) {
            // A sign that takes a vowel away is heard.
            0 | 9 => None,
            8 if matches!(c, '\u{309A}') => Some(2),
            8 => Some(1),
            class => Some(20 + class % 200),
        },
    }
}

fn classify(c: char, version: usize) -> Entry {
    if let '\u{FE00}'..='\u{FE0F}' = c {
        return if version == 3 {
            Entry::Special(VARIATIONS + (c as u32 - 0xFE00) as u8, false)
        } else {
            Entry::Ignored
        };
    }
    if !has_weight(c, version) {
        return Entry::Ignored;
    }
    let lists = &*LISTS;
    if let Some(place) = lists.special.get(&c).filter(|_| version < 3 || !matches!(c, '\u{80}'..='\u{9F}')) {
        return Entry::Special(*place, false);
    }
    if c.is_ascii() {
        let case = if c.is_ascii_uppercase() { UPPER } else { 0 };
        return letter(weight([ASCII_WEIGHTS[c as usize], 0, 0, 0]), PLAIN, case);
    }
    if let Some(expanded) = lists.expanded.get(&c) {
        return Entry::Several(expanded);
    }
    if let Some(mark) = combining(c) {
        return Entry::Mark(mark);
    }
    let small = lower(c);
    let case = if small == c { 0 } else { UPPER };
    if let Some(weight) = lists.weights.get(&small) {
        return letter(*weight, PLAIN, case);
    }
    if let Some((base, mark)) = lists.marked.get(&small)
        && let Entry::Letter(base) = classify(*base, version)
    {
        return letter(base.weight, *mark, case);
    }
    let mut bytes = [0; 4];
    let own: &str = c.encode_utf8(&mut bytes);
    let nfd: String = DecomposingNormalizerBorrowed::new_nfd().normalize(own).into_owned();
    if nfd != own && !matches!(c, '\u{AC00}'..='\u{D7A3}') {
        return composed(&nfd, version).unwrap_or_else(|| alone(c, small, case));
    }
    let nfkd: String = DecomposingNormalizerBorrowed::new_nfkd().normalize(own).into_owned();
    if nfkd != own
        && let Some(entry) = compatible(c, &nfkd, version)
    {
        return entry;
    }
    alone(c, small, case)
}

/// The text of a table lives as long as the process; there are some hundreds of them.
fn several(text: &str) -> Entry {
    Entry::Several(String::leak(text.to_owned()))
}

/// A letter and its marks.
fn composed(nfd: &str, version: usize) -> Option<Entry> {
    let mut chars = nfd.chars();
    let mut whole = match classify(chars.next()?, version) {
        Entry::Letter(letter) => letter,
        _ => return None,
    };
    for c in chars {
        match combining(c) {
            Some(mark) => whole.mark = whole.mark.saturating_add(mark),
            None => return Some(several(nfd)),
        }
    }
    Some(Entry::Letter(whole))
}

/// A character that is another one in another form, or several.
fn compatible(c: char, nfkd: &str, version: usize) -> Option<Entry> {
    let mut chars = nfkd.chars();
    let first = chars.next()?;
    if chars.next().is_some() {
        return (is_in(&LIGATURES, c) && nfkd.chars().count() <= SEVERAL_MAX).then(|| several(nfkd));
    }
    let form = match c {
        '\u{FF01}'..='\u{FF60}' | '\u{FFE0}'..='\u{FFE6}' | '\u{3000}' => FULL_WIDTH,
        '\u{FF61}'..='\u{FFDC}' => FULL_WIDTH,
        'ª' | 'º' | '\u{B2}' | '\u{B3}' | '\u{B9}' | '\u{2070}'..='\u{209F}' | '\u{2B0}'..='\u{2E4}' => {
            SCRIPT | COMPATIBLE
        }
        '\u{1D2C}'..='\u{1D6A}' | '\u{1D9B}'..='\u{1DBF}' => SCRIPT | COMPATIBLE,
        _ => COMPATIBLE,
    };
    Some(match classify(first, version) {
        Entry::Letter(of) => {
            let mark = if matches!(c, 'ª' | 'º') { of.mark + 1 } else { of.mark };
            Entry::Letter(Letter { mark, case: of.case | form, ..of })
        }
        Entry::Special(place, _) => Entry::Special(place, true),
        Entry::Mark(mark) => Entry::Mark(mark),
        _ => return None,
    })
}

/// A character that stands for several elsewhere, as a letter.
pub(super) fn kept(c: char) -> Entry {
    let small = lower(c);
    alone(c, small, if small == c { 0 } else { UPPER })
}

/// A character that is no form of another one.
fn alone(c: char, small: char, case: u8) -> Entry {
    let [_, _, high, low] = (small as u32).to_be_bytes();
    if let Some(zero) = ZEROS.iter().position(|zero| (*zero as u32..*zero as u32 + 10).contains(&(c as u32))) {
        let digit = (c as u32 - ZEROS[zero] as u32) as u8;
        let own = ASCII_WEIGHTS[usize::from(b'0' + digit)];
        return letter(weight([own, 0, 0, 0]), PLAIN + 2 + zero as u8, 0);
    }
    match c {
        '\u{3041}'..='\u{3096}' => kana(c, 0),
        '\u{30A1}'..='\u{30F6}' => kana(char::from_u32(c as u32 - 0x60).unwrap_or(c), KATAKANA),
        '\u{30FD}' => letter(weight([KANA_LEAD, 0x9D, 0, 0]), PLAIN, KATAKANA),
        '\u{309D}' | '\u{30FC}' => letter(weight([KANA_LEAD, low, 0, 0]), PLAIN, 0),
        'ς' => letter(LISTS.weights.get(&'σ').copied().unwrap_or(1), PLAIN, SCRIPT),
        '\u{AC00}'..='\u{D7A3}' => letter(weight([HANGUL_LEAD, high, low, 0]), PLAIN, 0),
        '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}' => letter(weight([IDEOGRAPH_LEAD, high, low, 0]), PLAIN, 0),
        '\u{E000}'..='\u{F8FF}' => letter(weight([PRIVATE_LEAD, high, low, 0]), PLAIN, 0),
        _ if small.is_alphanumeric() => letter(weight([OTHER_LEAD, high, low, 0]), PLAIN, case),
        _ => letter(weight([SYMBOL, 0, high, low]), PLAIN, case),
    }
}

/// A hiragana: a small one is the large one with a mark.
fn kana(c: char, case: u8) -> Entry {
    const SMALL: [(char, char); 12] = [
        ('ぁ', 'あ'),
        ('ぃ', 'い'),
        ('ぅ', 'う'),
        ('ぇ', 'え'),
        ('ぉ', 'お'),
        ('っ', 'つ'),
        ('ゃ', 'や'),
        ('ゅ', 'ゆ'),
        ('ょ', 'よ'),
        ('ゎ', 'わ'),
        ('ゕ', 'か'),
        ('ゖ', 'け'),
    ];
    let large = SMALL.iter().find(|(small, _)| *small == c);
    let (base, mark) = large.map_or((c, PLAIN), |(_, large)| (*large, PLAIN + 8));
    letter(weight([KANA_LEAD, (base as u32 - 0x3000) as u8, 0, 0]), mark, case)
}
