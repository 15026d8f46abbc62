//! TLS: within PRELOGIN, for the login alone, and before anything else.

use crate::client::{Client, Token, rows};
use crate::fixture::{Fixture, PASSWORD};
use pikepole_server::TlsMode;
use pikepole_tds::PacketKind;
use pikepole_types::Value;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, ClientConnection, HandshakeKind, ProtocolVersion, RootCertStore};
use std::io::Write;
use std::sync::Arc;

/// What a client says about encryption at PRELOGIN, and the server answers.
const OFF: u8 = 0;
const ON: u8 = 1;
const NOT_SUPPORTED: u8 = 2;
const REQUIRED: u8 = 3;

fn fixture(tls: TlsMode) -> Fixture {
    Fixture::with(|options| options.tls = tls)
}

/// A client's TLS that trusts the certificate which the server has made, and no other.
fn tls(fixture: &Fixture, protocols: &[&[u8]]) -> ClientConnection {
    connection(&config(fixture, protocols))
}

/// A configuration that clients share to resume each other's sessions.
fn config(fixture: &Fixture, protocols: &[&[u8]]) -> Arc<ClientConfig> {
    let certificate =
        CertificateDer::from_pem_file(fixture.folder().join("server-certificate.pem")).expect("it is made");
    let mut roots = RootCertStore::empty();
    roots.add(certificate).expect("a certificate");
    let version = if protocols.is_empty() { &rustls::version::TLS12 } else { &rustls::version::TLS13 };
    let config = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_protocol_versions(&[version])
        .expect("a version");
    let mut config = config.with_root_certificates(roots).with_no_client_auth();
    config.alpn_protocols = protocols.iter().map(|name| name.to_vec()).collect();
    Arc::new(config)
}

fn connection(config: &Arc<ClientConfig>) -> ClientConnection {
    ClientConnection::new(Arc::clone(config), "localhost".try_into().expect("a name")).expect("a client")
}

/// A client that has logged in with TLS, before all else or within PRELOGIN, and the kind of its handshake.
fn log_in(fixture: &Fixture, config: &Arc<ClientConfig>) -> (Client, Option<HandshakeKind>) {
    let mut client = Client::connect(fixture.address());
    if config.alpn_protocols.is_empty() {
        client.pre_login(ON);
        client.encrypt_within_prelogin(connection(config));
    } else {
        client.encrypt_first(connection(config));
        client.pre_login(ON);
    }
    assert!(is_in(&client.log_in_encrypted("sa", PASSWORD, false)));
    let kind = client.tls().and_then(|tls| tls.handshake_kind());
    (client, kind)
}

/// The session says whether it is encrypted; an answer of many records and a request of many packets go through.
fn works(client: &mut Client, encrypted: &str) {
    let option = client.scalar("SELECT encrypt_option FROM sys.dm_exec_connections WHERE session_id = @@SPID");
    assert_eq!(option, Value::Str(encrypted.to_string()));
    assert_eq!(rows(&client.run("SELECT value FROM GENERATE_SERIES(1, 50000)")).len(), 50_000);
    let long = "x".repeat(60_000);
    assert_eq!(client.scalar(&format!("SELECT LEN('{long}')")), Value::BigInt(60_000));
}

fn is_in(tokens: &[Token]) -> bool {
    tokens.iter().any(|token| matches!(token, Token::LoginAck(_)))
}

#[test]
fn a_client_that_wishes_is_encrypted_within_prelogin() {
    for mode in [TlsMode::Optional, TlsMode::Required] {
        let fixture = fixture(mode);
        let mut client = Client::connect(fixture.address());
        assert_eq!(client.pre_login(ON), ON);
        client.encrypt_within_prelogin(tls(&fixture, &[]));
        assert!(is_in(&client.log_in_encrypted("sa", PASSWORD, false)));
        assert_eq!(client.tls().and_then(|tls| tls.protocol_version()), Some(ProtocolVersion::TLSv1_2));
        works(&mut client, "TRUE");
    }
}

/// Handshakes, and sessions resumed, as the counters say.
fn handshakes(client: &mut Client) -> [Value; 2] {
    ["TLS Handshakes/sec", "TLS Resumptions/sec"].map(|name| {
        client.scalar(&format!("SELECT cntr_value FROM sys.dm_os_performance_counters WHERE counter_name = '{name}'"))
    })
}

#[test]
fn a_client_that_comes_again_resumes_its_session_until_the_server_is_started_again() {
    for protocols in [&[][..], &[&b"tds/8.0"[..]]] {
        let fixture = fixture(TlsMode::Required);
        let config = config(&fixture, protocols);
        assert_eq!(log_in(&fixture, &config).1, Some(HandshakeKind::Full), "{protocols:?}");
        for number in 1..=3 {
            let (mut client, kind) = log_in(&fixture, &config);
            assert_eq!(kind, Some(HandshakeKind::Resumed), "{protocols:?}");
            assert_eq!(handshakes(&mut client), [1 + number, number].map(Value::BigInt));
            works(&mut client, "TRUE");
        }
        let other = fixture.restart_with(|options| options.tls = TlsMode::Required);
        let (mut client, kind) = log_in(&other, &config);
        assert_eq!(kind, Some(HandshakeKind::Full), "its keys went with the server");
        assert_eq!(handshakes(&mut client), [1, 0].map(Value::BigInt));
        works(&mut client, "TRUE");
        drop(client);
        assert_eq!(log_in(&other, &config).1, Some(HandshakeKind::Resumed));
    }
}

#[test]
fn a_session_of_one_way_is_not_resumed_in_the_other() {
    let fixture = fixture(TlsMode::Required);
    let config = config(&fixture, &[]);
    assert_eq!(log_in(&fixture, &config).1, Some(HandshakeKind::Full));
    let mut client = Client::connect(fixture.address());
    client.encrypt_first(connection(&config));
    assert_eq!(client.tls().and_then(|tls| tls.handshake_kind()), Some(HandshakeKind::Full));
    client.pre_login(ON);
    assert!(is_in(&client.log_in_encrypted("sa", PASSWORD, false)));
}

#[test]
fn the_login_alone_is_encrypted_for_others() {
    let fixture = fixture(TlsMode::Optional);
    let mut client = Client::connect(fixture.address());
    assert_eq!(client.pre_login(OFF), OFF);
    client.encrypt_within_prelogin(tls(&fixture, &[]));
    assert!(is_in(&client.log_in_encrypted("sa", PASSWORD, true)));
    works(&mut client, "FALSE");
}

#[test]
fn a_client_may_begin_with_tls() {
    let fixture = fixture(TlsMode::Optional);
    let mut client = Client::connect(fixture.address());
    client.encrypt_first(tls(&fixture, &[b"tds/8.0"]));
    assert_eq!(client.tls().and_then(|tls| tls.alpn_protocol()), Some(&b"tds/8.0"[..]));
    assert_eq!(client.tls().and_then(|tls| tls.protocol_version()), Some(ProtocolVersion::TLSv1_3));
    client.pre_login(ON);
    assert!(is_in(&client.log_in_encrypted("sa", PASSWORD, false)));
    works(&mut client, "TRUE");
}

#[test]
fn a_server_that_requires_encryption_lets_nobody_in_without() {
    let fixture = fixture(TlsMode::Required);
    let mut client = Client::connect(fixture.address());
    assert_eq!(client.pre_login(NOT_SUPPORTED), REQUIRED);
    assert!(client.is_closed());
    let mut other = Client::connect(fixture.address());
    other.send(PacketKind::Login7, 0, &crate::client::login7("sa", PASSWORD, ""));
    assert!(other.is_closed(), "a login without PRELOGIN");
}

#[test]
fn what_is_no_handshake_ends_its_own_connection_only() {
    let fixture = fixture(TlsMode::Optional);
    let mut garbage = Client::connect(fixture.address());
    assert_eq!(garbage.pre_login(ON), ON);
    garbage.send(PacketKind::PreLogin, 0, b"this is no handshake");
    assert!(garbage.is_closed());
    let mut first = Client::connect(fixture.address());
    first.socket().write_all(&[0x16, 0x03, 0x01, 0x00, 0x05, 1, 2, 3, 4, 5]).expect("it is read");
    assert!(first.is_closed());
    let mut client = Client::connect(fixture.address());
    client.encrypt_first(tls(&fixture, &[b"tds/8.0"]));
    client.pre_login(ON);
    assert!(is_in(&client.log_in_encrypted("sa", PASSWORD, false)));
}
