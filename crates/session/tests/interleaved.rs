//! Runs every script of `tests/interleaved`: statements of several sessions, one after the other, in a server on a
//! simulated disk, and compares what comes back with the `.out` file beside it. `BLESS=1` writes the `.out` files again,
//! `SCRIPT=name` runs one script.
//!
//! ```text
//!   setup: CREATE DATABASE d            a batch that runs before each case
//!   == d: what the case is about        a case: its sessions begin in database d
//!   T1: BEGIN TRAN UPDATE ...           a batch of session T1; lines that are indented go on with it
//!   T2: SELECT ...                      if it waits, its answer is shown when it comes: `T2 goes on`
//! ```
//! A session runs one batch at a time: a step of one that waits still is left out, and shown so.

mod support;

use pikepole_scheduler::{JoinHandle, Placement};
use pikepole_session::{ColumnInfo, Done, Output, Session, SessionOptions};
use pikepole_types::{SqlError, SqlType, Value, to_text};
use std::collections::BTreeMap;
use std::time::Duration;
use support::{Fixture, scripts};

/// The time between two steps: locks are waited for, and nothing else takes so long.
const STEP: Duration = Duration::from_secs(1);

/// The lines that a batch sends back.
#[derive(Default)]
struct Printer {
    lines: Vec<String>,
    types: Vec<SqlType>,
}

impl Output for Printer {
    fn columns(&mut self, columns: &[ColumnInfo]) {
        self.types = columns.iter().map(|column| column.ty).collect();
    }

    fn row(&mut self, row: &[Value]) {
        let text = |(value, ty): (&Value, &SqlType)| match value {
            Value::Null => "NULL".to_string(),
            value => to_text(value, ty),
        };
        let values: Vec<String> = row.iter().zip(&self.types).map(text).collect();
        self.lines.push(values.join(" | "));
    }

    fn done(&mut self, done: Done) {
        self.lines.extend(done.rows.map(|rows| format!("({rows})")));
    }

    fn message(&mut self, message: &SqlError) {
        self.lines.push(message.message.clone());
    }

    fn error(&mut self, error: &SqlError) {
        let SqlError { number, severity, state, message, .. } = error;
        self.lines.push(format!("Msg {number}, Level {severity}, State {state}: {message}"));
    }
}

/// One session of a case.
enum Client {
    Free(Box<Session>),
    Busy(JoinHandle<(Session, Printer)>),
}

/// The sessions of a case, by their names.
struct Case {
    fixture: Fixture,
    database: String,
    clients: BTreeMap<String, Client>,
    text: String,
}

impl Case {
    fn open() -> Case {
        let fixture = Fixture::new(7);
        Case { fixture, database: "master".to_string(), clients: BTreeMap::new(), text: String::new() }
    }

    fn line(&mut self, line: impl AsRef<str>) {
        self.text.push_str(line.as_ref().trim_end());
        self.text.push('\n');
    }

    fn session(&self) -> Session {
        let options = SessionOptions { database: self.database.clone(), ..SessionOptions::default() };
        self.fixture.session_with(options)
    }

    /// Begins a batch in the session's task.
    fn start(&mut self, name: &str, batch: String) {
        let session = match self.clients.remove(name) {
            Some(Client::Free(session)) => session,
            Some(busy @ Client::Busy(_)) => {
                self.clients.insert(name.to_string(), busy);
                return self.line("    not run: the session waits still");
            }
            None => Box::new(self.session()),
        };
        let info = session.task_info();
        let mut session = *session;
        let task = self.fixture.server.schedulers().spawn(info, Placement::LeastLoaded, async move {
            let mut printer = Printer::default();
            session.run(&batch, &mut [], &mut printer).await;
            (session, printer)
        });
        self.clients.insert(name.to_string(), Client::Busy(task));
    }

    /// Runs what can run, and gives the answers of sessions that have come to the end of their batches.
    fn settle(&mut self) -> Vec<(String, Vec<String>)> {
        self.fixture.server.schedulers().advance(STEP);
        let is_over = |client: &Client| matches!(client, Client::Busy(task) if task.is_finished());
        let over: Vec<String> =
            self.clients.iter().filter(|(_, client)| is_over(client)).map(|(name, _)| name.clone()).collect();
        let mut answers = Vec::new();
        for name in over {
            if let Some(Client::Busy(task)) = self.clients.remove(&name) {
                let (session, printer) =
                    self.fixture.server.schedulers().block_on(task).expect("a batch does not panic");
                self.clients.insert(name.clone(), Client::Free(Box::new(session)));
                answers.push((name, printer.lines));
            }
        }
        answers
    }

    fn show(&mut self, lines: &[String]) {
        lines.iter().for_each(|line| self.line(format!("    {line}")));
    }

    fn step(&mut self, name: &str, batch: &str) {
        let shown: Vec<&str> = batch.lines().map(str::trim).collect();
        self.line(format!("{name}: {}", shown.join(" ")));
        self.start(name, batch.to_string());
        let mut answers = self.settle();
        match answers.iter().position(|(who, _)| who == name) {
            Some(own) => {
                let (_, lines) = answers.remove(own);
                self.show(&lines);
            }
            None => self.line("    waits"),
        }
        for (who, lines) in answers {
            self.line(format!("  {who} goes on"));
            self.show(&lines);
        }
    }

    /// Ends the case: sessions that still wait are told of, and ended.
    fn close(mut self) -> String {
        let clients = std::mem::take(&mut self.clients);
        for (name, client) in clients {
            match client {
                Client::Free(session) => self.fixture.server.schedulers().block_on(session.close()),
                Client::Busy(task) => {
                    self.line(format!("  {name} waits still"));
                    task.cancel();
                    self.fixture.server.schedulers().advance(STEP);
                }
            }
        }
        self.fixture.server.schedulers().block_on(self.fixture.server.shutdown()).expect("the databases close");
        self.text
    }
}

/// The steps of a script: who, and what. Cases come with the name `==`.
fn steps(script: &str) -> Vec<(String, String)> {
    let mut steps: Vec<(String, String)> = Vec::new();
    for line in script.lines() {
        if line.trim().is_empty() || line.starts_with("--") {
            continue;
        }
        if let (true, Some((_, batch))) = (line.starts_with([' ', '\t']), steps.last_mut()) {
            batch.push('\n');
            batch.push_str(line);
            continue;
        }
        let (who, what) = match line.strip_prefix("== ") {
            Some(case) => ("==", case),
            None => line.split_once(':').unwrap_or_else(|| panic!("a step begins with its session: {line}")),
        };
        steps.push((who.trim().to_string(), what.trim().to_string()));
    }
    steps
}

fn run(script: &str) -> String {
    let steps = steps(script);
    let setup: Vec<&String> = steps.iter().filter(|(who, _)| who == "setup").map(|(_, batch)| batch).collect();
    let mut text = String::new();
    let mut case: Option<Case> = None;
    for (who, what) in steps.iter().filter(|(who, _)| who != "setup") {
        if who == "==" {
            text.extend(case.take().map(Case::close));
            let (database, _) = what.split_once(':').unwrap_or_else(|| panic!("a case names its database: {what}"));
            let mut next = Case::open();
            for batch in &setup {
                next.start("setup", batch.to_string());
                let answers: Vec<String> = next.settle().into_iter().flat_map(|(_, lines)| lines).collect();
                let is_bad = answers.iter().any(|line| line.starts_with("Msg"));
                assert!(!is_bad, "{batch}: {answers:?}");
            }
            next.clients.clear();
            next.database = database.to_string();
            next.line(format!("== {what}"));
            case = Some(next);
            continue;
        }
        let case = case.as_mut().unwrap_or_else(|| panic!("a step outside of a case: {what}"));
        case.step(who, what);
    }
    text.extend(case.map(Case::close));
    text
}

#[test]
fn sessions_answer_as_written_down() {
    let mut wrong = Vec::new();
    for (name, path) in scripts("interleaved") {
        let script = std::fs::read_to_string(&path).expect("a script can be read");
        let answer = run(&script);
        let expected_path = path.with_extension("out");
        if std::env::var_os("BLESS").is_some() {
            std::fs::write(&expected_path, &answer).expect("the answer can be written");
            continue;
        }
        let expected = std::fs::read_to_string(&expected_path).unwrap_or_default();
        wrong.extend(differences(&expected, &answer).into_iter().map(|difference| format!("{name}: {difference}")));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The first difference of each case.
fn differences(expected: &str, answer: &str) -> Vec<String> {
    let cases = |text: &str| -> BTreeMap<String, Vec<String>> {
        let cases = text.split("== ").filter(|case| !case.is_empty());
        cases
            .map(|case| (case.lines().next().unwrap_or_default().into(), case.lines().map(str::to_string).collect()))
            .collect()
    };
    let (expected, answer) = (cases(expected), cases(answer));
    let none = Vec::new();
    let mut found = Vec::new();
    for name in answer.keys().chain(expected.keys().filter(|name| !answer.contains_key(*name))) {
        let (wanted, got) = (expected.get(name).unwrap_or(&none), answer.get(name).unwrap_or(&none));
        let at = (0..wanted.len().max(got.len())).find(|at| wanted.get(*at) != got.get(*at));
        found.extend(at.map(|at| {
            let before = at.checked_sub(1).and_then(|at| got.get(at)).map_or("", String::as_str);
            format!("{name}\n  behind {before:?}\n  expected {:?}\n  answered {:?}", wanted.get(at), got.get(at))
        }));
    }
    found
}
