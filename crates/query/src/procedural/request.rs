//! A parameterized text that a client calls by itself, as sp_executesql and sp_execute do.
//!
//! The text runs one level down, as the body of a procedure: SET options that it changes are restored when it ends.

use std::sync::Arc;

use super::call::{argument_slot, convert_argument};
use super::run_at;
use crate::cache::Meaning;
use crate::context::ExecutionContext;
use crate::host::{Argument, Host, TableRows};
use crate::output::{ColumnInfo, Done, Output};
use crate::program::{LoadOptions, Program, insert_program};
use crate::settings::Settings;
use pikepole_types::{CodePage, Context, SqlError, SqlType, Value};

/// A text with the declarations of its parameters, and its program once it has been compiled. The program is kept while it is
/// the one that the present database and settings would find.
pub struct Prepared {
    text: String,
    declarations: String,
    program: Option<Kept>,
    /// Whether a session has looked at the text before its first call.
    was_looked_at: bool,
}

struct Kept {
    database: i32,
    meaning: Meaning,
    schema: Option<Arc<str>>,
    /// What the cache had dropped when it was found there: the program is looked up again after that, so that the views see it.
    dropped: u64,
    program: Arc<Program>,
}

impl Prepared {
    /// A text that is compiled when it is first needed.
    pub fn new(text: String, declarations: String) -> Prepared {
        Prepared { text, declarations, program: None, was_looked_at: false }
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The declarations, as sp_executesql's second parameter.
    pub fn declarations(&self) -> &str {
        &self.declarations
    }

    /// Whether this is asked for the first time: what a text needs before it is called does not change.
    pub fn is_first_look(&mut self) -> bool {
        !std::mem::replace(&mut self.was_looked_at, true)
    }

    /// The program, compiled against what the session uses now.
    ///
    /// # Errors
    /// As [`crate::compile`].
    pub fn program(&mut self, context: &ExecutionContext, host: &dyn Host) -> Result<Arc<Program>, Vec<SqlError>> {
        let (database, meaning) = (context.database().id(), Meaning::of(&context.settings));
        let (dropped, schema) = (context.plans.dropped(), context.default_schema());
        if let Some(kept) = &self.program
            && kept.database == database
            && kept.meaning == meaning
            && kept.schema == schema
            && kept.dropped == dropped
            && kept.program.fits(|| context.catalog().catalog)
        {
            return Ok(Arc::clone(&kept.program));
        }
        let program = crate::prepare(&self.text, &self.declarations, context, host)?;
        self.program = Some(Kept { database, meaning, schema, dropped, program: Arc::clone(&program) });
        Ok(program)
    }

    /// The names and types of its parameters, and which of them are declared OUTPUT.
    ///
    /// # Errors
    /// As [`crate::compile`].
    pub fn parameters(
        &mut self,
        context: &ExecutionContext,
        host: &dyn Host,
    ) -> Result<Vec<(String, SqlType, bool)>, Vec<SqlError>> {
        let program = self.program(context, host)?;
        let parameters = program.parameters.iter();
        Ok(parameters.map(|parameter| (parameter.name.clone(), parameter.ty, parameter.output)).collect())
    }

    /// The beginning of the text with its declarations, as errors quote it.
    fn quoted(&self) -> String {
        const QUOTED_MAX: usize = 64;
        format!("({}){}", self.declarations, self.text).chars().take(QUOTED_MAX).collect()
    }
}

/// Calls a text. Arguments are matched by place and by name and converted to the declared types; those that ask for output
/// have the declared type and the value that the text left, afterwards. What it sets ends with it, but not USE: drivers that send
/// every text so could not change the database otherwise. The result is the return status.
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
    call_program(&program, prepared, arguments, context, host, output).await
}

/// The same with the program that runs for the text.
pub(super) async fn call_program(
    program: &Arc<Program>,
    prepared: &Prepared,
    arguments: &mut [Argument],
    context: &mut ExecutionContext,
    host: &mut dyn Host,
    output: &mut dyn Output,
) -> Result<i32, SqlError> {
    let page = context.database().code_page();
    let mut room = std::mem::take(&mut context.call_room);
    if let Err(error) = room.fill(program, prepared, arguments, &context.settings, page) {
        context.state.last_error = error.number;
        output.error(&error);
        context.call_room = room.kept();
        return Err(error);
    }
    let settings = context.settings.clone();
    let caller_context = context.enter_module_context();
    let tables = std::mem::take(&mut room.tables);
    let result = run_at(1, program, &mut room.values, tables, context, host, output).await;
    context.end_module_context(caller_context);
    if context.settings != settings {
        let isolation = settings.isolation;
        context.settings = settings;
        context.set_isolation(isolation);
        host.settings_changed(context);
    }
    for (argument, slot) in arguments.iter_mut().zip(&room.places).filter(|(argument, _)| argument.output) {
        argument.ty = program.parameters[*slot].ty;
        std::mem::swap(&mut argument.value, &mut room.values[*slot]);
    }
    context.call_room = room.kept();
    result
}

/// A table that takes rows of a client's, and its columns that they have values for.
#[derive(Clone)]
pub struct RowTarget {
    program: Arc<Program>,
    columns: Vec<ColumnInfo>,
}

impl RowTarget {
    /// The columns `names` of `table`, both as T-SQL writes them; `columns` are the values' names and types.
    ///
    /// # Errors
    /// Names that are none.
    pub fn new(
        table: &str,
        names: &[String],
        columns: Vec<ColumnInfo>,
        options: LoadOptions,
    ) -> Result<RowTarget, SqlError> {
        Ok(RowTarget { program: insert_program(table, names, options)?, columns })
    }
}

/// Inserts rows, each with a value for every column of the target; gives how many have come in.
///
/// # Errors
/// That of the statement, after it went to `output`.
pub async fn insert_rows(
    target: &RowTarget,
    rows: Vec<Vec<Value>>,
    context: &mut ExecutionContext,
    host: &mut dyn Host,
    output: &mut dyn Output,
) -> Result<u64, SqlError> {
    let given = TableRows { columns: target.columns.clone(), rows, ..TableRows::default() };
    let mut errors = FirstError { output, first: None };
    run_at(0, &target.program, &mut [], vec![Some(given)], context, host, &mut errors).await?;
    let FirstError { first, .. } = errors;
    first.map_or(Ok(u64::try_from(context.state.row_count).unwrap_or(0)), Err)
}

/// Keeps the first error on its way.
pub(super) struct FirstError<'a> {
    pub(super) output: &'a mut dyn Output,
    pub(super) first: Option<SqlError>,
}

impl Output for FirstError<'_> {
    fn columns(&mut self, columns: &[ColumnInfo]) {
        self.output.columns(columns);
    }
    fn row(&mut self, row: &[Value]) {
        self.output.row(row);
    }
    fn done(&mut self, done: Done) {
        self.output.done(done);
    }
    fn ended_without_count(&mut self, in_procedure: bool) {
        self.output.ended_without_count(in_procedure);
    }
    fn assigned(&mut self, rows: u64, in_procedure: bool) {
        self.output.assigned(rows, in_procedure);
    }
    fn message(&mut self, message: &SqlError) {
        self.output.message(message);
    }
    fn push(&mut self) {
        self.output.push();
    }
    fn error(&mut self, error: &SqlError) {
        self.first.get_or_insert_with(|| error.clone());
        self.output.error(error);
    }
    fn failed(&mut self) {
        self.output.failed();
    }
}

/// Room for the arguments of calls, which the next call of a session finds again.
#[derive(Default)]
pub(crate) struct CallRoom {
    /// The values of the program's parameters, in their order.
    values: Vec<Value>,
    /// Which of them have one.
    given: Vec<bool>,
    /// The rows of those that are tables, where there are such.
    tables: Vec<Option<TableRows>>,
    /// Each argument's place among the parameters.
    places: Vec<usize>,
}

impl CallRoom {
    /// The room as the next call finds it.
    fn kept(mut self) -> CallRoom {
        Value::keep_room(&mut self.values);
        self.tables.clear();
        self
    }

    /// Matches arguments with the program's parameters, in a database of a code page.
    fn fill(
        &mut self,
        program: &Program,
        prepared: &Prepared,
        arguments: &mut [Argument],
        settings: &Settings,
        page: CodePage,
    ) -> Result<(), SqlError> {
        let parameters = &program.parameters;
        self.values.resize(parameters.len(), Value::Null);
        self.given.clear();
        self.given.resize(parameters.len(), false);
        self.tables.clear();
        self.places.clear();
        let mut functions = None;
        for (position, argument) in arguments.iter_mut().enumerate() {
            let slot = argument_slot(parameters, argument.name.as_deref(), position, "sp_executesql")
                .map_err(|fault| *fault)?;
            let parameter = &parameters[slot];
            if argument.output && !parameter.output {
                return Err(SqlError::not_an_output_parameter(&parameter.name));
            }
            if std::mem::replace(&mut self.given[slot], true) {
                return Err(SqlError::parameter_twice(&parameter.name));
            }
            self.places.push(slot);
            let table = argument.table.take();
            match &parameter.table {
                None if table.is_none() => {
                    let (from, to, place) = (&argument.ty, &parameter.ty, &mut self.values[slot]);
                    if argument.value.is_null() || from == to {
                        place.clone_from(&argument.value);
                        continue;
                    }
                    let functions = functions.get_or_insert_with(|| {
                        let mut functions = Context::new(crate::clock::epoch(), 0);
                        settings.inform(&mut functions);
                        functions
                    });
                    convert_argument(functions, page, &argument.value, from, to, place).map_err(|fault| *fault)?;
                }
                None => return Err(SqlError::operand_type_clash("table type", parameter.ty.error_name())),
                Some(wanted) => {
                    // A NULL of a table is a table without rows.
                    if table.is_none() && !argument.value.is_null() {
                        return Err(SqlError::operand_type_clash(argument.ty.error_name(), &wanted.name));
                    }
                    self.tables.resize_with(parameters.len(), || None);
                    self.tables[slot] = table;
                    self.values[slot] = Value::Null;
                }
            }
        }
        for ((parameter, given), value) in parameters.iter().zip(&self.given).zip(&mut self.values) {
            match given {
                true => {}
                false if parameter.table.is_some() => *value = Value::Null,
                false => return Err(SqlError::query_parameter_not_supplied(prepared.quoted(), &parameter.name)),
            }
        }
        Ok(())
    }
}
