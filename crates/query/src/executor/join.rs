//! Nested loops. Where the right side looks rows up that are on tapes, the left rows are taken part by part ([`crate::executor::spill::Regroup`]).

use super::Run;
use super::cursor::Cursor;
use super::profile::Making;
use crate::access::Stop;
use crate::executor::spill::Regroup;
use crate::expression::{Fault, Predicate};
use crate::plan::{JoinKind, LiveSlots, Node, Registers};
use pikepole_types::Value;

/// The state of a [`Node::Join`].
pub(crate) struct JoinCursor {
    left: Cursor,
    right: Cursor,
    /// True while the right side is being read for the current left row.
    within: bool,
    matched: bool,
    /// Whether left rows may come in another order than that of their source.
    regroups: bool,
    regroup: Option<Box<Regroup>>,
}

/// A join's right side, and what it is joined by.
#[derive(Clone, Copy)]
struct Right<'p> {
    node: &'p Node,
    kind: JoinKind,
    on: Option<&'p Predicate>,
    registers: &'p [Registers],
}

/// The slots that a plan's rows fill and somebody reads.
pub(super) fn live_slots(node: &Node, live: &LiveSlots) -> Vec<usize> {
    let mut slots = Vec::new();
    node.visit_filled(&mut |slot| slots.extend(live.has(slot).then_some(slot)));
    slots.sort_unstable();
    slots.dedup();
    slots
}

impl JoinCursor {
    pub(crate) fn new(left: Cursor, right: Cursor, making: Making<'_>) -> JoinCursor {
        JoinCursor { left, right, within: false, matched: false, regroups: making.regroups, regroup: None }
    }

    pub(crate) fn open(&mut self) {
        self.within = false;
        self.regroup = None;
        self.left.open();
    }

    pub(crate) fn forget(&mut self) {
        self.regroup = None;
        self.left.forget();
        self.right.forget();
    }

    /// The sides, for who looks for a certain cursor below.
    pub(crate) fn sides(&self) -> (&Cursor, &Cursor) {
        (&self.left, &self.right)
    }

    pub(crate) fn left(&mut self) -> &mut Cursor {
        &mut self.left
    }

    pub(crate) fn next(&mut self, node: &Node, run: &mut Run<'_>) -> Result<bool, Stop> {
        let Node::Join { left, right, kind, on, right_registers } = node else {
            return Ok(false);
        };
        let right = Right { node: right, kind: *kind, on: on.as_ref(), registers: right_registers };
        loop {
            if self.regroup.is_some() {
                return self.next_regrouped(left, right, run);
            }
            if !self.within {
                if self.regroups && run.has_spilled() && self.right.spilled_part(right.node, run)?.is_some() {
                    self.regroup = Some(Box::new(new_regroup(node, left, run)?));
                    continue;
                }
                let JoinCursor { left: input, right, within, matched, .. } = self;
                let begin = |_: &mut Run<'_>| {
                    right.open();
                    (*within, *matched) = (true, false);
                    Ok(())
                };
                if !input.take(left, run, begin)? {
                    return Ok(false);
                }
            }
            if self.next_pair(right, run)? {
                return Ok(true);
            }
        }
    }

    /// Moves to the next row that the current left row gives. False, and nothing is within it any more: there is none.
    fn next_pair(&mut self, right: Right<'_>, run: &mut Run<'_>) -> Result<bool, Stop> {
        let matched = &mut self.matched;
        let joins = |run: &mut Run<'_>| {
            let joins = match right.on {
                Some(predicate) => predicate.holds(&mut run.env())?,
                None => true,
            };
            *matched |= joins;
            Ok(joins)
        };
        if self.right.give(right.node, run, joins)? {
            return Ok(true);
        }
        self.within = false;
        if right.kind == JoinKind::Left && !self.matched {
            self.matched = true;
            right.registers.iter().for_each(|registers| run.slots[registers.range()].fill(Value::Null));
            return Ok(true);
        }
        Ok(false)
    }

    fn next_regrouped(&mut self, left: &Node, right: Right<'_>, run: &mut Run<'_>) -> Result<bool, Stop> {
        let Some(mut regroup) = self.regroup.take() else {
            return Ok(false);
        };
        let result = self.regrouped(&mut regroup, left, right, run);
        self.regroup = Some(regroup);
        result
    }

    fn regrouped(
        &mut self,
        regroup: &mut Regroup,
        left: &Node,
        right: Right<'_>,
        run: &mut Run<'_>,
    ) -> Result<bool, Stop> {
        while regroup.is_taking() {
            regroup.settle()?;
            let is_complete = regroup.is_complete();
            let own = &self.right;
            let put = |run: &mut Run<'_>| {
                let part = own.spilled_part(right.node, run)?;
                regroup.put(part.unwrap_or(0), run);
                Ok(())
            };
            if is_complete || !self.left.take(left, run, put)? {
                regroup.end_outer()?;
            }
        }
        loop {
            regroup.settle()?;
            if !self.within {
                if !regroup.next_outer(run)? {
                    return regroup.next_result(run);
                }
                self.right.open();
                self.within = true;
                self.matched = false;
            }
            if self.next_pair(right, run)? {
                regroup.keep(run)?;
            }
        }
    }
}

/// A regrouping of the left rows of a join, or of the rows that a subquery is evaluated for.
pub(super) fn new_regroup(whole: &Node, outer: &Node, run: &Run<'_>) -> Result<Regroup, Fault> {
    Regroup::new(live_slots(outer, run.live), live_slots(whole, run.live), run)
}
