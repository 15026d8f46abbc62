//! Calls: procedures of the database, of the host, texts.

use std::sync::Arc;

use super::atomic::AtomicBlock;
use super::frame::{Alone, Frame, KnownCallee, Return};
use super::prepared::PreparedProcedure;
use super::promise::Promised;
use super::recover::Origin;
use super::statement::StatementState;
use super::table_variables::Lent;
use super::text_procedure::TextProcedure;
use super::transaction::Capturing;
use super::trigger::Fire;
use super::{Machine, Pause};
use crate::access::{CatalogView, Stop};
use crate::bind::{Binder, Names};
use crate::errors;
use crate::errors::first_error;
use crate::expression::{Expr, Fault};
use crate::held::Held;
use crate::host::Argument;
use crate::output::CapturedRows;
use crate::output::{Done, DoneKind};
use crate::program::{
    CallArgument, Execute, ExecuteTarget, InsertCaptured, Parameter, ProcedureIdentity, Program, compile_procedure,
};
use crate::runs::Call;
use crate::security::Requirement;
use pikepole_engine::{Database, Permission, TEMPDB};
use pikepole_tsql::ObjectName;
use pikepole_types::{CodePage, Context, SqlError, SqlType, Target, Value};

/// A synonym that stands for nothing that is there.
const SYNONYM_INVALID: i32 = 5313;
/// Procedures that clients call by the protocol alone.
pub const CURSOR_PROCEDURES: [&str; 9] = [
    "sp_cursor",
    "sp_cursorclose",
    "sp_cursorexecute",
    "sp_cursorfetch",
    "sp_cursoropen",
    "sp_cursoroption",
    "sp_cursorprepare",
    "sp_cursorprepexec",
    "sp_cursorunprepare",
];
/// Calls within calls.
pub(crate) const NESTING_MAX: i32 = 32;

/// Parameters of a call that are counted in place.
const FEW_PARAMETERS: usize = 32;

/// Calls of a known procedure that the cache counts in one go.
const USES_MAX: u64 = 1000;

/// Characters of a text that an error about its parameters quotes.
const QUOTED_TEXT_MAX: usize = 4_000;

impl Machine<'_> {
    /// EXEC of a procedure.
    pub(crate) async fn execute(&mut self, call: &Execute) -> Result<(), Fault> {
        let name = self.target_name(&call.target)?;
        let plain = name.name.text.as_str();
        if plain.eq_ignore_ascii_case("sp_executesql") {
            return self.execute_sql(&name, call);
        }
        if let Some(procedure) = PreparedProcedure::of(plain) {
            return self.execute_prepared(procedure, call);
        }
        if CURSOR_PROCEDURES.iter().any(|own| own.eq_ignore_ascii_case(plain)) {
            return Err(errors::unsupported(format!("{plain} called by a text")));
        }
        if let Some(procedure) = TextProcedure::of(plain) {
            let home = self.context.database().name();
            let is_here = |database: &str| database.eq_ignore_ascii_case(home) || procedure.is_of_all_databases();
            if name.database_str().is_some_and(|database| !is_here(database)) {
                return Err(errors::unsupported(format!("{plain} in another database")));
            }
            return self.execute_text_procedure(procedure, call);
        }
        let system = plain
            .get(..3)
            .is_some_and(|prefix| prefix.eq_ignore_ascii_case("sp_") || prefix.eq_ignore_ascii_case("xp_"));
        if system && let Some(id) = self.host.system_procedure(plain) {
            return self.execute_system(&name, id, call).await;
        }
        let Some(database) = self.elsewhere(&name)? else {
            let program = self.procedure(&name, call.recompiles)?;
            if self.frame.atomic.is_some() && !program.is_native() {
                return Err(Box::new(SqlError::not_in_native("procedure", name.dotted())));
            }
            // The database that a call may name is left out.
            let called_as = Arc::new(ObjectName { server: None, database: None, ..name });
            let is_kept = !call.recompiles && !program.recompiles;
            if matches!(call.target, ExecuteTarget::Named(_)) && !called_as.is_temporary() && is_kept {
                self.note_callee(&program, &called_as);
            }
            return self.call_as_named(&program, call, called_as);
        };
        // It is compiled and runs there; its arguments are values of here.
        let home = Arc::clone(self.context.database());
        self.context.move_to(&database)?;
        let program = self.procedure(&name, call.recompiles);
        let acting = program.as_ref().map_or(Ok(None), |program| self.context.module_context(program));
        self.context.move_back(&home);
        let acting = acting?;
        self.call_named(&program?, call, Arc::new(ObjectName { server: None, database: None, ..name }))?;
        self.context.move_to(&database)?;
        self.context.begin_module_context(acting);
        Ok(())
    }

    /// Keeps what the instruction at the program counter calls, if it is a procedure of the current database: the version of that one's catalog
    /// tells of changes.
    fn note_callee(&mut self, program: &Arc<Program>, name: &Arc<ObjectName>) {
        let at = self.frame.pc;
        let stamp = self.context.catalog_stamp();
        let dropped = self.context.plans.dropped();
        if !self.context.plans.count_uses(stamp.database, program, 0) {
            return;
        }
        let known = KnownCallee {
            at,
            catalog: (stamp.database, stamp.version),
            serial: self.context.security_serial(),
            dropped,
            uses: 0,
            program: Held::new(program),
            name: Arc::clone(name),
        };
        match self.frame.callees.iter_mut().find(|known| known.at == at) {
            Some(former) => {
                former.count_uses(&self.context.plans);
                *former = known;
            }
            None => self.frame.callees.push(known),
        }
    }

    /// Calls what the same instruction has called before, without looking its name up. False: it has called none, or something has changed.
    pub(super) fn call_known(&mut self, call: &Execute) -> Result<bool, Fault> {
        let at = self.frame.pc;
        let stamp = self.context.catalog_stamp();
        let serial = self.context.security_serial();
        let Some(known) = self.frame.callees.iter_mut().find(|known| known.at == at) else { return Ok(false) };
        let is_same = known.catalog == (stamp.database, stamp.version)
            && known.serial == serial
            && known.dropped == self.context.plans.dropped();
        if !is_same {
            return Ok(false);
        }
        known.uses += 1;
        if known.uses >= USES_MAX {
            known.count_uses(&self.context.plans);
        }
        let (program, name) = (Arc::clone(&known.program), Arc::clone(&known.name));
        self.call_as_named(&program, call, name)?;
        Ok(true)
    }

    /// Enters a procedure of the current database that a call names.
    fn call_as_named(&mut self, program: &Arc<Program>, call: &Execute, name: Arc<ObjectName>) -> Result<(), Fault> {
        let acting = self.context.module_context(program)?;
        self.call_named(program, call, name)?;
        self.context.begin_module_context(acting);
        Ok(())
    }

    /// Enters a procedure that a call names; errors in it tell of it as the call does.
    fn call_named(&mut self, program: &Arc<Program>, call: &Execute, name: Arc<ObjectName>) -> Result<(), Fault> {
        self.call(program, &call.arguments, call.status, &name.name.text).map_err(|fault| match &fault.procedure {
            Some(_) => Box::new(SqlError { procedure: Some(name.dotted()), ..*fault }),
            None => fault,
        })?;
        self.frame.called_as = name.schema.is_some().then_some(name);
        Ok(())
    }

    /// A procedure of the host's, which works in the database that its name says. What is temporary is the session's everywhere.
    async fn execute_system(&mut self, name: &ObjectName, id: u32, call: &Execute) -> Result<(), Fault> {
        if name.database_str().is_some_and(|database| database.eq_ignore_ascii_case(TEMPDB))
            && self.host.reads_catalog(id)
        {
            let (home, _) = self.definer().move_to_tempdb("").await?;
            let executed = self.execute_host(id, call).await;
            self.context.move_silently(&home);
            return executed;
        }
        let says = |database: &str| !database.eq_ignore_ascii_case(TEMPDB);
        let database = match name.database_str().filter(|database| says(database)) {
            None => None,
            Some(_) => self.elsewhere(name)?,
        };
        let Some(database) = database else {
            return self.execute_host(id, call).await;
        };
        let home = Arc::clone(self.context.database());
        self.context.move_to(&database)?;
        let executed = self.execute_host(id, call).await;
        self.context.move_back(&home);
        executed
    }

    /// The database of a procedure that is not the current one.
    fn elsewhere(&self, name: &ObjectName) -> Result<Option<Arc<Database>>, Fault> {
        if name.is_in_tempdb() {
            return Ok(None);
        }
        let missing = || Box::new(SqlError::procedure_unknown(name.dotted()));
        let place = self.context.catalog().place(name);
        let place = place.map_err(|fault| if fault.number == SYNONYM_INVALID { missing() } else { fault })?;
        let database = place.ok_or_else(missing)?.view.database;
        Ok(Some(database).filter(|database| database.id() != self.context.database().id()))
    }

    fn target_name(&self, target: &ExecuteTarget) -> Result<ObjectName, Fault> {
        match target {
            ExecuteTarget::Named(name) => Ok(name.clone()),
            ExecuteTarget::Variable(slot) => {
                let text = self.frame.slots[*slot].as_str().unwrap_or_default();
                ObjectName::read(text).ok_or_else(|| Box::new(SqlError::procedure_unknown(text)))
            }
        }
    }

    /// The program of a procedure of the current database or of the session; one that `recompiles` is this call's alone.
    fn procedure(&mut self, name: &ObjectName, recompiles: bool) -> Result<Arc<Program>, Fault> {
        if name.is_temporary() {
            return self.definer().temporary_procedure(name);
        }
        let view = self.names_of_module();
        let missing = || Box::new(SqlError::procedure_unknown(name.dotted()));
        let place =
            view.place(name).map_err(|fault| if fault.number == SYNONYM_INVALID { missing() } else { fault })?;
        let place = place.ok_or_else(missing)?;
        let wrong = || match place.object() {
            None => missing(),
            Some(object) => {
                Box::new(SqlError::wrong_object_kind("procedure", object.name(), object.name(), object.kind()))
            }
        };
        let found = place.view.catalog.procedure(&place.schema, &place.name).cloned().ok_or_else(wrong)?;
        let schema = place.view.catalog.schema_by_id(found.schema_id);
        let owner = schema.map_or(pikepole_engine::DBO, |schema| schema.owner);
        self.check_call(&view, name, owner)?;
        // That of a temporary one is tempdb: it runs in each database, and its statements are bound anew for each.
        let database = place.view.database.id();
        if !recompiles
            && let Some(program) = self.context.plans.procedure(database, found.object_id, &found.text)
            && program.fits(|| view.catalog.clone())
            && program.procedure.as_ref().is_some_and(|known| known.keeps(&found))
        {
            return Ok(program);
        }
        let identity = ProcedureIdentity::of(&found, owner);
        let context = self.context.compile_context_of(&*self.host, &found);
        let compiled = compile_procedure(&found.text, identity, &context);
        let program = compiled.map_err(first_error).inspect_err(|_| self.origin = Origin::Callee)?;
        if !recompiles && !program.recompiles {
            self.context.plans.keep_procedure(database, found.object_id, &program);
        }
        Ok(program)
    }

    /// Where the running module looks names up; a text does so as its user does.
    fn names_of_module(&self) -> CatalogView {
        let view = self.context.catalog();
        match &self.frame.program.procedure {
            Some(module) => view.in_schema(&module.schema),
            None => view,
        }
    }

    /// EXECUTE on a procedure of this owner, unless one of the same owner calls it.
    fn check_call(&mut self, view: &CatalogView, name: &ObjectName, owner: i32) -> Result<(), Fault> {
        self.context.refresh_security()?;
        if self.context.token().is_dbo() || self.procedure_owner() == Some(owner) {
            return Ok(());
        }
        let needs =
            [Requirement::of(view, name, Permission::Execute)?, Requirement::behind(view, name, Permission::Execute)?];
        needs.iter().flatten().try_for_each(|requirement| self.context.require(requirement))
    }

    /// The owner of the running procedure; None in a text.
    pub(crate) fn procedure_owner(&self) -> Option<i32> {
        self.frame.program.procedure.as_ref().map(|procedure| procedure.owner)
    }

    /// EXEC('text').
    pub(crate) fn execute_text(&mut self, text: &Expr) -> Result<(), Fault> {
        let text = text.eval(&mut self.env())?;
        let text = text.as_str().unwrap_or_default();
        let program = crate::prepare(text, "", self.context, &*self.host).map_err(first_error);
        let program = program.inspect_err(|_| self.origin = Origin::Callee)?;
        self.call(&program, &[], None, "")
    }

    /// sp_executesql: the text, the declarations of its parameters, and their values. Called by the name of another database, the
    /// text is compiled and runs there.
    fn execute_sql(&mut self, name: &ObjectName, call: &Execute) -> Result<(), Fault> {
        let text = self.leading_text(call, 0, "@statement")?;
        let (text, declared, arguments) = match call.arguments.get(1) {
            None => (text, String::new(), &[][..]),
            Some(_) => {
                let declared = self.leading_text(call, 1, "@parameters")?;
                (text, declared, &call.arguments[2..])
            }
        };
        let elsewhere = self.elsewhere(name)?;
        let home = Arc::clone(self.context.database());
        if let Some(database) = &elsewhere {
            self.context.move_to(database)?;
        }
        let program = crate::prepare(&text, &declared, self.context, &*self.host).map_err(first_error);
        if elsewhere.is_some() {
            self.context.move_back(&home);
        }
        let shown: String = format!("({declared}){text}").chars().take(QUOTED_TEXT_MAX).collect();
        let program = program.inspect_err(|_| self.origin = Origin::Callee)?;
        self.call(&program, arguments, call.status, &shown)?;
        self.context.state.procedure_levels += 1;
        self.frame.is_of_procedure = true;
        elsewhere.map_or(Ok(()), |database| self.context.move_to(&database))
    }

    fn leading_text(&mut self, call: &Execute, at: usize, name: &str) -> Result<String, Fault> {
        let argument = call.arguments.get(at).and_then(|argument| argument.value.as_ref());
        let Some(argument) = argument else {
            let error = SqlError::parameter_not_supplied("sp_executesql", name);
            return Err(Box::new(error));
        };
        let ty = call.arguments[at].ty;
        match argument.eval(&mut self.env())? {
            Value::Str(text) if ty.is_unicode() => Ok(text),
            Value::Null => Ok(String::new()),
            _ => Err(Box::new(SqlError::procedure_expects_type(name, "ntext/nchar/nvarchar"))),
        }
    }

    /// Enters a program with arguments.
    pub(crate) fn call(
        &mut self,
        program: &Arc<Program>,
        arguments: &[CallArgument],
        status: Option<(usize, SqlType)>,
        name: &str,
    ) -> Result<(), Fault> {
        if self.context.state.nest_level >= NESTING_MAX {
            return Err(Box::new(SqlError::nesting_level_exceeded(NESTING_MAX)));
        }
        let mut frame = self.context.spare_frames.take(program);
        let filled = self.fill_parameters(program, arguments, name, &mut frame);
        let lent = match filled {
            Ok((on_return, lent)) => {
                frame.on_return = Return { status, ..on_return };
                lent
            }
            Err(fault) => {
                self.context.spare_frames.give(frame);
                // It is the procedure's, at no line of it.
                return Err(if program.procedure.is_some() { Box::new(fault.in_procedure(name)) } else { fault });
            }
        };
        self.push_frame(frame, program);
        self.lend(lent)
    }

    /// Goes on in a frame of its own, one level down.
    pub(crate) fn push_frame(&mut self, mut frame: Box<Frame>, program: &Program) {
        frame.database = Some(self.context.hold_database());
        if program.procedure.is_none() {
            // Calls of a text are not counted.
        } else if program.is_native() && !self.context.server().native_counting().counts_calls() {
            frame.calls = None;
        } else {
            let call = frame.calls.get_or_insert_with(|| Box::new(Call::of(program.runs.cell())));
            call.begins(self.context.activity.read());
        }
        frame.caller_context = self.context.enter_module_context();
        // All that a natively compiled module sets, it sets in its block, which brings its caller's settings back.
        let settings = &self.context.settings;
        let is_block = program.is_native() && frame.trigger.is_none() && program.is_made_with(settings);
        frame.settings = (!is_block).then(|| settings.clone());
        let state = &mut self.context.state;
        frame.transaction_count = state.transaction_count;
        frame.caught_base = state.caught.len();
        frame.caller_procedure = state.procedure_id;
        frame.caller_identity = std::mem::replace(&mut state.scope_identity, Value::Null);
        if let Some(identity) = &program.procedure {
            state.procedure_id = identity.object_id;
            self.context.settings.ansi_nulls = identity.ansi_nulls;
            self.context.settings.quoted_identifier = identity.quoted_identifier;
        }
        state.nest_level += 1;
        let caller = std::mem::replace(&mut self.frame, frame);
        self.callers.push(caller);
    }

    /// Gives the parameters their values; the result is what goes back to the caller's variables, and the tables that are passed.
    fn fill_parameters(
        &mut self,
        program: &Program,
        arguments: &[CallArgument],
        name: &str,
        frame: &mut Frame,
    ) -> Result<(Return, Vec<Lent>), Fault> {
        let parameters = &program.parameters;
        let mut lent = Vec::new();
        // Most procedures have few parameters: nothing is allocated for them.
        let (mut few, mut many) = ([false; FEW_PARAMETERS], Vec::new());
        let given: &mut [bool] = match few.get_mut(..parameters.len()) {
            Some(given) => given,
            None => {
                many.resize(parameters.len(), false);
                &mut many
            }
        };
        let mut on_return = Return::default();
        let page = self.context.database().code_page();
        for (position, argument) in arguments.iter().enumerate() {
            // A text has no name of its own.
            let callee = if program.procedure.is_some() { name } else { "" };
            let slot = argument_slot(parameters, argument.name.as_deref(), position, callee)?;
            let parameter = &parameters[slot];
            if std::mem::replace(&mut given[slot], true) {
                return Err(Box::new(SqlError::parameter_twice(&parameter.name)));
            }
            if let Some((target, ty)) = argument.output {
                if !parameter.output {
                    let error = SqlError::not_an_output_parameter(&parameter.name);
                    return Err(Box::new(error));
                }
                on_return.outputs.push((slot, parameter.ty, target, ty));
            }
            match (&argument.cursor, parameter.cursor) {
                (None, false) => {}
                (Some(variable), true) => {
                    self.check_no_cursor(variable)?;
                    on_return.cursors.push((parameter.name.clone(), variable.clone()));
                    continue;
                }
                (Some(_), false) => {
                    return Err(Box::new(SqlError::operand_type_clash("cursor", parameter.ty.error_name())));
                }
                (None, true) => {
                    return Err(Box::new(SqlError::operand_type_clash(argument.ty.error_name(), "cursor")));
                }
            }
            lent.extend(self.lent(parameter, argument)?);
            let takes_default = |(at, _): &(usize, SqlType)| {
                self.context.client_call.as_ref().is_some_and(|defaults| defaults.contains(at))
            };
            match &argument.value {
                None => given[slot] = false,
                Some(_) if self.callers.is_empty() && argument.output.as_ref().is_some_and(takes_default) => {
                    given[slot] = false;
                }
                Some(value) => {
                    let value = value.eval(&mut self.env())?;
                    let place = &mut frame.slots[slot];
                    convert_argument(&mut self.functions, page, &value, &argument.ty, &parameter.ty, place)?;
                }
            }
        }
        for (slot, parameter) in parameters.iter().enumerate() {
            if given[slot] || parameter.table.is_some() {
                continue;
            }
            let Some(default) = &parameter.default else {
                return Err(Box::new(if program.procedure.is_some() {
                    SqlError::parameter_not_supplied(name, &parameter.name)
                } else {
                    SqlError::query_parameter_not_supplied(name, &parameter.name)
                }));
            };
            frame.slots[slot] = default.eval(&mut self.env())?;
        }
        Ok((on_return, lent))
    }

    /// A system procedure of the host.
    async fn execute_host(&mut self, id: u32, call: &Execute) -> Result<(), Fault> {
        let mut arguments = Vec::with_capacity(call.arguments.len());
        for argument in &call.arguments {
            let value = match &argument.value {
                None => Value::Null,
                Some(value) => value.eval(&mut self.env())?,
            };
            arguments.push(Argument {
                name: argument.name.clone(),
                value,
                ty: argument.ty,
                output: argument.output.is_some(),
                table: None,
            });
        }
        let page = self.context.database().code_page();
        let status = match self.host_status(id, &mut arguments).await {
            Ok(status) => status,
            Err(fault) => {
                // Where the batch goes on behind the error, it sees that the procedure has failed.
                if self.frame.program.handler(self.frame.pc).is_none() {
                    self.store_status(call.status, self.host.failure_status(id))?;
                }
                return Err(fault);
            }
        };
        for (argument, value) in call.arguments.iter().zip(arguments) {
            if let Some((slot, ty)) = argument.output {
                let place = &mut self.frame.slots[slot];
                convert_argument(&mut self.functions, page, &value.value, &value.ty, &ty, place)?;
            }
        }
        self.store_status(call.status, status)?;
        if self.callers.is_empty() {
            self.output.return_status(status);
        }
        self.done(Done { rows: None, kind: DoneKind::Procedure });
        self.context.state.last_error = 0;
        self.frame.pc += 1;
        Ok(())
    }

    /// What a system procedure returns.
    async fn host_status(&mut self, id: u32, arguments: &mut [Argument]) -> Result<i32, Fault> {
        let page = self.context.database().code_page();
        Ok(match self.captures.last_mut() {
            None if !self.promises.is_empty() => {
                let (promises, functions) = (&mut self.promises[..], &mut self.functions);
                let mut output = Promised::new(promises, functions, page, self.output);
                let status = self.host.call_procedure(id, arguments, self.context, &mut output).await?;
                output.end()?;
                status
            }
            None => self.host.call_procedure(id, arguments, self.context, self.output).await?,
            Some(capture) => {
                let mut output = Capturing { capture, output: self.output };
                self.host.call_procedure(id, arguments, self.context, &mut output).await?
            }
        })
    }

    pub(super) fn store_status(&mut self, target: Option<(usize, SqlType)>, status: i32) -> Result<(), Fault> {
        if let Some((slot, ty)) = target {
            let page = self.context.database().code_page();
            let place = &mut self.frame.slots[slot];
            convert_argument(&mut self.functions, page, &Value::Int(status), &SqlType::Int, &ty, place)?;
        }
        Ok(())
    }

    /// The end of the current frame: back to the caller, or the end of the batch.
    pub(crate) fn leave_frame(&mut self, status: Option<i32>) -> Result<(), Fault> {
        let status = status.unwrap_or(self.frame.error_status);
        if self.callers.is_empty() {
            self.status = status;
            self.ended = true;
            return Ok(());
        }
        if self.frame.trigger.is_some() {
            return self.leave_trigger();
        }
        let on_return = std::mem::take(&mut self.frame.on_return);
        let mut values = Vec::with_capacity(on_return.outputs.len());
        for (slot, from, target, to) in on_return.outputs {
            let value = std::mem::take(&mut self.frame.slots[slot]);
            values.push((value, from, target, to));
        }
        let (before, now) = (self.frame.transaction_count, self.context.state.transaction_count);
        // A transaction that began by itself is the client's to end.
        let implicit = self.context.settings.implicit_transactions && before == 0 && now == 1;
        let mismatch = (before != now && !implicit).then(|| {
            let mut error = SqlError::transaction_count_mismatch(before, now);
            error.line = self.line();
            error.procedure = self.procedure_name();
            error
        });
        self.count_call();
        self.return_cursors(&on_return.cursors);
        self.drop_frame();
        let page = self.context.database().code_page();
        // To a client's parameter a value is converted as CONVERT does it, to a variable only as it is assigned.
        let convert = match self.context.client_call.is_some() && self.callers.is_empty() {
            true => convert_result,
            false => convert_argument,
        };
        for (value, from, target, to) in values {
            convert(&mut self.functions, page, &value, &from, &to, &mut self.frame.slots[target])?;
        }
        self.store_status(on_return.status, status)?;
        if self.callers.is_empty() {
            self.output.return_status(status);
        }
        self.done(Done { rows: None, kind: DoneKind::Procedure });
        if let Some(error) = mismatch {
            return Err(Box::new(error));
        }
        self.frame.pc += 1;
        Ok(())
    }

    /// The module that runs has come to its end.
    pub(super) fn count_call(&self) {
        if let Some(call) = &self.frame.calls {
            call.ends(self.context.activity.read());
        }
    }

    /// Gives the current frame up and goes back to its caller, whose program counter stays at the call.
    pub(crate) fn drop_frame(&mut self) {
        let Some(caller) = self.callers.pop() else {
            return;
        };
        let mut frame = std::mem::replace(&mut self.frame, caller);
        let state = &mut self.context.state;
        state.caught.truncate(frame.caught_base);
        state.procedure_id = frame.caller_procedure;
        state.scope_identity = std::mem::take(&mut frame.caller_identity);
        let level = state.nest_level;
        state.nest_level -= 1;
        state.procedure_levels -= i32::from(frame.is_of_procedure);
        if let Some(fired) = frame.trigger.take() {
            state.triggers.pop();
            self.context.resume_statement(fired.outer);
        }
        if frame.function.take().is_some() {
            self.context.functions -= 1;
        }
        // So does USE, and what is called in another database.
        if let Some(home) = frame.database.take()
            && !Arc::ptr_eq(&*home, self.context.database())
        {
            self.context.move_back(&home);
            self.host.settings_changed(self.context);
        }
        self.context.end_module_context(frame.caller_context);
        self.context.end_scope(level);
        let outside = frame.settings.take().or_else(|| frame.atomic.take().map(AtomicBlock::into_outside));
        if let Some(settings) = outside
            && self.context.settings != settings
        {
            self.put_settings(settings);
            self.host.settings_changed(self.context);
        }
        frame.count_calls(&self.context.plans);
        self.context.spare_frames.give(frame);
    }

    /// The end of INSERT ... EXEC: inserts the rows that the call has returned; or those that the program was given. False: a
    /// trigger runs first, and then it goes on.
    pub(crate) async fn insert_captured(&mut self, insert: &InsertCaptured) -> Result<bool, Fault> {
        let mut state = match self.frame.alone.take() {
            Some(Alone::Insert(state)) => state,
            _ => {
                let results = match self.captures.pop() {
                    Some(capture) if capture.is_uneven => {
                        return Err(Box::new(SqlError::values_do_not_match_table()));
                    }
                    Some(capture) => capture.results,
                    None => match self.tables.pop().flatten() {
                        Some(given) => vec![CapturedRows { columns: given.columns, rows: given.rows }],
                        None => return Ok(true),
                    },
                };
                if !insert.options.checks_constraints {
                    let columns = results.first().map(|first| first.columns.clone()).unwrap_or_default();
                    let nothing = vec![CapturedRows { columns, rows: Vec::new() }];
                    let plan = self.kept_rows(insert, nothing)?.plan();
                    let plan = plan.ok_or_else(crate::errors::definition_changed)?;
                    self.distrust_constraints(&plan).await?;
                }
                Box::new(self.kept_rows(insert, results)?)
            }
        };
        let Some(fire) = self.drive_to_end(&mut state).await? else {
            return Ok(true);
        };
        self.frame.alone = Some(Alone::Insert(state));
        self.enter_trigger(fire)?;
        Ok(false)
    }

    /// The INSERT of rows that are there already.
    pub(crate) fn kept_rows(
        &mut self,
        insert: &InsertCaptured,
        results: Vec<CapturedRows>,
    ) -> Result<StatementState, Fault> {
        let catalog: CatalogView = self.context.catalog();
        let variables = &self.frame.program.variables;
        let identity_insert = self.context.identity_table();
        let names = Names { variables, identity_insert, ..Names::of(&catalog, &*self.host) };
        let binder = Binder::new(&names, variables.len());
        let plan = binder.insert_kept(insert, results)?;
        Ok(Machine::state_of(plan))
    }

    /// Runs a plan that belongs to no instruction to its end, or to where a trigger is to run.
    pub(crate) async fn drive_to_end(&mut self, state: &mut StatementState) -> Result<Option<Fire>, Fault> {
        loop {
            match self.drive_alone(state) {
                Ok(None) => return Ok(None),
                Ok(Some(Pause::Fire(fire))) => return Ok(Some(*fire)),
                Ok(Some(Pause::Yield)) | Err(Stop::Yield) => {
                    pikepole_scheduler::yield_now().await;
                    self.context.check_cancelled()?;
                }
                Ok(Some(_)) => return Ok(None),
                Err(Stop::Blocked(need)) => self.context.satisfy(need).await?,
                Err(Stop::Team(team)) => team.ended().await,
                Err(Stop::Fill(filling)) => {
                    let (database, tx) = self.context.engine();
                    filling.step(database, tx).await?;
                }
                Err(Stop::File(file)) => self.context.await_file(&file).await?,
                Err(Stop::Memory(wait)) => self.context.await_memory(wait).await?,
                // It calls no function: its rows were collected, or are a file's.
                Err(Stop::Stale | Stop::Again(_) | Stop::Rows(_)) => return Err(crate::errors::definition_changed()),
                Err(Stop::Error(fault)) => return Err(fault),
            }
        }
    }
}

/// The parameter that an argument is for. In a text all that follow a named argument are named (the parser's error 119); a client's
/// call may go on by place, as mssql-jdbc does, which names the tables that it passes and nothing else.
pub(super) fn argument_slot(
    parameters: &[Parameter],
    argument: Option<&str>,
    position: usize,
    procedure: &str,
) -> Result<usize, Fault> {
    Err(Box::new(match argument {
        Some(wanted) => {
            let found = parameters.iter().position(|parameter| parameter.name.eq_ignore_ascii_case(wanted));
            match found {
                Some(slot) => return Ok(slot),
                None => SqlError::not_a_parameter(wanted, procedure),
            }
        }
        None if parameters.is_empty() => SqlError::procedure_has_no_parameters(procedure),
        None if position >= parameters.len() => SqlError::too_many_arguments(procedure),
        None => return Ok(position),
    }))
}

/// Converts an argument to its parameter's type, or back, in a database of a code page; a failure is 8114.
pub(super) fn convert_argument(
    functions: &mut Context,
    page: CodePage,
    value: &Value,
    from: &SqlType,
    to: &SqlType,
    place: &mut Value,
) -> Result<(), Fault> {
    let assign =
        |functions: &mut Context, place: &mut Value| functions.assign(value, from, to, Target::Variable, place);
    passed_on(functions, page, value, (from, to), place, assign)
}

/// The same for what a procedure gives back to a client.
fn convert_result(
    functions: &mut Context,
    page: CodePage,
    value: &Value,
    from: &SqlType,
    to: &SqlType,
    place: &mut Value,
) -> Result<(), Fault> {
    let convert = |functions: &mut Context, place: &mut Value| functions.convert_into(value, from, to, None, place);
    passed_on(functions, page, value, (from, to), place, convert)
}

/// Passes a value on, converted where it must be.
#[inline]
fn passed_on(
    functions: &mut Context,
    page: CodePage,
    value: &Value,
    (from, to): (&SqlType, &SqlType),
    place: &mut Value,
    convert: impl FnOnce(&mut Context, &mut Value) -> Result<(), SqlError>,
) -> Result<(), Fault> {
    if value.is_null() || from == to {
        place.clone_from(value);
        return Ok(());
    }
    functions.code_page = page;
    convert(functions, place).map_err(|_| Box::new(SqlError::error_converting(from.error_name(), to.error_name())))
}
