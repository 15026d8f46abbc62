//! Programs that set a database up: they reach the server by a port of the loopback address that lives as long as they do.

use super::super::super::CommandError;
use super::Init;
use pikepole_contention::sync::{Arc, Mutex, atomic::Ordering, thread};
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

/// How often a program is asked whether it has ended.
const LOOK: Duration = Duration::from_millis(10);
/// Bytes of a line that are logged at most.
const LINE_BYTES_MAX: u64 = 8 * 1024;

/// Runs a program to its end.
///
/// # Errors
/// It cannot be started, or ends with another status than 0.
pub fn run(init: &Init<'_>, path: &Path, name: &str) -> Result<(), CommandError> {
    let listener = init.network.listen_privately()?;
    let address = listener.address();
    let mut child = start(path, |command| {
        command.env("SQLCMDSERVER", format!("{},{}", address.ip(), address.port())).env("SQLCMDUSER", "sa");
        if let Some(password) = init.password {
            command.env("SQLCMDPASSWORD", password).env("PIKEPOLE_PASSWORD", password);
        }
    })
    .map_err(CommandError::io(name))?;
    let last = Arc::new(Mutex::new(String::new()));
    let readers = [
        child.stdout.take().map(|stream| follow(stream, name, None)),
        child.stderr.take().map(|stream| follow(stream, name, Some(Arc::clone(&last)))),
    ];
    let status = wait(&mut child, init).map_err(CommandError::io(name))?;
    init.stop.check()?;
    for reader in readers.into_iter().flatten() {
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

/// Starts it: by itself when it may be executed, else by a shell.
fn start(path: &Path, prepare: impl Fn(&mut Command)) -> std::io::Result<Child> {
    let spawn = |mut command: Command| {
        prepare(&mut command);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()
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
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => spawn(by_shell("sh")),
        spawned => spawned,
    }
}

/// Waits for its end; a signal to the server ends it.
fn wait(child: &mut Child, init: &Init<'_>) -> std::io::Result<ExitStatus> {
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if init.stop.asked().load(Ordering::Relaxed) {
            child.kill()?;
        }
        thread::sleep(LOOK);
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
