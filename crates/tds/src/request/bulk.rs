//! Bulk load: the rows that follow an INSERT BULK statement, in a message of their own.
//!
//! ```text
//!   0x81 columns | rows: 0xD1 values, or 0xD2 bitmap and values | perhaps 0xFD and 8 or 12 bytes
//! ```
//!
//! Such a message may be of any length, so its packets are read as they come ([`Reassembler`](crate::Reassembler) gives them
//! one by one). A row that is not whole yet stays in the buffer until more has come.

use crate::error::TdsError;
use crate::limits::Limits;
use crate::read::Reader;
use crate::value::{Place, TypeInfo, TypeToken, WireCollation};
use crate::version::TdsVersion;
use pikepole_types::{Collation, Value};

const WHAT: &str = "a bulk load";
const COLUMNS: u8 = 0x81;
const ROW: u8 = 0xD1;
const ROW_WITH_BITMAP: u8 = 0xD2;
const DONE: u8 = 0xFD;
/// What follows that: status, command, and a count of 4 bytes or 8.
const DONE_BYTES: usize = 8;
const DONE_BYTES_WIDE: usize = 12;

/// A column of a bulk load.
#[derive(Debug, Clone, PartialEq)]
pub struct BulkColumn {
    /// Its name.
    pub name: String,
    /// Its type.
    pub info: TypeInfo,
}

/// Reads a bulk load as its packets come.
///
/// ```text
///   loop { feed(part) ; while next_row() { insert } } until is_done
/// ```
#[derive(Debug)]
pub struct BulkLoad {
    version: TdsVersion,
    limits: Limits,
    /// Per column, the collation that the statement says its texts have.
    collations: Vec<Option<Collation>>,
    columns: Option<Vec<BulkColumn>>,
    /// Bytes that are not read yet begin at `read`.
    buffer: Vec<u8>,
    read: usize,
    /// No use to try the row that begins there before so many bytes are there: a long row is not read again for each packet.
    worthwhile: usize,
    /// The message's last part is in the buffer.
    has_all: bool,
    is_done: bool,
    failed: Option<TdsError>,
}

impl BulkLoad {
    /// Nothing has come yet.
    pub fn new(version: TdsVersion, limits: &Limits) -> BulkLoad {
        BulkLoad {
            version,
            limits: *limits,
            collations: Vec::new(),
            columns: None,
            buffer: Vec::new(),
            read: 0,
            worthwhile: 0,
            has_all: false,
            is_done: false,
            failed: None,
        }
    }

    /// The same, with what the statement says of its columns: the bytes of texts are those of such a collation, whatever the message says.
    #[must_use]
    pub fn with_collations(self, collations: Vec<Option<Collation>>) -> BulkLoad {
        BulkLoad { collations, ..self }
    }

    /// Takes a part of the message. All rows before should have been taken out, or they count towards the limit of one.
    ///
    /// # Errors
    /// A row longer than the limit. Any error stays: the message's other parts are then to be dropped.
    pub fn feed(&mut self, part: &[u8], is_end: bool) -> Result<(), TdsError> {
        self.check()?;
        self.buffer.drain(..self.read);
        self.read = 0;
        if self.buffer.len() + part.len() > self.limits.bulk_row_bytes_max {
            let limit = self.limits.bulk_row_bytes_max;
            return self.fail(TdsError::Limit { what: "bytes of a row of a bulk load", limit });
        }
        self.buffer.extend_from_slice(part);
        self.has_all |= is_end;
        Ok(())
    }

    /// The columns, as soon as they have come.
    ///
    /// # Errors
    /// Bytes that are no columns.
    pub fn columns(&mut self) -> Result<Option<&[BulkColumn]>, TdsError> {
        self.check()?;
        if self.columns.is_none() && !self.is_done {
            let mut reader = Reader::new(&self.buffer[self.read..]);
            match columns(&mut reader, self.version, &self.limits) {
                Ok(mut columns) => {
                    for (column, said) in columns.iter_mut().zip(&self.collations) {
                        column.info =
                            said.map_or(column.info, |said| column.info.with_collation(WireCollation::of(said)));
                    }
                    self.read = self.buffer.len() - reader.rest().len();
                    self.columns = Some(columns);
                }
                // No columns and no rows: the client has nothing to load.
                Err(TdsError::Truncated(_)) if self.has_all && self.buffer.is_empty() => self.is_done = true,
                Err(TdsError::Truncated(_)) if !self.has_all => {}
                Err(error) => return self.fail(error),
            }
        }
        Ok(self.columns.as_deref())
    }

    /// Reads the next row into `row`, whose buffers are used again. False when no whole row is there: more is to be fed, unless
    /// [`is_done`](Self::is_done).
    ///
    /// # Errors
    /// Bytes that are no row; values that their types do not have.
    pub fn next_row(&mut self, row: &mut Vec<Value>) -> Result<bool, TdsError> {
        if self.columns()?.is_none() || self.is_done {
            return Ok(false);
        }
        let columns = self.columns.as_deref().unwrap_or_default();
        let bytes = &self.buffer[self.read..];
        if !self.has_all && bytes.len() < self.worthwhile {
            return Ok(false);
        }
        if bytes.is_empty() {
            // Some clients end the rows with DONE, others just stop.
            self.is_done = self.has_all;
            return Ok(false);
        }
        if bytes[0] == DONE && !self.has_all {
            // How long the end is shows only when nothing more comes.
            return Ok(false);
        }
        let mut reader = Reader::new(bytes);
        let is_row = match read_row(&mut reader, columns, self.version, row) {
            Ok(is_row) => is_row,
            Err(TdsError::Truncated(_)) if !self.has_all => {
                self.worthwhile = bytes.len() + bytes.len() / 2;
                return Ok(false);
            }
            Err(error) => return self.fail(error),
        };
        self.read = self.buffer.len() - reader.rest().len();
        self.worthwhile = 0;
        if !is_row {
            self.is_done = true;
            if self.read < self.buffer.len() {
                return self.fail(TdsError::malformed("A bulk load goes on behind its end"));
            }
        }
        Ok(is_row)
    }

    /// Whether all rows have been read.
    pub fn is_done(&self) -> bool {
        self.is_done
    }

    fn check(&self) -> Result<(), TdsError> {
        self.failed.clone().map_or(Ok(()), Err)
    }

    fn fail<T>(&mut self, error: TdsError) -> Result<T, TdsError> {
        self.failed = Some(error.clone());
        self.buffer = Vec::new();
        self.read = 0;
        Err(error)
    }
}

fn columns(reader: &mut Reader<'_>, version: TdsVersion, limits: &Limits) -> Result<Vec<BulkColumn>, TdsError> {
    let token = reader.u8(WHAT)?;
    if token != COLUMNS {
        return Err(TdsError::malformed(format!("A bulk load begins with 0x{token:02X}")));
    }
    let count = usize::from(reader.u16(WHAT)?);
    if count > limits.columns_max {
        return Err(TdsError::Limit { what: "columns of a bulk load", limit: limits.columns_max });
    }
    let mut columns = Vec::new();
    for _ in 0..count {
        let _user_type = if version.is_wide() { reader.u32(WHAT)? } else { reader.u16(WHAT)?.into() };
        let _flags = reader.u16(WHAT)?;
        let info = TypeInfo::read_of_load(reader, version)?;
        if matches!(info.token(), TypeToken::Text | TypeToken::NText | TypeToken::Image) {
            // The table's name, in one part whatever the version.
            reader.long_text(WHAT)?;
        }
        columns.push(BulkColumn { name: reader.short_text(WHAT)?, info });
    }
    if columns.is_empty() {
        return Err(TdsError::malformed("A bulk load has no columns"));
    }
    Ok(columns)
}

/// Reads a row; false when it is the mark of their end.
fn read_row(
    reader: &mut Reader<'_>,
    columns: &[BulkColumn],
    version: TdsVersion,
    row: &mut Vec<Value>,
) -> Result<bool, TdsError> {
    let bitmap: &[u8] = match reader.u8(WHAT)? {
        ROW => &[],
        ROW_WITH_BITMAP => reader.take(columns.len().div_ceil(8), WHAT)?,
        DONE => {
            reader.take(DONE_BYTES, WHAT)?;
            // The other half of a wide count, which not every client sends.
            if version.is_wide() && !reader.rest().is_empty() {
                reader.take(DONE_BYTES_WIDE - DONE_BYTES, WHAT)?;
            }
            return Ok(false);
        }
        other => return Err(TdsError::malformed(format!("A row of a bulk load begins with 0x{other:02X}"))),
    };
    row.resize(columns.len(), Value::Null);
    for (at, (column, value)) in columns.iter().zip(row).enumerate() {
        if bitmap.get(at / 8).is_some_and(|bits| bits >> (at % 8) & 1 != 0) {
            *value = Value::Null;
        } else {
            column.info.read_value(reader, Place::Row, value)?;
        }
    }
    Ok(true)
}
