//! Parts of dates: DATEPART, DATENAME, DATEADD, DATEDIFF.

use super::{DAY, Language, Moment, SECOND, days_from_ymd, days_in_month, ymd_from_days};

/// A part of a date or time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DatePart {
    /// `year`, `yy`, `yyyy`.
    Year,
    /// `quarter`, `qq`, `q`.
    Quarter,
    /// `month`, `mm`, `m`.
    Month,
    /// `dayofyear`, `dy`, `y`.
    DayOfYear,
    /// `day`, `dd`, `d`.
    Day,
    /// `week`, `wk`, `ww`: weeks begin on the first day that DATEFIRST says.
    Week,
    /// `weekday`, `dw`, `w`: 1 is the first day that DATEFIRST says.
    Weekday,
    /// `iso_week`, `isowk`, `isoww`.
    IsoWeek,
    /// `hour`, `hh`.
    Hour,
    /// `minute`, `mi`, `n`.
    Minute,
    /// `second`, `ss`, `s`.
    Second,
    /// `millisecond`, `ms`.
    Millisecond,
    /// `microsecond`, `mcs`.
    Microsecond,
    /// `nanosecond`, `ns`.
    Nanosecond,
    /// `tzoffset`, `tz`: minutes.
    Offset,
}

use DatePart::*;

impl DatePart {
    /// A part by its name or abbreviation, upper or lower case.
    pub fn by_name(name: &str) -> Option<DatePart> {
        Some(match name.to_ascii_lowercase().as_str() {
            "year" | "yy" | "yyyy" => Year,
            "quarter" | "qq" | "q" => Quarter,
            "month" | "mm" | "m" => Month,
            "dayofyear" | "dy" | "y" => DayOfYear,
            "day" | "dd" | "d" => Day,
            "week" | "wk" | "ww" => Week,
            "weekday" | "dw" | "w" => Weekday,
            "iso_week" | "isowk" | "isoww" => IsoWeek,
            "hour" | "hh" => Hour,
            "minute" | "mi" | "n" => Minute,
            "second" | "ss" | "s" => Second,
            "millisecond" | "ms" => Millisecond,
            "microsecond" | "mcs" => Microsecond,
            "nanosecond" | "ns" => Nanosecond,
            "tzoffset" | "tz" => Offset,
            _ => return None,
        })
    }

    /// The part's full name.
    pub fn name(self) -> &'static str {
        match self {
            Year => "year",
            Quarter => "quarter",
            Month => "month",
            DayOfYear => "dayofyear",
            Day => "day",
            Week => "week",
            Weekday => "weekday",
            IsoWeek => "iso_week",
            Hour => "hour",
            Minute => "minute",
            Second => "second",
            Millisecond => "millisecond",
            Microsecond => "microsecond",
            Nanosecond => "nanosecond",
            Offset => "tzoffset",
        }
    }

    /// Whether it is part of a time of day.
    pub(crate) fn is_of_time(self) -> bool {
        matches!(self, Hour | Minute | Second | Millisecond | Microsecond | Nanosecond)
    }

    /// Ticks of 100 ns in one of it, for the parts that always last equally long; nanoseconds have none.
    fn ticks(self) -> Option<i64> {
        Some(match self {
            Week => 7 * DAY,
            DayOfYear | Day | Weekday => DAY,
            Hour => 3600 * SECOND,
            Minute => 60 * SECOND,
            Second => SECOND,
            Millisecond => SECOND / 1000,
            Microsecond => SECOND / 1_000_000,
            _ => return None,
        })
    }
}

/// DATEPART. `date_first`: the first day of weeks, 1 is Monday.
pub(crate) fn date_part(part: DatePart, moment: Moment, date_first: u8) -> i32 {
    let days = moment.days();
    let (year, month, day) = ymd_from_days(days);
    let ticks = moment.time_ticks();
    let new_year = days_from_ymd(year, 1, 1).unwrap_or(days);
    match part {
        Year => year,
        Quarter => (month + 2) / 3,
        Month => month,
        Day => day,
        DayOfYear => days - new_year + 1,
        Week => week_number(days, date_first) - week_number(new_year, date_first) + 1,
        Weekday => day_of_week(days, date_first) + 1,
        IsoWeek => iso_week(days),
        Hour => (ticks / (3600 * SECOND)) as i32,
        Minute => (ticks / (60 * SECOND) % 60) as i32,
        Second => (ticks / SECOND % 60) as i32,
        Millisecond => (ticks % SECOND / 10_000) as i32,
        Microsecond => (ticks % SECOND / 10) as i32,
        Nanosecond => (ticks % SECOND * 100) as i32,
        Offset => i32::from(moment.offset_minutes.unwrap_or(0)),
    }
}

/// DATENAME: the number of the part, the name of months and weekdays.
pub(crate) fn date_name(part: DatePart, moment: Moment, date_first: u8, language: &Language) -> String {
    match part {
        Month => language.month_of(moment.days()).to_owned(),
        Weekday => language.weekday(moment.days()).to_owned(),
        Offset => {
            let offset = moment.offset_minutes.unwrap_or(0);
            let sign = if offset < 0 { '-' } else { '+' };
            format!("{sign}{:02}:{:02}", offset.abs() / 60, offset.abs() % 60)
        }
        _ => date_part(part, moment, date_first).to_string(),
    }
}

/// DATEFIRST of a session that has not set it: weeks begin on Sunday.
pub const SUNDAY: u8 = 7;

/// Days since the first day of the week. The first day of all is a Monday.
pub(crate) fn day_of_week(days: i32, date_first: u8) -> i32 {
    (days + 1 - i32::from(date_first)).rem_euclid(7)
}

/// Weeks, counted from some week on.
fn week_number(days: i32, date_first: u8) -> i32 {
    (days + 1 - i32::from(date_first)).div_euclid(7)
}

/// The week of ISO 8601: the one that holds the year's first Thursday is 1.
fn iso_week(days: i32) -> i32 {
    let thursday = days - days.rem_euclid(7) + 3;
    let (year, ..) = ymd_from_days(thursday);
    (thursday - days_from_ymd(year, 1, 1).unwrap_or(thursday)) / 7 + 1
}

/// DATEADD: `None` outside the years 1 to 9999. A month that is too short for the day gives its last day.
pub(crate) fn date_add(part: DatePart, count: i64, moment: Moment) -> Option<Moment> {
    let months = match part {
        Year => count.checked_mul(12)?,
        Quarter => count.checked_mul(3)?,
        Month => count,
        Nanosecond => {
            let ticks = moment.ticks.checked_add(count.saturating_add(50 * count.signum()) / 100)?;
            return in_calendar(Moment { ticks, ..moment });
        }
        _ => {
            let ticks = moment.ticks.checked_add(count.checked_mul(part.ticks()?)?)?;
            return in_calendar(Moment { ticks, ..moment });
        }
    };
    let (year, month, day) = ymd_from_days(moment.days());
    let all = (i64::from(year) * 12 + i64::from(month - 1)).checked_add(months)?;
    let (year, month) = (i32::try_from(all.div_euclid(12)).ok()?, all.rem_euclid(12) as i32 + 1);
    let days = days_from_ymd(year, month, day.min(days_in_month(year, month)))?;
    Some(Moment { ticks: i64::from(days) * DAY + moment.time_ticks(), ..moment })
}

fn in_calendar(moment: Moment) -> Option<Moment> {
    super::DateTime2::from_ticks(moment.ticks).map(|_| moment)
}

/// DATEDIFF: boundaries of the part that lie between two moments; `None` when they are too many to count. Weeks begin on Sunday,
/// whatever DATEFIRST says.
pub(crate) fn date_diff(part: DatePart, from: Moment, to: Moment) -> Option<i64> {
    let months = |moment: Moment| {
        let (year, month, _) = ymd_from_days(moment.days());
        i64::from(year * 12 + month - 1)
    };
    Some(match part {
        Year => months(to) / 12 - months(from) / 12,
        Quarter => months(to) / 3 - months(from) / 3,
        Month => months(to) - months(from),
        Week | IsoWeek => i64::from(week_number(to.days(), SUNDAY) - week_number(from.days(), SUNDAY)),
        Nanosecond => (to.ticks - from.ticks).checked_mul(100)?,
        Offset => return None,
        _ => {
            let unit = part.ticks()?;
            to.ticks.div_euclid(unit) - from.ticks.div_euclid(unit)
        }
    })
}

/// The last day of the month that lies `months` after a day's; days since 0001-01-01.
pub(crate) fn end_of_month(days: i32, months: i64) -> Option<i32> {
    let first = date_add(Month, months, Moment::local(i64::from(days) * DAY))?;
    let (year, month, _) = ymd_from_days(first.days());
    days_from_ymd(year, month, days_in_month(year, month))
}
