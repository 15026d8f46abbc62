//! Methods of xml in expressions.

use super::{COPIES, Env, Expr, Fault, ask_for};
use pikepole_types::xml::{Compiled, Method};
use pikepole_types::{SqlError, SqlType, Value};
use std::sync::Arc;

/// A call of `value`, `query`, `exist` or `modify`.
#[derive(Debug, Clone)]
pub struct XmlMethod {
    /// Which.
    pub method: Method,
    /// The query.
    pub query: Arc<Compiled>,
    /// What it is called on.
    pub receiver: Expr,
    /// The values from SQL that the query reads.
    pub inputs: Box<[Expr]>,
    /// The type of the result.
    pub to: SqlType,
    /// What `modify` calls the variable or column that it changes.
    pub name: Box<str>,
}

impl XmlMethod {
    pub(super) fn eval(&self, env: &mut Env<'_>, out: &mut Value) -> Result<(), Fault> {
        let mut scratch = Value::Null;
        let receiver = self.receiver.eval_ref(env, &mut scratch)?;
        if receiver.is_null() {
            *out = Value::Null;
            return match self.method {
                Method::Modify => Err(Box::new(SqlError::mutator_of_null("modify()", &self.name))),
                _ => Ok(()),
            };
        }
        ask_for([receiver], COPIES)?;
        let mut inputs = Vec::with_capacity(self.inputs.len());
        for input in &self.inputs {
            inputs.push(input.eval(env)?);
        }
        *out = self.query.run(self.method, receiver, &inputs, env.functions, &self.to)?;
        Ok(())
    }

    /// All that it reads.
    pub(crate) fn operands(&self) -> impl Iterator<Item = &Expr> {
        std::iter::once(&self.receiver).chain(&self.inputs)
    }
}
