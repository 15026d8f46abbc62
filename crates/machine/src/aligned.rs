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
    /// The allocation, which has a block more than the capacity: one that is not aligned comes zeroed from the allocator, and a
    /// large one from the system, which nobody has to write zeros to.
    allocation: NonNull<u8>,
    /// The first block in it.
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
        Self { allocation: NonNull::dangling(), start: NonNull::dangling(), len: 0, capacity: 0 }
    }

    /// An empty buffer with room for at least `bytes`.
    pub fn with_capacity(bytes: usize) -> Self {
        let capacity = round_up(bytes);
        if capacity == 0 {
            return Self::new();
        }
        // SAFETY: the layout's size is not zero: the capacity is not.
        let allocation = unsafe { alloc_zeroed(layout(capacity)) };
        let allocation = NonNull::new(allocation).unwrap_or_else(|| handle_alloc_error(layout(capacity)));
        let offset = allocation.align_offset(BLOCK);
        assert!(offset < BLOCK, "bytes have an offset to each multiple");
        // SAFETY: the allocation has a whole block beyond the capacity, and the offset is less than that.
        let start = unsafe { allocation.add(offset) };
        Self { allocation, start, len: 0, capacity }
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
    capacity
        .checked_add(BLOCK)
        .and_then(|size| Layout::from_size_align(size, align_of::<u64>()).ok())
        .expect("a buffer fits the address space")
}

impl Drop for AlignedBuffer {
    fn drop(&mut self) {
        if self.capacity > 0 {
            // SAFETY: the allocation was made with the layout of this capacity, and the owner is going away.
            unsafe { dealloc(self.allocation.as_ptr(), layout(self.capacity)) }
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
