//! Scans that only give rows whose value a subquery has: `WHERE x IN (SELECT ...)`, with an index that begins with `x`.
//!
//! How many values that are is known when the subquery has run, so the plan only notes which key they could be looked up in, and the
//! subquery's cursor decides: few values are looked up, for many the table is read as it would be anyway.

use crate::access::Table;
use crate::expression::{Expr, Integer, Predicate};
use crate::plan::{Narrowing, Node, Scan, Test};
use pikepole_types::{Collation, SqlType};

/// What an IN with a subquery asks of the rows below: the slot of its outcome, the slot that it looks for, how texts compare.
struct Asked {
    outcome: usize,
    slot: usize,
    collation: Collation,
}

/// Notes at the scan below which of the conditions above narrow it. All of them must hold.
pub(crate) fn narrow(node: &mut Node, conditions: &[Predicate]) {
    let mut outcomes = Vec::new();
    conditions.iter().for_each(|condition| must_hold(condition, &mut outcomes));
    if !outcomes.is_empty() {
        narrow_below(node, &mut outcomes, &mut Vec::new());
    }
}

/// The outcomes of subqueries without which a condition does not hold.
fn must_hold(condition: &Predicate, outcomes: &mut Vec<usize>) {
    match condition {
        Predicate::Slot(slot) => outcomes.push(*slot),
        Predicate::And(parts) => parts.iter().for_each(|part| must_hold(part, outcomes)),
        _ => {}
    }
}

fn narrow_below(node: &mut Node, outcomes: &mut Vec<usize>, asked: &mut Vec<Asked>) {
    match node {
        Node::Filter { input, predicate } => {
            must_hold(predicate, outcomes);
            narrow_below(input, outcomes, asked);
        }
        Node::Compute { input, .. } => narrow_below(input, outcomes, asked),
        Node::Apply { input, test, slot, correlated, guards, .. } => {
            if let Test::In { left, collation, .. } = test
                && let Some(looked_for) = slot_of(left)
                && !*correlated
                && guards.is_empty()
                && outcomes.contains(slot)
            {
                asked.push(Asked { outcome: *slot, slot: looked_for, collation: *collation });
            }
            narrow_below(input, outcomes, asked);
        }
        Node::Scan(scan) if scan.range.is_whole() => {
            scan.narrowing = asked.iter().find_map(|asked| narrowing(scan, asked));
        }
        _ => {}
    }
}

/// The column that a value is of, if nothing is done to it but that its integers become wider.
pub(super) fn slot_of(value: &Expr) -> Option<usize> {
    match value {
        Expr::Slot(slot) => Some(*slot),
        Expr::Integer(integer, _) => match **integer {
            Integer::Slot(slot) => Some(slot),
            _ => None,
        },
        _ => None,
    }
}

fn narrowing(scan: &Scan, asked: &Asked) -> Option<Narrowing> {
    let table: &Table = &scan.table;
    let column = scan.registers.range().position(|slot| slot == asked.slot)?;
    let own = table.columns.get(column)?;
    // The key's bytes of a decimal depend on its scale, its order is that of the column's collation.
    let of_other_bytes = matches!(own.ty, SqlType::Decimal { .. } | SqlType::Variant | SqlType::Xml);
    let of_other_order = own.ty.is_string() && own.order() != asked.collation;
    if of_other_bytes || of_other_order {
        return None;
    }
    let outcome = asked.outcome;
    if table.key.first().is_some_and(|key| key.column == column) {
        return Some(Narrowing { outcome, index: None });
    }
    let index = table.indexes.iter().find(|index| {
        let begins = index.key.first().is_some_and(|key| key.column == column);
        begins && index.leads_by_first() && index.not_null.is_empty() && index.tests.is_empty()
    })?;
    Some(Narrowing { outcome, index: Some(index.id) })
}
