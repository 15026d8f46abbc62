//! `INFORMATION_SCHEMA`: who may do what with tables, and what views, functions and columns are made of.

use super::Kind::{Int, Name, SmallInt, Text, TinyInt};
use super::Nullable::{No, Yes};
use super::information_schema::{of_table, with_type_and_collation};
use super::{ColumnOf, RowBuilder, Rows, Source, View, columns_of, dependencies, shown_name};
use crate::dependencies::{Class, Reference, merged};
use pikepole_engine::{Class as Granted, Function, Grant, GrantState, Object, Permission, Principal};
use pikepole_types::SqlError;

const PRIVILEGE: &[ColumnOf] = &[
    ("GRANTOR", Name, Yes),
    ("GRANTEE", Name, Yes),
    ("TABLE_CATALOG", Name, Yes),
    ("TABLE_SCHEMA", Name, Yes),
    ("TABLE_NAME", Name, No),
    ("PRIVILEGE_TYPE", Text(10), Yes),
    ("IS_GRANTABLE", Text(3), Yes),
];
const USED_BY_VIEW: &[ColumnOf] = &[
    ("VIEW_CATALOG", Name, Yes),
    ("VIEW_SCHEMA", Name, Yes),
    ("VIEW_NAME", Name, No),
    ("TABLE_CATALOG", Name, Yes),
    ("TABLE_SCHEMA", Name, Yes),
    ("TABLE_NAME", Name, No),
];

pub(super) const VIEWS: &[View] = &[
    View { schema: "INFORMATION_SCHEMA", name: "TABLE_PRIVILEGES", columns: PRIVILEGE, rows: table_privileges },
    View {
        schema: "INFORMATION_SCHEMA",
        name: "COLUMN_PRIVILEGES",
        columns: &[
            ("GRANTOR", Name, Yes),
            ("GRANTEE", Name, Yes),
            ("TABLE_CATALOG", Name, Yes),
            ("TABLE_SCHEMA", Name, Yes),
            ("TABLE_NAME", Name, No),
            ("COLUMN_NAME", Name, Yes),
            ("PRIVILEGE_TYPE", Text(10), Yes),
            ("IS_GRANTABLE", Text(3), Yes),
        ],
        rows: column_privileges,
    },
    View { schema: "INFORMATION_SCHEMA", name: "VIEW_TABLE_USAGE", columns: USED_BY_VIEW, rows: view_table_usage },
    View {
        schema: "INFORMATION_SCHEMA",
        name: "VIEW_COLUMN_USAGE",
        columns: columns_of![USED_BY_VIEW; ("COLUMN_NAME", Name, Yes)],
        rows: view_column_usage,
    },
    View {
        schema: "INFORMATION_SCHEMA",
        name: "COLUMN_DOMAIN_USAGE",
        columns: &[
            ("DOMAIN_CATALOG", Name, Yes),
            ("DOMAIN_SCHEMA", Name, Yes),
            ("DOMAIN_NAME", Name, No),
            ("TABLE_CATALOG", Name, Yes),
            ("TABLE_SCHEMA", Name, Yes),
            ("TABLE_NAME", Name, No),
            ("COLUMN_NAME", Name, Yes),
        ],
        rows: column_domain_usage,
    },
    // Rules that types are bound to: there are none.
    View {
        schema: "INFORMATION_SCHEMA",
        name: "DOMAIN_CONSTRAINTS",
        columns: &[
            ("CONSTRAINT_CATALOG", Name, Yes),
            ("CONSTRAINT_SCHEMA", Name, Yes),
            ("CONSTRAINT_NAME", Name, No),
            ("DOMAIN_CATALOG", Name, Yes),
            ("DOMAIN_SCHEMA", Name, Yes),
            ("DOMAIN_NAME", Name, No),
            ("IS_DEFERRABLE", Text(2), No),
            ("INITIALLY_DEFERRED", Text(2), No),
        ],
        rows: |_, _| Ok(Rows::new()),
    },
    View {
        schema: "INFORMATION_SCHEMA",
        name: "ROUTINE_COLUMNS",
        columns: &[
            ("TABLE_CATALOG", Name, Yes),
            ("TABLE_SCHEMA", Name, Yes),
            ("TABLE_NAME", Name, No),
            ("COLUMN_NAME", Name, Yes),
            ("ORDINAL_POSITION", Int, No),
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
        rows: routine_columns,
    },
];

/// The schema and the name of a table or view, and the names of its columns.
fn named(source: &Source<'_>, object_id: i32) -> Option<(String, String, Vec<String>)> {
    match source.catalog.object_by_id(object_id)? {
        Object::Table(table) => {
            let columns = table.columns.iter().map(|column| column.name.clone()).collect();
            Some((table.schema.clone(), shown_name(&table.name, table.object_id).into_owned(), columns))
        }
        Object::View(module) => {
            let columns = source.view_columns.get(&module.object_id).into_iter().flatten();
            let columns = columns.map(|column| column.name.clone()).collect();
            Some((module.schema.clone(), module.name.clone(), columns))
        }
        _ => None,
    }
}

/// The grants of `kinds` on tables and views that the session's user gave or has, and those that everybody has.
fn privileges(
    source: &Source<'_>,
    kinds: &[Permission],
    mut row: impl FnMut(&Principal, &Grant) -> Option<RowBuilder>,
) -> Rows {
    let users = source.catalog.users();
    let own = source.token.database_ids().first().copied().unwrap_or(0);
    let mut rows = Rows::new();
    for principal in users.iter() {
        for grant in &principal.grants {
            let grantable = match grant.state {
                GrantState::Grant => "NO",
                GrantState::GrantWithGrantOption => "YES",
                GrantState::Deny | GrantState::Revoke => continue,
            };
            let concerns_us = principal.id == 0 || principal.id == own || grant.grantor == own;
            if grant.class != Granted::Object || !concerns_us || !kinds.contains(&grant.permission) {
                continue;
            }
            let Some(row) = row(principal, grant) else { continue };
            let grantor = users.get(grant.grantor).map(|grantor| grantor.name.clone());
            rows.push(
                row.text_if("GRANTOR", grantor)
                    .text("GRANTEE", &principal.name)
                    .text("PRIVILEGE_TYPE", grant.permission.name())
                    .text("IS_GRANTABLE", grantable)
                    .done(),
            );
        }
    }
    rows
}

fn table_privileges(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let kinds =
        [Permission::Select, Permission::Insert, Permission::Update, Permission::Delete, Permission::References];
    Ok(privileges(source, &kinds, |_, grant| {
        let (schema, name, _) = named(source, grant.major).filter(|_| grant.column == 0)?;
        Some(of_table(view, source, &schema, &name))
    }))
}

fn column_privileges(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let kinds = [Permission::Select, Permission::Update, Permission::References];
    Ok(privileges(source, &kinds, |_, grant| {
        let place = usize::try_from(grant.column).ok()?.checked_sub(1)?;
        let (schema, name, columns) = named(source, grant.major)?;
        Some(of_table(view, source, &schema, &name).text("COLUMN_NAME", columns.get(place)?))
    }))
}

/// For each view, what it is made of in this database: tables and other views.
fn used_by_views(
    view: &View,
    source: &Source<'_>,
    mut add: impl FnMut(&dyn Fn() -> RowBuilder, &Reference, &mut Rows),
) -> Rows {
    let mut rows = Rows::new();
    for module in source.catalog.views() {
        for reference in merged(&dependencies::references_of(source, module)) {
            let object = reference.id.filter(|_| reference.class == Class::Object);
            let Some((schema, name, _)) = object.and_then(|id| named(source, id)) else { continue };
            let row = || {
                of_table(view, source, &schema, &name)
                    .text("VIEW_CATALOG", source.database.name())
                    .text("VIEW_SCHEMA", &module.schema)
                    .text("VIEW_NAME", &module.name)
            };
            add(&row, &reference, &mut rows);
        }
    }
    rows
}

fn view_table_usage(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    Ok(used_by_views(view, source, |row, _, rows| rows.push(row().done())))
}

fn view_column_usage(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    Ok(used_by_views(view, source, |row, reference, rows| {
        rows.extend(reference.columns.iter().map(|column| row().text("COLUMN_NAME", &column.name).done()));
    }))
}

fn column_domain_usage(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let mut rows = Rows::new();
    for table in source.catalog.tables() {
        for column in &table.columns {
            let own = column.user_type.and_then(|id| source.catalog.user_type_by_id(id));
            let Some(user_type) = own.filter(|own| !own.is_collection()) else { continue };
            rows.push(
                of_table(view, source, &table.schema, &shown_name(&table.name, table.object_id))
                    .text("DOMAIN_CATALOG", source.database.name())
                    .text("DOMAIN_SCHEMA", &user_type.schema)
                    .text("DOMAIN_NAME", &user_type.name)
                    .text("COLUMN_NAME", &column.name)
                    .done(),
            );
        }
    }
    Ok(rows)
}

fn routine_columns(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let row = |function: &Function| of_table(view, source, &function.schema, &function.name);
    let mut rows = Rows::new();
    for function in source.catalog.functions() {
        let columns = source.view_columns.get(&function.object_id).into_iter().flatten();
        for (place, column) in columns.enumerate() {
            let row = row(function)
                .text("COLUMN_NAME", &column.name)
                .integer("ORDINAL_POSITION", place as i64 + 1)
                .text("IS_NULLABLE", if column.nullable { "YES" } else { "NO" });
            rows.push(with_type_and_collation(row, column).done());
        }
    }
    Ok(rows)
}
