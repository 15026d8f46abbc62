//! Sorted tapes as one. Rows that are equal come in the order of their tapes.

use std::cmp::Ordering;
use std::sync::Arc;

#[cfg(test)]
use super::fault;
use super::tape::{Tape, TapeReader};
use crate::access::Stop;
use crate::expression::Fault;
use pikepole_types::Value;

/// Tapes that are merged at once, at most.
pub(crate) const TAPES_MAX: usize = 32;

/// Reads sorted tapes in their common order.
pub(crate) struct Merge {
    readers: Vec<TapeReader>,
    /// The row that each tape is at; none at its end.
    heads: Vec<Option<Vec<Value>>>,
    /// The tapes that have rows, the one with the next row last.
    order: Vec<usize>,
    /// The tape whose next row is to be read before another one is given.
    behind: Option<usize>,
    /// Tapes whose first row was read.
    begun: usize,
}

impl Merge {
    /// Of tapes that are sorted each.
    pub(crate) fn new(tapes: &[Arc<Tape>]) -> Merge {
        Merge {
            readers: tapes.iter().map(TapeReader::new).collect(),
            heads: vec![None; tapes.len()],
            order: Vec::with_capacity(tapes.len()),
            behind: None,
            begun: 0,
        }
    }

    /// Has `take` use the next row: it may fail, but not pause. None at the end.
    ///
    /// # Errors
    /// [`Stop::Memory`] when a block must be read first: no row was taken.
    pub(crate) fn take<R>(
        &mut self,
        compare: impl Fn(&[Value], &[Value]) -> Ordering,
        take: impl FnOnce(Vec<Value>) -> Result<R, Fault>,
    ) -> Result<Option<R>, Stop> {
        while self.begun < self.readers.len() {
            self.read_head(self.begun)?;
            self.put_in_order(self.begun, &compare);
            self.begun += 1;
        }
        if let Some(tape) = self.behind {
            self.read_head(tape)?;
            self.behind = None;
            self.put_in_order(tape, &compare);
        }
        let Some(tape) = self.order.pop() else {
            return Ok(None);
        };
        self.behind = Some(tape);
        Ok(self.heads[tape].take().map(take).transpose()?)
    }

    fn read_head(&mut self, tape: usize) -> Result<(), Stop> {
        self.heads[tape] = self.readers[tape].take(Ok)?;
        Ok(())
    }

    fn put_in_order(&mut self, tape: usize, compare: &impl Fn(&[Value], &[Value]) -> Ordering) {
        let heads = &self.heads;
        let Some(row) = &heads[tape] else {
            return;
        };
        let is_later = |other: &usize| {
            let other_row = heads[*other].as_deref().unwrap_or_default();
            let by_tape = other.cmp(&tape);
            #[cfg(test)]
            let by_tape = if fault::is(fault::Planted::UnstableMerge) { by_tape.reverse() } else { by_tape };
            compare(other_row, row).then(by_tape).is_gt()
        };
        let place = self.order.partition_point(is_later);
        self.order.insert(place, tape);
    }
}
