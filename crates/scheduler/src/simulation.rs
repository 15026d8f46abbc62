//! The twin: schedulers without threads, in an order that follows from a seed, in virtual time.
//!
//! ```text
//!   each step:  inboxes -> queues     then one of:  a task of any queue, by chance; with BOOST_1000 the head of one
//!                                                   the future that block_on was given
//!                                                   nothing can run: idle hooks, then the next timer
//! ```
//!
//! Invariants
//! - One thread at a time drives; nothing of it runs otherwise.
//! - All chance comes from one generator, and nothing depends on addresses, real time or other threads. So the same
//!   seed and the same calls give the same order of turns.
//! - Time moves by a microsecond a turn, and to the next timer when nothing can run.

use crate::context::{self, After};
use crate::home::{Home, Kind};
use crate::schedulers::{IdleHook, IdleOutcome, Moment, Shared};
use crate::task::{Task, with_waker};
use crate::worker;
use pikepole_contention::sync::{Mutex, MutexGuard};
use pikepole_contention::{clock, slot};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::{Arc, PoisonError, TryLockError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

/// The slot of the thread that drives, while it runs no task.
const DRIVER_SLOT: usize = slot::SLOTS_MAX - 1;
/// One in so many questions says that the quantum is over, and one in so many steps calls an idle hook.
const CHANCE: u64 = 8;

/// See the module.
pub(crate) struct Simulation {
    state: Mutex<State>,
    /// Held by the thread that drives.
    driver: Mutex<()>,
}

struct State {
    chance: u64,
    now_us: u64,
    timers: BinaryHeap<Reverse<Timer>>,
    timers_made: u64,
    /// By the id of the scheduler.
    queues: BTreeMap<u32, Vec<Arc<Task>>>,
    hook: Option<IdleHook>,
    hook_version: u64,
}

/// Ordered by its time; of equals the first made is first.
struct Timer {
    due_us: u64,
    number: u64,
    waker: Waker,
}

impl PartialEq for Timer {
    fn eq(&self, other: &Self) -> bool {
        self.number == other.number
    }
}

impl Eq for Timer {}

impl PartialOrd for Timer {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Timer {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.due_us, self.number).cmp(&(other.due_us, other.number))
    }
}

impl State {
    /// The next number of the generator (splitmix64, Steele, Lea and Flood 2014).
    fn next(&mut self) -> u64 {
        self.chance = self.chance.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.chance;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ (word >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    /// Takes out a task by its place among all that are queued; the head of its queue where queues are in order.
    fn remove(&mut self, mut place: usize, in_order: bool) -> Arc<Task> {
        for queue in self.queues.values_mut() {
            if place < queue.len() {
                return queue.remove(if in_order { 0 } else { place });
            }
            place -= queue.len();
        }
        unreachable!("the place is below the number of queued tasks")
    }
}

/// What the next step is.
enum Step {
    Task(Arc<Task>),
    Main,
    Nothing,
}

/// Keeps the thread in virtual time.
struct VirtualTime(Option<u64>);

impl Drop for VirtualTime {
    fn drop(&mut self) {
        clock::set_virtual_us(self.0);
    }
}

impl Simulation {
    pub(crate) fn new(seed: u64) -> Self {
        let state = State {
            chance: seed,
            now_us: 1,
            timers: BinaryHeap::new(),
            timers_made: 0,
            queues: BTreeMap::new(),
            hook: None,
            hook_version: 0,
        };
        Self { state: Mutex::new(state), driver: Mutex::new(()) }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn now_us(&self) -> u64 {
        self.lock().now_us
    }

    /// Whether the current task's quantum is over, by chance.
    pub(crate) fn quantum_over(&self) -> bool {
        self.lock().next().is_multiple_of(CHANCE)
    }

    pub(crate) async fn sleep(&self, duration: Duration) {
        let due_us = self.now_us().saturating_add(duration.as_micros() as u64);
        let mut is_set = false;
        poll_fn(|context| {
            let mut state = self.lock();
            if state.now_us >= due_us {
                return Poll::Ready(());
            }
            if !std::mem::replace(&mut is_set, true) {
                let number = state.timers_made;
                state.timers_made += 1;
                let waker = context.waker().clone();
                state.timers.push(Reverse(Timer { due_us, number, waker }));
            }
            Poll::Pending
        })
        .await;
    }

    /// Becomes the thread that drives, in virtual time.
    fn drive<R>(&self, f: impl FnOnce() -> R) -> R {
        let _driver = match self.driver.try_lock() {
            Ok(driver) => driver,
            // A panic of what was driven before leaves nothing half done here.
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => panic!("one thread drives a simulation"),
        };
        let _time = VirtualTime(clock::virtual_us());
        clock::set_virtual_us(Some(self.now_us()));
        slot::simulate(DRIVER_SLOT, f)
    }

    pub(crate) fn block_on<F: Future>(&self, shared: &Arc<Shared>, id: u64, mut future: Pin<&mut F>) -> F::Output {
        self.drive(|| {
            let home = Home::new(u32::MAX, None, Kind::Outside, true);
            let main = Task::new(id, None, "", Arc::clone(&home), None);
            let mut main_is_queued = true;
            loop {
                home.inbox().take(|_| main_is_queued = true);
                match self.choose(shared, main_is_queued) {
                    Step::Task(task) => self.turn(shared, task),
                    Step::Main => {
                        main_is_queued = false;
                        main.run_state.begin();
                        let polled = context::enter(shared, &home, || {
                            context::set_current(&main);
                            with_waker(&main, |waker| future.as_mut().poll(&mut Context::from_waker(waker)))
                        });
                        if let Poll::Ready(output) = polled {
                            main.run_state.finish();
                            return output;
                        }
                        if main.run_state.end() {
                            main.stamp();
                            main_is_queued = true;
                        }
                    }
                    Step::Nothing => {
                        if !self.call_hooks(shared) && !self.fire_next_timer(u64::MAX) {
                            self.panic_stuck(shared);
                        }
                    }
                }
            }
        })
    }

    /// Runs what can run, and what comes due within this time.
    pub(crate) fn advance(&self, shared: &Arc<Shared>, time: Duration) {
        self.drive(|| {
            let until_us = self.now_us().saturating_add(time.as_micros() as u64);
            loop {
                match self.choose(shared, false) {
                    Step::Task(task) => self.turn(shared, task),
                    Step::Main => unreachable!("there is no future besides the tasks"),
                    Step::Nothing => {
                        if !self.call_hooks(shared) && !self.fire_next_timer(until_us) {
                            break;
                        }
                    }
                }
            }
            let mut state = self.lock();
            state.now_us = state.now_us.max(until_us);
        });
    }

    /// Fetches what has been signalled and picks one of all that can run.
    fn choose(&self, shared: &Arc<Shared>, main_is_queued: bool) -> Step {
        let hidden = shared.hidden();
        for home in hidden.iter().filter(|home| home.task_count() == 0) {
            shared.forget(home);
        }
        let boosts = shared.boosts();
        let mut state = self.lock();
        for home in shared.homes.iter().chain(&hidden) {
            let queue = state.queues.entry(home.id).or_default();
            home.inbox().take(|task| push(queue, task, boosts));
        }
        let queued: usize = state.queues.values().map(Vec::len).sum();
        let all = queued + usize::from(main_is_queued);
        if all == 0 {
            return Step::Nothing;
        }
        state.now_us += 1;
        clock::set_virtual_us(Some(state.now_us));
        let place = state.below(all);
        let step = if place < queued { Step::Task(state.remove(place, boosts)) } else { Step::Main };
        let busy_hook = state.next().is_multiple_of(CHANCE).then(|| state.below(shared.homes.len()));
        drop(state);
        if let Some(index) = busy_hook {
            self.call_hook(shared, index, Moment::Busy { quantum_over: true });
        }
        step
    }

    fn turn(&self, shared: &Arc<Shared>, task: Arc<Task>) {
        let home = Arc::clone(&task.home);
        let begin = pikepole_machine::clock::ticks();
        let (after, _) = slot::simulate(slot_of(shared, &home), || {
            context::enter(shared, &home, || context::turn(&home, task, begin))
        });
        let (task, boosts) = match after {
            After::Gone => return,
            After::Signalled(task) => (task, shared.boosts()),
            After::Yielded(task) => {
                home.count_yield();
                task.boosts.end();
                (task, false)
            }
        };
        push(self.lock().queues.entry(home.id).or_default(), task, boosts);
    }

    /// Calls the hook on each scheduler; whether one did something.
    fn call_hooks(&self, shared: &Arc<Shared>) -> bool {
        let outcomes = (0..shared.homes.len()).map(|index| self.call_hook(shared, index, Moment::Idle));
        let worked = outcomes.filter(|outcome| *outcome == IdleOutcome::Worked).count() > 0;
        worked || shared.homes.iter().any(|home| !home.inbox().is_empty())
    }

    fn call_hook(&self, shared: &Arc<Shared>, index: usize, moment: Moment) -> IdleOutcome {
        let hook = {
            let state = &mut *self.lock();
            if let Some(hook) = shared.hook_since(&mut state.hook_version) {
                state.hook = hook;
            }
            state.hook.clone()
        };
        let Some(hook) = hook else {
            return IdleOutcome::Nothing;
        };
        let home = &shared.homes[index];
        slot::simulate(slot_of(shared, home), || context::enter(shared, home, || hook(moment)))
    }

    /// Lets time pass to the next timer, if it is due by then, and signals its task.
    fn fire_next_timer(&self, until_us: u64) -> bool {
        let mut state = self.lock();
        let Some(Reverse(next)) = state.timers.peek() else {
            return false;
        };
        if next.due_us > until_us {
            return false;
        }
        state.now_us = state.now_us.max(next.due_us);
        clock::set_virtual_us(Some(state.now_us));
        let Some(Reverse(timer)) = state.timers.pop() else {
            return false;
        };
        drop(state);
        timer.waker.wake();
        true
    }

    fn panic_stuck(&self, shared: &Shared) -> ! {
        let now_us = self.now_us();
        let hidden = shared.hidden();
        let tasks = shared.homes.iter().chain(&hidden).flat_map(|home| home.tasks());
        let tasks: Vec<_> = tasks.map(|task| task.row(now_us)).collect();
        panic!("the simulation is stuck: every task waits for another\n{tasks:#?}");
    }

    /// Drops all tasks, at the end.
    pub(crate) fn drop_tasks(&self, shared: &Arc<Shared>) {
        let hidden = shared.hidden();
        for home in shared.homes.iter().chain(&hidden) {
            let tasks = self.lock().queues.remove(&home.id);
            drop(tasks);
            slot::simulate(slot_of(shared, home), || context::enter(shared, home, || worker::drop_tasks(home)));
        }
        let timers = std::mem::take(&mut self.lock().timers);
        drop(timers);
    }
}

/// Puts a task into the queue of its scheduler: to the head if it is boosted, else to the end.
fn push(queue: &mut Vec<Arc<Task>>, task: Arc<Task>, boosts: bool) {
    if boosts && !task.is_new() && task.boosts.take() {
        queue.insert(0, task);
    } else {
        queue.push(task);
    }
}

/// The slot that the tasks of a simulated scheduler meet: its index, hidden ones after the visible.
fn slot_of(shared: &Shared, home: &Home) -> usize {
    match home.kind {
        Kind::Hidden => {
            let rest = DRIVER_SLOT - shared.homes.len();
            shared.homes.len() + (home.id - crate::home::HIDDEN_FROM) as usize % rest
        }
        Kind::Visible | Kind::Outside => home.id as usize,
    }
}

#[cfg(test)]
mod tests {
    use crate::*;
    use pikepole_contention::sync::Mutex;
    use pikepole_contention::{Statistics, WaitType, slot};
    use std::sync::Arc;
    use std::time::Duration;

    const INFO: TaskInfo = TaskInfo { session_id: None, command: "TEST" };

    /// What a simulation of some tasks that spawn, yield, wait and sleep does, in its order.
    fn trace(seed: u64) -> (Vec<String>, u64) {
        let statistics = Statistics::new();
        let schedulers = Schedulers::simulated(seed, 3, Arc::clone(&statistics));
        let events: Arc<Mutex<Vec<String>>> = Arc::default();
        let note = {
            let events = Arc::clone(&events);
            move |what: String| {
                let place = (current_scheduler(), slot::current());
                events.lock().unwrap().push(format!("{what} on {place:?} at {}", pikepole_contention::clock::now_us()));
            }
        };
        let hook = note.clone();
        schedulers.set_idle_hook(Arc::new(move |_| {
            hook("hook".to_owned());
            IdleOutcome::Nothing
        }));
        let hidden = note.clone();
        let _writer = schedulers.hidden("LOG WRITER", None, async move {
            loop {
                wait(WaitType::LOGMGR_QUEUE, sleep(Duration::from_micros(700))).await;
                hidden("writer".to_owned());
            }
        });
        let sessions: Vec<_> = (0..6)
            .map(|session| {
                let note = note.clone();
                schedulers.spawn(INFO, Placement::LeastLoaded, async move {
                    for round in 0..5 {
                        note(format!("session {session} round {round}"));
                        yield_if_due().await;
                        let blocking = note.clone();
                        run_blocking(move || blocking(format!("helper of {session}"))).await;
                        wait(WaitType::WAITFOR, sleep(Duration::from_millis(session))).await;
                    }
                })
            })
            .collect();
        schedulers.block_on(async {
            for session in sessions {
                session.await.expect("no panic");
                note("main".to_owned());
            }
        });
        let row = statistics.waits()[WaitType::WAITFOR as usize];
        // Session 0 sleeps for no time at all, which is no wait.
        assert_eq!(row.waiting_tasks_count, 25);
        let events = std::mem::take(&mut *events.lock().unwrap());
        (events, row.wait_time_us + row.signal_wait_time_us)
    }

    #[test]
    fn the_same_seed_gives_the_same_order() {
        let first = trace(1);
        // Other threads that claim slots meanwhile change nothing.
        let again = std::thread::scope(|scope| scope.spawn(|| trace(1)).join().unwrap());
        assert_eq!(first, again);
        let others: Vec<_> = (2..6).map(trace).collect();
        assert!(others.iter().all(|other| *other != first));
    }

    /// Turns that a task which always signals itself has had before a new one runs, and its boosts.
    fn turns_before_a_new_task(seed: u64, policy: SignalledFirst) -> (u64, u64) {
        let schedulers = Schedulers::simulated(seed, 1, Statistics::new());
        schedulers.set_signalled_first(policy);
        let turns = Arc::new(Mutex::new(0));
        let counted = Arc::clone(&turns);
        let greedy = schedulers.spawn(INFO, Placement::On(0), async move {
            std::future::poll_fn(|context| {
                *counted.lock().unwrap() += 1;
                context.waker().wake_by_ref();
                std::task::Poll::<()>::Pending
            })
            .await;
        });
        let new = schedulers.spawn(INFO, Placement::On(0), async move { *turns.lock().unwrap() });
        let turns = schedulers.block_on(new).expect("no panic");
        let boosts = schedulers.tasks()[0].boost_count;
        drop(greedy);
        (turns, boosts)
    }

    #[test]
    fn a_boosted_task_runs_a_thousand_times_before_the_others() {
        for seed in 1..8 {
            let (turns, boosts) = turns_before_a_new_task(seed, SignalledFirst::Boost1000);
            // The first turn is that of a new task; until the test hears of the end, there are a few more.
            assert!(turns == 1_001 && boosts >= 1_000, "{turns} turns, {boosts} boosts");
            let (turns, boosts) = turns_before_a_new_task(seed, SignalledFirst::InOrder);
            assert!(turns < 100 && boosts == 0, "{turns} turns, {boosts} boosts");
        }
    }

    #[test]
    fn who_is_signalled_last_is_first_and_a_yield_ends_the_row() {
        let schedulers = Schedulers::simulated(9, 1, Statistics::new());
        schedulers.set_signalled_first(SignalledFirst::Boost1000);
        let wakers: Arc<Mutex<Vec<std::task::Waker>>> = Arc::default();
        let order: Arc<Mutex<Vec<u32>>> = Arc::default();
        let tasks: Vec<_> = (0..3)
            .map(|number| {
                let (wakers, order) = (Arc::clone(&wakers), Arc::clone(&order));
                schedulers.spawn(INFO, Placement::On(0), async move {
                    let mut has_waited = false;
                    std::future::poll_fn(|context| {
                        if std::mem::replace(&mut has_waited, true) {
                            return std::task::Poll::Ready(());
                        }
                        wakers.lock().unwrap().push(context.waker().clone());
                        std::task::Poll::Pending
                    })
                    .await;
                    order.lock().unwrap().push(number);
                    yield_now().await;
                    order.lock().unwrap().push(number + 10);
                })
            })
            .collect();
        schedulers.run_until_idle();
        let ready = std::mem::take(&mut *wakers.lock().unwrap());
        let boosted: Vec<u64> = schedulers.tasks().iter().map(|task| task.boost_count).collect();
        assert_eq!((ready.len(), boosted), (3, vec![0; 3]));
        wake_all(ready);
        schedulers.run_until_idle();
        // The last to be signalled is the first; behind their yields they come in the order in which they gave up.
        assert_eq!(*order.lock().unwrap(), [2, 1, 0, 12, 11, 10]);
        assert!(tasks.iter().all(JoinHandle::is_finished));
    }

    #[test]
    fn time_passes_only_when_nothing_can_run() {
        let schedulers = Schedulers::simulated(7, 1, Statistics::new());
        let begin = std::time::Instant::now();
        let task = schedulers.spawn(INFO, Placement::On(0), async {
            let begin_us = pikepole_contention::clock::now_us();
            sleep(Duration::from_secs(3_600)).await;
            pikepole_contention::clock::now_us() - begin_us
        });
        schedulers.run_until_idle();
        assert!(!task.is_finished());
        assert_eq!(schedulers.tasks()[0].state, TaskState::Suspended);
        schedulers.advance(Duration::from_secs(3_000));
        assert!(!task.is_finished());
        schedulers.advance(Duration::from_secs(3_000));
        assert!(task.is_finished());
        let slept_us = schedulers.block_on(task).expect("no panic");
        assert!((3_600_000_000..3_600_001_000).contains(&slept_us), "{slept_us}");
        assert!(begin.elapsed() < Duration::from_secs(3_600));
    }

    #[test]
    fn the_hook_lets_a_simulation_go_on() {
        let schedulers = Schedulers::simulated(3, 2, Statistics::new());
        let waker: Arc<Mutex<Option<std::task::Waker>>> = Arc::default();
        let wanted = Arc::clone(&waker);
        schedulers.set_idle_hook(Arc::new(move |_| match wanted.lock().unwrap().take() {
            Some(waker) => {
                waker.wake();
                IdleOutcome::Worked
            }
            None => IdleOutcome::Nothing,
        }));
        let task = schedulers.spawn(INFO, Placement::On(1), async move {
            let mut has_waited = false;
            std::future::poll_fn(|context| {
                if std::mem::replace(&mut has_waited, true) {
                    return std::task::Poll::Ready(slot::current());
                }
                *waker.lock().unwrap() = Some(context.waker().clone());
                std::task::Poll::Pending
            })
            .await
        });
        assert_eq!(schedulers.block_on(task), Ok(1));
    }

    #[test]
    fn signal_time_begins_with_the_signal() {
        let statistics = Statistics::new();
        let schedulers = Schedulers::simulated(11, 2, Arc::clone(&statistics));
        let signaller = schedulers.spawn(INFO, Placement::On(0), sleep(Duration::from_millis(5)));
        let waiter = schedulers.spawn(INFO, Placement::On(1), wait(WaitType::WRITELOG, signaller));
        assert_eq!(schedulers.block_on(waiter), Ok(Ok(())));
        let row = statistics.waits()[WaitType::WRITELOG as usize];
        // A turn takes a microsecond of virtual time, and there are few.
        assert!((4_980..5_020).contains(&row.wait_time_us), "{row:?}");
        assert!((1..20).contains(&row.signal_wait_time_us), "{row:?}");
    }

    #[test]
    #[should_panic(expected = "every task waits")]
    fn a_simulation_in_which_all_wait_says_so() {
        let schedulers = Schedulers::simulated(3, 1, Statistics::new());
        let task = schedulers.spawn(INFO, Placement::On(0), wait(WaitType::LCK_M_X, std::future::pending::<()>()));
        let _never = schedulers.block_on(task);
    }

    #[test]
    fn quanta_end_by_chance_and_panics_are_the_tasks_own() {
        let statistics = Statistics::new();
        let schedulers = Schedulers::simulated(5, 2, Arc::clone(&statistics));
        let task = schedulers.spawn(INFO, Placement::On(0), async {
            for _ in 0..200 {
                yield_if_due().await;
            }
        });
        assert_eq!(schedulers.block_on(task), Ok(()));
        let yields = schedulers.snapshot()[0].yield_count;
        assert!((5..100).contains(&yields), "{yields}");
        assert_eq!(statistics.waits()[WaitType::SOS_SCHEDULER_YIELD as usize].waiting_tasks_count, yields);
        let task = schedulers.spawn(INFO, Placement::On(0), async { panic!("on purpose") });
        assert_eq!(schedulers.block_on(task).map(|()| 0), Err(TaskError::Panicked("on purpose".to_owned())));
        let waiting = schedulers.spawn(INFO, Placement::On(0), std::future::pending::<()>());
        schedulers.shutdown();
        assert_eq!(waiting.join(), Err(TaskError::Cancelled));
    }
}
