//! ALL_HEADERS: what stands before a request, from version 7.2 on.

use crate::error::TdsError;
use crate::read::Reader;
use crate::version::TdsVersion;

/// What a request's headers say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Headers {
    /// The transaction that the client believes to be in: the number that BEGIN's environment change told, 0 for none.
    pub transaction: u64,
    /// The client's activity and its counter, for tracing.
    pub activity: Option<([u8; 16], u32)>,
}

impl Headers {
    pub(crate) fn read(reader: &mut Reader<'_>, version: TdsVersion) -> Result<Headers, TdsError> {
        const WHAT: &str = "the headers of a request";
        let mut headers = Headers::default();
        if !version.is_wide() {
            return Ok(headers);
        }
        let total = (reader.u32(WHAT)? as usize).checked_sub(4).ok_or(TdsError::Truncated(WHAT))?;
        let mut all = Reader::new(reader.take(total, WHAT)?);
        while !all.is_empty() {
            let length = (all.u32(WHAT)? as usize).checked_sub(4).ok_or(TdsError::Truncated(WHAT))?;
            let mut header = Reader::new(all.take(length, WHAT)?);
            match header.u16(WHAT)? {
                2 => {
                    headers.transaction = header.u64(WHAT)?;
                    let _requests_open = header.u32(WHAT)?;
                }
                3 => headers.activity = Some((header.array(WHAT)?, header.u32(WHAT)?)),
                // Query notifications (1) are not offered: a client hears of no change, as when nothing changes.
                _ => {}
            }
        }
        Ok(headers)
    }
}
