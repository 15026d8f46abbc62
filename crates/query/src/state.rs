//! What statements leave behind for the ones after them: row counts, error numbers, identity values.

use std::sync::Arc;

use pikepole_types::{Decimal, SqlError, Value};

/// A trigger that is running.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunningTrigger {
    /// The object id.
    pub object_id: i32,
    /// INSTEAD OF; otherwise AFTER.
    pub instead_of: bool,
    /// Of a trigger of definitions: what has happened, as EVENTDATA() says it.
    pub event: Option<Arc<str>>,
}

/// The globals of one session that expressions can read.
#[derive(Debug, Clone)]
pub struct SessionState {
    /// `@@SPID`.
    pub session_id: i32,
    /// `@@ROWCOUNT`.
    pub row_count: i64,
    /// `@@ERROR`: the number of the last statement's error, or 0.
    pub last_error: i32,
    /// `@@TRANCOUNT`.
    pub transaction_count: i32,
    /// Transactions that the session has begun so far; the number of the open one, when there is one.
    pub transactions_begun: u64,
    /// Whether the transaction that ended last was committed.
    pub was_committed: bool,
    /// True while the transaction can only be rolled back (`XACT_STATE() = -1`).
    pub doomed: bool,
    /// Whether an error has ended the batch that ran last.
    pub batch_aborted: bool,
    /// How many calls there are within each other.
    pub nest_level: i32,
    /// How many of them are texts that sp_executesql runs: in `@@NESTLEVEL` it counts itself.
    pub procedure_levels: i32,
    /// `@@PROCID`: the object id of the running procedure, or 0.
    pub procedure_id: i32,
    /// The triggers that are running, innermost last.
    pub triggers: Vec<RunningTrigger>,
    /// `@@IDENTITY`.
    pub identity: Value,
    /// `SCOPE_IDENTITY()`.
    pub scope_identity: Value,
    /// The errors of the CATCH blocks being run, innermost last.
    pub caught: Vec<SqlError>,
    /// `@@FETCH_STATUS`: 0 after a FETCH that found a row, -1 after one that did not.
    pub fetch_status: i32,
    /// `@@CURSOR_ROWS`: the rows of the cursor that was opened last.
    pub cursor_rows: i32,
}

impl SessionState {
    /// The state of a new session.
    pub fn new(session_id: i32) -> SessionState {
        SessionState {
            session_id,
            row_count: 0,
            last_error: 0,
            transaction_count: 0,
            transactions_begun: 0,
            was_committed: false,
            doomed: false,
            batch_aborted: false,
            nest_level: 0,
            procedure_levels: 0,
            procedure_id: 0,
            triggers: Vec::new(),
            identity: Value::Null,
            scope_identity: Value::Null,
            caught: Vec::new(),
            fetch_status: 0,
            cursor_rows: 0,
        }
    }

    /// `XACT_STATE()`: 0 without a transaction, 1 with one, -1 with a doomed one.
    pub fn transaction_state(&self) -> i16 {
        match (self.transaction_count, self.doomed) {
            (0, _) => 0,
            (_, true) => -1,
            (_, false) => 1,
        }
    }
}

/// A global that the machine itself answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Global {
    /// `@@SPID`
    SessionId,
    /// `@@ROWCOUNT`
    RowCount,
    /// `ROWCOUNT_BIG()`
    RowCountBig,
    /// `@@ERROR`
    Error,
    /// `@@TRANCOUNT`
    TransactionCount,
    /// `@@NESTLEVEL`
    NestLevel,
    /// `@@PROCID`
    ProcedureId,
    /// `@@IDENTITY`
    Identity,
    /// `SCOPE_IDENTITY()`
    ScopeIdentity,
    /// `XACT_STATE()`
    TransactionState,
    /// `@@FETCH_STATUS`
    FetchStatus,
    /// `@@CURSOR_ROWS`
    CursorRows,
    /// `ERROR_NUMBER()`
    ErrorNumber,
    /// `ERROR_MESSAGE()`
    ErrorMessage,
    /// `ERROR_LINE()`
    ErrorLine,
    /// `ERROR_SEVERITY()`
    ErrorSeverity,
    /// `ERROR_STATE()`
    ErrorState,
    /// `ERROR_PROCEDURE()`
    ErrorProcedure,
    /// `EVENTDATA()`
    EventData,
}

impl Global {
    /// Its name, as texts of plans have it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Global::SessionId => "@@SPID",
            Global::RowCount => "@@ROWCOUNT",
            Global::RowCountBig => "rowcount_big()",
            Global::Error => "@@ERROR",
            Global::TransactionCount => "@@TRANCOUNT",
            Global::NestLevel => "@@NESTLEVEL",
            Global::ProcedureId => "@@PROCID",
            Global::Identity => "@@IDENTITY",
            Global::ScopeIdentity => "scope_identity()",
            Global::TransactionState => "xact_state()",
            Global::FetchStatus => "@@FETCH_STATUS",
            Global::CursorRows => "@@CURSOR_ROWS",
            Global::ErrorNumber => "error_number()",
            Global::ErrorMessage => "error_message()",
            Global::ErrorLine => "error_line()",
            Global::ErrorSeverity => "error_severity()",
            Global::ErrorState => "error_state()",
            Global::ErrorProcedure => "error_procedure()",
            Global::EventData => "eventdata()",
        }
    }

    /// The global called `name`, with its `@@`.
    pub fn variable(name: &str) -> Option<Global> {
        Some(match name.to_ascii_uppercase().as_str() {
            "@@SPID" => Global::SessionId,
            "@@ROWCOUNT" => Global::RowCount,
            "@@ERROR" => Global::Error,
            "@@TRANCOUNT" => Global::TransactionCount,
            "@@NESTLEVEL" => Global::NestLevel,
            "@@PROCID" => Global::ProcedureId,
            "@@IDENTITY" => Global::Identity,
            "@@FETCH_STATUS" => Global::FetchStatus,
            "@@CURSOR_ROWS" => Global::CursorRows,
            _ => return None,
        })
    }

    /// The argumentless function called `name` that reads a global.
    pub fn function(name: &str) -> Option<Global> {
        Some(match name.to_ascii_uppercase().as_str() {
            "ROWCOUNT_BIG" => Global::RowCountBig,
            "SCOPE_IDENTITY" => Global::ScopeIdentity,
            "XACT_STATE" => Global::TransactionState,
            "ERROR_NUMBER" => Global::ErrorNumber,
            "ERROR_MESSAGE" => Global::ErrorMessage,
            "ERROR_LINE" => Global::ErrorLine,
            "ERROR_SEVERITY" => Global::ErrorSeverity,
            "ERROR_STATE" => Global::ErrorState,
            "ERROR_PROCEDURE" => Global::ErrorProcedure,
            "EVENTDATA" => Global::EventData,
            _ => return None,
        })
    }

    /// The global's value as an integer; `None` stands for NULL. Only for globals of an integer type.
    pub fn integer(self, state: &SessionState) -> Option<i64> {
        let caught = || state.caught.last();
        match self {
            Global::SessionId => Some(state.session_id.into()),
            Global::RowCount | Global::RowCountBig => Some(state.row_count),
            Global::Error => Some(state.last_error.into()),
            Global::TransactionCount => Some(state.transaction_count.into()),
            Global::NestLevel => Some((state.nest_level + state.procedure_levels).into()),
            Global::FetchStatus => Some(state.fetch_status.into()),
            Global::CursorRows => Some(state.cursor_rows.into()),
            Global::ProcedureId => Some(state.procedure_id.into()),
            Global::TransactionState => Some(state.transaction_state().into()),
            Global::ErrorNumber => caught().map(|error| error.number.into()),
            Global::ErrorLine => caught().map(|error| error.line.into()),
            Global::ErrorSeverity => caught().map(|error| error.severity.into()),
            Global::ErrorState => caught().map(|error| error.state.into()),
            Global::Identity
            | Global::ScopeIdentity
            | Global::ErrorMessage
            | Global::ErrorProcedure
            | Global::EventData => None,
        }
    }

    /// The value of a global that is not an integer.
    pub fn value(self, state: &SessionState) -> Value {
        match self {
            Global::Identity => exact(&state.identity),
            Global::ScopeIdentity => exact(&state.scope_identity),
            Global::ErrorMessage => match state.caught.last() {
                Some(error) => Value::Str(error.message.clone()),
                None => Value::Null,
            },
            Global::ErrorProcedure => match state.caught.last().and_then(|e| e.procedure.clone()) {
                Some(name) => Value::Str(name),
                None => Value::Null,
            },
            Global::EventData => match state.triggers.last().and_then(|running| running.event.as_deref()) {
                Some(event) => Value::from(event),
                None => Value::Null,
            },
            other => other.integer(state).map_or(Value::Null, Value::BigInt),
        }
    }
}

/// An identity value as `@@IDENTITY` gives it: numeric, whatever the column's type.
fn exact(identity: &Value) -> Value {
    identity.as_i64().map_or_else(|| identity.clone(), |number| Value::Decimal(Decimal::from_i64(number)))
}
