//! Tests of `x IN (SELECT ...)` that are made before the rows are joined.
//!
//! ```text
//!   FROM a JOIN b ON .. WHERE a.x IN (SELECT ..)      tested last: all of a JOIN b
//!                                                     tested early: rows of a alone, which may even be looked up by their x
//! ```
//! A test moves to the table whose column it looks for, if it must hold and its subquery reads nothing outside: then a row of the table is
//! in no row of the result if the test does not hold for it. See [`crate::optimizer::rules::semi_join_reduction`] for what it does there.

use crate::bind::join::{JoinTree, Leaf};
use crate::bind::{PendingApply, applied, filtered};
use crate::expression::{Expr, Integer, Predicate};
use crate::plan::Registers;
use crate::plan::{JoinKind, More, Node, Test};

/// A test and the source whose rows it is made on.
pub(crate) struct EarlyTest {
    pub(crate) source: usize,
    pending: PendingApply,
}

/// Takes the tests that can be made before rows are joined, with their conditions.
pub(crate) fn take_early(
    tree: &JoinTree,
    registers: &[Registers],
    pending: &mut Vec<PendingApply>,
    conditions: &mut Vec<Predicate>,
) -> Vec<EarlyTest> {
    let mut tables = Vec::new();
    if !matches!(tree, JoinTree::Leaf(..)) {
        visit_inner_tables(tree, &mut |source| tables.push(source));
    }
    let guards: Vec<Predicate> =
        pending.iter().flat_map(|subquery| &subquery.guards).map(|guard| guard.condition.clone()).collect();
    let (mut early, mut rest) = (Vec::new(), Vec::new());
    for subquery in pending.drain(..) {
        let source = column_tested(&subquery)
            .and_then(|slot| tables.iter().copied().find(|source| registers[*source].range().contains(&slot)));
        let own = conditions.iter().position(|one| matches!(one, Predicate::Slot(slot) if *slot == subquery.slot));
        let reads = |condition: &Predicate| {
            let mut reads = false;
            condition.visit_slots(&mut |slot| reads |= slot == subquery.slot);
            reads
        };
        match (source, own) {
            (Some(source), Some(own)) if conditions.iter().chain(&guards).filter(|one| reads(one)).count() == 1 => {
                conditions.remove(own);
                early.push(EarlyTest { source, pending: subquery });
            }
            _ => rest.push(subquery),
        }
    }
    *pending = rest;
    early
}

/// The sources that are tables whose rows are all in rows of the result, or in none: those that only inner joins join.
fn visit_inner_tables(tree: &JoinTree, visit: &mut dyn FnMut(usize)) {
    match tree {
        JoinTree::Leaf(source, Leaf::Table(_)) => visit(*source),
        JoinTree::Join { left, right, kind: JoinKind::Inner, .. } => {
            visit_inner_tables(left, visit);
            visit_inner_tables(right, visit);
        }
        JoinTree::Join { left, .. } => visit_inner_tables(left, visit),
        JoinTree::Leaf(..) | JoinTree::Full { .. } | JoinTree::Marked(..) => {}
    }
}

/// The column that a test looks for, if there is nothing that it must wait for.
fn column_tested(subquery: &PendingApply) -> Option<usize> {
    let Test::In { left, .. } = &subquery.test else { return None };
    if subquery.correlated || !subquery.guards.is_empty() || subquery.is_call() {
        return None;
    }
    match left {
        Expr::Slot(slot) => Some(*slot),
        Expr::Integer(integer, _) => match **integer {
            Integer::Slot(slot) => Some(slot),
            _ => None,
        },
        _ => None,
    }
}

/// The rows of a source for which the tests hold; of rows that are kept to be found again, before they are.
pub(crate) fn tested(node: Node, tests: Vec<EarlyTest>) -> Node {
    if tests.is_empty() {
        return node;
    }
    match node {
        Node::Filter { input, predicate } if is_kept(&input) => {
            Node::Filter { input: Box::new(tested(*input, tests)), predicate }
        }
        Node::More(more) => match *more {
            More::Spool(mut spool) => {
                spool.input = tested(spool.input, tests);
                Node::More(Box::new(More::Spool(spool)))
            }
            other => above(Node::More(Box::new(other)), tests),
        },
        node => above(node, tests),
    }
}

fn is_kept(node: &Node) -> bool {
    matches!(node, Node::More(more) if matches!(more.as_ref(), More::Spool(_)))
}

fn above(node: Node, tests: Vec<EarlyTest>) -> Node {
    let (pending, conditions): (Vec<_>, Vec<_>) = tests
        .into_iter()
        .map(|test| {
            let condition = Predicate::Slot(test.pending.slot);
            (test.pending, condition)
        })
        .unzip();
    filtered(applied(node, pending), conditions)
}
