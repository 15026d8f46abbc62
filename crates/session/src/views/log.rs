//! `sys.dm_db_log_info`, `dm_db_log_stats`, `dm_db_log_space_usage`.
//!
//! A log sequence number is one number here, a position in the stream of records; text columns show it in decimal, so that it
//! compares with the numeric ones.

use super::Kind::{BigInt, Bit, Bytes, DateTime, Float, Int, Real, SmallInt, Text, TinyInt};
use super::Nullable::{No, Yes};
use super::{Function, Rows, Source, View};
use pikepole_engine::{Database, Lsn, SegmentInfo};
use pikepole_types::SqlError;

/// The file id of a database's log.
pub(crate) const LOG_FILE_ID: i32 = 2;

/// Bytes of a MB.
const MB: f64 = 1_048_576.0;

/// `vlf_status` of a segment that is free.
pub(crate) const STATUS_FREE: i32 = 0;
/// `vlf_status` of a segment in use.
pub(crate) const STATUS_ACTIVE: i32 = 2;

pub(super) const VIEWS: &[View] = &[View {
    schema: "sys",
    name: "dm_db_log_space_usage",
    columns: &[
        ("database_id", Int, Yes),
        ("total_log_size_in_bytes", BigInt, Yes),
        ("used_log_space_in_bytes", BigInt, Yes),
        ("used_log_space_in_percent", Real, Yes),
        ("log_space_in_bytes_since_last_backup", BigInt, Yes),
    ],
    rows: space_usage,
}];

pub(super) const FUNCTIONS: &[Function] = &[
    Function {
        view: View {
            schema: "sys",
            name: "dm_db_log_info",
            columns: &[
                ("database_id", Int, No),
                ("file_id", SmallInt, No),
                ("vlf_begin_offset", BigInt, No),
                ("vlf_size_mb", Float, No),
                ("vlf_sequence_number", BigInt, No),
                ("vlf_active", Bit, No),
                ("vlf_status", Int, No),
                ("vlf_parity", TinyInt, Yes),
                ("vlf_first_lsn", Text(48), Yes),
                ("vlf_create_lsn", Text(48), Yes),
                ("vlf_encryptor_thumbprint", Bytes(20), Yes),
            ],
            rows: log_info,
        },
        parameters: &[Int],
    },
    Function {
        view: View {
            schema: "sys",
            name: "dm_db_log_stats",
            columns: &[
                ("database_id", Int, No),
                ("recovery_model", Text(60), Yes),
                ("log_min_lsn", Text(24), Yes),
                ("log_end_lsn", Text(24), Yes),
                ("current_vlf_sequence_number", BigInt, Yes),
                ("current_vlf_size_mb", Float, Yes),
                ("total_vlf_count", BigInt, Yes),
                ("total_log_size_mb", Float, Yes),
                ("active_vlf_count", BigInt, Yes),
                ("active_log_size_mb", Float, Yes),
                ("log_truncation_holdup_reason", Text(60), Yes),
                ("log_backup_time", DateTime, Yes),
                ("log_backup_lsn", Text(24), Yes),
                ("log_since_last_log_backup_mb", Float, Yes),
                ("log_checkpoint_lsn", Text(24), Yes),
                ("log_since_last_checkpoint_mb", Float, Yes),
                ("log_recovery_lsn", Text(24), Yes),
                ("log_recovery_size_mb", Float, Yes),
                ("recovery_vlf_count", BigInt, Yes),
                // Ours, behind those that people know.
                ("pikepole_record_bytes", BigInt, No),
                ("pikepole_padding_bytes", BigInt, No),
                ("pikepole_chunks", BigInt, No),
                ("pikepole_writes_in_flight", Int, No),
                ("pikepole_writes_in_flight_max", Int, No),
                ("pikepole_log_writers", Int, No),
                ("pikepole_write_method", Text(60), No),
            ],
            rows: log_stats,
        },
        parameters: &[Int],
    },
];

/// A segment with where it begins when all segment files are laid end to end, in the order of their numbers.
pub(crate) fn laid_out(database: &Database) -> Vec<(u64, SegmentInfo)> {
    let mut offset = 0;
    let segments = database.log().segments().into_iter();
    segments
        .map(|segment| {
            let begin = offset;
            offset += segment.bytes;
            (begin, segment)
        })
        .collect()
}

fn log_info(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let Some(database) = source.one_database(0) else { return Ok(Vec::new()) };
    let row = |(begin, segment): (u64, SegmentInfo)| {
        view.row()
            .integer("database_id", database.id())
            .integer("file_id", LOG_FILE_ID)
            .integer("vlf_begin_offset", begin)
            .float("vlf_size_mb", (segment.bytes as f64 / MB * 100.0).round() / 100.0)
            .integer("vlf_sequence_number", segment.active.map_or(0, |(sequence, _)| sequence))
            .bit("vlf_active", segment.active.is_some())
            .integer("vlf_status", if segment.active.is_some() { STATUS_ACTIVE } else { STATUS_FREE })
            .lsn_if("vlf_first_lsn", segment.active.map(|(_, start)| start))
            .done()
    };
    Ok(laid_out(&database).into_iter().map(row).collect())
}

fn log_stats(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let Some(database) = source.one_database(0) else { return Ok(Vec::new()) };
    let (log, segments, master) = (database.log_stats(), database.log().segments(), database.store().master());
    let active: Vec<(u64, Lsn, u64)> = segments
        .iter()
        .filter_map(|segment| segment.active.map(|(sequence, start)| (sequence, start, segment.bytes)))
        .collect();
    let current = active.iter().copied().max_by_key(|(sequence, _, _)| *sequence);
    let oldest = active.iter().map(|(_, start, _)| *start).min().unwrap_or(log.truncated);
    // The segment that the recovery begins in, and all behind it.
    let first = active.iter().map(|(_, start, _)| *start).filter(|start| *start <= master.recovery_lsn).max();
    let to_recover = active.iter().filter(|(_, start, _)| first.is_none_or(|first| *start >= first)).count();
    let since = |lsn: Lsn| log.reserved.0.saturating_sub(lsn.0) as f64 / MB;
    let row = view
        .row()
        .integer("database_id", database.id())
        .text("recovery_model", database.options().recovery.name())
        .lsn("log_min_lsn", log.truncated.max(oldest))
        .lsn("log_end_lsn", log.reserved)
        .integer("total_vlf_count", segments.len() as u64)
        .float("total_log_size_mb", log.bytes as f64 / MB)
        .integer("active_vlf_count", active.len() as u64)
        .float("active_log_size_mb", log.bytes_used as f64 / MB)
        .text("log_truncation_holdup_reason", database.log_full_reason().name())
        .lsn_if("log_backup_lsn", database.next_log_backup())
        .lsn("log_checkpoint_lsn", master.checkpoint_lsn)
        .float("log_since_last_checkpoint_mb", since(master.checkpoint_lsn))
        .lsn("log_recovery_lsn", master.recovery_lsn)
        .float("log_recovery_size_mb", since(master.recovery_lsn))
        .integer("recovery_vlf_count", to_recover as u64)
        .integer("pikepole_record_bytes", log.record_bytes)
        .integer("pikepole_padding_bytes", log.padding_bytes)
        .integer("pikepole_chunks", log.chunks)
        .integer("pikepole_writes_in_flight", log.writes_in_flight as u64)
        .integer("pikepole_writes_in_flight_max", log.writes_in_flight_max as u64)
        .integer("pikepole_log_writers", log.writers as u64)
        .text("pikepole_write_method", log.write_method);
    Ok(vec![match current {
        Some((sequence, _, bytes)) => {
            row.integer("current_vlf_sequence_number", sequence).float("current_vlf_size_mb", bytes as f64 / MB).done()
        }
        None => row.done(),
    }])
}

fn space_usage(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let log = source.database.log_stats();
    let row = view
        .row()
        .integer("database_id", source.database.id())
        .integer("total_log_size_in_bytes", log.bytes)
        .integer("used_log_space_in_bytes", log.bytes_used)
        .float("used_log_space_in_percent", log.bytes_used as f64 * 100.0 / log.bytes.max(1) as f64);
    Ok(vec![row.done()])
}
