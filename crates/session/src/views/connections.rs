//! `sys.dm_exec_connections`, `dm_exec_session_wait_stats`.

use super::Kind::{BigInt, Bytes, DateTime, Guid, Int, Name, SmallInt, Text};
use super::Nullable::{No, Yes};
use super::endpoints::DEFAULT_TCP;
use super::{Rows, Source, View, texts};
use crate::connection::{ConnectionInfo, LineInfo};
use crate::registry::SessionRow;
use pikepole_contention::sync::atomic::Ordering;
use pikepole_types::{SqlError, Value};

/// Microseconds of a millisecond, the unit of the waits.
const MS: u64 = 1_000;

pub(super) const VIEWS: &[View] = &[
    View {
        schema: "sys",
        name: "dm_exec_connections",
        columns: &[
            ("session_id", Int, Yes),
            ("most_recent_session_id", Int, Yes),
            ("connect_time", DateTime, No),
            ("net_transport", Text(40), No),
            ("protocol_type", Text(40), Yes),
            ("protocol_version", Int, Yes),
            ("endpoint_id", Int, Yes),
            ("encrypt_option", Text(40), No),
            ("auth_scheme", Text(40), No),
            ("node_affinity", SmallInt, No),
            ("num_reads", Int, Yes),
            ("num_writes", Int, Yes),
            ("last_read", DateTime, Yes),
            ("last_write", DateTime, Yes),
            ("net_packet_size", Int, Yes),
            ("client_net_address", Text(48), Yes),
            ("client_tcp_port", Int, Yes),
            ("local_net_address", Text(48), Yes),
            ("local_tcp_port", Int, Yes),
            ("connection_id", Guid, No),
            ("parent_connection_id", Guid, Yes),
            ("most_recent_sql_handle", Bytes(64), Yes),
        ],
        rows: connections,
    },
    View {
        schema: "sys",
        name: "dm_exec_session_wait_stats",
        columns: &[
            ("session_id", SmallInt, No),
            ("wait_type", Name, No),
            ("waiting_tasks_count", BigInt, No),
            ("wait_time_ms", BigInt, No),
            ("max_wait_time_ms", BigInt, No),
            ("signal_wait_time_ms", BigInt, No),
        ],
        rows: waits,
    },
];

/// One row for each session that came over the network, and one for each that it multiplexes.
fn connections(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let row = |session: &SessionRow, connection: &ConnectionInfo, line: Option<LineInfo>| {
        let row = view
            .row()
            .integer("session_id", session.session_id)
            .integer("most_recent_session_id", session.session_id)
            .moment("connect_time", line.map_or(connection.connected_us, |line| line.connected_us))
            .text("net_transport", if line.is_some() { "Session" } else { "TCP" })
            .text("protocol_type", "TSQL")
            // As LOGIN7 and LOGINACK write it.
            .integer("protocol_version", connection.protocol_version)
            .integer("endpoint_id", DEFAULT_TCP)
            .text("encrypt_option", if connection.encrypted { "TRUE" } else { "FALSE" })
            .text("auth_scheme", "SQL")
            .integer("num_reads", connection.reads.load(Ordering::Relaxed))
            .integer("num_writes", connection.writes.load(Ordering::Relaxed))
            .moment("last_read", connection.last_read_us.load(Ordering::Relaxed))
            .moment("last_write", connection.last_write_us.load(Ordering::Relaxed))
            .integer("net_packet_size", connection.packet_bytes)
            .text("client_net_address", connection.client.ip().to_string())
            .integer("client_tcp_port", connection.client.port())
            .text("local_net_address", connection.local.ip().to_string())
            .integer("local_tcp_port", connection.local.port())
            .value("connection_id", Value::Guid(line.map_or(connection.id, |line| line.id)));
        let row = match line {
            Some(_) => row.value("parent_connection_id", Value::Guid(connection.id)),
            None => row,
        };
        let row = match &session.text {
            Some(running) => row.value("most_recent_sql_handle", texts::sql_handle(&running.batch)),
            None => row,
        };
        row.done()
    };
    let mut rows = Vec::new();
    for session in source.registry.rows() {
        let Some(connection) = &session.connection else { continue };
        rows.push(row(&session, connection, None));
        rows.extend(connection.lines().iter().map(|line| row(&session, connection, Some(*line))));
    }
    Ok(rows)
}

/// The waits of each session's tasks, by type; types that it has not waited for are left out.
fn waits(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let rows = source.server.schedulers().session_waits();
    let row = |(session_id, row): &(i32, pikepole_contention::WaitRow)| {
        view.row()
            .integer("session_id", *session_id)
            .text("wait_type", row.wait_type)
            .integer("waiting_tasks_count", row.waiting_tasks_count)
            .integer("wait_time_ms", row.wait_time_us / MS)
            .integer("max_wait_time_ms", row.max_wait_time_us / MS)
            .integer("signal_wait_time_ms", row.signal_wait_time_us / MS)
            .done()
    };
    Ok(rows.iter().map(row).collect())
}
