//! What the machine has around the server: `sys.dm_os_volume_stats`, `dm_os_sys_memory`.

use super::Kind::{BigInt, Bit, Int, Text, TinyInt};
use super::Nullable::{No, Yes};
use super::memory::kb_of;
use super::{Function, Rows, Source, View};
use pikepole_machine::{SystemFiles, Volume};
use pikepole_types::{SqlError, Value};
use std::path::Path;

pub(super) const VIEWS: &[View] = &[View {
    schema: "sys",
    name: "dm_os_sys_memory",
    columns: &[
        ("total_physical_memory_kb", BigInt, No),
        ("available_physical_memory_kb", BigInt, No),
        ("total_page_file_kb", BigInt, No),
        ("available_page_file_kb", BigInt, No),
        ("system_cache_kb", BigInt, No),
        ("kernel_paged_pool_kb", BigInt, No),
        ("kernel_nonpaged_pool_kb", BigInt, No),
        ("system_high_memory_signal_state", Bit, No),
        ("system_low_memory_signal_state", Bit, No),
        ("system_memory_state_desc", Text(256), No),
    ],
    rows: sys_memory,
}];

pub(super) const FUNCTIONS: &[Function] = &[
    Function {
        view: View {
            schema: "sys",
            name: "dm_os_volume_stats",
            columns: &[
                ("database_id", Int, No),
                ("file_id", Int, No),
                ("volume_mount_point", Text(512), Yes),
                ("volume_id", Text(512), Yes),
                ("logical_volume_name", Text(512), Yes),
                ("file_system_type", Text(512), Yes),
                ("total_bytes", BigInt, Yes),
                ("available_bytes", BigInt, Yes),
                ("supports_compression", TinyInt, Yes),
                ("supports_alternate_streams", TinyInt, Yes),
                ("supports_sparse_files", TinyInt, Yes),
                ("is_read_only", TinyInt, Yes),
                ("is_compressed", TinyInt, Yes),
                ("incurs_seek_penalty", TinyInt, Yes),
            ],
            rows: volume_stats,
        },
        parameters: &[Int, Int],
    },
    Function {
        view: View {
            schema: "sys",
            name: "dm_os_file_exists",
            columns: &[
                ("file_exists", Bit, No),
                ("file_is_a_directory", Bit, No),
                ("parent_directory_exists", Bit, No),
            ],
            rows: file_exists,
        },
        parameters: &[Text(4000)],
    },
];

/// What of the memory must be available for it to be plenty, and below what it is short.
const PLENTY_SHARE: u64 = 8;
const SHORT_SHARE: u64 = 64;

/// What is at a path of the server's machine.
fn file_exists(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let Some(path) = source.arguments.first().and_then(Value::as_str) else { return Ok(Rows::new()) };
    let (disk, path) = (source.server.disk(), Path::new(path));
    let is_folder = disk.is_dir(path);
    let parent = path.parent().is_some_and(|parent| disk.is_dir(parent));
    let row = view.row().bit("file_exists", !is_folder && disk.exists(path)).bit("file_is_a_directory", is_folder);
    Ok(vec![row.bit("parent_directory_exists", parent).done()])
}

fn sys_memory(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let files = SystemFiles::below("/");
    let meminfo = files.read("proc/meminfo").unwrap_or_default();
    let kb = |name: &str| kb_of(&meminfo, name);
    // In a control group with a limit that is all there is.
    let total = source.server.memory_limit().system.bytes >> 10;
    let available = pikepole_machine::available_memory(&files).map_or(0, |bytes| bytes >> 10).min(total);
    let (is_plenty, is_short) = (available >= total / PLENTY_SHARE, available < total / SHORT_SHARE);
    let state = match (is_plenty, is_short) {
        (true, _) => "Available physical memory is high",
        (_, true) => "Available physical memory is low",
        _ => "Physical memory usage is steady",
    };
    let row = view
        .row()
        .integer("total_physical_memory_kb", total)
        .integer("available_physical_memory_kb", available)
        .integer("total_page_file_kb", total + kb("SwapTotal"))
        .integer("available_page_file_kb", available + kb("SwapFree"))
        .integer("system_cache_kb", kb("Cached"))
        .integer("kernel_paged_pool_kb", kb("SReclaimable"))
        .integer("kernel_nonpaged_pool_kb", kb("SUnreclaim"))
        .bit("system_high_memory_signal_state", is_plenty)
        .bit("system_low_memory_signal_state", is_short)
        .text("system_memory_state_desc", state);
    Ok(vec![row.done()])
}

/// The volume that the folder of a database's file is on.
fn volume_stats(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let (Some(database), Some(file_id @ 1..=2)) = (source.one_database(0), source.integer(1)) else {
        return Ok(Rows::new());
    };
    let Some(volume) = Volume::of(database.folder(), &SystemFiles::below("/")) else { return Ok(Rows::new()) };
    let row = view
        .row()
        .integer("database_id", database.id())
        .integer("file_id", file_id)
        .text("volume_mount_point", volume.mount_point)
        .text("volume_id", volume.device)
        .text("logical_volume_name", "")
        .text("file_system_type", volume.file_system)
        .integer("total_bytes", volume.bytes)
        .integer("available_bytes", volume.free_bytes)
        .bit("is_read_only", volume.is_read_only);
    Ok(vec![row.done()])
}
