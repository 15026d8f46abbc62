//! `sp_xtp_control_proc_exec_stats` and `sp_xtp_control_query_exec_stats`.

use super::{Procedure, may_configure};
use crate::unsupported;
use pikepole_query::{Argument, ExecutionContext};
use pikepole_types::{SqlError, SqlType, Value};

const NEW: &str = "@new_collection_value";
const OLD: &str = "@old_collection_value";

/// The parameters of each, in order.
pub(super) const OF_CALLS: &[&str] = &[NEW, OLD];
pub(super) const OF_STATEMENTS: &[&str] = &[NEW, "@database_id", "@xtp_object_id", OLD];

/// Begins or ends the counting of natively compiled modules' calls, or of all their statements, and gives the choice before that.
///
/// # Errors
/// 15247 for who may not change the configuration; 40517 for one database or module.
pub(super) fn control(
    procedure: &Procedure,
    arguments: &mut [Argument],
    context: &ExecutionContext,
) -> Result<(), SqlError> {
    if !may_configure(context) {
        return Err(SqlError::no_permission());
    }
    let place = |wanted: &str, arguments: &[Argument]| {
        arguments.iter().enumerate().position(|(at, argument)| match &argument.name {
            None => procedure.parameters.get(at).is_some_and(|own| *own == wanted),
            Some(name) => name.eq_ignore_ascii_case(wanted),
        })
    };
    let given = |wanted: &str| {
        let value = place(wanted, arguments).map(|at| arguments[at].value.clone());
        value.filter(|value| !value.is_null())
    };
    if let Some(one) = ["@database_id", "@xtp_object_id"].into_iter().find(|one| given(one).is_some()) {
        return Err(unsupported(format!("The parameter {one}")));
    }
    let counting = context.server().native_counting();
    let is_of_calls = procedure.parameters == OF_CALLS;
    let mut before = if is_of_calls { counting.counts_calls() } else { counting.counts_statements() };
    if let Some(value) = given(NEW) {
        let on = value.as_i64().map_or_else(|| value == Value::Bit(true), |number| number != 0);
        before = if is_of_calls { counting.count_calls(on) } else { counting.count_statements(on) };
    }
    if let Some(at) = place(OLD, arguments).filter(|at| arguments[*at].output) {
        (arguments[at].value, arguments[at].ty) = (Value::Bit(before), SqlType::Bit);
    }
    Ok(())
}
