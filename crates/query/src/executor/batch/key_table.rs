//! Rows kept column by column, and found by their keys: what joins of batches look their rows up in.
//!
//! ```text
//!   hash of the keys ──► heads   the first row of a chain
//!                        next    of each row: the next one of its chain, in the order in which the rows have come
//!                        keys    of each row, a column for each key
//! ```
//! Keys of integers, money, dates and times are compared as their codes, texts where they lie, and all else value by value. A value
//! has the same hash however the batch has it.
//!
//! Once it is complete nothing changes in it, so that workers share it.

use arrow_array::Int64Array;
use arrow_buffer::NullBuffer;
use pikepole_types::{Collation, Value, hash, hash_code, hash_text, order};

use super::Batch;
use super::evaluate::evaluate;
use super::group_keys::{GroupKeys, combine};
use super::vector::{Code, Vector, VectorBuilder};
use crate::executor::Run;
use crate::expression::{Expr, Fault, Width};

/// Behind the last row of a chain.
pub(super) const NONE: u32 = u32::MAX;

/// Rows of a table, at most, but for those of one batch.
const ROWS_MAX: usize = NONE as usize - (1 << 24);

/// What the index takes of each row.
const INDEX_BYTES: usize = 3 * size_of::<u32>();

/// The keys of the rows of a batch. A row with a NULL among them is equal to none.
pub(super) struct RowKeys {
    columns: Vec<(Vector, Collation)>,
    nulls: Option<NullBuffer>,
}

impl RowKeys {
    /// The values of expressions in each row, and how their texts compare.
    ///
    /// # Errors
    /// As of [`evaluate`].
    pub(super) fn of<'e>(
        exprs: impl Iterator<Item = (&'e Expr, Collation)>,
        batch: &Batch,
        run: &mut Run<'_>,
    ) -> Result<RowKeys, Fault> {
        let mut keys = RowKeys { columns: Vec::new(), nulls: None };
        for (expr, collation) in exprs {
            let mut column = evaluate(expr, batch, run)?;
            if matches!(expr, Expr::Integer(..)) {
                // Of both sides, however wide.
                column = Vector::Coded(Code::Integer(Width::Big), integers(&column, batch.rows));
            }
            keys.nulls = NullBuffer::union(keys.nulls.as_ref(), column.nulls(batch.rows).as_ref());
            keys.columns.push((column, collation));
        }
        Ok(keys)
    }

    /// Bytes that they take.
    pub(super) fn bytes(&self, rows: usize) -> usize {
        self.columns.iter().map(|(column, _)| column.bytes(rows)).sum()
    }

    /// The rows of a share.
    pub(super) fn of_share(&self, share: Share, rows: usize) -> Vec<u32> {
        let hashes = self.hashes(rows);
        let is_of = |row: &u32| share.has(if self.is_null(*row as usize) { 0 } else { hashes[*row as usize] });
        (0..rows as u32).filter(is_of).collect()
    }

    fn is_null(&self, row: usize) -> bool {
        self.nulls.as_ref().is_some_and(|nulls| nulls.is_null(row))
    }

    /// The rows that equal others, and their keys; none where all rows do.
    fn without_nulls(&self, rows: usize) -> Option<(Vec<u32>, Vec<Vector>)> {
        self.nulls.as_ref().filter(|nulls| nulls.null_count() > 0)?;
        let rows: Vec<u32> = (0..rows).filter(|row| !self.is_null(*row)).map(|row| row as u32).collect();
        let columns = self.columns.iter().map(|(column, _)| column.take(&rows)).collect();
        Some((rows, columns))
    }

    fn hashes(&self, rows: usize) -> Vec<u64> {
        let mut hashes = vec![0u64; rows];
        for (column, collation) in &self.columns {
            match column {
                Vector::Coded(code, codes) if !matches!(code, Code::Decimal { .. }) => {
                    let each = hashes.iter_mut().zip(codes.values());
                    each.for_each(|(all, &code)| *all = combine(*all, hash_code(code)));
                }
                Vector::Texts(texts) => {
                    for (row, all) in hashes.iter_mut().enumerate() {
                        *all = combine(*all, texts.get(row).map_or(0, |text| hash_text(text, *collation)));
                    }
                }
                _ => {
                    let mut value = Value::Null;
                    for (row, all) in hashes.iter_mut().enumerate() {
                        column.read(row, &mut value);
                        *all = combine(*all, hash(&value, *collation));
                    }
                }
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

/// True if values that are not NULL are equal.
#[inline]
fn is_same(own: &Vector, at: usize, wanted: &Vector, row: usize, collation: Collation) -> bool {
    match (own, wanted) {
        (Vector::Coded(own_code, own), Vector::Coded(code, wanted)) if own_code == code => {
            own.values()[at] == wanted.values()[row]
        }
        (Vector::Texts(own), Vector::Texts(wanted)) => match (own.get(at), wanted.get(row)) {
            (Some(own), Some(wanted)) => own == wanted || collation.compare(own, wanted).is_eq(),
            _ => false,
        },
        _ => {
            let [mut left, mut right] = [Value::Null, Value::Null];
            own.read(at, &mut left);
            wanted.read(row, &mut right);
            order(&left, &right, collation).is_eq()
        }
    }
}

/// One of several shares of rows, divided by the hashes of their keys. Rows with a NULL among them are of the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Share {
    number: u64,
    of: u64,
}

impl Share {
    /// Shares that one is divided into.
    const PARTS: u64 = 4;

    /// All rows.
    pub(super) const ALL: Share = Share { number: 0, of: 1 };

    /// True if there is no other.
    pub(super) fn is_all(self) -> bool {
        self.of == 1
    }

    /// The shares that together are this one; none where that would be more than `most` of all rows.
    pub(super) fn divided(self, most: u64) -> Option<impl Iterator<Item = Share>> {
        let of = self.of * Self::PARTS;
        (of <= most).then(|| (0..Self::PARTS).map(move |part| Share { number: self.number + part * self.of, of }))
    }

    /// Tells if it has the rows with a hash.
    fn has(self, hash: u64) -> bool {
        // Tables of hashes use the lowest and the highest bits.
        (hash >> 24) % self.of == self.number
    }

    /// Tells if it has a row with these keys.
    pub(super) fn has_row<'v>(self, mut keys: impl Iterator<Item = (&'v Value, Collation)>) -> bool {
        let with = |before: u64, (value, collation): (&Value, Collation)| {
            (!value.is_null()).then(|| combine(before, hash(value, collation)))
        };
        self.has(keys.try_fold(0, with).unwrap_or(0))
    }
}

/// Keys of rows, each once: enough where only their existence is asked for.
pub(super) struct DistinctKeys {
    groups: GroupKeys,
    collations: Vec<Collation>,
    places: Vec<u32>,
}

impl DistinctKeys {
    /// None yet; texts of each key compare so.
    pub(super) fn new(collations: Vec<Collation>) -> DistinctKeys {
        DistinctKeys { groups: GroupKeys::new(collations.iter().copied()), collations, places: Vec::new() }
    }

    /// Adds the keys of the rows of a batch, but for those that equal none.
    pub(super) fn add(&mut self, keys: &RowKeys, rows: usize) {
        let (rows, columns) = match keys.without_nulls(rows) {
            Some((rows, columns)) => (rows.len(), columns),
            None => (rows, keys.columns.iter().map(|(column, _)| column.clone()).collect()),
        };
        self.groups.find(&columns, rows, 0, &mut self.places);
    }

    /// Bytes that they take.
    pub(super) fn bytes(&self) -> usize {
        self.groups.bytes()
    }

    /// Rows without columns, one for each.
    pub(super) fn into_rows(self) -> (Batch, RowKeys) {
        let columns = self.groups.vectors().into_iter().zip(self.collations).collect();
        (Batch::new(self.groups.len()), RowKeys { columns, nulls: None })
    }
}

/// Rows that are being put together.
pub(super) struct KeyTableBuilder {
    keys: Vec<VectorBuilder>,
    hashes: Vec<u64>,
    columns: Vec<(usize, VectorBuilder)>,
}

impl KeyTableBuilder {
    /// Without rows, for so many keys and the columns of these slots.
    pub(super) fn new(keys: usize, slots: impl Iterator<Item = usize>) -> KeyTableBuilder {
        let columns = slots.map(|slot| (slot, VectorBuilder::new())).collect();
        let keys = (0..keys).map(|_| VectorBuilder::new()).collect();
        KeyTableBuilder { keys, hashes: Vec::new(), columns }
    }

    /// Adds the rows of a batch, but for those that equal none; gives the bytes that they take.
    pub(super) fn add(&mut self, batch: &Batch, keys: &RowKeys) -> usize {
        let hashes = keys.hashes(batch.rows);
        if let Some((rows, columns)) = keys.without_nulls(batch.rows) {
            let hashes: Vec<u64> = rows.iter().map(|&row| hashes[row as usize]).collect();
            return self.extend(&batch.take(&rows), columns.iter(), &hashes);
        }
        self.extend(batch, keys.columns.iter().map(|(column, _)| column), &hashes)
    }

    fn extend<'k>(&mut self, batch: &Batch, keys: impl Iterator<Item = &'k Vector>, hashes: &[u64]) -> usize {
        let mut bytes = hashes.len() * (INDEX_BYTES + size_of::<u64>());
        for (own, added) in self.keys.iter_mut().zip(keys) {
            bytes += added.bytes(batch.rows).max(batch.rows * size_of::<i64>());
            own.append(added, batch.rows);
        }
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
        let is_unique = differ(&self.hashes, &next);
        let columns = self.columns.into_iter().map(|(slot, column)| (slot, column.finish())).collect();
        let keys = self.keys.into_iter().map(VectorBuilder::finish).collect();
        KeyTable { keys, heads, next, is_unique, columns }
    }
}

/// True if no two rows of a chain have one hash, so that no two keys are equal. It ends at the first that have.
fn differ(hashes: &[u64], next: &[u32]) -> bool {
    next.iter().zip(hashes).all(|(&behind, hash)| {
        let mut at = behind;
        while at != NONE && hashes[at as usize] != *hash {
            at = next[at as usize];
        }
        at == NONE
    })
}

/// See the module.
#[derive(Debug)]
pub(super) struct KeyTable {
    keys: Vec<Vector>,
    heads: Vec<u32>,
    next: Vec<u32>,
    /// True: no two rows have equal keys. False: some may have.
    is_unique: bool,
    columns: Vec<(usize, Vector)>,
}

impl KeyTable {
    /// For each row of a batch where to begin to look for its equals: at the first of them, or at the first row of their chain.
    pub(super) fn starts(&self, keys: &RowKeys, rows: usize) -> Vec<u32> {
        let mut at = self.heads(keys, rows);
        if let Some((own, wanted)) = self.numbers(keys) {
            self.go_to_equals(&mut at, own, wanted);
        }
        at
    }

    /// Goes on from rows of chains to the first ones whose number is the wanted one. All take a step, then those that are not there take
    /// another: no step waits for the memory of the one before it, as a branch on what is found there would.
    fn go_to_equals(&self, at: &mut [u32], own: &[i64], wanted: &[i64]) {
        let mut open: Vec<u32> = (0..at.len() as u32).filter(|&row| at[row as usize] != NONE).collect();
        while !open.is_empty() {
            let mut left = 0;
            for index in 0..open.len() {
                let row = open[index];
                let place = &mut at[row as usize];
                let next = self.next[*place as usize];
                let is_other = own[*place as usize] != wanted[row as usize];
                *place = if is_other { next } else { *place };
                open[left] = row;
                left += usize::from(is_other & (next != NONE));
            }
            open.truncate(left);
        }
    }

    /// The only keys as numbers, if they are such: those of the rows, and those of a batch.
    #[inline]
    fn numbers<'k>(&'k self, keys: &'k RowKeys) -> Option<(&'k [i64], &'k [i64])> {
        match (self.keys.as_slice(), keys.columns.as_slice()) {
            ([Vector::Coded(own_code, own)], [(Vector::Coded(code, wanted), _)]) if own_code == code => {
                Some((own.values(), wanted.values()))
            }
            _ => None,
        }
    }

    /// For each row of a batch the first row of the chain that its equals are in.
    fn heads(&self, keys: &RowKeys, rows: usize) -> Vec<u32> {
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
        if let Some((own, wanted)) = self.numbers(keys) {
            let wanted = wanted[row];
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
        let mut pairs = self.keys.iter().zip(&keys.columns);
        pairs.all(|(own, (wanted, collation))| is_same(own, at, wanted, row, *collation))
    }

    /// The next row that equals a row of a batch, behind one that does.
    #[inline]
    pub(super) fn find_next(&self, at: u32, keys: &RowKeys, row: usize) -> u32 {
        if self.is_unique { NONE } else { self.find(self.next[at as usize], keys, row) }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_a_chain_differ_by_their_hashes() {
        // 0 -> 2 -> 3, 1 alone.
        let next = [2, NONE, 3, NONE];
        assert!(differ(&[4, 5, 6, 7], &next));
        assert!(!differ(&[4, 5, 6, 4], &next), "the first and the last of a chain");
        assert!(!differ(&[4, 5, 6, 6], &next));
        assert!(differ(&[4, 4, 6, 7], &next), "equal hashes are in one chain, or they are none");
        assert!(differ(&[], &[]));
    }
}
