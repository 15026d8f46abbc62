//! Filling a heap page by page: what parallel INSERT ... SELECT and loads write with.
//!
//! ```text
//!   worker --> EncodedRows --> BulkWriter (less than a page stays) --> page after page, one log record each
//! ```
//! A writer belongs to one transaction (as a rule a child, see [`Database::try_begin_children`]) and one table. Its last rows are in no
//! page before [`Database::try_bulk_finish`]; a writer that is dropped before loses them, and the statement must be rolled back.

use pikepole_storage::{BulkPages, EncodedRows};
use pikepole_transaction::{LockMode, Structure};

use super::Table;
use crate::database::{Database, RecoveryModel};
use crate::error::Blocked;
use crate::transaction::Transaction;

/// Writes rows into pages of its own; see the module.
pub struct BulkWriter {
    pages: BulkPages,
    minimal: bool,
}

impl BulkWriter {
    /// Whether only the use of pages is logged, not their rows. The commit waits for a checkpoint then.
    pub fn is_minimal(&self) -> bool {
        self.minimal
    }
}

impl Database {
    /// A writer of pages for a heap without indexes; None for other tables, which take row after row. The transaction has
    /// the table locked: IX, or BU for TABLOCK. Under BU (or more) and the recovery model SIMPLE, rows are not logged.
    pub fn bulk_writer(&self, tx: &Transaction, table: &Table) -> Option<BulkWriter> {
        let Structure::Heap(heap) = &table.base else {
            return None;
        };
        if !table.secondary.is_empty() {
            return None;
        }
        let locked = tx.inner.holds(&table.state.lock, LockMode::BU);
        let minimal = locked && self.options().recovery == RecoveryModel::Simple;
        Some(BulkWriter { pages: BulkPages::new(heap, minimal), minimal })
    }

    /// Inserts encoded rows: the bytes of [`pikepole_types::RowLayout::encode_rest`]. Returns how many it has taken, which are fewer
    /// than there are when the next one needs something: call again with those behind it, until all are taken.
    ///
    /// # Errors
    /// 511 for a row that is too long; 9002, 1105 when there is no room; needs. No row was taken then.
    pub fn try_bulk_append(
        &self,
        tx: &mut Transaction,
        table: &Table,
        writer: &mut BulkWriter,
        rows: EncodedRows<'_>,
    ) -> Result<usize, Blocked> {
        self.lock_for(tx, table, LockMode::IX)?;
        let taken = tx.inner.try_append_rows(&table.base, &mut writer.pages, rows);
        taken.map_err(|stop| self.stop(tx, table, stop))
    }

    /// Inserts the rows that the writer still has.
    ///
    /// # Errors
    /// As of [`Database::try_bulk_append`].
    pub fn try_bulk_finish(&self, tx: &mut Transaction, table: &Table, writer: &mut BulkWriter) -> Result<(), Blocked> {
        self.lock_for(tx, table, LockMode::IX)?;
        let finished = tx.inner.try_finish_pages(&table.base, &mut writer.pages);
        finished.map_err(|stop| self.stop(tx, table, stop))
    }

    /// [`Database::try_bulk_append`] of all rows, needs satisfied.
    ///
    /// # Errors
    /// As of [`Database::try_bulk_append`]; what a need ends with.
    pub async fn bulk_append(
        &self,
        tx: &mut Transaction,
        table: &Table,
        writer: &mut BulkWriter,
        rows: EncodedRows<'_>,
    ) -> Result<(), crate::Interrupted> {
        let mut rest = rows;
        while !rest.is_empty() {
            let taken = self.drive(tx, |tx| self.try_bulk_append(tx, table, writer, rest)).await?;
            rest = rest.skip(taken);
        }
        Ok(())
    }
}
