//! Set operations, joins, grouping sets, windows, recursion, TOP in all its forms.

use super::Client;
use crate::output::Event;

fn with_rows() -> Client {
    let mut client = Client::alone();
    client.quiet(
        "CREATE TABLE t (id int PRIMARY KEY, g varchar(5) NULL, v int NULL)
         INSERT t VALUES (1, 'a', 10), (2, 'b', 20), (3, 'A', 30), (4, NULL, NULL), (5, 'b', 5)
         CREATE TABLE u (id int NULL, name varchar(10) NULL)
         INSERT u VALUES (1, 'one'), (3, 'three'), (9, 'nine'), (NULL, 'null'), (3, 'drei')
         CREATE TABLE none (id int NULL, v int NULL)",
    );
    client
}

fn check(client: &mut Client, cases: &[(&str, &[&str])]) {
    for (query, expected) in cases {
        assert_eq!(client.shown(query), *expected, "{query}");
    }
}

fn check_errors(client: &mut Client, cases: &[(&str, &str)]) {
    for (query, expected) in cases {
        let lines = client.lines(query);
        let found = lines.iter().find(|line| line.starts_with("Msg")).unwrap_or_else(|| panic!("{query}: {lines:?}"));
        assert!(found.starts_with(expected), "{query}: {lines:?}");
    }
}

#[test]
fn except_and_intersect() {
    let mut client = with_rows();
    check(
        &mut client,
        &[
            ("SELECT id FROM t EXCEPT SELECT id FROM u ORDER BY id", &["2", "4", "5"]),
            ("SELECT id FROM u EXCEPT SELECT id FROM t ORDER BY 1", &["NULL", "9"]),
            ("SELECT id FROM t INTERSECT SELECT id FROM u ORDER BY id DESC", &["3", "1"]),
            ("SELECT g FROM t INTERSECT SELECT NULL", &["NULL"]),
            ("SELECT id FROM none EXCEPT SELECT id FROM t", &[]),
            ("SELECT id FROM u EXCEPT SELECT id FROM none ORDER BY id", &["NULL", "1", "3", "9"]),
            ("SELECT id FROM u INTERSECT SELECT id FROM none", &[]),
            // INTERSECT binds more strongly; the others from left to right.
            ("SELECT 1 UNION SELECT 2 INTERSECT SELECT 3", &["1"]),
            ("(SELECT 1 UNION SELECT 2) INTERSECT SELECT 2", &["2"]),
            ("SELECT 1 UNION ALL SELECT 1 EXCEPT SELECT 2", &["1"]),
            ("SELECT 1 EXCEPT SELECT 2 UNION ALL SELECT 1", &["1", "1"]),
            ("SELECT 1 AS a, 'x' AS b EXCEPT SELECT 1, 'y'", &["1|x"]),
            ("SELECT COUNT(*) FROM (SELECT v FROM t EXCEPT SELECT 5.0) d", &["4"]),
            ("SELECT id FROM t WHERE EXISTS (SELECT t.id, t.v EXCEPT SELECT 1, 10) ORDER BY id", &["2", "3", "4", "5"]),
        ],
    );
    check_errors(
        &mut client,
        &[
            ("SELECT 1 EXCEPT SELECT 1, 2", "Msg 205"),
            ("SELECT id FROM t INTERSECT SELECT name FROM u", "Msg 245"),
            ("SELECT id FROM t EXCEPT SELECT id FROM u ORDER BY v", "Msg 104"),
        ],
    );
}

#[test]
fn full_outer_joins() {
    let mut client = with_rows();
    check(
        &mut client,
        &[
            (
                "SELECT t.id, u.name FROM t FULL OUTER JOIN u ON u.id = t.id ORDER BY t.id, u.name",
                &["NULL|nine", "NULL|null", "1|one", "2|NULL", "3|drei", "3|three", "4|NULL", "5|NULL"],
            ),
            ("SELECT COUNT(*) FROM t FULL JOIN none ON none.id = t.id", &["5"]),
            ("SELECT COUNT(*) FROM none FULL JOIN t ON none.id = t.id", &["5"]),
            ("SELECT COUNT(*) FROM none a FULL JOIN none b ON a.id = b.id", &["0"]),
            (
                "SELECT COUNT(*), COUNT(u.id) FROM t LEFT JOIN u ON 1 = 0",
                &["5|0", "Warning: Null value is eliminated by an aggregate or other SET operation."],
            ),
            ("SELECT id FROM t WHERE 1 = 0", &[]),
            // A condition that is no equality, and one that only one side decides.
            (
                "SELECT a.id, b.id FROM t a FULL JOIN t b ON a.id > b.id + 3 ORDER BY a.id, b.id",
                &["NULL|2", "NULL|3", "NULL|4", "NULL|5", "1|NULL", "2|NULL", "3|NULL", "4|NULL", "5|1"],
            ),
            (
                "SELECT t.id, u.id FROM t FULL JOIN u ON u.id = t.id AND t.v > 10 WHERE t.id < 4 OR u.id < 4 ORDER BY t.id, u.id",
                &["NULL|1", "1|NULL", "2|NULL", "3|3", "3|3"],
            ),
            (
                "SELECT COALESCE(t.id, u.id) FROM t FULL JOIN u ON u.id = t.id WHERE t.id IS NULL ORDER BY 1",
                &["NULL", "9"],
            ),
        ],
    );
}

#[test]
fn joins_by_equality_without_a_key() {
    let mut client = with_rows();
    client.quiet("CREATE TABLE w (g varchar(8) NULL, d decimal(5, 2), n bigint) INSERT w VALUES ('B', 1.50, 3), ('a ', 2, 5), (NULL, 1.5, 9)");
    check(
        &mut client,
        &[
            ("SELECT t.id, w.n FROM t JOIN w ON w.g = t.g ORDER BY t.id", &["1|5", "2|3", "3|5", "5|3"]),
            (
                "SELECT t.id, w.n FROM t LEFT JOIN w ON w.g = t.g AND w.n > 3 ORDER BY t.id",
                &["1|5", "2|NULL", "3|5", "4|NULL", "5|NULL"],
            ),
            (
                "SELECT t.id, u.name FROM u LEFT JOIN t ON t.g = u.name",
                &["NULL|one", "NULL|three", "NULL|nine", "NULL|null", "NULL|drei"],
            ),
            ("SELECT t.id FROM t JOIN w ON w.n = t.id ORDER BY 1", &["3", "5"]),
            ("SELECT a.n, b.n FROM w a JOIN w b ON a.d = b.d AND a.n < b.n", &["3|9"]),
            (
                "SELECT t.id, d.c FROM t JOIN (SELECT g, COUNT(*) AS c FROM t GROUP BY g) d ON d.g = t.g ORDER BY t.id",
                &["1|2", "2|2", "3|2", "5|2"],
            ),
            ("SELECT id FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.id = t.id) ORDER BY id", &["1", "3"]),
            (
                "SELECT id FROM t WHERE NOT EXISTS (SELECT 1 FROM u WHERE u.id = t.id AND u.name LIKE '%e') ORDER BY id",
                &["2", "4", "5"],
            ),
            (
                "SELECT id, (SELECT COUNT(*) FROM u WHERE u.id = t.id) FROM t ORDER BY id",
                &["1|1", "2|0", "3|2", "4|0", "5|0"],
            ),
            (
                "SELECT id, (SELECT MAX(name) FROM u WHERE u.id = t.id AND u.name < CAST(t.v AS varchar(5)) + 'z') FROM t WHERE id IN (1, 3)",
                &["1|NULL", "3|NULL"],
            ),
            ("SELECT id FROM t WHERE v IN (SELECT o.v + 10 FROM t o WHERE o.g = t.g) ORDER BY id", &[]),
            (
                "SELECT t.id, x.name FROM t CROSS APPLY (SELECT TOP (1) name FROM u WHERE u.id = t.id ORDER BY name) x",
                &["1|one", "3|drei"],
            ),
            (
                "SELECT t.id, x.name FROM t OUTER APPLY (SELECT name FROM u WHERE u.id = t.id) x WHERE t.id > 2 ORDER BY 1, 2",
                &["3|drei", "3|three", "4|NULL", "5|NULL"],
            ),
            ("SELECT t.id, x.s FROM t CROSS APPLY (SELECT t.v + 1 AS s) x WHERE x.s > 15", &["2|21", "3|31"]),
            ("SELECT COUNT(*) FROM t CROSS JOIN (SELECT DISTINCT g FROM t) d", &["15"]),
            (
                "SELECT u.name FROM t JOIN u ON u.id = t.id AND EXISTS (SELECT 1 FROM t o WHERE o.id = t.id + 4)",
                &["one"],
            ),
            (
                "SELECT v.a, t.g FROM (VALUES (1, 2), (2, 9)) AS v (a, b) LEFT JOIN t ON t.id = v.b ORDER BY v.a",
                &["1|b", "2|NULL"],
            ),
        ],
    );
    // The same statement again finds what is there now.
    client.quiet("CREATE PROCEDURE pairs AS SELECT COUNT(*) FROM t JOIN w ON w.g = t.g");
    assert_eq!(client.shown("EXEC pairs INSERT w VALUES ('b', 0, 0) EXEC pairs DELETE w EXEC pairs"), ["4", "6", "0"]);
}

#[test]
fn joins_and_subqueries_grow_with_their_rows_only() {
    let mut client = Client::alone();
    client.quiet("CREATE TABLE a (id int PRIMARY KEY, k int) CREATE TABLE b (id int PRIMARY KEY, k int)");
    client.quiet("INSERT a SELECT value, value % 3000 FROM GENERATE_SERIES(1, 3000) INSERT b SELECT id, k FROM a");
    // Nested loops would compare nine million pairs in each of these.
    check(
        &mut client,
        &[
            ("SELECT COUNT(*) FROM a JOIN b ON b.k = a.k", &["3000"]),
            ("SELECT COUNT(*) FROM a LEFT JOIN b ON b.k = a.k + 1500", &["3000"]),
            ("SELECT COUNT(*) FROM a FULL JOIN b ON b.k = a.k + 1500", &["4500"]),
            ("SELECT COUNT(*) FROM a WHERE EXISTS (SELECT 1 FROM b WHERE b.k = a.k AND b.id > 10)", &["2990"]),
            ("SELECT SUM(d.c) FROM (SELECT (SELECT COUNT(*) FROM b WHERE b.k = a.k) AS c FROM a) d", &["3000"]),
            ("SELECT COUNT(*) FROM a WHERE k IN (SELECT k FROM b WHERE b.k = a.k)", &["3000"]),
            ("UPDATE a SET k = b.id FROM a JOIN b ON b.k = a.k SELECT SUM(CAST(k AS bigint)) FROM a", &["4501500"]),
            ("SELECT COUNT(*) FROM (SELECT k FROM a INTERSECT SELECT k FROM b) d", &["2999"]),
            ("SELECT COUNT(DISTINCT k), COUNT(*) FROM a", &["3000|3000"]),
        ],
    );
}

#[test]
fn any_and_all() {
    let mut client = with_rows();
    check(
        &mut client,
        &[
            ("SELECT id FROM t WHERE v > ALL (SELECT v FROM t WHERE id IN (1, 5))", &["2", "3"]),
            ("SELECT id FROM t WHERE v < ANY (SELECT v FROM t) ORDER BY id", &["1", "2", "5"]),
            ("SELECT id FROM t WHERE v >= ALL (SELECT v FROM t)", &[]),
            ("SELECT id FROM t WHERE v > ALL (SELECT v FROM none) ORDER BY id", &["1", "2", "3", "4", "5"]),
            ("SELECT id FROM t WHERE v > ANY (SELECT v FROM none)", &[]),
            ("SELECT id FROM t WHERE v <> ANY (SELECT 10) ORDER BY id", &["2", "3", "5"]),
            ("SELECT id FROM t WHERE v = ALL (SELECT 10 UNION ALL SELECT 10)", &["1"]),
            ("SELECT id FROM t WHERE v <= SOME (SELECT o.v FROM t o WHERE o.id = t.id + 1)", &["1", "2"]),
            ("SELECT id FROM t WHERE NOT v > ALL (SELECT v FROM t) ORDER BY id", &["1", "2", "3", "5"]),
        ],
    );
}

#[test]
fn top_in_all_its_forms() {
    let mut client = with_rows();
    check(
        &mut client,
        &[
            ("SELECT TOP (40) PERCENT id FROM t ORDER BY id", &["1", "2"]),
            ("SELECT TOP (41) PERCENT id FROM t ORDER BY id DESC", &["5", "4", "3"]),
            ("SELECT TOP 0 PERCENT id FROM t", &[]),
            ("SELECT TOP 100 PERCENT id FROM none", &[]),
            ("DECLARE @p float = 20.5 SELECT TOP (@p) PERCENT id FROM t ORDER BY v", &["4", "5"]),
            ("SELECT TOP (2) WITH TIES id FROM t ORDER BY g", &["4", "1", "3"]),
            ("SELECT TOP (1) WITH TIES name FROM u ORDER BY id DESC", &["nine"]),
            ("SELECT TOP (2) WITH TIES name FROM u ORDER BY id DESC", &["nine", "three", "drei"]),
            ("SELECT TOP (0) WITH TIES id FROM t ORDER BY id", &[]),
            ("SELECT TOP (50) PERCENT WITH TIES v % 10 FROM t ORDER BY v % 10", &["NULL", "0", "0", "0"]),
            ("SELECT COUNT(*) FROM (SELECT TOP (1) WITH TIES id FROM u ORDER BY id) d", &["1"]),
            ("SELECT id FROM t ORDER BY v DESC, id OFFSET 3 ROWS", &["5", "4"]),
            ("SELECT id FROM t ORDER BY id OFFSET 9 ROWS FETCH NEXT 1 ROWS ONLY", &[]),
        ],
    );
    check_errors(
        &mut client,
        &[
            ("SELECT TOP (1) WITH TIES id FROM t", "Msg 1062"),
            ("SELECT TOP (101) PERCENT id FROM t", "Msg 1031"),
            ("SELECT TOP (-1) WITH TIES id FROM t ORDER BY id", "Msg 127"),
            ("SELECT TOP (1) id FROM t ORDER BY id OFFSET 1 ROWS", "Msg 10741"),
        ],
    );
}

#[test]
fn grouping_sets() {
    let mut client = with_rows();
    client.quiet("CREATE TABLE f (y int NULL, q int NULL, s int) INSERT f VALUES (1, 1, 10), (1, 2, 20), (2, 1, 5), (2, NULL, 7)");
    check(
        &mut client,
        &[
            (
                "SELECT y, q, SUM(s) FROM f GROUP BY ROLLUP (y, q) ORDER BY GROUPING(y), y, GROUPING(q), q",
                &["1|1|10", "1|2|20", "1|NULL|30", "2|NULL|7", "2|1|5", "2|NULL|12", "NULL|NULL|42"],
            ),
            (
                "SELECT y, q, COUNT(*), GROUPING_ID(y, q) FROM f GROUP BY CUBE (y, q) HAVING GROUPING(y) = 1 ORDER BY 4, 2",
                &["NULL|NULL|1|2", "NULL|1|2|2", "NULL|2|1|2", "NULL|NULL|4|3"],
            ),
            (
                "SELECT y, SUM(s) FROM f GROUP BY GROUPING SETS ((y), (y), ()) ORDER BY y",
                &["NULL|42", "1|30", "1|30", "2|12", "2|12"],
            ),
            (
                "SELECT y, q, SUM(s) FROM f GROUP BY y, ROLLUP (q) HAVING GROUPING(q) = 1 ORDER BY y",
                &["1|NULL|30", "2|NULL|12"],
            ),
            (
                "SELECT y, q, MAX(s) FROM f GROUP BY GROUPING SETS ((y, q), ROLLUP (y)) ORDER BY 3 DESC, 1, 2",
                &["NULL|NULL|20", "1|NULL|20", "1|2|20", "1|1|10", "2|NULL|7", "2|NULL|7", "2|1|5"],
            ),
            ("SELECT y, SUM(y) FROM f GROUP BY y WITH ROLLUP ORDER BY 2", &["1|2", "2|4", "NULL|6"]),
            ("SELECT y + 1, COUNT(*) FROM f GROUP BY ROLLUP (y + 1) ORDER BY 2, 1", &["2|2", "3|2", "NULL|4"]),
            ("SELECT GROUPING(y), COUNT(*) FROM f GROUP BY y ORDER BY y", &["0|2", "0|2"]),
            // Of no rows only the set without values has a group.
            (
                "SELECT id, COUNT(*), SUM(v), GROUPING(id) FROM none GROUP BY GROUPING SETS ((id), ())",
                &["NULL|0|NULL|1"],
            ),
            ("SELECT id, COUNT(*) FROM none GROUP BY id", &[]),
            (
                "SELECT COUNT(DISTINCT q), SUM(DISTINCT q), COUNT(q), COUNT(*) FROM f",
                &["2|3|3|4", "Warning: Null value is eliminated by an aggregate or other SET operation."],
            ),
        ],
    );
    check_errors(
        &mut client,
        &[
            ("SELECT GROUPING(s) FROM f GROUP BY ROLLUP (y)", "Msg 8161"),
            ("SELECT q FROM f GROUP BY ROLLUP (y)", "Msg 8120"),
            ("SELECT 1 FROM f GROUP BY CUBE (y, q, s, y+1, y+2, y+3, y+4, y+5, y+6, y+7, y+8, y+9, y+10)", "Msg 10703"),
        ],
    );
}

#[test]
fn recursive_common_tables() {
    let mut client = with_rows();
    client.quiet("CREATE TABLE e (id int PRIMARY KEY, boss int NULL, name varchar(10)) INSERT e VALUES (1, NULL, 'top'), (2, 1, 'x'), (3, 1, 'y'), (4, 2, 'z'), (5, 4, 'w')");
    check(
        &mut client,
        &[
            ("WITH n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5) SELECT i FROM n", &["1", "2", "3", "4", "5"]),
            (
                "WITH c AS (SELECT id, name, 0 AS level FROM e WHERE boss IS NULL
                            UNION ALL SELECT e.id, e.name, c.level + 1 FROM e JOIN c ON e.boss = c.id)
                 SELECT name, level FROM c ORDER BY level, name",
                &["top|0", "x|1", "y|1", "z|2", "w|3"],
            ),
            (
                "WITH c AS (SELECT id, CAST(name AS varchar(100)) AS path FROM e WHERE boss IS NULL
                            UNION ALL SELECT e.id, CAST(c.path + '/' + e.name AS varchar(100)) FROM c INNER JOIN e ON e.boss = c.id)
                 SELECT path FROM c WHERE id = 5",
                &["top/x/z/w"],
            ),
            ("WITH n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 300) SELECT COUNT(*), MAX(i) FROM n OPTION (MAXRECURSION 299)", &["300|300"]),
            ("WITH n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 40000) SELECT COUNT(*) FROM n OPTION (MAXRECURSION 0)", &["40000"]),
            ("WITH n AS (SELECT id AS i FROM none UNION ALL SELECT i + 1 FROM n) SELECT COUNT(*) FROM n", &["0"]),
            // Two anchors and two members.
            (
                "WITH n AS (SELECT 1 AS i UNION SELECT 10 UNION ALL SELECT i + 1 FROM n WHERE i IN (1, 10) UNION ALL SELECT i * 100 FROM n WHERE i = 2)
                 SELECT i FROM n ORDER BY i",
                &["1", "2", "10", "11", "200"],
            ),
            // The newest row goes on first.
            ("WITH c AS (SELECT id FROM e WHERE id = 1 UNION ALL SELECT e.id FROM e JOIN c ON e.boss = c.id) SELECT id FROM c", &["1", "2", "3", "4", "5"]),
            ("WITH a AS (SELECT 1 AS x), n AS (SELECT x FROM a UNION ALL SELECT n.x + a.x FROM n, a WHERE n.x < 3) SELECT SUM(x) FROM n", &["6"]),
            ("WITH n AS (SELECT 3 AS i UNION ALL SELECT i - 1 FROM n WHERE i > 1) DELETE t FROM t JOIN n ON n.i = t.id SELECT id FROM t", &["4", "5"]),
            ("WITH n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 3) INSERT t (id) SELECT i + 100 FROM n SELECT COUNT(*) FROM t", &["5"]),
        ],
    );
    check_errors(
        &mut client,
        &[
            ("WITH n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n) SELECT COUNT(*) FROM n", "Msg 530"),
            (
                "WITH n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 5) SELECT i FROM n OPTION (MAXRECURSION 3)",
                "Msg 530",
            ),
            (
                "WITH n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n) SELECT i FROM n OPTION (MAXRECURSION 40000)",
                "Msg 310",
            ),
            ("WITH n AS (SELECT 1 AS i UNION SELECT i + 1 FROM n) SELECT i FROM n", "Msg 252"),
            ("WITH n AS (SELECT i FROM n) SELECT i FROM n", "Msg 252"),
            ("WITH n AS (SELECT i FROM n UNION ALL SELECT 1) SELECT i FROM n", "Msg 247"),
            ("WITH n AS (SELECT i FROM n UNION ALL SELECT i FROM n) SELECT i FROM n", "Msg 246"),
            ("WITH n AS (SELECT 1 AS i UNION ALL SELECT a.i FROM n a, n b) SELECT i FROM n", "Msg 253"),
            ("WITH n AS (SELECT 1 AS i UNION ALL SELECT CAST(i AS bigint) FROM n) SELECT i FROM n", "Msg 240"),
            ("WITH n AS (SELECT 1 AS i UNION ALL SELECT DISTINCT i FROM n) SELECT i FROM n", "Msg 460"),
            ("WITH n AS (SELECT 1 AS i UNION ALL SELECT TOP (1) i FROM n) SELECT i FROM n", "Msg 461"),
            (
                "WITH n AS (SELECT 1 AS i UNION ALL SELECT n.i FROM t LEFT JOIN n ON n.i = t.id) SELECT i FROM n",
                "Msg 462",
            ),
            ("WITH n AS (SELECT 1 AS i UNION ALL SELECT MAX(i) FROM n) SELECT i FROM n", "Msg 467"),
        ],
    );
}

fn with_places() -> Client {
    let mut client = with_rows();
    client.quiet("CREATE TABLE p (d int PRIMARY KEY, k char(1), x int NULL) INSERT p VALUES (1, 'a', 1), (2, 'a', 3), (3, 'a', 3), (4, 'b', NULL), (5, 'b', 8), (6, 'a', 5)");
    client
}

#[test]
fn windows_look_at_other_rows() {
    let mut client = with_places();
    check(
        &mut client,
        &[
            (
                "SELECT d, LAG(x) OVER (ORDER BY d), LEAD(x, 2, -1) OVER (PARTITION BY k ORDER BY d) FROM p ORDER BY d",
                &["1|NULL|3", "2|1|5", "3|3|-1", "4|3|-1", "5|NULL|-1", "6|8|-1"],
            ),
            (
                "SELECT d, SUM(x) OVER (PARTITION BY k ORDER BY d) FROM p WHERE k = 'a' ORDER BY d",
                &["1|1", "2|4", "3|7", "6|12"],
            ),
            // Without ROWS equals count together.
            (
                "SELECT d, SUM(x) OVER (ORDER BY x), SUM(x) OVER (ORDER BY x ROWS UNBOUNDED PRECEDING), COUNT(*) OVER () FROM p WHERE k = 'a' ORDER BY d",
                &["1|1|1|4", "2|7|4|4", "3|7|7|4", "6|12|12|4"],
            ),
            (
                "SELECT d, SUM(d) OVER (ORDER BY d ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING), MIN(d) OVER (ORDER BY d ROWS BETWEEN 3 PRECEDING AND 2 PRECEDING) FROM p ORDER BY d",
                &["1|3|NULL", "2|6|NULL", "3|9|1", "4|12|1", "5|15|2", "6|11|3"],
            ),
            (
                "SELECT d, COUNT(*) OVER (ORDER BY d ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING), MAX(x) OVER (ORDER BY d ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING) FROM p WHERE k = 'a' ORDER BY d",
                &["1|4|5", "2|3|5", "3|2|5", "6|1|NULL"],
            ),
            (
                "SELECT d, FIRST_VALUE(x) OVER (PARTITION BY k ORDER BY d), LAST_VALUE(x) OVER (PARTITION BY k ORDER BY d ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING), LAST_VALUE(d) OVER (ORDER BY x) FROM p ORDER BY d",
                &["1|1|5|1", "2|1|5|3", "3|1|5|3", "4|NULL|8|4", "5|NULL|8|5", "6|1|5|6"],
            ),
            (
                "SELECT d, LAG(x) IGNORE NULLS OVER (ORDER BY d), FIRST_VALUE(x) IGNORE NULLS OVER (PARTITION BY k ORDER BY d ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) FROM p WHERE d > 2 ORDER BY d",
                &["3|NULL|3", "4|3|8", "5|3|8", "6|8|5"],
            ),
            (
                "SELECT d, NTILE(4) OVER (ORDER BY d), RANK() OVER (ORDER BY x), ROW_NUMBER() OVER (ORDER BY d DESC) FROM p ORDER BY d",
                &["1|1|2|6", "2|1|3|5", "3|2|3|4", "4|2|1|3", "5|3|6|2", "6|4|5|1"],
            ),
            ("SELECT NTILE(10) OVER (ORDER BY d) FROM p WHERE d < 4", &["1", "2", "3"]),
            (
                "SELECT PERCENT_RANK() OVER (ORDER BY x) * 10, CUME_DIST() OVER (ORDER BY x) * 4 FROM p WHERE k = 'a' AND d <> 1 ORDER BY 1",
                &["0|2.6666666666666665", "0|2.6666666666666665", "10|4"],
            ),
            ("SELECT PERCENT_RANK() OVER (ORDER BY d) FROM p WHERE d = 1", &["0"]),
            (
                "SELECT DISTINCT k, PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY x) OVER (PARTITION BY k), PERCENTILE_DISC(0.5) WITHIN GROUP (ORDER BY x) OVER (PARTITION BY k) FROM p ORDER BY k",
                &["a|3|3", "b|8|8"],
            ),
            (
                "SELECT k, SUM(x), SUM(SUM(x)) OVER (), CAST(100.0 * SUM(x) / SUM(SUM(x)) OVER () AS int) FROM p GROUP BY k ORDER BY k",
                &[
                    "a|12|20|60",
                    "b|8|20|40",
                    "Warning: Null value is eliminated by an aggregate or other SET operation.",
                ],
            ),
            (
                "SELECT d, SUM(d) OVER w, MAX(d) OVER (w ROWS 1 PRECEDING) FROM p WHERE d < 4 WINDOW w AS (PARTITION BY k ORDER BY d) ORDER BY d",
                &["1|1|1", "2|3|2", "3|6|3"],
            ),
            ("SELECT AVG(x) OVER (), STDEV(x) OVER () FROM none CROSS JOIN p", &[]),
            (
                "SELECT d FROM (SELECT d, COUNT(*) OVER (PARTITION BY x) AS c FROM p) q WHERE c > 1 ORDER BY d",
                &["2", "3"],
            ),
            (
                "SELECT d, LAG(d, (SELECT 2)) OVER (ORDER BY d) FROM p WHERE d > 4 OR d < 2",
                &["1|NULL", "5|NULL", "6|1"],
            ),
            ("SELECT TOP (2) d FROM p ORDER BY SUM(d) OVER (PARTITION BY k) DESC, d", &["1", "2"]),
        ],
    );
}

#[test]
fn windows_are_refused_where_they_mean_nothing() {
    let mut client = with_places();
    check_errors(
        &mut client,
        &[
            ("SELECT NTILE(0) OVER (ORDER BY d) FROM p", "Msg 4116"),
            ("SELECT LAG(d, -1) OVER (ORDER BY d) FROM p", "Msg 8730"),
            ("SELECT LAG(d) OVER (PARTITION BY k) FROM p", "Msg 4112"),
            ("SELECT LAG(d) FROM p", "Msg 10753"),
            ("SELECT COUNT(DISTINCT d) OVER () FROM p", "Msg 10759"),
            ("SELECT LEN(k) OVER (ORDER BY d) FROM p", "Msg 4113"),
            ("SELECT SUM(d) OVER (ROWS UNBOUNDED PRECEDING) FROM p", "Msg 10756"),
            ("SELECT SUM(d) OVER (ORDER BY d RANGE 1 PRECEDING) FROM p", "Msg 4194"),
            ("SELECT SUM(d) OVER (ORDER BY d ROWS BETWEEN CURRENT ROW AND UNBOUNDED PRECEDING) FROM p", "Msg 4193"),
            ("SELECT RANK() OVER (ORDER BY d ROWS 1 PRECEDING) FROM p", "Msg 10752"),
            ("SELECT d FROM p WHERE SUM(d) OVER () > 1", "Msg 4108"),
            ("SELECT SUM(SUM(d) OVER ()) OVER () FROM p", "Msg 4109"),
            ("SELECT SUM(d) OVER nowhere FROM p", "Msg 5362"),
            ("SELECT SUM(k) OVER () FROM p", "Msg 8117"),
        ],
    );
}

#[test]
fn rarer_aggregates() {
    let mut client = with_rows();
    check(
        &mut client,
        &[
            (
                "SELECT STRING_AGG(name, ', ') WITHIN GROUP (ORDER BY name DESC) FROM u",
                &["three, one, null, nine, drei"],
            ),
            (
                "SELECT g, STRING_AGG(id, '-') WITHIN GROUP (ORDER BY id DESC) FROM t WHERE g IS NOT NULL GROUP BY g ORDER BY g",
                &["A|3-1", "b|5-2"],
            ),
            (
                "DECLARE @s varchar(5) = '+' SELECT STRING_AGG(v, @s) FROM t",
                &["10+20+30+5", "Warning: Null value is eliminated by an aggregate or other SET operation."],
            ),
            (
                "SELECT STRING_AGG(id, ','), STDEV(v), VARP(v), CHECKSUM_AGG(v), COUNT_BIG(*), APPROX_COUNT_DISTINCT(v) FROM none",
                &["NULL|NULL|NULL|NULL|0|0"],
            ),
            (
                "SELECT STDEVP(x), VAR(x), APPROX_COUNT_DISTINCT(x), CHECKSUM_AGG(x) FROM (VALUES (1), (3), (3)) d (x)",
                &["0.9428090415820634|1.3333333333333333|2|1"],
            ),
        ],
    );
    check_errors(
        &mut client,
        &[
            ("SELECT STRING_AGG(name, name) FROM u", "Msg 8733"),
            ("SELECT STRING_AGG(REPLICATE('x', 8000), ',') FROM u", "Msg 9829"),
            ("SELECT STDEV(name) FROM u", "Msg 8117"),
            ("SELECT STRING_AGG(name) FROM u", "Msg 174"),
        ],
    );
}

#[test]
fn texts_are_split_and_times_moved() {
    let mut client = with_rows();
    check(
        &mut client,
        &[
            ("SELECT value FROM STRING_SPLIT('a,b,,c', ',')", &["a", "b", "", "c"]),
            ("SELECT ordinal, value FROM STRING_SPLIT(N'x y', ' ', 1) AS s WHERE ordinal > 1", &["2|y"]),
            ("SELECT value FROM STRING_SPLIT(NULL, ',')", &[]),
            (
                "DECLARE @l varchar(20) = '3,1' SELECT id FROM t WHERE id IN (SELECT value FROM STRING_SPLIT(@l, ',')) ORDER BY id",
                &["1", "3"],
            ),
            (
                "SELECT t.id, s.value FROM t CROSS APPLY STRING_SPLIT(t.g + '-' + t.g, '-') s WHERE t.id < 3 ORDER BY t.id",
                &["1|a", "1|a", "2|b", "2|b"],
            ),
            ("SELECT t.id FROM STRING_SPLIT('5 4', ' ') s JOIN t ON t.id = s.value ORDER BY s.value", &["4", "5"]),
            (
                "SELECT CONVERT(varchar(40), CAST('2024-05-06 07:08:09' AS datetime2(0)) AT TIME ZONE 'UTC')",
                &["2024-05-06 07:08:09 +00:00"],
            ),
            (
                "SELECT CONVERT(varchar(40), CAST('2024-05-06 07:08:09 +02:00' AS datetimeoffset(0)) AT TIME ZONE 'UTC')",
                &["2024-05-06 05:08:09 +00:00"],
            ),
            (
                "SELECT CONVERT(varchar(40), SWITCHOFFSET(CAST('2024-05-06 07:08:09 +02:00' AS datetimeoffset(0)), '-05:30'))",
                &["2024-05-05 23:38:09 -05:30"],
            ),
            (
                "SELECT CONVERT(varchar(40), TODATETIMEOFFSET(CAST('2024-05-06 07:08:09' AS datetime2(0)), 60))",
                &["2024-05-06 07:08:09 +01:00"],
            ),
            (
                "SELECT CONVERT(varchar(40), DATETIMEOFFSETFROMPARTS(2024, 2, 29, 1, 2, 3, 5, -1, -30, 1))",
                &["2024-02-29 01:02:03.5 -01:30"],
            ),
            (
                "SELECT CONVERT(varchar(30), TIMEFROMPARTS(23, 59, 1, 25, 2)), CONVERT(varchar(30), SMALLDATETIMEFROMPARTS(2024, 1, 2, 3, 4), 120)",
                &["23:59:01.25|2024-01-02 03:04:00"],
            ),
            (
                "SELECT DATETRUNC(month, CAST('2024-05-16' AS date)), DATETRUNC(quarter, CAST('2024-05-16' AS date)), DATETRUNC(week, CAST('2024-05-16' AS date)), DATETRUNC(iso_week, CAST('2024-05-16' AS date))",
                &["2024-05-01|2024-04-01|2024-05-12|2024-05-13"],
            ),
            (
                "SELECT CONVERT(varchar(30), DATETRUNC(hour, CAST('2024-05-16 13:14:15.1' AS datetime2(1))))",
                &["2024-05-16 13:00:00.0"],
            ),
            (
                "SELECT SOUNDEX('Robert'), SOUNDEX('Tymczak'), SOUNDEX(''), DIFFERENCE('Green', 'Greene'), STRING_ESCAPE('a\"/', 'json')",
                &["R163|T522|0000|4|a\\\"\\/"],
            ),
        ],
    );
    check_errors(
        &mut client,
        &[
            ("SELECT value FROM STRING_SPLIT('a', ', ')", "Msg 214"),
            ("SELECT value FROM STRING_SPLIT('a')", "Msg 313"),
            ("SELECT value FROM STRING_SPLIT('a', ',', 2)", "Msg 4199"),
            ("SELECT ordinal FROM STRING_SPLIT('a', ',')", "Msg 207"),
            ("DECLARE @o int = 1 SELECT value FROM STRING_SPLIT('a', ',', @o)", "Msg 8748"),
            ("SELECT GETDATE() AT TIME ZONE 'Nowhere'", "Msg 9820"),
            ("SELECT SWITCHOFFSET(SYSDATETIMEOFFSET(), '25:00')", "Msg 9812"),
            ("SELECT TIMEFROMPARTS(24, 0, 0, 0, 0)", "Msg 289"),
            ("SELECT DATETRUNC(weekday, GETDATE())", "Msg 9810"),
        ],
    );
}

#[test]
fn columns_of_a_side_that_can_be_absent_can_be_null() {
    let mut client = with_rows();
    let mut nullable = |join: &str| {
        let output = client.batch(&format!("SELECT a.id, b.id FROM t a {join} t b ON a.id = b.id + 3"));
        let columns = output.events.into_iter().find_map(|event| match event {
            Event::Columns(columns) => Some([columns[0].nullable, columns[1].nullable]),
            _ => None,
        });
        columns.expect("a result set")
    };
    assert_eq!(nullable("JOIN"), [false, false]);
    assert_eq!(nullable("LEFT JOIN"), [false, true]);
    assert_eq!(nullable("RIGHT JOIN"), [true, false]);
    assert_eq!(nullable("FULL JOIN"), [true, true]);
}
