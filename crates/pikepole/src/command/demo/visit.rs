//! What a client does with the server: it loads the sample where there is none, and runs the queries.

use super::super::CommandError;
use super::super::output::{Format, Printer, Sink};
use super::super::serve::Stop;
use pikepole_client::{Address, ConnectOptions, Connection, Encryption, Trust};
use pikepole_contention::sync::{Arc, Mutex};
use std::path::Path;
use std::time::{Duration, Instant};

/// The database of the sample.
pub const DATABASE: &str = "demo";
/// What makes it.
const SAMPLE: &str = include_str!("sample.sql");
/// What is asked of it.
const QUERIES: &str = include_str!("queries.sql");
/// Whether the sample was loaded to its end.
const IS_WHOLE: &str = "SELECT COUNT(*) FROM sys.extended_properties WHERE class = 0 AND name = N'pikepole demo'";
/// Tables and their rows.
const SIZE: &str = "SELECT COUNT(*), SUM(p.rows) FROM sys.tables AS t \
                    JOIN sys.partitions AS p ON p.object_id = t.object_id AND p.index_id IN (0, 1)";
/// What the server says of the connection.
const TRANSPORT: &str = "SELECT encrypt_option FROM sys.dm_exec_connections WHERE session_id = @@SPID";

/// What came of it.
pub struct Visit {
    /// From nothing to a session.
    pub connected: Duration,
    /// As the server has it: TRUE or FALSE.
    pub encrypted: String,
    pub tables: i32,
    pub rows: i64,
    /// The time that loading took; none: an earlier demo has loaded it.
    pub loaded: Option<Duration>,
    pub answers: Vec<Answer>,
}

/// A query and its answer.
pub struct Answer {
    pub sql: String,
    /// A table for people, or JSON.
    pub text: String,
    pub time: Duration,
}

/// Connects to this computer's server as `sa` and does all of it. A signal ends it.
///
/// # Errors
/// No connection; a statement that fails; a database of that name which is not the sample; a signal.
pub fn visit(port: u16, password: &str, certificate: &Path, is_json: bool, stop: &Stop) -> Result<Visit, CommandError> {
    let address = Address { host: "localhost".to_owned(), port };
    let options = ConnectOptions {
        encryption: Encryption::Negotiated { required: true, trust: Trust::File(certificate.to_path_buf()) },
        application: "pikepole demo".to_owned(),
        ..ConnectOptions::new(address, "sa", password)
    };
    let loaded = load(&mut Connection::connect(&options)?, stop)?;
    let begun = Instant::now();
    let mut connection = Connection::connect(&ConnectOptions { database: DATABASE.to_owned(), ..options })?;
    let connected = begun.elapsed();
    let size = connection.query(SIZE)?;
    let (tables, rows) =
        size.iter().next().map_or(Ok((0, 0)), |row| Ok::<_, CommandError>((row.get(0)?, row.get(1)?)))?;
    let encrypted = connection.query(TRANSPORT)?.iter().next().map_or_else(String::new, |row| row.text(0));
    let answers = pikepole_tsql::split_batches(QUERIES).into_iter();
    let answers =
        answers.map(|batch| ask(&mut connection, batch.text.trim(), is_json, stop)).collect::<Result<_, _>>()?;
    Ok(Visit { connected, encrypted, tables, rows, loaded, answers })
}

/// Loads the sample; the time it took, or none when it is there.
fn load(connection: &mut Connection, stop: &Stop) -> Result<Option<Duration>, CommandError> {
    let number = |connection: &mut Connection, sql: &str| -> Result<i32, CommandError> {
        let rows = connection.query(sql)?;
        Ok(rows.iter().next().map_or(Ok(0), |row| row.get(0))?)
    };
    if number(connection, &format!("SELECT COUNT(*) FROM sys.databases WHERE name = '{DATABASE}'"))? != 0 {
        connection.execute(&format!("USE {DATABASE}"))?;
        if number(connection, IS_WHOLE)? == 0 {
            let text = "is not the sample, or not all of it: DROP DATABASE, or another folder, makes room for it";
            return Err(CommandError::Usage(format!("the database {DATABASE} of this folder {text}")));
        }
        return Ok(None);
    }
    let begun = Instant::now();
    for batch in pikepole_tsql::split_batches(SAMPLE) {
        until_signal(connection, stop, |connection| Ok(connection.execute(batch.text)?))?;
    }
    Ok(Some(begun.elapsed()))
}

/// Runs a query and keeps what the shell would show of it.
fn ask(connection: &mut Connection, sql: &str, is_json: bool, stop: &Stop) -> Result<Answer, CommandError> {
    let lines = Arc::new(Mutex::new(String::new()));
    let sink = || {
        let lines = Arc::clone(&lines);
        Sink::Lines(Arc::new(move |line| {
            let mut lines = lines.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            lines.push_str(line);
            lines.push('\n');
        }))
    };
    let mut printer = Printer::new(if is_json { Format::Json } else { Format::Table });
    printer.set_out(sink());
    printer.set_error(sink());
    let begun = Instant::now();
    let clean = until_signal(connection, stop, |connection| printer.print(connection.run(sql)?, sql, 0))?;
    let time = begun.elapsed();
    let text = lines.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).clone();
    match clean {
        true => Ok(Answer { sql: sql.to_owned(), text, time }),
        false => Err(CommandError::Usage(text.trim_end().to_owned())),
    }
}

/// Runs something that a signal ends.
fn until_signal<T>(
    connection: &mut Connection,
    stop: &Stop,
    run: impl FnOnce(&mut Connection) -> Result<T, CommandError>,
) -> Result<T, CommandError> {
    stop.check()?;
    let canceller = connection.canceller();
    let done = stop.cancelling(Box::new(move || canceller.cancel()), || run(connection));
    stop.check()?;
    done
}
