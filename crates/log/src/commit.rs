//! Waiting until the log is durable up to a position.
//!
//! ```text
//!   committer, slot 0 --push--> stack 0 --+
//!   committer, slot 0 --push-->           +--swap all--> left over --(end <= durable)--> woken, in one batch
//!   committer, slot 3 --push--> stack 3 --+                  |
//!                                                            +--(end > durable)--> stays for the next flush
//! ```
//! With the policy [`FlushQueue::Spinlock`] all push to one list under `LOGFLUSHQ` instead, and blocks that are full or
//! due go through it too, whatever the durability: the log writer that closes a block puts it there, and each takes
//! blocks from there one by one.
//!
//! Why no wake-up is missed. A committer pushes itself, fences, and looks at `durable` again; whoever moved `durable`
//! fences, and then takes the stacks. Both fences are SeqCst, so one comes first: if the committer's, the other finds its
//! push; if the other's, the committer sees the new `durable`. The same holds for the end by `poisoned`. Of several that
//! take at once each goes by the horizon that it reads under the lock, so the last one ends all that are over.
//!
//! Each slot also notes the highest end that it waits for. Its scheduler needs a write when that is above `written`; and
//! somebody else's write is about to signal it when that is above `durable` only.

#[cfg(not(loom))]
use crate::flush::{IN_FLIGHT_MAX, Sealed};
use crate::policy::FlushQueue as Policy;
use crate::{Lsn, Poisoned};
use pikepole_contention::slot::SLOTS_MAX;
use pikepole_contention::sync::Mutex;
use pikepole_contention::sync::atomic::{AtomicBool, AtomicPtr, AtomicU8, AtomicU64, AtomicUsize, Ordering, fence};
use pikepole_contention::{CachePadded, CountedMutex, LatchClass, Spinlock, SpinlockClass, Statistics, fault};
use std::collections::VecDeque;
use std::ptr;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

/// One wait.
pub(crate) struct Waiter {
    end: u64,
    since_us: u64,
    /// None: nobody waits any more, or it was woken.
    waker: Mutex<Option<Waker>>,
    /// The next in its stack; written before the push, read after the swap.
    next: AtomicPtr<Waiter>,
}

impl Waiter {
    fn set_waker(&self, waker: Option<Waker>) -> Option<Waker> {
        let mut place = self.waker.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        std::mem::replace(&mut *place, waker)
    }

    /// Wakes nobody when its time comes.
    pub fn forget(&self) {
        self.set_waker(None);
    }
}

/// The horizon `durable` and those who wait for it.
pub(crate) struct Commits {
    durable: CachePadded<AtomicU64>,
    poisoned: AtomicBool,
    policy: AtomicU8,
    slots_used: AtomicUsize,
    slots: Box<[CachePadded<Slot>]>,
    list: Spinlock<Queue>,
    /// Blocks in `list`, for a look without the lock.
    blocks_queued: AtomicUsize,
    /// The highest end that the log writers are asked to write.
    asked: AtomicU64,
    /// Taken from the queues, and not durable yet.
    left_over: CountedMutex<Vec<Arc<Waiter>>>,
}

/// The models queue no blocks.
#[cfg(loom)]
type Sealed = ();
#[cfg(loom)]
const IN_FLIGHT_MAX: usize = 0;

/// The classic flush queue.
struct Queue {
    waiters: Vec<Arc<Waiter>>,
    /// Blocks that no log writer has taken. There is room for all that may be on their way, so no push allocates.
    blocks: VecDeque<Sealed>,
}

/// What belongs to one slot.
struct Slot {
    stack: AtomicPtr<Waiter>,
    /// The highest end that was waited for; written by the owner alone.
    wanted: AtomicU64,
}

/// What a move of the horizon brought.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Hardened {
    /// Waits that ended.
    pub waits: u64,
    /// Their time together.
    pub wait_us: u64,
}

impl Commits {
    /// Everything below `durable` is.
    pub fn new(durable: u64, policy: Policy, statistics: &Arc<Statistics>) -> Self {
        let slot = || CachePadded::new(Slot { stack: AtomicPtr::new(ptr::null_mut()), wanted: AtomicU64::new(0) });
        let queue = Queue { waiters: Vec::new(), blocks: VecDeque::with_capacity(IN_FLIGHT_MAX) };
        Self {
            durable: CachePadded::new(AtomicU64::new(durable)),
            poisoned: AtomicBool::new(false),
            policy: AtomicU8::new(policy as u8),
            slots_used: AtomicUsize::new(0),
            slots: (0..SLOTS_MAX).map(|_| slot()).collect(),
            list: Spinlock::new(SpinlockClass::LOGFLUSHQ, statistics, queue),
            blocks_queued: AtomicUsize::new(0),
            asked: AtomicU64::new(0),
            left_over: CountedMutex::new(LatchClass::LOG_LEFT_COMMITTERS, statistics, Vec::new()),
        }
    }

    /// The horizon.
    #[inline]
    pub fn durable(&self) -> u64 {
        // Acquire pairs with the Release in `advance`: who sees the horizon sees what was done before.
        self.durable.load(Ordering::Acquire)
    }

    /// Whether the log takes no more.
    pub fn is_poisoned(&self) -> bool {
        // Acquire pairs with the Release in `poison`.
        self.poisoned.load(Ordering::Acquire)
    }

    /// Changes the policy. Who queued under the old one is found there.
    pub fn set_policy(&self, policy: Policy) {
        self.policy.store(policy as u8, Ordering::Relaxed);
    }

    /// The policy in force.
    pub fn policy(&self) -> Policy {
        match self.policy.load(Ordering::Relaxed) {
            0 => Policy::Spinlock,
            _ => Policy::LockFree,
        }
    }

    /// Whether the log is durable up to `end`. Queues the task of `cx` in `waiter` when it is not.
    pub fn poll(
        &self,
        slot: usize,
        end: Lsn,
        waiter: &mut Option<Arc<Waiter>>,
        cx: &mut Context<'_>,
    ) -> Poll<Result<(), Poisoned>> {
        if let Some(outcome) = self.outcome(end) {
            return Poll::Ready(outcome);
        }
        match waiter {
            // If it is being woken just now, the lock orders this after the horizon that wakes it, which is seen below.
            Some(waiter) => drop(waiter.set_waker(Some(cx.waker().clone()))),
            None => {
                let new = Arc::new(Waiter {
                    end: end.0,
                    since_us: pikepole_contention::clock::now_us(),
                    waker: Mutex::new(Some(cx.waker().clone())),
                    next: AtomicPtr::new(ptr::null_mut()),
                });
                self.push(slot, Arc::clone(&new));
                *waiter = Some(new);
            }
        }
        if !fault::planted("commit_looks_once") {
            // Pairs with the fence in `take_all`, as the module says.
            fence(Ordering::SeqCst);
            if let Some(outcome) = self.outcome(end) {
                return Poll::Ready(outcome);
            }
        }
        Poll::Pending
    }

    fn outcome(&self, end: Lsn) -> Option<Result<(), Poisoned>> {
        if self.durable() >= end.0 {
            return Some(Ok(()));
        }
        self.is_poisoned().then_some(Err(Poisoned))
    }

    fn push(&self, slot: usize, waiter: Arc<Waiter>) {
        let own = &*self.slots[slot];
        if waiter.end > own.wanted.load(Ordering::Relaxed) {
            own.wanted.store(waiter.end, Ordering::Relaxed);
        }
        if slot >= self.slots_used.load(Ordering::Relaxed) {
            self.slots_used.fetch_max(slot + 1, Ordering::Relaxed);
        }
        if self.policy() == Policy::Spinlock {
            self.list.lock().waiters.push(waiter);
            return;
        }
        let stack = &own.stack;
        let waiter = Arc::into_raw(waiter).cast_mut();
        let mut head = stack.load(Ordering::Relaxed);
        loop {
            // SAFETY: `waiter` came from `into_raw` just now and its reference is given up only by the push below.
            unsafe { &*waiter }.next.store(head, Ordering::Relaxed);
            // Release pairs with the Acquire swap in `take_stack`: `next` and the rest of the waiter are seen there.
            // That of the ones below it is carried on, since every change of a head is a read-modify-write.
            match stack.compare_exchange_weak(head, waiter, Ordering::Release, Ordering::Relaxed) {
                Ok(_) => return,
                Err(other) => head = other,
            }
        }
    }

    /// The highest end that a task of `slot` has waited for.
    #[inline]
    pub fn wanted(&self, slot: usize) -> u64 {
        self.slots[slot].wanted.load(Ordering::Relaxed)
    }

    /// True when a task of any slot waits for more than `durable`.
    pub fn any_waits_above(&self, durable: u64) -> bool {
        let used = self.slots_used.load(Ordering::Relaxed);
        self.slots[..used].iter().any(|slot| slot.wanted.load(Ordering::Relaxed) > durable)
    }

    /// Asks the log writers to write up to `end`.
    pub fn ask(&self, end: u64) {
        self.asked.fetch_max(end, Ordering::Relaxed);
    }

    /// Up to where they were asked to.
    pub fn asked(&self) -> u64 {
        self.asked.load(Ordering::Relaxed)
    }

    /// Puts a closed block behind those that are queued.
    pub fn queue_block(&self, block: Sealed) {
        let mut queue = self.list.lock();
        queue.blocks.push_back(block);
        self.blocks_queued.store(queue.blocks.len(), Ordering::Relaxed);
    }

    /// True when blocks are queued, as of a moment ago.
    #[inline]
    pub fn has_blocks(&self) -> bool {
        self.blocks_queued.load(Ordering::Relaxed) > 0
    }

    /// Takes the first of the blocks that are queued.
    pub fn take_block(&self) -> Option<Sealed> {
        let mut queue = self.list.lock();
        let block = queue.blocks.pop_front();
        self.blocks_queued.store(queue.blocks.len(), Ordering::Relaxed);
        block
    }

    /// Holds the spinlock as a committer does.
    #[cfg(all(test, not(loom)))]
    pub fn hold_for_test(&self) -> impl Drop {
        self.list.lock()
    }

    /// Moves the horizon. The caller's lock orders the moves; [`wake_durable`](Self::wake_durable) is to follow.
    pub fn advance(&self, durable: u64) {
        let before = self.durable.load(Ordering::Relaxed);
        debug_assert!(durable >= before || crate::fault::acknowledge_first(), "durable never goes back");
        // Release pairs with the Acquire in `durable`.
        self.durable.store(durable, Ordering::Release);
    }

    /// Adds those whose wait is over to `wakers`.
    pub fn wake_durable(&self, wakers: &mut Vec<Waker>) -> Hardened {
        self.take_all(wakers)
    }

    /// Ends all waits with an error, those to come too.
    pub fn poison(&self, wakers: &mut Vec<Waker>) {
        // Release pairs with the Acquire in `is_poisoned`.
        self.poisoned.store(true, Ordering::Release);
        self.take_all(wakers);
    }

    fn take_all(&self, wakers: &mut Vec<Waker>) -> Hardened {
        let mut left_over = self.left_over.lock();
        // Pairs with the fence in `poll`, as the module says.
        fence(Ordering::SeqCst);
        let durable = if self.is_poisoned() { u64::MAX } else { self.durable() };
        let used = self.slots_used.load(Ordering::Relaxed);
        for slot in &self.slots[..used] {
            take_stack(&slot.stack, &mut left_over);
        }
        let mut queue = self.list.lock();
        left_over.append(&mut queue.waiters);
        // The classic way ends a block's waits under the spinlock.
        let _held = (self.policy() == Policy::Spinlock).then_some(queue);
        let now_us = pikepole_contention::clock::now_us();
        let mut hardened = Hardened::default();
        left_over.retain(|waiter| {
            if waiter.end > durable {
                return true;
            }
            hardened.waits += 1;
            hardened.wait_us += now_us.saturating_sub(waiter.since_us);
            wakers.extend(waiter.set_waker(None));
            false
        });
        hardened
    }
}

fn take_stack(stack: &AtomicPtr<Waiter>, into: &mut Vec<Arc<Waiter>>) {
    if stack.load(Ordering::Relaxed).is_null() {
        return;
    }
    // Acquire pairs with the Release push.
    let mut waiter = stack.swap(ptr::null_mut(), Ordering::Acquire);
    let first = into.len();
    while !waiter.is_null() {
        // SAFETY: the pointer came from `into_raw` in `push`, and the swap took it out of the stack, so its reference
        // is ours alone.
        let owned = unsafe { Arc::from_raw(waiter) };
        waiter = owned.next.load(Ordering::Relaxed);
        into.push(owned);
    }
    // A stack gives the last one first; wake in the order of queueing.
    into[first..].reverse();
}

impl Drop for Commits {
    fn drop(&mut self) {
        let mut waiters = Vec::new();
        for slot in &self.slots {
            take_stack(&slot.stack, &mut waiters);
        }
    }
}

#[cfg(all(test, loom))]
#[path = "commit_models.rs"]
mod models;
