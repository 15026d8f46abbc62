//! Functions on NULL, on any type, and those of the random state.

use super::{Context, text, whole};
use crate::compare::{compare, order};
use crate::convert;
use crate::error::SqlError;
use crate::sql_type::{SqlType, implicit_type};
use crate::value::Value;
use std::cmp::Ordering;

type Evaluated = Result<Value, SqlError>;
type Typed = Result<SqlType, SqlError>;

pub(super) fn guid_type(_: &[SqlType]) -> Typed {
    Ok(SqlType::UniqueIdentifier)
}

pub(super) fn first_type(types: &[SqlType]) -> Typed {
    Ok(types[0])
}

/// The type of the first argument, of the second when the first is the bare NULL.
pub(super) fn isnull_type(types: &[SqlType]) -> Typed {
    Ok(if types[0] == SqlType::Null { types[1] } else { types[0] })
}

/// The type that all arguments meet at.
pub(super) fn meeting_type(types: &[SqlType]) -> Typed {
    types.iter().try_fold(SqlType::Null, |meeting, ty| implicit_type(&meeting, ty))
}

/// The type that the choices meet at.
pub(super) fn choose_type(types: &[SqlType]) -> Typed {
    meeting_type(&types[1..])
}

pub(super) fn isnull(context: &mut Context, values: &[Value], types: &[SqlType]) -> Evaluated {
    if !values[0].is_null() {
        return Ok(values[0].clone());
    }
    context.convert(&values[1], &types[1], &isnull_type(types)?, None)
}

pub(super) fn nullif(context: &mut Context, values: &[Value], _: &[SqlType]) -> Evaluated {
    let equal = compare(&values[0], &values[1], context.collation)? == Some(Ordering::Equal);
    Ok(if equal { Value::Null } else { values[0].clone() })
}

pub(super) fn choose(context: &mut Context, values: &[Value], types: &[SqlType]) -> Evaluated {
    if values[0].is_null() {
        return Ok(Value::Null);
    }
    let chosen = usize::try_from(whole(values, types, 0)?).ok().filter(|&at| at > 0 && at < values.len());
    chosen.map_or(Ok(Value::Null), |at| context.convert(&values[at], &types[at], &choose_type(types)?, None))
}

/// The extreme one of the arguments that are not NULL.
fn extreme(context: &Context, values: &[Value], types: &[SqlType], wanted: Ordering) -> Evaluated {
    let meeting = meeting_type(types)?;
    let mut best = Value::Null;
    for (value, ty) in values.iter().zip(types) {
        let value = context.convert(value, ty, &meeting, None)?;
        if !value.is_null() && (best.is_null() || order(&value, &best, context.collation) == wanted) {
            best = value;
        }
    }
    Ok(best)
}

pub(super) fn greatest(context: &mut Context, values: &[Value], types: &[SqlType]) -> Evaluated {
    extreme(context, values, types, Ordering::Greater)
}

pub(super) fn least(context: &mut Context, values: &[Value], types: &[SqlType]) -> Evaluated {
    extreme(context, values, types, Ordering::Less)
}

pub(super) fn variant_type(_: &[SqlType]) -> Typed {
    Ok(SqlType::Variant)
}

/// What a value is as a `sql_variant`: a name or a number in another one.
pub(super) fn variant_property(context: &mut Context, values: &[Value], types: &[SqlType]) -> Evaluated {
    let variant = context.convert(&values[0], &types[0], &SqlType::Variant, None)?;
    let name = text(context, values, types, 1)?;
    Ok(match variant {
        Value::Variant(variant) => variant.property(&name, context.collation),
        _ => Value::Null,
    })
}

/// A random identifier (version 4).
pub(super) fn newid(context: &mut Context, _: &[Value], _: &[SqlType]) -> Evaluated {
    let mut bytes = [0u8; 16];
    bytes[..8].copy_from_slice(&context.random().to_le_bytes());
    bytes[8..].copy_from_slice(&context.random().to_le_bytes());
    // The third group is little-endian: its high byte, with the version, comes second.
    bytes[7] = bytes[7] & 0x0F | 0x40;
    bytes[8] = bytes[8] & 0x3F | 0x80;
    Ok(Value::Guid(bytes))
}

/// 1 when the argument is a number or reads as `int`, `decimal`, `money` or `float`.
pub(super) fn isnumeric(context: &mut Context, values: &[Value], types: &[SqlType]) -> Evaluated {
    let is_number = match &values[0] {
        Value::Str(_) => {
            let text = text(context, values, types, 0)?;
            let text = text.trim();
            let has_digit = text.bytes().any(|byte| byte.is_ascii_digit());
            // D is an E for it, as in other languages.
            let scientific = || Value::Str(text.replace(['d', 'D'], "e"));
            let reads = |value: &Value, ty: &SqlType| convert::convert(value, &types[0], ty, None).is_ok();
            // A sign, a point, a comma or a currency alone is what money can be written with.
            let is_mark = || {
                let alone = text.strip_prefix('$').filter(|rest| !rest.is_empty()).unwrap_or(text);
                let mut chars = alone.chars();
                chars.next().is_some_and(|c| "+-.,$\\¢£¤¥€₤₡₪₫₱฿".contains(c)) && chars.next().is_none()
            };
            match has_digit {
                true => reads(&values[0], &SqlType::Money) || reads(&scientific(), &SqlType::Float),
                false => is_mark(),
            }
        }
        value => convert::as_f64(value).is_some(),
    };
    Ok(Value::Int(i32::from(is_number)))
}
