//! Changing a table that is there: its keys and indexes, its columns, its constraints, its rows as a whole.
//!
//! Each is a change of one table's definition: the table is locked with Sch-M, the changed definition stored, and rows copied
//! where trees or heaps are new. A session's own tables are in no catalog; for those the new definition goes to the session's
//! names (`crate::temporary`).

use std::sync::Arc;

use pikepole_types::{SqlError, Value};

use super::Database;
use super::build::Builders;
use super::definitions::{ColumnDefinition, IndexDefinition, IndexKind, RecordChange, index_columns};
use super::rebuild::{NewColumn, RowMap};
use super::replaced::Replaced;
use crate::catalog::Catalog;
use crate::catalog::definition::TableRecord;
use crate::catalog::index::Index;
use crate::catalog::temporal::Versioning;
use crate::table::{Table, key_bytes_max};
use crate::transaction::Transaction;

impl Database {
    /// TRUNCATE TABLE: the table gets new, empty storage; its identity values begin anew.
    ///
    /// # Errors
    /// 4701 when the table is gone; 1105, 9002 when there is no room.
    pub async fn truncate_table(&self, tx: &mut Transaction, table: &Table) -> Result<(), SqlError> {
        if tx.is_elsewhere(table) {
            if let Some((database, part)) = tx.part_of(table) {
                return database.truncate_named(part, table).await;
            }
            return tx.truncate_temporary(table).await;
        }
        self.truncate_named(tx, table).await
    }

    /// Truncates a table of the catalog.
    async fn truncate_named(&self, tx: &mut Transaction, table: &Table) -> Result<(), SqlError> {
        let new = self.truncate_own(tx, table).await?;
        tx.begin_identity_anew(&new);
        Ok(())
    }

    pub(crate) async fn truncate_own(&self, tx: &mut Transaction, table: &Table) -> Result<Arc<Table>, SqlError> {
        let (mark, mut catalog) = self.begin_change(tx, table).await?;
        if catalog.references_to(table.object_id).any(|(other, _)| other.object_id != table.object_id) {
            return Err(SqlError::truncate_is_referenced(&table.name));
        }
        if table.versioning.is_some() {
            return Err(SqlError::versioned_not_truncated(self.full_name_of(table)));
        }
        let missing = SqlError::truncate_not_found(&table.name);
        let table = self.lock_table_to_change(tx, &catalog, table.object_id, missing).await?;
        let mut record = table.record().clone();
        if record.heap.is_some() {
            record.heap = Some(self.create_storage(tx, None).await?);
        }
        for index in record.live_indexes_mut() {
            index.storage = self.create_storage(tx, Some(index.storage.key_bytes_max)).await?;
        }
        self.renew_overflow(tx, &mut record).await?;
        let table = self.replace_table(tx, &mut catalog, &table, record, None).await?;
        self.end_change(tx, mark, catalog, &table);
        Ok(table)
    }

    /// CREATE INDEX, ALTER TABLE ADD CONSTRAINT PRIMARY KEY or UNIQUE; the table's rows are put into the index: where they are many
    /// by workers, one on each of these schedulers.
    ///
    /// # Errors
    /// As [`Database::create_table`]; 1505 for keys that are there twice; 8111 for a primary key on a nullable column; 1907, 1925, 3725 and
    /// 7999 for an index that cannot take the place of another.
    pub async fn create_index(
        self: &Arc<Self>,
        tx: &mut Transaction,
        table: &Table,
        definition: IndexDefinition,
        schedulers: &[usize],
    ) -> Result<Arc<Table>, SqlError> {
        if tx.is_elsewhere(table) {
            if let Some((database, part)) = tx.part_of(table) {
                return database.create_index_own(part, table, definition, None).await;
            }
            return tx.create_temporary_index(table, definition).await;
        }
        self.create_index_own(tx, table, definition, Some(Builders { database: self, schedulers })).await
    }

    pub(crate) async fn create_index_own(
        &self,
        tx: &mut Transaction,
        table: &Table,
        definition: IndexDefinition,
        builders: Option<Builders<'_>>,
    ) -> Result<Arc<Table>, SqlError> {
        let (mark, mut catalog) = self.begin_change(tx, table).await?;
        let missing = SqlError::alter_table_not_found(&table.name);
        let table = self.lock_table_to_change(tx, &catalog, table.object_id, missing).await?;
        let mut record = table.record().clone();
        if definition.kind == IndexKind::PrimaryKey {
            let columns = index_columns(&record, &definition)?;
            if columns.iter().any(|key| record.columns[key.column].nullable) {
                return Err(SqlError::primary_key_on_nullable(&record.name));
            }
        }
        let replaced = match definition.replaces {
            true => Some(Replaced::take(self, &catalog, &mut record, &definition)?),
            false => None,
        };
        self.add_index(tx, &catalog, &mut record, &definition).await?;
        self.move_in_memory(tx, &mut record).await?;
        if let Some(replaced) = replaced {
            replaced.give(&mut record, definition.name.as_deref().unwrap_or_default());
        }
        if definition.clustered {
            // The rows move into the index, so every locator changes.
            record.heap = None;
            self.renew_secondary(tx, &mut record).await?;
            self.renew_overflow(tx, &mut record).await?;
        }
        if definition.replaces {
            self.move_properties(tx, &mut catalog, &table, &record, &Some).await?;
            self.move_statistics(tx, &mut catalog, &record, &Some).await?;
        }
        let new = self.successor(&table, record);
        let built = match builders {
            Some(builders) => builders.fill(tx, &table, &new).await?,
            None => false,
        };
        if !built {
            self.fill(tx, &table, &new, &same_row).await?;
        }
        self.keep_table(tx, &mut catalog, &new).await?;
        self.end_change(tx, mark, catalog, &new);
        Ok(new)
    }

    /// ALTER INDEX ... REBUILD of one index, or of all: new storage, which the rows are put into in their order. What was disabled is so no more.
    ///
    /// # Errors
    /// 1088 when the table is gone; 1105, 9002 when there is no room.
    pub async fn rebuild_indexes(
        &self,
        tx: &mut Transaction,
        table: &Table,
        name: Option<&str>,
    ) -> Result<(), SqlError> {
        if tx.is_elsewhere(table) {
            if let Some((database, part)) = tx.part_of(table) {
                return database.rebuild_indexes_own(part, table, name).await.map(drop);
            }
            return tx.rebuild_temporary_indexes(table, name).await;
        }
        self.rebuild_indexes_own(tx, table, name).await.map(drop)
    }

    pub(crate) async fn rebuild_indexes_own(
        &self,
        tx: &mut Transaction,
        table: &Table,
        name: Option<&str>,
    ) -> Result<Arc<Table>, SqlError> {
        let (mark, mut catalog) = self.begin_change(tx, table).await?;
        let missing = SqlError::object_not_found(&table.name);
        let table = self.lock_table_to_change(tx, &catalog, table.object_id, missing).await?;
        let mut record = table.record().clone();
        let lower = name.map(str::to_lowercase);
        for at in 0..record.indexes.len() {
            let index = &record.indexes[at];
            if lower.as_ref().is_some_and(|wanted| index.name.to_lowercase() != *wanted) {
                continue;
            }
            if index.is_definition() {
                record.indexes[at].set_disabled(false);
                continue;
            }
            let index = &record.indexes[at];
            let clustered = index.clustered;
            // The clustered key, which entries lead to, can be another one than when the index was disabled.
            let bytes = key_bytes_max(&record, &index.columns, clustered, index.unique);
            record.indexes[at].storage = self.create_storage(tx, Some(bytes)).await?;
            record.indexes[at].disabled = false;
            if clustered {
                self.renew_overflow(tx, &mut record).await?;
            }
        }
        let table = self.replace_table(tx, &mut catalog, &table, record, Some(&same_row)).await?;
        self.end_change(tx, mark, catalog, &table);
        Ok(table)
    }

    /// Gives an in-memory table whose columns or indexes change new places for its rows, and with them a new name in the log.
    async fn move_in_memory(&self, tx: &mut Transaction, record: &mut TableRecord) -> Result<(), SqlError> {
        if record.is_in_memory() {
            record.memory = self.mark_in_memory(record.memory)?;
            record.heap = Some(self.create_storage(tx, None).await?);
        }
        Ok(())
    }

    /// Gives every nonclustered index new storage, for locators of the present base.
    async fn renew_secondary(&self, tx: &mut Transaction, record: &mut TableRecord) -> Result<(), SqlError> {
        for at in 0..record.indexes.len() {
            let index = &record.indexes[at];
            if !index.clustered && !index.disabled {
                let bytes = key_bytes_max(record, &index.columns, false, index.unique);
                record.indexes[at].storage = self.create_storage(tx, Some(bytes)).await?;
            }
        }
        Ok(())
    }

    /// DROP INDEX, or ALTER TABLE DROP CONSTRAINT of a key or a default. The rows of a dropped clustered index move to a heap.
    ///
    /// # Errors
    /// 3701 when there is none of this name; 3723 for DROP INDEX of a constraint; 3728 for DROP CONSTRAINT of an index.
    pub async fn drop_index(
        &self,
        tx: &mut Transaction,
        table: &Table,
        name: &str,
        constraint: bool,
    ) -> Result<Arc<Table>, SqlError> {
        if tx.is_elsewhere(table) {
            if let Some((database, part)) = tx.part_of(table) {
                return database.drop_index_own(part, table, name, constraint).await;
            }
            return tx.drop_temporary_index(table, name, constraint).await;
        }
        self.drop_index_own(tx, table, name, constraint).await
    }

    pub(crate) async fn drop_index_own(
        &self,
        tx: &mut Transaction,
        table: &Table,
        name: &str,
        constraint: bool,
    ) -> Result<Arc<Table>, SqlError> {
        let (mark, mut catalog) = self.begin_change(tx, table).await?;
        let missing = SqlError::alter_table_not_found(&table.name);
        let table = self.lock_table_to_change(tx, &catalog, table.object_id, missing).await?;
        let mut record = table.record().clone();
        let lower = name.to_lowercase();
        let at = record.indexes.iter().position(|index| index.name.to_lowercase() == lower);
        let map: Option<RowMap<'_>> = match at {
            Some(at) => {
                let index = &record.indexes[at];
                if index.constraint && !constraint {
                    let kind = if index.primary_key { "PRIMARY KEY" } else { "UNIQUE KEY" };
                    let full = format!("{}.{}", record.full_name(), index.name);
                    return Err(SqlError::drop_index_of_constraint(full, kind));
                }
                if constraint && !index.constraint {
                    return Err(SqlError::not_a_constraint(name));
                }
                self.check_versioning_lets_go(&catalog, &record, index)?;
                let index_id = index.index_id;
                self.check_not_referenced(&catalog, &record, index_id, name)?;
                if index.primary_key && record.indexes.iter().any(|other| other.xml.is_some()) {
                    return Err(SqlError::primary_key_of_xml_index(name));
                }
                let removed = record.indexes.remove(at);
                if removed.is_primary_xml() {
                    record.indexes.retain(|other| !other.is_secondary_of(removed.index_id));
                }
                if removed.clustered {
                    record.options.compression = removed.options.compression;
                    record.options.filegroup = removed.options.filegroup;
                    record.heap = Some(self.create_storage(tx, None).await?);
                    self.renew_secondary(tx, &mut record).await?;
                    self.renew_overflow(tx, &mut record).await?;
                }
                self.move_in_memory(tx, &mut record).await?;
                if removed.clustered || record.is_in_memory() { Some(&same_row) } else { None }
            }
            None if constraint && drop_condition(&mut record, &lower) => None,
            None => {
                let default = record.columns.iter_mut().find(|column| {
                    constraint && column.default.as_ref().is_some_and(|d| d.name.to_lowercase() == lower)
                });
                let Some(column) = default else {
                    return Err(if constraint {
                        SqlError::not_a_constraint(name)
                    } else {
                        SqlError::object_missing("drop", "index", format!("{}.{name}", record.full_name()))
                    });
                };
                column.default = None;
                None
            }
        };
        self.move_properties(tx, &mut catalog, &table, &record, &Some).await?;
        self.move_statistics(tx, &mut catalog, &record, &Some).await?;
        let table = self.replace_table(tx, &mut catalog, &table, record, map).await?;
        self.end_change(tx, mark, catalog, &table);
        Ok(table)
    }

    /// ALTER TABLE: the table gets these columns; `map` computes a new row from an old one. Indexes keep their columns by
    /// source; the caller has made sure that no dropped column is in one.
    ///
    /// # Errors
    /// As [`Database::create_table`]; whatever `map` reports.
    pub async fn alter_columns(
        &self,
        tx: &mut Transaction,
        table: &Table,
        columns: &[NewColumn],
        map: RowMap<'_>,
    ) -> Result<Arc<Table>, SqlError> {
        if tx.is_elsewhere(table) {
            if let Some((database, part)) = tx.part_of(table) {
                return database.alter_columns_own(part, table, columns, map).await;
            }
            return tx.alter_temporary(table, columns, map).await;
        }
        self.alter_columns_own(tx, table, columns, map).await
    }

    pub(crate) async fn alter_columns_own(
        &self,
        tx: &mut Transaction,
        table: &Table,
        columns: &[NewColumn],
        map: RowMap<'_>,
    ) -> Result<Arc<Table>, SqlError> {
        let (mark, mut catalog) = self.begin_change(tx, table).await?;
        let missing = SqlError::alter_table_not_found(&table.name);
        let table = self.lock_table_to_change(tx, &catalog, table.object_id, missing).await?;
        let mut record = table.record().clone();
        let mut of_catalog = catalog.clone();
        of_catalog.remove(table.object_id);
        let definitions: Vec<ColumnDefinition> = columns.iter().map(|c| c.definition.clone()).collect();
        let former = std::mem::take(&mut record.columns);
        record.columns = self.columns(&of_catalog, &record, &definitions)?;
        for (column, new) in record.columns.iter_mut().zip(columns) {
            column.rowversion = new.rowversion;
            if let Some(old) = new.source.and_then(|old| former.get(old)) {
                column.computed.clone_from(&old.computed);
                column.rowversion = old.rowversion;
                column.sparse = old.sparse;
                column.generated = old.generated;
                column.hidden = old.hidden;
                column.mask.clone_from(&old.mask);
            }
        }
        record.number_columns(table.record(), columns.iter().map(|column| column.source));
        move_columns(&mut record, columns, &table)?;
        for index in &mut record.indexes {
            for key in &mut index.columns {
                let old = key.column;
                let new = columns.iter().position(|c| c.source == Some(old));
                key.column =
                    new.ok_or_else(|| SqlError::column_is_in_use("ALTER TABLE DROP COLUMN", &table.columns[old].name))?;
            }
        }
        if record.heap.is_some() && !record.is_in_memory() {
            record.heap = Some(self.create_storage(tx, None).await?);
        }
        self.move_in_memory(tx, &mut record).await?;
        for at in 0..record.indexes.len() {
            let index = &record.indexes[at];
            if index.disabled {
                continue;
            }
            let bytes = key_bytes_max(&record, &index.columns, index.clustered, index.unique);
            record.indexes[at].storage = self.create_storage(tx, Some(bytes)).await?;
        }
        self.renew_overflow(tx, &mut record).await?;
        let place = |old: usize| columns.iter().position(|column| column.source == Some(old));
        self.move_properties(tx, &mut catalog, &table, &record, &place).await?;
        // Values of another type or order say nothing of the new ones.
        let is_alike = |old: usize, new: usize| {
            let (old, new) = (&table.columns[old], &record.columns[new]);
            old.ty.name() == new.ty.name() && old.collation == new.collation
        };
        let known = |old: usize| place(old).filter(|new| is_alike(old, *new));
        self.move_statistics(tx, &mut catalog, &record, &known).await?;
        self.move_grants(tx, &mut catalog, table.object_id, &place).await?;
        let table = self.replace_table(tx, &mut catalog, &table, record, Some(map)).await?;
        self.end_change(tx, mark, catalog, &table);
        Ok(table)
    }

    /// Changes what a definition says beside its columns and indexes: constraints, names, flags of columns.
    ///
    /// # Errors
    /// 2714 when two constraints of the schema would have one name; whatever `change` reports.
    pub async fn alter_definition(
        &self,
        tx: &mut Transaction,
        table: &Table,
        change: RecordChange<'_>,
    ) -> Result<Arc<Table>, SqlError> {
        if tx.is_elsewhere(table) {
            if let Some((database, part)) = tx.part_of(table) {
                return database.alter_definition_own(part, table, change).await;
            }
            return tx.alter_temporary_definition(table, change).await;
        }
        self.alter_definition_own(tx, table, change).await
    }

    pub(crate) async fn alter_definition_own(
        &self,
        tx: &mut Transaction,
        table: &Table,
        change: RecordChange<'_>,
    ) -> Result<Arc<Table>, SqlError> {
        let (mark, mut catalog) = self.begin_change(tx, table).await?;
        let missing = SqlError::alter_table_not_found(&table.name);
        let table = self.lock_table_to_change(tx, &catalog, table.object_id, missing).await?;
        let mut record = table.record().clone();
        change(&mut record, &mut || self.new_object_id())?;
        for name in record.constraint_names() {
            if record.constraint_names().filter(|own| own.to_lowercase() == name.to_lowercase()).count() > 1 {
                return Err(SqlError::object_exists(name).with_state(5));
            }
        }
        let added = record.constraint_names().filter(|name| table.constraint_names().all(|own| own != *name));
        for name in added {
            if catalog.object(&record.schema, name).is_some() || catalog.constraint_exists(record.schema_id, name) {
                return Err(SqlError::object_exists(name).with_state(5));
            }
        }
        if record.name != table.name {
            if catalog.object(&record.schema, &record.name).is_some_and(|other| other.object_id() != record.object_id) {
                return Err(SqlError::object_exists(&record.name));
            }
            catalog.remove(record.object_id);
        }
        self.move_properties(tx, &mut catalog, &table, &record, &Some).await?;
        self.move_statistics(tx, &mut catalog, &record, &Some).await?;
        let table = self.replace_table(tx, &mut catalog, &table, record, None).await?;
        self.end_change(tx, mark, catalog, &table);
        Ok(table)
    }

    /// A versioned table keeps its primary key, and a history of limited length the index that old rows are found by.
    fn check_versioning_lets_go(&self, catalog: &Catalog, record: &TableRecord, index: &Index) -> Result<(), SqlError> {
        match record.versioning {
            Some(Versioning::Current { .. }) if index.primary_key => {
                Err(SqlError::versioned_key_not_dropped(self.full_name_of(record)))
            }
            Some(Versioning::History { of }) if index.is_clustered() => {
                let current = catalog.table_by_id(of).and_then(|table| table.versioning);
                match current {
                    Some(Versioning::Current { retention: Some(_), .. }) => {
                        let name = format!("{}.{}", record.full_name(), index.name);
                        Err(SqlError::retention_keeps_index(name))
                    }
                    _ => Ok(()),
                }
            }
            _ => Ok(()),
        }
    }

    /// A key that a foreign key refers to cannot be dropped.
    pub(super) fn check_not_referenced(
        &self,
        catalog: &Catalog,
        record: &TableRecord,
        index_id: i32,
        name: &str,
    ) -> Result<(), SqlError> {
        let mut references = catalog.references_to(record.object_id);
        match references.find(|(_, key)| key.index_id == index_id) {
            None => Ok(()),
            Some((other, key)) => Err(SqlError::constraint_is_referenced(name, &other.name, &key.name)),
        }
    }
}

/// Drops the CHECK or FOREIGN KEY constraint of this name. False: there is none.
fn drop_condition(record: &mut TableRecord, lower: &str) -> bool {
    let before = record.checks.len() + record.foreign_keys.len();
    record.checks.retain(|check| check.name.to_lowercase() != lower);
    record.foreign_keys.retain(|key| key.name.to_lowercase() != lower);
    record.checks.len() + record.foreign_keys.len() < before
}

/// After a change of columns: what names columns by their places finds them at the new ones.
fn move_columns(record: &mut TableRecord, columns: &[NewColumn], table: &Table) -> Result<(), SqlError> {
    let place = |old: usize| {
        let new = columns.iter().position(|column| column.source == Some(old));
        new.ok_or_else(|| SqlError::column_is_in_use("ALTER TABLE DROP COLUMN", &table.columns[old].name))
    };
    for check in &mut record.checks {
        if let Some(column) = check.column {
            check.column = Some(place(column)?);
        }
    }
    for column in record.foreign_keys.iter_mut().flat_map(|key| &mut key.columns) {
        *column = place(*column)?;
    }
    for partitioned in record.all_partitioned_mut() {
        partitioned.column = place(partitioned.column)?;
    }
    for index in &mut record.indexes {
        let tested = index.tests.iter_mut().map(|test| &mut test.column);
        for column in index.included.iter_mut().chain(&mut index.not_null).chain(tested) {
            *column = place(*column)?;
        }
    }
    Ok(())
}

fn same_row(old: &[Value], new: &mut [Value]) -> Result<(), SqlError> {
    for (old, new) in old.iter().zip(new) {
        new.clone_from(old);
    }
    Ok(())
}
