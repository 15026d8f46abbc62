//! Sequences: their definitions, and the numbers in memory that sessions take.
//!
//! ```text
//!   catalog's note:  the position behind the block being dealt     durable before the first number of the block is given
//!   memory:          next ... left                                 one spinlock a sequence, SEQUENCE_CACHE
//! ```
//! A number is given once: what a crash leaves out is the rest of a block. A rollback gives none back.

use std::ops::Deref;
use std::sync::Arc;

use pikepole_contention::sync::atomic::{AtomicU64, Ordering};
use pikepole_contention::{Spinlock, SpinlockClass, Statistics};
use pikepole_log::Lsn;
use pikepole_transaction::TableLock;
use pikepole_types::SqlType;
use serde::{Deserialize, Serialize};

/// Numbers of a block when nothing is said about the cache.
const CACHE_DEFAULT: u32 = 50;

/// How many numbers are noted at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum SequenceCache {
    /// As many as the engine likes.
    Default,
    /// So many.
    Size(u32),
    /// NO CACHE: each is noted before it is given.
    Off,
}

impl SequenceCache {
    fn block(self) -> i128 {
        match self {
            SequenceCache::Default => i128::from(CACHE_DEFAULT),
            SequenceCache::Size(size) => i128::from(size.max(1)),
            SequenceCache::Off => 1,
        }
    }
}

/// What CREATE SEQUENCE says. Numbers are in texts, for they can have 38 digits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SequenceRecord {
    /// The object id.
    pub object_id: i32,
    /// The schema's id.
    pub schema_id: i32,
    /// The schema's name.
    pub schema: String,
    /// The name.
    pub name: String,
    /// The type of its numbers.
    pub ty: SqlType,
    /// START WITH, or what RESTART WITH said last.
    #[serde(with = "digits")]
    pub start: i128,
    /// Where dealing begins when nothing is noted.
    pub position: Position,
    /// INCREMENT BY.
    #[serde(with = "digits")]
    pub increment: i128,
    /// MINVALUE.
    #[serde(with = "digits")]
    pub minimum: i128,
    /// MAXVALUE.
    #[serde(with = "digits")]
    pub maximum: i128,
    /// CYCLE.
    pub cycle: bool,
    /// CACHE.
    pub cache: SequenceCache,
    /// Raised by each ALTER: notes of former definitions say nothing any more.
    pub generation: u32,
    /// When it was created, in microseconds since 1970.
    pub created_us: u64,
    /// When its definition changed last, in microseconds since 1970.
    pub modified_us: u64,
}

/// Whole numbers as texts: JSON's own numbers end sooner.
mod digits {
    use serde::{Deserialize, Deserializer, Serializer};

    pub fn serialize<S: Serializer>(number: &i128, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(number)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i128, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

/// Where a sequence stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Position {
    /// The next number; of no meaning when it is exhausted.
    #[serde(with = "digits")]
    pub next: i128,
    /// The last number; the start before the first.
    #[serde(with = "digits")]
    pub last: i128,
    /// There is no next number.
    pub exhausted: bool,
}

/// Bytes of a noted position.
const NOTE_BYTES: usize = 33;

impl Position {
    /// The position of a sequence that is to begin at `start`.
    pub fn at(start: i128) -> Position {
        Position { next: start, last: start, exhausted: false }
    }

    pub(crate) fn to_bytes(self) -> [u8; NOTE_BYTES] {
        let mut bytes = [0; NOTE_BYTES];
        bytes[..16].copy_from_slice(&self.next.to_le_bytes());
        bytes[16..32].copy_from_slice(&self.last.to_le_bytes());
        bytes[32] = self.exhausted.into();
        bytes
    }

    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Position> {
        let bytes: &[u8; NOTE_BYTES] = bytes.try_into().ok()?;
        let number = |at: usize| Some(i128::from_le_bytes(bytes[at..at + 16].try_into().ok()?));
        Some(Position { next: number(0)?, last: number(16)?, exhausted: bytes[32] != 0 })
    }
}

impl SequenceRecord {
    /// `schema.name`, as error texts name it.
    pub fn full_name(&self) -> String {
        format!("{}.{}", self.schema, self.name)
    }

    /// How many numbers are left before the sequence ends or begins anew, from a number on and with it.
    fn left_from(&self, number: i128) -> i128 {
        let end = if self.increment > 0 { self.maximum } else { self.minimum };
        // The widest range has more than i128 can count; so many numbers nobody takes.
        let left = end.abs_diff(number) / self.increment.unsigned_abs();
        i128::try_from(left).map_or(i128::MAX, |left| left.saturating_add(1))
    }

    /// The number that a lap begins with.
    fn lap_start(&self) -> i128 {
        if self.increment > 0 { self.minimum } else { self.maximum }
    }

    /// The position after `count` more numbers, and how often that passes the end; `None` when there are not so many.
    pub(crate) fn advanced(&self, from: Position, count: i128) -> Option<(Position, i128)> {
        let mut cycles = 0;
        let (mut number, mut count) = (from.next, count);
        if from.exhausted {
            if !self.cycle {
                return (count == 0).then_some((from, 0));
            }
            number = self.lap_start();
        }
        if count == 0 {
            return Some((from, 0));
        }
        let left = self.left_from(number);
        if count > left {
            if !self.cycle {
                return None;
            }
            count -= left;
            let lap = self.left_from(self.lap_start());
            // A whole lap ends where the next one begins: at least one number is taken in the last one.
            cycles = 1 + (count - 1) / lap;
            count -= (cycles - 1) * lap;
            number = self.lap_start();
        }
        // The product can have more digits than fit; the sum lies within the sequence's bounds.
        let last = number.wrapping_add((count - 1).wrapping_mul(self.increment));
        let position = match count == self.left_from(number) {
            false => Position { next: last + self.increment, last, exhausted: false },
            true if self.cycle => Position { next: self.lap_start(), last, exhausted: false },
            true => Position { next: last, last, exhausted: true },
        };
        Some((position, cycles))
    }
}

/// The numbers in memory.
#[derive(Debug, Clone, Copy)]
struct Numbers {
    position: Position,
    /// How many may be given before the catalog must note a new position.
    left: i128,
    /// The noted position, once there is one.
    noted: bool,
    /// The note of the numbers left must be durable up to here before one is given; zero: it is.
    durable_from: Lsn,
}

/// The part that all versions of a sequence share.
pub(crate) struct SequenceState {
    pub lock: Arc<TableLock>,
    version: AtomicU64,
    numbers: Spinlock<Numbers>,
}

/// What asking for numbers met.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dealt {
    /// The position before, the one after, and how often they pass the end.
    Numbers(Position, Position, i128),
    /// The catalog must note a position first.
    Note,
    /// The note must be durable first.
    Harden(Lsn),
    /// There are not so many.
    Exhausted,
}

impl SequenceState {
    pub fn new(
        object_id: i32,
        version: u64,
        position: Position,
        noted: bool,
        statistics: &Arc<Statistics>,
    ) -> Arc<SequenceState> {
        let numbers = Numbers { position, left: 0, noted, durable_from: Lsn(0) };
        Arc::new(SequenceState {
            lock: Arc::new(TableLock::new(object_id as u32)),
            version: AtomicU64::new(version),
            numbers: Spinlock::new(SpinlockClass::SEQUENCE_CACHE, statistics, numbers),
        })
    }

    /// Whether a newer definition than `version` was published.
    pub fn is_stale(&self, version: u64) -> bool {
        // Acquire pairs with the Release in `publish`.
        self.version.load(Ordering::Acquire) > version
    }

    /// The definition of this version is current; MAX: the sequence is gone, or has another state.
    pub fn publish(&self, version: u64) {
        // Release pairs with the Acquire in `is_stale`; the sequence's lock is held exclusively too.
        self.version.store(version, Ordering::Release);
    }

    pub fn position(&self) -> Position {
        self.numbers.lock().position
    }

    /// Gives `count` numbers.
    pub fn deal(&self, record: &SequenceRecord, count: i128) -> Dealt {
        let mut numbers = self.numbers.lock();
        if numbers.left < count {
            let there = record.advanced(numbers.position, count).is_some();
            return if there { Dealt::Note } else { Dealt::Exhausted };
        }
        if numbers.durable_from != Lsn(0) {
            return Dealt::Harden(numbers.durable_from);
        }
        let before = numbers.position;
        let Some((after, cycles)) = record.advanced(before, count) else {
            return Dealt::Exhausted;
        };
        numbers.position = after;
        numbers.left -= count;
        Dealt::Numbers(before, after, cycles)
    }

    /// The position to note so that `count` numbers and the rest of a block can be given, how many those are, and whether a
    /// note is there. None: somebody else has noted enough meanwhile, or there are not so many.
    pub fn to_note(&self, record: &SequenceRecord, count: i128) -> Option<(Position, i128, bool)> {
        let numbers = *self.numbers.lock();
        if numbers.left >= count {
            return None;
        }
        let wanted = count.max(record.cache.block());
        // Near the end of a sequence a block is shorter.
        let (block, (position, _)) = match record.advanced(numbers.position, wanted) {
            Some(advanced) => (wanted, advanced),
            None => {
                let rest = if numbers.position.exhausted { 0 } else { record.left_from(numbers.position.next) };
                (rest, record.advanced(numbers.position, rest)?)
            }
        };
        (block >= count).then_some((position, block, numbers.noted))
    }

    /// The catalog's note allows so many numbers from now on, once the log is durable up to `durable_from`.
    pub fn noted(&self, block: i128, durable_from: Lsn) {
        let mut numbers = self.numbers.lock();
        (numbers.left, numbers.noted, numbers.durable_from) = (block, true, durable_from);
    }

    /// The log is durable up to here.
    pub fn hardened(&self, durable: Lsn) {
        let mut numbers = self.numbers.lock();
        if numbers.durable_from <= durable {
            numbers.durable_from = Lsn(0);
        }
    }

    /// At a shutdown: the position to note, when one was noted that is behind it, and whether there is a note.
    pub fn to_note_at_end(&self) -> Option<Position> {
        let numbers = *self.numbers.lock();
        (numbers.noted && numbers.left > 0).then_some(numbers.position)
    }
}

/// A sequence of one catalog version.
pub struct Sequence {
    record: SequenceRecord,
    pub(crate) version: u64,
    pub(crate) state: Arc<SequenceState>,
}

impl Sequence {
    pub(crate) fn new(record: SequenceRecord, version: u64, state: Arc<SequenceState>) -> Sequence {
        Sequence { record, version, state }
    }

    /// The last number given, or the start.
    pub fn position(&self) -> Position {
        self.state.position()
    }
}

impl Deref for Sequence {
    type Target = SequenceRecord;

    fn deref(&self) -> &SequenceRecord {
        &self.record
    }
}

impl std::fmt::Debug for Sequence {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Sequence({} version {})", self.full_name(), self.version)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(start: i128, increment: i128, minimum: i128, maximum: i128, cycle: bool) -> SequenceRecord {
        SequenceRecord {
            object_id: 1,
            schema_id: 1,
            schema: "dbo".into(),
            name: "s".into(),
            ty: SqlType::BigInt,
            start,
            position: Position::at(start),
            increment,
            minimum,
            maximum,
            cycle,
            cache: SequenceCache::Default,
            generation: 0,
            created_us: 0,
            modified_us: 0,
        }
    }

    /// Many at once are as many as one by one, for every kind of sequence.
    #[test]
    fn many_at_once_are_as_many_one_by_one() {
        for (start, increment, minimum, maximum) in
            [(1, 1, 1, 7), (3, 2, 0, 8), (5, -1, 1, 5), (4, -3, -4, 5), (9, 1, 9, 10), (0, 100, 0, 50)]
        {
            for cycle in [false, true] {
                let record = record(start, increment, minimum, maximum, cycle);
                for count in 0..40 {
                    let (mut position, mut cycles) = (Position::at(start), 0);
                    let mut numbers = Vec::new();
                    for _ in 0..count {
                        let Some((next, passed)) = record.advanced(position, 1) else { break };
                        (position, cycles) = (next, cycles + passed);
                        numbers.push(position.last);
                    }
                    let at_once = record.advanced(Position::at(start), count);
                    assert!(numbers.iter().all(|number| (minimum..=maximum).contains(number)));
                    if numbers.len() as i128 == count {
                        assert_eq!(at_once.map(|(at, _)| at), Some(position), "{record:?} {count}");
                    } else {
                        assert!(!cycle && at_once.is_none(), "{record:?} {count}");
                    }
                }
            }
        }
    }

    #[test]
    fn the_ends_of_the_widest_type_are_met() {
        let most = 10i128.pow(38) - 1;
        let record = record(most - 1, 1, -most, most, true);
        let (position, cycles) = record.advanced(Position::at(most - 1), 3).expect("it begins anew");
        assert_eq!((position.last, position.next, cycles), (-most, -most + 1, 1));
        let steep = self::record(-most, most, -most, most, false);
        let (position, _) = steep.advanced(Position::at(-most), 3).expect("three numbers");
        assert_eq!((position.last, position.exhausted), (most, true));
        assert_eq!(steep.advanced(Position::at(-most), 4), None);
        let bytes = position.to_bytes();
        assert_eq!(Position::from_bytes(&bytes), Some(position));
        let json = serde_json::to_vec(&record).expect("plain data");
        assert_eq!(serde_json::from_slice::<SequenceRecord>(&json).ok(), Some(record));
    }

    #[test]
    fn numbers_are_given_behind_their_note() {
        let record = record(1, 1, 1, 70, false);
        let state = SequenceState::new(1, 1, record.position, false, &Statistics::new());
        assert_eq!(state.deal(&record, 1), Dealt::Note);
        let (position, block, noted) = state.to_note(&record, 1).expect("a note is due");
        assert_eq!((position.next, block, noted), (51, 50, false));
        state.noted(block, Lsn(9));
        assert_eq!(state.to_note(&record, 1), None, "another session comes late");
        assert_eq!(state.deal(&record, 1), Dealt::Harden(Lsn(9)));
        state.hardened(Lsn(8));
        assert_eq!(state.deal(&record, 1), Dealt::Harden(Lsn(9)));
        state.hardened(Lsn(9));
        for number in 1..=50 {
            assert!(matches!(state.deal(&record, 1), Dealt::Numbers(before, ..) if before.next == number));
        }
        assert_eq!(state.deal(&record, 1), Dealt::Note);
        let (position, block, noted) = state.to_note(&record, 1).expect("a note is due");
        assert_eq!((position.exhausted, block, noted), (true, 20, true));
        state.noted(block, Lsn(0));
        assert!(matches!(state.deal(&record, 20), Dealt::Numbers(..)));
        assert_eq!(state.deal(&record, 1), Dealt::Exhausted);
        assert_eq!(state.to_note(&record, 1), None);
    }
}
