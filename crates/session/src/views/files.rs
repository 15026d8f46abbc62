//! `sys.database_files`, `filegroups`.

use super::Kind::{Bit, Code, DateTime, Guid, Int, Lsn, Name, Text, TinyInt};
use super::Nullable::{No, Yes};
use super::indexes::PRIMARY;
use super::{Rows, Source, View};
use pikepole_engine::Database;
use pikepole_types::SqlError;

/// Bytes of a page, the unit of file sizes.
const PAGE_BYTES: u64 = 8192;

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

/// Bytes of the page files of a database.
pub(crate) fn data_bytes(database: &Database) -> u64 {
    u64::from(database.store().file_pages()) * PAGE_BYTES
}

/// The page files and the log of the current database.
fn database_files(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let name = source.database.name();
    let row = |file_id: i32, type_number: i32, kind: &str, space: i32, file: String, path: String, bytes: u64| {
        view.row()
            .integer("file_id", file_id)
            .integer("type", type_number)
            .text("type_desc", kind)
            .integer("data_space_id", space)
            .text("name", file)
            .text("physical_name", path)
            .integer("state", 0)
            .text("state_desc", "ONLINE")
            .integer("size", bytes / PAGE_BYTES)
            .integer("max_size", -1)
            .done()
    };
    let folder = source.database.folder();
    let data = folder.join("data").display().to_string();
    let log = folder.join("log").display().to_string();
    let log_bytes = source.database.log_stats().bytes;
    Ok(vec![
        row(1, 0, "ROWS", PRIMARY, name.to_string(), data, data_bytes(source.database)),
        row(2, 1, "LOG", 0, format!("{name}_log"), log, log_bytes),
    ])
}

fn filegroups(view: &View, _: &Source<'_>) -> Result<Rows, SqlError> {
    let row = view
        .row()
        .text("name", "PRIMARY")
        .integer("data_space_id", PRIMARY)
        .text("type", "FG")
        .text("type_desc", "ROWS_FILEGROUP")
        .bit("is_default", true)
        .bit("is_system", false)
        .bit("is_read_only", false)
        .bit("is_autogrow_all_files", false);
    Ok(vec![row.done()])
}
