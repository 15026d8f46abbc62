//! Tests of subqueries, `x IN (SELECT ...)` above all, that are made before the rows are joined.
//!
//! ```text
//!   FROM a JOIN b ON .. WHERE a.x IN (SELECT ..)      tested last: all of a JOIN b
//!                                                     tested early: rows of a alone, which may even be looked up by their x
//! ```
//! A test that must hold and whose subquery reads nothing outside moves to the table whose column it looks for: then a row of the table
//! is in no row of the result if the test does not hold for it. See [`crate::optimizer::rules::semi_join_reduction`] for what it does
//! there.
//!
//! One whose subquery reads a single table outside, and so runs for each row, moves to that table if fewer rows of it than of all joined
//! rows are expected ([`EarlyTest::choose`]), and if nothing of it can fail: it is asked about rows that are never joined. Where the table's
//! rows are read again for each row before them, those that were found are kept.

use super::semi_join_reduction::slot_of;
use crate::bind::join::{JoinTree, Leaf};
use crate::bind::open_query::can_fail;
use crate::bind::{PendingApply, applied, filtered};
use crate::expression::{Expr, Integer, Predicate};
use crate::optimizer::cardinality;
use crate::optimizer::variable_values::VariableValues;
use crate::plan::Registers;
use crate::plan::{Aggregate, JoinKind, More, Node, Test};
use pikepole_types::Aggregate as Function;

/// The factor by which fewer rows must be asked about, where that can be chosen.
const GAIN_MIN: f64 = 2.0;

/// A test and the source whose rows it is made on.
#[derive(Clone)]
pub(crate) struct EarlyTest {
    pub(crate) source: usize,
    pending: PendingApply,
    condition: Predicate,
    /// It is made early. One that runs for each row is at first not: that is chosen with the order of the joins.
    is_chosen: bool,
}

impl EarlyTest {
    /// True if the test is made on the rows of a source.
    pub(crate) fn is_of(&self, source: usize) -> bool {
        self.is_chosen && self.source == source
    }

    /// True if the test runs its subquery for each row of a source.
    pub(crate) fn is_dear_of(&self, source: usize) -> bool {
        self.is_of(source) && self.pending.is_run_anew()
    }

    /// The slot that is looked for among the values of a subquery, the rows of that, and how many values its table has, if that is known.
    pub(crate) fn looked_for(&self, values: &VariableValues) -> Option<(usize, f64, Option<f64>)> {
        let Test::In { left, right, .. } = &self.pending.test else { return None };
        let rows = cardinality::of(&self.pending.subquery, values).rows;
        let of_table = slot_of(right).and_then(|slot| cardinality::values_in(&self.pending.subquery, slot));
        Some((slot_of(left)?, rows, of_table))
    }

    /// Has the test made early if it is asked about fewer rows there than among all that are joined.
    pub(crate) fn choose(&mut self, alone: f64, joined: f64) {
        self.is_chosen |= alone * GAIN_MIN <= joined;
    }
}

/// Takes the tests that can be made before rows are joined, with their conditions.
pub(crate) fn take_early(
    tree: &JoinTree,
    registers: &[Registers],
    variables: usize,
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
        let reads = |condition: &Predicate| {
            let mut reads = false;
            condition.visit_slots(&mut |slot| reads |= slot == subquery.slot);
            reads
        };
        let mut reading = conditions.iter().enumerate().filter(|(_, condition)| reads(condition));
        let own = reading.next().filter(|_| reading.next().is_none() && !guards.iter().any(reads));
        let found = own.and_then(|(at, condition)| {
            let has = |source: &usize, slot: usize| registers[*source].range().contains(&slot);
            let owner = |slot: usize| tables.iter().copied().find(|source| has(source, slot));
            if matches!(condition, Predicate::Slot(_))
                && let Some(source) = column_tested(&subquery).and_then(owner)
            {
                return Some((at, source, true));
            }
            let source = owner(first_read(&subquery, variables)?)?;
            let is_own = |slot: usize| slot < variables || has(&source, slot);
            runs_on_one(&subquery, condition, &is_own).then_some((at, source, false))
        });
        match found {
            Some((at, source, is_chosen)) => {
                let condition = conditions.remove(at);
                early.push(EarlyTest { source, pending: subquery, condition, is_chosen });
            }
            None => rest.push(subquery),
        }
    }
    *pending = rest;
    early
}

/// Gives back the tests that are made on all joined rows.
pub(crate) fn give_back(early: Vec<EarlyTest>, pending: &mut Vec<PendingApply>, conditions: &mut Vec<Predicate>) {
    for test in early {
        // They run in the order in which they are written.
        let at = pending.partition_point(|other| other.slot < test.pending.slot);
        pending.insert(at, test.pending);
        conditions.push(test.condition);
    }
}

/// A slot of a row outside that a test reads.
fn first_read(subquery: &PendingApply, variables: usize) -> Option<usize> {
    let mut first = None;
    visit_outer(subquery, &mut |slot| first = first.or((slot >= variables).then_some(slot)));
    first
}

fn visit_outer(subquery: &PendingApply, visit: &mut dyn FnMut(usize)) {
    if let Test::In { left, .. } = &subquery.test {
        left.visit_slots(visit);
    }
    subquery.subquery.visit_outer(visit);
}

/// True for a test that runs for each row, reads only what is its own, and cannot fail.
fn runs_on_one(subquery: &PendingApply, condition: &Predicate, is_own: &dyn Fn(usize) -> bool) -> bool {
    let is_plain_test = match &subquery.test {
        Test::In { left, right, .. } => is_plain(left) && is_plain(right) && is_outcome(condition),
        Test::Exists => is_outcome(condition),
        // More than one row is an error.
        Test::Scalar(value) => is_plain(value) && is_one_row(&subquery.subquery) && !can_fail(condition),
        Test::Extremes { .. } => false,
    };
    if !subquery.correlated || !subquery.guards.is_empty() || !is_plain_test {
        return false;
    }
    let mut only_own = true;
    visit_outer(subquery, &mut |slot| only_own &= is_own(slot));
    condition.visit_slots(&mut |slot| only_own &= slot == subquery.slot || is_own(slot));
    only_own && cannot_fail(&subquery.subquery)
}

/// True for a test's outcome, and for its opposite.
fn is_outcome(condition: &Predicate) -> bool {
    match condition {
        Predicate::Slot(_) => true,
        Predicate::Not(inner) => matches!(**inner, Predicate::Slot(_)),
        _ => false,
    }
}

/// True if there is at most one row, that of all rows together.
fn is_one_row(node: &Node) -> bool {
    match node {
        Node::Group { keys, .. } => keys.is_empty(),
        Node::Compute { input, .. } | Node::Filter { input, .. } => is_one_row(input),
        _ => false,
    }
}

/// True if rows are made of scans, joins, groups and conditions that no value makes fail.
fn cannot_fail(node: &Node) -> bool {
    let mut cannot = true;
    node.visit_nodes(&mut |node| {
        cannot &= match node {
            Node::One => true,
            Node::Scan(scan) => scan.range.values().all(|key| is_plain(&key.expr)),
            Node::Filter { predicate, .. } => !can_fail(predicate),
            Node::Join { on, .. } => !on.as_ref().is_some_and(can_fail),
            Node::Compute { assignments, .. } => assignments.iter().all(|(_, value)| is_plain(value)),
            Node::Group { keys, aggregates, .. } => {
                keys.iter().all(|(key, _)| is_plain(&key.expr)) && aggregates.iter().all(is_plain_aggregate)
            }
            _ => false,
        };
    });
    cannot
}

/// True for an aggregate of a plain value that has no sum to overflow.
fn is_plain_aggregate(aggregate: &Aggregate) -> bool {
    matches!(aggregate.function, Function::Min | Function::Max | Function::Count | Function::CountBig)
        && aggregate.input.as_ref().is_none_or(is_plain)
}

/// True for a constant, and for a slot as it is.
pub(super) fn is_plain(value: &Expr) -> bool {
    let is_constant = match value {
        Expr::Const(_) => true,
        Expr::Integer(integer, _) => matches!(**integer, Integer::Const(_)),
        _ => false,
    };
    is_constant || slot_of(value).is_some()
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
    slot_of(left)
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
    let (pending, conditions): (Vec<_>, Vec<_>) = tests.into_iter().map(|test| (test.pending, test.condition)).unzip();
    filtered(applied(node, pending), conditions)
}
