//! From nothing to a session: socket, TLS, PRELOGIN, LOGIN7.

use crate::connection::Connection;
use crate::wire::{self, Reader, Wire};
use crate::{ClientError, ConnectOptions, Encryption, tls};
use pikepole_contention::sync::Arc;
use pikepole_tds::{
    ClientEncryption, ClientLogin, PACKET_BYTES_DEFAULT, PacketKind, ReplyToken, TdsError, TdsVersion, TokenReader,
    client_pre_login, encryption_of_reply,
};
use std::io;
use std::net::TcpStream;

/// What PRELOGIN says about encryption.
const ON: u8 = 1;
const NOT_SUPPORTED: u8 = 2;
/// The size of packets that is asked for.
const PACKET_BYTES: u32 = 8000;
/// Bytes of a message before the login is through.
const ANSWER_BYTES_MAX: usize = 1 << 20;

impl Connection {
    /// Connects and logs in.
    ///
    /// # Errors
    /// Nobody who answers, a certificate that is not believed, a login that is refused.
    pub fn connect(options: &ConnectOptions) -> Result<Connection, ClientError> {
        let socket = socket(options)?;
        let unreachable = |error| ClientError::Unreachable { address: options.address.to_string(), error };
        socket.set_nodelay(true).map_err(unreachable)?;
        socket.set_read_timeout(Some(options.login_time)).map_err(unreachable)?;
        let (version, encryption, tls) = match &options.encryption {
            Encryption::Off => (TdsVersion::V7_4, NOT_SUPPORTED, None),
            Encryption::Strict(trust) => {
                let mut tls = tls::client(&options.address, trust)?;
                while tls.is_handshaking() {
                    tls.complete_io(&mut &socket).map_err(|error| refused(options, &error))?;
                }
                (TdsVersion::V8_0, ON, Some(tls))
            }
        };
        let wire = Arc::new(Wire::new(socket, tls));
        let mut reader = Reader::new(Arc::clone(&wire));
        let (packet_bytes, database) = log_in(&wire, &mut reader, options, version, encryption)?;
        wire.socket().set_read_timeout(None)?;
        Ok(Connection::new(wire, reader, packet_bytes, database))
    }
}

/// What to tell of a handshake that failed.
fn refused(options: &ConnectOptions, error: &io::Error) -> ClientError {
    let address = &options.address;
    let hint = match error.kind() {
        io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset => {
            "; a server without TLS is reached without encryption"
        }
        _ => "",
    };
    ClientError::Tls(format!("TLS with {address}: {error}{hint}"))
}

fn socket(options: &ConnectOptions) -> Result<TcpStream, ClientError> {
    let addresses = options.address.resolve()?;
    let is_own = |address: &std::net::SocketAddr| address.ip().is_loopback();
    if options.encryption == Encryption::Off && !addresses.iter().all(is_own) {
        let what = format!("{} is another computer: the connection must be encrypted", options.address);
        return Err(ClientError::Usage(what));
    }
    let mut failed = io::ErrorKind::NotFound.into();
    for address in addresses {
        match TcpStream::connect_timeout(&address, options.login_time) {
            Ok(socket) => return Ok(socket),
            Err(error) => failed = error,
        }
    }
    Err(ClientError::Unreachable { address: options.address.to_string(), error: failed })
}

/// PRELOGIN and LOGIN7; the size of packets that the server has settled on, and the database.
fn log_in(
    wire: &Wire,
    reader: &mut Reader,
    options: &ConnectOptions,
    version: TdsVersion,
    encryption: u8,
) -> Result<(usize, String), ClientError> {
    let mut out = Vec::new();
    wire::put_message(PacketKind::PreLogin, &client_pre_login(encryption), PACKET_BYTES_DEFAULT, &mut out);
    wire.write(&out)?;
    let reply = message(reader)?;
    let needs_tls = matches!(encryption_of_reply(&reply)?, ClientEncryption::On | ClientEncryption::Required);
    if needs_tls && version != TdsVersion::V8_0 {
        return Err(ClientError::Tls(format!("{} takes encrypted connections only", options.address)));
    }
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let login = ClientLogin {
        version,
        packet_bytes: PACKET_BYTES,
        process: std::process::id(),
        host: host.trim(),
        user: &options.user,
        password: &options.password,
        application: &options.application,
        server: &options.address.host,
        database: &options.database,
    };
    out.clear();
    wire::put_message(PacketKind::Login7, &login.to_bytes()?, PACKET_BYTES_DEFAULT, &mut out);
    wire.write(&out)?;
    read_answer(&message(reader)?)
}

/// The size of packets from now on, and the database.
fn read_answer(reply: &[u8]) -> Result<(usize, String), ClientError> {
    let (mut tokens, mut rest) = (TokenReader::default(), reply);
    let (mut error, mut is_in, mut packet_bytes) = (None, false, PACKET_BYTES_DEFAULT);
    let mut database = String::new();
    while let Some(token) = tokens.next(&mut rest)? {
        match token {
            ReplyToken::Error(told) => error = error.or(Some(told)),
            ReplyToken::LoginAck => is_in = true,
            ReplyToken::PacketBytes(bytes) => packet_bytes = bytes,
            ReplyToken::Database(name) => database = name,
            _ => {}
        }
    }
    match error {
        Some(error) => Err(ClientError::Sql(error)),
        None if is_in && rest.is_empty() => Ok((packet_bytes, database)),
        None => Err(TdsError::Malformed("The answer to the login is none".to_string()).into()),
    }
}

/// The next message, whole.
fn message(reader: &mut Reader) -> Result<Vec<u8>, ClientError> {
    let mut payload = Vec::new();
    while !reader.packet(&mut payload)? {
        if payload.len() > ANSWER_BYTES_MAX {
            return Err(TdsError::Limit { what: "bytes of a message", limit: ANSWER_BYTES_MAX }.into());
        }
    }
    Ok(payload)
}
