//! The bytes of new rows, some of whose columns always have the same values, as pieces that machine code can put together.
//!
//! ```text
//!   rest: bytes, number of a column, bytes, number ...        key: bytes, number of a column ...
//! ```
//! A piece for each column that changes: a whole number, or one that a date or a time counts. Others have no pieces.

use super::{RowLayout, key, rest};
use crate::sql_type::SqlType;
use crate::value::Value;

/// A piece of a row's rest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RestPiece {
    /// The same in all rows.
    Bytes(Box<[u8]>),
    /// The number of a column; nothing if it is NULL, and then this bit is set, counted from the first byte's lowest one.
    Number {
        /// The column.
        column: usize,
        /// Its form.
        form: NumberForm,
        /// The bit; None: it is never NULL.
        null_bit: Option<usize>,
    },
}

/// The form of a number in a rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NumberForm {
    /// A byte.
    Byte,
    /// A varint of the number, which is not below zero.
    Varint,
    /// A varint of twice the number, or of the complement of that for one below zero.
    Zigzag,
}

/// A piece of a key. Each has its length.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyPiece {
    /// The same in all rows.
    Bytes(Box<[u8]>),
    /// The last bytes of a column's number, which is never NULL, the highest first.
    Number {
        /// The column.
        column: usize,
        /// Bytes of it.
        bytes: usize,
        /// The highest bit is turned.
        is_signed: bool,
        /// Then each bit is.
        descending: bool,
    },
}

/// The number that a value is, or counts; None: it is none of those in pieces.
pub fn number_of(value: &Value) -> Option<i64> {
    match value {
        Value::DateTime(time) => Some(time.ticks()),
        Value::DateTime2(time) => Some(time.ticks()),
        _ => value.as_i64(),
    }
}

impl NumberForm {
    /// None: values of this type are no numbers, or may be longer.
    fn of(ty: &SqlType) -> Option<NumberForm> {
        Some(match ty {
            SqlType::Bit | SqlType::TinyInt => NumberForm::Byte,
            SqlType::SmallInt | SqlType::Int | SqlType::BigInt | SqlType::DateTime => NumberForm::Zigzag,
            SqlType::DateTime2(_) => NumberForm::Varint,
            _ => return None,
        })
    }
}

impl RowLayout {
    /// The pieces of the rests of rows that have the values of `row` in the columns for which `is_constant` is true. The bits of columns that
    /// change and are NULL are to be set. None: a column that changes is no number, or the length of rows is limited by values.
    pub fn rest_recipe(&self, row: &[Value], is_constant: impl Fn(usize) -> bool) -> Option<Vec<RestPiece>> {
        if self.row_limit.is_some() {
            return None;
        }
        let mut bytes = vec![0; self.bitmap_bytes];
        for part in self.rest.iter().filter(|part| is_constant(part.column) && row[part.column].is_null()) {
            let bit = part.null_bit?;
            bytes[bit / 8] |= 1 << (bit % 8);
        }
        let mut pieces = Vec::new();
        for part in &self.rest {
            let (column, ty) = (part.column, &self.columns[part.column].ty);
            if !is_constant(column) {
                pieces.push(RestPiece::Bytes(std::mem::take(&mut bytes).into()));
                pieces.push(RestPiece::Number { column, form: NumberForm::of(ty)?, null_bit: part.null_bit });
            } else if !row[column].is_null() {
                rest::encode(&row[column], ty, column, &mut bytes).ok()?;
            }
        }
        if self.marked {
            bytes.push(0);
        }
        pieces.push(RestPiece::Bytes(bytes.into()));
        Some(pieces)
    }

    /// The same of their keys.
    pub fn key_recipe(&self, row: &[Value], is_constant: impl Fn(usize) -> bool) -> Option<Vec<KeyPiece>> {
        if self.key_limit.is_some() {
            return None;
        }
        let mut pieces = Vec::new();
        for part in &self.key {
            let (column, ty) = (part.column, &self.columns[part.column]);
            if is_constant(column) {
                let mut bytes = Vec::new();
                key::encode(&row[column], part, ty, &mut bytes).ok()?;
                pieces.push(KeyPiece::Bytes(bytes.into()));
                continue;
            }
            NumberForm::of(&ty.ty)?;
            let code = key::KeyCode::of(part, ty).filter(|_| !ty.nullable)?;
            let (bytes, is_signed) = (code.width, code.is_signed);
            pieces.push(KeyPiece::Number { column, bytes, is_signed, descending: part.descending });
        }
        Some(pieces)
    }
}
