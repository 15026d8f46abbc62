//! Runs every script of `tests/scripts` in a server of its own on a simulated disk and compares what comes back with the
//! `.out` file beside it. `BLESS=1` writes the `.out` files anew; what changed in them is then to be read, line by line.

use pikepole_engine::{SchedulerChoice, Server, ServerOptions};
use pikepole_machine::{Disk, SimulatedDisk};
use pikepole_scheduler::Placement;
use pikepole_session::{ColumnInfo, Done, Output, Registry, Session, SessionOptions};
use pikepole_types::{SqlError, SqlType, Value, to_text};
use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;

/// Prints what a batch sends back, as plain lines.
#[derive(Default)]
struct Printer {
    text: String,
    types: Vec<SqlType>,
    /// Which columns tell when something was created: shown without the time.
    moments: Vec<bool>,
}

impl Printer {
    fn line(&mut self, line: impl AsRef<str>) {
        self.text.push_str(line.as_ref().trim_end());
        self.text.push('\n');
    }
}

impl Output for Printer {
    fn columns(&mut self, columns: &[ColumnInfo]) {
        self.types = columns.iter().map(|column| column.ty).collect();
        self.moments = columns.iter().map(|column| column.name.to_lowercase().contains("create")).collect();
        let names: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
        self.line(format!("# {}", names.join(" | ")));
    }

    fn row(&mut self, row: &[Value]) {
        let text = |((value, ty), moment): ((&Value, &SqlType), &bool)| match value {
            Value::Null => "NULL".to_string(),
            Value::DateTime(_) if *moment => "(when)".to_string(),
            value => to_text(value, ty).trim_end().to_string(),
        };
        let values: Vec<String> = row.iter().zip(&self.types).zip(&self.moments).map(text).collect();
        self.line(format!("  {}", values.join(" | ")));
    }

    fn done(&mut self, done: Done) {
        match done.rows {
            Some(1) => self.line("(1 row affected)"),
            Some(rows) => self.line(format!("({rows} rows affected)")),
            None => {}
        }
    }

    fn message(&mut self, message: &SqlError) {
        match message.message.split_once(" pages in ") {
            // How long a backup took is another one each time.
            Some((processed, _)) => self.line(format!("{processed} pages in (so long)")),
            None => self.line(&message.message),
        }
    }

    fn error(&mut self, error: &SqlError) {
        let SqlError { number, severity, state, line, procedure, message } = error;
        let mut head = format!("Msg {number}, Level {severity}, State {state}");
        if let Some(procedure) = procedure {
            // Writing to a String cannot fail.
            let _ = write!(head, ", Procedure {procedure}");
        }
        self.line(format!("{head}, Line {line}"));
        self.line(message);
    }
}

fn open() -> (Arc<Server>, Arc<Registry>) {
    let options = ServerOptions {
        disk: Disk::simulated(SimulatedDisk::new(7)),
        schedulers: SchedulerChoice::Simulated { seed: 7, count: 2 },
        small: true,
        ..ServerOptions::new("/server")
    };
    let server = Server::open(options).expect("an empty disk can be opened");
    let registry = Registry::new(server.statistics());
    (server, registry)
}

fn session(server: &Arc<Server>, registry: &Arc<Registry>) -> Session {
    Session::new(Arc::clone(server), Arc::clone(registry), SessionOptions::default()).expect("a session begins")
}

fn run(script: &str) -> String {
    let (server, registry) = open();
    let mut session = session(&server, &registry);
    let mut printer = Printer::default();
    for batch in pikepole_tsql::split_batches(script) {
        for _ in 0..batch.count {
            (session, printer) = run_batch(&server, session, printer, batch.text.to_string());
        }
        printer.line("--");
    }
    server.schedulers().block_on(session.close());
    server.schedulers().block_on(server.shutdown()).expect("the databases close");
    printer.text
}

/// Runs a batch as a server does: in the session's task.
fn run_batch(server: &Arc<Server>, mut session: Session, mut printer: Printer, text: String) -> (Session, Printer) {
    let info = session.task_info();
    let schedulers = server.schedulers();
    let task = schedulers.spawn(info, Placement::LeastLoaded, async move {
        session.run(&text, &mut [], &mut printer).await;
        (session, printer)
    });
    schedulers.block_on(task).expect("a batch does not panic")
}

#[test]
fn scripts_answer_as_written_down() {
    let own = std::env::var("CARGO_MANIFEST_DIR").expect("cargo sets it");
    let folder = Path::new(&own).join("tests/scripts");
    let mut scripts: Vec<_> = std::fs::read_dir(&folder)
        .expect("the folder is there")
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "sql"))
        .collect();
    scripts.sort();
    assert!(!scripts.is_empty());
    let wanted = std::env::var("SCRIPT").ok();
    let mut wrong = Vec::new();
    for path in scripts {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        if wanted.as_ref().is_some_and(|wanted| *wanted != name) {
            continue;
        }
        let script = std::fs::read_to_string(&path).expect("a script can be read");
        let answer = run(&script);
        let expected_path = path.with_extension("out");
        if std::env::var_os("BLESS").is_some() {
            std::fs::write(&expected_path, &answer).expect("the answer can be written");
            continue;
        }
        let expected = std::fs::read_to_string(&expected_path).unwrap_or_default();
        if let Some(difference) = first_difference(&expected, &answer) {
            wrong.push(format!("{name}: {difference}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn first_difference(expected: &str, answer: &str) -> Option<String> {
    let (mut expected, mut answer) = (expected.lines(), answer.lines());
    for number in 1.. {
        match (expected.next(), answer.next()) {
            (None, None) => break,
            (wanted, got) if wanted == got => {}
            (wanted, got) => return Some(format!("line {number}\n  expected {wanted:?}\n  answered {got:?}")),
        }
    }
    None
}
