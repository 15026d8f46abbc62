//! A batch of statements as text.

use super::Headers;
use crate::error::TdsError;
use crate::read::{Reader, text_of_utf16};
use crate::version::TdsVersion;

/// A batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SqlBatch {
    /// What stands before it.
    pub headers: Headers,
    /// The statements.
    pub text: String,
}

impl SqlBatch {
    /// Reads a message of the kind [`SqlBatch`](crate::PacketKind::SqlBatch).
    ///
    /// # Errors
    /// Headers or text that end too early.
    pub fn parse(data: &[u8], version: TdsVersion) -> Result<SqlBatch, TdsError> {
        let mut reader = Reader::new(data);
        let headers = Headers::read(&mut reader, version)?;
        Ok(SqlBatch { headers, text: text_of_utf16(reader.rest(), "the text of a batch")? })
    }
}
