//! `:import` and `:export`: files into tables, and results into files, of the kind that the ends of their names say.

use super::csv::{Field, Inferred, Reader};
#[cfg(feature = "parquet")]
use super::parquet::{self, ParquetRows};
use crate::command::output::{Format, Printer, Sink};
use crate::command::progress::Line;
use crate::command::session::Session;
use crate::command::{CommandError, bracketed, quoted};
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

/// Rows and bytes of one INSERT.
const ROWS_MAX: usize = 500;
const BYTES_MAX: usize = 256 << 10;

/// A kind of file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FileKind {
    Csv,
    Parquet,
}

impl FileKind {
    fn of(file: &str) -> FileKind {
        let is_parquet = Path::new(file).extension().is_some_and(|end| end.eq_ignore_ascii_case("parquet"));
        if is_parquet { FileKind::Parquet } else { FileKind::Csv }
    }
}

#[cfg(not(feature = "parquet"))]
fn no_parquet(file: &str) -> CommandError {
    CommandError::Usage(format!("{file}: this build neither reads nor writes Parquet files: CSV files are"))
}

/// A file whose rows are loaded.
pub(super) trait Source {
    /// The names of its columns.
    fn names(&self) -> Vec<String>;

    /// The types that its columns have in a new table, each with NULL or NOT NULL.
    fn types(&self) -> Result<Vec<String>, String>;

    /// The values of its next row, in parentheses; None at the end.
    fn next(&mut self) -> Result<Option<String>, String>;

    /// The word for a place in it.
    fn unit(&self) -> &'static str;

    /// The place of its next row.
    fn place(&self) -> u64;

    /// The part of it that has been read, and the whole.
    fn progress(&self) -> (u64, u64);
}

/// A CSV file.
struct CsvRows {
    reader: Reader<BufReader<File>>,
    names: Vec<String>,
    types: Vec<Inferred>,
    bytes: u64,
}

impl CsvRows {
    /// Reads the whole file for the types of its columns, and then its first line again.
    fn open(file: &str) -> Result<CsvRows, CommandError> {
        let (names, types) = columns_of(file)?;
        let bytes = std::fs::metadata(file).map_err(CommandError::io(file))?.len();
        let mut reader = reader(file)?;
        record(&mut reader, file)?;
        Ok(CsvRows { reader, names, types, bytes })
    }
}

impl Source for CsvRows {
    fn names(&self) -> Vec<String> {
        self.names.clone()
    }

    fn types(&self) -> Result<Vec<String>, String> {
        Ok(self.types.iter().map(|ty| format!("{} NULL", ty.sql())).collect())
    }

    fn next(&mut self) -> Result<Option<String>, String> {
        let record = self.reader.record().map_err(|error| error.to_string())?;
        Ok(record.map(|record| {
            let values = record.iter().map(|field| field.as_deref().map_or("NULL".to_owned(), quoted));
            format!("({})", values.collect::<Vec<String>>().join(", "))
        }))
    }

    fn unit(&self) -> &'static str {
        "line"
    }

    fn place(&self) -> u64 {
        self.reader.line()
    }

    fn progress(&self) -> (u64, u64) {
        (self.reader.offset(), self.bytes)
    }
}

fn open(file: &str) -> Result<Box<dyn Source>, CommandError> {
    match FileKind::of(file) {
        FileKind::Csv => Ok(Box::new(CsvRows::open(file)?)),
        #[cfg(feature = "parquet")]
        FileKind::Parquet => {
            let opened = File::open(file).map_err(CommandError::io(file))?;
            let rows = ParquetRows::new(opened).map_err(|why| CommandError::Usage(format!("{file}: {why}")))?;
            Ok(Box::new(rows))
        }
        #[cfg(not(feature = "parquet"))]
        FileKind::Parquet => Err(no_parquet(file)),
    }
}

/// Loads a file, which names its columns, into a table; makes the table when it is not there. All of the file, or nothing.
/// Returns a line that says what it did.
pub fn import(session: &mut Session, file: &str, table: Option<&str>, progress: &Line) -> Result<String, CommandError> {
    let table = match table {
        Some(table) => table.to_owned(),
        None => bracketed(&Path::new(file).file_stem().unwrap_or_default().to_string_lossy()),
    };
    let mut source = open(file)?;
    let names: Vec<String> = source.names().iter().map(|name| bracketed(name)).collect();
    let is_there = session.query(&format!("SELECT OBJECT_ID({}) AS id", quoted(&table)))?;
    let makes = is_there.iter().next().is_some_and(|row| row.text(0) == "NULL");
    let types = if makes { source.types() } else { Ok(Vec::new()) };
    let types = types.map_err(|why| CommandError::Usage(format!("{file}: {why}")))?;
    let is_own = !session.is_in_transaction();
    if is_own {
        session.execute("BEGIN TRANSACTION")?;
    }
    let mut load = || {
        if makes {
            let columns: Vec<String> = names.iter().zip(&types).map(|(name, ty)| format!("{name} {ty}")).collect();
            session.execute(&format!("CREATE TABLE {table} ({})", columns.join(", ")))?;
        }
        let begin = format!("INSERT INTO {table} ({}) VALUES", names.join(", "));
        insert(session, file, &mut *source, &begin, progress)
    };
    let loaded = load();
    match (loaded, is_own) {
        (Ok(rows), true) => session.execute("COMMIT").map(|()| rows),
        (Ok(rows), false) => Ok(rows),
        (Err(error), true) => {
            // The error tells what went wrong; a transaction that it has ended needs no rollback.
            let _ = session.execute("IF @@TRANCOUNT > 0 ROLLBACK");
            Err(match error {
                CommandError::Usage(text) => {
                    let told = text.rsplit_once('\n').map_or(text.as_str(), |(told, _)| told);
                    CommandError::Usage(format!("{told}\nNothing of {file} is loaded."))
                }
                error => error,
            })
        }
        (Err(error), false) => Err(error),
    }
    .map(|rows| {
        let into = if makes { format!("the new table {table}") } else { table.clone() };
        let rows = if rows == 1 { "1 row".to_owned() } else { format!("{rows} rows") };
        format!("{rows} of {file} into {into}")
    })
}

fn reader(file: &str) -> Result<Reader<BufReader<File>>, CommandError> {
    Ok(Reader::new(BufReader::new(File::open(file).map_err(CommandError::io(file))?)))
}

fn record(reader: &mut Reader<BufReader<File>>, file: &str) -> Result<Option<Vec<Field>>, CommandError> {
    let line = reader.line();
    reader.record().map_err(|error| CommandError::Usage(format!("{file}, line {line}: {error}")))
}

/// The names and types of a CSV file's columns.
fn columns_of(file: &str) -> Result<(Vec<String>, Vec<Inferred>), CommandError> {
    let mut reader = reader(file)?;
    let header = record(&mut reader, file)?;
    let names: Option<Vec<String>> = header.and_then(|header| header.into_iter().collect());
    let Some(names) = names.filter(|names| names.iter().all(|name| !name.is_empty())) else {
        return Err(CommandError::Usage(format!("{file}: the first line does not name every column")));
    };
    let mut types = vec![Inferred::default(); names.len()];
    loop {
        let line = reader.line();
        let Some(record) = record(&mut reader, file)? else { return Ok((names, types)) };
        if record.len() != names.len() {
            let (has, wanted) = (record.len(), names.len());
            return Err(CommandError::Usage(format!("{file}, line {line}: {has} fields where {wanted} are named")));
        }
        for (ty, field) in types.iter_mut().zip(&record) {
            if let Some(value) = field {
                ty.add(value);
            }
        }
    }
}

/// Rows that are inserted by one statement.
#[derive(Default)]
struct Pending {
    /// The place of each row in its file, and its values.
    rows: Vec<(u64, String)>,
    bytes: usize,
}

impl Pending {
    fn add(&mut self, place: u64, values: String) {
        self.bytes += values.len();
        self.rows.push((place, values));
    }

    fn is_full(&self) -> bool {
        self.rows.len() == ROWS_MAX || self.bytes > BYTES_MAX
    }

    /// Inserts them; how many they were. When that fails, they are inserted one by one up to the one that is wrong.
    fn insert(&mut self, session: &mut Session, begin: &str) -> Result<u64, Wrong> {
        let rows = std::mem::take(self).rows;
        let (Some((first, _)), Some((last, _))) = (rows.first(), rows.last()) else { return Ok(0) };
        let values: Vec<&str> = rows.iter().map(|(_, values)| values.as_str()).collect();
        let Err(error) = session.execute(&format!("{begin}\n{}", values.join(",\n"))) else {
            return Ok(rows.len() as u64);
        };
        let mut wrong = Wrong { places: (*first, *last), before: 0, error: Box::new(error) };
        // An error that ends the transaction leaves nothing to look for.
        if !session.is_in_transaction() {
            return Err(wrong);
        }
        for (place, values) in &rows {
            match session.execute(&format!("{begin}\n{values}")) {
                Ok(()) => wrong.before += 1,
                Err(error) => return Err(Wrong { places: (*place, *place), error: Box::new(error), ..wrong }),
            }
        }
        Err(wrong)
    }
}

/// An error of rows that are not inserted.
struct Wrong {
    /// The first and the last place in the file that it may be about.
    places: (u64, u64),
    /// Rows before the one that is wrong that are inserted.
    before: u64,
    error: Box<CommandError>,
}

impl Wrong {
    /// With its place in the file, and what has become of the rows before it.
    fn told(self, session: &Session, file: &str, unit: &str) -> CommandError {
        let CommandError::Usage(text) = super::obey::as_usage(*self.error) else {
            return CommandError::Usage(format!("{file}: the session has ended; an open transaction is rolled back"));
        };
        let place = match self.places {
            (first, last) if first == last => format!("{unit} {first}"),
            (first, last) => format!("{unit}s {first} to {last}"),
        };
        let rest = match self.before {
            _ if !session.is_in_transaction() => "The error has ended the transaction: nothing is loaded.".to_owned(),
            1 => "The row before it is in the open transaction.".to_owned(),
            rows => format!("The {rows} rows before it are in the open transaction."),
        };
        CommandError::Usage(format!("{file}, {place}: {text}\n{rest}"))
    }
}

fn insert(
    session: &mut Session,
    file: &str,
    source: &mut dyn Source,
    begin: &str,
    progress: &Line,
) -> Result<u64, CommandError> {
    let (mut rows, mut pending) = (0, Pending::default());
    loop {
        let place = source.place();
        let row = source.next();
        let is_end = !matches!(row, Ok(Some(_)));
        let unread = match row {
            Ok(row) => {
                row.into_iter().for_each(|values| pending.add(place, values));
                None
            }
            Err(why) => Some(why),
        };
        if is_end || pending.is_full() {
            match pending.insert(session, begin) {
                Ok(inserted) => rows += inserted,
                Err(wrong) => {
                    let before = wrong.before + rows;
                    return Err(Wrong { before, ..wrong }.told(session, file, source.unit()));
                }
            }
            let (done, whole) = source.progress();
            progress.tell(done, whole);
        }
        // The rows before one that cannot be read have been inserted.
        if let Some(why) = unread {
            let wrong = Wrong { places: (place, place), before: rows, error: Box::new(CommandError::Usage(why)) };
            return Err(wrong.told(session, file, source.unit()));
        }
        if is_end {
            return Ok(rows);
        }
    }
}

/// Runs a query and writes its result to a file. Returns a line that says what it did; None: the query has failed, and said how.
pub fn export(session: &mut Session, file: &str, query: &str) -> Result<Option<String>, CommandError> {
    match FileKind::of(file) {
        FileKind::Csv => export_csv(session, file, query),
        #[cfg(feature = "parquet")]
        FileKind::Parquet => {
            let (rows, sets) = parquet::export(session, file, query)?;
            let done = exported(rows, file);
            Ok(Some(if sets > 1 { format!("{done}: the first of {sets} results") } else { done }))
        }
        #[cfg(not(feature = "parquet"))]
        FileKind::Parquet => Err(no_parquet(file)),
    }
}

fn export_csv(session: &mut Session, file: &str, query: &str) -> Result<Option<String>, CommandError> {
    let mut printer = Printer::new(Format::Csv);
    printer.set_out(Sink::file(Path::new(file))?);
    let is_clean = session.print(query, 0, &mut printer)?;
    Ok(is_clean.then(|| exported(printer.rows_printed(), file)))
}

fn exported(rows: u64, file: &str) -> String {
    let rows = if rows == 1 { "1 row".to_owned() } else { format!("{rows} rows") };
    format!("{rows} in {file}")
}
