//! `sys.columns`, `all_columns`, `identity_columns`, `parameters`.

use super::Kind::{BigInt, Bit, Int, LongText, Name, SmallInt, Text, TinyInt};
use super::Nullable::{No, Yes};
use super::{ColumnOf, RowBuilder, Rows, Source, View, columns_of};
use crate::modules::{self, ParameterInfo};
use pikepole_engine::{Catalog, Column};
use pikepole_query::{ColumnInfo, Declared, Provenance};
use pikepole_types::{ClrType, Length, SecondName, SqlError, SqlType};

/// The collation of every database.
pub(crate) const COLLATION: &str = "SQL_Latin1_General_CP1_CI_AS";
/// `system_type_id` of rowversion.
pub(super) const ROWVERSION: i32 = 189;
/// `system_type_id` of table types.
pub(super) const TABLE_TYPE: i32 = 243;

/// The columns of `sys.columns`.
pub(super) const COLUMN: &[ColumnOf] = &[
    ("object_id", Int, No),
    ("name", Name, Yes),
    ("column_id", Int, No),
    ("system_type_id", TinyInt, No),
    ("user_type_id", Int, No),
    ("max_length", SmallInt, No),
    ("precision", TinyInt, No),
    ("scale", TinyInt, No),
    ("collation_name", Name, Yes),
    ("is_nullable", Bit, Yes),
    ("is_ansi_padded", Bit, No),
    ("is_rowguidcol", Bit, No),
    ("is_identity", Bit, No),
    ("is_computed", Bit, No),
    ("is_filestream", Bit, No),
    ("is_replicated", Bit, Yes),
    ("is_non_sql_subscribed", Bit, Yes),
    ("is_merge_published", Bit, Yes),
    ("is_dts_replicated", Bit, Yes),
    ("is_xml_document", Bit, No),
    ("xml_collection_id", Int, No),
    ("default_object_id", Int, No),
    ("rule_object_id", Int, No),
    ("is_sparse", Bit, Yes),
    ("is_column_set", Bit, Yes),
    ("generated_always_type", TinyInt, Yes),
    ("generated_always_type_desc", Text(60), Yes),
    ("encryption_type", Int, Yes),
    ("encryption_type_desc", Text(64), Yes),
    ("encryption_algorithm_name", Name, Yes),
    ("column_encryption_key_id", Int, Yes),
    ("column_encryption_key_database_name", Name, Yes),
    ("is_hidden", Bit, No),
    ("is_masked", Bit, No),
    ("graph_type", Int, Yes),
    ("graph_type_desc", Text(60), Yes),
    ("is_data_deletion_filter_column", Bit, Yes),
    ("ledger_view_column_type", Int, Yes),
    ("ledger_view_column_type_desc", Text(60), Yes),
    ("is_dropped_ledger_column", Bit, Yes),
];

const PARAMETER: &[ColumnOf] = &[
    ("object_id", Int, No),
    ("name", Name, Yes),
    ("parameter_id", Int, No),
    ("system_type_id", TinyInt, No),
    ("user_type_id", Int, No),
    ("max_length", SmallInt, No),
    ("precision", TinyInt, No),
    ("scale", TinyInt, No),
    ("is_output", Bit, No),
    ("is_cursor_ref", Bit, No),
    ("has_default_value", Bit, No),
    ("is_xml_document", Bit, No),
    ("default_value", Text(4000), Yes),
    ("xml_collection_id", Int, No),
    ("is_readonly", Bit, No),
    ("is_nullable", Bit, Yes),
    ("encryption_type", Int, Yes),
    ("encryption_type_desc", Text(64), Yes),
    ("encryption_algorithm_name", Name, Yes),
    ("column_encryption_key_id", Int, Yes),
    ("column_encryption_key_database_name", Name, Yes),
];

pub(super) const VIEWS: &[View] = &[
    View { schema: "sys", name: "columns", columns: COLUMN, rows: table_columns },
    View { schema: "sys", name: "all_columns", columns: COLUMN, rows: all_columns },
    View { schema: "sys", name: "system_columns", columns: COLUMN, rows: system_columns },
    View {
        schema: "sys",
        name: "identity_columns",
        columns: columns_of![COLUMN;
            ("seed_value", BigInt, Yes),
            ("increment_value", BigInt, Yes),
            ("last_value", BigInt, Yes),
            ("is_not_for_replication", Bit, Yes),
        ],
        rows: identity_columns,
    },
    View {
        schema: "sys",
        name: "masked_columns",
        columns: columns_of![COLUMN; ("masking_function", LongText, Yes)],
        rows: masked_columns,
    },
    View { schema: "sys", name: "parameters", columns: PARAMETER, rows: parameters },
    // Procedures of the system say nothing of their parameters.
    View { schema: "sys", name: "all_parameters", columns: PARAMETER, rows: parameters },
];

/// What a parameter is declared with.
fn with_declared(row: RowBuilder, declared: &Declared) -> RowBuilder {
    let row = match declared.scalar() {
        Some(ty) => with_named_type(row, &ty, declared.second_name()),
        None => row.integer("system_type_id", TABLE_TYPE).integer("max_length", -1),
    };
    match declared.user_type() {
        Some(user_type) => row.integer("user_type_id", user_type.user_type_id),
        None => row,
    }
}

/// A type's numbers and sizes.
pub(super) fn with_type(row: RowBuilder, ty: &SqlType) -> RowBuilder {
    row.integer("system_type_id", ty.system_type_id())
        .integer("user_type_id", ty.user_type_id())
        .integer("max_length", ty.max_length())
        .integer("precision", ty.precision())
        .integer("scale", ty.scale())
}

/// The same by the name that was written, if that is a second one.
pub(super) fn with_named_type(row: RowBuilder, ty: &SqlType, second: Option<&SecondName>) -> RowBuilder {
    let row = with_type(row, ty);
    match second {
        None => row,
        Some(second) => {
            row.integer("system_type_id", second.system_type_id).integer("user_type_id", second.user_type_id)
        }
    }
}

/// What all kinds of columns have.
fn column_row(view: &View, object_id: i32, place: usize, column: &ColumnInfo) -> RowBuilder {
    let ty = &column.ty;
    let row = view
        .row()
        .integer("object_id", object_id)
        .text("name", &column.name)
        .integer("column_id", place as i64 + 1)
        .text_if("collation_name", ty.is_string().then(|| column.collated.shown().name()))
        .bit("is_nullable", column.nullable)
        .bit("is_identity", column.provenance == Provenance::Identity)
        .bit("is_ansi_padded", ty.is_string() || ty.is_binary())
        .bit("is_replicated", false)
        .bit("is_non_sql_subscribed", false)
        .bit("is_merge_published", false)
        .bit("is_dts_replicated", false)
        .bit("is_sparse", false)
        .bit("is_column_set", false)
        .integer("generated_always_type", 0)
        .text("generated_always_type_desc", "NOT_APPLICABLE")
        .bit("is_data_deletion_filter_column", false)
        .bit("is_dropped_ledger_column", false);
    match column.user_type {
        Some(id) if SecondName::by_id(id).is_none() => with_type(row, ty).integer("user_type_id", id),
        named => with_named_type(row, ty, named.and_then(SecondName::by_id)),
    }
}

/// The number of the column at a place of a table or view.
pub(crate) fn column_number(catalog: &Catalog, object_id: i32, place: usize) -> i32 {
    catalog.table_by_id(object_id).map_or(place as i32 + 1, |table| table.column_number(place))
}

pub(super) fn table_column(view: &View, object_id: i32, place: usize, column: &Column) -> RowBuilder {
    let info = ColumnInfo { collated: column.collated(), ..ColumnInfo::new(&column.name, column.ty, column.nullable) };
    let row = column_row(view, object_id, place, &info)
        .integer("column_id", column.number(place))
        .bit("is_identity", column.identity.is_some())
        .bit("is_computed", column.computed.is_some())
        .bit("is_sparse", column.sparse)
        .bit("is_hidden", column.hidden)
        .bit("is_masked", column.mask.is_some())
        .integer("default_object_id", column.default.as_ref().map_or(0, |default| default.object_id));
    let row = match (column.second_name(), column.user_type) {
        (None, Some(id)) if column.schema_collection().is_some() => row.integer("xml_collection_id", id),
        (None, Some(id)) => row.integer("user_type_id", id),
        (second, _) => with_named_type(row, &column.ty, second),
    };
    let row = super::periods::with_generated(row, column);
    if column.rowversion { row.integer("system_type_id", ROWVERSION).integer("user_type_id", ROWVERSION) } else { row }
}

fn table_columns(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let mut rows = Vec::new();
    for table in source.catalog.table_shapes() {
        for (place, column) in table.columns.iter().enumerate() {
            rows.push(table_column(view, table.object_id, place, column).done());
        }
    }
    for (object_id, columns) in &source.view_columns {
        for (place, column) in columns.iter().enumerate() {
            // A type may be dropped before the view that shows it.
            let is_there = |id: &i32| SecondName::by_id(*id).is_some() || source.catalog.user_type_by_id(*id).is_some();
            let column = ColumnInfo { user_type: column.user_type.filter(is_there), ..column.clone() };
            rows.push(column_row(view, *object_id, place, &column).done());
        }
    }
    Ok(rows)
}

/// The columns whose values are masked, of tables and of table types.
fn masked_columns(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let mut rows = Vec::new();
    for table in source.catalog.table_shapes() {
        for (place, column) in table.columns.iter().enumerate() {
            if let Some(mask) = &column.mask {
                rows.push(table_column(view, table.object_id, place, column).text("masking_function", mask).done());
            }
        }
    }
    Ok(rows)
}

/// Columns of tables, then those of the system's views.
fn all_columns(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let mut rows = table_columns(view, source)?;
    rows.extend(system_columns(view, source)?);
    Ok(rows)
}

/// The columns of the system's views.
fn system_columns(view: &View, _: &Source<'_>) -> Result<Rows, SqlError> {
    let mut rows = Vec::new();
    for (number, shown) in super::all().enumerate().filter(|(_, shown)| shown.is_listed()) {
        for (place, column) in shown.column_infos().iter().enumerate() {
            let object_id = super::object_id(number as u32);
            rows.push(column_row(view, object_id, place, column).done());
        }
    }
    Ok(rows)
}

/// The identity columns of tables, and of views that show them: those deal no values, and say nothing of how they are dealt.
fn identity_columns(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let mut rows = Vec::new();
    for table in source.catalog.tables() {
        let Some(place) = table.identity_column() else { continue };
        let column = &table.columns[place];
        let Some(identity) = column.identity else { continue };
        let row = table_column(view, table.object_id, place, column)
            .integer("seed_value", identity.seed)
            .integer("increment_value", identity.increment)
            .bit("is_not_for_replication", false);
        rows.push(match source.database.last_identity(table).filter(|_| source.database.has_dealt(table)) {
            Some(last) => row.integer("last_value", last).done(),
            None => row.done(),
        });
    }
    for (object_id, columns) in &source.view_columns {
        for (place, column) in
            columns.iter().enumerate().filter(|(_, column)| column.provenance == Provenance::Identity)
        {
            rows.push(column_row(view, *object_id, place, column).done());
        }
    }
    Ok(rows)
}

/// Every type, as wide as it can be declared.
pub(crate) const TYPES: &[SqlType] = &[
    SqlType::UniqueIdentifier,
    SqlType::Date,
    SqlType::Time(7),
    SqlType::DateTime2(7),
    SqlType::DateTimeOffset(7),
    SqlType::TinyInt,
    SqlType::SmallInt,
    SqlType::Int,
    SqlType::SmallDateTime,
    SqlType::Real,
    SqlType::Money,
    SqlType::DateTime,
    SqlType::Float,
    SqlType::Variant,
    SqlType::Bit,
    SqlType::Decimal { precision: 38, scale: 38 },
    SqlType::SmallMoney,
    SqlType::BigInt,
    SqlType::VarBinary(Length::Limit(8000)),
    SqlType::VarChar(Length::Limit(8000)),
    SqlType::Binary(8000),
    SqlType::Char(8000),
    SqlType::NVarChar(Length::Limit(4000)),
    SqlType::NChar(4000),
    SqlType::Xml,
    SqlType::Image,
    SqlType::Text,
    SqlType::NText,
    SqlType::Clr(ClrType::HierarchyId),
    SqlType::Clr(ClrType::Geometry),
    SqlType::Clr(ClrType::Geography),
];

fn parameters(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let mut rows = Vec::new();
    for function in source.catalog.functions() {
        // What a scalar function returns is a parameter without a name, number zero.
        if let Some(declared) = modules::result_type(source.catalog, function) {
            let row = view.row().integer("object_id", function.object_id).text("name", "");
            rows.push(with_declared(row.bit("is_output", true).bit("is_nullable", true), &declared).done());
        }
    }
    for procedure in source.catalog.procedures().chain(source.catalog.functions()) {
        for (place, parameter) in modules::parameters(source.catalog, procedure).into_iter().enumerate() {
            let ParameterInfo { name, declared, output, has_default, readonly } = parameter;
            let row = view
                .row()
                .integer("object_id", procedure.object_id)
                .text("name", name)
                .integer("parameter_id", place as i64 + 1)
                .bit("is_output", output)
                .bit("has_default_value", has_default)
                .bit("is_readonly", readonly)
                .bit("is_nullable", true);
            rows.push(with_declared(row, &declared).done());
        }
    }
    Ok(rows)
}
