//! What the process has from its allocator, counted as it is taken, and which part of it the task that runs has taken.
//!
//! ```text
//!   alloc(n) --> this thread: all += n (large += n from 32 KB on) --every 64 KB--> HEAP (the process)
//!                     |                                                              |
//!               turn of a task: its part is the difference                 above the alarm: PRESSED
//! ```
//! An allocation costs a few instructions on the thread's own line; only every 64 KB a line is written that threads share. What
//! a thread has not passed on yet is missing from the sum: 64 KB a thread at most.
//!
//! What one task takes and another frees moves between their parts: so a part is looked at for a statement's length only, and
//! over longer times for large blocks only, which are seldom handed on.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use crate::large_pages::LARGE_PAGE;

#[allow(
    clippy::disallowed_types,
    reason = "an allocator works below the facade: a model's atomics would allocate, and cannot be built in a const"
)]
mod counters {
    pub(super) use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
}
use counters::{AtomicBool, AtomicI64, Ordering};

/// Blocks from this size on are counted as large.
pub const LARGE: usize = 32 << 10;

/// Blocks from this size on are asked for in pages of 2 MB. Hash tables and sorted rows are read here and there: with pages of 4 KB
/// nearly each look walks through the page tables, under a hypervisor through those of two systems.
const IN_LARGE_PAGES: usize = 2 * LARGE_PAGE;

/// Bytes after which a thread tells the process.
const STEP: usize = 64 << 10;
/// Bytes that threads take between two looks before the next stop of a statement looks: one thread may take new memory while
/// the allocator keeps for another what that has freed.
const LOOK_AT: i64 = 16 << 20;

/// Bytes that the process has of its allocator, as far as threads have told.
static HEAP: AtomicI64 = AtomicI64::new(0);
/// The least of all budgets' alarms.
static ALARM: AtomicI64 = AtomicI64::new(i64::MAX);
/// Bytes that threads have told of since the last look, whatever others have freed meanwhile.
static TAKEN: AtomicI64 = AtomicI64::new(0);
/// True once the heap has passed the alarm, or much was taken, until a look finds room.
static PRESSED: AtomicBool = AtomicBool::new(false);
/// True once the process's allocator has counted.
static COUNTS: AtomicBool = AtomicBool::new(false);

/// Bytes that a thread has taken, less those that it has freed.
struct Local {
    all: Cell<isize>,
    told: Cell<isize>,
    large: Cell<isize>,
    /// The values of `all` and `large` if the running task had taken nothing.
    all_before: Cell<isize>,
    large_before: Cell<isize>,
}

thread_local! {
    static LOCAL: Local = const {
        Local {
            all: Cell::new(0),
            told: Cell::new(0),
            large: Cell::new(0),
            all_before: Cell::new(0),
            large_before: Cell::new(0),
        }
    };
}

/// The part of the heap that a task has: what it has taken, less what it has freed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TaskHeap {
    /// Bytes of all blocks.
    pub all: i64,
    /// Bytes of blocks of 32 KB and more.
    pub large: i64,
}

/// The C library's allocator, counted, with blocks of 4 MB and more in large pages. A program makes it its own with
/// `#[global_allocator]`.
#[derive(Debug, Default, Clone, Copy)]
pub struct CountingAllocator;

#[inline(always)]
fn count(change: isize, size: usize) {
    // Threads that end free what they have after their own values are gone; these need no drop and stay.
    LOCAL.with(|local| {
        let all = local.all.get().wrapping_add(change);
        local.all.set(all);
        if size >= LARGE {
            local.large.set(local.large.get().wrapping_add(change));
            #[cfg(debug_assertions)]
            super::audit::taken(change.max(0) as i64);
        }
        if all.wrapping_sub(local.told.get()).unsigned_abs() >= STEP {
            tell(local);
        }
    });
}

#[cold]
#[inline(never)]
fn tell(local: &Local) {
    let all = local.all.get();
    let change = all.wrapping_sub(local.told.replace(all)) as i64;
    let heap = HEAP.fetch_add(change, Ordering::Relaxed) + change;
    if !COUNTS.load(Ordering::Relaxed) {
        COUNTS.store(true, Ordering::Relaxed);
    }
    if change > 0 {
        let taken = TAKEN.fetch_add(change, Ordering::Relaxed) + change;
        if heap > ALARM.load(Ordering::Relaxed) || taken > LOOK_AT {
            PRESSED.store(true, Ordering::Relaxed);
        }
    }
}

/// Asks for large pages behind a block that is worth them, as far as the kernel gives them where they are asked for
/// (`transparent_hugepage/enabled` is `madvise` or `always`). A refusal is no error.
#[inline(always)]
fn advise(block: *mut u8, size: usize) {
    if size >= IN_LARGE_PAGES && !block.is_null() {
        ask_for_large_pages(block, size);
    }
}

#[cold]
#[inline(never)]
fn ask_for_large_pages(block: *mut u8, size: usize) {
    let begin = block.align_offset(LARGE_PAGE);
    let whole = size.saturating_sub(begin) & !(LARGE_PAGE - 1);
    if whole > 0 {
        // SAFETY: the part lies within the block, which the caller has just got. The advice changes no content.
        let _taken = unsafe { libc::madvise(block.add(begin).cast(), whole, libc::MADV_HUGEPAGE) };
    }
}

// SAFETY: every call goes on to the system's allocator with what it was given; counting touches nothing of the blocks, nor does advice
// on their pages.
unsafe impl GlobalAlloc for CountingAllocator {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize, layout.size());
        // SAFETY: the caller keeps the contract, which is the system's.
        let block = unsafe { System.alloc(layout) };
        advise(block, layout.size());
        block
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize, layout.size());
        // SAFETY: as above.
        let block = unsafe { System.alloc_zeroed(layout) };
        advise(block, layout.size());
        block
    }

    #[inline]
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(-(layout.size() as isize), layout.size());
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }

    #[inline]
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        // A block that grows over the bound counts as if it had been large before: its end takes all of it away.
        if (layout.size() >= LARGE) == (new_size >= LARGE) {
            count(new_size as isize - layout.size() as isize, new_size);
        } else {
            count(-(layout.size() as isize), layout.size());
            count(new_size as isize, new_size);
        }
        // SAFETY: as above.
        let block = unsafe { System.realloc(pointer, layout, new_size) };
        advise(block, new_size);
        block
    }
}

/// Counts a block that is taken out of memory which the program deals out by itself, as the allocator counts its own: `change` is its size, or less
/// than zero when it is free again. Nothing is counted where the process's allocator does not count.
#[inline]
pub fn count_block(change: isize) {
    if COUNTS.load(Ordering::Relaxed) {
        count(change, change.unsigned_abs());
    }
}

/// Bytes that the process has of its allocator; `None` where that does not count ([`CountingAllocator`]).
pub fn heap_bytes() -> Option<u64> {
    COUNTS.load(Ordering::Relaxed).then(|| u64::try_from(HEAP.load(Ordering::Relaxed)).unwrap_or(0))
}

/// True once the heap has passed an alarm or has grown much, until a look finds room. Cheap enough to be asked for every row.
#[inline]
pub fn is_pressed() -> bool {
    PRESSED.load(Ordering::Relaxed)
}

pub(super) fn set_pressed(pressed: bool) {
    if PRESSED.load(Ordering::Relaxed) != pressed {
        PRESSED.store(pressed, Ordering::Relaxed);
    }
}

/// The process's account was read.
pub(super) fn looked() {
    TAKEN.store(0, Ordering::Relaxed);
}

pub(super) fn set_alarm(bytes: i64) {
    ALARM.store(bytes, Ordering::Relaxed);
}

/// A task's turn on this thread begins: it has had so much so far.
#[inline]
pub fn turn_begins(before: TaskHeap) {
    LOCAL.with(|local| {
        local.all_before.set(local.all.get().wrapping_sub(before.all as isize));
        local.large_before.set(local.large.get().wrapping_sub(before.large as isize));
    });
}

/// The part of the heap that the task on this thread has.
#[inline]
pub fn task_heap() -> TaskHeap {
    LOCAL.with(|local| TaskHeap {
        all: local.all.get().wrapping_sub(local.all_before.get()) as i64,
        large: local.large.get().wrapping_sub(local.large_before.get()) as i64,
    })
}

/// Blocks of these sizes together that the task on this thread has taken are another's from here on.
pub fn hand_over(bytes: usize, large: usize) {
    LOCAL.with(|local| {
        local.all_before.set(local.all_before.get().wrapping_add(bytes as isize));
        local.large_before.set(local.large_before.get().wrapping_add(large as isize));
    });
}

/// Runs `make`, which belongs to something else than the running task from the start: what it takes is not the task's.
#[inline]
pub fn for_others<T>(make: impl FnOnce() -> T) -> T {
    let (all, large) = LOCAL.with(|local| (local.all.get(), local.large.get()));
    let made = make();
    LOCAL.with(|local| {
        let grown = |now: isize, before: isize| now.wrapping_sub(before).max(0);
        let (all, large) = (grown(local.all.get(), all), grown(local.large.get(), large));
        local.all_before.set(local.all_before.get().wrapping_add(all));
        local.large_before.set(local.large_before.get().wrapping_add(large));
    });
    made
}

/// From here on the task on this thread has nothing: what it has is not its own doing.
#[inline]
pub fn forget_task_heap() {
    turn_begins(TaskHeap::default());
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts as the allocator would: tests of this crate run with the system's own.
    fn with_counted(change: isize) -> TaskHeap {
        count(change, change.unsigned_abs());
        task_heap()
    }

    /// The flags of the mapping that an address is in, as the kernel shows them.
    fn flags_at(address: usize) -> String {
        let maps = std::fs::read_to_string("/proc/self/smaps").expect("the kernel shows mappings");
        let mut is_there = false;
        for line in maps.lines() {
            let range = line.split(' ').next().and_then(|range| range.split_once('-'));
            let bounds = range.map(|(from, to)| [from, to].map(|end| usize::from_str_radix(end, 16)));
            if let Some([Ok(from), Ok(to)]) = bounds {
                is_there = (from..to).contains(&address);
            } else if let Some(flags) = line.strip_prefix("VmFlags:").filter(|_| is_there) {
                return format!("{flags} ");
            }
        }
        String::new()
    }

    #[test]
    fn large_blocks_ask_for_large_pages() {
        if !std::path::Path::new("/sys/kernel/mm/transparent_hugepage/enabled").exists() {
            eprintln!("SKIPPED: the kernel has no transparent large pages");
            return;
        }
        let layout = |bytes| Layout::from_size_align(bytes, 16).expect("a layout");
        let middle = |block: *mut u8, bytes: usize| block as usize + bytes / 2;
        let (small, large) = (2 << 20, 64 << 20);
        // SAFETY: the blocks are given back with the layouts that they have then, and not used.
        unsafe {
            let block = CountingAllocator.alloc(layout(small));
            assert!(!flags_at(middle(block, small)).contains(" hg "));
            let block = CountingAllocator.realloc(block, layout(small), large);
            assert!(flags_at(middle(block, large)).contains(" hg "));
            CountingAllocator.dealloc(block, layout(large));
            let block = CountingAllocator.alloc_zeroed(layout(large));
            assert!(flags_at(middle(block, large)).contains(" hg "));
            CountingAllocator.dealloc(block, layout(large));
        }
    }

    #[test]
    fn a_task_s_part_goes_on_from_turn_to_turn() {
        turn_begins(TaskHeap::default());
        assert_eq!(with_counted(1000), TaskHeap { all: 1000, large: 0 });
        assert_eq!(with_counted(40 << 10), TaskHeap { all: 1000 + (40 << 10), large: 40 << 10 });
        let kept = task_heap();
        turn_begins(TaskHeap::default());
        assert_eq!(with_counted(-500), TaskHeap { all: -500, large: 0 }, "another's");
        turn_begins(kept);
        assert_eq!(with_counted(-(40 << 10)), TaskHeap { all: 1000, large: 0 });
        assert_eq!(with_counted(-500), TaskHeap { all: 500, large: 0 });
        hand_over(300, 0);
        assert_eq!(task_heap(), TaskHeap { all: 200, large: 0 });
        forget_task_heap();
        assert_eq!(task_heap(), TaskHeap::default());
    }
}
