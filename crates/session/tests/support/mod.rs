//! A server on a simulated disk with sessions, and scripts with the answers that are written down: what several of these tests need.
#![allow(dead_code, reason = "each test uses its own part of it")]

use pikepole_engine::{SchedulerChoice, Server, ServerOptions};
use pikepole_machine::{Disk, SimulatedDisk};
use pikepole_query::Collected;
use pikepole_session::{Parameter, Registry, Session, SessionOptions};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A small server on two simulated schedulers.
pub struct Fixture {
    pub server: Arc<Server>,
    pub registry: Arc<Registry>,
}

impl Fixture {
    /// On an empty disk. The same seed gives the same turns.
    pub fn new(seed: u64) -> Fixture {
        Fixture::on(SimulatedDisk::new(seed), seed)
    }

    pub fn on(disk: SimulatedDisk, seed: u64) -> Fixture {
        let options = ServerOptions {
            disk: Disk::simulated(disk),
            schedulers: SchedulerChoice::Simulated { seed, count: 2 },
            small: true,
            ..ServerOptions::new("/server")
        };
        let server = Server::open(options).expect("the disk can be opened");
        let registry = Registry::new(server.statistics());
        Fixture { server, registry }
    }

    /// A session in master.
    pub fn session(&self) -> Session {
        self.session_with(SessionOptions::default())
    }

    pub fn session_with(&self, options: SessionOptions) -> Session {
        let (server, registry) = (Arc::clone(&self.server), Arc::clone(&self.registry));
        Session::new(server, registry, options).expect("a session begins")
    }

    /// Runs a batch to its end.
    pub fn run(&self, session: &mut Session, sql: &str) -> Collected {
        self.run_with(session, sql, &mut [])
    }

    pub fn run_with(&self, session: &mut Session, sql: &str, parameters: &mut [Parameter]) -> Collected {
        let mut output = Collected::default();
        self.server.schedulers().block_on(session.run(sql, parameters, &mut output));
        output
    }
}

/// The numbers of the errors of a batch.
pub fn numbers(output: &Collected) -> Vec<i32> {
    output.errors().iter().map(|error| error.number).collect()
}

/// The scripts of a folder beside the tests, by name; with `SCRIPT` set only the one that is called so.
pub fn scripts(folder: &str) -> Vec<(String, PathBuf)> {
    let own = std::env::var("CARGO_MANIFEST_DIR").expect("cargo sets it");
    let mut paths: Vec<_> = std::fs::read_dir(Path::new(&own).join("tests").join(folder))
        .expect("the folder is there")
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "sql"))
        .collect();
    paths.sort();
    assert!(!paths.is_empty());
    let wanted = std::env::var("SCRIPT").ok();
    let named =
        paths.into_iter().map(|path| (path.file_stem().unwrap_or_default().to_string_lossy().into_owned(), path));
    named.filter(|(name, _)| wanted.as_ref().is_none_or(|wanted| wanted == name)).collect()
}
