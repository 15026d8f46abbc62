//! Rows that are there already: those that a client loads, or a call has returned.

use std::ops::Range;
use std::sync::Arc;

use super::vector::VectorBuilder;
use super::{BATCH_ROWS, Batch};
use crate::access::Stop;
use crate::executor::Run;
use crate::executor::parallel::Dispenser;
use pikepole_scheduler as scheduler;
use pikepole_types::Value;

/// Gives kept rows, in batches.
pub(crate) struct KeptRows {
    rows: Arc<Vec<Vec<Value>>>,
    /// The rows to be given next.
    range: Range<u64>,
    /// Where a worker gets its ranges from.
    dispenser: Option<Arc<Dispenser>>,
    /// The place of the first row of the last batch.
    last: u64,
}

impl KeptRows {
    pub(crate) fn new(rows: &Arc<Vec<Vec<Value>>>) -> KeptRows {
        KeptRows { rows: Arc::clone(rows), range: 0..rows.len() as u64, dispenser: None, last: 0 }
    }

    /// The same rows for a worker, which is dealt its ranges.
    pub(crate) fn fork(&self, dispenser: &Arc<Dispenser>) -> KeptRows {
        let (rows, dispenser) = (Arc::clone(&self.rows), Some(Arc::clone(dispenser)));
        KeptRows { rows, range: 0..0, dispenser, last: 0 }
    }

    pub(crate) fn open(&mut self) {
        self.range = self.all();
    }

    pub(crate) fn all(&self) -> Range<u64> {
        0..self.rows.len() as u64
    }

    pub(crate) fn ordinal(&self) -> u64 {
        self.last
    }

    /// The next rows: of their columns those at these places, for these slots, as far as they are read.
    pub(crate) fn next(
        &mut self,
        columns: impl Iterator<Item = (usize, usize)>,
        run: &mut Run<'_>,
    ) -> Result<Option<Batch>, Stop> {
        if self.range.is_empty()
            && let Some(dispenser) = &self.dispenser
        {
            self.range = dispenser.take();
        }
        let start = self.range.start;
        if self.range.is_empty() || self.dispenser.as_ref().is_some_and(|dispenser| dispenser.is_past_failure(start)) {
            return Ok(None);
        }
        if scheduler::quantum_over() {
            return Err(Stop::Yield);
        }
        let end = self.range.end.min(start + BATCH_ROWS as u64);
        let rows = &self.rows[start as usize..end as usize];
        (self.last, self.range.start) = (start, end);
        let mut batch = Batch::new(rows.len());
        batch.first = start;
        for (place, slot) in columns.filter(|(_, slot)| run.live.has(*slot)) {
            let mut column = VectorBuilder::new();
            rows.iter().for_each(|row| column.push(&row[place]));
            batch.set(slot, column.finish());
        }
        Ok(Some(batch))
    }
}
