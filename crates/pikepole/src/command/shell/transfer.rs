//! `:import` and `:export`: CSV files into tables, and results into CSV files.

use super::csv::{Field, Inferred, Reader};
use crate::command::CommandError;
use crate::command::output::{Format, Printer, Sink};
use crate::command::progress::Line;
use crate::command::session::Session;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

/// Rows and bytes of one INSERT.
const ROWS_MAX: usize = 500;
const BYTES_MAX: usize = 256 << 10;

/// Loads a file, whose first line names its columns, into a table; makes the table when it is not there. All of the file, or nothing.
/// What it did is returned.
pub fn import(session: &mut Session, file: &str, table: Option<&str>, progress: &Line) -> Result<String, CommandError> {
    let table = match table {
        Some(table) => table.to_owned(),
        None => bracketed(&Path::new(file).file_stem().unwrap_or_default().to_string_lossy()),
    };
    let (names, types) = columns_of(file)?;
    let is_there = session.query(&format!("SELECT OBJECT_ID({}) AS id", text(&table)))?;
    let makes = is_there.iter().next().is_some_and(|row| row.text(0) == "NULL");
    let is_own = !session.is_in_transaction();
    if is_own {
        session.execute("BEGIN TRANSACTION")?;
    }
    let mut load = || {
        if makes {
            let columns: Vec<String> =
                names.iter().zip(&types).map(|(name, ty)| format!("{} {} NULL", bracketed(name), ty.sql())).collect();
            session.execute(&format!("CREATE TABLE {table} ({})", columns.join(", ")))?;
        }
        insert(session, file, &table, &names, progress)
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

/// Refuses files of kinds that are neither read nor written, by the ends of their names.
fn check_kind(file: &str) -> Result<(), CommandError> {
    let is_parquet = Path::new(file).extension().is_some_and(|end| end.eq_ignore_ascii_case("parquet"));
    match is_parquet {
        true => Err(CommandError::Usage(format!("{file}: Parquet files are neither read nor written: CSV files are"))),
        false => Ok(()),
    }
}

fn reader(file: &str) -> Result<Reader<BufReader<File>>, CommandError> {
    check_kind(file)?;
    Ok(Reader::new(BufReader::new(File::open(file).map_err(CommandError::io(file))?)))
}

fn record(reader: &mut Reader<BufReader<File>>, file: &str) -> Result<Option<Vec<Field>>, CommandError> {
    let line = reader.line();
    reader.record().map_err(|error| CommandError::Usage(format!("{file}, line {line}: {error}")))
}

/// The names and types of a file's columns.
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
    /// The line of each row, and its values.
    rows: Vec<(u64, String)>,
    bytes: usize,
}

impl Pending {
    fn add(&mut self, line: u64, record: &[Field]) {
        let values: Vec<String> = record.iter().map(|field| field.as_deref().map_or("NULL".to_owned(), text)).collect();
        let values = format!("({})", values.join(", "));
        self.bytes += values.len();
        self.rows.push((line, values));
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
        let mut wrong = Wrong { lines: (*first, *last), before: 0, error: Box::new(error) };
        // An error that ends the transaction leaves nothing to look for.
        if !session.is_in_transaction() {
            return Err(wrong);
        }
        for (line, values) in &rows {
            match session.execute(&format!("{begin}\n{values}")) {
                Ok(()) => wrong.before += 1,
                Err(error) => return Err(Wrong { lines: (*line, *line), error: Box::new(error), ..wrong }),
            }
        }
        Err(wrong)
    }
}

/// Why rows are not inserted.
struct Wrong {
    /// The first and the last line that it may be about.
    lines: (u64, u64),
    /// Rows of them that are inserted.
    before: u64,
    error: Box<CommandError>,
}

impl Wrong {
    /// With its place in the file, and what has become of the rows before it; `before` were inserted by statements before.
    fn told(self, session: &Session, file: &str, before: u64) -> CommandError {
        let CommandError::Usage(text) = super::obey::as_usage(*self.error) else {
            return CommandError::Usage(format!("{file}: the session has ended; an open transaction is rolled back"));
        };
        let place = match self.lines {
            (first, last) if first == last => format!("line {first}"),
            (first, last) => format!("lines {first} to {last}"),
        };
        let rest = match before + self.before {
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
    table: &str,
    names: &[String],
    progress: &Line,
) -> Result<u64, CommandError> {
    let columns: Vec<String> = names.iter().map(|name| bracketed(name)).collect();
    let begin = format!("INSERT INTO {table} ({}) VALUES", columns.join(", "));
    let whole = std::fs::metadata(file).map_err(CommandError::io(file))?.len();
    let mut reader = reader(file)?;
    record(&mut reader, file)?;
    let (mut rows, mut pending) = (0, Pending::default());
    loop {
        let line = reader.line();
        let record = record(&mut reader, file)?;
        let is_end = record.is_none();
        if let Some(record) = record {
            pending.add(line, &record);
        }
        if is_end || pending.is_full() {
            match pending.insert(session, &begin) {
                Ok(inserted) => rows += inserted,
                Err(wrong) => return Err(wrong.told(session, file, rows)),
            }
            progress.tell(reader.offset(), whole);
        }
        if is_end {
            return Ok(rows);
        }
    }
}

/// Runs a query and writes its result to a file. What it did is returned; None: the query has failed, and said how.
pub fn export(session: &mut Session, file: &str, query: &str) -> Result<Option<String>, CommandError> {
    check_kind(file)?;
    let mut printer = Printer::new(Format::Csv);
    printer.set_out(Sink::file(Path::new(file))?);
    let is_clean = session.print(query, 0, &mut printer)?;
    let rows = match printer.rows_printed() {
        1 => "1 row".to_owned(),
        rows => format!("{rows} rows"),
    };
    Ok(is_clean.then(|| format!("{rows} in {file}")))
}

fn bracketed(name: &str) -> String {
    format!("[{}]", name.replace(']', "]]"))
}

fn text(value: &str) -> String {
    format!("N'{}'", value.replace('\'', "''"))
}
