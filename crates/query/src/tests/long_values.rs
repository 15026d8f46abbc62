//! Values longer than a page, and rows of several long columns, through statements.

use super::{Client, World};

/// A table with a key, a long text, long bytes and what tells of them; three rows.
const TABLE: &str = "CREATE TABLE t (k int NOT NULL PRIMARY KEY, s varchar(max), b varbinary(max) NULL, n nvarchar(max) DEFAULT 'none')
     INSERT t (k, s, b) VALUES (1, REPLICATE(CAST('ab' AS varchar(max)), 50000), CAST(REPLICATE(CAST('x' AS varchar(max)), 20001) AS varbinary(max)))
     INSERT t VALUES (2, 'short', NULL, REPLICATE(CAST(N'é' AS nvarchar(max)), 30000)), (3, NULL, 0x01, NULL)";

const LENGTHS: &str =
    "SELECT k, DATALENGTH(s), DATALENGTH(b), DATALENGTH(n), RIGHT(s, 4), LEFT(n, 3) FROM t ORDER BY k";

fn started() -> Client {
    let mut client = Client::alone();
    client.quiet(TABLE);
    client
}

#[test]
fn long_values_are_stored_changed_and_deleted() {
    let mut client = started();
    assert_eq!(
        client.shown(LENGTHS),
        ["1|100000|20001|8|abab|non", "2|5|NULL|60000|hort|ééé", "3|NULL|1|NULL|NULL|NULL"]
    );
    client.quiet("UPDATE t SET s = s + s WHERE k = 1 UPDATE t SET n = 'n' WHERE k = 2 UPDATE t SET k = 9 WHERE k = 1");
    assert_eq!(client.shown("SELECT k, DATALENGTH(s), n FROM t ORDER BY k"), ["2|5|n", "3|NULL|NULL", "9|200000|none"]);
    client.quiet(
        "BEGIN TRAN UPDATE t SET s = REPLICATE(CAST('z' AS varchar(max)), 12345), b = NULL SAVE TRAN here DELETE t",
    );
    client.quiet("ROLLBACK TRAN here");
    assert_eq!(client.shown("SELECT COUNT(*), MIN(DATALENGTH(s)), MAX(LEFT(s, 2)) FROM t"), ["3|12345|zz"]);
    client.quiet("ROLLBACK");
    assert_eq!(client.shown("SELECT DATALENGTH(s), DATALENGTH(b) FROM t WHERE s LIKE '%ba%'"), ["200000|20001"]);
    let shown = client
        .shown("SET NOCOUNT ON DELETE t OUTPUT deleted.k, DATALENGTH(deleted.s) WHERE k = 9 SELECT COUNT(*) FROM t");
    assert_eq!(shown, ["9|200000", "2"]);
}

#[test]
fn several_long_columns_outgrow_a_page_together() {
    let mut client = Client::alone();
    client.quiet(
        "CREATE TABLE w (k int IDENTITY PRIMARY KEY, a varchar(8000), b nvarchar(4000), c char(5000), d varchar(300))
         INSERT w VALUES (REPLICATE('a', 8000), REPLICATE(N'€', 4000), REPLICATE('c', 5000), 'd')
         INSERT w VALUES ('a', N'b', 'c', 'd')
         CREATE INDEX by_d ON w (d)",
    );
    let lengths = "SELECT k, LEN(a), LEN(b), LEN(c), DATALENGTH(c), RIGHT(b, 1) FROM w ORDER BY k";
    assert_eq!(client.shown(lengths), ["1|8000|4000|5000|5000|€", "2|1|1|1|5000|b"]);
    client.quiet("UPDATE w SET d = REPLICATE('d', 300), c = c WHERE d = 'd'");
    assert_eq!(client.shown("SELECT COUNT(*), MIN(LEN(d)), MAX(LEN(a)) FROM w WHERE d > 'dd'"), ["2|300|8000"]);
    let lines = client.lines("CREATE TABLE x (s varchar(max) PRIMARY KEY)");
    assert!(lines[0].starts_with("Msg 1919"), "{lines:?}");
    let lines = client.lines("CREATE INDEX by_a ON w (a)");
    assert!(lines.iter().any(|line| line.starts_with("Msg 1946")), "{lines:?}");
}

#[test]
fn long_values_go_where_statements_take_them() {
    let mut client = started();
    client.quiet("SELECT * INTO copy FROM t INSERT copy SELECT * FROM t WHERE k = 1 SELECT * INTO #copy FROM t");
    assert_eq!(
        client.shown("SELECT COUNT(*), SUM(ISNULL(DATALENGTH(s), 0)), SUM(ISNULL(DATALENGTH(n), 0)) FROM copy"),
        ["4|200005|60016"]
    );
    assert_eq!(client.shown("SELECT COUNT(*), SUM(ISNULL(DATALENGTH(s), 0)) FROM #copy"), ["3|100005"]);
    client.quiet(
        "DECLARE @v TABLE (k int, s varchar(max)) INSERT @v SELECT k, s FROM t
         MERGE copy USING @v AS v ON copy.k = v.k
         WHEN MATCHED AND v.k = 2 THEN UPDATE SET s = REPLICATE(CAST('m' AS varchar(max)), 9000)
         WHEN MATCHED AND v.k = 3 THEN DELETE;
         MERGE copy USING (SELECT 7 AS k) AS v ON copy.k = v.k
         WHEN NOT MATCHED THEN INSERT (k, s) VALUES (7, REPLICATE(CAST('i' AS varchar(max)), 90000));",
    );
    let merged = client.shown("SELECT k, DATALENGTH(s) FROM copy ORDER BY k");
    assert_eq!(merged, ["1|100000", "1|100000", "2|9000", "7|90000"]);
    client.quiet("ALTER TABLE t ADD extra int NOT NULL DEFAULT 5 ALTER TABLE t ALTER COLUMN s nvarchar(max)");
    assert_eq!(client.shown("SELECT extra, DATALENGTH(s), DATALENGTH(b) FROM t WHERE k = 1"), ["5|200000|20001"]);
    client.quiet("ALTER TABLE t DROP COLUMN b TRUNCATE TABLE copy DROP TABLE copy TRUNCATE TABLE #copy");
    assert_eq!(client.shown("SELECT DATALENGTH(s) FROM t WHERE k = 1"), ["200000"]);
    assert_eq!(client.shown("SELECT COUNT(*) FROM #copy"), ["0"]);
}

#[test]
fn rules_and_variables_see_long_values() {
    let mut client = Client::alone();
    client.quiet(
        "CREATE TABLE p (k int PRIMARY KEY, s varchar(max), CHECK (DATALENGTH(s) < 20000))
         CREATE TABLE c (k int PRIMARY KEY, p int REFERENCES p ON DELETE CASCADE, s varchar(max))
         INSERT p VALUES (1, REPLICATE(CAST('p' AS varchar(max)), 19999))
         INSERT c VALUES (10, 1, REPLICATE(CAST('c' AS varchar(max)), 50000))",
    );
    let lines = client.lines("UPDATE p SET s = s + 'p'");
    assert!(lines[0].starts_with("Msg 547"), "{lines:?}");
    let lines = client.lines("INSERT c VALUES (11, 2, REPLICATE(CAST('c' AS varchar(max)), 50000))");
    assert!(lines[0].starts_with("Msg 547"), "{lines:?}");
    let counts = "SELECT (SELECT COUNT(*) FROM p), (SELECT COUNT(*) FROM c), (SELECT MAX(LEN(s)) FROM c)";
    assert_eq!(client.shown(counts), ["1|1|50000"]);
    client.quiet("DECLARE @s varchar(max) = (SELECT s FROM c) SET @s = REVERSE(@s + 'x') UPDATE c SET s = @s");
    assert_eq!(client.shown("SELECT LEFT(s, 2), LEN(s) FROM c"), ["xc|50001"]);
    client.quiet("DELETE p");
    assert_eq!(client.shown(counts), ["0|0|NULL"]);
}

#[test]
fn readers_see_the_former_value_until_the_commit() {
    let mut world = World::new();
    let (mut one, mut other) = (world.client(), world.client());
    one.quiet(TABLE);
    one.quiet("BEGIN TRAN UPDATE t SET s = REPLICATE(CAST('new' AS varchar(max)), 10000) DELETE t WHERE k = 3");
    assert_eq!(other.shown("SELECT COUNT(*), MAX(ISNULL(LEN(s), 0)) FROM t"), ["3|100000"]);
    assert_eq!(one.shown("SELECT COUNT(*), MAX(ISNULL(LEN(s), 0)) FROM t"), ["2|30000"]);
    one.quiet("COMMIT");
    assert_eq!(other.shown("SELECT COUNT(*), MAX(ISNULL(LEN(s), 0)) FROM t"), ["2|30000"]);
}
