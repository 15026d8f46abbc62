//! What tells the rows of a clustered index apart whose keys are equal.
//!
//! ```text
//!   key of the tree   | columns of the index | uniquifier |
//!   uniquifier        | writer | count |           the count is left out while it is 0
//!   each of them      | n u8 | n bytes, big-endian, the first of them not 0 |
//! ```
//! The writer is the id of the transaction that gave the row its key, the count how many it had given before. No transaction has the id
//! of another in the life of a database, so no two rows get the same uniquifier, whatever their keys are: nobody looks at other
//! rows or at a shared counter to find one, and equal keys that come at once neither meet nor wait. A row that a transaction of its
//! own brings has a count of 0, and some five bytes in all.
//!
//! Rows that are put into a tree before anybody knows it are the system's, writer 0, and are counted there. A copy of a table that
//! has uniquifiers keeps them, so that the entries of indexes which are not copied lead to the rows still.
//!
//! The bytes compare as the numbers do: rows of equal keys that come one after the other are read in that order.

use pikepole_transaction::TransactionId;
use pikepole_types::{RowError, Value};

use super::Table;
use crate::transaction::Transaction;

/// Bytes of a uniquifier at most: ids are below 2^56.
pub(super) const UNIQUIFIER_BYTES_MAX: usize = 1 + 7 + 1 + 8;

/// Counts that a child of a transaction has for itself, since it has its parent's id.
const COUNTS_OF_CHILD: u64 = 1 << 36;

/// Appends the uniquifier of these numbers.
pub(crate) fn push_uniquifier(writer: TransactionId, count: u64, key: &mut Vec<u8>) {
    push_number(writer.0, key);
    if count > 0 {
        push_number(count, key);
    }
}

fn push_number(number: u64, out: &mut Vec<u8>) {
    let bytes = number.to_be_bytes();
    let used = &bytes[number.leading_zeros() as usize / 8..];
    out.push(used.len() as u8);
    out.extend_from_slice(used);
}

/// The counts of one transaction.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Counts {
    /// Whose they are; another transaction begins anew.
    writer: Option<TransactionId>,
    next: u64,
}

impl Counts {
    /// The next `many` counts: the first of them.
    fn take(&mut self, writer: TransactionId, many: u64) -> u64 {
        if self.writer != Some(writer) {
            *self = Counts { writer: Some(writer), next: 0 };
        }
        let first = self.next;
        self.next += many;
        first
    }
}

impl Transaction {
    /// Appends the uniquifier of the next row.
    pub(super) fn push_uniquifier(&mut self, key: &mut Vec<u8>) {
        let writer = self.inner.writer_id();
        push_uniquifier(writer, self.counts.take(writer, 1), key);
    }

    /// The counts of one child that changes rows.
    pub(crate) fn counts_of_child(&mut self) -> Counts {
        let writer = self.inner.writer_id();
        Counts { writer: Some(writer), next: self.counts.take(writer, COUNTS_OF_CHILD) }
    }
}

/// The uniquifiers of rows on their way from one version of a table to another.
pub(crate) struct Copied<'t> {
    old: &'t Table,
    /// The next count of the system's.
    next: u64,
    /// The columns of a row's key in the old table.
    columns: Vec<u8>,
}

impl<'t> Copied<'t> {
    /// For a copy of `old`, which counts from `first` on.
    pub fn new(old: &'t Table, first: u64) -> Copied<'t> {
        Copied { old, next: first, columns: Vec::new() }
    }

    /// Puts the uniquifier of the row at `locator` in the old table into `out`.
    pub fn put(&mut self, row: &[Value], locator: &[u8], out: &mut Vec<u8>) -> Result<(), RowError> {
        out.clear();
        if self.old.uniquified {
            self.columns.clear();
            self.old.layout.encode_key(|i| &row[i], &mut self.columns)?;
            let own = locator.strip_prefix(self.columns.as_slice());
            out.extend_from_slice(own.ok_or(RowError::Corrupt { column: 0 })?);
        } else {
            push_uniquifier(TransactionId::SYSTEM, self.next, out);
            self.next += 1;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uniquifier(writer: u64, count: u64) -> Vec<u8> {
        let mut bytes = Vec::new();
        push_uniquifier(TransactionId(writer), count, &mut bytes);
        bytes
    }

    #[test]
    fn the_bytes_compare_as_the_numbers_and_are_few() {
        let numbers = [0, 1, 2, 255, 256, 65_535, 65_536, 1 << 40, (1 << 56) - 1];
        let pairs = numbers.iter().flat_map(|writer| numbers.iter().map(move |count| (*writer, *count)));
        let all: Vec<Vec<u8>> = pairs.map(|(writer, count)| uniquifier(writer, count)).collect();
        assert!(all.is_sorted_by(|a, b| a < b), "{all:?}");
        assert_eq!(uniquifier(70_000, 0).len(), 4);
        assert_eq!(uniquifier((1 << 56) - 1, u64::MAX).len(), UNIQUIFIER_BYTES_MAX);
    }

    #[test]
    fn a_transaction_and_its_children_count_apart() {
        let (one, other) = (TransactionId(5), TransactionId(6));
        let mut counts = Counts::default();
        assert_eq!((counts.take(one, 1), counts.take(one, 1)), (0, 1));
        let child = counts.take(one, COUNTS_OF_CHILD);
        assert_eq!((child, counts.take(one, 1)), (2, 2 + COUNTS_OF_CHILD));
        assert_eq!(counts.take(other, 1), 0, "another transaction begins anew");
    }
}
