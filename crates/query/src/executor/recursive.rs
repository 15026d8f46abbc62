//! Recursive common tables.
//!
//! ```text
//!   anchors ──► given, and pushed ──► stack
//!                                       │ pop: the row stands in the work registers, the members run
//!                     given, and pushed ◄┘
//! ```
//! A row's level is one more than that of the row it was made from. The stack gives the newest row first.

use super::Run;
use super::cursor::Cursor;
use super::profile::Making;
use crate::access::Stop;
use crate::expression::{Expr, ask_for};
use crate::plan::Recursive;
use pikepole_types::{SqlError, Value};

/// The state of a [`Recursive`].
pub(crate) struct RecursiveCursor {
    anchors: Vec<Cursor>,
    members: Vec<Cursor>,
    /// Rows to go on from, and their levels.
    stack: Vec<(Vec<Value>, u32)>,
    /// The level of the rows being made: 0 for those of the anchors.
    level: u32,
    /// The plan that is being read.
    current: usize,
    within: bool,
}

impl RecursiveCursor {
    pub(crate) fn new(plan: &Recursive, making: Making<'_>) -> RecursiveCursor {
        let making = Making { gathers: false, ..making };
        let cursors = |plans: &[(crate::plan::Node, Vec<Expr>)]| {
            plans.iter().map(|(node, _)| Cursor::new(node, making)).collect::<Vec<_>>()
        };
        RecursiveCursor {
            anchors: cursors(&plan.anchors),
            members: cursors(&plan.members),
            stack: Vec::new(),
            level: 0,
            current: 0,
            within: false,
        }
    }

    pub(crate) fn open(&mut self) {
        self.anchors.iter_mut().for_each(Cursor::open);
        self.stack.clear();
        self.level = 0;
        self.current = 0;
        self.within = true;
    }

    pub(crate) fn forget(&mut self) {
        self.stack = Vec::new();
        self.anchors.iter_mut().chain(&mut self.members).for_each(Cursor::forget);
    }

    pub(crate) fn next(&mut self, plan: &Recursive, run: &mut Run<'_>) -> Result<bool, Stop> {
        loop {
            if !self.within {
                let Some((mut row, level)) = self.stack.pop() else {
                    return Ok(false);
                };
                for (slot, value) in plan.work.range().zip(&mut row) {
                    std::mem::swap(&mut run.slots[slot], value);
                }
                self.level = level + 1;
                self.members.iter_mut().for_each(Cursor::open);
                self.current = 0;
                self.within = true;
            }
            let RecursiveCursor { anchors, members, stack, level, current, .. } = self;
            let (cursors, plans) = if *level == 0 { (anchors, &plan.anchors) } else { (members, &plan.members) };
            while let (Some(cursor), Some((node, values))) = (cursors.get_mut(*current), plans.get(*current)) {
                let given = cursor.give(node, run, |run| {
                    if let Some(maximum) = plan.depth_max
                        && *level > maximum
                    {
                        return Err(Box::new(SqlError::recursion_exhausted(maximum)));
                    }
                    for (slot, value) in plan.registers.range().zip(values) {
                        run.assign(slot, value)?;
                    }
                    let row = &run.slots[plan.registers.range()];
                    ask_for(row, 1)?;
                    stack.push((row.to_vec(), *level));
                    Ok(true)
                });
                if given? {
                    return Ok(true);
                }
                *current += 1;
            }
            self.within = false;
        }
    }
}
