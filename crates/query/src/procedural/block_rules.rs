//! The block predicates of security policies, for the rows that a statement writes.
//!
//! ```text
//!   row read ─► what it was: BEFORE UPDATE, BEFORE DELETE ─► what it becomes: AFTER INSERT, AFTER UPDATE ─► written
//! ```
//! A predicate's subqueries can stop for a need: how far the row at hand has come is kept.

use super::Machine;
use super::statement::StatementState;
use crate::access::Stop;
use crate::executor::Cursor;
use crate::executor::Making;
use crate::plan::{Registers, Statement};
use crate::rules::BlockRule;
use pikepole_engine::BlockedChange;
use pikepole_types::{SqlError, Value};

/// How far the predicates have come with the row at hand.
#[derive(Default)]
pub(crate) struct Blocking {
    /// What the row was has passed.
    old_passed: bool,
    /// The subqueries of the predicate that is looked at.
    asking: Option<Cursor>,
}

/// What is done to a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RowChange {
    Insert,
    Update,
    Delete,
}

impl RowChange {
    fn before(self) -> Option<BlockedChange> {
        match self {
            RowChange::Insert => None,
            RowChange::Update => Some(BlockedChange::BeforeUpdate),
            RowChange::Delete => Some(BlockedChange::BeforeDelete),
        }
    }

    fn after(self) -> Option<BlockedChange> {
        match self {
            RowChange::Insert => Some(BlockedChange::AfterInsert),
            RowChange::Update => Some(BlockedChange::AfterUpdate),
            RowChange::Delete => None,
        }
    }
}

impl Machine<'_> {
    /// Looks whether the row in the registers `old` may be changed so, to `new`.
    #[inline]
    pub(crate) fn check_blocks(
        &mut self,
        plan: &Statement,
        state: &mut StatementState,
        change: RowChange,
        old: Registers,
        new: &[Value],
    ) -> Result<(), Stop> {
        match &plan.rules {
            Some(rules) if !rules.blocks.is_empty() => self.pass_blocks(plan, &rules.blocks, state, change, (old, new)),
            _ => Ok(()),
        }
    }

    fn pass_blocks(
        &mut self,
        plan: &Statement,
        rules: &[BlockRule],
        state: &mut StatementState,
        change: RowChange,
        (old, new): (Registers, &[Value]),
    ) -> Result<(), Stop> {
        let rule = |of: Option<BlockedChange>| rules.iter().find(|rule| of.is_some_and(|of| rule.kind.blocks(of)));
        if let Some(rule) = rule(change.before()).filter(|_| !state.modify.late.blocking.old_passed) {
            let row = self.frame.slots[old.range()].to_vec();
            self.pass_block(plan, rule, state, &row)?;
            state.modify.late.blocking.old_passed = true;
        }
        if let Some(rule) = rule(change.after()) {
            self.pass_block(plan, rule, state, new)?;
        }
        state.modify.late.blocking.old_passed = false;
        Ok(())
    }

    fn pass_block(
        &mut self,
        plan: &Statement,
        rule: &BlockRule,
        state: &mut StatementState,
        row: &[Value],
    ) -> Result<(), Stop> {
        let slots = &mut self.frame.slots[rule.registers.range()];
        slots.iter_mut().zip(row).for_each(|(slot, value)| slot.clone_from(value));
        if let Some(asks) = &rule.asks {
            let mut cursor = state.modify.late.blocking.asking.take().unwrap_or_else(|| {
                let mut cursor = Cursor::new(asks, Making::plain(&plan.live));
                cursor.open();
                cursor
            });
            let mut run = self.run_view(&state.virtual_rows, &state.shared, plan);
            let asked = cursor.evaluate(asks, &mut run);
            self.scratch = std::mem::take(&mut run.scratch);
            if let Err(stop) = asked {
                state.modify.late.blocking.asking = Some(cursor);
                return Err(stop);
            }
        }
        match rule.condition.holds(&mut self.env())? {
            true => Ok(()),
            false => Err(Box::new(SqlError::row_blocked(&rule.table)).into()),
        }
    }
}
