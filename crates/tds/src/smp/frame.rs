//! Frames: the 16-byte header, and how frames are found in a stream.

use crate::error::TdsError;
use crate::packet::PACKET_BYTES_MAX;

/// Bytes of a frame's header.
pub const SMP_HEADER_BYTES: usize = 16;
/// What every frame begins with.
const MARK: u8 = 0x53;

/// What a frame is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FrameKind {
    /// SYN: a session begins.
    Open,
    /// ACK: the window has moved.
    Acknowledge,
    /// FIN: the sender sends nothing more in this session.
    Close,
    /// DATA: a packet of the session.
    Data,
}

impl FrameKind {
    /// The kind of a header's flags, of which exactly one is set.
    fn from_byte(byte: u8) -> Option<FrameKind> {
        match byte {
            0x01 => Some(FrameKind::Open),
            0x02 => Some(FrameKind::Acknowledge),
            0x04 => Some(FrameKind::Close),
            0x08 => Some(FrameKind::Data),
            _ => None,
        }
    }

    fn byte(self) -> u8 {
        match self {
            FrameKind::Open => 0x01,
            FrameKind::Acknowledge => 0x02,
            FrameKind::Close => 0x04,
            FrameKind::Data => 0x08,
        }
    }
}

/// The header of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FrameHeader {
    /// What it is for.
    pub kind: FrameKind,
    /// The session it belongs to.
    pub session: u16,
    /// Bytes of the frame, header included.
    pub length: u32,
    /// The number of the sender's last DATA of this session, this one included.
    pub sequence: u32,
    /// The highest number that the receiver of this frame may send.
    pub window: u32,
}

impl FrameHeader {
    /// Reads a header.
    ///
    /// # Errors
    /// Bytes that are none; a length that no frame of its kind has.
    pub fn parse(bytes: [u8; SMP_HEADER_BYTES]) -> Result<FrameHeader, TdsError> {
        let number = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        if bytes[0] != MARK {
            return Err(TdsError::malformed(format!("A frame begins with 0x{:02X}", bytes[0])));
        }
        let Some(kind) = FrameKind::from_byte(bytes[1]) else {
            return Err(TdsError::malformed(format!("A frame has the flags 0x{:02X}", bytes[1])));
        };
        let (header, length) = (SMP_HEADER_BYTES as u32, number(4));
        let fits = match kind {
            FrameKind::Data => length > header && length <= header + PACKET_BYTES_MAX as u32,
            _ => length == header,
        };
        if !fits {
            return Err(TdsError::malformed(format!("A frame for {kind:?} has {length} bytes")));
        }
        let session = u16::from_le_bytes([bytes[2], bytes[3]]);
        Ok(FrameHeader { kind, session, length, sequence: number(8), window: number(12) })
    }

    /// The header's bytes.
    pub fn to_bytes(self) -> [u8; SMP_HEADER_BYTES] {
        let mut out = [0; SMP_HEADER_BYTES];
        out[0] = MARK;
        out[1] = self.kind.byte();
        out[2..4].copy_from_slice(&self.session.to_le_bytes());
        out[4..8].copy_from_slice(&self.length.to_le_bytes());
        out[8..12].copy_from_slice(&self.sequence.to_le_bytes());
        out[12..16].copy_from_slice(&self.window.to_le_bytes());
        out
    }
}

/// Finds frames in bytes that may come cut at any place.
#[derive(Debug, Default)]
pub(super) struct FrameReader {
    header: [u8; SMP_HEADER_BYTES],
    filled: usize,
    /// The frame under way, once its header is whole.
    under_way: Option<FrameHeader>,
    data: Vec<u8>,
}

impl FrameReader {
    /// Takes bytes from the front of `input` up to the end of a frame, and gives its header; [`FrameReader::data`] is what it
    /// carries. `None` when the input is used up before that.
    pub(super) fn feed(&mut self, input: &mut &[u8]) -> Result<Option<FrameHeader>, TdsError> {
        let header = match self.under_way {
            Some(header) => header,
            None => {
                let count = (SMP_HEADER_BYTES - self.filled).min(input.len());
                let (taken, rest) = input.split_at(count);
                self.header[self.filled..self.filled + count].copy_from_slice(taken);
                self.filled += count;
                *input = rest;
                if self.filled < SMP_HEADER_BYTES {
                    return Ok(None);
                }
                self.filled = 0;
                self.data.clear();
                *self.under_way.insert(FrameHeader::parse(self.header)?)
            }
        };
        let missing = header.length as usize - SMP_HEADER_BYTES - self.data.len();
        let (taken, rest) = input.split_at(missing.min(input.len()));
        self.data.extend_from_slice(taken);
        *input = rest;
        if taken.len() < missing {
            return Ok(None);
        }
        self.under_way = None;
        Ok(Some(header))
    }

    /// What the last frame carried.
    pub(super) fn data(&self) -> &[u8] {
        &self.data
    }
}
