//! What can be read off the stored text of a procedure.

use pikepole_query::declared_type;
use pikepole_tsql::{Parameter, StatementKind};
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

/// The parameters that a CREATE PROCEDURE declares; none when the text is something else.
pub(crate) fn parameters(text: &str) -> Vec<ParameterInfo> {
    let Ok(batch) = pikepole_tsql::parse(text) else { return Vec::new() };
    match batch.statements.first().map(|statement| &statement.kind) {
        Some(StatementKind::CreateProcedure(procedure)) => procedure.parameters.iter().filter_map(info).collect(),
        _ => Vec::new(),
    }
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
