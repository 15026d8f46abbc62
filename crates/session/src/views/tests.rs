use super::*;
use std::collections::BTreeSet;

#[test]
fn every_view_and_every_column_has_one_name() {
    let mut names = BTreeSet::new();
    for view in all() {
        assert!(names.insert((view.schema, view.name)), "{} twice", view.name);
        let mut columns = BTreeSet::new();
        for (column, _, _) in view.columns {
            assert!(columns.insert(column.to_lowercase()), "{}.{column} twice", view.name);
        }
    }
}

/// How many columns the public documentation gives each view.
const COLUMN_COUNTS: &[(&str, usize)] = &[
    ("dm_os_spinlock_stats", 6),
    ("dm_os_latch_stats", 4),
    ("dm_os_wait_stats", 5),
    ("dm_os_schedulers", 24),
    ("dm_os_tasks", 13),
    ("dm_os_performance_counters", 5),
    ("dm_exec_requests", 62),
    ("dm_exec_sessions", 52),
    ("dm_exec_connections", 22),
    ("dm_exec_session_wait_stats", 6),
    ("sysprocesses", 33),
    ("databases", 88),
    ("configurations", 9),
    ("messages", 5),
    ("database_files", 30),
    ("filegroups", 10),
    ("dm_db_log_space_usage", 5),
    ("dm_db_log_info", 11),
    ("dm_db_log_stats", 19 + 7),
    ("dm_io_virtual_file_stats", 14),
    ("dm_tran_active_transactions", 12),
    ("dm_tran_session_transactions", 9),
    ("dm_tran_database_transactions", 19),
    ("dm_tran_locks", 19),
    ("dm_os_workers", 37),
    ("dm_os_nodes", 17),
    ("dm_os_memory_nodes", 12),
    ("dm_os_sys_info", 35),
    ("dm_os_host_info", 7),
    // The public documentation lists pdw_node_id too, of another product.
    ("dm_os_process_memory", 12),
    ("dm_os_memory_clerks", 14),
    ("master_files", 31),
    // The public documentation does not list its columns.
    ("fn_dblog", 20),
    ("schemas", 3),
    ("objects", 12),
    ("all_objects", 12),
    ("tables", 48),
    ("views", 23),
    ("procedures", 16),
    ("key_constraints", 15),
    ("default_constraints", 15),
    ("sql_modules", 12),
    ("columns", 40),
    ("all_columns", 40),
    ("system_columns", 40),
    ("identity_columns", 44),
    ("types", 15),
    ("parameters", 21),
    ("all_parameters", 21),
    ("indexes", 23),
    ("index_columns", 9),
    ("partitions", 11),
    ("server_principals", 13),
    ("sql_logins", 14),
    ("server_role_members", 2),
    ("server_permissions", 10),
    ("database_principals", 15),
    ("database_role_members", 2),
    ("database_permissions", 10),
    ("login_token", 5),
    ("user_token", 5),
    ("SCHEMATA", 6),
    ("TABLES", 4),
    ("VIEWS", 6),
    ("COLUMNS", 23),
    ("ROUTINES", 51),
    ("TABLE_CONSTRAINTS", 9),
    ("KEY_COLUMN_USAGE", 8),
    ("foreign_keys", 22),
    ("foreign_key_columns", 6),
    ("check_constraints", 19),
    ("computed_columns", 43),
    ("REFERENTIAL_CONSTRAINTS", 9),
    ("CHECK_CONSTRAINTS", 4),
    ("CONSTRAINT_COLUMN_USAGE", 7),
    ("CONSTRAINT_TABLE_USAGE", 6),
    ("DOMAINS", 17),
    ("PARAMETERS", 29),
    ("SEQUENCES", 15),
    ("dm_db_partition_stats", 14),
    ("sysobjects", 25),
    ("sysusers", 20),
    ("syscolumns", 32),
    ("sysdatabases", 12),
    ("sysindexes", 29),
    ("syscomments", 10),
    ("syslanguages", 11),
    ("time_zone_info", 3),
    ("extended_properties", 6),
    ("fn_listextendedproperty", 4),
    ("fn_helpcollations", 2),
    ("fn_my_permissions", 3),
    ("synonyms", 13),
    ("sequences", 26),
    ("triggers", 13),
    ("table_types", 17),
    ("periods", 6),
    ("xml_schema_collections", 6),
    ("assemblies", 10),
    ("sql_expression_dependencies", 15),
    ("fulltext_indexes", 15),
    ("internal_tables", 18),
    ("masked_columns", 41),
    ("system_objects", 12),
    ("system_views", 23),
    ("all_views", 23),
    ("data_spaces", 6),
    ("stats", 14),
    ("stats_columns", 4),
    ("partition_schemes", 7),
    ("partition_functions", 9),
    ("partition_range_values", 4),
    ("partition_parameters", 8),
    ("destination_data_spaces", 3),
    ("trigger_events", 8),
    ("fulltext_catalogs", 9),
    ("fulltext_index_columns", 5),
    ("linked_logins", 5),
    ("credentials", 7),
    ("change_tracking_databases", 6),
    ("change_tracking_tables", 5),
    ("numbered_procedures", 3),
    ("external_data_sources", 11),
    ("availability_replicas", 10),
    ("service_queues", 20),
    ("services", 4),
    ("service_contracts", 3),
    ("service_message_types", 6),
    ("symmetric_keys", 13),
    ("asymmetric_keys", 16),
    ("certificates", 17),
    ("column_master_keys", 8),
    ("column_encryption_keys", 4),
    ("event_notifications", 11),
    ("fulltext_stoplists", 5),
    ("registered_search_property_lists", 5),
    ("assembly_modules", 6),
];

#[test]
fn views_have_the_documented_number_of_columns() {
    let standard = |name: &str| name.chars().all(|c| c.is_uppercase() || c == '_');
    for &(name, count) in COLUMN_COUNTS {
        let schema = if standard(name) { "INFORMATION_SCHEMA" } else { "sys" };
        let (_, view) = find(Some(schema), name).expect(name);
        assert_eq!(view.columns.len(), count, "{name}");
    }
    assert_eq!(all().count(), COLUMN_COUNTS.len(), "a view is missing in this list");
}

#[test]
fn views_are_found_as_scripts_name_them() {
    assert!(find(Some("SYS"), "Objects").is_some());
    assert!(find(Some("information_schema"), "tables").is_some());
    assert!(find(None, "sysprocesses").is_some());
    assert!(find(Some("dbo"), "sysprocesses").is_some());
    assert!(find(None, "objects").is_none());
    assert!(find(Some("dbo"), "objects").is_none());
    let (number, view) = find(Some("sys"), "objects").expect("it is there");
    assert!(by_object_id(object_id(number)).is_some_and(|found| std::ptr::eq(found, view)));
    assert!(by_object_id(1).is_none());
}

#[test]
fn moments_are_datetimes() {
    let text = |us| pikepole_types::to_text(&datetime(us), &SqlType::DateTime);
    assert_eq!(text(0), "1970-01-01 00:00:00.000");
    assert_eq!(text(1_000_000_000_500_000), "2001-09-09 01:46:40.500");
}
