//! Writing and reading rows with values that are elsewhere: what [`super::writer`] and [`super::scan`] do for tables that have such.
//!
//! ```text
//!   insert   parts, last one first --> row with pointers --> index entries
//!   update   parts of changed values --> row --> index entries --> parts of former values become ghosts
//!   delete   row --> index entries --> parts become ghosts
//! ```
//! Each part is a step that can stop for a need. [`LongWriter`] notes how far the present row has come; that counts as long as the
//! transaction is where it was left, in the same statement.

use pikepole_storage::{LogContext, Rid};
use pikepole_transaction::{Structure, TransactionId};
use pikepole_types::memory;
use pikepole_types::{Projection, RowError, RowLayout, SqlError, Value};

use super::Table;
use super::overflow::{LongReader, Overflow, PART_BYTES, Part, Pointer, Pointers, Unread, VALUE_BYTES_MAX, Walk};
use crate::database::Database;
use crate::error::Blocked;
use crate::transaction::{Mark, Transaction};

/// A value of a row being written.
struct NewValue {
    pointer: Pointer,
    /// Parts that are still to be written.
    left: u32,
    /// The part written last.
    behind: Option<Rid>,
}

/// What is known of the long values of the row that a writer is at.
#[derive(Default)]
pub(super) struct LongWriter {
    reader: LongReader,
    /// Of the row as it was read.
    former: Vec<Pointer>,
    /// Of the row being written.
    new: Vec<NewValue>,
    /// Where the transaction was before the first part, and is now.
    began_at: Option<Mark>,
    place: Option<(Mark, u64)>,
    /// The row was changed by somebody: the parts are being taken back.
    taking_back: bool,
    part: Vec<u8>,
    /// Of the former values, how many have ended, and the walk through the next one.
    ended: usize,
    ending: Option<Walk>,
}

impl LongWriter {
    /// The row read last had values elsewhere.
    pub fn had_values(&self) -> bool {
        !self.former.is_empty()
    }

    /// A row is read anew.
    pub fn forget_row(&mut self) {
        self.former.clear();
        self.forget_new();
    }

    /// Whether parts are being taken back; the row is not to be looked at before.
    pub fn is_taking_back(&self) -> bool {
        self.taking_back
    }

    /// What was written is no longer for the row that comes next.
    pub fn forget_new(&mut self) {
        self.new.clear();
        self.began_at = None;
        self.place = None;
        self.taking_back = false;
        self.ended = 0;
        self.ending = None;
    }

    /// The next part, if any is left.
    fn next_part(&mut self, layout: &RowLayout, row: &[Value]) -> Option<usize> {
        let at = self.new.iter().position(|value| value.left > 0)?;
        let NewValue { pointer, left, behind } = &self.new[at];
        let number = left - 1;
        let content = layout.content(pointer.column, &row[pointer.column]).unwrap_or_default();
        let from = number as usize * PART_BYTES;
        let bytes = &content[from..content.len().min(from + PART_BYTES)];
        Part { id: pointer.id, number, next: *behind, bytes }.encode(&mut self.part);
        Some(at)
    }

    /// Whether what is planned can be for this row.
    fn is_for(&self, layout: &RowLayout, row: &[Value]) -> bool {
        self.pointers().all(|pointer| {
            layout.content(pointer.column, &row[pointer.column]).is_some_and(|content| content.len() == pointer.bytes)
        })
    }

    fn part_written(&mut self, at: usize, rid: Rid) {
        let value = &mut self.new[at];
        value.left -= 1;
        value.behind = Some(rid);
        value.pointer.first = rid;
    }

    fn pointers(&self) -> impl ExactSizeIterator<Item = Pointer> + '_ {
        self.new.iter().map(|value| value.pointer)
    }
}

impl Database {
    /// Puts the rest bytes of a row into `rest`, once its long values are written. `former`: the row as it was, whose values
    /// stay where they are if they are the same. True: values are elsewhere.
    #[expect(clippy::too_many_arguments, reason = "a row, what it was, and where it goes")]
    pub(super) fn encode_row(
        &self,
        tx: &mut Transaction,
        table: &Table,
        overflow: &Overflow,
        long: &mut LongWriter,
        former: Option<&[Value]>,
        row: &[Value],
        key_bytes: usize,
        rest: &mut Vec<u8>,
    ) -> Result<bool, Blocked> {
        table.layout.check_row(|i| &row[i]).map_err(|error| self.row_error(tx, table, error))?;
        if overflow.surely_fits(&table.layout, key_bytes, row) {
            long.new.clear();
            table.layout.encode_rest(|i| &row[i], rest).map_err(|error| self.row_error(tx, table, error))?;
            return Ok(false);
        }
        if long.place != Some((tx.mark(), tx.statement())) || !long.is_for(&table.layout, row) {
            long.forget_new();
            let chosen =
                overflow.choose(&table.layout, key_bytes, row).map_err(|error| self.row_error(tx, table, error))?;
            for column in chosen {
                let content = table.layout.content(column, &row[column]).unwrap_or_default();
                let value = self.new_value(table, column, content.len())?;
                let kept = long.former.iter().find(|pointer| {
                    pointer.column == column && former.is_some_and(|former| former[column] == row[column])
                });
                long.new.push(match kept {
                    Some(pointer) => NewValue { pointer: *pointer, left: 0, behind: None },
                    None => value,
                });
            }
            long.began_at = Some(tx.mark());
            long.place = Some((tx.mark(), tx.statement()));
        }
        while let Some(at) = long.next_part(&table.layout, row) {
            let written = tx.inner.try_insert_part(&overflow.structure, &long.part);
            let rid = written.map_err(|stop| self.stop(tx, table, stop))?;
            long.part_written(at, rid);
            long.place = Some((tx.mark(), tx.statement()));
        }
        let elsewhere = |i: usize| long.new.iter().any(|value| value.pointer.column == i);
        let value = |i: usize| if elsewhere(i) { RowLayout::without_content(&row[i]) } else { &row[i] };
        table.layout.encode_rest(value, rest).map_err(|error| self.row_error(tx, table, error))?;
        Pointers::put(long.pointers(), rest);
        Ok(!long.new.is_empty())
    }

    fn new_value(&self, table: &Table, column: usize, bytes: usize) -> Result<NewValue, SqlError> {
        if bytes > VALUE_BYTES_MAX {
            return Err(SqlError::long_value_too_long(VALUE_BYTES_MAX));
        }
        let id = table.state.next_value_id(self.log().reserved().0);
        let pointer = Pointer { column, first: Rid::from_bytes([0; 6]), id, bytes };
        Ok(NewValue { left: pointer.parts(), pointer, behind: None })
    }

    /// Somebody has changed the row since it was read: what was written for its new version goes.
    pub(super) fn take_parts_back(
        &self,
        tx: &mut Transaction,
        table: &Table,
        long: &mut LongWriter,
    ) -> Result<(), Blocked> {
        if let Some(mark) = long.began_at.filter(|mark| *mark != tx.mark()) {
            long.taking_back = true;
            let undone = tx.inner.try_rollback_to(mark.of(tx.database_id));
            undone.map_err(|stop| self.stop(tx, table, stop))?;
        }
        long.forget_new();
        Ok(())
    }

    /// Ends the former values of the row, all or those that its new version does not have: their parts become ghosts.
    /// `moved_on` is called after each change.
    pub(super) fn end_former(
        &self,
        tx: &mut Transaction,
        table: &Table,
        overflow: &Overflow,
        long: &mut LongWriter,
        keep: bool,
        mut moved_on: impl FnMut(&Transaction),
    ) -> Result<(), Blocked> {
        while let Some(pointer) = long.former.get(long.ended) {
            if keep && long.new.iter().any(|value| value.pointer.id == pointer.id) {
                long.ended += 1;
                continue;
            }
            let walk = long.ending.get_or_insert_with(|| Walk::new(*pointer));
            let Some(at) = walk.next else {
                long.ending = None;
                long.ended += 1;
                continue;
            };
            // The row's own lock guards its parts: nobody else changes them.
            let mut next = walk.clone();
            let header = next.step(&overflow.structure, |header, _| header);
            let header = header.map_err(|unread| self.stop(tx, table, unread.damage().into()))?;
            if let Some(header) = header.filter(|header| !header.is_ghost()) {
                let ended = tx.inner.try_delete_part(&overflow.structure, &at.to_bytes(), header);
                ended.map_err(|stop| self.stop(tx, table, stop))?;
                moved_on(tx);
            }
            long.ending = Some(next);
        }
        long.forget_row();
        Ok(())
    }

    /// Reads the row in `rest` whole: its former values are noted. False: the row has changed since its parts were looked for.
    pub(super) fn decode_former(
        &self,
        tx: &mut Transaction,
        table: &Table,
        overflow: &Overflow,
        long: &mut LongWriter,
        (key, rest): (&[u8], &[u8]),
        out: &mut [Value],
    ) -> Result<Result<(), Unread>, Blocked> {
        let corrupt = RowError::Corrupt { column: table.columns.len() };
        let (values, pointers) =
            Pointers::split(rest).ok_or(corrupt).map_err(|error| self.row_error(tx, table, error))?;
        long.forget_row();
        memory::ask(pointers.iter().map(|pointer| pointer.bytes).fold(0, usize::saturating_add))?;
        match long.reader.read(&overflow.structure, pointers.iter()) {
            Err(Unread::Stop(stop)) => return Err(self.stop(tx, table, stop.into())),
            Err(lost) => return Ok(Err(lost)),
            Ok(()) => {}
        }
        table.layout.decode_all(key, values, out).map_err(|error| self.row_error(tx, table, error))?;
        for pointer in pointers.iter() {
            let value = table
                .layout
                .value_of(pointer.column, long.reader.take(&pointer))
                .map_err(|error| self.row_error(tx, table, error))?;
            *out.get_mut(pointer.column).ok_or(corrupt).map_err(|error| self.row_error(tx, table, error))? = value;
        }
        long.former.extend(pointers.iter());
        long.reader.clear();
        Ok(Ok(()))
    }

    /// Judges what was read of a row that a view sees: of one whose writer has not committed, parts may be gone.
    pub(super) fn check_read(
        &self,
        tx: &mut Transaction,
        table: &Table,
        read: Result<(), Unread>,
        may_be_lost: bool,
    ) -> Result<(), Blocked> {
        match read {
            Ok(()) => Ok(()),
            // The writer has taken it back.
            Err(Unread::Lost(..)) if may_be_lost => Err(SqlError::scan_lost_its_place().into()),
            Err(unread) => Err(self.stop(tx, table, unread.damage().into())),
        }
    }

    /// Decodes the wanted columns of a row; a part that is not where it should be is for the caller to judge.
    #[expect(clippy::too_many_arguments, reason = "a row, what is wanted of it, and where that goes")]
    pub(super) fn try_decode_wanted(
        &self,
        tx: &mut Transaction,
        table: &Table,
        overflow: &Overflow,
        reader: &mut LongReader,
        (key, rest): (&[u8], &[u8]),
        (projection, wanted): (&Projection, &[usize]),
        out: &mut [Value],
    ) -> Result<Result<(), Unread>, Blocked> {
        let corrupt = RowError::Corrupt { column: table.columns.len() };
        let (values, pointers) =
            Pointers::split(rest).ok_or(corrupt).map_err(|error| self.row_error(tx, table, error))?;
        if !pointers.is_empty() {
            let wanted = || pointers.iter().filter(|pointer| wanted.contains(&pointer.column));
            memory::ask(wanted().map(|pointer| pointer.bytes).fold(0, usize::saturating_add))?;
            match reader.read(&overflow.structure, wanted()) {
                Err(Unread::Stop(stop)) => return Err(self.stop(tx, table, stop.into())),
                Err(lost) => return Ok(Err(lost)),
                Ok(()) => {}
            }
        }
        table.layout.decode(key, values, projection, out).map_err(|error| self.row_error(tx, table, error))?;
        for pointer in pointers.iter() {
            let mut places = wanted.iter().enumerate().filter(|(_, column)| **column == pointer.column);
            let Some((first, _)) = places.next() else {
                continue;
            };
            out[first] = table
                .layout
                .value_of(pointer.column, reader.take(&pointer))
                .map_err(|error| self.row_error(tx, table, error))?;
            for (place, _) in places {
                let (low, high) = out.split_at_mut(place);
                high[0].clone_from(&low[first]);
            }
        }
        reader.clear();
        Ok(Ok(()))
    }

    /// Puts the rest bytes of a row of a new table into `rest`; long values are written as the system's changes.
    pub(crate) async fn copy_row(
        &self,
        tx: &mut Transaction,
        table: &Table,
        row: &[Value],
        key_bytes: usize,
        rest: &mut Vec<u8>,
    ) -> Result<(), SqlError> {
        let encoded = |error: RowError| self.place(tx, &table.full_name()).row(&error);
        let layout = &table.layout;
        layout.check_row(|i| &row[i]).map_err(encoded)?;
        let Some(overflow) = table.overflow.as_ref().filter(|own| !own.surely_fits(layout, key_bytes, row)) else {
            return layout.encode_rest(|i| &row[i], rest).map_err(encoded);
        };
        let chosen = overflow.choose(layout, key_bytes, row).map_err(encoded)?;
        let value = |i: usize| if chosen.contains(&i) { RowLayout::without_content(&row[i]) } else { &row[i] };
        layout.encode_rest(value, rest).map_err(encoded)?;
        let mut long = LongWriter::default();
        for column in chosen {
            let content = layout.content(column, &row[column]).unwrap_or_default();
            long.new.push(self.new_value(table, column, content.len())?);
        }
        let context = LogContext::new(TransactionId::SYSTEM.0);
        let Structure::Heap(heap) = &overflow.structure else {
            unreachable!("parts live in heaps");
        };
        while let Some(at) = long.next_part(layout, row) {
            let part = &long.part;
            let rid = self
                .run(tx, |tx| {
                    let alone = heap.is_alone(part.len());
                    let written = if alone { heap.insert_alone(&context, part) } else { heap.insert(&context, part) };
                    let stopped = |stop: pikepole_storage::Stop| self.stopped(tx, &table.full_name(), stop.into());
                    written.map(|(rid, _)| rid).map_err(stopped)
                })
                .await?;
            long.part_written(at, rid);
        }
        Pointers::put(long.pointers(), rest);
        Ok(())
    }
}
