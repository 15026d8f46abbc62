//! Sessions of DuckDB: its command-line program, which reads statements from a pipe and answers through another.
//!
//! ```text
//!   statement;          ──▶   rows as lines of fields
//!   .print end of answer ──▶   `end of answer`
//! ```
//!
//! The program ends at the first error, so an answer that breaks off before the mark is a failure. One program runs all statements
//! of a session, so that it keeps what it has read, as the servers do.

use crate::engine::{Engine, EngineError, Row, quoted};
use crate::queries::Dialect;
use crate::schema::Table;
use std::io::{self, BufRead, BufReader, PipeReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

/// The line behind an answer.
const MARK: &str = "end of answer";
/// NULL in an answer; the files of the tables have none.
const NULL: &str = "\\N";
/// The longest time of a statement without a limit.
const TIME_MAX: Duration = Duration::from_secs(24 * 3600);

/// A session.
pub struct DuckDb {
    program: PathBuf,
    file: PathBuf,
    shell: Option<Shell>,
    limit: Duration,
}

/// A running program. It is killed when it is dropped.
struct Shell {
    process: Child,
    input: ChildStdin,
    lines: Receiver<String>,
}

impl Shell {
    fn start(program: &Path, file: &Path) -> io::Result<Shell> {
        // Errors stand where they arose among the rows.
        let (reader, writer) = io::pipe()?;
        let mut process = Command::new(program)
            .args(["-no-init", "-batch", "-bail", "-list", "-noheader", "-separator", "|", "-nullvalue", NULL])
            .arg(file)
            .stdin(Stdio::piped())
            .stdout(writer.try_clone()?)
            .stderr(writer)
            .spawn()
            .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", program.display())))?;
        let input = process.stdin.take().ok_or_else(|| io::Error::other("no pipe to the program"))?;
        let (sender, lines) = mpsc::channel();
        thread::spawn(move || read_lines(reader, &sender));
        Ok(Shell { process, input, lines })
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        // An error says that it has ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Sends lines until the pipe or the receiver is closed.
fn read_lines(reader: PipeReader, sender: &mpsc::Sender<String>) {
    let lines = BufReader::new(reader).lines().map_while(Result::ok);
    for line in lines {
        if sender.send(line).is_err() {
            return;
        }
    }
}

impl DuckDb {
    /// A session with a file, which is made where it is missing.
    pub fn new(program: PathBuf, file: PathBuf) -> DuckDb {
        DuckDb { program, file, shell: None, limit: TIME_MAX }
    }

    /// The lines of an answer.
    fn answer(shell: &mut Shell, sql: &str, limit: Duration) -> Result<Vec<String>, EngineError> {
        let end = Instant::now() + limit;
        // A program that has ended says why in what it wrote.
        let _ = writeln!(shell.input, "{};\n.print {MARK}", sql.trim_end());
        let _ = shell.input.flush();
        let mut lines = Vec::new();
        loop {
            match shell.lines.recv_timeout(end.saturating_duration_since(Instant::now())) {
                Ok(line) if line == MARK => return Ok(lines),
                Ok(line) => lines.push(line),
                Err(RecvTimeoutError::Timeout) => return Err(EngineError::OverLimit),
                Err(RecvTimeoutError::Disconnected) => return Err(EngineError::Other(lines.join("\n"))),
            }
        }
    }
}

impl Engine for DuckDb {
    fn name(&self) -> &str {
        "DuckDB"
    }

    fn dialect(&self) -> Dialect {
        Dialect::Ansi
    }

    fn set_limit(&mut self, limit: Duration) -> Result<(), EngineError> {
        self.limit = limit;
        Ok(())
    }

    fn run(&mut self, sql: &str) -> Result<Vec<Row>, EngineError> {
        let mut shell = match self.shell.take() {
            Some(shell) => shell,
            None => Shell::start(&self.program, &self.file)?,
        };
        // A program that failed or is late is dropped here, which ends it.
        let lines = DuckDb::answer(&mut shell, sql, self.limit)?;
        self.shell = Some(shell);
        Ok(lines.iter().map(|line| row(line)).collect())
    }

    fn make_database(&mut self) -> Result<(), EngineError> {
        Ok(())
    }

    fn load(&mut self, table: &Table, file: &Path) -> Result<(), EngineError> {
        let (name, file) = (table.name, quoted(file.display()));
        let options = "FORMAT csv, DELIMITER '|', HEADER false, QUOTE '', ESCAPE ''";
        self.run(&format!("COPY {name} FROM {file} ({options})")).map(|_| ())
    }

    fn finishing(&self) -> Vec<String> {
        vec!["ANALYZE".to_string(), "CHECKPOINT".to_string()]
    }
}

/// The fields of a line.
fn row(line: &str) -> Row {
    line.split('|').map(|field| (field != NULL).then(|| field.to_string())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_may_be_null_or_empty() {
        assert_eq!(row("a||\\N"), [Some("a".to_string()), Some(String::new()), None]);
    }

    #[test]
    fn a_program_that_is_missing_is_named() {
        let mut duckdb = DuckDb::new("/no/such/program".into(), "file".into());
        let error = duckdb.run("SELECT 1").expect_err("a failure").to_string();
        assert!(error.contains("/no/such/program"), "{error}");
    }
}
