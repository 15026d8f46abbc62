//! Numbers by .NET's standard and custom formats.

use super::culture::Culture;
use crate::datetime::Language;
use crate::decimal::{Decimal, PRECISION_MAX, divide_rounded, power_of_ten};

/// A number to be formatted.
pub(super) struct Number {
    /// Its digits.
    pub(super) value: Decimal,
    /// Of an integer type: `D` and `X` take no other.
    pub(super) is_integer: bool,
    /// Of a float type.
    pub(super) is_float: bool,
}

/// The digits of a number on both sides of the point, without signs and marks.
struct Digits {
    negative: bool,
    whole: String,
    fraction: String,
}

impl Digits {
    /// With `places` digits behind the point, half rounded away from zero; a whole part of nothing but zero is empty.
    fn new(number: &Decimal, places: u8) -> Option<Digits> {
        let mantissa = match places.checked_sub(number.scale()) {
            Some(_) => number.mantissa_at(places)?,
            None => divide_rounded(number.mantissa(), power_of_ten(number.scale() - places)),
        };
        let unit = power_of_ten(places).unsigned_abs();
        let (whole, fraction) = (mantissa.unsigned_abs() / unit, mantissa.unsigned_abs() % unit);
        let whole = if whole == 0 { String::new() } else { whole.to_string() };
        let fraction =
            if places == 0 { String::new() } else { format!("{fraction:0width$}", width = usize::from(places)) };
        Some(Digits { negative: mantissa < 0, whole, fraction })
    }

    /// `1,234.50`: at least one digit before the point.
    fn text(&self, language: &Language, grouped: bool) -> String {
        let whole = if self.whole.is_empty() { "0" } else { &self.whole };
        let mut out = String::new();
        for (place, digit) in whole.chars().enumerate() {
            if grouped && place > 0 && (whole.len() - place).is_multiple_of(3) {
                out.push(group_mark(language));
            }
            out.push(digit);
        }
        if !self.fraction.is_empty() {
            out.push(language.decimal_mark);
            out.push_str(&self.fraction);
        }
        out
    }
}

/// What stands between thousands: where people read a blank, it is one that does not break.
fn group_mark(language: &Language) -> char {
    if language.group_mark == ' ' { '\u{a0}' } else { language.group_mark }
}

fn minus(negative: bool) -> &'static str {
    if negative { "-" } else { "" }
}

/// The text of a number; None for a picture that does not fit its type.
pub(super) fn format_number(number: &Number, picture: &str, language: &Language) -> Option<String> {
    let mut chars = picture.chars();
    let letter = chars.next().filter(char::is_ascii_alphabetic);
    let count = chars.as_str();
    let is_standard = count.len() <= 2 && count.bytes().all(|digit| digit.is_ascii_digit());
    match letter.filter(|_| is_standard) {
        Some(letter) => standard(number, letter, count.parse().ok(), language),
        None if picture.is_empty() => general(number, None, language, 'E'),
        None => custom(&number.value, picture, language),
    }
}

fn standard(number: &Number, letter: char, count: Option<u8>, language: &Language) -> Option<String> {
    let value = &number.value;
    let culture = Culture::of(language);
    let digits = |value: &Decimal, places: u8| Digits::new(value, places);
    Some(match letter.to_ascii_uppercase() {
        'N' | 'F' => {
            let digits = digits(value, count.unwrap_or(2))?;
            format!("{}{}", minus(digits.negative), digits.text(language, letter.eq_ignore_ascii_case(&'n')))
        }
        'C' => {
            let digits = digits(value, count.unwrap_or(culture.money_places))?;
            let picture = culture.money[usize::from(digits.negative)];
            picture.replace('n', &digits.text(language, true)).replace('$', language.currency)
        }
        'P' => {
            let digits = digits(&shifted(value, 2)?, count.unwrap_or(2))?;
            format!("{}{}", minus(digits.negative), culture.percent.replace('n', &digits.text(language, true)))
        }
        'D' if number.is_integer => {
            let digits = digits(value, 0)?;
            format!(
                "{}{:0>width$}",
                minus(digits.negative),
                digits.whole,
                width = usize::from(count.unwrap_or(1).max(1))
            )
        }
        'X' if number.is_integer => {
            let (value, width) = (i64::try_from(value.mantissa()).ok()?, usize::from(count.unwrap_or(1)));
            // Numbers below zero of the smaller types have as many digits as an int has.
            match (i32::try_from(value), letter) {
                (Ok(value), 'x') => format!("{value:0width$x}"),
                (Ok(value), _) => format!("{value:0width$X}"),
                (Err(_), 'x') => format!("{value:0width$x}"),
                (Err(_), _) => format!("{value:0width$X}"),
            }
        }
        'E' => scientific(value, count.unwrap_or(6), 3, letter, language)?,
        'G' => {
            return general(number, count.filter(|count| *count > 0), language, if letter == 'g' { 'e' } else { 'E' });
        }
        _ => return None,
    })
}

/// The number times a power of ten.
fn shifted(number: &Decimal, places: i8) -> Option<Decimal> {
    match number.scale().checked_add_signed(-places) {
        Some(scale) => Decimal::new(number.mantissa(), PRECISION_MAX, scale),
        None => {
            let power = power_of_ten(places.unsigned_abs() - number.scale());
            Decimal::new(number.mantissa().checked_mul(power)?, PRECISION_MAX, 0)
        }
    }
}

/// `1.234560E+003`
fn scientific(
    number: &Decimal,
    places: u8,
    exponent_digits: usize,
    letter: char,
    language: &Language,
) -> Option<String> {
    let (digits, exponent) = significant(number, usize::from(places) + 1)?;
    let fraction = &digits[1..];
    let mark = if fraction.is_empty() { String::new() } else { language.decimal_mark.to_string() };
    let sign = if exponent < 0 { '-' } else { '+' };
    let negative = minus(number.mantissa() < 0);
    let exponent = exponent.unsigned_abs();
    Some(format!("{negative}{}{mark}{fraction}{letter}{sign}{exponent:0exponent_digits$}", &digits[..1]))
}

/// So many digits from the first that is not zero, and the power of ten that this one has.
fn significant(number: &Decimal, count: usize) -> Option<(String, i32)> {
    let all = number.mantissa().unsigned_abs().to_string();
    let mut exponent = all.len() as i32 - 1 - i32::from(number.scale());
    if number.mantissa() == 0 {
        return Some(("0".repeat(count), 0));
    }
    let mut digits = match all.len().checked_sub(count) {
        None | Some(0) => format!("{all:0<count$}"),
        Some(beyond) => divide_rounded(all.parse().ok()?, 10i128.checked_pow(beyond as u32)?).to_string(),
    };
    // 9.99 rounded to one digit has two.
    if digits.len() > count {
        digits.pop();
        exponent += 1;
    }
    Some((digits, exponent))
}

/// `G`: as short as it can be; with a count, of so many digits, and with an exponent where that is shorter.
fn general(number: &Number, count: Option<u8>, language: &Language, letter: char) -> Option<String> {
    let value = &number.value;
    // A float has fifteen digits that count.
    let Some(count) = count.or(number.is_float.then_some(15)) else {
        let digits = Digits::new(value, value.scale())?;
        return Some(format!("{}{}", minus(digits.negative), digits.text(language, false)));
    };
    let (digits, exponent) = significant(value, usize::from(count))?;
    if exponent >= i32::from(count) || exponent < -4 {
        let kept = digits.trim_end_matches('0').len().max(1) as u8;
        return scientific(value, kept - 1, 2, letter, language);
    }
    let places = (i32::from(count) - 1 - exponent).clamp(0, i32::from(PRECISION_MAX)) as u8;
    let rounded = Digits::new(value, places)?;
    let mut text = rounded.text(language, false);
    if !rounded.fraction.is_empty() {
        text.truncate(text.trim_end_matches('0').trim_end_matches(language.decimal_mark).len());
    }
    Some(format!("{}{text}", minus(rounded.negative)))
}

/// One part of a custom picture.
#[derive(Debug, PartialEq)]
enum Part {
    /// `0`
    Zero,
    /// `#`
    Digit,
    /// `.`, the first one.
    Point,
    /// Anything else, as it is shown.
    Text(String),
    /// `E0`, `E+0`, `e-000`: the letter, whether a plus is shown, and the digits of the exponent.
    Exponent(char, bool, usize),
}

/// A section of a custom picture, read.
#[derive(Debug, Default)]
struct Section {
    parts: Vec<Part>,
    grouped: bool,
    /// The power of ten that the number is multiplied by: `%`, `‰`, and commas that stand before the point.
    shift: i8,
}

/// A picture such as `#,##0.00`: zeros are always shown, `#` only where there is a digit.
fn custom(number: &Decimal, picture: &str, language: &Language) -> Option<String> {
    let sections = sections(picture);
    let negative = number.mantissa() < 0;
    let place = match sections.as_slice() {
        [_, second, ..] if negative && !second.is_empty() => 1,
        [_, _, third, ..] if number.mantissa() == 0 && !third.is_empty() => 2,
        _ => 0,
    };
    let section = section(sections.get(place)?);
    // What is shown as zero by the section of its sign is shown by the one of zeros.
    let shown = shifted(number, section.shift)?;
    let digits = Digits::new(&shown, section.places())?;
    let is_zero = digits.whole.is_empty() && digits.fraction.bytes().all(|digit| digit == b'0');
    if is_zero
        && !section.has_exponent()
        && let Some(third) = sections.get(2).filter(|third| !third.is_empty())
    {
        return self::section(third).text(&Decimal::from_i64(0), false, language);
    }
    section.text(&shown, negative && place == 0 && !is_zero, language)
}

/// The parts between semicolons that are not quoted.
fn sections(picture: &str) -> Vec<&str> {
    let (mut sections, mut start, mut quote, mut escaped) = (Vec::new(), 0, None, false);
    for (at, c) in picture.char_indices() {
        match (c, quote) {
            _ if escaped => escaped = false,
            ('\\', _) => escaped = true,
            (c, Some(open)) if c == open => quote = None,
            (_, Some(_)) => {}
            ('\'' | '"', None) => quote = Some(c),
            (';', None) => {
                sections.push(&picture[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    sections.push(&picture[start..]);
    sections
}

fn section(picture: &str) -> Section {
    let mut section = Section::default();
    let (mut commas, mut has_point, mut has_digit) = (0, false, false);
    let mut chars = picture.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '0' | '#' => {
                section.grouped |= commas > 0 && !has_point;
                commas = 0;
                has_digit = true;
                section.parts.push(if c == '0' { Part::Zero } else { Part::Digit });
            }
            ',' if has_digit && !has_point => commas += 1,
            ',' => {}
            '.' if !has_point => {
                section.shift -= 3 * commas;
                (commas, has_point) = (0, true);
                section.parts.push(Part::Point);
            }
            '.' => {}
            '%' | '‰' => {
                section.shift += if c == '%' { 2 } else { 3 };
                section.literal(&c.to_string());
            }
            '\\' => section.literal(&chars.next().map(String::from).unwrap_or_default()),
            '\'' | '"' => {
                let quoted: String = chars.by_ref().take_while(|&quoted| quoted != c).collect();
                section.literal(&quoted);
            }
            'E' | 'e' => {
                let mut ahead = chars.clone();
                let sign = ahead.next_if(|&sign| matches!(sign, '+' | '-'));
                let zeros = ahead.by_ref().take_while(|&zero| zero == '0').count();
                if zeros == 0 {
                    section.literal(&c.to_string());
                    continue;
                }
                chars.nth(zeros + usize::from(sign.is_some()) - 1);
                section.parts.push(Part::Exponent(c, sign == Some('+'), zeros));
            }
            other => section.literal(&other.to_string()),
        }
    }
    if !has_point {
        section.shift -= 3 * commas;
    }
    section
}

impl Section {
    fn literal(&mut self, text: &str) {
        match self.parts.last_mut() {
            Some(Part::Text(last)) => last.push_str(text),
            _ => self.parts.push(Part::Text(text.to_owned())),
        }
    }

    fn has_exponent(&self) -> bool {
        self.parts.iter().any(|part| matches!(part, Part::Exponent(..)))
    }

    fn is_place(part: &Part) -> bool {
        matches!(part, Part::Zero | Part::Digit)
    }

    /// The parts before the point, and those behind it.
    fn sides(&self) -> (&[Part], &[Part]) {
        match self.parts.iter().position(|part| *part == Part::Point) {
            Some(point) => (&self.parts[..point], &self.parts[point + 1..]),
            None => (&self.parts, &[]),
        }
    }

    /// The digits that it shows behind the point at most.
    fn places(&self) -> u8 {
        let places = self.sides().1.iter().filter(|part| Section::is_place(part)).count();
        u8::try_from(places).unwrap_or(PRECISION_MAX).min(PRECISION_MAX)
    }

    fn text(&self, number: &Decimal, negative: bool, language: &Language) -> Option<String> {
        let (before, behind) = self.sides();
        let room = before.iter().filter(|part| Section::is_place(part)).count();
        let (digits, exponent) = if self.has_exponent() {
            let count = room.max(1) + usize::from(self.places());
            let (all, exponent) = significant(number, count)?;
            let (whole, fraction) = all.split_at(room.max(1));
            let power = if number.mantissa() == 0 { 0 } else { exponent - room.max(1) as i32 + 1 };
            (Digits { negative, whole: whole.to_owned(), fraction: fraction.to_owned() }, power)
        } else {
            (Digits::new(number, self.places())?, 0)
        };
        let mut out = String::from(minus(negative));
        self.whole(before, room, &digits.whole, exponent, language, &mut out);
        fraction(behind, &digits.fraction, exponent, language, &mut out);
        Some(out)
    }

    /// The digits before the point, from left to right; more digits than places stand in the first place.
    fn whole(&self, parts: &[Part], room: usize, whole: &str, exponent: i32, language: &Language, out: &mut String) {
        let places = parts.iter().filter(|part| Section::is_place(part));
        let least = places.clone().position(|part| *part == Part::Zero).map_or(0, |first| room - first);
        let digits = format!("{whole:0>least$}");
        let mut given = 0;
        let mut left = room;
        let push = |given: &mut usize, until: usize, out: &mut String| {
            for digit in digits.chars().skip(*given).take(until.saturating_sub(*given)) {
                let rest = digits.len() - *given;
                if self.grouped && *given > 0 && rest.is_multiple_of(3) {
                    out.push(group_mark(language));
                }
                out.push(digit);
                *given += 1;
            }
        };
        for part in parts {
            match part {
                Part::Zero | Part::Digit => {
                    left -= 1;
                    // What stands here has so many places to its right.
                    push(&mut given, digits.len().saturating_sub(left), out);
                }
                Part::Text(text) => out.push_str(text),
                Part::Exponent(letter, plus, count) => push_exponent(*letter, *plus, *count, exponent, out),
                Part::Point => {}
            }
        }
        // Without a place for them, digits stand where the point is.
        if room == 0 && self.parts.contains(&Part::Point) {
            push(&mut given, digits.len(), out);
        }
    }
}

/// The digits behind the point: those of `#` only as far as there is something to show.
fn fraction(parts: &[Part], fraction: &str, exponent: i32, language: &Language, out: &mut String) {
    let places = || parts.iter().filter(|part| Section::is_place(part));
    let zeros = places().enumerate().filter(|(_, part)| **part == Part::Zero).map(|(at, _)| at + 1).last().unwrap_or(0);
    let shown = fraction.trim_end_matches('0').len().max(zeros);
    if shown > 0 {
        out.push(language.decimal_mark);
    }
    let mut digits = fraction.chars().take(shown);
    for part in parts {
        match part {
            Part::Zero | Part::Digit => out.extend(digits.next()),
            Part::Text(text) => out.push_str(text),
            Part::Exponent(letter, plus, count) => push_exponent(*letter, *plus, *count, exponent, out),
            Part::Point => {}
        }
    }
}

fn push_exponent(letter: char, plus: bool, count: usize, exponent: i32, out: &mut String) {
    out.push(letter);
    match exponent < 0 {
        true => out.push('-'),
        false if plus => out.push('+'),
        false => {}
    }
    out.push_str(&format!("{:0count$}", exponent.unsigned_abs()));
}
