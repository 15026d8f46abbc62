//! Binary collations: texts as their bytes.
//!
//! ```text
//!   char and varchar              the bytes of the code page
//!   nchar and nvarchar, _BIN2     by UTF-16's units, so a character outside the basic plane comes before U+E000
//!   nchar and nvarchar, _BIN      the first unit, then each other one's lower byte before its higher one
//!   _UTF8, char and varchar       by code point
//! ```
//!
//! Blanks at the end do not count: a string ends as if blanks followed. So its end stands behind the bytes below a
//! blank:
//!
//! ```text
//!   0 to 0x1F   themselves
//!   0x20        the end
//!   others      one more; 0xFE and 0xFF as 1 and 2 behind 0xFF
//! ```

use super::{BINARY, Collation, hash_bytes};
use crate::code_page::CodePage;
use std::cmp::Ordering;

const END: u8 = 0x20;
const ESCAPE: u8 = 0xFF;
/// Behind ESCAPE: a first unit above U+00FF, whose two bytes follow.
const HIGHER: u8 = 3;
/// Behind ESCAPE: a character that is not in the code page.
const FOREIGN: u8 = 4;

/// Bytes of a sort key for one unit of a string's declared length, at most.
pub(super) const KEY_BYTES_PER_UNIT: usize = 4;

/// Which bytes texts are compared as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Page(CodePage),
    Units,
    FirstUnit,
    Points,
}

fn form(collation: Collation) -> Form {
    match collation {
        _ if collation.is_utf8() && collation.is_of_bytes() => Form::Points,
        _ if collation.is_of_bytes() => Form::Page(collation.code_page()),
        _ if collation.0 & BINARY != 0 => Form::FirstUnit,
        _ => Form::Units,
    }
}

/// Orders two strings without blanks at their ends.
#[inline]
pub(super) fn compare(collation: Collation, left: &str, right: &str) -> Ordering {
    let (a, b) = (left.as_bytes(), right.as_bytes());
    let common = a.len().min(b.len());
    let place = a[..common].iter().zip(&b[..common]).position(|(x, y)| x != y);
    match place {
        Some(at) if (a[at] | b[at]) & 0x80 == 0 && left.is_char_boundary(at) => a[at].cmp(&b[at]),
        None if a.len() == b.len() => Ordering::Equal,
        // What is left over stands against a blank.
        None if a.len() > common && a[common] < 0x80 => order_of_rest(a[common]),
        None if b.len() > common && b[common] < 0x80 => order_of_rest(b[common]).reverse(),
        _ => {
            let (mut key_a, mut key_b) = (Vec::new(), Vec::new());
            write_key(collation, left, &mut key_a);
            write_key(collation, right, &mut key_b);
            key_a.cmp(&key_b)
        }
    }
}

/// How a byte of ASCII compares with a blank that is not there.
fn order_of_rest(byte: u8) -> Ordering {
    if byte < END { Ordering::Less } else { Ordering::Greater }
}

#[inline]
fn push(byte: u8, out: &mut Vec<u8>) {
    match byte {
        0..END => out.push(byte),
        0xFE.. => out.extend_from_slice(&[ESCAPE, byte - 0xFD]),
        _ => out.push(byte + 1),
    }
}

/// Appends the sort key of a string without blanks at its end.
pub(super) fn write_key(collation: Collation, text: &str, out: &mut Vec<u8>) {
    match form(collation) {
        Form::FirstUnit => push_first_unit(text, out),
        _ if text.is_ascii() => text.bytes().for_each(|byte| push(byte, out)),
        Form::Points => text.bytes().for_each(|byte| push(byte, out)),
        Form::Units => text.bytes().for_each(|byte| push(by_units(byte), out)),
        Form::Page(page) => text.chars().for_each(|c| push_of_page(page, c, out)),
    }
    out.push(END);
}

/// The bytes of a character in a code page; one that it does not have is behind all others.
fn push_of_page(page: CodePage, c: char, out: &mut Vec<u8>) {
    let mut utf8 = [0; 4];
    let own: &str = c.encode_utf8(&mut utf8);
    if c.is_ascii() {
        push(own.as_bytes()[0], out);
    } else if page.holds(c) {
        let mut bytes = Vec::with_capacity(2);
        page.encode(own, &mut bytes);
        bytes.into_iter().for_each(|byte| push(byte, out));
    } else {
        out.extend_from_slice(&[ESCAPE, FOREIGN]);
        own.bytes().for_each(|byte| push(byte, out));
    }
}

/// A byte of UTF-8 turned so that bytes compare as UTF-16's units do: pairs come before U+E000.
fn by_units(byte: u8) -> u8 {
    match byte {
        0xEE | 0xEF => byte + 5,
        0xF0..=0xF4 => byte - 2,
        _ => byte,
    }
}

/// The first unit as it is compared, of the others the lower byte first.
fn push_first_unit(text: &str, out: &mut Vec<u8>) {
    for (at, unit) in text.encode_utf16().enumerate() {
        let [high, low] = unit.to_be_bytes();
        let bytes = if at == 0 { [high, low] } else { [low, high] };
        // An end that was filled up has a blank here: its unit's higher byte is 0.
        if at == 0 && high == 0 {
            push(low, out);
            continue;
        }
        if at == 0 {
            out.extend_from_slice(&[ESCAPE, HIGHER]);
        }
        bytes.into_iter().for_each(|byte| push(byte, out));
    }
}

/// How many bytes the sort key has that `bytes` start with; `None` when they hold no whole one.
pub(super) fn key_length(mut bytes: impl Iterator<Item = u8>) -> Option<usize> {
    let mut length = 0;
    loop {
        length += 1;
        match bytes.next()? {
            END => return Some(length),
            ESCAPE => {
                bytes.next()?;
                length += 1;
            }
            _ => {}
        }
    }
}

/// A hash that is the same for strings that compare equal; they have no blanks at their ends.
pub(super) fn hash(text: &str) -> u64 {
    hash_bytes(text.bytes())
}
