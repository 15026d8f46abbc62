//! Functions that tell who a session is and what it may do.

use super::securable_of;
use crate::host::SessionHost;
use crate::names;
use pikepole_engine::{
    Class, Object, PUBLIC_ROLE, PUBLIC_SERVER_ROLE, Permission, Principal, PrincipalKind, Principals, SYSADMIN,
    Securable, is_member,
};
use pikepole_query::ExecutionContext;
use pikepole_types::{SqlError, Value};
use std::sync::Arc;

type Answer = Result<Option<Value>, SqlError>;

fn text(arguments: &[Value], place: usize) -> Option<&str> {
    Some(arguments.get(place)?.as_str()?.trim_end_matches(' '))
}

fn number(arguments: &[Value], place: usize) -> Option<i32> {
    arguments.get(place)?.as_i64()?.try_into().ok()
}

fn name_of(principal: Option<&Arc<Principal>>) -> Answer {
    Ok(principal.map(|principal| Value::Str(principal.name.clone())))
}

fn logins(host: &SessionHost, context: &ExecutionContext) -> Result<Arc<Principals>, SqlError> {
    super::principals(host, context, PrincipalKind::Login)
}

fn users(context: &ExecutionContext) -> Arc<Principals> {
    Arc::clone(context.catalog().definitions().users())
}

/// ORIGINAL_LOGIN(): who has logged in, whoever the session acts for.
pub(crate) fn original_login(context: &ExecutionContext) -> Answer {
    Ok(Some(Value::Str(context.security().login().name.clone())))
}

/// SUSER_NAME([id])
pub(crate) fn login_name(host: &SessionHost, context: &ExecutionContext, arguments: &[Value]) -> Answer {
    if arguments.is_empty() {
        return Ok(Some(Value::Str(context.token().login().name.clone())));
    }
    let Some(id) = number(arguments, 0) else { return Ok(None) };
    name_of(logins(host, context)?.get(id))
}

/// SUSER_SNAME([sid])
pub(crate) fn login_name_of_sid(host: &SessionHost, context: &ExecutionContext, arguments: &[Value]) -> Answer {
    match arguments.first() {
        None => Ok(Some(Value::Str(context.token().login().name.clone()))),
        Some(Value::Bin(sid)) => name_of(logins(host, context)?.find_sid(sid)),
        Some(_) => Ok(None),
    }
}

/// SUSER_ID([name])
pub(crate) fn login_id(host: &SessionHost, context: &ExecutionContext, arguments: &[Value]) -> Answer {
    if arguments.is_empty() {
        return Ok(Some(Value::Int(context.token().login().id)));
    }
    let Some(name) = text(arguments, 0) else { return Ok(None) };
    Ok(logins(host, context)?.find(name).map(|login| Value::Int(login.id)))
}

/// SUSER_SID([name])
pub(crate) fn login_sid(host: &SessionHost, context: &ExecutionContext, arguments: &[Value]) -> Answer {
    if arguments.is_empty() {
        return Ok(Some(Value::Bin(context.token().login().sid.clone())));
    }
    let Some(name) = text(arguments, 0) else { return Ok(None) };
    Ok(logins(host, context)?.find(name).map(|login| Value::Bin(login.sid.clone())))
}

/// USER_NAME([id])
pub(crate) fn user_name(context: &ExecutionContext, arguments: &[Value]) -> Answer {
    if arguments.is_empty() {
        return Ok(Some(Value::Str(context.token().user().name.clone())));
    }
    let Some(id) = number(arguments, 0) else { return Ok(None) };
    name_of(users(context).get(id))
}

/// USER_ID([name]), DATABASE_PRINCIPAL_ID([name])
pub(crate) fn user_id(context: &ExecutionContext, arguments: &[Value]) -> Answer {
    if arguments.is_empty() {
        return Ok(Some(Value::Int(context.token().user().id)));
    }
    let Some(name) = text(arguments, 0) else { return Ok(None) };
    Ok(users(context).find(name).map(|user| Value::Int(user.id)))
}

/// IS_SRVROLEMEMBER(role [, login])
pub(crate) fn is_server_role_member(host: &SessionHost, context: &ExecutionContext, arguments: &[Value]) -> Answer {
    let Some(role) = text(arguments, 0) else { return Ok(None) };
    let all = logins(host, context)?;
    let Some(role) = all.find(role).filter(|role| role.kind == PrincipalKind::ServerRole) else { return Ok(None) };
    let member = match arguments.get(1) {
        None => context.token().is_in_server_role(role.id),
        Some(_) => {
            let Some(login) = text(arguments, 1).and_then(|name| all.find(name)) else { return Ok(None) };
            role.id == PUBLIC_SERVER_ROLE || is_member(&all, login.id, role.id) || is_member(&all, login.id, SYSADMIN)
        }
    };
    Ok(Some(Value::Int(member.into())))
}

/// IS_MEMBER(role), IS_ROLEMEMBER(role [, principal])
pub(crate) fn is_role_member(context: &ExecutionContext, arguments: &[Value]) -> Answer {
    let Some(role) = text(arguments, 0) else { return Ok(None) };
    let all = users(context);
    let Some(role) = all.find(role).filter(|role| role.kind.is_role()) else { return Ok(None) };
    let member = match arguments.get(1) {
        None => context.token().is_in_role(role.id),
        Some(_) => {
            let Some(user) = text(arguments, 1).and_then(|name| all.find(name)) else { return Ok(None) };
            role.id == PUBLIC_ROLE || is_member(&all, user.id, role.id)
        }
    };
    Ok(Some(Value::Int(member.into())))
}

/// HAS_DBACCESS(database)
pub(crate) fn has_access(host: &SessionHost, context: &ExecutionContext, arguments: &[Value]) -> Answer {
    let Some(name) = text(arguments, 0) else { return Ok(None) };
    let Ok(database) = host.server.database(name) else { return Ok(None) };
    Ok(Some(Value::Int(context.token_in(&database).is_some().into())))
}

/// HAS_PERMS_BY_NAME(securable, class, permission [, column, 'COLUMN']): 1, 0, or NULL for what is not known.
pub(crate) fn has_permission(host: &SessionHost, context: &ExecutionContext, arguments: &[Value]) -> Answer {
    let class = text(arguments, 1).map(str::to_ascii_uppercase);
    let Some(permission) = text(arguments, 2).map(str::to_ascii_uppercase) else { return Ok(None) };
    let name = text(arguments, 0);
    if class.as_deref() == Some("OBJECT")
        && let Some(is_seen) = name.and_then(|name| sees_system_view(context, name))
    {
        // Who may read the system's views may not do anything else with them.
        let reads = matches!(permission.as_str(), "ANY" | "SELECT" | "VIEW DEFINITION");
        return Ok(Some(Value::Int((reads && is_seen).into())));
    }
    let token = context.token();
    let found = match (class.as_deref(), name) {
        (None | Some("SERVER"), _) => Some((Arc::clone(token), Securable::Server)),
        (Some("DATABASE"), Some(name)) => host
            .server
            .database(name)
            .ok()
            .and_then(|database| Some((Arc::new(context.token_in(&database)?), Securable::Database))),
        (Some("DATABASE"), None) => Some((Arc::clone(token), Securable::Database)),
        (Some(class), Some(name)) => named(host, context, class, name)?.map(|securable| (Arc::clone(token), securable)),
        (Some(_), None) => None,
    };
    let Some((token, securable)) = found else { return Ok(None) };
    let (class, id) = securable.key();
    if arguments.len() > 3 {
        let is_column = text(arguments, 4).is_some_and(|class| class.eq_ignore_ascii_case("COLUMN"));
        let name = text(arguments, 3).filter(|_| is_column && class == Class::Object);
        let names = column_names(host, context, id);
        let place = name.and_then(|name| names.iter().position(|known| known.to_lowercase() == name.to_lowercase()));
        let Some(column) = place.and_then(|place| i32::try_from(place + 1).ok()) else { return Ok(None) };
        let has = |permission: Permission| token.has_on_column(permission, securable, column);
        if permission == "ANY" {
            let mut of_columns = Permission::ALL.iter().copied().filter(|permission| permission.is_of_columns());
            return Ok(Some(Value::Int(of_columns.any(has).into())));
        }
        let permission = Permission::find(&permission, class).filter(|permission| permission.is_of_columns());
        return Ok(permission.map(|permission| Value::Int(has(permission).into())));
    }
    if permission == "ANY" {
        return Ok(Some(Value::Int(token.sees(securable).into())));
    }
    let Some(permission) = Permission::find(&permission, class) else { return Ok(None) };
    Ok(Some(Value::Int(token.has(permission, securable).into())))
}

/// Whether the session may read a view of the system; None: the name is of none.
fn sees_system_view(context: &ExecutionContext, name: &str) -> Option<bool> {
    let parts = names::parts(name)?;
    let (_, view) = crate::views::find(parts.schema.as_deref(), &parts.name)?;
    Some(super::visible::seen(view, false, context).is_ok())
}

/// The columns of a table or view of the current database; none of anything else.
pub(crate) fn column_names(host: &SessionHost, context: &ExecutionContext, object_id: i32) -> Vec<String> {
    let view = context.catalog();
    match view.definitions().object_by_id(object_id) {
        Some(Object::Table(table)) => table.columns.iter().map(|column| column.name.clone()).collect(),
        Some(Object::View(found)) => {
            let columns = host.columns_of_view(&found.schema, &found.name, context).unwrap_or_default();
            columns.into_iter().map(|column| column.name).collect()
        }
        _ => Vec::new(),
    }
}

fn named(
    host: &SessionHost,
    context: &ExecutionContext,
    class: &str,
    name: &str,
) -> Result<Option<Securable>, SqlError> {
    let Some(parts) = names::parts(name) else { return Ok(None) };
    let view = context.catalog();
    let catalog = view.definitions();
    let kind = match class {
        "OBJECT" => {
            let object = catalog.object(parts.schema.as_deref().unwrap_or("dbo"), &parts.name);
            return Ok(object.map(|object| catalog.securable(object)));
        }
        "TYPE" => {
            let found = catalog.user_type(parts.schema.as_deref().unwrap_or("dbo"), &parts.name);
            return Ok(found.map(|found| catalog.securable_type(found)));
        }
        "SCHEMA" => {
            let schema = catalog.schema(&parts.name);
            return Ok(schema.map(|schema| Securable::Schema { id: schema.schema_id, owner: schema.owner }));
        }
        "LOGIN" => PrincipalKind::Login,
        "SERVER ROLE" => PrincipalKind::ServerRole,
        "USER" => PrincipalKind::User,
        "ROLE" => PrincipalKind::Role,
        _ => return Ok(None),
    };
    let all = super::principals(host, context, kind)?;
    let found = all.find(&parts.name).filter(|found| found.kind == kind);
    Ok(found.map(|found| securable_of(found)))
}
