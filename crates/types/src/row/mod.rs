//! The row codec: a row as the bytes that a page holds and a tree orders.
//!
//! ```text
//! entry = key bytes            | rest bytes
//!         columns of the key,  | null bitmap, then the other columns
//!         ordered by memcmp    | and those that the key cannot give back
//! ```
//!
//! Key: each column is [a byte 0 for NULL or 1, only if it may be NULL] and bytes that compare as its values do: numbers
//! big-endian with the sign turned, strings as their collation's sort key. A descending column is inverted, every bit.
//!
//! Rest: one bit for each column that may be NULL and is in it, lowest bit first, 1 for NULL; then each value that is not
//! NULL: integers as zigzag varints (`bit` and `tinyint` as a byte), strings as a varint length and UTF-8 (`char` without the
//! blanks at its end), dates and times as varints of what they count, floats and `uniqueidentifier` as they are.
//!
//! Strings, binaries and `datetimeoffset` lose something on the way into a key, so such key columns are in the rest too.
//!
//! A marked layout ends each rest with a byte 0. What else may stand there, and before it, is the caller's: see [`long`].

mod columns;
mod key;
mod limits;
mod long;
mod loose;
mod recipe;
mod rest;
mod splice;
mod template;

pub use columns::{CODED_DIGITS_MAX, ColumnData, ColumnReader, ColumnValues, RowBytes, RowPlaces};
pub use long::content_bytes_max;
pub use recipe::{KeyPiece, NumberForm, RestPiece, number_of};
pub use splice::RestSplice;
pub use template::RestTemplate;

use crate::collation::Collation;
use crate::sql_type::SqlType;
use crate::value::Value;

/// A column of a layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ColumnType {
    /// Its type.
    pub ty: SqlType,
    /// Whether it may hold NULL.
    pub nullable: bool,
    /// How its strings compare in a key.
    pub collation: Collation,
}

impl ColumnType {
    /// A column with the default collation.
    pub fn new(ty: SqlType, nullable: bool) -> ColumnType {
        ColumnType { ty, nullable, collation: Collation::default() }
    }
}

/// A column of the key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyColumn {
    /// Its place among the layout's columns.
    pub column: usize,
    /// Largest first.
    pub descending: bool,
}

impl KeyColumn {
    /// An ascending column of the key.
    pub fn ascending(column: usize) -> KeyColumn {
        KeyColumn { column, descending: false }
    }
}

/// Why a row cannot be encoded or decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RowError {
    /// The bytes are no row of this layout.
    #[error("row bytes are damaged at column {column}")]
    Corrupt {
        /// The column that could not be read.
        column: usize,
    },
    /// The value is not of the column's type; a caller converts values first.
    #[error("the value for column {column} is not of its type")]
    WrongType {
        /// The column.
        column: usize,
    },
    /// NULL for a column that does not allow it; a caller checks this first.
    #[error("the value for column {column} is NULL")]
    Null {
        /// The column.
        column: usize,
    },
    /// The row has more bytes than a page of SQL Server has for one.
    #[error("the row has {bytes} bytes, and may have {bytes_max}")]
    TooLong {
        /// Bytes of the row.
        bytes: usize,
        /// Bytes that it may have.
        bytes_max: usize,
    },
}

/// How the rows of a table or index are laid out as bytes. Prepared once, used for every row.
#[derive(Debug, Clone)]
pub struct RowLayout {
    columns: Box<[ColumnType]>,
    key: Box<[KeyColumn]>,
    rest: Box<[RestColumn]>,
    bitmap_bytes: usize,
    /// The key is one `int` or `bigint` that is never NULL, ascending: the column of the fast path.
    integer_key: Option<IntegerKey>,
    /// A byte 0 ends each rest.
    marked: bool,
    /// See [`RowLayout::with_row_limit`]; `None`: no row is too long.
    row_limit: Option<Box<limits::RowLimit>>,
    /// See [`RowLayout::with_key_limit`]; `None`: no key is too long.
    key_limit: Option<usize>,
    everything: Projection,
}

/// The only column of a key, and its type.
#[derive(Debug, Clone, Copy)]
struct IntegerKey {
    column: usize,
    /// It is `bigint`, not `int`.
    is_big: bool,
}

impl IntegerKey {
    /// Appends the key of a value; false: it is of another type, or NULL.
    #[inline]
    fn encode(self, value: &Value, out: &mut Vec<u8>) -> bool {
        match value {
            Value::BigInt(number) if self.is_big => out.extend_from_slice(&((*number as u64) ^ 1 << 63).to_be_bytes()),
            Value::Int(number) if !self.is_big => out.extend_from_slice(&((*number as u32) ^ 1 << 31).to_be_bytes()),
            _ => return false,
        }
        true
    }
}

/// A column of the rest and the bit that says it is NULL.
#[derive(Debug, Clone, Copy)]
struct RestColumn {
    column: usize,
    null_bit: Option<usize>,
}

/// Which columns a decode wants and the steps to them. Prepared once, used for every row.
#[derive(Debug, Clone)]
pub struct Projection {
    /// Places of the key in order, up to the last one wanted.
    key: Box<[KeyStep]>,
    /// Places of the rest in order, up to the last one wanted.
    rest: Box<[RestStep]>,
    /// Columns wanted more than once: from and to which place of the output.
    copies: Box<[(usize, usize)]>,
    width: usize,
}

#[derive(Debug, Clone, Copy)]
struct KeyStep {
    key: KeyColumn,
    ty: ColumnType,
    output: Option<usize>,
}

#[derive(Debug, Clone, Copy)]
struct RestStep {
    rest: RestColumn,
    ty: ColumnType,
    output: Option<usize>,
}

impl Projection {
    /// Whether the key alone has all that is wanted.
    pub fn is_of_key(&self) -> bool {
        self.rest.is_empty()
    }
}

impl RowLayout {
    /// The layout of these columns; `key` names the columns of the key in order and is empty for a heap.
    ///
    /// # Panics
    /// When a column of the key does not exist: the catalog has checked that.
    pub fn new(columns: &[ColumnType], key: &[KeyColumn]) -> RowLayout {
        assert!(key.iter().all(|part| part.column < columns.len()), "the key names columns that exist");
        let in_key = |column: usize| key.iter().any(|part| part.column == column);
        let mut bits = 0;
        let mut rest = Vec::new();
        for (column, ty) in columns.iter().enumerate() {
            if in_key(column) && key::gives_back(&ty.ty) {
                continue;
            }
            let null_bit = ty.nullable.then_some(bits);
            bits += usize::from(ty.nullable);
            rest.push(RestColumn { column, null_bit });
        }
        let integer_key = match key {
            [one] if !one.descending && !columns[one.column].nullable => match columns[one.column].ty {
                SqlType::BigInt => Some(IntegerKey { column: one.column, is_big: true }),
                SqlType::Int => Some(IntegerKey { column: one.column, is_big: false }),
                _ => None,
            },
            _ => None,
        };
        let mut layout = RowLayout {
            columns: columns.into(),
            key: key.into(),
            rest: rest.into(),
            bitmap_bytes: bits.div_ceil(8),
            integer_key,
            marked: false,
            row_limit: None,
            key_limit: None,
            everything: Projection { key: [].into(), rest: [].into(), copies: [].into(), width: 0 },
        };
        let all: Vec<usize> = (0..columns.len()).collect();
        layout.everything = layout.projection(&all);
        layout
    }

    /// The layout's columns.
    pub fn columns(&self) -> &[ColumnType] {
        &self.columns
    }

    /// The columns of the key, in order.
    pub fn key_columns(&self) -> &[KeyColumn] {
        &self.key
    }

    /// Appends the key bytes of a row; `value` gives each column's value by its place.
    ///
    /// # Errors
    /// [`RowError::WrongType`] and [`RowError::Null`]; `out` may then hold a part.
    #[inline]
    pub fn encode_key<'v>(&self, value: impl Fn(usize) -> &'v Value, out: &mut Vec<u8>) -> Result<(), RowError> {
        if self.integer_key.is_some_and(|key| key.encode(value(key.column), out)) {
            return Ok(());
        }
        for part in &self.key {
            key::encode(value(part.column), part, &self.columns[part.column], out)?;
        }
        Ok(())
    }

    /// Appends the key bytes of the first columns of the key, `values` in the key's order: all rows that have these
    /// values, and no others, have keys that start so.
    ///
    /// # Errors
    /// As [`encode_key`](Self::encode_key).
    pub fn encode_key_prefix<'v>(
        &self,
        values: impl IntoIterator<Item = &'v Value>,
        out: &mut Vec<u8>,
    ) -> Result<(), RowError> {
        for (part, value) in self.key.iter().zip(values) {
            key::encode(value, part, &self.columns[part.column], out)?;
        }
        Ok(())
    }

    /// The same of all columns of the key.
    ///
    /// # Errors
    /// As [`encode_key`](Self::encode_key).
    #[inline]
    pub fn encode_whole_key(&self, values: &[Value], out: &mut Vec<u8>) -> Result<(), RowError> {
        match values {
            [value] if self.integer_key.is_some_and(|key| key.encode(value, out)) => Ok(()),
            values => self.encode_key_prefix(values, out),
        }
    }

    /// Turns a prefix of keys into the least key above all that start with it; gives false, and an empty key, when there
    /// is none.
    pub fn prefix_end(prefix: &mut Vec<u8>) -> bool {
        while let Some(last) = prefix.pop() {
            if last < 0xFF {
                prefix.push(last + 1);
                return true;
            }
        }
        false
    }

    /// Appends the rest bytes of a row; `value` gives each column's value by its place.
    ///
    /// # Errors
    /// [`RowError::WrongType`], [`RowError::Null`] and [`RowError::TooLong`]; `out` may then hold a part.
    #[inline]
    pub fn encode_rest<'v>(&self, value: impl Fn(usize) -> &'v Value, out: &mut Vec<u8>) -> Result<(), RowError> {
        self.check_row(&value)?;
        let bitmap = out.len();
        out.resize(bitmap + self.bitmap_bytes, 0);
        for part in &self.rest {
            let value = value(part.column);
            match part.null_bit {
                Some(bit) if value.is_null() => out[bitmap + bit / 8] |= 1 << (bit % 8),
                _ => rest::encode(value, &self.columns[part.column].ty, part.column, out)?,
            }
        }
        if self.marked {
            out.push(0);
        }
        Ok(())
    }

    /// Prepares the decoding of some columns, in any order.
    ///
    /// # Panics
    /// When a wanted column does not exist.
    pub fn projection(&self, wanted: &[usize]) -> Projection {
        assert!(wanted.iter().all(|&column| column < self.columns.len()), "wanted columns exist");
        let output = |column: usize| wanted.iter().position(|&other| other == column);
        let from_key = |part: &KeyColumn| key::gives_back(&self.columns[part.column].ty);
        let mut seen = Vec::new();
        let key_steps = self.key.iter().map(|&key| {
            // A column that is in the key twice is taken from its first place.
            let first = !seen.contains(&key.column);
            seen.push(key.column);
            let output = if first && from_key(&key) { output(key.column) } else { None };
            KeyStep { key, ty: self.columns[key.column], output }
        });
        let mut key: Vec<KeyStep> = key_steps.collect();
        key.truncate(key.iter().rposition(|step| step.output.is_some()).map_or(0, |last| last + 1));
        let rest_steps =
            self.rest.iter().map(|&rest| RestStep { rest, ty: self.columns[rest.column], output: output(rest.column) });
        let mut rest: Vec<RestStep> = rest_steps.collect();
        rest.truncate(rest.iter().rposition(|step| step.output.is_some()).map_or(0, |last| last + 1));
        let copies = wanted.iter().enumerate().filter_map(|(place, &column)| {
            let first = output(column)?;
            (first != place).then_some((first, place))
        });
        Projection { key: key.into(), rest: rest.into(), copies: copies.collect(), width: wanted.len() }
    }

    /// Decodes the wanted columns: `out[i]` becomes the `i`-th column that the projection was prepared with. Buffers in
    /// `out` are used again.
    ///
    /// # Errors
    /// [`RowError::Corrupt`] when the bytes are no row of this layout; `out` is then unspecified.
    ///
    /// # Panics
    /// When `out` is shorter than the projection.
    #[inline]
    pub fn decode(&self, key: &[u8], rest: &[u8], projection: &Projection, out: &mut [Value]) -> Result<(), RowError> {
        assert!(out.len() >= projection.width, "a place for every wanted column");
        self.decode_parts(key, rest, projection, out).map(|_| ())
    }

    /// Decodes all columns, and checks that nothing is left over.
    ///
    /// # Errors
    /// As [`decode`](Self::decode).
    ///
    /// # Panics
    /// When `out` is shorter than the layout.
    pub fn decode_all(&self, key: &[u8], rest: &[u8], out: &mut [Value]) -> Result<(), RowError> {
        assert!(out.len() >= self.columns.len(), "a place for every column");
        let left = self.decode_parts(key, rest, &self.everything, out)?;
        if left > 0 {
            return Err(RowError::Corrupt { column: self.columns.len() });
        }
        Ok(())
    }

    /// Decodes; gives how many bytes of the rest were not read.
    fn decode_parts(
        &self,
        mut key: &[u8],
        rest: &[u8],
        projection: &Projection,
        out: &mut [Value],
    ) -> Result<usize, RowError> {
        for step in &projection.key {
            let place = step.output.map(|place| &mut out[place]);
            key = key::decode(key, &step.key, &step.ty, place).ok_or(RowError::Corrupt { column: step.key.column })?;
        }
        let mut left = rest.len();
        if !projection.rest.is_empty() {
            let split = rest.split_at_checked(self.bitmap_bytes).ok_or(RowError::Corrupt { column: 0 })?;
            let (bitmap, mut bytes) = split;
            for step in &projection.rest {
                let place = step.output.map(|place| &mut out[place]);
                let is_null = step.rest.null_bit.is_some_and(|bit| bitmap[bit / 8] >> (bit % 8) & 1 == 1);
                let behind = match place {
                    _ if is_null => {
                        place.into_iter().for_each(|place| place.set(Value::Null));
                        continue;
                    }
                    None => rest::skip(bytes, &step.ty),
                    Some(place) => rest::decode_into(bytes, &step.ty, place),
                };
                bytes = behind.ok_or(RowError::Corrupt { column: step.rest.column })?;
            }
            left = bytes.len();
        }
        for &(from, to) in &projection.copies {
            let (low, high) = out.split_at_mut(to);
            // The first place of a column comes before its copies.
            high[0].clone_from(&low[from]);
        }
        Ok(left)
    }
}

#[cfg(test)]
mod tests;
