//! IF, WHILE, RETURN and TRY: what jumps.

use std::sync::Arc;

use super::compile::{Compiler, SUBQUERY_NOT_ALLOWED};
use super::{BYTES_A_TEXT_BYTE, FunctionResult, Handler, Instruction, LateKind};
use crate::expression::{Expr, Fault};
use crate::plan::Told;
use pikepole_tsql::{self as tree, Statement, StatementKind};
use pikepole_types::{SqlError, SqlType, memory};

/// A WHILE being compiled.
pub(super) struct Loop {
    start: usize,
    /// The BREAKs, whose targets are known at the loop's end.
    breaks: Vec<usize>,
    catch_depth: usize,
}

impl Compiler<'_> {
    /// Has a statement compiled when it first runs.
    pub(super) fn keep_for_later(&mut self, statement: &Statement) -> Result<(), Fault> {
        let bytes = statement.span.range().len();
        memory::ask(bytes.saturating_mul(BYTES_A_TEXT_BYTE)).map_err(Box::new)?;
        self.late_statement(LateKind::Statement(Arc::new(statement.clone())));
        Ok(())
    }

    /// USE, which no module has.
    pub(super) fn use_database(&mut self, name: &tree::Name) -> Result<(), Fault> {
        if !self.is_batch {
            let (what, place) = ("a USE database statement", "a procedure, function or trigger");
            return Err(Box::new(SqlError::not_allowed_in(what, place)));
        }
        self.database_changes = true;
        self.emit(Instruction::Use(name.text.as_str().into()));
        Ok(())
    }

    pub(super) fn branch(&mut self, branch: &tree::If) {
        let condition = self.condition(&branch.condition);
        let unless = self.emit(Instruction::JumpUnless(condition, usize::MAX));
        self.statement(&branch.then);
        if let Some(otherwise) = &branch.otherwise {
            let over = self.emit(Instruction::Jump(usize::MAX));
            self.patch(unless);
            self.statement(otherwise);
            self.patch(over);
        } else {
            self.patch(unless);
        }
    }

    /// Makes a jump lead here.
    fn patch(&mut self, at: usize) {
        let here = self.here();
        match &mut self.instructions[at] {
            Instruction::Jump(target) | Instruction::JumpUnless(_, target) | Instruction::Leave(target, _) => {
                *target = here
            }
            _ => {}
        }
    }

    pub(super) fn repeat(&mut self, repeat: &tree::While) {
        let start = self.here();
        let line = self.line;
        let condition = self.condition(&repeat.condition);
        let unless = self.emit(Instruction::JumpUnless(condition, usize::MAX));
        self.loops.push(Loop { start, breaks: Vec::new(), catch_depth: self.catch_depth });
        self.statement(&repeat.body);
        self.line = line;
        self.emit(Instruction::Jump(start));
        self.patch(unless);
        if let Some(ended) = self.loops.pop() {
            ended.breaks.into_iter().for_each(|at| self.patch(at));
        }
    }

    pub(super) fn leave_loop(&mut self, statement: &Statement) -> Result<(), Fault> {
        let breaks = matches!(statement.kind, StatementKind::Break);
        let Some((start, depth)) = self.loops.last().map(|l| (l.start, l.catch_depth)) else {
            return Err(Box::new(if breaks {
                SqlError::break_outside_while()
            } else {
                SqlError::continue_outside_while()
            }));
        };
        let target = if breaks { usize::MAX } else { start };
        let at = self.emit(Instruction::Leave(target, depth));
        if breaks && let Some(inner) = self.loops.last_mut() {
            inner.breaks.push(at);
        }
        Ok(())
    }

    pub(super) fn ret(&mut self, value: Option<&tree::Expr>) -> Result<(), Fault> {
        if let Some(FunctionResult::Value(slot, ty)) = self.returns {
            return self.return_of_function(value, slot, ty);
        }
        if value.is_some() && (self.is_batch || self.trigger.is_some() || self.returns.is_some()) {
            return Err(Box::new(SqlError::return_value_not_allowed()));
        }
        let value = match value {
            None => None,
            Some(value) => match self.typed_as(value, &SqlType::Int) {
                Ok(value) => Some(value),
                Err(fault) if fault.number == SUBQUERY_NOT_ALLOWED || self.is_deferred(&fault) => {
                    let slot = self.return_slot();
                    self.late_statement(LateKind::Value {
                        expr: value.clone(),
                        slot,
                        ty: SqlType::Int,
                        told: Told::Nothing,
                    });
                    Some(Expr::Slot(slot))
                }
                Err(fault) => return Err(fault),
            },
        };
        self.return_from(value);
        Ok(())
    }

    pub(super) fn try_catch(&mut self, block: &tree::TryCatch) {
        self.handlers.push(Handler { target: 0, caught_depth: self.catch_depth as u32 });
        let handler = self.handlers.len() - 1;
        self.trying.push(handler as u32);
        self.guarded_statements(&block.body);
        self.trying.pop();
        let over = self.emit(Instruction::Jump(usize::MAX));
        self.handlers[handler].target = self.here() as u32;
        self.catch_depth += 1;
        self.guarded_statements(&block.handler);
        self.catch_depth -= 1;
        self.emit(Instruction::EndCatch);
        self.patch(over);
    }
}

/// Variables that the statements declare, in blocks too.
pub(super) fn declared_in(statements: &[Statement]) -> usize {
    statements.iter().map(declared_by).sum()
}

fn declared_by(statement: &Statement) -> usize {
    match &statement.kind {
        StatementKind::Declare(variables) => variables.len(),
        StatementKind::Block(statements) => declared_in(statements),
        StatementKind::If(branch) => declared_by(&branch.then) + branch.otherwise.as_ref().map_or(0, declared_by),
        StatementKind::While(repeat) => declared_by(&repeat.body),
        StatementKind::TryCatch(block) => declared_in(&block.body) + declared_in(&block.handler),
        _ => 0,
    }
}
