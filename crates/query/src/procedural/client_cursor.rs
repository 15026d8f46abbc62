//! Cursors that clients open by the protocol, to change the rows of a table where the cursor stands.
//!
//! Such a cursor is a declared one, under a name that its opener chooses. The opener takes the rows and moves over them; what
//! finds a row of the table again, and tells whether it has changed, stays with the session. `WHERE CURRENT OF` then changes the row that
//! [`ExecutionContext::stand_on`] names.

use std::ops::Range;
use std::sync::Arc;

use super::declared_cursor::OpenedTable;
use super::request::{FirstError, Prepared, call_program};
use super::run_at;
use crate::bind::{self, Names};
use crate::context::ExecutionContext;
use crate::host::{Argument, Host};
use crate::output::{ColumnInfo, Output};
use crate::program::{CursorKind, CursorOperation, CursorWish, Instruction, Program};
use pikepole_tsql::{CursorName, Name, Query, Span};
use pikepole_types::{SqlError, Value};

/// A cursor that has been opened.
#[derive(Debug)]
pub struct ClientCursor {
    /// The columns of its query.
    pub columns: Vec<ColumnInfo>,
    /// All its rows.
    pub rows: Vec<Vec<Value>>,
    /// The table whose rows they are.
    pub table: CursorTarget,
    /// Which rows it has is not settled; see [`CursorWish::is_dynamic`].
    pub is_dynamic: bool,
    /// The return status of its text.
    pub status: i32,
}

/// The table whose rows a cursor shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CursorTarget {
    /// Its name as T-SQL writes it.
    pub quoted: String,
    /// The same in parts: the schema, unless it is a temporary table, and the name.
    pub parts: Vec<String>,
    /// Per column of the query, the table's column that it is.
    pub columns: Vec<Option<String>>,
}

impl CursorTarget {
    fn of(opened: &OpenedTable) -> CursorTarget {
        let table = &opened.below.table;
        let schema = (!table.engine.residence().is_session()).then(|| table.engine.schema().to_owned());
        let name = |column: &Option<usize>| column.map(|column| table.columns[column].name.clone());
        CursorTarget {
            quoted: table.quoted_name(),
            parts: schema.into_iter().chain([table.name.clone()]).collect(),
            columns: opened.below.columns.iter().map(name).collect(),
        }
    }
}

fn named(name: &str) -> CursorName {
    CursorName { global: true, name: Name { text: name.to_owned(), span: Span::default() } }
}

/// Calls a text that is one query over the rows of one table and reads them into a cursor of this name; none, and nothing has been done, if
/// the query is over something else.
///
/// # Errors
/// 16937 for a text that is no query; the error that ended it. Both have gone to `output`.
pub async fn open_cursor(
    name: &str,
    wish: CursorWish,
    prepared: &mut Prepared,
    arguments: &mut [Argument],
    context: &mut ExecutionContext,
    host: &mut dyn Host,
    output: &mut dyn Output,
) -> Result<Option<ClientCursor>, SqlError> {
    let refuse = |error: SqlError, output: &mut dyn Output| {
        output.error(&error);
        error
    };
    let program = prepared.program(context, host).map_err(|errors| {
        errors.iter().for_each(|error| output.error(error));
        SqlError::cursor_not_declared()
    })?;
    let (Some(query), Some(opening)) = (program.query(), program.opening_cursor(&named(name), wish)) else {
        return Err(refuse(SqlError::cursor_not_possible(), output));
    };
    if !is_of_table(query, &program, context, host) {
        return Ok(None);
    }
    let mut errors = FirstError { output, first: None };
    let called = call_program(&Arc::new(opening), prepared, arguments, context, host, &mut errors).await;
    let FirstError { output, first } = errors;
    let status = match (called, first) {
        (Ok(status), None) => status,
        (Err(error), _) | (_, Some(error)) => {
            context.drop_cursor(name);
            return Err(error);
        }
    };
    let cursor = context.cursors.named_mut(name);
    let is_dynamic = cursor.as_ref().is_some_and(|cursor| cursor.kind() == CursorKind::Dynamic);
    let opened = cursor.and_then(|cursor| cursor.opened.as_mut());
    // A session that shows plans has declared nothing; a table can have been altered since the look at it.
    let opened = opened.and_then(|opened| Some((opened.table.as_ref().map(CursorTarget::of)?, opened)));
    let Some((table, opened)) = opened else {
        context.drop_cursor(name);
        return Err(refuse(SqlError::cursor_not_declared(), output));
    };
    let (columns, rows) = (std::mem::take(&mut opened.columns), std::mem::take(&mut opened.rows));
    Ok(Some(ClientCursor { columns, rows, table, is_dynamic, status }))
}

/// Whether the rows of a query are those of one table.
fn is_of_table(query: &Query, program: &Program, context: &ExecutionContext, host: &dyn Host) -> bool {
    let catalog = context.catalog();
    let names = Names { variables: &program.variables, ..Names::of(&catalog, host) };
    bind::cursor_rows(query, &names, program.variables.len()).is_some()
}

/// Reads rows of a cursor again, as they are now; one that is gone has no values.
///
/// # Errors
/// 16917 for a cursor that the end of a transaction has closed, 16943 for a table that has been altered, and what reading may bring;
/// after they went to `output`.
pub async fn read_cursor_again(
    name: &str,
    rows: Range<usize>,
    context: &mut ExecutionContext,
    host: &mut dyn Host,
    output: &mut dyn Output,
) -> Result<Vec<Vec<Value>>, SqlError> {
    let again = CursorOperation::Again { cursor: named(name), rows };
    operate(again, context, host, output).await?;
    let opened = context.cursors.named_mut(name).and_then(|cursor| cursor.opened.as_mut());
    Ok(opened.map(|opened| std::mem::take(&mut opened.rows)).unwrap_or_default())
}

/// Runs the query of a dynamic cursor again: all rows that it finds now, and where among them those are that the fetch buffer has.
///
/// # Errors
/// As [`read_cursor_again`].
pub async fn refill_cursor(
    name: &str,
    buffer: Range<usize>,
    context: &mut ExecutionContext,
    host: &mut dyn Host,
    output: &mut dyn Output,
) -> Result<(Vec<Vec<Value>>, Range<usize>), SqlError> {
    let refill = CursorOperation::Refill { cursor: named(name), buffer };
    operate(refill, context, host, output).await?;
    let opened = context.cursors.named_mut(name).and_then(|cursor| cursor.opened.as_mut());
    Ok(opened.map(|opened| (std::mem::take(&mut opened.rows), opened.buffer.clone())).unwrap_or_default())
}

async fn operate(
    operation: CursorOperation,
    context: &mut ExecutionContext,
    host: &mut dyn Host,
    output: &mut dyn Output,
) -> Result<(), SqlError> {
    let program = Program::of(vec![Instruction::Clock, Instruction::Cursor(Box::new(operation))], 1);
    let mut errors = FirstError { output, first: None };
    run_at(1, &Arc::new(program), &mut [], Vec::new(), context, host, &mut errors).await?;
    errors.first.map_or(Ok(()), Err)
}

impl ExecutionContext {
    /// A client's cursor stands on this row, counted from zero, from now on, or on none.
    pub fn stand_on(&mut self, cursor: &str, row: Option<usize>) {
        if let Some(opened) = self.cursors.named_mut(cursor).and_then(|cursor| cursor.opened.as_mut()) {
            opened.at = row.map_or(0, |row| row + 1);
        }
    }

    /// How many rows a client's cursor has: those of its opening, and since then those that were written through it and are behind them.
    pub fn cursor_rows(&mut self, cursor: &str) -> usize {
        let opened = self.cursors.named_mut(cursor).and_then(|cursor| cursor.opened.as_ref());
        opened.and_then(|opened| opened.table.as_ref()).map_or(0, |table| table.rows.len())
    }

    /// The rows that the next text inserts are inserted through this cursor of a client's; through none.
    pub fn insert_through(&mut self, cursor: Option<&str>) {
        self.inserts_through = cursor.map(Arc::from);
    }

    /// A client's cursor goes by this name in texts from now on.
    ///
    /// # Errors
    /// 16915 for the name of another cursor.
    pub fn name_cursor(&mut self, cursor: &str, name: &str) -> Result<(), SqlError> {
        self.cursors.give_name(cursor, name)
    }

    /// Forgets a client's cursor.
    pub fn drop_cursor(&mut self, name: &str) {
        self.cursors.remove(name);
    }

    /// Forgets all cursors of the session.
    pub fn drop_cursors(&mut self) {
        self.cursors = super::Cursors::default();
    }
}
