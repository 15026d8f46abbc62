//! Who owns which pages: extents of 8 pages, the map pages that name their owners, and the mirror in memory.
//!
//! ```text
//!   page 0     page 8 ...                       page 8128
//!   | map 0 .. | extent 1 | extent 2 | ... 1015 | map 1 .. | extent 1 | ...
//!      |
//!      +--> header 64, then for each of its 1016 extents: | owner u32 | pages in use u8 | 0 0 0 |
//! ```
//! A map page leads each 1016 extents; its own extent belongs to the store. Owner 0: free.
//!
//! The mirror decides; the map page follows in the same log record that first uses the page: it names page and owner,
//! sets both, and so commutes with records of neighbours that are logged in another order. A page taken but never logged
//! (the log had no room) is given back to the mirror.
//!
//! So the mirror knows two states of a page that has an owner: taken by somebody, and in use, once its record is in the log.
//! A bulk writer takes all pages of an extent at once; what it leaves is for the object's next pages.
//!
//! Invariants
//! - map pages never leave the pool, so changing one needs no read;
//! - a map page's latch is the last one taken;
//! - extents of a dropped object are freed after the commit of the drop was logged: what reuses them has later records,
//!   and a page on disk never runs ahead of the durable log, so a drop that a crash undoes finds its pages untouched.
//!   A crash between the commit and [`Store::free_object`] leaves owned extents that no catalog entry knows;
//!   [`Store::free_unowned`] at the end of recovery finds them.
//! - a few free extents are kept for undo, which may need a page when it restores a longer row.

use std::collections::HashMap;
use std::sync::Arc;

use pikepole_contention::Counter;
use pikepole_contention::sync::atomic::Ordering;
use pikepole_log::LsnRange;

use crate::error::{Need, PageId, Stop, StorageError};
use crate::frame::IO_IDLE;
use crate::page::{PAGE_BYTES, PAGE_HEADER_BYTES, Page, PageKind, PageMut, get_u32};
use crate::pool::Exclusive;
use crate::records::{ChangeList, Record};
use crate::row::LogContext;
use crate::store::Store;

/// Pages of an extent.
pub const EXTENT_PAGES: u32 = 8;
/// Extents that one map page describes.
pub const MAP_EXTENTS: u32 = ((PAGE_BYTES - PAGE_HEADER_BYTES) / MAP_ENTRY_BYTES) as u32;
/// Object ids from here on are the caller's; smaller ones are the store's own.
pub const OBJECT_FIRST: u32 = 16;

/// An object with more extents is large; its pages are not counted one extent after the other for a guess.
const EXTENTS_COUNTED_MAX: usize = 64;

const MAP_ENTRY_BYTES: usize = 8;
const MAP_PAGES: u32 = MAP_EXTENTS * EXTENT_PAGES;
pub(crate) const OWNER_FREE: u32 = 0;
pub(crate) const OWNER_STORE: u32 = 1;
/// Free extents that only undo may take.
const EXTENTS_KEPT: u32 = 4;
/// Free extents below which an operation that found none makes the file grow.
pub(crate) const EXTENTS_FREE_MIN: u32 = EXTENTS_KEPT * 4;
/// Free extents that the lazy writer keeps ahead.
pub(crate) const EXTENTS_AHEAD: u32 = 256;
pub(crate) const EXTENT_BYTES: u64 = EXTENT_PAGES as u64 * PAGE_BYTES as u64;

/// The map page that describes a page.
pub(crate) fn map_page_of(page: PageId) -> PageId {
    PageId(page.0 / MAP_PAGES * MAP_PAGES)
}

pub(crate) fn is_map_page(page: PageId) -> bool {
    page.0.is_multiple_of(MAP_PAGES)
}

fn entry_at(page: PageId) -> usize {
    PAGE_HEADER_BYTES + MAP_ENTRY_BYTES * (page.0 % MAP_PAGES / EXTENT_PAGES) as usize
}

pub(crate) fn page_bit(page: PageId) -> u8 {
    1 << (page.0 % EXTENT_PAGES)
}

impl Page<'_> {
    /// Owner and used pages of the `index`-th extent of a map page.
    pub(crate) fn map_entry(self, index: u32) -> (u32, u8) {
        let at = PAGE_HEADER_BYTES + MAP_ENTRY_BYTES * index as usize;
        (get_u32(self.0, at), self.0[at + 4])
    }
}

impl PageMut<'_> {
    /// Makes an empty map page: all extents free but its own.
    pub(crate) fn format_map(&mut self, id: PageId) {
        self.format(id, OWNER_STORE, PageKind::Map, 0);
        self.use_page(id, OWNER_STORE);
    }

    /// Notes in a map page that `page` is in use and its extent belongs to `owner`.
    pub(crate) fn use_page(&mut self, page: PageId, owner: u32) {
        let at = entry_at(page);
        let entry = self.change(at..at + MAP_ENTRY_BYTES);
        entry[..4].copy_from_slice(&owner.to_le_bytes());
        entry[4] |= page_bit(page);
    }

    /// Notes in a map page that `page` is not in use; its extent stays with its owner.
    pub(crate) fn free_page(&mut self, page: PageId) {
        let at = entry_at(page);
        self.change(at..at + MAP_ENTRY_BYTES)[4] &= !page_bit(page);
    }

    /// Frees all extents of `owner` in a map page.
    pub(crate) fn free_extents(&mut self, owner: u32) {
        for at in (PAGE_HEADER_BYTES..PAGE_BYTES).step_by(MAP_ENTRY_BYTES) {
            if get_u32(self.as_page().0, at) == owner {
                self.change(at..at + MAP_ENTRY_BYTES).fill(0);
            }
        }
    }
}

/// What the mirror knows of an extent.
#[derive(Clone, Copy, Default)]
struct ExtentEntry {
    owner: u32,
    /// Pages in use: their records are in the log.
    used: u8,
    /// Pages in use, and those that somebody has taken to use them; a full extent has all its pages taken.
    taken: u8,
}

#[derive(Default)]
struct ObjectSpace {
    /// All its extents, in the order they were taken.
    extents: Vec<u32>,
    /// Extents that were not full when they came here; they can be full, a target's, or here twice.
    loose: Vec<u32>,
    /// The extent that each insertion target takes pages from.
    targets: Vec<(usize, u32)>,
}

/// The mirror of the map pages.
#[derive(Default)]
pub(crate) struct Space {
    extents: Vec<ExtentEntry>,
    free: u32,
    /// No free extent lies below.
    free_from: usize,
    objects: HashMap<u32, ObjectSpace>,
    /// Extents given to objects so far.
    given: u64,
}

impl Space {
    /// Forgets everything and takes over what the map pages say of a file of `extents`.
    pub fn rebuild(&mut self, extents: u32) {
        *self = Space::default();
        self.extend(extents);
    }

    /// The file has `extents` now; new ones are free, but those of map pages.
    pub fn extend(&mut self, extents: u32) {
        for extent in self.extents.len() as u32..extents {
            let map = extent.is_multiple_of(MAP_EXTENTS);
            let of_map = ExtentEntry { owner: OWNER_STORE, used: 1, taken: 1 };
            self.extents.push(if map { of_map } else { ExtentEntry::default() });
            self.free += u32::from(!map);
        }
    }

    /// Takes over one entry of a map page.
    pub fn set(&mut self, extent: u32, owner: u32, used: u8) {
        let Some(entry) = self.extents.get_mut(extent as usize) else { return };
        self.free -= u32::from(entry.owner == OWNER_FREE);
        self.free += u32::from(owner == OWNER_FREE);
        *entry = ExtentEntry { owner, used, taken: used };
        if owner >= OBJECT_FIRST {
            let object = self.objects.entry(owner).or_default();
            object.extents.push(extent);
            if used != u8::MAX {
                object.loose.push(extent);
            }
        }
    }

    pub fn extents(&self) -> u32 {
        self.extents.len() as u32
    }

    pub fn free_extents(&self) -> u32 {
        self.free
    }

    pub fn entry(&self, extent: u32) -> Option<(u32, u8)> {
        self.extents.get(extent as usize).map(|entry| (entry.owner, entry.used))
    }

    /// The pages of an extent that are in use or taken to be used.
    pub fn taken(&self, extent: u32) -> u8 {
        self.extents.get(extent as usize).map_or(0, |entry| entry.taken)
    }

    pub fn owner_of(&self, page: PageId) -> Option<u32> {
        let (owner, used) = self.entry(page.0 / EXTENT_PAGES)?;
        (owner != OWNER_FREE && used & page_bit(page) != 0).then_some(owner)
    }

    /// The `index`-th extent of an object and its used pages.
    pub fn extent_of(&self, object: u32, index: usize) -> Option<(u32, u8)> {
        let extent = *self.objects.get(&object)?.extents.get(index)?;
        Some((extent, self.extents[extent as usize].used))
    }

    /// The used pages of an object among `count` from `first` on, up to the next extent that is neither its own nor a map page's.
    pub fn used_run(&self, object: u32, first: PageId, count: u32) -> Vec<PageId> {
        let mut pages = Vec::with_capacity(count as usize);
        for page in (first.0..first.0 + count).map(PageId) {
            match self.entry(page.0 / EXTENT_PAGES) {
                Some((owner, used)) if owner == object => pages.extend((used & page_bit(page) != 0).then_some(page)),
                Some((OWNER_STORE, _)) => {}
                _ => break,
            }
        }
        pages
    }

    pub fn objects(&self) -> Vec<u32> {
        let mut objects: Vec<u32> = self.objects.keys().copied().collect();
        objects.sort_unstable();
        objects
    }

    fn extents_of(&self, object: u32) -> Vec<u32> {
        self.objects.get(&object).map(|object| object.extents.clone()).unwrap_or_default()
    }

    /// Takes an unused page for an insertion target of an object.
    fn take_page(&mut self, object: u32, target: usize, keep: u32) -> Option<PageId> {
        let space = self.objects.entry(object).or_default();
        let current = space.targets.iter().position(|&(of, _)| of == target);
        let mut extent = current.map(|at| space.targets[at].1).filter(|&e| !self.is_full(e));
        if extent.is_none() {
            extent = self.take_extent(object, keep);
            let targets = &mut self.objects.entry(object).or_default().targets;
            match current {
                Some(at) => targets[at].1 = extent?,
                None => targets.push((target, extent?)),
            }
        }
        let extent = extent?;
        let taken = &mut self.extents[extent as usize].taken;
        let index = taken.trailing_ones();
        *taken |= 1 << index;
        Some(PageId(extent * EXTENT_PAGES + index))
    }

    fn is_full(&self, extent: u32) -> bool {
        self.extents[extent as usize].taken == u8::MAX
    }

    /// An extent of an object that is not full, or a free one.
    fn take_extent(&mut self, object: u32, keep: u32) -> Option<u32> {
        let space = self.objects.entry(object).or_default();
        while let Some(extent) = space.loose.pop() {
            if self.extents[extent as usize].taken != u8::MAX {
                return Some(extent);
            }
        }
        if self.free <= keep {
            return None;
        }
        let free = (self.free_from..self.extents.len()).find(|&e| self.extents[e].owner == OWNER_FREE)?;
        self.free_from = free + 1;
        self.free -= 1;
        self.extents[free] = ExtentEntry { owner: object, ..ExtentEntry::default() };
        space.extents.push(free as u32);
        self.given += 1;
        Some(free as u32)
    }

    /// Takes all pages of an extent that are not taken: their bits.
    fn take_pages(&mut self, extent: u32) -> u8 {
        let taken = &mut self.extents[extent as usize].taken;
        let free = !*taken;
        *taken = u8::MAX;
        free
    }

    /// Pages that were taken are given back.
    fn give_back(&mut self, extent: u32, pages: u8) {
        let entry = &mut self.extents[extent as usize];
        let was_full = entry.taken == u8::MAX;
        entry.taken &= !pages;
        entry.used &= !pages;
        if pages != 0
            && was_full
            && let Some(object) = self.objects.get_mut(&entry.owner)
        {
            object.loose.push(extent);
        }
    }

    /// The page's record is in the log.
    fn publish(&mut self, page: PageId) {
        self.extents[(page.0 / EXTENT_PAGES) as usize].used |= page_bit(page);
    }

    fn free_object(&mut self, object: u32) -> usize {
        let Some(space) = self.objects.remove(&object) else { return 0 };
        for &extent in &space.extents {
            self.extents[extent as usize] = ExtentEntry::default();
            self.free += 1;
            self.free_from = self.free_from.min(extent as usize);
        }
        space.extents.len()
    }
}

/// A page taken from the mirror for an object; goes back when dropped before [`NewPage::used`].
pub(crate) struct NewPage<'a> {
    store: &'a Store,
    pub id: PageId,
    pub object: u32,
    logged: bool,
}

impl NewPage<'_> {
    /// The page is in a log record now.
    pub fn used(mut self) {
        self.logged = true;
        self.store.space.lock().publish(self.id);
        self.store.pool.statistics.add(Counter::PagesAllocated, 1);
    }
}

impl Drop for NewPage<'_> {
    fn drop(&mut self) {
        if !self.logged {
            self.store.space.lock().give_back(self.id.0 / EXTENT_PAGES, page_bit(self.id));
        }
    }
}

/// An extent that a bulk writer fills; what it has not used goes back when it is dropped.
pub(crate) struct OwnExtent {
    store: Arc<Store>,
    extent: u32,
    /// Its pages that are not in use yet.
    unused: u8,
}

impl OwnExtent {
    /// Takes an extent for an object.
    pub fn take(store: &Arc<Store>, object: u32) -> Result<OwnExtent, Stop> {
        let (extent, unused) = store.take_of_space(|space| {
            let extent = space.take_extent(object, EXTENTS_KEPT)?;
            Some((extent, space.take_pages(extent)))
        })?;
        Ok(OwnExtent { store: Arc::clone(store), extent, unused })
    }

    /// The next page to fill; None when the extent is full.
    pub fn next(&self) -> Option<PageId> {
        (self.unused != 0).then(|| PageId(self.extent * EXTENT_PAGES + self.unused.trailing_zeros()))
    }

    /// The page is in a log record now, and in the pool: everybody may meet it.
    pub fn used(&mut self, page: PageId) {
        self.unused &= !page_bit(page);
        self.store.space.lock().publish(page);
        self.store.pool.statistics.add(Counter::PagesAllocated, 1);
    }
}

impl Drop for OwnExtent {
    fn drop(&mut self) {
        self.store.space.lock().give_back(self.extent, self.unused);
    }
}

impl Store {
    /// Undoes that a page got its rows by one record, or removes its only row: it is in use no more. Its frame stays as it is, so that a scan that is
    /// on its way to it finds rows that nobody sees.
    pub(crate) fn free_page(&self, context: &LogContext, page: PageId) -> Result<LsnRange, Stop> {
        let mut map = self.latch_map(page)?;
        // What the page was is in the map page's past: its record changed both.
        let record = Record::FreePage { flags: context.flags, xid: context.xid, page: page.0 };
        let range = self.append(context, map.page().lsn(), &record)?;
        map.page_mut().free_page(page);
        map.logged(range);
        drop(map);
        self.space.lock().give_back(page.0 / EXTENT_PAGES, page_bit(page));
        self.pool.statistics.add(Counter::PageDeallocations, 1);
        Ok(range)
    }

    /// Pages that an object uses, and pages that it has in its extents.
    pub fn pages_of(&self, object: u32) -> (u64, u64) {
        let space = self.space.lock();
        let Some(own) = space.objects.get(&object) else { return (0, 0) };
        let used = own.extents.iter().map(|extent| u64::from(space.extents[*extent as usize].used.count_ones()));
        (used.sum(), own.extents.len() as u64 * u64::from(EXTENT_PAGES))
    }

    /// Pages that all objects use.
    pub fn used_pages(&self) -> u64 {
        let objects = self.space.lock().objects();
        objects.into_iter().map(|object| self.pages_of(object).0).sum()
    }

    /// Pages that an object uses, for guesses: of a large one all that are in its extents, so that the map is not held for long.
    pub(crate) fn pages_guessed(&self, object: u32) -> u64 {
        let space = self.space.lock();
        let Some(own) = space.objects.get(&object) else { return 0 };
        if own.extents.len() > EXTENTS_COUNTED_MAX {
            return own.extents.len() as u64 * u64::from(EXTENT_PAGES);
        }
        own.extents.iter().map(|extent| u64::from(space.extents[*extent as usize].used.count_ones())).sum()
    }

    /// How many extents an object has.
    pub fn extents_of(&self, object: u32) -> usize {
        self.space.lock().objects.get(&object).map_or(0, |own| own.extents.len())
    }

    /// The object that owns a page, if the page is in use.
    pub fn object_of(&self, page: PageId) -> Option<u32> {
        self.space.lock().owner_of(page)
    }

    /// Takes pages or an extent, and counts the extents that an object got for it.
    fn take_of_space<T>(&self, take: impl FnOnce(&mut Space) -> Option<T>) -> Result<T, Stop> {
        let mut space = self.space.lock();
        let before = space.given;
        let taken = take(&mut space).ok_or(Need::Space);
        let given = space.given - before;
        drop(space);
        if given > 0 {
            self.pool.statistics.add(Counter::ExtentsAllocated, given);
        }
        Ok(taken?)
    }

    /// Takes a page for an object's insertion target. Undo may take the last extents.
    pub(crate) fn new_page(&self, object: u32, target: usize, undo: bool) -> Result<NewPage<'_>, Stop> {
        let keep = if undo { 0 } else { EXTENTS_KEPT };
        let id = self.take_of_space(|space| space.take_page(object, target, keep))?;
        Ok(NewPage { store: self, id, object, logged: false })
    }

    /// The latch of the map page of a new page, to be held while its record is appended.
    pub(crate) fn latch_map(&self, page: PageId) -> Result<Exclusive<'_>, Stop> {
        self.pool.exclusive(map_page_of(page))
    }

    /// Frees all pages of an object. Call it when the commit of the drop has been logged; call it again after a need.
    ///
    /// # Errors
    /// Needs, or a poisoned log.
    pub fn free_object(&self, object: u32) -> Result<(), Stop> {
        assert!(object >= OBJECT_FIRST, "the store's own pages are never freed");
        let mut extents = self.space.lock().extents_of(object);
        extents.sort_unstable();
        for &extent in &extents {
            for page in extent * EXTENT_PAGES..(extent + 1) * EXTENT_PAGES {
                self.discard_page(PageId(page))?;
            }
        }
        let mut maps: Vec<PageId> = extents.iter().map(|extent| map_page_of(PageId(extent * EXTENT_PAGES))).collect();
        maps.dedup();
        for map in maps {
            let mut guard = self.pool.exclusive(map)?;
            let range = self.append_kept(&Record::FreeExtents { page: map.0, object })?;
            guard.page_mut().free_extents(object);
            guard.logged(range);
        }
        let freed = self.space.lock().free_object(object);
        self.pool.statistics.add(Counter::ExtentDeallocations, freed as u64);
        Ok(())
    }

    /// Frees the pages of every object that is not `live`: at the end of recovery, when the catalog is whole again. Finds
    /// what a crash left between the commit of a drop and its [`Store::free_object`], and the pages of objects whose
    /// creation was undone.
    ///
    /// # Errors
    /// As of [`Store::free_object`].
    pub fn free_unowned(&self, live: &dyn Fn(u32) -> bool) -> Result<(), Stop> {
        let objects = self.space.lock().objects();
        for object in objects.into_iter().filter(|&object| !live(object)) {
            self.free_object(object)?;
        }
        Ok(())
    }

    fn discard_page(&self, page: PageId) -> Result<(), Stop> {
        let Some(frame) = self.pool.lookup(page) else { return Ok(()) };
        let Some(guard) = self.pool.exclusive_at(frame, page)? else { return Ok(()) };
        if guard.header().io.load(Ordering::Relaxed) != IO_IDLE {
            return Err(Stop::Need(Need::PageLatch(page)));
        }
        self.pool.discard(guard);
        Ok(())
    }

    /// Makes the map pages of extents `old..new`.
    pub(crate) fn format_maps(&self, old: u32, new: u32) -> Result<(), StorageError> {
        for map in (old.next_multiple_of(MAP_EXTENTS)..new).step_by(MAP_EXTENTS as usize) {
            let id = PageId(map * EXTENT_PAGES);
            self.until_done(|| {
                let (mut guard, _) = self.pool.install(self.pool.take_free()?, id)?;
                guard.header().pinned.store(1, Ordering::Relaxed);
                guard.retype_to_plain();
                guard.page_mut().format_map(id);
                let mut changes = ChangeList::new();
                changes.image(guard.page());
                let range = self.append_kept(&changes.record())?;
                guard.formatted(range);
                Ok(())
            })?;
        }
        Ok(())
    }

    /// Leaves out the end of a file whose growth was cut off before its map page was logged. The log does not know that page
    /// and the disk has nothing of it, so no page behind it was ever in use. A later growth takes the room.
    fn cut_unfinished_growth(&self) -> Result<(), StorageError> {
        let known = self.master().pages;
        loop {
            let last = map_page_of(PageId(self.pages_in_file.load(Ordering::Acquire).saturating_sub(1)));
            if last.0 == 0 || last.0 < known || self.pool.lookup(last).is_some() {
                return Ok(());
            }
            if self.read_page(last)?.iter().any(|byte| *byte != 0) {
                return Ok(());
            }
            // Release pairs with the loads of who asks how long the file is.
            self.pages_in_file.store(last.0, Ordering::Release);
        }
    }

    /// Reads all map pages, side by side, pins them and rebuilds the mirror: at the end of redo.
    pub(crate) fn load_space(&self) -> Result<(), StorageError> {
        self.cut_unfinished_growth()?;
        let extents = self.pages_in_file.load(Ordering::Acquire) / EXTENT_PAGES;
        self.space.lock().rebuild(extents);
        let maps: Vec<PageId> =
            (0..extents).step_by(MAP_EXTENTS as usize).map(|map| PageId(map * EXTENT_PAGES)).collect();
        self.load_pages(&maps)?;
        for id in maps {
            let map = id.0 / EXTENT_PAGES;
            let guard = self.until_done(|| self.pool.exclusive(id))?;
            guard.header().pinned.store(1, Ordering::Relaxed);
            if guard.page().kind() != Some(PageKind::Map) {
                return Err(StorageError::corrupt(id, "it is not a page of the allocation map"));
            }
            let mut space = self.space.lock();
            for index in 1..MAP_EXTENTS.min(extents - map) {
                let (owner, used) = guard.page().map_entry(index);
                if owner != OWNER_FREE {
                    space.set(map + index, owner, used);
                }
            }
        }
        Ok(())
    }
}
