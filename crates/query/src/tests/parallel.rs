//! Plans that run in parallel give what they give when they run serially.

use super::{Client, World};
use pikepole_contention::sync::atomic::Ordering;

/// 262,144 numbered rows.
const NUMBERS: &str = "digits AS (SELECT n FROM (VALUES (0), (1), (2), (3), (4), (5), (6), (7)) AS v(n)),
    numbers AS (SELECT ROW_NUMBER() OVER (ORDER BY (SELECT NULL)) AS n, f.n AS d
        FROM digits a CROSS JOIN digits b CROSS JOIN digits c CROSS JOIN digits d CROSS JOIN digits e CROSS JOIN digits f)";

/// How many workers have ended by now.
fn waits(client: &Client) -> u64 {
    let waits = client.server.statistics().waits();
    waits.iter().filter(|row| row.wait_type == "CXCONSUMER").map(|row| row.waiting_tasks_count).sum()
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
    assert!(client.value("SELECT 1 OPTION (MAXDOP x)").starts_with("Msg "));
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
        assert_eq!(client.shown(&query(degree)), ["8134|3|0"], "with {degree}");
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
    client.quiet("SELECT COUNT(*) FROM GENERATE_SERIES(1, 200000) WHERE GETDATE() > '2000-01-01' AND @@SPID > 0");
    assert_eq!(waits(&client), 1);
}
