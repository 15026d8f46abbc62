//! `sys.dm_exec_cursors`: the cursors that sessions have declared. A session's cursors are its own, so it sees these alone.

use super::Kind::{BigInt, Bit, Bytes, DateTime, Int, Text};
use super::Nullable::{No, Yes};
use super::{Function, Rows, Source, View};
use pikepole_query::ExecutionContext;
use pikepole_types::{SqlError, Value};

pub(super) const FUNCTIONS: &[Function] = &[Function {
    view: View {
        schema: "sys",
        name: "dm_exec_cursors",
        columns: &[
            ("session_id", Int, No),
            ("cursor_id", Int, No),
            ("name", Text(256), Yes),
            ("properties", Text(256), Yes),
            ("sql_handle", Bytes(64), Yes),
            ("statement_start_offset", Int, Yes),
            ("statement_end_offset", Int, Yes),
            ("plan_generation_num", BigInt, Yes),
            ("creation_time", DateTime, Yes),
            ("is_open", Bit, Yes),
            ("is_async_population", Bit, Yes),
            ("is_close_on_commit", Bit, Yes),
            ("fetch_status", Int, Yes),
            ("fetch_buffer_size", Int, Yes),
            ("fetch_buffer_start", Int, Yes),
            ("ansi_position", Int, Yes),
            ("worker_time", BigInt, Yes),
            ("reads", BigInt, Yes),
            ("writes", BigInt, Yes),
            ("dormant_duration", BigInt, Yes),
        ],
        rows: unread,
    },
    parameters: &[Int],
}];

/// The rows come from [`read`], which has the session's context.
fn unread(_: &View, _: &Source<'_>) -> Result<Rows, SqlError> {
    Ok(Rows::new())
}

/// The cursors of the session that asks, where it asks for its own number or for all (0).
pub(crate) fn read(view: &View, arguments: &[Value], context: &ExecutionContext) -> Rows {
    let own = context.state.session_id;
    let wanted = arguments.first().and_then(Value::as_i64).unwrap_or(0);
    if wanted != 0 && wanted != i64::from(own) {
        return Rows::new();
    }
    let row = |(number, cursor): (i64, pikepole_query::CursorShown)| {
        view.row()
            .integer("session_id", own)
            .integer("cursor_id", number)
            .text("name", cursor.name)
            .text("properties", cursor.properties)
            .bit("is_open", cursor.is_open)
            .bit("is_async_population", false)
            .bit("is_close_on_commit", context.settings.cursor_close_on_commit)
            .integer("fetch_status", cursor.fetch_status)
            .done()
    };
    (1..).zip(context.cursors()).map(row).collect()
}
