//! The tables and indexes that operators read and change, as plans name them.

use super::expression::table_parts;
use crate::access::Table;
use pikepole_tsql::bracketed;
use std::sync::Arc;

/// A table, and the index it is reached by.
#[derive(Debug, Clone)]
pub(crate) struct ShownObject {
    /// Database, schema and name; a table variable has a name alone.
    pub(crate) table: [String; 3],
    pub(crate) index: Option<String>,
    pub(crate) alias: Option<String>,
    /// The table in the engine, the name of its database, and the index's number, 0 for a heap.
    pub(crate) engine: Arc<pikepole_engine::Table>,
    pub(crate) database: String,
    pub(crate) index_id: i32,
}

impl ShownObject {
    pub(super) fn of(table: &Table, index: Option<i32>, alias: Option<&str>) -> ShownObject {
        let found = match index {
            Some(id) => table.engine.indexes.iter().find(|index| index.index_id == id),
            None => table.engine.clustered(),
        };
        ShownObject {
            table: table_parts(table),
            index: found.map(|index| bracketed(&index.name)),
            alias: alias.map(bracketed),
            engine: Arc::clone(&table.engine),
            database: table.database.clone(),
            index_id: found.map_or(0, |index| index.index_id),
        }
    }

    pub(crate) fn text(&self) -> String {
        let index = self.index.as_ref().map_or_else(String::new, |index| format!(".{index}"));
        let alias = self.alias.as_ref().map_or_else(String::new, |alias| format!(" AS {alias}"));
        let parts: Vec<&str> = self.table.iter().map(String::as_str).filter(|part| !part.is_empty()).collect();
        format!("{}{index}{alias}", parts.join("."))
    }
}
