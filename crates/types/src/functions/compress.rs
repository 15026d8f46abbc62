//! COMPRESS and DECOMPRESS: the format of gzip.

use super::Context;
use crate::convert;
use crate::error::SqlError;
use crate::memory::reserve_bytes;
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

/// Bytes that are read at once.
const PIECE_BYTES: usize = 64 << 10;

/// All that a reader gives, which may be far more than what it reads from.
fn read_all(mut from: impl Read) -> Result<Vec<u8>, SqlError> {
    let mut out = Vec::new();
    let mut piece = [0; PIECE_BYTES];
    loop {
        let count = from.read(&mut piece).map_err(|_| SqlError::invalid_data("varbinary"))?;
        if count == 0 {
            return Ok(out);
        }
        reserve_bytes(&mut out, count)?;
        out.extend_from_slice(&piece[..count]);
    }
}

/// Texts are compressed in their own encoding.
pub(super) fn compress(_: &mut Context, values: &[Value], types: &[SqlType]) -> Result<Value, SqlError> {
    let bytes = convert::convert(&values[0], &types[0], &SqlType::VarBinary(Length::Max), None)?;
    let Value::Bin(bytes) = bytes else { return Ok(Value::Null) };
    Ok(Value::Bin(read_all(GzEncoder::new(bytes.as_slice(), Compression::default()))?))
}

pub(super) fn decompress(_: &mut Context, values: &[Value], _: &[SqlType]) -> Result<Value, SqlError> {
    let Value::Bin(bytes) = &values[0] else { return Ok(Value::Null) };
    let out = read_all(GzDecoder::new(bytes.as_slice()).take(BYTES_MAX + 1))?;
    if out.len() as u64 > BYTES_MAX { Err(SqlError::invalid_data("varbinary")) } else { Ok(Value::Bin(out)) }
}
