//! The memory of rows, versions and nodes: blocks of few sizes, out of large pieces.
//!
//! ```text
//!   piece, 2 MB:  | slab | slab | slab | ..
//!                    |
//!   slab, 64 KB:  | head | block | block | ..   blocks of one size
//!                    |
//!                  state: home, number of free blocks, the first of them --> the next --> ..
//! ```
//! A thread takes blocks out of slabs of its own, without an atomic operation. Any thread may free a block: one exchange puts it on the list
//! of its slab, which the slab's thread takes when it has no other block. So memory comes to the processor that uses it, and rows that are made
//! one after the other lie side by side (as in mimalloc: Leijen, Zorn and de Moura, 2019).
//!
//! | home | | goes on |
//! |---|---|---|
//! | a thread | it takes blocks | none is left, and few are free: to no home |
//! | none | full, or nearly so | enough blocks are free: to the list of its size |
//! | a list | waits for a thread | a thread wants one; all blocks are free, and so are those of many others: to the pool |
//! | the pool | without a size | a thread wants one; its piece has no slab that is in use: to the system |
//!
//! A thread that has freed a block must not touch its slab afterwards: others may give it back to the system. One exception: a thread whose exchange
//! makes enough blocks free of a slab without a home puts the slab on its list, and no other takes it until then.

use std::alloc::{GlobalAlloc, Layout, System, alloc, dealloc, handle_alloc_error};
use std::cell::Cell;
use std::ptr::{NonNull, null_mut};

use pikepole_contention::fault::planted;
use pikepole_contention::sync::atomic::{AtomicI64, AtomicU32, AtomicU64, Ordering};
use pikepole_contention::sync::{Mutex, MutexGuard};
#[cfg(not(any(shuttle, loom)))]
use pikepole_machine::memory::count_block;

#[cfg(all(test, shuttle))]
mod models;
#[cfg(all(test, not(shuttle), not(loom)))]
mod tests;
#[cfg(all(test, not(shuttle), not(loom)))]
pub(crate) use tests::blocks_out;

/// Bytes of a slab, and its alignment.
const SLAB: usize = if cfg!(shuttle) { 4 << 10 } else { 64 << 10 };
/// Slabs of a piece.
const SLABS: usize = if cfg!(shuttle) { 2 } else { 32 };
/// Bytes of a piece, and its alignment.
const PIECE: usize = SLAB * SLABS;
/// Bytes before the first block of a slab.
const HEAD: usize = if cfg!(shuttle) { 1 << 10 } else { 64 };
/// The largest block: larger ones are the allocator's.
const BLOCK_MAX: usize = 4096;
/// Sizes of blocks: steps of 8 bytes up to 256, of an eighth behind that.
const SIZES: usize = 64;
/// The part of a slab's blocks that must be free before a thread takes it again.
const FREE_PART: usize = 16;
/// Slabs on lists all of whose blocks are free before they are looked for, at least.
const WHOLE_MIN: i64 = SLABS as i64;
/// The part of the slabs on lists that they must be, so that a look finds many.
const WHOLE_PART: i64 = 8;

const ALIGN: usize = align_of::<AtomicU64>();

const _: () = assert!(size_of::<Slab>() <= HEAD && SIZES == size_of_bytes(BLOCK_MAX) + 1);

/// The number of the size of blocks with room for so many bytes.
const fn size_of_bytes(bytes: usize) -> usize {
    if bytes <= 256 {
        return bytes.div_ceil(8).saturating_sub(1);
    }
    let last = bytes - 1;
    let top = last.ilog2() as usize;
    32 + (top - 8) * 8 + (last >> (top - 3) & 7)
}

/// The bytes of blocks of a size.
const fn bytes_of_size(size: usize) -> usize {
    if size < 32 {
        return (size + 1) * 8;
    }
    let (top, step) = (8 + (size - 32) / 8, (size - 32) % 8);
    (8 + step + 1) << (top - 3)
}

/// The place that takes care of a slab.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Home {
    Thread,
    None,
    List,
}

/// The state of a slab in one word: its home, and the blocks on its list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct State {
    home: Home,
    count: u64,
    /// The place of the first one, in bytes; zero: there is none.
    first: usize,
}

impl State {
    fn of(word: u64) -> State {
        let home = match word & 3 {
            0 => Home::Thread,
            1 => Home::None,
            _ => Home::List,
        };
        State { home, count: word >> 2 & 0xFFFF, first: (word >> 18) as usize }
    }

    fn word(self) -> u64 {
        let home = match self.home {
            Home::Thread => 0,
            Home::None => 1,
            Home::List => 2,
        };
        home | self.count << 2 | (self.first as u64) << 18
    }
}

/// The head of a slab.
#[repr(C)]
struct Slab {
    state: AtomicU64,
    /// The number of its size, and the number of its blocks: they change while no block is out.
    size: AtomicU32,
    blocks: AtomicU32,
    /// Of the first slab of a piece: how many slabs of the piece are in the pool. Changes under the pool's lock.
    in_pool: AtomicU32,
}

/// A slab by its address, which reaches all of its piece.
#[derive(Clone, Copy, PartialEq, Eq)]
struct SlabAt(NonNull<Slab>);

// SAFETY: a slab belongs to no thread; the words of its head are atomic, and its blocks belong to who has taken them.
unsafe impl Send for SlabAt {}

impl SlabAt {
    /// The slab that a block is in.
    ///
    /// # Safety
    /// The block is one of a slab, by a pointer that has come from there.
    unsafe fn of(block: NonNull<u8>) -> SlabAt {
        let slab = block.as_ptr().map_addr(|address| address & !(SLAB - 1));
        // SAFETY: the head of the block's slab is not at address zero.
        SlabAt(unsafe { NonNull::new_unchecked(slab).cast() })
    }

    /// Its head.
    ///
    /// # Safety
    /// Its piece has not been given back: a block of it is out, or it has the home that the caller has found under the lock, or is the caller's.
    unsafe fn head<'s>(self) -> &'s Slab {
        // SAFETY: the caller says so.
        unsafe { self.0.as_ref() }
    }

    /// The piece that it is a part of.
    fn piece(self) -> SlabAt {
        let first = self.0.as_ptr().map_addr(|address| address & !(PIECE - 1));
        // SAFETY: a piece is not at address zero.
        SlabAt(unsafe { NonNull::new_unchecked(first) })
    }

    /// # Safety
    /// The place is within the slab, or behind it within its piece.
    unsafe fn block(self, place: usize) -> NonNull<u8> {
        // SAFETY: the caller says so.
        unsafe { self.0.cast::<u8>().add(place) }
    }

    /// The first block of a list; null: there is none.
    ///
    /// # Safety
    /// The state is one that this slab has had.
    unsafe fn first(self, state: State) -> *mut u8 {
        // SAFETY: places of blocks are within the slab.
        if state.first == 0 { null_mut() } else { unsafe { self.block(state.first) }.as_ptr() }
    }

    /// Puts free blocks on the slab's list; the slab has no home afterwards if the calling thread was it and `leaves`. True: enough blocks are free,
    /// and the caller puts the slab, which no other thread takes meanwhile, on the list of its size. Release pairs with the Acquire of who takes
    /// the blocks.
    ///
    /// # Safety
    /// The blocks are the caller's, `first` leads to `last` by the links in them, and there are so many. The slab is not touched again unless
    /// the answer is true.
    unsafe fn free(self, first: NonNull<u8>, last: NonNull<u8>, added: u64, shared: &Slabs, leaves: bool) -> bool {
        // SAFETY: the blocks are out until the exchange below.
        let head = unsafe { self.head() };
        let (place, blocks) = (first.addr().get() & (SLAB - 1), head.blocks.load(Ordering::Relaxed));
        let mut word = head.state.load(Ordering::Relaxed);
        loop {
            let state = State::of(word);
            // SAFETY: the block is the caller's, and large enough for a link; the state is the slab's.
            unsafe { last.cast::<*mut u8>().write(self.first(state)) };
            let home = if leaves { Home::None } else { state.home };
            let new = State { home, count: state.count + added, first: place };
            match head.state.compare_exchange_weak(word, new.word(), Ordering::Release, Ordering::Relaxed) {
                Err(now) => word = now,
                Ok(_) => {
                    if home == Home::List && new.count == u64::from(blocks) {
                        shared.note_whole();
                    }
                    let enough = enough(blocks);
                    let was_enough = !leaves && state.count >= enough;
                    return home == Home::None && new.count >= enough && !was_enough;
                }
            }
        }
    }
}

/// The free blocks with which a slab is put on a list.
fn enough(blocks: u32) -> u64 {
    u64::from(blocks).div_ceil(FREE_PART as u64)
}

/// Slabs that no thread has.
struct Slabs {
    /// By the sizes of their blocks.
    lists: [Mutex<Vec<SlabAt>>; SIZES],
    pool: Mutex<Vec<SlabAt>>,
    /// Slabs on lists, and those of them all of whose blocks are free: who frees the last one counts it, perhaps behind who has taken it.
    listed: AtomicI64,
    whole: AtomicI64,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

impl Slabs {
    #[cfg(not(any(shuttle, loom)))]
    const fn new() -> Slabs {
        Slabs {
            lists: [const { Mutex::new(Vec::new()) }; SIZES],
            pool: Mutex::new(Vec::new()),
            listed: AtomicI64::new(0),
            whole: AtomicI64::new(0),
        }
    }

    /// A slab for the calling thread, with blocks of a size: its free blocks, and how many of its last ones have never been out.
    fn take(&self, size: usize) -> Taken {
        if let Some(slab) = lock(&self.lists[size]).pop() {
            self.listed.fetch_sub(1, Ordering::Relaxed);
            return self.take_home(slab);
        }
        let slab = self.take_from_pool();
        let blocks = (SLAB - HEAD) / bytes_of_size(size);
        // SAFETY: it is the caller's.
        let head = unsafe { slab.head() };
        head.size.store(size as u32, Ordering::Relaxed);
        head.blocks.store(blocks as u32, Ordering::Relaxed);
        let state = State { home: Home::Thread, count: 0, first: 0 };
        head.state.store(state.word(), Ordering::Relaxed);
        Taken { slab, free: null_mut(), fresh: blocks }
    }

    /// Gives a slab that was on a list the calling thread as its home.
    fn take_home(&self, slab: SlabAt) -> Taken {
        // SAFETY: it has left its list, by the caller's doing.
        let head = unsafe { slab.head() };
        let new = State { home: Home::Thread, count: 0, first: 0 };
        // Acquire pairs with the Release of `free`.
        let state = State::of(head.state.swap(new.word(), Ordering::Acquire));
        debug_assert_eq!(state.home, Home::List, "it was on a list");
        if state.count == u64::from(head.blocks.load(Ordering::Relaxed)) {
            self.whole.fetch_sub(1, Ordering::Relaxed);
        }
        // SAFETY: the state was the slab's.
        Taken { slab, free: unsafe { slab.first(state) }, fresh: 0 }
    }

    fn take_from_pool(&self) -> SlabAt {
        let mut pool = lock(&self.pool);
        let slab = pool.pop().unwrap_or_else(|| {
            let piece = new_piece();
            // SAFETY: the slabs are within the piece that has just been made.
            pool.extend((1..SLABS).rev().map(|at| SlabAt(unsafe { piece.block(at * SLAB) }.cast())));
            // SAFETY: the piece is there.
            unsafe { piece.head() }.in_pool.store(SLABS as u32, Ordering::Relaxed);
            piece
        });
        // SAFETY: a slab of it was in the pool until here.
        unsafe { slab.piece().head() }.in_pool.fetch_sub(1, Ordering::Relaxed);
        slab
    }

    /// Puts a slab without a home that has enough free blocks on the list of its size. No other thread does, or takes it, meanwhile.
    ///
    /// # Safety
    /// [`SlabAt::free`] has asked the caller for this.
    unsafe fn list(&self, slab: SlabAt) {
        // SAFETY: without a home it stays where it is.
        let head = unsafe { slab.head() };
        let (size, blocks) = (head.size.load(Ordering::Relaxed) as usize, head.blocks.load(Ordering::Relaxed));
        let mut list = lock(&self.lists[size]);
        let mut word = head.state.load(Ordering::Relaxed);
        // Relaxed: the list of blocks is the same, and so is what its Release has published (a release sequence goes on over exchanges).
        while let Err(now) = head.state.compare_exchange_weak(
            word,
            State { home: Home::List, ..State::of(word) }.word(),
            Ordering::Relaxed,
            Ordering::Relaxed,
        ) {
            word = now;
        }
        list.push(slab);
        self.listed.fetch_add(1, Ordering::Relaxed);
        drop(list);
        if State::of(word).count == u64::from(blocks) {
            self.note_whole();
        }
    }

    /// Bytes of the free blocks of a size that are in no thread's slab.
    fn spare(&self, size: usize) -> u64 {
        let count = |slab: &SlabAt| {
            // SAFETY: it is on the list, whose lock is held.
            State::of(unsafe { slab.head() }.state.load(Ordering::Relaxed)).count
        };
        let blocks: u64 = lock(&self.lists[size]).iter().map(count).sum();
        blocks * bytes_of_size(size) as u64 + (lock(&self.pool).len() * SLAB) as u64
    }

    /// All blocks of a slab on a list are free. When many are, they go to the pool.
    fn note_whole(&self) {
        let whole = self.whole.fetch_add(1, Ordering::Relaxed) + 1;
        if whole >= WHOLE_MIN.max(self.listed.load(Ordering::Relaxed) / WHOLE_PART) {
            self.gather();
        }
    }

    /// Moves slabs all of whose blocks are free from the lists to the pool, and gives pieces back that are all there.
    #[cold]
    fn gather(&self) {
        for list in &self.lists {
            let mut list = lock(list);
            let gathered: Vec<SlabAt> = list
                .extract_if(.., |slab| {
                    // SAFETY: it is on the list, whose lock is held.
                    let head = unsafe { slab.head() };
                    // Acquire pairs with the Release of `free`: what was in the blocks was done before this.
                    let state = State::of(head.state.load(Ordering::Acquire));
                    state.count == u64::from(head.blocks.load(Ordering::Relaxed))
                })
                .collect();
            drop(list);
            self.listed.fetch_sub(gathered.len() as i64, Ordering::Relaxed);
            self.whole.fetch_sub(gathered.len() as i64, Ordering::Relaxed);
            self.put_into_pool(gathered);
        }
    }

    fn put_into_pool(&self, slabs: Vec<SlabAt>) {
        let mut pool = lock(&self.pool);
        let mut whole = Vec::new();
        for slab in slabs {
            pool.push(slab);
            let piece = slab.piece();
            // SAFETY: the slab is in the pool, whose lock is held.
            let before = unsafe { piece.head() }.in_pool.fetch_add(1, Ordering::Relaxed);
            if before as usize + 1 == SLABS {
                whole.push(piece);
            }
        }
        // One stays, so that a table which is filled and emptied does not ask the system each time.
        if pool.len() < 2 * SLABS {
            whole.pop();
        }
        if !whole.is_empty() {
            pool.retain(|slab| !whole.contains(&slab.piece()));
        }
        drop(pool);
        for piece in whole {
            // SAFETY: all its slabs were in the pool, and have left it: nothing leads to it.
            unsafe { System.dealloc(piece.0.as_ptr().cast(), layout_of_piece()) };
        }
    }
}

fn layout_of_piece() -> Layout {
    Layout::from_size_align(PIECE, PIECE).unwrap_or_else(|_| unreachable!("a power of two is an alignment"))
}

/// A piece, which the process's allocator does not count: blocks are counted as they are taken.
fn new_piece() -> SlabAt {
    let layout = layout_of_piece();
    // SAFETY: a piece has a size.
    let piece = NonNull::new(unsafe { System.alloc(layout) }).unwrap_or_else(|| handle_alloc_error(layout));
    for at in 0..SLABS {
        let head = Slab {
            state: AtomicU64::new(0),
            size: AtomicU32::new(0),
            blocks: AtomicU32::new(0),
            in_pool: AtomicU32::new(0),
        };
        // SAFETY: it is within the piece, which is aligned for it.
        unsafe { piece.add(at * SLAB).cast::<Slab>().write(head) };
    }
    SlabAt(piece.cast())
}

/// A slab that a thread has taken.
struct Taken {
    slab: SlabAt,
    /// The first of its free blocks that have been out before.
    free: *mut u8,
    /// The number of its last blocks, which have not.
    fresh: usize,
}

/// The slab of one size that a thread takes blocks from.
struct Own {
    slab: Cell<Option<SlabAt>>,
    /// The first of the free blocks; null: there is none.
    free: Cell<*mut u8>,
    /// Blocks that have not been out: from the first of these addresses to the second.
    fresh: Cell<*mut u8>,
    end: Cell<*mut u8>,
}

impl Own {
    const fn new() -> Own {
        let [free, fresh, end] = [const { Cell::new(null_mut()) }; 3];
        Own { slab: Cell::new(None), free, fresh, end }
    }
}

/// The slabs of a thread.
struct Local {
    own: [Own; SIZES],
}

impl Local {
    const fn new() -> Local {
        Local { own: [const { Own::new() }; SIZES] }
    }

    #[inline]
    fn take(&self, size: usize, shared: &Slabs) -> NonNull<u8> {
        let own = &self.own[size];
        if let Some(block) = NonNull::new(own.free.get()) {
            // SAFETY: a free block of this thread, with a link in it.
            own.free.set(unsafe { block.cast::<*mut u8>().read() });
            return block;
        }
        if own.fresh.get() == own.end.get() {
            return self.take_from_others(size, shared);
        }
        let block = own.fresh.get();
        // SAFETY: there is one more block before the end.
        unsafe {
            own.fresh.set(block.add(bytes_of_size(size)));
            NonNull::new_unchecked(block)
        }
    }

    /// Takes the blocks that others have freed, or another slab, and a block of these.
    #[cold]
    #[inline(never)]
    fn take_from_others(&self, size: usize, shared: &Slabs) -> NonNull<u8> {
        let own = &self.own[size];
        if let Some(slab) = own.slab.get() {
            match take_freed(slab) {
                Some(free) => own.free.set(free),
                None => own.slab.set(None),
            }
        }
        if own.slab.get().is_none() {
            let Taken { slab, free, fresh } = shared.take(size);
            // SAFETY: the blocks that have not been out are the last of the slab's, within it.
            unsafe {
                let end = slab.block(HEAD + (SLAB - HEAD) / bytes_of_size(size) * bytes_of_size(size)).as_ptr();
                own.fresh.set(end.sub(fresh * bytes_of_size(size)));
                own.end.set(end);
            }
            own.slab.set(Some(slab));
            own.free.set(free);
        }
        self.take(size, shared)
    }

    /// Lets all slabs go.
    fn leave(&self, shared: &Slabs) {
        for (size, own) in self.own.iter().enumerate() {
            let Some(slab) = own.slab.take() else { continue };
            let (mut first, mut last, mut count) = (null_mut::<u8>(), None, 0);
            let mut add = |block: NonNull<u8>| {
                // SAFETY: a free block of this thread, with room for a link.
                unsafe { block.cast::<*mut u8>().write(first) };
                last = last.or(Some(block));
                (first, count) = (block.as_ptr(), count + 1);
            };
            while own.fresh.get() != own.end.get() || !own.free.get().is_null() {
                add(self.take(size, shared));
            }
            // SAFETY: the slab is the thread's until `free` or the exchange.
            unsafe {
                let is_enough = match (NonNull::new(first), last) {
                    (Some(first), Some(last)) => slab.free(first, last, count, shared, true),
                    _ => leave_full(slab),
                };
                if is_enough {
                    shared.list(slab);
                }
            }
        }
    }
}

impl Drop for Local {
    fn drop(&mut self) {
        #[cfg(not(any(shuttle, loom)))]
        self.leave(&SHARED);
    }
}

/// Takes the blocks of a slab of the calling thread that others have freed. None: they are too few, and the slab has no home now.
fn take_freed(slab: SlabAt) -> Option<*mut u8> {
    // SAFETY: the slab is the thread's.
    let head = unsafe { slab.head() };
    let enough = enough(head.blocks.load(Ordering::Relaxed));
    let mut word = head.state.load(Ordering::Relaxed);
    loop {
        let state = State::of(word);
        let new = match state.count >= enough {
            true => State { home: Home::Thread, count: 0, first: 0 },
            false => State { home: Home::None, ..state },
        };
        if planted("memory: blocks that are freed meanwhile are overlooked") && new.count == 0 {
            pikepole_contention::sync::hint::spin_loop();
            head.state.store(new.word(), Ordering::Relaxed);
            // SAFETY: the state was the slab's.
            return (state.count >= enough).then(|| unsafe { slab.first(state) });
        }
        // AcqRel: Acquire pairs with the Release of `free`. Release, for a slab that loses its home, with the Acquire of who takes it next.
        match head.state.compare_exchange_weak(word, new.word(), Ordering::AcqRel, Ordering::Relaxed) {
            // SAFETY: the state was the slab's.
            Ok(_) => return (new.home == Home::Thread).then(|| unsafe { slab.first(state) }),
            Err(now) => word = now,
        }
    }
}

/// Lets a slab go of whose blocks the calling thread has none. True: enough blocks are free, as of [`SlabAt::free`].
///
/// # Safety
/// The slab is the thread's.
unsafe fn leave_full(slab: SlabAt) -> bool {
    // SAFETY: the caller says so.
    let head = unsafe { slab.head() };
    let enough = enough(head.blocks.load(Ordering::Relaxed));
    let mut word = head.state.load(Ordering::Relaxed);
    loop {
        let state = State::of(word);
        let new = State { home: Home::None, ..state };
        // Release pairs with the Acquire of who takes the slab next.
        match head.state.compare_exchange_weak(word, new.word(), Ordering::Release, Ordering::Relaxed) {
            Ok(_) => return state.count >= enough,
            Err(now) => word = now,
        }
    }
}

#[cfg(not(any(shuttle, loom)))]
static SHARED: Slabs = Slabs::new();

#[cfg(not(any(shuttle, loom)))]
thread_local! {
    static LOCAL: Local = const { Local::new() };
}

fn layout_of(bytes: usize) -> Layout {
    Layout::from_size_align(bytes, ALIGN).unwrap_or_else(|_| unreachable!("bytes that exist have a layout"))
}

/// Memory for a block, which is aligned as an address is.
#[inline]
pub(crate) fn allocate(bytes: usize) -> NonNull<u8> {
    #[cfg(all(test, not(shuttle), not(loom)))]
    tests::note_out(bytes, 1);
    #[cfg(not(any(shuttle, loom)))]
    if bytes <= BLOCK_MAX {
        let size = size_of_bytes(bytes);
        count_block(bytes_of_size(size) as isize);
        // A thread that ends has let its slabs go already: it takes one for this block.
        return LOCAL.try_with(|local| local.take(size, &SHARED)).unwrap_or_else(|_| Local::new().take(size, &SHARED));
    }
    let layout = layout_of(bytes);
    // SAFETY: every block has a head, so its size is not zero.
    NonNull::new(unsafe { alloc(layout) }).unwrap_or_else(|| handle_alloc_error(layout))
}

/// Bytes of memory that blocks of so many bytes can have without more from the system.
pub(crate) fn spare(bytes: usize) -> u64 {
    #[cfg(not(any(shuttle, loom)))]
    if bytes <= BLOCK_MAX {
        return SHARED.spare(size_of_bytes(bytes));
    }
    let _ = bytes;
    0
}

/// # Safety
/// The block was allocated with so many bytes, and nothing uses it any more.
pub(crate) unsafe fn free(block: NonNull<u8>, bytes: usize) {
    #[cfg(all(test, not(shuttle), not(loom)))]
    {
        tests::note_out(bytes, -1);
        // SAFETY: the caller says so. Who reads it still is found out.
        unsafe { block.write_bytes(0xDD, bytes) };
    }
    #[cfg(not(any(shuttle, loom)))]
    if bytes <= BLOCK_MAX {
        count_block(-(bytes_of_size(size_of_bytes(bytes)) as isize));
        // SAFETY: the caller says that it is a block, which is its own.
        return unsafe { free_block(block, &SHARED) };
    }
    // SAFETY: the caller says so.
    unsafe { dealloc(block.as_ptr(), layout_of(bytes)) };
}

/// # Safety
/// The block is one of a slab's, and nothing uses it any more.
unsafe fn free_block(block: NonNull<u8>, shared: &Slabs) {
    // SAFETY: the caller says so.
    unsafe {
        let slab = SlabAt::of(block);
        if slab.free(block, block, 1, shared, false) {
            shared.list(slab);
        }
    }
}
