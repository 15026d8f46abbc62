//! CREATE, UPDATE and DROP STATISTICS, and the statistics of a table as views and procedures show them.
//!
//! Statistics of temporary tables are not kept: for these the statements only check their names.

use crate::host::SessionHost;
use crate::unsupported;
use pikepole_engine::{
    Catalog, DEFAULT_SCHEMA, Database, Object, Permission, SampleSize, SecurityToken, StatisticsDefinition,
    StatisticsOrigin, StatisticsRecord, Table, TableRecord, ValueStatistics,
};
use pikepole_query::{ExecutionContext, check_key_column};
use pikepole_tsql::{CreateStatistics, Drop, Literal, Name, ObjectName, SettingOption, SettingValue, UpdateStatistics};
use pikepole_types::SqlError;
use std::sync::Arc;

/// Columns of statistics at most.
const COLUMNS_MAX: usize = 32;

/// Statistics of a table: of an index, also where they were never updated, or of columns.
pub(crate) struct ShownStatistics<'a> {
    /// Their number in the table.
    pub(crate) stats_id: i32,
    /// Their name.
    pub(crate) name: &'a str,
    /// The places of their columns.
    pub(crate) columns: Vec<usize>,
    /// The condition of the index that they are of.
    pub(crate) filter: Option<&'a str>,
    /// Their record; `None` for those of an index that were never updated.
    record: Option<&'a StatisticsRecord>,
}

impl ShownStatistics<'_> {
    /// Their findings; `None` before the first update.
    pub(crate) fn values(&self) -> Option<&ValueStatistics> {
        self.record?.values.as_ref()
    }

    /// Their origin.
    pub(crate) fn origin(&self) -> StatisticsOrigin {
        self.record.map_or(StatisticsOrigin::Index, |record| record.origin)
    }

    /// NORECOMPUTE
    pub(crate) fn no_recompute(&self) -> bool {
        self.record.is_some_and(|record| record.no_recompute)
    }

    /// True when rows have changed since the last update, or there was none.
    pub(crate) fn are_out_of_date(&self, table: &Table) -> bool {
        self.values().is_none_or(|values| modifications(table, values) > 0)
    }
}

/// Rows of a table that have changed since statistics of it were updated.
pub(crate) fn modifications(table: &Table, values: &ValueStatistics) -> u64 {
    table.changes().saturating_sub(values.changes)
}

/// The statistics of a table: those of indexes, then those of columns, each in the order of their numbers.
pub(crate) fn of_table<'a>(catalog: &'a Catalog, table: &'a TableRecord) -> Vec<ShownStatistics<'a>> {
    let stored = catalog.statistics_of(table.object_id);
    let of_indexes = table.indexes.iter().filter(|index| index.xml.is_none()).map(|index| ShownStatistics {
        stats_id: index.index_id,
        name: &index.name,
        columns: index.columns.iter().map(|key| key.column).collect(),
        filter: index.filter.as_deref(),
        record: stored.and_then(|stored| stored.by_id(index.index_id)),
    });
    let entries = stored.into_iter().flat_map(|stored| &stored.entries);
    let of_columns = entries.filter(|entry| entry.origin != StatisticsOrigin::Index);
    let of_columns = of_columns.map(|entry| ShownStatistics {
        stats_id: entry.stats_id,
        name: &entry.name,
        columns: entry.columns.clone(),
        filter: None,
        record: Some(entry),
    });
    of_indexes.chain(of_columns).collect()
}

/// True for a session that may see values of these columns, which histograms are made of: it controls the table, or reads the columns
/// in all rows and without masks.
pub(crate) fn shows_values(token: &SecurityToken, catalog: &Catalog, table: &Arc<Table>, columns: &[usize]) -> bool {
    let securable = catalog.securable(&Object::Table(Arc::clone(table)));
    let has = |permission, column: usize| token.has_on_column(permission, securable, column as i32 + 1);
    let is_clear = |column: usize| table.columns[column].mask.is_none() || has(Permission::Unmask, column);
    token.has(Permission::Control, securable)
        || catalog.predicates_on(table.object_id).next().is_none()
            && columns.iter().all(|column| has(Permission::Select, *column) && is_clear(*column))
}

/// CREATE STATISTICS.
///
/// # Errors
/// 1088 without the table, 1911 without a column, 1909, 1904 and 1978 for columns that statistics cannot have, 1927 for a name that is
/// taken; of options as [`Options::of`].
pub(crate) async fn create(
    host: &SessionHost,
    create: &CreateStatistics,
    context: &mut ExecutionContext,
) -> Result<(), SqlError> {
    let options = Options::of(&create.options, "CREATE STATISTICS")?;
    if create.filter.is_some() {
        return Err(unsupported("CREATE STATISTICS with a filter"));
    }
    let home = enter(host, &create.table, context)?;
    let created = create_here(host, create, &options, context).await;
    context.move_back(&home);
    created
}

async fn create_here(
    host: &SessionHost,
    create: &CreateStatistics,
    options: &Options,
    context: &mut ExecutionContext,
) -> Result<(), SqlError> {
    let (name, shown) = (create.name.text.as_str(), create.table.dotted());
    let table = table_to_alter(&create.table, context).ok_or_else(|| SqlError::object_not_found(&shown))?;
    let columns = columns_of(&table, name, &create.columns)?;
    for place in &columns {
        check_key_column(&table, *place, (name, &shown), context, host)?;
    }
    if create.table.is_temporary() {
        return Ok(());
    }
    let definition = StatisticsDefinition {
        name,
        columns: &columns,
        origin: StatisticsOrigin::User,
        no_recompute: options.no_recompute,
    };
    context.begin_definition()?;
    let database = Arc::clone(context.database());
    database.create_statistics(context.transaction(), &table, &definition, options.size()).await?;
    context.end_definition().await.map_err(|fault| *fault)
}

/// The places of the columns that statistics are to have.
fn columns_of(table: &TableRecord, statistics: &str, names: &[Name]) -> Result<Vec<usize>, SqlError> {
    if names.len() > COLUMNS_MAX {
        let table = table.full_name();
        return Err(SqlError::too_many_key_columns("statistics", statistics, table, names.len(), COLUMNS_MAX));
    }
    let mut columns = Vec::with_capacity(names.len());
    for name in names {
        let place = table.column(&name.text).ok_or_else(|| SqlError::key_column_unknown(&name.text))?;
        if columns.contains(&place) {
            return Err(SqlError::key_column_twice("statistics", &name.text));
        }
        if table.columns[place].ty.is_max() {
            return Err(SqlError::statistics_column_type_invalid(&name.text, &table.name));
        }
        columns.push(place);
    }
    Ok(columns)
}

/// UPDATE STATISTICS.
///
/// # Errors
/// 2706 without the table, 2767 for a name that no statistics of it have; of options as [`Options::of`].
pub(crate) async fn update(
    host: &SessionHost,
    update: &UpdateStatistics,
    context: &mut ExecutionContext,
) -> Result<(), SqlError> {
    let options = Options::of(&update.options, "UPDATE STATISTICS")?;
    let home = enter(host, &update.table, context)?;
    let updated = update_here(update, &options, context).await;
    context.move_back(&home);
    updated
}

async fn update_here(
    update: &UpdateStatistics,
    options: &Options,
    context: &mut ExecutionContext,
) -> Result<(), SqlError> {
    let table = table_to_alter(&update.table, context);
    let table = table.ok_or_else(|| SqlError::table_missing(update.table.dotted()))?;
    if update.table.is_temporary() {
        return Ok(());
    }
    let wanted = wanted(&Arc::clone(context.catalog().definitions()), &table, update, options)?;
    update_these(&table, &wanted, options.no_recompute, context).await
}

/// The statistics that are to be updated, each with the rows that it is to be made of.
fn wanted(
    catalog: &Catalog,
    table: &Table,
    update: &UpdateStatistics,
    options: &Options,
) -> Result<Vec<(i32, SampleSize)>, SqlError> {
    let all = of_table(catalog, table);
    let size = |own: &ShownStatistics<'_>| if options.resample { resampled(own) } else { options.size() };
    if update.names.is_empty() {
        let own = all.iter().filter(|own| own.filter.is_none() && options.has_in_scope(own));
        return Ok(own.map(|own| (own.stats_id, size(own))).collect());
    }
    let one = |name: &Name| {
        let own = all.iter().find(|own| name.is(own.name)).ok_or_else(|| SqlError::statistics_missing(&name.text))?;
        match own.filter {
            Some(_) => Err(unsupported("UPDATE STATISTICS of a filtered index")),
            None => Ok((own.stats_id, size(own))),
        }
    };
    update.names.iter().map(one).collect()
}

/// Brings statistics of a table up to date, as one statement of the session's transaction.
///
/// # Errors
/// As of reading the table and of definitions.
pub(crate) async fn update_these(
    table: &Table,
    wanted: &[(i32, SampleSize)],
    no_recompute: bool,
    context: &mut ExecutionContext,
) -> Result<(), SqlError> {
    let mut sizes: Vec<SampleSize> = Vec::new();
    for (_, size) in wanted {
        if !sizes.contains(size) {
            sizes.push(*size);
        }
    }
    context.begin_definition()?;
    let database = Arc::clone(context.database());
    // Those of one size are made of one sample.
    for size in sizes {
        let of_size: Vec<i32> = wanted.iter().filter(|(_, own)| *own == size).map(|(stats_id, _)| *stats_id).collect();
        database.update_statistics(context.transaction(), table, &of_size, size, no_recompute).await?;
    }
    context.end_definition().await.map_err(|fault| *fault)
}

/// RESAMPLE: the share of the table that was read for the last update.
pub(crate) fn resampled(own: &ShownStatistics<'_>) -> SampleSize {
    match own.values() {
        Some(values) if values.sampled < values.rows => SampleSize::Share(values.sampled as f64 / values.rows as f64),
        Some(values) if values.rows > 0 => SampleSize::Full,
        _ => SampleSize::Default,
    }
}

/// DROP STATISTICS.
///
/// # Errors
/// 1053 for a name without a table, 3701 without the table or the statistics, 3739 for those of an index.
pub(crate) async fn drop(host: &SessionHost, drop: &Drop, context: &mut ExecutionContext) -> Result<(), SqlError> {
    let mut names = Vec::with_capacity(drop.names.len());
    for name in &drop.names {
        let Some(table) = name.schema.clone() else {
            return Err(SqlError::statistics_without_table());
        };
        let (schema, database) = (name.database.clone(), name.server.clone());
        names.push((name, ObjectName { server: None, database, schema, name: table }));
    }
    let Some((_, first)) = names.first() else { return Ok(()) };
    if names.iter().any(|(_, table)| table.database_str() != first.database_str()) {
        return Err(unsupported("DROP STATISTICS in several databases"));
    }
    let home = enter(host, first, context)?;
    let dropped = drop_here(&names, context).await;
    context.move_back(&home);
    dropped
}

async fn drop_here(names: &[(&ObjectName, ObjectName)], context: &mut ExecutionContext) -> Result<(), SqlError> {
    context.begin_definition()?;
    let database = Arc::clone(context.database());
    for (name, table_name) in names {
        let missing = || SqlError::object_missing("drop", "statistics", name.dotted());
        let table = table_to_alter(table_name, context).ok_or_else(missing)?;
        if table.indexes.iter().any(|index| name.name.is(&index.name)) {
            return Err(SqlError::index_not_statistics(name.dotted()));
        }
        let is_kept = !table_name.is_temporary();
        if is_kept && !database.drop_statistics(context.transaction(), &table, &name.name.text).await? {
            return Err(missing());
        }
    }
    context.end_definition().await.map_err(|fault| *fault)
}

/// Makes the database of a table the current one; the one that the session comes from.
fn enter(host: &SessionHost, table: &ObjectName, context: &mut ExecutionContext) -> Result<Arc<Database>, SqlError> {
    let home = Arc::clone(context.database());
    if let Some(database) = table.database_str().filter(|_| !table.is_temporary()) {
        let database = host.server.database(database)?;
        context.move_to(&database).map_err(|fault| *fault)?;
    }
    Ok(home)
}

/// A table of the session or of its database that it may alter.
fn table_to_alter(name: &ObjectName, context: &ExecutionContext) -> Option<Arc<Table>> {
    if name.is_temporary() {
        return context.temporary_table(&name.name.text);
    }
    let view = context.catalog();
    let catalog = view.definitions();
    let table = catalog.table(name.schema_str().unwrap_or(DEFAULT_SCHEMA), &name.name.text)?;
    let securable = catalog.securable(&Object::Table(table.clone()));
    context.token().has(Permission::Alter, securable).then(|| table.clone())
}

/// The statistics that UPDATE STATISTICS of a table without names is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scope {
    All,
    Columns,
    Indexes,
}

/// The options of WITH.
#[derive(Debug, Default)]
struct Options {
    size: Option<(SampleSize, &'static str)>,
    scope: Option<(Scope, &'static str)>,
    resample: bool,
    no_recompute: bool,
}

impl Options {
    /// # Errors
    /// 155 for an option that `statement` has not, 1052 for two that exclude each other, 1031 for a percentage that is none; 40517 for
    /// what this engine has not.
    fn of(options: &[SettingOption], statement: &'static str) -> Result<Options, SqlError> {
        let updates = statement.starts_with("UPDATE");
        let mut said = Options::default();
        for option in options {
            match (option.name.as_str(), &option.value) {
                ("FULLSCAN", None) => said.set_size(SampleSize::Full, "FULLSCAN", statement)?,
                ("SAMPLE", Some(SettingValue::Measure(count, unit))) => {
                    said.set_size(sample_size(count.literal(), unit)?, "SAMPLE", statement)?;
                }
                ("RESAMPLE", None) if updates => {
                    said.set_size(SampleSize::Default, "RESAMPLE", statement)?;
                    said.resample = true;
                }
                ("NORECOMPUTE", None) => said.no_recompute = true,
                ("ALL", None) if updates => said.set_scope(Scope::All, "ALL", statement)?,
                ("COLUMNS", None) if updates => said.set_scope(Scope::Columns, "COLUMNS", statement)?,
                ("INDEX", None) if updates => said.set_scope(Scope::Indexes, "INDEX", statement)?,
                // One worker makes statistics, which is within any bound.
                ("MAXDOP", Some(SettingValue::Expr(_))) => {}
                ("INCREMENTAL" | "PERSIST_SAMPLE_PERCENT" | "AUTO_DROP", Some(SettingValue::Off)) => {}
                (name @ ("INCREMENTAL" | "PERSIST_SAMPLE_PERCENT" | "AUTO_DROP"), Some(SettingValue::On))
                | (name @ ("STATS_STREAM" | "ROWCOUNT" | "PAGECOUNT" | "RESAMPLE"), Some(_)) => {
                    return Err(unsupported(format!("{statement} WITH {name}")));
                }
                (name, _) => return Err(SqlError::option_not_recognized(name, statement)),
            }
        }
        Ok(said)
    }

    fn set_size(&mut self, size: SampleSize, word: &'static str, statement: &str) -> Result<(), SqlError> {
        match self.size.replace((size, word)) {
            Some((_, other)) => Err(SqlError::options_conflict(statement, other, word)),
            None => Ok(()),
        }
    }

    fn set_scope(&mut self, scope: Scope, word: &'static str, statement: &str) -> Result<(), SqlError> {
        match self.scope.replace((scope, word)) {
            Some((_, other)) => Err(SqlError::options_conflict(statement, other, word)),
            None => Ok(()),
        }
    }

    fn size(&self) -> SampleSize {
        self.size.map_or(SampleSize::Default, |(size, _)| size)
    }

    fn has_in_scope(&self, own: &ShownStatistics<'_>) -> bool {
        let is_of_index = own.origin() == StatisticsOrigin::Index;
        match self.scope.map_or(Scope::All, |(scope, _)| scope) {
            Scope::All => true,
            Scope::Columns => !is_of_index,
            Scope::Indexes => is_of_index,
        }
    }
}

/// `SAMPLE n PERCENT`, `SAMPLE n ROWS`.
fn sample_size(count: Option<&Literal>, unit: &str) -> Result<SampleSize, SqlError> {
    let number: Option<f64> = match count {
        Some(Literal::Int(number)) => Some(f64::from(*number)),
        Some(Literal::Decimal(text)) => text.parse().ok(),
        _ => None,
    };
    let number = number.ok_or_else(|| unsupported("SAMPLE of a variable"))?;
    match unit {
        "PERCENT" if !(0.0..=100.0).contains(&number) => Err(SqlError::percent_out_of_range()),
        _ if number <= 0.0 => Err(unsupported("SAMPLE of no rows")),
        "PERCENT" => Ok(SampleSize::Share(number / 100.0)),
        _ => Ok(SampleSize::Rows(number as u64)),
    }
}
