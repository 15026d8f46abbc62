//! Applying one record, or one change of a structure record, to its one page.

use std::collections::{HashMap, HashSet};

use pikepole_contention::sync::atomic::Ordering;
use pikepole_log::LsnRange;

use crate::allocation::{EXTENT_PAGES, is_map_page, map_page_of};
use crate::error::{Need, PageId, Stop, StorageError};
use crate::fault;
use crate::heap::PackedRows;
use crate::page::slotted::{leaf_entry_bytes, occupied};
use crate::page::{PAGE_BYTES, Page, PageBytes, PageKind, PageMut, SLOT_BYTES};
use crate::pool::{Exclusive, PAGES_MAX};
use crate::records::{Changes, PageChange, Record, splice};
use crate::row::{ROW_HEADER_BYTES, RowHeader};
use crate::store::Store;

/// What is to be applied.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Part {
    /// A record that is about one page.
    Record,
    /// One change of a structure record.
    Change,
}

/// Applies what concerns some of the pages, in the order of the log.
pub(super) struct Applier {
    /// See [`Master::patched`](crate::Master::patched).
    patched: bool,
    /// Torn pages that no record has rebuilt yet, and what is wrong with them.
    broken: HashMap<u32, String>,
    /// Pages whose rows were not logged, and that no record has rebuilt since.
    unlogged: HashSet<u32>,
    /// The first thing that could not be applied, and where in the log; nothing is applied behind it.
    failed: Option<(u64, StorageError)>,
}

impl Applier {
    pub fn new(patched: bool) -> Applier {
        Applier { patched, broken: HashMap::new(), unlogged: HashSet::new(), failed: None }
    }

    /// Applies a part of the record at `range`, unless an earlier one could not be. Blocks.
    pub fn apply(&mut self, store: &Store, range: LsnRange, part: Part, bytes: &[u8]) {
        if self.failed.is_some() {
            return;
        }
        let applied = match part {
            Part::Record => self.record(store, range, bytes),
            Part::Change => self.change(store, range, bytes),
        };
        if let Err(error) = applied {
            self.failed = Some((range.start.0, error));
        }
    }

    pub fn has_failed(&self) -> bool {
        self.failed.is_some()
    }

    /// What is left torn, or what failed and where.
    pub fn end(mut self) -> Result<HashMap<u32, String>, (u64, StorageError)> {
        self.broken.retain(|page, _| !self.unlogged.contains(page));
        self.failed.map_or(Ok(self.broken), Err)
    }

    fn record(&mut self, store: &Store, range: LsnRange, bytes: &[u8]) -> Result<(), StorageError> {
        let record = Record::decode(bytes).map_err(|error| super::bad_record(range, &error))?;
        match record {
            Record::Insert { flags, xid, page, slot, key, rest } => self.page(store, range, PageId(page), |page| {
                insert_row(page, slot as usize, RowHeader::new(flags >> 4, xid), key, rest)
            }),
            Record::Replace { page, slot, key, new_header, rest, .. } => {
                self.page(store, range, PageId(page), |page| {
                    check_row(page.as_page(), slot as usize, key)?;
                    replace_row(page, slot as usize, new_header, key, rest)
                })
            }
            Record::ReplacePart { page, slot, key, new_header, at, old_part, part, .. } => {
                self.page(store, range, PageId(page), |page| {
                    check_row(page.as_page(), slot as usize, key)?;
                    let rest = part_replaced(page.as_page(), slot as usize, at as usize, old_part, part)?;
                    replace_row(page, slot as usize, new_header, key, &rest)
                })
            }
            Record::SetHeader { page, slot, key, new_header, .. } => self.page(store, range, PageId(page), |page| {
                check_row(page.as_page(), slot as usize, key)?;
                page.set_row_header(slot as usize, new_header);
                Ok(())
            }),
            Record::Remove { page, slot, key, .. } => self.page(store, range, PageId(page), |page| {
                check_row(page.as_page(), slot as usize, key)?;
                page.remove_row(slot as usize);
                Ok(())
            }),
            Record::FreeExtents { page, object } => self.page(store, range, PageId(page), |page| {
                map_only(page.as_page())?;
                page.free_extents(object);
                Ok(())
            }),
            Record::InsertPage { xid, page, object, rows, row_bytes, body, .. } => {
                let rows = PackedRows { count: rows as usize, row_bytes: row_bytes as usize, body };
                self.rows(store, range, PageId(page), object, RowHeader::new(0, xid), &rows)
            }
            Record::UsePage { page, .. } => self.unlogged_rows(store, range, PageId(page)),
            Record::FreePage { page, .. } => self.page(store, range, map_page_of(PageId(page)), |map| {
                map_only(map.as_page())?;
                map.free_page(PageId(page));
                Ok(())
            }),
            Record::Structure { .. }
            | Record::Commit { .. }
            | Record::Abort { .. }
            | Record::Checkpoint { .. }
            | Record::BulkPages { .. }
            | Record::InMemory { .. } => Ok(()),
        }
    }

    fn change(&mut self, store: &Store, range: LsnRange, bytes: &[u8]) -> Result<(), StorageError> {
        let Some(change) = Changes::new(bytes).next() else { return Ok(()) };
        let (page, change) = change.map_err(|error| super::bad_record(range, &error))?;
        match change {
            PageChange::Image(image) => self.image(store, range, page, image),
            PageChange::Truncate { keep, high, next } => self.page(store, range, page, |page| {
                let tree = matches!(page.as_page().kind(), Some(PageKind::Leaf | PageKind::Inner));
                if !tree || keep > page.as_page().slots() || !page.truncation_fits(keep, high.len()) {
                    return Err(format!("it cannot keep {keep} entries"));
                }
                page.truncate(keep, high, next);
                Ok(())
            }),
            PageChange::AddChild { child, separator } => self.page(store, range, page, |page| {
                if page.as_page().kind() != Some(PageKind::Inner) || !page.as_page().has_room_for_child(separator.len())
                {
                    return Err(format!("it cannot take page {child} as a child"));
                }
                page.add_child(child, separator);
                Ok(())
            }),
            PageChange::UsePage { page: used, owner } => self.page(store, range, page, |map| {
                map_only(map.as_page())?;
                if map_page_of(used) != page {
                    return Err(format!("it does not describe page {used}"));
                }
                map.use_page(used, owner);
                Ok(())
            }),
        }
    }

    /// A page gets rows that the log does not have; a log backup may.
    fn unlogged_rows(&mut self, store: &Store, range: LsnRange, page: PageId) -> Result<(), StorageError> {
        if !self.is_patched(store, range, page)? {
            self.unlogged.insert(page.0);
        }
        Ok(())
    }

    /// Whether a page that a record makes anew is in its place as it was later, put in from a log backup: what was
    /// logged since leads on from there.
    fn is_patched(&mut self, store: &Store, range: LsnRange, page: PageId) -> Result<bool, StorageError> {
        Ok(self.patched && self.find(store, page)?.is_some_and(|guard| guard.page().lsn() > range.start.0))
    }

    fn rows(
        &mut self,
        store: &Store,
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
        let filled = PageMut::new(&mut bytes).fill_heap(page, object, header, rows);
        filled.map_err(|why| StorageError::corrupt(page, format!("its rows in the log: {why}")))?;
        self.rebuilt(store, range, page, &mut bytes)
    }

    fn image(&mut self, store: &Store, range: LsnRange, page: PageId, image: &[u8]) -> Result<(), StorageError> {
        let mut bytes: Box<PageBytes> = Box::new([0; PAGE_BYTES]);
        let mut built = PageMut::new(&mut bytes);
        built.set_image(image).map_err(|why| StorageError::corrupt(page, format!("its image in the log: {why}")))?;
        if is_map_page(page) {
            built.format_map(page);
        }
        if built.as_page().id() != page {
            return Err(StorageError::corrupt(page, "its image in the log is of another page"));
        }
        self.rebuilt(store, range, page, &mut bytes)
    }

    /// A page is rebuilt as a whole: what the disk has of it does not matter, unless it comes from a log backup.
    fn rebuilt(
        &mut self,
        store: &Store,
        range: LsnRange,
        page: PageId,
        bytes: &mut PageBytes,
    ) -> Result<(), StorageError> {
        if page.0 >= PAGES_MAX {
            return Err(StorageError::corrupt(page, "the log names a page beyond the largest file"));
        }
        if self.is_patched(store, range, page)? {
            return Ok(());
        }
        PageMut::new(bytes).set_lsn(range.end.0);
        let bytes: &PageBytes = bytes;
        self.broken.remove(&page.0);
        self.unlogged.remove(&page.0);
        store.pages_in_file.fetch_max((page.0 / EXTENT_PAGES + 1) * EXTENT_PAGES, Ordering::Release);
        let set = |mut guard: Exclusive<'_>, is_old: bool| {
            if is_old {
                guard.set_page(bytes);
                guard.formatted(range);
            }
        };
        loop {
            match store.until_done(|| match store.pool.exclusive(page) {
                Err(Stop::Need(Need::Page(_))) => Ok(None),
                other => other.map(Some),
            })? {
                Some(guard) => {
                    let is_old = guard.page().lsn() <= range.start.0;
                    set(guard, is_old);
                    return Ok(());
                }
                // Whoever reads the page ahead must not put what the disk has over this image later.
                None if store.begin_load(page) => {
                    let installed = store.until_done(|| store.pool.install(store.pool.take_free()?, page));
                    let installed = installed.map(|(guard, fresh)| {
                        let is_old = fresh || guard.page().lsn() <= range.start.0;
                        set(guard, is_old);
                    });
                    store.end_load(&[page]);
                    return installed;
                }
                None => {}
            }
        }
    }

    fn page(
        &mut self,
        store: &Store,
        range: LsnRange,
        page: PageId,
        apply: impl FnOnce(&mut PageMut<'_>) -> Result<(), String>,
    ) -> Result<(), StorageError> {
        if !self.unlogged.is_empty() && self.unlogged.contains(&page.0) {
            return Ok(());
        }
        let Some(guard) = self.find(store, page)? else {
            return Ok(());
        };
        if guard.page().lsn() > range.start.0 && !fault::no_lsn_test() {
            return Ok(());
        }
        apply_to(guard, range, apply)
            .map_err(|why| StorageError::corrupt(page, format!("the log record at {}: {why}", range.start)))
    }

    /// A page, brought into the pool if it is not there; None: it is torn, or the file ends before it.
    fn find<'s>(&mut self, store: &'s Store, page: PageId) -> Result<Option<Exclusive<'s>>, StorageError> {
        loop {
            if !self.broken.is_empty() && self.broken.contains_key(&page.0) {
                return Ok(None);
            }
            match store.pool.exclusive(page) {
                Ok(guard) => return Ok(Some(guard)),
                Err(Stop::Need(Need::Page(_))) => self.load(store, page)?,
                Err(Stop::Need(need)) => store.satisfy_now(need)?,
                Err(Stop::Error(error)) => return Err(error),
            }
        }
    }

    /// Brings a page into the pool, or notes that it is torn or that the file ends before it.
    fn load(&mut self, store: &Store, page: PageId) -> Result<(), StorageError> {
        match store.load_page(page) {
            Err(StorageError::Corrupt { why, .. }) => drop(self.broken.insert(page.0, why)),
            Err(StorageError::Io { error, .. }) if error.kind() == std::io::ErrorKind::UnexpectedEof => {
                self.broken.insert(page.0, error.to_string());
            }
            other => other?,
        }
        Ok(())
    }
}

fn map_only(page: Page<'_>) -> Result<(), String> {
    if page.kind() == Some(PageKind::Map) { Ok(()) } else { Err("it is no page of the allocation map".into()) }
}

fn apply_to(
    mut guard: Exclusive<'_>,
    range: LsnRange,
    apply: impl FnOnce(&mut PageMut<'_>) -> Result<(), String>,
) -> Result<(), String> {
    if guard.page().level() == 0 {
        apply(&mut guard.page_mut())?;
    } else {
        let mut copy = Box::new(*guard.page().0);
        let mut page = PageMut::new(&mut copy);
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

/// The columns of a tree's row with a part of them replaced.
fn part_replaced(page: Page<'_>, slot: usize, at: usize, old: &[u8], part: &[u8]) -> Result<Vec<u8>, String> {
    let is_leaf = page.kind() == Some(PageKind::Leaf);
    let rest = is_leaf.then(|| page.leaf_entry(slot).rest);
    let is_old = |rest: &&[u8]| rest.get(at..).is_some_and(|rest| rest.starts_with(old));
    let replaced = rest.filter(is_old).and_then(|rest| splice(rest, at, old.len(), part));
    replaced.ok_or_else(|| format!("the row at slot {slot} does not have the part that was replaced"))
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
