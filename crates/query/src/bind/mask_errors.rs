//! Errors that arise from masked values tell nothing of them.
//!
//! A condition, a key that rows are ordered, grouped, joined or looked up by, and whatever else stays in a statement sees the values that are
//! there. So its errors would, too: `ORDER BY CONVERT(int, ssn)` tells one. Here every expression of a finished plan that is made of hidden
//! slots, conditions within it included, is wrapped into an [`Expr::Masked`] without a mask, which takes the values out of its error. Each
//! operator says below which expressions it has: one more is one more arm.
//!
//! What fails outside expressions, a key that is there already or a rule of a table, is dealt with where errors go
//! (`run::masks`).

use super::mask::{Slots, cover};
use crate::expression::{Expr, Integer, Predicate, Width};
use crate::plan::{Branch, More, Node, SortKey, Test, TopCount, WindowFunction};

impl Slots {
    /// Lets no error of an expression tell of a hidden value.
    pub(super) fn silence(&self, value: &mut Expr) {
        if matches!(value, Expr::Slot(_) | Expr::Const(_) | Expr::Masked(_)) {
            return;
        }
        if let Some(seen) = self.seen_by(|visit| value.visit_slots(visit)) {
            cover(value, seen, None);
        }
    }

    fn exprs<'e>(&self, values: impl IntoIterator<Item = &'e mut Expr>) {
        values.into_iter().for_each(|value| self.silence(value));
    }

    fn integer(&self, value: &mut Integer) {
        if matches!(value, Integer::Slot(_) | Integer::Const(_)) {
            return;
        }
        if self.seen_by(|visit| value.visit_slots(visit)).is_some() {
            let inner = std::mem::replace(value, Integer::Const(None));
            let mut whole = Expr::Integer(Box::new(inner), Width::Big);
            self.silence(&mut whole);
            *value = Integer::Other(Box::new(whole));
        }
    }

    fn keys(&self, keys: &mut [SortKey]) {
        self.exprs(keys.iter_mut().map(|key| &mut key.expr));
    }

    fn condition(&self, condition: &mut Predicate) {
        match condition {
            Predicate::Const(_) | Predicate::Slot(_) => {}
            Predicate::Integers(_, operands) => operands.iter_mut().for_each(|operand| self.integer(operand)),
            Predicate::Values(_, operands, _) => self.exprs(operands.iter_mut()),
            Predicate::And(parts) | Predicate::Or(parts) => parts.iter_mut().for_each(|part| self.condition(part)),
            Predicate::Not(inner) => self.condition(inner),
            Predicate::IsNull(value) | Predicate::LikeConst(value, _) => self.silence(value),
            Predicate::InIntegers(value, _, _) => self.integer(value),
            Predicate::InValues(value, list, _) => {
                self.silence(value);
                self.exprs(list.items_mut().iter_mut());
            }
            Predicate::Like { operands, escape, .. } => {
                self.exprs(operands.iter_mut());
                self.exprs(escape.iter_mut().map(|escape| &mut **escape));
            }
        }
    }

    /// Lets no error of an operator tell of a hidden value.
    pub(super) fn silence_node(&self, node: &mut Node) {
        match node {
            Node::One | Node::Virtual { .. } | Node::File(_) | Node::Kept { .. } => {}
            Node::Scan(scan) => {
                let range = &mut scan.range;
                let bounds = range.low.iter_mut().chain(&mut range.high).map(|(value, _)| value);
                let values = range.prefix.iter_mut().chain(&mut range.among).chain(bounds);
                self.exprs(values.map(|value| &mut value.expr));
            }
            Node::Call { arguments, .. } => self.exprs(arguments),
            Node::Values { rows, .. } => self.exprs(rows.iter_mut().flatten()),
            Node::Series(series) => {
                self.integer(&mut series.start);
                self.integer(&mut series.stop);
                series.step.iter_mut().for_each(|step| self.integer(step));
            }
            Node::Filter { predicate, .. } => self.condition(predicate),
            Node::Compute { assignments, .. } => self.exprs(assignments.iter_mut().map(|(_, value)| value)),
            Node::Join { on, .. } => on.iter_mut().for_each(|on| self.condition(on)),
            Node::Apply { test, guards, .. } => {
                guards.iter_mut().for_each(|guard| self.condition(&mut guard.condition));
                match test {
                    Test::Exists => {}
                    Test::Scalar(value) => self.silence(value),
                    Test::In { left, right, .. } | Test::Extremes { left, right, .. } => self.exprs([left, right]),
                }
            }
            Node::Group { keys, aggregates, .. } => {
                self.exprs(keys.iter_mut().map(|(key, _)| &mut key.expr));
                for aggregate in aggregates {
                    self.exprs(aggregate.input.iter_mut().chain(&mut aggregate.separator));
                }
            }
            Node::Sort { keys, .. } => self.keys(keys),
            Node::Number { partition, order, .. } => {
                self.keys(partition);
                self.keys(order);
            }
            Node::Top { offset, count, .. } => {
                offset.iter_mut().chain(count).for_each(|count| self.integer(count));
            }
            Node::Concat { inputs, .. } => self.exprs(inputs.iter_mut().flat_map(|(_, row)| row)),
            Node::More(more) => self.silence_more(more),
        }
    }

    fn silence_more(&self, more: &mut More) {
        match more {
            More::Spool(spool) => {
                self.exprs(spool.keys.iter_mut().flat_map(|key| [&mut key.inner, &mut key.outer]));
            }
            More::Full(join) => {
                self.exprs(join.keys.iter_mut().flat_map(|key| [&mut key.inner, &mut key.outer]));
                join.on.iter_mut().for_each(|on| self.condition(on));
            }
            More::Top(top) => {
                match &mut top.count {
                    TopCount::Rows(count) | TopCount::OfRow(count) => self.integer(count),
                    TopCount::Percent(percent) => self.silence(percent),
                }
                self.keys(&mut top.ties);
            }
            More::Expand(expand) => self.exprs(expand.keys.iter_mut().map(|(value, ..)| value)),
            More::Windows(windows) => {
                self.keys(&mut windows.partition);
                self.keys(&mut windows.order);
                windows.functions.iter_mut().for_each(|(function, _)| self.silence_window(function));
            }
            More::Recursive(recursive) => {
                let rows = recursive.anchors.iter_mut().chain(&mut recursive.members);
                self.exprs(rows.flat_map(|(_, row)| row));
            }
            More::Split(split) => self.exprs([&mut split.text, &mut split.separator]),
            More::Common(_) | More::Next(_) => {}
            More::Document(document) => self.exprs(&mut document.values),
            More::OpenJson(open) => self.exprs([&mut open.json].into_iter().chain(&mut open.path)),
            More::Nodes(nodes) => self.exprs([&mut nodes.receiver].into_iter().chain(nodes.inputs.iter_mut())),
        }
    }

    fn silence_window(&self, function: &mut WindowFunction) {
        match function {
            WindowFunction::Tiles(count) => self.integer(count),
            WindowFunction::Shift { offset: Some(offset), .. } => self.integer(offset),
            _ => {}
        }
        function.visit_values_mut(&mut |value| self.silence(value));
    }

    /// Lets no error of a condition of MERGE tell of a hidden value.
    pub(super) fn silence_branch(&self, branch: &mut Branch) {
        branch.condition.iter_mut().for_each(|condition| self.condition(condition));
    }
}
