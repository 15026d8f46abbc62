//! Errors of this crate's own making, and how far each error reaches.

use crate::expression::{Fault, Width};
use pikepole_types::{CANCELLED, SqlError, SqlType};

/// The error of a text that does not parse.
pub(crate) fn syntax_error(error: &pikepole_tsql::SyntaxError) -> SqlError {
    let mut sql = SqlError::new(error.number, error.severity, error.state, error.message.clone());
    sql.line = error.line;
    sql
}

/// The first of the errors that a text was not compiled for.
pub(crate) fn first_error(errors: Vec<SqlError>) -> Fault {
    let first = errors.into_iter().next();
    Box::new(first.unwrap_or_else(|| SqlError::incorrect_syntax("")))
}

/// 8115.
#[cold]
pub(crate) fn arithmetic_overflow(ty: &SqlType) -> Fault {
    Box::new(SqlError::arithmetic_overflow("expression", ty.error_name()))
}

/// An integer of one width that a smaller type has no room for: 220, or 8115 from bigint.
#[cold]
pub(crate) fn narrowing_overflow(value: i64, from: Width, ty: &SqlType) -> Fault {
    Box::new(SqlError::integer_overflow(&from.sql_type(), ty, value))
}

/// 8134.
#[cold]
pub(crate) fn divide_by_zero() -> Fault {
    Box::new(SqlError::divide_by_zero())
}

/// 512.
#[cold]
pub(crate) fn subquery_many_rows() -> Fault {
    Box::new(SqlError::subquery_many_rows())
}

/// 127, of TOP and FETCH.
#[cold]
pub(crate) fn top_negative() -> Fault {
    Box::new(SqlError::top_is_negative())
}

/// 10742, of OFFSET.
#[cold]
pub(crate) fn offset_negative() -> Fault {
    Box::new(SqlError::offset_is_negative())
}

/// 10744, of FETCH.
#[cold]
pub(crate) fn fetch_not_positive() -> Fault {
    Box::new(SqlError::fetch_not_positive())
}

/// 4199, of GENERATE_SERIES.
#[cold]
pub(crate) fn series_step_zero() -> Fault {
    Box::new(SqlError::argument_value_invalid(0, 3, "generate_series"))
}

/// A function of the session used where only constants are known; never reaches a user: folding then leaves the expression.
#[cold]
pub(crate) fn not_constant() -> Fault {
    Box::new(SqlError::new(8155, 16, 1, "The expression is not constant."))
}

/// A construct the language has and this engine does not run yet. Error 40517 names it, so that nothing is silently wrong.
#[cold]
pub(crate) fn unsupported(what: impl std::fmt::Display) -> Fault {
    Box::new(SqlError::new(40517, 16, 1, format!("{what} is not supported in this version of Pikepole.")))
}

/// A row was changed by somebody after the statement's subqueries over the same table had run.
#[cold]
pub(crate) fn row_changed_under_subquery(table: &str) -> Fault {
    unsupported(format!(
        "Changing a row of '{table}' that another transaction has changed since a subquery over the same table was evaluated"
    ))
}

/// 2801: a definition changed while a statement ran and could not be begun again.
#[cold]
pub(crate) fn definition_changed() -> Fault {
    Box::new(SqlError::new(
        2801,
        16,
        1,
        "The definition of an object that the statement uses has changed since it was compiled.",
    ))
}

/// 3617: the client has given the batch up.
#[cold]
pub fn cancelled() -> Fault {
    Box::new(SqlError::cancelled())
}

/// Values that do not have the types they were bound with; never reaches a user.
#[cold]
pub(crate) fn unexpected() -> Fault {
    let text = "Internal Query Processor Error: The query processor encountered an unexpected error during execution.";
    Box::new(SqlError::new(8630, 16, 1, text))
}

/// A worker of a parallel plan ended without a result.
#[cold]
pub(crate) fn worker_lost() -> Fault {
    Box::new(pikepole_engine::worker_lost())
}

/// Whether an error is that of a cancelled batch, which no TRY block catches.
pub(crate) fn is_cancelled(error: &SqlError) -> bool {
    error.number == CANCELLED
}

/// What an error ends when no TRY block catches it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    /// The statement; the batch goes on with the next one.
    Statement,
    /// The procedure or batch it stands in; the caller goes on.
    Scope,
    /// The whole batch; the transaction is left as it is.
    Batch,
    /// The whole batch and the transaction.
    Transaction,
}

/// The state of error 10794 about an isolation level.
const ISOLATION_STATE: u8 = 76;

/// The reach of an error raised by a statement while XACT_ABORT is OFF.
pub(crate) fn reach(error: &SqlError) -> Reach {
    match error.number {
        // Names that a statement could not resolve when it was bound.
        208 | 5313 | 207 | 209 | 4104 | 4121 | 137 | 213 | 1087 => Reach::Scope,
        // What a call sends is not what WITH RESULT SETS says: the call has failed.
        11535..=11538 | 11553 => Reach::Scope,
        // Failed conversions.
        241 | 242 | 244 | 245 | 248 | 235 | 236 | 295 | 8114 | 8169 | 9807 => Reach::Transaction,
        // Arguments of which no date can be made; documents and paths of JSON.
        289 | 13607..=13609 | 13623 => Reach::Transaction,
        // Texts that are no XML.
        9400..=9465 => Reach::Transaction,
        // Deadlock victim, doomed at the end, nesting, snapshot conflicts.
        1205 | 3960 | 3961 | 3998 => Reach::Transaction,
        // Conflicts and validation of in-memory tables, and levels that they are not read at.
        41302 | 41305 | 41325 | 41332 | 41333 | 41368 => Reach::Transaction,
        10794 if error.state == ISOLATION_STATE => Reach::Transaction,
        // The end of the transaction around an INSERT ... EXEC.
        3915 | 3916 => Reach::Transaction,
        // A trigger that has caught an error and gone on.
        3616 => Reach::Transaction,
        // IDENTITY_INSERT that another table has.
        217 | 916 | 3609 | 8106 | 8107 => Reach::Batch,
        CANCELLED => Reach::Batch,
        _ if error.severity >= 19 => Reach::Transaction,
        _ => Reach::Statement,
    }
}
