//! PERIOD FOR SYSTEM_TIME: the columns that say since when a row is so, in CREATE and ALTER TABLE.

use super::Definer;
use super::table_definition::Wishes;
use crate::access::Table;
use crate::errors;
use crate::expression::Fault;
use pikepole_engine::{ColumnDefinition, Generated, TableRecord};
use pikepole_tsql::{self as tree, ObjectName, bracketed};
use pikepole_types::{SqlError, SqlType};

/// A GENERATED ALWAYS column.
#[derive(Debug, Clone)]
pub(crate) struct WantedBound {
    name: String,
    bound: Generated,
    hidden: bool,
}

impl WantedBound {
    /// That of a column's definition; None: it is no bound of a period.
    pub(crate) fn of(definition: &tree::ColumnDefinition) -> Option<WantedBound> {
        let bound = match definition.generated.as_deref()? {
            "ROW START" => Generated::RowStart,
            "ROW END" => Generated::RowEnd,
            _ => return None,
        };
        Some(WantedBound { name: definition.name.text.clone(), bound, hidden: definition.hidden })
    }
}

impl Wishes {
    /// PERIOD FOR SYSTEM_TIME.
    ///
    /// # Errors
    /// 13508 for the second one.
    pub(crate) fn take_period(&mut self, start: &tree::Name, end: &tree::Name) -> Result<(), Fault> {
        match self.period.replace((start.clone(), end.clone())) {
            None => Ok(()),
            Some(_) => Err(Box::new(SqlError::period_twice())),
        }
    }

    /// The name of the one column that holds a bound.
    fn bound(&self, bound: Generated, twice: fn() -> SqlError) -> Result<Option<&str>, Fault> {
        let mut own = self.generated.iter().filter(|column| column.bound == bound);
        match (own.next(), own.next()) {
            (first, None) => Ok(first.map(|column| column.name.as_str())),
            _ => Err(Box::new(twice())),
        }
    }

    /// GENERATED ALWAYS columns and a period come together, and are about the same columns.
    fn check_bounds(&self) -> Result<(), Fault> {
        let start = self.bound(Generated::RowStart, SqlError::row_start_twice)?;
        let end = self.bound(Generated::RowEnd, SqlError::row_end_twice)?;
        let Some((wanted_start, wanted_end)) = &self.period else {
            return match self.generated.is_empty() {
                true => Ok(()),
                false => Err(Box::new(SqlError::generated_without_period())),
            };
        };
        let start = start.ok_or_else(|| Box::new(SqlError::row_start_missing()))?;
        let end = end.ok_or_else(|| Box::new(SqlError::row_end_missing()))?;
        if !wanted_start.is(start) {
            return Err(Box::new(SqlError::period_start_unknown()));
        }
        if !wanted_end.is(end) {
            return Err(Box::new(SqlError::period_end_unknown()));
        }
        Ok(())
    }

    /// The period of a table to be made.
    ///
    /// # Errors
    /// 13502 to 13509, 13501 and 13513 for columns that do not make one.
    pub(crate) fn check_period(&self, columns: &[ColumnDefinition]) -> Result<(), Fault> {
        self.check_bounds()?;
        let mut scales = Vec::new();
        for bound in &self.generated {
            let column = columns.iter().find(|column| column.name == bound.name);
            scales.push(column.map_or(Ok(0), |column| scale_of(&column.name, &column.ty))?);
        }
        same_scale(&scales)
    }

    /// The period that ALTER TABLE adds, of columns that it adds too or of columns that are there.
    ///
    /// # Errors
    /// As [`Wishes::check_period`]; 13597 and 13598 for a table that takes none; 4924 and 13587 for columns.
    pub(crate) fn check_added_period(&self, table: &Table) -> Result<(), Fault> {
        if self.period.is_some() && table.engine.is_history() {
            return Err(Box::new(SqlError::period_on_history(&table.display)));
        }
        if (self.period.is_some() || !self.generated.is_empty()) && table.engine.period().is_some() {
            return Err(Box::new(SqlError::period_exists(&table.display)));
        }
        if !self.generated.is_empty() {
            return self.check_bounds();
        }
        let Some((start, end)) = &self.period else { return Ok(()) };
        let mut scales = Vec::new();
        for name in [start, end] {
            let place = table.column(&name.text).filter(|place| !table.columns[*place].computed);
            let unknown = || SqlError::alter_column_unknown("ADD PERIOD FOR SYSTEM_TIME", &name.text, &table.name);
            let column = &table.columns[place.ok_or_else(unknown)?];
            scales.push(scale_of(&column.name, &column.ty)?);
            if column.nullable {
                return Err(Box::new(SqlError::period_column_nullable(&column.name)));
            }
        }
        same_scale(&scales)
    }
}

fn scale_of(name: &str, ty: &SqlType) -> Result<u8, Fault> {
    match ty {
        SqlType::DateTime2(scale) => Ok(*scale),
        _ => Err(Box::new(SqlError::period_column_type(name))),
    }
}

fn same_scale(scales: &[u8]) -> Result<(), Fault> {
    match scales {
        [start, end] if start != end => Err(Box::new(SqlError::period_precisions_differ())),
        _ => Ok(()),
    }
}

/// The last moment that a period can end at, as T-SQL.
fn last_moment(scale: u8) -> String {
    let fraction = if scale > 0 { format!(".{}", "9".repeat(scale.into())) } else { String::new() };
    format!("CAST('9999-12-31T23:59:59{fraction}' AS datetime2({scale}))")
}

/// What ALTER TABLE ADD brings to a versioned table is brought to its history as well; some things cannot be.
pub(super) fn check_added_to_versioned(table: &Table, elements: &[tree::TableElement]) -> Result<(), Fault> {
    if table.engine.versioning.is_none() {
        return Ok(());
    }
    let (is_history, shown) = (table.engine.is_history(), &table.display);
    for element in elements {
        match element {
            tree::TableElement::Column(column) => {
                let is_dealt = matches!(&column.kind, tree::ColumnKind::Stored(ty) if ty.is_rowversion());
                let special = column.identity.is_some() || column.data_type().is_none() || column.sparse;
                if is_history || is_dealt || special {
                    return Err(Box::new(SqlError::versioned_column_not_added(shown)));
                }
            }
            tree::TableElement::Constraint(constraint) if is_history => match &constraint.kind {
                tree::ConstraintKind::Key(key) if key.primary => {
                    return Err(Box::new(SqlError::history_takes_no_key(shown)));
                }
                tree::ConstraintKind::Key(_) => return Err(Box::new(SqlError::history_takes_no_unique_key(shown))),
                tree::ConstraintKind::Check { .. } => return Err(Box::new(SqlError::history_takes_no_check(shown))),
                _ => {}
            },
            _ => {}
        }
    }
    Ok(())
}

/// Whether ALTER COLUMN may change a column of a table with a period or a history.
pub(super) fn check_altered_of_versioned(
    table: &Table,
    at: usize,
    wanted: &tree::ColumnDefinition,
) -> Result<(), Fault> {
    let name = &table.columns[at].name;
    if wanted.generated.is_some() {
        return Err(Box::new(SqlError::generated_in_alter_column(name, &table.display)));
    }
    if table.columns[at].generated {
        return Err(Box::new(SqlError::period_column_not_altered(name)));
    }
    if table.engine.is_history() {
        return Err(Box::new(SqlError::versioned_column_not_altered(name, &table.display)));
    }
    Ok(())
}

/// Whether DROP COLUMN may take a column of a table with a period or a history.
pub(super) fn check_dropped_of_versioned(table: &Table, at: usize) -> Result<(), Fault> {
    if table.columns[at].generated {
        return Err(Box::new(SqlError::period_column_not_dropped(&table.columns[at].name, &table.display)));
    }
    if table.engine.is_history() {
        return Err(Box::new(SqlError::versioned_column_not_dropped(&table.display)));
    }
    Ok(())
}

impl Definer<'_> {
    /// Makes two columns the bounds of a period. The rows that are there must be so from now on.
    ///
    /// # Errors
    /// 13542 for one that begins later than now, 13575 for one that has ended.
    pub(super) async fn add_period(
        &mut self,
        name: &ObjectName,
        (start, end): &(tree::Name, tree::Name),
        generated: &[WantedBound],
    ) -> Result<(), Fault> {
        let table = self.altered(name)?;
        let (Some(start), Some(end)) = (table.column(&start.text), table.column(&end.text)) else {
            return Err(Box::new(SqlError::row_start_missing()));
        };
        let (scale, end_scale) = (
            scale_of(&table.columns[start].name, &table.columns[start].ty)?,
            scale_of(&table.columns[end].name, &table.columns[end].ty)?,
        );
        same_scale(&[scale, end_scale])?;
        let of = table.quoted_name();
        let (from, to) = (bracketed(&table.columns[start].name), bracketed(&table.columns[end].name));
        if self.holds(&format!("EXISTS (SELECT 1 FROM {of} WHERE {from} > SYSUTCDATETIME())")).await? {
            return Err(Box::new(SqlError::period_starts_in_future(&table.display)));
        }
        if self.holds(&format!("EXISTS (SELECT 1 FROM {of} WHERE {to} <> {})", last_moment(scale))).await? {
            return Err(Box::new(SqlError::period_ends_before_max(&table.display)));
        }
        let hidden: Vec<String> =
            generated.iter().filter(|column| column.hidden).map(|column| column.name.clone()).collect();
        let change = |record: &mut TableRecord, _: &mut dyn FnMut() -> i32| {
            record.columns[start].generated = Some(Generated::RowStart);
            record.columns[end].generated = Some(Generated::RowEnd);
            record.columns.iter_mut().for_each(|column| column.hidden |= hidden.contains(&column.name));
            Ok(())
        };
        let (database, tx) = self.context.engine();
        database.alter_definition(tx, &table.engine, &change).await?;
        Ok(())
    }

    /// ALTER TABLE ... DROP PERIOD FOR SYSTEM_TIME: its columns stay, as others are.
    ///
    /// # Errors
    /// 13593 without a period, 13592 while former rows are kept.
    pub(super) async fn drop_period(&mut self, table: &Table) -> Result<(), Fault> {
        if table.engine.period().is_none() {
            return Err(Box::new(SqlError::period_missing(&table.display)));
        }
        if table.engine.versioning.is_some() {
            return Err(Box::new(SqlError::period_of_versioned(&table.display)));
        }
        let change = |record: &mut TableRecord, _: &mut dyn FnMut() -> i32| {
            for column in record.columns.iter_mut().filter(|column| column.generated.is_some()) {
                (column.generated, column.hidden) = (None, false);
            }
            Ok(())
        };
        let (database, tx) = self.context.engine();
        database.alter_definition(tx, &table.engine, &change).await?;
        Ok(())
    }

    /// ALTER COLUMN ... ADD or DROP HIDDEN.
    ///
    /// # Errors
    /// 4924 for a column that is not there.
    pub(super) async fn set_hidden(
        &mut self,
        name: &ObjectName,
        column: &tree::Name,
        hidden: bool,
    ) -> Result<(), Fault> {
        let table = self.altered(name)?;
        let missing = || SqlError::alter_column_unknown("ALTER TABLE ALTER COLUMN", &column.text, &table.name);
        let place = table.column(&column.text).ok_or_else(missing)?;
        if !table.columns[place].generated {
            return Err(errors::unsupported("HIDDEN of a column that is no bound of a period"));
        }
        let change = |record: &mut TableRecord, _: &mut dyn FnMut() -> i32| {
            record.columns[place].hidden = hidden;
            Ok(())
        };
        let (database, tx) = self.context.engine();
        database.alter_definition(tx, &table.engine, &change).await?;
        Ok(())
    }
}
