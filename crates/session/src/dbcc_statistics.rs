//! DBCC SHOW_STATISTICS.
//!
//! This engine counts rows when it plans and keeps no statistics, so each is as one of SQL Server's that has never been updated: its header
//! has a name and nothing else, and there are no densities and no histogram.

use crate::host::SessionHost;
use crate::names;
use crate::result_set::{NAME, ResultSet, string, text};
use crate::security;
use pikepole_engine::{DEFAULT_SCHEMA, Table};
use pikepole_query::{ExecutionContext, Output};
use pikepole_tsql::Dbcc;
use pikepole_types::{Length, SqlError, SqlType, Value};
use std::sync::Arc;

/// # Errors
/// 2501 for a table that is not there, 2767 for statistics that it has not.
pub(crate) fn show(
    host: &SessionHost,
    command: &Dbcc,
    context: &ExecutionContext,
    output: &mut dyn Output,
) -> Result<(), SqlError> {
    let [table, statistics] = command.arguments.as_slice() else { return Err(SqlError::dbcc_parameter_count()) };
    let table = table.text().ok_or_else(SqlError::dbcc_parameter_count)?;
    let wanted = statistics.text().ok_or_else(SqlError::dbcc_parameter_count)?;
    let table = named_table(host, &table, context)?;
    // SQL Server takes the name of a column too, for statistics that it made of it by itself: there are none.
    let index = table.indexes.iter().find(|index| index.name.eq_ignore_ascii_case(&wanted));
    let index = index.ok_or_else(|| SqlError::statistics_missing(&wanted))?;
    let words = || command.options.iter().map(|option| option.name.as_str());
    if let Some(unknown) = words().find(|word| !WORDS.contains(word)) {
        return Err(SqlError::option_not_recognized(unknown, "DBCC SHOW_STATISTICS"));
    }
    let shows_all = !words().any(|word| word != "NO_INFOMSGS");
    let shows = |word: &str| shows_all && word != "STATS_STREAM" || words().any(|given| given == word);
    if shows("STAT_HEADER") {
        header(&index.name, output);
    }
    if shows("DENSITY_VECTOR") {
        densities(output);
    }
    if shows("HISTOGRAM") {
        // A columnstore index of the whole table has no key columns.
        let first = index.columns.first().map(|key| key.column).or(index.included.first().copied()).unwrap_or(0);
        histogram(table.columns[first].ty, output);
    }
    if shows("STATS_STREAM") {
        stream(output);
    }
    Ok(())
}

/// The options, each a part that is to be shown but for the last.
const WORDS: &[&str] = &["STAT_HEADER", "DENSITY_VECTOR", "HISTOGRAM", "STATS_STREAM", "NO_INFOMSGS"];

fn named_table(host: &SessionHost, name: &str, context: &ExecutionContext) -> Result<Arc<Table>, SqlError> {
    let missing = || SqlError::table_or_object_not_found(name);
    let parts = names::parts(name).ok_or_else(missing)?;
    let database = match &parts.database {
        Some(name) => host.server.database(name).map_err(|_| missing())?,
        None => Arc::clone(context.database()),
    };
    let catalog = security::catalog_of(context, &database).ok_or_else(missing)?;
    let schema = parts.schema.as_deref().unwrap_or(DEFAULT_SCHEMA);
    catalog.table(schema, &parts.name).cloned().ok_or_else(missing)
}

fn header(name: &str, output: &mut dyn Output) {
    let mut set = ResultSet::new(&[
        ("Name", NAME),
        ("Updated", text(20)),
        ("Rows", SqlType::BigInt),
        ("Rows Sampled", SqlType::BigInt),
        ("Steps", SqlType::SmallInt),
        ("Density", SqlType::Real),
        ("Average key length", SqlType::Real),
        ("String Index", SqlType::NChar(3)),
        ("Filter Expression", SqlType::NVarChar(Length::Max)),
        ("Unfiltered Rows", SqlType::BigInt),
        ("Persisted Sample Percent", SqlType::Float),
    ]);
    let mut row = vec![Value::Null; 11];
    row[0] = string(name);
    set.push(row);
    set.send(output);
}

fn densities(output: &mut dyn Output) {
    let columns = [("All density", SqlType::Real), ("Average Length", SqlType::Real), ("Columns", text(4000))];
    ResultSet::new(&columns).send(output);
}

/// The keys have the type of the first column.
fn histogram(key: SqlType, output: &mut dyn Output) {
    let columns = [
        ("RANGE_HI_KEY", key),
        ("RANGE_ROWS", SqlType::Real),
        ("EQ_ROWS", SqlType::Real),
        ("DISTINCT_RANGE_ROWS", SqlType::BigInt),
        ("AVG_RANGE_ROWS", SqlType::Real),
    ];
    ResultSet::new(&columns).send(output);
}

/// What a script of statistics would carry.
fn stream(output: &mut dyn Output) {
    let mut set = ResultSet::new(&[
        ("Stats_Stream", SqlType::VarBinary(Length::Max)),
        ("Rows", SqlType::BigInt),
        ("Data Pages", SqlType::BigInt),
    ]);
    set.push(vec![Value::Null; 3]);
    set.send(output);
}
