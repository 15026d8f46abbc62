//! What a session may see: the objects on which it has a permission, the views of the server for whom the state of the server
//! is his business.

use crate::views::View;
use pikepole_engine::{Catalog, Database, Permission, Securable, SecurityToken};
use pikepole_query::ExecutionContext;
use pikepole_types::SqlError;
use std::sync::Arc;

/// The current database's definitions as the session may see them.
pub(crate) fn catalog(context: &ExecutionContext) -> Arc<Catalog> {
    let view = context.catalog();
    let token = context.token();
    if token.is_dbo() { Arc::clone(view.definitions()) } else { Arc::new(view.definitions().visible_to(token)) }
}

/// Whether a principal may read the text of a module, which who may only use it may not.
pub(crate) fn shows_text(token: &SecurityToken, catalog: &Catalog, object_id: i32) -> bool {
    if catalog.definition_trigger_by_id(object_id).is_some() {
        return token.has(Permission::ViewDefinition, Securable::Database);
    }
    let object = catalog.object_by_id(object_id);
    object.is_some_and(|object| token.has(Permission::ViewDefinition, catalog.securable(object)))
}

/// The definitions of any database as the session may see them; None when the session may not use that.
pub(crate) fn catalog_of(context: &ExecutionContext, database: &Arc<Database>) -> Option<Arc<Catalog>> {
    if Arc::ptr_eq(database, context.database()) {
        return Some(catalog(context));
    }
    let token = context.token_in(database)?;
    let definitions = context.definitions_of(database);
    Some(if token.is_dbo() { definitions } else { Arc::new(definitions.visible_to(&token)) })
}

/// How much of a view a session sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Seen {
    /// All rows.
    All,
    /// The rows about the session itself, whose number is in this column.
    Own(&'static str),
    /// No row.
    Nothing,
}

/// How much the session sees of a view, or of what a table-valued function gives.
///
/// # Errors
/// 300 without VIEW SERVER STATE, 262 without VIEW DATABASE STATE, 297 for the log's content, which is everybody's rows.
pub(crate) fn seen(view: &View, is_function: bool, context: &ExecutionContext) -> Result<Seen, SqlError> {
    let token = context.token();
    if token.is_sysadmin() {
        return Ok(Seen::All);
    }
    let name = view.name;
    let state = token.has(Permission::ViewServerState, Securable::Server);
    match name {
        "dm_exec_sessions" | "dm_exec_requests" | "dm_exec_connections" | "dm_exec_session_wait_stats" if !state => {
            Ok(Seen::Own("session_id"))
        }
        "sysprocesses" if !state => Ok(Seen::Own("spid")),
        "fn_dblog" | "fn_full_dblog" | "fn_dump_dblog" if !token.is_dbo() => Err(SqlError::no_permission_for_action()),
        "master_files" if !token.has(Permission::ViewAnyDefinition, Securable::Server) => Ok(Seen::Nothing),
        // It shows all databases.
        "dm_db_index_usage_stats" if !state => {
            Err(SqlError::server_permission_denied(Permission::ViewServerState.name()))
        }
        // Without that they show the tables that the session may read.
        "dm_db_xtp_table_memory_stats" | "dm_db_xtp_memory_consumers" => Ok(Seen::All),
        // One that names no database is about the current one.
        _ if name.starts_with("dm_db_") && !is_function => {
            context.require_of_database(Permission::ViewDatabaseState).map(|()| Seen::All)
        }
        // They show what is known of columns that the session may read.
        "dm_db_stats_properties" | "dm_db_stats_histogram" => Ok(Seen::All),
        // It shows what the session may run.
        _ if view.describes_a_text() => Ok(Seen::All),
        _ if (name.starts_with("dm_") || name.starts_with("fn_virtual")) && !state => {
            Err(SqlError::server_permission_denied(Permission::ViewServerState.name()))
        }
        _ => Ok(Seen::All),
    }
}
