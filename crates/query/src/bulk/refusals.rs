//! Rows that do not convert: the errors told of them, and the files that ERRORFILE names.

use std::collections::BTreeMap;
use std::fmt::Write;

use pikepole_types::SqlError;

use super::options::Encoding;

/// A row that is not inserted.
struct Refused {
    error: SqlError,
    /// The row as it stands in the file, and where.
    bytes: Vec<u8>,
    offset: u64,
}

/// The refused rows of a file: the first ones, one more than MAXERRORS at most.
#[derive(Default)]
pub(super) struct Refusals {
    rows: BTreeMap<u64, Refused>,
}

impl Refusals {
    /// Notes a row; whether that is one too many.
    pub(super) fn add(&mut self, row: u64, error: SqlError, bytes: &[u8], offset: u64, errors_max: u64) -> bool {
        self.rows.insert(row, Refused { error, bytes: bytes.to_vec(), offset });
        let is_over = self.rows.len() as u64 > errors_max;
        if self.rows.len() as u64 > errors_max.saturating_add(1) {
            self.rows.pop_last();
        }
        is_over
    }

    /// The errors of the rows from this one on, in order.
    pub(super) fn errors_from(&self, row: u64) -> impl Iterator<Item = SqlError> + '_ {
        self.rows.range(row..).map(|(_, refused)| refused.error.clone())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// What the error file holds, and what the file beside it says of each row.
    pub(super) fn files(&self, encoding: Encoding) -> (Vec<u8>, String) {
        let (mut rows, mut notes) = (Vec::new(), String::new());
        for (row, refused) in &self.rows {
            // Writing to a String cannot fail.
            let _ = writeln!(
                notes,
                "Row {row} File Offset {} ErrorFile Offset {} - {}\r",
                refused.offset,
                rows.len(),
                refused.error.message
            );
            match encoding {
                Encoding::Utf16 => {
                    let text = String::from_utf8_lossy(&refused.bytes);
                    rows.extend(text.encode_utf16().flat_map(u16::to_le_bytes));
                }
                Encoding::Page(_) | Encoding::Utf8 => rows.extend_from_slice(&refused.bytes),
            }
        }
        (rows, notes)
    }
}

/// Whether an error is one of the file itself, which the provider's own follow.
pub(crate) fn is_fatal(error: &SqlError) -> bool {
    matches!(error.number, 4832 | 4862 | 4865 | 4866 | 4879)
}
