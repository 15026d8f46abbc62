//! Asking for a password at a terminal: what is typed shows as stars.

use rustyline::completion::Completer;
use rustyline::config::Configurer;
use rustyline::error::ReadlineError;
use rustyline::highlight::{CmdKind, Highlighter};
use rustyline::hint::Hinter;
use rustyline::history::DefaultHistory;
use rustyline::validate::Validator;
use rustyline::{ColorMode, Editor, Helper};
use std::borrow::Cow;
use std::io::IsTerminal;

/// Whether somebody is there to be asked.
pub fn can_ask() -> bool {
    std::io::stdin().is_terminal() && std::io::stdout().is_terminal()
}

/// Asks for a password.
///
/// # Errors
/// As [`ask_new`].
pub fn ask(whose: &str) -> Result<String, ReadlineError> {
    ask_hidden(&format!("password of {whose}: "))
}

/// Asks for a password with this prompt.
///
/// # Errors
/// As [`ask_new`].
pub fn ask_hidden(prompt: &str) -> Result<String, ReadlineError> {
    editor()?.readline(prompt)
}

/// Asks for a new password until it is typed twice alike; `None` for an empty one, which means what `empty` says.
///
/// # Errors
/// `Interrupted` and `Eof` when Ctrl-C or Ctrl-D is typed; what the terminal says.
pub fn ask_new(whose: &str, empty: &str) -> Result<Option<String>, ReadlineError> {
    let mut editor = editor()?;
    loop {
        let password = editor.readline(&format!("new password of {whose} (empty: {empty}): "))?;
        if password.is_empty() {
            return Ok(None);
        }
        if editor.readline("again: ")? == password {
            return Ok(Some(password));
        }
        eprintln!("the two are not alike");
    }
}

fn editor() -> Result<Editor<Stars, DefaultHistory>, ReadlineError> {
    let mut editor = Editor::new()?;
    editor.set_helper(Some(Stars));
    // Without colours the editor would show the line itself.
    editor.set_color_mode(ColorMode::Forced);
    editor.set_auto_add_history(false);
    Ok(editor)
}

/// Shows a star for each character.
struct Stars;

impl Highlighter for Stars {
    fn highlight<'l>(&self, line: &'l str, _: usize) -> Cow<'l, str> {
        Cow::Owned("*".repeat(line.chars().count()))
    }

    fn highlight_char(&self, _: &str, _: usize, kind: CmdKind) -> bool {
        kind != CmdKind::MoveCursor
    }
}

impl Completer for Stars {
    type Candidate = String;
}

impl Hinter for Stars {
    type Hint = String;
}

impl Validator for Stars {}

impl Helper for Stars {}
