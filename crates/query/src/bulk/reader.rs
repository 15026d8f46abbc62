//! Cuts a file into rows and fields.
//!
//! ```text
//!   buffer  |  cut into rows  | the next row, perhaps not whole |
//!                             at                                end: more is read behind it
//! ```
//! Outside of CSV each field but a row's last ends at a field's terminator, whatever stands before that, and the last one at a
//! row's terminator. In CSV a row's end also ends a field, and neither counts within quotes. Fields that a format file describes have a
//! length before them, always as many bytes, or a terminator of their own ([`super::described`]).

use std::sync::Arc;

use memchr::memmem::Finder;
use pikepole_types::SqlError;

use super::format_file::FieldFormat;
use super::options::{BulkOptions, Encoding, TextFormat};
use super::portion::{Field, Portion};
use super::read_ahead::{CHUNK_BYTES, ReadAhead};
use crate::executor::batch::BATCH_ROWS;

/// The most bytes that a row may have; where its fields are is told in 32 bits.
pub(super) const ROW_BYTES_MAX: usize = 1 << 30;

/// A portion has no row more once it has this many bytes.
const PORTION_BYTES: usize = 256 * 1024;

/// Reads a file from its beginning to its end.
pub(super) struct Reader {
    file: Arc<ReadAhead>,
    /// The name that errors say.
    pub(super) name: String,
    length: u64,
    /// How much of the file has been taken.
    read_to: u64,
    /// How many bytes the buffer is to have before anything more is cut; 0: it has them.
    wanted: usize,
    pub(super) format: TextFormat,
    /// What ends each of fields that differ.
    pub(super) ends: Vec<Finder<'static>>,
    field_end: Finder<'static>,
    row_end: Finder<'static>,
    /// The most bytes that each field may have.
    pub(super) bytes_max: Vec<usize>,
    pub(super) buffer: Vec<u8>,
    pub(super) at: usize,
    /// Where `at` is in the file.
    offset: u64,
    /// The bytes of a UTF-16 character whose rest was not read yet.
    cut_off: Vec<u8>,
    /// The number of the next row.
    pub(super) row: u64,
    first_row: u64,
    last_row: u64,
    /// Why nothing can be read behind that row.
    failure: Option<SqlError>,
}

/// What was found at the beginning of some bytes.
pub(super) enum Cut {
    /// A row that ends there, where the next one begins.
    Row(usize),
    /// Not the whole of a row.
    Part,
    Failed(SqlError),
}

impl Reader {
    /// A reader of rows of so many fields.
    pub(super) fn new(
        file: Arc<ReadAhead>,
        name: &str,
        (options, format): (&BulkOptions, &TextFormat),
        bytes_max: Vec<usize>,
    ) -> Reader {
        let format = format.clone();
        let finder = |bytes: &[u8]| Finder::new(bytes).into_owned();
        let fields = format.fields.as_deref().unwrap_or_default();
        Reader {
            ends: fields.iter().map(|field| finder(&field.terminator)).collect(),
            field_end: finder(&format.field_end),
            row_end: finder(&format.row_end),
            length: file.length(),
            file,
            name: name.to_owned(),
            read_to: 0,
            wanted: 0,
            format,
            bytes_max,
            buffer: Vec::new(),
            at: 0,
            offset: 0,
            cut_off: Vec::new(),
            row: 1,
            first_row: options.first_row,
            last_row: options.last_row,
            failure: None,
        }
    }

    /// The file, which may have to be waited for.
    pub(super) fn file(&self) -> &Arc<ReadAhead> {
        &self.file
    }

    /// A mark of the byte order, at the file's beginning, says nothing that is not known.
    fn skip_mark(&mut self) {
        // As the character is in UTF-8, which UTF-16 has become. Lengths and numbers may begin with any bytes.
        let begins_with_text =
            self.format.fields.as_deref().is_none_or(|fields| fields.first().is_some_and(FieldFormat::is_delimited));
        if begins_with_text
            && !matches!(self.format.encoding, Encoding::Page(_))
            && self.buffer.starts_with("\u{FEFF}".as_bytes())
        {
            self.at = 3;
            self.offset = if self.format.encoding == Encoding::Utf16 { 2 } else { 3 };
        }
    }

    /// The number of the next row.
    pub(super) fn row(&self) -> u64 {
        self.row
    }

    pub(super) fn length(&self) -> u64 {
        self.length
    }

    pub(super) fn offset(&self) -> u64 {
        self.offset
    }

    /// Whether there is no row any more; none: the file must be waited for.
    ///
    /// # Errors
    /// 4862.
    pub(super) fn is_at_end(&mut self) -> Result<Option<bool>, SqlError> {
        if (self.wanted > 0 || self.at == self.buffer.len()) && !self.read()? {
            return Ok(None);
        }
        Ok(Some(self.row > self.last_row || (self.at == self.buffer.len() && self.has_read_all())))
    }

    pub(super) fn has_read_all(&self) -> bool {
        self.read_to == self.length
    }

    /// The next rows, at most so many; without any at the end. False: the file must be waited for, and there are none either.
    ///
    /// # Errors
    /// 4832, 4862, 4866, 4879, once the rows before have been given; again and again.
    pub(super) fn take(&mut self, rows_max: u64, portion: &mut Portion) -> Result<bool, SqlError> {
        portion.clear();
        if let Some(failure) = &self.failure {
            return Err(failure.clone());
        }
        let rows_max = rows_max.min(BATCH_ROWS as u64) as usize;
        (portion.first_row, portion.offset) = (self.row, self.offset);
        let mut start = self.at;
        while portion.rows() < rows_max && self.row <= self.last_row && self.at - start < PORTION_BYTES {
            let fields = portion.fields.len();
            let has_bytes = self.wanted == 0 && self.at < self.buffer.len();
            let cut = if has_bytes { self.cut(start, &mut portion.fields) } else { Cut::Part };
            match cut {
                Cut::Row(end) if self.row < self.first_row => {
                    self.pass_to(end);
                    portion.clear();
                    start = self.at;
                    (portion.first_row, portion.offset) = (self.row, self.offset);
                }
                Cut::Row(end) => {
                    self.pass_to(end);
                    portion.row_ends.push((end - start) as u32);
                }
                Cut::Part => {
                    portion.fields.truncate(fields);
                    // What is read moves the bytes: not under rows that were cut already.
                    if portion.rows() > 0 || (self.wanted == 0 && self.has_read_all()) {
                        break;
                    }
                    if !self.read().map_err(|failure| self.fail(failure))? {
                        return Ok(false);
                    }
                    start = self.at;
                }
                Cut::Failed(failure) => {
                    portion.fields.truncate(fields);
                    let failure = self.fail(failure);
                    if portion.rows() == 0 {
                        return Err(failure);
                    }
                    break;
                }
            }
        }
        portion.bytes.extend_from_slice(&self.buffer[start..self.at]);
        Ok(true)
    }

    fn fail(&mut self, failure: SqlError) -> SqlError {
        self.failure = Some(failure.clone());
        failure
    }

    fn pass_to(&mut self, end: usize) {
        let bytes = &self.buffer[self.at..end];
        self.offset += self.format.encoding.bytes_in_file(bytes);
        self.at = end;
        self.row += 1;
    }

    /// Takes more of the file behind what there is; what lies before `at` goes. False: it has not been read so far, call again.
    fn read(&mut self) -> Result<bool, SqlError> {
        self.buffer.drain(..self.at);
        self.at = 0;
        if self.wanted == 0 {
            // A long row is looked through again from its beginning: twice as much each time.
            self.wanted = self.buffer.len() + CHUNK_BYTES.max(self.buffer.len());
        }
        while self.buffer.len() < self.wanted && !self.has_read_all() {
            let taken = self.file.take().map_err(|error| not_read(&self.name, &error))?;
            let Some(chunk) = taken else { return Ok(false) };
            let is_first = self.read_to == 0;
            self.read_to += chunk.len() as u64;
            if self.format.encoding == Encoding::Utf16 {
                self.cut_off.extend_from_slice(&chunk);
                let is_last = self.has_read_all();
                decode(&mut self.cut_off, is_last, &mut self.buffer);
            } else if self.buffer.is_empty() {
                self.buffer = chunk;
            } else {
                self.buffer.extend_from_slice(&chunk);
            }
            if is_first {
                self.skip_mark();
            }
        }
        self.wanted = 0;
        self.learn_row_end();
        Ok(true)
    }

    /// Rows of a file that was written, or checked out, elsewhere than on Windows end at line feeds alone: the file's first bytes
    /// say so when the ends that SQL Server asks for are not among them.
    fn learn_row_end(&mut self) {
        let Some(bare) = self.format.bare_row_end.take() else { return };
        let bare_end = Finder::new(&bare).into_owned();
        if find(&self.buffer, &self.row_end).is_none() && find(&self.buffer, &bare_end).is_some() {
            self.format.row_end = bare;
            self.row_end = bare_end;
        }
    }

    /// The row that begins at `at`; its fields count from `start`.
    fn cut(&self, start: usize, fields: &mut Vec<Field>) -> Cut {
        if let Some(described) = &self.format.fields {
            return self.cut_described(start, described, fields);
        }
        match self.format.csv {
            Some(csv) => self.cut_quoted(start, csv.quote, csv.drops_return, fields),
            None => self.cut_plain(start, fields),
        }
    }

    fn cut_plain(&self, start: usize, fields: &mut Vec<Field>) -> Cut {
        let mut at = self.at;
        let last = self.bytes_max.len() - 1;
        for (place, &bytes_max) in self.bytes_max.iter().enumerate() {
            let rest = &self.buffer[at..];
            let (found, terminator) = if place == last {
                (find(rest, &self.row_end), self.format.row_end.len())
            } else {
                (find(rest, &self.field_end), self.format.field_end.len())
            };
            let ends_here = place == last && self.has_read_all();
            if found.unwrap_or(rest.len()) > bytes_max || at - self.at > ROW_BYTES_MAX {
                return Cut::Failed(SqlError::bulk_column_too_long(self.row, place + 1));
            }
            let end = match found {
                Some(found) => at + found,
                None if ends_here => self.buffer.len(),
                None if self.has_read_all() => return Cut::Failed(SqlError::bulk_file_ends()),
                None => return Cut::Part,
            };
            fields.push(field(start, at, end));
            at = self.buffer.len().min(end + terminator);
        }
        Cut::Row(at)
    }

    fn cut_quoted(&self, start: usize, quote: u8, drops_return: bool, fields: &mut Vec<Field>) -> Cut {
        let mut at = self.at;
        let last = self.bytes_max.len() - 1;
        for (place, &bytes_max) in self.bytes_max.iter().enumerate() {
            let invalid = || Cut::Failed(SqlError::bulk_csv_invalid(&self.name, self.row, place + 1));
            if at - self.at > ROW_BYTES_MAX {
                return Cut::Failed(SqlError::bulk_column_too_long(self.row, place + 1));
            }
            let mut own = field(start, at, at);
            let mut behind = at;
            if self.buffer.get(at) == Some(&quote) {
                match self.quoted(at, quote, &mut own, start) {
                    Some(close) => behind = close + 1,
                    None if self.has_read_all() => return invalid(),
                    None if self.buffer.len() - at > bytes_max => {
                        return Cut::Failed(SqlError::bulk_column_too_long(self.row, place + 1));
                    }
                    None => return Cut::Part,
                }
            }
            let Some((end, is_row_end, next)) = self.end_of_field(behind, drops_return) else {
                if self.buffer.len() - at > bytes_max {
                    return Cut::Failed(SqlError::bulk_column_too_long(self.row, place + 1));
                }
                return Cut::Part;
            };
            if own.quoted && end > behind || is_row_end != (place == last) {
                return invalid();
            }
            if !own.quoted {
                own.end = (end - start) as u32;
            }
            if (own.end - own.start) as usize > bytes_max {
                return Cut::Failed(SqlError::bulk_column_too_long(self.row, place + 1));
            }
            fields.push(own);
            at = next;
        }
        Cut::Row(at)
    }

    /// The quote that closes the one at `open`; None: it is not among the bytes read.
    fn quoted(&self, open: usize, quote: u8, field: &mut Field, start: usize) -> Option<usize> {
        let mut at = open + 1;
        (field.quoted, field.start) = (true, (at - start) as u32);
        loop {
            let found = at + memchr::memchr(quote, &self.buffer[at..])?;
            match self.buffer.get(found + 1) {
                Some(next) if *next == quote => {
                    field.doubled = true;
                    at = found + 2;
                }
                None if !self.has_read_all() => return None,
                _ => {
                    field.end = (found - start) as u32;
                    return Some(found);
                }
            }
        }
    }

    /// Where a field of a CSV file ends, whether its row ends there too, and what comes next; None: more must be read.
    fn end_of_field(&self, at: usize, drops_return: bool) -> Option<(usize, bool, usize)> {
        let rest = &self.buffer[at..];
        let (field_end, row_end) = (&self.format.field_end, &self.format.row_end);
        let (found, is_row_end) = match (field_end.as_slice(), row_end.as_slice()) {
            ([field], [row]) => match memchr::memchr2(*field, *row, rest) {
                Some(found) => (Some(found), rest[found] == *row),
                None => (None, true),
            },
            _ => match (find(rest, &self.field_end), find(rest, &self.row_end)) {
                (Some(field), Some(row)) if field < row => (Some(field), false),
                (Some(field), None) => (Some(field), false),
                (_, row) => (row, true),
            },
        };
        let Some(found) = found else {
            return self.has_read_all().then_some((self.buffer.len(), true, self.buffer.len()));
        };
        let terminator = if is_row_end { row_end.len() } else { field_end.len() };
        let has_return = is_row_end && drops_return && rest[..found].ends_with(b"\r");
        let end = if has_return { found - 1 } else { found };
        Some((at + end, is_row_end, at + found + terminator))
    }
}

pub(super) fn field(start: usize, from: usize, to: usize) -> Field {
    Field { start: (from - start) as u32, end: (to - start) as u32, quoted: false, doubled: false }
}

#[inline]
fn find(bytes: &[u8], terminator: &Finder<'_>) -> Option<usize> {
    match terminator.needle() {
        [byte] => memchr::memchr(*byte, bytes),
        _ => terminator.find(bytes),
    }
}

/// Appends the characters of UTF-16 bytes as UTF-8 and keeps the bytes of one that is not whole.
fn decode(bytes: &mut Vec<u8>, is_last: bool, out: &mut Vec<u8>) {
    let mut whole = bytes.len() / 2 * 2;
    let is_first_half = |unit: [u8; 2]| (0xD800..0xDC00).contains(&u16::from_le_bytes(unit));
    if !is_last && whole > 0 && is_first_half([bytes[whole - 2], bytes[whole - 1]]) {
        whole -= 2;
    }
    let units = bytes[..whole].chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]]));
    let mut place = [0; 4];
    for c in char::decode_utf16(units) {
        let c = c.unwrap_or(char::REPLACEMENT_CHARACTER);
        out.extend_from_slice(c.encode_utf8(&mut place).as_bytes());
    }
    bytes.drain(..whole);
}

fn not_read(name: &str, error: &std::io::Error) -> SqlError {
    SqlError::bulk_file_not_read(name, super::file::system_error(error))
}
