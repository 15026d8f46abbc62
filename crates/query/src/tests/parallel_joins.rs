//! Joins below groups that workers run in batches give what they give row by row.

use super::Client;
use super::parallel::{roomy, waits_of};

/// A table that workers share, one of many rows for each key, one of some, one with a row for each key, and a small one.
pub(super) fn with_joined_tables(client: &mut Client) {
    client.quiet(
        "CREATE TABLE facts (id int NOT NULL PRIMARY KEY, k int, k2 bigint, price decimal(12, 2) NOT NULL, day date, mark varchar(10), filler char(400) NOT NULL)
         INSERT facts SELECT value, NULLIF(value * 7919 % 501, 500), value % 23, value % 1000 * 0.25, DATEADD(day, value % 2000, '2020-01-01'),
             CASE WHEN value % 6 > 0 THEN 'mark ' + CAST(value % 6 AS varchar(2)) END, REPLICATE('x', 400) FROM GENERATE_SERIES(1, 4000)
         CREATE TABLE many (n int NOT NULL, k int, k2 bigint, name varchar(20), worth decimal(9, 2))
         INSERT many SELECT value, NULLIF(value % 97, 5), value % 23, 'name ' + CAST(value % 11 AS varchar(2)), value * 0.5 FROM GENERATE_SERIES(1, 3000)
         CREATE TABLE keyed (k int NOT NULL PRIMARY KEY, name varchar(20) NOT NULL, grp smallint)
         INSERT keyed SELECT value, 'key ' + CAST(value % 40 AS varchar(3)), NULLIF(value % 9, 4) FROM GENERATE_SERIES(1, 499) WHERE value % 10 <> 3
         CREATE TABLE details (k int NOT NULL, line int NOT NULL, amount int, PRIMARY KEY (k, line))
         INSERT details SELECT value % 400, value / 400, NULLIF(value % 13, 6) FROM GENERATE_SERIES(1, 2500)
         CREATE TABLE few (grp int NOT NULL PRIMARY KEY, label char(10) NOT NULL)
         INSERT few VALUES (0, 'zero'), (1, 'one'), (2, 'two'), (3, 'three'), (5, 'five'), (7, 'seven')
         CREATE TABLE none (k int NOT NULL, v int)",
    );
}

const QUERIES: &[&str] = &[
    "SELECT COUNT(*), SUM(f.id), SUM(m.n), MAX(m.worth), SUM(f.price * m.worth) FROM facts f JOIN many m ON m.k = f.k",
    "SELECT m.name, COUNT(*), SUM(f.price), MIN(f.day) FROM facts f JOIN many m ON m.k = f.k AND m.k2 = f.k2 GROUP BY m.name",
    "SELECT m.name, COUNT(*), COUNT(m.n), SUM(f.id) FROM facts f LEFT JOIN many m ON m.k = f.k GROUP BY m.name",
    "SELECT m.name, f.mark, COUNT(*), COUNT(m.n), SUM(f.id) FROM facts f LEFT JOIN many m ON m.k = f.k AND m.n > f.id GROUP BY m.name, f.mark",
    "SELECT COUNT(*), COUNT(m.n), SUM(m.worth) FROM facts f LEFT JOIN many m ON m.k2 = f.k2 AND m.k = f.k AND m.name LIKE '%1%'",
    "SELECT COUNT(*), SUM(f.id), SUM(m.n) FROM facts f JOIN many m ON m.k = f.k AND m.worth > f.price WHERE f.mark <> 'mark 3' AND m.name < 'name 5'",
    "SELECT l.label, COUNT(*), SUM(f.price) FROM facts f JOIN keyed k ON k.k = f.k JOIN few l ON l.grp = k.grp GROUP BY l.label",
    "SELECT COUNT(*), COUNT(l.label), SUM(f.id) FROM facts f LEFT JOIN keyed k ON k.k = f.k LEFT JOIN few l ON l.grp = k.grp",
    "SELECT COUNT(*), SUM(f.id), SUM(d.amount) FROM facts f JOIN details d ON d.k = f.k WHERE f.id % 3 = 1",
    "SELECT COUNT(*), SUM(f.id), SUM(d.amount), COUNT(d.line) FROM facts f LEFT JOIN details d ON d.k = f.k AND d.line < f.k2 % 4",
    "SELECT COUNT(*), SUM(f.id) FROM facts f JOIN many m ON m.k + 1 = f.k - 1",
    "SELECT COUNT(*), SUM(f.id) FROM facts f JOIN none n ON n.k = f.k",
    "SELECT COUNT(*), SUM(f.id), COUNT(n.v) FROM facts f LEFT JOIN none n ON n.k = f.k",
    "SELECT COUNT(*), SUM(f.id) FROM facts f WHERE EXISTS (SELECT * FROM many m WHERE m.k = f.k)",
    "SELECT f.mark, COUNT(*), SUM(f.id) FROM facts f WHERE NOT EXISTS (SELECT * FROM many m WHERE m.k = f.k) GROUP BY f.mark",
    "SELECT COUNT(*), SUM(f.id) FROM facts f WHERE NOT EXISTS (SELECT * FROM many m WHERE m.k = f.k AND m.n <> f.id AND m.k2 > f.k2)",
    "SELECT COUNT(*), SUM(f.id) FROM facts f WHERE EXISTS (SELECT * FROM details d WHERE d.k = f.k AND d.amount > f.k2)",
    "SELECT COUNT(*), SUM(f.id) FROM facts f WHERE f.price > (SELECT AVG(price) FROM facts WHERE k > 3) AND NOT EXISTS (SELECT * FROM details d WHERE d.k = f.id)",
    "SELECT COUNT(*), SUM(f.id), SUM(m.n) FROM facts f JOIN many m ON m.k = f.k WHERE 100 / (f.id - 2000) < 5",
    "SELECT COUNT(*) FROM facts f JOIN many m ON m.k = f.k AND 10 / (m.n - 1500) < f.id",
    "SELECT COUNT(*), SUM(f.id * 1000000 * m.n) FROM facts f JOIN many m ON m.k = f.k",
    // Keys that are no integers.
    "SELECT COUNT(*), SUM(f.id), SUM(m.n) FROM facts f JOIN many m ON m.name = REPLACE(f.mark, 'mark', 'NAME') AND m.k2 = f.k2",
    "SELECT l.label, COUNT(*), COUNT(l.grp), SUM(f.id) FROM facts f LEFT JOIN few l ON l.label = CASE f.k2 % 4 WHEN 0 THEN 'ZERO' WHEN 1 THEN 'one  ' WHEN 2 THEN 'no' END GROUP BY l.label",
    "SELECT COUNT(*), SUM(f.id), MAX(d.day) FROM facts f JOIN (SELECT DISTINCT day FROM facts WHERE id % 7 = 0) d ON d.day = f.day",
    "SELECT COUNT(*), COUNT(d.day), SUM(f.id) FROM facts f LEFT JOIN (SELECT DISTINCT CAST(day AS datetime) AS day FROM facts WHERE id % 7 = 0) d ON d.day = f.day",
    "SELECT COUNT(*), SUM(f.id), SUM(m.n) FROM facts f JOIN many m ON m.worth = f.price",
    "SELECT COUNT(*), SUM(f.id), SUM(m.n) FROM facts f JOIN (SELECT n, CAST(n AS decimal(9, 4)) / 4 AS worth FROM many) m ON m.worth = f.price",
    "SELECT COUNT(*), SUM(f.id), SUM(m.n) FROM facts f JOIN many m ON CAST(m.worth AS float) = CAST(f.price AS float) AND m.k = f.k",
    "SELECT COUNT(*), SUM(f.id), SUM(m.n) FROM facts f JOIN many m ON CAST(m.name AS varbinary(20)) = CAST(REPLACE(f.mark, 'mark', 'name') AS varbinary(30)) AND m.k2 = f.k2",
    "SELECT f.mark, COUNT(*), SUM(f.id) FROM facts f WHERE NOT EXISTS (SELECT * FROM many m WHERE m.name = REPLACE(f.mark, 'mark 1', 'other') AND m.n > f.id) GROUP BY f.mark",
    "SELECT f.mark, COUNT(*), SUM(f.id) FROM facts f WHERE EXISTS (SELECT * FROM many m WHERE m.name = REPLACE(f.mark, 'mark', 'Name')) GROUP BY f.mark",
    // No key at all.
    "SELECT COUNT(*), SUM(f.id), MAX(x.top_worth) FROM facts f CROSS JOIN (SELECT MAX(worth) AS top_worth FROM many) x WHERE f.price * 3 > x.top_worth",
    "SELECT COUNT(*), SUM(f.id), SUM(l.grp) FROM facts f JOIN (SELECT DISTINCT grp FROM few) l ON l.grp < f.k2",
    "SELECT COUNT(*), SUM(f.id), COUNT(l.grp) FROM facts f LEFT JOIN (SELECT DISTINCT grp FROM few) l ON l.grp > f.k2 AND 10 / (l.grp + 1) < 4",
    // Grouping sets.
    "SELECT f.mark, m.name, GROUPING_ID(f.mark, m.name), COUNT(*), COUNT(m.k2), AVG(m.worth), MIN(f.day) FROM facts f JOIN many m ON m.k = f.k GROUP BY ROLLUP (f.mark, m.name)",
    "SELECT f.mark, k.grp, GROUPING(k.grp), COUNT(*), SUM(f.price), VAR(f.id) FROM facts f JOIN keyed k ON k.k = f.k GROUP BY CUBE (f.mark, k.grp)",
    "SELECT UPPER(f.mark), f.k2 % 3, f.day, COUNT(*), SUM(f.id) FROM facts f WHERE f.k < 400 GROUP BY GROUPING SETS ((UPPER(f.mark)), (f.k2 % 3, f.day), (UPPER(f.mark)), ())",
    "SELECT f.mark, f.k2, COUNT(*), COUNT(f.k), SUM(f.id) FROM facts f WHERE f.k2 > 100 GROUP BY GROUPING SETS ((f.mark), (), (f.k2), ())",
    "SELECT f.mark, SUM(f.id * 1000000) FROM facts f GROUP BY ROLLUP (f.mark)",
    // DISTINCT values.
    "SELECT COUNT(DISTINCT f.mark), COUNT(*), SUM(f.price), COUNT(f.k), MAX(f.day) FROM facts f",
    "SELECT f.k2, COUNT(DISTINCT f.k), SUM(DISTINCT f.k), MIN(DISTINCT f.k), COUNT(*), AVG(f.price) FROM facts f GROUP BY f.k2",
    "SELECT f.mark, COUNT(DISTINCT UPPER(m.name)), SUM(f.id), COUNT(m.worth) FROM facts f LEFT JOIN many m ON m.k = f.k GROUP BY f.mark",
    "SELECT COUNT(DISTINCT f.price), AVG(DISTINCT f.price) FROM facts f WHERE f.k2 > 100",
    "SELECT x.n, COUNT(*), MIN(x.mark) FROM (SELECT f.mark, COUNT(DISTINCT f.k) AS n FROM facts f GROUP BY f.mark, f.k2) x GROUP BY x.n",
    // More finer groups than a batch has rows.
    "SELECT f.mark, COUNT(DISTINCT f.id * 100 + m.k2), SUM(m.worth), COUNT(*) FROM facts f JOIN many m ON m.k = f.k GROUP BY f.mark",
    "SELECT x.mark, COUNT(*), COUNT(x.id), SUM(x.s), SUM(x.n) FROM (SELECT f.mark, f.id, m.k2, SUM(m.worth) AS s, COUNT(*) AS n FROM facts f JOIN many m ON m.k = f.k GROUP BY ROLLUP (f.mark, f.id, m.k2)) x GROUP BY x.mark",
    // Joins of groups.
    "SELECT COUNT(*), SUM(a.n), SUM(b.s) FROM (SELECT k, COUNT(*) AS n FROM facts GROUP BY k) a JOIN (SELECT k, SUM(worth) AS s FROM many GROUP BY k) b ON b.k = a.k",
    "SELECT a.n, COUNT(*), COUNT(b.s), SUM(b.s) FROM (SELECT k, COUNT(*) AS n FROM facts GROUP BY k) a LEFT JOIN (SELECT k, SUM(worth) AS s FROM many WHERE k2 < 9 GROUP BY k) b ON b.k = a.k GROUP BY a.n",
    "SELECT COUNT(*), SUM(x.n) FROM (SELECT k, k2, COUNT(*) AS n FROM facts GROUP BY k, k2 HAVING COUNT(*) > 1 UNION ALL SELECT k, k2, SUM(n) FROM many GROUP BY k, k2) x",
    // Subqueries that join.
    "SELECT COUNT(*), SUM(f.id) FROM facts f WHERE EXISTS (SELECT * FROM many m JOIN few l ON l.grp = m.k2 WHERE m.k = f.k AND l.label > 'o')",
    "SELECT f.mark, COUNT(*), SUM(f.id) FROM facts f WHERE NOT EXISTS (SELECT * FROM many m JOIN keyed k ON k.k = m.n WHERE m.k = f.k AND k.grp = 3) OR f.k2 = 4 GROUP BY f.mark",
    "SELECT COUNT(*), SUM(f.id) FROM facts f WHERE EXISTS (SELECT * FROM many m LEFT JOIN few l ON l.grp = m.k2 WHERE m.k = f.k AND m.k2 = f.k2 AND l.grp IS NULL)",
];

#[test]
fn joins_by_workers_agree() {
    let mut client = roomy();
    with_joined_tables(&mut client);
    for query in QUERIES {
        let run = |client: &mut Client, degree: usize| {
            let mut lines = client.lines(&format!("{query} OPTION (FORCE ORDER, MAXDOP {degree})"));
            lines.sort();
            lines
        };
        let serial = run(&mut client, 1);
        let before = waits_of(&client, "CXCONSUMER");
        assert_eq!(run(&mut client, 3), serial, "{query}");
        assert!(waits_of(&client, "CXCONSUMER") > before, "{query}");
    }
}

#[test]
fn workers_also_read_the_rows_that_are_looked_up() {
    let mut client = roomy();
    with_joined_tables(&mut client);
    for query in [
        "SELECT COUNT(*), SUM(f.id), SUM(g.id), MAX(g.day) FROM facts f JOIN facts g ON g.k = f.id WHERE g.mark <> 'mark 1'",
        "SELECT g.mark, COUNT(*), SUM(f.id), SUM(g.price) FROM facts f LEFT JOIN facts g ON g.k = f.id AND g.k2 = f.k2 GROUP BY g.mark",
        "SELECT COUNT(*), SUM(f.id) FROM facts f WHERE NOT EXISTS (SELECT * FROM facts g WHERE g.k = f.id AND g.day > f.day)",
        "SELECT COUNT(*), SUM(f.id) FROM facts f JOIN facts g ON g.k = f.id WHERE 100 / (g.id - 2000) < 5",
    ] {
        let run = |client: &mut Client, degree: usize| {
            let mut lines = client.lines(&format!("{query} OPTION (FORCE ORDER, MAXDOP {degree})"));
            lines.sort();
            lines
        };
        let serial = run(&mut client, 1);
        let before = waits_of(&client, "CXCONSUMER");
        assert_eq!(run(&mut client, 3), serial, "{query}");
        let waits = waits_of(&client, "CXCONSUMER") - before;
        assert_eq!(waits, if serial[0].starts_with("Msg") { 1 } else { 2 }, "{query}");
    }
}

#[test]
fn joins_by_workers_start_over_with_each_statement() {
    let mut client = roomy();
    with_joined_tables(&mut client);
    client.quiet(
        "CREATE PROCEDURE joined AS SELECT COUNT(*), SUM(f.id) FROM facts f JOIN many m ON m.k = f.k OPTION (MAXDOP 3)",
    );
    let before = client.value("EXEC joined");
    client.quiet("DELETE many WHERE n > 1000");
    assert_ne!(client.value("EXEC joined"), before);
    let serial = "SELECT COUNT(*), SUM(f.id) FROM facts f JOIN many m ON m.k = f.k OPTION (MAXDOP 1)";
    assert_eq!(client.value("EXEC joined"), client.value(serial));
}

/// Queries that give the rows of a join, or make something of them that workers cannot share.
const ROWS: &[&str] = &[
    "SELECT f.id, m.n, m.name FROM facts f JOIN many m ON m.k = f.k AND m.n > 2900",
    "SELECT f.id, f.mark, m.n FROM facts f LEFT JOIN many m ON m.k = f.k AND m.k2 = f.k2 AND m.worth > 1490",
    "SELECT f.id, d.amount, l.label FROM facts f JOIN details d ON d.k = f.id LEFT JOIN few l ON l.grp = d.line",
    "SELECT f.id FROM facts f WHERE EXISTS (SELECT * FROM many m WHERE m.k = f.k AND m.n > 2990)",
    "SELECT f.id, m.n FROM facts f JOIN many m ON m.k = f.k AND m.n > 2900 ORDER BY m.n DESC, f.id",
    "SELECT DISTINCT m.name, f.mark FROM facts f JOIN many m ON m.k = f.k ORDER BY m.name, f.mark",
    "SELECT m.name, STRING_AGG(CAST(f.id AS varchar(max)), ',') FROM facts f JOIN many m ON m.k = f.k AND m.n > 2980 GROUP BY m.name",
    "SELECT f.id, SUM(f.price) OVER (PARTITION BY m.name ORDER BY f.id, m.n) FROM facts f JOIN many m ON m.k = f.k AND m.n > 2950",
    "SELECT f.id, (SELECT COUNT(*) FROM details d WHERE d.k = m.n % 50) FROM facts f JOIN many m ON m.k = f.k AND m.n > 2950",
    "SELECT f.id FROM facts f JOIN many m ON m.k = f.k AND m.n > 2990 UNION ALL SELECT f.id FROM facts f JOIN keyed k ON k.k = f.id",
    "SELECT TOP (5000) f.id, m.n FROM facts f JOIN many m ON m.k = f.k AND m.n > 2700",
    "SELECT f.id FROM facts f JOIN none n ON n.k = f.k",
    "SELECT f.id, m.n, f.mark FROM facts f JOIN many m ON m.name = REPLACE(f.mark, 'mark', 'Name') AND m.n > 2900",
    "SELECT f.id, f.id * @two FROM facts f JOIN many m ON m.k = f.k AND m.n > @low",
];

#[test]
fn rows_of_joins_by_workers_come_in_the_same_order() {
    let mut client = roomy();
    with_joined_tables(&mut client);
    for query in ROWS {
        let run = |client: &mut Client, degree: usize| {
            client
                .lines(&format!("DECLARE @two int = 2, @low int = 2950; {query} OPTION (FORCE ORDER, MAXDOP {degree})"))
        };
        let serial = run(&mut client, 1);
        let before = waits_of(&client, "CXCONSUMER");
        assert_eq!(run(&mut client, 3), serial, "{query}");
        assert!(waits_of(&client, "CXCONSUMER") > before, "{query}");
    }
    let inserted = "SELECT f.id, m.n INTO #joined FROM facts f JOIN many m ON m.k = f.k AND m.n > 2900 OPTION (FORCE ORDER, MAXDOP 3)
        SELECT COUNT(*), SUM(id * 1000 + n) FROM #joined DROP TABLE #joined";
    let serial = client.lines(&inserted.replace("MAXDOP 3", "MAXDOP 1"));
    assert_eq!(client.lines(inserted), serial);
}

#[test]
fn rows_of_a_join_are_made_one_by_one_where_few_are_wanted_or_it_runs_again() {
    let mut client = roomy();
    with_joined_tables(&mut client);
    let join = "facts f JOIN many m ON m.k = f.k";
    for query in [
        format!("SELECT TOP (5) f.id, m.n FROM {join}"),
        format!("SELECT l.label FROM few l WHERE EXISTS (SELECT * FROM {join} WHERE m.n > l.grp + 2000)"),
        format!("SELECT l.label, j.id FROM few l CROSS APPLY (SELECT TOP (1) f.id FROM {join} WHERE m.n > l.grp) j"),
    ] {
        let run = |client: &mut Client, degree: usize| {
            client.lines(&format!("{query} OPTION (FORCE ORDER, MAXDOP {degree})"))
        };
        let serial = run(&mut client, 1);
        let before = waits_of(&client, "CXCONSUMER");
        assert_eq!(run(&mut client, 3), serial, "{query}");
        assert_eq!(waits_of(&client, "CXCONSUMER"), before, "{query}");
    }
}

#[test]
fn an_error_of_a_join_by_workers_is_that_of_the_first_row() {
    let mut client = roomy();
    with_joined_tables(&mut client);
    for query in [
        "SELECT f.id FROM facts f JOIN many m ON m.k = f.k WHERE 100 / (f.id - 2000) < 5",
        "SELECT f.id FROM facts f JOIN many m ON m.k = f.k AND m.n > 2900 AND CAST(f.id - 3000 AS tinyint) < 255",
    ] {
        let run = |client: &mut Client, degree: usize| {
            client.lines(&format!("{query} OPTION (FORCE ORDER, MAXDOP {degree})")).pop()
        };
        assert!(run(&mut client, 1).is_some_and(|line| line.starts_with("Msg")), "{query}");
        assert_eq!(run(&mut client, 3), run(&mut client, 1), "{query}");
        assert_eq!(client.value("SELECT COUNT(*) FROM facts"), "4000", "the session goes on");
    }
}
