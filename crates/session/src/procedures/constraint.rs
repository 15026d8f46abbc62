//! `sp_helpconstraint`: the constraints of a table, and the foreign keys that refer to it.

use super::Arguments;
use super::describe::object;
use crate::result_set::{ResultSet, string, text};
use crate::security;
use pikepole_engine::{Catalog, ForeignKey, ReferentialAction, Table};
use pikepole_query::{ExecutionContext, Output};
use pikepole_types::{SqlError, Value};

const NOT_APPLICABLE: &str = "(n/a)";

fn action(action: ReferentialAction) -> &'static str {
    match action {
        ReferentialAction::NoAction => "No Action",
        ReferentialAction::Cascade => "Cascade",
        ReferentialAction::SetNull => "Set Null",
        ReferentialAction::SetDefault => "Set Default",
    }
}

fn enabled(disabled: bool) -> &'static str {
    if disabled { "Disabled" } else { "Enabled" }
}

fn names(table: &Table, columns: &[usize]) -> String {
    let names: Vec<&str> = columns.iter().map(|at| table.columns[*at].name.as_str()).collect();
    names.join(", ")
}

/// Type, name, what deleting and updating do, whether it is enabled and whether replication keeps it, and its keys.
fn row(parts: [String; 7]) -> Vec<Value> {
    parts.into_iter().map(string).collect()
}

/// A constraint that no action of another table's rows meets.
fn plain(kind: String, name: &str, status: &str, replicated: &str, keys: String) -> Vec<Value> {
    let none = NOT_APPLICABLE.to_owned();
    row([kind, name.to_owned(), none.clone(), none, status.to_owned(), replicated.to_owned(), keys])
}

fn foreign_key(catalog: &Catalog, database: &str, table: &Table, key: &ForeignKey) -> [Vec<Value>; 2] {
    let target = catalog.table_by_id(key.referenced);
    let refers = target.map_or_else(String::new, |target| {
        let columns = names(target, &key.referenced_columns(target));
        format!("REFERENCES {database}.{}.{} ({columns})", target.schema, target.name)
    });
    let own = row([
        "FOREIGN KEY".into(),
        key.name.clone(),
        action(key.on_delete).into(),
        action(key.on_update).into(),
        enabled(key.disabled).into(),
        "Is_For_Replication".into(),
        names(table, &key.columns),
    ]);
    let blank = || " ".to_owned();
    [own, row([blank(), blank(), blank(), blank(), blank(), blank(), refers])]
}

fn constraints(catalog: &Catalog, database: &str, table: &Table) -> Vec<Vec<Value>> {
    let mut rows = Vec::new();
    for check in &table.checks {
        let place = match check.column {
            Some(at) => format!("CHECK on column {}", table.columns[at].name),
            None => "CHECK Table Level ".to_owned(),
        };
        rows.push(plain(place, &check.name, enabled(check.disabled), "Is_For_Replication", check.text.clone()));
    }
    for column in &table.columns {
        if let Some(default) = &column.default {
            let place = format!("DEFAULT on column {}", column.name);
            rows.push(plain(place, &default.name, NOT_APPLICABLE, NOT_APPLICABLE, default.text.clone()));
        }
    }
    for key in &table.foreign_keys {
        rows.extend(foreign_key(catalog, database, table, key));
    }
    for index in table.indexes.iter().filter(|index| index.constraint || index.primary_key) {
        let kind = if index.primary_key { "PRIMARY KEY" } else { "UNIQUE" };
        let layout = if index.clustered { "clustered" } else { "non-clustered" };
        let columns: Vec<usize> = index.columns.iter().map(|key| key.column).collect();
        let keys = names(table, &columns);
        rows.push(plain(format!("{kind} ({layout})"), &index.name, NOT_APPLICABLE, NOT_APPLICABLE, keys));
    }
    rows
}

/// `sp_helpconstraint`: `@nomsg` leaves the table's name out.
pub(super) fn of_call(
    arguments: &Arguments<'_>,
    context: &ExecutionContext,
    output: &mut dyn Output,
) -> Result<(), SqlError> {
    let is_quiet = arguments.text(1).is_some_and(|said| said.eq_ignore_ascii_case("nomsg"));
    help((&arguments.text(0).unwrap_or_default(), !is_quiet), context, output)
}

/// The constraints of a table and those that refer to it, with the table's name before them or without it.
pub(super) fn help(
    (name, is_named): (&str, bool),
    context: &ExecutionContext,
    output: &mut dyn Output,
) -> Result<(), SqlError> {
    let catalog = &*security::catalog(context);
    let database = context.database().name();
    let found = object(catalog, name, database)?;
    let Some(table) = catalog.table_by_id(found.object_id) else {
        return Err(SqlError::object_not_in_database(name, database));
    };
    if is_named {
        let mut set = ResultSet::new(&[("Object Name", text(776))]);
        set.push(vec![string(name)]);
        set.send(output);
    }
    let rows = constraints(catalog, database, table);
    if rows.is_empty() {
        output.message(&SqlError::object_without_constraints(name));
    } else {
        let mut set = ResultSet::new(&[
            ("constraint_type", text(146)),
            ("constraint_name", text(128)),
            ("delete_action", text(11)),
            ("update_action", text(11)),
            ("status_enabled", text(8)),
            ("status_for_replication", text(19)),
            ("constraint_keys", text(2126)),
        ]);
        rows.into_iter().for_each(|row| set.push(row));
        set.send(output);
    }
    let referring = catalog.tables().flat_map(|from| from.foreign_keys.iter().map(move |key| (from, key)));
    let referring: Vec<Vec<Value>> = referring
        .filter(|(_, key)| key.referenced == table.object_id)
        .map(|(from, key)| vec![string(format!("{database}.{}.{}: {}", from.schema, from.name, key.name))])
        .collect();
    if referring.is_empty() {
        output.message(&SqlError::table_not_referenced(name));
        return Ok(());
    }
    let mut set = ResultSet::new(&[("Table is referenced by foreign key", text(516))]);
    referring.into_iter().for_each(|row| set.push(row));
    set.send(output);
    Ok(())
}
