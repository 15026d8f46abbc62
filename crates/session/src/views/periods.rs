//! `sys.periods`, and what `sys.tables` and `sys.columns` say of system versioning.

use super::Kind::{Int, Name, Text, TinyInt};
use super::Nullable::{No, Yes};
use super::{RowBuilder, Rows, Source, View};
use pikepole_engine::{Column, Generated, TableRecord, Versioning};
use pikepole_types::SqlError;

/// What a history without a limit is shown with.
const INFINITE: i32 = -1;

pub(super) const VIEWS: &[View] = &[View {
    schema: "sys",
    name: "periods",
    columns: &[
        ("name", Name, No),
        ("period_type", TinyInt, Yes),
        ("period_type_desc", Text(60), Yes),
        ("object_id", Int, No),
        ("start_column_id", Int, No),
        ("end_column_id", Int, No),
    ],
    rows: periods,
}];

fn periods(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let period = |table: &TableRecord| {
        let (start, end) = table.period()?;
        let row = view.row().text("name", "SYSTEM_TIME").integer("period_type", 1);
        let row = row.text("period_type_desc", "SYSTEM_TIME_PERIOD").integer("object_id", table.object_id);
        let (start, end) = (table.column_number(start), table.column_number(end));
        Some(row.integer("start_column_id", start).integer("end_column_id", end).done())
    };
    Ok(source.catalog.tables().filter_map(|table| period(table)).collect())
}

/// What a table is to system versioning.
pub(super) fn with_versioning(row: RowBuilder, table: &TableRecord) -> RowBuilder {
    let (kind, name) = match table.versioning {
        None => (0, "NON_TEMPORAL_TABLE"),
        Some(Versioning::History { .. }) => (1, "HISTORY_TABLE"),
        Some(Versioning::Current { .. }) => (2, "SYSTEM_VERSIONED_TEMPORAL_TABLE"),
    };
    let row = row.integer("temporal_type", kind).text("temporal_type_desc", name);
    let Some(Versioning::Current { history, retention }) = table.versioning else { return row };
    let (count, unit, unit_name) = match retention {
        None => (INFINITE, INFINITE, "INFINITE"),
        Some(retention) => (retention.count, retention.unit as i32, retention.unit.name()),
    };
    row.integer("history_table_id", history)
        .integer("history_retention_period", count)
        .integer("history_retention_period_unit", unit)
        .text("history_retention_period_unit_desc", unit_name)
}

/// What GENERATED ALWAYS says of a column.
pub(super) fn with_generated(row: RowBuilder, column: &Column) -> RowBuilder {
    let name = match column.generated {
        None => return row,
        Some(Generated::RowStart) => "AS_ROW_START",
        Some(Generated::RowEnd) => "AS_ROW_END",
    };
    let kind = column.generated.map_or(0, |bound| bound as i32);
    row.integer("generated_always_type", kind).text("generated_always_type_desc", name)
}
