//! Expressions with their types, and the conversions between them.

use super::undeclared::Wanted;
use crate::expression::{Assign, COPIES, Convert, Env, Expr, Fault, Integer, Width, ask_for};
use crate::state::SessionState;
use pikepole_types::{
    CodePage, Collated, Collation, Context, Conversion, DateFormat, SqlError, SqlType, Target, Value, conversion,
    memory,
};

/// The digits that fit an `i64` whatever they are.
pub(crate) const WHOLE_DIGITS_MAX: u8 = 18;

/// A bound expression.
#[derive(Debug, Clone)]
pub(crate) struct Typed {
    pub(crate) expr: Expr,
    pub(crate) ty: SqlType,
    pub(crate) nullable: bool,
    /// What it brings to comparisons.
    pub(crate) collated: Collated,
    /// Set while the types of undeclared variables are deduced, for one of them: it is of no type until one is wanted.
    pub(crate) undeclared: Option<Wanted>,
}

impl Typed {
    pub(crate) fn new(expr: Expr, ty: SqlType, nullable: bool) -> Typed {
        Typed { expr, ty, nullable, collated: Collated::Default, undeclared: None }
    }

    /// The same value with a collation; one that is no text has none.
    #[must_use]
    pub(crate) fn collated(self, collated: Collated) -> Typed {
        let collated = if self.ty.is_string() { collated } else { Collated::Default };
        Typed { collated, ..self }
    }

    /// The code page of its texts of `char` and `varchar`.
    pub(crate) fn page(&self) -> CodePage {
        self.collated.shown().code_page()
    }

    /// An undeclared variable is wanted in a type.
    pub(crate) fn want(&self, ty: &SqlType) {
        if let Some(wanted) = &self.undeclared {
            wanted.in_type(ty);
        }
    }

    /// A constant.
    pub(crate) fn constant(value: Value, ty: SqlType) -> Typed {
        let nullable = value.is_null();
        Typed { expr: Expr::Const(value), ty, nullable, collated: Collated::Default, undeclared: None }
    }

    /// The expression as an integer expression; its type is one.
    pub(crate) fn integer(self) -> Integer {
        match self.expr {
            Expr::Integer(integer, _) => *integer,
            Expr::Slot(slot) => Integer::Slot(slot),
            Expr::Const(value) => Integer::Const(value.as_i64()),
            other => Integer::Other(Box::new(other)),
        }
    }

    /// The expression as an integer one when its values are whole numbers of at most 18 digits, whatever the type says:
    /// integers, and decimals without a fraction. Numbers of that size compare and add exactly in 64 bits.
    pub(crate) fn whole(&self) -> Option<Integer> {
        if Width::of(&self.ty).is_some() {
            return Some(self.clone().integer());
        }
        let SqlType::Decimal { precision: 0..=WHOLE_DIGITS_MAX, scale: 0 } = self.ty else {
            return None;
        };
        match &self.expr {
            Expr::Whole(integer, _) => Some(integer.as_ref().clone()),
            Expr::Const(Value::Decimal(decimal)) => {
                let whole = i64::try_from(decimal.mantissa()).ok()?;
                Some(Integer::Const(Some(whole)))
            }
            _ => None,
        }
    }

    /// An integer expression that gives the same as this one, or fails where 64 bits do not hold it.
    pub(crate) fn short(&self) -> Option<Integer> {
        match &self.expr {
            Expr::Short(short) => Some(short.integer.clone()),
            _ => self.whole(),
        }
    }

    /// Evaluates an expression of constants now. An error stays in the expression, to be raised when it runs.
    /// A long value is left to be made when it runs: a plan would keep it, and be copied from.
    pub(crate) fn folded(mut self) -> Typed {
        if let Some(value) = constant_value(&self.expr).filter(|value| value.text_bytes() < memory::SMALL_BYTES) {
            self.nullable = value.is_null();
            self.expr = Expr::Const(value);
        }
        self
    }
}

/// The value of an expression that reads no slot, global or host function.
pub(crate) fn constant_value(expr: &Expr) -> Option<Value> {
    let state = SessionState::new(0);
    let mut functions = Context::new(crate::clock::epoch(), 0);
    let mut env = Env { slots: &[], state: &state, functions: &mut functions, host: None };
    expr.eval(&mut env).ok()
}

/// Whether strings of the two types need no conversion when only compared or concatenated.
fn both_strings(a: &SqlType, b: &SqlType) -> bool {
    a.is_string() && b.is_string()
}

/// Whether the conversion of a constant depends on the session's DATEFORMAT or language: a text that is read as a date, a date that
/// is written as a text. Plans are shared, so it waits until they run.
pub(crate) fn reads_session(expr: &Expr, to: &SqlType) -> bool {
    match expr {
        Expr::Const(Value::Str(text)) => to.is_date_or_time() && DateFormat::matters_to(text),
        Expr::Const(value) => to.is_string() && is_date(value),
        _ => false,
    }
}

fn is_date(value: &Value) -> bool {
    matches!(
        value,
        Value::Date(_) | Value::DateTime(_) | Value::SmallDateTime(_) | Value::DateTime2(_) | Value::DateTimeOffset(_)
    )
}

/// An implicit conversion to the type operands meet at.
pub(crate) fn convert_to(typed: Typed, to: &SqlType) -> Result<Typed, Fault> {
    typed.want(to);
    if typed.ty == *to || typed.ty == SqlType::Null || both_strings(&typed.ty, to) {
        return Ok(Typed { ty: *to, ..typed });
    }
    if let (Some(from), Some(width)) = (Width::of(&typed.ty), Width::of(to)) {
        return Ok(integer_to(typed, from, width));
    }
    let possible = conversion(&typed.ty, to);
    if possible != Conversion::Implicit {
        let (from, to) = (typed.ty.error_name(), to.error_name());
        return Err(Box::new(match typed.ty {
            SqlType::Variant | SqlType::Clr(_) if possible == Conversion::Explicit => {
                SqlError::implicit_conversion_not_allowed(from, to)
            }
            _ => SqlError::operand_type_clash(from, to),
        }));
    }
    let nullable = typed.nullable;
    let constant = typed.expr.is_const() && !reads_session(&typed.expr, to);
    let page = typed.page();
    let (input, from) = (typed.expr, typed.ty);
    let expr = Expr::Convert(Box::new(Convert { input, from, to: *to, style: None, lenient: false, page }));
    let converted = Typed::new(expr, *to, nullable);
    Ok(if constant { converted.folded() } else { converted })
}

fn integer_to(typed: Typed, from: Width, to: Width) -> Typed {
    let nullable = typed.nullable;
    let constant = typed.expr.is_const();
    let integer = typed.integer();
    let integer = if to < from { narrowed(integer, from, to) } else { integer };
    let typed = Typed::new(Expr::Integer(Box::new(integer), to), to.sql_type(), nullable);
    if constant { typed.folded() } else { typed }
}

fn narrowed(integer: Integer, from: Width, to: Width) -> Integer {
    Integer::Narrow(Box::new(integer), from, to)
}

/// A value stored into a variable, parameter (`column` absent) or column, of a collation.
///
/// # Errors
/// 206 and 257 when the types cannot be converted implicitly.
pub(crate) fn assign_to(
    typed: Typed,
    to: &SqlType,
    collation: Collation,
    column: Option<(&str, &str)>,
) -> Result<Expr, Fault> {
    let page = collation.code_page();
    typed.want(to);
    if typed.ty == SqlType::Null {
        return Ok(Expr::NULL);
    }
    if let Collated::Conflict { left, right, operator } = typed.collated {
        let (from, to) = (typed.ty.error_name(), to.error_name());
        return Err(Box::new(SqlError::collation_conflict_converted(from, to, right.name(), left.name(), operator)));
    }
    if let (Some(from), Some(width)) = (Width::of(&typed.ty), Width::of(to)) {
        if from == width {
            return Ok(typed.expr);
        }
        return Ok(integer_to(typed, from, width).expr);
    }
    let keeps_page = !to.is_string() || to.is_unicode() || typed.page() == page;
    if typed.ty == *to && keeps_page && !typed.expr.is_const() {
        return Ok(typed.expr);
    }
    if *to == SqlType::BigInt
        && let Some(integer) = typed.whole()
    {
        return Ok(Expr::Integer(Box::new(integer), Width::Big));
    }
    let short = match (&typed.expr, Width::of(to)) {
        (Expr::Short(short), Some(width)) if width != Width::Bit => Some((short.integer.clone(), width)),
        _ => None,
    };
    match conversion(&typed.ty, to) {
        Conversion::Implicit => {}
        Conversion::Explicit => {
            let (from, to) = (typed.ty.error_name(), to.error_name());
            return Err(Box::new(SqlError::implicit_conversion_not_allowed(from, to)));
        }
        Conversion::None => {
            let (from, to) = (typed.ty.error_name(), to.error_name());
            return Err(Box::new(SqlError::operand_type_clash(from, to)));
        }
    }
    if let Expr::Const(value) = &typed.expr
        && !reads_session(&typed.expr, to)
    {
        let target = match column {
            Some((table, column)) => Target::Column { table, column },
            None => Target::Variable,
        };
        let mut out = Value::Null;
        if ask_for([value], COPIES).is_ok()
            && pikepole_types::assign_in(page, value, &typed.ty, to, target, &mut out).is_ok()
        {
            return Ok(Expr::Const(out));
        }
    }
    let column = column.map(|(table, column)| (table.into(), column.into()));
    let exact = Expr::Assign(Box::new(Assign { input: typed.expr, from: typed.ty, to: *to, page, column }));
    Ok(match short {
        None => exact,
        Some((integer, width)) => {
            let narrow = if width < Width::Big { narrowed(integer, Width::Big, width) } else { integer };
            Expr::Integer(Box::new(Integer::Short(Box::new((narrow, exact)))), width)
        }
    })
}
