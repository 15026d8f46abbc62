//! What tools ask of a server beside its databases: `sys.servers`, `resource_governor_configuration`, `database_mirroring`,
//! `database_recovery_status`, `database_filestream_options`.

use super::Kind::{Bit, DateTime, Guid, Int, Lsn, Name, Text, TinyInt};
use super::Nullable::{No, Yes};
use super::{Rows, Source, View};
use pikepole_engine::Database;
use pikepole_types::SqlError;
use std::sync::Arc;

pub(super) const VIEWS: &[View] = &[
    View {
        schema: "sys",
        name: "servers",
        columns: &[
            ("server_id", Int, No),
            ("name", Name, No),
            ("product", Name, No),
            ("provider", Name, No),
            ("data_source", Text(4000), Yes),
            ("location", Text(4000), Yes),
            ("provider_string", Text(4000), Yes),
            ("catalog", Name, Yes),
            ("connect_timeout", Int, Yes),
            ("query_timeout", Int, Yes),
            ("is_linked", Bit, No),
            ("is_remote_login_enabled", Bit, No),
            ("is_rpc_out_enabled", Bit, No),
            ("is_data_access_enabled", Bit, No),
            ("is_collation_compatible", Bit, No),
            ("uses_remote_collation", Bit, No),
            ("collation_name", Name, Yes),
            ("lazy_schema_validation", Bit, No),
            ("is_system", Bit, No),
            ("is_publisher", Bit, No),
            ("is_subscriber", Bit, Yes),
            ("is_distributor", Bit, Yes),
            ("is_nonsql_subscriber", Bit, Yes),
            ("is_remote_proc_transaction_promotion_enabled", Bit, Yes),
            ("modify_date", DateTime, No),
            ("is_rda_server", Bit, Yes),
        ],
        rows: servers,
    },
    View {
        schema: "sys",
        name: "resource_governor_configuration",
        columns: &[
            ("classifier_function_id", Int, No),
            ("is_enabled", Bit, No),
            ("max_outstanding_io_per_volume", Int, No),
        ],
        // There is none: the row that says so is of a server where it was never switched on.
        rows: |view, _| Ok(vec![view.row().done()]),
    },
    View {
        schema: "sys",
        name: "database_mirroring",
        columns: &[
            ("database_id", Int, No),
            ("mirroring_guid", Guid, Yes),
            ("mirroring_state", TinyInt, Yes),
            ("mirroring_state_desc", Text(60), Yes),
            ("mirroring_role", TinyInt, Yes),
            ("mirroring_role_desc", Text(60), Yes),
            ("mirroring_role_sequence", Int, Yes),
            ("mirroring_safety_level", TinyInt, Yes),
            ("mirroring_safety_level_desc", Text(60), Yes),
            ("mirroring_safety_sequence", Int, Yes),
            ("mirroring_partner_name", Text(128), Yes),
            ("mirroring_partner_instance", Text(128), Yes),
            ("mirroring_witness_name", Text(128), Yes),
            ("mirroring_witness_state", TinyInt, Yes),
            ("mirroring_witness_state_desc", Text(60), Yes),
            ("mirroring_failover_lsn", Lsn, Yes),
            ("mirroring_connection_timeout", Int, Yes),
            ("mirroring_redo_queue", Int, Yes),
            ("mirroring_redo_queue_type", Text(60), Yes),
            ("mirroring_end_of_log_lsn", Lsn, Yes),
            ("mirroring_replication_lsn", Lsn, Yes),
        ],
        rows: database_mirroring,
    },
    View {
        schema: "sys",
        name: "database_recovery_status",
        columns: &[
            ("database_id", Int, No),
            ("database_guid", Guid, Yes),
            ("family_guid", Guid, Yes),
            ("last_log_backup_lsn", Lsn, Yes),
            ("recovery_fork_guid", Guid, Yes),
            ("first_recovery_fork_guid", Guid, Yes),
            ("fork_point_lsn", Lsn, Yes),
        ],
        rows: database_recovery_status,
    },
    View {
        schema: "sys",
        name: "database_filestream_options",
        columns: &[
            ("database_id", Int, No),
            ("non_transacted_access", TinyInt, No),
            ("non_transacted_access_desc", Text(60), No),
            ("directory_name", Text(255), Yes),
        ],
        rows: database_filestream_options,
    },
];

/// This server; there are no linked ones.
fn servers(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let name = source.registry.server_name();
    let row = view
        .row()
        .text("name", name)
        .text("product", "SQL Server")
        .text("provider", "SQLNCLI")
        .text("data_source", name)
        .bit("is_data_access_enabled", false)
        .moment("modify_date", source.server.started_us());
    Ok(vec![row.done()])
}

/// Each database, without a mirror.
fn database_mirroring(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let databases = source.server.databases();
    Ok(databases.iter().map(|info| view.row().integer("database_id", info.id).done()).collect())
}

/// Where the next log backup of each open database begins.
fn database_recovery_status(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let row = |database: &Arc<Database>| {
        let row = view.row().integer("database_id", database.id());
        row.lsn_if("last_log_backup_lsn", database.next_log_backup()).done()
    };
    Ok(source.every_database().iter().map(row).collect())
}

/// No database has files beside its tables.
fn database_filestream_options(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let row = |id: i32| view.row().integer("database_id", id).text("non_transacted_access_desc", "OFF").done();
    Ok(source.server.databases().iter().map(|info| row(info.id)).collect())
}
