//! Server-side cursors: sp_cursoropen and its kin, with which drivers scroll in a result or read it block by block.
//!
//! ```text
//!   sp_cursoropen   the query runs to its end, its rows are kept     handle, count
//!   sp_cursorfetch  the fetch buffer moves over the rows             the buffer's rows
//! ```
//!
//! A cursor is a copy of its rows as they were when it was opened. One that is asked for to write through, of a query whose rows are those of
//! one table, can read and change these (`cursor_writes`); its own changes show in it, others' when the buffer is refreshed. Who asks for more
//! is told so in `scrollopt` and `ccopt`. What is no single query runs without a cursor where the client allows that, as in SQL Server.

use crate::cursor_writes::{self, Told};
use crate::procedures::{Ran, arguments_from, compile, handle_at, optional_text_at, text_at};
use crate::reply::Reply;
use crate::requests::Prepareds;
use pikepole_contention::WaitType;
use pikepole_scheduler as scheduler;
use pikepole_session::{Argument, ColumnInfo, CursorTarget, Done, DoneKind, Output, Prepared, Session, cursor_query};
use pikepole_tds::{Argument as Given, Parameter as GivenParameter, SystemProcedure};
use pikepole_types::{SqlError, Value};
use std::collections::HashMap;
use std::ops::Range;
use std::task::{Context, Poll};

/// Cursors that a connection may have open at a time.
const CURSORS_MAX: usize = 4 * 1024;
/// Handles begin here, apart from those of prepared statements, and go on in steps of two.
const HANDLE_FIRST: i32 = 180_150_003;
/// Rows of a fetch buffer for a client that names no number.
const ROWS_DEFAULT: i32 = 20;
/// ROWSTAT of a row that is there, and of one that is not there any more.
const ROW_IS_THERE: Value = Value::Int(1);
const ROW_IS_MISSING: Value = Value::Int(2);

/// The bits of `scrollopt`.
const KEYSET: i32 = 1;
const FORWARD_ONLY: i32 = 4;
const STATIC: i32 = 8;
const FAST_FORWARD: i32 = 16;
const PARAMETERIZED: i32 = 0x1000;
const AUTO_FETCH: i32 = 0x2000;
const AUTO_CLOSE: i32 = 0x4000;
/// The bits of `ccopt`.
const READ_ONLY: i32 = 1;
const SCROLL_LOCKS: i32 = 2;
const OPTIMISTIC: i32 = 4;
const OPTIMISTIC_VALUES: i32 = 8;
const ALLOW_DIRECT: i32 = 0x2000;
/// The kinds of fetches.
const FIRST: i32 = 1;
const NEXT: i32 = 2;
const PREVIOUS: i32 = 4;
const LAST: i32 = 8;
const ABSOLUTE: i32 = 0x10;
const RELATIVE: i32 = 0x20;
const REFRESH: i32 = 0x80;
const INFORMATION: i32 = 0x100;
const PREVIOUS_UNADJUSTED: i32 = 0x200;
/// A bit beside the kind: concurrency need not be looked at.
const WITHOUT_CONCURRENCY: i32 = 0x400;
/// Return statuses: the buffer would have begun before the first row and was put there; the cursor has closed itself.
const PUT_AT_FIRST: i32 = 2;
const CLOSED_ITSELF: i32 = 0x10;

/// The table that a cursor writes to, and the name by which the session knows the cursor.
#[derive(Debug, Clone)]
pub(crate) struct Writable {
    pub(crate) name: String,
    pub(crate) target: CursorTarget,
}

/// An open cursor.
pub(crate) struct Cursor {
    columns: Vec<ColumnInfo>,
    /// Each with its ROWSTAT behind it.
    rows: Vec<Vec<Value>>,
    /// What it is, as `scrollopt` says it.
    kind: i32,
    closes_itself: bool,
    pub(crate) writable: Option<Writable>,
    /// Texts can change its rows behind it, so what it gives is read again.
    has_name: bool,
    /// The fetch buffer: its first row, counted from 1 (0: before the first), and its rows.
    first: i64,
    count: i64,
}

impl Cursor {
    fn is_forward_only(&self) -> bool {
        self.kind & (FORWARD_ONLY | FAST_FORWARD) != 0
    }

    /// The number of rows, as clients are told it: of a cursor that only goes forward SQL Server does not know it.
    fn known_rows(&self) -> i32 {
        if self.is_forward_only() { -1 } else { i32::try_from(self.rows.len()).unwrap_or(i32::MAX) }
    }

    /// Where the fetch buffer begins, as clients are told: 0 before the first row, -1 behind the last.
    fn position(&self) -> i32 {
        let last = self.rows.len() as i64;
        if last > 0 && self.first > last { -1 } else { i32::try_from(self.first.min(last)).unwrap_or(i32::MAX) }
    }

    /// Moves the fetch buffer; true when it would have begun before the first row and was put there.
    fn move_buffer(&mut self, kind: i32, row: i64, count: i64) -> bool {
        let last = self.rows.len() as i64;
        let (mut first, mut count) = match kind {
            FIRST => (i64::from(count > 0), count),
            NEXT => ((self.first + self.count).max(1), count),
            PREVIOUS if self.first > 1 => ((self.first - count).max(1), count),
            PREVIOUS => (0, count),
            PREVIOUS_UNADJUSTED => {
                let first = (self.first - count).max(i64::from(self.first > 1));
                (first, self.first - first)
            }
            LAST if count == 0 => (last + 1, 0),
            LAST => ((last - count + 1).max(1), count),
            ABSOLUTE if row >= 0 => (row, count),
            ABSOLUTE => (last + 1 + row, count),
            RELATIVE => (self.first + row, count),
            _ => (self.first, self.count),
        };
        // From the first row it goes before all of them, else a client that reads backwards would never come to an end.
        let leaves = self.first <= 1 && (kind == PREVIOUS || kind == RELATIVE && row < 0);
        let goes_back = kind == PREVIOUS || (row < 0 && matches!(kind, ABSOLUTE | RELATIVE));
        let is_put = goes_back && !leaves && first < 1;
        if is_put {
            first = 1;
        }
        first = first.clamp(0, last + 1);
        count = if first == 0 { 0 } else { count.clamp(0, last + 1 - first) };
        (self.first, self.count) = (first, count);
        is_put
    }

    /// What `ccopt` says of it.
    fn concurrency(&self) -> i32 {
        if self.writable.is_some() { OPTIMISTIC_VALUES } else { READ_ONLY }
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

    /// The row is not there any more; what it was last is still shown.
    pub(crate) fn note_missing(&mut self, row: usize) {
        if let Some(status) = self.rows[row].last_mut() {
            *status = ROW_IS_MISSING;
        }
    }

    /// Reads rows again, as they are now, if it can write to them.
    ///
    /// # Errors
    /// One that has been told to the client.
    pub(crate) async fn read_again(
        &mut self,
        rows: Range<usize>,
        session: &mut Session,
        reply: &mut Reply<'_>,
    ) -> Result<(), SqlError> {
        let Some(writable) = &self.writable else { return Ok(()) };
        let read = session.read_cursor_again(&writable.name, rows.clone(), &mut Told::to(reply)).await?;
        for (row, mut values) in rows.zip(read) {
            if values.is_empty() {
                self.note_missing(row);
            } else {
                values.push(ROW_IS_THERE);
                self.rows[row] = values;
            }
        }
        Ok(())
    }

    /// It stands on the first row of its buffer.
    fn stand(&self, session: &mut Session) {
        if let Some(writable) = &self.writable {
            session.stand_on(&writable.name, Some(self.buffer().start).filter(|_| self.count > 0));
        }
    }

    fn buffer(&self) -> Range<usize> {
        let begin = (self.first - 1).max(0) as usize;
        begin..begin + self.count as usize
    }

    fn send_columns(&self, columns_known: bool, reply: &mut Reply<'_>) {
        let target = self.writable.as_ref().map(|writable| &writable.target);
        reply.cursor_columns(&self.columns, target, columns_known);
    }

    /// Sends rows as a result set.
    pub(crate) async fn send(&self, rows: Range<usize>, columns_known: bool, reply: &mut Reply<'_>) {
        self.send_columns(columns_known, reply);
        let count = rows.len() as u64;
        for row in &self.rows[rows] {
            reply.row(row);
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
    fn is_to_close(&self) -> bool {
        self.closes_itself && self.is_forward_only() && self.buffer().end == self.rows.len()
    }
}

/// A connection's open cursors.
#[derive(Default)]
pub(crate) struct Cursors {
    open: HashMap<i32, Cursor>,
    /// How many there have been.
    opened: i32,
}

impl Cursors {
    pub(crate) fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// The handle of the cursor that is opened next.
    fn next_handle(&mut self) -> Result<i32, SqlError> {
        if self.open.len() >= CURSORS_MAX {
            let text = format!("A connection cannot have more than {CURSORS_MAX} open cursors.");
            return Err(SqlError::new(701, 17, 123, text));
        }
        loop {
            let handle = HANDLE_FIRST.wrapping_add(self.opened.wrapping_mul(2));
            self.opened = self.opened.wrapping_add(1);
            if handle > 0 && !self.open.contains_key(&handle) {
                return Ok(handle);
            }
        }
    }

    /// Closes a cursor that is open.
    fn close(&mut self, handle: i32, session: &mut Session) {
        if let Some(Cursor { writable: Some(writable), .. }) = self.open.remove(&handle) {
            session.drop_cursor(&writable.name);
        }
    }

    pub(crate) fn get(&mut self, handle: i32, procedure: &str) -> Result<&mut Cursor, SqlError> {
        self.open.get_mut(&handle).ok_or_else(|| SqlError::cursor_handle_unknown(procedure, format!("{handle:x}")))
    }
}

/// What a client wants of a cursor.
struct Wish {
    scroll: i32,
    concurrency: i32,
    rows: i32,
}

impl Wish {
    /// The parameters scrollopt, ccopt and rowcount, from a place on.
    fn read(given: &[GivenParameter<'_>], place: usize, procedure: &str) -> Result<Wish, SqlError> {
        Ok(Wish {
            scroll: int_at(given, place, procedure, "scrollopt")?.unwrap_or(KEYSET),
            concurrency: int_at(given, place + 1, procedure, "ccopt")?.unwrap_or(READ_ONLY),
            rows: int_at(given, place + 2, procedure, "rowcount")?.unwrap_or(ROWS_DEFAULT),
        })
    }

    /// The query of a text, which may say behind it what the cursor is for.
    fn query(&mut self, text: &str) -> String {
        let (query, reads_only) = cursor_query(text);
        if reads_only {
            self.concurrency = READ_ONLY | (self.concurrency & ALLOW_DIRECT);
        }
        query.to_string()
    }

    /// Whether rows are to be changed through it.
    fn writes(&self) -> bool {
        self.concurrency & (SCROLL_LOCKS | OPTIMISTIC | OPTIMISTIC_VALUES) != 0
            && self.scroll & (STATIC | FAST_FORWARD) == 0
    }

    /// The kind of cursor that it gets, where that can read its rows again and where it cannot.
    fn kind(&self, rereads: bool) -> i32 {
        match self.scroll & (FORWARD_ONLY | FAST_FORWARD) {
            0 if rereads => KEYSET,
            0 => STATIC,
            kind => kind,
        }
    }
}

/// A cursor that was opened; none for a text that ran without one or failed.
#[derive(Default)]
struct Opened {
    handle: i32,
    kind: i32,
    concurrency: i32,
    rows: i32,
    status: Option<i32>,
}

impl Opened {
    /// What the call returns: the handle and, where the client wants them, scrollopt, ccopt and rowcount from a place on.
    fn returned(&self, given: &[GivenParameter<'_>], handle: usize, wish: usize) -> Vec<(usize, i32)> {
        if self.status.is_none() {
            return Vec::new();
        }
        let values = [(wish, self.kind), (wish + 1, self.concurrency), (wish + 2, self.rows)];
        let wanted = |(place, _): &(usize, i32)| given.get(*place).is_some_and(|parameter| parameter.by_reference);
        std::iter::once((handle, self.handle)).chain(values.into_iter().filter(wanted)).collect()
    }
}

/// What a call works with.
pub(crate) struct Around<'a, 'r> {
    pub(crate) session: &'a mut Session,
    pub(crate) prepared: &'a mut Prepareds,
    pub(crate) cursors: &'a mut Cursors,
    pub(crate) reply: &'a mut Reply<'r>,
    /// The client knows the columns of what it fetches.
    pub(crate) columns_known: bool,
}

/// Calls a procedure of cursors.
pub(crate) async fn call(
    procedure: SystemProcedure,
    given: &[GivenParameter<'_>],
    around: Around<'_, '_>,
    arguments: &mut Vec<Argument>,
) -> Result<Ran, SqlError> {
    let name = procedure.name();
    let Around { session, prepared, cursors, reply, columns_known } = around;
    match procedure {
        SystemProcedure::CursorOpen => {
            let mut wish = Wish::read(given, 2, name)?;
            let (declarations, first) = match wish.scroll & PARAMETERIZED {
                0 => ("", 5),
                _ => (optional_text_at(given, 5, name)?, 6),
            };
            let query = wish.query(text_at(given, 1, name)?);
            let mut text = Prepared::new(query, declarations.to_string());
            *arguments = arguments_from(given, first)?;
            let opened = open(&mut text, &wish, arguments, session, cursors, reply).await?;
            Ok(Ran { own: opened.returned(given, 0, 2), status: opened.status, first, result: None })
        }
        SystemProcedure::CursorPrepare => {
            let (declarations, text) = (optional_text_at(given, 1, name)?, text_at(given, 2, name)?);
            let mut text = Prepared::new(cursor_query(text).0.to_string(), declarations.to_string());
            compile(&mut text, session, reply)?;
            Ok(Ran { own: vec![(0, prepared.add(text, session)?)], status: Some(0), first: given.len(), result: None })
        }
        SystemProcedure::CursorPrepExec => {
            let (declarations, text) = (optional_text_at(given, 2, name)?, text_at(given, 3, name)?);
            let (mut wish, first) = (Wish::read(given, 4, name)?, 7);
            let mut text = Prepared::new(wish.query(text), declarations.to_string());
            *arguments = arguments_from(given, first)?;
            compile(&mut text, session, reply)?;
            let opened = open(&mut text, &wish, arguments, session, cursors, reply).await?;
            let mut own = vec![(0, prepared.add(text, session)?)];
            own.extend(opened.returned(given, 1, 4));
            Ok(Ran { own, status: opened.status, first, result: None })
        }
        SystemProcedure::CursorExecute => {
            let (wish, first) = (Wish::read(given, 2, name)?, 5);
            *arguments = arguments_from(given, first)?;
            let text = prepared.get(handle_at(given, name)?, session)?;
            let opened = open(text, &wish, arguments, session, cursors, reply).await?;
            Ok(Ran { own: opened.returned(given, 1, 2), status: opened.status, first, result: None })
        }
        SystemProcedure::CursorUnprepare => {
            prepared.remove(handle_at(given, name)?, session)?;
            Ok(Ran::without_values(given))
        }
        SystemProcedure::CursorFetch => fetch(given, columns_known, session, cursors, reply).await,
        SystemProcedure::CursorClose => {
            let handle = handle_at(given, name)?;
            cursors.get(handle, name)?;
            cursors.close(handle, session);
            Ok(Ran::without_values(given))
        }
        SystemProcedure::CursorOption => option(given, session, cursors),
        _ => cursor_writes::write(given, session, cursors, reply).await,
    }
}

/// Runs a query and keeps its rows.
async fn open(
    text: &mut Prepared,
    wish: &Wish,
    arguments: &mut [Argument],
    session: &mut Session,
    cursors: &mut Cursors,
    reply: &mut Reply<'_>,
) -> Result<Opened, SqlError> {
    let is_query = session.is_one_query(text).map_err(|errors| {
        errors.iter().for_each(|error| reply.error(error));
        SqlError::cursor_not_declared()
    })?;
    if !is_query {
        if wish.concurrency & ALLOW_DIRECT == 0 {
            return Err(SqlError::cursor_not_possible());
        }
        reply.message(&SqlError::executing_directly());
        let status = session.call(text, arguments, reply).await.ok();
        return Ok(Opened { status, ..Opened::default() });
    }
    let handle = cursors.next_handle()?;
    let Ok((mut cursor, status)) = open_rows(text, wish, handle, arguments, session, reply).await else {
        return Ok(Opened::default());
    };
    let (kind, concurrency, rows) = (cursor.kind, cursor.concurrency(), cursor.known_rows());
    let mut opened = Opened { handle: 0, kind, concurrency, rows, status: Some(status) };
    if wish.scroll & AUTO_FETCH != 0 {
        cursor.move_buffer(FIRST, 0, wish.rows.into());
        cursor.stand(session);
        cursor.send(cursor.buffer(), false, reply).await;
        opened.rows = cursor.count as i32;
        if cursor.is_to_close() {
            opened.status = Some(CLOSED_ITSELF);
        }
    } else {
        cursor.send_columns(false, reply);
        reply.done(Done { rows: None, kind: DoneKind::Select });
    }
    cursors.open.insert(handle, cursor);
    if opened.status == Some(CLOSED_ITSELF) {
        cursors.close(handle, session);
    } else {
        opened.handle = handle;
    }
    Ok(opened)
}

/// Reads the rows of a query into a cursor, which can write to them if that is wanted and possible; and the text's return status.
///
/// # Errors
/// One that has been told to the client.
async fn open_rows(
    text: &mut Prepared,
    wish: &Wish,
    handle: i32,
    arguments: &mut [Argument],
    session: &mut Session,
    reply: &mut Reply<'_>,
) -> Result<(Cursor, i32), SqlError> {
    let (columns, rows, target, status) = if wish.writes() {
        let opened = session.open_cursor(&session_name(handle), text, arguments, &mut Told::to(reply)).await?;
        let mut rows = opened.rows;
        rows.iter_mut().for_each(|row| row.push(ROW_IS_THERE));
        (opened.columns, rows, opened.table, opened.status)
    } else {
        let mut kept = Kept { reply, columns: Vec::new(), rows: Vec::new() };
        let status = session.call(text, arguments, &mut kept).await?;
        (kept.columns, kept.rows, None, status)
    };
    let kind = wish.kind(target.is_some());
    let writable = target.map(|target| Writable { name: session_name(handle), target });
    let closes_itself = wish.scroll & AUTO_CLOSE != 0;
    let has_name = false;
    Ok((Cursor { columns, rows, kind, closes_itself, writable, has_name, first: 0, count: 0 }, status))
}

/// The name of a cursor in its session, where no text's cursor is called so by accident.
fn session_name(handle: i32) -> String {
    format!("sp_cursoropen {handle}")
}

/// sp_cursorfetch.
async fn fetch(
    given: &[GivenParameter<'_>],
    columns_known: bool,
    session: &mut Session,
    cursors: &mut Cursors,
    reply: &mut Reply<'_>,
) -> Result<Ran, SqlError> {
    const NAME: &str = "sp_cursorfetch";
    let handle = handle_at(given, NAME)?;
    let cursor = cursors.get(handle, NAME)?;
    let kind = int_at(given, 1, NAME, "fetchtype")?.unwrap_or(NEXT) & !WITHOUT_CONCURRENCY;
    let (row, count) = (int_at(given, 2, NAME, "rownum")?, int_at(given, 3, NAME, "nrows")?);
    let mut ran = Ran::without_values(given);
    if kind == INFORMATION {
        let values = [(2, cursor.position()), (3, cursor.known_rows())];
        ran.own.extend(values.iter().filter(|(place, _)| given.get(*place).is_some_and(|one| one.by_reference)));
        return Ok(ran);
    }
    let Some(word) = fetch_word(kind) else {
        return Err(SqlError::cursor_parameter_invalid(NAME, "fetchtype"));
    };
    let count = count.unwrap_or(ROWS_DEFAULT);
    if count < 0 {
        return Err(SqlError::cursor_parameter_invalid(NAME, "nrows"));
    }
    if cursor.is_forward_only() && !matches!(kind, FIRST | NEXT | REFRESH) {
        return Err(SqlError::fetch_needs_scroll(NAME, word));
    }
    if cursor.move_buffer(kind, row.unwrap_or(0).into(), count.into()) {
        ran.status = Some(PUT_AT_FIRST);
    }
    let reads_again = kind == REFRESH || cursor.has_name;
    if reads_again && cursor.read_again(cursor.buffer(), session, reply).await.is_err() {
        return Ok(Ran { status: None, ..ran });
    }
    cursor.stand(session);
    cursor.send(cursor.buffer(), columns_known, reply).await;
    if cursor.is_to_close() {
        cursors.close(handle, session);
        ran.status = Some(CLOSED_ITSELF);
    }
    Ok(ran)
}

/// What error 16911 calls a kind of fetch; none for what is no kind.
fn fetch_word(kind: i32) -> Option<&'static str> {
    Some(match kind {
        FIRST => "first",
        NEXT => "next",
        PREVIOUS | PREVIOUS_UNADJUSTED => "previous",
        LAST => "last",
        ABSOLUTE => "absolute",
        RELATIVE => "relative",
        REFRESH => "refresh",
        _ => return None,
    })
}

/// sp_cursoroption: what a cursor is can be asked for; that long values come whole is so anyway; a name is for WHERE CURRENT OF in texts,
/// which find no cursor by it that only reads (error 16916).
fn option(given: &[GivenParameter<'_>], session: &mut Session, cursors: &mut Cursors) -> Result<Ran, SqlError> {
    const NAME: &str = "sp_cursoroption";
    /// Whether a column's long values come as pointers or as themselves: they come as themselves, which drivers take for both.
    const POINTERS_ONLY: i32 = 1;
    const LONG_VALUES: i32 = 3;
    const CURSOR_NAME: i32 = 2;
    let cursor = cursors.get(handle_at(given, NAME)?, NAME)?;
    let mut ran = Ran::without_values(given);
    ran.own = match int_at(given, 1, NAME, "code")? {
        Some(POINTERS_ONLY | LONG_VALUES) => Vec::new(),
        Some(CURSOR_NAME) => {
            let name = text_at(given, 2, NAME)?;
            if let Some(writable) = &cursor.writable {
                session.name_cursor(&writable.name, name)?;
                cursor.has_name = true;
            }
            Vec::new()
        }
        Some(4) => vec![(2, cursor.kind)],
        Some(5) => vec![(2, cursor.concurrency())],
        Some(6) => vec![(2, cursor.known_rows())],
        _ => return Err(SqlError::cursor_parameter_invalid(NAME, "code")),
    };
    Ok(ran)
}

/// A number; none for NULL and for a parameter that is not there.
pub(crate) fn int_at(
    given: &[GivenParameter<'_>],
    place: usize,
    procedure: &str,
    parameter: &str,
) -> Result<Option<i32>, SqlError> {
    let value = match given.get(place).map(|one| &one.argument) {
        None | Some(Given::Scalar { value: Value::Null, .. }) => return Ok(None),
        Some(Given::Scalar { value, .. }) => value.as_i64(),
        Some(_) => None,
    };
    let number = value.and_then(|value| i32::try_from(value).ok());
    number.map(Some).ok_or_else(|| SqlError::cursor_parameter_invalid(procedure, parameter))
}

/// An output that keeps the rows; what else is said goes to the client.
struct Kept<'a, 'r> {
    reply: &'a mut Reply<'r>,
    columns: Vec<ColumnInfo>,
    rows: Vec<Vec<Value>>,
}

impl Output for Kept<'_, '_> {
    fn columns(&mut self, columns: &[ColumnInfo]) {
        self.columns = columns.to_vec();
    }

    fn row(&mut self, row: &[Value]) {
        let mut kept = Vec::with_capacity(row.len() + 1);
        kept.extend_from_slice(row);
        kept.push(ROW_IS_THERE);
        self.rows.push(kept);
    }

    fn done(&mut self, _: Done) {}

    fn message(&mut self, message: &SqlError) {
        self.reply.message(message);
    }

    fn error(&mut self, error: &SqlError) {
        self.reply.error(error);
    }

    fn failed(&mut self) {
        self.reply.failed();
    }

    fn is_full(&self) -> bool {
        self.reply.is_full()
    }

    fn poll_room(&mut self, context: &mut Context<'_>) -> Poll<()> {
        self.reply.poll_room(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cursor(rows: i32) -> Cursor {
        let rows = (1..=rows).map(|number| vec![Value::Int(number), ROW_IS_THERE]).collect();
        let (columns, writable) = (Vec::new(), None);
        Cursor { columns, rows, kind: STATIC, closes_itself: false, writable, has_name: false, first: 0, count: 0 }
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
            (PREVIOUS, 0, 4, 0..4, false),
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
            (RELATIVE, -9, 2, 0..2, true),
            (ABSOLUTE, -1, 5, 9..10, false),
            (ABSOLUTE, -11, 5, 0..5, true),
            (ABSOLUTE, 11, 5, 10..10, false),
            (LAST, 0, 0, 10..10, false),
            (PREVIOUS, 0, 1, 9..10, false),
            (FIRST, 0, 0, 0..0, false),
            (NEXT, 0, 2, 0..2, false),
            (ABSOLUTE, i64::from(i32::MIN), 1, 0..1, true),
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
