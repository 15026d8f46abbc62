//! What WITH SCHEMABINDING, computed columns and constraints keep from being dropped, altered and moved.

use super::Definer;
use crate::expression::Fault;
use crate::host::BoundReference;
use pikepole_engine::Object;
use pikepole_tsql::{DropKind, ModuleMode, ObjectName};
use pikepole_types::SqlError;

impl Definer<'_> {
    /// The oldest of what is bound to an object.
    pub(super) fn bound_to(&self, schema: &str, name: &str) -> Option<BoundReference> {
        let object_id = self.context.catalog().catalog.object(schema, name)?.object_id();
        self.host.bound_references(object_id, self.context).into_iter().next()
    }

    /// # Errors
    /// 3729 for a table, view or function that something is bound to. A foreign key and system versioning are told of before that.
    pub(super) fn check_unbound_to_drop(&self, kind: DropKind, name: &ObjectName, schema: &str) -> Result<(), Fault> {
        let action = match kind {
            DropKind::Table => "DROP TABLE",
            DropKind::View => "DROP VIEW",
            DropKind::Function => "DROP FUNCTION",
            _ => return Ok(()),
        };
        let catalog = self.context.catalog();
        let refused_before = match catalog.catalog.object(schema, &name.name.text) {
            Some(Object::Table(table)) => {
                let mut references = catalog.catalog.references_to(table.object_id);
                table.versioning.is_some() || references.any(|(other, _)| other.object_id != table.object_id)
            }
            _ => false,
        };
        match self.bound_to(schema, &name.name.text).filter(|_| !refused_before) {
            Some(bound) => Err(Box::new(SqlError::referenced_by(action, name.dotted(), bound.name))),
            None => Ok(()),
        }
    }

    /// # Errors
    /// 3729, of state 3, for a view or function that something is bound to.
    pub(super) fn check_unbound_to_alter(
        &self,
        name: &ObjectName,
        schema: &str,
        mode: ModuleMode,
    ) -> Result<(), Fault> {
        if mode == ModuleMode::Create {
            return Ok(());
        }
        match self.bound_to(schema, &name.name.text) {
            Some(bound) => {
                let error = SqlError::referenced_by("ALTER", name.dotted(), bound.name);
                Err(Box::new(SqlError { state: 3, ..error }))
            }
            None => Ok(()),
        }
    }
}
