//! FORMAT: a subset of .NET's formats, in the invariant English culture.
//!
//! Numbers: `N`, `F`, `D`, `P`, `C`, `G`, `X` with a count of digits, and custom pictures of `0 # , . %`. Dates: `d`, `D`,
//! `t`, `T`, `g`, `G`, `s`, `u`, `o` and custom pictures of `y M d H h m s f t`. The third argument, a culture, is not
//! looked at.

use super::{Context, text};
use crate::code_page;
use crate::convert::{self, moment_of};
use crate::datetime::{DatePart, Language, Moment, SUNDAY, date_part};
use crate::decimal::{Decimal, divide_rounded, power_of_ten};
use crate::error::SqlError;
use crate::sql_type::{Length, SqlType};
use crate::value::Value;

/// UTF-16 units of a picture and of what is made by it.
const UNITS_MAX: usize = 4000;

pub(super) fn format_type(types: &[SqlType]) -> Result<SqlType, SqlError> {
    if types[0].is_number() || types[0].is_date_or_time() || types[0] == SqlType::Null {
        return Ok(SqlType::NVarChar(Length::Limit(UNITS_MAX as u16)));
    }
    Err(SqlError::argument_type_invalid(types[0].error_name(), 1, "format"))
}

pub(super) fn format(context: &mut Context, values: &[Value], types: &[SqlType]) -> Result<Value, SqlError> {
    let picture = text(context, values, types, 1)?;
    let picture = code_page::prefix(&picture, UNITS_MAX, true);
    let formatted = match moment_of(&values[0]) {
        Some(moment) => Some(format_date(moment, picture)),
        None => {
            let number = match convert::exact(&values[0]) {
                Some(number) => Some(number),
                None => convert::as_f64(&values[0]).and_then(as_long_decimal),
            };
            number.and_then(|number| format_number(&number, picture))
        }
    };
    Ok(formatted.map_or(Value::Null, |text| Value::from(code_page::prefix(&text, UNITS_MAX, true))))
}

/// A float with as many digits after the point as fit.
fn as_long_decimal(value: f64) -> Option<Decimal> {
    [15, 8, 0].into_iter().find_map(|scale| Decimal::from_f64(value, 38, scale))
}

/// A number with `places` digits after the point, the whole part at least `least` digits long.
fn digits(number: &Decimal, places: u8, least: usize, grouped: bool) -> Option<String> {
    let mantissa = match places.checked_sub(number.scale()) {
        Some(_) => number.mantissa_at(places)?,
        None => divide_rounded(number.mantissa(), power_of_ten(number.scale() - places)),
    };
    let unit = power_of_ten(places) as u128;
    let (whole, fraction) = (mantissa.unsigned_abs() / unit, mantissa.unsigned_abs() % unit);
    let whole = if whole == 0 && least == 0 { String::new() } else { format!("{whole:0least$}") };
    let mut out = String::new();
    if mantissa < 0 {
        out.push('-');
    }
    for (at, digit) in whole.chars().enumerate() {
        if grouped && at > 0 && (whole.len() - at) % 3 == 0 {
            out.push(',');
        }
        out.push(digit);
    }
    if places > 0 {
        out.push_str(&format!(".{fraction:0width$}", width = usize::from(places)));
    }
    Some(out)
}

fn format_number(number: &Decimal, picture: &str) -> Option<String> {
    let mut chars = picture.chars();
    let letter = chars.next().filter(char::is_ascii_alphabetic);
    let count = chars.as_str();
    let Some(letter) = letter.filter(|_| count.is_empty() || count.parse::<u8>().is_ok()) else {
        return custom_number(number, picture);
    };
    let count: Option<u8> = count.parse().ok().filter(|&count: &u8| count <= 38);
    match letter.to_ascii_uppercase() {
        'N' => digits(number, count.unwrap_or(2), 1, true),
        'F' => digits(number, count.unwrap_or(2), 1, false),
        'D' if number.scale() == 0 => digits(number, 0, usize::from(count.unwrap_or(1)), false),
        'P' => Some(digits(&hundredfold(number)?, count.unwrap_or(2), 1, true)? + "%"),
        'C' => {
            let text = digits(number, count.unwrap_or(2), 1, true)?;
            Some(match text.strip_prefix('-') {
                Some(positive) => format!("-${positive}"),
                None => format!("${text}"),
            })
        }
        'G' => {
            let text = number.to_string();
            let short = text.contains('.').then(|| text.trim_end_matches('0').trim_end_matches('.').to_owned());
            Some(short.unwrap_or(text))
        }
        'X' if number.scale() == 0 => {
            let value = i64::try_from(number.mantissa()).ok()?;
            let width = usize::from(count.unwrap_or(1));
            Some(if letter == 'x' { format!("{value:0width$x}") } else { format!("{value:0width$X}") })
        }
        _ => None,
    }
}

fn hundredfold(number: &Decimal) -> Option<Decimal> {
    number.multiply(&Decimal::from_i64(100)).ok()
}

/// A picture such as `#,##0.00`: zeros are always shown, `#` only where there is a digit.
fn custom_number(number: &Decimal, picture: &str) -> Option<String> {
    let is_digit = |c: char| matches!(c, '0' | '#');
    let first = picture.find(|c| is_digit(c) || c == '.')?;
    let last = picture.rfind(is_digit)? + 1;
    let body = picture.get(first..last)?;
    let (whole, fraction) = body.split_once('.').unwrap_or((body, ""));
    let scaled = if picture.contains('%') { hundredfold(number)? } else { *number };
    let places = u8::try_from(fraction.chars().filter(|&c| is_digit(c)).count()).ok().filter(|&p| p <= 38)?;
    let kept = fraction.rfind('0').map_or(0, |at| fraction[..=at].chars().filter(|&c| is_digit(c)).count());
    let mut text = digits(&scaled, places, whole.matches('0').count(), whole.contains(','))?;
    if places > 0 {
        let least = text.len() - usize::from(places) + kept;
        while text.len() > least && text.ends_with('0') {
            text.pop();
        }
        if text.ends_with('.') {
            text.pop();
        }
    }
    Some([&picture[..first], &text, &picture[last..]].concat())
}

fn format_date(moment: Moment, picture: &str) -> String {
    let picture = match picture {
        "d" => "MM/dd/yyyy",
        "D" => "dddd, dd MMMM yyyy",
        "t" => "HH:mm",
        "T" => "HH:mm:ss",
        "g" => "MM/dd/yyyy HH:mm",
        "G" => "MM/dd/yyyy HH:mm:ss",
        "s" => "yyyy-MM-ddTHH:mm:ss",
        "u" => "yyyy-MM-dd HH:mm:ssZ",
        "o" | "O" => "yyyy-MM-ddTHH:mm:ss.fffffff",
        other => other,
    };
    let mut out = String::new();
    let mut chars = picture.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' => out.extend(chars.next()),
            '\'' | '"' => out.extend(chars.by_ref().take_while(|&quoted| quoted != c)),
            'y' | 'M' | 'd' | 'H' | 'h' | 'm' | 's' | 'f' | 't' => {
                let mut count = 1;
                while chars.next_if_eq(&c).is_some() {
                    count += 1;
                }
                push_part(moment, c, count, &mut out);
            }
            _ => out.push(c),
        }
    }
    out
}

fn push_part(moment: Moment, letter: char, count: usize, out: &mut String) {
    let of = |part| date_part(part, moment, SUNDAY);
    let number = match (letter, count) {
        ('y', 1 | 2) => of(DatePart::Year) % 100,
        ('y', _) => of(DatePart::Year),
        ('M', 3) => return out.push_str(&Language::ENGLISH.month_of(moment.days())[..3]),
        ('M', 4..) => return out.push_str(Language::ENGLISH.month_of(moment.days())),
        ('M', _) => of(DatePart::Month),
        ('d', 3) => return out.push_str(&Language::ENGLISH.weekday(moment.days())[..3]),
        ('d', 4..) => return out.push_str(Language::ENGLISH.weekday(moment.days())),
        ('d', _) => of(DatePart::Day),
        ('H', _) => of(DatePart::Hour),
        ('h', _) => (of(DatePart::Hour) + 11) % 12 + 1,
        ('m', _) => of(DatePart::Minute),
        ('s', _) => of(DatePart::Second),
        ('t', _) => {
            let half = if of(DatePart::Hour) < 12 { "AM" } else { "PM" };
            return out.push_str(&half[..count.min(2)]);
        }
        _ => {
            let fraction = format!("{:07}", of(DatePart::Nanosecond) / 100);
            return out.push_str(&fraction[..count.min(7)]);
        }
    };
    out.push_str(&format!("{number:0count$}"));
}
