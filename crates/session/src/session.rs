//! A session: what one connection's batches share.

use crate::connection::ConnectionInfo;
use crate::host::SessionHost;
use crate::options::ClientOptions;
use crate::registry::{BatchEnd, Login, Registry, SharedCell};
use crate::session_context::SessionContext;
use pikepole_contention::Counter;
use pikepole_contention::sync::atomic::AtomicBool;
use pikepole_engine::{LoginPrincipal, Server};
use pikepole_query::{ColumnInfo, Done, ExecutionContext, Output, Settings, TableRows};
use pikepole_scheduler::{Placement, TaskInfo};
use pikepole_types::{Language, SqlError, SqlType, Value};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::sync::Arc;
use std::task::{Context, Poll};

/// The command of a session between two batches.
const IDLE: &str = "AWAITING COMMAND";
/// The command of a batch until its first statement that touches tables says what it does.
pub(crate) const RUNNING: &str = "EXECUTE";
/// The database of sessions that ask for none.
const DEFAULT_DATABASE: &str = "master";

/// What a client says of itself when it connects.
#[derive(Debug, Clone)]
pub struct SessionOptions {
    /// `APP_NAME()`.
    pub program_name: String,
    /// `HOST_NAME()`.
    pub host_name: String,
    /// The first current database.
    pub database: String,
    /// The connection that the client came over; none for one in this process.
    pub connection: Option<Arc<ConnectionInfo>>,
    /// Who it is; `sa` for whoever has the files.
    pub login: LoginPrincipal,
    /// The first language; none: the login's.
    pub language: Option<&'static Language>,
    /// The options that it begins with; the language is told apart.
    pub settings: Settings,
}

impl Default for SessionOptions {
    fn default() -> Self {
        SessionOptions {
            program_name: "Pikepole".to_string(),
            host_name: String::new(),
            database: DEFAULT_DATABASE.to_string(),
            connection: None,
            login: LoginPrincipal::sa(),
            language: None,
            settings: Settings::default(),
        }
    }
}

/// A parameter of a batch: a variable that the batch finds declared and set.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameter {
    /// The name with its `@`.
    pub name: String,
    /// The value, of the type `ty`; afterwards, when `output` is set, the value that the batch left in it.
    pub value: Value,
    /// The type.
    pub ty: SqlType,
    /// Whether the value is wanted back.
    pub output: bool,
    /// The table of a table-valued parameter, in the place of a value; taken by the batch.
    pub table: Option<TableRows>,
}

/// One session. It runs one batch at a time; dropping it rolls back what is open.
pub struct Session {
    /// Absent only while the session is being dropped.
    context: Option<ExecutionContext>,
    pub(crate) host: SessionHost,
    /// What the views see of it.
    cell: SharedCell,
    /// The database that the login began in.
    pub(crate) first_database: String,
    /// The options that it began with.
    pub(crate) first_settings: Settings,
}

impl Session {
    /// Begins a session.
    ///
    /// # Errors
    /// 4060 when the database is not there, 926 when it could not be opened; 17809 when all session numbers are taken.
    pub fn new(server: Arc<Server>, registry: Arc<Registry>, options: SessionOptions) -> Result<Session, SqlError> {
        let database = server.database(&options.database).map_err(|error| match error.number {
            // It says why, which whoever has to mend it wants to know.
            926 => error,
            _ => SqlError::login_database_failed(&options.database),
        })?;
        let begun_us = now_us();
        let login = Login {
            at_us: begun_us,
            host_name: options.host_name.clone(),
            program_name: options.program_name.clone(),
            database_id: database.id(),
            connection: options.connection,
            login_id: options.login.id,
            login_name: options.login.name.clone(),
        };
        let first_database = database.name().to_string();
        let mut first_settings = options.settings;
        first_settings.set_language(options.language.unwrap_or(options.login.default_language));
        let full = || SqlError::new(17809, 20, 1, "All session numbers are in use; a session must end first.");
        let (session_id, cell) = registry.add(login).ok_or_else(full)?;
        let begun = database.admit(session_id).and_then(|_admission| {
            let plans = Arc::clone(registry.plans());
            let mut context = ExecutionContext::new(Arc::clone(&server), Arc::clone(&database), session_id, plans);
            context.log_in(options.login).map(|()| context)
        });
        let Ok(mut context) = begun else {
            registry.remove(session_id);
            return Err(SqlError::login_database_failed(&options.database));
        };
        context.settings = first_settings.clone();
        context.progress = Arc::clone(cell.progress());
        context.activity = Arc::clone(cell.activity());
        cell.kill_switch().cancels(Arc::clone(&context.cancelled));
        server.statistics().add(Counter::Logins, 1);
        server.statistics().add(Counter::UserConnections, 1);
        crate::deadlock_graph::describe_deadlocks(&server, &registry);
        let host = SessionHost {
            server,
            registry,
            session_id,
            cell: Arc::clone(&cell),
            host_name: options.host_name,
            program_name: options.program_name,
            original_database: first_database.clone(),
            options: ClientOptions::default(),
            trace_flags: BTreeSet::new(),
            session_context: SessionContext::default(),
        };
        Ok(Session { context: Some(context), host, cell, first_database, first_settings })
    }

    /// The session's number, `@@SPID`.
    pub fn id(&self) -> i32 {
        self.host.session_id
    }

    /// What the session's task is called while it waits for a batch.
    pub fn task_info(&self) -> TaskInfo {
        TaskInfo { session_id: Some(self.id()), command: IDLE }
    }

    /// The switch that ends the running batch when it is set; whoever sets it clears it before the next batch.
    pub fn cancel_switch(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.context().cancelled)
    }

    pub(crate) fn context(&self) -> &ExecutionContext {
        self.context.as_ref().expect("only a dropped session has none")
    }

    /// What a request runs on.
    pub(crate) fn parts(&mut self) -> (&mut ExecutionContext, &mut SessionHost) {
        let context = self.context.as_mut().expect("only a dropped session has none");
        (context, &mut self.host)
    }

    /// Runs a batch to its end. Rows, counts, messages and errors go to `output`.
    pub async fn run(&mut self, sql: &str, parameters: &mut [Parameter], output: &mut dyn Output) {
        self.request_begins();
        let mut watched = Watched::new(output);
        self.run_batch(sql, parameters, &mut watched).await;
        self.request_ends(watched.errors, watched.rows);
    }

    /// The same with a batch that a client's call of a procedure has become. The variables at `defaults`, places of parameters, are passed as
    /// the procedure's own defaults, and get what it leaves in these; results are converted as CONVERT does it.
    pub async fn run_call(
        &mut self,
        sql: &str,
        parameters: &mut [Parameter],
        defaults: Vec<usize>,
        output: &mut dyn Output,
    ) {
        self.parts().0.client_call = Some(defaults);
        self.run(sql, parameters, output).await;
        self.parts().0.client_call = None;
    }

    pub(crate) fn request_begins(&self) {
        self.host.server.statistics().add(Counter::BatchRequests, 1);
        self.cell.batch_begins(now_us(), pikepole_scheduler::cpu_time_us());
    }

    pub(crate) fn request_ends(&self, errors: u64, rows: u64) {
        if errors > 0 {
            self.host.server.statistics().add(Counter::SqlErrors, errors);
        }
        let row_count = i64::try_from(rows).unwrap_or(i64::MAX);
        pikepole_scheduler::set_command(IDLE);
        let context = self.context();
        self.cell.batch_ends(BatchEnd {
            at_us: now_us(),
            cpu_us: pikepole_scheduler::cpu_time_us(),
            row_count,
            last_error: context.state.last_error,
        });
        // What a trigger of either kind did not tell: implicit transactions, ends by an error.
        self.cell.show_transaction(context);
        self.cell.show_settings(context, &self.host.options);
    }

    /// The identity column of a table that T-SQL names so.
    pub fn identity_column(&self, table: &str) -> Option<String> {
        let found = self.table_named(table)?;
        found.identity_column().map(|place| found.columns[place].name.clone())
    }

    /// The columns of a table that T-SQL names so which an INSERT without a list of columns has values for.
    pub fn assignable_columns(&self, table: &str) -> Option<Vec<String>> {
        let found = self.table_named(table)?;
        let columns = found.columns.iter().filter(|column| {
            column.identity.is_none() && column.computed.is_none() && !column.rowversion && column.generated.is_none()
        });
        Some(columns.map(|column| column.name.clone()).collect())
    }

    fn table_named(&self, table: &str) -> Option<Arc<pikepole_engine::Table>> {
        let context = self.context.as_ref()?;
        let parts = crate::names::parts(table)?;
        if parts.name.starts_with('#') {
            return context.temporary_table(&parts.name);
        }
        let other = parts.database.map(|name| context.server().database(&name));
        let database = other.transpose().ok()?.unwrap_or_else(|| Arc::clone(context.database()));
        let schema = parts.schema.as_deref().unwrap_or(pikepole_engine::DEFAULT_SCHEMA);
        context.definitions_of(&database).table(schema, &parts.name).cloned()
    }

    /// The table type of a procedure's parameter, for a client that does not name it: its schema and its name.
    pub fn table_type(&self, procedure: &str, place: usize, name: &str) -> Option<(String, String)> {
        let context = self.context.as_ref()?;
        let parts = crate::names::parts(procedure)?;
        let catalog = context.catalog();
        let catalog = catalog.definitions();
        let found = catalog.procedure(parts.schema.as_deref().unwrap_or("dbo"), &parts.name)?;
        let parameters = crate::modules::parameters(catalog, found);
        let wanted = match name {
            "" => parameters.get(place),
            name => parameters.iter().find(|parameter| parameter.name.eq_ignore_ascii_case(name)),
        };
        let user_type = wanted?.declared.user_type()?;
        Some((user_type.schema.clone(), user_type.name.clone()))
    }

    /// The columns of the first result set that a prepared text gives when it runs; None: it gives none, or only what runs before it can
    /// tell.
    pub fn first_columns(&self, text: &pikepole_query::Prepared) -> Option<Vec<ColumnInfo>> {
        let context = self.context.as_ref()?;
        pikepole_query::prepared_columns(text.text(), text.declarations(), context, &self.host).ok().flatten()
    }

    /// The scalar function that a name is, as T-SQL writes it, and the type of its value.
    pub fn scalar_function(&self, name: &str) -> Option<(String, SqlType)> {
        let context = self.context.as_ref()?;
        let parts = crate::names::parts(name)?;
        if parts.database.is_some_and(|database| !database.eq_ignore_ascii_case(context.database().name())) {
            return None;
        }
        let catalog = context.catalog();
        let catalog = catalog.definitions();
        let found = catalog.function(parts.schema.as_deref().unwrap_or("dbo"), &parts.name)?;
        let ty = crate::modules::result_type(catalog, found)?.scalar()?;
        let quoted = |part: &str| format!("[{}]", part.replace(']', "]]"));
        Some((format!("{}.{}", quoted(&found.schema), quoted(&found.name)), ty))
    }

    async fn run_batch(&mut self, sql: &str, parameters: &mut [Parameter], output: &mut Watched<'_>) {
        self.host.prepare_for(sql).await;
        let context = self.context.as_mut().expect("only a dropped session has none");
        if !self.host.options.allows_running(sql, context, output) {
            return;
        }
        let declared = declarations(parameters);
        let program = match pikepole_query::prepare(sql, &declared, context, &self.host) {
            Ok(program) => program,
            Err(errors) => {
                for error in &errors {
                    context.state.last_error = error.number;
                    output.error(error);
                }
                return;
            }
        };
        let tables = parameters.iter_mut().map(|parameter| parameter.table.take()).collect();
        let mut arguments: Vec<Value> =
            parameters.iter_mut().map(|parameter| std::mem::take(&mut parameter.value)).collect();
        pikepole_scheduler::set_command(RUNNING);
        // The error has gone to the output already; it ended this batch, not the session.
        let _ = pikepole_query::run(&program, &mut arguments, tables, context, &mut self.host, output).await;
        for (parameter, value) in parameters.iter_mut().zip(arguments) {
            parameter.value = value;
        }
    }

    /// Ends the session: rolls back what is open and gives its number back.
    pub async fn close(mut self) {
        if let Some(mut context) = self.context.take() {
            context.roll_back_all().await;
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let (registry, session_id) = (Arc::clone(&self.host.registry), self.host.session_id);
        let statistics = self.host.server.statistics();
        statistics.add(Counter::Logouts, 1);
        statistics.subtract(Counter::UserConnections, 1);
        match self.context.take() {
            Some(mut context) if context.state.transaction_count > 0 => {
                // The number stays taken until the rollback is done: its transaction still counts as this session's.
                let info = TaskInfo { session_id: Some(session_id), command: "ROLLBACK" };
                let rollback = async move {
                    context.roll_back_all().await;
                    registry.remove(session_id);
                };
                self.host.server.schedulers().spawn(info, Placement::LeastLoaded, rollback);
            }
            _ => registry.remove(session_id),
        }
    }
}

/// Microseconds since 1970.
fn now_us() -> u64 {
    pikepole_machine::clock::unix_time_us().try_into().unwrap_or(0)
}

/// Parameters as `sp_executesql` declares them.
fn declarations(parameters: &[Parameter]) -> String {
    let mut text = String::new();
    for (place, parameter) in parameters.iter().enumerate() {
        let ty = match parameter.ty {
            SqlType::Null => SqlType::NVarChar(pikepole_types::Length::Limit(4000)),
            ty => ty,
        };
        let separator = if place > 0 { ", " } else { "" };
        if let Some(table) = &parameter.table {
            // Writing to a String cannot fail.
            let _ = write!(text, "{separator}{} {} READONLY", parameter.name, table.quoted_type());
            continue;
        }
        let output = if parameter.output { " OUTPUT" } else { "" };
        // Writing to a String cannot fail.
        let _ = write!(text, "{separator}{} {ty}{output}", parameter.name);
    }
    text
}

/// An output that counts errors and rows on their way.
pub(crate) struct Watched<'a> {
    output: &'a mut dyn Output,
    pub(crate) errors: u64,
    pub(crate) rows: u64,
}

impl<'a> Watched<'a> {
    pub(crate) fn new(output: &'a mut dyn Output) -> Watched<'a> {
        Watched { output, errors: 0, rows: 0 }
    }
}

impl Output for Watched<'_> {
    fn text_size(&mut self, bytes: i32) {
        self.output.text_size(bytes);
    }

    fn columns(&mut self, columns: &[ColumnInfo]) {
        self.output.columns(columns);
    }

    fn row(&mut self, row: &[Value]) {
        self.output.row(row);
    }

    fn done(&mut self, done: Done) {
        self.rows = done.rows.unwrap_or(self.rows);
        self.output.done(done);
    }

    fn done_in_procedure(&mut self, done: Done) {
        self.rows = done.rows.unwrap_or(self.rows);
        self.output.done_in_procedure(done);
    }

    fn ended_without_count(&mut self, in_procedure: bool) {
        self.output.ended_without_count(in_procedure);
    }

    fn assigned(&mut self, rows: u64, in_procedure: bool) {
        self.output.assigned(rows, in_procedure);
    }

    fn message(&mut self, message: &SqlError) {
        self.output.message(message);
    }

    fn push(&mut self) {
        self.output.push();
    }

    fn error(&mut self, error: &SqlError) {
        self.errors += 1;
        self.output.error(error);
    }

    fn raised(&mut self, error: &SqlError, in_procedure: bool) {
        self.errors += 1;
        self.output.raised(error, in_procedure);
    }

    fn failed(&mut self) {
        self.output.failed();
    }

    fn return_status(&mut self, status: i32) {
        self.output.return_status(status);
    }

    fn is_full(&self) -> bool {
        self.output.is_full()
    }

    fn poll_room(&mut self, context: &mut Context<'_>) -> Poll<()> {
        self.output.poll_room(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_declared_as_sp_executesql_wants_them() {
        let parameter =
            |name: &str, ty, output| Parameter { name: name.to_string(), value: Value::Null, ty, output, table: None };
        let parameters = [
            parameter("@a", SqlType::Int, true),
            parameter("@b", SqlType::Decimal { precision: 10, scale: 2 }, false),
            parameter("@c", SqlType::Null, false),
        ];
        assert_eq!(declarations(&parameters), "@a int OUTPUT, @b decimal(10,2), @c nvarchar(4000)");
        let table = TableRows { type_name: "a]b".to_owned(), ..TableRows::default() };
        let of_table = Parameter { table: Some(table), ..parameter("@t", SqlType::Null, false) };
        assert_eq!(declarations(&[of_table]), "@t [a]]b] READONLY");
        assert_eq!(declarations(&[]), "");
    }
}
