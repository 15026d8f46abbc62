//! Where a server listens, as people write it.

use super::super::CommandError;
use pikepole_server::{Bound, PORT};
use std::io::ErrorKind;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs};
use std::str::FromStr;

/// An address to listen at: `1433`, `:1433`, `host`, `host:1433`, `[::1]:1433`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listen {
    host: Host,
    port: u16,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Host {
    /// Only a port was given.
    Default,
    /// `:1433`
    All,
    One(IpAddr),
    Name(String),
}

impl FromStr for Listen {
    type Err = String;

    fn from_str(text: &str) -> Result<Listen, String> {
        let wrong = || format!("`{text}` is no address to listen at: PORT, :PORT, HOST, HOST:PORT or [ADDRESS]:PORT");
        if text.bytes().all(|byte| byte.is_ascii_digit()) {
            return Ok(Listen { host: Host::Default, port: text.parse().map_err(|_| wrong())? });
        }
        if let Ok(address) = text.parse::<IpAddr>() {
            return Ok(Listen { host: Host::One(address), port: PORT });
        }
        let (host, port) = match text.rsplit_once(':') {
            Some((host, port)) if !text.ends_with(']') => (host, port.parse().map_err(|_| wrong())?),
            _ => (text, PORT),
        };
        let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
        let host = match (host, bare) {
            ("" | "*", _) => Host::All,
            (_, Some(address)) => Host::One(IpAddr::V6(address.parse().map_err(|_| wrong())?)),
            (name, None) if name.contains([':', '[', ']', '/', ' ']) => return Err(wrong()),
            (name, None) => name.parse().map_or_else(|_| Host::Name(name.to_owned()), Host::One),
        };
        Ok(Listen { host, port })
    }
}

impl Listen {
    /// A port of an address.
    pub fn at(address: IpAddr, port: u16) -> Listen {
        Listen { host: Host::One(address), port }
    }

    /// Binds what it stands for. Of several addresses those count that the machine has.
    ///
    /// # Errors
    /// None of its addresses can be listened at; one is taken by another process.
    pub fn bind(&self, default: IpAddr, bound: &mut Bound) -> Result<(), CommandError> {
        let addresses = self.addresses(default)?;
        let mut refused = None;
        let mut port = self.port;
        let mut count = 0;
        for address in addresses {
            match bound.add(SocketAddr::new(address, port)) {
                Ok(given) => {
                    // The same port on each, also where the system chooses it.
                    port = given.port();
                    count += 1;
                }
                Err(error) if is_missing(&error) => refused = Some(error),
                Err(error) => return Err(error.into()),
            }
        }
        match refused {
            Some(error) if count == 0 => Err(error.into()),
            _ => Ok(()),
        }
    }

    fn addresses(&self, default: IpAddr) -> Result<Vec<IpAddr>, CommandError> {
        Ok(match &self.host {
            Host::Default => vec![default],
            Host::All => vec![IpAddr::V4(Ipv4Addr::UNSPECIFIED), IpAddr::V6(Ipv6Addr::UNSPECIFIED)],
            Host::One(address) => vec![*address],
            Host::Name(name) => {
                let failed = CommandError::io(format!("the address {name} to listen at"));
                let mut addresses: Vec<IpAddr> =
                    (name.as_str(), self.port).to_socket_addrs().map_err(failed)?.map(|found| found.ip()).collect();
                addresses.dedup();
                addresses
            }
        })
    }
}

/// Whether the machine does not have the address, or no addresses of its kind.
fn is_missing(error: &pikepole_server::StartError) -> bool {
    let pikepole_server::StartError::Listen { error, .. } = error else { return false };
    // EAFNOSUPPORT has no kind of its own.
    matches!(error.kind(), ErrorKind::AddrNotAvailable | ErrorKind::Unsupported) || error.raw_os_error() == Some(97)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_taken_as_people_write_them() {
        let four = |text: &str| Host::One(IpAddr::V4(text.parse().expect("an address")));
        let six = |text: &str| Host::One(IpAddr::V6(text.parse().expect("an address")));
        for (text, host, port) in [
            ("1500", Host::Default, 1500),
            (":1500", Host::All, 1500),
            ("*:1500", Host::All, 1500),
            ("localhost:1500", Host::Name("localhost".to_owned()), 1500),
            ("localhost", Host::Name("localhost".to_owned()), PORT),
            ("127.0.0.1:1500", four("127.0.0.1"), 1500),
            ("0.0.0.0", four("0.0.0.0"), PORT),
            ("[::1]:1500", six("::1"), 1500),
            ("[::1]", six("::1"), PORT),
            ("::1", six("::1"), PORT),
        ] {
            assert_eq!(text.parse(), Ok(Listen { host, port }), "{text}");
        }
        for wrong in ["", "70000", "db:", "db:x", "a:b:1", "[x]:1", "[::1", "http://a:1"] {
            assert!(wrong.parse::<Listen>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_name_stands_for_all_its_addresses_with_one_port() {
        let loopback = IpAddr::V4(Ipv4Addr::LOCALHOST);
        for text in ["0", ":0", "localhost:0", "127.0.0.1:0"] {
            let listen: Listen = text.parse().expect("an address");
            listen.bind(loopback, &mut Bound::default()).unwrap_or_else(|error| panic!("{text}: {error}"));
        }
    }
}
