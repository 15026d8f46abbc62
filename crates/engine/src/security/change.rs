//! Changing principals: each change is part of the caller's transaction, as every definition is.

use std::sync::Arc;

use pikepole_types::SqlError;

use super::LoginPrincipal;
use super::permission::{Class, Grant};
use super::principal::{DBO, Level, Principal, PrincipalKind, Principals};
use crate::catalog::Catalog;
use crate::catalog::definition::StoredObject;
use crate::catalog::property::PropertyHolder;
use crate::catalog::rows::RowKind;
use crate::database::{Database, Durability, now_us};
use crate::transaction::Transaction;

fn row_kind(level: Level) -> RowKind {
    match level {
        Level::Server => RowKind::ServerPrincipal,
        Level::Database => RowKind::DatabasePrincipal,
    }
}

impl Database {
    /// Changes the principal of this id; `change` sees it as the transaction does.
    ///
    /// # Errors
    /// What `change` reports; 15151 when there is none.
    pub async fn change_principal(
        &self,
        tx: &mut Transaction,
        id: i32,
        kind: PrincipalKind,
        change: impl FnOnce(&mut Principal) -> Result<(), SqlError>,
    ) -> Result<(), SqlError> {
        let (mark, mut catalog) = self.begin_definition(tx).await?;
        let level = kind.level();
        let found = catalog.principals(level).get(id).filter(|principal| principal.kind == kind);
        let mut principal = match found {
            Some(principal) => Principal::clone(principal),
            None => return Err(SqlError::item_missing("alter", kind.name(), id)),
        };
        change(&mut principal)?;
        self.store_principal(tx, &mut catalog, principal).await?;
        self.end_definition(tx, mark, catalog, self.new_version());
        Ok(())
    }

    /// Makes a principal; `fill` sets what it is made with, and sees the principals there are. The new one's id.
    ///
    /// # Errors
    /// 15025, 15023 when the name is taken; what `fill` reports.
    pub async fn create_principal(
        &self,
        tx: &mut Transaction,
        name: &str,
        kind: PrincipalKind,
        fill: impl FnOnce(&mut Principal, &Principals) -> Result<(), SqlError>,
    ) -> Result<i32, SqlError> {
        let (mark, mut catalog) = self.begin_definition(tx).await?;
        let principals = catalog.principals(kind.level());
        if principals.find(name).is_some() {
            return Err(match kind.level() {
                Level::Server => SqlError::login_exists(name),
                Level::Database => SqlError::user_exists(name),
            });
        }
        let mut principal = Principal::new(principals.free_id(), name, kind);
        principal.created_us = now_us();
        fill(&mut principal, principals)?;
        let id = principal.id;
        self.store_principal(tx, &mut catalog, principal).await?;
        self.end_definition(tx, mark, catalog, self.new_version());
        Ok(id)
    }

    /// Drops a principal, and what it was granted.
    ///
    /// # Errors
    /// 15151 when there is none.
    pub async fn drop_principal(&self, tx: &mut Transaction, id: i32, kind: PrincipalKind) -> Result<(), SqlError> {
        let (mark, mut catalog) = self.begin_definition(tx).await?;
        let level = kind.level();
        if catalog.principals(level).get(id).is_none_or(|principal| principal.is_fixed()) {
            return Err(SqlError::item_missing("drop", kind.name(), id));
        }
        self.forget_grants(tx, &mut catalog, kind.class(), id).await?;
        if level == Level::Database {
            self.forget_properties(tx, &mut catalog, PropertyHolder::Principal(id)).await?;
        }
        self.remove_rows(tx, row_kind(level), id, 0).await?;
        let mut principals = Principals::clone(catalog.principals(level));
        principals.remove(id);
        catalog.set_principals(level, Arc::new(principals));
        self.end_definition(tx, mark, catalog, self.new_version());
        Ok(())
    }

    /// Makes a login the database's owner, its `dbo`, in a transaction of its own.
    ///
    /// # Errors
    /// What keeps the catalog from being changed.
    pub async fn set_owner(&self, session_id: i32, owner: &LoginPrincipal) -> Result<(), SqlError> {
        let mut tx = self.transaction(session_id);
        let sid = owner.sid.clone();
        let changed = self.change_principal(&mut tx, DBO, PrincipalKind::User, |dbo| {
            dbo.sid = sid;
            Ok(())
        });
        match changed.await {
            Ok(()) => self.commit(&mut tx, Durability::Full).await,
            Err(error) => {
                // The change's error says more than one of its undoing would.
                let _ = self.rollback(&mut tx).await;
                Err(error)
            }
        }
    }

    /// Something that permissions are granted on is dropped: nobody has any on it.
    pub(crate) async fn forget_grants(
        &self,
        tx: &mut Transaction,
        catalog: &mut Catalog,
        class: Class,
        major: i32,
    ) -> Result<(), SqlError> {
        let level = if class.is_of_server() { Level::Server } else { Level::Database };
        let is_on = |grant: &Grant| grant.class == class && grant.major == major;
        let with_grants: Vec<_> =
            catalog.principals(level).iter().filter(|p| p.grants.iter().any(is_on)).cloned().collect();
        for principal in with_grants {
            let mut principal = Principal::clone(&principal);
            principal.grants.retain(|grant| !is_on(grant));
            self.store_principal(tx, catalog, principal).await?;
        }
        Ok(())
    }

    /// The columns of an object move: what was granted on them moves along, or ends with its column. `place` finds the new place of
    /// a column.
    pub(crate) async fn move_grants(
        &self,
        tx: &mut Transaction,
        catalog: &mut Catalog,
        object_id: i32,
        place: &(dyn Fn(usize) -> Option<usize> + Send + Sync),
    ) -> Result<(), SqlError> {
        let is_on = |grant: &Grant| grant.class == Class::Object && grant.major == object_id && grant.column != 0;
        let moved = |grant: Grant| {
            let at = usize::try_from(grant.column).ok()?.checked_sub(1)?;
            Some(Grant { column: i32::try_from(place(at)? + 1).ok()?, ..grant })
        };
        let users: Vec<_> =
            catalog.users().iter().filter(|user| user.grants.iter().any(is_on)).map(Arc::clone).collect();
        for user in users {
            let grants = user.grants.iter().filter_map(|grant| if is_on(grant) { moved(*grant) } else { Some(*grant) });
            let principal = Principal { grants: grants.collect(), ..Principal::clone(&user) };
            if principal.grants != user.grants {
                self.store_principal(tx, catalog, principal).await?;
            }
        }
        Ok(())
    }

    /// Stores a principal in the place of the one of its id.
    async fn store_principal(
        &self,
        tx: &mut Transaction,
        catalog: &mut Catalog,
        mut principal: Principal,
    ) -> Result<(), SqlError> {
        principal.modified_us = now_us();
        self.store_object(tx, &StoredObject::Principal(principal.clone())).await?;
        let level = principal.kind.level();
        let mut principals = Principals::clone(catalog.principals(level));
        principals.put(principal);
        catalog.set_principals(level, Arc::new(principals));
        Ok(())
    }
}
