//! Filegroups of CREATE DATABASE and ALTER DATABASE, and what `ON filegroup` of tables and indexes names.

use super::Definer;
use crate::access::Table;
use crate::errors;
use crate::expression::Fault;
use crate::reading::Reading;
use pikepole_engine::{Catalog, Database, FilegroupChange, FilegroupContents, TableRecord};
use pikepole_tsql::{self as tree, ObjectName};
use pikepole_types::SqlError;
use std::sync::Arc;

/// The number of the filegroup of a name; `DEFAULT` is the default one.
///
/// # Errors
/// 1921 for one that is not there, or that holds no rows.
pub(crate) fn filegroup(catalog: &Catalog, name: &tree::Name) -> Result<i32, Fault> {
    if name.is("DEFAULT") {
        return Ok(catalog.default_filegroup());
    }
    let found = catalog.filegroup(&name.text).filter(|found| found.contents == FilegroupContents::Rows);
    found.map(|found| found.data_space_id).ok_or_else(|| Box::new(SqlError::invalid_place("filegroup", &name.text)))
}

/// The number of the filegroup that `ON` names; None: nothing is said, or a partition scheme.
///
/// # Errors
/// 1921 for one that is not there.
pub(crate) fn placed(catalog: &Catalog, on: Option<&tree::Placement>) -> Result<Option<i32>, Fault> {
    let on = on.filter(|on| on.column.is_none());
    on.map(|on| filegroup(catalog, &on.name)).transpose()
}

/// The contents that `CONTAINS` gives a filegroup.
fn contents(word: Option<&str>) -> Result<FilegroupContents, Fault> {
    match word {
        None => Ok(FilegroupContents::Rows),
        Some("MEMORY_OPTIMIZED_DATA") => Ok(FilegroupContents::MemoryOptimized),
        Some(word) => Err(errors::unsupported(format!("A filegroup that CONTAINS {word}"))),
    }
}

/// The filegroups that CREATE DATABASE declares: names, contents, and true for the default one.
pub(super) struct DeclaredFilegroups(Vec<(String, FilegroupContents, bool)>);

impl DeclaredFilegroups {
    /// Reads them before anything is made.
    ///
    /// # Errors
    /// 5035 for a name that is declared twice, 5051 for DEFAULT, 10797 for a second filegroup of memory-optimized data.
    pub(super) fn of(create: &tree::CreateDatabase) -> Result<DeclaredFilegroups, Fault> {
        let mut declared: Vec<(String, FilegroupContents, bool)> = Vec::new();
        for group in &create.filegroups {
            let name = &group.name;
            if name.is("DEFAULT") {
                return Err(Box::new(SqlError::filegroup_named_default()));
            }
            if name.is("PRIMARY") || declared.iter().any(|(own, ..)| name.is(own)) {
                return Err(Box::new(SqlError::filegroup_exists(&name.text)));
            }
            let contents = contents(group.contains.as_deref())?;
            let is_second = |(_, own, _): &(String, FilegroupContents, bool)| *own == contents;
            if contents == FilegroupContents::MemoryOptimized && declared.iter().any(is_second) {
                return Err(Box::new(SqlError::memory_optimized_filegroup_exists()));
            }
            declared.push((name.text.clone(), contents, group.default));
        }
        Ok(DeclaredFilegroups(declared))
    }

    /// Makes them in the new database.
    ///
    /// # Errors
    /// What keeps its catalog from being changed.
    pub(super) async fn make(self, database: &Arc<Database>, session_id: i32) -> Result<(), Fault> {
        for (name, contents, is_default) in self.0 {
            database.change_filegroup(session_id, &name, &FilegroupChange::Add(contents)).await?;
            if is_default {
                database.change_filegroup(session_id, &name, &FilegroupChange::Default).await?;
            }
        }
        Ok(())
    }
}

impl Definer<'_> {
    /// ADD, REMOVE and MODIFY FILEGROUP of ALTER DATABASE.
    pub(super) async fn alter_filegroup(
        &mut self,
        database: &Arc<Database>,
        action: &tree::AlterDatabaseAction,
    ) -> Result<(), Fault> {
        let (name, change, message) = match action {
            tree::AlterDatabaseAction::AddFilegroup { name, contains } => {
                (name, FilegroupChange::Add(contents(contains.as_deref())?), None)
            }
            tree::AlterDatabaseAction::RemoveFilegroup(name) => {
                (name, FilegroupChange::Remove, Some(SqlError::filegroup_removed(&name.text)))
            }
            tree::AlterDatabaseAction::ModifyFilegroup { name, property, new_name } => {
                let set = SqlError::filegroup_property_set(property);
                let (change, message) = match (property.as_str(), new_name) {
                    ("NAME", Some(new)) => {
                        (FilegroupChange::Name(new.text.clone()), SqlError::filegroup_name_set(&new.text))
                    }
                    ("DEFAULT", _) => (FilegroupChange::Default, set),
                    ("AUTOGROW_ALL_FILES", _) => (FilegroupChange::GrowsAllFiles(true), set),
                    ("AUTOGROW_SINGLE_FILE", _) => (FilegroupChange::GrowsAllFiles(false), set),
                    _ => return Err(self.filegroup_not_switched(database, name, property)),
                };
                (name, change, Some(message))
            }
            _ => return Ok(()),
        };
        database.change_filegroup(self.context.state.session_id, &name.text, &change).await?;
        if let Some(message) = message {
            self.output.message(&message.at_line(self.line()));
        }
        Ok(())
    }

    /// The error of READ_ONLY and READ_WRITE: no filegroup is read-only here.
    fn filegroup_not_switched(&self, database: &Database, name: &tree::Name, property: &str) -> Fault {
        if name.is("PRIMARY") {
            return Box::new(SqlError::primary_filegroup_read_only());
        }
        if database.current_catalog().filegroup(&name.text).is_none() {
            return Box::new(SqlError::filegroup_missing(&name.text, database.name()));
        }
        match property {
            "READ_WRITE" | "READWRITE" => Box::new(SqlError::filegroup_property_is_set(property).with_state(2)),
            "READ_ONLY" | "READONLY" => {
                errors::unsupported(format!("ALTER DATABASE ... MODIFY FILEGROUP ... {property}"))
            }
            _ => Box::new(SqlError::incorrect_syntax(property)),
        }
    }

    /// The definitions that filegroups of a table are looked up in: a temporary one is in tempdb, which has one filegroup.
    pub(super) fn filegroups_of(&self, name: &ObjectName) -> Arc<Catalog> {
        match name.is_temporary() {
            true => Arc::new(Catalog::default()),
            false => Arc::clone(&self.context.catalog().catalog),
        }
    }

    /// Drops an index, or the constraint of one, and places the rows of a clustered one where `MOVE TO` says.
    ///
    /// # Errors
    /// As of [`Database::drop_index`]; 1921 for a filegroup that is not there.
    pub(super) async fn drop_index_moving(
        &mut self,
        table_name: &ObjectName,
        table: &Table,
        index: &tree::Name,
        (constraint, options): (bool, &[tree::SettingOption]),
    ) -> Result<(), Fault> {
        let to = moved_to(options);
        placed(&self.filegroups_of(table_name), to)?;
        let activity = Arc::clone(&self.context.activity);
        let (database, tx) = self.context.engine();
        let dropped = database.drop_index(tx, &table.engine, &index.text, constraint);
        Reading::during(&activity, &table.engine, dropped).await?;
        self.move_rows(table_name, to).await
    }

    /// `MOVE TO` of a clustered index that was dropped: the rows of the heap are placed there.
    async fn move_rows(&mut self, name: &ObjectName, to: Option<&tree::Placement>) -> Result<(), Fault> {
        let Some(to) = to else { return Ok(()) };
        if to.column.is_some() {
            return self.partition_index(name, "", Some(to)).await;
        }
        let filegroup = filegroup(&self.filegroups_of(name), &to.name)?;
        let missing = || Box::new(SqlError::object_not_found(name.dotted()));
        let table = self.context.catalog().table(name)?.ok_or_else(missing)?;
        let change = |record: &mut TableRecord, _: &mut dyn FnMut() -> i32| {
            record.options.filegroup = filegroup;
            record.partitioned = None;
            Ok(())
        };
        let (database, tx) = self.context.engine();
        database.alter_definition(tx, &table.engine, &change).await?;
        Ok(())
    }
}

/// `MOVE TO` among the options of a dropped index.
fn moved_to(options: &[tree::SettingOption]) -> Option<&tree::Placement> {
    options.iter().find_map(|option| match &option.value {
        Some(tree::SettingValue::Place(place)) if option.name == "MOVE TO" => Some(place),
        _ => None,
    })
}
