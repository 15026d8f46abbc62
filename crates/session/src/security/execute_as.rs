//! EXECUTE AS and REVERT.

use crate::unsupported;
use pikepole_query::ExecutionContext;
use pikepole_tsql::{ExecuteAs, Literal};
use pikepole_types::SqlError;

/// EXECUTE AS LOGIN = 'x', EXECUTE AS USER = 'x'.
pub(crate) fn execute_as(statement: &ExecuteAs, context: &mut ExecutionContext) -> Result<(), SqlError> {
    context.refresh_security().map_err(|fault| *fault)?;
    if statement.no_revert {
        return Err(unsupported("EXECUTE AS ... WITH NO REVERT"));
    }
    let name = match statement.name.as_ref().map(|name| name.literal()) {
        None if statement.kind == "CALLER" => {
            context.execute_as_caller();
            return Ok(());
        }
        None => return Err(SqlError::incorrect_syntax(&statement.kind)),
        Some(Some(Literal::String { value, .. })) => value.trim_end_matches(' '),
        Some(_) => return Err(unsupported("EXECUTE AS with a variable")),
    };
    match statement.kind.as_str() {
        "LOGIN" => context.execute_as_login(name),
        "USER" => context.execute_as_user(name),
        other => Err(SqlError::incorrect_syntax(other)),
    }
}

/// REVERT.
pub(crate) fn revert(context: &mut ExecutionContext) -> Result<(), SqlError> {
    context.revert();
    Ok(())
}
