//! What runs once in a folder of databases before its server is reached: the first database of the environment, then scripts, programs
//! and backups in the order of their names.
//!
//! ```text
//!   init.state   begun /init/01-schema.sql      before a file runs
//!                done /init/01-schema.sql       when it has run without an error
//!                restoring /init/02-old.bak     before a restore: no database has its name
//!                ...
//!                finished                       nothing runs in this folder any more
//! ```
//!
//! Each line is durable before the next thing happens. A start that is killed leaves a file that is begun and not done: the next start
//! leaves out what is done, runs that file again from its first line, and says so; what it had committed is there. An error ends the
//! start, and a folder that the start has made is removed with all that is in it.

mod program;
mod steps;

pub use steps::{Step, steps};

use super::super::output::{Format, Printer, Sink};
use super::super::script::{Script, Variables};
use super::super::session::Session;
use super::super::{CommandError, backup, bracketed, quoted};
use super::settings::FirstDatabase;
use super::stop::Stop;
use pikepole::Engine;
use pikepole_contention::sync::{Arc, Mutex};
use pikepole_engine::{INIT_FILE, Server};
use pikepole_machine::Disk;
use pikepole_server::NetworkServer;
use pikepole_session::Registry;
use std::path::Path;
use std::time::Instant;
use steps::Kind;

/// The name of the environment's database among the steps.
const FIRST_DATABASE: &str = "MSSQL_DB";

/// What has run in a folder.
#[derive(Debug, Default)]
pub struct State(String);

impl State {
    /// Reads the state of a folder.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub fn read(disk: &Disk, folder: &Path) -> Result<State, CommandError> {
        let file = folder.join(INIT_FILE);
        if !disk.exists(&file) {
            return Ok(State::default());
        }
        let bytes = disk.read(&file).map_err(CommandError::io(file.display().to_string()))?;
        Ok(State(String::from_utf8_lossy(&bytes).into_owned()))
    }

    /// Whether nothing is to run any more.
    pub fn is_finished(&self) -> bool {
        self.has("finished")
    }

    fn has(&self, line: &str) -> bool {
        self.0.lines().any(|each| each == line)
    }

    /// Adds a line, durably.
    fn add(&mut self, disk: &Disk, folder: &Path, line: &str) -> Result<(), CommandError> {
        if self.has(line) {
            return Ok(());
        }
        self.0.push_str(line);
        self.0.push('\n');
        let file = folder.join(INIT_FILE);
        disk.replace(&file, self.0.as_bytes()).map_err(CommandError::io(file.display().to_string()))
    }
}

/// What the steps run in.
pub struct Init<'a> {
    pub server: &'a Arc<Server>,
    pub registry: &'a Arc<Registry>,
    pub network: &'a NetworkServer,
    pub stop: &'a Stop,
    /// The password of `sa`, for the programs; none: it is not known to this start.
    pub password: Option<&'a str>,
}

impl Init<'_> {
    /// Runs what has not run in this folder.
    ///
    /// # Errors
    /// The first error of a step, with its file and line.
    pub fn run(&self, first: Option<&FirstDatabase>, steps: &[Step]) -> Result<(), CommandError> {
        let count = steps.len() + usize::from(first.is_some());
        if count == 0 {
            return Ok(());
        }
        let (disk, folder) = (self.server.disk(), self.server.folder());
        let mut state = State::read(disk, folder)?;
        if state.is_finished() {
            tracing::info!("init: this folder has had its first scripts, so none runs ({INIT_FILE} in it says which)");
            return Ok(());
        }
        let begun = Instant::now();
        if let Some(first) = first {
            self.step(FIRST_DATABASE, (1, count), &mut state, |_, _| self.first_database(first))?;
        }
        for (number, step) in (count - steps.len() + 1..).zip(steps) {
            let name = step.path.display().to_string();
            self.step(&name, (number, count), &mut state, |state, name| self.file(step, name, state))?;
        }
        state.add(disk, folder, "finished")?;
        tracing::info!("init: {count} done in {:.1} s", begun.elapsed().as_secs_f64());
        Ok(())
    }

    /// One step, unless it is done.
    fn step(
        &self,
        name: &str,
        (number, count): (usize, usize),
        state: &mut State,
        run: impl FnOnce(&mut State, &str) -> Result<(), CommandError>,
    ) -> Result<(), CommandError> {
        self.stop.check()?;
        if state.has(&format!("done {name}")) {
            tracing::info!("init: {number} of {count}, {name}, was done at an earlier start");
            return Ok(());
        }
        if state.has(&format!("begun {name}")) {
            tracing::warn!(
                "init: {name} was interrupted at an earlier start and runs again from its beginning; what it had committed is there"
            );
        }
        tracing::info!("init: {number} of {count}, {name}");
        pikepole_server::notify::starting(&format!("init: {number} of {count}, {name}"));
        let (disk, folder, begun) = (self.server.disk(), self.server.folder(), Instant::now());
        state.add(disk, folder, &format!("begun {name}"))?;
        let done = run(state, name);
        self.stop.check()?;
        done?;
        tracing::info!("init: {name} done in {:.1} s", begun.elapsed().as_secs_f64());
        state.add(disk, folder, &format!("done {name}"))
    }

    fn file(&self, step: &Step, name: &str, state: &mut State) -> Result<(), CommandError> {
        match step.kind {
            Kind::Script | Kind::PackedScript => self.script(name, &step.text()?, true),
            Kind::Program => program::run(self, &step.path, name),
            Kind::Backup => self.restore(&step.path, name, state),
        }
    }

    /// The environment's database and its owner. What of it is there already, of a start that was killed, is left.
    fn first_database(&self, first: &FirstDatabase) -> Result<(), CommandError> {
        let (text, name) = (quoted(&first.name), bracketed(&first.name));
        let collation = first.collation.as_ref().map_or_else(String::new, |name| format!(" COLLATE {name}"));
        let mut sql = format!("IF DB_ID({text}) IS NULL CREATE DATABASE {name}{collation};\nGO\n");
        if let Some((login, password)) = &first.owner {
            let (text, login) = (quoted(login), bracketed(login));
            sql += &format!(
                "IF SUSER_ID({text}) IS NULL CREATE LOGIN {login} WITH PASSWORD = {}, DEFAULT_DATABASE = {name};\nGO\n\
                 ALTER AUTHORIZATION ON DATABASE::{name} TO {login};\n",
                quoted(password)
            );
        }
        self.script(FIRST_DATABASE, &sql, false)
    }

    /// Runs a script as the shell does, and stops at its first error. Results and messages go to the log.
    fn script(&self, name: &str, text: &str, has_variables: bool) -> Result<(), CommandError> {
        self.session(|session| {
            let errors = Arc::new(Mutex::new(Vec::new()));
            let mut printer = Printer::new(Format::Table);
            let from = name.to_owned();
            printer.set_out(Sink::Lines(Arc::new(move |line| tracing::info!("{from}: {line}"))));
            let kept = Arc::clone(&errors);
            printer.set_error(Sink::Lines(Arc::new(move |line| {
                kept.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).push(line.to_owned());
            })));
            let cancel = session.cancel();
            let variables = Variables::new(&[], !has_variables)?;
            let mut script = Script::new(session, &mut printer, variables, true).interrupted_by(self.stop.asked());
            let ran = self.stop.cancelling(cancel, || script.run(text));
            let (line, clean) = (script.line_number(), script.is_clean());
            let at_line = |error: CommandError| CommandError::Usage(format!("{name}, line {line}: {error}"));
            ran.map_err(at_line)?;
            match clean {
                true => Ok(()),
                false => {
                    let errors = errors.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
                    Err(CommandError::Usage(format!("{name}: {}", errors.join(" "))))
                }
            }
        })
    }

    /// Restores the newest whole backup of a file, under the name that its database had. A database that was there
    /// before is never replaced, nor one that is open: a supervisor starts a server that failed once more.
    fn restore(&self, path: &Path, name: &str, state: &mut State) -> Result<(), CommandError> {
        let real = std::fs::canonicalize(path).map_err(CommandError::io(name))?;
        let device = real.display().to_string();
        let in_file = |error: CommandError| CommandError::Usage(format!("{name}: {error}"));
        let mark = format!("restoring {name}");
        let began = state.has(&mark);
        let found = self.session(|session| {
            let (position, database) = backup::newest(session, &device)?;
            if !began {
                backup::check_absent(session, &database)?;
            }
            // A restore that was cut off leaves a database that is not open.
            let is_done = began && backup::is_online(session, &database)?;
            Ok((position, database, is_done))
        });
        let (position, database, is_done) = found.map_err(in_file)?;
        if is_done {
            tracing::info!("{name}: the database {database} is there since an earlier start");
            return Ok(());
        }
        state.add(self.server.disk(), self.server.folder(), &mark)?;
        tracing::info!("{name}: restoring the database {database}");
        let replace = if began { ", REPLACE" } else { "" };
        let (database, device) = (bracketed(&database), quoted(&device));
        let sql = format!("RESTORE DATABASE {database} FROM DISK = {device} WITH FILE = {position}{replace};");
        self.script(name, &sql, false)
    }

    /// A session of `sa` for one step.
    fn session<T>(&self, run: impl FnOnce(&mut Session) -> Result<T, CommandError>) -> Result<T, CommandError> {
        let engine = Engine::over(Arc::clone(self.server), Arc::clone(self.registry));
        let connection = engine.connect_blocking();
        let done = connection.map_err(CommandError::from).and_then(|connection| {
            let mut session = Session::Own { connection, engine: engine.clone() };
            run(&mut session)
        });
        engine.let_go();
        done
    }
}
