//! LOGIN7: a fixed part, which says where the texts are, then the texts, then perhaps a list of features.
//!
//! ```text
//!   0  length      4  version   8 packet size  12 program version  16 process  20 connection
//!  24  flags (4)  28  time zone  32 language id
//!  36  offset and length (2 + 2 bytes) of: host, user, password, application, server, extension, library, language, database
//!  72  client id (6)  78 integrated login's bytes  82 file to attach  86 new password  90 integrated login's long length
//! ```

use super::recovery::KeptSession;
use crate::error::TdsError;
use crate::read::{Reader, text_of_utf16};

/// A text of at most so many units may stand in a field.
const TEXT_UNITS_MAX: usize = 128;

/// A password. It shows itself to nobody by accident.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Password(String);

impl Password {
    /// The password itself.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for Password {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("(hidden)")
    }
}

/// A feature that a client asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Feature {
    /// To resume a session whose connection breaks (1), and the session, if one did.
    SessionRecovery(Option<KeptSession>),
    /// A login by a token of another service (2). Not offered.
    FederatedAuthentication,
    /// Columns that only the client can decrypt (4), and the version it knows. Not offered.
    ColumnEncryption(u8),
    /// Transactions over several servers of a cloud (5). Not offered.
    GlobalTransactions,
    /// Labels of sensitivity beside result sets (9). Not offered.
    DataClassification,
    /// `varchar` in UTF-8 (10).
    Utf8Support,
    /// Any other, by its number.
    Other(u8),
}

/// A client's login.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Login7 {
    /// The protocol's version it asks for; see [`TdsVersion::negotiate`](crate::TdsVersion::negotiate).
    pub version: u32,
    /// The packet size it asks for, in bytes; 0 for the server's own.
    pub packet_bytes: u32,
    /// The client program's version.
    pub program_version: u32,
    /// The client's process.
    pub process: u32,
    /// The client's time zone, minutes to add to local time for UTC.
    pub time_zone_minutes: i32,
    /// The client's language id (LCID).
    pub language_id: u32,
    /// The client's computer.
    pub host: String,
    /// The login's name.
    pub user: String,
    /// The login's password.
    pub password: Password,
    /// The client's program.
    pub application: String,
    /// The server the client means to reach.
    pub server: String,
    /// The client's library.
    pub library: String,
    /// The language to set; empty for the login's own.
    pub language: String,
    /// The database to use; empty for the login's own.
    pub database: String,
    /// The new password of a login whose password is to be changed.
    pub new_password: Option<Password>,
    /// The client wants an integrated login, which is not offered.
    pub is_integrated: bool,
    /// The client behaves as ODBC does: ANSI settings are on from the start.
    pub is_odbc: bool,
    /// The login fails when the database cannot be used, instead of a warning.
    pub database_is_fatal: bool,
    /// The login fails when the language cannot be set, instead of a warning.
    pub language_is_fatal: bool,
    /// The client only reads.
    pub is_read_only: bool,
    /// The client copes with collations that it does not know.
    pub knows_unknown_collations: bool,
    /// The features it asks for.
    pub features: Vec<Feature>,
}

impl Login7 {
    /// Reads a LOGIN7 message.
    ///
    /// # Errors
    /// Bytes that are missing, fields that point outside the message, texts longer than the protocol allows.
    pub fn parse(data: &[u8]) -> Result<Login7, TdsError> {
        const WHAT: &str = "LOGIN7";
        let mut fixed = Reader::new(data);
        let length = fixed.u32(WHAT)? as usize;
        let Some(data) = data.get(..length) else { return Err(TdsError::Truncated(WHAT)) };
        let version = fixed.u32(WHAT)?;
        let packet_bytes = fixed.u32(WHAT)?;
        let program_version = fixed.u32(WHAT)?;
        let process = fixed.u32(WHAT)?;
        let _connection = fixed.u32(WHAT)?;
        let [flags1, flags2, type_flags, flags3] = fixed.array(WHAT)?;
        let time_zone_minutes = fixed.u32(WHAT)? as i32;
        let language_id = fixed.u32(WHAT)?;
        if flags1 & 0x0F != 0 {
            // Big-endian numbers, EBCDIC, VAX floats: nobody sends these any more.
            return Err(TdsError::Unsupported(
                "A client with other than little-endian numbers, ASCII and IEEE floats".into(),
            ));
        }
        let host = text(data, &mut fixed, "the host name of LOGIN7")?;
        let user = text(data, &mut fixed, "the user name of LOGIN7")?;
        let password = obscured(data, &mut fixed, "the password of LOGIN7")?;
        let application = text(data, &mut fixed, "the application name of LOGIN7")?;
        let server = text(data, &mut fixed, "the server name of LOGIN7")?;
        let (extension_at, extension_bytes) = (fixed.u16(WHAT)?, fixed.u16(WHAT)?);
        let library = text(data, &mut fixed, "the library name of LOGIN7")?;
        let language = text(data, &mut fixed, "the language of LOGIN7")?;
        let database = text(data, &mut fixed, "the database of LOGIN7")?;
        let _client_id: [u8; 6] = fixed.array(WHAT)?;
        let (_sspi_at, sspi_bytes) = (fixed.u16(WHAT)?, fixed.u16(WHAT)?);
        let (_file_at, file_units) = (fixed.u16(WHAT)?, fixed.u16(WHAT)?);
        if file_units > 0 {
            return Err(TdsError::Unsupported("Attaching a database file at login".into()));
        }
        // The fixed part ends here before 7.2.
        let is_wide = !(0x7000_0000..0x7200_0000).contains(&version);
        let new_password = if is_wide { Some(obscured(data, &mut fixed, "the new password of LOGIN7")?) } else { None };
        let features = match flags3 & 0x10 != 0 && extension_bytes > 0 {
            true => features_at(data, extension_at, extension_bytes)?,
            false => Vec::new(),
        };
        Ok(Login7 {
            version,
            packet_bytes,
            program_version,
            process,
            time_zone_minutes,
            language_id,
            host,
            user,
            password,
            application,
            server,
            library,
            language,
            database,
            new_password: new_password.filter(|_| flags3 & 0x01 != 0),
            is_integrated: flags2 & 0x80 != 0 || sspi_bytes > 0,
            is_odbc: flags2 & 0x02 != 0,
            database_is_fatal: flags1 & 0x40 != 0,
            language_is_fatal: flags2 & 0x01 != 0,
            is_read_only: type_flags & 0x20 != 0,
            knows_unknown_collations: flags3 & 0x08 != 0,
            features,
        })
    }
}

fn bytes_at<'a>(data: &'a [u8], at: u16, units: u16, what: &'static str) -> Result<&'a [u8], TdsError> {
    let (at, units) = (usize::from(at), usize::from(units));
    if units == 0 {
        return Ok(&[]);
    }
    if units > TEXT_UNITS_MAX {
        return Err(TdsError::Limit { what, limit: TEXT_UNITS_MAX });
    }
    data.get(at..at + units * 2).ok_or(TdsError::Truncated(what))
}

/// The text whose place stands next in the fixed part.
fn text(data: &[u8], fixed: &mut Reader<'_>, what: &'static str) -> Result<String, TdsError> {
    let (at, units) = (fixed.u16(what)?, fixed.u16(what)?);
    text_of_utf16(bytes_at(data, at, units, what)?, what)
}

fn obscured(data: &[u8], fixed: &mut Reader<'_>, what: &'static str) -> Result<Password, TdsError> {
    let (at, units) = (fixed.u16(what)?, fixed.u16(what)?);
    // Obscured, not encrypted: the halves of each byte are swapped and then every other bit is turned.
    let plain: Vec<u8> = bytes_at(data, at, units, what)?.iter().map(|byte| (byte ^ 0xA5).rotate_left(4)).collect();
    text_of_utf16(&plain, what).map(Password)
}

/// The features: where they are is said at the place that the extension's field points to.
fn features_at(data: &[u8], at: u16, bytes: u16) -> Result<Vec<Feature>, TdsError> {
    const WHAT: &str = "the features of LOGIN7";
    let extension = data.get(usize::from(at)..usize::from(at) + usize::from(bytes)).ok_or(TdsError::Truncated(WHAT))?;
    let start = Reader::new(extension).u32(WHAT)? as usize;
    let mut reader = Reader::new(data.get(start..).ok_or(TdsError::Truncated(WHAT))?);
    let mut features = Vec::new();
    loop {
        let id = reader.u8(WHAT)?;
        if id == 0xFF {
            return Ok(features);
        }
        let length = reader.u32(WHAT)? as usize;
        let data = reader.take(length, WHAT)?;
        features.push(match id {
            1 => Feature::SessionRecovery(KeptSession::parse(data)?),
            2 => Feature::FederatedAuthentication,
            4 => Feature::ColumnEncryption(data.first().copied().unwrap_or(0)),
            5 => Feature::GlobalTransactions,
            9 => Feature::DataClassification,
            10 => Feature::Utf8Support,
            other => Feature::Other(other),
        });
        if features.len() > 64 {
            return Err(TdsError::Limit { what: WHAT, limit: 64 });
        }
    }
}
