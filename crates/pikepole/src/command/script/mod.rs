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
mod variables;

pub use variables::Variables;

use super::CommandError;
use super::output::{Printer, Sink};
use super::session::Session;
use command::{Command, Stream};
use pikepole_contention::sync::atomic::{AtomicBool, Ordering};
use pikepole_tsql::BatchLines;
use std::path::Path;

/// Scripts that scripts read, one inside the other.
const DEPTH_MAX: u32 = 32;

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
    variables: Variables,
    lines: BatchLines,
    /// An error ends the script: `-b`, `:on error exit`.
    stops_on_error: bool,
    /// No batch has failed.
    clean: bool,
    depth: u32,
    /// Set when the batches that are still to come are not wanted any more.
    interrupted: Option<&'a AtomicBool>,
}

impl<'a> Script<'a> {
    /// Nothing has been read yet.
    pub fn new(session: &'a mut Session, printer: &'a mut Printer, variables: Variables, stops_on_error: bool) -> Self {
        let lines = BatchLines::default();
        Script { session, printer, variables, lines, stops_on_error, clean: true, depth: 0, interrupted: None }
    }

    /// The same, where Ctrl-C ends a batch.
    pub fn interrupted_by(self, interrupted: &'a AtomicBool) -> Self {
        Script { interrupted: Some(interrupted), ..self }
    }

    /// Whether no batch has failed.
    pub fn is_clean(&self) -> bool {
        self.clean
    }

    /// The session that batches run in.
    pub fn session(&self) -> &Session {
        self.session
    }

    /// Tells of something that is no error of a batch.
    pub fn complain(&mut self, text: &str) -> Result<(), CommandError> {
        self.clean = false;
        self.printer.complain(text)
    }

    /// Drops what has been gathered of a batch.
    pub fn reset(&mut self) {
        self.lines.clear();
    }

    /// The number of the next line of what is typed.
    pub fn next_line(&self) -> u32 {
        self.lines.text().lines().count() as u32 + 1
    }

    /// Reads a text to its end, or to a command that ends it.
    pub fn read(&mut self, text: &str) -> Result<Flow, CommandError> {
        for (number, line) in (1..).zip(text.split_inclusive('\n')) {
            if self.line(line, number)? == Flow::Quit {
                return Ok(Flow::Quit);
            }
        }
        Ok(Flow::On)
    }

    /// Reads a whole script: what stands behind its last GO runs too.
    pub fn run(&mut self, text: &str) -> Result<(), CommandError> {
        if self.read(text)? == Flow::On {
            self.run_batch(1)?;
        }
        Ok(())
    }

    /// Takes a line.
    ///
    /// # Errors
    /// A command that cannot be obeyed; a variable that has no value.
    pub fn line(&mut self, line: &str, number: u32) -> Result<Flow, CommandError> {
        if self.lines.is_plain()
            && let Some(command) = command::parse(line, number)?
        {
            return self.obey(command);
        }
        let line = match self.variables.are_replaced() {
            true => self.lines.replaced(line, |name| self.variables.value(name)).map_err(not_defined)?,
            false => line.into(),
        };
        match self.lines.push(&line, number) {
            Some(count) => self.run_batch(count),
            None => Ok(Flow::On),
        }
    }

    /// Runs what has been gathered.
    fn run_batch(&mut self, count: u32) -> Result<Flow, CommandError> {
        let mut flow = Flow::On;
        if let Some(batch) = self.lines.batch(count) {
            for _ in 0..batch.count {
                if self.interrupted.is_some_and(|interrupted| interrupted.load(Ordering::Relaxed)) {
                    self.clean = false;
                    break;
                }
                let clean = self.session.print(batch.text, batch.line.saturating_sub(1), self.printer)?;
                self.clean &= clean;
                if !clean && self.stops_on_error {
                    flow = Flow::Quit;
                    break;
                }
            }
        }
        self.lines.clear();
        Ok(flow)
    }

    fn obey(&mut self, command: Command) -> Result<Flow, CommandError> {
        match command {
            Command::SetVariable { name, value } => self.variables.set(&name, value),
            Command::ListVariables => {
                let list = self.variables.list();
                self.printer.say(&list)?;
            }
            Command::Read(path) => return self.read_file(&self.expanded(&path)?),
            Command::OnError { exit } => self.stops_on_error = exit,
            Command::Out(target) => self.printer.set_out(self.sink(target)?),
            Command::Error(target) => self.printer.set_error(self.sink(target)?),
            Command::List => {
                let text = self.lines.text().to_owned();
                self.printer.say(text.trim_end())?;
            }
            Command::Reset => self.lines.clear(),
            Command::Help => self.printer.say(command::HELP)?,
            Command::Quit => return Ok(Flow::Quit),
            Command::RunAndQuit => {
                self.run_batch(1)?;
                return Ok(Flow::Quit);
            }
        }
        Ok(Flow::On)
    }

    fn sink(&self, target: Stream) -> Result<Sink, CommandError> {
        match target {
            Stream::Out => Ok(Sink::Out),
            Stream::Error => Ok(Sink::Error),
            Stream::File(name) => Sink::file(Path::new(&self.expanded(&name)?)),
        }
    }

    /// What a command names, with the values of variables.
    fn expanded(&self, text: &str) -> Result<String, CommandError> {
        if !self.variables.are_replaced() {
            return Ok(text.to_owned());
        }
        let replaced = BatchLines::default().replaced(text, |name| self.variables.value(name));
        Ok(replaced.map_err(not_defined)?.into_owned())
    }

    /// `:r`: the lines of another file as if they stood here.
    fn read_file(&mut self, name: &str) -> Result<Flow, CommandError> {
        if self.depth == DEPTH_MAX {
            let text = format!("{name} is read by scripts that read each other, {DEPTH_MAX} deep");
            return Err(CommandError::Usage(text));
        }
        let mut text = super::sql::read_script(Path::new(name))?;
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        self.depth += 1;
        let flow = self.read(&text);
        self.depth -= 1;
        flow
    }
}

fn not_defined(name: String) -> CommandError {
    CommandError::Usage(format!("'{name}' scripting variable not defined."))
}
