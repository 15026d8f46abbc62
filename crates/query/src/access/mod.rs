//! The engine as plans and cursors see it: tables by name, scans over ranges of keys.

mod bounds;
mod names;
mod row_place;

use std::ops::Bound;
use std::sync::Arc;

use crate::bulk::ReadAhead;
use crate::executor::Run;
use crate::executor::parallel::{Filling, Team};
use crate::executor::spill::MemoryWait;
use crate::expression::Fault;
use crate::optimizer::{LOOKUP, table_rows};
use crate::output::DecimalName;
use crate::plan::Scan;
pub(crate) use bounds::equal_bound;
use bounds::{fill_prefix, fill_range, list_of, of_key, put_in_order, values_of};
pub use names::CatalogView;
pub(crate) use names::{OtherStamp, Place, meant_type};
pub(crate) use pikepole_engine::Need;
use pikepole_engine::{
    self as engine, Blocked, FilterTest, Locator, Met, Residence, ScanRange, TEMPDB, TableScan, TransactionId,
};
use pikepole_scheduler as scheduler;
use pikepole_scheduler::chaos::{self, Site};
use pikepole_tsql as tree;
use pikepole_tsql::bracketed;
use pikepole_types::{Collated, Collation, SqlError, SqlType, Value};
use row_place::Before;

/// Why an operator or statement stopped.
#[derive(Debug)]
pub(crate) enum Stop {
    /// Something must be awaited first.
    Blocked(Need),
    /// The quantum is over; there is more to read.
    Yield,
    /// A definition changed since the statement was bound.
    Stale,
    /// A row that the statement is to change has changed since it was found: the statement is undone and begins again. Names
    /// the table.
    Again(String),
    /// The rows of a function of the host's for these arguments must be fetched first.
    Rows(HostCall),
    /// The workers of a parallel plan must end first.
    Team(Arc<Team>),
    /// The session must begin or end the filling of an empty table first.
    Fill(Arc<Filling>),
    /// More of a file must be read first.
    File(Arc<ReadAhead>),
    /// There must be memory first, or rows be written or read that find none.
    Memory(MemoryWait),
    /// It failed.
    Error(Fault),
}

/// A call of a table-valued function of the host's: which of the statement's virtual tables it is, and its arguments.
#[derive(Debug)]
pub(crate) struct HostCall {
    /// The index among the statement's virtual tables.
    pub(crate) index: usize,
    /// The arguments' values.
    pub(crate) arguments: Vec<Value>,
}

impl From<Fault> for Stop {
    fn from(fault: Fault) -> Stop {
        Stop::Error(fault)
    }
}

impl From<Blocked> for Stop {
    fn from(blocked: Blocked) -> Stop {
        match blocked {
            Blocked::Need(need) => Stop::Blocked(need),
            Blocked::Error(error) => Stop::Error(error),
            Blocked::Stale => Stop::Stale,
        }
    }
}

/// What a plan was bound against: a database and a version of its catalog.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CatalogStamp {
    /// The database's id.
    pub database: i32,
    /// The catalog's version.
    pub version: u64,
    /// The version of the session's temporary tables; zero for a plan that uses none.
    pub temporary: u64,
    /// The nest level that temporary names are looked up at.
    pub level: i32,
}

impl CatalogStamp {
    /// The stamp of a plan for one run: no session is at it, so the next run has a plan made.
    pub(crate) const NEVER: CatalogStamp = CatalogStamp { database: 0, version: u64::MAX, temporary: 0, level: 0 };

    /// Whether a plan of this stamp is good for a session that is at `now`.
    #[inline]
    pub(crate) fn fits(&self, now: CatalogStamp) -> bool {
        let same = self.database == now.database && self.version == now.version;
        same && (self.temporary == 0 || (self.temporary == now.temporary && self.level == now.level))
    }
}

/// A column of a table, as the binder needs it.
#[derive(Debug)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// Its type.
    pub ty: SqlType,
    /// Whether it can hold NULL.
    pub nullable: bool,
    /// The text of its DEFAULT.
    pub default: Option<String>,
    /// Whether its values are computed: it takes none.
    pub computed: bool,
    /// The expression, where it is computed whenever it is read.
    pub when_read: Option<String>,
    /// Whether each change of the row gives it a new number.
    pub rowversion: bool,
    /// Whether it holds a bound of the row's period, which nobody gives it.
    pub generated: bool,
    /// Whether `*` leaves it out.
    pub hidden: bool,
    /// Which name its type has, if it is a decimal.
    pub decimal_name: DecimalName,
    /// How its texts compare.
    pub collation: Collation,
}

impl Column {
    /// What orders its texts in a key.
    pub(crate) fn order(&self) -> Collation {
        self.collation.comparing(&self.ty)
    }

    /// What its values bring to comparisons.
    pub(crate) fn collated(&self) -> Collated {
        Collated::of_stored(&self.ty, self.collation)
    }
}

/// A column of a key.
#[derive(Debug, Clone, Copy)]
pub struct KeyColumn {
    /// Its position among the table's columns.
    pub column: usize,
    /// Whether the largest value comes first.
    pub descending: bool,
}

/// A secondary index.
#[derive(Debug)]
pub struct Index {
    /// Its id.
    pub id: i32,
    /// Its key.
    pub key: Vec<KeyColumn>,
    /// Rows with NULL in one of these columns are not in it.
    pub not_null: Vec<usize>,
    /// Nor are rows that do not pass these tests.
    pub tests: Vec<FilterTest>,
    /// It is a hash index: it finds whole keys, and has no order.
    pub hash: bool,
}

impl Index {
    /// Whether the rows that an equality on the first column of its key wants are all in it, whatever they equal.
    pub(crate) fn serves_equality(&self) -> bool {
        let first = self.key.first().map(|key| key.column);
        self.leads_by_first() && self.tests.is_empty() && self.not_null.iter().all(|column| Some(*column) == first)
    }

    /// True when the first column of its key alone finds rows.
    pub(crate) fn leads_by_first(&self) -> bool {
        !self.hash || self.key.len() == 1
    }
}

/// A table of one catalog version.
#[derive(Debug)]
pub struct Table {
    /// The engine's table.
    pub engine: Arc<engine::Table>,
    /// Its object id.
    pub object_id: i32,
    /// Its name.
    pub name: String,
    /// `database.schema.name`, as error 2628 has it.
    pub display: String,
    /// The name of its database.
    pub database: String,
    /// Its columns.
    pub columns: Vec<Column>,
    /// The key of the clustered index; empty for a heap.
    pub key: Vec<KeyColumn>,
    /// Whether no two rows have the same key.
    pub key_unique: bool,
    /// The other indexes.
    pub indexes: Vec<Index>,
    /// The position of the identity column.
    pub identity: Option<usize>,
    /// A table-valued parameter.
    pub readonly: bool,
    /// Statistics of its values, as far as there are some.
    pub statistics: Option<Arc<engine::TableStatistics>>,
}

impl Table {
    /// Its name with the schema, and the database when that is another one, as if it stood at a place of the statement.
    pub(crate) fn object_name(&self, span: tree::Span) -> tree::ObjectName {
        let name = |text: &str| tree::Name { text: text.to_owned(), span };
        let schema = Some(name(self.engine.schema()));
        let elsewhere = matches!(self.engine.residence(), Residence::Other(_));
        let database = elsewhere.then(|| name(&self.database));
        tree::ObjectName { schema, database, ..tree::ObjectName::of(name(&self.name)) }
    }

    /// The name as T-SQL writes it.
    pub(crate) fn quoted_name(&self) -> String {
        match self.engine.residence() {
            Residence::Temporary | Residence::Variable => bracketed(&self.name),
            Residence::Database => format!("{}.{}", bracketed(&self.engine.schema), bracketed(&self.name)),
            Residence::Other(_) => {
                format!("{}.{}.{}", bracketed(&self.database), bracketed(&self.engine.schema), bracketed(&self.name))
            }
        }
    }

    fn new(engine: &Arc<engine::Table>, database: &str) -> Table {
        let key = |index: &engine::Index| {
            let columns =
                index.columns.iter().map(|column| KeyColumn { column: column.column, descending: column.descending });
            columns.collect::<Vec<_>>()
        };
        Table {
            object_id: engine.object_id,
            name: engine.name.clone(),
            display: display_name(engine, database),
            database: database.to_owned(),
            columns: engine
                .columns
                .iter()
                .map(|column| Column {
                    name: column.name.clone(),
                    ty: column.ty,
                    nullable: column.nullable,
                    default: column.default.as_ref().map(|default| default.text.clone()),
                    computed: column.computed.is_some(),
                    when_read: column.computed.as_ref().filter(|own| own.when_read).map(|own| own.text.clone()),
                    rowversion: column.rowversion,
                    generated: column.generated.is_some(),
                    hidden: column.hidden,
                    decimal_name: DecimalName::of_column(column),
                    collation: column.collation,
                })
                .collect(),
            key: engine.clustered().map(key).unwrap_or_default(),
            key_unique: engine.clustered().is_some_and(|index| index.unique),
            indexes: engine
                .live_indexes()
                .filter(|index| !index.clustered)
                .map(|index| Index {
                    id: index.index_id,
                    key: key(index),
                    not_null: index.not_null.clone(),
                    tests: index.tests.clone(),
                    hash: index.hash.is_some(),
                })
                .collect(),
            identity: engine.identity_column(),
            readonly: false,
            statistics: None,
            engine: Arc::clone(engine),
        }
    }

    /// Statistics of a column's values.
    pub(crate) fn statistics_of(&self, column: usize) -> Option<&engine::StatisticsRecord> {
        self.statistics.as_ref()?.of_column(column).filter(|own| own.values.is_some())
    }

    /// Its rows when statistics were last made of it, unless many have changed since.
    pub(crate) fn rows_known(&self) -> Option<u64> {
        let made = self.statistics.as_ref()?.entries.iter().filter_map(|entry| entry.values.as_ref());
        let newest = made.max_by_key(|values| values.updated_us)?;
        (self.engine.changes() <= newest.changes_max()).then_some(newest.rows)
    }

    /// True for a column that no two rows have the same value of.
    pub(crate) fn is_key(&self, column: usize) -> bool {
        let is_it = |index: &&engine::Index| index.unique && index.filter.is_none();
        let mut unique = self.engine.indexes.iter().filter(is_it);
        unique.any(|index| matches!(index.columns.as_slice(), [only] if only.column == column))
    }

    /// True for a column of a large table without statistics, or with statistics since which many rows have changed.
    pub(crate) fn wants_statistics(&self, column: usize) -> bool {
        let is_large = self.engine.pages_guessed() >= STATISTICS_PAGES_MIN;
        if !is_large || self.engine.residence() != Residence::Database {
            return false;
        }
        match self.statistics.as_ref().and_then(|own| own.of_column(column)) {
            None => self.columns[column].when_read.is_none() && can_have_statistics(&self.columns[column].ty),
            Some(own) => self.engine.changes() > changes_max(own),
        }
    }

    /// Whether it is a temporary table or a table variable.
    pub fn is_temporary(&self) -> bool {
        self.engine.residence().is_session()
    }

    /// What SET IDENTITY_INSERT knows the table by in a session that uses the database `own`: its database and its number there.
    pub(crate) fn identity_key(&self, own: i32) -> (i32, i32) {
        match self.engine.residence() {
            Residence::Other(id) => (id, self.object_id),
            _ => (own, self.object_id),
        }
    }

    /// The position of a column, by name.
    pub fn column(&self, name: &str) -> Option<usize> {
        let same = |column: &Column| {
            column.name.eq_ignore_ascii_case(name) || column.name.to_lowercase() == name.to_lowercase()
        };
        self.columns.iter().position(same)
    }

    /// `schema.name`.
    pub fn qualified_name(&self) -> String {
        self.engine.full_name()
    }
}

/// The table's count of changes up to which statistics are good.
pub(crate) fn changes_max(statistics: &engine::StatisticsRecord) -> u64 {
    match &statistics.values {
        _ if statistics.no_recompute => u64::MAX,
        Some(values) => values.changes_max(),
        None => 0,
    }
}

/// Pages of a table from which on a query makes statistics of it: some thousand rows.
const STATISTICS_PAGES_MIN: u64 = 64;

/// True for types whose values are worth statistics: they compare, and are short.
fn can_have_statistics(ty: &SqlType) -> bool {
    !ty.is_max() && !matches!(ty, SqlType::Xml | SqlType::Variant | SqlType::Text | SqlType::NText | SqlType::Image)
}

/// A table's name as error 2628 has it. Temporary tables have their place in tempdb in it, table variables stand alone.
fn display_name(engine: &engine::Table, database: &str) -> String {
    let (schema, name) = (&engine.schema, &engine.name);
    match engine.residence() {
        Residence::Database | Residence::Other(_) => format!("{database}.{schema}.{name}"),
        Residence::Temporary => format!("{TEMPDB}.{schema}.{}", tempdb_name(name, engine.object_id)),
        Residence::Variable => name.clone(),
    }
}

/// The name of a session's temporary table in tempdb, where others may have one that they call the same: filled up to 128
/// characters, of which the last twelve are its number.
pub fn tempdb_name(name: &str, object_id: i32) -> String {
    format!("{name:_<116}{:012X}", object_id.unsigned_abs())
}

/// The state of one scan: the engine's cursor and a buffer for the columns read.
pub(crate) struct ScanCursor {
    scan: Option<TableScan>,
    row: Vec<Value>,
    opened: bool,
    empty: bool,
    given: bool,
    /// The values of a point, or those in front of a list.
    key: Vec<Value>,
    /// Room for the values that a range's ends have in common.
    prefix: Vec<Value>,
    /// The values of a list whose rows are still to be read, the next one last.
    left: Vec<Value>,
    /// The values of a subquery that its rows are narrowed to.
    narrowed: Option<Vec<Value>>,
    /// The rows of those that were only counted.
    counted: u64,
    /// What is to be done before the next row is read.
    before: Before,
    pace: Pace,
    /// The cursor above asks about claims.
    tells: bool,
    /// The claimed row that it stands before, of which it gives the versions.
    claimed: Option<Claimed>,
}

/// A row that another transaction has changed and not ended.
struct Claimed {
    writer: TransactionId,
    /// The version to give next.
    next: Option<Version>,
    /// The number of errors of arithmetic before the version that was given last.
    failed: Option<usize>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Version {
    Newest,
    Former,
}

/// How often rows are read between two looks at the quantum. A join reads without giving any row up to its statement, so the
/// sources of rows look themselves.
#[derive(Debug, Default)]
pub(crate) struct Pace(u32);

/// Rows between two looks.
const ROWS_PER_LOOK: u32 = 64;

impl Pace {
    /// Counts a row about to be read.
    ///
    /// # Errors
    /// [`Stop::Yield`] when the quantum is over; the next call goes on.
    #[inline]
    pub(crate) fn step(&mut self) -> Result<(), Stop> {
        self.0 = self.0.wrapping_add(1);
        let is_over = self.0.is_multiple_of(ROWS_PER_LOOK) && scheduler::quantum_over();
        if is_over || chaos::stops(Site::Pace) {
            return Err(Stop::Yield);
        }
        Ok(())
    }

    /// The same before the rows of a page.
    ///
    /// # Errors
    /// As of [`Pace::step`].
    pub(crate) fn page() -> Result<(), Stop> {
        if scheduler::quantum_over() || chaos::stops(Site::Pace) {
            return Err(Stop::Yield);
        }
        Ok(())
    }
}

/// What a bound on a key column comes to.
pub(crate) enum KeyBound {
    Value(Value),
    /// Every value of the column is on the wanted side.
    All,
    /// No value is.
    Nothing,
}

impl ScanCursor {
    pub(crate) fn new(plan: &Scan) -> ScanCursor {
        ScanCursor {
            scan: None,
            row: vec![Value::Null; plan.wanted.len()],
            opened: false,
            empty: false,
            given: false,
            key: Vec::new(),
            prefix: Vec::new(),
            left: Vec::new(),
            narrowed: None,
            counted: 0,
            before: Before::Nothing,
            pace: Pace::default(),
            tells: false,
            claimed: None,
        }
    }

    /// The scan of rows that are asked whether they are claimed.
    pub(crate) fn telling(plan: &Scan) -> ScanCursor {
        ScanCursor { tells: true, ..ScanCursor::new(plan) }
    }

    /// Starts over.
    pub(crate) fn rewind(&mut self) {
        self.opened = false;
        self.claimed = None;
        self.before = Before::Nothing;
    }

    /// Where the last row is.
    pub(crate) fn locator(&self) -> Option<&Locator> {
        self.scan.as_ref().map(TableScan::locator)
    }

    fn open(&mut self, plan: &Scan, run: &mut Run<'_>) -> Result<(), Fault> {
        self.empty = false;
        self.given = false;
        self.counted = 0;
        self.left.clear();
        if plan.is_point() {
            self.key.resize(plan.range.prefix.len(), Value::Null);
            for at in 0..plan.range.prefix.len() {
                match equal_bound(&plan.range.prefix[at], &mut run.env())? {
                    KeyBound::Value(value) => self.key[at] = value,
                    _ => self.empty = true,
                }
            }
            if self.scan.is_none() {
                self.scan = Some(plan.table.engine.scan(ScanRange::all(), &plan.wanted).with_hints(plan.hints));
            }
        } else if let Some(values) = &self.narrowed {
            self.key.clear();
            self.left.clone_from(values);
            self.empty = !self.begin_next(plan);
        } else if !plan.range.among.is_empty() {
            self.open_list(plan, run)?;
        } else {
            self.open_range(plan, run)?;
        }
        self.opened = true;
        Ok(())
    }

    /// Begins with the first value of a list.
    fn open_list(&mut self, plan: &Scan, run: &mut Run<'_>) -> Result<(), Fault> {
        self.empty = true;
        match fill_prefix(plan, run, &mut self.prefix)? {
            None => {}
            Some(true) => match list_of(plan, run)? {
                Some(values) => {
                    std::mem::swap(&mut self.key, &mut self.prefix);
                    self.left = values;
                    self.empty = !self.begin_next(plan);
                }
                None => self.open_range(plan, run)?,
            },
            Some(false) => self.open_range(plan, run)?,
        }
        Ok(())
    }

    fn open_range(&mut self, plan: &Scan, run: &mut Run<'_>) -> Result<(), Fault> {
        let mut range = self.take_range();
        self.empty = !fill_range(plan, run, &mut self.prefix, &mut range)?;
        self.begin(plan, range);
        Ok(())
    }

    /// The range of the last run, to be filled.
    fn take_range(&mut self) -> ScanRange {
        self.scan.as_mut().map_or_else(ScanRange::all, TableScan::take_range)
    }

    fn begin(&mut self, plan: &Scan, range: ScanRange) {
        match &mut self.scan {
            Some(scan) => scan.restart(&plan.table.engine, range),
            None => self.scan = Some(plan.table.engine.scan(range, &plan.wanted).with_hints(plan.hints)),
        }
    }

    /// Goes on to the rows of the next value of a list; false when there is none.
    fn begin_next(&mut self, plan: &Scan) -> bool {
        let Some(value) = self.left.pop() else { return false };
        let mut range = self.take_range();
        for bound in [&mut range.from, &mut range.to] {
            let mut key = values_of(bound);
            key.clone_from(&self.key);
            key.push(value.clone());
            *bound = Bound::Included(key);
        }
        range.index = plan.range.index.or_else(|| plan.narrowed()?.index);
        range.reverse = plan.reverse;
        self.begin(plan, range);
        true
    }

    /// Narrows the scan to rows that have one of these values, when it opens next, if looking them up is less than reading all rows.
    pub(crate) fn narrow<'v>(&mut self, plan: &Scan, values: impl ExactSizeIterator<Item = &'v Value>) {
        self.narrowed = None;
        let rows = table_rows(&plan.table);
        let (key, secondary) = (plan.key(), plan.narrowed().is_some_and(|own| own.index.is_some()));
        // A column that is no key by itself is guessed to have as many values as there are rows for each.
        let each = if !secondary && plan.table.key_unique && key.len() == 1 { 1.0 } else { rows.sqrt() };
        let found = if secondary { each * LOOKUP } else { each };
        let (Some(column), true) = (key.first(), values.len() as f64 * (LOOKUP + found) < rows) else { return };
        let ty = plan.table.columns[column.column].ty;
        let mut list: Vec<Value> = values.filter_map(|value| of_key(value.clone(), &ty)).collect();
        put_in_order(&mut list, plan, column);
        self.narrowed = Some(list);
    }

    /// Moves to the next row and leaves its columns in the plan's registers. A scan that tells of claims gives the
    /// versions of a claimed row as rows, the newest one first: see [`ScanCursor::claim`].
    pub(crate) fn next(&mut self, plan: &Scan, run: &mut Run<'_>) -> Result<bool, Stop> {
        match self.before {
            Before::Nothing => {}
            Before::LetGo => self.let_go(plan, run)?,
            Before::ShowPlace => {
                self.show_place(plan, run)?;
                return Ok(true);
            }
        }
        if self.claimed.is_some() && self.next_version(plan, run)? {
            return Ok(true);
        }
        loop {
            self.pace.step()?;
            if !self.opened {
                self.open(plan, run)?;
            }
            match self.meet(plan, run)? {
                Met::Row => {
                    self.give(plan, run)?;
                    return Ok(true);
                }
                Met::End if self.begin_next(plan) => {}
                Met::End => return Ok(false),
                Met::Claimed(writer) if self.tells => {
                    self.claimed = Some(Claimed { writer, next: Some(Version::Newest), failed: None });
                    if self.next_version(plan, run)? {
                        return Ok(true);
                    }
                }
                Met::Claimed(writer) => return Err(self.wait_for(plan, writer, run)?),
            }
        }
    }

    /// Gives the next version of the claimed row. False: there is none, and the row is passed.
    #[cold]
    fn next_version(&mut self, plan: &Scan, run: &mut Run<'_>) -> Result<bool, Stop> {
        while let (Some(claimed), Some(scan)) = (&mut self.claimed, &mut self.scan) {
            if let Some(failed) = claimed.failed.take() {
                // The version before was no row of the statement's: its errors are dropped.
                run.functions.failed.truncate(failed);
            }
            let Some(version) = claimed.next else {
                self.claimed = None;
                scan.pass_claimed();
                self.given |= plan.is_point();
                break;
            };
            let (database, tx) = run.engine()?;
            let former = version == Version::Former;
            match database.try_read_claimed(tx, &plan.table.engine, scan, former, &mut self.row)? {
                // It cannot be read while its writer is at work.
                None => {
                    let writer = claimed.writer;
                    return Err(self.wait_for(plan, writer, run)?);
                }
                Some(is_there) => {
                    claimed.next = (version == Version::Newest).then_some(Version::Former);
                    if is_there {
                        claimed.failed = Some(run.functions.failed.len());
                        self.give(plan, run)?;
                        return Ok(true);
                    }
                }
            }
        }
        Ok(false)
    }

    /// The need to wait for the writer that claims the row at hand; it is read again then.
    fn wait_for(&mut self, plan: &Scan, writer: TransactionId, run: &mut Run<'_>) -> Result<Stop, Stop> {
        self.claimed = None;
        let Some(scan) = &self.scan else { return Ok(Stop::Yield) };
        let (database, tx) = run.engine()?;
        Ok(database.wait_for_claim(tx, &plan.table.engine, scan, writer).into())
    }

    /// The need to wait for a claim, if the row that was given last is a version of a claimed one: it is of use, or
    /// cannot be judged.
    pub(crate) fn claim(&mut self, plan: &Scan, run: &mut Run<'_>) -> Result<Option<Stop>, Stop> {
        let Some(claimed) = &self.claimed else { return Ok(None) };
        if let Some(failed) = claimed.failed {
            run.functions.failed.truncate(failed);
        }
        let writer = claimed.writer;
        self.wait_for(plan, writer, run).map(Some)
    }

    /// Tells if the row that was given last is a version of a claimed one.
    pub(crate) fn is_claimed(&self) -> bool {
        self.claimed.is_some()
    }

    /// The next row of the range that is open, or a claim.
    #[inline]
    fn meet(&mut self, plan: &Scan, run: &mut Run<'_>) -> Result<Met, Stop> {
        let Some(scan) = self.scan.as_mut().filter(|_| !self.empty) else {
            return Ok(Met::End);
        };
        let (database, tx) = run.engine()?;
        let table = &plan.table.engine;
        let row = &mut self.row;
        if !plan.is_point() {
            return Ok(match plan.hints.changes {
                true => database.try_next_or_claim(tx, table, scan, row)?,
                false if database.try_next(tx, table, scan, row)? => Met::Row,
                false => Met::End,
            });
        }
        if self.given {
            return Ok(Met::End);
        }
        let mut get = |key: &[&Value]| -> Result<Met, Blocked> {
            Ok(match plan.hints.changes {
                true => database.try_get_or_claim(tx, table, scan, key, row)?,
                false if database.try_get(tx, table, scan, key, row)? => Met::Row,
                false => Met::End,
            })
        };
        let met = match self.key.as_slice() {
            [key] => get(&[key])?,
            [first, second] => get(&[first, second])?,
            [first, second, third] => get(&[first, second, third])?,
            [first, second, third, fourth] => get(&[first, second, third, fourth])?,
            many => get(&many.iter().collect::<Vec<_>>())?,
        };
        self.given = !matches!(met, Met::Claimed(_));
        Ok(met)
    }

    /// Leaves the columns of the row that was read in the plan's registers, and its place where that is wanted.
    #[inline]
    fn give(&mut self, plan: &Scan, run: &mut Run<'_>) -> Result<(), Stop> {
        for (column, value) in plan.wanted.iter().zip(&mut self.row) {
            std::mem::swap(&mut run.slots[plan.registers.first + column], value);
        }
        if let (Some(place), Some(scan)) = (&plan.place, &self.scan) {
            run.slots[place.locator] = Value::Bin(scan.locator().as_bytes().to_vec());
            if place.is_shown() {
                return self.show_place(plan, run);
            }
        }
        Ok(())
    }

    /// The last row is of no use: it is not kept locked when the next one is asked for.
    #[inline]
    pub(crate) fn pass_over(&mut self) {
        self.before = Before::LetGo;
    }

    /// The number of rows of the whole scan, without reading their columns.
    pub(crate) fn count(&mut self, plan: &Scan, run: &mut Run<'_>) -> Result<u64, Stop> {
        if !self.opened {
            self.open(plan, run)?;
        }
        if plan.is_point() {
            return Ok(u64::from(self.next(plan, run)?));
        }
        loop {
            let Some(scan) = self.scan.as_mut().filter(|_| !self.empty) else {
                return Ok(0);
            };
            let (database, tx) = run.engine()?;
            self.counted += database.try_count(tx, &plan.table.engine, scan)?;
            if !self.begin_next(plan) {
                return Ok(self.counted);
            }
            self.pace.step()?;
        }
    }
}

/// Error 515 for the first column that must have a value and has none.
pub(crate) fn check_required(
    table: &Table,
    columns: impl IntoIterator<Item = usize>,
    row: &[Value],
    verb: &str,
) -> Result<(), Fault> {
    for column in columns {
        if row[column].is_null() && !table.columns[column].nullable {
            let name = &table.columns[column].name;
            return Err(Box::new(SqlError::null_not_allowed(name, &table.display, verb)));
        }
    }
    Ok(())
}
