//! What is longer than the terminal goes to the user's pager.
//!
//! ```text
//!   lines --> held, as long as they fit the screen --> standard output
//!         --> more than that                       --> the pager, until the user leaves it; then they are dropped
//! ```

use super::progress::Line;
use super::terminal::Quiet;
use std::io::{self, Write};
use std::process::{Child, Command, Stdio};

/// The pager of users who name none.
const PAGER: &str = "less";
/// How `less` is to behave for users who do not say: colours, and no clearing of the screen when it ends.
const LESS: &str = "RX";

/// What a pager needs.
#[derive(Clone)]
pub struct Paging {
    /// Lines of the terminal.
    pub lines: usize,
    /// The terminal, which the pager gets.
    pub terminal: Quiet,
    /// The progress line, which stays away meanwhile.
    pub progress: Line,
}

/// Writes to the terminal, or to a pager.
pub struct Paged {
    paging: Paging,
    held: Vec<u8>,
    lines: usize,
    pager: Option<Child>,
    /// No pager could be started, or the user has left it.
    state: State,
}

#[derive(PartialEq, Eq)]
enum State {
    Gathers,
    Direct,
    Pages,
    Left,
}

impl Paged {
    /// Nothing has been written.
    pub fn new(paging: Paging) -> Paged {
        Paged { paging, held: Vec::new(), lines: 0, pager: None, state: State::Gathers }
    }

    /// Starts the pager with what is held.
    fn start(&mut self) -> io::Result<()> {
        let named = std::env::var("PAGER").ok().filter(|name| !name.trim().is_empty());
        let mut command = Command::new("sh");
        command.arg("-c").arg(named.as_deref().unwrap_or(PAGER)).stdin(Stdio::piped());
        if std::env::var_os("LESS").is_none() {
            command.env("LESS", LESS);
        }
        self.paging.progress.hide(true);
        self.paging.terminal.pause();
        match command.spawn() {
            Ok(child) => (self.pager, self.state) = (Some(child), State::Pages),
            Err(_) => {
                self.paging.terminal.resume();
                self.paging.progress.hide(false);
                self.state = State::Direct;
            }
        }
        let held = std::mem::take(&mut self.held);
        self.write_all(&held)
    }
}

impl Write for Paged {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.state {
            State::Gathers => {
                self.held.extend_from_slice(bytes);
                self.lines += bytes.iter().filter(|byte| **byte == b'\n').count();
                if self.lines >= self.paging.lines {
                    self.start()?;
                }
            }
            State::Direct => io::stdout().write_all(bytes)?,
            State::Pages => {
                let stdin = self.pager.as_mut().and_then(|pager| pager.stdin.as_mut());
                if stdin.is_none_or(|stdin| stdin.write_all(bytes).is_err()) {
                    self.state = State::Left;
                }
            }
            State::Left => {}
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        match self.state {
            // Somebody waits for it. What has been shown is not shown again in a pager.
            State::Gathers => {
                let mut out = io::stdout();
                out.write_all(&self.held)?;
                self.held.clear();
                out.flush()
            }
            State::Direct => io::stdout().flush(),
            State::Pages | State::Left => Ok(()),
        }
    }
}

impl Drop for Paged {
    fn drop(&mut self) {
        // A terminal that has gone needs nothing more.
        let _ = self.flush();
        if let Some(mut pager) = self.pager.take() {
            drop(pager.stdin.take());
            let _ = pager.wait();
            self.paging.terminal.resume();
            self.paging.progress.hide(false);
        }
    }
}
