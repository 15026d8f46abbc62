//! Temporary tables, and the tables that SELECT ... INTO makes.

use std::sync::Arc;

use super::Definer;
use super::constraints::Existing;
use super::definition_trigger::Watched;
use super::elsewhere::definition_elsewhere;
use super::filegroup::placed;
use super::table_definition::{self, Wishes, check_padding};
use super::versioning::{SYSTEM_VERSIONING, WantedVersioning};
use crate::bind::{self, ColumnDefaults, Names};
use crate::expression::Fault;
use crate::program::SelectInto;
use pikepole_engine::{ColumnDefinition, Residence, TableDefinition};
use pikepole_tsql::{self as tree, ObjectName};
use pikepole_types::{SecondName, SqlError};

/// A primary key on a column that may be NULL.
const KEY_ON_NULLABLE: i32 = 8111;

/// Another database knows no types of this one: what they stand for is enough. The system's names are everywhere the same.
fn keep_system_type(column: &mut ColumnDefinition) {
    column.user_type = column.user_type.filter(|id| SecondName::by_id(*id).is_some());
}

/// CREATE TABLE with nothing but a name and elements.
pub(crate) fn of_elements(name: tree::Name, elements: Vec<tree::TableElement>) -> tree::CreateTable {
    let name = ObjectName::of(name);
    tree::CreateTable { name, elements, on: None, textimage_on: None, options: Vec::new() }
}

impl Definer<'_> {
    /// Makes a table that is in no catalog.
    pub(crate) async fn create_temporary(
        &mut self,
        definition: TableDefinition,
        residence: Residence,
    ) -> Result<(), Fault> {
        self.context.use_temporary().await?;
        let level = self.context.state.nest_level;
        self.context.transaction().create_temporary(definition, residence, level).await?;
        Ok(())
    }

    /// SELECT ... INTO, its first half: the table. It stays when the second half fails, as an empty one. Those who watch it are
    /// given, and are to run before it ends.
    pub(crate) async fn create_into(&mut self, into: &SelectInto) -> Result<Vec<Watched>, Fault> {
        let (mut columns, rowversion) = {
            let catalog = self.context.catalog();
            let variables = self.variables;
            let names = Names { variables, ..Names::of(&catalog, &*self.host) };
            bind::into_columns(&into.query, &into.target.name.text, &names, variables.len())?
        };
        let options = self.context.settings.column_options();
        columns.iter().try_for_each(|column| check_padding(&column.ty, options))?;
        let name = &into.target.name.text;
        if into.target.is_global_temporary() {
            columns.iter_mut().for_each(keep_system_type);
            let (home, before) = self.move_to_tempdb(name).await?;
            let made = self.create_into_here(into, columns, rowversion).await;
            self.leave_tempdb(&home, name, before, made.is_ok());
            return made;
        }
        let home = Arc::clone(self.context.database());
        if let Some(database) = into.target.database_str().filter(|_| !into.target.is_temporary()) {
            let database = self.database_named(database).await?;
            self.context.move_to(&database)?;
        }
        if !Arc::ptr_eq(self.context.database(), &home) {
            if self.context.catalog().has_definition_triggers() {
                self.context.move_back(&home);
                return Err(definition_elsewhere());
            }
            columns.iter_mut().for_each(keep_system_type);
        }
        if into.target.is_temporary() {
            columns.iter_mut().for_each(keep_system_type);
        }
        let made = self.create_into_here(into, columns, rowversion).await;
        self.context.move_back(&home);
        made
    }

    async fn create_into_here(
        &mut self,
        into: &SelectInto,
        columns: Vec<ColumnDefinition>,
        rowversion: Option<String>,
    ) -> Result<Vec<Watched>, Fault> {
        let target = &into.target;
        let watched = self.watched_into(target);
        let schema = self.schema_of_new(target)?;
        if !target.is_in_tempdb() {
            self.check_create_into(target)?;
        }
        let filegroup = placed(&self.filegroups_of(target), into.on.as_deref())?;
        let (name, indexes) = (target.name.text.clone(), Vec::new());
        let (text_filegroup, memory) = (None, None);
        let definition = TableDefinition { schema, name, columns, indexes, filegroup, text_filegroup, memory };
        self.context.begin_statement(true)?;
        if target.is_temporary() {
            self.create_temporary(definition, Residence::Temporary).await?;
        } else {
            let (database, tx) = self.context.engine();
            database.create_table(tx, definition).await?;
        }
        if rowversion.is_some() {
            self.add_wishes(target, Wishes { rowversion, ..Wishes::default() }, Existing::None).await?;
        }
        if watched.is_empty() {
            self.context.end_definition().await?;
        }
        Ok(watched)
    }

    /// The temporary table of a name, for DROP TABLE; None: the name is no temporary one.
    pub(crate) fn drop_temporary(&mut self, name: &ObjectName, if_exists: bool) -> Result<(), Fault> {
        match self.context.temporary_table(&name.name.text) {
            Some(table) => Ok(self.context.transaction().drop_temporary(&table)?),
            None if if_exists => Ok(()),
            None => Err(Box::new(SqlError::object_missing("drop", "table", name.dotted()))),
        }
    }

    /// What CREATE TABLE and DECLARE ... TABLE have in common.
    pub(crate) async fn create_table_as(
        &mut self,
        create: &tree::CreateTable,
        residence: Residence,
    ) -> Result<(), Fault> {
        let schema = self.schema_of_new(&create.name)?;
        let catalog = self.context.catalog();
        // A variable of a table has the collation of the database that it is declared in.
        let is_named = residence != Residence::Database && !create.name.name.text.starts_with('@');
        let of = if is_named { ColumnDefaults::of_temporary } else { ColumnDefaults::of };
        let (defaults, options) = (of(catalog.collation()), self.context.settings.column_options());
        let filegroups = match residence {
            Residence::Database => Arc::clone(&catalog.catalog),
            _ => Arc::default(),
        };
        let catalogs = (&*catalog.catalog, &*filegroups);
        let read = table_definition::table(create, schema, residence, catalogs, defaults, options);
        let (mut definition, wishes) = match read {
            Err(fault) if fault.number == KEY_ON_NULLABLE => {
                // Two errors say it: why, and what did not come of it.
                self.output.error(&fault.at_line(self.line()));
                return Err(Box::new(SqlError::constraint_not_created()));
            }
            read => read?,
        };
        if residence != Residence::Database {
            definition.columns.iter_mut().for_each(keep_system_type);
        }
        if wishes.period.is_some() && residence == Residence::Variable {
            return Err(Box::new(SqlError::period_in_variable()));
        }
        self.type_computed(&mut definition, &create.name.dotted(), &wishes)?;
        for column in create.columns() {
            if let Some(default) = &column.default {
                self.check_default(&default.expr)?;
            }
        }
        if residence == Residence::Database {
            let (database, tx) = self.context.engine();
            database.create_table(tx, definition).await?;
        } else {
            self.create_temporary(definition, residence).await?;
        }
        if residence != Residence::Variable {
            self.warn_of_keys(&create.name, &[])?;
            self.warn_of_rows(&create.name)?;
        }
        self.add_wishes(&create.name, wishes, Existing::None).await?;
        self.partition_table(create).await?;
        if residence == Residence::Database {
            self.set_storage_of_rows(&create.name, &create.options).await?;
        }
        for option in create.options.iter().filter(|option| option.name == SYSTEM_VERSIONING) {
            if let Some(wanted) = WantedVersioning::of(option)? {
                self.start_versioning(&create.name, &wanted).await?;
            }
        }
        Ok(())
    }

    /// The schema of a table that is to be made.
    fn schema_of_new(&self, name: &ObjectName) -> Result<String, Fault> {
        if name.is_temporary() || name.name.text.starts_with('@') {
            return Ok(name.schema_str().unwrap_or("dbo").to_owned());
        }
        self.schema_of(name, false)
    }
}
