//! The columns of the first result set that a program would send, told without running it: those of its first SELECT, or of
//! the first SELECT of a procedure that it calls before.

use super::{CompileContext, Execute, ExecuteTarget, Instruction, ProcedureIdentity, Program, compile_procedure};
use crate::output::ColumnInfo;
use crate::plan;
use pikepole_engine::DBO;
use std::sync::Arc;

/// Calls within each other, as many as run within each other.
const LEVELS_MAX: usize = 32;

impl Program {
    /// The columns of the first rows that go to the client.
    pub(crate) fn first_columns(&self, context: &CompileContext<'_>) -> Option<Vec<ColumnInfo>> {
        self.first_columns_at(context, LEVELS_MAX)
    }

    fn first_columns_at(&self, context: &CompileContext<'_>, levels: usize) -> Option<Vec<ColumnInfo>> {
        self.instructions.iter().enumerate().find_map(|(at, instruction)| match instruction {
            Instruction::Statement(late) => self.columns_of(*late),
            // The rows of INSERT ... EXEC go to no client.
            Instruction::Execute(_) if at > 0 && matches!(self.instructions[at - 1], Instruction::Capture) => None,
            Instruction::Promise(sets) => sets.first().cloned(),
            Instruction::Execute(call) => {
                let levels = levels.checked_sub(1)?;
                let (program, context) = callee(call, context)?;
                program.first_columns_at(&context, levels)
            }
            _ => None,
        })
    }

    fn columns_of(&self, late: usize) -> Option<Vec<ColumnInfo>> {
        let plan = self.late[late].plan.lock().unwrap_or_else(|e| e.into_inner()).clone()?;
        match &plan.action {
            plan::Action::Select { columns, .. } => Some(columns.clone()),
            action => action.output().map(|output| output.columns.clone()).filter(|columns| !columns.is_empty()),
        }
    }
}

/// The procedure that is called by its name, and where it looks names up. None: it is the server's, is not known or cannot be compiled.
fn callee<'a>(call: &Execute, context: &CompileContext<'a>) -> Option<(Arc<Program>, CompileContext<'a>)> {
    let ExecuteTarget::Named(name) = &call.target else { return None };
    let place = context.catalog.place(name).ok()??;
    let found = place.view.catalog.procedure(&place.schema, &place.name)?.clone();
    let owner = place.view.catalog.schema_by_id(found.schema_id).map_or(DBO, |schema| schema.owner);
    let context = CompileContext { catalog: place.view.of_module(&found), undeclared: None, ..*context };
    let program = compile_procedure(&found.text, ProcedureIdentity::of(&found, owner), &context).ok()?;
    Some((program, context))
}
