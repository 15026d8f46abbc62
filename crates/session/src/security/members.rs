//! Who is in which role.

use super::change::{Change, apply};
use super::{principals, securable_of};
use crate::host::SessionHost;
use pikepole_engine::{
    DBO, PUBLIC_ROLE, PUBLIC_SERVER_ROLE, Permission, Principal, PrincipalKind, SA, Securable, is_member,
};
use pikepole_query::ExecutionContext;
use pikepole_types::SqlError;

/// A principal to be put into a role, or to be taken out of it.
pub(crate) struct MemberOf<'a> {
    /// The role's kind.
    pub(crate) kind: PrincipalKind,
    pub(crate) role: &'a str,
    pub(crate) member: &'a str,
    pub(crate) adds: bool,
}

/// ALTER ROLE ... ADD MEMBER, DROP MEMBER, and what the system procedures of old do.
pub(crate) async fn change_membership(
    host: &SessionHost,
    context: &mut ExecutionContext,
    change: &MemberOf<'_>,
) -> Result<(), SqlError> {
    context.refresh_security().map_err(|fault| *fault)?;
    let MemberOf { kind, role, member, adds } = *change;
    let missing = || SqlError::item_missing("alter", kind.name(), role);
    let all = principals(host, context, kind)?;
    let found = all.find(role).filter(|found| found.kind == kind).ok_or_else(missing)?;
    if !may_change_members(context, found) {
        return Err(missing());
    }
    let of_server = kind == PrincipalKind::ServerRole;
    let public = if of_server { PUBLIC_SERVER_ROLE } else { PUBLIC_ROLE };
    if found.id == public {
        return Err(SqlError::public_membership());
    }
    let action = if adds { "add" } else { "drop" };
    let unknown = || SqlError::item_missing(action, "principal", member);
    let principal = all.find(member).ok_or_else(unknown)?;
    let special = if of_server { principal.id == SA } else { matches!(principal.id, DBO | 3 | 4) };
    if special || principal.id == public {
        return Err(SqlError::special_principal(&principal.name));
    }
    if principal.is_fixed() && principal.kind.is_role() {
        return Err(SqlError::special_principal(&principal.name));
    }
    if adds && is_member(&all, found.id, principal.id) {
        return Err(SqlError::role_in_itself());
    }
    let id = found.id;
    let alter = Change::alter(principal, move |principal| {
        principal.roles.retain(|role| *role != id);
        if adds {
            principal.roles.push(id);
        }
        Ok(())
    });
    apply(host, context, vec![alter]).await
}

/// A fixed server role is its members' to fill, a fixed database role the database owner's; others as ALTER says.
fn may_change_members(context: &ExecutionContext, role: &Principal) -> bool {
    let token = context.token();
    match (role.kind, role.is_fixed()) {
        (PrincipalKind::ServerRole, true) => token.is_in_server_role(role.id),
        (_, true) => token.has(Permission::Control, Securable::Database),
        _ => token.has(Permission::Alter, securable_of(role)),
    }
}
