//! Rust's own types as values, and values as them.
//!
//! | Rust | value |
//! |---|---|
//! | `bool` | `bit` |
//! | `u8`; `i8`, `i16`; `u16`, `i32`; `u32`, `i64` | `tinyint`; `smallint`; `int`; `bigint` |
//! | `u64`, `usize`, `isize` | `bigint`; above its range `decimal(20, 0)` |
//! | `f32`; `f64` | `real`; `float` |
//! | `&str`, `String`, `Box<str>`, `Cow<str>` | `nvarchar` |
//! | `&[u8]`, `Vec<u8>`, `[u8; N]` | `varbinary` |
//! | `Option<T>` | what `T` is, or NULL |
//!
//! The way back is exact or refused: a number that does not fit, a fraction for an integer and NULL are a [`ValueMismatch`]. Only `f64`
//! and `f32` take a `decimal` or `money`, as near as they can.

use crate::datetime::{Date, DateTime, DateTime2, DateTimeOffset, SmallDateTime, Time};
use crate::decimal::Decimal;
use crate::value::Value;
use std::borrow::Cow;

/// A value that is not of the wanted Rust type, or out of its range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ValueMismatch {
    wanted: &'static str,
}

impl std::fmt::Display for ValueMismatch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the value does not fit {}", self.wanted)
    }
}

impl std::error::Error for ValueMismatch {}

/// Each type with the value that it becomes.
macro_rules! into_values {
    ($($rust:ty, $value:ident => $made:expr;)*) => {$(
        impl From<$rust> for Value {
            fn from($value: $rust) -> Value {
                $made
            }
        }
    )*};
}

into_values! {
    bool, value => Value::Bit(value);
    u8, value => Value::TinyInt(value);
    i8, value => Value::SmallInt(value.into());
    i16, value => Value::SmallInt(value);
    u16, value => Value::Int(value.into());
    i32, value => Value::Int(value);
    u32, value => Value::BigInt(value.into());
    i64, value => Value::BigInt(value);
    u64, value => large(value.into());
    usize, value => large(value as i128);
    isize, value => large(value as i128);
    f32, value => Value::Real(value);
    f64, value => Value::Float(value);
    &str, text => Value::Str(text.to_owned());
    String, text => Value::Str(text);
    &String, text => Value::Str(text.clone());
    Box<str>, text => Value::Str(text.into_string());
    Cow<'_, str>, text => Value::Str(text.into_owned());
    &[u8], bytes => Value::Bin(bytes.to_vec());
    Vec<u8>, bytes => Value::Bin(bytes);
    &Vec<u8>, bytes => Value::Bin(bytes.clone());
    Decimal, value => Value::Decimal(value);
    Date, value => Value::Date(value);
    Time, value => Value::Time(value);
    DateTime, value => Value::DateTime(value);
    SmallDateTime, value => Value::SmallDateTime(value);
    DateTime2, value => Value::DateTime2(value);
    DateTimeOffset, value => Value::DateTimeOffset(value);
}

impl<const N: usize> From<[u8; N]> for Value {
    fn from(bytes: [u8; N]) -> Value {
        Value::Bin(bytes.to_vec())
    }
}

impl<const N: usize> From<&[u8; N]> for Value {
    fn from(bytes: &[u8; N]) -> Value {
        Value::Bin(bytes.to_vec())
    }
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Value {
        value.map_or(Value::Null, Into::into)
    }
}

/// An integer of at most 64 bits: `bigint`, or a decimal where that is too small.
fn large(value: i128) -> Value {
    /// Digits of the largest integer of 64 bits.
    const DIGITS: u8 = 20;
    match i64::try_from(value) {
        Ok(value) => Value::BigInt(value),
        Err(_) => Decimal::new(value, DIGITS, 0).map_or(Value::Null, Value::Decimal),
    }
}

/// Each type with what it is made of; the expression is an `Option`.
macro_rules! out_of_values {
    ($($rust:ty, $value:ident => $made:expr;)*) => {$(
        impl TryFrom<&Value> for $rust {
            type Error = ValueMismatch;

            fn try_from($value: &Value) -> Result<$rust, ValueMismatch> {
                $made.ok_or(ValueMismatch { wanted: stringify!($rust) })
            }
        }

        impl TryFrom<Value> for $rust {
            type Error = ValueMismatch;

            fn try_from(value: Value) -> Result<$rust, ValueMismatch> {
                <$rust>::try_from(&value)
            }
        }
    )*};
}

out_of_values! {
    bool, value => integer(value).map(|number| number != 0);
    i8, value => integer(value).and_then(|number| number.try_into().ok());
    u8, value => integer(value).and_then(|number| number.try_into().ok());
    i16, value => integer(value).and_then(|number| number.try_into().ok());
    u16, value => integer(value).and_then(|number| number.try_into().ok());
    i32, value => integer(value).and_then(|number| number.try_into().ok());
    u32, value => integer(value).and_then(|number| number.try_into().ok());
    i64, value => integer(value).and_then(|number| number.try_into().ok());
    u64, value => integer(value).and_then(|number| number.try_into().ok());
    isize, value => integer(value).and_then(|number| number.try_into().ok());
    usize, value => integer(value).and_then(|number| number.try_into().ok());
    i128, value => integer(value);
    f32, value => match value {
        Value::Real(number) => Some(*number),
        Value::Float(_) => None,
        other => float(other).map(|number| number as f32),
    };
    f64, value => float(value);
    String, value => match value {
        Value::Str(text) => Some(text.clone()),
        _ => None,
    };
    Vec<u8>, value => match value {
        Value::Bin(bytes) => Some(bytes.clone()),
        Value::Guid(bytes) => Some(bytes.to_vec()),
        _ => None,
    };
    Decimal, value => match value {
        Value::Decimal(decimal) => Some(*decimal),
        _ => None,
    };
    Date, value => match value {
        Value::Date(date) => Some(*date),
        _ => None,
    };
    Time, value => match value {
        Value::Time(time) => Some(*time),
        _ => None,
    };
    DateTime2, value => match value {
        Value::DateTime2(moment) => Some(*moment),
        Value::DateTime(moment) => DateTime2::from_ticks(moment.moment().ticks),
        Value::SmallDateTime(moment) => DateTime2::from_ticks(moment.moment().ticks),
        _ => None,
    };
    DateTimeOffset, value => match value {
        Value::DateTimeOffset(moment) => Some(*moment),
        _ => None,
    };
}

/// The integer that a value is; a decimal or an amount of money is one where it has no fraction.
fn integer(value: &Value) -> Option<i128> {
    /// Units of `money` in one.
    const MONEY_UNITS: i128 = 10_000;
    let whole = |units: i128| (units % MONEY_UNITS == 0).then_some(units / MONEY_UNITS);
    match value {
        Value::Bit(bit) => Some(i128::from(*bit)),
        Value::TinyInt(number) => Some(i128::from(*number)),
        Value::SmallInt(number) => Some(i128::from(*number)),
        Value::Int(number) => Some(i128::from(*number)),
        Value::BigInt(number) => Some(i128::from(*number)),
        Value::Money(units) => whole(i128::from(*units)),
        Value::SmallMoney(units) => whole(i128::from(*units)),
        Value::Decimal(decimal) => {
            let unit = 10i128.checked_pow(u32::from(decimal.scale()))?;
            (decimal.mantissa() % unit == 0).then_some(decimal.mantissa() / unit)
        }
        _ => None,
    }
}

fn float(value: &Value) -> Option<f64> {
    match value {
        Value::Real(number) => Some(f64::from(*number)),
        Value::Float(number) => Some(*number),
        Value::Money(units) => Some(*units as f64 / 10_000.0),
        Value::SmallMoney(units) => Some(f64::from(*units) / 10_000.0),
        Value::Decimal(decimal) => Some(decimal.to_f64()),
        other => integer(other).map(|number| number as f64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_goes_in_and_comes_back() {
        macro_rules! round {
            ($($value:expr => $of:ty),*) => {$(
                assert_eq!(<$of>::try_from(Value::from($value.clone())), Ok(<$of>::from($value)));
            )*};
        }
        round!(true => bool, 7u8 => u8, -7i8 => i8, i16::MIN => i16, u16::MAX => u16, i32::MIN => i32, u32::MAX => u32);
        round!(i64::MIN => i64, u64::MAX => u64, usize::MAX => usize, isize::MIN => isize, 1.5f32 => f32, 0.1f64 => f64);
        round!("text" => String, "text".to_owned() => String, vec![1u8, 2] => Vec<u8>, [3u8; 4] => Vec<u8>);
        assert_eq!(Value::from(Some(1i32)), Value::Int(1));
        assert_eq!(Value::from(None::<i32>), Value::Null);
        assert_eq!(Value::from(&b"ab"[..]), Value::Bin(b"ab".to_vec()));
        assert_eq!(Value::from(b"ab"), Value::Bin(b"ab".to_vec()));
        assert_eq!(Value::from(u64::MAX), Decimal::new(u64::MAX.into(), 20, 0).map_or(Value::Null, Value::Decimal));
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        assert!(u8::try_from(Value::Int(256)).is_err());
        assert!(u64::try_from(Value::BigInt(-1)).is_err());
        assert!(i32::try_from(Value::Null).is_err());
        assert!(i32::try_from(Value::Float(1.0)).is_err());
        assert!(f32::try_from(Value::Float(0.1)).is_err());
        assert!(String::try_from(Value::Int(1)).is_err());
        let decimal = |mantissa| Decimal::new(mantissa, 5, 2).map_or(Value::Null, Value::Decimal);
        assert_eq!(i32::try_from(decimal(1200)), Ok(12));
        assert_eq!(
            i32::try_from(decimal(1250)).map_err(|error| error.to_string()),
            Err("the value does not fit i32".to_owned())
        );
        assert_eq!(f64::try_from(decimal(1250)), Ok(12.5));
        assert_eq!(i64::try_from(Value::Money(20_000)), Ok(2));
        assert!(i64::try_from(Value::SmallMoney(1)).is_err());
    }
}
