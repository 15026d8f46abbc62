//! What can be read off the stored text of a procedure.

use pikepole_query::declared_type;
use pikepole_tsql::{FunctionReturns, Parameter, StatementKind};
use pikepole_types::SqlType;

/// A parameter of a procedure.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ParameterInfo {
    pub(crate) name: String,
    pub(crate) ty: SqlType,
    pub(crate) output: bool,
    pub(crate) has_default: bool,
    pub(crate) readonly: bool,
}

/// The parameters that a CREATE PROCEDURE or CREATE FUNCTION declares; none when the text is something else.
pub(crate) fn parameters(text: &str) -> Vec<ParameterInfo> {
    let Ok(batch) = pikepole_tsql::parse(text) else { return Vec::new() };
    match batch.statements.first().map(|statement| &statement.kind) {
        Some(StatementKind::CreateProcedure(procedure)) => procedure.parameters.iter().filter_map(info).collect(),
        Some(StatementKind::CreateFunction(function)) => function.parameters.iter().filter_map(info).collect(),
        _ => Vec::new(),
    }
}

/// The type that a scalar function returns; None: the text makes something else.
pub(crate) fn result_type(text: &str) -> Option<SqlType> {
    let batch = pikepole_tsql::parse(text).ok()?;
    match &batch.statements.first()?.kind {
        StatementKind::CreateFunction(function) => match &function.returns {
            FunctionReturns::Scalar { data_type, .. } => declared_type(data_type).ok(),
            _ => None,
        },
        _ => None,
    }
}

/// Whether a function returns a value, and no rows.
pub(crate) fn is_scalar(text: &str) -> bool {
    result_type(text).is_some()
}

fn info(parameter: &Parameter) -> Option<ParameterInfo> {
    Some(ParameterInfo {
        name: parameter.name.text.clone(),
        ty: declared_type(&parameter.data_type).ok()?,
        output: parameter.output,
        has_default: parameter.default.is_some(),
        readonly: parameter.readonly,
    })
}
