//! Redo: bringing pages to the state of the log, page by page.
//!
//! A record is applied to a page whose lsn is at or below the record's start; otherwise the page has it already. A page
//! that a crash tore was restored from the double-write area when the store was opened, or a record of the redo range
//! rebuilds it as a whole: records before that one are skipped for it. A torn page that is neither is damage: an error, if
//! the page is still in use when redo ends.
//!
//! A page whose rows were not logged ([`Record::UsePage`]) is met here only if its transaction did not commit: a commit waits
//! until the redo start is above. So nothing is redone to it, until a record rebuilds it for somebody else.
//!
//! Nothing read here is trusted: a record that does not fit its page is an error that names the page.

use std::collections::{HashMap, HashSet};

use pikepole_contention::sync::atomic::Ordering;
use pikepole_log::LsnRange;

use crate::allocation::{EXTENT_PAGES, is_map_page, map_page_of};
use crate::error::{Need, PageId, Stop, StorageError};
use crate::heap::PackedRows;
use crate::page::slotted::{leaf_entry_bytes, occupied};
use crate::page::{PAGE_BYTES, Page, PageBytes, PageKind, PageMut, SLOT_BYTES};
use crate::pool::{Exclusive, PAGES_MAX};
use crate::records::{Changes, PageChange, Record, RowChange, RowChangeKind};
use crate::row::{ROW_HEADER_BYTES, RowHeader};
use crate::store::{Store, lock};

/// What redo knows besides the pages.
#[derive(Default)]
pub(crate) struct RedoState {
    /// Torn pages that no record has rebuilt yet, and what is wrong with them.
    broken: HashMap<u32, String>,
    /// Pages whose rows were not logged, by a transaction that did not commit: undo takes them out of use again. What the
    /// disk has of them is of no account, and changes to them are not redone.
    unlogged: HashSet<u32>,
}

/// What a record does to one page; `Err` says why it cannot.
type Apply<'a> = &'a mut dyn FnMut(&mut PageMut<'_>) -> Result<(), String>;

impl Store {
    /// Applies one record; `record` is kind and payload as the log's reader gives them. In the order of the log, from
    /// [`Master::redo_lsn`](crate::Master::redo_lsn) on. Blocks. Records that concern no page are ignored.
    ///
    /// # Errors
    /// A record that is none of this version, or that does not fit its page; failed I/O.
    pub fn redo(&self, range: LsnRange, record: &[u8]) -> Result<(), StorageError> {
        let bad = |error: pikepole_log::field::RecordError| {
            StorageError::bad_file("log", format!("the record at {}: {error}", range.start))
        };
        let record = Record::decode(record).map_err(bad)?;
        if let Some(change) = record.row_change() {
            return self.redo_row(range, &record, &change);
        }
        match record {
            Record::Structure { changes } => {
                for change in Changes::new(changes) {
                    let (page, change) = change.map_err(bad)?;
                    self.redo_change(range, page, change)?;
                }
                Ok(())
            }
            Record::FreeExtents { page, object } => self.redo_page(range, PageId(page), &mut |page| {
                map_only(page.as_page())?;
                page.free_extents(object);
                Ok(())
            }),
            Record::InsertPage { xid, page, object, rows, row_bytes, body, .. } => {
                let rows = PackedRows { count: rows as usize, row_bytes: row_bytes as usize, body };
                self.redo_insert_page(range, PageId(page), object, RowHeader::new(0, xid), &rows)
            }
            Record::UsePage { page, object, .. } => {
                lock(&self.redo).unlogged.insert(page);
                self.redo_use_page(range, PageId(page), object)
            }
            Record::FreePage { page, .. } => {
                let page = PageId(page);
                self.redo_page(range, map_page_of(page), &mut |map| {
                    map_only(map.as_page())?;
                    map.free_page(page);
                    Ok(())
                })
            }
            _ => Ok(()),
        }
    }

    /// Ends redo: checks that no page in use is left torn, and reads the allocation map.
    ///
    /// # Errors
    /// [`StorageError::Corrupt`] for a torn page that nothing rebuilt.
    pub fn redo_end(&self) -> Result<(), StorageError> {
        let pages = self.pages_in_file.load(Ordering::Acquire);
        let bytes = pages as u64 * PAGE_BYTES as u64;
        let io = |error| StorageError::io("restoring the data file's length", error);
        if self.data.len().map_err(io)? < bytes {
            self.data.set_len(bytes).map_err(io)?;
        }
        self.load_space()?;
        let mut broken: Vec<(u32, String)> = lock(&self.redo).broken.drain().collect();
        broken.sort();
        for (page, why) in broken {
            if lock(&self.redo).unlogged.contains(&page) {
                continue;
            }
            if self.object_of(PageId(page)).is_some() {
                return Err(StorageError::corrupt(PageId(page), why));
            }
        }
        Ok(())
    }

    fn redo_row(&self, range: LsnRange, record: &Record<'_>, change: &RowChange<'_>) -> Result<(), StorageError> {
        let slot = change.slot as usize;
        self.redo_page(range, change.page, &mut |page| match *record {
            Record::Insert { flags, xid, key, rest, .. } => {
                insert_row(page, slot, RowHeader::new(flags >> 4, xid), key, rest)
            }
            Record::Replace { new_header, key, rest, .. } => {
                check_row(page.as_page(), slot, key)?;
                replace_row(page, slot, new_header, key, rest)
            }
            Record::SetHeader { new_header, key, .. } => {
                check_row(page.as_page(), slot, key)?;
                page.set_row_header(slot, new_header);
                Ok(())
            }
            _ => {
                debug_assert!(change.kind == RowChangeKind::Remove);
                check_row(page.as_page(), slot, change.key)?;
                page.remove_row(slot);
                Ok(())
            }
        })
    }

    fn redo_change(&self, range: LsnRange, page: PageId, change: PageChange<'_>) -> Result<(), StorageError> {
        match change {
            PageChange::Image(image) => self.redo_image(range, page, image),
            PageChange::Truncate { keep, high, next } => self.redo_page(range, page, &mut |page| {
                let tree = matches!(page.as_page().kind(), Some(PageKind::Leaf | PageKind::Inner));
                if !tree || keep > page.as_page().slots() || !page.truncation_fits(keep, high.len()) {
                    return Err(format!("it cannot keep {keep} entries"));
                }
                page.truncate(keep, high, next);
                Ok(())
            }),
            PageChange::AddChild { child, separator } => self.redo_page(range, page, &mut |page| {
                if page.as_page().kind() != Some(PageKind::Inner) || !page.as_page().has_room_for_child(separator.len())
                {
                    return Err(format!("it cannot take page {child} as a child"));
                }
                page.add_child(child, separator);
                Ok(())
            }),
            PageChange::UsePage { page: used, .. } if map_page_of(used) != page => {
                Err(StorageError::corrupt(page, format!("the log says that it describes page {used}")))
            }
            PageChange::UsePage { page: used, owner } => self.redo_use_page(range, used, owner),
        }
    }

    fn redo_use_page(&self, range: LsnRange, used: PageId, owner: u32) -> Result<(), StorageError> {
        self.redo_page(range, map_page_of(used), &mut |map| {
            map_only(map.as_page())?;
            map.use_page(used, owner);
            Ok(())
        })
    }

    fn redo_insert_page(
        &self,
        range: LsnRange,
        page: PageId,
        object: u32,
        header: RowHeader,
        rows: &PackedRows<'_>,
    ) -> Result<(), StorageError> {
        if is_map_page(page) {
            return Err(StorageError::corrupt(page, "the log puts rows into a page of the allocation map"));
        }
        let mut bytes: Box<PageBytes> = Box::new([0; PAGE_BYTES]);
        let filled = PageMut(&mut bytes).fill_heap(page, object, header, rows);
        filled.map_err(|why| StorageError::corrupt(page, format!("its rows in the log: {why}")))?;
        self.redo_built(range, page, &mut bytes)?;
        self.redo_use_page(range, page, object)
    }

    /// A page is rebuilt as a whole: what the disk has of it does not matter.
    fn redo_image(&self, range: LsnRange, page: PageId, image: &[u8]) -> Result<(), StorageError> {
        let mut bytes: Box<PageBytes> = Box::new([0; PAGE_BYTES]);
        let mut built = PageMut(&mut bytes);
        built.set_image(image).map_err(|why| StorageError::corrupt(page, format!("its image in the log: {why}")))?;
        if is_map_page(page) {
            built.format_map(page);
        }
        if built.as_page().id() != page {
            return Err(StorageError::corrupt(page, "its image in the log is of another page"));
        }
        self.redo_built(range, page, &mut bytes)
    }

    fn redo_built(&self, range: LsnRange, page: PageId, bytes: &mut PageBytes) -> Result<(), StorageError> {
        if page.0 >= PAGES_MAX {
            return Err(StorageError::corrupt(page, "the log names a page beyond the largest file"));
        }
        PageMut(bytes).set_lsn(range.end.0);
        {
            let mut redo = lock(&self.redo);
            redo.broken.remove(&page.0);
            redo.unlogged.remove(&page.0);
        }
        self.pages_in_file.fetch_max((page.0 / EXTENT_PAGES + 1) * EXTENT_PAGES, Ordering::Release);
        self.until_done(|| {
            let (mut guard, fresh) = match self.pool.lookup(page) {
                Some(_) => (self.pool.exclusive(page)?, false),
                None => self.pool.install(self.pool.take_free()?, page)?,
            };
            if fresh || guard.page().lsn() <= range.start.0 {
                guard.set_page(bytes);
                guard.formatted(range);
            }
            Ok(())
        })
    }

    fn redo_page(&self, range: LsnRange, page: PageId, apply: Apply<'_>) -> Result<(), StorageError> {
        let guard = loop {
            {
                let redo = lock(&self.redo);
                if redo.broken.contains_key(&page.0) || redo.unlogged.contains(&page.0) {
                    return Ok(());
                }
            }
            match self.pool.exclusive(page) {
                Ok(guard) => break guard,
                Err(Stop::Need(Need::Page(_))) => self.load_for_redo(page)?,
                Err(Stop::Need(need)) => self.satisfy_now(need)?,
                Err(Stop::Error(error)) => return Err(error),
            }
        };
        if guard.page().lsn() > range.start.0 {
            return Ok(());
        }
        apply_to(guard, range, apply)
            .map_err(|why| StorageError::corrupt(page, format!("the log record at {}: {why}", range.start)))
    }

    /// Brings a page into the pool, or notes that it is torn.
    fn load_for_redo(&self, page: PageId) -> Result<(), StorageError> {
        let bytes = match self.read_page(page) {
            Err(StorageError::Corrupt { why, .. }) => Err(why),
            Err(error) => return Err(error),
            Ok(bytes) => match Page(&bytes).validate(page) {
                Ok(()) => Ok(bytes),
                Err(StorageError::Corrupt { why, .. }) => Err(why),
                Err(error) => return Err(error),
            },
        };
        match bytes {
            Ok(bytes) => self.put_page(page, &bytes)?,
            Err(why) => drop(lock(&self.redo).broken.insert(page.0, why)),
        }
        Ok(())
    }
}

fn map_only(page: Page<'_>) -> Result<(), String> {
    if page.kind() == Some(PageKind::Map) { Ok(()) } else { Err("it is no page of the allocation map".into()) }
}

fn apply_to(mut guard: Exclusive<'_>, range: LsnRange, apply: Apply<'_>) -> Result<(), String> {
    if guard.page().level() == 0 {
        apply(&mut guard.page_mut())?;
    } else {
        let mut copy = Box::new(*guard.page().0);
        let mut page = PageMut(&mut copy);
        apply(&mut page)?;
        page.set_lsn(range.end.0);
        guard.set_page(&copy);
    }
    guard.logged(range);
    Ok(())
}

fn insert_row(page: &mut PageMut<'_>, slot: usize, header: RowHeader, key: &[u8], rest: &[u8]) -> Result<(), String> {
    let (slots, free) = (page.as_page().slots(), page.as_page().free_bytes());
    match page.as_page().kind() {
        Some(PageKind::Leaf) => {
            if slot > slots || free < leaf_entry_bytes(key.len(), rest.len()) + SLOT_BYTES {
                return Err(format!("it cannot take a row at slot {slot}"));
            }
            page.insert_leaf(slot, header, key, rest);
        }
        Some(PageKind::Heap) => {
            let len = ROW_HEADER_BYTES + rest.len();
            let taken = slot < slots && page.as_page().slot(slot) != (0, 0);
            if slot > slots || taken || free < occupied(PageKind::Heap, len) + SLOT_BYTES {
                return Err(format!("it cannot take a row at slot {slot}"));
            }
            page.insert_heap(slot, header, rest);
        }
        _ => return Err("it holds no rows".into()),
    }
    Ok(())
}

fn check_row(page: Page<'_>, slot: usize, key: &[u8]) -> Result<(), String> {
    let there = slot < page.slots()
        && match page.kind() {
            Some(PageKind::Leaf) => page.leaf_key(slot) == key,
            Some(PageKind::Heap) => page.slot(slot) != (0, 0),
            _ => false,
        };
    if there { Ok(()) } else { Err(format!("the row is not at slot {slot}")) }
}

fn replace_row(page: &mut PageMut<'_>, slot: usize, header: RowHeader, key: &[u8], rest: &[u8]) -> Result<(), String> {
    let leaf = page.as_page().kind() == Some(PageKind::Leaf);
    let len = if leaf { leaf_entry_bytes(key.len(), rest.len()) } else { ROW_HEADER_BYTES + rest.len() };
    if !page.replacement_fits(slot, len) {
        return Err(format!("the row at slot {slot} cannot become {len} bytes long"));
    }
    if leaf {
        page.replace_leaf(slot, header, key, rest);
    } else {
        page.replace_heap(slot, header, rest);
    }
    Ok(())
}
