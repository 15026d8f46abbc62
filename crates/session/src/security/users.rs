//! CREATE, ALTER and DROP of users and roles.

use super::change::{Change, apply};
use super::members::{MemberOf, change_membership};
use super::{check_name, is_master, option_name, principals, require, securable_of};
use crate::host::SessionHost;
use crate::unsupported;
use pikepole_engine::{Class, DBO, GUEST, Grant, GrantState, Permission, Principal, PrincipalKind, Securable};
use pikepole_query::ExecutionContext;
use pikepole_types::SqlError;
use std::sync::Arc;

/// CREATE USER.
pub(super) async fn create_user(
    host: &SessionHost,
    written: &pikepole_tsql::Principal,
    context: &mut ExecutionContext,
) -> Result<(), SqlError> {
    require(context, Permission::AlterAnyUser, Securable::Database)?;
    let name = written.name.text.as_str();
    check_name(name)?;
    let mut login = Some(name.to_owned());
    for (clause, named) in &written.clauses {
        match (clause.as_str(), named) {
            ("FOR LOGIN" | "FROM LOGIN", Some(named)) => login = Some(named.text.clone()),
            ("WITHOUT LOGIN", _) => login = None,
            (other, _) => return Err(unsupported(format!("CREATE USER ... {other}"))),
        }
    }
    let mut schema = None;
    for option in &written.options {
        match option.name.as_str() {
            "DEFAULT_SCHEMA" => schema = Some(option_name(option)?),
            other => return Err(unsupported(format!("The user option {other}"))),
        }
    }
    let users = principals(host, context, PrincipalKind::User)?;
    if users.find(name).is_some() {
        return Err(SqlError::user_exists(name));
    }
    let sid = match &login {
        None => Vec::new(),
        Some(login) => login_sid(host, context, login)?,
    };
    if users.find_sid(&sid).is_some() {
        return Err(SqlError::login_has_a_user());
    }
    let grantor = context.token().user().id;
    let create = Change::create(name, PrincipalKind::User, move |user: &mut Principal, _: &_| {
        user.sid = sid;
        user.default_schema = Some(schema.unwrap_or_else(|| "dbo".to_owned()));
        let state = GrantState::Grant;
        user.grants.push(Grant {
            class: Class::Database,
            major: 0,
            column: 0,
            permission: Permission::Connect,
            state,
            grantor,
        });
        Ok(())
    });
    apply(host, context, vec![create]).await
}

fn login_sid(host: &SessionHost, context: &ExecutionContext, name: &str) -> Result<Vec<u8>, SqlError> {
    let logins = principals(host, context, PrincipalKind::Login)?;
    let login = logins.find(name).filter(|login| login.kind == PrincipalKind::Login);
    login.map(|login| login.sid.clone()).ok_or_else(|| SqlError::not_a_login(name))
}

/// ALTER USER: another name, another login.
pub(super) async fn alter_user(
    host: &SessionHost,
    written: &pikepole_tsql::Principal,
    context: &mut ExecutionContext,
) -> Result<(), SqlError> {
    let name = written.name.text.as_str();
    let users = principals(host, context, PrincipalKind::User)?;
    let missing = || SqlError::item_missing("alter", "user", name);
    let user = users.find(name).filter(|user| user.kind == PrincipalKind::User).ok_or_else(missing)?;
    if !context.token().has(Permission::Alter, Securable::User(user.id)) {
        return Err(missing());
    }
    // Of the users that every database has, guest alone can have another schema.
    let is_open = user.id == GUEST && written.options.iter().all(|option| option.name == "DEFAULT_SCHEMA");
    if user.is_fixed() && !is_open {
        return Err(SqlError::principal_cannot("alter", "user", name));
    }
    if let Some((clause, _)) = written.clauses.first() {
        return Err(unsupported(format!("ALTER USER ... {clause}")));
    }
    let (mut renamed, mut sid, mut schema) = (None, None, None);
    for option in &written.options {
        match option.name.as_str() {
            "DEFAULT_SCHEMA" => schema = Some(option_name(option)?),
            "NAME" => renamed = Some(option_name(option)?),
            "LOGIN" => sid = Some(login_sid(host, context, &option_name(option)?)?),
            other => return Err(unsupported(format!("The user option {other}"))),
        }
    }
    if let Some(new) = &renamed {
        check_name(new)?;
        if users.find(new).is_some_and(|other| other.id != user.id) {
            return Err(SqlError::user_exists(new));
        }
    }
    if let Some(sid) = &sid
        && users.find_sid(sid).is_some_and(|other| other.id != user.id)
    {
        return Err(SqlError::login_has_a_user());
    }
    let alter = Change::alter(user, move |user| {
        user.name = renamed.unwrap_or_else(|| user.name.clone());
        user.sid = sid.unwrap_or_else(|| user.sid.clone());
        // It need not be there yet.
        user.default_schema = schema.or_else(|| user.default_schema.take());
        Ok(())
    });
    apply(host, context, vec![alter]).await
}

/// CREATE ROLE and CREATE SERVER ROLE.
pub(super) async fn create_role(
    host: &SessionHost,
    written: &pikepole_tsql::Principal,
    kind: PrincipalKind,
    context: &mut ExecutionContext,
) -> Result<(), SqlError> {
    let of_server = kind == PrincipalKind::ServerRole;
    if of_server {
        require(context, Permission::CreateServerRole, Securable::Server)?;
    } else {
        require(context, Permission::CreateRole, Securable::Database)?;
    }
    let name = written.name.text.as_str();
    check_name(name)?;
    let mut owner = if of_server { context.token().login().id } else { context.token().user().id };
    for (clause, named) in &written.clauses {
        match (clause.as_str(), named) {
            ("AUTHORIZATION", Some(named)) if !of_server => {
                let users = principals(host, context, kind)?;
                let found = users.find(&named.text);
                let found = found.ok_or_else(|| SqlError::user_missing(&named.text))?;
                let token = context.token();
                if !token.database_ids().contains(&found.id) && !token.has(Permission::Control, Securable::Database) {
                    return Err(SqlError::user_missing(&named.text));
                }
                owner = found.id;
            }
            (other, _) => return Err(unsupported(format!("CREATE {} ... {other}", written.kind))),
        }
    }
    if let Some(option) = written.options.first() {
        return Err(unsupported(format!("The role option {}", option.name)));
    }
    let create = Change::create(name, kind, move |role: &mut Principal, _: &_| {
        role.owner = owner;
        Ok(())
    });
    apply(host, context, vec![create]).await
}

/// ALTER ROLE and ALTER SERVER ROLE: its members, its name.
pub(super) async fn alter_role(
    host: &SessionHost,
    written: &pikepole_tsql::Principal,
    kind: PrincipalKind,
    context: &mut ExecutionContext,
) -> Result<(), SqlError> {
    let name = written.name.text.as_str();
    for (clause, member) in &written.clauses {
        let adds = match clause.as_str() {
            "ADD MEMBER" => true,
            "DROP MEMBER" => false,
            other => return Err(unsupported(format!("ALTER {} ... {other}", written.kind))),
        };
        let member = member.as_ref().map_or("", |member| member.text.as_str());
        change_membership(host, context, &MemberOf { kind, role: name, member, adds }).await?;
    }
    for option in &written.options {
        if option.name != "NAME" {
            return Err(unsupported(format!("The role option {}", option.name)));
        }
        rename_role(host, name, kind, option_name(option)?, context).await?;
    }
    Ok(())
}

async fn rename_role(
    host: &SessionHost,
    name: &str,
    kind: PrincipalKind,
    new: String,
    context: &mut ExecutionContext,
) -> Result<(), SqlError> {
    check_name(&new)?;
    let roles = principals(host, context, kind)?;
    let missing = || SqlError::item_missing("alter", kind.name(), name);
    let role = roles.find(name).filter(|role| role.kind == kind).ok_or_else(missing)?;
    if !context.token().has(Permission::Alter, securable_of(role)) {
        return Err(missing());
    }
    if role.is_fixed() {
        return Err(SqlError::principal_cannot("alter", kind.name(), name));
    }
    if roles.find(&new).is_some_and(|other| other.id != role.id) {
        let of_server = kind == PrincipalKind::ServerRole;
        return Err(if of_server { SqlError::login_exists(&new) } else { SqlError::user_exists(&new) });
    }
    let alter = Change::alter(role, move |role| {
        role.name = new;
        Ok(())
    });
    apply(host, context, vec![alter]).await
}

/// DROP USER, DROP ROLE, DROP SERVER ROLE.
pub(super) async fn drop(
    host: &SessionHost,
    principal: &Arc<Principal>,
    context: &mut ExecutionContext,
) -> Result<(), SqlError> {
    let (name, kind) = (principal.name.as_str(), principal.kind);
    let all = principals(host, context, kind)?;
    if !context.token().has(Permission::Alter, securable_of(principal)) {
        return Err(SqlError::item_missing("drop", kind.name(), name));
    }
    if principal.is_fixed() {
        return Err(SqlError::principal_cannot("drop", kind.name(), name));
    }
    if kind.is_role() && all.iter().any(|member| member.roles.contains(&principal.id)) {
        return Err(SqlError::role_has_members());
    }
    if kind != PrincipalKind::ServerRole || is_master(context) {
        let view = context.catalog();
        if kind != PrincipalKind::ServerRole && view.definitions().schemas().any(|schema| schema.owner == principal.id)
        {
            return Err(SqlError::principal_owns("schema"));
        }
        let acts = |module: &pikepole_engine::Module| module.execute_as == Some(principal.id);
        if kind != PrincipalKind::ServerRole && view.definitions().modules().any(acts) {
            return Err(SqlError::principal_is_context());
        }
    }
    let owns = all.iter().any(|role| role.kind == PrincipalKind::Role && role.owner == principal.id);
    if kind != PrincipalKind::ServerRole && owns && principal.id != DBO {
        return Err(SqlError::principal_owns("role"));
    }
    apply(host, context, vec![Change::Drop(principal.id, kind)]).await
}
