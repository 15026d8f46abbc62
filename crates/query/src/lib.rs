//! The binder, compiled statements and procedures, and the machine that runs them.
//!
//! ```text
//!   text ──parse──► tree ──compile──► Program ──run──► Output
//!                            │                  │
//!                     bind: names -> slots      engine: rows, transactions
//!                           queries -> plans    Host: what belongs to the session
//! ```
//! A session keeps an [`ExecutionContext`], implements [`Host`], compiles a batch with [`compile`] (or takes it from the cache
//! with [`prepare`]) and runs it with [`run`].

mod access;
mod activity;
mod application_lock;
mod bind;
mod bulk;
mod cache;
mod clock;
mod context;
mod ddl;
mod errors;
mod executor;
mod expression;
mod held;
mod host;
mod optimizer;
mod output;
mod plan;
mod prepared_handles;
mod procedural;
mod program;
mod progress;
mod reading;
mod rules;
mod runs;
mod security;
mod settings;
mod show;
mod state;
mod xml_text;

#[cfg(test)]
mod tests;

use std::sync::Arc;

pub use access::{CatalogView, Table, tempdb_name};
pub use activity::{Activity, Running};
pub use application_lock::LockOwner;
pub use bind::{
    Declared, Traits, UndeclaredParameter, check_key_column, column_traits, columns_made_now, first_result_set,
    kept_columns, module_is_deterministic, prepared_columns, undeclared_parameters,
};
pub use cache::{CachedProgram, PlanCache};
pub use context::ExecutionContext;
pub use ddl::{declared_names, names_sequence};
pub use errors::cancelled;
pub use host::{Argument, BoundReference, Host, HostFunction, HostFuture, TableRows, VirtualTable};
pub use output::{
    BrowsedColumn, Collected, ColumnInfo, DecimalName, Definition, Discard, Done, DoneKind, Event, Output, Provenance,
};
pub use prepared_handles::{PreparedHandle, PreparedHandles};
pub use procedural::{
    CURSOR_PROCEDURES, ClientCursor, CursorShown, CursorTarget, Prepared, RAISED_MIN, RowTarget, call, cut_long_values,
    insert_rows, open_cursor, read_cursor_again, refill_cursor, run,
};
pub use program::LoadOptions;
pub use program::{
    CompileContext, CursorWish, Parameter, ProcedureIdentity, Program, TextHandle, Variable, compile, compile_batch,
    compile_procedure,
};
pub use progress::Progress;
pub use reading::{Reading, RunningOperator};
pub use runs::{Measure, RunTotals, StatementRuns};
pub use security::{Requirement, SessionSecurity, is_welcome};
pub use settings::{Isolation, NullDefault, Settings, ShowPlan};
pub use state::{RunningTrigger, SessionState};

use pikepole_types::SqlError;

/// What a parameter or column is declared with, in a module of a schema.
///
/// # Errors
/// As a statement that declares it: 2715 for an unknown type, 2716, 131, 1001, 2750, 2751 for sizes.
pub fn declared_type(
    catalog: &pikepole_engine::Catalog,
    schema: &str,
    written: &pikepole_tsql::DataType,
) -> Result<Declared, SqlError> {
    bind::declared(catalog, &access::meant_type(catalog, Some(schema), written), 1).map_err(|fault| *fault)
}

/// The columns of its table that a CHECK constraint reads, by their places; none while its condition cannot be bound.
pub fn checked_columns(
    table: &pikepole_engine::Table,
    check: &pikepole_engine::Check,
    context: &ExecutionContext,
    host: &dyn Host,
) -> Vec<usize> {
    let catalog = context.catalog();
    let names = bind::Names::of(&catalog, host);
    bind::reads_columns(&check.text, true, &bind::TableColumn::all(table), &names).unwrap_or_default()
}

/// The program of a batch: from the cache, or compiled and kept there. `parameters` are declared as sp_executesql's are.
///
/// # Errors
/// As [`compile`].
pub fn prepare(
    text: &str,
    parameters: &str,
    context: &ExecutionContext,
    host: &dyn Host,
) -> Result<Arc<Program>, Vec<SqlError>> {
    context.count_compiling(|| found_or_compiled(text, parameters, context, host))
}

fn found_or_compiled(
    text: &str,
    parameters: &str,
    context: &ExecutionContext,
    host: &dyn Host,
) -> Result<Arc<Program>, Vec<SqlError>> {
    let database = context.database().id();
    let meaning = cache::Meaning::of(&context.settings);
    let schema = context.default_schema();
    if let Some(program) = context.plans.batch(database, (meaning, &schema), parameters, text)
        && program.fits(|| context.catalog().catalog)
    {
        return Ok(program);
    }
    let program = compile(text, parameters, &context.compile_context(host))?;
    context.plans.keep_batch((meaning, &schema), parameters, &program);
    Ok(program)
}
