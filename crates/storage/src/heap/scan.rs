//! Reading a heap, page by page in the order in which its extents were taken.
//!
//! A scan copies one page at a time and holds nothing in between. Rows inserted behind it are not met, rows inserted before
//! it are; a row that is there all the time is met once, at home.

use std::ops::Range;

use super::*;
use crate::allocation::EXTENT_PAGES;
use crate::copied::CopiedRows;
use crate::read_ahead::ReadAhead;

/// A row as it was when its page was copied. Ghosts are rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeapRow<'a> {
    /// Its place.
    pub rid: Rid,
    /// Flags and last writer.
    pub header: RowHeader,
    /// The columns.
    pub rest: &'a [u8],
}

/// A scan; see the module.
pub struct HeapScan {
    heap: Heap,
    /// The next extent (of the object's) and page in it.
    extent: usize,
    page: u32,
    /// The extent behind the last one wanted.
    end: usize,
    ahead: ReadAhead,
    copied: CopiedRows,
    /// The page of the copied rows.
    copied_page: PageId,
}

impl Heap {
    /// A scan of the whole heap. Nothing is read before [`HeapScan::next_batch`].
    pub fn scan(&self) -> HeapScan {
        self.scan_extents(0..usize::MAX)
    }

    /// A scan of some of the heap's extents, counted in the order in which they were taken. Rows that have moved are met where
    /// they were first.
    pub fn scan_extents(&self, extents: Range<usize>) -> HeapScan {
        let Range { start, end } = extents;
        meter::scans(&self.store, self.object);
        HeapScan {
            heap: self.clone(),
            extent: start,
            page: 0,
            end,
            ahead: ReadAhead::new(self.object, EXTENT_PAGES),
            copied: CopiedRows::default(),
            copied_page: PageId(0),
        }
    }
}

impl HeapScan {
    /// Copies the rows of the next page that has some; `false`: there are none. The rows of the last batch are gone then.
    ///
    /// # Errors
    /// Needs, then call again; a damaged page.
    pub fn next_batch(&mut self) -> Result<bool, Stop> {
        loop {
            self.copied.clear();
            if self.extent >= self.end {
                return Ok(false);
            }
            let heap = self.heap.clone();
            let Some((extent, used)) = heap.store.space.lock().extent_of(heap.object, self.extent) else {
                return Ok(false);
            };
            if used >> self.page & 1 != 0 {
                let page = PageId(extent * EXTENT_PAGES + self.page);
                self.copy(&heap, page).map_err(|stop| match stop {
                    Stop::Need(Need::Page(lacking)) if lacking == page => self.ahead.need(&heap.store, page).into(),
                    other => other,
                })?;
                meter::passes(&heap.store, heap.object);
            }
            self.page += 1;
            if self.page == EXTENT_PAGES {
                (self.extent, self.page) = (self.extent + 1, 0);
            }
            if !self.copied.rows().is_empty() {
                return Ok(true);
            }
        }
    }

    /// Goes back to the page of the last batch: the next one has its rows as they are then.
    pub fn copy_again(&mut self) {
        (self.extent, self.page) = match self.page.checked_sub(1) {
            Some(page) => (self.extent, page),
            None => (self.extent - 1, EXTENT_PAGES - 1),
        };
        self.copied.clear();
    }

    fn copy(&mut self, heap: &Heap, id: PageId) -> Result<(), Stop> {
        let guard = heap.page_shared(id)?;
        let page = guard.page();
        if heap.store.object_of(id) != Some(heap.object) {
            // It went out of use meanwhile: its rows were undone.
            return Ok(());
        }
        if !heap.is_mine(page) {
            return Err(StorageError::corrupt(id, format!("it is no page of heap {}", heap.object)).into());
        }
        self.copied_page = id;
        let before = self.copied.copy_page(page);
        for (slot, (at, len)) in page.slot_places().enumerate() {
            if (at, len) == (0, 0) {
                continue;
            }
            let (slot, header) = (slot as u16, page.header_at(at));
            if !header.is_elsewhere() {
                self.copied.push_heap(slot, header, at - before..at - before + len);
            } else if let Some(Entry::Forwarded(header, to)) = home_entry(page, slot) {
                let rid = Rid { page: id, slot };
                heap.with_moved(rid, to, |columns| self.copied.push_moved(slot, header, columns))?;
            }
        }
        Ok(())
    }

    /// The copy that the last batch is.
    pub fn copied(&mut self) -> &mut CopiedRows {
        &mut self.copied
    }

    /// The page of the last batch.
    pub fn page(&self) -> PageId {
        self.copied_page
    }

    /// Rows in the last batch.
    pub fn len(&self) -> usize {
        self.copied.rows().len()
    }

    /// True if the last batch has no rows.
    pub fn is_empty(&self) -> bool {
        self.copied.rows().is_empty()
    }

    /// The `index`-th row of the last batch.
    ///
    /// # Panics
    /// When the batch has fewer rows.
    pub fn row(&self, index: usize) -> HeapRow<'_> {
        let row = self.copied.rows()[index];
        HeapRow { rid: row.rid(self.copied_page), header: row.header, rest: self.copied.rest(row) }
    }

    /// The rows of the last batch.
    pub fn rows(&self) -> impl Iterator<Item = HeapRow<'_>> {
        (0..self.len()).map(|index| self.row(index))
    }
}
