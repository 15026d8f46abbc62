//! Reading dates and times from text.
//!
//! Understood: `yyyymmdd`, `yymmdd`, `yyyy`; numbers with `-`, `/` or `.` between them, the year first when it has four
//! digits, else in the order of the style, or of the session without one; a month's name with a day and a year in any
//! order; a time `hh:mm[:ss[.fffffff]]` or `hh AM` with or without a date; ISO 8601 with a `T`, a `Z` or an offset.

use super::format::is_hijri;
use super::{DAY, DAYS_TO_1900, Language, Moment, SECOND, days_from_ymd, hijri};

/// What was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ParsedMoment {
    pub moment: Moment,
    /// Digits written after the seconds: the older types take three at most.
    pub fraction_digits: u8,
}

/// Why a text is no date.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ParseDate {
    Syntax,
    /// It has the form of a date, but there is no such day or time.
    OutOfRange,
    /// A style that is not known.
    Style(i32),
    /// It is a date, and not in the style asked for.
    OtherStyle(i32),
}

/// DATEFORMAT: in which order the three numbers of a date stand, where none of them says by its digits that it is the year.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DateFormat {
    /// Month, day, year.
    #[default]
    Mdy,
    /// Month, year, day.
    Myd,
    /// Day, month, year.
    Dmy,
    /// Day, year, month.
    Dym,
    /// Year, month, day.
    Ymd,
    /// Year, day, month; of the older types only.
    Ydm,
}

impl DateFormat {
    const ALL: [DateFormat; 6] =
        [DateFormat::Mdy, DateFormat::Myd, DateFormat::Dmy, DateFormat::Dym, DateFormat::Ymd, DateFormat::Ydm];

    /// The format of a name, in any case.
    pub fn by_name(name: &str) -> Option<DateFormat> {
        Self::ALL.into_iter().find(|format| format.name().eq_ignore_ascii_case(name))
    }

    /// As SET DATEFORMAT spells it.
    pub fn name(self) -> &'static str {
        match self {
            DateFormat::Mdy => "mdy",
            DateFormat::Myd => "myd",
            DateFormat::Dmy => "dmy",
            DateFormat::Dym => "dym",
            DateFormat::Ymd => "ymd",
            DateFormat::Ydm => "ydm",
        }
    }

    /// Whether a text is one date in one format or language and another, or none, in another.
    pub fn matters_to(text: &str) -> bool {
        [true, false].into_iter().any(|to_old_type| {
            let read = |format, language| parse_moment(text, None, Reading { format, to_old_type, language });
            let first = read(DateFormat::Mdy, Language::ENGLISH);
            Self::ALL.into_iter().any(|format| read(format, Language::ENGLISH) != first)
                || Language::all().iter().any(|language| read(DateFormat::Mdy, language) != first)
        })
    }

    /// Which of the three numbers is the year, from 0.
    fn place_of_year(self) -> usize {
        match self {
            DateFormat::Ymd | DateFormat::Ydm => 0,
            DateFormat::Myd | DateFormat::Dym => 1,
            DateFormat::Mdy | DateFormat::Dmy => 2,
        }
    }

    fn is_month_first(self) -> bool {
        matches!(self, DateFormat::Mdy | DateFormat::Myd | DateFormat::Ymd)
    }
}

/// How a text is read that is converted without a style.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Reading {
    /// The session's.
    pub format: DateFormat,
    /// Whether it becomes a `datetime` or `smalldatetime`: there the format says also what follows a year of four digits.
    pub to_old_type: bool,
    /// The session's, for the names of months.
    pub language: &'static Language,
}

/// The format of a style; none when the session's holds.
fn format_of(style: Option<i32>) -> Result<Option<DateFormat>, ParseDate> {
    Ok(match style.unwrap_or(0) {
        0 | 100 => None,
        1 | 101 | 7 | 107 | 8 | 108 | 9 | 109 | 10 | 110 | 14 | 114 | 22 | 24 => Some(DateFormat::Mdy),
        3..=6 | 103..=106 | 13 | 113 | 130 | 131 => Some(DateFormat::Dmy),
        2 | 102 | 11 | 111 | 12 | 112 | 20 | 21 | 23 | 25 | 120 | 121 | 126 | 127 => Some(DateFormat::Ymd),
        style => return Err(ParseDate::Style(style)),
    })
}

/// Reads a date, a time or both. An empty text is 1900-01-01 00:00, a time alone is on that day, a date alone at 00:00.
pub(crate) fn parse_moment(text: &str, style: Option<i32>, reading: Reading) -> Result<ParsedMoment, ParseDate> {
    let whole_style = style.filter(|style| matches!(style, 12 | 112) && !reading.to_old_type);
    let reading = match format_of(style)? {
        Some(format) => Reading { format, to_old_type: false, ..reading },
        None => reading,
    };
    let hijri = style.is_some_and(is_hijri);
    let numbered = if hijri { hijri::without_name(text) } else { None };
    let text = numbered.as_deref().unwrap_or(text);
    let days_first = reading.format == DateFormat::Dmy && !matches!(style.unwrap_or(0), 0 | 100);
    let mut reader = Reader {
        rest: text.as_bytes(),
        reading,
        days_first,
        hijri,
        whole_style,
        date: None,
        month: None,
        numbers: Numbers::default(),
        time: None,
    };
    reader.read_all()?;
    let days = reader.days()?;
    let time = reader.time.unwrap_or_default();
    Ok(ParsedMoment {
        moment: Moment { ticks: i64::from(days) * DAY + time.ticks, offset_minutes: time.offset_minutes },
        fraction_digits: time.fraction_digits,
    })
}

#[derive(Debug, Clone, Copy, Default)]
struct TimeOfDay {
    ticks: i64,
    fraction_digits: u8,
    offset_minutes: Option<i16>,
}

/// A number and how many digits it was written with.
type Number = (i32, usize);

/// Numbers that stand alone, at most two.
#[derive(Debug, Default)]
struct Numbers {
    seen: [Number; 2],
    count: usize,
}

struct Reader<'t> {
    rest: &'t [u8],
    reading: Reading,
    /// The style says that days stand before months, also behind a year of four digits.
    days_first: bool,
    /// Dates are of the Hijri calendar.
    hijri: bool,
    /// A style whose dates have no separators and their years first.
    whole_style: Option<i32>,
    /// Year, month, day.
    date: Option<(i32, i32, i32)>,
    /// A month given by its name.
    month: Option<i32>,
    numbers: Numbers,
    time: Option<TimeOfDay>,
}

impl<'t> Reader<'t> {
    fn read_all(&mut self) -> Result<(), ParseDate> {
        loop {
            self.skip_blanks();
            match self.rest.first() {
                None => return Ok(()),
                Some(b',') => self.rest = &self.rest[1..],
                Some(b'0'..=b'9') => self.read_number()?,
                Some(byte) if is_letter(byte) => self.read_word()?,
                Some(b'+' | b'-') => self.read_offset()?,
                Some(_) => return Err(ParseDate::Syntax),
            }
        }
    }

    fn skip_blanks(&mut self) {
        while let [b' ' | b'\t' | b'\n' | b'\r', rest @ ..] = self.rest {
            self.rest = rest;
        }
    }

    fn take(&mut self, wanted: u8) -> bool {
        let found = self.rest.first() == Some(&wanted);
        if found {
            self.rest = &self.rest[1..];
        }
        found
    }

    fn digits(&mut self) -> Result<Number, ParseDate> {
        let count = self.rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        if !(1..=9).contains(&count) {
            return Err(ParseDate::Syntax);
        }
        let value = self.rest[..count].iter().fold(0, |number, byte| number * 10 + i32::from(byte - b'0'));
        self.rest = &self.rest[count..];
        Ok((value, count))
    }

    /// The letters ahead. They are taken.
    fn word(&mut self) -> &'t [u8] {
        let count = self.rest.iter().take_while(|byte| is_letter(byte)).count();
        let (word, rest) = self.rest.split_at(count);
        self.rest = rest;
        word
    }

    /// AM or PM ahead, perhaps after blanks: whether it is PM. It is taken.
    fn half_of_day(&mut self) -> Option<bool> {
        let before = self.rest;
        self.skip_blanks();
        let word = self.word();
        let half = [(&b"am"[..], false), (b"pm", true)].into_iter().find(|(name, _)| word.eq_ignore_ascii_case(name));
        if half.is_none() {
            self.rest = before;
        }
        half.map(|(_, afternoon)| afternoon)
    }

    fn read_number(&mut self) -> Result<(), ParseDate> {
        let first = self.digits()?;
        if self.rest.first() == Some(&b':') {
            return self.read_time(first);
        }
        if first.1 <= 2
            && let Some(afternoon) = self.half_of_day()
        {
            return self.set_time(first.0, 0, 0, Some(afternoon));
        }
        match self.rest.first() {
            Some(&separator @ (b'-' | b'/' | b'.')) if self.date.is_none() && self.time.is_none() => {
                self.rest = &self.rest[1..];
                self.read_separated(first, separator)
            }
            _ if self.numbers.count < 2 => {
                self.numbers.seen[self.numbers.count] = first;
                self.numbers.count += 1;
                Ok(())
            }
            _ => Err(ParseDate::Syntax),
        }
    }

    /// A date behind its first number and separator.
    fn read_separated(&mut self, first: Number, separator: u8) -> Result<(), ParseDate> {
        if self.rest.first().is_some_and(is_letter) {
            // dd-mon-yyyy
            let month = self.reading.language.month(self.word()).ok_or(ParseDate::Syntax)?;
            if !self.take(separator) {
                return Err(ParseDate::Syntax);
            }
            let last = self.digits()?;
            let (day, year) = if first.1 == 4 { (last, first) } else { (first, last) };
            self.date = Some((full_year(year)?, month, day.0));
            return Ok(());
        }
        let second = self.digits()?;
        if !self.take(separator) {
            return Err(ParseDate::Syntax);
        }
        let third = self.digits()?;
        let Reading { format, to_old_type, .. } = self.reading;
        if format == DateFormat::Ydm && !to_old_type && first.1 != 4 {
            return Err(ParseDate::Syntax);
        }
        let place_of_year = match (first.1, third.1) {
            (4, _) => 0,
            (_, 4) => 2,
            _ => format.place_of_year(),
        };
        // With hyphens it is the date of ISO 8601, whatever the format.
        let is_year_first = first.1 == 4 && (separator == b'-' || !to_old_type) && !self.days_first;
        if let Some(style) = self.whole_style.filter(|_| place_of_year != 0) {
            return Err(ParseDate::OtherStyle(style));
        }
        let (year, one, other) = match place_of_year {
            0 => (first, second, third),
            1 => (second, first, third),
            _ => (third, first, second),
        };
        let (month, day) = if is_year_first || format.is_month_first() { (one, other) } else { (other, one) };
        if month.1 > 2 || day.1 > 2 {
            return Err(ParseDate::Syntax);
        }
        self.date = Some((full_year(year)?, month.0, day.0));
        Ok(())
    }

    /// A time behind its hour.
    fn read_time(&mut self, hour: Number) -> Result<(), ParseDate> {
        self.take(b':');
        let minute = self.digits()?;
        let mut second = (0, 1);
        let (mut fraction, mut fraction_digits) = (0, 0);
        if self.take(b':') {
            second = self.digits()?;
            if self.take(b'.') {
                let (value, count) = self.digits()?;
                if count > FRACTION_DIGITS_MAX {
                    return Err(ParseDate::Syntax);
                }
                (fraction, fraction_digits) = (ticks_of(value, count), count as u8);
            } else if self.take(b':') {
                // Behind a colon stand milliseconds, as a number.
                let (value, count) = self.digits()?;
                if count > 3 {
                    return Err(ParseDate::Syntax);
                }
                (fraction, fraction_digits) = (i64::from(value) * 10_000, 3);
            }
        }
        if hour.1 > 2 || minute.1 > 2 || second.1 > 2 {
            return Err(ParseDate::Syntax);
        }
        if minute.0 > 59 || second.0 > 59 {
            return Err(ParseDate::OutOfRange);
        }
        let within_hour = i64::from(minute.0 * 60 + second.0) * SECOND + fraction;
        let afternoon = self.half_of_day();
        self.set_time(hour.0, within_hour, fraction_digits, afternoon)
    }

    fn set_time(
        &mut self,
        hour: i32,
        within_hour: i64,
        fraction_digits: u8,
        afternoon: Option<bool>,
    ) -> Result<(), ParseDate> {
        if self.time.is_some() {
            return Err(ParseDate::Syntax);
        }
        let hour = match afternoon {
            None if hour <= 23 => hour,
            Some(false) if hour <= 12 => hour % 12,
            Some(true) if (1..=12).contains(&hour) => hour % 12 + 12,
            Some(true) if (13..=23).contains(&hour) => hour,
            _ => return Err(ParseDate::OutOfRange),
        };
        let ticks = i64::from(hour) * 3600 * SECOND + within_hour;
        self.time = Some(TimeOfDay { ticks, fraction_digits, offset_minutes: None });
        Ok(())
    }

    fn read_word(&mut self) -> Result<(), ParseDate> {
        let word = self.word();
        if word.eq_ignore_ascii_case(b"t") && self.time.is_none() && self.rest.first().is_some_and(u8::is_ascii_digit) {
            return Ok(());
        }
        if let Some(time) = self.time.as_mut().filter(|time| time.offset_minutes.is_none())
            && word.eq_ignore_ascii_case(b"z")
        {
            time.offset_minutes = Some(0);
            return Ok(());
        }
        if self.month.is_some() || self.date.is_some() {
            return Err(ParseDate::Syntax);
        }
        self.month = Some(self.reading.language.month(word).ok_or(ParseDate::Syntax)?);
        Ok(())
    }

    /// `+hh:mm` behind a time.
    fn read_offset(&mut self) -> Result<(), ParseDate> {
        let negative = self.rest.first() == Some(&b'-');
        self.rest = &self.rest[1..];
        let hours = self.digits()?;
        if !self.take(b':') {
            return Err(ParseDate::Syntax);
        }
        let minutes = self.digits()?;
        let Some(time) = self.time.as_mut().filter(|time| time.offset_minutes.is_none()) else {
            return Err(ParseDate::Syntax);
        };
        if hours.1 > 2 || minutes.1 > 2 || minutes.0 > 59 || hours.0 * 60 + minutes.0 > 14 * 60 {
            return Err(ParseDate::OutOfRange);
        }
        let offset = (hours.0 * 60 + minutes.0) as i16;
        time.offset_minutes = Some(if negative { -offset } else { offset });
        Ok(())
    }

    /// The day, from whatever was found.
    fn days(&self) -> Result<i32, ParseDate> {
        let numbers = &self.numbers.seen[..self.numbers.count];
        let (year, month, day) = match (self.date, self.month, numbers) {
            (Some(date), None, []) => date,
            (None, None, []) => return Ok(DAYS_TO_1900),
            (None, None, [(value, 8)]) => (value / 10_000, value / 100 % 100, value % 100),
            (None, None, [(value, 6)]) => (full_year((value / 10_000, 2))?, value / 100 % 100, value % 100),
            (None, None, [(value, 4)]) => (*value, 1, 1),
            (None, Some(month), [year]) => (full_year(*year)?, month, 1),
            (None, Some(month), [year @ (_, 4), day]) | (None, Some(month), [day, year]) => {
                (full_year(*year)?, month, day.0)
            }
            _ => return Err(ParseDate::Syntax),
        };
        let days = if self.hijri { hijri::days } else { days_from_ymd };
        days(year, month, day).ok_or(ParseDate::OutOfRange)
    }
}

/// The digits of a tick of 100 ns: no type keeps more of a second, and no text may have more.
const FRACTION_DIGITS_MAX: usize = 7;

/// A fraction of a second of at most [`FRACTION_DIGITS_MAX`] digits.
fn ticks_of(value: i32, digits: usize) -> i64 {
    i64::from(value) * 10i64.pow((FRACTION_DIGITS_MAX - digits) as u32)
}

/// Two digits name a year from 1950 to 2049.
fn full_year((value, digits): Number) -> Result<i32, ParseDate> {
    match digits {
        4 => Ok(value),
        1 | 2 if value < 50 => Ok(2000 + value),
        1 | 2 => Ok(1900 + value),
        _ => Err(ParseDate::Syntax),
    }
}

/// Letters of any script: those beyond ASCII are of names of months.
fn is_letter(byte: &u8) -> bool {
    byte.is_ascii_alphabetic() || !byte.is_ascii()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::datetime::ymd_from_days;

    fn read(text: &str, format: DateFormat, to_old_type: bool) -> Option<(i32, i32, i32)> {
        let parsed = parse_moment(text, None, Reading { format, to_old_type, ..Reading::default() }).ok()?;
        Some(ymd_from_days(parsed.moment.days()))
    }

    #[test]
    fn a_fraction_has_up_to_seven_digits() {
        let ticks = |text: &str| Some(parse_moment(text, None, Reading::default()).ok()?.moment.ticks % SECOND);
        assert_eq!(ticks("2018-01-02T11:22:33.1234567+12:34"), Some(1_234_567));
        assert_eq!(ticks("2018-01-02 11:22:33.5"), Some(5_000_000));
        assert_eq!(ticks("2018-01-02 11:22:59.9999999"), Some(9_999_999));
        for text in ["2018-01-02T11:22:33.12345670", "2018-01-02 11:22:33.123456789", "11:22:33.00000000"] {
            assert_eq!(ticks(text), None, "{text}");
        }
    }

    #[test]
    fn the_format_orders_what_digits_do_not() {
        let orders = [
            (DateFormat::Mdy, (2003, 1, 2)),
            (DateFormat::Myd, (2002, 1, 3)),
            (DateFormat::Dmy, (2003, 2, 1)),
            (DateFormat::Dym, (2002, 3, 1)),
            (DateFormat::Ymd, (2001, 2, 3)),
            (DateFormat::Ydm, (2001, 3, 2)),
        ];
        for (format, date) in orders {
            assert_eq!(DateFormat::by_name(&format.name().to_uppercase()), Some(format));
            assert_eq!(read("1/2/03", format, true), Some(date), "{format:?}");
            assert_eq!(read("1/2/03", format, false), Some(date).filter(|_| format != DateFormat::Ydm), "{format:?}");
            let (month, day) = if format.is_month_first() { (1, 2) } else { (2, 1) };
            assert_eq!(read("1.2.2003", format, true), Some((2003, month, day)), "{format:?}");
            assert_eq!(read("2003/1/2", format, true), Some((2003, month, day)), "{format:?}");
            for text in ["2003/1/2", "2003-1-2", "20030102", "030102", "2 January 2003"] {
                assert_eq!(read(text, format, false), Some((2003, 1, 2)), "{format:?} {text}");
            }
        }
        assert_eq!(DateFormat::by_name("mmd"), None);
    }

    #[test]
    fn months_are_read_in_the_language() {
        let read = |text, name| {
            let language = Language::by_name(name).expect(name);
            let reading = Reading { language, ..Reading::default() };
            parse_moment(text, None, reading).ok().map(|parsed| ymd_from_days(parsed.moment.days()))
        };
        assert_eq!(read("3 MÄRZ 2020", "Deutsch"), Some((2020, 3, 3)));
        assert_eq!(read("3-déc-2020 10:00 PM", "French"), Some((2020, 12, 3)));
        assert_eq!(read("3 March 2020", "Deutsch"), None);
        assert_eq!(read("3 March 2020", "British"), Some((2020, 3, 3)));
    }

    #[test]
    fn a_format_matters_to_few_texts() {
        for text in ["01/02/2003", "13.1.2003 10:00", "1-2-03", "2003/01/02", "2 Jan 03", "2 mai 2003"] {
            assert!(DateFormat::matters_to(text), "{text}");
        }
        for text in ["", "hello", "2003-01-02", "20030102 10:00", "10:00 PM", "2003-01-02T10:00:00Z"] {
            assert!(!DateFormat::matters_to(text), "{text}");
        }
    }
}
