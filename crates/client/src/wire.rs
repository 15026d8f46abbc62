//! The socket, with TLS over it when it is on, and packets to and from it.
//!
//! One thread reads; any may write, whole messages at a time: an attention comes from another thread than the one that waits
//! for the answer. TLS keeps both directions in one state, so a lock is about it; nobody holds it while waiting for bytes.

use crate::ClientError;
use pikepole_contention::sync::{Arc, Mutex, MutexGuard};
use pikepole_tds::{
    HEADER_BYTES, PACKET_BYTES_DEFAULT, PacketHeader, PacketKind, PacketStatus, TdsError, write_packets,
};
use rustls::ClientConnection;
use std::io::{self, Read, Write};
use std::net::TcpStream;

/// Bytes read from the socket at once.
const READ_BYTES: usize = 32 * 1024;

/// What both directions share.
pub(crate) struct Wire {
    socket: TcpStream,
    tls: Option<Mutex<ClientConnection>>,
}

fn lock(tls: &Mutex<ClientConnection>) -> MutexGuard<'_, ClientConnection> {
    // A panic within TLS leaves a state whose next use is an error.
    tls.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

impl Wire {
    pub(crate) fn new(socket: TcpStream, tls: Option<ClientConnection>) -> Wire {
        Wire { socket, tls: tls.map(Mutex::new) }
    }

    pub(crate) fn socket(&self) -> &TcpStream {
        &self.socket
    }

    /// Writes packets.
    pub(crate) fn write(&self, packets: &[u8]) -> io::Result<()> {
        let Some(tls) = &self.tls else { return (&self.socket).write_all(packets) };
        let mut tls = lock(tls);
        let mut rest = packets;
        while !rest.is_empty() || tls.wants_write() {
            // It takes as much as it has room for, and has room again when that is written.
            let taken = tls.writer().write(rest)?;
            rest = &rest[taken..];
            while tls.wants_write() {
                tls.write_tls(&mut &self.socket)?;
            }
        }
        Ok(())
    }
}

/// Reads packets.
pub(crate) struct Reader {
    wire: Arc<Wire>,
    /// What came from the socket and is still encrypted.
    raw: Vec<u8>,
    /// Room for packets, of which the bytes from `taken` to `filled` are to be looked at.
    input: Vec<u8>,
    taken: usize,
    filled: usize,
}

impl Reader {
    pub(crate) fn new(wire: Arc<Wire>) -> Reader {
        let raw = if wire.tls.is_some() { vec![0; READ_BYTES] } else { Vec::new() };
        Reader { wire, raw, input: Vec::new(), taken: 0, filled: 0 }
    }

    /// Appends the payload of the next packet; whether it is its message's last.
    pub(crate) fn packet(&mut self, payload: &mut Vec<u8>) -> Result<bool, ClientError> {
        loop {
            let rest = &self.input[self.taken..self.filled];
            if let Some(header) = rest.first_chunk::<HEADER_BYTES>() {
                let header = PacketHeader::parse(*header)?;
                if header.kind != PacketKind::Reply {
                    let what = format!("A packet of the kind {:?} is no reply", header.kind);
                    return Err(TdsError::Malformed(what).into());
                }
                let length = usize::from(header.length);
                if rest.len() >= length {
                    payload.extend_from_slice(&rest[HEADER_BYTES..length]);
                    self.taken += length;
                    return Ok(header.status.is_end());
                }
            }
            self.fill()?;
        }
    }

    /// Waits for bytes.
    fn fill(&mut self) -> io::Result<()> {
        self.input.copy_within(self.taken..self.filled, 0);
        self.filled -= self.taken;
        self.taken = 0;
        let Some(tls) = &self.wire.tls else {
            make_room(&mut self.input, self.filled, READ_BYTES);
            self.filled += read(&self.wire.socket, &mut self.input[self.filled..])?;
            return Ok(());
        };
        let count = read(&self.wire.socket, &mut self.raw)?;
        let mut tls = lock(tls);
        let mut raw = &self.raw[..count];
        while !raw.is_empty() {
            tls.read_tls(&mut raw)?;
            let state = tls.process_new_packets().map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
            let plain = state.plaintext_bytes_to_read();
            make_room(&mut self.input, self.filled, plain);
            tls.reader().read_exact(&mut self.input[self.filled..self.filled + plain])?;
            self.filled += plain;
            if state.peer_has_closed() && plain == 0 {
                return Err(closed());
            }
        }
        // What TLS itself has to say.
        while tls.wants_write() {
            tls.write_tls(&mut &self.wire.socket)?;
        }
        Ok(())
    }
}

/// Grows a buffer so that `count` bytes have room behind those that are `filled`.
fn make_room(buffer: &mut Vec<u8>, filled: usize, count: usize) {
    if buffer.len() < filled + count {
        buffer.resize(filled + count, 0);
    }
}

fn closed() -> io::Error {
    io::Error::new(io::ErrorKind::UnexpectedEof, "the server has closed it")
}

/// Reads at least a byte.
fn read(mut socket: &TcpStream, bytes: &mut [u8]) -> io::Result<usize> {
    loop {
        match socket.read(bytes) {
            Ok(0) => return Err(closed()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                return Err(io::Error::new(io::ErrorKind::TimedOut, "the server does not answer"));
            }
            other => return other,
        }
    }
}

/// Appends a message as packets of the size that the login has settled.
pub(crate) fn put_message(kind: PacketKind, payload: &[u8], packet_bytes: usize, out: &mut Vec<u8>) {
    write_packets(kind, PacketStatus::default(), payload, packet_bytes, out);
}

/// The bytes of an attention.
pub(crate) fn attention() -> Vec<u8> {
    let mut out = Vec::new();
    put_message(PacketKind::Attention, &[], PACKET_BYTES_DEFAULT, &mut out);
    out
}
