//! `sys.dm_os_buffer_descriptors`: the pages of the open databases that are in their buffer pools; and that these have no extension,
//! `dm_os_buffer_pool_extension_configuration`.

use super::Kind::{BigInt, Bit, Int, Text};
use super::Nullable::Yes;
use super::space::{IN_ROW_DATA, LOB_DATA, allocation_unit};
use super::{Rows, Source, View};
use pikepole_engine::{Catalog, PageKind, PooledPage};
use pikepole_types::SqlError;
use std::collections::BTreeSet;

/// The file of a database's pages.
const DATA_FILE: i32 = 1;

pub(super) const VIEWS: &[View] = &[
    View {
        schema: "sys",
        name: "dm_os_buffer_pool_extension_configuration",
        columns: &[
            ("path", Text(256), Yes),
            ("file_id", Int, Yes),
            ("state", Int, Yes),
            ("state_description", Text(60), Yes),
            ("current_size_in_kb", BigInt, Yes),
        ],
        // Nothing of a pool is in a file.
        rows: |view, _| {
            let state = "BUFFER POOL EXTENSION DISABLED";
            Ok(vec![
                view.row().integer("state", 0).text("state_description", state).integer("current_size_in_kb", 0).done(),
            ])
        },
    },
    View {
        schema: "sys",
        name: "dm_os_buffer_descriptors",
        columns: &[
            ("database_id", Int, Yes),
            ("file_id", Int, Yes),
            ("page_id", Int, Yes),
            ("page_level", Int, Yes),
            ("allocation_unit_id", BigInt, Yes),
            ("page_type", Text(60), Yes),
            ("row_count", Int, Yes),
            ("free_space_in_bytes", Int, Yes),
            ("is_modified", Bit, Yes),
            ("numa_node", Int, Yes),
            ("read_microsec", BigInt, Yes),
            ("is_in_bpool_extension", Bit, Yes),
        ],
        rows: buffers,
    },
];

/// The objects whose pages are not what their kind alone says. Those of other databases than the session's are not looked up.
#[derive(Default)]
struct Objects {
    /// Of long values.
    long: BTreeSet<u32>,
    /// Of nonclustered indexes, whose rows are entries.
    nonclustered: BTreeSet<u32>,
}

impl Objects {
    fn of(catalog: &Catalog) -> Objects {
        let mut objects = Objects::default();
        for table in catalog.tables() {
            objects.long.extend(table.overflow.map(|storage| storage.object));
            let nonclustered = table.live_indexes().filter(|index| !index.clustered);
            objects.nonclustered.extend(nonclustered.map(|index| index.storage.object));
        }
        objects
    }

    fn page_type(&self, page: &PooledPage) -> &'static str {
        match page.kind {
            PageKind::Map => "GAM_PAGE",
            PageKind::Inner => "INDEX_PAGE",
            PageKind::Leaf if self.nonclustered.contains(&page.object) => "INDEX_PAGE",
            PageKind::Heap if self.long.contains(&page.object) => "TEXT_MIX_PAGE",
            PageKind::Leaf | PageKind::Heap => "DATA_PAGE",
        }
    }

    fn unit(&self, page: &PooledPage) -> i64 {
        let (number, _) = if self.long.contains(&page.object) { LOB_DATA } else { IN_ROW_DATA };
        allocation_unit(page.object, number)
    }
}

fn buffers(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let own = Objects::of(source.catalog);
    let others = Objects::default();
    let mut rows = Vec::new();
    for info in source.server.databases() {
        let Some(database) = source.server.database_by_id(info.id) else { continue };
        let objects = if info.id == source.database.id() { &own } else { &others };
        for page in database.store().pooled_pages() {
            let row = view
                .row()
                .integer("database_id", info.id)
                .integer("file_id", DATA_FILE)
                .integer("page_id", page.page)
                .integer("page_level", page.level)
                .integer("allocation_unit_id", objects.unit(&page))
                .text("page_type", objects.page_type(&page))
                .integer("row_count", page.rows as u64)
                .integer("free_space_in_bytes", page.free_bytes as u64)
                .bit("is_modified", page.is_modified)
                .bit("is_in_bpool_extension", false);
            rows.push(row.done());
        }
    }
    Ok(rows)
}
