//! What names mean at one level of a query.

use std::rc::Rc;
use std::sync::Arc;

use super::row_security::RowFilter;
use super::typed::Typed;
use super::virtual_column::VirtualColumns;
use super::window::WindowCall;
use super::{Binder, PendingApply};
use crate::expression::{Expr, Fault, Predicate};
use crate::optimizer::rules::early_semi_join::EarlyTest;
use crate::output::{DecimalName, Provenance};
use crate::plan::{Aggregate, Registers, SortKey};
use pikepole_engine::ReadHints;
use pikepole_tsql as tree;
use pikepole_types::{Collated, Collation, SecondName, SqlError, SqlType};

/// A column of a source.
#[derive(Debug, Clone)]
pub(crate) struct SourceColumn {
    pub(crate) name: String,
    pub(crate) ty: SqlType,
    pub(crate) nullable: bool,
    pub(crate) collated: Collated,
    /// What clients are told of where its values come from.
    pub(crate) provenance: Provenance,
    /// Which name its type has, if it is a decimal.
    pub(crate) decimal_name: DecimalName,
    /// Its alias type, or `sysname`.
    pub(crate) user_type: Option<i32>,
    /// It is xml of a collection of schemas.
    pub(crate) of_schemas: bool,
    /// Who may read it.
    pub(crate) access: ColumnAccess,
    /// The expression of a column that is computed whenever it is read.
    pub(crate) when_read: Option<Arc<str>>,
    /// HIDDEN: `*` does not stand for it.
    pub(crate) hidden: bool,
}

/// Who may read a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum ColumnAccess {
    #[default]
    All,
    /// A column of `nodes()`: methods and IS NULL.
    Node,
    /// A `text`, `ntext` or `image` of what an AFTER trigger sees: nobody.
    Withheld,
}

impl SourceColumn {
    /// A column whose texts compare as the default collation says.
    pub(crate) fn new(name: impl Into<String>, ty: SqlType, nullable: bool) -> SourceColumn {
        SourceColumn {
            name: name.into(),
            ty,
            nullable,
            collated: Collated::Default,
            provenance: Provenance::default(),
            decimal_name: DecimalName::default(),
            user_type: None,
            of_schemas: false,
            access: ColumnAccess::All,
            when_read: None,
            hidden: false,
        }
    }
}

impl SourceColumn {
    /// A column of another database has only the system's names for types: the numbers of users' mean others here.
    pub(crate) fn leave_database(&mut self) {
        self.user_type = self.user_type.filter(|id| SecondName::by_id(*id).is_some());
    }
}

/// A table, view or derived table in FROM.
#[derive(Debug, Clone)]
pub(crate) struct Source {
    /// The alias, or the table's name.
    pub(crate) alias: String,
    /// The schema, when no alias hides it.
    pub(crate) schema: Option<String>,
    /// The name of a table or view as FROM says it before its alias.
    pub(crate) written: Option<String>,
    pub(crate) columns: Vec<SourceColumn>,
    pub(crate) registers: Registers,
    /// The columns some expression reads.
    pub(crate) used: Vec<bool>,
    /// True when its columns are found only with its name before them: `inserted` and `deleted`.
    pub(crate) hidden: bool,
    /// True when a statement changes its rows and so must know where they are: in the register behind those of the columns.
    pub(crate) located: bool,
    /// Its columns that no table declares.
    pub(crate) virtual_columns: VirtualColumns,
    /// What its table hints say.
    pub(crate) hints: ReadHints,
}

impl Source {
    /// The names of its columns, without virtual ones.
    pub(crate) fn names(&self) -> Vec<String> {
        let count = match self.virtual_columns {
            VirtualColumns::Carried(first) => first,
            _ => self.columns.len(),
        };
        self.columns[..count].iter().map(|column| column.name.clone()).collect()
    }

    /// The columns some expression reads, ascending.
    pub(crate) fn wanted(&self) -> Vec<usize> {
        (0..self.used.len()).filter(|column| self.used[*column]).collect()
    }

    /// The same source, of which all columns are read.
    pub(crate) fn with_all_columns(&self) -> Source {
        Source { used: Vec::new(), ..self.clone() }
    }

    /// Whether `qualifier.` means this source.
    pub(crate) fn answers_to(&self, qualifier: &tree::ObjectName) -> bool {
        if !qualifier.name.is(&self.alias) {
            return false;
        }
        match (qualifier.schema_str(), &self.schema) {
            (None, _) => true,
            (Some(schema), Some(own)) => schema.eq_ignore_ascii_case(own),
            (Some(_), None) => false,
        }
    }
}

/// The clause being bound, which decides the error for a column outside GROUP BY.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Clause {
    /// Of no query: a statement's own expression, the values of an INSERT, a rule of a table.
    #[default]
    Elsewhere,
    SelectList,
    From,
    /// The condition of a join.
    On,
    Where,
    GroupBy,
    Having,
    OrderBy,
    /// OUTPUT.
    Output,
    /// SET of UPDATE.
    Set,
    /// A computed column or the condition of a CHECK.
    Definition,
}

/// A grouping value: the expression as bound over the rows, and the register its group's value is left in.
#[derive(Debug, Clone)]
pub(crate) struct GroupKey {
    pub(crate) tree: tree::Expr,
    pub(crate) expr: Expr,
    pub(crate) slot: usize,
    pub(crate) ty: SqlType,
    pub(crate) nullable: bool,
    pub(crate) collated: Collated,
    /// How its values are told apart.
    pub(crate) collation: Collation,
}

impl GroupKey {
    /// Whether it is the column in this slot, and not the column by another collation.
    pub(crate) fn is_column(&self, slot: usize) -> bool {
        matches!(self.tree.kind, tree::ExprKind::Column(_)) && matches!(self.expr, Expr::Slot(at) if at == slot)
    }

    /// The value of a group.
    pub(crate) fn typed(&self) -> Typed {
        Typed::new(Expr::Slot(self.slot), self.ty, self.nullable).collated(self.collated)
    }
}

impl Scope {
    /// The GROUP BY expressions that are written like this one, where expressions see groups.
    pub(crate) fn keys_alike(&self, expr: &tree::Expr) -> impl Iterator<Item = (usize, &GroupKey)> {
        let keys = self.grouping.iter().filter(|_| !self.in_aggregate).flat_map(|grouping| &grouping.keys);
        keys.enumerate().filter(|(_, key)| key.tree.is_alike(expr))
    }
}

/// The groups of a query with aggregates.
#[derive(Debug, Clone, Default)]
pub(crate) struct Grouping {
    pub(crate) keys: Vec<GroupKey>,
    /// The grouping sets, when there are any.
    pub(crate) sets: Option<GroupingSets>,
    /// What WITHIN GROUP orders the rows of all groups by.
    pub(crate) order: Option<(Vec<tree::OrderItem>, Vec<SortKey>)>,
    /// The calls as written, their aggregates and results.
    pub(crate) aggregates: Vec<(tree::FunctionCall, Aggregate, Typed)>,
}

/// Grouping sets: which keys each has, and the registers that go with them.
#[derive(Debug, Clone)]
pub(crate) struct GroupingSets {
    pub(crate) sets: Vec<Vec<bool>>,
    /// Per key, the registers of its value and of its being left out below the groups, and of the latter above them.
    pub(crate) slots: Vec<(usize, usize, usize)>,
    /// The registers of the set's number, below the groups and above.
    pub(crate) number: (usize, usize),
}

/// A common table of a WITH clause.
#[derive(Debug, Clone)]
pub(crate) struct CommonTable {
    /// All tables of its WITH clause, in order, with their numbers.
    all: Rc<[(Rc<tree::CommonTable>, Option<usize>)]>,
    /// Which of them it is.
    index: usize,
    pub(crate) tree: Rc<tree::CommonTable>,
    /// Its number in the statement, if that names it more than once.
    pub(crate) number: Option<usize>,
}

impl CommonTable {
    /// The tables of a WITH clause, in order, with the numbers of those that are named more than once.
    pub(crate) fn list(tables: impl Iterator<Item = (tree::CommonTable, Option<usize>)>) -> Vec<CommonTable> {
        let all: Rc<[_]> = tables.map(|(tree, number)| (Rc::new(tree), number)).collect();
        CommonTable::of(&all, all.len())
    }

    fn of(all: &Rc<[(Rc<tree::CommonTable>, Option<usize>)]>, count: usize) -> Vec<CommonTable> {
        let table = |(index, (tree, number)): (usize, &(Rc<tree::CommonTable>, Option<usize>))| CommonTable {
            all: Rc::clone(all),
            index,
            tree: Rc::clone(tree),
            number: *number,
        };
        all.iter().take(count).enumerate().map(table).collect()
    }

    /// The tables this one can refer to.
    pub(crate) fn earlier(&self) -> Vec<CommonTable> {
        CommonTable::of(&self.all, self.index)
    }
}

/// One level of a query.
#[derive(Clone, Default)]
pub(crate) struct Scope {
    pub(crate) sources: Vec<Source>,
    /// Present when expressions see groups instead of rows.
    pub(crate) grouping: Option<Grouping>,
    /// True while the argument of an aggregate is bound.
    pub(crate) in_aggregate: bool,
    /// True once a subquery has called an aggregate of this level's rows which were not known to be grouped.
    pub(crate) aggregated_below: bool,
    /// True while what a window is divided and ordered by is bound.
    pub(crate) in_window: bool,
    pub(crate) clause: Clause,
    /// The window functions called in it.
    pub(crate) windows: Vec<WindowCall>,
    /// The windows of the WINDOW clause.
    pub(crate) named_windows: Vec<(tree::Name, tree::Window)>,
    /// Subqueries within windows.
    pub(crate) window_pending: Vec<PendingApply>,
    /// The calls of functions whose values groups and aggregates read.
    pub(crate) grouped_calls: Vec<PendingApply>,
    /// Conditions of inner joins that read subqueries' results, which are there only when all rows are joined.
    pub(crate) joined_conditions: Vec<Predicate>,
    /// Tests of subqueries' values that are made before the rows are joined.
    pub(crate) early: Vec<EarlyTest>,
    /// What security policies leave of the rows of sources.
    pub(crate) filters: Vec<RowFilter>,
    /// The joins around what is being bound that may leave it without a row.
    pub(crate) supplied: usize,
    /// The subqueries of TOP, OFFSET and FETCH, which are evaluated before the first row.
    pub(crate) counting: Vec<PendingApply>,
    /// The outer joins around the join being bound.
    pub(crate) outer_joins: usize,
    /// A hint of a join: this level's joins run in the order of FROM.
    pub(crate) keeps_order: bool,
    /// True once an expression at this level or below has read a column from outside.
    pub(crate) correlated: bool,
    pub(crate) common: Vec<CommonTable>,
    /// A view's body sees nothing outside itself.
    pub(crate) barrier: bool,
}

impl Scope {
    /// Whether nothing has been bound in it but columns and conditions of rows.
    pub(crate) fn is_plain(&self) -> bool {
        let calls = self.windows.is_empty() && self.window_pending.is_empty() && self.grouped_calls.is_empty();
        self.grouping.is_none() && calls && self.counting.is_empty()
    }
}

/// A resolved column.
pub(crate) struct Column {
    pub(crate) slot: usize,
    pub(crate) ty: SqlType,
    pub(crate) nullable: bool,
    pub(crate) collated: Collated,
    /// A column of `nodes()`.
    pub(crate) access: ColumnAccess,
    /// How errors call it: `t.c`.
    pub(crate) display: String,
    /// The index of the scope it was found in, and of its source there.
    pub(crate) level: usize,
    pub(crate) source: usize,
    /// The expression of a column that is computed whenever it is read.
    pub(crate) when_read: Option<Arc<str>>,
}

impl Binder<'_> {
    /// The innermost scope.
    ///
    /// # Panics
    /// Never: expressions are bound within a scope.
    pub(crate) fn scope(&mut self) -> &mut Scope {
        if self.scopes.is_empty() {
            self.scopes.push(Scope::default());
        }
        let last = self.scopes.len() - 1;
        &mut self.scopes[last]
    }

    /// Finds a column, from the innermost scope outward.
    ///
    /// # Errors
    /// 207, 209, 4104.
    pub(crate) fn resolve(&mut self, column: &tree::ColumnRef) -> Result<Column, Fault> {
        if column.is_virtual {
            return self.resolve_virtual(column);
        }
        for level in (0..self.scopes.len()).rev() {
            let found = find(&self.scopes[level], column)?;
            if let Some((place, index)) = found {
                for inner in &mut self.scopes[level + 1..] {
                    inner.correlated = true;
                }
                self.reads_target |= level == 0 && place == 0;
                let source = &mut self.scopes[level].sources[place];
                source.used[index] = true;
                let slot = source.registers.first + index;
                self.slots_read.insert(slot);
                let source = &self.scopes[level].sources[place];
                let info = &source.columns[index];
                return Ok(Column {
                    slot,
                    ty: info.ty,
                    nullable: info.nullable,
                    collated: info.collated,
                    access: info.access,
                    display: format!("{}.{}", source.written.as_ref().unwrap_or(&source.alias), info.name),
                    level,
                    source: place,
                    when_read: info.when_read.clone(),
                });
            }
            if self.scopes[level].barrier {
                break;
            }
        }
        Err(self.unbound(column))
    }

    /// The error for a column that no source has: 207, or 4104 where no source is called so.
    pub(crate) fn unbound(&self, column: &tree::ColumnRef) -> Fault {
        Box::new(match &column.qualifier {
            None => SqlError::invalid_column(&column.name.text),
            Some(qualifier) => {
                let barrier = self.scopes.iter().rposition(|scope| scope.barrier).unwrap_or(0);
                let mut seen = self.scopes[barrier..].iter().flat_map(|scope| &scope.sources);
                let known = seen.any(|source| source.answers_to(qualifier));
                if known {
                    SqlError::invalid_column(&column.name.text)
                } else {
                    let name = format!("{}.{}", qualifier.dotted(), column.name.text);
                    SqlError::identifier_not_bound(name)
                }
            }
        })
    }
}

impl Binder<'_> {
    /// Where the values of an item of a select list come from; it is bound already.
    pub(crate) fn provenance(&self, item: &tree::Expr) -> Provenance {
        let tree::ExprKind::Column(column) = &item.kind else { return Provenance::Expression };
        self.seen_column(column).map_or(Provenance::Expression, |seen| seen.provenance)
    }

    /// The column of a source that a name means, for who only wants to know about it.
    pub(crate) fn seen_column(&self, column: &tree::ColumnRef) -> Option<&SourceColumn> {
        let (level, place, index) = self.seen_place(column)?;
        self.scopes[level].sources[place].columns.get(index)
    }

    /// The level, the source there and the column of it that a name means; virtual columns count behind the others.
    pub(crate) fn seen_place(&self, column: &tree::ColumnRef) -> Option<(usize, usize, usize)> {
        for (level, scope) in self.scopes.iter().enumerate().rev() {
            if let Ok(Some((place, index))) = find(scope, column) {
                return Some((level, place, index));
            }
            if scope.barrier {
                break;
            }
        }
        None
    }
}

fn find(scope: &Scope, column: &tree::ColumnRef) -> Result<Option<(usize, usize)>, Fault> {
    if column.is_virtual {
        return super::virtual_column::find(scope, column);
    }
    let mut found = None;
    for (at, source) in scope.sources.iter().enumerate() {
        match &column.qualifier {
            Some(qualifier) if !source.answers_to(qualifier) => continue,
            None if source.hidden => continue,
            _ => {}
        }
        for (index, info) in source.columns.iter().enumerate() {
            if column.name.is(&info.name) {
                if found.is_some() {
                    return Err(Box::new(SqlError::ambiguous_column(&column.name.text)));
                }
                found = Some((at, index));
            }
        }
    }
    Ok(found)
}
