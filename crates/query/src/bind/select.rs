//! SELECT: its clauses bound one after the other, then its plan.

use super::join::JoinTree;
use super::query::{Items, carried, cut, sorted};
use super::scope::Clause;
use super::{Binder, Bound, conjuncts, filtered};
use crate::expression::{Expr, Fault, Integer, Predicate};
use crate::optimizer::Rule;
use crate::optimizer::rules::predicate_pushdown::{can_move, push_down};
use crate::plan::{More, Node, SortKey, TopCount, WideTop};
use pikepole_tsql as tree;
use pikepole_types::SqlError;

/// TOP of a SELECT.
enum BoundTop {
    Count(Integer),
    Wide { count: TopCount, ties: bool },
}

/// How a query's rows are ordered and cut.
pub(super) struct Tail<'t> {
    order_by: &'t [tree::OrderItem],
    offset: Option<Integer>,
    count: Option<Integer>,
}

/// A key of ORDER BY, and the output column it is when it is one.
pub(super) type OrderKey = (SortKey, Option<usize>);

/// A SELECT all of whose expressions are bound. What waits to be placed is in the binder, in the order of the clauses.
pub(super) struct Selected {
    top: Option<BoundTop>,
    pub(super) from: Option<JoinTree>,
    pub(super) conditions: Vec<Predicate>,
    having: Vec<Predicate>,
    pub(super) items: Items,
    keys: Vec<OrderKey>,
    /// How many subqueries belong to FROM and WHERE, and how many to these and HAVING.
    where_applies: usize,
    having_applies: usize,
}

/// What [`Binder::select_values`] binds.
struct SelectValues {
    having: Vec<Predicate>,
    having_applies: usize,
    items: Items,
    keys: Vec<OrderKey>,
}

impl Selected {
    /// Whether it is rows of FROM, some of them, and nothing else.
    pub(super) fn is_plain(&self) -> bool {
        self.top.is_none() && self.having.is_empty() && self.keys.is_empty() && self.items.assignments.is_empty()
    }
}

impl Binder<'_> {
    /// One SELECT with the ORDER BY, OFFSET and FETCH of its query, in the scope on top.
    pub(super) fn select(&mut self, select: &tree::Select, query: &tree::Query) -> Result<(Node, Items), Fault> {
        let (offset, fetch) = self.offset_and_fetch(query)?;
        let tail = Tail { order_by: &query.order_by, offset, count: fetch };
        self.select_rows(select, &tail)
    }

    pub(super) fn select_rows(&mut self, select: &tree::Select, tail: &Tail<'_>) -> Result<(Node, Items), Fault> {
        let selected = self.bind_select(select, tail)?;
        self.plan_select(select, tail, selected)
    }

    pub(super) fn bind_select(&mut self, select: &tree::Select, tail: &Tail<'_>) -> Result<Selected, Fault> {
        let expose = self.expose.take();
        let top = self.select_top(select, tail)?;
        self.name_windows(&select.windows)?;
        self.scope().clause = Clause::From;
        if let Some(expose) = &expose {
            self.aim_below(expose, select)?;
        }
        let from = self.from(&select.from)?;
        let below = expose.as_ref().and_then(|_| self.target_found.take());
        self.scope().clause = Clause::Where;
        let mut conditions = Vec::new();
        if let Some(filter) = &select.filter {
            conjuncts(self.condition(filter)?, &mut conditions);
        }
        let where_applies = self.pending.len();
        let aggregates = self.calls_aggregates(select, tail.order_by);
        let level = self.scopes.len() - 1;
        let bound = match self.select_values(select, tail, aggregates) {
            Err(_) if self.scopes.get(level).is_some_and(|scope| scope.aggregated_below) => {
                self.unbind_values(level, where_applies);
                self.select_values(select, tail, true)
            }
            bound => bound,
        };
        let SelectValues { having, having_applies, mut items, keys } = bound?;
        self.check_numbers(select, tail.order_by, top.is_some() || tail.offset.is_some())?;
        if let Some(expose) = expose {
            match below {
                Some(inner) => self.expose_below(&expose, select, inner, &mut items)?,
                None => self.expose_table(&expose, select, from.as_ref(), &mut items)?,
            }
        }
        Ok(Selected { top, from, conditions, having, items, keys, where_applies, having_applies })
    }

    /// What a SELECT says of its rows or groups: GROUP BY, HAVING, the select list and ORDER BY.
    fn select_values(
        &mut self,
        select: &tree::Select,
        tail: &Tail<'_>,
        aggregates: bool,
    ) -> Result<SelectValues, Fault> {
        self.group_keys(select, aggregates)?;
        let having = match &select.having {
            None => Vec::new(),
            Some(having) => {
                self.scope().clause = Clause::Having;
                let mut parts = Vec::new();
                conjuncts(self.condition(having)?, &mut parts);
                parts
            }
        };
        let having_applies = self.pending.len();
        self.scope().clause = Clause::SelectList;
        let items = self.items(&select.items)?;
        if select.distinct
            && let Some(column) = items.columns.iter().find(|column| !column.ty.is_comparable())
        {
            return Err(Box::new(SqlError::not_distinct(column.ty.name())));
        }
        self.scope().clause = Clause::OrderBy;
        let keys = self.sort_keys(tail.order_by, &items, select.distinct)?;
        Ok(SelectValues { having, having_applies, items, keys })
    }

    /// Everything is bound: the sources know which columns are read, and the tree can be built.
    pub(super) fn plan_select(
        &mut self,
        select: &tree::Select,
        tail: &Tail<'_>,
        selected: Selected,
    ) -> Result<(Node, Items), Fault> {
        let Selected { top, from, conditions, having, items, keys, where_applies, having_applies } = selected;
        let late = self.pending.split_off(having_applies);
        let having_pending = self.pending.split_off(where_applies);
        if let Some(from) = from.as_ref().filter(|_| !items.assignments.is_empty()) {
            self.keep_order_of_assigned(from, &conditions, &items.assignments);
        }
        let mut node = self.rows(from, conditions);
        if let Some(grouping) = self.scope().grouping.take() {
            node = super::applied(node, std::mem::take(&mut self.scope().grouped_calls));
            node = self.grouped(node, grouping);
        }
        self.pending = having_pending;
        node = self.place_pending(0, node);
        let pushes = self.active_rules.has(Rule::PredicatePushdown);
        let (down, stay) = having.into_iter().partition(|condition| pushes && can_move(condition));
        node = filtered(push_down(node, down, self.names.variables.len(), self.active_rules), stay);
        node = self.numbered(node);
        self.pending = late;
        node = self.in_order_of_numbers(node, &items)?;
        node = self.place_pending(0, node);
        let (node, items) = self.ordered(select, tail, top, node, items, keys);
        Ok((self.counted(node), items))
    }

    fn ordered(
        &mut self,
        select: &tree::Select,
        tail: &Tail<'_>,
        top: Option<BoundTop>,
        mut node: Node,
        mut items: Items,
        mut keys: Vec<OrderKey>,
    ) -> (Node, Items) {
        if select.distinct {
            let bound = Bound {
                node,
                columns: items.columns.clone(),
                values: items.values.iter().map(|value| value.expr.clone()).collect(),
            };
            let bound = self.distinct_rows(bound);
            node = bound.node;
            for (value, expr) in items.values.iter_mut().zip(bound.values) {
                value.expr = expr;
            }
            for (key, position) in &mut keys {
                if let Some(position) = *position {
                    key.expr = items.values[position].expr.clone();
                }
            }
        }
        let keys: Vec<SortKey> = keys.into_iter().map(|(key, _)| key).collect();
        let mut values: Vec<Expr> = items.values.iter().map(|value| value.expr.clone()).collect();
        let ties = match &top {
            Some(BoundTop::Wide { ties: true, .. }) => keys.clone(),
            _ => Vec::new(),
        };
        values.extend(ties.iter().map(|key| key.expr.clone()));
        let keys = self.without_constant_keys(keys, &node);
        node = sorted(node, keys, &values, &items.assignments, self.active_rules);
        node = cut(node, tail.offset.clone(), tail.count.clone());
        match top {
            None => (node, items),
            Some(BoundTop::Count(count)) => (cut(node, None, Some(count)), items),
            Some(BoundTop::Wide { count, .. }) => {
                let carry = carried(&values, &items.assignments);
                let top = WideTop { input: node, count, ties, carry };
                (Node::More(Box::new(More::Top(top))), items)
            }
        }
    }

    fn select_top(&mut self, select: &tree::Select, tail: &Tail<'_>) -> Result<Option<BoundTop>, Fault> {
        let Some(top) = &select.top else {
            return Ok(None);
        };
        if tail.offset.is_some() {
            return Err(Box::new(SqlError::top_with_offset()));
        }
        if top.with_ties && tail.order_by.is_empty() {
            return Err(Box::new(SqlError::ties_without_order()));
        }
        let ties = top.with_ties;
        if top.percent {
            return Ok(Some(BoundTop::Wide { count: TopCount::Percent(self.percent(&top.count)?), ties }));
        }
        let count = self.row_count(&top.count)?;
        Ok(Some(if ties { BoundTop::Wide { count: TopCount::Rows(count), ties } } else { BoundTop::Count(count) }))
    }
}

pub(super) fn no_tail() -> Tail<'static> {
    Tail { order_by: &[], offset: None, count: None }
}
