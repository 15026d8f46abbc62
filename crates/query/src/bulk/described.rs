//! Cuts rows whose fields a format file describes, or are those of a native file.
//!
//! ```text
//!   [ length | value ]             a prefix; all ones: NULL            [ length | value | terminator ]
//!   [ value of always as many bytes ]                                  [ value | terminator ]
//! ```
//! A value that has a length before it, or always as many bytes, is no NULL for being empty: that is noted as quotes are.

use std::ops::Range;

use pikepole_types::SqlError;

use super::format_file::{FieldFormat, Host};
use super::portion::Field;
use super::reader::{Cut, ROW_BYTES_MAX, Reader, field};

/// Where a field's value lies, whether it can be NULL, and what comes behind.
struct Found {
    value: Range<usize>,
    certain: bool,
    next: usize,
}

/// Why a field was not found.
enum Missing {
    /// More of the file must be read.
    Part,
    /// The file ends within the field.
    End,
    /// It has more bytes than it may have.
    TooLong,
}

impl Reader {
    /// The row that begins at `at`; its fields count from `start`.
    pub(super) fn cut_described(&self, start: usize, described: &[FieldFormat], fields: &mut Vec<Field>) -> Cut {
        let mut at = self.at;
        for (place, format) in described.iter().enumerate() {
            let found = match at - self.at > ROW_BYTES_MAX {
                true => Err(Missing::TooLong),
                false => self.find_field(at, place, format, place + 1 == described.len()),
            };
            match found {
                Ok(Found { value, certain, next }) => {
                    fields.push(Field { quoted: certain, ..field(start, value.start, value.end) });
                    at = next;
                }
                Err(Missing::Part) => return Cut::Part,
                Err(Missing::End) => return Cut::Failed(SqlError::bulk_file_ends()),
                Err(Missing::TooLong) => return Cut::Failed(SqlError::bulk_column_too_long(self.row, place + 1)),
            }
        }
        Cut::Row(at)
    }

    fn find_field(&self, at: usize, place: usize, format: &FieldFormat, is_last: bool) -> Result<Found, Missing> {
        let is_native = matches!(format.host, Host::Native(_));
        let (value, certain) = if format.prefix_bytes > 0 {
            let begin = at + usize::from(format.prefix_bytes);
            let prefix = self.buffer.get(at..begin).ok_or_else(|| self.missing())?;
            match length(prefix) {
                None => (begin..begin, false),
                Some(length) => (begin..begin + self.allowed(length, place)?, true),
            }
        } else if format.terminator.is_empty() || (is_native && format.fixed_bytes() > 0) {
            (at..at + self.allowed(format.fixed_bytes() as u64, place)?, is_native)
        } else {
            return self.find_end(at, place, format, is_last);
        };
        let next = value.end + format.terminator.len();
        if value.end > self.buffer.len() {
            return Err(self.missing());
        }
        match self.buffer.get(value.end..next) {
            Some(terminator) if terminator == format.terminator => Ok(Found { value, certain, next }),
            Some(_) => Err(Missing::TooLong),
            None if is_last && self.has_read_all() && value.end == self.buffer.len() => {
                Ok(Found { next: value.end, value, certain })
            }
            None => Err(self.missing()),
        }
    }

    /// A field that a terminator ends; the last one of the file may lack it.
    fn find_end(&self, at: usize, place: usize, format: &FieldFormat, is_last: bool) -> Result<Found, Missing> {
        let rest = &self.buffer[at..];
        // A terminator of UTF-16 begins where a unit does.
        let unit = if format.host == Host::Wide { 2 } else { 1 };
        let mut from = 0;
        let found = loop {
            match self.ends[place].find(&rest[from..]) {
                Some(found) if !(from + found).is_multiple_of(unit) => from += found + 1,
                found => break found.map(|found| from + found),
            }
        };
        self.allowed(found.unwrap_or(rest.len()) as u64, place)?;
        match found {
            Some(found) => {
                Ok(Found { value: at..at + found, certain: false, next: at + found + format.terminator.len() })
            }
            None if is_last && self.has_read_all() => {
                Ok(Found { value: at..self.buffer.len(), certain: false, next: self.buffer.len() })
            }
            None => Err(self.missing()),
        }
    }

    /// What is not among the bytes read.
    fn missing(&self) -> Missing {
        if self.has_read_all() { Missing::End } else { Missing::Part }
    }

    /// A length, unless the field may not have so many bytes.
    fn allowed(&self, length: u64, place: usize) -> Result<usize, Missing> {
        let length = usize::try_from(length).ok().filter(|length| *length <= self.bytes_max[place]);
        length.ok_or(Missing::TooLong)
    }
}

/// The number that a prefix is; None: NULL.
fn length(prefix: &[u8]) -> Option<u64> {
    let mut padded = [0; 8];
    padded[..prefix.len()].copy_from_slice(prefix);
    prefix.iter().any(|byte| *byte != u8::MAX).then(|| u64::from_le_bytes(padded))
}
