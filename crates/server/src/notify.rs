//! Telling systemd how the start goes, that the server is ready, and that it ends: datagrams to the socket that NOTIFY_SOCKET
//! names. `systemctl status` shows their texts.

use std::io;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};

/// Says what the server does before it is ready. Nothing happens where nobody wants to know.
pub fn starting(status: &str) {
    tell(&format!("STATUS={status}"));
}

/// Says that the server is ready.
pub fn ready(status: &str) {
    tell(&format!("READY=1\nSTATUS={status}"));
}

/// Says that the server is about to end.
pub fn stopping(status: &str) {
    tell(&format!("STOPPING=1\nSTATUS={status}"));
}

fn tell(state: &str) {
    let Some(name) = std::env::var_os("NOTIFY_SOCKET") else { return };
    if let Err(error) = send(name.as_bytes(), state) {
        tracing::warn!("systemd could not be told {state}: {error}");
    }
}

/// A name that begins with `@` is one in the abstract namespace.
fn send(name: &[u8], state: &str) -> io::Result<()> {
    let address = match name {
        [b'@', name @ ..] => SocketAddr::from_abstract_name(name)?,
        _ => SocketAddr::from_pathname(std::ffi::OsStr::from_bytes(name))?,
    };
    UnixDatagram::unbound()?.send_to_addr(state.as_bytes(), &address).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_arrives_in_either_namespace() {
        let folder = std::env::temp_dir().join(format!("pikepole-notify-{}", std::process::id()));
        let socket = UnixDatagram::bind(&folder).expect("a socket");
        send(folder.as_os_str().as_bytes(), "READY=1").expect("it is there");
        let mut bytes = [0; 32];
        let count = socket.recv(&mut bytes).expect("a datagram");
        assert_eq!(&bytes[..count], b"READY=1");
        std::fs::remove_file(&folder).expect("it was there");

        let name = format!("pikepole-notify-{}", std::process::id());
        let address = SocketAddr::from_abstract_name(&name).expect("a name");
        let socket = UnixDatagram::bind_addr(&address).expect("a socket");
        send(format!("@{name}").as_bytes(), "STOPPING=1").expect("it is there");
        let count = socket.recv(&mut bytes).expect("a datagram");
        assert_eq!(&bytes[..count], b"STOPPING=1");
    }
}
