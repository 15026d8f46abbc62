//! `sys.fn_my_permissions`: what the session may do with something, and with each of its columns. `sys.fn_builtin_permissions`: all
//! permissions that there are.

use super::Kind::{Name, Text};
use super::Nullable::Yes;
use super::{Function, Rows, Source, View};
use crate::names;
use pikepole_engine::{Class, Object, Permission, Securable};
use pikepole_types::{SqlError, Value};

pub(super) const FUNCTIONS: &[Function] = &[
    Function {
        view: View {
            schema: "sys",
            name: "fn_my_permissions",
            columns: &[("entity_name", Name, Yes), ("subentity_name", Name, Yes), ("permission_name", Name, Yes)],
            rows: my_permissions,
        },
        parameters: &[Name, Name],
    },
    Function {
        view: View {
            schema: "sys",
            name: "fn_builtin_permissions",
            columns: &[
                ("class_desc", Text(60), Yes),
                ("permission_name", Text(60), Yes),
                ("type", Text(4), Yes),
                ("covering_permission_name", Text(60), Yes),
                ("parent_class_desc", Text(60), Yes),
                ("parent_covering_permission_name", Text(60), Yes),
            ],
            rows: builtin_permissions,
        },
        parameters: &[Name],
    },
];

/// Each permission for each kind of thing that it is granted on; of one kind where the argument names it. DEFAULT, NULL and an empty
/// text ask for all.
fn builtin_permissions(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let wanted = source.arguments.first().and_then(Value::as_str).filter(|class| !class.is_empty());
    let mut rows = Rows::new();
    for permission in Permission::ALL {
        for class in permission.classes() {
            if wanted.is_some_and(|wanted| !wanted.eq_ignore_ascii_case(class.name())) {
                continue;
            }
            let row = view
                .row()
                .text("class_desc", class.name())
                .text("permission_name", permission.name())
                .text("type", permission.code())
                .text("covering_permission_name", permission.implied_by(*class).map_or("", Permission::name));
            let (above, covering) = match permission.implied_from_above(*class) {
                Some((above, covering)) => (above.name(), covering.name()),
                None => ("", ""),
            };
            rows.push(row.text("parent_class_desc", above).text("parent_covering_permission_name", covering).done());
        }
    }
    Ok(rows)
}

fn my_permissions(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let given = |place: usize| source.arguments.get(place).and_then(Value::as_str);
    let Some((shown, securable)) = found(source, given(0), given(1)) else { return Ok(Vec::new()) };
    let (class, _) = securable.key();
    let row = |column: &str, permission: Permission| {
        let row = view.row().text("entity_name", shown).text("subentity_name", column);
        row.text("permission_name", permission.name()).done()
    };
    let of_class = Permission::ALL.iter().copied().filter(|permission| permission.classes().contains(&class));
    let mut rows: Rows = Vec::new();
    rows.extend(of_class.filter(|one| source.token.has_in_part(*one, securable)).map(|permission| row("", permission)));
    let columns = columns(source, securable);
    for permission in Permission::ALL.iter().copied().filter(|permission| permission.is_of_columns()) {
        for (number, name) in (1..).zip(&columns) {
            if source.token.has_on_column(permission, securable, number) {
                rows.push(row(name, permission));
            }
        }
    }
    Ok(rows)
}

/// What is named, and how the rows call it.
fn found<'n>(source: &Source<'_>, name: Option<&'n str>, class: Option<&str>) -> Option<(&'n str, Securable)> {
    let class = class.unwrap_or("SERVER").to_ascii_uppercase();
    let Some(name) = name.filter(|name| !name.is_empty()) else {
        return match class.as_str() {
            "SERVER" => Some(("server", Securable::Server)),
            "DATABASE" => Some(("database", Securable::Database)),
            _ => None,
        };
    };
    let parts = names::parts(name)?;
    let schema = parts.schema.as_deref().unwrap_or("dbo");
    let securable = match class.as_str() {
        "DATABASE" => parts.name.eq_ignore_ascii_case(source.database.name()).then_some(Securable::Database),
        "SCHEMA" => {
            let schema = source.catalog.schema(&parts.name)?;
            Some(Securable::Schema { id: schema.schema_id, owner: schema.owner })
        }
        "OBJECT" => source.catalog.object(schema, &parts.name).map(|object| source.catalog.securable(object)),
        "TYPE" => source.catalog.user_type(schema, &parts.name).map(|found| source.catalog.securable_type(found)),
        _ => None,
    };
    Some((name, securable?))
}

/// The names of a table's or a view's columns.
fn columns(source: &Source<'_>, securable: Securable) -> Vec<String> {
    let (class, id) = securable.key();
    match source.catalog.object_by_id(id).filter(|_| class == Class::Object) {
        Some(Object::Table(table)) => table.columns.iter().map(|column| column.name.clone()).collect(),
        Some(Object::View(_)) => {
            source.view_columns.get(&id).into_iter().flatten().map(|column| column.name.clone()).collect()
        }
        _ => Vec::new(),
    }
}
