//! Models of the primitives, checked by loom in every order that two or three threads allow.
//!
//! Each model is a function; a test checks it as it is, and a canary checks it with a fault planted (see
//! [`crate::fault`]) and expects loom to object: so each canary shows on every run that the model can see. The models
//! stay small enough for all of them to end within a minute, in a release build.

use crate::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use crate::sync::{UnsafeCell, thread};
use crate::{Chain, Fairness, Inbox, Latch, LatchClass, LatchMode, Link, Linked, RunState};
use crate::{Spinlock, SpinlockClass, Statistics, fault, slot};
use loom::sync::{Arc, Notify};
use std::future::Future;
use std::pin::pin;
use std::sync::Arc as Shared;
use std::task::{Context, Poll, Wake, Waker};

/// Checks a model in every order with at most `preemptions` forced switches.
fn check(preemptions: usize, model: fn()) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.check(model);
}

/// Set in the process of a canary's planted model, and nowhere else.
const IN_CANARY: &str = "PIKEPOLE_CANARY";

/// Declares a canary: a test that expects a model to fail with a fault planted, and to say so in these words.
///
/// A model that fails in the midst of its guards may take its process down, so the fault runs in one of its own: the
/// canary starts this same program for itself alone.
macro_rules! canary {
    ($canary:ident, $fault:literal, $preemptions:literal, $model:expr, $expected:literal) => {
        #[test]
        fn $canary() {
            if std::env::var_os(IN_CANARY).is_some() {
                fault::plant($fault);
                check($preemptions, $model);
            } else {
                expect_failure(concat!("loom_tests::", stringify!($canary)), $expected);
            }
        }
    };
}

fn expect_failure(canary: &str, expected: &str) {
    let program = std::env::current_exe().expect("the path of this test");
    let run = std::process::Command::new(program)
        .args(["--exact", canary, "--nocapture"])
        .env(IN_CANARY, "1")
        .env("RUST_BACKTRACE", "0")
        .output()
        .expect("this test runs once more");
    let said = String::from_utf8_lossy(&run.stderr);
    assert!(!run.status.success(), "the model did not see the fault of {canary}");
    assert!(said.contains(expected), "{canary} failed, but not with \"{expected}\":\n{said}");
}

/// What two threads must not touch at once: loom objects when they do.
#[derive(Default)]
struct Witness(UnsafeCell<usize>);

// SAFETY: that accesses exclude each other is what the models check, by loom's own account of each access.
unsafe impl Sync for Witness {}

impl Witness {
    fn write(&self) {
        // SAFETY: loom objects before two accesses, one of them a write, come together.
        self.0.with_mut(|value| unsafe { *value += 1 });
    }

    fn read(&self) -> usize {
        // SAFETY: loom objects before two accesses, one of them a write, come together.
        self.0.with(|value| unsafe { *value })
    }
}

/// A waker of a thread of the model, which wakes as our scheduler's do: each signal is remembered.
struct Bell(Notify);

impl Wake for Bell {
    fn wake(self: Shared<Self>) {
        self.0.notify();
    }
}

/// Runs a future on a thread of the model. A wake-up that is lost ends in loom's "deadlock".
fn block_on<F: Future>(future: F) -> F::Output {
    let bell = Shared::new(Bell(Notify::new()));
    let waker = Waker::from(Shared::clone(&bell));
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return output;
        }
        bell.0.wait();
    }
}

/// Polls a future once.
fn poll_once<F: Future + Unpin>(future: &mut F) -> Poll<F::Output> {
    std::pin::Pin::new(future).poll(&mut Context::from_waker(Waker::noop()))
}

fn threads(count: usize, body: impl Fn(usize) + Send + Sync + 'static) -> Vec<thread::JoinHandle<()>> {
    let body = Shared::new(body);
    let one = |index| {
        let body = Shared::clone(&body);
        thread::spawn(move || body(index))
    };
    (0..count).map(one).collect()
}

fn join(threads: Vec<thread::JoinHandle<()>>) {
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

// ---- spinlock ----

fn spinlock_excludes() {
    let lock = Arc::new(Spinlock::new(SpinlockClass::XDESMGR, &Statistics::new(), 0));
    let own = Arc::clone(&lock);
    let other = threads(1, move |_| *own.lock() += 1);
    *lock.lock() += 1;
    join(other);
    assert_eq!(*lock.lock(), 2);
}

#[test]
fn a_spinlock_has_one_holder() {
    check(3, spinlock_excludes);
}

canary!(
    canary_a_spinlock_released_without_release,
    "spinlock_released_relaxed",
    3,
    spinlock_excludes,
    "Causality violation"
);

// ---- latch ----

fn latch(fairness: Fairness) -> Arc<(Latch, Witness)> {
    let latch = Latch::new(LatchClass::NESTING_TRANSACTION_FULL, fairness, &Statistics::new());
    Arc::new((latch, Witness::default()))
}

/// A writer, a reader and the model's own thread each take the latch once and wait for it if they must.
fn latch_excludes(fairness: Fairness) {
    let shared = latch(fairness);
    let own = Arc::clone(&shared);
    let others = threads(2, move |index| {
        let (latch, witness) = &*own;
        if index == 0 {
            let _guard = block_on(latch.acquire(LatchMode::Exclusive));
            witness.write();
        } else {
            let _guard = block_on(latch.acquire(LatchMode::Shared));
            witness.read();
        }
    });
    {
        let (latch, witness) = &*shared;
        let _guard = block_on(latch.acquire(LatchMode::Exclusive));
        witness.write();
    }
    join(others);
    assert_eq!(shared.1.read(), 2);
    assert!(shared.0.try_acquire(LatchMode::Exclusive).is_some(), "nobody is left in it");
}

#[test]
fn a_fair_latch_excludes_and_loses_no_wake_up() {
    check(2, || latch_excludes(Fairness::Fair));
}

#[test]
fn an_unfair_latch_excludes_and_loses_no_wake_up() {
    check(2, || latch_excludes(Fairness::Unfair));
}

canary!(
    canary_a_fair_latch_left_without_release,
    "latch_left_relaxed",
    2,
    || latch_excludes(Fairness::Fair),
    "Causality violation"
);

canary!(
    canary_an_unfair_latch_left_without_release,
    "latch_left_relaxed",
    2,
    || latch_excludes(Fairness::Unfair),
    "Causality violation"
);

canary!(
    canary_a_waiter_that_is_not_marked_in_the_word_fairly,
    "latch_waits_unmarked",
    2,
    || latch_excludes(Fairness::Fair),
    "deadlock"
);

canary!(
    canary_a_waiter_that_is_not_marked_in_the_word_unfairly,
    "latch_waits_unmarked",
    2,
    || latch_excludes(Fairness::Unfair),
    "deadlock"
);

/// A reader locks a key and then looks for its row under the page's latch; a writer latches the page, and puts the row there
/// unless it finds the lock. What is read and written beside the latch is relaxed: the latch alone orders it.
fn a_lock_or_the_row_is_seen() {
    let latch = Latch::new(LatchClass::BUFFER, Fairness::Unfair, &Statistics::new());
    let page = Arc::new((latch, AtomicUsize::new(0), AtomicUsize::new(0)));
    let own = Arc::clone(&page);
    let writer = threads(1, move |_| {
        let (latch, locks, rows) = &*own;
        let _guard = block_on(latch.acquire(LatchMode::Exclusive));
        if locks.load(Ordering::Relaxed) == 0 {
            rows.store(1, Ordering::Relaxed);
        }
    });
    let (latch, locks, rows) = &*page;
    let looks_first = fault::planted("row_looked_for_before_its_lock");
    if !looks_first {
        locks.fetch_add(1, Ordering::Relaxed);
    }
    let seen = {
        let _guard = block_on(latch.acquire(LatchMode::Shared));
        rows.load(Ordering::Relaxed)
    };
    if looks_first {
        locks.fetch_add(1, Ordering::Relaxed);
    }
    join(writer);
    assert_eq!(seen, rows.load(Ordering::Relaxed), "a row came to a key that was locked");
}

#[test]
fn no_row_comes_to_a_locked_key() {
    check(3, a_lock_or_the_row_is_seen);
}

canary!(
    canary_a_key_that_is_locked_after_the_look,
    "row_looked_for_before_its_lock",
    3,
    a_lock_or_the_row_is_seen,
    "a row came to a key that was locked"
);

/// Readers that wait behind a writer get in together: each holds the latch until it has met the other.
fn latch_lets_readers_in(fairness: Fairness) {
    let shared = latch(fairness);
    let (latch, witness) = &*shared;
    let writer = block_on(latch.acquire(LatchMode::Exclusive));
    let own = Arc::clone(&shared);
    let meetings = [Notify::new(), Notify::new()];
    let readers = threads(2, move |index| {
        let (latch, witness) = &*own;
        let _guard = block_on(latch.acquire(LatchMode::Shared));
        witness.read();
        meetings[1 - index].notify();
        meetings[index].wait();
    });
    witness.write();
    drop(writer);
    join(readers);
    assert!(latch.try_acquire(LatchMode::Exclusive).is_some(), "nobody is left in it");
}

#[test]
fn readers_behind_a_writer_all_get_in() {
    check(2, || latch_lets_readers_in(Fairness::Fair));
    check(2, || latch_lets_readers_in(Fairness::Unfair));
}

canary!(
    canary_a_reader_that_lets_no_other_in,
    "latch_reader_lets_none_in",
    2,
    || latch_lets_readers_in(Fairness::Unfair),
    "deadlock"
);

/// A waiter gives up while another thread leaves; a second waiter must still get in.
fn latch_survives_cancelling(fairness: Fairness) {
    let shared = latch(fairness);
    let (latch, _) = &*shared;
    let holder = block_on(latch.acquire(LatchMode::Exclusive));
    let mut first = latch.acquire(LatchMode::Exclusive);
    assert!(poll_once(&mut first).is_pending());
    let own = Arc::clone(&shared);
    let second = threads(1, move |_| {
        let (latch, witness) = &*own;
        let _guard = block_on(latch.acquire(LatchMode::Exclusive));
        witness.write();
    });
    drop(holder);
    drop(first);
    join(second);
    assert!(latch.try_acquire(LatchMode::Exclusive).is_some(), "nobody is left in it");
}

#[test]
fn a_waiter_that_gives_up_passes_the_latch_on() {
    check(3, || latch_survives_cancelling(Fairness::Fair));
    check(3, || latch_survives_cancelling(Fairness::Unfair));
}

canary!(
    canary_a_waiter_that_gives_up_with_its_signal,
    "latch_signal_dropped",
    3,
    || latch_survives_cancelling(Fairness::Unfair),
    "deadlock"
);

/// Waiters of a fair latch, one after the other in the queue, are served in that order, whatever comes later.
fn fair_latch_keeps_order() {
    let shared = latch(Fairness::Fair);
    let (latch, _) = &*shared;
    let holder = block_on(latch.acquire(LatchMode::Exclusive));
    let mut first = latch.acquire(LatchMode::Exclusive);
    assert!(poll_once(&mut first).is_pending());
    let mut second = latch.acquire(LatchMode::Shared);
    assert!(poll_once(&mut second).is_pending());
    let own = Arc::clone(&shared);
    let late = threads(1, move |_| drop(block_on(own.0.acquire(LatchMode::Exclusive))));
    drop(holder);
    assert!(poll_once(&mut second).is_pending(), "overtaken by a later waiter");
    let Poll::Ready(guard) = poll_once(&mut first) else {
        panic!("overtaken by a later waiter");
    };
    drop(guard);
    let Poll::Ready(guard) = poll_once(&mut second) else {
        panic!("overtaken by a later waiter");
    };
    drop(guard);
    join(late);
}

#[test]
fn a_fair_latch_goes_to_the_longest_waiter() {
    check(3, fair_latch_keeps_order);
}

canary!(canary_a_fair_latch_that_favours_the_newest, "latch_grants_newest", 3, fair_latch_keeps_order, "overtaken");

// ---- slots ----

/// Two threads claim, use and give back; a third round meets what they left.
fn slot_has_one_owner() {
    let shared = Arc::new(slot::Slots::new());
    let witnesses: Arc<Vec<Witness>> = Arc::new((0..slot::SLOTS_MAX).map(|_| Witness::default()).collect());
    let (own, own_witnesses) = (Arc::clone(&shared), Arc::clone(&witnesses));
    let body = move |_: usize| {
        let slot = own.claim().expect("there are more slots than threads");
        own_witnesses[slot].write();
        own.give_back(slot);
    };
    let others = threads(2, body);
    let slot = shared.claim().expect("there are more slots than threads");
    witnesses[slot].write();
    shared.give_back(slot);
    join(others);
    assert_eq!(witnesses.iter().map(Witness::read).sum::<usize>(), 3);
}

#[test]
fn a_slot_has_one_owner_at_a_time() {
    check(2, slot_has_one_owner);
}

canary!(canary_a_slot_claimed_carelessly, "slot_claim_by_store", 2, slot_has_one_owner, "Causality violation");

canary!(canary_a_slot_given_back_carelessly, "slot_given_back_relaxed", 2, slot_has_one_owner, "Causality violation");

// ---- inbox and run state: how a scheduler is woken ----

/// What a scheduler's thread and a waker on another thread do, without the scheduler.
struct Job {
    state: RunState,
    link: Link<Job>,
    input: Witness,
    is_ready: AtomicBool,
}

impl Linked for Job {
    fn link(&self) -> &Link<Self> {
        &self.link
    }
}

impl Job {
    fn new() -> Shared<Self> {
        let (input, is_ready) = (Witness::default(), AtomicBool::new(false));
        Shared::new(Self { state: RunState::queued(), link: Link::default(), input, is_ready })
    }
}

struct Owner {
    inbox: Inbox<Job>,
    bell: Notify,
}

impl Owner {
    fn new() -> Arc<Self> {
        Arc::new(Self { inbox: Inbox::new(), bell: Notify::new() })
    }

    fn push(&self, job: &Shared<Job>) {
        if self.inbox.push(Chain::of(Shared::clone(job))) {
            self.bell.notify();
        }
    }
}

/// A task waits for two signals of two threads; its scheduler sleeps when it has nothing to run.
fn wake_ups_arrive() {
    let (owner, job) = (Owner::new(), Job::new());
    let signals = Arc::new(AtomicUsize::new(0));
    let (to, task, given) = (Arc::clone(&owner), Shared::clone(&job), Arc::clone(&signals));
    let signallers = threads(2, move |_| {
        given.fetch_add(1, Ordering::Relaxed);
        if task.state.signal() {
            to.push(&task);
        }
    });
    let mut queue = vec![job];
    loop {
        owner.inbox.take(|job| queue.push(job));
        if let Some(job) = queue.pop() {
            job.state.begin();
            if signals.load(Ordering::Relaxed) == 2 {
                job.state.finish();
                break;
            }
            if job.state.end() {
                queue.push(job);
            }
        } else if owner.inbox.sleep() {
            owner.bell.wait();
        }
    }
    join(signallers);
}

#[test]
fn no_signal_to_a_task_is_lost() {
    check(2, wake_ups_arrive);
}

canary!(canary_a_task_that_forgets_a_signal, "run_state_ends_blindly", 2, wake_ups_arrive, "deadlock");

canary!(canary_a_scheduler_that_sleeps_blindly, "inbox_sleeps_blindly", 2, wake_ups_arrive, "deadlock");

/// What a signaller wrote before its signal is seen by the turn that it brings about, queued or not.
fn signals_hand_over() {
    let (owner, job) = (Owner::new(), Job::new());
    job.state.begin();
    let (to, task) = (Arc::clone(&owner), Shared::clone(&job));
    let signaller = threads(1, move |_| {
        task.input.write();
        if task.state.signal() {
            to.push(&task);
        }
    });
    let mut is_signalled = job.state.end();
    while !is_signalled {
        owner.inbox.take(|_| is_signalled = true);
        if !is_signalled && owner.inbox.sleep() {
            owner.bell.wait();
        }
    }
    job.state.begin();
    assert_eq!(job.input.read(), 1);
    job.state.finish();
    join(signaller);
}

#[test]
fn a_signal_carries_what_was_written_before_it() {
    check(3, signals_hand_over);
}

canary!(canary_a_signal_without_release, "run_state_signals_relaxed", 3, signals_hand_over, "Causality violation");

/// What a pusher wrote before its push is seen by who takes the item, and each item is taken once.
fn inbox_hands_over() {
    let owner = Owner::new();
    let jobs: Vec<_> = (0..2).map(|_| Job::new()).collect();
    let (to, own) = (Arc::clone(&owner), jobs.clone());
    let pushers = threads(2, move |index| {
        own[index].input.write();
        own[index].is_ready.store(true, Ordering::Relaxed);
        to.push(&own[index]);
    });
    let mut taken = 0;
    while taken < 2 {
        owner.inbox.take(|job| {
            assert!(job.is_ready.load(Ordering::Relaxed));
            assert_eq!(job.input.read(), 1);
            taken += 1;
        });
        if taken < 2 && owner.inbox.sleep() {
            owner.bell.wait();
        }
    }
    join(pushers);
    assert!(owner.inbox.is_empty());
}

#[test]
fn an_inbox_hands_each_item_over_once() {
    check(2, inbox_hands_over);
}

canary!(canary_an_inbox_without_release, "inbox_pushed_relaxed", 2, inbox_hands_over, "one inbox at a time");
