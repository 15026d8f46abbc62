//! DBCC CHECKDB and its parts, on a database that is in use.
//!
//! ```text
//!   CHECKALLOC       every page by itself ─┐
//!   CHECKCATALOG     definitions ──────────┼─► CHECKDB, CHECKFILEGROUP
//!   CHECKTABLE       rows and indexes ─────┘
//! ```
//! Nobody waits for a check: tables are read by a snapshot each, pages one at a time. What is damaged is told by SQL
//! Server's messages; the data file is number 1. Nothing is repaired.

use std::sync::Arc;

use pikepole_contention::sync::atomic::{AtomicBool, Ordering};
use pikepole_engine::{Database, Interrupted, PageFinding, Table, TableFinding};
use pikepole_query::{ExecutionContext, Output, Progress};
use pikepole_tsql::{Dbcc, DbccArgument, ObjectName};
use pikepole_types::{SqlError, SqlType, Value};

use crate::dbcc::named_database;
use crate::host::SessionHost;
use crate::result_set::{ResultSet, string, text};
use crate::unsupported;

/// Percent of the whole that the pages are; the rest are rows and entries.
const PAGES_PERCENT: u64 = 40;
/// Rows that a page is guessed to have, for how far a check is.
const ROWS_A_PAGE: u64 = 100;
/// Bytes for an entry of an index that is looked at again, and for a table: what ESTIMATEONLY tells.
const ESTIMATED_BYTES_A_TABLE: u64 = 65_536;

/// What the options say.
#[derive(Debug, Clone, Copy, Default)]
struct Options {
    quiet: bool,
    physical_only: bool,
    no_index: bool,
    estimate_only: bool,
    as_table: bool,
}

fn options(command: &Dbcc, mode: Option<&DbccArgument>) -> Result<Options, SqlError> {
    let mut options = Options::default();
    for option in &command.options {
        match option.name.as_str() {
            "NO_INFOMSGS" => options.quiet = true,
            "PHYSICAL_ONLY" => options.physical_only = true,
            "ESTIMATEONLY" => options.estimate_only = true,
            "TABLERESULTS" => options.as_table = true,
            // All messages are shown, values are judged when they are read, and no lock of a table makes a difference.
            "ALL_ERRORMSGS" | "TABLOCK" | "DATA_PURITY" | "EXTENDED_LOGICAL_CHECKS" | "MAXDOP" => {}
            _ => return Err(SqlError::incorrect_dbcc()),
        }
    }
    match mode.and_then(DbccArgument::text).map(|mode| mode.to_ascii_uppercase()).as_deref() {
        None => {}
        Some("NOINDEX") => options.no_index = true,
        Some(repair @ ("REPAIR_ALLOW_DATA_LOSS" | "REPAIR_FAST" | "REPAIR_REBUILD")) => {
            return Err(unsupported(format!("DBCC {} with {repair}", command.name)));
        }
        Some(_) => return Err(SqlError::incorrect_dbcc()),
    }
    Ok(options)
}

/// Where the findings of a check go, and how many there were.
struct Report<'a> {
    output: &'a mut dyn Output,
    options: Options,
    rows: ResultSet,
    database_id: i32,
    /// The line of the statement.
    line: u32,
    allocation_errors: usize,
    consistency_errors: usize,
    /// The number of the error that was told last.
    last_error: i32,
}

/// What a message is about, for WITH TABLERESULTS.
#[derive(Debug, Clone, Copy, Default)]
struct About {
    object_id: Option<i32>,
    index_id: Option<i32>,
    page: Option<u32>,
}

impl<'a> Report<'a> {
    fn new(output: &'a mut dyn Output, options: Options, database: &Database, line: u32) -> Self {
        let int = SqlType::Int;
        let rows = ResultSet::new(&[
            ("Error", int),
            ("Level", int),
            ("State", int),
            ("MessageText", text(4000)),
            ("RepairLevel", text(22)),
            ("Status", int),
            ("DbId", SqlType::SmallInt),
            ("DbFragId", SqlType::SmallInt),
            ("ObjectId", int),
            ("IndexId", int),
            ("PartitionId", SqlType::BigInt),
            ("AllocUnitId", SqlType::BigInt),
            ("RidDbId", SqlType::SmallInt),
            ("RidPruId", SqlType::SmallInt),
            ("File", SqlType::SmallInt),
            ("Page", int),
            ("Slot", int),
            ("RefDbId", SqlType::SmallInt),
            ("RefPruId", SqlType::SmallInt),
            ("RefFile", SqlType::SmallInt),
            ("RefPage", int),
            ("RefSlot", int),
            ("Allocation", SqlType::SmallInt),
        ]);
        let database_id = database.id();
        let (allocation_errors, consistency_errors) = (0, 0);
        Report { output, options, rows, database_id, line, allocation_errors, consistency_errors, last_error: 0 }
    }

    /// Something that is not wrong.
    fn tell(&mut self, message: &SqlError, about: About) {
        if !self.options.quiet {
            self.tell_always(message, about);
        }
    }

    /// Something that is told with NO_INFOMSGS too.
    fn tell_always(&mut self, message: &SqlError, about: About) {
        if self.options.as_table { self.row(message, about) } else { self.output.message(message) }
    }

    /// Damage.
    fn find(&mut self, error: &SqlError, about: About) {
        self.last_error = error.number;
        if self.options.as_table {
            self.row(error, about)
        } else {
            self.output.error(&error.clone().at_line(self.line))
        }
    }

    fn row(&mut self, message: &SqlError, about: About) {
        let or_null = |number: Option<i32>| number.map_or(Value::Null, Value::Int);
        let small = |number: i32| i16::try_from(number).map_or(Value::Null, Value::SmallInt);
        let page = about.page.and_then(|page| i32::try_from(page).ok());
        let repair = match message.severity {
            0..=10 => Value::Null,
            _ if matches!(message.number, 8951 | 8952) => string("repair_rebuild"),
            _ => string("repair_allow_data_loss"),
        };
        let mut row = vec![
            Value::Int(message.number),
            Value::Int(message.severity.into()),
            Value::Int(message.state.into()),
            string(message.message.clone()),
            repair,
            Value::Int(0),
            small(self.database_id),
            Value::Null,
            or_null(about.object_id),
            or_null(about.index_id),
        ];
        row.extend([Value::Null, Value::Null, Value::Null, Value::Null]);
        row.push(page.map_or(Value::Null, |_| Value::SmallInt(1)));
        row.push(or_null(page));
        row.resize(22, Value::Null);
        row.push(Value::Null);
        self.rows.push(row);
    }

    /// A page that does not hold: it is said that it cannot be read, and then why.
    fn page(&mut self, finding: &PageFinding) {
        let (object_id, index_id) = finding.owner.unwrap_or((0, 0));
        let about = About { object_id: Some(object_id), index_id: Some(index_id), page: Some(finding.page) };
        let (page, unit) = (format!("(1:{})", finding.page), unit(finding.storage));
        self.find(&SqlError::page_not_processed(object_id, index_id, &unit, &page), about);
        self.find(&SqlError::page_test_failed(object_id, index_id, &unit, page, &finding.why), about);
        match finding.owner {
            Some(_) => self.consistency_errors += 2,
            None => self.allocation_errors += 2,
        }
    }

    fn table(&mut self, table: &Table, finding: &TableFinding) {
        let name = |index_id: i32| {
            let index = table.indexes.iter().find(|index| index.index_id == index_id);
            index.map_or_else(|| table.name.clone(), |index| index.name.clone())
        };
        let (index_id, errors) = match finding {
            TableFinding::Unreadable { index_id, why } => (
                *index_id,
                vec![SqlError::rows_not_processed(table.object_id, index_id, unit_of(table, *index_id), why)],
            ),
            TableFinding::OutOfOrder { index_id } => {
                (*index_id, vec![SqlError::keys_out_of_order(table.object_id, index_id, unit_of(table, *index_id))])
            }
            TableFinding::NoEntry { index_id, row } => (
                *index_id,
                vec![
                    SqlError::row_without_entry(&table.name, table.object_id, name(*index_id), index_id),
                    SqlError::row_of_check(row),
                ],
            ),
            TableFinding::NoRow { index_id, entry } => (
                *index_id,
                vec![
                    SqlError::entry_without_row(&table.name, table.object_id, name(*index_id), index_id),
                    SqlError::entry_of_check(entry),
                ],
            ),
        };
        let about = About { object_id: Some(table.object_id), index_id: Some(index_id), page: None };
        self.consistency_errors += 1;
        for error in &errors {
            self.find(error, about);
        }
    }

    /// The end of a command about a whole database.
    fn end(&mut self, command: &str, database: &Database) {
        let about = About::default();
        let (allocation, consistency) = (self.allocation_errors, self.consistency_errors);
        let found = SqlError::check_of_database_found(command, allocation, consistency, database.name());
        // Without damage the line is information like the others.
        if allocation + consistency == 0 {
            self.tell(&found, about)
        } else {
            self.tell_always(&found, about)
        }
        self.repair_level(command, database.name());
    }

    fn repair_level(&mut self, command: &str, name: &str) {
        if self.allocation_errors + self.consistency_errors == 0 {
            return;
        }
        let level = match self.last_error {
            8955 | 8956 => "repair_rebuild",
            _ => "repair_allow_data_loss",
        };
        let command = format!("DBCC {command}");
        self.tell_always(&SqlError::minimum_repair_level(level, command, name), About::default());
    }
}

/// A heap or an index by its numbers, as the views of partitions and allocation units have them.
fn unit(storage: u32) -> String {
    format!("partition ID {storage}, alloc unit ID {} (type In-row data)", u64::from(storage) << 2 | 1)
}

fn unit_of(table: &Table, index_id: i32) -> String {
    let index = table.indexes.iter().find(|index| index.index_id == index_id).map(|index| index.storage);
    unit(index.or(table.heap).map_or(0, |storage| storage.object))
}

/// How a check is watched: whether it is given up, and how far it is.
struct Watched {
    cancelled: Arc<AtomicBool>,
    progress: Arc<Progress>,
    /// Rows and entries that there are about, and those of the table at hand.
    whole: u64,
    of_table: u64,
    /// Of the tables behind it, and in this one.
    behind: u64,
    done: u64,
}

impl Watched {
    fn pages(&mut self, percent: u64) -> Result<(), SqlError> {
        self.progress.set(percent * PAGES_PERCENT, 10_000, 0);
        self.look()
    }

    fn rows(&mut self, rows: u64) -> Result<(), SqlError> {
        self.done += rows;
        let done = self.behind + self.done.min(self.of_table);
        let share = done.min(self.whole) * (100 - PAGES_PERCENT) * 100 / self.whole.max(1);
        self.progress.set(PAGES_PERCENT * 100 + share, 10_000, 0);
        self.look()
    }

    /// The next table, of so many pages.
    fn table(&mut self, pages: u64) {
        self.behind += self.of_table;
        (self.of_table, self.done) = (pages * ROWS_A_PAGE, 0);
    }

    fn look(&self) -> Result<(), SqlError> {
        if self.cancelled.load(Ordering::Relaxed) { Err(*pikepole_query::cancelled()) } else { Ok(()) }
    }
}

/// Runs one of the commands.
pub(crate) async fn run(
    host: &SessionHost,
    command: &Dbcc,
    context: &mut ExecutionContext,
    line: u32,
    output: &mut dyn Output,
) -> Result<(), SqlError> {
    let progress = Arc::clone(&context.progress);
    let result = match command.name.as_str() {
        "CHECKTABLE" => table(host, command, context, line, output).await,
        "CHECKCATALOG" => catalog(host, command, context, line, output),
        _ => database(host, command, context, line, output).await,
    };
    progress.clear();
    result
}

fn watched(context: &ExecutionContext) -> Watched {
    let (cancelled, progress) = (Arc::clone(&context.cancelled), Arc::clone(&context.progress));
    Watched { cancelled, progress, whole: 0, of_table: 0, behind: 0, done: 0 }
}

/// A table that a session has changed the definition of is locked by it, and its check would wait for itself.
fn refuse_own_changes(command: &Dbcc, context: &mut ExecutionContext) -> Result<(), SqlError> {
    if context.transaction().has_changes() {
        return Err(unsupported(format!("DBCC {} in a transaction that has changed something", command.name)));
    }
    context.transaction().rest();
    Ok(())
}

/// CHECKDB, CHECKALLOC and CHECKFILEGROUP.
async fn database(
    host: &SessionHost,
    command: &Dbcc,
    context: &mut ExecutionContext,
    line: u32,
    output: &mut dyn Output,
) -> Result<(), SqlError> {
    let name = command.name.as_str();
    let options = options(command, command.arguments.get(1))?;
    let database = match name {
        "CHECKFILEGROUP" => named_filegroup(command, context)?,
        _ => named_database(host, command, context)?,
    };
    refuse_own_changes(command, context)?;
    let definitions = context.definitions_of(&database);
    let mut tables: Vec<Arc<Table>> = definitions.tables().cloned().collect();
    tables.sort_by_key(|table| table.object_id);
    let mut report = Report::new(output, options, &database, line);
    report.tell(&SqlError::dbcc_results(database.name()), About::default());
    if options.no_index {
        report.tell(&SqlError::no_index_warning(name.to_lowercase()), About::default());
    }
    let mut watched = watched(context);
    let begun_us = crate::views::now_us();
    if options.estimate_only {
        let kilobytes = tables.len() as u64 * ESTIMATED_BYTES_A_TABLE / 1024;
        report.tell_always(&SqlError::estimated_space(name, database.name(), kilobytes), About::default());
    } else {
        let pages = database.check_pages(None, &mut |percent| watched.pages(percent)).await?;
        pages.findings.iter().for_each(|finding| report.page(finding));
        if name != "CHECKALLOC" && !options.physical_only {
            tell_catalog(&database, &mut report);
            let pages = |table: &Arc<Table>| database.pages_to_check(table, !options.no_index);
            watched.whole = tables.iter().map(pages).sum::<u64>() * ROWS_A_PAGE;
            for table in &tables {
                check_table(&database, table, context, &mut report, &mut watched, &table.name).await?;
            }
        }
    }
    if name == "CHECKDB" && !options.estimate_only && report.last_error == 0 {
        database.note_good_check(begun_us)?;
    }
    report.end(name, &database);
    finish(report, context);
    Ok(())
}

/// The tables of a filegroup that is named are not told apart: all of the database is checked.
fn named_filegroup(command: &Dbcc, context: &ExecutionContext) -> Result<Arc<Database>, SqlError> {
    let named = command.arguments.first().and_then(DbccArgument::text);
    let view = context.catalog();
    let catalog = view.definitions();
    let is_there = |name: &str| {
        let by_id = name.parse().ok().is_some_and(|id| id == 0 || catalog.filegroup_by_id(id).is_some());
        by_id || catalog.filegroup(name).is_some()
    };
    match named.as_deref() {
        Some(name) if !is_there(name) => Err(SqlError::invalid_place("filegroup", name)),
        _ => Ok(Arc::clone(context.database())),
    }
}

fn tell_catalog(database: &Database, report: &mut Report<'_>) {
    for wrong in database.check_catalog() {
        report.consistency_errors += 1;
        report.find(&SqlError::check_of_catalog(wrong), About::default());
    }
}

/// CHECKCATALOG.
fn catalog(
    host: &SessionHost,
    command: &Dbcc,
    context: &mut ExecutionContext,
    line: u32,
    output: &mut dyn Output,
) -> Result<(), SqlError> {
    let options = options(command, None)?;
    let database = named_database(host, command, context)?;
    let mut report = Report::new(output, options, &database, line);
    tell_catalog(&database, &mut report);
    finish(report, context);
    Ok(())
}

/// CHECKTABLE.
async fn table(
    host: &SessionHost,
    command: &Dbcc,
    context: &mut ExecutionContext,
    line: u32,
    output: &mut dyn Output,
) -> Result<(), SqlError> {
    let written = command.arguments.first().and_then(DbccArgument::text).ok_or_else(SqlError::dbcc_parameter_count)?;
    let missing = || SqlError::table_or_object_not_found(&written);
    let second = command.arguments.get(1);
    // An index by its number is looked at with the others.
    let is_index = second.and_then(DbccArgument::text).is_some_and(|id| id.parse::<i32>().is_ok());
    let options = options(command, second.filter(|_| !is_index))?;
    refuse_own_changes(command, context)?;
    let (database, table) = match written.parse::<i32>() {
        Ok(id) => {
            let database = Arc::clone(context.database());
            let table = context.definitions_of(&database).table_by_id(id).cloned().ok_or_else(missing)?;
            (database, table)
        }
        Err(_) => {
            let name = ObjectName::read(&written).ok_or_else(missing)?;
            let database = match &name.database {
                Some(database) => host.server.database(&database.text).map_err(|_| missing())?,
                None => Arc::clone(context.database()),
            };
            let schema = name.schema_str().unwrap_or(pikepole_engine::DEFAULT_SCHEMA);
            let table = context.definitions_of(&database).table(schema, &name.name.text).cloned();
            (database, table.ok_or_else(missing)?)
        }
    };
    let mut report = Report::new(output, options, &database, line);
    let mut watched = watched(context);
    if options.estimate_only {
        let kilobytes = ESTIMATED_BYTES_A_TABLE / 1024;
        report.tell_always(&SqlError::estimated_space("CHECKTABLE", database.name(), kilobytes), About::default());
        finish(report, context);
        return Ok(());
    }
    if options.no_index {
        report.tell(&SqlError::no_index_warning("checktable"), About::default());
    }
    let pages = database.check_pages(Some(&table), &mut |percent| watched.pages(percent)).await?;
    pages.findings.iter().for_each(|finding| report.page(finding));
    watched.whole = database.pages_to_check(&table, !options.no_index) * ROWS_A_PAGE;
    if options.physical_only {
        let errors = report.consistency_errors;
        table_ends(&table, errors, "CHECKTABLE", &mut report);
    } else {
        check_table(&database, &table, context, &mut report, &mut watched, &written).await?;
    }
    let name = format!("{}.{}", database.name(), table.full_name());
    report.repair_level("CHECKTABLE", &name);
    finish(report, context);
    Ok(())
}

/// Checks the rows and the indexes of one table, and tells how many there are. `shown` is the table in the messages.
async fn check_table(
    database: &Arc<Database>,
    table: &Arc<Table>,
    context: &ExecutionContext,
    report: &mut Report<'_>,
    watched: &mut Watched,
    shown: &str,
) -> Result<(), SqlError> {
    let about = About { object_id: Some(table.object_id), ..About::default() };
    let before = report.consistency_errors;
    watched.table(database.pages_to_check(table, !report.options.no_index));
    let mut tx = database.transaction(context.state.session_id);
    database.begin_statement(&mut tx);
    let mut watch = |rows| watched.rows(rows);
    let checked = database.check_table(&mut tx, table, !report.options.no_index, &mut watch).await;
    database.end_statement(&mut tx);
    let check = match checked {
        Ok(check) => check,
        // It was changed or dropped meanwhile: there is another table to be checked next time.
        Err(Interrupted::Stale) => return Ok(()),
        Err(Interrupted::Error(error)) => return Err(*error),
    };
    report.tell(&SqlError::dbcc_results(shown), about);
    check.findings.iter().for_each(|finding| report.table(table, finding));
    let pages = database.row_pages(table);
    report.tell(&SqlError::rows_in_pages(check.rows, pages, shown), about);
    let found = report.consistency_errors - before;
    table_ends(table, found, "CHECKDB", report);
    Ok(())
}

fn table_ends(table: &Table, found: usize, command: &str, report: &mut Report<'_>) {
    if found > 0 {
        let about = About { object_id: Some(table.object_id), ..About::default() };
        let error = SqlError::check_of_table_found(command, 0, found, &table.name, table.object_id);
        report.tell_always(&error, about);
    }
}

/// Sends the rows of WITH TABLERESULTS, and leaves the number of the last error for `@@ERROR`.
fn finish(report: Report<'_>, context: &mut ExecutionContext) {
    if report.options.as_table {
        report.rows.send(report.output);
    }
    context.state.last_error = report.last_error;
}
