//! `sys.databases`, `configurations`, `messages`.

use super::Kind::{Bit, Bytes, DateTime, Guid, Int, Name, SmallInt, Text, TinyInt, Variant};
use super::Nullable::{No, Yes};
use super::{RowBuilder, Rows, Source, View, datetime};
use crate::configuration;
use pikepole_engine::{
    Database, DatabaseInfo, DatabaseState, DelayedDurability, LogFullReason, MASTER, RecoveryModel, ScopedKind,
    ScopedRow,
};
use pikepole_types::{ERRORS, SqlError, SqlType, Value};

/// `compatibility_level` of every database.
pub(crate) const COMPATIBILITY_LEVEL: i32 = 160;

/// The version of a database's files, as SQL Server 2022 counts.
pub(crate) const DATABASE_VERSION: i32 = 957;

/// When DBCC CHECKDB last found nothing wrong, as a `datetime`: if never, where datetimes begin.
pub(crate) fn last_good_check(database: &Database) -> Value {
    let never = || pikepole_types::DateTime::from_ticks(0).map_or(Value::Null, Value::DateTime);
    database.last_good_check_us().map_or_else(never, datetime)
}

pub(super) const VIEWS: &[View] = &[
    View {
        schema: "sys",
        name: "databases",
        columns: &[
            ("name", Name, No),
            ("database_id", Int, No),
            ("source_database_id", Int, Yes),
            ("owner_sid", Bytes(85), Yes),
            ("create_date", DateTime, No),
            ("compatibility_level", TinyInt, No),
            ("collation_name", Name, Yes),
            ("user_access", TinyInt, Yes),
            ("user_access_desc", Text(60), Yes),
            ("is_read_only", Bit, Yes),
            ("is_auto_close_on", Bit, No),
            ("is_auto_shrink_on", Bit, Yes),
            ("state", TinyInt, Yes),
            ("state_desc", Text(60), Yes),
            ("is_in_standby", Bit, Yes),
            ("is_cleanly_shutdown", Bit, Yes),
            ("is_supplemental_logging_enabled", Bit, Yes),
            ("snapshot_isolation_state", TinyInt, Yes),
            ("snapshot_isolation_state_desc", Text(60), Yes),
            ("is_read_committed_snapshot_on", Bit, Yes),
            ("recovery_model", TinyInt, Yes),
            ("recovery_model_desc", Text(60), Yes),
            ("page_verify_option", TinyInt, Yes),
            ("page_verify_option_desc", Text(60), Yes),
            ("is_auto_create_stats_on", Bit, Yes),
            ("is_auto_create_stats_incremental_on", Bit, Yes),
            ("is_auto_update_stats_on", Bit, Yes),
            ("is_auto_update_stats_async_on", Bit, Yes),
            ("is_ansi_null_default_on", Bit, Yes),
            ("is_ansi_nulls_on", Bit, Yes),
            ("is_ansi_padding_on", Bit, Yes),
            ("is_ansi_warnings_on", Bit, Yes),
            ("is_arithabort_on", Bit, Yes),
            ("is_concat_null_yields_null_on", Bit, Yes),
            ("is_numeric_roundabort_on", Bit, Yes),
            ("is_quoted_identifier_on", Bit, Yes),
            ("is_recursive_triggers_on", Bit, Yes),
            ("is_cursor_close_on_commit_on", Bit, Yes),
            ("is_local_cursor_default", Bit, Yes),
            ("is_fulltext_enabled", Bit, Yes),
            ("is_trustworthy_on", Bit, Yes),
            ("is_db_chaining_on", Bit, Yes),
            ("is_parameterization_forced", Bit, Yes),
            ("is_master_key_encrypted_by_server", Bit, No),
            ("is_query_store_on", Bit, Yes),
            ("is_published", Bit, No),
            ("is_subscribed", Bit, No),
            ("is_merge_published", Bit, No),
            ("is_distributor", Bit, No),
            ("is_sync_with_backup", Bit, No),
            ("service_broker_guid", Guid, No),
            ("is_broker_enabled", Bit, No),
            ("log_reuse_wait", TinyInt, Yes),
            ("log_reuse_wait_desc", Text(60), Yes),
            ("is_date_correlation_on", Bit, No),
            ("is_cdc_enabled", Bit, No),
            ("is_encrypted", Bit, Yes),
            ("is_honor_broker_priority_on", Bit, Yes),
            ("replica_id", Guid, Yes),
            ("group_database_id", Guid, Yes),
            ("resource_pool_id", Int, Yes),
            ("default_language_lcid", SmallInt, Yes),
            ("default_language_name", Name, Yes),
            ("default_fulltext_language_lcid", Int, Yes),
            ("default_fulltext_language_name", Name, Yes),
            ("is_nested_triggers_on", Bit, Yes),
            ("is_transform_noise_words_on", Bit, Yes),
            ("two_digit_year_cutoff", SmallInt, Yes),
            ("containment", TinyInt, Yes),
            ("containment_desc", Text(60), Yes),
            ("target_recovery_time_in_seconds", Int, Yes),
            ("delayed_durability", Int, Yes),
            ("delayed_durability_desc", Text(60), Yes),
            ("is_memory_optimized_elevate_to_snapshot_on", Bit, Yes),
            ("is_federation_member", Bit, Yes),
            ("is_remote_data_archive_enabled", Bit, Yes),
            ("is_mixed_page_allocation_on", Bit, Yes),
            ("is_temporal_history_retention_enabled", Bit, Yes),
            ("catalog_collation_type", Int, No),
            ("catalog_collation_type_desc", Text(60), Yes),
            ("physical_database_name", Name, Yes),
            ("is_result_set_caching_on", Bit, Yes),
            ("is_accelerated_database_recovery_on", Bit, Yes),
            ("is_tempdb_spill_to_remote_store", Bit, Yes),
            ("is_stale_page_detection_on", Bit, Yes),
            ("is_memory_optimized_enabled", Bit, Yes),
            ("is_data_retention_enabled", Bit, Yes),
            ("is_ledger_on", Bit, Yes),
            ("is_change_feed_enabled", Bit, Yes),
        ],
        rows: databases,
    },
    View {
        schema: "sys",
        name: "configurations",
        columns: &[
            ("configuration_id", Int, No),
            ("name", Text(35), No),
            ("value", Variant, Yes),
            ("minimum", Variant, Yes),
            ("maximum", Variant, Yes),
            ("value_in_use", Variant, Yes),
            ("description", Text(255), No),
            ("is_dynamic", Bit, No),
            ("is_advanced", Bit, No),
        ],
        rows: configurations,
    },
    View {
        schema: "sys",
        name: "dm_pikepole_policies",
        columns: &[
            ("name", Text(35), No),
            ("value", Text(60), No),
            ("value_in_use", Text(60), No),
            ("default_value", Text(60), No),
            ("allowed_values", Text(400), No),
            ("description", Text(400), No),
            ("is_dynamic", Bit, No),
            ("statistics_rows", Text(400), Yes),
        ],
        rows: policies,
    },
    View {
        schema: "sys",
        name: "database_scoped_configurations",
        columns: &[
            ("configuration_id", Int, Yes),
            ("name", Text(60), Yes),
            ("value", Variant, Yes),
            ("value_for_secondary", Variant, Yes),
            ("is_value_default", Bit, Yes),
        ],
        rows: scoped_configurations,
    },
    View {
        schema: "sys",
        name: "messages",
        columns: &[
            ("message_id", Int, No),
            ("language_id", SmallInt, No),
            ("severity", TinyInt, Yes),
            ("is_event_logged", Bit, No),
            ("text", Text(2048), No),
        ],
        rows: messages,
    },
];

/// Switches that mean something elsewhere and are always off here.
const OFF: &[&str] = &[
    "is_read_only",
    "is_in_standby",
    "is_cleanly_shutdown",
    "is_supplemental_logging_enabled",
    "is_auto_create_stats_incremental_on",
    "is_local_cursor_default",
    "is_fulltext_enabled",
    "is_parameterization_forced",
    "is_query_store_on",
    "is_encrypted",
    "is_federation_member",
    "is_remote_data_archive_enabled",
    "is_mixed_page_allocation_on",
    "is_temporal_history_retention_enabled",
    "is_result_set_caching_on",
    "is_tempdb_spill_to_remote_store",
    "is_stale_page_detection_on",
    "is_memory_optimized_enabled",
    "is_data_retention_enabled",
    "is_ledger_on",
];

/// Switches that are always on here.
const ON: &[&str] = &["is_accelerated_database_recovery_on"];

fn databases(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let row = |info: &DatabaseInfo| {
        let reason = source.server.database_by_id(info.id).map(|database| database.log_full_reason());
        let reason = reason.unwrap_or(LogFullReason::Nothing);
        let owner = source.server.database_by_id(info.id).and_then(|database| {
            let catalog = database.current_catalog();
            catalog.users().get(pikepole_engine::DBO).map(|dbo| dbo.sid.clone())
        });
        let owner = Value::Bin(owner.unwrap_or_else(|| vec![1]));
        database_row(view, info)
            .value("owner_sid", owner)
            .integer("log_reuse_wait", reason.number())
            .text("log_reuse_wait_desc", reason.name())
    };
    Ok(source.server.databases().iter().map(|info| row(info).done()).collect())
}

fn database_row(view: &View, database: &DatabaseInfo) -> RowBuilder {
    let options = database.options;
    let state = match database.state {
        DatabaseState::Online => 0,
        DatabaseState::Restoring => 1,
        DatabaseState::Suspect(_) => 4,
        DatabaseState::Offline => 6,
    };
    let recovery = match options.recovery {
        RecoveryModel::Full => 1,
        RecoveryModel::BulkLogged => 2,
        RecoveryModel::Simple => 3,
    };
    let durability = match options.delayed_durability {
        DelayedDurability::Disabled => 0,
        DelayedDurability::Allowed => 1,
        DelayedDurability::Forced => 2,
    };
    let snapshot = options.allow_snapshot_isolation;
    let row = view
        .row()
        .text("name", &database.name)
        .integer("database_id", database.id)
        .moment("create_date", database.created_us)
        .integer("compatibility_level", COMPATIBILITY_LEVEL)
        .text("collation_name", options.collation.name())
        .integer("user_access", options.user_access.number())
        .text("user_access_desc", options.user_access.name())
        .integer("state", state)
        .text("state_desc", database.state.name())
        .bit("snapshot_isolation_state", snapshot)
        .text("snapshot_isolation_state_desc", if snapshot { "ON" } else { "OFF" })
        .bit("is_read_committed_snapshot_on", options.read_committed_snapshot)
        .bit("is_recursive_triggers_on", options.recursive_triggers)
        .integer("recovery_model", recovery)
        .text("recovery_model_desc", options.recovery.name())
        .integer("page_verify_option", 2)
        .text("page_verify_option_desc", "CHECKSUM")
        .integer("containment", 0)
        .text("containment_desc", "NONE")
        .integer("delayed_durability", durability)
        .text("delayed_durability_desc", options.delayed_durability.name())
        .text("catalog_collation_type_desc", "DATABASE_DEFAULT")
        .text("physical_database_name", &database.name);
    let row = OFF.iter().fold(row, |row, name| row.bit(name, false));
    let row = ON.iter().fold(row, |row, name| row.bit(name, true));
    options.switches.columns().fold(row, |row, (name, on)| row.bit(name, on))
}

fn scoped_configurations(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let value = |row: RowBuilder, column: &str, kind: ScopedKind, number: i32| match kind {
        ScopedKind::Switch => row.value(column, super::in_variant(SqlType::Bit, Value::Bit(number != 0))),
        ScopedKind::Number(_) => row.integer(column, number),
        ScopedKind::Word(words) => {
            let word = usize::try_from(number).ok().and_then(|place| words.get(place));
            row.text_if(column, word.copied())
        }
    };
    let row = |own: ScopedRow| {
        let row = view.row().integer("configuration_id", own.id).text("name", own.name);
        let row = value(row, "value", own.kind, own.value).bit("is_value_default", own.is_usual);
        match own.secondary {
            Some(number) => value(row, "value_for_secondary", own.kind, number),
            None => row,
        }
    };
    Ok(source.database.options().scoped.rows().map(|own| row(own).done()).collect())
}

fn configurations(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let row = |option: &configuration::ConfigurationOption| {
        view.row()
            .integer("configuration_id", option.number)
            .text("name", option.name)
            .integer("value", option.configured)
            .integer("minimum", option.minimum)
            .integer("maximum", option.maximum)
            .integer("value_in_use", option.running)
            .text("description", &option.description)
            .bit("is_dynamic", option.dynamic)
            .bit("is_advanced", option.advanced)
            .done()
    };
    Ok(configuration::options(source.server).iter().map(row).collect())
}

/// The policies of this engine, by the words that they are.
fn policies(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let row = |policy: &pikepole_engine::PolicyRow| {
        view.row()
            .text("name", policy.name)
            .text("value", &*policy.value)
            .text("value_in_use", &*policy.running)
            .text("default_value", &*policy.default)
            .text("allowed_values", policy.allowed.join(", "))
            .text("description", policy.description)
            .bit("is_dynamic", policy.takes_effect == pikepole_engine::Effect::Now)
            .text_if("statistics_rows", policy.statistics_rows.as_deref())
            .done()
    };
    Ok(source.server.policies().iter().map(row).collect())
}

fn messages(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let row = |error: &pikepole_types::ErrorTemplate| {
        view.row()
            .integer("message_id", error.number)
            .integer("language_id", 1033)
            .integer("severity", error.severity)
            .text("text", error.text_with("%s"))
            .done()
    };
    let mut rows: Rows = ERRORS.iter().map(row).collect();
    let master = source.server.database(MASTER)?;
    // In master the session's own uncommitted messages count.
    let is_here = master.id() == source.database.id();
    let committed = master.current_catalog();
    let catalog = if is_here { source.catalog } else { &*committed };
    for message in catalog.messages() {
        rows.extend(message.texts.iter().map(|(language, text)| {
            let row = view.row().integer("message_id", message.number).integer("language_id", *language);
            let row = row.integer("severity", message.severity).bit("is_event_logged", message.is_logged);
            row.text("text", text).done()
        }));
    }
    Ok(rows)
}
