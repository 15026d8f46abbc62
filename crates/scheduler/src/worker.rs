//! The thread of a scheduler: its run loop inside the runtime.
//!
//! ```text
//!   slice: turns of tasks, up to a millisecond ---busy---> let the runtime look at sockets and timers -> slice
//!     |                     ^
//!    idle                   | work
//!     v                     |
//!   idle hook -> sockets and timers -> spin, with the hook and, where tasks serve sockets, those -> announce sleep in the inbox -> sleep in the kernel
//! ```
//!
//! The loop is a task of the runtime, so that sockets and timers can wake it without a system call: they signal our
//! tasks from this same thread, between two slices. It is exempt from the runtime's budget, which counts what one of
//! its tasks does and would stop ours; our quantum takes its place.

use crate::context::{self, After};
use crate::home::{Home, Kind};
use crate::schedulers::{IdleHook, IdleOutcome, Moment, Shared};
use pikepole_contention::sync::{hint, thread};
use pikepole_machine::{affinity, clock, memory, node_memory};
use std::future::poll_fn;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, mpsc};
use std::task::Poll;

/// How long tasks run before the runtime is let in, in microseconds.
const SLICE_US: u64 = 1_000;
/// Pauses between two looks at the inbox while spinning.
const PAUSES: u32 = 16;
/// How often the hook is called though there is work, in microseconds; and when it has announced something.
const HOOK_EVERY_US: u64 = 200;
const HOOK_SOON_US: u64 = 50;
/// How many times longer the spin may last while the hook announces work.
const SPINS_FOR_SOON: u64 = 20;
/// A rest below this, in microseconds, is short.
const SHORT_REST_US: u64 = 1_000;
/// From so many in a row on they are expected to stay so.
const SHORT_RESTS: u32 = 16;
/// What the names of hidden schedulers' threads begin with.
const HIDDEN_NAME: &str = "hidden ";

/// Whether this is the name of a hidden scheduler's thread.
pub(crate) fn is_hidden_name(name: &str) -> bool {
    name.starts_with(HIDDEN_NAME)
}

/// Starts the thread of `home`; returns when it is pinned and its runtime stands.
pub(crate) fn start(shared: &Arc<Shared>, home: &Arc<Home>) -> io::Result<thread::JoinHandle<()>> {
    let prefix = if home.kind == Kind::Hidden { HIDDEN_NAME } else { "scheduler " };
    let (shared, home) = (Arc::clone(shared), Arc::clone(home));
    let (report, reported) = mpsc::channel();
    let thread = thread::Builder::new().name(format!("{prefix}{}", home.id)).spawn(move || {
        let prepared = prepare(&shared, &home);
        let (runtime, outcome) = match prepared {
            Ok(runtime) => (Some(runtime), Ok(())),
            Err(error) => (None, Err(error)),
        };
        // Who starts a thread waits for the report.
        let _heard = report.send(outcome);
        match runtime {
            Some(runtime) => run(&shared, &home, &runtime),
            None => home.stop(),
        }
    })?;
    let outcome = reported.recv().unwrap_or_else(|_| Err(io::Error::other("a scheduler's thread has died")));
    outcome.map(|()| thread)
}

/// Binds the thread to where it belongs, and makes its runtime.
fn prepare(shared: &Shared, home: &Home) -> io::Result<tokio::runtime::Runtime> {
    home.set_thread_number(affinity::thread_number());
    match home.cpu() {
        Some(cpu) => affinity::pin(cpu)?,
        // It would else inherit the pin of the thread that starts it.
        None if !shared.allowed.is_empty() => affinity::pin_to(&shared.allowed)?,
        None => {}
    }
    node_memory::set_near(shared.options.memory_nodes.get(home.id as usize).copied());
    memory::set_budget(shared.options.budget.clone());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build()?;
    home.runtime.get_or_init(|| runtime.handle().clone());
    Ok(runtime)
}

/// The life of the thread.
fn run(shared: &Arc<Shared>, home: &Arc<Home>, runtime: &tokio::runtime::Runtime) {
    let worker = Worker::new(shared, home);
    context::enter(shared, home, || {
        let ended = runtime.block_on(async { tokio::spawn(tokio::task::unconstrained(worker.run())).await });
        // A panic of the loop itself has gone to the panic hook; its tasks end here as at a shutdown.
        drop(ended);
        home.stop();
        let _runtime = runtime.enter();
        context::clear_queue();
        drop_tasks(home);
        context::clear_queue();
    });
    shared.forget(home);
}

/// Ends all tasks of a scheduler that runs none any more.
pub(crate) fn drop_tasks(home: &Arc<Home>) {
    home.inbox().take(drop);
    for task in home.tasks() {
        context::finish(home, &task);
    }
    // What the drops have signalled.
    home.inbox().take(drop);
}

/// How a slice ended.
enum Slice {
    /// There is more to run.
    Busy,
    /// There is nothing to run.
    Idle,
    /// The scheduler is to end.
    Over,
}

struct Worker {
    shared: Arc<Shared>,
    home: Arc<Home>,
    hook: Option<IdleHook>,
    hook_version: u64,
    quantum_ticks: u64,
    slice_ticks: u64,
    spin_ticks: u64,
    short_rest_ticks: u64,
    /// Rests in a row that were short.
    short_rests: u32,
    /// When it is next worth to say that they are.
    keep_due: u64,
    /// When the hook is due though there is work.
    hook_due: u64,
    /// When a quantum will have passed without an idle moment.
    hook_quantum_end: u64,
    /// When the runtime is to be let in.
    slice_end: u64,
    /// The next turn is for a task that was not signalled, if there is one.
    fresh_first: bool,
    /// This slice began so. Every second one does: a task that always takes its whole quantum fills a slice alone, and
    /// with the first turn of every slice it would keep the signalled ones out for ever.
    fresh_slice: bool,
    /// A timer or a socket ended the last sleep, and nothing has come from another thread since.
    woken_by_runtime: bool,
}

impl Worker {
    fn new(shared: &Arc<Shared>, home: &Arc<Home>) -> Self {
        let per_us = clock::ticks_per_us();
        Self {
            shared: Arc::clone(shared),
            home: Arc::clone(home),
            hook: None,
            hook_version: 0,
            quantum_ticks: shared.options.quantum_us * per_us,
            slice_ticks: SLICE_US * per_us,
            spin_ticks: shared.options.spin_before_park_us * per_us,
            short_rest_ticks: SHORT_REST_US * per_us,
            short_rests: 0,
            keep_due: 0,
            hook_due: 0,
            hook_quantum_end: 0,
            slice_end: 0,
            fresh_first: false,
            fresh_slice: false,
            woken_by_runtime: false,
        }
    }

    async fn run(mut self) {
        poll_fn(|context| {
            self.home.set_root(context.waker());
            Poll::Ready(())
        })
        .await;
        self.begin_slice();
        loop {
            match self.slice() {
                Slice::Busy => self.let_runtime_in().await,
                Slice::Idle => self.idle().await,
                Slice::Over => return,
            }
        }
    }

    /// From here on the loop has the thread.
    fn begin_slice(&mut self) {
        context::set_in_loop(true);
        self.slice_end = clock::ticks() + self.slice_ticks;
        self.fresh_slice = !self.fresh_slice;
        let boosts = self.shared.boosts();
        context::set_boosts(boosts);
        self.fresh_first = self.fresh_slice && !boosts;
    }

    /// Lets the runtime look at its sockets and timers.
    async fn let_runtime_in(&mut self) {
        context::set_in_loop(false);
        tokio::task::yield_now().await;
        self.begin_slice();
    }

    fn is_over(&self) -> bool {
        self.home.is_stopping() || (self.home.kind == Kind::Hidden && self.home.task_count() == 0)
    }

    /// Gives turns until the time is up or there is nothing to run.
    fn slice(&mut self) -> Slice {
        if self.is_over() {
            return Slice::Over;
        }
        let mut now = clock::ticks();
        loop {
            self.fetch();
            let Some(task) = context::pop(std::mem::take(&mut self.fresh_first)) else {
                return if now >= self.slice_end { Slice::Busy } else { Slice::Idle };
            };
            now = self.turn(task, now);
            // With nothing left to run, the idle moment comes next.
            if now >= self.hook_due && self.has_work() {
                self.call_hook_while_busy(now);
            }
            if now >= self.slice_end {
                return Slice::Busy;
            }
        }
    }

    /// Takes in what other threads have sent.
    fn fetch(&mut self) {
        if self.home.inbox().is_empty() {
            return;
        }
        self.woken_by_runtime = false;
        self.home.inbox().take(|task| {
            let refused = context::push_local(task);
            assert!(refused.is_ok(), "an inbox holds tasks of its own scheduler");
        });
    }

    /// One turn of a task that begins at `now`; when it ended.
    fn turn(&self, task: Arc<crate::task::Task>, now: u64) -> u64 {
        context::begin_quantum(now, now + self.quantum_ticks);
        let (after, end) = context::turn(&self.home, task, now);
        match after {
            After::Gone => {}
            After::Signalled(task) => context::push_signalled(task),
            After::Yielded(task) => {
                self.home.count_yield();
                context::push_fresh(task);
            }
        }
        end
    }

    fn call_hook_while_busy(&mut self, now: u64) {
        let quantum_over = now >= self.hook_quantum_end;
        if quantum_over {
            self.hook_quantum_end = now + self.quantum_ticks;
        }
        let soon = self.call_hook(Moment::Busy { quantum_over }) == IdleOutcome::Soon;
        let next_us = if soon { HOOK_SOON_US } else { HOOK_EVERY_US };
        self.hook_due = now + next_us * clock::ticks_per_us();
    }

    fn call_hook(&mut self, moment: Moment) -> IdleOutcome {
        if self.home.kind == Kind::Hidden {
            return IdleOutcome::Nothing;
        }
        if let Some(hook) = self.shared.hook_since(&mut self.hook_version) {
            self.hook = hook;
        }
        let Some(hook) = &self.hook else {
            return IdleOutcome::Nothing;
        };
        catch_unwind(AssertUnwindSafe(|| hook(moment))).unwrap_or_else(|_| {
            self.hook = None;
            IdleOutcome::Nothing
        })
    }

    fn has_work(&self) -> bool {
        !self.home.inbox().is_empty() || !context::is_queue_empty()
    }

    async fn idle(&mut self) {
        let begun = clock::ticks();
        self.rest().await;
        // What comes now is busy from now on: else its first turn would be followed by a call of the hook.
        let now = clock::ticks();
        self.note_rest(begun, now);
        self.hook_due = now + HOOK_EVERY_US * clock::ticks_per_us();
        self.hook_quantum_end = now + self.quantum_ticks;
    }

    /// Where short rests follow each other, CPUs are kept from deep sleep; said once in the time of such a rest.
    fn note_rest(&mut self, begun: u64, now: u64) {
        let is_short = now - begun < self.short_rest_ticks;
        self.short_rests = if is_short { self.short_rests.saturating_add(1) } else { 0 };
        if self.short_rests >= SHORT_RESTS && now >= self.keep_due && self.home.kind == Kind::Visible {
            self.keep_due = now + self.short_rest_ticks;
            self.shared.wakefulness.keep(&self.shared.pool);
        }
    }

    /// Lets the hook and the runtime work, spins, and sleeps, until there is something to run.
    async fn rest(&mut self) {
        let outcome = self.call_hook(Moment::Idle);
        if outcome == IdleOutcome::Worked || self.has_work() {
            return;
        }
        self.let_runtime_in().await;
        if self.has_work() || (self.may_spin(outcome) && self.spin().await) {
            return;
        }
        self.home.count_idle_switch();
        context::set_in_loop(false);
        let mut has_slept = false;
        poll_fn(|_| {
            let stays_awake = has_slept || self.is_over() || !context::is_queue_empty();
            if stays_awake || !self.home.inbox().sleep() {
                return Poll::Ready(());
            }
            has_slept = true;
            Poll::Pending
        })
        .await;
        self.woken_by_runtime = self.home.inbox().is_empty();
        self.begin_slice();
    }

    /// Whether it is worth to keep the CPU. Who sends on a socket may need this very CPU for the next request, and the kernel
    /// wakes this thread then for little; only what the hook announces is better awaited here. And where only a timer has brought
    /// work, nobody is about to bring more.
    fn may_spin(&self, outcome: IdleOutcome) -> bool {
        outcome == IdleOutcome::Soon || !(self.woken_by_runtime || self.home.serves_sockets())
    }

    /// Looks for work for a while; whether there is some. What the hook announces is waited for longer.
    ///
    /// What the hook announces may need this very CPU: the kernel ends a durable write in a thread of its own, on the CPU
    /// that the device interrupts, and lets it wait there while a thread runs that has just begun. So the CPU is offered.
    async fn spin(&mut self) -> bool {
        let begun = clock::ticks();
        let mut end = begun + self.spin_ticks;
        let last = begun + self.spin_ticks * SPINS_FOR_SOON;
        let mut soon = true;
        loop {
            if soon {
                thread::yield_now();
            } else {
                (0..PAUSES).for_each(|_| hint::spin_loop());
            }
            if !self.home.inbox().is_empty() {
                return true;
            }
            let outcome = self.call_hook(Moment::Idle);
            soon = outcome == IdleOutcome::Soon;
            match outcome {
                IdleOutcome::Worked => return true,
                IdleOutcome::Soon => end = last.min(clock::ticks() + self.spin_ticks),
                IdleOutcome::Nothing if self.may_spin(outcome) => {}
                IdleOutcome::Nothing => return self.has_work(),
            }
            if self.home.serves_sockets() {
                // Requests that come now join what is about to be written.
                self.let_runtime_in().await;
            }
            if self.has_work() {
                return true;
            }
            if clock::ticks() >= if soon { last } else { end } {
                // The last look may be long ago, and what the hook announced may be its own to do.
                return soon && self.call_hook(Moment::Idle) == IdleOutcome::Worked;
            }
        }
    }
}
