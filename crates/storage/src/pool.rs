//! The buffer pool: frames of one region, the array from page to frame, latches, the free list and the clock.
//!
//! ```text
//!   page id --> map[id / 65536][id % 65536] --> frame number --> header (64 bytes), bytes (8 KB)
//!                 (chunks made when needed)        |
//!   free frames <-- clock hand (clean, unused) <---+-- writer (dirty -> clean) <-- changes
//! ```
//!
//! Invariants
//! - a frame's page changes only under its exclusive latch, and never while `pinned` or being written;
//! - the map names a frame only if that frame holds the page, seen under its latch; without the latch the answer is a
//!   hint to be checked;
//! - `rec_lsn != 0` as long as the disk may lack a change of the page; such a page never leaves the pool;
//! - a free frame (module `parts`) has no page, level 0, and nobody writes it; who takes it has its latch, under which a page
//!   is read from the disk into it.
//!
//! Memory is touched when it is first used; with `touch_ahead` the lazy writer stays a little ahead of the frames in use,
//! since the first touch of cold memory costs microseconds a page, and a whole pool at once would delay every start.
//!
//! By default the pool grows as pages are read ([`PoolGrowth::Reads`]). Pages that an insert load makes and nobody asks for again are
//! worth no memory: once written, their frames serve the next ones, warm. A page that had to be read would have been worth a
//! frame, so each one read is a frame more. The limit is soft: who needs a frame while the disk lags behind takes a fresh one.

use std::ptr;
use std::sync::Arc;

use pikepole_contention::sync::Mutex;
use pikepole_contention::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use pikepole_contention::{Counter, SpinlockClass, Spinner, Statistics};
use pikepole_machine::memory::{Budget, Clerk};
use pikepole_machine::{LARGE_PAGE, MemoryGrant, Pages, Region};
use pikepole_scheduler::chaos::{self, Site};

use crate::error::{Need, PageId, Stop};
use crate::frame::{FrameHeader, IO_IDLE, Readers};
use crate::page::inner::{WORDS, Words};
use crate::page::{Lines, PAGE_BYTES, PageBytes};
use crate::parts::{PartUse, Parts, Used};
use crate::store::StoreOptions;

mod guards;

pub(crate) use guards::{Exclusive, FreeFrame, Shared};

const CHUNK_PAGES: usize = 1 << 16;
/// Most pages of a data file: 2 TB.
pub(crate) const PAGES_MAX: u32 = 1 << 28;
/// Tries before a taken latch becomes a need.
const LATCH_SPINS: u32 = 100;
/// Most that the lazy writer keeps free.
const FREE_BYTES_MAX: usize = 64 << 20;
/// Fewest frames of a pool.
pub(crate) const FRAMES_MIN: usize = 64;

/// From page to frame number plus 1; 0: not in the pool.
struct PageMap {
    chunks: Box<[AtomicPtr<[AtomicU32; CHUNK_PAGES]>]>,
}

impl PageMap {
    fn new() -> PageMap {
        let chunks = (0..PAGES_MAX as usize / CHUNK_PAGES).map(|_| AtomicPtr::new(ptr::null_mut())).collect();
        PageMap { chunks }
    }

    fn get(&self, page: PageId) -> Option<&AtomicU32> {
        // Acquire pairs with the Release in `get_or_make`.
        let chunk = self.chunks.get(page.0 as usize / CHUNK_PAGES)?.load(Ordering::Acquire);
        // SAFETY: a chunk pointer that is not null came from `Box::into_raw` in `get_or_make` and is freed only when
        // the map is dropped, which `&self` excludes.
        let chunk = unsafe { chunk.as_ref() }?;
        Some(&chunk[page.0 as usize % CHUNK_PAGES])
    }

    fn get_or_make(&self, page: PageId) -> &AtomicU32 {
        assert!(page.0 < PAGES_MAX, "allocation stays below the limit");
        if let Some(entry) = self.get(page) {
            return entry;
        }
        let fresh: Box<[AtomicU32]> = (0..CHUNK_PAGES).map(|_| AtomicU32::new(0)).collect();
        let fresh: Box<[AtomicU32; CHUNK_PAGES]> = fresh.try_into().expect("a chunk's length");
        let fresh = Box::into_raw(fresh);
        let place = &self.chunks[page.0 as usize / CHUNK_PAGES];
        // Release pairs with the Acquire in `get`.
        if place.compare_exchange(ptr::null_mut(), fresh, Ordering::Release, Ordering::Relaxed).is_err() {
            // SAFETY: `fresh` came from `Box::into_raw` above and lost the race: nobody else has seen it.
            drop(unsafe { Box::from_raw(fresh) });
        }
        self.get(page).expect("the chunk is there now")
    }
}

impl Drop for PageMap {
    fn drop(&mut self) {
        for chunk in &mut self.chunks {
            let chunk = *chunk.get_mut();
            if !chunk.is_null() {
                // SAFETY: the pointer came from `Box::into_raw` and the map, its only holder, is going away.
                drop(unsafe { Box::from_raw(chunk) });
            }
        }
    }
}

/// Memory touched at a time: the kernel lets no other mapping be made meanwhile.
const TOUCH_STEP_BYTES: usize = 2 << 20;

/// When the pool takes more of its memory into use (`POOL_GROWTH`).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum PoolGrowth {
    /// Whenever a page needs a frame, as long as there is memory that was not used yet.
    Demand,
    /// A frame for each page that is read, above a share of the pool that every database has.
    #[default]
    Reads,
}

/// Frames that a pool uses before anything was read: this share of it, between these two.
const FIRST_SHARE: usize = 8;
const FIRST_BYTES_MIN: usize = 64 << 20;
const FIRST_BYTES_MAX: usize = 128 << 20;
/// Frames that memory is asked for at once: a large page of them.
const GRANT_FRAMES: usize = LARGE_PAGE / PAGE_BYTES;
/// Frames that a pool always keeps.
const KEPT_FRAMES: usize = GRANT_FRAMES;
/// The smallest region that is tried when the system has no addresses for a larger one.
const REGION_BYTES_MIN: usize = 16 << 20;

/// See the module.
pub(crate) struct Pool {
    headers: Region,
    bytes: Region,
    /// The kind of pages that both are in.
    grant: MemoryGrant,
    frames: u32,
    /// The source of its memory; `None`: all of it is its own.
    budget: Option<Arc<Budget>>,
    /// Frames that it is to have at most ([`Pool::set_target`]).
    target: AtomicUsize,
    /// Frames that it can have as long as memory is short; more than there are: it is not.
    limit: AtomicUsize,
    /// How many frames are to be in use at the most; above that pages are written and leave.
    worth: AtomicUsize,
    growth: PoolGrowth,
    map: PageMap,
    parts: Parts,
    /// How many frames are free.
    free_count: AtomicUsize,
    hand: Mutex<u32>,
    pub readers: Readers,
    pub statistics: Arc<Statistics>,
}

impl Drop for Pool {
    fn drop(&mut self) {
        if let Some(budget) = &self.budget {
            budget.map(Clerk::BufferPool, -(self.granted_bytes() as i64));
        }
    }
}

// SAFETY: the regions are plain memory. Headers are atomics; a page's bytes are reached only through `Exclusive`,
// `Shared` and optimistic words, whose rules (module `frame`) keep plain writes apart from every other access.
unsafe impl Send for Pool {}
// SAFETY: as above.
unsafe impl Sync for Pool {}

/// What a turn of the clock hand found.
#[derive(Default)]
pub(crate) struct Swept {
    pub freed: usize,
    /// Frames of dirty pages that were not used lately.
    pub dirty: Vec<u32>,
}

impl Pool {
    pub fn new(options: &StoreOptions, statistics: &Arc<Statistics>) -> std::io::Result<Pool> {
        let mut bytes = options.pool_bytes.max(options.pool_bytes_max);
        loop {
            match Pool::of_bytes(bytes, options, statistics) {
                // Addresses cost nothing, but a limit of the process or a system that promises no more than it has may withhold them.
                Err(error) if error.kind() == std::io::ErrorKind::OutOfMemory && bytes > REGION_BYTES_MIN => bytes /= 2,
                made => return made,
            }
        }
    }

    fn of_bytes(region_bytes: usize, options: &StoreOptions, statistics: &Arc<Statistics>) -> std::io::Result<Pool> {
        let pages = options.memory_pages;
        let frames = (region_bytes / PAGE_BYTES).clamp(FRAMES_MIN, u32::MAX as usize / 2);
        let is_granted = options.budget.is_none() || pages == Pages::Reserved;
        let parts = Parts::new(frames as u32, &options.memory_nodes, is_granted, statistics);
        let region = |frame_bytes| Region::granted(frames * frame_bytes, pages, &parts.of_region(frame_bytes));
        let (bytes, grant) = region(PAGE_BYTES)?;
        let (headers, of_headers) = region(size_of::<FrameHeader>())?;
        let grant = grant.with(of_headers);
        // Reserved pages have been touched already.
        if !options.touch_ahead || grant.got == Pages::Reserved {
            parts.touch_nothing();
        }
        if let Some(budget) = options.budget.as_ref().filter(|_| is_granted) {
            budget.map(Clerk::BufferPool, (frames * PAGE_BYTES) as i64);
        }
        let pool = Pool {
            headers,
            bytes,
            grant,
            frames: frames as u32,
            budget: options.budget.clone(),
            target: AtomicUsize::new(0),
            limit: AtomicUsize::new(usize::MAX),
            worth: AtomicUsize::new(0),
            growth: options.pool_growth,
            map: PageMap::new(),
            parts,
            free_count: AtomicUsize::new(frames),
            hand: Mutex::new(0),
            readers: Readers::new(),
            statistics: Arc::clone(statistics),
        };
        pool.set_target(options.pool_bytes);
        Ok(pool)
    }

    /// The kind of pages that its memory is in.
    pub fn grant(&self) -> &MemoryGrant {
        &self.grant
    }

    /// Changes how much it is to have at most, as far as its addresses go. What is above that leaves as memory is asked back and as the
    /// lazy writer makes room; what is below is taken as pages need it.
    pub fn set_target(&self, bytes: usize) {
        let target = (bytes / PAGE_BYTES).clamp(FRAMES_MIN, self.frames as usize);
        let before = self.target.swap(target, Ordering::Relaxed);
        if before == target {
            return;
        }
        self.statistics.add(Counter::TargetPages, target as u64);
        self.statistics.subtract(Counter::TargetPages, before as u64);
        let first = match self.growth {
            PoolGrowth::Demand => target,
            PoolGrowth::Reads => {
                let share = (target / FIRST_SHARE).min(FIRST_BYTES_MAX / PAGE_BYTES);
                share.max(FIRST_BYTES_MIN / PAGE_BYTES).min(target)
            }
        };
        self.worth.fetch_min(target, Ordering::Relaxed);
        self.worth.fetch_max(first, Ordering::Relaxed);
        if target > before {
            self.lift_limit();
        }
    }

    /// Frames that it can have now.
    pub fn frames(&self) -> usize {
        self.limit.load(Ordering::Relaxed).min(self.target.load(Ordering::Relaxed))
    }

    /// Frames that hold a page, or are about to.
    fn used_frames(&self) -> usize {
        self.frames as usize - self.free_count.load(Ordering::Relaxed)
    }

    /// Bytes of the frames that have memory.
    pub fn granted_bytes(&self) -> u64 {
        (self.parts.granted() * PAGE_BYTES) as u64
    }

    /// Asks for memory for more frames; whether there is some. The first ones are always given.
    fn grow(&self) -> bool {
        let Some(budget) = &self.budget else { return false };
        let granted = self.parts.granted();
        let count = GRANT_FRAMES.min((self.frames as usize).saturating_sub(granted));
        if count == 0 {
            return false;
        }
        let bytes = (count * PAGE_BYTES) as u64;
        if granted < KEPT_FRAMES {
            budget.map(Clerk::BufferPool, bytes as i64);
        } else if !budget.grow_cache(Clerk::BufferPool, bytes, (granted * PAGE_BYTES) as u64) {
            self.limit.store(granted.max(FRAMES_MIN), Ordering::Relaxed);
            return false;
        }
        let missing = count - self.parts.grant(count);
        budget.map(Clerk::BufferPool, -((missing * PAGE_BYTES) as i64));
        missing < count
    }

    /// Memory is not short any more, as far as is known: frames are asked for again.
    pub fn lift_limit(&self) {
        self.limit.store(usize::MAX, Ordering::Relaxed);
    }

    /// Gives memory back, of free frames and of clean pages, without waiting for anything; how many bytes. Pages that were
    /// changed are left to the lazy writer, and so are inner pages of trees, whose readers would have to be waited for.
    pub fn give_way(&self, bytes: u64) -> u64 {
        let granted = self.parts.granted();
        let spare = granted.saturating_sub(KEPT_FRAMES);
        let wanted = usize::try_from(bytes).unwrap_or(usize::MAX).div_ceil(PAGE_BYTES).min(spare);
        let Some(budget) = self.budget.as_ref().filter(|_| wanted > 0 && self.grant.got != Pages::Reserved) else {
            return 0;
        };
        let mut given = self.retire(wanted);
        if given < wanted {
            self.evict_leaves(wanted - given);
            given += self.retire(wanted - given);
        }
        // The lazy writer makes room below this.
        let left = granted - wanted;
        self.limit.store(left.max(FRAMES_MIN), Ordering::Relaxed);
        self.worth.fetch_min(left.max(FRAMES_MIN), Ordering::Relaxed);
        budget.map(Clerk::BufferPool, -((given * PAGE_BYTES) as i64));
        (given * PAGE_BYTES) as u64
    }

    /// Gives the memory of free frames back to the system.
    fn retire(&self, count: usize) -> usize {
        let frames = self.parts.take_many(count);
        for run in frames.chunk_by(|frame, next| frame + 1 == *next) {
            let (first, last) = (run[0] as usize, run[run.len() - 1] as usize);
            // SAFETY: these frames were taken out of the free list above, so they hold no page and no other thread takes them; a
            // thread that still follows an old hint sees under the latch, or by the level, that the page is not there.
            unsafe { self.bytes.forget(first * PAGE_BYTES..(last + 1) * PAGE_BYTES) };
        }
        self.parts.cool(&frames);
        frames.len()
    }

    /// Frees frames with clean leaves, those first that were not used lately.
    fn evict_leaves(&self, count: usize) {
        let used = self.used();
        let start = *self.hand.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let mut freed = 0;
        for lately in [false, true] {
            let (before, behind): (Vec<u32>, Vec<u32>) = used.frames().partition(|frame| *frame < start);
            for frame in behind.into_iter().chain(before) {
                if freed >= count {
                    return;
                }
                let header = self.header(frame);
                let is_leaf = header.page().is_some() && header.level.load(Ordering::Relaxed) == 0;
                if !is_leaf || header.rec_lsn.load(Ordering::Relaxed) != 0 {
                    continue;
                }
                if lately {
                    header.referenced.store(0, Ordering::Relaxed);
                }
                freed += usize::from(self.evict(frame));
            }
        }
    }

    /// What each of its parts holds.
    pub fn part_uses(&self) -> impl Iterator<Item = PartUse> {
        self.parts.uses(self.target.load(Ordering::Relaxed))
    }

    /// Whether too little has been touched of the memory that will be used next.
    pub fn wants_touch(&self) -> bool {
        let worth = self.worth.load(Ordering::Relaxed).min(self.frames());
        self.parts.ungranted(worth) > 0 || self.parts.untouched(worth).is_some()
    }

    /// Touches a step of the memory that will be used next, if too little of it has been; whether it did.
    pub fn touch_ahead(&self) -> bool {
        let worth = self.worth.load(Ordering::Relaxed).min(self.frames());
        while self.parts.ungranted(worth) > 0 && self.grow() {}
        let Some(untouched) = self.parts.untouched(worth) else { return false };
        let step = untouched.bytes.start..untouched.bytes.end.min(untouched.bytes.start + TOUCH_STEP_BYTES);
        // What cannot be touched ahead is left to its first use.
        let end = self.bytes.touch(step.clone()).is_ok().then_some(step.end);
        self.parts.touched(&untouched, end);
        end.is_some()
    }

    /// Frames that can be taken, as far as is known.
    pub fn free_frames(&self) -> usize {
        self.frames().saturating_sub(self.used_frames())
    }

    /// Whether fewer frames are left to be used than should be: an eighth of those that are to be in use, 64 MB at the most.
    pub fn is_short_of_frames(&self) -> bool {
        let worth = self.worth.load(Ordering::Relaxed).min(self.frames());
        worth.saturating_sub(self.used_frames()) < (worth / 8).min(FREE_BYTES_MAX / PAGE_BYTES)
    }

    /// So many pages were read from the disk.
    pub fn count_reads(&self, pages: usize) {
        self.statistics.add(Counter::PageReads, pages as u64);
        if self.worth.load(Ordering::Relaxed) < self.frames() {
            self.worth.fetch_add(pages, Ordering::Relaxed);
        }
    }

    /// The frames that ever held a page.
    pub fn used(&self) -> Used {
        self.parts.used()
    }

    #[inline]
    pub fn header(&self, frame: u32) -> &FrameHeader {
        assert!(frame < self.frames);
        let headers: *const FrameHeader = self.headers.as_ptr().cast();
        // SAFETY: the region has `frames` headers (by `new`), starts at a 2 MB boundary, lives as long as `self`, and
        // zeroed memory is a valid header: all its fields are atomic integers.
        unsafe { &*headers.add(frame as usize) }
    }

    #[inline]
    fn bytes_at(&self, frame: u32) -> *mut PageBytes {
        debug_assert!(frame < self.frames);
        // SAFETY: the region has `frames` pages of bytes (by `new`), so the sum stays inside it.
        unsafe { self.bytes.as_ptr().cast::<PageBytes>().add(frame as usize) }
    }

    /// The words of a frame, for optimistic reading or for the holder of a latch.
    #[inline]
    pub fn words(&self, frame: u32) -> Words<'_> {
        let words: *const [AtomicU64; WORDS] = self.bytes_at(frame).cast();
        // SAFETY: the address is in the region and aligned; any bytes are valid atomics. No plain write runs meanwhile:
        // the caller saw a level > 0 in a read section, or holds a latch (module `frame`).
        Words(unsafe { &*words })
    }

    #[inline]
    pub fn lookup(&self, page: PageId) -> Option<u32> {
        // Acquire pairs with the Release in `install`: the frame's header is set.
        self.map.get(page)?.load(Ordering::Acquire).checked_sub(1)
    }

    /// Takes the exclusive latch of a page.
    #[inline]
    pub fn exclusive(&self, page: PageId) -> Result<Exclusive<'_>, Stop> {
        self.statistics.add(Counter::PageLookups, 1);
        let frame = self.lookup(page).ok_or(Need::Page(page))?;
        self.exclusive_at(frame, page)?.ok_or(Stop::Need(Need::Page(page)))
    }

    /// Takes the exclusive latch of `frame` if it still holds `page`; `None` if not.
    #[inline]
    pub fn exclusive_at(&self, frame: u32, page: PageId) -> Result<Option<Exclusive<'_>>, Stop> {
        if chaos::stops(Site::Page) {
            return Err(Stop::Need(Need::PageLatch(page)));
        }
        let header = self.header(frame);
        if !header.try_exclusive() {
            self.spin(page, || header.try_exclusive())?;
        }
        let guard = Exclusive { pool: self, frame };
        Ok((header.page() == Some(page.0)).then_some(guard))
    }

    /// Takes a shared latch of a page.
    pub fn shared(&self, page: PageId) -> Result<Shared<'_>, Stop> {
        self.statistics.add(Counter::PageLookups, 1);
        let frame = self.lookup(page).ok_or(Need::Page(page))?;
        if chaos::stops(Site::Page) {
            return Err(Stop::Need(Need::PageLatch(page)));
        }
        let header = self.header(frame);
        if !header.try_shared() {
            self.spin(page, || header.try_shared())?;
        }
        let guard = Shared { pool: self, frame };
        if header.page() == Some(page.0) { Ok(guard) } else { Err(Stop::Need(Need::Page(page))) }
    }

    pub fn try_shared_at(&self, frame: u32) -> Option<Shared<'_>> {
        self.header(frame).try_shared().then(|| Shared { pool: self, frame })
    }

    pub fn try_exclusive_at(&self, frame: u32) -> Option<Exclusive<'_>> {
        self.header(frame).try_exclusive().then(|| Exclusive { pool: self, frame })
    }

    /// A guard of a latch that the caller took by [`FrameHeader::try_exclusive_from`].
    pub fn adopt(&self, frame: u32) -> Exclusive<'_> {
        debug_assert!(self.header(frame).is_held_exclusively());
        Exclusive { pool: self, frame }
    }

    #[cold]
    fn spin(&self, page: PageId, take: impl Fn() -> bool) -> Result<(), Stop> {
        self.statistics.spinlock_collides(SpinlockClass::BUF_PAGE_LATCH);
        let mut spinner = Spinner::new();
        let taken = (0..LATCH_SPINS).any(|_| {
            spinner.spin();
            take()
        });
        self.statistics.spinlock_spun(SpinlockClass::BUF_PAGE_LATCH, &spinner);
        if taken { Ok(()) } else { Err(Stop::Need(Need::PageLatch(page))) }
    }

    /// Takes a free frame for a page to come, and its latch.
    pub fn take_free(&self) -> Result<FreeFrame<'_>, Stop> {
        let frame = self.take_frame().ok_or(Need::Frame)?;
        self.free_count.fetch_sub(1, Ordering::Relaxed);
        let header = self.header(frame);
        // Somebody who followed an old hint can hold the latch for a moment.
        let mut spinner = Spinner::new();
        let latched = (0..LATCH_SPINS).any(|_| {
            header.try_exclusive() || {
                spinner.spin();
                false
            }
        });
        if !latched {
            self.give_free(frame);
            return Err(Stop::Need(Need::Frame));
        }
        Ok(FreeFrame(Some(Exclusive { pool: self, frame })))
    }

    fn take_frame(&self) -> Option<u32> {
        // Memory is asked for before a frame that is far is taken.
        let free = if self.parts.are_several() { self.parts.take_near() } else { self.parts.take() };
        free.or_else(|| {
            self.grow();
            self.parts.take()
        })
    }

    fn give_free(&self, frame: u32) {
        self.parts.give(frame);
        self.free_count.fetch_add(1, Ordering::Relaxed);
    }

    /// Makes `page` the content of a free frame, whose bytes are the page already or are filled by the caller at once; if the page is
    /// in the pool already, its frame is latched instead (`false`) and the free one goes back.
    pub fn install<'a>(&'a self, spare: FreeFrame<'a>, page: PageId) -> Result<(Exclusive<'a>, bool), Stop> {
        match self.publish(spare, page) {
            Some(guard) => Ok((guard, true)),
            None => Ok((self.exclusive(page)?, false)),
        }
    }

    /// The first half of [`Pool::install`]; `None`: the page is in the pool already.
    pub fn publish<'a>(&'a self, mut spare: FreeFrame<'a>, page: PageId) -> Option<Exclusive<'a>> {
        let entry = self.map.get_or_make(page);
        let guard = spare.guard();
        let header = guard.header();
        header.set_page(Some(page.0));
        // Release pairs with the Acquire in `lookup`.
        if entry.compare_exchange(0, guard.frame + 1, Ordering::Release, Ordering::Relaxed).is_err() {
            header.set_page(None);
            return None;
        }
        header.referenced.store(1, Ordering::Relaxed);
        header.format_lsn.store(0, Ordering::Relaxed);
        // A page that was read is as on disk: its reader says so.
        header.set_changed(Lines::ALL);
        header.io.store(IO_IDLE, Ordering::Relaxed);
        self.statistics.add(Counter::DatabasePages, 1);
        spare.0.take()
    }

    /// Takes the page out of its frame, which becomes free. Its changes are lost: the caller has seen it clean, or the
    /// page belongs to nobody any more.
    pub fn discard(&self, guard: Exclusive<'_>) {
        let frame = guard.frame;
        let header = self.header(frame);
        let page = header.page().expect("a latched page");
        header.rec_lsn.store(0, Ordering::Relaxed);
        if let Some(entry) = self.map.get(PageId(page)) {
            // Relaxed: who still finds the frame looks at its page under the latch.
            entry.store(0, Ordering::Relaxed);
        }
        header.set_page(None);
        header.pinned.store(0, Ordering::Relaxed);
        if header.level.load(Ordering::Relaxed) > 0 {
            header.level.store(0, Ordering::Release);
            self.readers.quiesce();
        }
        drop(guard);
        self.statistics.subtract(Counter::DatabasePages, 1);
        self.give_free(frame);
    }

    /// Moves the clock hand until `want` clean frames are freed or `want` dirty pages found, at most twice round.
    pub fn sweep(&self, want: usize) -> Swept {
        let mut hand = self.hand.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let used = self.used();
        let mut swept = Swept::default();
        for _ in 0..used.count() * 2 {
            if swept.freed >= want || swept.dirty.len() >= want {
                break;
            }
            let frame = *hand;
            *hand = used.after(frame);
            self.look_at(frame, &mut swept);
        }
        swept
    }

    fn look_at(&self, frame: u32, swept: &mut Swept) {
        let header = self.header(frame);
        if header.page().is_none()
            || header.pinned.load(Ordering::Relaxed) != 0
            || header.io.load(Ordering::Relaxed) != IO_IDLE
        {
            return;
        }
        if header.referenced.load(Ordering::Relaxed) != 0 {
            // Inner pages get another round: they lead to hundreds of others.
            let next =
                u8::from(header.level.load(Ordering::Relaxed) > 0 && header.referenced.load(Ordering::Relaxed) == 1)
                    * 2;
            header.referenced.store(next, Ordering::Relaxed);
            return;
        }
        if header.rec_lsn.load(Ordering::Relaxed) != 0 {
            swept.dirty.push(frame);
            return;
        }
        swept.freed += usize::from(self.evict(frame));
    }

    /// Frees every frame whose page is clean and that nobody holds, however recently it was used.
    pub fn evict_clean(&self) {
        for frame in self.used().frames() {
            self.header(frame).referenced.store(0, Ordering::Relaxed);
            self.evict(frame);
        }
    }

    /// Frees a frame if its page is clean and nobody holds it.
    pub fn evict(&self, frame: u32) -> bool {
        let Some(guard) = self.try_exclusive_at(frame) else { return false };
        let header = guard.header();
        let free_to_go = header.page().is_some()
            && header.referenced.load(Ordering::Relaxed) == 0
            && header.rec_lsn.load(Ordering::Relaxed) == 0
            && header.io.load(Ordering::Relaxed) == IO_IDLE
            && header.pinned.load(Ordering::Relaxed) == 0;
        if free_to_go {
            self.discard(guard);
        }
        free_to_go
    }
}

#[cfg(test)]
mod tests;
