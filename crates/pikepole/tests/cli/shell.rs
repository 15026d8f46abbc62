//! The interactive shell on a terminal of its own.

use crate::tool::Folder;
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Stdio};

/// A pseudo-terminal with the shell at its other end.
struct Terminal {
    keyboard: File,
    screen: File,
    shell: Child,
    seen: String,
}

impl Terminal {
    fn open(folder: &Folder) -> Terminal {
        let (mut ours, mut theirs) = (-1, -1);
        let null = std::ptr::null_mut();
        // SAFETY: both places are alive and take a descriptor each; name, modes and size are not asked for.
        let status = unsafe { libc::openpty(&raw mut ours, &raw mut theirs, null, null.cast(), null.cast()) };
        assert_eq!(status, 0, "{}", std::io::Error::last_os_error());
        // SAFETY: the call above has just opened both and nothing else owns them.
        let (ours, theirs) = unsafe { (File::from_raw_fd(ours), OwnedFd::from_raw_fd(theirs)) };
        let another = || Stdio::from(theirs.try_clone().expect("a descriptor"));
        let mut command = folder.command(["sql", "-d", "data"]);
        command.env("TERM", "xterm").env("HOME", folder.path());
        command.stdin(another()).stdout(another()).stderr(another());
        let own_terminal = || {
            // SAFETY: both calls are allowed between fork and exec; standard input is the terminal.
            let done = unsafe { libc::setsid() != -1 && libc::ioctl(0, libc::TIOCSCTTY, 0) != -1 };
            if done { Ok(()) } else { Err(std::io::Error::last_os_error()) }
        };
        // SAFETY: the closure neither allocates nor takes locks.
        unsafe { command.pre_exec(own_terminal) };
        let shell = command.spawn().expect("the binary starts");
        Terminal { keyboard: ours.try_clone().expect("a descriptor"), screen: ours, shell, seen: String::new() }
    }

    /// Reads until the screen shows `text` after what was waited for before.
    #[track_caller]
    fn wait_for(&mut self, text: &str) {
        let mut bytes = [0; 4096];
        loop {
            if let Some(place) = self.seen.find(text) {
                self.seen.drain(..place + text.len());
                return;
            }
            let count = if self.shows_more() { self.screen.read(&mut bytes).unwrap_or(0) } else { 0 };
            assert_ne!(count, 0, "the shell never showed {text:?}: {:?}", self.seen);
            self.seen.push_str(&String::from_utf8_lossy(&bytes[..count]).replace('\r', ""));
        }
    }

    /// Presses control-c until the screen shows `text`: before the batch has begun it has nothing to end.
    #[track_caller]
    fn interrupt_until(&mut self, text: &str) {
        for _ in 0..600 {
            self.type_in("\u{3}");
            let mut screen = libc::pollfd { fd: self.screen.as_raw_fd(), events: libc::POLLIN, revents: 0 };
            // SAFETY: the one entry is alive during the call.
            while unsafe { libc::poll(&raw mut screen, 1, 100) == 1 } {
                let mut bytes = [0; 4096];
                let count = self.screen.read(&mut bytes).unwrap_or(0);
                self.seen.push_str(&String::from_utf8_lossy(&bytes[..count]).replace('\r', ""));
                if self.seen.contains(text) {
                    return self.wait_for(text);
                }
                assert_ne!(count, 0, "the shell never showed {text:?}: {:?}", self.seen);
            }
        }
        panic!("the shell never showed {text:?}: {:?}", self.seen);
    }

    /// Whether something comes within a time that is only reached when something is wrong.
    fn shows_more(&self) -> bool {
        let mut screen = libc::pollfd { fd: self.screen.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        // SAFETY: the one entry is alive during the call.
        unsafe { libc::poll(&raw mut screen, 1, 60_000) == 1 }
    }

    fn type_in(&mut self, text: &str) {
        self.keyboard.write_all(text.as_bytes()).expect("the terminal takes it");
    }

    /// The shell's exit status.
    fn end(mut self) -> Option<i32> {
        self.shell.wait().expect("the shell ends").code()
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // It has ended, unless the test failed.
        let _ = self.shell.kill();
        let _ = self.shell.wait();
    }
}

#[test]
fn batches_run_at_go_and_exit_leaves() {
    let folder = Folder::new("shell");
    let mut terminal = Terminal::open(&folder);
    terminal.wait_for("GO on a line of its own runs the batch");
    terminal.wait_for("1> ");
    terminal.type_in("SELECT 40 + 2\n");
    terminal.wait_for("2> ");
    terminal.type_in("    AS answer\n");
    terminal.wait_for("3> ");
    terminal.type_in("GO\n");
    terminal.wait_for("| answer |\n|--------|\n|     42 |\n(1 row affected)\n");
    terminal.wait_for("1> ");
    terminal.type_in("CREATE TABLE dbo.t (id int NOT NULL PRIMARY KEY)\n");
    terminal.wait_for("2> ");
    terminal.type_in("INSERT dbo.t VALUES (1)\n");
    terminal.wait_for("3> ");
    terminal.type_in("go 2\n");
    // The second time the table is there.
    terminal.wait_for("Msg 2714, Level 16");
    terminal.wait_for("1> ");
    terminal.type_in("DELETE dbo.t\n");
    terminal.wait_for("2> ");
    terminal.type_in("exit\n");
    assert_eq!(terminal.end(), Some(1), "a batch had an error");
    assert_eq!(folder.number("SELECT COUNT(*) FROM dbo.t"), 1, "what was typed after the last GO has not run");
    let history = std::fs::read_to_string(folder.path().join(".pikepole_history")).expect("it is kept");
    assert!(history.contains("SELECT 40 + 2"), "{history}");
}

#[test]
fn control_c_drops_the_batch_and_control_d_leaves() {
    let folder = Folder::new("control");
    let mut terminal = Terminal::open(&folder);
    terminal.wait_for("1> ");
    terminal.type_in("CREATE TABLE dbo.never (id int)\n");
    terminal.wait_for("2> ");
    terminal.type_in("\u{3}");
    terminal.wait_for("1> ");
    terminal.type_in("PRINT 'still ' + 'here'\n");
    terminal.wait_for("2> ");
    terminal.type_in("GO\n");
    terminal.wait_for("still here\n");
    terminal.wait_for("1> ");
    terminal.type_in("\u{4}");
    assert_eq!(terminal.end(), Some(0));
    assert_eq!(folder.number("SELECT COUNT(*) FROM sys.tables"), 0);
}

#[test]
fn control_c_ends_what_runs_and_the_shell_goes_on() {
    let folder = Folder::new("interrupt");
    folder
        .sql_clean("CREATE TABLE dbo.t (id int NOT NULL PRIMARY KEY) CREATE TABLE dbo.w (id int NOT NULL PRIMARY KEY)");
    let mut terminal = Terminal::open(&folder);
    let endless = [
        "WAITFOR DELAY '23:59:59'",
        "WHILE 1 = 1 BEGIN BEGIN TRY INSERT dbo.w VALUES (1) DELETE dbo.w END TRY BEGIN CATCH PRINT 'no' END CATCH END",
        "WITH d AS (SELECT n FROM (VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)) AS v (n)) \
         SELECT COUNT(*) FROM d AS a, d AS b, d AS c, d AS e, d AS f, d AS g, d AS h, d AS i, d AS j, d AS k, d AS l",
        "BEGIN TRANSACTION UPDATE dbo.t SET id = 1 INSERT dbo.t VALUES (2) WAITFOR DELAY '23:59:59'",
    ];
    for statement in endless {
        terminal.wait_for("1> ");
        terminal.type_in(&format!("{statement}\n"));
        terminal.wait_for("2> ");
        terminal.type_in("GO 3\n");
        terminal.interrupt_until("Msg 3617, Level 11, State 0, Line 1\nOperation cancelled by user.\n");
    }
    terminal.wait_for("1> ");
    terminal.type_in("SELECT @@TRANCOUNT AS open_transactions, COUNT(*) AS rows_left FROM dbo.t\n");
    terminal.wait_for("2> ");
    terminal.type_in("GO\n");
    terminal.wait_for("|                 1 |         1 |\n");
    terminal.wait_for("1> ");
    terminal.type_in("exit\n");
    assert_eq!(terminal.end(), Some(1));
    assert_eq!(folder.number("SELECT COUNT(*) FROM dbo.t"), 0, "what was not committed is rolled back");
    assert_eq!(folder.check().status, 0);
}

#[test]
fn lines_are_edited_and_come_back() {
    let folder = Folder::new("editing");
    let mut terminal = Terminal::open(&folder);
    terminal.wait_for("1> ");
    // Left twice, a character erased before the cursor, another one typed.
    terminal.type_in("PRINT 'lxg'\u{1b}[D\u{1b}[D\u{7f}o\n");
    terminal.wait_for("2> ");
    terminal.type_in("GO\n");
    terminal.wait_for("\nlog\n");
    terminal.wait_for("1> ");
    // Up twice: past GO, to the line itself; run again.
    terminal.type_in("\u{1b}[A\u{1b}[A\n");
    terminal.wait_for("2> ");
    terminal.type_in("GO\n");
    terminal.wait_for("\nlog\n");
    terminal.wait_for("1> ");
    terminal.type_in("exit\n");
    assert_eq!(terminal.end(), Some(0));
    let mut terminal = Terminal::open(&folder);
    terminal.wait_for("1> ");
    // The lines of the last time are there: exit is not one of them.
    terminal.type_in("\u{1b}[A\u{1b}[A\n");
    terminal.wait_for("2> ");
    terminal.type_in("GO\n");
    terminal.wait_for("\nlog\n");
    terminal.wait_for("1> ");
    terminal.type_in("\u{4}");
    assert_eq!(terminal.end(), Some(0));
}
