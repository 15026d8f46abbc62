//! Mathematical functions.

use super::{Context, float, refuse_text, whole};
use crate::arithmetic;
use crate::convert::{self, float_in};
use crate::decimal::{Decimal, divide_rounded};
use crate::error::SqlError;
use crate::sql_type::SqlType;
use crate::value::Value;

type Evaluated = Result<Value, SqlError>;
type Typed = Result<SqlType, SqlError>;

pub(super) fn float_type(_: &[SqlType]) -> Typed {
    Ok(SqlType::Float)
}

/// Small integers become `int`, small money `money`, `real` and text `float`; all others stay.
pub(super) fn same_number(types: &[SqlType]) -> Typed {
    Ok(match types[0] {
        SqlType::Null | SqlType::TinyInt | SqlType::SmallInt | SqlType::Int => SqlType::Int,
        SqlType::SmallMoney | SqlType::Money => SqlType::Money,
        SqlType::BigInt | SqlType::Decimal { .. } => types[0],
        _ => SqlType::Float,
    })
}

/// As [`same_number`]; how many digits are kept, and whether the others are cut off, no text says.
pub(super) fn round_type(types: &[SqlType]) -> Typed {
    refuse_text(types, 1, "round")?;
    refuse_text(types, 2, "round")?;
    same_number(types)
}

/// As [`same_number`], a decimal without its fraction.
pub(super) fn whole_type(types: &[SqlType]) -> Typed {
    Ok(match same_number(types)? {
        SqlType::Decimal { precision, .. } => SqlType::Decimal { precision, scale: 0 },
        other => other,
    })
}

/// As [`same_number`], a decimal with all 38 digits.
pub(super) fn power_type(types: &[SqlType]) -> Typed {
    Ok(match same_number(types)? {
        SqlType::Decimal { scale, .. } => SqlType::Decimal { precision: 38, scale },
        other => other,
    })
}

/// The first argument as its result type.
fn number(values: &[Value], types: &[SqlType]) -> Evaluated {
    convert::convert(&values[0], &types[0], &same_number(types)?, None)
}

pub(super) fn abs(_: &mut Context, values: &[Value], types: &[SqlType]) -> Evaluated {
    let value = number(values, types)?;
    let negative = match &value {
        Value::Float(v) => return Ok(Value::Float(v.abs())),
        Value::Decimal(v) => v.mantissa() < 0,
        Value::Money(v) => *v < 0,
        other => other.as_i64().unwrap_or(0) < 0,
    };
    if negative { arithmetic::negate(&value) } else { Ok(value) }
}

pub(super) fn sign(_: &mut Context, values: &[Value], types: &[SqlType]) -> Evaluated {
    Ok(match number(values, types)? {
        Value::Int(v) => Value::Int(v.signum()),
        Value::BigInt(v) => Value::BigInt(v.signum()),
        Value::Money(v) => Value::Money(v.signum() * 10_000),
        Value::Decimal(v) => {
            let one = Decimal::from_i64(v.mantissa().signum() as i64);
            // A type without places before the point cannot hold 1.
            let overflow = || SqlError::arithmetic_overflow("expression", "numeric");
            Value::Decimal(one.rescale(v.precision(), v.scale()).ok_or_else(overflow)?)
        }
        Value::Float(v) => Value::Float(if v == 0.0 { 0.0 } else { v.signum() }),
        other => other,
    })
}

/// Rounds down or up to a whole number.
fn to_whole(values: &[Value], types: &[SqlType], up: bool) -> Evaluated {
    let divide = |value: i128, unit: i128| value.div_euclid(unit) + i128::from(up && value.rem_euclid(unit) != 0);
    let overflow = |name| SqlError::arithmetic_overflow("expression", name);
    Ok(match number(values, types)? {
        Value::Decimal(v) => {
            let whole = divide(v.mantissa(), crate::decimal::power_of_ten(v.scale()));
            Value::Decimal(Decimal::new(whole, v.precision(), 0).ok_or_else(|| overflow("numeric"))?)
        }
        Value::Money(v) => {
            let whole = divide(i128::from(v), 10_000) * 10_000;
            Value::Money(i64::try_from(whole).map_err(|_| overflow("money"))?)
        }
        Value::Float(v) => Value::Float(if up { v.ceil() } else { v.floor() }),
        other => other,
    })
}

pub(super) fn ceiling(_: &mut Context, values: &[Value], types: &[SqlType]) -> Evaluated {
    to_whole(values, types, true)
}

pub(super) fn floor(_: &mut Context, values: &[Value], types: &[SqlType]) -> Evaluated {
    to_whole(values, types, false)
}

/// `ROUND(number, places [, cut])`: cuts off when the third argument is not 0.
pub(super) fn round(_: &mut Context, values: &[Value], types: &[SqlType]) -> Evaluated {
    let places = whole(values, types, 1)?.clamp(-400, 400) as i32;
    let cut = values.len() > 2 && whole(values, types, 2)? != 0;
    let value = number(values, types)?;
    let overflow = |name| SqlError::arithmetic_overflow("expression", name);
    // A whole number rounded before its point, in the wide type.
    let round_whole = |v: i64, scale: i32| {
        let drop = scale - places;
        match u32::try_from(drop) {
            Ok(drop @ 1..=20) => {
                let unit = 10i128.pow(drop);
                let units = if cut { i128::from(v) / unit } else { divide_rounded(i128::from(v), unit) };
                units * unit
            }
            Ok(21..) => 0,
            _ => i128::from(v),
        }
    };
    Ok(match value {
        Value::Int(v) => Value::Int(round_whole(i64::from(v), 0).try_into().map_err(|_| overflow("int"))?),
        Value::BigInt(v) => Value::BigInt(round_whole(v, 0).try_into().map_err(|_| overflow("bigint"))?),
        Value::Money(v) => Value::Money(round_whole(v, 4).try_into().map_err(|_| overflow("money"))?),
        Value::Decimal(v) => Value::Decimal(v.round_at(places, cut).ok_or_else(|| overflow("numeric"))?),
        Value::Float(v) => Value::Float(round_float(v, places, cut)),
        other => other,
    })
}

fn round_float(value: f64, places: i32, cut: bool) -> f64 {
    // As far as the decimal text of the number goes, round that: 2.675 to 2 places is 2.68.
    let digits = places.clamp(-30, 30);
    if let Some(exact) = Decimal::from_f64(value, 38, 15)
        && let Some(rounded) = exact.round_at(digits, cut)
        && value.abs() > 1e-10
    {
        return rounded.to_f64();
    }
    let unit = 10f64.powi(places);
    let scaled = value * unit;
    if !scaled.is_finite() || unit == 0.0 {
        return if places > 0 { value } else { 0.0 };
    }
    (if cut { scaled.trunc() } else { scaled.round() }) / unit
}

pub(super) fn power(_: &mut Context, values: &[Value], types: &[SqlType]) -> Evaluated {
    let (base, exponent) = (float(values, types, 0)?, float(values, types, 1)?);
    if base == 0.0 && exponent < 0.0 {
        return Err(SqlError::divide_by_zero());
    }
    let to = power_type(types)?;
    let result = base.powf(exponent);
    if result.is_nan() {
        return Err(SqlError::invalid_floating_point());
    }
    let result = float_in(result, &SqlType::Float)?;
    match (&result, to) {
        // Whole powers are exact as long as a float is.
        (_, SqlType::Float) => Ok(result),
        _ => convert::convert(&result, &SqlType::Float, &to, None),
    }
}

/// A function of floats; an argument outside its domain is error 3623.
fn of_float(value: f64) -> Evaluated {
    if value.is_nan() {
        return Err(SqlError::invalid_floating_point());
    }
    float_in(value, &SqlType::Float)
}

macro_rules! float_functions {
    ($($name:ident($x:ident) $body:expr;)*) => {
        $(
            pub(super) fn $name(_: &mut Context, values: &[Value], types: &[SqlType]) -> Evaluated {
                let $x = float(values, types, 0)?;
                of_float($body)
            }
        )*
    };
}

float_functions! {
    acos(x) x.acos();
    asin(x) x.asin();
    atan(x) x.atan();
    cos(x) x.cos();
    cot(x) 1.0 / x.tan();
    exp(x) x.exp();
    log10(x) if x > 0.0 { x.log10() } else { f64::NAN };
    sin(x) x.sin();
    sqrt(x) x.sqrt();
    square(x) x * x;
    tan(x) x.tan();
}

/// As [`same_number`], a decimal with at least 18 digits behind its point.
pub(super) fn angle_type(types: &[SqlType]) -> Typed {
    Ok(match same_number(types)? {
        SqlType::Decimal { scale, .. } => SqlType::Decimal { precision: 38, scale: scale.max(18) },
        other => other,
    })
}

/// An angle in another unit, in the type of the one given: of an integer it is one, cut off.
fn angle(values: &[Value], types: &[SqlType], convert_angle: fn(f64) -> f64) -> Evaluated {
    let converted = of_float(convert_angle(float(values, types, 0)?))?;
    convert::convert(&converted, &SqlType::Float, &angle_type(types)?, None)
}

pub(super) fn degrees(_: &mut Context, values: &[Value], types: &[SqlType]) -> Evaluated {
    angle(values, types, f64::to_degrees)
}

pub(super) fn radians(_: &mut Context, values: &[Value], types: &[SqlType]) -> Evaluated {
    angle(values, types, f64::to_radians)
}

pub(super) fn atn2(_: &mut Context, values: &[Value], types: &[SqlType]) -> Evaluated {
    let (y, x) = (float(values, types, 0)?, float(values, types, 1)?);
    if y == 0.0 && x == 0.0 {
        return Err(SqlError::invalid_floating_point());
    }
    of_float(y.atan2(x))
}

pub(super) fn log(_: &mut Context, values: &[Value], types: &[SqlType]) -> Evaluated {
    let x = float(values, types, 0)?;
    if x <= 0.0 {
        return Err(SqlError::invalid_floating_point());
    }
    if values.len() == 1 {
        return of_float(x.ln());
    }
    let base = float(values, types, 1)?;
    if base <= 0.0 || base == 1.0 {
        return Err(SqlError::invalid_floating_point());
    }
    of_float(x.ln() / base.ln())
}

pub(super) fn pi(_: &mut Context, _: &[Value], _: &[SqlType]) -> Evaluated {
    Ok(Value::Float(std::f64::consts::PI))
}

/// From 0 to below 1; a seed starts the sequence over.
pub(super) fn rand(context: &mut Context, values: &[Value], types: &[SqlType]) -> Evaluated {
    if values.first().is_some_and(|seed| !seed.is_null()) {
        context.seed_rand(whole(values, types, 0)? as i32);
    }
    Ok(Value::Float(context.rand()))
}
