//! Window functions: ROW_NUMBER, RANK and DENSE_RANK.
//!
//! They are met in the select list and in ORDER BY, and computed for the rows that the other clauses leave: one sort and one
//! pass for each window.

use super::Binder;
use super::query::served_by_scan;
use super::scope::Clause;
use super::typed::Typed;
use crate::errors;
use crate::expression::{Expr, Fault};
use crate::plan::{Node, Numbering, SortKey};
use pikepole_tsql as tree;
use pikepole_types::{SqlError, SqlType};

/// A window function that was called.
#[derive(Debug)]
pub(crate) struct WindowCall {
    call: tree::FunctionCall,
    partition: Vec<SortKey>,
    order: Vec<SortKey>,
    function: Numbering,
    slot: usize,
}

impl Binder<'_> {
    /// Binds a call with OVER.
    ///
    /// # Errors
    /// 4108 where it cannot stand, 4112 without an order, 10752 with a frame, 5308 and 5309 for an order by a constant.
    pub(crate) fn window_function(&mut self, call: &tree::FunctionCall, over: &tree::Over) -> Result<Typed, Fault> {
        let name = call.name.name.as_str();
        let function = match name.to_ascii_uppercase().as_str() {
            "ROW_NUMBER" => Numbering::Row,
            "RANK" => Numbering::Rank,
            "DENSE_RANK" => Numbering::DenseRank,
            upper => return Err(errors::unsupported(format!("{upper} with OVER"))),
        };
        let scope = self.scope();
        if scope.in_aggregate || scope.in_window {
            return Err(Box::new(SqlError::window_function_within_another()));
        }
        if !matches!(scope.clause, Clause::SelectList | Clause::OrderBy) {
            return Err(Box::new(SqlError::window_function_misplaced()));
        }
        if let Some(known) = scope.windows.iter().find(|window| window.call == *call) {
            return Ok(numbers(known.slot));
        }
        let tree::Over::Window(window) = over else {
            return Err(errors::unsupported("The WINDOW clause"));
        };
        if window.base.is_some() {
            return Err(errors::unsupported("The WINDOW clause"));
        }
        super::function::check_count(name, call.arguments.len(), 0, 0)?;
        if window.frame.is_some() {
            return Err(Box::new(SqlError::window_frame_not_allowed(name)));
        }
        if window.order_by.is_empty() {
            return Err(Box::new(SqlError::window_needs_order(name)));
        }
        let mark = self.pending.len();
        self.scope().in_window = true;
        let keys = self.window_keys(window);
        self.scope().in_window = false;
        let (partition, order) = keys?;
        if self.pending.len() > mark {
            return Err(errors::unsupported("A subquery in OVER"));
        }
        let slot = self.register();
        self.scope().windows.push(WindowCall { call: call.clone(), partition, order, function, slot });
        Ok(numbers(slot))
    }

    /// What divides the rows and what orders them; constants do neither.
    fn window_keys(&mut self, window: &tree::Window) -> Result<(Vec<SortKey>, Vec<SortKey>), Fault> {
        let mut partition = Vec::new();
        for expr in &window.partition_by {
            let typed = self.expr(expr)?;
            if !typed.expr.is_const() {
                partition.push(SortKey { expr: typed.expr, descending: false });
            }
        }
        let mut order = Vec::new();
        for item in &window.order_by {
            if is_constant_subquery(&item.expr) {
                continue;
            }
            if matches!(item.expr.kind, tree::ExprKind::Literal(tree::Literal::Int(_))) {
                return Err(Box::new(SqlError::window_order_by_position()));
            }
            let typed = self.expr(&item.expr)?;
            if typed.expr.is_const() {
                return Err(Box::new(SqlError::window_order_by_constant()));
            }
            order.push(SortKey { expr: typed.expr, descending: item.descending });
        }
        Ok((partition, order))
    }

    /// The rows with the numbers that were asked for in the scope on top.
    pub(crate) fn numbered(&mut self, mut node: Node) -> Node {
        let mut calls = std::mem::take(&mut self.scope().windows);
        while !calls.is_empty() {
            let first = calls.remove(0);
            let (same, others): (Vec<_>, Vec<_>) =
                calls.into_iter().partition(|call| call.call.over == first.call.over);
            calls = others;
            let functions = std::iter::once(&first).chain(&same).map(|call| (call.function, call.slot)).collect();
            let keys: Vec<SortKey> = first.partition.iter().chain(&first.order).cloned().collect();
            if !keys.is_empty() && !served_by_scan(&mut node, &keys) {
                let mut carry = Vec::new();
                node.visit_filled(&mut |slot| carry.push(slot));
                node = Node::Sort { input: Box::new(node), keys, carry };
            }
            let WindowCall { partition, order, .. } = first;
            node = Node::Number { input: Box::new(node), partition, order, functions };
        }
        node
    }
}

fn numbers(slot: usize) -> Typed {
    Typed::new(Expr::Slot(slot), SqlType::BigInt, true)
}

/// `(SELECT NULL)`, the usual way to ask for any order.
fn is_constant_subquery(expr: &tree::Expr) -> bool {
    let tree::ExprKind::Subquery(query) = &expr.kind else {
        return false;
    };
    let tree::QueryBody::Select(select) = &query.body else {
        return false;
    };
    let is_literal = |item: &tree::SelectItem| matches!(item, tree::SelectItem::Expr { expr, .. } if matches!(expr.kind, tree::ExprKind::Literal(_)));
    select.from.is_empty() && select.filter.is_none() && select.items.iter().all(is_literal)
}
