//! `$PARTITION.f(x)`: the partition that a value is in, written out as a CASE over the function's boundaries.

use super::Binder;
use super::typed::Typed;
use crate::expression::Fault;
use pikepole_engine::PartitionFunction;
use pikepole_tsql as tree;
use pikepole_types::SqlError;

/// The schema that partition functions are called by.
const PARTITION: &str = "$PARTITION";

/// Whether a call is of a partition function.
pub(super) fn is_partition(call: &tree::FunctionCall) -> bool {
    call.name.schema_str().is_some_and(|schema| schema.eq_ignore_ascii_case(PARTITION))
}

impl Binder<'_> {
    /// The number of a partition.
    ///
    /// # Errors
    /// 208 for a function that is not there, 174 for a wrong number of arguments.
    pub(super) fn partition_number(&mut self, call: &tree::FunctionCall) -> Result<Typed, Fault> {
        let view = self.catalog();
        if call.name.database_str().is_some_and(|database| !database.eq_ignore_ascii_case(view.database.name())) {
            return Err(crate::errors::unsupported("$PARTITION of another database"));
        }
        let function = view.catalog.partition_function(&call.name.name.text).cloned();
        let function = function.ok_or_else(|| Box::new(SqlError::invalid_object(call.name.dotted())))?;
        let [argument] = call.arguments.as_slice() else {
            return Err(Box::new(SqlError::function_needs_arguments(&function.name, 1)));
        };
        let argument = argument.expr().ok_or_else(|| Box::new(SqlError::incorrect_syntax("DEFAULT")))?;
        let text = number_text(&function, &argument.to_string());
        let parsed = tree::parse_expression(&text).map_err(|error| Box::new(crate::errors::syntax_error(&error)))?;
        self.expr(&parsed)
    }
}

/// The expression that says which partition a value is in.
fn number_text(function: &PartitionFunction, value: &str) -> String {
    let ty = function.ty;
    let value = format!("CAST(({value}) AS {ty})");
    let compares = if function.right { "<" } else { "<=" };
    let mut text = format!("CASE WHEN {value} IS NULL THEN 1");
    for (place, boundary) in function.boundaries.iter().enumerate() {
        let boundary = boundary.replace('\'', "''");
        text.push_str(&format!(" WHEN {value} {compares} CAST(N'{boundary}' AS {ty}) THEN {}", place + 1));
    }
    text.push_str(&format!(" ELSE {} END", function.fanout()));
    text
}
