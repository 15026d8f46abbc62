//! Which slots somebody reads.

use super::{Action, Changed, ColumnSource, More, Node, RowSubqueries, Statement, Test};
use crate::expression::{Expr, Predicate};

/// The slots that are read by the statement's action or by an operator whose result is read. What is computed for other
/// slots need not be.
#[derive(Debug, Clone, Default)]
pub struct LiveSlots {
    read: Vec<bool>,
    /// Those that spools keep and something above them reads, where others are for the spool's own conditions and keys.
    carried: Vec<bool>,
}

impl LiveSlots {
    /// Whether somebody reads the slot.
    pub fn has(&self, slot: usize) -> bool {
        self.read.get(slot).copied().unwrap_or(false)
    }

    /// The slots that a statement reads.
    pub fn of(statement: &Statement) -> LiveSlots {
        let mut live = LiveSlots { read: vec![false; statement.slots], carried: Vec::new() };
        live.action(&statement.action);
        for block in statement.rules.iter().flat_map(|rules| &rules.blocks) {
            block.asks.iter().for_each(|asks| live.node(asks));
            live.predicate(&block.condition);
        }
        live.node(&statement.source);
        live
    }

    /// Whether a slot that a spool keeps is read above it.
    pub(crate) fn is_carried(&self, slot: usize) -> bool {
        self.carried.get(slot).copied().unwrap_or(false)
    }

    /// Calls `visit` with every slot of the set.
    pub fn each(&self, visit: &mut dyn FnMut(usize)) {
        self.read.iter().enumerate().filter(|(_, live)| **live).for_each(|(slot, _)| visit(slot));
    }

    /// Puts a slot into the set.
    pub fn add(&mut self, slot: usize) {
        mark(&mut self.read, slot);
    }

    fn expr(&mut self, expr: &Expr) {
        expr.visit_slots(&mut |slot| self.add(slot));
    }

    fn predicate(&mut self, predicate: &Predicate) {
        predicate.visit_slots(&mut |slot| self.add(slot));
    }

    fn action(&mut self, action: &Action) {
        match action {
            Action::Select { values, .. } => values.iter().for_each(|value| self.expr(value)),
            Action::Assign { assignments, .. } => assignments.iter().for_each(|(_, value)| self.expr(value)),
            Action::Insert(insert) => {
                for source in insert.rows.iter().flatten() {
                    if let ColumnSource::Value(value) = source {
                        self.expr(value);
                    }
                }
            }
            Action::Instead(instead) => instead.visit_read(&mut |slot| self.add(slot)),
            Action::Change(change) => change.visit_read(&mut |slot| self.add(slot)),
            Action::Update(update) => {
                update.assignments.iter().chain(&update.variables).for_each(|(_, value)| self.expr(value));
                self.changed(&update.changed);
            }
            Action::Delete(delete) => self.changed(&delete.changed),
        }
        action.output().iter().for_each(|output| output.visit_read(&mut |slot| self.add(slot)));
    }

    /// Rows that are changed are read as a whole.
    fn changed(&mut self, changed: &Changed) {
        changed.registers.range().for_each(|slot| self.add(slot));
        changed.recheck.iter().for_each(|recheck| self.predicate(recheck));
        match &changed.subqueries {
            RowSubqueries::None => {}
            RowSubqueries::Again(node) => self.node(node),
            RowSubqueries::Kept(slots) => slots.iter().for_each(|slot| self.add(*slot)),
        }
    }

    /// An operator: what it reads is added before its inputs are looked at, and an input that reads another's columns
    /// before that other.
    pub(crate) fn node(&mut self, node: &Node) {
        match node {
            Node::One | Node::Virtual { .. } | Node::File(_) | Node::Kept { .. } => {}
            Node::Call { arguments, .. } => arguments.iter().for_each(|argument| self.expr(argument)),
            Node::Scan(scan) => {
                scan.range.values().for_each(|key| self.expr(&key.expr));
            }
            Node::Series(series) => {
                let step = series.step.as_ref();
                let arguments = [&series.start, &series.stop].into_iter().chain(step);
                arguments.for_each(|argument| argument.visit_slots(&mut |slot| self.add(slot)));
            }
            Node::Values { rows, .. } => rows.iter().flatten().for_each(|value| self.expr(value)),
            Node::Filter { input, predicate } => {
                self.predicate(predicate);
                self.node(input);
            }
            Node::Compute { input, assignments } => {
                // A later assignment may read an earlier one.
                for (slot, value) in assignments.iter().rev() {
                    if self.has(*slot) {
                        self.expr(value);
                    }
                }
                self.node(input);
            }
            Node::Join { left, right, on, .. } => {
                on.iter().for_each(|on| self.predicate(on));
                self.node(right);
                self.node(left);
            }
            Node::Apply { input, subquery, test, guards, .. } => {
                guards.iter().for_each(|guard| self.predicate(&guard.condition));
                match test {
                    Test::Scalar(value) => self.expr(value),
                    Test::Exists => {}
                    Test::In { left, right, .. } | Test::Extremes { left, right, .. } => {
                        self.expr(left);
                        self.expr(right);
                    }
                }
                self.node(subquery);
                self.node(input);
            }
            Node::Group { input, keys, aggregates } => {
                keys.iter().for_each(|(key, _)| self.expr(&key.expr));
                let inputs = aggregates.iter().flat_map(|aggregate| aggregate.input.iter().chain(&aggregate.separator));
                inputs.for_each(|value| self.expr(value));
                self.node(input);
            }
            Node::Sort { input, keys, carry } => {
                keys.iter().for_each(|key| self.expr(&key.expr));
                carry.iter().for_each(|slot| self.add(*slot));
                self.node(input);
            }
            Node::Number { input, partition, order, .. } => {
                partition.iter().chain(order).for_each(|key| self.expr(&key.expr));
                self.node(input);
            }
            Node::Top { input, offset, count } => {
                offset.iter().chain(count).for_each(|count| count.visit_slots(&mut |slot| self.add(slot)));
                self.node(input);
            }
            Node::Concat { inputs, .. } => {
                for (input, values) in inputs {
                    values.iter().for_each(|value| self.expr(value));
                    self.node(input);
                }
            }
            Node::More(more) => {
                if let More::Spool(spool) = more.as_ref() {
                    let LiveSlots { read, carried } = self;
                    let is_read = |slot: &&usize| read.get(**slot).copied().unwrap_or(false);
                    spool.carry.iter().filter(is_read).for_each(|slot| mark(carried, *slot));
                }
                more.visit_read(&mut |slot| self.add(slot));
                more.inputs().into_iter().rev().for_each(|input| self.node(input));
            }
        }
    }
}

fn mark(slots: &mut Vec<bool>, slot: usize) {
    if slots.len() <= slot {
        slots.resize(slot + 1, false);
    }
    slots[slot] = true;
}

impl Node {
    /// Calls `visit` with every slot that the rows of this plan fill.
    pub(crate) fn visit_filled(&self, visit: &mut dyn FnMut(usize)) {
        match self {
            Node::One => {}
            Node::Scan(scan) => {
                scan.wanted.iter().for_each(|column| visit(scan.registers.first + column));
                scan.place.iter().flat_map(|place| place.slots()).for_each(visit);
            }
            Node::Virtual { registers, .. }
            | Node::Call { registers, .. }
            | Node::Values { registers, .. }
            | Node::Kept { registers, .. }
            | Node::Concat { registers, .. } => registers.range().for_each(visit),
            Node::Series(series) => visit(series.slot),
            Node::File(source) => source.registers.range().for_each(visit),
            Node::Filter { input, .. } | Node::Top { input, .. } => input.visit_filled(visit),
            Node::Compute { input, assignments } => {
                assignments.iter().for_each(|(slot, _)| visit(*slot));
                input.visit_filled(visit);
            }
            Node::Join { left, right, .. } => {
                left.visit_filled(visit);
                right.visit_filled(visit);
            }
            Node::Apply { input, slot, .. } => {
                visit(*slot);
                input.visit_filled(visit);
            }
            Node::Group { keys, aggregates, .. } => {
                keys.iter().for_each(|(_, slot)| visit(*slot));
                aggregates.iter().for_each(|aggregate| visit(aggregate.slot));
            }
            Node::Sort { carry, .. } => carry.iter().for_each(|slot| visit(*slot)),
            Node::Number { input, functions, .. } => {
                functions.iter().for_each(|(_, slot)| visit(*slot));
                input.visit_filled(visit);
            }
            Node::More(more) => more.visit_filled(visit),
        }
    }

    /// The slots that this plan reads, and those that its rows fill.
    pub(crate) fn touched(&self) -> LiveSlots {
        let mut read = LiveSlots::default();
        // What it computes counts as read: all of it is looked at.
        self.visit_filled(&mut |slot| read.add(slot));
        read.node(self);
        read
    }

    /// Whether this plan reads nothing that the rows of `other` fill.
    pub(crate) fn is_independent_of(&self, other: &Node) -> bool {
        let read = self.touched();
        let mut independent = true;
        other.visit_filled(&mut |slot| independent &= !read.has(slot));
        independent
    }
}
