//! Statements of atomic blocks that are one row of an in-memory table, by the shortest way.
//!
//! The general way keeps where a statement is, so that it can wait, fire triggers, send rows or be undone half done. An INSERT of one row into
//! an in-memory table does none of that: it has inserted the row, or has changed nothing. It is undone with its block, and seen by the
//! statements behind it. Whatever is not as it mostly is goes the general way: the first run, a plan that is outdated, a client that
//! wants to see plans or times.

use super::Machine;
use super::statement::StatementState;
use crate::access::{Stop, check_required};
use crate::plan::{Action, ColumnSource, Insert, Node, Statement};
use crate::program::Program;
use pikepole_engine::{Residence, RowCount};

/// Tells if a plan has a shortest way.
pub(super) fn is_short(plan: &Statement) -> bool {
    let Action::Insert(insert) = &plan.action else { return false };
    let is_plain = plan.rules.is_none()
        && plan.triggers.is_none()
        && plan.virtual_sources.is_empty()
        && plan.others.is_empty()
        && plan.masks.is_empty()
        && plan.memory_percent.is_none();
    let table = &insert.table.engine;
    let is_one = matches!(plan.source, Node::One) && insert.rows.len() == 1 && insert.output.is_none();
    let is_alone = insert.table_lock.is_none() && insert.explicit_identity.is_none();
    let is_here = table.residence() == Residence::Database && table.is_in_memory() && !table.ignores_duplicates();
    is_plain && is_one && is_alone && is_here
}

impl Machine<'_> {
    /// Runs `late[index]` of an atomic block by the shortest way. False: it is to go the general one.
    pub(super) fn short_statement(&mut self, program: &Program, index: usize) -> Result<bool, Stop> {
        let Some(mut state) = self.frame.states[index].take() else { return Ok(false) };
        let done = self.try_short(program, &mut state);
        self.frame.states[index] = Some(state);
        done
    }

    fn try_short(&mut self, program: &Program, state: &mut StatementState) -> Result<bool, Stop> {
        let Some(plan) = state.take_short_plan() else { return Ok(false) };
        let context = &self.context;
        let is_usual = context.state.transaction_count > 0
            && !context.state.doomed
            && context.functions == 0
            && context.identity_table().is_none()
            && state.is_checked(context.security_serial())
            && self.frame.slots.len() >= plan.slots
            && self.fits(&plan, context.catalog_stamp())
            && !context.settings.watches_statements()
            && program.trigger.is_none();
        let done = match &plan.action {
            Action::Insert(insert) if is_usual => self.insert_shortly(&plan, insert, state).map(|()| true),
            _ => Ok(false),
        };
        state.put_plan_back(plan);
        done
    }

    fn insert_shortly(&mut self, plan: &Statement, insert: &Insert, state: &mut StatementState) -> Result<(), Stop> {
        if plan.reads_clock {
            self.functions.now = crate::clock::now();
        }
        let modify = &mut state.modify;
        for (source, value) in insert.rows[0].iter().zip(&mut modify.row) {
            if let ColumnSource::Value(expr) = source {
                expr.eval_into(&mut self.env(), value)?;
            }
        }
        self.identity(insert, &mut modify.row)?;
        check_required(&insert.table, insert.required.iter().copied(), &modify.row, "INSERT")?;
        let Some(writer) = &mut modify.writer else { return Err(crate::errors::definition_changed().into()) };
        let (database, tx) = self.context.engine();
        database.try_insert(tx, &insert.table.engine, writer, &modify.row, RowCount::Many)?;
        self.context.rows_changed += 1;
        insert.table.engine.count_changes(1);
        self.context.state.row_count = 1;
        Ok(())
    }
}
