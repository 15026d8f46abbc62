//! Programs that set a database up: they reach the server by a port of the loopback address that lives as long as they do.

use super::super::super::CommandError;
use super::super::stop::Stop;
use super::Init;
use pikepole_contention::sync::{Arc, Mutex, atomic::Ordering, thread};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use std::io::{self, BufRead, BufReader, Read};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// How often a program is asked whether it has ended.
const LOOK: Duration = Duration::from_millis(10);
/// Time that a program has for its end when the server is to end.
const GRACE: Duration = Duration::from_secs(2);
/// Bytes of a line that are logged at most.
const LINE_BYTES_MAX: u64 = 8 * 1024;

/// Runs a program to its end.
///
/// # Errors
/// It cannot be started, or ends with another status than 0.
pub fn run(init: &Init<'_>, path: &Path, name: &str) -> Result<(), CommandError> {
    let listener = init.network.listen_privately()?;
    let address = listener.address();
    let mut program = Program::start(path, |command| {
        command.env("SQLCMDSERVER", format!("{},{}", address.ip(), address.port())).env("SQLCMDUSER", "sa");
        if let Some(password) = init.password {
            command.env("SQLCMDPASSWORD", password).env("PIKEPOLE_PASSWORD", password);
        }
    })
    .map_err(CommandError::io(name))?;
    let last = Arc::new(Mutex::new(String::new()));
    let child = &mut program.child;
    let out = child.stdout.take().map(|stream| follow(stream, name, None));
    let error = child.stderr.take().map(|stream| follow(stream, name, Some(Arc::clone(&last))));
    let readers: Vec<_> = out.into_iter().chain(error).collect();
    let status = program.wait(&readers, init.stop).map_err(CommandError::io(name))?;
    init.stop.check()?;
    for reader in readers {
        // What it had to say is in the log; a reader that panicked has said so.
        let _ = reader.join();
    }
    match status.success() {
        true => Ok(()),
        false => {
            let last = last.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            let said = if last.is_empty() { String::new() } else { format!(": {last}") };
            Err(CommandError::Usage(format!("{name}: ended with {status}{said}")))
        }
    }
}

/// A program and what it starts: a process group of their own. The group is the program's until that has been waited for.
struct Program {
    child: Child,
    is_waited_for: bool,
}

impl Program {
    /// Starts it: by itself when it may be executed, else by a shell.
    fn start(path: &Path, prepare: impl Fn(&mut Command)) -> io::Result<Program> {
        let spawn = |mut command: Command| {
            prepare(&mut command);
            command.process_group(0).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
            Ok(Program { child: command.spawn()?, is_waited_for: false })
        };
        let absolute = std::path::absolute(path)?;
        let by_shell = |shell: &str| {
            let mut command = Command::new(shell);
            command.arg(&absolute);
            command
        };
        if std::fs::metadata(path)?.permissions().mode() & 0o111 != 0 {
            return spawn(Command::new(&absolute));
        }
        match spawn(by_shell("bash")) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => spawn(by_shell("sh")),
            spawned => spawned,
        }
    }

    /// Waits until the program has ended and nothing that it has started writes to the log any more. A signal to the server ends the
    /// whole group: by SIGTERM, and after a while by SIGKILL.
    fn wait(mut self, readers: &[thread::JoinHandle<()>], stop: &Stop) -> io::Result<ExitStatus> {
        let mut asked: Option<Instant> = None;
        while !(self.has_ended()? && readers.iter().all(thread::JoinHandle::is_finished)) {
            if stop.asked().load(Ordering::Relaxed) {
                let first = *asked.get_or_insert_with(|| {
                    self.signal(Signal::TERM);
                    Instant::now()
                });
                if first.elapsed() > GRACE {
                    break;
                }
            }
            thread::sleep(LOOK);
        }
        if asked.is_some() {
            self.signal(Signal::KILL);
        }
        self.is_waited_for = true;
        self.child.wait()
    }

    /// Whether it has ended. Its number stays its own.
    fn has_ended(&self) -> io::Result<bool> {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        Ok(waitid(WaitId::Pid(Pid::from_child(&self.child)), options)?.is_some())
    }

    fn signal(&self, signal: Signal) {
        // A group that has gone needs none.
        let _ = kill_process_group(Pid::from_child(&self.child), signal);
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        if !self.is_waited_for {
            self.signal(Signal::KILL);
            let _ = self.child.wait();
        }
    }
}

/// Writes each line into the log; the last one is kept.
fn follow(stream: impl Read + Send + 'static, name: &str, last: Option<Arc<Mutex<String>>>) -> thread::JoinHandle<()> {
    let name = name.to_owned();
    thread::spawn(move || {
        let mut reader = BufReader::new(stream);
        loop {
            let mut line = Vec::new();
            match reader.by_ref().take(LINE_BYTES_MAX).read_until(b'\n', &mut line) {
                Ok(0) | Err(_) => break,
                Ok(_) => {}
            }
            let line = String::from_utf8_lossy(&line);
            let line = line.trim_end();
            tracing::info!("{name}: {line}");
            if let Some(last) = last.as_ref().filter(|_| !line.is_empty()) {
                *last.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = line.to_owned();
            }
        }
    })
}
