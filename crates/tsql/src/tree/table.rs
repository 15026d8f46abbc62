//! Tables: CREATE TABLE and ALTER TABLE.

use super::{Condition, DataType, Expr, IndexColumn, InlineIndex, Name, ObjectName, SettingOption};

/// `CREATE TABLE`
#[derive(Debug, Clone, PartialEq)]
pub struct CreateTable {
    /// Its name; `#t` for a temporary table.
    pub name: ObjectName,
    /// Columns, constraints and indexes, in the order written.
    pub elements: Vec<TableElement>,
    /// `ON filegroup`, or a partition scheme with its column.
    pub on: Option<Placement>,
    /// `TEXTIMAGE_ON filegroup`
    pub textimage_on: Option<Name>,
    /// `WITH (...)`
    pub options: Vec<SettingOption>,
}

impl CreateTable {
    /// The columns among the elements.
    pub fn columns(&self) -> impl Iterator<Item = &ColumnDefinition> {
        self.elements.iter().filter_map(|element| match element {
            TableElement::Column(column) => Some(column),
            _ => None,
        })
    }
}

/// Where rows are placed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placement {
    /// The filegroup or partition scheme; `PRIMARY` and `DEFAULT` are filegroups too.
    pub name: Name,
    /// The column of a partition scheme.
    pub column: Option<Name>,
}

/// What stands between the parentheses of a table.
#[derive(Debug, Clone, PartialEq)]
pub enum TableElement {
    /// A column.
    Column(ColumnDefinition),
    /// A constraint of the table.
    Constraint(TableConstraint),
    /// `INDEX i ...`
    Index(InlineIndex),
    /// `PERIOD FOR SYSTEM_TIME (a, b)`
    Period(Name, Name),
}

/// A column.
#[derive(Debug, Clone, PartialEq)]
pub struct ColumnDefinition {
    /// Its name.
    pub name: Name,
    /// What it holds.
    pub kind: ColumnKind,
    /// `COLLATE name`
    pub collation: Option<Name>,
    /// `NULL` or `NOT NULL`, when one is said.
    pub nullable: Option<bool>,
    /// `DEFAULT`
    pub default: Option<DefaultConstraint>,
    /// `IDENTITY`
    pub identity: Option<Identity>,
    /// Its other constraints, in the order written.
    pub constraints: Vec<ColumnConstraint>,
    /// `INDEX i ...` behind the column.
    pub indexes: Vec<InlineIndex>,
    /// `SPARSE`
    pub sparse: bool,
    /// `ROWGUIDCOL`
    pub rowguidcol: bool,
    /// `HIDDEN`
    pub hidden: bool,
    /// `GENERATED ALWAYS AS ROW START` or `END`: its words after `AS`, in upper case.
    pub generated: Option<String>,
    /// `MASKED WITH (FUNCTION = '...')`: the function.
    pub masked: Option<String>,
}

impl ColumnDefinition {
    /// Its type, unless it is computed.
    pub fn data_type(&self) -> Option<&DataType> {
        match &self.kind {
            ColumnKind::Stored(data_type) => Some(data_type),
            ColumnKind::Computed { .. } => None,
        }
    }
}

/// What a column holds.
#[derive(Debug, Clone, PartialEq)]
pub enum ColumnKind {
    /// A value of a type.
    Stored(DataType),
    /// `AS expr [PERSISTED]`
    Computed {
        /// The expression.
        expr: Expr,
        /// `PERSISTED`
        persisted: bool,
    },
}

/// `[CONSTRAINT name] DEFAULT expr`
#[derive(Debug, Clone, PartialEq)]
pub struct DefaultConstraint {
    /// The constraint's name.
    pub name: Option<Name>,
    /// The value.
    pub expr: Expr,
    /// `WITH VALUES`: rows that are there get it too when the column is added, also where it can be NULL.
    pub with_values: bool,
}

/// `IDENTITY (seed, increment)`
#[derive(Debug, Clone, PartialEq)]
pub struct Identity {
    /// The first value and the step as digits with an optional minus; both 1 when nothing is said.
    pub range: Option<(String, String)>,
    /// `NOT FOR REPLICATION`
    pub not_for_replication: bool,
}

/// A constraint behind a column.
#[derive(Debug, Clone, PartialEq)]
pub struct ColumnConstraint {
    /// Its name.
    pub name: Option<Name>,
    /// What it demands; the columns of a key or foreign key are empty and mean the column itself.
    pub kind: ConstraintKind,
}

/// A constraint of a table.
#[derive(Debug, Clone, PartialEq)]
pub struct TableConstraint {
    /// Its name.
    pub name: Option<Name>,
    /// What it demands.
    pub kind: ConstraintKind,
}

/// What a constraint demands.
#[derive(Debug, Clone, PartialEq)]
pub enum ConstraintKind {
    /// `PRIMARY KEY` or `UNIQUE`
    Key(KeyConstraint),
    /// `FOREIGN KEY ... REFERENCES ...`
    Foreign(ForeignKey),
    /// `CHECK (condition)`
    Check {
        /// `NOT FOR REPLICATION`
        not_for_replication: bool,
        /// The condition.
        condition: Condition,
    },
    /// `DEFAULT expr FOR column`, in ALTER TABLE ... ADD.
    Default {
        /// The value.
        expr: Expr,
        /// The column.
        column: Name,
        /// `WITH VALUES`
        with_values: bool,
    },
}

/// `PRIMARY KEY` or `UNIQUE`
#[derive(Debug, Clone, PartialEq)]
pub struct KeyConstraint {
    /// True for `PRIMARY KEY`, false for `UNIQUE`.
    pub primary: bool,
    /// True for `CLUSTERED`, false for `NONCLUSTERED`, when one is said.
    pub clustered: Option<bool>,
    /// `HASH`, of memory-optimised tables.
    pub hash: bool,
    /// The columns.
    pub columns: Vec<IndexColumn>,
    /// `WITH (...)` or `WITH FILLFACTOR = n`
    pub options: Vec<SettingOption>,
    /// `ON filegroup`
    pub on: Option<Placement>,
}

/// `FOREIGN KEY (columns) REFERENCES table (columns) ...`
#[derive(Debug, Clone, PartialEq)]
pub struct ForeignKey {
    /// The referring columns.
    pub columns: Vec<Name>,
    /// The table referred to.
    pub table: ObjectName,
    /// Its columns; empty for its primary key.
    pub referenced: Vec<Name>,
    /// `ON DELETE`
    pub on_delete: ReferentialAction,
    /// `ON UPDATE`
    pub on_update: ReferentialAction,
    /// `NOT FOR REPLICATION`
    pub not_for_replication: bool,
}

/// What becomes of referring rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ReferentialAction {
    /// `NO ACTION`, and when nothing is said.
    #[default]
    NoAction,
    /// `CASCADE`
    Cascade,
    /// `SET NULL`
    SetNull,
    /// `SET DEFAULT`
    SetDefault,
}

/// `ALTER TABLE`
#[derive(Debug, Clone, PartialEq)]
pub struct AlterTable {
    /// The table.
    pub table: ObjectName,
    /// What is done to it.
    pub action: AlterTableAction,
}

/// What ALTER TABLE does.
#[derive(Debug, Clone, PartialEq)]
pub enum AlterTableAction {
    /// `[WITH CHECK | WITH NOCHECK] ADD ...`
    Add {
        /// True for `WITH CHECK`, false for `WITH NOCHECK`, when one is said.
        check: Option<bool>,
        /// Columns, constraints and indexes.
        elements: Vec<TableElement>,
    },
    /// `ALTER COLUMN c type [COLLATE x] [NULL | NOT NULL]`
    AlterColumn {
        /// The column with its new type.
        column: Box<ColumnDefinition>,
        /// `WITH (ONLINE = ...)`
        options: Vec<SettingOption>,
    },
    /// `ALTER COLUMN c ADD | DROP property`
    AlterColumnProperty {
        /// The column.
        column: Name,
        /// True for `ADD`.
        add: bool,
        /// The property in upper case: `PERSISTED`, `ROWGUIDCOL`, `SPARSE`, `HIDDEN`, `NOT FOR REPLICATION`.
        property: String,
        /// `WITH (ONLINE = ...)`
        options: Vec<SettingOption>,
    },
    /// `ALTER COLUMN c ADD MASKED WITH (FUNCTION = '...') | DROP MASKED`
    AlterColumnMask {
        /// The column.
        column: Name,
        /// The function; none for `DROP`.
        function: Option<String>,
    },
    /// `DROP ...`
    Drop(Vec<DropElement>),
    /// `CHECK CONSTRAINT ...`, `NOCHECK CONSTRAINT ...`
    SetConstraints {
        /// `WITH CHECK` or `WITH NOCHECK` before it.
        check: Option<bool>,
        /// True for `CHECK`, false for `NOCHECK`.
        enable: bool,
        /// The constraints; empty for ALL.
        names: Vec<Name>,
    },
    /// `ENABLE TRIGGER ...`, `DISABLE TRIGGER ...`
    SetTriggers {
        /// True for `ENABLE`.
        enable: bool,
        /// The triggers; empty for ALL.
        names: Vec<Name>,
    },
    /// `REBUILD [PARTITION = n | ALL] [WITH (...)]`
    Rebuild {
        /// The partition; none for all.
        partition: Option<Expr>,
        /// `WITH (...)`
        options: Vec<SettingOption>,
    },
    /// `SET (option = value, ...)`
    Set(Vec<SettingOption>),
    /// `SWITCH [PARTITION n] TO table [PARTITION n]`
    Switch {
        /// The partition left.
        partition: Option<Expr>,
        /// Where it goes.
        target: Box<ObjectName>,
        /// The partition it becomes.
        target_partition: Option<Expr>,
        /// `WITH (WAIT_AT_LOW_PRIORITY (...))`
        options: Vec<SettingOption>,
    },
}

/// One element of ALTER TABLE ... DROP.
#[derive(Debug, Clone, PartialEq)]
pub struct DropElement {
    /// What it is.
    pub kind: DropElementKind,
    /// `IF EXISTS`
    pub if_exists: bool,
    /// Its name. `SYSTEM_TIME` for a period.
    pub name: Name,
    /// `WITH (...)`
    pub options: Vec<SettingOption>,
}

/// The kinds of [`DropElement`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DropElementKind {
    /// `CONSTRAINT c`, and a name alone.
    Constraint,
    /// `COLUMN c`
    Column,
    /// `INDEX i`
    Index,
    /// `PERIOD FOR SYSTEM_TIME`
    Period,
}
