//! In-memory tables of the current database: their memory, their changes, their indexes.

use super::Kind::{BigInt, Bytes, Int, Text};
use super::Nullable::{No, Yes};
use super::{Rows, Source, View};
use pikepole_engine::{Catalog, Database, Index, IndexUse, MemoryTable, Permission, Securable, Table};
use pikepole_types::{SqlError, Value};
use std::sync::Arc;

/// Types of memory consumers.
const VARHEAP: (i32, &str) = (2, "VARHEAP");
const HASH: (i32, &str) = (3, "HASH");

pub(super) const VIEWS: &[View] = &[
    View {
        schema: "sys",
        name: "dm_db_xtp_table_memory_stats",
        columns: &[
            ("object_id", Int, Yes),
            ("memory_allocated_for_table_kb", BigInt, Yes),
            ("memory_used_by_table_kb", BigInt, Yes),
            ("memory_allocated_for_indexes_kb", BigInt, Yes),
            ("memory_used_by_indexes_kb", BigInt, Yes),
        ],
        rows: table_memory,
    },
    View {
        schema: "sys",
        name: "dm_db_xtp_memory_consumers",
        columns: &[
            ("memory_consumer_id", BigInt, Yes),
            ("memory_consumer_type", Int, No),
            ("memory_consumer_type_desc", Text(64), No),
            ("memory_consumer_desc", Text(64), Yes),
            ("object_id", BigInt, Yes),
            ("xtp_object_id", BigInt, Yes),
            ("index_id", Int, Yes),
            ("allocated_bytes", BigInt, No),
            ("used_bytes", BigInt, Yes),
            ("allocation_count", Int, Yes),
            ("partition_count", Int, Yes),
            ("sizeclass_count", Int, Yes),
            ("min_sizeclass", Int, Yes),
            ("max_sizeclass", Int, Yes),
            ("memory_consumer_address", Bytes(8), Yes),
        ],
        rows: consumers,
    },
    View {
        schema: "sys",
        name: "dm_db_xtp_object_stats",
        columns: &[
            ("object_id", BigInt, No),
            ("row_insert_attempts", BigInt, No),
            ("row_update_attempts", BigInt, No),
            ("row_delete_attempts", BigInt, No),
            ("write_conflicts", BigInt, No),
            ("unique_constraint_violations", BigInt, No),
            ("object_address", Bytes(8), Yes),
        ],
        rows: object_stats,
    },
    View {
        schema: "sys",
        name: "dm_db_xtp_index_stats",
        columns: &[
            ("object_id", BigInt, No),
            ("xtp_object_id", BigInt, No),
            ("index_id", BigInt, No),
            ("scans_started", BigInt, No),
            ("scans_retries", BigInt, Yes),
            ("rows_returned", BigInt, Yes),
            ("rows_touched", BigInt, Yes),
            ("rows_expiring", BigInt, Yes),
            ("rows_expired", BigInt, Yes),
            ("rows_expired_removed", BigInt, Yes),
            ("phantom_scans_started", BigInt, Yes),
            ("phantom_scans_retries", BigInt, Yes),
            ("phantom_rows_touched", BigInt, Yes),
            ("phantom_expiring_rows_encountered", BigInt, Yes),
            ("phantom_expired_rows_encountered", BigInt, Yes),
            ("phantom_expired_removed_rows_encountered", BigInt, Yes),
            ("phantom_expired_rows_removed", BigInt, Yes),
            ("object_address", Bytes(8), Yes),
        ],
        rows: index_stats,
    },
    View {
        schema: "sys",
        name: "dm_db_xtp_nonclustered_index_stats",
        columns: &[
            ("object_id", Int, No),
            ("xtp_object_id", BigInt, No),
            ("index_id", Int, No),
            ("delta_pages", BigInt, Yes),
            ("internal_pages", BigInt, No),
            ("leaf_pages", BigInt, No),
            ("outstanding_retired_nodes", BigInt, Yes),
            ("page_update_count", BigInt, Yes),
            ("page_update_retry_count", BigInt, Yes),
            ("page_consolidation_count", BigInt, Yes),
            ("page_consolidation_retry_count", BigInt, Yes),
            ("page_split_count", BigInt, No),
            ("page_split_retry_count", BigInt, No),
            ("key_split_count", BigInt, Yes),
            ("key_split_retry_count", BigInt, Yes),
            ("page_merge_count", BigInt, No),
            ("page_merge_retry_count", BigInt, Yes),
            ("key_merge_count", BigInt, Yes),
            ("key_merge_retry_count", BigInt, Yes),
        ],
        rows: ordered_indexes,
    },
    View {
        schema: "sys",
        name: "dm_db_xtp_hash_index_stats",
        columns: &[
            ("object_id", Int, No),
            ("xtp_object_id", BigInt, No),
            ("index_id", Int, No),
            ("total_bucket_count", BigInt, No),
            ("empty_bucket_count", BigInt, No),
            ("avg_chain_length", BigInt, No),
            ("max_chain_length", BigInt, No),
        ],
        // They take a walk along all rows, and come from `read_chains`.
        rows: |_, _| Ok(Rows::new()),
    },
];

/// An in-memory table and its rows.
struct InMemory<'c> {
    table: &'c Table,
    rows: Arc<MemoryTable>,
}

impl<'c> InMemory<'c> {
    /// The in-memory tables of a catalog.
    fn all(catalog: &'c Catalog) -> impl Iterator<Item = InMemory<'c>> {
        catalog.tables().filter_map(|table| Some(InMemory { table, rows: table.rows_in_memory()? }))
    }

    /// Its indexes, and their positions among those of its rows.
    fn indexes(&self) -> impl Iterator<Item = (usize, &'c Index)> {
        self.table.live_indexes().enumerate()
    }
}

/// Bytes of the rows and indexes of a database's in-memory tables; None: it has no such table.
pub(super) fn bytes_of(database: &Database) -> Option<u64> {
    let catalog = database.current_catalog();
    let bytes = |own: InMemory<'_>| own.rows.bytes() + own.rows.indexes_bytes();
    InMemory::all(&catalog).map(bytes).reduce(|all, bytes| all + bytes)
}

/// The tables whose memory the session sees: all, or those that it may read.
fn seen<'s>(source: &'s Source<'_>) -> impl Iterator<Item = InMemory<'s>> {
    let sees_all = source.token.has(Permission::ViewDatabaseState, Securable::Database);
    let is_read = |table: &Table| {
        let object = source.catalog.object_by_id(table.object_id);
        object.is_some_and(|object| source.token.has(Permission::Select, source.catalog.securable(object)))
    };
    InMemory::all(source.catalog).filter(move |own| sees_all || is_read(own.table))
}

fn table_memory(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let kb = |bytes: u64| bytes.div_ceil(1024);
    let row = |own: InMemory<'_>| {
        let (rows, indexes) = (kb(own.rows.bytes()), kb(own.rows.indexes_bytes()));
        view.row()
            .integer("object_id", own.table.object_id)
            .integer("memory_allocated_for_table_kb", rows)
            .integer("memory_used_by_table_kb", rows)
            .integer("memory_allocated_for_indexes_kb", indexes)
            .integer("memory_used_by_indexes_kb", indexes)
            .done()
    };
    Ok(seen(source).map(row).collect())
}

fn consumers(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let mut shown = Rows::new();
    for own in seen(source) {
        let row = |(number, name): (i32, &str), bytes: u64| {
            view.row()
                .integer("memory_consumer_type", number)
                .text("memory_consumer_type_desc", name)
                .integer("object_id", own.table.object_id)
                .integer("xtp_object_id", own.table.object_id)
                .integer("allocated_bytes", bytes)
                .integer("used_bytes", bytes)
        };
        let heap = row(VARHEAP, own.rows.bytes());
        shown.push(heap.text("memory_consumer_desc", "Table heap").integer("allocation_count", own.rows.rows()).done());
        for (at, index) in own.indexes() {
            let Some(memory) = own.rows.index_memory(at) else { continue };
            let row = match own.rows.pages(at) {
                None => row(HASH, memory.bytes()),
                Some(pages) => row(VARHEAP, memory.bytes())
                    .text("memory_consumer_desc", "Range index heap")
                    .integer("allocation_count", pages.leaves + pages.inner),
            };
            shown.push(row.integer("index_id", index.index_id).done());
        }
    }
    Ok(shown)
}

fn object_stats(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let row = |own: InMemory<'_>| {
        let counts = own.rows.counts();
        view.row()
            .integer("object_id", own.table.object_id)
            .integer("row_insert_attempts", counts.inserts)
            .integer("row_update_attempts", counts.updates)
            .integer("row_delete_attempts", counts.deletes)
            .integer("write_conflicts", counts.write_conflicts)
            .integer("unique_constraint_violations", counts.unique_violations)
            .done()
    };
    Ok(InMemory::all(source.catalog).map(row).collect())
}

fn index_stats(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let mut rows = Rows::new();
    for own in InMemory::all(source.catalog) {
        let uses = own.table.index_uses();
        for (_, index) in own.indexes() {
            let is_read = |(id, how): &(i32, IndexUse)| *id == index.index_id && *how != IndexUse::Update;
            let reads = uses.iter().filter(|(of, _)| is_read(of)).map(|(_, uses)| uses.count);
            let row = view
                .row()
                .integer("object_id", own.table.object_id)
                .integer("xtp_object_id", own.table.object_id)
                .integer("index_id", index.index_id)
                .integer("scans_started", reads.sum::<u64>());
            rows.push(row.done());
        }
    }
    Ok(rows)
}

fn ordered_indexes(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let mut rows = Rows::new();
    for own in InMemory::all(source.catalog) {
        for (at, index) in own.indexes() {
            let Some(pages) = own.rows.pages(at) else { continue };
            let row = view
                .row()
                .integer("object_id", own.table.object_id)
                .integer("xtp_object_id", own.table.object_id)
                .integer("index_id", index.index_id)
                .integer("internal_pages", pages.inner)
                .integer("leaf_pages", pages.leaves)
                .integer("page_split_count", pages.splits)
                .integer("page_split_retry_count", pages.split_retries)
                .integer("page_merge_count", pages.removed);
            rows.push(row.done());
        }
    }
    Ok(rows)
}

/// The rows of `dm_db_xtp_hash_index_stats`, of a thread that may take its time.
pub(crate) async fn read_chains(view: &'static View, catalog: Arc<Catalog>) -> Rows {
    pikepole_scheduler::run_blocking(move || InMemory::all(&catalog).flat_map(|own| chains(view, &own)).collect()).await
}

fn chains(view: &View, own: &InMemory<'_>) -> Rows {
    let row = |(at, index): (usize, &Index)| -> Option<Vec<Value>> {
        let chains = own.rows.chains(at)?;
        let row = view
            .row()
            .integer("object_id", own.table.object_id)
            .integer("xtp_object_id", own.table.object_id)
            .integer("index_id", index.index_id)
            .integer("total_bucket_count", chains.buckets)
            .integer("empty_bucket_count", chains.buckets - chains.used_buckets)
            .integer("avg_chain_length", chains.nodes / chains.used_buckets.max(1))
            .integer("max_chain_length", chains.longest);
        Some(row.done())
    };
    own.indexes().filter_map(row).collect()
}
