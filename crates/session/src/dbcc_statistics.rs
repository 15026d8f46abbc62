//! DBCC SHOW_STATISTICS.
//!
//! Statistics that were never updated, as those of an index before UPDATE STATISTICS or a query that needs them, are shown as those of
//! SQL Server: their header has a name and nothing else, and there are no densities and no histogram.

use crate::host::SessionHost;
use crate::names;
use crate::result_set::{NAME, ResultSet, string, text};
use crate::security;
use crate::statistics::{ShownStatistics, of_table, shows_values};
use crate::views;
use pikepole_engine::{Catalog, DEFAULT_SCHEMA, SecurityToken, StatisticsOrigin, Table, ValueStatistics};
use pikepole_query::{ExecutionContext, Output};
use pikepole_tsql::Dbcc;
use pikepole_types::{Length, SqlError, SqlType, Value, convert};
use std::sync::Arc;

/// # Errors
/// 2501 for a table that is not there, 2767 for statistics that it has not, 2557 for those of columns that the session may not read.
pub(crate) fn show(
    host: &SessionHost,
    command: &Dbcc,
    context: &ExecutionContext,
    output: &mut dyn Output,
) -> Result<(), SqlError> {
    let [table, statistics] = command.arguments.as_slice() else { return Err(SqlError::dbcc_parameter_count()) };
    let table = table.text().ok_or_else(SqlError::dbcc_parameter_count)?;
    let wanted = statistics.text().ok_or_else(SqlError::dbcc_parameter_count)?;
    let TableOf { catalog, table, token } = named_table(host, &table, context)?;
    let all = of_table(&catalog, &table);
    let own = named_statistics(&all, &table, &wanted).ok_or_else(|| SqlError::statistics_missing(&wanted))?;
    if !shows_values(&token, &catalog, &table, &own.columns) {
        let user = &token.user().name;
        return Err(SqlError::dbcc_object_permission(user, "SHOW_STATISTICS", &table.name));
    }
    let words = || command.options.iter().map(|option| option.name.as_str());
    if let Some(unknown) = words().find(|word| !WORDS.contains(word)) {
        return Err(SqlError::option_not_recognized(unknown, "DBCC SHOW_STATISTICS"));
    }
    let shows_all = !words().any(|word| word != "NO_INFOMSGS");
    let shows = |word: &str| shows_all && word != "STATS_STREAM" || words().any(|given| given == word);
    if shows("STAT_HEADER") {
        header(own, output)?;
    }
    if shows("DENSITY_VECTOR") {
        densities(own, &table, output);
    }
    if shows("HISTOGRAM") {
        // A columnstore index of the whole table has no key columns.
        let included = || table.indexes.iter().find(|index| index.index_id == own.stats_id)?.included.first().copied();
        let first = own.columns.first().copied().or_else(included).unwrap_or(0);
        histogram(own.values(), table.columns[first].ty, output);
    }
    if shows("STATS_STREAM") {
        stream(output);
    }
    Ok(())
}

/// The options, each a part that is to be shown but for the last.
const WORDS: &[&str] = &["STAT_HEADER", "DENSITY_VECTOR", "HISTOGRAM", "STATS_STREAM", "NO_INFOMSGS"];

/// A table as the session sees it.
struct TableOf {
    catalog: Arc<Catalog>,
    table: Arc<Table>,
    /// The session in the table's database.
    token: SecurityToken,
}

fn named_table(host: &SessionHost, name: &str, context: &ExecutionContext) -> Result<TableOf, SqlError> {
    let missing = || SqlError::table_or_object_not_found(name);
    let parts = names::parts(name).ok_or_else(missing)?;
    let database = match &parts.database {
        Some(name) => host.server.database(name).map_err(|_| missing())?,
        None => Arc::clone(context.database()),
    };
    let catalog = security::catalog_of(context, &database).ok_or_else(missing)?;
    let schema = parts.schema.as_deref().unwrap_or(DEFAULT_SCHEMA);
    let table = catalog.table(schema, &parts.name).cloned().ok_or_else(missing)?;
    let is_current = Arc::ptr_eq(&database, context.database());
    let elsewhere = if is_current { None } else { context.token_in(&database) };
    let token = elsewhere.unwrap_or_else(|| SecurityToken::clone(context.token()));
    Ok(TableOf { catalog, table, token })
}

/// Those of this name, or those that a query needed of the column of this name.
fn named_statistics<'a, 'b>(
    all: &'a [ShownStatistics<'b>],
    table: &Table,
    wanted: &str,
) -> Option<&'a ShownStatistics<'b>> {
    let of_column = || {
        let column = table.column(wanted)?;
        let mut automatic = all.iter().filter(|own| own.origin() == StatisticsOrigin::Automatic);
        automatic.find(|own| own.columns == [column])
    };
    all.iter().find(|own| own.name.eq_ignore_ascii_case(wanted)).or_else(of_column)
}

fn header(own: &ShownStatistics<'_>, output: &mut dyn Output) -> Result<(), SqlError> {
    const DAY: SqlType = text(20);
    let mut set = ResultSet::new(&[
        ("Name", NAME),
        ("Updated", DAY),
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
    row[0] = string(own.name);
    if let Some(values) = own.values() {
        let updated = views::datetime(values.updated_us);
        let number = |number: u64| Value::BigInt(i64::try_from(number).unwrap_or(i64::MAX));
        row[1] = convert(&updated, &SqlType::DateTime, &DAY, None)?;
        row[2] = number(values.rows);
        row[3] = number(values.sampled);
        row[4] = Value::SmallInt(i16::try_from(values.steps.len()).unwrap_or(i16::MAX));
        row[5] = Value::Real(density_within_steps(values) as f32);
        row[6] = Value::Real(values.widths.last().copied().unwrap_or(0.0) as f32);
        row[7] = string("NO ");
        row[9] = number(values.rows);
        row[10] = Value::Float(0.0);
    }
    set.push(row);
    set.send(output);
    Ok(())
}

/// One by the different values of the first column that end no step.
fn density_within_steps(values: &ValueStatistics) -> f64 {
    let distinct: f64 = values.steps.iter().map(|step| step.distinct_range).sum();
    if distinct > 0.0 { 1.0 / distinct } else { 0.0 }
}

/// For each number of columns from the first on: one by their different values, their length, their names.
fn densities(own: &ShownStatistics<'_>, table: &Table, output: &mut dyn Output) {
    let columns = [("All density", SqlType::Real), ("Average Length", SqlType::Real), ("Columns", text(4000))];
    let mut set = ResultSet::new(&columns);
    if let Some(values) = own.values() {
        let names: Vec<&str> = own.columns.iter().map(|column| table.columns[*column].name.as_str()).collect();
        for (place, (distinct, width)) in values.distinct.iter().zip(&values.widths).enumerate().take(names.len()) {
            let density = if *distinct > 0.0 { 1.0 / distinct } else { 1.0 };
            let names = string(names[..=place].join(", "));
            set.push(vec![Value::Real(density as f32), Value::Real(*width as f32), names]);
        }
    }
    set.send(output);
}

/// The keys have the type of the first column.
fn histogram(values: Option<&ValueStatistics>, key: SqlType, output: &mut dyn Output) {
    let columns = [
        ("RANGE_HI_KEY", key),
        ("RANGE_ROWS", SqlType::Real),
        ("EQ_ROWS", SqlType::Real),
        ("DISTINCT_RANGE_ROWS", SqlType::BigInt),
        ("AVG_RANGE_ROWS", SqlType::Real),
    ];
    let mut set = ResultSet::new(&columns);
    for step in values.iter().flat_map(|values| &values.steps) {
        set.push(vec![
            step.high.clone(),
            Value::Real(step.range_rows as f32),
            Value::Real(step.equal_rows as f32),
            Value::BigInt(step.distinct_range.round() as i64),
            Value::Real(step.average_range_rows() as f32),
        ]);
    }
    set.send(output);
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
