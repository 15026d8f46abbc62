//! RETURNSTATUS and RETURNVALUE: what a procedure call gives back.

use super::columns::{USER_TYPE_NONE, put_user_type};
use crate::error::TdsError;
use crate::packet::MessageWriter;
use crate::put::Put;
use crate::value::{Place, TypeInfo, TypeToken, WireCollation};
use pikepole_types::{Collation, Length, SqlType, Value};

/// A parameter's value on its way back.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ReturnValue<'a> {
    /// It is the value of a function and no parameter.
    pub is_result: bool,
    /// The parameter's place in the call, from 0.
    pub ordinal: u16,
    /// Its name as the client wrote it.
    pub name: &'a str,
    /// Its type.
    pub ty: SqlType,
    /// Of a decimal: whether it is called `numeric`.
    pub numeric: bool,
    /// Of a text: that of the database.
    pub collation: Collation,
    /// The value.
    pub value: &'a Value,
}

impl MessageWriter {
    /// The status that a procedure returned.
    pub fn return_status(&mut self, status: i32) {
        self.pending.put_u8(0x79);
        self.pending.extend_from_slice(&status.to_le_bytes());
        self.cut();
    }

    /// An output parameter.
    ///
    /// # Errors
    /// A value that does not fit its type: nothing is written then.
    pub fn return_value(&mut self, returned: &ReturnValue<'_>) -> Result<(), TdsError> {
        let version = self.version;
        let mut ty = self.type_sent(returned.ty, returned.collation);
        let mut info = TypeInfo::of(&ty, true, version);
        if matches!(info.token(), TypeToken::Text | TypeToken::NText | TypeToken::Image) {
            // Such a type cannot be returned: an older client gets as much as a plain string or binary holds, or an error.
            ty = match ty {
                SqlType::VarChar(_) => SqlType::VarChar(Length::Limit(8000)),
                SqlType::NVarChar(_) => SqlType::NVarChar(Length::Limit(4000)),
                _ => SqlType::VarBinary(Length::Limit(8000)),
            };
            info = TypeInfo::of(&ty, true, version);
        }
        let info = if returned.numeric { info.called_numeric() } else { info };
        let info = info.with_collation(WireCollation::of(returned.collation));
        let out = &mut self.pending;
        let start = out.len();
        out.put_u8(0xAC);
        out.put_u16(returned.ordinal);
        out.put_short_text(returned.name);
        out.put_u8(if returned.is_result { 2 } else { 1 });
        put_user_type(out, USER_TYPE_NONE, version);
        out.put_u16(0);
        info.write(out);
        if info.put_value(&ty, returned.value, Place::Parameter, out).is_none() {
            out.truncate(start);
            return Err(TdsError::Unsendable(returned.ty.to_string()));
        }
        self.cut();
        Ok(())
    }
}
