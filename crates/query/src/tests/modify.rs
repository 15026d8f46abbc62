//! INSERT, UPDATE, DELETE.

use super::{Client, World};

fn with_table(definition: &str) -> Client {
    let mut client = Client::alone();
    client.quiet(definition);
    client
}

#[test]
fn insert_checks_its_columns() {
    let mut client = with_table("CREATE TABLE t (a int NOT NULL, b varchar(3), c int DEFAULT 7)");
    let cases = [
        ("INSERT t VALUES (1)", "Msg 213"),
        ("INSERT t (a, b) VALUES (1)", "Msg 109"),
        ("INSERT t (a) VALUES (1, 2)", "Msg 110"),
        ("INSERT t (a, a) VALUES (1, 2)", "Msg 264"),
        ("INSERT t (a, z) VALUES (1, 2)", "Msg 207"),
        ("INSERT t (b) VALUES ('x')", "Msg 515"),
        ("INSERT t (a) VALUES (NULL)", "Msg 515"),
        ("INSERT t (a, b) VALUES (1, 'toolong')", "Msg 2628"),
        ("INSERT t (a) VALUES (99999999999)", "Msg 8115"),
        ("INSERT t (a) SELECT 1, 2", "Msg 121"),
        ("INSERT t (a, b) SELECT 1", "Msg 120"),
        ("INSERT nowhere VALUES (1)", "Msg 208"),
    ];
    for (statement, expected) in cases {
        let lines = client.lines(statement);
        assert!(lines[0].starts_with(expected), "{statement}: {lines:?}");
    }
    client.quiet("INSERT t (a) VALUES (1), (2)\nINSERT t VALUES (3, 'x', DEFAULT), (4, NULL, NULL)");
    assert_eq!(client.shown("SELECT * FROM t ORDER BY a"), ["1|NULL|7", "2|NULL|7", "3|x|7", "4|NULL|NULL"]);
}

#[test]
fn identity_values() {
    let mut client = with_table("CREATE TABLE t (id int IDENTITY(10, 5) PRIMARY KEY, v int)");
    assert_eq!(
        client.shown("SET NOCOUNT ON INSERT t VALUES (1) INSERT t (v) VALUES (2), (3) SELECT @@IDENTITY, SCOPE_IDENTITY() SELECT id FROM t"),
        ["20|20", "10", "15", "20"]
    );
    assert!(client.lines("INSERT t (id, v) VALUES (1, 1)")[0].starts_with("Msg 544"));
    client.quiet(
        "SET IDENTITY_INSERT t ON INSERT t (id, v) VALUES (100, 4) SET IDENTITY_INSERT t OFF INSERT t VALUES (5)",
    );
    assert_eq!(client.shown("SELECT id FROM t WHERE v > 3"), ["100", "105"]);
    assert!(client.lines("UPDATE t SET id = 3")[0].starts_with("Msg 8102"));
}

#[test]
fn identity_insert_is_of_one_session() {
    let mut world = World::new();
    let (mut one, mut two) = (world.client(), world.client());
    one.quiet("CREATE TABLE t (id int IDENTITY PRIMARY KEY, v int)");
    one.quiet("CREATE PROCEDURE put @id int AS INSERT t (id, v) VALUES (@id, 1)");
    one.quiet("SET IDENTITY_INSERT t ON EXEC put 50");
    assert!(two.lines("EXEC put 60")[0].starts_with("Msg 544"));
}

#[test]
fn update_and_delete_by_key_and_by_scan() {
    let mut client = with_table("CREATE TABLE t (id int PRIMARY KEY, v int, s varchar(10))");
    client.quiet("INSERT t VALUES (1, 10, 'a'), (2, 20, 'b'), (3, 30, 'c'), (4, 40, 'd')");
    assert_eq!(
        client.lines("UPDATE t SET v = v + 1, s = s + '!' WHERE id = 2\nDELETE t WHERE id > 3\nDELETE FROM t WHERE v = 77\nSELECT * FROM t"),
        ["(1 rows)", "(1 rows)", "(0 rows)", "1|10|a", "2|21|b!", "3|30|c", "(3 rows)"]
    );
    assert_eq!(
        client.shown("SET NOCOUNT ON DECLARE @v int UPDATE t SET @v = v = v * 2 WHERE id = 1 SELECT @v UPDATE x SET v += 1 FROM t AS x WHERE x.id = 1 SELECT v FROM t WHERE id = 1"),
        ["20", "21"]
    );
    assert!(client.lines("UPDATE t SET id = 1 WHERE id = 2")[0].starts_with("Msg 2627"));
    assert!(client.lines("UPDATE t SET v = 1, v = 2")[0].starts_with("Msg 264"));
}

#[test]
fn an_update_that_moves_keys_sees_each_row_once() {
    let mut client = with_table("CREATE TABLE t (id int PRIMARY KEY)");
    client.quiet(
        "SET NOCOUNT ON DECLARE @i int = 1
         WHILE @i <= 2000 BEGIN INSERT t VALUES (@i) SET @i += 1 END
         SET NOCOUNT OFF",
    );
    assert_eq!(client.lines("UPDATE t SET id = id + 10000"), ["(2000 rows)"]);
    assert_eq!(client.value("SELECT CONCAT(COUNT(*), ' ', MIN(id), ' ', MAX(id)) FROM t"), "2000 10001 12000");
    assert_eq!(client.lines("INSERT t SELECT id + 10000 FROM t"), ["(2000 rows)"]);
}

#[test]
fn subqueries_of_update_and_delete_are_those_of_each_row() {
    for key in ["", " PRIMARY KEY"] {
        let mut client = with_table(&format!("CREATE TABLE t (id int{key}, v int)\nCREATE TABLE h (id int, v int)"));
        client.quiet("INSERT t VALUES (1, 0), (2, 0), (3, 0)\nINSERT h VALUES (1, 10), (2, 20)");
        client.quiet("UPDATE t SET v = (SELECT h.v FROM h WHERE h.id = t.id)");
        assert_eq!(client.shown("SELECT v FROM t ORDER BY id"), ["10", "20", "NULL"]);
        assert_eq!(client.lines("UPDATE t SET v = 1 WHERE EXISTS (SELECT 1 FROM h WHERE h.id = t.id)"), ["(2 rows)"]);
        assert_eq!(client.lines("UPDATE t SET v = 2 WHERE id IN (SELECT h.id FROM h)"), ["(2 rows)"]);
        assert_eq!(client.lines("UPDATE t SET v = 3 WHERE id NOT IN (SELECT h.id FROM h)"), ["(1 rows)"]);
        assert_eq!(client.shown("SELECT v FROM t ORDER BY id"), ["2", "2", "3"]);
        client.quiet("UPDATE t SET v = CASE WHEN id IN (SELECT h.id FROM h) THEN 10 / (id - 3) ELSE id END");
        assert_eq!(client.shown("SELECT v FROM t ORDER BY id"), ["-5", "-10", "3"]);
        client.quiet("UPDATE t SET id = (SELECT h.v FROM h WHERE h.id = t.id) WHERE id < 3");
        assert_eq!(client.shown("SELECT id FROM t ORDER BY id"), ["3", "10", "20"]);
        assert_eq!(client.lines("DELETE t WHERE EXISTS (SELECT 1 FROM h WHERE h.v = t.id)"), ["(2 rows)"]);
        client.quiet("UPDATE h SET v = (SELECT MAX(t.id) FROM t)");
        assert_eq!(client.shown("SELECT DISTINCT v FROM h"), ["3"]);
    }
}

#[test]
fn subqueries_over_the_changed_table_see_it_unchanged() {
    for key in ["", " PRIMARY KEY"] {
        let mut client = with_table(&format!("CREATE TABLE t (id int{key}, v int)"));
        client.quiet("INSERT t VALUES (1, 1), (2, 1), (3, 1), (4, 2)");
        client.quiet("UPDATE t SET v = (SELECT SUM(o.v) FROM t AS o WHERE o.id <= t.id)");
        assert_eq!(client.shown("SELECT v FROM t ORDER BY id"), ["1", "2", "3", "5"]);
        client.quiet("UPDATE t SET v = 7 WHERE id < 4");
        let twice = "DELETE t WHERE (SELECT COUNT(*) FROM t AS o WHERE o.v = t.v) > 1";
        assert_eq!(client.lines(twice), ["(3 rows)"]);
        client.quiet("INSERT t VALUES (5, 5), (6, 9)");
        let first = "DELETE t WHERE id NOT IN (SELECT MIN(o.id) FROM t AS o GROUP BY o.v)";
        assert_eq!(client.lines(first), ["(1 rows)"]);
        assert_eq!(client.shown("SELECT id FROM t ORDER BY id"), ["4", "6"]);
    }
}

#[test]
fn heaps_keep_their_rows() {
    let mut client = with_table("CREATE TABLE h (a int, b varchar(200))");
    client.quiet("DECLARE @i int = 1 WHILE @i <= 100 BEGIN INSERT h VALUES (@i, 'x') SET @i += 1 END");
    assert_eq!(client.lines("UPDATE h SET b = REPLICATE('y', 150)"), ["(100 rows)"]);
    assert_eq!(client.lines("INSERT h SELECT a, b FROM h"), ["(100 rows)"]);
    assert_eq!(client.lines("DELETE TOP (150) FROM h"), ["(150 rows)"]);
    assert_eq!(client.value("SELECT COUNT(*) FROM h"), "50");
    client.quiet("TRUNCATE TABLE h");
    assert_eq!(client.value("SELECT COUNT(*) FROM h"), "0");
}

#[test]
fn insert_exec_takes_what_a_call_returns() {
    let mut client = with_table("CREATE TABLE t (a int, b varchar(5))");
    client.quiet("CREATE PROCEDURE two AS SELECT 1, 'one' SELECT 2, 'two'");
    assert_eq!(client.lines("INSERT t EXEC two"), ["(2 rows)"]);
    assert_eq!(client.lines("INSERT t (a) EXEC('SELECT 3')"), ["(1 rows)"]);
    assert_eq!(client.lines("INSERT t (a) EXEC sp_double 4"), ["(1 rows)"]);
    assert!(client.lines("INSERT t EXEC('SELECT 1')")[0].starts_with("Msg 213"));
    assert_eq!(client.shown("SELECT a FROM t"), ["1", "2", "3", "8"]);
    // What returns no rows at all gives none.
    client.quiet("CREATE TRIGGER told ON t AFTER INSERT AS DECLARE @n int = (SELECT COUNT(*) FROM inserted) PRINT CONCAT(@n, ' new')");
    client.quiet("CREATE PROCEDURE none AS DECLARE @x int = 1");
    assert_eq!(client.lines("INSERT t EXEC none"), ["0 new", "(0 rows)"]);
    assert_eq!(client.lines("INSERT t (b) EXEC('PRINT 1')"), ["1", "0 new", "(0 rows)"]);
    assert_eq!(client.lines("DECLARE @none nvarchar(max) INSERT t EXEC(@none)"), ["0 new", "(0 rows)"]);
}

#[test]
fn sessions_see_what_is_committed_and_wait_for_rows() {
    let mut world = World::new();
    let (mut one, mut two) = (world.client(), world.client());
    one.quiet("CREATE TABLE t (id int PRIMARY KEY, v int) INSERT t VALUES (1, 1)");
    one.quiet("BEGIN TRAN UPDATE t SET v = 2");
    assert_eq!(two.value("SELECT v FROM t"), "1");
    one.quiet("COMMIT");
    assert_eq!(two.value("SELECT v FROM t"), "2");
}

/// Runs `statement` while another session has changed the one row, `(1, 1)`, of `t` to `(1, 2)`, which it commits when the
/// statement waits for it. Gives the value of the row then and the statement's first error.
fn after_a_wait(key: &str, statement: &str) -> (String, Option<i32>) {
    let mut world = World::new();
    let (mut one, mut two) = (world.client(), world.client());
    one.quiet(&format!("CREATE TABLE t (id int{key}, v int) CREATE TABLE u (v int, other int)"));
    one.quiet("INSERT t VALUES (1, 1) INSERT u VALUES (1, 100), (2, 200)");
    one.quiet("BEGIN TRAN UPDATE t SET v = v + 1");
    let info = pikepole_scheduler::TaskInfo { session_id: Some(52), command: "UPDATE" };
    let statement = statement.to_owned();
    let waiting = world.server.schedulers().spawn(info, pikepole_scheduler::Placement::LeastLoaded, async move {
        let mut output = crate::Collected::default();
        two.execute(&statement, &mut output).await;
        output
    });
    one.quiet("SELECT * FROM t WAITFOR DELAY '00:00:01'");
    assert!(!waiting.is_finished(), "it waits for the row");
    one.quiet("COMMIT");
    let output = world.server.schedulers().block_on(waiting).expect("no panic");
    (one.value("SELECT v FROM t"), output.errors().first().map(|error| error.number))
}

#[test]
fn an_update_that_waited_works_on_the_newest_row() {
    let cases = [
        ("UPDATE t SET v = v + 1 WHERE id = 1", "3"),
        ("UPDATE t SET v = 100 WHERE v = 1", "2"),
        ("DELETE t WHERE v = 1", "2"),
        ("UPDATE t SET v = (SELECT u.other FROM u WHERE u.v = t.v)", "200"),
        ("UPDATE t SET v = 9 WHERE EXISTS (SELECT 1 FROM u WHERE u.v = t.v AND u.other = 100)", "2"),
        ("UPDATE t SET v = 9 WHERE NOT EXISTS (SELECT 1 FROM u WHERE u.v = t.v AND u.other = 200)", "2"),
        ("UPDATE t SET v = 9 WHERE (SELECT u.other FROM u WHERE u.v = t.v) = 100", "2"),
        ("UPDATE t SET v = 9 WHERE v IN (SELECT u.v FROM u WHERE u.other = 100)", "2"),
        ("UPDATE t SET v = CASE v WHEN 2 THEN (SELECT MAX(u.other) FROM u) ELSE 9 END", "200"),
        ("DELETE t WHERE v IN (SELECT u.v FROM u WHERE u.other = 100)", "2"),
        ("DELETE t WHERE EXISTS (SELECT 1 FROM u WHERE u.v = t.v AND u.other = 100)", "2"),
        ("DELETE t WHERE v IN (SELECT MIN(o.v) FROM t AS o GROUP BY o.id)", "2"),
    ];
    for key in [" PRIMARY KEY", ""] {
        for (statement, expected) in cases {
            assert_eq!(after_a_wait(key, statement), (expected.to_owned(), None), "{key} {statement}");
        }
    }
}

#[test]
fn a_statement_with_a_subquery_over_the_changed_table_begins_again_after_a_wait() {
    for key in [" PRIMARY KEY", ""] {
        for (statement, value, error) in [
            ("UPDATE t SET v = 10 + (SELECT SUM(o.v) FROM t AS o WHERE o.id = t.id)", "12", None),
            ("DELETE t WHERE (SELECT COUNT(*) FROM t AS o WHERE o.id = t.id AND o.v = 1) = 1", "2", None),
            ("DECLARE @v int UPDATE t SET @v = v = (SELECT SUM(o.v) FROM t AS o WHERE o.id = t.id)", "2", None),
        ] {
            assert_eq!(after_a_wait(key, statement), (value.to_owned(), error), "{key} {statement}");
        }
    }
}

#[test]
fn a_statement_that_gave_up_waiting_begins_anew() {
    let mut world = World::new();
    let (mut one, mut two) = (world.client(), world.client());
    one.quiet("CREATE TABLE t (id int PRIMARY KEY, v int) INSERT t VALUES (1, 1), (2, 1)");
    one.quiet("BEGIN TRAN UPDATE t SET v = 2 WHERE id = 2");
    let script = "SET LOCK_TIMEOUT 0
        DECLARE @turn int = 0
        WHILE @turn < 2
        BEGIN
            SET @turn += 1
            BEGIN TRY UPDATE t SET v = v + 10 PRINT @@ROWCOUNT END TRY
            BEGIN CATCH PRINT ERROR_NUMBER() WAITFOR DELAY '00:00:02' END CATCH
        END";
    let info = pikepole_scheduler::TaskInfo { session_id: Some(52), command: "UPDATE" };
    let waiting = world.server.schedulers().spawn(info, pikepole_scheduler::Placement::LeastLoaded, async move {
        let mut output = crate::Collected::default();
        two.execute(script, &mut output).await;
        output
    });
    one.quiet("WAITFOR DELAY '00:00:01' COMMIT");
    let output = world.server.schedulers().block_on(waiting).expect("no panic");
    let shown: Vec<String> = output.events.iter().filter_map(super::line).collect();
    assert_eq!(shown, ["1222", "(2 rows)", "2"]);
    assert_eq!(one.shown("SELECT v FROM t"), ["11", "12"]);
}

#[test]
fn a_wait_for_a_row_ends_with_the_lock_timeout() {
    let mut world = World::new();
    let (mut one, mut two) = (world.client(), world.client());
    one.quiet("CREATE TABLE t (id int PRIMARY KEY, v int) INSERT t VALUES (1, 1)");
    one.quiet("BEGIN TRAN UPDATE t SET v = 2");
    for timeout in [0, 100, 1500] {
        let lines = two.lines(&format!("SET LOCK_TIMEOUT {timeout} UPDATE t SET v = 3 PRINT 'on'"));
        assert!(lines[0].starts_with("Msg 1222, Level 16, State 51"), "{lines:?}");
        assert_eq!(lines.last().map(String::as_str), Some("on"));
    }
    one.quiet("COMMIT");
    assert_eq!(two.lines("UPDATE t SET v = v + 1"), ["(1 rows)"]);
    assert_eq!(one.value("SELECT v FROM t"), "3");
}

#[test]
fn a_deadlock_has_one_victim() {
    use pikepole_scheduler::{Placement, TaskInfo};
    let mut world = World::new();
    let (mut one, mut two) = (world.client(), world.client());
    one.quiet("CREATE TABLE t (id int PRIMARY KEY, v int) INSERT t VALUES (1, 1), (2, 2)");
    one.quiet("BEGIN TRAN UPDATE t SET v = 10 WHERE id = 1");
    two.quiet("BEGIN TRAN UPDATE t SET v = 20 WHERE id = 2");
    let info = TaskInfo { session_id: Some(52), command: "UPDATE" };
    let waiting = world.server.schedulers().spawn(info, Placement::LeastLoaded, async move {
        let mut output = crate::Collected::default();
        two.execute("UPDATE t SET v = 21 WHERE id = 1 COMMIT", &mut output).await;
        output
    });
    one.quiet("WAITFOR DELAY '00:00:01'");
    let lines = one.lines("UPDATE t SET v = 11 WHERE id = 2\nPRINT 'never'");
    assert!(lines[0].starts_with("Msg 1205, Level 13"), "{lines:?}");
    assert_eq!(lines.len(), 1);
    let output = world.server.schedulers().block_on(waiting).expect("no panic");
    assert!(output.errors().is_empty());
    assert_eq!(one.shown("SELECT v, @@TRANCOUNT FROM t"), ["21|0", "20|0"]);
}
