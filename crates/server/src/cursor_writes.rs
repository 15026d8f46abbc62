//! sp_cursor: changing the rows of a table through a cursor that is open on it.
//!
//! Each change is a statement of its own, as T-SQL would write it: an UPDATE or DELETE of the row that the cursor stands on, or an INSERT. So it
//! needs the permissions, fires the triggers and keeps the constraints that such a statement does.

use crate::cursor::{Below, Cursor};
use crate::cursors::{Cursors, int_at};
use crate::procedures::{Ran, handle_at, take_arguments, text_at};
use crate::reply::Reply;
use pikepole_session::{Argument, ColumnInfo, Done, Output, Prepared, Session};
use pikepole_tds::Parameter as GivenParameter;
use pikepole_types::{SqlError, Value};
use std::fmt::Write;
use std::ops::Range;
use std::task::{Context, Poll};

const NAME: &str = "sp_cursor";
/// The operations; the bit that the cursor is to stand on the row may be beside one, or alone.
const UPDATE: i32 = 1;
const DELETE: i32 = 2;
const INSERT: i32 = 4;
const REFRESH: i32 = 8;
const SET_POSITION: i32 = 0x20;
/// Where the columns' values begin among the parameters.
const VALUES: usize = 4;

/// Does what sp_cursor is called for.
pub(crate) async fn write(
    given: &mut [GivenParameter<'_>],
    session: &mut Session,
    cursors: &mut Cursors,
    reply: &mut Reply<'_>,
) -> Result<Ran, SqlError> {
    let cursor = cursors.get(handle_at(given, NAME)?, NAME)?;
    let operation = int_at(given, 1, NAME, "optype")?.unwrap_or(0);
    let row = int_at(given, 2, NAME, "rownum")?.unwrap_or(0);
    if operation == SET_POSITION || operation & !SET_POSITION == REFRESH {
        let rows = cursor.rows_at(row)?;
        cursor.stand_on(Some(rows.start), session);
        // The rows as they are now, which a cursor that only reads has as it read them.
        if operation != SET_POSITION && cursor.read_again(rows.clone(), session, reply).await.is_ok() {
            cursor.send(rows, false, session, reply).await;
        }
        return Ok(Ran::without_values(given));
    }
    let Some(writable) = cursor.writable().cloned() else { return Err(SqlError::cursor_read_only()) };
    let done = match operation & !SET_POSITION {
        UPDATE => {
            let rows = cursor.rows_at(row)?;
            let values = Values::of(given, &writable)?;
            change(Some(values), &writable, rows, cursor, session, reply).await
        }
        DELETE => {
            let rows = cursor.rows_at(row)?;
            change(None, &writable, rows, cursor, session, reply).await
        }
        INSERT => insert(given, &writable, cursor, session, reply).await,
        _ => {
            let text = format!("{NAME} with the operation {operation} is not supported in this version of Pikepole.");
            return Err(SqlError::new(40517, 16, 1, text));
        }
    };
    match done {
        Ok(()) => Ok(Ran::without_values(given)),
        // It has been told.
        Err(Failed::Told) => Ok(Ran { status: None, ..Ran::without_values(given) }),
        Err(Failed::Not(error)) => Err(error),
    }
}

/// Why a change has not been made.
enum Failed {
    /// The client knows.
    Told,
    Not(SqlError),
}

impl From<SqlError> for Failed {
    fn from(error: SqlError) -> Failed {
        Failed::Not(error)
    }
}

/// Gives rows new values, or deletes them where there are none, one by one; the first that fails is the last.
async fn change(
    values: Option<Values>,
    writable: &Below,
    rows: Range<usize>,
    cursor: &mut Cursor,
    session: &mut Session,
    reply: &mut Reply<'_>,
) -> Result<(), Failed> {
    let current = quoted(&writable.name);
    let table = &writable.target.quoted;
    let deletes = values.is_none();
    let mut values = values.unwrap_or_default();
    let mut text = if deletes { format!("DELETE {table}") } else { format!("UPDATE {table} SET ") };
    for (place, (column, value)) in values.columns.iter().zip(&values.values).enumerate() {
        let comma = if place > 0 { ", " } else { "" };
        // Writing to a String cannot fail.
        let _ = write!(text, "{comma}{column} = {value}");
    }
    // As above.
    let _ = write!(text, " WHERE CURRENT OF GLOBAL {current}");
    let mut statement = Prepared::new(text, std::mem::take(&mut values.declarations));
    for row in rows {
        session.stand_on(&writable.name, Some(row));
        let mut arguments = values.arguments.clone();
        let mut told = Told::to(reply);
        let called = session.call(&mut statement, &mut arguments, &mut told).await;
        told.outcome(called)?;
        if deletes {
            cursor.note_missing(row);
        } else {
            cursor.read_again(row..row + 1, session, reply).await.map_err(|_| Failed::Told)?;
        }
    }
    // A row with another key is behind the others.
    cursor.add_written(session, reply).await.map_err(|_| Failed::Told)
}

/// Inserts a row, of the columns that are given or by a statement that the client has written.
async fn insert(
    given: &mut [GivenParameter<'_>],
    writable: &Below,
    cursor: &mut Cursor,
    session: &mut Session,
    reply: &mut Reply<'_>,
) -> Result<(), Failed> {
    let is_statement = matches!(&given[VALUES.min(given.len())..], [only] if only.name.is_empty());
    let (text, mut values) = if is_statement {
        (text_at(given, VALUES, NAME)?.to_string(), Values::default())
    } else {
        let values = Values::of(given, writable)?;
        let (columns, list) = (values.columns.join(", "), values.values.join(", "));
        (format!("INSERT INTO {} ({columns}) VALUES ({list})", writable.target.quoted), values)
    };
    let mut statement = Prepared::new(text, std::mem::take(&mut values.declarations));
    let mut told = Told::to(reply);
    let called = session.insert_through(&writable.name, &mut statement, &mut values.arguments, &mut told).await;
    told.outcome(called)?;
    cursor.add_written(session, reply).await.map_err(|_| Failed::Told)
}

/// What columns become: as T-SQL writes it, with the parameters that it names.
#[derive(Default)]
struct Values {
    columns: Vec<String>,
    values: Vec<String>,
    declarations: String,
    arguments: Vec<Argument>,
}

impl Values {
    /// Each parameter has the name of a column, or the place of one among those that can be changed.
    fn of(given: &mut [GivenParameter<'_>], writable: &Below) -> Result<Values, SqlError> {
        let mut values = Values::default();
        let mut by_place = writable.target.columns.iter().flatten();
        let mut arguments = Vec::new();
        take_arguments(given, VALUES, &mut arguments);
        for mut argument in arguments {
            let column = match argument.name.take() {
                Some(name) => name.strip_prefix('@').unwrap_or(&name).to_string(),
                None => match by_place.next() {
                    Some(column) => column.clone(),
                    None => return Err(SqlError::cursor_parameter_invalid(NAME, "value")),
                },
            };
            values.columns.push(quoted(&column));
            // A NULL goes into columns of all types.
            if argument.value == Value::Null {
                values.values.push("NULL".to_string());
                continue;
            }
            let place = values.arguments.len();
            let comma = if place > 0 { ", " } else { "" };
            // Writing to a String cannot fail.
            let _ = write!(values.declarations, "{comma}@P{place} {}", argument.ty);
            values.values.push(format!("@P{place}"));
            argument.output = false;
            values.arguments.push(argument);
        }
        if values.columns.is_empty() {
            return Err(SqlError::cursor_parameter_invalid(NAME, "value"));
        }
        Ok(values)
    }
}

fn quoted(name: &str) -> String {
    format!("[{}]", name.replace(']', "]]"))
}

/// An output that tells the client of errors and messages: rows, counts and ends are not those of the client's call.
pub(crate) struct Told<'a, 'r> {
    reply: &'a mut Reply<'r>,
    failed: bool,
}

impl<'a, 'r> Told<'a, 'r> {
    pub(crate) fn to(reply: &'a mut Reply<'r>) -> Told<'a, 'r> {
        Told { reply, failed: false }
    }

    /// What has become of a call that told it.
    fn outcome(&self, called: Result<i32, SqlError>) -> Result<(), Failed> {
        if called.is_err() || self.failed { Err(Failed::Told) } else { Ok(()) }
    }
}

impl Output for Told<'_, '_> {
    fn columns(&mut self, _: &[ColumnInfo]) {}
    fn row(&mut self, _: &[Value]) {}
    fn done(&mut self, _: Done) {}

    fn message(&mut self, message: &SqlError) {
        self.reply.message(message);
    }

    fn error(&mut self, error: &SqlError) {
        self.failed = true;
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
