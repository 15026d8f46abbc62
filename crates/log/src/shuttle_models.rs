//! The whole log under threads that are switched by chance, by shuttle: appends, flushes, hardening, the flush queue and the
//! log writers together, as they are, on a simulated disk.
//!
//! ```text
//!   2-3 committers   append, commit by themselves or through the log writers, wait
//!   1-2 writers      the first one looks again and again while something is under way, as its ticks have it do
//!   1 power switch   at some moment: notes what was acknowledged, then what the disk would hold after a power failure
//! ```
//! Whatever the order: nobody waits for ever, who is told that a commit is durable finds it after the failure, and a log
//! that is shut down holds each record once, whole. Loom proves the parts (it tries all orders, also of memory, of a few
//! operations); here they run together, with policies drawn for each run, and now and then with a write that fails.
//!
//! ```sh
//! .ci/shuttle                                       # some seconds
//! PIKEPOLE_SHUTTLE_RUNS=20000 .ci/shuttle           # for each model and kind of schedule
//! ```

use crate::crash_tests::bytes_of;
use crate::fault::{Fault, plant};
use crate::tests::FOLDER;
use crate::*;
use pikepole_contention::shuttle_runs::{canary, check, runs};
use pikepole_contention::sync::{Arc, thread};
use pikepole_contention::{Statistics, fault, slot};
use pikepole_machine::{Disk, Operation, SimulatedDisk};
use shuttle::rand::{Rng, thread_rng};
use std::collections::BTreeSet;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::{Context, Poll, Wake, Waker};

/// Runs of a model for each kind of schedule unless `PIKEPOLE_SHUTTLE_RUNS` says how many.
const RUNS: usize = 300;
/// Runs within which a planted fault must show.
const RUNS_TO_NOTICE: usize = 20_000;

/// Wakes by letting a thread go on.
struct Unpark(thread::Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Runs a future on a thread that calls `idle` before it sleeps: whether it is to look again at once.
fn block_on<F: Future>(future: F, mut idle: impl FnMut() -> bool) -> F::Output {
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return output;
        }
        if idle() {
            thread::yield_now();
        } else {
            thread::park();
        }
    }
}

/// What everybody knows. Its lock is std's: nothing else is done under it, and a model is to see the log's own.
#[derive(Default)]
struct Known {
    numbers: u64,
    /// Numbers of the records that were appended.
    appended: BTreeSet<u64>,
    /// Numbers of those whose committers were told that they are durable.
    acknowledged: BTreeSet<u64>,
}

#[allow(clippy::disallowed_types, reason = "a lock that the model does not see")]
type Shared = std::sync::Arc<std::sync::Mutex<Known>>;

fn with<R>(known: &Shared, f: impl FnOnce(&mut Known) -> R) -> R {
    f(&mut known.lock().unwrap_or_else(|poisoned| poisoned.into_inner()))
}

fn one_of<T: Copy>(choices: &[T]) -> T {
    choices[thread_rng().gen_range(0..choices.len())]
}

fn drawn_options() -> LogOptions {
    LogOptions {
        // Small enough to be full of what three committers append.
        ring_bytes: one_of(&[4 << 10, 64 << 10]),
        record_bytes_max: 300,
        block_bytes_max: one_of(&[4 << 10, 16 << 10]),
        bytes_max: 1 << 20,
        reservation: one_of(&[Reservation::Spinlock, Reservation::Atomic, Reservation::Chunk, Reservation::Chunk]),
        flush_queue: one_of(&[FlushQueue::Spinlock, FlushQueue::LockFree]),
        commit_by: one_of(&[CommitBy::LogWriter, CommitBy::Scheduler]),
        writers: LogWriters::Count(one_of(&[1, 2])),
        io: one_of(&[LogIo::IoUring, LogIo::WriteFlag]),
        ..LogOptions::small()
    }
}

/// Appends a record for the calling thread; its number and its place. None: the log takes no more.
fn append(log: &Log, known: &Shared, len: usize) -> Option<(u64, LsnRange)> {
    let number = with(known, |known| {
        known.numbers += 1;
        known.numbers
    });
    let content = bytes_of(number, len);
    loop {
        let appended = log.append(len, |out, _| {
            // Others run while the place is taken and not filled.
            thread::yield_now();
            out.copy_from_slice(&content);
        });
        match appended {
            Ok(place) => {
                with(known, |known| known.appended.insert(number));
                return Some((number, place));
            }
            Err(Refused::Poisoned) => return None,
            Err(_) => block_on(log.buffer_space(), || idle(log)),
        }
    }
}

/// A log writer. The first one's ticks are yields: time stands still in a model.
fn write(log: &Log, number: usize) {
    if number > 0 {
        return block_on(log.run_helper(number), || false);
    }
    while log.goes_on() {
        let is_asked = log.commits.asked() > log.written().0;
        if (is_asked && log.write_as_writer(u64::MAX)) || log.prepare_step() {
            continue;
        }
        if is_asked || log.in_flight.count() > 0 || log.space_waiters.any() {
            log.flush_step();
            thread::yield_now();
        } else {
            block_on(poll_fn(|cx| log.writers[0].poll(cx)), || false);
        }
    }
}

/// What a scheduler does when it has nothing to run; whether it should look again soon.
fn idle(log: &Log) -> bool {
    log.prepare_step() || matches!(log.idle_step(), FlushOutcome::Wrote(_) | FlushOutcome::Busy)
}

/// A session: appends and commits.
fn commit(log: &Log, known: &Shared, rounds: usize) {
    for _ in 0..rounds {
        let len = one_of(&[8, 40, 280]);
        let Some((number, place)) = append(log, known, len) else { return };
        if thread_rng().gen_range(0..5) == 0 {
            continue;
        }
        let by_writer = log.commit_by() == CommitBy::LogWriter || thread_rng().gen_bool(0.3);
        let outcome = if by_writer {
            block_on(log.durable_after(place.end), || false)
        } else {
            let mut waiter = None;
            let wait = poll_fn(|cx| log.commits.poll(slot::current(), place.end, &mut waiter, cx));
            block_on(wait, || idle(log))
        };
        if outcome.is_ok() {
            assert!(log.durable() >= place.end, "a commit is told too early");
            with(known, |known| known.acknowledged.insert(number));
        }
    }
}

/// Reads a log back; the numbers of its records.
fn read_back(disk: &SimulatedDisk, options: &LogOptions) -> BTreeSet<u64> {
    let disk = Disk::simulated(disk.clone());
    let opened = Log::open(&disk, FOLDER, options.clone(), &Statistics::new(), Lsn::OLDEST);
    let (_log, mut reader) = opened.expect("a log that opens");
    let mut numbers = BTreeSet::new();
    while let Some((_, bytes, _)) = reader.next().expect("a record that can be read") {
        let number = u64::from_le_bytes(bytes[..8].try_into().expect("eight bytes"));
        assert_eq!(bytes, bytes_of(number, bytes.len()), "a record is not as it was appended");
        assert!(numbers.insert(number), "a record is there twice");
    }
    numbers
}

/// See the module.
fn whole_log() {
    let options = drawn_options();
    let disk = SimulatedDisk::new(thread_rng().gen_range(0..1 << 20));
    let created = Log::create(&Disk::simulated(disk.clone()), FOLDER, options.clone(), &Statistics::new());
    let log = Arc::new(created.expect("a new log"));
    if thread_rng().gen_bool(0.8) {
        log.reservations.appended_for_test(1 << 16);
    }
    let known = Shared::default();
    if thread_rng().gen_range(0..4) == 0 {
        // The first segment is nearly full: it ends while the threads run.
        for _ in 0..14 {
            let _ = append(&log, &known, 8);
            log.flush_step();
            while log.reap_or_wait() > 0 {}
        }
    }
    if thread_rng().gen_range(0..6) == 0 {
        disk.fail_nth(Operation::DurableWrite, thread_rng().gen_range(1..6));
    }
    let writers: Vec<_> = (0..log.writer_count())
        .map(|number| {
            let log = Arc::clone(&log);
            thread::spawn(move || write(&log, number))
        })
        .collect();
    let committers: Vec<_> = (0..one_of(&[2, 3]))
        .map(|_| {
            let (log, known) = (Arc::clone(&log), Shared::clone(&known));
            thread::spawn(move || commit(&log, &known, 2))
        })
        .collect();
    let power = {
        let (disk, known) = (disk.clone(), Shared::clone(&known));
        let (moment, seed) = (thread_rng().gen_range(0..60), thread_rng().gen_range(0..1 << 20));
        thread::spawn(move || {
            (0..moment).for_each(|_| thread::yield_now());
            let acknowledged = with(&known, |known| known.acknowledged.clone());
            (acknowledged, disk.crash(seed))
        })
    };
    committers.into_iter().for_each(|committer| committer.join().expect("a committer ends"));
    let (acknowledged, after_failure) = power.join().expect("the power switch ends");
    let is_whole = log.shutdown().is_ok();
    writers.into_iter().for_each(|writer| writer.join().expect("a writer ends"));
    drop(log);
    let found = read_back(&after_failure, &options);
    assert!(acknowledged.is_subset(&found), "a commit was lost: {:?}", acknowledged.difference(&found));
    // What a shutdown leaves needs no power any more.
    let found = read_back(&disk.crash(1), &options);
    let (appended, acknowledged) = with(&known, |known| (known.appended.clone(), known.acknowledged.clone()));
    assert!(acknowledged.is_subset(&found) && found.is_subset(&appended));
    assert!(!is_whole || found == appended, "a shut down log lacks records");
}

/// Two sessions fill chunks without waiting while a third thread flushes: what it seals, and what they put into a chunk
/// at that moment, is all there.
fn chunks_and_flushes() {
    let options = LogOptions { reservation: Reservation::Chunk, ring_bytes: 64 << 10, ..drawn_options() };
    let disk = SimulatedDisk::new(1);
    let created = Log::create(&Disk::simulated(disk.clone()), FOLDER, options.clone(), &Statistics::new());
    let log = Arc::new(created.expect("a new log"));
    log.reservations.appended_for_test(1 << 16);
    let known = Shared::default();
    let appenders: Vec<_> = (0..2)
        .map(|_| {
            let (log, known) = (Arc::clone(&log), Shared::clone(&known));
            thread::spawn(move || {
                for _ in 0..5 {
                    let _ = append(&log, &known, 8);
                }
            })
        })
        .collect();
    for _ in 0..8 {
        log.flush_step();
        if thread_rng().gen_bool(0.2) {
            // Seals them too.
            log.now();
        }
    }
    appenders.into_iter().for_each(|appender| appender.join().expect("an appender ends"));
    log.shutdown().expect("a log in order");
    drop(log);
    assert_eq!(
        read_back(&disk.crash(1), &options),
        with(&known, |known| known.appended.clone()),
        "a record is missing"
    );
}

/// Policies are switched while sessions append and commit.
fn switched_policies() {
    let options = LogOptions { ring_bytes: 64 << 10, ..drawn_options() };
    let disk = SimulatedDisk::new(1);
    let created = Log::create(&Disk::simulated(disk.clone()), FOLDER, options.clone(), &Statistics::new());
    let log = Arc::new(created.expect("a new log"));
    log.reservations.appended_for_test(1 << 16);
    let known = Shared::default();
    let writers: Vec<_> = (0..log.writer_count())
        .map(|number| {
            let log = Arc::clone(&log);
            thread::spawn(move || write(&log, number))
        })
        .collect();
    let committers: Vec<_> = (0..2)
        .map(|_| {
            let (log, known) = (Arc::clone(&log), Shared::clone(&known));
            thread::spawn(move || commit(&log, &known, 3))
        })
        .collect();
    for _ in 0..3 {
        let policy = one_of(&[
            Policy::Reservation(Reservation::Spinlock),
            Policy::Reservation(Reservation::Chunk),
            Policy::FlushQueue(FlushQueue::Spinlock),
            Policy::FlushQueue(FlushQueue::LockFree),
            Policy::BlockBytesMax(8 << 10),
        ]);
        log.set_policy(policy).expect("a policy");
        thread::yield_now();
    }
    committers.into_iter().for_each(|committer| committer.join().expect("a committer ends"));
    log.shutdown().expect("a log in order");
    writers.into_iter().for_each(|writer| writer.join().expect("a writer ends"));
    drop(log);
    assert_eq!(
        read_back(&disk.crash(1), &options),
        with(&known, |known| known.appended.clone()),
        "a record is missing"
    );
}

#[test]
fn shuttle_whole_log() {
    check(whole_log, runs(RUNS));
}

#[test]
fn shuttle_chunks_and_flushes() {
    check(chunks_and_flushes, runs(RUNS));
}

#[test]
fn shuttle_switched_policies() {
    check(switched_policies, runs(RUNS));
}

/// The ways in which a run shows a fault.
const WAYS: &[&str] = &[
    "was lost",
    "is_subset",
    "is missing",
    "lacks records",
    "too early",
    "deadlock",
    "max_steps",
    "as it was appended",
    "that opens",
];

macro_rules! canaries {
    ($($name:ident: $model:ident with $plant:expr;)+) => { $(
        #[test]
        fn $name() {
            canary(concat!("shuttle_models::", stringify!($name)), || $plant, $model, RUNS_TO_NOTICE, WAYS);
        }
    )+ };
}

canaries! {
    shuttle_canary_acknowledge_first: whole_log with plant(Some(Fault::AcknowledgeFirst));
    shuttle_canary_harden_out_of_order: whole_log with plant(Some(Fault::HardenOutOfOrder));
    shuttle_canary_name_own_sequence: whole_log with plant(Some(Fault::NameOwnSequence));
    shuttle_canary_rewrite_block: whole_log with plant(Some(Fault::RewriteBlock));
    shuttle_canary_commit_looks_once: whole_log with fault::plant("commit_looks_once");
    shuttle_canary_harden_one_block: whole_log with fault::plant("harden_one_block");
    shuttle_canary_slot_set_after_add: whole_log with fault::plant("slot_set_after_add");
    shuttle_canary_chunk_claimed_by_store: chunks_and_flushes with fault::plant("chunk_claimed_by_store");
    shuttle_canary_chunk_sealed_by_store: chunks_and_flushes with fault::plant("chunk_sealed_by_store");
}
