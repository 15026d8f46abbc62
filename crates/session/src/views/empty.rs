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
    empty("synonyms", columns_of![OBJECT; ("base_object_name", Text(1035), Yes)]),
    empty(
        "sequences",
        columns_of![OBJECT;
            ("start_value", BigInt, No),
            ("increment", BigInt, No),
            ("minimum_value", BigInt, No),
            ("maximum_value", BigInt, No),
            ("is_cycling", Bit, Yes),
            ("is_cached", Bit, Yes),
            ("cache_size", Int, Yes),
            ("system_type_id", TinyInt, No),
            ("user_type_id", Int, No),
            ("precision", TinyInt, No),
            ("scale", TinyInt, Yes),
            ("current_value", BigInt, No),
            ("is_exhausted", Bit, No),
            ("last_used_value", BigInt, Yes),
        ],
    ),
    empty(
        "triggers",
        &[
            ("name", Name, No),
            ("object_id", Int, No),
            ("parent_class", TinyInt, No),
            ("parent_class_desc", Text(60), Yes),
            ("parent_id", Int, No),
            ("type", super::Kind::Code, No),
            ("type_desc", Text(60), Yes),
            ("create_date", DateTime, No),
            ("modify_date", DateTime, No),
            ("is_ms_shipped", Bit, No),
            ("is_disabled", Bit, No),
            ("is_not_for_replication", Bit, No),
            ("is_instead_of_trigger", Bit, No),
        ],
    ),
    empty(
        "table_types",
        &[
            ("name", Name, No),
            ("system_type_id", TinyInt, No),
            ("user_type_id", Int, No),
            ("schema_id", Int, No),
            ("principal_id", Int, Yes),
            ("max_length", SmallInt, No),
            ("precision", TinyInt, No),
            ("scale", TinyInt, No),
            ("collation_name", Name, Yes),
            ("is_nullable", Bit, Yes),
            ("is_user_defined", Bit, No),
            ("is_assembly_type", Bit, No),
            ("default_object_id", Int, No),
            ("rule_object_id", Int, No),
            ("is_table_type", Bit, No),
            ("type_table_object_id", Int, No),
            ("is_memory_optimized", Bit, Yes),
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
    View {
        schema: "INFORMATION_SCHEMA",
        name: "SEQUENCES",
        columns: &[
            ("SEQUENCE_CATALOG", Name, Yes),
            ("SEQUENCE_SCHEMA", Name, Yes),
            ("SEQUENCE_NAME", Name, No),
            ("DATA_TYPE", Name, Yes),
            ("NUMERIC_PRECISION", TinyInt, Yes),
            ("NUMERIC_PRECISION_RADIX", SmallInt, Yes),
            ("NUMERIC_SCALE", Int, Yes),
            ("START_VALUE", BigInt, No),
            ("MINIMUM_VALUE", BigInt, No),
            ("MAXIMUM_VALUE", BigInt, No),
            ("INCREMENT", BigInt, No),
            ("CYCLE_OPTION", Bit, Yes),
            ("DECLARED_DATA_TYPE", Int, Yes),
            ("DECLARED_NUMERIC_PRECISION", Int, Yes),
            ("DECLARED_NUMERIC_SCALE", Int, Yes),
        ],
        rows: none,
    },
];
