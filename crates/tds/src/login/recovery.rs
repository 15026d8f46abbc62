//! What a client keeps of a session whose connection broke, and brings along when it logs in again ([MS-TDS] 2.2.6.4 and 2.2.7.21,
//! SESSIONRECOVERY; drivers call it idle connection resiliency).
//!
//! ```text
//!   bytes (4) | as it began:    database | collation | language | states
//!   bytes (4) | changed since:  database | collation | language | states      a state: number (1) | bytes (1, or FF and 4) | value
//! ```

use crate::error::TdsError;
use crate::read::Reader;

const WHAT: &str = "the session to recover of LOGIN7";
/// The bytes of a collation; or there is none.
const COLLATION_BYTES: usize = 5;
/// A state longer than this says so in four bytes more.
const SHORT_STATE_BYTES_MAX: u8 = 0xFE;

/// A session as a client left it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct KeptSession {
    /// Its database; empty for the login's.
    pub database: String,
    /// Its language; empty for the login's.
    pub language: String,
    /// Its states as the server had sent them, by their numbers; each number once.
    pub states: Vec<(u8, Vec<u8>)>,
}

impl KeptSession {
    /// Reads a feature's data: none when the client asks for sessions that can be recovered, and has none yet.
    pub(super) fn parse(data: &[u8]) -> Result<Option<KeptSession>, TdsError> {
        if data.is_empty() {
            return Ok(None);
        }
        let mut reader = Reader::new(data);
        let mut kept = KeptSession::default();
        // What has changed since stands last, and wins.
        for _ in 0..2 {
            let bytes = reader.u32(WHAT)? as usize;
            kept.take(&mut Reader::new(reader.take(bytes, WHAT)?))?;
        }
        match reader.is_empty() {
            true => Ok(Some(kept)),
            false => Err(TdsError::malformed(format!("{WHAT} is longer than it says"))),
        }
    }

    fn take(&mut self, reader: &mut Reader<'_>) -> Result<(), TdsError> {
        let database = reader.short_text(WHAT)?;
        match usize::from(reader.u8(WHAT)?) {
            0 => {}
            // The database's own is the session's.
            COLLATION_BYTES => drop(reader.take(COLLATION_BYTES, WHAT)?),
            bytes => return Err(TdsError::malformed(format!("{WHAT} has a collation of {bytes} bytes"))),
        }
        let language = reader.short_text(WHAT)?;
        if !database.is_empty() {
            self.database = database;
        }
        if !language.is_empty() {
            self.language = language;
        }
        while !reader.is_empty() {
            let number = reader.u8(WHAT)?;
            let bytes = match reader.u8(WHAT)? {
                bytes @ ..=SHORT_STATE_BYTES_MAX => usize::from(bytes),
                _ => reader.u32(WHAT)? as usize,
            };
            let value = reader.take(bytes, WHAT)?.to_vec();
            match self.states.iter_mut().find(|(known, _)| *known == number) {
                Some(state) => state.1 = value,
                None => self.states.push((number, value)),
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data(database: &str, collation: &[u8], language: &str, states: &[u8]) -> Vec<u8> {
        let text = |text: &str| {
            let units: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
            [vec![(units.len() / 2) as u8], units].concat()
        };
        let body = [text(database), vec![collation.len() as u8], collation.to_vec(), text(language), states.to_vec()];
        let body = body.concat();
        [&(body.len() as u32).to_le_bytes()[..], &body].concat()
    }

    #[test]
    fn what_changed_since_wins() {
        let began = data("master", &[9, 4, 0xD0, 0, 0x34], "us_english", &[0, 2, 7, 8, 3, 0]);
        let changed = data("shop", &[], "", &[0, 2, 9, 9, 5, 0xFF, 1, 0, 0, 0, 42]);
        let kept = KeptSession::parse(&[began.clone(), changed].concat()).expect("well formed").expect("a session");
        assert_eq!((kept.database.as_str(), kept.language.as_str()), ("shop", "us_english"));
        assert_eq!(kept.states, [(0, vec![9, 9]), (3, vec![]), (5, vec![42])]);
        assert_eq!(KeptSession::parse(&[]).expect("it only asks"), None);

        let none = data("", &[], "", &[]);
        for broken in [
            began.clone(),
            [began.clone(), none.clone(), vec![0]].concat(),
            [data("", &[1], "", &[]), none.clone()].concat(),
            [data("", &[], "", &[1, 9, 0]), none.clone()].concat(),
            [data("", &[], "", &[1, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 1]), none].concat(),
        ] {
            assert!(KeptSession::parse(&broken).is_err(), "{broken:?}");
        }
    }
}
