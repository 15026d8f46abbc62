//! Rows copied from a page, for scans that hold nothing while their rows are looked at.
//!
//! ```text
//!   bytes:  | entry | entry | entry | ...        as they lie in the page, or one behind the other
//!             ^ key   ^ rest  ^ end
//! ```
//! A page whose rows are all wanted is copied as it lies, in one piece: that costs less than entry by entry.

use std::ops::Range;

use crate::error::PageId;
use crate::heap::Rid;
use crate::page::Page;
use crate::page::slotted::LeafEntry;
use crate::row::{ROW_HEADER_BYTES, RowHeader};

/// Places of a row in the bytes of its copy: the key up to the rest, and the rest up to the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CopiedRow {
    /// Flags and last writer.
    pub header: RowHeader,
    /// The first byte of the key. A row of a heap has none: its rest begins here.
    pub key: u32,
    /// The first byte of the other columns.
    pub rest: u32,
    /// The byte behind them.
    pub end: u32,
    /// The slot, of a row of a heap.
    slot: u16,
}

impl CopiedRow {
    /// The place in its heap of a row of this page.
    pub fn rid(self, page: PageId) -> Rid {
        Rid { page, slot: self.slot }
    }
}

/// The rows of a page, or some of them, as they were when they were copied. Ghosts are rows.
#[derive(Default)]
pub struct CopiedRows {
    bytes: Vec<u8>,
    rows: Vec<CopiedRow>,
}

impl CopiedRows {
    /// The bytes that the places of the rows are in.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The places of the rows, in the order of their page.
    pub fn rows(&self) -> &[CopiedRow] {
        &self.rows
    }

    /// The key of a row.
    pub fn key(&self, row: CopiedRow) -> &[u8] {
        &self.bytes[row.key as usize..row.rest as usize]
    }

    /// The columns of a row that are not in its key.
    pub fn rest(&self, row: CopiedRow) -> &[u8] {
        &self.bytes[row.rest as usize..row.end as usize]
    }

    /// Gives a row another rest, such as that of an older version; its place is the one that is returned.
    pub fn with_rest(&mut self, row: CopiedRow, rest: &[u8]) -> CopiedRow {
        let key = self.bytes.len();
        self.bytes.extend_from_within(row.key as usize..row.rest as usize);
        let at = self.bytes.len();
        self.bytes.extend_from_slice(rest);
        CopiedRow { key: key as u32, rest: at as u32, end: self.bytes.len() as u32, ..row }
    }

    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
        self.rows.clear();
    }

    /// Keeps room for so many bytes only.
    pub(crate) fn shrink_to(&mut self, bytes: usize) {
        self.bytes.shrink_to(bytes);
    }

    /// Copies the entries of a page as they lie; gives how far each lies before its place in the page.
    pub(crate) fn copy_page(&mut self, page: Page<'_>) -> usize {
        self.bytes.extend_from_slice(&page.0[page.start()..]);
        page.start()
    }

    /// Copies the rows in these slots of a leaf.
    pub(crate) fn copy_leaf(&mut self, page: Page<'_>, slots: Range<usize>) {
        if slots == (0..page.slots()) {
            let before = self.copy_page(page);
            page.slot_places().for_each(|(at, len)| self.push_leaf(at - before, len));
            return;
        }
        for slot in slots {
            let at = self.bytes.len();
            let entry = page.entry(slot);
            self.bytes.extend_from_slice(entry);
            self.push_leaf(at, entry.len());
        }
    }

    #[inline]
    fn push_leaf(&mut self, at: usize, len: usize) {
        let (header, key, rest) = LeafEntry::places(&self.bytes[at..at + len]);
        let [key, rest, end] = [at + key, at + rest, at + len].map(|place| place as u32);
        self.rows.push(CopiedRow { header, key, rest, end, slot: 0 });
    }

    /// Adds a row of a heap, whose whole entry is in the copy.
    #[inline]
    pub(crate) fn push_heap(&mut self, slot: u16, header: RowHeader, entry: Range<usize>) {
        let (rest, end) = ((entry.start + ROW_HEADER_BYTES) as u32, entry.end as u32);
        self.rows.push(CopiedRow { header, key: rest, rest, end, slot });
    }

    /// Adds a row of a heap whose columns are elsewhere.
    pub(crate) fn push_moved(&mut self, slot: u16, header: RowHeader, columns: &[u8]) {
        let rest = self.bytes.len() as u32;
        self.bytes.extend_from_slice(columns);
        self.rows.push(CopiedRow { header, key: rest, rest, end: self.bytes.len() as u32, slot });
    }
}
