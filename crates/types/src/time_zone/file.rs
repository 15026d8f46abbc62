//! TZif files (RFC 9636): when a zone's offset changed, and the rule for the time behind the last change.

use super::ZoneOffset;
use crate::datetime::{DAYS_MAX, days_from_ymd, ymd_from_days};

/// Seconds of a day.
const DAY: i64 = 86_400;
/// Days from 0001-01-01 to 1970-01-01.
const EPOCH_DAYS: i64 = 719_162;
/// Bytes of a header.
const HEADER_BYTES: usize = 44;

/// The offsets of a zone.
pub(super) struct Changes {
    /// The offset before the first change: as Windows, which knows of no local mean time, has it.
    first: ZoneOffset,
    /// Seconds since 1970 in UTC, and the offset from then on.
    list: Vec<(i64, ZoneOffset)>,
    rule: Option<Rule>,
}

/// The offsets of every year behind the last change.
struct Rule {
    standard: ZoneOffset,
    summer: Option<Summer>,
}

/// When summer time begins and ends, and its offset.
struct Summer {
    offset: ZoneOffset,
    begin: YearDay,
    end: YearDay,
}

/// A day of a year and a time of it, by the clock that holds until then: seconds, also below zero and beyond a day.
struct YearDay {
    day: DayRule,
    seconds: i64,
}

enum DayRule {
    /// 1 to 365; 29 February is never counted.
    Julian(i32),
    /// 0 to 365.
    OfYear(i32),
    /// The weekday (0 is Sunday) of a week (5 is the last) of a month.
    OfMonth { month: i32, week: i32, weekday: i32 },
}

/// How many there are of each thing in a block.
struct Counts {
    utc_marks: usize,
    standard_marks: usize,
    leaps: usize,
    times: usize,
    types: usize,
    characters: usize,
}

impl Counts {
    fn read(header: &[u8]) -> Option<Counts> {
        let number = |at: usize| Some(u32::from_be_bytes(header.get(at..at + 4)?.try_into().ok()?) as usize);
        (header.get(..4)? == b"TZif").then_some(())?;
        Some(Counts {
            utc_marks: number(20)?,
            standard_marks: number(24)?,
            leaps: number(28)?,
            times: number(32)?,
            types: number(36)?,
            characters: number(40)?,
        })
    }

    /// The bytes of a block whose times have so many.
    fn bytes(&self, time: usize) -> usize {
        let marks = self.utc_marks + self.standard_marks;
        self.times * (time + 1) + self.types * 6 + self.characters + self.leaps * (time + 4) + marks
    }
}

impl Changes {
    /// Reads a file of version 2 or later.
    pub(super) fn read(file: &[u8]) -> Option<Changes> {
        let old = Counts::read(file)?;
        let file = file.get(HEADER_BYTES + old.bytes(4)..)?;
        let counts = Counts::read(file)?;
        let block = file.get(HEADER_BYTES..)?;
        let (times, rest) = block.split_at_checked(counts.times * 8)?;
        let (places, rest) = rest.split_at_checked(counts.times)?;
        let (types, _) = rest.split_at_checked(counts.types * 6)?;
        let type_at = |place: usize| {
            let entry = types.get(place * 6..place * 6 + 6)?;
            let seconds = i32::from_be_bytes(entry[..4].try_into().ok()?);
            Some(ZoneOffset { seconds, is_summer: entry[4] != 0 })
        };
        let mut list = Vec::with_capacity(counts.times);
        for (time, place) in times.chunks_exact(8).zip(places) {
            list.push((i64::from_be_bytes(time.try_into().ok()?), type_at(usize::from(*place))?));
        }
        let footer = std::str::from_utf8(block.get(counts.bytes(8)..)?).ok()?;
        let rule = Rule::parse(footer.trim_matches('\n'));
        let first = rule.as_ref().map_or(type_at(0)?, |rule| rule.standard);
        Some(Changes { first, list, rule })
    }

    /// The offset at a moment, in seconds since 1970.
    pub(super) fn offset_at(&self, moment: i64) -> ZoneOffset {
        let behind = self.list.partition_point(|(from, _)| *from <= moment);
        match (behind, &self.rule) {
            (_, Some(rule)) if behind == self.list.len() => rule.offset_at(moment),
            (0, _) => self.first,
            (behind, _) => self.list[behind - 1].1,
        }
    }
}

impl Rule {
    /// `CET-1CEST,M3.5.0,M10.5.0/3`: the standard offset, that of summer time, when it begins and ends.
    fn parse(text: &str) -> Option<Rule> {
        let mut reader = Reader { rest: text.as_bytes() };
        reader.name()?;
        let west = reader.seconds()?;
        let standard = ZoneOffset { seconds: i32::try_from(-west).ok()?, is_summer: false };
        if reader.rest.is_empty() {
            return Some(Rule { standard, summer: None });
        }
        reader.name()?;
        let west = if reader.rest.first() == Some(&b',') { west - 3600 } else { reader.seconds()? };
        let offset = ZoneOffset { seconds: i32::try_from(-west).ok()?, is_summer: true };
        let (begin, end) = (reader.year_day()?, reader.year_day()?);
        Some(Rule { standard, summer: Some(Summer { offset, begin, end }) })
    }

    fn offset_at(&self, moment: i64) -> ZoneOffset {
        let Some(summer) = &self.summer else { return self.standard };
        let days = (moment + i64::from(self.standard.seconds)).div_euclid(DAY) + EPOCH_DAYS;
        let (year, ..) = ymd_from_days(days.clamp(0, i64::from(DAYS_MAX)) as i32);
        let begin = summer.begin.in_year(year) - i64::from(self.standard.seconds);
        let end = summer.end.in_year(year) - i64::from(summer.offset.seconds);
        // South of the equator summer is at both ends of the year.
        let is_summer = match begin <= end {
            true => (begin..end).contains(&moment),
            false => !(end..begin).contains(&moment),
        };
        if is_summer { summer.offset } else { self.standard }
    }
}

impl YearDay {
    /// The local moment, in seconds since 1970.
    fn in_year(&self, year: i32) -> i64 {
        let day_of = |month: i32, day: i32| i64::from(days_from_ymd(year, month, day).unwrap_or_default());
        let new_year = day_of(1, 1);
        let is_leap = day_of(3, 1) - new_year == 60;
        let days = match self.day {
            DayRule::Julian(day) => new_year + i64::from(day) - 1 + i64::from(is_leap && day >= 60),
            DayRule::OfYear(day) => new_year + i64::from(day),
            DayRule::OfMonth { month, week, weekday } => {
                let first = day_of(month, 1);
                // The first day of all is a Monday.
                let ahead = (i64::from(weekday) - (first + 1)).rem_euclid(7);
                let behind = if month == 12 { new_year + 365 + i64::from(is_leap) } else { day_of(month + 1, 1) };
                let wanted = first + ahead + i64::from(week - 1) * 7;
                if wanted >= behind { wanted - 7 } else { wanted }
            }
        };
        (days - EPOCH_DAYS) * DAY + self.seconds
    }
}

/// Reads a rule.
struct Reader<'t> {
    rest: &'t [u8],
}

impl Reader<'_> {
    fn eat(&mut self, byte: u8) -> bool {
        let found = self.rest.first() == Some(&byte);
        self.rest = &self.rest[usize::from(found)..];
        found
    }

    /// `CET`, `<+0330>`
    fn name(&mut self) -> Option<()> {
        let count = match self.rest.first()? {
            b'<' => self.rest.iter().position(|byte| *byte == b'>')? + 1,
            _ => self.rest.iter().take_while(|byte| byte.is_ascii_alphabetic()).count(),
        };
        self.rest = self.rest.get(count..)?;
        (count > 0).then_some(())
    }

    fn number(&mut self) -> Option<i64> {
        let count = self.rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let (digits, rest) = self.rest.split_at(count);
        self.rest = rest;
        std::str::from_utf8(digits).ok()?.parse().ok()
    }

    /// `[-]hh[:mm[:ss]]`
    fn seconds(&mut self) -> Option<i64> {
        let negative = self.eat(b'-');
        if !negative {
            self.eat(b'+');
        }
        let mut seconds = self.number()? * 3600;
        for unit in [60, 1] {
            if !self.eat(b':') {
                break;
            }
            seconds += self.number()? * unit;
        }
        Some(if negative { -seconds } else { seconds })
    }

    /// `,M3.5.0/3`
    fn year_day(&mut self) -> Option<YearDay> {
        self.eat(b',').then_some(())?;
        let small = |number: i64| i32::try_from(number).ok();
        let day = if self.eat(b'M') {
            let month = small(self.number()?)?;
            self.eat(b'.').then_some(())?;
            let week = small(self.number()?)?;
            self.eat(b'.').then_some(())?;
            DayRule::OfMonth { month, week, weekday: small(self.number()?)? }
        } else if self.eat(b'J') {
            DayRule::Julian(small(self.number()?)?)
        } else {
            DayRule::OfYear(small(self.number()?)?)
        };
        let seconds = if self.eat(b'/') { self.seconds()? } else { 2 * 3600 };
        Some(YearDay { day, seconds })
    }
}
