//! The interactive shell: lines are gathered until GO, then run as a batch.
//!
//! | what | where |
//! |---|---|
//! | keys, pastes, history | `editor` |
//! | Ctrl-C while a batch runs | `interrupt` |
//! | the commands that are the shell's own, and what they do | `commands`, `obey` |
//! | what tab completes | `completion` |
//! | what `\d` asks | `catalog` |
//! | CSV files and Parquet files | `transfer`, `csv`, `parquet` |

mod catalog;
mod commands;
mod completion;
mod csv;
mod editor;
mod interrupt;
mod obey;
#[cfg(feature = "parquet")]
mod parquet;
mod transfer;

pub use interrupt::Interrupt;

use super::CommandError;
use super::pager::Paging;
use super::progress::{Line, Looker};
use super::script::{Flow, Script};
use super::terminal::{self, Quiet};
use super::view::{Vertical, View};
use completion::Names;
use editor::{Editor, Input};
use pikepole_contention::sync::{Arc, Mutex};
use std::io::{self, IsTerminal, Write};
use std::time::Instant;

const GREETING: &str = "Pikepole T-SQL shell. GO on a line of its own runs the batch (\\semicolon on: a ; at a line's end does, too). \
    help lists the commands; `exit` or Ctrl-D leaves; Ctrl-C drops the batch, or ends it while it runs.";

/// Reads, runs and prints until the end of input; whether no batch failed.
pub fn run(script: Script<'_>, interrupt: &Interrupt, is_table: bool) -> Result<bool, CommandError> {
    let mut script = script.interrupted_by(interrupt.pressed());
    writeln!(io::stdout(), "{GREETING}").map_err(CommandError::io("standard output"))?;
    if is_table {
        script.printer().set_view(Some(View::new(None, terminal::has_colours())));
    }
    let names = Names::new(script.session().another());
    let another = script.session().another();
    let looker = Looker::new(another, script.session_mut().id()?);
    let progress = Line::default();
    script.printer().set_progress(progress.clone());
    let terminal = Quiet::new();
    let mut shell = Shell {
        script,
        interrupt,
        editor: Editor::open(&names)?,
        names,
        terminal: terminal.clone(),
        entry: String::new(),
        progress,
        looker,
        settings: Settings { times: is_table, semicolon: false, pages: true, progress: is_table },
    };
    let quiet = terminal.begin();
    let done = shell.run();
    drop(quiet);
    // Before the engine is closed.
    shell.names.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).close();
    shell.looker.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).close();
    done.map(|()| shell.script.is_clean())
}

/// What the user has switched.
struct Settings {
    /// Shows the elapsed time of each batch.
    times: bool,
    /// A semicolon at a line's end runs the batch.
    semicolon: bool,
    /// Long results go to a pager.
    pages: bool,
    /// A line tells how far a long batch is.
    progress: bool,
}

struct Shell<'a> {
    script: Script<'a>,
    interrupt: &'a Interrupt,
    editor: Editor,
    names: Arc<Mutex<Names>>,
    terminal: Quiet,
    /// What has been typed since the last batch ran, for the history.
    entry: String,
    progress: Line,
    looker: Arc<Mutex<Looker>>,
    settings: Settings,
}

impl Shell<'_> {
    fn run(&mut self) -> Result<(), CommandError> {
        loop {
            let (prompt, painted) = self.prompt();
            match self.editor.next(&prompt, &painted)? {
                Input::Line { text, is_first } => {
                    if is_first {
                        self.interrupt.forget();
                        self.terminal.line_ends();
                    }
                    if self.line(&text)? == Flow::Quit {
                        return Ok(());
                    }
                    if self.interrupt.is_pressed() {
                        self.script.reset();
                        self.terminal.drop_input();
                        self.editor.drop_ahead()?;
                    }
                }
                Input::Dropped(text) => {
                    self.entry.push_str(&text);
                    self.remember();
                    self.script.reset();
                }
                Input::End => {
                    self.remember();
                    return Ok(());
                }
            }
        }
    }

    /// The prompt as it is, and in colours: the database, a star while a transaction is open, what is open in the line before.
    fn prompt(&mut self) -> (String, String) {
        let session = self.script.session();
        let database = session.database();
        let star = if session.is_in_transaction() { "*" } else { "" };
        let rest = format!(" {}{}> ", self.script.next_line(), self.script.open_mark());
        self.names.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).set_database(&database);
        let plain = format!("{database}{star}{rest}");
        let painted = match terminal::has_colours() {
            true => format!("\x1b[36m{database}\x1b[31m{star}\x1b[0m{rest}"),
            false => plain.clone(),
        };
        (plain, painted)
    }

    /// Takes a line that was typed; what it runs can be interrupted.
    fn line(&mut self, text: &str) -> Result<Flow, CommandError> {
        self.look_at_terminal();
        let line = format!("{text}\n");
        let is_own = self.script.open_mark().is_empty() && (self.script.is_empty() || text.starts_with(['\\', ':']));
        let taken = match commands::parse(text).filter(|_| is_own) {
            Some(Ok(command)) => self.obey(command).map(|()| Flow::On),
            Some(Err(wrong)) => Err(CommandError::Usage(wrong)),
            None => self.take(&line),
        };
        let flow = match taken {
            // What was typed wrong is typed again.
            Err(CommandError::Usage(text)) => self.script.complain(&text).map(|()| Flow::On)?,
            taken => taken?,
        };
        if flow == Flow::On {
            self.entry.push_str(&line);
            if self.script.is_empty() {
                self.remember();
            }
        }
        Ok(flow)
    }

    /// Takes a line of T-SQL, or of the commands that scripts have too.
    fn take(&mut self, line: &str) -> Result<Flow, CommandError> {
        let flow = self.timed(|script| script.line(line, script.next_line()))?;
        let is_ended = self.settings.semicolon && self.script.open_mark().is_empty() && line.trim_end().ends_with(';');
        if flow == Flow::On && is_ended && !self.script.is_empty() {
            return self.timed(|script| script.line("GO\n", script.next_line()));
        }
        Ok(flow)
    }

    /// Runs something that Ctrl-C ends, and tells how long it took if batches ran.
    fn timed<T>(
        &mut self,
        f: impl FnOnce(&mut super::script::Script<'_>) -> Result<T, CommandError>,
    ) -> Result<T, CommandError> {
        let cancel = self.script.session().cancel();
        let (began, before) = (Instant::now(), self.script.batches_run());
        let shows = self.settings.progress && self.script.printer().is_on_terminal() && io::stderr().is_terminal();
        let script = &mut self.script;
        let run = || self.interrupt.ending(cancel, || f(script));
        let done = if shows { self.progress.during(&self.looker, run) } else { run() }?;
        let elapsed = began.elapsed();
        if self.settings.times && self.script.batches_run() > before && self.script.printer().is_on_terminal() {
            let text = format!("Time: {}.{:03} s", elapsed.as_secs(), elapsed.subsec_millis());
            let text = self.script.printer().view_mut().map_or(text.clone(), |view| view.remark(&text));
            self.script.printer().say(&text)?;
        }
        Ok(done)
    }

    /// Fits what is shown to the terminal as it is now.
    fn look_at_terminal(&mut self) {
        let size = terminal::size();
        let pages = self.settings.pages;
        let terminal = self.terminal.clone();
        let printer = self.script.printer();
        let is_shown = printer.is_on_terminal();
        let paging = size.filter(|_| pages && is_shown && printer.view_mut().is_some());
        let progress = self.progress.clone();
        printer.set_paging(paging.map(|(_, lines)| Paging { lines, terminal, progress }));
        if let Some(view) = printer.view_mut() {
            view.width = size.map(|(columns, _)| columns).filter(|_| is_shown);
            view.colour = is_shown && terminal::has_colours();
        }
    }

    /// What has been typed comes back with the arrow keys.
    fn remember(&mut self) {
        self.editor.remember(&self.entry);
        self.entry.clear();
    }
}
