//! Objects of another kind than a statement is about.

use std::sync::Arc;

use super::Definer;
use crate::access::Table;
use crate::expression::Fault;
use pikepole_engine::Object;
use pikepole_tsql::{DropKind, ObjectName};
use pikepole_types::SqlError;

/// The words of DROP for a kind of object, without DROP.
fn dropped_as(object: &Object) -> &'static str {
    match object {
        Object::Table(_) => "TABLE",
        Object::Procedure(_) => "PROCEDURE",
        Object::View(_) => "VIEW",
        Object::Function(_) => "FUNCTION",
        Object::Sequence(_) => "SEQUENCE",
        Object::Trigger(_) => "TRIGGER",
        Object::Synonym(_) => "SYNONYM",
        Object::SecurityPolicy(_) => "SECURITY POLICY",
    }
}

/// The same for the kind that a DROP statement names; none for what is in no schema.
fn words_of(kind: DropKind) -> Option<&'static str> {
    Some(match kind {
        DropKind::Table => "TABLE",
        DropKind::Procedure => "PROCEDURE",
        DropKind::View => "VIEW",
        DropKind::Function => "FUNCTION",
        DropKind::Sequence => "SEQUENCE",
        DropKind::Trigger => "TRIGGER",
        DropKind::Synonym => "SYNONYM",
        DropKind::SecurityPolicy => "SECURITY POLICY",
        _ => return None,
    })
}

impl Definer<'_> {
    /// Checks that DROP names the kind of the object that has this name.
    ///
    /// # Errors
    /// 3705 with the statement that would drop it.
    pub(super) fn check_dropped_kind(&self, kind: DropKind, name: &ObjectName, schema: &str) -> Result<(), Fault> {
        let view = self.context.catalog();
        let (Some(words), Some(object)) = (words_of(kind), view.catalog.object(schema, &name.name.text)) else {
            return Ok(());
        };
        let right = dropped_as(object);
        if words == right {
            return Ok(());
        }
        let shown = name.dotted();
        Err(Box::new(SqlError::wrong_drop(words, &shown, &shown, object.kind(), format!("DROP {right}"))))
    }

    /// The table of a name that stands for the table itself: not a synonym, nor anything else.
    pub(super) fn table_itself(
        &self,
        name: &ObjectName,
        missing: impl Fn() -> SqlError,
        wrong: impl Fn() -> SqlError,
    ) -> Result<Arc<Table>, Fault> {
        let catalog = self.context.catalog();
        if !name.is_temporary()
            && let Some(place) = catalog.place_itself(name)?
            && place.object().is_some_and(|object| !matches!(object, Object::Table(_)))
        {
            return Err(Box::new(wrong()));
        }
        catalog.table(name)?.ok_or_else(|| Box::new(missing()))
    }
}
