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
    // What is inserted row by row: identity values, keys, indexes.
    for columns in [
        "id int IDENTITY, n bigint NOT NULL, v int, d datetime",
        "n bigint NOT NULL PRIMARY KEY, v int, d datetime",
        "n bigint NOT NULL, v int, d datetime, INDEX ix (v)",
    ] {
        let mut client = roomy();
        let insert = "INSERT {t} (n, v) SELECT TOP (131073) n, d FROM numbers";
        assert_eq!(filled_twice(&mut client, columns, insert), 0, "{columns}");
    }
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
fn rows_that_are_there_already_go_into_a_heap_page_by_page() {
    let mut client = roomy();
    let rows: Vec<Vec<Value>> = (0..10_000)
        .map(|n| vec![Value::Int(n), if n % 3 == 0 { Value::Null } else { Value::Str(n.to_string()) }])
        .collect();
    let info = |name: &str, ty| ColumnInfo { name: name.into(), ty, nullable: true };
    let infos = vec![info("n", SqlType::Int), info("s", SqlType::NVarChar(Length::Limit(20)))];
    for (columns, waited) in [
        ("n bigint NOT NULL, s varchar(9), d int DEFAULT 7", 1),
        ("n bigint PRIMARY KEY, s varchar(9), d int DEFAULT 7", 0),
    ] {
        client.quiet(&format!("DROP TABLE IF EXISTS t CREATE TABLE t ({columns})"));
        let before = waits(&client);
        let names = ["[n]".to_owned(), "s".to_owned()];
        let target = RowTarget::new("dbo.[t]", &names, infos.clone(), true, false).expect("names");
        let mut load = |rows: Vec<Vec<Value>>| {
            let server = Arc::clone(&client.server);
            let mut output = crate::Collected::default();
            let (context, host) = (&mut client.context, &mut client.host);
            server.schedulers().block_on(crate::insert_rows(&target, rows, context, host, &mut output))
        };
        assert_eq!(load(rows.clone()), Ok(10_000));
        let mut wrong = rows.clone();
        wrong[9_000][1] = Value::Str("too long for it".into());
        assert_eq!(load(wrong).map_err(|error| error.number), Err(if waited == 1 { 2628 } else { 2627 }));
        assert_eq!(waits(&client) - before, 2 * waited, "{columns}");
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
