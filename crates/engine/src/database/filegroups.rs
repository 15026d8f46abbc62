//! ADD, REMOVE and MODIFY FILEGROUP of ALTER DATABASE, each in a transaction of its own.

use std::sync::Arc;

use pikepole_types::SqlError;

use super::{Database, Durability};
use crate::catalog::Catalog;
use crate::catalog::definition::StoredObject;
use crate::catalog::filegroup::{FILEGROUP_MAX, Filegroup, FilegroupContents, PRIMARY_FILEGROUP};
use crate::catalog::property::PropertyPart;
use crate::catalog::rows::RowKind;
use crate::server::MASTER;
use crate::temporary::TEMPDB;
use crate::transaction::Transaction;

/// A change of the filegroups of a database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FilegroupChange {
    /// `ADD FILEGROUP`
    Add(FilegroupContents),
    /// `REMOVE FILEGROUP`
    Remove,
    /// `MODIFY FILEGROUP ... DEFAULT`
    Default,
    /// `MODIFY FILEGROUP ... NAME = name`
    Name(String),
    /// `MODIFY FILEGROUP ... AUTOGROW_ALL_FILES`, or `AUTOGROW_SINGLE_FILE`
    GrowsAllFiles(bool),
}

impl Database {
    /// Changes the filegroup of a name, durably.
    ///
    /// # Errors
    /// 1826 in master and tempdb; 5012, 5014, 5035, 5042, 5045 and 5051 for what cannot be changed so; 10797 for a
    /// second filegroup of memory-optimized data; 5033 for more than there can be.
    pub async fn change_filegroup(
        &self,
        session_id: i32,
        name: &str,
        change: &FilegroupChange,
    ) -> Result<(), SqlError> {
        let mut tx = self.transaction(session_id);
        match self.try_change_filegroup(&mut tx, name, change).await {
            Ok(()) => {
                self.commit(&mut tx, Durability::Full).await?;
                self.apply_file_settings();
                Ok(())
            }
            Err(error) => {
                // The change's error says more than one of its undoing would.
                let _ = self.rollback(&mut tx).await;
                Err(error)
            }
        }
    }

    async fn try_change_filegroup(
        &self,
        tx: &mut Transaction,
        name: &str,
        change: &FilegroupChange,
    ) -> Result<(), SqlError> {
        let (mark, mut catalog) = self.begin_definition(tx).await?;
        let found = catalog.filegroup(name).map(|own| Filegroup::clone(own));
        let found = found.ok_or_else(|| SqlError::filegroup_missing(name, self.name()));
        match change {
            FilegroupChange::Add(contents) => self.add_filegroup(tx, &mut catalog, name, *contents).await?,
            FilegroupChange::Remove => self.remove_filegroup(tx, &mut catalog, &found?).await?,
            FilegroupChange::Default => self.set_default_filegroup(tx, &mut catalog, found?).await?,
            FilegroupChange::Name(new) => self.rename_filegroup(tx, &mut catalog, found?, new).await?,
            FilegroupChange::GrowsAllFiles(all) => {
                let found = found?;
                if found.grows_all_files == *all {
                    let (property, state) = if *all { ("AUTOGROW_ALL_FILES", 3) } else { ("AUTOGROW_SINGLE_FILE", 4) };
                    return Err(SqlError::filegroup_property_is_set(property).with_state(state));
                }
                self.store_filegroup(tx, &mut catalog, Filegroup { grows_all_files: *all, ..found }).await?;
            }
        }
        self.end_definition(tx, mark, catalog, self.new_version());
        Ok(())
    }

    async fn store_filegroup(
        &self,
        tx: &mut Transaction,
        catalog: &mut Catalog,
        filegroup: Filegroup,
    ) -> Result<(), SqlError> {
        self.store_object(tx, &StoredObject::Filegroup(filegroup.clone())).await?;
        catalog.put_filegroup(Arc::new(filegroup));
        Ok(())
    }

    async fn add_filegroup(
        &self,
        tx: &mut Transaction,
        catalog: &mut Catalog,
        name: &str,
        contents: FilegroupContents,
    ) -> Result<(), SqlError> {
        if [MASTER, TEMPDB].iter().any(|own| self.name().eq_ignore_ascii_case(own)) {
            return Err(SqlError::filegroups_not_allowed(self.name()));
        }
        if name.eq_ignore_ascii_case("DEFAULT") {
            return Err(SqlError::filegroup_named_default());
        }
        if catalog.filegroup(name).is_some() {
            return Err(SqlError::filegroup_exists(name));
        }
        let in_memory = FilegroupContents::MemoryOptimized;
        if contents == in_memory && catalog.filegroups().any(|own| own.contents == in_memory) {
            return Err(SqlError::memory_optimized_filegroup_exists());
        }
        let data_space_id = catalog.free_filegroup_id().ok_or_else(|| SqlError::too_many_files(FILEGROUP_MAX))?;
        let (is_default, grows_all_files) = (false, false);
        let filegroup = Filegroup { data_space_id, name: name.to_owned(), contents, is_default, grows_all_files };
        self.store_filegroup(tx, catalog, filegroup).await
    }

    async fn remove_filegroup(
        &self,
        tx: &mut Transaction,
        catalog: &mut Catalog,
        filegroup: &Filegroup,
    ) -> Result<(), SqlError> {
        let id = filegroup.data_space_id;
        let has_files = catalog.files().any(|file| file.filegroup == id);
        if id == PRIMARY_FILEGROUP || filegroup.is_default || has_files || catalog.is_filegroup_in_use(filegroup) {
            return Err(SqlError::not_empty("filegroup", &filegroup.name).with_state(7));
        }
        self.remove_rows(tx, RowKind::Filegroup, id, 0).await?;
        self.forget_part_of_database(tx, catalog, PropertyPart::Filegroup(id)).await?;
        catalog.remove_filegroup(id);
        Ok(())
    }

    async fn set_default_filegroup(
        &self,
        tx: &mut Transaction,
        catalog: &mut Catalog,
        filegroup: Filegroup,
    ) -> Result<(), SqlError> {
        if filegroup.is_default {
            return Err(SqlError::filegroup_property_is_set("DEFAULT").with_state(3));
        }
        if filegroup.contents != FilegroupContents::Rows {
            return Err(SqlError::invalid_place("filegroup", &filegroup.name));
        }
        let former = catalog.filegroup_by_id(catalog.default_filegroup()).map(|own| Filegroup::clone(own));
        if let Some(former) = former {
            self.store_filegroup(tx, catalog, Filegroup { is_default: false, ..former }).await?;
        }
        self.store_filegroup(tx, catalog, Filegroup { is_default: true, ..filegroup }).await
    }

    /// Partition schemes name their filegroups, so they change along.
    async fn rename_filegroup(
        &self,
        tx: &mut Transaction,
        catalog: &mut Catalog,
        filegroup: Filegroup,
        new: &str,
    ) -> Result<(), SqlError> {
        if filegroup.data_space_id == PRIMARY_FILEGROUP {
            return Err(SqlError::primary_filegroup_not_renamed());
        }
        if new.eq_ignore_ascii_case("DEFAULT") {
            return Err(SqlError::filegroup_named_default());
        }
        if catalog.filegroup(new).is_some_and(|other| other.data_space_id != filegroup.data_space_id) {
            return Err(SqlError::filegroup_exists(new).with_state(2));
        }
        let old = filegroup.name.to_lowercase();
        let schemes: Vec<_> = catalog.partition_schemes().cloned().collect();
        for scheme in schemes {
            let mut renamed = scheme.as_ref().clone();
            let named = renamed.filegroups.iter_mut().chain(&mut renamed.next_used);
            named.filter(|own| own.to_lowercase() == old).for_each(|own| new.clone_into(own));
            if renamed != *scheme {
                self.store_object(tx, &StoredObject::PartitionScheme(renamed.clone())).await?;
                catalog.put_partition_scheme(Arc::new(renamed));
            }
        }
        self.store_filegroup(tx, catalog, Filegroup { name: new.to_owned(), ..filegroup }).await
    }
}
