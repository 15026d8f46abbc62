//! Procedure calls: the numbered ones that drivers use for prepared and parameterized texts, and any other by its name.

use crate::call_clock::Step;
use crate::connection::Connection;
use crate::cursors::{self, Around, int_at};
use crate::incoming::Broken;
use crate::reply::{Answering, Reply};
use crate::requests::{Prepareds, called, conclude, end_batch_transaction, tell_changes, tell_end, tell_state, watch};
use pikepole_session::{
    Argument, ColumnInfo, Done, DoneKind, Output, Parameter, Prepared, PreparedHandle, Session, TableRows,
};
use pikepole_tds::{
    Argument as Given, Parameter as GivenParameter, Procedure, ReturnValue, Rpc, SystemProcedure, TableArgument,
    TypeToken,
};
use pikepole_types::{Collation, Length, SqlError, SqlType, Value};
use std::fmt::Write;

/// What a call does.
enum Plan {
    /// sp_executesql: a text and its arguments.
    Text { hash: u64, prepared: Prepared, first: usize },
    /// sp_prepare; its options may ask for the columns of the result.
    Prepare { prepared: Prepared, describes: bool },
    /// sp_prepexec.
    PrepareAndRun { prepared: Prepared },
    /// sp_execute.
    Run { handle: i32 },
    /// sp_unprepare.
    Forget { handle: i32 },
    /// A procedure of cursors.
    Cursor(SystemProcedure),
    /// Any other procedure, by name; `first` is the place of its first argument. With `keep` it gets a handle too: sp_prepexecrpc.
    Named { name: String, first: usize, keep: bool },
}

/// The variable that the name of a procedure is in.
const PROCEDURE: &str = "@procedure";
/// The variable that the value of a function goes to.
const RESULT: &str = "@result";
/// The option of sp_prepare that asks for the columns of the result.
const RETURN_METADATA: i32 = 1;
/// What a pool of connections calls in place of the reset bits.
const RESET: &str = "sp_reset_connection";

impl Connection {
    /// Answers one call. False: the request ends with it, because the client has taken it back, or an error of those that end a
    /// batch has. With `promises` its commits may be waited for later.
    pub(crate) async fn answer_call(&mut self, call: &mut Rpc<'_>, more: bool, promises: bool) -> Result<bool, Broken> {
        if call.no_execution {
            return Ok(true);
        }
        if let Procedure::Name(name) = &call.procedure
            && plain_name(name).eq_ignore_ascii_case(RESET)
        {
            self.answer_reset(more).await;
            return Ok(true);
        }
        self.clock.step(Step::Decode);
        self.clock.count_call();
        let before = self.session.transaction_mark();
        let cancel = self.clear_cancel();
        let plan = match plan(call, &mut self.prepared, &self.session) {
            Ok(plan) => plan,
            Err(error) => {
                self.reply_error(&error, more);
                return Ok(true);
            }
        };
        if matches!(plan, Plan::Cursor(_)) {
            // Its rows leave while it is read.
            self.harden().await?;
        } else {
            self.session.promise_commits(promises);
        }
        let answering = if matches!(plan, Plan::Named { .. }) { Answering::Procedure } else { Answering::Text };
        let mut reply = Reply::new(&mut self.sender, self.shared.registry.server_name(), &cancel, answering);
        let mut arguments = std::mem::take(&mut self.room.arguments);
        let around = Around {
            session: &mut self.session,
            prepared: &mut self.prepared,
            cursors: &mut self.cursors,
            reply: &mut reply,
            columns_known: call.no_metadata,
        };
        let work = carry_out(plan, &mut call.parameters, around, &mut arguments);
        self.clock.step(Step::Run);
        let (ran, watched) = watch(work, &mut self.incoming, &cancel).await;
        self.clock.step(Step::Answer);
        if self.mars.is_some() {
            end_batch_transaction(&mut self.session, before, &mut reply).await;
        }
        tell_changes(&mut reply, &self.session, before, &mut self.told);
        tell_end(&mut reply, &self.session, self.shared.is_closing());
        let aborted = self.session.was_batch_aborted();
        let more = more && !aborted;
        if !more {
            tell_state(&mut reply, &self.session, &self.cursors, &mut self.told);
        }
        let given_up = watched.attention || aborted;
        let (status, values) = match &ran {
            // A procedure that did not return leaves nothing in its arguments.
            Ok(ran) if ran.own.is_empty() && ran.status.is_none() && !reply.has_status() => (None, Vec::new()),
            Ok(ran) => (ran.status, ran.returned(&call.parameters, &arguments)),
            Err(error) => {
                reply.error(error);
                (None, Vec::new())
            }
        };
        let collation = self.told.collation;
        let result = ran.as_ref().ok().and_then(|ran| ran.result.clone());
        conclude(reply, watched, |reply| {
            let returned = result.iter().map(|(ty, value)| result_of(*ty, value, collation));
            let returned: Vec<ReturnValue<'_>> = returned
                .chain(values.iter().map(|value| match value {
                    Returned::Own { ordinal, name, value } => {
                        let (ordinal, ty) = (*ordinal, SqlType::Int);
                        ReturnValue { is_result: false, ordinal, name, ty, numeric: false, collation, value }
                    }
                    Returned::Argument { ordinal, name, argument, numeric } => {
                        let ty = if argument.ty == SqlType::Null { UNTYPED } else { argument.ty };
                        let (ordinal, numeric) = (*ordinal, *numeric);
                        let value = &argument.value;
                        ReturnValue { is_result: false, ordinal, name, ty, numeric, collation, value }
                    }
                }))
                .collect();
            reply.finish_call(status, &returned, more);
        })?;
        drop(values);
        Value::keep_room(arguments.iter_mut().map(|argument| &mut argument.value));
        self.room.arguments = arguments;
        Ok(!given_up)
    }

    /// Answers what a pool of connections calls in place of the reset bits.
    async fn answer_reset(&mut self, more: bool) {
        self.reset(false).await;
        let cancel = self.clear_cancel();
        let server_name = self.shared.registry.server_name();
        let mut reply = Reply::new(&mut self.sender, server_name, &cancel, Answering::Procedure);
        reply.finish_call(Some(0), &[], more);
    }

    /// Answers a call with nothing but an error.
    fn reply_error(&mut self, error: &SqlError, more: bool) {
        let cancel = self.session.cancel_switch();
        let mut reply = Reply::new(&mut self.sender, self.shared.registry.server_name(), &cancel, Answering::Text);
        reply.say(error);
        reply.finish_call(None, &[], more);
    }
}

/// Does what a call is about. `arguments` are those of the text or procedure, as it leaves them.
async fn carry_out(
    plan: Plan,
    given: &mut [GivenParameter<'_>],
    around: Around<'_, '_>,
    arguments: &mut Vec<Argument>,
) -> Result<Ran, SqlError> {
    match plan {
        Plan::Text { hash, prepared: mut text, first } => {
            take_arguments(given, first, arguments);
            let status = around.session.call(&mut text, arguments, around.reply).await.ok();
            around.prepared.recent.give(hash, text);
            Ok(Ran { status, first, own: Vec::new(), result: None })
        }
        Plan::Prepare { prepared: mut text, describes } => {
            compile(&mut text, around.session, around.reply)?;
            if describes && let Some(columns) = around.session.first_columns(&text) {
                around.reply.columns(&columns);
                around.reply.done(Done { rows: None, kind: DoneKind::Select });
            }
            let handle = around.prepared.add(text, around.session)?;
            Ok(Ran { status: Some(0), first: given.len(), own: vec![(0, handle)], result: None })
        }
        Plan::PrepareAndRun { prepared: mut text } => {
            let first = 3;
            take_arguments(given, first, arguments);
            compile(&mut text, around.session, around.reply)?;
            let status = around.session.call(&mut text, arguments, around.reply).await.ok();
            let handle = around.prepared.add(text, around.session)?;
            Ok(Ran { status, first, own: vec![(0, handle)], result: None })
        }
        Plan::Run { handle } => {
            let first = 1;
            take_arguments(given, first, arguments);
            let text = around.prepared.get(handle, around.session)?;
            let status = around.session.call(text, arguments, around.reply).await.ok();
            Ok(Ran { status, first, own: Vec::new(), result: None })
        }
        Plan::Forget { handle } => {
            around.prepared.remove(handle, around.session)?;
            Ok(Ran::without_values(given))
        }
        Plan::Cursor(procedure) => cursors::call(procedure, given, around, arguments).await,
        Plan::Named { name, first, keep } => {
            take_arguments(given, first, arguments);
            name_table_types(&name, arguments, around.session)?;
            let function = around.session.scalar_function(&name);
            let callee = function.as_ref().map(|(function, _)| function.as_str());
            let text = call_text(given.get(first..).unwrap_or_default(), callee)?;
            let mut parameters = parameters_of(&name, arguments);
            parameters.extend(function.map(|(_, ty)| Parameter {
                name: RESULT.to_string(),
                value: Value::Null,
                ty,
                output: true,
                table: None,
            }));
            // Behind the variable that the procedure's name is in.
            let takes_default = |(place, given): (usize, &GivenParameter<'_>)| given.default.then_some(place + 1);
            let defaults = given.iter().skip(first).enumerate().filter_map(takes_default).collect();
            around.session.run_call(&text, &mut parameters, defaults, around.reply).await;
            let result = parameters.pop_if(|last| last.name == RESULT);
            let result = result.filter(|_| !around.reply.has_failed());
            for (argument, parameter) in arguments.iter_mut().zip(parameters.drain(1..)) {
                argument.value = parameter.value;
            }
            let own = match keep {
                true => vec![(0, around.session.prepared_mut().add(PreparedHandle::Call(name))?)],
                false => Vec::new(),
            };
            let status = result.as_ref().map(|_| 0);
            let result = result.map(|result| (result.ty, result.value));
            Ok(Ran { status, first, own, result })
        }
    }
}

/// Compiles a text that is prepared. What is wrong with it goes to the client before the error that says that it is.
pub(crate) fn compile(text: &mut Prepared, session: &mut Session, reply: &mut Reply<'_>) -> Result<(), SqlError> {
    session.compile(text).map_err(|errors| {
        errors.iter().for_each(|error| reply.error(error));
        SqlError::not_prepared()
    })
}

/// How a call went.
pub(crate) struct Ran {
    pub(crate) status: Option<i32>,
    /// The first parameter of the call that is an argument.
    pub(crate) first: usize,
    /// What is returned in parameters before that, by place: handles and counts.
    pub(crate) own: Vec<(usize, i32)>,
    /// The value of a function.
    pub(crate) result: Option<(SqlType, Value)>,
}

/// A value that goes back to the client.
enum Returned<'a> {
    Own { ordinal: u16, name: &'a str, value: Value },
    Argument { ordinal: u16, name: &'a str, argument: &'a Argument, numeric: bool },
}

impl Ran {
    /// A call that went well and returns nothing.
    pub(crate) fn without_values(given: &[GivenParameter<'_>]) -> Ran {
        Ran { status: Some(0), first: given.len(), own: Vec::new(), result: None }
    }

    fn returned<'a>(&self, given: &'a [GivenParameter<'_>], arguments: &'a [Argument]) -> Vec<Returned<'a>> {
        let mut returned = Vec::new();
        returned.extend(self.own.iter().map(|(place, value)| Returned::Own {
            ordinal: u16::try_from(*place).unwrap_or(u16::MAX),
            // A client knows the value again by the name that it gave the parameter.
            name: given.get(*place).map_or("", |parameter| parameter.name.as_str()),
            value: Value::Int(*value),
        }));
        let outputs = given.iter().enumerate().skip(self.first).zip(arguments).filter(|(_, argument)| argument.output);
        returned.extend(outputs.map(|((place, given), argument)| Returned::Argument {
            ordinal: u16::try_from(place).unwrap_or(u16::MAX),
            name: &given.name,
            argument,
            // It goes back by the name that it came by.
            numeric: is_called_numeric(given),
        }));
        returned
    }
}

/// The value of a function, as it goes back.
fn result_of(ty: SqlType, value: &Value, collation: Collation) -> ReturnValue<'_> {
    ReturnValue { is_result: true, ordinal: 0, name: "", ty, numeric: false, collation, value }
}

fn is_called_numeric(given: &GivenParameter<'_>) -> bool {
    matches!(&given.argument, Given::Scalar { info, .. } if info.token() == TypeToken::NumericN)
}

/// The type of a value that has none of its own.
const UNTYPED: SqlType = SqlType::NVarChar(Length::Limit(4000));

/// What a call is about. What sp_executesql has run before is taken from `prepared`.
fn plan(call: &Rpc<'_>, prepared: &mut Prepareds, session: &Session) -> Result<Plan, SqlError> {
    let system = match &call.procedure {
        Procedure::System(system) => Some(*system),
        Procedure::Name(name) => SystemProcedure::by_name(plain_name(name)),
    };
    let given = &call.parameters;
    let name = system.map_or("", SystemProcedure::name);
    match (system, &call.procedure) {
        (None, Procedure::Name(name)) => Ok(Plan::Named { name: name.clone(), first: 0, keep: false }),
        (Some(SystemProcedure::ExecuteSql), _) => {
            let (text, declarations) = (text_at(given, 0, name)?, optional_text_at(given, 1, name)?);
            let (hash, prepared) = prepared.recent.take(text, declarations);
            Ok(Plan::Text { hash, prepared, first: 2 })
        }
        (Some(SystemProcedure::Prepare), _) => {
            let describes = int_at(given, 3, name, "@options")?.is_some_and(|options| options & RETURN_METADATA != 0);
            Ok(Plan::Prepare { prepared: prepared_at(given, name)?, describes })
        }
        (Some(SystemProcedure::PrepExec), _) => Ok(Plan::PrepareAndRun { prepared: prepared_at(given, name)? }),
        (Some(SystemProcedure::PrepExecRpc), _) => {
            Ok(Plan::Named { name: text_at(given, 1, name)?.to_string(), first: 2, keep: true })
        }
        (Some(SystemProcedure::Execute), _) => {
            let handle = handle_at(given, name)?;
            Ok(match called(handle, session) {
                Some(procedure) => Plan::Named { name: procedure.to_string(), first: 1, keep: false },
                None => Plan::Run { handle },
            })
        }
        (Some(SystemProcedure::Unprepare), _) => Ok(Plan::Forget { handle: handle_at(given, name)? }),
        (
            Some(
                cursor @ (SystemProcedure::Cursor
                | SystemProcedure::CursorOpen
                | SystemProcedure::CursorPrepare
                | SystemProcedure::CursorExecute
                | SystemProcedure::CursorPrepExec
                | SystemProcedure::CursorUnprepare
                | SystemProcedure::CursorFetch
                | SystemProcedure::CursorOption
                | SystemProcedure::CursorClose),
            ),
            _,
        ) => Ok(Plan::Cursor(cursor)),
        (None, Procedure::System(_)) => unreachable!("a numbered procedure is a system one"),
    }
}

/// The name without the schema `sys` or none, and without brackets.
fn plain_name(name: &str) -> &str {
    let plain = |part: &str| part.trim_start_matches('[').trim_end_matches(']').to_ascii_lowercase();
    match name.rsplit_once('.') {
        Some((schema, last)) if matches!(plain(schema.rsplit('.').next().unwrap_or("")).as_str(), "sys" | "") => last,
        _ => name,
    }
    .trim_start_matches('[')
    .trim_end_matches(']')
}

fn prepared_at(given: &[GivenParameter<'_>], procedure: &str) -> Result<Prepared, SqlError> {
    let (declarations, text) = (optional_text_at(given, 1, procedure)?, text_at(given, 2, procedure)?);
    Ok(Prepared::new(text.to_string(), declarations.to_string()))
}

pub(crate) fn text_at<'a>(given: &'a [GivenParameter<'_>], place: usize, procedure: &str) -> Result<&'a str, SqlError> {
    if place >= given.len() {
        return Err(SqlError::parameter_not_supplied(procedure, format!("@{place}")));
    }
    optional_text_at(given, place, procedure)
}

/// A text, empty for NULL and for one that is not there.
pub(crate) fn optional_text_at<'a>(
    given: &'a [GivenParameter<'_>],
    place: usize,
    procedure: &str,
) -> Result<&'a str, SqlError> {
    match given.get(place).map(|parameter| &parameter.argument) {
        None | Some(Given::Scalar { value: Value::Null, .. }) => Ok(""),
        Some(Given::Scalar { value: Value::Str(text), .. }) => Ok(text),
        Some(_) => Err(SqlError::procedure_expects_type(format!("{procedure} @{place}"), "ntext/nchar/nvarchar")),
    }
}

pub(crate) fn handle_at(given: &[GivenParameter<'_>], procedure: &str) -> Result<i32, SqlError> {
    let value = match given.first().map(|parameter| &parameter.argument) {
        Some(Given::Scalar { value, .. }) => value.as_i64(),
        _ => None,
    };
    let handle = value.and_then(|value| i32::try_from(value).ok());
    handle.ok_or_else(|| SqlError::parameter_not_supplied(procedure, "@handle"))
}

/// Takes the values from a place on as arguments, in the place of those of the last call, whose room goes to the parameters.
pub(crate) fn take_arguments(given: &mut [GivenParameter<'_>], first: usize, arguments: &mut Vec<Argument>) {
    let given = given.get_mut(first..).unwrap_or_default();
    let none = || Argument { name: None, value: Value::Null, ty: SqlType::Null, output: false, table: None };
    arguments.resize_with(given.len(), none);
    for (given, argument) in given.iter_mut().zip(arguments) {
        match given.name.as_str() {
            "" => argument.name = None,
            name => name.clone_into(argument.name.get_or_insert_default()),
        }
        argument.output = given.by_reference;
        match &mut given.argument {
            Given::Scalar { info, value } => {
                argument.ty = column_type(info.sql_type());
                argument.table = None;
                std::mem::swap(&mut argument.value, value);
            }
            Given::Table(table) => {
                argument.table = Some(table_rows(table));
                (argument.value, argument.ty, argument.output) = (Value::Null, SqlType::Null, false);
            }
        }
    }
}

fn column_type(ty: SqlType) -> SqlType {
    match ty {
        SqlType::Null => UNTYPED,
        // Bytes that a client says are such a value are looked at where they become one.
        SqlType::Clr(_) => SqlType::VarBinary(Length::Max),
        ty => ty,
    }
}

/// A table as the session wants it: its columns in the order of the type's. One that is NULL has no rows.
fn table_rows(table: &TableArgument<'_>) -> TableRows {
    let place = |at: &usize| {
        let column = &table.columns[*at];
        ColumnInfo::new(&column.name, column_type(column.info.sql_type()), true)
    };
    let mut rows = Vec::with_capacity(table.row_count);
    let taken = table.rows(|row| {
        rows.push(table.order.iter().map(|at| row[*at].clone()).collect());
        Ok::<(), std::convert::Infallible>(())
    });
    let Ok(()) = taken;
    let is_default = |(at, sent): (usize, &usize)| table.columns[*sent].default.then_some(at);
    TableRows {
        type_schema: table.schema.clone(),
        type_name: table.name.clone(),
        columns: table.order.iter().map(place).collect(),
        defaults: table.order.iter().enumerate().filter_map(is_default).collect(),
        rows,
        is_null: table.is_null,
    }
}

/// A client may leave it to the procedure of what type its tables are.
fn name_table_types(procedure: &str, arguments: &mut [Argument], session: &Session) -> Result<(), SqlError> {
    for (place, argument) in arguments.iter_mut().enumerate() {
        let Some(table) = argument.table.as_mut().filter(|table| table.type_name.is_empty()) else { continue };
        let name = argument.name.as_deref().unwrap_or_default();
        let found = session.table_type(procedure, place, name);
        let found = found.ok_or_else(|| SqlError::operand_type_clash("table type", name))?;
        (table.type_schema, table.type_name) = found;
    }
    Ok(())
}

/// The batch that calls a procedure. The procedure's name is in a variable, each argument in another: nothing of what a
/// client sends becomes text, but the names of parameters, which are looked at. A function is called by its name as the catalog has it.
fn call_text(given: &[GivenParameter<'_>], function: Option<&str>) -> Result<String, SqlError> {
    let mut text = match function {
        None => format!("EXECUTE {PROCEDURE}"),
        Some(function) => format!("EXECUTE {RESULT} = {function}"),
    };
    for (place, parameter) in given.iter().enumerate() {
        if !is_parameter_name(&parameter.name) {
            return Err(SqlError::not_a_parameter(&parameter.name, ""));
        }
        let separator = if place == 0 { " " } else { ", " };
        let name = if parameter.name.is_empty() { String::new() } else { format!("{} = ", parameter.name) };
        let output = if parameter.by_reference { " OUTPUT" } else { "" };
        // Writing to a String cannot fail.
        let _ = match parameter.default {
            true if !parameter.by_reference => write!(text, "{separator}{name}DEFAULT"),
            _ => write!(text, "{separator}{name}@P{place}{output}"),
        };
    }
    Ok(text)
}

fn is_parameter_name(name: &str) -> bool {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '@' | '#' | '$');
    name.is_empty() || (name.len() > 1 && name.starts_with('@') && name.chars().all(plain))
}

/// The variables of the batch that calls a procedure: its name, then the arguments, whose values are moved.
fn parameters_of(name: &str, arguments: &mut [Argument]) -> Vec<Parameter> {
    // A number behind the name, as ODBC writes it, is that of a group of procedures, which there are not.
    let name = name.strip_suffix(";1").unwrap_or(name);
    let procedure = Parameter {
        name: PROCEDURE.to_string(),
        value: Value::Str(name.to_string()),
        ty: SqlType::NVarChar(Length::Limit(1000)),
        output: false,
        table: None,
    };
    let variable = |(place, argument): (usize, &mut Argument)| Parameter {
        name: format!("@P{place}"),
        value: std::mem::take(&mut argument.value),
        ty: argument.ty,
        output: argument.output,
        table: argument.table.take(),
    };
    std::iter::once(procedure).chain(arguments.iter_mut().enumerate().map(variable)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn system_procedures_are_known_by_their_names() {
        for name in [
            "sp_executesql",
            "sys.sp_executesql",
            "[sys].[sp_executesql]",
            "master.sys.sp_executesql",
            "..sp_executesql",
        ] {
            assert_eq!(plain_name(name), "sp_executesql", "{name}");
        }
        assert_eq!(plain_name("dbo.sp_executesql"), "dbo.sp_executesql");
    }

    #[test]
    fn a_parameters_name_is_no_text() {
        assert!(is_parameter_name("") && is_parameter_name("@a_1$#"));
        assert!(!is_parameter_name("a") && !is_parameter_name("@") && !is_parameter_name("@a = 1; DROP TABLE t --"));
    }
}
