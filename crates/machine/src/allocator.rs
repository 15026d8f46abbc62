//! How the C library's allocator takes memory from the system, and gives it back.

/// Blocks from this size on are mapped one by one and given back when they are freed.
const MAPPED_BYTES: libc::c_int = 1 << 20;

/// Has large blocks given back to the system as soon as they are freed. Without it the C library learns from the first that is
/// freed to keep all of its size, in each thread's own heap: a hash of a password takes 19 MB, and many threads hash.
pub fn give_large_blocks_back() {
    // SAFETY: it takes two numbers and changes a setting of the allocator, which is the process's own; it may be called at any time.
    #[cfg(target_env = "gnu")]
    let _understood = unsafe { libc::mallopt(libc::M_MMAP_THRESHOLD, MAPPED_BYTES) };
    #[cfg(not(target_env = "gnu"))]
    let _unused = MAPPED_BYTES;
}

/// Gives the pages of small blocks that were freed back to the system. The C library gives back what lies at the end of a heap
/// only; between two blocks in use it keeps all there ever was. Takes milliseconds for each gigabyte, during which others wait
/// for their heap.
pub fn give_small_blocks_back() {
    // SAFETY: it takes a number and touches free blocks only, under the allocator's own locks; it may be called at any time.
    #[cfg(target_env = "gnu")]
    let _gave = unsafe { libc::malloc_trim(0) };
}
