//! The small commands beside a server: ping, passwd, trust, backup, restore; and subcommands that there are not.

use crate::serving::{PASSWORD, Serving};
use crate::terminal::Terminal;
use crate::tool::Folder;

const SA: (&str, &str) = ("MSSQL_SA_PASSWORD", PASSWORD);

#[test]
fn ping_says_whether_a_server_answers() {
    let folder = Folder::new("ping");
    let serving = Serving::start(&folder, &[SA], &["--tls", "required", "--health", "127.0.0.1:0"]);
    let address = serving.address.clone();
    let done = folder.run(["ping", &address]);
    assert_eq!((done.status, done.err.as_str()), (0, ""));
    assert!(done.out.starts_with(&format!("{address} answers in ")), "{done:?}");
    serving.end();
    let done = folder.run(["ping", &address]);
    assert_eq!((done.status, done.out.as_str()), (1, ""));
    assert!(done.err.contains("Connection refused"), "{done:?}");
    let mut waiting = folder.command(["ping", &address, "--wait", "60"]).spawn().expect("it starts");
    let again = Serving::start_bare(&folder, &[SA], &["-d", "data", "--listen", &address]);
    assert!(waiting.wait().expect("it ends").success());
    again.end();
}

#[test]
fn ping_asks_for_the_health_of_a_server() {
    let folder = Folder::new("ping-health");
    let port = std::net::TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("a port");
    let health = port.to_string();
    let serving = Serving::start(&folder, &[SA], &["--health", &health]);
    let done = folder.run(["ping", "--health", &health]);
    assert_eq!((done.status, done.err.as_str()), (0, ""), "{done:?}");
    serving.end();
    assert_eq!(folder.run(["ping", "--health", &health]).status, 1);
}

#[test]
fn passwd_sets_passwords_where_no_server_runs() {
    let folder = Folder::new("passwd");
    let done = folder.run(["passwd", "-d", "data"]);
    done.failed_saying("pikepole: data is no folder of databases: `pikepole serve` makes one\n");
    assert!(!folder.data().exists());
    let serving = Serving::start(&folder, &[SA], &[]);
    serving.value("CREATE LOGIN ann WITH PASSWORD = 'Sea-Weed77'; SELECT 1");
    let done = folder.run(["passwd", "-d", "data"]);
    done.failed_with("pikepole: the folder data is in use by another server: ");
    serving.end();
    let done = folder.run_with_input(["passwd", "-d", "data"], b"new-Water8\n");
    assert_eq!((done.status, done.out.as_str(), done.err.as_str()), (0, "the password of sa is set\n", ""));
    let done = folder.run_with_input(["passwd", "ANN", "-d", "data"], b"Sea-Grass88\r\n");
    assert_eq!(done.status, 0, "{done:?}");
    folder.run(["passwd", "bob", "-d", "data"]).failed_saying("pikepole: there is no login bob\n");
    let done = folder.run_with_input(["passwd", "-d", "data"], b"\n");
    done.failed_saying("pikepole: no password was given, so it stays as it is\n");

    let mut terminal = Terminal::open(&folder, &["passwd", "ann", "-d", "data"]);
    terminal.wait_for("new password of ann (empty: it stays as it is): ");
    terminal.type_in("Sea-Foam99\n");
    terminal.wait_for("again: ");
    terminal.type_in("Sea-Foam99\n");
    terminal.wait_for("the password of ann is set");
    assert_eq!(terminal.end(), Some(0));

    let serving = Serving::start(&folder, &[], &[]);
    for (login, password, status) in
        [("sa", "new-Water8", 0), ("sa", PASSWORD, 1), ("ann", "Sea-Foam99", 0), ("ann", "Sea-Weed77", 1)]
    {
        assert_eq!(serving.query_as(login, password, "SELECT 1").status, status, "{login} {password}");
    }
    serving.end();
}

#[test]
fn errors_of_certificates_name_their_cure_and_trust_is_one() {
    let folder = Folder::new("trust");
    let serving = Serving::start(&folder, &[SA], &[]);
    let host = |serving: &Serving<'_>| serving.address.replace("127.0.0.1", "localhost");
    let ask = |server: &str, more: &[&str]| {
        let own = ["sql", "-S", server, "-U", "sa", "-P", PASSWORD, "-Q", "SELECT 1"];
        folder.run([own.as_slice(), more].concat())
    };
    let done = ask(&host(&serving), &[]);
    assert_eq!(done.status, 1, "{done:?}");
    for cure in ["--trust-server-certificate", "--certificate FILE", "server-certificate.pem", "pikepole trust"] {
        assert!(done.err.contains(cure), "{cure}: {done:?}");
    }
    assert_eq!(ask(&host(&serving), &["--certificate", "data/server-certificate.pem"]).status, 0);
    let busy = folder.run(["trust", "-d", "data", "--authority", "own"]);
    assert_eq!(busy.status, 1, "a server has the folder: {busy:?}");
    let done = serving.end();
    assert!(done.err.contains("the client does not trust data/server-certificate.pem"), "{done:?}");

    let done = folder.run(["trust", "-d", "data", "--authority", "own", "--host", "127.0.0.2"]);
    assert_eq!((done.status, done.err.as_str()), (0, ""));
    let authority = folder.path().join("own/authority-certificate.pem");
    assert!(done.out.contains(&format!("the authority's certificate is {}\n", authority.display())), "{done:?}");
    let first = std::fs::read(&authority).expect("it is there");
    let serving = Serving::start(&folder, &[], &["--listen", "127.0.0.2:0"]);
    let authority = authority.to_str().expect("text");
    for file in [authority, "data/server-certificate.pem"] {
        assert_eq!(ask(&host(&serving), &["--certificate", file]).status, 0, "{file}");
    }
    let all = serving.out();
    let other = all.lines().find_map(|line| line.strip_prefix("listening at 127.0.0.2:")).expect("it listens there");
    assert_eq!(ask(&format!("127.0.0.2:{other}"), &["--certificate", authority]).status, 0);
    let wrong = ask(&host(&serving).replace("localhost", "127.0.0.3"), &["--certificate", authority]);
    assert_eq!(wrong.status, 1, "{wrong:?}");
    serving.end();
    let other = folder.run(["trust", "-d", "other", "--authority", "own"]);
    assert_eq!(other.status, 0, "{other:?}");
    assert_eq!(std::fs::read(authority).expect("it is there"), first, "one authority for all");
    let serving = Serving::start_bare(&folder, &[SA], &["-d", "other", "--listen", "127.0.0.1:0"]);
    assert_eq!(ask(&host(&serving), &["--certificate", authority]).status, 0);
    serving.end();
}

#[test]
fn backup_and_restore_are_those_of_t_sql() {
    let folder = Folder::new("backup-command");
    folder.sql_clean("CREATE DATABASE sales; CREATE TABLE sales.dbo.t (i int); INSERT sales.dbo.t VALUES (1)");
    let done = folder.run(["backup", "sales", "-d", "data"]);
    assert_eq!((done.status, done.err.as_str()), (0, ""), "{done:?}");
    assert!(folder.path().join("sales.bak").is_file(), "{done:?}");
    folder.sql_clean("INSERT sales.dbo.t VALUES (2)");
    assert_eq!(folder.run(["backup", "sales", "sales.bak", "-d", "data"]).status, 0);
    assert_eq!(folder.run(["restore", "sales.bak", "copy", "-d", "data"]).status, 0);
    assert_eq!(folder.number("SELECT COUNT(*) FROM copy.dbo.t"), 2, "the newest counts");
    folder.sql_clean("INSERT sales.dbo.t VALUES (3)");
    let done = folder.run(["restore", "sales.bak", "-d", "data"]);
    done.failed_with("pikepole: the database sales is there already");
    assert_eq!(folder.run(["restore", "sales.bak", "--replace", "-d", "data"]).status, 0);
    assert_eq!(folder.number("SELECT COUNT(*) FROM sales.dbo.t"), 2);
    assert_eq!(folder.run(["backup", "sales", "--overwrite", "-d", "data"]).status, 0);
    let done = folder.run(["backup", "none", "-d", "data"]);
    done.failed_with("Msg 911,");
    folder.run(["restore", "none.bak", "-d", "data"]).failed_with("pikepole: Msg 3201,");
    assert_eq!(folder.run(["backup", "x", "-d", "nowhere"]).status, 1);
    assert!(!folder.path().join("nowhere").exists());

    let serving = Serving::start(&folder, &[SA], &[]);
    let server = ["-S", &serving.address, "-U", "sa", "-P", PASSWORD, "--encrypt", "off"];
    let done = folder.run([["backup", "sales", "on-server.bak"].as_slice(), &server].concat());
    assert_eq!((done.status, done.err.as_str()), (0, ""), "{done:?}");
    assert!(folder.data().join("backup/on-server.bak").is_file());
    let done = folder.run([["restore", "on-server.bak", "again"].as_slice(), &server].concat());
    assert_eq!((done.status, done.err.as_str()), (0, ""), "{done:?}");
    assert_eq!(serving.value("SELECT COUNT(*) FROM again.dbo.t"), "2");
    serving.end();
}

#[test]
fn unknown_subcommands_name_what_does_the_same() {
    let folder = Folder::new("unknown");
    for (word, wanted) in [("createdb", "CREATE DATABASE"), ("import", "BULK INSERT"), ("kill", "KILL 51")] {
        let done = folder.run([word]);
        assert_eq!((done.status, done.out.as_str()), (2, ""));
        assert!(done.err.contains(&format!("instead: {wanted}")) || done.err.contains(wanted), "{done:?}");
    }
    assert!(!folder.run(["frobnicate"]).err.contains("instead"));
}

#[test]
fn relative_names_of_loads_are_of_the_folder_that_the_shell_is_in() {
    let folder = Folder::new("relative-loads");
    folder.write("rows.csv", "1,one\n2,two\nx,three\n");
    folder.sql_clean("CREATE TABLE dbo.t (i int, s varchar(9))");
    let load = "BULK INSERT dbo.t FROM 'rows.csv' WITH (FORMAT = 'CSV', MAXERRORS = 5, ERRORFILE = 'bad.csv')";
    let done = folder.sql(load);
    assert_eq!(folder.number("SELECT COUNT(*) FROM dbo.t"), 2, "{done:?}");
    assert!(folder.path().join("bad.csv").is_file(), "{done:?}");
    folder.write("data/own.csv", "3,three\n");
    assert_eq!(folder.sql("BULK INSERT dbo.t FROM 'data/own.csv' WITH (FORMAT = 'CSV')").status, 0);
    assert_ne!(
        folder.sql("BULK INSERT dbo.t FROM 'data/pikepole.toml'").status,
        0,
        "the server's own files are not read"
    );
}
