//! The terminal's mode while no line is edited.
//!
//! ```text
//!   readline: raw, bracketed paste on  -->  batch runs: quiet, bracketed paste on  -->  readline: raw ...
//! ```
//! Quiet means that the kernel keeps what is typed ahead as it is: it neither shows it in the midst of results, nor edits it, nor
//! takes control-d out of it. The line editor reads it next. Control-c stays a signal.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::termios::{self, InputModes, LocalModes, OptionalActions, QueueSelector, SpecialCodeIndex, Termios};
use std::io::{self, IsTerminal, Write};

/// Terminals that the line editor reads plain lines from.
const PLAIN: [&str; 3] = ["dumb", "cons25", "emacs"];
/// A paste is over when nothing came for so long.
const PASTE_PAUSE: Timespec = Timespec { tv_sec: 0, tv_nsec: 20_000_000 };

const BRACKETED_PASTE: &[u8] = b"\x1b[?2004h";
const PLAIN_PASTE: &[u8] = b"\x1b[?2004l";

/// The mode that the terminal had, and the quiet one. Clones are of the same terminal.
#[derive(Clone)]
pub struct Quiet {
    /// None on a terminal whose lines the kernel edits.
    former: Option<Termios>,
}

/// Keeps the terminal quiet until it is dropped.
pub struct QuietGuard(Quiet);

impl Quiet {
    /// Of the terminal of standard input.
    pub fn new() -> Quiet {
        let is_plain = std::env::var("TERM").is_ok_and(|name| PLAIN.contains(&name.to_lowercase().as_str()));
        let is_terminal = io::stdin().is_terminal() && io::stdout().is_terminal();
        Quiet { former: if is_plain || !is_terminal { None } else { termios::tcgetattr(io::stdin()).ok() } }
    }

    /// Makes the terminal quiet.
    pub fn begin(&self) -> QuietGuard {
        self.resume();
        QuietGuard(self.clone())
    }

    /// The same after something else had the terminal.
    pub fn resume(&self) {
        let Some(mut mode) = self.former.clone() else { return };
        mode.local_modes &= !(LocalModes::ICANON | LocalModes::ECHO | LocalModes::ECHONL | LocalModes::IEXTEN);
        mode.input_modes &= !InputModes::ICRNL;
        mode.special_codes[SpecialCodeIndex::VMIN] = 1;
        mode.special_codes[SpecialCodeIndex::VTIME] = 0;
        // A terminal that refuses shows what is typed ahead, and loses none of it.
        let _ = termios::tcsetattr(io::stdin(), OptionalActions::Drain, &mode);
    }

    /// The mode from before, for something else that gets the terminal.
    pub fn pause(&self) {
        if let Some(former) = &self.former {
            show(PLAIN_PASTE);
            // As above.
            let _ = termios::tcsetattr(io::stdin(), OptionalActions::Drain, former);
        }
    }

    /// The editor has given a line: a paste that comes before it asks for the next one is marked as one too.
    pub fn line_ends(&self) {
        if self.former.is_some() {
            show(BRACKETED_PASTE);
        }
    }

    /// Drops what has been typed and not read, and the rest of a paste that still comes.
    pub fn drop_input(&self) {
        if self.former.is_none() {
            return;
        }
        let input = io::stdin();
        loop {
            // What cannot be dropped is read.
            if termios::tcflush(&input, QueueSelector::IFlush).is_err() {
                return;
            }
            let mut waiting = [PollFd::new(&input, PollFlags::IN)];
            match poll(&mut waiting, Some(&PASTE_PAUSE)) {
                Ok(1..) if waiting[0].revents() == PollFlags::IN => {}
                _ => return,
            }
        }
    }
}

impl Drop for QuietGuard {
    fn drop(&mut self) {
        self.0.pause();
    }
}

/// Columns and lines of the terminal that standard output is; None: it is none, or does not know.
pub fn size() -> Option<(usize, usize)> {
    let size = termios::tcgetwinsize(io::stdout()).ok()?;
    (size.ws_col > 0 && size.ws_row > 0).then(|| (size.ws_col.into(), size.ws_row.into()))
}

/// Whether standard output shows colours: see <https://no-color.org>.
pub fn has_colours() -> bool {
    let is_asked_not_to = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let is_dumb = std::env::var_os("TERM").is_none_or(|name| name.is_empty() || name == "dumb");
    io::stdout().is_terminal() && !is_asked_not_to && !is_dumb
}

/// Bytes that have been typed and not been read.
pub fn bytes_waiting() -> u64 {
    rustix::io::ioctl_fionread(io::stdin()).unwrap_or(0)
}

fn show(sequence: &[u8]) {
    let mut out = io::stdout();
    // What follows tells when the terminal is gone.
    let _ = out.write_all(sequence).and_then(|()| out.flush());
}
