//! A slot's part of the reservation: where it fills, and the chunk of the stream that it fills record by record.
//!
//! ```text
//!             base             next             end
//!   stream ----|################|0000000000000000|------
//!               records so far    zeroed: padding
//!                                 unless filled
//! ```
//! The chunk's word is a position and a state:
//!
//! | state | the position is | goes to |
//! |---|---|---|
//! | closed | where the last chunk's records ended | taking: the owner, before it adds to `reserved` |
//! | taking | a lower bound of the chunk's base | open: the owner, by compare-and-swap, with the first record filled and the rest zeroed |
//! | open | where the next record goes | open, further on: the owner, by compare-and-swap; closed: the owner |
//! | + SEALED | nothing is placed behind it | the bit is set by anybody; it goes with the owner's next swap |
//!
//! Every change is a read-modify-write: so whoever reads the word has read from the owner's last release, whatever others
//! did to it since.
//!
//! Whoever seals an open chunk reads by the same operation where its records end. The owner learns of it because its
//! next compare-and-swap fails; then it takes another chunk. A chunk that is sealed while it is being taken holds the one
//! record that it is taken for.
//!
//! What is left of a chunk is zeros, which readers skip: the owner zeroes it before it opens the chunk, so that sealing
//! is one operation and nobody has to clean up behind an owner that does not come back.
//!
//! How large a chunk is. Padding is paid when a chunk ends early: sealed by a flush or a snapshot, or left because a
//! record must come behind another slot's. So a chunk is a sixteenth of what the slot has appended since then, within
//! bounds, and a whole number of records like the one that it is taken for; an early end takes that back by more than half.
//! Where chunks always end early, records are reserved one by one.

use pikepole_contention::sync::atomic::{AtomicI64, AtomicU64, Ordering};

/// What a slot's position holds while its owner fills nothing.
pub(super) const IDLE: u64 = u64::MAX;

/// A chunk's size at most, in bytes.
pub(crate) const CHUNK_BYTES_MAX: u64 = 16 << 10;

/// A chunk is so large a part of what was appended since the last early end.
const SHARE: u64 = 16;

const OPEN: u64 = 1;
const TAKING: u64 = 2;
pub(super) const SEALED: u64 = 4;
const SHIFT: u32 = 3;

/// The word of a chunk: see the module.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Word(pub u64);

impl Word {
    pub fn closed(position: u64) -> Self {
        Self(position << SHIFT)
    }

    pub fn open(position: u64) -> Self {
        Self(position << SHIFT | OPEN)
    }

    pub fn taking(lower_bound: u64) -> Self {
        Self(lower_bound << SHIFT | TAKING)
    }

    pub fn sealed(self) -> Self {
        Self(self.0 | SEALED)
    }

    /// The same with its next record `bytes` further on.
    #[inline]
    pub fn behind(self, bytes: u64) -> Self {
        Self(self.0 + (bytes << SHIFT))
    }

    #[inline]
    pub fn position(self) -> u64 {
        self.0 >> SHIFT
    }

    /// A record can be placed at the position.
    #[inline]
    pub fn is_open(self) -> bool {
        self.0 & (OPEN | SEALED) == OPEN
    }

    /// Records may come at or above the position.
    #[inline]
    pub fn is_live(self) -> bool {
        self.0 & (OPEN | TAKING) != 0 && self.0 & SEALED == 0
    }

    /// The chunk was not left yet: the position is where its records end.
    #[inline]
    pub fn holds_records(self) -> bool {
        self.0 & OPEN != 0
    }
}

/// What belongs to one slot; written by its owner alone but for the SEALED bit.
pub(super) struct Slot {
    /// IDLE, or where the owner fills, or a lower bound of that.
    pub position: AtomicU64,
    /// The chunk's word.
    pub chunk: AtomicU64,
    /// Where the chunk ends.
    pub chunk_end: AtomicU64,
    /// Its size.
    chunk_bytes: AtomicU64,
    /// The end of the last place taken, chunk or record: at or below `reserved`.
    pub last_end: AtomicU64,
    /// Bytes that the open transactions of this slot may need to roll back; the sum over all slots counts.
    pub undo_bytes: AtomicI64,
    /// Bytes appended since a chunk ended early.
    appended: AtomicU64,
    /// What was left of the chunks that the owner has left, in bytes, since the log was opened.
    padding: AtomicU64,
    /// Chunks taken since then.
    chunks: AtomicU64,
}

/// Adds to a value that only its owner changes.
fn add(value: &AtomicU64, more: u64) {
    value.store(value.load(Ordering::Relaxed) + more, Ordering::Relaxed);
}

impl Slot {
    pub fn new(start: u64) -> Self {
        Self {
            position: AtomicU64::new(IDLE),
            chunk: AtomicU64::new(Word::closed(start).0),
            chunk_end: AtomicU64::new(start),
            chunk_bytes: AtomicU64::new(0),
            last_end: AtomicU64::new(start),
            undo_bytes: AtomicI64::new(0),
            appended: AtomicU64::new(0),
            padding: AtomicU64::new(0),
            chunks: AtomicU64::new(0),
        }
    }

    pub fn word(&self, ordering: Ordering) -> Word {
        Word(self.chunk.load(ordering))
    }

    /// The line is the owner's, and it is about to write it: looking costs nothing.
    #[inline]
    pub fn assert_idle(&self) {
        let is_idle = self.position.load(Ordering::Relaxed) == IDLE;
        assert!(is_idle, "a slot fills one place at a time: no append within an append");
    }

    /// The owner leaves its chunk, if it has one; the caller stores the next word. What is left of it is padding.
    pub fn leave_chunk(&self, word: Word) {
        if !word.holds_records() {
            return;
        }
        let size = self.chunk_bytes.load(Ordering::Relaxed);
        let rest = self.chunk_end.load(Ordering::Relaxed) - word.position();
        let appended = self.appended.load(Ordering::Relaxed);
        let used = size - rest;
        let appended = if rest * 8 > size { appended * used / (2 * size) } else { appended + used };
        self.appended.store(appended.min(SHARE * CHUNK_BYTES_MAX), Ordering::Relaxed);
        add(&self.padding, rest);
    }

    /// How large a chunk the owner should take for a record of `bytes`; 0: none.
    pub fn chunk_wanted(&self, bytes: u64, most: u64) -> u64 {
        let size = (self.appended.load(Ordering::Relaxed) / SHARE).min(most);
        let records = size / bytes;
        if records >= 2 { records * bytes } else { 0 }
    }

    /// The owner took a chunk.
    pub fn took_chunk(&self, end: u64, size: u64) {
        self.chunk_end.store(end, Ordering::Relaxed);
        self.chunk_bytes.store(size, Ordering::Relaxed);
        add(&self.chunks, 1);
    }

    /// The owner reserved a single record although it might have taken a chunk.
    pub fn took_record(&self, bytes: u64) {
        let appended = self.appended.load(Ordering::Relaxed) + bytes;
        self.appended.store(appended.min(SHARE * CHUNK_BYTES_MAX), Ordering::Relaxed);
    }

    /// As if the slot had appended for long.
    #[cfg(all(test, any(loom, shuttle)))]
    pub fn appended_for_test(&self, bytes: u64) {
        self.appended.store(bytes, Ordering::Relaxed);
    }

    /// Where the slot's last record ends, or, for a moment, a bit more.
    pub fn records_end(&self, word: Word) -> u64 {
        if word.holds_records() { word.position() } else { self.last_end.load(Ordering::Relaxed) }
    }

    /// Padding so far, and the rest of the chunk that is open or sealed now.
    pub fn padding(&self) -> (u64, u64) {
        let word = self.word(Ordering::Relaxed);
        let end = self.chunk_end.load(Ordering::Relaxed);
        let rest = if word.holds_records() { end.saturating_sub(word.position()) } else { 0 };
        (self.padding.load(Ordering::Relaxed), rest)
    }

    pub fn chunks(&self) -> u64 {
        self.chunks.load(Ordering::Relaxed)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn words_keep_position_and_state_apart() {
        let word = Word::open(1 << 58);
        assert!(word.is_open() && word.is_live() && word.holds_records());
        assert_eq!(word.behind(48), Word::open((1 << 58) + 48));
        let sealed = word.sealed();
        assert!(!sealed.is_open() && !sealed.is_live() && sealed.holds_records());
        assert_eq!(sealed.position(), 1 << 58);
        let taking = Word::taking(7);
        assert!(!taking.is_open() && taking.is_live() && !taking.holds_records());
        assert!(!taking.sealed().is_live());
        let closed = Word::closed(7);
        assert!(!closed.is_open() && !closed.is_live() && !closed.sealed().is_live());
    }

    #[test]
    fn chunks_grow_while_they_are_filled_and_shrink_when_they_end_early() {
        let slot = Slot::new(0);
        assert_eq!(slot.chunk_wanted(48, CHUNK_BYTES_MAX), 0, "the first records are reserved one by one");
        slot.took_record(32 * 48);
        assert_eq!(slot.chunk_wanted(48, CHUNK_BYTES_MAX), 96);
        let mut end = 0;
        let mut fill = |used: fn(u64) -> u64| {
            let size = slot.chunk_wanted(48, CHUNK_BYTES_MAX);
            slot.took_chunk(end + size, size);
            slot.leave_chunk(Word::open(end + used(size)));
            end += size;
            size
        };
        let sizes: Vec<u64> = (0..100).map(|_| fill(|size| size)).collect();
        assert!(sizes.is_sorted() && sizes[99] > CHUNK_BYTES_MAX - 48, "{sizes:?}");
        let sizes: Vec<u64> = (0..8).map(|_| fill(|size| size / 2)).take_while(|size| *size > 0).collect();
        assert!(sizes.windows(2).all(|pair| pair[1] < pair[0] / 2) && sizes.len() < 7, "{sizes:?}");
        // One record of a chunk used: at once single records again.
        slot.took_record(1 << 20);
        fill(|_| 48);
        assert_eq!(slot.chunk_wanted(48, CHUNK_BYTES_MAX), 0);
        assert!(slot.padding().0 > 0);
    }
}
