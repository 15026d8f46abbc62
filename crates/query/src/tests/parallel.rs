//! Plans that run in parallel give what they give when they run serially.

use super::{Client, World};
use crate::{ColumnInfo, RowTarget};
use pikepole_contention::WaitType;
use pikepole_contention::sync::atomic::Ordering;
use pikepole_engine::{LockMode, LockedThing};
use pikepole_types::{Length, SqlType, Value};
use std::future::{Future, poll_fn};
use std::sync::Arc;
use std::task::Poll;

/// 262,144 numbered rows.
pub(super) const NUMBERS: &str = "digits AS (SELECT n FROM (VALUES (0), (1), (2), (3), (4), (5), (6), (7)) AS v(n)),
    numbers AS (SELECT ROW_NUMBER() OVER (ORDER BY (SELECT NULL)) AS n, f.n AS d
        FROM digits a CROSS JOIN digits b CROSS JOIN digits c CROSS JOIN digits d CROSS JOIN digits e CROSS JOIN digits f)";

/// How often the session has waited for workers by now.
fn waits(client: &Client) -> u64 {
    waits_of(client, "CXCONSUMER")
}

pub(super) fn waits_of(client: &Client, wait_type: &str) -> u64 {
    let waits = client.server.statistics().waits();
    waits.iter().filter(|row| row.wait_type == wait_type).map(|row| row.waiting_tasks_count).sum()
}

#[test]
fn aggregates_agree() {
    let mut client = Client::alone();
    // What keeps a plan serial: an order, extremes of strings, sums of floats, DISTINCT.
    let queries = [
        (true, "SELECT COUNT(*), SUM(n), MIN(n), MAX(n), AVG(d), COUNT_BIG(d) FROM numbers"),
        (true, "SELECT COUNT(*), SUM(n), MAX(n) FROM (SELECT TOP (200001) n FROM numbers) AS t"),
        (
            true,
            "SELECT COUNT(*), SUM(r), MIN(n) FROM (SELECT TOP (140000) n, ROW_NUMBER() OVER (ORDER BY (SELECT NULL)) AS r
                FROM (SELECT TOP (200001) n FROM numbers) AS t) AS t",
        ),
        (
            false,
            "SELECT COUNT(*), SUM(n) FROM (SELECT n FROM numbers ORDER BY n OFFSET 11111 ROWS FETCH NEXT 190000 ROWS ONLY) AS t",
        ),
        (true, "SELECT COUNT(*), SUM(n), COUNT(k) FROM numbers LEFT JOIN (VALUES (1)) AS x(k) ON 1 = 0"),
        (true, "SELECT COUNT(*), SUM(n * k) FROM numbers JOIN (VALUES (1), (3), (3)) AS x(k) ON d = k WHERE n % 10 <> 4"),
        (false, "SELECT SUM(n + @v), MIN(CAST(n AS varchar(10))) FROM numbers"),
        (
            true,
            "SELECT MAX(DATEADD(second, n, CAST('2020-01-01' AS datetime))), SUM(CAST(n AS decimal(12, 2)) / 3), SUM(n + @v) FROM numbers",
        ),
        (true, "SELECT COUNT(NULLIF(d, 3)), SUM(NULLIF(d, 3)) FROM numbers"),
        (true, "SELECT COUNT(*) AS c FROM numbers HAVING COUNT(*) > 5"),
        (false, "SELECT SUM(CAST(n AS float)) FROM numbers"),
        (false, "SELECT COUNT(DISTINCT d) FROM numbers"),
    ];
    for (parallel, query) in queries {
        let run = |client: &mut Client, degree: usize| {
            client.lines(&format!("DECLARE @v bigint = 5; WITH {NUMBERS} {query} OPTION (MAXDOP {degree})"))
        };
        let serial = run(&mut client, 1);
        let before = waits(&client);
        for degree in [2, 3, 0] {
            assert_eq!(run(&mut client, degree), serial, "{query} with {degree}");
        }
        assert_eq!(waits(&client) - before, if parallel { 3 } else { 0 }, "{query}");
    }
    assert_eq!(
        client.value("SELECT SUM(value) FROM GENERATE_SERIES(1, 1000000) OPTION (MAXDOP 2)"),
        "Msg 8115, Level 16, State 2, Line 1: Arithmetic overflow error converting expression to data type int."
    );
    assert!(client.value("SELECT value FROM GENERATE_SERIES(1, 2) OPTION (MAXDOP 1.5)").starts_with("Msg "));
}

#[test]
fn the_first_error_is_reported_at_its_line() {
    let mut client = Client::alone();
    // Errors of three kinds; that of row 100,000 comes first.
    let query = |degree: usize| {
        format!(
            "DECLARE @zero int = 0
             BEGIN TRY
             WITH {NUMBERS}
             SELECT SUM(CASE WHEN n > 200000 THEN CAST('x' AS int) WHEN n = 150000 THEN CAST(n AS tinyint) WHEN n = 100000 THEN n / @zero ELSE n END)
             FROM numbers OPTION (MAXDOP {degree})
             END TRY BEGIN CATCH SELECT ERROR_NUMBER(), ERROR_LINE(), @@TRANCOUNT END CATCH"
        )
    };
    for degree in [1, 2, 4] {
        let before = waits(&client);
        assert_eq!(client.shown(&query(degree)), ["8134|3|0"], "with {degree}");
        assert_eq!(waits(&client) - before, u64::from(degree > 1), "with {degree}");
    }
}

#[test]
fn a_cancelled_statement_ends_its_workers() {
    let mut client = Client::alone();
    client.context.cancelled.store(true, Ordering::Relaxed);
    let lines = client.lines(&format!("WITH {NUMBERS} SELECT SUM(n) FROM numbers OPTION (MAXDOP 2)"));
    assert!(lines[0].starts_with("Msg 3617"), "{lines:?}");
    client.context.cancelled.store(false, Ordering::Relaxed);
    assert_eq!(client.value(&format!("WITH {NUMBERS} SELECT COUNT(*) FROM numbers OPTION (MAXDOP 2)")), "262144");
}

#[test]
fn small_statements_and_those_that_need_the_session_stay_serial() {
    let mut world = World::new();
    let mut client = world.client();
    let serial = [
        "SELECT SUM(value) FROM GENERATE_SERIES(1, 10000)",
        "SELECT COUNT(*) FROM GENERATE_SERIES(1, 200000) OPTION (MAXDOP 1)",
        "SELECT COUNT(*) FROM GENERATE_SERIES(1, 200000) WHERE DB_NAME() = 'master'",
        "SELECT COUNT(*) FROM GENERATE_SERIES(1, 200000) WHERE RAND() < 2",
        "SELECT MAX(NEWID()) FROM GENERATE_SERIES(1, 200000)",
    ];
    for query in serial {
        client.quiet(query);
        assert_eq!(waits(&client), 0, "{query}");
    }
    let query = "SELECT COUNT(*) FROM GENERATE_SERIES(1, 200000) WHERE GETDATE() > '2000-01-01' AND @@SPID > 0";
    client.quiet(query);
    assert_eq!(waits(&client), 1);
    client.quiet("ALTER DATABASE SCOPED CONFIGURATION SET MAXDOP = 1");
    client.quiet(query);
    assert_eq!(waits(&client), 1);
    client.quiet("ALTER DATABASE SCOPED CONFIGURATION SET MAXDOP = 0");
    world.server.set_policy("max degree of parallelism", "1").expect("an option");
    client.quiet(query);
    assert_eq!(waits(&client), 1);
    client.quiet(&format!("{query} OPTION (MAXDOP 2)"));
    assert_eq!(waits(&client), 2);
}

/// A client of a server whose log has room for a whole insert.
pub(super) fn roomy() -> Client {
    World::with_log(256 << 20).client()
}

/// Two tables, one of which workers fill, and the number of statements for which the session waited for workers.
fn filled_twice(client: &mut Client, columns: &str, insert: &str) -> u64 {
    client.quiet(&format!("CREATE TABLE a ({columns}) CREATE TABLE b ({columns})"));
    let run = |client: &mut Client, table: &str, degree: usize| {
        client.lines(&format!("WITH {NUMBERS} {insert} OPTION (MAXDOP {degree})").replace("{t}", table))
    };
    let serial = run(client, "a", 1);
    let before = waits(client);
    let parallel = run(client, "b", 3);
    assert_eq!(serial, parallel, "{insert}");
    let waited = waits(client) - before;
    let sums = |table: &str| format!("SELECT COUNT(*), SUM(n), SUM(v), COUNT(v), MAX(d), COUNT(d) FROM {table}");
    let (left, right) = (sums("a"), sums("b"));
    assert_eq!(client.lines(&left), client.lines(&right), "{insert}");
    waited
}

#[test]
fn inserted_rows_agree() {
    let columns = "n bigint NOT NULL, v int, d datetime";
    let rows = "SELECT n, d * 100, DATEADD(second, n, CAST('2020-01-01' AS datetime)) FROM numbers";
    // Numbers of several lengths, NULLs, a constant, fewer rows, conversions.
    let parallel = [
        format!("INSERT {{t}} {rows}"),
        format!("INSERT {{t}} WITH (TABLOCK) {rows}"),
        "INSERT {t} (n, d) SELECT n * 1000000007, '2020-02-02' FROM numbers".to_string(),
        "INSERT {t} (n, v) SELECT TOP (150001) n, NULLIF(d, 3) FROM numbers LEFT JOIN (VALUES (1)) AS x(k) ON 1 = 0"
            .to_string(),
        "INSERT TOP (140000) {t} (n, v, d) SELECT n, CAST(n % 100 AS varchar(10)), GETDATE() - GETDATE() FROM numbers"
            .to_string(),
    ];
    for insert in parallel {
        let mut client = roomy();
        assert_eq!(filled_twice(&mut client, columns, &insert), 1, "{insert}");
    }
    // What is inserted row by row: identity values, rows with rules, rows that are told of.
    let row_by_row = [
        (
            "id int IDENTITY, n bigint NOT NULL, v int, d datetime",
            "INSERT {t} (n, v) SELECT TOP (131073) n, d FROM numbers",
        ),
        ("n bigint CHECK (n > 0), v int, d datetime", "INSERT {t} (n, v) SELECT TOP (131073) n, d FROM numbers"),
        ("n bigint, v int, d datetime", "INSERT {t} (n, v) OUTPUT inserted.n SELECT TOP (131073) n, d FROM numbers"),
    ];
    for (columns, insert) in row_by_row {
        let mut client = roomy();
        assert_eq!(filled_twice(&mut client, columns, insert), 0, "{columns}");
    }
}

/// A table of 150 pages, which workers share.
fn with_pages(client: &mut Client) {
    client.quiet(
        "CREATE TABLE pages (p int NOT NULL PRIMARY KEY, pad varchar(7000))
         INSERT pages SELECT value, REPLICATE('x', 7000) FROM GENERATE_SERIES(0, 149)",
    );
}

/// 15,000 numbered rows of it: fewer than workers would make, and as good to see what becomes of them.
fn numbered() -> String {
    let hundred: Vec<String> = (1..=100).map(|n| format!("({n})")).collect();
    format!(
        "numbers AS (SELECT p * 100 + k AS n, (p * 100 + k) % 8 AS d FROM pages CROSS JOIN (VALUES {}) AS v(k))",
        hundred.join(", ")
    )
}

/// How the rows of a table come out through each of its indexes, and in the order of its key.
fn read_through_indexes(client: &mut Client, table: &str) -> Vec<String> {
    client.lines(&format!(
        "SELECT COUNT(*), SUM(n), SUM(v), MAX(s) FROM {table}
         SELECT TOP (50) n, v, s FROM {table} WHERE n > 7000 ORDER BY n
         SELECT COUNT(*), SUM(n) FROM {table} WHERE v = 6 SELECT COUNT(*), SUM(v) FROM {table} WHERE s = 's777'"
    ))
}

#[test]
fn rows_with_keys_agree() {
    let tables = [
        "n bigint NOT NULL PRIMARY KEY, v int, s varchar(9)",
        "n bigint NOT NULL, v int NOT NULL, s varchar(9), PRIMARY KEY (v DESC, n)",
        "n bigint NOT NULL, v int, s varchar(9), INDEX ix (v), INDEX s (s)",
        "n bigint NOT NULL PRIMARY KEY NONCLUSTERED, v int, s varchar(9), INDEX s UNIQUE (s, n)",
        "n bigint NOT NULL PRIMARY KEY, v int, s varchar(9), INDEX ix (v), INDEX s UNIQUE (s, n)",
        "n bigint NOT NULL PRIMARY KEY, v int, s varchar(max), INDEX ix (v)",
    ];
    // Keys ascend as the rows do, descend, and come in no order at all.
    let rows = [
        "SELECT n, d, CONCAT('s', n % 1000) FROM numbers",
        "SELECT 1000000 - n, d, CONCAT('s', n % 1000) FROM numbers WHERE n % 17 <> 5",
        "SELECT n * 7919 % 15013, d, CONCAT('s', n % 1000) FROM numbers",
    ];
    let mut client = roomy();
    with_pages(&mut client);
    for (table, columns) in tables.into_iter().enumerate() {
        for rows in rows {
            client.quiet(&format!(
                "DROP TABLE IF EXISTS a DROP TABLE IF EXISTS b CREATE TABLE a ({columns}) CREATE TABLE b ({columns})"
            ));
            let insert = |table: &str, degree: usize| {
                format!("WITH {} INSERT {table} {rows} OPTION (MAXDOP {degree})", numbered())
            };
            let before = waits(&client);
            let serial = client.lines(&insert("a", 1));
            assert_eq!(waits(&client), before, "{columns}");
            assert_eq!(client.lines(&insert("b", 3)), serial, "{columns}");
            assert_eq!(waits(&client), before + 1, "{columns}");
            let expected = read_through_indexes(&mut client, "a");
            assert_eq!(read_through_indexes(&mut client, "b"), expected, "{columns}: {rows}");
            // Every one of the same keys is there; the third table has none that is unique.
            if table != 2 {
                let lines = client.lines(&insert("b", 2));
                assert!(lines[0].starts_with("Msg 2627"), "{columns}: {lines:?}");
                assert_eq!(read_through_indexes(&mut client, "b"), expected, "{columns}: {rows}");
            }
        }
    }
}

#[test]
fn a_key_that_is_there_twice_leaves_nothing() {
    let violation = "Msg 2627, Level 14, State 1, Line 1: Violation of PRIMARY KEY constraint 'pk'. Cannot insert duplicate key in object 'dbo.t'. The duplicate key value is (12000).";
    let tables = [
        ("n bigint NOT NULL CONSTRAINT pk PRIMARY KEY, v int", violation),
        ("n bigint NOT NULL CONSTRAINT pk PRIMARY KEY NONCLUSTERED, v int", violation),
        (
            "n bigint NOT NULL, v int, INDEX ix (v), INDEX u UNIQUE (n)",
            "Msg 2601, Level 14, State 1, Line 1: Cannot insert duplicate key row in object 'dbo.t' with unique index 'u'. The duplicate key value is (12000).",
        ),
    ];
    let mut client = roomy();
    with_pages(&mut client);
    for (columns, error) in tables {
        client.quiet(&format!("DROP TABLE IF EXISTS t CREATE TABLE t ({columns}) INSERT t VALUES (12000, -1)"));
        let insert = |n: &str, degree: usize| {
            format!("WITH {} INSERT t SELECT {n}, d FROM numbers OPTION (MAXDOP {degree})", numbered())
        };
        for degree in [1, 3] {
            assert_eq!(client.lines(&insert("n", degree))[0], error, "{columns} by {degree}");
        }
        assert_eq!(client.lines("SELECT * FROM t"), ["12000|-1", "(1 rows)"]);
        client.quiet("BEGIN TRAN DELETE t WHERE n = 12000 INSERT t VALUES (-5, -5)");
        let before = waits(&client);
        // Two of the rows have one key, which are different workers' as a rule.
        assert_eq!(client.lines(&insert("CASE WHEN n = 100 THEN 12000 ELSE n END", 3))[0], error, "{columns}");
        assert_eq!(waits(&client) - before, 1);
        assert_eq!(client.lines("SELECT @@TRANCOUNT, n FROM t"), ["1|-5", "(1 rows)"]);
        // The row that the transaction itself has deleted comes back, and goes once more with the rollback to before it.
        client.quiet("SAVE TRAN s");
        assert_eq!(client.lines(&insert("n", 3)), ["(15000 rows)"]);
        assert_eq!(client.value("SELECT COUNT(*), SUM(v) FROM t WHERE n > 0"), "15000|52500");
        client.quiet("ROLLBACK TRAN s");
        assert_eq!(client.value("SELECT COUNT(*) FROM t"), "1");
        client.quiet("ROLLBACK");
        assert_eq!(client.lines("SELECT * FROM t"), ["12000|-1", "(1 rows)"]);
        client.quiet("DELETE t");
        assert_eq!(client.lines(&insert("n", 2)), ["(15000 rows)"]);
    }
}

#[test]
fn errors_and_cancelling_undo_rows_with_keys() {
    let mut client = roomy();
    with_pages(&mut client);
    client.quiet("CREATE TABLE t (n bigint NOT NULL PRIMARY KEY, v tinyint, INDEX ix (v)) INSERT t VALUES (0, 0)");
    let insert = |rows: &str, degree: usize| format!("WITH {} INSERT t {rows} OPTION (MAXDOP {degree})", numbered());
    for (rows, error) in [
        ("SELECT n, n / 50 FROM numbers", "Msg 220"),
        ("SELECT NULLIF(n, 12000), 1 FROM numbers", "Msg 515"),
        ("SELECT n, 1 / ABS(n - 7500) FROM numbers", "Msg 8134"),
    ] {
        let serial = client.lines(&insert(rows, 1));
        assert!(serial[0].starts_with(error), "{serial:?}");
        assert_eq!(client.lines(&insert(rows, 3)), serial);
        assert_eq!(client.lines("SELECT * FROM t WHERE v >= 0"), ["0|0", "(1 rows)"]);
    }
    client.server.set_policy("EXCHANGE", "PACKETS").expect("a value");
    client.context.cancelled.store(true, Ordering::Relaxed);
    assert!(client.lines(&insert("SELECT n, d FROM numbers", 3))[0].starts_with("Msg 3617"));
    client.context.cancelled.store(false, Ordering::Relaxed);
    assert_eq!(client.value("SELECT COUNT(*) FROM t"), "1");
    // Packets are of rows that are in.
    client.quiet(&insert("SELECT n * 7919 % 15013, d FROM numbers", 3));
    assert_eq!(client.value("SELECT @@ROWCOUNT"), "15000");
    assert!(waits(&client) > 4, "the session waits for packets: {}", waits(&client));
    assert_eq!(client.value("SELECT COUNT(*), SUM(v) FROM t WHERE v IS NOT NULL"), "15001|52500");
}

#[test]
fn a_full_log_undoes_rows_with_keys() {
    // 4 MB of log at most.
    let mut client = World::with_log(4 << 20).client();
    client.quiet("CREATE TABLE t (n bigint NOT NULL PRIMARY KEY, v int, INDEX ix (v)) INSERT t VALUES (0, 0)");
    let lines = client.lines(&format!("WITH {NUMBERS} INSERT t SELECT n, d FROM numbers OPTION (MAXDOP 3)"));
    assert!(lines[0].starts_with("Msg 9002"), "{lines:?}");
    assert_eq!((waits(&client), client.value("SELECT COUNT(*), SUM(v) FROM t")), (1, "1|0".to_owned()));
    client.quiet("INSERT t VALUES (1, 1)");
}

/// Two sessions that are asked in turn.
fn in_turn(world: &World, first: impl Future<Output = ()>, then: impl Future<Output = ()>) {
    let (mut first, mut then) = (Box::pin(first), Box::pin(then));
    let mut ended = (false, false);
    let both = poll_fn(move |context| {
        ended.0 = ended.0 || first.as_mut().poll(context).is_ready();
        ended.1 = ended.1 || then.as_mut().poll(context).is_ready();
        if ended == (true, true) { Poll::Ready(()) } else { Poll::Pending }
    });
    world.server.schedulers().block_on(both);
}

#[test]
fn workers_wait_for_the_row_of_another_session() {
    let mut world = World::with_log(256 << 20);
    let (mut client, mut other) = (world.client(), world.client());
    with_pages(&mut client);
    client.quiet("CREATE TABLE t (n bigint NOT NULL PRIMARY KEY, v int)");
    let insert = format!("WITH {} INSERT t SELECT n, d FROM numbers OPTION (MAXDOP 3)", numbered());
    // LOCK_TIMEOUT ends the wait, and the statement.
    other.quiet("BEGIN TRAN INSERT t VALUES (9000, -1)");
    assert!(client.lines(&format!("SET LOCK_TIMEOUT 50; {insert}"))[0].starts_with("Msg 1222"));
    client.quiet("SET LOCK_TIMEOUT -1");
    assert_eq!(client.value("SELECT COUNT(*) FROM t"), "0");
    // The failure of another worker does, too: nobody waits for a row that no longer matters.
    let failing = insert.replace("SELECT n, d", "SELECT n, 1 / ABS(n - 10)");
    assert!(client.lines(&failing)[0].starts_with("Msg 8134"));
    // So does cancelling.
    let cancelled = Arc::clone(&client.context.cancelled);
    let mut output = crate::Collected::default();
    in_turn(&world, client.execute(&insert, &mut output), async {
        pikepole_scheduler::sleep(std::time::Duration::from_millis(500)).await;
        cancelled.store(true, Ordering::Relaxed);
    });
    assert!(super::line(&output.events[0]).expect("an error").starts_with("Msg 3617"), "{output:?}");
    client.context.cancelled.store(false, Ordering::Relaxed);
    // With the other's rollback the row is free; with a commit it is taken.
    for (end, expected) in [("ROLLBACK", "(15000 rows)"), ("COMMIT", "Msg 2627")] {
        let (mut output, mut quiet) = (crate::Collected::default(), crate::Collected::default());
        in_turn(&world, client.execute(&insert, &mut output), async {
            pikepole_scheduler::sleep(std::time::Duration::from_millis(500)).await;
            other.execute(end, &mut quiet).await;
        });
        let line = super::line(&output.events[0]).expect("a line");
        assert!(line.starts_with(expected), "{end}: {line}");
        client.quiet("DELETE t");
        other.quiet("BEGIN TRAN INSERT t VALUES (9000, -1)");
    }
    // Each waits for the other's row.
    client.quiet("BEGIN TRAN INSERT t VALUES (-1, -1)");
    let (mut output, mut late) = (crate::Collected::default(), crate::Collected::default());
    in_turn(&world, client.execute(&insert, &mut output), async {
        pikepole_scheduler::sleep(std::time::Duration::from_millis(500)).await;
        other.execute("INSERT t VALUES (-1, -2) COMMIT", &mut late).await;
    });
    let lines: Vec<String> = output.events.iter().chain(&late.events).filter_map(super::line).collect();
    assert_eq!(lines.iter().filter(|line| line.starts_with("Msg 1205")).count(), 1, "{lines:?}");
}

#[test]
fn a_failed_parallel_insert_leaves_nothing() {
    let mut client = roomy();
    client.quiet("CREATE TABLE t (n bigint NOT NULL, v tinyint) INSERT t VALUES (0, 0)");
    let failing = [
        // In the middle: a value that does not fit, a NULL, a division.
        ("SELECT n, n / 800 FROM numbers", "Msg 8115"),
        ("SELECT NULLIF(n, 200000), 1 FROM numbers", "Msg 515"),
        ("SELECT n, 1 / ABS(n - 131072) FROM numbers", "Msg 8134"),
    ];
    for (rows, error) in failing {
        let insert = |degree: usize| format!("WITH {NUMBERS} INSERT t {rows} OPTION (MAXDOP {degree})");
        let serial = client.lines(&insert(1));
        assert!(serial[0].starts_with(error), "{serial:?}");
        assert_eq!(client.lines(&insert(2)), serial);
        assert_eq!(client.value("SELECT COUNT(*) FROM t"), "1");
        // Within a transaction only the statement is undone, unless XACT_ABORT is on.
        let within = |settings: &str| {
            format!("{settings} BEGIN TRAN INSERT t VALUES (1, 1);\n{} SELECT @@TRANCOUNT, COUNT(*) FROM t", insert(2))
        };
        assert_eq!(client.shown(&within("")).last().map(String::as_str), Some("1|2"), "{rows}");
        client.quiet("COMMIT DELETE FROM t WHERE n = 1");
        client.lines(&within("SET XACT_ABORT ON"));
        assert_eq!(client.value("SELECT @@TRANCOUNT, COUNT(*) FROM t"), "0|1", "{rows}");
        client.quiet("SET XACT_ABORT OFF");
        let caught = format!(
            "BEGIN TRY {} SELECT 1 END TRY BEGIN CATCH SELECT ERROR_NUMBER(), XACT_STATE() END CATCH",
            insert(2).replacen("WITH", ";WITH", 1)
        );
        let number = &error["Msg ".len()..];
        assert_eq!(client.shown(&caught), [format!("{number}|0")], "{rows}");
    }
    assert_eq!(client.value("SELECT COUNT(*) FROM t"), "1");
}

#[test]
fn a_parallel_insert_is_part_of_its_transaction() {
    let mut client = roomy();
    client.quiet("CREATE TABLE t (n bigint NOT NULL, v int)");
    let insert = format!("WITH {NUMBERS} INSERT t SELECT n, d FROM numbers OPTION (MAXDOP 2)");
    client.quiet(&format!("BEGIN TRAN INSERT t VALUES (0, 0);\n{insert}"));
    assert_eq!(client.value("SELECT @@ROWCOUNT"), "262144");
    assert_eq!(client.value("SELECT COUNT(*), SUM(n) FROM t"), "262145|34359869440");
    client.quiet("SAVE TRAN s");
    client.quiet(&insert);
    assert_eq!(client.value("SELECT COUNT(*) FROM t"), "524289");
    client.quiet("ROLLBACK TRAN s");
    assert_eq!(client.value("SELECT COUNT(*), @@TRANCOUNT FROM t"), "262145|1");
    client.quiet("ROLLBACK");
    assert_eq!(client.value("SELECT COUNT(*), @@TRANCOUNT FROM t"), "0|0");
    // Cancelled before its first batch: as if it had never been.
    client.context.cancelled.store(true, Ordering::Relaxed);
    assert!(client.lines(&insert)[0].starts_with("Msg 3617"));
    client.context.cancelled.store(false, Ordering::Relaxed);
    assert_eq!(client.value("SELECT COUNT(*) FROM t"), "0");
    client.quiet(&insert);
    assert_eq!(client.value("SELECT COUNT(*), SUM(n) FROM t"), "262144|34359869440");
}

#[test]
fn packets_of_rows_are_gathered_where_the_policy_says_so() {
    let mut client = roomy();
    client.quiet("CREATE TABLE t (n bigint NOT NULL, v int)");
    let insert =
        |rows: &str| format!("WITH {NUMBERS} INSERT t SELECT {rows} FROM numbers WHERE n % 7 <> 3 OPTION (MAXDOP 3)");
    let (good, failing) = (insert("n, d"), insert("n, 1 / ABS(n - 131072)"));
    let set = |client: &mut Client, policy: &str| client.server.set_policy("EXCHANGE", policy).map(|_| ());
    let counts = "SELECT COUNT(*), SUM(n) FROM t OPTION (MAXDOP 1)";
    client.quiet(&good);
    let (rows, whole) = (client.value("SELECT @@ROWCOUNT"), client.value(counts));
    assert_eq!((waits(&client), waits_of(&client, "CXPACKET")), (1, 0));

    set(&mut client, "PACKETS").expect("a value");
    client.quiet("TRUNCATE TABLE t");
    client.quiet(&good);
    assert_eq!((client.value("SELECT @@ROWCOUNT"), client.value(counts)), (rows, whole.clone()));
    // 64 batches, of which 6 find room before the session takes one.
    let (taken, given) = (waits(&client), waits_of(&client, "CXPACKET"));
    assert!(taken > 1 && given > 0, "{taken} waits for packets, {given} for room");

    // One of the workers fails while the others wait for room.
    assert!(client.lines(&failing)[0].starts_with("Msg 8134"));
    assert_eq!(client.value(counts), whole);
    client.context.cancelled.store(true, Ordering::Relaxed);
    assert!(client.lines(&good)[0].starts_with("Msg 3617"));
    client.context.cancelled.store(false, Ordering::Relaxed);
    assert_eq!(client.value(counts), whole);

    set(&mut client, "COUNTS").expect("a value");
    let before = (waits(&client), waits_of(&client, "CXPACKET"));
    client.quiet(&good);
    assert_eq!((waits(&client), waits_of(&client, "CXPACKET")), (before.0 + 1, before.1));
}

#[test]
fn a_session_that_goes_while_its_workers_wait_for_room_leaves_nothing() {
    let mut world = World::with_log(256 << 20);
    let mut client = world.client();
    client.quiet("CREATE TABLE t (n bigint NOT NULL, v int)");
    client.server.set_policy("EXCHANGE", "PACKETS").expect("a value");
    let insert = format!("WITH {NUMBERS} INSERT t SELECT n, d FROM numbers OPTION (MAXDOP 3)");
    let server = Arc::clone(&client.server);
    let workers = || server.schedulers().tasks().into_iter().filter(|task| task.command == "INSERT");
    server.schedulers().block_on(async {
        let mut output = crate::Collected::default();
        let mut work = Box::pin(client.execute(&insert, &mut output));
        // It starts its workers and is not asked again: nobody takes their packets.
        poll_fn(|context| {
            assert!(work.as_mut().poll(context).is_pending());
            if workers().count() < 3 { Poll::Pending } else { Poll::Ready(()) }
        })
        .await;
        while workers().filter(|task| task.wait_type == Some(WaitType::CXPACKET)).count() < 3 {
            pikepole_scheduler::yield_now().await;
        }
        drop(work);
        drop(client);
        while workers().count() > 0 {
            pikepole_scheduler::yield_now().await;
        }
    });
    let mut other = world.client();
    assert_eq!(other.value("SELECT COUNT(*) FROM t"), "0");
    other.quiet(&insert);
    assert_eq!(other.value("SELECT COUNT(*) FROM t"), "262144");
}

#[test]
fn select_into_is_filled_by_workers() {
    for recovery in ["FULL", "SIMPLE"] {
        let mut client = roomy();
        client.quiet(&format!("ALTER DATABASE master SET RECOVERY {recovery}"));
        let into = |table: &str, degree: usize| {
            format!(
                "WITH {NUMBERS} SELECT n, d * 2 AS v, CAST(d AS varchar(5)) AS c INTO {table} FROM numbers OPTION (MAXDOP {degree})"
            )
        };
        client.quiet(&into("a", 1));
        assert_eq!(waits(&client), 0);
        assert_eq!(client.lines(&format!("{} SELECT @@ROWCOUNT", into("b", 3)))[0], "(262144 rows)");
        assert_eq!(waits(&client), 1, "{recovery}");
        let sums = |table: &str| format!("SELECT COUNT(*), SUM(n), SUM(v), MAX(c) FROM {table}");
        assert_eq!(client.lines(&sums("b")), client.lines(&sums("a")));
        // What failed leaves a table without rows, as without workers.
        let lines = client.lines(&into("c", 3).replace("d * 2", "1 / (n - 200000)"));
        assert!(lines[0].starts_with("Msg 8134"), "{lines:?}");
        assert_eq!(client.value("SELECT COUNT(*) FROM c"), "0");
    }
}

#[test]
fn rows_that_are_there_already_are_inserted_by_a_worker() {
    let mut client = roomy();
    let rows: Vec<Vec<Value>> = (0..10_000)
        .map(|n| vec![Value::Int(n), if n % 3 == 0 { Value::Null } else { Value::Str(n.to_string()) }])
        .collect();
    let info = |name: &str, ty| ColumnInfo::new(name, ty, true);
    let infos = vec![info("n", SqlType::Int), info("s", SqlType::NVarChar(Length::Limit(20)))];
    for (columns, error) in [
        ("n bigint NOT NULL, s varchar(9), d int DEFAULT 7", 2628),
        ("n bigint PRIMARY KEY, s varchar(9), d int DEFAULT 7", 2627),
    ] {
        client.quiet(&format!("DROP TABLE IF EXISTS t CREATE TABLE t ({columns})"));
        let before = waits(&client);
        let names = ["[n]".to_owned(), "s".to_owned()];
        let options = crate::LoadOptions { locks_table: true, ..Default::default() };
        let target = RowTarget::new("dbo.[t]", &names, infos.clone(), options).expect("names");
        let mut load = |rows: Vec<Vec<Value>>| {
            let server = Arc::clone(&client.server);
            let mut output = crate::Collected::default();
            let (context, host) = (&mut client.context, &mut client.host);
            server.schedulers().block_on(crate::insert_rows(&target, rows, context, host, &mut output))
        };
        assert_eq!(load(rows.clone()), Ok(10_000));
        let mut wrong = rows.clone();
        wrong[9_000][1] = Value::Str("too long for it".into());
        assert_eq!(load(wrong).map_err(|failure| failure.number), Err(error));
        assert_eq!(waits(&client) - before, 2, "{columns}");
        let sums =
            "SELECT COUNT(*), SUM(CASE WHEN s = n THEN 1 END), SUM(n), MAX(s), MIN(d) FROM t WHERE s IS NOT NULL";
        assert_eq!(client.value(sums), "6666|6666|33326667|9998|7");
        assert_eq!(client.value("SELECT COUNT(*) FROM t"), "10000");
    }
    // What a call has returned, too.
    client.quiet("DROP TABLE t CREATE TABLE t (n int, s varchar(9), d int)");
    let before = waits(&client);
    client.quiet("INSERT t (n) EXEC ('SELECT value FROM GENERATE_SERIES(1, 5000)')");
    assert_eq!(
        (client.value("SELECT COUNT(*), SUM(n) FROM t"), waits(&client) - before),
        ("5000|12502500".to_owned(), 1)
    );
}

/// Tables of some 300 pages, with rows that were deleted, have grown, and have moved.
pub(super) fn with_tables(client: &mut Client) {
    // Of one, some values are longer than a page.
    for (table, key, ty, length) in [
        ("heap", "", "varchar(7000)", 5000),
        ("keyed", " PRIMARY KEY", "varchar(max)", 9000),
        ("backward", ", PRIMARY KEY (d, n DESC)", "varchar(7000)", 5000),
    ] {
        client.quiet(&format!(
            "CREATE TABLE {table} (n int NOT NULL{key}, d int NOT NULL DEFAULT 0, s {ty}, v bigint)
             INSERT {table} (n, d, s, v) SELECT value, value % 7, REPLICATE('x', 1500), NULLIF(value % 5, 3) FROM GENERATE_SERIES(1, 1000)
             DELETE {table} WHERE n % 50 = 7
             UPDATE {table} SET s = REPLICATE(CAST('y' AS {ty}), {length}), v = n WHERE n % 10 = 1"
        ));
    }
}

/// What another session has not committed, and the session itself has not.
const WITHIN: &str = "BEGIN TRAN DELETE heap WHERE n < 100 UPDATE keyed SET v = -n WHERE n < 400 INSERT backward (n, d) VALUES (5000, 3)";

#[test]
fn scans_by_workers_agree() {
    let mut world = World::with_log(256 << 20);
    let (mut client, mut other) = (world.client(), world.client());
    with_tables(&mut client);
    other.quiet("BEGIN TRAN UPDATE heap SET v = 9 WHERE n > 500 DELETE keyed WHERE n > 500 INSERT backward (n, d) VALUES (-1, -1)");
    let parallel = [
        "SELECT COUNT(*), SUM(n), MIN(v), MAX(v), COUNT(v), AVG(v) FROM {t}",
        "SELECT COUNT(*) FROM {t}",
        "SELECT SUM(n + @v), COUNT_BIG(*) FROM {t} WHERE n % 4 <> @v AND s LIKE 'x%'",
        "SELECT COUNT(*), SUM(k) FROM {t} JOIN (VALUES (1, 2), (3, 4), (3, 5)) AS x(d2, k) ON d = d2",
        "SELECT COUNT(*), COUNT(k) FROM {t} LEFT JOIN (VALUES (1)) AS x(k) ON 1 = 0 WHERE v IS NULL",
        "SELECT SUM(c) FROM (SELECT COUNT(*) AS c FROM {t}) AS x",
        "SELECT d, COUNT(*) FROM {t} GROUP BY d",
        "SELECT v, COUNT(*), SUM(n), MIN(n), COUNT(v) FROM {t} GROUP BY v",
        "SELECT LEFT(s, 1), d, COUNT_BIG(v), AVG(v) FROM {t} GROUP BY LEFT(s, 1), d",
        "SELECT n, SUM(CAST(v AS decimal(9, 2)) * (1 - CAST(d AS decimal(9, 2)))) FROM {t} GROUP BY n",
        "SELECT d, AVG(CAST(n AS decimal(30, 10))), MAX(CAST(n AS decimal(9, 2))) FROM {t} WHERE d <> @v GROUP BY d HAVING COUNT(*) > 3",
        "SELECT d, v FROM {t} WHERE (s LIKE 'y%' OR d IN (1, @v)) AND NOT v = 3 GROUP BY d, v",
        "SELECT d, COUNT(DISTINCT v) FROM {t} GROUP BY d",
        "SELECT COUNT(DISTINCT d), MIN(n) FROM {t}",
    ];
    // A part of the rows, what cannot be merged.
    let serial = [
        "SELECT COUNT(*) FROM {t} WHERE 1 = 0",
        "SELECT COUNT(*), SUM(n) FROM (SELECT TOP (500) n FROM {t}) AS x",
        "SELECT d, SUM(CAST(n AS float)), MAX(s) FROM {t} GROUP BY d",
        "SELECT COUNT(DISTINCT d), MIN(s) FROM {t}",
        "SELECT SUM(CAST(n AS float)) FROM {t}",
        "SELECT COUNT(*) FROM {t} WHERE DB_NAME() = 'master'",
    ];
    for within in ["", WITHIN, "ROLLBACK SET TRANSACTION ISOLATION LEVEL SNAPSHOT BEGIN TRAN"] {
        client.quiet(within);
        for table in ["heap", "keyed", "backward"] {
            let queries = parallel.iter().map(|query| (1, query)).chain(serial.iter().map(|query| (0, query)));
            for (waited, query) in queries {
                let query = |degree: usize| {
                    format!("DECLARE @v int = 2; {} OPTION (MAXDOP {degree})", query.replace("{t}", table))
                };
                let before = waits(&client);
                let expected = client.lines(&query(1));
                assert_eq!(waits(&client), before, "{}", query(1));
                for degree in [2, 3] {
                    assert_eq!(client.lines(&query(degree)), expected, "{} after {within}", query(degree));
                }
                assert_eq!(waits(&client) - before, 2 * waited, "{}", query(2));
            }
        }
    }
    client.quiet("ROLLBACK SET TRANSACTION ISOLATION LEVEL READ UNCOMMITTED");
    // What others have not committed is read, too.
    assert_eq!(client.shown("SELECT COUNT(*), MAX(v) FROM heap OPTION (MAXDOP 3)")[0], "980|491");
    assert_eq!(client.value("SELECT COUNT(*) FROM keyed OPTION (MAXDOP 3)"), "490");
    // The server's setting; ranges of keys, single rows and tables of a session are not for workers.
    let before = waits(&client);
    client.quiet("SELECT * INTO #own FROM keyed OPTION (MAXDOP 1)");
    for query in ["keyed WHERE n = 5", "keyed WHERE n > 5", "#own"] {
        client.quiet(&format!("SELECT COUNT(*) FROM {query} OPTION (MAXDOP 2)"));
    }
    world.server.set_policy("max degree of parallelism", "1").expect("an option");
    client.quiet("SELECT COUNT(*) FROM heap");
    assert_eq!(waits(&client), before);
}

/// Conditions over a column of each kind, and pairs of columns.
const CONDITIONS: &[&str] = &[
    "i = 3",
    "NOT i < 3",
    "i IN (1, 4) OR i IS NULL",
    "i NOT IN (1, 4)",
    "i NOT IN (1, NULL)",
    "i + 1 > b",
    "b = i",
    "dc > 1.005",
    "dc = 2.5",
    "NOT dc <= CAST(3 AS decimal(20, 12))",
    "dc < wide",
    "dc * (1 - dc) < -1.5",
    "dc - wide > 1 AND dc + 0.5 < 7",
    "m >= $2.5",
    "f > 1.5",
    "day BETWEEN '2024-01-02' AND '2024-01-04'",
    "day <> CAST('2024-01-03' AS date) AND at > '2024-01-01T02:00:00'",
    "at2 <= '2024-01-01T04:00:00.5' OR tm < '03:00'",
    "c = 'B'",
    "c <> 'b ' AND t >= 'text 3'",
    "t LIKE 'TEXT [1-3]%'",
    "t NOT LIKE '%4%'",
    "t IN ('text 1', 'Text 2', NULL)",
    "t NOT IN ('text 1')",
    "t = c OR c < t",
    "NOT (t IS NULL OR i > 2)",
    "NOT (t IS NOT NULL AND i > 2)",
    "g = '00000000-0000-0000-0000-000000000002' OR x = 0x02",
    "CASE WHEN i = 1 THEN 1 ELSE 1 END = i",
    "1 = 0 OR 3 = i",
];

#[test]
fn conditions_on_columns_agree_with_those_on_rows() {
    let mut client = roomy();
    client.quiet(
        "CREATE TABLE kinds (k int NOT NULL PRIMARY KEY, i int, b bigint, dc decimal(9, 2), wide decimal(38, 6), m money, f float,
             day date, at datetime, at2 datetime2(3), tm time, c char(3), t nvarchar(20), g uniqueidentifier, x varbinary(8), filler char(400) NOT NULL)
         INSERT kinds SELECT value, n, NULLIF(n, 2), n * 0.5, n * 0.75, n * 0.5, n * 0.5, DATEADD(day, n, '2024-01-01'), DATEADD(hour, n, '2024-01-01'),
             DATEADD(hour, n, '2024-01-01'), DATEADD(hour, n, '2024-01-01'), CHAR(64 + n), 'text ' + CAST(n AS varchar(2)), '00000000-0000-0000-0000-00000000000' + CAST(n AS varchar(2)),
             CAST(n AS binary(1)), REPLICATE('x', 400)
         FROM GENERATE_SERIES(1, 4000) CROSS APPLY (SELECT NULLIF(value % 7, 6)) AS a(n)",
    );
    for condition in CONDITIONS {
        let rows = |hint: &str| format!("SELECT k FROM kinds {hint} WHERE {condition} ORDER BY k");
        // Rows that are kept locked are read one by one.
        let expected = client.lines(&rows("WITH (REPEATABLEREAD)"));
        assert_eq!(client.lines(&rows("")), expected, "{condition}");
    }
    // Errors of rows behind the last wanted one are not met.
    for (top, condition) in [
        (1, "1 / (k - 304) = 0"),
        (400, "1 / (k - 304) = 0"),
        (3, "CAST(t AS int) = 1"),
        (5, "k < 9 AND i IS NOT NULL OR 1 / (k - 9) = 1"),
    ] {
        let rows = |hint: &str| format!("SELECT TOP ({top}) k FROM kinds {hint} WHERE {condition}");
        let expected = client.lines(&rows("WITH (REPEATABLEREAD)"));
        assert_eq!(client.lines(&rows("")), expected, "{condition}");
    }
}

#[test]
fn errors_and_cancelling_end_scans_by_workers() {
    let mut client = roomy();
    with_tables(&mut client);
    for table in ["heap", "keyed", "backward"] {
        // Two rows have errors; the first of them is told.
        let query = |degree: usize| {
            format!(
                "SELECT SUM(CASE WHEN n = 902 THEN CAST(s AS int) ELSE 1 / (n - 304) END) FROM {table} OPTION (MAXDOP {degree})"
            )
        };
        let serial = client.lines(&query(1));
        assert!(serial[0].starts_with("Msg"), "{serial:?}");
        assert_eq!(client.lines(&query(3)), serial, "{table}");
        client.context.cancelled.store(true, Ordering::Relaxed);
        let lines = client.lines(&format!("SELECT COUNT(*) FROM {table} OPTION (MAXDOP 3)"));
        assert!(lines[0].starts_with("Msg 3617"), "{lines:?}");
        client.context.cancelled.store(false, Ordering::Relaxed);
        assert_eq!(client.value(&format!("SELECT COUNT(*) FROM {table} OPTION (MAXDOP 3)")), "980");
    }
}

#[test]
fn scans_by_workers_count_each_row_once_while_others_write() {
    let mut world = World::with_log(256 << 20);
    let (mut client, mut other) = (world.client(), world.client());
    with_tables(&mut client);
    for table in ["heap", "backward"] {
        let (mut output, mut quiet) = (crate::Collected::default(), crate::Collected::default());
        // Rows come, go, grow and move in tens.
        let count = format!(
            "DECLARE @i int = 0; WHILE @i < 40 BEGIN SET @i += 1;
             SELECT COUNT(*) % 10, SUM(n) - SUM(CAST(n AS bigint)), COUNT(*) - COUNT(d) FROM {table} OPTION (MAXDOP 3) END"
        );
        let write = format!(
            "DECLARE @i int = 0; WHILE @i < 60 BEGIN SET @i += 1;
             INSERT {table} (n, d, s) SELECT -value - 10 * @i, @i, REPLICATE('z', 1000) FROM GENERATE_SERIES(0, 9);
             IF @i % 3 = 0 UPDATE {table} SET s = REPLICATE('w', 6000) WHERE d = @i - 2;
             IF @i % 4 = 0 DELETE {table} WHERE n <= 0 AND d = @i - 3 END"
        );
        let before = waits(&client);
        in_turn(&world, client.execute(&count, &mut output), other.execute(&write, &mut quiet));
        assert_eq!(waits(&client) - before, 40);
        let lines: Vec<String> =
            output.events.iter().filter_map(super::line).filter(|line| line.contains('|')).collect();
        assert_eq!(lines, vec!["0|0|0"; 40], "{table}");
        assert!(quiet.events.iter().filter_map(super::line).all(|line| !line.starts_with("Msg")), "{quiet:?}");
    }
}

#[test]
fn rows_of_tables_are_inserted_by_workers() {
    for recovery in ["FULL", "SIMPLE"] {
        let mut client = roomy();
        with_tables(&mut client);
        client.quiet(&format!("ALTER DATABASE master SET RECOVERY {recovery}"));
        let columns = "n int NOT NULL{key}, s varchar(max), v bigint";
        let sums = |table: &str| {
            format!(
                "SELECT COUNT(*), SUM(n), SUM(v), SUM(LEN(s)) FROM {table} SELECT COUNT(*) FROM {table} WHERE s LIKE 'y%'"
            )
        };
        for source in ["heap", "keyed", "backward"] {
            for (key, hint) in
                [("", ""), ("", "WITH (TABLOCK)"), (" PRIMARY KEY", ""), (" PRIMARY KEY", "WITH (TABLOCK)")]
            {
                let columns = columns.replace("{key}", key);
                client.quiet(&format!("DROP TABLE IF EXISTS a DROP TABLE IF EXISTS b CREATE TABLE a ({columns}) CREATE TABLE b ({columns}, INDEX ix (v))"));
                let insert = |table: &str, degree: usize| {
                    format!(
                        "INSERT {table} {hint} SELECT n * 3, s, v + 1 FROM {source} WHERE n % 5 <> 2 OPTION (MAXDOP {degree})"
                    )
                };
                let before = waits(&client);
                assert_eq!(client.lines(&insert("a", 1)), ["(800 rows)"]);
                assert_eq!(waits(&client), before);
                let expected = client.lines(&sums("a"));
                client.quiet("TRUNCATE TABLE a");
                for table in ["a", "b"] {
                    assert_eq!(client.lines(&insert(table, 3)), ["(800 rows)"], "{source} {key} {hint}");
                    assert_eq!(client.lines(&format!("{} ", sums(table))), expected);
                }
                assert!(waits(&client) - before >= 2, "{source} {key} {hint}");
                let failing = insert("b", 3).replace("n * 3", "9000 + n + 0 / (n - 899)");
                assert!(client.lines(&failing)[0].starts_with("Msg 8134"));
                assert_eq!(client.lines(&sums("b")), expected);
            }
            let before = waits(&client);
            client.quiet(&format!("DROP TABLE IF EXISTS c SELECT n, s, v INTO c FROM {source} OPTION (MAXDOP 3)"));
            assert_eq!(waits(&client) - before, 1);
            assert_eq!(client.lines(&sums("c")), client.lines(&sums(source)));
        }
        // A table that is read and written is read first.
        assert_eq!(
            client.lines("INSERT heap (n, d, s, v) SELECT n + 10000, d, s, v FROM heap OPTION (MAXDOP 3)"),
            ["(980 rows)"]
        );
        assert_eq!(client.value("SELECT COUNT(*) FROM heap"), "1960");
    }
}

#[test]
fn the_locks_of_a_parallel_insert_are_its_sessions() {
    let mut client = roomy();
    with_pages(&mut client);
    client.quiet("CREATE TABLE heap (n int) CREATE TABLE keyed (n int PRIMARY KEY, v int, INDEX ix (v))");
    for (into, mode) in [
        ("heap (n)", LockMode::IX),
        ("heap WITH (TABLOCK) (n)", LockMode::BU),
        ("heap WITH (TABLOCKX) (n)", LockMode::X),
        ("keyed (n)", LockMode::IX),
        // The rows fill trees of their own, which take the place of the table's empty ones.
        ("keyed WITH (TABLOCK) (n)", LockMode::SchM),
    ] {
        let table = into.split(' ').next().unwrap_or_default();
        client.quiet(&format!(
            "TRUNCATE TABLE {table} BEGIN TRAN;\nWITH {} INSERT {into} SELECT n FROM numbers OPTION (MAXDOP 3)",
            numbered()
        ));
        assert_eq!(client.value("SELECT @@ROWCOUNT"), "15000");
        let object = client.context.catalog().definitions().table("dbo", table).expect("it is there").object_id;
        let locks = client.context.database().locks();
        let held: Vec<LockMode> = locks
            .iter()
            .filter(|lock| lock.thing == LockedThing::Object(object as u32))
            .map(|lock| {
                assert_eq!((lock.session_id, lock.is_granted), (client.context.state.session_id, true));
                lock.mode
            })
            .collect();
        assert!(held.contains(&mode) && held.iter().all(|held| mode.covers(*held)), "{into}: {held:?}");
        client.quiet("ROLLBACK");
        assert_eq!(client.value(&format!("SELECT COUNT(*) FROM {table}")), "0");
    }
}

#[test]
fn indexes_are_built_by_workers() {
    let mut client = roomy();
    with_tables(&mut client);
    for table in ["heap", "backward", "keyed"] {
        let through = |index: &str| {
            format!(
                "SELECT COUNT(*), SUM(n) FROM {table} WHERE v = 2 SELECT n, d FROM {table} WHERE n > 990 ORDER BY n SELECT COUNT(*) FROM {table} WHERE d = 3 -- {index}"
            )
        };
        let expected = client.lines(&through("none"));
        for index in [
            "CREATE INDEX ix ON {t} (v) {with} DROP INDEX ix ON {t}",
            "CREATE UNIQUE INDEX ix ON {t} (d DESC, n) INCLUDE (v) {with} DROP INDEX ix ON {t}",
            "CREATE UNIQUE INDEX ix ON {t} (v, n) WHERE v IS NOT NULL {with} DROP INDEX ix ON {t}",
            "ALTER TABLE {t} ADD CONSTRAINT ix UNIQUE (n) {with} ALTER TABLE {t} DROP CONSTRAINT ix",
        ] {
            for degree in [1, 3] {
                let both = index.replace("{t}", table).replace("{with}", &format!("WITH (MAXDOP = {degree})\nGO\n"));
                let (make, drop) = both.split_once("GO\n").unwrap_or_default();
                let before = waits(&client);
                client.quiet(make);
                assert_eq!(waits(&client) > before, degree > 1, "{make}");
                assert_eq!(client.lines(&through(make)), expected, "{make}");
                client.quiet(&format!(
                    "BEGIN TRAN DELETE {table} WHERE v IS NULL UPDATE {table} SET v = -v, n = -n ROLLBACK"
                ));
                client.quiet(drop);
            }
        }
        // Two rows have one value.
        for (make, key) in [
            ("CREATE UNIQUE INDEX twice ON {t} (m)", "(<NULL>)."),
            ("ALTER TABLE {t} ADD CONSTRAINT twice UNIQUE (m, d)", "(<NULL>, -1)."),
        ] {
            client.quiet(&format!("ALTER TABLE {table} ADD m int"));
            client.quiet(&format!("UPDATE {table} SET m = CASE WHEN n IN (300, 650) THEN NULL ELSE n END, d = CASE WHEN n IN (300, 650) THEN -1 ELSE d END"));
            let make = |degree: usize| format!("{} WITH (MAXDOP = {degree})", make.replace("{t}", table));
            let serial = client.lines(&make(1));
            assert!(serial[0].starts_with("Msg 1505") && serial[0].ends_with(key), "{serial:?}");
            assert_eq!(client.lines(&make(3)), serial);
            assert_eq!(client.value(&format!("SELECT COUNT(*) FROM {table} WHERE m IS NULL")), "2");
            client.quiet(&format!("ALTER TABLE {table} DROP COLUMN m"));
        }
    }
    assert!(client.lines("CREATE INDEX ix ON heap (v) WITH (MAXDOP = x)")[0].starts_with("Msg 102"));
}

#[test]
fn a_clustered_key_is_built_by_workers() {
    let mut client = roomy();
    client.quiet(
        "CREATE TABLE t (n int NOT NULL, pad varchar(2000), v int, INDEX ix (v))
         INSERT t SELECT value * 7919 % 15013, REPLICATE('x', 2000), value % 10 FROM GENERATE_SERIES(1, 800)",
    );
    let sums = "SELECT COUNT(*), SUM(n) FROM t SELECT COUNT(*), SUM(n) FROM t WHERE v = 4";
    let expected = client.lines(sums);
    let before = waits(&client);
    client.quiet("BEGIN TRAN ALTER TABLE t ADD CONSTRAINT pk PRIMARY KEY (n) WITH (MAXDOP = 2)");
    assert!(waits(&client) > before);
    assert_eq!(client.lines(sums), expected);
    assert!(client.lines("INSERT t VALUES (7919, '', 0)")[0].starts_with("Msg 2627"));
    client.quiet("ROLLBACK INSERT t VALUES (7919, '', 4)");
    let lines = client.lines("ALTER TABLE t ADD CONSTRAINT pk PRIMARY KEY (n) WITH (MAXDOP = 3)");
    assert!(lines[0].starts_with("Msg 1505") && lines[0].ends_with("(7919)."), "{lines:?}");
    client.quiet("DELETE t WHERE v = 4 AND pad = ''");
    client.quiet("ALTER TABLE t ADD CONSTRAINT pk PRIMARY KEY (n) WITH (MAXDOP = 3)");
    assert_eq!(client.lines(sums), expected);
    assert_eq!(client.value("SELECT v FROM t WHERE n = 7919"), "1");
}
