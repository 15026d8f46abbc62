//! Types of well-known crates as values, each behind the feature of its crate's name.
//!
//! | feature | Rust | value |
//! |---|---|---|
//! | `chrono` | `NaiveDate`, `NaiveTime`, `NaiveDateTime` | `date`, `time`, `datetime2` |
//! | | `DateTime<Tz>`; back as `DateTime<Utc>`, `DateTime<FixedOffset>` | `datetimeoffset` |
//! | `jiff` | `civil::Date`, `civil::Time`, `civil::DateTime` | `date`, `time`, `datetime2` |
//! | | `Timestamp`, `ZonedDateTime`, which comes back with its offset as its zone | `datetimeoffset` |
//! | `uuid` | `Uuid` | `uniqueidentifier` |
//! | `rust_decimal` | `Decimal`; back also from integers and `money` | `decimal` |
//!
//! Times are cut to the 100 ns that T-SQL counts in. What is outside its range, the years 1 to 9999 and offsets of whole minutes up to 14
//! hours, is refused. A civil `DateTime` also reads `datetime` and `smalldatetime`.

#![cfg_attr(not(any(feature = "chrono", feature = "jiff", feature = "uuid", feature = "rust_decimal")), allow(unused))]

use crate::{Date, DateTime2, DateTimeOffset, Error, FromSql, SqlType, Time, ToSql, Value};

/// Ticks of 100 ns in a second and in a day.
const SECOND: i64 = 10_000_000;
const DAY: i64 = 86_400 * SECOND;
/// Days from 0001-01-01 to 1970-01-01.
const DAYS_TO_1970: i64 = 719_162;
/// The last nanosecond of a second; a leap second counts as it.
const NANOSECOND_MAX: u32 = 999_999_999;

fn out_of_range<T: std::fmt::Debug>(value: &T, ty: &str) -> Error {
    Error::Usage(format!("{value:?} is out of the range of {ty}"))
}

/// Ticks of a time of day.
fn time_ticks(seconds: u32, nanoseconds: u32) -> i64 {
    i64::from(seconds) * SECOND + i64::from(nanoseconds.min(NANOSECOND_MAX) / 100)
}

/// Seconds and nanoseconds of ticks within a day, or since some moment.
fn seconds(ticks: i64) -> (i64, u32) {
    (ticks.div_euclid(SECOND), (ticks.rem_euclid(SECOND) * 100) as u32)
}

/// A moment in UTC and an offset in seconds.
fn with_offset(utc_ticks: i64, offset_seconds: i32) -> Option<Value> {
    let minutes = (offset_seconds % 60 == 0).then_some(offset_seconds / 60)?;
    DateTimeOffset::new(utc_ticks, i16::try_from(minutes).ok()?).map(Value::DateTimeOffset)
}

#[cfg(feature = "chrono")]
mod of_chrono {
    use super::*;
    use chrono::{
        DateTime, Datelike, FixedOffset, NaiveDate, NaiveDateTime, NaiveTime, Offset, TimeZone, Timelike, Utc,
    };

    fn date(days: i64) -> Option<NaiveDate> {
        NaiveDate::from_num_days_from_ce_opt(i32::try_from(days + 1).ok()?)
    }

    fn time(ticks: i64) -> Option<NaiveTime> {
        let (seconds, nanoseconds) = seconds(ticks);
        NaiveTime::from_num_seconds_from_midnight_opt(seconds.try_into().ok()?, nanoseconds)
    }

    fn date_time(ticks: i64) -> Option<NaiveDateTime> {
        Some(date(ticks.div_euclid(DAY))?.and_time(time(ticks.rem_euclid(DAY))?))
    }

    /// Ticks since 0001-01-01; `None` on days that T-SQL does not have, whose ticks may have no number.
    fn ticks(value: NaiveDateTime) -> Option<i64> {
        let day = Date::from_days(value.date().num_days_from_ce() - 1)?;
        Some(i64::from(day.days()) * DAY + time_ticks(value.num_seconds_from_midnight(), value.nanosecond()))
    }

    impl ToSql for NaiveDate {
        const TYPE: SqlType = SqlType::Date;

        fn to_sql(self) -> Result<Value, Error> {
            let days = self.num_days_from_ce() - 1;
            Date::from_days(days).map(Value::Date).ok_or_else(|| out_of_range(&self, "date"))
        }
    }

    impl ToSql for NaiveTime {
        const TYPE: SqlType = SqlType::Time(7);

        fn to_sql(self) -> Result<Value, Error> {
            let ticks = time_ticks(self.num_seconds_from_midnight(), self.nanosecond());
            Time::from_ticks(ticks).map(Value::Time).ok_or_else(|| out_of_range(&self, "time"))
        }
    }

    impl ToSql for NaiveDateTime {
        const TYPE: SqlType = SqlType::DateTime2(7);

        fn to_sql(self) -> Result<Value, Error> {
            let moment = ticks(self).and_then(DateTime2::from_ticks);
            moment.map(Value::DateTime2).ok_or_else(|| out_of_range(&self, "datetime2"))
        }
    }

    impl<Tz: TimeZone> ToSql for DateTime<Tz> {
        const TYPE: SqlType = SqlType::DateTimeOffset(7);

        fn to_sql(self) -> Result<Value, Error> {
            let offset = self.offset().fix().local_minus_utc();
            let moment = ticks(self.naive_utc()).and_then(|ticks| with_offset(ticks, offset));
            moment.ok_or_else(|| out_of_range(&self, "datetimeoffset"))
        }
    }

    impl FromSql for NaiveDate {
        fn from_sql(value: &Value) -> Option<Self> {
            date(Date::try_from(value).ok()?.days().into())
        }
    }

    impl FromSql for NaiveTime {
        fn from_sql(value: &Value) -> Option<Self> {
            time(Time::try_from(value).ok()?.ticks())
        }
    }

    impl FromSql for NaiveDateTime {
        fn from_sql(value: &Value) -> Option<Self> {
            date_time(DateTime2::try_from(value).ok()?.ticks())
        }
    }

    impl FromSql for DateTime<Utc> {
        fn from_sql(value: &Value) -> Option<Self> {
            Some(date_time(DateTimeOffset::try_from(value).ok()?.utc_ticks())?.and_utc())
        }
    }

    impl FromSql for DateTime<FixedOffset> {
        fn from_sql(value: &Value) -> Option<Self> {
            let moment = DateTimeOffset::try_from(value).ok()?;
            let offset = FixedOffset::east_opt(i32::from(moment.offset_minutes()) * 60)?;
            Some(offset.from_utc_datetime(&date_time(moment.utc_ticks())?))
        }
    }
}

#[cfg(feature = "jiff")]
mod of_jiff {
    use super::*;
    use jiff::tz::{Offset, TimeZone};
    use jiff::{Timestamp, ZonedDateTime, civil};

    fn date(days: i32) -> Option<civil::Date> {
        let (year, month, day) = Date::from_days(days)?.ymd();
        civil::Date::new(year.try_into().ok()?, month.try_into().ok()?, day.try_into().ok()?).ok()
    }

    fn time(ticks: i64) -> Option<civil::Time> {
        let (seconds, nanoseconds) = seconds(ticks);
        let part = |number: i64| i8::try_from(number).ok();
        let (hour, minute, second) = (part(seconds / 3600)?, part(seconds / 60 % 60)?, part(seconds % 60)?);
        civil::Time::new(hour, minute, second, nanoseconds.try_into().ok()?).ok()
    }

    fn days(value: civil::Date) -> Option<i32> {
        Date::from_ymd(value.year().into(), value.month().into(), value.day().into()).map(Date::days)
    }

    fn ticks_of_day(value: civil::Time) -> i64 {
        let seconds = (i64::from(value.hour()) * 60 + i64::from(value.minute())) * 60 + i64::from(value.second());
        seconds * SECOND + i64::from(value.subsec_nanosecond()) / 100
    }

    fn utc_ticks(value: Timestamp) -> Option<i64> {
        let ticks = value.as_nanosecond().div_euclid(100) + i128::from(DAYS_TO_1970 * DAY);
        i64::try_from(ticks).ok()
    }

    fn timestamp(utc_ticks: i64) -> Option<Timestamp> {
        Timestamp::from_nanosecond(i128::from(utc_ticks - DAYS_TO_1970 * DAY) * 100).ok()
    }

    impl ToSql for civil::Date {
        const TYPE: SqlType = SqlType::Date;

        fn to_sql(self) -> Result<Value, Error> {
            let date = days(self).and_then(Date::from_days);
            date.map(Value::Date).ok_or_else(|| out_of_range(&self, "date"))
        }
    }

    impl ToSql for civil::Time {
        const TYPE: SqlType = SqlType::Time(7);

        fn to_sql(self) -> Result<Value, Error> {
            Time::from_ticks(ticks_of_day(self)).map(Value::Time).ok_or_else(|| out_of_range(&self, "time"))
        }
    }

    impl ToSql for civil::DateTime {
        const TYPE: SqlType = SqlType::DateTime2(7);

        fn to_sql(self) -> Result<Value, Error> {
            let ticks = days(self.date()).map(|days| i64::from(days) * DAY + ticks_of_day(self.time()));
            let moment = ticks.and_then(DateTime2::from_ticks);
            moment.map(Value::DateTime2).ok_or_else(|| out_of_range(&self, "datetime2"))
        }
    }

    impl ToSql for Timestamp {
        const TYPE: SqlType = SqlType::DateTimeOffset(7);

        fn to_sql(self) -> Result<Value, Error> {
            let moment = utc_ticks(self).and_then(|ticks| with_offset(ticks, 0));
            moment.ok_or_else(|| out_of_range(&self, "datetimeoffset"))
        }
    }

    impl ToSql for ZonedDateTime {
        const TYPE: SqlType = SqlType::DateTimeOffset(7);

        fn to_sql(self) -> Result<Value, Error> {
            let offset = self.offset().seconds();
            let moment = utc_ticks(self.timestamp()).and_then(|ticks| with_offset(ticks, offset));
            moment.ok_or_else(|| out_of_range(&self, "datetimeoffset"))
        }
    }

    impl FromSql for civil::Date {
        fn from_sql(value: &Value) -> Option<Self> {
            date(Date::try_from(value).ok()?.days())
        }
    }

    impl FromSql for civil::Time {
        fn from_sql(value: &Value) -> Option<Self> {
            time(Time::try_from(value).ok()?.ticks())
        }
    }

    impl FromSql for civil::DateTime {
        fn from_sql(value: &Value) -> Option<Self> {
            let ticks = DateTime2::try_from(value).ok()?.ticks();
            let date = date(ticks.div_euclid(DAY).try_into().ok()?)?;
            Some(date.to_datetime(time(ticks.rem_euclid(DAY))?))
        }
    }

    impl FromSql for Timestamp {
        fn from_sql(value: &Value) -> Option<Self> {
            timestamp(DateTimeOffset::try_from(value).ok()?.utc_ticks())
        }
    }

    impl FromSql for ZonedDateTime {
        fn from_sql(value: &Value) -> Option<Self> {
            let moment = DateTimeOffset::try_from(value).ok()?;
            let offset = Offset::from_seconds(i32::from(moment.offset_minutes()) * 60).ok()?;
            Some(timestamp(moment.utc_ticks())?.to_zoned_datetime(TimeZone::fixed(offset)))
        }
    }
}

#[cfg(feature = "uuid")]
mod of_uuid {
    use super::*;
    use uuid::Uuid;

    impl ToSql for Uuid {
        const TYPE: SqlType = SqlType::UniqueIdentifier;

        fn to_sql(self) -> Result<Value, Error> {
            Ok(Value::Guid(self.to_bytes_le()))
        }
    }

    impl FromSql for Uuid {
        fn from_sql(value: &Value) -> Option<Self> {
            match value {
                Value::Guid(bytes) => Some(Uuid::from_bytes_le(*bytes)),
                _ => None,
            }
        }
    }
}

#[cfg(feature = "rust_decimal")]
mod of_rust_decimal {
    use super::*;
    use rust_decimal::Decimal;

    /// Digits behind the point of `money`.
    const MONEY_SCALE: u32 = 4;

    impl ToSql for Decimal {
        const TYPE: SqlType = crate::parameter::NULL_DECIMAL;

        fn to_sql(self) -> Result<Value, Error> {
            let digits = self.mantissa().unsigned_abs().checked_ilog10().map_or(1, |power| power + 1);
            let scale = self.scale();
            let decimal = match (u8::try_from(digits.max(scale)), u8::try_from(scale)) {
                (Ok(precision), Ok(scale)) => crate::Decimal::new(self.mantissa(), precision, scale),
                _ => None,
            };
            decimal.map(Value::Decimal).ok_or_else(|| out_of_range(&self, "decimal"))
        }
    }

    impl FromSql for Decimal {
        fn from_sql(value: &Value) -> Option<Self> {
            let (mantissa, scale) = match value {
                Value::Decimal(decimal) => (decimal.mantissa(), decimal.scale().into()),
                Value::Money(units) => (i128::from(*units), MONEY_SCALE),
                Value::SmallMoney(units) => (i128::from(*units), MONEY_SCALE),
                other => (i128::try_from(other).ok()?, 0),
            };
            Decimal::try_from_i128_with_scale(mantissa, scale).ok()
        }
    }
}
