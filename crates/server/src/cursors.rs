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

use crate::cursor::{
    ABSOLUTE, ALLOW_DIRECT, AUTO_CLOSE, AUTO_FETCH, Below, CLOSED_ITSELF, Cursor, DYNAMIC, FAST_FORWARD, FIRST,
    FORWARD_ONLY, INFORMATION, KEYSET, LAST, NEXT, OPTIMISTIC, OPTIMISTIC_VALUES, PARAMETERIZED, PREVIOUS,
    PREVIOUS_UNADJUSTED, PUT_AT_FIRST, READ_ONLY, REFRESH, RELATIVE, ROW_IS_THERE, SCROLL_LOCKS, STATIC,
    WITHOUT_CONCURRENCY,
};
use crate::cursor_writes::{self, Told};
use crate::procedures::{Ran, compile, handle_at, optional_text_at, take_arguments, text_at};
use crate::reply::Reply;
use crate::requests::Prepareds;
use pikepole_session::{Argument, ColumnInfo, CursorWish, Done, DoneKind, Output, Prepared, Session, cursor_query};
use pikepole_tds::{Argument as Given, Parameter as GivenParameter, SystemProcedure};
use pikepole_types::{SqlError, Value};
use std::collections::HashMap;
use std::task::{Context, Poll};

/// Cursors that a connection may have open at a time.
const CURSORS_MAX: usize = 4 * 1024;
/// Handles begin here, apart from those of prepared statements, and go on in steps of two.
const HANDLE_FIRST: i32 = 180_150_003;
/// Rows of a fetch buffer for a client that names no number.
const ROWS_DEFAULT: i32 = 20;

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
    given: &mut [GivenParameter<'_>],
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
            take_arguments(given, first, arguments);
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
            take_arguments(given, first, arguments);
            compile(&mut text, session, reply)?;
            let opened = open(&mut text, &wish, arguments, session, cursors, reply).await?;
            let mut own = vec![(0, prepared.add(text, session)?)];
            own.extend(opened.returned(given, 1, 4));
            Ok(Ran { own, status: opened.status, first, result: None })
        }
        SystemProcedure::CursorExecute => {
            let (wish, first) = (Wish::read(given, 2, name)?, 5);
            take_arguments(given, first, arguments);
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
