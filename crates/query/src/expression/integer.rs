//! Integer expressions as a compact typed tree over `i64`.
//!
//! bit, tinyint, smallint, int and bigint are all carried as `i64` with `None` for NULL. Each operation knows the width of its
//! result and reports error 8115 when the result does not fit, so no value between nodes needs a type of its own.

use super::failed::null_instead;
use super::{Env, Expr, Fault};
use crate::errors;
use crate::state::Global;
use pikepole_types::{SqlType, Value};

/// The type of an integer expression's result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Width {
    /// bit
    Bit,
    /// tinyint
    Tiny,
    /// smallint
    Small,
    /// int
    Int,
    /// bigint
    Big,
}

impl Width {
    /// The width of an integer type; `None` for other types.
    pub fn of(ty: &SqlType) -> Option<Width> {
        Some(match ty {
            SqlType::Bit => Width::Bit,
            SqlType::TinyInt => Width::Tiny,
            SqlType::SmallInt => Width::Small,
            SqlType::Int => Width::Int,
            SqlType::BigInt => Width::Big,
            _ => return None,
        })
    }

    /// The SQL type of this width.
    pub fn sql_type(self) -> SqlType {
        match self {
            Width::Bit => SqlType::Bit,
            Width::Tiny => SqlType::TinyInt,
            Width::Small => SqlType::SmallInt,
            Width::Int => SqlType::Int,
            Width::Big => SqlType::BigInt,
        }
    }

    /// True when `value` can be held.
    #[inline]
    pub fn fits(self, value: i64) -> bool {
        match self {
            Width::Bit => value == 0 || value == 1,
            Width::Tiny => u8::try_from(value).is_ok(),
            Width::Small => i16::try_from(value).is_ok(),
            Width::Int => i32::try_from(value).is_ok(),
            Width::Big => true,
        }
    }

    /// The smallest and the largest value.
    pub fn bounds(self) -> (i64, i64) {
        match self {
            Width::Bit => (0, 1),
            Width::Tiny => (0, 255),
            Width::Small => (i16::MIN.into(), i16::MAX.into()),
            Width::Int => (i32::MIN.into(), i32::MAX.into()),
            Width::Big => (i64::MIN, i64::MAX),
        }
    }

    /// A number known to fit, as a value of this width.
    #[inline]
    pub fn value(self, number: i64) -> Value {
        match self {
            Width::Int => Value::Int(number as i32),
            Width::Big => Value::BigInt(number),
            Width::Bit => Value::Bit(number != 0),
            Width::Tiny => Value::TinyInt(number as u8),
            Width::Small => Value::SmallInt(number as i16),
        }
    }

    /// Stores a number known to fit, or NULL, into a place of this width.
    #[inline]
    pub fn store(self, number: Option<i64>, out: &mut Value) {
        out.set(number.map_or(Value::Null, |number| self.value(number)));
    }
}

/// The integer in a value; `None` for NULL.
///
/// # Panics
/// Never: a value that is no integer cannot be in a slot the binder typed as one, and counts as NULL.
#[inline]
pub fn integer_of(value: &Value) -> Option<i64> {
    match value {
        Value::Int(v) => Some(i64::from(*v)),
        Value::BigInt(v) => Some(*v),
        Value::TinyInt(v) => Some(i64::from(*v)),
        Value::SmallInt(v) => Some(i64::from(*v)),
        Value::Bit(v) => Some(i64::from(*v)),
        _ => None,
    }
}

/// Operators on two integers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IntegerOp {
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `/`, toward zero
    Divide,
    /// `%`, with the sign of the dividend
    Modulo,
    /// `&`
    And,
    /// `|`
    Or,
    /// `^`
    Xor,
}

/// An integer expression.
#[derive(Debug, Clone)]
pub enum Integer {
    /// A constant or NULL.
    Const(Option<i64>),
    /// A slot that holds an integer type.
    Slot(usize),
    /// A global of the session.
    Global(Global),
    /// Two operands and the width of the result.
    Binary {
        /// What to do.
        op: IntegerOp,
        /// The width the result must fit.
        width: Width,
        /// Left and right.
        operands: Box<[Integer; 2]>,
    },
    /// `-x`
    Negate(Box<Integer>, Width),
    /// `~x`
    Complement(Box<Integer>, Width),
    /// A conversion from one width to a narrower one, which must fit.
    Narrow(Box<Integer>, Width, Width),
    /// An expression, and the one of integers that gives the same as long as 64 bits hold every step: see [`Expr::Short`].
    Short(Box<(Integer, Expr)>),
    /// Any other expression whose value is an integer.
    Other(Box<Expr>),
}

impl Integer {
    /// The value of an expression that stands alone, whose errors may mean NULL.
    ///
    /// # Errors
    /// As [`Integer::eval`].
    #[inline]
    pub fn value(&self, env: &mut Env<'_>) -> Result<Option<i64>, Fault> {
        self.eval(env).or_else(|fault| null_instead(fault, env.functions).map(|()| None))
    }

    /// [`Integer::eval`] of an operand, which mostly is a slot or a constant: these take no call.
    #[inline(always)]
    fn operand(&self, env: &mut Env<'_>) -> Result<Option<i64>, Fault> {
        match self {
            Integer::Const(value) => Ok(*value),
            Integer::Slot(slot) => Ok(integer_of(&env.slots[*slot])),
            _ => self.eval(env),
        }
    }

    /// Evaluates; `None` is NULL.
    ///
    /// # Errors
    /// 8115 on overflow, 220 where an int or smallint is too much for a smaller type, 8134 on division by zero, and what an inner
    /// expression reports.
    pub fn eval(&self, env: &mut Env<'_>) -> Result<Option<i64>, Fault> {
        match self {
            Integer::Const(value) => Ok(*value),
            Integer::Slot(slot) => Ok(integer_of(&env.slots[*slot])),
            Integer::Binary { op, width, operands } => {
                let left = operands[0].operand(env)?;
                let right = operands[1].operand(env)?;
                match (left, right) {
                    (Some(left), Some(right)) => op.apply(*width, left, right).map(Some),
                    _ => Ok(None),
                }
            }
            Integer::Global(global) => Ok(global.integer(env.state)),
            Integer::Negate(inner, width) => match inner.eval(env)? {
                Some(value) => fitted(value.checked_neg(), *width).map(Some),
                None => Ok(None),
            },
            Integer::Complement(inner, width) => Ok(inner.eval(env)?.map(|value| match width {
                Width::Bit => 1 - value,
                Width::Tiny => !value & 0xff,
                _ => !value,
            })),
            Integer::Narrow(inner, from, width) => match inner.eval(env)? {
                Some(value) if *width == Width::Bit => Ok(Some(i64::from(value != 0))),
                Some(value) if width.fits(value) => Ok(Some(value)),
                Some(value) => Err(errors::narrowing_overflow(value, *from, &width.sql_type())),
                None => Ok(None),
            },
            Integer::Short(short) => match short.0.eval(env) {
                Ok(value) => Ok(value),
                Err(_) => Ok(integer_of(&short.1.eval(env)?)),
            },
            Integer::Other(expr) => {
                let mut scratch = Value::Null;
                Ok(integer_of(expr.eval_ref(env, &mut scratch)?))
            }
        }
    }
}

impl IntegerOp {
    /// The result, which must fit the width.
    #[inline]
    pub(crate) fn apply(self, width: Width, left: i64, right: i64) -> Result<i64, Fault> {
        let result = match self {
            IntegerOp::Add => left.checked_add(right),
            IntegerOp::Subtract => left.checked_sub(right),
            IntegerOp::Multiply => left.checked_mul(right),
            IntegerOp::Divide | IntegerOp::Modulo if right == 0 => {
                return Err(errors::divide_by_zero());
            }
            IntegerOp::Divide => left.checked_div(right),
            // The one overflow of %, the smallest bigint by -1, has the remainder 0.
            IntegerOp::Modulo => Some(left.wrapping_rem(right)),
            IntegerOp::And => Some(left & right),
            IntegerOp::Or => Some(left | right),
            IntegerOp::Xor => Some(left ^ right),
        };
        fitted(result, width)
    }
}

#[inline]
fn fitted(value: Option<i64>, width: Width) -> Result<i64, Fault> {
    match value {
        Some(value) if width.fits(value) => Ok(value),
        _ => Err(errors::arithmetic_overflow(&width.sql_type())),
    }
}
