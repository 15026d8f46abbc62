//! A server on a simulated disk with a database to back up.

use pikepole_engine::{SchedulerChoice, Server, ServerOptions};
use pikepole_machine::{Disk, SimulatedDisk};
use pikepole_query::Collected;
use pikepole_session::{Registry, Session, SessionOptions};
use pikepole_types::Value;
use std::sync::Arc;

pub struct Fixture {
    pub disk: SimulatedDisk,
    pub server: Arc<Server>,
    pub registry: Arc<Registry>,
    session: Session,
}

impl Fixture {
    pub fn on(disk: SimulatedDisk) -> Self {
        let options = ServerOptions {
            disk: Disk::simulated(disk.clone()),
            schedulers: SchedulerChoice::Simulated { seed: 3, count: 2 },
            small: true,
            ..ServerOptions::new("/server")
        };
        let server = Server::open(options).expect("the disk can be used");
        let registry = Registry::new(server.statistics());
        let session = Session::new(server.clone(), registry.clone(), SessionOptions::default()).expect("a session");
        Fixture { disk, server, registry, session }
    }

    /// A server with the database `d`: the table `t` with the rows 1, 2, 3, under FULL.
    pub fn new() -> Self {
        let mut fixture = Self::on(SimulatedDisk::new(3));
        fixture.ok("CREATE DATABASE d; ALTER DATABASE d SET RECOVERY FULL");
        fixture.in_d("CREATE TABLE t (i int PRIMARY KEY, s varchar(40)); INSERT t VALUES (1, 'a'), (2, 'b'), (3, 'c')");
        fixture
    }

    pub fn run(&mut self, sql: &str) -> Collected {
        let mut output = Collected::default();
        self.server.schedulers().block_on(self.session.run(sql, &mut [], &mut output));
        output
    }

    pub fn ok(&mut self, sql: &str) -> Collected {
        let output = self.run(sql);
        assert!(output.errors().is_empty(), "{sql}: {:?}", output.errors());
        output
    }

    pub fn in_d(&mut self, sql: &str) {
        self.ok(&format!("USE d; {sql}; USE master"));
    }

    /// The number and the text of the one error that comes of it.
    pub fn error(&mut self, sql: &str) -> (i32, String) {
        let output = self.run(sql);
        assert_eq!(output.errors().len(), 1, "{sql}");
        (output.errors()[0].number, output.errors()[0].message.clone())
    }

    pub fn number(&mut self, sql: &str) -> i32 {
        self.error(sql).0
    }

    /// The keys of `t` in a database.
    pub fn keys(&mut self, database: &str) -> Vec<i32> {
        let output = self.ok(&format!("USE {database}; SELECT i FROM t ORDER BY i; USE master"));
        output.rows().iter().map(|row| row[0].as_i64().expect("a number") as i32).collect()
    }

    pub fn state(&mut self, database: &str) -> String {
        let sql = format!("SELECT state_desc FROM sys.databases WHERE name = '{database}'");
        match self.ok(&sql).rows().first().map(|row| row[0].clone()) {
            Some(Value::Str(text)) => text,
            other => panic!("{other:?}"),
        }
    }

    pub fn restart(self) -> Self {
        Self::on(self.stopped())
    }

    /// The disk, when the server was stopped in order.
    pub fn stopped(self) -> SimulatedDisk {
        let Fixture { disk, server, registry, session } = self;
        server.schedulers().block_on(session.close());
        server.schedulers().block_on(server.shutdown()).expect("a clean shutdown");
        server.schedulers().shutdown();
        drop((server, registry));
        disk
    }

    /// The power is off: nothing is written any more.
    pub fn abandon(self) {
        self.server.schedulers().shutdown();
    }

    pub fn check(self) {
        let disk = self.stopped();
        let report = Server::check(&Disk::simulated(disk), "/server".as_ref(), &mut |_| ()).expect("checkable");
        assert_eq!(report.damage, [""; 0]);
    }

    /// What comes of a statement: nothing, or the number of its error.
    pub fn outcome(&mut self, sql: &str) -> Option<i32> {
        self.run(sql).errors().first().map(|error| error.number)
    }
}
