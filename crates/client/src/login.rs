//! From nothing to a session: socket, TLS, PRELOGIN, LOGIN7.

use crate::connection::Connection;
use crate::wire::{self, Reader, Wire};
use crate::{Address, ClientError, ConnectOptions, Encryption, TlsCure, Trust, tls};
use pikepole_contention::sync::Arc;
use pikepole_tds::{
    ClientEncryption, ClientLogin, PACKET_BYTES_DEFAULT, PacketKind, ReplyToken, TdsError, TdsVersion, TokenReader,
    client_pre_login, encryption_of_reply,
};
use rustls::CertificateError;
use std::io;
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// What PRELOGIN says about encryption.
const OFF: u8 = 0;
const ON: u8 = 1;
const NOT_SUPPORTED: u8 = 2;
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
        let wire = match &options.encryption {
            Encryption::Off => plain(socket, options)?,
            Encryption::Strict(trust) => strict(socket, options, trust)?,
            Encryption::Negotiated { required, trust } => negotiated(socket, options, *required, trust)?,
        };
        let wire = Arc::new(wire);
        let mut reader = Reader::new(Arc::clone(&wire));
        let mut tokens = TokenReader::default();
        let (packet_bytes, database) = read_answer(&mut tokens, &message(&mut reader)?)?;
        wire.socket().set_read_timeout(None)?;
        Ok(Connection::new(wire, reader, tokens, packet_bytes, database))
    }
}

/// Logs in without encryption.
fn plain(socket: TcpStream, options: &ConnectOptions) -> Result<Wire, ClientError> {
    let wire = Wire::new(socket, None);
    let (wire, encryption) = pre_login(wire, NOT_SUPPORTED)?;
    if matches!(encryption, ClientEncryption::On | ClientEncryption::Required) {
        let text = format!("{} takes encrypted connections only", options.address);
        return Err(ClientError::tls(text, Some(TlsCure::Encrypted)));
    }
    log_in(&wire, options, TdsVersion::V7_4)?;
    Ok(wire)
}

/// TLS from the first byte on.
fn strict(socket: TcpStream, options: &ConnectOptions, trust: &Trust) -> Result<Wire, ClientError> {
    let mut tls = tls::client(options, trust, true)?;
    while tls.is_handshaking() {
        tls.complete_io(&mut &socket).map_err(|error| refused(options, &error))?;
    }
    let (wire, _) = pre_login(Wire::new(socket, Some(tls)), ON)?;
    log_in(&wire, options, TdsVersion::V8_0)?;
    Ok(wire)
}

/// Asks what the server does, then encrypts everything, the login alone, or nothing.
fn negotiated(socket: TcpStream, options: &ConnectOptions, required: bool, trust: &Trust) -> Result<Wire, ClientError> {
    let (wire, encryption) = pre_login(Wire::new(socket, None), if required { ON } else { OFF })?;
    let is_full = match encryption {
        ClientEncryption::On | ClientEncryption::Required => true,
        ClientEncryption::Off if !required => false,
        ClientEncryption::NotSupported if !required => {
            only_own(options, &[wire.socket().peer_addr()?])?;
            log_in(&wire, options, TdsVersion::V7_4)?;
            return Ok(wire);
        }
        ClientEncryption::Off | ClientEncryption::NotSupported => {
            let text = format!("{} has no encryption", options.address);
            return Err(ClientError::tls(text, Some(TlsCure::Unencrypted)));
        }
    };
    let socket = wire.socket().try_clone()?;
    let mut tls = tls::client(options, trust, false)?;
    while tls.is_handshaking() {
        tls.complete_io(&mut tls::Wrapped::new(&socket)).map_err(|error| refused(options, &error))?;
    }
    let encrypted = Wire::new(socket, Some(tls));
    log_in(&encrypted, options, TdsVersion::V7_4)?;
    Ok(if is_full { encrypted } else { wire })
}

/// The error of a handshake that failed.
fn refused(options: &ConnectOptions, error: &io::Error) -> ClientError {
    ClientError::tls(format!("TLS with {}: {error}", options.address), cure(error))
}

/// The way out for a client whose handshake failed.
fn cure(error: &io::Error) -> Option<TlsCure> {
    if matches!(error.kind(), io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset) {
        return Some(TlsCure::Unencrypted);
    }
    let Some(rustls::Error::InvalidCertificate(why)) = error.get_ref().and_then(|error| error.downcast_ref()) else {
        return None;
    };
    Some(match why {
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => TlsCure::OtherName,
        CertificateError::Expired
        | CertificateError::ExpiredContext { .. }
        | CertificateError::NotValidYet
        | CertificateError::NotValidYetContext { .. } => TlsCure::OtherTime,
        _ => TlsCure::UnknownSigner,
    })
}

/// Makes the first step of a connection, PRELOGIN, which needs no login: whether a server of the protocol answers.
///
/// # Errors
/// Nothing answers, or something else than such a server.
pub fn ping(address: &Address, time: Duration) -> Result<(), ClientError> {
    let failed = |error| ClientError::Unreachable { address: address.to_string(), error };
    let socket = connected(address.resolve()?, time).map_err(failed)?;
    socket.set_read_timeout(Some(time)).map_err(failed)?;
    let wire = Arc::new(Wire::new(socket, None));
    let mut out = Vec::new();
    wire::put_message(PacketKind::PreLogin, &client_pre_login(NOT_SUPPORTED), PACKET_BYTES_DEFAULT, &mut out);
    wire.write(&out)?;
    encryption_of_reply(&message(&mut Reader::new(wire))?)?;
    Ok(())
}

/// A connection to the first of the addresses that answers.
fn connected(addresses: Vec<std::net::SocketAddr>, time: Duration) -> io::Result<TcpStream> {
    let mut failed = io::ErrorKind::NotFound.into();
    for address in addresses {
        match TcpStream::connect_timeout(&address, time) {
            Ok(socket) => return Ok(socket),
            Err(error) => failed = error,
        }
    }
    Err(failed)
}

fn socket(options: &ConnectOptions) -> Result<TcpStream, ClientError> {
    let addresses = options.address.resolve()?;
    if options.encryption == Encryption::Off {
        only_own(options, &addresses)?;
    }
    let failed = |error| ClientError::Unreachable { address: options.address.to_string(), error };
    connected(addresses, options.login_time).map_err(failed)
}

/// Refuses what is not of this computer: without encryption the password would travel readable for all.
fn only_own(options: &ConnectOptions, addresses: &[SocketAddr]) -> Result<(), ClientError> {
    if addresses.iter().all(|address| address.ip().is_loopback()) {
        return Ok(());
    }
    Err(ClientError::Usage(format!("{} is another computer: the connection must be encrypted", options.address)))
}

/// Sends PRELOGIN, which says this about encryption; what the server says to it.
fn pre_login(wire: Wire, encryption: u8) -> Result<(Wire, ClientEncryption), ClientError> {
    let mut out = Vec::new();
    wire::put_message(PacketKind::PreLogin, &client_pre_login(encryption), PACKET_BYTES_DEFAULT, &mut out);
    wire.write(&out)?;
    let wire = Arc::new(wire);
    let reply = message(&mut Reader::new(Arc::clone(&wire)))?;
    let wire = Arc::into_inner(wire).ok_or_else(|| io::Error::from(io::ErrorKind::Other))?;
    Ok((wire, encryption_of_reply(&reply)?))
}

/// Sends LOGIN7.
fn log_in(wire: &Wire, options: &ConnectOptions, version: TdsVersion) -> Result<(), ClientError> {
    let own = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let host = if options.workstation.is_empty() { own.trim() } else { &options.workstation };
    let login = ClientLogin {
        version,
        packet_bytes: options.packet_bytes,
        process: std::process::id(),
        host,
        user: &options.user,
        password: &options.password,
        application: &options.application,
        server: &options.address.host,
        database: &options.database,
        new_password: options.new_password.as_deref(),
        is_read_only: options.is_read_only,
    };
    let mut out = Vec::new();
    wire::put_message(PacketKind::Login7, &login.to_bytes()?, PACKET_BYTES_DEFAULT, &mut out);
    Ok(wire.write(&out)?)
}

/// The size of packets from now on, and the database.
fn read_answer(tokens: &mut TokenReader, reply: &[u8]) -> Result<(usize, String), ClientError> {
    let mut rest = reply;
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
