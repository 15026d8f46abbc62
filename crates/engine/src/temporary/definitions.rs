//! CREATE, ALTER and DROP of temporary tables. They take no lock of the catalog: nobody else knows these tables.

use std::sync::Arc;

use pikepole_types::SqlError;

use super::{Residence, Temporary, TemporaryEntry};
use crate::catalog::user_type::UserType;
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
        if residence == Residence::Temporary {
            check_name(&definition.name)?;
        }
        let temporary = self.temporary_part()?;
        if temporary.names.at_level(&definition.name, level).is_some() {
            return Err(SqlError::object_exists(&definition.name));
        }
        let (database, part) = temporary.part(residence);
        let table = database.build_table(part, &definition, residence).await?;
        temporary.adopt_created();
        if residence == Residence::Variable {
            temporary.change_always(|names| names.put(level, table.clone()));
        } else {
            temporary.change_names(|names| names.put(level, table.clone()));
        }
        Ok(table)
    }

    /// Makes a table variable of a table type; `readonly` for a parameter that was given no table.
    ///
    /// # Errors
    /// 2714 when the scope has one of this name; 1105 when tempdb has no room.
    pub async fn create_of_type(
        &mut self,
        user_type: &UserType,
        name: &str,
        level: i32,
        readonly: bool,
    ) -> Result<(), SqlError> {
        let shape = user_type.table().ok_or_else(|| SqlError::type_unknown(1, user_type.full_name()))?;
        let temporary = self.temporary_part()?;
        if temporary.names.at_level(name, level).is_some() {
            return Err(SqlError::object_exists(name));
        }
        let (database, part) = temporary.part(Residence::Variable);
        let table = database.build_of_shape(part, shape, name).await?;
        temporary.adopt_created();
        let (name, user_type) = (name.to_owned(), Some(user_type.user_type_id));
        let entry = TemporaryEntry { level, name, table, user_type, readonly };
        temporary.change_always(|names| names.add(entry.clone()));
        Ok(())
    }

    /// Lets a call of the nest level `to_level` read a table variable of its caller under its own name for it.
    ///
    /// # Errors
    /// 1087 when the caller has no such variable.
    pub fn lend_variable(&mut self, name: &str, level: i32, as_name: &str, to_level: i32) -> Result<(), SqlError> {
        let temporary = self.temporary_part()?;
        let found = temporary.names.variable(name, level);
        let found = found.ok_or_else(|| SqlError::table_variable_not_declared(name))?.clone();
        let entry = TemporaryEntry { level: to_level, name: as_name.to_owned(), readonly: true, ..found };
        temporary.change_always(|names| names.add(entry.clone()));
        Ok(())
    }

    /// A parameter of the call of this nest level has got its rows: from now on it can only be read.
    pub fn seal_variable(&mut self, name: &str, level: i32) -> Result<(), SqlError> {
        self.temporary_part()?.change_always(|names| names.seal(name, level));
        Ok(())
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
        // A table variable gets its rules and indexes as it is declared, which nothing undoes.
        match new.residence {
            Residence::Variable => temporary.change_always(|names| names.put(0, new.clone())),
            _ => temporary.change_names(|names| names.put(0, new.clone())),
        }
        Ok(())
    }

    pub(crate) async fn create_temporary_index(
        &mut self,
        table: &Table,
        definition: IndexDefinition,
    ) -> Result<Arc<Table>, SqlError> {
        let (database, part) = self.temporary_part()?.part(table.residence);
        let new = database.create_index_own(part, table, definition, None).await?;
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

    pub(crate) async fn rebuild_temporary_indexes(
        &mut self,
        table: &Table,
        name: Option<&str>,
    ) -> Result<(), SqlError> {
        let (database, part) = self.temporary_part()?.part(table.residence);
        let new = database.rebuild_indexes_own(part, table, name).await?;
        self.replace_temporary(table, &new)
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

/// Characters of the name of a local temporary object.
const LOCAL_NAME_MAX: usize = 116;

/// Checks the name of a temporary object that is to be made.
///
/// # Errors
/// 193 when it is a local one and too long.
pub fn check_name(name: &str) -> Result<(), SqlError> {
    if !name.starts_with("##") && name.chars().count() > LOCAL_NAME_MAX {
        return Err(SqlError::name_too_long(name, LOCAL_NAME_MAX));
    }
    Ok(())
}
