//! Transaction ids: dealing and retiring them is the serialisation point XDESMGR.
//!
//! ```text
//!   spinlock        every begin and every end takes one lock          (the classic way)
//!   atomic ranges   slot 0: [ 4096 .. 5119 ]  next ->                 (the default)
//!                   slot 1: [ 5120 .. 6143 ]  next ->
//!                   one shared atomic add per 1024 ids; retiring is the transaction's own status word
//! ```
//!
//! # Invariants
//! - an id is dealt once in the life of a database: recovery starts above every id that a checkpoint or a log record names;
//! - a slot's range is moved by the thread that owns the slot only.

use pikepole_contention::sync::Arc;
use pikepole_contention::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use pikepole_contention::{CachePadded, Spinlock, SpinlockClass, Statistics, slot};

use crate::status::StatusTable;

/// Ids dealt to a slot at once.
pub(crate) const RANGE_IDS: u64 = 1024;

/// The number of a transaction: unique in the life of its database, below 2^56.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TransactionId(pub u64);

impl TransactionId {
    /// The system's own changes (structure, ghost cleaning): visible to all, undone by nobody.
    pub const SYSTEM: TransactionId = TransactionId(0);

    pub(crate) fn range(self) -> u64 {
        self.0 / RANGE_IDS
    }

    pub(crate) fn entry(self) -> u32 {
        (self.0 % RANGE_IDS) as u32
    }
}

impl std::fmt::Display for TransactionId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

/// How ids are dealt and retired: the policies of XDESMGR.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TransactionIds {
    /// One spinlock over the next id and the count of open transactions.
    Spinlock,
    /// Each slot deals from a range of its own.
    #[default]
    AtomicRanges,
}

#[derive(Default)]
struct SlotRange {
    next: AtomicU64,
    end: AtomicU64,
}

#[derive(Default)]
struct Shared {
    next: u64,
    end: u64,
    active: u64,
}

/// An id and what its end has to give back.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Dealt {
    pub id: TransactionId,
    by_lock: bool,
}

/// The dealer of ids of one database.
pub(crate) struct Dealer {
    spinlock: AtomicBool,
    range_next: AtomicU64,
    slots: Box<[CachePadded<SlotRange>]>,
    xdesmgr: Spinlock<Shared>,
}

impl Dealer {
    /// Deals ids from `first` on, which is the start of a range.
    pub fn new(first: TransactionId, policy: TransactionIds, statistics: &Arc<Statistics>) -> Self {
        assert!(first.0.is_multiple_of(RANGE_IDS));
        Self {
            spinlock: AtomicBool::new(policy == TransactionIds::Spinlock),
            range_next: AtomicU64::new(first.range()),
            slots: (0..slot::SLOTS_MAX).map(|_| CachePadded::new(SlotRange::default())).collect(),
            xdesmgr: Spinlock::new(SpinlockClass::XDESMGR, statistics, Shared::default()),
        }
    }

    /// Switches the policy; transactions that are open end by the policy they began with.
    pub fn set_policy(&self, policy: TransactionIds) {
        self.spinlock.store(policy == TransactionIds::Spinlock, Ordering::Relaxed);
    }

    /// No id at or above this was dealt.
    pub fn above_all(&self) -> TransactionId {
        TransactionId(self.range_next.load(Ordering::SeqCst) * RANGE_IDS)
    }

    /// A new id. `sweep` is called once per range and gives old status pages back.
    #[inline]
    pub fn deal(&self, table: &StatusTable, sweep: impl FnOnce()) -> Dealt {
        if self.spinlock.load(Ordering::Relaxed) {
            return self.deal_by_lock(table, sweep);
        }
        let range = &self.slots[slot::current()];
        let next = range.next.load(Ordering::Relaxed);
        let end = range.end.load(Ordering::Relaxed);
        let id = if next < end {
            next
        } else {
            let first = self.new_range(table, end, sweep);
            range.end.store(first + RANGE_IDS, Ordering::Relaxed);
            first
        };
        range.next.store(id + 1, Ordering::Relaxed);
        Dealt { id: TransactionId(id), by_lock: false }
    }

    #[cold]
    fn new_range(&self, table: &StatusTable, former_end: u64, sweep: impl FnOnce()) -> u64 {
        give_back(table, former_end, sweep);
        table.open_range(&self.range_next) * RANGE_IDS
    }

    fn deal_by_lock(&self, table: &StatusTable, sweep: impl FnOnce()) -> Dealt {
        let mut shared = self.xdesmgr.lock();
        let former_end = (shared.next == shared.end).then_some(shared.end);
        if former_end.is_some() {
            let first = table.open_range(&self.range_next) * RANGE_IDS;
            shared.next = first;
            shared.end = first + RANGE_IDS;
        }
        let id = shared.next;
        shared.next += 1;
        shared.active += 1;
        drop(shared);
        if let Some(former_end) = former_end {
            // Others deal from the new range meanwhile: the sweep looks at every session and many pages.
            give_back(table, former_end, sweep);
        }
        Dealt { id: TransactionId(id), by_lock: true }
    }

    /// The transaction has ended.
    #[inline]
    pub fn retire(&self, dealt: Dealt) {
        if dealt.by_lock {
            let mut shared = self.xdesmgr.lock();
            assert!(shared.active > 0, "no more ends than begins");
            shared.active -= 1;
        }
    }
}

/// The range that ends at `former_end` has been dealt, if there was one: its status page, and others, may be given back.
fn give_back(table: &StatusTable, former_end: u64, sweep: impl FnOnce()) {
    if former_end > 0 {
        table.exhausted(former_end / RANGE_IDS - 1);
    }
    sweep();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn xdesmgr_collisions_possible(policy: TransactionIds) -> (Vec<u64>, Arc<Statistics>) {
        let statistics = Statistics::new();
        let table = Arc::new(StatusTable::new(TransactionId(RANGE_IDS)));
        let dealer = Arc::new(Dealer::new(TransactionId(RANGE_IDS), policy, &statistics));
        let threads: Vec<_> = (0..4)
            .map(|_| {
                let (table, dealer) = (table.clone(), dealer.clone());
                pikepole_contention::sync::thread::spawn(move || {
                    (0..5_000)
                        .map(|_| {
                            let dealt = dealer.deal(&table, || ());
                            dealer.retire(dealt);
                            dealt.id.0
                        })
                        .collect::<Vec<_>>()
                })
            })
            .collect();
        let mut ids: Vec<u64> = threads.into_iter().flat_map(|t| t.join().expect("the thread deals ids")).collect();
        ids.sort_unstable();
        (ids, statistics)
    }

    #[test]
    fn ids_are_dealt_once_under_both_policies() {
        for policy in [TransactionIds::Spinlock, TransactionIds::AtomicRanges] {
            let (mut ids, statistics) = xdesmgr_collisions_possible(policy);
            let dealt = ids.len();
            ids.dedup();
            assert_eq!(ids.len(), dealt, "{policy:?}");
            let row = statistics.spinlocks().into_iter().find(|r| r.name == "XDESMGR");
            let collisions = row.map_or(0, |r| r.collisions);
            if policy == TransactionIds::AtomicRanges {
                assert_eq!(collisions, 0, "ranges take no lock");
            }
        }
    }

    #[test]
    fn the_lock_is_free_while_status_pages_are_swept() {
        let statistics = Statistics::new();
        let table = StatusTable::new(TransactionId(RANGE_IDS));
        let dealer = Dealer::new(TransactionId(RANGE_IDS), TransactionIds::Spinlock, &statistics);
        let swept = std::cell::Cell::new(0);
        for _ in 0..3 * RANGE_IDS {
            let dealt = dealer.deal(&table, || {
                assert!(dealer.xdesmgr.try_lock().is_some(), "somebody else could deal");
                swept.set(swept.get() + 1);
            });
            dealer.retire(dealt);
        }
        assert_eq!(swept.get(), 3, "once for each range");
    }

    #[test]
    fn the_spinlock_policy_is_in_force() {
        let statistics = Statistics::new();
        let table = StatusTable::new(TransactionId(RANGE_IDS));
        let dealer = Dealer::new(TransactionId(RANGE_IDS), TransactionIds::Spinlock, &statistics);
        let dealt = dealer.deal(&table, || ());
        assert_eq!(dealer.xdesmgr.lock().active, 1);
        dealer.set_policy(TransactionIds::AtomicRanges);
        let other = dealer.deal(&table, || ());
        assert_ne!(other.id.range(), dealt.id.range());
        dealer.retire(other);
        assert_eq!(dealer.xdesmgr.lock().active, 1);
        dealer.retire(dealt);
        assert_eq!(dealer.xdesmgr.lock().active, 0);
        assert!(dealer.above_all() > dealt.id && dealer.above_all() > other.id);
    }
}
