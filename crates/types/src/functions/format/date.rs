//! Dates and times by .NET's standard and custom formats.

use super::culture::Culture;
use crate::datetime::{DatePart, Language, Moment, SUNDAY, date_part};
use std::iter::Peekable;
use std::str::Chars;

/// The text of a moment; None for a picture that is none.
pub(super) fn format_moment(moment: Moment, picture: &str, language: &'static Language) -> Option<String> {
    let culture = Culture::of(language);
    let both = |date: &str, time: &str| format!("{date} {time}");
    let custom = match picture {
        "d" => culture.short_date.to_owned(),
        "D" => culture.long_date.to_owned(),
        "t" => culture.short_time.to_owned(),
        "T" => culture.long_time.to_owned(),
        "f" => both(culture.long_date, culture.short_time),
        "F" | "U" => both(culture.long_date, culture.long_time),
        "g" => both(culture.short_date, culture.short_time),
        "" | "G" => both(culture.short_date, culture.long_time),
        "m" | "M" => culture.month_day.to_owned(),
        "y" | "Y" => culture.year_month.to_owned(),
        "s" => "yyyy'-'MM'-'dd'T'HH':'mm':'ss".to_owned(),
        "u" => "yyyy'-'MM'-'dd HH':'mm':'ss'Z'".to_owned(),
        "o" | "O" => "yyyy'-'MM'-'dd'T'HH':'mm':'ss'.'fffffffK".to_owned(),
        // RFC 1123 knows English alone.
        "r" | "R" => return custom_moment(moment, "ddd, dd MMM yyyy HH':'mm':'ss 'GMT'", Language::ENGLISH),
        other if other.chars().count() == 1 => return None,
        other => other.to_owned(),
    };
    custom_moment(moment, &custom, language)
}

fn custom_moment(moment: Moment, picture: &str, language: &'static Language) -> Option<String> {
    let culture = Culture::of(language);
    let mut out = String::new();
    let mut chars = picture.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' => out.push(chars.next()?),
            '\'' | '"' => quoted(c, &mut chars, &mut out)?,
            '%' => {}
            '/' => out.push_str(culture.date_separator),
            'y' | 'M' | 'd' | 'H' | 'h' | 'm' | 's' | 'f' | 'F' | 't' | 'g' | 'K' | 'z' => {
                let count = run(c, &mut chars);
                push_part(moment, c, count, language, &mut out)?;
            }
            _ => out.push(c),
        }
    }
    Some(out)
}

/// The characters up to the closing quote; None without one.
fn quoted(quote: char, chars: &mut Peekable<Chars<'_>>, out: &mut String) -> Option<()> {
    loop {
        match chars.next()? {
            c if c == quote => return Some(()),
            c => out.push(c),
        }
    }
}

/// How often a character stands here.
fn run(c: char, chars: &mut Peekable<Chars<'_>>) -> usize {
    let mut count = 1;
    while chars.next_if_eq(&c).is_some() {
        count += 1;
    }
    count
}

fn push_part(moment: Moment, letter: char, count: usize, language: &'static Language, out: &mut String) -> Option<()> {
    let culture = Culture::of(language);
    let of = |part| date_part(part, moment, SUNDAY);
    let number = match (letter, count) {
        ('y', 1 | 2) => of(DatePart::Year) % 100,
        ('y', _) => of(DatePart::Year),
        ('M', 3) => {
            out.push_str(culture.months[of(DatePart::Month) as usize - 1]);
            return Some(());
        }
        ('M', 4..) => {
            out.push_str(&culture.named(language.month_of(moment.days())));
            return Some(());
        }
        ('M', _) => of(DatePart::Month),
        ('d', 3) => {
            out.push_str(culture.days[moment.days().rem_euclid(7) as usize]);
            return Some(());
        }
        ('d', 4..) => {
            out.push_str(&culture.named(language.weekday(moment.days())));
            return Some(());
        }
        ('d', _) => of(DatePart::Day),
        ('H', _) => of(DatePart::Hour),
        ('h', _) => (of(DatePart::Hour) + 11) % 12 + 1,
        ('m', _) => of(DatePart::Minute),
        ('s', _) => of(DatePart::Second),
        ('t', _) => {
            let half = culture.halves[usize::from(of(DatePart::Hour) >= 12)];
            out.extend(half.chars().take(if count == 1 { 1 } else { usize::MAX }));
            return Some(());
        }
        ('g', _) => {
            out.push_str("A.D.");
            return Some(());
        }
        ('K' | 'z', _) => {
            push_offset(moment, letter, count, out);
            return Some(());
        }
        _ => return push_fraction(moment, letter == 'F', count, out),
    };
    // Two digits at most, but for years.
    let width = if letter == 'y' { count } else { count.min(2) };
    out.push_str(&format!("{number:0width$}"));
    Some(())
}

/// The digits of a second's fraction; `F` leaves out zeros at the end, and the point before them.
fn push_fraction(moment: Moment, trims: bool, count: usize, out: &mut String) -> Option<()> {
    let fraction = format!("{:07}", date_part(DatePart::Nanosecond, moment, SUNDAY) / 100);
    let digits = fraction.get(..count)?;
    if !trims {
        out.push_str(digits);
        return Some(());
    }
    let digits = digits.trim_end_matches('0');
    if digits.is_empty() && out.ends_with('.') {
        out.pop();
    }
    out.push_str(digits);
    Some(())
}

/// `+01:00`; what has no offset has none to show but for `z`, which tells the server's: UTC's.
fn push_offset(moment: Moment, letter: char, count: usize, out: &mut String) {
    let minutes = match (moment.offset_minutes, letter) {
        (Some(minutes), _) => minutes,
        (None, 'K') => return,
        (None, _) => 0,
    };
    let (sign, minutes) = (if minutes < 0 { '-' } else { '+' }, minutes.unsigned_abs());
    let (hours, rest) = (minutes / 60, minutes % 60);
    out.push_str(&match (letter, count) {
        ('z', 1) => format!("{sign}{hours}"),
        ('z', 2) => format!("{sign}{hours:02}"),
        _ => format!("{sign}{hours:02}:{rest:02}"),
    });
}

/// The text of a time of the day, which is a span of time to .NET: every character that is no part must be quoted or escaped.
pub(super) fn format_time(moment: Moment, picture: &str, language: &Language) -> Option<String> {
    let mark = language.decimal_mark;
    let custom = match picture {
        "" | "c" | "t" | "T" => {
            let whole = moment.time_ticks() % 10_000_000 == 0;
            if whole { "hh':'mm':'ss".to_owned() } else { "hh':'mm':'ss'.'fffffff".to_owned() }
        }
        "g" => {
            let whole = moment.time_ticks() % 10_000_000 == 0;
            if whole { "h':'mm':'ss".to_owned() } else { format!("h':'mm':'ss'{mark}'FFFFFFF") }
        }
        "G" => format!("'0:'hh':'mm':'ss'{mark}'fffffff"),
        other if other.chars().count() == 1 => return None,
        other => other.to_owned(),
    };
    let mut out = String::new();
    let mut chars = custom.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' => out.push(chars.next()?),
            '\'' | '"' => quoted(c, &mut chars, &mut out)?,
            '%' => {}
            'd' => {
                let count = run(c, &mut chars);
                out.push_str(&"0".repeat(count));
            }
            'h' | 'm' | 's' => {
                let count = run(c, &mut chars);
                let part = match c {
                    'h' => DatePart::Hour,
                    'm' => DatePart::Minute,
                    _ => DatePart::Second,
                };
                let number = date_part(part, moment, SUNDAY);
                // More than two digits are none of .NET's.
                (count <= 2).then(|| out.push_str(&format!("{number:0count$}")))?;
            }
            'f' | 'F' => {
                let count = run(c, &mut chars);
                push_fraction(moment, c == 'F', count, &mut out)?;
            }
            _ => return None,
        }
    }
    Some(out)
}
