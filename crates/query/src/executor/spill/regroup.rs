//! Outer rows taken part by part, where what they look for is in parts of which one is in memory at a time.
//!
//! ```text
//!   outer rows ──► tapes, by part ──► each part's rows, with its part in memory ──► results, a tape for each part
//!                  each with its number                                                       │ merged by number
//!                                                             results, in the order of the outer rows ◄┘
//! ```
//! So a join that goes to files gives what it would give without them, in the same order.

use std::sync::Arc;

use super::merge::Merge;
use super::partitions::{PARTS, Partitions};
use super::tape::{Tape, TapeReader, TapeWriter};
use crate::access::{Pace, Stop};
use crate::executor::Run;
use crate::expression::Fault;
use pikepole_types::Value;

/// See the module.
pub(crate) struct Regroup {
    /// The slots of outer rows and of results.
    outer_slots: Vec<usize>,
    result_slots: Vec<usize>,
    /// Outer rows so far.
    count: i64,
    writing: Option<Partitions>,
    /// No outer row will come any more.
    is_complete: bool,
    parts: Vec<Arc<Tape>>,
    /// The part at hand, and its outer rows.
    part: usize,
    reader: Option<TapeReader>,
    /// The number of the outer row at hand.
    number: Value,
    results: Option<TapeWriter>,
    tapes: Vec<Arc<Tape>>,
    merge: Option<Merge>,
    pace: Pace,
}

impl Regroup {
    /// Of outer rows in these slots, whose results are in those.
    ///
    /// # Errors
    /// As of [`TapeWriter::small`].
    pub(crate) fn new(outer_slots: Vec<usize>, result_slots: Vec<usize>, run: &Run<'_>) -> Result<Regroup, Fault> {
        Ok(Regroup {
            outer_slots,
            result_slots,
            count: 0,
            writing: Some(Partitions::new(0, run)?),
            is_complete: false,
            parts: Vec::new(),
            part: 0,
            reader: None,
            number: Value::Null,
            results: None,
            tapes: Vec::new(),
            merge: None,
            pace: Pace::default(),
        })
    }

    /// Whether outer rows are still to be put.
    pub(crate) fn is_taking(&self) -> bool {
        self.writing.is_some()
    }

    /// Whether [`Regroup::end_outer`] was called, and must be again.
    pub(crate) fn is_complete(&self) -> bool {
        self.is_complete
    }

    /// Puts the outer row in the slots to its part. [`Regroup::settle`] comes before the next one.
    pub(crate) fn put(&mut self, part: usize, run: &Run<'_>) {
        let Some(writing) = &mut self.writing else {
            return;
        };
        let number = Value::BigInt(self.count);
        self.count += 1;
        let values = self.outer_slots.iter().map(|slot| &run.slots[*slot]);
        writing.push_to(part, std::iter::once(&number).chain(values));
    }

    /// Writes what is to be written.
    ///
    /// # Errors
    /// [`Stop::Memory`]: to be called again.
    pub(crate) fn settle(&mut self) -> Result<(), Stop> {
        if let Some(writing) = &mut self.writing {
            writing.settle()?;
        }
        if let Some(results) = &mut self.results {
            results.settle()?;
        }
        Ok(())
    }

    /// There are no more outer rows.
    ///
    /// # Errors
    /// [`Stop::Memory`]: to be called again.
    pub(crate) fn end_outer(&mut self) -> Result<(), Stop> {
        self.is_complete = true;
        if let Some(writing) = &mut self.writing {
            writing.finish()?;
            self.parts = self.writing.take().map(Partitions::into_tapes).unwrap_or_default();
        }
        Ok(())
    }

    /// Goes to the next outer row, part by part. False: that was the last one, the results are complete.
    ///
    /// # Errors
    /// [`Stop::Memory`] and [`Stop::Yield`]: to be called again.
    pub(crate) fn next_outer(&mut self, run: &mut Run<'_>) -> Result<bool, Stop> {
        while self.part < PARTS {
            self.pace.step()?;
            let tape = &self.parts[self.part];
            let (number, slots) = (&mut self.number, &self.outer_slots);
            let taken = self.reader.get_or_insert_with(|| TapeReader::new(tape)).take(|row| {
                let mut values = row.into_iter();
                *number = values.next().unwrap_or_default();
                slots.iter().zip(values).for_each(|(slot, value)| run.slots[*slot] = value);
                Ok(())
            });
            if taken?.is_some() {
                return Ok(true);
            }
            if let Some(results) = &mut self.results {
                results.finish()?;
                self.tapes.extend(self.results.take().map(TapeWriter::into_tape));
            }
            self.reader = None;
            self.part += 1;
        }
        Ok(false)
    }

    /// Keeps the result in the slots, one of the outer row at hand. [`Regroup::settle`] comes before the next one.
    ///
    /// # Errors
    /// As of [`TapeWriter::small`].
    pub(crate) fn keep(&mut self, run: &Run<'_>) -> Result<(), Fault> {
        let results = match &mut self.results {
            Some(results) => results,
            None => self.results.insert(TapeWriter::small(run)?),
        };
        let values = self.result_slots.iter().map(|slot| &run.slots[*slot]);
        results.push(std::iter::once(&self.number).chain(values));
        Ok(())
    }

    /// Leaves the next result in the slots; false at the end.
    ///
    /// # Errors
    /// [`Stop::Memory`] and [`Stop::Yield`]: to be called again.
    pub(crate) fn next_result(&mut self, run: &mut Run<'_>) -> Result<bool, Stop> {
        self.pace.step()?;
        let merge = self.merge.get_or_insert_with(|| Merge::new(&self.tapes));
        let by_number = |a: &[Value], b: &[Value]| match (a.first(), b.first()) {
            (Some(Value::BigInt(a)), Some(Value::BigInt(b))) => a.cmp(b),
            _ => std::cmp::Ordering::Equal,
        };
        let slots = &self.result_slots;
        let taken = merge.take(by_number, |row| {
            slots.iter().zip(row.into_iter().skip(1)).for_each(|(slot, value)| run.slots[*slot] = value);
            Ok(())
        });
        Ok(taken?.is_some())
    }
}
