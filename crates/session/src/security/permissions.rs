//! GRANT, DENY, REVOKE.

use super::change::{Change, apply};
use super::functions::column_names;
use super::{is_master, principals, securable_of};
use crate::host::SessionHost;
use crate::modules::function_kind;
use crate::result_set::print;
use crate::unsupported;
use pikepole_engine::{
    Class, DBO, Grant, GrantState, Object, PUBLIC_ROLE, PUBLIC_SERVER_ROLE, Permission, Principal, PrincipalKind,
    Principals, SA, Securable,
};
use pikepole_query::{ExecutionContext, Output};
use pikepole_tsql::{Name, PermissionAction, Securable as Written};
use pikepole_types::SqlError;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What a permission statement is about.
struct Target {
    securable: Securable,
    /// The object, for what its kind can be granted.
    object: Option<Object>,
    /// What the error calls it, and its name.
    kind: &'static str,
    name: String,
}

/// The change of one permission.
#[derive(Debug, Clone, Copy)]
struct Wanted {
    action: PermissionAction,
    class: Class,
    major: i32,
    /// The column's number, from one; zero: the whole thing.
    column: i32,
    permission: Permission,
    grantor: i32,
    with_option: bool,
    only_option: bool,
}

/// Runs GRANT, DENY or REVOKE.
pub(crate) async fn change_permissions(
    host: &SessionHost,
    written: &pikepole_tsql::Permission,
    context: &mut ExecutionContext,
    output: &mut dyn Output,
) -> Result<(), SqlError> {
    context.refresh_security().map_err(|fault| *fault)?;
    if written.grantor.is_some() {
        return Err(unsupported("GRANT, DENY or REVOKE ... AS"));
    }
    let behind_object = written.on.as_ref().map_or(&[][..], |on| &on.columns);
    let mut changed: BTreeMap<i32, Principal> = BTreeMap::new();
    let mut of_server = None;
    for (name, columns) in &expanded(host, context, written)? {
        let (name, columns) = (*name, *columns);
        let target = target(host, context, name, written.on.as_ref())?;
        let columns = match (columns, behind_object) {
            (columns, []) | ([], columns) => columns,
            _ => return Err(SqlError::column_list_after_object()),
        };
        let columns = columns_of(host, context, &target, columns)?;
        let wanted = wanted(written, context, name, &target, &columns)?;
        let server = wanted.class.is_of_server();
        if *of_server.get_or_insert(server) != server {
            return Err(SqlError::incorrect_syntax(name));
        }
        let kind = if server { PrincipalKind::Login } else { PrincipalKind::User };
        let all = principals(host, context, kind)?;
        for principal in &written.principals {
            let grantee = grantee(&all, context, principal, server)?;
            if columns.is_empty() {
                change_grants(&all, &mut changed, grantee.id, wanted, written.cascade)?;
            }
            for column in &columns {
                let wanted = Wanted { column: *column, ..wanted };
                change_grants(&all, &mut changed, grantee.id, wanted, written.cascade)?;
            }
        }
    }
    let changes = changed.into_values().map(|principal| {
        let grants = principal.grants.clone();
        Change::alter(&principal, move |principal| {
            principal.grants = grants;
            Ok(())
        })
    });
    let changes = changes.collect();
    apply(host, context, changes).await?;
    if written.permissions.iter().any(|(name, _)| is_all(name)) {
        print(output, ALL_IS_DEPRECATED);
    }
    Ok(())
}

/// What ALL stands for on the server's databases, as far as there are such permissions.
const ALL_ON_DATABASE: &[&str] =
    &["BACKUP DATABASE", "BACKUP LOG", "CREATE FUNCTION", "CREATE PROCEDURE", "CREATE TABLE", "CREATE VIEW"];
const ALL_ON_ROWS: &[&str] = &["DELETE", "INSERT", "REFERENCES", "SELECT", "UPDATE"];
const ALL_ON_COLUMNS: &[&str] = &["REFERENCES", "SELECT", "UPDATE"];
const ALL_IS_DEPRECATED: &str = "The ALL permission is deprecated and maintained only for compatibility. It DOES NOT imply ALL \
                                 permissions defined on the entity.";

fn is_all(name: &str) -> bool {
    name == "ALL" || name == "ALL PRIVILEGES"
}

/// The permissions of a statement with their columns, and in the place of ALL what it stands for.
fn expanded<'w>(
    host: &SessionHost,
    context: &ExecutionContext,
    written: &'w pikepole_tsql::Permission,
) -> Result<Vec<(&'w str, &'w [Name])>, SqlError> {
    let mut expanded: Vec<(&str, &[Name])> = Vec::with_capacity(written.permissions.len());
    for (name, columns) in &written.permissions {
        if !is_all(name) {
            expanded.push((name, columns));
            continue;
        }
        let Some(on) = &written.on else {
            expanded.extend(ALL_ON_DATABASE.iter().map(|name| (*name, columns.as_slice())));
            continue;
        };
        // A permission that every object has, to find the object by.
        let all = match target(host, context, "CONTROL", Some(on))?.object {
            None => return Err(SqlError::incorrect_syntax(name)),
            Some(_) if !columns.is_empty() || !on.columns.is_empty() => ALL_ON_COLUMNS,
            Some(Object::Procedure(_)) => &["EXECUTE"],
            Some(Object::Function(function)) if function_kind(&function.text).0 == "FN" => &["EXECUTE", "REFERENCES"],
            Some(_) => ALL_ON_ROWS,
        };
        expanded.extend(all.iter().map(|name| (*name, columns.as_slice())));
    }
    Ok(expanded)
}

/// The thing that ON names, or the server or database without it.
fn target(
    host: &SessionHost,
    context: &ExecutionContext,
    permission: &str,
    on: Option<&Written>,
) -> Result<Target, SqlError> {
    let Some(on) = on else {
        let class = Permission::class_without_on(permission).ok_or_else(|| SqlError::incorrect_syntax(permission))?;
        if class == Class::Server && !is_master(context) {
            return Err(SqlError::server_scope_needs_master());
        }
        let (securable, kind) = match class {
            Class::Server => (Securable::Server, "server"),
            _ => (Securable::Database, "database"),
        };
        return Ok(Target { securable, object: None, kind, name: context.database().name().to_owned() });
    };
    let name = on.name.dotted();
    let missing = |kind: &'static str| SqlError::item_missing("find", kind, &name);
    let plain = on.name.name.text.as_str();
    let view = context.catalog();
    let catalog = view.definitions();
    let principal = |kind: PrincipalKind| {
        let all = principals(host, context, kind)?;
        let found = all.find(plain).filter(|found| found.kind == kind);
        let found = found.ok_or_else(|| missing(kind.name()))?;
        Ok(Target { securable: securable_of(found), object: None, kind: kind.name(), name: name.clone() })
    };
    match on.class.as_deref().unwrap_or("OBJECT") {
        "OBJECT" => {
            let current = context.database().name();
            if on.name.database_str().is_some_and(|database| !database.eq_ignore_ascii_case(current)) {
                return Err(SqlError::grant_in_current_database());
            }
            let object = catalog.object(on.name.schema_str().unwrap_or("dbo"), plain);
            // A trigger is nobody's to use.
            let object = object.filter(|object| !matches!(object, Object::Trigger(_)));
            let object = object.ok_or_else(|| missing("object"))?.clone();
            Ok(Target { securable: catalog.securable(&object), object: Some(object), kind: "object", name })
        }
        "TYPE" => {
            let found =
                catalog.user_type(on.name.schema_str().unwrap_or("dbo"), plain).ok_or_else(|| missing("type"))?;
            Ok(Target { securable: catalog.securable_type(found), object: None, kind: "type", name })
        }
        "SCHEMA" => {
            let schema = catalog.schema(plain).ok_or_else(|| missing("schema"))?;
            let securable = Securable::Schema { id: schema.schema_id, owner: schema.owner };
            Ok(Target { securable, object: None, kind: "schema", name })
        }
        "DATABASE" if plain.eq_ignore_ascii_case(context.database().name()) => {
            Ok(Target { securable: Securable::Database, object: None, kind: "database", name })
        }
        "DATABASE" => Err(missing("database")),
        "LOGIN" | "SERVER ROLE" if !is_master(context) => Err(SqlError::server_scope_needs_master()),
        "LOGIN" => principal(PrincipalKind::Login),
        "SERVER ROLE" => principal(PrincipalKind::ServerRole),
        "USER" => principal(PrincipalKind::User),
        "ROLE" => principal(PrincipalKind::Role),
        other => Err(unsupported(format!("A permission on {other}::"))),
    }
}

/// The numbers of columns of the target, in order.
fn columns_of(
    host: &SessionHost,
    context: &ExecutionContext,
    target: &Target,
    names: &[Name],
) -> Result<Vec<i32>, SqlError> {
    if names.is_empty() {
        return Ok(Vec::new());
    }
    if !matches!(target.object, Some(Object::Table(_) | Object::View(_))) {
        return Err(SqlError::entity_has_no_columns());
    }
    let (_, object_id) = target.securable.key();
    let known = column_names(host, context, object_id);
    let place = |name: &Name| {
        let place = known.iter().position(|known| name.is(known));
        let number = place.and_then(|place| i32::try_from(place + 1).ok());
        number.ok_or_else(|| SqlError::invalid_column(&name.text))
    };
    names.iter().map(place).collect()
}

/// The permission of this name on the target, or on columns of it, which the session may grant.
fn wanted(
    written: &pikepole_tsql::Permission,
    context: &ExecutionContext,
    name: &str,
    target: &Target,
    columns: &[i32],
) -> Result<Wanted, SqlError> {
    let (class, major) = target.securable.key();
    let permission = Permission::find(name, class).ok_or_else(|| SqlError::incorrect_syntax(name))?;
    if !columns.is_empty() && !permission.is_of_columns() {
        return Err(SqlError::entity_has_no_columns());
    }
    let fits = match (&target.object, permission) {
        (Some(object), Permission::Unmask) => matches!(object, Object::Table(_)),
        (Some(Object::Procedure(_)), permission) => !matches!(
            permission,
            Permission::Select | Permission::Insert | Permission::Update | Permission::Delete | Permission::References
        ),
        (Some(Object::Function(function)), permission) if function_kind(&function.text).0 == "FN" => {
            !matches!(permission, Permission::Select | Permission::Insert | Permission::Update | Permission::Delete)
        }
        // What it stands for can be of any kind.
        (Some(Object::Synonym(_)), _) => true,
        (Some(_), permission) => permission != Permission::Execute,
        (None, _) => true,
    };
    let token = context.token();
    if !token.may_grant_columns(permission, target.securable, columns) {
        return Err(if token.sees(target.securable) {
            SqlError::no_grant_permission()
        } else {
            SqlError::item_missing("find", target.kind, &target.name)
        });
    }
    if !fits {
        return Err(SqlError::permission_not_of_object(permission.name()));
    }
    Ok(Wanted {
        action: written.action,
        class,
        major,
        column: 0,
        permission,
        grantor: if class.is_of_server() { token.login().id } else { token.user().id },
        with_option: written.with_grant_option,
        only_option: written.grant_option_for,
    })
}

/// Who is to be granted something: not the fixed roles, nor who may do everything, nor the session itself.
fn grantee(
    all: &Principals,
    context: &ExecutionContext,
    written: &Name,
    of_server: bool,
) -> Result<Arc<Principal>, SqlError> {
    let kind = if of_server { "login" } else { "user" };
    let found = all.find(&written.text).ok_or_else(|| SqlError::item_missing("find", kind, &written.text))?;
    let (own, everybody) = match of_server {
        true => (context.token().login().id, PUBLIC_SERVER_ROLE),
        false => (context.token().user().id, PUBLIC_ROLE),
    };
    if found.kind.is_role() && found.is_fixed() && found.id != everybody {
        return Err(SqlError::grant_to_special_role());
    }
    let special = if of_server { found.id == SA } else { matches!(found.id, DBO | 3 | 4) };
    if special || found.id == own {
        return Err(SqlError::grant_to_special_principal());
    }
    Ok(Arc::clone(found))
}

/// Changes the grants of one principal, and with CASCADE those that it has made itself. What it is told of the whole thing
/// replaces what it was told of columns.
fn change_grants(
    all: &Principals,
    changed: &mut BTreeMap<i32, Principal>,
    grantee: i32,
    wanted: Wanted,
    cascade: bool,
) -> Result<(), SqlError> {
    let found = changed.get(&grantee).or_else(|| all.get(grantee).map(Arc::as_ref));
    let Some(mut principal) = found.cloned() else { return Ok(()) };
    let is_of_thing = |grant: &Grant| {
        grant.class == wanted.class && grant.major == wanted.major && grant.permission == wanted.permission
    };
    let is_same = |grant: &Grant| is_of_thing(grant) && grant.column == wanted.column;
    let is_replaced = |grant: &Grant| is_of_thing(grant) && (wanted.column == 0 || grant.column == wanted.column);
    let has_whole =
        principal.grants.iter().any(|grant| is_of_thing(grant) && grant.column == 0 && grant.state.grants());
    let before = principal.grants.iter().copied().find(is_same);
    let could_grant = before.is_some_and(|grant| grant.state == GrantState::GrantWithGrantOption);
    let takes_away = wanted.action != PermissionAction::Grant;
    if takes_away && could_grant && !cascade {
        return Err(SqlError::cascade_needed());
    }
    let Wanted { class, major, column, permission, grantor, .. } = wanted;
    let with = |state: GrantState| Some(Grant { class, major, column, permission, state, grantor });
    let after = match wanted.action {
        PermissionAction::Grant if wanted.with_option || could_grant => with(GrantState::GrantWithGrantOption),
        PermissionAction::Grant => with(GrantState::Grant),
        PermissionAction::Deny => with(GrantState::Deny),
        PermissionAction::Revoke if wanted.only_option && could_grant => with(GrantState::Grant),
        PermissionAction::Revoke if wanted.only_option => before,
        PermissionAction::Revoke if column != 0 && has_whole => with(GrantState::Revoke),
        PermissionAction::Revoke => None,
    };
    let others = principal.grants.iter().filter(|grant| is_replaced(grant) && !is_same(grant)).count();
    if others == 0 && before.map(|grant| grant.state) == after.map(|grant| grant.state) {
        return Ok(());
    }
    principal.grants.retain(|grant| !is_replaced(grant));
    principal.grants.extend(after);
    changed.insert(grantee, principal);
    if takes_away && could_grant {
        let granted_by = |other: &&Arc<Principal>| {
            other.id != grantee && other.grants.iter().any(|grant| is_same(grant) && grant.grantor == grantee)
        };
        let revoke = Wanted { action: PermissionAction::Revoke, only_option: false, ..wanted };
        for other in all.iter().filter(granted_by) {
            change_grants(all, changed, other.id, revoke, true)?;
        }
    }
    Ok(())
}
