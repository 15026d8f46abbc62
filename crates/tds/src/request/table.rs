//! Table-valued parameters: columns and rows inside a parameter.
//!
//! ```text
//!   0xF3 | database, schema, type: three texts | columns, or 0xFFFF for NULL
//!   0x10 order and uniqueness | 0x11 order of columns: both optional, each once at most, in any order
//!   0x00 | rows: 0x01 and the values of the columns that do not have their default | 0x00
//! ```
//!
//! What a client says about the order of rows is a hint: the engine sorts and checks itself. The order of columns is a list of
//! the columns as they were sent, in the order of the type's: it must name each once.

use crate::error::TdsError;
use crate::limits::Limits;
use crate::read::Reader;
use crate::value::{Place, TypeInfo};
use crate::version::TdsVersion;
use pikepole_types::{CodePage, Value};

const WHAT: &str = "a table-valued parameter";
const NO_COLUMNS: u16 = 0xFFFF;
/// The bit of a column's flags that says that its values are left out.
const DEFAULT_COLUMN: u16 = 0x200;

/// A column of a table-valued parameter.
#[derive(Debug, Clone, PartialEq)]
pub struct TableColumn {
    /// Its name; most clients send none.
    pub name: String,
    /// Its type.
    pub info: TypeInfo,
    /// Every row has the type's own default here, and rows carry no value of it.
    pub default: bool,
}

/// A table-valued parameter. Its rows are checked, and read when they are asked for: there may be many.
#[derive(Debug, Clone)]
pub struct TableArgument<'a> {
    /// The schema of the table type; empty when the client names none.
    pub schema: String,
    /// The name of the table type.
    pub name: String,
    /// The columns as they were sent, which is the order of the values in a row.
    pub columns: Vec<TableColumn>,
    /// NULL in the place of a table: there are no columns and no rows.
    pub is_null: bool,
    /// The places among [`TableArgument::columns`] of the type's columns, in the type's order.
    pub order: Vec<usize>,
    /// How many rows there are.
    pub row_count: usize,
    /// The rows' bytes, up to the end of the message.
    rows: Reader<'a>,
}

impl<'a> TableArgument<'a> {
    /// Reads what follows the type's byte.
    pub(crate) fn read(
        reader: &mut Reader<'a>,
        version: TdsVersion,
        limits: &Limits,
        page: CodePage,
    ) -> Result<TableArgument<'a>, TdsError> {
        if !reader.short_text(WHAT)?.is_empty() {
            return Err(TdsError::TableTypeOfDatabase);
        }
        let schema = reader.short_text(WHAT)?;
        let name = reader.short_text(WHAT)?;
        let sent = columns(reader, version, limits, page)?;
        let is_null = sent.is_none();
        let columns = sent.unwrap_or_default();
        let order = orders(reader, &columns)?;
        let mut table = TableArgument { schema, name, columns, is_null, order, row_count: 0, rows: reader.clone() };
        let mut row = Vec::new();
        while table.next_row(reader, &mut row)? {
            if is_null {
                return Err(TdsError::malformed("A table that is NULL has rows"));
            }
            table.row_count += 1;
        }
        Ok(table)
    }

    /// Calls `each` with every row, its values in the order of [`TableArgument::columns`]. A column that has its default is NULL.
    ///
    /// # Errors
    /// The first error of `each`.
    pub fn rows<E>(&self, mut each: impl FnMut(&[Value]) -> Result<(), E>) -> Result<(), E> {
        let mut reader = self.rows.clone();
        let mut row = Vec::new();
        // Checked when the parameter was read: an error cannot come here.
        while self.next_row(&mut reader, &mut row).unwrap_or(false) {
            each(&row)?;
        }
        Ok(())
    }

    /// Reads a row into `row`, whose buffers are used again; false at the end of the rows.
    fn next_row(&self, reader: &mut Reader<'a>, row: &mut Vec<Value>) -> Result<bool, TdsError> {
        match reader.u8(WHAT)? {
            0x00 => return Ok(false),
            0x01 => {}
            other => return Err(TdsError::malformed(format!("A table's row begins with 0x{other:02X}"))),
        }
        row.resize(self.columns.len(), Value::Null);
        for (column, value) in self.columns.iter().zip(row) {
            if !column.default {
                column.info.read_value(reader, Place::Parameter, value)?;
            }
        }
        Ok(true)
    }
}

impl PartialEq for TableArgument<'_> {
    fn eq(&self, other: &TableArgument<'_>) -> bool {
        let rows = |table: &TableArgument<'_>| {
            let mut rows = Vec::new();
            let _ = table.rows(|row| {
                rows.push(row.to_vec());
                Ok::<(), ()>(())
            });
            rows
        };
        (&self.schema, &self.name, &self.columns, self.is_null, &self.order)
            == (&other.schema, &other.name, &other.columns, other.is_null, &other.order)
            && rows(self) == rows(other)
    }
}

/// The columns; `None` for NULL.
fn columns(
    reader: &mut Reader<'_>,
    version: TdsVersion,
    limits: &Limits,
    page: CodePage,
) -> Result<Option<Vec<TableColumn>>, TdsError> {
    let count = reader.u16(WHAT)?;
    let mut columns = Vec::new();
    if count == NO_COLUMNS {
        return Ok(None);
    }
    if usize::from(count) > limits.columns_max {
        return Err(TdsError::Limit { what: "columns of a table-valued parameter", limit: limits.columns_max });
    }
    for _ in 0..count {
        let _user_type = reader.u32(WHAT)?;
        let flags = reader.u16(WHAT)?;
        let info = TypeInfo::read_sent(reader, version)?.or_page(page);
        let name = reader.short_text(WHAT)?;
        columns.push(TableColumn { name, info, default: flags & DEFAULT_COLUMN != 0 });
    }
    Ok(Some(columns))
}

/// What a client says about the order of rows and columns, up to the mark behind it: the order of columns.
fn orders(reader: &mut Reader<'_>, columns: &[TableColumn]) -> Result<Vec<usize>, TdsError> {
    let (mut rows, mut order) = (false, None);
    loop {
        match reader.u8(WHAT)? {
            0x00 => return Ok(order.unwrap_or_else(|| (0..columns.len()).collect())),
            0x10 if !rows => {
                rows = true;
                order_of_rows(reader, columns)?;
            }
            0x11 if order.is_none() => order = Some(order_of_columns(reader, columns.len())?),
            other => return Err(TdsError::malformed(format!("0x{other:02X} stands before a table's rows"))),
        }
    }
}

/// Columns that rows are sorted by, or that make them unique: each is one of those that were sent with values.
fn order_of_rows(reader: &mut Reader<'_>, columns: &[TableColumn]) -> Result<(), TdsError> {
    const ASCENDING_AND_DESCENDING: u8 = 0x03;
    const MEANINGS: u8 = 0x07;
    for _ in 0..reader.u16(WHAT)? {
        let (column, flags) = (reader.u16(WHAT)?, reader.u8(WHAT)?);
        let known = usize::from(column).checked_sub(1).and_then(|at| columns.get(at));
        let means = flags & MEANINGS;
        if known.is_none_or(|column| column.default) || means == 0 || means & ASCENDING_AND_DESCENDING == 3 {
            return Err(TdsError::malformed("The order of a table's rows names a column wrongly"));
        }
    }
    Ok(())
}

fn order_of_columns(reader: &mut Reader<'_>, count: usize) -> Result<Vec<usize>, TdsError> {
    let wrong = || TdsError::malformed("The order of a table's columns does not name each once");
    if usize::from(reader.u16(WHAT)?) != count {
        return Err(wrong());
    }
    let mut order = Vec::with_capacity(count);
    let mut named = vec![false; count];
    for _ in 0..count {
        let at = usize::from(reader.u16(WHAT)?).checked_sub(1).ok_or_else(wrong)?;
        if std::mem::replace(named.get_mut(at).ok_or_else(wrong)?, true) {
            return Err(wrong());
        }
        order.push(at);
    }
    Ok(order)
}
