//! Conversions to character strings.

use crate::code_page::CodePage;
use crate::datetime::{Language, style_text};
use crate::error::SqlError;
use crate::sql_type::{Length, SqlType};
use crate::value::Value;
use std::fmt::Write;

/// How values are written as texts.
#[derive(Clone, Copy)]
pub(crate) struct Writing<'a> {
    /// What `char` and `varchar` have.
    pub(crate) page: CodePage,
    /// What months are named in.
    pub(crate) language: &'a Language,
}

pub(super) fn to_text(
    value: &Value,
    from: &SqlType,
    to: &SqlType,
    style: Option<i32>,
    writing: Writing<'_>,
    out: &mut Value,
) -> Result<(), SqlError> {
    let page = writing.page.of(to);
    if let Value::Str(text) = value {
        let buffer = out.string_buffer();
        fit(text, to, page, buffer);
        return Ok(());
    }
    let limit = to.declared_length().map_or(usize::MAX, Length::limit);
    let buffer = out.string_buffer();
    match value {
        Value::Bit(v) => buffer.push(if *v { '1' } else { '0' }),
        Value::TinyInt(_) | Value::SmallInt(_) | Value::Int(_) | Value::BigInt(_) => {
            put(buffer, value.as_i64().unwrap_or(0));
            if buffer.len() > limit {
                if to.is_unicode() || matches!(value, Value::BigInt(_)) {
                    return Err(SqlError::arithmetic_overflow("expression", to.error_name()));
                }
                buffer.clear();
                buffer.push('*');
            }
        }
        Value::Decimal(v) => {
            put(buffer, v);
            if buffer.len() > limit {
                return Err(SqlError::arithmetic_overflow("numeric", to.error_name()));
            }
        }
        Value::Money(v) => money_text(*v, money_style(style, from)?, buffer),
        Value::SmallMoney(v) => money_text(i64::from(*v), money_style(style, from)?, buffer),
        Value::Float(v) => float_style(*v, style, from, buffer)?,
        Value::Real(v) => float_style(f64::from(*v), style, from, buffer)?,
        Value::Guid(bytes) => crate::display::write_guid(bytes, buffer),
        Value::Bin(bytes) => binary_text(bytes, from, page, style, buffer)?,
        _ => date_text(value, (from, to), style, writing.language, buffer)?,
    }
    if buffer.len() > limit {
        match value {
            Value::Money(_) | Value::SmallMoney(_) => return Err(SqlError::no_space_for_money(to.error_name())),
            Value::Guid(_) if to.is_unicode() => return Err(SqlError::arithmetic_overflow("expression", "nvarchar")),
            Value::Guid(_) => return Err(SqlError::no_space_for_guid()),
            Value::Float(v) => return Err(float_overflow(*v, to)),
            Value::Real(v) => return Err(float_overflow(f64::from(*v), to)),
            _ => {}
        }
    }
    fit_in_place(to, page, buffer);
    Ok(())
}

/// A float that a text has no room for: error 232 with the value, 8115 where the text is Unicode.
#[cold]
fn float_overflow(value: f64, to: &SqlType) -> SqlError {
    if to.is_unicode() {
        return SqlError::arithmetic_overflow("expression", to.error_name());
    }
    SqlError::overflow_of_float(to.error_name(), format!("{value:.6}")).with_state(2)
}

/// Writes to a string, which cannot fail.
fn put(buffer: &mut String, value: impl std::fmt::Display) {
    write!(buffer, "{value}").unwrap_or_default();
}

/// A string cut to the declared length, in the type's code page, filled up with blanks for `char` and `nchar`.
#[inline]
fn fit(text: &str, to: &SqlType, page: CodePage, buffer: &mut String) {
    let limit = to.declared_length().map_or(usize::MAX, Length::limit);
    if text.is_ascii() {
        buffer.push_str(&text[..text.len().min(limit)]);
    } else if page.is_unicode() {
        buffer.push_str(page.prefix(text, limit));
    } else {
        let replaced = page.replace_foreign(text);
        buffer.push_str(page.prefix(&replaced, limit));
    }
    pad(to, page, buffer);
}

fn fit_in_place(to: &SqlType, page: CodePage, buffer: &mut String) {
    if let Some(Length::Limit(limit)) = to.declared_length() {
        let end = page.prefix(buffer, usize::from(limit)).len();
        buffer.truncate(end);
    }
    pad(to, page, buffer);
}

#[inline]
pub(crate) fn pad(to: &SqlType, page: CodePage, buffer: &mut String) {
    if let SqlType::Char(n) | SqlType::NChar(n) = *to {
        let missing = usize::from(n).saturating_sub(page.units(buffer));
        push_blanks(missing, buffer);
    }
}

/// Appends blanks.
#[inline]
pub(crate) fn push_blanks(count: usize, buffer: &mut String) {
    const BLANKS: &str = "                                                                ";
    let mut left = count;
    while left > 0 {
        let step = left.min(BLANKS.len());
        buffer.push_str(&BLANKS[..step]);
        left -= step;
    }
}

/// The style of a text of money.
fn money_style(style: Option<i32>, from: &SqlType) -> Result<i32, SqlError> {
    match style.unwrap_or(0) {
        style @ (0 | 1 | 2 | 126) => Ok(style),
        style => Err(SqlError::invalid_style(style, from.error_name())),
    }
}

/// Style 0: two digits after the point; 1: with commas; 2: four digits.
pub(crate) fn money_text(ten_thousandths: i64, style: i32, buffer: &mut String) {
    let digits = if style == 2 || style == 126 { 4 } else { 2 };
    let unit = 10u128.pow(4 - digits);
    // Half away from zero, as everywhere.
    let rounded = (u128::from(ten_thousandths.unsigned_abs()) + unit / 2) / unit;
    let scale = 10u128.pow(digits);
    if ten_thousandths < 0 && rounded != 0 {
        buffer.push('-');
    }
    let whole = (rounded / scale).to_string();
    for (at, digit) in whole.chars().enumerate() {
        if style == 1 && at > 0 && (whole.len() - at).is_multiple_of(3) {
            buffer.push(',');
        }
        buffer.push(digit);
    }
    let width = digits as usize;
    write!(buffer, ".{:0width$}", rounded % scale).unwrap_or_default();
}

/// Style 0: at most 6 digits; 1: 8 digits, always with an exponent; 2: 16 digits likewise; 3: 17 digits.
fn float_style(value: f64, style: Option<i32>, from: &SqlType, buffer: &mut String) -> Result<(), SqlError> {
    match style.unwrap_or(0) {
        0 => float_text(value, 6, 3, 'e', buffer),
        style @ (1 | 2) => scientific(value, if style == 1 { 8 } else { 16 }, buffer),
        3 if *from == SqlType::Real => float_text(value, 9, 3, 'e', buffer),
        3 | 126 | 128 | 129 => float_text(value, 17, 3, 'e', buffer),
        style => return Err(SqlError::invalid_style(style, from.error_name())),
    }
    Ok(())
}

/// So many digits, always with an exponent.
pub(crate) fn scientific(value: f64, digits: usize, buffer: &mut String) {
    let text = format!("{value:.*e}", digits - 1);
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    buffer.push_str(mantissa);
    push_exponent(exponent.parse().unwrap_or(0), 3, 'e', buffer);
}

/// At most `digits` significant digits, trailing zeros left out; with an exponent where it is below -4 or not below
/// `digits`.
pub(crate) fn float_text(value: f64, digits: usize, exponent_digits: usize, letter: char, buffer: &mut String) {
    if value == 0.0 {
        buffer.push_str(if value.is_sign_negative() { "-0" } else { "0" });
        return;
    }
    let text = format!("{value:.*e}", digits - 1);
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if exponent < -4 || exponent >= digits as i32 {
        buffer.push_str(trim_fraction(mantissa));
        push_exponent(exponent, exponent_digits, letter, buffer);
        return;
    }
    let places = (digits as i32 - 1 - exponent).max(0) as usize;
    let plain = format!("{value:.places$}");
    buffer.push_str(trim_fraction(&plain));
}

fn trim_fraction(text: &str) -> &str {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text }
}

fn push_exponent(exponent: i32, digits: usize, letter: char, buffer: &mut String) {
    let sign = if exponent < 0 { '-' } else { '+' };
    write!(buffer, "{letter}{sign}{:0digits$}", exponent.unsigned_abs()).unwrap_or_default();
}

/// Style 0: the bytes are characters; 1: hexadecimal with `0x` in front; 2: hexadecimal.
fn binary_text(
    bytes: &[u8],
    from: &SqlType,
    page: CodePage,
    style: Option<i32>,
    buffer: &mut String,
) -> Result<(), SqlError> {
    match style.unwrap_or(0) {
        0 => page.decode(bytes, buffer),
        style @ (1 | 2) => {
            if style == 1 {
                buffer.push_str("0x");
            }
            crate::display::write_hexadecimal(bytes, buffer);
        }
        style => return Err(SqlError::invalid_style(style, from.error_name())),
    }
    Ok(())
}

fn date_text(
    value: &Value,
    (from, to): (&SqlType, &SqlType),
    style: Option<i32>,
    language: &Language,
    buffer: &mut String,
) -> Result<(), SqlError> {
    let old_type = matches!(from, SqlType::DateTime | SqlType::SmallDateTime);
    let style = style.unwrap_or(if old_type { 0 } else { 121 });
    let moment = super::moment_of(value)
        .ok_or_else(|| SqlError::explicit_conversion_not_allowed(from.error_name(), "varchar"))?;
    if style_text(moment, from, style, language, buffer) {
        return Ok(());
    }
    // What a style writes of a date and a time, the value may have nothing of.
    Err(match crate::datetime::is_style(style) && !matches!(style, 14 | 114) {
        true => SqlError::error_converting(from.error_name(), to.error_name()),
        false => SqlError::invalid_style(style, from.error_name()),
    })
}
