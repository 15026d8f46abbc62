//! The log buffer: a ring of memory in which the byte at position p of the stream lies at p modulo the ring's size.
//! It is mapped twice in a row, so a record is one slice wherever it lies.
//!
//! Who may touch which bytes follows from the horizons (`reservation`):
//!
//! ```text
//!    written                copied               reserved           written + size
//!   ---|----------------------|--------------------|------------------|---
//!      | the flusher reads    | each place belongs | free             |
//!      |                      | to its appender    |                  |
//! ```

use pikepole_machine::RingMapping;
use std::io;

/// The ring.
pub(crate) struct Buffer {
    ring: RingMapping,
    /// The ring's first byte: asking the mapping each time would cost a division.
    start: *mut u8,
    mask: u64,
}

// SAFETY: `start` points into `ring`, which this struct owns and never moves in memory; all access goes through the
// unsafe methods below, whose callers promise not to race.
unsafe impl Send for Buffer {}
// SAFETY: as above.
unsafe impl Sync for Buffer {}

impl Buffer {
    /// A ring of `bytes`, a power of two.
    pub fn new(bytes: usize) -> io::Result<Self> {
        let ring = RingMapping::new(bytes)?;
        assert!(ring.size() == bytes && bytes.is_power_of_two());
        let start = ring.at(0);
        Ok(Self { ring, start, mask: bytes as u64 - 1 })
    }

    /// Has the kernel put memory behind the whole ring now. A refusal only means that first uses are slower.
    pub fn touch(&self) {
        let _ = self.ring.touch();
    }

    /// The place of `len` bytes at `position`, to be filled.
    ///
    /// # Safety
    /// The caller has reserved these bytes and not yet published them, and `len` is at most the ring's size.
    #[inline]
    #[allow(clippy::mut_from_ref, reason = "the reservation stands in for the exclusive borrow")]
    pub unsafe fn place(&self, position: u64, len: usize) -> &mut [u8] {
        debug_assert!(len as u64 <= self.mask);
        // SAFETY: the masked position is in the first of two mappings in a row, so `len` bytes behind it are mapped;
        // the ring lives as long as `self`; a reservation has one owner, and the flusher neither reads it before it
        // is published nor gives the bytes away again before it has read them, so nobody else touches them.
        unsafe { std::slice::from_raw_parts_mut(self.start.add((position & self.mask) as usize), len) }
    }

    /// The `len` bytes at `position`, all filled.
    ///
    /// # Safety
    /// The caller holds the flusher role, and the bytes are between `written` and `copied`.
    pub unsafe fn filled(&self, position: u64, len: usize) -> &[u8] {
        debug_assert!(len as u64 <= self.mask);
        // SAFETY: mapped as in `place`; below `copied` every place is published, and no new one overlaps until the
        // holder of the role moves `written`.
        unsafe { std::slice::from_raw_parts(self.start.add((position & self.mask) as usize), len) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_over_the_ends_of_the_ring_is_one_slice() {
        let buffer = Buffer::new(4096).unwrap();
        let position = 4096 * 7 - 3;
        // SAFETY: this thread alone has the buffer, and the slices do not live at the same time.
        unsafe {
            buffer.place(position, 6).copy_from_slice(b"abcdef");
            assert_eq!(buffer.filled(position, 6), b"abcdef");
            assert_eq!(buffer.filled(4096, 3), b"def");
        }
    }
}
