//! Users' functions.

use super::Client;

#[test]
fn scalar_functions_are_their_expressions() {
    let mut client = Client::alone();
    client.quiet(
        "CREATE TABLE t (a int PRIMARY KEY, b int) INSERT t VALUES (1, 10), (2, 20), (3, NULL)
         GO
         CREATE FUNCTION dbo.add_to (@x int, @y int = 5) RETURNS bigint AS BEGIN RETURN @x + ISNULL(@y, 0) END
         GO
         CREATE FUNCTION dbo.b_of (@a int) RETURNS varchar(3) AS BEGIN RETURN (SELECT b FROM t WHERE a = @a) END
         GO
         CREATE FUNCTION twice (@x int) RETURNS int AS BEGIN RETURN dbo.add_to(@x, @x) END",
    );
    assert_eq!(
        client
            .shown("SELECT dbo.add_to(a, b), dbo.add_to(a, DEFAULT), dbo.b_of(4 - a), dbo.twice(a) FROM t ORDER BY a"),
        ["11|6|NULL|2", "22|7|20|4", "3|8|10|6"]
    );
    assert_eq!(client.shown("SELECT a FROM t WHERE dbo.b_of(a) > 15 SELECT SUM(dbo.twice(a)) FROM t GROUP BY dbo.twice(0) + a % 2 ORDER BY 1"), ["2", "4", "8"]);
    assert_eq!(
        client.shown("DECLARE @x int = dbo.twice(4) SET @x = dbo.b_of(1) IF dbo.twice(@x) = 20 PRINT @x"),
        ["10"]
    );
    for (statement, number) in [
        ("SELECT dbo.twice()", "Msg 313"),
        ("SELECT dbo.twice(1, 2)", "Msg 8144"),
        ("SELECT dbo.nothing(1)", "Msg 4121"),
        ("SELECT * FROM dbo.twice(1)", "Msg 208"),
        ("CREATE FUNCTION twice (@x int) RETURNS int AS BEGIN RETURN 1 END", "Msg 2714"),
        ("CREATE FUNCTION f (@x int) RETURNS int AS BEGIN RETURN @y END", "Msg 137"),
        ("CREATE FUNCTION f (@x int) RETURNS int AS BEGIN RETURN a END", "Msg 207"),
        ("CREATE FUNCTION f (@x int) RETURNS int AS BEGIN DECLARE @y int END", "Msg 455"),
        ("DROP FUNCTION nothing", "Msg 3701"),
    ] {
        let lines = client.lines(statement);
        assert!(!lines.is_empty() && lines[0].starts_with(number), "{statement}: {lines:?}");
    }
    client.quiet("CREATE TABLE c (x int CHECK (dbo.twice(x) < 10), y AS dbo.twice(x)) INSERT c VALUES (4)");
    assert_eq!(client.shown("SELECT y FROM c"), ["8"]);
    assert!(client.lines("INSERT c VALUES (5)")[0].starts_with("Msg 547"));
    client.quiet("ALTER FUNCTION twice (@x int) RETURNS int AS BEGIN RETURN @x * 3 END");
    assert_eq!(client.shown("SELECT dbo.twice(2)"), ["6"]);
    client.quiet("BEGIN TRAN DROP FUNCTION twice ROLLBACK DROP FUNCTION b_of");
    assert!(client.lines("SELECT dbo.b_of(1)")[0].starts_with("Msg 4121"));
    client.quiet("CREATE FUNCTION again (@n int) RETURNS int AS BEGIN RETURN 1 END");
    client.quiet("ALTER FUNCTION again (@n int) RETURNS int AS BEGIN RETURN dbo.again(@n - 1) END");
    assert!(client.lines("SELECT dbo.again(1)")[0].starts_with("Msg 217"));
}

#[test]
fn inline_functions_are_their_queries() {
    let mut client = Client::alone();
    client.quiet(
        "CREATE TABLE t (k int PRIMARY KEY, v int) INSERT t VALUES (1, 10), (2, 20), (3, 30)
         GO
         CREATE FUNCTION dbo.above (@low int) RETURNS TABLE AS RETURN (SELECT k, v - @low AS more FROM t WHERE v > @low)",
    );
    assert_eq!(client.shown("SELECT * FROM dbo.above(15) ORDER BY k"), ["2|5", "3|15"]);
    assert_eq!(client.shown("DECLARE @n int = 25 SELECT f.more FROM dbo.above(@n) AS f JOIN t ON t.k = f.k"), ["5"]);
    assert_eq!(
        client.shown("SELECT t.k, f.k, f.more FROM t CROSS APPLY dbo.above(t.v) AS f ORDER BY t.k, f.k"),
        ["1|2|10", "1|3|20", "2|3|10"]
    );
    assert_eq!(
        client.shown("SELECT t.k, COUNT(f.k) FROM t OUTER APPLY above(v + 5) AS f GROUP BY t.k ORDER BY t.k"),
        ["1|2", "2|1", "3|0", "Warning: Null value is eliminated by an aggregate or other SET operation."]
    );
    assert_eq!(client.shown("SELECT k FROM t WHERE EXISTS (SELECT 1 FROM dbo.above(25) AS a WHERE a.k = t.k)"), ["3"]);
    assert!(client.lines("SELECT * FROM dbo.above()")[0].starts_with("Msg 313"));
    assert!(client.lines("CREATE FUNCTION f () RETURNS TABLE AS RETURN SELECT 1")[0].starts_with("Msg 4514"));
    client.quiet("CREATE FUNCTION f () RETURNS @t TABLE (a int) AS BEGIN INSERT @t VALUES (7) RETURN END");
    assert_eq!(client.shown("SELECT a FROM f()"), ["7"]);
}

#[test]
fn hashes_and_json_are_read_in_queries() {
    let mut client = Client::alone();
    client.quiet(
        "CREATE TABLE t (id int PRIMARY KEY, doc nvarchar(200), sum AS HASHBYTES('MD5', doc) PERSISTED)
         INSERT t (id, doc) VALUES (1, N'{\"a\":{\"b\":7}}'), (2, N'{\"a\":[1,2]}'), (3, NULL), (4, N'{\"a\"')",
    );
    assert_eq!(client.shown("SELECT id, ISJSON(doc) FROM t ORDER BY id"), ["1|1", "2|1", "3|NULL", "4|0"]);
    assert_eq!(
        client.shown("SELECT JSON_VALUE(doc, '$.a.b'), JSON_QUERY(doc, '$.a') FROM t WHERE id < 4 ORDER BY id"),
        ["7|{\"b\":7}", "NULL|[1,2]", "NULL|NULL"]
    );
    assert_eq!(client.shown("SELECT id FROM t WHERE sum = HASHBYTES('md5', N'{\"a\":[1,2]}')"), ["2"]);
    assert_eq!(
        client.shown(
            "DECLARE @p nvarchar(20) = N'$.a.b' SELECT id FROM t WHERE ISJSON(doc) = 1 AND JSON_VALUE(doc, @p) > 6"
        ),
        ["1"]
    );
    for (statement, error) in [
        ("SELECT JSON_VALUE(doc, '$.a') FROM t", "Msg 13609, Level 16, State 2"),
        ("SELECT JSON_VALUE('{}', 'a')", "Msg 13607, Level 16, State 22"),
        ("SELECT JSON_VALUE('{}', '$[x]')", "Msg 13607, Level 16, State 21"),
        ("SELECT JSON_VALUE('{}', 'strict $.a')", "Msg 13608, Level 16, State 5"),
        ("SELECT JSON_VALUE('{\"a\":[]}', 'strict $.a')", "Msg 13623, Level 16, State 1"),
        ("SELECT JSON_QUERY('{\"a\":1}', 'strict $.a')", "Msg 13624, Level 16, State 1"),
        ("SELECT JSON_VALUE('{}')", "Msg 174"),
        ("SELECT HASHBYTES('MD4', 'a')", "Msg 40517"),
        ("SELECT HASHBYTES('MD5', 1)", "Msg 8116"),
    ] {
        let lines = client.lines(statement);
        assert!(!lines.is_empty() && lines[lines.len() - 1].starts_with(error), "{statement}: {lines:?}");
    }
    let long = format!("SELECT JSON_QUERY('{}{}')", "[".repeat(200), "]".repeat(200));
    assert!(client.lines(&long)[0].starts_with("Msg 13606"), "{:?}", client.lines(&long));
}
