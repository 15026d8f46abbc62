//! A pseudo-terminal with the binary at its other end.

use crate::tool::Folder;
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::thread::JoinHandle;

/// How long the screen may show nothing, in milliseconds: reached only when something is wrong.
const WAIT_MS: i32 = 60_000;

/// What switches a terminal between modes: bracketed paste, drawing at once.
const MODES: [&str; 4] = ["\u{1b}[?2004h", "\u{1b}[?2004l", "\u{1b}[?2026h", "\u{1b}[?2026l"];
/// Bytes of the longest of them.
const MODE_BYTES: usize = 8;

/// What a person has before them: keyboard, screen, and what runs there.
pub struct Terminal {
    keyboard: File,
    screen: File,
    program: Child,
    /// What the screen has shown after what was waited for.
    seen: String,
    /// All that it has shown.
    shown: String,
    /// Pastes under way.
    pasting: Vec<JoinHandle<()>>,
}

impl Terminal {
    /// Runs the binary in a folder.
    pub fn open(folder: &Folder, arguments: &[&str]) -> Terminal {
        Terminal::run(folder, folder.command(arguments))
    }

    /// Runs a command, whose home is the folder.
    pub fn run(folder: &Folder, mut command: Command) -> Terminal {
        let (mut ours, mut theirs) = (-1, -1);
        let null = std::ptr::null_mut();
        // SAFETY: both places are alive and take a descriptor each; name, modes and size are not asked for.
        let status = unsafe { libc::openpty(&raw mut ours, &raw mut theirs, null, null.cast(), null.cast()) };
        assert_eq!(status, 0, "{}", std::io::Error::last_os_error());
        // SAFETY: the call above has just opened both and nothing else owns them.
        let (ours, theirs) = unsafe { (File::from_raw_fd(ours), OwnedFd::from_raw_fd(theirs)) };
        let another = || Stdio::from(theirs.try_clone().expect("a descriptor"));
        command.env("TERM", "xterm").env("HOME", folder.path());
        if command.get_envs().all(|(name, _)| name != "NO_COLOR") {
            command.env("NO_COLOR", "1");
        }
        command.stdin(another()).stdout(another()).stderr(another());
        let own_terminal = || {
            // A test that runs in the background of a script has inherited that control-c is ignored.
            // SAFETY: all calls are allowed between fork and exec; standard input is the terminal.
            let done = unsafe {
                libc::signal(libc::SIGINT, libc::SIG_DFL) != libc::SIG_ERR
                    && libc::setsid() != -1
                    && libc::ioctl(0, libc::TIOCSCTTY, 0) != -1
            };
            if done { Ok(()) } else { Err(std::io::Error::last_os_error()) }
        };
        // SAFETY: the closure neither allocates nor takes locks.
        unsafe { command.pre_exec(own_terminal) };
        let program = command.spawn().expect("the binary starts");
        Terminal {
            keyboard: ours.try_clone().expect("a descriptor"),
            screen: ours,
            program,
            seen: String::new(),
            shown: String::new(),
            pasting: Vec::new(),
        }
    }

    /// Gives the screen a size; one that has none is as wide and as long as it must be.
    pub fn resize(&self, columns: u16, lines: u16) {
        let size = libc::winsize { ws_row: lines, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        // SAFETY: the size is alive during the call, which reads it.
        let status = unsafe { libc::ioctl(self.screen.as_raw_fd(), libc::TIOCSWINSZ, &raw const size) };
        assert_eq!(status, 0, "{}", std::io::Error::last_os_error());
    }

    /// Types lines, each when the shell asks for one, and waits for what they show.
    #[track_caller]
    pub fn run_lines(&mut self, lines: &str, shows: &str) {
        self.type_in(&format!("{lines}\n"));
        self.wait_for(shows);
        self.wait_for("1> ");
    }

    /// Reads until the screen shows `text` after what was waited for before.
    #[track_caller]
    pub fn wait_for(&mut self, text: &str) {
        let mut bytes = [0; 4096];
        loop {
            if let Some(place) = self.seen.find(text) {
                self.seen.drain(..place + text.len());
                return;
            }
            let count = if self.shows_more() { self.screen.read(&mut bytes).unwrap_or(0) } else { 0 };
            assert_ne!(count, 0, "it never showed {text:?}: {:?}", self.seen);
            self.keep(&bytes[..count]);
        }
    }

    /// Presses control-c until the screen shows `text`: before the batch has begun it has nothing to end. It is pressed again when
    /// the screen rests, and when a batch that shows something without end has filled it.
    #[track_caller]
    pub fn interrupt_until(&mut self, text: &str) {
        for _ in 0..600 {
            self.type_in("\u{3}");
            for _ in 0..100 {
                let mut screen = libc::pollfd { fd: self.screen.as_raw_fd(), events: libc::POLLIN, revents: 0 };
                // SAFETY: the one entry is alive during the call.
                if unsafe { libc::poll(&raw mut screen, 1, 100) != 1 } {
                    break;
                }
                let mut bytes = [0; 4096];
                let count = self.screen.read(&mut bytes).unwrap_or(0);
                self.keep(&bytes[..count]);
                if self.seen.contains(text) {
                    return self.wait_for(text);
                }
                assert_ne!(count, 0, "it never showed {text:?}: {:?}", self.seen);
            }
        }
        panic!("it never showed {text:?}: {:?}", self.seen);
    }

    fn keep(&mut self, bytes: &[u8]) {
        let text = String::from_utf8_lossy(bytes).replace('\r', "");
        for screen in [&mut self.seen, &mut self.shown] {
            // The screen shows nothing of a mode. One that is cut in two by a read is whole after the next one.
            let from = screen.floor_char_boundary(screen.len().saturating_sub(MODE_BYTES));
            let mut end = screen.split_off(from);
            end.push_str(&text);
            screen.push_str(&MODES.iter().fold(end, |end, mode| end.replace(mode, "")));
        }
    }

    /// Whether something comes within a time that is only reached when something is wrong.
    fn shows_more(&self) -> bool {
        let mut screen = libc::pollfd { fd: self.screen.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        // SAFETY: the one entry is alive during the call.
        unsafe { libc::poll(&raw mut screen, 1, WAIT_MS) == 1 }
    }

    /// Types a text.
    pub fn type_in(&mut self, text: &str) {
        self.pasting.drain(..).for_each(|paste| paste.join().expect("it does not fail"));
        self.keyboard.write_all(text.as_bytes()).expect("the terminal takes it");
    }

    /// Types a long text as a terminal does: what the program has not read yet waits.
    pub fn paste(&mut self, text: &str) {
        let (mut keyboard, text) = (self.keyboard.try_clone().expect("a descriptor"), text.to_owned());
        // A program that has ended reads no more; the test sees that elsewhere.
        self.pasting.push(std::thread::spawn(move || drop(keyboard.write_all(text.as_bytes()))));
    }

    /// All that the screen has shown, when the program has ended.
    pub fn shown(&mut self) -> &str {
        let mut bytes = [0; 4096];
        while self.shows_more() {
            match self.screen.read(&mut bytes) {
                Ok(count @ 1..) => self.keep(&bytes[..count]),
                // The other end is closed.
                Ok(0) | Err(_) => break,
            }
        }
        &self.shown
    }

    /// The exit status.
    pub fn end(mut self) -> Option<i32> {
        self.program.wait().expect("it ends").code()
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // It has ended, unless the test failed.
        let _ = self.program.kill();
        let _ = self.program.wait();
    }
}
