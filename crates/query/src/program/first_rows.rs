//! The columns of the first result set that a program would send, told without running it: those of its first SELECT, or of
//! the first SELECT of a procedure that it calls before.

use super::{
    CompileContext, Execute, ExecuteTarget, Instruction, LateKind, ProcedureIdentity, Program, compile_procedure,
};
use crate::output::ColumnInfo;
use crate::plan;
use pikepole_engine::DBO;
use pikepole_tsql as tree;
use pikepole_types::SqlError;
use std::sync::Arc;

/// Calls within each other, as many as run within each other.
const LEVELS_MAX: usize = 32;

/// The columns of the first rows; None: there are no rows, or only what runs before them can tell.
type FirstColumns = Result<Option<Vec<ColumnInfo>>, SqlError>;

impl Program {
    /// The columns of the first rows that go to the client.
    ///
    /// # Errors
    /// 11525 and 11526 for a statement that reads or changes a temporary table, which is not there before the text runs; 11513 and
    /// 11514 for a text that is made when it runs.
    pub(crate) fn first_columns(&self, context: &CompileContext<'_>) -> FirstColumns {
        self.first_columns_at(context, LEVELS_MAX)
    }

    fn first_columns_at(&self, context: &CompileContext<'_>, levels: usize) -> FirstColumns {
        for (at, instruction) in self.instructions.iter().enumerate() {
            let is_captured = at > 0 && matches!(self.instructions[at - 1], Instruction::Capture);
            let found = match instruction {
                Instruction::Statement(late) => match self.columns_of(*late) {
                    None => self.check_is_known(*late)?,
                    columns => columns,
                },
                // The rows of INSERT ... EXEC go to no client.
                Instruction::Execute(_) | Instruction::ExecuteText(_) if is_captured => None,
                Instruction::Promise(sets) => sets.first().cloned(),
                Instruction::ExecuteText(_) => return Err(self.dynamic_text(at)),
                Instruction::Execute(call) => match levels.checked_sub(1).and_then(|_| callee(call, context)) {
                    None => None,
                    Some((program, context)) => program.first_columns_at(&context, levels - 1)?,
                },
                _ => None,
            };
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }

    /// # Errors
    /// 11525 and 11526 for a statement that is not bound, because it names a temporary table.
    fn check_is_known(&self, late: usize) -> FirstColumns {
        let late = &self.late[late];
        let is_bound = late.plan.lock().unwrap_or_else(|e| e.into_inner()).is_some();
        if is_bound || matches!(late.kind, LateKind::Into(_)) || !tree::names_temporary(&late.text) {
            return Ok(None);
        }
        let statement = late.text.trim_end_matches(|end: char| end == ';' || end.is_whitespace());
        Err(match &self.procedure {
            None => SqlError::temporary_table_in_metadata(statement),
            Some(procedure) => SqlError::temporary_table_in_metadata_of_procedure(statement, &procedure.name),
        })
    }

    fn dynamic_text(&self, at: usize) -> SqlError {
        let text = self.source.as_ref().map_or("", |source| &source.text);
        let statement = self.spans.get(at).and_then(|span| text.get(span.range())).unwrap_or_default();
        match &self.procedure {
            None => SqlError::dynamic_text_in_metadata(statement),
            Some(procedure) => SqlError::dynamic_text_in_metadata_of_procedure(statement, &procedure.name),
        }
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
    let context =
        CompileContext { catalog: place.view.of_module(&found), undeclared: None, undetermined: None, ..*context };
    let program = compile_procedure(&found.text, ProcedureIdentity::of(&found, owner), &context).ok()?;
    Some((program, context))
}
