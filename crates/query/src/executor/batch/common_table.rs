//! The rows of a common table that its names share, for workers.

use std::sync::Arc;

use super::Batch;
use super::kept::KeptRows;
use crate::access::Stop;
use crate::executor::common_table::CommonCursor;
use crate::executor::parallel::{Dispenser, Ordinals, RANGE_ROWS, ROWS_MIN};
use crate::executor::spill::SharedList;
use crate::executor::{Making, Run};
use crate::plan::CommonRows;

/// Gives the rows in batches, once the session has made them: where they are in memory, and many.
#[derive(Default)]
pub(crate) struct CommonBatches {
    /// Makes them, unless another name has.
    cursor: Option<Box<CommonCursor>>,
    made: Option<(Arc<SharedList>, KeptRows)>,
}

impl CommonBatches {
    pub(crate) fn open(&mut self) {
        self.made.iter_mut().for_each(|(_, rows)| rows.open());
    }

    /// Lets go of the rows.
    pub(crate) fn forget(&mut self) {
        *self = CommonBatches::default();
    }

    /// Has the rows made. None when they are not in memory.
    pub(crate) fn prepare(&mut self, plan: &CommonRows, run: &mut Run<'_>) -> Result<Option<Ordinals>, Stop> {
        if self.made.is_none() {
            let making = Making { gathers: true, ..Making::plain(run.live) };
            let cursor = self.cursor.get_or_insert_with(|| Box::new(CommonCursor::new(plan, making)));
            let list = cursor.list(plan, run)?;
            let Some(rows) = list.in_memory().map(KeptRows::new) else { return Ok(None) };
            self.made = Some((list, rows));
        }
        let rows = self.made.as_ref().map_or(0, |(_, rows)| rows.all().end);
        Ok(Some(Ordinals::below(rows, RANGE_ROWS, ROWS_MIN)))
    }

    /// The same rows for a worker, which is dealt its ranges.
    pub(crate) fn fork(&self, dispenser: &Arc<Dispenser>) -> CommonBatches {
        let made = self.made.as_ref().map(|(list, rows)| (Arc::clone(list), rows.fork(dispenser)));
        CommonBatches { cursor: None, made }
    }

    pub(crate) fn ordinal(&self) -> u64 {
        self.made.as_ref().map_or(0, |(_, rows)| rows.ordinal())
    }

    pub(crate) fn next(&mut self, plan: &CommonRows, run: &mut Run<'_>) -> Result<Option<Batch>, Stop> {
        let Some((_, rows)) = &mut self.made else { return Ok(None) };
        rows.next(plan.read.iter().map(|slot| (slot - plan.registers.first, *slot)), run)
    }
}
