//! Values of parameters and rows.

use pikepole_embedded::{DateTime, Decimal, Value};
use std::time::{SystemTime, UNIX_EPOCH};

/// Days from 1900-01-01, where `datetime` begins, to 1970-01-01.
const DAYS_TO_1970: i64 = 25_567;
/// Digits of amounts: those of the widest column.
const AMOUNT_DIGITS: u8 = 12;

/// An `int`.
pub fn int(number: impl Into<i64>) -> Value {
    // Numbers of the workloads are drawn from ranges of int.
    Value::Int(number.into() as i32)
}

/// An amount of hundredths.
pub fn cents(amount: i64) -> Value {
    scaled(amount, 2)
}

/// A decimal without digits behind the point.
pub fn whole(number: i64) -> Value {
    scaled(number, 0)
}

/// A decimal of ten-thousandths.
pub fn rate(rate: i64) -> Value {
    scaled(rate, 4)
}

/// `mantissa / 10^scale`; NULL, which no column of amounts takes, where that has too many digits.
fn scaled(mantissa: i64, scale: u8) -> Value {
    Decimal::new(i128::from(mantissa), AMOUNT_DIGITS, scale).map_or(Value::Null, Value::Decimal)
}

/// A text.
pub fn text(text: impl Into<String>) -> Value {
    Value::Str(text.into())
}

/// The time of day in UTC.
pub fn now() -> Value {
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis() as i64;
    DateTime::from_ticks(since_1970 * 3 / 10 + DAYS_TO_1970 * 86_400 * 300).map_or(Value::Null, Value::DateTime)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_exact() {
        assert!(matches!(cents(-1050), Value::Decimal(amount) if amount.to_string() == "-10.50"));
        assert!(matches!(rate(5), Value::Decimal(rate) if rate.to_string() == "0.0005"));
        assert_eq!(int(-3), Value::Int(-3));
    }

    #[test]
    fn the_time_is_of_this_century() {
        let Value::DateTime(now) = now() else { panic!("no moment") };
        assert!((36_524..73_048).contains(&(now.ticks() / 86_400 / 300)));
    }
}
