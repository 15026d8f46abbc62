//! Names that lead out of the current database: temporary objects of all sessions, and objects of other databases.

use super::{Client, World};
use crate::Collected;
use pikepole_scheduler::{Placement, TaskInfo};

/// A client, and one more, of a server with the databases `other` and `third`.
fn two() -> (World, Client, Client) {
    let mut world = World::new();
    let (mut one, two) = (world.client(), world.client());
    one.quiet("CREATE DATABASE other CREATE DATABASE third");
    (world, one, two)
}

#[test]
fn a_global_temporary_table_is_everybodys() {
    let mut world = World::new();
    let (mut one, mut two) = (world.client(), world.client());
    one.quiet("CREATE TABLE ##t (id int IDENTITY PRIMARY KEY, b varchar(5) NOT NULL DEFAULT 'x' CHECK (b <> 'no')) INSERT ##t (b) VALUES ('a'), (DEFAULT)");
    assert_eq!(two.shown("SELECT * FROM ##t ORDER BY id"), ["1|a", "2|x"]);
    two.quiet(
        "INSERT ##t (b) VALUES ('c') UPDATE tempdb..##t SET b = 'd' WHERE id = 1 DELETE tempdb.dbo.##t WHERE id = 2",
    );
    assert_eq!(one.shown("SELECT * FROM ##T ORDER BY id"), ["1|d", "3|c"]);
    assert!(two.lines("CREATE TABLE ##t (a int)")[0].starts_with("Msg 2714"));
    let lines = two.lines("INSERT ##t (b) VALUES ('no')");
    assert!(lines[0].contains("database \"tempdb\", table \"dbo.##t\", column 'b'"), "{lines:?}");
    assert!(two.lines("INSERT ##t (b) VALUES (NULL)")[0].contains("table 'tempdb.dbo.##t'"));
    two.quiet("CREATE INDEX i ON ##t (b) ALTER TABLE ##t ADD c int NULL");
    assert_eq!(one.shown("SELECT id, c FROM ##t WHERE b = 'c'"), ["3|NULL"]);
    one.quiet("SET IDENTITY_INSERT ##t ON INSERT ##t (id, b) VALUES (10, 'z') SET IDENTITY_INSERT ##t OFF");
    two.quiet("INSERT ##t (b) VALUES ('y') TRUNCATE TABLE ##t INSERT ##t (b) VALUES ('1')");
    assert_eq!(one.shown("SELECT id, b FROM ##t"), ["1|1"]);
    two.quiet("DROP TABLE ##t DROP TABLE IF EXISTS ##t");
    assert!(
        one.lines("SELECT * FROM ##t")[0].starts_with("Msg 208, Level 16, State 1, Line 1: Invalid object name '##t'")
    );
    assert!(one.lines("DROP TABLE ##t")[0].starts_with("Msg 3701"));
}

#[test]
fn it_ends_with_its_maker_and_not_with_its_users() {
    let mut world = World::new();
    let (mut one, mut two, mut three) = (world.client(), world.client(), world.client());
    one.quiet("CREATE TABLE ##t (a int) INSERT ##t VALUES (1) CREATE TABLE ##rolled (a int)");
    one.quiet("BEGIN TRAN CREATE TABLE ##gone (a int) ROLLBACK");
    two.quiet("SELECT 2 AS a INTO ##two UNION ALL SELECT 3 ALTER TABLE ##t ADD b int");
    assert!(two.lines("SELECT * FROM ##gone")[0].starts_with("Msg 208"));
    two.quiet("BEGIN TRAN INSERT ##t VALUES (5, 5)");
    drop(one);
    assert_eq!(two.shown("SELECT SUM(a) FROM ##t COMMIT"), ["6"]);
    let left = |client: &mut Client, name: &str| {
        (0..200).any(|_| client.lines(&format!("SELECT * FROM {name}"))[0].starts_with("Msg 208"))
    };
    assert!(left(&mut three, "##t") && left(&mut three, "##rolled"));
    assert_eq!(three.shown("SELECT SUM(a) FROM ##two"), ["5"]);
    drop(two);
    assert!(left(&mut three, "##two"));
}

#[test]
fn its_rows_end_with_the_transaction_of_the_session() {
    let (_world, mut one, mut two) = two();
    one.quiet("CREATE TABLE t (a int PRIMARY KEY) CREATE TABLE ##g (a int PRIMARY KEY, b int) INSERT ##g VALUES (1, 1), (2, 2)");
    let lines = one.shown(
        "BEGIN TRAN INSERT t VALUES (1) INSERT ##g VALUES (3, 3) UPDATE ##g SET b = 9 WHERE a = 1
         SAVE TRAN s INSERT t VALUES (2) DELETE ##g ROLLBACK TRAN s
         SELECT COUNT(*), SUM(b) FROM ##g SELECT COUNT(*) FROM t
         CREATE INDEX i ON ##g (b) SELECT a FROM ##g WHERE b = 9
         ROLLBACK SELECT a, b FROM ##g ORDER BY a SELECT COUNT(*) FROM t",
    );
    assert_eq!(lines, ["3|14", "1", "1", "1|1", "2|2", "0"]);
    // A failed statement undoes its own changes only.
    let lines = one.shown("BEGIN TRAN INSERT t VALUES (1) INSERT ##g VALUES (3, 3) INSERT ##g VALUES (4, 4), (1, 1) COMMIT SELECT COUNT(*) FROM ##g SELECT COUNT(*) FROM t");
    assert!(lines[0].starts_with("Msg 2627"), "{lines:?}");
    assert_eq!(lines[2..], ["3", "1"]);
    // What is not committed nobody else sees.
    one.quiet("BEGIN TRAN INSERT ##g VALUES (7, 7)");
    assert_eq!(two.shown("SELECT COUNT(*) FROM ##g"), ["3"]);
    assert!(two.lines("SET LOCK_TIMEOUT 20 INSERT ##g VALUES (7, 0)")[0].starts_with("Msg 1222"));
    one.quiet("COMMIT");
    assert_eq!(two.shown("SELECT COUNT(*) FROM ##g"), ["4"]);
}

#[test]
fn two_sessions_that_wait_for_each_other_in_two_databases_are_found() {
    let (world, mut one, mut two) = two();
    one.quiet("CREATE TABLE t (a int PRIMARY KEY, b int) CREATE TABLE ##g (a int PRIMARY KEY, b int) INSERT t VALUES (1, 0) INSERT ##g VALUES (1, 0)");
    one.quiet("BEGIN TRAN UPDATE t SET b = 1");
    two.quiet("BEGIN TRAN UPDATE ##g SET b = 2");
    let info = TaskInfo { session_id: Some(52), command: "UPDATE" };
    let schedulers = world.server.schedulers();
    let waiting = schedulers.spawn(info, Placement::LeastLoaded, async move {
        let mut output = Collected::default();
        two.execute("UPDATE t SET b = 2 COMMIT", &mut output).await;
        output
    });
    let own = one.lines("WAITFOR DELAY '00:00:01' UPDATE ##g SET b = 1 COMMIT");
    let other = schedulers.block_on(waiting).expect("no panic");
    let is_victim = |number: Option<i32>| number == Some(1205);
    let own_error = own.first().filter(|line| line.starts_with("Msg 1205")).map(|_| 1205);
    let other_error = other.errors().first().map(|error| error.number);
    assert!(is_victim(own_error) != is_victim(other_error), "{own:?} {other_error:?}");
    let rows = one.shown("IF @@TRANCOUNT > 0 ROLLBACK SELECT b FROM t SELECT b FROM ##g");
    assert!(rows == ["1", "1"] || rows == ["2", "2"], "{rows:?}");
}

#[test]
fn global_temporary_procedures_run_in_the_callers_database() {
    let (_world, mut one, mut two) = two();
    one.quiet("CREATE TABLE t (a int) INSERT t VALUES (1)");
    two.quiet("USE other CREATE TABLE t (a int) INSERT t VALUES (1), (2)");
    one.quiet("CREATE PROCEDURE ##p @n int = 0 AS SELECT DB_NAME(), COUNT(*) + @n FROM t");
    assert_eq!(one.shown("EXEC ##p"), ["master|1"]);
    assert_eq!(two.shown("EXEC ##p 10"), ["other|12"]);
    two.quiet("ALTER PROCEDURE ##p AS SELECT 5");
    assert_eq!(one.shown("EXEC ##p"), ["5"]);
    one.quiet("DROP PROCEDURE ##p");
    assert!(two.lines("EXEC ##p")[0].starts_with("Msg 2812"));
}

#[test]
fn objects_of_other_databases_are_named() {
    let (_world, mut one, mut two) = two();
    one.quiet("CREATE TABLE other.dbo.t (id int IDENTITY PRIMARY KEY, b int NOT NULL DEFAULT 7 CHECK (b < 100)) CREATE TABLE home (b int) INSERT home VALUES (1), (2)");
    one.quiet(
        "INSERT other..t (b) VALUES (5) INSERT other.dbo.t DEFAULT VALUES INSERT other.dbo.t (b) SELECT b FROM home",
    );
    assert_eq!(one.shown("SELECT id, t.b, h.b FROM other..t JOIN home h ON h.b = t.id ORDER BY 1"), ["1|5|1", "2|7|2"]);
    one.quiet("UPDATE x SET b = x.b + 1 FROM other..t AS x JOIN home ON home.b = x.id DELETE other.dbo.t WHERE id = 4");
    one.quiet("MERGE other..t AS t USING home AS h ON t.id = h.b WHEN MATCHED THEN UPDATE SET b = 50 + h.b WHEN NOT MATCHED BY SOURCE THEN DELETE;");
    assert_eq!(two.shown("USE other SELECT id, b FROM t")[1..], ["1|51", "2|52"]);
    let lines = one.lines("INSERT other..t (b) VALUES (100)");
    assert!(lines[0].contains("database \"other\", table \"dbo.t\""), "{lines:?}");
    assert!(one.lines("INSERT other..t (id, b) VALUES (9, 9)")[0].starts_with("Msg 544"));
    one.quiet("SET IDENTITY_INSERT other..t ON INSERT other..t (id, b) VALUES (9, 9)");
    assert!(
        one.lines("SELECT * FROM other..missing")[0]
            .contains("Msg 208, Level 16, State 1, Line 1: Invalid object name 'other..missing'")
    );
    assert!(one.lines("SELECT * FROM nowhere.dbo.t")[0].contains("Invalid object name 'nowhere.dbo.t'"));
    one.quiet("CREATE INDEX i ON other..t (b) ALTER TABLE other.dbo.t ADD c int NULL");
    assert_eq!(
        one.shown("SELECT id, c FROM other..t WHERE b = 51 TRUNCATE TABLE other..t SELECT COUNT(*) FROM other..t"),
        ["1|NULL", "0"]
    );
    one.quiet("SELECT b INTO other.dbo.copy FROM home DROP TABLE other..copy, other.dbo.t");
    assert!(two.lines("SELECT * FROM t")[0].starts_with("Msg 208"));
    assert!(one.lines("CREATE VIEW other.dbo.v AS SELECT 1 AS a")[0].starts_with("Msg 166"));
}

#[test]
fn plans_follow_definitions_of_other_databases() {
    let (_world, mut one, mut two) = two();
    two.quiet("USE other CREATE TABLE t (a int) INSERT t VALUES (1)");
    one.quiet("CREATE PROCEDURE p AS SELECT * FROM other..t");
    assert_eq!(one.shown("EXEC p"), ["1"]);
    two.quiet("ALTER TABLE t ADD b int NULL");
    assert_eq!(one.shown("EXEC p"), ["1|NULL"]);
    assert_eq!(
        one.shown("BEGIN TRAN ALTER TABLE other..t ADD c int EXEC p ROLLBACK EXEC p"),
        ["1|NULL|NULL", "1|NULL"]
    );
    two.quiet("DROP TABLE t CREATE TABLE t (z varchar(3))\nGO\nINSERT t VALUES ('new')");
    assert_eq!(one.shown("EXEC p"), ["new"]);
}

#[test]
fn views_functions_and_procedures_of_other_databases_mean_what_is_there() {
    let (_world, mut one, mut two) = two();
    two.quiet(
        "USE other CREATE TABLE t (a int) INSERT t VALUES (1), (2)
         GO
         CREATE VIEW v AS SELECT a, DB_NAME() AS d FROM t
         GO
         CREATE FUNCTION f (@n int) RETURNS int AS BEGIN RETURN @n + (SELECT COUNT(*) FROM t) END
         GO
         CREATE FUNCTION g () RETURNS TABLE AS RETURN SELECT a FROM t
         GO
         CREATE PROCEDURE p @n int, @o int OUTPUT AS BEGIN INSERT t VALUES (@n) SET @o = (SELECT COUNT(*) FROM t) SELECT DB_NAME() RETURN 4 END",
    );
    one.quiet("CREATE TABLE t (a int)");
    assert_eq!(one.shown("SELECT a FROM other..v ORDER BY a"), ["1", "2"]);
    assert_eq!(one.shown("SELECT other.dbo.f(10) SELECT MAX(a) FROM other.dbo.g()"), ["12", "2"]);
    one.quiet("UPDATE other..v SET a = 20 WHERE a = 2");
    let call = "DECLARE @o int, @s int EXEC @s = other..p 3, @o OUTPUT SELECT @s, @o, DB_NAME()";
    assert_eq!(one.shown(call), ["other", "4|3|master"]);
    assert_eq!(
        one.shown(&format!("BEGIN TRAN {call} ROLLBACK SELECT COUNT(*) FROM other..t")),
        ["other", "4|4|master", "3"]
    );
    assert!(one.lines("EXEC other..nothing")[0].starts_with("Msg 2812"));
    assert!(one.lines("EXEC nowhere..nothing")[0].starts_with("Msg 2812"));
    assert_eq!(one.shown("EXEC ('USE other') SELECT DB_NAME()"), ["Changed database context to 'other'.", "master"]);
}

#[test]
fn a_transaction_changes_one_database_and_reads_all() {
    let (_world, mut one, mut two) = two();
    one.quiet("CREATE TABLE t (a int) CREATE TABLE other..t (a int) CREATE TABLE third..t (a int)");
    let refused = "Msg 40517, Level 16, State 1";
    let lines = one.lines("BEGIN TRAN INSERT t VALUES (1) SELECT COUNT(*) FROM other..t INSERT other..t VALUES (1)");
    assert!(lines.iter().any(|line| line.starts_with(refused)), "{lines:?}");
    one.quiet("COMMIT");
    let lines = one.lines("BEGIN TRAN INSERT other..t VALUES (1) INSERT t VALUES (2) INSERT third..t VALUES (2) CREATE TABLE more (a int)");
    assert_eq!(lines.iter().filter(|line| line.starts_with(refused)).count(), 3, "{lines:?}");
    let lines = one.lines("INSERT third..t VALUES (2)");
    assert!(lines[0].starts_with(refused), "{lines:?}");
    assert!(one.lines("CREATE TABLE more (a int)")[0].starts_with(refused));
    one.quiet("INSERT other..t VALUES (2) COMMIT");
    assert_eq!(
        two.shown("SELECT COUNT(*) FROM t SELECT COUNT(*) FROM other..t SELECT COUNT(*) FROM third..t"),
        ["1", "2", "0"]
    );
    // USE within a transaction takes it along.
    let lines = one.shown("BEGIN TRAN INSERT other..t VALUES (3) SAVE TRAN s USE other INSERT t VALUES (4) ROLLBACK TRAN s USE master SELECT COUNT(*) FROM other..t COMMIT");
    assert_eq!(lines.last().map(String::as_str), Some("3"));
    assert_eq!(two.shown("SELECT COUNT(*) FROM other..t"), ["3"]);
    two.quiet("DROP DATABASE other");
    assert!(one.lines("SELECT * FROM other..t")[0].starts_with("Msg 208"));
}

#[test]
fn triggers_are_of_their_own_database() {
    let mut world = World::new();
    let mut client = world.client();
    client.quiet(
        "CREATE DATABASE far CREATE TABLE near (a int) CREATE TABLE far..t (a int) CREATE TABLE far..told (a int)",
    );
    let lines = client.lines("CREATE TRIGGER away ON far..t AFTER INSERT AS PRINT 'away'");
    assert!(lines[0].starts_with("Msg 2108"), "{lines:?}");
    client.quiet(
        "USE far
         GO
         CREATE TRIGGER watch ON t AFTER INSERT AS INSERT told SELECT a FROM inserted
         GO
         CREATE VIEW v AS SELECT a FROM t
         GO
         CREATE TRIGGER instead ON v INSTEAD OF DELETE AS INSERT told SELECT -a FROM deleted
         GO
         CREATE FUNCTION f () RETURNS @r TABLE (a int) AS BEGIN INSERT @r SELECT a FROM told RETURN END
         GO
         INSERT t VALUES (1)
         GO
         USE master",
    );
    for refused in ["INSERT far..t VALUES (2)", "DELETE far..v", "SELECT * FROM far.dbo.f()"] {
        let lines = client.lines(refused);
        assert!(lines[0].starts_with("Msg 40517"), "{refused}: {lines:?}");
    }
    client.quiet("DELETE far..t WHERE a = 9");
    assert_eq!(client.shown("SELECT a FROM far..t SELECT a FROM far..told"), ["1", "1"]);
}
