//! Checkpoints of in-memory tables: the file of rows of the current database, and what the log has behind it.

use super::Kind::{BigInt, Bytes, Int, Lsn, SmallInt, Text};
use super::Nullable::{No, Yes};
use super::{Rows, Source, View};
use pikepole_machine::clock;
use pikepole_types::SqlError;

pub(super) const VIEWS: &[View] = &[
    View {
        schema: "sys",
        name: "dm_db_xtp_checkpoint_files",
        columns: &[
            ("container_id", Int, Yes),
            ("container_guid", Bytes(16), Yes),
            ("checkpoint_file_id", Bytes(16), Yes),
            ("relative_file_path", Text(256), No),
            ("file_type", SmallInt, No),
            ("file_type_desc", Text(60), No),
            ("internal_storage_slot", Int, Yes),
            ("checkpoint_pair_file_id", Bytes(16), Yes),
            ("file_size_in_bytes", BigInt, No),
            ("file_size_used_in_bytes", BigInt, No),
            ("logical_row_count", BigInt, No),
            ("state", SmallInt, No),
            ("state_desc", Text(60), No),
            ("lower_bound_tsn", BigInt, No),
            ("upper_bound_tsn", BigInt, No),
            ("begin_checkpoint_id", BigInt, Yes),
            ("end_checkpoint_id", BigInt, Yes),
            ("last_updated_checkpoint_id", BigInt, Yes),
            ("encryption_status", Int, No),
            ("encryption_status_desc", Text(60), No),
        ],
        rows: files,
    },
    View {
        schema: "sys",
        name: "dm_db_xtp_checkpoint_stats",
        columns: &[
            ("last_lsn_processed", Lsn, Yes),
            ("end_of_log_lsn", Lsn, No),
            ("bytes_to_end_of_log", BigInt, No),
            ("log_consumption_rate", BigInt, Yes),
            ("active_scan_time_in_ms", BigInt, Yes),
            ("total_wait_time_in_ms", BigInt, Yes),
            ("waits_for_io", BigInt, Yes),
            ("io_wait_time_in_ms", BigInt, Yes),
            ("waits_for_new_log_count", BigInt, Yes),
            ("new_log_wait_time_in_ms", BigInt, Yes),
            ("idle_attempts_count", BigInt, Yes),
            ("tx_segments_dispatched", BigInt, Yes),
            ("segment_bytes_dispatched", BigInt, Yes),
            ("bytes_serialized", BigInt, No),
            ("serializer_user_time_in_ms", BigInt, Yes),
            ("serializer_kernel_time_in_ms", BigInt, Yes),
            ("xtp_log_bytes_consumed", BigInt, No),
            ("checkpoints_closed", BigInt, No),
            ("last_closed_checkpoint_ts", BigInt, No),
            ("hardened_recovery_lsn", Lsn, No),
            ("hardened_root_file_guid", Bytes(16), Yes),
            ("hardened_root_file_watermark", BigInt, Yes),
            ("hardened_truncation_lsn", Lsn, No),
            ("log_bytes_since_last_close", BigInt, No),
            ("time_since_last_close_in_ms", BigInt, Yes),
            ("current_checkpoint_id", BigInt, Yes),
            ("current_checkpoint_segment_count", BigInt, Yes),
            ("recovery_lsn_candidate", Lsn, Yes),
            ("outstanding_checkpoint_count", BigInt, Yes),
            ("closing_checkpoint_id", BigInt, Yes),
            ("recovery_checkpoint_id", BigInt, Yes),
            ("recovery_checkpoint_ts", BigInt, Yes),
            ("bootstrap_recovery_lsn", Lsn, Yes),
            ("bootstrap_root_file_guid", Bytes(16), Yes),
            ("internal_error_code", BigInt, Yes),
            ("bytes_of_large_data_serialized", BigInt, Yes),
            ("db_in_checkpoint_only_mode", Int, Yes),
        ],
        rows: statistics,
    },
];

fn files(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let Some(checkpoint) = source.database.in_memory_checkpoint() else { return Ok(Rows::new()) };
    let Some(path) = &checkpoint.file else { return Ok(Rows::new()) };
    let row = view
        .row()
        .text("relative_file_path", path.display().to_string())
        .integer("file_type", 0)
        .text("file_type_desc", "DATA")
        .integer("file_size_in_bytes", checkpoint.bytes)
        .integer("file_size_used_in_bytes", checkpoint.bytes)
        .integer("logical_row_count", checkpoint.rows)
        .integer("state", 2)
        .text("state_desc", "ACTIVE")
        .integer("lower_bound_tsn", 0)
        .integer("upper_bound_tsn", checkpoint.time)
        .integer("encryption_status", 0)
        .text("encryption_status_desc", "UNENCRYPTED");
    Ok(vec![row.done()])
}

fn statistics(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let Some(checkpoint) = source.database.in_memory_checkpoint() else { return Ok(Rows::new()) };
    let end = source.database.log().reserved();
    let mut row = view
        .row()
        .lsn("end_of_log_lsn", end)
        .integer("bytes_to_end_of_log", end.0.saturating_sub(checkpoint.log_from.0))
        .integer("bytes_serialized", checkpoint.bytes_written)
        .integer("xtp_log_bytes_consumed", checkpoint.logged.saturating_sub(checkpoint.logged_since))
        .integer("checkpoints_closed", checkpoint.files_written)
        .integer("last_closed_checkpoint_ts", checkpoint.time)
        .lsn("hardened_recovery_lsn", checkpoint.log_from)
        .lsn("hardened_truncation_lsn", checkpoint.log_from)
        .integer("log_bytes_since_last_close", checkpoint.logged_since);
    if checkpoint.file.is_some() {
        let since = clock::unix_time_us().unsigned_abs().saturating_sub(checkpoint.written_us);
        row = row.integer("time_since_last_close_in_ms", since / 1_000);
    }
    Ok(vec![row.done()])
}
