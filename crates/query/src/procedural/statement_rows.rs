//! The rows of a statement: the only way from its cursor to what it does with them, and what SELECT does.

use super::Machine;
use super::statement::StatementState;
use crate::access::Stop;
use crate::expression::Fault;
use crate::plan::{Action, Node, Statement};
use pikepole_scheduler as scheduler;
use pikepole_scheduler::chaos::{self, Site};

/// Rows between two looks at the quantum.
const ROWS_PER_LOOK: u64 = 64;

impl Machine<'_> {
    /// Moves the statement's cursor to its next row and has `take` use it; false at the end. As of
    /// [`crate::executor::Cursor::take`], nothing stops between a row and its use.
    #[inline]
    pub(crate) fn next_row(
        &mut self,
        plan: &Statement,
        state: &mut StatementState,
        take: impl FnOnce(&mut Self, &mut StatementState) -> Result<(), Fault>,
    ) -> Result<bool, Stop> {
        if !self.advance_row(plan, state)? {
            return Ok(false);
        }
        take(self, state)?;
        Ok(true)
    }

    /// Moves to the next row, for [`Machine::next_row`] alone.
    fn advance_row(&mut self, plan: &Statement, state: &mut StatementState) -> Result<bool, Stop> {
        if self.context.settings.fmtonly {
            return Ok(false);
        }
        let limit = self.context.settings.row_count;
        if limit > 0 && state.rows >= limit {
            return Ok(false);
        }
        let Some(cursor) = &mut state.cursor else {
            return Ok(false);
        };
        if let Some(found) = cursor.next_of_one() {
            return Ok(found);
        }
        let mut run = self.run_view(&state.virtual_rows, &state.shared, plan);
        let found = cursor.give(&plan.source, &mut run, |_| Ok(true));
        let eliminated = run.null_eliminated;
        self.scratch = std::mem::take(&mut run.scratch);
        state.null_eliminated |= eliminated;
        found
    }

    /// Evaluates the subqueries of an UPDATE or DELETE over the row in the registers.
    pub(crate) fn evaluate_again(
        &mut self,
        node: &Node,
        plan: &Statement,
        state: &mut StatementState,
    ) -> Result<(), Stop> {
        let Some(cursor) = &mut state.modify.again else {
            return Ok(());
        };
        let mut run = self.run_view(&state.virtual_rows, &state.shared, plan);
        let evaluated = cursor.evaluate(node, &mut run);
        let eliminated = run.null_eliminated;
        self.scratch = std::mem::take(&mut run.scratch);
        state.null_eliminated |= eliminated;
        evaluated
    }

    pub(super) fn read_rows(&mut self, plan: &Statement, state: &mut StatementState) -> Result<bool, Stop> {
        loop {
            if !self.next_row(plan, state, |machine, state| machine.pass_row(plan, state))? {
                return Ok(true);
            }
            if quantum_over(state.rows) || self.output.is_full() {
                return Ok(false);
            }
        }
    }

    /// Sends the row in the registers, or assigns its values.
    #[inline]
    pub(super) fn pass_row(&mut self, plan: &Statement, state: &mut StatementState) -> Result<(), Fault> {
        match &plan.action {
            Action::Select { columns, values } => {
                for (value, out) in values.iter().zip(&mut state.out) {
                    value.eval_into(&mut self.env(), out)?;
                }
                match self.captures.last_mut() {
                    None => self.send_row(&mut state.out, columns)?,
                    Some(capture) => capture.push(state.out.clone()),
                }
            }
            Action::Assign { assignments, .. } => {
                for (slot, value) in assignments {
                    self.assign(*slot, value)?;
                }
            }
            _ => {}
        }
        state.rows += 1;
        Ok(())
    }
}

/// Whether the quantum is over, looked at every few rows.
#[inline]
pub(crate) fn quantum_over(rows: u64) -> bool {
    rows.is_multiple_of(ROWS_PER_LOOK) && scheduler::quantum_over() || chaos::stops(Site::Row)
}
