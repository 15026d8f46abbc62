//! Catalog views of what this engine does not have and tools read when they write an object down as a script: selective XML indexes, edges of
//! graphs, labels of sensitive data, stretched tables, audits, sessions of extended events, replicas. They are always empty.

use super::Kind::{
    BigInt, Bit, Bytes, Code, DateTime, Guid, Int, LongText, Lsn, Name, SmallInt, Text, TinyInt, Variant,
};
use super::Nullable::{No, Yes};
use super::empty::empty;
use super::objects::OBJECT;
use super::triggers::EVENT;
use super::{ColumnOf, View, columns_of, concatenate};

/// What an audit's specification listens to, behind the number of the specification.
const AUDIT_DETAIL: &[ColumnOf] = &[
    ("audit_action_id", Code, No),
    ("audit_action_name", Text(60), Yes),
    ("class", TinyInt, No),
    ("class_desc", Text(60), Yes),
    ("major_id", Int, No),
    ("minor_id", Int, No),
    ("audited_principal_id", Int, No),
    ("audited_result", Text(60), Yes),
    ("is_group", Bit, No),
];
const SERVER_AUDIT_DETAIL: [ColumnOf; 10] = concatenate(&[("server_specification_id", Int, No)], AUDIT_DETAIL);
const DATABASE_AUDIT_DETAIL: [ColumnOf; 10] = concatenate(&[("database_specification_id", Int, No)], AUDIT_DETAIL);

pub(super) const VIEWS: &[View] = &[
    empty(
        "backup_devices",
        &[("name", Name, No), ("type", TinyInt, Yes), ("type_desc", Text(60), Yes), ("physical_name", Text(260), Yes)],
    ),
    empty(
        "server_assembly_modules",
        &[
            ("object_id", Int, No),
            ("assembly_id", Int, No),
            ("assembly_class", Name, Yes),
            ("assembly_method", Name, Yes),
            ("execute_as_principal_id", Int, Yes),
        ],
    ),
    empty(
        "service_contract_message_usages",
        &[
            ("service_contract_id", Int, No),
            ("message_type_id", Int, No),
            ("is_sent_by_initiator", Bit, No),
            ("is_sent_by_target", Bit, No),
        ],
    ),
    empty("service_contract_usages", &[("service_id", Int, No), ("service_contract_id", Int, No)]),
    empty(
        "crypt_properties",
        &[
            ("class", TinyInt, No),
            ("class_desc", Text(60), Yes),
            ("major_id", Int, No),
            ("thumbprint", Bytes(32), No),
            ("crypt_type", Code, No),
            ("crypt_type_desc", Text(60), Yes),
            ("crypt_property", Bytes(8000), No),
        ],
    ),
    empty(
        "server_event_notifications",
        &[
            ("name", Name, No),
            ("object_id", Int, No),
            ("parent_class", TinyInt, No),
            ("parent_class_desc", Text(60), Yes),
            ("create_date", DateTime, No),
            ("modify_date", DateTime, No),
            ("service_name", Text(256), Yes),
            ("broker_instance", Text(128), Yes),
            ("creator_sid", Bytes(85), Yes),
            ("principal_id", Int, Yes),
        ],
    ),
    empty("server_events", EVENT),
    empty(
        "server_event_session_targets",
        &[
            ("event_session_id", Int, No),
            ("target_id", Int, No),
            ("name", Text(60), No),
            ("package", Text(60), No),
            ("module", Text(60), No),
        ],
    ),
    empty(
        "server_trigger_events",
        &[
            ("object_id", Int, No),
            ("type", Int, No),
            ("type_desc", Text(60), No),
            ("is_trigger_event", Bit, Yes),
            ("is_first", Bit, Yes),
            ("is_last", Bit, Yes),
            ("event_group_type", Int, Yes),
            ("event_group_type_desc", Text(60), Yes),
        ],
    ),
    empty(
        "remote_data_archive_databases",
        &[
            ("remote_database_id", Int, No),
            ("remote_database_name", Name, No),
            ("data_source_id", Int, No),
            ("federated_service_account", Bit, Yes),
        ],
    ),
    empty(
        "remote_data_archive_tables",
        &[
            ("object_id", Int, No),
            ("remote_database_id", Int, No),
            ("remote_table_name", Name, Yes),
            ("filter_predicate", LongText, Yes),
            ("migration_direction", TinyInt, Yes),
            ("migration_direction_desc", Text(60), Yes),
            ("is_migration_paused", Bit, Yes),
            ("is_reconciled", Bit, Yes),
        ],
    ),
    empty(
        "selective_xml_index_paths",
        &[
            ("object_id", Int, No),
            ("index_id", Int, No),
            ("path_id", Int, No),
            ("path", Text(4000), Yes),
            ("name", Name, Yes),
            ("path_type", TinyInt, Yes),
            ("path_type_desc", Name, Yes),
            ("xml_component_id", Int, Yes),
            ("xquery_type_description", Text(4000), Yes),
            ("is_xquery_type_inferred", Bit, Yes),
            ("xquery_max_length", SmallInt, Yes),
            ("is_xquery_max_length_inferred", Bit, Yes),
            ("is_node", Bit, Yes),
            ("system_type_id", TinyInt, Yes),
            ("user_type_id", Int, Yes),
            ("max_length", SmallInt, Yes),
            ("precision", TinyInt, Yes),
            ("scale", TinyInt, Yes),
            ("collation_name", Name, Yes),
            ("is_singleton", Bit, Yes),
        ],
    ),
    empty(
        "selective_xml_index_namespaces",
        &[
            ("object_id", Int, No),
            ("index_id", Int, No),
            ("is_default_uri", Bit, Yes),
            ("uri", Text(4000), Yes),
            ("prefix", Text(4000), No),
        ],
    ),
    empty(
        "edge_constraints",
        columns_of![OBJECT;
            ("is_disabled", Bit, No),
            ("is_not_trusted", Bit, No),
            ("is_system_named", Bit, No),
            ("delete_referential_action", TinyInt, Yes),
            ("delete_referential_action_desc", Text(60), Yes),
        ],
    ),
    empty(
        "edge_constraint_clauses",
        &[("object_id", Int, No), ("clause_number", Int, No), ("from_object_id", Int, No), ("to_object_id", Int, No)],
    ),
    empty(
        "sensitivity_classifications",
        &[
            ("class", Int, No),
            ("class_desc", Text(60), No),
            ("major_id", Int, No),
            ("minor_id", Int, No),
            ("label", Name, No),
            ("label_id", Name, No),
            ("information_type", Name, No),
            ("information_type_id", Name, No),
            ("rank", Int, Yes),
            ("rank_desc", Name, Yes),
        ],
    ),
    empty(
        "function_order_columns",
        &[("object_id", Int, No), ("order_column_id", Int, No), ("column_id", Int, No), ("is_descending", Bit, No)],
    ),
    empty(
        "numbered_procedure_parameters",
        &[
            ("object_id", Int, No),
            ("procedure_number", SmallInt, No),
            ("name", Name, Yes),
            ("parameter_id", Int, No),
            ("system_type_id", TinyInt, No),
            ("user_type_id", Int, No),
            ("max_length", SmallInt, No),
            ("precision", TinyInt, No),
            ("scale", TinyInt, No),
            ("is_output", Bit, No),
            ("is_cursor_ref", Bit, No),
        ],
    ),
    empty(
        "openkeys",
        &[
            ("database_id", Int, Yes),
            ("database_name", Name, Yes),
            ("key_id", Int, Yes),
            ("key_name", Name, Yes),
            ("key_guid", Guid, Yes),
            ("opened_date", DateTime, Yes),
            ("status", SmallInt, Yes),
        ],
    ),
    empty(
        "fulltext_document_types",
        &[
            ("document_type", Name, No),
            ("class_id", Guid, No),
            ("path", Text(260), Yes),
            ("version", Name, No),
            ("manufacturer", Name, No),
        ],
    ),
    empty("fulltext_semantic_languages", &[("lcid", Int, No), ("name", Name, No)]),
    empty(
        "external_library_files",
        &[
            ("external_library_id", Int, No),
            ("content", Bytes(8000), Yes),
            ("platform", TinyInt, Yes),
            ("platform_desc", Text(60), Yes),
        ],
    ),
    empty(
        "server_file_audits",
        &[
            ("audit_id", Int, No),
            ("name", Name, No),
            ("audit_guid", Guid, Yes),
            ("create_date", DateTime, No),
            ("modify_date", DateTime, No),
            ("principal_id", Int, Yes),
            ("type", Code, No),
            ("type_desc", Text(60), Yes),
            ("on_failure", TinyInt, Yes),
            ("on_failure_desc", Text(60), Yes),
            ("is_state_enabled", Bit, Yes),
            ("queue_delay", Int, Yes),
            ("predicate", Text(3000), Yes),
            ("max_file_size", BigInt, Yes),
            ("max_rollover_files", Int, Yes),
            ("max_files", Int, Yes),
            ("reserve_disk_space", Int, Yes),
            ("log_file_path", Text(260), Yes),
            ("log_file_name", Text(260), Yes),
        ],
    ),
    empty("server_audit_specification_details", &SERVER_AUDIT_DETAIL),
    empty("database_audit_specification_details", &DATABASE_AUDIT_DETAIL),
    empty(
        "server_event_session_events",
        &[
            ("event_session_id", Int, No),
            ("event_id", Int, No),
            ("name", Name, No),
            ("package", Name, No),
            ("module", Name, No),
            ("predicate", Text(3000), Yes),
            ("predicate_xml", Text(3000), Yes),
        ],
    ),
    empty(
        "server_event_session_actions",
        &[
            ("event_session_id", Int, No),
            ("event_id", Int, No),
            ("name", Name, No),
            ("package", Name, No),
            ("module", Name, No),
        ],
    ),
    empty(
        "server_event_session_fields",
        &[("event_session_id", Int, No), ("object_id", Int, No), ("name", Name, No), ("value", Variant, Yes)],
    ),
    empty(
        "dm_hadr_cluster_members",
        &[
            ("member_name", Text(128), No),
            ("member_type", TinyInt, No),
            ("member_type_desc", Text(50), No),
            ("member_state", TinyInt, No),
            ("member_state_desc", Text(60), No),
            ("number_of_quorum_votes", Int, Yes),
        ],
    ),
    empty(
        "dm_hadr_cluster_networks",
        &[
            ("member_name", Text(128), No),
            ("network_subnet_ip", Text(48), No),
            ("network_subnet_ipv4_mask", Text(45), Yes),
            ("network_subnet_prefix_length", Int, Yes),
            ("is_public", Bit, No),
            ("is_ipv4", Bit, No),
        ],
    ),
    empty(
        "dm_hadr_availability_replica_cluster_nodes",
        &[("group_name", Text(256), No), ("replica_server_name", Text(256), No), ("node_name", Text(256), No)],
    ),
    empty(
        "dm_hadr_database_replica_cluster_states",
        &[
            ("replica_id", Guid, No),
            ("group_database_id", Guid, No),
            ("database_name", Name, Yes),
            ("is_failover_ready", Bit, No),
            ("is_pending_secondary_suspend", Bit, No),
            ("is_database_joined", Bit, No),
            ("recovery_lsn", Lsn, Yes),
            ("truncation_lsn", Lsn, Yes),
        ],
    ),
    empty(
        "availability_read_only_routing_lists",
        &[("replica_id", Guid, No), ("routing_priority", Int, No), ("read_only_replica_id", Guid, No)],
    ),
    empty(
        "availability_group_listener_ip_addresses",
        &[
            ("listener_id", Text(36), Yes),
            ("ip_address", Text(48), Yes),
            ("ip_subnet_mask", Text(15), Yes),
            ("is_dhcp", Bit, Yes),
            ("network_subnet_ip", Text(48), Yes),
            ("network_subnet_prefix_length", Int, Yes),
            ("network_subnet_ipv4_mask", Text(15), Yes),
            ("state", TinyInt, Yes),
            ("state_desc", Text(60), Yes),
        ],
    ),
];
