//! Conversions to dates and times.

use crate::datetime::{
    DATETIME_DAY, DAY, DAYS_MAX, DAYS_TO_1900, Date, DateTime, DateTime2, DateTimeOffset, Moment, ParseDate, Reading,
    SECOND, SmallDateTime, Time, parse_moment,
};
use crate::error::SqlError;
use crate::sql_type::SqlType;
use crate::value::Value;

/// Midnight after the last day that there is.
const END_OF_DAYS: i64 = (DAYS_MAX as i64 + 1) * DAY;

/// The moment of a date or time; a time alone is on 1900-01-01. `None` for all others.
pub(crate) fn moment_of(value: &Value) -> Option<Moment> {
    Some(match value {
        Value::Date(v) => Moment::local(i64::from(v.days()) * DAY),
        Value::Time(v) => Moment::local(i64::from(DAYS_TO_1900) * DAY + v.ticks()),
        Value::DateTime(v) => v.moment(),
        Value::SmallDateTime(v) => v.moment(),
        Value::DateTime2(v) => Moment::local(v.ticks()),
        Value::DateTimeOffset(v) => v.moment(),
        _ => return None,
    })
}

/// A moment as a value of a date or time type, rounded to the type's precision; `None` when it is out of range.
pub(crate) fn time_of(moment: Moment, to: &SqlType) -> Option<Value> {
    match to {
        SqlType::Date => Date::from_days(moment.days()).map(Value::Date),
        SqlType::Time(scale) => {
            let midnight = i64::from(moment.days()) * DAY;
            Time::from_ticks(moment.rounded_before(*scale, midnight + DAY).ticks - midnight).map(Value::Time)
        }
        SqlType::DateTime => DateTime::from_moment(moment).map(Value::DateTime),
        SqlType::SmallDateTime => SmallDateTime::from_moment(moment).map(Value::SmallDateTime),
        SqlType::DateTime2(scale) => {
            DateTime2::from_ticks(moment.rounded_before(*scale, END_OF_DAYS).ticks).map(Value::DateTime2)
        }
        SqlType::DateTimeOffset(scale) => {
            let offset = moment.offset_minutes.unwrap_or(0);
            let utc = moment.rounded_before(*scale, END_OF_DAYS).ticks - i64::from(offset) * 60 * SECOND;
            DateTimeOffset::new(utc, offset).map(Value::DateTimeOffset)
        }
        _ => None,
    }
}

pub(super) fn to_date(value: &Value, from: &SqlType, to: &SqlType, style: Option<i32>) -> Result<Value, SqlError> {
    let out_of_range = || SqlError::date_out_of_range(from.error_name(), to.error_name());
    if let Some(moment) = moment_of(value) {
        return time_of(moment, to).ok_or_else(out_of_range);
    }
    match value {
        Value::Str(text) => from_text(text, from, to, style, Reading::default()),
        Value::Bin(bytes) if *to == SqlType::DateTime => from_binary(bytes, to),
        Value::Bin(bytes) if *to == SqlType::SmallDateTime => small_from_binary(bytes),
        Value::Bin(bytes) => younger_from_binary(bytes, to).ok_or_else(|| SqlError::invalid_data(to.error_name())),
        _ => {
            let days = super::as_f64(value).unwrap_or_default();
            let overflow = || SqlError::arithmetic_overflow("expression", to.error_name());
            if !(-1e7..1e7).contains(&days) {
                return Err(overflow());
            }
            let ticks = (days * DATETIME_DAY as f64).round() as i64;
            let value = DateTime::from_ticks(ticks).ok_or_else(overflow)?;
            time_of(value.moment(), to).ok_or_else(overflow)
        }
    }
}

/// A text as a date or time, read in a session's format and language.
pub(super) fn from_text(
    text: &str,
    from: &SqlType,
    to: &SqlType,
    style: Option<i32>,
    reading: Reading,
) -> Result<Value, SqlError> {
    let old_type = matches!(to, SqlType::DateTime | SqlType::SmallDateTime);
    let syntax = || match to {
        SqlType::SmallDateTime => SqlError::text_is_not_smalldatetime(),
        _ => SqlError::text_is_not_a_date(),
    };
    let out_of_range = || match old_type {
        true => SqlError::date_out_of_range(from.error_name(), to.error_name()),
        false => SqlError::text_is_not_a_date(),
    };
    let parsed = parse_moment(text, style, Reading { to_old_type: old_type, ..reading }).map_err(|why| match why {
        ParseDate::Syntax => syntax(),
        ParseDate::OutOfRange => out_of_range(),
        ParseDate::Style(style) => SqlError::invalid_style(style, from.error_name()),
        ParseDate::OtherStyle(style) => SqlError::text_does_not_follow_style(style),
    })?;
    if old_type && (parsed.fraction_digits > 3 || parsed.moment.offset_minutes.is_some_and(|offset| offset != 0)) {
        return Err(syntax());
    }
    time_of(parsed.moment, to).ok_or_else(out_of_range)
}

/// A date or time from the bytes that one of its type converts to; what follows them is ignored.
fn younger_from_binary(bytes: &[u8], to: &SqlType) -> Option<Value> {
    let number = |bytes: &[u8]| bytes.iter().rev().fold(0i64, |number, byte| number << 8 | i64::from(*byte));
    let mut rest = bytes;
    let mut ticks = 0;
    if *to != SqlType::Date {
        let (&scale, behind) = rest.split_first().filter(|(scale, _)| **scale <= 7)?;
        let (units, behind) = behind.split_at_checked(SqlType::Time(scale).max_length() as usize)?;
        ticks = number(units) * 10i64.pow(7 - u32::from(scale));
        rest = behind;
    }
    let mut days = i64::from(DAYS_TO_1900);
    if !matches!(to, SqlType::Time(_)) {
        let (date, behind) = rest.split_at_checked(3)?;
        days = number(date);
        rest = behind;
    }
    if ticks >= DAY || days > i64::from(DAYS_MAX) {
        return None;
    }
    let moment = Moment::local(days * DAY + ticks);
    if !matches!(to, SqlType::DateTimeOffset(_)) {
        return time_of(moment, to);
    }
    let offset = i16::from_le_bytes(*rest.first_chunk::<2>()?);
    let exact = DateTimeOffset::new(moment.ticks, offset)?;
    time_of(exact.moment(), to)
}

/// The last four bytes as those of a `smalldatetime`: days, then minutes, both big-endian.
fn small_from_binary(bytes: &[u8]) -> Result<Value, SqlError> {
    let mut padded = [0u8; 4];
    let last = &bytes[bytes.len().saturating_sub(4)..];
    padded[4 - last.len()..].copy_from_slice(last);
    let [a, b, c, d] = padded;
    let (days, minutes) = (i64::from(u16::from_be_bytes([a, b])), i64::from(u16::from_be_bytes([c, d])));
    let ticks = (i64::from(DAYS_TO_1900) + days) * DAY + minutes * 60 * SECOND;
    let value = (minutes < 1440).then(|| time_of(Moment::local(ticks), &SqlType::SmallDateTime)).flatten();
    value.ok_or_else(SqlError::datetime_from_binary)
}

/// The eight bytes of a `datetime`: days, then ticks of 1/300 s, both big-endian.
fn from_binary(bytes: &[u8], to: &SqlType) -> Result<Value, SqlError> {
    let mut padded = [0u8; 8];
    let last = &bytes[bytes.len().saturating_sub(8)..];
    padded[8 - last.len()..].copy_from_slice(last);
    let [a, b, c, d, e, f, g, h] = padded;
    let (days, ticks) = (i32::from_be_bytes([a, b, c, d]), i64::from(u32::from_be_bytes([e, f, g, h])));
    let value = (ticks < DATETIME_DAY)
        .then(|| DateTime::from_ticks(i64::from(days) * DATETIME_DAY + ticks))
        .flatten()
        .and_then(|value| time_of(value.moment(), to));
    value.ok_or_else(SqlError::datetime_from_binary)
}
