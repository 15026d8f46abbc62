//! Rows that an INSERT leaves out: an index with IGNORE_DUP_KEY has their key.
//!
//! ```text
//!   the table ──► its indexes, one after the other ──► Inserted
//!                    │ has the key
//!                    ├─ IGNORE_DUP_KEY: what was done of this row is undone, and the statement goes on ──► LeftOut
//!                    └─ else: 2601 or 2627
//! ```
//! The first index that has the key decides; the clustered one comes first. A look for keys that are surely there saves writing and undoing such
//! a row; it decides nothing else, since another transaction can insert the key behind it.

use pikepole_storage::RowHeader;
use pikepole_transaction::{LockMode, Status, TransactionId};
use pikepole_types::Value;

use super::{RowCount, Table, TableWriter};
use crate::database::Database;
use crate::error::Blocked;
use crate::transaction::{Mark, Transaction};

/// What became of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Placed {
    /// It is there.
    Inserted,
    /// An index with IGNORE_DUP_KEY has its key.
    LeftOut,
}

/// A row whose insertion has stopped for a need.
pub(super) struct Attempt {
    /// Where the transaction was before the row.
    from: Mark,
    /// Where it stopped, and in which statement: anywhere else, the row is another one.
    left_at: (Mark, u64),
    /// The row is being taken out again.
    leaves: bool,
}

impl Database {
    /// As [`Database::try_insert`], but for indexes with IGNORE_DUP_KEY: a row whose key such an index has is left out.
    ///
    /// # Errors
    /// As of [`Database::try_insert`].
    #[inline]
    pub fn try_place(
        &self,
        tx: &mut Transaction,
        table: &Table,
        writer: &mut TableWriter,
        row: &[Value],
        count: RowCount,
    ) -> Result<Placed, Blocked> {
        if !table.ignores_duplicates {
            return self.try_insert(tx, table, writer, row, count).map(|()| Placed::Inserted);
        }
        self.place_or_leave_out(tx, table, writer, row, count)
    }

    fn place_or_leave_out(
        &self,
        tx: &mut Transaction,
        table: &Table,
        writer: &mut TableWriter,
        row: &[Value],
        count: RowCount,
    ) -> Result<Placed, Blocked> {
        let count = tx.alone(count);
        if tx.is_elsewhere(table) {
            return tx.elsewhere(table, |database, tx| database.place_or_leave_out(tx, table, writer, row, count));
        }
        let here = (tx.mark(), tx.statement());
        let begun = writer.attempt.take().filter(|attempt| attempt.left_at == here);
        let mut attempt = begun.unwrap_or(Attempt { from: here.0, left_at: here, leaves: false });
        let placed = self.attempt(tx, table, writer, row, count, &mut attempt);
        if matches!(placed, Err(Blocked::Need(_))) {
            attempt.left_at = (tx.mark(), tx.statement());
            writer.attempt = Some(attempt);
        }
        placed
    }

    fn attempt(
        &self,
        tx: &mut Transaction,
        table: &Table,
        writer: &mut TableWriter,
        row: &[Value],
        count: RowCount,
        attempt: &mut Attempt,
    ) -> Result<Placed, Blocked> {
        if !attempt.leaves && attempt.from == tx.mark() && self.surely_has_key(tx, table, writer, row)? {
            return Ok(Placed::LeftOut);
        }
        if !attempt.leaves {
            let Some(index) = self.insert_here(tx, table, writer, row, count)? else {
                return Ok(Placed::Inserted);
            };
            if !table.indexes[index].ignores_duplicates {
                return Err(self.duplicate(table, index, row).into());
            }
            attempt.leaves = true;
        }
        if attempt.from != tx.mark() {
            let undone = tx.inner.try_rollback_to(attempt.from.of(tx.database_id));
            undone.map_err(|stop| self.stop(tx, table, stop))?;
        }
        Ok(Placed::LeftOut)
    }

    /// Whether a secondary index with IGNORE_DUP_KEY has the row's key, of a row that nobody can take back any more but this transaction.
    fn surely_has_key(
        &self,
        tx: &mut Transaction,
        table: &Table,
        writer: &mut TableWriter,
        row: &[Value],
    ) -> Result<bool, Blocked> {
        self.lock_for(tx, table, LockMode::IX)?;
        for index in &table.secondary {
            if !table.indexes[index.at].ignores_duplicates || !index.holds(|i| &row[i]) {
                continue;
            }
            let key = &mut writer.old_key;
            index.entry_key(|i| &row[i], &[], key).map_err(|error| self.row_error(tx, table, error))?;
            let found = index.structure.get(key, |header, _| header);
            let found = found.map_err(|stop| self.stop(tx, table, stop.into()))?;
            let is_sure = |header: RowHeader| {
                let writer = TransactionId(header.xid());
                let own = tx.id() == Some(writer);
                // One that has ended otherwise has taken the entry back since it was read.
                !header.is_ghost() && (own || matches!(self.transactions().settled(writer), Status::Committed(_)))
            };
            if found.is_some_and(is_sure) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
