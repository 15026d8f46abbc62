//! Indexes as the catalog stores them, those too that are definitions alone.

use super::definition::StorageRef;
use super::filter::FilterTest;
use super::in_memory::HashIndex;
use super::partition::Partitioned;
use super::storage_options::StorageOptions;
use serde::{Deserialize, Serialize};

/// A column of an index's key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct IndexColumn {
    /// Position among the table's columns, from zero.
    pub column: usize,
    /// Largest first.
    pub descending: bool,
}

/// An index, or the constraint that it enforces.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Index {
    /// 1 is the clustered index; others count from 2.
    pub index_id: i32,
    /// The name of the index and of its constraint.
    pub name: String,
    /// The object id of the constraint; zero for a plain index.
    pub constraint_id: i32,
    /// No two rows have the same key.
    pub unique: bool,
    /// It enforces the PRIMARY KEY.
    pub primary_key: bool,
    /// It enforces a PRIMARY KEY or UNIQUE constraint.
    pub constraint: bool,
    /// The table's rows are in it.
    pub clustered: bool,
    /// The key.
    pub columns: Vec<IndexColumn>,
    /// Columns that INCLUDE names; reads through an index go to the row, so they make no difference.
    #[serde(default)]
    pub included: Vec<usize>,
    /// The condition of a filtered index, as T-SQL.
    #[serde(default)]
    pub filter: Option<String>,
    /// What the condition says: rows with NULL in one of these columns have no entry.
    #[serde(default)]
    pub not_null: Vec<usize>,
    /// What it says beside that.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tests: Vec<FilterTest>,
    /// IGNORE_DUP_KEY: an INSERT leaves out rows whose keys are there, and goes on.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ignores_duplicates: bool,
    /// ALTER INDEX ... DISABLE: nobody reads or writes it, and it has no storage until it is built anew. Always true of what is a
    /// definition alone.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub disabled: bool,
    /// It is declared as a columnstore: a definition that is kept and shown, while the rows stay in the table's heap or tree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub columnstore: Option<Columnstore>,
    /// It is declared for a column of xml, the one that is `included`: a definition that is kept and shown, too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub xml: Option<XmlIndex>,
    /// `STATISTICS_ONLY` made it: a definition that advisers of indexes ask about, too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hypothetical: Option<Hypothetical>,
    /// Set for a hash index, which an in-memory table alone has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hash: Option<HashIndex>,
    /// `ON scheme (column)`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partitioned: Option<Partitioned>,
    /// What is said of how its entries lie.
    #[serde(default, skip_serializing_if = "StorageOptions::is_default")]
    pub options: StorageOptions,
    /// Where its entries are.
    pub storage: StorageRef,
}

/// What a columnstore index says of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Columnstore {
    /// It stands for all columns of a table, in the place of a clustered index.
    pub clustered: bool,
    /// COMPRESSION_DELAY, in minutes.
    #[serde(default)]
    pub compression_delay: i32,
    /// ALTER INDEX ... DISABLE.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub disabled: bool,
}

/// The mark of a hypothetical index, which has no entries (CREATE INDEX WITH STATISTICS_ONLY).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hypothetical {
    /// It is declared as clustered; the table's own clustered index is another one.
    pub clustered: bool,
}

/// What an index of a column of xml says of itself.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct XmlIndex {
    /// The primary index that it belongs to, and what for; none: it is the primary one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secondary: Option<SecondaryXmlIndex>,
    /// ALTER INDEX ... DISABLE.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub disabled: bool,
}

/// What makes an index of xml a secondary one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SecondaryXmlIndex {
    /// The number of the primary index of the same column.
    pub primary: i32,
    /// What it is for.
    pub purpose: XmlIndexPurpose,
}

/// What a secondary index of xml is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum XmlIndexPurpose {
    /// Values whose place is known.
    Path,
    /// Several properties of one value.
    Property,
    /// Values wherever they are.
    Value,
}

impl Index {
    /// The number of the clustered index.
    pub const CLUSTERED_ID: i32 = 1;
    /// The first number of indexes of xml; those of others are below.
    pub const XML_ID_MIN: i32 = 256_000;

    /// An index that is a definition alone, of whatever kind the caller makes it.
    pub fn definition(index_id: i32, name: &str) -> Index {
        Index {
            index_id,
            name: name.to_owned(),
            constraint_id: 0,
            unique: false,
            primary_key: false,
            constraint: false,
            clustered: false,
            columns: Vec::new(),
            included: Vec::new(),
            filter: None,
            not_null: Vec::new(),
            tests: Vec::new(),
            ignores_duplicates: false,
            disabled: true,
            columnstore: None,
            xml: None,
            hypothetical: None,
            hash: None,
            partitioned: None,
            options: StorageOptions::default(),
            storage: StorageRef { object: 0, root: None, key_bytes_max: 0 },
        }
    }

    /// Whether ALTER INDEX ... DISABLE said so.
    pub fn is_disabled(&self) -> bool {
        match (self.columnstore, self.xml) {
            (Some(columnstore), _) => columnstore.disabled,
            (_, Some(xml)) => xml.disabled,
            (None, None) => self.disabled && self.hypothetical.is_none(),
        }
    }

    /// ALTER INDEX ... DISABLE, or what undoes it. An index that is more than a definition needs storage then. A hypothetical index stays
    /// as it is.
    pub fn set_disabled(&mut self, disabled: bool) {
        match (&mut self.columnstore, &mut self.xml) {
            (Some(columnstore), _) => columnstore.disabled = disabled,
            (_, Some(xml)) => xml.disabled = disabled,
            (None, None) if self.hypothetical.is_some() => {}
            (None, None) => self.disabled = disabled,
        }
    }

    /// Whether it is a definition alone, which is kept and shown: no rows are found by it.
    pub fn is_definition(&self) -> bool {
        self.columnstore.is_some() || self.xml.is_some() || self.hypothetical.is_some()
    }

    /// Whether it is the primary index of a column of xml.
    pub fn is_primary_xml(&self) -> bool {
        self.xml.is_some_and(|xml| xml.secondary.is_none())
    }

    /// Whether it is a secondary index of xml, of the primary one with this number.
    pub fn is_secondary_of(&self, primary: i32) -> bool {
        self.xml.and_then(|xml| xml.secondary).is_some_and(|secondary| secondary.primary == primary)
    }

    /// Whether it is the one clustered index that a table may have, of rows or declared as a columnstore.
    pub fn is_clustered(&self) -> bool {
        self.clustered || self.columnstore.is_some_and(|columnstore| columnstore.clustered)
    }

    /// Whether its filter is about a column.
    pub fn is_filtered_by(&self, column: usize) -> bool {
        self.not_null.contains(&column) || self.tests.iter().any(|test| test.column == column)
    }
}
