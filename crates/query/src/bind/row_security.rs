//! Security policies: which rows of a table are there, and which may be written.
//!
//! ```text
//!   FROM t           a condition beside those of WHERE, whose rows go on:     pass(t.a)
//!   .. LEFT JOIN t   a derived table:                                          (SELECT .. FROM t WHERE pass(t.a)) AS t
//!   INSERT INTO t    a rule of the row that is written:                        pass(row.a), or error 33504
//! ```
//! A function without FROM is its condition, so that `WHERE @tenant = ..` finds rows by a key; any other one is an EXISTS. The filter
//! is tested before conditions that can fail: an error would tell of rows that are not there. A predicate reads its own table as it is.

use std::sync::Arc;

use super::join::{JoinTree, Leaf};
use super::permission::TargetNeeds;
use super::routine::parsed_function;
use super::scope::{Source, SourceColumn};
use super::source::table_columns;
use super::target::TargetRows;
use super::virtual_column::VirtualColumns;
use super::{Binder, Dependence, Names, PendingApply, Scope, applied, conjuncts};
use crate::access::Table;
use crate::expression::{Fault, Predicate};
use crate::plan::{Node, Registers, Test};
use crate::rules::BlockRule;
use pikepole_engine::{Permission, PredicateKind, ReadHints, SecurityPolicy, SecurityPredicate};
use pikepole_tsql as tree;
use pikepole_types::SqlError;

/// The error for a function that is not there, or none of one query.
const FUNCTION_MISSING: i32 = 33270;

/// What of the rows of a source is there.
#[derive(Clone, Default)]
pub(crate) struct RowFilter {
    /// The index of the source in its scope.
    pub(super) source: usize,
    pub(super) conditions: Vec<Predicate>,
    /// The results of the subqueries that it asks.
    pub(super) results: Vec<usize>,
}

/// A predicate of a table, and whose it is.
struct Guard {
    policy: Arc<SecurityPolicy>,
    predicate: SecurityPredicate,
}

/// A predicate that is bound over a row.
struct Passing {
    condition: Predicate,
    subqueries: Vec<PendingApply>,
    /// The columns of the row that it reads.
    used: Vec<bool>,
}

/// Binds the call of a predicate over a table's columns, to report its errors.
///
/// # Errors
/// Names and types; 33270 for what is no inline function; 1046 for a subquery among the arguments.
pub(crate) fn check_predicate(call: &tree::FunctionCall, table: &Table, names: &Names<'_>) -> Result<(), Fault> {
    let columns = table_columns(table);
    let mut binder = Binder::new(names, columns.len());
    let row = row_of(table, columns, Registers { first: 0, count: table.columns.len() });
    binder.scopes.push(Scope { sources: vec![row], ..Scope::default() });
    binder.predicate(call).map(|_| ())
}

/// The condition of a query that is no more than one, without FROM. None: it is more.
fn condition_of(query: &tree::Query) -> Option<Option<&tree::Condition>> {
    let tree::QueryBody::Select(select) = &query.body else { return None };
    let is_literal = |item: &tree::SelectItem| matches!(item, tree::SelectItem::Expr { expr, .. } if matches!(expr.kind, tree::ExprKind::Literal(_)));
    let is_bare = select.from.is_empty() && select.top.is_none() && query.with.is_empty() && query.offset.is_none();
    let is_row = select.group_by.is_empty() && select.having.is_none() && select.items.iter().all(is_literal);
    (is_bare && is_row).then_some(select.filter.as_ref())
}

/// The row of a table in these registers, as its predicates see it.
fn row_of(table: &Table, columns: Vec<SourceColumn>, registers: Registers) -> Source {
    let used = vec![false; columns.len()];
    let (schema, written, hidden, located) = (None, None, false, false);
    let (alias, virtual_columns, hints) = (table.name.clone(), VirtualColumns::None, ReadHints::default());
    Source { alias, schema, written, columns, registers, used, hidden, located, virtual_columns, hints }
}

/// The call that a predicate's text is.
fn call_of(text: &str) -> Result<tree::FunctionCall, Fault> {
    let expr = tree::parse_expression(text).map_err(|error| Box::new(crate::errors::syntax_error(&error)))?;
    match expr.kind {
        tree::ExprKind::Function(call) => Ok(*call),
        _ => Err(Box::new(SqlError::incorrect_syntax(text))),
    }
}

impl Binder<'_> {
    fn guards_of(&self, table: &Table, wanted: impl Fn(PredicateKind) -> bool) -> Vec<Guard> {
        let view = self.catalog().of_table(table);
        let is_bound_now = self.guarded.contains(&(view.database.id(), table.object_id));
        if self.names.unguarded || table.is_temporary() || is_bound_now {
            return Vec::new();
        }
        let all = view.catalog.predicates_on(table.object_id).filter(|(_, predicate)| wanted(predicate.kind));
        all.map(|(policy, predicate)| Guard { policy: Arc::clone(policy), predicate: predicate.clone() }).collect()
    }

    fn filter_of(&self, table: &Table) -> Option<Guard> {
        self.guards_of(table, |kind| kind == PredicateKind::Filter).pop()
    }

    /// The predicate's call: whether it gives a row. Of the scope on top it sees the columns.
    fn predicate(&mut self, call: &tree::FunctionCall) -> Result<Predicate, Fault> {
        let name = &call.name;
        let missing = || Box::new(SqlError::predicate_function_missing(name.dotted()));
        let (module, catalog) = self.function_of(name)?.ok_or_else(missing)?;
        let function = parsed_function(&module, &name.dotted())?;
        let tree::FunctionReturns::Inline(query) = &function.returns else { return Err(missing()) };
        let arguments = self.routine_arguments((&function, &catalog), call)?;
        if !self.pending.is_empty() {
            return Err(Box::new(SqlError::subquery_not_allowed()));
        }
        let condition = self.in_catalog(catalog, |binder| {
            binder.in_body(arguments, |binder| match condition_of(query) {
                Some(None) => Ok(Predicate::Const(Some(true))),
                Some(Some(condition)) => binder.condition(condition),
                None => {
                    let (bound, _) = binder.subquery(query)?;
                    Ok(Predicate::Slot(binder.wait_for(bound.node, Test::Exists, Dependence::OnTime)))
                }
            })
        })?;
        // Parameters stand for columns of the row: whatever asks for them depends on it.
        self.pending.iter_mut().for_each(|pending| pending.correlated = true);
        Ok(condition)
    }

    /// Binds a predicate over a row of its table.
    fn passing(&mut self, table: &Table, guard: &Guard, row: Source) -> Result<Passing, Fault> {
        let call = call_of(&guard.predicate.call)?;
        let catalog = self.catalog().of_table(table);
        let registers = row.registers;
        let row = Source { alias: table.name.clone(), used: vec![false; row.columns.len()], ..row };
        let scopes = std::mem::replace(&mut self.scopes, vec![Scope { sources: vec![row], ..Scope::default() }]);
        let pending = std::mem::take(&mut self.pending);
        let guards = std::mem::take(&mut self.guards);
        let parameters = std::mem::take(&mut self.parameters);
        let inherited = self.inherited.take();
        let reads_target = self.reads_target;
        let read: Vec<usize> = registers.range().filter(|slot| self.slots_read.contains(slot)).collect();
        let (needs, watched) = (self.requirements.clone(), self.watched.len());
        self.guarded.push((catalog.database.id(), table.object_id));
        let bound = self.in_view_of(None, |binder| {
            binder.in_catalog(catalog, |binder| {
                if !guard.policy.schema_bound {
                    binder.require(Permission::Select, &call.name)?;
                }
                binder.predicate(&call)
            })
        });
        self.guarded.pop();
        // Who uses the table needs no permission on the columns that are looked at, nor on what a bound function is made of.
        self.slots_read.retain(|slot| !registers.range().contains(slot) || read.contains(slot));
        if guard.policy.schema_bound {
            self.requirements = needs;
            self.watched.truncate(watched);
        }
        self.reads_target = reads_target;
        self.inherited = inherited;
        self.parameters = parameters;
        self.guards = guards;
        let subqueries = std::mem::replace(&mut self.pending, pending);
        let used = std::mem::replace(&mut self.scopes, scopes)
            .first_mut()
            .and_then(|scope| scope.sources.first_mut())
            .map(|row| std::mem::take(&mut row.used))
            .unwrap_or_default();
        match bound {
            Ok(condition) => Ok(Passing { condition, subqueries, used }),
            Err(fault) if guard.policy.schema_bound => Err(fault),
            Err(fault) => {
                let state = if fault.number == FUNCTION_MISSING { 0 } else { 2 };
                Err(Box::new(SqlError { state, ..SqlError::predicate_binding_failed(&table.name) }))
            }
        }
    }

    /// Of the rows of a table in FROM those are there that its filter lets pass.
    pub(super) fn filter_rows(&mut self, table: &Table, source: usize) -> Result<(), Fault> {
        let Some(guard) = self.filter_of(table) else { return Ok(()) };
        let row = self.scope().sources[source].clone();
        let Passing { condition, subqueries, used } = self.passing(table, &guard, row)?;
        let mut conditions = Vec::new();
        conjuncts(condition, &mut conditions);
        let results = subqueries.iter().map(|subquery| subquery.slot).collect();
        self.pending.extend(subqueries);
        let scope = self.scope();
        scope.sources[source].used.iter_mut().zip(used).for_each(|(own, used)| *own |= used);
        scope.filters.push(RowFilter { source, conditions, results });
        Ok(())
    }

    /// The same of one whose rows a join may leave out: what filters them must be done before the join.
    pub(super) fn filtered_leaf(
        &mut self,
        leaf: Leaf,
        columns: Vec<SourceColumn>,
        hints: &[tree::TableHint],
    ) -> Result<(Leaf, Vec<SourceColumn>), Fault> {
        let Leaf::Table(table) = &leaf else { return Ok((leaf, columns)) };
        if self.scope().supplied == 0 || self.filter_of(table).is_none() {
            return Ok((leaf, columns));
        }
        let query = all_columns(table, hints, self.carried_items());
        let sources = std::mem::take(&mut self.scope().sources);
        let bound = self.unasked(|binder| binder.source_query(&query));
        self.scope().sources = sources;
        let (leaf, _) = bound?;
        let columns = columns.into_iter().map(|column| SourceColumn { when_read: None, ..column });
        Ok((leaf, columns.chain(self.carried_columns()).collect()))
    }

    /// The rows of a table to change where a join may leave them out, as those of a view are found; None: nothing filters them.
    pub(super) fn filtered_target(
        &mut self,
        reference: &tree::TableRef,
        table: &Table,
        schema: Option<String>,
        needs: &TargetNeeds,
    ) -> Result<Option<JoinTree>, Fault> {
        if self.scope().supplied == 0 || self.filter_of(table).is_none() {
            return Ok(None);
        }
        let alias = reference.alias.as_ref().unwrap_or(&reference.name.name).text.clone();
        let hints: Vec<tree::TableHint> = reference.hints.iter().chain(&self.target_hints).cloned().collect();
        let query = all_columns(table, &hints, Vec::new());
        let scope = Scope { barrier: true, ..Scope::default() };
        let (bound, exposed) = self.unasked(|binder| binder.exposing(&query, scope, &alias))?;
        let columns = table_columns(table).into_iter().map(|column| SourceColumn { when_read: None, ..column });
        let columns: Vec<SourceColumn> = columns.collect();
        let count = columns.len();
        let registers = self.registers(bound.values.len());
        let shown: Vec<String> = columns.iter().map(|column| column.name.clone()).collect();
        self.columns_of_target(needs, registers, shown.clone());
        let row = row_of(table, columns, registers);
        let source = Source { alias: alias.clone(), schema, used: vec![true; count], ..row };
        self.scope().sources.push(source);
        let at = self.scope().sources.len() - 1;
        self.target_found = Some(TargetRows {
            source: at,
            table: exposed.table,
            registers: Registers { first: registers.first + count, count },
            locator: registers.first + 2 * count,
            shown,
            columns: exposed.columns,
            name: alias,
            reads: needs.reads.clone(),
            conditions: exposed.conditions,
        });
        Ok(Some(JoinTree::Leaf(at, Leaf::Derived(bound))))
    }

    /// Binds something that the statement needs no permission for beside those that are noted already.
    fn unasked<T>(&mut self, bind: impl FnOnce(&mut Self) -> Result<T, Fault>) -> Result<T, Fault> {
        let (needs, watched) = (self.requirements.clone(), self.watched.len());
        let bound = bind(self);
        self.requirements = needs;
        self.watched.truncate(watched);
        bound
    }

    /// The block predicates that rows must pass which the statement writes.
    pub(super) fn block_rules(&mut self, table: &Table) -> Result<Vec<BlockRule>, Fault> {
        let mut rules = Vec::new();
        for guard in self.guards_of(table, |kind| kind != PredicateKind::Filter) {
            let registers = self.registers(table.columns.len());
            let row = row_of(table, table_columns(table), registers);
            let Passing { condition, subqueries, .. } = self.passing(table, &guard, row)?;
            let asks = (!subqueries.is_empty()).then(|| applied(Node::One, subqueries));
            let table = table.display.clone();
            rules.push(BlockRule { kind: guard.predicate.kind, registers, asks, condition, table });
        }
        Ok(rules)
    }
}

/// A query of all columns of a table, and more.
fn all_columns(table: &Table, hints: &[tree::TableHint], more: Vec<tree::SelectItem>) -> tree::Query {
    let span = tree::Span::default();
    let item = |name: &str| {
        let name = tree::Name { text: name.to_owned(), span };
        let column = tree::ColumnRef::new(None, name);
        tree::SelectItem::Expr { expr: tree::Expr::new(tree::ExprKind::Column(column), span), alias: None }
    };
    let items = table.columns.iter().map(|column| item(&column.name)).chain(more).collect();
    let name = table.object_name(span);
    let reference = tree::TableRef { name, system_time: None, alias: None, sample: None, hints: hints.to_vec() };
    super::asked_arguments::selected(items, vec![tree::TableSource::Table(Box::new(reference))], None)
}
