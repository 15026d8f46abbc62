//! Queries that run in batches give what those that run row by row give.

use super::Client;

#[test]
fn expressions_agree_with_the_scalar_ones() {
    let numbers = ["-2147483648", "-7", "-1", "0", "1", "3", "NULL", "255", "40000", "2147483647"];
    let mut client = Client::alone();
    client.quiet("CREATE TABLE t (place int PRIMARY KEY, n int)");
    for (place, number) in numbers.iter().enumerate() {
        client.quiet(&format!("INSERT t VALUES ({place}, {number})"));
    }
    let list: Vec<String> = numbers.iter().map(|number| format!("(CAST({number} AS int))")).collect();
    let list = format!("(VALUES {}) AS v(n) CROSS JOIN (VALUES (0)) AS one(k)", list.join(", "));
    let expressions = [
        "n + CAST(1 AS bigint)",
        "n + 1",
        "1 - n",
        "n * 2",
        "n * CAST(n AS bigint)",
        "n / 3",
        "n / -3",
        "n % 3",
        "n % -3",
        "10 / n",
        "n & 6",
        "n | 6",
        "n ^ 6",
        "~n",
        "-n",
        "-CAST(n AS bigint)",
        "CAST(n AS smallint)",
        "CAST(n AS tinyint)",
        "CAST(n AS bit)",
        "CAST(n AS varchar(20))",
        "n + 0.5",
        "CASE WHEN n > 0 THEN n END",
        "ISNULL(n, 5)",
        "DATEADD(second, n, CAST('2020-02-28T12:00:00' AS datetime))",
        "DATEADD(day, n % 1000, CAST('2020-02-28T12:00:00' AS datetime))",
        "DATEADD(day, n, CAST('2020-02-28' AS datetime))",
        "DATEADD(minute, n, CAST('2020-02-28' AS datetime2))",
        "DATEADD(month, n % 100, CAST('2020-02-28' AS datetime))",
        "@v + n",
        "(n + 5) * (n - 5) / 4 + @v",
    ];
    let filters = [
        "1 = 1",
        "n > 0",
        "0 < n AND n < 1000",
        "n = NULL",
        "n IS NULL",
        "n <> 0 AND 10 / n > 2",
        "n IN (3, NULL)",
        "n BETWEEN -1 AND 3 OR n = 255",
    ];
    for expression in expressions {
        for filter in filters {
            let variable = "DECLARE @v bigint = 7 ";
            let rows = client.lines(&format!("{variable} SELECT {expression} FROM t WHERE {filter} ORDER BY place"));
            let batches = client.lines(&format!("{variable} SELECT {expression} FROM {list} WHERE {filter}"));
            assert_eq!(without_place(&batches), without_place(&rows), "{expression} where {filter}");
        }
    }
}

/// Rows before an error may have been sent already, or not.
fn without_place(lines: &[String]) -> Vec<String> {
    match lines.iter().find(|line| line.starts_with("Msg")) {
        Some(error) => vec![error.clone()],
        None => lines.to_vec(),
    }
}

#[test]
fn lists_multiply_like_nested_loops() {
    let mut client = Client::alone();
    let query = "SELECT a.x, b.y, c.z FROM (VALUES (1), (2)) AS a(x)
        CROSS JOIN (VALUES ('p'), (NULL), ('q')) AS b(y) CROSS JOIN (SELECT 5 AS z UNION ALL SELECT 6) AS c";
    let mut expected = Vec::new();
    for x in [1, 2] {
        for y in ["p", "NULL", "q"] {
            expected.extend([5, 6].map(|z| format!("{x}|{y}|{z}")));
        }
    }
    assert_eq!(client.shown(query), expected);
    // More rows than a batch, of which only the count is wanted.
    let digits = "(VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)) AS";
    let many = format!(
        "{digits} a(n) CROSS JOIN {digits} b(n) CROSS JOIN {digits} c(n) CROSS JOIN {digits} d(n) CROSS JOIN {digits} e(n)"
    );
    assert_eq!(client.value(&format!("SELECT COUNT(*) FROM {many}")), "100000");
    let sums = format!(
        "SELECT SUM(a.n), SUM(c.n * e.n), MAX(a.n * 10000 + b.n * 1000 + c.n * 100 + d.n * 10 + e.n) FROM {many}"
    );
    assert_eq!(client.value(&sums), "450000|2025000|99999");
    let none = "SELECT 1 FROM (VALUES (1)) AS a(x) CROSS JOIN GENERATE_SERIES(2, 1, 1) AS b";
    assert_eq!(client.lines(none), ["(0 rows)"]);
}

#[test]
fn series_have_bounds_and_a_step() {
    let mut client = Client::alone();
    let cases: &[(&str, &[&str])] = &[
        ("GENERATE_SERIES(1, 4)", &["1", "2", "3", "4"]),
        ("GENERATE_SERIES(4, 1)", &["4", "3", "2", "1"]),
        ("GENERATE_SERIES(1, 10, 4)", &["1", "5", "9"]),
        ("GENERATE_SERIES(10, 1, -4)", &["10", "6", "2"]),
        ("GENERATE_SERIES(1, 10, -4)", &[]),
        ("GENERATE_SERIES(1, NULL)", &[]),
        ("GENERATE_SERIES(3, 3)", &["3"]),
        (
            "GENERATE_SERIES(CAST(9223372036854775806 AS bigint), CAST(9223372036854775807 AS bigint))",
            &["9223372036854775806", "9223372036854775807"],
        ),
        ("GENERATE_SERIES(CAST(254 AS tinyint), CAST(255 AS tinyint))", &["254", "255"]),
    ];
    for (series, expected) in cases {
        assert_eq!(&client.shown(&format!("SELECT value FROM {series}")), expected, "{series}");
    }
    let errors = [
        ("SELECT * FROM GENERATE_SERIES(1, 2, 0)", "Msg 4199"),
        ("SELECT * FROM GENERATE_SERIES(1, CAST(2 AS bigint))", "Msg 5373"),
        ("SELECT * FROM GENERATE_SERIES(1)", "Msg 313"),
        ("SELECT * FROM GENERATE_SERIES(1, 2, 3, 4)", "Msg 8144"),
    ];
    for (query, error) in errors {
        let lines = client.shown(query);
        assert!(lines.len() == 1 && lines[0].starts_with(error), "{query}: {lines:?}");
    }
    assert_eq!(
        client.shown(
            "SELECT a.n, b.value FROM (VALUES (2), (3)) AS a(n) JOIN GENERATE_SERIES(1, 3) AS b ON b.value < a.n"
        ),
        ["2|1", "3|1", "3|2"]
    );
}

#[test]
fn rows_are_numbered() {
    let mut client = Client::alone();
    client.quiet(
        "CREATE TABLE t (id int PRIMARY KEY, g varchar(5), v int)
         INSERT t VALUES (1, 'a', 10), (2, 'b', 20), (3, 'A', 10), (4, NULL, 5), (5, 'b', 5)",
    );
    let cases: &[(&str, &[&str])] = &[
        ("SELECT id, ROW_NUMBER() OVER (ORDER BY id DESC) FROM t ORDER BY id", &["1|5", "2|4", "3|3", "4|2", "5|1"]),
        (
            "SELECT id, ROW_NUMBER() OVER (PARTITION BY g ORDER BY id) FROM t ORDER BY id",
            &["1|1", "2|1", "3|2", "4|1", "5|2"],
        ),
        (
            "SELECT v, RANK() OVER (ORDER BY v), DENSE_RANK() OVER (ORDER BY v) FROM t ORDER BY v",
            &["5|1|1", "5|1|1", "10|3|2", "10|3|2", "20|5|3"],
        ),
        ("SELECT g, COUNT(*), RANK() OVER (ORDER BY COUNT(*) DESC) FROM t GROUP BY g ORDER BY g", &["NULL|1|3", "a|2|1", "b|2|1"]),
        ("SELECT id FROM t ORDER BY ROW_NUMBER() OVER (ORDER BY v, id)", &["4", "5", "1", "3", "2"]),
        ("SELECT n FROM (SELECT ROW_NUMBER() OVER (ORDER BY (SELECT NULL)) AS n FROM t) AS d WHERE n > 3", &["4", "5"]),
        (
            "WITH e AS (SELECT ROW_NUMBER() OVER (ORDER BY a.n) AS r FROM (VALUES (3), (1)) a(n) CROSS JOIN (VALUES (7), (8)) b(n))
             SELECT r, r * 2 FROM e ORDER BY r DESC",
            &["4|8", "3|6", "2|4", "1|2"],
        ),
        (
            "WITH digits AS (SELECT n FROM (VALUES (0), (1), (2), (3), (4), (5), (6), (7)) AS v(n)),
                  numbers AS (SELECT ROW_NUMBER() OVER (ORDER BY (SELECT NULL)) AS n
                              FROM digits a CROSS JOIN digits b CROSS JOIN digits c CROSS JOIN digits d CROSS JOIN digits e)
             SELECT COUNT(*), MIN(n), MAX(n), SUM(n) FROM (SELECT TOP (10000) n FROM numbers) AS t LEFT JOIN (VALUES (1)) AS x(k) ON 1 = 0",
            &["10000|1|10000|50005000"],
        ),
    ];
    for (query, expected) in cases {
        assert_eq!(&client.shown(query), expected, "{query}");
    }
    let errors = [
        ("SELECT 1 FROM t WHERE ROW_NUMBER() OVER (ORDER BY id) = 1", "Msg 4108"),
        ("SELECT ROW_NUMBER() OVER (PARTITION BY id) FROM t", "Msg 4112"),
        ("SELECT ROW_NUMBER() OVER (ORDER BY 1) FROM t", "Msg 5308"),
        ("SELECT ROW_NUMBER() OVER (ORDER BY 'a') FROM t", "Msg 5309"),
        ("SELECT ROW_NUMBER() OVER (ORDER BY RANK() OVER (ORDER BY id)) FROM t", "Msg 4109"),
        ("SELECT ROW_NUMBER() OVER (ORDER BY id ROWS UNBOUNDED PRECEDING) FROM t", "Msg 10752"),
    ];
    for (query, error) in errors {
        let lines = client.shown(query);
        assert!(lines.len() == 1 && lines[0].starts_with(error), "{query}: {lines:?}");
    }
}

#[test]
fn joins_with_short_lists() {
    let mut client = Client::alone();
    let series = "GENERATE_SERIES(1, 6) AS s";
    let cases: &[(&str, &[&str])] = &[
        ("SELECT value, k FROM {s} LEFT JOIN (VALUES (1)) AS x(k) ON 1 = 0 WHERE value < 3", &["1|NULL", "2|NULL"]),
        ("SELECT value, k FROM {s} JOIN (VALUES (1)) AS x(k) ON 1 = 0", &[]),
        (
            "SELECT value, w FROM {s} JOIN (VALUES (2, 'two'), (5, 'five'), (2, 'again')) AS x(k, w) ON k = value",
            &["2|two", "2|again", "5|five"],
        ),
        (
            "SELECT value, w FROM {s} LEFT JOIN (VALUES (2, 'two'), (5, 'five'), (2, 'again')) AS x(k, w) ON k = value",
            &["1|NULL", "2|two", "2|again", "3|NULL", "4|NULL", "5|five", "6|NULL"],
        ),
        (
            "SELECT value, k FROM {s} LEFT JOIN (VALUES (1), (NULL)) AS x(k) ON k < value WHERE value < 3",
            &["1|NULL", "2|1"],
        ),
    ];
    for (query, expected) in cases {
        let query = query.replace("{s}", series);
        assert_eq!(&client.shown(&query), expected, "{query}");
    }
    let long = "SELECT COUNT(*), COUNT(k), SUM(k) FROM GENERATE_SERIES(1, 10000) AS s LEFT JOIN (VALUES (1), (2), (3)) AS x(k) ON value % 7 = k";
    assert_eq!(client.shown(long)[0], "10000|4287|8574");
}

#[test]
fn batches_feed_statements_that_change_rows() {
    let mut client = Client::alone();
    client.quiet("CREATE TABLE h (id bigint, v int, d datetime)");
    let insert = "INSERT h SELECT value, value % 10, DATEADD(second, value, CAST('2020-01-01' AS datetime)) FROM GENERATE_SERIES(1, 9000)";
    assert_eq!(client.lines(insert), ["(9000 rows)"]);
    assert_eq!(
        client.value("SELECT COUNT(*), SUM(id), SUM(v), MAX(d) FROM h"),
        "9000|40504500|40500|2020-01-01 02:30:00.000"
    );
    // A correlated series inside a subquery starts over for each row.
    let counts = "SELECT v, (SELECT COUNT(*) FROM GENERATE_SERIES(1, v) AS s WHERE v > 0) FROM h WHERE id < 4";
    assert_eq!(client.shown(counts), ["1|1", "2|2", "3|3"]);
}

#[test]
fn aggregates_over_batches_agree_with_those_over_rows() {
    let values = ["NULL", "5", "-2147483648", "2147483647", "0", "NULL", "7"];
    let types = ["int", "bigint", "money", "decimal(12, 2)", "float", "varchar(20)", "datetime"];
    let aggregates = [
        "COUNT(v)",
        "COUNT_BIG(v)",
        "MIN(v)",
        "MAX(v)",
        "SUM(v)",
        "AVG(v)",
        "SUM(DISTINCT v)",
        "COUNT(DISTINCT v)",
        "COUNT(*)",
    ];
    let mut client = Client::alone();
    client.quiet("CREATE TABLE t (place int PRIMARY KEY, v int)");
    for (place, value) in values.iter().enumerate() {
        client.quiet(&format!("INSERT t VALUES ({place}, {value})"));
    }
    let list: Vec<String> = values.iter().map(|value| format!("(CAST({value} AS int))")).collect();
    let list = format!("(VALUES {}) AS l(v) CROSS JOIN (VALUES (0)) AS one(k)", list.join(", "));
    for ty in types {
        // Dates from a small part of the integers.
        let cast = if ty == "datetime" { "CAST(v % 1000 AS datetime)".to_string() } else { format!("CAST(v AS {ty})") };
        for filter in ["1 = 1", "v > 0", "v IS NULL", "1 = 0"] {
            for aggregate in aggregates {
                let query = |source: &str| {
                    format!("SELECT {aggregate}, COUNT(*) FROM (SELECT {cast} AS v FROM {source} WHERE {filter}) AS d")
                };
                assert_eq!(
                    client.lines(&query(&list)),
                    client.lines(&query("t")),
                    "{aggregate} of {ty} where {filter}"
                );
            }
        }
    }
    // A sum is judged when it is whole.
    let sums = "SELECT SUM(v) FROM (VALUES (2147483647), (1), (-2)) AS l(v) CROSS JOIN (VALUES (0)) AS one(k)";
    assert_eq!(client.value(sums), "2147483646");
    let over = "SELECT SUM(value) FROM GENERATE_SERIES(2147483646, 2147483647)";
    assert!(client.value(over).starts_with("Msg 8115"));
    assert_eq!(
        client.value("SELECT AVG(value) FROM GENERATE_SERIES(CAST(9223372036854775805 AS bigint), CAST(9223372036854775807 AS bigint))"),
        "9223372036854775806"
    );
}
