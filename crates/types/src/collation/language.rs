//! Languages: how the collations order that are neither binary nor of Latin1_General.
//!
//! The order is the Unicode collation algorithm's, tailored to the language, by the crate `icu_collator` and the data
//! that it is built
//! with. What a collation tells apart becomes its strength:
//!
//! ```text
//!   CI_AI   primary                    letters
//!   CI_AS   secondary                  letters, then accents
//!   CS_AI   primary, and case          letters, then case
//!   CS_AS   tertiary                   letters, then accents, then case
//! ```
//!
//! The algorithm is shown texts in which `ß` is `ss`, and without what Windows passes over: characters without a
//! weight, and specials, which
//! are compared last ([`unicode::reduced`]).
//!
//! To the algorithm kana and width are matters of case. So a collation that sees case is shown texts without them:
//! hiragana for
//! katakana, and ordinary characters for those of full and half width. A collation that sees kana or width (`_KS`,
//! `_WS`) compares
//! them last, character by character. A text's sort key is
//!
//! ```text
//! key of the algorithm, in which no byte is 0 | 0 | only of _KS and _WS: the mark of each character ... , 0 | special ... | 0
//! ```
//!
//! where marks at the end that say nothing are left out. Keys on disk depend on the data of `icu_collator`:
//! `docs/understand/format.md`.

use super::{Collation, KANA_INSENSITIVE, WIDTH_INSENSITIVE, case, hash_bytes, unicode};
use icu_collator::options::{AlternateHandling, CaseLevel, CollatorOptions, Strength};
use icu_collator::{CollatorBorrowed, CollatorPreferences};
use std::borrow::Cow;
use std::cmp::Ordering;
use std::sync::{LazyLock, OnceLock};

/// Bytes of a sort key for one unit of a string's declared length, at most: three levels of an ideograph, and its mark.
pub(super) const KEY_BYTES_PER_UNIT: usize = 10;

/// A character that has neither kana nor another width.
const ORDINARY: u8 = 1;
const KATAKANA: u8 = 2;
/// Added for a character of full or half width.
const OTHER_WIDTH: u8 = 2;

/// One for each locale and strength, made when it is first used.
type Collators = Vec<(&'static str, [OnceLock<Option<CollatorBorrowed<'static>>>; 4])>;

static COLLATORS: LazyLock<Collators> = LazyLock::new(|| {
    let mut locales: Vec<&str> = super::FAMILIES.iter().map(|family| family.locale).collect();
    locales.sort_unstable();
    locales.dedup();
    locales.into_iter().map(|locale| (locale, [const { OnceLock::new() }; 4])).collect()
});

/// The collator of a collation; `None`, which the data that is built in never causes, when there is none.
fn collator(collation: Collation) -> Option<&'static CollatorBorrowed<'static>> {
    let locale = collation.family().locale;
    let at = COLLATORS.binary_search_by_key(&locale, |(known, _)| known).ok()?;
    let (is_cased, accents) = (collation.is_case_sensitive(), collation.is_accent_sensitive());
    let place = &COLLATORS[at].1[usize::from(is_cased) * 2 + usize::from(accents)];
    place.get_or_init(|| new_collator(locale, is_cased, accents)).as_ref()
}

fn new_collator(locale: &str, case: bool, accents: bool) -> Option<CollatorBorrowed<'static>> {
    let mut options = CollatorOptions::default();
    options.strength = Some(match (case, accents) {
        (true, true) => Strength::Tertiary,
        (false, true) => Strength::Secondary,
        (_, false) => Strength::Primary,
    });
    options.case_level = (case && !accents).then_some(CaseLevel::On);
    options.alternate_handling = Some(AlternateHandling::NonIgnorable);
    let preferences = locale.parse::<icu_locale_core::Locale>().map(|locale| CollatorPreferences::from(&locale));
    let of = |preferences| CollatorBorrowed::try_new(preferences, options).ok();
    of(preferences.unwrap_or_default()).or_else(|| of(CollatorPreferences::default()))
}

/// The text without what this collation is blind to and the algorithm, which sees case, is not.
fn shown(collation: Collation, text: &str) -> Cow<'_, str> {
    if text.is_ascii() || !collation.is_case_sensitive() {
        return Cow::Borrowed(text);
    }
    let see = |c: char| without_kana(without_width(c));
    match text.chars().all(|c| see(c) == c) {
        true => Cow::Borrowed(text),
        false => Cow::Owned(text.chars().map(see).collect()),
    }
}

/// Katakana as hiragana.
fn without_kana(c: char) -> char {
    match c {
        '\u{30A1}'..='\u{30F6}' | '\u{30FD}'..='\u{30FE}' => char::from_u32(c as u32 - 0x60).unwrap_or(c),
        _ => c,
    }
}

/// Katakana of half width from U+FF66 on, in those of full width.
const HALF_WIDTH: &str =
    "ヲァィゥェォャュョッーアイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホマミムメモヤユヨラリルレロワン";

/// Characters of full and half width as the ordinary ones.
fn without_width(c: char) -> char {
    match c {
        '\u{FF01}'..='\u{FF5E}' => char::from_u32(c as u32 - 0xFEE0).unwrap_or(c),
        '\u{3000}' => ' ',
        '\u{FF66}'..='\u{FF9D}' => HALF_WIDTH.chars().nth(c as usize - 0xFF66).unwrap_or(c),
        '\u{FF61}' => '。',
        '\u{FF62}' => '「',
        '\u{FF63}' => '」',
        '\u{FF64}' => '、',
        '\u{FF65}' => '・',
        _ => c,
    }
}

fn has_marks(collation: Collation) -> bool {
    collation.0 & (KANA_INSENSITIVE | WIDTH_INSENSITIVE) != KANA_INSENSITIVE | WIDTH_INSENSITIVE
}

/// Appends what a text's characters are in kana and width, without an end that says nothing.
fn push_marks(collation: Collation, text: &str, out: &mut Vec<u8>) {
    let start = out.len();
    for c in text.chars() {
        let plain = without_width(c);
        let kana = if without_kana(plain) == plain { ORDINARY } else { KATAKANA };
        let kana = if collation.0 & KANA_INSENSITIVE != 0 { ORDINARY } else { kana };
        let is_wide = plain != c && collation.0 & WIDTH_INSENSITIVE == 0;
        out.push(if is_wide { kana + OTHER_WIDTH } else { kana });
    }
    let end = out[start..].iter().rposition(|mark| *mark != ORDINARY).map_or(0, |last| last + 1);
    out.truncate(start + end);
}

/// Orders two strings without blanks at their ends.
pub(super) fn compare(collation: Collation, a: &str, b: &str) -> Ordering {
    let Some(collator) = collator(collation) else {
        return unicode::compare(collation, a, b);
    };
    let (left, right) = (unicode::reduced(collation, a), unicode::reduced(collation, b));
    let order = collator.compare(&shown(collation, &left.text), &shown(collation, &right.text));
    if order != Ordering::Equal || a == b {
        return order;
    }
    if has_marks(collation) {
        let (mut marks_a, mut marks_b) = (Vec::new(), Vec::new());
        push_marks(collation, &left.text, &mut marks_a);
        push_marks(collation, &right.text, &mut marks_b);
        if marks_a != marks_b {
            return marks_a.cmp(&marks_b);
        }
    }
    left.specials.cmp(&right.specials)
}

/// Appends the sort key of a string without blanks at its end.
pub(super) fn write_key(collation: Collation, text: &str, out: &mut Vec<u8>) {
    let Some(collator) = collator(collation) else {
        return unicode::write_key(collation, text, out);
    };
    let reduced = unicode::reduced(collation, text);
    let Ok(()) = collator.write_sort_key_to(&shown(collation, &reduced.text), out);
    out.push(0);
    if has_marks(collation) {
        push_marks(collation, &reduced.text, out);
        out.push(0);
    }
    out.extend_from_slice(&reduced.specials);
    out.push(0);
}

/// How many bytes the sort key has that `bytes` start with; `None` when they hold no whole one.
pub(super) fn key_length(collation: Collation, bytes: impl Iterator<Item = u8>) -> Option<usize> {
    if collator(collation).is_none() {
        return unicode::key_length(bytes);
    }
    let ends = if has_marks(collation) { 3 } else { 2 };
    let zeros = bytes.enumerate().filter(|(_, byte)| *byte == 0);
    zeros.map(|(at, _)| at + 1).nth(ends - 1)
}

/// The letters of a language that stand for several elsewhere.
pub(super) fn letters(collation: Collation) -> &'static str {
    match collation.family().locale {
        "da" | "nb" | "fi" | "se" => "æÆǽǼǣǢ",
        "is" => "æÆþÞǽǼǣǢ",
        _ => "",
    }
}

/// A hash that is the same for strings of the same sort key; they have no blanks at their ends.
pub(super) fn hash(collation: Collation, text: &str) -> u64 {
    let mut key = Vec::with_capacity(text.len() * 2 + 2);
    write_key(collation, text, &mut key);
    hash_bytes(key.into_iter())
}

/// Whether `i` has a capital with a dot, and `I` a small letter without one.
pub(super) fn has_two_i(collation: Collation) -> bool {
    matches!(collation.family().locale, "tr" | "az")
}

pub(super) fn lower_case(collation: Collation, c: char) -> char {
    match c {
        'I' if has_two_i(collation) => 'ı',
        'İ' if has_two_i(collation) => 'i',
        _ => case::lower(c),
    }
}

pub(super) fn upper_case(collation: Collation, c: char) -> char {
    match c {
        'i' if has_two_i(collation) => 'İ',
        _ => case::upper(c),
    }
}

/// The character that stands for all that compare equal to `c` alone.
pub(super) fn fold(collation: Collation, c: char) -> char {
    let see_width = collation.0 & WIDTH_INSENSITIVE == 0;
    let see_kana = collation.0 & KANA_INSENSITIVE == 0;
    // Accents first: what is below one may have another width, kana or case, which the accented letter has not (ヷ, İ).
    let bare = if c.is_ascii() || collation.is_accent_sensitive() { c } else { without_accent(collation, c) };
    let narrow = if bare.is_ascii() || see_width { bare } else { without_width(bare) };
    let kana = if narrow.is_ascii() || see_kana { narrow } else { without_kana(narrow) };
    if collation.is_case_sensitive() { kana } else { lower_case(collation, kana) }
}

/// The letter below an accent, if the language takes the two for one letter.
fn without_accent(collation: Collation, c: char) -> char {
    let mut bytes = [0; 4];
    let marked: &str = c.encode_utf8(&mut bytes);
    let mut parts = icu_normalizer::DecomposingNormalizerBorrowed::new_nfd().normalize_iter(marked.chars());
    match parts.next() {
        Some(base) if base != c && compare(collation, marked, base.encode_utf8(&mut [0; 4])).is_eq() => base,
        _ => c,
    }
}
