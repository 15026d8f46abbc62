//! The line editor: what is typed and pasted, line by line, and the history.
//!
//! ```text
//!   keys --> rustyline --> a line                    --> the shell
//!                      --> a paste, or a batch of the history: several lines --> a queue --> the shell
//! ```
//! What rustyline has read and not used stays in its buffer for the next line. Control-c is a line that is dropped: rustyline's own
//! treatment would lose the buffer, and the line.

use super::completion::{Assistant, Names};
use crate::command::{CommandError, terminal};
use pikepole_contention::sync::atomic::{AtomicBool, Ordering};
use pikepole_contention::sync::{Arc, Mutex};
use rustyline::error::ReadlineError;
use rustyline::history::{DefaultHistory, History};
use rustyline::{
    Cmd, CompletionType, ConditionalEventHandler, Config, Editor as LineEditor, Event, EventContext, EventHandler,
    KeyCode, KeyEvent, Modifiers, RepeatCount,
};
use std::collections::VecDeque;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Batches that the history keeps.
const HISTORY_MAX: usize = 1000;
/// Bytes of a batch that the history keeps; a longer one is not worth to be edited.
const ENTRY_BYTES_MAX: usize = 64 << 10;
/// Keys that follow each other faster than this come from a paste.
const TYPED_PAUSE: Duration = Duration::from_millis(8);

/// What comes from the keyboard.
pub enum Input {
    /// A line.
    Line {
        /// Without its end.
        text: String,
        /// It is the first of what was accepted at once.
        is_first: bool,
    },
    /// Control-c was pressed on this line.
    Dropped(String),
    /// Control-d on an empty line.
    End,
}

/// See the module.
pub struct Editor {
    lines: LineEditor<Assistant, DefaultHistory>,
    /// Lines that were accepted and not taken.
    accepted: VecDeque<String>,
    dropped: Arc<AtomicBool>,
    names: Arc<Mutex<Names>>,
    history: Option<PathBuf>,
}

impl Editor {
    /// An editor on the terminal, with the history of the user.
    pub fn open(names: &Arc<Mutex<Names>>) -> Result<Editor, CommandError> {
        let dropped = Arc::new(AtomicBool::new(false));
        let mut lines = line_editor(&dropped, names)?;
        let history = std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".pikepole_history"));
        if let Some(path) = &history {
            // A first run has no history yet.
            let _ = lines.load_history(path);
        }
        Ok(Editor { lines, accepted: VecDeque::new(), dropped, names: Arc::clone(names), history })
    }

    /// The next line; the prompt as it is, and as it is shown where there are colours.
    pub fn next(&mut self, prompt: &str, painted: &str) -> Result<Input, CommandError> {
        if let Some(text) = self.accepted.pop_front() {
            return Ok(Input::Line { text, is_first: false });
        }
        let text = match self.lines.readline(&(prompt, painted)) {
            Ok(text) => text,
            Err(ReadlineError::Interrupted) => return Ok(Input::Dropped(String::new())),
            Err(ReadlineError::Eof) => return Ok(Input::End),
            Err(error) => return Err(error.into()),
        };
        if self.dropped.swap(false, Ordering::Relaxed) {
            return Ok(Input::Dropped(text));
        }
        self.accepted.extend(text.split('\n').map(str::to_owned));
        // Return was pressed behind the line end of a paste.
        if self.accepted.len() > 1 {
            self.accepted.pop_back_if(|line| line.is_empty());
        }
        Ok(Input::Line { text: self.accepted.pop_front().unwrap_or_default(), is_first: true })
    }

    /// Drops what has been typed ahead.
    pub fn drop_ahead(&mut self) -> Result<(), CommandError> {
        self.accepted.clear();
        // The buffer of what was read and not used is the old editor's.
        let mut fresh = line_editor(&self.dropped, &self.names)?;
        std::mem::swap(fresh.history_mut(), self.lines.history_mut());
        self.lines = fresh;
        Ok(())
    }

    /// Keeps a batch, or a command, in the history.
    pub fn remember(&mut self, entry: &str) {
        let entry = entry.trim_end();
        if entry.len() > ENTRY_BYTES_MAX || is_secret(entry) {
            return;
        }
        // Losing the history loses no data.
        if self.lines.add_history_entry(entry).is_ok_and(|is_new| is_new)
            && let Some(path) = &self.history
        {
            let _ = self.lines.append_history(path);
        }
    }
}

fn line_editor(
    dropped: &Arc<AtomicBool>,
    names: &Arc<Mutex<Names>>,
) -> Result<LineEditor<Assistant, DefaultHistory>, CommandError> {
    let config = Config::builder().max_history_size(HISTORY_MAX)?.completion_type(CompletionType::List).build();
    let mut history = DefaultHistory::with_config(&config);
    history.ignore_space(false);
    let mut lines = LineEditor::with_history(config, history)?;
    lines.set_helper(Some(Assistant::new(names)));
    let keys = Keys { dropped: Arc::clone(dropped), last: Mutex::new(None) };
    lines.bind_sequence(Event::Any, EventHandler::Conditional(Box::new(keys)));
    Ok(lines)
}

/// Whether a password stands in it.
fn is_secret(entry: &str) -> bool {
    let lower = entry.to_ascii_lowercase();
    lower.match_indices("password").any(|(at, word)| lower[at + word.len()..].trim_start().starts_with('='))
}

/// Looks at each key before rustyline does.
struct Keys {
    dropped: Arc<AtomicBool>,
    last: Mutex<Option<Instant>>,
}

impl ConditionalEventHandler for Keys {
    fn handle(&self, event: &Event, _: RepeatCount, _: bool, context: &EventContext<'_>) -> Option<Cmd> {
        let now = Instant::now();
        let last = self.last.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).replace(now);
        let Event::KeySeq(keys) = event else { return None };
        match keys.as_slice() {
            [KeyEvent(KeyCode::Char('C'), Modifiers::CTRL)] => {
                self.dropped.store(true, Ordering::Relaxed);
                Some(Cmd::AcceptLine)
            }
            [KeyEvent(KeyCode::Tab, Modifiers::NONE) | KeyEvent(KeyCode::Char('I'), Modifiers::CTRL)] => {
                let is_pasted = last.is_some_and(|last| now.duration_since(last) < TYPED_PAUSE);
                let before = context.line()[..context.pos()].chars().next_back();
                let has_word = before.is_some_and(|c| !c.is_whitespace());
                let completes = has_word && !is_pasted && terminal::bytes_waiting() == 0;
                (!completes).then(|| Cmd::Insert(1, "\t".to_owned()))
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::is_secret;

    #[test]
    fn passwords_are_not_kept() {
        assert!(is_secret("CREATE LOGIN a WITH PASSWORD = 'x'"));
        assert!(is_secret("ALTER LOGIN a WITH CHECK_POLICY = OFF, Password='x'"));
        assert!(!is_secret("SELECT password FROM dbo.t"));
    }
}
