//! A cursor that a client has opened: its rows, and the fetch buffer that moves over them.
//!
//! The rows are read with the query; those of a cursor over one table are read again when the buffer comes to them, and a dynamic one
//! finds its rows anew where it comes to an end of those that it knows.

use crate::cursor_writes::Told;
use crate::reply::Reply;
use pikepole_contention::WaitType;
use pikepole_scheduler as scheduler;
use pikepole_session::{ColumnInfo, CursorTarget, Done, DoneKind, Output, Session, cut_long_values};
use pikepole_types::{Length, SqlError, SqlType, Value, convert};
use std::ops::Range;

/// ROWSTAT of a row that is there, and of one that is not there any more.
pub(crate) const ROW_IS_THERE: Value = Value::Int(1);
const ROW_IS_MISSING: Value = Value::Int(2);

/// The bits of `scrollopt`.
pub(crate) const KEYSET: i32 = 1;
pub(crate) const DYNAMIC: i32 = 2;
pub(crate) const FORWARD_ONLY: i32 = 4;
pub(crate) const STATIC: i32 = 8;
pub(crate) const FAST_FORWARD: i32 = 16;
pub(crate) const PARAMETERIZED: i32 = 0x1000;
pub(crate) const AUTO_FETCH: i32 = 0x2000;
pub(crate) const AUTO_CLOSE: i32 = 0x4000;
/// The bits of `ccopt`.
pub(crate) const READ_ONLY: i32 = 1;
pub(crate) const SCROLL_LOCKS: i32 = 2;
pub(crate) const OPTIMISTIC: i32 = 4;
pub(crate) const OPTIMISTIC_VALUES: i32 = 8;
pub(crate) const ALLOW_DIRECT: i32 = 0x2000;
/// The kinds of fetches.
pub(crate) const FIRST: i32 = 1;
pub(crate) const NEXT: i32 = 2;
pub(crate) const PREVIOUS: i32 = 4;
pub(crate) const LAST: i32 = 8;
pub(crate) const ABSOLUTE: i32 = 0x10;
pub(crate) const RELATIVE: i32 = 0x20;
pub(crate) const REFRESH: i32 = 0x80;
pub(crate) const INFORMATION: i32 = 0x100;
pub(crate) const PREVIOUS_UNADJUSTED: i32 = 0x200;
/// A bit beside the kind: concurrency need not be looked at.
pub(crate) const WITHOUT_CONCURRENCY: i32 = 0x400;
/// Return statuses: the buffer would have begun before the first row and was put there; the cursor has closed itself.
pub(crate) const PUT_AT_FIRST: i32 = 2;
pub(crate) const CLOSED_ITSELF: i32 = 0x10;

/// The table whose rows a cursor shows as they are, and the name by which the session knows the cursor.
#[derive(Debug, Clone)]
pub(crate) struct Below {
    pub(crate) name: String,
    pub(crate) target: CursorTarget,
    /// What `ccopt` says of it.
    pub(crate) concurrency: i32,
}

/// An open cursor.
pub(crate) struct Cursor {
    pub(crate) columns: Vec<ColumnInfo>,
    /// Each with its ROWSTAT behind it.
    pub(crate) rows: Vec<Vec<Value>>,
    /// What it is, as `scrollopt` says it.
    pub(crate) kind: i32,
    pub(crate) closes_itself: bool,
    pub(crate) below: Option<Below>,
    /// The fetch buffer: its first row, counted from 1 (0: before the first), its rows, and how many the client has asked for.
    pub(crate) first: i64,
    pub(crate) count: i64,
    pub(crate) wanted: i64,
}

impl Cursor {
    pub(crate) fn is_forward_only(&self) -> bool {
        self.kind & (FORWARD_ONLY | FAST_FORWARD) != 0
    }

    /// Whether it shows which rows there are now. Those that write and only go forward do, as in SQL Server.
    fn is_dynamic(&self) -> bool {
        self.below.is_some() && self.kind & (DYNAMIC | FORWARD_ONLY) != 0
    }

    /// The table below, if rows can be changed through the cursor.
    pub(crate) fn writable(&self) -> Option<&Below> {
        self.below.as_ref().filter(|below| below.concurrency != READ_ONLY)
    }

    /// The number of rows, as clients are told it: of a cursor that only goes forward, or is dynamic, SQL Server does not know it.
    pub(crate) fn known_rows(&self) -> i32 {
        let is_unknown = self.is_forward_only() || self.is_dynamic();
        if is_unknown { -1 } else { i32::try_from(self.rows.len()).unwrap_or(i32::MAX) }
    }

    /// Where the fetch buffer begins, as clients are told: 0 before the first row, -1 behind the last, 1 at any of a dynamic cursor's.
    pub(crate) fn position(&self) -> i32 {
        let last = self.rows.len() as i64;
        match self.first.min(last) {
            _ if last > 0 && self.first > last => -1,
            first if self.kind == DYNAMIC => i32::from(first > 0),
            first => i32::try_from(first).unwrap_or(i32::MAX),
        }
    }

    /// Moves the fetch buffer; true when it would have begun before the first row and was put there. That is so where it would have had the
    /// first row; a buffer that lies before it altogether has no row, as in ODBC.
    pub(crate) fn move_buffer(&mut self, kind: i32, row: i64, count: i64) -> bool {
        let last = self.rows.len() as i64;
        let (mut first, mut count) = match kind {
            FIRST => (i64::from(count > 0), count),
            NEXT => ((self.first + self.count).max(1), count),
            PREVIOUS => (self.first - count, count),
            PREVIOUS_UNADJUSTED => {
                let first = (self.first - count).max(i64::from(self.first > 1));
                (first, self.first - first)
            }
            LAST if count == 0 => (last + 1, 0),
            LAST => ((last - count + 1).max(1), count),
            ABSOLUTE if row >= 0 => (row, count),
            ABSOLUTE => (last + 1 + row, count),
            RELATIVE => (self.first + row, count),
            _ => (self.first, self.wanted),
        };
        let back = match kind {
            PREVIOUS => count,
            ABSOLUTE | RELATIVE => -row,
            _ => 0,
        };
        // From the first row it goes before all of them, else a client that reads backwards would never come to an end.
        let leaves = back > count || self.first <= 1 && matches!(kind, PREVIOUS | RELATIVE);
        let is_put = last > 0 && back > 0 && first < 1 && !leaves;
        if is_put {
            first = 1;
        }
        self.wanted = count;
        first = first.clamp(0, last + 1);
        count = if first == 0 { 0 } else { count.clamp(0, last + 1 - first) };
        (self.first, self.count) = (first, count);
        is_put
    }

    /// What `ccopt` says of it.
    pub(crate) fn concurrency(&self) -> i32 {
        self.below.as_ref().map_or(READ_ONLY, |below| below.concurrency)
    }

    /// Moves the fetch buffer and reads its rows as they are now, if it can; what [`Cursor::move_buffer`] says.
    ///
    /// # Errors
    /// One that has been told to the client.
    pub(crate) async fn fetch(
        &mut self,
        (kind, row, count): (i32, i64, i64),
        session: &mut Session,
        reply: &mut Reply<'_>,
    ) -> Result<bool, SqlError> {
        self.add_written(session, reply).await?;
        if !self.is_dynamic() {
            let is_put = self.move_buffer(kind, row, count);
            self.read_again(self.buffer(), session, reply).await?;
            return Ok(is_put);
        }
        let before = (self.first, self.count);
        if self.knows(kind, count) {
            self.move_buffer(kind, row, count);
            if !self.read_again(self.buffer(), session, reply).await? {
                return Ok(false);
            }
            (self.first, self.count) = before;
        }
        self.refill(session, reply).await?;
        Ok(self.move_buffer(kind, row, count))
    }

    /// Whether a fetch of a dynamic cursor stays among the rows that it knows.
    fn knows(&self, kind: i32, count: i64) -> bool {
        let last = self.rows.len() as i64;
        match kind {
            // From its end it goes nowhere.
            NEXT => self.first > last || (self.first + self.count).max(1) + count <= last + 1,
            PREVIOUS | PREVIOUS_UNADJUSTED => count < self.first && self.first <= last,
            REFRESH => true,
            _ => false,
        }
    }

    /// Finds the rows of a dynamic cursor anew; the buffer is where its rows are now.
    async fn refill(&mut self, session: &mut Session, reply: &mut Reply<'_>) -> Result<(), SqlError> {
        let Some(below) = &self.below else { return Ok(()) };
        let is_behind = self.first > self.rows.len() as i64;
        let (rows, buffer) = session.refill_cursor(&below.name, self.buffer(), &mut Told::to(reply)).await?;
        self.rows = rows;
        self.rows.iter_mut().for_each(|row| row.push(ROW_IS_THERE));
        if is_behind {
            self.first = self.rows.len() as i64 + 1;
        } else if self.first > 0 {
            (self.first, self.count) = (buffer.start as i64 + 1, buffer.len() as i64);
        }
        Ok(())
    }

    /// Takes the rows that have been written through it and are behind all others.
    ///
    /// # Errors
    /// One that has been told to the client.
    pub(crate) async fn add_written(&mut self, session: &mut Session, reply: &mut Reply<'_>) -> Result<(), SqlError> {
        let Some(below) = &self.below else { return Ok(()) };
        let written = self.rows.len()..session.cursor_rows(&below.name);
        for _ in written.clone() {
            let mut row = vec![Value::Null; self.columns.len()];
            row.push(ROW_IS_THERE);
            self.rows.push(row);
        }
        if !written.is_empty() {
            self.read_again(written, session, reply).await?;
        }
        Ok(())
    }

    /// The row of this number in the fetch buffer, or, for 0, all of the buffer.
    ///
    /// # Errors
    /// 16930 for one that is not in it, 16931 for an empty buffer.
    pub(crate) fn rows_at(&self, number: i32) -> Result<Range<usize>, SqlError> {
        let buffer = self.buffer();
        if buffer.is_empty() {
            return Err(SqlError::cursor_has_no_row());
        }
        match usize::try_from(number) {
            Ok(0) => Ok(buffer),
            Ok(number) if number <= buffer.len() => Ok(buffer.start + number - 1..buffer.start + number),
            _ => Err(SqlError::cursor_row_not_in_buffer()),
        }
    }

    /// The row is not there any more.
    pub(crate) fn note_missing(&mut self, row: usize) {
        let missing = self.columns.iter().map(value_of_missing);
        self.rows[row] = missing.chain([ROW_IS_MISSING]).collect();
    }

    /// Reads rows again, as they are now, if they are those of a table. Whether one of them is gone.
    ///
    /// # Errors
    /// One that has been told to the client.
    pub(crate) async fn read_again(
        &mut self,
        rows: Range<usize>,
        session: &mut Session,
        reply: &mut Reply<'_>,
    ) -> Result<bool, SqlError> {
        let Some(below) = self.below.as_ref().filter(|_| !rows.is_empty()) else { return Ok(false) };
        let read = session.read_cursor_again(&below.name, rows.clone(), &mut Told::to(reply)).await?;
        let mut is_gone = false;
        for (row, mut values) in rows.zip(read) {
            if values.is_empty() {
                is_gone = true;
                self.note_missing(row);
            } else {
                values.push(ROW_IS_THERE);
                self.rows[row] = values;
            }
        }
        Ok(is_gone)
    }

    /// It stands on the first row of its buffer.
    pub(crate) fn stand(&self, session: &mut Session) {
        self.stand_on(Some(self.buffer().start).filter(|_| self.count > 0), session);
    }

    /// It stands on a row, or on none.
    pub(crate) fn stand_on(&self, row: Option<usize>, session: &mut Session) {
        if let Some(below) = &self.below {
            session.stand_on(&below.name, row);
        }
    }

    pub(crate) fn buffer(&self) -> Range<usize> {
        let begin = (self.first - 1).max(0) as usize;
        begin..begin + self.count as usize
    }

    pub(crate) fn send_columns(&self, columns_known: bool, session: &Session, reply: &mut Reply<'_>) {
        let target = self.below.as_ref().map(|below| &below.target);
        reply.text_size(session.text_size());
        reply.cursor_columns(&self.columns, target, columns_known);
    }

    /// Sends rows as a result set.
    pub(crate) async fn send(&self, rows: Range<usize>, columns_known: bool, session: &Session, reply: &mut Reply<'_>) {
        self.send_columns(columns_known, session, reply);
        let (count, bytes) = (rows.len() as u64, session.text_size());
        let mut cut = Vec::new();
        for row in &self.rows[rows] {
            if bytes == i32::MAX {
                reply.row(row);
            } else {
                cut.clone_from(row);
                cut_long_values(&mut cut, &self.columns, bytes);
                reply.row(&cut);
            }
            if reply.is_full() {
                let room = std::future::poll_fn(|context| reply.poll_room(context));
                scheduler::wait(WaitType::ASYNC_NETWORK_IO, room).await;
                if reply.is_given_up() {
                    return;
                }
            }
        }
        reply.done(Done { rows: Some(count), kind: DoneKind::Select });
    }

    /// Whether it has come to its end and is one that closes itself there.
    pub(crate) fn is_to_close(&self) -> bool {
        self.closes_itself && self.is_forward_only() && self.buffer().end == self.rows.len()
    }
}

/// What is sent for a column of a row that is missing: NULL, or else nothing of its type, in its whole length.
fn value_of_missing(column: &ColumnInfo) -> Value {
    let spaces = |count: u16| Value::Str(" ".repeat(count.into()));
    let converted = |value: Value, ty: SqlType| convert(&value, &ty, &column.ty, None).unwrap_or(Value::Null);
    if column.nullable {
        return Value::Null;
    }
    match column.ty {
        SqlType::Char(count) | SqlType::NChar(count) => spaces(count),
        SqlType::VarChar(Length::Limit(count)) | SqlType::NVarChar(Length::Limit(count)) => spaces(count),
        SqlType::VarChar(_) | SqlType::NVarChar(_) | SqlType::Text | SqlType::NText => Value::Str(String::new()),
        SqlType::Binary(count) | SqlType::VarBinary(Length::Limit(count)) => Value::Bin(vec![0; count.into()]),
        SqlType::VarBinary(_) | SqlType::Image => Value::Bin(Vec::new()),
        SqlType::Date | SqlType::Time(_) | SqlType::DateTime2(_) | SqlType::DateTimeOffset(_) => {
            converted(Value::from("0001-01-01"), SqlType::VarChar(Length::Limit(10)))
        }
        SqlType::UniqueIdentifier => {
            converted(Value::from("00000000-0000-0000-0000-000000000000"), SqlType::VarChar(Length::Limit(36)))
        }
        _ => converted(Value::Int(0), SqlType::Int),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cursor(rows: i32) -> Cursor {
        let rows = (1..=rows).map(|number| vec![Value::Int(number), ROW_IS_THERE]).collect();
        let (columns, kind) = (Vec::new(), STATIC);
        Cursor { columns, rows, kind, closes_itself: false, below: None, first: 0, count: 0, wanted: 0 }
    }

    #[test]
    fn the_buffer_moves_over_the_rows_and_stays_among_them() {
        let mut cursor = cursor(10);
        // The kind, its row and count; the rows of the buffer, and whether it was put at the first.
        let steps = [
            (NEXT, 0, 4, 0..4, false),
            (NEXT, 0, 4, 4..8, false),
            (NEXT, 0, 4, 8..10, false),
            (NEXT, 0, 4, 10..10, false),
            (NEXT, 0, 4, 10..10, false),
            (PREVIOUS, 0, 4, 6..10, false),
            (PREVIOUS, 0, 4, 2..6, false),
            (PREVIOUS, 0, 4, 0..4, true),
            (PREVIOUS, 0, 4, 0..0, false),
            (PREVIOUS, 0, 4, 0..0, false),
            (NEXT, 0, 4, 0..4, false),
            (RELATIVE, -4, 4, 0..0, false),
            (ABSOLUTE, 3, 4, 2..6, false),
            (PREVIOUS_UNADJUSTED, 0, 4, 0..2, false),
            (PREVIOUS_UNADJUSTED, 0, 4, 0..0, false),
            (NEXT, 0, 1, 0..1, false),
            (LAST, 0, 3, 7..10, false),
            (REFRESH, 0, 0, 7..10, false),
            (RELATIVE, -2, 2, 5..7, false),
            (RELATIVE, -9, 9, 0..9, true),
            (RELATIVE, 4, 3, 4..7, false),
            (RELATIVE, -9, 8, 0..0, false),
            (RELATIVE, -1, 8, 0..0, false),
            (RELATIVE, 10, 8, 9..10, false),
            (PREVIOUS, 0, 20, 0..10, true),
            (LAST, 0, 2, 8..10, false),
            (PREVIOUS, 0, 8, 0..8, false),
            (ABSOLUTE, -1, 5, 9..10, false),
            (ABSOLUTE, -11, 5, 0..0, false),
            (ABSOLUTE, -11, 11, 0..10, true),
            (REFRESH, 0, 0, 0..10, false),
            (ABSOLUTE, 11, 5, 10..10, false),
            (RELATIVE, -2, 5, 8..10, false),
            (LAST, 0, 0, 10..10, false),
            (PREVIOUS, 0, 1, 9..10, false),
            (FIRST, 0, 0, 0..0, false),
            (NEXT, 0, 2, 0..2, false),
            (ABSOLUTE, i64::from(i32::MIN), 1, 0..0, false),
        ];
        for (place, (kind, row, count, rows, is_put)) in steps.into_iter().enumerate() {
            assert_eq!(cursor.move_buffer(kind, row, count), is_put, "step {place}");
            assert_eq!(cursor.buffer(), rows, "step {place}");
        }
    }

    #[test]
    fn an_empty_result_has_no_rows_anywhere() {
        let mut cursor = cursor(0);
        for kind in [NEXT, LAST, PREVIOUS, FIRST, ABSOLUTE, RELATIVE, REFRESH, PREVIOUS_UNADJUSTED] {
            cursor.move_buffer(kind, -3, 7);
            assert!(cursor.buffer().is_empty(), "{kind}");
        }
    }
}
