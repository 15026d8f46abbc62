//! `pikepole stress`: its runs, its JSON, its policies. Nothing here depends on how fast anything is.

use crate::tool::{Done, Folder};
use serde_json::Value;

/// Runs the driver with `--json` and gives the runs.
#[track_caller]
fn stress(folder: &Folder, arguments: &[&str]) -> (Done, Vec<Value>) {
    let done = folder.run(["stress", "--json", "runs.json"].iter().chain(arguments));
    assert_eq!(done.status, 0, "{}", done.err);
    let text = std::fs::read_to_string(folder.path().join("runs.json")).expect("the runs");
    let Ok(Value::Array(runs)) = serde_json::from_str(&text) else { panic!("{text}") };
    (done, runs)
}

fn number(run: &Value, field: &str) -> f64 {
    run[field].as_f64().unwrap_or_else(|| panic!("no number {field} in {run}"))
}

fn table<'a>(run: &'a Value, name: &str, columns: &[&str]) -> &'a [Value] {
    let rows = run[name].as_array().unwrap_or_else(|| panic!("no table {name} in {run}"));
    for row in rows {
        let found: Vec<&String> = row.as_object().expect("a row").keys().collect();
        assert_eq!(found, columns, "{name}");
    }
    rows
}

/// Collisions of a spinlock; a lock without any has no row.
fn collisions(run: &Value, name: &str) -> i64 {
    let columns = ["name", "collisions", "spins", "spins_per_collision", "sleep_time", "backoffs"];
    let rows = table(run, "spinlocks", &columns);
    rows.iter().find(|row| row["name"] == name).map_or(0, |row| row["collisions"].as_i64().expect("a number"))
}

/// The spinlocks of the three points of the log and of transaction ids that their default policies do without.
const WITHOUT_BY_DEFAULT: [&str; 3] = ["LOGCACHE_ACCESS", "LOGFLUSHQ", "XDESMGR"];

#[test]
fn runs_tell_all_that_was_measured() {
    let folder = Folder::new("stress");
    let (done, runs) = stress(&folder, &["-n", "1,3", "-r", "200"]);
    let what: Vec<(&str, u64)> = runs
        .iter()
        .map(|run| (run["durability"].as_str().expect("text"), run["sessions"].as_u64().expect("a number")))
        .collect();
    assert_eq!(what, [("FULL", 1), ("FULL", 3), ("DELAYED", 1), ("DELAYED", 3)]);
    for run in &runs {
        assert_eq!(number(run, "rows"), 200.0 * number(run, "sessions"));
        assert_eq!(run["rows_counted"], true);
        for field in ["seconds", "rows_per_second", "log_bytes", "log_bytes_written", "flushes", "cpu_seconds"] {
            assert!(number(run, field) > 0.0, "{field} in {run}");
        }
        let record = number(run, "log_bytes") / number(run, "rows");
        assert!(
            (20.0..=100.0).contains(&record),
            "{record} bytes of log a row, what the system logs beside it included"
        );
        assert_eq!(run["policies"]["LOG_RESERVATION"], "CHUNK");
        assert_eq!(run["policies"]["TRANSACTION_IDS"], "ATOMIC_RANGES");
        let waits = ["wait_type", "waiting_tasks_count", "wait_time_ms", "max_wait_time_ms", "signal_wait_time_ms"];
        let waits = table(run, "waits", &waits);
        let commits = waits
            .iter()
            .find(|row| row["wait_type"] == "WRITELOG")
            .map_or(0.0, |row| number(row, "waiting_tasks_count"));
        assert_eq!(commits > 0.0, run["durability"] == "FULL", "who waits for the log: {run}");
        table(run, "latches", &["latch_class", "waiting_requests_count", "wait_time_ms", "max_wait_time_ms"]);
        for name in WITHOUT_BY_DEFAULT {
            assert_eq!(collisions(run, name), 0, "{name}");
        }
    }
    assert!(done.out.contains("| durability | sessions | rows/s"), "{}", done.out);
    assert!(done.out.ends_with("every run: the rows in the table are the rows acknowledged\n"), "{}", done.out);
    let left: Vec<_> = std::fs::read_dir(folder.path()).expect("the folder").flatten().collect();
    assert_eq!(left.len(), 1, "the folder of the runs is gone: {left:?}");
}

#[test]
fn the_classic_policies_run_too() {
    let folder = Folder::new("policies");
    let classic = ["--policy", "LOG_RESERVATION=SPINLOCK", "--policy", "TRANSACTION_IDS=SPINLOCK"];
    let (_, runs) = stress(&folder, &[&["-n", "4", "-r", "200", "-d", "data"][..], &classic].concat());
    assert_eq!(runs.len(), 2);
    for run in &runs {
        assert_eq!(number(run, "rows"), 800.0);
        assert_eq!(run["policies"]["LOG_RESERVATION"], "SPINLOCK");
        assert_eq!(run["policies"]["TRANSACTION_IDS"], "SPINLOCK");
    }
    assert_eq!(folder.check().status, 0);
    let count = "USE stress;\nGO\nSELECT COUNT(*) AS n FROM dbo.singleton_insert;";
    let done = folder.run(["sql", "-d", "data", "--csv", "-Q", count]);
    assert_eq!((done.status, done.out.as_str()), (0, "n\n800\n"), "{}", done.err);
    let (_, runs) = stress(&folder, &["-n", "4", "-r", "50", "-d", "data", "--durability", "delayed"]);
    let policies: Vec<&Value> = runs.iter().map(|run| &run["policies"]["LOG_RESERVATION"]).collect();
    assert_eq!(policies, ["CHUNK"], "a policy given for one run is not kept");
}

#[test]
fn workloads_of_one_s_own() {
    let folder = Folder::new("own");
    let setup = "DROP TABLE IF EXISTS dbo.own;\nGO\nCREATE TABLE dbo.own (id uniqueidentifier NOT NULL PRIMARY KEY, n int NOT NULL);";
    folder.write("setup.sql", setup);
    folder
        .write("load.sql", "INSERT dbo.own VALUES (NEWID(), 1), (NEWID(), 2);\nGO 2\nDELETE dbo.own WHERE n = 3;\nGO");
    let common = ["-d", "data", "-n", "2", "-r", "10", "--durability", "delayed", "--setup", "setup.sql"];
    let count = "USE stress;\nGO\nSELECT COUNT(*) AS n FROM dbo.own;";
    let counted = || folder.run(["sql", "-d", "data", "--csv", "-Q", count]).out;
    let (done, runs) = stress(&folder, &[&common[..], &["-i", "load.sql"]].concat());
    assert_eq!((number(&runs[0], "rows"), counted().as_str()), (80.0, "n\n80\n"));
    assert_eq!((&runs[0]["workload"], &runs[0]["rows_counted"]), (&Value::from("batch"), &Value::from(false)));
    assert!(!done.out.contains("acknowledged"), "nobody counted: {}", done.out);
    let (_, runs) = stress(&folder, &[&common[..], &["-Q", "INSERT dbo.own VALUES (NEWID(), 1)"]].concat());
    assert_eq!((number(&runs[0], "rows"), counted().as_str()), (20.0, "n\n20\n"));
}

/// A procedure as people write it: keys by session, SET NOCOUNT ON, rows that only one run can insert.
const SINGLETONS: &str = "CREATE TABLE dbo.t (id bigint NOT NULL PRIMARY KEY, made datetime NOT NULL)
GO
CREATE PROCEDURE dbo.usp_InsertSpid AS
BEGIN
    SET NOCOUNT ON;
    DECLARE @i int = 0;
    WHILE @i < 100
    BEGIN
        INSERT dbo.t VALUES (@@SPID * 10000000000 + @i, GETDATE());
        SET @i += 1;
    END;
    UPDATE dbo.t SET made = GETDATE() WHERE id BETWEEN @@SPID * 10000000000 AND @@SPID * 10000000000 + 9;
END
GO
";

#[test]
fn rows_are_counted_under_nocount_and_each_run_of_a_sweep_has_new_tables() {
    let folder = Folder::new("stress-nocount");
    folder.write("setup.sql", SINGLETONS);
    let sweep = [
        "-n",
        "1,2,4",
        "-r",
        "1",
        "--setup",
        "setup.sql",
        "-Q",
        "EXEC dbo.usp_InsertSpid",
        "--plot",
        "sweep.svg",
        "-q",
    ];
    let (done, runs) = stress(&folder, &sweep);
    let rows: Vec<f64> = runs.iter().map(|run| number(run, "rows")).collect();
    assert_eq!(rows, [110.0, 220.0, 440.0, 110.0, 220.0, 440.0]);
    assert!(runs.iter().all(|run| number(run, "rows_per_second") > 0.0 && run["rows_counted"] == false));
    assert_eq!(done.err, "", "no progress");
    assert!(
        done.out.contains('█')
            && done.out.contains("\nrows a second\n  FULL        1 ")
            && done.out.contains("\nsweep.svg\n"),
        "{}",
        done.out
    );
    let drawn = std::fs::read_to_string(folder.path().join("sweep.svg")).expect("the picture");
    assert!(drawn.starts_with("<svg xmlns='http://www.w3.org/2000/svg'") && drawn.ends_with("</svg>\n"), "{drawn}");
    for title in ["rows a second", "XDESMGR: back-offs a second", "LOGFLUSHQ: spins a second"] {
        assert!(drawn.contains(&format!(">{title}</text>")), "{title}");
    }
    assert_eq!(drawn.matches("<path class='line'").count(), 2 * 7, "a line for each durability in each chart");
    // What statements do tell is the rate, not what their triggers do beside it.
    folder.write("audited.sql", "CREATE TABLE dbo.t (n int) CREATE TABLE dbo.audit (n int)\nGO\nCREATE TRIGGER dbo.audits ON dbo.t AFTER INSERT AS SET NOCOUNT ON INSERT dbo.audit SELECT n FROM inserted\nGO\n");
    let (_, runs) = stress(&folder, &["-n", "2", "-r", "3", "--setup", "audited.sql", "-Q", "INSERT dbo.t VALUES (1)"]);
    assert!(runs.iter().all(|run| number(run, "rows") == 6.0 && number(run, "rows_changed") == 12.0), "{runs:?}");
    // What statements do tell is not counted twice.
    let told = [
        "-n",
        "2",
        "-r",
        "3",
        "--setup",
        "setup.sql",
        "-Q",
        "INSERT dbo.t SELECT @@SPID * 1000 + COUNT(*), GETDATE() FROM dbo.t WHERE id / 1000 = @@SPID",
    ];
    let (_, runs) = stress(&folder, &told);
    assert!(runs.iter().all(|run| number(run, "rows") == 6.0), "{runs:?}");
}

#[test]
fn what_cannot_be_run_is_said() {
    let folder = Folder::new("stress-wrong");
    folder.write("setup.sql", "CREATE TABLE dbo.own (id int NOT NULL)");
    let own_table =
        "--table goes with the built-in workload; those of your own (-i or -Q) have the tables of their --setup";
    let heap =
        "--table goes with --workload singleton-insert: parallel-insert is into a heap, and in-memory tables are none";
    let wrong: [(&[&str], &str); 10] = [
        (&["--table", "memory", "-Q", "SELECT 1"], own_table),
        (&["--table", "disk", "--workload", "parallel-insert"], heap),
        (&["-n", "0"], "a run needs at least one session"),
        (&["-r", "0"], "-r takes a number above zero"),
        (&["--seconds", "-1"], "--seconds takes a number above zero"),
        (&["--setup", "setup.sql"], "--setup goes with a workload of your own (-i or -Q)"),
        (&["-i", "none.sql"], "none.sql: No such file or directory (os error 2)"),
        (&["--policy", "XDESMGR"], "--policy takes NAME=VALUE, not `XDESMGR`"),
        (&["-Q", "SELECT 1 / 0", "-n", "2"], "Msg 8134, Level 16, State 1, Line 1: Divide by zero error encountered."),
        (&["-Q", "INSERT dbo.none VALUES (1)"], "Msg 208, Level 16, State 1, Line 1: Invalid object name 'dbo.none'."),
    ];
    for (arguments, message) in wrong {
        folder.run(["stress"].iter().chain(arguments)).failed_saying(&format!("pikepole: {message}\n"));
    }
    let left: Vec<_> = std::fs::read_dir(folder.path()).expect("the folder").flatten().collect();
    assert_eq!(left.len(), 1, "{left:?}");
}

#[test]
fn tables_of_each_kind_take_the_inserts() {
    let folder = Folder::new("stress-table");
    for (kind, in_memory) in [("disk", Some(false)), ("memory", None), ("schema-only", Some(true))] {
        let (done, runs) = stress(&folder, &["-n", "1,3", "-r", "100", "-d", "data", "--table", kind]);
        assert_eq!(runs.len(), 4);
        for run in &runs {
            assert_eq!((&run["table"], &run["rows_counted"]), (&kind.into(), &true.into()), "{run}");
            assert_eq!((number(run, "rows"), number(run, "conflicts")), (100.0 * number(run, "sessions"), 0.0));
            let told = run["memory_optimized"].as_bool().expect("a flag");
            // A durable one may be an ordinary table, which is said then.
            assert_eq!(told, in_memory.unwrap_or(told));
            assert_eq!(done.out.contains("made an ordinary table"), kind == "memory" && !told, "{}", done.out);
        }
        assert_eq!(done.out.contains("| durability | table "), kind != "disk", "{}", done.out);
    }
    let elevates = "SELECT is_memory_optimized_elevate_to_snapshot_on AS e FROM sys.databases WHERE name = 'stress'";
    assert_eq!(folder.run(["sql", "-d", "data", "--csv", "-Q", elevates]).out, "e\n1\n");
}

/// Transactions that overlap on one row: all but one are refused, and done in the end.
const HOT: &str = "CREATE TABLE dbo.hot (id int NOT NULL PRIMARY KEY NONCLUSTERED, n int NOT NULL)
    WITH (MEMORY_OPTIMIZED = ON, DURABILITY = SCHEMA_ONLY);
CREATE TABLE dbo.seen (n int NOT NULL);
INSERT dbo.hot VALUES (1, 0);
";

#[test]
fn conflicts_are_run_again_and_counted_apart() {
    let folder = Folder::new("stress-conflicts");
    folder.write("setup.sql", HOT);
    let batch = "BEGIN TRAN; UPDATE dbo.hot WITH (SNAPSHOT) SET n += 1 WHERE id = 1; WAITFOR DELAY '00:00:00.005';
        INSERT dbo.seen SELECT n FROM dbo.hot WITH (SNAPSHOT); COMMIT";
    let arguments =
        ["-d", "data", "-n", "3", "-r", "5", "--durability", "delayed", "--setup", "setup.sql", "-Q", batch];
    let (done, runs) = stress(&folder, &arguments);
    assert!(number(&runs[0], "conflicts") > 0.0 && done.out.contains("| conflicts |"), "{}", done.out);
    assert_eq!(number(&runs[0], "rows"), 30.0, "an update and an insert each, once");
    let count = "SELECT COUNT(*) AS n, MAX(n) AS last, COUNT(DISTINCT n) AS d FROM stress.dbo.seen";
    assert_eq!(folder.run(["sql", "-d", "data", "--csv", "-Q", count]).out, "n,last,d\n15,15,15\n");
}

/// A page, a flame graph and a text for each run, whose figures are those of the JSON.
#[cfg(target_arch = "x86_64")]
#[test]
fn a_profile_tells_where_the_time_went() {
    let folder = Folder::new("profile");
    let arguments = ["-n", "4", "--seconds", "0.7", "--durability", "delayed", "--profile=shares"];
    let (done, runs) = stress(&folder, &arguments);
    let profile = &runs[0]["profile"];
    let samples = number(profile, "samples");
    let areas = profile["areas"].as_object().expect("areas");
    assert!(samples > 20.0, "{profile}");
    assert_eq!(areas.values().filter_map(Value::as_f64).sum::<f64>(), samples, "each sample is in one area");
    for area in ["T-SQL", "storage"] {
        assert!(areas.contains_key(area), "{areas:?}");
    }
    let stacks = profile["stacks"].as_array().expect("stacks");
    assert_eq!(stacks.iter().map(|stack| number(stack, "samples")).sum::<f64>(), samples);
    let share = |area: &str| 100.0 * areas.get(area).and_then(Value::as_f64).unwrap_or(0.0) / samples;
    assert!(share("other") < 20.0, "most is known: {areas:?}");
    assert!(done.out.contains("samples of") && done.out.contains("T-SQL "), "{}", done.out);
    let mut files: Vec<String> = std::fs::read_dir(folder.path().join("shares"))
        .expect("the folder")
        .map(|entry| entry.expect("a file").file_name().to_string_lossy().into_owned())
        .collect();
    files.sort();
    let kinds: Vec<&str> = files.iter().filter_map(|file| file.rsplit('.').next()).collect();
    assert_eq!(kinds, ["html", "svg", "txt"], "{files:?}");
    let read = |place: usize| std::fs::read_to_string(folder.path().join("shares").join(&files[place])).expect("text");
    assert!(read(0).contains("class='callers'") && read(1).contains("<svg"));
    assert!(read(2).contains("inverted call tree: what ran, and below it who called it\n"));
    assert!(read(2).contains(&format!("{:6.2}%  T-SQL\n", share("T-SQL"))), "{}", read(2));
    let of_server = folder.run(["stress", "-S", "localhost", "-U", "sa", "-P", "x", "--profile"]);
    assert!(of_server.status == 2 && of_server.err.contains("cannot be used with '--profile"), "{}", of_server.err);
}

#[test]
fn sets_of_policies_run_side_by_side() {
    let folder = Folder::new("sets");
    let (done, runs) = stress(&folder, &["-n", "2", "-r", "50", "--policies", "classic,best"]);
    let of = |run: &Value, name: &str| run["policies"][name].as_str().map(str::to_string);
    let sets: Vec<_> = runs.iter().map(|run| (run["policy_set"].as_str(), of(run, "LOG_RESERVATION"))).collect();
    let (classic, best) = (Some("SPINLOCK".to_string()), Some("CHUNK".to_string()));
    let expected =
        [(Some("classic"), &classic), (Some("classic"), &classic), (Some("best"), &best), (Some("best"), &best)];
    assert!(sets.iter().map(|(set, value)| (*set, value)).eq(expected), "{sets:?}");
    for (name, classic, best) in [
        ("COMMIT_BY", "LOG_WRITER", "SCHEDULER"),
        ("LOG_WRITERS", "1", "AUTO"),
        ("NESTED_TRANSACTIONS", "FAIR_LATCH", "PRIVATE"),
        ("EXCHANGE", "PACKETS", "COUNTS"),
    ] {
        assert_eq!([of(&runs[0], name), of(&runs[2], name)], [classic, best].map(|value| Some(value.to_string())));
    }
    assert!(done.out.contains("LOGCACHE_ACCESS spins/1000 rows") && done.out.contains("| classic "), "{}", done.out);
}
