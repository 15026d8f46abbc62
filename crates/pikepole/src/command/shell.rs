//! The interactive shell: lines are gathered until GO, then run as a batch.

use super::CommandError;
use super::output::Printer;
use super::session::{Cancel, Session};
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
pub fn run(session: &mut Session, printer: &mut Printer, interrupt: &Interrupt) -> Result<bool, CommandError> {
    writeln!(io::stdout(), "{GREETING}").map_err(CommandError::io("standard output"))?;
    let mut editor = DefaultEditor::new()?;
    let history = history_path();
    if let Some(path) = &history {
        // A first run has no history yet.
        let _ = editor.load_history(path);
    }
    let mut clean = true;
    let mut batch = String::new();
    let mut lines = 0;
    loop {
        match editor.readline(&format!("{}> ", lines + 1)) {
            Ok(line) if is_exit(&line) => break,
            Ok(line) => {
                editor.add_history_entry(&line)?;
                batch.push_str(&line);
                batch.push('\n');
                lines += 1;
            }
            Err(ReadlineError::Interrupted) => {
                batch.clear();
                lines = 0;
                continue;
            }
            Err(ReadlineError::Eof) => break,
            Err(error) => return Err(error.into()),
        }
        if pikepole_tsql::ends_with_go(&batch) {
            interrupt.0.pressed.store(false, Ordering::Relaxed);
            *interrupt.0.running() = Some(session.cancel());
            let ran = run_batches(session, printer, &batch, &interrupt.0.pressed);
            *interrupt.0.running() = None;
            clean &= ran?;
            batch.clear();
            lines = 0;
        }
    }
    if let Some(path) = &history {
        // Losing the history loses no data.
        let _ = editor.save_history(path);
    }
    Ok(clean)
}

fn run_batches(
    session: &mut Session,
    printer: &mut Printer,
    text: &str,
    interrupted: &AtomicBool,
) -> Result<bool, CommandError> {
    let mut clean = true;
    for batch in pikepole_tsql::split_batches(text) {
        for _ in 0..batch.count {
            if interrupted.load(Ordering::Relaxed) {
                return Ok(false);
            }
            clean &= session.print(batch.text, batch.line - 1, printer)?;
        }
    }
    Ok(clean)
}

fn is_exit(line: &str) -> bool {
    matches!(line.trim().trim_end_matches(';').to_ascii_lowercase().as_str(), "exit" | "quit" | ":q")
}

fn history_path() -> Option<PathBuf> {
    std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".pikepole_history"))
}
