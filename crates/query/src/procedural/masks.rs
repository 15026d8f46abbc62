//! Masks of columns, while statements run: which a session sees through, and what errors may tell.

use super::Machine;
use crate::ddl::hides_rows_of;
use crate::plan::{Action, Statement};
use crate::program::Instruction;
use pikepole_types::{SqlError, Value, without_row_values};

impl Machine<'_> {
    /// Says in a plan's slots which masked columns the session may see.
    pub(super) fn show_masked(&mut self, plan: &Statement) {
        for column in &plan.masks {
            self.frame.slots[column.slot] = Value::Bit(self.context.sees(column));
        }
    }

    /// An error of the instruction at hand, without what it tells of values that the session may not see. Those of expressions tell nothing
    /// by themselves (`bind::mask_errors`); this is about those of keys and rules of the rows that a statement changes, of what a definition
    /// reads of a table's rows, and of functions that are given values by row.
    pub(super) fn without_masked_values(&self, error: SqlError, of_function: bool) -> SqlError {
        let hides = match self.frame.program.instructions.get(self.frame.pc) {
            Some(Instruction::Statement(index)) => {
                let plan = self.frame.states.get(*index).and_then(|state| state.as_ref()?.plan());
                plan.is_some_and(|plan| {
                    let changes = !matches!(plan.action, Action::Select { .. } | Action::Assign { .. });
                    (changes || of_function) && plan.masks.iter().any(|column| !self.context.sees(column))
                })
            }
            Some(Instruction::Define(statement, _)) => hides_rows_of(self.context, &statement.kind),
            _ => false,
        };
        if hides { without_row_values(error) } else { error }
    }
}
