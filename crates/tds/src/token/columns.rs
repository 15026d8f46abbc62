//! COLMETADATA, ROW, NBCROW, ORDER: result sets.

use crate::error::TdsError;
use crate::packet::{KEPT_BYTES_MAX, MessageWriter};
use crate::put::Put;
use crate::value::{Place, TypeInfo, TypeToken, WireCollation};
use crate::version::TdsVersion;
use pikepole_types::{Collation, SqlType, Value};

const COLUMNS: u8 = 0x81;
const ORDER: u8 = 0xA9;
const ROW: u8 = 0xD1;
const ROW_WITH_BITMAP: u8 = 0xD2;
/// The count that says: no metadata.
const NO_COLUMNS: u16 = 0xFFFF;

/// The user type of what has none.
pub(super) const USER_TYPE_NONE: u16 = 0;
/// The user type of a rowversion.
const USER_TYPE_TIMESTAMP: u16 = 80;

/// What a client is told about a column beside its type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ColumnFlags {
    /// May hold NULL.
    pub nullable: bool,
    /// Has texts that differ where only their case does.
    pub case_sensitive: bool,
    /// Has the IDENTITY property.
    pub identity: bool,
    /// Is computed or an expression.
    pub computed: bool,
    /// Perhaps can be updated: nobody has looked, as of rows that come without a cursor. Clients take bulk loads for such columns only.
    pub updateable: bool,
    /// Is not part of what was asked for, but of a cursor's key.
    pub hidden: bool,
    /// Is part of the key (of a cursor's row).
    pub key: bool,
    /// Is a rowversion: not a flag of its own, but a user type, which is the only one that drivers look for.
    pub rowversion: bool,
    /// Of a decimal: is called `numeric`. Not a flag of its own either, but a type of the wire.
    pub numeric: bool,
}

impl ColumnFlags {
    pub(crate) fn bits(self) -> u16 {
        u16::from(self.nullable)
            | u16::from(self.case_sensitive) << 1
            | u16::from(self.updateable) << 3
            | u16::from(self.identity) << 4
            | u16::from(self.computed) << 5
            | u16::from(self.hidden) << 13
            | u16::from(self.key) << 14
    }
}

/// A column of a result set, as it is sent.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    name: String,
    ty: SqlType,
    info: TypeInfo,
    flags: ColumnFlags,
}

impl Column {
    /// A column of a type, for clients of a version.
    pub fn new(name: impl Into<String>, ty: SqlType, flags: ColumnFlags, version: TdsVersion) -> Column {
        let info = TypeInfo::of(&ty, flags.nullable, version);
        let info = if flags.numeric { info.called_numeric() } else { info };
        Column { name: name.into(), ty, info, flags }
    }

    /// Makes this another column; the name's room is used again.
    pub fn set(&mut self, name: &str, ty: SqlType, flags: ColumnFlags, version: TdsVersion) {
        let mut kept = std::mem::take(&mut self.name);
        name.clone_into(&mut kept);
        *self = Column::new(kept, ty, flags, version);
    }

    /// Gives the column a collation, which strings alone have.
    pub fn set_collation(&mut self, collation: Collation) {
        self.info = self.info.with_collation(WireCollation::of(collation));
    }

    /// The column's values are no longer than so many bytes if they are of `text`, `ntext` or `image`.
    pub fn set_text_bytes_max(&mut self, bytes: u32) {
        self.info = self.info.with_text_bytes_max(bytes);
    }

    /// The column's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The column's type.
    pub fn sql_type(&self) -> &SqlType {
        &self.ty
    }

    /// The type it is sent as.
    pub fn info(&self) -> &TypeInfo {
        &self.info
    }
}

/// The token of a result set's columns as it was written, to be written again.
#[derive(Debug, Default)]
pub struct ColumnsToken(Vec<u8>);

impl MessageWriter {
    /// A result set begins.
    pub fn columns(&mut self, columns: &[Column]) {
        self.put_columns(columns);
        self.cut();
    }

    /// The same, and keeps what is written.
    pub fn columns_kept(&mut self, columns: &[Column], token: &mut ColumnsToken) {
        let start = self.pending.len();
        self.put_columns(columns);
        token.0.clear();
        token.0.extend_from_slice(&self.pending[start..]);
        self.cut();
    }

    /// A result set begins with the columns of one before.
    pub fn columns_again(&mut self, token: &ColumnsToken) {
        self.pending.extend_from_slice(&token.0);
        self.cut();
    }

    fn put_columns(&mut self, columns: &[Column]) {
        let version = self.version;
        let out = &mut self.pending;
        out.put_u8(COLUMNS);
        out.put_u16(columns.len() as u16);
        for column in columns {
            put_user_type(out, if column.flags.rowversion { USER_TYPE_TIMESTAMP } else { USER_TYPE_NONE }, version);
            out.put_u16(column.flags.bits());
            column.info.write(out);
            if matches!(column.info.token(), TypeToken::Text | TypeToken::NText | TypeToken::Image) {
                // The name of the column's table, empty: nothing that a client could write to through it. Drivers take no name of
                // no parts.
                if version.is_wide() {
                    out.put_u8(1);
                }
                out.put_u16(0);
            }
            out.put_short_text(&column.name);
        }
    }

    /// A result set begins whose columns the client knows, or which has none.
    pub fn no_columns(&mut self) {
        self.pending.put_u8(COLUMNS);
        self.pending.put_u16(NO_COLUMNS);
        self.cut();
    }

    /// The columns that the rows are ordered by, from 1.
    pub fn order(&mut self, columns: &[u16]) {
        let out = &mut self.pending;
        out.put_u8(ORDER);
        out.put_u16((columns.len() * 2) as u16);
        columns.iter().for_each(|column| out.put_u16(*column));
        self.cut();
    }

    /// One row. Where the version allows and it saves bytes, NULLs travel as a bitmap.
    ///
    /// # Errors
    /// A value that does not fit its column, or a wrong number of them: nothing is written then.
    pub fn row(&mut self, columns: &[Column], values: &[Value]) -> Result<(), TdsError> {
        let start = self.pending.len();
        let written = self.put_row(columns, values);
        if written.is_err() {
            self.pending.truncate(start);
        }
        self.cut();
        written
    }

    fn put_row(&mut self, columns: &[Column], values: &[Value]) -> Result<(), TdsError> {
        if columns.len() != values.len() {
            return Err(TdsError::Unsendable(format!("row of {} columns", columns.len())));
        }
        let has_bitmap = self.version.has_null_bitmap() && saves_bytes(columns, values);
        let out = &mut self.pending;
        let long = values.iter().map(Value::text_bytes).sum::<usize>();
        if long > KEPT_BYTES_MAX {
            // At once, as for the packets: a byte of a value takes two at most, and what stands around a value 64.
            out.reserve(long * 2 + values.len() * 64);
        }
        if has_bitmap {
            out.put_u8(ROW_WITH_BITMAP);
            for eight in values.chunks(8) {
                let bits = eight.iter().enumerate().fold(0, |bits, (at, value)| bits | u8::from(value.is_null()) << at);
                out.put_u8(bits);
            }
        } else {
            out.put_u8(ROW);
        }
        for (column, value) in columns.iter().zip(values) {
            if has_bitmap && value.is_null() && column.flags.nullable {
                continue;
            }
            column
                .info
                .put_value(&column.ty, value, Place::Row, out)
                .ok_or_else(|| TdsError::Unsendable(column.ty.to_string()))?;
        }
        Ok(())
    }
}

/// Whether a bitmap is shorter than the NULLs it leaves out.
fn saves_bytes(columns: &[Column], values: &[Value]) -> bool {
    let bitmap = values.len().div_ceil(8);
    let mut saved = 0;
    for (column, value) in columns.iter().zip(values) {
        if value.is_null() {
            saved += column.info.null_bytes();
            if saved > bitmap {
                return true;
            }
        }
    }
    false
}

/// The user type.
pub(super) fn put_user_type(out: &mut Vec<u8>, user_type: u16, version: TdsVersion) {
    if version.is_wide() {
        out.put_u32(user_type.into());
    } else {
        out.put_u16(user_type);
    }
}
