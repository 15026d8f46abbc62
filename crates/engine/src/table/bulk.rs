//! Filling a heap page by page: what parallel INSERT ... SELECT and loads write with.
//!
//! ```text
//!   worker --> EncodedRows --> BulkWriter (less than a page stays) --> page after page, one log record each
//! ```
//! A writer belongs to one transaction (as a rule a child, see [`Database::try_begin_children`]) and one table. Its last rows are in no
//! page before [`Database::try_bulk_finish`]; a writer that is dropped before loses them, and the statement must be rolled back.
//!
//! A row that is longer than a page has room for is decoded again, and inserted as any other row.

use pikepole_storage::{BulkPages, EncodedRows, Heap};
use pikepole_transaction::{LockMode, Structure};

use pikepole_types::Value;

use super::{Table, TableWriter};
use crate::database::Database;
use crate::error::Blocked;
use crate::transaction::Transaction;

/// Writes rows into pages of its own; see the module.
pub struct BulkWriter {
    pages: BulkPages,
    minimal: bool,
    /// For rows with values that no page has room for: their writer, and the one at hand.
    long: Option<(TableWriter, Vec<Value>)>,
}

impl BulkWriter {
    /// Whether only the use of pages is logged, not their rows. The commit waits for a checkpoint then.
    pub fn is_minimal(&self) -> bool {
        self.minimal
    }
}

impl Database {
    /// A writer of pages for a heap without indexes; None for other tables, which take row after row. The transaction has
    /// the table locked: IX, or BU for TABLOCK. Under BU (or more) and the recovery model SIMPLE or BULK_LOGGED, rows
    /// are not logged.
    pub fn bulk_writer(&self, tx: &Transaction, table: &Table) -> Option<BulkWriter> {
        let Structure::Heap(heap) = &table.base else {
            return None;
        };
        // Whether a row is too long is asked of its values.
        if !table.secondary.is_empty() || table.layout.can_be_too_long() {
            return None;
        }
        let locked = tx.inner.holds(&table.state.lock, LockMode::BU);
        let minimal = locked && !self.options().recovery.logs_all_rows();
        Some(BulkWriter { pages: BulkPages::new(heap, minimal), minimal, long: None })
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
        let short = if table.overflow.is_some() { rows.up_to_bytes(Heap::ROW_BYTES_MAX) } else { rows };
        if short.is_empty() && !rows.is_empty() {
            self.append_long(tx, table, writer, rows)?;
            return Ok(1);
        }
        let taken = tx.inner.try_append_rows(&table.base, &mut writer.pages, short);
        taken.map_err(|stop| self.stop(tx, table, stop))
    }

    /// Inserts the first of the rows, which no page has room for.
    fn append_long(
        &self,
        tx: &mut Transaction,
        table: &Table,
        writer: &mut BulkWriter,
        rows: EncodedRows<'_>,
    ) -> Result<(), Blocked> {
        if writer.long.is_none() {
            let mut row = vec![Value::Null; table.columns.len()];
            let damage = pikepole_types::RowError::Corrupt { column: row.len() };
            // Behind the values is the mark.
            let decoded = match rows.first().split_last() {
                Some((_, values)) => table.layout.decode_all(&[], values, &mut row),
                None => Err(damage),
            };
            decoded.map_err(|error| self.row_error(tx, table, error))?;
            writer.long = Some((table.writer(), row));
        }
        let Some((own, row)) = &mut writer.long else {
            return Ok(());
        };
        self.insert_base(tx, table, own, row, false)?;
        writer.long = None;
        Ok(())
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
