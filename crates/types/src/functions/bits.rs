//! Functions on the bits of integers. A shift is logical: zeros come in, whatever the sign.

use super::{Context, whole};
use crate::error::SqlError;
use crate::sql_type::SqlType;
use crate::value::Value;

type Evaluated = Result<Value, SqlError>;
type Typed = Result<SqlType, SqlError>;

/// The width in bits of an integer type.
fn bits(ty: &SqlType) -> Option<i64> {
    Some(match ty {
        SqlType::Bit => 1,
        SqlType::TinyInt => 8,
        SqlType::SmallInt => 16,
        SqlType::Int | SqlType::Null => 32,
        SqlType::BigInt => 64,
        _ => return None,
    })
}

fn of_integers(types: &[SqlType], function: &str) -> Result<(), SqlError> {
    match types.iter().position(|ty| bits(ty).is_none()) {
        Some(at) => Err(SqlError::argument_type_invalid(types[at].error_name(), at + 1, function)),
        None => Ok(()),
    }
}

/// The type of the value that is shifted or changed.
fn own_type(types: &[SqlType], function: &str) -> Typed {
    of_integers(types, function)?;
    Ok(if types[0] == SqlType::Null { SqlType::Int } else { types[0] })
}

pub(super) fn left_shift_type(types: &[SqlType]) -> Typed {
    own_type(types, "LEFT_SHIFT")
}

pub(super) fn right_shift_type(types: &[SqlType]) -> Typed {
    own_type(types, "RIGHT_SHIFT")
}

pub(super) fn set_bit_type(types: &[SqlType]) -> Typed {
    own_type(types, "SET_BIT")
}

pub(super) fn get_bit_type(types: &[SqlType]) -> Typed {
    of_integers(types, "GET_BIT")?;
    Ok(SqlType::Bit)
}

pub(super) fn bit_count_type(types: &[SqlType]) -> Typed {
    of_integers(types, "BIT_COUNT")?;
    Ok(SqlType::BigInt)
}

/// The value as the bits of its own width, and that width.
fn pattern(values: &[Value], types: &[SqlType]) -> Result<(u64, i64), SqlError> {
    let width = bits(&types[0]).unwrap_or(32);
    let mask = u64::MAX >> (64 - width);
    Ok((whole(values, types, 0)? as u64 & mask, width))
}

/// The value of a type that has these bits; those beyond its width are lost.
fn of_pattern(pattern: u64, ty: &SqlType) -> Value {
    match ty {
        SqlType::Bit => Value::Bit(pattern & 1 != 0),
        SqlType::TinyInt => Value::TinyInt(pattern as u8),
        SqlType::SmallInt => Value::SmallInt(pattern as i16),
        SqlType::BigInt => Value::BigInt(pattern as i64),
        _ => Value::Int(pattern as i32),
    }
}

/// Shifts to the left by `by` bits, to the right when it is negative.
fn shifted(values: &[Value], types: &[SqlType], by: i64) -> Evaluated {
    let (pattern, width) = pattern(values, types)?;
    let distance = by.unsigned_abs();
    let result = match by {
        _ if distance >= width.unsigned_abs() => 0,
        0.. => pattern << distance,
        _ => pattern >> distance,
    };
    Ok(of_pattern(result, &types[0]))
}

pub(super) fn left_shift(_: &mut Context, values: &[Value], types: &[SqlType]) -> Evaluated {
    shifted(values, types, whole(values, types, 1)?)
}

pub(super) fn right_shift(_: &mut Context, values: &[Value], types: &[SqlType]) -> Evaluated {
    shifted(values, types, whole(values, types, 1)?.saturating_neg())
}

pub(super) fn bit_count(_: &mut Context, values: &[Value], types: &[SqlType]) -> Evaluated {
    let (pattern, _) = pattern(values, types)?;
    Ok(Value::BigInt(i64::from(pattern.count_ones())))
}

/// The place of a bit, counted from the right.
fn place(values: &[Value], types: &[SqlType], width: i64, function: &str) -> Result<i64, SqlError> {
    let place = whole(values, types, 1)?;
    if (0..width).contains(&place) {
        return Ok(place);
    }
    Err(SqlError::invalid_date_part_parameter(2, function))
}

pub(super) fn get_bit(_: &mut Context, values: &[Value], types: &[SqlType]) -> Evaluated {
    let (pattern, width) = pattern(values, types)?;
    Ok(Value::Bit(pattern >> place(values, types, width, "get_bit")? & 1 != 0))
}

/// Sets a bit to 1, or to the third argument, which is 0 or 1.
pub(super) fn set_bit(_: &mut Context, values: &[Value], types: &[SqlType]) -> Evaluated {
    let (pattern, width) = pattern(values, types)?;
    let bit = 1 << place(values, types, width, "set_bit")?;
    let on = match values.get(2).map(|_| whole(values, types, 2)).transpose()? {
        None | Some(1) => true,
        Some(0) => false,
        Some(_) => return Err(SqlError::invalid_date_part_parameter(3, "set_bit")),
    };
    Ok(of_pattern(if on { pattern | bit } else { pattern & !bit }, &types[0]))
}
