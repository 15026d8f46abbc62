//! NEXT VALUE FOR: a number for each row, taken where a scalar subquery would be evaluated.
//!
//! All that name one sequence in one row get the same number. Only the statement's own rows get numbers: not those of views,
//! subqueries, common and derived tables.

use std::sync::Arc;

use super::collate::order_key;
use super::scope::{Clause, Scope};
use super::typed::Typed;
use super::{Binder, PendingApply};
use crate::errors;
use crate::expression::{Expr, Fault};
use crate::plan::{More, NextNumber, Node, SortKey, Test};
use pikepole_engine::{Permission, Sequence};
use pikepole_tsql as tree;
use pikepole_types::SqlError;

/// The numbers that the row being bound takes.
#[derive(Default)]
pub(super) struct Numbers {
    /// How many scopes are around where numbers may be taken; none: nowhere.
    pub(super) depth: Option<usize>,
    /// The sequences of the row, and where their numbers are.
    taken: Vec<(i32, usize)>,
    /// What OVER says, and as it was written.
    pub(super) order: Vec<SortKey>,
    written: Option<Vec<tree::OrderItem>>,
    /// True once any number is taken by the statement.
    pub(super) used: bool,
}

impl Binder<'_> {
    /// Numbers may be taken in what is bound with so many scopes around it.
    pub(crate) fn allow_numbers(&mut self, depth: usize) {
        self.numbers.depth = Some(depth);
    }

    /// Leaves a row that is bound in two steps, and gives the numbers it has taken so far.
    pub(super) fn leave_row(&mut self) -> Vec<(i32, usize)> {
        std::mem::take(&mut self.numbers.taken)
    }

    /// Comes back to a row that has taken these numbers.
    pub(super) fn resume_row(&mut self, taken: Vec<(i32, usize)>) {
        self.numbers.taken = taken;
    }

    /// Another row begins: it takes numbers of its own.
    pub(super) fn next_numbers(&mut self) {
        self.numbers.taken.clear();
    }

    /// The row is bound again from its beginning.
    pub(super) fn first_numbers(&mut self) {
        self.numbers.taken.clear();
        self.numbers.order.clear();
        self.numbers.written = None;
    }

    /// Whether the row being bound takes numbers.
    pub(super) fn takes_numbers(&self) -> bool {
        !self.numbers.taken.is_empty()
    }

    /// NEXT VALUE FOR.
    ///
    /// # Errors
    /// 208 and 11726 for what is no sequence; 11719, 11720, 11741 where numbers cannot be taken.
    pub(super) fn next_value(&mut self, next: &tree::NextValue) -> Result<Typed, Fault> {
        let sequence = self.sequence(&next.sequence)?;
        let inside = self.views > 0 || !self.parameters.is_empty();
        if inside || self.numbers.depth != Some(self.scopes.len()) {
            return Err(Box::new(SqlError::number_not_allowed_inside()));
        }
        let taken = |scope: &Scope| matches!(scope.clause, Clause::Elsewhere | Clause::SelectList | Clause::Set);
        if !self.scopes.last().is_none_or(taken) {
            return Err(Box::new(SqlError::number_not_allowed_in_clause()));
        }
        if !self.guards.is_empty() {
            return Err(Box::new(SqlError::number_in_case()));
        }
        self.require(Permission::Update, &next.sequence)?;
        if let Some((_, slot)) = self.numbers.taken.iter().find(|(id, _)| *id == sequence.object_id) {
            let slot = *slot;
            if self.numbers.written.as_ref().map_or(&[][..], Vec::as_slice) != next.order_by {
                return Err(Box::new(SqlError::number_orders_differ()));
            }
            return Ok(Typed::new(Expr::Slot(slot), sequence.ty, false));
        }
        if !next.order_by.is_empty() {
            if self.scopes.last().is_none_or(|scope| matches!(scope.clause, Clause::Set)) {
                return Err(Box::new(SqlError::number_order_not_allowed()));
            }
            if self.numbers.written.is_some() {
                return Err(Box::new(SqlError::number_orders_differ()));
            }
            for item in &next.order_by {
                let typed = self.expr(&item.expr)?;
                let key = order_key(typed, item.descending, self.numbers.order.len() + 1)?;
                self.numbers.order.push(key);
            }
            self.numbers.written = Some(next.order_by.clone());
        }
        let (taken, ty) = (self.register(), sequence.ty);
        let id = sequence.object_id;
        let number = More::Next(NextNumber { sequence, slot: taken });
        let slot = self.register();
        let test = Test::Scalar(Expr::Slot(taken));
        let subquery = Node::More(Box::new(number));
        self.pending.push(PendingApply { subquery, test, slot, correlated: true, guards: Vec::new(), memo: None });
        self.numbers.taken.push((id, slot));
        self.numbers.used = true;
        Ok(Typed::new(Expr::Slot(slot), ty, false))
    }

    fn sequence(&self, name: &tree::ObjectName) -> Result<Arc<Sequence>, Fault> {
        let missing = || Box::new(SqlError::invalid_object(name.dotted()));
        let place = self.catalog().place(name)?.ok_or_else(missing)?;
        match place.object() {
            Some(pikepole_engine::Object::Sequence(_))
                if place.view.database.id() != self.names.catalog.database.id() =>
            {
                Err(errors::unsupported("A number of a sequence in another database"))
            }
            Some(pikepole_engine::Object::Sequence(sequence)) => Ok(Arc::clone(sequence)),
            Some(_) => Err(Box::new(SqlError::not_a_sequence(name.dotted()))),
            None => Err(missing()),
        }
    }
}

impl Binder<'_> {
    /// Whether all that waits to be placed are numbers.
    pub(crate) fn takes_only_numbers(&self) -> bool {
        self.pending.iter().filter(|pending| !pending.is_call()).count() == self.numbers.taken.len()
    }

    /// A SELECT that takes numbers, and what cannot stand beside them.
    pub(super) fn check_numbers(
        &self,
        select: &tree::Select,
        order_by: &[tree::OrderItem],
        is_cut: bool,
    ) -> Result<(), Fault> {
        if !self.takes_numbers() || self.numbers.depth != Some(self.scopes.len()) {
            return Ok(());
        }
        if select.distinct {
            return Err(Box::new(SqlError::number_with_distinct()));
        }
        if is_cut {
            return Err(Box::new(SqlError::number_with_top()));
        }
        if !order_by.is_empty() && self.numbers.written.is_none() {
            return Err(Box::new(SqlError::number_with_order()));
        }
        Ok(())
    }

    /// The rows in the order in which they get their numbers.
    pub(super) fn in_order_of_numbers(&mut self, node: Node, items: &super::query::Items) -> Result<Node, Fault> {
        if self.numbers.order.is_empty() || self.numbers.depth != Some(self.scopes.len()) {
            return Ok(node);
        }
        if !self.takes_only_numbers() {
            return Err(errors::unsupported("A subquery beside NEXT VALUE FOR with OVER"));
        }
        let order = std::mem::take(&mut self.numbers.order);
        let values: Vec<Expr> = items.values.iter().map(|value| value.expr.clone()).collect();
        let order = self.without_constant_keys(order, &node);
        Ok(super::query::sorted(node, order, &values, &items.assignments, self.active_rules))
    }
}
