//! The sync loop over instructions.

use std::sync::Arc;

use super::native::code_of;
use super::{Capture, Machine, Pause};
use crate::access::Stop;
use crate::clock::now;
use crate::expression::{COPIES, Expr, ask_for};
use crate::output::CapturedRows;
use crate::program::{ExecuteTarget, Instruction, Program, Setting};
use crate::security::Requirement;
use pikepole_engine::Permission;
use pikepole_scheduler as scheduler;
use pikepole_scheduler::chaos::{self, Site};
use pikepole_types::{SqlError, Value};

impl Machine<'_> {
    /// Runs instructions until one must await, the quantum is over, or an error stops it.
    pub(crate) fn advance(&mut self) -> Result<Pause, Stop> {
        loop {
            match self.advance_frame()? {
                Pause::Frame => {}
                pause => return Ok(pause),
            }
        }
    }

    /// The same until another frame is the current one.
    fn advance_frame(&mut self) -> Result<Pause, Stop> {
        let program = Arc::clone(&self.frame.program);
        if program.is_native()
            && let Some(code) = code_of(&program)
        {
            return self.advance_native(&program, code);
        }
        loop {
            if let Some(pause) = self.step(&program)? {
                return Ok(pause);
            }
        }
    }

    /// Runs the instruction at the program counter. A pause means that the loop over instructions ends there.
    #[inline]
    pub(super) fn step(&mut self, program: &Program) -> Result<Option<Pause>, Stop> {
        let at = self.frame.pc;
        let Some(instruction) = program.instructions.get(at) else {
            return self.leave_at_once(None);
        };
        match instruction {
            Instruction::Assign { slot, value } => {
                self.assign(*slot, value)?;
                self.tell_failed_arithmetic();
                self.context.state.row_count = 1;
                self.done_assigning(1);
            }
            Instruction::Statement(index) => {
                if let Some(pause) = self.statement(program, *index)? {
                    return Ok(Some(pause));
                }
            }
            Instruction::Jump(target) => return Ok(self.jump(at, *target)),
            Instruction::JumpUnless(condition, target) => {
                let holds = condition.holds(&mut self.env())?;
                self.tell_failed_arithmetic();
                self.context.state.row_count = 0;
                self.context.state.last_error = 0;
                self.frame.pc = if holds { at + 1 } else { *target };
                self.done_without_count();
                return Ok(None);
            }
            Instruction::Leave(target, caught_depth) => {
                self.leave_catch(*caught_depth);
                return Ok(self.jump(at, *target));
            }
            Instruction::EndCatch => {
                self.context.state.caught.pop();
                self.frame.pc = at + 1;
                return Ok(None);
            }
            Instruction::Clock => {
                self.functions.now = now();
                self.frame.pc = at + 1;
                return Ok(None);
            }
            Instruction::Print(text) => {
                let text = text.eval(&mut self.env())?;
                ask_for([&text], COPIES).map_err(Box::new)?;
                self.print(&text);
                self.context.state.row_count = 0;
                self.done_without_count();
            }
            Instruction::Setting(setting) => {
                self.set(setting)?;
                self.context.state.row_count = 0;
                self.done_without_count();
            }
            Instruction::Begin(name) => {
                let name = self.optional_name(name.as_ref());
                self.context.begin_transaction(name);
                self.host.transaction_changed(self.context);
                self.context.state.row_count = 0;
                self.done_without_count();
            }
            Instruction::BeginAtomic(atomic) => self.begin_atomic(atomic)?,
            Instruction::EndAtomic => self.end_atomic()?,
            Instruction::Commit { delayed } => {
                self.check_commit_in_capture()?;
                self.context.try_commit_transaction(delayed.unwrap_or(false))?;
                self.host.transaction_changed(self.context);
                self.context.state.row_count = 0;
                self.done_without_count();
            }
            Instruction::Execute(call) => {
                let is_called = self.call_known(call)?;
                return Ok(Some(if is_called { Pause::Frame } else { Pause::Instruction }));
            }
            Instruction::Return(value) => return self.leave_at_once(value.as_ref()),
            Instruction::Capture => self.begin_capture()?,
            Instruction::Promise(sets) => self.promise(sets),
            Instruction::Fulfil => self.fulfil()?,
            _ => return Ok(Some(Pause::Instruction)),
        }
        self.context.state.last_error = 0;
        self.frame.pc = at + 1;
        Ok(None)
    }

    /// Goes on at another instruction; a loop stops there now and then.
    #[inline]
    fn jump(&mut self, at: usize, target: usize) -> Option<Pause> {
        self.frame.pc = target;
        (target <= at && self.is_to_pause()).then_some(Pause::Yield)
    }

    /// Leaves a procedure that has been called, with the value of RETURN. Other frames have more to see to when they end.
    fn leave_at_once(&mut self, value: Option<&Expr>) -> Result<Option<Pause>, Stop> {
        let frame = &self.frame;
        if self.callers.is_empty() || frame.function.is_some() || frame.trigger.is_some() {
            return Ok(Some(Pause::Instruction));
        }
        let status = value.map(|value| self.integer_value(value)).transpose()?;
        self.leave_frame(status.map(|status| status.unwrap_or(0) as i32))?;
        Ok(Some(Pause::Frame))
    }

    /// Whether a loop is to stop for a moment: its quantum is over, its batch was cancelled, or its client lags behind what it
    /// is told. A loop of statements that each wait for the log never uses up a quantum.
    #[inline]
    pub(super) fn is_to_pause(&self) -> bool {
        let lags = || !self.context.settings.nocount && self.output.is_full();
        self.context.is_cancelled() || scheduler::quantum_over() || lags() || chaos::stops(Site::Row)
    }

    /// Closes CATCH blocks until so many of this frame's are open.
    pub(crate) fn leave_catch(&mut self, depth: usize) {
        let base = self.frame.caught_base;
        self.context.state.caught.truncate(base + depth);
    }

    /// Tells of the arithmetic of a statement whose values are NULL because it has failed.
    #[inline]
    pub(crate) fn tell_failed_arithmetic(&mut self) {
        if !self.functions.failed.is_empty() {
            self.tell_failures();
        }
    }

    #[cold]
    fn tell_failures(&mut self) {
        let line = self.line();
        for message in std::mem::take(&mut self.functions.failed) {
            if !self.context.settings.arithignore {
                self.output.message(&message.at_line(line));
            }
        }
    }

    fn print(&mut self, text: &Value) {
        // NULL is shown as a blank.
        let text = text.as_str().unwrap_or(" ");
        let mut message = SqlError::new(0, 0, 1, text);
        message.line = self.line();
        message.procedure = self.procedure_name();
        self.output.message(&message);
    }

    /// The line of the current instruction.
    pub(crate) fn line(&self) -> u32 {
        let lines = &self.frame.program.lines;
        lines.get(self.frame.pc).copied().unwrap_or(0)
    }

    /// The name of the running procedure.
    pub(crate) fn procedure_name(&self) -> Option<String> {
        let procedure = self.frame.program.procedure.as_ref();
        procedure.map(|identity| match &self.frame.called_as {
            Some(name) => name.dotted(),
            None => identity.name.clone(),
        })
    }

    fn begin_capture(&mut self) -> Result<(), Stop> {
        if !self.captures.is_empty() {
            return Err(Stop::Error(Box::new(SqlError::insert_exec_nested())));
        }
        // What is called and the INSERT stand or fall together, unless it may change another database: a transaction changes one.
        self.context.begin_implicitly();
        self.frame.began |= !self.calls_elsewhere() && self.context.begin_for_triggers();
        self.captures.push(Capture {
            results: vec![CapturedRows { columns: Vec::new(), rows: Vec::new() }],
            is_uneven: false,
            depth: self.callers.len(),
            transaction_count: self.context.state.transaction_count,
        });
        Ok(())
    }

    /// Whether the next instruction calls a procedure of another database.
    fn calls_elsewhere(&self) -> bool {
        let Some(Instruction::Execute(call)) = self.frame.program.instructions.get(self.frame.pc + 1) else {
            return false;
        };
        let ExecuteTarget::Named(name) = &call.target else { return false };
        name.database_str().is_some_and(|database| !database.eq_ignore_ascii_case(self.context.database().name()))
    }

    fn set(&mut self, setting: &Setting) -> Result<(), Stop> {
        match setting {
            Setting::NoCount(on) => self.context.settings.nocount = *on,
            Setting::XactAbort(on) => self.context.settings.xact_abort = *on,
            Setting::ImplicitTransactions(on) => {
                self.context.settings.implicit_transactions = *on;
            }
            Setting::Isolation(level) => self.context.set_isolation(*level),
            Setting::RowCount(count) => {
                let count = self.integer_value(count)?.and_then(|count| u64::try_from(count).ok());
                self.context.settings.row_count = count.ok_or_else(|| Box::new(SqlError::row_count_invalid()))?;
            }
            Setting::LockTimeout(timeout) => {
                let timeout = self.integer_value(timeout)?.unwrap_or(-1);
                self.context.settings.lock_timeout_ms = i32::try_from(timeout).unwrap_or(-1);
            }
            Setting::IdentityInsert(name, on) => self.set_identity_insert(name, *on)?,
        }
        self.host.settings_changed(self.context);
        Ok(())
    }

    fn set_identity_insert(&mut self, name: &pikepole_tsql::ObjectName, on: bool) -> Result<(), Stop> {
        let catalog = self.context.catalog();
        let Some(table) = catalog.table(name)? else {
            let error = SqlError::object_not_found(name.dotted());
            return Err(Stop::Error(Box::new(error)));
        };
        let need = Requirement::of(&catalog, name, Permission::Alter)?;
        if need.is_some_and(|need| self.context.require(&need).is_err()) {
            let error = SqlError::object_not_found(name.dotted());
            return Err(Stop::Error(Box::new(error)));
        }
        if table.identity.is_none() {
            let error = SqlError::no_identity_property(table.qualified_name());
            return Err(Stop::Error(Box::new(error)));
        }
        let own = table.identity_key(self.context.database().id());
        match &self.context.identity_insert {
            Some((database, object, other)) if (*database, *object) != own => {
                if on {
                    let error = SqlError::identity_insert_elsewhere(other, name.dotted());
                    return Err(Stop::Error(Box::new(error)));
                }
            }
            _ => {
                let setting = (own.0, own.1, format!("{}.{}", table.database, table.qualified_name()));
                self.context.identity_insert = on.then_some(setting);
            }
        }
        Ok(())
    }
}
