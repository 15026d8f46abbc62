//! What the query machine asks of a session.

use crate::options::ClientOptions;
use crate::registry::{Registry, SharedCell};
use crate::security::{self, Seen};
use crate::{functions, procedures, statements, views};
use pikepole_engine::Server;
use pikepole_query::{Argument, ExecutionContext, Host, HostFunction, HostFuture, Output, VirtualTable};
use pikepole_tsql::{Statement, StatementKind};
use pikepole_types::{SqlError, Value};
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
    /// SET options that the machine does not obey itself.
    pub(crate) options: ClientOptions,
    /// Trace flags switched on for this session only.
    pub(crate) trace_flags: BTreeSet<i32>,
}

impl Host for SessionHost {
    fn virtual_table(&self, schema: Option<&str>, name: &str) -> Option<VirtualTable> {
        let (id, view) = views::find(schema, name)?;
        let parameters = views::parameters(id).unwrap_or_default().iter().map(|kind| kind.sql_type()).collect();
        Some(VirtualTable { id, name: view.name.to_string(), columns: view.column_infos(), parameters })
    }

    fn virtual_rows<'a>(
        &'a mut self,
        id: u32,
        arguments: &'a [Value],
        context: &'a mut ExecutionContext,
    ) -> HostFuture<'a, Result<Vec<Vec<Value>>, SqlError>> {
        Box::pin(async move {
            let view = views::by_number(id).ok_or_else(|| SqlError::invalid_object(id))?;
            context.refresh_security().map_err(|fault| *fault)?;
            let seen = security::seen(view, views::parameters(id).is_some(), context)?;
            if seen == Seen::Nothing {
                return Ok(Vec::new());
            }
            let row_counts = if view.counts_rows() { count_rows(context).await? } else { BTreeMap::new() };
            // An implicit transaction is begun by no statement of its own.
            self.cell.show_transaction(context);
            let catalog = security::catalog(context);
            let source = views::Source {
                server: &self.server,
                database: context.database(),
                catalog: &catalog,
                token: context.token(),
                registry: &self.registry,
                row_counts,
                arguments,
            };
            let mut rows = (view.rows)(view, &source)?;
            if let Seen::Own(column) = seen {
                let place = view.columns.iter().position(|(name, _, _)| *name == column);
                let own = Some(i64::from(self.session_id));
                rows.retain(|row| place.and_then(|place| row.get(place)).and_then(Value::as_i64) == own);
            }
            Ok(rows)
        })
    }

    fn function(&self, name: &str) -> Option<HostFunction> {
        functions::find(name)
    }

    fn call_function(&self, id: u32, arguments: &[Value], context: &ExecutionContext) -> Result<Value, SqlError> {
        functions::call(self, id, arguments, context)
    }

    fn system_procedure(&self, name: &str) -> Option<u32> {
        procedures::find(name)
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

/// The rows of every table of the current database that the session can see.
pub(crate) async fn count_rows(context: &mut ExecutionContext) -> Result<BTreeMap<i32, u64>, SqlError> {
    let tables: Vec<_> = context.catalog().definitions().tables().cloned().collect();
    let mut counts = BTreeMap::new();
    for table in tables {
        counts.insert(table.object_id, count_table(context, &table).await?);
    }
    Ok(counts)
}

/// The rows of one table that the session can see.
pub(crate) async fn count_table(
    context: &mut ExecutionContext,
    table: &Arc<pikepole_engine::Table>,
) -> Result<u64, SqlError> {
    let database = Arc::clone(context.database());
    let mut scan = table.scan(pikepole_engine::ScanRange::all(), &[]);
    let counted = database.drive(context.transaction(), |tx| database.try_count(tx, table, &mut scan)).await;
    match counted {
        Ok(count) => Ok(count),
        Err(pikepole_engine::Interrupted::Error(error)) => Err(*error),
        // Dropped or changed meanwhile: the next look at the view shows what it is then.
        Err(pikepole_engine::Interrupted::Stale) => Ok(0),
    }
}
