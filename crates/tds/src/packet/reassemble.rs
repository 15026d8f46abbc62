//! From a socket's bytes to messages.
//!
//! Bytes may come cut at any place. A message is gathered up to its last packet, within the limit, and given out whole. A
//! bulk load may be of any length: it is given out packet by packet.

use super::{HEADER_BYTES, PacketHeader, PacketKind, PacketStatus};
use crate::error::TdsError;
use crate::limits::Limits;

/// A whole message, or a part of a bulk load.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// What it is.
    pub kind: PacketKind,
    /// The status bits of the message's first packet: whether to reset the connection.
    pub first_status: PacketStatus,
    /// Whether this is the end of the message: false only for the parts of a bulk load before its last.
    pub is_end: bool,
    /// Whether the client took the message back while it sent it; `data` is empty then.
    pub is_ignored: bool,
    /// The payload.
    pub data: Vec<u8>,
}

/// Gathers messages out of bytes.
#[derive(Debug)]
pub struct Reassembler {
    limits: Limits,
    /// The header of the packet under way, as far as it is there.
    header: [u8; HEADER_BYTES],
    header_filled: usize,
    /// The packet under way, and how many bytes of its payload are still to come.
    packet: Option<(PacketHeader, usize)>,
    /// The message under way: its kind and its first packet's status.
    message: Option<(PacketKind, PacketStatus)>,
    data: Vec<u8>,
}

impl Reassembler {
    /// Nothing has come yet.
    pub fn new(limits: Limits) -> Reassembler {
        Reassembler {
            limits,
            header: [0; HEADER_BYTES],
            header_filled: 0,
            packet: None,
            message: None,
            data: Vec::new(),
        }
    }

    /// Bytes of the message that is being gathered.
    pub fn gathered(&self) -> usize {
        self.data.len()
    }

    /// Sets other limits, for packets from the next one on.
    pub fn set_limits(&mut self, limits: Limits) {
        self.limits = limits;
    }

    /// Gives back a message's buffer for the next one.
    pub fn recycle(&mut self, mut buffer: Vec<u8>) {
        const KEPT_BYTES_MAX: usize = 256 << 10;
        if self.data.capacity() == 0 && buffer.capacity() <= KEPT_BYTES_MAX {
            buffer.clear();
            self.data = buffer;
        }
    }

    /// Whether a message has begun and not ended: a client that stops here may be timed out.
    pub fn is_inside_message(&self) -> bool {
        self.message.is_some() || self.packet.is_some() || self.header_filled > 0
    }

    /// Takes bytes from the front of `input`, up to the end of a message, and gives the message. `None` when the input is
    /// used up before that.
    ///
    /// # Errors
    /// What is not a packet, a packet of another kind inside a message, and what exceeds a limit. The stream cannot be read
    /// any further then.
    pub fn feed(&mut self, input: &mut &[u8]) -> Result<Option<Message>, TdsError> {
        loop {
            let (header, missing) = match self.packet {
                Some(packet) => packet,
                None => match self.next_header(input)? {
                    Some(packet) => packet,
                    None => return Ok(None),
                },
            };
            let (payload, rest) = input.split_at(missing.min(input.len()));
            *input = rest;
            self.data.extend_from_slice(payload);
            let missing = missing - payload.len();
            if missing > 0 {
                self.packet = Some((header, missing));
                return Ok(None);
            }
            self.packet = None;
            if let Some(message) = self.end_packet(header) {
                return Ok(Some(message));
            }
        }
    }

    /// Reads on in the header of a packet; when it is whole, checks it.
    fn next_header(&mut self, input: &mut &[u8]) -> Result<Option<(PacketHeader, usize)>, TdsError> {
        let count = (HEADER_BYTES - self.header_filled).min(input.len());
        let (taken, rest) = input.split_at(count);
        self.header[self.header_filled..self.header_filled + count].copy_from_slice(taken);
        self.header_filled += count;
        *input = rest;
        // What does not speak TDS shows in the first byte: no need to wait for eight.
        if self.header_filled > 0 && PacketKind::from_byte(self.header[0]).is_none() {
            return Err(TdsError::malformed(format!("Packet type 0x{:02X} is unknown", self.header[0])));
        }
        if self.header_filled < HEADER_BYTES {
            return Ok(None);
        }
        self.header_filled = 0;
        let header = PacketHeader::parse(self.header)?;
        let payload = usize::from(header.length) - HEADER_BYTES;
        if usize::from(header.length) > self.limits.packet_bytes_max {
            return Err(TdsError::Limit { what: "bytes of a packet", limit: self.limits.packet_bytes_max });
        }
        match self.message {
            Some((kind, _)) if kind != header.kind => {
                return Err(TdsError::malformed("A message has packets of two types"));
            }
            Some(_) => {}
            None => self.message = Some((header.kind, header.status)),
        }
        if self.data.len() + payload > self.limits.message_bytes_max {
            return Err(TdsError::Limit { what: "bytes of a message", limit: self.limits.message_bytes_max });
        }
        Ok(Some((header, payload)))
    }

    /// A packet is whole: gives the message if it is its last one, or if it is a part of a bulk load.
    fn end_packet(&mut self, header: PacketHeader) -> Option<Message> {
        let (kind, first_status) = self.message?;
        let is_end = header.status.is_end();
        if !is_end && kind != PacketKind::BulkLoad {
            return None;
        }
        if is_end {
            self.message = None;
        }
        let is_ignored = is_end && header.status.is_ignored();
        if is_ignored {
            self.data.clear();
        }
        Some(Message { kind, first_status, is_end, is_ignored, data: std::mem::take(&mut self.data) })
    }
}
