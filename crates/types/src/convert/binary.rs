//! Conversions to binary strings and unique identifiers.
//!
//! Numbers of fixed width and the old date types are their big-endian bytes. A decimal is its precision, its scale, a zero, its
//! sign and its digits as a little-endian number of whole words; the younger date types are the count of their digits (but for
//! `date`), then their units since midnight and their days, little-endian. `dates` and `numbers` read the same bytes.

use crate::code_page::CodePage;
use crate::datetime::{DATETIME_DAY, DAY};
use crate::decimal::Decimal;
use crate::error::SqlError;
use crate::memory;
use crate::sql_type::{Length, SqlType};
use crate::value::Value;

/// Bytes of the longest number: a decimal's head and digits.
const NUMBER_BYTES_MAX: usize = 20;
/// Bytes of a decimal before its digits.
pub(super) const DECIMAL_HEAD: usize = 4;

pub(super) fn to_binary(
    value: &Value,
    from: &SqlType,
    to: &SqlType,
    page: CodePage,
    style: Option<i32>,
    out: &mut Value,
) -> Result<(), SqlError> {
    let mut number = [0u8; NUMBER_BYTES_MAX];
    let owned: Vec<u8>;
    let bytes: &[u8] = match value {
        Value::Bin(bytes) => bytes,
        Value::Guid(bytes) => bytes,
        Value::Str(text) => {
            // A unit of UTF-16 is two bytes, and the one of UTF-8 that it may be here one.
            memory::ask(2 * text.len())?;
            owned = from_text(text, from, to, page, style)?;
            if matches!(to, SqlType::VarBinary(Length::Max) | SqlType::Image) {
                *out = Value::Bin(owned);
                return Ok(());
            }
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

/// The bytes of a number, a date or a time.
fn number_bytes<'b>(
    value: &Value,
    from: &SqlType,
    to: &SqlType,
    buffer: &'b mut [u8; NUMBER_BYTES_MAX],
) -> Result<&'b [u8], SqlError> {
    let (number, size) = match value {
        Value::Bit(_) | Value::TinyInt(_) => (value.as_i64().unwrap_or(0), 1),
        Value::SmallInt(v) => (i64::from(*v), 2),
        Value::Int(v) => (i64::from(*v), 4),
        Value::BigInt(v) | Value::Money(v) => (*v, 8),
        Value::SmallMoney(v) => (i64::from(*v), 4),
        Value::Float(v) => (v.to_bits() as i64, 8),
        Value::Real(v) => (i64::from(v.to_bits()), 4),
        Value::DateTime(v) => {
            let (days, ticks) = (v.ticks().div_euclid(DATETIME_DAY), v.ticks().rem_euclid(DATETIME_DAY));
            (days << 32 | ticks, 8)
        }
        Value::SmallDateTime(v) => (i64::from(v.minutes() / 1440) << 16 | i64::from(v.minutes() % 1440), 4),
        Value::Decimal(v) => return Ok(decimal_bytes(v, buffer)),
        Value::Date(_) | Value::Time(_) | Value::DateTime2(_) | Value::DateTimeOffset(_) => {
            return Ok(time_bytes(value, from, buffer));
        }
        _ => return Err(SqlError::explicit_conversion_not_allowed(from.error_name(), to.error_name())),
    };
    buffer[..8].copy_from_slice(&number.to_be_bytes());
    Ok(&buffer[8 - size..8])
}

fn decimal_bytes<'b>(decimal: &Decimal, buffer: &'b mut [u8; NUMBER_BYTES_MAX]) -> &'b [u8] {
    let mantissa = decimal.mantissa();
    buffer[..DECIMAL_HEAD].copy_from_slice(&[decimal.precision(), decimal.scale(), 0, u8::from(mantissa >= 0)]);
    let digits = mantissa.unsigned_abs();
    buffer[DECIMAL_HEAD..].copy_from_slice(&digits.to_le_bytes());
    let words = (128 - digits.leading_zeros()).div_ceil(32).max(1) as usize;
    &buffer[..DECIMAL_HEAD + words * 4]
}

/// The bytes of a date or time of the younger types; a `datetimeoffset` is in UTC, with its offset behind.
fn time_bytes<'b>(value: &Value, from: &SqlType, buffer: &'b mut [u8; NUMBER_BYTES_MAX]) -> &'b [u8] {
    let (days, ticks, offset) = match value {
        Value::Date(v) => (Some(i64::from(v.days())), None, None),
        Value::Time(v) => (None, Some(v.ticks()), None),
        Value::DateTime2(v) => (Some(v.ticks() / DAY), Some(v.ticks() % DAY), None),
        Value::DateTimeOffset(v) => {
            (Some(v.utc_ticks() / DAY), Some(v.utc_ticks() % DAY), Some(i64::from(v.offset_minutes())))
        }
        _ => (None, None, None),
    };
    let mut length = 0;
    let mut put = |number: i64, size: usize| {
        buffer[length..length + size].copy_from_slice(&number.to_le_bytes()[..size]);
        length += size;
    };
    if let Some(ticks) = ticks {
        let scale = from.scale().min(7);
        put(scale.into(), 1);
        put(ticks / 10i64.pow(7 - u32::from(scale)), SqlType::Time(scale).max_length() as usize);
    }
    if let Some(days) = days {
        put(days, 3);
    }
    if let Some(offset) = offset {
        put(offset, 2);
    }
    &buffer[..length]
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
