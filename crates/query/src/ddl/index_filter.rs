//! The WHERE of a filtered index: tests of single columns against constants, all of which must hold.
//!
//! ```text
//!   filter   test AND test ...
//!   test     column IS [NOT] NULL | column op constant | column IN (constant, ...)
//!   constant literal, -literal, CAST or CONVERT of a constant
//! ```

use crate::access::Table;
use crate::bind::{constant_value, declared, literal};
use crate::expression::Fault;
use pikepole_engine::{Catalog, FilterOp, IndexExtras, Tested};
use pikepole_tsql as tree;
use pikepole_types::{Collation, SqlError, SqlType, Value, compare, convert, negate};
use std::cmp::Ordering;

/// A column as filters know it.
#[derive(Clone, Copy)]
pub(crate) struct FilterColumn {
    pub(crate) ty: SqlType,
    pub(crate) computed: bool,
}

impl FilterColumn {
    /// That of a table.
    pub(super) fn of(table: &Table, name: &str) -> Option<FilterColumn> {
        let column = &table.columns[table.column(name)?];
        Some(FilterColumn { ty: column.ty, computed: column.computed })
    }
}

/// What a filter is read for, as errors name it.
pub(crate) struct FilterOf<'a> {
    pub(crate) index: &'a str,
    pub(crate) table: &'a str,
    pub(crate) catalog: &'a Catalog,
    /// A column of the table by its name.
    pub(crate) column: &'a dyn Fn(&str) -> Option<FilterColumn>,
}

impl FilterOf<'_> {
    /// Puts what the filter says into the index's definition.
    ///
    /// # Errors
    /// 10735 for what is no test, 102 and 156 for other conditions; 10609, 10611, 10612 and 10620 for columns and constants that cannot be; 207.
    pub(crate) fn read(&self, filter: &tree::Condition, extras: &mut IndexExtras) -> Result<(), Fault> {
        match filter {
            tree::Condition::And(parts) => parts.iter().try_for_each(|part| self.read(part, extras)),
            tree::Condition::IsNull { expr, negated } => {
                let (name, _) = self.column(expr)?;
                match negated {
                    true => extras.not_null.push(name.to_owned()),
                    false => extras.tests.push((name.to_owned(), Tested::Null)),
                }
                Ok(())
            }
            tree::Condition::Compare(compared) => {
                let (name, column) = self.column(&compared.left)?;
                let constant = self.constant(name, column, &compared.right)?;
                extras.tests.push((name.to_owned(), Tested::Compared(operator(compared.op), constant)));
                Ok(())
            }
            tree::Condition::In { expr, list: tree::InList::Values(values), negated: false } => {
                let (name, column) = self.column(expr)?;
                let constants = values.iter().map(|value| self.constant(name, column, value));
                extras.tests.push((name.to_owned(), Tested::Among(constants.collect::<Result<_, _>>()?)));
                Ok(())
            }
            tree::Condition::In { list: tree::InList::Query(_), .. } => Err(Box::new(SqlError::subquery_not_allowed())),
            tree::Condition::In { negated: true, .. } => Err(Box::new(SqlError::incorrect_syntax("NOT"))),
            tree::Condition::Or(_) => Err(keyword("OR")),
            tree::Condition::Not(_) => Err(keyword("NOT")),
            tree::Condition::Like(_) => Err(keyword("LIKE")),
            tree::Condition::Between { .. } => Err(keyword("BETWEEN")),
            tree::Condition::Exists(_) => Err(keyword("EXISTS")),
            _ => Err(self.incorrect()),
        }
    }

    fn incorrect(&self) -> Fault {
        Box::new(SqlError::filter_incorrect("index", self.index, self.table))
    }

    /// The column that an operand is.
    fn column<'e>(&self, expr: &'e tree::Expr) -> Result<(&'e str, FilterColumn), Fault> {
        let tree::ExprKind::Column(named) = &expr.kind else { return Err(self.incorrect()) };
        let name = named.name.text.as_str();
        let column = (self.column)(name).ok_or_else(|| Box::new(SqlError::invalid_column(name)))?;
        if column.computed {
            return Err(Box::new(SqlError::filter_column_computed("index", self.index, self.table, name)));
        }
        Ok((name, column))
    }

    /// A constant as a value of the column's type, which it equals.
    fn constant(&self, name: &str, column: FilterColumn, expr: &tree::Expr) -> Result<Value, Fault> {
        let (value, ty) = self.value(expr)?;
        if value.is_null() {
            return Err(Box::new(SqlError::filter_compares_null("index", self.index, self.table)));
        }
        let own = &column.ty;
        // What a column of texts or bytes has no room for equals none of its values, but is less or greater than they are.
        if ty.is_string() && own.is_string() || ty.is_binary() && own.is_binary() {
            return Ok(value);
        }
        if (own.is_string() || own.is_binary()) && ty.precedence() > own.precedence() {
            return Err(Box::new(SqlError::filter_constant_higher("index", self.index, self.table, name)));
        }
        let cannot = || Box::new(SqlError::filter_constant_inconvertible("index", self.index, self.table, name));
        if *own == SqlType::Variant {
            return Err(cannot());
        }
        let converted = convert(&value, &ty, own, None).map_err(|_| cannot())?;
        match compare(&converted, &value, Collation::default()) {
            Ok(Some(Ordering::Equal)) => Ok(converted),
            _ => Err(cannot()),
        }
    }

    fn value(&self, expr: &tree::Expr) -> Result<(Value, SqlType), Fault> {
        let (inner, data_type) = match &expr.kind {
            tree::ExprKind::Literal(written) => {
                let typed = literal(written)?;
                let value = constant_value(&typed.expr).ok_or_else(|| self.incorrect())?;
                return Ok((value, typed.ty));
            }
            tree::ExprKind::Unary(tree::UnaryOp::Plus, inner) if inner.literal().is_some() => return self.value(inner),
            tree::ExprKind::Unary(tree::UnaryOp::Minus, inner) if inner.literal().is_some() => {
                let (value, ty) = self.value(inner)?;
                return Ok((negate(&value)?, ty));
            }
            tree::ExprKind::Cast(cast) if !cast.lenient && !cast.parse => (&cast.expr, &cast.data_type),
            tree::ExprKind::Convert(cast) if !cast.lenient && cast.style.is_none() => (&cast.expr, &cast.data_type),
            _ => return Err(self.incorrect()),
        };
        let (value, from) = self.value(inner)?;
        let to = declared(self.catalog, data_type, 1)?.scalar().ok_or_else(|| self.incorrect())?;
        Ok((convert(&value, &from, &to, None)?, to))
    }
}

fn keyword(word: &str) -> Fault {
    Box::new(SqlError::incorrect_syntax_keyword(word))
}

fn operator(op: tree::CompareOp) -> FilterOp {
    match op {
        tree::CompareOp::Equal => FilterOp::Equal,
        tree::CompareOp::NotEqual => FilterOp::NotEqual,
        tree::CompareOp::Less => FilterOp::Less,
        tree::CompareOp::LessOrEqual => FilterOp::LessOrEqual,
        tree::CompareOp::Greater => FilterOp::Greater,
        tree::CompareOp::GreaterOrEqual => FilterOp::GreaterOrEqual,
    }
}
