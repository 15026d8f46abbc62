//! A parameterized text that a client calls by itself, as sp_executesql and sp_execute do.
//!
//! The text runs one level down, as the body of a procedure: SET options that it changes are restored when it ends.

use std::sync::Arc;

use super::call::{argument_slot, convert_argument};
use super::run_at;
use crate::context::ExecutionContext;
use crate::host::{Argument, Host};
use crate::output::Output;
use crate::program::Program;
use pikepole_types::{SqlError, Value};

/// A text with the declarations of its parameters, and its program once it has been compiled. The program is kept while it is
/// the one that the present database and settings would find.
pub struct Prepared {
    text: String,
    declarations: String,
    program: Option<Kept>,
}

struct Kept {
    database: i32,
    quoted_identifier: bool,
    program: Arc<Program>,
}

impl Prepared {
    /// A text that is compiled when it is first needed.
    pub fn new(text: String, declarations: String) -> Prepared {
        Prepared { text, declarations, program: None }
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The declarations, as sp_executesql's second parameter.
    pub fn declarations(&self) -> &str {
        &self.declarations
    }

    /// The program, compiled against what the session uses now.
    ///
    /// # Errors
    /// As [`crate::compile`].
    pub fn program(&mut self, context: &ExecutionContext, host: &dyn Host) -> Result<Arc<Program>, Vec<SqlError>> {
        let (database, quoted_identifier) = (context.database().id(), context.settings.quoted_identifier);
        if let Some(kept) = &self.program
            && kept.database == database
            && kept.quoted_identifier == quoted_identifier
        {
            return Ok(Arc::clone(&kept.program));
        }
        let program = crate::prepare(&self.text, &self.declarations, context, host)?;
        self.program = Some(Kept { database, quoted_identifier, program: Arc::clone(&program) });
        Ok(program)
    }

    /// The text with its declarations, as errors quote it.
    fn quoted(&self) -> String {
        format!("({}){}", self.declarations, self.text)
    }
}

/// Calls a text. Arguments are matched by place and by name and converted to the declared types; those that ask for output
/// have the declared type and the value that the text left, afterwards. The result is the return status.
///
/// # Errors
/// The error that kept the text from running or ended it, after it went to `output`.
pub async fn call(
    prepared: &mut Prepared,
    arguments: &mut [Argument],
    context: &mut ExecutionContext,
    host: &mut dyn Host,
    output: &mut dyn Output,
) -> Result<i32, SqlError> {
    let program = match prepared.program(context, host) {
        Ok(program) => program,
        Err(errors) => {
            errors.iter().for_each(|error| output.error(error));
            context.state.last_error = errors.last().map_or(0, |error| error.number);
            return Err(errors.into_iter().next().unwrap_or_else(|| SqlError::incorrect_syntax("")));
        }
    };
    let (mut values, places) = match fill(&program, prepared, arguments) {
        Ok(filled) => filled,
        Err(error) => {
            context.state.last_error = error.number;
            output.error(&error);
            return Err(error);
        }
    };
    let settings = context.settings.clone();
    let database = Arc::clone(context.database());
    let below = std::mem::replace(&mut context.impersonations_below, context.security.depth());
    let result = run_at(1, &program, &mut values, context, host, output).await;
    context.security.revert_to(context.impersonations_below);
    context.impersonations_below = below;
    if context.settings != settings {
        let isolation = settings.isolation;
        context.settings = settings;
        context.set_isolation(isolation);
        host.settings_changed(context);
    }
    if !Arc::ptr_eq(&database, context.database()) && context.use_database(database.name()).is_ok() {
        output.message(&SqlError::changed_database(database.name()));
    }
    for (argument, slot) in arguments.iter_mut().zip(places).filter(|(argument, _)| argument.output) {
        argument.ty = program.parameters[slot].ty;
        argument.value = std::mem::take(&mut values[slot]);
    }
    result
}

/// The values of the program's parameters, and each argument's place among them.
fn fill(
    program: &Program,
    prepared: &Prepared,
    arguments: &mut [Argument],
) -> Result<(Vec<Value>, Vec<usize>), SqlError> {
    let parameters = &program.parameters;
    let mut values: Vec<Option<Value>> = Vec::new();
    values.resize_with(parameters.len(), || None);
    let mut places = Vec::with_capacity(arguments.len());
    let mut named = false;
    for (position, argument) in arguments.iter().enumerate() {
        let slot = argument_slot(parameters, argument.name.as_deref(), position, named, "sp_executesql")
            .map_err(|fault| *fault)?;
        named |= argument.name.is_some();
        if argument.output && !parameters[slot].output {
            return Err(SqlError::not_an_output_parameter(&parameters[slot].name));
        }
        let mut value = Value::Null;
        convert_argument(&argument.value, &argument.ty, &parameters[slot].ty, &mut value).map_err(|fault| *fault)?;
        if values[slot].replace(value).is_some() {
            return Err(SqlError::parameter_twice(&parameters[slot].name));
        }
        places.push(slot);
    }
    let mut filled = Vec::with_capacity(values.len());
    for (value, parameter) in values.into_iter().zip(parameters) {
        match value {
            Some(value) => filled.push(value),
            None => return Err(SqlError::query_parameter_not_supplied(prepared.quoted(), &parameter.name)),
        }
    }
    Ok((filled, places))
}
