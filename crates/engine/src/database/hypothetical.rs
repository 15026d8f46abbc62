//! Hypothetical indexes: definitions that advisers of indexes make, look at and drop. No row has an entry in one.

use super::Database;
use super::definitions::{IndexDefinition, included_columns, index_columns};
use crate::catalog::definition::TableRecord;
use crate::catalog::index::{Hypothetical, Index};
use crate::table::Table;
use crate::transaction::Transaction;
use pikepole_types::SqlError;
use std::sync::Arc;

impl Database {
    /// Adds a hypothetical index to a table's definition; the table as it is then.
    ///
    /// # Errors
    /// 1913 for a name that is taken, 1909, 1911 and 1919 for columns that no index has.
    pub async fn add_hypothetical_index(
        &self,
        tx: &mut Transaction,
        table: &Arc<Table>,
        wanted: &IndexDefinition,
    ) -> Result<Arc<Table>, SqlError> {
        let name = wanted.name.as_deref().unwrap_or_default();
        let change = |record: &mut TableRecord, _: &mut dyn FnMut() -> i32| {
            if record.indexes.iter().any(|index| index.name.to_lowercase() == name.to_lowercase()) {
                return Err(SqlError::index_exists(name, "table", table.full_name()));
            }
            let columns = index_columns(record, wanted)?;
            let included = included_columns(record, wanted, &columns)?;
            record.indexes.push(Index {
                unique: wanted.unique,
                columns,
                included,
                filter: wanted.extras.filter.clone(),
                hypothetical: Some(Hypothetical { clustered: wanted.clustered }),
                ..Index::definition(record.next_index_id(), name)
            });
            Ok(())
        };
        self.alter_definition(tx, table, &change).await
    }
}
