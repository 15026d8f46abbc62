//! Crashes: a log lives several lives on a simulated disk whose power fails at each of its operations in turn. After
//! each failure everything that was durable must be read back whole and in order, and nothing may follow that was not
//! appended.
//!
//! One thread plays several schedulers and writers: an append of one slot goes on while others append and while the log is
//! flushed; up to four blocks are on their way at once, of which a failure leaves any part, and which are finished in any
//! order.

use crate::fault::{Fault, plant};
use crate::tests::FOLDER;
use crate::*;
use pikepole_contention::{Statistics, slot};
use pikepole_machine::{Disk, SimulatedDisk, is_crash};
use std::sync::Arc;

/// A small generator of numbers: the same seed gives the same ones.
pub(crate) struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        // splitmix64.
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    pub fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }
}

/// A record as the test remembers it. Its bytes follow from its number, so no two are alike.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Written {
    pub start: Lsn,
    pub end: Lsn,
    pub number: u64,
    pub len: usize,
}

/// The bytes of a record: its number first, as far as there is room for it.
pub(crate) fn bytes_of(number: u64, len: usize) -> Vec<u8> {
    let mut random = Random(number);
    let mut bytes: Vec<u8> = number.to_le_bytes().to_vec();
    while bytes.len() < len {
        bytes.extend(random.next().to_le_bytes());
    }
    bytes.truncate(len);
    bytes
}

/// What must hold across lives.
struct World {
    random: Random,
    slots: Vec<usize>,
    statistics: Arc<Statistics>,
    options: LogOptions,
    /// All records since the truncation point, in the order of their places.
    written: Vec<Written>,
    /// Everything below was durable when somebody asked.
    acknowledged: Lsn,
    /// Where the log was when it was truncated, in all lives: also places that a crash took away again.
    places: Vec<Place>,
    /// The last life ended in order, here.
    closed_at: Option<Lsn>,
    /// Where reading begins: what the last checkpoint noted before it truncated.
    start: Lsn,
    numbers: u64,
    most_in_flight: usize,
}

impl World {
    fn new(seed: u64) -> Self {
        let mut random = Random(seed);
        let options = LogOptions {
            bytes_max: 384 << 10,
            block_bytes_max: [4 << 10, 16 << 10][random.below(2) as usize],
            reservation: [Reservation::Spinlock, Reservation::Atomic, Reservation::Chunk][random.below(3) as usize],
            flush_queue: [FlushQueue::Spinlock, FlushQueue::LockFree][random.below(2) as usize],
            commit_by: [CommitBy::LogWriter, CommitBy::Scheduler][random.below(2) as usize],
            writers: LogWriters::Count(1 + random.below(4) as u8),
            ..LogOptions::small()
        };
        Self {
            random,
            slots: vec![100, 7, 255],
            statistics: Statistics::new(),
            options,
            written: Vec::new(),
            acknowledged: Lsn::FIRST,
            places: Vec::new(),
            closed_at: None,
            start: Lsn::FIRST,
            numbers: 0,
            most_in_flight: 0,
        }
    }

    /// Appends from one slot; now and then, another slot appends or the log is flushed while the record is being
    /// filled.
    fn append(&mut self, log: &Log) {
        let Some(slot) = self.slots.pop() else { return };
        let len = match self.random.below(4) {
            0 => 500 + self.random.below(500) as usize,
            _ => 8 + self.random.below(60) as usize,
        };
        self.numbers += 1;
        let number = self.numbers;
        let content = bytes_of(number, len);
        let nested = self.random.below(8);
        let place = slot::simulate(slot, || {
            log.append(len, |out, _| {
                match nested {
                    0 => self.append(log),
                    1 => self.flush(log),
                    _ => {}
                }
                out.copy_from_slice(&content);
            })
        });
        self.slots.insert(0, slot);
        match place {
            Ok(LsnRange { start, end }) => self.written.push(Written { start, end, number, len }),
            Err(Refused::BufferFull) => {
                self.flush(log);
                log.prepare_step();
            }
            Err(Refused::LogFull) => self.truncate(log),
            Err(Refused::Poisoned) => {}
        }
    }

    /// As one of the writers: begins a write, or makes one, or looks whether some have ended.
    fn flush(&mut self, log: &Log) {
        let writes_max = usize::from(match self.options.writers {
            LogWriters::Auto => 1,
            LogWriters::Count(count) => count,
        });
        match self.random.below(8) {
            0 => {
                log.reap();
            }
            1 => {
                log.flush_step();
            }
            _ if log.stats().writes_in_flight < writes_max => {
                log.submit_step();
            }
            _ => {
                log.reap_or_wait();
            }
        }
        self.most_in_flight = self.most_in_flight.max(log.stats().writes_in_flight);
        self.acknowledged = self.acknowledged.max(log.durable());
    }

    /// As a checkpoint: notes where recovery is to begin, then gives the log before it up.
    fn truncate(&mut self, log: &Log) {
        self.places.push(log.place());
        self.written.sort_by_key(|record| record.start);
        let durable = self.written.iter().rfind(|record| record.end <= self.acknowledged);
        if let Some(last) = durable {
            self.start = last.start;
        }
        self.written.retain(|record| record.start >= self.start);
        log.truncate(self.start);
    }

    /// One life on `disk`, until the power fails or the steps are done.
    fn live(&mut self, disk: &SimulatedDisk, log: &Log, steps: u64) {
        for _ in 0..steps {
            if disk.is_off() || log.is_poisoned() {
                return;
            }
            match self.random.below(100) {
                0..70 => self.append(log),
                // More than a block holds: a record that begins in one and ends in the next.
                70..75 => (0..30).for_each(|_| self.append(log)),
                75..92 => self.flush(log),
                92..97 => {
                    log.prepare_step();
                }
                _ => self.truncate(log),
            }
        }
    }

    /// Ends a life in order, if the power lasts.
    fn close(&mut self, log: &Log) {
        self.truncate(log);
        self.closed_at = log.shutdown().ok().map(|()| log.durable());
        self.acknowledged = self.acknowledged.max(log.durable());
    }

    fn create(&mut self, disk: &SimulatedDisk) -> Option<Log> {
        match Log::create(&Disk::simulated(disk.clone()), FOLDER, self.options.clone(), &self.statistics) {
            Ok(log) => Some(log),
            Err(LogError::Io(error)) if is_crash(&error) => None,
            Err(other) => panic!("creating: {other}"),
        }
    }

    /// Opens the log after a failure and checks what is there. None: the power failed meanwhile.
    fn reopen(&mut self, disk: &SimulatedDisk) -> Result<Option<Log>, String> {
        let start = if self.random.below(4) == 0 { Lsn::OLDEST } else { self.start };
        let known = self.random.below(self.places.len() as u64 + 1) as usize;
        let place = self.places[..known].iter().rfind(|place| place.lsn <= start).copied();
        let from = OpenFrom { start, place, closed_at: self.closed_at };
        let disk = Disk::simulated(disk.clone());
        let opened = Log::open(&disk, FOLDER, self.options.clone(), &self.statistics, from);
        let (log, mut reader) = match opened {
            Ok(opened) => opened,
            Err(LogError::Io(error)) if is_crash(&error) => return Ok(None),
            Err(other) => return Err(format!("opening: {other}")),
        };
        let expected = Expected { written: &mut self.written, acknowledged: self.acknowledged, start: self.start };
        match expected.compare(&mut reader) {
            Ok(count) => self.written.truncate(count),
            Err(Some(error)) => return Err(error),
            Err(None) => return Ok(None),
        }
        let lost = self.acknowledged > log.reserved();
        if lost {
            return Err(format!("the log ends at {} below {}", log.reserved(), self.acknowledged));
        }
        self.closed_at = None;
        Ok(Some(log))
    }
}

/// What must be read back, and what may.
pub(crate) struct Expected<'a> {
    /// All records since the truncation point.
    pub written: &'a mut [Written],
    /// Everything below was durable when somebody asked.
    pub acknowledged: Lsn,
    /// Older records may be there still; the test has forgotten them.
    pub start: Lsn,
}

impl Expected<'_> {
    /// Compares what the reader finds with what was written; returns how many records are there. Err(None): the power
    /// failed.
    pub fn compare(self, reader: &mut Reader) -> Result<usize, Option<String>> {
        self.written.sort_by_key(|record| record.start);
        let mut count = 0;
        loop {
            let read = match reader.next() {
                Ok(read) => read,
                Err(LogError::Io(error)) if is_crash(&error) => return Err(None),
                Err(other) => return Err(Some(format!("reading: {other}"))),
            };
            let expected = self.written.get(count);
            match (read, expected) {
                (Some((start, ..)), _) if start < self.start => continue,
                (Some((start, bytes, end)), Some(record)) => {
                    if (start, end) != (record.start, record.end) {
                        return Err(Some(format!("found {start}..{end} for {record:?}")));
                    }
                    if bytes != bytes_of(record.number, record.len) {
                        return Err(Some(format!("wrong bytes in {record:?}")));
                    }
                }
                (Some((start, ..)), None) => return Err(Some(format!("an unknown record at {start}"))),
                (None, Some(record)) if record.end <= self.acknowledged => {
                    return Err(Some(format!("lost {record:?}, durable {}", self.acknowledged)));
                }
                (None, _) => return Ok(count),
            }
            count += 1;
        }
    }
}

/// Lives of a log. The power fails at operation `crash_at` of the first life, and anywhere in the later ones.
/// Returns the operations of the first life.
fn run(seed: u64, crash_at: Option<u64>) -> Result<u64, String> {
    let mut world = World::new(seed);
    let mut disk = SimulatedDisk::new(seed);
    let Some(mut log) = world.create(&disk) else { unreachable!("there is no crash point yet") };
    let before = disk.mutations();
    if let Some(crash_at) = crash_at {
        disk.crash_after_ops(crash_at);
    }
    world.live(&disk, &log, 220);
    let operations = disk.mutations() - before;
    for _ in 0..2 {
        drop(log);
        disk = disk.crash(world.random.next());
        log = loop {
            // A failure while opening, now and then.
            if world.random.below(3) == 0 {
                disk.crash_after_ops(1 + world.random.below(4));
            }
            match world.reopen(&disk)? {
                Some(log) => break log,
                None => disk = disk.crash(world.random.next()),
            }
        };
        let steps = world.random.below(120);
        disk.crash_after_ops(1 + world.random.below(60));
        world.live(&disk, &log, steps);
        if world.random.below(2) == 0 {
            world.close(&log);
        }
    }
    drop(log);
    let disk = disk.crash(world.random.next());
    world.reopen(&disk)?;
    Ok(operations)
}

/// Runs a seed without and with a failure at each operation. Returns the first complaint and how many runs there were.
fn run_all(seed: u64) -> (u64, Option<String>) {
    let operations = match run(seed, None) {
        Ok(operations) => operations,
        Err(complaint) => return (1, Some(format!("seed {seed}: {complaint}"))),
    };
    for crash_at in 1..=operations {
        if let Err(complaint) = run(seed, Some(crash_at)) {
            return (crash_at + 1, Some(format!("seed {seed}, crash at {crash_at}: {complaint}")));
        }
    }
    (operations + 1, None)
}

/// How many seeds: `PIKEPOLE_CRASH_SEEDS` asks for more than a normal test run has time for.
fn seeds() -> u64 {
    std::env::var("PIKEPOLE_CRASH_SEEDS").ok().and_then(|seeds| seeds.parse().ok()).unwrap_or(12)
}

#[test]
fn what_was_durable_survives_every_crash() {
    let mut runs = 0;
    for seed in 0..seeds() {
        let (count, complaint) = run_all(seed);
        runs += count;
        assert_eq!(complaint, None);
    }
    println!("{runs} runs");
    assert!(runs > 100);
}

#[test]
fn the_same_seed_gives_the_same_lives() {
    assert_eq!(run(5, Some(40)), run(5, Some(40)));
}

/// Whether some run of the first seeds notices `fault`.
fn is_noticed(fault: Fault) -> bool {
    plant(Some(fault));
    let noticed = (0..6).any(|seed| run_all(seed).1.is_some());
    plant(None);
    noticed
}

#[test]
fn an_acknowledgement_before_the_write_is_noticed() {
    assert!(is_noticed(Fault::AcknowledgeFirst));
}

#[test]
fn missing_checksums_are_noticed() {
    assert!(is_noticed(Fault::NoChecksums));
}

#[test]
fn hardening_in_any_order_is_noticed() {
    assert!(is_noticed(Fault::HardenOutOfOrder));
}

#[test]
fn an_ignored_hole_is_noticed() {
    assert!(is_noticed(Fault::IgnoreHole));
}

#[test]
fn a_block_that_promises_what_is_on_its_way_is_noticed() {
    assert!(is_noticed(Fault::NameOwnSequence));
}

/// Begins all writes that the log allows over several segments, and cuts the power. Returns the first complaint.
fn cut_over_segments(seed: u64) -> Option<String> {
    let disk = SimulatedDisk::new(seed);
    let mut world = World::new(seed);
    world.options = LogOptions { block_bytes_max: 32 << 10, first_segment_bytes: 64 << 10, ..LogOptions::small() };
    world.options.segment_bytes = 64 << 10;
    let log = world.create(&disk).expect("no crash");
    for _ in 0..60 {
        for _ in 0..20 {
            world.numbers += 1;
            let (number, len) = (world.numbers, 900);
            let content = bytes_of(number, len);
            let Ok(LsnRange { start, end }) = log.append(len, |out, _| out.copy_from_slice(&content)) else { break };
            world.written.push(Written { start, end, number, len });
        }
        log.prepare_step();
        log.submit_step();
        if world.random.below(12) == 0 {
            log.reap();
        }
    }
    world.acknowledged = log.durable();
    drop(log);
    let disk = disk.crash(world.random.next());
    world.reopen(&disk).err()
}

#[test]
fn a_segment_that_is_taken_into_use_too_early_is_noticed() {
    let first_complaint = || (0..40).find_map(cut_over_segments);
    assert_eq!(first_complaint(), None);
    plant(Some(Fault::ActivateEarly));
    let complaint = first_complaint();
    plant(None);
    let expected = "the segment before this one is missing";
    assert!(complaint.as_ref().is_some_and(|complaint| complaint.contains(expected)), "{complaint:?}");
}

#[test]
fn several_blocks_are_on_their_way() {
    let most = (0..4).map(|seed| {
        let (disk, mut world) = (SimulatedDisk::new(seed), World::new(seed));
        let log = world.create(&disk).expect("no crash");
        world.live(&disk, &log, 220);
        world.most_in_flight
    });
    assert!(most.max() >= Some(3));
}

#[test]
fn a_missing_raise_of_the_incarnation_is_noticed() {
    assert!(is_noticed(Fault::NoRaise));
}

#[test]
fn a_place_that_is_believed_unseen_is_noticed() {
    assert!(is_noticed(Fault::TrustPlace));
}
