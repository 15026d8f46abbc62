//! What can be read off the stored text of a procedure.

use pikepole_engine::{Catalog, Module};
use pikepole_query::{Declared, declared_type};
use pikepole_tsql::{DataType, FunctionReturns, Parameter, StatementKind, module_options};

/// A parameter of a procedure.
#[derive(Debug, Clone)]
pub(crate) struct ParameterInfo {
    pub(crate) name: String,
    pub(crate) declared: Declared,
    pub(crate) output: bool,
    pub(crate) has_default: bool,
    pub(crate) readonly: bool,
}

/// The parameters that a CREATE PROCEDURE or CREATE FUNCTION declares; none when the text is something else.
pub(crate) fn parameters(catalog: &Catalog, module: &Module) -> Vec<ParameterInfo> {
    let Ok(batch) = parse(&module.text) else { return Vec::new() };
    let all = |parameters: &[Parameter]| {
        parameters.iter().filter_map(|parameter| info(catalog, &module.schema, parameter)).collect()
    };
    match batch.statements.first().map(|statement| &statement.kind) {
        Some(StatementKind::CreateProcedure(procedure)) => all(&procedure.parameters),
        Some(StatementKind::CreateFunction(function)) => all(&function.parameters),
        _ => Vec::new(),
    }
}

/// Whether the module that a text makes says this word in its WITH: `ENCRYPTION`, `SCHEMABINDING`, ...
pub(crate) fn says(text: &str, option: &str) -> bool {
    // Most texts have the word nowhere, and need no parsing.
    if !text.to_ascii_uppercase().contains(option) {
        return false;
    }
    let Ok(batch) = parse(text) else { return false };
    pikepole_tsql::says(module_options(&batch), option)
}

/// Whether the module that a text makes is WITH ENCRYPTION: nobody is shown it.
pub(crate) fn is_encrypted(text: &str) -> bool {
    says(text, "ENCRYPTION")
}

/// The type that a scalar function returns; None: the text makes something else.
pub(crate) fn result_type(catalog: &Catalog, module: &Module) -> Option<Declared> {
    declared_type(catalog, &module.schema, &returned(&module.text)?).ok()
}

fn returned(text: &str) -> Option<DataType> {
    let batch = parse(text).ok()?;
    match batch.statements.into_iter().next()?.kind {
        StatementKind::CreateFunction(function) => match function.returns {
            FunctionReturns::Scalar { data_type, .. } => Some(data_type),
            _ => None,
        },
        _ => None,
    }
}

/// How many parameters a function has that gives rows; None: it gives a value, or the text makes something else.
pub(crate) fn parameters_of_rows(catalog: &Catalog, module: &Module) -> Option<usize> {
    let gives_rows = !matches!(function_kind(&module.text).0, "FN" | "FS");
    gives_rows.then(|| parameters(catalog, module).len())
}

/// The code and the name of a function's kind.
pub(crate) fn function_kind(text: &str) -> (&'static str, &'static str) {
    let batch = parse(text).ok();
    match batch.as_ref().and_then(|batch| batch.statements.first()).map(|statement| &statement.kind) {
        Some(StatementKind::CreateFunction(function)) => match function.returns {
            FunctionReturns::Scalar { .. } => ("FN", "SQL_SCALAR_FUNCTION"),
            FunctionReturns::Inline(_) => ("IF", "SQL_INLINE_TABLE_VALUED_FUNCTION"),
            FunctionReturns::Table { .. } => ("TF", "SQL_TABLE_VALUED_FUNCTION"),
        },
        _ => ("IF", "SQL_INLINE_TABLE_VALUED_FUNCTION"),
    }
}

fn info(catalog: &Catalog, schema: &str, parameter: &Parameter) -> Option<ParameterInfo> {
    Some(ParameterInfo {
        name: parameter.name.text.clone(),
        declared: declared_type(catalog, schema, &parameter.data_type).ok()?,
        output: parameter.output,
        has_default: parameter.default.is_some(),
        readonly: parameter.readonly,
    })
}

/// A stored text, which was written with QUOTED_IDENTIFIER on or off: what is asked of it here is the same in both.
fn parse(text: &str) -> Result<pikepole_tsql::Batch, pikepole_tsql::SyntaxError> {
    let off = pikepole_tsql::ParseOptions { quoted_identifier: false };
    pikepole_tsql::parse(text).or_else(|error| pikepole_tsql::parse_with(text, off).map_err(|_| error))
}
