//! What a group keeps for each aggregate, and the values of DISTINCT that found no room there.

use hashbrown::HashMap;
use std::sync::Arc;

use super::Run;
use crate::access::{Pace, Stop};
use crate::executor::spill::{Charge, LEVELS_MAX, Partitions, Tape, TapeReader};
use crate::expression::Fault;
use crate::plan::Aggregate;
use pikepole_types::{Accumulator, Aggregate as Function, Collation, Value, hash, order};

/// What a value that was seen costs in memory, beside its text.
const SEEN_BYTES: usize = 64;

/// One aggregate's state in one group.
pub(super) struct State {
    accumulator: Accumulator,
    /// The values seen, when each counts once.
    seen: Option<Box<HashMap<u64, Vec<Value>>>>,
    /// Bytes of these.
    seen_bytes: usize,
}

impl State {
    pub(super) fn new(aggregate: &Aggregate, separator: Option<Value>) -> Result<State, Fault> {
        let collation = aggregate.collation;
        let accumulator = match separator {
            None => Accumulator::new(aggregate.function, &aggregate.input_type, collation)?,
            Some(place) if matches!(aggregate.function, Function::ApproxPercentile { .. }) => {
                Accumulator::of_percentile(aggregate.function, &place, &aggregate.input_type, collation)?
            }
            Some(separator) => Accumulator::joining(&separator, &aggregate.input_type, collation)?,
        };
        Ok(State { accumulator, seen: aggregate.distinct.then(Box::default), seen_bytes: 0 })
    }

    pub(super) fn add_row(&mut self) {
        self.accumulator.add_row();
    }

    /// Whether a value is to be added. One that counts once is noted, unless memory is full.
    pub(super) fn is_new(&mut self, value: &Value, aggregate: &Aggregate, is_full: bool, bytes: &mut usize) -> bool {
        let Some(seen) = &mut self.seen else {
            return true;
        };
        let collation = aggregate.collation;
        let code = hash(value, collation);
        let equals = |old: &Value| order(old, value, collation).is_eq();
        if is_full {
            return !seen.get(&code).is_some_and(|bucket| bucket.iter().any(equals));
        }
        let bucket = seen.entry(code).or_default();
        if bucket.iter().any(equals) {
            return false;
        }
        bucket.push(value.clone());
        let added = SEEN_BYTES + value.heap_bytes();
        self.seen_bytes += added;
        *bytes += added;
        true
    }

    pub(super) fn add(&mut self, value: &Value, aggregate: &Aggregate, bytes: &mut usize) -> Result<(), Fault> {
        match aggregate.function {
            Function::StringAgg => *bytes += value.heap_bytes(),
            Function::ApproxPercentile { .. } => *bytes += size_of::<Value>() + value.heap_bytes(),
            _ => {}
        }
        self.accumulator.add(value)?;
        Ok(())
    }

    pub(super) fn finish(&self) -> Result<Value, Fault> {
        Ok(self.accumulator.finish()?)
    }

    /// Lets go of the values seen; gives their bytes.
    pub(super) fn forget_seen(&mut self) -> usize {
        self.seen = None;
        std::mem::take(&mut self.seen_bytes)
    }
}

/// The values of DISTINCT that were new to their groups when memory was full. Each may come several times.
#[derive(Default)]
pub(super) struct Seen {
    writing: Option<Partitions>,
    /// How often the values at hand were divided.
    level: u32,
    tapes: Vec<(u32, Arc<Tape>)>,
    reader: Option<TapeReader>,
    /// Values of the tape at hand: those of one hash, with the group and the aggregate that they are of.
    found: HashMap<u64, Vec<([usize; 2], Value)>>,
    found_bytes: usize,
    is_full: bool,
    is_counting: bool,
    pace: Pace,
}

fn code_of([group, number]: [usize; 2], value: &Value, collation: Collation) -> u64 {
    let place = (group as u64).rotate_left(32) ^ number as u64;
    hash(value, collation).rotate_left(17) ^ place.wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

impl Seen {
    /// Puts a value of a group's aggregate to its part.
    pub(super) fn push(
        &mut self,
        place: [usize; 2],
        value: &Value,
        collation: Collation,
        run: &Run<'_>,
    ) -> Result<(), Fault> {
        let writing = match &mut self.writing {
            Some(writing) => writing,
            None => self.writing.insert(Partitions::new(self.level, run)?),
        };
        let numbers = place.map(|number| Value::BigInt(number as i64));
        writing.push(code_of(place, value, collation), numbers.iter().chain([value]));
        Ok(())
    }

    /// Writes what the last value has filled.
    #[inline]
    pub(super) fn settle(&mut self) -> Result<(), Stop> {
        self.writing.as_mut().map_or(Ok(()), Partitions::settle)
    }

    /// Whether values that were put here are to be counted from now on.
    pub(super) fn begin_counting(&mut self) -> bool {
        self.writing.is_some() && !std::mem::replace(&mut self.is_counting, true)
    }

    /// Reads the next value, and has `add` count it if its group has not. False: there is none.
    pub(super) fn take_new(
        &mut self,
        aggregates: &[Aggregate],
        charge: &mut Charge,
        run: &Run<'_>,
        add: &mut impl FnMut([usize; 2], &Value) -> Result<(), Fault>,
    ) -> Result<bool, Stop> {
        self.settle()?;
        if !self.is_full {
            // What was divided as often as it can be is of one hash.
            self.is_full = !charge.settle(run)? && self.level <= LEVELS_MAX;
        }
        let Some(mut reader) = self.reader.take() else {
            return self.next_tape();
        };
        let paced = self.pace.step();
        let taken = paced.and_then(|()| reader.take(|row| self.take_row(row, aggregates, charge, run, add)));
        match taken {
            Ok(None) => {
                self.found.clear();
                charge.remove(std::mem::take(&mut self.found_bytes));
                self.is_full = false;
            }
            _ => self.reader = Some(reader),
        }
        taken.map(|_| true)
    }

    fn take_row(
        &mut self,
        row: Vec<Value>,
        aggregates: &[Aggregate],
        charge: &mut Charge,
        run: &Run<'_>,
        add: &mut impl FnMut([usize; 2], &Value) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        let (place, value) = parts_of(row).ok_or_else(crate::errors::unexpected)?;
        let collation = aggregates[place[1]].collation;
        let code = code_of(place, &value, collation);
        let is_same = |(of, old): &([usize; 2], Value)| *of == place && order(old, &value, collation).is_eq();
        if self.found.get(&code).is_some_and(|bucket| bucket.iter().any(is_same)) {
            return Ok(());
        }
        if self.is_full {
            return self.push(place, &value, collation, run);
        }
        add(place, &value)?;
        let bytes = SEEN_BYTES + value.heap_bytes();
        self.found.entry(code).or_default().push((place, value));
        self.found_bytes += bytes;
        charge.keep(bytes);
        Ok(())
    }

    /// Goes to the next tape; what was written meanwhile is tapes of the next level. False: there is none.
    fn next_tape(&mut self) -> Result<bool, Stop> {
        if let Some(writing) = &mut self.writing {
            writing.finish()?;
            let tapes = self.writing.take().map(Partitions::into_tapes).unwrap_or_default();
            let level = self.level + 1;
            self.tapes.extend(tapes.into_iter().filter(|tape| tape.rows() > 0).map(|tape| (level, tape)));
        }
        let Some((level, tape)) = self.tapes.pop() else {
            return Ok(false);
        };
        self.level = level;
        self.reader = Some(TapeReader::new(&tape));
        Ok(true)
    }
}

/// A value, and the group and the aggregate that it is of.
fn parts_of(row: Vec<Value>) -> Option<([usize; 2], Value)> {
    let [Value::BigInt(group), Value::BigInt(number), value] = <[Value; 3]>::try_from(row).ok()? else {
        return None;
    };
    Some(([usize::try_from(group).ok()?, usize::try_from(number).ok()?], value))
}
