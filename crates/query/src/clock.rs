//! The present time, as the language's values, and times of the day that texts say.

use std::borrow::Cow;

use pikepole_types::{DateTime2, DateTimeOffset, Length, SqlType, Value};

/// 0001-01-01 to 1970-01-01, in ticks of 100 ns.
const UNIX_EPOCH_TICKS: i64 = 621_355_968_000_000_000;

/// The present time.
pub(crate) fn now() -> DateTimeOffset {
    let ticks = UNIX_EPOCH_TICKS.saturating_add(pikepole_machine::clock::unix_time_100ns());
    DateTimeOffset::new(ticks, 0).unwrap_or_else(epoch)
}

/// The same as a `datetime2`.
///
/// # Panics
/// Never: it takes the years that a `datetimeoffset` takes.
pub(crate) fn utc_now() -> DateTime2 {
    DateTime2::from_ticks(now().utc_ticks()).expect("a moment in UTC is between the years 1 and 9999")
}

/// 1970-01-01.
///
/// # Panics
/// Never: the year is a valid one.
pub(crate) fn epoch() -> DateTimeOffset {
    DateTimeOffset::new(UNIX_EPOCH_TICKS, 0).expect("1970 is a year between 1 and 9999")
}

/// What a text says: a time of the day without a date, in ticks of 100 nanoseconds; nothing is none. It may have zeros before its hours.
pub(crate) fn ticks_of_text(text: &str) -> Option<i64> {
    let is_of_time =
        |c: char| c.is_ascii_digit() || matches!(c.to_ascii_uppercase(), ':' | '.' | ' ' | 'A' | 'P' | 'M');
    if !text.chars().all(is_of_time) {
        return None;
    }
    let text = match text.trim_start().split_once(':') {
        Some((hours, rest)) if hours.len() > 2 && hours.bytes().all(|byte| byte.is_ascii_digit()) => {
            Cow::Owned(format!("{:0>2}:{rest}", hours.trim_start_matches('0')))
        }
        _ => Cow::Borrowed(text),
    };
    let text = Value::Str(text.into_owned());
    match pikepole_types::convert(&text, &SqlType::VarChar(Length::Max), &SqlType::Time(7), None) {
        Ok(Value::Time(time)) => Some(time.ticks()),
        _ => None,
    }
}
