//! Statements that change rows.

use super::{
    AssignOp, ColumnRef, Condition, Execute, Expr, IndexColumn, Name, ObjectName, Query, QueryHint, SelectItem,
    SettingOption, TableHint, TableSource, Top, With,
};

/// What INSERT, UPDATE, DELETE and MERGE change.
#[derive(Debug, Clone, PartialEq)]
pub enum Target {
    /// A table or view; of UPDATE and DELETE also an alias of FROM.
    Table {
        /// Its name.
        name: ObjectName,
        /// Hints.
        hints: Vec<TableHint>,
    },
    /// A table variable, with its `@`.
    Variable(Name),
    /// `OPENQUERY(...)`, `OPENROWSET(...)`
    Function(Box<super::FunctionCall>),
}

/// `INSERT`
#[derive(Debug, Clone, PartialEq)]
pub struct Insert {
    /// `WITH ...`
    pub with: With,
    /// `TOP`
    pub top: Option<Top>,
    /// Into what.
    pub target: Target,
    /// The columns, as written; empty for all.
    pub columns: Vec<Name>,
    /// `OUTPUT`
    pub output: Option<OutputClause>,
    /// The rows.
    pub source: InsertSource,
    /// `OPTION (...)` unless the source is a query, which then has it.
    pub options: Vec<QueryHint>,
}

/// The rows of an INSERT.
#[derive(Debug, Clone, PartialEq)]
pub enum InsertSource {
    /// `VALUES (...), (...)`
    Values(Vec<Vec<InsertValue>>),
    /// `SELECT ...`
    Query(Box<Query>),
    /// `EXEC ...`
    Execute(Box<Execute>),
    /// `DEFAULT VALUES`
    DefaultValues,
}

/// A value given to a column.
#[derive(Debug, Clone, PartialEq)]
pub enum InsertValue {
    /// An expression.
    Expr(Expr),
    /// `DEFAULT`
    Default,
}

/// `OUTPUT ... [INTO ...] [OUTPUT ...]`
#[derive(Debug, Clone, PartialEq)]
pub struct OutputClause {
    /// What goes into a table: columns of `inserted` and `deleted`, expressions and `$action`. Empty without INTO.
    pub into_items: Vec<SelectItem>,
    /// Where [`OutputClause::into_items`] go.
    pub into: Option<OutputInto>,
    /// What is sent to the client; may be empty with INTO.
    pub items: Vec<SelectItem>,
}

/// `INTO target (columns)`
#[derive(Debug, Clone, PartialEq)]
pub struct OutputInto {
    /// A table or table variable.
    pub target: Target,
    /// Its columns.
    pub columns: Vec<Name>,
    /// The query that the rows pass on their way: `INSERT target SELECT ... FROM (DELETE ... OUTPUT ...) AS d` is the inner statement with
    /// its OUTPUT going INTO the target.
    pub through: Option<Box<ChangedRows>>,
}

/// `SELECT items FROM (statement) AS alias (columns) WHERE filter`, of the rows that a changing statement gives.
#[derive(Debug, Clone, PartialEq)]
pub struct ChangedRows {
    /// The select list.
    pub items: Vec<SelectItem>,
    /// The name of the rows.
    pub alias: Name,
    /// Their columns' names, when they are given.
    pub columns: Vec<Name>,
    /// `WHERE`
    pub filter: Option<Condition>,
}

/// `UPDATE`
#[derive(Debug, Clone, PartialEq)]
pub struct Update {
    /// `WITH ...`
    pub with: With,
    /// `TOP`
    pub top: Option<Top>,
    /// What is changed.
    pub target: Target,
    /// `SET`
    pub assignments: Vec<Assignment>,
    /// `OUTPUT`
    pub output: Option<OutputClause>,
    /// `FROM`
    pub from: Vec<TableSource>,
    /// `WHERE`
    pub filter: Option<RowFilter>,
    /// `OPTION (...)`
    pub options: Vec<QueryHint>,
}

/// `WHERE` of UPDATE and DELETE.
#[derive(Debug, Clone, PartialEq)]
pub enum RowFilter {
    /// A condition.
    Condition(Condition),
    /// `CURRENT OF cursor`
    CurrentOf(super::CursorName),
}

impl RowFilter {
    /// The condition, unless it is a cursor's row.
    pub fn condition(&self) -> Option<&Condition> {
        match self {
            RowFilter::Condition(condition) => Some(condition),
            RowFilter::CurrentOf(_) => None,
        }
    }
}

/// One assignment of UPDATE's SET.
#[derive(Debug, Clone, PartialEq)]
pub enum Assignment {
    /// `column = value`, `column += value`
    Column {
        /// The column.
        column: ColumnRef,
        /// The operator.
        op: AssignOp,
        /// The value.
        value: InsertValue,
    },
    /// `@v = value`, `@v += value`
    Variable {
        /// The variable, with its `@`.
        variable: Name,
        /// The operator.
        op: AssignOp,
        /// The value.
        value: Expr,
    },
    /// `@v = column = value`: the column's new value goes into the variable too.
    Both {
        /// The variable, with its `@`.
        variable: Name,
        /// The column.
        column: ColumnRef,
        /// The operator before the value.
        op: AssignOp,
        /// The value.
        value: Expr,
    },
    /// `column.method(...)` such as `.WRITE(x, offset, length)`
    Method {
        /// The column.
        column: ColumnRef,
        /// The method.
        method: Name,
        /// Its arguments.
        arguments: Vec<Expr>,
    },
}

/// `DELETE`
#[derive(Debug, Clone, PartialEq)]
pub struct Delete {
    /// `WITH ...`
    pub with: With,
    /// `TOP`
    pub top: Option<Top>,
    /// From what.
    pub target: Target,
    /// `OUTPUT`
    pub output: Option<OutputClause>,
    /// The second FROM.
    pub from: Vec<TableSource>,
    /// `WHERE`
    pub filter: Option<RowFilter>,
    /// `OPTION (...)`
    pub options: Vec<QueryHint>,
}

/// `MERGE`
#[derive(Debug, Clone, PartialEq)]
pub struct Merge {
    /// `WITH ...`
    pub with: With,
    /// `TOP`
    pub top: Option<Top>,
    /// What is changed.
    pub target: Target,
    /// The target's alias.
    pub alias: Option<Name>,
    /// `USING`
    pub source: TableSource,
    /// `ON`
    pub on: Condition,
    /// The WHEN clauses, at least one.
    pub clauses: Vec<MergeClause>,
    /// `OUTPUT`
    pub output: Option<OutputClause>,
    /// `OPTION (...)`
    pub options: Vec<QueryHint>,
}

/// One WHEN of MERGE.
#[derive(Debug, Clone, PartialEq)]
pub struct MergeClause {
    /// For which rows.
    pub when: MergeWhen,
    /// `AND condition`
    pub condition: Option<Condition>,
    /// What is done.
    pub action: MergeAction,
}

/// The rows a WHEN speaks of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MergeWhen {
    /// `WHEN MATCHED`
    Matched,
    /// `WHEN NOT MATCHED [BY TARGET]`
    NotMatchedByTarget,
    /// `WHEN NOT MATCHED BY SOURCE`
    NotMatchedBySource,
}

/// What a WHEN does.
#[derive(Debug, Clone, PartialEq)]
pub enum MergeAction {
    /// `UPDATE SET ...`
    Update(Vec<Assignment>),
    /// `DELETE`
    Delete,
    /// `INSERT [(columns)] VALUES (...)`
    Insert {
        /// The columns; empty for all.
        columns: Vec<Name>,
        /// The values; empty for `DEFAULT VALUES`.
        values: Vec<InsertValue>,
    },
}

/// `BULK INSERT`
#[derive(Debug, Clone, PartialEq)]
pub struct BulkInsert {
    /// The table.
    pub table: ObjectName,
    /// The file.
    pub file: String,
    /// `WITH (...)`, without ORDER.
    pub options: Vec<SettingOption>,
    /// `ORDER (...)`: how the file's rows are sorted.
    pub order: Vec<IndexColumn>,
}
