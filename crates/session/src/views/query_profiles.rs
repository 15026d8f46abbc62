//! `sys.dm_exec_query_profiles`: the operators of statements that read large tables whole, while they run.
//!
//! Pages are those of the table that an operator reads, by all operators of the statement together. Rows, openings and time are counted
//! in sessions that SET STATISTICS PROFILE or XML ON, as SQL Server's standard profiling has it; rows of operators in batches where they
//! leave the batch.

use super::Kind::{BigInt, Bytes, Int, SmallInt, Text};
use super::Nullable::No;
use super::{Rows, Source, View, texts};
use pikepole_query::RunningOperator;
use pikepole_types::SqlError;

pub(super) const VIEWS: &[View] = &[View {
    schema: "sys",
    name: "dm_exec_query_profiles",
    columns: &[
        ("session_id", SmallInt, No),
        ("request_id", Int, No),
        ("sql_handle", Bytes(64), No),
        ("plan_handle", Bytes(64), No),
        ("physical_operator_name", Text(256), No),
        ("node_id", Int, No),
        ("thread_id", Int, No),
        ("task_address", Bytes(8), No),
        ("row_count", BigInt, No),
        ("rewind_count", BigInt, No),
        ("rebind_count", BigInt, No),
        ("end_of_scan_count", BigInt, No),
        ("estimate_row_count", BigInt, No),
        ("first_active_time", BigInt, No),
        ("last_active_time", BigInt, No),
        ("open_time", BigInt, No),
        ("first_row_time", BigInt, No),
        ("last_row_time", BigInt, No),
        ("close_time", BigInt, No),
        ("elapsed_time_ms", BigInt, No),
        ("cpu_time_ms", BigInt, No),
        ("database_id", SmallInt, No),
        ("object_id", Int, No),
        ("index_id", Int, No),
        ("scan_count", BigInt, No),
        ("logical_read_count", BigInt, No),
        ("physical_read_count", BigInt, No),
        ("read_ahead_count", BigInt, No),
        ("write_page_count", BigInt, No),
        ("lob_logical_read_count", BigInt, No),
        ("lob_physical_read_count", BigInt, No),
        ("lob_read_ahead_count", BigInt, No),
        ("segment_read_count", Int, No),
        ("segment_skip_count", Int, No),
        ("actual_read_row_count", BigInt, No),
        ("estimated_read_row_count", BigInt, No),
    ],
    rows: operators,
}];

fn operators(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let databases = source.server.databases();
    let id_of = |name: &str| databases.iter().find(|database| database.name == name).map_or(0, |found| found.id);
    let mut rows = Rows::new();
    for session in source.registry.rows().into_iter().filter(|session| session.running) {
        let (Some(running), Some(reading)) = (session.text, session.reading) else { continue };
        for operator in reading.operators(&running.text, source.host) {
            let RunningOperator { physical, node, counted, time_us, expected, read, pages } = operator;
            let (given, openings) = counted.unwrap_or((0, 0));
            let row = view
                .row()
                .integer("session_id", session.session_id)
                .value("sql_handle", texts::sql_handle(&running.text))
                .value("plan_handle", texts::plan_handle(&running.text))
                .text("physical_operator_name", physical)
                .integer("node_id", node)
                .integer("row_count", given)
                .integer("rebind_count", openings)
                .integer("estimate_row_count", expected.unwrap_or(0.0).round() as i64)
                .integer("elapsed_time_ms", time_us / 1000);
            rows.push(match read {
                Some((database, object_id, index_id)) => row
                    .integer("database_id", id_of(&database))
                    .integer("object_id", object_id)
                    .integer("index_id", index_id)
                    .integer("logical_read_count", pages[0])
                    .integer("physical_read_count", pages[1])
                    .done(),
                None => row.done(),
            });
        }
    }
    Ok(rows)
}
