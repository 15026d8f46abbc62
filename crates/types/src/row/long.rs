//! Strings and binaries whose bytes may be kept elsewhere than in the rest.
//!
//! ```text
//! rest of a marked layout:   | null bitmap | value | value | ... | 0 |
//! ```
//! The last byte is the mark of whoever keeps rows: a value that is elsewhere has an empty one in its place, and what says where it
//! is stands in the place of the mark. The bytes of a value are those that the rest has behind its length.

use super::{RowError, RowLayout, rest};
use crate::clr::{ClrType, HIERARCHY_BYTES_MAX};
use crate::sql_type::{Length, SqlType};
use crate::value::Value;

/// What stands in the place of a value that is elsewhere.
static EMPTY_TEXT: Value = Value::Str(String::new());
static EMPTY_BYTES: Value = Value::Bin(Vec::new());

/// Bytes that a value of a string or binary type takes at most, its length not counted; `None` for other types. A character of one
/// byte in a code page, or of one UTF-16 unit, takes up to three in UTF-8.
pub fn content_bytes_max(ty: &SqlType) -> Option<usize> {
    Some(match *ty {
        SqlType::Char(n) | SqlType::NChar(n) => usize::from(n) * 3,
        SqlType::VarChar(length) | SqlType::NVarChar(length) => match length {
            Length::Limit(n) => usize::from(n) * 3,
            Length::Max => i32::MAX as usize,
        },
        SqlType::Clr(ClrType::HierarchyId) => HIERARCHY_BYTES_MAX,
        SqlType::Xml | SqlType::Text | SqlType::NText | SqlType::Image | SqlType::Clr(_) => i32::MAX as usize,
        SqlType::Binary(n) => n.into(),
        SqlType::VarBinary(Length::Limit(n)) => n.into(),
        SqlType::VarBinary(Length::Max) => i32::MAX as usize,
        _ => return None,
    })
}

impl RowLayout {
    /// The same layout with a byte 0 at the end of each rest.
    pub fn marked(self) -> RowLayout {
        RowLayout { marked: true, ..self }
    }

    /// The bytes of a string or binary as the rest has them, without their length; `None` for other values.
    #[inline]
    pub fn content<'v>(&self, column: usize, value: &'v Value) -> Option<&'v [u8]> {
        match value {
            Value::Str(text) => Some(rest::content(text, &self.columns[column].ty)),
            Value::Bin(bytes) => Some(bytes),
            _ => None,
        }
    }

    /// What to encode for a value whose content is elsewhere.
    pub fn without_content(value: &Value) -> &'static Value {
        if matches!(value, Value::Bin(_)) { &EMPTY_BYTES } else { &EMPTY_TEXT }
    }

    /// The value of a string or binary column of which [`RowLayout::content`] gave these bytes.
    ///
    /// # Errors
    /// [`RowError::Corrupt`] for bytes that are none of the type's.
    pub fn value_of(&self, column: usize, content: Vec<u8>) -> Result<Value, RowError> {
        let ty = &self.columns[column].ty;
        if ty.is_binary() || matches!(ty, SqlType::Clr(_)) {
            return Ok(Value::Bin(content));
        }
        let text = String::from_utf8(content).ok().filter(|_| ty.is_string() || *ty == SqlType::Xml);
        let mut text = text.ok_or(RowError::Corrupt { column })?;
        rest::pad(&mut text, &self.columns[column]);
        Ok(Value::Str(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::{ColumnType, ColumnValues, RowBytes};

    fn layout() -> RowLayout {
        let types = [SqlType::Int, SqlType::Char(6), SqlType::NVarChar(Length::Max), SqlType::VarBinary(Length::Max)];
        RowLayout::new(&types.map(|ty| ColumnType::new(ty, true)), &[])
    }

    #[test]
    fn content_goes_and_comes_back() {
        let layout = layout();
        for (column, value, bytes) in [
            (1, Value::Str("ab    ".into()), "ab".as_bytes()),
            (2, Value::Str("é 😀 ".into()), "é 😀 ".as_bytes()),
            (3, Value::Bin(vec![0, 255]), &[0, 255]),
        ] {
            let content = layout.content(column, &value).expect("a string or binary");
            assert_eq!(content, bytes);
            assert_eq!(layout.value_of(column, content.to_vec()), Ok(value));
        }
        assert_eq!(layout.content(0, &Value::Int(4)), None);
        assert_eq!(layout.content(2, &Value::Null), None);
        assert_eq!(layout.value_of(2, vec![0xC3]), Err(RowError::Corrupt { column: 2 }));
        assert_eq!(layout.value_of(0, vec![]), Err(RowError::Corrupt { column: 0 }));
    }

    #[test]
    fn a_mark_ends_each_rest() {
        let (plain, marked) = (layout(), layout().marked());
        let row = [Value::Int(4), Value::Null, Value::Str("x".into()), Value::Bin(vec![1])];
        let (mut without, mut with) = (Vec::new(), Vec::new());
        plain.encode_rest(|i| &row[i], &mut without).expect("a row");
        marked.encode_rest(|i| &row[i], &mut with).expect("a row");
        assert_eq!(with, [&without[..], &[0]].concat());
        let mut rows = RowBytes::default();
        marked.encode_rows(&row.each_ref().map(ColumnValues::Same), 2, &mut rows).expect("rows");
        assert_eq!(rows.bytes(), [&with[..], &with].concat());
        let texts = [Value::Str("x".into()), Value::Str("long".into())];
        let columns = [
            ColumnValues::Same(&row[0]),
            ColumnValues::Same(&row[1]),
            ColumnValues::Values(&texts),
            ColumnValues::Same(&row[3]),
        ];
        marked.encode_rows(&columns, 2, &mut rows).expect("rows");
        assert_eq!((rows.bytes().last(), rows.lengths()), (Some(&0), &[with.len() as u32, with.len() as u32 + 3][..]));
    }
}
