//! What becomes of an open cursor's rows: rows that are written through it, and, of a dynamic one, rows that come and go.
//!
//! ```text
//!   KEYSET    a row inserted through the cursor, or given another key through it, is one more row at the end
//!   DYNAMIC   at an end of the rows that it knows, the query runs again, and the cursor goes on from where its row is now
//! ```

use std::collections::HashMap;
use std::ops::Range;

use super::Machine;
use super::declared_cursor::{OpenedRow, digest_of};
use super::statement::StatementState;
use crate::expression::Fault;
use crate::output::DoneKind;
use crate::plan::{Action, CurrentRow, Statement, VirtualSource};
use crate::program::{CursorKind, FetchTo};
use pikepole_engine::Table;
use pikepole_tsql::CursorName;
use pikepole_types::{SqlError, Value};

impl Machine<'_> {
    /// A statement has ended: the cursor that it went through learns of the row that it has written.
    #[inline]
    pub(super) fn tell_cursor(&mut self, plan: &Statement, state: &StatementState) {
        match (&plan.action, plan.virtual_sources.as_slice()) {
            (Action::Change(change), [VirtualSource::Current(current), ..]) if change.kind != DoneKind::Delete => {
                self.note_changed(current, state);
            }
            // What triggers insert is in frames above the client's own.
            (Action::Insert(insert), _) if self.context.inserts_through.is_some() && self.callers.is_empty() => {
                self.note_inserted(&insert.table.engine, state);
            }
            _ => {}
        }
    }

    /// The row that a cursor stands on has been updated through it: it is what it has become from now on.
    fn note_changed(&mut self, current: &CurrentRow, state: &StatementState) {
        if state.rows == 0 || state.firing.is_instead() {
            return;
        }
        let Ok(place) = self.cursor_place(&current.cursor) else { return };
        let cursor = &mut self.context.cursors.0[place];
        let is_keyset = cursor.kind() == CursorKind::Keyset;
        let Some(opened) = &mut cursor.opened else { return };
        let Some((at, below)) = opened.at.checked_sub(1).zip(opened.table.as_mut()) else { return };
        let Some(row) = below.rows.get_mut(at) else { return };
        let written = opened_row(&current.table, state.change.written());
        if is_keyset && row.place != written.place {
            below.rows.push(written);
            // It is read when it is fetched.
            opened.rows.push(Vec::new());
        } else {
            row.digest = written.digest;
        }
    }

    /// A row has been inserted through a client's cursor.
    fn note_inserted(&mut self, table: &Table, state: &StatementState) {
        if state.rows == 0 || state.firing.is_instead() {
            return;
        }
        let Some(name) = &self.context.inserts_through else { return };
        let Some(cursor) = self.context.cursors.named_mut(name) else { return };
        let is_keyset = cursor.kind() == CursorKind::Keyset;
        let Some(below) = cursor.opened.as_mut().and_then(|opened| opened.table.as_mut()) else { return };
        if is_keyset && below.check_table(table).is_ok() {
            below.rows.push(opened_row(table, state.modify.written()));
        }
    }

    /// Runs the query of a dynamic cursor again, whose rows are those that it finds now. The result is where the rows of `shown` are among
    /// them.
    ///
    /// # Errors
    /// 16917 for a cursor that is not open, 16943 for a table that has been altered, and what reading may bring.
    pub(super) async fn refill(&mut self, place: usize, shown: Range<usize>) -> Result<Range<usize>, Fault> {
        let found = self.read_cursor(place).await?;
        // Reading the rows has run other statements of nobody's: the cursor is where it was.
        let cursor = self.context.cursors.0.get_mut(place);
        let opened = cursor.and_then(|cursor| cursor.opened.as_mut()).ok_or_else(SqlError::cursor_not_open)?;
        let (Some(former), Some(table)) = (&opened.table, &found.table) else {
            return Err(Box::new(SqlError::cursor_table_changed()));
        };
        former.check_table(&table.below.table.engine)?;
        let shown = found_again(&former.rows, &table.rows, shown);
        (opened.rows, opened.table) = (found.rows, found.table);
        Ok(shown)
    }

    /// The row that FETCH wants, as the cursor shows it; without values: it is gone. None: it stands on no row. A dynamic cursor that comes to
    /// an end of its rows looks for others first.
    pub(super) async fn fetched_row(
        &mut self,
        name: &CursorName,
        place: usize,
        to: &FetchTo,
        count: i64,
    ) -> Result<Option<Vec<Value>>, Fault> {
        let backward = match to {
            FetchTo::Prior | FetchTo::Last => true,
            FetchTo::Relative(_) => count < 0,
            FetchTo::Next | FetchTo::First | FetchTo::Absolute(_) => false,
        };
        let mut has_looked = false;
        loop {
            let Some(cursor) = self.context.cursors.0.get_mut(place) else { return Ok(None) };
            let is_dynamic = cursor.kind() == CursorKind::Dynamic;
            let Some(opened) = &mut cursor.opened else { return Ok(None) };
            let (at, last) = (opened.at, opened.rows.len());
            // A client's cursor, whose rows are with the client's buffer, does not look; nor does one that has come to its end, and stays there.
            let is_own = opened.table.as_ref().is_some_and(|table| table.rows.len() == last);
            let looks = is_dynamic && is_own && !has_looked && !(at > last && matches!(to, FetchTo::Next));
            let wanted = wanted_row(to, count, at as i64, last as i64);
            let is_known = (1..=last as i64).contains(&wanted) && at <= last;
            if !looks || is_known && !matches!(to, FetchTo::First | FetchTo::Last) {
                opened.at = wanted.clamp(0, last as i64 + 1) as usize;
                let row = self.shown_row(name, place, backward).await?;
                if row.is_some() || !looks {
                    return Ok(row);
                }
            }
            has_looked = true;
            let shown = self.refill(place, at.saturating_sub(1)..at).await?;
            let cursor = self.context.cursors.0.get_mut(place);
            let Some(opened) = cursor.and_then(|cursor| cursor.opened.as_mut()) else { return Ok(None) };
            opened.at = match () {
                () if at > last => opened.rows.len() + 1,
                // A row that is gone is between those around it.
                () if backward && at > 0 && shown.is_empty() => shown.end + 1,
                () => shown.end,
            };
        }
    }
}

fn opened_row(table: &Table, (row, place): (&[Value], &[u8])) -> OpenedRow {
    OpenedRow { place: place.to_vec(), digest: digest_of(table, row) }
}

/// The row that FETCH wants, counted from one, of a cursor that stands at a row; it need not be there.
fn wanted_row(to: &FetchTo, count: i64, at: i64, last: i64) -> i64 {
    match to {
        FetchTo::Next => at + 1,
        FetchTo::Prior => at - 1,
        FetchTo::First => 1,
        FetchTo::Last => last,
        FetchTo::Absolute(_) if count < 0 => (last + 1).saturating_add(count),
        FetchTo::Absolute(_) => count,
        FetchTo::Relative(_) => at.saturating_add(count),
    }
}

/// Where some of a cursor's rows are among those that its query finds now. If all of them are gone, that is no row, between those around
/// them.
fn found_again(old: &[OpenedRow], new: &[OpenedRow], shown: Range<usize>) -> Range<usize> {
    let places: HashMap<&[u8], usize> = new.iter().enumerate().map(|(at, row)| (row.place.as_slice(), at)).collect();
    let now = |row: &OpenedRow| places.get(row.place.as_slice()).copied();
    let end = shown.end.min(old.len());
    let start = shown.start.min(end);
    let behind = old[..end].iter().rev().find_map(now).map_or(0, |at| at + 1);
    let first = old[start..end].iter().find_map(now).map_or(behind, |at| at.min(behind));
    first..behind
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(places: &str) -> Vec<OpenedRow> {
        places.bytes().map(|place| OpenedRow { place: vec![place], digest: 0 }).collect()
    }

    #[test]
    fn rows_are_found_again_or_those_around_them() {
        for (old, new, shown, found) in [
            ("abcd", "abcd", 1..3, 1..3),
            ("abcd", "xabycdz", 1..3, 2..5),
            ("abcd", "acd", 1..2, 1..1),
            ("abcd", "bcd", 0..1, 0..0),
            ("abcd", "ad", 1..3, 1..1),
            ("abcd", "", 1..3, 0..0),
            ("abcd", "abcdef", 4..4, 4..4),
            ("abcd", "abcdef", 4..5, 4..4),
            ("abcd", "abcd", 0..0, 0..0),
            ("ab", "ba", 0..2, 1..1),
        ] {
            assert_eq!(found_again(&rows(old), &rows(new), shown), found, "{old} {new}");
        }
    }
}
