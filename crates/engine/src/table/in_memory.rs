//! Reading and changing the rows of in-memory tables.
//!
//! ```text
//!   try_next, try_insert, try_update ... of a table without pages
//!        |  a row's name is its locator; its bytes are those of a heap's row
//!        v
//!   pikepole_memory: a snapshot of the whole transaction, no locks of rows
//! ```
//! A statement locks the definition alone. Nothing here waits for another transaction: the second one to change a row fails, with error
//! 41302, and what a transaction promised about its reads is looked at when it commits.

mod made;
mod point;

use std::ops::Bound;
use std::sync::Arc;

use pikepole_log::Lsn;
use pikepole_machine::memory;
use pikepole_memory::{
    Fingers, Guard, IndexShape, Invalid, KeyRange, Keys, Level, LoggedAs, MemoryScan, MemoryTable, MemoryTransaction,
    Refusal, TableSlot,
};
use pikepole_transaction::{Isolation, LockMode};
use pikepole_types::{ColumnReader, Projection, RowError, SqlError, Value};

use super::read_lock::{ReadHints, ReadLevel};
use super::scan::{Source, encode_bound};
use super::{Locator, RowCount, ScanRange, Table, TableScan, TableWriter};
use crate::catalog::definition::TableRecord;
use crate::database::Database;
use crate::error::{Blocked, Place};
use crate::memory_level::MemoryLevel;
use crate::transaction::Transaction;

pub use made::{MadeRow, RowRecipe};
pub use point::KeyLookup;

/// A transaction's leave to use an in-memory table: its definition is locked until the transaction ends, and the level is known. It is for the
/// statements of that transaction that ask for the same level.
#[derive(Debug, Clone, Copy)]
pub struct MemoryUse(Level);

/// Bytes that a version of a row is counted with, beside its values.
const ROW_BYTES: usize = 128;

/// Bytes of rows that make up for a page where pages are guessed.
const PAGE_BYTES: u64 = pikepole_storage::PAGE_BYTES as u64;

/// The rows of a table that is in memory, empty.
pub(super) fn rows_of(record: &TableRecord) -> MemoryTable {
    let shape = |index: &crate::Index| IndexShape {
        kind: match index.hash {
            Some(hash) => pikepole_memory::IndexKind::Hash { buckets: hash.bucket_count as usize },
            None => pikepole_memory::IndexKind::Range,
        },
        unique: index.unique,
    };
    let shapes: Vec<IndexShape> = record.live_indexes().map(shape).collect();
    match logged_as(record) {
        Some(logged) => MemoryTable::logged(&shapes, logged),
        None => MemoryTable::new(&shapes),
    }
}

/// The names by which a table's rows are logged; None: they are not.
fn logged_as(record: &TableRecord) -> Option<LoggedAs> {
    let primary = record.live_indexes().position(|index| index.primary_key)?;
    let object = record.heap.filter(|_| record.is_logged_in_memory())?.object;
    Some(LoggedAs { object, primary })
}

/// The end of putting a row.
enum Put {
    /// It is there, with this number.
    Done(u64),
    /// The index at this position has its key already.
    Duplicate(usize),
}

/// The columns of a table's keys, as they are read from rows.
pub(crate) struct KeyColumns {
    projection: Projection,
    /// The place of each column among those that are read, if it is.
    places: Box<[usize]>,
    count: usize,
}

/// A scan's place among the rows of an in-memory table.
pub(super) struct MemoryRows {
    scan: MemoryScan,
    level: Level,
}

impl Table {
    /// The rows of an in-memory table, for views; None: it is none, or was dropped.
    pub fn rows_in_memory(&self) -> Option<Arc<MemoryTable>> {
        self.in_memory.as_ref()?.get(&pikepole_memory::pin()).cloned()
    }

    /// The table was dropped, or its rows are in the places of `new` from now on: plans that lead to it still keep none of its rows in
    /// memory. False: its rows are where they were.
    pub(crate) fn forget_rows_unless_kept(&self, new: Option<&Arc<Table>>) -> bool {
        let Some(slot) = &self.in_memory else { return false };
        if new.and_then(|new| new.in_memory.as_ref()).is_some_and(|kept| Arc::ptr_eq(kept, slot)) {
            return false;
        }
        slot.empty();
        true
    }

    /// The places of its rows, for a version of the table with this record; None: they get others.
    pub(super) fn kept_rows(&self, record: &TableRecord) -> Option<Arc<TableSlot>> {
        let is_kept = self.record().heap.map(|heap| heap.object) == record.heap.map(|heap| heap.object);
        self.in_memory.clone().filter(|_| is_kept)
    }

    /// Pages that the rows of an in-memory table would fill.
    pub(super) fn pages_in_memory(&self) -> Option<u64> {
        let slot = self.in_memory.as_ref()?;
        Some(slot.get(&pikepole_memory::pin()).map_or(0, |rows| rows.bytes()) / PAGE_BYTES)
    }

    /// The columns of its keys.
    pub(crate) fn key_columns(&self) -> KeyColumns {
        let mut wanted: Vec<usize> =
            self.secondary.iter().flat_map(|index| index.layout.key_columns()).map(|part| part.column).collect();
        wanted.sort_unstable();
        wanted.dedup();
        let place = |column: usize| wanted.binary_search(&column).unwrap_or_default();
        KeyColumns {
            projection: self.layout.projection(&wanted),
            places: (0..self.columns.len()).map(place).collect(),
            count: wanted.len(),
        }
    }

    /// The keys of a row that is there as bytes. `row` is room for the values of its key columns.
    pub(crate) fn keys_of_row(
        &self,
        body: &[u8],
        columns: &KeyColumns,
        row: &mut Vec<Value>,
        keys: &mut Keys,
    ) -> Result<(), RowError> {
        row.resize(columns.count, Value::Null);
        self.layout.decode(&[], body, &columns.projection, row)?;
        keys.clear();
        for index in &self.secondary {
            keys.push(|key| index.layout.encode_key(|column| &row[columns.places[column]], key))?;
        }
        Ok(())
    }

    /// The keys that a scan's range has in the index at this position.
    fn memory_range(&self, at: usize, range: &ScanRange) -> Result<Option<KeyRange>, RowError> {
        let index = &self.indexes[self.secondary[at].at];
        let layout = &self.secondary[at].layout;
        if let (Bound::Included(from), Bound::Included(to)) = (&range.from, &range.to)
            && from.len() == index.columns.len()
            && to.len() == from.len()
        {
            let (mut key, mut last) = (Vec::new(), Vec::new());
            layout.encode_key_prefix(from, &mut key)?;
            layout.encode_key_prefix(to, &mut last)?;
            if key == last {
                return Ok(Some(KeyRange::Equal(key)));
            }
        }
        if index.hash.is_some() && range.is_bounded() {
            return Ok(None);
        }
        Ok(Some(KeyRange::Between(encode_bound(layout, &range.from, false)?, encode_bound(layout, &range.to, true)?)))
    }
}

impl Transaction {
    /// Sets the level at which later statements use in-memory tables: that of an atomic block. None: their hints and the transaction's
    /// isolation decide.
    pub fn set_memory_level(&mut self, level: Option<MemoryLevel>) {
        self.memory_level = level;
        self.for_each_part(|part| part.memory_level = level);
    }

    /// The batch has ended: while the session waits for its client it keeps no in-memory table that others may drop.
    pub fn rest_in_memory(&mut self) {
        self.memory.iter_mut().for_each(|memory| memory.rest());
        self.for_each_part(|part| part.memory.iter_mut().for_each(|memory| memory.rest()));
    }

    /// Tells if a commit has more to see to in in-memory tables than the end of a snapshot, in any database.
    #[inline]
    pub(crate) fn is_bound_in_memory(&self) -> bool {
        let is_bound =
            |memory: &Option<Box<MemoryTransaction>>| memory.as_ref().is_some_and(|memory| memory.is_bound());
        is_bound(&self.memory) || !self.parts.is_empty() && self.any_part(|part| is_bound(&part.memory))
    }

    /// The number of rows that a change may take itself to be: none commits by itself while a promise about rows in memory can fail.
    #[inline]
    pub(super) fn alone(&self, count: RowCount) -> RowCount {
        if self.is_bound_in_memory() { RowCount::Many } else { count }
    }

    /// Looks at what was promised about rows in memory. Others wait for what becomes of the transaction until it commits or
    /// [`Transaction::unprepare_in_memory`] is called, which is in the same call.
    ///
    /// # Errors
    /// 41305 and 41325.
    pub(crate) fn prepare_in_memory(&mut self) -> Result<(), SqlError> {
        if let Some(memory) = &mut self.memory {
            memory.prepare().map_err(|invalid| match invalid {
                Invalid::RepeatableRead => SqlError::memory_repeatable_read_failed(),
                Invalid::Serializable => SqlError::memory_serializable_failed(),
            })?;
        }
        let mut prepared = Ok(());
        self.for_each_part(|part| {
            if prepared.is_ok() {
                prepared = part.prepare_in_memory();
            }
        });
        prepared
    }

    /// The commit could not go on.
    pub(crate) fn unprepare_in_memory(&mut self) {
        if let Some(memory) = &mut self.memory {
            memory.unprepare();
        }
        self.for_each_part(Transaction::unprepare_in_memory);
    }
}

impl Database {
    /// Logs what the record of the commit does not take of the changes in in-memory tables, in all databases.
    ///
    /// # Errors
    /// Needs; 9001 when the log failed.
    pub(crate) fn try_log_in_memory(&self, tx: &mut Transaction) -> Result<(), Blocked> {
        if let Some(memory) = tx.memory.as_ref().filter(|memory| memory.logs()) {
            let logged = tx.logged_in_memory.try_log(&mut tx.inner, memory, self.in_memory_checkpoints());
            logged.map_err(|stop| self.place(tx, "").stop(stop))?;
        }
        tx.try_log_parts_in_memory()
    }

    /// A statement of an open transaction begins that reads in-memory tables of this database and nothing else: it sees what the
    /// transaction's statements before it have changed there.
    #[inline]
    pub fn begin_statement_in_memory(&self, tx: &mut Transaction) {
        if let Some(memory) = &mut tx.memory {
            memory.begin_statement();
        }
    }

    /// From now on the transaction logs behind all that it has seen in in-memory tables.
    fn order_behind_seen(tx: &mut Transaction) {
        if let Some(memory) = &tx.memory {
            tx.inner.order_behind(Lsn(memory.after()));
        }
    }

    /// The transaction's part in in-memory tables.
    #[inline]
    fn memory_of<'t>(&self, tx: &'t mut Transaction) -> &'t mut MemoryTransaction {
        let session_id = tx.session_id();
        tx.memory.get_or_insert_with(|| Box::new(self.memory().session_of(session_id)))
    }

    /// The level at which a statement uses an in-memory table, with the hint that it gives.
    ///
    /// # Errors
    /// 41368, 41332, 41333 and 10794 where the transaction's own level is none for such tables and there is no hint.
    fn memory_level(&self, tx: &Transaction, hint: Option<MemoryLevel>) -> Result<Level, SqlError> {
        if let Some(level) = tx.memory_level {
            return Ok(level_of(level));
        }
        let is_weak = matches!(tx.isolation(), Isolation::ReadUncommitted | Isolation::ReadCommitted);
        let elevates = || is_weak && self.elevates_to_snapshot();
        match (tx.isolation(), hint) {
            (Isolation::Snapshot, _) => Err(SqlError::memory_under_snapshot()),
            (_, Some(MemoryLevel::Snapshot)) => Ok(Level::Snapshot),
            (Isolation::RepeatableRead | Isolation::Serializable, _) => Err(SqlError::memory_needs_snapshot()),
            (_, Some(hint)) => Ok(level_of(hint)),
            (_, None) if elevates() => Ok(Level::Snapshot),
            (Isolation::ReadUncommitted, None) => Err(SqlError::isolation_not_in_memory("READ UNCOMMITTED")),
            (Isolation::ReadCommitted, None) if tx.is_of_user() => Err(SqlError::memory_needs_level()),
            (Isolation::ReadCommitted, None) => Ok(Level::Snapshot),
        }
    }

    /// The level of a scan with these hints. One beside the statements of users reads a snapshot, whatever their level is.
    fn memory_level_of_scan(&self, tx: &Transaction, hints: &ReadHints) -> Result<Level, SqlError> {
        match hints.level {
            Some(ReadLevel::Versions) => Ok(hints.memory.map_or(Level::Snapshot, level_of)),
            _ => self.memory_level(tx, hints.memory),
        }
    }

    /// The error of bytes of an in-memory table's row.
    #[cold]
    pub(super) fn unread_in_memory(&self, table: &Table, error: &RowError) -> SqlError {
        Place { database: self, object: &table.full_name(), session_id: 0 }.row(error)
    }

    /// Puts the keys of a row into `keys`, one for each index.
    fn memory_keys(&self, table: &Table, row: &[Value], keys: &mut Keys) -> Result<(), SqlError> {
        keys.clear();
        for (at, index) in table.secondary.iter().enumerate() {
            table.check_key(Some(at), row)?;
            let pushed = keys.push(|key| index.layout.encode_key(|i| &row[i], key));
            pushed.map_err(|error| self.unread_in_memory(table, &error))?;
        }
        Ok(())
    }

    /// The keys of a range; a plan that asks a hash index for another one than a whole key is a fault.
    fn memory_range(&self, table: &Table, at: usize, range: &ScanRange) -> Result<KeyRange, SqlError> {
        let keys = table.memory_range(at, range).map_err(|error| self.unread_in_memory(table, &error))?;
        let text = "Internal Query Processor Error: a hash index was asked for more than one key.";
        keys.ok_or_else(|| SqlError::new(8624, 16, 1, text))
    }

    fn lock_in_memory(&self, tx: &mut Transaction, table: &Table) -> Result<(), Blocked> {
        self.lock_for(tx, table, LockMode::SchS)?;
        if table.state.is_moved_since(|| self.memory_of(tx).take_snapshot()) {
            return Err(SqlError::snapshot_schema_changed(self.name()).into());
        }
        Ok(())
    }

    /// Begins to use an in-memory table of this database, for statements that change it or only read, at the level that a hint asks for.
    ///
    /// # Errors
    /// A definition that is no longer current; the levels at which in-memory tables are not used; needs.
    pub fn try_use_in_memory(
        &self,
        tx: &mut Transaction,
        table: &Table,
        hint: Option<MemoryLevel>,
        changes: bool,
    ) -> Result<MemoryUse, Blocked> {
        if changes {
            self.lock_to_change_in_memory(tx, table)?;
        } else {
            self.lock_in_memory(tx, table)?;
        }
        Ok(MemoryUse(self.memory_level(tx, hint)?))
    }

    /// The same before a change.
    fn lock_to_change_in_memory(&self, tx: &mut Transaction, table: &Table) -> Result<(), Blocked> {
        if !tx.parts.is_empty() {
            tx.check_own_may_change()?;
        }
        self.lock_in_memory(tx, table)
    }

    /// Counts bytes by which rows grow. It is refused when the server's memory has no more for data, and rows have left no `spare` blocks of that
    /// size; reads and deletes go on then.
    #[inline]
    fn grow_in_memory(
        &self,
        tx: &mut Transaction,
        slot: &TableSlot,
        bytes: usize,
        spare: impl Fn(&MemoryTable) -> u64,
    ) -> Result<(), SqlError> {
        tx.grown_in_memory += bytes + ROW_BYTES;
        if tx.grown_in_memory < memory::ASK_BYTES { Ok(()) } else { self.ask_to_grow_in_memory(tx, slot, &spare) }
    }

    #[cold]
    fn ask_to_grow_in_memory(
        &self,
        tx: &mut Transaction,
        slot: &TableSlot,
        spare: &dyn Fn(&MemoryTable) -> u64,
    ) -> Result<(), SqlError> {
        let asked = std::mem::take(&mut tx.grown_in_memory);
        let mut granted = memory::ask_to_keep(asked);
        if granted.is_err() {
            self.memory().sweep();
            let spare = slot.get(&pikepole_memory::pin()).map_or(0, |rows| spare(rows));
            granted = if spare >= asked as u64 { Ok(()) } else { memory::ask_to_keep(asked) };
        }
        granted.map_err(|memory::Refused| {
            // The next row asks again.
            tx.grown_in_memory = asked;
            SqlError::memory_full("default")
        })
    }

    /// Moves to the next row that the transaction sees: its name and its bytes are in the scan then.
    pub(super) fn advance_in_memory(
        &self,
        tx: &mut Transaction,
        table: &Table,
        slot: &TableSlot,
        scan: &mut TableScan,
    ) -> Result<bool, Blocked> {
        loop {
            if let Some(Source::Memory(own)) = &mut scan.source
                && own.scan.next_row()
            {
                let (name, body) = own.scan.row();
                scan.locator.0.clear();
                scan.locator.0.extend_from_slice(name);
                scan.rest.clear();
                scan.rest.extend_from_slice(body);
                return Ok(true);
            }
            if !self.copy_in_memory(tx, table, slot, scan)? {
                return Ok(false);
            }
        }
    }

    /// Adds the next rows to columns; how many, none at the end.
    pub(super) fn next_columns_in_memory(
        &self,
        tx: &mut Transaction,
        table: &Table,
        slot: &TableSlot,
        scan: &mut TableScan,
        columns: &mut [ColumnReader],
    ) -> Result<Option<usize>, Blocked> {
        if !self.copy_in_memory(tx, table, slot, scan)? {
            return Ok(None);
        }
        let Some(Source::Memory(own)) = &mut scan.source else { return Ok(None) };
        let places = &mut scan.places;
        places.clear();
        own.scan.bodies().for_each(|(from, to)| places.push(from as u32, from as u32, to as u32));
        let read = table.layout.read_rows(own.scan.bytes(), places, &scan.projection, columns);
        read.map_err(|error| self.unread_in_memory(table, &error))?;
        let rows = places.len();
        match columns.iter_mut().position(|column| !column.check()) {
            Some(place) => {
                let error = RowError::Corrupt { column: scan.wanted[place] };
                Err(self.unread_in_memory(table, &error).into())
            }
            None => Ok(Some(rows)),
        }
    }

    /// Copies the next rows of a scan, which begins with the first ones. False: there are no more.
    fn copy_in_memory(
        &self,
        tx: &mut Transaction,
        table: &Table,
        slot: &TableSlot,
        scan: &mut TableScan,
    ) -> Result<bool, Blocked> {
        self.lock_in_memory(tx, table)?;
        if !matches!(scan.source, Some(Source::Memory(_))) {
            let level = self.memory_level_of_scan(tx, &scan.hints)?;
            let at = scan.secondary.unwrap_or(0);
            let range = self.memory_range(table, at, &scan.range)?;
            let mut own = scan
                .spare_memory
                .take()
                .unwrap_or_else(|| Box::new(MemoryRows { scan: MemoryScan::default(), level: Level::Snapshot }));
            own.scan.restart(at, range, scan.range.reverse);
            own.level = level;
            scan.source = Some(Source::Memory(own));
        }
        let Some(Source::Memory(own)) = &mut scan.source else { return Ok(false) };
        let guard = pikepole_memory::pin();
        let rows = rows_at(slot, &guard)?;
        let more = self.memory_of(tx).scan(&mut own.scan, rows, own.level);
        Self::order_behind_seen(tx);
        Ok(more)
    }

    /// Reads the row of the name at `scan.locator` into `scan.rest`. False: the transaction sees none.
    pub(super) fn get_in_memory(
        &self,
        tx: &mut Transaction,
        table: &Table,
        slot: &TableSlot,
        scan: &mut TableScan,
    ) -> Result<bool, Blocked> {
        self.lock_in_memory(tx, table)?;
        let level = self.memory_level_of_scan(tx, &scan.hints)?;
        let guard = pikepole_memory::pin();
        let rows = rows_at(slot, &guard)?;
        let is_there = self.memory_of(tx).read(rows, &scan.locator.0, level, &mut scan.rest);
        Self::order_behind_seen(tx);
        Ok(is_there)
    }

    /// Inserts a row; the position of the index that has its key already, if one has.
    pub(super) fn insert_in_memory(
        &self,
        tx: &mut Transaction,
        table: &Table,
        slot: &TableSlot,
        writer: &mut TableWriter,
        row: &[Value],
    ) -> Result<Option<usize>, Blocked> {
        let level = writer.memory_level;
        self.try_use_in_memory(tx, table, level, true)?;
        self.put_named_in_memory(tx, table, slot, writer, row)
    }

    /// Inserts a row of a table that the transaction uses, given in the order of its columns and already of their types.
    ///
    /// # Errors
    /// 2627 and 2601 for a key that is there; 41302; values that no row has; 41805 without memory.
    pub fn try_insert_used(
        &self,
        tx: &mut Transaction,
        table: &Table,
        _use: MemoryUse,
        writer: &mut TableWriter,
        row: &[Value],
    ) -> Result<(), Blocked> {
        let Some(slot) = &table.in_memory else { return Err(Blocked::Stale) };
        match self.put_row_in_memory(tx, table, slot, writer, row)? {
            Put::Done(_) => Ok(()),
            Put::Duplicate(index) => Err(self.duplicate(table, index, row).into()),
        }
    }

    /// Puts a row into a table that is being filled, which no other transaction knows; the position of the index that has its key already,
    /// if one has.
    pub(crate) fn try_copy_in_memory(
        &self,
        tx: &mut Transaction,
        table: &Table,
        writer: &mut TableWriter,
        row: &[Value],
    ) -> Result<Option<usize>, Blocked> {
        let Some(slot) = &table.in_memory else { return Ok(None) };
        self.put_named_in_memory(tx, table, slot, writer, row)
    }

    /// Puts a row whose name is in `writer.key` then; the position of the index that has its key already, if one has.
    fn put_named_in_memory(
        &self,
        tx: &mut Transaction,
        table: &Table,
        slot: &TableSlot,
        writer: &mut TableWriter,
        row: &[Value],
    ) -> Result<Option<usize>, Blocked> {
        match self.put_row_in_memory(tx, table, slot, writer, row)? {
            Put::Done(number) => {
                writer.keys.name_row(number, &mut writer.key);
                Ok(None)
            }
            Put::Duplicate(index) => Ok(Some(index)),
        }
    }

    /// Puts a row.
    #[inline]
    fn put_row_in_memory(
        &self,
        tx: &mut Transaction,
        table: &Table,
        slot: &TableSlot,
        writer: &mut TableWriter,
        row: &[Value],
    ) -> Result<Put, Blocked> {
        self.memory_keys(table, row, &mut writer.keys)?;
        writer.encode_new(table, row).map_err(|error| self.row_error(tx, table, error))?;
        let TableWriter { keys, fingers, rest, .. } = writer;
        self.put_in_memory(tx, table, slot, (keys, rest), fingers)
    }

    /// The same by its keys and its bytes.
    #[inline]
    fn put_in_memory(
        &self,
        tx: &mut Transaction,
        table: &Table,
        slot: &TableSlot,
        (keys, body): (&Keys, &[u8]),
        fingers: &mut Fingers,
    ) -> Result<Put, Blocked> {
        self.grow_in_memory(tx, slot, body.len(), |rows| rows.spare_for_rows(keys, body.len()))?;
        let guard = pikepole_memory::pin();
        let rows = rows_at(slot, &guard)?;
        let memory = self.memory_of(tx);
        let before = memory.mark();
        // Their room is the statement's.
        fingers.fit(rows);
        match memory::for_others(|| memory.insert(rows, keys, body, fingers, &guard)) {
            Ok(number) => Ok(Put::Done(number)),
            Err(refusal) => {
                memory.rollback_to(before);
                refused(table, refusal).map(Put::Duplicate)
            }
        }
    }

    /// Reads the row at `locator` as it is now into `writer.rest`. False: it is gone.
    pub(super) fn read_current_in_memory(
        &self,
        tx: &mut Transaction,
        table: &Table,
        slot: &TableSlot,
        writer: &mut TableWriter,
        locator: &Locator,
    ) -> Result<bool, Blocked> {
        self.lock_to_change_in_memory(tx, table)?;
        let guard = pikepole_memory::pin();
        let rows = rows_at(slot, &guard)?;
        let read = self.memory_of(tx).read_current(rows, &locator.0, &mut writer.rest);
        read.map_err(|refusal| conflict(table, refusal))
    }

    /// Gives the row at `locator` the values `row`. One that gets another unique key ends here, and is put in its place when the
    /// statement's last row has been changed. False: it is gone.
    pub(super) fn update_in_memory(
        &self,
        tx: &mut Transaction,
        table: &Table,
        slot: &TableSlot,
        writer: &mut TableWriter,
        locator: &Locator,
        row: &[Value],
    ) -> Result<bool, Blocked> {
        self.lock_to_change_in_memory(tx, table)?;
        let TableWriter { keys, rest, key, old, old_key, moved, .. } = writer;
        self.memory_keys(table, row, keys)?;
        rest.clear();
        table.layout.encode_rest(|i| &row[i], rest).map_err(|error| self.row_error(tx, table, error))?;
        let guard = pikepole_memory::pin();
        let rows = rows_at(slot, &guard)?;
        for (at, index) in table.secondary.iter().enumerate().filter(|(_, index)| index.unique) {
            old_key.clear();
            index.layout.encode_key(|i| &old[i], old_key).map_err(|error| self.row_error(tx, table, error))?;
            if old_key != keys.get(at) {
                let ended = self.end_in_memory(tx, rows, locator);
                let is_there = ended.map_err(|refusal| conflict(table, refusal))?;
                if is_there {
                    moved.keep_row(keys.get(0), rest);
                }
                return Ok(is_there);
            }
        }
        self.grow_in_memory(tx, slot, rest.len(), |rows| rows.spare_for_versions(rest.len()))?;
        let memory = self.memory_of(tx);
        let before = memory.mark();
        let updated = memory::for_others(|| memory.update(rows, &locator.0, keys, rest, key));
        if updated.is_err() {
            memory.rollback_to(before);
        }
        updated.map_err(|refusal| conflict(table, refusal))
    }

    /// Deletes the row at `locator`. False: it is gone.
    pub(super) fn delete_in_memory(
        &self,
        tx: &mut Transaction,
        table: &Table,
        slot: &TableSlot,
        locator: &Locator,
    ) -> Result<bool, Blocked> {
        self.lock_to_change_in_memory(tx, table)?;
        let guard = pikepole_memory::pin();
        self.end_in_memory(tx, rows_at(slot, &guard)?, locator).map_err(|refusal| conflict(table, refusal))
    }

    fn end_in_memory(&self, tx: &mut Transaction, rows: &Arc<MemoryTable>, locator: &Locator) -> Result<bool, Refusal> {
        let memory = self.memory_of(tx);
        memory::for_others(|| memory.delete(rows, &locator.0))
    }

    /// Puts a row that has got another unique key in its place.
    pub(super) fn place_moved_in_memory(
        &self,
        tx: &mut Transaction,
        table: &Table,
        slot: &TableSlot,
        body: &[u8],
    ) -> Result<(), Blocked> {
        let mut row = vec![Value::Null; table.columns.len()];
        table.layout.decode_all(&[], body, &mut row).map_err(|error| self.row_error(tx, table, error))?;
        let mut keys = Keys::default();
        self.memory_keys(table, &row, &mut keys)?;
        match self.put_in_memory(tx, table, slot, (&keys, body), &mut Fingers::default())? {
            Put::Done(_) => Ok(()),
            Put::Duplicate(index) => Err(self.duplicate(table, index, &row).into()),
        }
    }

    /// Looks for a row with given values, for foreign keys: a row that is there must be there still when the transaction commits, and
    /// where none is, none may have come by then.
    pub(super) fn find_in_memory(
        &self,
        tx: &mut Transaction,
        table: &Table,
        slot: &TableSlot,
        range: &ScanRange,
        mut is_wanted: impl FnMut(&[u8]) -> Result<bool, Blocked>,
    ) -> Result<bool, Blocked> {
        self.lock_in_memory(tx, table)?;
        let at = range.index.and_then(|id| table.index_of(id)).map(|(at, _)| at);
        let at = at.and_then(|at| table.secondary.iter().position(|index| index.at == at)).unwrap_or(0);
        let keys = self.memory_range(table, at, range)?;
        let memory = self.memory_of(tx);
        let mut scan = MemoryScan::default();
        scan.restart(at, keys.clone(), false);
        scan.see_all_own();
        loop {
            let guard = pikepole_memory::pin();
            let rows = rows_at(slot, &guard)?;
            if !memory.scan(&mut scan, rows, Level::Snapshot) {
                memory.promise_none(rows, at, keys);
                return Ok(false);
            }
            while scan.next_row() {
                let (name, body) = scan.row();
                if is_wanted(body)? {
                    memory.promise_row(rows, name);
                    return Ok(true);
                }
            }
        }
    }
}

/// The promises of a level.
fn level_of(level: MemoryLevel) -> Level {
    match level {
        MemoryLevel::Snapshot => Level::Snapshot,
        MemoryLevel::RepeatableRead => Level::RepeatableRead,
        MemoryLevel::Serializable => Level::Serializable,
    }
}

/// The rows of a table whose definition is locked: where they are gone, a plan is older than DROP TABLE.
fn rows_at<'g>(slot: &TableSlot, guard: &'g Guard) -> Result<&'g Arc<MemoryTable>, Blocked> {
    slot.get(guard).ok_or(Blocked::Stale)
}

/// The index whose key is there.
fn refused(table: &Table, refusal: Refusal) -> Result<usize, Blocked> {
    match refusal {
        Refusal::Duplicate(at) => Ok(table.secondary[at].at),
        Refusal::Conflict => Err(SqlError::memory_write_conflict().into()),
    }
}

/// The error of a change that keeps its unique keys.
#[cold]
fn conflict(table: &Table, refusal: Refusal) -> Blocked {
    debug_assert_eq!(refusal, Refusal::Conflict, "unique keys of {} stay", table.name);
    SqlError::memory_write_conflict().into()
}
