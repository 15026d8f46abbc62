//! Taking a place in the log, and knowing up to where all places are filled.
//!
//! ```text
//!                 copied                               reserved
//!   stream ---------|------|-----|------|--------|--------|--------->
//!                   |######|.....|######|##......|00000000|           # filled   . being filled   0 zeroed
//!                          ^            ^         ^
//!                    slot 3: here   slot 0: here  slot 1: open chunk, next record here       slot 2: IDLE
//! ```
//! An appender adds to `reserved` and owns the bytes in between: those of one record, or of a chunk that it then fills
//! record by record without touching anything shared (`chunk`). Its slot, which no other thread writes, says where it is
//! filling. Whoever flushes computes `copied` = the lowest place that is still being filled or that a record may still
//! be put at, or `reserved`.
//!
//! | `Slot::position` | means | who changes it |
//! |---|---|---|
//! | `IDLE` | nothing is being filled | - |
//! | a lower bound | the owner is about to reserve, at or above it | the owner, before its addition |
//! | a position | the owner fills the bytes from there | the owner, after its addition |
//! | `IDLE` again | they are filled | the owner |
//!
//! # Why nothing unfilled is ever below `copied`
//! Take an append A with position p, and a flusher that read `reserved` = r. First the append of a single record:
//! 1. r <= p: then `copied` <= r <= p.
//! 2. r > p: the flusher's Acquire load of `reserved` read the value of A's addition or of a later one. All writes to
//!    `reserved` are read-modify-writes, so the value is in the release sequence of A's AcqRel addition, and what A's
//!    thread did before its addition happened before: the flusher sees A's lower bound in the slot, or something
//!    later. A lower bound or p itself gives `copied` <= p. Something later is the IDLE that A stored with Release
//!    after filling, or a lower bound or position of a later append of the same slot, stored with Release too and
//!    above A's end: each pairs with the flusher's Acquire load of the slot, so A's bytes are seen.
//! 3. A slot that the flusher does not scan (`slots_used`, `slots_chunked`) was not registered before A's addition by the
//!    argument of 2, so r <= p.
//! 4. `copied` never goes back: what was below it stays filled.
//!
//! Now an append A into a chunk with base b <= p. The flusher reads the chunk's word first, then the position.
//! 5. r <= b: as 1. r > b: by the argument of 2 it sees TAKING of this chunk or a later word.
//! 6. The word is TAKING or open, not sealed: its position is at or below where the next record goes. If A is still to
//!    come, `copied` <= p. If A's compare-and-swap came before, the word carries it (all changes of an open word are
//!    read-modify-writes), A's position was stored before, and 2 holds for the position that is read next.
//! 7. The word is SEALED: no compare-and-swap of the owner succeeds on it any more, so no record is put behind its
//!    position; for those before it 6 holds. A word sealed while TAKING has one record to come, whose lower bound or
//!    position was stored before TAKING and is held until that record is filled.
//! 8. The word is of a later chunk, or closed: the owner left the chunk by a Release store after all its records.
//!
//! The rest of a chunk was zeroed before the chunk was opened, by a Release; so whoever sees it sealed or left sees zeros.
//!
//! A lower bound may be far below `reserved`. That only holds `copied` back for the few nanoseconds until the
//! position is stored.
//!
//! # Order
//! The records of one slot have growing positions. Beyond that a caller says which position its record must come behind
//! (`after`): the open chunk is left if it is not, and whatever is added to `reserved` next is behind everything that
//! happened before. So positions are a Lamport clock: a page's records, a transaction's records, and a commit with those
//! that it depends on are in order because their callers say so.
//!
//! # Now
//! [`now`](Reservations::now) returns a position t with: every record whose append happens after the call is at or above
//! t; of every record below t whose append had begun, what its thread did before that append is seen. It reads
//! `reserved` = t, then seals each chunk that might take a record below t. By 5 it meets each such chunk TAKING or open;
//! behind the seal, which is a read-modify-write of the word, the owner appends above t. An append that came before is in
//! the word that the seal reads: an Acquire of the owner's Release. That is what a snapshot needs: who commits below it
//! is seen to be committing.
//!
//! `sealed_to` remembers the highest t, so that of many readers one seals.
//!
//! # The soft limit
//! An appender looks at the end of its own last place, not at `reserved`, and gives up above the limit: so it reads no
//! shared line that others write often. It may pass the limit, but then knows and is refused until the limit has moved.
//! It looks when it takes a chunk, not when it fills it: the chunk's bytes count as taken.
//!
//! Why an appender never overwrites ring bytes that the flusher still reads, with limit = `written` + ring size -
//! margin and margin = slots x (largest place). Take a place A, and the largest limit L that A or any place taken
//! before it in the order of `reserved` went by. Every slot has at most one place that ends above L and went by L or
//! less, so A ends at or below L + margin = `written` of that limit + ring size: it overwrites only bytes that were
//! taken when L was set. L's Release store pairs with the Acquire load of the append that went by it, and that
//! append's addition with A's, so the flusher's reading happened before A's writing.

use crate::policy::Reservation as Policy;
use chunk::{IDLE, SEALED, Slot, Word};
use pikepole_contention::slot::SLOTS_MAX;
use pikepole_contention::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, AtomicUsize, Ordering};
use pikepole_contention::{CachePadded, Spinlock, SpinlockClass, SpinlockGuard, Statistics, fault};
use std::sync::Arc;

#[path = "chunk.rs"]
mod chunk;

pub(crate) use chunk::CHUNK_BYTES_MAX;

/// Which of the two limits holds for an append.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Space {
    /// Work that can be refused.
    Ordinary,
    /// Work that ends transactions: it may use the space kept back for it.
    KeptBack,
}

/// What appenders read and hardly anybody writes.
struct ReadMostly {
    limit_ordinary: AtomicU64,
    limit_kept_back: AtomicU64,
    slots_used: AtomicUsize,
    /// Slots from here on have never taken a chunk.
    slots_chunked: AtomicUsize,
    policy: AtomicU8,
    /// The log writer has gone to sleep without a timer: the next append wakes it.
    writer_idle: AtomicBool,
}

/// The horizons `reserved` and `copied`.
pub(crate) struct Reservations {
    reserved: CachePadded<AtomicU64>,
    shared: CachePadded<ReadMostly>,
    copied: CachePadded<AtomicU64>,
    /// No record is put below it any more.
    sealed_to: CachePadded<AtomicU64>,
    slots: Box<[CachePadded<Slot>]>,
    /// A chunk's size at most.
    chunk_bytes_max: u64,
    cache_access: Spinlock<()>,
}

/// A place that is being filled: `start` is its position. Until [`publish`](Self::publish) the flusher goes no further.
#[must_use = "a place that is not published holds the log up for ever"]
pub(crate) struct Place<'a> {
    slot: &'a Slot,
    pub start: u64,
    /// Bytes behind the record that belong to the chunk which it begins: to be zeroed before the place is published.
    pub rest: u64,
    /// Where the record ends.
    end: u64,
}

impl Place<'_> {
    /// Says that the bytes are filled.
    #[inline]
    pub fn publish(self) {
        if self.rest > 0 {
            self.open_chunk();
        }
        let ordering = if fault::planted("copy_published_relaxed") {
            Ordering::Relaxed
        } else {
            // Release pairs with the Acquire of the slot in `bound`.
            Ordering::Release
        };
        self.slot.position.store(IDLE, ordering);
    }

    fn open_chunk(&self) {
        let taking = self.slot.word(Ordering::Relaxed);
        let open = Word::open(self.end);
        if fault::planted("chunk_opened_by_store") {
            return self.slot.chunk.store(open.0, Ordering::Release);
        }
        if taking.is_live() || fault::planted("taking_not_shown") {
            // Release pairs with the Acquires in `bound` and `now`: the rest is zero for who sees it open.
            let opened = self.slot.chunk.compare_exchange(taking.0, open.0, Ordering::Release, Ordering::Relaxed);
            if opened.is_ok() {
                return;
            }
        }
        // Sealed while it was taken: this record is its only one. Release: as above.
        self.slot.chunk.swap(open.sealed().0, Ordering::Release);
    }
}

impl Reservations {
    /// All horizons at `start`; nothing may be appended until the limits are set. Chunks have at most
    /// `chunk_bytes_max`: no more than the ring's margin allows for one place.
    pub fn new(start: u64, policy: Policy, chunk_bytes_max: u64, statistics: &Arc<Statistics>) -> Self {
        Self {
            reserved: CachePadded::new(AtomicU64::new(start)),
            shared: CachePadded::new(ReadMostly {
                limit_ordinary: AtomicU64::new(0),
                limit_kept_back: AtomicU64::new(0),
                slots_used: AtomicUsize::new(0),
                slots_chunked: AtomicUsize::new(0),
                policy: AtomicU8::new(policy as u8),
                writer_idle: AtomicBool::new(false),
            }),
            copied: CachePadded::new(AtomicU64::new(start)),
            sealed_to: CachePadded::new(AtomicU64::new(start)),
            slots: (0..SLOTS_MAX).map(|_| CachePadded::new(Slot::new(start))).collect(),
            chunk_bytes_max,
            cache_access: Spinlock::new(SpinlockClass::LOGCACHE_ACCESS, statistics, ()),
        }
    }

    /// Takes `bytes` of the stream for the owner of `slot`, at or above `after`, or None when the limit is passed as far
    /// as this slot knows. `after` is the end of a place that was taken before, or less.
    #[inline]
    pub fn take(&self, slot: usize, bytes: u64, space: Space, after: u64) -> Option<Place<'_>> {
        let own = &*self.slots[slot];
        let word = own.word(Ordering::Relaxed);
        let start = word.position();
        if word.is_open() && start >= after && start + bytes <= own.chunk_end.load(Ordering::Relaxed) {
            own.assert_idle();
            // Release, as in `reserve`: it may be read in place of the IDLE before it.
            own.position.store(start, Ordering::Release);
            if claim(own, word, bytes) {
                return Some(Place { slot: own, start, rest: 0, end: start + bytes });
            }
            // It was sealed. Release: as above.
            own.position.store(IDLE, Ordering::Release);
        }
        self.take_new(own, slot, bytes, space)
    }

    /// Takes a place at the end of the stream: a record's, or, under CHUNK, a chunk's.
    fn take_new<'a>(&'a self, own: &'a Slot, slot: usize, bytes: u64, space: Space) -> Option<Place<'a>> {
        let shared = &*self.shared;
        // Relaxed: slots_used is ordered for the flusher by the addition below, and a policy read late is the old one.
        if slot >= shared.slots_used.load(Ordering::Relaxed) {
            shared.slots_used.fetch_max(slot + 1, Ordering::Relaxed);
        }
        let policy = shared.policy.load(Ordering::Relaxed);
        let last_end = own.last_end.load(Ordering::Relaxed);
        let word = own.word(Ordering::Relaxed);
        if word.holds_records() {
            own.leave_chunk(word);
            // Release pairs with the Acquires in `bound` and `now`: all records of the chunk are seen.
            own.chunk.swap(Word::closed(word.position()).0, Ordering::Release);
        }
        if policy == Policy::Chunk as u8 {
            let size = own.chunk_wanted(bytes, self.chunk_bytes_max);
            // Room that is kept back is not for the records of others that would fill the chunk.
            if size > 0 && last_end + size <= self.acquire_limit(Space::Ordinary) {
                return Some(self.take_chunk(own, slot, bytes, size));
            }
        }
        if last_end + bytes > self.acquire_limit(space) {
            return None;
        }
        own.assert_idle();
        if policy == Policy::Chunk as u8 {
            own.took_record(bytes);
        }
        let start = if policy == Policy::Spinlock as u8 {
            let _holder = self.cache_access.lock();
            // The lower bound is the position itself, unless the policy is just being changed.
            self.reserve(own, self.reserved.load(Ordering::Relaxed), bytes)
        } else {
            self.reserve(own, last_end, bytes)
        };
        own.last_end.store(start + bytes, Ordering::Relaxed);
        Some(Place { slot: own, start, rest: 0, end: start + bytes })
    }

    #[inline]
    fn acquire_limit(&self, space: Space) -> u64 {
        let limit = match space {
            Space::Ordinary => &self.shared.limit_ordinary,
            Space::KeptBack => &self.shared.limit_kept_back,
        };
        let ordering = if fault::planted("limit_read_relaxed") {
            Ordering::Relaxed
        } else {
            // Acquire pairs with the Release in `set_limits`.
            Ordering::Acquire
        };
        limit.load(ordering)
    }

    /// Takes a chunk of `size` and in it the place of its first record.
    fn take_chunk<'a>(&'a self, own: &'a Slot, slot: usize, bytes: u64, size: u64) -> Place<'a> {
        if slot >= self.shared.slots_chunked.load(Ordering::Relaxed) {
            // Relaxed: ordered by the addition, as slots_used.
            self.shared.slots_chunked.fetch_max(slot + 1, Ordering::Relaxed);
        }
        own.assert_idle();
        let last_end = own.last_end.load(Ordering::Relaxed);
        // Release, as in `reserve`; before TAKING, which who sees it expects to be held back by it.
        own.position.store(last_end, Ordering::Release);
        if !fault::planted("taking_not_shown") {
            // Release pairs with the Acquires in `bound` and `now`.
            own.chunk.swap(Word::taking(last_end).0, Ordering::Release);
        }
        let base = self.reserve(own, last_end, size);
        own.last_end.store(base + size, Ordering::Relaxed);
        own.took_chunk(base + size, size);
        Place { slot: own, start: base, rest: size - bytes, end: base + bytes }
    }

    #[inline]
    fn reserve(&self, own: &Slot, lower_bound: u64, bytes: u64) -> u64 {
        let ordering = if fault::planted("lower_bound_relaxed") {
            Ordering::Relaxed
        } else {
            // Release pairs with the Acquire of the slot in `bound`: it may be read in place of the IDLE before it.
            Ordering::Release
        };
        if !fault::planted("slot_set_after_add") {
            own.position.store(lower_bound, ordering);
        }
        // The Release half pairs with the Acquires of `reserved` in `bound` and `now` (the lower bound and TAKING are
        // seen there), the Acquire half with the Release in `sleep_unless_more` (the writer that sleeps is seen here).
        let start = self.reserved.fetch_add(bytes, Ordering::AcqRel);
        // Release: as the lower bound.
        own.position.store(start, Ordering::Release);
        start
    }

    /// Computes `copied` anew. For the holder of the flusher role only: nobody else moves it.
    ///
    /// Chunks that hold it back are sealed if records lie behind them and their next place is below `seal_below`: so
    /// whoever wants all that was appended (MAX) never waits for an appender that does not come back. `copied` is never
    /// above the last record: padding behind it is left for later.
    pub fn publish_copied(&self, seal_below: u64) -> u64 {
        let last = self.records_end();
        let copied = self.bound(seal_below.min(last)).min(last).max(self.copied.load(Ordering::Relaxed));
        // Relaxed: readers of this word only show it, or want a lower bound of what is still to come. The flusher itself
        // carries the order to the bytes.
        self.copied.store(copied, Ordering::Relaxed);
        copied
    }

    /// The lowest position that is being filled, or that a record may still be put at.
    fn bound(&self, seal_below: u64) -> u64 {
        // Acquire pairs with the AcqRel addition in `reserve`.
        let mut bound = self.reserved.load(Ordering::Acquire);
        let chunked = self.shared.slots_chunked.load(Ordering::Relaxed);
        let used = self.shared.slots_used.load(Ordering::Relaxed);
        for (slot, own) in self.slots[..used].iter().enumerate() {
            if slot < chunked {
                // Acquire pairs with the Releases of the owner: in `claim`, `open_chunk`, `take_new`, `take_chunk`.
                let mut word = own.word(Ordering::Acquire);
                if word.is_open() && word.position() < seal_below {
                    word = seal(own);
                }
                if word.is_live() {
                    bound = bound.min(word.position());
                }
            }
            // Acquire pairs with the Release stores in `take`, `reserve` and `publish`.
            bound = bound.min(own.position.load(Ordering::Acquire));
        }
        bound
    }

    /// Below it, all records there will ever be are filled: a `copied` of this moment, for those who are not flushing.
    pub fn settled(&self) -> u64 {
        self.bound(0)
    }

    /// The end of the last record. What ends there, or before, was placed before the call; but for records being
    /// appended at this moment, all do.
    pub fn records_end(&self) -> u64 {
        let reserved = self.reserved.load(Ordering::Acquire);
        if self.shared.slots_chunked.load(Ordering::Relaxed) == 0 {
            return reserved;
        }
        let used = self.shared.slots_used.load(Ordering::Relaxed);
        let ends = self.slots[..used].iter().map(|own| own.records_end(own.word(Ordering::Relaxed)));
        // No slot was used yet: the log's start.
        ends.max().unwrap_or(reserved)
    }

    /// The present as a position: see the module.
    pub fn now(&self) -> u64 {
        // Acquire pairs with the AcqRel addition in `reserve`.
        let now = self.reserved.load(Ordering::Acquire);
        let chunked = self.shared.slots_chunked.load(Ordering::Relaxed);
        // Acquire pairs with the Release below: what the one who sealed has seen is seen here.
        if chunked == 0 || self.sealed_to.load(Ordering::Acquire) >= now {
            return now;
        }
        for own in &self.slots[..chunked] {
            // Acquire pairs with the Releases of the owner.
            let word = own.word(Ordering::Acquire);
            if word.is_live() && word.position() < now && !fault::planted("snapshot_does_not_seal") {
                seal(own);
            }
        }
        // Release pairs with the Acquire above.
        self.sealed_to.fetch_max(now, Ordering::Release);
        now
    }

    /// Everything taken so far.
    pub fn reserved(&self) -> u64 {
        self.reserved.load(Ordering::Relaxed)
    }

    /// Up to where all places were filled when somebody last flushed; no record is put below it any more.
    pub fn copied(&self) -> u64 {
        self.copied.load(Ordering::Relaxed)
    }

    /// The end of the slot's last place.
    pub fn last_end(&self, slot: usize) -> u64 {
        self.slots[slot].last_end.load(Ordering::Relaxed)
    }

    /// Bytes that lie between records, and bytes taken behind them for records to come.
    pub fn padding(&self) -> (u64, u64) {
        let each = self.slots.iter().map(|slot| slot.padding());
        each.fold((0, 0), |sum, slot| (sum.0 + slot.0, sum.1 + slot.1))
    }

    /// Chunks taken so far.
    pub fn chunks(&self) -> u64 {
        self.slots.iter().map(|slot| slot.chunks()).sum()
    }

    /// The limit for appends of this kind.
    pub fn limit(&self, space: Space) -> u64 {
        match space {
            Space::Ordinary => self.shared.limit_ordinary.load(Ordering::Relaxed),
            Space::KeptBack => self.shared.limit_kept_back.load(Ordering::Relaxed),
        }
    }

    /// Sets both limits. The caller has read all ring bytes that they set free.
    pub fn set_limits(&self, ordinary: u64, kept_back: u64) {
        // Release pairs with the Acquire in `acquire_limit`.
        self.shared.limit_ordinary.store(ordinary, Ordering::Release);
        self.shared.limit_kept_back.store(kept_back, Ordering::Release);
    }

    /// Changes the policy; appends that are under way end under the old one, which mixes with the new one safely.
    pub fn set_policy(&self, policy: Policy) {
        self.shared.policy.store(policy as u8, Ordering::Relaxed);
        // Open chunks would be filled to their ends.
        self.now();
    }

    /// The policy in force.
    pub fn policy(&self) -> Policy {
        match self.shared.policy.load(Ordering::Relaxed) {
            0 => Policy::Spinlock,
            1 => Policy::Atomic,
            _ => Policy::Chunk,
        }
    }

    /// LOGCACHE_ACCESS under that policy, to close a block or to move the horizon `written`; nothing under the others. A leaf.
    #[inline]
    pub fn access(&self) -> Option<SpinlockGuard<'_, ()>> {
        // Relaxed: a policy read late is the old one, and the lock orders nothing that the roles do not.
        let is_classic = self.shared.policy.load(Ordering::Relaxed) == Policy::Spinlock as u8;
        is_classic.then(|| self.cache_access.lock())
    }

    /// Adds to the bytes that the slot's transactions may need to roll back.
    #[inline]
    pub fn add_undo_bytes(&self, slot: usize, bytes: i64) {
        let own = &self.slots[slot].undo_bytes;
        own.store(own.load(Ordering::Relaxed) + bytes, Ordering::Relaxed);
    }

    /// The sum of those bytes. A transaction may move from slot to slot, so only the sum means something.
    pub fn undo_bytes(&self) -> u64 {
        let sum: i64 = self.slots.iter().map(|slot| slot.undo_bytes.load(Ordering::Relaxed)).sum();
        sum.max(0) as u64
    }

    /// Whether the log writer sleeps until an append wakes it.
    #[inline]
    pub fn writer_is_idle(&self) -> bool {
        self.shared.writer_idle.load(Ordering::Relaxed)
    }

    /// Marks the log writer as asleep unless a record lies above `seen`, or is being appended. Returns whether it may
    /// sleep.
    ///
    /// Why no append is missed: the addition of 0 and an append's addition are ordered. If the append's comes first,
    /// this one returns its end. If it comes second, it reads from this one, whose Release pairs with its Acquire, so
    /// the append sees the flag. For an append into a chunk the same holds of the chunk's word, which is read here by a
    /// read-modify-write that changes nothing.
    pub fn sleep_unless_more(&self, seen: u64) -> bool {
        self.shared.writer_idle.store(true, Ordering::Relaxed);
        let reserved = if fault::planted("writer_looks_with_a_load") {
            self.reserved.load(Ordering::Acquire)
        } else {
            // Release: as said above. Acquire pairs with the Release half of the addition in `reserve`.
            self.reserved.fetch_add(0, Ordering::AcqRel)
        };
        let sleeps = reserved == seen || self.has_nothing_above(seen);
        if !sleeps {
            self.wake_writer();
        }
        sleeps
    }

    fn has_nothing_above(&self, seen: u64) -> bool {
        let chunked = self.shared.slots_chunked.load(Ordering::Relaxed);
        let used = self.shared.slots_used.load(Ordering::Relaxed);
        chunked > 0
            && self.slots[..used].iter().all(|own| {
                let word = if fault::planted("writer_looks_at_chunks_with_a_load") {
                    own.word(Ordering::Acquire)
                } else {
                    // Release pairs with the Acquire in `claim`; Acquire with its Release.
                    Word(own.chunk.fetch_or(0, Ordering::AcqRel))
                };
                // Acquire pairs with the Release stores in `take`, `reserve` and `publish`: who is IDLE has stored the
                // end of its last place.
                own.position.load(Ordering::Acquire) == IDLE && own.records_end(word) <= seen
            })
    }

    /// Holds the spinlock as an appender does.
    #[cfg(all(test, not(loom)))]
    pub fn hold_for_test(&self) -> impl Drop {
        self.cache_access.lock()
    }

    /// As if each slot had appended for long: its next append takes a chunk.
    #[cfg(all(test, any(loom, shuttle)))]
    pub fn appended_for_test(&self, bytes: u64) {
        self.slots.iter().for_each(|slot| slot.appended_for_test(bytes));
    }

    /// Marks the log writer as awake.
    pub fn wake_writer(&self) {
        self.shared.writer_idle.store(false, Ordering::Relaxed);
    }
}

/// The owner moves on in its open chunk. False: it was sealed.
#[inline]
fn claim(own: &Slot, word: Word, bytes: u64) -> bool {
    if fault::planted("chunk_claimed_by_store") {
        own.chunk.store(word.behind(bytes).0, Ordering::Release);
        return true;
    }
    // The Release half pairs with the Acquires in `bound` and `now` (the position is seen there), the Acquire half with
    // the Release in `has_nothing_above` (the writer that sleeps is seen here).
    own.chunk.compare_exchange(word.0, word.behind(bytes).0, Ordering::AcqRel, Ordering::Relaxed).is_ok()
}

/// Seals a slot's chunk, if it has one; returns its word.
#[cold]
fn seal(own: &Slot) -> Word {
    if fault::planted("chunk_sealed_by_store") {
        let word = own.word(Ordering::Acquire).sealed();
        own.chunk.store(word.0, Ordering::Release);
        return word;
    }
    // Acquire pairs with the Releases of the owner. Release: an operation that changes the word must carry on what the
    // owner's release began.
    Word(own.chunk.fetch_or(SEALED, Ordering::AcqRel)).sealed()
}

#[cfg(all(test, loom))]
#[path = "reservation_models.rs"]
mod models;
