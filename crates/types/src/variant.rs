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
            }
        }
        // A value beside a variant is taken for one.
        assert_eq!(compare::order(&values[3], &Value::Int(0), Collation::default()), Ordering::Less);
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
