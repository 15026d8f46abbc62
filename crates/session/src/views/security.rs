//! `sys.server_principals`, `sql_logins`, `server_role_members`, `server_permissions`, and their like of a database;
//! `sys.login_token` and `user_token`.

use super::Kind::{Bit, Bytes, Char, DateTime, Int, Name, SmallInt, Text, TinyInt};
use super::Nullable::{No, Yes};
use super::columns::column_number;
use super::{ColumnOf, RowBuilder, Rows, Source, View, columns_of};
use pikepole_engine::{DBO, GUEST, Grant, Permission, Principal, PrincipalKind, Principals, Securable, SecurityToken};
use pikepole_types::{SqlError, Value};
use std::sync::Arc;

/// What `sys.server_principals` and `sql_logins` have in common.
const LOGIN: &[ColumnOf] = &[
    ("name", Name, No),
    ("principal_id", Int, No),
    ("sid", Bytes(85), Yes),
    ("type", Char(1), No),
    ("type_desc", Text(60), Yes),
    ("is_disabled", Bit, Yes),
    ("create_date", DateTime, No),
    ("modify_date", DateTime, No),
    ("default_database_name", Name, Yes),
    ("default_language_name", Name, Yes),
    ("credential_id", Int, Yes),
];

/// The columns of both views of permissions.
const PERMISSION: &[ColumnOf] = &[
    ("class", TinyInt, No),
    ("class_desc", Text(60), Yes),
    ("major_id", Int, No),
    ("minor_id", Int, No),
    ("grantee_principal_id", Int, No),
    ("grantor_principal_id", Int, No),
    ("type", Char(4), No),
    ("permission_name", Name, Yes),
    ("state", Char(1), No),
    ("state_desc", Text(60), Yes),
];

const MEMBER: &[ColumnOf] = &[("role_principal_id", Int, No), ("member_principal_id", Int, No)];

/// The columns of both views of tokens.
const TOKEN: &[ColumnOf] = &[
    ("principal_id", Int, Yes),
    ("sid", Bytes(85), Yes),
    ("name", Name, Yes),
    ("type", Name, Yes),
    ("usage", Name, Yes),
];

pub(super) const VIEWS: &[View] = &[
    View {
        schema: "sys",
        name: "server_principals",
        columns: columns_of![LOGIN; ("owning_principal_id", Int, Yes), ("is_fixed_role", Bit, No)],
        rows: server_principals,
    },
    View {
        schema: "sys",
        name: "sql_logins",
        columns: columns_of![
            LOGIN;
            ("is_policy_checked", Bit, Yes),
            ("is_expiration_checked", Bit, Yes),
            ("password_hash", Bytes(256), Yes),
        ],
        rows: sql_logins,
    },
    View {
        schema: "sys",
        name: "syslogins",
        columns: &[
            ("sid", Bytes(85), Yes),
            ("status", SmallInt, Yes),
            ("createdate", DateTime, No),
            ("updatedate", DateTime, No),
            ("accdate", DateTime, No),
            ("totcpu", Int, Yes),
            ("totio", Int, Yes),
            ("spacelimit", Int, Yes),
            ("timelimit", Int, Yes),
            ("resultlimit", Int, Yes),
            ("name", Name, No),
            ("dbname", Name, Yes),
            ("password", Name, Yes),
            ("language", Name, Yes),
            ("denylogin", Int, Yes),
            ("hasaccess", Int, Yes),
            ("isntname", Int, Yes),
            ("isntgroup", Int, Yes),
            ("isntuser", Int, Yes),
            ("sysadmin", Int, Yes),
            ("securityadmin", Int, Yes),
            ("serveradmin", Int, Yes),
            ("setupadmin", Int, Yes),
            ("processadmin", Int, Yes),
            ("diskadmin", Int, Yes),
            ("dbcreator", Int, Yes),
            ("bulkadmin", Int, Yes),
            ("loginname", Name, No),
        ],
        rows: old_logins,
    },
    View { schema: "sys", name: "server_role_members", columns: MEMBER, rows: server_role_members },
    View { schema: "sys", name: "server_permissions", columns: PERMISSION, rows: server_permissions },
    View {
        schema: "sys",
        name: "database_principals",
        columns: &[
            ("name", Name, No),
            ("principal_id", Int, No),
            ("type", Char(1), No),
            ("type_desc", Text(60), Yes),
            ("default_schema_name", Name, Yes),
            ("create_date", DateTime, No),
            ("modify_date", DateTime, No),
            ("owning_principal_id", Int, Yes),
            ("sid", Bytes(85), Yes),
            ("is_fixed_role", Bit, No),
            ("authentication_type", Int, No),
            ("authentication_type_desc", Text(60), Yes),
            ("default_language_name", Name, Yes),
            ("default_language_lcid", Int, Yes),
            ("allow_encrypted_value_modifications", Bit, No),
        ],
        rows: database_principals,
    },
    View {
        schema: "sys",
        name: "sysusers",
        columns: &[
            ("uid", SmallInt, Yes),
            ("status", SmallInt, Yes),
            ("name", Name, Yes),
            ("sid", Bytes(85), Yes),
            ("roles", Bytes(2048), Yes),
            ("createdate", DateTime, No),
            ("updatedate", DateTime, No),
            ("altuid", SmallInt, Yes),
            ("password", Bytes(256), Yes),
            ("gid", SmallInt, Yes),
            ("environ", Text(255), Yes),
            ("hasdbaccess", Int, Yes),
            ("islogin", Int, Yes),
            ("isntname", Int, Yes),
            ("isntgroup", Int, Yes),
            ("isntuser", Int, Yes),
            ("issqluser", Int, Yes),
            ("isaliased", Int, Yes),
            ("issqlrole", Int, Yes),
            ("isapprole", Int, Yes),
        ],
        rows: old_users,
    },
    View { schema: "sys", name: "database_role_members", columns: MEMBER, rows: database_role_members },
    View { schema: "sys", name: "database_permissions", columns: PERMISSION, rows: database_permissions },
    View { schema: "sys", name: "login_token", columns: TOKEN, rows: login_token },
    View { schema: "sys", name: "user_token", columns: TOKEN, rows: user_token },
];

/// `type` and `type_desc` of a principal.
fn kind(kind: PrincipalKind) -> (&'static str, &'static str) {
    match kind {
        PrincipalKind::Login => ("S", "SQL_LOGIN"),
        PrincipalKind::ServerRole => ("R", "SERVER_ROLE"),
        PrincipalKind::User => ("S", "SQL_USER"),
        PrincipalKind::Role => ("R", "DATABASE_ROLE"),
    }
}

/// Whether the session may know of a principal: those that are always there, itself and its roles, those that it may do
/// something with.
fn sees(token: &SecurityToken, principal: &Principal) -> bool {
    let (own, securable) = match principal.kind {
        PrincipalKind::Login => (token.server_ids(), Securable::Login(principal.id)),
        PrincipalKind::ServerRole => (token.server_ids(), Securable::ServerRole(principal.id)),
        PrincipalKind::User => (token.database_ids(), Securable::User(principal.id)),
        PrincipalKind::Role => (token.database_ids(), Securable::Role { id: principal.id, owner: principal.owner }),
    };
    principal.is_fixed() || own.contains(&principal.id) || token.sees(securable)
}

fn seen<'a>(source: &'a Source<'_>, principals: &'a Principals) -> impl Iterator<Item = &'a Arc<Principal>> {
    principals.iter().filter(|principal| sees(source.token, principal))
}

fn logins(source: &Source<'_>) -> Result<Arc<Principals>, SqlError> {
    source.server.logins()
}

/// When a principal was made; those that are always there, with the database or the server.
fn created_us(principal: &Principal, otherwise_us: u64) -> u64 {
    if principal.created_us == 0 { otherwise_us } else { principal.created_us }
}

fn modified_us(principal: &Principal, otherwise_us: u64) -> u64 {
    if principal.modified_us == 0 { otherwise_us } else { principal.modified_us }
}

fn login_row(view: &View, source: &Source<'_>, principal: &Principal) -> RowBuilder {
    let (code, description) = kind(principal.kind);
    let made_us = source.server.database(pikepole_engine::MASTER).map_or(0, |master| master.created_us());
    let row = view
        .row()
        .text("name", &principal.name)
        .integer("principal_id", principal.id)
        .text("type", code)
        .text("type_desc", description)
        .bit("is_disabled", principal.login.as_ref().is_some_and(|login| login.disabled))
        .moment("create_date", created_us(principal, made_us))
        .moment("modify_date", modified_us(principal, made_us))
        .value("sid", sid_of(principal));
    match &principal.login {
        Some(login) => {
            let row = row.text("default_database_name", &login.default_database);
            row.text("default_language_name", &login.default_language)
        }
        None => row,
    }
}

/// The security id of a principal: a login's own, the number of a role of the server, and for a role or a user without a login one of
/// the authority that stands for principals of databases.
fn sid_of(principal: &Principal) -> Value {
    /// That of `public`, the same everywhere.
    const PUBLIC: [u8; 16] = *b"\x83\x74\x1B\x00\x67\x49\xC0\x4B\xA9\x43\xC0\x27\x02\xF2\xA7\x62";
    let number = principal.id.to_le_bytes();
    let of_database = |class: u8, number: [u8; 16]| {
        let authority = [1, 5, 0, 0, 0, 0, 0, 9, class, 0, 0, 0];
        Value::Bin(authority.into_iter().chain(number).collect())
    };
    let mut long = [0; 16];
    long[12..].copy_from_slice(&number);
    match principal.kind {
        _ if !principal.sid.is_empty() => Value::Bin(principal.sid.clone()),
        PrincipalKind::Login | PrincipalKind::ServerRole if principal.id < 256 => Value::Bin(vec![number[0]]),
        PrincipalKind::Login | PrincipalKind::ServerRole => Value::Bin(number.to_vec()),
        PrincipalKind::User if principal.id == GUEST => Value::Bin(vec![0]),
        PrincipalKind::User if is_of_system(principal) => Value::Null,
        PrincipalKind::User => of_database(3, long),
        PrincipalKind::Role if principal.id == 0 => of_database(4, PUBLIC),
        PrincipalKind::Role => of_database(4, long),
    }
}

/// Whether it is one of the users that only own what is the system's: `sys` and `INFORMATION_SCHEMA`.
fn is_of_system(principal: &Principal) -> bool {
    principal.kind == PrincipalKind::User && principal.is_fixed() && ![DBO, GUEST].contains(&principal.id)
}

fn server_principals(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let logins = logins(source)?;
    let row = |principal: &Arc<Principal>| {
        let role = principal.kind.is_role();
        let row =
            login_row(view, source, principal).bit("is_fixed_role", role && principal.is_fixed() && principal.id > 2);
        if role { row.integer("owning_principal_id", principal.owner).done() } else { row.done() }
    };
    Ok(seen(source, &logins).map(row).collect())
}

/// The hash of a password is nobody's to see.
fn sql_logins(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let logins = logins(source)?;
    let mut rows = Vec::new();
    for principal in seen(source, &logins) {
        if let Some(login) = &principal.login {
            let row = login_row(view, source, principal).bit("is_policy_checked", login.check_policy);
            rows.push(row.bit("is_expiration_checked", login.check_expiration).done());
        }
    }
    Ok(rows)
}

/// Logins as they were before there were principals: a column for each role of the server.
fn old_logins(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    const ROLES: [&str; 8] = [
        "sysadmin",
        "securityadmin",
        "serveradmin",
        "setupadmin",
        "processadmin",
        "diskadmin",
        "dbcreator",
        "bulkadmin",
    ];
    let logins = logins(source)?;
    let made_us = source.server.database(pikepole_engine::MASTER).map_or(0, |master| master.created_us());
    let mut rows = Vec::new();
    for principal in seen(source, &logins) {
        let Some(login) = &principal.login else { continue };
        let created = created_us(principal, made_us);
        let row = view
            .row()
            .value("sid", sid_of(principal))
            .moment("createdate", created)
            .moment("updatedate", modified_us(principal, made_us))
            .moment("accdate", created)
            .text("name", &principal.name)
            .text("loginname", &principal.name)
            .text("dbname", &login.default_database)
            .text("language", &login.default_language)
            .integer("denylogin", 0)
            .integer("hasaccess", 1);
        let row = ["isntname", "isntgroup", "isntuser"].iter().fold(row, |row, column| row.integer(column, 0));
        let has = |role: &str| {
            let known = logins.find(role).is_some_and(|role| principal.roles.contains(&role.id));
            known || role == "sysadmin" && principal.id == pikepole_engine::SA
        };
        rows.push(ROLES.iter().fold(row, |row, role| row.integer(role, i32::from(has(role)))).done());
    }
    Ok(rows)
}

fn members(view: &View, source: &Source<'_>, principals: &Principals) -> Rows {
    let mut rows = Vec::new();
    for member in seen(source, principals) {
        for role in &member.roles {
            let row = view.row().integer("role_principal_id", *role);
            rows.push(row.integer("member_principal_id", member.id).done());
        }
    }
    rows
}

fn server_role_members(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    Ok(members(view, source, &*logins(source)?))
}

fn database_role_members(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let mut rows = members(view, source, source.catalog.users());
    let row = view.row().integer("role_principal_id", pikepole_engine::DB_OWNER);
    rows.push(row.integer("member_principal_id", DBO).done());
    Ok(rows)
}

fn permission_row(view: &View, source: &Source<'_>, grantee: i32, grant: &Grant) -> Vec<Value> {
    let column = match grant.column {
        0 => 0,
        place => column_number(source.catalog, grant.major, place as usize - 1),
    };
    let (class, class_description) = grant.class.shown();
    let (state, state_description) = grant.state.shown();
    view.row()
        .integer("class", class)
        .text("class_desc", class_description)
        .integer("major_id", grant.major)
        .integer("minor_id", column)
        .integer("grantee_principal_id", grantee)
        .integer("grantor_principal_id", grant.grantor)
        .text("type", grant.permission.code())
        .text("permission_name", grant.permission.name())
        .text("state", state)
        .text("state_desc", state_description)
        .done()
}

/// The permissions of the principals that the session is, or of all for who may see definitions.
fn permissions(view: &View, source: &Source<'_>, principals: &Principals, own: &[i32], sees_all: bool) -> Rows {
    let mut rows = Vec::new();
    for principal in principals.iter().filter(|principal| sees_all || own.contains(&principal.id)) {
        rows.extend(principal.grants.iter().map(|grant| permission_row(view, source, principal.id, grant)));
    }
    rows
}

fn server_permissions(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let sees_all = source.token.has(Permission::ViewAnyDefinition, Securable::Server);
    Ok(permissions(view, source, &*logins(source)?, source.token.server_ids(), sees_all))
}

fn database_permissions(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let sees_all = source.token.has(Permission::ViewDefinition, Securable::Database);
    Ok(permissions(view, source, source.catalog.users(), source.token.database_ids(), sees_all))
}

fn database_principals(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let made_us = source.database.created_us();
    let row = |principal: &Arc<Principal>| {
        let (code, description) = kind(principal.kind);
        let role = principal.kind.is_role();
        let with_login = principal.kind == PrincipalKind::User && !principal.sid.is_empty();
        let row = view
            .row()
            .text("name", &principal.name)
            .integer("principal_id", principal.id)
            .text("type", code)
            .text("type_desc", description)
            .text_if("default_schema_name", principal.default_schema.as_ref().filter(|_| !is_of_system(principal)))
            .moment("create_date", created_us(principal, made_us))
            .moment("modify_date", modified_us(principal, made_us))
            .value("sid", sid_of(principal))
            .bit("is_fixed_role", role && principal.is_fixed() && principal.id > 0)
            .integer("authentication_type", i64::from(with_login))
            .text("authentication_type_desc", if with_login { "INSTANCE" } else { "NONE" });
        if role { row.integer("owning_principal_id", principal.owner).done() } else { row.done() }
    };
    Ok(seen(source, source.catalog.users()).map(row).collect())
}

/// `sysusers`: users and roles, as scripts of old know them.
fn old_users(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let made_us = source.database.created_us();
    let row = |principal: &Arc<Principal>| {
        let is_role = principal.kind.is_role();
        let has_login = !is_role && !principal.sid.is_empty();
        let row = view
            .row()
            .integer("uid", principal.id)
            .integer("status", 0)
            .text("name", &principal.name)
            .value("sid", sid_of(principal))
            .moment("createdate", created_us(principal, made_us))
            .moment("updatedate", modified_us(principal, made_us))
            .integer("gid", if is_role { principal.id } else { 0 })
            .integer("hasdbaccess", i64::from(has_login))
            .integer("islogin", i64::from(!is_role))
            .integer("issqluser", i64::from(!is_role))
            .integer("issqlrole", i64::from(is_role));
        let none = ["isntname", "isntgroup", "isntuser", "isaliased", "isapprole"];
        let row = none.into_iter().fold(row, |row, column| row.integer(column, 0));
        if is_role { row.integer("altuid", principal.owner).done() } else { row.done() }
    };
    Ok(seen(source, source.catalog.users()).map(row).collect())
}

fn token_rows(view: &View, principals: &Principals, ids: &[i32]) -> Rows {
    let row = |principal: &Arc<Principal>| {
        let word = match principal.kind {
            PrincipalKind::Login => "SQL LOGIN",
            PrincipalKind::ServerRole => "SERVER ROLE",
            PrincipalKind::User => "SQL USER",
            PrincipalKind::Role => "ROLE",
        };
        view.row()
            .integer("principal_id", principal.id)
            .value("sid", sid_of(principal))
            .text("name", &principal.name)
            .text("type", word)
            .text("usage", "GRANT OR DENY")
            .done()
    };
    ids.iter().filter_map(|id| principals.get(*id)).map(row).collect()
}

fn login_token(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    Ok(token_rows(view, &*logins(source)?, source.token.server_ids()))
}

fn user_token(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    Ok(token_rows(view, source.catalog.users(), source.token.database_ids()))
}
