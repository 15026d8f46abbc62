//! GENERATE_SERIES. A series of decimals is one of whole numbers, their digits without the point, with the point put in again.

use super::expression::{binary_value, explicit};
use super::join::{JoinTree, Leaf};
use super::scope::SourceColumn;
use super::source::{rename, too_few_arguments};
use super::typed::{Typed, WHOLE_DIGITS_MAX};
use super::{Binder, Bound};
use crate::errors;
use crate::expression::{Case, Comparison, Expr, Fault, Integer, Predicate, Width};
use crate::output::ColumnInfo;
use crate::plan::{Node, Series};
use pikepole_tsql as tree;
use pikepole_types::{Decimal, SqlError, SqlType, Value};

impl Binder<'_> {
    pub(super) fn generate_series(&mut self, function: &tree::TableFunction, lateral: bool) -> Result<JoinTree, Fault> {
        let sources = if lateral { Vec::new() } else { std::mem::take(&mut self.scope().sources) };
        let arguments = self.series_arguments(&function.call);
        if !lateral {
            self.scope().sources = sources;
        }
        let (ty, arguments) = arguments?;
        let alias = match &function.alias {
            Some(alias) => alias.text.clone(),
            None => function.call.name.name.text.clone(),
        };
        let mut columns = vec![SourceColumn::new("value", ty, false)];
        rename(&mut columns, &function.columns, &alias)?;
        let leaf = match (ty, Width::of(&ty).filter(|width| *width != Width::Bit)) {
            (_, Some(width)) => {
                let arguments = arguments.into_iter().map(Typed::integer).collect();
                Leaf::Rows(Node::Series(Box::new(self.series(arguments, width)?)))
            }
            (SqlType::Decimal { precision: ..=WHOLE_DIGITS_MAX, scale }, None) => {
                Leaf::Derived(self.decimal_series(arguments, ty, scale)?)
            }
            _ => {
                return Err(errors::unsupported(
                    "GENERATE_SERIES of a type other than integers and decimals of 18 digits",
                ));
            }
        };
        self.add(alias, None, columns, leaf)
    }

    fn series(&mut self, mut arguments: Vec<Integer>, width: Width) -> Result<Series, Fault> {
        let step = arguments.split_off(2).pop();
        let (Some(stop), Some(start)) = (arguments.pop(), arguments.pop()) else {
            return Err(Box::new(too_few_arguments("GENERATE_SERIES")));
        };
        Ok(Series { start, stop, step, slot: self.register(), width })
    }

    fn decimal_series(&mut self, arguments: Vec<Typed>, ty: SqlType, scale: u8) -> Result<Bound, Fault> {
        let unit = 10i64.pow(scale.into());
        let digits = arguments.into_iter().map(|argument| digits(argument, unit));
        let mut digits = digits.collect::<Result<Vec<Integer>, Fault>>()?;
        if let [start, stop] = digits.as_slice() {
            // Up or down by one.
            let rises = Predicate::Integers(Comparison::LessOrEqual, Box::new([start.clone(), stop.clone()]));
            let (up, down) = (Value::BigInt(unit), Value::BigInt(-unit));
            let step = Case { branches: vec![(rises, Expr::Const(up))], otherwise: Expr::Const(down) };
            digits.push(Integer::Other(Box::new(Expr::Case(Box::new(step)))));
        }
        let series = self.series(digits, Width::Big)?;
        let whole = Typed::new(Expr::Slot(series.slot), SqlType::BigInt, false);
        let whole = explicit(whole, SqlType::Decimal { precision: 19, scale: 0 }, None, false)?;
        let part = Decimal::new(1, scale.max(1), scale).map_or(Value::Null, Value::Decimal);
        let part = Typed::constant(part, SqlType::Decimal { precision: scale.max(1), scale });
        let value = explicit(binary_value(tree::BinaryOp::Multiply, whole, part)?, ty, None, false)?;
        Ok(Bound {
            node: Node::Series(Box::new(series)),
            columns: vec![ColumnInfo::new("value", ty, false)],
            values: vec![value.expr],
        })
    }

    fn series_arguments(&mut self, call: &tree::FunctionCall) -> Result<(SqlType, Vec<Typed>), Fault> {
        if call.arguments.len() > 3 {
            return Err(Box::new(SqlError::too_many_arguments("GENERATE_SERIES")));
        }
        if call.arguments.len() < 2 {
            return Err(Box::new(too_few_arguments("GENERATE_SERIES")));
        }
        let mark = self.pending.len();
        let mut typed = Vec::new();
        for argument in &call.arguments {
            let expr = argument.expr().ok_or_else(|| SqlError::incorrect_syntax("DEFAULT"))?;
            typed.push(self.expr(expr)?);
        }
        if self.pending.len() > mark {
            return Err(Box::new(SqlError::subquery_not_allowed()));
        }
        let ty = series_type(&typed)?;
        Ok((ty, typed))
    }
}

/// The one type of the arguments; decimals may differ, and meet.
fn series_type(arguments: &[Typed]) -> Result<SqlType, Fault> {
    let mut met = SqlType::Null;
    for (place, argument) in arguments.iter().enumerate() {
        met = match (met, argument.ty) {
            (met, SqlType::Null) => met,
            (_, ty) if !is_counted(&ty) => {
                return Err(Box::new(SqlError::argument_type_invalid(ty.error_name(), place + 1, "generate_series")));
            }
            (SqlType::Null, ty) => ty,
            (met @ SqlType::Decimal { .. }, ty @ SqlType::Decimal { .. }) => pikepole_types::implicit_type(&met, &ty)?,
            (met, ty) if met == ty => met,
            _ => return Err(Box::new(SqlError::series_types_differ())),
        };
    }
    Ok(if met == SqlType::Null { SqlType::Int } else { met })
}

/// Whether a series can be of the type.
fn is_counted(ty: &SqlType) -> bool {
    ty.is_integer() || matches!(ty, SqlType::Decimal { .. })
}

/// The digits of a decimal without its point: `unit` times its value.
fn digits(decimal: Typed, unit: i64) -> Result<Integer, Fault> {
    if decimal.ty == SqlType::Null {
        return Ok(decimal.integer());
    }
    let unit_type = SqlType::Decimal { precision: WHOLE_DIGITS_MAX + 1, scale: 0 };
    let unit = Typed::constant(Value::Decimal(Decimal::from_i64(unit)), unit_type);
    let product = binary_value(tree::BinaryOp::Multiply, decimal, unit)?;
    Ok(explicit(product, SqlType::BigInt, None, false)?.integer())
}
