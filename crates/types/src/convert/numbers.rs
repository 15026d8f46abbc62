//! Conversions to numbers.

use super::binary::DECIMAL_HEAD;
use crate::decimal::{Decimal, ParseDecimal};
use crate::error::SqlError;
use crate::sql_type::SqlType;
use crate::value::Value;

/// Days from 1900-01-01, with their fraction, of a `datetime` or `smalldatetime`: what it is as a number.
fn days_of(value: &Value) -> Option<f64> {
    match value {
        Value::DateTime(v) => Some(v.ticks() as f64 / crate::datetime::DATETIME_DAY as f64),
        Value::SmallDateTime(v) => Some(f64::from(v.minutes()) / 1440.0),
        _ => None,
    }
}

/// An exact number (integer, money, decimal) as a decimal; `None` for all others.
pub(crate) fn exact(value: &Value) -> Option<Decimal> {
    let typed = |value: i128, precision| Decimal::new(value, precision, 0);
    match value {
        Value::Decimal(v) => Some(*v),
        Value::Bit(v) => typed(i128::from(*v), 1),
        Value::TinyInt(v) => typed(i128::from(*v), 3),
        Value::SmallInt(v) => typed(i128::from(*v), 5),
        Value::Int(v) => typed(i128::from(*v), 10),
        Value::BigInt(v) => typed(i128::from(*v), 19),
        Value::Money(v) => Decimal::new(i128::from(*v), 19, 4),
        Value::SmallMoney(v) => Decimal::new(i128::from(*v), 10, 4),
        _ => None,
    }
}

/// A number of any kind as a `float`; `None` for all others.
pub(crate) fn as_f64(value: &Value) -> Option<f64> {
    match value {
        Value::Float(v) => Some(*v),
        Value::Real(v) => Some(f64::from(*v)),
        Value::Money(v) => Some(*v as f64 / 1e4),
        Value::SmallMoney(v) => Some(f64::from(*v) / 1e4),
        Value::Decimal(v) => Some(v.to_f64()),
        _ => value.as_i64().map(|v| v as f64),
    }
}

/// A `float` as `float` or `real`.
///
/// # Errors
/// 8115 when it is not finite there.
pub(crate) fn float_in(value: f64, to: &SqlType) -> Result<Value, SqlError> {
    let fits = if *to == SqlType::Real { (value as f32).is_finite() } else { value.is_finite() };
    if !fits {
        return Err(SqlError::arithmetic_overflow("expression", to.error_name()));
    }
    Ok(if *to == SqlType::Real { Value::Real(value as f32) } else { Value::Float(value) })
}

/// A decimal as money (or smallmoney), rounded to four digits; `None` when it does not fit.
pub(crate) fn money_from_decimal(value: &Decimal, to: &SqlType) -> Option<Value> {
    let mantissa = value.mantissa_at(4)?;
    if *to == SqlType::SmallMoney {
        return i32::try_from(mantissa).ok().map(Value::SmallMoney);
    }
    i64::try_from(mantissa).ok().map(Value::Money)
}

pub(super) fn to_number(value: &Value, from: &SqlType, to: &SqlType) -> Result<Value, SqlError> {
    match to {
        SqlType::Bit => to_bit(value, from),
        SqlType::Decimal { precision, scale } => to_decimal(value, from, *precision, *scale),
        SqlType::Money | SqlType::SmallMoney => to_money(value, from, to),
        SqlType::Real | SqlType::Float => to_float(value, from, to),
        _ => to_integer(value, from, to),
    }
}

/// An integer in an integer type, if it fits.
fn integer_in(value: i128, to: &SqlType) -> Option<Value> {
    match to {
        SqlType::TinyInt => u8::try_from(value).ok().map(Value::TinyInt),
        SqlType::SmallInt => i16::try_from(value).ok().map(Value::SmallInt),
        SqlType::Int => i32::try_from(value).ok().map(Value::Int),
        _ => i64::try_from(value).ok().map(Value::BigInt),
    }
}

fn to_integer(value: &Value, from: &SqlType, to: &SqlType) -> Result<Value, SqlError> {
    if let Some(v) = value.as_i64() {
        return integer_in(i128::from(v), to).ok_or_else(|| SqlError::integer_overflow(from, to, v));
    }
    let whole = match value {
        Value::Str(text) => return integer_from_text(text, from, to),
        Value::Decimal(v) => v.truncate(),
        Value::Money(v) => crate::decimal::divide_rounded(i128::from(*v), 10_000),
        Value::SmallMoney(v) => crate::decimal::divide_rounded(i128::from(*v), 10_000),
        Value::Float(_) | Value::Real(_) => {
            let v = as_f64(value).unwrap_or_default();
            return integer_in(v as i128, to).ok_or_else(|| float_overflow(v, to));
        }
        Value::Bin(bytes) => integer_from_bytes(bytes, to),
        _ => match days_of(value) {
            // Noon rounds up.
            Some(days) => (days + 0.5).floor() as i128,
            None => return Err(SqlError::explicit_conversion_not_allowed(from.error_name(), to.error_name())),
        },
    };
    integer_in(whole, to).ok_or_else(|| SqlError::arithmetic_overflow("expression", to.error_name()))
}

/// Error 232 with the value, whose state tells the type; 8115 for bigint.
fn float_overflow(value: f64, to: &SqlType) -> SqlError {
    let state = match to {
        SqlType::TinyInt => 1,
        SqlType::SmallInt => 2,
        SqlType::Int => 3,
        _ => return SqlError::arithmetic_overflow("expression", to.error_name()),
    };
    SqlError::overflow_of_float(to.error_name(), format!("{value:.6}")).with_state(state)
}

/// The last bytes as a big-endian two's complement number of the type's size.
fn integer_from_bytes(bytes: &[u8], to: &SqlType) -> i128 {
    let size = to.max_length() as usize;
    let last = &bytes[bytes.len().saturating_sub(size)..];
    let unsigned = last.iter().fold(0u64, |number, &byte| number << 8 | u64::from(byte));
    match to {
        SqlType::TinyInt => i128::from(unsigned as u8),
        SqlType::SmallInt => i128::from(unsigned as i16),
        SqlType::Int => i128::from(unsigned as i32),
        _ => i128::from(unsigned as i64),
    }
}

fn integer_from_text(text: &str, from: &SqlType, to: &SqlType) -> Result<Value, SqlError> {
    let trimmed = text.trim_matches(' ');
    if trimmed.is_empty() {
        return Ok(integer_in(0, to).unwrap_or_default());
    }
    let digits = trimmed.strip_prefix(['-', '+']).unwrap_or(trimmed);
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let name = from.error_name();
    if !is_number {
        return Err(match to {
            SqlType::BigInt => SqlError::error_converting(name, "bigint"),
            _ => SqlError::conversion_failed(name, text, to.error_name()),
        });
    }
    let parsed: Option<i128> = trimmed.parse().ok();
    parsed.and_then(|v| integer_in(v, to)).ok_or_else(|| match to {
        SqlType::TinyInt => SqlError::text_overflows_small_integer(name, text, "INT1"),
        SqlType::SmallInt => SqlError::text_overflows_small_integer(name, text, "INT2").with_state(2),
        SqlType::Int => SqlError::text_overflows_int(name, text),
        _ => SqlError::arithmetic_overflow("expression", to.error_name()),
    })
}

fn to_bit(value: &Value, from: &SqlType) -> Result<Value, SqlError> {
    let bit = match value {
        Value::Bit(v) => *v,
        Value::Str(text) => {
            let trimmed = text.trim_matches(' ');
            if trimmed.eq_ignore_ascii_case("true") {
                true
            } else if trimmed.is_empty() || trimmed.eq_ignore_ascii_case("false") {
                false
            } else {
                let digits = trimmed.strip_prefix(['-', '+']).unwrap_or(trimmed);
                if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
                    return Err(SqlError::conversion_failed(from.error_name(), text, "bit"));
                }
                digits.bytes().any(|byte| byte != b'0')
            }
        }
        Value::Bin(bytes) => bytes.last().is_some_and(|&byte| byte != 0),
        _ => match (as_f64(value), days_of(value)) {
            (Some(v), _) | (None, Some(v)) => v != 0.0,
            (None, None) => return Err(SqlError::explicit_conversion_not_allowed(from.error_name(), "bit")),
        },
    };
    Ok(Value::Bit(bit))
}

fn to_decimal(value: &Value, from: &SqlType, precision: u8, scale: u8) -> Result<Value, SqlError> {
    let overflow = || SqlError::arithmetic_overflow(from.error_name(), "numeric");
    let decimal = match value {
        Value::Str(text) => match Decimal::parse(text.trim_matches(' '), precision, scale) {
            Ok(decimal) => Some(decimal),
            Err(ParseDecimal::Overflow) => None,
            Err(ParseDecimal::NotANumber) => return Err(SqlError::error_converting(from.error_name(), "numeric")),
        },
        Value::Bin(bytes) => {
            let decimal = decimal_from_bytes(bytes);
            let decimal = decimal.ok_or_else(|| SqlError::error_converting(from.error_name(), "numeric"))?;
            decimal.rescale(precision, scale)
        }
        _ => match (exact(value), as_f64(value).or_else(|| days_of(value))) {
            (Some(v), _) => v.rescale(precision, scale),
            (None, Some(v)) => Decimal::from_f64(v, precision, scale),
            (None, None) => {
                return Err(SqlError::explicit_conversion_not_allowed(from.error_name(), "numeric"));
            }
        },
    };
    decimal.map(Value::Decimal).ok_or_else(overflow)
}

/// Precision, scale, a byte that means nothing, the sign (0 is minus), and the digits as a little-endian number, whose zeros at the
/// end may be missing.
fn decimal_from_bytes(bytes: &[u8]) -> Option<Decimal> {
    let ([precision, scale, _, sign], digits) = bytes.split_first_chunk::<DECIMAL_HEAD>()?;
    let mut mantissa = [0u8; 16];
    let (low, rest) = digits.split_at(digits.len().min(16));
    mantissa[..low.len()].copy_from_slice(low);
    let mantissa = i128::try_from(u128::from_le_bytes(mantissa)).ok().filter(|_| rest.iter().all(|byte| *byte == 0))?;
    Decimal::new(if *sign == 0 { -mantissa } else { mantissa }, *precision, *scale)
}

fn to_money(value: &Value, from: &SqlType, to: &SqlType) -> Result<Value, SqlError> {
    let source = match from {
        SqlType::Decimal { .. } => "numeric",
        _ => "expression",
    };
    let overflow = || SqlError::arithmetic_overflow(source, to.error_name());
    let decimal = match value {
        Value::Str(text) => return money_from_text(text, to),
        Value::Bin(bytes) => {
            let number =
                integer_from_bytes(bytes, if *to == SqlType::Money { &SqlType::BigInt } else { &SqlType::Int });
            Decimal::new(number, 38, 4)
        }
        _ => match (exact(value), as_f64(value).or_else(|| days_of(value))) {
            (Some(v), _) => Some(v),
            (None, Some(v)) => Decimal::from_f64(v, 38, 4),
            (None, None) => {
                return Err(SqlError::explicit_conversion_not_allowed(from.error_name(), to.error_name()));
            }
        },
    };
    decimal.and_then(|v| money_from_decimal(&v, to)).ok_or_else(overflow)
}

/// The signs of currencies that may stand before an amount.
fn is_currency(c: char) -> bool {
    matches!(c, '$' | '\u{A2}'..='\u{A5}' | '৲' | '৳' | '฿' | '៛' | '\u{20A0}'..='\u{20B1}' | '﷼' | '﹩' | '＄' | '￠' | '￡' | '￥' | '￦')
}

/// `[-+][$]digits[,digits][.digits]`, with blanks between them; an empty text is 0.
fn money_from_text(text: &str, to: &SqlType) -> Result<Value, SqlError> {
    let mut plain = String::with_capacity(text.len());
    let (mut seen_sign, mut seen_currency, mut seen_point) = (false, false, false);
    for c in text.trim_matches(' ').chars() {
        match c {
            '-' | '+' if !seen_sign && plain.is_empty() => {
                seen_sign = true;
                plain.push(c);
            }
            _ if is_currency(c) && !seen_currency && !plain.contains(|c: char| c.is_ascii_digit()) => {
                seen_currency = true;
            }
            ' ' if !plain.contains(|c: char| c.is_ascii_digit()) => {}
            ',' if !seen_point => {}
            '.' if !seen_point => {
                seen_point = true;
                plain.push(c);
            }
            '0'..='9' => plain.push(c),
            _ => return Err(SqlError::text_is_not_money()),
        }
    }
    if !plain.bytes().any(|byte| byte.is_ascii_digit()) {
        if seen_point || seen_sign {
            return Err(SqlError::text_is_not_money());
        }
        plain = "0".to_owned();
    }
    let decimal = Decimal::parse(&plain, 38, 4).map_err(|why| match why {
        ParseDecimal::NotANumber => SqlError::text_is_not_money(),
        ParseDecimal::Overflow => SqlError::arithmetic_overflow("expression", to.error_name()),
    })?;
    money_from_decimal(&decimal, to).ok_or_else(|| SqlError::arithmetic_overflow("expression", to.error_name()))
}

fn to_float(value: &Value, from: &SqlType, to: &SqlType) -> Result<Value, SqlError> {
    let number = match value {
        Value::Str(text) => {
            let trimmed = text.trim_matches(' ');
            // The parser also knows words such as "inf", which are no numbers here.
            let plain = trimmed
                .bytes()
                .all(|byte| matches!(byte, b'0'..=b'9' | b'.' | b'-' | b'+' | b'e' | b'E' | b'd' | b'D'));
            // D is an E, as in other languages.
            let parsed = match trimmed.parse::<f64>() {
                Err(_) if plain && !trimmed.contains(['e', 'E']) => trimmed.replace(['d', 'D'], "e").parse(),
                parsed => parsed,
            };
            match parsed {
                Ok(v) if plain => v,
                _ if trimmed.is_empty() => 0.0,
                _ => return Err(SqlError::error_converting(from.error_name(), to.error_name())),
            }
        }
        _ => match as_f64(value).or_else(|| days_of(value)) {
            Some(v) => v,
            None => return Err(SqlError::explicit_conversion_not_allowed(from.error_name(), to.error_name())),
        },
    };
    float_in(number, to)
}
