//! Views that tools read and that are always empty here: of what this engine does not have. A query over one is answered,
//! with no rows, which is the truth.

use super::Kind::{BigInt, Bit, DateTime, Int, LongText, Name, SmallInt, Text, TinyInt};
use super::Nullable::{No, Yes};
use super::objects::OBJECT;
use super::{ColumnOf, Rows, Source, View, columns_of};
use pikepole_types::SqlError;

fn none(_: &View, _: &Source<'_>) -> Result<Rows, SqlError> {
    Ok(Rows::new())
}

const fn empty(name: &'static str, columns: &'static [ColumnOf]) -> View {
    View { schema: "sys", name, columns, rows: none }
}

pub(super) const VIEWS: &[View] = &[
    empty(
        "extended_properties",
        &[
            ("class", TinyInt, No),
            ("class_desc", Text(60), Yes),
            ("major_id", Int, No),
            ("minor_id", Int, No),
            ("name", Name, No),
            ("value", Text(4000), Yes),
        ],
    ),
    empty(
        "periods",
        &[
            ("name", Name, No),
            ("period_type", TinyInt, Yes),
            ("period_type_desc", Text(60), Yes),
            ("object_id", Int, No),
            ("start_column_id", Int, No),
            ("end_column_id", Int, No),
        ],
    ),
    empty(
        "xml_schema_collections",
        &[
            ("xml_collection_id", Int, No),
            ("schema_id", Int, No),
            ("principal_id", Int, Yes),
            ("name", Name, No),
            ("create_date", DateTime, No),
            ("modify_date", DateTime, No),
        ],
    ),
    empty(
        "assemblies",
        &[
            ("name", Name, No),
            ("principal_id", Int, Yes),
            ("assembly_id", Int, No),
            ("clr_name", Text(4000), Yes),
            ("permission_set", TinyInt, Yes),
            ("permission_set_desc", Text(60), Yes),
            ("is_visible", Bit, No),
            ("create_date", DateTime, No),
            ("modify_date", DateTime, No),
            ("is_user_defined", Bit, Yes),
        ],
    ),
    empty(
        "sql_expression_dependencies",
        &[
            ("referencing_id", Int, No),
            ("referencing_minor_id", Int, No),
            ("referencing_class", TinyInt, Yes),
            ("referencing_class_desc", Text(60), Yes),
            ("is_schema_bound_reference", Bit, No),
            ("referenced_class", TinyInt, Yes),
            ("referenced_class_desc", Text(60), Yes),
            ("referenced_server_name", Name, Yes),
            ("referenced_database_name", Name, Yes),
            ("referenced_schema_name", Name, Yes),
            ("referenced_entity_name", Name, Yes),
            ("referenced_id", Int, Yes),
            ("referenced_minor_id", Int, No),
            ("is_caller_dependent", Bit, No),
            ("is_ambiguous", Bit, No),
        ],
    ),
    empty(
        "fulltext_indexes",
        &[
            ("object_id", Int, No),
            ("unique_index_id", Int, No),
            ("fulltext_catalog_id", Int, Yes),
            ("is_enabled", Bit, No),
            ("change_tracking_state", super::Kind::Code, Yes),
            ("change_tracking_state_desc", Text(60), Yes),
            ("has_crawl_completed", Bit, No),
            ("crawl_type", super::Kind::Code, No),
            ("crawl_type_desc", Text(60), Yes),
            ("crawl_start_date", DateTime, Yes),
            ("crawl_end_date", DateTime, Yes),
            ("incremental_timestamp", super::Kind::Bytes(8), Yes),
            ("stoplist_id", Int, Yes),
            ("data_space_id", Int, No),
            ("property_list_id", Int, Yes),
        ],
    ),
    empty(
        "internal_tables",
        columns_of![OBJECT;
            ("internal_type", TinyInt, Yes),
            ("internal_type_desc", Text(60), Yes),
            ("parent_id", Int, No),
            ("parent_minor_id", Int, No),
            ("lob_data_space_id", Int, No),
            ("filestream_data_space_id", Int, Yes),
        ],
    ),
    empty("masked_columns", columns_of![super::columns::COLUMN; ("masking_function", LongText, Yes)]),
    empty(
        "stats",
        &[
            ("object_id", Int, No),
            ("name", Name, Yes),
            ("stats_id", Int, No),
            ("auto_created", Bit, Yes),
            ("user_created", Bit, Yes),
            ("no_recompute", Bit, Yes),
            ("has_filter", Bit, Yes),
            ("filter_definition", LongText, Yes),
            ("is_temporary", Bit, Yes),
            ("is_incremental", Bit, Yes),
            ("has_persisted_sample", Bit, Yes),
            ("stats_generation_method", Int, No),
            ("stats_generation_method_desc", Text(80), No),
            ("auto_drop", Bit, Yes),
        ],
    ),
    empty(
        "stats_columns",
        &[("object_id", Int, No), ("stats_id", Int, No), ("stats_column_id", Int, No), ("column_id", Int, No)],
    ),
    empty(
        "partition_schemes",
        &[
            ("name", Name, No),
            ("data_space_id", Int, No),
            ("type", super::Kind::Code, No),
            ("type_desc", Text(60), Yes),
            ("is_default", Bit, Yes),
            ("is_system", Bit, Yes),
            ("function_id", Int, No),
        ],
    ),
    empty(
        "partition_functions",
        &[
            ("name", Name, No),
            ("function_id", Int, No),
            ("type", super::Kind::Code, No),
            ("type_desc", Text(60), Yes),
            ("fanout", Int, No),
            ("boundary_value_on_right", Bit, No),
            ("is_system", Bit, No),
            ("create_date", DateTime, No),
            ("modify_date", DateTime, No),
        ],
    ),
    empty(
        "partition_range_values",
        &[("function_id", Int, No), ("boundary_id", Int, No), ("parameter_id", Int, No), ("value", Text(4000), Yes)],
    ),
    empty(
        "partition_parameters",
        &[
            ("function_id", Int, No),
            ("parameter_id", Int, No),
            ("system_type_id", TinyInt, No),
            ("max_length", SmallInt, No),
            ("precision", TinyInt, No),
            ("scale", TinyInt, No),
            ("collation_name", Name, Yes),
            ("user_type_id", Int, No),
        ],
    ),
    empty(
        "destination_data_spaces",
        &[("partition_scheme_id", Int, No), ("destination_id", Int, No), ("data_space_id", Int, No)],
    ),
    empty(
        "fulltext_catalogs",
        &[
            ("fulltext_catalog_id", Int, No),
            ("name", Name, No),
            ("path", Text(260), Yes),
            ("is_default", Bit, No),
            ("is_accent_sensitivity_on", Bit, No),
            ("data_space_id", Int, Yes),
            ("file_id", Int, Yes),
            ("principal_id", Int, Yes),
            ("is_importing", Bit, No),
        ],
    ),
    empty(
        "fulltext_index_columns",
        &[
            ("object_id", Int, No),
            ("column_id", Int, No),
            ("type_column_id", Int, Yes),
            ("language_id", Int, No),
            ("statistical_semantics", Int, No),
        ],
    ),
    empty(
        "linked_logins",
        &[
            ("server_id", Int, No),
            ("local_principal_id", Int, Yes),
            ("uses_self_credential", Bit, No),
            ("remote_name", Name, Yes),
            ("modify_date", DateTime, No),
        ],
    ),
    empty(
        "credentials",
        &[
            ("credential_id", Int, No),
            ("name", Name, No),
            ("credential_identity", Text(4000), Yes),
            ("create_date", DateTime, No),
            ("modify_date", DateTime, No),
            ("target_type", Text(100), Yes),
            ("target_id", Int, Yes),
        ],
    ),
    empty(
        "change_tracking_databases",
        &[
            ("database_id", Int, No),
            ("is_auto_cleanup_on", TinyInt, Yes),
            ("retention_period", Int, Yes),
            ("retention_period_units", TinyInt, Yes),
            ("retention_period_units_desc", Text(60), Yes),
            ("max_cleanup_version", BigInt, Yes),
        ],
    ),
    empty(
        "change_tracking_tables",
        &[
            ("object_id", Int, No),
            ("is_track_columns_updated_on", Bit, No),
            ("min_valid_version", BigInt, Yes),
            ("begin_version", BigInt, Yes),
            ("cleanup_version", BigInt, Yes),
        ],
    ),
    empty(
        "numbered_procedures",
        &[("object_id", Int, No), ("procedure_number", SmallInt, Yes), ("definition", LongText, Yes)],
    ),
    empty(
        "external_data_sources",
        &[
            ("data_source_id", Int, No),
            ("name", Name, No),
            ("location", Text(4000), No),
            ("type_desc", Text(255), Yes),
            ("type", TinyInt, No),
            ("resource_manager_location", Text(4000), Yes),
            ("credential_id", Int, No),
            ("database_name", Name, Yes),
            ("shard_map_name", Name, Yes),
            ("connection_options", Text(4000), Yes),
            ("pushdown", Text(256), No),
        ],
    ),
    empty(
        "availability_replicas",
        &[
            ("replica_id", super::Kind::Guid, Yes),
            ("group_id", super::Kind::Guid, Yes),
            ("replica_metadata_id", Int, Yes),
            ("replica_server_name", Text(256), Yes),
            ("owner_sid", super::Kind::Bytes(85), Yes),
            ("endpoint_url", Text(128), Yes),
            ("availability_mode", TinyInt, Yes),
            ("availability_mode_desc", Text(60), Yes),
            ("failover_mode", TinyInt, Yes),
            ("failover_mode_desc", Text(60), Yes),
        ],
    ),
];
