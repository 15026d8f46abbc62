//! Errors: where they go, what they end, what becomes of the transaction.
//!
//! ```text
//!   error ─► undo the statement ─► a TRY block around?  yes ─► frames above it end, its CATCH block runs
//!                                                       no  ─► report it; it ends the statement, the scope or the batch
//! ```
//! With XACT_ABORT ON, and for errors that end the transaction by themselves, the transaction is rolled back; inside TRY it is
//! doomed instead, and the CATCH block must roll it back.

use super::frame::Alone;
use super::{Frame, Machine};
use crate::errors::{self, Reach};
use crate::program::{Handler, Instruction, LateKind};
use pikepole_tsql::StatementKind;
use pikepole_types::SqlError;

/// What raised an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Origin {
    /// A statement failed.
    #[default]
    Statement,
    /// RAISERROR: XACT_ABORT does not apply.
    RaiseError,
    /// THROW: ends the batch.
    Throw,
    /// A text or module that the statement calls could not be compiled: it has ended, and who called it has not.
    Callee,
}

impl Machine<'_> {
    /// Deals with an error. The result is the error when it has ended the batch.
    pub(crate) async fn handle(&mut self, error: SqlError) -> Option<SqlError> {
        let origin = std::mem::take(&mut self.origin);
        let mut error = error.at_line(self.line());
        if let Some(name) = self.procedure_name().filter(|_| origin != Origin::Callee) {
            error = error.in_procedure(&name);
        }
        // An error in a function is one of the statement that reads its rows.
        while self.frame.function.is_some() {
            self.drop_frame();
            error = self.without_masked_values(error, true);
        }
        error = self.without_masked_values(error, false);
        let mut reach = self.reach(&error, origin);
        if self.context.abort_statement().await.is_err() {
            // The log failed: nothing of the transaction can be kept.
            reach = Reach::Transaction;
        }
        self.context.state.row_count = 0;
        self.context.state.last_error = error.number;
        let handler = match errors::is_cancelled(&error) {
            true => None,
            false => self.find_handler(reach == Reach::Scope),
        };
        // A name that is not there ends no transaction by itself, nor does RAISERROR; one that is caught dooms it all the same.
        let promoted = handler.is_some() || reach == Reach::Scope;
        if promoted && self.context.settings.xact_abort {
            reach = Reach::Transaction;
        }
        if self.ends_trigger(reach, handler.map(|(depth, _)| depth)) {
            reach = Reach::Transaction;
        }
        if self.aborts_outside_atomic(handler.map(|(depth, _)| depth)) {
            reach = Reach::Transaction;
        }
        self.end_made_transaction(reach, handler.map(|(depth, _)| depth)).await;
        if self.frames().any(|frame| matches!(frame.alone, Some(Alone::Load(_)))) {
            self.context.progress.clear();
        }
        // A statement that was waiting has not ended by itself; run again, it begins anew.
        self.frame.reset_statements();
        if let Some((depth, handler)) = handler {
            self.enter_handler(depth, handler, reach, error).await;
            return None;
        }
        if reach == Reach::Statement && self.frame.atomic.is_some() {
            reach = Reach::Scope;
        }
        if origin == Origin::RaiseError && self.context.settings.nocount {
            self.output.raised(&error, !self.callers.is_empty());
        } else {
            self.output.error(&error);
        }
        match reach {
            Reach::Statement => {
                self.frame.error_status = 10 - i32::from(error.severity);
                // Of a file that cannot be read on, the errors of its provider say enough; a statement that its target's triggers
                // forbid has not begun.
                // An index that would not be unique ends as rows do.
                let is_ended = self.is_modification() && !matches!(error.number, 334 | 5316 | 7330);
                if is_ended || error.number == 1505 {
                    let message = SqlError::statement_terminated().at_line(error.line);
                    self.output.message(&message);
                }
                self.output.failed();
                self.skip_statement();
                None
            }
            Reach::Scope if !self.callers.is_empty() => {
                self.output.failed();
                let goes_on = self.leave_failed_call(reach).await;
                (!goes_on).then_some(error)
            }
            Reach::Scope | Reach::Batch | Reach::Transaction => {
                self.leave_batch(reach).await;
                Some(error)
            }
        }
    }

    /// Leaves the frame that an error has ended, and goes on behind the call of it. False: it has ended the batch's own frame, too.
    async fn leave_failed_call(&mut self, reach: Reach) -> bool {
        self.undo_atomic_block(reach).await;
        self.drop_frame();
        self.end_failed_capture().await;
        // A block that calls another one has failed with it.
        while self.frame.atomic.is_some() {
            self.undo_atomic_block(reach).await;
            if self.callers.is_empty() {
                return false;
            }
            self.drop_frame();
        }
        self.skip_statement();
        true
    }

    /// Leaves all frames: an error has ended the batch.
    async fn leave_batch(&mut self, reach: Reach) {
        self.undo_atomic_block(reach).await;
        while !self.callers.is_empty() {
            self.drop_frame();
            self.undo_atomic_block(reach).await;
        }
        self.captures.clear();
        self.promises.clear();
        if reach == Reach::Transaction && self.context.state.transaction_count > 0 {
            self.context.roll_back_all().await;
        }
        self.context.state.batch_aborted = reach != Reach::Scope;
    }

    /// Whether an error leaves a trigger: for a TRY block around the statement that has fired it, whose frame is the one at
    /// `depth`, or because nobody catches it and it ends more than its statement.
    fn ends_trigger(&self, reach: Reach, depth: Option<usize>) -> bool {
        match depth {
            None => reach != Reach::Statement && self.is_in_trigger(),
            Some(depth) => self.frames().skip(depth + 1).any(|frame| frame.trigger.is_some()),
        }
    }

    /// A transaction that a statement has made for its triggers ends with the statement, also when that fails.
    async fn end_made_transaction(&mut self, reach: Reach, depth: Option<usize>) {
        let lowest = match (depth, reach) {
            (Some(depth), _) => depth,
            (None, Reach::Statement | Reach::Scope) => self.callers.len(),
            (None, Reach::Batch | Reach::Transaction) => 0,
        };
        let made = self.frames().skip(lowest).any(|frame| frame.began);
        if made && self.context.state.transaction_count > 0 {
            self.context.roll_back_all().await;
        }
    }

    /// The call of an INSERT ... EXEC has ended before its end: the statement is undone.
    async fn end_failed_capture(&mut self) {
        if std::mem::take(&mut self.frame.began) && self.context.state.transaction_count > 0 {
            self.context.roll_back_all().await;
        }
    }

    /// All frames, the outermost first.
    fn frames(&self) -> impl Iterator<Item = &Frame> {
        self.callers.iter().chain([&self.frame]).map(|frame| &**frame)
    }

    fn reach(&self, error: &SqlError, origin: Origin) -> Reach {
        if let Some(Instruction::DeclareTables(_)) = self.frame.program.instructions.get(self.frame.pc) {
            // Without its tables nothing of a text means what it says.
            return Reach::Scope;
        }
        let abort = self.context.settings.xact_abort;
        match origin {
            Origin::RaiseError if error.severity < 20 => Reach::Statement,
            Origin::Throw if abort => Reach::Transaction,
            Origin::Throw => Reach::Batch,
            // CREATE TABLE of a name that is taken, or in a schema that is not there.
            _ if matches!(error.number, 2714 | 2760) && self.creates_table() => Reach::Transaction,
            _ => match errors::reach(error) {
                Reach::Scope if origin != Origin::Callee => Reach::Scope,
                Reach::Scope if !abort => Reach::Statement,
                _ if abort => Reach::Transaction,
                reach => reach,
            },
        }
    }

    /// The innermost handler around the current instruction, and the number of frames below its frame. An error of
    /// binding is not caught in the scope it arose in.
    pub(crate) fn find_handler(&self, skip_own: bool) -> Option<(usize, Handler)> {
        if !skip_own && let Some(handler) = self.frame.program.handler(self.frame.pc) {
            return Some((self.callers.len(), handler));
        }
        self.callers.iter().enumerate().rev().find_map(|(depth, frame)| {
            let handler = frame.program.handler(frame.pc)?;
            Some((depth, handler))
        })
    }

    /// Goes on in the CATCH block of the frame of this depth.
    async fn enter_handler(&mut self, depth: usize, handler: Handler, reach: Reach, error: SqlError) {
        while self.callers.len() > depth {
            self.undo_atomic_block(reach).await;
            self.drop_frame();
        }
        self.frame.reset_statements();
        self.captures.retain(|capture| capture.depth < depth);
        self.promises.retain(|promise| promise.depth < depth);
        if reach == Reach::Transaction && self.context.state.transaction_count > 0 {
            self.context.state.doomed = true;
        }
        self.leave_catch(handler.caught_depth as usize);
        self.frame.error_status = 10 - i32::from(error.severity);
        self.context.state.caught.push(error);
        self.frame.pc = handler.target as usize;
    }

    /// Goes on behind the instruction that failed. A condition that failed counts as not true; a failed call of an
    /// INSERT ... EXEC inserts nothing.
    fn skip_statement(&mut self) {
        let instructions = &self.frame.program.instructions;
        let at = self.frame.pc;
        self.frame.pc = match (instructions.get(at), instructions.get(at + 1)) {
            (Some(Instruction::JumpUnless(_, target)), _) => *target,
            (Some(Instruction::Statement(index)), Some(Instruction::JumpUnless(_, target)))
                if matches!(self.frame.program.late[*index].kind, LateKind::Condition { .. }) =>
            {
                *target
            }
            (Some(Instruction::Capture), Some(_)) => at + 3,
            (Some(Instruction::CreateInto(_)), Some(_)) => at + 2,
            (_, Some(Instruction::Fulfil)) => {
                self.promises.pop();
                at + 2
            }
            (_, Some(Instruction::InsertCaptured(_))) => {
                self.captures.pop();
                at + 2
            }
            _ => at + 1,
        };
    }

    /// Whether the instruction that failed changes rows.
    fn creates_table(&self) -> bool {
        let here = self.frame.program.instructions.get(self.frame.pc);
        matches!(here, Some(Instruction::Define(statement, _)) if matches!(statement.kind, StatementKind::CreateTable(_)))
    }

    fn is_modification(&self) -> bool {
        match self.frame.program.instructions.get(self.frame.pc) {
            Some(Instruction::Statement(index)) => match &self.frame.program.late[*index].kind {
                LateKind::Statement(statement) => matches!(
                    statement.kind,
                    StatementKind::Insert(_)
                        | StatementKind::Update(_)
                        | StatementKind::Delete(_)
                        | StatementKind::Merge(_)
                ),
                _ => false,
            },
            Some(Instruction::InsertCaptured(_) | Instruction::BulkInsert(_)) => true,
            _ => false,
        }
    }
}
