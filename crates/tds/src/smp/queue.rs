//! What waits to be sent in one session: packets, the oldest in memory, those behind them perhaps in a file.
//!
//! ```text
//!   add ──▶ back: memory ──▶ regions of a file ──▶ front: memory ──▶ frames
//!                 └── nothing is in the file ──────────▲
//! ```
//!
//! Whoever owns the file moves bytes to it and back, one movement at a time: each begins here with what it takes and ends with what it has
//! done. A queue that is gone in between, and another in its place, has begun nothing and hears of no end.

use crate::packet::HEADER_BYTES;
use std::collections::VecDeque;

/// Memory that holds nothing is given back beyond this.
const KEPT_BYTES_MAX: usize = 64 << 10;

/// A part of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Region {
    /// Where it begins.
    pub offset: u64,
    /// Its bytes: whole packets.
    pub length: usize,
}

/// What is under way between a queue and the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Moving {
    #[default]
    Nothing,
    Out,
    In,
}

/// See the module.
#[derive(Debug, Default)]
pub struct Queue {
    front: Vec<u8>,
    /// How much of the front has been sent.
    sent: usize,
    regions: VecDeque<Region>,
    back: Vec<u8>,
    moving: Moving,
}

impl Queue {
    /// Bytes in memory.
    pub fn held(&self) -> usize {
        self.front.len() - self.sent + self.back.len()
    }

    /// Whether a part of it is in the file, or on its way.
    pub fn is_in_file(&self) -> bool {
        !self.regions.is_empty() || self.moving != Moving::Nothing
    }

    /// Adds packets, whole ones.
    pub fn add(&mut self, packets: &[u8]) {
        let behind = if self.is_in_file() { &mut self.back } else { &mut self.front };
        behind.extend_from_slice(packets);
    }

    /// Takes what is in memory behind all others, to be written to the file. A file that has nothing takes the front.
    pub fn begin_out(&mut self) -> Vec<u8> {
        if self.moving != Moving::Nothing {
            return Vec::new();
        }
        let is_behind = self.is_in_file();
        self.moving = Moving::Out;
        if is_behind {
            return std::mem::take(&mut self.back);
        }
        let mut bytes = std::mem::take(&mut self.front);
        bytes.drain(..std::mem::take(&mut self.sent));
        bytes
    }

    /// What was taken is in the file.
    pub fn end_out(&mut self, regions: impl IntoIterator<Item = Region>) {
        if self.moving == Moving::Out {
            self.moving = Moving::Nothing;
            self.regions.extend(regions);
            self.close_up();
        }
    }

    /// The part of the file that comes next, with nothing in memory before it.
    pub(super) fn wanted(&self) -> Option<Region> {
        let is_due = self.sent == self.front.len() && self.moving == Moving::Nothing;
        self.regions.front().copied().filter(|_| is_due)
    }

    /// That part is being read.
    pub(super) fn begin_in(&mut self) {
        self.moving = Moving::In;
    }

    /// It has been read.
    pub fn end_in(&mut self, bytes: Vec<u8>) {
        if self.moving == Moving::In {
            self.moving = Moving::Nothing;
            self.regions.pop_front();
            (self.front, self.sent) = (bytes, 0);
            self.close_up();
        }
    }

    /// Puts what is in memory together when nothing is in the file between.
    fn close_up(&mut self) {
        if !self.is_in_file() {
            self.front.append(&mut self.back);
            self.back.shrink_to(KEPT_BYTES_MAX);
        }
    }

    /// Whether a packet is in memory with nothing before it.
    pub(super) fn has_next(&self) -> bool {
        self.sent < self.front.len()
    }

    /// The next packet, which is then taken for sent.
    pub(super) fn next(&mut self) -> Option<&[u8]> {
        let waiting = &self.front[self.sent..];
        let length = waiting.first_chunk::<HEADER_BYTES>().map(|header| u16::from_be_bytes([header[2], header[3]]))?;
        let from = self.sent;
        self.sent += usize::from(length).clamp(HEADER_BYTES, waiting.len());
        Some(&self.front[from..self.sent])
    }

    /// Gives memory back that holds what is sent.
    pub(super) fn shrink(&mut self) {
        if self.sent == self.front.len() {
            self.sent = 0;
            self.front.clear();
            self.front.shrink_to(KEPT_BYTES_MAX);
        } else if self.sent > KEPT_BYTES_MAX {
            self.front.drain(..self.sent);
            self.sent = 0;
        }
    }
}
