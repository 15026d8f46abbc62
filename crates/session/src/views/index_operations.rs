//! What was done to the leaves of indexes: `sys.dm_db_index_operational_stats`.
//!
//! Scans and changes are counted by statement (`index_uses`), not by row or page: what is known of them is shown, and the other
//! counters are NULL. Nobody waits for locks of rows by index, or for a latch of a page that its index is known of.

use super::Kind::{BigInt, Int, SmallInt};
use super::Nullable::Yes;
use super::{Function, Rows, Source, View};
use pikepole_engine::{Database, IndexUse, Table};
use pikepole_types::SqlError;
use std::sync::Arc;

pub(super) const FUNCTIONS: &[Function] = &[Function {
    view: View {
        schema: "sys",
        name: "dm_db_index_operational_stats",
        columns: &[
            ("database_id", SmallInt, Yes),
            ("object_id", Int, Yes),
            ("index_id", Int, Yes),
            ("partition_number", Int, Yes),
            ("hobt_id", BigInt, Yes),
            ("leaf_insert_count", BigInt, Yes),
            ("leaf_delete_count", BigInt, Yes),
            ("leaf_update_count", BigInt, Yes),
            ("leaf_ghost_count", BigInt, Yes),
            ("nonleaf_insert_count", BigInt, Yes),
            ("nonleaf_delete_count", BigInt, Yes),
            ("nonleaf_update_count", BigInt, Yes),
            ("leaf_allocation_count", BigInt, Yes),
            ("nonleaf_allocation_count", BigInt, Yes),
            ("leaf_page_merge_count", BigInt, Yes),
            ("nonleaf_page_merge_count", BigInt, Yes),
            ("range_scan_count", BigInt, Yes),
            ("singleton_lookup_count", BigInt, Yes),
            ("forwarded_fetch_count", BigInt, Yes),
            ("lob_fetch_in_pages", BigInt, Yes),
            ("lob_fetch_in_bytes", BigInt, Yes),
            ("lob_orphan_create_count", BigInt, Yes),
            ("lob_orphan_insert_count", BigInt, Yes),
            ("row_overflow_fetch_in_pages", BigInt, Yes),
            ("row_overflow_fetch_in_bytes", BigInt, Yes),
            ("column_value_push_off_row_count", BigInt, Yes),
            ("column_value_pull_in_row_count", BigInt, Yes),
            ("row_lock_count", BigInt, Yes),
            ("row_lock_wait_count", BigInt, Yes),
            ("row_lock_wait_in_ms", BigInt, Yes),
            ("page_lock_count", BigInt, Yes),
            ("page_lock_wait_count", BigInt, Yes),
            ("page_lock_wait_in_ms", BigInt, Yes),
            ("index_lock_promotion_attempt_count", BigInt, Yes),
            ("index_lock_promotion_count", BigInt, Yes),
            ("page_latch_wait_count", BigInt, Yes),
            ("page_latch_wait_in_ms", BigInt, Yes),
            ("page_io_latch_wait_count", BigInt, Yes),
            ("page_io_latch_wait_in_ms", BigInt, Yes),
            ("tree_page_latch_wait_count", BigInt, Yes),
            ("tree_page_latch_wait_in_ms", BigInt, Yes),
            ("tree_page_io_latch_wait_count", BigInt, Yes),
            ("tree_page_io_latch_wait_in_ms", BigInt, Yes),
            ("page_compression_attempt_count", BigInt, Yes),
            ("page_compression_success_count", BigInt, Yes),
            ("version_generated_inrow", BigInt, Yes),
            ("version_generated_offrow", BigInt, Yes),
            ("ghost_version_inrow", BigInt, Yes),
            ("ghost_version_offrow", BigInt, Yes),
            ("insert_over_ghost_version_inrow", BigInt, Yes),
            ("insert_over_ghost_version_offrow", BigInt, Yes),
        ],
        rows: operations,
    },
    parameters: &[SmallInt, Int, Int, Int],
}];

/// NULL and 0 stand for every database and object, NULL and -1 for every index, NULL and 0 for every partition.
fn operations(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let [database, object, index, partition] = [0, 1, 2, 3].map(|place| source.integer(place));
    let mut rows = Rows::new();
    if partition.is_some_and(|partition| partition > 1) {
        return Ok(rows);
    }
    for open in source.every_database() {
        if database.is_some_and(|id| id != 0 && id != i64::from(open.id())) {
            continue;
        }
        let wanted = |table: &Arc<Table>| object.is_none_or(|id| id == 0 || id == i64::from(table.object_id));
        for table in open.current_catalog().tables().filter(|table| wanted(table)) {
            of_table(view, &open, table, index.filter(|id| *id != -1), &mut rows);
        }
    }
    Ok(rows)
}

fn of_table(view: &View, database: &Database, table: &Table, wanted: Option<i64>, rows: &mut Rows) {
    let uses = table.index_uses();
    let heap = table.heap.map(|storage| (0, storage));
    for (index_id, storage) in heap.into_iter().chain(table.live_indexes().map(|own| (own.index_id, own.storage))) {
        if wanted.is_some_and(|wanted| wanted != i64::from(index_id)) {
            continue;
        }
        let count = |how: IndexUse| uses.get(&(index_id, how)).map_or(0, |use_count| use_count.count);
        let row = view
            .row()
            .integer("database_id", database.id())
            .integer("object_id", table.object_id)
            .integer("index_id", index_id)
            .integer("partition_number", 1)
            .integer("hobt_id", storage.object)
            .integer("range_scan_count", count(IndexUse::Scan) + count(IndexUse::Seek))
            .integer("singleton_lookup_count", count(IndexUse::Lookup))
            .integer("leaf_update_count", count(IndexUse::Update));
        // Locks of pages there are none, nor do locks of rows become one of the table; nothing is compressed.
        let none = ["page_lock_count", "page_lock_wait_count", "page_lock_wait_in_ms"];
        let never = ["index_lock_promotion_attempt_count", "index_lock_promotion_count"];
        let compressed = ["page_compression_attempt_count", "page_compression_success_count"];
        let zero = none.iter().chain(&never).chain(&compressed);
        rows.push(zero.fold(row, |row, column| row.integer(column, 0)).done());
    }
}
