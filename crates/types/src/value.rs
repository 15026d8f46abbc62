//! One value of a T-SQL type.

use crate::datetime::{Date, DateTime, DateTime2, DateTimeOffset, SmallDateTime, Time};
use crate::decimal::Decimal;
use crate::variant::Variant;
use crate::xml::XmlNode;

/// One value. It does not carry its whole type: `varchar(10)` and `nvarchar(max)` are both [`Value::Str`], and the
/// [`SqlType`](crate::SqlType) that travels beside it says which. 32 bytes.
///
/// `clone_from` reuses the buffers of strings and binaries, so a value that is overwritten row by row stops allocating.
///
/// Machine code reads and writes integers in place: the layout is that of a tagged union, with the tag in the first byte.
#[derive(Debug, Default, PartialEq)]
#[repr(u8)]
pub enum Value {
    /// NULL of any type.
    #[default]
    Null,
    /// `bit`.
    Bit(bool),
    /// `tinyint`, 0 to 255.
    TinyInt(u8),
    /// `smallint`.
    SmallInt(i16),
    /// `int`.
    Int(i32),
    /// `bigint`.
    BigInt(i64),
    /// `decimal` and `numeric`; carries its precision and scale.
    Decimal(Decimal),
    /// `money`, in ten-thousandths.
    Money(i64),
    /// `smallmoney`, in ten-thousandths.
    SmallMoney(i32),
    /// `real`.
    Real(f32),
    /// `float`.
    Float(f64),
    /// `date`.
    Date(Date),
    /// `time`.
    Time(Time),
    /// `datetime`.
    DateTime(DateTime),
    /// `smalldatetime`.
    SmallDateTime(SmallDateTime),
    /// `datetime2`.
    DateTime2(DateTime2),
    /// `datetimeoffset`.
    DateTimeOffset(DateTimeOffset),
    /// `char`, `varchar`, `nchar` and `nvarchar`; also `xml`, in its canonical form.
    Str(String),
    /// `binary` and `varbinary`.
    Bin(Vec<u8>),
    /// `uniqueidentifier`, in the byte order that the type stores and casts to binary: the first three groups
    /// little-endian.
    Guid([u8; 16]),
    /// `sql_variant`: a value of another type, with that type.
    Variant(Box<Variant>),
    /// A row of `nodes()`: it is of type `xml`, but only methods read it, and nothing stores it.
    Node(Box<XmlNode>),
}

/// Memory that the values of a call keep for the next one.
const ROOM_BYTES_MAX: usize = 16 << 10;

impl Value {
    /// Whether this is NULL.
    #[inline]
    pub fn is_null(&self) -> bool {
        matches!(self, Value::Null)
    }

    /// Puts a value in the place of this one. Most have no memory of their own, so that there is nothing to free.
    #[inline]
    pub fn set(&mut self, value: Value) {
        match self {
            Value::Str(_) | Value::Bin(_) | Value::Variant(_) | Value::Node(_) => *self = value,
            _ => std::mem::forget(std::mem::replace(self, value)),
        }
    }

    /// The number of its variant.
    pub fn tag(&self) -> u8 {
        // SAFETY: an enum with `repr(u8)` is a union of structs that each begin with the tag.
        unsafe { *std::ptr::from_ref(self).cast::<u8>() }
    }

    /// Bytes that it has in memory beside itself.
    #[inline]
    pub fn heap_bytes(&self) -> usize {
        match self {
            Value::Str(text) => text.capacity(),
            Value::Bin(bytes) => bytes.capacity(),
            Value::Variant(variant) => size_of::<Variant>() + variant.value().heap_bytes(),
            _ => 0,
        }
    }

    /// Makes values NULL whose memory is beyond 16 KB of all: for values that one call leaves to the next, which finds their room again.
    pub fn keep_room<'a>(values: impl IntoIterator<Item = &'a mut Value>) {
        let mut left = ROOM_BYTES_MAX;
        for value in values {
            match left.checked_sub(value.heap_bytes()) {
                Some(rest) => left = rest,
                None => *value = Value::Null,
            }
        }
    }

    /// Bytes of its text or its binary; 0 for all others.
    #[inline]
    pub fn text_bytes(&self) -> usize {
        match self {
            Value::Str(text) => text.len(),
            Value::Bin(bytes) => bytes.len(),
            _ => 0,
        }
    }

    /// The value of any integer type or bit, widened; `None` for all others and NULL.
    #[inline]
    pub fn as_i64(&self) -> Option<i64> {
        match *self {
            Value::Bit(v) => Some(i64::from(v)),
            Value::TinyInt(v) => Some(i64::from(v)),
            Value::SmallInt(v) => Some(i64::from(v)),
            Value::Int(v) => Some(i64::from(v)),
            Value::BigInt(v) => Some(v),
            _ => None,
        }
    }

    /// The text of a string value; `None` for all others and NULL.
    #[inline]
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Value::Str(text) => Some(text),
            _ => None,
        }
    }

    /// Makes this an empty string and gives its buffer, kept from before if there was one.
    pub fn string_buffer(&mut self) -> &mut String {
        match self {
            Value::Str(text) => text.clear(),
            _ => *self = Value::Str(String::new()),
        }
        match self {
            Value::Str(text) => text,
            _ => unreachable!("set to a string just above"),
        }
    }

    /// Makes this an empty binary and gives its buffer, kept from before if there was one.
    pub fn binary_buffer(&mut self) -> &mut Vec<u8> {
        match self {
            Value::Bin(bytes) => bytes.clear(),
            _ => *self = Value::Bin(Vec::new()),
        }
        match self {
            Value::Bin(bytes) => bytes,
            _ => unreachable!("set to a binary just above"),
        }
    }
}

impl Clone for Value {
    #[inline]
    fn clone(&self) -> Value {
        match self {
            Value::Null => Value::Null,
            Value::Bit(v) => Value::Bit(*v),
            Value::TinyInt(v) => Value::TinyInt(*v),
            Value::SmallInt(v) => Value::SmallInt(*v),
            Value::Int(v) => Value::Int(*v),
            Value::BigInt(v) => Value::BigInt(*v),
            Value::Decimal(v) => Value::Decimal(*v),
            Value::Money(v) => Value::Money(*v),
            Value::SmallMoney(v) => Value::SmallMoney(*v),
            Value::Real(v) => Value::Real(*v),
            Value::Float(v) => Value::Float(*v),
            Value::Date(v) => Value::Date(*v),
            Value::Time(v) => Value::Time(*v),
            Value::DateTime(v) => Value::DateTime(*v),
            Value::SmallDateTime(v) => Value::SmallDateTime(*v),
            Value::DateTime2(v) => Value::DateTime2(*v),
            Value::DateTimeOffset(v) => Value::DateTimeOffset(*v),
            Value::Str(v) => Value::Str(v.clone()),
            Value::Bin(v) => Value::Bin(v.clone()),
            Value::Guid(v) => Value::Guid(*v),
            Value::Variant(v) => Value::Variant(v.clone()),
            Value::Node(v) => Value::Node(v.clone()),
        }
    }

    #[inline]
    fn clone_from(&mut self, source: &Value) {
        match (self, source) {
            (Value::Str(own), Value::Str(other)) => own.clone_from(other),
            (Value::Bin(own), Value::Bin(other)) => own.clone_from(other),
            (own, other) => own.set(other.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_32_bytes() {
        assert_eq!(std::mem::size_of::<Value>(), 32);
    }

    #[test]
    fn values_keep_some_room_in_all() {
        let mut values =
            [Value::Int(1), Value::from("short"), Value::Bin(vec![0; ROOM_BYTES_MAX]), Value::from("short too")];
        Value::keep_room(&mut values);
        assert_eq!(values, [Value::Int(1), Value::from("short"), Value::Null, Value::from("short too")]);
        let mut values: Vec<Value> = (0..20).map(|_| Value::Bin(vec![0; 1 << 10])).collect();
        Value::keep_room(&mut values);
        assert_eq!(values.iter().filter(|value| !value.is_null()).count(), 16);
    }

    #[test]
    fn clone_from_keeps_the_buffer() {
        let mut value = Value::Str(String::with_capacity(100));
        let before = value.as_str().map(str::as_ptr);
        value.clone_from(&Value::from("abc"));
        assert_eq!(value, Value::from("abc"));
        assert_eq!(value.as_str().map(str::as_ptr), before);
        value.string_buffer().push('x');
        assert_eq!(value.as_str().map(str::as_ptr), before);
    }
}
