//! Crashes under every combination of policies: a log lives among tasks of the seeded scheduler, its own log writers and
//! threads that are in the midst of a write, until the power fails; what was acknowledged must be there.
//!
//! ```text
//!   tasks on 2 schedulers     append, commit, wait      idle and busy hooks write
//!   log writers, 1 to 4       write when asked, stream, prepare segments
//!   threads in their writes   a block is sealed now and written later, in any order: whatever LOG_IO says
//!   the power                 fails at any operation of the disk; what is left of writes on their way is any part
//! ```
//! One run is two lives with a power failure each. A loss is an acknowledged commit that is not read back, a record that
//! nobody appended, or a log that does not open.
//!
//! `PIKEPOLE_CRASH_RUNS=1000` asks for so many runs of each combination, and `--nocapture` shows a line for each.

use crate::crash_tests::{Expected, Random, Written, bytes_of};
use crate::fault::{Fault, plant};
use crate::flush::Sealed;
use crate::tests::FOLDER;
use crate::*;
use pikepole_contention::sync::{Arc, Mutex};
use pikepole_contention::{Statistics, WaitType, slot};
use pikepole_machine::{Disk, SimulatedDisk};
use pikepole_scheduler::{IdleOutcome, Moment, Placement, Schedulers, TaskInfo, sleep, wait};
use std::time::Duration;

/// Runs of each combination unless `PIKEPOLE_CRASH_RUNS` says how many.
const RUNS: u64 = 4;
/// Runs of a combination within which it must notice a commit that is acknowledged before it is durable.
const RUNS_TO_NOTICE: u64 = 40;
/// Tasks that commit.
const COMMITTERS: u64 = 4;
/// The slot of threads that are in the midst of a write.
const OTHER_THREAD: usize = slot::SLOTS_MAX - 3;

/// One way to run a log.
#[derive(Debug, Clone, Copy)]
struct Combination {
    reservation: Reservation,
    flush_queue: FlushQueue,
    writers: LogWriters,
    commit_by: CommitBy,
    io: LogIo,
}

impl Combination {
    fn all() -> Vec<Self> {
        let mut all = Vec::new();
        for reservation in Reservation::all() {
            for flush_queue in FlushQueue::all() {
                for writers in [LogWriters::Count(1), LogWriters::Count(4), LogWriters::Auto] {
                    for commit_by in CommitBy::all() {
                        for io in [LogIo::Dsync, LogIo::WriteFlag, LogIo::IoUring, LogIo::Auto] {
                            all.push(Self { reservation, flush_queue, writers, commit_by, io });
                        }
                    }
                }
            }
        }
        all
    }

    fn options(&self, random: &mut Random) -> LogOptions {
        LogOptions {
            bytes_max: 384 << 10,
            block_bytes_max: [4 << 10, 16 << 10][random.below(2) as usize],
            reservation: self.reservation,
            flush_queue: self.flush_queue,
            writers: self.writers,
            commit_by: self.commit_by,
            io: self.io,
            ..LogOptions::small()
        }
    }
}

impl std::fmt::Display for Combination {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { reservation, flush_queue, writers, commit_by, io } = self;
        let writers = format!("{writers:?}");
        let (reservation, queue, by) = (reservation.name(), flush_queue.name(), commit_by.name());
        write!(f, "{reservation:<8} {queue:<9} {writers:<8} {by:<10} {:<9}", format!("{io:?}"))
    }
}

/// What the tasks of all lives have done.
#[derive(Default)]
struct Ledger {
    /// All records since the truncation point.
    written: Vec<Written>,
    /// The highest end that somebody was told is durable.
    acknowledged: Lsn,
    /// Below it, the log may be gone.
    start: Lsn,
    numbers: u64,
    commits: u64,
}

type Shared = Arc<Mutex<Ledger>>;

fn lock(ledger: &Shared) -> pikepole_contention::sync::MutexGuard<'_, Ledger> {
    ledger.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// What a run came to.
#[derive(Debug, Default, Clone, Copy)]
struct Outcome {
    commits: u64,
    most_in_flight: usize,
    /// Lives that ended within an operation of the disk, not between two.
    cut: u64,
}

/// A log and those who use it, until the power fails.
struct Life {
    disk: SimulatedDisk,
    log: Arc<Log>,
    schedulers: Arc<Schedulers>,
    ledger: Shared,
    /// Blocks whose writers have not written yet.
    in_writes: Vec<Sealed>,
}

impl Life {
    fn begin(disk: &SimulatedDisk, log: Log, statistics: &Arc<Statistics>, ledger: &Shared, seed: u64) -> Self {
        let log = Arc::new(log);
        let schedulers = Schedulers::simulated(seed, 2, Arc::clone(statistics));
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
        for number in 0..log.writer_count() {
            schedulers.hidden("LOG WRITER", None, Arc::clone(&log).run_log_writer(number));
        }
        for task in 0..COMMITTERS {
            let info = TaskInfo { session_id: None, command: "TEST" };
            let random = Random(seed ^ (task + 1) << 40);
            schedulers.spawn(info, Placement::LeastLoaded, commit(Arc::clone(&log), Arc::clone(ledger), random));
        }
        Self { disk: disk.clone(), log, schedulers, ledger: Arc::clone(ledger), in_writes: Vec::new() }
    }

    /// Until the power fails, or so many steps are over.
    fn live(&mut self, random: &mut Random, steps: u64, outcome: &mut Outcome) {
        for _ in 0..steps {
            if self.disk.is_off() || self.log.is_poisoned() {
                break;
            }
            match random.below(16) {
                0..8 => self.schedulers.advance(Duration::from_micros(random.below(1500))),
                8..12 => self.begin_write(random),
                12..15 => self.end_write(random),
                _ => self.truncate(),
            }
            outcome.most_in_flight = outcome.most_in_flight.max(self.log.in_flight.count());
        }
        outcome.cut += u64::from(self.disk.is_off());
    }

    /// Another thread seals a block and goes to the device with it.
    fn begin_write(&mut self, random: &mut Random) {
        if self.in_writes.len() < random.below(5) as usize {
            let sealed = slot::simulate(OTHER_THREAD, || self.log.seal_next(u64::MAX));
            self.in_writes.extend(sealed.ok());
        }
    }

    /// One of those has come to its end.
    fn end_write(&mut self, random: &mut Random) {
        if !self.in_writes.is_empty() {
            let at = random.below(self.in_writes.len() as u64) as usize;
            let sealed = self.in_writes.remove(at);
            slot::simulate(OTHER_THREAD, || self.log.write_now(sealed));
        }
    }

    /// As a checkpoint: what is durable up to somewhere is not needed any more.
    fn truncate(&self) {
        let mut ledger = lock(&self.ledger);
        let acknowledged = ledger.acknowledged;
        ledger.written.sort_by_key(|record| record.start);
        if let Some(last) = ledger.written.iter().rfind(|record| record.end <= acknowledged) {
            ledger.start = last.start;
        }
        let start = ledger.start;
        ledger.written.retain(|record| record.start >= start);
        drop(ledger);
        self.log.truncate(start);
    }
}

impl Drop for Life {
    fn drop(&mut self) {
        self.schedulers.shutdown();
    }
}

/// A task: transactions of some records each, of which most are waited for.
async fn commit(log: Arc<Log>, ledger: Shared, mut random: Random) {
    loop {
        let mut end = Lsn::ZERO;
        for _ in 0..=random.below(3) {
            // Behind what this task or, now and then, any other has seen acknowledged.
            let after = if random.below(4) == 0 { lock(&ledger).acknowledged } else { end };
            match append(&log, &ledger, after, &mut random).await {
                Some(place) => end = place,
                None => return,
            }
        }
        if random.below(5) == 0 {
            // With delayed durability nobody waits.
            sleep(Duration::from_micros(random.below(700))).await;
            continue;
        }
        if wait(WaitType::WRITELOG, log.durable_after(end)).await.is_err() {
            return;
        }
        let mut ledger = lock(&ledger);
        ledger.acknowledged = ledger.acknowledged.max(end);
        ledger.commits += 1;
    }
}

/// Appends one record and remembers it; its end. None: the log takes no more.
async fn append(log: &Log, ledger: &Shared, after: Lsn, random: &mut Random) -> Option<Lsn> {
    let len = match random.below(6) {
        0 => 500 + random.below(500) as usize,
        _ => 8 + random.below(90) as usize,
    };
    let number = {
        let mut ledger = lock(ledger);
        ledger.numbers += 1;
        ledger.numbers
    };
    let content = bytes_of(number, len);
    // Another thread flushes while this one fills its place.
    let flushes = random.below(12) == 0;
    loop {
        let appended = log.append_after(after, len, |out, _| {
            if flushes {
                slot::simulate(OTHER_THREAD, || log.submit_step());
            }
            out.copy_from_slice(&content);
        });
        match appended {
            Ok(LsnRange { start, end }) => {
                assert!(start >= after);
                lock(ledger).written.push(Written { start, end, number, len });
                return Some(end);
            }
            Err(Refused::BufferFull) => wait(WaitType::LOGBUFFER, log.buffer_space()).await,
            Err(Refused::LogFull) => sleep(Duration::from_millis(1)).await,
            Err(Refused::Poisoned) => return None,
        }
    }
}

/// Opens the log after a failure and compares it with what was written and acknowledged.
fn reopen(
    disk: &SimulatedDisk,
    options: &LogOptions,
    statistics: &Arc<Statistics>,
    ledger: &Shared,
) -> Result<Log, String> {
    let mut ledger = lock(ledger);
    let disk = Disk::simulated(disk.clone());
    let start = if ledger.start == Lsn::ZERO { Lsn::OLDEST } else { ledger.start };
    let opened = Log::open(&disk, FOLDER, options.clone(), statistics, start);
    let (log, mut reader) = opened.map_err(|error| format!("opening: {error}"))?;
    let (start, acknowledged) = (ledger.start, ledger.acknowledged);
    let expected = Expected { written: &mut ledger.written, acknowledged, start };
    let count = expected.compare(&mut reader).map_err(|complaint| complaint.unwrap_or_default())?;
    ledger.written.truncate(count);
    if acknowledged > log.reserved() {
        return Err(format!("the log ends at {} below {acknowledged}", log.reserved()));
    }
    Ok(log)
}

/// Two lives of a log, each until the power fails.
fn run(combination: &Combination, seed: u64) -> Result<Outcome, String> {
    let mut random = Random(seed);
    let statistics = Statistics::new();
    let options = combination.options(&mut random);
    let mut disk = SimulatedDisk::new(seed);
    let ledger = Shared::default();
    let mut outcome = Outcome::default();
    let created = Log::create(&Disk::simulated(disk.clone()), FOLDER, options.clone(), &statistics);
    let mut log = created.map_err(|error| format!("creating: {error}"))?;
    for _ in 0..2 {
        disk.crash_after_ops(1 + random.below(90));
        let mut life = Life::begin(&disk, log, &statistics, &ledger, random.next());
        let steps = 20 + random.below(60);
        life.live(&mut random, steps, &mut outcome);
        let durable = life.log.durable();
        let mut known = lock(&ledger);
        known.acknowledged = known.acknowledged.max(durable);
        drop(known);
        drop(life);
        disk = disk.crash(random.next());
        log = reopen(&disk, &options, &statistics, &ledger)?;
    }
    outcome.commits = lock(&ledger).commits;
    Ok(outcome)
}

/// A number for a run's seed that no other run has.
fn seed_of(combination: usize, run: u64) -> u64 {
    (combination as u64) << 32 | run
}

fn runs() -> u64 {
    std::env::var("PIKEPOLE_CRASH_RUNS").ok().and_then(|runs| runs.parse().ok()).unwrap_or(RUNS)
}

#[test]
fn every_combination_of_policies_keeps_what_was_acknowledged() {
    let combinations = Combination::all();
    assert_eq!(combinations.len(), 3 * 2 * 3 * 2 * 4);
    let (runs, mut all) = (runs(), Outcome::default());
    for (number, combination) in combinations.iter().enumerate() {
        let mut sum = Outcome::default();
        for count in 0..runs {
            match run(combination, seed_of(number, count)) {
                Ok(outcome) => {
                    sum.commits += outcome.commits;
                    sum.cut += outcome.cut;
                    sum.most_in_flight = sum.most_in_flight.max(outcome.most_in_flight);
                }
                Err(complaint) => panic!("{combination}, run {count}: {complaint}"),
            }
        }
        println!(
            "{combination} {runs} runs, {} power failures within an operation, {} commits acknowledged, at most {} writes \
             on their way, 0 losses",
            sum.cut, sum.commits, sum.most_in_flight
        );
        all.commits += sum.commits;
        all.cut += sum.cut;
        all.most_in_flight = all.most_in_flight.max(sum.most_in_flight);
    }
    println!("{} combinations, {} runs, {all:?}, 0 losses", combinations.len(), runs * combinations.len() as u64);
    assert!(all.most_in_flight >= 4 && all.cut > 0 && all.commits > runs * combinations.len() as u64);
}

#[test]
fn the_same_seed_gives_the_same_run_of_a_combination() {
    let combination = Combination::all()[77];
    let outcome = || run(&combination, 9).map(|outcome| (outcome.commits, outcome.most_in_flight, outcome.cut));
    assert_eq!(outcome(), outcome());
}

#[test]
fn every_combination_notices_an_acknowledgement_before_the_write() {
    plant(Some(Fault::AcknowledgeFirst));
    let blind = Combination::all().into_iter().enumerate().find(|(number, combination)| {
        (0..RUNS_TO_NOTICE).all(|count| run(combination, seed_of(*number, count)).is_ok())
    });
    plant(None);
    assert!(blind.is_none(), "{}", blind.map_or(String::new(), |(_, combination)| combination.to_string()));
}

/// Whether some run of some combination notices `fault`.
fn is_noticed(fault: Fault) -> bool {
    plant(Some(fault));
    let combinations = Combination::all();
    let noticed = (0..RUNS_TO_NOTICE)
        .any(|count| combinations.iter().enumerate().any(|(number, way)| run(way, seed_of(number, count)).is_err()));
    plant(None);
    noticed
}

#[test]
fn the_combinations_notice_what_is_planted() {
    for fault in [
        Fault::HardenOutOfOrder,
        Fault::NameOwnSequence,
        Fault::IgnoreHole,
        Fault::NoChecksums,
        Fault::RewriteBlock,
        Fault::ReuseEarly,
    ] {
        assert!(is_noticed(fault), "{fault:?}");
    }
}
