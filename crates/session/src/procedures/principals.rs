//! Users and roles as older scripts ask for them: `sp_addrole`, `sp_droprole`, `sp_helprole`, `sp_helprolemember`, `sp_helpuser`.

use super::Arguments;
use crate::host::SessionHost;
use crate::options::syntax_error;
use crate::result_set::{NAME, ResultSet, string};
use crate::security::{self, define_principal, drop_principals};
use pikepole_engine::{DB_OWNER, DBO, Principal, PrincipalKind, Principals};
use pikepole_query::{ExecutionContext, Output};
use pikepole_tsql::StatementKind;
use pikepole_types::{Length, SqlError, SqlType, Value};

const SID: SqlType = SqlType::VarBinary(Length::Limit(85));

/// `sp_addrole` and `sp_droprole`, which are CREATE ROLE and DROP ROLE.
pub(super) async fn change_role(
    procedure: &str,
    arguments: &Arguments<'_>,
    host: &SessionHost,
    context: &mut ExecutionContext,
) -> Result<(), SqlError> {
    let quoted = |name: String| format!("[{}]", name.replace(']', "]]"));
    let role = quoted(arguments.text(0).unwrap_or_default());
    let text = match (procedure, arguments.text(1)) {
        ("sp_droprole", _) => format!("DROP ROLE {role}"),
        (_, Some(owner)) => format!("CREATE ROLE {role} AUTHORIZATION {}", quoted(owner)),
        (_, None) => format!("CREATE ROLE {role}"),
    };
    let parsed = pikepole_tsql::parse(&text).map_err(|error| syntax_error(&error))?;
    for statement in &parsed.statements {
        match &statement.kind {
            StatementKind::Principal(written) => define_principal(host, written, context).await?,
            StatementKind::Drop(drop) => drop_principals(host, drop, context).await?,
            _ => {}
        }
    }
    Ok(())
}

/// `sp_helpuser`, `sp_helprole` and `sp_helprolemember`.
pub(super) fn help(
    procedure: &str,
    arguments: &Arguments<'_>,
    host: &SessionHost,
    context: &ExecutionContext,
    output: &mut dyn Output,
) -> Result<(), SqlError> {
    match procedure {
        "sp_helprole" => help_role(arguments, context, output),
        "sp_helprolemember" => help_role_member(arguments, context, output),
        _ => help_user(arguments, host, context, output),
    }
}

/// The roles of the database, or the one that is named.
///
/// # Errors
/// 15409 for a name that is no role's.
fn roles<'p>(users: &'p Principals, name: Option<&str>) -> Result<Vec<&'p Principal>, SqlError> {
    let is_role = |principal: &&Principal| principal.kind == PrincipalKind::Role;
    let mut found: Vec<&Principal> = match name {
        None => users.iter().map(|principal| &**principal).filter(is_role).collect(),
        Some(name) => vec![
            users.find(name).map(|principal| &**principal).filter(is_role).ok_or_else(|| SqlError::not_a_role(name))?,
        ],
    };
    found.sort_by_key(|role| role.name.to_lowercase());
    Ok(found)
}

/// `sp_helprole`: every role of the database, or one.
fn help_role(arguments: &Arguments<'_>, context: &ExecutionContext, output: &mut dyn Output) -> Result<(), SqlError> {
    let catalog = security::catalog(context);
    let mut set = ResultSet::new(&[("RoleName", NAME), ("RoleId", SqlType::SmallInt), ("IsAppRole", SqlType::Int)]);
    for role in roles(catalog.users(), arguments.text(0).as_deref())? {
        set.push(vec![string(&role.name), Value::SmallInt(role.id as i16), Value::Int(0)]);
    }
    set.send(output);
    Ok(())
}

/// Tells if a principal is in a role. dbo owns each database, without a word of it in its definitions.
fn is_in(principal: &Principal, role: i32) -> bool {
    principal.roles.contains(&role) || (role, principal.id) == (DB_OWNER, DBO)
}

/// `sp_helprolemember`: who is in each role of the database, or in one.
fn help_role_member(
    arguments: &Arguments<'_>,
    context: &ExecutionContext,
    output: &mut dyn Output,
) -> Result<(), SqlError> {
    let catalog = security::catalog(context);
    let users = catalog.users();
    let mut set = ResultSet::new(&[("DbRole", NAME), ("MemberName", NAME), ("MemberSID", SID)]);
    for role in roles(users, arguments.text(0).as_deref())? {
        let mut members: Vec<&Principal> =
            users.iter().map(|principal| &**principal).filter(|principal| is_in(principal, role.id)).collect();
        members.sort_by_key(|member| member.name.to_lowercase());
        for member in members {
            set.push(vec![string(&role.name), string(&member.name), Value::Bin(member.sid.clone())]);
        }
    }
    set.send(output);
    Ok(())
}

/// `sp_helpuser`: every user of the database with each of its roles, or one; of a role its members.
///
/// # Errors
/// 15198 for a name that is no principal's.
fn help_user(
    arguments: &Arguments<'_>,
    host: &SessionHost,
    context: &ExecutionContext,
    output: &mut dyn Output,
) -> Result<(), SqlError> {
    let catalog = security::catalog(context);
    let users = catalog.users();
    let logins = security::principals(host, context, PrincipalKind::Login)?;
    let name = |id: i32| users.get(id).map_or(Value::Null, |principal| string(&principal.name));
    let wanted = match arguments.text(0) {
        None => None,
        Some(wanted) => Some(users.find(&wanted).ok_or_else(|| SqlError::not_a_user(&wanted))?.clone()),
    };
    let is_meant = |user: &Principal| match &wanted {
        None => true,
        Some(wanted) if wanted.kind.is_role() => is_in(user, wanted.id),
        Some(wanted) => user.id == wanted.id,
    };
    let mut shown: Vec<&Principal> =
        users.iter().map(|principal| &**principal).filter(|user| !user.kind.is_role() && is_meant(user)).collect();
    shown.sort_by_key(|user| user.name.to_lowercase());
    let mut set = ResultSet::new(&[
        ("UserName", NAME),
        ("RoleName", NAME),
        ("LoginName", NAME),
        ("DefDBName", NAME),
        ("DefSchemaName", NAME),
        ("UserID", SqlType::SmallInt),
        ("SID", SID),
    ]);
    for user in shown {
        let login = logins.iter().find(|login| !user.sid.is_empty() && login.sid == user.sid);
        let database = login.and_then(|login| login.login.as_ref()).map(|login| string(&login.default_database));
        let mut roles: Vec<Value> = user.roles.iter().map(|role| name(*role)).collect();
        if user.id == DBO {
            roles.insert(0, string("db_owner"));
        }
        if roles.is_empty() {
            roles.push(string("public"));
        }
        for role in roles {
            set.push(vec![
                string(&user.name),
                role,
                login.map_or(Value::Null, |login| string(&login.name)),
                database.clone().unwrap_or(Value::Null),
                user.default_schema.as_ref().map_or(Value::Null, string),
                Value::SmallInt(user.id as i16),
                Value::Bin(user.sid.clone()),
            ]);
        }
    }
    set.send(output);
    Ok(())
}
