//! The pages of indexes: `sys.dm_db_index_physical_stats`.

use super::Kind::{BigInt, Float, Int, SmallInt, Text, TinyInt};
use super::Nullable::Yes;
use super::{Function, Rows, Source, View};
use pikepole_engine::{Database, LevelShape, ShapeDepth, Table};
use pikepole_types::{SqlError, Value};
use std::sync::Arc;

pub(super) const FUNCTIONS: &[Function] = &[Function {
    view: View {
        schema: "sys",
        name: "dm_db_index_physical_stats",
        columns: &[
            ("database_id", SmallInt, Yes),
            ("object_id", Int, Yes),
            ("index_id", Int, Yes),
            ("partition_number", Int, Yes),
            ("index_type_desc", Text(60), Yes),
            ("alloc_unit_type_desc", Text(60), Yes),
            ("index_depth", TinyInt, Yes),
            ("index_level", TinyInt, Yes),
            ("avg_fragmentation_in_percent", Float, Yes),
            ("fragment_count", BigInt, Yes),
            ("avg_fragment_size_in_pages", Float, Yes),
            ("page_count", BigInt, Yes),
            ("avg_page_space_used_in_percent", Float, Yes),
            ("record_count", BigInt, Yes),
            ("ghost_record_count", BigInt, Yes),
            ("version_ghost_record_count", BigInt, Yes),
            ("min_record_size_in_bytes", Int, Yes),
            ("max_record_size_in_bytes", Int, Yes),
            ("avg_record_size_in_bytes", Float, Yes),
            ("forwarded_record_count", BigInt, Yes),
            ("compressed_page_count", BigInt, Yes),
            ("hobt_id", BigInt, Yes),
            ("columnstore_delete_buffer_state", TinyInt, Yes),
            ("columnstore_delete_buffer_state_desc", Text(60), Yes),
            ("version_record_count", BigInt, Yes),
            ("inrow_version_record_count", BigInt, Yes),
            ("inrow_diff_version_record_count", BigInt, Yes),
            ("total_inrow_version_payload_size_in_bytes", BigInt, Yes),
            ("offrow_regular_version_record_count", BigInt, Yes),
            ("offrow_long_term_version_record_count", BigInt, Yes),
        ],
        rows: none,
    },
    parameters: &[SmallInt, Int, Int, Int, Text(20)],
}];

/// Its rows take reading, and come from [`read`].
fn none(_: &View, _: &Source<'_>) -> Result<Rows, SqlError> {
    Ok(Rows::new())
}

/// What is asked for.
struct Asked {
    databases: Vec<Arc<Database>>,
    object_id: Option<i64>,
    index_id: Option<i64>,
    depth: ShapeDepth,
}

/// The rows; NULL and 0 stand for every database and object, NULL and -1 for every index.
pub(crate) async fn read(
    view: &'static View,
    databases: Vec<Arc<Database>>,
    arguments: &[Value],
) -> Result<Rows, SqlError> {
    let number = |place: usize| arguments.get(place).and_then(Value::as_i64);
    let depth = match arguments.get(4).and_then(Value::as_str).map(str::to_ascii_uppercase).as_deref() {
        None | Some("DEFAULT" | "LIMITED") => ShapeDepth::Limited,
        Some("SAMPLED") => ShapeDepth::Sampled,
        Some("DETAILED") => ShapeDepth::Detailed,
        Some(_) => return Err(SqlError::invalid_parameter_or_option("sys.dm_db_index_physical_stats")),
    };
    let wanted = number(0).filter(|id| *id != 0);
    let is_wanted = |database: &Arc<Database>| wanted.is_none_or(|id| id == i64::from(database.id()));
    let asked = Asked {
        databases: databases.into_iter().filter(is_wanted).collect(),
        object_id: number(1).filter(|id| *id != 0),
        index_id: number(2).filter(|id| *id != -1),
        depth,
    };
    // There is one partition.
    if number(3).is_some_and(|partition| partition > 1) {
        return Ok(Rows::new());
    }
    pikepole_scheduler::run_blocking(move || asked.rows(view)).await
}

impl Asked {
    fn rows(&self, view: &View) -> Result<Rows, SqlError> {
        let mut rows = Rows::new();
        for database in &self.databases {
            for table in database.current_catalog().tables() {
                if self.object_id.is_none_or(|wanted| wanted == i64::from(table.object_id)) {
                    self.table(view, database, table, &mut rows)?;
                }
            }
        }
        Ok(rows)
    }

    fn table(&self, view: &View, database: &Database, table: &Table, rows: &mut Rows) -> Result<(), SqlError> {
        let heap = table.heap.map(|storage| (0, "HEAP", storage));
        let index = |index: &pikepole_engine::Index| {
            let kind = if index.clustered { "CLUSTERED INDEX" } else { "NONCLUSTERED INDEX" };
            (index.index_id, kind, index.storage)
        };
        for (index_id, kind, storage) in heap.into_iter().chain(table.live_indexes().map(index)) {
            if self.index_id.is_some_and(|wanted| wanted != i64::from(index_id)) {
                continue;
            }
            let shown = Shown { database: database.id(), table: table.object_id, index_id, kind, depth: self.depth };
            let mut levels = database.shape_of(storage, self.depth)?;
            let depth = levels.len();
            if self.depth != ShapeDepth::Detailed {
                levels.truncate(1);
            }
            rows.extend(levels.iter().map(|level| shown.row(view, level, depth, storage.object)));
        }
        Ok(())
    }
}

/// Whose level a row shows, and how well it is known.
struct Shown {
    database: i32,
    table: i32,
    index_id: i32,
    kind: &'static str,
    depth: ShapeDepth,
}

impl Shown {
    fn row(&self, view: &View, level: &LevelShape, depth: usize, object: u32) -> Vec<Value> {
        const PAGE_BYTES: f64 = 8192.0;
        let share = |part: u64, whole: u64| if whole == 0 { 0.0 } else { part as f64 / whole as f64 };
        let row = view
            .row()
            .integer("database_id", self.database)
            .integer("object_id", self.table)
            .integer("index_id", self.index_id)
            .integer("partition_number", 1)
            .text("index_type_desc", self.kind)
            .text("alloc_unit_type_desc", "IN_ROW_DATA")
            .integer("index_depth", depth as u64)
            .integer("index_level", level.level)
            .float("avg_fragmentation_in_percent", 100.0 * share(level.runs.saturating_sub(1), level.pages))
            .integer("fragment_count", level.runs)
            .float("avg_fragment_size_in_pages", share(level.pages, level.runs))
            .integer("page_count", level.pages)
            .integer("hobt_id", object);
        if self.depth == ShapeDepth::Limited {
            return row.done();
        }
        // Of what was looked into, as much more as there are pages.
        let all = |part: u64| (part as f64 * share(level.pages, level.read)).round() as i64;
        let row = row
            .float("avg_page_space_used_in_percent", 100.0 * share(level.used_bytes, level.read) / PAGE_BYTES)
            .integer("record_count", all(level.rows))
            .integer("ghost_record_count", all(level.ghosts))
            .integer("version_ghost_record_count", 0)
            .integer("min_record_size_in_bytes", level.row_bytes_min)
            .integer("max_record_size_in_bytes", level.row_bytes_max)
            .float("avg_record_size_in_bytes", share(level.row_bytes, level.rows + level.ghosts))
            .integer("compressed_page_count", 0);
        if self.index_id == 0 { row.integer("forwarded_record_count", all(level.forwarded)).done() } else { row.done() }
    }
}
