//! Indexes and statistics.

use super::{Condition, Expr, Name, ObjectName, Placement, SettingOption};

/// A column of an index or key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexColumn {
    /// The column.
    pub name: Name,
    /// `DESC`
    pub descending: bool,
}

/// The kinds of indexes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IndexKind {
    /// A tree of rows ordered by key.
    Rows,
    /// `COLUMNSTORE`
    Columnstore,
    /// `XML`
    Xml,
    /// `SPATIAL`
    Spatial,
}

/// What a secondary index of xml is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum XmlIndexPurpose {
    /// Values whose place is known.
    Path,
    /// Several properties of one value.
    Property,
    /// Values wherever they are.
    Value,
}

/// `USING XML INDEX primary FOR PATH`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsingXmlIndex {
    /// The primary index of the same column.
    pub primary: Name,
    /// What it is for.
    pub purpose: XmlIndexPurpose,
}

/// `CREATE INDEX`
#[derive(Debug, Clone, PartialEq)]
pub struct CreateIndex {
    /// `UNIQUE`
    pub unique: bool,
    /// True for `CLUSTERED`, false for `NONCLUSTERED`, when one is said.
    pub clustered: Option<bool>,
    /// Its kind.
    pub kind: IndexKind,
    /// `PRIMARY`, of an index of xml.
    pub primary: bool,
    /// Its name.
    pub name: Name,
    /// The table.
    pub table: ObjectName,
    /// The key; empty for a clustered columnstore index.
    pub columns: Vec<IndexColumn>,
    /// `USING XML INDEX ... FOR ...`
    pub using: Option<UsingXmlIndex>,
    /// `INCLUDE (...)`
    pub include: Vec<Name>,
    /// `WHERE`
    pub filter: Option<Condition>,
    /// `WITH (...)`
    pub options: Vec<SettingOption>,
    /// `ON filegroup`
    pub on: Option<Placement>,
}

/// `INDEX i ...` inside a table.
#[derive(Debug, Clone, PartialEq)]
pub struct InlineIndex {
    /// Its name.
    pub name: Name,
    /// `UNIQUE`
    pub unique: bool,
    /// True for `CLUSTERED`, false for `NONCLUSTERED`, when one is said.
    pub clustered: Option<bool>,
    /// Its kind.
    pub kind: IndexKind,
    /// `HASH`, of memory-optimised tables.
    pub hash: bool,
    /// The key; empty behind a column, which is the key then.
    pub columns: Vec<IndexColumn>,
    /// `INCLUDE (...)`
    pub include: Vec<Name>,
    /// `WHERE`
    pub filter: Option<Condition>,
    /// `WITH (...)`
    pub options: Vec<SettingOption>,
    /// `ON filegroup`
    pub on: Option<Placement>,
}

/// `ALTER INDEX`
#[derive(Debug, Clone, PartialEq)]
pub struct AlterIndex {
    /// The index; none for ALL.
    pub name: Option<Name>,
    /// The table.
    pub table: ObjectName,
    /// What is done.
    pub action: AlterIndexAction,
    /// `PARTITION = n`; none for all.
    pub partition: Option<Expr>,
    /// `WITH (...)`, or the options of SET.
    pub options: Vec<SettingOption>,
}

/// What ALTER INDEX does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AlterIndexAction {
    /// `REBUILD`
    Rebuild,
    /// `REORGANIZE`
    Reorganize,
    /// `DISABLE`
    Disable,
    /// `SET (...)`
    Set,
}

/// `DROP INDEX`
#[derive(Debug, Clone, PartialEq)]
pub struct DropIndex {
    /// `IF EXISTS`
    pub if_exists: bool,
    /// The indexes.
    pub indexes: Vec<DroppedIndex>,
}

/// One index of DROP INDEX: `i ON t`, or `t.i`.
#[derive(Debug, Clone, PartialEq)]
pub struct DroppedIndex {
    /// The index.
    pub name: Name,
    /// The table.
    pub table: ObjectName,
    /// `WITH (...)`
    pub options: Vec<SettingOption>,
}

/// `CREATE STATISTICS`
#[derive(Debug, Clone, PartialEq)]
pub struct CreateStatistics {
    /// Its name.
    pub name: Name,
    /// The table.
    pub table: ObjectName,
    /// The columns.
    pub columns: Vec<Name>,
    /// `WHERE`
    pub filter: Option<Condition>,
    /// `WITH ...`
    pub options: Vec<SettingOption>,
}

/// `UPDATE STATISTICS`
#[derive(Debug, Clone, PartialEq)]
pub struct UpdateStatistics {
    /// The table.
    pub table: ObjectName,
    /// Indexes and statistics; empty for all.
    pub names: Vec<Name>,
    /// `WITH ...`
    pub options: Vec<SettingOption>,
}
