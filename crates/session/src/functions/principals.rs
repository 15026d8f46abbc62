//! What logins are and what sessions may do, as the older functions tell it.

use super::{Answer, Call, int};
use crate::security::{self, is_master};
use crate::views;
use pikepole_engine::{Permission, PrincipalKind, Securable};
use pikepole_types::{DateTime, SqlType, Value, Variant};

/// What PERMISSIONS says of statements.
const STATEMENTS: [(Permission, i32); 5] = [
    (Permission::CreateTable, 0x2),
    (Permission::CreateProcedure, 0x4),
    (Permission::CreateView, 0x8),
    (Permission::BackupDatabase, 0x40),
    (Permission::BackupLog, 0x80),
];
/// What it says of objects: of all columns and of any column.
const OBJECTS: [(Permission, i32); 6] = [
    (Permission::Select, 0x1 | 0x1000),
    (Permission::Update, 0x2 | 0x2000),
    (Permission::References, 0x4 | 0x4000),
    (Permission::Insert, 0x8),
    (Permission::Delete, 0x10),
    (Permission::Execute, 0x20),
];
/// What it says of a column.
const COLUMNS: [(Permission, i32); 3] =
    [(Permission::Select, 0x1), (Permission::Update, 0x2), (Permission::References, 0x4)];

/// PERMISSIONS([object [, column]]): a bit for each.
pub(super) fn permissions(call: &Call<'_>) -> Answer {
    let token = call.context.token();
    let catalog = call.catalog();
    let bits = |known: &[(Permission, i32)], has: &dyn Fn(Permission) -> bool| {
        known.iter().filter(|(permission, _)| has(*permission)).fold(0, |bits, (_, bit)| bits | bit)
    };
    if call.arguments.is_empty() {
        let create = is_master(call.context) && token.has(Permission::CreateAnyDatabase, Securable::Server);
        return int(bits(&STATEMENTS, &|permission| token.has(permission, Securable::Database)) | i32::from(create));
    }
    let Some(object) = call.number(0).and_then(|id| catalog.object_by_id(id)) else { return Ok(None) };
    let securable = catalog.securable(object);
    let Some(column) = call.text(1) else {
        return int(bits(&OBJECTS, &|permission| token.has(permission, securable)));
    };
    let table = call.number(0).and_then(|id| call.table_by_id(id));
    let Some(place) = table.and_then(|table| table.column(column)) else { return Ok(None) };
    let number = i32::try_from(place + 1).unwrap_or(i32::MAX);
    int(bits(&COLUMNS, &|permission| token.has_on_column(permission, securable, number)))
}

/// LOGINPROPERTY: no password expires and none locks its login out.
pub(super) fn login_property(call: &Call<'_>) -> Answer {
    let (Some(name), Some(property)) = (call.text(0), call.text(1)) else { return Ok(None) };
    let logins = security::principals(call.host, call.context, PrincipalKind::Login)?;
    let Some(details) = logins.find(name).and_then(|login| login.login.as_ref()) else { return Ok(None) };
    match property.to_ascii_lowercase().as_str() {
        "defaultdatabase" => Ok(Some(Value::from(details.default_database.as_str()))),
        "defaultlanguage" => Ok(Some(Value::from(details.default_language.as_str()))),
        "badpasswordcount" | "historylength" | "isexpired" | "islocked" | "ismustchange" => int(0),
        "passwordlastsettime" => {
            let set = views::datetime(details.password_set_us);
            let in_variant = |set: DateTime| Variant::new(SqlType::DateTime, Value::DateTime(set));
            Ok(match set {
                Value::DateTime(set) => in_variant(set).map(|set| Value::Variant(Box::new(set))),
                _ => None,
            })
        }
        _ => Ok(None),
    }
}
