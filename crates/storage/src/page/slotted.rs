//! Entries of leaf and heap pages.

use pikepole_log::field::{put_varint, varint_len};

use super::*;
use crate::row::{ROW_HEADER_BYTES, RowHeader};

/// A heap entry keeps room for a forwarding rid, so that a row that grows can always leave one behind.
pub(crate) const HEAP_ENTRY_BYTES_MIN: usize = ROW_HEADER_BYTES + 6;

/// Bytes that an entry of `len` bytes takes from a page.
pub(crate) fn occupied(kind: PageKind, len: usize) -> usize {
    if kind == PageKind::Heap { len.max(HEAP_ENTRY_BYTES_MIN) } else { len }
}

/// Bytes of a leaf entry of a key and a rest of these lengths.
pub(crate) fn leaf_entry_bytes(key: usize, rest: usize) -> usize {
    ROW_HEADER_BYTES + varint_len(key as u64) + key + rest
}

/// Writes a leaf entry; `out` has exactly its length.
pub(crate) fn put_leaf_entry(out: &mut [u8], header: RowHeader, key: &[u8], rest: &[u8]) {
    out[..8].copy_from_slice(&header.0.to_le_bytes());
    let at = 8 + put_varint(&mut out[8..], key.len() as u64);
    out[at..at + key.len()].copy_from_slice(key);
    out[at + key.len()..].copy_from_slice(rest);
}

/// A leaf entry taken apart.
#[derive(Clone, Copy)]
pub(crate) struct LeafEntry<'a> {
    pub header: RowHeader,
    pub key: &'a [u8],
    pub rest: &'a [u8],
}

impl<'a> LeafEntry<'a> {
    /// `entry` is of a validated page.
    pub fn of(entry: &'a [u8]) -> LeafEntry<'a> {
        let (header, key, rest) = LeafEntry::places(entry);
        LeafEntry { header, key: &entry[key..rest], rest: &entry[rest..] }
    }

    /// The header of an entry of a validated page, and where its key and its rest begin.
    pub fn places(entry: &[u8]) -> (RowHeader, usize, usize) {
        let header = RowHeader(get_u64(entry, 0));
        let first = entry[8] as usize;
        let (len, at) = if first < 0x80 {
            (first, 9)
        } else {
            let (len, bytes) = get_varint(&entry[8..]).expect("the page was validated");
            (len as usize, 8 + bytes)
        };
        (header, at, at + len)
    }
}

impl<'a> Page<'a> {
    pub fn row_header(self, slot: usize) -> RowHeader {
        self.header_at(self.slot(slot).0)
    }

    /// The header of the row whose entry begins at a place.
    #[inline]
    pub fn header_at(self, at: usize) -> RowHeader {
        RowHeader(get_u64(self.0, at))
    }

    pub fn leaf_entry(self, slot: usize) -> LeafEntry<'a> {
        LeafEntry::of(self.entry(slot))
    }

    pub fn leaf_key(self, slot: usize) -> &'a [u8] {
        self.leaf_entry(slot).key
    }

    /// The slot of `key`, or the slot where it belongs. Keys above the last one cost one comparison.
    pub fn find(self, key: &[u8]) -> Result<usize, usize> {
        let slots = self.slots();
        if slots == 0 {
            return Err(0);
        }
        match self.leaf_key(slots - 1).cmp(key) {
            std::cmp::Ordering::Less => return Err(slots),
            std::cmp::Ordering::Equal => return Ok(slots - 1),
            std::cmp::Ordering::Greater => {}
        }
        let (mut low, mut high) = (0, slots - 1);
        while low < high {
            let middle = (low + high) / 2;
            match self.leaf_key(middle).cmp(key) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Equal => return Ok(middle),
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        Err(low)
    }

    /// Bytes that a leaf has for an entry (with its slot) of a key of this length, garbage counted: see the module
    /// header for why fences count as longer than they are.
    #[inline]
    pub fn leaf_room(self, key_len: usize) -> usize {
        let fence_bytes = (get_u16(self.0, AT_LONGEST) as usize).max(key_len) + 1;
        let low = get_u16(self.0, AT_LOW + 2) as usize;
        let high = get_u16(self.0, AT_HIGH + 2) as usize;
        let kept = fence_bytes.saturating_sub(low) + fence_bytes.saturating_sub(high);
        self.free_bytes().saturating_sub(kept)
    }

    /// Bytes of garbage right behind the entry that ends at `end`.
    fn garbage_from(self, end: usize) -> usize {
        if self.garbage() == 0 {
            return 0;
        }
        let fences =
            [AT_LOW, AT_HIGH].map(|fence| (get_u16(self.0, fence) as usize, get_u16(self.0, fence + 2) as usize));
        let used = (0..self.slots()).map(|slot| self.slot(slot)).chain(fences.into_iter().filter(|(_, len)| *len > 0));
        let next = used.map(|(at, _)| at).filter(|at| *at >= end).min();
        next.unwrap_or(PAGE_BYTES) - end
    }

    /// Bytes that a heap page has for an entry with its slot.
    pub fn heap_room(self) -> usize {
        self.free_bytes()
    }

    /// A free slot of a heap page, or the one behind the last.
    pub fn free_heap_slot(self) -> usize {
        let slots = self.slots();
        if self.garbage() == 0 {
            return slots;
        }
        (0..slots).find(|&slot| self.slot(slot) == (0, 0)).unwrap_or(slots)
    }

    /// The two ends of the page; what lies between them is free. A map page is carried as a fresh one.
    pub fn image(self) -> (&'a [u8], &'a [u8]) {
        if self.kind() == Some(PageKind::Map) {
            return (&self.0[..PAGE_HEADER_BYTES], &[]);
        }
        let slots_end = PAGE_HEADER_BYTES + SLOT_BYTES * self.slots();
        (&self.0[..slots_end], &self.0[self.start()..])
    }
}

impl PageMut<'_> {
    /// Rebuilds the page from an image; `Err` when the image is not one.
    pub fn set_image(&mut self, image: &[u8]) -> Result<(), String> {
        if image.len() < PAGE_HEADER_BYTES || image.len() > PAGE_BYTES {
            return Err(format!("an image of {} bytes", image.len()));
        }
        self.change_all().fill(0);
        self.header().copy_from_slice(&image[..PAGE_HEADER_BYTES]);
        if self.as_page().kind() != Some(PageKind::Map) {
            let head = PAGE_HEADER_BYTES + SLOT_BYTES * self.as_page().slots();
            let start = self.as_page().start();
            if head > start || start > PAGE_BYTES || image.len() != head + PAGE_BYTES - start {
                return Err(format!("an image of {} bytes with entries from {start}", image.len()));
            }
            self.change(PAGE_HEADER_BYTES..head).copy_from_slice(&image[PAGE_HEADER_BYTES..head]);
            self.change(start..PAGE_BYTES).copy_from_slice(&image[head..]);
        }
        self.as_page().validate_structure()
    }

    /// Takes `len` bytes for a new entry at `slot`, moving the later slots up. The caller has checked
    /// [`Page::free_bytes`]; it fills all of the returned bytes.
    #[inline]
    pub fn insert_entry(&mut self, slot: usize, len: usize) -> &mut [u8] {
        let taken = self.occupied(len);
        if self.as_page().gap_bytes() < taken + SLOT_BYTES {
            self.compact();
        }
        let page = self.as_page();
        let (slots, start) = (page.slots(), page.start());
        assert!(slot <= slots && page.gap_bytes() >= taken + SLOT_BYTES, "the caller has checked the room");
        let at = PAGE_HEADER_BYTES + SLOT_BYTES * slot;
        let end = PAGE_HEADER_BYTES + SLOT_BYTES * slots;
        if at < end {
            self.change(at..end + SLOT_BYTES).copy_within(..end - at, SLOT_BYTES);
        }
        let start = start - taken;
        self.put_slot(slot, start, len);
        self.put_u16(AT_SLOTS, slots + 1);
        self.put_u16(AT_START, start);
        self.change(start..start + len)
    }

    /// Puts a row into a leaf at `slot`. The caller has checked [`Page::leaf_room`].
    #[inline]
    pub fn insert_leaf(&mut self, slot: usize, header: RowHeader, key: &[u8], rest: &[u8]) {
        put_leaf_entry(self.insert_entry(slot, leaf_entry_bytes(key.len(), rest.len())), header, key, rest);
        self.lengthen(key.len());
    }

    /// Puts a row into a heap page at a free `slot`. The caller has checked [`Page::heap_room`].
    pub fn insert_heap(&mut self, slot: usize, header: RowHeader, rest: &[u8]) {
        let entry = self.insert_heap_entry(slot, ROW_HEADER_BYTES + rest.len());
        entry[..ROW_HEADER_BYTES].copy_from_slice(&header.0.to_le_bytes());
        entry[ROW_HEADER_BYTES..].copy_from_slice(rest);
    }

    /// Gives the row of a leaf at `slot` a new header and new columns. The caller has checked the room.
    pub fn replace_leaf(&mut self, slot: usize, header: RowHeader, key: &[u8], rest: &[u8]) {
        let len = leaf_entry_bytes(key.len(), rest.len());
        match self.resize_in_place(slot, len) {
            Some(at) => self.overwrite_row(at, len, header, rest),
            None => put_leaf_entry(self.replace_entry(slot, len), header, key, rest),
        }
    }

    /// The same in a heap page.
    pub fn replace_heap(&mut self, slot: usize, header: RowHeader, rest: &[u8]) {
        let len = ROW_HEADER_BYTES + rest.len();
        if let Some(at) = self.resize_in_place(slot, len) {
            return self.overwrite_row(at, len, header, rest);
        }
        let entry = self.replace_entry(slot, len);
        entry[..ROW_HEADER_BYTES].copy_from_slice(&header.0.to_le_bytes());
        entry[ROW_HEADER_BYTES..].copy_from_slice(rest);
    }

    /// Gives the row at `at`, which has `len` bytes already, a new header and new columns. Its key stays.
    fn overwrite_row(&mut self, at: usize, len: usize, header: RowHeader, rest: &[u8]) {
        self.overwrite(at, &header.0.to_le_bytes());
        self.overwrite(at + len - rest.len(), rest);
    }

    /// Changes the header of the row at `slot`.
    pub fn set_row_header(&mut self, slot: usize, header: RowHeader) {
        let (at, _) = self.as_page().slot(slot);
        self.change(at..at + ROW_HEADER_BYTES).copy_from_slice(&header.0.to_le_bytes());
    }

    /// Takes the row at `slot` from a leaf or heap page.
    pub fn remove_row(&mut self, slot: usize) {
        if self.as_page().kind() == Some(PageKind::Heap) { self.free_heap_slot(slot) } else { self.remove_entry(slot) }
    }

    #[inline]
    fn lengthen(&mut self, key_len: usize) {
        if key_len > get_u16(self.as_page().0, AT_LONGEST) as usize {
            self.put_u16(AT_LONGEST, key_len);
        }
    }

    fn occupied(&self, len: usize) -> usize {
        occupied(self.as_page().kind().expect("a formatted page"), len)
    }

    /// Heap: takes `len` bytes for an entry in a free or the next new `slot`.
    pub fn insert_heap_entry(&mut self, slot: usize, len: usize) -> &mut [u8] {
        if slot == self.as_page().slots() {
            return self.insert_entry(slot, len);
        }
        assert!(self.as_page().slot(slot) == (0, 0), "the slot is free");
        self.place(slot, len)
    }

    /// Heap: frees a slot; the slots after it keep their numbers.
    pub fn free_heap_slot(&mut self, slot: usize) {
        let (at, len) = self.as_page().slot(slot);
        self.discard(at, len);
        self.put_slot(slot, 0, 0);
    }

    /// Removes the entry at `slot`, moving the later slots down.
    pub fn remove_entry(&mut self, slot: usize) {
        let page = self.as_page();
        let slots = page.slots();
        let (at, len) = page.slot(slot);
        self.discard(at, len);
        let first = PAGE_HEADER_BYTES + SLOT_BYTES * slot;
        self.change(first..PAGE_HEADER_BYTES + SLOT_BYTES * slots).copy_within(SLOT_BYTES.., 0);
        self.put_u16(AT_SLOTS, slots - 1);
    }

    /// Whether the entry at `slot` could have `len` bytes.
    pub fn replacement_fits(&self, slot: usize, len: usize) -> bool {
        let old = self.occupied(self.as_page().slot(slot).1);
        self.as_page().free_bytes() + old >= self.occupied(len)
    }

    /// Gives the entry at `slot` another length without moving its beginning away from its key, and returns its offset; `None` if
    /// that takes more room than there is beside it. What an entry gives up is garbage, and its own again when it grows.
    ///
    /// Where the page is full, so that any other way would move all entries behind this one in the order of slots, those below it
    /// are moved: they keep their room, and the entry has room from then on. After a few updates each row has the room of the
    /// longest that it was, and updates change only the bytes of their row.
    fn resize_in_place(&mut self, slot: usize, len: usize) -> Option<usize> {
        let (at, old) = self.as_page().slot(slot);
        let (taken, room) = (self.occupied(len), self.occupied(old));
        let more = taken.saturating_sub(room);
        let mut at = at;
        if more > 0 && self.as_page().garbage_from(at + room) < more {
            let gap = self.as_page().gap_bytes();
            if gap < more || gap >= taken {
                return None;
            }
            self.move_down(at + room, more);
            at -= more;
        }
        if len != old {
            self.put_slot(slot, at, len);
            let garbage = self.as_page().garbage() + room - taken;
            self.put_u16(AT_GARBAGE, garbage);
        }
        Some(at)
    }

    /// Moves all entries and fences that begin below `end` by so many bytes into the gap, which leaves as many of garbage at `end`.
    fn move_down(&mut self, end: usize, by: usize) {
        self.rearrange(|new, page| {
            let start = page.start();
            new.change(start - by..end - by).copy_from_slice(&page.0[start..end]);
            for slot in 0..page.slots() {
                let (at, len) = page.slot(slot);
                if at != 0 && at < end {
                    new.put_slot(slot, at - by, len);
                }
            }
            for fence in [AT_LOW, AT_HIGH] {
                let (at, len) = (get_u16(page.0, fence) as usize, get_u16(page.0, fence + 2));
                if len > 0 && at < end {
                    new.put_u16(fence, at - by);
                }
            }
            new.put_u16(AT_START, start - by);
            new.put_u16(AT_GARBAGE, page.garbage() + by);
        });
    }

    /// Gives the entry at `slot` another length; the caller fills all of the returned bytes.
    fn replace_entry(&mut self, slot: usize, len: usize) -> &mut [u8] {
        let (at, old) = self.as_page().slot(slot);
        self.discard(at, old);
        self.put_slot(slot, 0, 0);
        self.place(slot, len)
    }

    /// Places an entry of `len` bytes for a slot that has none now.
    fn place(&mut self, slot: usize, len: usize) -> &mut [u8] {
        let taken = self.occupied(len);
        if self.as_page().gap_bytes() < taken {
            self.compact();
        }
        assert!(self.as_page().gap_bytes() >= taken, "the caller has checked the room");
        let start = self.as_page().start() - taken;
        self.put_slot(slot, start, len);
        self.put_u16(AT_START, start);
        self.change(start..start + len)
    }

    fn discard(&mut self, at: usize, len: usize) {
        let len = self.occupied(len);
        let page = self.as_page();
        let (start, garbage) = (page.start(), page.garbage());
        if at == start {
            self.put_u16(AT_START, start + len);
        } else {
            self.put_u16(AT_GARBAGE, garbage + len);
        }
    }

    fn put_slot(&mut self, slot: usize, at: usize, len: usize) {
        let place = PAGE_HEADER_BYTES + SLOT_BYTES * slot;
        debug_assert!(at <= PAGE_BYTES && len <= PAGE_BYTES);
        self.change(place..place + SLOT_BYTES).copy_from_slice(&(at as u32 | (len as u32) << 16).to_le_bytes());
    }

    /// Writes all entries anew without garbage between them.
    pub fn compact(&mut self) {
        self.rearrange(|new, page| {
            new.put_u16(AT_SLOTS, 0);
            new.put_u16(AT_GARBAGE, 0);
            new.put_u16(AT_START, PAGE_BYTES);
            new.header()[AT_FLAGS] &= !FLAG_HAS_HIGH;
            new.put_u16(AT_LOW + 2, 0);
            new.put_u16(AT_HIGH, 0);
            new.put_u16(AT_HIGH + 2, 0);
            new.set_fences(page.low_fence(), page.high_fence());
            new.put_u16(AT_SLOTS, page.slots());
            let mut start = new.as_page().start();
            for slot in 0..page.slots() {
                let (at, len) = page.slot(slot);
                if at == 0 {
                    continue;
                }
                start -= new.occupied(len);
                new.change(start..start + len).copy_from_slice(&page.0[at..at + len]);
                new.put_slot(slot, start, len);
            }
            new.put_u16(AT_START, start);
            new.change(PAGE_HEADER_BYTES + SLOT_BYTES * page.slots()..start).fill(0);
        });
    }

    /// Whether `truncate` has the room for this fence.
    pub fn truncation_fits(&self, keep: usize, high_len: usize) -> bool {
        let page = self.as_page();
        let bytes: usize = (0..keep).map(|slot| page.slot(slot).1 + SLOT_BYTES).sum();
        PAGE_HEADER_BYTES + page.low_fence().len() + high_len + bytes <= PAGE_BYTES
    }

    /// Keeps the first `keep` entries and takes a new high fence and next page: the left page of a split.
    pub fn truncate(&mut self, keep: usize, high: &[u8], next: Option<PageId>) {
        self.rearrange(|new, page| {
            new.put_u16(AT_SLOTS, 0);
            new.put_u16(AT_GARBAGE, 0);
            new.put_u16(AT_START, PAGE_BYTES);
            new.set_fences(page.low_fence(), Some(high));
            for slot in 0..keep {
                let entry = page.entry(slot);
                new.insert_entry(slot, entry.len()).copy_from_slice(entry);
            }
            new.set_next(next);
        });
    }

    /// Appends entries `from..` of `page` to this page.
    pub fn append_entries(&mut self, page: Page<'_>, from: usize) {
        for slot in from..page.slots() {
            let entry = page.entry(slot);
            let at = self.as_page().slots();
            self.insert_entry(at, entry.len()).copy_from_slice(entry);
            if page.kind() == Some(PageKind::Leaf) {
                self.lengthen(LeafEntry::of(entry).key.len());
            }
        }
    }
}
