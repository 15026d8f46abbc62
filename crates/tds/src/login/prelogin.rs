//! PRELOGIN: a list of options, `token, offset, length` (big-endian) each, 0xFF, and the options' bytes.

use crate::error::TdsError;
use crate::read::Reader;

/// What a client says about encryption.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClientEncryption {
    /// Able, not wanted: only the login is to be encrypted.
    Off,
    /// Wanted for everything.
    On,
    /// Not able.
    NotSupported,
    /// Nothing works without it.
    Required,
}

/// What a server allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TlsPolicy {
    /// Everything is encrypted, or the client is turned away.
    Required,
    /// As the client wishes; its login is encrypted whenever it can.
    Optional,
    /// Nothing is encrypted.
    Off,
}

/// What is encrypted on a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Secrecy {
    /// Nothing.
    Plain,
    /// The LOGIN7 message alone.
    LoginOnly,
    /// All from the login on.
    Full,
    /// The two sides want what cannot go together: the connection is closed after the reply.
    Refused,
}

/// What both sides do, and the byte of the reply's ENCRYPTION option that says so to the client.
pub fn negotiate_encryption(client: ClientEncryption, policy: TlsPolicy) -> (u8, Secrecy) {
    const OFF: u8 = 0;
    const ON: u8 = 1;
    const NOT_SUPPORTED: u8 = 2;
    const REQUIRED: u8 = 3;
    match (policy, client) {
        (TlsPolicy::Off, ClientEncryption::Off | ClientEncryption::NotSupported) => (NOT_SUPPORTED, Secrecy::Plain),
        (TlsPolicy::Off, ClientEncryption::On | ClientEncryption::Required) => (NOT_SUPPORTED, Secrecy::Refused),
        (TlsPolicy::Optional, ClientEncryption::Off) => (OFF, Secrecy::LoginOnly),
        (TlsPolicy::Optional, ClientEncryption::NotSupported) => (NOT_SUPPORTED, Secrecy::Plain),
        (TlsPolicy::Optional | TlsPolicy::Required, ClientEncryption::On | ClientEncryption::Required) => {
            (ON, Secrecy::Full)
        }
        (TlsPolicy::Required, ClientEncryption::Off) => (REQUIRED, Secrecy::Full),
        (TlsPolicy::Required, ClientEncryption::NotSupported) => (REQUIRED, Secrecy::Refused),
    }
}

/// A client's PRELOGIN.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PreLogin {
    /// The client library's version, `0xMMmmbbbb`.
    pub version: u32,
    /// What the client says about encryption.
    pub encryption: ClientEncryption,
    /// The instance the client wants to reach, when it says so; the text may be empty.
    pub instance: Option<String>,
    /// The client's thread, for its own tracing.
    pub thread: u32,
    /// Whether the client wants several requests at once on the connection (MARS).
    pub mars: bool,
    /// The connection's trace id and the activity's, with its counter, as the client sent them.
    pub trace: Option<[u8; 36]>,
    /// Whether the client asks if federated authentication is required.
    pub asks_federated: bool,
}

impl PreLogin {
    /// Reads a PRELOGIN message.
    ///
    /// # Errors
    /// Options that point outside the message; a known option of a wrong length.
    pub fn parse(data: &[u8]) -> Result<PreLogin, TdsError> {
        let mut parsed = PreLogin {
            version: 0,
            encryption: ClientEncryption::NotSupported,
            instance: None,
            thread: 0,
            mars: false,
            trace: None,
            asks_federated: false,
        };
        let mut list = Reader::new(data);
        loop {
            let token = list.u8("PRELOGIN")?;
            if token == 0xFF {
                return Ok(parsed);
            }
            let offset = usize::from(u16::from_be_bytes(list.array("PRELOGIN")?));
            let length = usize::from(u16::from_be_bytes(list.array("PRELOGIN")?));
            let Some(bytes) = data.get(offset..offset + length) else {
                return Err(TdsError::malformed(format!("PRELOGIN option {token} lies outside the message")));
            };
            parsed.option(token, bytes)?;
        }
    }

    fn option(&mut self, token: u8, bytes: &[u8]) -> Result<(), TdsError> {
        let mut reader = Reader::new(bytes);
        match token {
            0 => self.version = u32::from_be_bytes(reader.array("the version of PRELOGIN")?),
            // The upper bits speak of client certificates, which are not asked for.
            1 => {
                self.encryption = match reader.u8("the encryption of PRELOGIN")? & 0x0F {
                    0 => ClientEncryption::Off,
                    1 => ClientEncryption::On,
                    2 => ClientEncryption::NotSupported,
                    3 => ClientEncryption::Required,
                    other => return Err(TdsError::malformed(format!("Encryption 0x{other:02X} is unknown"))),
                }
            }
            2 => {
                let name = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
                self.instance = Some(String::from_utf8_lossy(name).into_owned());
            }
            3 if bytes.len() >= 4 => self.thread = reader.u32("the thread of PRELOGIN")?,
            4 => self.mars = reader.u8("the MARS option of PRELOGIN")? != 0,
            5 => self.trace = bytes.first_chunk().copied(),
            6 => self.asks_federated = reader.u8("the federated option of PRELOGIN")? != 0,
            _ => {}
        }
        Ok(())
    }
}

/// The server's answer to PRELOGIN.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PreLoginReply {
    /// The server's version: major, minor, build.
    pub version: (u8, u8, u16),
    /// The byte from [`negotiate_encryption`].
    pub encryption: u8,
    /// Whether the client named an instance; the answer is that it is this one. There is a client that takes this answer for another option's
    /// when it has not asked.
    pub answer_instance: bool,
    /// Whether the client asked if federated authentication is required; the answer is no.
    pub answer_federated: bool,
    /// Whether the client is to multiplex sessions.
    pub mars: bool,
}

impl PreLoginReply {
    /// The reply's message. Any instance's name is accepted.
    pub fn to_bytes(&self) -> Vec<u8> {
        let (major, minor, build) = self.version;
        let [build_high, build_low] = build.to_be_bytes();
        let version = [major, minor, build_high, build_low, 0, 0];
        let encryption = [self.encryption];
        let mars = [u8::from(self.mars)];
        let mut options: Vec<(u8, &[u8])> = vec![(0, &version), (1, &encryption)];
        if self.answer_instance {
            options.push((2, &[0]));
        }
        options.extend([(3, &[][..]), (4, &mars)]);
        if self.answer_federated {
            options.push((6, &[0]));
        }
        let mut out = Vec::new();
        let mut offset = options.len() * 5 + 1;
        for (token, bytes) in &options {
            out.push(*token);
            out.extend_from_slice(&(offset as u16).to_be_bytes());
            out.extend_from_slice(&(bytes.len() as u16).to_be_bytes());
            offset += bytes.len();
        }
        out.push(0xFF);
        options.iter().for_each(|(_, bytes)| out.extend_from_slice(bytes));
        out
    }
}
