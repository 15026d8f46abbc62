//! Windows code page 1252, which `char` and `varchar` hold, and lengths in its bytes and in UTF-16 units.
//!
//! Strings are UTF-8 in memory. A `varchar` value has only characters of the code page, each one byte of the type; an
//! `nvarchar` value counts UTF-16 units.

use std::borrow::Cow;

/// Characters of the bytes 0x80 to 0x9F; the other bytes are the code points of the same number.
const HIGH_CONTROLS: [char; 32] = [
    '\u{20AC}', '\u{81}', '\u{201A}', '\u{192}', '\u{201E}', '\u{2026}', '\u{2020}', '\u{2021}', '\u{2C6}', '\u{2030}',
    '\u{160}', '\u{2039}', '\u{152}', '\u{8D}', '\u{17D}', '\u{8F}', '\u{90}', '\u{2018}', '\u{2019}', '\u{201C}',
    '\u{201D}', '\u{2022}', '\u{2013}', '\u{2014}', '\u{2DC}', '\u{2122}', '\u{161}', '\u{203A}', '\u{153}', '\u{9D}',
    '\u{17E}', '\u{178}',
];

/// The character of a byte.
pub fn from_byte(byte: u8) -> char {
    match byte {
        0x80..=0x9F => HIGH_CONTROLS[usize::from(byte - 0x80)],
        _ => char::from(byte),
    }
}

/// The byte of a character; `None` when the code page has none.
pub fn to_byte(c: char) -> Option<u8> {
    match c as u32 {
        code @ (0..=0x7F | 0xA0..=0xFF) => Some(code as u8),
        _ => HIGH_CONTROLS.iter().position(|&high| high == c).map(|at| 0x80 + at as u8),
    }
}

/// The text with `?` for every UTF-16 unit that the code page cannot hold.
pub(crate) fn replace_foreign(text: &str) -> Cow<'_, str> {
    if text.is_ascii() || text.chars().all(|c| to_byte(c).is_some()) {
        return Cow::Borrowed(text);
    }
    let mut replaced = String::with_capacity(text.len());
    for c in text.chars() {
        match to_byte(c) {
            Some(_) => replaced.push(c),
            None => (0..c.len_utf16()).for_each(|_| replaced.push('?')),
        }
    }
    Cow::Owned(replaced)
}

/// Length in the units of a type: UTF-16 units when `unicode`, else characters (bytes of the code page).
#[inline]
pub(crate) fn units(text: &str, unicode: bool) -> usize {
    if text.is_ascii() {
        return text.len();
    }
    if unicode { text.encode_utf16().count() } else { text.chars().count() }
}

/// The longest start of a text that has at most `limit` units.
#[inline]
pub(crate) fn prefix(text: &str, limit: usize, unicode: bool) -> &str {
    if text.len() <= limit {
        return text;
    }
    &text[..offset_of_unit(text, limit, unicode)]
}

/// The byte offset of the unit `at` (from 0), or the text's length. A surrogate pair is not split: an offset inside it
/// is the pair's start.
pub(crate) fn offset_of_unit(text: &str, at: usize, unicode: bool) -> usize {
    if text.is_ascii() {
        return at.min(text.len());
    }
    let mut left = at;
    for (offset, c) in text.char_indices() {
        let width = if unicode { c.len_utf16() } else { 1 };
        if left < width {
            return offset;
        }
        left -= width;
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_round_trip() {
        for byte in 0..=255u8 {
            assert_eq!(to_byte(from_byte(byte)), Some(byte));
        }
        assert_eq!(to_byte('€'), Some(0x80));
        assert_eq!(to_byte('Ω'), None);
    }

    #[test]
    fn foreign_characters_become_question_marks() {
        assert_eq!(replace_foreign("naïve €"), "naïve €");
        assert_eq!(replace_foreign("aΩb"), "a?b");
        assert_eq!(replace_foreign("😀"), "??");
    }

    #[test]
    fn units_and_prefixes() {
        assert_eq!(units("é😀", true), 3);
        assert_eq!(units("éa", false), 2);
        assert_eq!(prefix("éab", 2, false), "éa");
        assert_eq!(prefix("a😀b", 2, true), "a");
        assert_eq!(prefix("a😀b", 3, true), "a😀");
        assert_eq!(offset_of_unit("a😀b", 9, true), 6);
    }
}
