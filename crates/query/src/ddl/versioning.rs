//! SYSTEM_VERSIONING: a table with a period gets a history table, which is made or checked, and lets go of it.
//!
//! ```text
//!   ON   period? ─► primary key? ─► history there: its shape, its rows  ─► both know of each other
//!                                   history not there: made, clustered by (end, start)
//!   OFF  both forget each other, and are tables like others; the period stays
//! ```

use super::Definer;
use crate::access::Table;
use crate::errors;
use crate::expression::Fault;
use crate::security::Requirement;
use pikepole_engine::{
    Column, ColumnDefinition, IndexDefinition, IndexExtras, IndexKind, Permission, Residence, Retention, RetentionUnit,
    TableDefinition, TableRecord, Versioning,
};
use pikepole_tsql::{self as tree, ObjectName, bracketed};
use pikepole_types::SqlError;
use std::sync::Arc;

/// The option of CREATE and ALTER TABLE.
pub(super) const SYSTEM_VERSIONING: &str = "SYSTEM_VERSIONING";
/// Error 13765 where the history has no clustered index at all, and where that begins with another column.
const NO_CLUSTERED_INDEX: u8 = 1;
const OTHER_CLUSTERED_INDEX: u8 = 2;

/// `SYSTEM_VERSIONING = ON (...)`
#[derive(Debug, Default)]
pub(super) struct WantedVersioning {
    history: Option<ObjectName>,
    /// DATA_CONSISTENCY_CHECK was turned off.
    trusts: bool,
    /// What HISTORY_RETENTION_PERIOD says; INFINITE is no limit.
    retention: Option<Option<Retention>>,
}

impl WantedVersioning {
    /// What an option says; None: OFF.
    ///
    /// # Errors
    /// 102 for what is no option, 13539 for a history table that is not named by two parts, 13743 and 13744 for a period.
    pub(super) fn of(option: &tree::SettingOption) -> Result<Option<WantedVersioning>, Fault> {
        let options = match &option.value {
            Some(tree::SettingValue::Off) => return Ok(None),
            Some(tree::SettingValue::On) => return Ok(Some(WantedVersioning::default())),
            Some(tree::SettingValue::OnWith(options)) => options,
            _ => return Err(Box::new(SqlError::incorrect_syntax(SYSTEM_VERSIONING))),
        };
        let mut wanted = WantedVersioning::default();
        for option in options {
            match (option.name.as_str(), &option.value) {
                ("HISTORY_TABLE", Some(tree::SettingValue::Name(name)))
                    if name.schema.is_some() && name.database.is_none() =>
                {
                    wanted.history = Some(name.clone());
                }
                ("HISTORY_TABLE", Some(value)) => {
                    return Err(Box::new(SqlError::history_not_two_part(value)));
                }
                ("DATA_CONSISTENCY_CHECK", Some(tree::SettingValue::On)) => wanted.trusts = false,
                ("DATA_CONSISTENCY_CHECK", Some(tree::SettingValue::Off)) => wanted.trusts = true,
                ("HISTORY_RETENTION_PERIOD", Some(value)) => wanted.retention = Some(retention(value)?),
                (name, _) => return Err(Box::new(SqlError::incorrect_syntax(name))),
            }
        }
        Ok(Some(wanted))
    }
}

/// HISTORY_RETENTION_PERIOD; None: INFINITE.
fn retention(value: &tree::SettingValue) -> Result<Option<Retention>, Fault> {
    let (count, unit) = match value {
        tree::SettingValue::Word(word) if word == "INFINITE" => return Ok(None),
        tree::SettingValue::Measure(count, unit) => (count, unit),
        _ => return Err(Box::new(SqlError::incorrect_syntax(")"))),
    };
    let text = count.to_string();
    let count = text.parse::<i32>().ok().filter(|count| *count > 0);
    let count = count.ok_or_else(|| Box::new(SqlError::retention_invalid(text)))?;
    let is_unit = |known: &RetentionUnit| unit == known.name() || *unit == format!("{}S", known.name());
    let known = RetentionUnit::ALL.into_iter().find(is_unit);
    let unit = known.ok_or_else(|| Box::new(SqlError::retention_unit_invalid(unit.to_lowercase())))?;
    Ok(Some(Retention { count, unit }))
}

/// A name of two parts.
fn name_of(schema: &str, name: &str) -> ObjectName {
    let part = |text: &str| tree::Name { text: text.to_owned(), span: tree::Span::default() };
    ObjectName { schema: Some(part(schema)), ..ObjectName::of(part(name)) }
}

impl Definer<'_> {
    /// The history of a versioned table.
    pub(super) fn history_of(&self, table: &Table) -> Result<Option<Arc<Table>>, Fault> {
        let catalog = self.context.catalog();
        let history = table.engine.history().and_then(|id| catalog.catalog.table_by_id(id).cloned());
        match history {
            None => Ok(None),
            Some(history) => catalog.table(&name_of(history.schema(), &history.name)),
        }
    }

    /// SYSTEM_VERSIONING = ON.
    ///
    /// # Errors
    /// 13510 without a period, 13553 without a primary key, 13595, 13596 and 13757 where it is on; 13511 to 13543 and 13573 for a
    /// history that cannot be one; 13765 for a limit without the index for it.
    pub(super) async fn start_versioning(&mut self, name: &ObjectName, wanted: &WantedVersioning) -> Result<(), Fault> {
        let table = self.altered(name)?;
        if table.engine.residence() != Residence::Database {
            return Err(Box::new(SqlError::versioned_in_tempdb(&table.display)));
        }
        if table.engine.history().is_some() {
            return self.renew_retention(&table, wanted).await;
        }
        if table.engine.period().is_none() {
            return Err(Box::new(SqlError::versioning_without_period()));
        }
        if !table.engine.indexes.iter().any(|index| index.primary_key) {
            return Err(Box::new(SqlError::versioned_without_key(&table.display)));
        }
        if table.columns.iter().any(|column| column.when_read.is_some()) {
            return Err(errors::unsupported(
                "System versioning of a table with columns that are computed when they are read",
            ));
        }
        let own = wanted.history.clone().unwrap_or_else(|| self.unnamed_history(&table));
        let there = {
            let catalog = self.context.catalog();
            match catalog.table(&own)? {
                None if catalog.place(&own)?.is_some_and(|place| place.object().is_some()) => {
                    return Err(Box::new(SqlError::not_a_history_table(own.dotted())));
                }
                there => there,
            }
        };
        let history = match there {
            Some(history) => {
                self.check_history(&table, &history, &own, wanted).await?;
                history
            }
            None => self.make_history(&table, &own).await?,
        };
        let retention = wanted.retention.flatten();
        check_retention(&table, &history, retention)?;
        self.link(&table, &history, retention).await
    }

    /// The name of a history that was given none.
    fn unnamed_history(&self, table: &Table) -> ObjectName {
        let plain = format!("MSSQL_TemporalHistoryFor_{}", table.object_id);
        let catalog = self.context.catalog();
        let is_taken = |name: &str| catalog.catalog.object(table.engine.schema(), name).is_some();
        let mut name = plain.clone();
        let [a, b, c, d, ..] = self.host.sequential_guid();
        let mut suffix = u32::from_be_bytes([a, b, c, d]);
        while is_taken(&name) {
            name = format!("{plain}_{suffix:08X}");
            suffix = suffix.wrapping_add(1);
        }
        name_of(table.engine.schema(), &name)
    }

    /// ON where it is on already: another limit for the same history.
    async fn renew_retention(&mut self, table: &Table, wanted: &WantedVersioning) -> Result<(), Fault> {
        let Some(name) = &wanted.history else {
            return Err(Box::new(SqlError::versioning_is_on(&table.display)));
        };
        let Some(named) = self.context.catalog().table(name)? else {
            return Err(Box::new(SqlError::history_is_defined(&table.display)));
        };
        if table.engine.history() != Some(named.object_id) {
            return Err(Box::new(SqlError::history_is_another(&named.display, &table.display)));
        }
        let Some(retention) = wanted.retention else { return Ok(()) };
        check_retention(table, &named, retention)?;
        self.link(table, &named, retention).await
    }

    /// The two tables know of each other from now on.
    async fn link(&mut self, table: &Table, history: &Table, retention: Option<Retention>) -> Result<(), Fault> {
        let (current_id, history_id) = (table.object_id, history.object_id);
        let own = table.engine.columns.iter();
        let flags: Vec<(bool, Option<String>)> = own.map(|column| (column.sparse, column.mask.clone())).collect();
        let (database, tx) = self.context.engine();
        let change = |record: &mut TableRecord, _: &mut dyn FnMut() -> i32| {
            record.versioning = Some(Versioning::Current { history: history_id, retention });
            Ok(())
        };
        database.alter_definition(tx, &table.engine, &change).await?;
        let shown = &history.display;
        let change = |record: &mut TableRecord, _: &mut dyn FnMut() -> i32| {
            let other = record.versioning.filter(|own| *own != Versioning::History { of: current_id });
            if other.is_some() {
                return Err(SqlError::history_in_use(shown));
            }
            record.versioning = Some(Versioning::History { of: current_id });
            for (column, (sparse, mask)) in record.columns.iter_mut().zip(&flags) {
                column.sparse = *sparse;
                // What may not be seen in the table may not be seen in its former rows.
                column.mask.clone_from(mask);
            }
            Ok(())
        };
        database.alter_definition(tx, &history.engine, &change).await?;
        Ok(())
    }

    /// SYSTEM_VERSIONING = OFF.
    ///
    /// # Errors
    /// 13591 where it is not on.
    pub(super) async fn stop_versioning(&mut self, table: &Table) -> Result<(), Fault> {
        if table.engine.history().is_none() {
            return Err(Box::new(SqlError::versioning_not_on(&table.display)));
        }
        let history = self.history_of(table)?;
        let change = |record: &mut TableRecord, _: &mut dyn FnMut() -> i32| {
            record.versioning = None;
            Ok(())
        };
        let (database, tx) = self.context.engine();
        database.alter_definition(tx, &table.engine, &change).await?;
        if let Some(history) = history {
            database.alter_definition(tx, &history.engine, &change).await?;
        }
        Ok(())
    }

    /// Makes the history of a table: its columns as they are stored, and no rule of theirs.
    async fn make_history(&mut self, table: &Table, name: &ObjectName) -> Result<Arc<Table>, Fault> {
        let column = |column: &Column| ColumnDefinition {
            name: column.name.clone(),
            ty: column.ty,
            nullable: column.nullable,
            default: None,
            identity: None,
            user_type: column.user_type,
            collation: column.collation,
        };
        let columns: Vec<ColumnDefinition> = table.engine.columns.iter().map(column).collect();
        let Some((start, end)) = table.engine.period() else {
            return Err(Box::new(SqlError::versioning_without_period()));
        };
        let key = IndexDefinition {
            name: Some(format!("ix_{}", name.name.text)),
            kind: IndexKind::Index,
            unique: false,
            clustered: true,
            columns: vec![(columns[end].name.clone(), false), (columns[start].name.clone(), false)],
            extras: IndexExtras::default(),
            replaces: false,
        };
        let schema = self.schema_of(name, false)?;
        let (name_text, indexes) = (name.name.text.clone(), vec![key]);
        let (filegroup, text_filegroup) = (None, None);
        let memory = None;
        let definition =
            TableDefinition { schema, name: name_text, columns, indexes, filegroup, text_filegroup, memory };
        let (database, tx) = self.context.engine();
        database.create_table(tx, definition).await?;
        self.altered(name)
    }

    /// Whether a table that is there can be the history of another.
    async fn check_history(
        &mut self,
        table: &Table,
        history: &Table,
        name: &ObjectName,
        wanted: &WantedVersioning,
    ) -> Result<(), Fault> {
        let shown = &history.display;
        if history.engine.residence() != Residence::Database {
            return Err(Box::new(SqlError::history_in_tempdb(shown)));
        }
        if history.engine.versioning.is_some() || history.object_id == table.object_id {
            return Err(Box::new(SqlError::history_in_use(shown)));
        }
        let need = Requirement::of(&self.context.catalog(), name, Permission::Alter)?;
        if let Some(need) = need {
            self.context.require(&need)?;
        }
        if self.context.catalog().catalog.triggers_of(history.object_id).next().is_some() {
            return Err(Box::new(SqlError::history_has_triggers(shown)));
        }
        check_rules(history)?;
        check_columns(table, history)?;
        if wanted.trusts {
            return Ok(());
        }
        self.check_history_rows(table, history).await
    }

    /// Whether the rows of a history can be former rows of a table.
    async fn check_history_rows(&mut self, table: &Table, history: &Table) -> Result<(), Fault> {
        let Some((start, end)) = table.engine.period() else { return Ok(()) };
        let (start, end) = (bracketed(&table.columns[start].name), bracketed(&table.columns[end].name));
        let (current, rows, shown) = (table.quoted_name(), history.quoted_name(), &history.display);
        if self.holds(&format!("EXISTS (SELECT 1 FROM {rows} WHERE {start} > {end})")).await? {
            return Err(Box::new(SqlError::history_ends_before_start(shown)));
        }
        if self.holds(&format!("EXISTS (SELECT 1 FROM {rows} WHERE {end} > SYSUTCDATETIME())")).await? {
            return Err(Box::new(SqlError::history_ends_in_future(shown)));
        }
        let key = table.engine.indexes.iter().find(|index| index.primary_key);
        let key: Vec<String> =
            key.iter().flat_map(|key| &key.columns).map(|key| bracketed(&table.columns[key.column].name)).collect();
        let key = key.join(", ");
        let overlaps = format!(
            "EXISTS (SELECT 1 FROM (SELECT {start} AS [start], LAG({end}) OVER (PARTITION BY {key} ORDER BY {start}, {end}) AS [former] \
             FROM (SELECT {key}, {start}, {end} FROM {rows} WHERE {start} < {end} \
             UNION ALL SELECT {key}, {start}, {end} FROM {current}) AS [all]) AS [each] WHERE [former] > [start])"
        );
        if self.holds(&overlaps).await? {
            return Err(Box::new(SqlError::history_overlaps(shown)));
        }
        Ok(())
    }
}

/// A history has no rules of its own.
fn check_rules(history: &Table) -> Result<(), Fault> {
    let (record, shown) = (history.engine.definition(), &history.display);
    Err(Box::new(if record.period().is_some() {
        SqlError::history_has_period(shown)
    } else if record.indexes.iter().any(|index| index.unique) {
        SqlError::history_has_unique_keys(shown)
    } else if !record.foreign_keys.is_empty() {
        SqlError::history_has_foreign_keys(shown)
    } else if !record.checks.is_empty() {
        SqlError::history_has_constraints(shown)
    } else if record.identity_column().is_some() {
        SqlError::history_has_identity(shown)
    } else if record.columns.iter().any(|column| column.computed.is_some()) {
        SqlError::history_has_computed(shown)
    } else {
        return Ok(());
    }))
}

/// The columns of a history are those of its table, one by one.
fn check_columns(table: &Table, history: &Table) -> Result<(), Fault> {
    let (of, shown) = (&table.display, &history.display);
    let (own, kept) = (&table.engine.columns, &history.engine.columns);
    if own.len() != kept.len() {
        return Err(Box::new(SqlError::history_columns_differ(of, own.len(), shown, kept.len())));
    }
    for (place, (own, kept)) in own.iter().zip(kept).enumerate() {
        let name = &own.name;
        if !name.eq_ignore_ascii_case(&kept.name) {
            let error = SqlError::history_column_name(&kept.name, place + 1, shown, name, of);
            return Err(Box::new(error));
        }
        if own.ty != kept.ty {
            let (was, is) = (kept.ty.to_string(), own.ty.to_string());
            return Err(Box::new(SqlError::history_column_type(name, was, shown, is, of)));
        }
        if own.ty.is_string() && own.collation != kept.collation {
            return Err(Box::new(SqlError::history_column_collation(name, of, shown)));
        }
        if own.nullable != kept.nullable {
            return Err(Box::new(match own.generated {
                Some(_) => SqlError::history_period_nullable(name, shown, of),
                None => SqlError::history_column_nullability(name, of, shown),
            }));
        }
        if own.sparse != kept.sparse {
            return Err(Box::new(SqlError::history_column_sparse(name, of, shown)));
        }
    }
    Ok(())
}

/// Old rows are found by the end of their periods.
fn check_retention(table: &Table, history: &Table, retention: Option<Retention>) -> Result<(), Fault> {
    let Some((_, end)) = table.engine.period().filter(|_| retention.is_some()) else { return Ok(()) };
    let state = match history.engine.indexes.iter().find(|index| index.is_clustered()) {
        None => NO_CLUSTERED_INDEX,
        Some(index) if index.clustered && index.columns.first().is_none_or(|key| key.column != end) => {
            OTHER_CLUSTERED_INDEX
        }
        Some(_) => return Ok(()),
    };
    let error = SqlError::retention_needs_index(&table.display, &history.display);
    Err(Box::new(SqlError { state, ..error }))
}
