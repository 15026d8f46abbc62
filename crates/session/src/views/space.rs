//! Who has which space: `sys.allocation_units`, `dm_db_file_space_usage`, `dm_db_session_space_usage`, `dm_db_task_space_usage`.

use super::Kind::{BigInt, Bit, Bytes, Int, SmallInt, Text, TinyInt};
use super::Nullable::{No, Yes};
use super::files::DATA_FILE_ID;
use super::partitions::data_space;
use super::{RowBuilder, Rows, Source, View, execution, schedulers};
use pikepole_engine::{PRIMARY_FILEGROUP, TEMPDB_ID};
use pikepole_types::SqlError;

/// `type` of the pages of rows, and of those of long values.
pub(super) const IN_ROW_DATA: (u8, &str) = (1, "IN_ROW_DATA");
pub(super) const LOB_DATA: (u8, &str) = (2, "LOB_DATA");

pub(super) const VIEWS: &[View] = &[
    View {
        schema: "sys",
        name: "allocation_units",
        columns: &[
            ("allocation_unit_id", BigInt, No),
            ("type", TinyInt, No),
            ("type_desc", Text(60), Yes),
            ("container_id", BigInt, No),
            ("data_space_id", Int, Yes),
            ("total_pages", BigInt, No),
            ("used_pages", BigInt, No),
            ("data_pages", BigInt, No),
        ],
        rows: allocation_units,
    },
    View {
        schema: "sys",
        name: "dm_db_file_space_usage",
        columns: &[
            ("database_id", SmallInt, Yes),
            ("file_id", SmallInt, Yes),
            ("filegroup_id", SmallInt, Yes),
            ("total_page_count", BigInt, Yes),
            ("allocated_extent_page_count", BigInt, Yes),
            ("unallocated_extent_page_count", BigInt, Yes),
            ("version_store_reserved_page_count", BigInt, Yes),
            ("user_object_reserved_page_count", BigInt, Yes),
            ("internal_object_reserved_page_count", BigInt, Yes),
            ("mixed_extent_page_count", BigInt, Yes),
            ("modified_extent_page_count", BigInt, Yes),
        ],
        rows: of_files,
    },
    View {
        schema: "sys",
        name: "dm_db_session_space_usage",
        columns: &[
            ("session_id", SmallInt, Yes),
            ("database_id", SmallInt, Yes),
            ("user_objects_alloc_page_count", BigInt, Yes),
            ("user_objects_dealloc_page_count", BigInt, Yes),
            ("internal_objects_alloc_page_count", BigInt, Yes),
            ("internal_objects_dealloc_page_count", BigInt, Yes),
            ("user_objects_deferred_dealloc_page_count", BigInt, Yes),
        ],
        rows: of_sessions,
    },
    View {
        schema: "sys",
        name: "dm_db_task_space_usage",
        columns: &[
            ("task_address", Bytes(8), No),
            ("is_remote_task", Bit, No),
            ("session_id", SmallInt, Yes),
            ("request_id", Int, Yes),
            ("exec_context_id", Int, Yes),
            ("database_id", SmallInt, Yes),
            ("user_objects_alloc_page_count", BigInt, Yes),
            ("user_objects_dealloc_page_count", BigInt, Yes),
            ("internal_objects_alloc_page_count", BigInt, Yes),
            ("internal_objects_dealloc_page_count", BigInt, Yes),
        ],
        rows: of_tasks,
    },
];

/// The number of an object's pages of one `type`.
pub(super) fn allocation_unit(object: u32, number: u8) -> i64 {
    i64::from(object) << 2 | i64::from(number)
}

/// The pages of each heap and index, and of its table's long values, which are units of their own.
fn allocation_units(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let mut rows = Vec::new();
    for table in source.catalog.tables() {
        let of_heap = data_space(table.partitioned, table.options);
        let heap = table.heap.map(|storage| (0, storage.object, of_heap));
        let indexes = table
            .live_indexes()
            .map(|index| (index.index_id, index.storage.object, data_space(index.partitioned, index.options)));
        for (index_id, object, rows_in) in heap.into_iter().chain(indexes) {
            let mut unit = |(number, name): (u8, &str), pages_of: u32, space: i32| {
                let (used, reserved) = source.database.store().pages_of(pages_of);
                let row = view
                    .row()
                    .integer("allocation_unit_id", allocation_unit(pages_of, number))
                    .integer("type", number)
                    .text("type_desc", name)
                    .integer("container_id", object)
                    .integer("data_space_id", space)
                    .integer("total_pages", reserved)
                    .integer("used_pages", used)
                    .integer("data_pages", used);
                rows.push(row.done());
            };
            unit(IN_ROW_DATA, object, rows_in);
            if let Some(long) = table.overflow.filter(|_| index_id <= 1) {
                unit(LOB_DATA, long.object, table.text_filegroup.unwrap_or(rows_in));
            }
        }
    }
    Ok(rows)
}

/// The file of pages of the current database. Versions of rows are in memory, and no extent is shared by objects. Which pages have changed
/// since a full backup is not known.
fn of_files(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let store = source.database.store();
    let (total, used) = (u64::from(store.file_pages()), store.used_pages());
    let row = view
        .row()
        .integer("database_id", source.database.id())
        .integer("file_id", DATA_FILE_ID)
        .integer("filegroup_id", PRIMARY_FILEGROUP)
        .integer("total_page_count", total)
        .integer("allocated_extent_page_count", used)
        .integer("unallocated_extent_page_count", total.saturating_sub(used))
        .integer("version_store_reserved_page_count", 0)
        .integer("user_object_reserved_page_count", used)
        .integer("internal_object_reserved_page_count", 0)
        .integer("mixed_extent_page_count", 0);
    Ok(vec![row.done()])
}

/// Tempdb and its pages. Of sessions' tables they are not counted by session; of work tables there are none, since sorts and hash tables
/// are in memory.
fn in_tempdb(row: RowBuilder) -> RowBuilder {
    row.integer("database_id", TEMPDB_ID)
        .integer("internal_objects_alloc_page_count", 0)
        .integer("internal_objects_dealloc_page_count", 0)
}

fn of_sessions(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let sessions = source.registry.rows();
    let row = |session_id: i32| in_tempdb(view.row().integer("session_id", session_id)).done();
    Ok(sessions.iter().map(|session| row(session.session_id)).collect())
}

fn of_tasks(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let tasks = source.server.schedulers().tasks();
    let rows = execution::with_sessions(tasks.clone()).into_iter().map(|(session_id, task)| {
        let row = view
            .row()
            .address("task_address", schedulers::task_address(&task))
            .integer("session_id", session_id)
            .integer("request_id", 0)
            .integer("exec_context_id", execution::exec_context(&tasks, &task));
        in_tempdb(row).done()
    });
    Ok(rows.collect())
}
