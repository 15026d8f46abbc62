//! Filling an empty table with keys without logging its rows: INSERT ... SELECT and BULK INSERT with TABLOCK, under
//! SIMPLE and BULK_LOGGED.
//!
//! ```text
//!   table, locked with X, empty     ── stays as it is, and others read it ──────────────────────────────►  given back
//!   begin_fill: trees of its own       Portion of the fill ──► rows as the system's, not logged
//!   end_fill: settled                                                ──► the table's definition names these trees
//! ```
//! So the rows are undone as a definition is: by the transaction's rollback, also that of recovery, which gives the trees back. The
//! definition is locked only at the end, when it is changed: loads of different tables run side by side.

use std::sync::Arc;

use pikepole_contention::sync::atomic::{AtomicU64, Ordering};
use pikepole_storage::{InsertOutcome, LogContext, Tree, TreeCursor};
use pikepole_transaction::{LockMode, Structure, TransactionId};
use pikepole_types::SqlError;

use super::Database;
use super::unlogged::NewTrees;
use crate::catalog::definition::TableRecord;
use crate::error::Blocked;
use crate::table::{Portion, Table};
use crate::temporary::TEMPDB_ID;
use crate::transaction::Transaction;

/// The storage that an empty table is to get; for one statement, which gives all of its rows to portions of it.
pub struct Fill {
    table: Arc<Table>,
    /// The definition that names the new trees.
    record: TableRecord,
    trees: NewTrees,
    /// The next count for uniquifiers.
    count_next: AtomicU64,
}

impl Fill {
    /// Rows to be inserted a portion at a time.
    pub fn portion(self: &Arc<Self>) -> Portion {
        Portion::of_fill(&self.table, Arc::clone(self))
    }

    /// Takes counts for the uniquifiers of so many rows; the first of them.
    pub(crate) fn take_counts(&self, rows: u64) -> u64 {
        self.count_next.fetch_add(rows, Ordering::Relaxed)
    }

    /// Puts an entry into the tree of the rows themselves, or of one of the other indexes. False: the key is there.
    pub(crate) fn insert(
        &self,
        index: Option<usize>,
        cursor: &mut TreeCursor,
        key: &[u8],
        rest: &[u8],
    ) -> Result<bool, pikepole_storage::Stop> {
        let tree: Option<&Tree> = match index {
            None => self.trees.base(),
            Some(at) => self.trees.index(at),
        };
        let tree = tree.expect("all trees of the table are new");
        let inserted = tree.insert(cursor, &LogContext::new(TransactionId::SYSTEM.0), key, rest)?;
        Ok(matches!(inserted, InsertOutcome::Done(_)))
    }
}

impl Database {
    /// Whether the transaction, which has a lock on the table, may fill it instead of inserting row after row: the lock is X, the table has a
    /// clustered index and no row, also no deleted one that somebody may still see, and nobody needs its rows in the log.
    ///
    /// # Errors
    /// Needs.
    pub fn try_can_fill(&self, tx: &mut Transaction, table: &Table) -> Result<bool, Blocked> {
        if tx.is_elsewhere(table)
            || self.id() == TEMPDB_ID
            || table.overflow.is_some()
            || !tx.inner.holds(&table.state.lock, LockMode::X)
            || self.options().recovery.logs_all_rows()
            || !self.store.can_leave_rows_out()
        {
            return Ok(false);
        }
        for structure in table.structures() {
            let is_bare = match structure {
                Structure::Tree(tree) => tree.is_bare().map_err(|stop| self.stop(tx, table, stop.into()))?,
                Structure::Heap(_) => false,
            };
            if !is_bare {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Makes the storage that the table is to get.
    ///
    /// # Errors
    /// 1105, 9002 when there is no room.
    pub async fn begin_fill(&self, tx: &mut Transaction, table: &Arc<Table>) -> Result<Fill, SqlError> {
        let mut record = table.record().clone();
        for index in record.live_indexes_mut() {
            index.storage = self.create_storage(tx, Some(index.storage.key_bytes_max)).await?;
        }
        let new = Table::succeeding(table, record.clone(), table.version, &self.store);
        let trees = NewTrees::of(table, &new, true);
        Ok(Fill { table: Arc::clone(table), record, trees, count_next: AtomicU64::new(0) })
    }

    /// The table has what it was filled with, for the transaction; for all once that commits. Nobody fills it any more.
    ///
    /// # Errors
    /// A checkpoint that failed; 9002 when there is no room for the definition, or for the pages when a backup has begun meanwhile.
    pub async fn end_fill(&self, tx: &mut Transaction, fill: &Fill) -> Result<(), SqlError> {
        self.settle(tx, &fill.trees).await?;
        let (mark, mut catalog) = self.begin_definition(tx).await?;
        let missing = SqlError::object_not_found(&fill.table.name);
        // Who wants to change the definition waits for this transaction's lock: it is still that of the beginning.
        let table = self.lock_table_to_change(tx, &catalog, fill.table.object_id, missing).await?;
        assert_eq!(table.version, fill.table.version, "the table is locked");
        let new = Arc::new(Table::succeeding(&table, fill.record.clone(), self.new_version(), &self.store));
        self.keep_table(tx, &mut catalog, &new).await?;
        self.end_definition(tx, mark, catalog, new.version);
        Ok(())
    }
}
