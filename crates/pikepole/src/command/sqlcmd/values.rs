//! Values as sqlcmd's texts, and how wide a column is.
//!
//! Widths are those of the vendor's tool: a type has one width, whatever is in its rows, and a longer name widens it.

use super::options::ControlCharacters;
use pikepole::{Column, Row, SqlType, Value};
use pikepole_client::Length;

/// Digits of a `float`.
const FLOAT_DIGITS: usize = 17;
/// Digits of a `real`.
const REAL_DIGITS: usize = 8;

/// The place of a column in a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Characters; `None` when there is no limit and nothing is padded.
    pub width: Option<usize>,
    /// Values are at the right.
    pub is_right: bool,
}

/// The limits of a column's width: `-y` and `-Y`.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Of types without a length; 0 is none, for all columns.
    pub variable: usize,
    /// Of the texts and bytes of a length; 0 is none.
    pub fixed: usize,
}

/// The place of a result set's column.
pub fn place(column: &Column, limits: Limits) -> Place {
    let is_right = is_right(&column.sql_type);
    if limits.variable == 0 {
        return Place { width: None, is_right };
    }
    let name = column.name.chars().count();
    let width = match type_width(&column.sql_type) {
        Width::Type(width) => width.max(name),
        Width::Fixed(width) if limits.fixed > 0 => width.min(limits.fixed).max(name),
        Width::Fixed(width) => width.max(name),
        Width::Variable => limits.variable,
    };
    Place { width: Some(width), is_right }
}

enum Width {
    /// As wide as the type's values can be.
    Type(usize),
    /// The same, limited by `-Y`.
    Fixed(usize),
    /// As wide as `-y` says.
    Variable,
}

fn type_width(ty: &SqlType) -> Width {
    let length = |length: &Length, per: usize, more: usize| match length {
        Length::Max => Width::Variable,
        Length::Limit(limit) => Width::Fixed(usize::from(*limit) * per + more),
    };
    match ty {
        SqlType::Bit => Width::Type(1),
        SqlType::TinyInt => Width::Type(3),
        SqlType::SmallInt => Width::Type(6),
        SqlType::Null | SqlType::Int => Width::Type(11),
        SqlType::BigInt => Width::Type(20),
        SqlType::Decimal { precision, .. } => Width::Type(usize::from(*precision) + 2),
        SqlType::Money => Width::Type(21),
        SqlType::SmallMoney => Width::Type(12),
        SqlType::Real => Width::Type(14),
        SqlType::Float => Width::Type(24),
        SqlType::Date => Width::Type(16),
        SqlType::Time(_) => Width::Type(22),
        SqlType::DateTime => Width::Type(23),
        SqlType::SmallDateTime => Width::Type(19),
        SqlType::DateTime2(_) => Width::Type(38),
        SqlType::DateTimeOffset(_) => Width::Type(45),
        SqlType::UniqueIdentifier => Width::Type(36),
        SqlType::Char(limit) | SqlType::NChar(limit) => Width::Fixed(usize::from(*limit)),
        SqlType::VarChar(limit) | SqlType::NVarChar(limit) => length(limit, 1, 0),
        SqlType::Binary(limit) => Width::Fixed(usize::from(*limit) * 2 + 2),
        SqlType::VarBinary(limit) => length(limit, 2, 2),
        SqlType::Variant => Width::Fixed(8000),
        SqlType::Xml | SqlType::Text | SqlType::NText | SqlType::Image | SqlType::Clr(_) => Width::Variable,
    }
}

fn is_right(ty: &SqlType) -> bool {
    matches!(
        ty,
        SqlType::Bit
            | SqlType::TinyInt
            | SqlType::SmallInt
            | SqlType::Null
            | SqlType::Int
            | SqlType::BigInt
            | SqlType::Decimal { .. }
            | SqlType::Money
            | SqlType::SmallMoney
            | SqlType::Real
            | SqlType::Float
            | SqlType::Date
            | SqlType::Time(_)
            | SqlType::DateTime
            | SqlType::SmallDateTime
            | SqlType::DateTime2(_)
            | SqlType::DateTimeOffset(_)
    )
}

/// The text of the value at a place of a row.
pub fn text(row: &Row, at: usize) -> String {
    match row.values().get(at) {
        Some(value) => value_text(value).unwrap_or_else(|| row.text(at)),
        None => String::new(),
    }
}

/// The text of a value that other tools of the project print in another way.
fn value_text(value: &Value) -> Option<String> {
    Some(match value {
        Value::Float(number) => float(*number, FLOAT_DIGITS),
        Value::Real(number) => float(f64::from(*number), REAL_DIGITS),
        Value::Money(amount) => without_zero(&money(*amount)),
        Value::SmallMoney(amount) => without_zero(&money(i64::from(*amount))),
        Value::Decimal(number) => without_zero(&number.to_string()),
        Value::Variant(variant) => return value_text(variant.value()),
        _ => return None,
    })
}

/// Four digits behind the point.
fn money(amount: i64) -> String {
    let (sign, amount) = (if amount < 0 { "-" } else { "" }, amount.unsigned_abs());
    format!("{sign}{}.{:04}", amount / 10_000, amount % 10_000)
}

/// `0.5` as `.5`: the driver that people compare with leaves the zero out.
fn without_zero(number: &str) -> String {
    match number.strip_prefix("-0.") {
        Some(fraction) => format!("-.{fraction}"),
        None => number.strip_prefix("0.").map_or_else(|| number.to_owned(), |fraction| format!(".{fraction}")),
    }
}

/// A float with so many digits: all of them between 0.1 and the first number that has more, else with an exponent.
fn float(number: f64, digits: usize) -> String {
    let text = format!("{number:.*e}", digits - 1);
    let Some((mantissa, exponent)) = text.split_once('e') else { return text };
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let (sign, mantissa) = match mantissa.strip_prefix('-') {
        Some(mantissa) => ("-", mantissa),
        None => ("", mantissa),
    };
    let all: String = mantissa.chars().filter(|c| *c != '.').collect();
    let all = all.trim_end_matches('0');
    let part = |text: &str| if text.is_empty() { "0".to_owned() } else { text.to_owned() };
    if number == 0.0 {
        return "0.0".to_owned();
    }
    match usize::try_from(exponent) {
        Ok(before) if before < digits => {
            let padded = format!("{all:0<width$}", width = before + 1);
            let (whole, fraction) = padded.split_at(before + 1);
            format!("{sign}{whole}.{}", part(fraction))
        }
        Err(_) if exponent == -1 => format!("{sign}0.{all}"),
        _ => {
            let (first, others) = all.split_at(1);
            format!("{sign}{first}.{}E{exponent:+}", part(others)).replace("E-0", "E-").replace("E+0", "E+")
        }
    }
}

/// A text whose control characters are as `-k` wants them.
pub fn without_controls(text: String, controls: ControlCharacters) -> String {
    if controls == ControlCharacters::Keep || !text.contains(char::is_control) {
        return text;
    }
    let (mut out, mut is_run) = (String::with_capacity(text.len()), false);
    for c in text.chars() {
        if !c.is_control() {
            out.push(c);
        } else if controls == ControlCharacters::Replace || (controls == ControlCharacters::ReplaceRuns && !is_run) {
            out.push(' ');
        }
        is_run = c.is_control();
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_as_the_vendor_s_driver_writes_them() {
        for (number, expected) in [
            (0.0, "0.0"),
            (1.0, "1.0"),
            (-1.4, "-1.3999999999999999"),
            (0.1, "0.10000000000000001"),
            (0.05, "5.0000000000000003E-2"),
            (788_991.199_884_634_8, "788991.19988463481"),
            (4712632.075629076, "4712632.075629076"),
            (1e16, "10000000000000000.0"),
            (1e17, "1.0E+17"),
            (1.5e300, "1.5000000000000001E+300"),
            (-2.5e-7, "-2.4999999999999999E-7"),
        ] {
            assert_eq!(float(number, FLOAT_DIGITS), expected);
        }
        for (number, expected) in [(0.1f32, "0.1"), (3.15, "3.1500001"), (1e8, "1.0E+8"), (12345678.0, "12345678.0")] {
            assert_eq!(float(f64::from(number), REAL_DIGITS), expected);
        }
        for (amount, expected) in [(12_345, "1.2345"), (-5_000, "-.5000"), (0, ".0000"), (1_000_000, "100.0000")] {
            assert_eq!(without_zero(&money(amount)), expected);
        }
        assert_eq!(
            (without_zero("0.50"), without_zero("-0.5"), without_zero("0")),
            (".50".into(), "-.5".into(), "0".into())
        );
    }

    #[test]
    fn control_characters_are_kept_removed_or_replaced() {
        let text = |controls| without_controls("\u{1}tabs\t\treturns\r\n".to_owned(), controls);
        assert_eq!(text(ControlCharacters::Keep), "\u{1}tabs\t\treturns\r\n");
        assert_eq!(text(ControlCharacters::Remove), "tabsreturns");
        assert_eq!(text(ControlCharacters::Replace), " tabs  returns  ");
        assert_eq!(text(ControlCharacters::ReplaceRuns), " tabs returns ");
    }
}
