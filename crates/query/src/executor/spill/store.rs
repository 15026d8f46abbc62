//! Rows by the hash of their keys. What does not fit into memory is divided into parts on tapes, of which one is in memory at a time: the
//! one with the keys that were looked for last. Whoever looks for many keys does so part by part, see [`super::Regroup`].
//!
//! ```text
//!   filling   rows in memory ──full──► parts on tapes
//!   finished  rows in memory, or the part that is looked into; a part that does not fit either is read through for each look
//! ```

use hashbrown::hash_map::{Entry, HashMap};
use std::sync::Arc;

use super::budget::Charge;
use super::partitions::{PARTS, Partitions, part_of};
use super::row_bytes;
use super::tape::{Tape, TapeReader};
use crate::access::{Pace, Stop};
use crate::executor::Run;
use crate::plan::JoinKey;
use pikepole_types::{Value, hash, order};

/// Behind the last row of a chain.
const NONE: usize = usize::MAX;

/// What a row costs in the table, beside itself.
const ENTRY_BYTES: usize = 40;

/// See the module.
#[derive(Default)]
pub(crate) struct RowStore {
    kept: Kept,
    charge: Charge,
    /// The parts while they are written.
    writing: Option<Partitions>,
    /// Rows of memory that are written to parts already.
    moved: usize,
    is_complete: bool,
    pace: Pace,
    parts: Vec<Part>,
    loaded: Loaded,
    at: usize,
    /// The row found last where rows are read through.
    found: Vec<Value>,
}

struct Part {
    tape: Arc<Tape>,
    /// It does not fit into memory.
    is_huge: bool,
}

/// What of the parts is in memory.
#[derive(Default)]
enum Loaded {
    #[default]
    Nothing,
    /// A part, as far as its reader has come.
    Loading(usize, TapeReader),
    Part(usize),
    /// A part that is read through.
    Passing(TapeReader),
}

/// Rows in memory.
#[derive(Default)]
struct Kept {
    /// Per row, its keys and then the carried values.
    rows: Vec<Vec<Value>>,
    /// Per hash, the first row and the last one; each row knows the next with its hash.
    heads: HashMap<u64, (usize, usize)>,
    next: Vec<usize>,
}

fn code(keys: &[JoinKey], values: &[Value]) -> u64 {
    let mut code = 0u64;
    for (key, value) in keys.iter().zip(values) {
        code = code.rotate_left(23).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ hash(value, key.collation);
    }
    code
}

/// Keys that equal something: a NULL equals nothing.
pub(crate) fn equal(keys: &[JoinKey], left: &[Value], right: &[Value]) -> bool {
    let mut pairs = keys.iter().zip(left.iter().zip(right));
    pairs.all(|(key, (left, right))| !left.is_null() && order(left, right, key.collation).is_eq())
}

impl Kept {
    fn add(&mut self, keys: &[JoinKey], row: Vec<Value>) {
        let code = code(keys, &row);
        let at = self.rows.len();
        self.rows.push(row);
        self.next.push(NONE);
        match self.heads.entry(code) {
            Entry::Occupied(mut chain) => {
                let (_, last) = chain.get_mut();
                self.next[*last] = at;
                *last = at;
            }
            Entry::Vacant(chain) => {
                chain.insert((at, at));
            }
        }
    }

    /// The next row with these keys, from `at` on.
    fn find(&self, mut at: usize, keys: &[JoinKey], wanted: &[Value]) -> Option<usize> {
        while let Some(row) = self.rows.get(at) {
            if equal(keys, wanted, row) {
                return Some(at);
            }
            at = self.next[at];
        }
        None
    }
}

impl RowStore {
    /// Whether its rows are on tapes.
    pub(crate) fn is_spilled(&self) -> bool {
        !self.parts.is_empty()
    }

    /// Whether [`RowStore::finish`] was called, and must be again if it has stopped.
    pub(crate) fn is_complete(&self) -> bool {
        self.is_complete
    }

    /// The part that rows with these keys are in.
    pub(crate) fn part_of(keys: &[JoinKey], wanted: &[Value]) -> usize {
        part_of(code(keys, wanted), 0)
    }

    /// Nothing is kept any more.
    pub(crate) fn clear(&mut self) {
        *self = RowStore::default();
    }

    /// Adds a row, whose values begin with its keys. [`RowStore::settle`] comes before the next one.
    pub(crate) fn push(&mut self, keys: &[JoinKey], row: Vec<Value>) {
        match &mut self.writing {
            Some(writing) => writing.push(code(keys, &row), &row),
            None => {
                self.charge.keep(row_bytes(&row) + ENTRY_BYTES);
                self.kept.add(keys, row);
            }
        }
    }

    /// Counts what is kept, and writes what is to be written.
    ///
    /// # Errors
    /// [`Stop::Memory`] and [`Stop::Yield`]: to be called again.
    #[inline]
    pub(crate) fn settle(&mut self, keys: &[JoinKey], run: &Run<'_>) -> Result<(), Stop> {
        if self.writing.is_none() && !self.is_complete && !self.charge.settle_in_order(run)? {
            self.writing = Some(Partitions::new(0, run)?);
        }
        if self.writing.is_some() { self.write(keys) } else { Ok(()) }
    }

    fn write(&mut self, keys: &[JoinKey]) -> Result<(), Stop> {
        let Some(writing) = &mut self.writing else {
            return Ok(());
        };
        loop {
            writing.settle()?;
            let Some(row) = self.kept.rows.get_mut(self.moved) else { break };
            self.pace.step()?;
            let row = std::mem::take(row);
            self.moved += 1;
            writing.push(code(keys, &row), &row);
        }
        if self.moved > 0 {
            self.forget_kept();
        }
        Ok(())
    }

    fn forget_kept(&mut self) {
        self.kept = Kept::default();
        self.moved = 0;
        self.charge.clear();
    }

    /// All rows are there.
    ///
    /// # Errors
    /// As of [`RowStore::settle`].
    pub(crate) fn finish(&mut self, keys: &[JoinKey], run: &Run<'_>) -> Result<(), Stop> {
        self.is_complete = true;
        self.settle(keys, run)?;
        if let Some(writing) = &mut self.writing {
            writing.finish()?;
            let tapes = self.writing.take().map(Partitions::into_tapes).unwrap_or_default();
            self.parts = tapes.into_iter().map(|tape| Part { tape, is_huge: false }).collect();
        }
        Ok(())
    }

    /// Goes to the first row that may have these keys.
    ///
    /// # Errors
    /// [`Stop::Memory`] and [`Stop::Yield`] while its part is read: to be called again.
    pub(crate) fn seek(&mut self, keys: &[JoinKey], wanted: &[Value], run: &Run<'_>) -> Result<(), Stop> {
        if wanted.iter().any(Value::is_null) {
            (self.at, self.loaded) = (NONE, std::mem::take(&mut self.loaded).without_pass());
            return Ok(());
        }
        let code = code(keys, wanted);
        if self.is_spilled() {
            self.load(part_of(code, 0), keys, run)?;
        }
        self.at = self.kept.heads.get(&code).map_or(NONE, |(first, _)| *first);
        Ok(())
    }

    /// Brings a part into memory, or begins to read through it.
    fn load(&mut self, part: usize, keys: &[JoinKey], run: &Run<'_>) -> Result<(), Stop> {
        if matches!(self.loaded, Loaded::Part(loaded) if loaded == part) {
            return Ok(());
        }
        let tape = &self.parts[part].tape;
        if self.parts[part].is_huge {
            self.loaded = Loaded::Passing(TapeReader::new(tape));
            self.forget_kept();
            return Ok(());
        }
        if !matches!(self.loaded, Loaded::Loading(loading, _) if loading == part) {
            self.loaded = Loaded::Loading(part, TapeReader::new(tape));
            self.forget_kept();
        }
        while let Loaded::Loading(_, reader) = &mut self.loaded {
            self.pace.step()?;
            if !self.charge.settle(run)? {
                self.parts[part].is_huge = true;
                return self.load(part, keys, run);
            }
            let (kept, charge) = (&mut self.kept, &mut self.charge);
            let taken = reader.take(|row| {
                charge.keep(row_bytes(&row) + ENTRY_BYTES);
                kept.add(keys, row);
                Ok(())
            });
            if taken?.is_none() {
                self.loaded = Loaded::Part(part);
            }
        }
        Ok(())
    }

    /// The next row with these keys; none when there is no more.
    ///
    /// # Errors
    /// [`Stop::Memory`] and [`Stop::Yield`] where rows are read through.
    #[inline]
    pub(crate) fn next(&mut self, keys: &[JoinKey], wanted: &[Value]) -> Result<Option<&[Value]>, Stop> {
        if let Loaded::Passing(reader) = &mut self.loaded {
            loop {
                let found = &mut self.found;
                let is_it = reader.take(|row| {
                    let is_it = equal(keys, wanted, &row);
                    *found = row;
                    Ok(is_it)
                });
                match is_it? {
                    None => return Ok(None),
                    Some(true) => return Ok(Some(&self.found)),
                    Some(false) => self.pace.step()?,
                }
            }
        }
        let Some(found) = self.kept.find(self.at, keys, wanted) else {
            self.at = NONE;
            return Ok(None);
        };
        self.at = self.kept.next[found];
        Ok(Some(&self.kept.rows[found]))
    }

    /// Begins to read all rows: `next` of what this gives.
    pub(crate) fn all(&self) -> AllRows {
        let part = |part: usize| self.parts.get(part).map(|part| TapeReader::new(&part.tape));
        AllRows { at: 0, readers: (0..PARTS).rev().filter_map(part).collect(), pace: Pace::default() }
    }
}

impl Loaded {
    /// What stays in memory when no row is looked for.
    fn without_pass(self) -> Loaded {
        match self {
            Loaded::Passing(_) => Loaded::Nothing,
            other => other,
        }
    }
}

/// All rows of a store, in the order of their adding where they are in memory.
pub(crate) struct AllRows {
    at: usize,
    /// The tapes to be read, the first one last.
    readers: Vec<TapeReader>,
    pace: Pace,
}

impl AllRows {
    /// The next row that is wanted; none at the end.
    ///
    /// # Errors
    /// [`Stop::Memory`] when it must be read first.
    pub(crate) fn next(
        &mut self,
        store: &RowStore,
        is_wanted: impl Fn(&[Value]) -> bool,
    ) -> Result<Option<Vec<Value>>, Stop> {
        if !store.is_spilled() {
            let rows = store.kept.rows.get(self.at..).unwrap_or_default();
            let found = rows.iter().position(|row| is_wanted(row));
            self.at += found.map_or(rows.len(), |place| place + 1);
            return Ok(found.map(|place| rows[place].clone()));
        }
        while let Some(reader) = self.readers.last_mut() {
            match reader.take(|row| Ok(is_wanted(&row).then_some(row)))? {
                Some(Some(row)) => return Ok(Some(row)),
                Some(None) => self.pace.step()?,
                None => drop(self.readers.pop()),
            }
        }
        Ok(None)
    }
}
