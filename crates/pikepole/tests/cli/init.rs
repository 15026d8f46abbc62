//! `serve --init`: what runs once, before the server is reached.

use crate::serving::{PASSWORD, Serving};
use crate::tool::Folder;
use flate2::{Compression, write::GzEncoder};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;

const SA: (&str, &str) = ("MSSQL_SA_PASSWORD", PASSWORD);

fn packed(text: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(text.as_bytes()).expect("memory");
    encoder.finish().expect("memory")
}

#[test]
fn files_of_all_kinds_run_once_in_the_order_of_their_names() {
    let folder = Folder::new("init-kinds");
    folder.run(["sql", "-d", "other", "-b", "-Q", "CREATE DATABASE sales\nGO\nCREATE TABLE sales.dbo.o (i int); INSERT sales.dbo.o VALUES (7); BACKUP DATABASE sales TO DISK = 'x.bak'"]);
    std::fs::create_dir(folder.path().join("init")).expect("a folder");
    std::fs::rename(folder.path().join("other/backup/x.bak"), folder.path().join("init/40-sales.bak"))
        .expect("a backup");
    folder.write("init/10-schema.sql", "CREATE DATABASE [$(NAME)]\nGO\nUSE [$(NAME)]\nGO\nCREATE TABLE dbo.t (i int)\nGO\nINSERT dbo.t VALUES (1)\nGO 3\nPRINT 'schema made'\n");
    folder.write("init/20-rows.sql.gz", packed("USE shop\nGO\nINSERT dbo.t VALUES (2)\nGO\n"));
    let binary = env!("CARGO_BIN_EXE_pikepole");
    let text = format!(
        "echo \"at $SQLCMDSERVER\"\n{binary} sql -S \"$SQLCMDSERVER\" -U \"$SQLCMDUSER\" --encrypt off -b -Q 'USE shop; INSERT dbo.t SELECT COUNT(*) FROM dbo.t'\n"
    );
    folder.write("init/30-count.sh", &text);
    let executable = folder.write("init/35-mark.sh", "#!/bin/sh\ntouch marked\n");
    std::fs::set_permissions(executable, std::fs::Permissions::from_mode(0o755)).expect("a mode");
    folder.write("init/readme.md", "not this");
    let variables = [SA, ("NAME", "shop")];
    let serving = Serving::start(&folder, &variables, &["--init", "init"]);
    assert_eq!(serving.value("SELECT STRING_AGG(i, ' ') WITHIN GROUP (ORDER BY i) FROM shop.dbo.t"), "1 1 1 2 4");
    assert_eq!(serving.value("SELECT i FROM sales.dbo.o"), "7");
    assert!(folder.path().join("marked").exists());
    let done = serving.end();
    for line in [
        "init/10-schema.sql: schema made",
        "init: 1 of 5, init/10-schema.sql",
        "init/30-count.sh: at 127.0.0.1,",
        "init: init/readme.md is left out",
        "init/40-sales.bak: restoring the database sales",
        "init: 5 done in ",
    ] {
        assert!(done.err.contains(line), "{line}: {done:?}");
    }
    let again = Serving::start(&folder, &variables, &["--init", "init"]);
    assert_eq!(again.value("SELECT COUNT(*) FROM shop.dbo.t"), "5", "once in a folder");
    assert_eq!(again.end().status, 0);
}

#[test]
fn an_error_ends_the_start_with_file_line_and_message() {
    let folder = Folder::new("init-errors");
    let cases: [(&str, &str, &str); 6] = [
        (
            "a.sql",
            "PRINT 'one'\nGO\nSELECT 1\nSELECT nothing\n",
            "a.sql: Msg 207, Level 16, State 1, Line 4 Invalid column name 'nothing'.",
        ),
        ("b.sql", "\nPRINT '$(NO_SUCH)'\n", "b.sql, line 2: 'NO_SUCH' scripting variable not defined."),
        ("c.sql", "GO\n:connect x\n", "c.sql, line 2: line 2: pikepole sql does not have :connect"),
        ("d.sh", "echo lost >&2; exit 3", "d.sh: ended with exit status: 3: lost"),
        ("e.sql.gz", "no gzip", "e.sql.gz: "),
        ("f.bak", "no backup", "f.bak: Msg "),
    ];
    for (name, text, expected) in cases {
        folder.write(name, text);
        let done = Serving::run(&folder, &[SA], &["-d", "data", "--listen", "127.0.0.1:0", "--init", name]);
        assert_eq!((done.status, done.out.as_str()), (1, ""), "{done:?}");
        assert!(
            done.err.lines().last().is_some_and(|line| line.starts_with(&format!("pikepole: {expected}"))),
            "{done:?}"
        );
        assert!(!folder.data().exists(), "{name}");
    }
}

/// A start that is killed in the middle: what is done is not done again, what was begun is, and that is said.
#[test]
fn a_start_that_was_killed_goes_on_with_the_file_that_was_interrupted() {
    let folder = Folder::new("init-killed");
    std::fs::create_dir(folder.path().join("init")).expect("a folder");
    folder.write("init/1.sql", "CREATE TABLE dbo.t (i int); INSERT dbo.t VALUES (1)");
    folder.write("init/2.sql", "INSERT dbo.t VALUES (2)\nGO\nIF DB_ID('stop') IS NULL WAITFOR DELAY '01:00'\n");
    folder.write("init/3.sql", "INSERT dbo.t VALUES (3)");
    let variables = [SA];
    let arguments = ["-d", "data", "--listen", "127.0.0.1:0", "--init", "init"];
    let mut first = Serving::spawn(&folder, &variables, &arguments);
    first.wait_for_err("init: 2 of 3");
    while folder.sql("PRINT 1").status == 0 {}
    std::thread::sleep(std::time::Duration::from_millis(300));
    first.kill();
    folder.sql_clean("CREATE DATABASE stop");
    let serving = Serving::start_bare(&folder, &variables, &arguments);
    assert_eq!(serving.value("SELECT STRING_AGG(i, ' ') WITHIN GROUP (ORDER BY i) FROM dbo.t"), "1 2 2 3");
    let done = serving.end();
    assert!(done.err.contains("init: 1 of 3, init/1.sql, was done at an earlier start"), "{done:?}");
    assert!(done.err.contains("init/2.sql was interrupted at an earlier start"), "{done:?}");
}

#[test]
fn clients_are_refused_until_it_is_done_and_a_signal_ends_it() {
    let folder = Folder::new("init-unreachable");
    folder.write("wait.sql", "PRINT 'waiting'\nGO\nWAITFOR DELAY '01:00'");
    let port = std::net::TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("a port");
    let address = port.to_string();
    let arguments = ["-d", "data", "--listen", &address, "--init", "wait.sql"];
    let mut serving = Serving::spawn(&folder, &[SA], &arguments);
    serving.wait_for_err("wait.sql: waiting");
    let refused = std::net::TcpStream::connect(port).expect_err("nothing listens yet");
    assert_eq!(refused.kind(), std::io::ErrorKind::ConnectionRefused);
    let done = serving.end();
    assert_eq!(done.status, 1);
    assert!(done.err.ends_with("pikepole: ended by a signal before the server was ready\n"), "{done:?}");
    assert!(!folder.data().exists());
    folder.write("wait.sh", "echo waiting; sleep 3600");
    let arguments = ["-d", "data", "--listen", &address, "--init", "wait.sh"];
    let mut serving = Serving::spawn(&folder, &[SA], &arguments);
    serving.wait_for_err("wait.sh: waiting");
    assert_eq!(serving.end().status, 1);
}

/// Whether a process runs. One that has ended stays a zombie until its new parent looks.
fn is_running(process: &str) -> bool {
    let state = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    state.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with(['Z', 'X']))
}

#[test]
fn a_signal_ends_a_program_and_all_that_it_has_started() {
    let folder = Folder::new("init-signals");
    let own = "echo $$ > processes; sleep 3600 & echo $! >> processes; ";
    let cases = [
        (libc::SIGTERM, "(sleep 3600) & echo $! >> processes; echo waiting; wait"),
        (libc::SIGINT, "sleep 3600 > /dev/null 2>&1 & echo $! >> processes; echo waiting; wait"),
        // What does not listen is killed.
        (libc::SIGHUP, "trap '' TERM; sleep 3600 & echo $! >> processes; echo waiting; while :; do wait; done"),
        // The program has ended, and what it has left behind still holds its streams.
        (libc::SIGTERM, "echo waiting"),
    ];
    for (signal, text) in cases {
        folder.write("wait.sh", format!("{own}{text}"));
        let arguments = ["-d", "data", "--listen", "127.0.0.1:0", "--init", "wait.sh"];
        let mut serving = Serving::spawn(&folder, &[SA], &arguments);
        serving.wait_for_err("wait.sh: waiting");
        let processes = std::fs::read_to_string(folder.path().join("processes")).expect("text");
        let processes: Vec<&str> = processes.lines().collect();
        assert!(processes.len() > 1 && is_running(processes[1]), "{text}: {processes:?}");
        serving.signal(signal);
        let done = serving.end();
        let running: Vec<_> = processes.iter().filter(|process| is_running(process)).collect();
        assert!(running.is_empty(), "{text}: {running:?} of {processes:?}");
        assert_eq!(done.status, 1, "{text}: {done:?}");
        assert!(done.err.ends_with("pikepole: ended by a signal before the server was ready\n"), "{text}: {done:?}");
        assert!(!folder.data().exists(), "{text}");
    }
}

/// A supervisor starts a server again that could not start: the second try does no more than the first one.
#[test]
fn a_backup_never_replaces_a_database_that_was_there() {
    let folder = Folder::new("init-there");
    let made = "CREATE DATABASE sales\nGO\nBACKUP DATABASE sales TO DISK = 'x.bak'";
    folder.run(["sql", "-d", "other", "-b", "-Q", made]);
    std::fs::rename(folder.path().join("other/backup/x.bak"), folder.path().join("sales.bak")).expect("a backup");
    folder.sql_clean("CREATE DATABASE sales\nGO\nCREATE TABLE sales.dbo.own (i int); INSERT sales.dbo.own VALUES (7)");
    let arguments = ["-d", "data", "--listen", "127.0.0.1:0", "--init", "sales.bak"];
    for _ in 0..3 {
        let done = Serving::run(&folder, &[SA], &arguments);
        assert!(done.status == 1 && done.err.contains("the database sales is there already"), "{done:?}");
    }
    folder.sql_clean("IF (SELECT i FROM sales.dbo.own) <> 7 THROW 50000, 'it was replaced', 1");
}
