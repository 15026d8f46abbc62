//! DATE_BUCKET.

use super::zone::moment_as;
use super::{Context, whole};
use crate::convert::time_of;
use crate::datetime::{DAY, DAYS_TO_1900, DatePart, Moment, date_add, date_diff};
use crate::error::SqlError;
use crate::sql_type::SqlType;
use crate::value::Value;

/// The type of the date, which is no text. An origin has the same type.
pub(super) fn bucket_type(types: &[SqlType]) -> Result<SqlType, SqlError> {
    let ty = match types[2] {
        ty if ty.is_date_or_time() => ty,
        SqlType::Null => SqlType::DateTime2(7),
        ty => return Err(SqlError::argument_type_invalid(ty.error_name(), 3, "date_bucket")),
    };
    match types.get(3) {
        Some(origin) if !origin.is_date_or_time() && !origin.is_string() && *origin != SqlType::Null => {
            Err(SqlError::argument_type_invalid(origin.error_name(), 4, "date_bucket"))
        }
        _ => Ok(ty),
    }
}

/// The beginning of the bucket of so many parts, counted from an origin, that a date is in.
pub(super) fn date_bucket(context: &mut Context, values: &[Value], types: &[SqlType]) -> Result<Value, SqlError> {
    let name = values[0].as_str().unwrap_or_default();
    let part = DatePart::by_name(name).ok_or_else(|| SqlError::option_not_recognized(name, "date_bucket"))?;
    let width = whole(values, types, 1)?;
    if width <= 0 {
        return Err(SqlError::bucket_width_invalid());
    }
    let ty = bucket_type(types)?;
    let moment = moment_as(context, &values[2], &types[2], &ty)?;
    let origin = match values.get(3) {
        Some(origin) => moment_as(context, origin, &types[3], &ty)?,
        None => Moment { ticks: i64::from(DAYS_TO_1900) * DAY, ..moment },
    };
    let unsupported = || SqlError::date_part_not_supported(part.name(), "date_bucket", ty.error_name());
    let of_time = part.is_of_time();
    let fits = match part {
        DatePart::Year | DatePart::Quarter | DatePart::Month | DatePart::Week | DatePart::Day => {
            !matches!(ty, SqlType::Time(_))
        }
        DatePart::Hour | DatePart::Minute | DatePart::Second | DatePart::Millisecond => ty != SqlType::Date,
        _ => false,
    };
    if !fits || of_time && ty == SqlType::Date {
        return Err(unsupported());
    }
    let overflow = || SqlError::date_overflow(ty.error_name());
    // The count of parts between the two may be one too many: it counts boundaries, of which the origin need be none.
    let parts = date_diff(part, origin, moment).ok_or_else(overflow)?;
    let begin = |bucket: i64| {
        let parts = bucket.checked_mul(width)?;
        date_add(part, parts, origin)
    };
    let mut bucket = parts.div_euclid(width);
    let mut start = begin(bucket).ok_or_else(overflow)?;
    if start.ticks > moment.ticks {
        bucket -= 1;
        start = begin(bucket).ok_or_else(overflow)?;
    } else if let Some(next) = begin(bucket + 1).filter(|next| next.ticks <= moment.ticks) {
        start = next;
    }
    time_of(Moment { offset_minutes: moment.offset_minutes, ..start }, &ty).ok_or_else(overflow)
}
