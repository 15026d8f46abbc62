//! Plans that run in parallel give what they give when they run serially.

use super::{Client, World};
use crate::{ColumnInfo, RowTarget};
use pikepole_contention::WaitType;
use pikepole_contention::sync::atomic::Ordering;
use pikepole_types::{Length, SqlType, Value};
use std::future::{Future, poll_fn};
use std::sync::Arc;
use std::task::Poll;

/// 262,144 numbered rows.
const NUMBERS: &str = "digits AS (SELECT n FROM (VALUES (0), (1), (2), (3), (4), (5), (6), (7)) AS v(n)),
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
    world.server.set_policy("max degree of parallelism", "1").expect("an option");
    client.quiet(query);
    assert_eq!(waits(&client), 1);
    client.quiet(&format!("{query} OPTION (MAXDOP 2)"));
    assert_eq!(waits(&client), 2);
}

/// A client of a server whose log has room for a whole insert.
fn roomy() -> Client {
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
        ("id int IDENTITY, n bigint NOT NULL, v int, d datetime", "INSERT {t} (n, v) SELECT TOP (131073) n, d FROM numbers"),
        ("n bigint CHECK (n > 0), v int, d datetime", "INSERT {t} (n, v) SELECT TOP (131073) n, d FROM numbers"),
        ("n bigint, v int, d datetime", "INSERT {t} (n, v) OUTPUT inserted.n SELECT TOP (131073) n, d FROM numbers"),
    ];
    for (columns, insert) in row_by_row {
        let mut client = roomy();
        assert_eq!(filled_twice(&mut client, columns, insert), 0, "{columns}");
    }
}

/// How the rows of a table come out through each of its indexes, and in the order of its key.
fn read_through_indexes(client: &mut Client, table: &str) -> Vec<String> {
    client.lines(&format!(
        "SELECT COUNT(*), SUM(n), SUM(v), MAX(s) FROM {table}
         SELECT TOP (50) n, v, s FROM {table} WHERE n > 70000 ORDER BY n
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
    let rows = [
        // Keys ascend as the rows do, descend, and come in no order at all.
        "SELECT TOP (132000) n, d, CONCAT('s', n % 1000) FROM numbers",
        "SELECT TOP (132000) 1000000 - n, d, CONCAT('s', n % 1000) FROM numbers WHERE n % 17 <> 5",
        "SELECT TOP (132000) n * 7919 % 262147, d, CONCAT('s', n % 1000) FROM numbers",
    ];
    for (at, columns) in tables.into_iter().enumerate() {
        let mut client = roomy();
        client.quiet(&format!("CREATE TABLE a ({columns}) CREATE TABLE b ({columns})"));
        // TOP behind a filter is not for workers.
        let rows = rows[at % 3].replace("SELECT TOP (132000) 1000000", "SELECT 1000000");
        let insert = |table: &str, degree: usize| format!("WITH {NUMBERS} INSERT {table} {rows} OPTION (MAXDOP {degree})");
        let serial = client.lines(&insert("a", 1));
        assert_eq!(waits(&client), 0, "{columns}");
        assert_eq!(client.lines(&insert("b", 3)), serial, "{columns}");
        assert_eq!(waits(&client), 1, "{columns}");
        let expected = read_through_indexes(&mut client, "a");
        assert_eq!(read_through_indexes(&mut client, "b"), expected, "{columns}");
        // Every one of the same keys is there.
        let lines = client.lines(&insert("b", 2));
        assert!(lines[0].starts_with("Msg 2627") || at == 2, "{columns}: {lines:?}");
        if at != 2 {
            assert_eq!(read_through_indexes(&mut client, "b"), expected, "{columns}");
        }
    }
}

#[test]
fn a_key_that_is_there_twice_leaves_nothing() {
    for (columns, error) in [
        ("n bigint NOT NULL CONSTRAINT pk PRIMARY KEY, v int", "Msg 2627, Level 14, State 1, Line 1: Violation of PRIMARY KEY constraint 'pk'. Cannot insert duplicate key in object 'dbo.t'. The duplicate key value is (200000)."),
        ("n bigint NOT NULL CONSTRAINT pk PRIMARY KEY NONCLUSTERED, v int", "Msg 2627, Level 14, State 1, Line 1: Violation of PRIMARY KEY constraint 'pk'. Cannot insert duplicate key in object 'dbo.t'. The duplicate key value is (200000)."),
        ("n bigint NOT NULL, v int, INDEX ix (v), INDEX u UNIQUE (n)", "Msg 2601, Level 14, State 1, Line 1: Cannot insert duplicate key row in object 'dbo.t' with unique index 'u'. The duplicate key value is (200000)."),
    ] {
        let mut client = roomy();
        client.quiet(&format!("CREATE TABLE t ({columns})"));
        // Once with a row of before, once within the rows: 200,000 and what another worker makes of 1,000.
        let insert = |n: &str, degree: usize| format!("WITH {NUMBERS} INSERT t SELECT {n}, d FROM numbers OPTION (MAXDOP {degree})");
        let twice = "CASE WHEN n = 1000 THEN 200000 ELSE n END";
        client.quiet("INSERT t VALUES (200000, -1)");
        for degree in [1, 3] {
            assert_eq!(client.lines(&insert("n", degree))[0], error, "{columns} by {degree}");
        }
        assert_eq!(client.lines("SELECT * FROM t"), ["200000|-1", "(1 rows)"]);
        client.quiet("BEGIN TRAN DELETE t WHERE n = 200000 INSERT t VALUES (-5, -5)");
        let before = waits(&client);
        assert_eq!(client.lines(&insert(twice, 3))[0], error, "{columns}");
        assert_eq!(waits(&client) - before, 1);
        assert_eq!(client.lines("SELECT @@TRANCOUNT, n FROM t"), ["1|-5", "(1 rows)"]);
        // The row that the transaction itself has deleted comes back, and goes once more with the rollback to before it.
        client.quiet("SAVE TRAN s");
        assert_eq!(client.lines(&insert("n", 3))[0], "(262144 rows)");
        assert_eq!(client.value("SELECT COUNT(*), SUM(v) FROM t WHERE n > 0"), "262144|917504");
        client.quiet("ROLLBACK TRAN s");
        assert_eq!(client.value("SELECT COUNT(*) FROM t"), "1");
        client.quiet("ROLLBACK");
        assert_eq!(client.lines("SELECT * FROM t"), ["200000|-1", "(1 rows)"]);
        client.quiet("DELETE t");
        assert_eq!(client.lines(&insert("n", 2))[0], "(262144 rows)");
    }
}

#[test]
fn errors_and_cancelling_undo_rows_with_keys() {
    let mut client = roomy();
    client.quiet("CREATE TABLE t (n bigint NOT NULL PRIMARY KEY, v tinyint, INDEX ix (v)) INSERT t VALUES (0, 0)");
    let insert = |rows: &str, degree: usize| format!("WITH {NUMBERS} INSERT t {rows} OPTION (MAXDOP {degree})");
    for (rows, error) in [
        ("SELECT n, n / 800 FROM numbers", "Msg 8115"),
        ("SELECT NULLIF(n, 200000), 1 FROM numbers", "Msg 515"),
        ("SELECT n, 1 / ABS(n - 131072) FROM numbers", "Msg 8134"),
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
    client.quiet(&insert("SELECT n * 7919 % 262147, d FROM numbers", 3));
    assert_eq!(client.value("SELECT @@ROWCOUNT"), "262144");
    assert!(waits(&client) > 4, "the session waits for packets: {}", waits(&client));
    assert_eq!(client.value("SELECT COUNT(*), SUM(v) FROM t WHERE v IS NOT NULL"), "262145|917504");
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
    client.quiet("CREATE TABLE t (n bigint NOT NULL PRIMARY KEY, v int)");
    let insert = format!("WITH {NUMBERS} INSERT t SELECT n, d FROM numbers OPTION (MAXDOP 3)");
    // LOCK_TIMEOUT ends the wait, and the statement.
    other.quiet("BEGIN TRAN INSERT t VALUES (150000, -1)");
    assert!(client.lines(&format!("SET LOCK_TIMEOUT 50; {insert}"))[0].starts_with("Msg 1222"));
    client.quiet("SET LOCK_TIMEOUT -1");
    assert_eq!(client.value("SELECT COUNT(*) FROM t"), "0");
    // The failure of another worker does, too: nobody waits for a row that no longer matters.
    let failing = insert.replace("SELECT n, d", "SELECT n, 1 / ABS(n - 100)");
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
    for (end, expected) in [("ROLLBACK", "(262144 rows)"), ("COMMIT", "Msg 2627")] {
        let (mut output, mut quiet) = (crate::Collected::default(), crate::Collected::default());
        in_turn(&world, client.execute(&insert, &mut output), async {
            pikepole_scheduler::sleep(std::time::Duration::from_millis(500)).await;
            other.execute(end, &mut quiet).await;
        });
        let line = super::line(&output.events[0]).expect("a line");
        assert!(line.starts_with(expected), "{end}: {line}");
        client.quiet("DELETE t");
        other.quiet("BEGIN TRAN INSERT t VALUES (150000, -1)");
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
    let counts = "SELECT COUNT(*), SUM(n) FROM t";
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
    let info = |name: &str, ty| ColumnInfo { name: name.into(), ty, nullable: true };
    let infos = vec![info("n", SqlType::Int), info("s", SqlType::NVarChar(Length::Limit(20)))];
    for (columns, error) in [
        ("n bigint NOT NULL, s varchar(9), d int DEFAULT 7", 2628),
        ("n bigint PRIMARY KEY, s varchar(9), d int DEFAULT 7", 2627),
    ] {
        client.quiet(&format!("DROP TABLE IF EXISTS t CREATE TABLE t ({columns})"));
        let before = waits(&client);
        let names = ["[n]".to_owned(), "s".to_owned()];
        let target = RowTarget::new("dbo.[t]", &names, infos.clone(), true).expect("names");
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
