//! Dates and times: how each type counts, and the calendar they share.
//!
//! Every conversion goes through [`Moment`]: ticks of 100 ns since 0001-01-01 00:00 and, for `datetimeoffset`, an offset.

mod format;
mod hijri;
mod language;
mod parse;
mod part;

pub(crate) use format::{is_style, style_text};
pub use language::Language;
pub use parse::DateFormat;
pub(crate) use parse::{ParseDate, Reading, parse_moment};
pub use part::{DatePart, SUNDAY};
pub(crate) use part::{date_add, date_diff, date_name, date_part, day_of_week, end_of_month};

/// Ticks of 100 ns in a second.
pub(crate) const SECOND: i64 = 10_000_000;
/// Ticks of 100 ns in a day.
pub(crate) const DAY: i64 = 86_400 * SECOND;
/// Days from 0001-01-01 to 1900-01-01.
pub(crate) const DAYS_TO_1900: i32 = 693_595;
/// Days from 0001-01-01 to 9999-12-31.
pub(crate) const DAYS_MAX: i32 = 3_652_058;
/// Ticks of 1/300 s in a day.
pub(crate) const DATETIME_DAY: i64 = 86_400 * 300;
/// The first `datetime`, 1753-01-01, in days from 1900-01-01.
const DATETIME_DAYS_MIN: i64 = -53_690;
/// The last `datetime`, 9999-12-31, in days from 1900-01-01.
const DATETIME_DAYS_MAX: i64 = 2_958_463;

/// The farthest a place is from UTC, in minutes.
const OFFSET_MINUTES_MAX: i16 = 14 * 60;

/// `date`: days since 0001-01-01.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Date(i32);

/// `time`: ticks of 100 ns since midnight.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(i64);

/// `datetime`: ticks of 1/300 s since 1900-01-01.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DateTime(i64);

/// `smalldatetime`: minutes since 1900-01-01.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SmallDateTime(i32);

/// `datetime2`: ticks of 100 ns since 0001-01-01.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DateTime2(i64);

/// `datetimeoffset`: ticks of 100 ns since 0001-01-01 in UTC, and the offset of the place. Compared by UTC.
#[derive(Debug, Clone, Copy)]
pub struct DateTimeOffset {
    utc_ticks: i64,
    offset_minutes: i16,
}

impl Date {
    /// From days since 0001-01-01; `None` outside the years 1 to 9999.
    pub fn from_days(days: i32) -> Option<Date> {
        (0..=DAYS_MAX).contains(&days).then_some(Date(days))
    }

    /// From a year, month and day of the Gregorian calendar.
    pub fn from_ymd(year: i32, month: i32, day: i32) -> Option<Date> {
        days_from_ymd(year, month, day).map(Date)
    }

    /// Days since 0001-01-01.
    pub fn days(self) -> i32 {
        self.0
    }

    /// Year, month and day.
    pub fn ymd(self) -> (i32, i32, i32) {
        ymd_from_days(self.0)
    }
}

impl Time {
    /// From ticks of 100 ns since midnight; `None` from 24 hours on.
    pub fn from_ticks(ticks: i64) -> Option<Time> {
        (0..DAY).contains(&ticks).then_some(Time(ticks))
    }

    /// Ticks of 100 ns since midnight.
    pub fn ticks(self) -> i64 {
        self.0
    }
}

impl DateTime {
    /// From ticks of 1/300 s since 1900-01-01; `None` outside 1753-01-01 to 9999-12-31.
    #[inline]
    pub fn from_ticks(ticks: i64) -> Option<DateTime> {
        let valid = DATETIME_DAYS_MIN * DATETIME_DAY..(DATETIME_DAYS_MAX + 1) * DATETIME_DAY;
        valid.contains(&ticks).then_some(DateTime(ticks))
    }

    /// Ticks of 1/300 s since 1900-01-01.
    #[inline]
    pub fn ticks(self) -> i64 {
        self.0
    }

    /// The nearest `datetime` to a moment, which ends in .000, .003 or .007 s; `None` outside the type's range.
    #[inline]
    pub fn from_moment(moment: Moment) -> Option<DateTime> {
        let since_1900 = moment.ticks - i64::from(DAYS_TO_1900) * DAY;
        // A day has a whole number of both kinds of ticks, so it needs no look of its own.
        DateTime::from_ticks((since_1900.checked_mul(3)? + 50_000).div_euclid(100_000))
    }

    /// The moment it names, to 100 ns (so that .003 is .0033333).
    pub fn moment(self) -> Moment {
        let (days, ticks) = (self.0.div_euclid(DATETIME_DAY), self.0.rem_euclid(DATETIME_DAY));
        Moment::local((days + i64::from(DAYS_TO_1900)) * DAY + (ticks * 100_000 + 1) / 3)
    }
}

impl SmallDateTime {
    /// From minutes since 1900-01-01; `None` outside 1900-01-01 to 2079-06-06.
    pub fn from_minutes(minutes: i32) -> Option<SmallDateTime> {
        (0..65_536 * 1440).contains(&minutes).then_some(SmallDateTime(minutes))
    }

    /// Minutes since 1900-01-01.
    pub fn minutes(self) -> i32 {
        self.0
    }

    /// The nearest minute to a moment, by its milliseconds: up to 29.998 s round down, from 29.999 s on up.
    pub fn from_moment(moment: Moment) -> Option<SmallDateTime> {
        let since_1900 = moment.ticks - i64::from(DAYS_TO_1900) * DAY;
        let milliseconds = (since_1900 + 5_000).div_euclid(10_000);
        let minutes = (milliseconds + 30_001).div_euclid(60_000);
        i32::try_from(minutes).ok().and_then(SmallDateTime::from_minutes)
    }

    /// The moment it names.
    pub fn moment(self) -> Moment {
        Moment::local(i64::from(DAYS_TO_1900) * DAY + i64::from(self.0) * 60 * SECOND)
    }
}

impl DateTime2 {
    /// From ticks of 100 ns since 0001-01-01; `None` outside the years 1 to 9999.
    pub fn from_ticks(ticks: i64) -> Option<DateTime2> {
        (0..(i64::from(DAYS_MAX) + 1) * DAY).contains(&ticks).then_some(DateTime2(ticks))
    }

    /// Ticks of 100 ns since 0001-01-01.
    pub fn ticks(self) -> i64 {
        self.0
    }
}

impl DateTimeOffset {
    /// From ticks of 100 ns since 0001-01-01 in UTC and an offset; `None` outside the years 1 to 9999 (in UTC or local
    /// time) or an offset beyond 14 hours.
    pub fn new(utc_ticks: i64, offset_minutes: i16) -> Option<DateTimeOffset> {
        let valid = 0..(i64::from(DAYS_MAX) + 1) * DAY;
        let local = utc_ticks.checked_add(i64::from(offset_minutes) * 60 * SECOND)?;
        let inside = valid.contains(&utc_ticks)
            && valid.contains(&local)
            && (-OFFSET_MINUTES_MAX..=OFFSET_MINUTES_MAX).contains(&offset_minutes);
        inside.then_some(DateTimeOffset { utc_ticks, offset_minutes })
    }

    /// Ticks of 100 ns since 0001-01-01 in UTC.
    pub fn utc_ticks(self) -> i64 {
        self.utc_ticks
    }

    /// Minutes to add to UTC for the local time.
    pub fn offset_minutes(self) -> i16 {
        self.offset_minutes
    }

    /// The local moment with its offset.
    pub fn moment(self) -> Moment {
        Moment {
            ticks: self.utc_ticks + i64::from(self.offset_minutes) * 60 * SECOND,
            offset_minutes: Some(self.offset_minutes),
        }
    }
}

impl PartialEq for DateTimeOffset {
    fn eq(&self, other: &DateTimeOffset) -> bool {
        self.utc_ticks == other.utc_ticks
    }
}

impl Eq for DateTimeOffset {}

impl PartialOrd for DateTimeOffset {
    fn partial_cmp(&self, other: &DateTimeOffset) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for DateTimeOffset {
    fn cmp(&self, other: &DateTimeOffset) -> std::cmp::Ordering {
        self.utc_ticks.cmp(&other.utc_ticks)
    }
}

/// A local point in time that any type can be made from: ticks of 100 ns since 0001-01-01, perhaps with an offset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moment {
    /// Ticks of 100 ns since 0001-01-01, local time.
    pub ticks: i64,
    /// Minutes ahead of UTC, where known.
    pub offset_minutes: Option<i16>,
}

impl Moment {
    /// A moment without an offset.
    pub fn local(ticks: i64) -> Moment {
        Moment { ticks, offset_minutes: None }
    }

    /// Days since 0001-01-01.
    pub(crate) fn days(self) -> i32 {
        self.ticks.div_euclid(DAY) as i32
    }

    /// Ticks since midnight.
    pub(crate) fn time_ticks(self) -> i64 {
        self.ticks.rem_euclid(DAY)
    }

    /// Rounded to `scale` digits of a second.
    pub(crate) fn rounded(self, scale: u8) -> Moment {
        Moment { ticks: round_ticks(self.ticks, scale), ..self }
    }

    /// Rounded likewise, but cut off where rounding up would reach `end`, a whole second.
    pub(crate) fn rounded_before(self, scale: u8, end: i64) -> Moment {
        let rounded = self.rounded(scale);
        if rounded.ticks < end {
            return rounded;
        }
        let unit = unit(scale);
        Moment { ticks: self.ticks.div_euclid(unit) * unit, ..self }
    }
}

/// Ticks rounded to `scale` digits of a second, half up.
pub(crate) fn round_ticks(ticks: i64, scale: u8) -> i64 {
    let unit = unit(scale);
    (ticks + unit / 2).div_euclid(unit) * unit
}

/// The ticks that the last of `scale` digits of a second stands for.
fn unit(scale: u8) -> i64 {
    10i64.pow(7 - u32::from(scale.min(7)))
}

/// Whether a year has a 29th of February.
pub(crate) fn is_leap(year: i32) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

/// Days of a month, 1 to 12.
pub(crate) fn days_in_month(year: i32, month: i32) -> i32 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if is_leap(year) => 29,
        2 => 28,
        _ => 31,
    }
}

/// Days since 0001-01-01; `None` when there is no such day in the years 1 to 9999.
pub(crate) fn days_from_ymd(year: i32, month: i32, day: i32) -> Option<i32> {
    let valid = (1..=9999).contains(&year) && (1..=12).contains(&month) && (1..=31).contains(&day);
    if !valid || day > days_in_month(year, month) {
        return None;
    }
    // Years that begin in March put the leap day last.
    let (y, m) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    Some(365 * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + day - 1 - 306)
}

/// Year, month and day of a count of days since 0001-01-01.
pub(crate) fn ymd_from_days(days: i32) -> (i32, i32, i32) {
    let shifted = days + 306;
    let (era, day_of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let m = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * m + 2) / 5 + 1;
    let month = if m < 10 { m + 3 } else { m - 9 };
    (era * 400 + year_of_era + i32::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_calendar_round_trips_every_day() {
        let mut expected = (1, 1, 1);
        for days in 0..=DAYS_MAX {
            assert_eq!(ymd_from_days(days), expected);
            let (y, m, d) = expected;
            assert_eq!(days_from_ymd(y, m, d), Some(days));
            expected = if d < days_in_month(y, m) {
                (y, m, d + 1)
            } else if m < 12 {
                (y, m + 1, 1)
            } else {
                (y + 1, 1, 1)
            };
        }
        assert_eq!(expected, (10_000, 1, 1));
        assert_eq!(days_from_ymd(1900, 1, 1), Some(DAYS_TO_1900));
        assert_eq!(days_from_ymd(1753, 1, 1).map(|d| i64::from(d - DAYS_TO_1900)), Some(DATETIME_DAYS_MIN));
        assert_eq!(i64::from(DAYS_MAX - DAYS_TO_1900), DATETIME_DAYS_MAX);
        assert_eq!(days_from_ymd(2023, 2, 29), None);
    }

    #[test]
    fn every_datetime_tick_survives_a_round_trip() {
        for tick in (0..DATETIME_DAY).step_by(7).chain(DATETIME_DAY - 5..DATETIME_DAY) {
            let value = DateTime::from_ticks(tick - DATETIME_DAY).expect("in range");
            assert_eq!(DateTime::from_moment(value.moment()), Some(value));
        }
    }

    #[test]
    fn types_have_bounds() {
        assert_eq!(DateTime::from_ticks(DATETIME_DAYS_MIN * DATETIME_DAY - 1), None);
        assert_eq!(SmallDateTime::from_minutes(-1), None);
        assert_eq!(Time::from_ticks(DAY), None);
        assert_eq!(Date::from_days(DAYS_MAX + 1), None);
        assert!(DateTimeOffset::new(0, -60).is_none());
        assert!(DateTimeOffset::new(DAY, -60).is_some());
        for (offset, is_one) in [(840, true), (-840, true), (841, false), (-841, false), (i16::MIN, false)] {
            assert_eq!(DateTimeOffset::new(100 * DAY, offset).is_some(), is_one, "{offset}");
        }
    }
}
