//! Lengths as SQL Server counts them: of the values of a key, and of a row in a page of its own.
//!
//! The bytes here are other ones: keys are made to be compared, rests are short. So whether a row is too long is asked of
//! its values, and the answer is the one that scripts know.
//!
//! ```text
//!   row     | 4 | columns of fixed length | 2 | a bit for each column | 2 | 2 for each column of varying length | values |
//! ```
//! The last part ends with the last column that has a value. A value of more than 24 bytes can lie elsewhere, and leaves 24.

use super::{ColumnType, RowError, RowLayout};
use crate::sql_type::SqlType;
use crate::value::Value;

/// Bytes that a value leaves in its row when it lies elsewhere.
const POINTER_BYTES: usize = 24;
/// Bytes of a column's end, and of the count of such ends.
const END_BYTES: usize = 2;

impl SqlType {
    /// True when all values of the type have the same length in a row.
    pub fn has_fixed_length(&self) -> bool {
        !matches!(
            self,
            SqlType::VarChar(_)
                | SqlType::NVarChar(_)
                | SqlType::VarBinary(_)
                | SqlType::Text
                | SqlType::NText
                | SqlType::Image
                | SqlType::Variant
                | SqlType::Xml
                | SqlType::Clr(_)
        )
    }

    /// Bytes of the type's longest value.
    fn stored_bytes_max(&self) -> usize {
        usize::try_from(self.max_length()).unwrap_or(usize::MAX)
    }
}

impl ColumnType {
    /// Bytes of a value of the column; a NULL of fixed length takes its place too.
    fn stored_bytes(&self, value: &Value) -> usize {
        match value {
            _ if self.ty.has_fixed_length() => self.ty.stored_bytes_max(),
            Value::Variant(variant) => variant.data_bytes(),
            Value::Bin(bytes) => bytes.len(),
            Value::Str(text) => self.collation.code_page().of(&self.ty).bytes(text),
            Value::Null => 0,
            _ => self.ty.stored_bytes_max(),
        }
    }
}

/// How long a row may be, of a table whose rows can be longer.
#[derive(Debug, Clone)]
pub(super) struct RowLimit {
    /// Bytes of all but the columns of varying length.
    fixed: usize,
    bytes_max: usize,
    varying: Box<[usize]>,
}

impl RowLimit {
    fn bytes<'v>(&self, columns: &[ColumnType], value: impl Fn(usize) -> &'v Value) -> usize {
        let in_row = |column: usize| columns[column].stored_bytes(value(column)).min(POINTER_BYTES);
        let Some(last) = self.varying.iter().rposition(|column| !value(*column).is_null()) else {
            return self.fixed;
        };
        let values: usize = self.varying[..=last].iter().map(|column| in_row(*column)).sum();
        self.fixed + END_BYTES + (last + 1) * END_BYTES + values
    }
}

impl RowLayout {
    /// The layout of rows that may have `bytes_max` bytes, `fixed` of them beside columns of varying length.
    #[must_use]
    pub fn with_row_limit(mut self, fixed: usize, bytes_max: usize) -> RowLayout {
        let is_varying = |column: &usize| !self.columns[*column].ty.has_fixed_length();
        let varying: Box<[usize]> = (0..self.columns.len()).filter(is_varying).collect();
        let longest = |column: &usize| self.columns[*column].ty.stored_bytes_max().min(POINTER_BYTES) + END_BYTES;
        let longest: usize = fixed + END_BYTES + varying.iter().map(longest).sum::<usize>();
        self.row_limit =
            (!varying.is_empty() && longest > bytes_max).then(|| Box::new(RowLimit { fixed, bytes_max, varying }));
        self
    }

    /// The layout of keys whose values may have so many bytes together.
    #[must_use]
    pub fn with_key_limit(mut self, bytes_max: usize) -> RowLayout {
        let longest: usize = self
            .key
            .iter()
            .map(|key| self.columns[key.column].ty.stored_bytes_max())
            .fold(0, |sum, bytes| sum.saturating_add(bytes));
        self.key_limit = (longest > bytes_max).then_some(bytes_max);
        self
    }

    /// True when some values make a row that is too long.
    pub fn can_be_too_long(&self) -> bool {
        self.row_limit.is_some()
    }

    /// Checks that a row is not too long.
    ///
    /// # Errors
    /// [`RowError::TooLong`].
    #[inline]
    pub fn check_row<'v>(&self, value: impl Fn(usize) -> &'v Value) -> Result<(), RowError> {
        let Some(limit) = &self.row_limit else {
            return Ok(());
        };
        match limit.bytes(&self.columns, value) {
            bytes if bytes > limit.bytes_max => Err(RowError::TooLong { bytes, bytes_max: limit.bytes_max }),
            _ => Ok(()),
        }
    }

    /// Bytes of a key's values and how many there may be, when there are more.
    #[inline]
    pub fn key_excess<'v>(&self, value: impl Fn(usize) -> &'v Value) -> Option<(usize, usize)> {
        let bytes_max = self.key_limit?;
        let bytes = self.key.iter().map(|key| self.columns[key.column].stored_bytes(value(key.column))).sum();
        (bytes > bytes_max).then_some((bytes, bytes_max))
    }
}
