//! FILLFACTOR, PAD_INDEX and DATA_COMPRESSION of what is there: kept for the views.

use super::Definer;
use super::table_definition::storage_wish;
use crate::expression::Fault;
use pikepole_engine::{Index, StorageWish, Table, TableRecord};
use pikepole_tsql::{self as tree, ObjectName, SettingOption};
use std::sync::Arc;

impl Definer<'_> {
    /// Keeps what CREATE TABLE or ALTER TABLE ... REBUILD say of a table's rows.
    pub(super) async fn set_storage_of_rows(
        &mut self,
        name: &ObjectName,
        options: &[SettingOption],
    ) -> Result<(), Fault> {
        let wish = storage_wish(options)?;
        let table = self.context.catalog().table(name)?;
        let Some(table) = table.filter(|_| wish != StorageWish::default()) else { return Ok(()) };
        let change = |record: &mut TableRecord, _: &mut dyn FnMut() -> i32| {
            let clustered = record.indexes.iter_mut().find(|index| index.clustered);
            let options = clustered.map_or(&mut record.options, |index| &mut index.options);
            *options = wish.over(*options);
            Ok(())
        };
        let (database, tx) = self.context.engine();
        database.alter_definition(tx, &table.engine, &change).await?;
        Ok(())
    }

    /// Keeps what ALTER INDEX ... REBUILD says of all partitions; the table as it is then.
    pub(super) async fn set_storage_of_indexes(
        &mut self,
        table: Arc<Table>,
        alter: &tree::AlterIndex,
    ) -> Result<Arc<Table>, Fault> {
        let wish = storage_wish(&alter.options)?;
        if wish == StorageWish::default() || alter.partition.is_some() {
            return Ok(table);
        }
        let is_meant = |index: &Index| alter.name.as_ref().is_none_or(|name| name.is(&index.name));
        let change = |record: &mut TableRecord, _: &mut dyn FnMut() -> i32| {
            let meant = record.indexes.iter_mut().filter(|index| is_meant(index));
            meant.for_each(|index| index.options = wish.over(index.options));
            Ok(())
        };
        let (database, tx) = self.context.engine();
        Ok(database.alter_definition(tx, &table, &change).await?)
    }
}
