//! `sys.database_files`, `master_files`, `filegroups`, `dm_io_virtual_file_stats`.
//!
//! File 1 is a database's pages and 2 its log, each shown as the folder that holds it; further files are room in them.

use super::Kind::{BigInt, Bit, Bytes, Code, DateTime, Guid, Int, Lsn, Name, SmallInt, Text, TinyInt};
use super::Nullable::{No, Yes};
use super::log::LOG_FILE_ID;
use super::{Function, RowBuilder, Rows, Source, View, machine};
use pikepole_engine::{Database, FileState, Filegroup, FilegroupContents, Growth};
use pikepole_types::SqlError;

/// Bytes of a page, the unit of file sizes.
pub(crate) const PAGE_BYTES: u64 = 8192;

pub(super) const VIEWS: &[View] = &[
    View {
        schema: "sys",
        name: "database_files",
        columns: &[
            ("file_id", Int, No),
            ("file_guid", Guid, Yes),
            ("type", TinyInt, No),
            ("type_desc", Text(60), Yes),
            ("data_space_id", Int, No),
            ("name", Name, No),
            ("physical_name", Text(260), Yes),
            ("state", TinyInt, Yes),
            ("state_desc", Text(60), Yes),
            ("size", Int, No),
            ("max_size", Int, No),
            ("growth", Int, No),
            ("is_media_read_only", Bit, No),
            ("is_read_only", Bit, No),
            ("is_sparse", Bit, No),
            ("is_percent_growth", Bit, No),
            ("is_name_reserved", Bit, No),
            ("is_persistent_log_buffer", Bit, No),
            ("create_lsn", Lsn, Yes),
            ("drop_lsn", Lsn, Yes),
            ("read_only_lsn", Lsn, Yes),
            ("read_write_lsn", Lsn, Yes),
            ("differential_base_lsn", Lsn, Yes),
            ("differential_base_guid", Guid, Yes),
            ("differential_base_time", DateTime, Yes),
            ("redo_start_lsn", Lsn, Yes),
            ("redo_start_fork_guid", Guid, Yes),
            ("redo_target_lsn", Lsn, Yes),
            ("redo_target_fork_guid", Guid, Yes),
            ("backup_lsn", Lsn, Yes),
        ],
        rows: database_files,
    },
    View {
        schema: "sys",
        name: "master_files",
        columns: &[
            ("database_id", Int, No),
            ("file_id", Int, No),
            ("file_guid", Guid, Yes),
            ("type", TinyInt, No),
            ("type_desc", Text(60), Yes),
            ("data_space_id", Int, No),
            ("name", Name, No),
            ("physical_name", Text(260), Yes),
            ("state", TinyInt, Yes),
            ("state_desc", Text(60), Yes),
            ("size", Int, No),
            ("max_size", Int, No),
            ("growth", Int, No),
            ("is_media_read_only", Bit, No),
            ("is_read_only", Bit, No),
            ("is_sparse", Bit, No),
            ("is_percent_growth", Bit, No),
            ("is_name_reserved", Bit, No),
            ("create_lsn", Lsn, Yes),
            ("drop_lsn", Lsn, Yes),
            ("read_only_lsn", Lsn, Yes),
            ("read_write_lsn", Lsn, Yes),
            ("differential_base_lsn", Lsn, Yes),
            ("differential_base_guid", Guid, Yes),
            ("differential_base_time", DateTime, Yes),
            ("redo_start_lsn", Lsn, Yes),
            ("redo_start_fork_guid", Guid, Yes),
            ("redo_target_lsn", Lsn, Yes),
            ("redo_target_fork_guid", Guid, Yes),
            ("backup_lsn", Lsn, Yes),
            ("credential_id", Int, Yes),
        ],
        rows: master_files,
    },
    View {
        schema: "sys",
        name: "filegroups",
        columns: &[
            ("name", Name, No),
            ("data_space_id", Int, No),
            ("type", Code, No),
            ("type_desc", Text(60), Yes),
            ("is_default", Bit, Yes),
            ("is_system", Bit, Yes),
            ("filegroup_guid", Guid, Yes),
            ("log_filegroup_id", Int, Yes),
            ("is_read_only", Bit, Yes),
            ("is_autogrow_all_files", Bit, Yes),
        ],
        rows: filegroups,
    },
];

pub(super) const FUNCTIONS: &[Function] = &[Function {
    view: View {
        schema: "sys",
        name: "dm_io_virtual_file_stats",
        columns: &[
            ("database_id", SmallInt, No),
            ("file_id", SmallInt, No),
            ("sample_ms", BigInt, No),
            ("num_of_reads", BigInt, No),
            ("num_of_bytes_read", BigInt, No),
            ("io_stall_read_ms", BigInt, No),
            ("num_of_writes", BigInt, No),
            ("num_of_bytes_written", BigInt, No),
            ("io_stall_write_ms", BigInt, No),
            ("io_stall", BigInt, No),
            ("size_on_disk_bytes", BigInt, No),
            ("file_handle", Bytes(8), Yes),
            ("io_stall_queued_read_ms", BigInt, No),
            ("io_stall_queued_write_ms", BigInt, No),
        ],
        rows: file_stats,
    },
    parameters: &[Int, Int],
}];

/// The file id of a database's pages.
pub(crate) const DATA_FILE_ID: i32 = 1;

/// Bytes of the page files of a database.
pub(crate) fn data_bytes(database: &Database) -> u64 {
    u64::from(database.store().file_pages()) * PAGE_BYTES
}

/// The files of a database. Those of data are room in one file, those of the log in its segments, so files share a path.
fn files(view: &View, database: &Database) -> Vec<RowBuilder> {
    let catalog = database.current_catalog();
    let row = |file: FileState| {
        let group = catalog.filegroup_by_id(file.filegroup).map(|group| group.contents);
        let (number, kind, folder) = match group {
            None => (1, "LOG", "log"),
            Some(FilegroupContents::Rows) => (0, "ROWS", "data"),
            Some(FilegroupContents::MemoryOptimized) => (2, "FILESTREAM", "data"),
        };
        let bytes = if number == 2 { 0 } else { file.bytes };
        let (growth, is_percent) = match file.growth {
            Growth::Percent(percent) => (u64::from(percent), true),
            Growth::Bytes(bytes) => (bytes.div_ceil(PAGE_BYTES), false),
            Growth::Doubling => (0, false),
        };
        let limit = file.max_bytes.map_or(-1, |bytes| i64::try_from(bytes / PAGE_BYTES).unwrap_or(i64::MAX));
        view.row()
            .integer("file_id", file.file_id)
            .integer("type", number)
            .text("type_desc", kind)
            .integer("data_space_id", file.filegroup)
            .text("name", file.name)
            .text("physical_name", database.folder().join(folder).display().to_string())
            .integer("state", 0)
            .text("state_desc", "ONLINE")
            .integer("size", pages(bytes))
            .integer("max_size", limit.min(i64::from(i32::MAX)))
            .integer("growth", i64::try_from(growth).unwrap_or(i64::MAX).min(i64::from(i32::MAX)))
            .bit("is_percent_growth", is_percent)
    };
    database.files().into_iter().map(row).collect()
}

fn pages(bytes: u64) -> i64 {
    i64::try_from(bytes / PAGE_BYTES).unwrap_or(i64::MAX).min(i64::from(i32::MAX))
}

fn database_files(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    Ok(files(view, source.database).into_iter().map(RowBuilder::done).collect())
}

fn master_files(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let mut rows = Vec::new();
    for database in source.every_database() {
        rows.extend(files(view, &database).into_iter().map(|row| row.integer("database_id", database.id()).done()));
    }
    Ok(rows)
}

/// Microseconds of a millisecond.
const MS: u64 = 1_000;

fn file_stats(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let mut rows = Vec::new();
    let sample_ms = machine::ms_ticks();
    for database in source.databases(0) {
        let (data, log) = (database.store().data_io(), database.log_stats());
        let row = |file_id: i32, bytes: u64| {
            view.row()
                .integer("database_id", database.id())
                .integer("file_id", file_id)
                .integer("sample_ms", sample_ms)
                .integer("size_on_disk_bytes", bytes)
        };
        let of_data = row(DATA_FILE_ID, data_bytes(&database))
            .integer("num_of_reads", data.reads)
            .integer("num_of_bytes_read", data.read_bytes)
            .integer("io_stall_read_ms", data.read_us / MS)
            .integer("num_of_writes", data.writes)
            .integer("num_of_bytes_written", data.write_bytes)
            .integer("io_stall_write_ms", data.write_us / MS)
            .integer("io_stall", (data.read_us + data.write_us) / MS);
        let of_log = row(LOG_FILE_ID, log.bytes)
            .integer("num_of_writes", log.flushes)
            .integer("num_of_bytes_written", log.bytes_written)
            .integer("io_stall_write_ms", log.flush_write_us / MS)
            .integer("io_stall", log.flush_write_us / MS);
        let wanted = |file_id: i32| source.integer(1).is_none_or(|wanted| wanted == i64::from(file_id));
        rows.extend(wanted(DATA_FILE_ID).then(|| of_data.done()));
        rows.extend(wanted(LOG_FILE_ID).then(|| of_log.done()));
    }
    Ok(rows)
}

fn filegroups(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let row = |own: &std::sync::Arc<Filegroup>| {
        let row = filegroup_row(view, own).bit("is_read_only", false);
        row.bit("is_autogrow_all_files", own.grows_all_files).done()
    };
    Ok(source.catalog.filegroups().map(row).collect())
}

/// The columns that `sys.filegroups` and `sys.data_spaces` share.
pub(super) fn filegroup_row(view: &View, filegroup: &Filegroup) -> RowBuilder {
    let (code, kind) = filegroup.contents.kind();
    let row = view.row().text("name", &filegroup.name).integer("data_space_id", filegroup.data_space_id);
    let row = row.text("type", code).text("type_desc", kind);
    row.bit("is_default", filegroup.is_default).bit("is_system", false)
}
