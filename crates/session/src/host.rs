//! What the query machine asks of a session.

use crate::dependencies::Lookup;
use crate::options::ClientOptions;
use crate::registry::{Registry, SessionRow, SharedCell};
use crate::security::{self, Seen};
use crate::session_context::SessionContext;
use crate::views::dependencies::{Entity, bound_to};
use crate::{functions, procedures, statements, views};
use pikepole_engine::{
    Catalog, DEFAULT_SCHEMA, Database, LoginPrincipal, ReadHints, SecurityToken, Server, UserAccess,
};
use pikepole_query::{
    Argument, BoundReference, ColumnInfo, ExecutionContext, Host, HostFunction, HostFuture, Output, Prepared,
    VirtualTable, kept_columns,
};
use pikepole_tsql::{Statement, StatementKind};
use pikepole_types::{SqlError, SqlType, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The host of one session.
pub(crate) struct SessionHost {
    pub(crate) server: Arc<Server>,
    pub(crate) registry: Arc<Registry>,
    pub(crate) session_id: i32,
    /// What the views see of the session.
    pub(crate) cell: SharedCell,
    pub(crate) host_name: String,
    pub(crate) program_name: String,
    /// The database that the session began in.
    pub(crate) original_database: String,
    /// SET options that the machine does not obey itself.
    pub(crate) options: ClientOptions,
    /// Trace flags switched on for this session only.
    pub(crate) trace_flags: BTreeSet<i32>,
    /// What `sp_set_session_context` has set.
    pub(crate) session_context: SessionContext,
}

impl SessionHost {
    /// The databases that a text names are made if nobody has named them before.
    pub(crate) async fn prepare_for(&self, text: &str) {
        self.registry.system_databases().prepare_for(&self.server, self.session_id, text).await;
    }

    /// The same for a text that is called again and again, which is read once.
    pub(crate) async fn prepare_for_call(&self, prepared: &mut Prepared) {
        if prepared.is_first_look() {
            self.prepare_for(prepared.text()).await;
        } else {
            self.registry.system_databases().note_suspects(&self.server, self.session_id).await;
        }
    }
}

impl Host for SessionHost {
    fn log(&self, text: &str) {
        self.registry.log(self.session_id, text);
    }

    fn virtual_table(&self, schema: Option<&str>, name: &str) -> Option<VirtualTable> {
        let (id, view) = views::find(schema, name)?;
        let types = |kinds: &[views::Kind]| kinds.iter().map(|kind| kind.sql_type()).collect();
        let parameters = views::parameters(id).map(types);
        Some(VirtualTable { id, name: view.name.to_string(), columns: view.column_infos(), parameters })
    }

    fn virtual_table_of(&self, id: u32, database: &str) -> Option<u32> {
        let databases = self.server.databases();
        let found = databases.iter().find(|info| info.name.eq_ignore_ascii_case(database))?;
        Some(id | u32::try_from(found.id).ok()? << DATABASE_SHIFT)
    }

    fn virtual_rows<'a>(
        &'a mut self,
        id: u32,
        arguments: &'a [Value],
        context: &'a mut ExecutionContext,
    ) -> HostFuture<'a, Result<Vec<Vec<Value>>, SqlError>> {
        Box::pin(async move {
            let (id, database_id) = (id & ((1 << DATABASE_SHIFT) - 1), (id >> DATABASE_SHIFT) as i32);
            let view = views::by_number(id).ok_or_else(|| SqlError::invalid_object(id))?;
            context.refresh_security().map_err(|fault| *fault)?;
            let seen = security::seen(view, views::parameters(id).is_some(), context)?;
            if seen == Seen::Nothing {
                return Ok(Vec::new());
            }
            if view.walks_rows() {
                let catalog = match database_id {
                    0 => security::catalog(context),
                    other => self.definitions_of(other, context)?.1,
                };
                let rows = views::in_memory::read_chains(view, catalog).await;
                return Ok(self.seen_rows(view, seen, rows));
            }
            if database_id != 0 {
                let rows = self.rows_of_database(view, database_id, arguments, context)?;
                return Ok(self.seen_rows(view, seen, rows));
            }
            if view.reads_pages() {
                let rows = views::index_shapes::read(view, views::every_database(&self.server), arguments).await?;
                return Ok(self.seen_rows(view, seen, rows));
            }
            if view.name == "dm_exec_cursors" {
                return Ok(self.seen_rows(view, seen, views::cursors::read(view, arguments, context)));
            }
            if view.describes_a_text() {
                return Ok(views::described::read(arguments, self, context));
            }
            let row_counts = if view.counts_rows() { count_rows(context).await? } else { BTreeMap::new() };
            let partition_rows = if view.counts_rows() { count_partitions(context).await? } else { BTreeMap::new() };
            // An implicit transaction is begun by no statement of its own.
            self.cell.show_transaction(context);
            let view_columns = if view.shows_columns() { self.view_columns(context) } else { BTreeMap::new() };
            let checked_columns =
                if view.shows_checked_columns() { self.checked_columns(context) } else { BTreeMap::new() };
            let catalog = security::catalog(context);
            let source = views::Source {
                host: self,
                server: &self.server,
                database: context.database(),
                catalog: &catalog,
                token: context.token(),
                registry: &self.registry,
                row_counts,
                partition_rows,
                view_columns,
                checked_columns,
                arguments,
            };
            let rows = (view.rows)(view, &source)?;
            Ok(self.seen_rows(view, seen, rows))
        })
    }

    fn bound_references(&self, object_id: i32, context: &ExecutionContext) -> Vec<BoundReference> {
        let catalog = context.catalog();
        let catalog = catalog.definitions();
        let Some(object) = catalog.object_by_id(object_id) else { return Vec::new() };
        let (token, database) = (context.token(), context.database().name());
        let of_columns = |view_columns: &BTreeMap<i32, Vec<ColumnInfo>>| {
            let lookup = Lookup { catalog, token, database, schema: DEFAULT_SCHEMA, view_columns };
            let bound = bound_to(lookup, object);
            let reference = |entity: Entity| {
                let own = entity.references.iter().filter(|found| found.id == Some(object_id));
                let columns = own.flat_map(|found| &found.columns).map(|column| column.id as usize - 1);
                BoundReference { columns: columns.collect(), name: entity.name }
            };
            bound.into_iter().map(reference).collect::<Vec<_>>()
        };
        // The columns of views tell whose the others are: they are asked for when it matters.
        match of_columns(&BTreeMap::new()) {
            none if none.is_empty() => none,
            _ => of_columns(&self.view_columns(context)),
        }
    }

    fn sequential_guid(&self) -> [u8; 16] {
        self.registry.next_guid()
    }

    fn function(&self, name: &str) -> Option<HostFunction> {
        functions::find(name)
    }

    fn function_name(&self, id: u32) -> Option<&str> {
        functions::name(id)
    }

    fn virtual_name(&self, id: u32) -> Option<&str> {
        Some(views::by_number(id & ((1 << DATABASE_SHIFT) - 1))?.name)
    }

    fn call_function(&self, id: u32, arguments: &[Value], context: &ExecutionContext) -> Result<Value, SqlError> {
        functions::call(self, id, arguments, context)
    }

    fn system_procedure(&self, name: &str) -> Option<u32> {
        procedures::find(name)
    }

    fn procedure_parameters(&self, id: u32) -> Vec<(&'static str, Option<SqlType>)> {
        procedures::parameter_types::of(id)
    }

    fn reads_catalog(&self, id: u32) -> bool {
        procedures::reads_catalog(id)
    }

    fn failure_status(&self, id: u32) -> i32 {
        procedures::failure_status(id)
    }

    fn call_procedure<'a>(
        &'a mut self,
        id: u32,
        arguments: &'a mut [Argument],
        context: &'a mut ExecutionContext,
        output: &'a mut dyn Output,
    ) -> HostFuture<'a, Result<i32, SqlError>> {
        Box::pin(procedures::call(self, id, arguments, context, output))
    }

    fn settings_changed(&self, context: &ExecutionContext) {
        self.cell.show_settings(context, &self.options);
    }

    fn unwelcome_sessions(&self, database: &Database, access: UserAccess, end: bool) -> usize {
        let with_transaction: Vec<i32> = database.open_transactions().iter().map(|open| open.session_id).collect();
        let rows = self.registry.rows().into_iter();
        let others = rows.filter(|row| {
            row.session_id != self.session_id
                && (row.database_id == database.id() || with_transaction.contains(&row.session_id))
                && (access == UserAccess::Single || !self.is_welcome(row, database))
        });
        others.filter(|row| !end || self.registry.kill(row.session_id)).count()
    }

    fn transaction_changed(&self, context: &ExecutionContext) {
        self.cell.show_transaction(context);
    }

    fn statement<'a>(
        &'a mut self,
        statement: &'a Statement,
        context: &'a mut ExecutionContext,
        output: &'a mut dyn Output,
    ) -> HostFuture<'a, Result<(), SqlError>> {
        Box::pin(async move {
            statements::run(self, statement, context, output).await?;
            if matches!(statement.kind, StatementKind::SetOption(_)) {
                self.settings_changed(context);
            }
            Ok(())
        })
    }
}

/// A view's number has that of another database above these bits.
const DATABASE_SHIFT: u32 = 16;

impl SessionHost {
    /// Whether a session's login may be in a database under RESTRICTED_USER.
    fn is_welcome(&self, row: &SessionRow, database: &Database) -> bool {
        let Ok(logins) = self.server.logins() else { return false };
        let login = logins.get(row.login_id).and_then(|login| LoginPrincipal::find(&logins, &login.name));
        let users = Arc::clone(database.current_catalog().users());
        login.is_some_and(|login| {
            let token = SecurityToken::of_login(&login, &logins, &users, database.name());
            token.is_ok_and(|token| pikepole_query::is_welcome(&token))
        })
    }

    /// The rows of a view that the session may see.
    fn seen_rows(&self, view: &views::View, seen: Seen, mut rows: Vec<Vec<Value>>) -> Vec<Vec<Value>> {
        if let Seen::Own(column) = seen {
            let place = view.columns.iter().position(|(name, _, _)| *name == column);
            let own = Some(i64::from(self.session_id));
            rows.retain(|row| place.and_then(|place| row.get(place)).and_then(Value::as_i64) == own);
        }
        rows
    }

    /// A view's rows as another database has them; tables' rows are not counted, and views have the columns that are kept of them.
    fn rows_of_database(
        &self,
        view: &views::View,
        database_id: i32,
        arguments: &[Value],
        context: &ExecutionContext,
    ) -> Result<Vec<Vec<Value>>, SqlError> {
        let (database, catalog) = self.definitions_of(database_id, context)?;
        let token = context.token_in(&database).unwrap_or_else(|| SecurityToken::clone(context.token()));
        let source = views::Source {
            host: self,
            server: &self.server,
            database: &database,
            catalog: &catalog,
            token: &token,
            registry: &self.registry,
            row_counts: BTreeMap::new(),
            partition_rows: BTreeMap::new(),
            view_columns: kept_of_all(&catalog),
            checked_columns: BTreeMap::new(),
            arguments,
        };
        (view.rows)(view, &source)
    }

    /// A database by its id and its definitions as the session may see them.
    fn definitions_of(
        &self,
        database_id: i32,
        context: &ExecutionContext,
    ) -> Result<(Arc<Database>, Arc<Catalog>), SqlError> {
        let found = self.server.databases().into_iter().find(|info| info.id == database_id);
        let name = found.map(|info| info.name).unwrap_or_default();
        let is_tempdb = name.eq_ignore_ascii_case(pikepole_engine::TEMPDB);
        // Each session sees its own tables among those that are in tempdb for all.
        if is_tempdb {
            let tempdb = self.server.database(&name).ok();
            let of_all = tempdb.as_ref().and_then(|tempdb| security::catalog_of(context, tempdb));
            let of_all = of_all.unwrap_or_else(|| Arc::new(context.catalog().definitions().only_schemas()));
            let catalog = context.temporary_tables().map(|tables| Arc::new(tables.catalog(&of_all)));
            Ok((tempdb.unwrap_or_else(|| Arc::clone(context.database())), catalog.unwrap_or(of_all)))
        } else {
            let database = self.server.database(&name)?;
            let catalog = security::catalog_of(context, &database);
            let login = context.security().login().name.as_str();
            let catalog = catalog.ok_or_else(|| SqlError::database_access_denied(login, &name))?;
            Ok((database, catalog))
        }
    }

    /// The columns of every view, and of every function that gives rows, of the current database, by object id: those that are kept, or
    /// that it gives now. One of which none are kept and that cannot be compiled has none.
    pub(crate) fn view_columns(&self, context: &ExecutionContext) -> BTreeMap<i32, Vec<ColumnInfo>> {
        let catalog = context.catalog();
        let definitions = catalog.definitions();
        let views = definitions.views();
        let of_views = views.filter(|view| view.columns.is_empty());
        let of_views = of_views
            .filter_map(|view| Some((view.object_id, self.columns_of_view(&view.schema, &view.name, context)?)));
        let of_functions = definitions.functions().filter(|function| function.columns.is_empty());
        let of_functions = of_functions.filter_map(|function| {
            let arguments = crate::modules::parameters_of_rows(definitions, function)?;
            let arguments = vec!["NULL"; arguments].join(", ");
            let called = format!("{}.{}({arguments})", quoted(&function.schema), quoted(&function.name));
            Some((function.object_id, self.columns_of(&called, context)?))
        });
        let mut columns = kept_of_all(definitions);
        columns.extend(of_views.chain(of_functions));
        columns
    }

    /// The columns of one view of the current database; None when none are kept and it cannot be compiled.
    pub(crate) fn columns_of_view(
        &self,
        schema: &str,
        name: &str,
        context: &ExecutionContext,
    ) -> Option<Vec<ColumnInfo>> {
        let catalog = context.catalog();
        let kept = catalog.definitions().view(schema, name).map(|view| kept_columns(view));
        let kept = kept.filter(|kept| !kept.is_empty());
        kept.or_else(|| self.columns_of(&format!("{}.{}", quoted(schema), quoted(name)), context))
    }

    /// The columns of something that FROM can name, as it would be written there.
    fn columns_of(&self, source: &str, context: &ExecutionContext) -> Option<Vec<ColumnInfo>> {
        pikepole_query::first_result_set(&format!("SELECT * FROM {source}"), "", context, self).ok().flatten()
    }

    /// The columns that every CHECK constraint of the current database reads, by its object id.
    fn checked_columns(&self, context: &ExecutionContext) -> BTreeMap<i32, Vec<usize>> {
        let catalog = context.catalog();
        let tables = catalog.definitions().tables();
        let checks = tables.flat_map(|table| table.checks.iter().map(move |check| (table, check)));
        let read = checks
            .map(|(table, check)| (check.object_id, pikepole_query::checked_columns(table, check, context, self)));
        read.collect()
    }
}

/// The columns of views, and of functions that give rows, as far as they are kept.
fn kept_of_all(catalog: &Catalog) -> BTreeMap<i32, Vec<ColumnInfo>> {
    let modules = catalog.views().chain(catalog.functions());
    let kept = modules.filter(|module| !module.columns.is_empty());
    kept.map(|module| (module.object_id, kept_columns(module))).collect()
}

/// The rows of every table of the current database that the session can see.
pub(crate) async fn count_rows(context: &mut ExecutionContext) -> Result<BTreeMap<i32, u64>, SqlError> {
    let tables: Vec<_> = context.catalog().definitions().tables().cloned().collect();
    let mut counts = BTreeMap::new();
    for table in tables {
        counts.insert(table.object_id, count_table(context, &table).await?);
    }
    Ok(counts)
}

/// The rows of each partition of the tables that are partitioned.
async fn count_partitions(context: &mut ExecutionContext) -> Result<BTreeMap<i32, Vec<u64>>, SqlError> {
    let catalog = Arc::clone(context.catalog().definitions());
    let mut counts = BTreeMap::new();
    for table in catalog.tables() {
        // An index can be partitioned where its table is not: each has rows by its own column, which for aligned ones is the same.
        let of_indexes = table.indexes.iter().find_map(|index| index.partitioned);
        let Some(partitioned) = table.row_partitions().or(of_indexes) else { continue };
        let Some(function) = views::partitions::function_of(&catalog, Some(partitioned)) else { continue };
        let (values, mut own) = (function.values(), vec![0_u64; function.fanout()]);
        let database = Arc::clone(context.database());
        let mut scan =
            table.scan(pikepole_engine::ScanRange::all(), &[partitioned.column]).with_hints(ReadHints::VERSIONS);
        let mut row = [Value::Null];
        loop {
            let next =
                database.drive(context.transaction(), |tx| database.try_next(tx, table, &mut scan, &mut row)).await;
            match next {
                Ok(true) => own[function.partition(&values, &row[0]) - 1] += 1,
                Ok(false) => break,
                Err(pikepole_engine::Interrupted::Error(error)) => return Err(*error),
                // Dropped or changed meanwhile: the next look at the view shows what it is then.
                Err(pikepole_engine::Interrupted::Stale) => break,
            }
        }
        context.end_reading();
        counts.insert(table.object_id, own);
    }
    Ok(counts)
}

/// The rows of one table that the session can see.
pub(crate) async fn count_table(
    context: &mut ExecutionContext,
    table: &Arc<pikepole_engine::Table>,
) -> Result<u64, SqlError> {
    let database = Arc::clone(context.database());
    let mut scan = table.scan(pikepole_engine::ScanRange::all(), &[]).with_hints(ReadHints::VERSIONS);
    let counted = database.drive(context.transaction(), |tx| database.try_count(tx, table, &mut scan)).await;
    context.end_reading();
    match counted {
        Ok(count) => Ok(count),
        Err(pikepole_engine::Interrupted::Error(error)) => Err(*error),
        // Dropped or changed meanwhile: the next look at the view shows what it is then.
        Err(pikepole_engine::Interrupted::Stale) => Ok(0),
    }
}

fn quoted(part: &str) -> String {
    format!("[{}]", part.replace(']', "]]"))
}
