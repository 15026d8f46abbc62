//! Functions of several statements: programs that fill a table variable, or compute a value, for the statement that reads it.
//! A value is the only one of the only row.
//!
//! Where the arguments of a table-valued one read no row the function runs once, before the statement begins; behind APPLY it runs for each row,
//! while the statement waits, and so does one that gives a value. Its own statements are parts of that statement: they see what it sees, and begin and end
//! nothing. An error in it is the statement's.

use std::sync::Arc;

use super::Machine;
use super::call::NESTING_MAX;
use super::rules::{internal_names, show_values};
use crate::errors::first_error;
use crate::expression::Fault;
use crate::program::{FunctionResult, ProcedureIdentity, Program, compile_function};
use pikepole_engine::{DBO, Function};
use pikepole_types::{SqlError, Value};

/// Who gets the rows of a function.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Called {
    /// The statement `late[i]`, before it begins: its next source.
    Source(usize),
    /// The statement `late[i]`, for the row at hand: its source of this number.
    Row(usize, usize),
}

impl Machine<'_> {
    /// Enters a function; the instruction that reads its rows is run again when it is left.
    pub(crate) fn enter_function(
        &mut self,
        function: &Function,
        arguments: Vec<Value>,
        called: Called,
    ) -> Result<(), Fault> {
        if self.context.state.nest_level >= NESTING_MAX {
            return Err(Box::new(SqlError::nesting_level_exceeded(NESTING_MAX)));
        }
        let program = self.function_program(function)?;
        let acting = self.context.module_context(&program)?;
        let mut frame = self.context.spare_frames.take(&program);
        for (slot, value) in frame.slots.iter_mut().zip(arguments) {
            *slot = value;
        }
        frame.function = Some(called);
        self.context.functions += 1;
        self.push_frame(frame, &program);
        self.context.begin_module_context(acting);
        Ok(())
    }

    fn function_program(&mut self, function: &Function) -> Result<Arc<Program>, Fault> {
        let view = self.context.catalog();
        let database = view.database.id();
        if let Some(program) = self.context.plans.procedure(database, function.object_id, &function.text)
            && program.fits(|| view.catalog.clone())
            && program.procedure.as_ref().is_some_and(|known| known.keeps(function))
        {
            return Ok(program);
        }
        let owner = view.catalog.schema_by_id(function.schema_id).map_or(DBO, |schema| schema.owner);
        let identity = ProcedureIdentity::of(function, owner);
        let context = self.context.compile_context_of(&*self.host, function);
        let program = compile_function(&function.text, identity, &context).map_err(first_error)?;
        self.context.plans.keep_procedure(database, function.object_id, &program);
        Ok(program)
    }

    /// The end of a function: its rows go to who has called it.
    pub(crate) async fn leave_function(&mut self, called: Called) -> Result<(), Fault> {
        let rows = match self.frame.program.returns.clone() {
            Some(FunctionResult::Value(slot, _)) => vec![vec![std::mem::take(&mut self.frame.slots[slot])]],
            Some(FunctionResult::Table(name)) => self.returned_rows(&name).await?,
            None => Vec::new(),
        };
        self.count_call();
        self.drop_frame();
        let (late, place) = match called {
            Called::Source(late) => (late, None),
            Called::Row(late, place) => (late, Some(place)),
        };
        let Some(state) = &mut self.frame.states[late] else { return Ok(()) };
        match place {
            None => state.virtual_rows.push(Arc::new(rows)),
            Some(place) => state.virtual_rows[place] = Arc::new(rows),
        }
        Ok(())
    }

    async fn returned_rows(&mut self, variable: &str) -> Result<Vec<Vec<Value>>, Fault> {
        let base = self.frame.slots.len();
        let plan = self.internal_statement(&format!("SELECT * FROM {variable}"), &internal_names(base, Vec::new()))?;
        show_values(&mut self.frame.slots, base, Vec::new(), plan.slots);
        let read = self.select_rows(&plan).await;
        self.frame.slots.truncate(base);
        Ok(read?.1)
    }
}
