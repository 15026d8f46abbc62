//! Latches: shared or exclusive, fair or unfair, waited for by tasks rather than threads.
//!
//! ```text
//!   word   [ shared holders : 30 | QUEUED : 1 | EXCLUSIVE : 1 ]     queue  [ t7 X ][ t8 S ][ t9 S ]  by ticket
//! ```
//!
//! | word | means | who changes it |
//! |---|---|---|
//! | EXCLUSIVE | one guard may write | taker Acquire; its guard's drop Release; handed on in fair mode |
//! | count > 0 | so many guards may read | taker Acquire; a guard's drop Release; handed on in fair mode |
//! | QUEUED | the queue is not empty | under the queue's lock only |
//!
//! EXCLUSIVE and a count exclude each other. A request that is granted at once touches the word only.
//!
//! - **Fair**: while QUEUED is set nobody passes the queue. The last holder to leave hands the latch to the longest
//!   waiter, or to all shared waiters up to the first exclusive one, without ever freeing it.
//! - **Unfair**: the last holder to leave frees the latch and signals the longest waiter, who tries again; whoever comes
//!   first takes it. A waiter that finds it taken keeps its place. A request spins and backs off before it queues. Shared requests
//!   do not join shared holders past a queue, so that readers cannot keep a writer out for ever.
//!
//! No wake-up is lost: a waiter sets QUEUED in the same atomic step that finds the latch held, under the queue's
//! lock; so the holder either sees QUEUED when it leaves, and takes the queue's lock after the waiter has entered
//! itself, or has left before that step, which then takes the latch. A signalled waiter that gives up passes the
//! signal on; one that was handed the latch leaves it as any holder does.

use crate::clock::now_us;
use crate::fault;
use crate::spinlock::Spinner;
use crate::statistics::Statistics;
use crate::sync::atomic::{AtomicU32, Ordering};
use crate::sync::{Mutex, MutexGuard};
use crate::tables::{LatchClass, SpinlockClass};
use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, PoisonError};
use std::task::{Context, Poll, Waker};

const EXCLUSIVE: u32 = 1;
const QUEUED: u32 = 2;
const ONE_SHARED: u32 = 4;

/// Spins of an unfair request before it backs off.
const SPINS_BEFORE_BACKOFF: u64 = 100;
/// Back-offs of an unfair request before it queues: all but the last yield, the last sleeps a little. None in a model, where
/// a spinning thread lets all others go first, so that it would hardly ever come to wait.
const BACKOFFS_BEFORE_WAIT: u64 = if cfg!(any(loom, shuttle)) { 0 } else { 4 };
/// The back-offs that yield.
const YIELDS_BEFORE_WAIT: u64 = BACKOFFS_BEFORE_WAIT.saturating_sub(1);

/// What a guard may do with what the latch guards.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LatchMode {
    /// Read, with other readers.
    Shared,
    /// Write, alone.
    Exclusive,
}

/// Whether a waiter can be overtaken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fairness {
    /// The latch goes from hand to hand, to the longest waiter.
    Fair,
    /// The latch is freed and goes to whoever comes first.
    Unfair,
}

/// A latch of one class.
#[derive(Debug)]
pub struct Latch {
    word: AtomicU32,
    class: LatchClass,
    fairness: Fairness,
    statistics: Arc<Statistics>,
    queue: Mutex<Queue>,
}

#[derive(Debug, Default)]
struct Queue {
    next_ticket: u64,
    /// In the order of tickets.
    waiting: VecDeque<Waiter>,
    /// Fair mode: waiters that hold the latch and have not been polled since.
    granted: Vec<u64>,
}

#[derive(Debug)]
struct Waiter {
    ticket: u64,
    mode: LatchMode,
    /// None once signalled; such a waiter is to try again.
    waker: Option<Waker>,
}

impl Queue {
    fn position(&self, ticket: u64) -> Option<usize> {
        self.waiting.binary_search_by_key(&ticket, |waiter| waiter.ticket).ok()
    }

    /// Takes a grant out, if there is one for this ticket.
    fn take_grant(&mut self, ticket: u64) -> bool {
        let position = self.granted.iter().position(|granted| *granted == ticket);
        position.map(|at| self.granted.swap_remove(at)).is_some()
    }
}

/// The word after `mode` has been added to a word that allows it.
const fn with_holder(word: u32, mode: LatchMode) -> u32 {
    match mode {
        LatchMode::Shared => word + ONE_SHARED,
        LatchMode::Exclusive => word | EXCLUSIVE,
    }
}

/// Whether a holder of `mode` may join those whom the word names.
const fn allows(word: u32, mode: LatchMode) -> bool {
    match mode {
        LatchMode::Shared => word & EXCLUSIVE == 0,
        LatchMode::Exclusive => word & !QUEUED == 0,
    }
}

impl Latch {
    /// A free latch, counted under `class`.
    pub fn new(class: LatchClass, fairness: Fairness, statistics: &Arc<Statistics>) -> Self {
        Self {
            word: AtomicU32::new(0),
            class,
            fairness,
            statistics: Arc::clone(statistics),
            queue: Mutex::new(Queue::default()),
        }
    }

    /// Takes the latch if that needs no wait. Never counted.
    #[inline]
    pub fn try_acquire(&self, mode: LatchMode) -> Option<LatchGuard<'_>> {
        let mut word = self.word.load(Ordering::Relaxed);
        while self.newcomer_may(word, mode) {
            // Acquire pairs with the Release of the last holder, in `leave`.
            match self.word.compare_exchange_weak(word, with_holder(word, mode), Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => return Some(LatchGuard { latch: self, mode }),
                Err(now) => word = now,
            }
        }
        None
    }

    /// Takes the latch, waiting for it as long as it takes. The future may be dropped at any time.
    pub fn acquire(&self, mode: LatchMode) -> Acquire<'_> {
        Acquire { latch: self, mode, wait: None }
    }

    /// Whether a request without a place in the queue may be granted.
    fn newcomer_may(&self, word: u32, mode: LatchMode) -> bool {
        let passes_queue = match self.fairness {
            Fairness::Fair => false,
            Fairness::Unfair => word & !QUEUED == 0,
        };
        allows(word, mode) && (word & QUEUED == 0 || passes_queue)
    }

    fn lock_queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Spins for an unfair latch; counted as a spinlock's collision.
    fn spin(&self, mode: LatchMode) -> Option<LatchGuard<'_>> {
        self.statistics.spinlock_collides(SpinlockClass::LATCH_SPIN_STATS);
        let mut spinner = Spinner::new();
        let mut guard = None;
        while guard.is_none() && spinner.backoffs() < BACKOFFS_BEFORE_WAIT {
            spinner.spin();
            guard = self.try_acquire(mode);
            if guard.is_none() && spinner.spins().is_multiple_of(SPINS_BEFORE_BACKOFF) {
                spinner.back_off(YIELDS_BEFORE_WAIT);
            }
        }
        self.statistics.spinlock_spun(SpinlockClass::LATCH_SPIN_STATS, &spinner);
        guard
    }

    /// Takes the latch, or else sets QUEUED in the step that finds it held. Only under the queue's lock.
    fn take_or_mark(&self, queue: &Queue, mode: LatchMode, is_first: bool) -> bool {
        debug_assert!(is_first || !queue.waiting.is_empty());
        let mut word = self.word.load(Ordering::Relaxed);
        loop {
            let takes = if is_first { allows(word, mode) } else { self.newcomer_may(word, mode) };
            let next = if takes {
                with_holder(word, mode)
            } else if fault::planted("latch_waits_unmarked") {
                word
            } else {
                word | QUEUED
            };
            // Acquire pairs with the Release of the last holder, in `leave`.
            match self.word.compare_exchange_weak(word, next, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => return takes,
                Err(now) => word = now,
            }
        }
    }

    /// Enters the queue, unless the latch can be had after all.
    fn enqueue(&self, mode: LatchMode, waker: &Waker) -> Option<u64> {
        let mut queue = self.lock_queue();
        let is_first = queue.waiting.is_empty();
        if self.take_or_mark(&queue, mode, is_first) {
            return None;
        }
        let ticket = queue.next_ticket;
        queue.next_ticket += 1;
        queue.waiting.push_back(Waiter { ticket, mode, waker: Some(waker.clone()) });
        Some(ticket)
    }

    /// A holder of `mode` leaves.
    #[inline]
    fn leave(&self, mode: LatchMode) {
        if self.fairness == Fairness::Fair {
            return self.leave_fairly(mode);
        }
        let part = match mode {
            LatchMode::Shared => ONE_SHARED,
            LatchMode::Exclusive => EXCLUSIVE,
        };
        let ordering = if fault::planted("latch_left_relaxed") {
            Ordering::Relaxed
        } else {
            // Release pairs with the Acquire in `try_acquire` and `take_or_mark`.
            Ordering::Release
        };
        if self.word.fetch_sub(part, ordering) - part == QUEUED {
            self.signal_first();
        }
    }

    fn leave_fairly(&self, mode: LatchMode) {
        let mut word = self.word.load(Ordering::Relaxed);
        loop {
            let rest = match mode {
                LatchMode::Shared => word - ONE_SHARED,
                LatchMode::Exclusive => word - EXCLUSIVE,
            };
            if rest == QUEUED {
                // The last holder keeps its hold until the queue has an heir: nobody else can change the word's
                // holders meanwhile, since QUEUED keeps newcomers out.
                return self.hand_on(mode);
            }
            let ordering = if fault::planted("latch_left_relaxed") {
                Ordering::Relaxed
            } else {
                // Release pairs with the Acquire in `try_acquire`, `take_or_mark`, `hand_on` and `grant`.
                Ordering::Release
            };
            match self.word.compare_exchange_weak(word, rest, ordering, Ordering::Relaxed) {
                Ok(_) => return,
                Err(now) => word = now,
            }
        }
    }

    /// Fair mode: the last holder gives its hold to the head of the queue.
    #[cold]
    fn hand_on(&self, mode: LatchMode) {
        let mut queue = self.lock_queue();
        let part = match mode {
            LatchMode::Shared => ONE_SHARED,
            LatchMode::Exclusive => EXCLUSIVE,
        };
        // The queue may have emptied since the caller looked; then this frees the latch.
        // AcqRel: Release for the caller's own work, pairs with the Acquire of later takers; Acquire pairs with the
        // Release of other shared holders that left before, for the heir, who learns of its grant by the queue's lock.
        self.word.fetch_sub(part, Ordering::AcqRel);
        let wakers = self.grant(&mut queue);
        drop(queue);
        wakers.into_iter().for_each(Waker::wake);
    }

    /// Fair mode: grants the head of the queue what the word allows: one exclusive waiter or the leading shared ones.
    fn grant(&self, queue: &mut Queue) -> Vec<Waker> {
        let mut wakers = Vec::new();
        while let Some(first) = Self::heir(queue) {
            let word = self.word.load(Ordering::Relaxed);
            let mode = queue.waiting[first].mode;
            // Under QUEUED and the queue's lock nobody joins the holders, but shared ones may leave: try again then.
            if !allows(word, mode) {
                break;
            }
            // Acquire pairs with the Release in `leave_fairly` and `hand_on`.
            let next = with_holder(word, mode);
            let swap = self.word.compare_exchange(word, next, Ordering::Acquire, Ordering::Relaxed);
            if swap.is_err() {
                continue;
            }
            let heir = queue.waiting.remove(first).expect("found above");
            queue.granted.push(heir.ticket);
            wakers.extend(heir.waker);
        }
        self.unmark_if_empty(queue);
        wakers
    }

    /// The place of the waiter that is next.
    fn heir(queue: &Queue) -> Option<usize> {
        if fault::planted("latch_grants_newest") {
            return queue.waiting.len().checked_sub(1);
        }
        (!queue.waiting.is_empty()).then_some(0)
    }

    fn unmark_if_empty(&self, queue: &Queue) {
        if queue.waiting.is_empty() {
            self.word.fetch_and(!QUEUED, Ordering::Relaxed);
        }
    }

    /// Unfair mode: tells the longest waiter to try again.
    #[cold]
    fn signal_first(&self) {
        let mut queue = self.lock_queue();
        let waker = queue.waiting.front_mut().and_then(|first| first.waker.take());
        drop(queue);
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Unfair mode: a waiter has been polled. True when it now holds the latch.
    fn retry(&self, ticket: u64, waker: &Waker) -> bool {
        let mut queue = self.lock_queue();
        let at = queue.position(ticket).expect("a waiter stays queued until it holds");
        if at == 0 && self.take_or_mark(&queue, queue.waiting[0].mode, true) {
            let mode = queue.waiting.pop_front().map(|first| first.mode);
            self.unmark_if_empty(&queue);
            // Shared holders do not exclude each other: each one lets the next in.
            let next = queue.waiting.front_mut();
            let next = next.filter(|next| mode == Some(LatchMode::Shared) && next.mode == LatchMode::Shared);
            let next = next.filter(|_| !fault::planted("latch_reader_lets_none_in"));
            let next = next.and_then(|next| next.waker.take());
            drop(queue);
            if let Some(next) = next {
                next.wake();
            }
            return true;
        }
        set_waker(&mut queue.waiting[at], waker);
        false
    }

    /// Fair mode: a waiter has been polled. True when the latch has been handed to it.
    fn collect(&self, ticket: u64, waker: &Waker) -> bool {
        let mut queue = self.lock_queue();
        if queue.take_grant(ticket) {
            return true;
        }
        let at = queue.position(ticket).expect("a waiter is queued or granted");
        set_waker(&mut queue.waiting[at], waker);
        false
    }

    /// A waiter gives up.
    fn cancel(&self, ticket: u64, mode: LatchMode) {
        let mut queue = self.lock_queue();
        if queue.take_grant(ticket) {
            drop(queue);
            return self.leave(mode);
        }
        let at = queue.position(ticket).expect("a waiter is queued or granted");
        let gone = queue.waiting.remove(at).expect("found above");
        let was_signalled = gone.waker.is_none();
        match self.fairness {
            // Its leaving may uncover shared waiters that the word allows.
            Fairness::Fair => {
                let wakers = if at == 0 { self.grant(&mut queue) } else { Vec::new() };
                drop(queue);
                wakers.into_iter().for_each(Waker::wake);
            }
            Fairness::Unfair => {
                self.unmark_if_empty(&queue);
                drop(queue);
                let uncovers = at == 0 && mode == LatchMode::Exclusive;
                if (was_signalled || uncovers) && !fault::planted("latch_signal_dropped") {
                    self.signal_first();
                }
            }
        }
    }
}

fn set_waker(waiter: &mut Waiter, waker: &Waker) {
    match &mut waiter.waker {
        Some(known) => known.clone_from(waker),
        none => *none = Some(waker.clone()),
    }
}

/// Holds a [`Latch`] in one mode until dropped.
#[derive(Debug)]
#[must_use = "the latch is left when the guard is dropped"]
pub struct LatchGuard<'a> {
    latch: &'a Latch,
    mode: LatchMode,
}

impl LatchGuard<'_> {
    /// The mode in which the latch is held.
    pub fn mode(&self) -> LatchMode {
        self.mode
    }
}

impl LatchGuard<'_> {
    /// The same hold, for as long as its owner likes: `latch` is the one that the guard is of.
    pub fn into_owned(self, latch: &Arc<Latch>) -> OwnedLatchGuard {
        assert!(std::ptr::eq(self.latch, &**latch), "the guard is of this latch");
        let mode = self.mode;
        std::mem::forget(self);
        OwnedLatchGuard { latch: Arc::clone(latch), mode }
    }
}

/// Holds a [`Latch`] in one mode until dropped, and keeps it alive.
#[derive(Debug)]
#[must_use = "the latch is left when the guard is dropped"]
pub struct OwnedLatchGuard {
    latch: Arc<Latch>,
    mode: LatchMode,
}

impl Drop for OwnedLatchGuard {
    fn drop(&mut self) {
        self.latch.leave(self.mode);
    }
}

impl Drop for LatchGuard<'_> {
    #[inline]
    fn drop(&mut self) {
        self.latch.leave(self.mode);
    }
}

/// The future of [`Latch::acquire`].
#[derive(Debug)]
#[must_use = "a future does nothing until polled"]
pub struct Acquire<'a> {
    latch: &'a Latch,
    mode: LatchMode,
    /// The ticket and the moment the wait began.
    wait: Option<(u64, u64)>,
}

impl<'a> Acquire<'a> {
    /// The first poll: at once, by spinning, or with a place in the queue.
    fn begin(&mut self, waker: &Waker) -> Option<LatchGuard<'a>> {
        let (latch, mode) = (self.latch, self.mode);
        if let Some(guard) = latch.try_acquire(mode) {
            return Some(guard);
        }
        if latch.fairness == Fairness::Unfair {
            let guard = latch.spin(mode);
            if guard.is_some() {
                return guard;
            }
        }
        match latch.enqueue(mode, waker) {
            Some(ticket) => {
                latch.statistics.latch_wait_begins(latch.class);
                self.wait = Some((ticket, now_us()));
                None
            }
            None => Some(LatchGuard { latch, mode }),
        }
    }
}

impl<'a> Future for Acquire<'a> {
    type Output = LatchGuard<'a>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<LatchGuard<'a>> {
        let (latch, mode) = (self.latch, self.mode);
        let Some((ticket, begin_us)) = self.wait else {
            return match self.begin(context.waker()) {
                Some(guard) => Poll::Ready(guard),
                None => Poll::Pending,
            };
        };
        let holds = match latch.fairness {
            Fairness::Fair => latch.collect(ticket, context.waker()),
            Fairness::Unfair => latch.retry(ticket, context.waker()),
        };
        if !holds {
            return Poll::Pending;
        }
        self.wait = None;
        let wait_time_us = now_us().saturating_sub(begin_us);
        latch.statistics.latch_wait_ends(latch.class, wait_time_us);
        Poll::Ready(LatchGuard { latch, mode })
    }
}

impl Drop for Acquire<'_> {
    fn drop(&mut self) {
        if let Some((ticket, begin_us)) = self.wait.take() {
            self.latch.cancel(ticket, self.mode);
            let wait_time_us = now_us().saturating_sub(begin_us);
            self.latch.statistics.latch_wait_ends(self.latch.class, wait_time_us);
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::LatchRow;
    use std::sync::atomic::AtomicU64;
    use std::task::Wake;

    const CLASS: LatchClass = LatchClass::NESTING_TRANSACTION_FULL;

    fn new(fairness: Fairness) -> (Latch, Arc<Statistics>) {
        let statistics = Statistics::new();
        (Latch::new(CLASS, fairness, &statistics), statistics)
    }

    fn row(statistics: &Statistics) -> LatchRow {
        statistics.latches()[CLASS as usize]
    }

    /// Counts the signals that it gets.
    #[derive(Default)]
    struct Signals(AtomicU64);

    impl Wake for Signals {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }

    /// A request that has been polled once, and its signals.
    struct Request<'a>(Acquire<'a>, Arc<Signals>);

    impl<'a> Request<'a> {
        fn waiting(latch: &'a Latch, mode: LatchMode) -> Self {
            let mut request = Self(latch.acquire(mode), Arc::default());
            assert!(request.poll().is_none(), "the latch is held");
            request
        }

        fn poll(&mut self) -> Option<LatchGuard<'a>> {
            let waker = Waker::from(Arc::clone(&self.1));
            match Pin::new(&mut self.0).poll(&mut Context::from_waker(&waker)) {
                Poll::Ready(guard) => Some(guard),
                Poll::Pending => None,
            }
        }

        fn signals(&self) -> u64 {
            self.1.0.load(Ordering::SeqCst)
        }
    }

    #[test]
    fn immediate_grants_are_not_counted() {
        for fairness in [Fairness::Fair, Fairness::Unfair] {
            let (latch, statistics) = new(fairness);
            let first = latch.try_acquire(LatchMode::Shared).unwrap();
            let second = latch.try_acquire(LatchMode::Shared).unwrap();
            assert!(latch.try_acquire(LatchMode::Exclusive).is_none());
            drop((first, second));
            let writer = latch.try_acquire(LatchMode::Exclusive).unwrap();
            assert_eq!(writer.mode(), LatchMode::Exclusive);
            assert!(latch.try_acquire(LatchMode::Shared).is_none());
            drop(writer);
            let mut request = latch.acquire(LatchMode::Exclusive);
            assert!(Pin::new(&mut request).poll(&mut Context::from_waker(Waker::noop())).is_ready());
            assert_eq!(row(&statistics).waiting_requests_count, 0);
            assert!(statistics.spinlocks().iter().all(|row| row.collisions == 0));
        }
    }

    #[test]
    fn a_wait_is_counted_at_its_begin_and_its_time_at_its_end() {
        for fairness in [Fairness::Fair, Fairness::Unfair] {
            let (latch, statistics) = new(fairness);
            crate::clock::set_virtual_us(Some(1_000));
            let holder = latch.try_acquire(LatchMode::Exclusive).unwrap();
            let mut request = Request::waiting(&latch, LatchMode::Shared);
            let begun = row(&statistics);
            assert_eq!((begun.waiting_requests_count, begun.wait_time_us), (1, 0));
            crate::clock::set_virtual_us(Some(1_250));
            drop(holder);
            assert_eq!(request.signals(), 1);
            let guard = request.poll();
            crate::clock::set_virtual_us(None);
            assert!(guard.is_some());
            let ended = row(&statistics);
            assert_eq!((ended.waiting_requests_count, ended.wait_time_us, ended.max_wait_time_us), (1, 250, 250));
            let spins = statistics.spinlocks()[SpinlockClass::LATCH_SPIN_STATS as usize];
            let spun = (1, SPINS_BEFORE_BACKOFF * BACKOFFS_BEFORE_WAIT, BACKOFFS_BEFORE_WAIT);
            let expected = if fairness == Fairness::Unfair { spun } else { (0, 0, 0) };
            assert_eq!((spins.collisions, spins.spins, spins.backoffs), expected);
            // Virtual time: the last back-off does not sleep.
            assert_eq!(spins.sleep_time_us, 0);
        }
    }

    #[test]
    fn an_unfair_request_backs_off_before_it_waits() {
        let (latch, statistics) = new(Fairness::Unfair);
        let holder = latch.try_acquire(LatchMode::Exclusive).unwrap();
        let mut request = Request::waiting(&latch, LatchMode::Exclusive);
        let spins = statistics.spinlocks()[SpinlockClass::LATCH_SPIN_STATS as usize];
        assert_eq!((spins.collisions, spins.backoffs), (1, BACKOFFS_BEFORE_WAIT));
        assert!(spins.sleep_time_us >= 50, "{spins:?}");
        assert_eq!(row(&statistics).waiting_requests_count, 1);
        drop(holder);
        drop(request.poll().unwrap());
    }

    #[test]
    fn a_fair_latch_is_handed_over_and_nobody_passes_the_queue() {
        let (latch, _) = new(Fairness::Fair);
        let holder = latch.try_acquire(LatchMode::Shared).unwrap();
        let mut writer = Request::waiting(&latch, LatchMode::Exclusive);
        assert!(latch.try_acquire(LatchMode::Shared).is_none(), "a writer waits");
        let mut readers = [(); 2].map(|()| Request::waiting(&latch, LatchMode::Shared));
        let mut last = Request::waiting(&latch, LatchMode::Exclusive);
        drop(holder);
        assert!(latch.try_acquire(LatchMode::Exclusive).is_none(), "it is the waiter's already");
        assert!(readers[0].poll().is_none());
        drop(writer.poll().unwrap());
        assert_eq!(readers.each_ref().map(Request::signals), [1, 1]);
        assert_eq!(last.signals(), 0);
        let guards = readers.each_mut().map(|reader| reader.poll().unwrap());
        assert!(last.poll().is_none());
        drop(guards);
        drop(last.poll().unwrap());
        assert!(latch.try_acquire(LatchMode::Exclusive).is_some());
    }

    #[test]
    fn an_unfair_latch_is_freed_and_a_waiter_keeps_its_place() {
        let (latch, _) = new(Fairness::Unfair);
        let holder = latch.try_acquire(LatchMode::Exclusive).unwrap();
        let mut first = Request::waiting(&latch, LatchMode::Exclusive);
        let mut second = Request::waiting(&latch, LatchMode::Exclusive);
        drop(holder);
        assert_eq!((first.signals(), second.signals()), (1, 0));
        let passer_by = latch.try_acquire(LatchMode::Exclusive).expect("whoever comes first");
        assert!(first.poll().is_none());
        drop(passer_by);
        assert_eq!((first.signals(), second.signals()), (2, 0));
        assert!(second.poll().is_none(), "it is not its turn");
        drop(first.poll().unwrap());
        assert_eq!(second.signals(), 1);
        drop(second.poll().unwrap());
    }

    #[test]
    fn readers_of_an_unfair_latch_cannot_keep_a_writer_out() {
        let (latch, _) = new(Fairness::Unfair);
        let reader = latch.try_acquire(LatchMode::Shared).unwrap();
        let mut writer = Request::waiting(&latch, LatchMode::Exclusive);
        assert!(latch.try_acquire(LatchMode::Shared).is_none());
        drop(reader);
        drop(writer.poll().unwrap());
    }

    #[test]
    fn who_gives_up_leaves_no_trace() {
        for fairness in [Fairness::Fair, Fairness::Unfair] {
            let (latch, statistics) = new(fairness);
            let reader = latch.try_acquire(LatchMode::Shared).unwrap();
            let writer = Request::waiting(&latch, LatchMode::Exclusive);
            let mut behind = Request::waiting(&latch, LatchMode::Shared);
            // The writer was all that kept the second reader out.
            drop(writer);
            assert_eq!(behind.signals(), 1);
            drop(behind.poll().unwrap());
            drop(reader);
            // One that gives up with the latch, or the signal, in its hand.
            let holder = latch.try_acquire(LatchMode::Exclusive).unwrap();
            let (first, mut second) =
                (Request::waiting(&latch, LatchMode::Exclusive), Request::waiting(&latch, LatchMode::Exclusive));
            drop(holder);
            drop(first);
            drop(second.poll().unwrap());
            assert!(latch.try_acquire(LatchMode::Exclusive).is_some());
            assert_eq!(row(&statistics).waiting_requests_count, 4);
        }
    }

    #[test]
    fn threads_take_turns() {
        struct Unpark(std::thread::Thread);
        impl Wake for Unpark {
            fn wake(self: Arc<Self>) {
                self.0.unpark();
            }
        }
        let lock = |latch: &Latch, mode, change: &dyn Fn()| {
            let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
            let mut request = latch.acquire(mode);
            let _guard = loop {
                match Pin::new(&mut request).poll(&mut Context::from_waker(&waker)) {
                    Poll::Ready(guard) => break guard,
                    Poll::Pending => std::thread::park(),
                }
            };
            change();
        };
        for fairness in [Fairness::Fair, Fairness::Unfair] {
            let (latch, _) = new(fairness);
            let (left, right) = (AtomicU64::new(0), AtomicU64::new(0));
            let add = |side: &AtomicU64| side.store(side.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
            std::thread::scope(|scope| {
                for _ in 0..4 {
                    scope.spawn(|| {
                        for _ in 0..500 {
                            lock(&latch, LatchMode::Exclusive, &|| {
                                add(&left);
                                add(&right);
                            });
                            lock(&latch, LatchMode::Shared, &|| {
                                assert_eq!(left.load(Ordering::Relaxed), right.load(Ordering::Relaxed));
                            });
                        }
                    });
                }
            });
            assert_eq!((left.into_inner(), right.into_inner()), (2_000, 2_000));
        }
    }
}
