//! Checking a store: reads every page in use and says what it looked at and what is wrong.
//!
//! - every page in use is read from the disk (or from the pool, when the pool has a newer state): checksum, identity,
//!   structure, and that its object is the owner of its extent;
//! - every tree, from its root (the page that no other page of the object leads to): levels, fences, order of keys,
//!   next pages, and that every page in use is reached;
//! - every heap: forwarding rids lead to moved rows that name their home.
//!
//! Nothing may change meanwhile: check when the store was just opened, or with every object locked.

use std::collections::{BTreeMap, HashMap, HashSet};

use pikepole_contention::sync::atomic::Ordering;

use crate::allocation::{EXTENT_PAGES, MAP_EXTENTS, OWNER_FREE, OWNER_STORE};
use crate::error::{PageId, StorageError};
use crate::heap::Rid;
use crate::page::{Page, PageBytes, PageKind};
use crate::row::{ROW_HEADER_BYTES, RowHeader};
use crate::store::Store;

/// Something that does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Where.
    pub page: PageId,
    /// The object that owns the page.
    pub object: u32,
    /// What.
    pub what: String,
}

/// What was seen of an object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ObjectReport {
    /// The object.
    pub object: u32,
    /// Whether it is a tree; a heap otherwise.
    pub is_tree: bool,
    /// Its root, if it is a tree.
    pub root: Option<PageId>,
    /// Levels of a tree.
    pub levels: u32,
    /// Pages in use.
    pub pages: u32,
    /// Extents of 8 pages that it owns.
    pub extents: u32,
    /// Rows, ghosts not counted.
    pub rows: u64,
    /// Deleted rows that are still there.
    pub ghosts: u64,
    /// Heap: rows that moved.
    pub forwarded: u64,
    /// Heap: moved rows that nobody points to; a crash can leave some.
    pub lost: u64,
    /// Bytes of rows and keys with their headers.
    pub bytes: u64,
}

/// What a check looked at and found.
#[derive(Clone, Debug, Default)]
pub struct CheckReport {
    /// Pages of the data file.
    pub file_pages: u32,
    /// Pages of the allocation map.
    pub map_pages: u32,
    /// Pages read, those of the map included.
    pub pages: u32,
    /// Extents that belong to nobody.
    pub free_extents: u32,
    /// The objects, by number.
    pub objects: Vec<ObjectReport>,
    /// What is wrong.
    pub findings: Vec<Finding>,
}

impl CheckReport {
    /// Whether nothing is wrong.
    pub fn is_sound(&self) -> bool {
        self.findings.is_empty()
    }
}

type Pages = BTreeMap<u32, Box<PageBytes>>;

struct Check<'a> {
    store: &'a Store,
    report: CheckReport,
}

impl Store {
    /// Checks everything; see the module. Blocks, and keeps one object's pages in memory at a time.
    ///
    /// # Errors
    /// I/O that fails; damage is not an error but a [`Finding`].
    pub fn check(&self) -> Result<CheckReport, StorageError> {
        let mut check = Check { store: self, report: CheckReport::default() };
        let (extents, free) = {
            let space = self.space.lock();
            let entries: Vec<(u32, u8)> = (0..space.extents()).filter_map(|extent| space.entry(extent)).collect();
            (entries, space.free_extents())
        };
        check.report.file_pages = self.file_pages();
        check.report.free_extents = free;
        check.maps(&extents)?;
        let mut objects: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for (extent, &(owner, _)) in extents.iter().enumerate() {
            if owner != OWNER_FREE && owner != OWNER_STORE {
                objects.entry(owner).or_default().push(extent as u32);
            }
        }
        for (object, owned) in objects {
            let used = |extent: &u32| {
                let bits = extents[*extent as usize].1;
                let first = *extent * EXTENT_PAGES;
                (0..EXTENT_PAGES).filter(move |bit| bits >> bit & 1 != 0).map(move |bit| PageId(first + bit))
            };
            let pages: Vec<PageId> = owned.iter().flat_map(used).collect();
            check.object(object, owned.len() as u32, &pages)?;
        }
        Ok(check.report)
    }

    /// A page as the disk has it, or as the pool does if the disk is behind.
    pub(crate) fn page_to_check(&self, id: PageId) -> Result<Box<PageBytes>, StorageError> {
        if let Some(frame) = self.pool.lookup(id) {
            let guard = self.until_done(|| self.pool.shared(id));
            let dirty = |frame| self.pool.header(frame).rec_lsn.load(Ordering::Relaxed) != 0;
            if let Some(guard) = guard.ok().filter(|_| dirty(frame)) {
                let page = Box::new(*guard.page().0);
                Page(&page).validate_structure().map_err(|why| StorageError::corrupt(id, why))?;
                return Ok(page);
            }
        }
        let bytes = self.read_page(id)?;
        Page(&bytes).validate(id)?;
        match self.check_stamp(id, Page(&bytes))? {
            Some(why) => Err(StorageError::corrupt(id, why)),
            None => Ok(bytes),
        }
    }
}

impl Check<'_> {
    fn find(&mut self, page: PageId, object: u32, what: impl Into<String>) {
        self.report.findings.push(Finding { page, object, what: what.into() });
    }

    /// Reads a page; damage is noted.
    fn read(&mut self, id: PageId, object: u32) -> Result<Option<Box<PageBytes>>, StorageError> {
        self.report.pages += 1;
        match self.store.page_to_check(id) {
            Ok(page) => Ok(Some(page)),
            Err(StorageError::Corrupt { page, why }) => {
                self.find(page, object, why);
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    fn maps(&mut self, extents: &[(u32, u8)]) -> Result<(), StorageError> {
        for first in (0..extents.len()).step_by(MAP_EXTENTS as usize) {
            let id = PageId(first as u32 * EXTENT_PAGES);
            self.report.map_pages += 1;
            let Some(bytes) = self.read(id, OWNER_STORE)? else { continue };
            let page = Page(&bytes);
            if page.kind() != Some(PageKind::Map) {
                self.find(id, OWNER_STORE, "it is not a page of the allocation map");
                continue;
            }
            let in_file = extents.len().min(first + MAP_EXTENTS as usize) - first;
            for (index, &(owner, used)) in extents[first..first + in_file].iter().enumerate() {
                // An extent that was taken but never used in a record is only known in memory.
                if page.map_entry(index as u32) != (owner, used) && used != 0 {
                    let what = format!("extent {} is not as the store knows it", first + index);
                    self.find(id, OWNER_STORE, what);
                }
            }
        }
        Ok(())
    }

    fn object(&mut self, object: u32, extents: u32, ids: &[PageId]) -> Result<(), StorageError> {
        let mut pages: Pages = BTreeMap::new();
        for &id in ids {
            let Some(page) = self.read(id, object)? else { continue };
            if Page(&page).object() != object {
                self.find(id, object, format!("it says it belongs to object {}", Page(&page).object()));
                continue;
            }
            pages.insert(id.0, page);
        }
        let mut report = ObjectReport { object, pages: ids.len() as u32, extents, ..ObjectReport::default() };
        let heap_pages = pages.values().filter(|page| Page(page).kind() == Some(PageKind::Heap)).count();
        if heap_pages == pages.len() {
            self.heap(&pages, &mut report);
        } else if heap_pages == 0 {
            self.tree(&pages, &mut report);
        } else {
            self.find(ids[0], object, "it has pages of a heap and of a tree");
        }
        self.report.objects.push(report);
        Ok(())
    }

    fn tree(&mut self, pages: &Pages, report: &mut ObjectReport) {
        report.is_tree = true;
        let inner = pages.values().map(|page| Page(page)).filter(|page| page.level() > 0);
        let children: HashSet<u32> =
            inner.flat_map(|page| (0..page.slots()).map(move |slot| page.inner_entry(slot).1.0)).collect();
        let mut roots = pages.keys().copied().filter(|page| !children.contains(page));
        let Some(root) = roots.next() else { return };
        let others: Vec<u32> = roots.collect();
        for other in others {
            self.find(PageId(other), report.object, "no page of its tree leads to it");
        }
        report.root = Some(PageId(root));
        report.levels = Page(&pages[&root]).level() as u32 + 1;
        let mut walk = Walk { pages, report, seen: HashSet::new(), last_leaf: None, found: Vec::new() };
        let level = Page(&pages[&root]).level();
        walk.page(PageId(root), level, &[], None);
        let found = std::mem::take(&mut walk.found);
        for (page, what) in found {
            self.find(page, report.object, what);
        }
    }

    fn heap(&mut self, pages: &Pages, report: &mut ObjectReport) {
        let mut moved: HashMap<Rid, Rid> = HashMap::new();
        let mut forwarded: Vec<(Rid, Rid)> = Vec::new();
        for (&id, bytes) in pages {
            let page = Page(bytes);
            for slot in (0..page.slots()).filter(|&slot| page.slot(slot) != (0, 0)) {
                let rid = Rid { page: PageId(id), slot: slot as u16 };
                let (header, body) = (page.row_header(slot), &page.entry(slot)[ROW_HEADER_BYTES..]);
                let target = body.first_chunk::<6>().map(|bytes| Rid::from_bytes(*bytes));
                report.bytes += page.entry(slot).len() as u64;
                match header.flags() & (RowHeader::MOVED | RowHeader::FORWARDED) {
                    0 => report.count(header),
                    RowHeader::FORWARDED => {
                        report.count(header);
                        forwarded.extend(target.map(|target| (rid, target)));
                    }
                    _ => moved.extend(target.map(|home| (rid, home))),
                }
            }
        }
        report.forwarded = forwarded.len() as u64;
        for (home, target) in forwarded {
            if moved.remove(&target) != Some(home) {
                self.find(home.page, report.object, format!("slot {} forwards to no moved row of its own", home.slot));
            }
        }
        report.lost = moved.len() as u64;
    }
}

impl ObjectReport {
    fn count(&mut self, header: RowHeader) {
        if header.is_ghost() { self.ghosts += 1 } else { self.rows += 1 }
    }
}

/// A walk through a tree.
struct Walk<'a> {
    pages: &'a Pages,
    report: &'a mut ObjectReport,
    seen: HashSet<u32>,
    /// The last leaf and the next page that it names.
    last_leaf: Option<(PageId, Option<PageId>)>,
    found: Vec<(PageId, String)>,
}

impl<'a> Walk<'a> {
    fn page(&mut self, id: PageId, level: u8, low: &[u8], high: Option<&[u8]>) {
        let Some(bytes) = self.pages.get(&id.0) else {
            self.found.push((id, "a page of the tree leads to it, but it is not in use or damaged".into()));
            return;
        };
        if !self.seen.insert(id.0) {
            self.found.push((id, "two pages of the tree lead to it".into()));
            return;
        }
        let page = Page(bytes);
        if page.level() != level {
            self.found.push((id, format!("level {} where its parent has {}", page.level(), level + 1)));
            return;
        }
        // Inner pages of trees with the longest keys have no low fence.
        let has_low = page.low_fence() == low || level > 0 && page.low_fence().is_empty();
        if !has_low || page.high_fence() != high {
            self.found.push((id, "its fences are not the separators of its parent".into()));
        }
        if level == 0 { self.leaf(id, page) } else { self.inner(id, page, low, high) }
    }

    fn inner(&mut self, id: PageId, page: Page<'a>, low: &[u8], high: Option<&[u8]>) {
        for slot in 0..page.slots() {
            let (separator, child) = page.inner_entry(slot);
            let child_low = if slot == 0 { low } else { separator };
            let child_high = if slot + 1 < page.slots() { Some(page.inner_entry(slot + 1).0) } else { high };
            if child_high.is_some_and(|high| child_low >= high) {
                self.found.push((id, format!("separator {slot} is not below the next one")));
            }
            self.page(child, page.level() - 1, child_low, child_high);
        }
    }

    fn leaf(&mut self, id: PageId, page: Page<'_>) {
        if let Some((before, next)) = self.last_leaf.filter(|&(_, next)| next != Some(id)) {
            self.found.push((before, format!("its next page is {next:?}, not {id}")));
        }
        self.last_leaf = Some((id, page.next()));
        for slot in 0..page.slots() {
            let entry = page.leaf_entry(slot);
            if !page.covers(entry.key) {
                self.found.push((id, format!("the key of slot {slot} is outside of the fences")));
            }
            if slot > 0 && page.leaf_key(slot - 1) >= entry.key {
                self.found.push((id, format!("the key of slot {slot} is not above the one before")));
            }
            self.report.count(entry.header);
            self.report.bytes += page.entry(slot).len() as u64;
        }
    }
}
