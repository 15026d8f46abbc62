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

use pikepole_contention::sync::atomic::{AtomicUsize, Ordering};
use pikepole_machine::{MemoryGrant, Pages, RingMapping};
use std::io;

/// The ring.
pub(crate) struct Buffer {
    ring: RingMapping,
    /// The kind of pages that it is in.
    grant: MemoryGrant,
    /// The ring's first byte: asking the mapping each time would cost a division.
    start: *mut u8,
    mask: u64,
    /// Bytes that have been touched ahead of their use, or never will be.
    touched: AtomicUsize,
}

/// Memory is touched ahead by so many times what was used, so that a log that is hardly written takes little of it.
const TOUCHED_AHEAD_TIMES: usize = 4;
/// Memory touched at a time: the log writer is away from its flushes for so long only.
const TOUCH_STEP_BYTES: usize = 512 << 10;

// SAFETY: `start` points into `ring`, which this struct owns and never moves in memory; all access goes through the
// unsafe methods below, whose callers promise not to race.
unsafe impl Send for Buffer {}
// SAFETY: as above.
unsafe impl Sync for Buffer {}

impl Buffer {
    /// A ring of `bytes`, a power of two, with memory of this node if one is named.
    pub fn new(bytes: usize, pages: Pages, node: Option<usize>) -> io::Result<Self> {
        let (ring, grant) = RingMapping::granted(bytes, pages, node)?;
        assert!(ring.size() == bytes && bytes.is_power_of_two());
        let start = ring.at(0);
        // Reserved pages have been touched already.
        let touched = if grant.got == Pages::Reserved { bytes } else { 0 };
        Ok(Self { ring, grant, start, mask: bytes as u64 - 1, touched: AtomicUsize::new(touched) })
    }

    /// The kind of pages that it is in.
    pub fn grant(&self) -> &MemoryGrant {
        &self.grant
    }

    /// Has the kernel put memory behind a step of the ring, if too little of what comes behind `position` has it. Whether
    /// it did. The first position ever was `begin`. For one thread at a time.
    pub fn touch_ahead(&self, begin: u64, position: u64) -> bool {
        let size = self.ring.size();
        let touched = self.touched.load(Ordering::Relaxed);
        let used = usize::try_from(position - begin).unwrap_or(size).min(size);
        if touched >= size.min(used * TOUCHED_AHEAD_TIMES + TOUCH_STEP_BYTES) {
            return false;
        }
        let from = ((begin + touched as u64) & self.mask) as usize;
        let step = TOUCH_STEP_BYTES.min(size - from).min(size - touched);
        // A refusal only means that first uses are slower.
        let done = self.ring.touch(from..from + step).is_ok();
        self.touched.store(if done { touched + step } else { size }, Ordering::Relaxed);
        done
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
    fn memory_is_touched_ahead_of_use_and_once() {
        let buffer = Buffer::new(4 << 20, Pages::Small, None).unwrap();
        let begin = (4 << 20) * 3 - 4096;
        let steps = |position| (0..).find(|_| !buffer.touch_ahead(begin, position)).unwrap();
        let all = steps(begin) + steps(begin) + steps(begin + 1000) + steps(begin + (64 << 20)) + steps(u64::MAX);
        // Over the ring's end: one step more. A kernel that cannot do it is asked once.
        assert!(all <= (4 << 20) / TOUCH_STEP_BYTES + 1, "{all}");
        assert_eq!(buffer.touched.load(Ordering::Relaxed), 4 << 20);
    }

    #[test]
    fn a_place_over_the_ends_of_the_ring_is_one_slice() {
        let buffer = Buffer::new(4096, Pages::Small, None).unwrap();
        let position = 4096 * 7 - 3;
        // SAFETY: this thread alone has the buffer, and the slices do not live at the same time.
        unsafe {
            buffer.place(position, 6).copy_from_slice(b"abcdef");
            assert_eq!(buffer.filled(position, 6), b"abcdef");
            assert_eq!(buffer.filled(4096, 3), b"def");
        }
    }
}
