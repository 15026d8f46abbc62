//! Queries.

use super::Client;

fn with_rows() -> Client {
    let mut client = Client::alone();
    client.quiet(
        "CREATE TABLE t (id int PRIMARY KEY, g varchar(5), v int)
         INSERT t VALUES (1, 'a', 10), (2, 'b', 20), (3, 'A', 30), (4, NULL, NULL), (5, 'b', 5)
         CREATE TABLE u (id int PRIMARY KEY, name varchar(10))
         INSERT u VALUES (1, 'one'), (3, 'three'), (9, 'nine')",
    );
    client
}

#[test]
fn select_lists_and_conditions() {
    let mut client = with_rows();
    let cases: &[(&str, &[&str])] = &[
        ("SELECT id, v AS x, y = v + 1 FROM t WHERE v >= 20", &["2|20|21", "3|30|31"]),
        ("SELECT TOP (2) t.id FROM dbo.t ORDER BY id DESC", &["5", "4"]),
        ("SELECT id FROM t WHERE g = 'a' ORDER BY 1", &["1", "3"]),
        ("SELECT id FROM t WHERE g IS NULL OR v BETWEEN 1 AND 9", &["4", "5"]),
        ("SELECT id FROM t WHERE id IN (1, 5, 7) AND g NOT LIKE 'b%'", &["1"]),
        ("SELECT id FROM t WHERE NOT (v > 10)", &["1", "5"]),
        ("SELECT id FROM t WHERE v NOT IN (10, NULL)", &[]),
        (
            "SELECT CASE WHEN v > 15 THEN 'big' WHEN v IS NULL THEN 'none' ELSE 'small' END FROM t",
            &["small", "big", "big", "none", "small"],
        ),
        ("SELECT CASE g WHEN 'a' THEN 1 ELSE 2.5 END FROM t WHERE id < 3", &["1.0", "2.5"]),
        ("SELECT DISTINCT UPPER(g) AS g FROM t ORDER BY g", &["NULL", "A", "B"]),
        ("SELECT id FROM t ORDER BY v DESC, id", &["3", "2", "1", "5", "4"]),
        ("SELECT id FROM t ORDER BY id OFFSET 1 ROWS FETCH NEXT 2 ROWS ONLY", &["2", "3"]),
        (
            "SELECT 20000000000 + id, id * 10000000000 % 7, (id + 99999999999) / 2 FROM t WHERE id = 2",
            &["20000000002|1|50000000000.500000"],
        ),
        ("SELECT 7 / 2, -7 / 2, 7 % 3, 7 / 2.0, 'a' + 'b', 1 + '2'", &["3|-3|1|3.500000|ab|3"]),
        (
            "SELECT ISNULL(g, 'zz'), COALESCE(NULL, v, 0), NULLIF(id, 4), IIF(v > 10, 1, 0) FROM t WHERE id > 3",
            &["zz|0|NULL|0", "b|5|5|0"],
        ),
        (
            "DECLARE @a int, @s varchar(50) = '' SELECT @a = v, @s = @s + g FROM t WHERE id < 4 SELECT @a, @s, @@ROWCOUNT",
            &["30|abA|3"],
        ),
        ("SELECT n, square FROM sys.numbers WHERE n > 1", &["2|4", "3|9"]),
        ("SELECT n FROM sys.first_numbers(2)", &["1", "2"]),
        (
            "SELECT a.square, f.n FROM sys.numbers a CROSS APPLY sys.first_numbers(a.n - 1) f ORDER BY a.n, f.n",
            &["4|1", "9|1", "9|2"],
        ),
        (
            "SELECT a.n, f.n FROM sys.numbers a OUTER APPLY sys.first_numbers(a.n - 2) AS f ORDER BY a.n",
            &["1|NULL", "2|NULL", "3|1"],
        ),
        ("SELECT a.n, f.n FROM sys.numbers a CROSS APPLY sys.first_numbers(1) f WHERE a.n > 2", &["3|1"]),
        ("SELECT id, (SELECT SUM(n) FROM sys.first_numbers(t.id)) FROM t WHERE id < 4", &["1|1", "2|3", "3|6"]),
        ("SELECT id FROM t WHERE EXISTS (SELECT 1 FROM sys.first_numbers(t.id - 3)) ORDER BY id", &["4", "5"]),
        ("SELECT DB_NAME()", &["master"]),
    ];
    for (query, expected) in cases {
        assert_eq!(&client.shown(query), expected, "{query}");
    }
}

#[test]
fn key_ranges_find_what_a_scan_finds() {
    let mut client = Client::alone();
    client.quiet(
        "CREATE TABLE k (a int, b smallint, c varchar(5), PRIMARY KEY (a, b DESC))
         DECLARE @i int = 0
         WHILE @i < 60 BEGIN INSERT k VALUES (@i / 10, @i % 10, 'x') SET @i += 1 END",
    );
    let conditions = [
        "a = 3",
        "a = 3 AND b = 4",
        "a = 3 AND b > 4",
        "a = 3 AND b <= 4",
        "a > 4",
        "a >= 2 AND a < 4",
        "a = 99999999999",
        "a < 99999999999",
        "a > -99999999999",
        "a = NULL",
        "b = 4",
        "a = 3 AND b = 40000",
        "3 = a AND 7 < b",
        "a = '3'",
        "a > 1 AND b = 2 AND c = 'X'",
        "a = 2.0",
        "a BETWEEN 1 AND 2 AND b BETWEEN 3 AND 4",
    ];
    for condition in conditions {
        let seek = client.value(&format!("SELECT CONCAT(COUNT(*), ' ', SUM(a * 10 + b)) FROM k WHERE {condition}"));
        let scan = client.value(&format!(
            "SELECT CONCAT(COUNT(*), ' ', SUM(a * 10 + b)) FROM k WHERE CASE WHEN {condition} THEN 1 ELSE 0 END = 1"
        ));
        assert_eq!(seek, scan, "{condition}");
    }
    assert_eq!(client.shown("SELECT TOP 3 b FROM k WHERE a = 5 ORDER BY b"), ["0", "1", "2"]);
    assert_eq!(client.shown("SELECT TOP 3 b FROM k WHERE a = 5 ORDER BY b DESC"), ["9", "8", "7"]);
    assert_eq!(client.shown("SELECT TOP 2 a, b FROM k ORDER BY a DESC, b"), ["5|0", "5|1"]);
    assert_eq!(client.shown("SELECT TOP 2 a, b FROM k ORDER BY a DESC, b DESC"), ["5|9", "5|8"]);
}

#[test]
fn groups_and_aggregates() {
    let mut client = with_rows();
    let cases: &[(&str, &[&str])] = &[
        ("SELECT COUNT(*), COUNT(v), SUM(v), AVG(v), MIN(v), MAX(g) FROM t", &["5|4|65|16|5|b"]),
        ("SELECT COUNT(*) FROM t WHERE id > 100", &["0"]),
        ("SELECT SUM(v) FROM t WHERE id > 100", &["NULL"]),
        ("SELECT g, COUNT(*) AS n FROM t WHERE v > 0 GROUP BY g HAVING COUNT(*) > 1 ORDER BY n, g", &["a|2", "b|2"]),
        ("SELECT id % 2, SUM(v) + 1 FROM t GROUP BY id % 2 ORDER BY id % 2", &["0|21", "1|46"]),
        ("SELECT COUNT(DISTINCT g) FROM t", &["2"]),
        ("SELECT AVG(v * 1.0) FROM t WHERE id < 3", &["15.000000"]),
        ("SELECT 1 FROM t HAVING COUNT(*) > 4", &["1"]),
    ];
    for (query, expected) in cases {
        let mut shown = client.shown(query);
        shown.retain(|line| !line.starts_with("Warning: Null value"));
        assert_eq!(&shown, expected, "{query}");
    }
    assert!(
        client
            .shown("SELECT SUM(v) FROM t")
            .contains(&"Warning: Null value is eliminated by an aggregate or other SET operation.".to_owned())
    );
    client.quiet("INSERT t VALUES (6, 'z', 2147483647)");
    let errors = [
        ("SELECT SUM(v) FROM t", "Msg 8115"),
        ("SELECT g, v FROM t GROUP BY g", "Msg 8120"),
        ("SELECT id FROM t WHERE COUNT(*) > 1", "Msg 147"),
        ("SELECT COUNT(*) FROM t HAVING v > 1", "Msg 8121"),
        ("SELECT COUNT(*) FROM t ORDER BY v", "Msg 8127"),
        ("SELECT SUM(COUNT(*)) FROM t", "Msg 130"),
        ("SELECT nope FROM t", "Msg 207"),
        ("SELECT x.id FROM t", "Msg 4104"),
        ("SELECT x.* FROM t", "Msg 107"),
        ("SELECT id FROM t ORDER BY 2", "Msg 108"),
        ("SELECT id FROM t, u", "Msg 209"),
        ("SELECT nope(1)", "Msg 195"),
        ("SELECT LEN()", "Msg 174"),
        ("SELECT TOP (-1) id FROM t", "Msg 127"),
        ("SELECT (SELECT id FROM t)", "Msg 512"),
        ("SELECT *", "Msg 263"),
        ("SELECT TOP 101 PERCENT id FROM t", "Msg 1031"),
        ("SELECT id FROM t FULL JOIN u ON t.id = u.id", "Msg 209"),
    ];
    for (query, expected) in errors {
        let lines = client.lines(query);
        assert!(lines.iter().any(|line| line.starts_with(expected)), "{query}: {lines:?}");
    }
}

#[test]
fn joins_and_subqueries() {
    let mut client = with_rows();
    let cases: &[(&str, &[&str])] = &[
        ("SELECT t.id, u.name FROM t JOIN u ON u.id = t.id", &["1|one", "3|three"]),
        (
            "SELECT t.id, u.name FROM t LEFT JOIN u ON u.id = t.id AND u.name <> 'one' WHERE t.id < 4",
            &["1|NULL", "2|NULL", "3|three"],
        ),
        ("SELECT u.id FROM t RIGHT JOIN u ON u.id = t.id WHERE t.id IS NULL", &["9"]),
        ("SELECT COUNT(*) FROM t, u", &["15"]),
        ("SELECT a.id, b.id FROM t a CROSS JOIN u b WHERE a.id = b.id + 1", &["2|1", "4|3"]),
        ("SELECT id FROM t WHERE EXISTS (SELECT * FROM u WHERE u.id = t.id)", &["1", "3"]),
        ("SELECT id FROM t WHERE id NOT IN (SELECT id FROM u) AND v > 1", &["2", "5"]),
        ("SELECT id FROM u WHERE id NOT IN (SELECT v FROM t)", &[]),
        (
            "SELECT id FROM u WHERE id NOT IN (SELECT v FROM t WHERE v IS NOT NULL) AND id IN (SELECT 1 UNION ALL SELECT NULL)",
            &["1"],
        ),
        ("SELECT id FROM u WHERE id IN (SELECT u.id FROM t WHERE t.id = u.id)", &["1", "3"]),
        ("SELECT id, (SELECT name FROM u WHERE u.id = t.id) FROM t WHERE id < 3", &["1|one", "2|NULL"]),
        ("SELECT (SELECT MAX(v) FROM t) - v FROM t WHERE id = 1", &["20"]),
        ("SELECT d.s FROM (SELECT g, SUM(v) AS s FROM t GROUP BY g) d WHERE d.g = 'b'", &["25"]),
        ("SELECT x, y FROM (VALUES (1, 'a'), (2, 'b')) AS v (x, y) WHERE x > 1", &["2|b"]),
        (
            "WITH c AS (SELECT id FROM t WHERE v > 5), d AS (SELECT id FROM c WHERE id > 1) SELECT COUNT(*) FROM d",
            &["2"],
        ),
        ("SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 1 ORDER BY 1", &["1", "1", "2"]),
        ("SELECT id FROM u UNION SELECT id FROM t WHERE id < 3 ORDER BY id DESC", &["9", "3", "2", "1"]),
        (
            "SELECT t.id, x.n FROM t CROSS APPLY (SELECT TOP 1 name AS n FROM u WHERE u.id >= t.id ORDER BY u.id) x WHERE t.id > 2",
            &["3|three", "4|nine", "5|nine"],
        ),
        ("IF EXISTS (SELECT * FROM t WHERE id = 3) PRINT 'yes' ELSE PRINT 'no'", &["yes"]),
        (
            "DECLARE @n int = (SELECT COUNT(*) FROM t) WHILE @n > (SELECT MIN(v) - 3 FROM t WHERE v IS NOT NULL) SET @n -= 1 SELECT @n",
            &["2"],
        ),
    ];
    for (query, expected) in cases {
        let mut shown = client.shown(query);
        shown.retain(|line| !line.starts_with("Warning: Null value"));
        assert_eq!(&shown, expected, "{query}");
    }
}

#[test]
fn views_and_secondary_indexes() {
    let mut client = with_rows();
    client.quiet("CREATE VIEW big (id, twice) AS SELECT id, v * 2 FROM t WHERE v > 9");
    assert_eq!(client.shown("SELECT twice FROM big WHERE id > 1 ORDER BY twice DESC"), ["60", "40"]);
    client.quiet("CREATE PROCEDURE p AS SELECT twice FROM big WHERE id = 2");
    assert_eq!(client.value("EXEC p"), "40");
    client.quiet("ALTER VIEW big (id, twice) AS SELECT id, v * -2 FROM t");
    assert_eq!(client.value("EXEC p"), "-40");
    client.quiet("CREATE INDEX ix ON t (g)");
    assert_eq!(client.shown("SELECT id FROM t WHERE g = 'B' ORDER BY id"), ["2", "5"]);
    client.quiet("UPDATE t SET g = 'q' WHERE id = 2 DELETE t WHERE id = 5");
    assert_eq!(client.shown("SELECT id FROM t WHERE g = 'B'"), [""; 0]);
    assert_eq!(client.shown("SELECT id FROM t WHERE g = 'q'"), ["2"]);
}

#[test]
fn many_tables_join() {
    let mut client = with_rows();
    let joins: String = (1..100).map(|n| format!(" JOIN t t{n} ON t{n}.id = t{}.id", n - 1)).collect();
    assert_eq!(client.value(&format!("SELECT COUNT(*) FROM t t0{joins}")), "5");
    let many: String = (0..300).map(|n| format!(", t x{n}")).collect();
    assert!(client.lines(&format!("SELECT 1 FROM t{many}"))[0].starts_with("Msg 106"));
}

#[test]
fn a_subquery_in_a_branch_not_taken_does_not_run() {
    let mut client = Client::alone();
    client.quiet("CREATE TABLE t (id int PRIMARY KEY) INSERT t VALUES (0), (1), (2)");
    let cases = [
        ("SELECT CASE WHEN 1 = 1 THEN 1 ELSE (SELECT 1 / 0) END", vec!["1"]),
        ("SELECT IIF(1 = 2, (SELECT 1 / 0), 3)", vec!["3"]),
        ("SELECT COALESCE(NULL, 4, (SELECT 1 / 0))", vec!["4"]),
        ("SELECT CASE id WHEN 0 THEN -1 ELSE (SELECT 10 / id) END FROM t", vec!["-1", "10", "5"]),
        (
            "SELECT CASE WHEN id = 0 THEN -1 WHEN (SELECT 10 / id) > 5 THEN 1 ELSE (SELECT 4 / id) END FROM t",
            vec!["-1", "1", "2"],
        ),
        (
            "SELECT CASE WHEN id > 0 THEN CASE WHEN id > 1 THEN (SELECT 1 / (id - 1)) END ELSE 7 END FROM t",
            vec!["7", "NULL", "1"],
        ),
        ("SELECT id FROM t WHERE CASE WHEN id = 0 THEN 0 ELSE (SELECT 2 / id) END = 2", vec!["1"]),
        ("SELECT COALESCE(NULLIF(id, 0), (SELECT COUNT(*) FROM t)) FROM t", vec!["3", "1", "2"]),
        ("SELECT COUNT(*), CASE WHEN COUNT(*) > 2 THEN 'many' ELSE (SELECT 'x' FROM t) END FROM t", vec!["3|many"]),
        ("DECLARE @v int = CASE WHEN 1 = 0 THEN (SELECT id FROM t) ELSE 8 END PRINT @v", vec!["8"]),
        ("IF CASE WHEN 1 = 1 THEN 1 ELSE (SELECT id FROM t) END = 1 PRINT 'yes'", vec!["yes"]),
    ];
    for (query, expected) in cases {
        assert_eq!(client.shown(query), expected, "{query}");
    }
    // One that is taken runs, for every row that takes it.
    assert!(client.lines("SELECT CASE WHEN id > 0 THEN 1 ELSE (SELECT 1 / id) END FROM t")[0].contains("8134"));
    assert!(
        client.lines("SELECT CASE id WHEN 1 THEN (SELECT id FROM t) ELSE 0 END FROM t").join("").contains("Msg 512")
    );
}

#[test]
fn long_lists_find_what_short_ones_find() {
    let mut client = Client::alone();
    client.quiet(
        "CREATE TABLE listed (id int NOT NULL PRIMARY KEY, s varchar(20), n nvarchar(20) COLLATE Latin1_General_BIN2, d decimal(9, 3), f float, t datetime2(3), b varbinary(8));
         INSERT listed SELECT value, NULLIF(CONCAT(CHAR(65 + value % 26), REPLICATE(' ', value % 3)), 'E'), CHAR(97 + value % 26), NULLIF(value * 0.125, 2),
            value * 0.5 - 3, DATEADD(millisecond, value, '2020-01-01'), CAST(value AS varbinary(8)) FROM GENERATE_SERIES(1, 60)",
    );
    let lists: [(&str, &[&str]); 6] = [
        ("s", &["'a'", "'C '", "'e'", "'x  '", "'Z'", "'A'", "'no'", "''", "'q'", "'R'", "'ä'"]),
        ("n", &["N'a'", "N'B'", "N'c'", "N'd '", "N'z'", "N'y'", "N'X'", "N''", "N'k'", "N'l'", "N'm'"]),
        ("d", &["0.5", "0.125", "1.00", "2", "7.5", "3.75", "-1", "0", "1.875", "99.9999", "4.25"]),
        ("f", &["-2.5", "0e0", "-0e0", "1", "2.5", "7", "8.5", "1e9", "3", "4", "5.5"]),
        (
            "t",
            &[
                "'2020-01-01 00:00:00.007'",
                "'2020-01-01'",
                "'20200101 00:00:00.05'",
                "'2021-01-01'",
                "'2022-01-01'",
                "'2023-01-01'",
                "'2024-01-01'",
                "'2025-01-01'",
                "'2026-01-01'",
                "'2027-01-01'",
                "'2028-01-01'",
            ],
        ),
        (
            "b",
            &[
                "0x05",
                "0x00000005",
                "0x00",
                "0x",
                "0x000007",
                "0x00000009",
                "0x0000000A",
                "0x1E",
                "0x0000001E",
                "0x31",
                "0x32",
            ],
        ),
    ];
    for (column, items) in lists {
        for null in [None, Some("NULL")] {
            let all: Vec<&str> = items.iter().copied().chain(null).collect();
            let (first, rest) = all.split_at(all.len() / 2);
            let (long, first, rest) = (all.join(", "), first.join(", "), rest.join(", "));
            let mut ids =
                |condition: String| client.shown(&format!("SELECT id FROM listed WHERE {condition} ORDER BY id"));
            let found = ids(format!("{column} IN ({first}) OR {column} IN ({rest})"));
            assert!(!found.is_empty(), "{column}");
            assert_eq!(ids(format!("{column} IN ({long})")), found, "{column}");
            let others = ids(format!("NOT ({column} IN ({first}) OR {column} IN ({rest}))"));
            assert_eq!(others.is_empty(), null.is_some(), "{column}");
            assert_eq!(ids(format!("{column} NOT IN ({long})")), others, "{column}");
        }
    }
}
