//! Result sets: columns, rows, and typed access to a row's values.

use crate::{Error, SqlType, Value};
use pikepole_types::{Date, DateTime2, DateTimeOffset, Decimal, Time, to_text};
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
    pub fn get<T: FromSql>(&self, column: impl ColumnIndex) -> Result<T, Error> {
        let place = column.place(&self.columns)?;
        T::from_sql(&self.values[place]).ok_or_else(|| {
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
pub trait FromSql: Sized {
    /// The value, or `None` when it does not fit.
    fn from_sql(value: &Value) -> Option<Self>;
}

/// The types that `TryFrom` knows.
macro_rules! from_sql {
    ($($rust:ty),*) => {$(
        impl FromSql for $rust {
            fn from_sql(value: &Value) -> Option<Self> {
                value.try_into().ok()
            }
        }
    )*};
}

from_sql!(bool, i8, u8, i16, u16, i32, u32, i64, u64, isize, usize, i128, f32, f64, String, Vec<u8>);
from_sql!(Decimal, Date, Time, DateTime2, DateTimeOffset);

impl FromSql for Value {
    fn from_sql(value: &Value) -> Option<Self> {
        Some(value.clone())
    }
}

impl<T: FromSql> FromSql for Option<T> {
    fn from_sql(value: &Value) -> Option<Self> {
        match value {
            Value::Null => Some(None),
            other => T::from_sql(other).map(Some),
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
