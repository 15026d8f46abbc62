//! INSERT ... VALUES: the lists of values, whose columns have one type each.

use std::sync::Arc;

use super::Binder;
use super::modify::{check_count, column_value, takes_values};
use super::typed::{Typed, convert_to};
use crate::access::Table;
use crate::errors;
use crate::expression::{Expr, Fault};
use crate::plan::{ColumnSource, Node, OutputPlan, Statement};
use pikepole_tsql as tree;
use pikepole_types::{SqlError, SqlType, implicit_type};

/// How many lists of values an INSERT may have.
const VALUE_ROWS_MAX: usize = 1000;

impl Binder<'_> {
    pub(super) fn insert_values(
        mut self,
        insert: &tree::Insert,
        table: Arc<Table>,
        columns: &[usize],
        rows: &[Vec<tree::InsertValue>],
        output: Option<OutputPlan>,
    ) -> Result<Arc<Statement>, Fault> {
        if rows.len() > VALUE_ROWS_MAX {
            return Err(Box::new(SqlError::too_many_value_rows()));
        }
        if rows.iter().any(|row| row.len() != rows[0].len()) {
            return Err(Box::new(SqlError::value_rows_differ()));
        }
        if insert.top.is_some() {
            return self.insert_first_values(insert, table, columns, rows, output);
        }
        let (mut given, mut numbers) = (Vec::with_capacity(rows.len()), Vec::with_capacity(rows.len()));
        for row in rows {
            given.push(self.given_row(insert.columns.is_empty(), &table, columns, row)?);
            numbers.push(self.leave_row());
        }
        unify(&mut given)?;
        let mut bound = Vec::with_capacity(rows.len());
        for (row, taken) in given.into_iter().zip(numbers) {
            self.resume_row(taken);
            bound.push(self.stored_row(&table, columns, row)?);
        }
        let source = self.place_pending(0, Node::One);
        self.insert_plan(source, table, bound, output)
    }

    /// VALUES of which only the first are inserted: rows like those of a query.
    fn insert_first_values(
        mut self,
        insert: &tree::Insert,
        table: Arc<Table>,
        columns: &[usize],
        rows: &[Vec<tree::InsertValue>],
        output: Option<OutputPlan>,
    ) -> Result<Arc<Statement>, Fault> {
        let mut given = Vec::with_capacity(rows.len());
        for row in rows {
            check_count(insert.columns.is_empty(), columns.len(), row.len())?;
            let exprs = row.iter().map(|value| match value {
                tree::InsertValue::Expr(expr) => Ok(expr.clone()),
                tree::InsertValue::Default => Err(errors::unsupported("DEFAULT in INSERT TOP ... VALUES")),
            });
            given.push(exprs.collect::<Result<Vec<_>, Fault>>()?);
        }
        let bound = self.values(&given)?;
        self.insert_rows(insert.top.as_ref(), table, columns, bound, output)
    }

    /// One list of VALUES.
    pub(super) fn value_row(
        &mut self,
        all_columns: bool,
        table: &Table,
        columns: &[usize],
        row: &[tree::InsertValue],
    ) -> Result<Vec<ColumnSource>, Fault> {
        let given = self.given_row(all_columns, table, columns, row)?;
        self.stored_row(table, columns, given)
    }

    /// The values of one list as they are written; None for DEFAULT.
    fn given_row(
        &mut self,
        all_columns: bool,
        table: &Table,
        columns: &[usize],
        row: &[tree::InsertValue],
    ) -> Result<Vec<Option<Typed>>, Fault> {
        check_identity(all_columns, table, columns, row.len())?;
        check_count(all_columns, columns.len(), row.len())?;
        let mut values = Vec::with_capacity(columns.len());
        for (value, column) in row.iter().zip(columns) {
            values.push(match value {
                tree::InsertValue::Default => None,
                tree::InsertValue::Expr(expr) => {
                    takes_values(table, *column)?;
                    Some(self.expr(expr)?)
                }
            });
        }
        Ok(values)
    }

    /// The same as the columns take them.
    fn stored_row(
        &mut self,
        table: &Table,
        columns: &[usize],
        given: Vec<Option<Typed>>,
    ) -> Result<Vec<ColumnSource>, Fault> {
        let stored = |(value, column): (Option<Typed>, &usize)| {
            value.map(|typed| column_value(table, *column, typed)).transpose()
        };
        let values = given.into_iter().zip(columns).map(stored).collect::<Result<Vec<_>, Fault>>()?;
        self.complete(table, columns, values)
    }
}

/// Where values are too many without a list of columns, one is meant for the identity column.
pub(super) fn check_identity(all_columns: bool, table: &Table, columns: &[usize], values: usize) -> Result<(), Fault> {
    let is_for_identity = table.identity.is_some_and(|identity| !columns.contains(&identity));
    match all_columns && is_for_identity && values > columns.len() {
        true => Err(Box::new(SqlError::identity_needs_column_list(table.qualified_name()))),
        false => Ok(()),
    }
}

/// Refuses, before the columns are looked at, lists of another number of values than of columns, and DEFAULT for an identity column.
pub(super) fn check_given(table: &Table, names: &[tree::Name], source: &tree::InsertSource) -> Result<(), Fault> {
    let tree::InsertSource::Values(rows) = source else { return Ok(()) };
    if rows.iter().any(|row| row.len() != rows[0].len()) {
        return Ok(());
    }
    let identity = table.identity.map(|identity| &table.columns[identity].name);
    let place = identity.and_then(|identity| names.iter().position(|name| name.is(identity)));
    for row in rows {
        check_count(false, names.len(), row.len())?;
        if place.is_some_and(|place| matches!(row[place], tree::InsertValue::Default)) {
            return Err(Box::new(SqlError::identity_given_default()));
        }
    }
    Ok(())
}

/// Gives the values that stand below each other in several lists of VALUES one type, as UNION ALL does: what goes into the columns is of that
/// type.
pub(super) fn unify(rows: &mut [Vec<Option<Typed>>]) -> Result<(), Fault> {
    if rows.len() < 2 {
        return Ok(());
    }
    for column in 0..rows[0].len() {
        let mut common = SqlType::Null;
        let own = |row: &Vec<Option<Typed>>| {
            row[column].as_ref().filter(|value| value.undeclared.is_none()).map(|value| value.ty)
        };
        for ty in rows.iter().filter_map(own) {
            common = implicit_type(&common, &ty)?;
        }
        for value in rows.iter_mut().filter_map(|row| row[column].as_mut()) {
            if value.undeclared.is_none() && !differs_in_length(&value.ty, &common) {
                *value = convert_to(std::mem::replace(value, Typed::new(Expr::NULL, SqlType::Null, true)), &common)?;
            }
        }
    }
    Ok(())
}

/// Whether values of these types are the same whichever of both they have.
fn differs_in_length(ty: &SqlType, other: &SqlType) -> bool {
    matches!(
        (ty, other),
        (SqlType::VarChar(_), SqlType::VarChar(_))
            | (SqlType::NVarChar(_), SqlType::NVarChar(_))
            | (SqlType::VarBinary(_), SqlType::VarBinary(_))
    )
}
