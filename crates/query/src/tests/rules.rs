//! Computed columns, CHECK and FOREIGN KEY constraints, filtered unique indexes, rowversion.

use super::{Client, World};

fn parent_and_child(client: &mut Client, actions: &str) {
    client.quiet(&format!(
        "CREATE TABLE p (id int NOT NULL PRIMARY KEY, n int)
         INSERT p VALUES (1, 10), (2, 20), (3, 30)
         CREATE TABLE c (id int IDENTITY PRIMARY KEY, pid int NULL DEFAULT 3 CONSTRAINT fk_c FOREIGN KEY REFERENCES p (id) {actions}, v int)
         INSERT c (pid, v) VALUES (1, 100), (1, 101), (2, 102), (NULL, 103)"
    ));
}

#[test]
fn checks_refuse_what_is_false() {
    let mut client = Client::alone();
    client.quiet("CREATE TABLE t (a int CONSTRAINT positive CHECK (a > 0), b int, CONSTRAINT in_order CHECK (a < b OR b IS NULL))");
    client.quiet("INSERT t VALUES (1, 2), (NULL, 0), (5, NULL)");
    assert_eq!(
        client.lines("INSERT t VALUES (3, 4), (0, 1)"),
        [
            "Msg 547, Level 16, State 0, Line 1: The INSERT statement conflicted with the CHECK constraint \"positive\". The conflict occurred in database \"master\", table \"dbo.t\", column 'a'.",
            "The statement has been terminated."
        ]
    );
    let lines = client.lines("UPDATE t SET b = 1 WHERE a = 1");
    assert!(lines[0].ends_with("The UPDATE statement conflicted with the CHECK constraint \"in_order\". The conflict occurred in database \"master\", table \"dbo.t\"."), "{lines:?}");
    assert_eq!(client.shown("SELECT COUNT(*) FROM t"), ["3"]);
    client.quiet("ALTER TABLE t NOCHECK CONSTRAINT positive INSERT t VALUES (-1, 2)");
    assert!(
        client.lines("ALTER TABLE t WITH CHECK CHECK CONSTRAINT positive")[0]
            .contains("The ALTER TABLE statement conflicted with the CHECK constraint \"positive\"")
    );
    client.quiet("ALTER TABLE t CHECK CONSTRAINT ALL");
    assert!(client.lines("INSERT t VALUES (-1, 2)")[0].starts_with("Msg 547"));
    assert!(client.lines("ALTER TABLE t ADD CHECK (b < 100 AND a <> -1)")[0].starts_with("Msg 547"));
    client.quiet("ALTER TABLE t WITH NOCHECK ADD CONSTRAINT small CHECK (a <> -1)");
    assert!(
        client.lines("ALTER TABLE t NOCHECK CONSTRAINT positive UPDATE t SET b = 3 WHERE a = -1")[0]
            .contains("\"small\"")
    );
    let lines = client.lines("ALTER TABLE t DROP COLUMN b");
    assert!(lines[0].contains("Msg 5074") && lines[0].contains("'in_order' is dependent on column 'b'"), "{lines:?}");
    client.quiet(
        "ALTER TABLE t DROP CONSTRAINT in_order, small, positive INSERT t VALUES (-7, -8) ALTER TABLE t DROP COLUMN b",
    );
    for (statement, number) in [
        ("CREATE TABLE x (a int CHECK (b > 1))", "Msg 207"),
        ("CREATE TABLE x (a int CHECK ((SELECT 1) = a))", "Msg 1046"),
        ("CREATE TABLE x (a int, CONSTRAINT one CHECK (a > 0), CONSTRAINT one CHECK (a < 9))", "Msg 2714"),
        ("ALTER TABLE t CHECK CONSTRAINT nope", "Msg 4917"),
        ("ALTER TABLE t DROP CONSTRAINT nope", "Msg 3728"),
    ] {
        let lines = client.lines(statement);
        assert!(lines[0].starts_with(number), "{statement}: {lines:?}");
    }
    client.quiet("CREATE TABLE #t (a int CHECK (a > 0)) DECLARE @t TABLE (a int CHECK (a > 0)) INSERT #t VALUES (1) INSERT @t VALUES (1)");
    assert!(client.lines("INSERT #t VALUES (0)")[0].contains("table \"dbo.#t\", column 'a'"));
}

#[test]
fn foreign_keys_refuse_rows_without_a_parent() {
    let mut client = Client::alone();
    parent_and_child(&mut client, "");
    assert_eq!(
        client.lines("INSERT c (pid) VALUES (2), (9)"),
        [
            "Msg 547, Level 16, State 0, Line 1: The INSERT statement conflicted with the FOREIGN KEY constraint \"fk_c\". The conflict occurred in database \"master\", table \"dbo.p\", column 'id'.",
            "The statement has been terminated."
        ]
    );
    assert!(
        client.lines("UPDATE c SET pid = 7 WHERE v = 100")[0]
            .contains("The UPDATE statement conflicted with the FOREIGN KEY")
    );
    assert_eq!(
        client.lines("DELETE p WHERE id = 1"),
        [
            "Msg 547, Level 16, State 0, Line 1: The DELETE statement conflicted with the REFERENCE constraint \"fk_c\". The conflict occurred in database \"master\", table \"dbo.c\", column 'pid'.",
            "The statement has been terminated."
        ]
    );
    assert!(
        client.lines("UPDATE p SET id = 5 WHERE id = 2")[0]
            .contains("The UPDATE statement conflicted with the REFERENCE")
    );
    client.quiet("UPDATE p SET id = id WHERE id = 2 UPDATE p SET n = 0 DELETE p WHERE id = 3 DELETE c WHERE pid = 2 DELETE p WHERE id = 2");
    assert_eq!(client.shown("SELECT id FROM p SELECT COUNT(*) FROM c"), ["1", "3"]);
    for (statement, number) in [
        ("DROP TABLE p", "Msg 3726"),
        ("TRUNCATE TABLE p", "Msg 4712"),
        ("CREATE TABLE x (a bigint REFERENCES p (id))", "Msg 1778"),
        ("CREATE TABLE x (a int REFERENCES p (n))", "Msg 1776"),
        ("CREATE TABLE x (a int REFERENCES nope)", "Msg 1767"),
        ("CREATE TABLE x (a int NOT NULL REFERENCES p ON DELETE SET NULL)", "Msg 1761"),
        ("CREATE TABLE x (a int, FOREIGN KEY (b) REFERENCES p)", "Msg 1769"),
        ("ALTER TABLE c ALTER COLUMN pid bigint", "Msg 5074"),
    ] {
        let lines = client.lines(statement);
        assert!(lines[0].starts_with(number), "{statement}: {lines:?}");
    }
    assert!(client.lines("SELECT * FROM x")[0].starts_with("Msg 208"));
    client.quiet("INSERT c (pid, v) VALUES (NULL, 1) ALTER TABLE c DROP CONSTRAINT fk_c INSERT c (pid) VALUES (77)");
    assert!(
        client.lines("ALTER TABLE c ADD CONSTRAINT again FOREIGN KEY (pid) REFERENCES p")[0]
            .contains("The ALTER TABLE statement conflicted with the FOREIGN KEY constraint \"again\"")
    );
    client.quiet(
        "ALTER TABLE c WITH NOCHECK ADD CONSTRAINT again FOREIGN KEY (pid) REFERENCES p DROP TABLE c DROP TABLE p",
    );
}

#[test]
fn referring_rows_follow() {
    let mut client = Client::alone();
    parent_and_child(&mut client, "ON DELETE CASCADE ON UPDATE CASCADE");
    client.quiet("CREATE TABLE g (cid int REFERENCES c ON DELETE CASCADE) INSERT g VALUES (1), (1), (3)");
    assert_eq!(client.lines("UPDATE p SET id = id + 10 WHERE id < 3"), ["(2 rows)"]);
    assert_eq!(client.shown("SELECT pid FROM c ORDER BY id"), ["11", "11", "12", "NULL"]);
    client.quiet("BEGIN TRAN DELETE p WHERE id = 11");
    assert_eq!(
        client.shown("SELECT COUNT(*) FROM c SELECT cid FROM g ROLLBACK SELECT COUNT(*) FROM g"),
        ["2", "3", "3"]
    );
    assert_eq!(client.lines("DELETE p"), ["(3 rows)"]);
    assert_eq!(client.shown("SELECT COUNT(*) FROM c SELECT COUNT(*) FROM g"), ["1", "0"]);
    assert!(client.lines("ALTER TABLE p ADD up int REFERENCES g2")[0].starts_with("Msg 1767"));
    client.quiet("CREATE TABLE s (id int PRIMARY KEY, up int REFERENCES s) INSERT s VALUES (2, 1), (1, NULL), (3, 3)");
    assert!(client.lines("INSERT s VALUES (5, 6)")[0].contains("FOREIGN KEY SAME TABLE constraint"));
    assert!(client.lines("DELETE s WHERE id = 1")[0].contains("SAME TABLE REFERENCE constraint"));
    client.quiet("DELETE s WHERE id = 3 DELETE s");
    let cycle = client.lines("CREATE TABLE own (id int PRIMARY KEY, up int REFERENCES own ON DELETE CASCADE)");
    assert!(cycle[0].starts_with("Msg 1785") && cycle[1].starts_with("Msg 1750"), "{cycle:?}");
}

#[test]
fn referring_columns_become_null_or_their_default() {
    let mut client = Client::alone();
    parent_and_child(&mut client, "ON DELETE SET NULL ON UPDATE SET DEFAULT");
    client.quiet("DELETE p WHERE id = 1 UPDATE p SET id = 8 WHERE id = 2");
    assert_eq!(client.shown("SELECT pid FROM c ORDER BY id"), ["NULL", "NULL", "3", "NULL"]);
    client.quiet("UPDATE c SET pid = 8 WHERE v = 100");
    client.quiet("ALTER TABLE c NOCHECK CONSTRAINT fk_c DELETE p WHERE id = 3 ALTER TABLE c CHECK CONSTRAINT fk_c");
    assert!(client.lines("UPDATE p SET id = 9 WHERE id = 8")[0].contains("FOREIGN KEY constraint \"fk_c\""));
}

#[test]
fn foreign_keys_of_several_columns_and_without_an_index() {
    let mut client = Client::alone();
    client.quiet(
        "CREATE TABLE p (a int, b varchar(5), PRIMARY KEY (a, b))
         CREATE TABLE c (x varchar(5), y int, FOREIGN KEY (y, x) REFERENCES p (a, b) ON DELETE CASCADE)
         INSERT p VALUES (1, 'q'), (1, 'r'), (2, 'q') INSERT c VALUES ('q', 1), ('r', 1), (NULL, 9)",
    );
    assert!(client.lines("INSERT c VALUES ('r', 2)")[0].ends_with("table \"dbo.p\"."));
    client.quiet("INSERT c VALUES ('Q', 2) DELETE p WHERE b = 'q'");
    assert_eq!(client.shown("SELECT x, y FROM c ORDER BY y"), ["r|1", "NULL|9"]);
}

#[test]
fn uncommitted_rows_of_others_are_waited_for() {
    let mut world = World::new();
    let (mut one, mut other) = (world.client(), world.client());
    parent_and_child(&mut one, "");
    other.quiet("SET LOCK_TIMEOUT 150");
    one.quiet("BEGIN TRAN INSERT c (pid) VALUES (3)");
    assert!(other.lines("DELETE p WHERE id = 3")[0].starts_with("Msg 1222"));
    one.quiet("ROLLBACK BEGIN TRAN DELETE c WHERE pid = 2");
    assert!(other.lines("DELETE p WHERE id = 2")[0].starts_with("Msg 1222"));
    one.quiet("ROLLBACK BEGIN TRAN DELETE p WHERE id = 3");
    assert!(other.lines("INSERT c (pid) VALUES (3)")[0].starts_with("Msg 1222"));
    one.quiet("COMMIT");
    assert!(other.lines("INSERT c (pid) VALUES (3)")[0].starts_with("Msg 547"));
    assert!(other.lines("DELETE p WHERE id = 2")[0].starts_with("Msg 547"));
    one.quiet("BEGIN TRAN INSERT p VALUES (4, 0)");
    assert!(other.lines("INSERT c (pid) VALUES (4)")[0].starts_with("Msg 1222"));
}

#[test]
fn computed_columns_are_computed() {
    let mut client = Client::alone();
    client.quiet("CREATE TABLE t (a int NOT NULL, b int, total AS a + ISNULL(b, 0) PERSISTED, doubled AS (a * 2), name AS CONCAT('n', a))");
    client.quiet("INSERT t VALUES (1, 2) INSERT t (a) VALUES (5)");
    assert_eq!(client.shown("SELECT * FROM t"), ["1|2|3|2|n1", "5|NULL|5|10|n5"]);
    client.quiet("UPDATE t SET b = 10, a += 1 WHERE a = 5 CREATE INDEX i ON t (total)");
    assert_eq!(client.shown("SELECT a, doubled FROM t WHERE total = 16"), ["6|12"]);
    assert!(client.lines("INSERT t (a, total) VALUES (1, 1)")[0].starts_with("Msg 271"));
    assert!(client.lines("UPDATE t SET doubled = 1")[0].starts_with("Msg 271"));
    assert!(client.lines("INSERT t (a) VALUES (2000000000)")[0].starts_with("Msg 8115"));
    client.quiet(
        "ALTER TABLE t ADD more AS (a + 100), c int NULL
        GO
        UPDATE t SET c = 1",
    );
    assert_eq!(client.shown("SELECT more FROM t"), ["101", "106"]);
    assert!(client.lines("ALTER TABLE t ADD worse AS total + 1, x AS worse")[0].starts_with("Msg"));
    assert!(client.lines("ALTER TABLE t DROP COLUMN b")[0].contains("The column 'total' is dependent on column 'b'"));
    assert!(client.lines("CREATE TABLE x (a AS GETDATE() PERSISTED)")[0].starts_with("Msg 4936"));
    assert!(client.lines("CREATE TABLE x (a int, b AS a, c AS b)")[0].starts_with("Msg 1759"));
}

#[test]
fn a_rowversion_grows_with_each_change() {
    let mut client = Client::alone();
    client.quiet(
        "CREATE TABLE t (a int PRIMARY KEY, v rowversion) INSERT t (a) VALUES (1), (2) INSERT t VALUES (3, DEFAULT)",
    );
    assert_eq!(client.shown("SELECT COUNT(DISTINCT v) FROM t"), ["3"]);
    client.quiet("CREATE TABLE o (v binary(8)) INSERT o SELECT v FROM t WHERE a = 1 UPDATE t SET a = 1 WHERE a = 1");
    assert_eq!(client.shown("SELECT CASE WHEN t.v > o.v THEN 'grown' END FROM t, o WHERE a = 1"), ["grown"]);
    assert!(client.lines("INSERT t (a, v) VALUES (4, 0x01)")[0].starts_with("Msg 273"));
    assert!(client.lines("UPDATE t SET v = 0x01")[0].starts_with("Msg 272"));
    client.quiet("CREATE TABLE u (a int) INSERT u VALUES (1), (2) ALTER TABLE u ADD v timestamp");
    assert_eq!(client.shown("SELECT COUNT(DISTINCT v) FROM u"), ["2"]);
    client.quiet(
        "CREATE TABLE #own (a int) INSERT #own VALUES (1), (2) ALTER TABLE #own ADD v rowversion
         SELECT CONVERT(binary(8), MAX(v)) AS v INTO #last FROM #own UPDATE #own SET a = 3 WHERE a = 1",
    );
    assert_eq!(client.shown("SELECT a FROM #own WHERE v > (SELECT v FROM #last)"), ["3"]);
}

#[test]
fn filtered_unique_indexes_leave_rows_out() {
    let mut client = Client::alone();
    client.quiet("CREATE TABLE t (id int IDENTITY PRIMARY KEY, mail varchar(20), k int) CREATE UNIQUE INDEX one ON t (mail) INCLUDE (k) WHERE mail IS NOT NULL");
    client.quiet("INSERT t (mail) VALUES (NULL), (NULL), ('a')");
    assert!(client.lines("INSERT t (mail) VALUES ('A')")[0].starts_with("Msg 2601"));
    assert!(client.lines("UPDATE t SET mail = 'a' WHERE id = 1")[0].starts_with("Msg 2601"));
    client.quiet(
        "UPDATE t SET mail = NULL WHERE mail = 'a' UPDATE t SET mail = 'b' WHERE id = 2 INSERT t (mail) VALUES ('a')",
    );
    assert_eq!(client.shown("SELECT id FROM t WHERE mail = 'b' SELECT COUNT(*) FROM t WHERE mail IS NULL"), ["2", "2"]);
    client.quiet("CREATE UNIQUE INDEX two ON t (k) WHERE mail IS NOT NULL AND k IS NOT NULL UPDATE t SET k = 1 WHERE mail IS NULL");
    assert_eq!(client.shown("SELECT COUNT(*) FROM t WHERE k = 1"), ["2"]);
    assert!(client.lines("UPDATE t SET k = 1, mail = CONCAT('x', id)")[0].starts_with("Msg 2601"));
    assert!(client.lines("CREATE INDEX three ON t (k) WHERE k + 1 > 5")[0].starts_with("Msg 10735,"));
}

#[test]
fn rules_survive_a_change_of_columns() {
    let mut client = Client::alone();
    client.quiet("CREATE TABLE p (id int PRIMARY KEY) INSERT p VALUES (1) CREATE TABLE t (gone int, a int CHECK (a > 0), pid int REFERENCES p, b AS a + 1)");
    client.quiet("INSERT t VALUES (1, 1, 1) ALTER TABLE t DROP COLUMN gone ALTER TABLE t ADD z int");
    assert_eq!(client.shown("SELECT * FROM t"), ["1|1|2|NULL"]);
    assert!(client.lines("INSERT t VALUES (0, 1, 1)")[0].contains("CHECK"));
    assert!(client.lines("INSERT t VALUES (1, 2, 1)")[0].contains("FOREIGN KEY"));
    assert!(client.lines("DELETE p")[0].contains("column 'pid'"));
}

#[test]
fn foreign_keys_survive_a_change_of_the_columns_referred_to() {
    let mut client = Client::alone();
    let unknown = |lines: Vec<String>, column: &str| {
        assert!(lines[0].starts_with("Msg 547,") && lines[0].contains(column), "{lines:?}");
    };
    client.quiet(
        "CREATE TABLE p (gone int, b bit, id varchar(36) PRIMARY KEY) CREATE TABLE c (pid varchar(36) REFERENCES p)",
    );
    client.quiet("ALTER TABLE p DROP COLUMN gone");
    client.quiet("INSERT p VALUES (1, 'x') INSERT c VALUES ('x')");
    unknown(client.lines("INSERT c VALUES ('y')"), "column 'id'");
    unknown(client.lines("UPDATE p SET id = 'y'"), "column 'pid'");
    client.quiet(
        "UPDATE p SET b = 0 ALTER TABLE p ALTER COLUMN b int NULL ALTER TABLE p ADD z int INSERT c VALUES ('x')",
    );
    unknown(client.lines("DELETE p"), "column 'pid'");

    // The key's columns in another order than the table's, and a row that refers to one of its own table.
    client.quiet("CREATE TABLE q (gone int, a int, gone_too int, b varchar(5), up_a int, up_b varchar(5), UNIQUE (a, b), FOREIGN KEY (up_b, up_a) REFERENCES q (b, a))");
    client.quiet("CREATE TABLE d (x varchar(5), y int, FOREIGN KEY (x, y) REFERENCES q (b, a) ON UPDATE CASCADE)");
    client.quiet("ALTER TABLE q DROP COLUMN gone, gone_too");
    client.quiet("INSERT q VALUES (1, 'one', NULL, NULL), (2, 'two', 1, 'one') INSERT d VALUES ('two', 2)");
    assert!(client.lines("INSERT d VALUES ('two', 1)")[0].starts_with("Msg 547,"));
    assert!(client.lines("INSERT q VALUES (3, 'three', 2, 'one')")[0].starts_with("Msg 547,"));
    client.quiet("UPDATE q SET b = 'II' WHERE a = 2");
    assert_eq!(client.shown("SELECT x, y FROM d"), ["II|2"]);
    client.quiet("ALTER TABLE d NOCHECK CONSTRAINT ALL ALTER TABLE d WITH CHECK CHECK CONSTRAINT ALL");
}
