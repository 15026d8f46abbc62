//! sp_prepare, sp_prepexec, sp_execute and sp_unprepare, called by a text. The handles are those of the session: what a client has
//! prepared by the protocol a text can execute, and the other way round.

use super::Machine;
use super::call::convert_argument;
use crate::errors::first_error;
use crate::expression::Fault;
use crate::output::{Done, DoneKind};
use crate::prepared_handles::PreparedHandle;
use crate::program::{CallArgument, Execute};
use pikepole_types::{SqlError, SqlType, Value};

/// One of these procedures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PreparedProcedure {
    Prepare,
    PrepareAndExecute,
    Execute,
    Unprepare,
}

impl PreparedProcedure {
    pub(crate) fn of(name: &str) -> Option<PreparedProcedure> {
        use PreparedProcedure::{Execute, Prepare, PrepareAndExecute, Unprepare};
        let all = [Prepare, PrepareAndExecute, Execute, Unprepare];
        all.into_iter().find(|procedure| procedure.name().eq_ignore_ascii_case(name))
    }

    fn name(self) -> &'static str {
        match self {
            PreparedProcedure::Prepare => "sp_prepare",
            PreparedProcedure::PrepareAndExecute => "sp_prepexec",
            PreparedProcedure::Execute => "sp_execute",
            PreparedProcedure::Unprepare => "sp_unprepare",
        }
    }
}

impl Machine<'_> {
    /// Calls one of them. What the text is given follows the parameters of the procedure.
    pub(crate) fn execute_prepared(&mut self, procedure: PreparedProcedure, call: &Execute) -> Result<(), Fault> {
        let name = procedure.name();
        match procedure {
            PreparedProcedure::Prepare => {
                let handle = self.prepare_text(name, call)?;
                self.describe_prepared(name, handle, call)?;
                self.end_of_prepared(call)
            }
            PreparedProcedure::Unprepare => {
                let handle = self.handle_of(name, call)?;
                self.context.prepared.remove(handle)?;
                self.end_of_prepared(call)
            }
            PreparedProcedure::PrepareAndExecute => {
                let handle = self.prepare_text(name, call)?;
                self.run_prepared(handle, call.arguments.get(3..).unwrap_or_default(), call)
            }
            PreparedProcedure::Execute => {
                let handle = self.handle_of(name, call)?;
                self.run_prepared(handle, call.arguments.get(1..).unwrap_or_default(), call)
            }
        }
    }

    /// Keeps the text of a call, if it compiles; its handle, which the caller's variable has as well.
    fn prepare_text(&mut self, name: &str, call: &Execute) -> Result<i32, Fault> {
        let declarations = self.text_of(name, call, 1, "@params")?;
        let text = self.text_of(name, call, 2, "@stmt")?;
        let handle = argument(name, call, 0, "@handle")?;
        if let Err(errors) = crate::prepare(&text, &declarations, self.context, &*self.host) {
            errors.iter().for_each(|error| self.output.error(error));
            return Err(Box::new(SqlError::not_prepared()));
        }
        let number = self.context.prepared.add(PreparedHandle::Text { text, declarations })?;
        if let Some((slot, ty)) = handle.output {
            let page = self.context.database().code_page();
            let place = &mut self.frame.slots[slot];
            convert_argument(&mut self.functions, page, &Value::Int(number), &SqlType::Int, &ty, place)?;
        }
        Ok(number)
    }

    /// Sends the columns of the result where the options of sp_prepare ask for them.
    fn describe_prepared(&mut self, name: &str, handle: i32, call: &Execute) -> Result<(), Fault> {
        const RETURN_METADATA: i64 = 1;
        let Ok(options) = argument(name, call, 3, "@options") else { return Ok(()) };
        let options = options.value.as_ref().map(|value| value.eval(&mut self.env())).transpose()?;
        if options.and_then(|options| options.as_i64()).is_none_or(|options| options & RETURN_METADATA == 0) {
            return Ok(());
        }
        let PreparedHandle::Text { text, declarations } = self.context.prepared.get(handle)? else { return Ok(()) };
        let described = crate::prepared_columns(text, declarations, self.context, &*self.host);
        if let Some(columns) = described.map_err(first_error)? {
            self.send_columns(&columns)?;
            self.done(Done { rows: Some(0), kind: DoneKind::Select });
        }
        Ok(())
    }

    fn run_prepared(&mut self, handle: i32, arguments: &[CallArgument], call: &Execute) -> Result<(), Fault> {
        let PreparedHandle::Text { text, declarations } = self.context.prepared.get(handle)? else {
            return Err(Box::new(SqlError::prepared_statement_unknown(handle)));
        };
        let program = crate::prepare(text, declarations, self.context, &*self.host).map_err(first_error)?;
        self.call(&program, arguments, call.status, "sp_execute")?;
        self.context.state.procedure_levels += 1;
        self.frame.is_of_procedure = true;
        Ok(())
    }

    /// The end of a call that has run no text.
    fn end_of_prepared(&mut self, call: &Execute) -> Result<(), Fault> {
        self.store_status(call.status, 0)?;
        if self.callers.is_empty() {
            self.output.return_status(0);
        }
        self.done(Done { rows: None, kind: DoneKind::Procedure });
        self.context.state.last_error = 0;
        self.frame.pc += 1;
        Ok(())
    }

    fn handle_of(&mut self, name: &str, call: &Execute) -> Result<i32, Fault> {
        let wrong = || Box::new(SqlError::procedure_expects_type("@handle", "int"));
        let value = argument(name, call, 0, "@handle")?.value.as_ref().ok_or_else(wrong)?;
        let value = value.eval(&mut self.env())?;
        value.as_i64().and_then(|number| i32::try_from(number).ok()).ok_or_else(wrong)
    }

    /// A text; empty for NULL.
    fn text_of(&mut self, name: &str, call: &Execute, place: usize, parameter: &str) -> Result<String, Fault> {
        let given = argument(name, call, place, parameter)?;
        match given.value.as_ref().map(|value| value.eval(&mut self.env())).transpose()? {
            Some(Value::Str(text)) => Ok(text),
            None | Some(Value::Null) => Ok(String::new()),
            Some(_) => Err(Box::new(SqlError::procedure_expects_type(parameter, "ntext/nchar/nvarchar"))),
        }
    }
}

/// The argument for a parameter, by its place.
fn argument<'a>(name: &str, call: &'a Execute, place: usize, parameter: &str) -> Result<&'a CallArgument, Fault> {
    call.arguments.get(place).ok_or_else(|| Box::new(SqlError::parameter_not_supplied(name, parameter)))
}
