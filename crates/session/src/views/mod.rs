//! The catalog and management views: which there are, their columns, and where their rows come from.
//!
//! A view is one row of the table [`VIEWS`]: a name, its columns as the public documentation lists them, and the function
//! that makes its rows. A row is built by column name, so that a value cannot land in the wrong column; a column that this
//! engine has nothing to say about stays NULL, or zero where it cannot be NULL.
//!
//! A table-valued function is one row of the table [`FUNCTIONS`]: a view, and the types of its arguments, which its rows find
//! converted in [`Source::arguments`]. FROM calls it as any function of the system, also at the right side of APPLY.

mod assemblies;
mod buffers;
mod call_trace;
mod collations;
pub(crate) mod columns;
mod compatibility;
mod connections;
mod constraints;
pub(crate) mod cursors;
pub(crate) mod databases;
mod dblog;
mod deadlocks;
pub(crate) mod dependencies;
pub(crate) mod described;
mod empty;
mod empty_catalog;
mod empty_management;
mod empty_scripting;
mod endpoints;
mod execution;
pub(crate) mod extended_properties;
pub(crate) mod files;
mod grants;
pub(crate) mod in_memory;
mod in_memory_checkpoints;
mod in_memory_transactions;
mod index_operations;
pub(crate) mod index_shapes;
mod index_uses;
mod indexes;
mod information_schema;
mod information_usage;
mod languages;
pub(crate) mod log;
pub(crate) mod machine;
mod memory;
mod modules_loaded;
mod my_permissions;
mod number_table;
pub(crate) mod objects;
mod older;
pub(crate) mod partitions;
mod periods;
mod query_profiles;
mod ring_buffers;
mod runs;
mod schedulers;
mod security;
mod security_policies;
mod sequences;
mod servers;
mod services;
mod space;
mod statistics;
pub(crate) mod system_objects;
mod table_statistics;
pub(crate) mod texts;
mod threads;
mod time_zones;
pub(crate) mod transactions;
mod triggers;
mod types;
mod volumes;
mod waiting;

use crate::host::SessionHost;
use crate::modules;
use crate::registry::Registry;
use crate::security as security_of;
use pikepole_engine::{Catalog, DEFAULT_SCHEMA, Database, Lsn, Module, SecurityToken, Server};
use pikepole_query::{ColumnInfo, tempdb_name};
use pikepole_types::{DateTime, Decimal, Length, SecondName, SqlError, SqlType, Value, Variant};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What a view's rows are made from.
pub(crate) struct Source<'a> {
    /// The session that asks.
    pub(crate) host: &'a SessionHost,
    /// The server.
    pub(crate) server: &'a Server,
    /// The session's current database.
    pub(crate) database: &'a Arc<Database>,
    /// Its catalog as the session sees it.
    pub(crate) catalog: &'a Catalog,
    /// Who asks.
    pub(crate) token: &'a SecurityToken,
    /// The sessions of the server.
    pub(crate) registry: &'a Registry,
    /// Rows of each table by object id; filled only for a view that asks for them ([`View::counts_rows`]).
    pub(crate) row_counts: BTreeMap<i32, u64>,
    /// The rows of each partition of the tables that have some.
    pub(crate) partition_rows: BTreeMap<i32, Vec<u64>>,
    /// The columns of each view by object id; filled only for a view that asks for them ([`View::shows_columns`]).
    pub(crate) view_columns: BTreeMap<i32, Vec<ColumnInfo>>,
    /// The columns that each CHECK constraint reads, by object id; filled only for a view that asks for them
    /// ([`View::shows_checked_columns`]).
    pub(crate) checked_columns: BTreeMap<i32, Vec<usize>>,
    /// The values of a function's arguments, one for each parameter and of its type, or NULL; none for a view.
    pub(crate) arguments: &'a [Value],
}

impl Source<'_> {
    /// The argument at this place as bytes; `None` for NULL, which DEFAULT is too.
    pub(crate) fn bytes(&self, place: usize) -> Option<&[u8]> {
        match self.arguments.get(place) {
            Some(Value::Bin(bytes)) => Some(bytes),
            _ => None,
        }
    }

    /// The argument at this place as an integer; `None` for NULL, which DEFAULT is too.
    pub(crate) fn integer(&self, place: usize) -> Option<i64> {
        self.arguments.get(place).and_then(Value::as_i64)
    }

    /// The text of a procedure or view, for who may read it; of one WITH ENCRYPTION nobody may.
    pub(crate) fn shown_text<'m>(&self, module: &'m Module) -> Option<&'m str> {
        let shown = security_of::shows_text(self.token, self.catalog, module.object_id);
        (shown && !modules::is_encrypted(&module.text)).then_some(module.text.as_str())
    }

    /// The databases that are open.
    pub(crate) fn every_database(&self) -> Vec<Arc<Database>> {
        every_database(self.server)
    }

    /// The open databases that a function's argument at this place names: one by its id, all for NULL.
    pub(crate) fn databases(&self, place: usize) -> Vec<Arc<Database>> {
        let wanted = self.integer(place);
        let mut databases = self.every_database();
        databases.retain(|database| wanted.is_none_or(|wanted| wanted == i64::from(database.id())));
        databases
    }

    /// The open database that a function's argument at this place names by its id; the current one for NULL.
    pub(crate) fn one_database(&self, place: usize) -> Option<Arc<Database>> {
        match self.integer(place) {
            None => Some(Arc::clone(self.database)),
            Some(id) => self.server.database_by_id(i32::try_from(id).ok()?),
        }
    }
}

/// The databases that are open.
pub(crate) fn every_database(server: &Server) -> Vec<Arc<Database>> {
    server.databases().into_iter().filter_map(|info| server.database_by_id(info.id)).collect()
}

/// The type of a view's column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Bit,
    TinyInt,
    SmallInt,
    Int,
    BigInt,
    Real,
    Float,
    DateTime,
    /// `numeric(25, 0)`: log sequence numbers.
    Lsn,
    /// `sysname`: nvarchar(128).
    Name,
    /// `nvarchar(n)`.
    Text(u16),
    /// `nvarchar(max)`.
    LongText,
    /// `char(2)`, the type codes of objects.
    Code,
    /// `char(n)`.
    Char(u16),
    /// `varbinary(8)`: addresses; `varbinary(85)`: security ids.
    Bytes(u16),
    Guid,
    Variant,
    Xml,
}

impl Kind {
    /// The type as the query machine knows it.
    pub(crate) fn sql_type(self) -> SqlType {
        match self {
            Kind::Bit => SqlType::Bit,
            Kind::TinyInt => SqlType::TinyInt,
            Kind::SmallInt => SqlType::SmallInt,
            Kind::Int => SqlType::Int,
            Kind::BigInt => SqlType::BigInt,
            Kind::Real => SqlType::Real,
            Kind::Float => SqlType::Float,
            Kind::DateTime => SqlType::DateTime,
            Kind::Lsn => SqlType::Decimal { precision: 25, scale: 0 },
            Kind::Name => SqlType::NVarChar(Length::Limit(128)),
            Kind::Text(length) => SqlType::NVarChar(Length::Limit(length)),
            Kind::LongText => SqlType::NVarChar(Length::Max),
            Kind::Code => SqlType::Char(2),
            Kind::Char(length) => SqlType::Char(length),
            Kind::Bytes(length) => SqlType::VarBinary(Length::Limit(length)),
            Kind::Guid => SqlType::UniqueIdentifier,
            Kind::Variant => SqlType::Variant,
            Kind::Xml => SqlType::Xml,
        }
    }

    /// The number of its alias type: names are of `sysname`.
    fn alias_type(self) -> Option<i32> {
        let second = matches!(self, Kind::Name).then(|| SecondName::by_name("sysname")).flatten();
        second.map(|second| second.user_type_id)
    }

    /// What a column that cannot be NULL holds when nothing is said about it.
    fn zero(self) -> Value {
        match self {
            Kind::Bit => Value::Bit(false),
            Kind::TinyInt => Value::TinyInt(0),
            Kind::SmallInt => Value::SmallInt(0),
            Kind::Int => Value::Int(0),
            Kind::BigInt => Value::BigInt(0),
            Kind::Real => Value::Real(0.0),
            Kind::Float => Value::Float(0.0),
            Kind::DateTime => datetime(0),
            Kind::Lsn => Value::Decimal(Decimal::from_i64(0)),
            Kind::Name | Kind::Text(_) | Kind::LongText | Kind::Code | Kind::Xml => Value::Str(String::new()),
            Kind::Char(length) => Value::Str(" ".repeat(usize::from(length))),
            Kind::Bytes(length) => Value::Bin(vec![0; usize::from(length.min(8))]),
            Kind::Guid => Value::Guid([0; 16]),
            Kind::Variant => Value::Null,
        }
    }

    /// An integer in this column's own type; a value out of its range is cut to it.
    fn integer(self, number: i64) -> Value {
        match self {
            Kind::Bit => Value::Bit(number != 0),
            Kind::TinyInt => Value::TinyInt(number.clamp(0, 255) as u8),
            Kind::SmallInt => Value::SmallInt(number.clamp(i64::from(i16::MIN), i64::from(i16::MAX)) as i16),
            Kind::Int => Value::Int(number.clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32),
            Kind::Real => Value::Real(number as f32),
            Kind::Float => Value::Float(number as f64),
            Kind::Variant => in_variant(SqlType::Int, Kind::Int.integer(number)),
            _ => Value::BigInt(number),
        }
    }
}

/// One column: its name, its type, whether it can be NULL.
pub(crate) type ColumnOf = (&'static str, Kind, Nullable);

/// Whether a column can be NULL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Nullable {
    Yes,
    No,
}
use Nullable::{No, Yes};
pub(crate) use indexes::index_type;

/// Says that a view's columns are `$shared` and then the listed ones.
macro_rules! columns_of {
    ($shared:path; $($more:expr),* $(,)?) => {{
        const MORE: &[$crate::views::ColumnOf] = &[$($more),*];
        const ALL: [$crate::views::ColumnOf; $shared.len() + MORE.len()] = $crate::views::concatenate($shared, MORE);
        &ALL
    }};
}
pub(crate) use columns_of;

/// Two lists of columns one after the other.
const fn concatenate<const N: usize>(first: &[ColumnOf], second: &[ColumnOf]) -> [ColumnOf; N] {
    assert!(first.len() + second.len() == N);
    let mut all = [("", Kind::Int, No); N];
    let mut place = 0;
    while place < N {
        all[place] = if place < first.len() { first[place] } else { second[place - first.len()] };
        place += 1;
    }
    all
}

/// The rows under construction: each a list of values in the order of the columns.
pub(crate) type Rows = Vec<Vec<Value>>;

/// A view.
pub(crate) struct View {
    /// `sys` or `INFORMATION_SCHEMA`; `dbo` for what belongs to master and is in no list of another database's views.
    pub(crate) schema: &'static str,
    /// Its name.
    pub(crate) name: &'static str,
    /// Its columns.
    pub(crate) columns: &'static [ColumnOf],
    /// Makes its rows.
    pub(crate) rows: fn(&View, &Source<'_>) -> Result<Rows, SqlError>,
}

/// A table-valued function: its schema, name, columns and rows as a view has them, and its parameters.
pub(crate) struct Function {
    pub(crate) view: View,
    /// The parameters' types, in order.
    pub(crate) parameters: &'static [Kind],
}

/// Every table-valued function of every module.
const FUNCTIONS: &[&[Function]] = &[
    log::FUNCTIONS,
    files::FUNCTIONS,
    dblog::FUNCTIONS,
    extended_properties::FUNCTIONS,
    collations::FUNCTIONS,
    my_permissions::FUNCTIONS,
    cursors::FUNCTIONS,
    texts::FUNCTIONS,
    described::FUNCTIONS,
    volumes::FUNCTIONS,
    services::FUNCTIONS,
    empty_management::FUNCTIONS,
    index_shapes::FUNCTIONS,
    index_operations::FUNCTIONS,
    table_statistics::FUNCTIONS,
    dependencies::FUNCTIONS,
];

/// Every view of every module.
const VIEWS: &[&[View]] = &[
    statistics::VIEWS,
    schedulers::VIEWS,
    threads::VIEWS,
    execution::VIEWS,
    query_profiles::VIEWS,
    connections::VIEWS,
    databases::VIEWS,
    files::VIEWS,
    log::VIEWS,
    transactions::VIEWS,
    machine::VIEWS,
    memory::VIEWS,
    modules_loaded::VIEWS,
    security::VIEWS,
    objects::VIEWS,
    security_policies::VIEWS,
    periods::VIEWS,
    partitions::VIEWS,
    columns::VIEWS,
    types::VIEWS,
    assemblies::VIEWS,
    sequences::VIEWS,
    triggers::VIEWS,
    extended_properties::VIEWS,
    indexes::VIEWS,
    table_statistics::VIEWS,
    index_uses::VIEWS,
    in_memory::VIEWS,
    in_memory_checkpoints::VIEWS,
    in_memory_transactions::VIEWS,
    information_schema::VIEWS,
    information_usage::VIEWS,
    constraints::VIEWS,
    compatibility::VIEWS,
    languages::VIEWS,
    time_zones::VIEWS,
    texts::VIEWS,
    waiting::VIEWS,
    servers::VIEWS,
    space::VIEWS,
    ring_buffers::VIEWS,
    runs::VIEWS,
    volumes::VIEWS,
    services::VIEWS,
    buffers::VIEWS,
    grants::VIEWS,
    empty::VIEWS,
    empty_catalog::VIEWS,
    empty_management::VIEWS,
    empty_scripting::VIEWS,
    endpoints::VIEWS,
    number_table::VIEWS,
    older::VIEWS,
    dependencies::VIEWS,
    deadlocks::VIEWS,
    call_trace::VIEWS,
];

/// The view or function of this schema and name, with the number that finds it again. Those of `sys` that older scripts name
/// without a schema (`sysprocesses`, `fn_...`) are found without one.
pub(crate) fn find(schema: Option<&str>, name: &str) -> Option<(u32, &'static View)> {
    let named = |view: &View| {
        view.name.eq_ignore_ascii_case(name)
            && match schema {
                Some(schema) => view.schema.eq_ignore_ascii_case(schema) || compatible(schema, view),
                None => is_compatibility_view(view),
            }
    };
    let number = all().position(named)?;
    Some((number as u32, by_number(number as u32)?))
}

/// `dbo.sysprocesses` names the same view as `sys.sysprocesses`.
fn compatible(schema: &str, view: &View) -> bool {
    schema.eq_ignore_ascii_case("dbo") && is_compatibility_view(view)
}

fn is_compatibility_view(view: &View) -> bool {
    view.name.starts_with("sys") || view.name.starts_with("fn_") || !view.is_listed()
}

/// The types of the parameters of what [`find`] gave this number; `None` for a view.
pub(crate) fn parameters(number: u32) -> Option<&'static [Kind]> {
    let views = VIEWS.iter().map(|views| views.len()).sum();
    functions().nth((number as usize).checked_sub(views)?).map(|function| function.parameters)
}

fn functions() -> impl Iterator<Item = &'static Function> {
    FUNCTIONS.iter().flat_map(|functions| functions.iter())
}

/// The object id of the view with this number: negative, as those of all system objects.
pub(crate) fn object_id(number: u32) -> i32 {
    -1000 - number as i32
}

/// The view with this object id.
pub(crate) fn by_object_id(object_id: i32) -> Option<&'static View> {
    by_number(u32::try_from(-1000 - i64::from(object_id)).ok()?)
}

/// The view that [`find`] gave this number.
pub(crate) fn by_number(number: u32) -> Option<&'static View> {
    all().nth(number as usize)
}

/// All views and then all functions, in the order of their numbers.
pub(crate) fn all() -> impl Iterator<Item = &'static View> {
    VIEWS.iter().flat_map(|views| views.iter()).chain(functions().map(|function| &function.view))
}

/// What `sys.all_objects` says of the kind of what [`find`] gave this number.
pub(crate) fn object_kind(number: u32) -> (&'static str, &'static str) {
    match parameters(number) {
        None => ("V ", "VIEW"),
        Some(_) => ("TF", "SQL_TABLE_VALUED_FUNCTION"),
    }
}

impl View {
    /// The columns as the binder wants them.
    pub(crate) fn column_infos(&self) -> Vec<ColumnInfo> {
        self.columns
            .iter()
            .map(|(name, kind, nullable)| ColumnInfo {
                user_type: kind.alias_type(),
                ..ColumnInfo::new(*name, kind.sql_type(), *nullable == Yes)
            })
            .collect()
    }

    /// Whether it is among the views of the system that each database shows.
    pub(crate) fn is_listed(&self) -> bool {
        self.schema != DEFAULT_SCHEMA
    }

    /// Whether its rows show how many rows tables have, which takes a scan of each.
    pub(crate) fn counts_rows(&self) -> bool {
        matches!(self.name, "partitions" | "dm_db_partition_stats" | "sysindexes")
    }

    /// Whether its rows are made of pages that are read for it: [`index_shapes::read`].
    pub(crate) fn reads_pages(&self) -> bool {
        self.name == "dm_db_index_physical_stats"
    }

    /// Tells if its rows are made by a walk along the rows of in-memory tables: [`in_memory::read_chains`].
    pub(crate) fn walks_rows(&self) -> bool {
        self.name == "dm_db_xtp_hash_index_stats"
    }

    /// Whether its rows tell of a text that is to be compiled: [`described::read`].
    pub(crate) fn describes_a_text(&self) -> bool {
        self.name.starts_with("dm_exec_describe_first_result_set")
    }

    /// Whether its rows show the columns of users' views and functions, which takes compiling each.
    pub(crate) fn shows_columns(&self) -> bool {
        matches!(
            self.name,
            "columns"
                | "all_columns"
                | "system_columns"
                | "identity_columns"
                | "COLUMNS"
                | "ROUTINE_COLUMNS"
                | "VIEW_TABLE_USAGE"
                | "VIEW_COLUMN_USAGE"
                | "COLUMN_PRIVILEGES"
                | "syscolumns"
                | "fn_my_permissions"
                | "sql_expression_dependencies"
                | "sql_dependencies"
                | "sysdepends"
                | "dm_sql_referenced_entities"
                | "dm_sql_referencing_entities"
        )
    }

    /// Whether its rows show the columns that CHECK constraints read, which takes binding each.
    pub(crate) fn shows_checked_columns(&self) -> bool {
        self.name == "CONSTRAINT_COLUMN_USAGE"
    }

    /// A row in which nothing has been said yet.
    pub(crate) fn row(&self) -> RowBuilder {
        let values = self
            .columns
            .iter()
            .map(|(_, kind, nullable)| if *nullable == No { kind.zero() } else { Value::Null })
            .collect();
        RowBuilder { columns: self.columns, values }
    }
}

/// A row of a view, built by column name.
pub(crate) struct RowBuilder {
    columns: &'static [ColumnOf],
    values: Vec<Value>,
}

impl RowBuilder {
    /// The place and type of a column. The views' own tests build every view, so a wrong name cannot reach a user.
    fn column(&self, name: &str) -> (usize, Kind) {
        let place = self.columns.iter().position(|(column, _, _)| *column == name);
        let place = place.unwrap_or_else(|| panic!("a view has no column `{name}`"));
        (place, self.columns[place].1)
    }

    /// Sets an integer, in the column's own type.
    pub(crate) fn integer(mut self, name: &str, number: impl TryInto<i64>) -> Self {
        let (place, kind) = self.column(name);
        self.values[place] = kind.integer(number.try_into().unwrap_or(i64::MAX));
        self
    }

    /// Sets a bit.
    pub(crate) fn bit(self, name: &str, value: bool) -> Self {
        self.integer(name, i64::from(value))
    }

    /// Sets a `float` or `real`.
    pub(crate) fn float(mut self, name: &str, number: f64) -> Self {
        let (place, kind) = self.column(name);
        self.values[place] = if kind == Kind::Real { Value::Real(number as f32) } else { Value::Float(number) };
        self
    }

    /// Sets a log sequence number, in a numeric column or as text.
    pub(crate) fn lsn(mut self, name: &str, lsn: Lsn) -> Self {
        let (place, kind) = self.column(name);
        self.values[place] = match kind {
            Kind::Lsn => Value::Decimal(Decimal::from_i64(i64::try_from(lsn.0).unwrap_or(i64::MAX))),
            _ => Value::Str(lsn.to_string()),
        };
        self
    }

    /// Sets a log sequence number when there is one.
    pub(crate) fn lsn_if(self, name: &str, lsn: Option<Lsn>) -> Self {
        match lsn {
            Some(lsn) => self.lsn(name, lsn),
            None => self,
        }
    }

    /// Sets a text, in a `sql_variant` column one of `nvarchar`.
    pub(crate) fn text(mut self, name: &str, text: impl Into<String>) -> Self {
        let (place, kind) = self.column(name);
        let text: String = text.into();
        self.values[place] = match kind {
            Kind::Variant => in_variant(SqlType::NVarChar(Length::Limit(TEXT_UNITS_MAX)), Value::Str(text)),
            Kind::Char(length) => Value::Str(format!("{text:<width$}", width = usize::from(length))),
            _ => Value::Str(text),
        };
        self
    }

    /// Sets a text when there is one.
    pub(crate) fn text_if(self, name: &str, text: Option<impl Into<String>>) -> Self {
        match text {
            Some(text) => self.text(name, text),
            None => self,
        }
    }

    /// Sets an address-like column from a number.
    pub(crate) fn address(self, name: &str, number: u64) -> Self {
        self.value(name, Value::Bin(number.to_be_bytes().to_vec()))
    }

    /// Sets any value; its type must be the column's.
    pub(crate) fn value(mut self, name: &str, value: Value) -> Self {
        let (place, _) = self.column(name);
        self.values[place] = value;
        self
    }

    /// Sets a moment given in microseconds since 1970 (UTC), shown as `datetime`.
    pub(crate) fn moment(self, name: &str, unix_us: impl TryInto<u64>) -> Self {
        self.value(name, datetime(unix_us.try_into().unwrap_or(0)))
    }

    /// The finished row.
    pub(crate) fn done(self) -> Vec<Value> {
        self.values
    }
}

/// UTF-16 units of a text in a `sql_variant`.
const TEXT_UNITS_MAX: u16 = 4000;

/// The name of an object as the views of tempdb have it: that of a session's temporary table carries its number.
fn shown_name(name: &str, object_id: i32) -> Cow<'_, str> {
    let is_local = name.starts_with('#') && !name.starts_with("##");
    if is_local { tempdb_name(name, object_id).into() } else { name.into() }
}

pub(crate) fn in_variant(ty: SqlType, value: Value) -> Value {
    Variant::new(ty, value).map_or(Value::Null, |variant| Value::Variant(Box::new(variant)))
}

/// Microseconds since 1970, now.
pub(crate) fn now_us() -> u64 {
    u64::try_from(pikepole_machine::clock::unix_time_us()).unwrap_or(0)
}

/// A moment of the monotonic clock, in microseconds since 1970.
pub(crate) fn unix_us(monotonic_us: u64) -> u64 {
    now_us().saturating_sub(pikepole_machine::clock::now_us().saturating_sub(monotonic_us))
}

/// Microseconds since 1970 as a `datetime` (UTC).
pub(crate) fn datetime(unix_us: u64) -> Value {
    /// Days from 1900-01-01 to 1970-01-01.
    const EPOCH_DAYS: i64 = 25_567;
    /// Ticks of 1/300 s in a day.
    const DAY_TICKS: i64 = 86_400 * 300;
    let ticks = i64::try_from(u128::from(unix_us) * 3 / 10_000).unwrap_or(i64::MAX);
    ticks.checked_add(EPOCH_DAYS * DAY_TICKS).and_then(DateTime::from_ticks).map_or(Value::Null, Value::DateTime)
}

#[cfg(test)]
mod tests;
