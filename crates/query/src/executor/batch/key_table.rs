//! Rows kept column by column, and found by integer keys: what joins of batches look their rows up in.
//!
//! ```text
//!   hash of the keys ──► heads   the first row of a chain
//!                        next    of each row: the next one of its chain, in the order in which the rows have come
//!                        keys    of each row, a column for each key
//! ```
//! Once it is complete nothing changes in it, so that workers share it.

use arrow_array::{Array, Int64Array};
use arrow_buffer::NullBuffer;
use pikepole_types::{Value, hash_code};

use super::Batch;
use super::evaluate::evaluate;
use super::vector::{Vector, VectorBuilder};
use crate::executor::Run;
use crate::expression::{Expr, Fault};

/// Behind the last row of a chain.
pub(super) const NONE: u32 = u32::MAX;

/// Rows of a table, at most, but for those of one batch.
const ROWS_MAX: usize = NONE as usize - (1 << 24);

/// What the index takes of each row.
const INDEX_BYTES: usize = 3 * size_of::<u32>();

/// The keys of the rows of a batch. A row with a NULL among them is equal to none.
pub(super) struct RowKeys {
    columns: Vec<Int64Array>,
    nulls: Option<NullBuffer>,
}

impl RowKeys {
    /// The values of integer expressions in each row.
    ///
    /// # Errors
    /// As of [`evaluate`].
    pub(super) fn of<'e>(
        exprs: impl Iterator<Item = &'e Expr>,
        batch: &Batch,
        run: &mut Run<'_>,
    ) -> Result<RowKeys, Fault> {
        let mut keys = RowKeys { columns: Vec::new(), nulls: None };
        for expr in exprs {
            let column = integers(&evaluate(expr, batch, run)?, batch.rows);
            keys.nulls = NullBuffer::union(keys.nulls.as_ref(), column.nulls());
            keys.columns.push(column);
        }
        Ok(keys)
    }

    /// Bytes that they take.
    pub(super) fn bytes(&self) -> usize {
        self.columns.iter().map(|column| column.len() * size_of::<i64>()).sum()
    }

    fn is_null(&self, row: usize) -> bool {
        self.nulls.as_ref().is_some_and(|nulls| nulls.is_null(row))
    }

    fn hashes(&self, rows: usize) -> Vec<u64> {
        let mut hashes = vec![0u64; rows];
        for column in &self.columns {
            for (hash, &code) in hashes.iter_mut().zip(column.values()) {
                *hash = hash.rotate_left(23).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ hash_code(code);
            }
        }
        hashes
    }
}

fn integers(vector: &Vector, rows: usize) -> Int64Array {
    match vector {
        Vector::Coded(_, codes) => codes.clone(),
        Vector::Same(value) => Int64Array::from(vec![value.as_i64(); rows]),
        other => {
            let mut value = Value::Null;
            let integer = |row| {
                other.read(row, &mut value);
                value.as_i64()
            };
            (0..rows).map(integer).collect()
        }
    }
}

/// Rows that are being put together.
pub(super) struct KeyTableBuilder {
    keys: Vec<Vec<i64>>,
    hashes: Vec<u64>,
    columns: Vec<(usize, VectorBuilder)>,
}

impl KeyTableBuilder {
    /// Without rows, for so many keys and the columns of these slots.
    pub(super) fn new(keys: usize, slots: impl Iterator<Item = usize>) -> KeyTableBuilder {
        let columns = slots.map(|slot| (slot, VectorBuilder::new())).collect();
        KeyTableBuilder { keys: vec![Vec::new(); keys], hashes: Vec::new(), columns }
    }

    /// Adds the rows of a batch, but for those that equal none; gives the bytes that they take.
    pub(super) fn add(&mut self, batch: &Batch, keys: &RowKeys) -> usize {
        let hashes = keys.hashes(batch.rows);
        if keys.nulls.as_ref().is_some_and(|nulls| nulls.null_count() > 0) {
            let rows: Vec<u32> = (0..batch.rows).filter(|row| !keys.is_null(*row)).map(|row| row as u32).collect();
            let column = |column: &Int64Array| rows.iter().map(|&row| column.value(row as usize)).collect::<Vec<_>>();
            let columns: Vec<Vec<i64>> = keys.columns.iter().map(column).collect();
            let hashes: Vec<u64> = rows.iter().map(|&row| hashes[row as usize]).collect();
            let columns = columns.iter().map(Vec::as_slice);
            return self.extend(&batch.take(&rows), columns, &hashes);
        }
        self.extend(batch, keys.columns.iter().map(|column| &column.values()[..]), &hashes)
    }

    fn extend<'k>(&mut self, batch: &Batch, keys: impl Iterator<Item = &'k [i64]>, hashes: &[u64]) -> usize {
        let mut bytes = hashes.len() * (INDEX_BYTES + size_of::<u64>() * (1 + self.keys.len()));
        self.keys.iter_mut().zip(keys).for_each(|(own, added)| own.extend_from_slice(added));
        self.hashes.extend_from_slice(hashes);
        for (slot, own) in &mut self.columns {
            let nulls = Vector::Same(Value::Null);
            let added = batch.column(*slot).unwrap_or(&nulls);
            bytes += added.bytes(batch.rows);
            own.append(added, batch.rows);
        }
        bytes
    }

    /// Whether another batch of rows can be added.
    pub(super) fn has_room(&self) -> bool {
        self.hashes.len() < ROWS_MAX
    }

    pub(super) fn finish(self) -> KeyTable {
        let rows = self.hashes.len();
        let mut heads = vec![NONE; rows.next_power_of_two()];
        let mut next = vec![NONE; rows];
        let mask = heads.len() as u64 - 1;
        // From the last to the first, so that the first one stands first.
        for (row, &hash) in self.hashes.iter().enumerate().rev() {
            next[row] = std::mem::replace(&mut heads[(hash & mask) as usize], row as u32);
        }
        let columns = self.columns.into_iter().map(|(slot, column)| (slot, column.finish())).collect();
        KeyTable { keys: self.keys, heads, next, columns }
    }
}

/// See the module.
#[derive(Debug)]
pub(super) struct KeyTable {
    keys: Vec<Vec<i64>>,
    heads: Vec<u32>,
    next: Vec<u32>,
    columns: Vec<(usize, Vector)>,
}

impl KeyTable {
    /// For each row of a batch the first row of the chain that its equals are in.
    pub(super) fn heads(&self, keys: &RowKeys, rows: usize) -> Vec<u32> {
        let mask = self.heads.len() as u64 - 1;
        let mut found: Vec<u32> =
            keys.hashes(rows).into_iter().map(|hash| self.heads[(hash & mask) as usize]).collect();
        if let Some(nulls) = &keys.nulls {
            found.iter_mut().zip(nulls.iter()).for_each(|(head, valid)| *head = if valid { *head } else { NONE });
        }
        found
    }

    /// The first row from `at` on, in its chain, that equals a row of a batch; [`NONE`] behind the last one.
    #[inline]
    pub(super) fn find(&self, mut at: u32, keys: &RowKeys, row: usize) -> u32 {
        if let ([own], [wanted]) = (self.keys.as_slice(), keys.columns.as_slice()) {
            let wanted = wanted.values()[row];
            while at != NONE && own[at as usize] != wanted {
                at = self.next[at as usize];
            }
            return at;
        }
        while at != NONE && !self.equals(at as usize, keys, row) {
            at = self.next[at as usize];
        }
        at
    }

    #[inline]
    fn equals(&self, at: usize, keys: &RowKeys, row: usize) -> bool {
        for (number, own) in self.keys.iter().enumerate() {
            if own[at] != keys.columns[number].values()[row] {
                return false;
            }
        }
        true
    }

    /// The row behind another in its chain.
    #[inline]
    pub(super) fn next(&self, at: u32) -> u32 {
        self.next[at as usize]
    }

    /// Sets the columns of a batch to those of these rows.
    pub(super) fn fill(&self, batch: &mut Batch, rows: &[u32]) {
        self.columns.iter().for_each(|(slot, column)| batch.set(*slot, column.take(rows)));
    }

    /// The same with NULL where there is no row.
    pub(super) fn fill_or_null(&self, batch: &mut Batch, rows: &[Option<u32>]) {
        self.columns.iter().for_each(|(slot, column)| batch.set(*slot, column.take_or_null(rows)));
    }
}
