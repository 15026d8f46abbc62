//! `sys.dm_exec_query_memory_grants` and `dm_exec_query_resource_semaphores`: the memory that statements sort and hash in, who has it and
//! who waits for it.

use super::Kind::{BigInt, Bit, Bytes, DateTime, Float, Int, SmallInt};
use super::Nullable::Yes;
use super::{Rows, Source, View, unix_us};
use pikepole_engine::GrantRow;
use pikepole_machine::clock;
use pikepole_types::SqlError;

pub(super) const VIEWS: &[View] = &[
    View {
        schema: "sys",
        name: "dm_exec_query_memory_grants",
        columns: &[
            ("session_id", SmallInt, Yes),
            ("request_id", Int, Yes),
            ("scheduler_id", Int, Yes),
            ("dop", SmallInt, Yes),
            ("request_time", DateTime, Yes),
            ("grant_time", DateTime, Yes),
            ("requested_memory_kb", BigInt, Yes),
            ("granted_memory_kb", BigInt, Yes),
            ("required_memory_kb", BigInt, Yes),
            ("used_memory_kb", BigInt, Yes),
            ("max_used_memory_kb", BigInt, Yes),
            ("query_cost", Float, Yes),
            ("timeout_sec", Int, Yes),
            ("resource_semaphore_id", SmallInt, Yes),
            ("queue_id", SmallInt, Yes),
            ("wait_order", Int, Yes),
            ("is_next_candidate", Bit, Yes),
            ("wait_time_ms", BigInt, Yes),
            ("plan_handle", Bytes(64), Yes),
            ("sql_handle", Bytes(64), Yes),
            ("group_id", Int, Yes),
            ("pool_id", Int, Yes),
            ("is_small", Bit, Yes),
            ("ideal_memory_kb", BigInt, Yes),
            ("reserved_worker_count", Int, Yes),
            ("used_worker_count", Int, Yes),
            ("max_used_worker_count", Int, Yes),
            ("reserved_node_bitmap", BigInt, Yes),
        ],
        rows: grants,
    },
    View {
        schema: "sys",
        name: "dm_exec_query_resource_semaphores",
        columns: &[
            ("resource_semaphore_id", SmallInt, Yes),
            ("target_memory_kb", BigInt, Yes),
            ("max_target_memory_kb", BigInt, Yes),
            ("total_memory_kb", BigInt, Yes),
            ("available_memory_kb", BigInt, Yes),
            ("granted_memory_kb", BigInt, Yes),
            ("used_memory_kb", BigInt, Yes),
            ("grantee_count", Int, Yes),
            ("waiter_count", Int, Yes),
            ("timeout_error_count", BigInt, Yes),
            ("forced_grant_count", BigInt, Yes),
            ("pool_id", Int, Yes),
        ],
        rows: semaphores,
    },
];

/// The number of the pool `default`, and of its group of sessions.
const DEFAULT: i32 = 2;

fn grants(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let workspace = source.server.workspace();
    let (limits, now) = (workspace.limits(), clock::now_us());
    let row = |grant: GrantRow| {
        let waited_us = grant.given_us.unwrap_or(now).saturating_sub(grant.asked_us);
        let mut row = view
            .row()
            .integer("session_id", grant.session_id)
            .integer("request_id", 0)
            .integer("dop", 1)
            .moment("request_time", unix_us(grant.asked_us))
            .integer("requested_memory_kb", kilobytes(grant.asked_bytes.max(grant.given_bytes)))
            .integer("required_memory_kb", kilobytes(grant.asked_bytes))
            .integer("ideal_memory_kb", kilobytes(limits.share_bytes(None)))
            .integer("timeout_sec", i64::try_from(limits.wait_ms / 1000).unwrap_or(i64::MAX))
            .integer("resource_semaphore_id", 0)
            .integer("is_small", 0)
            .integer("group_id", DEFAULT)
            .integer("pool_id", DEFAULT);
        if let Some(given_us) = grant.given_us {
            row = row
                .moment("grant_time", unix_us(given_us))
                .integer("granted_memory_kb", kilobytes(grant.given_bytes))
                .integer("used_memory_kb", kilobytes(grant.used_bytes))
                .integer("max_used_memory_kb", kilobytes(grant.used_bytes_max));
        }
        if let Some(place) = grant.place {
            row = row
                .integer("queue_id", 0)
                .integer("wait_order", place as i64)
                .integer("is_next_candidate", i64::from(place == 0))
                .integer("wait_time_ms", i64::try_from(waited_us / 1000).unwrap_or(i64::MAX));
        }
        row.done()
    };
    Ok(workspace.rows().into_iter().map(row).collect())
}

fn semaphores(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let totals = source.server.workspace().totals();
    let row = view
        .row()
        .integer("resource_semaphore_id", 0)
        .integer("target_memory_kb", kilobytes(totals.total_bytes))
        .integer("max_target_memory_kb", kilobytes(totals.total_bytes))
        .integer("total_memory_kb", kilobytes(totals.total_bytes))
        .integer("available_memory_kb", kilobytes(totals.total_bytes.saturating_sub(totals.given_bytes)))
        .integer("granted_memory_kb", kilobytes(totals.given_bytes))
        .integer("used_memory_kb", kilobytes(totals.used_bytes))
        .integer("grantee_count", totals.grants as i64)
        .integer("waiter_count", totals.waiting as i64)
        .integer("timeout_error_count", totals.timeouts as i64)
        .integer("forced_grant_count", totals.forced as i64)
        .integer("pool_id", DEFAULT);
    Ok(vec![row.done()])
}

fn kilobytes(bytes: u64) -> i64 {
    i64::try_from(bytes.div_ceil(1024)).unwrap_or(i64::MAX)
}
