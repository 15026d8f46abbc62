//! `sql_variant`: a value that brings its type along.
//!
//! ```text
//!   length (4 bytes, 0 is NULL) | type | count of the type's parameters | parameters | the value's bytes
//! ```
//!
//! The parameters are those of the type, in an order of their own: scale; precision and scale; length; collation and length.

use super::collation::WireCollation;
use super::type_info::{Framing, TypeInfo, TypeToken as T};
use crate::error::TdsError;
use crate::read::Reader;
use pikepole_types::Value;

const WHAT: &str = "a sql_variant";
/// The most bytes a value and its parameters have.
const BYTES_MAX: u32 = 8016;

/// Reads a `sql_variant` of a parameter: the type of its value, and the value.
pub(crate) fn read_variant(reader: &mut Reader<'_>) -> Result<(TypeInfo, Value), TdsError> {
    let length = reader.u32(WHAT)?;
    // NULL, also in the manner of the other long types.
    if length == 0 || length == u32::MAX {
        return Ok((TypeInfo::NULL, Value::Null));
    }
    if length > BYTES_MAX {
        return Err(TdsError::InvalidLength(T::Variant as u8));
    }
    let mut reader = Reader::new(reader.take(length as usize, WHAT)?);
    let [byte, count] = reader.array(WHAT)?;
    let token = T::from_byte(byte).ok_or(TdsError::UnknownType(byte))?;
    let mut parameters = Reader::new(reader.take(usize::from(count), WHAT)?);
    let bytes = reader.rest();
    let info = read_parameters(token, &mut parameters, bytes.len())?;
    if !parameters.is_empty() {
        return Err(TdsError::InvalidLength(byte));
    }
    let mut value = Value::Null;
    info.value_of(bytes, &mut value)?;
    Ok((info, value))
}

/// The type of a value of so many bytes.
fn read_parameters(token: T, parameters: &mut Reader<'_>, count: usize) -> Result<TypeInfo, TdsError> {
    let mut info = TypeInfo::bare(token);
    match token {
        T::Time | T::DateTime2 | T::DateTimeOffset => info = info.with_scale(parameters.u8(WHAT)?),
        T::DecimalN | T::NumericN => {
            let [precision, scale] = parameters.array(WHAT)?;
            info = info.with_precision(precision, scale);
        }
        T::VarBinary | T::Binary => info = info.with_length(parameters.u16(WHAT)?, WireCollation::DEFAULT),
        T::VarChar | T::Char | T::NVarChar | T::NChar => {
            let collation = WireCollation::read(parameters)?;
            info = info.with_length(parameters.u16(WHAT)?, collation);
        }
        T::Guid | T::Date => {}
        _ if matches!(info.framing(), Framing::Fixed(1..)) => {}
        _ => return Err(TdsError::InvalidLength(token as u8)),
    }
    // Never a (max) type, and no longer than it says.
    let is_long = info.framing() == Framing::Chunks || count > info.length() as usize;
    if is_long || !info.is_possible_anywhere() {
        return Err(TdsError::InvalidLength(token as u8));
    }
    Ok(info)
}
