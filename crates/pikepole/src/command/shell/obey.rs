//! What the shell's own commands do.

use super::commands::{HELP, ShellCommand, Switch};
use super::{Shell, Vertical, catalog, transfer};
use crate::command::CommandError;
use crate::command::output::Sink;
use crate::command::script::Script;
use pikepole_contention::sync::thread;
use std::path::Path;
use std::time::{Duration, Instant};

/// How long a pause goes on after Ctrl-C, at most.
const LOOK_EVERY: Duration = Duration::from_millis(50);

impl Shell<'_> {
    pub(super) fn obey(&mut self, command: ShellCommand) -> Result<(), CommandError> {
        match command {
            ShellCommand::Help => self.say(HELP),
            ShellCommand::Tables => self.show(catalog::TABLES),
            ShellCommand::Databases => self.show(catalog::DATABASES),
            ShellCommand::Describe(name) => self.show(&catalog::describe(&name)),
            ShellCommand::Vertical(switch) => self.set_vertical(switch),
            ShellCommand::RowsMax(rows) => {
                if let Some(view) = self.script.printer().view_mut() {
                    view.rows_max = rows;
                }
                match rows {
                    0 => self.say("All rows of a result are shown."),
                    rows => self.say(&format!("Up to {rows} rows of a result are shown, the others counted.")),
                }
            }
            ShellCommand::Pager(switch) => {
                self.settings.pages = switched(switch, self.settings.pages);
                self.say_switch("The pager", self.settings.pages)
            }
            ShellCommand::Timing(switch) => {
                self.settings.times = switched(switch, self.settings.times);
                self.say_switch("The elapsed time of batches", self.settings.times)
            }
            ShellCommand::Progress(switch) => {
                self.settings.progress = switched(switch, self.settings.progress);
                self.say_switch("The progress line of long batches", self.settings.progress)
            }
            ShellCommand::Semicolon(switch) => {
                self.settings.semicolon = switched(switch, self.settings.semicolon);
                self.say_switch("Running a batch at a ; at a line's end", self.settings.semicolon)
            }
            ShellCommand::Out(None) => {
                self.script.printer().set_out(Sink::Out);
                Ok(())
            }
            ShellCommand::Out(Some(file)) => {
                let sink = Sink::file(Path::new(&file)).map_err(as_usage)?;
                self.script.printer().set_out(sink);
                Ok(())
            }
            ShellCommand::Watch(seconds) => self.watch(Duration::from_secs_f64(seconds)),
            ShellCommand::Import { file, table } => {
                let progress = self.progress.clone();
                let import = |script: &mut Script<'_>| {
                    transfer::import(script.session_mut(), &file, table.as_deref(), &progress)
                };
                let done = self.timed(import);
                self.say(&done.map_err(as_usage)?)
            }
            ShellCommand::Export { file, query } => {
                let done = self.timed(|script| transfer::export(script.session_mut(), &file, &query));
                match done.map_err(as_usage)? {
                    Some(text) => self.say(&text),
                    None => Err(CommandError::Usage(format!("{file} does not have the whole result"))),
                }
            }
        }
    }

    fn say(&mut self, text: &str) -> Result<(), CommandError> {
        self.script.printer().say(text)
    }

    fn say_switch(&mut self, what: &str, is_on: bool) -> Result<(), CommandError> {
        self.say(&format!("{what}: {}", if is_on { "on" } else { "off" }))
    }

    /// Runs a batch of the shell's own.
    fn show(&mut self, sql: &str) -> Result<(), CommandError> {
        self.timed(|script| script.show(sql))
    }

    fn set_vertical(&mut self, switch: Switch) -> Result<(), CommandError> {
        let Some(view) = self.script.printer().view_mut() else { return Ok(()) };
        view.vertical = match switch {
            Switch::On => Vertical::On,
            Switch::Off => Vertical::Off,
            Switch::Auto => Vertical::Auto,
            Switch::Other if view.vertical == Vertical::On => Vertical::Auto,
            Switch::Other => Vertical::On,
        };
        let text = match view.vertical {
            Vertical::On => "Rows are shown one under the other.",
            Vertical::Off => "Rows are shown as tables.",
            Vertical::Auto => "Rows are shown as tables, one under the other where those are too wide.",
        };
        self.say(text)
    }

    /// Runs the last batch again and again until Ctrl-C.
    fn watch(&mut self, pause: Duration) -> Result<(), CommandError> {
        let Some(batch) = self.script.last_batch().map(str::to_owned) else {
            return Err(CommandError::Usage("No batch has run that \\watch could run again.".to_owned()));
        };
        loop {
            self.timed(|script| script.again(&batch))?;
            let begun = Instant::now();
            while begun.elapsed() < pause && !self.interrupt.is_pressed() {
                thread::sleep(LOOK_EVERY.min(pause.saturating_sub(begun.elapsed())));
            }
            if self.interrupt.is_pressed() {
                return Ok(());
            }
        }
    }
}

fn switched(switch: Switch, now: bool) -> bool {
    match switch {
        Switch::On | Switch::Auto => true,
        Switch::Off => false,
        Switch::Other => !now,
    }
}

/// A command that fails does not end the shell, unless the session has ended.
pub(super) fn as_usage(error: CommandError) -> CommandError {
    match error {
        CommandError::Io { .. } | CommandError::Engine(pikepole::Error::Sql(_)) => {
            CommandError::Usage(error.to_string())
        }
        CommandError::Client(pikepole_client::ClientError::Sql(_)) => CommandError::Usage(error.to_string()),
        error => error,
    }
}
