//! The interactive shell: lines are gathered until GO, then run as a batch.

use super::CommandError;
use super::script::{Flow, Script};
use super::session::Cancel;
use pikepole_contention::sync::atomic::{AtomicBool, Ordering};
use pikepole_contention::sync::{Arc, Mutex, MutexGuard};
use rustyline::DefaultEditor;
use rustyline::error::ReadlineError;
use std::io::{self, Write};
use std::path::PathBuf;

const GREETING: &str = "Pikepole T-SQL shell. GO on a line of its own runs the batch; `exit` or Ctrl-D leaves; \
    Ctrl-C drops the batch, or ends it while it runs.";

/// Ctrl-C while a batch runs. (While a line is typed the terminal gives it to the line editor as a key.)
pub struct Interrupt(Arc<State>);

#[derive(Default)]
struct State {
    /// What ends the batch that is running.
    running: Mutex<Option<Cancel>>,
    /// It came since the last line was typed.
    pressed: AtomicBool,
}

impl Interrupt {
    /// From now on Ctrl-C does not end the process.
    pub fn catch() -> Result<Interrupt, CommandError> {
        let state = Arc::new(State::default());
        let ours = Arc::clone(&state);
        let pressed = move || {
            ours.pressed.store(true, Ordering::Relaxed);
            if let Some(cancel) = &*ours.running() {
                cancel();
            }
        };
        pikepole_machine::interrupt::on_interrupt(pressed).map_err(CommandError::io("the interrupt signal"))?;
        Ok(Interrupt(state))
    }
}

impl State {
    fn running(&self) -> MutexGuard<'_, Option<Cancel>> {
        // Each change is a single store.
        self.running.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

/// Reads, runs and prints until the end of input; whether no batch failed.
pub fn run(script: Script<'_>, interrupt: &Interrupt) -> Result<bool, CommandError> {
    let mut script = script.interrupted_by(&interrupt.0.pressed);
    writeln!(io::stdout(), "{GREETING}").map_err(CommandError::io("standard output"))?;
    let mut editor = DefaultEditor::new()?;
    let history = history_path();
    if let Some(path) = &history {
        // A first run has no history yet.
        let _ = editor.load_history(path);
    }
    loop {
        match editor.readline(&format!("{}> ", script.next_line())) {
            Ok(line) => {
                if take(&mut script, line.clone(), interrupt)? == Flow::Quit {
                    break;
                }
                editor.add_history_entry(&line)?;
            }
            Err(ReadlineError::Interrupted) => script.reset(),
            Err(ReadlineError::Eof) => break,
            Err(error) => return Err(error.into()),
        }
    }
    if let Some(path) = &history {
        // Losing the history loses no data.
        let _ = editor.save_history(path);
    }
    Ok(script.is_clean())
}

/// Takes a line that was typed; what it runs can be interrupted.
fn take(script: &mut Script<'_>, mut line: String, interrupt: &Interrupt) -> Result<Flow, CommandError> {
    line.push('\n');
    interrupt.0.pressed.store(false, Ordering::Relaxed);
    *interrupt.0.running() = Some(script.session().cancel());
    let taken = script.line(&line, script.next_line());
    *interrupt.0.running() = None;
    match taken {
        // What was typed wrong is typed again.
        Err(CommandError::Usage(text)) => script.complain(&text).map(|()| Flow::On),
        taken => taken,
    }
}

fn history_path() -> Option<PathBuf> {
    std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".pikepole_history"))
}
