//! Common tables that are named more than once: made once where that costs less, and never other rows than those of each name for itself.

use super::joins::plan;
use super::parallel::{roomy, waits_of};
use super::parallel_joins::with_joined_tables;
use super::*;
use crate::plan::{More, Node};

const SALES: &str = "
CREATE TABLE sale (k int NOT NULL PRIMARY KEY, day int NOT NULL, part int NOT NULL, price int NOT NULL, INDEX days (day, part));
INSERT sale SELECT value, value / 100, value % 7, value FROM GENERATE_SERIES(1, 2000);";
const DAILY: &str = "WITH daily AS (SELECT day, part, SUM(price) AS total FROM sale GROUP BY day, part) ";

/// The reads of a query: tables by name, `daily` for a name of rows that others share and `daily:` for the one they are shown with.
fn reads(client: &mut Client, query: &str) -> String {
    let mut reads = Vec::new();
    plan(client, query).source.visit_nodes_while(&mut |node| match node {
        Node::Scan(scan) => {
            let mark = if scan.range.prefix.is_empty() { "" } else { "=" };
            reads.push(format!("{}{mark}", scan.table.name));
            true
        }
        Node::More(more) => match &**more {
            More::Common(common) => {
                reads.push(format!("daily{}", if common.is_first() { ":" } else { "" }));
                common.is_first()
            }
            _ => true,
        },
        _ => true,
    });
    reads.join(" ")
}

#[test]
fn names_share_rows_where_that_costs_less() {
    let mut client = Client::alone();
    client.quiet(SALES);
    let mut reads = |query: &str| reads(&mut client, &format!("{DAILY}{query}"));
    let pairs = "SELECT a.total, b.total FROM daily AS a JOIN daily AS b ON b.part = a.part AND b.day = a.day + 1";
    assert_eq!(reads(pairs), "daily: sale daily");
    assert_eq!(reads(&format!("{pairs} WHERE b.total > a.total AND a.total > 10")), "daily: sale daily");
    assert_eq!(reads("SELECT * FROM daily WHERE total = (SELECT MAX(total) FROM daily)"), "daily: sale daily");
    assert_eq!(
        reads("SELECT day FROM daily UNION SELECT part FROM daily UNION SELECT total FROM daily"),
        "daily: sale daily daily"
    );
    // Keys leave little of either name, so that little of the table is read.
    assert_eq!(
        reads("SELECT * FROM daily AS a JOIN daily AS b ON b.part = a.part WHERE a.day = 3 AND b.day = 4"),
        "sale= sale="
    );
    assert_eq!(reads("SELECT * FROM daily WHERE day = 3"), "sale=");
    assert_eq!(reads(&format!("{pairs} OPTION (QUERYRULEOFF CommonTableSpool)")), "sale sale");
    // Rows that are other ones each time are not those of another name.
    let query = "WITH daily AS (SELECT part, MAX(NEWID()) AS one FROM sale GROUP BY part) SELECT * FROM daily AS a JOIN daily AS b ON b.one = a.one";
    assert_eq!(super::common_tables::reads(&mut client, query), "sale sale");
}

#[test]
fn names_of_chosen_rows_share_them_where_none_chooses_more() {
    let mut client = Client::alone();
    client.quiet(SALES);
    client.quiet("CREATE TABLE part (id int NOT NULL PRIMARY KEY, name varchar(20) NOT NULL)");
    client.quiet("INSERT part SELECT value, CONCAT('part ', value) FROM GENERATE_SERIES(0, 6)");
    let sold = "WITH daily AS (SELECT s.k, s.day, p.name, 1000 / (s.k - 1000) AS unread FROM sale AS s JOIN part AS p ON p.id = s.part WHERE s.price % 50 = 7) ";
    let totals = "SELECT day, NULL AS name, COUNT(*) AS n FROM daily GROUP BY day
        UNION ALL SELECT NULL, name, COUNT(*) FROM daily GROUP BY name UNION ALL SELECT NULL, NULL, COUNT(*) FROM daily";
    let query = format!("{sold}{totals}");
    let shared = reads(&mut client, &query);
    assert!(shared.starts_with("daily: ") && shared.matches("daily").count() == 3, "{shared}");
    assert_eq!(shared.matches("sale").count(), 1, "{shared}");
    // The column that fails is read by no name.
    let mut lines = client.lines(&query);
    assert!(lines.iter().all(|line| !line.contains("8134")), "{lines:?}");
    let mut apart = client.lines(&format!("{query} OPTION (QUERYRULEOFF CommonTableSpool)"));
    lines.sort();
    apart.sort();
    assert_eq!(lines, apart);
    let failing = client.lines(&format!("{} WHERE unread > 0", query.replace("price % 50 = 7", "price % 50 = 0")));
    assert!(failing.iter().any(|line| line.contains("8134")), "{failing:?}");
    // A name with a condition of its own finds its rows by the key.
    let reads_of = reads(&mut client, &format!("{query} UNION ALL SELECT day, name, k FROM daily WHERE k = 57"));
    assert_eq!(reads_of.matches("daily").count(), 3, "{reads_of}");
    assert!(reads_of.contains("sale="), "{reads_of}");
    // So does one whose condition comes from a query around the one that names it.
    let outer = format!(
        "{sold}SELECT day, n FROM (SELECT k, day, COUNT(*) AS n FROM daily GROUP BY k, day) AS d WHERE k = 57
        UNION ALL SELECT k, day FROM daily WHERE k = 107"
    );
    let reads_of = reads(&mut client, &outer);
    assert_eq!(reads_of.matches("sale=").count(), 2, "{reads_of}");
    assert!(!reads_of.contains("daily"), "{reads_of}");
    // All rows of a table are read again rather than kept.
    let query =
        "WITH daily AS (SELECT day, part FROM sale) SELECT a.day FROM daily AS a JOIN daily AS b ON b.part = a.part";
    assert_eq!(reads(&mut client, query), "sale sale");
}

#[test]
fn a_table_of_tables_is_made_once() {
    let mut client = Client::alone();
    client.quiet(SALES);
    let nested = format!(
        "{DAILY}, parts AS (SELECT part, MAX(total) AS most FROM daily GROUP BY part)
         SELECT a.part, b.most FROM parts AS a JOIN parts AS b ON b.most = a.most"
    )
    .replace(") ,", "),");
    assert_eq!(reads(&mut client, &nested), "daily: sale daily", "the outer table is, and the inner one within it");
    let both = format!("{nested} WHERE a.part IN (SELECT part FROM daily WHERE total > 100)");
    assert_eq!(reads(&mut client, &both).matches("sale").count(), 1, "{both}");
    let off = format!("{both} OPTION (QUERYRULEOFF CommonTableSpool)");
    let sorted = |mut lines: Vec<String>| {
        lines.sort();
        lines
    };
    assert_eq!(sorted(client.lines(&both)), sorted(client.lines(&off)));
}

#[test]
fn each_run_has_rows_of_its_own() {
    let mut client = Client::alone();
    client.quiet(SALES);
    let query = "SELECT COUNT(*) FROM daily AS a JOIN daily AS b ON b.part = a.part AND b.day = a.day";
    let in_loop = format!(
        "DECLARE @day int = 0; DECLARE @pairs TABLE (n int);
         WHILE @day < 5
         BEGIN
           DELETE sale WHERE day = @day;
           WITH daily AS (SELECT day, part, COUNT(*) AS n FROM sale WHERE day < @day + 3 GROUP BY day, part)
           INSERT @pairs {query};
           SET @day += 1;
         END
         SELECT SUM(n) FROM @pairs"
    );
    assert_eq!(client.value(&in_loop), "70");
    client.quiet(&format!("CREATE PROCEDURE pairs AS {DAILY}{query}"));
    let before = client.value("EXEC pairs");
    client.quiet("INSERT sale SELECT 5000, 900, 1, 1");
    assert_ne!(client.value("EXEC pairs"), before);
    // A subquery that is asked again for a changed row makes its own.
    client.quiet(&format!("CREATE VIEW twice AS {DAILY}SELECT a.part, b.total FROM daily AS a JOIN daily AS b ON b.day = a.day AND b.part = a.part"));
    let most = client.value("SELECT MAX(total) FROM twice WHERE part = 3");
    client.quiet("UPDATE sale SET price = (SELECT MAX(total) FROM twice WHERE twice.part = sale.part) WHERE k > 1900 AND part = 3");
    assert_eq!(client.value("SELECT DISTINCT price FROM sale WHERE k > 1900 AND part = 3"), most);
    // What is inserted is not read: the rows are those of the statement's begin.
    client.quiet(&format!("{DAILY}INSERT sale SELECT 6000 + a.day * 10 + a.part, a.day, b.part, 1 FROM daily AS a JOIN daily AS b ON b.day = a.day AND b.part = a.part"));
    assert_eq!(client.value("SELECT COUNT(*) FROM sale WHERE k >= 6000"), client.value("EXEC pairs"));
}

#[test]
fn rows_of_a_row_outside_are_not_shared() {
    let mut client = Client::alone();
    client.quiet(SALES);
    client.quiet(
        "CREATE FUNCTION pairs(@day int) RETURNS TABLE AS RETURN (
           WITH daily AS (SELECT part, COUNT(*) AS n FROM sale WHERE day = @day GROUP BY part)
           SELECT SUM(a.n * b.n) AS s FROM daily AS a JOIN daily AS b ON b.part <= a.part)",
    );
    let applied = "SELECT CONCAT(d.value, '=', f.s) FROM GENERATE_SERIES(0, 20) AS d CROSS APPLY pairs(d.value) AS f";
    let alone = |day: i32| format!("{day}={}", client.value(&format!("SELECT s FROM pairs({day})")));
    let mut alone: Vec<String> = (0..=20).map(alone).collect();
    let mut rows = client.lines(applied);
    rows.retain(|row| row.contains('='));
    rows.sort();
    alone.sort();
    assert_eq!(rows, alone);
    let sum = |row: &String| row.split('=').nth(1).map(str::to_owned);
    assert!(alone.iter().any(|row| sum(row) != sum(&alone[0])), "the days differ: {alone:?}");
}

#[test]
fn an_error_in_shared_rows_is_told_once_and_leaves_nothing() {
    let mut client = Client::alone();
    client.quiet(SALES);
    let query = "WITH daily AS (SELECT part, SUM(1 / (price - 1000)) AS one FROM sale GROUP BY part) SELECT a.part FROM daily AS a JOIN daily AS b ON b.one = a.one";
    let lines = client.lines(query);
    assert_eq!(lines.iter().filter(|line| line.contains("8134")).count(), 1, "{lines:?}");
    let lines = client.lines(&query.replace("1000", "-1"));
    assert_eq!(lines.last().map(String::as_str), Some("(49 rows)"), "{lines:?}");
}

#[test]
fn a_plan_without_end_is_refused() {
    let mut client = Client::alone();
    client.quiet(SALES);
    let mut script = "WITH t0 AS (SELECT part AS k, COUNT(*) AS n FROM sale GROUP BY part)".to_owned();
    for table in 1..24 {
        let below = table - 1;
        script += &format!(
            ", t{table} AS (SELECT x.k, SUM(y.n) AS n FROM t{below} AS x JOIN t{below} AS y ON y.k = x.k GROUP BY x.k)"
        );
    }
    let lines = client.lines(&format!("{script} SELECT COUNT(*) FROM t23"));
    assert!(lines[0].contains("8623"), "{lines:?}");
    assert_eq!(client.value(&format!("{script} SELECT COUNT(*) FROM t5")), "7");
    // Conditions of each level make second plans of its names, but not at all levels: that would be gigabytes.
    let mut levels = "WITH t0 AS (SELECT part AS k, COUNT(*) AS n FROM sale GROUP BY part)".to_owned();
    for table in 1..12 {
        let below = table - 1;
        levels += &format!(
            ", t{table} AS (SELECT x.k, MAX(y.n) AS n FROM t{below} AS x JOIN t{below} AS y ON y.k = x.k
                WHERE x.k > 1 AND y.k < 5 GROUP BY x.k)"
        );
    }
    assert_eq!(client.value(&format!("{levels} SELECT COUNT(*) FROM t11")), "3");
    // The same by views that choose among rows.
    client.quiet("CREATE VIEW v0 AS SELECT k, part FROM sale");
    for view in 1..11 {
        let below = view - 1;
        client.quiet(&format!(
            "CREATE VIEW v{view} AS SELECT x.k, y.part FROM v{below} AS x JOIN v{below} AS y ON y.k = x.k"
        ));
    }
    let lines = client.lines("SELECT COUNT(*) FROM v10 AS x, v10 AS y, v10 AS z WHERE y.k = x.k AND z.k = x.k");
    assert!(lines[0].contains("8623"), "{lines:?}");
}

#[test]
fn workers_join_what_the_session_has_made_once() {
    let mut client = roomy();
    with_joined_tables(&mut client);
    client.quiet("SELECT value AS k, value % 900 AS g INTO wide FROM GENERATE_SERIES(1, 200000)");
    let query = "WITH c AS (SELECT k, g, ROW_NUMBER() OVER (PARTITION BY g ORDER BY k) AS r FROM wide)
        SELECT x.g, COUNT(*) AS n, SUM(y.k) AS s, MIN(x.r) AS r FROM c AS x JOIN c AS y ON y.g = x.g AND y.r = x.r + 1 GROUP BY x.g";
    assert_eq!(reads(&mut client, query), "daily: wide daily");
    let mut serial = client.lines(&format!("{query} OPTION (MAXDOP 1)"));
    let before = waits_of(&client, "CXCONSUMER");
    let mut shared = client.lines(&format!("{query} OPTION (MAXDOP 3)"));
    assert!(waits_of(&client, "CXCONSUMER") > before);
    serial.sort();
    shared.sort();
    assert!(serial == shared);
}
