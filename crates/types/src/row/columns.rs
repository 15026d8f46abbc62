//! Rows from columns: the rest bytes of many rows at once.
//!
//! ```text
//!   columns         equal lengths: every column has its place       else: row after row
//!   1 1 1 ...       | bitmap | a a | b | c c c c |                  | bitmap | a a | b | c c c |
//!   7 8 9 ...       | bitmap | a a | b | c c c c |                  | bitmap | a | b | c c c c |
//! ```
//! Most numbers of a batch need as many bytes as their neighbours. Where that is so for every column and the same columns are
//! NULL in every row, the rows are equally long and are written column by column. The bytes are those of
//! [`RowLayout::encode_rest`] either way; rows of differing lengths have these in front.

mod decode;
mod read;
mod short;

pub use decode::RowPlaces;
pub use read::{CODED_DIGITS_MAX, ColumnData, ColumnReader};

use super::rest;
use super::{RestColumn, RowError, RowLayout};
use crate::sql_type::SqlType;
use crate::value::Value;

/// The values of one column in each row.
#[derive(Debug, Clone, Copy)]
pub enum ColumnValues<'a> {
    /// One value for all rows.
    Same(&'a Value),
    /// What the values count: integers, ten-thousandths of money, days, ticks, minutes. For the types of integers, money and
    /// dates and times without an offset.
    Codes {
        /// One number for each row; that of a NULL is ignored.
        codes: &'a [i64],
        /// Which rows are not NULL; all when absent.
        valid: Option<&'a [bool]>,
    },
    /// The values themselves.
    Values(&'a [Value]),
}

/// The bytes of rows, one row after the other; rows that are not equally long have their length in front, as a varint.
#[derive(Debug, Clone, Default)]
pub struct RowBytes {
    bytes: Vec<u8>,
    row_bytes: Option<usize>,
    lengths: Vec<u32>,
}

impl RowBytes {
    /// All bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The length of every row, when they are equally long.
    pub fn row_bytes(&self) -> Option<usize> {
        self.row_bytes
    }

    /// The length of each row, when they are not.
    pub fn lengths(&self) -> &[u32] {
        &self.lengths
    }

    /// Adds the bytes of a row to others that are not equally long.
    pub fn push(&mut self, row: &[u8]) {
        rest::push_varint(row.len() as u64, &mut self.bytes);
        self.bytes.extend_from_slice(row);
        self.lengths.push(row.len() as u32);
    }
}

/// How the codes of a type become bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Coding {
    Byte,
    Varint,
    Zigzag,
}

impl Coding {
    fn of(ty: &SqlType) -> Option<Coding> {
        Some(match ty {
            SqlType::Bit | SqlType::TinyInt => Coding::Byte,
            SqlType::SmallInt | SqlType::Int | SqlType::BigInt => Coding::Zigzag,
            SqlType::Money | SqlType::SmallMoney | SqlType::DateTime => Coding::Zigzag,
            SqlType::Date | SqlType::Time(_) | SqlType::SmallDateTime | SqlType::DateTime2(_) => Coding::Varint,
            _ => return None,
        })
    }

    #[inline(always)]
    fn number(self, code: i64) -> u64 {
        match self {
            Coding::Zigzag => rest::zigzag(code),
            Coding::Byte | Coding::Varint => code as u64,
        }
    }

    fn bytes(self, number: u64) -> usize {
        match self {
            Coding::Byte => 1,
            Coding::Varint | Coding::Zigzag => varint_bytes(number),
        }
    }
}

/// The codes that a type has.
fn bounds(ty: &SqlType) -> (i64, i64) {
    match ty {
        SqlType::Bit => (0, 1),
        SqlType::TinyInt => (0, 255),
        SqlType::SmallInt => (i16::MIN.into(), i16::MAX.into()),
        SqlType::Int | SqlType::SmallMoney => (i32::MIN.into(), i32::MAX.into()),
        SqlType::BigInt | SqlType::Money | SqlType::DateTime => (i64::MIN, i64::MAX),
        _ => (0, i64::MAX),
    }
}

/// Bytes of the longest number.
const VARINT_BYTES_MAX: usize = 10;

#[inline(always)]
fn varint_bytes(number: u64) -> usize {
    (70 - (number | 1).leading_zeros() as usize) / 7
}

/// A column on its way into bytes.
enum Source<'a> {
    /// NULL in every row.
    Null,
    /// These bytes in every row.
    Bytes(Vec<u8>),
    Codes {
        codes: &'a [i64],
        valid: Option<&'a [bool]>,
        coding: Coding,
        /// How many bytes each takes, when they are equally many and none is NULL.
        bytes: Option<usize>,
    },
    Values(&'a [Value]),
}

impl RowLayout {
    /// The rest bytes of rows whose columns these are, in the layout's order; what `out` held is lost.
    ///
    /// # Errors
    /// [`RowError::WrongType`] and [`RowError::Null`]; `out` is unspecified then.
    ///
    /// # Panics
    /// When there are fewer columns than the layout has, or a column has fewer values than there are rows.
    pub fn encode_rows(&self, columns: &[ColumnValues<'_>], rows: usize, out: &mut RowBytes) -> Result<(), RowError> {
        assert!(columns.len() >= self.columns.len(), "values for every column");
        let source = |part: &RestColumn| self.source(part, columns[part.column], rows);
        let sources = self.rest.iter().map(source).collect::<Result<Vec<_>, _>>()?;
        out.bytes.clear();
        out.lengths.clear();
        out.row_bytes = self.equal_length(&sources);
        match out.row_bytes {
            Some(row_bytes) => self.by_column(&sources, rows, row_bytes, &mut out.bytes),
            None => self.by_row(&sources, rows, out)?,
        }
        Ok(())
    }

    fn source<'a>(&self, part: &RestColumn, values: ColumnValues<'a>, rows: usize) -> Result<Source<'a>, RowError> {
        let column = part.column;
        let ty = &self.columns[column].ty;
        Ok(match values {
            ColumnValues::Same(Value::Null) if part.null_bit.is_some() => Source::Null,
            ColumnValues::Same(value) => {
                let mut bytes = Vec::new();
                rest::encode(value, ty, column, &mut bytes)?;
                Source::Bytes(bytes)
            }
            ColumnValues::Codes { codes, valid } => {
                assert!(codes.len() >= rows && valid.is_none_or(|valid| valid.len() >= rows), "a value for every row");
                let coding = Coding::of(ty).ok_or(RowError::WrongType { column })?;
                let codes = &codes[..rows];
                let valid = valid.map(|valid| &valid[..rows]).filter(|valid| valid.contains(&false));
                if valid.is_some() && part.null_bit.is_none() {
                    return Err(RowError::Null { column });
                }
                let bytes = common_bytes(codes, valid, coding, bounds(ty)).ok_or(RowError::WrongType { column })?;
                Source::Codes { codes, valid, coding, bytes }
            }
            ColumnValues::Values(values) => {
                assert!(values.len() >= rows, "a value for every row");
                Source::Values(values)
            }
        })
    }

    /// The length of every row, when all are equally long.
    fn equal_length(&self, sources: &[Source<'_>]) -> Option<usize> {
        let length = |source: &Source<'_>| match source {
            Source::Null => Some(0),
            Source::Bytes(bytes) => Some(bytes.len()),
            Source::Codes { bytes, .. } => *bytes,
            Source::Values(_) => None,
        };
        let columns = sources.iter().map(length).sum::<Option<usize>>()?;
        // Rows without a byte could not be counted.
        Some(self.bitmap_bytes + columns + usize::from(self.marked)).filter(|&bytes| bytes > 0)
    }

    fn by_column(&self, sources: &[Source<'_>], rows: usize, row_bytes: usize, out: &mut Vec<u8>) {
        out.resize(rows * row_bytes, 0);
        let mut at = self.bitmap_bytes;
        for (part, source) in self.rest.iter().zip(sources) {
            match (source, part.null_bit) {
                (Source::Null, Some(bit)) => {
                    out.chunks_exact_mut(row_bytes).for_each(|row| row[bit / 8] |= 1 << (bit % 8));
                }
                (Source::Bytes(bytes), _) => {
                    let end = at + bytes.len();
                    out.chunks_exact_mut(row_bytes).for_each(|row| row[at..end].copy_from_slice(bytes));
                    at = end;
                }
                (Source::Codes { codes, coding, bytes: Some(bytes), .. }, _) => {
                    write_column(codes, *coding, *bytes, out, row_bytes, at);
                    at += bytes;
                }
                _ => {}
            }
        }
    }

    fn by_row(&self, sources: &[Source<'_>], rows: usize, out: &mut RowBytes) -> Result<(), RowError> {
        match self.longest_row(sources) {
            // The length of each is one byte then.
            Some(longest) if longest < 0x80 => {
                let parts = self.rest.iter().zip(sources).collect::<Vec<_>>();
                short::encode(&parts, (self.bitmap_bytes, self.marked), rows, longest, out);
            }
            _ => self.any_rows(sources, rows, out)?,
        }
        Ok(())
    }

    /// Most bytes of a row, when that is known before its values are looked at.
    fn longest_row(&self, sources: &[Source<'_>]) -> Option<usize> {
        let longest = |source: &Source<'_>| match source {
            Source::Null => Some(0),
            Source::Bytes(bytes) => Some(bytes.len()),
            Source::Codes { .. } => Some(VARINT_BYTES_MAX),
            Source::Values(_) => None,
        };
        let columns = sources.iter().map(longest).sum::<Option<usize>>()?;
        Some(self.bitmap_bytes + columns + usize::from(self.marked))
    }

    fn any_rows(&self, sources: &[Source<'_>], rows: usize, out: &mut RowBytes) -> Result<(), RowError> {
        let mut bytes = Vec::new();
        for row in 0..rows {
            bytes.clear();
            bytes.resize(self.bitmap_bytes, 0);
            for (part, source) in self.rest.iter().zip(sources) {
                let ty = &self.columns[part.column].ty;
                let is_null = match source {
                    Source::Null => true,
                    Source::Bytes(own) => {
                        bytes.extend_from_slice(own);
                        false
                    }
                    Source::Codes { valid: Some(valid), .. } if !valid[row] => true,
                    Source::Codes { codes, coding, .. } => {
                        let mut code = [0; VARINT_BYTES_MAX];
                        let length = write_code(codes[row], *coding, &mut code, 0);
                        bytes.extend_from_slice(&code[..length]);
                        false
                    }
                    Source::Values(values) if values[row].is_null() && part.null_bit.is_some() => true,
                    Source::Values(values) => {
                        rest::encode(&values[row], ty, part.column, &mut bytes)?;
                        false
                    }
                };
                if let Some(bit) = part.null_bit.filter(|_| is_null) {
                    bytes[bit / 8] |= 1 << (bit % 8);
                }
            }
            if self.marked {
                bytes.push(0);
            }
            out.push(&bytes);
        }
        Ok(())
    }
}

/// How many bytes each code takes, when they are equally many and none is NULL; the outer none is for a code that the type
/// does not have.
fn common_bytes(
    codes: &[i64],
    valid: Option<&[bool]>,
    coding: Coding,
    (smallest, largest): (i64, i64),
) -> Option<Option<usize>> {
    if let Some(valid) = valid {
        let fits = |(code, valid): (&i64, &bool)| !valid || (smallest..=largest).contains(code);
        return codes.iter().zip(valid).all(fits).then_some(None);
    }
    let reach = |(low, high): (i64, i64), &code: &i64| (low.min(code), high.max(code));
    let (low, high) = codes.iter().fold((i64::MAX, i64::MIN), reach);
    if codes.is_empty() {
        return Some(Some(1));
    }
    if low < smallest || high > largest {
        return None;
    }
    let numbers = |(low, high): (u64, u64), &code: &i64| {
        let number = coding.number(code);
        (low.min(number), high.max(number))
    };
    let (low, high) = codes.iter().fold((u64::MAX, 0), numbers);
    let bytes = coding.bytes(low);
    Some((bytes == coding.bytes(high)).then_some(bytes))
}

fn write_column(codes: &[i64], coding: Coding, bytes: usize, out: &mut [u8], row_bytes: usize, at: usize) {
    let write = match (coding, bytes) {
        (Coding::Byte, _) => write_bytes,
        (_, 1) => write_varints::<1>,
        (_, 2) => write_varints::<2>,
        (_, 3) => write_varints::<3>,
        (_, 4) => write_varints::<4>,
        (_, 5) => write_varints::<5>,
        (_, 6) => write_varints::<6>,
        (_, 7) => write_varints::<7>,
        (_, 8) => write_varints::<8>,
        (_, 9) => write_varints::<9>,
        _ => write_varints::<10>,
    };
    write(codes, coding, out, row_bytes, at);
}

fn write_bytes(codes: &[i64], _: Coding, out: &mut [u8], row_bytes: usize, at: usize) {
    for (row, &code) in out.chunks_exact_mut(row_bytes).zip(codes) {
        row[at] = code as u8;
    }
}

fn write_varints<const BYTES: usize>(codes: &[i64], coding: Coding, out: &mut [u8], row_bytes: usize, at: usize) {
    for (row, &code) in out.chunks_exact_mut(row_bytes).zip(codes) {
        let number = coding.number(code);
        if let Some(place) = row[at..].first_chunk_mut::<BYTES>() {
            for (index, byte) in place.iter_mut().enumerate() {
                let more = if index + 1 < BYTES { 0x80 } else { 0 };
                *byte = (number >> (7 * index)) as u8 & 0x7F | more;
            }
        }
    }
}

/// Writes a code at a place that has room for 10 bytes; how many it took.
#[inline(always)]
fn write_code(code: i64, coding: Coding, out: &mut [u8], at: usize) -> usize {
    let number = coding.number(code);
    if coding == Coding::Byte {
        out[at] = number as u8;
        return 1;
    }
    if number >> 56 != 0 {
        return write_long_varint(number, &mut out[at..]);
    }
    // Groups of 7 bits move apart in three steps; then all 8 bytes are written, and what follows overwrites those that do not
    // count.
    let halves = number & 0x0FFF_FFFF | (number & 0x00FF_FFFF_F000_0000) << 4;
    let quarters = halves & 0x0000_3FFF_0000_3FFF | (halves & 0x0FFF_C000_0FFF_C000) << 2;
    let groups = quarters & 0x007F_007F_007F_007F | (quarters & 0x3F80_3F80_3F80_3F80) << 1;
    let bytes = varint_bytes(number);
    let more = 0x8080_8080_8080_8080 & ((1 << (8 * (bytes - 1))) - 1);
    out[at..at + 8].copy_from_slice(&(groups | more).to_le_bytes());
    bytes
}

#[cold]
fn write_long_varint(number: u64, out: &mut [u8]) -> usize {
    let bytes = varint_bytes(number);
    for (index, byte) in out[..bytes].iter_mut().enumerate() {
        let more = if index + 1 < bytes { 0x80 } else { 0 };
        *byte = (number >> (7 * index)) as u8 & 0x7F | more;
    }
    bytes
}
