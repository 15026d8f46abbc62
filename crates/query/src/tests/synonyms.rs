//! Synonyms; objects that move to another schema; indexes that are built anew.

use super::{Client, World};

#[test]
fn a_synonym_stands_for_a_table_everywhere() {
    let mut client = Client::alone();
    client.quiet(
        "CREATE DATABASE other CREATE TABLE t (id int IDENTITY PRIMARY KEY, b int) CREATE TABLE other..u (a int)",
    );
    client.quiet("CREATE SYNONYM s FOR t CREATE SYNONYM dbo.far FOR other.dbo.u CREATE SYNONYM early FOR dbo.comes");
    client.quiet("INSERT s (b) VALUES (1), (2), (3) UPDATE s SET b = s.b * 10 WHERE id = 2 DELETE s WHERE id = 3");
    client
        .quiet("MERGE s AS x USING (VALUES (1, 7)) AS n (id, b) ON x.id = n.id WHEN MATCHED THEN UPDATE SET b = n.b;");
    assert_eq!(client.shown("SELECT id, b FROM dbo.s ORDER BY id"), ["1|7", "2|20"]);
    client.quiet("INSERT far VALUES (5)");
    assert_eq!(client.shown("SELECT far.a + s.b FROM far JOIN s ON s.id = 1"), ["12"]);
    let lines = client.lines("SELECT * FROM early");
    assert!(
        lines[0].starts_with("Msg 5313, Level 16, State 1, Line 1: Synonym 'dbo.early' refers to an invalid object."),
        "{lines:?}"
    );
    client.quiet("CREATE TABLE comes (a int)\nGO\nINSERT early VALUES (8) CREATE SYNONYM again FOR early");
    assert_eq!(client.shown("SELECT a FROM early"), ["8"]);
    assert!(client.lines("SELECT * FROM again")[0].starts_with("Msg 470"));
    assert!(client.lines("CREATE SYNONYM s FOR x")[0].starts_with("Msg 2714"));
    assert!(client.lines("CREATE TABLE s (a int)")[0].starts_with("Msg 2714"));
    assert!(client.lines("DROP TABLE s")[0].starts_with("Msg 3705"));
    assert!(client.lines("CREATE SYNONYM other.dbo.s FOR x")[0].starts_with("Msg 166"));
    client.quiet("BEGIN TRAN DROP SYNONYM s ROLLBACK SELECT * FROM s DROP SYNONYM s DROP SYNONYM IF EXISTS s");
    assert!(client.lines("SELECT * FROM s")[0].starts_with("Msg 208"));
    assert!(client.lines("DROP SYNONYM s")[0].contains("Cannot drop the synonym 's'"));
}

#[test]
fn a_synonym_stands_for_what_runs_and_for_views() {
    let mut client = Client::alone();
    client.quiet(
        "CREATE DATABASE other
         GO
         USE other
         GO
         CREATE PROCEDURE p @n int AS SELECT @n + 1, DB_NAME()
         GO
         CREATE FUNCTION f (@n int) RETURNS int AS BEGIN RETURN @n * 2 END
         GO
         CREATE VIEW v AS SELECT 4 AS a
         GO
         USE master
         GO
         CREATE SYNONYM p FOR other..p CREATE SYNONYM f FOR other.dbo.f CREATE SYNONYM v FOR other..v CREATE SYNONYM nothing FOR missing",
    );
    assert_eq!(client.shown("EXEC p 3 SELECT dbo.f(a) FROM v"), ["4|other", "8"]);
    assert!(client.lines("EXEC nothing")[0].starts_with("Msg 2812"));
    // What is cached for the one meaning is not run for the next.
    client.quiet("DROP SYNONYM v CREATE TABLE w (a int) INSERT w VALUES (6) CREATE SYNONYM v FOR w");
    assert_eq!(client.shown("SELECT a FROM v"), ["6"]);
}

#[test]
fn objects_move_to_another_schema() {
    let mut world = World::new();
    let (mut one, mut two) = (world.client(), world.client());
    one.quiet("CREATE SCHEMA far");
    one.quiet("CREATE TABLE t (id int CONSTRAINT pk PRIMARY KEY) INSERT t VALUES (1)\nGO\nCREATE PROCEDURE p AS SELECT COUNT(*) FROM far.t");
    assert_eq!(two.shown("SELECT id FROM t"), ["1"]);
    one.quiet("BEGIN TRAN ALTER SCHEMA far TRANSFER dbo.t SELECT * FROM far.t ROLLBACK SELECT * FROM t");
    one.quiet("ALTER SCHEMA far TRANSFER OBJECT::dbo.t\nGO\nCREATE VIEW v AS SELECT id FROM far.t\nGO\nALTER SCHEMA far TRANSFER v ALTER SCHEMA far TRANSFER p");
    assert!(two.lines("SELECT id FROM t")[0].starts_with("Msg 208"));
    assert_eq!(two.shown("SELECT id FROM far.v EXEC far.p"), ["1", "1"]);
    two.quiet("INSERT far.t VALUES (2) CREATE TABLE t (id int)");
    assert!(
        one.lines("ALTER SCHEMA dbo TRANSFER far.t")[0]
            .starts_with("Msg 15530, Level 16, State 1, Line 1: The object with name \"t\" already exists.")
    );
    assert!(one.lines("ALTER SCHEMA nowhere TRANSFER far.t")[0].contains("Cannot alter the schema 'nowhere'"));
    assert!(one.lines("ALTER SCHEMA dbo TRANSFER far.x")[0].contains("Cannot find the object 'x'"));
}

#[test]
fn indexes_are_built_anew() {
    let mut client = Client::alone();
    client.quiet(
        "CREATE TABLE t (id int CONSTRAINT pk PRIMARY KEY, b int, long varchar(max)) CREATE UNIQUE INDEX i ON t (b)",
    );
    client.quiet(
        "INSERT t SELECT value, -value, REPLICATE(CAST('x' AS varchar(max)), 20000) FROM GENERATE_SERIES(1, 60)",
    );
    client.quiet("ALTER INDEX i ON t REBUILD ALTER INDEX ALL ON dbo.t REBUILD WITH (FILLFACTOR = 80, ONLINE = OFF) ALTER INDEX pk ON t REORGANIZE");
    assert_eq!(
        client.shown("SELECT id FROM t WHERE b = -7 SELECT COUNT(*), SUM(LEN(long)) FROM t"),
        ["7", "60|1200000"]
    );
    assert!(client.lines("INSERT t VALUES (61, -7, '')")[0].starts_with("Msg 2601"));
    client.quiet("BEGIN TRAN DELETE t WHERE id > 10 ALTER INDEX ALL ON t REBUILD ROLLBACK CREATE TABLE #t (a int PRIMARY KEY) INSERT #t VALUES (3) ALTER INDEX ALL ON #t REBUILD");
    assert_eq!(client.shown("SELECT COUNT(*) FROM t SELECT a FROM #t WHERE a = 3"), ["60", "3"]);
    assert!(
        client.lines("ALTER INDEX x ON t REBUILD")[0]
            .starts_with("Msg 2727, Level 11, State 1, Line 1: Cannot find index 'x'.")
    );
    assert!(client.lines("ALTER INDEX i ON missing REBUILD")[0].starts_with("Msg 1088"));
    client.quiet("ALTER INDEX i ON t DISABLE INSERT t VALUES (61, -7, '')");
}
