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
