//! `sys.dm_os_wait_stats`, `dm_os_latch_stats`, `dm_os_spinlock_stats`, `dm_os_performance_counters`.

use super::Kind::{BigInt, Int, Real, Text};
use super::Nullable::No;
use super::{Rows, Source, View};
use pikepole_contention::CounterKind;
use pikepole_types::{SqlError, Value};

/// Microseconds of a millisecond, the unit of these views.
const MS: u64 = 1_000;
/// What a counter's object is prefixed with, as the default instance of the engine people know.
const OBJECT_PREFIX: &str = "SQLServer:";
/// The instance that sums over all databases.
const TOTAL: &str = "_Total";

pub(super) const VIEWS: &[View] = &[
    View {
        schema: "sys",
        name: "dm_os_wait_stats",
        columns: &[
            ("wait_type", Text(60), No),
            ("waiting_tasks_count", BigInt, No),
            ("wait_time_ms", BigInt, No),
            ("max_wait_time_ms", BigInt, No),
            ("signal_wait_time_ms", BigInt, No),
        ],
        rows: waits,
    },
    View {
        schema: "sys",
        name: "dm_os_latch_stats",
        columns: &[
            ("latch_class", Text(60), No),
            ("waiting_requests_count", BigInt, No),
            ("wait_time_ms", BigInt, No),
            ("max_wait_time_ms", BigInt, No),
        ],
        rows: latches,
    },
    View {
        schema: "sys",
        name: "dm_os_spinlock_stats",
        columns: &[
            ("name", Text(256), No),
            ("collisions", BigInt, No),
            ("spins", BigInt, No),
            ("spins_per_collision", Real, No),
            ("sleep_time", BigInt, No),
            ("backoffs", Int, No),
        ],
        rows: spinlocks,
    },
    View {
        schema: "sys",
        name: "dm_os_performance_counters",
        columns: &[
            ("object_name", Text(128), No),
            ("counter_name", Text(128), No),
            ("instance_name", Text(128), No),
            ("cntr_value", BigInt, No),
            ("cntr_type", Int, No),
        ],
        rows: counters,
    },
];

fn waits(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let rows = source.server.statistics().waits();
    Ok(rows
        .iter()
        .map(|row| {
            view.row()
                .text("wait_type", row.wait_type)
                .integer("waiting_tasks_count", row.waiting_tasks_count)
                .integer("wait_time_ms", row.wait_time_us / MS)
                .integer("max_wait_time_ms", row.max_wait_time_us / MS)
                .integer("signal_wait_time_ms", row.signal_wait_time_us / MS)
                .done()
        })
        .collect())
}

fn latches(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let rows = source.server.statistics().latches();
    Ok(rows
        .iter()
        .map(|row| {
            view.row()
                .text("latch_class", row.class)
                .integer("waiting_requests_count", row.waiting_requests_count)
                .integer("wait_time_ms", row.wait_time_us / MS)
                .integer("max_wait_time_ms", row.max_wait_time_us / MS)
                .done()
        })
        .collect())
}

fn spinlocks(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let rows = source.server.statistics().spinlocks();
    Ok(rows
        .iter()
        .map(|row| {
            let per_collision = if row.collisions == 0 { 0.0 } else { row.spins as f32 / row.collisions as f32 };
            view.row()
                .text("name", row.name)
                .integer("collisions", row.collisions)
                .integer("spins", row.spins)
                .value("spins_per_collision", Value::Real(per_collision))
                .integer("sleep_time", row.sleep_time_us / MS)
                .integer("backoffs", row.backoffs)
                .done()
        })
        .collect())
}

/// The server's counters; those of the log once more for each database.
fn counters(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let counters = source.server.statistics().counters();
    let row = |object: &str, name: &str, instance: &str, value: u64, kind: CounterKind| {
        view.row()
            .text("object_name", format!("{OBJECT_PREFIX}{object}"))
            .text("counter_name", name)
            .text("instance_name", instance)
            .integer("cntr_value", value)
            .integer("cntr_type", kind.cntr_type())
            .done()
    };
    let mut rows = Vec::with_capacity(counters.len() + 16);
    for counter in &counters {
        rows.push(row(counter.object, counter.name, counter.instance, counter.value, counter.kind));
    }
    let mut record_bytes = 0;
    for info in source.server.databases() {
        let Some(database) = source.server.database_by_id(info.id) else { continue };
        let log = database.log_stats();
        record_bytes += log.record_bytes;
        let per_database = [
            ("Log Bytes Flushed/sec", log.bytes_written, CounterKind::PerSecond),
            ("Log Flushes/sec", log.flushes, CounterKind::PerSecond),
            ("Log Flush Waits/sec", log.flush_waits, CounterKind::PerSecond),
            ("Log Flush Wait Time", log.flush_wait_us / MS, CounterKind::Raw),
            ("Log Flush Write Time (ms)", log.flush_write_us / MS, CounterKind::Raw),
            ("Log Record Bytes/sec", log.record_bytes, CounterKind::PerSecond),
            ("Log File(s) Size (KB)", log.bytes / 1024, CounterKind::Raw),
            ("Log File(s) Used Size (KB)", log.bytes_used / 1024, CounterKind::Raw),
            ("Percent Log Used", log.bytes_used * 100 / log.bytes.max(1), CounterKind::Raw),
            ("Data File(s) Size (KB)", super::files::data_bytes(&database) / 1024, CounterKind::Raw),
            ("Active Transactions", database.active_transactions().len() as u64, CounterKind::Raw),
        ];
        for (name, value, kind) in per_database {
            rows.push(row("Databases", name, database.name(), value, kind));
        }
    }
    rows.push(row("Databases", "Log Record Bytes/sec", TOTAL, record_bytes, CounterKind::PerSecond));
    Ok(rows)
}
