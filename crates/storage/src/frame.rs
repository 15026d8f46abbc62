//! The header of a frame: the latch word of the page in it, and what the pool must know of it.
//!
//! The word has three parts: `| version 48 | sharers 15 | exclusive 1 |`.
//!
//! | word | means | goes to |
//! |---|---|---|
//! | `v, 0, 0` | free | `v,0,1` by a compare-and-swap (Acquire); `v,1,0` likewise |
//! | `v, n, 0` | n readers hold it | `v,n+1,0`; `v,n-1,0` by a subtraction (Release) |
//! | `v, 0, 1` | one writer holds it | `v+1,0,0` by a store (Release) |
//!
//! A reader without a latch (an optimistic one) notes the word, reads, and compares: an unchanged version and a clear
//! exclusive bit prove that nothing was written meanwhile. Why its reads are no data races:
//!
//! - only pages of level > 0 (inner pages) are read so, always by relaxed loads of aligned 8-byte words, and they are
//!   written only by relaxed stores of such words ([`crate::page::inner::store`]);
//! - the level is read from this header, after the word, before any byte of the page;
//! - a frame that goes from level > 0 to level 0, whose bytes are then written plainly, first takes the exclusive bit
//!   and then waits until every optimistic reader that could have seen the old level has left ([`Readers::quiesce`]).

use pikepole_contention::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering, fence};
use pikepole_contention::sync::hint::spin_loop;
use pikepole_contention::sync::thread;
use pikepole_contention::{CachePadded, slot};

use crate::page::Lines;

const EXCLUSIVE: u64 = 1;
const SHARER: u64 = 2;
const SHARERS: u64 = 0xfffe;
const VERSION: u64 = 1 << 16;

/// Of `FrameHeader::io`: nothing is under way.
pub(crate) const IO_IDLE: u8 = 0;
/// Of `FrameHeader::io`: the page's bytes were copied and are being written; the frame must not lose its page.
pub(crate) const IO_WRITING: u8 = 1;

/// What the pool knows of a frame. All zero is a frame without a page.
#[repr(C, align(64))]
pub(crate) struct FrameHeader {
    word: AtomicU64,
    /// The page's number plus 1; 0: none. Changes under the exclusive latch.
    page: AtomicU32,
    /// The page's level. Changes under the exclusive latch.
    pub level: AtomicU8,
    /// Set when the page is used, cleared by the clock hand.
    pub referenced: AtomicU8,
    /// `IO_*`.
    pub io: AtomicU8,
    /// 1: the page never leaves the pool (pages of the allocation map).
    pub pinned: AtomicU8,
    /// Start of the record that first changed the page since it was last copied for writing; 0: clean.
    pub rec_lsn: AtomicU64,
    /// Start of the record that last rebuilt the page as a whole; 0: unknown (it was read from disk).
    pub format_lsn: AtomicU64,
    /// The lines in which the page may differ from the one on disk, low half first. Changes under the exclusive latch, and by
    /// the writer of pages under a shared one.
    changed: [AtomicU64; 2],
}

impl FrameHeader {
    pub fn page(&self) -> Option<u32> {
        // Relaxed: a holder of the latch knows it stable; others check it again under the latch or validate.
        self.page.load(Ordering::Relaxed).checked_sub(1)
    }

    pub fn set_page(&self, page: Option<u32>) {
        self.page.store(page.map_or(0, |page| page + 1), Ordering::Relaxed);
    }

    /// The lines in which the page may differ from the one on disk.
    #[inline]
    pub fn changed(&self) -> Lines {
        // Relaxed, here and below: the latch keeps the halves together.
        let [low, high] = &self.changed;
        Lines(u128::from(low.load(Ordering::Relaxed)) | u128::from(high.load(Ordering::Relaxed)) << 64)
    }

    #[inline]
    pub fn set_changed(&self, lines: Lines) {
        self.changed[0].store(lines.0 as u64, Ordering::Relaxed);
        self.changed[1].store((lines.0 >> 64) as u64, Ordering::Relaxed);
    }

    #[inline]
    pub fn try_exclusive(&self) -> bool {
        let word = self.word.load(Ordering::Relaxed);
        self.try_exclusive_from(word)
    }

    /// Takes the latch if the word is still `word`, as an optimistic reader saw it, and free.
    #[inline]
    pub fn try_exclusive_from(&self, word: u64) -> bool {
        if word & (EXCLUSIVE | SHARERS) != 0 {
            return false;
        }
        // Acquire pairs with the Release of the former holders.
        let taken = self.word.compare_exchange(word, word | EXCLUSIVE, Ordering::Acquire, Ordering::Relaxed).is_ok();
        if taken {
            // Pairs with the fence in `unchanged_since`: who reads bytes written from here on sees the bit.
            fence(Ordering::Release);
        }
        taken
    }

    #[inline]
    pub fn release_exclusive(&self) {
        let word = self.word.load(Ordering::Relaxed);
        debug_assert!(word & EXCLUSIVE != 0 && word & SHARERS == 0);
        // Release pairs with the Acquire of the next holder or optimistic reader.
        self.word.store((word & !EXCLUSIVE).wrapping_add(VERSION), Ordering::Release);
    }

    #[inline]
    pub fn try_shared(&self) -> bool {
        let word = self.word.load(Ordering::Relaxed);
        if word & EXCLUSIVE != 0 || word & SHARERS == SHARERS {
            return false;
        }
        // Acquire pairs with the Release of the last writer.
        self.word.compare_exchange(word, word + SHARER, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    #[inline]
    pub fn release_shared(&self) {
        // Release pairs with the Acquire of the next writer: our reads are over.
        let word = self.word.fetch_sub(SHARER, Ordering::Release);
        debug_assert!(word & SHARERS != 0);
    }

    /// The word for an optimistic read; `None` while a writer holds the latch.
    #[inline]
    pub fn optimistic(&self) -> Option<u64> {
        // Acquire pairs with the Release of the last writer.
        let word = self.word.load(Ordering::Acquire);
        (word & EXCLUSIVE == 0).then_some(word)
    }

    /// Whether what was read since `word` was noted is what the page held then.
    #[inline]
    pub fn unchanged_since(&self, word: u64) -> bool {
        // Pairs with the fence in `try_exclusive_from`.
        fence(Ordering::Acquire);
        let now = self.word.load(Ordering::Relaxed);
        now & EXCLUSIVE == 0 && now & !SHARERS == word & !SHARERS
    }

    pub fn is_held_exclusively(&self) -> bool {
        // Acquire pairs with the Release of the writer: who sees the latch free sees its marks.
        self.word.load(Ordering::Acquire) & EXCLUSIVE != 0
    }
}

/// Who reads inner pages without a latch right now: one counter a slot, odd inside a read.
pub(crate) struct Readers {
    counters: Box<[CachePadded<AtomicU64>]>,
}

/// Leaves the read section when dropped.
pub(crate) struct ReadSection<'a>(&'a AtomicU64);

impl Readers {
    pub fn new() -> Readers {
        Readers { counters: (0..slot::SLOTS_MAX).map(|_| CachePadded::new(AtomicU64::new(0))).collect() }
    }

    #[inline]
    pub fn enter(&self) -> ReadSection<'_> {
        let counter = &*self.counters[slot::current()];
        let count = counter.load(Ordering::Relaxed);
        debug_assert!(count & 1 == 0, "read sections do not nest");
        counter.store(count + 1, Ordering::Relaxed);
        // Pairs with the fence in `quiesce`: either the writer sees this count odd, or this reader sees the latch
        // word that the writer took.
        fence(Ordering::SeqCst);
        ReadSection(counter)
    }

    /// Returns when every reader that was inside has left. The caller holds the exclusive latch of the frame whose
    /// level is about to become 0, and is in no section itself.
    pub fn quiesce(&self) {
        // Pairs with the fence in `enter`.
        fence(Ordering::SeqCst);
        for counter in &self.counters {
            // Acquire pairs with the Release in `ReadSection::drop`.
            let count = counter.load(Ordering::Acquire);
            let mut spins = 0;
            while count & 1 != 0 && counter.load(Ordering::Acquire) == count {
                spins += 1;
                if spins % 64 == 0 { thread::yield_now() } else { spin_loop() }
            }
        }
    }
}

impl Drop for ReadSection<'_> {
    #[inline]
    fn drop(&mut self) {
        let count = self.0.load(Ordering::Relaxed);
        // Release pairs with the Acquire in `quiesce`: the section's reads are over.
        self.0.store(count + 1, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_word_goes_through_its_states() {
        assert_eq!(size_of::<FrameHeader>(), 64);
        let frame = FrameHeader {
            word: AtomicU64::new(0),
            page: AtomicU32::new(0),
            level: AtomicU8::new(0),
            referenced: AtomicU8::new(0),
            io: AtomicU8::new(0),
            pinned: AtomicU8::new(0),
            rec_lsn: AtomicU64::new(0),
            format_lsn: AtomicU64::new(0),
            changed: [AtomicU64::new(0), AtomicU64::new(0)],
        };
        let seen = frame.optimistic().expect("free");
        assert!(frame.try_shared() && frame.try_shared());
        assert!(!frame.try_exclusive());
        assert!(frame.unchanged_since(seen), "readers change nothing");
        frame.release_shared();
        frame.release_shared();
        assert!(frame.try_exclusive());
        assert!(frame.is_held_exclusively() && frame.optimistic().is_none() && !frame.try_shared());
        frame.release_exclusive();
        assert!(!frame.unchanged_since(seen));
        assert!(!frame.try_exclusive_from(seen));
    }

    #[test]
    fn quiesce_waits_for_readers_inside() {
        let readers = Readers::new();
        readers.quiesce();
        drop(readers.enter());
        readers.quiesce();
        let left = AtomicU64::new(0);
        let section = readers.enter();
        thread::scope(|scope| {
            let waiter = scope.spawn(|| {
                readers.quiesce();
                left.load(Ordering::SeqCst)
            });
            left.store(1, Ordering::SeqCst);
            drop(section);
            assert_eq!(waiter.join().expect("no panic"), 1);
        });
    }
}
