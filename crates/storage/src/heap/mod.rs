//! Heaps: rows without an order, found by place.
//!
//! ```text
//!   slot of the thread --> insertion target (a page with room) --> row; its rid is (page, slot)
//!
//!   home entry:     [header][columns]                           a row at home
//!                   [header FORWARDED][rid of the new place]    a row that grew out of its page
//!   moved entry:    [header MOVED][rid of home][columns]        its columns
//! ```
//! A row keeps its rid for life. One that no longer fits leaves a forwarding rid at home and moves; the header at home
//! counts. Scans meet moved rows through their home.
//!
//! A move is two records: the moved entry appears (it belongs to no transaction, and nobody sees it before home points to
//! it), then home changes, which is the transaction's change with the whole old row in its record. A crash in between leaves
//! a moved entry that nobody points to: lost space, no more; `check` counts them.
//!
//! Invariants
//! - home is latched before the moved entry;
//! - a moved entry is removed only after home points elsewhere, under home's exclusive latch;
//! - every entry has at least the room of a forwarding rid, so undo can always put something in its place.
//!
//! Targets: one for each slot (thread), or one for all under the spinlock `ALLOC_CACHES_HASH`. A page that is no target
//! and loses its last row goes out of use, and is the next new page. Room that deletes leave beside other rows of a page that is
//! no target is not found again before the object is rebuilt.

mod bulk;
mod parts;
mod scan;
#[cfg(test)]
mod tests;

pub(crate) use bulk::PackedRows;
pub use bulk::{BulkPage, BulkPages, EncodedRows};
pub use scan::{HeapRow, HeapScan};

use std::sync::Arc;

use pikepole_contention::sync::atomic::{AtomicU64, Ordering};
use pikepole_contention::{CachePadded, Counter, Spinlock, SpinlockClass, slot};
use pikepole_log::LsnRange;

use crate::allocation::OBJECT_FIRST;
use crate::error::{Need, PageId, Stop, StorageError};
use crate::meter::{self, ReadKey};
use crate::page::slotted::occupied;
use crate::page::{PAGE_BYTES, PAGE_HEADER_BYTES, Page, PageBytes, PageKind, PageMut, SLOT_BYTES};
use crate::pool::{Exclusive, Shared};
use crate::records::{ChangeList, Record, insert_flags};
use crate::row::{LogContext, ROW_HEADER_BYTES, RowHeader};
use crate::store::{HeapInsertTargets, Store};
use crate::tree::{ChangeOutcome, UnderLatch};

/// Bytes of a rid in an entry.
const RID_BYTES: usize = 6;

/// The place of a row in a heap.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Rid {
    /// The page.
    pub page: PageId,
    /// The slot in it.
    pub slot: u16,
}

impl Rid {
    /// The rid in bytes; they sort as rids do.
    pub fn to_bytes(self) -> [u8; RID_BYTES] {
        let mut bytes = [0; RID_BYTES];
        bytes[..4].copy_from_slice(&self.page.0.to_be_bytes());
        bytes[4..].copy_from_slice(&self.slot.to_be_bytes());
        bytes
    }

    /// The rid of these bytes.
    pub fn from_bytes(bytes: [u8; RID_BYTES]) -> Rid {
        let [a, b, c, d, e, f] = bytes;
        Rid { page: PageId(u32::from_be_bytes([a, b, c, d])), slot: u16::from_be_bytes([e, f]) }
    }
}

/// A handle on a heap. Cheap to clone; clones share their insertion targets.
#[derive(Clone)]
pub struct Heap {
    store: Arc<Store>,
    object: u32,
    targets: Arc<Targets>,
    /// Long rows have pages of their own: see `parts`.
    of_parts: bool,
}

struct Targets {
    /// Frame (high half) and page (low half) of each slot's target; 0: none.
    of_slot: Box<[CachePadded<AtomicU64>]>,
    shared: Spinlock<u64>,
}

impl Targets {
    /// Returns true for a page that is a target: it is kept, since rows are about to come. A thread that learns too late that it
    /// is a target no longer finds a page without an owner.
    fn have(&self, page: PageId) -> bool {
        // By trying: the lock may be held over a latch of a page.
        let shared = self.shared.try_lock().is_none_or(|target| *target as u32 == page.0);
        shared || self.of_slot.iter().any(|target| target.load(Ordering::Relaxed) as u32 == page.0)
    }
}

/// An entry of a heap page, seen from home.
#[derive(Clone, Copy)]
enum Entry<'a> {
    Here(RowHeader, &'a [u8]),
    Forwarded(RowHeader, Rid),
}

/// The entry of a slot, if a row is at home there.
fn home_entry(page: Page<'_>, slot: u16) -> Option<Entry<'_>> {
    let slot = slot as usize;
    if slot >= page.slots() || page.slot(slot) == (0, 0) {
        return None;
    }
    let header = page.row_header(slot);
    let body = &page.entry(slot)[ROW_HEADER_BYTES..];
    if header.flags() & RowHeader::MOVED != 0 {
        return None;
    }
    if header.flags() & RowHeader::FORWARDED == 0 {
        return Some(Entry::Here(header, body));
    }
    Some(Entry::Forwarded(header.public(), Rid::from_bytes(body.try_into().ok()?)))
}

/// The columns of a moved entry, if it is the one of `home`.
fn moved_body(page: Page<'_>, slot: u16, home: Rid) -> Option<&[u8]> {
    let slot = slot as usize;
    if slot >= page.slots() || page.slot(slot) == (0, 0) {
        return None;
    }
    let body = &page.entry(slot)[ROW_HEADER_BYTES..];
    let (rid, columns) = body.split_first_chunk::<RID_BYTES>()?;
    (page.row_header(slot).flags() & RowHeader::MOVED != 0 && Rid::from_bytes(*rid) == home).then_some(columns)
}

impl Heap {
    /// Bytes of columns that a row may have.
    pub const ROW_BYTES_MAX: usize = PAGE_BYTES - PAGE_HEADER_BYTES - SLOT_BYTES - ROW_HEADER_BYTES - RID_BYTES;

    /// A handle on the heap of this object; it needs no page before the first insert. Share one handle and its clones:
    /// each handle made by this works on pages of its own.
    pub fn open(store: &Arc<Store>, object: u32) -> Heap {
        assert!(object >= OBJECT_FIRST, "smaller ids are the store's own");
        let of_slot = (0..slot::SLOTS_MAX).map(|_| CachePadded::new(AtomicU64::new(0))).collect();
        let shared = Spinlock::new(SpinlockClass::ALLOC_CACHES_HASH, store.statistics(), 0);
        Heap { store: Arc::clone(store), object, targets: Arc::new(Targets { of_slot, shared }), of_parts: false }
    }

    /// The object that the heap's pages belong to.
    pub fn object(&self) -> u32 {
        self.object
    }

    /// The heap in the counts of a [`ReadMeter`](crate::ReadMeter).
    pub fn read_key(&self) -> ReadKey {
        ReadKey::new(&self.store, self.object)
    }

    /// A page that may be the heap's, latched.
    fn page_shared(&self, page: PageId) -> Result<Shared<'_>, Stop> {
        self.metered(self.store.pool.shared(page))
    }

    /// The same, to be changed.
    fn page_exclusive(&self, page: PageId) -> Result<Exclusive<'_>, Stop> {
        self.metered(self.store.pool.exclusive(page))
    }

    fn metered<T>(&self, looked: Result<T, Stop>) -> Result<T, Stop> {
        // A look that meets a latch is made again.
        if !matches!(looked, Err(Stop::Need(Need::PageLatch(_)))) {
            meter::looked(&self.store, self.object, 1);
        }
        if matches!(looked, Err(Stop::Need(Need::Page(_)))) {
            meter::missed(&self.store, self.object);
        }
        looked
    }

    /// About how many pages the heap has.
    pub fn pages_guessed(&self) -> u64 {
        self.store.pages_guessed(self.object)
    }

    /// Inserts a row with a header of no flags and the context's transaction; returns its place.
    ///
    /// # Errors
    /// Needs, then call again; a row that is too long; a full disk or log.
    pub fn insert(&self, context: &LogContext, rest: &[u8]) -> Result<(Rid, LsnRange), Stop> {
        if rest.len() > Self::ROW_BYTES_MAX {
            let (bytes, bytes_max) = (rest.len(), Self::ROW_BYTES_MAX);
            return Err(Stop::Error(StorageError::RowTooLong { bytes, bytes_max }));
        }
        self.place(context, RowHeader::new(0, context.xid), &[], rest)
    }

    /// Puts an entry into the target of the calling thread.
    fn place(
        &self,
        context: &LogContext,
        header: RowHeader,
        home: &[u8],
        rest: &[u8],
    ) -> Result<(Rid, LsnRange), Stop> {
        match self.store.heap_insert_targets() {
            HeapInsertTargets::OneTarget => self.place_at_shared(context, header, home, rest),
            HeapInsertTargets::PerScheduler => {
                let index = slot::current();
                let place = &self.targets.of_slot[index];
                // Relaxed: only this thread uses its slot's target; the page's latch orders the page.
                let before = place.load(Ordering::Relaxed);
                let mut target = before;
                let placed = loop {
                    match self.try_place(&mut target, context, header, home, rest) {
                        Ok(None) => match self.new_target(index, context) {
                            Ok(new) => target = new,
                            Err(stop) => break Err(stop),
                        },
                        Ok(Some(placed)) => break Ok(placed),
                        Err(stop) => break Err(stop),
                    }
                };
                if target != before {
                    place.store(target, Ordering::Relaxed);
                }
                placed
            }
        }
    }

    /// Puts an entry into the target of all. The lock guards which page that is; the row is placed without it.
    fn place_at_shared(
        &self,
        context: &LogContext,
        header: RowHeader,
        home: &[u8],
        rest: &[u8],
    ) -> Result<(Rid, LsnRange), Stop> {
        let mut known = *self.targets.shared.lock();
        loop {
            let mut target = known;
            let placed = self.try_place(&mut target, context, header, home, rest)?;
            let mut shared = self.targets.shared.lock();
            if let Some(placed) = placed {
                if *shared == known {
                    *shared = target;
                }
                return Ok(placed);
            }
            if *shared == known {
                // Under the lock: who finds the page full meanwhile waits for this one, and takes none of its own.
                *shared = self.new_target(slot::SLOTS_MAX, context)?;
            }
            known = *shared;
        }
    }

    /// Puts an entry into a target's page; `None`: it has no room, or there is no page.
    fn try_place(
        &self,
        target: &mut u64,
        context: &LogContext,
        header: RowHeader,
        home: &[u8],
        rest: &[u8],
    ) -> Result<Option<(Rid, LsnRange)>, Stop> {
        let len = ROW_HEADER_BYTES + home.len() + rest.len();
        let wanted = occupied(PageKind::Heap, len) + SLOT_BYTES;
        loop {
            let page = PageId(*target as u32);
            let frame = (*target >> 32) as u32;
            let mut guard = match *target {
                0 => None,
                _ => self.store.pool.exclusive_at(frame, page)?.filter(|guard| self.is_mine(guard.page())),
            };
            if let Some(guard) = guard.as_mut().filter(|guard| guard.page().heap_room() >= wanted) {
                return self.put(guard, context, header, home, rest).map(Some);
            }
            let gone = guard.is_none();
            drop(guard);
            if gone && *target != 0 && self.store.object_of(page) == Some(self.object) {
                // It left the pool, perhaps with room: bring it back rather than leave the room behind.
                if let Some(frame) = self.store.pool.lookup(page) {
                    *target = (frame as u64) << 32 | page.0 as u64;
                    continue;
                }
                return Err(Stop::Need(Need::Page(page)));
            }
            return Ok(None);
        }
    }

    fn is_mine(&self, page: Page<'_>) -> bool {
        page.kind() == Some(PageKind::Heap) && page.object() == self.object
    }

    /// Logs and writes an entry into a latched page that has the room.
    fn put(
        &self,
        guard: &mut Exclusive<'_>,
        context: &LogContext,
        header: RowHeader,
        home: &[u8],
        rest: &[u8],
    ) -> Result<(Rid, LsnRange), Stop> {
        let slot = guard.page().free_heap_slot();
        let page = guard.page().id();
        let moved;
        let body = if home.is_empty() {
            rest
        } else {
            moved = [home, rest].concat();
            &moved
        };
        let record = Record::Insert {
            flags: insert_flags(context, header.flags()),
            xid: header.xid(),
            page: page.0,
            slot: slot as u32,
            key: &[],
            rest: body,
        };
        let range = self.store.append(context, guard.page().lsn(), &record)?;
        guard.page_mut().insert_heap(slot, header, body);
        guard.logged(range);
        Ok((Rid { page, slot: slot as u16 }, range))
    }

    /// Takes a new page for an insertion target.
    fn new_target(&self, index: usize, context: &LogContext) -> Result<u64, Stop> {
        let spare = self.store.pool.take_free()?;
        let new = self.store.new_page(self.object, index, context.is_clr())?;
        let id = new.id;
        let mut bytes: PageBytes = [0; PAGE_BYTES];
        let mut page = PageMut::new(&mut bytes);
        page.format(id, self.object, PageKind::Heap, 0);
        let mut changes = ChangeList::new();
        changes.image(page.as_page());
        let structure = context.of_system();
        self.store.log_new_page(&structure, 0, spare, new, &bytes, Some(changes))?;
        let frame = self.store.pool.lookup(id).ok_or(Need::Page(id))?;
        Ok((frame as u64) << 32 | id.0 as u64)
    }

    /// Calls `f` with the header and columns of a row, under its page's latch; `None`: no row has this rid. Ghosts are
    /// rows.
    ///
    /// # Errors
    /// Needs, then call again; a damaged page.
    pub fn get<R>(&self, rid: Rid, f: impl FnOnce(RowHeader, &[u8]) -> R) -> Result<Option<R>, Stop> {
        let guard = self.page_shared(rid.page)?;
        if !self.is_mine(guard.page()) {
            return Ok(None);
        }
        match home_entry(guard.page(), rid.slot) {
            None => Ok(None),
            Some(Entry::Here(header, columns)) => Ok(Some(f(header, columns))),
            Some(Entry::Forwarded(header, to)) => {
                self.store.statistics().add(Counter::ForwardedRecords, 1);
                self.with_moved(rid, to, |columns| f(header, columns)).map(Some)
            }
        }
    }

    /// The columns of a row that moved; home is latched by the caller.
    fn with_moved<R>(&self, home: Rid, to: Rid, f: impl FnOnce(&[u8]) -> R) -> Result<R, Stop> {
        if to.page == home.page {
            return Err(StorageError::corrupt(home.page, format!("slot {} forwards to its own page", home.slot)).into());
        }
        let guard = self.page_shared(to.page)?;
        let columns = moved_body(guard.page(), to.slot, home).filter(|_| self.is_mine(guard.page()));
        let missing = || StorageError::corrupt(to.page, format!("slot {} is not the moved row of {home:?}", to.slot));
        Ok(f(columns.ok_or_else(missing)?))
    }

    /// Gives a row a new header and new columns, if the caller admits it; it gets the old ones.
    ///
    /// # Errors
    /// As of [`Heap::insert`].
    pub fn replace(
        &self,
        context: &LogContext,
        rid: Rid,
        expected: RowHeader,
        new: RowHeader,
        rest: &[u8],
        caller: impl UnderLatch,
    ) -> Result<ChangeOutcome, Stop> {
        if rest.len() > Self::ROW_BYTES_MAX {
            let (bytes, bytes_max) = (rest.len(), Self::ROW_BYTES_MAX);
            return Err(Stop::Error(StorageError::RowTooLong { bytes, bytes_max }));
        }
        let mut guard = self.page_exclusive(rid.page)?;
        if let Err(outcome) = self.expect(guard.page(), rid, expected) {
            return Ok(outcome);
        }
        let len = ROW_HEADER_BYTES + rest.len();
        if guard.page_mut().replacement_fits(rid.slot as usize, len) {
            return self.replace_home(guard, context, rid, new, rest, caller);
        }
        drop(guard);
        // The columns go elsewhere first; nobody knows of them until home points there.
        let system = context.of_system();
        let header = RowHeader::new(RowHeader::MOVED, 0);
        let (to, _) = self.place(&system, header, &rid.to_bytes(), rest)?;
        let forwarded = RowHeader::new(new.flags() | RowHeader::FORWARDED, new.xid());
        let replaced = self.page_exclusive(rid.page).and_then(|guard| match self.expect(guard.page(), rid, expected) {
            Err(outcome) => Ok(outcome),
            Ok(()) => self.replace_home(guard, context, rid, forwarded, &to.to_bytes(), caller),
        });
        if !matches!(replaced, Ok(ChangeOutcome::Done(_))) {
            self.remove_moved(to);
        }
        replaced
    }

    /// Whether the row is there and has the expected header.
    fn expect(&self, page: Page<'_>, rid: Rid, expected: RowHeader) -> Result<(), ChangeOutcome> {
        if !self.is_mine(page) {
            return Err(ChangeOutcome::Missing);
        }
        match home_entry(page, rid.slot) {
            None => Err(ChangeOutcome::Missing),
            Some(Entry::Here(header, _) | Entry::Forwarded(header, _)) if header != expected => {
                Err(ChangeOutcome::Changed(header))
            }
            Some(_) => Ok(()),
        }
    }

    /// Replaces the entry at home by `body`, which fits. The record has the old columns, wherever they are.
    fn replace_home(
        &self,
        mut guard: Exclusive<'_>,
        context: &LogContext,
        rid: Rid,
        new: RowHeader,
        body: &[u8],
        caller: impl UnderLatch,
    ) -> Result<ChangeOutcome, Stop> {
        if !caller.admits() {
            return Ok(ChangeOutcome::Refused);
        }
        let log = |old_header: RowHeader, old_rest: &[u8]| -> Result<LsnRange, Stop> {
            let record = Record::Replace {
                flags: context.flags,
                xid: context.xid,
                page: rid.page.0,
                slot: rid.slot as u32,
                key: &[],
                old_header,
                new_header: new,
                old_rest,
                rest: body,
            };
            let range = self.store.append(context, guard.page().lsn(), &record)?;
            caller.keep(old_header, old_rest);
            Ok(range)
        };
        let (range, moved) = match home_entry(guard.page(), rid.slot) {
            Some(Entry::Here(header, columns)) => (log(header, columns)?, None),
            Some(Entry::Forwarded(header, to)) => {
                (self.with_moved(rid, to, |columns| log(header, columns))??, Some(to))
            }
            None => return Ok(ChangeOutcome::Missing),
        };
        guard.page_mut().replace_heap(rid.slot as usize, new, body);
        guard.logged(range);
        if let Some(to) = moved {
            self.remove_moved(to);
        }
        Ok(ChangeOutcome::Done(range))
    }

    /// Takes away a moved entry that nobody points to any more; leaves it when that cannot be done now.
    fn remove_moved(&self, to: Rid) {
        let system = LogContext::new(0).with(LogContext::CLR);
        let Ok(mut guard) = self.page_exclusive(to.page) else { return };
        if self.is_the_last(guard.page(), to.slot) {
            // A refusal leaves an entry without a row that points to it.
            let _ = self.free_latched(guard, &system);
            return;
        }
        let record = Record::Remove { flags: system.flags, xid: 0, page: to.page.0, slot: to.slot as u32, key: &[] };
        if let Ok(range) = self.store.append(&system, guard.page().lsn(), &record) {
            guard.page_mut().free_heap_slot(to.slot as usize);
            guard.logged(range);
        }
    }

    /// Gives a row a new header: makes it a ghost, or takes that back. Its columns stay; the caller gets them.
    ///
    /// # Errors
    /// As of [`Heap::insert`].
    pub fn set_header(
        &self,
        context: &LogContext,
        rid: Rid,
        expected: RowHeader,
        new: RowHeader,
        caller: impl UnderLatch,
    ) -> Result<ChangeOutcome, Stop> {
        let mut guard = self.page_exclusive(rid.page)?;
        if let Err(outcome) = self.expect(guard.page(), rid, expected) {
            return Ok(outcome);
        }
        let slot = rid.slot as usize;
        let old_header = guard.page().row_header(slot);
        let new_header = RowHeader::new(new.flags() | old_header.flags() & RowHeader::FORWARDED, new.xid());
        if !caller.admits() {
            return Ok(ChangeOutcome::Refused);
        }
        let log = |columns: &[u8]| -> Result<LsnRange, Stop> {
            let (flags, xid) = (context.flags, context.xid);
            let (page, slot) = (rid.page.0, rid.slot as u32);
            let record = Record::SetHeader { flags, xid, page, slot, old_header, new_header, key: &[] };
            let range = self.store.append(context, guard.page().lsn(), &record)?;
            caller.keep(expected, columns);
            Ok(range)
        };
        let range = match home_entry(guard.page(), rid.slot) {
            Some(Entry::Here(_, columns)) => log(columns)?,
            Some(Entry::Forwarded(_, to)) => self.with_moved(rid, to, log)??,
            None => return Ok(ChangeOutcome::Missing),
        };
        guard.page_mut().set_row_header(slot, new_header);
        guard.logged(range);
        Ok(ChangeOutcome::Done(range))
    }

    /// Takes a row from its page: the undo of an insert, or the removal of a ghost that nobody needs. Its rid is free for
    /// another row then.
    ///
    /// # Errors
    /// Needs; a poisoned log; a damaged page.
    pub fn remove(&self, context: &LogContext, rid: Rid, expected: RowHeader) -> Result<ChangeOutcome, Stop> {
        let guard = self.page_exclusive(rid.page)?;
        if let Err(outcome) = self.expect(guard.page(), rid, expected) {
            return Ok(outcome);
        }
        self.remove_latched(guard, context, rid)
    }

    fn remove_latched(&self, mut guard: Exclusive<'_>, context: &LogContext, rid: Rid) -> Result<ChangeOutcome, Stop> {
        let moved = match home_entry(guard.page(), rid.slot) {
            Some(Entry::Forwarded(_, to)) => Some(to),
            _ => None,
        };
        let (flags, xid) = (context.flags, context.xid);
        let record = Record::Remove { flags, xid, page: rid.page.0, slot: rid.slot as u32, key: &[] };
        let range = self.store.append(context, guard.page().lsn(), &record)?;
        guard.page_mut().free_heap_slot(rid.slot as usize);
        guard.logged(range);
        if guard.page().entry_bytes() == 0 && !self.targets.have(rid.page) {
            // What an undo has emptied. If it cannot be done now, the page stays as it is.
            let _ = self.free_latched(guard, &LogContext::new(0).with(LogContext::CLR));
        } else {
            drop(guard);
        }
        if let Some(to) = moved {
            self.remove_moved(to);
        }
        Ok(ChangeOutcome::Done(range))
    }
}
