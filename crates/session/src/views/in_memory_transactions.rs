//! Transactions in in-memory tables, and what they leave behind.

use super::Kind::{BigInt, Bit, Bytes, Int, SmallInt, Text};
use super::Nullable::{No, Yes};
use super::transactions::transaction_id;
use super::{Rows, Source, View};
use pikepole_engine::{GarbageMemory, InMemoryCheckpoint, MemoryCounts, OpenMemoryTransaction};
use pikepole_types::SqlError;

pub(super) const VIEWS: &[View] = &[
    View {
        schema: "sys",
        name: "dm_db_xtp_transactions",
        columns: &[
            ("xtp_transaction_id", BigInt, Yes),
            ("transaction_id", BigInt, No),
            ("session_id", SmallInt, No),
            ("begin_tsn", BigInt, No),
            ("end_tsn", BigInt, Yes),
            ("state", Int, No),
            ("state_desc", Text(16), No),
            ("result", Int, No),
            ("result_desc", Text(24), No),
            ("last_error", Int, Yes),
            ("is_speculative", Bit, Yes),
            ("is_prepared", Bit, Yes),
            ("is_delayed_durability", Bit, Yes),
            ("memory_address", Bytes(8), Yes),
            ("database_address", Bytes(8), Yes),
            ("thread_id", Int, Yes),
            ("read_set_row_count", Int, Yes),
            ("write_set_row_count", Int, Yes),
            ("scan_set_count", Int, Yes),
            ("savepoint_garbage_count", Int, Yes),
            ("log_bytes_required", BigInt, Yes),
            ("count_of_allocations", Int, Yes),
            ("allocated_bytes", Int, Yes),
            ("reserved_bytes", Int, Yes),
            ("commit_dependency_count", Int, Yes),
            ("commit_dependency_total_attempt_count", Int, Yes),
            ("scan_area", Int, Yes),
            ("scan_area_desc", Text(16), Yes),
            ("scan_location", Int, Yes),
            ("dependent_1_address", Bytes(8), Yes),
            ("dependent_2_address", Bytes(8), Yes),
            ("dependent_3_address", Bytes(8), Yes),
            ("dependent_4_address", Bytes(8), Yes),
            ("dependent_5_address", Bytes(8), Yes),
            ("dependent_6_address", Bytes(8), Yes),
            ("dependent_7_address", Bytes(8), Yes),
            ("dependent_8_address", Bytes(8), Yes),
        ],
        rows: transactions,
    },
    View {
        schema: "sys",
        name: "dm_xtp_transaction_stats",
        columns: &[
            ("total_count", BigInt, No),
            ("read_only_count", BigInt, No),
            ("total_aborts", BigInt, No),
            ("system_aborts", BigInt, No),
            ("user_aborts", BigInt, No),
            ("validation_failures", BigInt, No),
            ("dependencies_taken", BigInt, No),
            ("dependencies_failed", BigInt, No),
            ("savepoint_create", BigInt, Yes),
            ("savepoint_rollbacks", BigInt, No),
            ("savepoint_refreshes", BigInt, Yes),
            ("log_bytes_written", BigInt, No),
            ("log_IO_count", BigInt, No),
            ("phantom_scans_started", BigInt, Yes),
            ("phantom_scans_retries", BigInt, Yes),
            ("phantom_rows_touched", BigInt, Yes),
            ("phantom_rows_expiring", BigInt, Yes),
            ("phantom_rows_expired", BigInt, Yes),
            ("phantom_rows_expired_removed", BigInt, Yes),
            ("scans_started", BigInt, Yes),
            ("scans_retried", BigInt, Yes),
            ("rows_returned", BigInt, Yes),
            ("rows_touched", BigInt, Yes),
            ("rows_expiring", BigInt, Yes),
            ("rows_expired", BigInt, Yes),
            ("rows_expired_removed", BigInt, Yes),
            ("row_insert_attempts", BigInt, Yes),
            ("row_update_attempts", BigInt, Yes),
            ("row_delete_attempts", BigInt, Yes),
            ("write_conflicts", BigInt, No),
            ("unique_constraint_violations", BigInt, No),
        ],
        rows: transaction_stats,
    },
    View {
        schema: "sys",
        name: "dm_xtp_gc_stats",
        columns: &[
            ("rows_examined", BigInt, No),
            ("rows_no_sweep_needed", BigInt, No),
            ("rows_first_in_bucket", BigInt, Yes),
            ("rows_first_in_bucket_removed", BigInt, Yes),
            ("rows_marked_for_unlink", BigInt, Yes),
            ("parallel_assist_count", BigInt, No),
            ("idle_worker_count", BigInt, No),
            ("sweep_scans_started", BigInt, Yes),
            ("sweep_scans_retries", BigInt, Yes),
            ("sweep_rows_touched", BigInt, Yes),
            ("sweep_rows_expiring", BigInt, Yes),
            ("sweep_rows_expired", BigInt, Yes),
            ("sweep_rows_expired_removed", BigInt, Yes),
        ],
        rows: garbage_stats,
    },
    View {
        schema: "sys",
        name: "dm_xtp_system_memory_consumers",
        columns: &[
            ("memory_consumer_id", BigInt, Yes),
            ("memory_consumer_type", Int, No),
            ("memory_consumer_type_desc", Text(16), No),
            ("memory_consumer_desc", Text(64), No),
            ("lookaside_id", BigInt, Yes),
            ("pagepool_id", BigInt, Yes),
            ("allocated_bytes", BigInt, No),
            ("used_bytes", BigInt, No),
            ("allocation_count", Int, No),
            ("partition_count", Int, Yes),
            ("sizeclass_count", Int, Yes),
            ("min_sizeclass", Int, Yes),
            ("max_sizeclass", Int, Yes),
            ("memory_consumer_address", Bytes(8), Yes),
        ],
        rows: system_consumers,
    },
];

/// The transactions of the current database that have a snapshot. A transaction that validates what it has read is seen by no view before its end.
fn transactions(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let known = source.database.open_transactions();
    let mut open = source.database.memory().open();
    open.sort_unstable_by_key(|open| (open.session_id, open.begin));
    let row = |open: OpenMemoryTransaction| {
        let own = known.iter().find(|known| known.session_id == open.session_id);
        view.row()
            .integer("transaction_id", own.map_or(0, |own| transaction_id(source.database, own.id)))
            .integer("session_id", open.session_id)
            .integer("begin_tsn", open.begin)
            .integer("state", 0)
            .text("state_desc", "ACTIVE")
            .integer("result", 0)
            .text("result_desc", "IN PROGRESS")
            .done()
    };
    Ok(open.into_iter().map(row).collect())
}

/// A figure of the open databases, added up.
fn sum(source: &Source<'_>, figure: impl Fn(&MemoryCounts) -> u64) -> u64 {
    source.every_database().iter().map(|database| figure(&database.memory().counts())).sum()
}

/// A figure of the records of in-memory tables in the logs of the open databases, added up.
fn logged(source: &Source<'_>, figure: impl Fn(&InMemoryCheckpoint) -> u64) -> u64 {
    let databases = source.every_database();
    databases.iter().filter_map(|database| Some(figure(&database.in_memory_checkpoint()?))).sum()
}

fn transaction_stats(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let sum = |figure: fn(&MemoryCounts) -> u64| sum(source, figure);
    let row = view
        .row()
        .integer("total_count", sum(|counts| counts.commits + counts.aborts + counts.reads))
        .integer("read_only_count", sum(|counts| counts.reads))
        .integer("total_aborts", sum(|counts| counts.aborts))
        .integer("system_aborts", sum(|counts| counts.system_aborts))
        .integer("user_aborts", sum(|counts| counts.aborts.saturating_sub(counts.system_aborts)))
        .integer("validation_failures", sum(|counts| counts.validation_failures))
        .integer("savepoint_rollbacks", sum(|counts| counts.partial_rollbacks))
        .integer("write_conflicts", sum(|counts| counts.write_conflicts))
        .integer("unique_constraint_violations", sum(|counts| counts.unique_violations))
        .integer("log_bytes_written", logged(source, |checkpoint| checkpoint.logged))
        .integer("log_IO_count", logged(source, |checkpoint| checkpoint.records));
    Ok(vec![row.done()])
}

fn garbage_stats(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let sum = |figure: fn(&MemoryCounts) -> u64| sum(source, figure);
    let row = view
        .row()
        .integer("rows_examined", sum(|counts| counts.rows_swept))
        .integer("rows_no_sweep_needed", sum(|counts| counts.rows_swept))
        .integer("parallel_assist_count", sum(|counts| counts.rows_swept.saturating_sub(counts.rows_swept_aside)))
        .integer("idle_worker_count", sum(|counts| counts.rows_swept_aside));
    Ok(vec![row.done()])
}

/// The memory of what waits to be freed, of the open databases.
pub(super) fn garbage(source: &Source<'_>) -> GarbageMemory {
    let all = source.every_database();
    all.iter().map(|database| database.memory().garbage()).fold(GarbageMemory::default(), |all, own| GarbageMemory {
        rows: all.rows + own.rows,
        used_bytes: all.used_bytes + own.used_bytes,
        allocated_bytes: all.allocated_bytes + own.allocated_bytes,
    })
}

fn system_consumers(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let garbage = garbage(source);
    let row = view
        .row()
        .integer("memory_consumer_type", 2)
        .text("memory_consumer_type_desc", "VARHEAP")
        .text("memory_consumer_desc", "System heap")
        .integer("allocated_bytes", garbage.allocated_bytes)
        .integer("used_bytes", garbage.used_bytes)
        .integer("allocation_count", garbage.rows);
    Ok(vec![row.done()])
}
