//! `sql_variant`: a value that brings its type along.
//!
//! Values of one family compare as their own types do; those of different families by the families, whatever the values:
//!
//! ```text
//! uniqueidentifier < binary < text < exact numbers < approximate numbers < dates and times
//! ```

use crate::code_page::CodePage;
use crate::collation::{Collation, hash_bytes};
use crate::compare;
use crate::convert;
use crate::sql_type::SqlType;
use crate::value::Value;
use std::cmp::Ordering;

/// A value that is not NULL, and its type.
#[derive(Debug, Clone, PartialEq)]
pub struct Variant {
    ty: SqlType,
    value: Value,
}

impl Variant {
    /// A value of a type; none for NULL and for types that no `sql_variant` holds.
    pub fn new(ty: SqlType, value: Value) -> Option<Variant> {
        let holds = Variant::holds(&ty) && !matches!(value, Value::Null | Value::Variant(_));
        holds.then_some(Variant { ty, value })
    }

    /// Whether values of a type fit into a `sql_variant`: all but those of `(max)` types.
    pub fn holds(ty: &SqlType) -> bool {
        !ty.is_max() && !matches!(ty, SqlType::Null | SqlType::Variant | SqlType::Clr(_))
    }

    /// The type of the value.
    pub fn ty(&self) -> &SqlType {
        &self.ty
    }

    /// The value.
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// Bytes of the value alone.
    pub fn data_bytes(&self) -> usize {
        match &self.value {
            Value::Str(text) => CodePage::Western.of(&self.ty).bytes(text),
            Value::Bin(bytes) => bytes.len(),
            _ => usize::try_from(self.ty.max_length()).unwrap_or(0),
        }
    }

    /// What SQL_VARIANT_PROPERTY tells; NULL for properties that there are not, or that the type has not.
    pub(crate) fn property(&self, name: &str, collation: Collation) -> Value {
        let number = |number: usize| Value::Int(i32::try_from(number).unwrap_or(i32::MAX));
        let (ty, value) = match name.trim_end_matches(' ').to_ascii_lowercase().as_str() {
            "basetype" => (NAME, Value::from(self.ty.name())),
            "precision" => (SqlType::Int, number(self.ty.precision().into())),
            "scale" => (SqlType::Int, number(self.ty.scale().into())),
            "totalbytes" => (SqlType::Int, number(2 + self.parameter_bytes() + self.data_bytes())),
            "collation" if self.ty.is_string() => (NAME, Value::from(collation.name())),
            "maxlength" => (SqlType::Int, number(usize::try_from(self.ty.max_length()).unwrap_or(0))),
            _ => return Value::Null,
        };
        Variant::new(ty, value).map_or(Value::Null, |variant| Value::Variant(Box::new(variant)))
    }

    /// Bytes of what is stored beside the type: a scale; precision and scale; a length; a length and a collation.
    fn parameter_bytes(&self) -> usize {
        match self.ty {
            SqlType::Time(_) | SqlType::DateTime2(_) | SqlType::DateTimeOffset(_) => 1,
            SqlType::Decimal { .. } | SqlType::Binary(_) | SqlType::VarBinary(_) => 2,
            _ if self.ty.is_string() => 6,
            _ => 0,
        }
    }
}

/// The type of names, `sysname`.
const NAME: SqlType = SqlType::NVarChar(crate::sql_type::Length::Limit(128));

/// A value outside of its `sql_variant`, if it is in one.
fn bare(value: &Value) -> &Value {
    match value {
        Value::Variant(variant) => &variant.value,
        value => value,
    }
}

/// What a value is compared by.
enum Family {
    /// What is none of the others, NULL alone.
    None,
    /// Those of one kind compare as kinds do.
    Guid,
    Binary,
    Text,
    Exact(crate::decimal::Decimal),
    Approximate(f64),
    /// Ticks since 0001-01-01, in UTC.
    Moment(i64),
}

impl Family {
    fn of(value: &Value) -> Family {
        match value {
            Value::Guid(_) => Family::Guid,
            Value::Bin(_) => Family::Binary,
            Value::Str(_) => Family::Text,
            Value::Real(number) => Family::Approximate((*number).into()),
            Value::Float(number) => Family::Approximate(*number),
            value => match convert::exact(value) {
                Some(exact) => Family::Exact(exact),
                None => utc_ticks(value).map_or(Family::None, Family::Moment),
            },
        }
    }

    fn rank(&self) -> u8 {
        match self {
            Family::None => 0,
            Family::Guid => 1,
            Family::Binary => 2,
            Family::Text => 3,
            Family::Exact(_) => 4,
            Family::Approximate(_) => 5,
            Family::Moment(_) => 6,
        }
    }
}

/// Dates are their midnight, times those of 1900-01-01.
fn utc_ticks(value: &Value) -> Option<i64> {
    let ty = compare::natural_type(value);
    match convert::convert(value, &ty, &SqlType::DateTimeOffset(7), None) {
        Ok(Value::DateTimeOffset(moment)) => Some(moment.utc_ticks()),
        _ => None,
    }
}

/// Compares two values, of which one is a `sql_variant` or both.
pub(crate) fn order(left: &Value, right: &Value, collation: Collation) -> Ordering {
    let (left, right) = (bare(left), bare(right));
    match (Family::of(left), Family::of(right)) {
        (Family::Exact(a), Family::Exact(b)) => a.cmp(&b),
        (Family::Approximate(a), Family::Approximate(b)) => a.partial_cmp(&b).unwrap_or(Ordering::Equal),
        (Family::Moment(a), Family::Moment(b)) => a.cmp(&b),
        (a, b) if a.rank() == b.rank() => compare::same_kind(left, right, collation).unwrap_or(Ordering::Equal),
        (a, b) => a.rank().cmp(&b.rank()),
    }
}

/// A hash that is the same for values that [`order`] finds equal.
pub(crate) fn hash(variant: &Variant, collation: Collation) -> u64 {
    match Family::of(&variant.value) {
        Family::Exact(exact) => compare::hash(&Value::Decimal(exact), collation),
        Family::Approximate(number) => compare::hash(&Value::Float(number), collation),
        Family::Moment(ticks) => hash_bytes(ticks.to_le_bytes().into_iter()),
        _ => compare::hash(&variant.value, collation),
    }
}

/// Appends what compares as bytes as [`order`] compares values: the family, then the value.
///
/// ```text
///   1 uniqueidentifier   the 16 bytes as they are compared
///   2 binary             the bytes without zeros at the end, 0 as 0 255, then 0 0
///   3 text               the sort key of the default collation
///   4 exact numbers      0x80 for 0; else 0x90, 64 + the exponent, each two digits plus 1, 0; all turned for a negative one
///   5 approximate        8 bytes
///   6 dates and times    8 bytes: ticks in UTC
/// ```
pub(crate) fn write_key(value: &Value, out: &mut Vec<u8>) {
    let value = bare(value);
    let family = Family::of(value);
    out.push(family.rank());
    match (family, value) {
        (Family::Exact(exact), _) => write_exact(exact, out),
        (Family::Approximate(number), _) => {
            // Adding 0 makes -0 into 0.
            let bits = (number + 0.0).to_bits();
            let turned = if bits >> 63 == 1 { !bits } else { bits ^ 1 << 63 };
            out.extend_from_slice(&turned.to_be_bytes());
        }
        (Family::Moment(ticks), _) => out.extend_from_slice(&(ticks as u64 ^ 1 << 63).to_be_bytes()),
        (Family::Guid, Value::Guid(bytes)) => out.extend(compare::GUID_ORDER.map(|at| bytes[at])),
        (Family::Binary, Value::Bin(bytes)) => {
            for &byte in compare::trim_zeros(bytes) {
                out.push(byte);
                if byte == 0 {
                    out.push(0xFF);
                }
            }
            out.extend_from_slice(&[0, 0]);
        }
        (Family::Text, Value::Str(text)) => Collation::DEFAULT.write_key(text, out),
        _ => {}
    }
}

const ZERO: u8 = 0x80;
const POSITIVE: u8 = 0x90;

fn write_exact(exact: crate::decimal::Decimal, out: &mut Vec<u8>) {
    let digits = exact.mantissa().unsigned_abs().to_string();
    let exponent = digits.len() as i32 - i32::from(exact.scale());
    let digits = digits.trim_end_matches('0').as_bytes();
    if digits.is_empty() {
        return out.push(ZERO);
    }
    let start = out.len();
    out.extend_from_slice(&[POSITIVE, (64 + exponent) as u8]);
    out.extend(digits.chunks(2).map(|pair| {
        let low = pair.get(1).map_or(0, |low| low - b'0');
        (pair[0] - b'0') * 10 + low + 1
    }));
    out.push(0);
    if exact.mantissa() < 0 {
        out[start..].iter_mut().for_each(|byte| *byte = !*byte);
    }
}

/// How many bytes the key has that `bytes` start with; `None` when they hold no whole one.
pub(crate) fn key_length(mut bytes: impl Iterator<Item = u8>) -> Option<usize> {
    match bytes.next()? {
        0 => Some(1),
        1 => bytes.nth(15).map(|_| 17),
        2 => Some(1 + crate::collation::binary_key_length(bytes)?),
        3 => Some(1 + Collation::DEFAULT.key_length(bytes)?),
        4 => {
            let first = bytes.next()?;
            if first == ZERO {
                return Some(2);
            }
            let end = if first == POSITIVE { 0 } else { 0xFF };
            bytes.next()?;
            Some(bytes.position(|byte| byte == end)? + 4)
        }
        5 | 6 => bytes.nth(7).map(|_| 9),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::datetime::{Date, DateTime2, Time};
    use crate::decimal::Decimal;
    use crate::sql_type::Length;

    fn variant(ty: SqlType, value: Value) -> Value {
        Value::Variant(Box::new(Variant::new(ty, value).expect("a value that it holds")))
    }

    fn ascending() -> Vec<Value> {
        let decimal = Decimal::from_literal("2.50").expect("a decimal");
        let noon = 12 * 3600 * 10_000_000;
        vec![
            variant(SqlType::UniqueIdentifier, Value::Guid([9; 16])),
            variant(SqlType::VarBinary(Length::Limit(4)), Value::Bin(vec![1])),
            variant(SqlType::Binary(2), Value::Bin(vec![1, 1])),
            variant(SqlType::VarChar(Length::Limit(3)), Value::from("abc")),
            variant(SqlType::NVarChar(Length::Limit(3)), Value::from("abd")),
            variant(SqlType::BigInt, Value::BigInt(-5)),
            variant(SqlType::Bit, Value::Bit(true)),
            variant(SqlType::Money, Value::Money(20_000)),
            variant(decimal.sql_type(), Value::Decimal(decimal)),
            variant(SqlType::Int, Value::Int(3)),
            variant(SqlType::Float, Value::Float(-1.0)),
            variant(SqlType::Real, Value::Real(0.5)),
            variant(SqlType::Time(7), Value::Time(Time::from_ticks(noon).expect("a time"))),
            variant(SqlType::Date, Value::Date(Date::from_days(730_000).expect("a date"))),
            variant(
                SqlType::DateTime2(7),
                Value::DateTime2(DateTime2::from_ticks(730_000 * 2 * noon + 1).expect("a time")),
            ),
        ]
    }

    #[test]
    fn families_come_before_values() {
        let values = ascending();
        for (at, left) in values.iter().enumerate() {
            for (place, right) in values.iter().enumerate() {
                assert_eq!(compare::order(left, right, Collation::default()), at.cmp(&place), "{left:?} {right:?}");
                assert_eq!(key(left).cmp(&key(right)), at.cmp(&place), "{left:?} {right:?}");
            }
            assert_eq!(key_length(key(left).into_iter()), Some(key(left).len()), "{left:?}");
        }
        // A value beside a variant is taken for one.
        assert_eq!(compare::order(&values[3], &Value::Int(0), Collation::default()), Ordering::Less);
    }

    fn key(value: &Value) -> Vec<u8> {
        let mut key = Vec::new();
        write_key(value, &mut key);
        key
    }

    #[test]
    fn keys_of_exact_numbers_compare_as_they_do() {
        let texts = [
            "-99999999999999999999999999999999999999",
            "-100.5",
            "-100",
            "-20",
            "-2.01",
            "-2",
            "-0.5",
            "-0.05",
            "0",
            "0.00000000000000000000000000000000000001",
            "0.05",
            "0.5",
            "1",
            "1.99",
            "2",
            "10",
            "99",
            "100",
            "100.01",
        ];
        let of = |text: &str| {
            let positive = Decimal::from_literal(text.trim_start_matches('-')).expect("a decimal");
            let sign = if text.starts_with('-') { -1 } else { 1 };
            let number = Decimal::new(positive.mantissa() * sign, 38, positive.scale()).expect("it fits");
            key(&Value::Decimal(number))
        };
        for pair in texts.windows(2) {
            assert!(of(pair[0]) < of(pair[1]), "{pair:?}");
            assert_eq!(key_length(of(pair[0]).into_iter()), Some(of(pair[0]).len()));
        }
        assert_eq!(of("2.00"), key(&Value::TinyInt(2)));
    }

    #[test]
    fn equal_numbers_of_different_types_are_one() {
        let same = [
            variant(SqlType::Int, Value::Int(2)),
            variant(SqlType::TinyInt, Value::TinyInt(2)),
            variant(SqlType::SmallMoney, Value::SmallMoney(20_000)),
            variant(
                SqlType::Decimal { precision: 5, scale: 2 },
                Value::Decimal(Decimal::new(200, 5, 2).expect("it fits")),
            ),
        ];
        for value in &same {
            assert_eq!(compare::order(value, &same[0], Collation::default()), Ordering::Equal, "{value:?}");
            assert_eq!(
                compare::hash(value, Collation::default()),
                compare::hash(&same[0], Collation::default()),
                "{value:?}"
            );
        }
    }

    #[test]
    fn properties_are_those_of_the_type() {
        let text = Variant::new(SqlType::NVarChar(Length::Limit(50)), Value::from("ab")).expect("a text");
        let property = |variant: &Variant, name: &str| match variant.property(name, Collation::default()) {
            Value::Variant(property) => crate::to_text(property.value(), property.ty()),
            other => format!("{other:?}"),
        };
        for (name, wanted) in [
            ("BaseType", "nvarchar"),
            ("precision", "0"),
            ("TotalBytes", "12"),
            ("MaxLength", "100"),
            ("Collation", Collation::default().name()),
            ("Colour", "Null"),
        ] {
            assert_eq!(property(&text, name), wanted, "{name}");
        }
        let number = Variant::new(
            SqlType::Decimal { precision: 9, scale: 2 },
            Value::Decimal(Decimal::new(5, 9, 2).expect("it fits")),
        );
        let number = number.expect("a number");
        for (name, wanted) in
            [("BaseType", "decimal"), ("Precision", "9"), ("Scale", "2"), ("TotalBytes", "9"), ("Collation", "Null")]
        {
            assert_eq!(property(&number, name), wanted, "{name}");
        }
    }

    #[test]
    fn it_holds_no_long_values() {
        assert!(Variant::new(SqlType::VarChar(Length::Max), Value::from("a")).is_none());
        assert!(Variant::new(SqlType::Int, Value::Null).is_none());
        let inner = variant(SqlType::Int, Value::Int(1));
        assert!(Variant::new(SqlType::Variant, inner).is_none());
    }
}
