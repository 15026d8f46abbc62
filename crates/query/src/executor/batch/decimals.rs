//! Sums, differences and products of decimals whose digits 64 bits hold, in loops over columns.
//!
//! Results that do not fit, and the rare ones that are rounded, are left to the scalar operators.

use arrow_array::{Array, Int64Array};
use arrow_buffer::NullBuffer;
use pikepole_types::{ArithmeticOp, Value, add_type, multiply_type};

use super::vector::{Code, Vector};

/// Digits of each row without their point.
enum Digits<'a> {
    Same(i64),
    Each(&'a Int64Array),
}

/// One side of an operator.
struct Operand<'a> {
    digits: Digits<'a>,
    precision: u8,
    scale: u8,
}

impl<'a> Operand<'a> {
    fn of(vector: &'a Vector) -> Option<Operand<'a>> {
        let (digits, code) = match vector {
            Vector::Coded(code, codes) => (Digits::Each(codes), *code),
            Vector::Same(value) => {
                let (code, digits) = Code::encode(value)?;
                (Digits::Same(digits), code)
            }
            Vector::Texts(_) | Vector::Any(_) => return None,
        };
        match code {
            Code::Decimal { precision, scale } => Some(Operand { digits, precision, scale }),
            _ => None,
        }
    }

    fn nulls(&self) -> Option<&NullBuffer> {
        match self.digits {
            Digits::Same(_) => None,
            Digits::Each(codes) => codes.nulls(),
        }
    }
}

/// Applies an operator to each row; none where only the scalar operators can.
pub(super) fn combined(op: ArithmeticOp, left: &Vector, right: &Vector) -> Option<Vector> {
    if [left, right].iter().any(|side| matches!(side, Vector::Same(Value::Null))) {
        let other = if matches!(left, Vector::Same(Value::Null)) { right } else { left };
        let is_decimal = matches!(other, Vector::Same(Value::Null)) || Operand::of(other).is_some();
        return is_decimal.then_some(Vector::Same(Value::Null));
    }
    let (left, right) = (Operand::of(left)?, Operand::of(right)?);
    let [own, other] = [&left, &right].map(|side| (side.precision, side.scale));
    let common = left.scale.max(right.scale);
    let ((precision, scale), exact) = match op {
        ArithmeticOp::Multiply => (multiply_type(own, other), left.scale + right.scale),
        ArithmeticOp::Add | ArithmeticOp::Subtract => (add_type(own, other), common),
        _ => return None,
    };
    if scale != exact {
        return None;
    }
    let digits = if op == ArithmeticOp::Multiply {
        each(&left.digits, &right.digits, i64::overflowing_mul)
    } else {
        let factor = |side: &Operand<'_>| 10i64.checked_pow(u32::from(common - side.scale));
        let (up, other_up) = (factor(&left)?, factor(&right)?);
        let add = if op == ArithmeticOp::Add { i64::overflowing_add } else { i64::overflowing_sub };
        each(&left.digits, &right.digits, |a, b| {
            let ((a, a_failed), (b, b_failed)) = (a.overflowing_mul(up), b.overflowing_mul(other_up));
            let (sum, failed) = add(a, b);
            (sum, failed | a_failed | b_failed)
        })
    }?;
    let code = Code::Decimal { precision, scale };
    if let (Digits::Same(_), Digits::Same(_)) = (&left.digits, &right.digits) {
        return Some(Vector::Same(code.decode(*digits.first()?)));
    }
    let nulls = NullBuffer::union(left.nulls(), right.nulls());
    Some(Vector::Coded(code, Int64Array::new(digits.into(), nulls)))
}

/// The results for each row, or one; none when one of them failed.
fn each(left: &Digits<'_>, right: &Digits<'_>, apply: impl Fn(i64, i64) -> (i64, bool)) -> Option<Vec<i64>> {
    let mut failed = false;
    let mut one = |a: i64, b: i64| {
        let (result, overflowed) = apply(a, b);
        failed |= overflowed;
        result
    };
    let results = match (left, right) {
        (Digits::Same(a), Digits::Same(b)) => vec![one(*a, *b)],
        (Digits::Each(a), Digits::Same(b)) => a.values().iter().map(|&a| one(a, *b)).collect(),
        (Digits::Same(a), Digits::Each(b)) => b.values().iter().map(|&b| one(*a, b)).collect(),
        (Digits::Each(a), Digits::Each(b)) => {
            a.values().iter().zip(b.values()).map(|(&a, &b)| one(a, b)).collect::<Vec<i64>>()
        }
    };
    (!failed).then_some(results)
}
