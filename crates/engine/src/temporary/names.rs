//! The temporary tables and table variables of a session, by name and scope.

use std::sync::Arc;

use super::Residence;
use crate::catalog::{Catalog, Object};
use crate::table::Table;

/// One of them.
#[derive(Debug, Clone)]
pub struct TemporaryEntry {
    /// The nest level of the call that made it; 0: the session's batches.
    pub level: i32,
    /// The name it is found by: `#t`, `@t`.
    pub name: String,
    /// The table.
    pub table: Arc<Table>,
    /// The id of the table type that it was declared with.
    pub user_type: Option<i32>,
    /// A parameter: it may be read only. Its rows are those of the caller's variable of the same table.
    pub readonly: bool,
}

impl TemporaryEntry {
    pub(super) fn ends_with(&self, level: i32, variables_only: bool) -> bool {
        self.level >= level && (!variables_only || self.table.residence == Residence::Variable)
    }
}

/// What a session's temporary names mean at one moment; immutable once others see it.
#[derive(Debug, Clone, Default)]
pub struct TemporaryTables {
    version: u64,
    entries: Vec<TemporaryEntry>,
}

impl TemporaryTables {
    pub(super) fn new(version: u64) -> TemporaryTables {
        TemporaryTables { version, entries: Vec::new() }
    }

    /// No other set of tables, of any session, has this number.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// All of them, the oldest first.
    pub fn entries(&self) -> impl Iterator<Item = &TemporaryEntry> {
        self.entries.iter()
    }

    /// The temporary table that `name` means in a call of this nest level: that of the innermost scope.
    pub fn table(&self, name: &str, level: i32) -> Option<&Arc<Table>> {
        let name = name.to_lowercase();
        let seen = self.entries.iter().filter(|entry| {
            entry.table.residence == Residence::Temporary && entry.level <= level && entry.name.to_lowercase() == name
        });
        seen.max_by_key(|entry| entry.level).map(|entry| &entry.table)
    }

    /// The table variable that `name` means in a call of this nest level: one of its own.
    pub fn variable(&self, name: &str, level: i32) -> Option<&TemporaryEntry> {
        let name = name.to_lowercase();
        let own = |entry: &&TemporaryEntry| {
            entry.table.residence == Residence::Variable && entry.level == level && entry.name.to_lowercase() == name
        };
        self.entries.iter().find(own)
    }

    /// The temporary table or table variable with this object id.
    pub fn by_id(&self, object_id: i32) -> Option<&Arc<Table>> {
        let found = self.entries.iter().find(|entry| entry.table.object_id == object_id);
        found.map(|entry| &entry.table)
    }

    /// A catalog that has the temporary tables beside what is in `tempdb`, for its views.
    pub fn catalog(&self, tempdb: &Catalog) -> Catalog {
        let mut catalog = tempdb.clone();
        for entry in self.entries.iter().filter(|entry| entry.table.residence == Residence::Temporary) {
            catalog.put(Object::Table(Arc::clone(&entry.table)));
        }
        catalog
    }

    /// The temporary table of exactly this level.
    pub(super) fn at_level(&self, name: &str, level: i32) -> Option<&Arc<Table>> {
        self.entries
            .iter()
            .find(|entry| entry.level == level && entry.name.to_lowercase() == name.to_lowercase())
            .map(|entry| &entry.table)
    }

    pub(super) fn renewed(&self, version: u64) -> TemporaryTables {
        TemporaryTables { version, entries: self.entries.clone() }
    }

    pub(super) fn without(&self, version: u64, ends: impl Fn(&TemporaryEntry) -> bool) -> TemporaryTables {
        let kept = self.entries.iter().filter(|entry| !ends(entry)).cloned();
        TemporaryTables { version, entries: kept.collect() }
    }

    pub(super) fn put(&mut self, level: i32, table: Arc<Table>) {
        match self.entries.iter_mut().find(|entry| entry.table.object_id == table.object_id) {
            Some(entry) => entry.table = table,
            None => {
                let name = table.name.clone();
                self.add(TemporaryEntry { level, name, table, user_type: None, readonly: false });
            }
        }
    }

    pub(super) fn add(&mut self, entry: TemporaryEntry) {
        self.entries.push(entry);
    }

    pub(super) fn seal(&mut self, name: &str, level: i32) {
        let own =
            |entry: &&mut TemporaryEntry| entry.level == level && entry.name.to_lowercase() == name.to_lowercase();
        self.entries.iter_mut().filter(own).for_each(|entry| entry.readonly = true);
    }

    pub(super) fn remove(&mut self, object_id: i32) {
        self.entries.retain(|entry| entry.table.object_id != object_id);
    }

    pub(super) fn storages(&self) -> impl Iterator<Item = u32> + '_ {
        self.entries.iter().flat_map(|entry| entry.table.storages().map(|storage| storage.object))
    }

    pub(super) fn holds(&self, object: u32) -> bool {
        self.storages().any(|own| own == object)
    }
}
