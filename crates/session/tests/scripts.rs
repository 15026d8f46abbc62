//! Runs every script of `tests/scripts` in a server of its own on a simulated disk and compares what comes back with the
//! `.out` file beside it. `BLESS=1` writes the `.out` files anew; what changed in them is then to be read, line by line.

mod support;

use pikepole_engine::Server;
use pikepole_scheduler::Placement;
use pikepole_scheduler::chaos::{self, Site, SiteCount};
use pikepole_session::{ColumnInfo, Done, Output, Session};
use pikepole_types::{SqlError, SqlType, Value, to_text};
use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;
use support::{Fixture, scripts};

/// The seed of the servers.
const SEED: u64 = 7;

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

    fn is_full(&self) -> bool {
        chaos::stops(Site::Client)
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

/// The answer of a script, and the stops in it.
fn run(script: &str, chaos: Option<chaos::Options>) -> (String, Vec<SiteCount>) {
    let fixture = Fixture::new(SEED);
    let (server, mut session) = (&fixture.server, fixture.session());
    let mut printer = Printer::default();
    if let Some(options) = chaos {
        chaos::begin(options);
    }
    for batch in pikepole_tsql::split_batches(script) {
        for _ in 0..batch.count {
            chaos::heat();
            (session, printer) = run_batch(server, session, printer, batch.text.to_string());
        }
        printer.line("--");
    }
    let counts = chaos::end();
    server.schedulers().block_on(session.close());
    server.schedulers().block_on(server.shutdown()).expect("the databases close");
    (printer.text, counts)
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

/// What a script answers otherwise than is written down.
fn wrong_answer(path: &Path, answer: &str) -> Option<String> {
    let expected = std::fs::read_to_string(path.with_extension("out")).unwrap_or_default();
    first_difference(&expected, answer)
}

#[test]
fn scripts_answer_as_written_down() {
    let mut wrong = Vec::new();
    for (name, path) in scripts("scripts") {
        let script = std::fs::read_to_string(&path).expect("a script can be read");
        let (answer, _) = run(&script, None);
        if std::env::var_os("BLESS").is_some() {
            std::fs::write(path.with_extension("out"), &answer).expect("the answer can be written");
        } else if let Some(difference) = wrong_answer(&path, &answer) {
            wrong.push(format!("{name}: {difference}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Scripts that show whether tempdb is made, which the first spill file does.
const SHOWS_TEMPDB: [&str; 3] = ["administration", "log_views", "suites"];

/// Scripts that show how many pages were looked at: a look that has stopped is made again, and counted again.
const COUNTS_LOOKS: [&str; 1] = ["statistics_io"];

/// Answers that chaos has changed, and what each site was asked.
#[derive(Default)]
struct Outcome {
    wrong: Vec<String>,
    counts: Vec<SiteCount>,
}

impl Outcome {
    fn add(&mut self, name: &str, path: &Path, chaos: chaos::Options) {
        let script = std::fs::read_to_string(path).expect("a script can be read");
        let (answer, counts) = run(&script, Some(chaos));
        if let Some(difference) = wrong_answer(path, &answer) {
            self.wrong.push(format!("seed {}, {name}: {difference}", chaos.seed));
        }
        self.counts.resize(counts.len(), SiteCount { site: Site::Pull, asked: 0, stopped: 0 });
        for (total, own) in self.counts.iter_mut().zip(counts) {
            let (asked, stopped) = (total.asked + own.asked, total.stopped + own.stopped);
            *total = SiteCount { site: own.site, asked, stopped };
        }
    }
}

/// `PIKEPOLE_CHAOS_SEED` is the first seed, and `PIKEPOLE_CHAOS_ROUNDS` says how many there are.
#[test]
fn scripts_answer_the_same_in_chaos() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let (first, rounds) = (number("PIKEPOLE_CHAOS_SEED").unwrap_or(1), number("PIKEPOLE_CHAOS_ROUNDS").unwrap_or(3));
    let mut outcome = Outcome::default();
    for seed in first..first + rounds {
        for (name, path) in scripts("scripts") {
            let fills_memory = !SHOWS_TEMPDB.contains(&name.as_str());
            if !COUNTS_LOOKS.contains(&name.as_str()) {
                outcome.add(&name, &path, chaos::Options { fills_memory, ..chaos::Options::of(seed) });
            }
        }
    }
    let stopped: u64 = outcome.counts.iter().map(|count| count.stopped).sum();
    let each: Vec<String> = outcome.counts.iter().map(SiteCount::to_string).collect();
    println!("{stopped} steps stopped: {}", each.join(", "));
    assert!(outcome.wrong.is_empty(), "{}", outcome.wrong.join("\n"));
    // A filter may leave out what a site needs; a build without debug assertions has no chaos.
    if cfg!(debug_assertions) && std::env::var_os("SCRIPT").is_none() {
        let silent: Vec<&SiteCount> = outcome.counts.iter().filter(|count| count.stopped == 0).collect();
        assert!(silent.is_empty(), "sites that have stopped nothing: {silent:?}");
    }
}

/// The canary: operators that stop when they have taken a row and not kept it, as one did once, change answers.
#[test]
fn chaos_finds_operators_that_lose_rows() {
    if !cfg!(debug_assertions) {
        return;
    }
    let scripts = scripts("scripts");
    for wanted in ["documents", "memory", "rows_kept", "top_sorts"] {
        let Some((name, path)) = scripts.iter().find(|(name, _)| name == wanted) else { continue };
        let mut outcome = Outcome::default();
        for seed in 1..=3 {
            outcome.add(name, path, chaos::Options { loses_rows: true, ..chaos::Options::of(seed) });
        }
        assert!(!outcome.wrong.is_empty(), "{name} answers as if no row was lost");
    }
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
