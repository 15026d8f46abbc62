//! Members of CLR types in expressions.

use super::{Env, Expr, Fault, ask_for};
use pikepole_clr::{Form, Method};
use pikepole_types::{ClrType, SqlError, Value};

/// How many times as much memory as its bytes a shape takes while something is computed of it.
const SHAPE_COPIES: usize = 16;

/// A call of a member.
#[derive(Debug, Clone)]
pub struct ClrCall {
    /// Which.
    pub method: &'static Method,
    /// The type that has it.
    pub ty: ClrType,
    /// What it is called on; None for a static one.
    pub receiver: Option<Expr>,
    /// Its arguments, as the types of its parameters.
    pub arguments: Box<[Expr]>,
    /// What messages call the variable or column that it changes.
    pub name: Box<str>,
}

impl ClrCall {
    pub(super) fn eval(&self, env: &mut Env<'_>, out: &mut Value) -> Result<(), Fault> {
        let mut arguments = Vec::with_capacity(self.arguments.len());
        for argument in &self.arguments {
            arguments.push(argument.eval(env)?);
        }
        let mut scratch = Value::Null;
        let receiver = match &self.receiver {
            None => &Value::Null,
            Some(receiver) => receiver.eval_ref(env, &mut scratch)?,
        };
        if receiver.is_null() && self.method.form == Form::Setter {
            return Err(Box::new(SqlError::mutator_of_null(self.method.name, &self.name)));
        }
        ask_for(arguments.iter().chain([receiver]), SHAPE_COPIES)?;
        *out = self.method.call(self.ty, receiver, &arguments)?;
        Ok(())
    }

    /// All that it reads.
    pub(crate) fn operands(&self) -> impl Iterator<Item = &Expr> {
        self.receiver.iter().chain(&self.arguments)
    }
}
