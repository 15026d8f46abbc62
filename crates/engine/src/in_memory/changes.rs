//! Changes of rows in memory as they are logged.
//!
//! ```text
//!   | op | its bytes |   | op | its bytes | ...        op: a varint, number << 2 | kind
//! ```
//!
//! | kind | number | its bytes |
//! |---|---|---|
//! | 0 put | their count | the row, as in a heap |
//! | 1 delete | their count | the row's key in the primary key's index |
//! | 2 table | of the table | none: what follows is about its rows |

use pikepole_log::field::{FieldReader, RecordError, put_varint, varint_len};
use pikepole_memory::Change;

const PUT: u64 = 0;
const DELETE: u64 = 1;
const TABLE: u64 = 2;
const KIND_BITS: u32 = 2;

/// Writes changes.
#[derive(Debug, Default)]
pub(super) struct ChangeWriter {
    pub bytes: Vec<u8>,
    /// The table that what comes next is about; 0: none yet.
    table: u32,
}

impl ChangeWriter {
    /// Begins again, with nothing.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.table = 0;
    }

    /// Adds a change of a row of a table.
    pub fn add(&mut self, table: u32, change: Change<'_>) {
        if self.table != table {
            self.table = table;
            self.op(TABLE, u64::from(table));
        }
        let (kind, bytes) = match change {
            Change::Put(bytes) => (PUT, bytes),
            Change::Delete(bytes) => (DELETE, bytes),
        };
        self.op(kind, bytes.len() as u64);
        self.bytes.extend_from_slice(bytes);
    }

    fn op(&mut self, kind: u64, number: u64) {
        let op = number << KIND_BITS | kind;
        if varint_len(op) == 1 {
            return self.bytes.push(op as u8);
        }
        let start = self.bytes.len();
        self.bytes.resize(start + varint_len(op), 0);
        put_varint(&mut self.bytes[start..], op);
    }
}

/// Reads what a [`ChangeWriter`] wrote.
pub(super) struct ChangeReader<'a> {
    fields: FieldReader<'a>,
    table: u32,
}

impl<'a> ChangeReader<'a> {
    pub fn new(bytes: &'a [u8]) -> ChangeReader<'a> {
        ChangeReader { fields: FieldReader::new(bytes), table: 0 }
    }

    fn read(&mut self) -> Result<(u32, Change<'a>), RecordError> {
        loop {
            let op = self.fields.varint()?;
            let number = op >> KIND_BITS;
            let len = usize::try_from(number).map_err(|_| RecordError::Number)?;
            let change = match op & ((1 << KIND_BITS) - 1) {
                PUT => Change::Put(self.fields.take(len)?),
                DELETE => Change::Delete(self.fields.take(len)?),
                TABLE => {
                    self.table = u32::try_from(number).map_err(|_| RecordError::Number)?;
                    continue;
                }
                _ => return Err(RecordError::Number),
            };
            return Ok((self.table, change));
        }
    }
}

impl<'a> Iterator for ChangeReader<'a> {
    type Item = Result<(u32, Change<'a>), RecordError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.fields.left() == 0 {
            return None;
        }
        let read = self.read();
        if read.is_err() {
            // Nothing behind bytes that are none of ours can be told apart.
            self.fields.take_rest();
        }
        Some(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_come_back_and_cut_ones_are_errors() {
        let long = vec![7; 300];
        let changes = [
            (9, Change::Put(b"row")),
            (9, Change::Delete(b"key")),
            (200_000, Change::Put(&long)),
            (9, Change::Put(b"")),
        ];
        let mut writer = ChangeWriter::default();
        changes.iter().for_each(|(table, change)| writer.add(*table, *change));
        let read: Vec<_> = ChangeReader::new(&writer.bytes).collect();
        assert_eq!(read, changes.map(Ok));
        for cut in 1..writer.bytes.len() {
            let read: Vec<_> = ChangeReader::new(&writer.bytes[..cut]).collect();
            let good = read.iter().take_while(|change| change.is_ok()).count();
            assert!(read.len() <= good + 1 && good < changes.len(), "cut at {cut}: {read:?}");
        }
        assert_eq!(ChangeReader::new(&[3]).collect::<Vec<_>>(), [Err(RecordError::Number)]);
    }

    #[test]
    fn a_row_costs_few_bytes_beside_its_own() {
        let mut writer = ChangeWriter::default();
        writer.add(300, Change::Put(&[0; 40]));
        assert_eq!(writer.bytes.len(), 40 + 2 + 2);
    }
}
