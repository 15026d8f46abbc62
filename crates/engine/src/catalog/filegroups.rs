//! The filegroups and files among the definitions of a database.

use std::sync::Arc;

use super::Catalog;
use super::data_file::{FileSettings, LOG_FILE};
use super::filegroup::{FILEGROUP_MAX, Filegroup, PRIMARY_FILEGROUP};

impl Catalog {
    /// All filegroups, by number.
    pub fn filegroups(&self) -> impl Iterator<Item = &Arc<Filegroup>> {
        self.filegroups.values()
    }

    /// The filegroup of this name, whatever its case.
    pub fn filegroup(&self, name: &str) -> Option<&Arc<Filegroup>> {
        let name = name.to_lowercase();
        self.filegroups().find(|filegroup| filegroup.name.to_lowercase() == name)
    }

    /// The filegroup of this number.
    pub fn filegroup_by_id(&self, data_space_id: i32) -> Option<&Arc<Filegroup>> {
        self.filegroups.get(&data_space_id)
    }

    /// The number of the filegroup of tables and indexes that name none.
    pub fn default_filegroup(&self) -> i32 {
        self.filegroups().find(|filegroup| filegroup.is_default).map_or(PRIMARY_FILEGROUP, |own| own.data_space_id)
    }

    /// The number of the next filegroup; None: there are as many as can be.
    pub(crate) fn free_filegroup_id(&self) -> Option<i32> {
        (PRIMARY_FILEGROUP + 1..=FILEGROUP_MAX).find(|id| !self.filegroups.contains_key(id))
    }

    /// True when a table, an index or a partition scheme is placed in a filegroup.
    pub(crate) fn is_filegroup_in_use(&self, filegroup: &Filegroup) -> bool {
        let name = filegroup.name.to_lowercase();
        let schemes_name = |scheme: &super::PartitionScheme| {
            scheme.filegroups.iter().chain(&scheme.next_used).any(|own| own.to_lowercase() == name)
        };
        self.tables().any(|table| table.uses_filegroup(filegroup.data_space_id))
            || self.partition_schemes().any(|scheme| schemes_name(scheme))
    }

    /// All files, by number.
    pub fn files(&self) -> impl Iterator<Item = &Arc<FileSettings>> {
        self.files.values()
    }

    /// The file of this number.
    pub fn file(&self, file_id: i32) -> Option<&Arc<FileSettings>> {
        self.files.get(&file_id)
    }

    /// The number of the next file; None: there are as many as can be.
    pub(crate) fn free_file_id(&self) -> Option<i32> {
        (LOG_FILE + 1..=FILEGROUP_MAX).find(|id| !self.files.contains_key(id))
    }

    pub(crate) fn put_file(&mut self, file: Arc<FileSettings>) {
        self.files.insert_mut(file.file_id, file);
    }

    pub(crate) fn remove_file(&mut self, file_id: i32) {
        self.files.remove_mut(&file_id);
    }

    pub(crate) fn put_filegroup(&mut self, filegroup: Arc<Filegroup>) {
        self.filegroups.insert_mut(filegroup.data_space_id, filegroup);
    }

    pub(crate) fn remove_filegroup(&mut self, data_space_id: i32) {
        self.filegroups.remove_mut(&data_space_id);
    }
}
