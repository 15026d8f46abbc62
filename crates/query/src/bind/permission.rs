//! What a plan needs permission for: noted while names are resolved.

use std::rc::Rc;

use super::Binder;
use crate::access::CatalogView;
use crate::expression::Fault;
use crate::security::Requirement;
use pikepole_engine::Permission;
use pikepole_tsql::{self as tree, ObjectName};

impl Binder<'_> {
    /// Notes that the statement needs a permission on the object of a name, unless the view around it has the same owner. The
    /// object's owner.
    pub(crate) fn require(&mut self, permission: Permission, name: &ObjectName) -> Result<Option<i32>, Fault> {
        let Some(mut requirement) = Requirement::of(self.catalog(), name, permission)? else {
            return Ok(None);
        };
        let owner = requirement.owner;
        requirement.named_by_statement = self.view_owner.is_none();
        // No chain of owners leads from one database into another.
        let is_chained = self.view_owner == Some(owner) && requirement.database == self.catalog().database.id();
        if !is_chained && !self.requirements.contains(&requirement) {
            self.requirements.push(requirement);
        }
        if let Some(mut behind) = Requirement::behind(self.catalog(), name, permission)? {
            let owner = behind.owner;
            behind.named_by_statement = false;
            if !self.requirements.contains(&behind) {
                self.requirements.push(behind);
            }
            return Ok(Some(owner));
        }
        Ok(Some(owner))
    }

    /// Notes what UPDATE and DELETE need: to change the target, and to read it when an expression does. FROM may name the
    /// table that the target is an alias of.
    pub(crate) fn require_changed(
        &mut self,
        permission: Permission,
        target: &tree::Target,
        from: &[tree::TableSource],
    ) -> Result<(), Fault> {
        let name = match (target, from) {
            (_, [tree::TableSource::Table(table)]) => &table.name,
            (tree::Target::Table { name, .. }, _) => name,
            _ => return Ok(()),
        };
        self.require(permission, name)?;
        if self.reads_target {
            self.require(Permission::Select, name)?;
        }
        Ok(())
    }

    /// Notes what a statement needs on a table whose rows FROM finds. The object's owner.
    pub(super) fn require_target(&mut self, name: &ObjectName) -> Result<Option<i32>, Fault> {
        let mut owner = None;
        for permission in self.target_permissions.clone() {
            owner = self.require(permission, name)?;
        }
        Ok(owner)
    }

    /// Binds what a view is made of.
    pub(crate) fn in_view_of<T>(
        &mut self,
        owner: Option<i32>,
        bind: impl FnOnce(&mut Self) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        let outer = std::mem::replace(&mut self.view_owner, owner);
        let bound = bind(self);
        self.view_owner = outer;
        bound
    }

    /// Binds what stands in a definition of the database of `catalog`.
    pub(crate) fn in_catalog<T>(
        &mut self,
        catalog: CatalogView,
        bind: impl FnOnce(&mut Self) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        let outer = self.inner_catalog.replace(Rc::new(catalog));
        let bound = bind(self);
        self.inner_catalog = outer;
        bound
    }
}
