//! Types that users make: names for types, and shapes of tables.
//!
//! They have a namespace of their own beside that of objects, and collections of schemas of xml have another. A table type is kept as the definition of a table that has no
//! storage; a table variable or parameter of the type is a copy of it with storage in tempdb.

use super::definition::{StorageRef, TableRecord};
use pikepole_types::SqlType;
use serde::{Deserialize, Serialize};

/// The first id of users' types.
pub(crate) const USER_TYPE_FIRST: i32 = 257;

/// A type made by CREATE TYPE.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UserType {
    /// Its id.
    pub user_type_id: i32,
    /// The schema's id.
    pub schema_id: i32,
    /// The schema's name.
    pub schema: String,
    /// The name.
    pub name: String,
    /// What it is.
    pub kind: UserTypeKind,
}

/// The kinds of users' types.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum UserTypeKind {
    /// A name for a type of the system.
    Alias {
        /// The type it stands for.
        ty: SqlType,
        /// Whether a column that says nothing about it may hold NULL.
        nullable: bool,
    },
    /// The shape of a table. Its object id and name are those that `sys.table_types` shows.
    Table(Box<TableRecord>),
    /// A collection of schemas of xml. They have names of their own, beside those of types.
    SchemaCollection {
        /// The schemas.
        text: String,
        /// When it was made, in microseconds since 1970.
        created_us: u64,
    },
}

impl UserType {
    /// `schema.name`, as error texts name it.
    pub fn full_name(&self) -> String {
        format!("{}.{}", self.schema, self.name)
    }

    /// Whether it is no type itself, but makes xml a type of its own.
    pub fn is_collection(&self) -> bool {
        matches!(self.kind, UserTypeKind::SchemaCollection { .. })
    }

    /// The shape, of a table type.
    pub fn table(&self) -> Option<&TableRecord> {
        match &self.kind {
            UserTypeKind::Table(record) => Some(record),
            UserTypeKind::Alias { .. } | UserTypeKind::SchemaCollection { .. } => None,
        }
    }

    /// Whether something of this shape has a column of the type with this id.
    pub(crate) fn uses(&self, user_type_id: i32) -> bool {
        self.table().is_some_and(|record| record.uses_type(user_type_id))
    }
}

impl TableRecord {
    /// Whether one of its columns is of the user's type with this id.
    pub(crate) fn uses_type(&self, user_type_id: i32) -> bool {
        self.columns.iter().any(|column| column.user_type == Some(user_type_id))
    }

    /// The same definition without storage; keys keep their sizes.
    #[must_use]
    pub(crate) fn without_storage(mut self) -> TableRecord {
        self.heap = self.heap.map(|heap| StorageRef { object: 0, root: None, ..heap });
        for index in &mut self.indexes {
            index.storage = StorageRef { object: 0, root: None, ..index.storage };
        }
        self.overflow = None;
        self
    }
}
