//! Rows and index entries that get new keys: a statement takes them from their old places first, all of them, and puts them in
//! their new ones when its last row has been changed.
//!
//! ```text
//!   split     a row's turn: the old row or entry ends, and what comes in its place is kept
//!   sort      by tree, the table's own first, and by key
//!   place     after the last row: a key that is there now is a violation
//! ```
//! So a row can take the key that another row of the statement leaves, whichever of the two comes first, and no row is met
//! again where it has moved to. Entries of indexes that are not unique stay out of this unless their row moves.

use pikepole_storage::TreeCursor;
use pikepole_transaction::{Inserted, LockMode};
use pikepole_types::{RowError, SqlError, Value};

use super::overflow::Pointers;
use super::writer::TableWriter;
use super::{Locator, Table};
use crate::database::Database;
use crate::error::Blocked;
use crate::transaction::Transaction;

/// Rows and entries put in their places by one call.
const PLACED_PER_CALL: usize = 64;

/// A row or an entry without a place.
struct Moved {
    /// The tree: zero for the table's own, else one more than the position of the secondary index.
    tree: usize,
    key: Vec<u8>,
    rest: Vec<u8>,
}

/// What a statement has taken from old places and not put in new ones yet.
#[derive(Default)]
pub(super) struct MovedRows {
    kept: Vec<Moved>,
    placed: usize,
}

impl MovedRows {
    /// A row of the table.
    pub fn keep_row(&mut self, key: &[u8], rest: &[u8]) {
        self.kept.push(Moved { tree: 0, key: key.to_vec(), rest: rest.to_vec() });
    }

    /// An entry of the secondary index at this position.
    pub fn keep_entry(&mut self, index: usize, key: &[u8], locator: &[u8]) {
        self.kept.push(Moved { tree: index + 1, key: key.to_vec(), rest: locator.to_vec() });
    }

    pub fn clear(&mut self) {
        self.kept.clear();
        self.placed = 0;
    }
}

impl Database {
    /// Puts some of the rows that [`Database::try_update`] has given new keys, and their entries, in their places; to be called
    /// again until it gives true, when the statement's last row has been changed.
    ///
    /// # Errors
    /// As [`Database::try_insert`].
    pub fn try_place_moved(
        &self,
        tx: &mut Transaction,
        table: &Table,
        writer: &mut TableWriter,
    ) -> Result<bool, Blocked> {
        if writer.moved.kept.is_empty() {
            return Ok(true);
        }
        if tx.is_elsewhere(table) {
            return tx.elsewhere(table, |database, tx| database.try_place_moved(tx, table, writer));
        }
        self.lock_for(tx, table, LockMode::IX)?;
        let mut moved = std::mem::take(&mut writer.moved);
        let result = self.place_some(tx, table, writer, &mut moved);
        if matches!(result, Ok(true)) {
            moved.clear();
        }
        writer.moved = moved;
        result
    }

    fn place_some(
        &self,
        tx: &mut Transaction,
        table: &Table,
        writer: &mut TableWriter,
        moved: &mut MovedRows,
    ) -> Result<bool, Blocked> {
        if moved.placed == 0 {
            moved.kept.sort_unstable_by(|a, b| (a.tree, &a.key).cmp(&(b.tree, &b.key)));
        }
        for Moved { tree, key, rest } in moved.kept[moved.placed..].iter().take(PLACED_PER_CALL) {
            if let Some(rows) = &table.in_memory {
                self.place_moved_in_memory(tx, table, rows, rest)?;
                moved.placed += 1;
                continue;
            }
            let (structure, cursor): (_, &mut TreeCursor) = match tree.checked_sub(1) {
                None => (&table.base, &mut writer.cursor),
                Some(at) => (&table.secondary[at].structure, writer.cursor_of(at)),
            };
            let inserted = tx.inner.try_insert(structure, cursor, key, rest, false);
            match inserted.map_err(|stop| self.stop(tx, table, stop))? {
                Inserted::Done => moved.placed += 1,
                Inserted::Duplicate => return Err(self.duplicate_of_moved(tx, table, writer, *tree, (key, rest))),
            }
        }
        Ok(moved.placed == moved.kept.len())
    }

    /// The error of a row or entry whose place is taken.
    #[cold]
    fn duplicate_of_moved(
        &self,
        tx: &mut Transaction,
        table: &Table,
        writer: &mut TableWriter,
        tree: usize,
        (key, rest): (&[u8], &[u8]),
    ) -> Blocked {
        let mut row = vec![Value::Null; table.columns.len()];
        let Some(at) = tree.checked_sub(1) else {
            let decoded = self.decode_short(tx, table, (key, rest), &mut row);
            return decoded.map_or_else(Into::into, |()| self.duplicate(table, table.clustered_at(), &row).into());
        };
        // The rows are in their places by now: the trees of entries come after the table's own.
        match self.read_base(tx, table, writer, &Locator(rest.to_vec())) {
            Ok(_) => {}
            Err(blocked) => return blocked,
        }
        let base_key = if table.is_heap() { &[][..] } else { rest };
        let decoded = self.decode_short(tx, table, (base_key, &writer.rest), &mut row);
        decoded.map_or_else(Into::into, |()| self.duplicate(table, table.secondary[at].at, &row).into())
    }

    /// The values of a row but for those that are elsewhere, which no key can have.
    fn decode_short(
        &self,
        tx: &Transaction,
        table: &Table,
        (key, rest): (&[u8], &[u8]),
        out: &mut [Value],
    ) -> Result<(), SqlError> {
        let corrupt = RowError::Corrupt { column: table.columns.len() };
        let values = match &table.overflow {
            None => Some(rest),
            Some(_) => Pointers::split(rest).map(|(values, _)| values),
        };
        let decoded = values.ok_or(corrupt).and_then(|values| table.layout.decode_all(key, values, out));
        decoded.map_err(|error| self.place(tx, &table.full_name()).row(&error))
    }
}
