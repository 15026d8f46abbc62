//! What else tools ask of a server and a database before they look further: `sys.dm_server_services`, `dm_os_enumerate_fixed_drives`,
//! `database_query_store_options`, `database_automatic_tuning_options`, and what is in a page's
//! resource, `fn_PageResCracker`, and in a row's place, `fn_PhysLocCracker`.

use super::Kind::{BigInt, Bytes, DateTime, Int, Name, SmallInt, Text};
use super::Nullable::{No, Yes};
use super::{Function, Rows, Source, View};
use crate::functions::{StoredPlace, row_place};
use pikepole_machine::{SystemFiles, Volume};
use pikepole_types::{SqlError, Value};

pub(super) const VIEWS: &[View] = &[
    View {
        schema: "sys",
        name: "dm_server_services",
        columns: &[
            ("servicename", Text(256), No),
            ("startup_type", Int, Yes),
            ("startup_type_desc", Text(256), No),
            ("status", Int, Yes),
            ("status_desc", Text(256), No),
            ("process_id", Int, Yes),
            ("last_startup_time", DateTime, Yes),
            ("service_account", Text(256), No),
            ("filename", Text(256), No),
            ("is_clustered", Text(1), No),
            ("cluster_nodename", Text(256), Yes),
            ("instant_file_initialization_enabled", Text(1), No),
        ],
        rows: server_services,
    },
    View {
        schema: "sys",
        name: "dm_os_enumerate_fixed_drives",
        columns: &[
            ("fixed_drive_path", Text(512), No),
            ("drive_type", Int, No),
            ("drive_type_desc", Text(512), No),
            ("free_space_in_bytes", BigInt, No),
        ],
        rows: fixed_drives,
    },
    View {
        schema: "sys",
        name: "database_query_store_options",
        columns: &[
            ("desired_state", SmallInt, No),
            ("desired_state_desc", Text(60), Yes),
            ("actual_state", SmallInt, No),
            ("actual_state_desc", Text(60), Yes),
            ("readonly_reason", Int, Yes),
            ("current_storage_size_mb", BigInt, Yes),
            ("flush_interval_seconds", BigInt, Yes),
            ("interval_length_minutes", BigInt, Yes),
            ("max_storage_size_mb", BigInt, Yes),
            ("stale_query_threshold_days", BigInt, Yes),
            ("max_plans_per_query", BigInt, Yes),
            ("query_capture_mode", SmallInt, No),
            ("query_capture_mode_desc", Text(60), Yes),
            ("size_based_cleanup_mode", SmallInt, No),
            ("size_based_cleanup_mode_desc", Text(60), Yes),
            ("wait_stats_capture_mode", SmallInt, No),
            ("wait_stats_capture_mode_desc", Text(60), Yes),
            ("actual_state_additional_info", Text(4000), Yes),
        ],
        rows: query_store_options,
    },
    View {
        schema: "sys",
        name: "database_automatic_tuning_options",
        columns: &[
            ("name", Name, Yes),
            ("desired_state", SmallInt, Yes),
            ("desired_state_desc", Text(60), Yes),
            ("actual_state", SmallInt, Yes),
            ("actual_state_desc", Text(60), Yes),
            ("reason", SmallInt, Yes),
            ("reason_desc", Text(60), Yes),
        ],
        rows: tuning_options,
    },
];

pub(super) const FUNCTIONS: &[Function] = &[
    Function {
        view: View {
            schema: "sys",
            name: "fn_PageResCracker",
            columns: &[("db_id", Int, Yes), ("file_id", Int, Yes), ("page_id", Int, Yes)],
            rows: page_of_resource,
        },
        parameters: &[Bytes(8)],
    },
    Function {
        view: View {
            schema: "sys",
            name: "fn_PhysLocCracker",
            columns: &[("file_id", Int, No), ("page_id", Int, No), ("slot_id", Int, No)],
            rows: place_of_row,
        },
        parameters: &[Bytes(8)],
    },
];

/// This process, as the one service there is.
fn server_services(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    /// "Running", of the states of a service.
    const RUNNING: i32 = 4;
    let program = std::env::current_exe().map(|path| path.display().to_string()).unwrap_or_default();
    let row = view
        .row()
        .text("servicename", "SQL Server (MSSQLSERVER)")
        .text("startup_type_desc", "Other")
        .integer("status", RUNNING)
        .text("status_desc", "Running")
        .integer("process_id", std::process::id())
        .moment("last_startup_time", source.server.started_us())
        .text("service_account", std::env::var("USER").unwrap_or_default())
        .text("filename", program)
        .text("is_clustered", "N")
        .text("instant_file_initialization_enabled", "N");
    Ok(vec![row.done()])
}

/// The volume that the databases are on.
fn fixed_drives(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    /// A fixed drive, of the types of drives.
    const FIXED: i32 = 3;
    let volume = Volume::of(source.server.folder(), &SystemFiles::below("/"));
    let row = |volume: Volume| {
        view.row()
            .text("fixed_drive_path", volume.mount_point)
            .integer("drive_type", FIXED)
            .text("drive_type_desc", "DRIVE_FIXED")
            .integer("free_space_in_bytes", volume.free_bytes)
            .done()
    };
    Ok(volume.map(row).into_iter().collect())
}

/// There is no query store: it is off in every database, with the limits of a new one.
fn query_store_options(view: &View, _: &Source<'_>) -> Result<Rows, SqlError> {
    let row = view
        .row()
        .text("desired_state_desc", "OFF")
        .text("actual_state_desc", "OFF")
        .integer("readonly_reason", 0)
        .integer("current_storage_size_mb", 0)
        .integer("flush_interval_seconds", 900)
        .integer("interval_length_minutes", 60)
        .integer("max_storage_size_mb", 1000)
        .integer("stale_query_threshold_days", 30)
        .integer("max_plans_per_query", 200)
        .integer("query_capture_mode", 3)
        .text("query_capture_mode_desc", "NONE")
        .text("size_based_cleanup_mode_desc", "OFF")
        .text("wait_stats_capture_mode_desc", "OFF");
    Ok(vec![row.done()])
}

/// No plan is forced by itself.
fn tuning_options(view: &View, _: &Source<'_>) -> Result<Rows, SqlError> {
    /// The option is not offered, of the reasons for a state.
    const NOT_SUPPORTED: i32 = 13;
    let row = view
        .row()
        .text("name", "FORCE_LAST_GOOD_PLAN")
        .integer("desired_state", 0)
        .text("desired_state_desc", "OFF")
        .integer("actual_state", 0)
        .text("actual_state_desc", "OFF")
        .integer("reason", NOT_SUPPORTED)
        .text("reason_desc", "NOT_SUPPORTED");
    Ok(vec![row.done()])
}

/// A page's resource is its page in four bytes, its file in two and its database in two, the lowest first.
fn page_of_resource(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let resource = match source.arguments.first() {
        Some(Value::Bin(bytes)) => <[u8; 8]>::try_from(bytes.as_slice()).ok(),
        _ => None,
    };
    let row = |[a, b, c, d, e, f, g, h]: [u8; 8]| {
        view.row()
            .integer("db_id", u16::from_le_bytes([g, h]))
            .integer("file_id", u16::from_le_bytes([e, f]))
            .integer("page_id", u32::from_le_bytes([a, b, c, d]))
            .done()
    };
    Ok(resource.map(row).into_iter().collect())
}

/// What is in a value of `%%physloc%%`; of NULL there is no row.
fn place_of_row(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let row = |place: StoredPlace| {
        view.row().integer("file_id", place.file).integer("page_id", place.page).integer("slot_id", place.slot).done()
    };
    Ok(source.arguments.first().and_then(row_place).map(row).into_iter().collect())
}
