//! Result sets: columns, rows, and typed access to a row's values.

use crate::{Error, SqlType, Value};
use pikepole_types::to_text;
use std::sync::Arc;

/// One column of a result set.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// The name; empty when the expression has none.
    pub name: String,
    /// The T-SQL type.
    pub sql_type: SqlType,
    /// Whether the column can hold NULL.
    pub nullable: bool,
}

/// One row; it knows its columns.
#[derive(Debug, Clone)]
pub struct Row {
    columns: Arc<[Column]>,
    values: Vec<Value>,
}

impl Row {
    /// A row of these columns, a value each.
    pub fn new(columns: Arc<[Column]>, values: Vec<Value>) -> Self {
        Row { columns, values }
    }

    /// The values in the order of the columns.
    pub fn values(&self) -> &[Value] {
        &self.values
    }

    /// The value of a column, by name (without regard to case) or by place, as a Rust type.
    ///
    /// # Errors
    /// [`Error::Usage`] when there is no such column or its value does not fit the type.
    pub fn get<T: FromValue>(&self, column: impl ColumnIndex) -> Result<T, Error> {
        let place = column.place(&self.columns)?;
        T::from_value(&self.values[place]).ok_or_else(|| {
            let (name, kind) = (&self.columns[place].name, &self.columns[place].sql_type);
            Error::Usage(format!("column `{name}` of type {kind} does not fit {}", std::any::type_name::<T>()))
        })
    }

    /// The text of the value at `place`, as T-SQL's tools print it; NULL is `NULL`.
    pub fn text(&self, place: usize) -> String {
        match (self.values.get(place), self.columns.get(place)) {
            (Some(Value::Null) | None, _) => "NULL".to_string(),
            (Some(value), Some(column)) => to_text(value, &column.sql_type),
            (Some(_), None) => String::new(),
        }
    }
}

/// A column's name or place.
pub trait ColumnIndex {
    /// The place among `columns`.
    fn place(&self, columns: &[Column]) -> Result<usize, Error>;
}

impl ColumnIndex for usize {
    fn place(&self, columns: &[Column]) -> Result<usize, Error> {
        let none = || Error::Usage(format!("there is no column {self}; the result set has {}", columns.len()));
        (*self < columns.len()).then_some(*self).ok_or_else(none)
    }
}

impl ColumnIndex for &str {
    fn place(&self, columns: &[Column]) -> Result<usize, Error> {
        let place = columns.iter().position(|column| column.name.eq_ignore_ascii_case(self));
        place.ok_or_else(|| Error::Usage(format!("there is no column `{self}`")))
    }
}

/// A Rust type that a value can be read as.
pub trait FromValue: Sized {
    /// The value, or `None` when it does not fit.
    fn from_value(value: &Value) -> Option<Self>;
}

macro_rules! from_integers {
    ($($rust:ty),*) => {$(
        impl FromValue for $rust {
            fn from_value(value: &Value) -> Option<Self> {
                integer(value)?.try_into().ok()
            }
        }
    )*};
}

from_integers!(u8, i16, i32, i64, u32, u64);

fn integer(value: &Value) -> Option<i64> {
    match value {
        Value::Bit(bit) => Some(i64::from(*bit)),
        Value::TinyInt(number) => Some(i64::from(*number)),
        Value::SmallInt(number) => Some(i64::from(*number)),
        Value::Int(number) => Some(i64::from(*number)),
        Value::BigInt(number) => Some(*number),
        _ => None,
    }
}

impl FromValue for bool {
    fn from_value(value: &Value) -> Option<Self> {
        integer(value).map(|number| number != 0)
    }
}

impl FromValue for f64 {
    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Real(number) => Some(f64::from(*number)),
            Value::Float(number) => Some(*number),
            other => integer(other).map(|number| number as f64),
        }
    }
}

impl FromValue for String {
    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Str(text) => Some(text.clone()),
            _ => None,
        }
    }
}

impl FromValue for Vec<u8> {
    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Bin(bytes) => Some(bytes.clone()),
            Value::Guid(bytes) => Some(bytes.to_vec()),
            _ => None,
        }
    }
}

impl FromValue for Value {
    fn from_value(value: &Value) -> Option<Self> {
        Some(value.clone())
    }
}

impl<T: FromValue> FromValue for Option<T> {
    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Null => Some(None),
            other => T::from_value(other).map(Some),
        }
    }
}

/// A result set held in memory.
#[derive(Debug, Clone)]
pub struct Rows {
    columns: Vec<Column>,
    rows: Vec<Row>,
}

impl Rows {
    pub(crate) fn new(columns: Vec<Column>) -> Self {
        Rows { columns, rows: Vec::new() }
    }

    pub(crate) fn push(&mut self, row: Row) {
        self.rows.push(row);
    }

    /// The columns.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The rows in order.
    pub fn iter(&self) -> std::slice::Iter<'_, Row> {
        self.rows.iter()
    }
}

impl<'a> IntoIterator for &'a Rows {
    type Item = &'a Row;
    type IntoIter = std::slice::Iter<'a, Row>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl IntoIterator for Rows {
    type Item = Row;
    type IntoIter = std::vec::IntoIter<Row>;

    fn into_iter(self) -> Self::IntoIter {
        self.rows.into_iter()
    }
}
