//! `pikepole serve` at a terminal, under systemd's eyes, and as `packaging` starts it.

use crate::terminal::Terminal;
use crate::tool::{Done, Folder};
use std::io::{BufRead, BufReader};
use std::net::TcpStream;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

const SERVE: &[&str] = &["serve", "-d", "data", "--listen", "127.0.0.1:0"];

#[test]
fn the_first_password_is_asked_for_twice_and_not_shown() {
    let folder = Folder::new("first-word");
    let mut terminal = Terminal::open(&folder, SERVE);
    terminal.wait_for("new password of sa (empty: one is made): ");
    terminal.type_in("deep-Water7\n");
    terminal.wait_for("again: ");
    terminal.type_in("deep-Water8\n");
    terminal.wait_for("the two are not alike");
    terminal.wait_for("new password of sa (empty: one is made): ");
    terminal.type_in("deep-Water7\n");
    terminal.wait_for("again: ");
    terminal.type_in("deep-Water7\n");
    terminal.wait_for("listening at ");
    terminal.type_in("\u{3}");
    let shown = terminal.shown();
    assert!(!shown.contains("eep") && !shown.contains("the password of sa"), "{shown}");
    assert_eq!(terminal.end(), Some(0));

    let mut again = Terminal::open(&folder, SERVE);
    again.wait_for("listening at ");
    again.type_in("\u{3}");
    let shown = again.shown();
    assert!(!shown.contains("password"), "it is asked for once: {shown}");
    assert_eq!(again.end(), Some(0));
}

#[test]
fn without_an_answer_a_password_is_made() {
    let folder = Folder::new("made");
    let mut terminal = Terminal::open(&folder, SERVE);
    terminal.wait_for("new password of sa (empty: one is made): ");
    terminal.type_in("\n");
    terminal.wait_for("the password of sa is ");
    terminal.type_in("\u{3}");
    assert_eq!(terminal.end(), Some(0));
}

#[test]
fn control_c_at_the_question_leaves() {
    let folder = Folder::new("leave");
    let mut terminal = Terminal::open(&folder, SERVE);
    terminal.wait_for("new password of sa (empty: one is made): ");
    terminal.type_in("\u{3}");
    assert_eq!(terminal.end(), Some(1));
}

/// A file of the source's folder `packaging`.
fn packaging(name: &str) -> String {
    let own = std::env::var("CARGO_MANIFEST_DIR").expect("cargo sets it");
    let folder = Path::new(&own).join("../../packaging");
    std::fs::read_to_string(folder.join(name)).expect("it is there")
}

/// What SIGHUP does to the program that is to be started.
fn at_hang_up(command: &mut Command, action: libc::sighandler_t) {
    // SAFETY: between fork and exec the closure makes one system call, and touches no memory of the parent's.
    unsafe {
        command.pre_exec(move || match libc::signal(libc::SIGHUP, action) {
            libc::SIG_ERR => Err(std::io::Error::last_os_error()),
            _ => Ok(()),
        });
    }
}

/// Starts a server as systemd does, sends it the signal when it says that it is ready, and looks at what it said.
fn start_and_stop(folder: &Folder, arguments: &[&str], signal: libc::c_int) -> Done {
    start_and_stop_command(folder, folder.command(arguments), signal)
}

fn start_and_stop_command(folder: &Folder, mut command: Command, signal: libc::c_int) -> Done {
    let name = format!("pikepole-{}", folder.path().display());
    let address = SocketAddr::from_abstract_name(&name).expect("a name");
    let socket = UnixDatagram::bind_addr(&address).expect("a socket");
    socket.set_read_timeout(Some(Duration::from_secs(60))).expect("a time");
    let next = || {
        let mut bytes = [0; 4096];
        socket.recv(&mut bytes).map(|count| String::from_utf8_lossy(&bytes[..count]).into_owned())
    };
    command.env("NOTIFY_SOCKET", format!("@{name}")).env("PIKEPOLE_SA_PASSWORD", "deep-Water7");
    // Who runs the tests may have been started to stay itself.
    at_hang_up(&mut command, libc::SIG_DFL);
    let server = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary starts");

    // What it does before it is ready comes first.
    let mut ready = next().unwrap_or_default();
    while ready.starts_with("STATUS=") {
        ready = next().unwrap_or_default();
    }
    let port = ready.rsplit(':').next().and_then(|port| port.parse().ok()).unwrap_or(0);
    let connected = TcpStream::connect(("127.0.0.1", port));
    // SAFETY: the process is our child and has not been waited for, so the number is its own.
    unsafe { libc::kill(server.id() as i32, signal) };
    let stopping = next().unwrap_or_default();
    let done = Done::from(server.wait_with_output().expect("it ends"));
    assert_eq!(done.status, 0, "{done:?}");
    assert!(ready.starts_with("READY=1\nSTATUS=listening at "), "{ready:?}: {done:?}");
    assert!(connected.is_ok(), "who is ready listens: {connected:?}");
    assert_eq!(stopping, "STOPPING=1\nSTATUS=ending what runs, then closing the databases");
    assert!(done.err.ends_with(" INFO the databases are closed\n"), "{done:?}");
    assert!(!done.out.contains("password"), "it was given: {done:?}");
    assert!(folder.check().out.ends_with("no damage found\n"));
    done
}

#[test]
fn the_unit_starts_a_server_that_tells_systemd_of_its_start_and_end() {
    let unit = packaging("pikepole.service");
    let line = unit.lines().find_map(|line| line.strip_prefix("ExecStart=/usr/local/bin/pikepole ")).expect("a line");
    let line = line.replace("/var/lib/pikepole", "data").replace(":1433", ":0").replace(":9433", ":0");
    let arguments: Vec<&str> = line.split(' ').collect();
    start_and_stop(&Folder::new("unit"), &arguments, libc::SIGTERM);
}

/// The image's own start, with its folders in the test's folder; options behind its own win.
#[test]
fn the_image_starts_a_server_and_options_behind_its_own_win() {
    let image = packaging("Dockerfile");
    let line = image.lines().find_map(|line| line.strip_prefix("CMD ")).expect("a line");
    let words: Vec<String> = serde_json::from_str(line).expect("a list of words");
    assert_eq!(words, ["/opt/mssql/bin/sqlservr"]);
    let folder = Folder::new("image");
    let here = |text: String| {
        let text = text.replace("/etc/pikepole/", "").replace("/docker-entrypoint-initdb.d", "first");
        text.replace("/var/opt/mssql/data", "data").replace("/var/opt/mssql/", "volume/").replace(":9433", ":0")
    };
    folder.write("pikepole.conf", here(packaging("pikepole.conf")));
    let script = folder.write("sqlservr", here(packaging("sqlservr")));
    std::fs::create_dir(folder.path().join("first")).expect("a folder");
    folder.write("first/1.sql", "PRINT 'first script'");
    // `pikepole` is found as in the image.
    let binary = Path::new(env!("CARGO_BIN_EXE_pikepole"));
    let mut path = binary.parent().expect("a folder").as_os_str().to_owned();
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap_or_default());
    let mut command = Command::new("sh");
    command.arg(script).args(["--shutdown-seconds", "7", "--health", "127.0.0.1:0"]).current_dir(folder.path());
    command.env("PATH", path).env("MSSQL_TCP_PORT", "0").env("ACCEPT_EULA", "Y");
    let done = start_and_stop_command(&folder, command, libc::SIGTERM);
    assert!(done.err.contains(" INFO shutting down: running requests have 7 s\n"), "{done:?}");
    assert!(done.err.contains("first/1.sql: first script"), "{done:?}");
    assert!(done.out.starts_with("listening at 0.0.0.0:"), "{done:?}");
}

#[test]
fn a_closed_terminal_ends_a_server_in_order_unless_it_was_started_to_stay() {
    let folder = Folder::new("hang-up");
    start_and_stop(&folder, SERVE, libc::SIGHUP);

    let mut command = folder.command(SERVE);
    at_hang_up(&mut command, libc::SIG_IGN);
    let mut server = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("the binary starts");
    let mut out = BufReader::new(server.stdout.take().expect("its output")).lines();
    let address = out.find_map(|line| Some(line.ok()?.strip_prefix("listening at ")?.to_owned())).expect("it listens");
    let kill = |signal| {
        // SAFETY: the process is our child and has not been waited for, so the number is its own.
        unsafe { libc::kill(server.id() as i32, signal) };
    };
    kill(libc::SIGHUP);
    std::thread::sleep(Duration::from_millis(300));
    assert!(TcpStream::connect(&address).is_ok(), "it stays");
    kill(libc::SIGTERM);
    assert!(server.wait().expect("it ends").success());
}
