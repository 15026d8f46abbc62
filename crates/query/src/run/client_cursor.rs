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
use crate::context::ExecutionContext;
use crate::host::{Argument, Host};
use crate::output::{ColumnInfo, Output};
use crate::program::{CursorOperation, Instruction, Program};
use pikepole_tsql::{CursorName, Name, Span};
use pikepole_types::{SqlError, Value};

/// A cursor that has been opened.
#[derive(Debug)]
pub struct ClientCursor {
    /// The columns of its query.
    pub columns: Vec<ColumnInfo>,
    /// All its rows.
    pub rows: Vec<Vec<Value>>,
    /// The table whose rows they are; none: they cannot be changed, and the session has forgotten the cursor.
    pub table: Option<CursorTarget>,
    /// The return status of its text.
    pub status: i32,
}

/// A table that is changed through a cursor.
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

/// Calls a text that is one query and reads its rows into a cursor of this name.
///
/// # Errors
/// 16937 for a text that is something else; the error that ended it. Both have gone to `output`.
pub async fn open_cursor(
    name: &str,
    prepared: &mut Prepared,
    arguments: &mut [Argument],
    context: &mut ExecutionContext,
    host: &mut dyn Host,
    output: &mut dyn Output,
) -> Result<ClientCursor, SqlError> {
    let refuse = |error: SqlError, output: &mut dyn Output| {
        output.error(&error);
        error
    };
    let program = prepared.program(context, host).map_err(|errors| {
        errors.iter().for_each(|error| output.error(error));
        SqlError::cursor_not_declared()
    })?;
    let Some(program) = program.opening_cursor(&named(name)) else {
        return Err(refuse(SqlError::cursor_not_possible(), output));
    };
    let mut errors = FirstError { output, first: None };
    let called = call_program(&Arc::new(program), prepared, arguments, context, host, &mut errors).await;
    let FirstError { output, first } = errors;
    let status = match (called, first) {
        (Ok(status), None) => status,
        (Err(error), _) | (_, Some(error)) => {
            context.drop_cursor(name);
            return Err(error);
        }
    };
    let opened = context.cursors.named_mut(name).and_then(|cursor| cursor.opened.as_mut());
    // A session that shows plans has declared nothing.
    let Some(opened) = opened else { return Err(refuse(SqlError::cursor_not_declared(), output)) };
    let (columns, rows) = (std::mem::take(&mut opened.columns), std::mem::take(&mut opened.rows));
    let table = opened.table.as_ref().map(CursorTarget::of);
    if table.is_none() {
        context.drop_cursor(name);
    }
    Ok(ClientCursor { columns, rows, table, status })
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
    let program = Program::of(vec![Instruction::Clock, Instruction::Cursor(Box::new(again))], 1);
    let mut errors = FirstError { output, first: None };
    run_at(1, &Arc::new(program), &mut [], Vec::new(), context, host, &mut errors).await?;
    let opened = context.cursors.named_mut(name).and_then(|cursor| cursor.opened.as_mut());
    errors.first.map_or_else(|| Ok(opened.map(|opened| std::mem::take(&mut opened.rows)).unwrap_or_default()), Err)
}

impl ExecutionContext {
    /// A client's cursor stands on this row, counted from zero, from now on, or on none.
    pub fn stand_on(&mut self, cursor: &str, row: Option<usize>) {
        if let Some(opened) = self.cursors.named_mut(cursor).and_then(|cursor| cursor.opened.as_mut()) {
            opened.at = row.map_or(0, |row| row + 1);
        }
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
