//! Triggers and functions of several statements become programs.

use std::sync::Arc;

use super::compile::{CompileContext, Compiler};
use super::{FunctionResult, ProcedureIdentity, Program, Variable, check_statements, syntax_error};
use crate::bind::{COLUMNS_UPDATED, Declared, TriggerShape};
use pikepole_tsql::{self as tree, StatementKind};
use pikepole_types::{SqlError, SqlType};

/// Compiles a trigger from its stored CREATE or ALTER statement.
///
/// # Errors
/// As [`compile`].
pub(crate) fn compile_trigger(
    text: &str,
    identity: ProcedureIdentity,
    shape: TriggerShape,
    context: &CompileContext<'_>,
) -> Result<Arc<Program>, Vec<SqlError>> {
    let batch = tree::parse(text).map_err(|error| vec![syntax_error(&error)])?;
    let Some(StatementKind::CreateTrigger(trigger)) = batch.statements.first().map(|statement| &statement.kind) else {
        return Err(vec![SqlError::procedure_unknown(&identity.name)]);
    };
    let mut compiler = Compiler::new(text, context);
    let statements = trigger.body.statements();
    compiler.reserve(1 + shape.len(), statements);
    compiler.variables.push(Variable { name: String::new(), ty: COLUMNS_UPDATED });
    compiler.variables.extend((0..shape.len()).map(|_| Variable { name: String::new(), ty: SqlType::Bit }));
    compiler.trigger = Some(Arc::new(shape));
    if matches!(trigger.body, tree::ModuleBody::External(_)) {
        let fault = crate::errors::unsupported("EXTERNAL NAME");
        compiler.errors.push(*fault);
    }
    compiler.declare_tables(statements);
    compiler.statements(statements);
    compiler.finish(Some(identity))
}

/// Compiles a function of statements, of a value or of rows, from its stored CREATE or ALTER statement.
///
/// # Errors
/// As [`compile`].
pub(crate) fn compile_function(
    text: &str,
    identity: ProcedureIdentity,
    context: &CompileContext<'_>,
) -> Result<Arc<Program>, Vec<SqlError>> {
    let batch = tree::parse(text).map_err(|error| vec![syntax_error(&error)])?;
    let kind = batch.statements.first().map(|statement| &statement.kind);
    let Some(StatementKind::CreateFunction(function)) = kind else {
        return Err(vec![SqlError::invalid_object(&identity.name)]);
    };
    let body = match &function.returns {
        tree::FunctionReturns::Table { body, .. } | tree::FunctionReturns::Scalar { body, .. } => body,
        tree::FunctionReturns::Inline(_) => return Err(vec![SqlError::invalid_object(&identity.name)]),
    };
    let mut compiler = Compiler::new(text, context);
    let statements = body.statements();
    compiler.reserve(function.parameters.len(), statements);
    compiler.parameters(&function.parameters);
    match &function.returns {
        tree::FunctionReturns::Table { variable, elements, .. } => {
            let returned = tree::TableVariable { name: variable.clone(), elements: elements.clone() };
            compiler.returned_table(returned);
            compiler.returns = Some(FunctionResult::Table(variable.text.as_str().into()));
        }
        tree::FunctionReturns::Scalar { data_type, .. } => {
            let declared = compiler.declared(data_type, 1);
            if let Some(Declared::System(ty) | Declared::Alias(_, ty)) = compiler.keep(declared) {
                compiler.returns = Some(FunctionResult::Value(compiler.return_slot(), ty));
            }
        }
        tree::FunctionReturns::Inline(_) => {}
    }
    compiler.declare_tables(statements);
    let checked = check_statements(statements);
    compiler.keep(checked);
    compiler.statements(statements);
    compiler.finish(Some(identity))
}
