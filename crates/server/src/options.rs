//! What a network server is started with.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

/// The port that SQL Server's clients expect.
pub const PORT: u16 = 1433;

/// How connections are encrypted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TlsMode {
    /// Every connection is encrypted; a client that cannot is turned away.
    Required,
    /// A client that asks for encryption gets it; the login is encrypted for every client that can.
    #[default]
    Optional,
    /// Nothing is encrypted, logins neither.
    Off,
}

/// What a network server is started with.
#[derive(Debug, Clone)]
pub struct Options {
    /// Where clients connect.
    pub listen: Vec<SocketAddr>,
    /// How connections are encrypted.
    pub tls: TlsMode,
    /// The certificate chain in PEM; none: one that is made, and kept in `folder`.
    pub certificate: Option<PathBuf>,
    /// The certificate's key in PEM.
    pub key: Option<PathBuf>,
    /// Where the certificate that is made lies.
    pub folder: PathBuf,
    /// Where `/metrics` and `/healthz` are served.
    pub health: Option<SocketAddr>,
    /// Connections at the same time; one more is closed at once.
    pub connections_max: usize,
    /// Bytes of a request at most.
    pub request_bytes_max: usize,
    /// How long a client may take from its connection to the last byte of its LOGIN7.
    pub login_time: Duration,
    /// How long running requests may go on when the server shuts down.
    pub shutdown_time: Duration,
    /// Whether new passwords of logins with CHECK_POLICY must be long and complex.
    pub password_policy: bool,
}

impl Options {
    /// A server on the loopback address, with SQL Server's port.
    pub fn new(folder: impl Into<PathBuf>) -> Options {
        Options {
            listen: vec![SocketAddr::from((Ipv4Addr::LOCALHOST, PORT))],
            tls: TlsMode::default(),
            certificate: None,
            key: None,
            folder: folder.into(),
            health: None,
            connections_max: 4096,
            request_bytes_max: 256 << 20,
            login_time: Duration::from_secs(15),
            shutdown_time: Duration::from_secs(10),
            password_policy: true,
        }
    }
}
