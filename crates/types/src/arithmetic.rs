//! Operators on values: `+ - * / % & | ^`, unary `-` and `~`.
//!
//! Two integers, the common case, are computed in place. All others meet at the type of higher precedence: text becomes
//! the other side's type, whole numbers become decimals beside decimals, and so on. Overflow is error 8115, never a wrong
//! answer.

use crate::compare::natural_type;
use crate::convert;
use crate::decimal::{self, Decimal};
use crate::error::SqlError;
use crate::sql_type::{Length, SqlType, implicit_type};
use crate::value::Value;

/// A binary operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ArithmeticOp {
    /// `+`, which also joins strings.
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `/`; cuts off between integers.
    Divide,
    /// `%`; has the sign of the dividend.
    Modulo,
    /// `&`
    BitAnd,
    /// `|`
    BitOr,
    /// `^`
    BitXor,
}

use ArithmeticOp::*;

impl ArithmeticOp {
    /// The operator as error messages call it.
    fn name(self) -> &'static str {
        match self {
            Add => "add",
            Subtract => "subtract",
            Multiply => "multiply",
            Divide => "divide",
            Modulo => "modulo",
            BitAnd => "'&'",
            BitOr => "'|'",
            BitXor => "'^'",
        }
    }

    fn is_bitwise(self) -> bool {
        matches!(self, BitAnd | BitOr | BitXor)
    }
}

/// The type of `left op right`.
///
/// # Errors
/// 402, 8117 or 206 when the operator does not take these types.
pub fn operator_type(op: ArithmeticOp, left: &SqlType, right: &SqlType) -> Result<SqlType, SqlError> {
    use SqlType::*;
    let (left, right) = match (left, right) {
        (Null, Null) => return Ok(Int),
        (Null, other) | (other, Null) => (other, other),
        both => both,
    };
    if let Some(ty @ Clr(_)) = [left, right].into_iter().find(|ty| matches!(ty, Clr(_))) {
        return Err(SqlError::invalid_operator(op.name(), ty.name()));
    }
    if left.is_text_or_image() || right.is_text_or_image() {
        return Err(refused(op, left, right));
    }
    // A variant is converted by whoever writes the expression.
    match (left, right) {
        (Variant, Variant) => {
            return Err(SqlError::types_incompatible(left.error_name(), right.error_name(), op.name()));
        }
        (Variant, other) | (other, Variant) => {
            return Err(SqlError::implicit_conversion_not_allowed(Variant.error_name(), other.error_name()));
        }
        _ => {}
    }
    let texts = left.is_string() && right.is_string();
    let binaries = left.is_binary() && right.is_binary();
    if texts || binaries {
        return if op == Add { Ok(joined_type(left, right)) } else { Err(refused(op, left, right)) };
    }
    let dated = |ty: &SqlType| matches!(ty, DateTime | SmallDateTime);
    if left.is_date_or_time() || right.is_date_or_time() {
        let other_fits = |ty: &SqlType| dated(ty) || ty.is_number() || ty.is_string();
        let fits =
            matches!(op, Add | Subtract) && (dated(left) || dated(right)) && other_fits(left) && other_fits(right);
        return if fits { implicit_type(left, right) } else { Err(refused(op, left, right)) };
    }
    let meeting = implicit_type(left, right)?;
    let allowed = match meeting {
        Bit => op.is_bitwise(),
        TinyInt | SmallInt | Int | BigInt => true,
        Decimal { .. } | Money | SmallMoney => !op.is_bitwise(),
        Real | Float => !op.is_bitwise() && op != Modulo,
        _ => false,
    };
    if !allowed {
        return Err(refused(op, left, right));
    }
    let SqlType::Decimal { precision, scale } = meeting else {
        return Ok(meeting);
    };
    // Text takes the decimal's own type.
    let digits = |ty: &SqlType| ty.as_decimal().unwrap_or((precision, scale));
    let (a, b) = (digits(left), digits(right));
    let (precision, scale) = match op {
        Add | Subtract => decimal::add_type(a, b),
        Multiply => decimal::multiply_type(a, b),
        Divide => decimal::divide_type(a, b),
        _ => decimal::remainder_type(a, b),
    };
    Ok(SqlType::Decimal { precision, scale })
}

fn joined_type(left: &SqlType, right: &SqlType) -> SqlType {
    let unicode = left.is_unicode() || right.is_unicode();
    let most = if unicode { 4000 } else { 8000 };
    let length = match (left.declared_length(), right.declared_length()) {
        (Some(Length::Limit(a)), Some(Length::Limit(b))) => Length::Limit((a.saturating_add(b)).min(most)),
        _ => Length::Max,
    };
    match (left.is_binary(), unicode) {
        (true, _) => SqlType::VarBinary(length),
        (_, true) => SqlType::NVarChar(length),
        _ => SqlType::VarChar(length),
    }
}

#[cold]
fn refused(op: ArithmeticOp, left: &SqlType, right: &SqlType) -> SqlError {
    if left.is_binary() && right.is_binary() && !matches!(op, Multiply | Divide) {
        return SqlError::types_incompatible(left.error_name(), right.error_name(), op.name());
    }
    if std::mem::discriminant(left) == std::mem::discriminant(right) {
        return SqlError::operand_type_invalid(left.error_name(), op.name());
    }
    if convert::conversion(left, right) == convert::Conversion::None
        && convert::conversion(right, left) == convert::Conversion::None
    {
        return SqlError::operand_type_clash(left.error_name(), right.error_name());
    }
    SqlError::types_incompatible(left.error_name(), right.error_name(), op.name())
}

/// `left op right`; NULL when either is.
///
/// # Errors
/// 8115 on overflow, 8134 on division by zero, those of the conversion of text, and those of [`operator_type`].
#[inline]
pub fn arithmetic(op: ArithmeticOp, left: &Value, right: &Value) -> Result<Value, SqlError> {
    let mut out = Value::Null;
    arithmetic_into(op, left, right, &mut out)?;
    Ok(out)
}

/// [`arithmetic`] into a place whose buffer is used again.
///
/// # Errors
/// As [`arithmetic`]; `out` is then unspecified.
#[inline]
pub fn arithmetic_into(op: ArithmeticOp, left: &Value, right: &Value, out: &mut Value) -> Result<(), SqlError> {
    match (left, right) {
        (Value::Int(a), Value::Int(b)) => *out = Value::Int(int_op(op, *a, *b)?),
        (Value::BigInt(a), Value::BigInt(b)) => *out = Value::BigInt(bigint_op(op, *a, *b)?),
        (Value::BigInt(a), Value::Int(b)) => *out = Value::BigInt(bigint_op(op, *a, i64::from(*b))?),
        (Value::Int(a), Value::BigInt(b)) => *out = Value::BigInt(bigint_op(op, i64::from(*a), *b)?),
        (Value::Null, _) | (_, Value::Null) => *out = Value::Null,
        _ => others(op, left, right, out)?,
    }
    Ok(())
}

macro_rules! integer_op {
    ($function:ident, $integer:ty, $name:literal) => {
        #[inline]
        fn $function(op: ArithmeticOp, a: $integer, b: $integer) -> Result<$integer, SqlError> {
            let result = match op {
                Add => a.checked_add(b),
                Subtract => a.checked_sub(b),
                Multiply => a.checked_mul(b),
                Divide if b != 0 => a.checked_div(b),
                // The remainder by -1 is 0 even where the quotient overflows.
                Modulo if b != 0 => Some(a.wrapping_rem(b)),
                Divide | Modulo => return Err(SqlError::divide_by_zero()),
                BitAnd => Some(a & b),
                BitOr => Some(a | b),
                BitXor => Some(a ^ b),
            };
            match result {
                Some(value) => Ok(value),
                None => Err(SqlError::arithmetic_overflow("expression", $name)),
            }
        }
    };
}

integer_op!(tinyint_op, u8, "tinyint");
integer_op!(smallint_op, i16, "smallint");
integer_op!(int_op, i32, "int");
integer_op!(bigint_op, i64, "bigint");

/// All but the commonest kinds.
fn others(op: ArithmeticOp, left: &Value, right: &Value, out: &mut Value) -> Result<(), SqlError> {
    use Value::*;
    match (left, right) {
        (Str(a), Str(b)) if op == Add => return join_text(a, b, out),
        (Bin(a), Bin(b)) if op == Add => {
            let joined = [a.as_slice(), b].concat();
            *out = Bin(joined);
            return Ok(());
        }
        _ => {}
    }
    let (left_type, right_type) = (natural_type(left), natural_type(right));
    operator_type(op, &left_type, &right_type)?;
    if left_type.is_date_or_time() || right_type.is_date_or_time() {
        *out = on_dates(op, left, right, &left_type, &right_type)?;
        return Ok(());
    }
    // Text and binary take the other side's type.
    let is_number = |ty: &SqlType| ty.is_number();
    if !is_number(&left_type) || !is_number(&right_type) {
        let meeting = implicit_type(&left_type, &right_type)?;
        let a = convert::convert(left, &left_type, &meeting, None)?;
        let b = convert::convert(right, &right_type, &meeting, None)?;
        return arithmetic_into(op, &a, &b, out);
    }
    *out = on_numbers(op, left, right, &implicit_type(&left_type, &right_type)?)?;
    Ok(())
}

fn join_text(a: &str, b: &str, out: &mut Value) -> Result<(), SqlError> {
    let buffer = out.string_buffer();
    buffer.reserve(a.len() + b.len());
    buffer.push_str(a);
    buffer.push_str(b);
    Ok(())
}

fn on_numbers(op: ArithmeticOp, left: &Value, right: &Value, meeting: &SqlType) -> Result<Value, SqlError> {
    let (a, b) = (left.as_i64().unwrap_or(0), right.as_i64().unwrap_or(0));
    Ok(match meeting {
        // The operands fit: the meeting type is the wider of theirs.
        SqlType::Bit => Value::Bit(bigint_op(op, a, b)? != 0),
        SqlType::TinyInt => Value::TinyInt(tinyint_op(op, a as u8, b as u8)?),
        SqlType::SmallInt => Value::SmallInt(smallint_op(op, a as i16, b as i16)?),
        SqlType::Int => Value::Int(int_op(op, a as i32, b as i32)?),
        SqlType::BigInt => Value::BigInt(bigint_op(op, a, b)?),
        SqlType::Real | SqlType::Float => {
            let operands = convert::as_f64(left).zip(convert::as_f64(right));
            let (a, b) = operands.ok_or_else(|| SqlError::operand_type_invalid(meeting.error_name(), op.name()))?;
            let result = match op {
                Add => a + b,
                Subtract => a - b,
                Multiply => a * b,
                _ if b == 0.0 => return Err(SqlError::divide_by_zero()),
                _ => a / b,
            };
            convert::float_in(result, meeting)?
        }
        _ => {
            let operands = convert::exact(left).zip(convert::exact(right));
            let (a, b) = operands.ok_or_else(|| SqlError::operand_type_invalid(meeting.error_name(), op.name()))?;
            match meeting {
                SqlType::Money | SqlType::SmallMoney => on_money(op, &a, &b, meeting)?,
                _ => Value::Decimal(on_decimals(op, &a, &b)?),
            }
        }
    })
}

fn on_decimals(op: ArithmeticOp, a: &Decimal, b: &Decimal) -> Result<Decimal, SqlError> {
    match op {
        Add => a.add(b),
        Subtract => a.subtract(b),
        Multiply => a.multiply(b),
        Divide => a.divide(b),
        _ => a.remainder(b),
    }
}

/// Money keeps four digits at every step: products are rounded to them, quotients cut off after them.
fn on_money(op: ArithmeticOp, a: &Decimal, b: &Decimal, ty: &SqlType) -> Result<Value, SqlError> {
    let overflow = || SqlError::arithmetic_overflow("expression", ty.error_name());
    let (a, b) = a.mantissa_at(4).zip(b.mantissa_at(4)).ok_or_else(overflow)?;
    let result = match op {
        Add => a + b,
        Subtract => a - b,
        Multiply => decimal::divide_rounded(a.checked_mul(b).ok_or_else(overflow)?, 10_000),
        _ if b == 0 => return Err(SqlError::divide_by_zero()),
        Divide => a * 10_000 / b,
        _ => a % b,
    };
    let decimal = Decimal::new(result, 38, 4).ok_or_else(overflow)?;
    convert::money_from_decimal(&decimal, ty).ok_or_else(overflow)
}

/// `datetime` and `smalldatetime` add and subtract as days from 1900-01-01.
fn on_dates(
    op: ArithmeticOp,
    left: &Value,
    right: &Value,
    left_type: &SqlType,
    right_type: &SqlType,
) -> Result<Value, SqlError> {
    let meeting = implicit_type(left_type, right_type)?;
    let ticks = |value: &Value, ty: &SqlType| match convert::convert(value, ty, &SqlType::DateTime, None)? {
        Value::DateTime(v) => Ok(v.ticks()),
        _ => Err(refused(op, left_type, right_type)),
    };
    let (a, b) = (ticks(left, left_type)?, ticks(right, right_type)?);
    let sum = if op == Add { a + b } else { a - b };
    let overflow = || SqlError::arithmetic_overflow("expression", meeting.error_name());
    let value = crate::datetime::DateTime::from_ticks(sum).ok_or_else(overflow)?;
    convert::time_of(value.moment(), &meeting).ok_or_else(overflow)
}

/// `-value`.
///
/// # Errors
/// 8115 when the type has no such value, 8117 when it is no number.
pub fn negate(value: &Value) -> Result<Value, SqlError> {
    let overflow = |name| SqlError::arithmetic_overflow("expression", name);
    Ok(match value {
        Value::Null => Value::Null,
        Value::TinyInt(v) => Value::TinyInt(v.checked_neg().ok_or_else(|| overflow("tinyint"))?),
        Value::SmallInt(v) => Value::SmallInt(v.checked_neg().ok_or_else(|| overflow("smallint"))?),
        Value::Int(v) => Value::Int(v.checked_neg().ok_or_else(|| overflow("int"))?),
        Value::BigInt(v) => Value::BigInt(v.checked_neg().ok_or_else(|| overflow("bigint"))?),
        Value::Money(v) => Value::Money(v.checked_neg().ok_or_else(|| overflow("money"))?),
        Value::SmallMoney(v) => Value::SmallMoney(v.checked_neg().ok_or_else(|| overflow("smallmoney"))?),
        Value::Decimal(v) => Value::Decimal(v.negate()),
        Value::Real(v) => Value::Real(-v),
        Value::Float(v) => Value::Float(-v),
        _ => return Err(SqlError::operand_type_invalid(natural_type(value).error_name(), "minus")),
    })
}

/// `~value`.
///
/// # Errors
/// 8117 when it is neither an integer nor a bit.
pub fn bit_not(value: &Value) -> Result<Value, SqlError> {
    Ok(match value {
        Value::Null => Value::Null,
        Value::Bit(v) => Value::Bit(!v),
        Value::TinyInt(v) => Value::TinyInt(!v),
        Value::SmallInt(v) => Value::SmallInt(!v),
        Value::Int(v) => Value::Int(!v),
        Value::BigInt(v) => Value::BigInt(!v),
        _ => return Err(SqlError::operand_type_invalid(natural_type(value).error_name(), "'~'")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_overflow_loudly() {
        let error = arithmetic(Add, &Value::Int(i32::MAX), &Value::Int(1)).unwrap_err();
        assert_eq!((error.number, error.severity), (8115, 16));
        assert_eq!(error.message, "Arithmetic overflow error converting expression to data type int.");
        assert_eq!(arithmetic(Add, &Value::TinyInt(200), &Value::TinyInt(100)).unwrap_err().number, 8115);
        assert_eq!(arithmetic(Divide, &Value::Int(i32::MIN), &Value::Int(-1)).unwrap_err().number, 8115);
        assert_eq!(arithmetic(Modulo, &Value::Int(i32::MIN), &Value::Int(-1)), Ok(Value::Int(0)));
        assert_eq!(arithmetic(Modulo, &Value::Int(1), &Value::Int(0)).unwrap_err().number, 8134);
        assert_eq!(negate(&Value::Int(i32::MIN)).unwrap_err().number, 8115);
        assert_eq!(arithmetic(Divide, &Value::Int(-7), &Value::Int(2)), Ok(Value::Int(-3)));
        assert_eq!(arithmetic(Modulo, &Value::Int(-7), &Value::Int(2)), Ok(Value::Int(-1)));
    }

    #[test]
    fn kinds_meet() {
        let table: [(ArithmeticOp, Value, Value, Value); 10] = [
            (Add, Value::Int(1), Value::BigInt(2), Value::BigInt(3)),
            (Add, Value::Int(1), Value::Null, Value::Null),
            (Add, Value::from("1"), Value::Int(2), Value::Int(3)),
            (Add, Value::from("1"), Value::from("2"), Value::from("12")),
            (Multiply, Value::Money(15_000), Value::Int(3), Value::Money(45_000)),
            (Divide, Value::Money(10_000), Value::Int(3), Value::Money(3_333)),
            (Divide, Value::Int(1), Value::Float(4.0), Value::Float(0.25)),
            (BitAnd, Value::Int(6), Value::TinyInt(3), Value::Int(2)),
            (BitXor, Value::Bit(true), Value::Bit(true), Value::Bit(false)),
            (Add, Value::Bin(vec![1]), Value::Bin(vec![2]), Value::Bin(vec![1, 2])),
        ];
        for (op, left, right, expected) in table {
            assert_eq!(arithmetic(op, &left, &right), Ok(expected), "{left:?} {op:?} {right:?}");
        }
    }

    #[test]
    fn the_known_loss_of_money() {
        // 100 / 339 * 10000 in money.
        let step = arithmetic(Divide, &Value::Money(1_000_000), &Value::Money(3_390_000)).expect("divides");
        assert_eq!(arithmetic(Multiply, &step, &Value::Money(100_000_000)), Ok(Value::Money(29_490_000)));
    }

    #[test]
    fn the_largest_products_overflow_and_do_not_panic() {
        let error = arithmetic(Multiply, &Value::Money(i64::MAX), &Value::BigInt(i64::MIN)).unwrap_err();
        assert_eq!(error.message, "Arithmetic overflow error converting expression to data type money.");
        let most = Value::Decimal(Decimal::new(10i128.pow(38) - 1, 38, 0).expect("38 digits"));
        assert_eq!(arithmetic(Multiply, &most, &most).unwrap_err().number, 8115);
        assert_eq!(arithmetic(Multiply, &most, &Value::Money(i64::MAX)).unwrap_err().number, 8115);
    }

    #[test]
    fn what_operators_refuse() {
        let message = |op, left: SqlType, right: SqlType| operator_type(op, &left, &right).unwrap_err().message;
        assert_eq!(message(Add, SqlType::Bit, SqlType::Bit), "Operand data type bit is invalid for add operator.");
        assert_eq!(
            message(Modulo, SqlType::Float, SqlType::Int),
            "The data types float and int are incompatible in the modulo operator."
        );
        assert_eq!(message(Add, SqlType::Date, SqlType::Int), "Operand type clash: date is incompatible with int");
        let text = SqlType::VarChar(Length::Limit(3));
        assert_eq!(message(Subtract, text, text), "Operand data type varchar is invalid for subtract operator.");
    }

    #[test]
    fn static_types_agree_with_results() {
        use crate::compare::natural_type;
        let d = |text: &str| Value::Decimal(Decimal::from_literal(text).expect("literal"));
        let values = [
            Value::TinyInt(7),
            Value::Int(9),
            Value::BigInt(11),
            d("1.25"),
            Value::Money(5_000),
            Value::Real(2.0),
            Value::Float(3.0),
        ];
        for left in &values {
            for right in &values {
                for op in [Add, Subtract, Multiply, Divide, Modulo] {
                    let (left_type, right_type) = (natural_type(left), natural_type(right));
                    match (operator_type(op, &left_type, &right_type), arithmetic(op, left, right)) {
                        (Ok(ty), Ok(value)) => assert_eq!(natural_type(&value), ty, "{left:?} {op:?} {right:?}"),
                        (Ok(ty), Err(error)) => assert_eq!((ty, error.number), (SqlType::TinyInt, 8115)),
                        (Err(a), b) => assert_eq!(Err(a), b),
                    }
                }
            }
        }
    }
}
