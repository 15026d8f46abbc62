//! A server on a simulated disk with sessions of several logins.

use pikepole_contention::sync::Mutex;
use pikepole_engine::{PasswordCost, SchedulerChoice, Server, ServerOptions};
use pikepole_machine::{Disk, SimulatedDisk};
use pikepole_query::Collected;
use pikepole_session::{Registry, Session, SessionOptions};
use pikepole_types::{SqlError, Value};
use std::sync::Arc;

/// The password of every login that [`Fixture::with_logins`] makes.
pub(crate) const PASSWORD: &str = "Wehr und 3 Schleusen";

pub(crate) fn options(disk: &SimulatedDisk) -> ServerOptions {
    ServerOptions {
        disk: Disk::simulated(disk.clone()),
        schedulers: SchedulerChoice::Simulated { seed: 5, count: 2 },
        small: true,
        password_cost: PasswordCost::LEAST,
        ..ServerOptions::new("/server")
    }
}

pub(crate) struct Fixture {
    pub(crate) server: Arc<Server>,
    registry: Arc<Registry>,
}

impl Fixture {
    /// Collects the lines that sessions write into the server's log.
    pub(crate) fn log_lines(&self) -> Arc<Mutex<Vec<(i32, String)>>> {
        let lines = Arc::new(Mutex::new(Vec::new()));
        let sink = Arc::clone(&lines);
        self.registry.log_into(move |session, text| {
            sink.lock().unwrap_or_else(|e| e.into_inner()).push((session, text.to_owned()));
        });
        lines
    }

    pub(crate) fn new() -> Fixture {
        Fixture::on(&SimulatedDisk::new(5))
    }

    pub(crate) fn on(disk: &SimulatedDisk) -> Fixture {
        let server = Server::open(options(disk)).expect("the disk can be opened");
        let registry = Registry::new(server.statistics());
        // Short passwords will do, but where they are what is looked at.
        registry.take_any_password();
        Fixture { server, registry }
    }

    /// A database `d` with the table `dbo.t`, and logins with users of the same names in it.
    pub(crate) fn with_logins(names: &[&str]) -> Fixture {
        let fixture = Fixture::new();
        let mut sa = fixture.sa();
        fixture.succeeds(&mut sa, "CREATE DATABASE d");
        for name in names {
            fixture.succeeds(&mut sa, &format!("CREATE LOGIN {name} WITH PASSWORD = '{PASSWORD}'"));
        }
        fixture.succeeds(&mut sa, "USE d");
        fixture
            .succeeds(&mut sa, "CREATE TABLE dbo.t (k int PRIMARY KEY, v int); INSERT dbo.t VALUES (1, 10), (2, 20)");
        for name in names {
            fixture.succeeds(&mut sa, &format!("CREATE USER {name} FOR LOGIN {name}"));
        }
        fixture
    }

    pub(crate) fn sa(&self) -> Session {
        self.begin(SessionOptions::default()).expect("sa may use master")
    }

    /// A session of `sa` in `d`.
    pub(crate) fn owner(&self) -> Session {
        let options = SessionOptions { database: "d".to_string(), ..SessionOptions::default() };
        self.begin(options).expect("sa may use d")
    }

    /// A session of a login in a database.
    pub(crate) fn login_in(&self, name: &str, database: &str) -> Result<Session, SqlError> {
        let login = self.server.verify_login_from(name, PASSWORD, "").map_err(|failure| failure.error)?;
        self.begin(SessionOptions { login, database: database.to_string(), ..SessionOptions::default() })
    }

    /// A session of a login in `d`.
    pub(crate) fn login(&self, name: &str) -> Session {
        self.login_in(name, "d").expect("the login has a user")
    }

    fn begin(&self, options: SessionOptions) -> Result<Session, SqlError> {
        Session::new(Arc::clone(&self.server), Arc::clone(&self.registry), options)
    }

    pub(crate) fn run(&self, session: &mut Session, sql: &str) -> Collected {
        let mut output = Collected::default();
        self.server.schedulers().block_on(session.run(sql, &mut [], &mut output));
        output
    }

    /// Runs a batch that has no errors.
    #[track_caller]
    pub(crate) fn succeeds(&self, session: &mut Session, sql: &str) -> Collected {
        let output = self.run(session, sql);
        assert!(output.errors().is_empty(), "{sql}: {:?}", output.errors());
        output
    }

    /// The first value that a batch without errors returns.
    #[track_caller]
    pub(crate) fn value(&self, session: &mut Session, sql: &str) -> Value {
        let output = self.succeeds(session, sql);
        output.rows().first().and_then(|row| row.first()).cloned().unwrap_or(Value::Null)
    }

    /// The first column that a batch without errors returns, as texts.
    #[track_caller]
    pub(crate) fn texts(&self, session: &mut Session, sql: &str) -> Vec<String> {
        let output = self.succeeds(session, sql);
        output.rows().iter().map(|row| row[0].as_str().unwrap_or("NULL").to_string()).collect()
    }

    /// The one error of a batch.
    #[track_caller]
    pub(crate) fn error(&self, session: &mut Session, sql: &str) -> SqlError {
        let output = self.run(session, sql);
        assert_eq!(output.errors().len(), 1, "{sql}: {:?}", output.errors());
        output.errors()[0].clone()
    }

    /// Asserts that a batch ends with this error alone.
    #[track_caller]
    pub(crate) fn fails(&self, session: &mut Session, number: i32, sql: &str) {
        let error = self.error(session, sql);
        assert_eq!(error.number, number, "{sql}: {error}");
    }
}
