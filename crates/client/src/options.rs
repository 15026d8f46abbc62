//! Where to connect, as whom, and how safely.

use crate::ClientError;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs};
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

/// The port of a server that says no other.
const PORT: u16 = 1433;
/// The size of packets that is asked for.
const PACKET_BYTES: u32 = 8000;

/// A server's host and port, as `host`, `host:port`, `host,port` or `[address]:port`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    /// Name or address.
    pub host: String,
    /// Port.
    pub port: u16,
}

impl FromStr for Address {
    type Err = String;

    fn from_str(text: &str) -> Result<Address, String> {
        let wrong = || format!("`{text}` is no server: HOST, HOST:PORT or [ADDRESS]:PORT");
        let text = text.strip_prefix("tcp:").unwrap_or(text);
        if text.parse::<IpAddr>().is_ok() {
            return Ok(Address { host: text.to_string(), port: PORT });
        }
        let (host, port) = match text.rsplit_once([':', ',']) {
            Some((host, port)) if !text.ends_with(']') => (host, port.parse().map_err(|_| wrong())?),
            _ => (text, PORT),
        };
        let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
        if bare.is_empty() || (bare.contains(':') && bare.parse::<IpAddr>().is_err()) {
            return Err(wrong());
        }
        Ok(Address { host: bare.to_string(), port })
    }
}

impl std::fmt::Display for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.host.contains(':') {
            true => write!(f, "[{}]:{}", self.host, self.port),
            false => write!(f, "{}:{}", self.host, self.port),
        }
    }
}

impl Address {
    /// Whether it is this computer, as far as the name tells.
    pub fn is_loopback(&self) -> bool {
        self.host.eq_ignore_ascii_case("localhost") || self.host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
    }

    /// The addresses that the host has. `localhost` is this computer also where no file of hosts says so, as in a container that
    /// was made of nothing (RFC 6761, 6.3).
    pub(crate) fn resolve(&self) -> Result<Vec<SocketAddr>, ClientError> {
        if self.host.eq_ignore_ascii_case("localhost") {
            let own = [IpAddr::from(Ipv4Addr::LOCALHOST), IpAddr::from(Ipv6Addr::LOCALHOST)];
            return Ok(own.map(|address| SocketAddr::new(address, self.port)).into());
        }
        let failed = |error| ClientError::Unreachable { address: self.to_string(), error };
        Ok((self.host.as_str(), self.port).to_socket_addrs().map_err(failed)?.collect())
    }
}

/// Whether the connection is encrypted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Encryption {
    /// From the first byte on (TDS 8.0).
    Strict(Trust),
    /// As the two sides agree on in their first messages (TDS 7.4).
    Negotiated {
        /// Everything is encrypted, or there is no connection. Else the login is encrypted whenever the server can, and what
        /// follows if it asks for it.
        required: bool,
        /// Whose certificates are believed.
        trust: Trust,
    },
    /// Not at all. Only to the own computer: the password would travel readable for all.
    Off,
}

/// Whose certificates are believed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trust {
    /// Those that the system's authorities have signed, for the host's name.
    System,
    /// Those in this file, or signed by one of them, for the host's name.
    File(PathBuf),
    /// Any: who answers is not looked at.
    Any,
}

/// How to connect.
#[derive(Clone)]
pub struct ConnectOptions {
    /// The server.
    pub address: Address,
    /// The login's name.
    pub user: String,
    /// The login's password.
    pub password: String,
    /// The database to begin in; empty for the login's own.
    pub database: String,
    /// The program's name, for the server's views.
    pub application: String,
    /// Whether the connection is encrypted.
    pub encryption: Encryption,
    /// How long to wait for the server up to the login.
    pub login_time: Duration,
    /// The client's computer, for the server's views; empty for its own name.
    pub workstation: String,
    /// The size of packets that is asked for, in bytes.
    pub packet_bytes: u32,
    /// The password that the login is to have from now on.
    pub new_password: Option<String>,
    /// Nothing but reading is meant to be done.
    pub is_read_only: bool,
    /// The name that the certificate is to be for, where it is not the host's.
    pub certificate_host: Option<String>,
}

impl ConnectOptions {
    /// To a server as a login, encrypted, believing the system's authorities.
    pub fn new(address: Address, user: impl Into<String>, password: impl Into<String>) -> ConnectOptions {
        ConnectOptions {
            address,
            user: user.into(),
            password: password.into(),
            database: String::new(),
            application: "pikepole".to_string(),
            encryption: Encryption::Strict(Trust::System),
            login_time: Duration::from_secs(30),
            workstation: String::new(),
            packet_bytes: PACKET_BYTES,
            new_password: None,
            is_read_only: false,
            certificate_host: None,
        }
    }
}

impl std::fmt::Debug for ConnectOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let ConnectOptions { address, user, database, encryption, .. } = self;
        write!(f, "{user}@{address}/{database}, {encryption:?}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_are_named_as_tools_name_them() {
        let address = |host: &str, port| Ok(Address { host: host.to_string(), port });
        for (text, expected) in [
            ("db", address("db", 1433)),
            ("db:1500", address("db", 1500)),
            ("db,1500", address("db", 1500)),
            ("tcp:db,1500", address("db", 1500)),
            ("127.0.0.1", address("127.0.0.1", 1433)),
            ("::1", address("::1", 1433)),
            ("[::1]:1500", address("::1", 1500)),
            ("[::1]", address("::1", 1433)),
        ] {
            assert_eq!(text.parse::<Address>(), expected, "{text}");
        }
        for wrong in ["", ":1", "db:", "db:x", "db:70000", "a:b:1"] {
            assert!(wrong.parse::<Address>().is_err(), "{wrong}");
        }
        assert_eq!("[::1]:15".parse::<Address>().map(|address| address.to_string()), Ok("[::1]:15".to_string()));
    }

    #[test]
    fn a_password_is_not_shown() {
        let options = ConnectOptions::new("db".parse().expect("an address"), "sa", "deep-Water7");
        assert!(!format!("{options:?}").contains("deep"));
    }
}
