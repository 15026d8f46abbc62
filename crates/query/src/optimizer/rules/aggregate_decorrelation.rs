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
use crate::plan::{Aggregate, JoinKey, JoinKind, LiveSlots, More, Node, Registers, SortKey, Spool};
use pikepole_types::{Aggregate as Function, SqlType, Value};

/// Rows outside from which on groups are made. A single one is served by reading the rows and keeping none.
const ROWS_MIN: f64 = 2.0;

/// Digits of decimals that no number of rows adds up to more than the 38 of a sum.
const SUMMED_DIGITS_MAX: u8 = 28;

/// Makes lookups of groups of the subqueries in a plan that can be such; `slot` gives new slots.
pub(crate) fn decorrelate(plan: &mut Node, slot: &mut dyn FnMut() -> usize) {
    plan.visit_nodes_mut(&mut |node| {
        if let Node::Apply { input, subquery, correlated: true, guards, memo, .. } = node
            && guards.is_empty()
            && let Some(group) = aggregated(subquery)
            && can_be_looked_up(group)
            && size_of(input).rows >= ROWS_MIN
        {
            let looked_up = lookup(std::mem::replace(group, Node::One), slot);
            *group = looked_up;
            *memo = None;
        }
    });
}

/// The aggregation that gives the only row of a subquery.
fn aggregated(node: &mut Node) -> Option<&mut Node> {
    match node {
        Node::Compute { input, .. } | Node::Filter { input, .. } => aggregated(input),
        Node::Group { .. } => Some(node),
        _ => None,
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

/// True for an aggregate of a column that no value of it makes fail, in the type that [`summed_type`] says.
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

/// The group that is found for a row outside, or what aggregates of nothing give.
fn lookup(group: Node, new_slot: &mut dyn FnMut() -> usize) -> Node {
    let Node::Group { input, mut aggregates, .. } = group else { return group };
    let Node::More(more) = *input else { return Node::Group { input, keys: Vec::new(), aggregates } };
    let More::Spool(Spool { input, keys, .. }) = *more else {
        return Node::Group { input: Box::new(Node::More(more)), keys: Vec::new(), aggregates };
    };
    let (mut by, mut wanted) = (Vec::new(), Vec::new());
    for JoinKey { inner, outer, collation } in keys {
        let slot = new_slot();
        by.push((SortKey { expr: inner, descending: false, collation }, slot));
        wanted.push(JoinKey { inner: Expr::Slot(slot), outer, collation });
    }
    let mut settled = Vec::new();
    for aggregate in &mut aggregates {
        if let Some(value) = settle(aggregate, new_slot) {
            settled.push(value);
        }
    }
    let carry: Vec<usize> = aggregates.iter().map(|aggregate| aggregate.slot).collect();
    let right_registers = carry.iter().map(|slot| Registers { first: *slot, count: 1 }).collect();
    let groups = Node::Group { input: Box::new(input), keys: by, aggregates };
    let found = Node::More(Box::new(More::Spool(Spool { input: groups, keys: wanted, carry })));
    let (left, right) = (Box::new(Node::One), Box::new(found));
    let joined = Node::Join { left, right, kind: JoinKind::Left, on: None, right_registers };
    Node::Compute { input: Box::new(joined), assignments: settled }
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
