//! Instructions that await: transactions, USE, errors raised by the text, statements of the host.

use std::sync::Arc;

use super::promise::Promised;
use super::recover::Origin;
use super::{Capture, Machine};
use crate::expression::{COPIES, Expr, Fault, ask_for};
use crate::host::HostFuture;
use crate::output::{ColumnInfo, Done, Output};
use crate::program::{CursorOperation, Instruction, Name, RaiseError};
use pikepole_engine::{Permission, Securable};
use pikepole_types::{ERRORS, SqlError, SqlType, Value};

/// The lowest number of a message that RAISERROR takes.
pub const RAISED_MIN: i32 = 13_000;

impl Machine<'_> {
    /// USE.
    async fn use_database(&mut self, name: &str) -> Result<(), Fault> {
        if name.eq_ignore_ascii_case(pikepole_engine::TEMPDB) {
            self.context.server().clone().tempdb().await?;
        }
        self.context.use_database(name)?;
        self.host.settings_changed(self.context);
        let mut message = SqlError::changed_database(self.context.database().name());
        message.line = self.line();
        self.output.message(&message);
        self.context.state.row_count = 0;
        Ok(())
    }

    /// Performs the instruction at the program counter, which may await.
    pub(crate) async fn perform(&mut self) -> Result<(), Fault> {
        let program = Arc::clone(&self.frame.program);
        let instruction = program.instructions.get(self.frame.pc);
        if let (None | Some(Instruction::Return(_)), Some(called)) = (instruction, self.frame.function) {
            return Box::pin(self.leave_function(called)).await;
        }
        let Some(instruction) = instruction else {
            return self.leave_frame(None);
        };
        match instruction {
            Instruction::Return(value) => {
                let status = value.as_ref().map(|value| self.integer_value(value)).transpose()?;
                return self.leave_frame(status.map(|status| status.unwrap_or(0) as i32));
            }
            Instruction::Execute(call) => return self.execute(call).await,
            Instruction::ExecuteText(text) => return self.execute_text(text),
            Instruction::Rollback(name) => {
                let name = self.optional_name(name.as_ref());
                self.check_rollback_in_capture(name.as_deref())?;
                Box::pin(self.context.rollback_transaction(name.as_deref())).await?;
                self.host.transaction_changed(self.context);
                self.context.state.row_count = 0;
            }
            Instruction::Save(name) => {
                let name = self.name(name);
                self.context.save_transaction(name)?;
                self.context.state.row_count = 0;
            }
            Instruction::Define(..) | Instruction::CreateInto(_) | Instruction::BulkInsert(_)
                if self.context.settings.fmtonly => {}
            Instruction::DeclareTables(tables) => Box::pin(self.declare_tables(tables)).await?,
            Instruction::Cursor(operation) => Box::pin(self.cursor_operation(operation)).await?,
            Instruction::Use(name) => self.use_database(name).await?,
            Instruction::WaitFor { time, ty, until } => {
                Box::pin(self.wait_for(time, ty, *until)).await?;
                self.context.state.row_count = 0;
            }
            Instruction::Throw(arguments) => return Err(self.throw(arguments.as_deref())?),
            Instruction::RaiseError(raise) => self.raise(raise).await?,
            other => {
                let is_done = self.perform_in_parts(other).await?;
                if !is_done {
                    return Ok(());
                }
            }
        }
        if counts_nothing(instruction) {
            self.done_without_count();
        }
        // What the host has told without ending its statement is in `@@ERROR`.
        let is_told = matches!(instruction, Instruction::Host(_));
        if !is_told && !matches!(instruction, Instruction::RaiseError(raise) if raise.set_error) {
            self.context.state.last_error = 0;
        }
        self.frame.pc += 1;
        Ok(())
    }

    /// Performs an instruction that triggers may interrupt. False: one runs first, or a query has come into its place. Behind a pointer,
    /// since such an instruction is rare and its state large: no other batch carries it along.
    fn perform_in_parts<'s>(&'s mut self, instruction: &'s Instruction) -> HostFuture<'s, Result<bool, Fault>> {
        Box::pin(async move {
            match instruction {
                Instruction::InsertCaptured(insert) => self.insert_captured(insert).await,
                Instruction::CreateInto(into) => self.create_into(into).await,
                Instruction::BulkInsert(statement) => self.bulk_insert(statement).await,
                Instruction::Define(statement, text) => {
                    let is_done = self.define(statement, text).await?;
                    if is_done {
                        self.context.state.row_count = 0;
                    }
                    Ok(is_done)
                }
                Instruction::Host(statement) => self.host_statement(statement).await,
                _ => Ok(true),
            }
        })
    }

    /// Refuses the COMMIT that would end the transaction of an INSERT ... EXEC.
    ///
    /// # Errors
    /// 3916.
    pub(super) fn check_commit_in_capture(&self) -> Result<(), Fault> {
        let count = self.context.state.transaction_count;
        match self.captures.last() {
            Some(capture) if count <= capture.transaction_count => Err(Box::new(SqlError::commit_in_insert_exec())),
            _ => Ok(()),
        }
    }

    /// Refuses the ROLLBACK that would take along the INSERT ... EXEC around it; one to a savepoint does not.
    ///
    /// # Errors
    /// 3915.
    fn check_rollback_in_capture(&self, name: Option<&str>) -> Result<(), Fault> {
        let is_whole = name.is_none_or(|name| !self.context.has_savepoint(name));
        match self.captures.is_empty() || !is_whole {
            true => Ok(()),
            false => Err(Box::new(SqlError::rollback_in_insert_exec())),
        }
    }

    /// A statement that the host runs. False: it has put a query in its place.
    pub(super) async fn host_statement(&mut self, statement: &pikepole_tsql::Statement) -> Result<bool, Fault> {
        let filled = self.with_values(statement);
        let statement = filled.as_ref().unwrap_or(statement);
        self.context.state.last_error = 0;
        if let pikepole_tsql::StatementKind::Dbcc(command) = &statement.kind
            && command.name == "CHECKCONSTRAINTS"
            && self.check_constraints(command)?
        {
            return Ok(false);
        }
        match self.captures.last_mut() {
            Some(capture) => {
                let mut output = Capturing { capture, output: self.output };
                self.host.statement(statement, self.context, &mut output).await?;
            }
            None if !self.promises.is_empty() => {
                let page = self.context.database().code_page();
                let mut output = Promised::new(&mut self.promises, &mut self.functions, page, self.output);
                self.host.statement(statement, self.context, &mut output).await?;
                output.end()?;
            }
            None => self.host.statement(statement, self.context, self.output).await?,
        }
        self.context.settings.inform(&mut self.functions);
        // The host has told the views what it did.
        self.command = "";
        self.context.state.row_count = 0;
        if self.context.settings.noexec || self.context.settings.parseonly {
            self.skip_unexecuted(self.frame.pc + 1);
            // The instruction at hand is left behind.
            self.frame.pc -= 1;
        }
        Ok(true)
    }

    /// From here on statements are not executed, up to the SET that ends that; to the end without one.
    pub(super) fn skip_unexecuted(&mut self, from: usize) {
        let ends = |instruction: &Instruction| match instruction {
            Instruction::Host(statement) => match &statement.kind {
                pikepole_tsql::StatementKind::SetOption(option) => {
                    option.value == pikepole_tsql::OptionSetting::Off
                        && option.names.iter().any(|name| name == "NOEXEC" || name == "PARSEONLY")
                }
                _ => false,
            },
            _ => false,
        };
        let instructions = &self.frame.program.instructions;
        let next = instructions.iter().skip(from).position(ends).map(|behind| from + behind);
        self.frame.pc = next.unwrap_or(instructions.len());
    }

    fn name(&self, name: &Name) -> String {
        match name {
            Name::Literal(name) => name.as_ref().to_owned(),
            Name::Variable(slot) => self.frame.slots[*slot].as_str().unwrap_or_default().to_owned(),
        }
    }

    pub(super) fn optional_name(&self, name: Option<&Name>) -> Option<String> {
        name.map(|name| self.name(name))
    }

    /// The error that THROW raises: a new one, or the one being handled.
    fn throw(&mut self, arguments: Option<&[Expr; 3]>) -> Result<Fault, Fault> {
        self.origin = Origin::Throw;
        let Some([number, message, state]) = arguments else {
            let caught = self.context.state.caught.last().cloned();
            return Ok(Box::new(caught.unwrap_or_else(SqlError::throw_outside_catch)));
        };
        let number = self.integer_value(number)?.unwrap_or(0);
        let message = message.eval(&mut self.env())?;
        let state = self.integer_value(state)?.unwrap_or(0);
        let Ok(number @ 50000..) = i32::try_from(number) else {
            self.origin = Origin::Statement;
            return Err(Box::new(SqlError::new(
                35100,
                16,
                10,
                format!(
                    "Error number {number} in the THROW statement is outside the valid range. Specify an error number in the valid range of 50000 to 2147483647."
                ),
            )));
        };
        if state < 0 {
            self.origin = Origin::Statement;
            return Err(Box::new(SqlError::state_invalid(state, 0, 255)));
        }
        let state = (state & 0xFF) as u8;
        // It is text as it stands, but no longer than other messages.
        let text = pikepole_types::cut_message(message.as_str().unwrap_or_default());
        Ok(Box::new(SqlError::new(number, 16, state, text)))
    }

    /// RAISERROR. What is raised WITH NOWAIT leaves before anything that follows it.
    async fn raise(&mut self, raise: &RaiseError) -> Result<(), Fault> {
        let raised = self.raise_error(raise);
        if raise.nowait {
            self.output.push();
        }
        raised?;
        if self.output.is_full() {
            self.give_way().await;
        }
        Ok(())
    }

    fn raise_error(&mut self, raise: &RaiseError) -> Result<(), Fault> {
        let given = self.integer_value(&raise.severity)?.unwrap_or(0);
        let severity = given.clamp(0, 25);
        let state = self.integer_value(&raise.state)?.unwrap_or(0);
        // A negative state counts as 1, of one that is too large the low byte.
        let state = if state < 0 { 1 } else { state & 0xFF };
        let message = raise.message.eval(&mut self.env())?;
        if severity > 18 && !raise.log {
            return Err(Box::new(SqlError::severity_needs_log(18)));
        }
        if raise.log && !self.may_log() {
            return Err(Box::new(SqlError::log_needs_permission()));
        }
        let (severity, state) = (severity as u8, state as u8);
        let mut arguments = Vec::with_capacity(raise.arguments.len());
        for (argument, ty) in &raise.arguments {
            arguments.push((argument.eval(&mut self.env())?, *ty));
        }
        ask_for(arguments.iter().map(|(value, _)| value).chain([&message]), COPIES)?;
        let error = if raise.message_is_number {
            let number = message.as_i64().unwrap_or(0);
            if number < i64::from(RAISED_MIN) || number == 50_000 {
                return Err(Box::new(SqlError::error_number_invalid(number, RAISED_MIN, i32::MAX)));
            }
            match ERRORS.iter().find(|known| i64::from(known.number) == number) {
                // -1 says: as severe as the message is.
                Some(known) => {
                    let severity = if given == -1 { known.severity } else { severity };
                    let text = known.filled(arguments.iter().map(|(value, ty)| shown(value, ty)));
                    SqlError::new(known.number, severity, state, text)
                }
                None => self.raised_message(number, given, (severity, state), &arguments)?,
            }
        } else {
            // Of no message a blank is seen.
            let text = message.as_str().unwrap_or(" ");
            let text = pikepole_types::format_message(text, &arguments)?;
            SqlError::new(50000, severity, state, text)
        };
        if raise.log || self.is_logged(&error) {
            self.host.log(&format!("Error: {}, Severity: {}, State: {}.", error.number, error.severity, error.state));
            self.host.log(&error.message);
        }
        if error.severity > 10 {
            self.origin = Origin::RaiseError;
            return Err(Box::new(error));
        }
        let mut message = error.at_line(self.line());
        message.procedure = self.procedure_name();
        self.context.state.row_count = 0;
        if raise.set_error {
            self.context.state.last_error = message.number;
        }
        self.output.message(&message);
        Ok(())
    }
}

impl Machine<'_> {
    /// Whether an error is a user's message that was made to be written into the server's log.
    fn is_logged(&self, error: &SqlError) -> bool {
        error.number > 50_000 && self.context.user_message(error.number).is_some_and(|message| message.is_logged)
    }

    /// Whether the session may write into the server's log.
    fn may_log(&self) -> bool {
        let token = self.context.token();
        token.is_sysadmin() || token.has(Permission::AlterTrace, Securable::Server)
    }

    /// RAISERROR of a message that users have added.
    fn raised_message(
        &self,
        number: i64,
        given: i64,
        (severity, state): (u8, u8),
        arguments: &[(Value, SqlType)],
    ) -> Result<SqlError, Fault> {
        let found = i32::try_from(number).ok().and_then(|number| self.context.user_message(number));
        let language = self.context.settings.language.message_lcid;
        let Some((message, text)) = found.as_ref().and_then(|found| Some((found, found.text(language)?))) else {
            return Ok(SqlError::message_not_found(number, severity, state));
        };
        let severity = if given == -1 { message.severity } else { severity };
        Ok(SqlError::new(message.number, severity, state, pikepole_types::format_message(text, arguments)?))
    }
}

/// Whether an instruction is a statement of its own that tells of its end without a count.
fn counts_nothing(instruction: &Instruction) -> bool {
    match instruction {
        // Without variables to take its row a FETCH has rows to tell of.
        Instruction::Cursor(operation) => {
            !matches!(&**operation, CursorOperation::Fetch { into, .. } if into.is_empty())
        }
        Instruction::Rollback(_)
        | Instruction::Save(_)
        | Instruction::Use(_)
        | Instruction::WaitFor { .. }
        | Instruction::RaiseError(_)
        | Instruction::Host(_) => true,
        _ => false,
    }
}

/// An argument of RAISERROR in the text of a message.
fn shown(value: &Value, ty: &SqlType) -> String {
    if value.is_null() { "(null)".to_owned() } else { pikepole_types::to_text(value, ty) }
}

/// An output that keeps rows for an INSERT ... EXEC and passes messages on.
pub(crate) struct Capturing<'a> {
    pub(crate) capture: &'a mut Capture,
    pub(crate) output: &'a mut dyn Output,
}

impl Output for Capturing<'_> {
    fn columns(&mut self, columns: &[ColumnInfo]) {
        self.capture.is_uneven |= !self.capture.begin_result(columns);
    }
    fn row(&mut self, row: &[Value]) {
        if !self.capture.is_uneven {
            self.capture.push(row.to_vec());
        }
    }
    fn done(&mut self, _: Done) {}
    fn message(&mut self, message: &SqlError) {
        self.output.message(message);
    }
    fn error(&mut self, error: &SqlError) {
        self.output.error(error);
    }
    fn failed(&mut self) {
        self.output.failed();
    }
}
