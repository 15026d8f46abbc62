//! Byte buffers at addresses that direct I/O accepts.

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

use crate::BLOCK;

/// A growable byte buffer whose address is a multiple of [`BLOCK`]; its capacity is one too.
///
/// The whole capacity is initialised memory from the start.
pub struct AlignedBuffer {
    start: NonNull<u8>,
    len: usize,
    capacity: usize,
}

// SAFETY: the buffer owns its memory alone, as a Vec<u8> does; a shared reference only reads.
unsafe impl Send for AlignedBuffer {}
// SAFETY: as above.
unsafe impl Sync for AlignedBuffer {}

impl AlignedBuffer {
    /// An empty buffer without memory.
    pub const fn new() -> Self {
        Self { start: NonNull::dangling(), len: 0, capacity: 0 }
    }

    /// An empty buffer with room for at least `bytes`.
    pub fn with_capacity(bytes: usize) -> Self {
        let capacity = round_up(bytes);
        Self { start: allocate(capacity), len: 0, capacity }
    }

    /// A buffer of `len` zero bytes.
    pub fn zeroed(len: usize) -> Self {
        let mut buffer = Self::with_capacity(len);
        buffer.len = len;
        buffer
    }

    /// Bytes that fit without growing.
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// Forgets the content and keeps the memory.
    pub fn clear(&mut self) {
        self.len = 0;
    }

    /// Cuts the content to `len` bytes; longer than the content changes nothing.
    pub fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
    }

    /// Makes the content `len` bytes long; new bytes are `value`.
    pub fn resize(&mut self, len: usize, value: u8) {
        let old = self.len;
        self.reserve(len.saturating_sub(old));
        self.len = len;
        if len > old {
            self[old..].fill(value);
        }
    }

    /// Appends `bytes`.
    pub fn extend_from_slice(&mut self, bytes: &[u8]) {
        self.reserve(bytes.len());
        let old = self.len;
        self.len += bytes.len();
        self[old..].copy_from_slice(bytes);
    }

    /// Appends zeros until the length is a multiple of `multiple` bytes.
    pub fn pad_to(&mut self, multiple: usize) {
        self.resize(self.len.next_multiple_of(multiple), 0);
    }

    /// Makes room for `additional` bytes behind the content.
    pub fn reserve(&mut self, additional: usize) {
        let needed = self.len.checked_add(additional).expect("a buffer fits the address space");
        if needed <= self.capacity {
            return;
        }
        let mut larger = Self::with_capacity(needed.max(self.capacity * 2));
        larger.len = self.len;
        larger.copy_from_slice(self);
        *self = larger;
    }
}

fn round_up(bytes: usize) -> usize {
    bytes.checked_next_multiple_of(BLOCK).expect("a buffer fits the address space")
}

fn layout(capacity: usize) -> Layout {
    Layout::from_size_align(capacity, BLOCK).expect("a buffer fits the address space")
}

fn allocate(capacity: usize) -> NonNull<u8> {
    if capacity == 0 {
        return NonNull::dangling();
    }
    // SAFETY: the layout's size is not zero: the line above returns then.
    let start = unsafe { alloc_zeroed(layout(capacity)) };
    NonNull::new(start).unwrap_or_else(|| handle_alloc_error(layout(capacity)))
}

impl Drop for AlignedBuffer {
    fn drop(&mut self) {
        if self.capacity > 0 {
            // SAFETY: `start` came from `allocate` with this capacity, and the owner is going away.
            unsafe { dealloc(self.start.as_ptr(), layout(self.capacity)) }
        }
    }
}

impl Deref for AlignedBuffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: `len <= capacity` bytes at `start` are allocated and initialised (`alloc_zeroed`), or `len` is 0;
        // `&self` proves that nobody writes them.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }
}

impl DerefMut for AlignedBuffer {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as in `deref`; `&mut self` proves that nobody else reads or writes them.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }
}

impl Default for AlignedBuffer {
    fn default() -> Self {
        Self::new()
    }
}

impl Clone for AlignedBuffer {
    fn clone(&self) -> Self {
        let mut copy = Self::with_capacity(self.len);
        copy.extend_from_slice(self);
        copy
    }
}

impl fmt::Debug for AlignedBuffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "AlignedBuffer({} of {} bytes)", self.len, self.capacity)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grows_and_stays_aligned() {
        let mut buffer = AlignedBuffer::new();
        assert!(buffer.is_empty());
        for round in 0..100u8 {
            buffer.extend_from_slice(&[round; 100]);
            assert_eq!(buffer.as_ptr() as usize % BLOCK, 0);
        }
        assert_eq!(buffer.len(), 10_000);
        for (index, byte) in buffer.iter().enumerate() {
            assert_eq!(usize::from(*byte), index / 100);
        }
        let copy = buffer.clone();
        assert_eq!(copy[..], buffer[..]);
        buffer.pad_to(BLOCK);
        assert_eq!(buffer.len(), 12_288);
        assert!(buffer[10_000..].iter().all(|byte| *byte == 0));
    }

    #[test]
    fn old_content_does_not_come_back() {
        let mut buffer = AlignedBuffer::zeroed(10);
        buffer.fill(7);
        buffer.truncate(4);
        buffer.resize(10, 0);
        assert_eq!(buffer[..], [7, 7, 7, 7, 0, 0, 0, 0, 0, 0]);
        buffer.clear();
        buffer.pad_to(BLOCK);
        assert!(buffer.is_empty());
    }
}
