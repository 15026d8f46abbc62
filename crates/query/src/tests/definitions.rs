//! Definitions.

use super::{Client, World};

#[test]
fn tables_are_checked() {
    let mut client = Client::alone();
    client.quiet("CREATE TABLE t (a int)");
    let cases = [
        ("CREATE TABLE t (a int)", "Msg 2714"),
        ("DROP TABLE nope", "Msg 3701"),
        ("CREATE TABLE x (a int, a int)", "Msg 2705"),
        ("CREATE TABLE x (a nosuch)", "Msg 2715"),
        ("CREATE TABLE x (a decimal(50))", "Msg 2750"),
        ("CREATE TABLE x (a varchar(9000))", "Msg 131"),
        ("CREATE TABLE x (a int(5))", "Msg 2716"),
        ("CREATE TABLE x (a int NULL PRIMARY KEY)", "Msg 8111"),
        ("CREATE TABLE x (a varchar(5) IDENTITY)", "Msg 2749"),
        ("CREATE TABLE x (a int DEFAULT b)", "Msg 128"),
        ("CREATE TABLE nowhere.x (a int)", "Msg 2760"),
        ("DROP PROCEDURE nope", "Msg 3701"),
        ("CREATE PROCEDURE x AS SELECT @nope", "Msg 137"),
        ("CREATE VIEW x AS SELECT 1", "Msg 4511"),
        ("CREATE VIEW x AS SELECT * FROM nope", "Msg 208"),
        ("CREATE DATABASE master", "Msg 1801"),
        ("USE nope", "Msg 911"),
    ];
    let lines = client.lines("CREATE TABLE x (a int NULL PRIMARY KEY)");
    assert!(lines[1].starts_with("Msg 1750"), "{lines:?}");
    for (statement, expected) in cases {
        let lines = client.lines(statement);
        assert!(!lines.is_empty() && lines[0].starts_with(expected), "{statement}: {lines:?}");
    }
    client.quiet("DROP TABLE IF EXISTS nope DROP TABLE IF EXISTS t CREATE TABLE t (b int)");
}

#[test]
fn definitions_roll_back() {
    let mut client = Client::alone();
    client.quiet("BEGIN TRAN CREATE TABLE t (a int) INSERT t VALUES (1) ROLLBACK");
    assert!(client.lines("SELECT * FROM t")[0].starts_with("Msg 208"));
}

#[test]
fn tables_are_altered() {
    let mut client = Client::alone();
    client.quiet("CREATE TABLE t (a int NOT NULL, b varchar(5)) INSERT t VALUES (1, '10'), (2, '20')");
    client.quiet("ALTER TABLE t ADD c int NOT NULL DEFAULT 5, d int NULL");
    assert_eq!(client.shown("SELECT * FROM t"), ["1|10|5|NULL", "2|20|5|NULL"]);
    client.quiet("ALTER TABLE t ALTER COLUMN b int");
    client.quiet("ALTER TABLE t DROP COLUMN d");
    client.quiet("ALTER TABLE t ADD CONSTRAINT pk PRIMARY KEY (a)");
    assert_eq!(client.shown("SELECT b + 1, c FROM t WHERE a = 2"), ["21|5"]);
    assert!(client.lines("ALTER TABLE t ADD e int NOT NULL")[0].starts_with("Msg 4901"));
    assert!(client.lines("INSERT t VALUES (1, 1, 1)")[0].starts_with("Msg 2627"));
}

#[test]
fn databases_come_and_go() {
    let mut world = World::new();
    let mut client = world.client();
    client.quiet(
        "CREATE DATABASE lab
         GO
         ALTER DATABASE lab SET RECOVERY SIMPLE, DELAYED_DURABILITY = FORCED
         USE lab
         CREATE TABLE t (a int) INSERT t VALUES (1)
         GO
         CREATE SCHEMA s
         GO
         CREATE TABLE s.t (a int) INSERT s.t VALUES (2)",
    );
    assert_eq!(client.shown("SELECT DB_NAME(), (SELECT a FROM t), (SELECT a FROM s.t)"), ["lab|1|2"]);
    assert!(client.lines("DROP DATABASE lab")[0].starts_with("Msg 3702"));
    client.quiet("USE master DROP DATABASE lab");
    assert!(client.lines("USE lab")[0].starts_with("Msg 911"));
}

/// What is stored of a definition is printed anew; it must mean what was written.
#[test]
fn stored_definitions_mean_what_was_written() {
    let mut client = Client::alone();
    let expressions = [
        "a - -b",
        "a - -b * 2 - (b - a)",
        "a + b * 2 & ~1 | a ^ b",
        "-(a + b) % 3",
        "CASE WHEN a NOT BETWEEN 2 AND b THEN 'out' ELSE s END",
        "CASE WHEN a IN (1, NULL, b - 20) THEN 1 WHEN a NOT IN (2, 3) THEN 2 END",
        "CASE WHEN NOT (a = 1 OR b = 2) AND (s LIKE N'x!%' ESCAPE '!' OR s IS NULL) THEN 1 ELSE 0 END",
        "CASE WHEN a = 1 AND (b > 5 OR s = 'x') AND NOT s LIKE '%y%' THEN a ELSE -b END",
        "CASE a WHEN 1 THEN 'one' WHEN 2 THEN s END",
        "IIF(a > 1 OR s IS NOT NULL, b, -2147483648)",
        "CAST(a AS decimal(18, 4)) / 7",
        "CONVERT(varchar(30), d, 126) + ' ' + ISNULL(s, '?') + N'it''s'",
        "TRY_CAST(s AS int)",
        "COALESCE(s, NULLIF('x', s), TRIM('0' FROM '00a0'), TRIM(' b '))",
        "s COLLATE Latin1_General_BIN2 + 'z'",
        "YEAR(d) * 10000 + MONTH(d) * 100 + DAY(d)",
        "DATEADD(dd, -a, DATEADD(mi, 5, d))",
        "DATEPART(dw, d) + DATEDIFF(yy, '20000101', d)",
        "a * 1e-3 + 0.1e0 + 1.5 + .25 + 9000000000 + $2.5",
        "LEFT(s, 1) + RIGHT('xyz', 2) + CAST(0x4142 AS varchar(2))",
        "DATEADD(hour, a, d) AT TIME ZONE 'UTC'",
    ];
    for (number, expression) in expressions.iter().enumerate() {
        client.quiet(&format!(
            "CREATE TABLE t{number} (a int, b int, s nvarchar(20), d datetime, x AS {expression})
             INSERT t{number} VALUES (1, 21, N'x%', '20240131 10:20:30'), (2, 2, NULL, '19991231'), (3, 1, N'y', NULL), (NULL, 7, N'12', '20200229')"
        ));
        let [stored, meant] =
            ["x", expression].map(|x| client.shown(&format!("SELECT {x} FROM t{number} ORDER BY b, a")));
        assert_eq!(stored, meant, "{expression}");
    }
    client.quiet(
        "CREATE TABLE d (a int, w int DEFAULT -2 - -3, x float DEFAULT -1.5e-3, y nvarchar(20) DEFAULT N'it''s', z date DEFAULT DATEADD(dd, 1, '20240101'))
         ALTER TABLE d ADD CONSTRAINT later DEFAULT (9) FOR a
         INSERT d DEFAULT VALUES",
    );
    assert_eq!(client.shown("SELECT * FROM d"), ["9|1|-0.0015|it's|2024-01-02"]);
}

#[test]
fn a_constraint_has_its_name_alone_for_as_long_as_it_is_there() {
    let mut client = Client::alone();
    client.quiet("CREATE TABLE t (a int CONSTRAINT only_one CHECK (a > 0), b int)");
    let is_taken = |client: &mut Client, name: &str| {
        let lines =
            client.lines(&format!("CREATE TABLE other (a int CONSTRAINT {name} CHECK (a > 0)) DROP TABLE other"));
        lines.first().is_some_and(|line| line.starts_with("Msg 2714"))
    };
    assert!(is_taken(&mut client, "ONLY_one"));
    client.quiet("BEGIN TRAN ALTER TABLE t DROP CONSTRAINT only_one");
    assert!(!is_taken(&mut client, "only_one"));
    client.quiet("ROLLBACK");
    assert!(is_taken(&mut client, "only_one"));
    client.quiet("ALTER TABLE t DROP CONSTRAINT only_one ALTER TABLE t ADD CONSTRAINT only_two CHECK (b > 0)");
    assert!(!is_taken(&mut client, "only_one"));
    assert!(is_taken(&mut client, "only_two"));
    client.quiet("DROP TABLE t");
    assert!(!is_taken(&mut client, "only_two"));
}
