//! Date and time functions.

use super::{Context, refuse_text, text, whole};
use crate::convert::{moment_of, time_of};
use crate::datetime::{self, DAY, Date, DatePart, Moment, SECOND};
use crate::error::SqlError;
use crate::sql_type::{Length, SqlType};
use crate::value::Value;

type Evaluated = Result<Value, SqlError>;
type Typed = Result<SqlType, SqlError>;

pub(super) fn datetime_type(_: &[SqlType]) -> Typed {
    Ok(SqlType::DateTime)
}

pub(super) fn datetime2_type(_: &[SqlType]) -> Typed {
    Ok(SqlType::DateTime2(7))
}

pub(super) fn datetimeoffset_type(_: &[SqlType]) -> Typed {
    Ok(SqlType::DateTimeOffset(7))
}

pub(super) fn date_type(_: &[SqlType]) -> Typed {
    Ok(SqlType::Date)
}

pub(super) fn bigint_type(_: &[SqlType]) -> Typed {
    Ok(SqlType::BigInt)
}

pub(super) fn name_type(_: &[SqlType]) -> Typed {
    Ok(SqlType::NVarChar(Length::Limit(30)))
}

/// The type of the date; `datetime` for text and numbers. The number is no text.
pub(super) fn dateadd_type(types: &[SqlType]) -> Typed {
    refuse_text(types, 1, "dateadd")?;
    Ok(if types[2].is_date_or_time() { types[2] } else { SqlType::DateTime })
}

/// The context's time in a type.
fn now_as(context: &Context, utc: bool, ty: SqlType) -> Evaluated {
    let moment = if utc { Moment::local(context.now.utc_ticks()) } else { context.now.moment() };
    time_of(moment, &ty).ok_or_else(|| SqlError::date_out_of_range("datetimeoffset", ty.error_name()))
}

pub(super) fn getdate(context: &mut Context, _: &[Value], _: &[SqlType]) -> Evaluated {
    now_as(context, false, SqlType::DateTime)
}

pub(super) fn getutcdate(context: &mut Context, _: &[Value], _: &[SqlType]) -> Evaluated {
    now_as(context, true, SqlType::DateTime)
}

pub(super) fn sysdatetime(context: &mut Context, _: &[Value], _: &[SqlType]) -> Evaluated {
    now_as(context, false, SqlType::DateTime2(7))
}

pub(super) fn sysutcdatetime(context: &mut Context, _: &[Value], _: &[SqlType]) -> Evaluated {
    now_as(context, true, SqlType::DateTime2(7))
}

pub(super) fn sysdatetimeoffset(context: &mut Context, _: &[Value], _: &[SqlType]) -> Evaluated {
    Ok(Value::DateTimeOffset(context.now))
}

/// The date part that the first argument names.
fn part(values: &[Value], function: &str) -> Result<DatePart, SqlError> {
    let name = values[0].as_str().unwrap_or_default();
    DatePart::by_name(name).ok_or_else(|| SqlError::option_not_recognized(name, function))
}

/// An argument as a moment, and the type it has as a date: text is read as `datetime2` for its digits, numbers are days.
fn moment(context: &Context, values: &[Value], types: &[SqlType], at: usize) -> Result<(Moment, SqlType), SqlError> {
    if let Some(moment) = moment_of(&values[at]) {
        return Ok((moment, types[at]));
    }
    let ty = if types[at].is_string() { SqlType::DateTimeOffset(7) } else { SqlType::DateTime };
    let converted = context.convert(&values[at], &types[at], &ty, None)?;
    let moment = moment_of(&converted).ok_or_else(SqlError::text_is_not_a_date)?;
    Ok((moment, ty))
}

/// Error 9810 for a part that the type does not have.
fn check_part(part: DatePart, ty: &SqlType, function: &str) -> Result<(), SqlError> {
    let fits = match ty {
        SqlType::Date => !part.is_of_time() && part != DatePart::Offset,
        SqlType::Time(_) => part.is_of_time(),
        SqlType::DateTimeOffset(_) => true,
        _ => part != DatePart::Offset,
    };
    if fits { Ok(()) } else { Err(SqlError::date_part_not_supported(part.name(), function, ty.error_name())) }
}

pub(super) fn dateadd(context: &mut Context, values: &[Value], types: &[SqlType]) -> Evaluated {
    let part = part(values, "dateadd")?;
    let ty = dateadd_type(types)?;
    let count = whole(values, types, 1).map_err(|error| match error.number {
        8115 => SqlError::date_overflow(ty.error_name()),
        _ => error,
    })?;
    let given = match moment_of(&values[2]) {
        Some(moment) => moment,
        None => {
            let converted = context.convert(&values[2], &types[2], &ty, None)?;
            moment_of(&converted).ok_or_else(SqlError::text_is_not_a_date)?
        }
    };
    check_part(part, &ty, "dateadd")?;
    let old_type = matches!(ty, SqlType::DateTime | SqlType::SmallDateTime);
    let too_fine = old_type && matches!(part, DatePart::Microsecond | DatePart::Nanosecond);
    if too_fine || matches!(part, DatePart::IsoWeek | DatePart::Offset) {
        return Err(SqlError::date_part_not_supported(part.name(), "dateadd", ty.error_name()));
    }
    let overflow = || SqlError::date_overflow(ty.error_name());
    let sum = datetime::date_add(part, count, given).ok_or_else(overflow)?;
    time_of(sum, &ty).ok_or_else(overflow)
}

/// Boundaries between two dates; those with an offset count in UTC, and a time alone is on 1900-01-01.
fn difference(context: &Context, values: &[Value], types: &[SqlType], function: &str) -> Result<Option<i64>, SqlError> {
    let part = part(values, function)?;
    let ((from, _), (to, _)) = (moment(context, values, types, 1)?, moment(context, values, types, 2)?);
    if matches!(part, DatePart::Offset | DatePart::IsoWeek) {
        return Err(SqlError::date_part_not_supported_by(part.name(), function));
    }
    let utc =
        |moment: Moment| Moment::local(moment.ticks - i64::from(moment.offset_minutes.unwrap_or(0)) * 60 * SECOND);
    Ok(datetime::date_diff(part, utc(from), utc(to)))
}

pub(super) fn datediff(context: &mut Context, values: &[Value], types: &[SqlType]) -> Evaluated {
    let count = difference(context, values, types, "datediff")?.and_then(|count| i32::try_from(count).ok());
    count.map(Value::Int).ok_or_else(|| SqlError::datediff_overflow("datediff"))
}

pub(super) fn datediff_big(context: &mut Context, values: &[Value], types: &[SqlType]) -> Evaluated {
    let count = difference(context, values, types, "datediff_big")?;
    count.map(Value::BigInt).ok_or_else(|| SqlError::datediff_overflow("datediff_big"))
}

pub(super) fn datepart(context: &mut Context, values: &[Value], types: &[SqlType]) -> Evaluated {
    let part = part(values, "datepart")?;
    let (moment, ty) = moment(context, values, types, 1)?;
    check_part(part, &ty, "datepart")?;
    Ok(Value::Int(datetime::date_part(part, rounded_as(moment, &ty), context.date_first)))
}

pub(super) fn datename(context: &mut Context, values: &[Value], types: &[SqlType]) -> Evaluated {
    let part = part(values, "datename")?;
    let (moment, ty) = moment(context, values, types, 1)?;
    check_part(part, &ty, "datename")?;
    Ok(Value::Str(datetime::date_name(part, rounded_as(moment, &ty), context.date_first, context.language)))
}

/// `datetime` shows its ticks of 1/300 s as whole milliseconds: .00333 s as 3, .00667 s as 7.
fn rounded_as(moment: Moment, ty: &SqlType) -> Moment {
    if *ty == SqlType::DateTime { moment.rounded(3) } else { moment }
}

fn part_of(context: &Context, part: DatePart, values: &[Value], types: &[SqlType]) -> Evaluated {
    let (moment, ty) = moment(context, values, types, 0)?;
    check_part(part, &ty, part.name())?;
    Ok(Value::Int(datetime::date_part(part, moment, datetime::SUNDAY)))
}

pub(super) fn year(context: &mut Context, values: &[Value], types: &[SqlType]) -> Evaluated {
    part_of(context, DatePart::Year, values, types)
}

pub(super) fn month(context: &mut Context, values: &[Value], types: &[SqlType]) -> Evaluated {
    part_of(context, DatePart::Month, values, types)
}

pub(super) fn day(context: &mut Context, values: &[Value], types: &[SqlType]) -> Evaluated {
    part_of(context, DatePart::Day, values, types)
}

pub(super) fn eomonth(context: &mut Context, values: &[Value], types: &[SqlType]) -> Evaluated {
    if values[0].is_null() {
        return Ok(Value::Null);
    }
    let months = if values.len() > 1 && !values[1].is_null() { whole(values, types, 1)? } else { 0 };
    let (moment, _) = moment(context, values, types, 0)?;
    let days = datetime::end_of_month(moment.days(), months).and_then(Date::from_days);
    days.map(Value::Date).ok_or_else(|| SqlError::date_overflow("date"))
}

/// Ticks of a date and time of day given in numbers; the last of `parts` are hour, minute and second.
fn from_parts(values: &[Value], types: &[SqlType], name: &str) -> Result<i64, SqlError> {
    let wrong = || SqlError::cannot_construct(name);
    let mut parts = [0i32; 6];
    for (at, part) in parts.iter_mut().enumerate().take(values.len()) {
        *part = i32::try_from(whole(values, types, at)?).map_err(|_| wrong())?;
    }
    let [year, month, day, hour, minute, second] = parts;
    let date = Date::from_ymd(year, month, day).ok_or_else(wrong)?;
    let valid = (0..24).contains(&hour) && (0..60).contains(&minute) && (0..60).contains(&second);
    if !valid {
        return Err(wrong());
    }
    Ok(i64::from(date.days()) * DAY + i64::from(hour * 3600 + minute * 60 + second) * SECOND)
}

pub(super) fn datefromparts(_: &mut Context, values: &[Value], types: &[SqlType]) -> Evaluated {
    let ticks = from_parts(values, types, "date")?;
    time_of(Moment::local(ticks), &SqlType::Date).ok_or_else(|| SqlError::cannot_construct("date"))
}

pub(super) fn datetimefromparts(_: &mut Context, values: &[Value], types: &[SqlType]) -> Evaluated {
    let wrong = || SqlError::cannot_construct("datetime");
    let ticks = from_parts(&values[..6], types, "datetime")?;
    let milliseconds = whole(values, types, 6)?;
    if !(0..1000).contains(&milliseconds) {
        return Err(wrong());
    }
    time_of(Moment::local(ticks + milliseconds * 10_000), &SqlType::DateTime).ok_or_else(wrong)
}

/// The seventh argument counts units of the eighth's scale.
pub(super) fn datetime2fromparts(_: &mut Context, values: &[Value], types: &[SqlType]) -> Evaluated {
    let wrong = || SqlError::cannot_construct("datetime2");
    let ticks = from_parts(&values[..6], types, "datetime2")?;
    let (fraction, scale) = (whole(values, types, 6)?, whole(values, types, 7)?);
    if !(0..=7).contains(&scale) || !(0..10i64.pow(scale as u32)).contains(&fraction) {
        return Err(wrong());
    }
    let fraction = fraction * 10i64.pow(7 - scale as u32);
    time_of(Moment::local(ticks + fraction), &SqlType::DateTime2(7)).ok_or_else(wrong)
}

/// Of dates and times only the older types are taken.
pub(super) fn isdate_type(types: &[SqlType]) -> Typed {
    match types[0] {
        ty @ (SqlType::Date | SqlType::Time(_) | SqlType::DateTime2(_) | SqlType::DateTimeOffset(_)) => {
            Err(SqlError::argument_type_invalid(ty.error_name(), 1, "isdate"))
        }
        _ => Ok(SqlType::Int),
    }
}

/// 1 when the argument reads as a `datetime`.
pub(super) fn isdate(context: &mut Context, values: &[Value], types: &[SqlType]) -> Evaluated {
    let reads = match &values[0] {
        Value::Null => false,
        Value::DateTime(_) | Value::SmallDateTime(_) => true,
        Value::Str(text) if text.trim().is_empty() => false,
        Value::Str(_) => context.convert(&values[0], &types[0], &SqlType::DateTime, None).is_ok(),
        // Numbers are read as text: 2020 is a year, 20200101 a day.
        other if other.as_i64().is_some() => {
            let digits = Value::Str(text(context, values, types, 0)?.into_owned());
            context.convert(&digits, &SqlType::VarChar(Length::Max), &SqlType::DateTime, None).is_ok()
        }
        _ => false,
    };
    Ok(Value::Int(i32::from(reads)))
}
