//! Values of queries that are no nodes, their types, and what they do with each other.

use super::text::hexadecimal_bytes;
use crate::arithmetic::ArithmeticOp;
use crate::convert;
use crate::decimal::{Decimal, digits_of};
use crate::display::{base64, base64_bytes, iso_text, write_hexadecimal};
use crate::error::SqlError;
use crate::sql_type::{Length, SqlType};
use crate::value::Value;
use crate::xml::name::is_character;
use std::cmp::Ordering;

/// The type of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AtomicType {
    Untyped,
    String,
    Boolean,
    UnsignedByte,
    Short,
    Int,
    Long,
    Integer,
    Decimal,
    Float,
    Double,
    DateTime,
    Date,
    Time,
    Base64,
    Hexadecimal,
}

use AtomicType as T;

impl AtomicType {
    pub(super) fn name(self) -> &'static str {
        match self {
            T::Untyped => "xdt:untypedAtomic",
            T::String => "xs:string",
            T::Boolean => "xs:boolean",
            T::UnsignedByte => "xs:unsignedByte",
            T::Short => "xs:short",
            T::Int => "xs:int",
            T::Long => "xs:long",
            T::Integer => "xs:integer",
            T::Decimal => "xs:decimal",
            T::Float => "xs:float",
            T::Double => "xs:double",
            T::DateTime => "xs:dateTime",
            T::Date => "xs:date",
            T::Time => "xs:time",
            T::Base64 => "xs:base64Binary",
            T::Hexadecimal => "xs:hexBinary",
        }
    }

    /// The type of a name such as `xs:int`.
    pub(super) fn by_name(name: &str) -> Option<AtomicType> {
        const ALL: [AtomicType; 16] = [
            T::Untyped,
            T::String,
            T::Boolean,
            T::UnsignedByte,
            T::Short,
            T::Int,
            T::Long,
            T::Integer,
            T::Decimal,
            T::Float,
            T::Double,
            T::DateTime,
            T::Date,
            T::Time,
            T::Base64,
            T::Hexadecimal,
        ];
        ALL.into_iter().find(|ty| ty.name() == name)
    }

    /// The type of a value from SQL; none for types that queries do not read.
    pub(super) fn of_sql(ty: &SqlType) -> Option<AtomicType> {
        Some(match ty {
            SqlType::Bit => T::Boolean,
            SqlType::TinyInt => T::UnsignedByte,
            SqlType::SmallInt => T::Short,
            SqlType::Int => T::Int,
            SqlType::BigInt => T::Long,
            SqlType::Decimal { .. } | SqlType::Money | SqlType::SmallMoney => T::Decimal,
            SqlType::Real => T::Float,
            SqlType::Float => T::Double,
            SqlType::Date => T::Date,
            SqlType::Time(_) => T::Time,
            SqlType::DateTime | SqlType::SmallDateTime | SqlType::DateTime2(_) | SqlType::DateTimeOffset(_) => {
                T::DateTime
            }
            SqlType::UniqueIdentifier => T::String,
            ty if ty.is_string() => T::String,
            ty if ty.is_binary() => T::Base64,
            _ => return None,
        })
    }

    pub(super) fn is_integer(self) -> bool {
        matches!(self, T::UnsignedByte | T::Short | T::Int | T::Long | T::Integer)
    }

    pub(super) fn is_exact(self) -> bool {
        self.is_integer() || self == T::Decimal
    }

    pub(super) fn is_numeric(self) -> bool {
        self.is_exact() || matches!(self, T::Float | T::Double)
    }

    /// Whether values of both compare: those of one kind, and what has no type with all.
    pub(super) fn compares_with(self, other: AtomicType) -> bool {
        let either = |ty| self == ty || other == ty;
        self == other || either(T::Untyped) || self.is_numeric() && other.is_numeric()
    }

    /// The type that two numbers meet at; what has no type is a double.
    pub(super) fn meeting(self, other: AtomicType) -> AtomicType {
        let rank = |ty: AtomicType| match ty {
            ty if ty.is_integer() => T::Integer,
            T::Untyped => T::Double,
            ty => ty,
        };
        let (a, b) = (rank(self), rank(other));
        let order = [T::Double, T::Float, T::Decimal];
        order.into_iter().find(|ty| a == *ty || b == *ty).unwrap_or(T::Integer)
    }
}

/// What a value is made of.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Datum {
    Text(String),
    Exact(Decimal),
    Approximate(f64),
    Truth(bool),
}

/// A value with its type.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Atomic {
    pub(super) ty: AtomicType,
    pub(super) datum: Datum,
}

impl Atomic {
    pub(super) fn untyped(text: impl Into<String>) -> Atomic {
        Atomic { ty: T::Untyped, datum: Datum::Text(text.into()) }
    }

    pub(super) fn string(text: impl Into<String>) -> Atomic {
        Atomic { ty: T::String, datum: Datum::Text(text.into()) }
    }

    pub(super) fn truth(truth: bool) -> Atomic {
        Atomic { ty: T::Boolean, datum: Datum::Truth(truth) }
    }

    pub(super) fn count(number: usize) -> Atomic {
        Atomic { ty: T::Integer, datum: Datum::Exact(Decimal::from_i64(number as i64)) }
    }

    /// A value from SQL that is not NULL.
    pub(super) fn of_sql(value: &Value, sql: &SqlType) -> Option<Atomic> {
        let ty = AtomicType::of_sql(sql)?;
        let datum = match value {
            Value::Bit(truth) => Datum::Truth(*truth),
            Value::Str(text) => Datum::Text(text.clone()),
            Value::Real(number) => Datum::Approximate((*number).into()),
            Value::Float(number) => Datum::Approximate(*number),
            Value::Bin(bytes) => {
                let mut text = String::new();
                base64(bytes, &mut text);
                Datum::Text(text)
            }
            value => match convert::exact(value) {
                Some(decimal) => Datum::Exact(decimal),
                None if ty == T::String => Datum::Text(crate::to_text(value, sql)),
                None => {
                    let mut text = String::new();
                    iso_text(value, sql, &mut text);
                    Datum::Text(text)
                }
            },
        };
        Some(Atomic { ty, datum })
    }

    /// The value as a query writes it.
    pub(super) fn text(&self) -> String {
        match &self.datum {
            Datum::Text(text) => text.clone(),
            Datum::Truth(truth) => truth.to_string(),
            Datum::Exact(decimal) => plain(&decimal.to_string()).to_owned(),
            Datum::Approximate(number) => approximate(*number, if self.ty == T::Float { 7 } else { 15 }),
        }
    }

    /// The value as text of a document, which values from SQL need not be.
    ///
    /// # Errors
    /// 9420 for a character that XML has not.
    pub(super) fn content(&self) -> Result<String, SqlError> {
        let text = self.text();
        match text.chars().position(|c| !is_character(c)) {
            Some(at) => Err(SqlError::xml_illegal_character(1, at + 1)),
            None => Ok(text),
        }
    }

    /// The value as a double; none for what is no number.
    pub(super) fn number(&self) -> Option<f64> {
        match &self.datum {
            Datum::Approximate(number) => Some(*number),
            Datum::Exact(decimal) => Some(decimal.to_f64()),
            Datum::Text(text) if self.ty == T::Untyped => parse_double(text),
            _ => None,
        }
    }

    /// Converted to a type; none where it is no value of that.
    pub(super) fn cast(&self, to: AtomicType) -> Option<Atomic> {
        let text = self.text();
        let trimmed = text.trim_matches(super::super::name::is_blank);
        let datum = match to {
            _ if to == self.ty => self.datum.clone(),
            T::Base64 if self.ty == T::Hexadecimal => {
                let mut written = String::new();
                base64(&hexadecimal_bytes(&text)?, &mut written);
                Datum::Text(written)
            }
            T::Hexadecimal => {
                let bytes = if self.ty == T::Base64 { base64_bytes(trimmed)? } else { hexadecimal_bytes(trimmed)? };
                let mut written = String::new();
                write_hexadecimal(&bytes, &mut written);
                Datum::Text(written)
            }
            T::Untyped | T::String | T::Base64 => Datum::Text(text),
            T::Boolean => match (&self.datum, trimmed) {
                (Datum::Exact(_) | Datum::Approximate(_), _) => Datum::Truth(self.number()? != 0.0),
                (_, "true" | "1") => Datum::Truth(true),
                (_, "false" | "0") => Datum::Truth(false),
                _ => return None,
            },
            T::Float | T::Double => match self.datum {
                Datum::Truth(truth) => Datum::Approximate(f64::from(u8::from(truth))),
                _ => Datum::Approximate(self.number().or_else(|| parse_double(trimmed))?),
            },
            T::DateTime | T::Date | T::Time => {
                let sql = match to {
                    T::Date => SqlType::Date,
                    T::Time => SqlType::Time(7),
                    _ => SqlType::DateTimeOffset(7),
                };
                let text = Value::from(trimmed);
                convert::convert(&text, &SqlType::NVarChar(Length::Max), &sql, None).ok()?;
                Datum::Text(trimmed.to_owned())
            }
            _ => Datum::Exact(self.exact(to, trimmed)?),
        };
        Some(Atomic { ty: to, datum })
    }

    /// As an exact number; of integers what is before the point.
    fn exact(&self, to: AtomicType, text: &str) -> Option<Decimal> {
        let decimal = match &self.datum {
            Datum::Exact(decimal) => *decimal,
            Datum::Truth(truth) => Decimal::from_i64((*truth).into()),
            Datum::Approximate(number) if number.abs() < 1e28 => decimal_of(&format!("{number:.6}"))?,
            Datum::Approximate(_) => return None,
            Datum::Text(_) => decimal_of(text).filter(|decimal| !to.is_integer() || decimal.scale() == 0)?,
        };
        if !to.is_integer() {
            return Some(decimal);
        }
        let whole = decimal.truncate();
        let fits = match to {
            T::UnsignedByte => u8::try_from(whole).is_ok(),
            T::Short => i16::try_from(whole).is_ok(),
            T::Int => i32::try_from(whole).is_ok(),
            T::Long => i64::try_from(whole).is_ok(),
            _ => true,
        };
        exact_of(whole, 0).filter(|_| fits)
    }

    /// Compares with another; none for what does not compare, such as a text that is no number with a number.
    pub(super) fn compare(&self, other: &Atomic) -> Option<Ordering> {
        let (a, b) = match (self.ty, other.ty) {
            (T::Untyped, T::Untyped | T::String) | (T::String, T::Untyped) => {
                return Some(self.text().cmp(&other.text()));
            }
            (T::Untyped, ty) if ty.is_numeric() => (self.cast(T::Double)?, other.clone()),
            (ty, T::Untyped) if ty.is_numeric() => (self.clone(), other.cast(T::Double)?),
            (T::Untyped, ty) => (self.cast(ty)?, other.clone()),
            (ty, T::Untyped) => (self.clone(), other.cast(ty)?),
            _ => (self.clone(), other.clone()),
        };
        match (&a.datum, &b.datum) {
            (Datum::Text(a), Datum::Text(b)) => Some(a.cmp(b)),
            (Datum::Truth(a), Datum::Truth(b)) => Some(a.cmp(b)),
            (Datum::Exact(a), Datum::Exact(b)) => Some(a.cmp(b)),
            _ => a.number()?.partial_cmp(&b.number()?),
        }
    }

    /// `+ - * div mod`; none where there is no result.
    pub(super) fn calculate(&self, op: ArithmeticOp, other: &Atomic) -> Option<Atomic> {
        let mut ty = self.ty.meeting(other.ty);
        if ty == T::Integer && op == ArithmeticOp::Divide {
            ty = T::Decimal;
        }
        if matches!(ty, T::Double | T::Float) {
            let (a, b) = (self.number()?, other.number()?);
            let number = match op {
                ArithmeticOp::Add => a + b,
                ArithmeticOp::Subtract => a - b,
                ArithmeticOp::Multiply => a * b,
                ArithmeticOp::Divide => a / b,
                _ => a % b,
            };
            return number.is_finite().then_some(Atomic { ty, datum: Datum::Approximate(number) });
        }
        let (Datum::Exact(a), Datum::Exact(b)) = (&self.datum, &other.datum) else { return None };
        let exact = match op {
            ArithmeticOp::Add => a.add(b),
            ArithmeticOp::Subtract => a.subtract(b),
            ArithmeticOp::Multiply => a.multiply(b),
            ArithmeticOp::Divide => a.divide(b),
            _ => a.remainder(b),
        }
        .ok()?;
        // Six digits behind the point: of a quotient they are cut, of a product rounded.
        let exact = match op {
            ArithmeticOp::Divide if exact.scale() > 6 => {
                exact_of(exact.mantissa() / 10i128.pow(u32::from(exact.scale()) - 6), 6)?
            }
            ArithmeticOp::Multiply if exact.scale() > 6 => exact_of(exact.rescale(38, 6)?.mantissa(), 6)?,
            _ => exact,
        };
        Some(Atomic { ty, datum: Datum::Exact(exact) })
    }

    pub(super) fn negated(&self) -> Option<Atomic> {
        Atomic { ty: T::Integer, datum: Datum::Exact(Decimal::from_i64(0)) }.calculate(ArithmeticOp::Subtract, self)
    }
}

/// A decimal of digits, perhaps with a sign and a point.
pub(super) fn decimal_of(text: &str) -> Option<Decimal> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let is_decimal = digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
        && digits.bytes().filter(|byte| *byte == b'.').count() <= 1
        && digits.bytes().any(|byte| byte.is_ascii_digit());
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let fraction = &fraction[..fraction.len().min(10)];
    let mantissa: i128 = format!("{whole}{fraction}").parse().ok().filter(|_| is_decimal)?;
    let signed = if text.starts_with('-') { -mantissa } else { mantissa };
    exact_of(signed, fraction.len() as u8)
}

/// A decimal with as many digits as it takes.
fn exact_of(mantissa: i128, scale: u8) -> Option<Decimal> {
    Decimal::new(mantissa, digits_of(mantissa).max(scale).max(1), scale)
}

fn parse_double(text: &str) -> Option<f64> {
    let text = text.trim_matches(super::super::name::is_blank);
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'+' | b'-' | b'.' | b'e' | b'E'));
    text.parse().ok().filter(|number: &f64| is_number && number.is_finite())
}

/// Without zeros at the end of a fraction.
fn plain(text: &str) -> &str {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text }
}

/// A double or a float: plain from a millionth to a million, with an exponent otherwise, and with so many digits at most.
fn approximate(number: f64, digits: usize) -> String {
    if number == 0.0 {
        return if number.is_sign_negative() { "-0.0E0" } else { "0.0E0" }.to_owned();
    }
    let scientific = format!("{number:.*e}", digits - 1);
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-6..6).contains(&exponent) {
        let places = (digits as i32 - 1 - exponent).max(0) as usize;
        return plain(&format!("{number:.places$}")).to_owned();
    }
    let mantissa = plain(mantissa);
    let point = if mantissa.contains('.') { "" } else { ".0" };
    format!("{mantissa}{point}E{exponent}")
}
