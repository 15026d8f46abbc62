//! Which query computes an aggregate.
//!
//! ```text
//!   SELECT d.name, (SELECT MAX(v) FROM (VALUES (SUM(d.a)), (SUM(d.b))) x (v)) FROM d GROUP BY d.name
//!                          ^ of the subquery    ^ both of the query outside: they read its columns and no others
//! ```
//! An aggregate belongs to the query whose columns it reads, however deep it stands. Whether a SELECT groups its rows is therefore
//! only known when all subqueries of its values are bound: one that meets an aggregate of rows that were not thought to be grouped
//! says so, and the values of that SELECT are bound again, over groups.

use super::Binder;
use super::function::aggregate;
use super::query::item_value;
use super::scope::{Clause, Scope};
use super::typed::Typed;
use crate::expression::Fault;
use pikepole_tsql as tree;
use pikepole_types::{Aggregate, SqlError};
use tree::Part;

impl Binder<'_> {
    /// An aggregate, of the query that it belongs to.
    pub(super) fn aggregate_of_level(
        &mut self,
        call: &tree::FunctionCall,
        function: Aggregate,
    ) -> Result<Typed, Fault> {
        let level = self.level_of(call)?;
        if level + 1 >= self.scopes.len() {
            return self.aggregate(call, function);
        }
        let scope = &mut self.scopes[level];
        if scope.grouping.is_none() && !scope.in_aggregate {
            scope.aggregated_below |= matches!(scope.clause, Clause::SelectList | Clause::OrderBy);
            if scope.clause == Clause::From {
                return Err(Box::new(SqlError::aggregate_of_apply()));
            }
        }
        // What it reads is there where its query's rows are: nothing of the levels between them is.
        let mut inner = self.scopes.split_off(level + 1);
        let guards = std::mem::take(&mut self.guards);
        let bound = self.aggregate(call, function);
        self.guards = guards;
        inner.iter_mut().for_each(|scope| scope.correlated = true);
        self.scopes.append(&mut inner);
        bound
    }

    /// The level whose columns an aggregate reads; the innermost when it reads none.
    ///
    /// # Errors
    /// 8124.
    fn level_of(&self, call: &tree::FunctionCall) -> Result<usize, Fault> {
        let innermost = self.scopes.len().saturating_sub(1);
        let mut places = Vec::new();
        each_column(call, &mut |column| {
            if let Some(place) = self.seen_place(column)
                && !places.contains(&place)
            {
                places.push(place);
            }
        });
        let outer = places.iter().map(|(level, ..)| *level).filter(|level| *level < innermost).max();
        match outer {
            None => Ok(innermost),
            Some(_) if places.len() > 1 => Err(Box::new(SqlError::aggregate_of_inner_and_outer())),
            Some(level) => Ok(level),
        }
    }

    /// Whether the values of the SELECT whose FROM is bound call aggregates of its own rows, as far as can be seen before they are bound.
    pub(super) fn calls_aggregates(&self, select: &tree::Select, order_by: &[tree::OrderItem]) -> bool {
        let values = select.items.iter().filter_map(item_value).chain(order_by.iter().map(|item| &item.expr));
        let innermost = self.scopes.len().saturating_sub(1);
        let mut found = false;
        for value in values {
            each_aggregate(Part::Expr(value), &mut |call| {
                found |= self.level_of(call).is_ok_and(|level| level == innermost)
            });
        }
        found
    }

    /// Takes back what `select_values` has bound in the scope at `level`, and the scopes that it has left there.
    pub(super) fn unbind_values(&mut self, level: usize, pending: usize) {
        self.scopes.truncate(level + 1);
        self.pending.truncate(pending);
        if self.numbers.depth == Some(level + 1) {
            self.first_numbers();
        }
        let scope: &mut Scope = self.scope();
        scope.aggregated_below = false;
        scope.windows.clear();
        scope.window_pending.clear();
        scope.grouped_calls.clear();
        scope.grouping = None;
    }
}

/// Whether the select list calls an aggregate outside of subqueries.
pub(super) fn lists_aggregate(select: &tree::Select) -> bool {
    let mut found = false;
    for value in select.items.iter().filter_map(item_value) {
        each_aggregate(Part::Expr(value), &mut |_| found = true);
    }
    found
}

/// The aggregates that an expression calls outside of subqueries.
fn each_aggregate(part: Part<'_>, visit: &mut dyn FnMut(&tree::FunctionCall)) {
    if let Part::Expr(tree::Expr { kind: tree::ExprKind::Function(call), .. }) = part
        && call.over.is_none()
        && call.name.schema.is_none()
        && aggregate(call.name.name.as_str()).is_some()
    {
        visit(call);
    }
    part.each(&mut |inner| each_aggregate(inner, visit));
}

/// The columns that a call names outside of subqueries.
fn each_column(call: &tree::FunctionCall, visit: &mut dyn FnMut(&tree::ColumnRef)) {
    fn walk(part: Part<'_>, visit: &mut dyn FnMut(&tree::ColumnRef)) {
        match part {
            Part::Expr(tree::Expr { kind: tree::ExprKind::Column(column), .. }) => visit(column),
            part => part.each(&mut |inner| walk(inner, visit)),
        }
    }
    call.each_part(&mut |part| walk(part, visit));
}
