//! CREATE, ALTER and DROP of temporary tables. They take no lock of the catalog: nobody else knows these tables.

use std::sync::Arc;

use pikepole_types::SqlError;

use super::{Residence, Temporary};
use crate::database::{IndexDefinition, NewColumn, RowMap, TableDefinition};
use crate::table::Table;
use crate::transaction::Transaction;

fn part_missing() -> SqlError {
    SqlError::database_unknown("tempdb")
}

impl Transaction {
    fn temporary_part(&mut self) -> Result<&mut Temporary, SqlError> {
        self.temporary.as_deref_mut().ok_or_else(part_missing)
    }

    /// Makes a temporary table or a table variable, for the scope of a nest level. The session has a part in tempdb.
    ///
    /// # Errors
    /// 2714 when the scope has one of this name; as [`crate::Database::create_table`].
    pub async fn create_temporary(
        &mut self,
        definition: TableDefinition,
        residence: Residence,
        level: i32,
    ) -> Result<Arc<Table>, SqlError> {
        let temporary = self.temporary_part()?;
        if temporary.names.at_level(&definition.name, level).is_some() {
            return Err(SqlError::object_exists(&definition.name));
        }
        let (database, part) = temporary.part(residence);
        let table = database.build_table(part, &definition, residence).await?;
        temporary.adopt_created();
        if residence == Residence::Variable {
            // It is there from now on, whatever becomes of the transaction.
            let version = temporary.database.new_version();
            for names in temporary.history.iter_mut().chain([&mut temporary.names]) {
                let mut changed = names.renewed(version);
                changed.put(level, table.clone());
                *names = Arc::new(changed);
            }
        } else {
            temporary.change_names(|names| names.put(level, table.clone()));
        }
        Ok(table)
    }

    /// DROP TABLE of a temporary table.
    ///
    /// # Errors
    /// A session without temporary tables.
    pub fn drop_temporary(&mut self, table: &Table) -> Result<(), SqlError> {
        let temporary = self.temporary_part()?;
        temporary.gone.extend(table.storages().map(|storage| storage.object));
        temporary.change_names(|names| names.remove(table.object_id));
        Ok(())
    }

    fn replace_temporary(&mut self, old: &Table, new: &Arc<Table>) -> Result<(), SqlError> {
        let temporary = self.temporary_part()?;
        temporary.adopt_created();
        let kept: Vec<u32> = new.storages().map(|storage| storage.object).collect();
        let replaced = old.storages().map(|storage| storage.object).filter(|object| !kept.contains(object));
        temporary.gone.extend(replaced);
        temporary.change_names(|names| names.put(0, new.clone()));
        Ok(())
    }

    pub(crate) async fn create_temporary_index(
        &mut self,
        table: &Table,
        definition: IndexDefinition,
    ) -> Result<Arc<Table>, SqlError> {
        let (database, part) = self.temporary_part()?.part(table.residence);
        let new = database.create_index_own(part, table, definition).await?;
        self.replace_temporary(table, &new)?;
        Ok(new)
    }

    pub(crate) async fn drop_temporary_index(
        &mut self,
        table: &Table,
        name: &str,
        constraint: bool,
    ) -> Result<Arc<Table>, SqlError> {
        let (database, part) = self.temporary_part()?.part(table.residence);
        let new = database.drop_index_own(part, table, name, constraint).await?;
        self.replace_temporary(table, &new)?;
        Ok(new)
    }

    pub(crate) async fn alter_temporary(
        &mut self,
        table: &Table,
        columns: &[NewColumn],
        map: RowMap<'_>,
    ) -> Result<Arc<Table>, SqlError> {
        let (database, part) = self.temporary_part()?.part(table.residence);
        let new = database.alter_columns_own(part, table, columns, map).await?;
        self.replace_temporary(table, &new)?;
        Ok(new)
    }

    pub(crate) async fn alter_temporary_definition(
        &mut self,
        table: &Table,
        change: crate::database::RecordChange<'_>,
    ) -> Result<Arc<Table>, SqlError> {
        let (database, part) = self.temporary_part()?.part(table.residence);
        let new = database.alter_definition_own(part, table, change).await?;
        self.replace_temporary(table, &new)?;
        Ok(new)
    }

    pub(crate) async fn truncate_temporary(&mut self, table: &Table) -> Result<(), SqlError> {
        let (database, part) = self.temporary_part()?.part(table.residence);
        let new = database.truncate_own(part, table).await?;
        new.state.begin_anew();
        self.replace_temporary(table, &new)
    }
}
