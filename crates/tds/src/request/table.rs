//! Table-valued parameters: columns and rows inside a parameter.
//!
//! ```text
//!   0xF3 | database, schema, type: three texts | columns, or 0xFFFF for none
//!   0x10 order and uniqueness | 0x11 order of columns: both optional, both skipped
//!   0x00 | rows: 0x01 and the values of the columns that do not have their default | 0x00
//! ```

use crate::error::TdsError;
use crate::limits::Limits;
use crate::read::Reader;
use crate::value::{Place, TypeInfo};
use crate::version::TdsVersion;
use pikepole_types::Value;

const WHAT: &str = "a table-valued parameter";
const NO_COLUMNS: u16 = 0xFFFF;
/// The bit of a column's flags that says that its values are left out.
const DEFAULT_COLUMN: u16 = 0x200;

/// A column of a table-valued parameter.
#[derive(Debug, Clone, PartialEq)]
pub struct TableColumn {
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
    /// The columns; none when the client sent no table at all, which counts as an empty one.
    pub columns: Vec<TableColumn>,
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
    ) -> Result<TableArgument<'a>, TdsError> {
        if !reader.short_text(WHAT)?.is_empty() {
            return Err(TdsError::malformed("A table type is named with a database"));
        }
        let schema = reader.short_text(WHAT)?;
        let name = reader.short_text(WHAT)?;
        let columns = columns(reader, version, limits)?;
        skip_orders(reader)?;
        let mut table = TableArgument { schema, name, columns, row_count: 0, rows: reader.clone() };
        let mut row = Vec::new();
        while table.next_row(reader, &mut row)? {
            table.row_count += 1;
        }
        Ok(table)
    }

    /// Calls `each` with every row, in order. A column that has its default is NULL in it.
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
        (&self.schema, &self.name, &self.columns) == (&other.schema, &other.name, &other.columns)
            && rows(self) == rows(other)
    }
}

fn columns(reader: &mut Reader<'_>, version: TdsVersion, limits: &Limits) -> Result<Vec<TableColumn>, TdsError> {
    let count = reader.u16(WHAT)?;
    let mut columns = Vec::new();
    if count == NO_COLUMNS {
        return Ok(columns);
    }
    if usize::from(count) > limits.columns_max {
        return Err(TdsError::Limit { what: "columns of a table-valued parameter", limit: limits.columns_max });
    }
    for _ in 0..count {
        let _user_type = reader.u32(WHAT)?;
        let flags = reader.u16(WHAT)?;
        let info = TypeInfo::read(reader, version)?;
        let _name = reader.short_text(WHAT)?;
        columns.push(TableColumn { info, default: flags & DEFAULT_COLUMN != 0 });
    }
    Ok(columns)
}

/// What a client says about the order of rows and columns, up to the mark behind it. Rows are checked and sorted by the engine,
/// and columns come in the type's order.
fn skip_orders(reader: &mut Reader<'_>) -> Result<(), TdsError> {
    loop {
        match reader.u8(WHAT)? {
            0x00 => return Ok(()),
            0x10 => {
                let count = usize::from(reader.u16(WHAT)?);
                reader.take(count * 3, WHAT)?;
            }
            0x11 => {
                let count = usize::from(reader.u16(WHAT)?);
                let order = reader.take(count * 2, WHAT)?;
                let is_natural =
                    order.as_chunks::<2>().0.iter().zip(1..).all(|(at, own)| u16::from_le_bytes(*at) == own);
                if !is_natural {
                    return Err(TdsError::Unsupported("Another order of a table-valued parameter's columns".into()));
                }
            }
            other => return Err(TdsError::malformed(format!("0x{other:02X} stands before a table's rows"))),
        }
    }
}
