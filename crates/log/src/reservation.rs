//! Taking a place in the log, and knowing up to where all places are filled.
//!
//! ```text
//!                 copied                        reserved
//!   stream ---------|------|-----|------|---------|--------->
//!                   |######|.....|######|.........|           # filled   . being filled
//!                          ^            ^
//!                    slot 3: here   slot 0: here              slots 1, 2: IDLE
//! ```
//! An appender adds its length to `reserved` and owns the bytes in between. Its slot, which no other thread writes,
//! says where it is filling. Whoever flushes computes `copied` = the lowest place that is still being filled, or
//! `reserved`.
//!
//! | `Slot::position` | means | who changes it |
//! |---|---|---|
//! | `IDLE` | nothing is being filled | - |
//! | a lower bound | the owner is about to reserve, at or above it | the owner, before its addition |
//! | a position | the owner fills the bytes from there | the owner, after its addition |
//! | `IDLE` again | they are filled | the owner |
//!
//! Why nothing unfilled is ever below `copied`. Take an append A with position p, and a flusher that read `reserved`
//! = r.
//! 1. r <= p: then `copied` <= r <= p.
//! 2. r > p: the flusher's Acquire load of `reserved` read the value of A's addition or of a later one. All writes to
//!    `reserved` are read-modify-writes, so the value is in the release sequence of A's AcqRel addition, and what A's
//!    thread did before its addition happened before: the flusher sees A's lower bound in the slot, or something
//!    later. A lower bound or p itself gives `copied` <= p. Something later is the IDLE that A stored with Release
//!    after filling, or a lower bound or position of a later append of the same slot, stored with Release too and
//!    above A's end: each pairs with the flusher's Acquire load of the slot, so A's bytes are seen.
//! 3. A slot that the flusher does not scan (`slots_used`) was not registered before A's addition by the argument of
//!    2, so r <= p.
//! 4. `copied` never goes back: what was below it stays filled.
//!
//! A lower bound may be far below `reserved`. That only holds `copied` back for the few nanoseconds until the
//! position is stored.
//!
//! The soft limit. An appender looks at the end of its own last record, not at `reserved`, and gives up above the
//! limit: so it reads no shared line that others write often. It may pass the limit, but then knows and is refused
//! until the limit has moved.
//!
//! Why an appender never overwrites ring bytes that the flusher still reads, with limit = `written` + ring size -
//! margin and margin = slots x (largest record). Take an append A, and the largest limit L that A or any append
//! before it in the order of `reserved` went by. Every slot has at most one append that ends above L and went by L or
//! less, so A ends at or below L + margin = `written` of that limit + ring size: it overwrites only bytes that were
//! taken when L was set. L's Release store pairs with the Acquire load of the append that went by it, and that
//! append's addition with A's, so the flusher's reading happened before A's writing.

use crate::policy::Reservation as Policy;
use pikepole_contention::slot::SLOTS_MAX;
use pikepole_contention::sync::atomic::{AtomicBool, AtomicI64, AtomicU8, AtomicU64, AtomicUsize, Ordering};
use pikepole_contention::{CachePadded, Spinlock, SpinlockClass, Statistics, fault};
use std::sync::Arc;

/// What a slot holds while its owner fills nothing.
const IDLE: u64 = u64::MAX;

/// Which of the two limits holds for an append.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Space {
    /// Work that can be refused.
    Ordinary,
    /// Work that ends transactions: it may use the space kept back for it.
    KeptBack,
}

/// What belongs to one slot; written by its owner alone.
struct Slot {
    position: AtomicU64,
    /// The end of the slot's last record: at or below `reserved`.
    last_end: AtomicU64,
    /// Bytes that the open transactions of this slot may need to roll back; the sum over all slots counts.
    undo_bytes: AtomicI64,
}

/// What appenders read and hardly anybody writes.
struct ReadMostly {
    limit_ordinary: AtomicU64,
    limit_kept_back: AtomicU64,
    slots_used: AtomicUsize,
    policy: AtomicU8,
    /// The log writer has gone to sleep without a timer: the next append wakes it.
    writer_idle: AtomicBool,
}

/// The horizons `reserved` and `copied`.
pub(crate) struct Reservations {
    reserved: CachePadded<AtomicU64>,
    shared: CachePadded<ReadMostly>,
    copied: CachePadded<AtomicU64>,
    slots: Box<[CachePadded<Slot>]>,
    cache_access: Spinlock<()>,
}

/// A place that is being filled: `start` is its position. Until [`publish`](Self::publish) the flusher goes no further.
#[must_use = "a place that is not published holds the log up for ever"]
pub(crate) struct Place<'a> {
    slot: &'a Slot,
    pub start: u64,
}

impl Place<'_> {
    /// Says that the bytes are filled.
    #[inline]
    pub fn publish(self) {
        let ordering = if fault::planted("copy_published_relaxed") {
            Ordering::Relaxed
        } else {
            // Release pairs with the Acquire of the slot in `publish_copied`.
            Ordering::Release
        };
        self.slot.position.store(IDLE, ordering);
    }
}

impl Reservations {
    /// All horizons at `start`; nothing may be appended until the limits are set.
    pub fn new(start: u64, policy: Policy, statistics: &Arc<Statistics>) -> Self {
        let slot = || {
            CachePadded::new(Slot {
                position: AtomicU64::new(IDLE),
                last_end: AtomicU64::new(start),
                undo_bytes: AtomicI64::new(0),
            })
        };
        Self {
            reserved: CachePadded::new(AtomicU64::new(start)),
            shared: CachePadded::new(ReadMostly {
                limit_ordinary: AtomicU64::new(0),
                limit_kept_back: AtomicU64::new(0),
                slots_used: AtomicUsize::new(0),
                policy: AtomicU8::new(policy as u8),
                writer_idle: AtomicBool::new(false),
            }),
            copied: CachePadded::new(AtomicU64::new(start)),
            slots: (0..SLOTS_MAX).map(|_| slot()).collect(),
            cache_access: Spinlock::new(SpinlockClass::LOGCACHE_ACCESS, statistics, ()),
        }
    }

    /// Takes the next `bytes` of the stream for the owner of `slot`, or None when the limit is passed as far as this
    /// slot knows.
    #[inline]
    pub fn take(&self, slot: usize, bytes: u64, space: Space) -> Option<Place<'_>> {
        let shared = &*self.shared;
        let limit = match space {
            Space::Ordinary => &shared.limit_ordinary,
            Space::KeptBack => &shared.limit_kept_back,
        };
        // Relaxed: slots_used is ordered for the flusher by the addition below, and a policy read late is the old one.
        if slot >= shared.slots_used.load(Ordering::Relaxed) {
            shared.slots_used.fetch_max(slot + 1, Ordering::Relaxed);
        }
        let own = &*self.slots[slot];
        let last_end = own.last_end.load(Ordering::Relaxed);
        let limit_ordering = if fault::planted("limit_read_relaxed") {
            Ordering::Relaxed
        } else {
            // Acquire pairs with the Release in `set_limits`.
            Ordering::Acquire
        };
        if last_end + bytes > limit.load(limit_ordering) {
            return None;
        }
        // The line is the slot's own, and is written below: looking costs nothing.
        let is_idle = own.position.load(Ordering::Relaxed) == IDLE;
        assert!(is_idle, "a slot fills one place at a time: no append within an append");
        let start = if shared.policy.load(Ordering::Relaxed) == Policy::Spinlock as u8 {
            let _holder = self.cache_access.lock();
            // The lower bound is the position itself, unless the policy is just being changed.
            self.reserve(own, self.reserved.load(Ordering::Relaxed), bytes)
        } else {
            self.reserve(own, last_end, bytes)
        };
        own.last_end.store(start + bytes, Ordering::Relaxed);
        Some(Place { slot: own, start })
    }

    #[inline]
    fn reserve(&self, own: &Slot, lower_bound: u64, bytes: u64) -> u64 {
        let ordering = if fault::planted("lower_bound_relaxed") {
            Ordering::Relaxed
        } else {
            // Release pairs with the Acquire of the slot in `publish_copied`: it may be read in place of the IDLE
            // before it.
            Ordering::Release
        };
        if !fault::planted("slot_set_after_add") {
            own.position.store(lower_bound, ordering);
        }
        // The Release half pairs with the Acquire of `reserved` in `publish_copied` (the lower bound is seen there),
        // the Acquire half with the Release in `sleep_unless_more` (the writer that sleeps is seen here).
        let start = self.reserved.fetch_add(bytes, Ordering::AcqRel);
        // Release: as the lower bound.
        own.position.store(start, Ordering::Release);
        start
    }

    /// Computes `copied` anew. For the holder of the flusher role only: nobody else moves it.
    pub fn publish_copied(&self) -> u64 {
        // Acquire pairs with the AcqRel addition in `reserve`.
        let mut copied = self.reserved.load(Ordering::Acquire);
        let used = self.shared.slots_used.load(Ordering::Relaxed);
        for slot in &self.slots[..used] {
            // Acquire pairs with the Release stores in `reserve` and `publish`.
            copied = copied.min(slot.position.load(Ordering::Acquire));
        }
        copied = copied.max(self.copied.load(Ordering::Relaxed));
        // Relaxed: readers of this word only show it. The flusher itself carries the order to the bytes.
        self.copied.store(copied, Ordering::Relaxed);
        copied
    }

    /// The end of the last place taken.
    pub fn reserved(&self) -> u64 {
        self.reserved.load(Ordering::Relaxed)
    }

    /// Up to where all places were filled when somebody last flushed.
    pub fn copied(&self) -> u64 {
        self.copied.load(Ordering::Relaxed)
    }

    /// The end of the slot's last record.
    pub fn last_end(&self, slot: usize) -> u64 {
        self.slots[slot].last_end.load(Ordering::Relaxed)
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
        // Release pairs with the Acquire of the limit in `take`.
        self.shared.limit_ordinary.store(ordinary, Ordering::Release);
        self.shared.limit_kept_back.store(kept_back, Ordering::Release);
    }

    /// Changes the policy; appends that are under way end under the old one, which mixes with the new one safely.
    pub fn set_policy(&self, policy: Policy) {
        self.shared.policy.store(policy as u8, Ordering::Relaxed);
    }

    /// The policy in force.
    pub fn policy(&self) -> Policy {
        match self.shared.policy.load(Ordering::Relaxed) {
            0 => Policy::Spinlock,
            _ => Policy::Atomic,
        }
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

    /// Marks the log writer as asleep unless something was reserved above `seen`. Returns whether it may sleep.
    ///
    /// Why no append is missed: the addition of 0 and an append's addition are ordered. If the append's comes first,
    /// this one returns its end. If it comes second, it reads from this one, whose Release pairs with its Acquire, so
    /// the append sees the flag.
    pub fn sleep_unless_more(&self, seen: u64) -> bool {
        self.shared.writer_idle.store(true, Ordering::Relaxed);
        let reserved = if fault::planted("writer_looks_with_a_load") {
            self.reserved.load(Ordering::Acquire)
        } else {
            // Release: as said above. Acquire pairs with the Release half of the addition in `reserve`.
            self.reserved.fetch_add(0, Ordering::AcqRel)
        };
        if reserved != seen {
            self.wake_writer();
        }
        reserved == seen
    }

    /// Holds the spinlock as an appender does.
    #[cfg(all(test, not(loom)))]
    pub fn hold_for_test(&self) -> impl Drop {
        self.cache_access.lock()
    }

    /// Marks the log writer as awake.
    pub fn wake_writer(&self) {
        self.shared.writer_idle.store(false, Ordering::Relaxed);
    }
}

#[cfg(all(test, loom))]
#[path = "reservation_models.rs"]
mod models;
