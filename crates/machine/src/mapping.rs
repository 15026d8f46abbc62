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
//!
//! Both are asked for in one kind of [`Pages`], or taken by `granted` in the best kind that there is, with what it was. Then parts of a
//! region, or a ring, can come from the memory of a node each.

use crate::SystemFiles;
use crate::large_pages::{LARGE_PAGE, Memory, MemoryGrant, Pages, ReservedPages, why_not_transparent};
use crate::node_memory::{self, NodeGrant};
use std::ffi::c_void;
use std::fs;
use std::io;
use std::ops::Range;
use std::os::fd::{AsRawFd, FromRawFd};
use std::ptr::{self, NonNull};
use std::time::Instant;

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

impl Mapping {
    /// Gives the memory behind a part back to the system; what is read of it next is zero.
    ///
    /// # Safety
    /// The content of the part is not needed, and no reference to it is made meanwhile.
    unsafe fn forget(&self, part: Range<usize>) {
        assert!(part.start <= part.end && part.end <= self.len, "a part lies within its mapping");
        let start: *mut c_void = self.at(part.start).cast();
        // SAFETY: the part is within this mapping by the assertion, and by the caller's promise its content is not needed.
        let _given = unsafe { libc::madvise(start, part.end - part.start, libc::MADV_DONTNEED) };
    }

    /// Has memory for a part come from this node.
    fn prefer(&self, part: Range<usize>, node: usize) -> io::Result<()> {
        node_memory::prefer(self.at(part.start) as usize..self.at(part.end) as usize, node)
    }

    /// Says whether the kernel may put large pages behind a part. The other kind does as well: a refusal is no error.
    fn advise_pages(&self, part: Range<usize>, pages: Pages) {
        let advice = match pages {
            Pages::Small => libc::MADV_NOHUGEPAGE,
            Pages::Transparent => libc::MADV_HUGEPAGE,
            // They are what they are.
            Pages::Reserved => return,
        };
        let _ = self.advise(part, advice);
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

/// Memory in the best kind of pages that there is, down from the one asked for.
fn best<T>(
    bytes: usize,
    asked: Pages,
    memory: Memory,
    map: impl Fn(Pages) -> io::Result<T>,
    place: impl Fn(&T) -> NodeGrant,
    touch: impl Fn(&T) -> io::Result<()>,
) -> io::Result<(T, MemoryGrant)> {
    let begun = Instant::now();
    let files = SystemFiles::below("/");
    let grant = |got, why, nodes| MemoryGrant { asked, got, bytes, why, nodes, took: begun.elapsed() };
    let mut why = None;
    if asked == Pages::Reserved {
        let whole = map(Pages::Reserved).and_then(|mapped| {
            let nodes = place(&mapped);
            match touch(&mapped) {
                // Kernels before 5.14 cannot do it: each page comes at its first use.
                Err(error) if error.kind() != io::ErrorKind::InvalidInput => Err(error),
                _ => Ok((mapped, nodes)),
            }
        });
        match whole {
            Ok((mapped, nodes)) => return Ok((mapped, grant(Pages::Reserved, None, nodes))),
            Err(error) => {
                let wanted = ReservedPages::wanted(bytes);
                let there = ReservedPages::of(&files);
                why = Some(if there.available < wanted { there.why_not(wanted) } else { error.to_string() });
            }
        }
    }
    let mut got = asked.min(Pages::Transparent);
    if got == Pages::Transparent
        && let Some(refused) = why_not_transparent(&files, memory)
    {
        got = Pages::Small;
        why = Some(why.map_or(refused.clone(), |why| format!("{why}; {refused}")));
    }
    let mapped = map(got)?;
    let nodes = place(&mapped);
    Ok((mapped, grant(got, why, nodes)))
}

/// A part of a region: from the end of the part before to here, with memory of this node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NodePart {
    /// The memory node, as the hardware counts.
    pub node: usize,
    /// The offset of the first byte behind it. Parts meet at whole large pages: the one that this lies in belongs to the next part.
    pub end: usize,
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
    /// Maps `bytes`, rounded up to whole large pages of 2 MB, in the best pages up to this kind, and says what they are.
    /// Reserved ones are in memory then; of others nothing is before it is touched. The last of `parts` ends with the region; without
    /// any, memory comes from near whoever touches it.
    ///
    /// # Errors
    /// What the kernel answers, most often `OutOfMemory`.
    pub fn granted(bytes: usize, pages: Pages, parts: &[NodePart]) -> io::Result<(Self, MemoryGrant)> {
        let map = |pages| Self::with_pages(bytes, pages);
        let place = |region: &Self| NodeGrant::of(parts.iter().map(|part| part.node), region.prefer(parts));
        let touch = |region: &Self| region.touch(0..region.len());
        best(rounded(bytes, LARGE_PAGE)?, pages, Memory::Private, map, place, touch)
    }

    /// Has the memory of each part come from its node.
    fn prefer(&self, parts: &[NodePart]) -> io::Result<()> {
        let mut begin = 0;
        for (index, part) in parts.iter().enumerate() {
            let end = if index + 1 == parts.len() { self.len } else { part.end / LARGE_PAGE * LARGE_PAGE };
            if begin < end {
                self.mapping.prefer(self.offset + begin..self.offset + end, part.node)?;
                begin = end;
            }
        }
        Ok(())
    }

    /// Maps `bytes`, rounded up to whole large pages of 2 MB, in pages of this kind. Nothing is in memory before it is touched.
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
        mapping.advise_pages(offset..offset + len, pages);
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

    /// Gives the memory behind `part`, whole pages of 4 KB, back to the system; what is read of it next is zero. Reserved large pages stay
    /// where they are.
    ///
    /// # Safety
    /// The content of the part is not needed, and there is no reference to it.
    pub unsafe fn forget(&self, part: Range<usize>) {
        assert!(part.start <= part.end && part.end <= self.len, "a part lies within its region");
        // SAFETY: the caller's promise is the same.
        unsafe { self.mapping.forget(self.offset + part.start..self.offset + part.end) };
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
    /// Maps a ring of `bytes` in the best pages up to this kind, with memory of this node if one is named, and says what they are.
    ///
    /// # Errors
    /// What the kernel answers, most often `OutOfMemory`.
    pub fn granted(bytes: usize, pages: Pages, node: Option<usize>) -> io::Result<(Self, MemoryGrant)> {
        let map = |pages| Self::with_pages(bytes, pages);
        // The memory is shared by both halves, and so is the policy.
        let prefer = |ring: &Self, node| ring.mapping.prefer(ring.offset..ring.offset + ring.size, node);
        let place = |ring: &Self| {
            let placed = node.map_or(Ok(()), |node| prefer(ring, node));
            NodeGrant::of(node.into_iter(), placed)
        };
        best(rounded(bytes, crate::BLOCK)?, pages, Memory::Shared, map, place, |ring| ring.touch(0..ring.size()))
    }

    /// Maps a ring of `bytes`, rounded up to whole pages of 4 KB, all zero, in pages of this kind. Whether shared memory gets
    /// transparent large pages is a setting of the kernel's (`shmem_enabled`), which most leave off.
    ///
    /// # Errors
    /// What the kernel answers, most often `OutOfMemory`; `InvalidInput` when a ring in reserved pages is no whole number of
    /// them.
    pub fn with_pages(bytes: usize, pages: Pages) -> io::Result<Self> {
        let size = rounded(bytes, crate::BLOCK)?;
        if pages == Pages::Reserved && !size.is_multiple_of(LARGE_PAGE) {
            let why = format!("a ring of {} KB is no whole number of them", size >> 10);
            return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
        }
        let reserved = size.checked_mul(2).and_then(|twice| twice.checked_add(LARGE_PAGE));
        let memory = memory_file(size, pages)?;
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
            mapping.advise_pages(half..half + size, pages);
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
fn memory_file(size: usize, pages: Pages) -> io::Result<fs::File> {
    let kind = if pages == Pages::Reserved { libc::MFD_HUGETLB | libc::MFD_HUGE_2MB } else { 0 };
    // SAFETY: the name is a literal that ends in a zero byte.
    let descriptor = unsafe { libc::memfd_create(c"ring".as_ptr(), libc::MFD_CLOEXEC | kind) };
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
    use crate::Topology;

    #[test]
    fn a_slice_over_the_seam_is_one_piece() {
        let ring = RingMapping::with_pages(10_000, Pages::Transparent).expect("a ring");
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
        let ring = RingMapping::with_pages(4096, Pages::Small).expect("a ring");
        // SAFETY: the call refuses before it makes a slice.
        let _ = unsafe { ring.slice(0, 4097) };
    }

    #[test]
    fn touching_changes_nothing() {
        let region = Region::with_pages(3 << 20, Pages::Transparent).expect("a region");
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
        assert_eq!(
            Region::granted(0, Pages::Transparent, &[]).expect_err("refused").kind(),
            io::ErrorKind::InvalidInput
        );
        assert_eq!(
            RingMapping::granted(0, Pages::Reserved, None).expect_err("refused").kind(),
            io::ErrorKind::InvalidInput
        );
        assert_eq!(
            Region::granted(usize::MAX, Pages::Reserved, &[]).expect_err("refused").kind(),
            io::ErrorKind::OutOfMemory
        );
    }

    #[test]
    fn a_ring_can_be_touched() {
        let ring = RingMapping::with_pages(1 << 20, Pages::Small).expect("a ring");
        // SAFETY: this test is the only user of the ring.
        unsafe { ring.slice_mut(17, 1)[0] = 1 };
        let _ = ring.touch(1..ring.size());
        // SAFETY: as above.
        assert_eq!(unsafe { ring.slice(17, 2) }, [1, 0]);
    }

    #[test]
    fn parts_come_from_their_nodes() {
        let nodes = Topology::of(&SystemFiles::below("/")).expect("a machine").nodes();
        let (first, last) = (nodes[0], nodes[nodes.len() - 1]);
        let parts = [NodePart { node: first, end: (3 << 20) + 5 }, NodePart { node: last, end: 8 << 20 }];
        let (region, grant) = Region::granted(8 << 20, Pages::Small, &parts).expect("a region");
        let (ring, of_ring) = RingMapping::granted(1 << 20, Pages::Small, Some(last)).expect("a ring");
        if let NodeGrant::Refused(why) = &grant.nodes {
            // Containers may forbid the call.
            assert!(why.contains("not permitted"), "{why}");
            return;
        }
        assert_eq!(grant.nodes, NodeGrant::Parts(vec![first, last]));
        assert_eq!(of_ring.nodes, NodeGrant::Parts(vec![last]));
        let start = region.as_ptr() as usize;
        for (address, node) in [
            (start, first),
            (start + LARGE_PAGE - 1, first),
            (start + LARGE_PAGE, last),
            (start + region.len() - 1, last),
            (ring.at(0) as usize, last),
            (ring.at(0) as usize + 2 * ring.size() - 1, last),
        ] {
            assert_eq!(node_memory::preferred_at(address).expect("a policy"), Some(vec![node]));
        }
        let (plain, grant) = Region::granted(2 << 20, Pages::Small, &[]).expect("a region");
        assert_eq!(grant.nodes, NodeGrant::FirstTouch);
        assert_eq!(node_memory::preferred_at(plain.as_ptr() as usize).expect("a policy"), None);
    }

    #[test]
    fn memory_of_a_node_that_is_not_there_is_memory_all_the_same() {
        let missing = 1000;
        let parts = [NodePart { node: missing, end: 2 << 20 }];
        let (region, grant) = Region::granted(2 << 20, Pages::Small, &parts).expect("a region");
        assert!(matches!(&grant.nodes, NodeGrant::Refused(why) if why.contains("node 1000")), "{grant}");
        // SAFETY: this test is the only user of the region, and writes within it.
        unsafe { region.as_ptr().write(1) };
        let (_ring, grant) = RingMapping::granted(4096, Pages::Small, Some(missing)).expect("a ring");
        assert!(matches!(grant.nodes, NodeGrant::Refused(_)), "{grant}");
    }

    /// A field of `/proc/self/smaps` for the mapping that an address is in, in KB.
    fn kernel_says(address: usize, field: &str) -> u64 {
        let maps = fs::read_to_string("/proc/self/smaps").expect("the kernel's own account");
        let mut is_it = false;
        for line in maps.lines() {
            let first = line.split_whitespace().next().unwrap_or_default();
            if let Some((start, end)) = first.split_once('-') {
                let bound = |text| usize::from_str_radix(text, 16).expect("an address");
                is_it = (bound(start)..bound(end)).contains(&address);
            } else if let (true, Some(rest)) = (is_it, line.strip_prefix(field).and_then(|rest| rest.strip_prefix(':')))
            {
                return rest.trim().trim_end_matches(" kB").parse().expect("kilobytes");
            }
        }
        panic!("no mapping with {field} at {address:x}");
    }

    #[test]
    fn what_was_granted_is_what_the_kernel_gave() {
        const BYTES: usize = 8 << 20;
        for asked in [Pages::Small, Pages::Transparent, Pages::Reserved] {
            let (region, grant) = Region::granted(BYTES, asked, &[]).expect("a region");
            let (ring, of_ring) = RingMapping::granted(BYTES, asked, None).expect("a ring");
            for (grant, address) in [(&grant, region.as_ptr()), (&of_ring, ring.at(0))] {
                assert_eq!((grant.asked, grant.bytes, grant.why.is_some()), (asked, BYTES, grant.got != asked));
                assert_eq!(
                    kernel_says(address as usize, "KernelPageSize"),
                    [4, 4, 2048][grant.got as usize],
                    "{grant}"
                );
            }
            let _ = (region.touch(0..BYTES), ring.touch(0..BYTES));
            // SAFETY: this test is the only user of both, and writes within them.
            unsafe {
                region.as_ptr().add(BYTES - 1).write(1);
                ring.at(1).write(2);
                assert_eq!((*region.as_ptr().add(BYTES - 1), *ring.at(BYTES as u64 + 1)), (1, 2), "{asked:?}");
            }
            let large = kernel_says(region.as_ptr() as usize, "AnonHugePages");
            match grant.got {
                Pages::Small => assert_eq!(large, 0, "none that nobody asked for"),
                // Memory in pieces gives fewer, and that is no fault of ours.
                Pages::Transparent => println!("{large} KB of {} in transparent large pages", BYTES >> 10),
                Pages::Reserved => {
                    assert_eq!(kernel_says(region.as_ptr() as usize, "Private_Hugetlb"), BYTES as u64 >> 10);
                }
            }
        }
    }

    #[test]
    fn a_ring_that_is_no_whole_number_of_large_pages_gets_others() {
        let (ring, grant) = RingMapping::granted(64 << 10, Pages::Reserved, None).expect("a ring");
        assert!(ring.size() == 64 << 10 && grant.got < Pages::Reserved && grant.why.is_some(), "{grant}");
    }
}
