//! Locks of rows and of ranges of keys: what a transaction has read, and nobody else may change before it ends.
//!
//! A row that a transaction has changed needs none: the id that it carries is its lock. These are for rows that were only read
//! (UPDLOCK, REPEATABLE READ), and for keys where rows may come (HOLDLOCK, SERIALIZABLE): a key is locked whether a row has it
//! or not, a range with all keys that it can hold.
//!
//! ```text
//!   locks          count of the shard + 1, lock kept  -->  looks at the row or the leaf, under its latch
//!   changes        latches the leaf                   -->  reads the count: 0, the usual case, and the row may be changed;
//!                                                          else looks for a lock of another owner, which it waits for
//! ```
//!
//! # Protocol
//! Who locks does so before it looks, and looks under a latch of the page that holds the key, or would hold it; who changes
//! reads the count under the exclusive latch of that page. So the page's latch orders the two, and nothing else is needed:
//! when the look comes first, its latch makes the lock known to whoever latches the page later; when the change comes first,
//! the look finds it, and its writer is waited for. A split hands keys over under the latches of both pages.
//! The count is therefore read and changed relaxed (the loom model `no_row_comes_to_a_locked_key` in the contention crate). An inserter pays that one load, of a line that changes only when somebody
//! takes or gives back such a lock in the same shard.
//!
//! # Invariants
//! - an owner never conflicts with itself;
//! - `held` is the number of entries of the shard;
//! - the shard's spinlock (LOCK_HASH) is a leaf, and may be taken under a page latch.
//!
//! Who waits is served in the order of coming, but for owners that have a part of what is waited for already; and who comes to share
//! waits behind those who wait to change.

use std::collections::{BTreeMap, HashMap};
use std::future::Future;
use std::ops::Bound;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use pikepole_contention::sync::Arc;
use pikepole_contention::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use pikepole_contention::{CachePadded, Spinlock, SpinlockClass, Statistics};

use crate::lock::{Blocker, LockMode};

const SHARDS: usize = 64;

/// Ranges of one index that an owner keeps apart. One more, and it has one that covers them all.
const RANGES_MAX: usize = 256;

/// The keys of a lock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LockedKeys {
    /// One: a key of a tree, or the place of a row in a heap.
    One(Box<[u8]>),
    /// All between two bounds.
    Range(Bound<Vec<u8>>, Bound<Vec<u8>>),
}

/// A lock that is wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyLock {
    /// The number of the tree or heap in the store.
    pub object: u32,
    /// What is locked.
    pub keys: LockedKeys,
    /// How.
    pub mode: LockMode,
}

/// [`LockedKeys`], borrowed.
#[derive(Clone, Copy)]
enum Keys<'k> {
    One(&'k [u8]),
    Range(Bound<&'k [u8]>, Bound<&'k [u8]>),
}

impl LockedKeys {
    fn borrowed(&self) -> Keys<'_> {
        match self {
            LockedKeys::One(key) => Keys::One(key),
            LockedKeys::Range(low, high) => {
                Keys::Range(low.as_ref().map(Vec::as_slice), high.as_ref().map(Vec::as_slice))
            }
        }
    }
}

/// Whether all keys up to `high` come before all from `low` on.
fn is_below(high: Bound<&[u8]>, low: Bound<&[u8]>) -> bool {
    match (high, low) {
        (Bound::Unbounded, _) | (_, Bound::Unbounded) => false,
        (Bound::Included(high), Bound::Included(low)) => high < low,
        (Bound::Included(high) | Bound::Excluded(high), Bound::Included(low) | Bound::Excluded(low)) => high <= low,
    }
}

impl<'k> Keys<'k> {
    fn low(self) -> Bound<&'k [u8]> {
        match self {
            Keys::One(key) => Bound::Included(key),
            Keys::Range(low, _) => low,
        }
    }

    fn high(self) -> Bound<&'k [u8]> {
        match self {
            Keys::One(key) => Bound::Included(key),
            Keys::Range(_, high) => high,
        }
    }

    fn overlaps(self, other: Keys<'_>) -> bool {
        !is_below(self.high(), other.low()) && !is_below(other.high(), self.low())
    }

    /// Whether all of `other` is among these.
    fn contains(self, other: Keys<'_>) -> bool {
        let from = match (self.low(), other.low()) {
            (Bound::Unbounded, _) => true,
            (_, Bound::Unbounded) => false,
            (Bound::Excluded(own), Bound::Included(low)) => own < low,
            (Bound::Included(own) | Bound::Excluded(own), Bound::Included(low) | Bound::Excluded(low)) => own <= low,
        };
        let to = match (self.high(), other.high()) {
            (Bound::Unbounded, _) => true,
            (_, Bound::Unbounded) => false,
            (Bound::Excluded(own), Bound::Included(high)) => own > high,
            (Bound::Included(own) | Bound::Excluded(own), Bound::Included(high) | Bound::Excluded(high)) => own >= high,
        };
        from && to
    }

    /// A number for the views, the same for the same keys.
    fn hash(self) -> u64 {
        // FNV-1a: a restart does not change what a key is called.
        let byte = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        let side = |hash: u64, bound: Bound<&[u8]>| match bound {
            Bound::Unbounded => byte(hash, &0),
            Bound::Included(key) | Bound::Excluded(key) => key.iter().fold(hash, byte),
        };
        let basis = 0xcbf2_9ce4_8422_2325;
        match self {
            Keys::One(key) => side(basis, Bound::Included(key)),
            Keys::Range(low, high) => side(side(basis, low), high),
        }
    }
}

/// An owner and how it has locked.
#[derive(Debug, Clone, Copy)]
struct Holder {
    owner: u64,
    mode: LockMode,
}

struct Range {
    low: Bound<Vec<u8>>,
    high: Bound<Vec<u8>>,
    holder: Holder,
}

impl Range {
    fn keys(&self) -> Keys<'_> {
        Keys::Range(self.low.as_ref().map(Vec::as_slice), self.high.as_ref().map(Vec::as_slice))
    }
}

struct Waiter {
    owner: u64,
    ticket: u64,
    keys: LockedKeys,
    mode: LockMode,
    waker: Waker,
}

/// The locks of one tree or heap.
#[derive(Default)]
struct OfObject {
    rows: BTreeMap<Box<[u8]>, Vec<Holder>>,
    ranges: Vec<Range>,
    waiters: Vec<Waiter>,
}

impl OfObject {
    fn is_empty(&self) -> bool {
        self.rows.is_empty() && self.ranges.is_empty() && self.waiters.is_empty()
    }

    /// Who has locked some of the keys.
    fn holders<'a>(&'a self, keys: Keys<'a>) -> impl Iterator<Item = Holder> + 'a {
        let one = match keys {
            Keys::One(key) => self.rows.get(key),
            Keys::Range(..) => None,
        };
        let among = match keys {
            // An empty range of a map is not to be asked for.
            Keys::Range(low, high) if !is_below(high, low) => Some(self.rows.range::<[u8], _>((low, high))),
            Keys::Range(..) | Keys::One(_) => None,
        };
        let of_rows = one.into_iter().chain(among.into_iter().flatten().map(|(_, holders)| holders));
        let of_ranges = self.ranges.iter().filter(move |range| range.keys().overlaps(keys)).map(|range| range.holder);
        of_rows.flatten().copied().chain(of_ranges)
    }

    /// The others whose locks, or earlier wishes, keep `owner` from its own. Without a ticket it has not waited yet: then only
    /// who wants to share stands behind those who wait. So one of those who are woken together always gets what it wants.
    fn blockers<'a>(
        &'a self,
        owner: u64,
        keys: Keys<'a>,
        mode: LockMode,
        ticket: Option<u64>,
    ) -> impl Iterator<Item = Blocker> + 'a {
        let holders = self.holders(keys).filter(move |holder| holder.owner != owner && holder.mode.conflicts(mode));
        let is_shared = matches!(mode, LockMode::S | LockMode::RangeSS);
        let earlier = self.waiters.iter().filter(move |waiter| {
            waiter.owner != owner
                && ticket.map_or(is_shared, |ticket| waiter.ticket < ticket)
                && waiter.mode.conflicts(mode)
                && waiter.keys.borrowed().overlaps(keys)
                && !self.holders(waiter.keys.borrowed()).any(|holder| holder.owner == owner)
        });
        let holders = holders.map(|holder| Blocker { owner: holder.owner, mode: holder.mode, is_holder: true });
        holders.chain(earlier.map(|waiter| Blocker { owner: waiter.owner, mode: waiter.mode, is_holder: false }))
    }

    /// The least key among `keys` that others have locked, or wait for, so that `owner` cannot have it. None: there is
    /// none, or nothing is before it.
    fn first_blocked(&self, owner: u64, keys: Keys<'_>, mode: LockMode) -> Option<Vec<u8>> {
        let blocks = |holder: &Holder| holder.owner != owner && holder.mode.conflicts(mode);
        let rows =
            self.rows.iter().filter(|(key, holders)| keys.overlaps(Keys::One(key)) && holders.iter().any(blocks));
        let rows = rows.map(|(key, _)| Bound::Included(&**key));
        let ranges = self.ranges.iter().filter(|range| blocks(&range.holder) && keys.overlaps(range.keys()));
        let waiters = self.waiters.iter().filter(|waiter| {
            waiter.owner != owner && waiter.mode.conflicts(mode) && waiter.keys.borrowed().overlaps(keys)
        });
        let lows = ranges.map(|range| range.keys().low()).chain(waiters.map(|waiter| waiter.keys.borrowed().low()));
        let lows = rows.chain(lows).map(|low| match low {
            Bound::Included(key) | Bound::Excluded(key) => key,
            Bound::Unbounded => &[],
        });
        lows.min().map(<[u8]>::to_vec)
    }

    /// Adds a lock that nothing is in the way of. False: the owner had it.
    fn add(&mut self, owner: u64, lock: &KeyLock) -> bool {
        let keys = lock.keys.borrowed();
        let covers = |range: &Range| {
            range.holder.owner == owner && range.holder.mode.covers_keys(lock.mode) && range.keys().contains(keys)
        };
        if self.ranges.iter().any(covers) {
            return false;
        }
        match &lock.keys {
            LockedKeys::One(key) => {
                let holders = self.rows.entry(key.clone()).or_default();
                if let Some(holder) = holders.iter_mut().find(|holder| holder.owner == owner) {
                    holder.mode = holder.mode.and_keys(lock.mode);
                    return false;
                }
                holders.push(Holder { owner, mode: lock.mode });
            }
            LockedKeys::Range(low, high) => {
                let holder = Holder { owner, mode: lock.mode };
                self.ranges.push(Range { low: low.clone(), high: high.clone(), holder });
            }
        }
        true
    }

    /// Makes the ranges of an owner one, if they are too many: how many are gone. It may cover keys that others have locked
    /// too; what the owner has read of them it has read under the locks that it had.
    fn merge_ranges(&mut self, owner: u64) -> usize {
        let own = self.ranges.iter().filter(|range| range.holder.owner == owner);
        if own.clone().count() <= RANGES_MAX {
            return 0;
        }
        let least = |a: Bound<Vec<u8>>, b: &Bound<Vec<u8>>| match (a, b) {
            (Bound::Included(a) | Bound::Excluded(a), Bound::Included(b) | Bound::Excluded(b)) => {
                Bound::Included(a.min(b.clone()))
            }
            _ => Bound::Unbounded,
        };
        let greatest = |a: Bound<Vec<u8>>, b: &Bound<Vec<u8>>| match (a, b) {
            (Bound::Included(a) | Bound::Excluded(a), Bound::Included(b) | Bound::Excluded(b)) => {
                Bound::Included(a.max(b.clone()))
            }
            _ => Bound::Unbounded,
        };
        let merged = own.fold(None, |merged: Option<Range>, range| {
            Some(match merged {
                None => Range { low: range.low.clone(), high: range.high.clone(), holder: range.holder },
                Some(merged) => Range {
                    low: least(merged.low, &range.low),
                    high: greatest(merged.high, &range.high),
                    holder: Holder { owner, mode: merged.holder.mode.and_keys(range.holder.mode) },
                },
            })
        });
        let before = self.ranges.len();
        self.ranges.retain(|range| range.holder.owner != owner);
        self.ranges.extend(merged);
        before - self.ranges.len()
    }

    fn wakers(&self) -> Vec<Waker> {
        self.waiters.iter().map(|waiter| waiter.waker.clone()).collect()
    }
}

#[derive(Default)]
struct Shard {
    objects: HashMap<u32, OfObject>,
}

struct CountedShard {
    /// How many locks are held in it.
    held: AtomicUsize,
    shard: Spinlock<Shard>,
}

/// What a transaction has locked, for giving it back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Kept {
    /// A key of an object.
    Key(u32, Box<[u8]>),
    /// Ranges of an object.
    Ranges(u32),
}

/// One lock, for the views.
pub(crate) struct Shown {
    pub owner: u64,
    pub object: u32,
    pub hash: u64,
    pub mode: LockMode,
}

/// The locks of rows and ranges of keys of one database.
pub(crate) struct KeyLocks {
    shards: Box<[CachePadded<CountedShard>]>,
    tickets: AtomicU64,
}

impl KeyLocks {
    pub fn new(statistics: &Arc<Statistics>) -> KeyLocks {
        let shard = |_| {
            CachePadded::new(CountedShard {
                held: AtomicUsize::new(0),
                shard: Spinlock::new(SpinlockClass::LOCK_HASH, statistics, Shard::default()),
            })
        };
        KeyLocks { shards: (0..SHARDS).map(shard).collect(), tickets: AtomicU64::new(0) }
    }

    fn of(&self, object: u32) -> &CountedShard {
        &self.shards[object as usize % SHARDS]
    }

    /// Whether `owner` may change the row of this key, or insert it: asked under the page's latch.
    #[inline]
    pub fn admits(&self, owner: u64, object: u32, key: &[u8], mode: LockMode) -> bool {
        // Relaxed: see the protocol in the module's header.
        self.of(object).held.load(Ordering::Relaxed) == 0 || self.looks_free(owner, object, key, mode)
    }

    #[cold]
    fn looks_free(&self, owner: u64, object: u32, key: &[u8], mode: LockMode) -> bool {
        let shard = self.of(object).shard.lock();
        let Some(of_object) = shard.objects.get(&object) else {
            return true;
        };
        let in_the_way = |holder: Holder| holder.owner != owner && holder.mode.conflicts(mode);
        !of_object.holders(Keys::One(key)).any(in_the_way)
    }

    /// Locks keys if nobody is in the way: Some(true) when `owner` had not locked them so. To be called before they are looked at.
    /// With the ticket of the wait that has just ended it stands before those who came after it.
    pub fn try_acquire(&self, owner: u64, lock: &KeyLock, ticket: Option<u64>) -> Option<bool> {
        let counted = self.of(lock.object);
        let mut shard = counted.shard.lock();
        let of_object = shard.objects.entry(lock.object).or_default();
        if of_object.blockers(owner, lock.keys.borrowed(), lock.mode, ticket).next().is_some() {
            return None;
        }
        let is_new = of_object.add(owner, lock);
        if is_new {
            // Relaxed: see the protocol in the module's header. Never zero while a lock is there: one was added just now.
            counted.held.fetch_add(1, Ordering::Relaxed);
            counted.held.fetch_sub(of_object.merge_ranges(owner), Ordering::Relaxed);
        }
        Some(is_new)
    }

    /// The part of a range in front of the first key that keeps `owner` from the whole; None for an empty part.
    pub fn free_part(&self, owner: u64, lock: &KeyLock) -> Option<KeyLock> {
        let LockedKeys::Range(low, _) = &lock.keys else { return None };
        let shard = self.of(lock.object).shard.lock();
        let of_object = shard.objects.get(&lock.object)?;
        let first = of_object.first_blocked(owner, lock.keys.borrowed(), lock.mode).filter(|key| !key.is_empty())?;
        let keys = LockedKeys::Range(low.clone(), Bound::Excluded(first));
        let is_empty = is_below(keys.borrowed().high(), keys.borrowed().low());
        (!is_empty).then_some(KeyLock { keys, ..lock.clone() })
    }

    /// Gives back what `owner` has kept, and wakes those who wait.
    pub fn release(&self, owner: u64, kept: &Kept) {
        let object = match kept {
            Kept::Key(object, _) | Kept::Ranges(object) => *object,
        };
        let counted = self.of(object);
        let mut shard = counted.shard.lock();
        let Some(of_object) = shard.objects.get_mut(&object) else {
            return;
        };
        let released = match kept {
            Kept::Key(_, key) => {
                let Some(holders) = of_object.rows.get_mut(key) else {
                    return;
                };
                let before = holders.len();
                holders.retain(|holder| holder.owner != owner);
                let released = before - holders.len();
                if holders.is_empty() {
                    of_object.rows.remove(key);
                }
                released
            }
            Kept::Ranges(_) => {
                let before = of_object.ranges.len();
                of_object.ranges.retain(|range| range.holder.owner != owner);
                before - of_object.ranges.len()
            }
        };
        let wakers = of_object.wakers();
        if of_object.is_empty() {
            shard.objects.remove(&object);
        }
        counted.held.fetch_sub(released, Ordering::Relaxed);
        drop(shard);
        pikepole_scheduler::wake_all(wakers);
    }

    /// Puts a wait into the list: its number. Those that come later stand behind it.
    pub fn enter(&self, owner: u64, lock: &KeyLock) -> u64 {
        let mut shard = self.of(lock.object).shard.lock();
        // Dealt under the lock of the list, so the list is in the order of its numbers.
        let ticket = self.tickets.fetch_add(1, Ordering::Relaxed);
        let waiter = Waiter { owner, ticket, keys: lock.keys.clone(), mode: lock.mode, waker: Waker::noop().clone() };
        shard.objects.entry(lock.object).or_default().waiters.push(waiter);
        ticket
    }

    /// Those who are in the way of a listed wait; None: it is not listed any more.
    pub fn blockers(&self, object: u32, ticket: u64) -> Option<Vec<Blocker>> {
        let shard = self.of(object).shard.lock();
        let of_object = shard.objects.get(&object)?;
        let Waiter { owner, keys, mode, .. } = of_object.waiters.iter().find(|waiter| waiter.ticket == ticket)?;
        Some(of_object.blockers(*owner, keys.borrowed(), *mode, Some(ticket)).collect())
    }

    /// Takes a wait off the list, and wakes those who stood behind it.
    pub fn leave(&self, object: u32, ticket: u64) {
        let mut shard = self.of(object).shard.lock();
        let Some(of_object) = shard.objects.get_mut(&object) else {
            return;
        };
        let before = of_object.waiters.len();
        of_object.waiters.retain(|waiter| waiter.ticket != ticket);
        let wakers = if of_object.waiters.len() < before { of_object.wakers() } else { Vec::new() };
        if of_object.is_empty() {
            shard.objects.remove(&object);
        }
        drop(shard);
        pikepole_scheduler::wake_all(wakers);
    }

    /// All locks that are held.
    pub fn all(&self) -> Vec<Shown> {
        let mut all = Vec::new();
        for counted in &self.shards {
            let shard = counted.shard.lock();
            for (&object, of_object) in &shard.objects {
                let mut show = |keys: Keys<'_>, holder: &Holder| {
                    all.push(Shown { owner: holder.owner, object, hash: keys.hash(), mode: holder.mode });
                };
                for (key, holders) in &of_object.rows {
                    holders.iter().for_each(|holder| show(Keys::One(key), holder));
                }
                of_object.ranges.iter().for_each(|range| show(range.keys(), &range.holder));
            }
        }
        all
    }
}

/// The number that the views show for a lock of one key.
pub fn key_hash(key: &[u8]) -> u64 {
    Keys::One(key).hash()
}

impl KeyLock {
    /// A number for its keys, as the views show them.
    pub(crate) fn hash(&self) -> u64 {
        self.keys.borrowed().hash()
    }
}

/// Completes when nobody is in the way of a listed wait; the lock is not taken, and the wait stays listed until its owner leaves.
pub(crate) struct KeyWait<'a> {
    pub locks: &'a KeyLocks,
    pub object: u32,
    pub ticket: u64,
}

impl Future for KeyWait<'_> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let Self { locks, object, ticket } = *self;
        let mut shard = locks.of(object).shard.lock();
        let of_object = shard.objects.get_mut(&object).expect("a wait is listed");
        // The waker is left under the lock of the look: whoever releases after it finds the waker.
        let at = of_object.waiters.iter().position(|waiter| waiter.ticket == ticket).expect("a wait is listed");
        of_object.waiters[at].waker.clone_from(context.waker());
        let Waiter { owner, keys, mode, .. } = &of_object.waiters[at];
        if of_object.blockers(*owner, keys.borrowed(), *mode, Some(ticket)).next().is_some() {
            return Poll::Pending;
        }
        Poll::Ready(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::pin::pin;

    fn one(key: &[u8], mode: LockMode) -> KeyLock {
        KeyLock { object: 7, keys: LockedKeys::One(key.into()), mode }
    }

    fn range(low: &[u8], high: &[u8], mode: LockMode) -> KeyLock {
        let keys = LockedKeys::Range(Bound::Included(low.to_vec()), Bound::Excluded(high.to_vec()));
        KeyLock { object: 7, keys, mode }
    }

    fn locks() -> KeyLocks {
        KeyLocks::new(&Statistics::new())
    }

    fn acquire(locks: &KeyLocks, owner: u64, lock: &KeyLock) -> Option<bool> {
        locks.try_acquire(owner, lock, None)
    }

    fn held(locks: &KeyLocks) -> usize {
        locks.of(7).held.load(Ordering::Relaxed)
    }

    #[test]
    fn what_is_locked_is_not_changed_by_others() {
        let locks = locks();
        assert_eq!(acquire(&locks, 1, &range(b"b", b"d", LockMode::RangeSS)), Some(true));
        assert_eq!(acquire(&locks, 1, &one(b"x", LockMode::U)), Some(true));
        for (key, free) in [(b"a", true), (b"b", false), (b"c", false), (b"d", true), (b"x", false), (b"y", true)] {
            for mode in [LockMode::X, LockMode::RangeIN] {
                assert_eq!(locks.admits(2, 7, key, mode), free, "{key:?} {mode:?}");
                assert!(locks.admits(1, 7, key, mode), "its own");
                assert!(locks.admits(2, 7 + SHARDS as u32, key, mode), "another tree of the shard");
            }
        }
        locks.release(1, &Kept::Ranges(7));
        assert!(locks.admits(2, 7, b"c", LockMode::RangeIN));
        locks.release(1, &Kept::Key(7, b"x".as_slice().into()));
        assert_eq!(held(&locks), 0);
        assert!(locks.of(7).shard.lock().objects.is_empty());
    }

    #[test]
    fn locks_of_two_owners_conflict_as_their_modes_say() {
        use LockMode::{RangeSS, RangeSU, RangeXX, S, U, X};
        let compatible = [(S, S), (S, U), (RangeSS, RangeSS), (RangeSS, RangeSU), (S, RangeSU), (RangeSS, U)];
        for a in [S, U, X, RangeSS, RangeSU, RangeXX] {
            for b in [S, U, X, RangeSS, RangeSU, RangeXX] {
                let locks = locks();
                assert_eq!(acquire(&locks, 1, &range(b"a", b"m", a)), Some(true));
                let fits = compatible.contains(&(a, b)) || compatible.contains(&(b, a)) || (a, b) == (S, RangeSS);
                let fits = fits || (a, b) == (RangeSS, S);
                assert_eq!(acquire(&locks, 2, &one(b"k", b)).is_some(), fits, "{a:?} {b:?}");
                assert_eq!(acquire(&locks, 2, &one(b"z", b)), Some(true), "outside");
                assert_eq!(acquire(&locks, 1, &one(b"k", a)), Some(false), "it has it");
            }
        }
    }

    #[test]
    fn a_lock_grows_stronger_and_ranges_become_one() {
        let locks = locks();
        assert_eq!(acquire(&locks, 1, &one(b"k", LockMode::S)), Some(true));
        assert_eq!(acquire(&locks, 1, &one(b"k", LockMode::U)), Some(false));
        assert_eq!(acquire(&locks, 2, &one(b"k", LockMode::U)), None);
        for key in 0..=RANGES_MAX as u16 {
            let (low, high) = (key.to_be_bytes(), (key + 1).to_be_bytes());
            assert_eq!(acquire(&locks, 1, &range(&low, &high, LockMode::RangeSS)), Some(true));
        }
        assert_eq!(held(&locks), 2);
        assert!(!locks.admits(2, 7, &9u16.to_be_bytes(), LockMode::RangeIN));
        locks.release(1, &Kept::Ranges(7));
        assert_eq!(held(&locks), 1);
    }

    #[test]
    fn of_a_range_that_is_waited_for_the_part_before_the_first_key_in_the_way_is_free() {
        let locks = locks();
        assert_eq!(acquire(&locks, 1, &one(b"k", LockMode::X)), Some(true));
        let wanted = range(b"b", b"x", LockMode::RangeSS);
        assert_eq!(acquire(&locks, 2, &wanted), None);
        assert_eq!(locks.free_part(2, &wanted), Some(range(b"b", b"k", LockMode::RangeSS)));
        assert_eq!(locks.free_part(2, &range(b"k", b"x", LockMode::RangeSS)), None, "it begins with the key");
        assert_eq!(locks.free_part(1, &wanted), None, "nothing is in its way");
        let all = LockedKeys::Range(Bound::Unbounded, Bound::Unbounded);
        let all = KeyLock { object: 7, keys: all, mode: LockMode::RangeXX };
        assert_eq!(acquire(&locks, 1, &all), Some(true));
        assert_eq!(locks.free_part(2, &wanted), None, "all is locked");
    }

    #[test]
    fn an_empty_range_locks_nothing() {
        let locks = locks();
        assert_eq!(acquire(&locks, 1, &range(b"m", b"a", LockMode::RangeSS)), Some(true));
        assert!(locks.admits(2, 7, b"c", LockMode::RangeIN));
        assert_eq!(acquire(&locks, 2, &one(b"c", LockMode::X)), Some(true));
        assert_eq!(acquire(&locks, 3, &range(b"z", b"y", LockMode::RangeXX)), Some(true));
    }

    #[test]
    fn who_waits_is_not_passed_by_who_comes_later() {
        let locks = locks();
        assert_eq!(acquire(&locks, 1, &one(b"k", LockMode::S)), Some(true));
        let wanted = one(b"k", LockMode::X);
        let mut context = Context::from_waker(Waker::noop());
        let ticket = locks.enter(2, &wanted);
        let mut wait = Box::pin(KeyWait { locks: &locks, object: 7, ticket });
        assert!(wait.as_mut().poll(&mut context).is_pending());
        let blocker = Blocker { owner: 1, mode: LockMode::S, is_holder: true };
        assert_eq!(locks.blockers(7, ticket), Some(vec![blocker]));
        assert_eq!(acquire(&locks, 3, &one(b"k", LockMode::S)), None, "the writer comes first");
        assert_eq!(acquire(&locks, 1, &one(b"k", LockMode::U)), Some(false), "who has it may have more");
        locks.release(1, &Kept::Key(7, b"k".as_slice().into()));
        assert!(wait.as_mut().poll(&mut context).is_ready());
        locks.leave(7, ticket);
        assert_eq!(locks.blockers(7, ticket), None);
        assert_eq!(acquire(&locks, 3, &one(b"k", LockMode::S)), Some(true));
    }
    #[test]
    fn who_has_waited_to_share_is_not_passed_by_writers_that_came_later() {
        let locks = locks();
        assert_eq!(acquire(&locks, 1, &one(b"k", LockMode::X)), Some(true));
        let (reader, writer) = (one(b"k", LockMode::S), one(b"k", LockMode::X));
        let ticket = locks.enter(2, &reader);
        let _later = locks.enter(3, &writer);
        locks.release(1, &Kept::Key(7, b"k".as_slice().into()));
        let mut context = Context::from_waker(Waker::noop());
        assert!(pin!(KeyWait { locks: &locks, object: 7, ticket }).poll(&mut context).is_ready());
        locks.leave(7, ticket);
        assert_eq!(acquire(&locks, 4, &reader), None, "one that has not waited stands behind the writer");
        assert_eq!(locks.try_acquire(2, &reader, Some(ticket)), Some(true));
    }
}
