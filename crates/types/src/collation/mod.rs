//! Collations: how strings compare, and the bytes that make a tree of keys compare the same way.
//!
//! A [`Collation`] is a set of flags: to what its strings are blind, or that they compare by code point; and the
//! family that its name
//! is of, which has the language, its order and the code page of `char` and `varchar` ([`families`]). Everything that
//! compares strings
//! is handed the collation of what it compares; which one that is, where several meet, is decided when a statement is
//! bound
//! ([`Collated`]). Blanks at the end of a string never count.
//!
//! ```text
//!   binary      _BIN and _BIN2: by the bytes of the code page or of UTF-16                             `binary`
//!   SQL order   char and varchar of SQL_Latin1_General_... and its like: by characters of the code page  `sql_order`
//!   Unicode     all other texts of Latin1_General's order: by Windows' weights, versions 80 to 140       `unicode`
//!   language    other families: the Unicode collation algorithm, tailored to the language                `language`
//! ```
//!
//! Which of them it is stands in the flags, so that comparing tests bits and looks nothing up. In binary and SQL
//! collations `char` and `varchar`
//! compare otherwise than `nchar` and `nvarchar`: [`Collation::comparing`] gives what texts of a type are compared by.
//! Keys on disk have
//! these orders: [`Collation::ORDERS_VERSION`].

mod binary;
mod case;
mod families;
mod find;
mod label;
mod language;
mod names;
mod sql_order;
mod unicode;

pub(crate) use find::Finder;
pub use label::Collated;
pub(crate) use unicode::Places;

use crate::code_page::CodePage;
use crate::sql_type::SqlType;
use families::{FAMILIES, SQL};
use std::cmp::Ordering;

/// How strings compare: one of the collations that are known here.
///
/// ```text
///   bits  0 to 8    what it is blind to, binary, UTF-8: the first seven have the places that they have in the wire protocol
///         9         of Latin1_General's order
///        10         an SQL collation
///        11         compares texts of `char` and `varchar`, where that is not as Unicode
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
/// A collation that is blind to all of these writes no cases.
const ALL_CASES: u32 = CASE_INSENSITIVE | KANA_INSENSITIVE | WIDTH_INSENSITIVE;
const OF_BYTES: u32 = 1 << 11;
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
    /// Counts up when a text's sort key becomes another: indexes of another version cannot be read.
    pub const ORDERS_VERSION: u32 = 2;
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

    /// What texts of a type are compared by, in this collation.
    #[inline]
    #[must_use]
    pub fn comparing(self, ty: &SqlType) -> Collation {
        let differs = self.is_binary() || self.0 & (LETTERS | SQL_COLLATION) == LETTERS | SQL_COLLATION;
        let is_narrow = matches!(ty, SqlType::Char(_) | SqlType::VarChar(_) | SqlType::Text);
        if differs && is_narrow { Collation(self.0 | OF_BYTES) } else { self.named() }
    }

    /// How a comparison by this collation can be done by the keys of another one.
    pub fn searched_by(self, key: Collation) -> Search {
        match self.named() == key.named() {
            _ if self == key => Search::Always,
            true if self.is_binary() => Search::Equal,
            true => Search::PlainEqual,
            false => Search::Never,
        }
    }

    /// Whether a text is equal to the same texts of a code page by Unicode's rules as by those of a SQL order: it has
    /// letters, digits and symbols
    /// of ASCII alone, and no two letters that one character stands for. That a superscript digit is equal to the
    /// digit by Unicode's rules alone
    /// is not looked at.
    pub fn is_plain(text: &str) -> bool {
        let bytes = text.as_bytes();
        let is_pair =
            |pair: &[u8]| matches!([pair[0] | 0x20, pair[1] | 0x20], [b'a' | b'o', b'e'] | [b's', b's'] | [b't', b'h']);
        bytes.iter().all(|byte| (b' '..=b'~').contains(byte)) && !bytes.windows(2).any(is_pair)
    }

    /// The collation that has a name: the same for all types.
    #[inline]
    pub(crate) fn named(self) -> Collation {
        Collation(self.0 & !OF_BYTES)
    }

    #[inline]
    fn is_of_bytes(self) -> bool {
        self.0 & OF_BYTES != 0
    }

    /// Whether texts compare as units that are not always single characters.
    #[inline]
    pub(crate) fn is_of_units(self) -> bool {
        match self.order() {
            Order::Unicode => true,
            // What is equal but for accents is a matter of the language.
            Order::Language => self.is_accent_sensitive() && !language::has_two_i(self),
            Order::Binary | Order::Sql => false,
        }
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
        if self.is_of_letters() { case::lower(c) } else { language::lower_case(self, c) }
    }

    /// Upper case of a character, in the same way.
    pub fn upper_case(self, c: char) -> char {
        if self.is_of_letters() { case::upper(c) } else { language::upper_case(self, c) }
    }

    /// Compares two strings; trailing blanks do not count.
    #[inline]
    pub fn compare(self, left: &str, right: &str) -> Ordering {
        self.compare_whole(trim(left), trim(right))
    }

    #[inline]
    fn compare_whole(self, a: &str, b: &str) -> Ordering {
        match self.order() {
            Order::Unicode => unicode::compare(self, a, b),
            Order::Sql => sql_order::compare(self, a, b),
            Order::Binary => binary::compare(self, a, b),
            Order::Language => language::compare(self, a, b),
        }
    }

    #[inline]
    fn order(self) -> Order {
        match self.0 & (LETTERS | OF_BYTES) {
            _ if self.is_binary() => Order::Binary,
            LETTERS => Order::Unicode,
            0 => Order::Language,
            _ => Order::Sql,
        }
    }

    /// Appends the sort key of a string: comparing keys as bytes compares the strings, and no key is the start of
    /// another.
    pub(crate) fn write_key(self, text: &str, out: &mut Vec<u8>) {
        let text = trim(text);
        match self.order() {
            Order::Unicode => unicode::write_key(self, text, out),
            Order::Sql => sql_order::write_key(self, text, out),
            Order::Binary => binary::write_key(self, text, out),
            Order::Language => language::write_key(self, text, out),
        }
    }

    /// How many bytes the sort key has that `bytes` start with; `None` when they hold no whole one.
    pub(crate) fn key_length(self, bytes: impl Iterator<Item = u8>) -> Option<usize> {
        match self.order() {
            Order::Unicode => unicode::key_length(bytes),
            Order::Sql => sql_order::key_length(bytes),
            Order::Binary => binary::key_length(bytes),
            Order::Language => language::key_length(self, bytes),
        }
    }

    /// Bytes of a sort key for one unit of a string's declared length, at most.
    pub fn key_bytes_per_unit(self) -> usize {
        match self.order() {
            Order::Binary => binary::KEY_BYTES_PER_UNIT,
            Order::Sql if !self.is_case_sensitive() => 4,
            Order::Sql => 6,
            Order::Unicode if self.0 & ALL_CASES == ALL_CASES => unicode::KEY_BYTES_PER_UNIT,
            Order::Unicode => unicode::CASED_KEY_BYTES_PER_UNIT,
            Order::Language => language::KEY_BYTES_PER_UNIT,
        }
    }

    /// A hash that is the same for strings that compare equal.
    pub(crate) fn hash(self, text: &str) -> u64 {
        let text = trim(text);
        match self.order() {
            Order::Unicode => unicode::hash(self, text),
            Order::Sql => sql_order::hash(self, text),
            Order::Binary => binary::hash(text),
            Order::Language => language::hash(self, text),
        }
    }

    /// The character that stands for all that compare equal to `c` alone. Where texts compare by units
    /// ([`Collation::is_of_units`]) that
    /// is so for characters of ASCII alone.
    #[inline]
    pub(crate) fn fold(self, c: char) -> char {
        match self.order() {
            Order::Unicode => unicode::fold(self, c),
            Order::Sql => sql_order::fold(self, c),
            Order::Binary => c,
            Order::Language => language::fold(self, c),
        }
    }

    /// Whether two characters are equal as texts; those without a weight are equal to none.
    #[inline]
    pub(crate) fn is_same(self, a: char, b: char) -> bool {
        if a == b || self.order() != Order::Unicode || a.is_ascii() && b.is_ascii() {
            return self.fold(a) == self.fold(b);
        }
        unicode::is_same(self, a, b)
    }

    /// Whether a text is compared character by character, as [`Collation::is_same`] does.
    #[inline]
    pub(crate) fn is_single(self, text: &str) -> bool {
        !self.is_of_units() || unicode::is_single(self, text)
    }

    fn order_of(self, a: char, b: char) -> Ordering {
        let (mut bytes_a, mut bytes_b) = ([0; 4], [0; 4]);
        self.compare_whole(a.encode_utf8(&mut bytes_a), b.encode_utf8(&mut bytes_b))
    }

    /// Whether `c` sorts from `first` to `last`, both included: a range of LIKE.
    pub(crate) fn in_range(self, c: char, first: char, last: char) -> bool {
        self.order_of(first, c).is_le() && self.order_of(c, last).is_le()
    }
}

/// How a comparison can be done by keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Search {
    /// They have its order.
    Always,
    /// Equal keys are equal texts, and the orders differ.
    Equal,
    /// So it is for plain texts ([`Collation::is_plain`]).
    PlainEqual,
    /// They say nothing about it.
    Never,
}

/// How texts are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Order {
    Binary,
    Sql,
    Unicode,
    Language,
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
