//! OPENROWSET(BULK ..., SINGLE_BLOB) and its kin: a file as one value.

use super::read_ahead::OpenFile;
use pikepole_engine::Server;
use pikepole_types::{CodePage, Length, SqlError, SqlType, Value};

/// The mark of the byte order of UTF-16, little-endian.
const WIDE_MARK: [u8; 2] = [0xFF, 0xFE];

/// A value has at most so many bytes.
const VALUE_BYTES_MAX: u64 = i32::MAX as u64;

/// What the bytes are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueKind {
    /// SINGLE_BLOB
    Bytes,
    /// SINGLE_CLOB: characters of code page 1252.
    Text,
    /// SINGLE_NCLOB: UTF-16, with its mark.
    WideText,
}

impl ValueKind {
    /// The kind that an option of OPENROWSET names.
    pub(crate) fn of(option: &str) -> Option<ValueKind> {
        Some(match option {
            "SINGLE_BLOB" => ValueKind::Bytes,
            "SINGLE_CLOB" => ValueKind::Text,
            "SINGLE_NCLOB" => ValueKind::WideText,
            _ => return None,
        })
    }

    /// The type of the value.
    pub(crate) fn ty(self) -> SqlType {
        match self {
            ValueKind::Bytes => SqlType::VarBinary(Length::Max),
            ValueKind::Text => SqlType::VarChar(Length::Max),
            ValueKind::WideText => SqlType::NVarChar(Length::Max),
        }
    }

    /// The value of a file's bytes.
    ///
    /// # Errors
    /// 4806, 4809 for the other kind of text.
    fn value(self, bytes: Vec<u8>) -> Result<Value, SqlError> {
        let is_wide = bytes.starts_with(&WIDE_MARK);
        match self {
            ValueKind::Bytes => Ok(Value::Bin(bytes)),
            ValueKind::Text if is_wide => Err(SqlError::bulk_clob_is_unicode()),
            ValueKind::Text => {
                let mut text = String::with_capacity(bytes.len());
                CodePage::Western.decode(&bytes, &mut text);
                Ok(Value::Str(text))
            }
            ValueKind::WideText if !is_wide => Err(SqlError::bulk_nclob_is_not_unicode()),
            ValueKind::WideText => {
                let (units, _) = bytes[WIDE_MARK.len()..].as_chunks::<2>();
                let units = units.iter().map(|unit| u16::from_le_bytes(*unit));
                let text = char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER));
                Ok(Value::Str(text.collect()))
            }
        }
    }
}

/// A file that is one value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileValue {
    /// The name as it was written.
    pub(crate) name: String,
    /// What its bytes are.
    pub(crate) kind: ValueKind,
}

impl FileValue {
    /// Reads the file. Blocks.
    ///
    /// # Errors
    /// 4806, 4809; 4860, 4861, 4862.
    pub(crate) fn read(&self, server: &Server) -> Result<Value, SqlError> {
        let file = OpenFile::open(server, &self.name)?;
        let bytes = file.read_all_of(&self.name, VALUE_BYTES_MAX)?;
        self.kind.value(bytes)
    }
}
