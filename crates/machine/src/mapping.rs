//! Large pieces of memory, taken from the kernel directly.
//!
//! A [`Region`] is plain memory in large pages. A [`RingMapping`] maps the same memory twice, back to back:
//!
//! ```text
//!   address     start            start + size       start + 2 size
//!               |--- the ring ---|--- the ring ---|
//!   positions   0 .. size        size .. 2 size      a slice over the seam is one piece
//! ```
//!
//! Both give out raw memory that several threads fill at once; who may touch which bytes when is the caller's
//! protocol, and the `unsafe` of the methods that make slices.

use std::ffi::c_void;
use std::fs;
use std::io;
use std::ops::Range;
use std::os::fd::{AsRawFd, FromRawFd};
use std::ptr::{self, NonNull};

/// Bytes of a large page.
const LARGE_PAGE: usize = 2 << 20;

/// A piece of the address space, unmapped when dropped.
#[derive(Debug)]
struct Mapping {
    start: NonNull<u8>,
    len: usize,
}

// SAFETY: a mapping is an address and a length; the memory behind them belongs to no thread. Its content is reached
// only through the unsafe methods of the types around it, whose callers keep threads apart.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Maps `len` bytes, private and zero, at an address of the kernel's choice.
    fn anonymous(len: usize, protection: i32) -> io::Result<Self> {
        Self::with_flags(len, protection, libc::MAP_NORESERVE)
    }

    fn with_flags(len: usize, protection: i32, flags: i32) -> io::Result<Self> {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | flags;
        // SAFETY: without MAP_FIXED the kernel takes free addresses only: no memory in use is touched.
        let start = unsafe { libc::mmap(ptr::null_mut(), len, protection, flags, -1, 0) };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let start = NonNull::new(start.cast()).expect("the kernel maps nothing at address 0");
        Ok(Self { start, len })
    }

    fn at(&self, offset: usize) -> *mut u8 {
        assert!(offset <= self.len, "an offset lies within its mapping");
        // SAFETY: the sum is within the mapping, or just behind its end, by the assertion.
        unsafe { self.start.as_ptr().add(offset) }
    }

    /// Where the first large page starts.
    fn to_large_page(&self) -> usize {
        let address = self.start.as_ptr() as usize;
        address.next_multiple_of(LARGE_PAGE) - address
    }

    /// Passes advice about a part to the kernel; the part lies in the mapping.
    fn advise(&self, part: Range<usize>, advice: i32) -> io::Result<()> {
        assert!(part.start <= part.end && part.end <= self.len, "a part lies within its mapping");
        let start: *mut c_void = self.at(part.start).cast();
        // SAFETY: `MADV_HUGEPAGE`, `MADV_NOHUGEPAGE` and `MADV_POPULATE_WRITE`, the only advice passed here, change no content, and the
        // part is within this mapping by the assertion.
        match unsafe { libc::madvise(start, part.end - part.start, advice) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: these addresses were mapped by this value and by nobody else, and no slice made from them outlives
        // the owner (the promise of `slice` and `slice_mut`).
        let unmapped = unsafe { libc::munmap(self.start.as_ptr().cast(), self.len) };
        assert_eq!(unmapped, 0, "a mapping of our own can be unmapped");
    }
}

/// The pages that memory is asked for in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pages {
    /// 4 KB.
    Small,
    /// 2 MB where the kernel finds them at the first touch, 4 KB elsewhere.
    #[default]
    Transparent,
    /// 2 MB out of those that the machine's administrator has set aside (`vm.nr_hugepages`), all of them or none.
    Reserved,
}

/// Zeroed memory in large pages where the kernel grants them.
#[derive(Debug)]
pub struct Region {
    mapping: Mapping,
    /// Where the first large page starts in `mapping`.
    offset: usize,
    len: usize,
}

impl Region {
    /// Maps `bytes`, rounded up to whole large pages of 2 MB, in [`Pages::Transparent`]. Nothing is in memory before it is
    /// touched.
    ///
    /// # Errors
    /// What the kernel answers, most often `OutOfMemory`.
    pub fn new(bytes: usize) -> io::Result<Self> {
        Self::with_pages(bytes, Pages::Transparent)
    }

    /// Maps `bytes`, rounded up to whole large pages of 2 MB, in pages of this kind.
    ///
    /// # Errors
    /// What the kernel answers; `OutOfMemory` also when fewer large pages are set aside than are wanted.
    pub fn with_pages(bytes: usize, pages: Pages) -> io::Result<Self> {
        let len = rounded(bytes, LARGE_PAGE)?;
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        if pages == Pages::Reserved {
            // Without MAP_NORESERVE: the pages are this mapping's from now on, or it is refused.
            let flags = libc::MAP_HUGETLB | libc::MAP_HUGE_2MB;
            return Ok(Self { mapping: Mapping::with_flags(len, protection, flags)?, offset: 0, len });
        }
        // One large page more, so that the start can be moved to where one begins.
        let mapping = Mapping::anonymous(len.checked_add(LARGE_PAGE).ok_or(io::ErrorKind::OutOfMemory)?, protection)?;
        let offset = mapping.to_large_page();
        let advice = if pages == Pages::Small { libc::MADV_NOHUGEPAGE } else { libc::MADV_HUGEPAGE };
        // The other kind of pages does as well, only slower: a refusal is no error.
        let _ = mapping.advise(offset..offset + len, advice);
        Ok(Self { mapping, offset, len })
    }

    /// Its size in bytes.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it has no bytes; never so, since an empty mapping is refused.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The address of its first byte, a multiple of 2 MB; valid for `len()` bytes while the region lives.
    pub fn as_ptr(&self) -> *mut u8 {
        self.mapping.at(self.offset)
    }

    /// Has the kernel put memory behind `part` now rather than at its first use. Changes no content: others may use
    /// the region meanwhile.
    ///
    /// # Errors
    /// `InvalidInput` on kernels before 5.14, which cannot do it; `OutOfMemory`.
    pub fn touch(&self, part: Range<usize>) -> io::Result<()> {
        assert!(part.start <= part.end && part.end <= self.len, "a part lies within its region");
        // The kernel takes whole pages.
        let start = part.start / crate::BLOCK * crate::BLOCK;
        self.mapping.advise(self.offset + start..self.offset + part.end, libc::MADV_POPULATE_WRITE)
    }
}

/// A ring of bytes in which every stretch of up to its size is one slice.
#[derive(Debug)]
pub struct RingMapping {
    /// More than twice `size` long; what the ring does not cover is never touched.
    mapping: Mapping,
    /// Where the ring starts in `mapping`: at a large page.
    offset: usize,
    size: usize,
}

impl RingMapping {
    /// Maps a ring of `bytes`, rounded up to whole pages of 4 KB, all zero. Large pages are asked for; whether shared
    /// memory gets them is a setting of the kernel (`shmem_enabled`), which most leave off.
    ///
    /// # Errors
    /// What the kernel answers, most often `OutOfMemory`.
    pub fn new(bytes: usize) -> io::Result<Self> {
        let size = rounded(bytes, crate::BLOCK)?;
        let reserved = size.checked_mul(2).and_then(|twice| twice.checked_add(LARGE_PAGE));
        let memory = memory_file(size)?;
        // Takes the addresses first, so that both halves find them free.
        let mapping = Mapping::anonymous(reserved.ok_or(io::ErrorKind::OutOfMemory)?, libc::PROT_NONE)?;
        let offset = mapping.to_large_page();
        for half in [offset, offset + size] {
            let protection = libc::PROT_READ | libc::PROT_WRITE;
            let flags = libc::MAP_SHARED | libc::MAP_FIXED;
            let address: *mut c_void = mapping.at(half).cast();
            // SAFETY: MAP_FIXED replaces what is at these addresses, and that is a part of `mapping`, made above with
            // room for both halves behind `offset`, of which nothing is in use yet. `memory` is open and `size` bytes
            // long.
            let start = unsafe { libc::mmap(address, size, protection, flags, memory.as_raw_fd(), 0) };
            if start == libc::MAP_FAILED {
                return Err(io::Error::last_os_error());
            }
            // Small pages do as well: a refusal is no error.
            let _ = mapping.advise(half..half + size, libc::MADV_HUGEPAGE);
        }
        Ok(Self { mapping, offset, size })
    }

    /// The ring's size in bytes.
    pub fn size(&self) -> usize {
        self.size
    }

    /// The address of the byte at `position`, a count that only grows; from there on `size()` bytes are valid while
    /// the ring lives.
    pub fn at(&self, position: u64) -> *mut u8 {
        self.mapping.at(self.offset + (position % self.size as u64) as usize)
    }

    /// The `len` bytes from `position` on; `len` is at most `size()`.
    ///
    /// # Safety
    /// While the slice lives, nobody writes these bytes of the ring, by this or by an equal position (modulo the
    /// ring's size).
    pub unsafe fn slice(&self, position: u64, len: usize) -> &[u8] {
        assert!(len <= self.size, "a slice is no longer than its ring");
        // SAFETY: `at` is in the first half, so `len <= size` bytes from it are within both halves, mapped and
        // initialised by the kernel; the caller promises that nobody writes them; `&self` keeps the mapping.
        unsafe { std::slice::from_raw_parts(self.at(position), len) }
    }

    /// The `len` bytes from `position` on, to be written; `len` is at most `size()`.
    ///
    /// # Safety
    /// While the slice lives, nobody else reads or writes these bytes of the ring, by this or by an equal position
    /// (modulo the ring's size).
    #[allow(clippy::mut_from_ref, reason = "the caller's promise stands in for the exclusive borrow")]
    pub unsafe fn slice_mut(&self, position: u64, len: usize) -> &mut [u8] {
        assert!(len <= self.size, "a slice is no longer than its ring");
        // SAFETY: as in `slice`; the caller promises that nobody else reads or writes them.
        unsafe { std::slice::from_raw_parts_mut(self.at(position), len) }
    }

    /// Has the kernel put memory behind `part` of the ring, counted from its first byte, now rather than at its first use.
    /// Changes no content.
    ///
    /// # Errors
    /// `InvalidInput` on kernels before 5.14, which cannot do it; `OutOfMemory`.
    pub fn touch(&self, part: Range<usize>) -> io::Result<()> {
        assert!(part.start <= part.end && part.end <= self.size, "a part lies within its ring");
        // The kernel takes whole pages.
        let start = part.start / crate::BLOCK * crate::BLOCK;
        self.mapping.advise(self.offset + start..self.offset + part.end, libc::MADV_POPULATE_WRITE)
    }
}

/// A file of `size` zero bytes that lives in memory only.
fn memory_file(size: usize) -> io::Result<fs::File> {
    // SAFETY: the name is a literal that ends in a zero byte.
    let descriptor = unsafe { libc::memfd_create(c"ring".as_ptr(), libc::MFD_CLOEXEC) };
    if descriptor < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel has just opened this descriptor for us, and nobody else knows of it.
    let file = unsafe { fs::File::from_raw_fd(descriptor) };
    file.set_len(size as u64)?;
    Ok(file)
}

fn rounded(bytes: usize, page: usize) -> io::Result<usize> {
    match bytes.checked_next_multiple_of(page) {
        Some(0) => Err(io::ErrorKind::InvalidInput.into()),
        Some(rounded) => Ok(rounded),
        None => Err(io::ErrorKind::OutOfMemory.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slice_over_the_seam_is_one_piece() {
        let ring = RingMapping::new(10_000).expect("a ring");
        assert_eq!(ring.size(), 12_288);
        let size = ring.size() as u64;
        // SAFETY: this test is the only user of the ring, and uses one slice at a time.
        unsafe {
            let message: Vec<u8> = (0..=255).collect();
            ring.slice_mut(5 * size - 100, 256).copy_from_slice(&message);
            assert_eq!(ring.slice(size - 100, 256), message);
            assert_eq!(ring.slice(0, 156), &message[100..]);
            assert_eq!(ring.slice(2 * size - 100, 100), &message[..100]);
            assert!(ring.slice(156, ring.size() - 256).iter().all(|byte| *byte == 0));
            assert_eq!(ring.slice(7, ring.size()).len(), ring.size());
        }
        assert_eq!(ring.at(3 * size), ring.at(0));
        assert_eq!(ring.at(0) as usize % crate::BLOCK, 0);
    }

    #[test]
    #[should_panic(expected = "no longer than its ring")]
    fn a_slice_longer_than_the_ring_is_refused() {
        let ring = RingMapping::new(4096).expect("a ring");
        // SAFETY: the call refuses before it makes a slice.
        let _ = unsafe { ring.slice(0, 4097) };
    }

    #[test]
    fn touching_changes_nothing() {
        let region = Region::new(3 << 20).expect("a region");
        assert_eq!(region.len(), 4 << 20);
        assert_eq!(region.as_ptr() as usize % LARGE_PAGE, 0);
        // SAFETY: the offsets are within the region, and no other thread writes there: touching does not write.
        unsafe {
            *region.as_ptr().add(5) = 7;
            *region.as_ptr().add(region.len() - 1) = 9;
            // Kernels that cannot do it say so; the content is the same either way.
            let _ = region.touch(1..region.len());
            assert_eq!(*region.as_ptr().add(5), 7);
            assert_eq!(*region.as_ptr().add(6), 0);
            assert_eq!(*region.as_ptr().add(region.len() - 1), 9);
        }
    }

    #[test]
    fn every_kind_of_pages_is_memory_or_is_refused() {
        for pages in [Pages::Small, Pages::Transparent, Pages::Reserved] {
            let region = match Region::with_pages(3 << 20, pages) {
                Ok(region) => region,
                // A machine without large pages set aside.
                Err(error) => {
                    assert_eq!((pages, error.kind()), (Pages::Reserved, io::ErrorKind::OutOfMemory));
                    continue;
                }
            };
            assert_eq!((region.len(), region.as_ptr() as usize % LARGE_PAGE), (4 << 20, 0));
            // SAFETY: the offset is within the region, of which this test is the only user.
            unsafe {
                *region.as_ptr().add(region.len() - 1) = 9;
                assert_eq!((*region.as_ptr(), *region.as_ptr().add(region.len() - 1)), (0, 9));
            }
        }
    }

    #[test]
    fn an_empty_mapping_is_refused() {
        assert_eq!(Region::new(0).expect_err("refused").kind(), io::ErrorKind::InvalidInput);
        assert_eq!(RingMapping::new(0).expect_err("refused").kind(), io::ErrorKind::InvalidInput);
        assert_eq!(Region::new(usize::MAX).expect_err("refused").kind(), io::ErrorKind::OutOfMemory);
    }

    #[test]
    fn a_ring_can_be_touched() {
        let ring = RingMapping::new(1 << 20).expect("a ring");
        // SAFETY: this test is the only user of the ring.
        unsafe { ring.slice_mut(17, 1)[0] = 1 };
        let _ = ring.touch(1..ring.size());
        // SAFETY: as above.
        assert_eq!(unsafe { ring.slice(17, 2) }, [1, 0]);
    }
}
