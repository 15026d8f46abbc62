//! The log among tasks: commits by the schedulers and by the log writer, on the seeded twin and on threads.

use crate::tests::{FOLDER, append};
use crate::*;
use pikepole_contention::{Counter, Statistics, WaitType};
use pikepole_machine::{Disk, SimulatedDisk, SlowDevice};
use pikepole_scheduler::{IdleOutcome, Moment, Placement, SchedulerOptions, Schedulers, TaskInfo, wait};
use std::sync::Arc;
use std::time::Duration;

struct Server {
    schedulers: Arc<Schedulers>,
    statistics: Arc<Statistics>,
    log: Arc<Log>,
}

impl Server {
    fn on(schedulers: Arc<Schedulers>, statistics: Arc<Statistics>, options: LogOptions) -> Self {
        Self::with_disk(Disk::simulated(SimulatedDisk::new(1)), schedulers, statistics, options)
    }

    fn with_disk(disk: Disk, schedulers: Arc<Schedulers>, statistics: Arc<Statistics>, options: LogOptions) -> Self {
        let log = Arc::new(Log::create(&disk, FOLDER, options, &statistics).unwrap());
        let hook = Arc::clone(&log);
        schedulers.set_idle_hook(Arc::new(move |moment| {
            let outcome = match moment {
                Moment::Idle => hook.idle_step(),
                Moment::Busy { quantum_over } => hook.busy_step(quantum_over),
            };
            match outcome {
                FlushOutcome::Wrote(_) => IdleOutcome::Worked,
                FlushOutcome::Busy => IdleOutcome::Soon,
                FlushOutcome::Nothing | FlushOutcome::NoRoom => IdleOutcome::Nothing,
            }
        }));
        Self { schedulers, statistics, log }
    }

    fn simulated(seed: u64, options: LogOptions) -> Self {
        let statistics = Statistics::new();
        Self::on(Schedulers::simulated(seed, 2, Arc::clone(&statistics)), statistics, options)
    }

    fn start_writer(&self) {
        for number in 0..self.log.writer_count() {
            self.schedulers.hidden("LOG WRITER", None, Arc::clone(&self.log).run_log_writer(number));
        }
    }

    /// `sessions` tasks that append and commit `rounds` times each.
    fn commit(&self, sessions: usize, rounds: usize, durable: bool) -> Vec<pikepole_scheduler::JoinHandle<()>> {
        (0..sessions)
            .map(|_| {
                let log = Arc::clone(&self.log);
                let info = TaskInfo { session_id: None, command: "TEST" };
                self.schedulers.spawn(info, Placement::LeastLoaded, async move {
                    for _ in 0..rounds {
                        let place = loop {
                            match append(&log, &[7; 40]) {
                                Ok(place) => break place,
                                Err(Refused::BufferFull) => wait(WaitType::LOGBUFFER, log.buffer_space()).await,
                                Err(refused) => panic!("{refused}"),
                            }
                        };
                        if durable {
                            wait(WaitType::WRITELOG, log.durable_after(place.end)).await.unwrap();
                            assert!(log.durable() >= place.end);
                        }
                    }
                })
            })
            .collect()
    }

    fn waits(&self, wait_type: &str) -> u64 {
        let rows = self.statistics.waits();
        rows.iter().find(|row| row.wait_type == wait_type).map_or(0, |row| row.waiting_tasks_count)
    }
}

fn options(commit_by: CommitBy, flush_queue: FlushQueue) -> LogOptions {
    LogOptions { commit_by, flush_queue, bytes_max: 16 << 20, segment_bytes: 1 << 20, ..LogOptions::small() }
}

#[test]
fn committing_schedulers_write_for_all_without_a_log_writer() {
    for queue in [FlushQueue::Spinlock, FlushQueue::LockFree] {
        let server = Server::simulated(3, options(CommitBy::Scheduler, queue));
        let tasks = server.commit(8, 5, true);
        server.schedulers.run_until_idle();
        assert!(tasks.iter().all(|task| task.is_finished()));
        assert_eq!(server.waits("WRITELOG"), 40);
        let stats = server.log.stats();
        assert_eq!(stats.flush_waits, 40);
        // Grouped: far fewer writes than commits.
        assert!(stats.flushes < 30, "{stats:?}");
    }
}

#[test]
fn the_log_writer_writes_for_all() {
    for seed in 0..5 {
        let server = Server::simulated(seed, options(CommitBy::LogWriter, FlushQueue::LockFree));
        server.start_writer();
        server.schedulers.run_until_idle();
        assert_eq!(server.waits("LOGMGR_QUEUE"), 0, "it waits for its first commit still");
        let tasks = server.commit(8, 5, true);
        server.schedulers.run_until_idle();
        assert!(tasks.iter().all(|task| task.is_finished()));
        assert!(server.waits("LOGMGR_QUEUE") > 0);
    }
}

#[test]
fn without_the_log_writer_its_policy_writes_nothing() {
    let server = Server::simulated(1, options(CommitBy::LogWriter, FlushQueue::LockFree));
    let tasks = server.commit(2, 1, true);
    server.schedulers.run_until_idle();
    assert!(tasks.iter().all(|task| !task.is_finished()));
    // Commits that wait are seen to when the policy changes.
    server.log.set_policy(Policy::CommitBy(CommitBy::Scheduler)).unwrap();
    server.schedulers.run_until_idle();
    assert!(tasks.iter().all(|task| task.is_finished()));
}

#[test]
fn what_nobody_waits_for_is_durable_after_a_tick_and_then_the_writer_sleeps() {
    let server = Server::simulated(2, options(CommitBy::Scheduler, FlushQueue::LockFree));
    server.start_writer();
    server.commit(4, 100, false);
    server.schedulers.advance(Duration::from_millis(3));
    assert_eq!(server.log.durable(), server.log.reserved());
    let waits = server.waits("LOGMGR_QUEUE");
    server.schedulers.advance(Duration::from_secs(10));
    assert_eq!(server.waits("LOGMGR_QUEUE"), waits, "an idle log writer has no ticks");
    server.commit(1, 1, false);
    server.schedulers.advance(Duration::from_millis(3));
    assert_eq!(server.log.durable(), server.log.reserved());
}

#[test]
fn large_amounts_stream_through_a_small_buffer() {
    let server = Server::simulated(4, options(CommitBy::Scheduler, FlushQueue::LockFree));
    server.start_writer();
    let tasks = server.commit(4, 10_000, false);
    server.schedulers.advance(Duration::from_millis(50));
    assert!(tasks.iter().all(|task| task.is_finished()));
    assert_eq!(server.log.durable(), server.log.reserved());
    assert!(server.log.stats().segments_active > 2, "{:?}", server.log.stats());
}

#[test]
fn shutdown_ends_the_log_writer() {
    let server = Server::simulated(5, options(CommitBy::Scheduler, FlushQueue::LockFree));
    let writer = server.schedulers.hidden("LOG WRITER", None, Arc::clone(&server.log).run_log_writer(0));
    server.commit(2, 3, false);
    server.schedulers.run_until_idle();
    server.log.shutdown().unwrap();
    assert_eq!(server.log.durable(), server.log.reserved());
    server.schedulers.advance(Duration::from_millis(5));
    assert!(writer.is_finished());
}

#[test]
fn threads_from_outside_are_served_by_the_log_writer() {
    let statistics = Statistics::new();
    let cpus = vec![0];
    let threads = SchedulerOptions { cpus, pin: false, spin_before_park_us: 0, ..SchedulerOptions::default() };
    let schedulers = Schedulers::start(threads, Arc::clone(&statistics)).unwrap();
    let server = Server::on(schedulers, statistics, options(CommitBy::Scheduler, FlushQueue::LockFree));
    server.start_writer();
    let place = append(&server.log, b"from outside").unwrap();
    server.schedulers.block_on(server.log.durable_after(place.end)).unwrap();
    assert!(server.log.durable() >= place.end);
    for task in server.commit(16, 20, true) {
        task.join().unwrap();
    }
    server.schedulers.block_on(server.log.flush_all()).unwrap();
    assert_eq!(server.log.durable(), server.log.reserved());
    server.log.shutdown().unwrap();
    server.schedulers.shutdown();
}

#[test]
fn who_comes_back_alone_is_put_off_for_a_moment_only() {
    let statistics = Statistics::new();
    let threads = SchedulerOptions { cpus: vec![0], pin: false, ..SchedulerOptions::default() };
    let schedulers = Schedulers::start(threads, Arc::clone(&statistics)).unwrap();
    let disk = Disk::null().slowed(SlowDevice { delay: Duration::from_millis(1), bytes_per_second: None });
    // Nobody but the scheduler writes, and nobody prepares a second segment. Of three sessions two end early, and the third is
    // expected to have their company.
    let one_segment = LogOptions { first_segment_bytes: 1 << 20, ..options(CommitBy::Scheduler, FlushQueue::LockFree) };
    let server = Server::with_disk(disk, schedulers, statistics, one_segment);
    let rounds = [3, 3, 9];
    let tasks: Vec<_> = rounds.into_iter().flat_map(|rounds| server.commit(1, rounds, true)).collect();
    for task in tasks {
        task.join().unwrap();
    }
    let stats = server.log.stats();
    assert_eq!(stats.flush_waits, 15);
    assert!(stats.flushes >= 9, "each of the nine waits for a write of its own: {stats:?}");
    assert!(server.log.statistics.counter(Counter::GroupCommitTime) > 0, "writes were put off");
    server.log.shutdown().unwrap();
    server.schedulers.shutdown();
}

#[test]
fn every_mixture_of_policies_commits_everything() {
    let mut most_in_flight = 0;
    for seed in 0..3 {
        for commit_by in [CommitBy::LogWriter, CommitBy::Scheduler] {
            for flush_queue in [FlushQueue::Spinlock, FlushQueue::LockFree] {
                for reservation in [Reservation::Spinlock, Reservation::Atomic] {
                    for writers in [LogWriters::Auto, LogWriters::Count(2), LogWriters::Count(8)] {
                        let options = LogOptions { reservation, writers, ..options(commit_by, flush_queue) };
                        let server = Server::simulated(seed, options);
                        server.start_writer();
                        let tasks = server.commit(6, 5, true);
                        server.schedulers.advance(Duration::from_millis(50));
                        assert!(tasks.iter().all(|task| task.is_finished()));
                        let stats = server.log.stats();
                        assert_eq!((stats.flush_waits, server.waits("WRITELOG")), (30, 30));
                        assert_eq!((stats.durable, stats.writes_in_flight), (stats.reserved, 0));
                        most_in_flight = most_in_flight.max(stats.writes_in_flight_max);
                        server.log.shutdown().unwrap();
                    }
                }
            }
        }
    }
    assert!(most_in_flight > 1, "several writes were on their way");
}

#[test]
fn helpers_write_beside_the_first_log_writer_when_asked() {
    let options = LogOptions { writers: LogWriters::Count(3), ..options(CommitBy::LogWriter, FlushQueue::LockFree) };
    let server = Server::simulated(9, options);
    // Only a helper runs: it is the one that is asked while the first one writes.
    server.schedulers.hidden("LOG WRITER", None, Arc::clone(&server.log).run_log_writer(1));
    server.log.writers_writing.store(1, pikepole_contention::sync::atomic::Ordering::Relaxed);
    let tasks = server.commit(2, 3, true);
    server.schedulers.run_until_idle();
    assert!(tasks.iter().all(|task| task.is_finished()));
    assert_eq!(server.log.stats().writers, 3);
}

/// Appends until `bytes` are not written yet, or there is no room: the bytes that are not.
fn append_many(log: &Log, bytes: u64) -> u64 {
    loop {
        let unwritten = log.reserved().0 - log.written().0;
        if unwritten >= bytes || append(log, &[7; 500]) == Err(Refused::BufferFull) {
            return unwritten;
        }
    }
}

/// Turns of each log writer for a stream of records that no session waits for.
fn turns_for_a_stream(flush_queue: FlushQueue, writers: u8) -> (Vec<u64>, LogStats) {
    let base = options(CommitBy::LogWriter, flush_queue);
    let server =
        Server::simulated(3, LogOptions { writers: LogWriters::Count(writers), block_bytes_max: 8 << 10, ..base });
    server.start_writer();
    server.schedulers.run_until_idle();
    for _ in 0..20 {
        // More than a block at once, and no commit.
        assert!(append_many(&server.log, 40 << 10) > 16 << 10);
        server.schedulers.advance(Duration::from_millis(5));
    }
    server.schedulers.advance(Duration::from_millis(50));
    let stats = server.log.stats();
    assert_eq!((stats.durable, stats.writes_in_flight), (stats.reserved, 0));
    let tasks = server.schedulers.tasks();
    let turns = tasks.iter().filter(|row| row.command == "LOG WRITER").map(|row| row.context_switches_count).collect();
    server.log.shutdown().unwrap();
    (turns, stats)
}

#[test]
fn several_writers_drain_the_classic_queue_when_no_session_waits() {
    let (turns, stats) = turns_for_a_stream(FlushQueue::Spinlock, 4);
    assert!(turns.len() == 4 && turns.iter().all(|turns| *turns > 10), "{turns:?}");
    assert!(stats.writes_in_flight_max > 1, "blocks were queued: {stats:?}");
    let (turns, _) = turns_for_a_stream(FlushQueue::LockFree, 4);
    assert!(turns[1..].iter().all(|turns| *turns <= 1), "helpers are only asked by committers: {turns:?}");
    let (turns, _) = turns_for_a_stream(FlushQueue::Spinlock, 1);
    assert_eq!(turns.len(), 1);
}

/// A server whose log writer waits for 100 ms, and has nothing to do.
fn patient() -> Server {
    let base = options(CommitBy::Scheduler, FlushQueue::LockFree);
    let server = Server::simulated(
        7,
        LogOptions { flush_delay: Duration::from_millis(100), first_segment_bytes: 1 << 20, ..base },
    );
    server.start_writer();
    server.schedulers.run_until_idle();
    server
}

#[test]
fn what_no_session_waits_for_is_written_when_the_delay_is_over_or_there_is_enough() {
    let server = patient();
    let flushes = server.log.stats().flushes;
    for _ in 0..90 {
        append(&server.log, &[7; 40]).unwrap();
        server.schedulers.advance(Duration::from_millis(1));
    }
    assert_eq!(server.log.stats().flushes, flushes, "a little, and not for long");
    server.schedulers.advance(Duration::from_millis(11));
    let stats = server.log.stats();
    assert_eq!((stats.flushes, stats.durable), (flushes + 1, stats.reserved), "at the latest then, all of it");
    // What comes after a write of another kind waits no longer either.
    append(&server.log, &[7; 40]).unwrap();
    server.schedulers.advance(Duration::from_millis(60));
    server.log.flush_step();
    append(&server.log, &[7; 40]).unwrap();
    server.schedulers.advance(Duration::from_millis(41));
    assert_eq!(server.log.durable(), server.log.reserved());
    // As much as is streamed does not wait at all.
    assert!(append_many(&server.log, 300 << 10) > 256 << 10);
    server.schedulers.advance(Duration::from_millis(3));
    let stats = server.log.stats();
    assert!(stats.durable.0 > 0 && stats.reserved.0 - stats.durable.0 < 256 << 10, "{stats:?}");
    // A shorter delay is in force for what lies there already.
    server.schedulers.advance(Duration::from_millis(200));
    append(&server.log, &[7; 40]).unwrap();
    server.schedulers.advance(Duration::from_millis(5));
    assert!(server.log.durable() < server.log.reserved());
    server.log.set_policy(Policy::FlushDelay(Duration::from_millis(1))).unwrap();
    server.schedulers.advance(Duration::from_millis(5));
    assert_eq!(server.log.durable(), server.log.reserved());
    server.log.shutdown().unwrap();
}

#[test]
fn a_durable_commit_does_not_wait_for_the_delay() {
    let server = patient();
    append(&server.log, &[7; 40]).unwrap();
    server.schedulers.advance(Duration::from_millis(2));
    assert!(server.log.pauses_long.load(std::sync::atomic::Ordering::Relaxed));
    // Beside a task that never comes to rest, so that no scheduler writes for the commits.
    let info = TaskInfo { session_id: None, command: "BUSY" };
    let commits = server.commit(2, 1, true);
    for scheduler in 0..2 {
        server.schedulers.spawn(info, Placement::On(scheduler), async {
            for _ in 0..20_000 {
                pikepole_scheduler::yield_now().await;
            }
        });
    }
    server.schedulers.advance(Duration::from_millis(20));
    assert!(commits.iter().all(|task| task.is_finished()));
    server.log.shutdown().unwrap();
}

#[test]
fn blocks_that_were_queued_are_written_when_the_policy_changes_and_the_log_is_closed() {
    let base = options(CommitBy::LogWriter, FlushQueue::Spinlock);
    let server = Server::simulated(4, LogOptions { block_bytes_max: 8 << 10, ..base });
    assert!(append_many(&server.log, 60 << 10) > 16 << 10);
    // Closes several blocks and writes the first.
    assert!(matches!(server.log.drain_flush_queue(u64::MAX), FlushOutcome::Wrote(_)));
    assert!(server.log.commits.has_blocks() && server.log.durable() < server.log.written());
    server.log.set_policy(Policy::FlushQueue(FlushQueue::LockFree)).unwrap();
    server.log.shutdown().unwrap();
    assert_eq!(server.log.durable(), server.log.reserved());
}

#[test]
fn log_writers_come_and_go_while_the_log_is_in_use() {
    for seed in 0..10 {
        let options =
            LogOptions { writers: LogWriters::Count(1), ..options(CommitBy::LogWriter, FlushQueue::LockFree) };
        let server = Server::simulated(seed, options);
        server.start_writer();
        let start = |wanted| -> Vec<usize> {
            let numbers = server.log.set_writers(LogWriters::Count(wanted)).unwrap();
            for number in &numbers {
                server.schedulers.hidden("LOG WRITER", None, Arc::clone(&server.log).run_log_writer(*number));
            }
            numbers
        };
        let rows = || server.schedulers.tasks().iter().filter(|row| row.command == "LOG WRITER").count();
        let tasks = server.commit(6, 20, true);
        assert_eq!((start(4), rows()), (vec![1, 2, 3], 4));
        server.schedulers.advance(Duration::from_micros(40));
        // Asked back before they have gone: the same ones stay.
        let (none, back) = (start(1), start(3));
        assert_eq!((none, back), (vec![], vec![]));
        assert_eq!(server.log.stats().writers, 3);
        server.schedulers.advance(Duration::from_millis(50));
        assert!(tasks.iter().all(|task| task.is_finished()));
        assert_eq!(rows(), 3, "the fourth has gone");
        assert_eq!(start(1), vec![]);
        server.schedulers.advance(Duration::from_millis(5));
        assert_eq!(rows(), 1);
        assert_eq!((start(2), rows()), (vec![1], 2));
        let tasks = server.commit(6, 20, true);
        server.schedulers.advance(Duration::from_millis(50));
        assert!(tasks.iter().all(|task| task.is_finished()));
        server.log.set_writers(LogWriters::Count(9)).unwrap_err();
    }
}

#[test]
fn a_machine_has_twice_as_many_log_writers_as_nodes_within_bounds() {
    let count = |nodes, schedulers| LogWriters::for_machine(nodes, schedulers);
    assert_eq!([count(1, 1), count(1, 2), count(1, 64)], [1, 2, 2].map(LogWriters::Count));
    assert_eq!([count(2, 3), count(2, 40), count(8, 256), count(0, 4)], [3, 4, 8, 1].map(LogWriters::Count));
}
