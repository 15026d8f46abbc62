//! CREATE INDEX ... WITH (DROP_EXISTING = ON): an index takes the place of the one of its name.
//!
//! The new one is made as any other; what it has from the former one is the number, the place in the list, and the constraint.

use pikepole_types::SqlError;

use super::Database;
use super::definitions::{IndexDefinition, index_columns};
use crate::catalog::Catalog;
use crate::catalog::definition::TableRecord;
use crate::catalog::index::Index;

/// An index that was taken out of a table's definition, and where it was.
pub(super) struct Replaced {
    at: usize,
    index: Index,
}

impl Replaced {
    /// Takes the index of the new one's name out of a definition.
    ///
    /// # Errors
    /// 7999 when there is none; 1925 when rows would move to a heap; 1907 when a constraint would have another key; 3725 when a foreign
    /// key refers to what would be another key.
    pub fn take(
        database: &Database,
        catalog: &Catalog,
        record: &mut TableRecord,
        definition: &IndexDefinition,
    ) -> Result<Replaced, SqlError> {
        let name = definition.name.as_deref().unwrap_or_default();
        let lower = name.to_lowercase();
        let at = record.indexes.iter().position(|index| index.name.to_lowercase() == lower);
        let at = at.ok_or_else(|| SqlError::index_to_replace_missing(name, &record.name))?;
        let index = &record.indexes[at];
        if index.clustered && !definition.clustered {
            return Err(SqlError::clustered_index_to_nonclustered());
        }
        let same_key = definition.unique
            && definition.extras.filter.is_none()
            && index_columns(record, definition)? == index.columns;
        if index.constraint && !same_key {
            return Err(SqlError::index_does_not_match_constraint(name));
        }
        if !same_key || index.clustered != definition.clustered {
            database.check_not_referenced(catalog, record, index.index_id, name)?;
        }
        Ok(Replaced { at, index: record.indexes.remove(at) })
    }

    /// Gives the index that was added for it its number, its place and its constraint.
    pub fn give(self, record: &mut TableRecord, name: &str) {
        let added = record.indexes.iter().position(|index| index.name == name);
        let mut index = record.indexes.remove(added.unwrap_or_default());
        index.constraint_id = self.index.constraint_id;
        index.constraint = self.index.constraint;
        index.primary_key = self.index.primary_key;
        let at = if index.clustered {
            0
        } else {
            index.index_id = self.index.index_id;
            self.at
        };
        record.indexes.insert(at, index);
    }
}
