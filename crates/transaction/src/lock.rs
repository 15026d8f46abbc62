//! Table locks: cheap for the many who read and write rows, exact for the few who need the whole table.
//!
//! ```text
//!   weak (Sch-S, IS, IX)   stripe 0 [ IX | IS | Sch-S counts ]   stripe 1 [ ... ]  ...   one add on an own line
//!                             \__ then a look at the gate
//!   strong (S, BU, X, Sch-M)  gate: bits of the strong modes held or waited for; holders and waiters under a mutex
//! ```
//!
//! # Protocol
//! A weak taker adds to a stripe, then reads the gate; a strong one sets its bit in the gate, then sums the stripes. Both
//! steps of both are SeqCst, so at least one sees the other: a weak taker that sees a conflicting bit gives its count back
//! and waits; a strong one that sees counts waits until they are gone. The bit of a waiting strong taker keeps new weak ones
//! out, so it is not starved; but not those who hold the table already, for whom it waits itself, nor those who have waited
//! longer. It stands behind those, too: a strong taker that comes again and again, because it is a deadlock's victim each time,
//! starves nobody.
//!
//! | | Sch-S | IS | IX | S | BU | X | Sch-M |
//! |---|---|---|---|---|---|---|---|
//! | **Sch-S** | | | | | | | no |
//! | **IS** | | | | | no | no | no |
//! | **IX** | | | | no | no | no | no |
//! | **S** | | | no | | no | no | no |
//! | **BU** | | no | no | no | | no | no |
//! | **X** | | no | no | no | no | no | no |
//! | **Sch-M** | no | no | no | no | no | no | no |
//!
//! The modes of rows and ranges are in the same list, since views and waits show them together; `key_lock` holds those locks.
//!
//! An owner never conflicts with itself.
//!
//! # Waiting
//! A waiter enters the list before its first poll, under the mutex of the wait graph (`wait`), which is searched in the same
//! step. [`Strong::blockers`] alone says who is in the way of a listed wait: the poll that grants the lock asks it, and so does
//! the search for deadlocks. A grant takes the waiter off the list in the step that makes it a holder.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use pikepole_contention::CachePadded;
use pikepole_contention::sync::Mutex;
use pikepole_contention::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use pikepole_contention::{WaitType, slot};

use crate::registry::lock;

/// Stripes of weak counts; slots share them when there are more slots.
const STRIPES: usize = 32;

/// The weak modes, each of which has so many bits of a stripe's word.
const WEAK: [LockMode; 3] = [LockMode::SchS, LockMode::IS, LockMode::IX];
const WEAK_BITS: u32 = 21;

/// How a table is locked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LockMode {
    /// Keeps the table's definition: every reader.
    SchS,
    /// Has locked rows or keys against changes. Keeps the definition too.
    IS,
    /// Changes rows, each guarded by its own writer's id. Keeps the definition too.
    IX,
    /// Nobody changes rows; of a row: nobody else changes it.
    S,
    /// Of a row: who has it is to change it, and nobody else is.
    U,
    /// Bulk load beside other bulk loads.
    BU,
    /// Nobody else changes or share-locks rows.
    X,
    /// Changes the definition: nobody else uses the table.
    SchM,
    /// As S, of keys whether rows have them or not.
    RangeSS,
    /// As U, of keys whether rows have them or not.
    RangeSU,
    /// As X, of keys whether rows have them or not.
    RangeXX,
    /// A place for a new row: waited for, and never held.
    RangeIN,
}

impl LockMode {
    const fn bit(self) -> u32 {
        1 << self as u32
    }

    const fn conflict_bits(self) -> u32 {
        use LockMode::*;
        const SHARED: u32 = S.bit() | RangeSS.bit();
        const UPDATE: u32 = U.bit() | RangeSU.bit();
        const EXCLUSIVE: u32 = X.bit() | RangeXX.bit() | RangeIN.bit() | SchM.bit();
        match self {
            SchS => SchM.bit(),
            IS => BU.bit() | EXCLUSIVE,
            IX => BU.bit() | SHARED | EXCLUSIVE,
            S | RangeSS => IX.bit() | BU.bit() | EXCLUSIVE,
            U | RangeSU => UPDATE | EXCLUSIVE,
            BU => IS.bit() | IX.bit() | SHARED | EXCLUSIVE,
            X | RangeXX => IS.bit() | IX.bit() | BU.bit() | SHARED | UPDATE | EXCLUSIVE,
            RangeIN => IS.bit() | IX.bit() | BU.bit() | SHARED | UPDATE | EXCLUSIVE,
            SchM => u32::MAX,
        }
    }

    /// Whether two owners cannot hold these at once.
    pub fn conflicts(self, other: LockMode) -> bool {
        self.conflict_bits() & other.bit() != 0
    }

    pub(crate) fn is_weak(self) -> bool {
        self < LockMode::S
    }

    /// Whether holding this makes asking for `other` needless.
    pub fn covers(self, other: LockMode) -> bool {
        use LockMode::*;
        match self {
            SchS => other == SchS,
            IS => matches!(other, SchS | IS),
            IX => matches!(other, SchS | IS | IX),
            S => matches!(other, SchS | IS | S),
            BU => matches!(other, SchS | IS | IX | BU),
            X => other != SchM,
            SchM => true,
            U | RangeSS | RangeSU | RangeXX | RangeIN => self.covers_keys(other),
        }
    }

    /// How strong a lock of keys is, and whether of keys without rows too.
    fn of_keys(self) -> (u8, bool) {
        match self {
            LockMode::RangeSS => (0, true),
            LockMode::U => (1, false),
            LockMode::RangeSU => (1, true),
            LockMode::X => (2, false),
            LockMode::RangeXX => (2, true),
            _ => (0, false),
        }
    }

    /// Whether holding keys so makes asking for `other` on them needless.
    pub(crate) fn covers_keys(self, other: LockMode) -> bool {
        let ((own, ranges), (wanted, wants_ranges)) = (self.of_keys(), other.of_keys());
        own >= wanted && ranges >= wants_ranges
    }

    /// The mode that is as strong as both, for locks of keys.
    pub(crate) fn and_keys(self, other: LockMode) -> LockMode {
        let ((one, one_ranges), (two, two_ranges)) = (self.of_keys(), other.of_keys());
        match (one.max(two), one_ranges || two_ranges) {
            (0, false) => LockMode::S,
            (0, true) => LockMode::RangeSS,
            (1, false) => LockMode::U,
            (1, true) => LockMode::RangeSU,
            (_, false) => LockMode::X,
            (_, true) => LockMode::RangeXX,
        }
    }

    /// The wait type of who waits for it.
    pub fn wait_type(self) -> WaitType {
        match self {
            LockMode::SchS => WaitType::LCK_M_SCH_S,
            LockMode::IS => WaitType::LCK_M_IS,
            LockMode::IX => WaitType::LCK_M_IX,
            LockMode::S => WaitType::LCK_M_S,
            LockMode::U => WaitType::LCK_M_U,
            LockMode::RangeSS => WaitType::LCK_M_RS_S,
            LockMode::RangeSU => WaitType::LCK_M_RS_U,
            LockMode::RangeXX => WaitType::LCK_M_RX_X,
            LockMode::RangeIN => WaitType::LCK_M_RIn_NL,
            LockMode::BU => WaitType::LCK_M_BU,
            LockMode::X => WaitType::LCK_M_X,
            LockMode::SchM => WaitType::LCK_M_SCH_M,
        }
    }

    /// As `sys.dm_tran_locks` spells it.
    pub fn name(self) -> &'static str {
        match self {
            LockMode::SchS => "Sch-S",
            LockMode::IS => "IS",
            LockMode::IX => "IX",
            LockMode::S => "S",
            LockMode::U => "U",
            LockMode::RangeSS => "RangeS-S",
            LockMode::RangeSU => "RangeS-U",
            LockMode::RangeXX => "RangeX-X",
            LockMode::RangeIN => "RangeI-N",
            LockMode::BU => "BU",
            LockMode::X => "X",
            LockMode::SchM => "Sch-M",
        }
    }

    /// One more of a weak mode in a stripe.
    fn unit(self) -> u64 {
        1 << (self as u32 * WEAK_BITS)
    }

    /// How many of a weak mode a stripe's word counts.
    fn counted(self, word: u64) -> u64 {
        word >> (self as u32 * WEAK_BITS) & ((1 << WEAK_BITS) - 1)
    }
}

/// What an owner wants of a table lock.
#[derive(Debug, Clone, Copy)]
struct Wish {
    owner: u64,
    mode: LockMode,
    /// It holds the table in another mode, so those who wait for the table may wait for it: it does not stand behind them.
    has_some: bool,
}

struct Waiter {
    wish: Wish,
    /// One owner can wait several times: a transaction and its children.
    ticket: u64,
    /// Nothing's before the first poll, which looks at the lock by itself.
    waker: Waker,
}

/// An owner that keeps another from a lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Blocker {
    pub owner: u64,
    pub mode: LockMode,
    /// It holds the lock, rather than waiting in front.
    pub is_holder: bool,
}

#[derive(Default)]
struct Strong {
    holders: Vec<(u64, LockMode)>,
    waiters: Vec<Waiter>,
    ticket_next: u64,
}

impl Strong {
    /// The holders of strong locks, and those who have waited longer, that keep `wish` from its lock. Without a ticket it does not
    /// wait yet, and all who wait came earlier. Holders of weak locks are counted, not listed: those in the way of a strong wish are
    /// looked up in the registry.
    fn blockers(&self, wish: Wish, ticket: Option<u64>) -> impl Iterator<Item = Blocker> + '_ {
        let held = self.holders.iter().map(|(owner, mode)| Blocker { owner: *owner, mode: *mode, is_holder: true });
        let is_earlier = move |waiter: &&Waiter| ticket.is_none_or(|ticket| waiter.ticket < ticket);
        let waited = self.waiters.iter().filter(move |_| !wish.has_some).filter(is_earlier);
        let waited = waited.map(|w| Blocker { owner: w.wish.owner, mode: w.wish.mode, is_holder: false });
        held.chain(waited).filter(move |other| other.owner != wish.owner && other.mode.conflicts(wish.mode))
    }

    fn wakers(&self) -> Vec<Waker> {
        self.waiters.iter().map(|waiter| waiter.waker.clone()).collect()
    }
}

/// The lock of one table (or of another thing with a number, such as the catalog).
pub struct TableLock {
    object: u32,
    stripes: Box<[CachePadded<AtomicU64>]>,
    gate: AtomicU32,
    strong: Mutex<Strong>,
}

impl TableLock {
    /// The number of what it locks.
    pub fn number(&self) -> u32 {
        self.object
    }
}

impl std::fmt::Debug for TableLock {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "TableLock({})", self.object)
    }
}

/// A lock that was granted; given back by [`TableLock::release`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct Grant {
    pub mode: LockMode,
    stripe: usize,
}

impl TableLock {
    /// The lock of the object of this number.
    pub fn new(object: u32) -> Self {
        Self {
            object,
            stripes: (0..STRIPES).map(|_| CachePadded::new(AtomicU64::new(0))).collect(),
            gate: AtomicU32::new(0),
            strong: Mutex::new(Strong::default()),
        }
    }

    /// The object's number.
    pub fn object(&self) -> u32 {
        self.object
    }

    /// What tells it from other locks while it is there.
    pub(crate) fn address(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }

    /// Whether somebody holds or waits for a lock that conflicts with `mode`, the asker's own included.
    #[inline]
    pub(crate) fn is_wanted_against(&self, mode: LockMode) -> bool {
        self.gate.load(Ordering::Relaxed) & mode.conflict_bits() != 0
    }

    /// Takes the lock if it is free for `owner`, who holds it already in the modes `own`.
    #[inline]
    pub(crate) fn try_acquire(&self, owner: u64, own: &[LockMode], mode: LockMode) -> Option<Grant> {
        if mode.is_weak() {
            let stripe = slot::current() % STRIPES;
            // SeqCst: see the protocol in the module's header; pairs with `try_strong`.
            self.stripes[stripe].fetch_add(mode.unit(), Ordering::SeqCst);
            let grant = Grant { mode, stripe };
            if self.gate.load(Ordering::SeqCst) & mode.conflict_bits() == 0 {
                return Some(grant);
            }
            return self.settle_weak(Wish { owner, mode, has_some: !own.is_empty() }, grant);
        }
        self.try_strong(&mut lock(&self.strong), Wish { owner, mode, has_some: !own.is_empty() }, own, None)
    }

    /// A weak taker met a conflicting bit: it may be its own.
    #[cold]
    fn settle_weak(&self, wish: Wish, grant: Grant) -> Option<Grant> {
        let in_the_way = lock(&self.strong).blockers(wish, None).next().is_some();
        if !in_the_way {
            return Some(grant);
        }
        self.release(wish.owner, grant);
        None
    }

    fn try_strong(&self, strong: &mut Strong, wish: Wish, own: &[LockMode], ticket: Option<u64>) -> Option<Grant> {
        if strong.blockers(wish, ticket).next().is_some() {
            return None;
        }
        let Wish { owner, mode, .. } = wish;
        // SeqCst: see the protocol in the module's header.
        self.gate.fetch_or(mode.bit(), Ordering::SeqCst);
        let words = || self.stripes.iter().map(|stripe| stripe.load(Ordering::SeqCst));
        let of_others = |weak: LockMode| {
            let counted: u64 = words().map(|word| weak.counted(word)).sum();
            counted > own.iter().filter(|held| **held == weak).count() as u64
        };
        if WEAK.iter().any(|weak| weak.conflicts(mode) && of_others(*weak)) {
            self.reset_gate(strong);
            return None;
        }
        strong.holders.push((owner, mode));
        Some(Grant { mode, stripe: 0 })
    }

    fn reset_gate(&self, strong: &Strong) {
        let modes = strong.holders.iter().map(|(_, m)| *m);
        let waited = strong.waiters.iter().map(|w| w.wish.mode).filter(|m| !m.is_weak());
        let bits = modes.chain(waited).fold(0, |bits, m| bits | m.bit());
        self.gate.store(bits, Ordering::SeqCst);
    }

    /// Gives a granted lock back and wakes who may go on.
    #[inline]
    pub(crate) fn release(&self, owner: u64, grant: Grant) {
        if grant.mode.is_weak() {
            // SeqCst: a strong taker that counted this one either is in the gate already, or counts again later.
            self.stripes[grant.stripe].fetch_sub(grant.mode.unit(), Ordering::SeqCst);
            if self.gate.load(Ordering::SeqCst) != 0 {
                self.wake_all();
            }
            return;
        }
        let mut strong = lock(&self.strong);
        let at = strong.holders.iter().position(|(o, m)| *o == owner && *m == grant.mode);
        strong.holders.swap_remove(at.expect("a granted strong lock has its holder"));
        self.reset_gate(&strong);
        drop(strong);
        self.wake_all();
    }

    #[cold]
    fn wake_all(&self) {
        let wakers = lock(&self.strong).wakers();
        pikepole_scheduler::wake_all(wakers);
    }

    /// Puts a wait into the list: its number. From now on it keeps others out as waits of its mode do. `own`: the modes that
    /// the owner holds the lock in.
    pub(crate) fn enter(&self, owner: u64, own: &[LockMode], mode: LockMode) -> u64 {
        let mut strong = lock(&self.strong);
        strong.ticket_next += 1;
        let ticket = strong.ticket_next;
        let wish = Wish { owner, mode, has_some: !own.is_empty() };
        strong.waiters.push(Waiter { wish, ticket, waker: Waker::noop().clone() });
        self.reset_gate(&strong);
        ticket
    }

    /// Takes a wait off the list, unless it was granted.
    pub(crate) fn leave(&self, ticket: u64) {
        let mut strong = lock(&self.strong);
        let before = strong.waiters.len();
        strong.waiters.retain(|w| w.ticket != ticket);
        if strong.waiters.len() != before {
            self.reset_gate(&strong);
            drop(strong);
            self.wake_all();
        }
    }

    /// The owners of strong locks that are in the way of a listed wait; None: it is not listed any more.
    pub(crate) fn blockers(&self, ticket: u64) -> Option<Vec<Blocker>> {
        let strong = lock(&self.strong);
        let waiter = strong.waiters.iter().find(|waiter| waiter.ticket == ticket)?;
        Some(strong.blockers(waiter.wish, Some(ticket)).collect())
    }
}

/// Waits until the lock is granted to a wait that is in its list. Whoever drops it takes the wait off the list.
pub(crate) struct LockWait<'a> {
    pub lock: &'a TableLock,
    pub own: &'a [LockMode],
    /// Which of the waits for this lock it is; [`TableLock::enter`].
    pub ticket: u64,
}

impl Future for LockWait<'_> {
    type Output = Grant;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Grant> {
        let Self { lock: table, own, ticket } = *self;
        let mut strong = lock(&table.strong);
        // The waker is left before the try: whoever releases after it finds the waker.
        let waiter = strong.waiters.iter_mut().find(|waiter| waiter.ticket == ticket);
        let waiter = waiter.expect("a wait is in the list until it is granted or dropped");
        waiter.waker.clone_from(context.waker());
        let wish = waiter.wish;
        let granted = if wish.mode.is_weak() {
            table.try_weak_waiting(&strong, wish, ticket)
        } else {
            table.try_strong(&mut strong, wish, own, Some(ticket))
        };
        match granted {
            Some(grant) => {
                // Nobody may go on because of this: those behind it stand behind a holder now.
                strong.waiters.retain(|waiter| waiter.ticket != ticket);
                table.reset_gate(&strong);
                Poll::Ready(grant)
            }
            None => Poll::Pending,
        }
    }
}

impl TableLock {
    /// Takes a weak lock for a wait. No strong one can come to it meanwhile: that takes the mutex of the strong part.
    fn try_weak_waiting(&self, strong: &Strong, wish: Wish, ticket: u64) -> Option<Grant> {
        if strong.blockers(wish, Some(ticket)).next().is_some() {
            return None;
        }
        let stripe = slot::current() % STRIPES;
        // SeqCst: as in `try_acquire`.
        self.stripes[stripe].fetch_add(wish.mode.unit(), Ordering::SeqCst);
        Some(Grant { mode: wish.mode, stripe })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODES: [LockMode; 7] = {
        use LockMode::*;
        [SchS, IS, IX, S, BU, X, SchM]
    };

    #[test]
    fn conflicts_are_symmetric_and_enforced() {
        for a in MODES {
            for b in MODES {
                assert_eq!(a.conflicts(b), b.conflicts(a), "{a:?} {b:?}");
                let table = TableLock::new(7);
                let held = table.try_acquire(1, &[], a).expect("a free lock is granted");
                let granted = table.try_acquire(2, &[], b);
                assert_eq!(granted.is_none(), a.conflicts(b), "{a:?} {b:?}");
                if let Some(granted) = granted {
                    table.release(2, granted);
                }
                table.release(1, held);
                let again = table.try_acquire(2, &[], b).expect("all was given back");
                table.release(2, again);
                assert_eq!(table.gate.load(Ordering::Relaxed), 0);
            }
        }
    }

    #[test]
    fn a_waiting_strong_taker_keeps_new_weak_ones_out_and_is_granted() {
        let table = TableLock::new(7);
        let weak = table.try_acquire(1, &[], LockMode::IX).expect("free");
        let mut context = Context::from_waker(Waker::noop());
        let ticket = table.enter(2, &[], LockMode::SchM);
        let mut wait = Box::pin(LockWait { lock: &table, own: &[], ticket });
        assert!(wait.as_mut().poll(&mut context).is_pending());
        assert!(table.try_acquire(3, &[], LockMode::SchS).is_none());
        let behind = table.enter(3, &[], LockMode::SchS);
        let waiting = Blocker { owner: 2, mode: LockMode::SchM, is_holder: false };
        assert_eq!(table.blockers(behind), Some(vec![waiting]));
        table.leave(behind);
        assert_eq!(table.blockers(behind), None);
        let more = table.try_acquire(1, &[LockMode::IX], LockMode::SchS);
        let more = more.expect("who is waited for does not wait behind who waits");
        table.release(1, more);
        table.release(1, weak);
        let Poll::Ready(grant) = wait.as_mut().poll(&mut context) else {
            panic!("the lock is free");
        };
        drop(wait);
        table.release(2, grant);
        assert!(table.try_acquire(3, &[], LockMode::SchS).is_some());
    }

    #[test]
    fn a_strong_taker_that_comes_later_does_not_pass_a_weak_one() {
        let table = TableLock::new(7);
        let held = table.try_acquire(1, &[], LockMode::SchM).expect("free");
        let weak = table.enter(2, &[], LockMode::IX);
        let strong = table.enter(3, &[], LockMode::X);
        let mut context = Context::from_waker(Waker::noop());
        let mut wait = Box::pin(LockWait { lock: &table, own: &[], ticket: weak });
        assert!(wait.as_mut().poll(&mut context).is_pending());
        table.release(1, held);
        let Poll::Ready(grant) = wait.as_mut().poll(&mut context) else {
            panic!("only who came later wants it");
        };
        assert!(table.try_acquire(4, &[], LockMode::IX).is_none(), "who comes now stands behind");
        assert_eq!(table.blockers(strong), Some(vec![]), "who has it now is in the registry");
        drop(wait);
        let earlier = table.enter(5, &[], LockMode::IX);
        table.leave(strong);
        table.release(2, grant);
        assert!(table.try_acquire(3, &[], LockMode::X).is_none(), "nor does one that waits for nothing yet");
        table.leave(earlier);
        assert!(table.try_acquire(3, &[], LockMode::X).is_some());
    }

    #[test]
    fn a_dropped_wait_leaves_nothing() {
        let table = TableLock::new(7);
        let _held = table.try_acquire(1, &[], LockMode::IX).expect("free");
        let ticket = table.enter(2, &[], LockMode::X);
        let mut wait = Box::pin(LockWait { lock: &table, own: &[], ticket });
        assert!(wait.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        drop(wait);
        table.leave(ticket);
        assert!(table.try_acquire(3, &[], LockMode::IX).is_some());
    }
}
