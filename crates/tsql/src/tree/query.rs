//! Queries.

use super::{
    ColumnDefinition, ColumnRef, Condition, Expr, FunctionCall, IndexColumn, Name, ObjectName, Over, Placement,
    SettingOption, Span, Window,
};

/// A query: a query expression with what stands around it.
#[derive(Debug, Clone, PartialEq)]
pub struct Query {
    /// `WITH ...`. In a subquery always empty.
    pub with: With,
    /// The rows.
    pub body: QueryBody,
    /// `ORDER BY`
    pub order_by: Vec<OrderItem>,
    /// `OFFSET n ROWS`
    pub offset: Option<Expr>,
    /// `FETCH NEXT n ROWS ONLY`
    pub fetch: Option<Expr>,
    /// `FOR XML`, `FOR JSON`, `FOR BROWSE`
    pub for_clause: Option<ForClause>,
    /// `OPTION (...)`, of a statement's query only.
    pub options: Vec<QueryHint>,
    /// Where it stands.
    pub span: Span,
}

impl Query {
    /// A query of nothing but rows.
    pub fn bare(body: QueryBody, span: Span) -> Query {
        Query {
            with: With::default(),
            body,
            order_by: Vec::new(),
            offset: None,
            fetch: None,
            for_clause: None,
            options: Vec::new(),
            span,
        }
    }
}

/// The rows of a query.
#[derive(Debug, Clone, PartialEq)]
pub enum QueryBody {
    /// One SELECT.
    Select(Box<Select>),
    /// `a UNION b` and its like.
    SetOperation(Box<SetOperation>),
    /// `VALUES (...), (...)` as a derived table's rows.
    Values(Vec<Vec<Expr>>),
    /// `(SELECT TOP (n) ... ORDER BY ...)`: a query with TOP and an order of its own, in parentheses.
    Part(Box<Query>),
}

/// Set operators.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SetOperator {
    /// `UNION`
    Union,
    /// `UNION ALL`
    UnionAll,
    /// `EXCEPT`
    Except,
    /// `INTERSECT`
    Intersect,
}

impl SetOperator {
    /// Its words.
    pub fn words(self) -> &'static str {
        match self {
            SetOperator::Union => "UNION",
            SetOperator::UnionAll => "UNION ALL",
            SetOperator::Except => "EXCEPT",
            SetOperator::Intersect => "INTERSECT",
        }
    }

    /// How strongly it binds: INTERSECT more than the others.
    pub fn strength(self) -> u8 {
        if self == SetOperator::Intersect { 2 } else { 1 }
    }
}

/// See [`QueryBody::SetOperation`]. A chain is one of these however long it is, so that nothing walks it by recursion.
#[derive(Debug, Clone, PartialEq)]
pub struct SetOperation {
    /// The first rows.
    pub first: QueryBody,
    /// The operators, which bind equally strongly, with the rows to the right of each; what is to its left is all before it.
    /// There is one at least.
    pub rest: Vec<(SetOperator, QueryBody)>,
}

impl SetOperation {
    /// How strongly its operators bind.
    pub fn strength(&self) -> u8 {
        self.rest.first().map_or(0, |(op, _)| op.strength())
    }
}

/// `WITH XMLNAMESPACES ('u' AS p, DEFAULT 'd'), a AS (...), b AS (...)`
#[derive(Debug, Clone, Default, PartialEq)]
pub struct With {
    /// What prefixes stand for in the statement's documents and queries of xml.
    pub namespaces: Vec<XmlNamespace>,
    /// The common tables.
    pub tables: Vec<CommonTable>,
}

impl With {
    /// Whether the statement has no such clause.
    pub fn is_empty(&self) -> bool {
        self.namespaces.is_empty() && self.tables.is_empty()
    }
}

/// One declaration of XMLNAMESPACES.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct XmlNamespace {
    /// None for DEFAULT.
    pub prefix: Option<Name>,
    /// What it stands for.
    pub uri: String,
}

/// One table of a WITH clause.
#[derive(Debug, Clone, PartialEq)]
pub struct CommonTable {
    /// Its name.
    pub name: Name,
    /// Its columns' names, when they are given.
    pub columns: Vec<Name>,
    /// Its rows.
    pub query: Query,
}

/// One item of ORDER BY.
#[derive(Debug, Clone, PartialEq)]
pub struct OrderItem {
    /// By what: an expression, an output column's name or its number.
    pub expr: Expr,
    /// `DESC`
    pub descending: bool,
}

/// `FOR XML ...` or `FOR JSON ...`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForClause {
    /// The format: `XML`, `JSON` or `BROWSE`.
    pub format: ForFormat,
    /// The mode and the directives, in upper case: `PATH`, `ROOT`, ...; a text in parentheses follows its word.
    pub directives: Vec<(String, Option<String>)>,
}

/// The formats of [`ForClause`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ForFormat {
    /// `FOR XML`
    Xml,
    /// `FOR JSON`
    Json,
    /// `FOR BROWSE`
    Browse,
}

/// One hint of OPTION.
#[derive(Debug, Clone, PartialEq)]
pub struct QueryHint {
    /// Its words in upper case, joined by one blank: `MAXDOP`, `HASH JOIN`, `OPTIMIZE FOR UNKNOWN`, `USE HINT`.
    pub name: String,
    /// Its value: `MAXDOP 4`.
    pub value: Option<Expr>,
    /// What stood in parentheses: the hints of `USE HINT`, the values of `OPTIMIZE FOR` (`@v` and its value, none for UNKNOWN).
    pub list: Vec<(Expr, Option<Expr>)>,
    /// The table of `TABLE HINT`, by its name or alias, and its hints.
    pub table: Option<(ObjectName, Vec<TableHint>)>,
}

/// One SELECT.
#[derive(Debug, Clone, PartialEq)]
pub struct Select {
    /// `DISTINCT`
    pub distinct: bool,
    /// `TOP`
    pub top: Option<Top>,
    /// The select list, at least one item.
    pub items: Vec<SelectItem>,
    /// `INTO table`
    pub into: Option<ObjectName>,
    /// `ON filegroup` behind the table of INTO
    pub into_on: Option<Box<Placement>>,
    /// `FROM`: tables joined by commas; empty without FROM.
    pub from: Vec<TableSource>,
    /// `WHERE`
    pub filter: Option<Condition>,
    /// `GROUP BY`
    pub group_by: Vec<GroupingItem>,
    /// `HAVING`
    pub having: Option<Condition>,
    /// `WINDOW name AS (...)`
    pub windows: Vec<(Name, Window)>,
    /// Where it stands.
    pub span: Span,
}

/// `TOP (n) [PERCENT] [WITH TIES]`
#[derive(Debug, Clone, PartialEq)]
pub struct Top {
    /// How many.
    pub count: Expr,
    /// `PERCENT`
    pub percent: bool,
    /// `WITH TIES`
    pub with_ties: bool,
}

/// One item of a select list.
#[derive(Debug, Clone, PartialEq)]
pub enum SelectItem {
    /// `*` or `t.*`
    Star {
        /// The table.
        qualifier: Option<Box<ObjectName>>,
        /// Where it stands.
        span: Span,
    },
    /// `expr`, `expr AS alias`, `alias = expr`
    Expr {
        /// The value.
        expr: Expr,
        /// Its name.
        alias: Option<Name>,
    },
    /// `@v = expr`, `@v += expr`
    Assign {
        /// The variable.
        variable: Name,
        /// The operator.
        op: AssignOp,
        /// The value.
        value: Expr,
    },
}

/// Assignment operators.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AssignOp {
    /// `=`
    Set,
    /// `+=`
    Add,
    /// `-=`
    Subtract,
    /// `*=`
    Multiply,
    /// `/=`
    Divide,
    /// `%=`
    Modulo,
    /// `&=`
    BitAnd,
    /// `|=`
    BitOr,
    /// `^=`
    BitXor,
    /// `||=`
    Concat,
}

/// One item of GROUP BY.
#[derive(Debug, Clone, PartialEq)]
pub enum GroupingItem {
    /// An expression.
    Expr(Expr),
    /// `(a, b)` as one element; empty for `()`.
    Composite(Vec<Expr>),
    /// `ROLLUP (...)`: of expressions and composites.
    Rollup(Vec<GroupingItem>),
    /// `CUBE (...)`: of expressions and composites.
    Cube(Vec<GroupingItem>),
    /// `GROUPING SETS (...)`
    Sets(Vec<GroupingItem>),
}

/// One source of rows in FROM.
#[derive(Debug, Clone, PartialEq)]
pub enum TableSource {
    /// A table, view, common table or synonym.
    Table(Box<TableRef>),
    /// `@t`
    Variable {
        /// The variable, with its `@`.
        name: Name,
        /// Its alias.
        alias: Option<Name>,
    },
    /// A table-valued function.
    Function(Box<TableFunction>),
    /// `OPENROWSET(BULK 'file', ...) AS t (a, b)`
    Bulk(Box<BulkRowset>),
    /// `(SELECT ...) AS t (a, b)`; also of VALUES.
    Derived(Box<DerivedTable>),
    /// A join.
    Join(Box<Join>),
    /// `t PIVOT (...) AS p`
    Pivot(Box<Pivot>),
    /// `t UNPIVOT (...) AS p`
    Unpivot(Box<Unpivot>),
}

/// See [`TableSource::Table`].
#[derive(Debug, Clone, PartialEq)]
pub struct TableRef {
    /// The table.
    pub name: ObjectName,
    /// `FOR SYSTEM_TIME ...`
    pub system_time: Option<SystemTime>,
    /// Its alias.
    pub alias: Option<Name>,
    /// `TABLESAMPLE (n PERCENT|ROWS)`
    pub sample: Option<TableSample>,
    /// Hints, with or without WITH.
    pub hints: Vec<TableHint>,
}

/// The time a system-versioned table is read at.
#[derive(Debug, Clone, PartialEq)]
pub enum SystemTime {
    /// `AS OF t`
    AsOf(Expr),
    /// `FROM a TO b`
    FromTo(Box<[Expr; 2]>),
    /// `BETWEEN a AND b`
    Between(Box<[Expr; 2]>),
    /// `CONTAINED IN (a, b)`
    ContainedIn(Box<[Expr; 2]>),
    /// `ALL`
    All,
}

/// `TABLESAMPLE (n [PERCENT|ROWS]) [REPEATABLE (seed)]`
#[derive(Debug, Clone, PartialEq)]
pub struct TableSample {
    /// How many.
    pub count: Expr,
    /// True for `ROWS`.
    pub rows: bool,
    /// `REPEATABLE (seed)`
    pub seed: Option<Expr>,
}

/// A table hint.
#[derive(Debug, Clone, PartialEq)]
pub struct TableHint {
    /// The hint in upper case: `NOLOCK`, `UPDLOCK`, `INDEX`, ...
    pub name: String,
    /// The indexes of `INDEX (...)` and `FORCESEEK (...)`, by name or number; the number of SPATIAL_WINDOW_MAX_CELLS.
    pub arguments: Vec<Expr>,
}

/// See [`TableSource::Bulk`].
#[derive(Debug, Clone, PartialEq)]
pub struct BulkRowset {
    /// The file.
    pub file: String,
    /// What it is, and how it is read: `SINGLE_BLOB`, `FORMATFILE = 'file'`, ..., without ORDER.
    pub options: Vec<SettingOption>,
    /// `ORDER (...)`: how the file's rows are sorted.
    pub order: Vec<IndexColumn>,
    /// `UNIQUE` behind that.
    pub unique: bool,
    /// `WITH (column type position, ...)`
    pub schema: Vec<BulkColumn>,
    /// Its alias.
    pub alias: Option<Name>,
    /// The columns' names.
    pub columns: Vec<Name>,
}

/// One column of the WITH clause of OPENROWSET(BULK ...).
#[derive(Debug, Clone, PartialEq)]
pub struct BulkColumn {
    /// The column and its type.
    pub definition: ColumnDefinition,
    /// Which field of the file it is, from 1: an integer.
    pub field: Option<Expr>,
}

/// See [`TableSource::Function`].
#[derive(Debug, Clone, PartialEq)]
pub struct TableFunction {
    /// What the method of the call's name is called on, where that is no name: `@x.nodes('...')`.
    pub receiver: Option<Expr>,
    /// The call; never with a star, DISTINCT or OVER.
    pub call: FunctionCall,
    /// Its alias.
    pub alias: Option<Name>,
    /// The columns' names.
    pub columns: Vec<Name>,
    /// `WITH (column type 'path', ...)` of OPENJSON and OPENXML.
    pub schema: Vec<JsonColumn>,
}

/// One column of OPENJSON's WITH clause.
#[derive(Debug, Clone, PartialEq)]
pub struct JsonColumn {
    /// The column and its type.
    pub definition: ColumnDefinition,
    /// The path.
    pub path: Option<String>,
    /// `AS JSON`
    pub as_json: bool,
}

/// See [`TableSource::Derived`].
#[derive(Debug, Clone, PartialEq)]
pub struct DerivedTable {
    /// Its rows.
    pub query: Query,
    /// Its name.
    pub alias: Name,
    /// The columns' names.
    pub columns: Vec<Name>,
}

/// The kinds of joins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JoinKind {
    /// `[INNER] JOIN`
    Inner,
    /// `LEFT [OUTER] JOIN`
    Left,
    /// `RIGHT [OUTER] JOIN`
    Right,
    /// `FULL [OUTER] JOIN`
    Full,
    /// `CROSS JOIN`
    Cross,
    /// `CROSS APPLY`
    CrossApply,
    /// `OUTER APPLY`
    OuterApply,
}

/// The algorithm a join asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JoinHint {
    /// `LOOP`
    Loop,
    /// `HASH`
    Hash,
    /// `MERGE`
    Merge,
    /// `REMOTE`
    Remote,
}

/// See [`TableSource::Join`].
#[derive(Debug, Clone, PartialEq)]
pub struct Join {
    /// The left rows.
    pub left: TableSource,
    /// The kind.
    pub kind: JoinKind,
    /// The algorithm.
    pub hint: Option<JoinHint>,
    /// The right rows.
    pub right: TableSource,
    /// `ON`; absent for CROSS JOIN and APPLY only.
    pub on: Option<Condition>,
}

/// See [`TableSource::Pivot`].
#[derive(Debug, Clone, PartialEq)]
pub struct Pivot {
    /// The rows.
    pub source: TableSource,
    /// The aggregate.
    pub aggregate: FunctionCall,
    /// `FOR column`
    pub column: ColumnRef,
    /// `IN (...)`: the values, which become columns.
    pub values: Vec<Name>,
    /// Its name.
    pub alias: Name,
}

/// See [`TableSource::Unpivot`].
#[derive(Debug, Clone, PartialEq)]
pub struct Unpivot {
    /// The rows.
    pub source: TableSource,
    /// The column that receives the values.
    pub value: Name,
    /// The column that receives the names.
    pub column: Name,
    /// `IN (...)`: the columns turned into rows.
    pub columns: Vec<ColumnRef>,
    /// Its name.
    pub alias: Name,
}

impl Over {
    /// The window, when it is written out.
    pub fn window(&self) -> Option<&Window> {
        match self {
            Over::Window(window) => Some(window),
            Over::Name(_) => None,
        }
    }
}
