//! The standing of transactions that write, to which their versions lead until they have ended.

use std::ptr::NonNull;

use crossbeam_epoch::Guard;
use pikepole_contention::Spinner;
use pikepole_contention::fault::planted;
use pikepole_contention::sync::atomic::{AtomicU64, Ordering};

const ACTIVE: u64 = 0;
const ENTERING: u64 = 1;
const ABORTED: u64 = 2;
const PREPARING: u64 = 3;
const COMMITTED: u64 = 4;
const STATE_BITS: u32 = 3;

/// Writers of one block: a session's transactions use one each, and the block goes to the epochs once for all of them.
const WRITERS: usize = if cfg!(shuttle) { 2 } else { 64 };

/// The standing of a transaction that writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    Active,
    /// It is about to have a time.
    Entering,
    Aborted,
    /// It has a time, and may still fail.
    Preparing(u64),
    Committed(u64),
}

/// The state of a transaction, which its versions lead to until it has ended.
pub(crate) struct Writer {
    state: AtomicU64,
    /// See [`Version::position`](crate::row::Version::position); set before the state says that it has committed.
    position: AtomicU64,
}

impl Writer {
    fn new() -> Writer {
        Writer { state: AtomicU64::new(ACTIVE), position: AtomicU64::new(0) }
    }

    /// The position in the log of its commit; zero before that.
    pub fn position(&self) -> u64 {
        self.position.load(Ordering::Relaxed)
    }

    /// Commits at `time`, and `position` in the log. Release by [`Writer::set`]: who finds it committed finds the position.
    pub fn commit(&self, time: u64, position: u64) {
        self.position.store(position, Ordering::Relaxed);
        self.set(State::Committed(time));
    }

    /// Acquire pairs with the Release of [`Writer::set`]: who finds a transaction committed sees all that it has put.
    pub fn state(&self) -> State {
        let word = self.state.load(Ordering::Acquire);
        match word & ((1 << STATE_BITS) - 1) {
            ACTIVE => State::Active,
            ENTERING => State::Entering,
            ABORTED => State::Aborted,
            PREPARING => State::Preparing(word >> STATE_BITS),
            _ => State::Committed(word >> STATE_BITS),
        }
    }

    /// Release pairs with the Acquire of [`Writer::state`]. That a state is seen in time is the clock's doing, see
    /// [`crate::transactions::Clock`].
    pub fn set(&self, state: State) {
        let word = match state {
            State::Active => ACTIVE,
            State::Entering => ENTERING,
            State::Aborted => ABORTED,
            State::Preparing(time) => time << STATE_BITS | PREPARING,
            State::Committed(time) => time << STATE_BITS | COMMITTED,
        };
        self.state.store(word, Ordering::Release);
    }

    /// The time at which it has committed, if that is `latest` or before; None: later, or not. A writer that has got such a time is
    /// waited for until it is known whether it keeps it, and `wait` learns of it; one with a later time is not, so those who wait for
    /// each other's times end.
    pub fn committed_by(&self, latest: u64, wait: impl FnOnce(Spinner)) -> Option<u64> {
        self.settled(wait, |state| match state {
            State::Preparing(time) if time > latest => Some(None),
            State::Committed(time) => Some((time <= latest).then_some(time)),
            _ => None,
        })
    }

    /// The same for a transaction that has `own` as its time to commit: a writer with that time counts as committed, and is not waited for.
    /// Two with one time who change what the other has read cannot both miss that, because each says that it enters before it looks: the
    /// one that finds it fails.
    pub fn stands_by(&self, own: u64, wait: impl FnOnce(Spinner)) -> Option<u64> {
        let counts = !planted("memory: a writer of the same time is overlooked");
        self.settled(wait, |state| match state {
            State::Preparing(time) if time == own => Some(counts.then_some(time)),
            State::Preparing(time) if time > own => Some(None),
            State::Committed(time) => Some((time <= own).then_some(time)),
            _ => None,
        })
    }

    /// Waits until `known` tells what its state comes to; one that is active or aborted has no time.
    fn settled(&self, wait: impl FnOnce(Spinner), known: impl Fn(State) -> Option<Option<u64>>) -> Option<u64> {
        let mut spinner = Spinner::new();
        let settled = loop {
            let state = self.state();
            if matches!(state, State::Active | State::Aborted) {
                break None;
            }
            if let Some(settled) = known(state) {
                break settled;
            }
            spinner.spin();
            spinner.back_off_if_due();
        };
        if spinner.spins() > 0 {
            wait(spinner);
        }
        settled
    }
}

/// The writers of a session's transactions, one after the other.
#[derive(Default)]
pub(crate) struct Writers {
    block: Option<NonNull<[Writer; WRITERS]>>,
    used: usize,
}

impl Writers {
    /// A writer that no transaction has had.
    pub fn take(&mut self) -> NonNull<Writer> {
        let new = || NonNull::from(Box::leak(Box::new(std::array::from_fn(|_| Writer::new()))));
        let block = *self.block.get_or_insert_with(new);
        let at = self.used;
        debug_assert!(at < WRITERS, "a block that is used up was given back");
        self.used += 1;
        // SAFETY: the block has as many; it is given to the epochs by `put_back` alone.
        unsafe { block.cast::<Writer>().add(at) }
    }

    /// The transaction of the last writer has ended. A block whose writers all have goes to the epochs.
    ///
    /// # Safety
    /// No version leads to the writer any more: all have a time or have left their chains.
    pub unsafe fn put_back(&mut self, guard: impl FnOnce() -> Guard) {
        if self.used == WRITERS {
            // SAFETY: this was the last of the block, and the caller says the same of each.
            unsafe { self.let_go(&guard()) };
        }
    }

    /// # Safety
    /// The transactions of all its writers have ended.
    unsafe fn let_go(&mut self, guard: &Guard) {
        self.used = 0;
        if let Some(block) = self.block.take() {
            let block = block.as_ptr();
            // SAFETY: no version leads to its writers; who came to one before that holds a guard.
            unsafe { guard.defer_unchecked(move || drop(Box::from_raw(block))) };
        }
    }

    /// # Safety
    /// The session is at its end, and the transactions of all its writers have ended.
    pub unsafe fn end(&mut self) {
        // SAFETY: the caller says so.
        unsafe { self.let_go(&crossbeam_epoch::pin()) };
    }
}
