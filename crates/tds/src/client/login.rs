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
/// The type flag of a client that means to read only.
const READ_ONLY: u8 = 0x20;
/// The third flags' bit of a login that changes its password.
const CHANGES_PASSWORD: u8 = 0x01;
/// Where in the fixed part the place of the new password stands.
const NEW_PASSWORD_AT: usize = 86;
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
    /// The password that the login is to have from now on.
    pub new_password: Option<&'a str>,
    /// It means to read only.
    pub is_read_only: bool,
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
            put_text(what, text, place == 2, &mut places, &mut data)?;
        }
        let mut new_password = Vec::new();
        put_text("units of the new password", self.new_password.unwrap_or(""), true, &mut new_password, &mut data)?;
        let mut out = Vec::with_capacity(FIXED_BYTES + data.len());
        out.put_u32((FIXED_BYTES + data.len()) as u32);
        out.put_u32(self.version.number());
        out.put_u32(self.packet_bytes);
        out.put_u32(0);
        out.put_u32(self.process);
        out.put_u32(0);
        let [flags1, flags2, type_flags, flags3] = FLAGS;
        let type_flags = type_flags | if self.is_read_only { READ_ONLY } else { 0 };
        let flags3 = flags3 | if self.new_password.is_some() { CHANGES_PASSWORD } else { 0 };
        out.extend_from_slice(&[flags1, flags2, type_flags, flags3]);
        out.put_u32(0);
        out.put_u32(LANGUAGE_ID);
        out.extend_from_slice(&places);
        // No id of the computer, no integrated login, no file.
        out.resize(NEW_PASSWORD_AT, 0);
        out.extend_from_slice(&new_password);
        out.resize(FIXED_BYTES, 0);
        out.extend_from_slice(&data);
        Ok(out)
    }
}

/// Appends a text to `data`, and where it is to `places`.
fn put_text(
    what: &'static str,
    text: &str,
    is_secret: bool,
    places: &mut Vec<u8>,
    data: &mut Vec<u8>,
) -> Result<(), TdsError> {
    let units = utf16_units(text);
    if units > TEXT_UNITS_MAX {
        return Err(TdsError::Limit { what, limit: TEXT_UNITS_MAX });
    }
    places.put_u16((FIXED_BYTES + data.len()) as u16);
    places.put_u16(units as u16);
    let begin = data.len();
    data.put_utf16(text);
    if is_secret {
        // Obscured, not encrypted, as the protocol has it.
        data[begin..].iter_mut().for_each(|byte| *byte = byte.rotate_left(4) ^ 0xA5);
    }
    Ok(())
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
        new_password: None,
        is_read_only: false,
    };

    #[test]
    fn a_server_reads_what_a_client_writes() {
        let read = Login7::parse(&LOGIN.to_bytes().expect("it fits")).expect("a login");
        assert_eq!((read.version, read.packet_bytes, read.process), (LOGIN.version.number(), 8000, 7));
        assert_eq!((read.host.as_str(), read.user.as_str()), ("a host", "sa"));
        assert_eq!((read.password.reveal(), read.database.as_str()), ("päss-wörd 1", "sales"));
        assert_eq!((read.application.as_str(), read.server.as_str()), ("a program", "a server"));
        assert!(read.library.starts_with("pikepole ") && read.is_odbc && read.database_is_fatal);
        assert!(!read.is_integrated && read.features.is_empty() && read.new_password.is_none() && !read.is_read_only);
        let changing = ClientLogin { new_password: Some("nëw-1"), is_read_only: true, ..LOGIN };
        let read = Login7::parse(&changing.to_bytes().expect("it fits")).expect("a login");
        assert_eq!(read.new_password.as_ref().map(|password| password.reveal()), Some("nëw-1"));
        assert_eq!((read.password.reveal(), read.is_read_only), (LOGIN.password, true));
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
