//! COMPRESS and DECOMPRESS: the format of gzip.

use super::Context;
use crate::convert;
use crate::error::SqlError;
use crate::sql_type::{Length, SqlType};
use crate::value::Value;
use flate2::Compression;
use flate2::read::{GzDecoder, GzEncoder};
use std::io::Read;

/// The longest value of all.
const BYTES_MAX: u64 = i32::MAX as u64;

pub(super) fn compress_type(types: &[SqlType]) -> Result<SqlType, SqlError> {
    match types[0] {
        ty if ty.is_string() || ty.is_binary() || ty == SqlType::Null => Ok(SqlType::VarBinary(Length::Max)),
        ty => Err(SqlError::argument_type_invalid(ty.error_name(), 1, "Compress")),
    }
}

pub(super) fn decompress_type(types: &[SqlType]) -> Result<SqlType, SqlError> {
    match types[0] {
        ty if ty.is_binary() || ty == SqlType::Null => Ok(SqlType::VarBinary(Length::Max)),
        ty => Err(SqlError::argument_type_invalid(ty.error_name(), 1, "Decompress")),
    }
}

/// Texts are compressed in their own encoding.
pub(super) fn compress(_: &mut Context, values: &[Value], types: &[SqlType]) -> Result<Value, SqlError> {
    let bytes = convert::convert(&values[0], &types[0], &SqlType::VarBinary(Length::Max), None)?;
    let Value::Bin(bytes) = bytes else { return Ok(Value::Null) };
    let mut out = Vec::new();
    let written = GzEncoder::new(bytes.as_slice(), Compression::default()).read_to_end(&mut out);
    written.map_err(|_| SqlError::invalid_data("varbinary"))?;
    Ok(Value::Bin(out))
}

pub(super) fn decompress(_: &mut Context, values: &[Value], _: &[SqlType]) -> Result<Value, SqlError> {
    let Value::Bin(bytes) = &values[0] else { return Ok(Value::Null) };
    let mut out = Vec::new();
    let read = GzDecoder::new(bytes.as_slice()).take(BYTES_MAX + 1).read_to_end(&mut out);
    match read {
        Ok(count) if count as u64 <= BYTES_MAX => Ok(Value::Bin(out)),
        _ => Err(SqlError::invalid_data("varbinary")),
    }
}
