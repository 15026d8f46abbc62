//! Rows that are kept in their order and read again from the first one: in memory, and what does not fit there on a tape behind it.

use std::sync::Arc;

use super::budget::Charge;
use super::row_bytes;
use super::tape::{Tape, TapeReader, TapeWriter};
use crate::access::Stop;
use crate::run::Run;
use pikepole_types::Value;

/// See the module.
#[derive(Default)]
pub(crate) struct RowList {
    rows: Vec<Vec<Value>>,
    charge: Charge,
    /// Memory is full.
    is_full: bool,
    is_complete: bool,
    writer: Option<TapeWriter>,
    tape: Option<Arc<Tape>>,
    next: usize,
    reader: Option<TapeReader>,
}

impl RowList {
    /// Appends a row. [`RowList::settle`] comes before the next one.
    ///
    /// # Errors
    /// [`Stop::Memory`]; the row is kept all the same.
    pub(crate) fn push(&mut self, row: Vec<Value>, run: &Run<'_>) -> Result<(), Stop> {
        if !self.is_full {
            let bytes = row_bytes(&row);
            self.rows.push(row);
            self.is_full = !self.charge.add(bytes, run)?;
            return Ok(());
        }
        let writer = match &mut self.writer {
            Some(writer) => writer,
            None => self.writer.insert(TapeWriter::large(run)?),
        };
        writer.push(&row);
        Ok(())
    }

    /// Writes what is to be written; comes before the next row.
    ///
    /// # Errors
    /// [`Stop::Memory`]: to be called again.
    pub(crate) fn settle(&mut self) -> Result<(), Stop> {
        self.writer.as_mut().map_or(Ok(()), TapeWriter::settle)
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

    /// The next row; none at the end.
    ///
    /// # Errors
    /// [`Stop::Memory`] when it must be read first.
    pub(crate) fn next(&mut self) -> Result<Option<Vec<Value>>, Stop> {
        if let Some(row) = self.rows.get_mut(self.next) {
            self.next += 1;
            return Ok(Some(std::mem::take(row)));
        }
        let Some(tape) = &self.tape else {
            return Ok(None);
        };
        self.reader.get_or_insert_with(|| TapeReader::new(tape)).next()
    }

    /// Nothing is kept any more.
    pub(crate) fn clear(&mut self) {
        *self = RowList::default();
    }
}
