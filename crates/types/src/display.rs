//! Values as a result set's text.

use crate::convert::{float_text, moment_of, money_text, scientific};
use crate::datetime::{Language, style_text};
use crate::sql_type::SqlType;
use crate::value::Value;
use std::fmt::Write;

/// The text that query tools show for a value: NULL as `NULL`, dates in ISO form, money with four digits, `float` with as
/// many digits as it takes to read it back (15 to 17), binary in hexadecimal.
pub fn to_text(value: &Value, ty: &SqlType) -> String {
    let mut text = String::new();
    write_text(value, ty, &mut text);
    text
}

/// Appends what [`to_text`] gives.
pub fn write_text(value: &Value, ty: &SqlType, out: &mut String) {
    let written = match value {
        Value::Null => {
            out.push_str("NULL");
            Ok(())
        }
        Value::Bit(v) => write!(out, "{}", u8::from(*v)),
        Value::TinyInt(v) => write!(out, "{v}"),
        Value::SmallInt(v) => write!(out, "{v}"),
        Value::Int(v) => write!(out, "{v}"),
        Value::BigInt(v) => write!(out, "{v}"),
        Value::Decimal(v) => write!(out, "{v}"),
        Value::Money(v) => {
            money_text(*v, 2, out);
            Ok(())
        }
        Value::SmallMoney(v) => {
            money_text(i64::from(*v), 2, out);
            Ok(())
        }
        Value::Float(v) => {
            write_shortest(*v, 15..=17, |text| text.parse() == Ok(*v), out);
            Ok(())
        }
        Value::Real(v) => {
            write_shortest(f64::from(*v), 7..=9, |text| text.parse() == Ok(*v), out);
            Ok(())
        }
        Value::Str(text) => {
            out.push_str(text);
            Ok(())
        }
        Value::Bin(bytes) => {
            out.push_str("0x");
            write_hexadecimal(bytes, out);
            Ok(())
        }
        Value::Guid(bytes) => {
            write_guid(bytes, out);
            Ok(())
        }
        Value::Variant(variant) => {
            write_text(variant.value(), variant.ty(), out);
            Ok(())
        }
        Value::Node(node) => {
            out.push_str(&node.to_text());
            Ok(())
        }
        Value::Date(_)
        | Value::Time(_)
        | Value::DateTime(_)
        | Value::SmallDateTime(_)
        | Value::DateTime2(_)
        | Value::DateTimeOffset(_) => {
            write_date(value, ty, out);
            Ok(())
        }
    };
    debug_assert!(written.is_ok(), "writing to a string cannot fail");
}

fn write_date(value: &Value, ty: &SqlType, out: &mut String) {
    let natural = crate::compare::natural_type(value);
    // A type that is not the value's own says nothing about its digits.
    let ty = if std::mem::discriminant(ty) == std::mem::discriminant(&natural) { ty } else { &natural };
    let style = if *ty == SqlType::SmallDateTime { 120 } else { 121 };
    if let Some(moment) = moment_of(value) {
        style_text(moment, ty, style, Language::ENGLISH, out);
    }
}

/// Appends a moment as ISO 8601 writes it, with `T` between date and time; a fraction of nothing but zeros is left out.
pub fn iso_text(value: &Value, ty: &SqlType, out: &mut String) {
    let start = out.len();
    write_date(value, ty, out);
    let mut text = out.split_off(start).replacen(' ', "T", 1);
    if let Value::DateTimeOffset(_) = value {
        // Between the time and its zone stands a blank too.
        text = text.replacen(' ', "", 1);
    }
    if let Some(point) = text.find('.') {
        let end = text[point + 1..].find(|c: char| !c.is_ascii_digit()).map_or(text.len(), |at| point + 1 + at);
        if text[point + 1..end].bytes().all(|digit| digit == b'0') {
            text.replace_range(point..end, "");
        }
    }
    out.push_str(&text);
}

/// Appends a float as documents write it, with 16 digits and an exponent: `1.500000000000000e+000`.
pub fn float_in_document(number: f64, out: &mut String) {
    scientific(number, 16, out);
}

/// Appends bytes in base 64.
pub fn base64(bytes: &[u8], out: &mut String) {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for group in bytes.chunks(3) {
        let bits = (0..3).fold(0_u32, |bits, at| bits << 8 | u32::from(group.get(at).copied().unwrap_or(0)));
        for digit in 0..4 {
            let is_there = digit <= group.len();
            let place = (bits >> (18 - 6 * digit) & 63) as usize;
            out.push(if is_there { char::from(DIGITS[place]) } else { '=' });
        }
    }
}

/// The bytes of a text in base 64; blanks in it do not count. None for what is no such text.
pub fn base64_bytes(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| match byte {
        b'A'..=b'Z' => Some(byte - b'A'),
        b'a'..=b'z' => Some(byte - b'a' + 26),
        b'0'..=b'9' => Some(byte - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    };
    let written: Vec<u8> = text.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    let padding = written.iter().rev().take_while(|byte| **byte == b'=').count();
    if !written.len().is_multiple_of(4) || padding > 2 {
        return None;
    }
    let mut bytes = Vec::with_capacity(written.len() / 4 * 3);
    for group in written.chunks(4) {
        let mut bits = 0_u32;
        for &byte in group {
            bits = bits << 6 | u32::from(if byte == b'=' { 0 } else { digit(byte)? });
        }
        bytes.extend_from_slice(&bits.to_be_bytes()[1..]);
    }
    // A sign that fills up stands at the end alone.
    if written[..written.len() - padding].contains(&b'=') {
        return None;
    }
    bytes.truncate(bytes.len() - padding);
    Some(bytes)
}

/// The fewest digits of `digits` that read back as the same number.
fn write_shortest(
    value: f64,
    digits: std::ops::RangeInclusive<usize>,
    reads_back: impl Fn(&str) -> bool,
    out: &mut String,
) {
    let start = out.len();
    let most = *digits.end();
    for count in digits {
        float_text(value, count, 2, 'E', out);
        if count == most || reads_back(&out[start..]) {
            return;
        }
        out.truncate(start);
    }
}

/// Upper-case hexadecimal digits.
pub(crate) fn write_hexadecimal(bytes: &[u8], out: &mut String) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    out.reserve(bytes.len() * 2);
    for byte in bytes {
        out.push(char::from(DIGITS[usize::from(byte >> 4)]));
        out.push(char::from(DIGITS[usize::from(byte & 15)]));
    }
}

/// `XXXXXXXX-XXXX-XXXX-XXXX-XXXXXXXXXXXX`; the first three groups are little-endian.
pub(crate) fn write_guid(bytes: &[u8; 16], out: &mut String) {
    const GROUPS: [&[usize]; 5] = [&[3, 2, 1, 0], &[5, 4], &[7, 6], &[8, 9], &[10, 11, 12, 13, 14, 15]];
    for (at, group) in GROUPS.iter().enumerate() {
        if at > 0 {
            out.push('-');
        }
        for &byte in *group {
            write_hexadecimal(&[bytes[byte]], out);
        }
    }
}
