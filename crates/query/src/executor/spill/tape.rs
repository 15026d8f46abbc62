//! Rows one behind the other, written once and read from the beginning.
//!
//! ```text
//!   row    length of the rest: 4 bytes    values, as `Value::push_loose` has them; a value kept in memory: KEPT, its number
//! ```
//! Rows run on from block to block.

use std::sync::Arc;

use super::budget::{Budget, MemoryWait};
#[cfg(test)]
use super::fault;
use super::file::{BLOCK_BYTES, Block, SpillFile, SpillIo};
use crate::access::Stop;
use crate::executor::Run;
use crate::expression::{Fault, ask_for};
use pikepole_scheduler::chaos::{self, Site};
use pikepole_types::{Value, memory};

/// The kind of a value that is kept in memory.
const KEPT: u8 = u8::MAX;
/// Copies of a row's values that are made to write it.
const COPIES_TO_WRITE: usize = 3;

/// A tape that is being written.
pub(crate) struct TapeWriter {
    file: Arc<SpillFile>,
    buffer: Vec<u8>,
    /// Bytes of its blocks.
    block_bytes: usize,
    tape: Tape,
    /// A row that there was no memory for, which ends the statement.
    refused: Option<Fault>,
}

/// A tape that is written.
pub(crate) struct Tape {
    file: Arc<SpillFile>,
    blocks: Vec<Block>,
    rows: u64,
}

impl Drop for Tape {
    fn drop(&mut self) {
        self.file.free(&self.blocks);
    }
}

impl Tape {
    /// How many rows it has.
    pub(crate) fn rows(&self) -> u64 {
        self.rows
    }
}

impl TapeWriter {
    /// A tape beside many others.
    ///
    /// # Errors
    /// For a worker, which keeps no rows.
    pub(crate) fn small(run: &Run<'_>) -> Result<TapeWriter, Fault> {
        TapeWriter::new(run, BLOCK_BYTES[0])
    }

    /// A tape that is written alone.
    ///
    /// # Errors
    /// As of [`TapeWriter::small`].
    pub(crate) fn large(run: &Run<'_>) -> Result<TapeWriter, Fault> {
        TapeWriter::new(run, BLOCK_BYTES[1])
    }

    fn new(run: &Run<'_>, block_bytes: usize) -> Result<TapeWriter, Fault> {
        let budget: &Budget = run.budget().ok_or_else(crate::errors::worker_lost)?;
        let file = budget.file();
        let tape = Tape { file: Arc::clone(&file), blocks: Vec::new(), rows: 0 };
        Ok(TapeWriter { file, buffer: Vec::new(), block_bytes, tape, refused: None })
    }

    /// Appends a row. What is to be written then waits for [`TapeWriter::settle`], and so does the error of a row that is too long for
    /// the memory there is.
    pub(crate) fn push<'v>(&mut self, row: impl IntoIterator<Item = &'v Value, IntoIter: Clone>) {
        let row = row.into_iter();
        if let Err(refused) = ask_for(row.clone(), COPIES_TO_WRITE) {
            self.refused = Some(Box::new(refused));
            return;
        }
        let at = self.buffer.len();
        self.buffer.extend_from_slice(&[0; 4]);
        for value in row {
            if !value.push_loose(&mut self.buffer) {
                self.buffer.push(KEPT);
                self.buffer.extend_from_slice(&self.file.keep(value).to_le_bytes());
            }
        }
        let length = (self.buffer.len() - at - 4) as u32;
        self.buffer[at..at + 4].copy_from_slice(&length.to_le_bytes());
        self.tape.rows += 1;
    }

    /// Writes the blocks that are full.
    ///
    /// # Errors
    /// [`Stop::Memory`] when there are such: they are under way then. The error of a row that memory was refused for.
    #[inline]
    pub(crate) fn settle(&mut self) -> Result<(), Stop> {
        if let Some(refused) = self.refused.take() {
            return Err(Stop::Error(refused));
        }
        if self.buffer.len() >= self.block_bytes {
            return self.write(false);
        }
        if !self.buffer.is_empty() && chaos::stops(Site::Write) { self.write(true) } else { Ok(()) }
    }

    /// Writes all that is left.
    ///
    /// # Errors
    /// As of [`TapeWriter::settle`].
    pub(crate) fn finish(&mut self) -> Result<(), Stop> {
        match self.refused.take() {
            Some(refused) => Err(Stop::Error(refused)),
            None if self.buffer.is_empty() => Ok(()),
            None => self.write(true),
        }
    }

    /// The tape, when it is finished.
    pub(crate) fn into_tape(self) -> Arc<Tape> {
        Arc::new(self.tape)
    }

    #[cold]
    fn write(&mut self, all: bool) -> Result<(), Stop> {
        let whole = if all { self.buffer.len() } else { self.buffer.len() / self.block_bytes * self.block_bytes };
        let rest = self.buffer.split_off(whole);
        let bytes = std::mem::replace(&mut self.buffer, rest);
        let mut blocks = Vec::with_capacity(whole.div_ceil(self.block_bytes));
        for piece in bytes.chunks(self.block_bytes) {
            let block = self.file.place(piece);
            self.tape.blocks.push(block);
            blocks.push((block, piece.to_vec()));
        }
        Err(Stop::Memory(MemoryWait::Io(SpillIo::write(&self.file, blocks))))
    }
}

/// Reads a tape.
pub(crate) struct TapeReader {
    tape: Arc<Tape>,
    /// The block to be read next.
    next: usize,
    /// What was read, and where the next row begins in it.
    buffer: Vec<u8>,
    at: usize,
    reading: Option<Arc<SpillIo>>,
}

impl TapeReader {
    /// From the beginning.
    pub(crate) fn new(tape: &Arc<Tape>) -> TapeReader {
        TapeReader { tape: Arc::clone(tape), next: 0, buffer: Vec::new(), at: 0, reading: None }
    }

    /// Has `take` use the next row: it may fail, but not pause. None at the end.
    ///
    /// # Errors
    /// [`Stop::Memory`] when a block must be read first: no row was taken.
    pub(crate) fn take<R>(&mut self, take: impl FnOnce(Vec<Value>) -> Result<R, Fault>) -> Result<Option<R>, Stop> {
        Ok(self.next()?.map(take).transpose()?)
    }

    fn next(&mut self) -> Result<Option<Vec<Value>>, Stop> {
        if chaos::stops(Site::Read) {
            return Err(Stop::Yield);
        }
        loop {
            if let Some(row) = self.row()? {
                #[cfg(test)]
                if fault::comes(fault::Planted::LostRow) {
                    continue;
                }
                return Ok(Some(row));
            }
            if let Some(io) = self.reading.take() {
                let Some(bytes) = io.take() else {
                    // Whoever was to await it has not.
                    return Err(Stop::Memory(MemoryWait::Io(Arc::clone(self.reading.insert(io)))));
                };
                self.buffer.drain(..self.at);
                self.at = 0;
                self.buffer.extend_from_slice(&bytes);
                continue;
            }
            let Some(block) = self.tape.blocks.get(self.next) else {
                return Ok(None);
            };
            self.next += 1;
            let io = SpillIo::read(&self.tape.file, *block);
            return Err(Stop::Memory(MemoryWait::Io(Arc::clone(self.reading.insert(io)))));
        }
    }

    /// The row that the buffer begins with, if all of it is there.
    fn row(&mut self) -> Result<Option<Vec<Value>>, Stop> {
        let rest = &self.buffer[self.at..];
        let Some((length, rest)) = rest.split_first_chunk() else {
            return Ok(None);
        };
        let length = u32::from_le_bytes(*length) as usize;
        let Some(mut bytes) = rest.get(..length) else {
            return Ok(None);
        };
        memory::ask(length).map_err(Box::new)?;
        let mut row = Vec::new();
        while !bytes.is_empty() {
            let (value, behind) = self.value(bytes).ok_or_else(crate::errors::unexpected)?;
            row.push(value);
            bytes = behind;
        }
        self.at += 4 + length;
        Ok(Some(row))
    }

    fn value<'b>(&self, bytes: &'b [u8]) -> Option<(Value, &'b [u8])> {
        match bytes.split_first()? {
            (&KEPT, rest) => {
                let (number, rest) = rest.split_first_chunk()?;
                Some((self.tape.file.kept(u32::from_le_bytes(*number))?, rest))
            }
            _ => Value::take_loose(bytes),
        }
    }
}
