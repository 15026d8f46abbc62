//! Functions on offsets from UTC, and the younger ones on dates.

use super::{Context, text, whole};
use crate::convert::{moment_of, time_of};
use crate::datetime::{DAY, Date, DatePart, DateTimeOffset, Moment, SECOND, Time, day_of_week};
use crate::error::SqlError;
use crate::sql_type::{Length, SqlType};
use crate::time_zone::TimeZone;
use crate::value::Value;

type Evaluated = Result<Value, SqlError>;
type Typed = Result<SqlType, SqlError>;

/// `datetimeoffset` with the digits of the first argument.
pub(super) fn offset_type(types: &[SqlType]) -> Typed {
    let digits = match types[0] {
        SqlType::DateTimeOffset(digits) | SqlType::DateTime2(digits) | SqlType::Time(digits) => digits,
        SqlType::DateTime => 3,
        SqlType::SmallDateTime | SqlType::Date => 0,
        ty if ty.is_string() || ty == SqlType::Null => 7,
        ty => return Err(SqlError::argument_type_invalid(ty.error_name(), 1, "todatetimeoffset")),
    };
    Ok(SqlType::DateTimeOffset(digits))
}

pub(super) fn time_type(_: &[SqlType]) -> Typed {
    Ok(SqlType::Time(7))
}

pub(super) fn name_type(_: &[SqlType]) -> Typed {
    Ok(SqlType::VarChar(Length::Limit(128)))
}

/// The zone of the server's clock, which is UTC.
pub(super) fn current_timezone(_: &mut Context, _: &[Value], _: &[SqlType]) -> Evaluated {
    Ok(Value::from("(UTC) Coordinated Universal Time"))
}

pub(super) fn current_timezone_id(_: &mut Context, _: &[Value], _: &[SqlType]) -> Evaluated {
    Ok(Value::from("UTC"))
}

pub(super) fn smalldatetime_type(_: &[SqlType]) -> Typed {
    Ok(SqlType::SmallDateTime)
}

/// The type of the date; text is read as `datetime2`.
pub(super) fn trunc_type(types: &[SqlType]) -> Typed {
    match types[1] {
        ty if ty.is_date_or_time() => Ok(ty),
        ty if ty.is_string() || ty == SqlType::Null => Ok(SqlType::DateTime2(7)),
        ty => Err(SqlError::argument_type_invalid(ty.error_name(), 2, "datetrunc")),
    }
}

/// An offset in minutes: a number, or `+hh:mm`.
fn minutes(values: &[Value], types: &[SqlType], at: usize, function: &str) -> Result<i16, SqlError> {
    let wrong = || SqlError::time_zone_invalid(function);
    let minutes = match &values[at] {
        Value::Str(written) => offset_of(written).ok_or_else(wrong)?,
        _ => whole(values, types, at)?,
    };
    i16::try_from(minutes).ok().filter(|minutes| minutes.abs() <= 14 * 60).ok_or_else(wrong)
}

fn offset_of(written: &str) -> Option<i64> {
    let (sign, digits) = match written.trim().split_at_checked(1)? {
        ("+", digits) => (1, digits),
        ("-", digits) => (-1, digits),
        _ => return None,
    };
    let (hours, minutes) = digits.split_once(':')?;
    let number = |text: &str| (text.len() == 2).then(|| text.parse::<u8>().ok()).flatten().map(i64::from);
    let (hours, minutes) = (number(hours)?, number(minutes)?);
    (minutes < 60).then_some(sign * (hours * 60 + minutes))
}

/// An argument as a moment of a type.
pub(super) fn moment_as(context: &Context, value: &Value, from: &SqlType, ty: &SqlType) -> Result<Moment, SqlError> {
    let converted = context.convert(value, from, ty, None)?;
    moment_of(&converted).ok_or_else(SqlError::text_is_not_a_date)
}

/// The same point in time under another offset.
pub(super) fn switchoffset(context: &mut Context, values: &[Value], types: &[SqlType]) -> Evaluated {
    let offset = minutes(values, types, 1, "switchoffset")?;
    let moment = moment_as(context, &values[0], &types[0], &SqlType::DateTimeOffset(7))?;
    let utc = moment.ticks - i64::from(moment.offset_minutes.unwrap_or(0)) * 60 * SECOND;
    // A datetime has finer parts than its digits say.
    let switched = Moment { ticks: utc + i64::from(offset) * 60 * SECOND, offset_minutes: Some(offset) };
    time_of(switched, &offset_type(types)?).ok_or_else(|| SqlError::date_overflow("datetimeoffset"))
}

/// A local time under an offset.
pub(super) fn todatetimeoffset(context: &mut Context, values: &[Value], types: &[SqlType]) -> Evaluated {
    let offset = minutes(values, types, 1, "todatetimeoffset")?;
    let moment = moment_as(context, &values[0], &types[0], &SqlType::DateTime2(7))?;
    let moment = Moment { ticks: moment.ticks, offset_minutes: Some(offset) };
    time_of(moment, &offset_type(types)?).ok_or_else(|| SqlError::date_overflow("datetimeoffset"))
}

pub(super) fn at_time_zone_type(types: &[SqlType]) -> Typed {
    match types[0] {
        SqlType::DateTimeOffset(_) | SqlType::DateTime2(_) | SqlType::DateTime | SqlType::SmallDateTime => {
            offset_type(types)
        }
        SqlType::Null => Ok(SqlType::DateTimeOffset(7)),
        ty => Err(SqlError::argument_type_invalid(ty.error_name(), 1, "AT TIME ZONE")),
    }
}

/// A local time gets the offset that its zone had then; a time with an offset is shown as the zone's clocks showed it.
pub(super) fn at_time_zone(context: &mut Context, values: &[Value], types: &[SqlType]) -> Evaluated {
    let name = text(context, values, types, 1)?;
    let zone = TimeZone::by_name(&name).ok_or_else(|| SqlError::time_zone_unknown(&name))?;
    let moment = moment_of(&values[0]).ok_or_else(SqlError::text_is_not_a_date)?;
    let moment = match moment.offset_minutes {
        Some(offset) => zone.shown(moment.ticks - i64::from(offset) * 60 * SECOND),
        None => zone.local(moment.ticks),
    };
    time_of(moment, &at_time_zone_type(types)?).ok_or_else(|| SqlError::date_overflow("datetimeoffset"))
}

/// Hour, minute, second, fraction and its digits, from `at` on, in ticks.
fn time_ticks(values: &[Value], types: &[SqlType], at: usize, digits: usize, name: &str) -> Result<i64, SqlError> {
    let wrong = || SqlError::cannot_construct(name);
    let (hour, minute) = (whole(values, types, at)?, whole(values, types, at + 1)?);
    let (second, fraction) = (whole(values, types, at + 2)?, whole(values, types, at + 3)?);
    let digits = whole(values, types, digits)?;
    let inside = (0..24).contains(&hour) && (0..60).contains(&minute) && (0..60).contains(&second);
    let scale = u32::try_from(digits).ok().filter(|digits| *digits <= 7 && inside).ok_or_else(wrong)?;
    if !(0..10i64.pow(scale)).contains(&fraction) {
        return Err(wrong());
    }
    Ok((hour * 3600 + minute * 60 + second) * SECOND + fraction * 10i64.pow(7 - scale))
}

fn day_ticks(values: &[Value], types: &[SqlType], name: &str) -> Result<i64, SqlError> {
    let number = |at: usize| Ok(i32::try_from(whole(values, types, at)?).unwrap_or(-1));
    let date = Date::from_ymd(number(0)?, number(1)?, number(2)?);
    date.map(|date| i64::from(date.days()) * DAY).ok_or_else(|| SqlError::cannot_construct(name))
}

pub(super) fn timefromparts(_: &mut Context, values: &[Value], types: &[SqlType]) -> Evaluated {
    let ticks = time_ticks(values, types, 0, 4, "time")?;
    Time::from_ticks(ticks).map(Value::Time).ok_or_else(|| SqlError::cannot_construct("time"))
}

pub(super) fn smalldatetimefromparts(_: &mut Context, values: &[Value], types: &[SqlType]) -> Evaluated {
    let wrong = || SqlError::cannot_construct("smalldatetime");
    let day = day_ticks(values, types, "smalldatetime")?;
    let (hour, minute) = (whole(values, types, 3)?, whole(values, types, 4)?);
    if !(0..24).contains(&hour) || !(0..60).contains(&minute) {
        return Err(wrong());
    }
    let ticks = day + (hour * 60 + minute) * 60 * SECOND;
    time_of(Moment::local(ticks), &SqlType::SmallDateTime).ok_or_else(wrong)
}

pub(super) fn datetimeoffsetfromparts(_: &mut Context, values: &[Value], types: &[SqlType]) -> Evaluated {
    let wrong = || SqlError::cannot_construct("datetimeoffset");
    let local = day_ticks(values, types, "datetimeoffset")? + time_ticks(values, types, 3, 9, "datetimeoffset")?;
    let (hours, minutes) = (whole(values, types, 7)?, whole(values, types, 8)?);
    let signs_differ = hours.signum() * minutes.signum() < 0;
    if minutes.abs() > 59 || hours.abs() > 14 || signs_differ {
        return Err(wrong());
    }
    let offset = hours * 60 + minutes;
    let offset_minutes = i16::try_from(offset).map_err(|_| wrong())?;
    let made = DateTimeOffset::new(local - offset * 60 * SECOND, offset_minutes);
    made.map(Value::DateTimeOffset).ok_or_else(wrong)
}

/// The beginning of the year, month, ... that a date is in.
pub(super) fn datetrunc(context: &mut Context, values: &[Value], types: &[SqlType]) -> Evaluated {
    let name = text(context, values, types, 0)?;
    let part = DatePart::by_name(&name).ok_or_else(|| SqlError::option_not_recognized(&name, "datetrunc"))?;
    let ty = trunc_type(types)?;
    let unsupported = || SqlError::date_part_not_supported(part.name(), "datetrunc", ty.error_name());
    let moment = moment_as(context, &values[1], &types[1], &ty)?;
    let of_time = part.is_of_time();
    if (of_time && ty == SqlType::Date) || (!of_time && matches!(ty, SqlType::Time(_))) {
        return Err(unsupported());
    }
    let days = moment.days();
    let date = Date::from_days(days).ok_or_else(|| SqlError::date_overflow(ty.error_name()))?;
    let (year, month, _) = date.ymd();
    let first_of = |month: i32| Date::from_ymd(year, month, 1).map_or(days, Date::days);
    let unit = |ticks: i64| moment.ticks - moment.ticks.rem_euclid(ticks);
    let ticks = match part {
        DatePart::Year => i64::from(first_of(1)) * DAY,
        DatePart::Quarter => i64::from(first_of((month - 1) / 3 * 3 + 1)) * DAY,
        DatePart::Month => i64::from(first_of(month)) * DAY,
        DatePart::Week => i64::from(days - day_of_week(days, context.date_first)) * DAY,
        DatePart::IsoWeek => i64::from(days - days.rem_euclid(7)) * DAY,
        DatePart::Day | DatePart::DayOfYear => unit(DAY),
        DatePart::Hour => unit(3600 * SECOND),
        DatePart::Minute => unit(60 * SECOND),
        DatePart::Second => unit(SECOND),
        DatePart::Millisecond => unit(SECOND / 1000),
        DatePart::Microsecond => unit(SECOND / 1_000_000),
        DatePart::Weekday | DatePart::Nanosecond | DatePart::Offset => return Err(unsupported()),
    };
    time_of(Moment { ticks, ..moment }, &ty).ok_or_else(|| SqlError::date_overflow(ty.error_name()))
}
