//! What the shell and scripts share: lines become batches, and lines that are commands of the client's tools are obeyed.
//!
//! ```text
//!   line --> a command (:setvar, :r, exit ...)?   obeyed at once
//!        --> $(NAME) replaced --> GO?             the batch before it runs
//!                             --> else            becomes part of the batch
//! ```
//!
//! The commands are those that people know of sqlcmd, and that SQL Server's tools write into scripts. A line is one only where it begins
//! outside of texts, quoted names and comments.

mod command;
mod error;
mod reader;
mod variables;

pub use command::{Command, Dialect, Stream};
pub use error::ScriptError;
pub use reader::{ScriptReader, ScriptText, Step};
pub use variables::Variables;

use super::CommandError;
use super::output::{Printer, Sink};
use super::session::Session;
use pikepole::{Event, SqlError};
use pikepole_contention::sync::atomic::{AtomicBool, Ordering};
use std::iter;
use std::path::Path;

/// What a line leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    /// The next line.
    On,
    /// The end of the script or of the shell.
    Quit,
}

/// A script under way, or what is typed.
pub struct Script<'a> {
    session: &'a mut Session,
    printer: &'a mut Printer,
    reader: ScriptReader,
    /// An error ends the script: `-b`, `:on error exit`.
    stops_on_error: bool,
    /// No batch has failed.
    clean: bool,
    /// The last batch of what is being read has failed, and has said why.
    failed: bool,
    /// Batches that have run, and the last one of them.
    batches_run: u64,
    last_batch: Option<String>,
    /// Set when the batch that runs and those still to come are not wanted any more.
    interrupted: &'a AtomicBool,
}

/// Of a script that is not interrupted.
static NEVER: AtomicBool = AtomicBool::new(false);

impl<'a> Script<'a> {
    /// Nothing has been read yet.
    pub fn new(session: &'a mut Session, printer: &'a mut Printer, variables: Variables, stops_on_error: bool) -> Self {
        let reader = ScriptReader::new(variables, Dialect::Shell);
        Script {
            session,
            printer,
            reader,
            stops_on_error,
            clean: true,
            failed: false,
            batches_run: 0,
            last_batch: None,
            interrupted: &NEVER,
        }
    }

    /// The same, where Ctrl-C ends a batch.
    pub fn interrupted_by(self, interrupted: &'a AtomicBool) -> Self {
        Script { interrupted, ..self }
    }

    /// Whether no batch has failed.
    pub fn is_clean(&self) -> bool {
        self.clean
    }

    /// The session that batches run in.
    pub fn session(&self) -> &Session {
        self.session
    }

    /// The number of the line that was read last.
    pub fn line_number(&self) -> u32 {
        self.reader.line_number()
    }

    /// The session, for batches of the tool's own.
    pub fn session_mut(&mut self) -> &mut Session {
        self.session
    }

    /// What prints results.
    pub fn printer(&mut self) -> &mut Printer {
        self.printer
    }

    /// How many batches have run.
    pub fn batches_run(&self) -> u64 {
        self.batches_run
    }

    /// The batch of what was read that ran last.
    pub fn last_batch(&self) -> Option<&str> {
        self.last_batch.as_deref()
    }

    /// Runs a batch of the tool's own.
    pub fn show(&mut self, sql: &str) -> Result<(), CommandError> {
        self.clean &= self.session.print(sql, 0, self.printer)?;
        Ok(())
    }

    /// Runs a batch once more.
    pub fn again(&mut self, sql: &str) -> Result<(), CommandError> {
        self.batches_run += 1;
        self.show(sql)
    }

    /// Tells of something that is no error of a batch.
    pub fn complain(&mut self, text: &str) -> Result<(), CommandError> {
        self.clean = false;
        self.printer.complain(text)
    }

    /// Drops what has been gathered of a batch.
    pub fn reset(&mut self) {
        self.reader.clear();
    }

    /// The number of the next line of what is typed.
    pub fn next_line(&self) -> u32 {
        self.reader.next_line()
    }

    /// Whether nothing has been gathered of a batch.
    pub fn is_empty(&self) -> bool {
        self.reader.is_empty()
    }

    /// The sign of what the next line begins inside of: a quote, a bracket, a comment; empty outside of them.
    pub fn open_mark(&self) -> &'static str {
        self.reader.open_mark()
    }

    /// Reads a whole script: what stands behind its last GO runs too.
    pub fn run(&mut self, text: &str) -> Result<(), CommandError> {
        self.reader.open(ScriptText::whole(text))?;
        if self.read()? == Flow::On {
            self.run_batch(1)?;
        }
        Ok(())
    }

    /// Takes a line.
    ///
    /// # Errors
    /// A command that cannot be obeyed; a variable that has no value.
    pub fn line(&mut self, line: &str, number: u32) -> Result<Flow, CommandError> {
        self.reader.open(ScriptText::line(line, number))?;
        self.read()
    }

    /// Reads what has been opened to its end, or to a command that ends it.
    fn read(&mut self) -> Result<Flow, CommandError> {
        self.failed = false;
        let flow = self.read_steps();
        self.reader.close();
        flow
    }

    fn read_steps(&mut self) -> Result<Flow, CommandError> {
        while let Some(step) = self.reader.next_step()? {
            let flow = match step {
                Step::Batch { count } => self.run_batch(count)?,
                Step::Command(command) => self.obey(command)?,
            };
            if flow == Flow::Quit {
                return Ok(Flow::Quit);
            }
        }
        Ok(Flow::On)
    }

    /// Runs what has been gathered.
    fn run_batch(&mut self, count: u32) -> Result<Flow, CommandError> {
        let mut flow = Flow::On;
        if let Some(batch) = self.reader.batch(count) {
            for _ in 0..batch.count {
                let before = batch.line.saturating_sub(1);
                let clean = if !self.interrupted.load(Ordering::Relaxed) {
                    self.batches_run += 1;
                    self.session.print_until(self.interrupted, batch.text, before, self.printer)?
                } else if !self.failed {
                    self.printer.print(iter::once(Ok::<_, CommandError>(cancelled())), batch.text, before)?
                } else {
                    break;
                };
                self.clean &= clean;
                self.failed = !clean;
                if !clean && self.stops_on_error {
                    flow = Flow::Quit;
                    break;
                }
            }
        }
        if let Some(batch) = self.reader.batch(count) {
            self.last_batch = Some(batch.text.to_owned());
        }
        self.reader.clear();
        Ok(flow)
    }

    fn obey(&mut self, command: Command) -> Result<Flow, CommandError> {
        match command {
            Command::ListVariables => self.printer.say(&self.reader.variables().list())?,
            Command::OnError { exit } => self.stops_on_error = exit,
            Command::Out(target) => self.printer.set_out(self.sink(target)?),
            Command::Error(target) => self.printer.set_error(self.sink(target)?),
            Command::List => self.printer.say(self.reader.text().trim_end())?,
            Command::Help => self.printer.say(command::HELP)?,
            Command::Quit => return Ok(Flow::Quit),
            Command::RunAndQuit => {
                self.run_batch(1)?;
                return Ok(Flow::Quit);
            }
            Command::Connect(_) => return Err(self.refused(":connect")),
            Command::Edit => return Err(self.refused(":ed")),
            Command::PerformanceTrace(_) => return Err(self.refused(":perftrace")),
            Command::ListServers => return Err(self.refused(":serverlist")),
            Command::Xml { .. } => return Err(self.refused(":xml")),
            Command::Shell(_) => return Err(self.refused("!!")),
            Command::QueryAndQuit(_) => return Err(self.refused(":exit with a query")),
            // The reader has obeyed them.
            Command::SetVariable { .. } | Command::Read(_) | Command::Reset => {}
        }
        Ok(Flow::On)
    }

    /// A command of sqlcmd that is none here.
    fn refused(&self, command: &str) -> CommandError {
        let line = self.reader.line_number();
        CommandError::Usage(format!("line {line}: pikepole sql does not have {command}"))
    }

    fn sink(&self, target: Stream) -> Result<Sink, CommandError> {
        match target {
            Stream::Out => Ok(Sink::Out),
            Stream::Error => Ok(Sink::Error),
            Stream::File(name) => Sink::file(Path::new(&self.reader.expanded(&name)?)),
        }
    }
}

/// The end of a batch that was given up before it had begun: it reads as that of one that was running.
fn cancelled() -> Event {
    Event::Error(SqlError { line: 1, ..SqlError::cancelled() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::output::Format;
    use pikepole::Options;
    use pikepole_contention::sync::{Arc, Mutex};

    #[test]
    fn a_batch_given_up_before_it_began_says_so_once() {
        let folder = std::env::temp_dir().join(format!("pikepole-script-{}", std::process::id()));
        let mut session = Session::open(Options::new(&folder)).expect("it opens");
        let lines = Arc::new(Mutex::new(Vec::new()));
        let mut printer = Printer::new(Format::Table);
        let kept = Arc::clone(&lines);
        printer.set_error(Sink::Lines(Arc::new(move |line| kept.lock().expect("one thread").push(line.to_owned()))));
        let pressed = AtomicBool::new(true);
        let variables = Variables::new(&[], false).expect("there are none");
        let mut script = Script::new(&mut session, &mut printer, variables, false).interrupted_by(&pressed);
        let told = || std::mem::take(&mut *lines.lock().expect("one thread"));
        let cancelled = ["Msg 3617, Level 11, State 0, Line 1", "Operation cancelled by user."];
        for _ in 0..2 {
            script
                .run("CREATE TABLE dbo.never (id int)\nGO 3\nCREATE TABLE dbo.nor (id int)\nGO\n")
                .expect("it is read");
            assert_eq!(told(), cancelled);
            assert!(!script.is_clean() && script.is_empty());
        }
        // One that comes between the look at the flag and the batch's begin.
        let clean =
            script.session_mut().print_until(&pressed, "WAITFOR DELAY '23:59:59'", 0, &mut Printer::new(Format::Json));
        assert!(!clean.expect("it ends"));
        pressed.store(false, Ordering::Relaxed);
        script.run("IF EXISTS (SELECT * FROM sys.tables) RAISERROR('one has run', 16, 1)").expect("it is read");
        assert_eq!(told(), <[String; 0]>::default());
        session.close().expect("it closes");
        std::fs::remove_dir_all(folder).expect("it is there");
    }
}
