//! The client's TLS: that of TDS 8.0, whose first byte is already TLS, and that of TDS 7.4, whose handshake travels in packets.

use crate::{ClientError, ConnectOptions, TlsCure, Trust};
use pikepole_tds::{HEADER_BYTES, PACKET_BYTES_DEFAULT, PacketHeader, PacketKind, PacketStatus, write_packets};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, ClientConnection, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The protocol's name in the handshake of TDS 8.0.
const ALPN: &[u8] = b"tds/8.0";
/// The variable that names the file of authorities, as for OpenSSL's programs.
const FILE_VARIABLE: &str = "SSL_CERT_FILE";
/// Where distributions keep the certificates of the authorities that they trust.
const BUNDLES: [&str; 4] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
];

/// A connection's TLS before its handshake. `is_strict`: that of TDS 8.0. The older protocol has no TLS 1.3.
pub(crate) fn client(
    options: &ConnectOptions,
    trust: &Trust,
    is_strict: bool,
) -> Result<ClientConnection, ClientError> {
    let address = &options.address;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let failed = |error: &dyn std::fmt::Display| ClientError::tls(format!("TLS with {address}: {error}"), None);
    let versions: &[_] = match is_strict {
        true => &[&rustls::version::TLS13, &rustls::version::TLS12],
        false => &[&rustls::version::TLS12],
    };
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_protocol_versions(versions)
        .map_err(|error| failed(&error))?;
    let mut config = match trust {
        Trust::Any => builder
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(AnyCertificate(provider)))
            .with_no_client_auth(),
        Trust::System => builder.with_root_certificates(roots(&system_bundle()?)?).with_no_client_auth(),
        Trust::File(path) => builder.with_root_certificates(roots(path)?).with_no_client_auth(),
    };
    if is_strict {
        config.alpn_protocols = vec![ALPN.to_vec()];
    }
    let host = options.certificate_host.as_ref().unwrap_or(&address.host);
    let name = ServerName::try_from(host.clone()).map_err(|error| failed(&error))?;
    ClientConnection::new(Arc::new(config), name).map_err(|error| failed(&error))
}

/// The socket during the handshake of TDS 7.4: what TLS says travels as PRELOGIN messages.
pub(crate) struct Wrapped<'a> {
    socket: &'a TcpStream,
    /// Bytes of one message that is still to be sent.
    outgoing: Vec<u8>,
    /// The rest of a packet's payload.
    incoming: Vec<u8>,
}

impl Wrapped<'_> {
    pub(crate) fn new(socket: &TcpStream) -> Wrapped<'_> {
        Wrapped { socket, outgoing: Vec::new(), incoming: Vec::new() }
    }
}

impl Write for Wrapped<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.outgoing.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if !self.outgoing.is_empty() {
            let mut packets = Vec::new();
            let status = PacketStatus::default();
            write_packets(PacketKind::PreLogin, status, &self.outgoing, PACKET_BYTES_DEFAULT, &mut packets);
            self.outgoing.clear();
            self.socket.write_all(&packets)?;
        }
        Ok(())
    }
}

impl Read for Wrapped<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.flush()?;
        while self.incoming.is_empty() {
            let mut header = [0; HEADER_BYTES];
            self.socket.read_exact(&mut header)?;
            let header =
                PacketHeader::parse(header).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
            self.incoming.resize(usize::from(header.length).saturating_sub(HEADER_BYTES), 0);
            self.socket.read_exact(&mut self.incoming)?;
        }
        let count = bytes.len().min(self.incoming.len());
        bytes[..count].copy_from_slice(&self.incoming[..count]);
        self.incoming.drain(..count);
        Ok(count)
    }
}

fn system_bundle() -> Result<PathBuf, ClientError> {
    let given = std::env::var_os(FILE_VARIABLE).map(PathBuf::from);
    let found = given.or_else(|| BUNDLES.iter().map(PathBuf::from).find(|path| path.exists()));
    let none = || ClientError::tls("the system has no certificates of authorities", Some(TlsCure::UnknownSigner));
    found.ok_or_else(none)
}

fn roots(path: &Path) -> Result<RootCertStore, ClientError> {
    let failed = |error: &dyn std::fmt::Display| ClientError::tls(format!("{}: {error}", path.display()), None);
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_file_iter(path).map_err(|error| failed(&error))? {
        // Some that a system trusts are of kinds that are not used any more.
        roots.add_parsable_certificates([certificate.map_err(|error| failed(&error))?]);
    }
    if roots.is_empty() {
        return Err(failed(&"no certificate is in it"));
    }
    Ok(roots)
}

/// Believes any certificate; that its owner has the key is still looked at.
#[derive(Debug)]
struct AnyCertificate(Arc<CryptoProvider>);

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, certificate, signed, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, certificate, signed, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
