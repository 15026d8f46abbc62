//! The parallel insert: what the load driver tells of it, and that a process killed in the middle of one leaves all of its
//! rows or none.

use crate::tool::Folder;
use serde_json::Value;
use std::process::Stdio;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The one number that a query returns in a database.
#[track_caller]
fn number_in(folder: &Folder, database: &str, query: &str) -> i64 {
    let done = folder.run(["sql", "-d", "data", "--csv", "-Q", &format!("USE {database};\nGO\n{query}")]);
    assert_eq!(done.status, 0, "{query}: {}", done.err);
    done.out.lines().nth(1).and_then(|line| line.parse().ok()).expect("a number")
}

#[test]
fn every_way_to_log_is_run_and_told() {
    let folder = Folder::new("parallel");
    let arguments =
        ["stress", "--workload", "parallel-insert", "--compare", "--rows", "200000", "--maxdop", "3", "-T", "3933"];
    let done = folder.run(arguments.iter().chain(&["-d", "data", "--json", "runs.json"]));
    assert_eq!(done.status, 0, "{}", done.err);
    assert!(done.out.starts_with("| nested transactions, logging | rows "), "{}", done.out);
    assert!(done.out.ends_with("every run: the rows in the table are the rows acknowledged\n"), "{}", done.out);
    let text = std::fs::read_to_string(folder.path().join("runs.json")).expect("the runs");
    let Ok(Value::Array(runs)) = serde_json::from_str(&text) else { panic!("{text}") };
    let what = |run: &Value| (run["nested_transactions"].clone(), run["minimal_logging"] == true);
    let wanted = [("FAIR_LATCH", false), ("UNFAIR_LATCH", false), ("PRIVATE", false), ("PRIVATE", true)];
    assert!(runs.iter().map(what).eq(wanted.map(|(policy, minimal)| (Value::from(policy), minimal))), "{text}");
    for run in &runs {
        let number = |field: &str| run[field].as_f64().unwrap_or_else(|| panic!("no number {field} in {run}"));
        assert_eq!(run["trace_flags"], serde_json::json!([3933]), "{run}");
        assert_eq!((number("rows"), number("maxdop"), &run["rows_counted"]), (200_000.0, 3.0, &Value::from(true)));
        for field in ["seconds", "production_seconds", "rows_per_second", "log_bytes_written", "cpu_seconds"] {
            assert!(number(field) > 0.0, "{field} in {run}");
        }
        let logged = number("log_bytes") / number("rows");
        // The three columns are 20 bytes long.
        let (least, most) = if run["minimal_logging"] == true { (0.0, 1.0) } else { (5.0, 26.0) };
        assert!((least..most).contains(&logged), "{logged} bytes a row in {run}");
    }
    assert_eq!(number_in(&folder, "stress", "SELECT COUNT(*) AS n FROM dbo.parallel_insert"), 200_000);
    assert_eq!(folder.check().status, 0);
}

#[test]
fn what_does_not_go_with_it_is_said() {
    let folder = Folder::new("parallel-wrong");
    let own = "--workload parallel-insert takes no batches (-i, -Q, --setup)";
    let others = "--maxdop, --minimal-logging and --compare go with --workload parallel-insert";
    let wrong: [(&[&str], &str); 3] = [
        (&["--workload", "parallel-insert", "-Q", "SELECT 1"], own),
        (&["--maxdop", "2"], others),
        (&["--compare", "-Q", "SELECT 1"], others),
    ];
    for (arguments, message) in wrong {
        folder.run(["stress"].iter().chain(arguments)).failed_saying(&format!("pikepole: {message}\n"));
    }
}

/// Rows of one statement: enough that it is under way for some tenths of a second.
const ROWS: i64 = 2_000_000;

#[test]
fn a_kill_leaves_all_rows_or_none() {
    let folder = Folder::new("parallel-kill");
    folder.sql_clean("CREATE DATABASE d");
    let table = "USE d;\nGO\nCREATE TABLE t (id bigint NOT NULL, part int NOT NULL, created datetime NOT NULL)";
    assert_eq!(folder.sql(table).status, 0);
    let rounds = std::env::var("PIKEPOLE_KILL_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(4);
    let mut random = SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |time| time.as_nanos() as u64 | 1);
    println!("seed {random}");
    let (mut before, mut killed) = (0, 0);
    // The last two are left alone.
    for round in 0..rounds + 2 {
        let hint = if round % 2 == 0 { "" } else { " WITH (TABLOCK)" };
        let insert = format!(
            "USE d;\nGO\nWITH list AS (SELECT n FROM (VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)) AS v (n)),
             numbers AS (SELECT TOP ({ROWS}) ROW_NUMBER() OVER (ORDER BY (SELECT NULL)) AS n FROM list a CROSS JOIN list b
                CROSS JOIN list c CROSS JOIN list d CROSS JOIN list e CROSS JOIN list f CROSS JOIN list g)
             INSERT INTO t{hint} SELECT n, {round}, DATEADD(second, n, '2020-01-01') FROM numbers OPTION (MAXDOP 3)"
        );
        let mut command = folder.command(["sql", "-d", "data", "-Q", &insert]);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the binary starts");
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        if round < rounds {
            std::thread::sleep(Duration::from_millis(20 + random % 500));
            // It may have ended by itself.
            let _ = child.kill();
        }
        let status = child.wait().expect("it ends");
        killed += u32::from(!status.success());
        let after = number_in(&folder, "d", "SELECT COUNT(*) AS n FROM t");
        let all = after == before + ROWS;
        assert!(all || (after == before && !status.success()), "round {round}: {before} rows, then {after}, {status}");
        let sums = "SELECT COUNT(*) AS n FROM (SELECT part FROM t GROUP BY part HAVING COUNT(*) <> 2000000
            OR SUM(id) <> 2000001000000) AS x";
        assert_eq!(number_in(&folder, "d", sums), 0, "round {round}");
        let checked = folder.check();
        assert_eq!(checked.status, 0, "round {round}: {}{}", checked.out, checked.err);
        before = after;
    }
    assert!(before >= 2 * ROWS, "{before} rows");
    println!("{killed} of {rounds} were killed, {before} rows are there");
}
