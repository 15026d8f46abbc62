//! `fn_dblog(start, end)`: the records of the current database's log, as people of the field read them.
//!
//! Every value is of the record itself, or of what is known from the records before it. What this log does not write is
//! NULL: a transaction's name and when it began, the page's former LSN.
//!
//! | record | `Operation` |
//! |---|---|
//! | Insert | `LOP_INSERT_ROWS` |
//! | Replace, ReplacePart | `LOP_MODIFY_ROW` |
//! | SetHeader | `LOP_DELETE_ROWS` when the row becomes a ghost, else `LOP_MODIFY_HEADER` |
//! | Remove | `LOP_DELETE_ROWS` when it undoes an insert, else `LOP_EXPUNGE_ROWS` |
//! | Commit, Abort, Checkpoint | `LOP_COMMIT_XACT`, `LOP_ABORT_XACT`, `LOP_BEGIN_CKPT` |
//! | Structure, FreeExtents | `LOP_CHANGE_STRUCTURE`, `LOP_FREE_EXTENTS`: names of this engine's own |

use super::Kind::{Bytes, Int, Text};
use super::Nullable::{No, Yes};
use super::{Function, Rows, Source, View};
use pikepole_engine::{LogContext, LogRow, Lsn, Record, RowChange, RowChangeKind};
use pikepole_types::{SqlError, Value};
use std::collections::HashMap;
use std::ops::ControlFlow;

/// Records of one call at most: the rows are made before the statement reads the first.
const RECORDS_MAX: usize = 250_000;
/// Characters of `Description`.
const DESCRIPTION_CHARACTERS: usize = 256;
/// Bytes of the columns that hold bytes of records.
const CONTENT_BYTES: usize = 8000;

pub(super) const FUNCTIONS: &[Function] = &[Function {
    view: View {
        schema: "sys",
        name: "fn_dblog",
        columns: &[
            ("Current LSN", Text(23), No),
            ("Operation", Text(31), Yes),
            ("Context", Text(31), Yes),
            ("Transaction ID", Text(14), No),
            ("Log Record Length", Int, No),
            ("Previous LSN", Text(23), Yes),
            ("Flag Bits", Bytes(2), Yes),
            ("AllocUnitName", Text(387), Yes),
            ("Page ID", Text(14), Yes),
            ("Slot ID", Int, Yes),
            ("Previous Page LSN", Text(23), Yes),
            ("Checkpoint Begin", Text(24), Yes),
            ("SPID", Int, Yes),
            ("Begin Time", Text(24), Yes),
            ("Transaction Name", Text(33), Yes),
            ("End Time", Text(24), Yes),
            ("Description", Text(256), Yes),
            ("RowLog Contents 0", Bytes(8000), Yes),
            ("RowLog Contents 1", Bytes(8000), Yes),
            ("Log Record", Bytes(8000), Yes),
        ],
        rows: records,
    },
    parameters: &[Text(25), Text(25)],
}];

fn records(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let first = bound(source, 0)?.unwrap_or(Lsn::ZERO);
    let last = bound(source, 1)?.unwrap_or(Lsn(u64::MAX));
    let clustered = clustered_names(source);
    let mut rows = Rows::new();
    let mut too_many = false;
    let read = source.database.each_log_record(first, &mut |row| {
        if row.lsn > last {
            return ControlFlow::Break(());
        }
        if rows.len() == RECORDS_MAX {
            too_many = true;
            return ControlFlow::Break(());
        }
        rows.push(log_row(view, row, &clustered));
        ControlFlow::Continue(())
    });
    let name = source.database.name();
    if too_many {
        let text = format!(
            "The log of database '{name}' has more than {RECORDS_MAX} records in this range. Name a start and an end."
        );
        return Err(SqlError::new(9005, 16, 2, text));
    }
    read.map_err(|error| {
        let text = format!("An error occurred while processing the log for database '{name}': {error}.");
        SqlError::new(9004, 16, 1, text)
    })?;
    Ok(rows)
}

fn bound(source: &Source<'_>, place: usize) -> Result<Option<Lsn>, SqlError> {
    match source.arguments.get(place) {
        Some(Value::Str(text)) => match Lsn::parse(text) {
            Some(lsn) => Ok(Some(lsn)),
            None => {
                let text = "Either start LSN or end LSN specified in OpenRowset(DBLog, ...) is invalid.";
                Err(SqlError::new(9005, 16, 1, text.to_string()))
            }
        },
        _ => Ok(None),
    }
}

/// The names of clustered indexes as log records' owners.
fn clustered_names(source: &Source<'_>) -> HashMap<String, bool> {
    let indexes = source.catalog.tables().flat_map(|table| {
        let name = table.full_name();
        table.indexes.iter().map(move |index| (format!("{name}.{}", index.name), index.clustered)).collect::<Vec<_>>()
    });
    indexes.collect()
}

fn log_row(view: &View, row: &LogRow<'_>, clustered: &HashMap<String, bool>) -> Vec<Value> {
    let record = row.record.as_ref().ok();
    let change = record.and_then(Record::row_change);
    let moment = |us: u64| moment_text(us);
    let (commit, checkpoint) = match record {
        Some(Record::Checkpoint { time_us }) => (None, Some(moment(*time_us))),
        Some(record) => (record.time_us().map(moment), None),
        None => (None, None),
    };
    let description: String = match &row.record {
        Ok(record) => record.to_string().chars().take(DESCRIPTION_CHARACTERS).collect(),
        Err(why) => why.to_string(),
    };
    let built = view
        .row()
        .text("Current LSN", row.lsn.in_parts())
        .text_if("Operation", record.map(|record| operation(record, change.as_ref())))
        .text_if("Context", record.map(|_| context(row, change.as_ref(), clustered)))
        .text("Transaction ID", in_two(record.and_then(Record::xid).unwrap_or(0)))
        .integer("Log Record Length", row.end.0 - row.lsn.0)
        .text_if("Previous LSN", row.previous.map(Lsn::in_parts))
        .text_if("AllocUnitName", row.owner)
        .text_if("Page ID", record.and_then(Record::page).map(|page| format!("0001:{:08x}", page.0)))
        .text_if("Checkpoint Begin", checkpoint)
        .text_if("End Time", commit)
        .text("Description", description)
        .value("Log Record", contents(row.bytes));
    let Some(change) = change else { return built.done() };
    let built = built
        .integer("Slot ID", i64::from(change.slot))
        .value("Flag Bits", Value::Bin(vec![change.flags, 0]))
        .value("RowLog Contents 0", contents(change.key));
    match record {
        Some(Record::Insert { rest, .. } | Record::Replace { rest, .. }) => {
            built.value("RowLog Contents 1", contents(rest)).done()
        }
        Some(Record::ReplacePart { part, .. }) => built.value("RowLog Contents 1", contents(part)).done(),
        _ => built.done(),
    }
}

fn contents(bytes: &[u8]) -> Value {
    Value::Bin(bytes[..bytes.len().min(CONTENT_BYTES)].to_vec())
}

/// A number in two parts, as transaction ids are shown.
fn in_two(number: u64) -> String {
    format!("{:04x}:{:08x}", number >> 32, number & 0xFFFF_FFFF)
}

fn becomes_ghost(change: &RowChange<'_>) -> bool {
    change.kind == RowChangeKind::SetHeader && change.new_header.is_some_and(|header| header.is_ghost())
}

fn operation(record: &Record<'_>, change: Option<&RowChange<'_>>) -> &'static str {
    match record {
        Record::Insert { .. } => "LOP_INSERT_ROWS",
        Record::Replace { .. } | Record::ReplacePart { .. } => "LOP_MODIFY_ROW",
        Record::SetHeader { .. } if change.is_some_and(becomes_ghost) => "LOP_DELETE_ROWS",
        Record::SetHeader { .. } => "LOP_MODIFY_HEADER",
        Record::Remove { flags, .. } if flags & LogContext::CLR != 0 => "LOP_DELETE_ROWS",
        Record::Remove { .. } => "LOP_EXPUNGE_ROWS",
        Record::Structure { .. } => "LOP_CHANGE_STRUCTURE",
        Record::FreeExtents { .. } => "LOP_FREE_EXTENTS",
        Record::InsertPage { .. } => "LOP_INSERT_PAGE",
        Record::UsePage { .. } => "LOP_USE_PAGE",
        Record::FreePage { .. } => "LOP_FREE_PAGE",
        Record::BulkPages { .. } => "LOP_BULK_PAGES",
        Record::InMemory { .. } => "LOP_HK",
        Record::Commit { .. } => "LOP_COMMIT_XACT",
        Record::Abort { .. } => "LOP_ABORT_XACT",
        Record::Checkpoint { .. } => "LOP_BEGIN_CKPT",
    }
}

fn context(row: &LogRow<'_>, change: Option<&RowChange<'_>>, clustered: &HashMap<String, bool>) -> &'static str {
    let of_page =
        matches!(row.record, Ok(Record::InsertPage { .. } | Record::UsePage { .. } | Record::FreePage { .. }));
    match change {
        None if of_page => "LCX_HEAP",
        None => "LCX_NULL",
        Some(change) if becomes_ghost(change) => "LCX_MARK_AS_GHOST",
        Some(change) if change.key.is_empty() => "LCX_HEAP",
        Some(_) => match row.owner.and_then(|owner| clustered.get(owner)) {
            Some(false) => "LCX_INDEX_LEAF",
            // The catalog's tree is clustered too.
            Some(true) | None => "LCX_CLUSTERED",
        },
    }
}

/// `2026/11/21 06:16:57:343`, in UTC.
fn moment_text(unix_us: u64) -> String {
    let (seconds, milliseconds) = (unix_us / 1_000_000, unix_us / 1000 % 1000);
    let (year, month, day) = date(seconds / 86_400);
    let (hour, minute, second) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
    format!("{year:04}/{month:02}/{day:02} {hour:02}:{minute:02}:{second:02}:{milliseconds:03}")
}

/// The date so many days after 1970-01-01, by the count of days in years that begin in March.
fn date(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let march = (5 * of_year + 2) / 153;
    let (day, month) = (of_year - (153 * march + 2) / 5 + 1, if march < 10 { march + 3 } else { march - 9 });
    (year + era * 400 + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::moment_text;

    #[test]
    fn moments_are_dates_and_times_of_day() {
        let cases = [
            (0, "1970/01/01 00:00:00:000"),
            (951_782_399_999_000, "2000/02/28 23:59:59:999"),
            (951_782_400_000_000, "2000/02/29 00:00:00:000"),
            (4_107_542_400_000_000, "2100/03/01 00:00:00:000"),
            (1_795_244_617_558_359, "2026/11/21 07:03:37:558"),
        ];
        for (us, text) in cases {
            assert_eq!(moment_text(us), text);
        }
    }
}
