//! The rows of a batch operator, one at a time.

use super::{Batch, Operator};
use crate::access::Stop;
use crate::executor::Run;
use crate::plan::Node;

/// Leaves the rows of batches in the slots, one after the other.
pub(crate) struct BatchCursor {
    operator: Operator,
    batch: Batch,
    next: usize,
}

impl BatchCursor {
    pub(crate) fn new(operator: Operator) -> BatchCursor {
        BatchCursor { operator, batch: Batch::default(), next: 0 }
    }

    /// Starts over.
    pub(crate) fn open(&mut self) {
        self.operator.open();
        self.batch = Batch::default();
        self.next = 0;
    }

    /// See [`Operator::forget`].
    pub(crate) fn forget(&mut self) {
        self.operator.forget();
    }

    /// The operator, while no row was asked for.
    pub(crate) fn operator(&mut self) -> &mut Operator {
        &mut self.operator
    }

    /// Moves to the next row.
    pub(crate) fn next(&mut self, node: &Node, run: &mut Run<'_>) -> Result<bool, Stop> {
        if self.next == self.batch.rows {
            self.next = 0;
            self.batch = Batch::default();
            let own = &mut self.batch;
            let take = |batch, _: &mut Run<'_>| {
                *own = batch;
                Ok(())
            };
            if self.operator.take(node, run, take)?.is_none() {
                return Ok(false);
            }
        }
        self.batch.read(self.next, run.slots);
        self.next += 1;
        Ok(true)
    }
}
