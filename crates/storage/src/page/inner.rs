//! Inner pages: read without a latch, as 8-byte words.
//!
//! Every access to an inner page in the pool is a relaxed load or store of an aligned word: loads by optimistic
//! readers, stores by [`store`], which puts a page that was changed in a private copy back as a whole. What a reader
//! gets may be torn between two states; it must not trust any number it reads (hence the bounds checks, `None` on
//! nonsense) and it validates the latch word before it acts on the answer. See [`crate::frame`].

use std::cmp::Ordering as Order;

use pikepole_contention::sync::atomic::{AtomicU64, Ordering};

use super::*;

pub(crate) const WORDS: usize = PAGE_BYTES / 8;
/// Bytes of an inner entry before its separator.
pub(crate) const CHILD_BYTES: usize = 4;

/// Which child of an inner page is asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Seek<'a> {
    /// The one that holds this key.
    At(&'a [u8]),
    /// The one that holds the largest key below this one.
    Before(&'a [u8]),
    /// The last one.
    Last,
}

impl Seek<'_> {
    /// Whether a page with these fences is the one.
    pub fn fits(&self, page: Page<'_>) -> bool {
        match *self {
            Seek::At(key) => page.covers(key),
            Seek::Before(key) => page.low_fence() < key && page.high_fence().is_none_or(|high| key <= high),
            Seek::Last => page.high_fence().is_none(),
        }
    }
}

/// A page's words.
#[derive(Clone, Copy)]
pub(crate) struct Words<'a>(pub &'a [AtomicU64; WORDS]);

impl Words<'_> {
    #[inline]
    fn word(self, at: usize) -> Option<u64> {
        // Relaxed: the reader's fence in `unchanged_since` orders these loads before the second look at the latch.
        self.0.get(at).map(|word| u64::from_le(word.load(Ordering::Relaxed)))
    }

    /// The two bytes at an even offset.
    fn u16(self, at: usize) -> Option<usize> {
        debug_assert!(at.is_multiple_of(2));
        Some((self.word(at / 8)? >> (8 * (at % 8))) as u16 as usize)
    }

    /// The bytes at `at` (up to the page's end, then zeros), the first one lowest.
    #[inline]
    fn u64(self, at: usize) -> Option<u64> {
        let (index, shift) = (at / 8, 8 * (at % 8));
        let low = self.word(index)? >> shift;
        if shift == 0 {
            return Some(low);
        }
        Some(low | self.word(index + 1).unwrap_or(0) << (64 - shift))
    }

    fn slot(self, slot: usize) -> Option<(usize, usize)> {
        let at = PAGE_HEADER_BYTES + SLOT_BYTES * slot;
        Some((self.u16(at)?, self.u16(at + 2)?))
    }

    /// The separator of `slot` compared with `key`.
    fn compare(self, slot: usize, key: &[u8]) -> Option<Order> {
        let (at, len) = self.slot(slot)?;
        let (mut at, mut left) = (at + CHILD_BYTES, len.checked_sub(CHILD_BYTES)?);
        if at + left > PAGE_BYTES {
            return None;
        }
        let mut key = key;
        loop {
            let take = left.min(key.len()).min(8);
            if take == 0 {
                return Some(left.cmp(&key.len()));
            }
            let mut bytes = [0; 8];
            bytes[..take].copy_from_slice(&key[..take]);
            let mask = u64::MAX >> (64 - 8 * take);
            let mine = (self.u64(at)? & mask).swap_bytes();
            match mine.cmp(&u64::from_be_bytes(bytes)) {
                Order::Equal => {}
                other => return Some(other),
            }
            at += take;
            left -= take;
            key = &key[take..];
        }
    }

    fn child(self, slot: usize) -> Option<PageId> {
        let (at, len) = self.slot(slot)?;
        (len >= CHILD_BYTES && at + len <= PAGE_BYTES).then_some(())?;
        Some(PageId(self.u64(at)? as u32))
    }

    /// The slot and page of the child asked for; `None` when the page is not consistent.
    pub fn seek(self, seek: Seek<'_>) -> Option<(usize, PageId)> {
        let slots = self.u16(AT_SLOTS)?;
        if slots == 0 || PAGE_HEADER_BYTES + SLOT_BYTES * slots > PAGE_BYTES {
            return None;
        }
        let slot = match seek {
            Seek::Last => slots - 1,
            Seek::At(key) => self.last_where(slots, |order| order != Order::Greater, key)?,
            Seek::Before(key) => self.last_where(slots, |order| order == Order::Less, key)?,
        };
        Some((slot, self.child(slot)?))
    }

    /// The last slot whose separator compares with `key` as wanted; slot 0 always does.
    fn last_where(self, slots: usize, wanted: impl Fn(Order) -> bool, key: &[u8]) -> Option<usize> {
        let (mut low, mut high) = (0, slots - 1);
        while low < high {
            let middle = (low + high).div_ceil(2);
            if wanted(self.compare(middle, key)?) { low = middle } else { high = middle - 1 }
        }
        Some(low)
    }
}

/// Puts a changed page back. The caller holds the exclusive latch.
pub(crate) fn store(words: &[AtomicU64; WORDS], page: &PageBytes) {
    for (word, bytes) in words.iter().zip(page.as_chunks::<8>().0) {
        // Relaxed: ordered by the latch word, see `crate::frame`.
        word.store(u64::from_ne_bytes(*bytes), Ordering::Relaxed);
    }
}

impl<'a> Page<'a> {
    /// The separator and child of an inner page's slot.
    pub fn inner_entry(self, slot: usize) -> (&'a [u8], PageId) {
        let entry = self.entry(slot);
        (&entry[CHILD_BYTES..], PageId(get_u32(entry, 0)))
    }

    /// The slot where a child with this separator goes.
    pub fn child_slot(self, separator: &[u8]) -> usize {
        let (mut low, mut high) = (1, self.slots().max(1));
        while low < high {
            let middle = (low + high) / 2;
            if self.inner_entry(middle).0 < separator { low = middle + 1 } else { high = middle }
        }
        low
    }

    /// Whether another child with a separator of up to this length fits.
    pub fn has_room_for_child(self, separator_max: usize) -> bool {
        self.free_bytes() >= CHILD_BYTES + separator_max + SLOT_BYTES
    }
}

impl PageMut<'_> {
    /// Gives an inner page a child. The caller has checked the room.
    pub fn add_child(&mut self, child: PageId, separator: &[u8]) {
        let slot = if self.as_page().slots() == 0 { 0 } else { self.as_page().child_slot(separator) };
        assert!(slot > 0 || separator.is_empty(), "the first child has no separator");
        let entry = self.insert_entry(slot, CHILD_BYTES + separator.len());
        entry[..CHILD_BYTES].copy_from_slice(&child.0.to_le_bytes());
        entry[CHILD_BYTES..].copy_from_slice(separator);
    }
}
