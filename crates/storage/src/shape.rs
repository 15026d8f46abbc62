//! The shape of a tree or a heap while others work on it: its levels, the order of its leaves on disk, how full pages are.
//!
//! Pages are read one by one, as they are at that moment, so that the numbers of an object that changes are near the truth and no more.
//! A page that is not what its parent said any more is left out.

use crate::allocation::EXTENT_PAGES;
use crate::error::{PageId, StorageError};
use crate::page::{PAGE_BYTES, Page, PageBytes, PageKind};
use crate::row::RowHeader;
use crate::store::Store;

/// Objects with more pages than this are sampled.
const PAGES_READ_ALL: usize = 10_000;
/// Of those each page of so many is read.
const SAMPLED_OF: usize = 100;

/// How much is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShapeDepth {
    /// The inner pages of a tree, nothing of a heap.
    Limited,
    /// Leaves too: of large objects one in a hundred.
    Sampled,
    /// Everything.
    Detailed,
}

/// One level of a tree, 0 the leaves; or a heap.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LevelShape {
    /// The level.
    pub level: u8,
    /// Its pages.
    pub pages: u64,
    /// Runs of pages that lie one behind the other on disk.
    pub runs: u64,
    /// Pages that were looked into; what follows was seen in them.
    pub read: u64,
    /// Rows, or entries of an inner page.
    pub rows: u64,
    /// Deleted rows that are still there.
    pub ghosts: u64,
    /// Rows of a heap that moved.
    pub forwarded: u64,
    /// Bytes of rows.
    pub row_bytes: u64,
    /// Bytes of pages that are not free.
    pub used_bytes: u64,
    /// The shortest and the longest row.
    pub row_bytes_min: u64,
    /// See [`LevelShape::row_bytes_min`].
    pub row_bytes_max: u64,
}

impl LevelShape {
    fn of(level: u8, pages: &[PageId]) -> LevelShape {
        let breaks = pages.windows(2).filter(|pair| pair[1].0 != pair[0].0 + 1).count();
        let runs = if pages.is_empty() { 0 } else { breaks as u64 + 1 };
        LevelShape { level, pages: pages.len() as u64, runs, ..LevelShape::default() }
    }

    fn add(&mut self, page: Page<'_>) {
        self.read += 1;
        self.used_bytes += (PAGE_BYTES - page.free_bytes().min(PAGE_BYTES)) as u64;
        for slot in (0..page.slots()).filter(|&slot| page.slot(slot) != (0, 0)) {
            let bytes = page.entry(slot).len() as u64;
            match page.kind() {
                Some(PageKind::Heap) => {
                    let flags = page.row_header(slot).flags();
                    self.forwarded += u64::from(flags & RowHeader::FORWARDED != 0);
                    // Counted where it was before it moved.
                    if flags & RowHeader::MOVED != 0 {
                        continue;
                    }
                    self.count(page.row_header(slot).is_ghost());
                }
                _ if page.level() == 0 => self.count(page.leaf_entry(slot).header.is_ghost()),
                _ => self.count(false),
            }
            let is_first = self.row_bytes == 0;
            self.row_bytes += bytes;
            self.row_bytes_min = if is_first { bytes } else { self.row_bytes_min.min(bytes) };
            self.row_bytes_max = self.row_bytes_max.max(bytes);
        }
    }

    fn count(&mut self, is_ghost: bool) {
        if is_ghost { self.ghosts += 1 } else { self.rows += 1 }
    }
}

impl Store {
    /// The levels of an object, leaves first; `root` is that of a tree. Blocks while pages are read.
    ///
    /// # Errors
    /// I/O that fails.
    pub fn shape_of(
        &self,
        object: u32,
        root: Option<PageId>,
        depth: ShapeDepth,
    ) -> Result<Vec<LevelShape>, StorageError> {
        let (mut ids, mut levels) = match root {
            Some(root) => self.leaves_below(object, root)?,
            None => (self.used_pages_of(object), Vec::new()),
        };
        let mut leaves = LevelShape::of(0, &ids);
        if depth == ShapeDepth::Sampled && ids.len() > PAGES_READ_ALL {
            ids = ids.into_iter().step_by(SAMPLED_OF).collect();
        }
        if depth != ShapeDepth::Limited {
            for id in ids {
                if let Some(page) = self.page_of(object, id, 0)? {
                    leaves.add(Page(&page));
                }
            }
        }
        levels.push(leaves);
        levels.reverse();
        Ok(levels)
    }

    /// The leaves of a tree in the order of their keys, and the shapes of the levels above, the root's first.
    fn leaves_below(&self, object: u32, root: PageId) -> Result<(Vec<PageId>, Vec<LevelShape>), StorageError> {
        let (mut ids, mut levels) = (vec![root], Vec::new());
        let level = self.page_to_check(root).map_or(0, |page| Page(&page).level());
        for level in (1..=level).rev() {
            let mut shape = LevelShape::of(level, &ids);
            let mut below = Vec::new();
            for id in ids {
                let Some(bytes) = self.page_of(object, id, level)? else { continue };
                let page = Page(&bytes);
                shape.add(page);
                below.extend((0..page.slots()).map(|slot| page.inner_entry(slot).1));
            }
            levels.push(shape);
            ids = below;
        }
        Ok((ids, levels))
    }

    /// A page that is in this level of an object.
    fn page_of(&self, object: u32, id: PageId, level: u8) -> Result<Option<Box<PageBytes>>, StorageError> {
        let page = match self.page_to_check(id) {
            Ok(page) => page,
            Err(StorageError::Corrupt { .. }) => return Ok(None),
            Err(error) => return Err(error),
        };
        let is_it = Page(&page).object() == object && Page(&page).level() == level;
        Ok(is_it.then_some(page))
    }

    fn used_pages_of(&self, object: u32) -> Vec<PageId> {
        let space = self.space.lock();
        let extents = (0..).map_while(|index| space.extent_of(object, index));
        let pages = extents.flat_map(|(extent, used)| {
            let bits = (0..EXTENT_PAGES).filter(move |bit| used >> bit & 1 != 0);
            bits.map(move |bit| PageId(extent * EXTENT_PAGES + bit))
        });
        pages.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::{Fixture, context};
    use crate::{Heap, Tree, TreeCursor};

    #[test]
    fn levels_are_counted_as_a_check_counts_them() {
        let fixture = Fixture::new(1_024);
        let store = &fixture.store;
        let heap = Heap::open(store, 20);
        let tree = store.until_done(|| Tree::create(store, 21, 8)).expect("a tree");
        let mut cursor = TreeCursor::new();
        for key in 0..700_u64 {
            store.until_done(|| heap.insert(&context(1), &[6; 1_000])).expect("room");
            store.until_done(|| tree.insert(&mut cursor, &context(1), &key.to_be_bytes(), &[5; 1_000])).expect("room");
        }
        let report = store.check().expect("it is read");
        let checked = |object: u32| *report.objects.iter().find(|seen| seen.object == object).expect("it is there");
        for depth in [ShapeDepth::Limited, ShapeDepth::Sampled, ShapeDepth::Detailed] {
            let levels = store.shape_of(21, Some(tree.root()), depth).expect("it is read");
            assert_eq!(levels.len() as u32, checked(21).levels);
            assert_eq!(levels.iter().map(|level| level.pages).sum::<u64>(), u64::from(checked(21).pages));
            let heap = store.shape_of(20, None, depth).expect("it is read");
            assert_eq!((heap.len(), heap[0].pages), (1, u64::from(checked(20).pages)));
            let (rows, bytes) = if depth == ShapeDepth::Limited { (0, 0) } else { (700, checked(20).bytes) };
            assert_eq!((levels[0].rows, heap[0].rows, heap[0].row_bytes), (rows, rows, bytes));
        }
        let leaves = store.shape_of(21, Some(tree.root()), ShapeDepth::Detailed).expect("it is read")[0];
        assert!(leaves.runs >= 1 && leaves.runs <= leaves.pages && leaves.used_bytes > leaves.row_bytes);
        assert_eq!(leaves.row_bytes_min, leaves.row_bytes_max);
    }
}
