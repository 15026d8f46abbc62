//! ALTER AUTHORIZATION: databases, schemas and roles get other owners.

use std::sync::Arc;

use super::Definer;
use crate::errors;
use crate::expression::Fault;
use pikepole_engine::{LoginPrincipal, Permission, Principal, PrincipalKind, Securable};
use pikepole_tsql as tree;
use pikepole_types::SqlError;

fn no_principal(name: &str) -> Fault {
    Box::new(SqlError::item_missing("find", "principal", name))
}

impl Definer<'_> {
    /// ALTER AUTHORIZATION ON DATABASE, outside of transactions.
    pub(super) async fn change_database_owner(&mut self, change: &tree::ChangeOwner) -> Result<(), Fault> {
        self.check_no_transaction("ALTER AUTHORIZATION")?;
        let Some(owner) = &change.owner else { return Err(errors::unsupported("SCHEMA OWNER of a database")) };
        // Those of now: the session's token does not know a login that the session itself has made.
        let logins = self.context.server().logins()?;
        let owner = LoginPrincipal::find(&logins, &owner.text);
        let owner = owner.ok_or_else(|| no_principal(change.owner.as_ref().map_or("", tree::Name::as_str)))?;
        let name = &change.name.name.text;
        let missing = |_| SqlError::item_missing("find", "database", name);
        let database = self.context.server().database(name).map_err(missing)?;
        let user = database.current_catalog().users().find_sid(&owner.sid).map(|user| user.id);
        match user {
            Some(pikepole_engine::DBO) => Ok(()),
            Some(_) => Err(Box::new(SqlError::database_owner_is_user())),
            None => Ok(database.set_owner(self.context.state.session_id, &owner).await?),
        }
    }

    /// ALTER AUTHORIZATION of what is in the database.
    pub(super) async fn change_owner(&mut self, change: &tree::ChangeOwner) -> Result<(), Fault> {
        let owner = change.owner.as_ref().map(|owner| self.owner_of_name(owner)).transpose()?;
        let name = change.name.name.text.as_str();
        match (change.class.as_deref().unwrap_or("OBJECT"), owner) {
            ("SCHEMA", Some(owner)) => {
                let (database, tx) = self.context.engine();
                Ok(database.set_schema_owner(tx, name, owner.id).await?)
            }
            ("ROLE", Some(owner)) => {
                let view = self.context.catalog();
                let role = view.catalog.users().find(name).filter(|role| role.kind == PrincipalKind::Role);
                let missing = || SqlError::item_missing("find", "role", name);
                let role = role.ok_or_else(missing)?.id;
                let (database, tx) = self.context.engine();
                let change = |role: &mut Principal| {
                    role.owner = owner.id;
                    Ok(())
                };
                Ok(database.change_principal(tx, role, PrincipalKind::Role, change).await?)
            }
            // An object's owner is that of its schema.
            ("OBJECT", None) => {
                let schema = self.own_schema(&change.name)?;
                let view = self.context.catalog();
                let found = view.catalog.object(&schema, name).is_some();
                let missing = || Box::new(SqlError::item_missing("find", "object", name));
                if found { Ok(()) } else { Err(missing()) }
            }
            ("OBJECT" | "TYPE", Some(_)) => {
                Err(errors::unsupported("An owner of one object, other than its schema's,"))
            }
            (class, _) => Err(errors::unsupported(format!("ALTER AUTHORIZATION ON {class} to this owner"))),
        }
    }

    fn owner_of_name(&self, name: &tree::Name) -> Result<Arc<Principal>, Fault> {
        let view = self.context.catalog();
        let found = view.catalog.users().find(&name.text).cloned();
        found.ok_or_else(|| no_principal(&name.text))
    }

    /// CONTROL on what gets another owner, whom one must be, or be in, or have CONTROL over.
    pub(super) fn check_change_owner(&mut self, change: &tree::ChangeOwner) -> Result<(), Fault> {
        let name = change.name.name.text.as_str();
        let token = self.context.token();
        let class = change.class.as_deref().unwrap_or("OBJECT");
        if class == "DATABASE" {
            let missing = || Box::new(SqlError::item_missing("find", "database", name));
            return if token.is_sysadmin() { Ok(()) } else { Err(missing()) };
        }
        if token.is_dbo() || token.has(Permission::Control, Securable::Database) {
            return Ok(());
        }
        let view = self.context.catalog();
        let has = match view.catalog.schema(name).filter(|_| class == "SCHEMA") {
            Some(schema) => {
                token.has(Permission::Control, Securable::Schema { id: schema.schema_id, owner: schema.owner })
            }
            None => false,
        };
        if !has {
            return Err(Box::new(SqlError::item_missing("find", class.to_lowercase(), name)));
        }
        match &change.owner {
            Some(owner) if !token.database_ids().contains(&self.owner_of_name(owner)?.id) => {
                Err(no_principal(&owner.text))
            }
            _ => Ok(()),
        }
    }
}
