//! `sys.dm_pikepole_deadlocks`: the deadlocks that were found last, with their graphs.

use super::Kind::{BigInt, Bit, DateTime, Int, Text, Xml};
use super::Nullable::{No, Yes};
use super::{Rows, Source, View};
use pikepole_engine::DeadlockReport;
use pikepole_types::SqlError;
use std::sync::Arc;

pub(super) const VIEWS: &[View] = &[View {
    schema: "sys",
    name: "dm_pikepole_deadlocks",
    columns: &[
        ("deadlock_id", BigInt, No),
        ("found_at", DateTime, No),
        ("victim_session_id", Int, No),
        ("session_ids", Text(4000), No),
        ("session_count", Int, No),
        ("found_by_monitor", Bit, No),
        ("deadlock_graph", Xml, Yes),
    ],
    rows: deadlocks,
}];

fn deadlocks(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let row = |report: &Arc<DeadlockReport>| {
        let sessions: Vec<String> = report.sessions.iter().map(i32::to_string).collect();
        view.row()
            .integer("deadlock_id", report.number)
            .moment("found_at", report.at_us)
            .integer("victim_session_id", report.victim)
            .text("session_ids", sessions.join(", ").chars().take(4000).collect::<String>())
            .integer("session_count", sessions.len() as u64)
            .bit("found_by_monitor", report.by_monitor)
            .text_if("deadlock_graph", report.graph.clone())
            .done()
    };
    Ok(source.server.deadlocks().kept().iter().map(row).collect())
}
