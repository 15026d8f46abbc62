//! PRELOGIN and LOGIN7 as a client sends them.

use crate::error::TdsError;
use crate::login::PreLogin;
use crate::put::{Put, utf16_units};
use crate::version::TdsVersion;

/// Bytes before the texts.
const FIXED_BYTES: usize = 94;
/// A text of at most so many units may stand in a field.
const TEXT_UNITS_MAX: usize = 128;
/// ODBC's settings: ANSI_NULLS and its like are on; failing to use the database fails the login.
const FLAGS: [u8; 4] = [0xE0, 0x03, 0, 0];
/// English (United States).
const LANGUAGE_ID: u32 = 0x0409;

/// A PRELOGIN that says this about encryption.
pub fn client_pre_login(encryption: u8) -> Vec<u8> {
    // Two options (version, encryption): each its number, where its bytes are, how many.
    let mut out = vec![0, 0, 11, 0, 6, 1, 0, 17, 0, 1, 0xFF];
    out.extend_from_slice(&[0; 6]);
    out.push(encryption);
    out
}

/// What a server's answer to PRELOGIN says about encryption.
///
/// # Errors
/// As for a client's PRELOGIN, whose form it has.
pub fn encryption_of_reply(reply: &[u8]) -> Result<crate::ClientEncryption, TdsError> {
    PreLogin::parse(reply).map(|reply| reply.encryption)
}

/// What a client says at its login.
#[derive(Clone, Copy)]
pub struct ClientLogin<'a> {
    /// The protocol's version it asks for.
    pub version: TdsVersion,
    /// The packet size it asks for, in bytes.
    pub packet_bytes: u32,
    /// Its process.
    pub process: u32,
    /// Its computer.
    pub host: &'a str,
    /// The login's name.
    pub user: &'a str,
    /// The login's password.
    pub password: &'a str,
    /// Its program.
    pub application: &'a str,
    /// The server it means to reach.
    pub server: &'a str,
    /// The database to use; empty for the login's own.
    pub database: &'a str,
}

impl ClientLogin<'_> {
    /// The LOGIN7 message.
    ///
    /// # Errors
    /// [`TdsError::Limit`] for a text longer than the protocol allows.
    pub fn to_bytes(&self) -> Result<Vec<u8>, TdsError> {
        let library = concat!("pikepole ", env!("CARGO_PKG_VERSION"));
        let texts = [
            ("units of the host's name", self.host),
            ("units of the login's name", self.user),
            ("units of the password", self.password),
            ("units of the program's name", self.application),
            ("units of the server's name", self.server),
            ("", ""),
            ("", library),
            ("", ""),
            ("units of the database's name", self.database),
        ];
        let (mut places, mut data) = (Vec::new(), Vec::new());
        for (place, (what, text)) in texts.into_iter().enumerate() {
            let units = utf16_units(text);
            if units > TEXT_UNITS_MAX {
                return Err(TdsError::Limit { what, limit: TEXT_UNITS_MAX });
            }
            places.put_u16((FIXED_BYTES + data.len()) as u16);
            places.put_u16(units as u16);
            let begin = data.len();
            data.put_utf16(text);
            if place == 2 {
                // Obscured, not encrypted, as the protocol has it.
                data[begin..].iter_mut().for_each(|byte| *byte = byte.rotate_left(4) ^ 0xA5);
            }
        }
        let mut out = Vec::with_capacity(FIXED_BYTES + data.len());
        out.put_u32((FIXED_BYTES + data.len()) as u32);
        out.put_u32(self.version.number());
        out.put_u32(self.packet_bytes);
        out.put_u32(0);
        out.put_u32(self.process);
        out.put_u32(0);
        out.extend_from_slice(&FLAGS);
        out.put_u32(0);
        out.put_u32(LANGUAGE_ID);
        out.extend_from_slice(&places);
        // No id of the computer, no integrated login, no file, no new password.
        out.resize(FIXED_BYTES, 0);
        out.extend_from_slice(&data);
        Ok(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ClientEncryption, Login7};

    const LOGIN: ClientLogin<'static> = ClientLogin {
        version: TdsVersion::V7_4,
        packet_bytes: 8000,
        process: 7,
        host: "a host",
        user: "sa",
        password: "päss-wörd 1",
        application: "a program",
        server: "a server",
        database: "sales",
    };

    #[test]
    fn a_server_reads_what_a_client_writes() {
        let read = Login7::parse(&LOGIN.to_bytes().expect("it fits")).expect("a login");
        assert_eq!((read.version, read.packet_bytes, read.process), (LOGIN.version.number(), 8000, 7));
        assert_eq!((read.host.as_str(), read.user.as_str()), ("a host", "sa"));
        assert_eq!((read.password.reveal(), read.database.as_str()), ("päss-wörd 1", "sales"));
        assert_eq!((read.application.as_str(), read.server.as_str()), ("a program", "a server"));
        assert!(read.library.starts_with("pikepole ") && read.is_odbc && read.database_is_fatal);
        assert!(!read.is_integrated && read.features.is_empty() && read.new_password.is_none());
    }

    #[test]
    fn what_is_too_long_for_a_login_is_an_error() {
        let long = "x".repeat(TEXT_UNITS_MAX + 1);
        let login = ClientLogin { password: &long, ..LOGIN };
        assert_eq!(login.to_bytes(), Err(TdsError::Limit { what: "units of the password", limit: TEXT_UNITS_MAX }));
    }

    #[test]
    fn a_pre_login_says_what_is_encrypted() {
        for (byte, meaning) in
            [(0, ClientEncryption::Off), (1, ClientEncryption::On), (2, ClientEncryption::NotSupported)]
        {
            assert_eq!(encryption_of_reply(&client_pre_login(byte)), Ok(meaning));
        }
    }
}
