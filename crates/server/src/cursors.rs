//! Server-side cursors: sp_cursoropen and its kin, with which drivers scroll in a result or read it block by block.
//!
//! ```text
//!   sp_cursoropen   the query runs to its end, its rows are kept     handle, count
//!   sp_cursorfetch  the fetch buffer moves over the rows             the buffer's rows
//! ```
//!
//! A cursor is a copy of its rows as they were when it was opened. A KEYSET or DYNAMIC one, and one to write through (`cursor_writes`), of a
//! query whose rows are those of one table reads the rows of its buffer again with each fetch. Which rows a KEYSET cursor has is what it found
//! when it was opened, and what is inserted through it. A DYNAMIC one runs its query again when a fetch goes beyond the rows that it knows.
//! Who asks for more is told so in `scrollopt` and `ccopt`. What is no single query runs without a cursor where the client allows that, as in
//! SQL Server.

use crate::cursor_writes::{self, Told};
use crate::procedures::{Ran, arguments_from, compile, handle_at, optional_text_at, text_at};
use crate::reply::Reply;
use crate::requests::Prepareds;
use pikepole_contention::WaitType;
use pikepole_scheduler as scheduler;
use pikepole_session::{
    Argument, ColumnInfo, CursorTarget, CursorWish, Done, DoneKind, Output, Prepared, Session, cursor_query,
    cut_long_values,
};
use pikepole_tds::{Argument as Given, Parameter as GivenParameter, SystemProcedure};
use pikepole_types::{Length, SqlError, SqlType, Value, convert};
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
const DYNAMIC: i32 = 2;
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

/// The table whose rows a cursor shows as they are, and the name by which the session knows the cursor.
#[derive(Debug, Clone)]
pub(crate) struct Below {
    pub(crate) name: String,
    pub(crate) target: CursorTarget,
    /// What `ccopt` says of it.
    concurrency: i32,
}

/// An open cursor.
pub(crate) struct Cursor {
    columns: Vec<ColumnInfo>,
    /// Each with its ROWSTAT behind it.
    rows: Vec<Vec<Value>>,
    /// What it is, as `scrollopt` says it.
    kind: i32,
    closes_itself: bool,
    below: Option<Below>,
    /// The fetch buffer: its first row, counted from 1 (0: before the first), its rows, and how many the client has asked for.
    first: i64,
    count: i64,
    wanted: i64,
}

impl Cursor {
    fn is_forward_only(&self) -> bool {
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
    fn known_rows(&self) -> i32 {
        let is_unknown = self.is_forward_only() || self.is_dynamic();
        if is_unknown { -1 } else { i32::try_from(self.rows.len()).unwrap_or(i32::MAX) }
    }

    /// Where the fetch buffer begins, as clients are told: 0 before the first row, -1 behind the last, 1 at any of a dynamic cursor's.
    fn position(&self) -> i32 {
        let last = self.rows.len() as i64;
        match self.first.min(last) {
            _ if last > 0 && self.first > last => -1,
            first if self.kind == DYNAMIC => i32::from(first > 0),
            first => i32::try_from(first).unwrap_or(i32::MAX),
        }
    }

    /// Moves the fetch buffer; true when it would have begun before the first row and was put there. That is so where it would have had the
    /// first row; a buffer that lies before it altogether has no row, as in ODBC.
    fn move_buffer(&mut self, kind: i32, row: i64, count: i64) -> bool {
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
    fn concurrency(&self) -> i32 {
        self.below.as_ref().map_or(READ_ONLY, |below| below.concurrency)
    }

    /// Moves the fetch buffer and reads its rows as they are now, if it can; what [`Cursor::move_buffer`] says.
    ///
    /// # Errors
    /// One that has been told to the client.
    async fn fetch(
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
    fn stand(&self, session: &mut Session) {
        self.stand_on(Some(self.buffer().start).filter(|_| self.count > 0), session);
    }

    /// It stands on a row, or on none.
    pub(crate) fn stand_on(&self, row: Option<usize>, session: &mut Session) {
        if let Some(below) = &self.below {
            session.stand_on(&below.name, row);
        }
    }

    fn buffer(&self) -> Range<usize> {
        let begin = (self.first - 1).max(0) as usize;
        begin..begin + self.count as usize
    }

    fn send_columns(&self, columns_known: bool, session: &Session, reply: &mut Reply<'_>) {
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
        if let Some(Cursor { below: Some(below), .. }) = self.open.remove(&handle) {
            session.drop_cursor(&below.name);
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

    /// What it is to be over the rows of one table; none: it reads what they were when it was opened.
    fn over_table(&self) -> Option<CursorWish> {
        let writes = self.writes();
        let is_copy = self.scroll & (STATIC | FAST_FORWARD) != 0 || self.scroll & FORWARD_ONLY != 0 && !writes;
        let is_dynamic = self.scroll & (DYNAMIC | FORWARD_ONLY) != 0;
        let locks = writes && self.concurrency & SCROLL_LOCKS != 0;
        (!is_copy).then_some(CursorWish { is_dynamic, writes, locks })
    }

    /// The kind of cursor that it gets over the rows of a table, dynamic or not, and over others.
    fn kind(&self, over_table: Option<bool>) -> i32 {
        match (self.scroll & (FORWARD_ONLY | FAST_FORWARD), over_table) {
            (_, Some(false)) => KEYSET,
            (0, Some(true)) => DYNAMIC,
            (0, None) => STATIC,
            (kind, _) => kind,
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
        cursor.send(cursor.buffer(), false, session, reply).await;
        opened.rows = cursor.count as i32;
        if cursor.is_to_close() {
            opened.status = Some(CLOSED_ITSELF);
        }
    } else {
        cursor.send_columns(false, session, reply);
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

/// Reads the rows of a query into a cursor, which can read and change them again if that is wanted and possible; and the text's return status.
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
    let name = session_name(handle);
    let opened = match wish.over_table() {
        None => None,
        Some(over) => session.open_cursor(&name, over, text, arguments, &mut Told::to(reply)).await?.zip(Some(over)),
    };
    let kind = wish.kind(opened.as_ref().map(|(opened, _)| opened.is_dynamic));
    let (columns, rows, below, status) = match opened {
        Some((opened, over)) => {
            let mut rows = opened.rows;
            rows.iter_mut().for_each(|row| row.push(ROW_IS_THERE));
            let concurrency = match over {
                CursorWish { locks: true, .. } => SCROLL_LOCKS,
                CursorWish { writes: true, .. } => OPTIMISTIC_VALUES,
                _ => READ_ONLY,
            };
            let below = Below { name, target: opened.table, concurrency };
            (opened.columns, rows, Some(below), opened.status)
        }
        None => {
            let mut kept = Kept { reply, columns: Vec::new(), rows: Vec::new() };
            let status = session.call(text, arguments, &mut kept).await?;
            (kept.columns, kept.rows, None, status)
        }
    };
    let closes_itself = wish.scroll & AUTO_CLOSE != 0;
    Ok((Cursor { columns, rows, kind, closes_itself, below, first: 0, count: 0, wanted: 0 }, status))
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
        if cursor.add_written(session, reply).await.is_err() {
            return Ok(Ran { status: None, ..ran });
        }
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
    if cursor.kind == DYNAMIC && kind == ABSOLUTE {
        return Err(SqlError::fetch_of_dynamic_cursor("Absolute"));
    }
    match cursor.fetch((kind, row.unwrap_or(0).into(), count.into()), session, reply).await {
        Ok(true) => ran.status = Some(PUT_AT_FIRST),
        Ok(false) => {}
        // It has been told.
        Err(_) => return Ok(Ran { status: None, ..ran }),
    }
    cursor.stand(session);
    cursor.send(cursor.buffer(), columns_known, session, reply).await;
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
/// which find no cursor by it that is a copy (error 16916).
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
            if let Some(below) = &cursor.below {
                session.name_cursor(&below.name, name)?;
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
