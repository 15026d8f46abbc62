//! `FROM t FOR SYSTEM_TIME ...`: the rows that a system-versioned table had at a time.
//!
//! ```text
//!   t FOR SYSTEM_TIME AS OF @x     SELECT .. FROM t WHERE start <= @x AND end > @x
//!                                  UNION ALL
//!                                  SELECT .. FROM history WHERE start <= @x AND end > @x AND start <> end
//! ```
//! The clause is written out as a derived table and bound as such. Of a view, it is about each versioned table below it. A row
//! that was changed again by the transaction that made it was never seen by others: its period is empty, and it is left out.

use super::Binder;
use super::join::JoinTree;
use super::source::{infos, table_columns, table_name};
use crate::access::Table;
use crate::expression::Fault;
use pikepole_engine::Versioning;
use pikepole_tsql as tree;
use pikepole_tsql::bracketed;
use pikepole_types::SqlError;
use std::sync::Arc;

/// The clause of a view, for the tables below it.
#[derive(Debug, Clone)]
pub(super) struct Inherited {
    time: tree::SystemTime,
    /// Some table below the view has had it.
    taken: bool,
}

impl Binder<'_> {
    /// A table or view of FROM as of a time, by its own clause or by that of the view around it. None: it is read as it is.
    pub(super) fn versions(&mut self, table: &tree::TableRef) -> Result<Option<JoinTree>, Fault> {
        let Some(time) = table.system_time.clone().or_else(|| self.inherited.as_ref().map(|own| own.time.clone()))
        else {
            return Ok(None);
        };
        let is_own = table.system_time.is_some();
        if table.name.schema.is_none() && table.name.database.is_none() && self.common_table(&table.name.name).is_some()
        {
            return if is_own { Err(not_versioned(table.name.dotted())) } else { Ok(None) };
        }
        if let Some(found) = self.catalog().table(&table.name)? {
            if found.engine.history().is_some() {
                self.inherited.iter_mut().for_each(|own| own.taken = true);
                return self.versions_of(table, &found, &time).map(Some);
            }
            return if is_own { Err(not_versioned(&found.display)) } else { Ok(None) };
        }
        if !is_own {
            return Ok(None);
        }
        if self.catalog().view(&table.name)?.is_none() {
            return match self.named(&table.name) {
                Ok(_) => Err(not_versioned(self.full_name(&table.name))),
                Err(fault) => Err(fault),
            };
        }
        let outer = self.inherited.replace(Inherited { time, taken: false });
        let plain = tree::TableRef { system_time: None, ..table.clone() };
        let read = self.read_table(&plain);
        let taken = std::mem::replace(&mut self.inherited, outer).is_some_and(|own| own.taken);
        match read {
            Ok(_) if !taken => Err(not_versioned(self.full_name(&table.name))),
            read => read.map(Some),
        }
    }

    /// `database.schema.name`
    fn full_name(&self, name: &tree::ObjectName) -> String {
        let database = name.database_str().unwrap_or(self.catalog().database.name());
        format!("{database}.{}.{}", name.schema_str().unwrap_or("dbo"), name.name.text)
    }

    fn versions_of(
        &mut self,
        reference: &tree::TableRef,
        table: &Arc<Table>,
        time: &tree::SystemTime,
    ) -> Result<JoinTree, Fault> {
        let text = self.versions_text(table, time)?;
        let batch = tree::parse(&text).map_err(|error| Box::new(crate::errors::syntax_error(&error)))?;
        let Some(tree::StatementKind::Select(query)) = batch.statements.into_iter().next().map(|own| own.kind) else {
            return Err(Box::new(SqlError::incorrect_syntax("SYSTEM_TIME")));
        };
        // The tables are read as they are, whatever is said of the view around them.
        let inherited = self.inherited.take();
        let sources = std::mem::take(&mut self.scope().sources);
        let bound = self.source_query(&query);
        self.scope().sources = sources;
        self.inherited = inherited;
        let (leaf, columns) = bound?;
        let mut columns = infos(&columns);
        for (column, own) in columns.iter_mut().zip(table_columns(table)) {
            column.hidden = own.hidden;
            column.name = own.name;
        }
        let (alias, schema) = table_name(reference);
        let tree = self.add(alias.text.clone(), schema, columns, leaf)?;
        self.carries_virtual();
        Ok(tree)
    }

    /// The query that a table's rows at a time are those of.
    fn versions_text(&self, table: &Table, time: &tree::SystemTime) -> Result<String, Fault> {
        let view = self.catalog().of_table(table);
        let missing = || not_versioned(&table.display);
        let (start, end) = table.engine.period().ok_or_else(missing)?;
        let Some(Versioning::Current { history, retention }) = table.engine.versioning else { return Err(missing()) };
        let history = view.catalog.table_by_id(history).ok_or_else(missing)?;
        let carried = self.carried_items();
        let columns = |of: &pikepole_engine::TableRecord| {
            let names = of.columns.iter().map(|column| bracketed(&column.name));
            names.chain(carried.iter().map(ToString::to_string)).collect::<Vec<_>>().join(", ")
        };
        let kept =
            format!("{}.{}.{}", bracketed(&table.database), bracketed(history.schema()), bracketed(&history.name));
        let own =
            format!("{}.{}.{}", bracketed(&table.database), bracketed(table.engine.schema()), bracketed(&table.name));
        let holds = |of: &pikepole_engine::TableRecord| {
            let (start, end) = (bracketed(&of.columns[start].name), bracketed(&of.columns[end].name));
            match time {
                tree::SystemTime::All => format!("{start} <> {end}"),
                tree::SystemTime::AsOf(time) => format!("{start} <= {time} AND {end} > {time} AND {start} <> {end}"),
                tree::SystemTime::FromTo(times) => {
                    let [from, to] = times.as_ref();
                    format!("{end} > {from} AND {start} < {to} AND {start} <> {end}")
                }
                tree::SystemTime::Between(times) => {
                    let [from, to] = times.as_ref();
                    format!("{end} > {from} AND {start} <= {to} AND {start} <> {end}")
                }
                tree::SystemTime::ContainedIn(times) => {
                    let [from, to] = times.as_ref();
                    format!("{start} >= {from} AND {end} <= {to} AND {start} <> {end}")
                }
            }
        };
        let mut of_history = holds(history);
        if let Some(retention) = retention {
            let (unit, count) = (retention.unit.name(), retention.count);
            let end = bracketed(&history.columns[end].name);
            of_history.push_str(&format!(" AND {end} > DATEADD({unit}, -{count}, SYSUTCDATETIME())"));
        }
        let (own_columns, kept_columns, of_own) = (columns(&table.engine), columns(history), holds(&table.engine));
        Ok(format!(
            "SELECT {own_columns} FROM {own} WHERE {of_own} UNION ALL SELECT {kept_columns} FROM {kept} WHERE {of_history}"
        ))
    }
}

fn not_versioned(name: impl std::fmt::Display) -> Fault {
    Box::new(SqlError::not_system_versioned(name))
}
