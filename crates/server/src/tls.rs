//! Certificates, and TLS without sockets: bytes in, bytes out.
//!
//! TLS within PRELOGIN packets stops at version 1.2: with 1.3 the server sends tickets after the handshake, when several
//! drivers do not unwrap packets any more. A client that begins with TLS (TDS 8.0) may use 1.3.

use crate::StartError;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The protocol's name in the handshake of TDS 8.0.
const ALPN: &[u8] = b"tds/8.0";
/// The files of the certificate that is made when none is given.
const CERTIFICATE_FILE: &str = "server-certificate.pem";
const KEY_FILE: &str = "server-key.pem";

/// The two ways that connections are encrypted.
#[derive(Debug, Clone)]
pub(crate) struct TlsSettings {
    /// Within PRELOGIN.
    pub(crate) wrapped: Arc<ServerConfig>,
    /// From the first byte on.
    pub(crate) strict: Arc<ServerConfig>,
}

impl TlsSettings {
    /// The settings with the certificate that was given, or the one in `folder`, which is made at the first start.
    pub(crate) fn load(
        certificate: Option<&Path>,
        key: Option<&Path>,
        folder: &Path,
    ) -> Result<TlsSettings, StartError> {
        let (certificate, key) = match (certificate, key) {
            (Some(certificate), Some(key)) => (certificate.to_path_buf(), key.to_path_buf()),
            (None, None) => own_certificate(folder)?,
            _ => return Err(StartError::Tls("a certificate and its key are given together".to_string())),
        };
        let refused = |path: &Path, why: &dyn std::fmt::Display| StartError::Tls(format!("{}: {why}", path.display()));
        let chain = CertificateDer::pem_file_iter(&certificate)
            .and_then(|certificates| certificates.collect::<Result<Vec<_>, _>>())
            .map_err(|error| refused(&certificate, &error))?;
        let private = PrivateKeyDer::from_pem_file(&key).map_err(|error| refused(&key, &error))?;
        let settings = |versions: &[&'static rustls::SupportedProtocolVersion], alpn: bool| {
            let provider = Arc::new(rustls::crypto::ring::default_provider());
            let builder = ServerConfig::builder_with_provider(provider)
                .with_protocol_versions(versions)
                .map_err(|error| StartError::Tls(error.to_string()))?;
            let mut config = builder
                .with_no_client_auth()
                .with_single_cert(chain.clone(), private.clone_key())
                .map_err(|error| refused(&certificate, &error))?;
            if alpn {
                config.alpn_protocols = vec![ALPN.to_vec()];
            }
            Ok(Arc::new(config))
        };
        Ok(TlsSettings {
            wrapped: settings(&[&rustls::version::TLS12], false)?,
            strict: settings(&[&rustls::version::TLS13, &rustls::version::TLS12], true)?,
        })
    }
}

/// The files of the server's own certificate, made when they are not there.
fn own_certificate(folder: &Path) -> Result<(PathBuf, PathBuf), StartError> {
    let (certificate, key) = (folder.join(CERTIFICATE_FILE), folder.join(KEY_FILE));
    if certificate.exists() && key.exists() {
        return Ok((certificate, key));
    }
    let failed = |error: &dyn std::fmt::Display| StartError::Tls(format!("no certificate could be made: {error}"));
    let mut names = vec!["localhost".to_string(), "127.0.0.1".to_string(), "::1".to_string()];
    names.extend(host_name().filter(|name| name != "localhost"));
    let mut parameters = rcgen::CertificateParams::new(names).map_err(|error| failed(&error))?;
    parameters.distinguished_name.push(rcgen::DnType::CommonName, "Pikepole");
    let pair = rcgen::KeyPair::generate().map_err(|error| failed(&error))?;
    let made = parameters.self_signed(&pair).map_err(|error| failed(&error))?;
    write_private(&key, pair.serialize_pem().as_bytes()).map_err(|error| failed(&error))?;
    std::fs::write(&certificate, made.pem()).map_err(|error| failed(&error))?;
    tracing::info!("made a self-signed certificate, {}", certificate.display());
    Ok((certificate, key))
}

/// Writes a file that only its owner can read.
fn write_private(path: &Path, content: &[u8]) -> io::Result<()> {
    use std::os::unix::fs::OpenOptionsExt;
    // One that is left of an earlier try may be readable for all.
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(content)
}

/// The machine's name, when it can stand in a certificate.
fn host_name() -> Option<String> {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").ok()?;
    let name = name.trim();
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '.';
    (!name.is_empty() && name.chars().all(plain)).then(|| name.to_string())
}

/// One connection's TLS.
pub(crate) struct Tls {
    connection: ServerConnection,
}

impl Tls {
    pub(crate) fn new(config: &Arc<ServerConfig>) -> io::Result<Tls> {
        let mut connection = ServerConnection::new(Arc::clone(config)).map_err(io::Error::other)?;
        // What waits to be written is bounded by whoever writes.
        connection.set_buffer_limit(None);
        Ok(Tls { connection })
    }

    /// Whether the handshake goes on.
    pub(crate) fn is_handshaking(&self) -> bool {
        self.connection.is_handshaking()
    }

    /// Takes what came from the socket, and appends what it carried to `plain`. Whether the client has ended the stream.
    ///
    /// # Errors
    /// Bytes that are no TLS, or that were changed on their way.
    pub(crate) fn receive(&mut self, mut bytes: &[u8], plain: &mut Vec<u8>) -> io::Result<bool> {
        let mut ended = false;
        while !bytes.is_empty() {
            self.connection.read_tls(&mut bytes)?;
            let state = self
                .connection
                .process_new_packets()
                .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
            ended |= state.peer_has_closed();
            let count = state.plaintext_bytes_to_read();
            if count > 0 {
                let begin = plain.len();
                plain.resize(begin + count, 0);
                self.connection.reader().read_exact(&mut plain[begin..])?;
            }
        }
        Ok(ended)
    }

    /// Encrypts bytes, to be taken with [`Tls::outgoing`].
    pub(crate) fn send(&mut self, plain: &[u8]) -> io::Result<()> {
        self.connection.writer().write_all(plain)
    }

    /// Appends what is to be written to the socket.
    pub(crate) fn outgoing(&mut self, cipher: &mut Vec<u8>) -> io::Result<()> {
        while self.connection.wants_write() {
            self.connection.write_tls(cipher)?;
        }
        Ok(())
    }

    /// Says that nothing follows.
    pub(crate) fn close(&mut self) {
        self.connection.send_close_notify();
    }
}

/// A random number below `bound`, from the source that keys are made with.
pub(crate) fn random_below(bound: usize) -> usize {
    let source = rustls::crypto::ring::default_provider().secure_random;
    // Numbers from the last, incomplete round of `bound` would make some results likelier.
    let whole = u32::MAX - u32::MAX % bound as u32;
    loop {
        let mut bytes = [0; 4];
        source.fill(&mut bytes).expect("the system gives random bytes");
        let number = u32::from_le_bytes(bytes);
        if number < whole {
            return number as usize % bound;
        }
    }
}
