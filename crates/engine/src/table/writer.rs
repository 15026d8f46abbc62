//! Changing rows of a table and of its indexes.
//!
//! A change of a table with indexes is several changes, each of which can stop for a need. The writer notes how many are
//! done, so that the next call with the same arguments goes on with the rest. Any other end (an error, after which the
//! statement is rolled back; another statement) is told by the transaction's mark, which is not where the writer left it.

use pikepole_memory::{Fingers, Keys};
use pikepole_storage::{RowHeader, StorageError, TreeCursor};
use pikepole_transaction::{Inserted, LockMode, Stop, Structure, TransactionError};
use pikepole_types::{RestSplice, RestTemplate, RowError, SqlError, Value};

use super::ignored::Attempt;
use super::long::LongWriter;
use super::moved::MovedRows;
use super::{SecondaryIndex, Table};
use crate::database::Database;
use crate::error::Blocked;
use crate::memory_level::MemoryLevel;
use crate::transaction::{Mark, Transaction};

/// How many rows the statement changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowCount {
    /// This one only: under autocommit its log record can be the whole transaction.
    One,
    /// More, or not known.
    Many,
}

/// The identity of a row within its table: its clustered key, or its place in the heap.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Locator(pub(crate) Vec<u8>);

impl Clone for Locator {
    fn clone(&self) -> Locator {
        Locator(self.0.clone())
    }

    fn clone_from(&mut self, other: &Locator) {
        self.0.clone_from(&other.0);
    }
}

impl Locator {
    /// The place as bytes, equal for equal places of one table.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The place that [`Locator::as_bytes`] has given.
    pub fn from_bytes(bytes: Vec<u8>) -> Locator {
        Locator(bytes)
    }
}

/// Cursors and buffers for changing a table; kept and reused by a session's compiled statement.
pub struct TableWriter {
    pub(super) cursor: TreeCursor,
    index_cursors: Vec<TreeCursor>,
    pub(super) key: Vec<u8>,
    pub(super) rest: Vec<u8>,
    pub(super) old_key: Vec<u8>,
    /// That of the present row, when it gets another key of a clustered index whose keys may repeat.
    uniquifier: Vec<u8>,
    /// The row as [`Database::try_read_current`] found it, and the header to expect.
    pub(super) old: Vec<Value>,
    expected: Option<RowHeader>,
    /// Changes done of the present row, and the transaction's mark after them.
    done: usize,
    done_at: Mark,
    long: LongWriter,
    pub(super) moved: MovedRows,
    /// The row at hand, when it may be left out.
    pub(super) attempt: Option<Attempt>,
    /// The level that an INSERT into an in-memory table asks for, the keys of the row at hand, and the places of the last one.
    pub(super) memory_level: Option<MemoryLevel>,
    pub(super) keys: Keys,
    pub(super) fingers: Fingers,
    /// The bytes of what all rows have.
    template: Option<RestTemplate>,
    /// Room for the bytes of a row that is made of those in `rest`.
    spliced: Vec<u8>,
}

impl TableWriter {
    pub(crate) fn new(columns: usize) -> Self {
        Self {
            cursor: TreeCursor::default(),
            index_cursors: Vec::new(),
            key: Vec::new(),
            rest: Vec::new(),
            old_key: Vec::new(),
            uniquifier: Vec::new(),
            old: (0..columns).map(|_| Value::Null).collect(),
            expected: None,
            done: 0,
            done_at: Mark::START,
            long: LongWriter::default(),
            moved: MovedRows::default(),
            attempt: None,
            memory_level: None,
            keys: Keys::default(),
            fingers: Fingers::default(),
            template: None,
            spliced: Vec::new(),
        }
    }

    /// Inserts at the level that a hint asks for, which is for in-memory tables.
    #[must_use]
    pub fn with_level(mut self, level: Option<MemoryLevel>) -> TableWriter {
        self.memory_level = level;
        self
    }

    /// Inserts rows that have the values of `row` in the columns for which `is_constant` is true. Values that cannot be in a row are
    /// refused with the row.
    #[must_use]
    pub fn with_constants(self, table: &Table, row: &[Value], is_constant: impl Fn(usize) -> bool) -> TableWriter {
        let template = table.layout.template(row, is_constant).ok().filter(|_| table.overflow.is_none());
        TableWriter { template, ..self }
    }

    /// Puts the bytes of a new row into `rest`.
    #[inline]
    pub(super) fn encode_new(&mut self, table: &Table, row: &[Value]) -> Result<(), RowError> {
        self.rest.clear();
        match &self.template {
            Some(template) => table.layout.encode_rest_by(template, |i| &row[i], &mut self.rest),
            None => table.layout.encode_rest(|i| &row[i], &mut self.rest),
        }
    }

    /// Puts the bytes of a changed row into `rest`, which has those of before. By a splice `row` has the changed columns alone.
    #[inline]
    pub(super) fn encode_changed(
        &mut self,
        table: &Table,
        splice: Option<&RestSplice>,
        row: &[Value],
    ) -> Result<(), RowError> {
        let Some(splice) = splice else { return self.encode_new(table, row) };
        self.spliced.clear();
        table.layout.encode_rest_spliced(splice, &self.rest, |i| &row[i], &mut self.spliced)?;
        std::mem::swap(&mut self.rest, &mut self.spliced);
        Ok(())
    }

    /// Where the row is that was inserted or updated last. One that gets another key is there when it has been put in its place.
    pub fn place(&self) -> &[u8] {
        &self.key
    }

    /// A statement begins: what another one has left behind when it failed is of no interest.
    pub fn begin_statement(&mut self) {
        self.moved.clear();
    }

    /// Where to go on: after `done` changes if the transaction is where it was then, else at the start.
    fn resume(&mut self, tx: &Transaction) -> usize {
        if self.done == 0 || tx.mark() != self.done_at {
            self.done = 0;
        }
        self.done
    }

    /// Keeps the values that the row at hand has.
    fn note_old(&mut self, row: &[Value]) {
        for (old, new) in self.old.iter_mut().zip(row) {
            old.clone_from(new);
        }
    }

    fn step_done(&mut self, tx: &Transaction) {
        self.done += 1;
        self.done_at = tx.mark();
    }

    /// Ends the key of a changed row with a uniquifier: the one that it has, or a new one if its columns have other values. That
    /// stays from the first change that is done of the row to the last.
    fn end_key(&mut self, tx: &mut Transaction, locator: &Locator) {
        let Self { key, uniquifier, .. } = self;
        if let Some(own) = locator.0.strip_prefix(key.as_slice()) {
            key.extend_from_slice(own);
            return;
        }
        if self.done == 0 {
            uniquifier.clear();
            tx.push_uniquifier(uniquifier);
        }
        key.extend_from_slice(uniquifier);
    }

    pub(super) fn cursor_of(&mut self, index: usize) -> &mut TreeCursor {
        if self.index_cursors.len() <= index {
            self.index_cursors.resize_with(index + 1, TreeCursor::default);
        }
        &mut self.index_cursors[index]
    }
}

impl Database {
    /// Locks the table for row changes, unless its definition is no longer current.
    #[inline]
    pub(crate) fn lock_for(&self, tx: &mut Transaction, table: &Table, mode: LockMode) -> Result<(), Blocked> {
        if mode != LockMode::SchS && !tx.parts.is_empty() {
            tx.check_own_may_change()?;
        }
        tx.inner.try_lock(&table.state.lock, mode).map_err(|stop| self.stop(tx, table, stop))?;
        if table.state.is_stale(table.version) {
            return Err(Blocked::Stale);
        }
        if tx.inner.lasting_snapshot().is_some_and(|snapshot| table.state.is_younger_than(snapshot)) {
            return Err(SqlError::snapshot_schema_changed(self.name()).into());
        }
        Ok(())
    }

    #[cold]
    pub(crate) fn stop(&self, tx: &mut Transaction, table: &Table, stop: Stop) -> Blocked {
        match stop {
            Stop::Error(TransactionError::Storage(StorageError::KeyTooLong { object, bytes, bytes_max })) => {
                key_too_long(table, object, bytes, bytes_max).into()
            }
            stop => self.stopped(tx, &table.full_name(), stop),
        }
    }

    #[cold]
    pub(super) fn row_error(&self, tx: &Transaction, table: &Table, error: pikepole_types::RowError) -> Blocked {
        self.place(tx, &table.full_name()).row(&error).into()
    }

    /// Takes a lock on the whole table for the transaction: what a hint asks for. Changes and reads take what they need
    /// themselves.
    ///
    /// # Errors
    /// The need to wait for it; a definition that is no longer current.
    pub fn try_lock_table(&self, tx: &mut Transaction, table: &Table, mode: LockMode) -> Result<(), Blocked> {
        if tx.is_elsewhere(table) {
            if table.residence.is_session() {
                // Nobody else can have it.
                return Ok(());
            }
            return tx.in_part(table, |database, part| database.try_lock_table(part, table, mode));
        }
        self.lock_for(tx, table, mode)
    }

    /// Inserts a row, given in the order of the table's columns and already of their types.
    ///
    /// # Errors
    /// 2627 and 2601 for a key that is there; 9002, 1105 when there is no room; needs.
    #[inline]
    pub fn try_insert(
        &self,
        tx: &mut Transaction,
        table: &Table,
        writer: &mut TableWriter,
        row: &[Value],
        count: RowCount,
    ) -> Result<(), Blocked> {
        assert_eq!(row.len(), table.columns.len(), "a row has every column");
        let count = tx.alone(count);
        if tx.is_elsewhere(table) {
            return tx.elsewhere(table, |database, tx| database.try_insert(tx, table, writer, row, count));
        }
        match self.insert_here(tx, table, writer, row, count)? {
            None => Ok(()),
            Some(index) => Err(self.duplicate(table, index, row).into()),
        }
    }

    /// Inserts a row of a table of this database; the position of the index that has its key already, if one has.
    #[inline]
    pub(super) fn insert_here(
        &self,
        tx: &mut Transaction,
        table: &Table,
        writer: &mut TableWriter,
        row: &[Value],
        count: RowCount,
    ) -> Result<Option<usize>, Blocked> {
        if let Some(rows) = &table.in_memory {
            return self.insert_in_memory(tx, table, rows, writer, row);
        }
        self.lock_for(tx, table, LockMode::IX)?;
        if table.secondary.is_empty() {
            let inserted = self.insert_base(tx, table, writer, row, count == RowCount::One)?;
            return Ok((inserted == Inserted::Duplicate).then(|| table.clustered_at()));
        }
        self.insert_with_indexes(tx, table, writer, row)
    }

    fn insert_with_indexes(
        &self,
        tx: &mut Transaction,
        table: &Table,
        writer: &mut TableWriter,
        row: &[Value],
    ) -> Result<Option<usize>, Blocked> {
        if writer.resume(tx) == 0 {
            if self.insert_base(tx, table, writer, row, false)? == Inserted::Duplicate {
                return Ok(Some(table.clustered_at()));
            }
            writer.step_done(tx);
        }
        while writer.done <= table.secondary.len() {
            let at = writer.done - 1;
            if self.insert_entry(tx, table, writer, at, row)? == Inserted::Duplicate {
                return Ok(Some(table.secondary[at].at));
            }
            writer.step_done(tx);
        }
        writer.done = 0;
        Ok(None)
    }

    /// Inserts into the clustered tree or heap; the locator of the row is in `writer.key` then.
    pub(super) fn insert_base(
        &self,
        tx: &mut Transaction,
        table: &Table,
        writer: &mut TableWriter,
        row: &[Value],
        single: bool,
    ) -> Result<Inserted, Blocked> {
        let key = &mut writer.key;
        key.clear();
        table.check_key(None, row)?;
        table.layout.encode_key(|i| &row[i], key).map_err(|error| self.row_error(tx, table, error))?;
        let key_room = table.key_room(key.len());
        if table.uniquified {
            tx.push_uniquifier(key);
        }
        let mut single = single;
        match &table.overflow {
            None => writer.encode_new(table, row).map_err(|error| self.row_error(tx, table, error))?,
            Some(overflow) => {
                writer.rest.clear();
                let TableWriter { long, rest, .. } = writer;
                single &= !self.encode_row(tx, table, overflow, long, None, row, key_room, rest)?;
            }
        }
        let TableWriter { cursor, key, rest, .. } = writer;
        let outcome = match &table.base {
            tree @ Structure::Tree(_) => tx.inner.try_insert(tree, cursor, key, rest, single),
            heap @ Structure::Heap(_) => tx.inner.try_insert_heap(heap, rest, single).map(|rid| {
                key.extend_from_slice(&rid.to_bytes());
                Inserted::Done
            }),
        };
        let inserted = outcome.map_err(|stop| self.stop(tx, table, stop))?;
        if inserted == Inserted::Duplicate {
            writer.long.forget_new();
        }
        Ok(inserted)
    }

    /// Inserts the entry of one index; the row's locator is in `writer.key`.
    pub(super) fn insert_entry(
        &self,
        tx: &mut Transaction,
        table: &Table,
        writer: &mut TableWriter,
        at: usize,
        row: &[Value],
    ) -> Result<Inserted, Blocked> {
        let index = &table.secondary[at];
        if !index.holds(|i| &row[i]) {
            return Ok(Inserted::Done);
        }
        table.check_key(Some(at), row)?;
        let (locator, mut key) = (std::mem::take(&mut writer.key), std::mem::take(&mut writer.old_key));
        let result = index
            .entry_key(|i| &row[i], &locator, &mut key)
            .map_err(|error| self.row_error(tx, table, error))
            .and_then(|()| {
                let cursor = writer.cursor_of(at);
                tx.inner
                    .try_insert(&index.structure, cursor, &key, &locator, false)
                    .map_err(|stop| self.stop(tx, table, stop))
            });
        (writer.key, writer.old_key) = (locator, key);
        result
    }

    /// A row, or its entry in the index at this position, must have found its place.
    ///
    /// # Errors
    /// 2627 and 2601.
    #[inline]
    pub(super) fn no_duplicate(
        &self,
        table: &Table,
        index: usize,
        row: &[Value],
        inserted: Inserted,
    ) -> Result<(), Blocked> {
        match inserted {
            Inserted::Done => Ok(()),
            Inserted::Duplicate => Err(self.duplicate(table, index, row).into()),
        }
    }

    #[cold]
    pub(super) fn duplicate(&self, table: &Table, index: usize, row: &[Value]) -> SqlError {
        let index = &table.indexes[index];
        let key = table.key_text(index, |i| &row[i]);
        if index.constraint {
            let kind = if index.primary_key { "PRIMARY KEY" } else { "UNIQUE KEY" };
            SqlError::duplicate_key(kind, &index.name, table.full_name(), key)
        } else {
            SqlError::duplicate_key_in_index(table.full_name(), &index.name, key)
        }
    }

    /// Reads a row as it is now, for changing it: all its columns, into `out`. False: the row is gone. Waits (by need) for
    /// another transaction that has changed the row.
    ///
    /// # Errors
    /// 3960 under snapshot isolation, for a row that changed since the snapshot; needs.
    pub fn try_read_current(
        &self,
        tx: &mut Transaction,
        table: &Table,
        writer: &mut TableWriter,
        locator: &Locator,
        out: &mut [Value],
    ) -> Result<bool, Blocked> {
        if tx.is_elsewhere(table) {
            return tx.elsewhere(table, |database, tx| database.try_read_current(tx, table, writer, locator, out));
        }
        if let Some(rows) = &table.in_memory {
            if !self.read_current_in_memory(tx, table, rows, writer, locator)? {
                return Ok(false);
            }
            let decoded = table.layout.decode_all(&[], &writer.rest, out);
            decoded.map_err(|error| self.row_error(tx, table, error))?;
            writer.note_old(out);
            return Ok(true);
        }
        self.lock_for(tx, table, LockMode::IX)?;
        let key = if table.is_heap() { &[][..] } else { &locator.0 };
        loop {
            writer.done = 0;
            writer.expected = self.read_base(tx, table, writer, locator)?;
            if writer.expected.is_none() {
                return Ok(false);
            }
            let TableWriter { rest, long, .. } = writer;
            let Some(overflow) = &table.overflow else {
                table.layout.decode_all(key, rest, out).map_err(|error| self.row_error(tx, table, error))?;
                break;
            };
            let Err(lost) = self.decode_former(tx, table, overflow, long, (key, rest), out)? else {
                break;
            };
            // Without a snapshot, a row that has changed meanwhile need not have kept its parts.
            if self.read_base(tx, table, writer, locator)? == writer.expected {
                return Err(self.stop(tx, table, lost.damage().into()));
            }
        }
        if !table.secondary.is_empty() || writer.long.had_values() {
            writer.note_old(out);
        }
        Ok(true)
    }

    /// Reads the row at `locator` as it is now into `writer.rest`; its header.
    pub(super) fn read_base(
        &self,
        tx: &mut Transaction,
        table: &Table,
        writer: &mut TableWriter,
        locator: &Locator,
    ) -> Result<Option<RowHeader>, Blocked> {
        let rest = &mut writer.rest;
        let found = tx.inner.try_current(&table.base, &locator.0, |bytes| {
            rest.clear();
            rest.extend_from_slice(bytes);
        });
        let found = found.map_err(|stop| self.stop(tx, table, stop))?;
        Ok(found.map(|(header, ())| header))
    }

    /// Gives the row at `locator`, which [`Database::try_read_current`] has just read, the values `row`. False: somebody
    /// changed it since; read it again. A row that gets another key in the clustered index or in a unique one is there again
    /// when [`Database::try_place_moved`] has put it there.
    ///
    /// # Errors
    /// As [`Database::try_insert`], but for keys that are there.
    pub fn try_update(
        &self,
        tx: &mut Transaction,
        table: &Table,
        writer: &mut TableWriter,
        locator: &Locator,
        row: &[Value],
    ) -> Result<bool, Blocked> {
        assert_eq!(row.len(), table.columns.len(), "a row has every column");
        if tx.is_elsewhere(table) {
            return tx.elsewhere(table, |database, tx| database.try_update(tx, table, writer, locator, row));
        }
        if let Some(rows) = &table.in_memory {
            return self.update_in_memory(tx, table, rows, writer, locator, row);
        }
        self.lock_for(tx, table, LockMode::IX)?;
        writer.resume(tx);
        writer.key.clear();
        let mut key_room = 0;
        if table.is_heap() {
            writer.key.extend_from_slice(&locator.0);
        } else {
            table.layout.encode_key(|i| &row[i], &mut writer.key).map_err(|error| self.row_error(tx, table, error))?;
            key_room = table.key_room(writer.key.len());
            if table.uniquified {
                writer.end_key(tx, locator);
            }
        }
        let moves = writer.key != locator.0;
        if writer.done == 0 {
            if moves {
                table.check_key(None, row)?;
            }
            if !self.update_base(tx, table, writer, locator, (row, key_room), moves)? {
                return Ok(false);
            }
            if moves {
                writer.moved.keep_row(&writer.key, &writer.rest);
            }
            writer.step_done(tx);
        }
        // Two steps for each index, after the one above.
        while writer.done - 1 < table.secondary.len() * 2 {
            let step = writer.done - 1;
            let index = &table.secondary[step / 2];
            if moves || self.entry_changes(tx, table, writer, index, locator, row)? {
                if step.is_multiple_of(2) {
                    self.delete_entry(tx, table, writer, step / 2, locator)?;
                } else if moves || index.unique {
                    self.keep_entry(tx, table, writer, step / 2, row)?;
                } else {
                    let inserted = self.insert_entry(tx, table, writer, step / 2, row)?;
                    self.no_duplicate(table, index.at, row, inserted)?;
                }
            }
            writer.step_done(tx);
        }
        self.end_long(tx, table, writer, true)?;
        writer.done = 0;
        Ok(true)
    }

    /// The last step of an update and of a delete: former values whose rows no longer lead to them.
    fn end_long(
        &self,
        tx: &mut Transaction,
        table: &Table,
        writer: &mut TableWriter,
        keep: bool,
    ) -> Result<(), Blocked> {
        let Some(overflow) = &table.overflow else {
            return Ok(());
        };
        let TableWriter { long, done_at, .. } = writer;
        self.end_former(tx, table, overflow, long, keep, |tx| *done_at = tx.mark())
    }

    /// The first step of an update: the row in place, or, when its key changes, the old row's end.
    fn update_base(
        &self,
        tx: &mut Transaction,
        table: &Table,
        writer: &mut TableWriter,
        locator: &Locator,
        (row, key_room): (&[Value], usize),
        moves: bool,
    ) -> Result<bool, Blocked> {
        let Some(expected) = writer.expected else {
            return Ok(false);
        };
        let TableWriter { cursor, rest, long, old, .. } = writer;
        if long.is_taking_back() {
            self.take_parts_back(tx, table, long)?;
            return Ok(false);
        }
        rest.clear();
        match &table.overflow {
            None => {
                let encoded = table.layout.encode_rest(|i| &row[i], rest);
                encoded.map_err(|error| self.row_error(tx, table, error))?;
            }
            Some(overflow) => {
                self.encode_row(tx, table, overflow, long, Some(old), row, key_room, rest)?;
            }
        }
        let changed = if moves {
            tx.inner.try_delete(&table.base, cursor, &locator.0, expected, false)
        } else {
            tx.inner.try_replace(&table.base, cursor, &locator.0, expected, rest, false)
        };
        let changed = changed.map_err(|stop| self.stop(tx, table, stop))?;
        if !changed {
            self.take_parts_back(tx, table, long)?;
        }
        Ok(changed)
    }

    /// Keeps the entry of one index for its new place; the row's locator is in `writer.key`.
    fn keep_entry(
        &self,
        tx: &Transaction,
        table: &Table,
        writer: &mut TableWriter,
        at: usize,
        row: &[Value],
    ) -> Result<(), Blocked> {
        let index = &table.secondary[at];
        if !index.holds(|i| &row[i]) {
            return Ok(());
        }
        table.check_key(Some(at), row)?;
        let TableWriter { key, old_key, moved, .. } = writer;
        index.entry_key(|i| &row[i], key, old_key).map_err(|error| self.row_error(tx, table, error))?;
        moved.keep_entry(at, old_key, key);
        Ok(())
    }

    /// Whether the entry of an index differs between the old row and the new one, which is in the same place.
    fn entry_changes(
        &self,
        tx: &Transaction,
        table: &Table,
        writer: &mut TableWriter,
        index: &SecondaryIndex,
        locator: &Locator,
        row: &[Value],
    ) -> Result<bool, Blocked> {
        let TableWriter { old, old_key, rest, .. } = writer;
        if index.holds(|i| &old[i]) != index.holds(|i| &row[i]) {
            return Ok(true);
        }
        index
            .entry_key(|i| &old[i], &locator.0, old_key)
            .and_then(|()| index.entry_key(|i| &row[i], &locator.0, rest))
            .map_err(|error| self.row_error(tx, table, error))?;
        Ok(old_key != rest)
    }

    /// Deletes the row at `locator`, which [`Database::try_read_current`] has just read. False: somebody changed it since;
    /// read it again.
    ///
    /// # Errors
    /// 9002 when the log is full; needs.
    pub fn try_delete(
        &self,
        tx: &mut Transaction,
        table: &Table,
        writer: &mut TableWriter,
        locator: &Locator,
    ) -> Result<bool, Blocked> {
        if tx.is_elsewhere(table) {
            return tx.elsewhere(table, |database, tx| database.try_delete(tx, table, writer, locator));
        }
        if let Some(rows) = &table.in_memory {
            return self.delete_in_memory(tx, table, rows, locator);
        }
        self.lock_for(tx, table, LockMode::IX)?;
        if writer.resume(tx) == 0 {
            let Some(expected) = writer.expected else {
                return Ok(false);
            };
            let cursor = &mut writer.cursor;
            let deleted = tx.inner.try_delete(&table.base, cursor, &locator.0, expected, false);
            if !deleted.map_err(|stop| self.stop(tx, table, stop))? {
                return Ok(false);
            }
            writer.step_done(tx);
        }
        while writer.done <= table.secondary.len() {
            self.delete_entry(tx, table, writer, writer.done - 1, locator)?;
            writer.step_done(tx);
        }
        self.end_long(tx, table, writer, false)?;
        writer.done = 0;
        Ok(true)
    }

    /// Deletes the old row's entry of one index. The row's own lock guards it: nobody else changes it meanwhile.
    fn delete_entry(
        &self,
        tx: &mut Transaction,
        table: &Table,
        writer: &mut TableWriter,
        at: usize,
        locator: &Locator,
    ) -> Result<(), Blocked> {
        let index = &table.secondary[at];
        let TableWriter { old, old_key, .. } = writer;
        if !index.holds(|i| &old[i]) {
            return Ok(());
        }
        index.entry_key(|i| &old[i], &locator.0, old_key).map_err(|error| self.row_error(tx, table, error))?;
        let key = std::mem::take(&mut writer.old_key);
        let result = loop {
            let current = match tx.inner.try_current(&index.structure, &key, |_| ()) {
                Ok(current) => current,
                Err(stop) => break Err(stop),
            };
            let Some((header, ())) = current else {
                break Ok(());
            };
            let cursor = writer.cursor_of(at);
            match tx.inner.try_delete(&index.structure, cursor, &key, header, false) {
                Ok(true) => break Ok(()),
                Ok(false) => continue,
                Err(stop) => break Err(stop),
            }
        };
        writer.old_key = key;
        result.map_err(|stop| self.stop(tx, table, stop))
    }
}

/// Error 1946 for the index whose entries `object` holds.
fn key_too_long(table: &Table, object: u32, bytes: usize, bytes_max: usize) -> SqlError {
    match table.record().indexes.iter().find(|index| index.storage.object == object) {
        Some(index) if !index.clustered => SqlError::key_too_long(bytes, &index.name, bytes_max, "nonclustered"),
        Some(index) => SqlError::key_too_long(bytes, &index.name, bytes_max, "clustered"),
        None => SqlError::key_too_long(bytes, table.full_name(), bytes_max, "clustered"),
    }
}
