//! Equalities between columns, and the classes of columns that they make equal to each other.

use crate::expression::{Comparison, Expr, Integer, Predicate};
use crate::optimizer::rules::join_order::Set;
use pikepole_types::Collation;

/// In which way two values are compared. Equality is passed on only within one way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    Integers,
    Values(Collation),
}

/// A side of an equality.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Slot(usize),
    Constant,
    Computed,
}

pub(crate) fn equality(condition: &Predicate) -> Option<(Side, Side, Way)> {
    let integer = |side: &Integer| match side {
        Integer::Slot(slot) => Side::Slot(*slot),
        Integer::Const(_) => Side::Constant,
        _ => Side::Computed,
    };
    let value = |side: &Expr| match side {
        Expr::Slot(slot) => Side::Slot(*slot),
        Expr::Const(_) => Side::Constant,
        _ => Side::Computed,
    };
    match condition {
        Predicate::Integers(Comparison::Equal, sides) => Some((integer(&sides[0]), integer(&sides[1]), Way::Integers)),
        Predicate::Values(Comparison::Equal, sides, collation) => {
            Some((value(&sides[0]), value(&sides[1]), Way::Values(*collation)))
        }
        _ => None,
    }
}

/// The slots that each side of an equality reads.
pub(crate) fn read_by_sides(condition: &Predicate) -> Option<[Vec<usize>; 2]> {
    let (mut a, mut b) = (Vec::new(), Vec::new());
    match condition {
        Predicate::Integers(Comparison::Equal, sides) => {
            sides[0].visit_slots(&mut |slot| a.push(slot));
            sides[1].visit_slots(&mut |slot| b.push(slot));
        }
        Predicate::Values(Comparison::Equal, sides, _) => {
            sides[0].visit_slots(&mut |slot| a.push(slot));
            sides[1].visit_slots(&mut |slot| b.push(slot));
        }
        _ => return None,
    }
    Some([a, b])
}

/// An equality with another slot at one side.
pub(crate) fn with_slot(condition: &Predicate, from: usize, to: usize) -> Predicate {
    match condition {
        Predicate::Integers(op, sides) => {
            let side = |side: &Integer| match side {
                Integer::Slot(slot) if *slot == from => Integer::Slot(to),
                other => other.clone(),
            };
            Predicate::Integers(*op, Box::new([side(&sides[0]), side(&sides[1])]))
        }
        Predicate::Values(op, sides, collation) => {
            let side = |side: &Expr| match side {
                Expr::Slot(slot) if *slot == from => Expr::Slot(to),
                other => other.clone(),
            };
            Predicate::Values(*op, Box::new([side(&sides[0]), side(&sides[1])]), *collation)
        }
        other => other.clone(),
    }
}

pub(crate) fn slots_equal(a: usize, b: usize, way: Way) -> Predicate {
    match way {
        Way::Integers => Predicate::Integers(Comparison::Equal, Box::new([Integer::Slot(a), Integer::Slot(b)])),
        Way::Values(collation) => {
            Predicate::Values(Comparison::Equal, Box::new([Expr::Slot(a), Expr::Slot(b)]), collation)
        }
    }
}

/// Columns that must be equal to each other.
#[derive(Debug)]
pub(crate) struct Class {
    pub(crate) way: Way,
    /// The slots and their members.
    pub(crate) slots: Vec<(usize, usize)>,
    pub(crate) members: Set,
    /// Pairs that a condition names.
    pub(crate) pairs: Vec<(usize, usize)>,
    /// Equal to a constant or variable.
    pub(crate) constant: bool,
    /// The share of rows that have that value, where statistics say so.
    pub(crate) of_constant: Option<f64>,
    /// Equal to a value of the row outside.
    pub(crate) outside: bool,
    /// Such a condition that can be passed on to the other columns, and its slot; and whether it is one with a constant.
    pub(crate) passed: Option<(Predicate, usize)>,
    pub(crate) passes_constant: bool,
    /// The number of values; `known` when a unique key or statistics say so.
    pub(crate) values: f64,
    pub(crate) known: bool,
}

impl Class {
    pub(crate) fn new(slot: usize, member: usize, way: Way) -> Class {
        let (slots, members) = (vec![(slot, member)], Set::of([member]));
        Class {
            way,
            slots,
            members,
            pairs: Vec::new(),
            constant: false,
            of_constant: None,
            outside: false,
            passed: None,
            passes_constant: false,
            values: 1.0,
            known: false,
        }
    }

    pub(crate) fn has(&self, slot: usize) -> bool {
        self.slots.iter().any(|(own, _)| *own == slot)
    }

    /// The share of a table's rows that have one value.
    pub(crate) fn share(&self) -> f64 {
        match self.of_constant {
            Some(share) if self.constant => share,
            _ if self.constant && !self.known => 0.1,
            _ => 1.0 / self.values.max(1.0),
        }
    }
}

impl Class {
    /// Returns true when a condition names the two slots.
    pub(crate) fn names(&self, a: usize, b: usize) -> bool {
        self.pairs.contains(&(a, b)) || self.pairs.contains(&(b, a))
    }

    pub(crate) fn is_pair(&self, condition: &Predicate) -> bool {
        match equality(condition) {
            Some((Side::Slot(a), Side::Slot(b), way)) => way == self.way && self.names(a, b),
            _ => false,
        }
    }
}
