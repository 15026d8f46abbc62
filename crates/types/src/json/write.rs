//! Values as JSON writes them.

use crate::display::{base64, float_in_document, iso_text, write_text};
use crate::sql_type::SqlType;
use crate::value::Value;
use std::fmt::Write;

/// Appends a name or key in its quotes.
pub fn write_name(name: &str, out: &mut String) {
    write_quoted(name, false, out);
}

/// Appends a value: numbers and bits as they are, everything else as text in quotes, NULL as `null`.
pub fn write_json(value: &Value, ty: &SqlType, out: &mut String) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bit(bit) => out.push_str(if *bit { "true" } else { "false" }),
        Value::TinyInt(_)
        | Value::SmallInt(_)
        | Value::Int(_)
        | Value::BigInt(_)
        | Value::Decimal(_)
        | Value::Money(_)
        | Value::SmallMoney(_) => write_text(value, ty, out),
        Value::Float(number) => float_in_document(*number, out),
        Value::Real(number) => float_in_document(f64::from(*number), out),
        Value::Str(text) => write_quoted(text, true, out),
        Value::Bin(bytes) => {
            out.push('"');
            base64(bytes, out);
            out.push('"');
        }
        Value::Variant(variant) => write_json(variant.value(), variant.ty(), out),
        Value::Guid(_) | Value::Node(_) => {
            out.push('"');
            write_text(value, ty, out);
            out.push('"');
        }
        Value::Date(_)
        | Value::Time(_)
        | Value::DateTime(_)
        | Value::SmallDateTime(_)
        | Value::DateTime2(_)
        | Value::DateTimeOffset(_) => {
            out.push('"');
            iso_text(value, ty, out);
            out.push('"');
        }
    }
}

/// Text in quotes; values write a slash as `\/`, names do not.
fn write_quoted(text: &str, slashes: bool, out: &mut String) {
    out.reserve(text.len() + 2);
    out.push('"');
    for character in text.chars() {
        let escaped = match character {
            '"' => "\\\"",
            '\\' => "\\\\",
            '/' if slashes => "\\/",
            '\u{8}' => "\\b",
            '\u{c}' => "\\f",
            '\n' => "\\n",
            '\r' => "\\r",
            '\t' => "\\t",
            control if control < ' ' => {
                let written = write!(out, "\\u{:04x}", u32::from(control));
                debug_assert!(written.is_ok(), "writing to a string cannot fail");
                continue;
            }
            plain => {
                out.push(plain);
                continue;
            }
        };
        out.push_str(escaped);
    }
    out.push('"');
}

/// Bytes that a text has at most as JSON or XML: of what these escape a character is up to six.
pub fn escaped_bytes_max(text: &str) -> usize {
    let is_escaped = |byte: &u8| matches!(byte, 0..b' ' | b'"' | b'&' | b'<' | b'>' | b'\\' | b'/' | 0x7F);
    text.len() + 5 * text.bytes().filter(is_escaped).count() + 2
}
