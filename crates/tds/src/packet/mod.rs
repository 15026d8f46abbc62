//! Packets: the 8-byte header, and the way between packets and messages.
//!
//! ```text
//!   byte  0     1       2 3               4 5            6          7
//!        kind  status  length, big-endian session id,   packet id  window
//!                      (header included)  big-endian    from 1     0
//! ```
//!
//! A message is the payloads of packets of one kind up to the one whose status says that it is the last.

mod reassemble;
mod write;

pub use reassemble::{Message, Reassembler};
pub(crate) use write::KEPT_BYTES_MAX;
pub use write::{MessageWriter, write_packets};

use crate::error::TdsError;

/// Bytes of a packet's header.
pub const HEADER_BYTES: usize = 8;
/// The size of packets before a login asks for another one.
pub const PACKET_BYTES_DEFAULT: usize = 4096;
/// The smallest size a login may ask for.
pub const PACKET_BYTES_MIN: usize = 512;
/// The largest size a login may ask for.
pub const PACKET_BYTES_MAX: usize = 32_767;

/// What a message is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PacketKind {
    /// A batch of statements as text.
    SqlBatch,
    /// Procedure calls.
    Rpc,
    /// The server's reply, also to PRELOGIN.
    Reply,
    /// Stop what runs.
    Attention,
    /// Rows of a bulk load.
    BulkLoad,
    /// A token for federated authentication.
    FederatedToken,
    /// Begin, commit, roll back, save.
    TransactionManager,
    /// The login.
    Login7,
    /// A part of an integrated login.
    Sspi,
    /// What comes before the login, and the TLS handshake.
    PreLogin,
}

impl PacketKind {
    /// The kind of a header's first byte.
    pub fn from_byte(byte: u8) -> Option<PacketKind> {
        Some(match byte {
            0x01 => PacketKind::SqlBatch,
            0x03 => PacketKind::Rpc,
            0x04 => PacketKind::Reply,
            0x06 => PacketKind::Attention,
            0x07 => PacketKind::BulkLoad,
            0x08 => PacketKind::FederatedToken,
            0x0E => PacketKind::TransactionManager,
            0x10 => PacketKind::Login7,
            0x11 => PacketKind::Sspi,
            0x12 => PacketKind::PreLogin,
            _ => return None,
        })
    }

    /// A header's first byte.
    pub fn byte(self) -> u8 {
        match self {
            PacketKind::SqlBatch => 0x01,
            PacketKind::Rpc => 0x03,
            PacketKind::Reply => 0x04,
            PacketKind::Attention => 0x06,
            PacketKind::BulkLoad => 0x07,
            PacketKind::FederatedToken => 0x08,
            PacketKind::TransactionManager => 0x0E,
            PacketKind::Login7 => 0x10,
            PacketKind::Sspi => 0x11,
            PacketKind::PreLogin => 0x12,
        }
    }
}

/// The status bits of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct PacketStatus(pub u8);

impl PacketStatus {
    /// The last packet of its message.
    pub const END: PacketStatus = PacketStatus(0x01);

    /// Whether the message ends here.
    pub fn is_end(self) -> bool {
        self.0 & 0x01 != 0
    }

    /// Whether the client takes the message back; only in its last packet.
    pub fn is_ignored(self) -> bool {
        self.0 & 0x02 != 0
    }

    /// Whether the session is to be reset before the request; in the first packet of a message.
    pub fn resets_connection(self) -> bool {
        self.0 & 0x18 != 0
    }

    /// Whether that reset leaves the transaction as it is.
    pub fn keeps_transaction(self) -> bool {
        self.0 & 0x10 != 0
    }
}

/// The header of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PacketHeader {
    /// What the packet's message is.
    pub kind: PacketKind,
    /// Its status bits.
    pub status: PacketStatus,
    /// Bytes of the packet, header included.
    pub length: u16,
    /// The session that answers; a client's value means nothing.
    pub session: u16,
    /// Counts the packets of a message, modulo 256; a client's value means nothing.
    pub packet: u8,
}

impl PacketHeader {
    /// Reads a header.
    ///
    /// # Errors
    /// An unknown kind; a length below the header's own.
    pub fn parse(bytes: [u8; HEADER_BYTES]) -> Result<PacketHeader, TdsError> {
        let [kind, status, length_high, length_low, session_high, session_low, packet, _window] = bytes;
        let Some(kind) = PacketKind::from_byte(kind) else {
            return Err(TdsError::malformed(format!("Packet type 0x{kind:02X} is unknown")));
        };
        let length = u16::from_be_bytes([length_high, length_low]);
        if usize::from(length) < HEADER_BYTES {
            return Err(TdsError::malformed(format!("A packet of {length} bytes is shorter than its header")));
        }
        let session = u16::from_be_bytes([session_high, session_low]);
        Ok(PacketHeader { kind, status: PacketStatus(status), length, session, packet })
    }

    /// The header's bytes.
    pub fn to_bytes(self) -> [u8; HEADER_BYTES] {
        let ([length_high, length_low], [session_high, session_low]) =
            (self.length.to_be_bytes(), self.session.to_be_bytes());
        [self.kind.byte(), self.status.0, length_high, length_low, session_high, session_low, self.packet, 0]
    }
}

#[cfg(test)]
mod tests;
