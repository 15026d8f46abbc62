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
use crate::put::Put;
use crate::read::Reader;
use crate::version::TdsVersion;
use pikepole_types::{Value, Variant};

const WHAT: &str = "a sql_variant";
/// The most bytes a value and its parameters have.
const BYTES_MAX: u32 = 8016;

/// Reads a `sql_variant` of a row.
pub(super) fn read_variant_value(reader: &mut Reader<'_>, value: &mut Value) -> Result<(), TdsError> {
    let (info, inner) = read_variant(reader)?;
    *value = Value::Null;
    if !inner.is_null() {
        // In UTF-8 a text may be longer than any other.
        let variant = Variant::new(info.sql_type(), inner).ok_or(TdsError::InvalidLength(T::Variant as u8))?;
        *value = Value::Variant(Box::new(variant));
    }
    Ok(())
}

/// Appends a `sql_variant`; `None` when it is longer than its type.
pub(super) fn put_variant(variant: &Variant, out: &mut Vec<u8>) -> Option<()> {
    let mut info = TypeInfo::of(variant.ty(), false, TdsVersion::V8_0);
    if info.token() == T::DecimalN {
        info = info.with_precision(info.precision(), info.scale());
    }
    let start = out.len();
    out.put_u32(0);
    out.put_u8(info.token() as u8);
    match info.token() {
        T::Time | T::DateTime2 | T::DateTimeOffset => out.extend_from_slice(&[1, info.scale()]),
        T::DecimalN => out.extend_from_slice(&[2, info.precision(), info.scale()]),
        T::VarBinary | T::Binary => {
            out.put_u8(2);
            out.put_u16(info.length() as u16);
        }
        T::VarChar | T::Char | T::NVarChar | T::NChar => {
            out.put_u8(7);
            out.extend_from_slice(&info.collation().to_bytes());
            out.put_u16(info.length() as u16);
        }
        _ => out.put_u8(0),
    }
    let data = out.len();
    match variant.value() {
        Value::Str(text) => info.put_text_bytes(text, out),
        Value::Bin(bytes) => out.extend_from_slice(bytes),
        small => info.put_small(small, out)?,
    }
    (out.len() - data <= info.length() as usize).then_some(())?;
    let length = u32::try_from(out.len() - start - 4).ok()?;
    out[start..start + 4].copy_from_slice(&length.to_le_bytes());
    Some(())
}

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
