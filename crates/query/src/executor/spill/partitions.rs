//! Rows divided by a hash: rows of one hash are on one tape. A part that is still too large is divided again, by other bits of the hash.

use std::sync::Arc;

#[cfg(test)]
use super::fault;
use super::tape::{Tape, TapeWriter};
use crate::access::Stop;
use crate::executor::Run;
use crate::expression::Fault;
use pikepole_types::Value;

/// Tapes of one division.
pub(crate) const PARTS: usize = 32;

/// How often rows are divided at most: what is one part then has one hash.
pub(crate) const LEVELS_MAX: u32 = 8;

/// The part of a row with this hash.
pub(crate) fn part_of(code: u64, level: u32) -> usize {
    let mixed = (code ^ u64::from(level).wrapping_mul(0xd6e8_feb8_6659_fd93)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (mixed >> 59) as usize
}

/// The tapes of a division that is being made.
pub(crate) struct Partitions {
    level: u32,
    writers: Vec<TapeWriter>,
    /// The one that was written to last.
    last: usize,
}

impl Partitions {
    /// Without rows so far.
    ///
    /// # Errors
    /// As of [`TapeWriter::small`].
    pub(crate) fn new(level: u32, run: &Run<'_>) -> Result<Partitions, Fault> {
        let writers = (0..PARTS).map(|_| TapeWriter::small(run)).collect::<Result<_, Fault>>()?;
        Ok(Partitions { level, writers, last: 0 })
    }

    /// Appends a row with this hash to its part. What is to be written then waits for [`Partitions::settle`].
    pub(crate) fn push<'v>(&mut self, code: u64, row: impl IntoIterator<Item = &'v Value, IntoIter: Clone>) {
        #[cfg(test)]
        let code = code + u64::from(fault::comes(fault::Planted::TornPart));
        self.push_to(part_of(code, self.level), row);
    }

    /// Appends a row to a part.
    pub(crate) fn push_to<'v>(&mut self, part: usize, row: impl IntoIterator<Item = &'v Value, IntoIter: Clone>) {
        self.last = part;
        self.writers[part].push(row);
    }

    /// Writes the blocks that the last row has filled.
    ///
    /// # Errors
    /// [`Stop::Memory`] when there are such: they are under way then.
    pub(crate) fn settle(&mut self) -> Result<(), Stop> {
        self.writers[self.last].settle()
    }

    /// Writes all that is left.
    ///
    /// # Errors
    /// As of [`Partitions::settle`].
    pub(crate) fn finish(&mut self) -> Result<(), Stop> {
        self.writers.iter_mut().try_for_each(TapeWriter::finish)
    }

    /// The parts, when they are finished.
    pub(crate) fn into_tapes(self) -> Vec<Arc<Tape>> {
        self.writers.into_iter().map(TapeWriter::into_tape).collect()
    }
}
