//! Extended properties as calls, each part of the caller's transaction.

use pikepole_types::SqlError;

use super::{Database, DeclaredNames};
use crate::catalog::Catalog;
use crate::catalog::definition::{Module, StoredObject, TableRecord};
use crate::catalog::property::{ExtendedProperty, Properties, PropertyHolder, PropertyPart, PropertyValue};
use crate::transaction::Transaction;

/// What becomes of a property.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PropertyChange {
    /// It is added, with this value.
    Add(PropertyValue),
    /// It gets this value.
    Update(PropertyValue),
    /// It goes.
    Drop,
}

/// Finds what a property is about in the definitions as they are while nobody else changes them.
pub type PropertyPlace<'a> = &'a (dyn Fn(&Catalog) -> Result<(PropertyHolder, PropertyPart), SqlError> + Send + Sync);

impl Database {
    /// Adds, changes or drops the property called `name` of what `place` finds; errors call that `title`.
    ///
    /// # Errors
    /// 15233 when a property to be added is there; 15217 when one to be changed or dropped is not; what `place` reports.
    pub async fn change_property(
        &self,
        tx: &mut Transaction,
        place: PropertyPlace<'_>,
        title: &str,
        name: &str,
        change: PropertyChange,
    ) -> Result<(), SqlError> {
        let (mark, mut catalog) = self.begin_definition(tx).await?;
        let (holder, part) = place(&catalog)?;
        let mut properties =
            catalog.properties_of(holder).cloned().unwrap_or(Properties { holder, entries: Vec::new() });
        let found = properties.position(part, name);
        match (change, found) {
            (PropertyChange::Add(_), Some(_)) => return Err(SqlError::property_exists(name, title)),
            (PropertyChange::Add(value), None) => {
                let PropertyValue { text, ty } = value;
                properties.entries.push(ExtendedProperty { part, name: name.to_owned(), value: text, ty });
            }
            (PropertyChange::Update(value), Some(at)) => {
                let entry = &mut properties.entries[at];
                (entry.value, entry.ty) = (value.text, value.ty);
            }
            (PropertyChange::Drop, Some(at)) => drop(properties.entries.remove(at)),
            (PropertyChange::Update(_) | PropertyChange::Drop, None) => {
                return Err(SqlError::property_missing(name, title));
            }
        }
        self.store_properties(tx, &mut catalog, properties).await?;
        self.end_definition(tx, mark, catalog, self.new_version());
        Ok(())
    }

    async fn store_properties(
        &self,
        tx: &mut Transaction,
        catalog: &mut Catalog,
        properties: Properties,
    ) -> Result<(), SqlError> {
        let stored = StoredObject::Properties(properties.clone());
        if properties.entries.is_empty() {
            self.remove_rows(tx, stored.row_kind(), stored.stored_id(), 0).await?;
        } else {
            self.store_object(tx, &stored).await?;
        }
        catalog.put_properties(properties);
        Ok(())
    }

    /// What had properties is dropped: they go with it.
    pub(crate) async fn forget_properties(
        &self,
        tx: &mut Transaction,
        catalog: &mut Catalog,
        holder: PropertyHolder,
    ) -> Result<(), SqlError> {
        if catalog.properties_of(holder).is_none() {
            return Ok(());
        }
        self.store_properties(tx, catalog, Properties { holder, entries: Vec::new() }).await
    }

    /// A filegroup of the database is removed, and its properties with it.
    pub(super) async fn forget_part_of_database(
        &self,
        tx: &mut Transaction,
        catalog: &mut Catalog,
        part: PropertyPart,
    ) -> Result<(), SqlError> {
        let Some(former) = catalog.properties_of(PropertyHolder::Database) else { return Ok(()) };
        let entries = former.entries.iter().filter(|entry| entry.part != part).cloned().collect();
        let properties = Properties { holder: former.holder, entries };
        if properties == *former {
            return Ok(());
        }
        self.store_properties(tx, catalog, properties).await
    }

    /// The parts of an object become others, or go, and with them their properties.
    async fn change_parts(
        &self,
        tx: &mut Transaction,
        catalog: &mut Catalog,
        object_id: i32,
        part: &(dyn Fn(PropertyPart) -> Option<PropertyPart> + Send + Sync),
    ) -> Result<(), SqlError> {
        let Some(former) = catalog.properties_of(PropertyHolder::Object(object_id)) else {
            return Ok(());
        };
        let entries = former.entries.iter();
        let entries = entries.filter_map(|entry| Some(ExtendedProperty { part: part(entry.part)?, ..entry.clone() }));
        let properties = Properties { holder: former.holder, entries: entries.collect() };
        if properties == *former {
            return Ok(());
        }
        self.store_properties(tx, catalog, properties).await
    }

    /// A module is altered: the properties of its columns and parameters are those of the columns and parameters of the
    /// same names, as far as there are any.
    pub(super) async fn keep_properties(
        &self,
        tx: &mut Transaction,
        catalog: &mut Catalog,
        old: &Module,
        new: &Module,
        declared: fn(&str) -> DeclaredNames,
    ) -> Result<(), SqlError> {
        if catalog.properties_of(PropertyHolder::Object(old.object_id)).is_none() {
            return Ok(());
        }
        let names = |module: &Module| {
            let mut names = declared(&module.text);
            if !module.columns.is_empty() {
                names.columns = module.columns.iter().map(|column| column.name.clone()).collect();
            }
            names
        };
        let (old_names, new_names) = (names(old), names(new));
        let kept = |part: PropertyPart| match part {
            PropertyPart::Column(place) => {
                moved(place, &old_names.columns, &new_names.columns).map(PropertyPart::Column)
            }
            PropertyPart::Parameter(id) => {
                let place = usize::try_from(id).ok()?.checked_sub(1)?;
                let place = moved(place, &old_names.parameters, &new_names.parameters)?;
                i32::try_from(place + 1).ok().map(PropertyPart::Parameter)
            }
            part => Some(part),
        };
        self.change_parts(tx, catalog, old.object_id, &kept).await
    }

    /// The properties of a table whose definition becomes `record` and whose columns move; `place` finds the new place of a
    /// column. Those of parts that are no more go.
    pub(super) async fn move_properties(
        &self,
        tx: &mut Transaction,
        catalog: &mut Catalog,
        old: &TableRecord,
        record: &TableRecord,
        place: &(dyn Fn(usize) -> Option<usize> + Send + Sync),
    ) -> Result<(), SqlError> {
        let moved = |part: PropertyPart| match part {
            PropertyPart::Column(column) => place(column).map(PropertyPart::Column),
            PropertyPart::Constraint(id) => {
                // A default is made anew with its column.
                let is_own = |at: &usize| old.columns[*at].default.as_ref().is_some_and(|own| own.object_id == id);
                let Some(column) = (0..old.columns.len()).find(is_own) else {
                    return Some(part).filter(|part| part.is_in(record));
                };
                let default = record.columns.get(place(column)?)?.default.as_ref()?;
                Some(PropertyPart::Constraint(default.object_id))
            }
            part => Some(part).filter(|part| part.is_in(record)),
        };
        self.change_parts(tx, catalog, old.object_id, &moved).await
    }
}

/// The place that the name at a place of a list has in another list.
fn moved(place: usize, old: &[String], new: &[String]) -> Option<usize> {
    let name = old.get(place)?.to_lowercase();
    new.iter().position(|own| own.to_lowercase() == name)
}
