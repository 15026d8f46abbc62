//! Comparison of values: `=`, `<` and friends, ORDER BY and GROUP BY.

use crate::collation::{Collation, hash_bytes};
use crate::convert;
use crate::error::SqlError;
use crate::sql_type::{Length, SqlType, implicit_type};
use crate::value::Value;
use crate::variant;
use std::cmp::Ordering;

/// The order in which `uniqueidentifier` compares its bytes.
pub(crate) const GUID_ORDER: [usize; 16] = [10, 11, 12, 13, 14, 15, 8, 9, 6, 7, 4, 5, 0, 1, 2, 3];

/// Compares two values of any types; `None` when either is NULL. Values of different types meet at the type of higher
/// precedence first.
///
/// # Errors
/// Those of the conversion (245, 241 ...), and 206 where there is none.
#[inline]
pub fn compare(left: &Value, right: &Value, collation: Collation) -> Result<Option<Ordering>, SqlError> {
    use Value::*;
    Ok(Some(match (left, right) {
        (Int(a), Int(b)) => a.cmp(b),
        (BigInt(a), BigInt(b)) => a.cmp(b),
        (Null, _) | (_, Null) => return Ok(None),
        _ => match (left.as_i64(), right.as_i64()) {
            (Some(a), Some(b)) => a.cmp(&b),
            _ => return compare_others(left, right, collation),
        },
    }))
}

fn compare_others(left: &Value, right: &Value, collation: Collation) -> Result<Option<Ordering>, SqlError> {
    if let Some(order) = same_kind(left, right, collation) {
        return Ok(Some(order));
    }
    if matches!(left, Value::Variant(_)) || matches!(right, Value::Variant(_)) {
        return Ok(Some(variant::order(left, right, collation)));
    }
    if let (Some(a), Some(b)) = (convert::exact(left), convert::exact(right)) {
        return Ok(Some(a.cmp(&b)));
    }
    let (left_type, right_type) = (natural_type(left), natural_type(right));
    let meeting = implicit_type(&left_type, &right_type)?;
    let a = convert::convert(left, &left_type, &meeting, None)?;
    let b = convert::convert(right, &right_type, &meeting, None)?;
    Ok(same_kind(&a, &b, collation))
}

/// Compares values of one kind; `None` when the kinds differ or one is NULL.
#[inline]
pub(crate) fn same_kind(left: &Value, right: &Value, collation: Collation) -> Option<Ordering> {
    use Value::*;
    Some(match (left, right) {
        (Str(a), Str(b)) => collation.compare(a, b),
        (DateTime(a), DateTime(b)) => a.cmp(b),
        (Decimal(a), Decimal(b)) => a.cmp(b),
        (Bit(a), Bit(b)) => a.cmp(b),
        (TinyInt(a), TinyInt(b)) => a.cmp(b),
        (SmallInt(a), SmallInt(b)) => a.cmp(b),
        (Int(a), Int(b)) => a.cmp(b),
        (BigInt(a), BigInt(b)) => a.cmp(b),
        (Money(a), Money(b)) => a.cmp(b),
        (SmallMoney(a), SmallMoney(b)) => a.cmp(b),
        (Real(a), Real(b)) => a.partial_cmp(b)?,
        (Float(a), Float(b)) => a.partial_cmp(b)?,
        (Date(a), Date(b)) => a.cmp(b),
        (Time(a), Time(b)) => a.cmp(b),
        (SmallDateTime(a), SmallDateTime(b)) => a.cmp(b),
        (DateTime2(a), DateTime2(b)) => a.cmp(b),
        (DateTimeOffset(a), DateTimeOffset(b)) => a.cmp(b),
        (Bin(a), Bin(b)) => trim_zeros(a).cmp(trim_zeros(b)),
        (Guid(a), Guid(b)) => GUID_ORDER.map(|at| a[at]).cmp(&GUID_ORDER.map(|at| b[at])),
        _ => return None,
    })
}

/// Total order of values of one type, NULL first: ORDER BY, MIN and MAX, DISTINCT. Values of different types, which a
/// caller should have converted, are ordered by [`compare`] where it can and equal otherwise.
#[inline]
pub fn order(left: &Value, right: &Value, collation: Collation) -> Ordering {
    match (left.is_null(), right.is_null()) {
        (false, false) => compare(left, right, collation).ok().flatten().unwrap_or(Ordering::Equal),
        (a, b) => b.cmp(&a),
    }
}

/// A hash that is the same for values of one type that [`order`] finds equal.
pub fn hash(value: &Value, collation: Collation) -> u64 {
    use Value::*;
    match value {
        Null => 0,
        Str(text) => collation.hash(text),
        Bin(bytes) => hash_bytes(trim_zeros(bytes).iter().copied()),
        Guid(bytes) => hash_bytes(bytes.iter().copied()),
        Variant(variant) => variant::hash(variant, collation),
        // Nothing compares them.
        Node(_) => 0,
        Decimal(v) => {
            // By value, not by scale: trailing zeros go first.
            let (mut mantissa, mut scale) = (v.mantissa(), v.scale());
            while scale > 0 && mantissa % 10 == 0 {
                mantissa /= 10;
                scale -= 1;
            }
            mix(mantissa as u64) ^ mix((mantissa >> 64) as u64 ^ u64::from(scale) << 56)
        }
        Money(v) => mix(*v as u64),
        SmallMoney(v) => mix(i64::from(*v) as u64),
        // 0.0 and -0.0 are equal.
        Real(v) => mix(u64::from((v + 0.0).to_bits())),
        Float(v) => mix((v + 0.0).to_bits()),
        Date(v) => mix(v.days() as u64),
        Time(v) => mix(v.ticks() as u64),
        DateTime(v) => mix(v.ticks() as u64),
        SmallDateTime(v) => mix(v.minutes() as u64),
        DateTime2(v) => mix(v.ticks() as u64),
        DateTimeOffset(v) => mix(v.utc_ticks() as u64),
        Bit(_) | TinyInt(_) | SmallInt(_) | Int(_) | BigInt(_) => mix(value.as_i64().unwrap_or(0) as u64),
    }
}

/// The [`hash`] of a text.
pub fn hash_text(text: &str, collation: Collation) -> u64 {
    collation.hash(text)
}

/// The [`hash`] of a value that has an integer for a code: of integers, money, dates and times without an offset.
#[inline]
pub fn hash_code(code: i64) -> u64 {
    mix(code as u64)
}

/// Spreads a word over all its bits (the finishing step of MurmurHash3).
#[inline]
fn mix(word: u64) -> u64 {
    let word = (word ^ word >> 33).wrapping_mul(0xFF51_AFD7_ED55_8CCD);
    let word = (word ^ word >> 33).wrapping_mul(0xC4CE_B9FE_1A85_EC53);
    word ^ word >> 33
}

/// Binary strings compare as if the shorter were filled up with zeros.
pub(crate) fn trim_zeros(bytes: &[u8]) -> &[u8] {
    let end = bytes.iter().rposition(|&byte| byte != 0).map_or(0, |at| at + 1);
    &bytes[..end]
}

/// A type that fits a value when the declared one is not at hand.
pub(crate) fn natural_type(value: &Value) -> SqlType {
    match value {
        Value::Null => SqlType::Null,
        Value::Bit(_) => SqlType::Bit,
        Value::TinyInt(_) => SqlType::TinyInt,
        Value::SmallInt(_) => SqlType::SmallInt,
        Value::Int(_) => SqlType::Int,
        Value::BigInt(_) => SqlType::BigInt,
        Value::Decimal(v) => v.sql_type(),
        Value::Money(_) => SqlType::Money,
        Value::SmallMoney(_) => SqlType::SmallMoney,
        Value::Real(_) => SqlType::Real,
        Value::Float(_) => SqlType::Float,
        Value::Date(_) => SqlType::Date,
        Value::Time(_) => SqlType::Time(7),
        Value::DateTime(_) => SqlType::DateTime,
        Value::SmallDateTime(_) => SqlType::SmallDateTime,
        Value::DateTime2(_) => SqlType::DateTime2(7),
        Value::DateTimeOffset(_) => SqlType::DateTimeOffset(7),
        Value::Str(_) => SqlType::VarChar(Length::Max),
        Value::Bin(_) => SqlType::VarBinary(Length::Max),
        Value::Guid(_) => SqlType::UniqueIdentifier,
        Value::Variant(_) => SqlType::Variant,
        Value::Node(_) => SqlType::Xml,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decimal::Decimal;

    fn of(left: Value, right: Value) -> Option<Ordering> {
        compare(&left, &right, Collation::default()).expect("comparable")
    }

    #[test]
    fn kinds_meet_at_the_higher_precedence() {
        assert_eq!(of(Value::Int(1), Value::BigInt(2)), Some(Ordering::Less));
        assert_eq!(of(Value::from("10"), Value::Int(9)), Some(Ordering::Greater));
        assert_eq!(of(Value::Int(1), Value::Float(1.0)), Some(Ordering::Equal));
        assert_eq!(of(Value::Money(15_000), Value::Int(2)), Some(Ordering::Less));
        let decimal = Value::Decimal(Decimal::from_literal("1.50").expect("literal"));
        assert_eq!(of(decimal.clone(), Value::Money(15_000)), Some(Ordering::Equal));
        assert_eq!(of(decimal, Value::from("1.5")), Some(Ordering::Equal));
        assert_eq!(of(Value::Null, Value::Int(1)), None);
        assert_eq!(of(Value::Bin(vec![1]), Value::Bin(vec![1, 0])), Some(Ordering::Equal));
        let error = compare(&Value::from("abc"), &Value::Int(1), Collation::default()).unwrap_err();
        assert_eq!(error.message, "Conversion failed when converting the varchar value 'abc' to data type int.");
    }

    #[test]
    fn guids_compare_by_their_last_group_first() {
        let mut a = [0xFFu8; 16];
        let mut b = [0u8; 16];
        a[15] = 0;
        a[10] = 0;
        b[10] = 1;
        assert_eq!(of(Value::Guid(a), Value::Guid(b)), Some(Ordering::Less));
    }

    #[test]
    fn equal_values_hash_alike() {
        let pairs = [
            (Value::from("ABC "), Value::from("abc")),
            (Value::Float(0.0), Value::Float(-0.0)),
            (
                Value::Decimal(Decimal::from_literal("1.50").expect("literal")),
                Value::Decimal(Decimal::from_literal("1.5").expect("literal")),
            ),
        ];
        for (a, b) in pairs {
            assert_eq!(order(&a, &b, Collation::default()), Ordering::Equal);
            assert_eq!(hash(&a, Collation::default()), hash(&b, Collation::default()));
        }
        assert_eq!(order(&Value::Null, &Value::Int(i32::MIN), Collation::default()), Ordering::Less);
    }
}
