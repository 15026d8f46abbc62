//! OUTPUT, changes with FROM, MERGE.

use super::{Client, World};

fn with_rows() -> Client {
    let mut client = Client::alone();
    client.quiet(
        "CREATE TABLE t (id int IDENTITY PRIMARY KEY, name varchar(10) NULL, v int NOT NULL DEFAULT 7)
         CREATE TABLE s (id int PRIMARY KEY, v int NULL)
         CREATE TABLE log (n int IDENTITY(100, 1), id int, old int NULL, new int NULL)
         INSERT t (name, v) VALUES ('a', 10), ('b', 20), (NULL, 30)
         INSERT s VALUES (1, 100), (2, NULL), (9, 900)",
    );
    client
}

#[test]
fn insert_tells_its_rows() {
    let mut client = with_rows();
    assert_eq!(
        client.lines("INSERT t (name) OUTPUT inserted.id, inserted.v AS v2, inserted.name + '!' VALUES ('x'), (NULL)"),
        ["4|7|x!", "5|7|NULL", "(2 rows)"]
    );
    assert_eq!(client.lines("INSERT t OUTPUT inserted.* DEFAULT VALUES"), ["6|NULL|7", "(1 rows)"]);
    assert_eq!(
        client.lines("INSERT t (name, v) OUTPUT inserted.id SELECT name, v + 1 FROM t WHERE id < 0"),
        ["(0 rows)"]
    );
    assert_eq!(
        client.lines("INSERT t (name, v) OUTPUT INSERTED.id, INSERTED.v SELECT name, v + 1 FROM t WHERE id <= 2"),
        ["7|11", "8|21", "(2 rows)"]
    );
    assert_eq!(
        client.shown(
            "SET NOCOUNT ON
             INSERT t (v) OUTPUT inserted.id INTO log (id) VALUES (1), (2)
             SELECT n, id, old FROM log ORDER BY n SELECT @@ROWCOUNT"
        ),
        ["100|9|NULL", "101|10|NULL", "2"]
    );
    assert_eq!(
        client.lines("SET NOCOUNT OFF INSERT t (v) OUTPUT inserted.id, inserted.v INTO log (id, new) OUTPUT inserted.v * 2 VALUES (5)"),
        ["10", "(1 rows)"]
    );
    assert_eq!(client.shown("SELECT new FROM log WHERE new IS NOT NULL"), ["5"]);
}

#[test]
fn output_refuses_what_it_cannot_see() {
    let mut client = with_rows();
    let cases = [
        ("INSERT t (v) OUTPUT id VALUES (1)", "Msg 207"),
        ("INSERT t (v) OUTPUT deleted.id VALUES (1)", "Msg 4104"),
        ("DELETE t OUTPUT inserted.id", "Msg 4104"),
        ("UPDATE t SET v = 1 OUTPUT COUNT(*)", "Msg 158"),
        ("UPDATE t SET v = 1 OUTPUT (SELECT 1)", "Msg 10705"),
        ("UPDATE t SET v = 1 OUTPUT inserted.nothing", "Msg 207"),
        ("DELETE t OUTPUT deleted.id, deleted.v INTO log (id)", "Msg 213"),
        ("DELETE t OUTPUT deleted.id INTO log (n)", "Msg 544"),
        ("DELETE t OUTPUT deleted.id INTO nowhere", "Msg 208"),
        ("UPDATE t SET v = COUNT(*)", "Msg 157"),
    ];
    for (statement, expected) in cases {
        let lines = client.lines(statement);
        assert!(lines[0].starts_with(expected), "{statement}: {lines:?}");
    }
    assert_eq!(client.value("SELECT COUNT(*) FROM t WHERE v IN (10, 20, 30)"), "3");
    assert_eq!(client.value("SELECT COUNT(*) FROM log"), "0");
}

#[test]
fn update_and_delete_tell_old_and_new_rows() {
    let mut client = with_rows();
    assert_eq!(
        client.lines("UPDATE t SET v = v + 1 OUTPUT deleted.v, inserted.v, inserted.v - deleted.v WHERE id < 3"),
        ["10|11|1", "20|21|1", "(2 rows)"]
    );
    assert_eq!(client.lines("DELETE t OUTPUT deleted.* WHERE name IS NULL"), ["3|NULL|30", "(1 rows)"]);
    assert_eq!(client.lines("DELETE t OUTPUT deleted.id WHERE id = 77"), ["(0 rows)"]);
    client.quiet("UPDATE t SET v = 5 OUTPUT inserted.id, deleted.v, inserted.v INTO log (id, old, new)");
    assert_eq!(client.shown("SELECT id, old, new FROM log ORDER BY id"), ["1|11|5", "2|21|5"]);
    assert_eq!(
        client.shown(
            "SET NOCOUNT ON DECLARE @i int UPDATE t SET @i = v = v + id OUTPUT inserted.v WHERE id = 2 SELECT @i"
        ),
        ["7", "7"]
    );
}

#[test]
fn a_statement_that_fails_tells_and_keeps_nothing() {
    let mut client = with_rows();
    let lines = client.lines("UPDATE t SET v = v - 1 OUTPUT inserted.id, 10 / (inserted.id - 2) INTO log (id, new)");
    assert!(lines[0].starts_with("Msg 8134"), "{lines:?}");
    let lines = client.lines("INSERT s OUTPUT inserted.id INTO log (id) VALUES (3, 1), (1, 1)");
    assert!(lines[0].starts_with("Msg 2627"), "{lines:?}");
    assert_eq!(client.value("SELECT COUNT(*) FROM log"), "0");
    assert_eq!(client.shown("SELECT v FROM t ORDER BY id"), ["10", "20", "30"]);
    assert_eq!(
        client.shown(
            "SET NOCOUNT ON BEGIN TRAN DELETE t OUTPUT deleted.id INTO log (id) WHERE id = 1 ROLLBACK
             SELECT COUNT(*) FROM log SELECT COUNT(*) FROM t"
        ),
        ["0", "3"]
    );
}

#[test]
fn output_goes_where_a_result_set_goes() {
    let mut client = with_rows();
    client.quiet("CREATE PROCEDURE put @v int AS INSERT t (v) OUTPUT inserted.id, inserted.v VALUES (@v)");
    assert_eq!(client.lines("INSERT log (id, new) EXEC put 3"), ["(1 rows)"]);
    assert_eq!(client.shown("SELECT id, new FROM log"), ["4|3"]);
    assert_eq!(
        client.shown("SET NOCOUNT ON INSERT t (v) OUTPUT inserted.id VALUES (1) SELECT SCOPE_IDENTITY()"),
        ["5", "5"]
    );
    assert_eq!(
        client.shown("SET NOCOUNT ON SET IDENTITY_INSERT t ON INSERT t (id, v) OUTPUT inserted.id VALUES (50, 1) SET IDENTITY_INSERT t OFF"),
        ["50"]
    );
}

#[test]
fn update_reads_joined_tables() {
    let mut client = with_rows();
    assert_eq!(client.lines("UPDATE t SET v = s.v FROM t JOIN s ON s.id = t.id WHERE s.v IS NOT NULL"), ["(1 rows)"]);
    assert_eq!(client.lines("UPDATE x SET v += s.id, name = 'j' FROM s, t AS x WHERE x.id = s.id"), ["(2 rows)"]);
    assert_eq!(client.shown("SELECT id, name, v FROM t ORDER BY id"), ["1|j|101", "2|j|22", "3|NULL|30"]);
    // The table need not be named in FROM again.
    assert_eq!(
        client.lines("UPDATE t SET v = s.v OUTPUT deleted.v, inserted.v, s.id FROM s WHERE s.id = t.id AND s.id = 1"),
        ["101|100|1", "(1 rows)"]
    );
    // Rows without a partner, and a row that is found twice.
    client.quiet("CREATE TABLE m (k int, w int) INSERT m VALUES (3, 1), (3, 1)");
    assert_eq!(client.lines("UPDATE t SET v = v + ISNULL(m.w, 5) FROM t LEFT JOIN m ON m.k = t.id"), ["(3 rows)"]);
    assert_eq!(client.shown("SELECT v FROM t ORDER BY id"), ["105", "27", "31"]);
    assert_eq!(
        client.lines(
            "UPDATE t SET v = d.total FROM t JOIN (SELECT k, SUM(w) AS total FROM m GROUP BY k) d ON d.k = t.id"
        ),
        ["(1 rows)"]
    );
    assert_eq!(client.value("SELECT v FROM t WHERE id = 3"), "2");
    let cases = [
        ("UPDATE t SET v = 1 FROM t a JOIN t b ON a.id = b.id", "Msg 8154"),
        ("UPDATE t SET nothing = 1 FROM t JOIN s ON s.id = t.id", "Msg 207"),
        ("UPDATE t SET id = 1 FROM t JOIN s ON s.id = t.id", "Msg 8102"),
        ("UPDATE t SET v = s.v FROM t JOIN s ON s.id = t.id AND s.id = 2", "Msg 515"),
        ("UPDATE nowhere SET v = 1 FROM s", "Msg 208"),
        ("UPDATE t SET v = 1 OUTPUT t.id FROM t JOIN s ON s.id = t.id", "Msg 4104"),
    ];
    for (statement, expected) in cases {
        let lines = client.lines(statement);
        assert!(lines[0].starts_with(expected), "{statement}: {lines:?}");
    }
}

#[test]
fn delete_reads_joined_tables() {
    let mut client = with_rows();
    assert_eq!(
        client.lines("DELETE x OUTPUT deleted.id, s.v FROM t x INNER JOIN s ON s.id = x.id WHERE s.v > 1"),
        ["1|100", "(1 rows)"]
    );
    assert_eq!(client.lines("DELETE FROM t FROM s WHERE s.id = t.id"), ["(1 rows)"]);
    assert_eq!(client.lines("DELETE FROM t FROM t JOIN s ON s.id = t.id"), ["(0 rows)"]);
    assert_eq!(client.shown("SELECT id FROM t"), ["3"]);
    assert_eq!(client.lines("DELETE TOP (50) PERCENT s"), ["(2 rows)"]);
    assert_eq!(client.lines("DELETE TOP (1) a FROM s a CROSS JOIN t b"), ["(1 rows)"]);
    assert_eq!(client.value("SELECT COUNT(*) FROM s"), "0");
    assert!(client.lines("DELETE TOP (101) PERCENT s")[0].starts_with("Msg 1031"));
}

#[test]
fn common_tables_and_views_are_changed_below() {
    let mut client = with_rows();
    client.quiet("INSERT t (name, v) VALUES ('a', 11), ('a', 12), ('b', 21)");
    assert_eq!(
        client.lines(
            "WITH c AS (SELECT *, ROW_NUMBER() OVER (PARTITION BY name ORDER BY v) AS rn FROM t WHERE name IS NOT NULL)
             DELETE FROM c OUTPUT deleted.v WHERE rn > 1"
        ),
        ["11", "12", "21", "(3 rows)"]
    );
    assert_eq!(
        client.lines(
            "WITH c AS (SELECT TOP (2) id, v AS w FROM t ORDER BY id DESC) UPDATE c SET w = w * 2 OUTPUT inserted.v"
        ),
        ["60", "40", "(2 rows)"]
    );
    assert_eq!(
        client.lines(
            "WITH c AS (SELECT t.id, t.v, s.v AS sv FROM t JOIN s ON s.id = t.id) UPDATE c SET v = sv WHERE sv > 0"
        ),
        ["(1 rows)"]
    );
    client.quiet("CREATE VIEW w AS SELECT id AS k, v, v * 2 AS twice FROM t");
    assert_eq!(client.lines("UPDATE w SET v = 1 WHERE k = 3"), ["(1 rows)"]);
    assert_eq!(client.lines("DELETE w WHERE twice = 2"), ["(1 rows)"]);
    assert_eq!(client.shown("SELECT id, v FROM t ORDER BY id"), ["1|100", "2|40"]);
    let cases = [
        ("UPDATE w SET twice = 1", "Msg 4406"),
        ("WITH c AS (SELECT DISTINCT v FROM t) DELETE c", "Msg 4403"),
        ("WITH c AS (SELECT v, COUNT(*) AS n FROM t GROUP BY v) DELETE c", "Msg 4403"),
        ("WITH c AS (SELECT t.id, s.v FROM t JOIN s ON s.id = t.id) DELETE c", "Msg 4405"),
    ];
    for (statement, expected) in cases {
        let lines = client.lines(statement);
        assert!(lines[0].starts_with(expected), "{statement}: {lines:?}");
    }
}

#[test]
fn merge_takes_all_its_branches() {
    let mut client = with_rows();
    assert_eq!(
        client.lines(
            "MERGE INTO t AS a USING s AS b ON a.id = b.id
             WHEN MATCHED AND b.v IS NULL THEN DELETE
             WHEN MATCHED THEN UPDATE SET v = b.v, name = 'm'
             WHEN NOT MATCHED THEN INSERT (name, v) VALUES ('new', b.v)
             WHEN NOT MATCHED BY SOURCE AND a.v > 29 THEN UPDATE SET v = -a.v
             OUTPUT $action, deleted.id, inserted.id, inserted.v, b.id;"
        ),
        ["UPDATE|1|1|100|1", "DELETE|2|NULL|NULL|2", "INSERT|NULL|4|900|9", "UPDATE|3|3|-30|NULL", "(4 rows)"]
    );
    assert_eq!(client.shown("SELECT id, name, v FROM t ORDER BY id"), ["1|m|100", "3|NULL|-30", "4|new|900"]);
    assert_eq!(
        client.lines(
            "MERGE s USING (VALUES (1, 5), (2, 6), (77, 7)) AS v (k, x) ON v.k = s.id
             WHEN MATCHED THEN UPDATE SET v = v.x WHEN NOT MATCHED BY TARGET THEN INSERT VALUES (v.k, v.x);
             SELECT id, v FROM s"
        ),
        ["(3 rows)", "1|5", "2|6", "9|900", "77|7", "(4 rows)"]
    );
    assert_eq!(
        client.lines("MERGE s USING t ON t.id = s.id WHEN NOT MATCHED BY SOURCE THEN DELETE; SELECT id FROM s"),
        ["(3 rows)", "1", "(1 rows)"]
    );
    assert_eq!(
        client.lines(
            "MERGE TOP (1) s USING t ON t.id = s.id WHEN NOT MATCHED THEN INSERT (id) VALUES (t.id); SELECT @@ROWCOUNT"
        ),
        ["(1 rows)", "1", "(1 rows)"]
    );
    assert_eq!(client.lines("MERGE s USING t ON 1 = 0 WHEN MATCHED THEN DELETE;"), ["(0 rows)"]);
    // As mappers insert many rows and learn which got which number.
    assert_eq!(
        client.lines(
            "MERGE t USING (VALUES ('p', 1, 0), ('q', 2, 1)) AS i (name, v, position) ON 1 = 0
             WHEN NOT MATCHED THEN INSERT (name, v) VALUES (i.name, i.v) OUTPUT inserted.id, i.position;"
        ),
        ["5|0", "6|1", "(2 rows)"]
    );
}

#[test]
fn merge_refuses_what_makes_no_sense() {
    let mut client = with_rows();
    client.quiet("CREATE TABLE d (id int, v int) INSERT d VALUES (1, 1), (1, 2)");
    let cases = [
        ("MERGE t USING d ON d.id = t.id WHEN MATCHED THEN UPDATE SET v = d.v;", "Msg 8672"),
        ("MERGE s USING d ON d.id + 50 = s.id WHEN NOT MATCHED THEN INSERT VALUES (d.id, 1);", "Msg 2627"),
        ("MERGE t USING s ON s.id = t.id WHEN MATCHED THEN DELETE WHEN MATCHED AND 1 = 1 THEN DELETE;", "Msg 10714"),
        (
            "MERGE t USING s ON s.id = t.id WHEN MATCHED THEN DELETE WHEN MATCHED AND 1 = 1 THEN UPDATE SET v = 1;",
            "Msg 5324",
        ),
        ("MERGE t USING s ON s.id = t.id WHEN NOT MATCHED THEN INSERT (v) VALUES (t.v);", "Msg 4104"),
        ("MERGE t USING s ON s.id = t.id WHEN NOT MATCHED BY SOURCE THEN UPDATE SET v = s.v;", "Msg 4104"),
        ("MERGE t USING s ON s.id = t.id WHEN NOT MATCHED THEN INSERT (v) VALUES (NULL);", "Msg 515"),
        ("MERGE nowhere USING s ON 1 = 1 WHEN MATCHED THEN DELETE;", "Msg 208"),
        ("MERGE t USING s ON s.id = t.id WHEN MATCHED THEN DELETE", "Msg 10713"),
    ];
    for (statement, expected) in cases {
        let lines = client.lines(statement);
        assert!(lines[0].starts_with(expected), "{statement}: {lines:?}");
    }
    assert_eq!(client.shown("SELECT v FROM t ORDER BY id"), ["10", "20", "30"]);
}

#[test]
fn a_row_changed_after_it_was_joined_is_joined_again() {
    let mut world = World::new();
    let (mut one, mut two) = (world.client(), world.client());
    one.quiet("CREATE TABLE t (id int PRIMARY KEY, v int) CREATE TABLE s (id int PRIMARY KEY, w int)");
    one.quiet("INSERT t VALUES (1, 1), (2, 2) INSERT s VALUES (1, 10), (2, 10)");
    for (statement, told, left) in [
        (
            "UPDATE t SET v = v + s.w OUTPUT deleted.v, inserted.v FROM t JOIN s ON s.id = t.id WHERE t.v < 40",
            vec!["1|11", "(1 rows)"],
            ["11", "102"],
        ),
        (
            "DECLARE @n int = 0 UPDATE t SET @n = @n + 1, v = 1 FROM t JOIN s ON s.id = t.id PRINT @n",
            vec!["(2 rows)", "2"],
            ["1", "1"],
        ),
        ("MERGE t USING s ON s.id = t.id WHEN MATCHED THEN UPDATE SET v = t.v * 2;", vec!["(2 rows)"], ["2", "202"]),
    ] {
        one.quiet("BEGIN TRAN UPDATE t SET v = v + 100 WHERE id = 2");
        let info = pikepole_scheduler::TaskInfo { session_id: Some(52), command: "UPDATE" };
        let mut client = two;
        let waiting = world.server.schedulers().spawn(info, pikepole_scheduler::Placement::LeastLoaded, async move {
            let mut output = crate::Collected::default();
            client.execute(statement, &mut output).await;
            (output, client)
        });
        one.quiet("WAITFOR DELAY '00:00:01'");
        assert!(!waiting.is_finished(), "it waits for the row");
        one.quiet("COMMIT");
        let (output, client) = world.server.schedulers().block_on(waiting).expect("no panic");
        two = client;
        let lines: Vec<String> = output.events.iter().filter_map(super::line).collect();
        assert_eq!(lines, told, "{statement}");
        assert_eq!(two.shown("SELECT v FROM t ORDER BY id"), left, "{statement}");
    }
}

#[test]
fn a_row_goes_with_the_output_that_fails() {
    let mut world = World::new();
    let mut client = world.client();
    client.quiet("CREATE TABLE t (a int PRIMARY KEY) CREATE TABLE told (a int PRIMARY KEY) INSERT told VALUES (1)");
    for (statement, number) in [
        ("INSERT t OUTPUT inserted.a INTO told VALUES (1)", "Msg 2627"),
        ("INSERT t OUTPUT 1 / (inserted.a - 1) VALUES (1)", "Msg 8134"),
        ("INSERT t OUTPUT 1 / (inserted.a - 1) INTO told VALUES (1)", "Msg 8134"),
    ] {
        let lines = client.lines(statement);
        assert!(lines.iter().any(|line| line.starts_with(number)), "{statement}: {lines:?}");
        assert_eq!(client.shown("SELECT COUNT(*) FROM t"), ["0"], "{statement}");
    }
    client.quiet("CREATE DATABASE far CREATE TABLE far..t (a int)");
    assert!(client.lines("INSERT far..t OUTPUT inserted.a INTO told VALUES (2)")[0].starts_with("Msg 40517"));
    assert_eq!(client.shown("SELECT COUNT(*) FROM far..t SELECT COUNT(*) FROM told"), ["0", "1"]);
}
