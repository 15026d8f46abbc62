//! Children of a transaction: what the workers of a parallel statement change things with.
//!
//! ```text
//!   parent  id 130, snapshot, table locks         rows carry 130, so one status word ends all of them
//!     |--- child  own undo chain, own counts, own log-space reserve --\
//!     |--- child  own undo chain ...                                   +--> at its end: the family's list
//!     \--- child  dropped in the middle -------------------------------/          |
//!   parent <------ adopts the chains when none is at work any more ---------------/   then commits or rolls back
//! ```
//!
//! A child is a [`Transaction`] that sees what its parent sees, holds what its parent holds, and never ends by itself: it is
//! merged, or dropped, and its chain becomes the parent's in either case. The parent changes nothing meanwhile. Children do
//! not change each other's rows, so the order of their chains does not matter. In the log, their records are the parent's.
//!
//! | policy | a child's record is appended |
//! |---|---|
//! | FAIR_LATCH | under the family's latch, which goes from hand to hand |
//! | UNFAIR_LATCH | under the same latch, which goes to whoever comes first |
//! | PRIVATE | under none |
//!
//! Children that only read meet under a latch of their own class (NESTING_TRANSACTION_READONLY): each time before it takes
//! rows to read, a child takes it and leaves it ([`Transaction::try_meet_family`]).
//!
//! # The latch
//! is taken before any page latch and held until the record is in the log, never across an await. A child that does not get
//! it at once stops for [`Need::Nesting`](crate::Need::Nesting), holding nothing; the wait (LATCH_EX) leaves the latch with
//! the child, whose next call uses it up, whatever its end. So the time from the hand-over until the child runs again is
//! time in which nobody appends: the convoy that the policy is there to show.
//!
//! # Invariants
//! - `at_work` counts the children that have not handed in their chain; a parent neither commits nor rolls back before it is 0;
//! - a chain is in the family's list before its child is no longer counted.

use std::future::poll_fn;
use std::task::{Poll, Waker};

use pikepole_contention::sync::atomic::{AtomicUsize, Ordering};
use pikepole_contention::sync::{Arc, Mutex};
use pikepole_contention::{Fairness, Latch, LatchClass, LatchMode, OwnedLatchGuard, Statistics, WaitType};
use pikepole_log::Lsn;
use pikepole_scheduler as scheduler;

use crate::error::{Need, Stop};
use crate::lock::{LockMode, TableLock};
use crate::registry::lock;
use crate::transaction::Transaction;
use crate::undo::UndoLog;

/// How the children of a transaction append their records: the policies of NESTING_TRANSACTION_FULL and _READONLY.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(u8)]
pub enum NestedTransactions {
    /// Under the parent's latch, in the order of coming.
    FairLatch = 0,
    /// Under the parent's latch, whoever comes first.
    UnfairLatch = 1,
    /// Under no latch.
    #[default]
    Private = 2,
}

impl NestedTransactions {
    pub(crate) fn of(number: u8) -> NestedTransactions {
        match number {
            0 => NestedTransactions::FairLatch,
            1 => NestedTransactions::UnfairLatch,
            _ => NestedTransactions::Private,
        }
    }
}

/// What a child has done, for its parent.
pub(crate) struct Handed {
    pub undo: UndoLog,
    pub records: u64,
    pub log_bytes: u64,
    pub undo_bytes: i64,
    /// What comes next must be logged behind this.
    pub after: Lsn,
    /// Its last record, as in the session's cell.
    pub last_lsn: u64,
    pub unlogged: Option<crate::bulk::Unlogged>,
}

/// A parent and its children, as each of them knows it.
pub struct Family {
    at_work: AtomicUsize,
    handed: Mutex<Vec<Handed>>,
    waiting: Mutex<Vec<Waker>>,
    latch: Option<Arc<Latch>>,
    /// Table locks that the parent holds; it holds them until all children have ended.
    held: Vec<(Arc<TableLock>, LockMode)>,
}

impl std::fmt::Debug for Family {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Family").field("at_work", &self.at_work.load(Ordering::Relaxed)).finish_non_exhaustive()
    }
}

impl Family {
    pub(crate) fn new(
        policy: NestedTransactions,
        changes: bool,
        held: Vec<(Arc<TableLock>, LockMode)>,
        statistics: &Arc<Statistics>,
    ) -> Arc<Family> {
        let class = match changes {
            true => LatchClass::NESTING_TRANSACTION_FULL,
            false => LatchClass::NESTING_TRANSACTION_READONLY,
        };
        let latch = |fairness| Arc::new(Latch::new(class, fairness, statistics));
        let latch = match policy {
            NestedTransactions::FairLatch => Some(latch(Fairness::Fair)),
            NestedTransactions::UnfairLatch => Some(latch(Fairness::Unfair)),
            NestedTransactions::Private => None,
        };
        Arc::new(Family {
            at_work: AtomicUsize::new(0),
            handed: Mutex::new(Vec::new()),
            waiting: Mutex::new(Vec::new()),
            latch,
            held,
        })
    }

    pub(crate) fn is_at_work(&self) -> bool {
        // Acquire pairs with the Release in `leave`: who sees 0 finds every chain handed in.
        self.at_work.load(Ordering::Acquire) > 0
    }

    pub(crate) fn join(&self) {
        self.at_work.fetch_add(1, Ordering::Relaxed);
    }

    /// A child ends.
    pub(crate) fn leave(&self, handed: Handed) {
        lock(&self.handed).push(handed);
        // Release pairs with the Acquire in `is_at_work`.
        if self.at_work.fetch_sub(1, Ordering::Release) == 1 {
            scheduler::wake_all(std::mem::take(&mut *lock(&self.waiting)));
        }
    }

    pub(crate) fn take_handed(&self) -> Vec<Handed> {
        std::mem::take(&mut *lock(&self.handed))
    }

    /// Whether the parent's locks make asking for this one needless.
    pub(crate) fn covers(&self, table: &Arc<TableLock>, mode: LockMode) -> bool {
        self.held.iter().any(|(held, with)| Arc::ptr_eq(held, table) && with.covers(mode))
    }

    /// Waits until no child is at work.
    pub(crate) async fn ended(&self) {
        let ended = poll_fn(|context| {
            // Registered before the look, under the lock that the last child takes after it has left.
            lock(&self.waiting).push(context.waker().clone());
            if self.is_at_work() { Poll::Pending } else { Poll::Ready(()) }
        });
        scheduler::wait(WaitType::XACTWORKSPACE_SYNC, ended).await;
    }

    /// Waits for the latch.
    pub(crate) async fn latched(&self) -> Option<OwnedLatchGuard> {
        let latch = self.latch.as_ref()?;
        let guard = scheduler::wait(WaitType::LATCH_EX, latch.acquire(LatchMode::Exclusive)).await;
        Some(guard.into_owned(latch))
    }
}

/// What a transaction is in its family.
#[derive(Default)]
pub(crate) enum Kinship {
    /// It has no children, and is none.
    #[default]
    Alone,
    /// It has, or had, children whose chains it has not adopted yet.
    Parent(Arc<Family>),
    /// It is a child. The guard is the one that was waited for, until the next change.
    Child(Arc<Family>, Option<OwnedLatchGuard>),
}

/// Held by a child while it appends; nothing for others.
pub(crate) type Nested = Option<OwnedLatchGuard>;

impl Kinship {
    /// Before a change: the family's latch, if this is a child and its policy asks for it.
    #[inline]
    pub fn enter(&mut self) -> Result<Nested, Stop> {
        let Kinship::Child(family, waited) = self else {
            return Ok(None);
        };
        let Some(latch) = &family.latch else {
            return Ok(None);
        };
        match waited.take().or_else(|| latch.try_acquire(LatchMode::Exclusive).map(|guard| guard.into_owned(latch))) {
            Some(guard) => Ok(Some(guard)),
            None => Err(Stop::Need(Need::Nesting(family.clone()))),
        }
    }

    pub fn is_child(&self) -> bool {
        matches!(self, Kinship::Child(..))
    }
}

impl Transaction {
    /// Makes children for the workers of a statement, and keeps the transaction from changing anything until they have ended.
    /// `changes`: they will change rows; otherwise they only read. They are made with the locks that the transaction holds
    /// now, so take those of the statement's tables before.
    ///
    /// # Errors
    /// The need to wait for the end of children that were made before.
    ///
    /// # Panics
    /// When this is a child.
    pub fn try_begin_children(
        &mut self,
        policy: NestedTransactions,
        count: usize,
        changes: bool,
    ) -> Result<Vec<Transaction>, Stop> {
        assert!(!self.is_child(), "children have no children");
        self.try_adopt()?;
        let family = Family::new(policy, changes, self.locks_held(), &self.home.statistics);
        self.prepare_for_children(changes);
        let children = (0..count).map(|_| self.child(&family)).collect();
        self.kinship = Kinship::Parent(family);
        Ok(children)
    }

    /// Ends children, each as it is: their changes are the transaction's from now on. With all of them ended, it may change,
    /// commit and roll back again.
    pub fn merge(&mut self, children: Vec<Transaction>) {
        drop(children);
        // Others may be at work still; commit and rollback wait for them.
        let _ = self.try_adopt();
    }

    /// Takes over what the children have done.
    ///
    /// # Errors
    /// The need to wait until all have ended.
    pub(crate) fn try_adopt(&mut self) -> Result<(), Stop> {
        let Kinship::Parent(family) = &self.kinship else {
            return Ok(());
        };
        if family.is_at_work() {
            return Err(Stop::Need(Need::Children(family.clone())));
        }
        let handed = family.take_handed();
        self.kinship = Kinship::Alone;
        handed.into_iter().for_each(|handed| self.adopt(handed));
        Ok(())
    }

    /// A child that only reads is about to take rows: it passes the family's latch, where the policy has one.
    ///
    /// # Errors
    /// The need to wait for the latch.
    #[inline]
    pub fn try_meet_family(&mut self) -> Result<(), Stop> {
        self.kinship.enter().map(drop)
    }

    /// Whether children of the transaction have not ended.
    pub fn has_children_at_work(&self) -> bool {
        matches!(&self.kinship, Kinship::Parent(family) if family.is_at_work())
    }

    /// Whether this is a child.
    pub fn is_child(&self) -> bool {
        self.kinship.is_child()
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;
    use pikepole_scheduler::{Placement, Schedulers, TaskInfo};

    #[test]
    fn readers_meet_under_the_latch_of_their_class() {
        for policy in [NestedTransactions::FairLatch, NestedTransactions::UnfairLatch] {
            let statistics = Statistics::new();
            let schedulers = Schedulers::simulated(1, 1, Arc::clone(&statistics));
            let family = Family::new(policy, false, Vec::new(), &statistics);
            let [mut first, mut second] = [(); 2].map(|()| Kinship::Child(Arc::clone(&family), None));
            let held = first.enter().expect("the latch is free");
            assert!(held.is_some() && matches!(second.enter(), Err(Stop::Need(Need::Nesting(_)))));
            let info = TaskInfo { session_id: None, command: "TEST" };
            let waiter = Arc::clone(&family);
            let waits = schedulers.spawn(info, Placement::On(0), async move { waiter.latched().await.is_some() });
            schedulers.run_until_idle();
            assert!(!waits.is_finished());
            drop(held);
            assert_eq!(schedulers.block_on(waits), Ok(true));
            let row = statistics.latches()[LatchClass::NESTING_TRANSACTION_READONLY as usize];
            assert_eq!(
                (row.waiting_requests_count, statistics.waits()[WaitType::LATCH_EX as usize].waiting_tasks_count),
                (1, 1)
            );
        }
        let private = Family::new(NestedTransactions::Private, false, Vec::new(), &Statistics::new());
        assert!(matches!(Kinship::Child(private, None).enter(), Ok(None)));
    }
}
