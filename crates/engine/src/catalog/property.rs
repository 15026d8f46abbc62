//! Extended properties: names with texts that users give to the database and to what is in it.
//!
//! The properties of one holder are one stored object. A table's holds those of its columns, indexes and constraints too, so
//! that they go with it, and are under its id: names may change.

use super::definition::TableRecord;
use serde::{Deserialize, Serialize};

/// What has a catalog row of its own for its properties.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum PropertyHolder {
    /// The database.
    Database,
    /// The object of this id.
    Object(i32),
    /// The schema of this id.
    Schema(i32),
    /// The user or role of this id.
    Principal(i32),
    /// The type of this id that users made.
    Type(i32),
}

/// What of the holder a property is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum PropertyPart {
    /// The holder itself.
    Whole,
    /// The column at this place of a table, from zero.
    Column(usize),
    /// The index of this number.
    Index(i32),
    /// The constraint of this object id.
    Constraint(i32),
}

impl PropertyPart {
    /// Whether a table has this part.
    pub(crate) fn is_in(self, record: &TableRecord) -> bool {
        match self {
            PropertyPart::Whole => true,
            PropertyPart::Column(place) => place < record.columns.len(),
            PropertyPart::Index(index_id) => record.indexes.iter().any(|index| index.index_id == index_id),
            PropertyPart::Constraint(id) => {
                let defaults = record.columns.iter().filter_map(|column| column.default.as_ref());
                let keys = record.indexes.iter().map(|index| index.constraint_id);
                let checks = record.checks.iter().map(|check| check.object_id);
                let foreign = record.foreign_keys.iter().map(|key| key.object_id);
                defaults.map(|default| default.object_id).chain(keys).chain(checks).chain(foreign).any(|own| own == id)
            }
        }
    }
}

/// A property.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExtendedProperty {
    /// What it is about.
    pub part: PropertyPart,
    /// Its name.
    pub name: String,
    /// Its text; None: NULL.
    pub value: Option<String>,
}

/// The properties of a holder and its parts, in the order in which they were given.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Properties {
    /// Whose they are.
    pub holder: PropertyHolder,
    /// The properties.
    pub entries: Vec<ExtendedProperty>,
}

impl Properties {
    /// The place of the property of this name, whatever its case, of a part.
    pub(crate) fn position(&self, part: PropertyPart, name: &str) -> Option<usize> {
        let name = name.to_lowercase();
        self.entries.iter().position(|entry| entry.part == part && entry.name.to_lowercase() == name)
    }
}
