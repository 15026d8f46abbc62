//! The rows of a common table for each of its names: the one that is read first makes them, all read what it has made.
//!
//! ```text
//!   a    opened, first row ──► rows made and kept ──► SharedTables ──► its rows, from the first one
//!   b    opened, first row ─────────────────────────► SharedTables ──► its rows, from the first one
//! ```
//! Rows are made whole before the first one is given, so no name ever waits for another one. A plan that is not of the statement's rows, as
//! a subquery that is asked again for a changed row, has nothing to share with: there, each name makes its own.

use super::Run;
use super::cursor::Cursor;
use super::profile::Making;
use super::spill::{ListReader, RowList, SharedList};
use crate::access::{Pace, Stop};
use crate::plan::{CommonRows, Sharing};
use pikepole_contention::sync::{Arc, Mutex};

/// The rows that names of a statement's common tables have made in one run, by the tables' numbers.
#[derive(Default)]
pub(crate) struct SharedTables(Mutex<Vec<(usize, Arc<SharedList>)>>);

impl SharedTables {
    fn find(&self, number: usize) -> Option<Arc<SharedList>> {
        let tables = self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        tables.iter().find(|(table, _)| *table == number).map(|(_, list)| Arc::clone(list))
    }

    fn add(&self, number: usize, list: &Arc<SharedList>) {
        let mut tables = self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        tables.push((number, Arc::clone(list)));
    }

    /// Lets go of all rows.
    pub(crate) fn clear(&mut self) {
        self.0.get_mut().unwrap_or_else(|poisoned| poisoned.into_inner()).clear();
    }
}

/// The state of a [`CommonRows`].
pub(crate) struct CommonCursor {
    input: Cursor,
    is_shared: bool,
    /// The rows that are being made; none before.
    making: Option<RowList>,
    /// The rows that are read; none before the first one is asked for.
    reader: Option<ListReader>,
    pace: Pace,
}

impl CommonCursor {
    pub(crate) fn new(plan: &CommonRows, making: Making<'_>) -> CommonCursor {
        let is_shared = matches!(plan.sharing, Sharing::Shared { .. });
        let input = Cursor::new(&plan.input, Making { gathers: making.gathers || is_shared, ..making });
        CommonCursor { input, is_shared, making: None, reader: None, pace: Pace::default() }
    }

    /// Starts over. What is being made, or was, is the same for every opening.
    pub(crate) fn open(&mut self) {
        if !self.is_shared {
            self.input.open();
        }
        self.reader.iter_mut().for_each(ListReader::rewind);
    }

    /// Lets go of the rows.
    pub(crate) fn forget(&mut self) {
        self.input.forget();
        (self.making, self.reader) = (None, None);
    }

    pub(crate) fn next(&mut self, plan: &CommonRows, run: &mut Run<'_>) -> Result<bool, Stop> {
        if !self.is_shared {
            return self.input.give(&plan.input, run, |_| Ok(true));
        }
        if self.reader.is_none() {
            let list = self.list(plan, run)?;
            self.reader = Some(ListReader::new(&list));
        }
        let Some(reader) = &mut self.reader else { return Ok(false) };
        self.pace.step()?;
        let first = plan.registers.first;
        let given = reader.take(|row| {
            plan.read.iter().for_each(|slot| run.slots[*slot].clone_from(&row[slot - first]));
            Ok(())
        });
        Ok(given?.is_some())
    }

    /// All rows, made where no other name has made them.
    ///
    /// # Errors
    /// Needs, after which the call is made again, and errors of the rows.
    pub(crate) fn list(&mut self, plan: &CommonRows, run: &mut Run<'_>) -> Result<Arc<SharedList>, Stop> {
        if self.making.is_none() {
            if let Some(made) = run.shared.and_then(|tables| tables.find(plan.number)) {
                return Ok(made);
            }
            self.input.open();
        }
        let rows = self.making.get_or_insert_default();
        loop {
            rows.settle(run)?;
            let is_complete = rows.is_complete();
            let keep = |run: &mut Run<'_>| {
                rows.push(run.slots[plan.registers.range()].to_vec());
                Ok(())
            };
            if is_complete || !self.input.take(&plan.input, run, keep)? {
                rows.finish()?;
                break;
            }
        }
        self.input.forget();
        let list = Arc::new(self.making.take().unwrap_or_default().into_shared());
        if let Some(tables) = run.shared {
            tables.add(plan.number, &list);
        }
        Ok(list)
    }
}
