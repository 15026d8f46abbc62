//! `sys.indexes`, `index_columns`, `stats`, `stats_columns`, `partitions`.

use super::Kind::{BigInt, Bit, Code, Int, LongText, Name, SmallInt, Text, TinyInt};
use super::Nullable::{No, Yes};
use super::{ColumnOf, RowBuilder, Rows, Source, View, columns_of, partitions};
use pikepole_engine::{Index, Partitioned, StorageOptions, XmlIndexPurpose};
use pikepole_types::SqlError;

/// The columns that every view of indexes begins with.
pub(super) const INDEX: &[ColumnOf] = &[
    ("object_id", Int, No),
    ("name", Name, Yes),
    ("index_id", Int, No),
    ("type", TinyInt, No),
    ("type_desc", Text(60), Yes),
    ("is_unique", Bit, Yes),
    ("data_space_id", Int, Yes),
    ("ignore_dup_key", Bit, Yes),
    ("is_primary_key", Bit, Yes),
    ("is_unique_constraint", Bit, Yes),
    ("fill_factor", TinyInt, No),
    ("is_padded", Bit, Yes),
    ("is_disabled", Bit, Yes),
    ("is_hypothetical", Bit, Yes),
    ("is_ignored_in_optimization", Bit, Yes),
    ("allow_row_locks", Bit, Yes),
    ("allow_page_locks", Bit, Yes),
    ("has_filter", Bit, Yes),
    ("filter_definition", LongText, Yes),
    ("compression_delay", Int, Yes),
    ("suppress_dup_key_messages", Bit, Yes),
    ("auto_created", Bit, Yes),
    ("optimize_for_sequential_key", Bit, Yes),
];

pub(super) const VIEWS: &[View] = &[
    View { schema: "sys", name: "indexes", columns: INDEX, rows: indexes },
    View {
        schema: "sys",
        name: "hash_indexes",
        columns: columns_of![INDEX; ("bucket_count", BigInt, Yes)],
        rows: hash_indexes,
    },
    View {
        schema: "sys",
        name: "xml_indexes",
        columns: columns_of![INDEX;
            ("using_xml_index_id", Int, Yes),
            ("secondary_type", Code, Yes),
            ("secondary_type_desc", Text(60), Yes),
            ("xml_index_type", TinyInt, Yes),
            ("xml_index_type_description", Text(60), Yes),
            ("path_id", Int, Yes),
        ],
        rows: xml_indexes,
    },
    View {
        schema: "sys",
        name: "index_columns",
        columns: &[
            ("object_id", Int, No),
            ("index_id", Int, No),
            ("index_column_id", Int, No),
            ("column_id", Int, No),
            ("key_ordinal", TinyInt, No),
            ("partition_ordinal", TinyInt, No),
            ("is_descending_key", Bit, Yes),
            ("is_included_column", Bit, Yes),
            ("column_store_order_ordinal", TinyInt, No),
        ],
        rows: index_columns,
    },
    View {
        schema: "sys",
        name: "partitions",
        columns: &[
            ("partition_id", BigInt, No),
            ("object_id", Int, No),
            ("index_id", Int, No),
            ("partition_number", Int, No),
            ("hobt_id", BigInt, No),
            ("rows", BigInt, Yes),
            ("filestream_filegroup_id", SmallInt, No),
            ("data_compression", TinyInt, No),
            ("data_compression_desc", Text(60), Yes),
            ("xml_compression", Bit, Yes),
            ("xml_compression_desc", Text(3), Yes),
        ],
        rows: partitions,
    },
    View {
        schema: "sys",
        name: "dm_db_partition_stats",
        columns: &[
            ("partition_id", BigInt, Yes),
            ("object_id", Int, No),
            ("index_id", Int, No),
            ("partition_number", Int, No),
            ("in_row_data_page_count", BigInt, Yes),
            ("in_row_used_page_count", BigInt, Yes),
            ("in_row_reserved_page_count", BigInt, Yes),
            ("lob_used_page_count", BigInt, Yes),
            ("lob_reserved_page_count", BigInt, Yes),
            ("row_overflow_used_page_count", BigInt, Yes),
            ("row_overflow_reserved_page_count", BigInt, Yes),
            ("used_page_count", BigInt, Yes),
            ("reserved_page_count", BigInt, Yes),
            ("row_count", BigInt, Yes),
        ],
        rows: partition_stats,
    },
];

fn index_row(view: &View, object_id: i32) -> RowBuilder {
    view.row()
        .integer("object_id", object_id)
        .bit("is_unique", false)
        .bit("is_primary_key", false)
        .bit("is_unique_constraint", false)
        .integer("fill_factor", 0)
        .bit("is_padded", false)
        .bit("is_disabled", false)
        .bit("is_hypothetical", false)
        .bit("is_ignored_in_optimization", false)
        .bit("allow_row_locks", true)
        .bit("allow_page_locks", true)
        .bit("has_filter", false)
        .bit("suppress_dup_key_messages", false)
        .bit("auto_created", false)
        .bit("optimize_for_sequential_key", false)
}

fn indexes(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let mut rows = Vec::new();
    for table in source.catalog.table_shapes() {
        if table.is_heap() && !table.has_clustered_columnstore() {
            let heap = index_row(view, table.object_id).text("type_desc", "HEAP");
            let heap = heap.integer("data_space_id", partitions::data_space(table.partitioned, table.options));
            rows.push(heap.bit("is_unique", false).bit("ignore_dup_key", false).done());
        }
        for index in &table.indexes {
            rows.push(shown_index(view, table.object_id, index).done());
        }
    }
    Ok(rows)
}

/// The number and the name of an index's type.
pub(crate) fn index_type(index: &Index) -> (i32, &'static str) {
    match index.columnstore {
        Some(columnstore) if columnstore.clustered => (5, "CLUSTERED COLUMNSTORE"),
        Some(_) => (6, "NONCLUSTERED COLUMNSTORE"),
        None if index.xml.is_some() => (3, "XML"),
        None if index.hash.is_some() => (7, "NONCLUSTERED HASH"),
        None if index.clustered || index.hypothetical.is_some_and(|own| own.clustered) => (1, "CLUSTERED"),
        None => (2, "NONCLUSTERED"),
    }
}

/// What every view of indexes says of one.
fn shown_index(view: &View, object_id: i32, index: &Index) -> RowBuilder {
    let (number, kind) = index_type(index);
    let row = match index.columnstore {
        Some(columnstore) => index_row(view, object_id).integer("compression_delay", columnstore.compression_delay),
        None => index_row(view, object_id),
    };
    row.text("name", &index.name)
        .integer("data_space_id", partitions::data_space(index.partitioned, index.options))
        .integer("index_id", index.index_id)
        .integer("type", number)
        .text("type_desc", kind)
        .bit("is_unique", index.unique)
        .bit("ignore_dup_key", index.ignores_duplicates)
        .integer("fill_factor", index.options.fill_factor)
        .bit("is_padded", index.options.padded)
        .bit("is_primary_key", index.primary_key)
        .bit("is_unique_constraint", index.constraint && !index.primary_key)
        .bit("is_disabled", index.is_disabled())
        .bit("is_hypothetical", index.hypothetical.is_some())
        .bit("has_filter", index.filter.is_some())
        .text_if("filter_definition", index.filter.as_ref())
}

fn hash_indexes(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let shapes = source.catalog.table_shapes();
    let indexes = shapes.flat_map(|table| table.indexes.iter().map(|index| (table.object_id, index)));
    let row = |(object_id, index): (i32, &Index)| {
        let hash = index.hash?;
        Some(shown_index(view, object_id, index).integer("bucket_count", hash.bucket_count).done())
    };
    Ok(indexes.filter_map(row).collect())
}

fn xml_indexes(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let mut rows = Vec::new();
    for table in source.catalog.table_shapes() {
        for index in &table.indexes {
            let Some(xml) = index.xml else { continue };
            let row = shown_index(view, table.object_id, index);
            rows.push(match xml.secondary {
                None => row.integer("xml_index_type", 0).text("xml_index_type_description", "PRIMARY_XML").done(),
                Some(secondary) => {
                    let (code, purpose) = match secondary.purpose {
                        XmlIndexPurpose::Path => ("P", "PATH"),
                        XmlIndexPurpose::Property => ("R", "PROPERTY"),
                        XmlIndexPurpose::Value => ("V", "VALUE"),
                    };
                    row.integer("using_xml_index_id", secondary.primary)
                        .text("secondary_type", code)
                        .text("secondary_type_desc", purpose)
                        .integer("xml_index_type", 1)
                        .text("xml_index_type_description", "SECONDARY_XML")
                        .done()
                }
            });
        }
    }
    Ok(rows)
}

fn index_columns(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let mut rows = Vec::new();
    for table in source.catalog.table_shapes() {
        for index in &table.indexes {
            let is_cut = |column| index.partitioned.is_some_and(|partitioned| partitioned.column == column);
            for (place, key) in index.columns.iter().enumerate() {
                rows.push(
                    view.row()
                        .integer("object_id", table.object_id)
                        .integer("index_id", index.index_id)
                        .integer("index_column_id", place as i64 + 1)
                        .integer("column_id", table.column_number(key.column))
                        .integer("key_ordinal", place as i64 + 1)
                        .integer("partition_ordinal", i64::from(is_cut(key.column)))
                        .bit("is_descending_key", key.descending)
                        .bit("is_included_column", false)
                        .done(),
                );
            }
            let all: Vec<usize> = match index.columnstore {
                Some(columnstore) if columnstore.clustered => (0..table.columns.len()).collect(),
                _ => index.included.clone(),
            };
            for (place, column) in all.iter().enumerate() {
                rows.push(
                    view.row()
                        .integer("object_id", table.object_id)
                        .integer("index_id", index.index_id)
                        .integer("index_column_id", (index.columns.len() + place) as i64 + 1)
                        .integer("column_id", table.column_number(*column))
                        .integer("key_ordinal", i64::from(index.xml.is_some()))
                        .bit("is_descending_key", false)
                        .bit("is_included_column", index.xml.is_none())
                        .done(),
                );
            }
        }
    }
    Ok(rows)
}

/// Rows and pages of each heap and index. Long values, of row overflow too, are counted with the table's own rows as LOB pages.
fn partition_stats(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let mut rows = Vec::new();
    for table in source.catalog.tables() {
        // Rows of a table that is declared as a columnstore are in a heap all the same.
        let heap = table.heap.map(|storage| (i32::from(table.has_clustered_columnstore()), storage, table.partitioned));
        let indexes = table.live_indexes().map(|index| (index.index_id, index.storage, index.partitioned));
        for (index_id, storage, partitioned) in heap.into_iter().chain(indexes) {
            let pages_of = |object| source.database.store().pages_of(object);
            let (used, reserved) = pages_of(storage.object);
            let long = table.overflow.filter(|_| index_id <= 1);
            let (long_used, long_reserved) = long.map_or((0, 0), |long| pages_of(long.object));
            for place in 0..partitions::count(source.catalog, partitioned) {
                // The pages are those of all partitions: they are shown with the first.
                let of_first = |pages: u64| if place == 0 { pages } else { 0 };
                let (used, reserved) = (of_first(used), of_first(reserved));
                let (long_used, long_reserved) = (of_first(long_used), of_first(long_reserved));
                let count = rows_of(source, table.object_id, partitioned, place).unwrap_or(0);
                let row = view
                    .row()
                    .integer("in_row_used_page_count", used)
                    .integer("in_row_reserved_page_count", reserved)
                    .integer("lob_used_page_count", long_used)
                    .integer("lob_reserved_page_count", long_reserved)
                    .integer("row_overflow_used_page_count", 0)
                    .integer("row_overflow_reserved_page_count", 0)
                    .integer("used_page_count", used + long_used)
                    .integer("reserved_page_count", reserved + long_reserved)
                    .integer("partition_id", partition_id(storage.object, place))
                    .integer("object_id", table.object_id)
                    .integer("index_id", index_id)
                    .integer("partition_number", place as i64 + 1)
                    .integer("row_count", count);
                rows.push(row.done());
            }
        }
    }
    Ok(rows)
}

/// The number of a partition; that of the first, or of a heap or index without others, is that of its storage.
fn partition_id(storage: u32, place: usize) -> i64 {
    i64::from(storage) | (place as i64) << 32
}

/// The rows of a partition, as far as they were counted.
fn rows_of(source: &Source<'_>, object_id: i32, partitioned: Option<Partitioned>, place: usize) -> Option<u64> {
    match source.partition_rows.get(&object_id).filter(|_| partitioned.is_some()) {
        Some(counts) => counts.get(place).copied(),
        None => source.row_counts.get(&object_id).copied(),
    }
}

/// DATA_COMPRESSION, by its number and name.
fn compression(options: StorageOptions) -> (i32, &'static str) {
    (options.compression as i32, options.compression.name())
}

/// The partitions of each heap and index.
fn partitions(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let mut rows = Vec::new();
    for table in source.catalog.tables() {
        // Rows of a table that is declared as a columnstore are in a heap all the same.
        let (number, of_heap) = match table.has_clustered_columnstore() {
            true => (1, (3, "COLUMNSTORE")),
            false => (0, compression(table.options)),
        };
        let heap = table.heap.map(|storage| (number, storage, table.partitioned, of_heap));
        let indexes = table.live_indexes();
        let indexes =
            indexes.map(|index| (index.index_id, index.storage, index.partitioned, compression(index.options)));
        for (index_id, storage, partitioned, (compression, compression_name)) in heap.into_iter().chain(indexes) {
            for place in 0..partitions::count(source.catalog, partitioned) {
                let row = view
                    .row()
                    .integer("partition_id", partition_id(storage.object, place))
                    .integer("object_id", table.object_id)
                    .integer("index_id", index_id)
                    .integer("partition_number", place as i64 + 1)
                    .integer("hobt_id", partition_id(storage.object, place))
                    .integer("data_compression", compression)
                    .text("data_compression_desc", compression_name)
                    .bit("xml_compression", false)
                    .text("xml_compression_desc", "OFF");
                rows.push(match rows_of(source, table.object_id, partitioned, place) {
                    Some(count) => row.integer("rows", count).done(),
                    None => row.done(),
                });
            }
        }
    }
    Ok(rows)
}
