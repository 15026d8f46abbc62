//! What a thread knows of the scheduler that runs on it, and one turn of a task.
//!
//! ```text
//!   home, shared     whose thread this is
//!   current          the task whose turn it is
//!   signalled, fresh the run queue of a thread that has one
//!   METER            the CPU time of the task whose turn it is: apart, since each counted statement reads it twice, and without
//!                    anything to drop, so that no reading asks whether the thread has come to its end
//! ```
//!
//! Invariants
//! - `current` is set for the time of a turn, and for nothing else.
//! - A task is in `signalled` or `fresh` only on its own scheduler's thread.
//! - While the thread is outside of its run loop - in the runtime's sockets and timers - a task pushed here also wakes
//!   the loop.

use crate::cpu_clock::CpuClock;
use crate::home::Home;
use crate::schedulers::Shared;
use crate::task::{Task, has_local_queue, with_waker};
use pikepole_machine::clock::ticks;
use pikepole_machine::memory;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::task::{Context as PollContext, Poll};

/// See the module.
struct Context {
    shared: RefCell<Option<Arc<Shared>>>,
    home: RefCell<Option<Arc<Home>>>,
    /// The address of `home` when the thread has a run queue, to compare with and for nothing else.
    queue_of: Cell<*const Home>,
    current: RefCell<Option<Arc<Task>>>,
    signalled: RefCell<VecDeque<Arc<Task>>>,
    fresh: RefCell<VecDeque<Arc<Task>>>,
    in_loop: Cell<bool>,
    /// Signalled tasks go to the head.
    boosts: Cell<bool>,
    yields: Cell<bool>,
}

/// CPU time of a task, in ticks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CpuReading {
    /// Its own, the present turn included.
    pub own: u64,
    /// Of its workers' turns that are over.
    pub workers: u64,
}

thread_local! {
    static CONTEXT: Context = const {
        Context {
            shared: RefCell::new(None),
            home: RefCell::new(None),
            queue_of: Cell::new(std::ptr::null()),
            current: RefCell::new(None),
            signalled: RefCell::new(VecDeque::new()),
            fresh: RefCell::new(VecDeque::new()),
            in_loop: Cell::new(false),
            boosts: Cell::new(false),
            yields: Cell::new(false),
        }
    };
    static METER: Meter = const {
        Meter { cpu: CpuClock::new(), turn: Cell::new(None) }
    };
    static QUANTUM: Quantum = const {
        Quantum { end: Cell::new(UNMEASURED), asked: Cell::new(0), skips: Cell::new(0), left: Cell::new(0) }
    };
}

/// The CPU time of the current task.
struct Meter {
    cpu: CpuClock,
    turn: Cell<Option<MeteredTurn>>,
}

/// What the present turn adds to, in ticks.
#[derive(Clone, Copy)]
struct MeteredTurn {
    /// What the thread's clock said when the turn began, or was last charged.
    begin: u64,
    /// The task has had that many ticks more than the clock says, modulo 2^64.
    before: u64,
    /// What its workers had had when they were last looked at.
    workers: u64,
}

impl Meter {
    /// A turn begins, or goes on once the task has been charged with what is behind it.
    fn begin(&self, task: &Task, on_cpu: u64) {
        let before = task.cpu_ticks().wrapping_sub(on_cpu);
        self.turn.set(Some(MeteredTurn { begin: on_cpu, before, workers: task.worker_ticks() }));
    }

    fn charge(&self, task: &Task, now: u64) {
        let on_cpu = self.cpu.at(now);
        if let Some(turn) = self.turn.get() {
            task.add_cpu_ticks(on_cpu.saturating_sub(turn.begin));
        }
        self.begin(task, on_cpu);
    }

    #[inline]
    fn read(&self, now: u64) -> CpuReading {
        match self.turn.get() {
            // A reading may be behind that of the turn's begin; a task has not had less than nothing.
            Some(turn) => {
                let own = self.cpu.at(now).max(turn.begin).wrapping_add(turn.before);
                CpuReading { own, workers: turn.workers }
            }
            None => CpuReading::default(),
        }
    }
}

/// The end of a quantum on a thread whose tasks are not measured in ticks.
const UNMEASURED: u64 = 0;
/// Questions answered without a look at the clock, at most.
const SKIPS_MAX: u32 = 16;
/// Looks at the clock that come more often than this, in microseconds, are thinned out.
const ASKED_OFTEN_US: u64 = 20;

/// The quantum of the current task. A look at the clock costs some 20 ns, so of questions that follow each other
/// quickly most are answered without one; those that come slowly are not.
struct Quantum {
    /// When it ends, in ticks, or [`UNMEASURED`].
    end: Cell<u64>,
    /// When the clock was last looked at.
    asked: Cell<u64>,
    /// Questions that go unlooked between two looks.
    skips: Cell<u32>,
    /// How many of them are left.
    left: Cell<u32>,
}

/// Makes the thread that of `home` while `f` runs.
pub(crate) fn enter<R>(shared: &Arc<Shared>, home: &Arc<Home>, f: impl FnOnce() -> R) -> R {
    /// Sets the former ones again, also when `f` panics.
    struct Restore(Option<Arc<Shared>>, Option<Arc<Home>>, Option<Arc<Task>>, *const Home, Option<MeteredTurn>);
    impl Drop for Restore {
        fn drop(&mut self) {
            charge();
            CONTEXT.with(|context| {
                context.shared.replace(self.0.take());
                context.home.replace(self.1.take());
                context.current.replace(self.2.take());
                context.queue_of.set(self.3);
            });
            METER.with(|meter| meter.turn.set(self.4));
        }
    }
    let queue_of = if has_local_queue(home) { Arc::as_ptr(home) } else { std::ptr::null() };
    let _restore = CONTEXT.with(|context| {
        Restore(
            context.shared.replace(Some(Arc::clone(shared))),
            context.home.replace(Some(Arc::clone(home))),
            context.current.take(),
            context.queue_of.replace(queue_of),
            METER.with(|meter| meter.turn.take()),
        )
    });
    f()
}

/// The schedulers that the thread belongs to.
pub(crate) fn shared() -> Option<Arc<Shared>> {
    CONTEXT.with(|context| context.shared.borrow().clone())
}

/// The scheduler that the thread belongs to.
pub(crate) fn home() -> Option<Arc<Home>> {
    CONTEXT.with(|context| context.home.borrow().clone())
}

/// Whether the thread is a scheduler's, real or simulated.
pub(crate) fn on_scheduler() -> bool {
    CONTEXT.with(|context| context.home.borrow().as_ref().is_some_and(|home| home.kind != crate::home::Kind::Outside))
}

/// Calls `f` with the task whose turn it is, and the schedulers that it belongs to.
pub(crate) fn with_current<R>(f: impl FnOnce(&Shared, &Arc<Task>) -> R) -> Option<R> {
    let on_this_thread = CONTEXT.try_with(|context| {
        let (shared, current) = (context.shared.borrow(), context.current.borrow());
        Some(f(shared.as_ref()?, current.as_ref()?))
    });
    on_this_thread.ok().flatten()
}

/// CPU time of the current task at `now`; nothing outside of turns.
pub(crate) fn meter(now: u64) -> CpuReading {
    CONTEXT.with(|context| {
        if let Some(task) = context.current.borrow().as_ref() {
            METER.with(|meter| {
                meter.turn.set(meter.turn.get().map(|turn| MeteredTurn { workers: task.worker_ticks(), ..turn }))
            });
        }
    });
    meter_turn(now)
}

/// As [`meter`], but for workers, who are not looked at.
#[inline]
pub(crate) fn meter_turn(now: u64) -> CpuReading {
    METER.with(|meter| meter.read(now))
}

/// Charges the current task with its turn so far.
pub(crate) fn charge() {
    // A thread at its end has no turn any more.
    let _at_end = CONTEXT.try_with(|context| {
        if let Some(task) = context.current.borrow().as_ref() {
            METER.with(|meter| meter.charge(task, ticks()));
        }
    });
}

/// The current task's quantum, which begins now, ends at `end` ticks.
pub(crate) fn begin_quantum(now: u64, end: u64) {
    QUANTUM.with(|quantum| {
        quantum.end.set(end.max(UNMEASURED + 1));
        quantum.asked.set(now);
        quantum.skips.set(0);
        quantum.left.set(0);
    });
}

/// Whether the current task's quantum is over; None on a thread that does not measure it.
#[inline]
pub(crate) fn is_quantum_over() -> Option<bool> {
    QUANTUM.with(|quantum| match quantum.left.get().checked_sub(1) {
        Some(left) => {
            quantum.left.set(left);
            Some(false)
        }
        None => quantum.look(),
    })
}

impl Quantum {
    fn look(&self) -> Option<bool> {
        if self.end.get() == UNMEASURED {
            return None;
        }
        let now = ticks();
        let gap = now.saturating_sub(self.asked.replace(now));
        let is_often = gap < ASKED_OFTEN_US * pikepole_machine::clock::ticks_per_us();
        let skips = if is_often { (self.skips.get() * 2 + 1).min(SKIPS_MAX) } else { 0 };
        let is_over = now >= self.end.get();
        self.skips.set(skips);
        // What is over stays over until the task yields.
        self.left.set(if is_over { 0 } else { skips });
        Some(is_over)
    }
}

/// The current task gives up the rest of its quantum: once its turn is over it goes behind all others.
pub(crate) fn set_yields() {
    CONTEXT.with(|context| context.yields.set(true));
}

/// Makes the task the current one, for a thread that polls it itself, until its [`enter`] ends.
pub(crate) fn set_current(task: &Arc<Task>) {
    METER.with(|meter| meter.begin(task, meter.cpu.at(ticks())));
    CONTEXT.with(|context| context.current.replace(Some(Arc::clone(task))));
}

/// Puts a task that is new or has been signalled into this thread's queue, if the thread is its scheduler's.
pub(crate) fn push_local(task: Arc<Task>) -> Result<(), Arc<Task>> {
    let mut task = Some(task);
    // A thread at its end has no queue any more.
    let _at_end = CONTEXT.try_with(|context| {
        if let Some(own) = task.take_if(|task| Arc::as_ptr(&task.home) == context.queue_of.get()) {
            if !context.in_loop.get() {
                own.home.wake();
            }
            match own.is_new() {
                true => context.fresh.borrow_mut().push_back(own),
                false => context.push_signalled(own),
            }
        }
    });
    task.map_or(Ok(()), Err)
}

impl Context {
    #[inline]
    fn push_signalled(&self, task: Arc<Task>) {
        if self.boosts.get() {
            self.push_boosted(task);
        } else {
            self.signalled.borrow_mut().push_back(task);
        }
    }

    #[cold]
    fn push_boosted(&self, task: Arc<Task>) {
        if task.boosts.take() {
            self.signalled.borrow_mut().push_front(task);
        } else {
            self.fresh.borrow_mut().push_back(task);
        }
    }
}

/// Puts a task of this thread where the policy wants those that were signalled.
pub(crate) fn push_signalled(task: Arc<Task>) {
    CONTEXT.with(|context| context.push_signalled(task));
}

/// Puts a task behind all others of this thread.
pub(crate) fn push_fresh(task: Arc<Task>) {
    CONTEXT.with(|context| {
        if context.boosts.get() {
            task.boosts.end();
        }
        context.fresh.borrow_mut().push_back(task);
    });
}

/// Says whether tasks that are signalled go to the head of this thread's queue.
pub(crate) fn set_boosts(boosts: bool) {
    CONTEXT.with(|context| context.boosts.set(boosts));
}

/// The next task of this thread's queue; one that was not signalled comes first when `fresh_first`.
pub(crate) fn pop(fresh_first: bool) -> Option<Arc<Task>> {
    CONTEXT.with(|context| {
        let fresh = || context.fresh.borrow_mut().pop_front();
        let first = if fresh_first { fresh() } else { None };
        first.or_else(|| context.signalled.borrow_mut().pop_front()).or_else(fresh)
    })
}

/// Drops the references that the thread's queue holds, once its loop is over.
pub(crate) fn clear_queue() {
    while pop(false).is_some() {}
}

/// Whether the thread's queue is empty.
pub(crate) fn is_queue_empty() -> bool {
    CONTEXT.with(|context| context.signalled.borrow().is_empty() && context.fresh.borrow().is_empty())
}

/// Says whether the thread is in its run loop.
pub(crate) fn set_in_loop(in_loop: bool) {
    CONTEXT.with(|context| context.in_loop.set(in_loop));
}

/// What became of a task in its turn.
pub(crate) enum After {
    /// It waits, or has ended.
    Gone,
    /// It was signalled during its turn.
    Signalled(Arc<Task>),
    /// It gave up the rest of its quantum.
    Yielded(Arc<Task>),
}

/// Gives a task that was taken out of its queue one turn, which begins at `begin` ticks. What became of the task, and
/// when the turn ended.
pub(crate) fn turn(home: &Home, task: Arc<Task>, begin: u64) -> (After, u64) {
    task.run_state.begin();
    if task.is_cancelled() {
        finish(home, &task);
        return (After::Gone, ticks());
    }
    task.count_switch();
    home.count_context_switch();
    CONTEXT.with(|context| {
        METER.with(|meter| meter.begin(&task, meter.cpu.at(begin)));
        context.current.replace(Some(task));
        let polled = {
            let current = context.current.borrow();
            let task = current.as_ref().expect("set above");
            // SAFETY: the task was in the one queue that its run state allows, on its own scheduler's thread, and
            // `begin` has turned it to running: nobody else has it until `end` or `finish`.
            let poll = || with_waker(task, |waker| unsafe { task.poll(&mut PollContext::from_waker(waker)) });
            memory::turn_begins(task.heap());
            let polled = catch_unwind(AssertUnwindSafe(poll));
            task.set_heap(memory::turn_ends());
            polled
        };
        let yields = context.yields.take();
        let task = context.current.take().expect("set above");
        let end = ticks();
        METER.with(|meter| {
            meter.charge(&task, end);
            meter.turn.set(None);
        });
        let after = match polled {
            Ok(Poll::Pending) if !task.run_state.end() => After::Gone,
            Ok(Poll::Pending) => {
                task.stamp();
                if yields { After::Yielded(task) } else { After::Signalled(task) }
            }
            // A panic comes here only from dropping the future; its ending, dropped too, has told the handle.
            Ok(Poll::Ready(())) | Err(_) => {
                finish(home, &task);
                After::Gone
            }
        };
        (after, end)
    })
}

/// Ends a task that is running, or whose scheduler's thread is at its end.
pub(crate) fn finish(home: &Home, task: &Arc<Task>) {
    // SAFETY: as in `turn`: the task is running, and its poll is over; or its thread has ended its loop, and polls
    // nothing any more.
    let dropped = catch_unwind(AssertUnwindSafe(|| unsafe { task.drop_body() }));
    // A panic in a drop has no one left to tell but the panic hook, which has run.
    drop(dropped);
    task.run_state.finish();
    home.release(task);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The clock is asked again after the turn has begun, and is behind what it was taken for then.
    #[test]
    fn a_turn_has_not_less_than_nothing() {
        let meter = Meter { cpu: CpuClock::new(), turn: Cell::new(None) };
        let now = ticks();
        let begin = meter.cpu.at(now) + 1_000_000;
        for (had, workers) in [(0, 0), (77, 5)] {
            meter.turn.set(Some(MeteredTurn { begin, before: u64::wrapping_sub(had, begin), workers }));
            let reading = meter.read(now);
            assert_eq!((reading.own, reading.workers), (had, workers));
        }
    }
}
