//! The 8 KB page: header, slots, entries, fences.
//!
//! ```text
//!  0        4        8                16       20   21    22    23   24      26       28      30
//!  | crc32c | page id | lsn           | object |kind|level|flags| 0 | slots | start  | garbage|low off |
//!  32       34       36       38      40       44                                                     64
//!  |low len |high off|high len|longest| next   |  zeros                                                |
//!  64
//!  | slot 0: offset u16, length u16 | slot 1 | ...  -> free <- ...  entries, fences            | 8192
//!                                                          ^ start
//! ```
//! All numbers are little-endian. `lsn` is the end of the log record of the last change. `garbage` counts the bytes
//! between `start` and the end of the page that nothing refers to any more. `longest` is at least the length of every
//! key that a leaf holds. An entry of
//!
//! - a tree leaf is `[row header 8][key length varint][key][rest]`, slots in key order;
//! - a tree inner page is `[child page u32][separator]`, slots in key order, the first separator empty: a child holds
//!   the keys from its separator up to the next one;
//! - a heap page is `[row header 8][rest]`; a slot of offset 0 is free, so that a row keeps its number. An entry takes
//!   at least 14 bytes, so that it can always become a forwarding rid.
//!
//! Tree pages carry fences: every key in the page is `>= low` and `< high` (no high fence: unbounded). A page of the
//! allocation map has no slots (see [`crate::allocation`]).
//!
//! A split puts a separator between two keys of a leaf (or between one and the key to be inserted) and makes it a fence of
//! both halves; it is at most one byte longer than `longest`. So that both halves always have the room, a leaf counts
//! each fence as at least `longest + 1` bytes long when it takes an entry ([`Page::leaf_room`]).
//!
//! Invariants, which [`Page::validate`] establishes for a page read from disk and every change keeps:
//! slots end at or below `start`; every entry and fence lies between `start` and the page's end; lengths of entries and
//! fences plus `garbage` fill that range exactly. Code that reads a validated page may therefore index freely.

pub(crate) mod inner;
mod lines;
pub(crate) mod slotted;
#[cfg(test)]
mod tests;

use pikepole_log::field::get_varint;

use crate::error::{PageId, StorageError};
pub(crate) use lines::{Lines, PageMut};

/// Bytes of a page.
pub const PAGE_BYTES: usize = 8192;
/// Bytes of a page's header.
pub const PAGE_HEADER_BYTES: usize = 64;
/// Bytes of a slot.
pub(crate) const SLOT_BYTES: usize = 4;

/// A page's bytes.
pub(crate) type PageBytes = [u8; PAGE_BYTES];

const AT_CRC: usize = 0;
const AT_ID: usize = 4;
const AT_LSN: usize = 8;
const AT_OBJECT: usize = 16;
const AT_KIND: usize = 20;
const AT_LEVEL: usize = 21;
const AT_FLAGS: usize = 22;
pub(crate) const AT_SLOTS: usize = 24;
const AT_START: usize = 26;
const AT_GARBAGE: usize = 28;
const AT_LOW: usize = 30;
const AT_HIGH: usize = 34;
const AT_LONGEST: usize = 38;
const AT_NEXT: usize = 40;

const FLAG_HAS_HIGH: u8 = 1;

/// What a page holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum PageKind {
    /// Owners of extents.
    Map = 1,
    /// Rows of a tree in key order.
    Leaf = 2,
    /// Separators and children of a tree.
    Inner = 3,
    /// Rows of a heap.
    Heap = 4,
}

impl PageKind {
    pub(crate) fn from_u8(kind: u8) -> Option<PageKind> {
        Some(match kind {
            1 => PageKind::Map,
            2 => PageKind::Leaf,
            3 => PageKind::Inner,
            4 => PageKind::Heap,
            _ => return None,
        })
    }
}

pub(crate) fn get_u16(bytes: &PageBytes, at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

pub(crate) fn get_u32(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
}

pub(crate) fn get_u64(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"))
}

/// A page to read.
#[derive(Clone, Copy)]
pub(crate) struct Page<'a>(pub &'a PageBytes);

impl<'a> Page<'a> {
    pub fn id(self) -> PageId {
        PageId(get_u32(self.0, AT_ID))
    }

    pub fn lsn(self) -> u64 {
        get_u64(self.0, AT_LSN)
    }

    pub fn object(self) -> u32 {
        get_u32(self.0, AT_OBJECT)
    }

    pub fn kind(self) -> Option<PageKind> {
        PageKind::from_u8(self.0[AT_KIND])
    }

    pub fn level(self) -> u8 {
        self.0[AT_LEVEL]
    }

    pub fn slots(self) -> usize {
        get_u16(self.0, AT_SLOTS) as usize
    }

    pub fn next(self) -> Option<PageId> {
        match get_u32(self.0, AT_NEXT) {
            0 => None,
            next => Some(PageId(next)),
        }
    }

    pub(crate) fn start(self) -> usize {
        get_u16(self.0, AT_START) as usize
    }

    pub(crate) fn garbage(self) -> usize {
        get_u16(self.0, AT_GARBAGE) as usize
    }

    /// Bytes that a new entry with its slot may have, counting garbage.
    pub fn free_bytes(self) -> usize {
        self.gap_bytes() + self.garbage()
    }

    /// Bytes that entries and fences take.
    pub fn entry_bytes(self) -> usize {
        PAGE_BYTES - self.start() - self.garbage()
    }

    /// Bytes between the slots and the entries.
    pub fn gap_bytes(self) -> usize {
        self.start() - (PAGE_HEADER_BYTES + SLOT_BYTES * self.slots())
    }

    pub fn low_fence(self) -> &'a [u8] {
        let at = get_u16(self.0, AT_LOW) as usize;
        let len = get_u16(self.0, AT_LOW + 2) as usize;
        &self.0[at..at + len]
    }

    /// The bound that every key of the page is below; `None`: unbounded.
    pub fn high_fence(self) -> Option<&'a [u8]> {
        if self.0[AT_FLAGS] & FLAG_HAS_HIGH == 0 {
            return None;
        }
        let at = get_u16(self.0, AT_HIGH) as usize;
        let len = get_u16(self.0, AT_HIGH + 2) as usize;
        Some(&self.0[at..at + len])
    }

    pub fn covers(self, key: &[u8]) -> bool {
        key >= self.low_fence() && self.high_fence().is_none_or(|high| key < high)
    }

    /// Offset and length of an entry; offset 0 is a free slot of a heap.
    pub fn slot(self, slot: usize) -> (usize, usize) {
        let at = PAGE_HEADER_BYTES + SLOT_BYTES * slot;
        (get_u16(self.0, at) as usize, get_u16(self.0, at + 2) as usize)
    }

    /// Each slot as [`Page::slot`] gives it.
    #[inline]
    pub fn slot_places(self) -> impl Iterator<Item = (usize, usize)> {
        let slots = &self.0[PAGE_HEADER_BYTES..PAGE_HEADER_BYTES + SLOT_BYTES * self.slots()];
        let (slots, _) = slots.as_chunks::<SLOT_BYTES>();
        slots.iter().map(|&[a, b, c, d]| (u16::from_le_bytes([a, b]) as usize, u16::from_le_bytes([c, d]) as usize))
    }

    pub fn entry(self, slot: usize) -> &'a [u8] {
        let (at, len) = self.slot(slot);
        &self.0[at..at + len]
    }

    /// The checksum of the page as it is.
    pub fn crc(self) -> u32 {
        crc32c::crc32c(&self.0[4..])
    }

    pub fn stored_crc(self) -> u32 {
        get_u32(self.0, AT_CRC)
    }

    /// Whether the page's bytes are those that were last written: it is page `id` and its checksum holds.
    pub fn is_whole(self, id: PageId) -> bool {
        self.stored_crc() == self.crc() && self.id() == id && self.kind().is_some()
    }

    /// Checks checksum, identity and structure, so that no later access can leave the page's bounds.
    pub fn validate(self, id: PageId) -> Result<(), StorageError> {
        if self.stored_crc() != self.crc() {
            let why =
                if self.0.iter().all(|&b| b == 0) { "it was never written" } else { "its checksum does not match" };
            return Err(StorageError::corrupt(id, why));
        }
        if self.id() != id {
            return Err(StorageError::corrupt(id, format!("it says it is page {}", self.id())));
        }
        self.validate_structure().map_err(|why| StorageError::corrupt(id, why))
    }

    /// Checks what the module header states under invariants.
    pub fn validate_structure(self) -> Result<(), String> {
        let kind = self.kind().ok_or_else(|| format!("unknown kind {}", self.0[AT_KIND]))?;
        if (kind == PageKind::Inner) != (self.level() > 0) {
            return Err(format!("a {kind:?} page of level {}", self.level()));
        }
        let (slots, start) = (self.slots(), self.start());
        if kind == PageKind::Map {
            return if slots == 0 && start == PAGE_HEADER_BYTES { Ok(()) } else { Err("a map page with slots".into()) };
        }
        if start > PAGE_BYTES || PAGE_HEADER_BYTES + SLOT_BYTES * slots > start {
            return Err(format!("{slots} slots reach over the entries at {start}"));
        }
        let mut used = self.garbage();
        for (at, has) in [(AT_LOW, true), (AT_HIGH, self.0[AT_FLAGS] & FLAG_HAS_HIGH != 0)] {
            let (offset, len) = (get_u16(self.0, at) as usize, get_u16(self.0, at + 2) as usize);
            if len > 0 && (!has || offset < start || offset + len > PAGE_BYTES) || offset > PAGE_BYTES {
                return Err(format!("a fence of {len} bytes at {offset}"));
            }
            used += len;
        }
        for slot in 0..slots {
            let (offset, len) = self.slot(slot);
            if offset == 0 && len == 0 && kind == PageKind::Heap {
                continue;
            }
            let taken = slotted::occupied(kind, len);
            if offset < start || offset + taken > PAGE_BYTES || !self.entry_is_sound(kind, slot) {
                return Err(format!("slot {slot}: an entry of {len} bytes at {offset}"));
            }
            used += taken;
        }
        if used != PAGE_BYTES - start {
            return Err(format!("{used} bytes are accounted for between {start} and the end"));
        }
        if kind == PageKind::Inner && (slots == 0 || self.entry(0).len() != 4) {
            return Err("an inner page without a first child".into());
        }
        Ok(())
    }

    fn entry_is_sound(self, kind: PageKind, slot: usize) -> bool {
        let entry = self.entry(slot);
        match kind {
            PageKind::Map => false,
            PageKind::Inner => entry.len() >= 4,
            PageKind::Heap => entry.len() >= 8,
            PageKind::Leaf => {
                entry.len() > 8 && get_varint(&entry[8..]).is_ok_and(|(len, n)| len <= (entry.len() - 8 - n) as u64)
            }
        }
    }
}

impl PageMut<'_> {
    /// Makes an empty page.
    pub fn format(&mut self, id: PageId, object: u32, kind: PageKind, level: u8) {
        self.change_all().fill(0);
        let header = self.header();
        header[AT_ID..AT_ID + 4].copy_from_slice(&id.0.to_le_bytes());
        header[AT_OBJECT..AT_OBJECT + 4].copy_from_slice(&object.to_le_bytes());
        header[AT_KIND] = kind as u8;
        header[AT_LEVEL] = level;
        self.put_u16(AT_START, if kind == PageKind::Map { PAGE_HEADER_BYTES } else { PAGE_BYTES });
    }

    /// Makes the header of a heap page whose slots and entries are in place already.
    pub(crate) fn finish_heap(&mut self, id: PageId, object: u32, slots: usize, start: usize) {
        let header = self.header();
        header.fill(0);
        header[AT_ID..AT_ID + 4].copy_from_slice(&id.0.to_le_bytes());
        header[AT_OBJECT..AT_OBJECT + 4].copy_from_slice(&object.to_le_bytes());
        header[AT_KIND] = PageKind::Heap as u8;
        self.put_u16(AT_SLOTS, slots);
        self.put_u16(AT_START, start);
    }

    /// Gives the page to another object.
    pub fn set_object(&mut self, object: u32) {
        self.header()[AT_OBJECT..AT_OBJECT + 4].copy_from_slice(&object.to_le_bytes());
    }

    pub fn set_lsn(&mut self, lsn: u64) {
        self.header()[AT_LSN..AT_LSN + 8].copy_from_slice(&lsn.to_le_bytes());
    }

    pub fn set_next(&mut self, next: Option<PageId>) {
        self.header()[AT_NEXT..AT_NEXT + 4].copy_from_slice(&next.unwrap_or_default().0.to_le_bytes());
    }

    /// Stores the checksum: the last thing before the page is written.
    pub fn seal(&mut self) {
        let crc = self.as_page().crc();
        self.header()[AT_CRC..AT_CRC + 4].copy_from_slice(&crc.to_le_bytes());
    }

    /// Puts a number into the header.
    fn put_u16(&mut self, at: usize, value: usize) {
        debug_assert!(value <= PAGE_BYTES);
        self.header()[at..at + 2].copy_from_slice(&(value as u16).to_le_bytes());
    }

    /// Gives an empty page its fences.
    pub fn set_fences(&mut self, low: &[u8], high: Option<&[u8]>) {
        assert!(self.as_page().slots() == 0 && self.as_page().start() == PAGE_BYTES, "fences go in first");
        let mut start = PAGE_BYTES - low.len();
        self.change(start..PAGE_BYTES).copy_from_slice(low);
        self.put_u16(AT_LOW, start);
        self.put_u16(AT_LOW + 2, low.len());
        if let Some(high) = high {
            self.change(start - high.len()..start).copy_from_slice(high);
            start -= high.len();
            self.put_u16(AT_HIGH, start);
            self.put_u16(AT_HIGH + 2, high.len());
            self.header()[AT_FLAGS] |= FLAG_HAS_HIGH;
        }
        self.put_u16(AT_START, start);
    }
}
