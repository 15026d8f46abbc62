//! Result sets that this crate makes itself: DBCC's and the system procedures'.

use pikepole_query::{ColumnInfo, Done, DoneKind, Output};
use pikepole_types::{Length, SqlError, SqlType, Value};

/// `sysname`, the type of names.
pub(crate) const NAME: SqlType = SqlType::NVarChar(Length::Limit(128));

/// `nvarchar(n)`.
pub(crate) const fn text(length: u16) -> SqlType {
    SqlType::NVarChar(Length::Limit(length))
}

/// Rows under construction, with their columns.
pub(crate) struct ResultSet {
    columns: Vec<ColumnInfo>,
    rows: Vec<Vec<Value>>,
}

impl ResultSet {
    /// An empty set with these columns, all of which may be NULL.
    pub(crate) fn new(columns: &[(&str, SqlType)]) -> Self {
        let column = |(name, ty): &(&str, SqlType)| ColumnInfo::new(*name, *ty, true);
        ResultSet { columns: columns.iter().map(column).collect(), rows: Vec::new() }
    }

    /// Adds a row.
    pub(crate) fn push(&mut self, row: Vec<Value>) {
        assert_eq!(row.len(), self.columns.len(), "a row has a value for each column");
        self.rows.push(row);
    }

    /// Its rows alone.
    pub(crate) fn into_rows(self) -> Vec<Vec<Value>> {
        self.rows
    }

    /// Sends the set.
    pub(crate) fn send(self, output: &mut dyn Output) {
        output.columns(&self.columns);
        for row in &self.rows {
            output.row(row);
        }
        output.done(Done { rows: Some(self.rows.len() as u64), kind: DoneKind::Select });
    }
}

/// A text value.
pub(crate) fn string(text: impl Into<String>) -> Value {
    Value::Str(text.into())
}

/// Sends an informational text.
pub(crate) fn print(output: &mut dyn Output, text: impl Into<String>) {
    output.message(&SqlError::new(0, 0, 1, text));
}
