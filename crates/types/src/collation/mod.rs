//! Collations: how strings compare, and the bytes that make a tree of keys compare the same way.
//!
//! A [`Collation`] is a set of flags: to what its strings are blind, or that they compare by code point, and the family that its name
//! is of. Everything that compares strings is handed the collation of what it compares; which one that is, where several meet, is
//! decided when a statement is bound ([`Collated`]). Blanks at the end of a string never count.
//!
//! A binary collation orders by code point, those of `_BIN` as those of `_BIN2`. How the others order is in [`letters`]. Kana and width
//! make a difference in no collation's comparisons; they are part of its name.

mod label;
mod letters;
mod names;

pub use label::Collated;

use std::cmp::Ordering;

/// How strings compare: one of the collations that are known here. Its flags have the places that they have in the wire protocol.
#[derive(Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(into = "&'static str", try_from = "String")]
pub struct Collation(u16);

const CASE_INSENSITIVE: u16 = 1;
const ACCENT_INSENSITIVE: u16 = 1 << 1;
const KANA_INSENSITIVE: u16 = 1 << 2;
const WIDTH_INSENSITIVE: u16 = 1 << 3;
const BINARY: u16 = 1 << 4;
const BINARY2: u16 = 1 << 5;
const UTF8: u16 = 1 << 6;
const SUPPLEMENTARY: u16 = 1 << 7;
/// The families of Windows collations; without either flag it is an SQL collation.
const WINDOWS: u16 = 1 << 8;
const WINDOWS_100: u16 = 1 << 9;

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
    pub const DEFAULT: Collation = Collation(CASE_INSENSITIVE | KANA_INSENSITIVE | WIDTH_INSENSITIVE);
    /// `Latin1_General_BIN2`: by code point.
    pub const BINARY: Collation = Collation(WINDOWS | BINARY2);
    /// Strings that are equal in any collation are equal in this one.
    pub const COARSEST: Collation = Collation(Collation::DEFAULT.0 | ACCENT_INSENSITIVE);

    /// Whether strings compare by code point.
    #[inline]
    pub fn is_binary(self) -> bool {
        self.0 & (BINARY | BINARY2) != 0
    }

    /// Whether `char` and `varchar` of this collation are UTF-8.
    pub fn is_utf8(self) -> bool {
        self.0 & UTF8 != 0
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

    /// Compares two strings; trailing blanks do not count.
    #[inline]
    pub fn compare(self, left: &str, right: &str) -> Ordering {
        let (a, b) = (trim(left), trim(right));
        if self.is_binary() {
            return a.cmp(b);
        }
        letters::compare(self, a, b)
    }

    /// Appends the sort key of a string: comparing keys as bytes compares the strings, and no key is the start of
    /// another.
    pub(crate) fn write_key(self, text: &str, out: &mut Vec<u8>) {
        let text = trim(text);
        if !self.is_binary() {
            letters::write_key(self, text, out);
            return;
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
        if self.is_binary() { binary_key_length(bytes) } else { letters::key_length(bytes) }
    }

    /// Bytes of a sort key for one unit of a string's declared length, at most.
    pub fn key_bytes_per_unit(self) -> usize {
        if self.is_binary() || !self.is_case_sensitive() { 4 } else { 6 }
    }

    /// A hash that is the same for strings that compare equal.
    pub(crate) fn hash(self, text: &str) -> u64 {
        let text = trim(text);
        if self.is_binary() { hash_bytes(text.bytes()) } else { letters::hash(self, text) }
    }

    /// The character that stands for all that compare equal to `c` alone.
    #[inline]
    pub(crate) fn fold(self, c: char) -> char {
        if self.is_binary() { c } else { letters::fold(self, c) }
    }

    /// Whether `c` sorts from `first` to `last`, both included: a range of LIKE.
    pub(crate) fn in_range(self, c: char, first: char, last: char) -> bool {
        if self.is_binary() {
            return (first..=last).contains(&c);
        }
        let key = |c: char| {
            let mut key = Vec::with_capacity(8);
            letters::write_key(self, c.encode_utf8(&mut [0; 4]), &mut key);
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
