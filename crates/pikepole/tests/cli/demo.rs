//! `pikepole demo`: a server that a client has talked to, and strings by which others reach it.

use crate::terminal::Terminal;
use crate::tool::{Done, Folder};
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// The demo, whose temporary folders are the test's own.
fn command(folder: &Folder, arguments: &[&str]) -> Command {
    let temporary = folder.path().join("tmp");
    std::fs::create_dir_all(&temporary).expect("a folder");
    let mut command = folder.command([&["demo"], arguments].concat());
    command.env("TMPDIR", temporary);
    command
}

fn run(folder: &Folder, arguments: &[&str]) -> Done {
    Done::from(command(folder, arguments).output().expect("the binary starts"))
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// How many temporary folders there are.
fn temporary(folder: &Folder) -> usize {
    std::fs::read_dir(folder.path().join("tmp")).expect("a folder").count()
}

/// One that serves until it is ended, and what it has said of itself.
struct Demo {
    program: Child,
    report: Value,
}

impl Demo {
    fn start(folder: &Folder, arguments: &[&str]) -> Demo {
        let mut command = command(folder, &[&["--keep", "--json"], arguments].concat());
        let mut program = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("the binary starts");
        let mut line = String::new();
        let stdout = program.stdout.take().expect("it was asked for");
        BufReader::new(stdout).read_line(&mut line).expect("it says how to connect");
        Demo { program, report: json(&line) }
    }

    fn text(&self, pointer: &str) -> &str {
        self.report.pointer(pointer).and_then(Value::as_str).unwrap_or_else(|| panic!("{pointer}: {}", self.report))
    }

    fn end(mut self) -> Option<i32> {
        // SAFETY: the process is our child and has not been waited for, so the number is its own.
        unsafe { libc::kill(self.program.id() as i32, libc::SIGTERM) };
        self.program.wait().expect("it ends").code()
    }
}

impl Drop for Demo {
    fn drop(&mut self) {
        if matches!(self.program.try_wait(), Ok(None)) {
            let _ = self.program.kill();
            let _ = self.program.wait();
        }
    }
}

#[test]
fn a_demo_without_a_terminal_shows_an_answer_and_ends() {
    let folder = Folder::new("demo-once");
    let done = run(&folder, &[]);
    assert_eq!((done.status, done.err.as_str()), (0, ""), "{done:?}");
    let facts = [
        "encrypted (TLS), certificate verified",
        "database demo: 4 tables, 18700 rows, loaded in",
        " (made for this run)",
    ];
    let answers =
        ["| SE      |    835 | 1756561.00 |", "(6 rows affected)", "EXEC dbo.place_order", "|     5001 | 836.70 |"];
    let drivers =
        ["sqlcmd -S tcp:localhost,", "{ODBC Driver 18", "jdbc:sqlserver://", "sqlserver://sa:", "userName: 'sa'"];
    let more = [
        "SqlClient ",
        "mssql+pyodbc://",
        "tiberius ",
        "trust` makes",
        " stress\n",
        " lab list\n",
        "The server has ended",
    ];
    for part in [&facts[..], &answers, &drivers, &more].concat() {
        assert!(done.out.contains(part), "{part}\n{}", done.out);
    }
    assert!(!done.out.contains("Serving until"), "{}", done.out);
    assert_eq!(temporary(&folder), 0, "its folder is removed");
}

#[test]
fn clients_reach_a_demo_by_what_it_prints() {
    let folder = Folder::new("demo-keep");
    let demo = Demo::start(&folder, &[]);
    assert_eq!(demo.report["queries"][0]["rows"].as_array().map(Vec::len), Some(6), "{}", demo.report);
    assert_eq!(demo.report["queries"][1]["rows"][0]["order_id"], 5001, "{}", demo.report);
    assert_eq!((&demo.report["client"]["encrypted"], &demo.report["sample"]["tables"]), (&true.into(), &4.into()));
    let data = Path::new(demo.text("/server/folder"));
    assert_eq!(data.metadata().expect("it is there").permissions().mode() & 0o777, 0o700);
    let (password, certificate) = (demo.text("/password"), demo.text("/certificate"));
    let server = format!("localhost:{}", demo.report["server"]["port"]);
    // The shell, which verifies the certificate.
    let shell = ["sql", "-S", &server, "-U", "sa", "-P", password, "--certificate", certificate, "--csv", "-Q"];
    let done = folder.run([&shell[..], &["SELECT COUNT(*) FROM demo.dbo.orders"]].concat());
    assert_eq!((done.status, done.out.as_str()), (0, "\n5001\n"), "{done:?}");
    // The command for sqlcmd as it is printed, run by a shell.
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_pikepole"), folder.path().join("sqlcmd")).expect("a link");
    let line = format!("{} -h -1 -W -Q 'SET NOCOUNT ON; SELECT DB_NAME()'", demo.text("/connect/sqlcmd"));
    let mut sqlcmd = Command::new("sh");
    sqlcmd.args(["-c", &line]).env("PATH", format!("{}:/usr/bin:/bin", folder.path().display()));
    let done = Done::from(sqlcmd.output().expect("a shell"));
    assert_eq!((done.status, done.out.as_str()), (0, "demo\n"), "{done:?}");
    let port = demo.report["server"]["port"].to_string();
    for name in ["sqlcmd", "ODBC", "JDBC", "go-mssqldb", "tedious", "SqlClient", "SQLAlchemy", "tiberius"] {
        let string = demo.text(&format!("/connect/{name}"));
        assert!(string.contains(&port) && string.contains(password) && string.contains("demo"), "{name}: {string}");
    }
    // A second one at the same time has a port of its own.
    let other = Demo::start(&folder, &[]);
    assert_ne!(other.report["server"]["port"], demo.report["server"]["port"]);
    assert_eq!((temporary(&folder), other.end(), demo.end(), temporary(&folder)), (2, Some(0), Some(0), 0));
}

#[test]
fn a_demo_in_a_folder_stays_and_comes_back_by_its_password() {
    let folder = Folder::new("demo-folder");
    let first = json(&run(&folder, &["-d", "data", "--json"]).out);
    assert_eq!((&first["server"]["folder_stays"], &first["server"]["serves_on"]), (&true.into(), &false.into()));
    let password = first["password"].as_str().expect("it is shown");
    assert_eq!(folder.number("SELECT COUNT(*) FROM demo.dbo.order_lines"), 12_501);
    run(&folder, &["-d", "data"]).failed_with("pikepole: ");
    let again = |password: &str| {
        Done::from(command(&folder, &["-d", "data"]).env("PIKEPOLE_SA_PASSWORD", password).output().expect("it starts"))
    };
    again("deep-Water7").failed_with("pikepole: ");
    let done = again(password);
    assert_eq!((done.status, done.err.as_str()), (0, ""), "{done:?}");
    assert!(done.out.contains("18702 rows, loaded by an earlier demo"), "{}", done.out);
    assert!(!done.out.contains(password) && done.out.contains("<PASSWORD>"), "one that was given is not shown");
    assert!(done.out.contains("serves the folder again"), "{}", done.out);
    folder.sql_clean("USE demo; EXEC sp_dropextendedproperty N'pikepole demo'");
    let done = again(password);
    done.failed_with("pikepole: the database demo of this folder is not the sample");
    assert_eq!(folder.number("SELECT COUNT(*) FROM demo.dbo.orders"), 5_002, "what is there is left");
}

/// A password that could not be printed locks no one out.
#[test]
fn a_demo_that_cannot_be_shown_leaves_nothing() {
    let folder = Folder::new("demo-full");
    for arguments in [&[][..], &["-d", "data"], &["-d", "data", "--json"], &["-d", "data", "--keep"]] {
        let full = std::fs::File::options().write(true).open("/dev/full").expect("a device");
        let status = command(&folder, arguments).stdout(full).stderr(Stdio::null()).status().expect("it ends");
        assert_eq!((status.code(), folder.data().exists(), temporary(&folder)), (Some(1), false, 0), "{arguments:?}");
    }
    assert_eq!(run(&folder, &["--keep", "--once"]).status, 2);
}

#[test]
fn on_a_terminal_it_serves_until_control_c() {
    let folder = Folder::new("demo-terminal");
    let mut terminal = Terminal::run(&folder, command(&folder, &[]));
    terminal.wait_for("Serving until Ctrl-C.");
    assert_eq!(temporary(&folder), 1);
    terminal.type_in("\u{3}");
    terminal.wait_for(" is removed.");
    assert_eq!((terminal.end(), temporary(&folder)), (Some(0), 0));
}
