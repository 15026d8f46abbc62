//! Certificates, and TLS without sockets: bytes in, bytes out.
//!
//! TLS within PRELOGIN packets stops at version 1.2: with 1.3 the server sends tickets after the handshake, when several
//! drivers do not unwrap packets any more. A client that begins with TLS (TDS 8.0) may use 1.3.

use crate::StartError;
use pikepole_machine::Disk;
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
    ///
    /// # Errors
    /// A certificate or key that was given and cannot be used; a pair that cannot be read or made.
    pub(crate) fn load(
        disk: &Disk,
        certificate: Option<&Path>,
        key: Option<&Path>,
        folder: &Path,
    ) -> Result<TlsSettings, StartError> {
        match (certificate, key) {
            (Some(certificate), Some(key)) => {
                let read = |path: &Path| disk.read(path).map_err(|error| StartError::Tls(error.to_string()));
                let used = TlsSettings::of(&read(certificate)?, &read(key)?);
                let files = || format!("{} and {}", certificate.display(), key.display());
                used.map_err(|why| StartError::Tls(format!("{}: {why}", files())))
            }
            (None, None) => own_pair(disk, folder),
            _ => Err(StartError::Tls("a certificate and its key are given together".to_string())),
        }
    }

    /// The settings with a pair in PEM.
    fn of(certificate: &[u8], key: &[u8]) -> Result<TlsSettings, String> {
        let chain = CertificateDer::pem_slice_iter(certificate).collect::<Result<Vec<_>, _>>();
        let chain = chain.map_err(|error| format!("the certificate cannot be read: {error}"))?;
        if chain.is_empty() {
            return Err("there is no certificate in the file".to_string());
        }
        let private = PrivateKeyDer::from_pem_slice(key).map_err(|error| format!("the key cannot be read: {error}"))?;
        let settings = |versions: &[&'static rustls::SupportedProtocolVersion], alpn: bool| {
            let provider = Arc::new(rustls::crypto::ring::default_provider());
            let builder = ServerConfig::builder_with_provider(provider)
                .with_protocol_versions(versions)
                .map_err(|error| error.to_string())?;
            // Refuses a key that is not the certificate's.
            let mut config = builder
                .with_no_client_auth()
                .with_single_cert(chain.clone(), private.clone_key())
                .map_err(|error| error.to_string())?;
            if alpn {
                config.alpn_protocols = vec![ALPN.to_vec()];
            }
            Ok::<_, String>(Arc::new(config))
        };
        Ok(TlsSettings {
            wrapped: settings(&[&rustls::version::TLS12], false)?,
            strict: settings(&[&rustls::version::TLS13, &rustls::version::TLS12], true)?,
        })
    }
}

/// The settings with the server's own pair. One that is not whole, as a power failure may leave it, is set aside and made again.
fn own_pair(disk: &Disk, folder: &Path) -> Result<TlsSettings, StartError> {
    let files = [CERTIFICATE_FILE, KEY_FILE].map(|name| folder.join(name));
    let failed = |error: &dyn std::fmt::Display| StartError::Tls(format!("the server's own certificate: {error}"));
    let read = |path: &PathBuf| match disk.exists(path) {
        true => disk.read(path).map(Some),
        false => Ok(None),
    };
    let [certificate, key] = [read(&files[0]), read(&files[1])];
    let damage = match (certificate.map_err(|error| failed(&error))?, key.map_err(|error| failed(&error))?) {
        (None, None) => None,
        (Some(certificate), Some(key)) => match TlsSettings::of(&certificate, &key) {
            Ok(settings) => return Ok(settings),
            Err(why) => Some(why),
        },
        (None, Some(_)) => Some(format!("there is a key without {CERTIFICATE_FILE}")),
        (Some(_), None) => Some(format!("there is a certificate without {KEY_FILE}")),
    };
    if let Some(why) = damage {
        let aside = set_aside(disk, &files).map_err(|error| failed(&error))?;
        tracing::error!(
            "the server's own certificate was damaged ({why}); it is set aside as {aside}, and another is made: clients that \
             were given the former one must be given this"
        );
    }
    let (certificate, key) = make_pair().map_err(|error| failed(&error))?;
    // The key first: a certificate that clients have been given has one.
    disk.replace(&files[1], key.as_bytes()).map_err(|error| failed(&error))?;
    disk.replace(&files[0], certificate.as_bytes()).map_err(|error| failed(&error))?;
    tracing::info!("made a self-signed certificate, {}", files[0].display());
    TlsSettings::of(certificate.as_bytes(), key.as_bytes()).map_err(|why| failed(&why))
}

/// Gives the files names under which the server does not look for them; what they are called now.
fn set_aside(disk: &Disk, files: &[PathBuf]) -> io::Result<String> {
    let mut names = Vec::new();
    for path in files.iter().filter(|path| disk.exists(path)) {
        let numbered = (1_u32..).map(|number| if number == 1 { String::new() } else { format!(".{number}") });
        let mut free = numbered.map(|number| PathBuf::from(format!("{}.damaged{number}", path.display())));
        let aside = free.find(|aside| !disk.exists(aside)).ok_or(io::ErrorKind::AlreadyExists)?;
        disk.rename(path, &aside)?;
        names.push(aside.display().to_string());
    }
    if let Some(folder) = files.first().and_then(|path| path.parent()) {
        disk.sync_dir(folder)?;
    }
    Ok(names.join(", "))
}

/// A self-signed certificate and its key, in PEM.
fn make_pair() -> Result<(String, String), rcgen::Error> {
    let mut names = vec!["localhost".to_string(), "127.0.0.1".to_string(), "::1".to_string()];
    names.extend(host_name().filter(|name| name != "localhost"));
    let mut parameters = rcgen::CertificateParams::new(names)?;
    parameters.distinguished_name.push(rcgen::DnType::CommonName, "Pikepole");
    let pair = rcgen::KeyPair::generate()?;
    Ok((parameters.self_signed(&pair)?.pem(), pair.serialize_pem()))
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
