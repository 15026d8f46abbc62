//! Tables that were altered at random behave as tables that were made so at once.
//!
//! ```text
//!   dbo.t0 dbo.t1 dbo.t2   random ALTER TABLE, indexes, keys, constraints, rows ...
//!          |  from time to time
//!          v
//!   fresh.t0 fresh.t1 fresh.t2   the definitions that have come about, made anew, with copies of the rows
//!          |  the same random statements on both
//!          v
//!   the same errors, the same rows, in the order of every index
//! ```
//! What a definition says of columns by their places - in keys, foreign keys of other tables, checks, computed columns, filters -
//! has to move when columns come and go; this finds where it has not.

#[expect(dead_code, reason = "only its numbers are used here")]
#[path = "../../../log/tests/fuzz/mutate.rs"]
mod mutate;
mod schema;

use mutate::Random;
use pikepole_engine::{SchedulerChoice, Server, ServerOptions};
use pikepole_machine::{Disk, SimulatedDisk};
use pikepole_scheduler::Placement;
use pikepole_session::{ColumnInfo, Done, Output, Registry, Session, SessionOptions};
use pikepole_types::{SqlError, SqlType, Value, to_text};
use schema::Schema;
use std::sync::Arc;

/// Worlds, each with another seed; `PIKEPOLE_ALTERATION_RUNS` says another number.
const RUNS: u64 = 12;
/// Alterations of one world.
const ALTERATIONS: usize = 80;
/// Of them, those of tables without rows.
const BEFORE_ROWS: usize = 20;
/// Alterations between two comparisons, and statements in one.
const BETWEEN: usize = 6;
const STATEMENTS: usize = 25;

/// What came back: rows as text, errors by their numbers.
#[derive(Debug, Default, PartialEq)]
struct Answer {
    lines: Vec<String>,
    types: Vec<SqlType>,
    errors: Vec<String>,
}

impl Answer {
    /// The errors' numbers. Of several keys that repeat, the index that was made first tells, as an index or as a constraint.
    fn numbers(&self) -> Vec<&str> {
        let numbers = self.errors.iter().map(|error| error.split(':').next().unwrap_or_default());
        numbers.map(|number| if number == "2601" { "2627" } else { number }).collect()
    }
}

impl Output for Answer {
    fn columns(&mut self, columns: &[ColumnInfo]) {
        self.types = columns.iter().map(|column| column.ty).collect();
        let names: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
        self.lines.push(names.join("|"));
    }

    fn row(&mut self, row: &[Value]) {
        let texts = row.iter().zip(&self.types).map(|(value, ty)| match value {
            Value::Null => "NULL".to_owned(),
            value => to_text(value, ty),
        });
        self.lines.push(texts.collect::<Vec<_>>().join("|"));
    }

    fn done(&mut self, done: Done) {
        self.lines.extend(done.rows.map(|rows| format!("({rows} rows)")));
    }

    fn message(&mut self, _: &SqlError) {}

    fn error(&mut self, error: &SqlError) {
        self.errors.push(format!("{}: {}", error.number, error.message));
    }
}

/// A server with one session.
struct World {
    server: Arc<Server>,
    session: Option<Session>,
    /// What has become of `dbo`, to be shown when something is wrong.
    script: Vec<String>,
    seed: u64,
}

impl World {
    fn new(seed: u64) -> World {
        let options = ServerOptions {
            disk: Disk::simulated(SimulatedDisk::new(seed)),
            schedulers: SchedulerChoice::Simulated { seed, count: 2 },
            small: true,
            ..ServerOptions::new("/server")
        };
        let server = Server::open(options).expect("an empty disk can be opened");
        let registry = Registry::new(server.statistics());
        let session = Session::new(Arc::clone(&server), registry, SessionOptions::default()).expect("a session begins");
        World { server, session: Some(session), script: Vec::new(), seed }
    }

    fn run(&mut self, text: &str) -> Answer {
        if !text.contains("fresh.") && !text.starts_with("SELECT") {
            self.script.push(text.to_owned());
        }
        let mut session = self.session.take().expect("the last batch gave it back");
        let (info, text) = (session.task_info(), text.to_owned());
        let schedulers = self.server.schedulers();
        let task = schedulers.spawn(info, Placement::LeastLoaded, async move {
            let mut answer = Answer::default();
            session.run(&text, &mut [], &mut answer).await;
            (session, answer)
        });
        match schedulers.block_on(task) {
            Ok((session, answer)) => {
                self.session = Some(session);
                answer
            }
            Err(error) => panic!("{error:?}\n{}", self.story()),
        }
    }

    /// Runs what must not fail.
    fn good(&mut self, text: &str) -> Answer {
        let answer = self.run(text);
        assert!(answer.errors.is_empty(), "{text}\n{:?}\n{}", answer.errors, self.story());
        answer
    }

    fn story(&self) -> String {
        format!("seed {}:\n{}", self.seed, self.script.join("\nGO\n"))
    }
}

/// Makes the tables anew, and lets both do the same.
fn compare(world: &mut World, schema: &Schema, random: &mut Random) {
    for statement in schema.made_anew("fresh") {
        world.good(&statement);
    }
    for _ in 0..STATEMENTS {
        let statement = schema.statement(random);
        let altered = world.run(&statement("dbo"));
        let fresh = world.run(&statement("fresh"));
        let same = altered.numbers() == fresh.numbers() && altered.lines == fresh.lines;
        assert!(same, "{}\n{altered:?}\n{fresh:?}\n{}", statement("dbo"), world.story());
        for query in schema.queries() {
            let (altered, fresh) = (world.good(&query("dbo")), world.good(&query("fresh")));
            assert_eq!(altered.lines, fresh.lines, "{}\n{}", query("dbo"), world.story());
        }
    }
    for statement in schema.dropped("fresh") {
        world.good(&statement);
    }
}

#[test]
fn altered_tables_behave_as_new_ones() {
    let runs = std::env::var("PIKEPOLE_ALTERATION_RUNS").ok().and_then(|runs| runs.parse().ok());
    let first = std::env::var("PIKEPOLE_ALTERATION_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(0);
    for seed in first..first + runs.unwrap_or(RUNS) {
        let (mut world, mut random) = (World::new(seed), Random::new(seed + 1));
        world.good("CREATE SCHEMA fresh");
        let mut schema = Schema::new(&mut random);
        for statement in schema.made("dbo") {
            world.good(&statement);
        }
        let mut done = 0;
        for at in 0..ALTERATIONS {
            let alteration = if at < BEFORE_ROWS {
                schema.first_alteration(&mut random)
            } else {
                let statement = schema.statement(&mut random);
                world.run(&statement("dbo"));
                schema.alteration(&mut random)
            };
            let Some(alteration) = alteration else { continue };
            let answer = world.run(&alteration.text);
            if answer.errors.is_empty() {
                schema = alteration.after;
                done += 1;
            } else {
                let expected = answer.numbers().iter().all(|number| alteration.may_fail.contains(number));
                assert!(expected, "{}\n{:?}\n{}", alteration.text, answer.errors, world.story());
            }
            if at % BETWEEN == BETWEEN - 1 {
                compare(&mut world, &schema, &mut random);
            }
        }
        assert!(done > ALTERATIONS / 4, "too few alterations succeed: {done}, {}", world.story());
        let found = world.good("DBCC CHECKDB WITH NO_INFOMSGS");
        assert!(found.lines.is_empty(), "{found:?}\n{}", world.story());
    }
}
