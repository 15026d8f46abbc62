//! Rows that are kept in their order and read again from the first one: in memory, and what does not fit there on a tape behind it.

use std::sync::Arc;

use super::budget::Charge;
use super::row_bytes;
use super::tape::{Tape, TapeReader, TapeWriter};
use crate::access::Stop;
use crate::executor::Run;
use crate::expression::Fault;
use pikepole_types::Value;

/// See the module.
#[derive(Default)]
pub(crate) struct RowList {
    rows: Vec<Vec<Value>>,
    charge: Charge,
    is_complete: bool,
    /// Where rows go since memory is full.
    writer: Option<TapeWriter>,
    tape: Option<Arc<Tape>>,
    next: usize,
    reader: Option<TapeReader>,
}

impl RowList {
    /// Appends a row. [`RowList::settle`] comes before the next one.
    pub(crate) fn push(&mut self, row: Vec<Value>) {
        match &mut self.writer {
            Some(writer) => writer.push(&row),
            None => {
                self.charge.keep(row_bytes(&row));
                self.rows.push(row);
            }
        }
    }

    /// Counts what is kept, and writes what is to be written; comes before the next row.
    ///
    /// # Errors
    /// [`Stop::Memory`]: to be called again.
    pub(crate) fn settle(&mut self, run: &Run<'_>) -> Result<(), Stop> {
        if let Some(writer) = &mut self.writer {
            return writer.settle();
        }
        if !self.is_complete && !self.charge.settle_in_order(run)? {
            self.writer = Some(TapeWriter::large(run)?);
        }
        Ok(())
    }

    /// All rows are there.
    ///
    /// # Errors
    /// [`Stop::Memory`]: to be called again.
    pub(crate) fn finish(&mut self) -> Result<(), Stop> {
        self.is_complete = true;
        if let Some(writer) = &mut self.writer {
            writer.finish()?;
            self.tape = self.writer.take().map(TapeWriter::into_tape);
        }
        Ok(())
    }

    /// Whether [`RowList::finish`] was called.
    pub(crate) fn is_complete(&self) -> bool {
        self.is_complete
    }

    /// How many there are, when they are finished.
    pub(crate) fn len(&self) -> u64 {
        self.rows.len() as u64 + self.tape.as_ref().map_or(0, |tape| tape.rows())
    }

    /// Has `take` use the next row: it may fail, but not pause. None at the end.
    ///
    /// # Errors
    /// [`Stop::Memory`] when it must be read first.
    pub(crate) fn take<R>(&mut self, take: impl FnOnce(Vec<Value>) -> Result<R, Fault>) -> Result<Option<R>, Stop> {
        if let Some(row) = self.rows.get_mut(self.next) {
            self.next += 1;
            return Ok(Some(take(std::mem::take(row))?));
        }
        let Some(tape) = &self.tape else {
            return Ok(None);
        };
        self.reader.get_or_insert_with(|| TapeReader::new(tape)).take(take)
    }

    /// Nothing is kept any more.
    pub(crate) fn clear(&mut self) {
        *self = RowList::default();
    }

    /// The rows, when they are finished, for any number of readers.
    pub(crate) fn into_shared(self) -> SharedList {
        SharedList { rows: Arc::new(self.rows), tape: self.tape, _charge: self.charge }
    }
}

/// Rows that several read, each from the first one on.
pub(crate) struct SharedList {
    rows: Arc<Vec<Vec<Value>>>,
    tape: Option<Arc<Tape>>,
    /// Counts the rows as long as they are kept.
    _charge: Charge,
}

impl SharedList {
    /// The rows, if all of them are in memory.
    pub(crate) fn in_memory(&self) -> Option<&Arc<Vec<Vec<Value>>>> {
        self.tape.is_none().then_some(&self.rows)
    }
}

/// Reads a list.
pub(crate) struct ListReader {
    list: Arc<SharedList>,
    next: usize,
    reader: Option<TapeReader>,
}

impl ListReader {
    /// From the first row on.
    pub(crate) fn new(list: &Arc<SharedList>) -> ListReader {
        ListReader { list: Arc::clone(list), next: 0, reader: None }
    }

    /// Back to the first row.
    pub(crate) fn rewind(&mut self) {
        (self.next, self.reader) = (0, None);
    }

    /// Has `take` use the next row: it may fail, but not pause. None at the end.
    ///
    /// # Errors
    /// [`Stop::Memory`] when it must be read first.
    pub(crate) fn take<R>(&mut self, take: impl FnOnce(&[Value]) -> Result<R, Fault>) -> Result<Option<R>, Stop> {
        if let Some(row) = self.list.rows.get(self.next) {
            self.next += 1;
            return Ok(Some(take(row)?));
        }
        let Some(tape) = &self.list.tape else {
            return Ok(None);
        };
        self.reader.get_or_insert_with(|| TapeReader::new(tape)).take(|row| take(&row))
    }
}
