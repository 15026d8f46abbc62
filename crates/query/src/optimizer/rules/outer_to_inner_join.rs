//! Outer joins whose rows without a match nobody would see.
//!
//! `a LEFT JOIN b ON .. WHERE b.x = 5` drops every row that the join would add, since there `b.x` is NULL: it is an inner join, which
//! may run in any order and finds `b`'s rows by the key of `x`. What an inner join's ON says holds for the joins within it as well
//! (Galindo-Legaria and Rosenthal, "Outerjoin simplification and reordering for query optimization", 1997).

use crate::bind::join::JoinTree;
use crate::bind::scope::Source;
use crate::expression::{Expr, Integer, Predicate};
use crate::plan::{JoinKind, Registers};

/// The joins with inner ones for those left joins whose added rows one of the conditions drops.
pub(crate) fn simplified(tree: JoinTree, conditions: &[Predicate], sources: &[Source]) -> JoinTree {
    if !has_left_join(&tree) {
        return tree;
    }
    match tree {
        JoinTree::Join { left, right, kind, lateral, on } => {
            let added = registers_of(&right, sources);
            let drops = |condition: &Predicate| drops_nulls(condition, &added);
            let kind = if conditions.iter().any(drops) { JoinKind::Inner } else { kind };
            let both;
            let (of_left, of_right) = match kind {
                JoinKind::Inner => {
                    both = [conditions, &on].concat();
                    (both.as_slice(), both.as_slice())
                }
                JoinKind::Left => (conditions, on.as_slice()),
            };
            let left = Box::new(simplified(*left, of_left, sources));
            let right = Box::new(simplified(*right, of_right, sources));
            JoinTree::Join { left, right, kind, lateral, on }
        }
        JoinTree::Marked(inner, slot) => JoinTree::Marked(Box::new(simplified(*inner, conditions, sources)), slot),
        tree @ (JoinTree::Leaf(..) | JoinTree::Full { .. }) => tree,
    }
}

fn has_left_join(tree: &JoinTree) -> bool {
    match tree {
        JoinTree::Leaf(..) | JoinTree::Full { .. } => false,
        JoinTree::Join { left, right, kind, .. } => {
            *kind == JoinKind::Left || has_left_join(left) || has_left_join(right)
        }
        JoinTree::Marked(inner, _) => has_left_join(inner),
    }
}

fn registers_of(tree: &JoinTree, sources: &[Source]) -> Vec<Registers> {
    let mut registers = Vec::new();
    tree.visit_leaves(&mut |source, _| registers.push(sources[source].registers));
    registers
}

/// Whether a condition holds for no row that has NULL in all of these registers.
fn drops_nulls(condition: &Predicate, registers: &[Registers]) -> bool {
    let null = |expr: &Expr| is_null(expr, registers);
    let integer = |integer: &Integer| is_null_integer(integer, registers);
    match condition {
        Predicate::Integers(_, sides) => sides.iter().any(integer),
        Predicate::Values(_, sides, _) => sides.iter().any(null),
        Predicate::InIntegers(of, ..) => integer(of),
        Predicate::InValues(of, ..) | Predicate::LikeConst(of, _) => null(of),
        Predicate::Like { operands, .. } => operands.iter().any(null),
        Predicate::Not(inner) => match inner.as_ref() {
            Predicate::IsNull(of) => null(of),
            // What cannot be told cannot be denied either.
            Predicate::And(_) | Predicate::Or(_) | Predicate::Not(_) => false,
            inner => drops_nulls(inner, registers),
        },
        Predicate::Or(parts) => parts.iter().all(|part| drops_nulls(part, registers)),
        Predicate::And(parts) => parts.iter().any(|part| drops_nulls(part, registers)),
        Predicate::Const(_) | Predicate::IsNull(_) | Predicate::Slot(_) => false,
    }
}

/// Whether an expression is NULL when all of these registers are.
fn is_null(expr: &Expr, registers: &[Registers]) -> bool {
    match expr {
        Expr::Slot(slot) => registers.iter().any(|registers| registers.range().contains(slot)),
        Expr::Integer(integer, _) | Expr::Whole(integer, _) => is_null_integer(integer, registers),
        Expr::Convert(convert) => is_null(&convert.input, registers),
        _ => false,
    }
}

fn is_null_integer(integer: &Integer, registers: &[Registers]) -> bool {
    match integer {
        Integer::Slot(slot) => registers.iter().any(|registers| registers.range().contains(slot)),
        Integer::Binary { operands, .. } => operands.iter().any(|operand| is_null_integer(operand, registers)),
        Integer::Negate(inner, _) | Integer::Complement(inner, _) | Integer::Narrow(inner, ..) => {
            is_null_integer(inner, registers)
        }
        Integer::Other(expr) => is_null(expr, registers),
        Integer::Const(_) | Integer::Global(_) | Integer::Short(_) => false,
    }
}
