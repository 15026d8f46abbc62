//! UNION ALL by workers gives what it gives serially.

use super::Client;
use super::parallel::{NUMBERS, roomy, waits_of, with_tables};

fn waits(client: &Client) -> u64 {
    waits_of(client, "CXCONSUMER")
}

/// Runs a query serially and by workers; gives its lines.
fn agrees(client: &mut Client, is_parallel: bool, query: &str) -> Vec<String> {
    let run = |client: &mut Client, degree: usize| {
        client.lines(&format!("DECLARE @v bigint = 5, @zero int = 0; WITH {NUMBERS} {query} OPTION (MAXDOP {degree})"))
    };
    let serial = run(client, 1);
    let before = waits(client);
    for degree in [2, 3] {
        assert_eq!(run(client, degree), serial, "{query} with {degree}");
    }
    assert!(!serial[0].starts_with("Msg"), "{query}: {serial:?}");
    assert_eq!(waits(client) - before, if is_parallel { 2 } else { 0 }, "{query}");
    serial
}

#[test]
fn branches_that_are_made_from_ordinals() {
    let mut client = Client::alone();
    let numbered = "ROW_NUMBER() OVER (ORDER BY @@SPID)";
    for query in [
        "SELECT COUNT(*), SUM(n), MIN(n), MAX(n) FROM (SELECT n FROM numbers UNION ALL SELECT n + @v FROM numbers) AS t",
        // Small branches, one row and none.
        "SELECT COUNT(*), SUM(n), MAX(d) FROM (SELECT n, d FROM numbers UNION ALL SELECT -7, @v UNION ALL SELECT n, n FROM digits
            UNION ALL SELECT n, n FROM numbers WHERE n < 0) AS t",
        // Branches of branches, conditions and joins within.
        "SELECT COUNT(*), SUM(n), MAX(n) FROM (SELECT n FROM (SELECT n FROM digits UNION ALL SELECT n FROM numbers WHERE d = 3) AS i
            UNION ALL SELECT n FROM numbers LEFT JOIN (VALUES (1)) AS x(k) ON 1 = 0 WHERE n % 3 = 1) AS t",
        &format!("SELECT COUNT(*), SUM(r), MAX(r), SUM(r * (n % 100)) FROM (SELECT n, {numbered} AS r FROM (
            SELECT n FROM numbers UNION ALL SELECT -n FROM numbers UNION ALL SELECT n FROM digits) AS t) AS t"),
        // TOP within the branches, around them and around numbers.
        &format!("SELECT COUNT(*), SUM(r * (n % 100)), MIN(n) FROM (SELECT TOP (400000) n, {numbered} AS r FROM (
            SELECT TOP (130000) n FROM numbers UNION ALL SELECT n FROM digits UNION ALL SELECT * FROM (SELECT TOP (261000) -n AS n FROM numbers) AS i
            UNION ALL SELECT n + 1000000 FROM numbers) AS t) AS t"),
        &format!("SELECT COUNT(*), SUM(r * (n % 100)), MIN(n) FROM (SELECT TOP (200000) n, {numbered} AS r FROM (
            SELECT n FROM numbers UNION ALL SELECT -n FROM numbers) AS t) AS t"),
        "SELECT COUNT(*), SUM(CAST(value AS bigint)) FROM (SELECT value FROM GENERATE_SERIES(1, 200000)
            UNION ALL SELECT value FROM GENERATE_SERIES(5, 90000, 3)) AS t",
    ] {
        agrees(&mut client, true, query);
    }
    // What stays serial: few rows, a branch whose rows come in an order.
    agrees(
        &mut client,
        false,
        "SELECT COUNT(*), SUM(n) FROM (SELECT n FROM digits UNION ALL SELECT n FROM digits) AS t",
    );
    agrees(
        &mut client,
        false,
        "SELECT COUNT(*), SUM(n) FROM (SELECT n FROM numbers UNION ALL SELECT * FROM (SELECT TOP (3) n FROM numbers ORDER BY n DESC) AS i) AS t",
    );
    agrees(
        &mut client,
        false,
        "SELECT COUNT(*) FROM (SELECT n FROM numbers UNION ALL SELECT CHECKSUM(NEWID()) FROM numbers) AS t",
    );
}

#[test]
fn branches_that_read_tables() {
    let mut client = roomy();
    with_tables(&mut client);
    client.quiet("CREATE TABLE nothing (n int) CREATE TABLE few (n int) INSERT few VALUES (1), (2)");
    for query in [
        "SELECT COUNT(*), SUM(n), MAX(n) FROM (SELECT n FROM heap UNION ALL SELECT n FROM keyed UNION ALL SELECT n FROM backward) AS t",
        "SELECT COUNT(*), SUM(n), MAX(n) FROM (SELECT n FROM few UNION ALL SELECT n FROM nothing UNION ALL SELECT n FROM heap WHERE n % 3 = 1) AS t",
        "SELECT COUNT(*), SUM(n), MAX(n) FROM (SELECT n FROM heap UNION ALL SELECT n FROM numbers UNION ALL SELECT 4) AS t",
        "SELECT COUNT(*), SUM(n), MAX(n) FROM (SELECT n FROM heap UNION ALL SELECT * FROM (SELECT TOP (170000) n FROM numbers) AS i) AS t",
    ] {
        agrees(&mut client, true, query);
    }
    for query in [
        "SELECT COUNT(*), SUM(n) FROM (SELECT n FROM few UNION ALL SELECT n FROM nothing) AS t",
        "SELECT COUNT(*), SUM(n) FROM (SELECT n FROM nothing UNION ALL SELECT n FROM nothing) AS t",
        // However many small ones there are.
        "SELECT COUNT(*), SUM(n) FROM (SELECT n FROM few UNION ALL SELECT n FROM few UNION ALL SELECT n FROM few UNION ALL SELECT n FROM few) AS t",
        "SELECT COUNT(*), MAX(r) FROM (SELECT ROW_NUMBER() OVER (ORDER BY @@SPID) AS r FROM (SELECT n FROM heap UNION ALL SELECT n FROM heap) AS i) AS t",
    ] {
        agrees(&mut client, false, query);
    }
}

#[test]
fn the_first_branch_s_error_is_told() {
    let mut client = roomy();
    with_tables(&mut client);
    let failing =
        |error: &str, row: u32| format!("SELECT CASE WHEN n = {row} THEN {error} ELSE n END AS n FROM numbers");
    let (zero, narrow) = ("n / @zero", "CAST(n + 1000 AS tinyint)");
    for (first, second, number) in [(zero, narrow, "Msg 8134"), (narrow, zero, "Msg 8115")] {
        for (row, other) in [(262_000, 3), (3, 262_000)] {
            for branches in [
                format!("{} UNION ALL {}", failing(first, row), failing(second, other)),
                format!("SELECT n FROM heap UNION ALL {} UNION ALL {}", failing(first, row), failing(second, other)),
                format!("{} UNION ALL SELECT {second} FROM heap", failing(first, row)),
                format!(
                    "SELECT n FROM (SELECT 1 AS n UNION ALL {}) AS i UNION ALL {}",
                    failing(first, row),
                    failing(second, other)
                ),
            ] {
                // How many workers end before the failing row is a matter of chance.
                for _ in 0..3 {
                    let lines = client.lines(&format!(
                        "DECLARE @zero int = 0; WITH {NUMBERS} SELECT SUM(CAST(n AS bigint)) FROM ({branches}) AS t OPTION (MAXDOP 3)"
                    ));
                    assert!(lines[0].starts_with(number), "{branches}: {lines:?}");
                }
            }
        }
    }
}

#[test]
fn the_published_parallel_insert_is_made_by_workers() {
    let mut client = roomy();
    client.quiet(
        "CREATE TABLE dbo.t (id bigint NOT NULL, part int NOT NULL, created datetime NOT NULL)
         CREATE TABLE #BatchMe (id int, INDEX cci CLUSTERED COLUMNSTORE)",
    );
    let insert = |degree: usize| {
        format!(
            "WITH {NUMBERS},
             both_halves AS (SELECT n FROM numbers UNION ALL SELECT n FROM numbers),
             numbered AS (SELECT ROW_NUMBER() OVER (ORDER BY @@SPID) AS n FROM both_halves LEFT JOIN #BatchMe ON 0 = 1)
             INSERT dbo.t WITH (TABLOCK) (id, part, created)
             SELECT n, 1, DATEADD(second, n % 86400, CONVERT(datetime, '20200101')) FROM numbered OPTION (MAXDOP {degree})"
        )
    };
    let before = waits(&client);
    assert_eq!(client.lines(&insert(3)), ["(524288 rows)"]);
    assert_eq!(waits(&client) - before, 1, "by workers");
    let sums = "SELECT COUNT(*), COUNT(DISTINCT id), MIN(id), MAX(id), SUM(part), MAX(created) FROM dbo.t";
    let by_workers = client.lines(sums);
    client.quiet("TRUNCATE TABLE dbo.t");
    assert_eq!(client.lines(&insert(1)), ["(524288 rows)"]);
    assert_eq!(client.lines(sums), by_workers);
}

#[test]
fn plans_of_what_ran_have_the_rows_of_each_worker() {
    let mut client = roomy();
    client.quiet("CREATE TABLE dbo.t (n bigint NOT NULL)");
    client.context.settings.statistics_xml = true;
    let threads = |plan: &str| -> Vec<u64> {
        let number = |rest: &str| rest.split('"').next().and_then(|number| number.parse().ok()).expect("a number");
        let counters = plan.split("<RunTimeCountersPerThread Thread=\"").skip(1);
        let of_workers = counters.filter(|rest| rest.contains("ActualCPUms=\"") && !rest.starts_with('0'));
        of_workers.map(|rest| number(rest.split("ActualRows=\"").nth(1).expect("rows"))).collect()
    };
    let union = "SELECT n FROM numbers UNION ALL SELECT n FROM numbers";
    for (statement, degree) in [
        (format!("WITH {NUMBERS} INSERT dbo.t SELECT n FROM ({union}) AS u OPTION (MAXDOP 3)"), 3),
        (format!("WITH {NUMBERS} INSERT dbo.t SELECT n FROM ({union}) AS u OPTION (MAXDOP 1)"), 0),
        (format!("WITH {NUMBERS} SELECT MAX(n) FROM ({union}) AS u OPTION (MAXDOP 2)"), 2),
    ] {
        let lines = client.lines(&statement);
        let plan =
            lines.iter().find(|line| line.contains("<ShowPlanXML")).unwrap_or_else(|| panic!("no plan: {lines:?}"));
        assert_eq!(plan.contains(&format!("<QueryPlan DegreeOfParallelism=\"{degree}\">")), degree > 0, "{plan}");
        assert_eq!(plan.contains("PhysicalOp=\"Parallelism\" LogicalOp=\"Gather Streams\""), degree > 0, "{plan}");
        let rows = threads(plan);
        assert_eq!((rows.len(), rows.iter().sum::<u64>()), (degree, if degree > 0 { 524_288 } else { 0 }), "{plan}");
        assert!(
            plan.contains("PhysicalOp=\"Concatenation\"") && plan.contains("EstimatedExecutionMode=\"Batch\""),
            "{plan}"
        );
    }
}
