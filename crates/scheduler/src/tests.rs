//! Tests of real schedulers; those of the simulated ones are beside them.

use crate::home::{Home, Kind};
use crate::schedulers::Shared;
use crate::task::Task;
use crate::*;
use pikepole_contention::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use pikepole_contention::sync::{Mutex, thread};
use pikepole_contention::{Chain, Statistics, WaitRow, WaitType, clock};
use pikepole_machine::clock::{ns_to_ticks, ticks};
use pikepole_machine::{affinity, sampler};
use std::future::poll_fn;
use std::sync::{Arc, mpsc};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

const INFO: TaskInfo = TaskInfo { session_id: Some(51), command: "TEST" };

/// Schedulers on CPU 0, 1, ... that are not pinned, so that they need not exist.
fn schedulers(count: usize, options: SchedulerOptions) -> (Arc<Schedulers>, Arc<Statistics>) {
    let statistics = Statistics::new();
    let options = SchedulerOptions { cpus: (0..count).collect(), pin: false, ..options };
    (Schedulers::start(options, Arc::clone(&statistics)).expect("threads"), statistics)
}

fn waits(statistics: &Statistics, wait_type: WaitType) -> WaitRow {
    statistics.waits()[wait_type as usize]
}

/// Something to wait for: set once, by anyone.
#[derive(Default)]
struct Event {
    is_set: AtomicBool,
    wakers: Mutex<Vec<Waker>>,
}

impl Event {
    fn new() -> Arc<Self> {
        Arc::default()
    }

    fn take_wakers(&self) -> Vec<Waker> {
        self.is_set.store(true, Ordering::SeqCst);
        std::mem::take(&mut *self.wakers.lock().unwrap())
    }

    fn set(&self) {
        self.take_wakers().into_iter().for_each(Waker::wake);
    }

    async fn wait(&self) {
        poll_fn(|context| {
            let mut wakers = self.wakers.lock().unwrap();
            if self.is_set.load(Ordering::SeqCst) {
                return Poll::Ready(());
            }
            wakers.push(context.waker().clone());
            Poll::Pending
        })
        .await;
    }
}

/// Lets the calling thread look until something holds.
fn until(holds: impl Fn() -> bool) {
    while !holds() {
        thread::yield_now();
    }
}

#[test]
fn a_task_gives_its_result_to_its_handle() {
    let (schedulers, _) = schedulers(2, SchedulerOptions::default());
    let handle = schedulers.spawn(INFO, Placement::On(1), async { current_scheduler() });
    assert_eq!(handle.join(), Ok(Some(1)));
    let nested = schedulers.spawn(INFO, Placement::On(0), async {
        spawn(INFO, Placement::On(0), async { 6 * 7 }).await.expect("no panic")
    });
    assert_eq!(schedulers.block_on(nested), Ok(42));
    assert_eq!(current_scheduler(), None);
}

#[test]
fn each_thread_is_where_its_cpu_says() {
    let statistics = Statistics::new();
    let cpus = affinity::allowed().expect("a mask");
    let options = SchedulerOptions { cpus: cpus.clone(), ..SchedulerOptions::default() };
    let schedulers = Schedulers::start(options, statistics).expect("threads");
    for (index, cpu) in cpus.iter().enumerate() {
        let mask = schedulers.spawn(INFO, Placement::On(index), async { affinity::current() });
        assert_eq!(mask.join().expect("no panic").expect("a mask"), [*cpu]);
        assert_eq!(schedulers.snapshot()[index].cpu_id, Some(*cpu));
    }
    // Neither helpers nor hidden schedulers are bound to the CPU of the task that wanted them.
    let helper = async { run_blocking(affinity::current).await };
    let mask = schedulers.spawn(INFO, Placement::On(0), helper);
    assert_eq!(mask.join().expect("no panic").expect("a mask"), cpus);
    let own = Arc::clone(&schedulers);
    let hidden = schedulers.spawn(INFO, Placement::On(0), async move {
        own.hidden("TEST", None, async { affinity::current() }).await.expect("no panic")
    });
    assert_eq!(hidden.join().expect("no panic").expect("a mask"), cpus);
    let pinned = schedulers.hidden("TEST", Some(cpus[0]), async { affinity::current() });
    assert_eq!(pinned.join().expect("no panic").expect("a mask"), cpus[..1]);
}

#[test]
fn a_hidden_scheduler_moves_to_another_cpu_and_back() {
    let cpus = affinity::allowed().expect("a mask");
    let options = SchedulerOptions { cpus: cpus.clone(), ..SchedulerOptions::default() };
    let schedulers = Schedulers::start(options, Statistics::new()).expect("threads");
    let (asked, asks) = mpsc::channel();
    let (answers, answered) = mpsc::channel();
    let task = schedulers.hidden("TEST", None, async move {
        for () in asks {
            answers.send(affinity::current().expect("a mask")).expect("asked");
        }
    });
    let mask = || {
        asked.send(()).expect("a task");
        answered.recv().expect("an answer")
    };
    let shown = || schedulers.snapshot().iter().find(|row| row.status == "HIDDEN ONLINE").expect("one").cpu_id;
    assert_eq!((mask(), shown()), (cpus.clone(), None));
    for cpu in [cpus.last(), cpus.first()] {
        schedulers.move_hidden(&task, cpu.copied()).expect("moved");
        assert_eq!((mask(), shown()), (vec![*cpu.expect("a CPU")], cpu.copied()));
    }
    assert!(schedulers.move_hidden(&task, Some(60_000)).is_err());
    assert_eq!((mask(), shown()), (vec![cpus[0]], Some(cpus[0])));
    schedulers.move_hidden(&task, None).expect("moved");
    assert_eq!((mask(), shown()), (cpus.clone(), None));
    drop(asked);
    task.join().expect("no panic");
}

#[test]
fn a_cpu_that_is_not_there_is_an_error() {
    let options = SchedulerOptions { cpus: vec![60_000], pin: true, ..SchedulerOptions::default() };
    assert!(Schedulers::start(options, Statistics::new()).is_err());
    let none = SchedulerOptions { cpus: Vec::new(), ..SchedulerOptions::default() };
    assert!(Schedulers::start(none, Statistics::new()).is_err());
    let (schedulers, _) = schedulers(1, SchedulerOptions::default());
    let hidden = schedulers.hidden("TEST", Some(60_000), async {});
    assert!(matches!(hidden.join(), Err(TaskError::NotStarted(_))));
    assert_eq!(schedulers.snapshot().len(), 1);
}

#[test]
fn signalled_tasks_go_before_new_ones_and_those_that_yielded() {
    let options = SchedulerOptions { cpus: vec![0], pin: false, ..SchedulerOptions::default() };
    let shared = Shared::new(options, Statistics::new(), None);
    let home: Arc<Home> = Home::new(0, None, Kind::Visible, false);
    let task = |id, is_new: bool| {
        let task = Task::new(id, None, "", Arc::clone(&home), None);
        if !is_new {
            task.count_switch();
        }
        task
    };
    context::enter(&shared, &home, || {
        context::set_in_loop(true);
        let own = |id, is_new| assert!(context::push_local(task(id, is_new)).is_ok());
        let ids = |fresh_first: bool| {
            let first = context::pop(fresh_first).into_iter();
            first.chain(std::iter::from_fn(|| context::pop(false))).map(|task| task.id).collect::<Vec<_>>()
        };
        let queue = || {
            own(1, true);
            context::push_fresh(task(2, false));
            own(3, false);
            own(4, true);
            own(5, false);
        };
        queue();
        assert_eq!(ids(false), [3, 5, 1, 2, 4]);
        queue();
        assert_eq!(ids(true), [1, 3, 5, 2, 4]);
        let elsewhere = Task::new(6, None, "", Home::new(1, None, Kind::Visible, false), None);
        assert!(context::push_local(elsewhere).is_err());
        context::set_in_loop(false);
    });
}

#[test]
fn tasks_that_signal_each_other_do_not_starve_new_ones() {
    let (schedulers, _) = schedulers(1, SchedulerOptions::default());
    let stop = Event::new();
    let stopped = Arc::clone(&stop);
    let restless = schedulers.spawn(INFO, Placement::On(0), async move {
        poll_fn(|context| {
            if stopped.is_set.load(Ordering::SeqCst) {
                return Poll::Ready(());
            }
            context.waker().wake_by_ref();
            Poll::Pending
        })
        .await;
    });
    let new = schedulers.spawn(INFO, Placement::On(0), async move { stop.set() });
    assert_eq!(new.join(), Ok(()));
    assert_eq!(restless.join(), Ok(()));
}

#[test]
fn boosted_tasks_keep_a_new_one_out_a_thousand_times() {
    let (schedulers, _) = schedulers(1, SchedulerOptions::default());
    schedulers.set_signalled_first(SignalledFirst::Boost1000);
    // The policy is in force from the next slice on: a sleep ends this one.
    let turns = schedulers.spawn(INFO, Placement::On(0), async {
        sleep(Duration::from_millis(5)).await;
        let turns = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&turns);
        let greedy = spawn(INFO, Placement::On(0), async move {
            poll_fn(|context| {
                counted.fetch_add(1, Ordering::SeqCst);
                context.waker().wake_by_ref();
                Poll::<()>::Pending
            })
            .await;
        });
        let new = spawn(INFO, Placement::On(0), async move { turns.load(Ordering::SeqCst) });
        let turns = new.await;
        greedy.cancel();
        turns
    });
    assert_eq!(schedulers.block_on(turns), Ok(Ok(1_001)));
}

#[test]
fn a_task_that_takes_every_quantum_does_not_starve_signalled_ones() {
    const TURNS_MAX: usize = 500;
    let (schedulers, _) = schedulers(1, SchedulerOptions::default());
    let event = Event::new();
    let ran = Arc::new(AtomicBool::new(false));
    let turns = Arc::new(AtomicUsize::new(0));
    let (signal, has_run) = (Arc::clone(&event), Arc::clone(&ran));
    let waiter = schedulers.spawn(INFO, Placement::On(0), async move {
        signal.wait().await;
        has_run.store(true, Ordering::SeqCst);
    });
    let counted = Arc::clone(&turns);
    let hog = schedulers.spawn(INFO, Placement::On(0), async move {
        event.set();
        while !ran.load(Ordering::SeqCst) && counted.fetch_add(1, Ordering::SeqCst) < TURNS_MAX {
            while !quantum_over() {}
            yield_now().await;
        }
    });
    assert_eq!(waiter.join(), Ok(()));
    assert_eq!(hog.join(), Ok(()));
    assert!(turns.load(Ordering::SeqCst) <= 3, "{turns:?} quanta before the signalled task ran");
}

#[test]
fn a_quantum_ends_and_the_yield_is_counted() {
    let options = SchedulerOptions { quantum_us: 200, ..SchedulerOptions::default() };
    let (schedulers, statistics) = schedulers(1, options);
    assert!(!quantum_over());
    let task = schedulers.spawn(INFO, Placement::On(0), async {
        let began_us = clock::now_us();
        for _ in 0..3 {
            assert!(!quantum_over() || clock::now_us() - began_us >= 200);
            while !quantum_over() {}
            yield_if_due().await;
        }
        clock::now_us() - began_us
    });
    assert!(task.join().expect("no panic") >= 3 * 190);
    let row = &schedulers.snapshot()[0];
    assert_eq!((row.yield_count, row.context_switches_count), (3, 4));
    assert_eq!(waits(&statistics, WaitType::SOS_SCHEDULER_YIELD).waiting_tasks_count, 3);
}

#[test]
fn a_yield_lets_all_others_run() {
    let (schedulers, _) = schedulers(1, SchedulerOptions::default());
    let order = Arc::new(Mutex::new(Vec::new()));
    let note = |name: &'static str| {
        let order = Arc::clone(&order);
        async move { order.lock().unwrap().push(name) }
    };
    let (other, before, after) = (note("other"), note("before"), note("after"));
    let task = schedulers.spawn(INFO, Placement::On(0), async move {
        let other = spawn(INFO, Placement::On(0), other);
        before.await;
        yield_now().await;
        after.await;
        other.await.expect("no panic");
    });
    assert_eq!(task.join(), Ok(()));
    assert_eq!(*order.lock().unwrap(), ["before", "other", "after"]);
}

#[test]
fn a_wait_is_measured_from_its_begin_and_from_its_signal() {
    const SPIN_US: u64 = 3_000;
    let (schedulers, statistics) = schedulers(1, SchedulerOptions::default());
    let (event, began) = (Event::new(), Event::new());
    let waiter = schedulers.spawn(INFO, Placement::On(0), {
        let (event, began) = (Arc::clone(&event), Arc::clone(&began));
        async move {
            began.set();
            wait(WaitType::WRITELOG, event.wait()).await;
        }
    });
    schedulers.block_on(began.wait());
    // Signals the waiter, then keeps the CPU from it.
    let signaller = schedulers.spawn(INFO, Placement::On(0), async move {
        event.set();
        let begin_us = clock::now_us();
        while clock::now_us() - begin_us < SPIN_US {}
    });
    assert_eq!((signaller.join(), waiter.join()), (Ok(()), Ok(())));
    let row = waits(&statistics, WaitType::WRITELOG);
    assert_eq!(row.waiting_tasks_count, 1);
    assert!(row.signal_wait_time_us >= SPIN_US, "{row:?}");
    assert!(row.wait_time_us >= row.signal_wait_time_us && row.max_wait_time_us == row.wait_time_us, "{row:?}");
}

#[test]
fn what_is_ready_at_once_is_no_wait() {
    let (schedulers, statistics) = schedulers(1, SchedulerOptions::default());
    let task = schedulers.spawn(INFO, Placement::On(0), async { wait(WaitType::LOGBUFFER, async { 7 }).await });
    assert_eq!(task.join(), Ok(7));
    assert_eq!(waits(&statistics, WaitType::LOGBUFFER).waiting_tasks_count, 0);
}

#[test]
fn rows_show_what_a_task_waits_for() {
    let (schedulers, _) = schedulers(1, SchedulerOptions::default());
    let event = Event::new();
    let awaited = Arc::clone(&event);
    let task = schedulers.spawn(INFO, Placement::On(0), async move {
        set_command("INSERT");
        wait(WaitType::LCK_M_X, awaited.wait()).await;
        current_task()
    });
    until(|| schedulers.tasks().iter().any(|row| row.state == TaskState::Suspended));
    let rows = schedulers.tasks();
    assert_eq!(rows.len(), 1);
    let TaskRow { session_id, command, wait_type, scheduler_id, .. } = rows[0];
    assert_eq!((session_id, command, wait_type), (Some(51), "INSERT", Some(WaitType::LCK_M_X)));
    assert_eq!((scheduler_id, rows[0].last_wait_type, rows[0].context_switches_count), (0, None, 1));
    let scheduler = &schedulers.snapshot()[0];
    assert_eq!((scheduler.current_tasks_count, scheduler.runnable_tasks_count), (1, 0));
    event.set();
    assert_eq!(task.join(), Ok(Some(rows[0].task_id)));
    // The handle hears of the end a moment before the rows do.
    until(|| schedulers.tasks().is_empty());
    assert_eq!(schedulers.snapshot()[0].current_tasks_count, 0);
}

/// Two tasks on two schedulers hand a turn to and fro.
async fn play(turns: Arc<(AtomicUsize, Mutex<[Option<Waker>; 2]>)>, side: usize, last: usize) {
    let (turn, wakers) = &*turns;
    loop {
        poll_fn(|context| {
            wakers.lock().unwrap()[side] = Some(context.waker().clone());
            let now = turn.load(Ordering::SeqCst);
            if now % 2 == side || now >= last { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
        let is_over = turn.load(Ordering::SeqCst) >= last;
        if !is_over {
            turn.fetch_add(1, Ordering::SeqCst);
        }
        let other = wakers.lock().unwrap()[1 - side].take();
        other.into_iter().for_each(Waker::wake);
        if is_over {
            return;
        }
    }
}

#[test]
fn no_wake_up_between_threads_is_lost() {
    // Without spinning every turn meets a scheduler that sleeps or is falling asleep.
    for spin_before_park_us in [0, 50] {
        let options = SchedulerOptions { spin_before_park_us, ..SchedulerOptions::default() };
        let (schedulers, _) = schedulers(2, options);
        let pair = |_| {
            let turns = Arc::default();
            [0, 1].map(|side| schedulers.spawn(INFO, Placement::On(side), play(Arc::clone(&turns), side, 2_000)))
        };
        let handles: Vec<_> = (0..4).flat_map(pair).collect();
        for handle in handles {
            assert_eq!(handle.join(), Ok(()));
        }
    }
}

#[test]
fn a_batch_of_wake_ups_reaches_every_task() {
    struct Foreign(AtomicUsize);
    impl Wake for Foreign {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }
    // More schedulers than one batch has chains.
    let (schedulers, _) = schedulers(11, SchedulerOptions { spin_before_park_us: 0, ..SchedulerOptions::default() });
    let event = Event::new();
    let task = |index: usize| {
        let event = Arc::clone(&event);
        schedulers.spawn(INFO, Placement::On(index % 11), async move { event.wait().await })
    };
    let tasks: Vec<_> = (0..44).map(task).collect();
    until(|| event.wakers.lock().unwrap().len() == 44);
    let foreign = Arc::new(Foreign(AtomicUsize::new(0)));
    event.wakers.lock().unwrap().push(Waker::from(Arc::clone(&foreign)));
    let batch = Arc::clone(&event);
    let waker = schedulers.spawn(INFO, Placement::On(0), async move {
        let wakers = batch.take_wakers();
        // A second waker of the same task changes nothing.
        let twice = wakers[0].clone();
        wake_all(wakers.into_iter().chain([twice]));
    });
    assert_eq!(waker.join(), Ok(()));
    for task in tasks {
        assert_eq!(task.join(), Ok(()));
    }
    assert_eq!(foreign.0.load(Ordering::SeqCst), 1);
}

#[test]
fn a_panic_is_the_tasks_own() {
    let (schedulers, _) = schedulers(1, SchedulerOptions::default());
    let task = schedulers.spawn(INFO, Placement::On(0), async { assert_eq!(1, 2, "on purpose") });
    match schedulers.block_on(task) {
        Err(TaskError::Panicked(message)) => assert!(message.contains("on purpose")),
        other => panic!("{other:?}"),
    }
    let helper = schedulers.spawn(INFO, Placement::On(0), run_blocking(|| panic!("in a helper")));
    assert_eq!(helper.join().map(|()| 0), Err(TaskError::Panicked("in a helper".to_owned())));
    struct Bomb;
    impl Drop for Bomb {
        fn drop(&mut self) {
            panic!("in a drop");
        }
    }
    let bomb = schedulers.spawn(INFO, Placement::On(0), async {
        let _bomb = Bomb;
        yield_now().await;
    });
    assert!(bomb.join().is_err());
    assert_eq!(schedulers.spawn(INFO, Placement::On(0), async { 5 }).join(), Ok(5));
    until(|| schedulers.tasks().is_empty());
}

#[test]
fn a_task_runs_on_without_its_handle() {
    let (schedulers, _) = schedulers(1, SchedulerOptions::default());
    let (event, ran) = (Event::new(), Event::new());
    let (awaited, done) = (Arc::clone(&event), Arc::clone(&ran));
    drop(schedulers.spawn(INFO, Placement::LeastLoaded, async move {
        awaited.wait().await;
        done.set();
    }));
    event.set();
    schedulers.block_on(ran.wait());
}

/// Says on which thread it was dropped.
struct Witness(Arc<Mutex<Option<Option<u32>>>>);

impl Drop for Witness {
    fn drop(&mut self) {
        *self.0.lock().unwrap() = Some(current_scheduler());
    }
}

#[test]
fn a_cancelled_task_is_dropped_at_its_next_turn() {
    let (schedulers, _) = schedulers(1, SchedulerOptions::default());
    let dropped = Arc::default();
    let witness = Witness(Arc::clone(&dropped));
    let task = schedulers.spawn(INFO, Placement::On(0), async move {
        let _witness = witness;
        std::future::pending::<()>().await;
    });
    task.cancel();
    assert_eq!(task.join(), Err(TaskError::Cancelled));
    until(|| schedulers.tasks().is_empty());
    assert_eq!(*dropped.lock().unwrap(), Some(Some(0)));
}

#[test]
fn shutdown_drops_what_has_not_ended_on_its_own_thread() {
    let (schedulers, _) = schedulers(2, SchedulerOptions::default());
    let dropped = Arc::default();
    let witness = Witness(Arc::clone(&dropped));
    let waiting = schedulers.spawn(INFO, Placement::On(1), async move {
        let _witness = witness;
        std::future::pending::<()>().await;
    });
    let hidden = schedulers.hidden("LOG WRITER", None, std::future::pending::<()>());
    schedulers.shutdown();
    assert_eq!(*dropped.lock().unwrap(), Some(Some(1)));
    assert_eq!(waiting.join(), Err(TaskError::Cancelled));
    assert_eq!(hidden.join(), Err(TaskError::Cancelled));
    let late = schedulers.spawn(INFO, Placement::On(0), async {});
    assert_eq!(late.join(), Err(TaskError::Cancelled));
    assert_eq!(schedulers.hidden("LATE", None, async {}).join(), Err(TaskError::Cancelled));
    schedulers.shutdown();
}

#[test]
fn the_last_reference_may_be_a_tasks() {
    let (schedulers, _) = schedulers(1, SchedulerOptions::default());
    let own = Arc::clone(&schedulers);
    let task = schedulers.spawn(INFO, Placement::On(0), async move {
        while Arc::strong_count(&own) > 1 {
            yield_now().await;
        }
        drop(own);
        std::future::pending::<()>().await;
    });
    drop(schedulers);
    assert_eq!(task.join(), Err(TaskError::Cancelled));
}

#[test]
fn a_hidden_scheduler_lives_as_long_as_its_task() {
    let (schedulers, _) = schedulers(1, SchedulerOptions::default());
    let event = Event::new();
    let awaited = Arc::clone(&event);
    let hidden = schedulers.hidden("LOG WRITER", None, async move {
        awaited.wait().await;
        current_scheduler()
    });
    let rows = schedulers.snapshot();
    assert_eq!((rows[0].scheduler_id, rows[0].status), (0, "VISIBLE ONLINE"));
    assert_eq!((rows[1].scheduler_id, rows[1].status), (1_048_576, "HIDDEN ONLINE"));
    assert!(schedulers.tasks().iter().any(|row| row.command == "LOG WRITER"));
    event.set();
    assert_eq!(hidden.join(), Ok(Some(1_048_576)));
    until(|| schedulers.snapshot().len() == 1);
}

#[test]
fn the_idle_hook_runs_where_the_work_waits() {
    let (schedulers, _) = schedulers(2, SchedulerOptions::default());
    let wanted = Arc::new(Mutex::new(Vec::<(u32, Arc<Event>)>::new()));
    let hook = {
        let wanted = Arc::clone(&wanted);
        move |_: Moment| {
            let own = current_scheduler().expect("on a scheduler");
            let mut wanted = wanted.lock().unwrap();
            let before = wanted.len();
            wanted.retain(|(id, event)| {
                if *id == own {
                    event.set();
                }
                *id != own
            });
            if wanted.len() < before { IdleOutcome::Worked } else { IdleOutcome::Nothing }
        }
    };
    schedulers.set_idle_hook(Arc::new(hook));
    let task = |index: usize| {
        let wanted = Arc::clone(&wanted);
        schedulers.spawn(INFO, Placement::On(index), async move {
            for _ in 0..100 {
                let event = Event::new();
                wanted.lock().unwrap().push((index as u32, Arc::clone(&event)));
                event.wait().await;
            }
        })
    };
    for handle in [task(0), task(1)] {
        assert_eq!(handle.join(), Ok(()));
    }
}

#[test]
fn the_hook_runs_also_when_there_is_always_work() {
    let (schedulers, _) = schedulers(1, SchedulerOptions { quantum_us: 500, ..SchedulerOptions::default() });
    let event = Event::new();
    let awaited = Arc::clone(&event);
    let task = schedulers.spawn(INFO, Placement::On(0), async move {
        while !awaited.is_set.load(Ordering::SeqCst) {
            yield_now().await;
        }
    });
    let panicking = AtomicBool::new(true);
    schedulers.set_idle_hook(Arc::new(move |_| {
        event.set();
        assert!(!panicking.load(Ordering::SeqCst), "a hook that panics is called no more");
        IdleOutcome::Nothing
    }));
    assert_eq!(task.join(), Ok(()));
    assert_eq!(schedulers.spawn(INFO, Placement::On(0), async { 1 }).join(), Ok(1));
}

#[test]
fn a_scheduler_that_serves_sockets_hears_them_instead_of_spinning() {
    // A spin that does not look at the sockets lasts longer than anybody waits for this test.
    let (schedulers, _) =
        schedulers(1, SchedulerOptions { spin_before_park_us: 3_600_000_000, ..SchedulerOptions::default() });
    let soon = Arc::new(AtomicBool::new(false));
    let announced = Arc::clone(&soon);
    schedulers.set_idle_hook(Arc::new(move |_| {
        if announced.load(Ordering::SeqCst) { IdleOutcome::Soon } else { IdleOutcome::Nothing }
    }));
    let (mut client, server) = std::os::unix::net::UnixStream::pair().expect("a pair of sockets");
    server.set_nonblocking(true).expect("a socket");
    // To the end of the schedulers: without a socket the long spin would keep the thread from ending.
    schedulers.spawn(INFO, Placement::On(0), async {
        let _serves = crate::serve_socket();
        std::future::pending::<()>().await;
    });
    let echo = schedulers.spawn(INFO, Placement::On(0), async move {
        let stream = tokio::net::UnixStream::from_std(server)?;
        for _ in 0..4 {
            let mut byte = [0];
            loop {
                stream.readable().await?;
                match stream.try_read(&mut byte) {
                    Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
                    Err(error) => return Err(error),
                    Ok(_) => break,
                }
            }
            stream.try_write(&byte)?;
        }
        Ok::<_, std::io::Error>(())
    });
    for (byte, is_announced) in [(1, false), (2, true), (3, true), (4, false)] {
        soon.store(is_announced, Ordering::SeqCst);
        std::thread::sleep(Duration::from_millis(2));
        std::io::Write::write_all(&mut client, &[byte]).expect("it is read");
        let mut answer = [0];
        std::io::Read::read_exact(&mut client, &mut answer).expect("it is answered");
        assert_eq!(answer, [byte]);
    }
    assert!(matches!(echo.join(), Ok(Ok(()))));
}

#[test]
fn timers_and_sockets_work_on_a_scheduler_and_in_block_on() {
    let (schedulers, statistics) = schedulers(1, SchedulerOptions { spin_before_park_us: 0, ..Default::default() });
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    listener.set_nonblocking(true).expect("a socket");
    let server = schedulers.spawn(INFO, Placement::On(0), async move {
        let listener = tokio::net::TcpListener::from_std(listener)?;
        let (stream, _) = listener.accept().await?;
        let mut byte = [0];
        loop {
            stream.readable().await?;
            match stream.try_read(&mut byte) {
                Ok(count) => return Ok::<_, std::io::Error>((count, byte[0])),
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
        }
    });
    schedulers.block_on(async {
        wait(WaitType::WAITFOR, sleep(Duration::from_millis(2))).await;
        let stream = tokio::net::TcpStream::connect(address).await.expect("the server");
        stream.writable().await.expect("room");
        assert_eq!(stream.try_write(&[9]).expect("room"), 1);
    });
    assert_eq!(server.join().expect("no panic").expect("a byte"), (1, 9));
    let timer = schedulers.spawn(INFO, Placement::On(0), async {
        wait(WaitType::WAITFOR, sleep(Duration::from_millis(2))).await;
    });
    assert_eq!(timer.join(), Ok(()));
    let row = waits(&statistics, WaitType::WAITFOR);
    assert!(row.waiting_tasks_count == 2 && row.wait_time_us >= 2 * 1_900, "{row:?}");
    assert!(schedulers.snapshot()[0].idle_switches_count > 0);
}

#[test]
fn the_runtimes_budget_does_not_stop_a_task() {
    let (schedulers, _) = schedulers(1, SchedulerOptions::default());
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    let own = Arc::clone(&schedulers);
    let task = schedulers.spawn(INFO, Placement::On(0), async move {
        let stream = tokio::net::TcpStream::connect(address).await.expect("the listener");
        stream.writable().await.expect("room");
        let switches = || own.snapshot()[0].context_switches_count;
        let before = switches();
        for _ in 0..1_000 {
            poll_fn(|context| stream.poll_write_ready(context)).await.expect("room");
        }
        switches() - before
    });
    assert_eq!(task.join(), Ok(0));
}

#[test]
fn a_busy_scheduler_still_serves_its_timers() {
    let (schedulers, _) = schedulers(1, SchedulerOptions::default());
    let event = Event::new();
    let awaited = Arc::clone(&event);
    let busy = schedulers.spawn(INFO, Placement::On(0), async move {
        while !awaited.is_set.load(Ordering::SeqCst) {
            yield_now().await;
        }
    });
    let timer = schedulers.spawn(INFO, Placement::On(0), async move {
        sleep(Duration::from_millis(3)).await;
        event.set();
    });
    assert_eq!((timer.join(), busy.join()), (Ok(()), Ok(())));
}

#[test]
fn blocking_work_runs_elsewhere_and_more_of_it_than_there_are_threads() {
    let (schedulers, _) = schedulers(1, SchedulerOptions::default());
    let job = |number: u64| schedulers.spawn(INFO, Placement::On(0), run_blocking(move || number));
    let handles: Vec<_> = (0..100).map(job).collect();
    let sum: u64 = handles.into_iter().map(|handle| handle.join().expect("no panic")).sum();
    assert_eq!(sum, 4950);
    let where_it_runs = schedulers.spawn(INFO, Placement::On(0), run_blocking(current_scheduler));
    assert_eq!(where_it_runs.join(), Ok(None));
}

#[test]
fn block_on_hears_signals_of_any_thread() {
    let (schedulers, _) = schedulers(1, SchedulerOptions::default());
    for _ in 0..200 {
        let event = Event::new();
        let signal = Arc::clone(&event);
        let task = schedulers.spawn(INFO, Placement::On(0), async move { signal.set() });
        schedulers.block_on(async {
            event.wait().await;
            task.await.expect("no panic");
        });
    }
    let nested = schedulers.block_on(async { quantum_over() });
    assert!(!nested);
}

#[test]
fn wakers_outlive_schedulers() {
    let (schedulers, _) = schedulers(1, SchedulerOptions::default());
    let event = Event::new();
    let awaited = Arc::clone(&event);
    let task = schedulers.spawn(INFO, Placement::On(0), async move { awaited.wait().await });
    until(|| event.wakers.lock().unwrap().len() == 1);
    drop(schedulers);
    assert_eq!(task.join(), Err(TaskError::Cancelled));
    let wakers = event.take_wakers();
    wakers[0].wake_by_ref();
    wake_all(wakers);
    let inbox: pikepole_contention::Inbox<Task> = pikepole_contention::Inbox::new();
    let home: Arc<Home> = Home::new(0, None, Kind::Visible, false);
    assert!(!inbox.push(Chain::of(Task::new(1, None, "", home, None))));
    let mut context = Context::from_waker(Waker::noop());
    assert!(std::pin::pin!(event.wait()).as_mut().poll(&mut context).is_ready());
}

/// Uses its thread's CPU for so long, however long that takes.
fn work(how_long: Duration) {
    let end = sampler::thread_cpu_time() + how_long;
    while sampler::thread_cpu_time() < end {}
}

#[test]
fn cpu_time_is_what_the_thread_had_of_the_cpu_and_workers_count() {
    let (schedulers, _) = schedulers(2, SchedulerOptions::default());
    let measured = schedulers.spawn(INFO, Placement::On(0), async {
        let began = ticks();
        let before = meter(began);
        // As a thread that another process takes the CPU from.
        thread::sleep(Duration::from_millis(50));
        let slept = ticks();
        let own = meter(slept).own.saturating_sub(before.own);
        assert!(own < (slept - began) / 2, "{own} of {}", slept - began);
        let each = Duration::from_millis(4);
        let workers = [0, 1].map(|on| spawn_worker(INFO, Placement::On(on), async move { work(each) }));
        for worker in workers {
            worker.await.expect("no panic");
        }
        work(each);
        let (now, least) = (ticks(), ns_to_ticks(3_000_000));
        let cpu = meter(now);
        assert!(cpu.workers >= 2 * least, "{cpu:?}: all that they used is there when they have ended");
        assert!(cpu.own - before.own >= least && cpu.own - before.own < now - began, "{cpu:?}");
        (current_task(), pikepole_machine::clock::ticks_to_us(cpu.workers))
    });
    let (task, workers_us) = schedulers.block_on(measured).expect("no panic");
    let row = schedulers.tasks().into_iter().find(|row| Some(row.task_id) == task);
    assert!(row.is_none_or(|row| row.cpu_time_us >= workers_us), "the rows of tasks have it too");
    // A thread from outside that blocks on a future uses its own CPU.
    let own = schedulers.block_on(async {
        let before = meter(ticks());
        work(Duration::from_millis(2));
        meter(ticks()).own.saturating_sub(before.own)
    });
    assert!(own >= ns_to_ticks(1_000_000), "{own}");
}
