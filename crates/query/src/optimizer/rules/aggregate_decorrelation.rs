//! Subqueries that aggregate rows for each row outside, as lookups of groups.
//!
//! ```text
//!   WHERE a.x < (SELECT AVG(b.y) FROM b WHERE b.k = a.k)
//!
//!   as written    for each row of a:  the average over the rows of b that are found by k
//!   instead       the averages of b by k, once; for each row of a, the one that is found by k
//! ```
//! (Kim, "On optimizing an SQL-like nested query", 1982; what an aggregate of nothing gives where no group is found:
//! Galindo-Legaria and Joshi, "Orthogonal optimization of subqueries and aggregation", 2001.) Groups are made in batches by workers,
//! and there are fewer of them than rows.
//!
//! Groups are made that no row asks for, and nothing may fail because of them. So only those aggregates are taken that no value makes
//! fail. A sum of integers can overflow: it adds up in a wider type, and becomes as narrow as it is where it is asked for.

use super::early_semi_join::is_plain;
use crate::expression::{Expr, Integer, Width};
use crate::optimizer::size_of;
use crate::optimizer::variable_values::VariableValues;
use crate::plan::{Aggregate, JoinKey, JoinKind, LiveSlots, More, Node, Registers, SortKey, Spool, Test};
use pikepole_types::{Aggregate as Function, SqlType, Value};

/// Rows outside from which on groups are made. A single one is served by reading the rows and keeping none.
const ROWS_MIN: f64 = 2.0;

/// Digits of decimals that no number of rows adds up to more than the 38 of a sum.
const SUMMED_DIGITS_MAX: u8 = 28;

/// Makes lookups of groups of the subqueries in a plan that can be such, and joins with groups where it `can_join`: where the plan does not
/// stand for rows that are changed. `slot` gives new slots.
pub(crate) fn decorrelate(plan: &mut Node, can_join: bool, values: &VariableValues, slot: &mut dyn FnMut() -> usize) {
    plan.visit_nodes_mut(&mut |node| {
        let Node::Apply { input, subquery, test, slot: result, correlated: true, guards, memo } = node else { return };
        if !guards.is_empty() || !can_be_looked_up(aggregation(subquery)) || size_of(input, values).rows < ROWS_MIN {
            return;
        }
        let groups = Groups::of(std::mem::replace(aggregation(subquery), Node::One), slot);
        match test {
            Test::Scalar(value) if can_join && is_computed(subquery) => {
                let outside = std::mem::replace(&mut **input, Node::One);
                let joined = groups.joined_to(outside, |assignments| {
                    take_assignments(subquery, assignments);
                    assignments.push((*result, value.clone()));
                });
                *node = joined;
            }
            _ => {
                *aggregation(subquery) = groups.joined_to(Node::One, |_| ());
                *memo = None;
            }
        }
    });
}

/// The operator below computed values and conditions: in a subquery of one row, the aggregation that gives it.
fn aggregation(node: &mut Node) -> &mut Node {
    match node {
        Node::Compute { input, .. } | Node::Filter { input, .. } => aggregation(input),
        other => other,
    }
}

/// True if there are computed values alone over what is below.
fn is_computed(node: &Node) -> bool {
    match node {
        Node::Compute { input, .. } => is_computed(input),
        Node::Filter { .. } => false,
        _ => true,
    }
}

/// Takes the values that are computed, the inner ones first.
fn take_assignments(node: &mut Node, into: &mut Vec<(usize, Expr)>) {
    if let Node::Compute { input, assignments } = node {
        take_assignments(input, into);
        into.append(assignments);
    }
}

fn can_be_looked_up(group: &Node) -> bool {
    let Node::Group { input, keys, aggregates } = group else { return false };
    let Node::More(more) = &**input else { return false };
    let More::Spool(spool) = &**more else { return false };
    let mut filled = LiveSlots::default();
    spool.input.visit_filled(&mut |slot| filled.add(slot));
    let is_own = |aggregate: &Aggregate| {
        let mut is_own = true;
        aggregate.input.iter().for_each(|input| input.visit_slots(&mut |slot| is_own &= filled.has(slot)));
        is_own
    };
    keys.is_empty() && !spool.keys.is_empty() && aggregates.iter().all(|own| cannot_fail(own) && is_own(own))
}

/// True for an aggregate of a column that no value of it makes fail, in the type that [`settle`] gives it.
fn cannot_fail(aggregate: &Aggregate) -> bool {
    let ty = &aggregate.input_type;
    let is_safe = match aggregate.function {
        Function::Count | Function::CountBig | Function::Min | Function::Max => true,
        Function::Sum => matches!(ty, SqlType::TinyInt | SqlType::SmallInt | SqlType::Int | SqlType::SmallMoney),
        Function::Avg => Width::of(ty).is_some() || matches!(ty, SqlType::Money | SqlType::SmallMoney),
        _ => false,
    };
    let adds = matches!(aggregate.function, Function::Sum | Function::Avg);
    let is_short = adds && matches!(ty, SqlType::Decimal { precision, .. } if *precision <= SUMMED_DIGITS_MAX);
    (is_safe || is_short) && aggregate.input.as_ref().is_none_or(is_plain)
}

/// Groups that are found by the key of a row outside.
struct Groups {
    found: Node,
    registers: Vec<Registers>,
    /// Values made of what is found, or of nothing where nothing is.
    settled: Vec<(usize, Expr)>,
}

impl Groups {
    fn of(group: Node, new_slot: &mut dyn FnMut() -> usize) -> Groups {
        let (mut by, mut wanted, mut settled) = (Vec::new(), Vec::new(), Vec::new());
        let (input, mut aggregates) = match group {
            Node::Group { input, aggregates, .. } => (*input, aggregates),
            other => (other, Vec::new()),
        };
        let (input, keys) = match input {
            Node::More(more) => match *more {
                More::Spool(spool) => (spool.input, spool.keys),
                other => (Node::More(Box::new(other)), Vec::new()),
            },
            other => (other, Vec::new()),
        };
        for JoinKey { inner, outer, collation } in keys {
            let slot = new_slot();
            let kept = match &inner {
                Expr::Integer(_, width) => Expr::Integer(Box::new(Integer::Slot(slot)), *width),
                _ => Expr::Slot(slot),
            };
            by.push((SortKey { expr: inner, descending: false, collation }, slot));
            wanted.push(JoinKey { inner: kept, outer, collation });
        }
        for aggregate in &mut aggregates {
            settled.extend(settle(aggregate, new_slot));
        }
        let carry: Vec<usize> = aggregates.iter().map(|aggregate| aggregate.slot).collect();
        let registers = carry.iter().map(|slot| Registers { first: *slot, count: 1 }).collect();
        let groups = Node::Group { input: Box::new(input), keys: by, aggregates };
        let found = Node::More(Box::new(More::Spool(Spool { input: groups, keys: wanted, carry })));
        Groups { found, registers, settled }
    }

    /// Rows with the groups of their keys, and values that are computed of them.
    fn joined_to(self, rows: Node, compute: impl FnOnce(&mut Vec<(usize, Expr)>)) -> Node {
        let Groups { found, registers, settled: mut assignments } = self;
        let (left, right) = (Box::new(rows), Box::new(found));
        let joined = Node::Join { left, right, kind: JoinKind::Left, on: None, right_registers: registers };
        compute(&mut assignments);
        match assignments.is_empty() {
            true => joined,
            false => Node::Compute { input: Box::new(joined), assignments },
        }
    }
}

/// Gives an aggregate another slot where its result is not what is found: the value of its own one.
fn settle(aggregate: &mut Aggregate, new_slot: &mut dyn FnMut() -> usize) -> Option<(usize, Expr)> {
    let own = aggregate.slot;
    let value = match aggregate.function {
        Function::Count | Function::CountBig => {
            aggregate.slot = new_slot();
            let is_big = aggregate.function == Function::CountBig;
            let none = if is_big { Value::BigInt(0) } else { Value::Int(0) };
            Expr::Coalesce(Box::new([Expr::Slot(aggregate.slot), Expr::Const(none)]))
        }
        Function::Sum if Width::of(&aggregate.input_type).is_some() => {
            aggregate.slot = new_slot();
            aggregate.input_type = SqlType::BigInt;
            let narrow = Integer::Narrow(Box::new(Integer::Slot(aggregate.slot)), Width::Big, Width::Int);
            Expr::Integer(Box::new(narrow), Width::Int)
        }
        _ => return None,
    };
    Some((own, value))
}
