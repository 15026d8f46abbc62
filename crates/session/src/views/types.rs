//! `sys.types`, `table_types`, `INFORMATION_SCHEMA.DOMAINS`: the types of the system and those that users made; collections of schemas of xml.

use super::Kind::{Bit, DateTime, Int, Name, SmallInt, Text, TinyInt};
use super::Nullable::{No, Yes};
use super::columns::{ROWVERSION, TABLE_TYPE, TYPES, with_named_type, with_type};
use super::{ColumnOf, RowBuilder, Rows, Source, View, columns_of};
use pikepole_engine::{UserType, UserTypeKind};
use pikepole_types::xml::schema_spaces;
use pikepole_types::{SecondName, SqlError, SqlType};

/// The columns of `sys.types`.
pub(super) const TYPE: &[ColumnOf] = &[
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
];

pub(super) const VIEWS: &[View] = &[
    View { schema: "sys", name: "types", columns: TYPE, rows: types },
    View {
        schema: "sys",
        name: "table_types",
        columns: columns_of![TYPE;
            ("type_table_object_id", Int, No),
            ("is_memory_optimized", Bit, Yes),
        ],
        rows: table_types,
    },
    View {
        schema: "sys",
        name: "xml_schema_collections",
        columns: &[
            ("xml_collection_id", Int, No),
            ("schema_id", Int, No),
            ("principal_id", Int, Yes),
            ("name", Name, No),
            ("create_date", DateTime, No),
            ("modify_date", DateTime, No),
        ],
        rows: collections,
    },
    View {
        schema: "sys",
        name: "xml_schema_namespaces",
        columns: &[("xml_collection_id", Int, No), ("name", Text(4000), No), ("xml_namespace_id", Int, No)],
        rows: spaces,
    },
    View {
        schema: "INFORMATION_SCHEMA",
        name: "DOMAINS",
        columns: &[
            ("DOMAIN_CATALOG", Name, Yes),
            ("DOMAIN_SCHEMA", Name, Yes),
            ("DOMAIN_NAME", Name, No),
            ("DATA_TYPE", Name, Yes),
            ("CHARACTER_MAXIMUM_LENGTH", Int, Yes),
            ("CHARACTER_OCTET_LENGTH", Int, Yes),
            ("COLLATION_CATALOG", Name, Yes),
            ("COLLATION_SCHEMA", Name, Yes),
            ("COLLATION_NAME", Name, Yes),
            ("CHARACTER_SET_CATALOG", Name, Yes),
            ("CHARACTER_SET_SCHEMA", Name, Yes),
            ("CHARACTER_SET_NAME", Name, Yes),
            ("NUMERIC_PRECISION", TinyInt, Yes),
            ("NUMERIC_PRECISION_RADIX", SmallInt, Yes),
            ("NUMERIC_SCALE", TinyInt, Yes),
            ("DATETIME_PRECISION", SmallInt, Yes),
            ("DOMAIN_DEFAULT", Text(4000), Yes),
        ],
        rows: domains,
    },
];

/// What the views of types say of one of the system's.
pub(super) fn type_row(view: &View, source: &Source<'_>, name: &str, ty: &SqlType) -> RowBuilder {
    let sys = source.catalog.schema("sys").map_or(4, |schema| schema.schema_id);
    let collation = source.database.options().collation.name();
    with_type(view.row().text("name", name), ty)
        .integer("schema_id", sys)
        .text_if("collation_name", ty.is_string().then_some(collation))
        .bit("is_nullable", true)
        .bit("is_assembly_type", matches!(ty, SqlType::Clr(_)))
}

fn types(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let collation = source.database.options().collation.name();
    let row = |name: &str, ty: &SqlType| type_row(view, source, name, ty);
    let mut rows: Rows = TYPES.iter().map(|ty| row(ty.name(), ty).done()).collect();
    for second in SecondName::ALL {
        let row = with_named_type(row(second.name, &second.ty), &second.ty, Some(second));
        rows.push(row.bit("is_nullable", second.nullable).done());
    }
    let rowversion = row("timestamp", &SqlType::Binary(8));
    rows.push(
        rowversion
            .integer("system_type_id", ROWVERSION)
            .integer("user_type_id", ROWVERSION)
            .bit("is_nullable", false)
            .done(),
    );
    rows.extend(source.catalog.user_types().map(|user_type| user_row(view, user_type, collation).done()));
    Ok(rows)
}

/// What the views of types say of one that users made.
fn user_row(view: &View, user_type: &UserType, collation: &str) -> RowBuilder {
    let row = view.row().text("name", &user_type.name).integer("schema_id", user_type.schema_id);
    let row = match &user_type.kind {
        UserTypeKind::Alias { ty, nullable } => with_type(row, ty)
            .text_if("collation_name", ty.is_string().then_some(collation))
            .bit("is_nullable", *nullable),
        UserTypeKind::SchemaCollection { .. } => row,
        UserTypeKind::Table(_) => row
            .integer("system_type_id", TABLE_TYPE)
            .integer("max_length", -1)
            .bit("is_nullable", false)
            .bit("is_table_type", true),
    };
    row.integer("user_type_id", user_type.user_type_id).bit("is_user_defined", true)
}

fn table_types(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let row = |user_type: &UserType| {
        let shape = user_type.table()?;
        let row = user_row(view, user_type, "").integer("type_table_object_id", shape.object_id);
        Some(row.bit("is_memory_optimized", shape.is_in_memory()).done())
    };
    Ok(source.catalog.user_types().filter_map(|user_type| row(user_type)).collect())
}

fn collections(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let row = |own: &UserType| {
        let UserTypeKind::SchemaCollection { created_us, .. } = &own.kind else { return None };
        let row = view.row().integer("xml_collection_id", own.user_type_id).integer("schema_id", own.schema_id);
        let row = row.text("name", &own.name).moment("create_date", *created_us).moment("modify_date", *created_us);
        Some(row.done())
    };
    Ok(source.catalog.schema_collections().filter_map(|own| row(own)).collect())
}

/// The namespaces of each collection, counted from 1.
fn spaces(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let mut rows = Rows::new();
    for own in source.catalog.schema_collections() {
        let UserTypeKind::SchemaCollection { text, .. } = &own.kind else { continue };
        let mut names = schema_spaces(text)?;
        names.dedup();
        for (name, number) in names.iter().zip(1..) {
            let row = view.row().integer("xml_collection_id", own.user_type_id).text("name", name);
            rows.push(row.integer("xml_namespace_id", number).done());
        }
    }
    Ok(rows)
}

fn domains(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let row = |user_type: &UserType| {
        let row = view
            .row()
            .text("DOMAIN_CATALOG", source.database.name())
            .text("DOMAIN_SCHEMA", &user_type.schema)
            .text("DOMAIN_NAME", &user_type.name);
        match &user_type.kind {
            UserTypeKind::Alias { ty, .. } => super::information_schema::with_type(row, ty).done(),
            UserTypeKind::SchemaCollection { .. } => row.done(),
            UserTypeKind::Table(_) => row.text("DATA_TYPE", "table type").done(),
        }
    };
    Ok(source.catalog.user_types().map(|user_type| row(user_type)).collect())
}
