//! Collations: how strings compare, and the bytes that make a tree of keys compare the same way.
//!
//! A [`Collation`] is a set of flags: to what its strings are blind, or that they compare by code point; and the family that its name
//! is of, which has the language, its order and the code page of `char` and `varchar` ([`families`]). Everything that compares strings
//! is handed the collation of what it compares; which one that is, where several meet, is decided when a statement is bound
//! ([`Collated`]). Blanks at the end of a string never count.
//!
//! ```text
//!   binary                             by code point, those of _BIN as those of _BIN2
//!   Latin1_General, SQL_..._CP1_...    letters: an order of our own; the keys of existing indexes have it, so it never changes
//!   all others                         language: the Unicode collation algorithm, tailored to the language
//! ```
//!
//! Which of the three it is stands in the flags, so that comparing tests bits and looks nothing up.

mod families;
mod label;
mod language;
mod letters;
mod names;

pub use label::Collated;

use crate::code_page::CodePage;
use families::{FAMILIES, SQL};
use std::cmp::Ordering;

/// How strings compare: one of the collations that are known here.
///
/// ```text
///   bits  0 to 8    what it is blind to, binary, UTF-8: the first seven have the places that they have in the wire protocol
///         9         ordered by letters
///        10         an SQL collation
///        14, 15     the version: 80, 90, 100, 140
///        16 to 31   the place in the table of families, or of SQL collations
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(into = "&'static str", try_from = "String")]
pub struct Collation(u32);

const CASE_INSENSITIVE: u32 = 1;
const ACCENT_INSENSITIVE: u32 = 1 << 1;
const KANA_INSENSITIVE: u32 = 1 << 2;
const WIDTH_INSENSITIVE: u32 = 1 << 3;
const BINARY: u32 = 1 << 4;
const BINARY2: u32 = 1 << 5;
const UTF8: u32 = 1 << 6;
const SUPPLEMENTARY: u32 = 1 << 7;
const VARIATION_SENSITIVE: u32 = 1 << 8;
const LETTERS: u32 = 1 << 9;
const SQL_COLLATION: u32 = 1 << 10;
const VERSION_AT: u32 = 14;
const PLACE_AT: u32 = 16;
/// What all SQL collations that are not binary are blind to.
const SQL_BLIND: u32 = KANA_INSENSITIVE | WIDTH_INSENSITIVE;
/// The places of `CI_AS` and `CI_AI` among the SQL collations are 0 and 2.
const SQL_LETTERS: u32 = LETTERS | SQL_COLLATION | SQL_BLIND;

impl Default for Collation {
    /// `SQL_Latin1_General_CP1_CI_AS`.
    fn default() -> Collation {
        Collation::DEFAULT
    }
}

impl std::fmt::Debug for Collation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl Collation {
    /// `SQL_Latin1_General_CP1_CI_AS`: case does not matter, accents do.
    pub const DEFAULT: Collation = Collation(SQL_LETTERS | CASE_INSENSITIVE);
    /// `Latin1_General_BIN2`: by code point.
    pub const BINARY: Collation = Collation(LETTERS | BINARY2);
    /// `SQL_Latin1_General_CP1_CI_AI`: strings that are equal in any collation of its order are equal in this one.
    pub const COARSEST: Collation = Collation(SQL_LETTERS | CASE_INSENSITIVE | ACCENT_INSENSITIVE | 2 << PLACE_AT);

    /// Whether strings compare by code point.
    #[inline]
    pub fn is_binary(self) -> bool {
        self.0 & (BINARY | BINARY2) != 0
    }

    /// Whether `char` and `varchar` of this collation are UTF-8.
    pub fn is_utf8(self) -> bool {
        self.0 & UTF8 != 0
    }

    /// Whether functions count a character outside the basic plane as one.
    #[inline]
    pub fn counts_characters(self) -> bool {
        self.0 & SUPPLEMENTARY != 0
    }

    /// Whether lower and upper case are told apart.
    #[inline]
    pub fn is_case_sensitive(self) -> bool {
        self.0 & CASE_INSENSITIVE == 0
    }

    #[inline]
    fn is_accent_sensitive(self) -> bool {
        self.0 & ACCENT_INSENSITIVE == 0
    }

    #[inline]
    fn is_of_letters(self) -> bool {
        self.0 & LETTERS != 0
    }

    fn place(self) -> usize {
        (self.0 >> PLACE_AT) as usize
    }

    fn is_sql(self) -> bool {
        self.0 & SQL_COLLATION != 0
    }

    /// The code page of `char` and `varchar`.
    #[inline]
    pub fn code_page(self) -> CodePage {
        match self.place() {
            _ if self.is_utf8() => CodePage::Utf8,
            place if self.is_sql() => SQL.get(place).map_or(CodePage::Western, |known| known.page),
            place => FAMILIES.get(place).map_or(CodePage::Western, |known| known.page),
        }
    }

    /// Lower case of a character, in the language: characters whose lower case is longer stay as they are.
    pub fn lower_case(self, c: char) -> char {
        if self.is_of_letters() { letters::lower(c) } else { language::lower_case(self, c) }
    }

    /// Upper case of a character, in the same way.
    pub fn upper_case(self, c: char) -> char {
        if self.is_of_letters() { letters::upper(c) } else { language::upper_case(self, c) }
    }

    /// Compares two strings; trailing blanks do not count.
    #[inline]
    pub fn compare(self, left: &str, right: &str) -> Ordering {
        let (a, b) = (trim(left), trim(right));
        if self.is_binary() {
            return a.cmp(b);
        }
        if self.is_of_letters() { letters::compare(self, a, b) } else { language::compare(self, a, b) }
    }

    /// Appends the sort key of a string: comparing keys as bytes compares the strings, and no key is the start of
    /// another.
    pub(crate) fn write_key(self, text: &str, out: &mut Vec<u8>) {
        let text = trim(text);
        if !self.is_binary() {
            return match self.is_of_letters() {
                true => letters::write_key(self, text, out),
                false => language::write_key(self, text, out),
            };
        }
        for &byte in text.as_bytes() {
            out.push(byte);
            if byte == 0 {
                out.push(0xFF);
            }
        }
        out.extend_from_slice(&[0, 0]);
    }

    /// How many bytes the sort key has that `bytes` start with; `None` when they hold no whole one.
    pub(crate) fn key_length(self, bytes: impl Iterator<Item = u8>) -> Option<usize> {
        match self.is_of_letters() {
            _ if self.is_binary() => binary_key_length(bytes),
            true => letters::key_length(bytes),
            false => language::key_length(self, bytes),
        }
    }

    /// Bytes of a sort key for one unit of a string's declared length, at most.
    pub fn key_bytes_per_unit(self) -> usize {
        match self.is_of_letters() {
            _ if self.is_binary() => 4,
            true if !self.is_case_sensitive() => 4,
            true => 6,
            false => language::KEY_BYTES_PER_UNIT,
        }
    }

    /// A hash that is the same for strings that compare equal.
    pub(crate) fn hash(self, text: &str) -> u64 {
        let text = trim(text);
        match self.is_of_letters() {
            _ if self.is_binary() => hash_bytes(text.bytes()),
            true => letters::hash(self, text),
            false => language::hash(self, text),
        }
    }

    /// The character that stands for all that compare equal to `c` alone.
    #[inline]
    pub(crate) fn fold(self, c: char) -> char {
        match self.is_of_letters() {
            _ if self.is_binary() => c,
            true => letters::fold(self, c),
            false => language::fold(self, c),
        }
    }

    /// Whether `c` sorts from `first` to `last`, both included: a range of LIKE.
    pub(crate) fn in_range(self, c: char, first: char, last: char) -> bool {
        if self.is_binary() {
            return (first..=last).contains(&c);
        }
        let key = |c: char| {
            let mut key = Vec::with_capacity(8);
            self.write_key(c.encode_utf8(&mut [0; 4]), &mut key);
            key
        };
        let at = key(c);
        key(first) <= at && at <= key(last)
    }
}

/// The length of a key of bytes, each 0 followed by 0xFF, and two zeros.
pub(crate) fn binary_key_length(mut bytes: impl Iterator<Item = u8>) -> Option<usize> {
    let mut length = 0;
    loop {
        length += 1;
        if bytes.next()? == 0 {
            length += 1;
            match bytes.next()? {
                0 => return Some(length),
                0xFF => {}
                _ => return None,
            }
        }
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

#[cfg(test)]
mod tests;
