//! Values that bring their kind along: rows that leave memory for a while, where nobody knows the types of columns any more.
//!
//! ```text
//!   value    kind: 1 byte    content: as long as the kind says, or a varint and as many bytes
//! ```
//! The catalog keeps values of histograms so, too: a kind keeps its number.

use super::rest::{push_type, push_varint, take_type, take_varint};
use crate::datetime::{Date, DateTime, DateTime2, DateTimeOffset, SmallDateTime, Time};
use crate::decimal::Decimal;
use crate::value::Value;
use crate::variant::Variant;

const NULL: u8 = 0;
const BIT: u8 = 1;
const TINY_INT: u8 = 2;
const SMALL_INT: u8 = 3;
const INT: u8 = 4;
const BIG_INT: u8 = 5;
const DECIMAL: u8 = 6;
const MONEY: u8 = 7;
const SMALL_MONEY: u8 = 8;
const REAL: u8 = 9;
const FLOAT: u8 = 10;
const DATE: u8 = 11;
const TIME: u8 = 12;
const DATE_TIME: u8 = 13;
const SMALL_DATE_TIME: u8 = 14;
const DATE_TIME_2: u8 = 15;
const DATE_TIME_OFFSET: u8 = 16;
const STR: u8 = 17;
const BIN: u8 = 18;
const GUID: u8 = 19;
const VARIANT: u8 = 20;

impl Value {
    /// Appends the value with its kind. False, and nothing is appended, for a node of xml, which is part of a document in memory.
    pub fn push_loose(&self, out: &mut Vec<u8>) -> bool {
        match self {
            Value::Null => out.push(NULL),
            Value::Bit(v) => out.extend_from_slice(&[BIT, u8::from(*v)]),
            Value::TinyInt(v) => out.extend_from_slice(&[TINY_INT, *v]),
            Value::SmallInt(v) => push(SMALL_INT, &v.to_le_bytes(), out),
            Value::Int(v) => push(INT, &v.to_le_bytes(), out),
            Value::BigInt(v) => push(BIG_INT, &v.to_le_bytes(), out),
            Value::Decimal(v) => {
                out.extend_from_slice(&[DECIMAL, v.precision(), v.scale()]);
                out.extend_from_slice(&v.mantissa().to_le_bytes());
            }
            Value::Money(v) => push(MONEY, &v.to_le_bytes(), out),
            Value::SmallMoney(v) => push(SMALL_MONEY, &v.to_le_bytes(), out),
            Value::Real(v) => push(REAL, &v.to_le_bytes(), out),
            Value::Float(v) => push(FLOAT, &v.to_le_bytes(), out),
            Value::Date(v) => push(DATE, &v.days().to_le_bytes(), out),
            Value::Time(v) => push(TIME, &v.ticks().to_le_bytes(), out),
            Value::DateTime(v) => push(DATE_TIME, &v.ticks().to_le_bytes(), out),
            Value::SmallDateTime(v) => push(SMALL_DATE_TIME, &v.minutes().to_le_bytes(), out),
            Value::DateTime2(v) => push(DATE_TIME_2, &v.ticks().to_le_bytes(), out),
            Value::DateTimeOffset(v) => {
                push(DATE_TIME_OFFSET, &v.utc_ticks().to_le_bytes(), out);
                out.extend_from_slice(&v.offset_minutes().to_le_bytes());
            }
            Value::Str(text) => push_long(STR, text.as_bytes(), out),
            Value::Bin(bytes) => push_long(BIN, bytes, out),
            Value::Guid(bytes) => push(GUID, bytes, out),
            Value::Variant(variant) => {
                out.push(VARIANT);
                push_type(variant.ty(), out);
                return variant.value().push_loose(out);
            }
            Value::Node(_) => return false,
        }
        true
    }

    /// Reads a value that [`Value::push_loose`] has appended, and gives the bytes behind it; `None` when they are damaged.
    pub fn take_loose(bytes: &[u8]) -> Option<(Value, &[u8])> {
        let (&kind, rest) = bytes.split_first()?;
        Some(match kind {
            NULL => (Value::Null, rest),
            BIT => take(rest, |[v]: [u8; 1]| Some(Value::Bit(v != 0)))?,
            TINY_INT => take(rest, |[v]: [u8; 1]| Some(Value::TinyInt(v)))?,
            SMALL_INT => take(rest, |v| Some(Value::SmallInt(i16::from_le_bytes(v))))?,
            INT => take(rest, |v| Some(Value::Int(i32::from_le_bytes(v))))?,
            BIG_INT => take(rest, |v| Some(Value::BigInt(i64::from_le_bytes(v))))?,
            DECIMAL => {
                let (&[precision, scale], rest) = rest.split_first_chunk()?;
                take(rest, |v| Decimal::new(i128::from_le_bytes(v), precision, scale).map(Value::Decimal))?
            }
            MONEY => take(rest, |v| Some(Value::Money(i64::from_le_bytes(v))))?,
            SMALL_MONEY => take(rest, |v| Some(Value::SmallMoney(i32::from_le_bytes(v))))?,
            REAL => take(rest, |v| Some(Value::Real(f32::from_le_bytes(v))))?,
            FLOAT => take(rest, |v| Some(Value::Float(f64::from_le_bytes(v))))?,
            DATE => take(rest, |v| Date::from_days(i32::from_le_bytes(v)).map(Value::Date))?,
            TIME => take(rest, |v| Time::from_ticks(i64::from_le_bytes(v)).map(Value::Time))?,
            DATE_TIME => take(rest, |v| DateTime::from_ticks(i64::from_le_bytes(v)).map(Value::DateTime))?,
            SMALL_DATE_TIME => {
                take(rest, |v| SmallDateTime::from_minutes(i32::from_le_bytes(v)).map(Value::SmallDateTime))?
            }
            DATE_TIME_2 => take(rest, |v| DateTime2::from_ticks(i64::from_le_bytes(v)).map(Value::DateTime2))?,
            DATE_TIME_OFFSET => {
                let (&ticks, rest) = rest.split_first_chunk()?;
                let ticks = i64::from_le_bytes(ticks);
                take(rest, |v| DateTimeOffset::new(ticks, i16::from_le_bytes(v)).map(Value::DateTimeOffset))?
            }
            STR => {
                let (text, rest) = take_long(rest)?;
                (Value::Str(String::from_utf8(text.to_vec()).ok()?), rest)
            }
            BIN => {
                let (content, rest) = take_long(rest)?;
                (Value::Bin(content.to_vec()), rest)
            }
            GUID => take(rest, |v| Some(Value::Guid(v)))?,
            VARIANT => {
                let (ty, rest) = take_type(rest)?;
                let (value, rest) = Value::take_loose(rest)?;
                (Value::Variant(Box::new(Variant::new(ty, value)?)), rest)
            }
            _ => return None,
        })
    }
}

fn push(kind: u8, content: &[u8], out: &mut Vec<u8>) {
    out.push(kind);
    out.extend_from_slice(content);
}

fn push_long(kind: u8, content: &[u8], out: &mut Vec<u8>) {
    out.push(kind);
    push_varint(content.len() as u64, out);
    out.extend_from_slice(content);
}

fn take<const N: usize>(bytes: &[u8], value: impl FnOnce([u8; N]) -> Option<Value>) -> Option<(Value, &[u8])> {
    let (content, rest) = bytes.split_first_chunk()?;
    Some((value(*content)?, rest))
}

fn take_long(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = take_varint(bytes)?;
    rest.split_at_checked(usize::try_from(length).ok()?)
}
