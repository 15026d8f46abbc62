//! Certificates, and TLS without sockets: bytes in, bytes out.
//!
//! TLS within PRELOGIN packets stops at version 1.2: with 1.3 the server sends tickets after the handshake, when several
//! drivers do not unwrap packets any more; the ticket of 1.2 comes within it. A client that begins with TLS (TDS 8.0) may use 1.3.
//!
//! A client that comes again may resume its session, which costs neither side a signature, nor under 1.2 an exchange of keys: by a
//! ticket, or, without tickets, by the session's id. Keys of tickets are drawn at the start and by the first handshake after six hours;
//! each is good for the time of the next one too. After a restart, or with an older ticket, a whole handshake follows.

use crate::StartError;
use pikepole_machine::Disk;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::ServerSessionMemoryCache;
use rustls::{HandshakeKind, ServerConfig, ServerConnection};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The protocol's name in the handshake of TDS 8.0.
const ALPN: &[u8] = b"tds/8.0";
/// Sessions kept for clients of TLS 1.2 that resume by an id; a few hundred bytes each.
const SESSIONS_MAX: usize = 1_024;
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
            // The two ways have keys and sessions of their own: what was begun in one is not resumed in the other.
            config.ticketer = rustls::crypto::ring::Ticketer::new().map_err(|error| error.to_string())?;
            config.session_storage = ServerSessionMemoryCache::new(SESSIONS_MAX);
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
    let mut parameters = rcgen::CertificateParams::new(own_names())?;
    parameters.distinguished_name.push(rcgen::DnType::CommonName, "Pikepole");
    let pair = rcgen::KeyPair::generate()?;
    Ok((parameters.self_signed(&pair)?.pem(), pair.serialize_pem()))
}

/// The name of the authority that `make_authority` makes, in its own certificate and in those that it signs.
const AUTHORITY: &str = "Pikepole local authority";
/// How long a signed certificate is good: some clients refuse those of servers that are good for longer.
const SIGNED_DAYS: u64 = 820;

/// Which files make a server's own pair: the certificate, and the key.
pub fn own_pair_files(folder: &Path) -> [PathBuf; 2] {
    [CERTIFICATE_FILE, KEY_FILE].map(|name| folder.join(name))
}

/// An authority's certificate and key, in PEM: it signs certificates of servers, and none of other authorities.
///
/// # Errors
/// What the cryptography says.
pub fn make_authority() -> Result<(String, String), String> {
    let pair = rcgen::KeyPair::generate().map_err(|error| error.to_string())?;
    let certificate = authority().and_then(|parameters| parameters.self_signed(&pair));
    Ok((certificate.map_err(|error| error.to_string())?.pem(), pair.serialize_pem()))
}

/// What an authority says of itself. Only its key is kept: with it the rest is the same each time.
fn authority() -> Result<rcgen::CertificateParams, rcgen::Error> {
    let mut parameters = rcgen::CertificateParams::new(Vec::<String>::new())?;
    parameters.distinguished_name = rcgen::DistinguishedName::new();
    parameters.distinguished_name.push(rcgen::DnType::CommonName, AUTHORITY);
    parameters.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Constrained(0));
    parameters.key_usages = vec![rcgen::KeyUsagePurpose::KeyCertSign, rcgen::KeyUsagePurpose::CrlSign];
    Ok(parameters)
}

/// A server's certificate for this machine and `names`, signed by the authority with this key, its own key, and the day after which
/// it is good for nothing, as year, month and day. The certificate is followed by the authority's.
///
/// # Errors
/// A key that is none; a name that cannot stand in a certificate.
pub fn make_signed_pair(
    (authority_certificate, authority_key): (&str, &str),
    names: &[String],
    now_us: i64,
) -> Result<(String, String, [u16; 3]), String> {
    let signed = || -> Result<(String, String, [u16; 3]), rcgen::Error> {
        let issuer = rcgen::Issuer::new(authority()?, rcgen::KeyPair::from_pem(authority_key)?);
        let mut all = own_names();
        all.extend(names.iter().filter(|name| !own_names().contains(name)).cloned());
        let mut parameters = rcgen::CertificateParams::new(all)?;
        parameters.distinguished_name = rcgen::DistinguishedName::new();
        parameters.distinguished_name.push(rcgen::DnType::CommonName, "Pikepole");
        parameters.key_usages = vec![rcgen::KeyUsagePurpose::DigitalSignature];
        parameters.extended_key_usages = vec![rcgen::ExtendedKeyUsagePurpose::ServerAuth];
        parameters.use_authority_key_identifier_extension = true;
        let today = u64::try_from(now_us).unwrap_or_default() / 86_400_000_000;
        let (first, last) = (day(today.saturating_sub(1)), day(today + SIGNED_DAYS));
        parameters.not_before = rcgen::date_time_ymd(i32::from(first[0]), first[1] as u8, first[2] as u8);
        parameters.not_after = rcgen::date_time_ymd(i32::from(last[0]), last[1] as u8, last[2] as u8);
        let pair = rcgen::KeyPair::generate()?;
        let certificate = parameters.signed_by(&pair, &issuer)?;
        Ok((certificate.pem() + authority_certificate, pair.serialize_pem(), last))
    };
    signed().map_err(|error| error.to_string())
}

/// The year, month and day that are so many days after 1970-01-01, in the calendar of today.
fn day(days: u64) -> [u16; 3] {
    // Days since 0000-03-01, in eras of 400 years; a year begins in March, so that the leap day is its last.
    let days = days + 719_468;
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let of_month = of_year - (153 * month + 2) / 5 + 1;
    let (month, later) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    [era * 400 + year + later, month, of_month].map(|part| u16::try_from(part).unwrap_or(u16::MAX))
}

/// The names under which programs on this machine know it.
fn own_names() -> Vec<String> {
    let mut names = vec!["localhost".to_string(), "127.0.0.1".to_string(), "::1".to_string()];
    names.extend(host_name().filter(|name| name != "localhost"));
    names
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

    /// Whether the handshake resumed a session.
    pub(crate) fn is_resumed(&self) -> bool {
        self.connection.handshake_kind() == Some(HandshakeKind::Resumed)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_have_their_dates() {
        let days = [(0, [1970, 1, 1]), (58, [1970, 2, 28]), (59, [1970, 3, 1]), (11_016, [2000, 2, 29])];
        for (days, date) in days.into_iter().chain([(20_784, [2026, 11, 27]), (47_540, [2100, 2, 28])]) {
            assert_eq!(day(days), date, "{days}");
        }
        assert_eq!(day(47_541), [2100, 3, 1]);
    }

    #[test]
    fn a_signed_pair_is_one_that_a_server_can_use() {
        let (certificate, key) = make_authority().expect("an authority");
        let names = ["db.example".to_string(), "10.0.0.7".to_string()];
        let now_us = 20_784 * 86_400_000_000;
        let (chain, own, last) = make_signed_pair((&certificate, &key), &names, now_us).expect("a pair");
        assert_eq!(last, [2029, 2, 24]);
        TlsSettings::of(chain.as_bytes(), own.as_bytes()).expect("it fits");
        assert!(chain.ends_with(&certificate));
        assert!(make_signed_pair((&certificate, "no key"), &[], now_us).is_err());
    }
}
