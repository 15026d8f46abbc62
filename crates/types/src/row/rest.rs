//! Columns of the rest: compact bytes.

use super::{ColumnType, RowError};
use crate::convert::push_blanks;
use crate::datetime::{Date, DateTime, DateTime2, DateTimeOffset, SmallDateTime, Time};
use crate::decimal::Decimal;
use crate::sql_type::{Length, SqlType};
use crate::value::Value;
use crate::variant::Variant;

/// Appends a number in groups of 7 bits, lowest first; the top bit says that more follow.
#[inline]
pub(super) fn push_varint(number: u64, out: &mut Vec<u8>) {
    if number < 0x80 {
        return out.push(number as u8);
    }
    if number >= 1 << 56 {
        return push_long_varint(number, out);
    }
    // All groups at once: halves of 28 bits, quarters of 14, then eighths of 7 get a byte each.
    let halves = number & 0x0FFF_FFFF | (number & 0x00FF_FFFF_F000_0000) << 4;
    let quarters = halves & 0x0000_3FFF_0000_3FFF | (halves & 0x0FFF_C000_0FFF_C000) << 2;
    let groups = quarters & 0x007F_007F_007F_007F | (quarters & 0x3F80_3F80_3F80_3F80) << 1;
    let last = (u64::BITS - 1 - groups.leading_zeros()) / 8;
    let more = 0x8080_8080_8080_8080 & ((1 << (8 * last)) - 1);
    let end = out.len() + 1 + last as usize;
    out.extend_from_slice(&(groups | more).to_le_bytes());
    out.truncate(end);
}

#[cold]
fn push_long_varint(mut number: u64, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Small numbers of either sign as small numbers.
#[inline]
pub(super) fn zigzag(number: i64) -> u64 {
    (number << 1 ^ number >> 63) as u64
}

#[inline]
fn push_zigzag(number: i64, out: &mut Vec<u8>) {
    push_varint(zigzag(number), out);
}

#[inline]
pub(super) fn take_varint(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let (&first, behind) = bytes.split_first()?;
    if first < 0x80 {
        return Some((u64::from(first), behind));
    }
    match bytes.first_chunk().and_then(|eight| first_varint(*eight)) {
        Some((number, length)) => Some((number, &bytes[length..])),
        None => take_long_varint(bytes),
    }
}

/// The number that eight bytes begin with, and its length; None: it is longer. However long it is, it takes the same steps: a branch on the
/// length would often be guessed wrongly.
#[inline(always)]
pub(super) fn first_varint(eight: [u8; 8]) -> Option<(u64, usize)> {
    const LAST_BYTES: u64 = 0x8080_8080_8080_8080;
    let word = u64::from_le_bytes(eight);
    let last = !word & LAST_BYTES;
    if last == 0 {
        return None;
    }
    // The bits up to the top one of the last byte, without the top one of each.
    let groups = word & (last ^ (last - 1)) & !LAST_BYTES;
    // Groups of 7 bits become groups of 14, of 28, and the number.
    let quarters = groups & 0x007F_007F_007F_007F | (groups & 0x7F00_7F00_7F00_7F00) >> 1;
    let halves = quarters & 0x0000_3FFF_0000_3FFF | (quarters & 0x3FFF_0000_3FFF_0000) >> 2;
    let number = halves & 0x0FFF_FFFF | (halves & 0x0FFF_FFFF_0000_0000) >> 4;
    Some((number, (last.trailing_zeros() as usize).div_ceil(8)))
}

/// The number that bytes begin with, however long it is.
fn take_long_varint(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let (mut number, mut shift) = (0, 0);
    for (at, &byte) in bytes.iter().enumerate() {
        // The tenth byte has one bit left.
        if shift > 63 || shift == 63 && byte > 1 {
            return None;
        }
        number |= u64::from(byte & 0x7F) << shift;
        if byte < 0x80 {
            return Some((number, &bytes[at + 1..]));
        }
        shift += 7;
    }
    None
}

/// The number whose [`zigzag`] this is.
#[inline]
pub(super) fn unzigzag(number: u64) -> i64 {
    (number >> 1) as i64 ^ -((number & 1) as i64)
}

#[inline]
fn take_zigzag(bytes: &[u8]) -> Option<(i64, &[u8])> {
    let (number, behind) = take_varint(bytes)?;
    Some((unzigzag(number), behind))
}

#[inline]
fn push_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    push_varint(bytes.len() as u64, out);
    out.extend_from_slice(bytes);
}

#[inline]
pub(super) fn take_bytes(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, behind) = take_varint(bytes)?;
    behind.split_at_checked(usize::try_from(length).ok()?)
}

/// The bytes of a string: those of `char` without the blanks at its end.
#[inline]
pub(super) fn content<'t>(text: &'t str, ty: &SqlType) -> &'t [u8] {
    match ty {
        SqlType::Char(_) | SqlType::NChar(_) => text.trim_end_matches(' ').as_bytes(),
        _ => text.as_bytes(),
    }
}

/// Gives a string of `char` its blanks back.
pub(super) fn pad(text: &mut String, column: &ColumnType) {
    pad_from(text, 0, column);
}

/// The same for the string that begins at a place in a text and is the last in it.
pub(super) fn pad_from(text: &mut String, begin: usize, column: &ColumnType) {
    if let SqlType::Char(n) | SqlType::NChar(n) = column.ty {
        let page = column.collation.code_page().of(&column.ty);
        let missing = usize::from(n).saturating_sub(page.units(&text[begin..]));
        push_blanks(missing, text);
    }
}

/// A decimal's mantissa is a zigzag varint where 64 bits are enough; else it is this number, which is never written for
/// itself, and 16 bytes.
const WIDE: i64 = i64::MIN;

/// Appends one value that is not NULL.
#[inline]
pub(super) fn encode(value: &Value, ty: &SqlType, column: usize, out: &mut Vec<u8>) -> Result<(), RowError> {
    match (ty, value) {
        (SqlType::Int, Value::Int(v)) => push_zigzag(i64::from(*v), out),
        (SqlType::BigInt, Value::BigInt(v)) => push_zigzag(*v, out),
        (SqlType::DateTime, Value::DateTime(v)) => push_zigzag(v.ticks(), out),
        (SqlType::Char(_) | SqlType::NChar(_) | SqlType::VarChar(_) | SqlType::NVarChar(_), Value::Str(text)) => {
            push_bytes(content(text, ty), out)
        }
        (_, Value::Null) => return Err(RowError::Null { column }),
        _ => return encode_others(value, ty, out).ok_or(RowError::WrongType { column }),
    }
    Ok(())
}

fn encode_others(value: &Value, ty: &SqlType, out: &mut Vec<u8>) -> Option<()> {
    match (ty, value) {
        (SqlType::Bit, Value::Bit(v)) => out.push(u8::from(*v)),
        (SqlType::TinyInt, Value::TinyInt(v)) => out.push(*v),
        (SqlType::SmallInt, Value::SmallInt(v)) => push_zigzag(i64::from(*v), out),
        (SqlType::Decimal { precision, scale }, Value::Decimal(v)) => {
            let mantissa = v.rescale(*precision, *scale)?.mantissa();
            match i64::try_from(mantissa) {
                Ok(short) if short != WIDE => push_zigzag(short, out),
                _ => {
                    push_zigzag(WIDE, out);
                    out.extend_from_slice(&mantissa.to_le_bytes());
                }
            }
        }
        (SqlType::Money, Value::Money(v)) => push_zigzag(*v, out),
        (SqlType::SmallMoney, Value::SmallMoney(v)) => push_zigzag(i64::from(*v), out),
        (SqlType::Real, Value::Real(v)) => out.extend_from_slice(&v.to_le_bytes()),
        (SqlType::Float, Value::Float(v)) => out.extend_from_slice(&v.to_le_bytes()),
        (SqlType::Date, Value::Date(v)) => push_varint(v.days() as u64, out),
        (SqlType::Time(_), Value::Time(v)) => push_varint(v.ticks() as u64, out),
        (SqlType::SmallDateTime, Value::SmallDateTime(v)) => push_varint(v.minutes() as u64, out),
        (SqlType::DateTime2(_), Value::DateTime2(v)) => push_varint(v.ticks() as u64, out),
        (SqlType::DateTimeOffset(_), Value::DateTimeOffset(v)) => {
            push_varint(v.utc_ticks() as u64, out);
            push_zigzag(i64::from(v.offset_minutes()), out);
        }
        (SqlType::Binary(_) | SqlType::VarBinary(_) | SqlType::Image | SqlType::Clr(_), Value::Bin(bytes)) => {
            push_bytes(bytes, out);
        }
        (SqlType::Xml | SqlType::Text | SqlType::NText, Value::Str(text)) => push_bytes(text.as_bytes(), out),
        (SqlType::UniqueIdentifier, Value::Guid(bytes)) => out.extend_from_slice(bytes),
        (SqlType::Variant, Value::Variant(variant)) => {
            push_type(variant.ty(), out);
            encode(variant.value(), variant.ty(), 0, out).ok()?;
        }
        _ => return None,
    }
    Some(())
}

/// Appends a type: its number in `sys.types`, and its parameters as varints.
pub(super) fn push_type(ty: &SqlType, out: &mut Vec<u8>) {
    out.push(ty.system_type_id());
    match *ty {
        SqlType::Decimal { precision, scale } => out.extend_from_slice(&[precision, scale]),
        SqlType::Time(scale) | SqlType::DateTime2(scale) | SqlType::DateTimeOffset(scale) => out.push(scale),
        _ => {
            if let Some(Length::Limit(length)) = ty.declared_length() {
                push_varint(length.into(), out);
            }
        }
    }
}

/// Reads a type that a `sql_variant` holds.
pub(super) fn take_type(bytes: &[u8]) -> Option<(SqlType, &[u8])> {
    let (&number, behind) = bytes.split_first()?;
    let plain = [
        SqlType::Bit,
        SqlType::TinyInt,
        SqlType::SmallInt,
        SqlType::Int,
        SqlType::BigInt,
        SqlType::Money,
        SqlType::SmallMoney,
        SqlType::Real,
        SqlType::Float,
        SqlType::Date,
        SqlType::DateTime,
        SqlType::SmallDateTime,
        SqlType::UniqueIdentifier,
    ];
    if let Some(ty) = plain.into_iter().find(|ty| ty.system_type_id() == number) {
        return Some((ty, behind));
    }
    let scaled = [SqlType::Time, SqlType::DateTime2, SqlType::DateTimeOffset];
    if let Some(of) = scaled.into_iter().find(|of| of(0).system_type_id() == number) {
        let (&scale, behind) = behind.split_first()?;
        return (scale <= 7).then_some((of(scale), behind));
    }
    if number == (SqlType::Decimal { precision: 1, scale: 0 }).system_type_id() {
        let (&[precision, scale], behind) = behind.split_first_chunk()?;
        let possible = (1..=38).contains(&precision) && scale <= precision;
        return possible.then_some((SqlType::Decimal { precision, scale }, behind));
    }
    let long: [fn(u16) -> SqlType; 6] = [
        SqlType::Char,
        SqlType::NChar,
        SqlType::Binary,
        |n| SqlType::VarChar(Length::Limit(n)),
        |n| SqlType::NVarChar(Length::Limit(n)),
        |n| SqlType::VarBinary(Length::Limit(n)),
    ];
    let of = long.into_iter().find(|of| of(1).system_type_id() == number)?;
    let (length, behind) = take_varint(behind)?;
    let length = u16::try_from(length).ok().filter(|length| *length <= 8000)?;
    Some((of(length), behind))
}

/// The bytes behind one value; `None` when they are damaged.
#[inline]
pub(super) fn skip<'b>(bytes: &'b [u8], column: &ColumnType) -> Option<&'b [u8]> {
    match column.ty {
        // Varints: up to the first byte without the top bit. What they are was looked at when the row was read, or is when it is.
        SqlType::SmallInt | SqlType::Int | SqlType::BigInt | SqlType::DateTime => {
            let ends = bytes.first_chunk().map_or(0, |eight| !u64::from_le_bytes(*eight) & 0x8080_8080_8080_8080);
            match ends {
                0 => take_varint(bytes).map(|(_, behind)| behind),
                ends => bytes.get((ends.trailing_zeros() as usize).div_ceil(8)..),
            }
        }
        _ => decode(bytes, column, None),
    }
}

/// The integer of an `int` or a `bigint`, and the bytes behind it; `None` when they are damaged, or of another type.
#[inline(always)]
fn integer<'b>(bytes: &'b [u8], ty: &SqlType) -> Option<(Value, &'b [u8])> {
    let (number, behind) = take_zigzag(bytes)?;
    let value = match ty {
        SqlType::BigInt => Value::BigInt(number),
        SqlType::Int => Value::Int(i32::try_from(number).ok()?),
        _ => return None,
    };
    Some((value, behind))
}

/// [`decode`] of a value that is wanted; of integers without a call.
#[inline(always)]
pub(super) fn decode_into<'b>(bytes: &'b [u8], column: &ColumnType, place: &mut Value) -> Option<&'b [u8]> {
    match column.ty {
        SqlType::Int | SqlType::BigInt => {
            let (value, behind) = integer(bytes, &column.ty)?;
            place.set(value);
            Some(behind)
        }
        _ => decode(bytes, column, Some(place)),
    }
}

/// Reads one value into `place`, if it is wanted, and gives the bytes behind it; `None` when they are damaged.
#[inline]
pub(super) fn decode<'b>(bytes: &'b [u8], column: &ColumnType, place: Option<&mut Value>) -> Option<&'b [u8]> {
    let ty = &column.ty;
    let (value, behind) = match *ty {
        SqlType::Int | SqlType::BigInt => integer(bytes, ty)?,
        SqlType::DateTime => {
            let (ticks, behind) = take_zigzag(bytes)?;
            (Value::DateTime(DateTime::from_ticks(ticks)?), behind)
        }
        _ if ty.is_string() || *ty == SqlType::Xml => {
            let (own, behind) = take_bytes(bytes)?;
            if let Some(place) = place {
                decode_text(own, column, place)?;
            }
            return Some(behind);
        }
        SqlType::Binary(_) | SqlType::VarBinary(_) | SqlType::Image | SqlType::Clr(_) => {
            let (own, behind) = take_bytes(bytes)?;
            if let Some(place) = place {
                place.binary_buffer().extend_from_slice(own);
            }
            return Some(behind);
        }
        _ => decode_others(bytes, ty)?,
    };
    if let Some(place) = place {
        place.set(value);
    }
    Some(behind)
}

fn decode_text(own: &[u8], column: &ColumnType, place: &mut Value) -> Option<()> {
    let text = std::str::from_utf8(own).ok()?;
    let buffer = place.string_buffer();
    buffer.push_str(text);
    pad(buffer, column);
    Some(())
}

fn decode_others<'b>(bytes: &'b [u8], ty: &SqlType) -> Option<(Value, &'b [u8])> {
    Some(match *ty {
        SqlType::Bit => match bytes.split_first()? {
            (&mark @ (0 | 1), behind) => (Value::Bit(mark == 1), behind),
            _ => return None,
        },
        SqlType::TinyInt => {
            let (&byte, behind) = bytes.split_first()?;
            (Value::TinyInt(byte), behind)
        }
        SqlType::SmallInt => {
            let (number, behind) = take_zigzag(bytes)?;
            (Value::SmallInt(i16::try_from(number).ok()?), behind)
        }
        SqlType::Decimal { precision, scale } => {
            let (short, behind) = take_zigzag(bytes)?;
            let (mantissa, behind) = match short {
                WIDE => {
                    let (wide, behind) = behind.split_first_chunk()?;
                    (i128::from_le_bytes(*wide), behind)
                }
                _ => (i128::from(short), behind),
            };
            (Value::Decimal(Decimal::new(mantissa, precision, scale)?), behind)
        }
        SqlType::Money => {
            let (number, behind) = take_zigzag(bytes)?;
            (Value::Money(number), behind)
        }
        SqlType::SmallMoney => {
            let (number, behind) = take_zigzag(bytes)?;
            (Value::SmallMoney(i32::try_from(number).ok()?), behind)
        }
        SqlType::Real => {
            let (own, behind) = bytes.split_first_chunk()?;
            (Value::Real(Some(f32::from_le_bytes(*own)).filter(|v| v.is_finite())?), behind)
        }
        SqlType::Float => {
            let (own, behind) = bytes.split_first_chunk()?;
            (Value::Float(Some(f64::from_le_bytes(*own)).filter(|v| v.is_finite())?), behind)
        }
        SqlType::Date => {
            let (days, behind) = take_varint(bytes)?;
            (Value::Date(Date::from_days(i32::try_from(days).ok()?)?), behind)
        }
        SqlType::Time(_) => {
            let (ticks, behind) = take_varint(bytes)?;
            (Value::Time(Time::from_ticks(i64::try_from(ticks).ok()?)?), behind)
        }
        SqlType::SmallDateTime => {
            let (minutes, behind) = take_varint(bytes)?;
            (Value::SmallDateTime(SmallDateTime::from_minutes(i32::try_from(minutes).ok()?)?), behind)
        }
        SqlType::DateTime2(_) => {
            let (ticks, behind) = take_varint(bytes)?;
            (Value::DateTime2(DateTime2::from_ticks(i64::try_from(ticks).ok()?)?), behind)
        }
        SqlType::DateTimeOffset(_) => {
            let (ticks, behind) = take_varint(bytes)?;
            let (offset, behind) = take_zigzag(behind)?;
            let value = DateTimeOffset::new(i64::try_from(ticks).ok()?, i16::try_from(offset).ok()?)?;
            (Value::DateTimeOffset(value), behind)
        }
        SqlType::UniqueIdentifier => {
            let (own, behind) = bytes.split_first_chunk()?;
            (Value::Guid(*own), behind)
        }
        SqlType::Variant => {
            let (own, behind) = take_type(bytes)?;
            let mut value = Value::Null;
            let behind = decode(behind, &ColumnType::new(own, false), Some(&mut value))?;
            (Value::Variant(Box::new(Variant::new(own, value)?)), behind)
        }
        _ => return None,
    })
}
