//! `sys.foreign_keys`, `foreign_key_columns`, `check_constraints`, `computed_columns`, and the standard's views about
//! constraints.

use super::Kind::{Bit, Int, LongText, Name, Text, TinyInt};
use super::Nullable::{No, Yes};
use super::columns::{COLUMN, table_column};
use super::objects::{OBJECT, of_check, of_foreign_key};
use super::{Rows, Source, View, columns_of};
use crate::modules;
use pikepole_engine::{Check, ReferentialAction, Table};
use pikepole_types::SqlError;
use std::sync::Arc;

pub(super) const VIEWS: &[View] = &[
    View {
        schema: "sys",
        name: "foreign_keys",
        columns: columns_of![OBJECT;
            ("referenced_object_id", Int, Yes),
            ("key_index_id", Int, Yes),
            ("is_disabled", Bit, No),
            ("is_not_for_replication", Bit, No),
            ("is_not_trusted", Bit, No),
            ("delete_referential_action", TinyInt, Yes),
            ("delete_referential_action_desc", Text(60), Yes),
            ("update_referential_action", TinyInt, Yes),
            ("update_referential_action_desc", Text(60), Yes),
            ("is_system_named", Bit, No),
        ],
        rows: foreign_keys,
    },
    View {
        schema: "sys",
        name: "foreign_key_columns",
        columns: &[
            ("constraint_object_id", Int, No),
            ("constraint_column_id", Int, No),
            ("parent_object_id", Int, No),
            ("parent_column_id", Int, No),
            ("referenced_object_id", Int, No),
            ("referenced_column_id", Int, No),
        ],
        rows: foreign_key_columns,
    },
    View {
        schema: "sys",
        name: "check_constraints",
        columns: columns_of![OBJECT;
            ("is_disabled", Bit, No),
            ("is_not_for_replication", Bit, No),
            ("is_not_trusted", Bit, No),
            ("parent_column_id", Int, No),
            ("definition", LongText, Yes),
            ("uses_database_collation", Bit, Yes),
            ("is_system_named", Bit, No),
        ],
        rows: check_constraints,
    },
    View {
        schema: "sys",
        name: "computed_columns",
        columns: columns_of![COLUMN;
            ("definition", LongText, Yes),
            ("uses_database_collation", Bit, No),
            ("is_persisted", Bit, No),
        ],
        rows: computed_columns,
    },
    View {
        schema: "INFORMATION_SCHEMA",
        name: "REFERENTIAL_CONSTRAINTS",
        columns: &[
            ("CONSTRAINT_CATALOG", Name, Yes),
            ("CONSTRAINT_SCHEMA", Name, Yes),
            ("CONSTRAINT_NAME", Name, No),
            ("UNIQUE_CONSTRAINT_CATALOG", Name, Yes),
            ("UNIQUE_CONSTRAINT_SCHEMA", Name, Yes),
            ("UNIQUE_CONSTRAINT_NAME", Name, Yes),
            ("MATCH_OPTION", Text(7), Yes),
            ("UPDATE_RULE", Text(11), Yes),
            ("DELETE_RULE", Text(11), Yes),
        ],
        rows: referential_constraints,
    },
    View {
        schema: "INFORMATION_SCHEMA",
        name: "CHECK_CONSTRAINTS",
        columns: &[
            ("CONSTRAINT_CATALOG", Name, Yes),
            ("CONSTRAINT_SCHEMA", Name, Yes),
            ("CONSTRAINT_NAME", Name, No),
            ("CHECK_CLAUSE", Text(4000), Yes),
        ],
        rows: check_clauses,
    },
    View {
        schema: "INFORMATION_SCHEMA",
        name: "CONSTRAINT_COLUMN_USAGE",
        columns: &[
            ("TABLE_CATALOG", Name, Yes),
            ("TABLE_SCHEMA", Name, Yes),
            ("TABLE_NAME", Name, No),
            ("COLUMN_NAME", Name, Yes),
            ("CONSTRAINT_CATALOG", Name, Yes),
            ("CONSTRAINT_SCHEMA", Name, Yes),
            ("CONSTRAINT_NAME", Name, No),
        ],
        rows: constraint_column_usage,
    },
    View {
        schema: "INFORMATION_SCHEMA",
        name: "CONSTRAINT_TABLE_USAGE",
        columns: &[
            ("TABLE_CATALOG", Name, Yes),
            ("TABLE_SCHEMA", Name, Yes),
            ("TABLE_NAME", Name, No),
            ("CONSTRAINT_CATALOG", Name, Yes),
            ("CONSTRAINT_SCHEMA", Name, Yes),
            ("CONSTRAINT_NAME", Name, No),
        ],
        rows: constraint_table_usage,
    },
    View {
        schema: "INFORMATION_SCHEMA",
        name: "PARAMETERS",
        columns: &[
            ("SPECIFIC_CATALOG", Name, Yes),
            ("SPECIFIC_SCHEMA", Name, Yes),
            ("SPECIFIC_NAME", Name, No),
            ("ORDINAL_POSITION", Int, No),
            ("PARAMETER_MODE", Text(10), Yes),
            ("IS_RESULT", Text(10), Yes),
            ("AS_LOCATOR", Text(10), Yes),
            ("PARAMETER_NAME", Name, Yes),
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
            ("NUMERIC_PRECISION_RADIX", super::Kind::SmallInt, Yes),
            ("NUMERIC_SCALE", Int, Yes),
            ("DATETIME_PRECISION", super::Kind::SmallInt, Yes),
            ("INTERVAL_TYPE", Text(30), Yes),
            ("INTERVAL_PRECISION", super::Kind::SmallInt, Yes),
            ("USER_DEFINED_TYPE_CATALOG", Name, Yes),
            ("USER_DEFINED_TYPE_SCHEMA", Name, Yes),
            ("USER_DEFINED_TYPE_NAME", Name, Yes),
            ("SCOPE_CATALOG", Name, Yes),
            ("SCOPE_SCHEMA", Name, Yes),
            ("SCOPE_NAME", Name, Yes),
        ],
        rows: parameters,
    },
];

/// An action's number and name in `sys.foreign_keys`.
fn action(action: ReferentialAction) -> (i32, &'static str) {
    match action {
        ReferentialAction::NoAction => (0, "NO_ACTION"),
        ReferentialAction::Cascade => (1, "CASCADE"),
        ReferentialAction::SetNull => (2, "SET_NULL"),
        ReferentialAction::SetDefault => (3, "SET_DEFAULT"),
    }
}

fn foreign_keys(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let mut rows = Vec::new();
    for table in source.catalog.tables() {
        for key in &table.foreign_keys {
            let ((delete, delete_name), (update, update_name)) = (action(key.on_delete), action(key.on_update));
            rows.push(
                of_foreign_key(table, key)
                    .row(view)
                    .integer("referenced_object_id", key.referenced)
                    .integer("key_index_id", key.index_id)
                    .bit("is_disabled", key.disabled)
                    .bit("is_not_trusted", key.not_trusted)
                    .integer("delete_referential_action", delete)
                    .text("delete_referential_action_desc", delete_name)
                    .integer("update_referential_action", update)
                    .text("update_referential_action_desc", update_name)
                    .bit("is_system_named", key.system_named)
                    .done(),
            );
        }
    }
    Ok(rows)
}

fn foreign_key_columns(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let mut rows = Vec::new();
    for table in source.catalog.tables() {
        for key in &table.foreign_keys {
            let referenced = source.catalog.referenced_columns(key);
            let number =
                |place| source.catalog.table_by_id(key.referenced).map_or(0, |table| table.column_number(place));
            for (place, (own, other)) in key.columns.iter().zip(referenced).enumerate() {
                rows.push(
                    view.row()
                        .integer("constraint_object_id", key.object_id)
                        .integer("constraint_column_id", place as i64 + 1)
                        .integer("parent_object_id", table.object_id)
                        .integer("parent_column_id", table.column_number(*own))
                        .integer("referenced_object_id", key.referenced)
                        .integer("referenced_column_id", number(other))
                        .done(),
                );
            }
        }
    }
    Ok(rows)
}

fn check_constraints(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let mut rows = Vec::new();
    for table in source.catalog.table_shapes() {
        for check in &table.checks {
            rows.push(
                of_check(table, check)
                    .row(view)
                    .bit("is_disabled", check.disabled)
                    .bit("is_not_trusted", check.not_trusted)
                    .integer("parent_column_id", check.column.map_or(0, |column| table.column_number(column)))
                    .text("definition", &check.text)
                    .bit("uses_database_collation", true)
                    .bit("is_system_named", check.system_named)
                    .done(),
            );
        }
    }
    Ok(rows)
}

fn computed_columns(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let mut rows = Vec::new();
    for table in source.catalog.table_shapes() {
        for (place, column) in table.columns.iter().enumerate() {
            let Some(computed) = &column.computed else { continue };
            rows.push(
                table_column(view, table.object_id, place, column)
                    .text("definition", &computed.text)
                    .bit("uses_database_collation", true)
                    .bit("is_persisted", computed.persisted)
                    .done(),
            );
        }
    }
    Ok(rows)
}

/// An action as the standard writes it.
fn rule(referential: ReferentialAction) -> String {
    action(referential).1.replace('_', " ")
}

fn referential_constraints(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let mut rows = Vec::new();
    let database = source.database.name();
    for table in source.catalog.tables() {
        for key in &table.foreign_keys {
            let target = source.catalog.table_by_id(key.referenced);
            let index = target.and_then(|target| target.indexes.iter().find(|index| index.index_id == key.index_id));
            rows.push(
                view.row()
                    .text("CONSTRAINT_CATALOG", database)
                    .text("CONSTRAINT_SCHEMA", &table.schema)
                    .text("CONSTRAINT_NAME", &key.name)
                    .text("UNIQUE_CONSTRAINT_CATALOG", database)
                    .text_if("UNIQUE_CONSTRAINT_SCHEMA", target.map(|target| &target.schema))
                    .text_if("UNIQUE_CONSTRAINT_NAME", index.map(|index| &index.name))
                    .text("MATCH_OPTION", "SIMPLE")
                    .text("UPDATE_RULE", rule(key.on_update))
                    .text("DELETE_RULE", rule(key.on_delete))
                    .done(),
            );
        }
    }
    Ok(rows)
}

fn check_clauses(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let mut rows = Vec::new();
    for table in source.catalog.tables() {
        for check in &table.checks {
            rows.push(
                view.row()
                    .text("CONSTRAINT_CATALOG", source.database.name())
                    .text("CONSTRAINT_SCHEMA", &table.schema)
                    .text("CONSTRAINT_NAME", &check.name)
                    .text("CHECK_CLAUSE", &check.text)
                    .done(),
            );
        }
    }
    Ok(rows)
}

/// Every constraint of a table with the columns it is about: keys, foreign keys, checks.
fn constraints<'t>(table: &'t Table, source: &Source<'_>) -> Vec<(&'t str, Vec<usize>)> {
    let keys = table.indexes.iter().filter(|index| index.constraint);
    let keys = keys.map(|index| (index.name.as_str(), index.columns.iter().map(|key| key.column).collect()));
    let foreign = table.foreign_keys.iter().map(|key| (key.name.as_str(), key.columns.clone()));
    // Where nobody has bound them, the column that it stands behind is known.
    let read = |check: &Check| source.checked_columns.get(&check.object_id).cloned();
    let columns = |check: &Check| read(check).unwrap_or_else(|| check.column.into_iter().collect());
    let checks = table.checks.iter().map(|check| (check.name.as_str(), columns(check)));
    keys.chain(foreign).chain(checks).collect()
}

fn constraint_column_usage(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let mut rows = Vec::new();
    let tables: Vec<&Arc<Table>> = source.catalog.tables().collect();
    for table in tables {
        for (name, columns) in constraints(table, source) {
            for column in columns {
                rows.push(
                    view.row()
                        .text("TABLE_CATALOG", source.database.name())
                        .text("TABLE_SCHEMA", &table.schema)
                        .text("TABLE_NAME", &table.name)
                        .text("COLUMN_NAME", &table.columns[column].name)
                        .text("CONSTRAINT_CATALOG", source.database.name())
                        .text("CONSTRAINT_SCHEMA", &table.schema)
                        .text("CONSTRAINT_NAME", name)
                        .done(),
                );
            }
        }
    }
    Ok(rows)
}

fn constraint_table_usage(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let mut rows = Vec::new();
    for table in source.catalog.tables() {
        for (name, _) in constraints(table, source) {
            rows.push(
                view.row()
                    .text("TABLE_CATALOG", source.database.name())
                    .text("TABLE_SCHEMA", &table.schema)
                    .text("TABLE_NAME", &table.name)
                    .text("CONSTRAINT_CATALOG", source.database.name())
                    .text("CONSTRAINT_SCHEMA", &table.schema)
                    .text("CONSTRAINT_NAME", name)
                    .done(),
            );
        }
    }
    Ok(rows)
}

fn parameters(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let mut rows = Vec::new();
    for procedure in source.catalog.procedures() {
        for (place, parameter) in modules::parameters(source.catalog, procedure).into_iter().enumerate() {
            let row = view
                .row()
                .text("SPECIFIC_CATALOG", source.database.name())
                .text("SPECIFIC_SCHEMA", &procedure.schema)
                .text("SPECIFIC_NAME", &procedure.name)
                .integer("ORDINAL_POSITION", place as i64 + 1)
                .text("PARAMETER_MODE", if parameter.output { "INOUT" } else { "IN" })
                .text("IS_RESULT", "NO")
                .text("AS_LOCATOR", "NO")
                .text("PARAMETER_NAME", &parameter.name);
            let row = match parameter.declared.scalar() {
                Some(ty) => super::information_schema::with_named_type(row, &ty, parameter.declared.second_name()),
                None => row.text("DATA_TYPE", "table type"),
            };
            let row = match parameter.declared.user_type() {
                None => row,
                Some(user_type) => row
                    .text("USER_DEFINED_TYPE_CATALOG", source.database.name())
                    .text("USER_DEFINED_TYPE_SCHEMA", &user_type.schema)
                    .text("USER_DEFINED_TYPE_NAME", &user_type.name),
            };
            rows.push(row.done());
        }
    }
    Ok(rows)
}
