//! `INFORMATION_SCHEMA`: the standard's views of the current database.

use super::Kind::{DateTime, Int, Name, SmallInt, Text, TinyInt};
use super::Nullable::{No, Yes};
use super::{RowBuilder, Rows, Source, View, shown_name};
use crate::modules;
use pikepole_engine::{Module, Schema, Table};
use pikepole_query::ColumnInfo;
use pikepole_types::{CodePage, Collated, Length, SecondName, SqlError, SqlType};

/// A text of at most so many characters, for columns declared that wide.
const DEFINITION_CHARACTERS_MAX: usize = 4000;

pub(super) const VIEWS: &[View] = &[
    View {
        schema: "INFORMATION_SCHEMA",
        name: "SCHEMATA",
        columns: &[
            ("CATALOG_NAME", Name, Yes),
            ("SCHEMA_NAME", Name, No),
            ("SCHEMA_OWNER", Name, Yes),
            ("DEFAULT_CHARACTER_SET_CATALOG", Name, Yes),
            ("DEFAULT_CHARACTER_SET_SCHEMA", Name, Yes),
            ("DEFAULT_CHARACTER_SET_NAME", Name, Yes),
        ],
        rows: schemata,
    },
    View {
        schema: "INFORMATION_SCHEMA",
        name: "TABLES",
        columns: &[
            ("TABLE_CATALOG", Name, Yes),
            ("TABLE_SCHEMA", Name, Yes),
            ("TABLE_NAME", Name, No),
            ("TABLE_TYPE", Text(10), Yes),
        ],
        rows: tables,
    },
    View {
        schema: "INFORMATION_SCHEMA",
        name: "VIEWS",
        columns: &[
            ("TABLE_CATALOG", Name, Yes),
            ("TABLE_SCHEMA", Name, Yes),
            ("TABLE_NAME", Name, No),
            ("VIEW_DEFINITION", Text(4000), Yes),
            ("CHECK_OPTION", Text(7), Yes),
            ("IS_UPDATABLE", Text(2), No),
        ],
        rows: views,
    },
    View {
        schema: "INFORMATION_SCHEMA",
        name: "COLUMNS",
        columns: &[
            ("TABLE_CATALOG", Name, Yes),
            ("TABLE_SCHEMA", Name, Yes),
            ("TABLE_NAME", Name, No),
            ("COLUMN_NAME", Name, Yes),
            ("ORDINAL_POSITION", Int, Yes),
            ("COLUMN_DEFAULT", Text(4000), Yes),
            ("IS_NULLABLE", Text(3), Yes),
            ("DATA_TYPE", Name, Yes),
            ("CHARACTER_MAXIMUM_LENGTH", Int, Yes),
            ("CHARACTER_OCTET_LENGTH", Int, Yes),
            ("NUMERIC_PRECISION", TinyInt, Yes),
            ("NUMERIC_PRECISION_RADIX", SmallInt, Yes),
            ("NUMERIC_SCALE", Int, Yes),
            ("DATETIME_PRECISION", SmallInt, Yes),
            ("CHARACTER_SET_CATALOG", Name, Yes),
            ("CHARACTER_SET_SCHEMA", Name, Yes),
            ("CHARACTER_SET_NAME", Name, Yes),
            ("COLLATION_CATALOG", Name, Yes),
            ("COLLATION_SCHEMA", Name, Yes),
            ("COLLATION_NAME", Name, Yes),
            ("DOMAIN_CATALOG", Name, Yes),
            ("DOMAIN_SCHEMA", Name, Yes),
            ("DOMAIN_NAME", Name, Yes),
        ],
        rows: columns,
    },
    View {
        schema: "INFORMATION_SCHEMA",
        name: "ROUTINES",
        columns: &[
            ("SPECIFIC_CATALOG", Name, Yes),
            ("SPECIFIC_SCHEMA", Name, Yes),
            ("SPECIFIC_NAME", Name, No),
            ("ROUTINE_CATALOG", Name, Yes),
            ("ROUTINE_SCHEMA", Name, Yes),
            ("ROUTINE_NAME", Name, No),
            ("ROUTINE_TYPE", Text(20), Yes),
            ("MODULE_CATALOG", Name, Yes),
            ("MODULE_SCHEMA", Name, Yes),
            ("MODULE_NAME", Name, Yes),
            ("UDT_CATALOG", Name, Yes),
            ("UDT_SCHEMA", Name, Yes),
            ("UDT_NAME", Name, Yes),
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
            ("NUMERIC_SCALE", Int, Yes),
            ("DATETIME_PRECISION", SmallInt, Yes),
            ("INTERVAL_TYPE", Text(30), Yes),
            ("INTERVAL_PRECISION", SmallInt, Yes),
            ("TYPE_UDT_CATALOG", Name, Yes),
            ("TYPE_UDT_SCHEMA", Name, Yes),
            ("TYPE_UDT_NAME", Name, Yes),
            ("SCOPE_CATALOG", Name, Yes),
            ("SCOPE_SCHEMA", Name, Yes),
            ("SCOPE_NAME", Name, Yes),
            ("MAXIMUM_CARDINALITY", Int, Yes),
            ("DTD_IDENTIFIER", Name, Yes),
            ("ROUTINE_BODY", Text(30), Yes),
            ("ROUTINE_DEFINITION", Text(4000), Yes),
            ("EXTERNAL_NAME", Name, Yes),
            ("EXTERNAL_LANGUAGE", Text(30), Yes),
            ("PARAMETER_STYLE", Text(30), Yes),
            ("IS_DETERMINISTIC", Text(10), Yes),
            ("SQL_DATA_ACCESS", Text(30), Yes),
            ("IS_NULL_CALL", Text(10), Yes),
            ("SQL_PATH", Name, Yes),
            ("SCHEMA_LEVEL_ROUTINE", Text(10), Yes),
            ("MAX_DYNAMIC_RESULT_SETS", SmallInt, Yes),
            ("IS_USER_DEFINED_CAST", Text(10), Yes),
            ("IS_IMPLICITLY_INVOCABLE", Text(10), Yes),
            ("CREATED", DateTime, No),
            ("LAST_ALTERED", DateTime, No),
        ],
        rows: routines,
    },
    View {
        schema: "INFORMATION_SCHEMA",
        name: "TABLE_CONSTRAINTS",
        columns: &[
            ("CONSTRAINT_CATALOG", Name, Yes),
            ("CONSTRAINT_SCHEMA", Name, Yes),
            ("CONSTRAINT_NAME", Name, No),
            ("TABLE_CATALOG", Name, Yes),
            ("TABLE_SCHEMA", Name, Yes),
            ("TABLE_NAME", Name, Yes),
            ("CONSTRAINT_TYPE", Text(11), Yes),
            ("IS_DEFERRABLE", Text(2), No),
            ("INITIALLY_DEFERRED", Text(2), No),
        ],
        rows: table_constraints,
    },
    View {
        schema: "INFORMATION_SCHEMA",
        name: "KEY_COLUMN_USAGE",
        columns: &[
            ("CONSTRAINT_CATALOG", Name, Yes),
            ("CONSTRAINT_SCHEMA", Name, Yes),
            ("CONSTRAINT_NAME", Name, No),
            ("TABLE_CATALOG", Name, Yes),
            ("TABLE_SCHEMA", Name, Yes),
            ("TABLE_NAME", Name, Yes),
            ("COLUMN_NAME", Name, Yes),
            ("ORDINAL_POSITION", Int, No),
        ],
        rows: key_column_usage,
    },
];

fn schemata(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let row = |schema: &Schema| {
        let owner = source.catalog.users().get(schema.owner);
        view.row()
            .text("CATALOG_NAME", source.database.name())
            .text("SCHEMA_NAME", &schema.name)
            .text_if("SCHEMA_OWNER", owner.map(|user| &user.name))
            .text("DEFAULT_CHARACTER_SET_NAME", "iso_1")
            .done()
    };
    Ok(source.catalog.schemas().map(|schema| row(schema)).collect())
}

/// The first three columns of the views about tables.
pub(super) fn of_table(view: &View, source: &Source<'_>, schema: &str, name: &str) -> RowBuilder {
    view.row().text("TABLE_CATALOG", source.database.name()).text("TABLE_SCHEMA", schema).text("TABLE_NAME", name)
}

fn tables(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let row =
        |schema: &str, name: &str, kind: &str| of_table(view, source, schema, name).text("TABLE_TYPE", kind).done();
    let mut rows: Rows = source
        .catalog
        .tables()
        .map(|table| row(&table.schema, &shown_name(&table.name, table.object_id), "BASE TABLE"))
        .collect();
    rows.extend(source.catalog.views().map(|module| row(&module.schema, &module.name, "VIEW")));
    Ok(rows)
}

/// A definition, absent when it is too long for the column.
fn definition(text: &str) -> Option<&str> {
    (text.chars().count() <= DEFINITION_CHARACTERS_MAX).then_some(text)
}

fn views(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let row = |module: &Module| {
        of_table(view, source, &module.schema, &module.name)
            .text_if("VIEW_DEFINITION", source.shown_text(module).and_then(definition))
            .text("CHECK_OPTION", "NONE")
            .text("IS_UPDATABLE", "NO")
            .done()
    };
    Ok(source.catalog.views().map(|module| row(module)).collect())
}

/// The same with the collation of a column, when it has one.
fn with_collation(row: RowBuilder, ty: &SqlType, collated: Collated) -> RowBuilder {
    let row = match collated.shown().code_page() {
        _ if !ty.is_string() || ty.is_unicode() => row,
        CodePage::Western => row,
        CodePage::Utf8 => row.text("CHARACTER_SET_NAME", "utf8"),
        page => row.text("CHARACTER_SET_NAME", format!("cp{}", page.number())),
    };
    match collated {
        Collated::Default => row,
        own => row.text("COLLATION_NAME", own.shown().name()),
    }
}

/// The lengths, precisions and collation of a type, under the names that the standard's views share.
pub(super) fn with_type(row: RowBuilder, ty: &SqlType) -> RowBuilder {
    let mut row = row.text("DATA_TYPE", ty.name());
    if let Some(length) = ty.declared_length() {
        let (units, octets) = match length {
            Length::Limit(units) => (i64::from(units), i64::from(ty.max_length())),
            Length::Max => (-1, -1),
        };
        row = row.integer("CHARACTER_MAXIMUM_LENGTH", units).integer("CHARACTER_OCTET_LENGTH", octets);
    } else if let Some(units) = ty.units_max() {
        let bytes = if ty.is_unicode() { 2 } else { 1 };
        row = row.integer("CHARACTER_MAXIMUM_LENGTH", units).integer("CHARACTER_OCTET_LENGTH", units * bytes);
    } else if matches!(ty, SqlType::Xml | SqlType::Clr(_)) {
        let length = ty.max_length();
        row = row.integer("CHARACTER_MAXIMUM_LENGTH", length).integer("CHARACTER_OCTET_LENGTH", length);
    }
    if ty.is_string() {
        row = row.text("CHARACTER_SET_NAME", if ty.is_unicode() { "UNICODE" } else { "iso_1" });
        row = row.text("COLLATION_NAME", super::columns::COLLATION);
    }
    if ty.is_number() && *ty != SqlType::Bit {
        let approximate = matches!(ty, SqlType::Real | SqlType::Float);
        row = row
            .integer("NUMERIC_PRECISION", ty.precision())
            .integer("NUMERIC_PRECISION_RADIX", if approximate { 2 } else { 10 });
        if !approximate {
            row = row.integer("NUMERIC_SCALE", ty.scale());
        }
    }
    if ty.is_date_or_time() {
        row = row.integer("DATETIME_PRECISION", ty.scale());
    }
    row
}

/// The same of a result's column, with its collation.
pub(super) fn with_type_and_collation(row: RowBuilder, column: &ColumnInfo) -> RowBuilder {
    with_collation(with_type(row, &column.ty), &column.ty, column.collated)
}

/// The same by the name that was written, if that is a second one. `sysname` is no name that these views know.
pub(super) fn with_named_type(row: RowBuilder, ty: &SqlType, second: Option<&SecondName>) -> RowBuilder {
    let row = with_type(row, ty);
    match second.filter(|second| second.system_type_id != ty.system_type_id()) {
        None => row,
        Some(second) => row.text("DATA_TYPE", second.name),
    }
}

fn columns(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let mut rows = Vec::new();
    for table in source.catalog.tables() {
        for (place, column) in table.columns.iter().enumerate() {
            let row = of_table(view, source, &table.schema, &shown_name(&table.name, table.object_id))
                .text("COLUMN_NAME", &column.name)
                .integer("ORDINAL_POSITION", place as i64 + 1)
                .text_if("COLUMN_DEFAULT", column.default.as_ref().and_then(|default| definition(&default.text)))
                .text("IS_NULLABLE", if column.nullable { "YES" } else { "NO" });
            let row =
                with_collation(with_named_type(row, &column.ty, column.second_name()), &column.ty, column.collated());
            let row = match column
                .user_type
                .and_then(|id| source.catalog.user_type_by_id(id))
                .filter(|own| !own.is_collection())
            {
                None => row,
                Some(user_type) => row
                    .text("DOMAIN_CATALOG", source.database.name())
                    .text("DOMAIN_SCHEMA", &user_type.schema)
                    .text("DOMAIN_NAME", &user_type.name),
            };
            rows.push(if column.rowversion { row.text("DATA_TYPE", "timestamp").done() } else { row.done() });
        }
    }
    for module in source.catalog.views() {
        let columns = source.view_columns.get(&module.object_id).map(Vec::as_slice).unwrap_or_default();
        for (place, column) in columns.iter().enumerate() {
            let row = of_table(view, source, &module.schema, &module.name)
                .text("COLUMN_NAME", &column.name)
                .integer("ORDINAL_POSITION", place as i64 + 1)
                .text("IS_NULLABLE", if column.nullable { "YES" } else { "NO" });
            rows.push(with_type_and_collation(row, column).done());
        }
    }
    Ok(rows)
}

fn routines(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let row = |module: &Module, kind: &str| {
        view.row()
            .text("SPECIFIC_CATALOG", source.database.name())
            .text("SPECIFIC_SCHEMA", &module.schema)
            .text("SPECIFIC_NAME", &module.name)
            .text("ROUTINE_CATALOG", source.database.name())
            .text("ROUTINE_SCHEMA", &module.schema)
            .text("ROUTINE_NAME", &module.name)
            .text("ROUTINE_TYPE", kind)
            .text("ROUTINE_BODY", "SQL")
            .text_if("ROUTINE_DEFINITION", source.shown_text(module).and_then(definition))
            .text("IS_DETERMINISTIC", "NO")
            .text("SQL_DATA_ACCESS", if kind == "FUNCTION" { "READS" } else { "MODIFIES" })
            .text("SCHEMA_LEVEL_ROUTINE", "YES")
            .integer("MAX_DYNAMIC_RESULT_SETS", -1)
            .text("IS_USER_DEFINED_CAST", "NO")
            .text("IS_IMPLICITLY_INVOCABLE", "NO")
            .moment("CREATED", module.created_us)
            .moment("LAST_ALTERED", module.modified_us)
    };
    let mut rows: Rows = source.catalog.procedures().map(|module| row(module, "PROCEDURE").done()).collect();
    for module in source.catalog.functions() {
        let row = row(module, "FUNCTION");
        let declared = modules::result_type(source.catalog, module);
        rows.push(match declared.and_then(|declared| Some((declared.scalar()?, declared.second_name()))) {
            Some((ty, second)) => with_named_type(row, &ty, second).done(),
            None => row.text("DATA_TYPE", "TABLE").done(),
        });
    }
    Ok(rows)
}

/// The columns that name a constraint and its table.
fn of_constraint(view: &View, source: &Source<'_>, table: &Table, name: &str) -> RowBuilder {
    of_table(view, source, &table.schema, &shown_name(&table.name, table.object_id))
        .text("CONSTRAINT_CATALOG", source.database.name())
        .text("CONSTRAINT_SCHEMA", &table.schema)
        .text("CONSTRAINT_NAME", name)
}

fn table_constraints(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let row = |table: &Table, name: &str, kind: &str| {
        of_constraint(view, source, table, name)
            .text("CONSTRAINT_TYPE", kind)
            .text("IS_DEFERRABLE", "NO")
            .text("INITIALLY_DEFERRED", "NO")
            .done()
    };
    let mut rows = Vec::new();
    for table in source.catalog.tables() {
        for index in table.indexes.iter().filter(|index| index.constraint) {
            rows.push(row(table, &index.name, if index.primary_key { "PRIMARY KEY" } else { "UNIQUE" }));
        }
        rows.extend(table.foreign_keys.iter().map(|key| row(table, &key.name, "FOREIGN KEY")));
        rows.extend(table.checks.iter().map(|check| row(table, &check.name, "CHECK")));
    }
    Ok(rows)
}

fn key_column_usage(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let row = |table: &Table, name: &str, column: usize, place: usize| {
        of_constraint(view, source, table, name)
            .text("COLUMN_NAME", &table.columns[column].name)
            .integer("ORDINAL_POSITION", place as i64 + 1)
            .done()
    };
    let mut rows = Vec::new();
    for table in source.catalog.tables() {
        for index in table.indexes.iter().filter(|index| index.constraint) {
            for (place, key) in index.columns.iter().enumerate() {
                rows.push(row(table, &index.name, key.column, place));
            }
        }
        for key in &table.foreign_keys {
            let columns = key.columns.iter().enumerate();
            rows.extend(columns.map(|(place, column)| row(table, &key.name, *column, place)));
        }
    }
    Ok(rows)
}
