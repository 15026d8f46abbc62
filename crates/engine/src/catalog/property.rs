//! Extended properties: names with texts that users give to the database and to what is in it.
//!
//! The properties of one holder are one stored object. A table's holds those of its columns, indexes and constraints too, so
//! that they go with it, and are under its id: names may change.

use super::definition::TableRecord;
use pikepole_types::SqlType;
use serde::{Deserialize, Serialize};

/// What has a catalog row of its own for its properties.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum PropertyHolder {
    /// The database.
    Database,
    /// The object, partition function or partition scheme of this id.
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
    /// The filegroup of this number, of the database.
    Filegroup(i32),
    /// The file of this number, of the database.
    File(i32),
    /// The parameter of this number, from one, of a procedure or function.
    Parameter(i32),
}

impl PropertyPart {
    /// Whether a table has this part.
    pub(crate) fn is_in(self, record: &TableRecord) -> bool {
        match self {
            PropertyPart::Whole => true,
            PropertyPart::Filegroup(_) | PropertyPart::File(_) | PropertyPart::Parameter(_) => false,
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
    /// Its value as text; None: NULL.
    pub value: Option<String>,
    /// The type of the value; None, of those that were stored without one: a text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ty: Option<SqlType>,
}

/// A value for a property: its text and its type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PropertyValue {
    /// As text; None: NULL.
    pub text: Option<String>,
    /// Its type; None for NULL.
    pub ty: Option<SqlType>,
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
    /// True if some belong to filegroups or files.
    pub(crate) fn has_files(&self) -> bool {
        self.entries.iter().any(|entry| matches!(entry.part, PropertyPart::Filegroup(_) | PropertyPart::File(_)))
    }

    /// True if some belong to parameters.
    pub(crate) fn has_parameters(&self) -> bool {
        self.entries.iter().any(|entry| matches!(entry.part, PropertyPart::Parameter(_)))
    }

    /// The place of the property of this name, whatever its case, of a part.
    pub(crate) fn position(&self, part: PropertyPart, name: &str) -> Option<usize> {
        let name = name.to_lowercase();
        self.entries.iter().position(|entry| entry.part == part && entry.name.to_lowercase() == name)
    }
}
