//! Conditions on the columns of a query that is planned move down to the rows it is made of.
//!
//! ```text
//!   SELECT .. FROM (SELECT g, COUNT(*) n FROM t GROUP BY g) d WHERE d.g = 5        only the rows with g = 5 are grouped
//!   ... (SELECT .. UNION SELECT ..) d WHERE d.x = 5                                each side is asked for those with 5
//!   ... (SELECT .., ROW_NUMBER() OVER (PARTITION BY g ..) ..) d WHERE d.g = 5      one partition is numbered
//!   ... (SELECT .., ROW_NUMBER() OVER (ORDER BY x) n ..) d WHERE d.n <= 10         ten rows are numbered
//! ```
//! A condition passes an operator when it says the same of all rows that the operator puts together: it reads nothing but what rows of
//! a group or a partition have in common, and compares it as they were compared. It passes no TOP, and neither do conditions that can
//! fail for a value (see [`crate::bind::open_query`]): the rows that they would fail for may be left out further down.

use crate::bind::filtered;
use crate::bind::open_query::{moved, slot_of};
use crate::bind::query::cut;
use crate::expression::{Case, Comparison, Expr, Integer, IntegerOp, Predicate, Width};
use crate::optimizer::RuleSet;
use crate::optimizer::rules::common_table_spool::{PlanSize, keep_columns};
use crate::optimizer::rules::index_seek::key_range;
use crate::plan::{CommonRows, JoinKind, More, Node, Numbering, Registers, Sharing, SortKey, WholeRows};
use pikepole_types::{Collation, Value};

/// Moves conditions as far down as they get. They read nothing but slots of `node` and variables, the slots below `variables`, and cannot
/// fail for a value. What gets no further stands as a filter where it is.
pub(crate) fn push_down(node: Node, conditions: Vec<Predicate>, variables: usize, rules: RuleSet) -> Node {
    pushed(node, conditions, Place { variables, keeps_order: false, rules })
}

/// Where conditions have come to.
#[derive(Clone, Copy)]
struct Place {
    /// The slots of variables are below this one.
    variables: usize,
    /// Rows are to come in the order in which they come without conditions: what numbers them has no sort below it.
    keeps_order: bool,
    rules: RuleSet,
}

fn pushed(node: Node, mut conditions: Vec<Predicate>, place: Place) -> Node {
    if conditions.iter().any(|condition| condition.constant() == Some(false)) {
        return no_rows(&node);
    }
    conditions.retain(|condition| condition.constant().is_none());
    if conditions.is_empty() {
        return node;
    }
    let variables = place.variables;
    let push = |node: Box<Node>, conditions: Vec<Predicate>| Box::new(pushed(*node, conditions, place));
    match node {
        Node::Filter { input, predicate } => Node::Filter { input: push(input, conditions), predicate },
        Node::Compute { input, assignments } => {
            // A value that a later one reads again is not the one that a condition would read below.
            let is_clear = !assignments.iter().any(|(to, _)| assignments.iter().any(|(_, value)| reads(value, *to)));
            let below = |slot: usize| match assignments.iter().rev().find(|(to, _)| *to == slot) {
                Some((_, value)) => plain(value),
                None => Some(Expr::Slot(slot)),
            };
            let (down, stay) = divided(conditions, |condition| moved(condition, &below).filter(|_| is_clear));
            filtered(Node::Compute { input: push(input, down), assignments }, stay)
        }
        Node::Group { input, keys, aggregates } => {
            let key_of = |slot: usize| keys.iter().find(|(_, to)| *to == slot).map(|(key, _)| key);
            let below =
                |slot: usize| if slot < variables { Some(Expr::Slot(slot)) } else { plain(&key_of(slot)?.expr) };
            // Grouping sets leave values out, and without grouping values there is a group of no rows.
            let expands = matches!(&*input, Node::More(more) if matches!(more.as_ref(), More::Expand(_)));
            let divides = !expands && !keys.is_empty();
            let (down, stay) = divided(conditions, |condition| {
                moved(condition, &below).filter(|_| divides && says_same(condition, &key_of, variables))
            });
            filtered(Node::Group { input: push(input, down), keys, aggregates }, stay)
        }
        Node::Sort { input, keys, carry } => {
            let (down, stay) = parted(conditions, |condition| carries(condition, &carry, variables));
            let input = Box::new(pushed(*input, down, Place { keeps_order: false, ..place }));
            filtered(Node::Sort { input, keys, carry }, stay)
        }
        Node::Number { input, partition, order, functions } => {
            let (down, stay) = parted(conditions, |condition| is_of(&partition, condition, variables));
            let input = pushed(*input, down, Place { keeps_order: true, ..place });
            let last =
                stay.iter().filter(|_| partition.is_empty()).find_map(|part| last_row(part, &functions, variables));
            let input = Box::new(if last.is_some() { cut(input, None, last) } else { input });
            filtered(Node::Number { input, partition, order, functions }, stay)
        }
        Node::Concat { inputs, registers } => push_into_each(inputs, registers, conditions, place),
        Node::Join { left, right, kind, on, right_registers } => {
            let (to_left, rest) = parted(conditions, |condition| is_filled_by(&left, condition, variables));
            let (to_right, stay) =
                parted(rest, |condition| kind == JoinKind::Inner && is_filled_by(&right, condition, variables));
            let (left, right) = (push(left, to_left), push(right, to_right));
            filtered(Node::Join { left, right, kind, on, right_registers }, stay)
        }
        Node::Apply { input, subquery, test, slot, correlated, guards, memo } => {
            let (down, stay) = parted(conditions, |condition| is_filled_by(&input, condition, variables));
            filtered(Node::Apply { input: push(input, down), subquery, test, slot, correlated, guards, memo }, stay)
        }
        Node::Scan(mut scan) if scan.range.is_whole() => {
            let mut rest = conditions.clone();
            let range = key_range(&scan.table, scan.registers, &mut rest, &|slot| slot < variables, place.rules);
            if range.index.is_some() && place.keeps_order {
                return filtered(Node::Scan(scan), conditions);
            }
            scan.range = range;
            filtered(Node::Scan(scan), rest)
        }
        Node::More(more) => push_into_more(*more, conditions, place),
        other => filtered(other, conditions),
    }
}

/// No row, in the registers of those that there would be.
fn no_rows(node: &Node) -> Node {
    let (mut first, mut end) = (usize::MAX, 0);
    node.visit_filled(&mut |slot| (first, end) = (first.min(slot), end.max(slot + 1)));
    Node::Values { rows: Vec::new(), registers: Registers { first: first.min(end), count: end - first.min(end) } }
}

fn is_empty(node: &Node) -> bool {
    matches!(node, Node::Values { rows, .. } if rows.is_empty())
}

fn push_into_more(more: More, conditions: Vec<Predicate>, place: Place) -> Node {
    let variables = place.variables;
    let (more, stay) = match more {
        More::Windows(mut windows) => {
            let (down, stay) = parted(conditions, |condition| is_of(&windows.partition, condition, variables));
            windows.input = pushed(windows.input, down, Place { keeps_order: true, ..place });
            (More::Windows(windows), stay)
        }
        More::Spool(mut spool) => {
            let (down, stay) = parted(conditions, |condition| carries(condition, &spool.carry, variables));
            spool.input = pushed(spool.input, down, place);
            (More::Spool(spool), stay)
        }
        More::Common(common) => return push_into_name(common, conditions, place),
        more => (more, conditions),
    };
    filtered(Node::More(Box::new(more)), stay)
}

/// Into the rows that a name of a common table has for itself; those that it may share are without the conditions. Where such names are
/// within its rows it has them for itself from then on: a second plan at each level would double the plan by each.
fn push_into_name(mut common: CommonRows, conditions: Vec<Predicate>, place: Place) -> Node {
    match &mut common.sharing {
        Sharing::Open(Some(whole)) => whole.conditions.extend(conditions.iter().cloned()),
        Sharing::Open(whole) if PlanSize::of(&common.input).names == 0 => {
            *whole = Some(Box::new(WholeRows { node: common.input.clone(), conditions: conditions.clone() }));
        }
        Sharing::Open(_) => {
            keep_columns(&mut common.input, |slot| common.read.contains(&slot));
            return pushed(common.input, conditions, place);
        }
        Sharing::Shared { .. } => return filtered(Node::More(Box::new(More::Common(common))), conditions),
    }
    common.input = pushed(common.input, conditions, place);
    Node::More(Box::new(More::Common(common)))
}

/// Into each of several inputs that can take them; those stay on top that one of them cannot take. An input that they leave no row
/// of is left out.
fn push_into_each(
    mut inputs: Vec<(Node, Vec<Expr>)>,
    registers: Registers,
    conditions: Vec<Predicate>,
    place: Place,
) -> Node {
    let mut stays = vec![false; conditions.len()];
    for (node, values) in &mut inputs {
        let below = |slot: usize| match registers.range().contains(&slot) {
            true => plain(&values[slot - registers.first]),
            false => Some(Expr::Slot(slot)),
        };
        let mut down = Vec::new();
        for (condition, stays) in conditions.iter().zip(&mut stays) {
            let moved = moved(condition, &below).filter(|moved| is_filled_by(node, moved, place.variables));
            *stays |= moved.is_none();
            down.extend(moved);
        }
        *node = pushed(std::mem::replace(node, Node::One), down, place);
    }
    let stay = conditions.into_iter().zip(stays).filter_map(|(condition, stays)| stays.then_some(condition)).collect();
    inputs.retain(|(node, _)| !is_empty(node));
    let rows = match inputs.len() {
        0 => Node::Values { rows: Vec::new(), registers },
        1 => {
            let (input, values) = inputs.remove(0);
            Node::Compute { input: Box::new(input), assignments: registers.range().zip(values).collect() }
        }
        _ => Node::Concat { inputs, registers },
    };
    filtered(rows, stay)
}

/// The row behind which a condition holds for no ROW_NUMBER of a whole input: `n <= @last`, `n < 5`, `n = 3`. None: it says nothing
/// of that.
fn last_row(condition: &Predicate, functions: &[(Numbering, usize)], variables: usize) -> Option<Integer> {
    let (op, sides) = match condition {
        Predicate::And(parts) => return parts.iter().find_map(|part| last_row(part, functions, variables)),
        Predicate::Integers(op, sides) => (*op, sides.as_ref()),
        _ => return None,
    };
    let is_number =
        |side: &Integer| matches!(side, Integer::Slot(slot) if functions.contains(&(Numbering::Row, *slot)));
    let (op, last) = match sides {
        [number, last] if is_number(number) => (op, last),
        [last, number] if is_number(number) => (op.flipped(), last),
        _ => return None,
    };
    let before = match op {
        Comparison::Equal | Comparison::LessOrEqual => 0,
        Comparison::Less => 1,
        Comparison::NotEqual | Comparison::Greater | Comparison::GreaterOrEqual => return None,
    };
    match last {
        Integer::Const(last) => Some(Integer::Const(Some((last.unwrap_or(0).max(0) - before).max(0)))),
        // NULL and what is below the first row leave nothing.
        Integer::Slot(slot) if *slot < variables => {
            let sides = Box::new([last.clone(), Integer::Const(Some(before))]);
            let value = Integer::Binary { op: IntegerOp::Subtract, width: Width::Big, operands: sides.clone() };
            let branch = (Predicate::Integers(Comparison::Greater, sides), Expr::Integer(Box::new(value), Width::Big));
            let case = Case { branches: vec![branch], otherwise: Expr::Const(Value::BigInt(0)) };
            Some(Integer::Other(Box::new(Expr::Case(Box::new(case)))))
        }
        _ => None,
    }
}

/// What a value only repeats: a slot, or a constant.
pub(crate) fn plain(value: &Expr) -> Option<Expr> {
    match value {
        Expr::Const(value) => Some(Expr::Const(value.clone())),
        value => slot_of(value).map(Expr::Slot),
    }
}

/// Whether a condition can be moved at all: it can neither fail for a value nor do anything.
pub(crate) fn can_move(condition: &Predicate) -> bool {
    // Slots that are none: what is made of any slot counts as moved.
    moved(condition, &|slot| Some(Expr::Slot(usize::MAX - slot))).is_some()
}

/// The conditions that something can be made of, and the others.
fn divided(
    conditions: Vec<Predicate>,
    moved: impl Fn(&Predicate) -> Option<Predicate>,
) -> (Vec<Predicate>, Vec<Predicate>) {
    let (mut down, mut stay) = (Vec::new(), Vec::new());
    for condition in conditions {
        match moved(&condition) {
            Some(moved) => down.push(moved),
            None => stay.push(condition),
        }
    }
    (down, stay)
}

fn parted(conditions: Vec<Predicate>, moves: impl Fn(&Predicate) -> bool) -> (Vec<Predicate>, Vec<Predicate>) {
    conditions.into_iter().partition(moves)
}

fn reads(value: &Expr, slot: usize) -> bool {
    let mut found = false;
    value.visit_slots(&mut |read| found |= read == slot);
    found
}

/// Whether a condition reads nothing but variables and slots of which `is_known` says so.
fn reads_only(condition: &Predicate, variables: usize, is_known: impl Fn(usize) -> bool) -> bool {
    let mut only = true;
    condition.visit_slots(&mut |slot| only &= slot < variables || is_known(slot));
    only
}

fn is_filled_by(node: &Node, condition: &Predicate, variables: usize) -> bool {
    let mut filled = crate::plan::LiveSlots::default();
    node.visit_filled(&mut |slot| filled.add(slot));
    reads_only(condition, variables, |slot| filled.has(slot))
}

fn carries(condition: &Predicate, carry: &[usize], variables: usize) -> bool {
    reads_only(condition, variables, |slot| carry.contains(&slot))
}

/// Whether a condition is about the values that rows of a partition have in common.
fn is_of(partition: &[SortKey], condition: &Predicate, variables: usize) -> bool {
    let of_slot = |slot: usize| partition.iter().find(|key| slot_of(&key.expr) == Some(slot));
    says_same(condition, &of_slot, variables)
}

/// Whether a condition says the same of all values that are equal as these keys compare: it compares them so too, and does nothing
/// else with them.
fn says_same<'k>(condition: &Predicate, key_of: &dyn Fn(usize) -> Option<&'k SortKey>, variables: usize) -> bool {
    let all_by = |collation: Option<Collation>, exprs: &[&Expr]| {
        exprs.iter().all(|expr| match slot_of(expr) {
            Some(slot) if slot >= variables => {
                key_of(slot).is_some_and(|key| collation.is_none_or(|collation| key.collation == collation))
            }
            _ => {
                let mut constant = true;
                expr.visit_slots(&mut |slot| constant &= slot < variables);
                constant
            }
        })
    };
    match condition {
        Predicate::Const(_) => true,
        Predicate::Integers(..) | Predicate::InIntegers(..) => {
            reads_only(condition, variables, |slot| key_of(slot).is_some())
        }
        Predicate::Values(_, sides, collation) => all_by(Some(*collation), &[&sides[0], &sides[1]]),
        Predicate::InValues(of, list, collation) => {
            all_by(Some(*collation), &[of.as_ref()]) && all_by(Some(*collation), &list.iter().collect::<Vec<_>>())
        }
        Predicate::IsNull(of) => all_by(None, &[of.as_ref()]),
        Predicate::And(parts) | Predicate::Or(parts) => parts.iter().all(|part| says_same(part, key_of, variables)),
        Predicate::Not(inner) => says_same(inner, key_of, variables),
        Predicate::Like { .. } | Predicate::LikeConst(..) | Predicate::Slot(_) => false,
    }
}
