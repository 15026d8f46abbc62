//! Conversions to binary strings and unique identifiers.

use crate::code_page::CodePage;
use crate::datetime::DATETIME_DAY;
use crate::error::SqlError;
use crate::sql_type::{Length, SqlType};
use crate::value::Value;

pub(super) fn to_binary(
    value: &Value,
    from: &SqlType,
    to: &SqlType,
    page: CodePage,
    style: Option<i32>,
    out: &mut Value,
) -> Result<(), SqlError> {
    let mut number = [0u8; 8];
    let owned: Vec<u8>;
    let bytes: &[u8] = match value {
        Value::Bin(bytes) => bytes,
        Value::Guid(bytes) => bytes,
        Value::Str(text) => {
            owned = from_text(text, from, to, page, style)?;
            &owned
        }
        _ => number_bytes(value, from, to, &mut number)?,
    };
    let is_number = !matches!(value, Value::Bin(_) | Value::Guid(_) | Value::Str(_));
    let limit = to.declared_length().map_or(usize::MAX, Length::limit);
    let buffer = out.binary_buffer();
    match (to, is_number) {
        // Numbers keep their last bytes and are filled up in front.
        (SqlType::Binary(n), true) => {
            buffer.resize(usize::from(*n).saturating_sub(bytes.len()), 0);
            buffer.extend_from_slice(&bytes[bytes.len().saturating_sub(limit)..]);
        }
        (_, true) => buffer.extend_from_slice(&bytes[bytes.len().saturating_sub(limit)..]),
        (_, false) => buffer.extend_from_slice(&bytes[..bytes.len().min(limit)]),
    }
    if let SqlType::Binary(n) = to {
        buffer.resize(usize::from(*n), 0);
    }
    Ok(())
}

/// The big-endian bytes of a number, as many as its type has.
fn number_bytes<'b>(
    value: &Value,
    from: &SqlType,
    to: &SqlType,
    buffer: &'b mut [u8; 8],
) -> Result<&'b [u8], SqlError> {
    let (number, size) = match value {
        Value::Bit(_) | Value::TinyInt(_) => (value.as_i64().unwrap_or(0), 1),
        Value::SmallInt(v) => (i64::from(*v), 2),
        Value::Int(v) => (i64::from(*v), 4),
        Value::BigInt(v) | Value::Money(v) => (*v, 8),
        Value::SmallMoney(v) => (i64::from(*v), 4),
        Value::DateTime(v) => {
            let (days, ticks) = (v.ticks().div_euclid(DATETIME_DAY), v.ticks().rem_euclid(DATETIME_DAY));
            (days << 32 | ticks, 8)
        }
        Value::SmallDateTime(v) => (i64::from(v.minutes() / 1440) << 16 | i64::from(v.minutes() % 1440), 4),
        _ => return Err(SqlError::explicit_conversion_not_allowed(from.error_name(), to.error_name())),
    };
    *buffer = number.to_be_bytes();
    Ok(&buffer[8 - size..])
}

/// Style 0: the characters' bytes; 1: hexadecimal with `0x` in front; 2: hexadecimal.
fn from_text(
    text: &str,
    from: &SqlType,
    to: &SqlType,
    page: CodePage,
    style: Option<i32>,
) -> Result<Vec<u8>, SqlError> {
    let failed = || SqlError::error_converting(from.error_name(), to.error_name());
    let digits = match style {
        Some(1) => text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")).ok_or_else(failed)?,
        Some(2) => text,
        None | Some(0) => {
            let mut bytes = Vec::with_capacity(text.len());
            page.of(from).encode(text, &mut bytes);
            return Ok(bytes);
        }
        Some(style) => return Err(SqlError::invalid_style(style, from.error_name())),
    };
    let digits = digits.trim_end_matches(' ').as_bytes();
    if digits.len() % 2 != 0 {
        return Err(failed());
    }
    let nibble = |byte: u8| char::from(byte).to_digit(16).map(|digit| digit as u8);
    let pairs = digits.chunks_exact(2).map(|pair| Some(nibble(pair[0])? << 4 | nibble(pair[1])?));
    pairs.collect::<Option<Vec<u8>>>().ok_or_else(failed)
}

pub(super) fn to_guid(value: &Value) -> Result<Value, SqlError> {
    match value {
        Value::Guid(bytes) => Ok(Value::Guid(*bytes)),
        Value::Bin(bytes) => {
            let mut guid = [0u8; 16];
            let size = bytes.len().min(16);
            guid[..size].copy_from_slice(&bytes[..size]);
            Ok(Value::Guid(guid))
        }
        Value::Str(text) => guid_from_text(text).map(Value::Guid).ok_or_else(SqlError::text_is_not_a_guid),
        _ => Err(SqlError::text_is_not_a_guid()),
    }
}

/// `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx`, in braces or not; what follows is ignored.
fn guid_from_text(text: &str) -> Option<[u8; 16]> {
    let text = text.trim_start_matches(' ').as_bytes();
    let body = if text.first() == Some(&b'{') {
        if text.get(37) != Some(&b'}') {
            return None;
        }
        text.get(1..37)?
    } else {
        text.get(..36)?
    };
    // The first three groups are little-endian numbers.
    const PLACES: [usize; 16] = [3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15];
    let mut guid = [0u8; 16];
    let mut at = 0;
    for (index, &place) in PLACES.iter().enumerate() {
        if matches!(index, 4 | 6 | 8 | 10) {
            if body[at] != b'-' {
                return None;
            }
            at += 1;
        }
        let nibble = |byte: u8| char::from(byte).to_digit(16);
        guid[place] = (nibble(body[at])? << 4 | nibble(body[at + 1])?) as u8;
        at += 2;
    }
    Some(guid)
}
