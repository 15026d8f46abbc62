//! `sql -S` and `stress -S`: the shell and the load driver against a server print what they print without one.

use crate::terminal::Terminal;
use crate::tool::{Done, Folder};
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};

pub const PASSWORD: &str = "deep-Water7";

/// `pikepole serve` in the folder `served` of a test's folder.
pub struct Server {
    program: Child,
    pub port: u16,
}

impl Server {
    /// Starts it with further arguments.
    pub fn start(folder: &Folder, arguments: &[&str]) -> Server {
        let serve = ["serve", "-d", "served", "--listen", "127.0.0.1:0"];
        let mut command = folder.command(serve.iter().chain(arguments));
        command.env("PIKEPOLE_SA_PASSWORD", PASSWORD).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut program = command.spawn().expect("the binary starts");
        let mut line = String::new();
        let stdout = program.stdout.take().expect("it was asked for");
        BufReader::new(stdout).read_line(&mut line).expect("it says where it listens");
        let port = line.trim().rsplit(':').next().and_then(|port| port.parse().ok());
        Server { program, port: port.unwrap_or_else(|| panic!("no port in {line:?}")) }
    }

    fn address(&self) -> String {
        format!("localhost:{}", self.port)
    }

    /// The shell against it, on a terminal.
    pub fn terminal(&self, folder: &Folder) -> Terminal {
        let address = self.address();
        let mut command = folder.command(["sql", "-S", &address, "-U", "sa", "--trust-server-certificate"]);
        command.env("PIKEPOLE_PASSWORD", PASSWORD);
        Terminal::run(folder, command)
    }

    /// Runs the binary against it.
    fn run(&self, folder: &Folder, command: &str, arguments: &[&str]) -> Done {
        let address = self.address();
        let all = [command, "-S", &address, "-U", "sa"];
        let mut command = folder.command(all.iter().chain(arguments));
        Done::from(command.env("PIKEPOLE_PASSWORD", PASSWORD).output().expect("the binary starts"))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // SAFETY: the process is our child and has not been waited for, so the number is its own.
        unsafe { libc::kill(self.program.id() as i32, libc::SIGTERM) };
        let status = self.program.wait().expect("it ends");
        assert!(std::thread::panicking() || status.success(), "{status}");
    }
}

/// What a script may print: every kind of result, message, count and error, and every type.
const SCRIPTS: &[(&str, &str)] = &[
    (
        "numbers",
        "SELECT CAST(1 AS bit) AS a, CAST(255 AS tinyint) AS b, CAST(-32768 AS smallint) AS c, -2147483648 AS d,
             CAST(9223372036854775807 AS bigint) AS e, CAST(-1.50 AS decimal(5, 2)) AS f,
             CAST(99999999999999999999999999999999999999 AS decimal(38, 0)) AS g, CAST(922337203685477.5807 AS money) AS h,
             CAST(-214748.3648 AS smallmoney) AS i, CAST(0.1 AS real) AS j, CAST(1e300 AS float) AS k, 1.10 AS l, NULL AS m;",
    ),
    (
        "times",
        "SELECT CAST('0001-01-01' AS date) AS a, CAST('23:59:59.9999999' AS time) AS b, CAST('12:34:56.12' AS time(2)) AS c,
             CAST('9999-12-31 23:59:59.997' AS datetime) AS d, CAST('2020-01-02 03:04' AS smalldatetime) AS e,
             CAST('9999-12-31 23:59:59.9999999' AS datetime2) AS f, CAST('2020-01-02 03:04:05' AS datetime2(0)) AS g,
             CAST('2020-01-02 03:04:05.123 +13:59' AS datetimeoffset(3)) AS h;",
    ),
    (
        "texts",
        "SELECT CAST('a' AS char(3)) AS a, N'ü😀\"x\"' AS b, CAST('' AS varchar(9)) AS c, CAST(N'é' AS nchar(2)) AS d,
             0x01FF AS e, CAST(0x01 AS binary(3)) AS f, CAST('6F9619FF-8B86-D011-B42D-00C04FC964FF' AS uniqueidentifier) AS g,
             CAST('€' AS varchar(3)) AS h, N'two
lines' AS i;",
    ),
    ("long", "SELECT REPLICATE(CAST(N'lang😀' AS nvarchar(max)), 60000) AS a, REPLICATE(CAST('b' AS varchar(max)), 100000) AS b;"),
    (
        "nulls",
        "CREATE TABLE #n (a int, b bigint, c nvarchar(max), d varbinary(max), e datetime2, f decimal(9, 2), g uniqueidentifier,
             h varchar(10), i bit, j float);
         INSERT #n DEFAULT VALUES; INSERT #n (a, c, j) VALUES (1, N'x', 2.5); SELECT * FROM #n;",
    ),
    (
        "several sets and counts",
        "SELECT 'first' AS a, 'second' AS a, 3 WHERE 1 = 0; SELECT 1 AS a; SELECT 2 AS b, 3;
         CREATE TABLE dbo.t (id int NOT NULL PRIMARY KEY, v int); INSERT dbo.t VALUES (1, 1), (2, 2); UPDATE dbo.t SET v = 3;
         INSERT dbo.t OUTPUT inserted.id, inserted.v VALUES (3, 4); MERGE dbo.t AS t USING (VALUES (3), (4)) AS s (id)
         ON t.id = s.id WHEN MATCHED THEN UPDATE SET v = 9 WHEN NOT MATCHED THEN INSERT VALUES (s.id, 0);
         SET NOCOUNT ON; DELETE dbo.t WHERE id = 1; SELECT COUNT(*) AS n FROM dbo.t; SET NOCOUNT OFF; DELETE dbo.t; DROP TABLE dbo.t;",
    ),
    (
        "messages",
        "PRINT 'one'; RAISERROR ('two %d', 0, 1, 2); RAISERROR ('three', 10, 4) WITH NOWAIT; SELECT 4 AS four; PRINT N'fünf 😀';
         PRINT ''; RAISERROR ('six', 9, 1); DECLARE @none varchar(5); PRINT @none;",
    ),
    (
        "errors",
        "PRINT 'a';\nSELECT 1 / 0 AS x;\nPRINT 'b';\nRAISERROR ('own %s', 16, 7, 'error');\nGO\n\nSELECT nothing;\nGO
         SELECT FROM t\nGO\nTHROW 50001, 'thrown', 3;\nGO\nSELECT * FROM dbo.missing\nGO\nSELECT CAST('x' AS int)\nGO
         RAISERROR ('severe', 18, 1)\nGO\nSELECT value, 10 / (3 - value) AS x FROM GENERATE_SERIES(1, 5)",
    ),
    (
        "procedures",
        "CREATE PROCEDURE dbo.inner_one @n int AS BEGIN PRINT CONCAT('inner ', @n); INSERT dbo.p VALUES (@n); SELECT @n AS n; RETURN 7; END
GO
CREATE TABLE dbo.p (id int NOT NULL CONSTRAINT pk_p PRIMARY KEY)
GO
CREATE PROCEDURE dbo.outer_one AS
BEGIN
    DECLARE @status int;
    EXEC @status = dbo.inner_one 1;
    EXEC @status = dbo.inner_one 1;
    PRINT @status;
    BEGIN TRY EXEC dbo.inner_one 1 END TRY BEGIN CATCH PRINT ERROR_MESSAGE(); PRINT ERROR_PROCEDURE(); END CATCH;
    EXEC ('SELECT 1 AS dynamic; SELECT 1 / 0');
    SET NOCOUNT ON;
    INSERT dbo.p VALUES (5);
END
GO
EXEC dbo.outer_one
GO
EXEC dbo.missing_one
GO
SET XACT_ABORT ON; BEGIN TRANSACTION; EXEC dbo.inner_one 1; PRINT 'not reached'
GO
PRINT @@TRANCOUNT
GO 2
DROP PROCEDURE dbo.outer_one, dbo.inner_one; DROP TABLE dbo.p;",
    ),
    (
        "databases and transactions",
        "CREATE DATABASE other;\nGO\nUSE other;\nGO\nSELECT DB_NAME() AS name;\nBEGIN TRANSACTION;\nCREATE TABLE dbo.t (id int);
         ROLLBACK;\nGO\nSELECT OBJECT_ID('dbo.t') AS id;\nCOMMIT;\nGO\nUSE nowhere;\nGO\nUSE master; DROP DATABASE other;",
    ),
    ("rows", "SELECT value, REPLICATE('x', value % 50) AS text, NULLIF(value % 3, 0) AS third FROM GENERATE_SERIES(1, 3500)"),
    ("a message behind a failed result", "BEGIN TRY SELECT 1 / 0 AS x; END TRY BEGIN CATCH PRINT ERROR_MESSAGE(); END CATCH;"),
    (
        "triggers and batches of nothing",
        "CREATE TABLE dbo.t (id int)\nGO\nCREATE TRIGGER dbo.watch ON dbo.t AFTER INSERT AS PRINT 'fired'; SELECT id FROM inserted;
GO\nINSERT dbo.t VALUES (1), (2)\nGO\n-- nothing\nGO\nDECLARE @n int = 1; SET @n += 1; IF @n = 3 PRINT 'no'\nGO\nDROP TABLE dbo.t",
    ),
];

/// Reserved pages, which most machines have none of: what was granted is in the error log, and a command says what was not.
#[test]
fn the_pages_that_memory_is_in_are_told() {
    let folder = Folder::new("memory-log");
    let model = "SELECT sql_memory_model_desc FROM sys.dm_os_sys_info";
    let own = folder.run(["sql", "-d", "own", "--csv", "--policy", "LARGE_PAGES=RESERVED", "-Q", model]);
    let server = Server::start(&folder, &["-T", "834"]);
    let ask = |sql| server.run(&folder, "sql", &["--trust-server-certificate", "--csv", "-Q", sql]);
    let (log, served) = (ask("EXEC sp_readerrorlog"), ask(model));
    for (said, model) in [(&own.err, &own.out), (&log.out, &served.out)] {
        if model.ends_with("\nLARGE_PAGES\n") {
            assert!(!said.contains("instead of"), "{said}");
        } else {
            assert!(model.ends_with("\nCONVENTIONAL\n"), "{model}");
            let line = said.lines().find(|line| line.contains("memory of database master: buffer pool of "));
            let line = line.unwrap_or_else(|| panic!("nothing is said: {said}"));
            assert!(
                line.contains(" instead of reserved pages of 2 MB: ") && line.contains("vm.nr_hugepages"),
                "{line}"
            );
        }
    }
    assert!(log.out.contains("; log buffer of 32 MB in "), "{}", log.out);
}

#[test]
fn a_script_prints_the_same_on_a_server_encrypted_or_not() {
    let folder = Folder::new("alike");
    let server = Server::start(&folder, &[]);
    // One script of all: each run of the binary opens a folder of databases.
    let script = SCRIPTS.iter().map(|(name, script)| format!("PRINT '{name}'\nGO\n{script}\nGO\n")).collect::<String>();
    let path = folder.write("script.sql", script);
    let path = path.to_str().expect("text");
    let encrypted = ["--certificate", "served/server-certificate.pem", "--encrypt", "strict"];
    let formats = [&["-i", path][..], &["--json", "-i", path], &["--csv", "-i", path]];
    for (format, client) in formats.into_iter().zip([&["--encrypt", "off"][..], &encrypted, &["--encrypt", "off"]]) {
        let own = folder.run(["sql", "-d", "data"].iter().chain(format));
        let theirs = server.run(&folder, "sql", &[client, format].concat());
        let differ = theirs.out.lines().zip(own.out.lines()).find(|(theirs, own)| theirs != own);
        assert_eq!(differ, None, "{format:?}");
        assert_eq!(theirs.err, own.err, "{format:?}");
        assert_eq!((theirs.status, theirs.out.len()), (own.status, own.out.len()), "{format:?}");
        assert!(own.out.contains("triggers") || own.err.contains("triggers"), "to the last script: {}", own.err);
    }
}

#[test]
fn who_answers_is_looked_at() {
    let folder = Folder::new("trust");
    let server = Server::start(&folder, &[]);
    let query = ["-Q", "SELECT encrypt_option AS e FROM sys.dm_exec_connections WHERE session_id = @@SPID", "--csv"];
    let run = |more: &[&str]| server.run(&folder, "sql", &[&query[..], more].concat());
    let believed = run(&["--trust-server-certificate"]);
    assert_eq!((believed.status, believed.out.as_str()), (0, "e\nTRUE\n"), "{}", believed.err);
    let plain = run(&["--encrypt", "off"]);
    assert_eq!((plain.status, plain.out.as_str()), (0, "e\nFALSE\n"), "{}", plain.err);
    // The system's authorities have not signed it; nor has another server.
    let unknown = run(&[]);
    assert!(unknown.status == 1 && unknown.err.contains("certificate"), "{unknown:?}");
    let other_folder = Folder::new("other-trust");
    let _other = Server::start(&other_folder, &[]);
    let other = other_folder.path().join("served/server-certificate.pem");
    let foreign = run(&["--certificate", other.to_str().expect("text")]);
    assert!(foreign.status == 1 && foreign.err.contains("certificate"), "{foreign:?}");
    run(&["--certificate", "none.pem"]).failed_with("pikepole: none.pem: ");
    let both = run(&["--encrypt", "off", "--trust-server-certificate"]);
    both.failed_saying("pikepole: without encryption there is no certificate to believe\n");
}

#[test]
fn who_is_not_let_in_is_told_why() {
    let folder = Folder::new("refused");
    let server = Server::start(&folder, &["--tls", "off"]);
    let address = server.address();
    let run = |arguments: &[&str]| folder.run(["sql", "-Q", "PRINT 1", "-U", "sa"].iter().chain(arguments));
    let wrong = run(&["-S", &address, "--encrypt", "off", "-P", "wrong"]);
    wrong.failed_with("pikepole: Msg 18456, Level 14, State 1");
    let none = run(&["-S", &address, "--encrypt", "off"]);
    none.failed_saying("pikepole: no password: give it in PIKEPOLE_PASSWORD, or with -P\n");
    let plain = run(&["-S", &address, "-P", "wrong", "--trust-server-certificate"]);
    plain.failed_with(&format!("pikepole: TLS with {address}: "));
    assert!(plain.err.contains("--encrypt off"), "{plain:?}");
    let sqlcmd =
        folder.run(["sqlcmd", "-S", &address.replace(':', ","), "-U", "sa", "-P", "wrong", "-C", "-Q", "PRINT 1"]);
    assert!(sqlcmd.err.contains("has no encryption; -No connects to a server without TLS."), "{sqlcmd:?}");
    let far = run(&["-S", "192.0.2.1", "--encrypt", "off", "-P", "wrong"]);
    far.failed_saying("pikepole: 192.0.2.1:1433 is another computer: the connection must be encrypted\n");
    let nobody = run(&["-S", "127.0.0.1:1", "--encrypt", "off", "-P", "wrong"]);
    nobody.failed_saying("pikepole: 127.0.0.1:1: Connection refused (os error 111)\n");
    for wrong in [&["-S", "a:b"][..], &["-d", "data", "-S", "a"], &["--certificate", "a"]] {
        assert_eq!(run(wrong).status, 2, "{wrong:?}");
    }
}

#[test]
fn the_shell_asks_for_the_password_and_control_c_ends_what_runs_there() {
    let folder = Folder::new("shell-server");
    let server = Server::start(&folder, &["--tls", "off"]);
    let address = server.address();
    let mut terminal = Terminal::open(&folder, &["sql", "-S", &address, "-U", "sa", "--encrypt", "off"]);
    terminal.wait_for("password of sa: ");
    terminal.type_in(&format!("{PASSWORD}\n"));
    let endless = [
        "WAITFOR DELAY '23:59:59'",
        "DECLARE @i int WHILE 1 = 1 BEGIN BEGIN TRY SET @i = 1 END TRY BEGIN CATCH PRINT 'no' END CATCH END",
        "BEGIN TRANSACTION CREATE TABLE dbo.never (id int) WAITFOR DELAY '23:59:59'",
    ];
    for statement in endless {
        terminal.wait_for("1> ");
        terminal.type_in(&format!("{statement}\n"));
        terminal.wait_for("2> ");
        terminal.type_in("GO 3\n");
        terminal.interrupt_until("Msg 3617, Level 11, State 0\nOperation cancelled by user.\n");
    }
    terminal.wait_for("1> ");
    terminal.type_in("SELECT @@TRANCOUNT AS open_transactions\n");
    terminal.wait_for("2> ");
    terminal.type_in("GO\n");
    terminal.wait_for("|                 1 |\n");
    terminal.wait_for("1> ");
    terminal.type_in("exit\n");
    assert!(!terminal.shown().contains("Water"), "the password is not shown");
    assert_eq!(terminal.end(), Some(1));
}

#[test]
fn the_load_driver_drives_a_server() {
    let folder = Folder::new("stress-server");
    let server = Server::start(&folder, &[]);
    let stress = |arguments: &[&str]| {
        let common = ["--trust-server-certificate", "--json", "runs.json", "-n", "1,3", "-r", "60"];
        let done = server.run(&folder, "stress", &[&common[..], arguments].concat());
        assert_eq!(done.status, 0, "{}", done.err);
        let text = std::fs::read_to_string(folder.path().join("runs.json")).expect("the runs");
        let Ok(Value::Array(runs)) = serde_json::from_str(&text) else { panic!("{text}") };
        (done, runs)
    };
    for (arguments, workload) in
        [(&["--rpc"][..], "rpc-insert"), (&["--rpc", "--calls", "20"], "rpc-insert"), (&[], "singleton-insert")]
    {
        let (done, runs) = stress(arguments);
        let expected = [("FULL", 1), ("FULL", 3), ("DELAYED", 1), ("DELAYED", 3)];
        assert_eq!(runs.len(), expected.len());
        for (run, (durability, sessions)) in runs.iter().zip(expected) {
            assert_eq!((&run["durability"], &run["sessions"]), (&Value::from(durability), &Value::from(sessions)));
            assert_eq!(run["workload"], workload);
            assert_eq!((&run["rows"], &run["rows_counted"]), (&Value::from(60 * sessions), &Value::from(true)));
            assert_eq!(run["policies"]["LOG_RESERVATION"], "CHUNK");
            assert!(run["log_bytes"].as_f64() > Some(0.0) && run["client_cpu_seconds"].is_number(), "{run}");
            let at = |name: &str| run["latency"][name].as_f64();
            assert_eq!(at("p50_us") > Some(0.0), workload == "rpc-insert", "{run}");
            assert!(at("p50_us") <= at("p99_us") && at("p99_us") <= at("max_us"));
        }
        assert!(done.out.contains("| client CPU us/row | p50 us "), "{}", done.out);
        assert!(done.out.ends_with("every run: the rows in the table are the rows acknowledged\n"), "{}", done.out);
    }
    let (_, runs) = stress(&["-Q", "SELECT 1 AS one; SELECT 2 AS two", "--durability", "full"]);
    assert_eq!(runs.iter().map(|run| run["rows"].as_u64()).collect::<Vec<_>>(), [Some(120), Some(360)]);
    // The options of ostress: a database of one's own, whose option is afterwards as it was; no progress.
    let ask = |query: &str| server.run(&folder, "sql", &["--trust-server-certificate", "--csv", "-Q", query]);
    assert_eq!(ask("CREATE DATABASE [own'd]").status, 0);
    assert_eq!(ask("ALTER DATABASE [own'd] SET DELAYED_DURABILITY = ALLOWED").status, 0);
    assert_eq!(ask("CREATE TABLE [own'd].dbo.t (id int IDENTITY, n int)").status, 0);
    let (done, runs) = stress(&["-d", "own'd", "-q", "-Q", "SET NOCOUNT ON; INSERT t VALUES (1); INSERT t VALUES (2)"]);
    assert_eq!((runs.iter().map(|run| run["rows"].as_u64()).sum::<Option<u64>>(), done.err.as_str()), (Some(960), ""));
    let state = ask(
        "SELECT COUNT(*) AS n, (SELECT delayed_durability_desc FROM sys.databases WHERE name = 'own''d') AS d FROM [own'd].dbo.t",
    );
    assert_eq!(state.out, "n,d\n960,ALLOWED\n", "{}", state.err);
    let named = server.run(&folder, "stress", &["--trust-server-certificate", "-d", "own'd"]);
    named.failed_with("pikepole: with -S, -d names a database for a workload of your own");
    let failed = server.run(&folder, "stress", &["--trust-server-certificate", "-Q", "SELECT 1 / 0"]);
    failed.failed_saying("pikepole: Msg 8134, Level 16, State 1, Line 1: Divide by zero error encountered.\n");
    let query_by_call = &["--rpc", "-S", "a", "-U", "b", "-Q", "c"][..];
    for wrong in [&["--rpc"][..], query_by_call, &["-S", "a", "-U", "b", "--policy", "A=B"]] {
        assert_eq!(folder.run(["stress"].iter().chain(wrong)).status, 2, "{wrong:?}");
    }
    // A profile would be the driver's own, not the server's.
    let profile = folder.run(["stress", "-S", "a", "-U", "b", "--profile"]);
    assert_eq!(profile.status, 2, "{profile:?}");
    assert!(profile.err.contains("'--server <HOST:PORT>' cannot be used with '--profile"), "{}", profile.err);
}
