//! From tokens to packets.
//!
//! ```text
//!   tokens ──▶ pending: whole tokens, not yet cut ──▶ ready: whole packets ──▶ the socket
//! ```
//!
//! A token is put together in `pending` in one piece, so that its length can be filled in and a failed one taken back. Whenever
//! `pending` holds more than a packet, packets are cut off it. The last packet is cut by [`MessageWriter::finish`], which
//! marks it; so one packet is always held back until then.

use super::{
    HEADER_BYTES, PACKET_BYTES_DEFAULT, PACKET_BYTES_MAX, PACKET_BYTES_MIN, PacketHeader, PacketKind, PacketStatus,
};
use crate::put::Put;
use crate::value::WireCollation;
use crate::version::TdsVersion;
use pikepole_types::{CodePage, Collation, Length, SqlType};

/// The most UTF-16 units of an `nvarchar` that has a limit.
const UTF16_UNITS_MAX: u16 = 4000;
/// Buffers longer than this are given back to the system once they are empty.
pub(crate) const KEPT_BYTES_MAX: usize = 256 << 10;

/// Writes messages as packets.
///
/// Tokens are methods of their own (`columns`, `row`, `done`, `error` and so on). After each, [`ready`](Self::ready) may hold
/// whole packets; the caller sends them and says so with [`consume`](Self::consume), or makes the session wait when there are
/// too many.
#[derive(Debug)]
pub struct MessageWriter {
    pub(crate) version: TdsVersion,
    /// The client reads UTF-8.
    knows_utf8: bool,
    pub(crate) pending: Vec<u8>,
    ready: Vec<u8>,
    /// How many bytes at the front of `ready` are sent.
    sent: usize,
    payload_max: usize,
    session: u16,
    packet: u8,
}

impl MessageWriter {
    /// A writer of packets of the default size.
    pub fn new(version: TdsVersion, session: u16) -> MessageWriter {
        MessageWriter {
            version,
            knows_utf8: false,
            pending: Vec::new(),
            ready: Vec::new(),
            sent: 0,
            payload_max: PACKET_BYTES_DEFAULT - HEADER_BYTES,
            session,
            packet: 1,
        }
    }

    /// The version that tokens are written in.
    pub fn version(&self) -> TdsVersion {
        self.version
    }

    /// Sets the version, once the login has told it.
    pub fn set_version(&mut self, version: TdsVersion) {
        self.version = version;
    }

    /// Sets whether the client reads texts of UTF-8 collations as such: it has asked for that at its login.
    pub fn set_knows_utf8(&mut self, knows_utf8: bool) {
        self.knows_utf8 = knows_utf8;
    }

    /// The type that values of `ty` are sent in: to a client that takes UTF-8 for another code page, texts of UTF-8 collations go in
    /// UTF-16. A `varchar` of more than 4,000 bytes may have more characters than an `nvarchar` of a limited length.
    pub fn type_sent(&self, ty: SqlType, collation: Collation) -> SqlType {
        if self.knows_utf8 || collation.code_page() != CodePage::Utf8 {
            return ty;
        }
        match ty {
            SqlType::Char(n @ ..=UTF16_UNITS_MAX) => SqlType::NChar(n),
            SqlType::VarChar(Length::Limit(n @ ..=UTF16_UNITS_MAX)) => SqlType::NVarChar(Length::Limit(n)),
            SqlType::Char(_) | SqlType::VarChar(_) => SqlType::NVarChar(Length::Max),
            SqlType::Text => SqlType::NText,
            other => other,
        }
    }

    /// The collation of the database, as the client is to know it: the texts that it sends are in the code page that it sees there.
    pub fn collation_told(&self, collation: Collation) -> WireCollation {
        let told = WireCollation::of(collation);
        if self.knows_utf8 { told } else { told.without_utf8() }
    }

    /// Sets the number of the session that answers, once the login has made one.
    pub fn set_session(&mut self, session: u16) {
        self.session = session;
    }

    /// Sets the size of packets, header included; it is kept within what the protocol allows. Packets already cut stay.
    pub fn set_packet_bytes(&mut self, bytes: usize) {
        self.payload_max = bytes.clamp(PACKET_BYTES_MIN, PACKET_BYTES_MAX) - HEADER_BYTES;
    }

    /// Appends bytes that are no token, such as the reply to PRELOGIN.
    pub fn raw(&mut self, bytes: &[u8]) {
        self.pending.extend_from_slice(bytes);
        self.cut();
    }

    /// Whole packets to send.
    pub fn ready(&self) -> &[u8] {
        &self.ready[self.sent..]
    }

    /// The first `count` bytes of [`ready`](Self::ready) are sent. More than there are count as all.
    pub fn consume(&mut self, count: usize) {
        self.sent = self.ready.len().min(self.sent + count);
        if self.sent == self.ready.len() {
            self.ready.clear();
            self.sent = 0;
            self.ready.shrink_to(KEPT_BYTES_MAX);
        }
    }

    /// Bytes of both buffers.
    #[cfg(test)]
    pub(super) fn held_bytes(&self) -> usize {
        self.pending.capacity() + self.ready.capacity()
    }

    /// Whether nothing of a message is held back: between messages.
    pub fn is_at_start(&self) -> bool {
        self.pending.is_empty() && self.packet == 1
    }

    /// Cuts what there is of the message, though it fills no packet, for a client that is to have it now.
    pub fn push(&mut self) {
        self.cut();
        if self.pending.is_empty() {
            return;
        }
        let mut payload = std::mem::take(&mut self.pending);
        self.packet(PacketKind::Reply, PacketStatus::default(), &payload);
        payload.clear();
        self.pending = payload;
    }

    /// Ends the message: the last packet is cut, perhaps an empty one.
    pub fn finish(&mut self) {
        self.finish_as(PacketKind::Reply);
    }

    /// As [`finish`](Self::finish), with the packets that are still to be cut of another kind.
    pub fn finish_as(&mut self, kind: PacketKind) {
        let payload = std::mem::take(&mut self.pending);
        let from = self.full_packets(kind, &payload);
        self.packet(kind, PacketStatus::END, &payload[from..]);
        self.packet = 1;
        self.pending = payload;
        self.pending.clear();
        self.pending.shrink_to(KEPT_BYTES_MAX);
    }

    /// Drops what is not cut yet. For a reply that is given up together with its connection.
    pub fn abandon(&mut self) {
        self.pending.clear();
    }

    /// Writes a token whose length stands in front; false when that has no room in two bytes.
    pub(crate) fn counted(&mut self, token: u8, body: impl FnOnce(&mut Vec<u8>)) -> bool {
        let out = &mut self.pending;
        out.put_u8(token);
        let at = out.len();
        out.put_u16(0);
        body(out);
        let length = u16::try_from(out.len() - at - 2);
        out[at..at + 2].copy_from_slice(&length.unwrap_or(0).to_le_bytes());
        length.is_ok()
    }

    /// Cuts packets off what is pending, as long as more than one is there.
    pub(crate) fn cut(&mut self) {
        if self.pending.len() <= self.payload_max {
            return;
        }
        let mut payload = std::mem::take(&mut self.pending);
        let cut = self.full_packets(PacketKind::Reply, &payload);
        payload.drain(..cut);
        payload.shrink_to(KEPT_BYTES_MAX);
        self.pending = payload;
    }

    /// Cuts full packets of a payload until at most one packet's bytes are left; the number of bytes that were cut.
    fn full_packets(&mut self, kind: PacketKind, payload: &[u8]) -> usize {
        // At once: a long row's packets are as long as it is, and a buffer that doubles could be twice that.
        let packets = payload.len() / self.payload_max;
        self.ready.reserve((packets + 1) * (HEADER_BYTES + self.payload_max));
        let mut from = 0;
        while payload.len() - from > self.payload_max {
            self.packet(kind, PacketStatus::default(), &payload[from..from + self.payload_max]);
            from += self.payload_max;
        }
        from
    }

    fn packet(&mut self, kind: PacketKind, status: PacketStatus, payload: &[u8]) {
        let length = (HEADER_BYTES + payload.len()) as u16;
        let header = PacketHeader { kind, status, length, session: self.session, packet: self.packet };
        self.ready.extend_from_slice(&header.to_bytes());
        self.ready.extend_from_slice(payload);
        self.packet = self.packet.wrapping_add(1);
    }
}

/// Appends the packets of a whole message, `packet_bytes` each, header included. TLS handshakes travel so, and clients'
/// messages.
pub fn write_packets(kind: PacketKind, first: PacketStatus, payload: &[u8], packet_bytes: usize, out: &mut Vec<u8>) {
    let payload_max = packet_bytes.clamp(HEADER_BYTES + 1, PACKET_BYTES_MAX) - HEADER_BYTES;
    let mut pieces = payload.chunks(payload_max);
    let mut next = Some(pieces.next().unwrap_or_default());
    let mut number = 1u8;
    while let Some(piece) = next {
        next = pieces.next();
        let mut status = if number == 1 { first.0 } else { 0 };
        if next.is_none() {
            status |= PacketStatus::END.0;
        }
        let length = (HEADER_BYTES + piece.len()) as u16;
        let header = PacketHeader { kind, status: PacketStatus(status), length, session: 0, packet: number };
        out.extend_from_slice(&header.to_bytes());
        out.extend_from_slice(piece);
        number = number.wrapping_add(1);
    }
}
