//! Logins, users, roles and permissions: their statements, functions and system procedures, and what a session may see.
//!
//! The statements change principals by calls of the engine ([`change::apply`]); those of the server's level are of master, in
//! the session's own transaction when that is the current database and in one of their own otherwise.

mod change;
mod execute_as;
pub(crate) mod functions;
mod logins;
mod members;
mod permissions;
mod users;
mod visible;

pub(crate) use execute_as::{execute_as, revert};
pub(crate) use members::{MemberOf, change_membership};
pub(crate) use permissions::change_permissions;
pub(crate) use visible::{Seen, catalog, catalog_of, seen, shows_text};

use crate::host::SessionHost;
use crate::unsupported;
use pikepole_engine::{Permission, Principal, PrincipalKind, Principals, Securable};
use pikepole_query::ExecutionContext;
use pikepole_tsql::{Drop, DropKind, Literal, SettingOption, SettingValue};
use pikepole_types::SqlError;
use std::sync::Arc;

/// CREATE and ALTER of a principal.
pub(crate) async fn define_principal(
    host: &SessionHost,
    written: &pikepole_tsql::Principal,
    context: &mut ExecutionContext,
) -> Result<(), SqlError> {
    context.refresh_security().map_err(|fault| *fault)?;
    match (written.kind.as_str(), written.alter) {
        ("LOGIN", false) => logins::create(host, written, context).await,
        ("LOGIN", true) => logins::alter(host, written, context).await,
        ("USER", false) => users::create_user(host, written, context).await,
        ("USER", true) => users::alter_user(host, written, context).await,
        ("ROLE", false) => users::create_role(host, written, PrincipalKind::Role, context).await,
        ("SERVER ROLE", false) => users::create_role(host, written, PrincipalKind::ServerRole, context).await,
        ("ROLE", true) => users::alter_role(host, written, PrincipalKind::Role, context).await,
        ("SERVER ROLE", true) => users::alter_role(host, written, PrincipalKind::ServerRole, context).await,
        (kind, alter) => Err(unsupported(format!("{} {kind}", if alter { "ALTER" } else { "CREATE" }))),
    }
}

/// DROP of principals.
pub(crate) async fn drop_principals(
    host: &SessionHost,
    drop: &Drop,
    context: &mut ExecutionContext,
) -> Result<(), SqlError> {
    context.refresh_security().map_err(|fault| *fault)?;
    for name in &drop.names {
        let name = name.name.text.as_str();
        let kind = match drop.kind {
            DropKind::Login => PrincipalKind::Login,
            DropKind::User => PrincipalKind::User,
            DropKind::Role => PrincipalKind::Role,
            DropKind::ServerRole => PrincipalKind::ServerRole,
            _ => return Err(unsupported("DROP APPLICATION ROLE")),
        };
        let principals = principals(host, context, kind)?;
        let found = principals.find(name).filter(|principal| principal.kind == kind);
        if found.is_none() && drop.if_exists {
            continue;
        }
        match (kind, found) {
            (_, None) => return Err(SqlError::item_missing("drop", kind.name(), name)),
            (PrincipalKind::Login, Some(login)) => logins::drop(host, login, context).await?,
            (_, Some(principal)) => users::drop(host, principal, context).await?,
        }
    }
    Ok(())
}

/// The principals of a kind's level as the session sees them, its own uncommitted ones included.
pub(crate) fn principals(
    host: &SessionHost,
    context: &ExecutionContext,
    kind: PrincipalKind,
) -> Result<Arc<Principals>, SqlError> {
    let current = context.catalog();
    match kind {
        PrincipalKind::User | PrincipalKind::Role => Ok(Arc::clone(current.definitions().users())),
        _ if is_master(context) => Ok(Arc::clone(current.definitions().logins())),
        _ => host.server.logins(),
    }
}

pub(crate) fn is_master(context: &ExecutionContext) -> bool {
    context.database().name() == pikepole_engine::MASTER
}

/// What permissions on a principal are asked for with.
pub(crate) fn securable_of(principal: &Principal) -> Securable {
    match principal.kind {
        PrincipalKind::Login => Securable::Login(principal.id),
        PrincipalKind::ServerRole => Securable::ServerRole(principal.id),
        PrincipalKind::User => Securable::User(principal.id),
        PrincipalKind::Role => Securable::Role { id: principal.id, owner: principal.owner },
    }
}

/// 15247 for a session that lacks a permission.
fn require(context: &ExecutionContext, permission: Permission, securable: Securable) -> Result<(), SqlError> {
    if context.token().has(permission, securable) { Ok(()) } else { Err(SqlError::no_permission()) }
}

/// The name that an option gives.
fn option_name(option: &SettingOption) -> Result<String, SqlError> {
    match &option.value {
        Some(SettingValue::Name(name)) => Ok(name.dotted()),
        Some(SettingValue::Word(word)) => Ok(word.clone()),
        _ => option_text(option),
    }
}

/// The text that an option gives.
fn option_text(option: &SettingOption) -> Result<String, SqlError> {
    let literal = match &option.value {
        Some(SettingValue::Expr(expr)) => expr.literal(),
        _ => None,
    };
    match literal {
        Some(Literal::String { value, .. }) => Ok(value.clone()),
        _ => Err(SqlError::incorrect_syntax(&option.name)),
    }
}

/// A name that a principal may have.
fn check_name(name: &str) -> Result<(), SqlError> {
    if name.is_empty() || name.contains('\\') {
        return Err(SqlError::principal_name_invalid(name));
    }
    Ok(())
}
