//! UNION, EXCEPT and INTERSECT.

use super::collate::distinct_keys;
use super::decimal_name::meet;
use super::typed::{Typed, convert_to};
use super::{Binder, Bound, NESTING_MAX, filtered, user_types};
use crate::expression::{Comparison, Expr, Fault, Integer, Predicate};
use crate::output::{ColumnInfo, DecimalName, Provenance};
use crate::plan::{self, Node};
use pikepole_tsql as tree;
use pikepole_types::{Aggregate, Collated, Collation, SqlError, SqlType, Value, implicit_type};

impl Binder<'_> {
    /// Rows and the set operators behind them, each of which takes all before it for its left side. UNION or UNION ALL many
    /// times in a row is one operator; every other one stands on top of those before it.
    pub(super) fn set_operations(
        &mut self,
        first: &tree::QueryBody,
        rest: &[(tree::SetOperator, tree::QueryBody)],
    ) -> Result<Bound, Fault> {
        use tree::SetOperator::{Except, Intersect, Union, UnionAll};
        let is_run = |op: tree::SetOperator, next| op == next && matches!(op, Union | UnionAll);
        let runs = || rest.chunk_by(|(op, _), (next, _)| is_run(*op, *next));
        let depth = self.depth + runs().count();
        if depth >= NESTING_MAX {
            return Err(Box::new(SqlError::nested_too_deeply()));
        }
        let mut bound = self.deeper(|binder| binder.body(first))?;
        for run in runs() {
            let mut inputs = vec![bound];
            for (_, body) in run {
                inputs.push(self.deeper(|binder| binder.body(body))?);
            }
            bound = match run[0].0 {
                UnionAll => self.concat(inputs, "UNION ALL")?,
                Union => {
                    let all = self.concat(inputs, "UNION")?;
                    self.distinct_rows(all)
                }
                op @ (Except | Intersect) => self.difference(op, inputs)?,
            };
        }
        Ok(bound)
    }

    /// EXCEPT and INTERSECT: the rows of both sides are grouped, and each group knows the sides it has rows of.
    fn difference(&mut self, op: tree::SetOperator, mut sides: Vec<Bound>) -> Result<Bound, Fault> {
        for (bound, side) in sides.iter_mut().zip(0..) {
            bound.columns.push(ColumnInfo::new("", SqlType::Int, false));
            bound.values.push(Expr::Const(Value::Int(side)));
        }
        let left_nullable: Vec<bool> = sides[0].columns.iter().map(|column| column.nullable).collect();
        let verb = if op == tree::SetOperator::Except { "EXCEPT" } else { "INTERSECT" };
        let mut both = self.concat(sides, verb)?;
        both.columns.pop();
        let side = both.values.pop().unwrap_or(Expr::NULL);
        let registers = self.registers(both.values.len());
        let keys = distinct_keys(both.values, &both.columns, registers);
        let (first, last) = (self.register(), self.register());
        let aggregate = |function, slot| plan::Aggregate {
            function,
            input: Some(side.clone()),
            input_type: SqlType::Int,
            collation: Collation::default(),
            distinct: false,
            separator: None,
            slot,
        };
        let aggregates = vec![aggregate(Aggregate::Min, first), aggregate(Aggregate::Max, last)];
        let groups = Node::Group { input: Box::new(both.node), keys, aggregates };
        let is = |slot, side| {
            let sides = [Integer::Slot(slot), Integer::Const(Some(side))];
            Predicate::Integers(Comparison::Equal, Box::new(sides))
        };
        let wanted = match op {
            tree::SetOperator::Except => vec![is(last, 0)],
            _ => vec![is(first, 0), is(last, 1)],
        };
        if op == tree::SetOperator::Except {
            both.columns.iter_mut().zip(left_nullable).for_each(|(column, nullable)| column.nullable = nullable);
        }
        Ok(Bound {
            node: filtered(groups, wanted),
            columns: both.columns,
            values: registers.range().map(Expr::Slot).collect(),
        })
    }

    /// Rows of several queries, one after the other, as rows of one type.
    ///
    /// # Errors
    /// 205 for lists of different lengths, 206 for types that do not meet, 468 and 451 for collations that do not.
    pub(super) fn concat(&mut self, inputs: Vec<Bound>, verb: &'static str) -> Result<Bound, Fault> {
        let mut columns = inputs.first().map(|first| first.columns.clone()).unwrap_or_default();
        for input in &inputs[1..] {
            if input.columns.len() != columns.len() {
                return Err(Box::new(SqlError::union_lists_differ()));
            }
            for (place, (column, other)) in columns.iter_mut().zip(&input.columns).enumerate() {
                let before = column.ty;
                column.ty = implicit_type(&column.ty, &other.ty)?;
                if !column.ty.is_comparable() && verb != "UNION ALL" {
                    return Err(Box::new(SqlError::not_in_set_operation(column.ty.name())));
                }
                column.nullable |= other.nullable;
                column.provenance = Provenance::Expression;
                column.user_type = user_types::meet((&before, column.user_type), (&other.ty, other.user_type));
                column.decimal_name = met_name(&before, column, other);
                column.collated = match column.collated.meet(other.collated, verb)? {
                    Collated::Conflict { left, right, .. } if verb == "UNION ALL" => {
                        let (left, right) = (left.name(), right.name());
                        let error = SqlError::collation_conflict_in_column(right, left, verb, "SELECT", place + 1);
                        return Err(Box::new(error));
                    }
                    Collated::Conflict { left, right, .. } => {
                        return Err(Box::new(SqlError::collation_conflict(right.name(), left.name(), verb)));
                    }
                    collated if column.ty.is_string() => collated,
                    _ => Collated::Default,
                };
            }
        }
        let registers = self.registers(columns.len());
        let mut nodes = Vec::with_capacity(inputs.len());
        for input in inputs {
            let mut values = Vec::with_capacity(columns.len());
            for ((value, own), column) in input.values.into_iter().zip(&input.columns).zip(&columns) {
                let typed = Typed::new(value, own.ty, own.nullable);
                values.push(convert_to(typed, &column.ty)?.expr);
            }
            nodes.push((input.node, values));
        }
        Ok(Bound {
            node: Node::Concat { inputs: nodes, registers },
            columns,
            values: registers.range().map(Expr::Slot).collect(),
        })
    }
}

/// The name of a decimal that the columns of two queries become; `before` is the type that the first one had.
fn met_name(before: &SqlType, column: &ColumnInfo, other: &ColumnInfo) -> DecimalName {
    let of = |ty: &SqlType, name| matches!(ty, SqlType::Decimal { .. }).then_some(name);
    meet(of(before, column.decimal_name), of(&other.ty, other.decimal_name)).unwrap_or_default()
}
