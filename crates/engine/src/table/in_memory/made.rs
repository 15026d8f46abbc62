//! Rows of in-memory tables whose keys and bytes the caller makes: a natively compiled module's code does.

use pikepole_memory::{Fingers, Keys};
use pikepole_types::{KeyPiece, RestPiece, Value};

use super::super::Table;
use super::{MemoryUse, Put};
use crate::database::Database;
use crate::error::Blocked;
use crate::transaction::Transaction;

/// Bytes of a number in a row's bytes at most.
const NUMBER_BYTES_MAX: usize = 10;

/// The pieces of a table's new rows.
#[derive(Debug, Clone)]
pub struct RowRecipe {
    /// The pieces of the keys, which follow each other, in the order of the indexes.
    pub keys: Box<[Vec<KeyPiece>]>,
    /// The pieces of the row's bytes.
    pub rest: Vec<RestPiece>,
}

impl Table {
    /// The pieces of new rows that have the values of `row` in the columns for which `is_constant` is true. None: the rows are not in memory, or
    /// a column that changes has no pieces.
    pub fn row_recipe(&self, row: &[Value], is_constant: impl Fn(usize) -> bool + Copy) -> Option<RowRecipe> {
        let keys = self.secondary.iter().map(|index| index.layout.key_recipe(row, is_constant));
        let rest = self.layout.rest_recipe(row, is_constant)?;
        let is_own = self.in_memory.is_some() && self.overflow.is_none();
        Some(RowRecipe { keys: keys.collect::<Option<_>>()?, rest }).filter(|_| is_own)
    }
}

/// Room for the keys and the bytes of one row, and the places of the last one; kept and reused by a session's compiled statement.
pub struct MadeRow {
    keys: Keys,
    rest: Vec<u8>,
    fingers: Fingers,
}

impl MadeRow {
    /// Room for what these pieces make, with so many bytes more behind the keys and behind the row.
    pub fn new(recipe: &RowRecipe, slack: usize) -> MadeRow {
        let key_bytes = |piece: &KeyPiece| match piece {
            KeyPiece::Bytes(own) => own.len(),
            KeyPiece::Number { bytes, .. } => *bytes,
        };
        let rest_bytes = |piece: &RestPiece| match piece {
            RestPiece::Bytes(own) => own.len(),
            RestPiece::Number { .. } => NUMBER_BYTES_MAX,
        };
        let lengths = recipe.keys.iter().map(|key| key.iter().map(key_bytes).sum());
        let rest: usize = recipe.rest.iter().map(rest_bytes).sum();
        MadeRow { keys: Keys::of_lengths(lengths, slack), rest: vec![0; rest + slack], fingers: Fingers::default() }
    }

    /// The places of the keys and of the row.
    pub fn room(&mut self) -> (&mut [u8], &mut [u8]) {
        (self.keys.room(), &mut self.rest)
    }
}

impl Database {
    /// Inserts the row that has been made, of so many bytes, into a table that the transaction uses.
    ///
    /// # Errors
    /// 2627 and 2601 for a key that is there; 41302; 41805 without memory.
    #[inline]
    pub fn try_insert_made(
        &self,
        tx: &mut Transaction,
        table: &Table,
        _use: MemoryUse,
        made: &mut MadeRow,
        length: usize,
    ) -> Result<(), Blocked> {
        let Some(slot) = &table.in_memory else { return Err(Blocked::Stale) };
        let MadeRow { keys, rest, fingers } = made;
        let body = &rest[..length];
        match self.put_in_memory(tx, table, slot, (keys, body), fingers)? {
            Put::Done(_) => Ok(()),
            Put::Duplicate(index) => Err(self.duplicate_made(tx, table, index, body)),
        }
    }

    #[cold]
    fn duplicate_made(&self, tx: &Transaction, table: &Table, index: usize, body: &[u8]) -> Blocked {
        let mut row = vec![Value::Null; table.columns.len()];
        match table.layout.decode_all(&[], body, &mut row) {
            Ok(()) => self.duplicate(table, index, &row).into(),
            Err(error) => self.row_error(tx, table, error),
        }
    }
}
