//! What is the same in all rows of a plan. A key that is so puts rows in no order and divides them in no partitions, so nobody sorts
//! by it: a window over such an order takes its rows as they come, and TOP ends it after some.
//!
//! ```text
//!   SELECT TOP (10) ROW_NUMBER() OVER (ORDER BY c) FROM numbers      c: SELECT 1 UNION ALL SELECT 1
//!   no sort ── because ── c is 1 in each branch, and passes joins, views and filters as it is
//! ```
//! Steady is what depends on no row: constants, variables, the session's globals, and what is made of them; a column of a list or of
//! UNION ALL when all rows and branches have the same one; NULL behind a left join that finds nothing; and a column that a
//! condition holds equal to what is steady.

use std::collections::HashMap;

use crate::bind::Binder;
use crate::expression::{Comparison, Expr, Integer, Predicate};
use crate::optimizer::Rule;
use crate::plan::{JoinKind, More, Node, Scan, SortKey, Test};
use crate::state::Global;
use pikepole_types::{Collation, Value};

/// What a steady value is.
#[derive(Debug, Clone, PartialEq)]
enum Same {
    Value(Value),
    /// That of a variable.
    Variable(usize),
    Global(Global),
    /// Some value, known when the rows are made.
    Unknown,
    /// Values that are equal by this collation.
    Under(Collation),
}

/// The steady slots of a plan.
pub(crate) struct Steady {
    slots: HashMap<usize, Same>,
    /// The slots below are those of variables.
    variables: usize,
}

impl Binder<'_> {
    /// The keys that put the rows of a plan in an order, or divide them.
    pub(crate) fn without_constant_keys(&self, keys: Vec<SortKey>, node: &Node) -> Vec<SortKey> {
        if keys.is_empty() || !self.active_rules.has(Rule::ConstantSortKeys) {
            return keys;
        }
        let mut steady = Steady { slots: HashMap::new(), variables: self.names.variables.len() };
        steady.walk(node);
        keys.into_iter().filter(|key| !steady.has_key(key)).collect()
    }
}

impl Steady {
    fn has_key(&self, key: &SortKey) -> bool {
        match self.same(&key.expr) {
            None => false,
            Some(Same::Under(collation)) => collation == key.collation,
            Some(_) => true,
        }
    }

    fn slot(&self, slot: usize) -> Option<Same> {
        let variable = || (slot < self.variables).then_some(Same::Variable(slot));
        self.slots.get(&slot).cloned().or_else(variable)
    }

    /// Whether a slot has one value, and not only values that are equal.
    fn is_one(&self, slot: usize) -> bool {
        self.slot(slot).is_some_and(|same| !matches!(same, Same::Under(_)))
    }

    fn same(&self, expr: &Expr) -> Option<Same> {
        match expr {
            Expr::Const(value) => Some(Same::Value(value.clone())),
            Expr::Slot(slot) => self.slot(*slot),
            Expr::Global(global) => Some(Same::Global(*global)),
            Expr::Integer(integer, _) if matches!(**integer, Integer::Global(_)) => match **integer {
                Integer::Global(global) => Some(Same::Global(global)),
                _ => None,
            },
            _ => (is_repeatable(expr) && self.reads_steady(|visit| expr.visit_slots(visit))).then_some(Same::Unknown),
        }
    }

    fn reads_steady(&self, visit: impl FnOnce(&mut dyn FnMut(usize))) -> bool {
        let mut steady = true;
        visit(&mut |slot| steady &= self.is_one(slot));
        steady
    }

    fn set(&mut self, slot: usize, same: Option<Same>) {
        if let Some(same) = same {
            self.slots.insert(slot, same);
        }
    }

    fn walk(&mut self, node: &Node) {
        match node {
            Node::Filter { input, predicate } => {
                self.walk(input);
                self.tie(predicate);
            }
            Node::Compute { input, assignments } => {
                self.walk(input);
                for (slot, expr) in assignments {
                    self.set(*slot, self.same(expr));
                }
            }
            Node::Scan(scan) => self.tie_prefix(scan),
            Node::Join { left, right, kind, on, right_registers } => {
                self.walk(left);
                let finds_none = on.as_ref().is_some_and(Predicate::is_never) || is_empty(right);
                if *kind == JoinKind::Left && finds_none {
                    let slots = right_registers.iter().flat_map(|registers| registers.range());
                    slots.for_each(|slot| self.set(slot, Some(Same::Value(Value::Null))));
                    return;
                }
                self.walk_right(right, *kind, on.as_ref());
            }
            Node::Apply { input, test, slot, correlated, guards, .. } => {
                self.walk(input);
                let depends = *correlated || !guards.is_empty() || !matches!(test, Test::Scalar(_) | Test::Exists);
                self.set(*slot, (!depends).then_some(Same::Unknown));
            }
            Node::Group { input, keys, .. } => {
                self.walk(input);
                keys.iter().for_each(|(key, slot)| self.set(*slot, self.same(&key.expr)));
            }
            Node::Sort { input, .. } | Node::Number { input, .. } | Node::Top { input, .. } => self.walk(input),
            Node::Values { rows, registers } => {
                for (at, slot) in registers.range().enumerate() {
                    self.set(slot, self.same_in_all(rows.iter().map(|row| row.get(at))));
                }
            }
            Node::Concat { inputs, registers } => {
                inputs.iter().for_each(|(input, _)| self.walk(input));
                for (at, slot) in registers.range().enumerate() {
                    self.set(slot, self.same_in_all(inputs.iter().map(|(_, values)| values.get(at))));
                }
            }
            Node::More(more) => match more.as_ref() {
                More::Spool(spool) => self.walk(&spool.input),
                More::Common(common) => self.walk(&common.input),
                More::Top(top) => self.walk(&top.input),
                More::Windows(windows) => self.walk(&windows.input),
                _ => {}
            },
            Node::One
            | Node::Virtual { .. }
            | Node::Call { .. }
            | Node::Series(_)
            | Node::File(_)
            | Node::Kept { .. } => {}
        }
    }

    /// The right side of a join: where left rows stay without a partner its columns are NULL in some rows.
    fn walk_right(&mut self, right: &Node, kind: JoinKind, on: Option<&Predicate>) {
        if kind == JoinKind::Inner {
            self.walk(right);
            on.into_iter().for_each(|on| self.tie(on));
            return;
        }
        let before = self.slots.clone();
        self.walk(right);
        self.slots.retain(|slot, same| before.contains_key(slot) || *same == Same::Value(Value::Null));
    }

    /// What several expressions are, if all are the same.
    fn same_in_all<'e>(&self, mut exprs: impl Iterator<Item = Option<&'e Expr>>) -> Option<Same> {
        let first = self.same(exprs.next()??)?;
        let is_it = |expr: Option<&Expr>| expr.and_then(|expr| self.same(expr)).as_ref() == Some(&first);
        let is_comparable = !matches!(first, Same::Unknown | Same::Under(_));
        let mut rest = exprs.peekable();
        (rest.peek().is_none() || is_comparable && rest.all(is_it)).then_some(first)
    }

    /// A condition that holds for all rows.
    fn tie(&mut self, predicate: &Predicate) {
        match predicate {
            Predicate::And(parts) => parts.iter().for_each(|part| self.tie(part)),
            Predicate::Integers(Comparison::Equal, operands) => {
                for (own, other) in [(&operands[0], &operands[1]), (&operands[1], &operands[0])] {
                    if let Integer::Slot(slot) = own
                        && other.is_portable()
                        && self.reads_steady(|visit| other.visit_slots(visit))
                    {
                        self.slots.entry(*slot).or_insert(Same::Unknown);
                    }
                }
            }
            Predicate::Values(Comparison::Equal, operands, collation) => {
                for (own, other) in [(&operands[0], &operands[1]), (&operands[1], &operands[0])] {
                    if let Expr::Slot(slot) = own
                        && self.same(other).is_some_and(|same| !matches!(same, Same::Under(_)))
                    {
                        self.slots.entry(*slot).or_insert(Same::Under(*collation));
                    }
                }
            }
            _ => {}
        }
    }

    /// The columns of a key that a scan looks up.
    fn tie_prefix(&mut self, scan: &Scan) {
        for (key, value) in scan.key().iter().zip(&scan.range.prefix) {
            if self.same(&value.expr).is_some_and(|same| !matches!(same, Same::Under(_))) {
                let collation = scan.table.columns[key.column].collation;
                self.slots.entry(scan.registers.first + key.column).or_insert(Same::Under(collation));
            }
        }
    }
}

/// Whether a plan surely has no rows.
fn is_empty(node: &Node) -> bool {
    match node {
        Node::Values { rows, .. } => rows.is_empty(),
        Node::Filter { input, predicate } => predicate.is_never() || is_empty(input),
        Node::Compute { input, .. } | Node::Sort { input, .. } | Node::Top { input, .. } => is_empty(input),
        _ => false,
    }
}

/// Whether an expression has one value while a statement runs, as long as the slots that it reads have.
fn is_repeatable(expr: &Expr) -> bool {
    match expr {
        // What a function of the host says of the session and its objects stays as it is.
        Expr::Host(_, arguments) => arguments.iter().all(is_repeatable),
        Expr::Convert(convert) if convert.style.is_none() => is_repeatable(&convert.input),
        _ => expr.is_portable(),
    }
}
