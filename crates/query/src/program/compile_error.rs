//! THROW and RAISERROR.

use super::compile::Compiler;
use super::{Instruction, RaiseError};
use crate::expression::Fault;
use pikepole_tsql as tree;
use pikepole_types::{SqlError, SqlType};

/// The most values that RAISERROR puts into a message.
const SUBSTITUTIONS_MAX: usize = 20;

impl Compiler<'_> {
    pub(super) fn throw(&mut self, throw: Option<&tree::Throw>) -> Result<(), Fault> {
        let arguments = match throw {
            None if self.catch_depth == 0 => {
                return Err(Box::new(SqlError::throw_outside_catch()));
            }
            None => None,
            Some(throw) => Some(Box::new([
                self.typed_as(&throw.number, &SqlType::Int)?,
                self.text_value(&throw.message)?,
                self.typed_as(&throw.state, &SqlType::Int)?,
            ])),
        };
        self.emit(Instruction::Throw(arguments));
        Ok(())
    }

    pub(super) fn raise_error(&mut self, raise: &tree::RaiseError) -> Result<(), Fault> {
        if raise.arguments.len() > SUBSTITUTIONS_MAX {
            return Err(Box::new(SqlError::too_many_substitutions(SUBSTITUTIONS_MAX)));
        }
        let message = self.bind_expr(&raise.message)?;
        let mut arguments = Vec::with_capacity(raise.arguments.len());
        for argument in &raise.arguments {
            let typed = self.bind_expr(argument)?;
            let ty = typed.ty;
            let is_literal = matches!(ty, SqlType::Decimal { .. }) && typed.expr.is_const();
            if !(ty.is_string() || ty.is_integer() || ty.is_binary() || ty == SqlType::Null || is_literal) {
                // The message, the severity and the state are parameters, too.
                let position = arguments.len() + 4;
                return Err(Box::new(SqlError::substitution_type_invalid(ty.error_name(), position)));
            }
            arguments.push((typed.expr, typed.ty));
        }
        let raise = RaiseError {
            message_is_number: message.ty.is_number(),
            message: message.expr,
            severity: self.typed_as(&raise.severity, &SqlType::Int)?,
            state: self.typed_as(&raise.state, &SqlType::Int)?,
            arguments,
            set_error: raise.seterror,
            log: raise.log,
            nowait: raise.nowait,
        };
        self.emit(Instruction::RaiseError(Box::new(raise)));
        Ok(())
    }
}
