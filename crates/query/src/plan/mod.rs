//! Physical plans: immutable trees that sessions share. What changes while a plan runs lives in the cursors of [`crate::executor`].
//!
//! Operators work row at a time over registers: `next` leaves the row's values in slots, and the operators above read them
//! there. So a filter costs no copy, a join is two operators writing to different registers, and a correlated subquery simply
//! reads the registers of the row outside it. Parts of a plan run in batches instead, see [`crate::executor::batch`].

mod document;
mod drivers;
mod explicit;
mod live;
mod modify;
mod more;
mod row_code;
mod trigger;
mod uses;

pub use document::{Document, Language, Level, Member, OpenColumn, OpenJson, XmlNodes};
pub use explicit::{ExplicitColumn, ExplicitForm, ExplicitTag};
pub use live::LiveSlots;
pub use modify::{Branch, BranchAction, BranchRows, Change, OutputInto, OutputPlan, Through};
pub use more::{
    CommonRows, Expand, Frame, FrameEnd, FullJoin, JoinKey, More, NextNumber, Recursive, Sharing, Split, Spool,
    TopCount, WholeRows, WideTop, WindowFunction, Windows,
};

pub use row_code::RowCodeCell;
pub(crate) use row_code::{Clock, RowCode};
pub use trigger::{FiringEvent, Instead, Triggers};

use std::cmp::Ordering;
use std::sync::Arc;

use crate::access::{KeyColumn, Table};
use crate::bulk::{BulkFile, FileTable, FileValue};
use crate::expression::{Expr, Integer, Predicate, Width};
use crate::output::ColumnInfo;
use pikepole_engine::{Function, LockMode, MemoryLevel, ReadHints};
use pikepole_types::{Collation, SqlType, Value};

/// A range of registers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Registers {
    /// The first slot.
    pub first: usize,
    /// How many.
    pub count: usize,
}

impl Registers {
    /// The slots as a range of indexes.
    pub fn range(self) -> std::ops::Range<usize> {
        self.first..self.first + self.count
    }
}

/// A value that bounds a key column.
#[derive(Debug, Clone)]
pub struct KeyValue {
    /// The value to compare with: of the column's type, or a bigint that may be out of an integer column's range.
    pub expr: Expr,
    /// The key column's type.
    pub ty: SqlType,
    /// The key's order is not that of the comparison: only texts that compare alike in both bound it.
    pub plain_only: bool,
}

/// The part of a table's key order that a scan visits.
#[derive(Debug, Clone, Default)]
pub struct KeyRange {
    /// Values of the leading key columns, compared for equality.
    pub prefix: Vec<KeyValue>,
    /// Values of which the next key column has one. Their parts of the order are visited one after the other, and nothing bounds the columns behind.
    pub among: Vec<KeyValue>,
    /// A lower bound on the next key column, and whether it is included.
    pub low: Option<(KeyValue, bool)>,
    /// An upper bound on the next key column, and whether it is included.
    pub high: Option<(KeyValue, bool)>,
    /// True when the prefix is the whole clustered key: at most one row.
    pub point: bool,
    /// The secondary index whose key it is; the clustered one's when absent.
    pub index: Option<i32>,
    /// True when the key column that `low` and `high` bound is descending.
    pub descending: bool,
}

impl KeyRange {
    /// Whether it is all rows, in the order in which they are stored.
    pub fn is_whole(&self) -> bool {
        !self.is_seek() && self.index.is_none() && !self.point
    }

    /// Whether a value says where it begins or ends.
    pub fn is_seek(&self) -> bool {
        let KeyRange { prefix, among, low, high, point: _, index: _, descending: _ } = self;
        !(prefix.is_empty() && among.is_empty() && low.is_none() && high.is_none())
    }

    /// All values that it is made of.
    pub fn values(&self) -> impl Iterator<Item = &KeyValue> {
        let bounds = self.low.iter().chain(&self.high).map(|(value, _)| value);
        self.prefix.iter().chain(&self.among).chain(bounds)
    }
}

/// That a subquery's outcome narrows a scan to rows whose value it has, which can be looked up where they are few.
#[derive(Debug, Clone)]
pub struct Narrowing {
    /// The slot of the subquery's outcome.
    pub outcome: usize,
    /// The secondary index whose key begins with that column; the clustered one when absent.
    pub index: Option<i32>,
}

/// The slots that a row's place is left in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowPlace {
    /// Of the locator, as bytes.
    pub locator: usize,
    /// Of `%%physloc%%`.
    pub physloc: Option<usize>,
    /// Of `%%lockres%%`.
    pub lockres: Option<usize>,
}

impl RowPlace {
    /// All of them.
    pub fn slots(self) -> impl Iterator<Item = usize> {
        [Some(self.locator), self.physloc, self.lockres].into_iter().flatten()
    }
}

/// A scan of a table.
#[derive(Debug, Clone)]
pub struct Scan {
    /// The table.
    pub table: Arc<Table>,
    /// Where its columns go: column `i` to slot `first + i`.
    pub registers: Registers,
    /// The columns that are read, ascending.
    pub wanted: Vec<usize>,
    /// The range of keys; everything when empty.
    pub range: KeyRange,
    /// What can narrow it when it is everything.
    pub narrowing: Option<Narrowing>,
    /// True to visit keys downward.
    pub reverse: bool,
    /// Where the place of each row is left, for a statement that changes the rows or reads a virtual column.
    pub place: Option<Box<RowPlace>>,
    /// What it locks.
    pub hints: ReadHints,
    /// The name that FROM gives the table, when it is not the table's own.
    pub alias: Option<Box<str>>,
}

impl Scan {
    /// What narrows it, if nothing else says where it begins.
    pub fn narrowed(&self) -> Option<&Narrowing> {
        self.narrowing.as_ref().filter(|_| self.range.is_whole())
    }

    /// The key that its rows can be looked up in: of the index of its range, or of what narrows it.
    pub(crate) fn key(&self) -> &[KeyColumn] {
        let index = self.range.index.or_else(|| self.narrowed()?.index);
        let index = index.and_then(|id| self.table.indexes.iter().find(|index| index.id == id));
        index.map_or(&self.table.key, |index| &index.key)
    }

    /// Whether at most one row can be given, found by its whole clustered key.
    pub fn is_point(&self) -> bool {
        self.range.point
    }

    /// Whether it looks rows of a table of the database up by a key, and locks none.
    pub(crate) fn is_lookup(&self) -> bool {
        let locks = self.hints.asks_for_newest();
        self.range.is_seek() && self.narrowing.is_none() && self.place.is_none() && !locks && !self.table.is_temporary()
    }

    /// Whether it reads all rows of a table of the database, in the order in which they are stored, and locks none.
    pub fn is_whole(&self) -> bool {
        let all = self.range.is_whole() && self.narrowing.is_none();
        let locks = self.hints.asks_for_newest();
        all && !self.reverse && self.place.is_none() && !locks && !self.table.is_temporary()
    }
}

/// How a join treats left rows without a match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JoinKind {
    /// Dropped.
    Inner,
    /// Kept, with NULLs at the right.
    Left,
}

/// What a subquery leaves in its result slot.
#[derive(Debug, Clone)]
pub enum Test {
    /// The single row's value, or NULL; more than one row is error 512.
    Scalar(Expr),
    /// Whether there is a row, as a bit.
    Exists,
    /// Whether `left` equals one of the rows' values: 1, 0 or NULL. Both are of one type.
    In {
        /// The value looked for, over the row outside.
        left: Expr,
        /// The value of each row.
        right: Expr,
        /// How texts compare.
        collation: Collation,
    },
    /// Whether `left op value` holds for one of the rows' values, or for all: 1, 0 or NULL. All are of one type.
    Extremes {
        /// The value compared, over the row outside.
        left: Expr,
        /// The value of each row.
        right: Expr,
        /// How.
        op: crate::expression::Comparison,
        /// ALL; otherwise ANY.
        all: bool,
        /// How texts compare.
        collation: Collation,
    },
}

impl Test {
    /// True if all rows of the subquery are read, where nothing fails.
    pub(crate) fn reads_all_rows(&self) -> bool {
        !matches!(self, Test::Exists)
    }
}

/// A condition on the row outside that a subquery's evaluation hangs on: a branch of CASE that is taken, or not.
#[derive(Debug, Clone)]
pub struct Guard {
    /// The condition.
    pub condition: Predicate,
    /// Whether it must hold, or must not.
    pub holds: bool,
}

/// One aggregate of a grouping.
#[derive(Debug, Clone)]
pub struct Aggregate {
    /// The function.
    pub function: pikepole_types::Aggregate,
    /// Its argument; none for COUNT(*).
    pub input: Option<Expr>,
    /// The argument's type after the conversion the function asks for.
    pub input_type: SqlType,
    /// How texts compare.
    pub collation: Collation,
    /// DISTINCT: every value counts once.
    pub distinct: bool,
    /// What STRING_AGG puts between two texts, or the place of a percentile.
    pub separator: Option<Expr>,
    /// The slot of the result.
    pub slot: usize,
}

/// A column to order or group by.
#[derive(Debug, Clone)]
pub struct SortKey {
    /// The value.
    pub expr: Expr,
    /// DESC.
    pub descending: bool,
    /// How texts compare.
    pub collation: Collation,
}

impl SortKey {
    /// Ascending, of a value that is no text or compares as the default collation says.
    pub(crate) fn plain(expr: Expr) -> SortKey {
        SortKey { expr, descending: false, collation: Collation::default() }
    }

    /// How two values of the key are ordered, whichever way it goes.
    pub(crate) fn order(&self, a: &Value, b: &Value) -> Ordering {
        pikepole_types::order(a, b, self.collation)
    }

    /// Whether the values of such keys are the same.
    pub(crate) fn same<'k>(keys: impl IntoIterator<Item = &'k SortKey>, left: &[Value], right: &[Value]) -> bool {
        keys.into_iter().zip(left.iter().zip(right)).all(|(key, (left, right))| key.order(left, right).is_eq())
    }
}

/// The numbers of GENERATE_SERIES.
#[derive(Debug, Clone)]
pub struct Series {
    /// The first.
    pub start: Integer,
    /// No number is beyond it.
    pub stop: Integer,
    /// From one to the next; 1 or -1, towards `stop`, when absent.
    pub step: Option<Integer>,
    /// Where they go.
    pub slot: usize,
    /// Their type.
    pub width: Width,
}

/// What is counted over a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Numbering {
    /// ROW_NUMBER
    Row,
    /// RANK
    Rank,
    /// DENSE_RANK
    DenseRank,
}

/// The rows of a file.
#[derive(Debug, Clone)]
pub struct FileSource {
    /// The file.
    pub(crate) file: Arc<BulkFile>,
    /// Where its values go.
    pub registers: Registers,
}

/// A relational operator.
#[derive(Debug, Clone)]
pub enum Node {
    /// One row without columns.
    One,
    /// A table.
    Scan(Box<Scan>),
    /// A view of the host, a function, or `inserted` or `deleted`; its rows are fetched before the statement starts.
    Virtual {
        /// The index among the statement's virtual tables.
        index: usize,
        /// Where the columns go.
        registers: Registers,
    },
    /// A function of the host or of several statements, called anew for each row outside it, whose registers its arguments read.
    Call {
        /// The index among the statement's virtual tables.
        index: usize,
        /// The arguments.
        arguments: Vec<Expr>,
        /// Where the columns go.
        registers: Registers,
    },
    /// Rows of expressions.
    Values {
        /// The rows.
        rows: Vec<Vec<Expr>>,
        /// Where the columns go.
        registers: Registers,
    },
    /// A series of numbers.
    Series(Box<Series>),
    /// The rows of a file that is being loaded.
    File(FileSource),
    /// Rows that are there already.
    Kept {
        /// The rows.
        rows: Arc<Vec<Vec<Value>>>,
        /// Where the columns go.
        registers: Registers,
    },
    /// Rows for which a condition holds.
    Filter {
        /// The rows.
        input: Box<Node>,
        /// The condition.
        predicate: Predicate,
    },
    /// Slots computed for each row.
    Compute {
        /// The rows.
        input: Box<Node>,
        /// What is stored where.
        assignments: Vec<(usize, Expr)>,
    },
    /// A nested loop: the right side opens anew for each left row and may read its registers.
    Join {
        /// The outer side.
        left: Box<Node>,
        /// The inner side.
        right: Box<Node>,
        /// What becomes of unmatched rows.
        kind: JoinKind,
        /// The join condition.
        on: Option<Predicate>,
        /// The right side's registers, set to NULL for an unmatched row.
        right_registers: Vec<Registers>,
    },
    /// A subquery evaluated for each row, or once when it reads nothing of the row.
    Apply {
        /// The rows.
        input: Box<Node>,
        /// The subquery.
        subquery: Box<Node>,
        /// What it leaves.
        test: Test,
        /// The slot of the result.
        slot: usize,
        /// True when it reads registers of the row outside.
        correlated: bool,
        /// It is evaluated only for rows where all of these are as they must be, and leaves NULL for others.
        guards: Vec<Guard>,
        /// The slots of the row outside that decide the result, by whose values it is remembered; none where it is not.
        memo: Option<Box<[usize]>>,
    },
    /// Groups, by hash. Without keys there is one group, even of no rows.
    Group {
        /// The rows.
        input: Box<Node>,
        /// The grouping values and the slots they are left in.
        keys: Vec<(SortKey, usize)>,
        /// The aggregates.
        aggregates: Vec<Aggregate>,
    },
    /// Rows in order; `carry` are the slots the operators above read.
    Sort {
        /// The rows.
        input: Box<Node>,
        /// By what.
        keys: Vec<SortKey>,
        /// The slots kept with each row.
        carry: Vec<usize>,
    },
    /// Rows numbered as they come: in the order of the partition and then of the window.
    Number {
        /// The rows.
        input: Box<Node>,
        /// Where numbering begins anew.
        partition: Vec<SortKey>,
        /// What ranks compare.
        order: Vec<SortKey>,
        /// What is counted, and the slot of each number.
        functions: Vec<(Numbering, usize)>,
    },
    /// The first rows.
    Top {
        /// The rows.
        input: Box<Node>,
        /// Rows to leave out first.
        offset: Option<Integer>,
        /// Rows to give; all when absent.
        count: Option<Integer>,
    },
    /// The rows of several inputs, one after the other.
    Concat {
        /// The inputs and the values each gives for the common registers.
        inputs: Vec<(Node, Vec<Expr>)>,
        /// Where the values go.
        registers: Registers,
    },
    /// One of the operators that fewer statements need.
    More(Box<More>),
}

/// Rows that a statement reads and no operator makes: they are fetched before it begins.
#[derive(Debug, Clone)]
pub enum VirtualSource {
    /// A view or function of the host's.
    Host {
        /// The host's number for it.
        id: u32,
        /// Its arguments, evaluated before the statement begins; `None` for the function of a [`Node::Call`].
        arguments: Option<Vec<Expr>>,
    },
    /// A function of several statements.
    Function {
        /// The function.
        function: Arc<Function>,
        /// Its arguments, each of its parameter's type; `None` for the function of a [`Node::Call`].
        arguments: Option<Vec<Expr>>,
    },
    /// One row: a file as a value.
    File(FileValue),
    /// The rows of a file.
    FileTable(Arc<FileTable>),
    /// `inserted` of the running trigger.
    Inserted,
    /// `deleted` of the running trigger.
    Deleted,
    /// The row that a cursor stands on, to be changed: the table's columns, and its place.
    Current(Box<CurrentRow>),
    /// The same as it is now, to be read: no row when it is gone.
    CurrentAgain(Box<CurrentRow>),
}

/// See [`VirtualSource::Current`].
#[derive(Debug, Clone)]
pub struct CurrentRow {
    /// The cursor.
    pub cursor: pikepole_tsql::CursorName,
    /// The table whose row it is.
    pub table: Arc<pikepole_engine::Table>,
    /// The columns that SET names.
    pub sets: Vec<String>,
    /// A virtual column is read.
    pub is_placed: bool,
}

impl VirtualSource {
    /// Whether it is a function of several statements.
    pub fn is_function(&self) -> bool {
        matches!(self, VirtualSource::Function { .. })
    }
}

/// What clients are told of a statement that stores values into variables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Told {
    /// How many rows did: a SELECT.
    Rows,
    /// That one did: SET.
    One,
    /// Nothing: the value is part of another statement, as that of IF and RETURN is.
    Nothing,
}

/// What a bound statement does with its rows.
#[derive(Debug, Clone)]
pub enum Action {
    /// Sends them to the client.
    Select {
        /// The columns' names and types.
        columns: Vec<ColumnInfo>,
        /// Their values.
        values: Vec<Expr>,
    },
    /// Stores values into variables, row after row.
    Assign {
        /// What is stored where, converted to the variable's type.
        assignments: Vec<(usize, Expr)>,
        /// What clients are told of it.
        told: Told,
    },
    /// Inserts them.
    Insert(Box<Insert>),
    /// Changes them.
    Update(Box<Update>),
    /// Deletes the rows.
    Delete(Box<Delete>),
    /// Changes rows of one table as rows joined to it say.
    Change(Box<Change>),
    /// Changes nothing: the rows are for an INSTEAD OF trigger of a view.
    Instead(Box<Instead>),
}

impl Action {
    /// The table whose rows it changes.
    pub(crate) fn changed_table(&self) -> Option<&Arc<Table>> {
        match self {
            Action::Insert(insert) => Some(&insert.table),
            Action::Update(update) => Some(&update.changed.table),
            Action::Delete(delete) => Some(&delete.changed.table),
            Action::Change(change) => Some(&change.table),
            Action::Select { .. } | Action::Assign { .. } | Action::Instead(_) => None,
        }
    }
}

/// The source of one column of an inserted row.
#[derive(Debug, Clone)]
pub enum ColumnSource {
    /// Stays as the template row has it.
    Template,
    /// An expression, already of the column's type.
    Value(Expr),
    /// The next identity value.
    Identity,
}

/// An INSERT.
#[derive(Debug, Clone)]
pub struct Insert {
    /// The table.
    pub table: Arc<Table>,
    /// One source per column of the table, for each row of a VALUES list (one list for INSERT ... SELECT).
    pub rows: Vec<Vec<ColumnSource>>,
    /// The row that holds the constants of a single-row INSERT; constants are never evaluated again.
    pub template: Vec<Value>,
    /// The columns that must not be NULL.
    pub required: Vec<usize>,
    /// The column given explicitly under IDENTITY_INSERT.
    pub explicit_identity: Option<usize>,
    /// The lock on the whole table that a hint asks for.
    pub table_lock: Option<LockMode>,
    /// The level that a hint asks for, for an in-memory table.
    pub memory_level: Option<MemoryLevel>,
    /// The plan inserts into the table no more than once: so that may get other storage, if it is empty.
    pub fills: bool,
    /// OUTPUT.
    pub output: Option<OutputPlan>,
    /// The machine code that makes its row in a natively compiled module.
    pub code: RowCodeCell,
}

/// The table that an UPDATE or DELETE changes. Its rows are found in the statement's snapshot and changed in their newest
/// version, on which the condition is tested again.
#[derive(Debug, Clone)]
pub struct Changed {
    /// The table.
    pub table: Arc<Table>,
    /// The registers of the row at hand: all columns.
    pub registers: Registers,
    /// The condition.
    pub recheck: Option<Predicate>,
    /// Where the results of subqueries come from that depend on the row.
    pub subqueries: RowSubqueries,
    /// True when all rows are found before the first is changed.
    pub collects: bool,
}

/// The results of subqueries that depend on the row an UPDATE or DELETE changes.
#[derive(Debug, Clone)]
pub enum RowSubqueries {
    /// There are none.
    None,
    /// They are evaluated over the row's newest version: one row, the registers being filled.
    Again(Box<Node>),
    /// They read the changed table itself, so they are evaluated before the first row is changed: the slots kept with each row
    /// are the table's columns and then the results. A row that somebody has changed in between is not changed.
    Kept(Vec<usize>),
}

/// An UPDATE.
#[derive(Debug, Clone)]
pub struct Update {
    /// The rows.
    pub changed: Changed,
    /// The columns changed and their new values, already of the column's type.
    pub assignments: Vec<(usize, Expr)>,
    /// Variables set to the new value of a column (`SET @v = c = expr`) or to an expression.
    pub variables: Vec<(usize, Expr)>,
    /// OUTPUT.
    pub output: Option<OutputPlan>,
}

/// A DELETE.
#[derive(Debug, Clone)]
pub struct Delete {
    /// The rows.
    pub changed: Changed,
    /// OUTPUT.
    pub output: Option<OutputPlan>,
}

/// A bound statement.
#[derive(Debug, Clone)]
pub struct Statement {
    /// Where the rows come from.
    pub source: Node,
    /// What is done with them.
    pub action: Action,
    /// The virtual tables it reads.
    pub virtual_sources: Vec<VirtualSource>,
    /// What the changed table's rows must keep.
    pub rules: Option<Arc<crate::rules::Rules>>,
    /// The triggers that it fires.
    pub triggers: Option<Arc<Triggers>>,
    /// The slots the frame must have.
    pub slots: usize,
    /// Those that are read.
    pub live: LiveSlots,
    /// True when it reads or changes tables, and so begins and ends a statement of the transaction.
    pub touches: bool,
    /// True when an expression asks for the present time.
    pub reads_clock: bool,
    /// `OPTION (MAXDOP n)`: workers at most, 0 for as many as the server gives.
    pub degree: Option<u16>,
    /// `OPTION (MAX_GRANT_PERCENT = n)`: hundredths of the workspace's memory, at most.
    pub memory_percent: Option<f64>,
    /// The permissions that it needs.
    pub requirements: Vec<crate::security::Requirement>,
    /// What it must know of who may see masked columns.
    pub masks: Vec<crate::security::MaskedColumn>,
    /// The database and version of the catalog it was bound against.
    pub bound_to: crate::access::CatalogStamp,
    /// The other databases that it uses, and the versions of their catalogs that it was bound against.
    pub others: Vec<crate::access::OtherStamp>,
    /// The tables whose sizes have decided how its joins run.
    pub sizes: Vec<TableSize>,
    /// The large tables that it reads whole, which tell how far it is.
    pub drivers: Vec<Arc<pikepole_engine::Table>>,
    /// The values of variables that estimates have used, by their slots.
    pub values: Box<[(usize, Value)]>,
    /// The variables of which estimates would have used the values, if there had been some.
    pub asked: Box<[usize]>,
    /// `OPTION (RECOMPILE)`: it is for one run.
    pub recompiles: bool,
}

/// How large a table was when a plan was made.
#[derive(Debug, Clone)]
pub struct TableSize {
    /// The table.
    pub table: Arc<pikepole_engine::Table>,
    /// About how many pages its rows were in.
    pub pages: u64,
    /// So many of its rows may have been changed: see [`pikepole_engine::Table::changes`].
    pub changes_max: u64,
    /// Its columns of which more should be known before such a plan is made.
    pub wanted: Vec<usize>,
}

impl TableSize {
    /// A table that is so many times what it was is joined in another way. Smaller ones are read quickly in any way.
    const GROWTH: u64 = 10;
    const PAGES_MIN: u64 = 8;

    fn is_outgrown(&self) -> bool {
        self.table.pages_guessed() > self.pages.max(TableSize::PAGES_MIN) * TableSize::GROWTH
            || self.table.changes() > self.changes_max
            // They could not be made then.
            || !self.wanted.is_empty()
    }
}

impl Statement {
    /// Whether a table has become so much larger that the statement's joins are to be planned anew.
    pub fn is_outgrown(&self) -> bool {
        self.sizes.iter().any(TableSize::is_outgrown)
    }

    /// True if all rows may be made before the first one is used: what is done with a row changes none of the others. Variables that take
    /// values of rows are not read by what makes the rows then.
    pub(crate) fn may_gather(&self) -> bool {
        match &self.action {
            Action::Select { .. } | Action::Insert(_) => true,
            Action::Assign { assignments, .. } => {
                let read = self.source.touched();
                assignments.iter().all(|(slot, _)| !read.has(*slot))
            }
            Action::Instead(_) | Action::Change(_) | Action::Update(_) | Action::Delete(_) => false,
        }
    }
}

impl Action {
    /// What OUTPUT asks of it.
    pub fn output(&self) -> Option<&OutputPlan> {
        match self {
            Action::Select { .. } | Action::Assign { .. } | Action::Instead(_) => None,
            Action::Insert(insert) => insert.output.as_ref(),
            Action::Update(update) => update.output.as_ref(),
            Action::Delete(delete) => delete.output.as_ref(),
            Action::Change(change) => change.output.as_ref(),
        }
    }
}

impl Node {
    /// Calls `visit` with every scan of a table in the tree.
    pub fn visit_scans(&self, visit: &mut dyn FnMut(&Scan)) {
        self.visit_nodes(&mut |node| {
            if let Node::Scan(scan) = node {
                visit(scan);
            }
        });
    }
}
